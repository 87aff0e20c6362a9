/* SPDX-License-Identifier: MIT */
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
 * both of its sides: its zeros would otherwise stand in Jordan blocks, which rounding spreads to the size of
 * fast modes. */
#include "lib/linear/constrained.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double size_of(size_t n, const double *A)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

static void fill_left(const bramah__quadratic *q, double sigma, double unit, double *A)
{
  const size_t n = q->n, k = q->k, N = n + k + q->border;
  memset(A, 0, N * N * sizeof *A);
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++)
      A[i * N + j] = sigma * (sigma * q->M[i * n + j] + q->C[i * n + j]) + q->K[i * n + j];
    for (size_t j = 0; j < k; j++) A[i * N + n + j] = q->P[i * k + j];
  }
  for (size_t i = 0; i < k; i++) {
    for (size_t j = 0; j < n; j++) A[(n + i) * N + j] = -q->Xq[i * n + j] - sigma * q->Xv[i * n + j];
    for (size_t j = 0; j < k; j++) A[(n + i) * N + n + j] = (i == j) * sigma - q->Xx[i * k + j];
  }
  for (size_t b = 0; b < q->border; b++)
    for (size_t j = 0; j < n; j++) A[(n + k + b) * N + j] = A[j * N + n + k + b] = q->rows[b * n + j] * unit;
}

/* Rows: what each unit of [q; v; x] puts on the right. */
static void fill_right(const bramah__quadratic *q, double sigma, double *B)
{
  const size_t n = q->n, k = q->k, N = n + k + q->border;
  memset(B, 0, (2 * n + k) * N * sizeof *B);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) {
      B[j * N + i] = -q->C[i * n + j] - sigma * q->M[i * n + j];
      B[(n + j) * N + i] = -q->M[i * n + j];
    }
    for (size_t i = 0; i < k; i++) B[j * N + n + i] = q->Xv[i * n + j];
  }
  for (size_t i = 0; i < k; i++) B[(2 * n + i) * N + n + i] = -1.0;
}

static void fill_T(const bramah__quadratic *q, double sigma, const double *B, double *T)
{
  const size_t n = q->n, k = q->k, N = n + k + q->border, order = 2 * n + k;
  for (size_t j = 0; j < order; j++) {
    const double *y = B + j * N;
    for (size_t i = 0; i < n; i++) {
      T[i * order + j] = y[i];
      T[(n + i) * order + j] = (i == j) + sigma * y[i];
    }
    for (size_t i = 0; i < k; i++) T[(2 * n + i) * order + j] = y[n + i];
  }
}

/* x [n, stride apart] -= rows' (rows x), rows of length one across each other */
static void confine(const bramah__quadratic *q, double *x, size_t stride)
{
  for (size_t b = 0; b < q->border; b++) {
    const double *row = q->rows + b * q->n;
    double sum = 0.0;
    for (size_t i = 0; i < q->n; i++) sum += row[i] * x[i * stride];
    for (size_t i = 0; i < q->n; i++) x[i * stride] -= sum * row[i];
  }
}

static void confine_T(const bramah__quadratic *q, double *T)
{
  const size_t n = q->n, order = 2 * n + q->k;
  for (size_t half = 0; half < 2 && q->border; half++) {
    for (size_t i = 0; i < order; i++) confine(q, T + half * n * order + i, order); /* columns */
    for (size_t i = 0; i < order; i++) confine(q, T + i * order + half * n, 1);     /* rows */
  }
}

/* T for the least shift at which the equations can be solved. */
static bramah_status invert(const bramah__quadratic *q, double *A, double *B, int *pivot, double *T,
                            double *sigma, bramah_diag *diag)
{
  const size_t n = q->n, N = n + q->k + q->border, order = 2 * n + q->k;
  const double m = size_of(n * n, q->M), unit = size_of(n * n, q->K),
               rate = m > 0.0 && unit > 0.0 ? sqrt(unit / m) : 1.0;
  for (int step = q->k ? 1 : -1; step < 7; step++) { /* volumes with closed valves have zeros */
    double smallest;
    *sigma = step < 0 ? 0.0 : rate * pow(10.0, step - 5);
    fill_left(q, *sigma, unit > 0.0 ? unit : 1.0, A);
    fill_right(q, *sigma, B);
    if (bramah__solve_many(N, order, A, B, pivot, &smallest) == 0 && (q->k || smallest > 1e-15)) {
      fill_T(q, *sigma, B, T);
      confine_T(q, T);
      return BRAMAH_OK;
    }
  }
  return bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system", "its equations are singular");
}

static bramah_status eigenvalues(size_t order, double sigma, double *T, bramah__eigenvalues *out,
                                 bramah_diag *diag)
{
  double *work = malloc((bramah__eigen_work(order) + 1) * sizeof *work);
  int *iwork = malloc((bramah__eigen_iwork(order) + 1) * sizeof *iwork);
  bramah_status status = work && iwork ? BRAMAH_OK : bramah__analysis_memory(diag);
  if (status == BRAMAH_OK &&
      bramah__eigen(order, T, out->re, out->im, NULL, out->vectors, NULL, NULL, work, iwork))
    status = bramah__fail(diag, BRAMAH_E_SINGULAR, "constrained system",
                          "the iteration for the eigenvalues failed");
  free(work);
  free(iwork);
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
  return status;
}

bramah_status bramah__solve_quadratic(const bramah__quadratic *q, bramah__eigenvalues *out, bramah_diag *diag)
{
  const size_t N = q->n + q->k + q->border, order = 2 * q->n + q->k;
  double *A = malloc((N * N + order * N + order * order + 1) * sizeof *A);
  int *pivot = malloc((N + 1) * sizeof *pivot);
  double sigma;
  bramah_status status = A && pivot ? BRAMAH_OK : bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) {
    double *B = A + N * N, *T = B + order * N;
    status = invert(q, A, B, pivot, T, &sigma, diag);
    if (status == BRAMAH_OK) status = eigenvalues(order, sigma, T, out, diag);
  }
  free(A);
  free(pivot);
  return status;
}
