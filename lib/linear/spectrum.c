/* SPDX-License-Identifier: MIT */
/* Eigenvalues of equations with constraints. */
#include "bramah/linear.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"
#include "lib/math/dense.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Quadratic problems with first-order states and a border of constraints, by shift and inversion: with y =
 * [q; q'; x] and lambda, (A - sigma E) y_new = E y gives eigenvalues mu = 1 / (s - sigma) of the matrix T,
 * y_new = T y, of order 2 n + k: infinite s become zeros. One solution of order n + k + border makes all
 * columns of T,
 *
 *   [ s2 M + s C + K   P        Phi' ] [ q_new  ]   [ -M v - (C + sigma M) q ]
 *   [ -Xq - sigma Xv   s - Xx   0    ] [ x_new  ] = [ Xv q - x               ]
 *   [ Phi              0        0    ] [ lambda ]   [ 0                      ]      v_new = q + sigma q_new
 *
 * Vectors of finite s keep the constraints in q and q'. T is confined to these by orthogonal projections on
 * both of its sides: its zeros would otherwise be in Jordan blocks, which rounding spreads to the size of
 * fast modes. */

/* A quadratic problem of its own: matrices of the constrained system projected, or with penalties. `border`
 * rows hold what is left of the constraints. */
typedef struct quadratic {
  size_t n, k, border;
  const double *M, *C, *K, *P, *Xq, *Xv, *Xx;
  const double *rows; /* [border x n] of length one, across each other */
  int undamped;       /* C vanishes, M and K are symmetric, k = 0 */
} quadratic;

/* Its eigenvalues s, unsorted: re, im [2 n + k], and |1 / (s - sigma)| in size [2 n + k], 0 for infinite
 * ones. vectors [(2 n + k)^2] as bramah__eigen gives them, or NULL. */
typedef struct eigenvalue_table {
  double *re, *im, *size, *vectors;
} eigenvalue_table;

static bramah_status no_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "constrained system", "out of memory");
}

static double size_of(size_t n, const double *A)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

/* x [n, stride apart] -= rows' (rows x), rows of length one across each other */
static void confine(const quadratic *q, double *x, size_t stride)
{
  for (size_t b = 0; b < q->border; b++) {
    const double *row = q->rows + b * q->n;
    double sum = 0.0;
    for (size_t i = 0; i < q->n; i++) sum += row[i] * x[i * stride];
    for (size_t i = 0; i < q->n; i++) x[i * stride] -= sum * row[i];
  }
}

