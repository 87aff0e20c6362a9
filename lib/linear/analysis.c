/* SPDX-License-Identifier: MIT */
/* Analysis of linear equations: modes, the same in discrete time and over frequency, a regulator. All in balanced
 * coordinates, x = diag(scale) z: rows and columns of A of like size. */
#include "bramah/linear.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- balanced ---- */

typedef struct balanced {
  size_t n;
  double *A, *scale; /* [n x n], [n] */
  double norm;       /* Frobenius norm of A */
} balanced;

static bramah_status no_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "analysis", "out of memory");
}

static int all_finite(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

static double size_of(size_t n, const double *A)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

/* Rows of A or B must be finite; the state whose row is not is named. */
static bramah_status check_rows(const bramah_linear_system *s, size_t columns, const double *M,
                                const char *matrix, bramah_diag *diag)
{
  for (size_t i = 0; i < s->n && M; i++)
    if (!all_finite(columns, M + i * columns))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, s->x_name ? s->x_name[i] : matrix,
                          "the derivative of its rate is not finite");
  return BRAMAH_OK;
}

/* E_NOT_FINITE or E_MEMORY; released by balanced_free, also after an error. */
static bramah_status balanced_make(const bramah_linear_system *system, balanced *out, bramah_diag *diag)
{
  const size_t n = system->n;
  *out = (balanced){.n = n};
  const bramah_status status = check_rows(system, n, system->A, "A", diag);
  if (status != BRAMAH_OK) return status;
  out->A = malloc((n * n + 1) * sizeof *out->A);
  out->scale = malloc((n + 1) * sizeof *out->scale);
  if (!out->A || !out->scale) return no_memory(diag);
  if (n) memcpy(out->A, system->A, n * n * sizeof *out->A);
  bramah__balance(n, out->A, out->scale);
  out->norm = size_of(n * n, out->A);
  return BRAMAH_OK;
}

static void balanced_free(balanced *z)
{
  free(z->A);
  free(z->scale);
}

/* ---- modes ---- */

/* Eigenvalues with what can be said about them. Rounding moves an eigenvalue by about eps |A| / c, c its
 * reciprocal condition number; one of a Jordan block of two, whose c is of the size of sqrt(eps), by about
 * sqrt(eps) |A|. What lies within that of the imaginary axis counts as marginal. */

typedef struct store {
  bramah_modes modes; /* first: what the caller holds */
  bramah_mode *mode;
  double *vectors; /* [n_modes x 3 n] */
  double *wr, *wi, *L, *R, *condition;
  double *A, *work; /* [n x n], balanced; of what is done with it */
  int *iwork;
  double norm;
} store;

static int slower(const void *a, const void *b)
{
  const bramah_mode *x = a, *y = b;
  const double p = hypot(x->re, x->im), q = hypot(y->re, y->im);
  return (p > q) - (p < q);
}

/* Vectors further apart than this are two; those of a Jordan block come out with 1e-8 to 1e-4, and so may those of
 * eigenvalues that have all of theirs, where rounding chooses among these. */
static const double defective_below = 1e-3;

/* Do eigenvalue k and those as near to it as rounding would put a second one of a block have fewer vectors than they are?
 * They have as many as A - s I falls short in rank, s their mean; twice as many here, where its real and imaginary parts are
 * one real matrix. */
static int is_defective(const store *s, size_t k, double reach)
{
  const size_t n = s->modes.n, twice = 2 * n;
  size_t near = 0, rank;
  double re = 0.0, im = 0.0, *M = s->work;
  for (size_t j = 0; j < n; j++) {
    if (hypot(s->wr[j] - s->wr[k], s->wi[j] - s->wi[k]) > reach) continue;
    re += s->wr[j];
    im += s->wi[j];
    near++;
  }
  if (near < 2 || s->condition[k] >= defective_below) return 0;
  memset(M, 0, twice * twice * sizeof *M);
  for (size_t part = 0; part < twice; part += n)
    for (size_t i = 0; i < n; i++) {
      double *row = M + (part + i) * twice;
      memcpy(row + part, s->A + i * n, n * sizeof *row);
      row[part + i] -= re / (double)near;
      row[n - part + i] = (part ? -im : im) / (double)near;
    }
  const double tolerance = 1e4 * (double)n * DBL_EPSILON;
  bramah__orthonormal(twice, twice, M, tolerance, &rank, M + twice * twice, s->iwork);
  return twice - rank < 2 * near;
}

