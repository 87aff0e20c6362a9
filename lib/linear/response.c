/* SPDX-License-Identifier: MIT */
/* Linear equations over time and frequency. */
#include "lib/linear/balanced.h"
#include "lib/math/dense.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static double one_norm(size_t n, const double *A)
{
  double largest = 0.0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += fabs(A[i * n + j]);
    largest = fmax(largest, sum);
  }
  return largest;
}

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

/* Columns of E solve (V - U) E = V + U. */
static void solve_pade(size_t n, double *U, double *V, double *E, double *column, int *pivot)
{
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
}

void bramah__exponential(size_t n, const double *A, double t, double *E, double *work, int *pivot)
{
  double *X = work, *A2 = X + n * n, *A4 = A2 + n * n, *A6 = A4 + n * n, *U = A6 + n * n, *V = U + n * n;
  const double *const power[3] = {A2, A4, A6};
  if (n == 0) return;
  for (size_t i = 0; i < n * n; i++) X[i] = A[i] * t;
  const double norm = one_norm(n, X);
  if (!isfinite(norm)) {
    for (size_t i = 0; i < n * n; i++) E[i] = (double)INFINITY;
    return;
  }
  const int squarings = norm > theta13 ? (int)ceil(log2(norm / theta13)) : 0;
  for (size_t i = 0; i < n * n; i++) X[i] = ldexp(X[i], -squarings);
  bramah__multiply(n, n, n, X, X, A2);
  bramah__multiply(n, n, n, A2, A2, A4);
  bramah__multiply(n, n, n, A2, A4, A6);
  polynomial(n, power, pade[13], pade[11], pade[9], 0.0, U);
  bramah__multiply(n, n, n, A6, U, E);
  polynomial(n, power, pade[7], pade[5], pade[3], pade[1], V);
  add(n, E, V);
  bramah__multiply(n, n, n, X, V, U); /* odd part */
  polynomial(n, power, pade[12], pade[10], pade[8], 0.0, V);
  bramah__multiply(n, n, n, A6, V, E);
  polynomial(n, power, pade[6], pade[4], pade[2], pade[0], V);
  add(n, E, V); /* even part */
  solve_pade(n, U, V, E, A2, pivot);
  for (int k = 0; k < squarings; k++) {
    bramah__multiply(n, n, n, E, E, X);
    memcpy(E, X, n * n * sizeof *E);
  }
}

/* Zero-order hold: the exponential of [A B; 0 0] h holds both matrices. */

/* Columns of B are scaled to the size of A: the exponential is linear in them. */
static double size_of_input(const bramah_linear_system *s, const bramah__balanced *z, size_t u)
{
  double largest = 0.0;
  for (size_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->B[i * s->n_u + u] / z->scale[i]));
  return largest > 0.0 ? largest / fmax(z->norm, 1.0) : 1.0;
}

static void extend(const bramah_linear_system *s, const bramah__balanced *z, size_t n_u, double *M)
{
  const size_t n = s->n, N = n + n_u;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) M[i * N + j] = z->A[i * n + j];
    for (size_t u = 0; u < n_u; u++)
      M[i * N + n + u] = s->B[i * s->n_u + u] / z->scale[i] / size_of_input(s, z, u);
  }
}

static void take_apart(const bramah_linear_system *s, const bramah__balanced *z, const double *E, double *F,
                       double *G)
{
  const size_t n = s->n, n_u = G ? s->n_u : 0, N = n + n_u;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) F[i * n + j] = E[i * N + j] * z->scale[i] / z->scale[j];
    for (size_t u = 0; u < n_u; u++) G[i * n_u + u] = E[i * N + n + u] * z->scale[i] * size_of_input(s, z, u);
  }
}

bramah_status bramah_discretise(const bramah_linear_system *system, double h, double *F, double *G,
                                bramah_diag *diag)
{
  if (!(h >= 0.0) || !isfinite(h))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "discretise", "the step must be finite and not negative");
  const size_t N = system->n + (G ? system->n_u : 0);
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  if (status == BRAMAH_OK && G) status = bramah__check_inputs(system, diag);
  double *M = calloc(2 * N * N + bramah__exponential_work(N) + 1, sizeof *M);
  int *pivot = calloc(N + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!M || !pivot)) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) {
    double *E = M + N * N;
    extend(system, &z, N - system->n, M);
    bramah__exponential(N, M, h, E, E + N * N, pivot);
    take_apart(system, &z, E, F, G);
    if (!bramah__all_finite(system->n * system->n, F) ||
        (G && !bramah__all_finite(system->n * system->n_u, G)))
      status = bramah__fail(diag, BRAMAH_E_NOT_FINITE, "discretise",
                            "an unstable mode grows beyond all numbers in this step: take a shorter one");
  }
  free(M);
  free(pivot);
  bramah__balanced_free(&z);
  return status;
}

/* G(i w) = c (i w I - A)^-1 b + d, one complex solution for each frequency. */

/* Complex numbers as pairs, column-major. */
static int solve(const bramah__balanced *z, const double *b, double w, double *M, double *x, int *pivot)
{
  const size_t n = z->n;
  memset(M, 0, 2 * n * n * sizeof *M);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) M[2 * (j * n + i)] = -z->A[i * n + j];
    M[2 * (j * n + j) + 1] = w;
    x[2 * j] = b[j];
    x[2 * j + 1] = 0.0;
  }
  return bramah__complex_solve(n, 1, M, x, pivot);
}

static bramah_status respond(const bramah_linear_system *s, const bramah__balanced *z, size_t y, size_t u,
                             size_t n_w, const double *w, double *re, double *im, double *work, int *pivot,
                             bramah_diag *diag)
{
  const size_t n = s->n;
  double *M = work, *x = M + 2 * n * n, *b = x + 2 * n;
  for (size_t i = 0; i < n; i++) b[i] = s->B[i * s->n_u + u] / z->scale[i];
  for (size_t k = 0; k < n_w; k++) {
    if (!isfinite(w[k]))
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response", "frequencies must be finite");
    if (solve(z, b, w[k], M, x, pivot)) {
      bramah__fail(diag, BRAMAH_E_SINGULAR, s->u_name ? s->u_name[u] : "frequency response",
                   "an undamped mode has just this frequency [rad/s]: ");
      bramah__add_number(diag, w[k], 6);
      return BRAMAH_E_SINGULAR;
    }
    re[k] = s->D ? s->D[y * s->n_u + u] : 0.0;
    im[k] = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double c = s->C[y * n + i] * z->scale[i];
      re[k] += c * x[2 * i];
      im[k] += c * x[2 * i + 1];
    }
    if (!isfinite(re[k]) || !isfinite(im[k]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, s->y_name ? s->y_name[y] : "frequency response",
                          "the response is not finite");
  }
  return BRAMAH_OK;
}

bramah_status bramah_frequency_response(const bramah_linear_system *system, size_t y, size_t u, size_t n_w,
                                        const double *w, double *re, double *im, bramah_diag *diag)
{
  const size_t n = system->n;
  if (y >= system->n_y || u >= system->n_u)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response",
                        "there is no input or output of this number");
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  double *work = calloc(2 * n * n + 3 * n + 1, sizeof *work);
  int *pivot = calloc(n + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!work || !pivot)) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) status = respond(system, &z, y, u, n_w, w, re, im, work, pivot, diag);
  free(work);
  free(pivot);
  bramah__balanced_free(&z);
  return status;
}
