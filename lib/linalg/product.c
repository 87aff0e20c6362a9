/* SPDX-License-Identifier: MIT */
#include "lib/linalg/dense.h"
#include "lib/linalg/lapack.h"

static void multiply_large(char transb, size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
  /* Row-major C = A B is column-major C' = B' A'. */
  const int im = (int)m, ik = (int)k, in = (int)n, ldb = transb == 'N' ? in : ik;
  const double one = 1.0, zero = 0.0;
  dgemm_(&transb, "N", &in, &im, &ik, &one, B, &ldb, A, &ik, &zero, C, &in);
}

static int is_small(size_t m, size_t k, size_t n)
{
  return m * k * n <= (size_t)BRAMAH__SMALL * BRAMAH__SMALL * BRAMAH__SMALL;
}

void bramah__multiply(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
  if (!is_small(m, k, n)) {
    multiply_large('N', m, k, n, A, B, C);
    return;
  }
  for (size_t i = 0; i < m; i++) {
    double *row = C + i * n;
    for (size_t j = 0; j < n; j++) row[j] = 0.0;
    for (size_t l = 0; l < k; l++) {
      const double a = A[i * k + l];
      for (size_t j = 0; j < n; j++) row[j] += a * B[l * n + j];
    }
  }
}

void bramah__multiply_transposed(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
  if (!is_small(m, k, n)) {
    multiply_large('T', m, k, n, A, B, C);
    return;
  }
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j < n; j++) {
      double sum = 0.0;
      for (size_t l = 0; l < k; l++) sum += A[i * k + l] * B[j * k + l];
      C[i * n + j] = sum;
    }
  }
}

void bramah__apply(size_t m, size_t n, const double *A, const double *x, double *y)
{
  for (size_t i = 0; i < m; i++) {
    double sum = 0.0;
    for (size_t j = 0; j < n; j++) sum += A[i * n + j] * x[j];
    y[i] = sum;
  }
}

void bramah__apply_transposed(size_t m, size_t n, const double *A, const double *x, double *y)
{
  for (size_t j = 0; j < n; j++) y[j] = 0.0;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) y[j] += A[i * n + j] * x[i];
}

void bramah__symmetrise(size_t n, double *P)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) P[i * n + j] = P[j * n + i] = 0.5 * (P[i * n + j] + P[j * n + i]);
}