/* All modes, slowest first, and how many are what. */
static void collect(store *s, const double *scale)
{
  bramah_modes *m = &s->modes;
  const size_t n = m->n;
  const double little = (double)n * DBL_EPSILON, reach = 2.0 * sqrt(little) * s->norm;
  for (size_t k = 0; k < n; k++) {
    if (s->wi[k] < 0.0) continue;
    const double size = hypot(s->wr[k], s->wi[k]);
    const int pair = s->wi[k] > 0.0;

    /* Its shape, in the units of the state, and participation; vector k + 1 is the imaginary part of a pair. */
    double *re = s->vectors + m->n_modes * 3 * n, *im = re + n, *participation = im + n, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
      const size_t real = k * n + i, imaginary = real + n;
      re[i] = s->R[real];
      im[i] = pair ? s->R[imaginary] : 0.0;
      participation[i] = hypot(s->L[real], pair ? s->L[imaginary] : 0.0) * hypot(re[i], im[i]);
      sum += participation[i];
      re[i] *= scale[i];
      im[i] *= scale[i];
    }
    for (size_t i = 0; i < n && sum > 0.0; i++) participation[i] /= sum;

    bramah_mode *mode = &s->mode[m->n_modes++];
    *mode = (bramah_mode){.re = s->wr[k],
                          .im = s->wi[k],
                          .pair = pair,
                          .condition = s->condition[k],
                          .shape_re = re,
                          .shape_im = im,
                          .participation = participation};
    mode->frequency = pair ? size / (2.0 * 3.14159265358979323846) : 0.0;
    mode->damping = size > 0.0 ? 0.0 - mode->re / size : 0.0; /* no -0 */
    mode->error = fmin(little * s->norm / fmax(s->condition[k], DBL_MIN), sqrt(little) * s->norm);
    mode->stability = fabs(mode->re) <= mode->error ? BRAMAH_MARGINAL
                      : mode->re < 0.0              ? BRAMAH_STABLE
                                                    : BRAMAH_UNSTABLE;

    mode->defective = is_defective(s, k, reach);
  }
  qsort(s->mode, m->n_modes, sizeof *s->mode, slower);
  m->mode = s->mode;
  for (size_t k = 0; k < m->n_modes; k++) {
    const bramah_mode *mode = &s->mode[k];
    const size_t count = mode->pair ? 2 : 1;
    m->n_unstable += mode->stability == BRAMAH_UNSTABLE ? count : 0;
    m->n_marginal += mode->stability == BRAMAH_MARGINAL ? count : 0;
    m->n_defective += mode->defective ? count : 0;
    const bramah_stability grows =
        mode->stability == BRAMAH_MARGINAL && mode->defective ? BRAMAH_UNSTABLE : mode->stability;
    if (grows > m->stability) m->stability = grows;
  }
}

bramah_status bramah_modes_new(const bramah_linear_system *system, bramah_diag *diag, bramah_modes **out)
{
  const size_t n = system->n;
  balanced z;
  store *s = calloc(1, sizeof *s);
  *out = NULL;
  bramah_status status = balanced_make(system, &z, diag);
  if (status == BRAMAH_OK && s) {
    s->modes.n = n;
    s->mode = calloc(n + 1, sizeof *s->mode);
    s->vectors = calloc(3 * n * n + 1, sizeof *s->vectors);
    s->wr = calloc(3 * n + 3 * n * n + bramah__eigen_work(n) + 4 * n * n +
                       bramah__orthonormal_work(2 * n, 2 * n) + 1,
                   sizeof *s->wr);
    s->iwork = calloc(bramah__eigen_iwork(n) + 1, sizeof *s->iwork);
  }
  if (status == BRAMAH_OK && (!s || !s->mode || !s->vectors || !s->wr || !s->iwork)) status = no_memory(diag);
  if (status == BRAMAH_OK) {
    s->wi = s->wr + n;
    s->condition = s->wi + n;
    s->L = s->condition + n;
    s->R = s->L + n * n;
    s->A = s->R + n * n;
    s->work = s->A + n * n;
    memcpy(s->A, z.A, n * n * sizeof *s->A);
    if (bramah__eigen(n, z.A, s->wr, s->wi, s->L, s->R, s->condition, &s->norm, s->work, s->iwork))
      status = bramah__fail(diag, BRAMAH_E_SINGULAR, "modes", "the iteration for the eigenvalues failed");
  }
  if (status == BRAMAH_OK) {
    collect(s, z.scale);
    *out = &s->modes;
  } else if (s) {
    bramah_modes_free(&s->modes);
  }
  balanced_free(&z);
  return status;
}

