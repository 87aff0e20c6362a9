/* SPDX-License-Identifier: MIT */
#include "lib/math/dense.h"
#include "lib/math/lapack.h"

#include <math.h>

static void swap(double *a, double *b)
{
  const double t = *a;
  *a = *b;
  *b = t;
}

static size_t largest_in_column(size_t n, const double *A, size_t k)
{
  size_t best = k;
  for (size_t i = k + 1; i < n; i++)
    if (fabs(A[i * n + k]) > fabs(A[best * n + k])) best = i;
  return best;
}

static size_t lu_small(size_t n, double *A, int *pivot)
{
  for (size_t k = 0; k < n; k++) {
    const size_t p = largest_in_column(n, A, k);
    pivot[k] = (int)p;
    if (!(fabs(A[p * n + k]) > 0.0) || !isfinite(A[p * n + k])) return k + 1;
    if (p != k)
      for (size_t j = 0; j < n; j++) swap(&A[k * n + j], &A[p * n + j]);
    const double inverse = 1.0 / A[k * n + k];
    for (size_t i = k + 1; i < n; i++) {
      const double factor = A[i * n + k] *= inverse;
      for (size_t j = k + 1; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
    }
  }
  return 0;
}

/* LAPACK lets what is no number pass; some of it always ends on the diagonal. */
static size_t not_finite(size_t n, const double *A)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(A[i * n + i])) return i + 1;
  return 0;
}

size_t bramah__lu_factor(size_t n, double *A, int *pivot)
{
  if (n <= BRAMAH__SMALL) return lu_small(n, A, pivot);
  /* LAPACK sees the transpose; the solvers ask for the other side accordingly. */
  int in = (int)n, info = 0;
  dgetrf_(&in, &in, A, &in, pivot, &info);
  return info > 0 ? (size_t)info : not_finite(n, A);
}

void bramah__lu_solve(size_t n, const double *LU, const int *pivot, double *b)
{
  if (n > BRAMAH__SMALL) {
    const int in = (int)n, one = 1;
    int info = 0;
    dgetrs_("T", &in, &one, LU, &in, pivot, b, &in, &info);
    return;
  }
  for (size_t k = 0; k < n; k++) {
    if ((size_t)pivot[k] != k) swap(&b[k], &b[pivot[k]]);
  }
  for (size_t i = 1; i < n; i++)
    for (size_t j = 0; j < i; j++) b[i] -= LU[i * n + j] * b[j];
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) b[i] -= LU[i * n + j] * b[j];
    b[i] /= LU[i * n + i];
  }
}

void bramah__lu_solve_transposed(size_t n, const double *LU, const int *pivot, double *b)
{
  if (n > BRAMAH__SMALL) {
    const int in = (int)n, one = 1;
    int info = 0;
    dgetrs_("N", &in, &one, LU, &in, pivot, b, &in, &info);
    return;
  }
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

static size_t cholesky_small(size_t n, double *A)
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

size_t bramah__cholesky_factor(size_t n, double *A)
{
  if (n <= BRAMAH__SMALL) return cholesky_small(n, A);
  int in = (int)n, info = 0;
  dpotrf_("U", &in, A, &in, &info); /* upper of the transpose: our lower */
  return info > 0 ? (size_t)info : not_finite(n, A);
}

void bramah__cholesky_solve(size_t n, const double *L, double *b)
{
  if (n > BRAMAH__SMALL) {
    const int in = (int)n, one = 1;
    int info = 0;
    dpotrs_("U", &in, &one, L, &in, b, &in, &info);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < i; j++) b[i] -= L[i * n + j] * b[j];
    b[i] /= L[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t j = i + 1; j < n; j++) b[i] -= L[j * n + i] * b[j];
    b[i] /= L[i * n + i];
  }
}

static size_t at_least_one(size_t n) { return n ? n : 1; }

size_t bramah__least_squares_work(size_t m, size_t n)
{
  const size_t small = m < n ? m : n, large = m < n ? n : m;
  /* transposed copy, singular values, and what dgelss asks for at least */
  return m * n + small + at_least_one(3 * small + (2 * small > large ? 2 * small : large)) + 1;
}

int bramah__least_squares(size_t m, size_t n, double *A, double *b, double rcond, double *work)
{
  if (m == 0 || n == 0) return 0;
  const size_t small = m < n ? m : n, large = m < n ? n : m;
  double *copy = work, *singular = work + m * n, *rest = singular + small;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) copy[j * m + i] = A[i * n + j];
  const int im = (int)m, in = (int)n, one = 1, ldb = (int)large;
  const int lwork = (int)(bramah__least_squares_work(m, n) - m * n - small);
  int rank = 0, info = 0;
  dgelss_(&im, &in, &one, copy, &im, b, &ldb, singular, &rcond, &rank, rest, &lwork, &info);
  return info == 0 ? rank : -1;
}
