/* SPDX-License-Identifier: MIT */
#include "lib/math/dense.h"
#include "lib/math/lapack.h"

static void multiply_large(char transb, size_t m, size_t k, size_t n, const double *A, const double *B,
                           double *C)
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

/* Four columns at a time: the sums stay in registers and do not wait for each other. `stride_l` and
 * `stride_j` are the steps in B along the sum and from column to column. */
static void small_row(size_t k, size_t n, const double *a, const double *B, size_t stride_l, size_t stride_j,
                      double *restrict row)
{
  size_t j = 0;
  for (; j + 4 <= n; j += 4) {
    const double *b = B + j * stride_j;
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    for (size_t l = 0; l < k; l++, b += stride_l) {
      s0 += a[l] * b[0];
      s1 += a[l] * b[stride_j];
      s2 += a[l] * b[2 * stride_j];
      s3 += a[l] * b[3 * stride_j];
    }
    row[j] = s0;
    row[j + 1] = s1;
    row[j + 2] = s2;
    row[j + 3] = s3;
  }
  for (; j < n; j++) {
    double sum = 0.0;
    for (size_t l = 0; l < k; l++) sum += a[l] * B[l * stride_l + j * stride_j];
    row[j] = sum;
  }
}

void bramah__multiply(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
  if (!is_small(m, k, n)) {
    multiply_large('N', m, k, n, A, B, C);
    return;
  }
  for (size_t i = 0; i < m; i++) small_row(k, n, A + i * k, B, n, 1, C + i * n);
}

void bramah__multiply_transposed(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
  if (!is_small(m, k, n)) {
    multiply_large('T', m, k, n, A, B, C);
    return;
  }
  for (size_t i = 0; i < m; i++) small_row(k, n, A + i * k, B, 1, k, C + i * n);
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
