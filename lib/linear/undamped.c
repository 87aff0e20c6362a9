/* SPDX-License-Identifier: MIT */
/* Undamped problems, M q'' + K q + Phi' lambda = 0 with symmetric matrices: w = -s^2 is real. What is solved
 * for is 1 / (w + shift), largest for slow modes, of
 *
 *   M x = mu (K + shift M) x                  without constraints left
 *   L' G L x = mu x,  M = L L'                with them, G the first block of
 *                                         [K + shift M, Phi'; Phi, 0]^-1 */
#include "lib/linear/constrained.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double size_of(size_t n, const double *A)
{
  double sum = 0.0;
  for (size_t i = 0; i < n * n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

/* s = +-sqrt(-w) of mu = 1 / (w + shift). */
static void put(bramah__eigenvalues *out, size_t at, double mu, double shift)
{
  const int vanishes = mu == 0.0;
  const double w = vanishes ? (double)INFINITY : 1.0 / mu - shift, s = sqrt(fabs(w));
  for (int half = 0; half < 2; half++) {
    out->re[at + (size_t)half] = w < 0.0 ? (half ? -s : s) : 0.0;
    out->im[at + (size_t)half] = w < 0.0 ? 0.0 : half ? -s : s;
    out->size[at + (size_t)half] = vanishes ? 0.0 : sqrt(fabs(mu));
  }
}

/* K + shift M positive definite for the least shift that is tried. */
static bramah_status definite(const bramah__quadratic *q, double unit, double *A, double *B, double *mu,
                              double *work, double *shift)
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

/* Coordinates that repeat each other have masses that are positive by rounding alone. */
static int nearly_singular(size_t n, const double *L)
{
  double least = (double)INFINITY, most = 0.0;
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, L[i * n + i]);
    most = fmax(most, L[i * n + i]);
  }
  return least < 1e-6 * most;
}

static bramah_status bordered(const bramah__quadratic *q, double unit, double *A, double *B, double *mu,
                              double *work, double *shift)
{
  const size_t n = q->n, N = n + q->border;
  double *L = work, *S = L + n * n, *rest = S + n * n, smallest = 0.0;
  int *pivot = malloc(N * sizeof *pivot);
  if (!pivot) return BRAMAH_E_MEMORY;
  memcpy(L, q->M, n * n * sizeof *L);
  int failed = bramah__cholesky_factor(n, L) != 0 || nearly_singular(n, L);
  for (size_t i = 0; i < n; i++)
    for (size_t j = i + 1; j < n; j++) L[i * n + j] = 0.0;
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
  for (size_t i = 0; i < n; i++) memmove(B + i * n, B + i * N, n * sizeof *B);
  bramah__multiply(n, n, n, B, L, S); /* (G L)' L */
  bramah__symmetrise(n, S);
  memset(A, 0, n * n * sizeof *A);
  for (size_t i = 0; i < n; i++) A[i * n + i] = 1.0;
  return bramah__symmetric_pencil(n, S, A, mu, 0, rest) ? BRAMAH_E_UNSUPPORTED : BRAMAH_OK;
}

bramah_status bramah__solve_undamped(const bramah__quadratic *q, bramah__eigenvalues *out, bramah_diag *diag)
{
  const size_t n = q->n, N = n + q->border;
  if (!q->undamped || out->vectors) return BRAMAH_E_UNSUPPORTED;
  const double m = size_of(n, q->M), unit = m > 0.0 ? fmax(size_of(n, q->K) / m, 1e-300) : 1.0;
  double *A = malloc((2 * N * N + n + 2 * n * n + bramah__symmetric_pencil_work(n) + 1) * sizeof *A);
  if (!A) return bramah__analysis_memory(diag);
  double *B = A + N * N, *mu = B + N * N, *work = mu + n, shift = 0.0;
  const bramah_status status =
      q->border ? bordered(q, unit, A, B, mu, work, &shift) : definite(q, unit, A, B, mu, work, &shift);
  for (size_t i = 0; i < n && status == BRAMAH_OK; i++) put(out, 2 * i, mu[i], shift);
  free(A);
  return status == BRAMAH_E_MEMORY ? bramah__analysis_memory(diag) : status;
}
