/* SPDX-License-Identifier: MIT */
#include "lib/math/dense.h"

#include <math.h>

/* ---- products ---- */

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
  for (size_t i = 0; i < m; i++) small_row(k, n, A + i * k, B, n, 1, C + i * n);
}

void bramah__multiply_transposed(size_t m, size_t k, size_t n, const double *A, const double *B, double *C)
{
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
    for (size_t j = 0; j < n && x[i] != 0.0; j++) y[j] += A[i * n + j] * x[i];
}

void bramah__symmetrise(size_t n, double *P)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) P[i * n + j] = P[j * n + i] = 0.5 * (P[i * n + j] + P[j * n + i]);
}

/* ---- factorisations ---- */

static void swap(double *a, double *b)
{
  const double t = *a;
  *a = *b;
  *b = t;
}

size_t bramah__lu_factor(size_t n, double *A, int *pivot)
{
  for (size_t k = 0; k < n; k++) {
    size_t p = k;
    for (size_t i = k + 1; i < n; i++)
      if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
    pivot[k] = (int)p;
    if (!(fabs(A[p * n + k]) > 0.0) || !isfinite(A[p * n + k])) return k + 1;
    if (p != k)
      for (size_t j = 0; j < n; j++) swap(&A[k * n + j], &A[p * n + j]);
    const double inverse = 1.0 / A[k * n + k];
    for (size_t i = k + 1; i < n; i++) {
      const double factor = A[i * n + k] *= inverse;
      for (size_t j = k + 1; j < n && factor != 0.0; j++) A[i * n + j] -= factor * A[k * n + j];
    }
  }
  return 0;
}

void bramah__lu_solve(size_t n, const double *LU, const int *pivot, double *b)
{
  for (size_t k = 0; k < n; k++) {
    if ((size_t)pivot[k] != k) swap(&b[k], &b[pivot[k]]);
  }
  size_t first = 0; /* that is not 0 */
  while (first < n && b[first] == 0.0) first++;
  if (first == n) return;
  for (size_t i = first + 1; i < n; i++)
    for (size_t j = first; j < i; j++) b[i] -= LU[i * n + j] * b[j];
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) b[i] -= LU[i * n + j] * b[j];
    b[i] /= LU[i * n + i];
  }
}

void bramah__lu_solve_transposed(size_t n, const double *LU, const int *pivot, double *b)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) b[i] -= LU[j * n + i] * b[j];
    b[i] /= LU[i * n + i];
  }
  for (size_t i = n; i-- > 0;)
    for (size_t j = i + 1; j < n; j++) b[i] -= LU[j * n + i] * b[j];
  for (size_t k = n; k-- > 0;) {
    if ((size_t)pivot[k] != k) swap(&b[k], &b[pivot[k]]);
  }
}

size_t bramah__cholesky_factor(size_t n, double *A)
{
  for (size_t j = 0; j < n; j++) {
    double d = A[j * n + j];
    for (size_t k = 0; k < j; k++) d -= A[j * n + k] * A[j * n + k];
    if (!(d > 0.0) || !isfinite(d)) return j + 1;
    const double root = sqrt(d), inverse = 1.0 / root;
    A[j * n + j] = root;
    for (size_t i = j + 1; i < n; i++) {
      double s = A[i * n + j];
      for (size_t k = 0; k < j; k++) s -= A[i * n + k] * A[j * n + k];
      A[i * n + j] = s * inverse;
    }
  }
  return 0;
}

void bramah__cholesky_solve(size_t n, const double *L, double *b)
{
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) b[i] -= L[i * n + j] * b[j];
    b[i] /= L[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) b[i] -= L[j * n + i] * b[j];
    b[i] /= L[i * n + i];
  }
}

/* ---- elimination with full pivoting ---- */

static void swap_places(int *a, int *b)
{
  const int t = *a;
  *a = *b;
  *b = t;
}

size_t bramah__eliminate(size_t m, size_t n, double *A, double tolerance, const unsigned char *late, int *row,
                         int *column)
{
  for (size_t i = 0; i < m; i++) row[i] = (int)i;
  for (size_t j = 0; j < n; j++) column[j] = (int)j;
  double scale = 0.0;
  for (size_t k = 0; k < m * n; k++) scale = fabs(A[k]) > scale ? fabs(A[k]) : scale;
  size_t rank = 0;
  int want_late = 0;
  while (rank < m && rank < n) {
    /* The largest element that is left, at (pi, pj) in the orders of rows and columns. */
    size_t pi = rank, pj = rank;
    double size = 0.0;
    for (size_t i = rank; i < m; i++)
      for (size_t j = rank; j < n; j++) {
        if ((late && late[column[j]]) != want_late) continue;
        const double a = fabs(A[(size_t)row[i] * n + (size_t)column[j]]);
        if (a > size) pi = i, pj = j, size = a;
      }
    if (!(size > tolerance * scale)) {
      if (want_late || !late) break;
      want_late = 1;
      continue;
    }

    swap_places(&row[rank], &row[pi]);
    swap_places(&column[rank], &column[pj]);
    const double *top = A + (size_t)row[rank] * n;
    const double inverse = 1.0 / top[column[rank]];
    for (size_t i = rank + 1; i < m; i++) {
      double *below = A + (size_t)row[i] * n;
      const double factor = below[column[rank]] * inverse;
      if (factor == 0.0) continue;
      for (size_t j = rank; j < n; j++) below[column[j]] -= factor * top[column[j]];
    }
    rank++;
  }
  /* what is left without a pivot, in ascending order */
  for (size_t i = rank + 1; i < n; i++)
    for (size_t j = i; j > rank && column[j] < column[j - 1]; j--) swap_places(&column[j], &column[j - 1]);
  return rank;
}