void bramah_modes_free(bramah_modes *modes)
{
  store *s = (store *)(void *)modes;
  if (!s) return;
  free(s->mode);
  free(s->vectors);
  free(s->wr);
  free(s->iwork);
  free(s);
}

/* ---- discrete time ---- */

/* Matrix exponential by scaling and squaring with the Pade approximant of order 13 (Higham 2005, algorithm
 * 2.3, without its lower orders: analysis is in no hurry). */

static const double theta13 = 5.371920351148152; /* largest 1-norm the approximant is good for */

static const double pade[14] = {64764752532480000.0,
                                32382376266240000.0,
                                7771770303897600.0,
                                1187353796428800.0,
                                129060195264000.0,
                                10559470521600.0,
                                670442572800.0,
                                33522128640.0,
                                1323241920.0,
                                40840800.0,
                                960960.0,
                                16380.0,
                                182.0,
                                1.0};

/* Y = c6 A6 + c4 A4 + c2 A2 + c0 I */
static void polynomial(size_t n, const double *const power[3], double c6, double c4, double c2, double c0,
                       double *Y)
{
  for (size_t i = 0; i < n * n; i++) Y[i] = c6 * power[2][i] + c4 * power[1][i] + c2 * power[0][i];
  for (size_t i = 0; i < n; i++) Y[i * n + i] += c0;
}

static void add(size_t n, const double *X, double *Y)
{
  for (size_t i = 0; i < n * n; i++) Y[i] += X[i];
}

/* E [n x n] = exp(A t), A [n x n] of moderate size in all its entries. What is too large for numbers comes
 * out infinite or not a number. work [6 n^2], pivot [n]. */
static void exponential(size_t n, const double *A, double t, double *E, double *work, int *pivot)
{
  double *X = work, *A2 = X + n * n, *A4 = A2 + n * n, *A6 = A4 + n * n, *U = A6 + n * n, *V = U + n * n;
  const double *const power[3] = {A2, A4, A6};
  if (n == 0) return;

  /* Scaled until the approximant is good for it, by the largest sum of a column. */
  double norm = 0.0;
  for (size_t i = 0; i < n * n; i++) X[i] = A[i] * t;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += fabs(X[i * n + j]);
    norm = fmax(norm, sum);
  }
  if (!isfinite(norm)) {
    for (size_t i = 0; i < n * n; i++) E[i] = (double)INFINITY;
    return;
  }
  const int squarings = norm > theta13 ? (int)ceil(log2(norm / theta13)) : 0;
  for (size_t i = 0; i < n * n; i++) X[i] = ldexp(X[i], -squarings);

  /* Odd part U and even part V. */
  bramah__multiply(n, n, n, X, X, A2);
  bramah__multiply(n, n, n, A2, A2, A4);
  bramah__multiply(n, n, n, A2, A4, A6);
  polynomial(n, power, pade[13], pade[11], pade[9], 0.0, U);
  bramah__multiply(n, n, n, A6, U, E);
  polynomial(n, power, pade[7], pade[5], pade[3], pade[1], V);
  add(n, E, V);
  bramah__multiply(n, n, n, X, V, U);
  polynomial(n, power, pade[12], pade[10], pade[8], 0.0, V);
  bramah__multiply(n, n, n, A6, V, E);
  polynomial(n, power, pade[6], pade[4], pade[2], pade[0], V);
  add(n, E, V);

  /* Columns of E solve (V - U) E = V + U. */
  double *column = A2;
  for (size_t i = 0; i < n * n; i++) {
    const double u = U[i], v = V[i];
    U[i] = v - u;
    V[i] = v + u;
  }
  bramah__lu_factor(n, U, pivot);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) column[i] = V[i * n + j];
    bramah__lu_solve(n, U, pivot, column);
    for (size_t i = 0; i < n; i++) E[i * n + j] = column[i];
  }
  for (int k = 0; k < squarings; k++) {
    bramah__multiply(n, n, n, E, E, X);
    memcpy(E, X, n * n * sizeof *E);
  }
}

