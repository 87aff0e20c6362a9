/* SPDX-License-Identifier: MIT */
/* The three approaches: each makes a quadratic problem of the constrained system, solves it, and sorts what
 * is spurious from what is not. How many of each there are is known from the rank of the constraints. */
#include "lib/linear/constrained.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double rank_tolerance = 1e-9;

/* What stands behind the spectrum that the caller holds. */
typedef struct store {
  bramah_spectrum spectrum; /* first */
  double *re, *im, *spurious_re, *spurious_im;
} store;

typedef struct work {
  double *projected; /* the matrices of the quadratic problem */
  double *re, *im, *size, *vectors, *key;
  size_t *order;
} work;

static void free_work(work *w)
{
  free(w->projected);
  free(w->re);
  free(w->order);
}

/* ---- kinds of problem ---- */

static int is_symmetric(size_t n, const double *A)
{
  double largest = 0.0, difference = 0.0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) {
      largest = fmax(largest, fabs(A[i * n + j]));
      difference = fmax(difference, fabs(A[i * n + j] - A[j * n + i]));
    }
  for (size_t i = 0; i < n; i++) largest = fmax(largest, fabs(A[i * n + i]));
  return difference <= 1e-12 * largest;
}

static int is_undamped(const bramah__quadratic *q)
{
  for (size_t i = 0; i < q->n * q->n; i++)
    if (q->C[i] != 0.0) return 0;
  return q->k == 0 && is_symmetric(q->n, q->M) && is_symmetric(q->n, q->K);
}

static bramah__quadratic as_it_is(const bramah_constrained *s)
{
  return (bramah__quadratic){.n = s->n,
                             .k = s->k,
                             .M = s->M,
                             .C = s->C,
                             .K = s->K,
                             .P = s->P,
                             .Xq = s->Xq,
                             .Xv = s->Xv,
                             .Xx = s->Xx};
}

/* ---- projections ---- */

/* Y [f x f] = N' A N */
static void project(size_t n, size_t f, const double *A, const double *N, double *T, double *Y)
{
  bramah__multiply(n, n, f, A, N, T);
  for (size_t i = 0; i < f; i++)
    for (size_t j = 0; j < f; j++) Y[i * f + j] = 0.0;
  /* N' T, by rows of N: most of them are unit vectors or empty */
  for (size_t r = 0; r < n; r++)
    for (size_t i = 0; i < f; i++) {
      const double a = N[r * f + i];
      if (a == 0.0) continue;
      for (size_t j = 0; j < f; j++) Y[i * f + j] += a * T[r * f + j];
    }
}

static bramah_status minimal(const bramah_constrained *s, work *w, size_t *rank, bramah__quadratic *q,
                             bramah_diag *diag)
{
  const size_t n = s->n, m = s->m, k = s->k;
  const size_t scratch = m * n + bramah__null_space_work(m, n);
  double *N = malloc((n * n + n * n + 3 * n * n + 3 * n * k + scratch + 1) * sizeof *N);
  int *pivot = malloc((n + 1) * sizeof *pivot);
  w->projected = N;
  if (!N || !pivot) return free(pivot), bramah__analysis_memory(diag);
  double *T = N + n * n, *M = T + n * n, *Phi = M + 3 * n * n + 3 * n * k;
  if (m) memcpy(Phi, s->Phi, m * n * sizeof *Phi);
  const int wrong = bramah__null_space(m, n, Phi, rank_tolerance, rank, N, Phi + m * n, pivot);
  free(pivot);
  if (wrong)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system", "the constraints cannot be reduced");
  const size_t f = n - *rank;
  double *C = M + f * f, *K = C + f * f, *P = K + f * f, *Xq = P + f * k, *Xv = Xq + f * k;
  project(n, f, s->M, N, T, M);
  project(n, f, s->C, N, T, C);
  project(n, f, s->K, N, T, K);
  for (size_t i = 0; i < f && k; i++)
    for (size_t j = 0; j < k; j++) {
      P[i * k + j] = Xq[j * f + i] = Xv[j * f + i] = 0.0;
      for (size_t r = 0; r < n; r++) {
        P[i * k + j] += N[r * f + i] * s->P[r * k + j];
        Xq[j * f + i] += s->Xq[j * n + r] * N[r * f + i];
        Xv[j * f + i] += s->Xv[j * n + r] * N[r * f + i];
      }
    }
  *q = (bramah__quadratic){.n = f, .k = k, .M = M, .C = C, .K = K, .P = P, .Xq = Xq, .Xv = Xv, .Xx = s->Xx};
  return BRAMAH_OK;
}