/* T for the least shift at which the equations can be solved. */
static bramah_status invert(const quadratic *q, double *A, double *B, int *pivot, double *T, double *sigma,
                            bramah_diag *diag)
{
  const size_t n = q->n, k = q->k, N = n + k + q->border, order = 2 * n + k;
  const double m = size_of(n * n, q->M), of_K = size_of(n * n, q->K), unit = of_K > 0.0 ? of_K : 1.0,
               rate = m > 0.0 && of_K > 0.0 ? sqrt(of_K / m) : 1.0;
  int solved = 0;
  for (int step = k ? 1 : -1; step < 7 && !solved; step++) { /* volumes with closed valves have zeros */
    const double s = step < 0 ? 0.0 : rate * pow(10.0, step - 5);

    /* The equations at this shift, and as rows of B what each unit of [q; v; x] puts on the right. */
    memset(A, 0, N * N * sizeof *A);
    memset(B, 0, order * N * sizeof *B);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) {
        A[i * N + j] = s * (s * q->M[i * n + j] + q->C[i * n + j]) + q->K[i * n + j];
        B[j * N + i] = -q->C[i * n + j] - s * q->M[i * n + j];
        B[(n + j) * N + i] = -q->M[i * n + j];
      }
      for (size_t j = 0; j < k; j++) A[i * N + n + j] = q->P[i * k + j];
    }
    for (size_t i = 0; i < k; i++) {
      for (size_t j = 0; j < n; j++) {
        A[(n + i) * N + j] = -q->Xq[i * n + j] - s * q->Xv[i * n + j];
        B[j * N + n + i] = q->Xv[i * n + j];
      }
      for (size_t j = 0; j < k; j++) A[(n + i) * N + n + j] = (i == j) * s - q->Xx[i * k + j];
      B[(2 * n + i) * N + n + i] = -1.0;
    }
    for (size_t b = 0; b < q->border; b++)
      for (size_t j = 0; j < n; j++)
        A[(n + k + b) * N + j] = A[j * N + n + k + b] = q->rows[b * n + j] * unit;

    double smallest;
    solved = bramah__solve_many(N, order, A, B, pivot, &smallest) == 0 && (k || smallest > 1e-15);
    *sigma = s;
  }
  if (!solved)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system", "its equations are singular");

  for (size_t j = 0; j < order; j++) {
    const double *y = B + j * N;
    for (size_t i = 0; i < n; i++) {
      T[i * order + j] = y[i];
      T[(n + i) * order + j] = (i == j) + *sigma * y[i];
    }
    for (size_t i = 0; i < k; i++) T[(2 * n + i) * order + j] = y[n + i];
  }
  for (size_t half = 0; half < 2 && q->border; half++) {
    for (size_t i = 0; i < order; i++) confine(q, T + half * n * order + i, order); /* columns */
    for (size_t i = 0; i < order; i++) confine(q, T + i * order + half * n, 1);     /* rows */
  }
  return BRAMAH_OK;
}

static bramah_status solve_quadratic(const quadratic *q, eigenvalue_table *out, bramah_diag *diag)
{
  const size_t N = q->n + q->k + q->border, order = 2 * q->n + q->k;
  double *A = malloc((N * N + order * N + order * order + bramah__eigen_work(order) + 1) * sizeof *A);
  int *pivot = malloc((N + bramah__eigen_iwork(order) + 1) * sizeof *pivot);
  double sigma = 0.0;
  bramah_status status = A && pivot ? BRAMAH_OK : no_memory(diag);
  if (status == BRAMAH_OK) {
    double *B = A + N * N, *T = B + order * N;
    status = invert(q, A, B, pivot, T, &sigma, diag);
    if (status == BRAMAH_OK && bramah__eigen(order, T, out->re, out->im, NULL, out->vectors, NULL, NULL,
                                             T + order * order, pivot + N))
      status = bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system",
                            "the iteration for the eigenvalues failed");
  }
  for (size_t i = 0; i < order && status == BRAMAH_OK; i++) {
    const double size = hypot(out->re[i], out->im[i]);
    out->size[i] = size;
    if (size > 0.0) { /* s = sigma + 1 / mu */
      out->re[i] = sigma + out->re[i] / size / size;
      out->im[i] = -out->im[i] / size / size;
    } else {
      out->re[i] = (double)INFINITY;
    }
  }
  free(A);
  free(pivot);
  return status;
}

/* Undamped problems, M q'' + K q + Phi' lambda = 0 with symmetric matrices: w = -s^2 is real. What is solved
 * for is 1 / (w + shift), largest for slow modes, of
 *
 *   M x = mu (K + shift M) x                  without constraints left
 *   L' G L x = mu x,  M = L L'                with them, G the first block of
 *                                         [K + shift M, Phi'; Phi, 0]^-1 */

/* Without constraints: K + shift M positive definite for the least shift that is tried. */
static bramah_status definite(const quadratic *q, double unit, double *A, double *B, double *mu, double *work,
                              double *shift)
{
  const size_t n = q->n;
  for (int step = -1; step < 16; step++) {
    *shift = step < 0 ? 0.0 : unit * pow(10.0, step - 12);
    for (size_t i = 0; i < n * n; i++) {
      A[i] = q->M[i];
      B[i] = q->K[i] + *shift * q->M[i];
    }
    if (bramah__symmetric_pencil(n, A, B, mu, 0, work) == 0) return BRAMAH_OK;
  }
  return BRAMAH_E_UNSUPPORTED;
}