/* Columns of B are scaled to the size of A: the exponential is linear in them. */
static double size_of_input(const bramah_linear_system *s, const balanced *z, size_t u)
{
  double largest = 0.0;
  for (size_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->B[i * s->n_u + u] / z->scale[i]));
  return largest > 0.0 ? largest / fmax(z->norm, 1.0) : 1.0;
}

/* Zero-order hold: the exponential of [A B; 0 0] h holds both matrices. */
bramah_status bramah_discretise(const bramah_linear_system *system, double h, double *F, double *G,
                                bramah_diag *diag)
{
  const bramah_linear_system *s = system;
  const size_t n = s->n, n_u = G ? s->n_u : 0, N = n + n_u;
  if (!(h >= 0.0) || !isfinite(h))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "discretise", "the step must be finite and not negative");
  balanced z;
  bramah_status status = balanced_make(s, &z, diag);
  if (status == BRAMAH_OK && G) status = check_rows(s, n_u, s->B, "B", diag);
  double *M = calloc(8 * N * N + 1, sizeof *M);
  int *pivot = calloc(N + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!M || !pivot)) status = no_memory(diag);
  if (status == BRAMAH_OK) {
    double *E = M + N * N;
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) M[i * N + j] = z.A[i * n + j];
      for (size_t u = 0; u < n_u; u++)
        M[i * N + n + u] = s->B[i * n_u + u] / z.scale[i] / size_of_input(s, &z, u);
    }
    exponential(N, M, h, E, E + N * N, pivot);
    for (size_t i = 0; i < n; i++) {
      for (size_t j = 0; j < n; j++) F[i * n + j] = E[i * N + j] * z.scale[i] / z.scale[j];
      for (size_t u = 0; u < n_u; u++)
        G[i * n_u + u] = E[i * N + n + u] * z.scale[i] * size_of_input(s, &z, u);
    }
    if (!all_finite(n * n, F) || (G && !all_finite(n * n_u, G)))
      status = bramah__fail(diag, BRAMAH_E_NOT_FINITE, "discretise",
                            "an unstable mode grows beyond all numbers in this step: take a shorter one");
  }
  free(M);
  free(pivot);
  balanced_free(&z);
  return status;
}

/* ---- frequencies ---- */

void bramah_response_frequencies(const bramah_modes *modes, size_t n, double *w)
{
  double low = (double)INFINITY, high = 0.0;
  for (size_t k = 0; k < modes->n_modes; k++) {
    const double size = hypot(modes->mode[k].re, modes->mode[k].im);
    if (size > 10.0 * modes->mode[k].error) low = fmin(low, size);
    high = fmax(high, size);
  }
  if (!(low <= high)) low = high = 1.0; /* nothing but marginal modes at zero */
  low *= 0.1;
  high *= 10.0;
  for (size_t k = 0; k < n; k++) w[k] = low * pow(high / low, (double)k / (double)(n - 1));
}