/* Rows of length one, across each other, that say what Phi says. */
static bramah_status orthonormal_rows(const bramah_constrained *s, double *rows, size_t *rank,
                                      bramah_diag *diag)
{
  const size_t n = s->n, m = s->m;
  double *A = malloc((n * m + bramah__orthonormal_work(n, m) + 1) * sizeof *A);
  int *pivot = malloc((m + 1) * sizeof *pivot);
  bramah_status status = A && pivot ? BRAMAH_OK : bramah__analysis_memory(diag);
  *rank = 0;
  if (status == BRAMAH_OK && m) {
    for (size_t i = 0; i < m; i++)
      for (size_t j = 0; j < n; j++) A[j * m + i] = s->Phi[i * n + j];
    if (bramah__orthonormal(n, m, A, rank_tolerance, rank, A + n * m, pivot))
      status =
          bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system", "the constraints cannot be reduced");
    for (size_t i = 0; i < *rank; i++)
      for (size_t j = 0; j < n; j++) rows[i * n + j] = A[j * m + i];
  }
  free(A);
  free(pivot);
  return status;
}

static bramah_status redundant(const bramah_constrained *s, work *w, size_t *rank, bramah__quadratic *q,
                               bramah_diag *diag)
{
  w->projected = malloc((s->m * s->n + 1) * sizeof *w->projected);
  if (!w->projected) return bramah__analysis_memory(diag);
  if (s->m > s->n)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "constrained system", "more constraints than coordinates");
  *q = as_it_is(s);
  const bramah_status status = orthonormal_rows(s, w->projected, rank, diag);
  q->rows = w->projected;
  q->border = *rank;
  return status;
}

static bramah_status penalty(const bramah_constrained *s, const bramah_penalty_factors *factors, work *w,
                             size_t *rank, bramah__quadratic *q, bramah_diag *diag)
{
  static const bramah_penalty_factors published = {1e7, 1.0, 10.0};
  const bramah_penalty_factors *p = factors ? factors : &published;
  const size_t n = s->n, nn = n * n;
  if (!(p->alpha > 0.0 && p->omega > 0.0 && p->xi >= 0.0) || s->m > n)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "penalty",
                        "alpha and omega must be positive, xi not negative");
  double *M = malloc((4 * nn + s->m * n + 1) * sizeof *M), *C = M + nn, *K = C + nn, *G = K + nn;
  w->projected = M;
  if (!M) return bramah__analysis_memory(diag);
  const bramah_status status = orthonormal_rows(s, G + nn, rank, diag); /* for the rank */
  memset(G, 0, nn * sizeof *G);
  for (size_t r = 0; r < s->m; r++) /* Phi' Phi; rows are sparse */
    for (size_t i = 0; i < n; i++) {
      const double a = s->Phi[r * n + i];
      if (a == 0.0) continue;
      for (size_t j = 0; j < n; j++) G[i * n + j] += a * s->Phi[r * n + j];
    }
  for (size_t i = 0; i < nn; i++) {
    M[i] = s->M[i] + p->alpha * G[i];
    C[i] = s->C[i] + 2.0 * p->xi * p->omega * p->alpha * G[i];
    K[i] = s->K[i] + p->omega * p->omega * p->alpha * G[i];
  }
  *q = as_it_is(s);
  q->M = M, q->C = C, q->K = K;
  return status;
}

/* ---- sorting ---- */

/* |Phi v| / |v| of the coordinates in vector k. */
static double violation(const bramah_constrained *s, const work *w, size_t order, size_t k)
{
  const double *re = w->vectors + k * order, *im = re;
  double part = 0.0, whole = 0.0;
  const int second = w->im[k] != 0.0 && k > 0 && w->im[k - 1] == -w->im[k] && w->re[k - 1] == w->re[k] &&
                     w->order[k - 1] == 1;
  if (second) return w->key[k - 1];
  if (w->im[k] != 0.0) im = re + order, w->order[k] = 1;
  for (size_t r = 0; r < s->m; r++) {
    double a = 0.0, b = 0.0;
    for (size_t j = 0; j < s->n; j++) {
      a += s->Phi[r * s->n + j] * re[j];
      b += im == re ? 0.0 : s->Phi[r * s->n + j] * im[j];
    }
    part += a * a + b * b;
  }
  for (size_t j = 0; j < s->n; j++) whole += re[j] * re[j] + (im == re ? 0.0 : im[j] * im[j]);
  return whole > 1e-40 ? sqrt(part / whole) : 0.0;
}

typedef struct place {
  double key;
  size_t index;
} place;

static int ascending(const void *a, const void *b)
{
  const place *x = a, *y = b;
  if (x->key != y->key) return x->key > y->key ? 1 : -1;
  return (x->index > y->index) - (x->index < y->index);
}