/* With them. */
static bramah_status bordered(const quadratic *q, double unit, double *A, double *B, double *mu, double *work,
                              double *shift)
{
  const size_t n = q->n, N = n + q->border;
  double *L = work, *S = L + n * n, *rest = S + n * n, smallest = 0.0;
  int *pivot = malloc(N * sizeof *pivot);
  if (!pivot) return BRAMAH_E_MEMORY;
  memcpy(L, q->M, n * n * sizeof *L);
  int failed = bramah__cholesky_factor(n, L) != 0;

  /* Coordinates that repeat each other have masses that are positive by rounding alone. */
  double least = (double)INFINITY, most = 0.0;
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, L[i * n + i]);
    most = fmax(most, L[i * n + i]);
  }
  failed |= least < 1e-6 * most;
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++) L[i * n + j] = 0.0;

  /* G L, for the least shift at which the equations can be solved; */
  for (int step = -1; step < 16 && !failed; step++) {
    *shift = step < 0 ? 0.0 : unit * pow(10.0, step - 12);
    memset(A, 0, N * N * sizeof *A);
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < n; j++) A[i * N + j] = q->K[i * n + j] + *shift * q->M[i * n + j];
    for (size_t b = 0; b < q->border; b++)
      for (size_t j = 0; j < n; j++) A[(n + b) * N + j] = A[j * N + n + b] = q->rows[b * n + j] * unit;
    memset(B, 0, n * N * sizeof *B); /* rows: columns of L, extended */
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j <= i; j++) B[j * N + i] = L[i * n + j];
    failed = bramah__solve_many(N, n, A, B, pivot, &smallest) != 0;
    if (!failed && smallest > 1e-14) break;
    failed = step == 15;
  }
  free(pivot);
  if (failed) return BRAMAH_E_UNSUPPORTED;

  /* then the eigenvalues. */
  for (size_t i = 0; i < n; i++) memmove(B + i * n, B + i * N, n * sizeof *B);
  bramah__multiply(n, n, n, B, L, S); /* (G L)' L */
  bramah__symmetrise(n, S);
  memset(A, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) A[i * n + i] = 1.0;
  return bramah__symmetric_pencil(n, S, A, mu, 0, rest) ? BRAMAH_E_UNSUPPORTED : BRAMAH_OK;
}

/* Undamped problems by symmetric matrices; E_UNSUPPORTED where these do not exist. */
static bramah_status solve_undamped(const quadratic *q, eigenvalue_table *out, bramah_diag *diag)
{
  const size_t n = q->n, N = n + q->border;
  if (!q->undamped || out->vectors) return BRAMAH_E_UNSUPPORTED;
  const double m = size_of(n * n, q->M), unit = m > 0.0 ? fmax(size_of(n * n, q->K) / m, 1e-300) : 1.0;
  double *A = malloc((2 * N * N + n + 2 * n * n + bramah__symmetric_pencil_work(n) + 1) * sizeof *A);
  if (!A) return no_memory(diag);
  double *B = A + N * N, *mu = B + N * N, *work = mu + n, shift = 0.0;
  const bramah_status status =
      q->border ? bordered(q, unit, A, B, mu, work, &shift) : definite(q, unit, A, B, mu, work, &shift);
  for (size_t i = 0; i < 2 * n && status == BRAMAH_OK; i++) {
    /* A pair s = +-sqrt(-w) of mu = 1 / (w + shift). */
    const double of = mu[i / 2], w = of == 0.0 ? (double)INFINITY : 1.0 / of - shift,
                 s = i % 2 ? -sqrt(fabs(w)) : sqrt(fabs(w));
    out->re[i] = w < 0.0 ? s : 0.0;
    out->im[i] = w < 0.0 ? 0.0 : s;
    out->size[i] = of == 0.0 ? 0.0 : sqrt(fabs(of));
  }
  free(A);
  return status == BRAMAH_E_MEMORY ? no_memory(diag) : status;
}