/* G(i w) = c (i w I - A)^-1 b + d, one solution for each frequency; complex numbers as pairs, column-major. */
bramah_status bramah_frequency_response(const bramah_linear_system *system, size_t y, size_t u, size_t n_w,
                                        const double *w, double *re, double *im, bramah_diag *diag)
{
  const bramah_linear_system *s = system;
  const size_t n = s->n;
  if (y >= s->n_y || u >= s->n_u)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response",
                        "there is no input or output of this number");
  balanced z;
  bramah_status status = balanced_make(s, &z, diag);
  double *M = calloc(2 * n * n + 1, sizeof *M), *x = calloc(2 * n + 1, sizeof *x);
  int *pivot = calloc(n + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!M || !x || !pivot)) status = no_memory(diag);
  for (size_t k = 0; k < n_w && status == BRAMAH_OK; k++) {
    if (!isfinite(w[k])) {
      status = bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response", "frequencies must be finite");
      break;
    }

    /* x = (i w I - A)^-1 b */
    memset(M, 0, 2 * n * n * sizeof *M);
    for (size_t j = 0; j < n; j++) {
      for (size_t i = 0; i < n; i++) M[2 * (j * n + i)] = -z.A[i * n + j];
      M[2 * (j * n + j) + 1] = w[k];
      x[2 * j] = s->B[j * s->n_u + u] / z.scale[j];
      x[2 * j + 1] = 0.0;
    }
    if (bramah__complex_solve(n, 1, M, x, pivot)) {
      status = bramah__fail(diag, BRAMAH_E_SINGULAR, s->u_name ? s->u_name[u] : "frequency response",
                            "an undamped mode has just this frequency [rad/s]: ");
      bramah__add_number(diag, w[k], 6);
      break;
    }

    re[k] = s->D ? s->D[y * s->n_u + u] : 0.0;
    im[k] = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double c = s->C[y * n + i] * z.scale[i];
      re[k] += c * x[2 * i];
      im[k] += c * x[2 * i + 1];
    }
    if (!isfinite(re[k]) || !isfinite(im[k]))
      status = bramah__fail(diag, BRAMAH_E_NOT_FINITE, s->y_name ? s->y_name[y] : "frequency response",
                            "the response is not finite");
  }
  free(M);
  free(x);
  free(pivot);
  balanced_free(&z);
  return status;
}

/* ---- regulator ---- */

/* Riccati's equation A' X + X A - X G X + Q = 0, G = B R^-1 B', from the stable subspace [U; V] of its
 * Hamiltonian matrix
 *
 *   [  A        -rho G ]
 *   [ -Q / rho  -A'    ]      X = rho V U^-1
 *
 * in balanced coordinates, rho such that Q and G weigh alike, and once more scaled by diag(D, D^-1), which
 * keeps the form: Benner, "Symplectic balancing of Hamiltonian matrices", SIAM J. Sci. Comput. 22 (2001). */

typedef struct riccati {
  double *B, *RB, *G, *Q, *R; /* [n x m], [m x n] R^-1 B', [n x n], [n x n], [m x m] */
  double *H, *Z, *rest;
  int *pivot;
} riccati;

/* Powers of two that make what grows with d as large as what shrinks. */
static void balance_riccati(balanced *z, riccati *w, size_t m, double rho)
{
  const size_t n = z->n;
  for (int sweep = 0; sweep < 40; sweep++) {
    int changed = 0;
    for (size_t i = 0; i < n; i++) {
      double grows = 0.0, shrinks = 0.0;
      for (size_t j = 0; j < n; j++) {
        if (j != i) grows += fabs(z->A[j * n + i]), shrinks += fabs(z->A[i * n + j]);
        grows += fabs(w->Q[i * n + j]) / rho;
        shrinks += fabs(w->G[i * n + j]) * rho;
      }
      if (!(grows > 0.0) || !(shrinks > 0.0)) continue;
      const double d = exp2(round(0.5 * log2(shrinks / grows)));
      if (d == 1.0) continue;
      /* States in d times their unit: all that has state i in a row or column. */
      for (size_t j = 0; j < n; j++) {
        z->A[i * n + j] /= d;
        w->G[i * n + j] /= d;
        w->Q[i * n + j] *= d;
      }
      for (size_t j = 0; j < n; j++) {
        z->A[j * n + i] *= d;
        w->G[j * n + i] /= d;
        w->Q[j * n + i] *= d;
      }
      for (size_t u = 0; u < m; u++) w->RB[u * n + i] /= d;
      z->scale[i] *= d;
      changed = 1;
    }
    if (!changed) return;
  }
}

