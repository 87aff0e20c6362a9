/* SPDX-License-Identifier: MIT */
/* Products and factorisations against their definitions. */
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

enum { LARGEST = 40 };

static void fill(size_t n, double *a, unsigned *seed)
{
  for (size_t i = 0; i < n; i++) a[i] = test_uniform(seed);
}

EACH_TEST(test_products, 0, 4)
{
  static const size_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {12, 12, 12}, {20, 30, 40}};
  static double A[LARGEST * LARGEST], B[LARGEST * LARGEST], Bt[LARGEST * LARGEST], C[LARGEST * LARGEST],
      D[LARGEST * LARGEST];
  const size_t m = sizes[_i][0], k = sizes[_i][1], n = sizes[_i][2];
  unsigned seed = 7;
  fill(m * k, A, &seed);
  fill(k * n, B, &seed);
  for (size_t i = 0; i < k; i++)
    for (size_t j = 0; j < n; j++) Bt[j * k + i] = B[i * n + j];
  bramah__multiply(m, k, n, A, B, C);
  bramah__multiply_transposed(m, k, n, A, Bt, D);
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0.0;
      for (size_t l = 0; l < k; l++) sum += A[i * k + l] * B[l * n + j];
      ck_assert_double_eq_tol(C[i * n + j], sum, 1e-13);
      ck_assert_double_eq_tol(D[i * n + j], sum, 1e-13);
    }
}

EACH_TEST(test_lu, 0, 6)
{
  static const size_t sizes[] = {1, 2, 5, 16, 17, 40};
  static double A[LARGEST * LARGEST], LU[LARGEST * LARGEST];
  double x[LARGEST], b[LARGEST], bt[LARGEST];
  int pivot[LARGEST];
  const size_t n = sizes[_i];
  unsigned seed = 11;
  fill(n * n, A, &seed);
  if (n > 1) A[0] = 0.0; /* forces a row exchange */
  fill(n, x, &seed);
  bramah__apply(n, n, A, x, b);
  bramah__apply_transposed(n, n, A, x, bt);
  memcpy(LU, A, sizeof LU);
  ck_assert_uint_eq(bramah__lu_factor(n, LU, pivot), 0);
  bramah__lu_solve(n, LU, pivot, b);
  bramah__lu_solve_transposed(n, LU, pivot, bt);
  for (size_t i = 0; i < n; i++) {
    ck_assert_double_eq_tol(b[i], x[i], 1e-10);
    ck_assert_double_eq_tol(bt[i], x[i], 1e-10);
  }
}

EACH_TEST(test_cholesky, 0, 5)
{
  static const size_t sizes[] = {1, 3, 16, 17, 40};
  static double G[LARGEST * LARGEST], A[LARGEST * LARGEST];
  double x[LARGEST], b[LARGEST];
  const size_t n = sizes[_i];
  unsigned seed = 3;
  fill(n * n, G, &seed);
  bramah__multiply_transposed(n, n, n, G, G, A);
  for (size_t i = 0; i < n; i++) A[i * n + i] += 0.5;
  fill(n, x, &seed);
  bramah__apply(n, n, A, x, b);
  ck_assert_uint_eq(bramah__cholesky_factor(n, A), 0);
  bramah__cholesky_solve(n, A, b);
  for (size_t i = 0; i < n; i++) ck_assert_double_eq_tol(b[i], x[i], 1e-10);
}

/* Wherever it stands in the matrix, small or large. */
EACH_TEST(test_not_finite, 0, 5)
{
  static const size_t sizes[] = {1, 5, 16, 17, 40};
  static const double bad[] = {(double)NAN, (double)INFINITY};
  static double G[LARGEST * LARGEST], A[LARGEST * LARGEST], B[LARGEST * LARGEST];
  int pivot[LARGEST];
  const size_t n = sizes[_i];
  unsigned seed = 23;
  fill(n * n, G, &seed);
  bramah__multiply_transposed(n, n, n, G, G, A);
  for (size_t i = 0; i < n; i++) A[i * n + i] += 0.5;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (int k = 0; k < 2; k++) {
        memcpy(B, A, n * n * sizeof *B);
        B[i * n + j] = bad[k];
        ck_assert_uint_ne(bramah__lu_factor(n, B, pivot), 0);
        memcpy(B, A, n * n * sizeof *B);
        B[i * n + j] = B[j * n + i] = bad[k];
        ck_assert_uint_ne(bramah__cholesky_factor(n, B), 0);
      }
}

TEST(test_singular_is_reported)
{
  double A[9] = {1, 2, 3, 2, 4, 6, 1, 0, 1}, N[4] = {NAN, 1, 1, 1}, I[4] = {1, 2, 2, 1};
  int pivot[3];
  ck_assert_uint_ne(bramah__lu_factor(3, A, pivot), 0);
  ck_assert_uint_ne(bramah__lu_factor(2, N, pivot), 0);
  ck_assert_uint_eq(bramah__cholesky_factor(2, I), 2);
}