/* The three approaches: each makes a quadratic problem of the constrained system, solves it, and sorts what
 * is spurious from what is not. How many of each there are is known from the rank of the constraints. */

static const double rank_tolerance = 1e-9;

/* What lies behind the spectrum that the caller holds. */
typedef struct store {
  bramah_spectrum spectrum; /* first */
  double *re, *im;
} store;

typedef struct work {
  double *projected; /* the matrices of the quadratic problem */
  double *re, *im, *size, *vectors, *key;
  size_t *order;
} work;

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

static quadratic as_it_is(const bramah_constrained *s)
{
  return (quadratic){.n = s->n,
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

static bramah_status minimal(const bramah_constrained *s, work *w, size_t *rank, quadratic *q,
                             bramah_diag *diag)
{
  const size_t n = s->n, m = s->m, k = s->k;
  const size_t scratch = m * n + bramah__null_space_work(m, n);
  double *N = malloc((n * n + n * n + 3 * n * n + 3 * n * k + scratch + 1) * sizeof *N);
  int *pivot = malloc((n + 1) * sizeof *pivot);
  w->projected = N;
  if (!N || !pivot) return free(pivot), no_memory(diag);
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
  *q = (quadratic){.n = f, .k = k, .M = M, .C = C, .K = K, .P = P, .Xq = Xq, .Xv = Xv, .Xx = s->Xx};
  return BRAMAH_OK;
}

/* Rows of length one, across each other, that say what Phi says. */
static bramah_status orthonormal_rows(const bramah_constrained *s, double *rows, size_t *rank,
                                      bramah_diag *diag)
{
  const size_t n = s->n, m = s->m;
  double *A = malloc((n * m + bramah__orthonormal_work(n, m) + 1) * sizeof *A);
  int *pivot = malloc((m + 1) * sizeof *pivot);
  bramah_status status = A && pivot ? BRAMAH_OK : no_memory(diag);
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

static bramah_status penalty(const bramah_constrained *s, const bramah_penalty_factors *factors, work *w,
                             size_t *rank, quadratic *q, bramah_diag *diag)
{
  static const bramah_penalty_factors published = {1e7, 1.0, 10.0};
  const bramah_penalty_factors *p = factors ? factors : &published;
  const size_t n = s->n, nn = n * n;
  if (!(p->alpha > 0.0 && p->omega > 0.0 && p->xi >= 0.0) || s->m > n)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "penalty",
                        "alpha and omega must be positive, xi not negative");
  double *M = malloc((4 * nn + s->m * n + 1) * sizeof *M), *C = M + nn, *K = C + nn, *G = K + nn;
  w->projected = M;
  if (!M) return no_memory(diag);
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

/* As many as there must be are true, the others spurious; both slowest first. Sorted by the violation of the constraints
 * where the spurious ones are finite, else by size. */
static bramah_status sort(const bramah_constrained *s, int finite, const work *w, size_t order, store *t,
                          bramah_diag *diag)
{
  const size_t keep = 2 * (s->n - t->spectrum.rank) + s->k;
  place *places = calloc(order + 1, sizeof *places);
  t->re = calloc(2 * order + 1, sizeof *t->re);
  if (!places || !t->re) return free(places), no_memory(diag);
  t->im = t->re + keep;
  double *spurious_re = t->im + keep, *spurious_im = spurious_re + (order - keep);
  for (size_t i = 0; i < order; i++) {
    if (finite) w->key[i] = violation(s, w, order, i);
    places[i] = (place){finite ? w->key[i] : 1.0 / w->size[i], i};
  }
  qsort(places, order, sizeof *places, ascending);
  double gap = (double)INFINITY;
  if (keep && keep < order && places[keep - 1].key > 0.0) gap = places[keep].key / places[keep - 1].key;

  for (size_t i = 0; i < order; i++) places[i].key = hypot(w->re[places[i].index], w->im[places[i].index]);
  qsort(places, keep, sizeof *places, ascending);
  qsort(places + keep, order - keep, sizeof *places, ascending);
  int vanish = 0;
  for (size_t i = 0; i < keep; i++) {
    t->re[i] = w->re[places[i].index];
    t->im[i] = w->im[places[i].index];
    vanish |= !isfinite(t->re[i]) || !isfinite(t->im[i]);
  }
  for (size_t i = keep; i < order && finite; i++) {
    spurious_re[i - keep] = w->re[places[i].index];
    spurious_im[i - keep] = w->im[places[i].index];
  }
  free(places);
  if (vanish)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system",
                        "masses vanish where the constraints leave motion");
  t->spectrum = (bramah_spectrum){.n = keep,
                                  .re = t->re,
                                  .im = t->im,
                                  .rank = t->spectrum.rank,
                                  .n_spurious = order - keep,
                                  .spurious_re = finite ? spurious_re : NULL,
                                  .spurious_im = finite ? spurious_im : NULL,
                                  .gap = gap};
  return BRAMAH_OK;
}

/* ---- all of it ---- */

static bramah_status find_spectrum(const bramah_constrained *s, bramah_approach approach,
                                   const bramah_penalty_factors *factors, work *w, store *t,
                                   bramah_diag *diag)
{
  const int finite = approach == BRAMAH_APPROACH_PENALTY;
  size_t *rank = &t->spectrum.rank;
  quadratic q = {0};
  bramah_status status = BRAMAH_OK;
  if (approach == BRAMAH_APPROACH_MINIMAL) {
    status = minimal(s, w, rank, &q, diag);
  } else if (finite) {
    status = penalty(s, factors, w, rank, &q, diag);
  } else { /* as it is, with the constraints as a border */
    w->projected = malloc((s->m * s->n + 1) * sizeof *w->projected);
    status = !w->projected ? no_memory(diag)
             : s->m > s->n ? bramah__fail(diag, BRAMAH_E_ARGUMENT, "constrained system",
                                          "more constraints than coordinates")
                           : orthonormal_rows(s, w->projected, rank, diag);
    q = as_it_is(s);
    q.rows = w->projected;
    q.border = *rank;
  }
  if (status != BRAMAH_OK) return status;

  const size_t order = 2 * q.n + q.k, vectors = finite ? order * order : 0;
  w->re = malloc((4 * order + vectors + 1) * sizeof *w->re);
  w->order = calloc(order + 1, sizeof *w->order);
  if (!w->re || !w->order) return no_memory(diag);
  w->im = w->re + order;
  w->size = w->im + order;
  w->key = w->size + order;
  w->vectors = vectors ? w->key + order : NULL;

  eigenvalue_table out = {w->re, w->im, w->size, w->vectors};
  q.undamped = q.k == 0 && is_symmetric(q.n, q.M) && is_symmetric(q.n, q.K);
  for (size_t i = 0; i < q.n * q.n; i++)
    if (q.C[i] != 0.0) q.undamped = 0;
  status = solve_undamped(&q, &out, diag);
  if (status == BRAMAH_E_UNSUPPORTED) status = solve_quadratic(&q, &out, diag);
  return status == BRAMAH_OK ? sort(s, finite, w, order, t, diag) : status;
}

bramah_status bramah_spectrum_new(const bramah_constrained *system, bramah_approach approach,
                                  const bramah_penalty_factors *factors, bramah_diag *diag,
                                  bramah_spectrum **out)
{
  work w = {0};
  store *t = calloc(1, sizeof *t);
  *out = NULL;
  if (!t) return no_memory(diag);
  const bramah_status status = find_spectrum(system, approach, factors, &w, t, diag);
  free(w.projected);
  free(w.re);
  free(w.order);
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