/* Sort places by key; take `keep` of them as true, the others as spurious, both slowest first. */
static void take(store *t, const work *w, place *places, size_t all, size_t keep, int finite)
{
  qsort(places, all, sizeof *places, ascending);
  t->spectrum.n = keep;
  t->spectrum.n_spurious = all - keep;
  t->spectrum.gap = (double)INFINITY;
  if (keep && keep < all && places[keep - 1].key > 0.0)
    t->spectrum.gap = places[keep].key / places[keep - 1].key;
  for (size_t i = 0; i < all; i++) places[i].key = hypot(w->re[places[i].index], w->im[places[i].index]);
  qsort(places, keep, sizeof *places, ascending);
  qsort(places + keep, all - keep, sizeof *places, ascending);
  for (size_t i = 0; i < keep; i++) {
    t->re[i] = w->re[places[i].index];
    t->im[i] = w->im[places[i].index];
  }
  for (size_t i = keep; i < all && finite; i++) {
    t->spurious_re[i - keep] = w->re[places[i].index];
    t->spurious_im[i - keep] = w->im[places[i].index];
  }
}

static bramah_status sort(const bramah_constrained *s, bramah_approach approach, const work *w, size_t order,
                          store *t, bramah_diag *diag)
{
  const size_t keep = 2 * (s->n - t->spectrum.rank) + s->k;
  const int finite = approach == BRAMAH_APPROACH_PENALTY;
  place *places = calloc(order + 1, sizeof *places);
  t->re = calloc(2 * order + 1, sizeof *t->re);
  if (!places || !t->re) return free(places), bramah__analysis_memory(diag);
  t->im = t->re + keep;
  t->spurious_re = t->im + keep;
  t->spurious_im = t->spurious_re + (order - keep);
  for (size_t i = 0; i < order; i++) {
    if (finite) w->key[i] = violation(s, w, order, i);
    places[i] = (place){finite ? w->key[i] : 1.0 / w->size[i], i};
  }
  take(t, w, places, order, keep, finite);
  free(places);
  t->spectrum.re = t->re;
  t->spectrum.im = t->im;
  t->spectrum.spurious_re = finite ? t->spurious_re : NULL;
  t->spectrum.spurious_im = finite ? t->spurious_im : NULL;
  for (size_t i = 0; i < keep; i++)
    if (!isfinite(t->re[i]) || !isfinite(t->im[i]))
      return bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system",
                          "masses vanish where the constraints leave motion");
  return BRAMAH_OK;
}

/* ---- all of it ---- */

static bramah_status solve(const bramah_constrained *s, bramah_approach approach,
                           const bramah_penalty_factors *factors, work *w, store *t, bramah_diag *diag)
{
  bramah__quadratic q;
  size_t *rank = &t->spectrum.rank;
  bramah_status status = approach == BRAMAH_APPROACH_MINIMAL     ? minimal(s, w, rank, &q, diag)
                         : approach == BRAMAH_APPROACH_REDUNDANT ? redundant(s, w, rank, &q, diag)
                                                                 : penalty(s, factors, w, rank, &q, diag);
  if (status != BRAMAH_OK) return status;
  const size_t order = 2 * q.n + q.k, vectors = approach == BRAMAH_APPROACH_PENALTY ? order * order : 0;
  w->re = malloc((4 * order + vectors + 1) * sizeof *w->re);
  w->order = calloc(order + 1, sizeof *w->order);
  if (!w->re || !w->order) return bramah__analysis_memory(diag);
  w->im = w->re + order;
  w->size = w->im + order;
  w->key = w->size + order;
  w->vectors = vectors ? w->key + order : NULL;
  bramah__eigenvalues out = {w->re, w->im, w->size, w->vectors};
  q.undamped = is_undamped(&q);
  status = bramah__solve_undamped(&q, &out, diag);
  if (status == BRAMAH_E_UNSUPPORTED) status = bramah__solve_quadratic(&q, &out, diag);
  if (status == BRAMAH_OK) status = sort(s, approach, w, order, t, diag);
  return status;
}

bramah_status bramah_spectrum_new(const bramah_constrained *system, bramah_approach approach,
                                  const bramah_penalty_factors *factors, bramah_diag *diag,
                                  bramah_spectrum **out)
{
  work w = {0};
  store *t = calloc(1, sizeof *t);
  *out = NULL;
  if (!t) return bramah__analysis_memory(diag);
  const bramah_status status = solve(system, approach, factors, &w, t, diag);
  free_work(&w);
  if (status != BRAMAH_OK)
    bramah_spectrum_free(&t->spectrum);
  else
    *out = &t->spectrum;
  return status;
}

void bramah_spectrum_free(bramah_spectrum *spectrum)
{
  store *t = (store *)(void *)spectrum;
  if (!t) return;
  free(t->re);
  free(t);
}