TEST(test_least_squares)
{
  /* x1 = 1, x2 = 2 by two equal rows and one more: full rank. */
  double A[6] = {1, 0, 1, 0, 0, 2}, b[3] = {1, 1, 4}, work[64];
  ck_assert_uint_le(bramah__least_squares_work(3, 2), 64);
  ck_assert_int_eq(bramah__least_squares(3, 2, A, b, 1e-12, work), 2);
  ck_assert_double_eq_tol(b[0], 1.0, 1e-12);
  ck_assert_double_eq_tol(b[1], 2.0, 1e-12);
  double D[4] = {1, 1, 2, 2}, d[2] = {2, 4};
  ck_assert_int_eq(bramah__least_squares(2, 2, D, d, 1e-12, work), 1);
  ck_assert_double_eq_tol(d[0], 1.0, 1e-12); /* minimum norm */
  ck_assert_double_eq_tol(d[1], 1.0, 1e-12);

  /* Dependent, but for rounding that no rotation takes away: the constraints of a flat parallelogram. */
  double E[20] = {2, 0, -2, 0, 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0, 0, 0, -1}, e[5] = {9.81, 0, 9.81, 0, 0};
  ck_assert_uint_le(bramah__least_squares_work(5, 4), 64);
  ck_assert_int_eq(bramah__least_squares(5, 4, E, e, 1e-10, work), 3);
  ck_assert_double_eq_tol(e[0], 4.905, 1e-12); /* minimum norm of x1 - x3 = x2 + x3 = 4.905 */
  ck_assert_double_eq_tol(e[1], 4.905, 1e-12);
  ck_assert_double_eq_tol(e[2], 0.0, 1e-12);
}

/* Tall, wide and of half the rank: the residual is normal to the columns, the solution lies in the span of
 * the rows. */
EACH_TEST(test_large_least_squares, 0, 5)
{
  static const size_t sizes[][3] = {{40, 24, 24}, {24, 40, 24}, {30, 30, 20}, {36, 20, 10}, {20, 36, 10}};
  static double A[LARGEST * LARGEST], L[LARGEST * LARGEST], R[LARGEST * LARGEST], copy[LARGEST * LARGEST],
      work[4 * LARGEST * LARGEST];
  double b[LARGEST], x[LARGEST] = {0}, r[LARGEST], normal[LARGEST], y[LARGEST] = {0}, back[LARGEST];
  const size_t m = sizes[_i][0], n = sizes[_i][1], rank = sizes[_i][2];
  unsigned seed = 5;
  fill(m * rank, L, &seed);
  fill(rank * n, R, &seed);
  fill(m, b, &seed);
  bramah__multiply(m, rank, n, L, R, A);
  memcpy(copy, A, sizeof A);
  memcpy(x, b, m * sizeof *b);
  ck_assert_uint_le(bramah__least_squares_work(m, n), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__least_squares(m, n, copy, x, 1e-10, work), (int)rank);
  bramah__apply(m, n, A, x, r);
  for (size_t i = 0; i < m; i++) r[i] -= b[i];
  bramah__apply_transposed(m, n, A, r, normal);
  for (size_t j = 0; j < n; j++) ck_assert_double_eq_tol(normal[j], 0.0, 1e-10);
  /* x = A' y for some y */
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) copy[j * m + i] = A[i * n + j];
  memcpy(y, x, n * sizeof *x);
  ck_assert_int_eq(bramah__least_squares(n, m, copy, y, 1e-10, work), (int)rank);
  bramah__apply_transposed(m, n, A, y, back);
  for (size_t j = 0; j < n; j++) ck_assert_double_eq_tol(back[j], x[j], 1e-10);
}

EACH_TEST(test_symmetric_eigen, 0, 4)
{
  static const size_t sizes[] = {1, 2, 7, 40};
  static double A[LARGEST * LARGEST], V[LARGEST * LARGEST], work[2 * LARGEST * LARGEST];
  double w[LARGEST], Av[LARGEST];
  const size_t n = sizes[_i];
  unsigned seed = 17;
  fill(n * n, A, &seed);
  bramah__symmetrise(n, A);
  if (n > 2) /* one that is zero */
    for (size_t j = 0; j < n; j++) A[n + j] = A[j * n + 1] = 0.0;
  memcpy(V, A, n * n * sizeof *A);
  ck_assert_uint_le(bramah__symmetric_eigen_work(n), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__symmetric_eigen(n, V, w, work), 0);
  for (size_t k = 0; k < n; k++) {
    ck_assert(k == 0 || w[k] >= w[k - 1]);
    bramah__apply(n, n, A, V + k * n, Av);
    for (size_t i = 0; i < n; i++) ck_assert_double_eq_tol(Av[i], w[k] * V[k * n + i], 1e-12);
    for (size_t l = 0; l <= k; l++) {
      double dot = 0.0;
      for (size_t i = 0; i < n; i++) dot += V[k * n + i] * V[l * n + i];
      ck_assert_double_eq_tol(dot, k == l, 1e-12);
    }
  }
}

int main(void) { return run_tests("math"); }