/* X into G. */
static bramah_status solve_riccati(balanced *z, riccati *w, size_t m, bramah_diag *diag)
{
  const size_t n = z->n, N = 2 * n;
  const double q = size_of(n * n, w->Q), g = size_of(n * n, w->G),
               rho = q > 0.0 && g > 0.0 ? sqrt(q / g) : 1.0;
  size_t stable;
  double gap, smallest;
  balance_riccati(z, w, m, rho);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      w->H[i * N + j] = z->A[i * n + j];
      w->H[i * N + n + j] = -rho * w->G[i * n + j];
      w->H[(n + i) * N + j] = -w->Q[i * n + j] / rho;
      w->H[(n + i) * N + n + j] = -z->A[j * n + i];
    }
  const double norm = size_of(N * N, w->H);

  /* Rows of Z span the subspace: [U' V']. U' X = V': rows of V' are solved for. */
  const int failed = bramah__stable_subspace(N, w->H, w->Z, &stable, &gap, w->rest, w->pivot);
  double *U = w->H, *V = w->H + n * n;
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++) {
      U[k * n + i] = w->Z[k * N + i];
      V[i * n + k] = w->Z[k * N + n + i];
    }
  if (failed || stable != n || !(gap > 1e-12 * norm) || bramah__solve_many(n, n, U, V, w->pivot, &smallest) ||
      !(smallest > 1e-14))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "regulator",
                        "a mode that does not decay is not reached by the inputs, or costs nothing");
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) w->G[i * n + j] = 0.5 * rho * (V[i * n + j] + V[j * n + i]);
  return BRAMAH_OK;
}

/* B, R^-1 B', G and Q in balanced coordinates. */
static bramah_status weigh(const bramah_linear_system *s, const balanced *z, const double *Q, const double *R,
                           riccati *w, bramah_diag *diag)
{
  const size_t n = s->n, m = s->n_u;
  memcpy(w->R, R, m * m * sizeof *R);
  if (!all_finite(n * n, Q))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "regulator", "the weight of the states is not finite");
  if (bramah__cholesky_factor(m, w->R))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "regulator",
                        "the weight of the inputs is not positive definite");
  for (size_t i = 0; i < n; i++) {
    for (size_t u = 0; u < m; u++) w->rest[u] = w->B[i * m + u] = s->B[i * m + u] / z->scale[i];
    bramah__cholesky_solve(m, w->R, w->rest);
    for (size_t u = 0; u < m; u++) w->RB[u * n + i] = w->rest[u];
    for (size_t j = 0; j < n; j++) w->Q[i * n + j] = Q[i * n + j] * z->scale[i] * z->scale[j];
  }
  bramah__multiply(n, m, n, w->B, w->RB, w->G);
  return BRAMAH_OK;
}

bramah_status bramah_lqr(const bramah_linear_system *system, const double *Q, const double *R, double *K,
                         double *P, bramah_diag *diag)
{
  const size_t n = system->n, m = system->n_u, N = 2 * n;
  balanced z;
  bramah_status status = balanced_make(system, &z, diag);
  if (status == BRAMAH_OK) status = check_rows(system, m, system->B, "B", diag);

  riccati w = {.pivot = calloc(N + 1, sizeof *w.pivot)};
  w.B = calloc(2 * n * m + 2 * n * n + m * m + 2 * N * N + bramah__stable_subspace_work(N) + N + m + 1,
               sizeof *w.B);
  if (status == BRAMAH_OK && (!w.B || !w.pivot)) status = no_memory(diag);
  if (status == BRAMAH_OK) {
    w.RB = w.B + n * m;
    w.G = w.RB + n * m;
    w.Q = w.G + n * n;
    w.R = w.Q + n * n;
    w.H = w.R + m * m;
    w.Z = w.H + N * N;
    w.rest = w.Z + N * N;
    status = weigh(system, &z, Q, R, &w, diag);
  }
  if (status == BRAMAH_OK) status = solve_riccati(&z, &w, m, diag);
  if (status == BRAMAH_OK) {
    bramah__multiply(m, n, n, w.RB, w.G, K);
    for (size_t u = 0; u < m; u++)
      for (size_t j = 0; j < n; j++) K[u * n + j] /= z.scale[j];
    for (size_t i = 0; i < n && P; i++)
      for (size_t j = 0; j < n; j++) P[i * n + j] = w.G[i * n + j] / (z.scale[i] * z.scale[j]);
  }
  free(w.B);
  free(w.pivot);
  balanced_free(&z);
  return status;
}
