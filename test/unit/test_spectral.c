/* SPDX-License-Identifier: MIT */
/* Spectra and their kin against their definitions. */
#include "lib/math/spectral.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 12 };

static double A[N * N], B[N * N], R[N * N], L[N * N], wr[N], wi[N], s[N], work[4096];
static int iwork[4 * N];

static void fill(size_t n, double *a, unsigned seed)
{
  for (size_t i = 0; i < n; i++) a[i] = test_uniform(&seed);
}

/* Element i of vector k. */
static double complex element(const double *V, size_t k, size_t i)
{
  if (wi[k] > 0.0) return V[k * N + i] + I * V[(k + 1) * N + i];
  if (wi[k] < 0.0) return V[(k - 1) * N + i] - I * V[k * N + i];
  return V[k * N + i];
}

TEST(test_eigen)
{
  double copy[N * N], norm;
  fill(N * N, A, 3);
  memcpy(copy, A, sizeof copy);
  ck_assert_uint_le(bramah__eigen_work(N), sizeof work / sizeof *work);
  ck_assert_uint_le(bramah__eigen_iwork(N), sizeof iwork / sizeof *iwork);
  ck_assert_int_eq(bramah__eigen(N, A, wr, wi, L, R, s, &norm, work, iwork), 0);
  for (size_t k = 0; k < N; k++) {
    const double complex w = wr[k] + I * wi[k];
    double complex across = 0.0;
    for (size_t i = 0; i < N; i++) {
      double complex right = -w * element(R, k, i), left = -w * conj(element(L, k, i));
      for (size_t j = 0; j < N; j++) {
        right += copy[i * N + j] * element(R, k, j);
        left += conj(element(L, k, j)) * copy[j * N + i];
      }
      ck_assert_double_lt(cabs(right), 1e-13 * norm * N);
      ck_assert_double_lt(cabs(left), 1e-13 * norm * N);
      across += conj(element(L, k, i)) * element(R, k, i);
    }
    ck_assert_double_eq_tol(s[k], cabs(across), 1e-12);
  }
}

/* Eigenvalues 0 and 1e6 that only balancing tells apart from noise. */
TEST(test_balance)
{
  double scale[2] = {0}, M[4] = {1.0, 1e12, 1e-12, 2.0};
  ck_assert_int_eq(bramah__balance(2, M, scale), 0);
  ck_assert_double_eq_tol(M[1] * M[2], 1.0, 1e-15);
  ck_assert_double_lt(fmax(M[1], M[2]), 4.0);
  ck_assert_double_eq_tol(1e12 * scale[1] / scale[0], M[1], 1e-12);
}

TEST(test_symmetric)
{
  double K[N * N], M[N * N], G[N * N];
  fill(N * N, G, 5);
  bramah__multiply_transposed(N, N, N, G, G, M);
  for (size_t i = 0; i < N; i++) M[i * N + i] += 1.0;
  fill(N * N, G, 6);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) K[i * N + j] = G[i * N + j] + G[j * N + i];
  memcpy(A, K, sizeof K);
  memcpy(B, M, sizeof M);
  ck_assert_uint_le(bramah__symmetric_pencil_work(N), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__symmetric_pencil(N, K, M, wr, 1, work), 0);
  for (size_t k = 0; k < N; k++) {
    double Mx = 0.0;
    if (k) ck_assert_double_ge(wr[k], wr[k - 1]);
    for (size_t i = 0; i < N; i++) {
      double left = 0.0, right = 0.0;
      for (size_t j = 0; j < N; j++)
        left += A[i * N + j] * K[k * N + j], right += B[i * N + j] * K[k * N + j];
      ck_assert_double_eq_tol(left, wr[k] * right, 1e-12);
      Mx += right * K[k * N + i];
    }
    ck_assert_double_eq_tol(Mx, 1.0, 1e-12);
  }
}

TEST(test_complex_solve)
{
  double complex M[9], copy[9], x[3] = {1.0 + I, -2.0, 3.0 * I}, y[3] = {0};
  unsigned seed = 4;
  for (int i = 0; i < 9; i++) copy[i] = M[i] = test_uniform(&seed) + I * test_uniform(&seed);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) y[i] += copy[j * 3 + i] * x[j];
  ck_assert_int_eq(bramah__complex_solve(3, 1, (double *)M, (double *)y, iwork), 0);
  for (int i = 0; i < 3; i++) ck_assert_double_lt(cabs(x[i] - y[i]), 1e-13);
}

/* A matrix of rank 3: Q Q' A = A, Q' Q = 1, and the rank is seen. */
TEST(test_orthonormal)
{
  enum { W = 4 };
  double G[N * W], Q[N * W];
  size_t rank = 0;
  fill(N * W, G, 12);
  for (size_t i = 0; i < N; i++) G[i * W + 3] = G[i * W] - 2.0 * G[i * W + 1];
  memcpy(Q, G, sizeof Q);
  ck_assert_uint_le(bramah__orthonormal_work(N, W), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__orthonormal(N, W, Q, 1e-10, &rank, work, iwork), 0);
  ck_assert_uint_eq(rank, 3);
  for (size_t c = 0; c < W; c++) {
    double q[W] = {0};
    for (size_t k = 0; k < rank; k++)
      for (size_t i = 0; i < N; i++) q[k] += Q[i * W + k] * G[i * W + c];
    for (size_t i = 0; i < N; i++) {
      double sum = 0.0;
      for (size_t k = 0; k < rank; k++) sum += Q[i * W + k] * q[k];
      ck_assert_double_eq_tol(sum, G[i * W + c], 1e-13);
    }
  }
}

/* A N = 0 with N the unit matrix in the rows of the coordinates left; a row that repeats others counts for
 * nothing. */
TEST(test_null_space)
{
  enum { ROWS = 5, FREE = N - 4 };
  double G[ROWS * N], copy[ROWS * N], V[N * N];
  size_t rank = 0, units = 0;
  fill(ROWS * N, G, 21);
  for (size_t j = 0; j < N; j++) G[4 * N + j] = G[j] + 3.0 * G[2 * N + j];
  memcpy(copy, G, sizeof copy);
  ck_assert_uint_le(bramah__null_space_work(ROWS, N), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__null_space(ROWS, N, copy, 1e-10, &rank, V, work, iwork), 0);
  ck_assert_uint_eq(rank, 4);
  for (size_t r = 0; r < ROWS; r++)
    for (size_t k = 0; k < FREE; k++) {
      double sum = 0.0;
      for (size_t j = 0; j < N; j++) sum += G[r * N + j] * V[j * FREE + k];
      ck_assert_double_eq_tol(sum, 0.0, 1e-13);
    }
  for (size_t j = 0; j < N; j++) {
    size_t ones = 0, zeros = 0;
    for (size_t k = 0; k < FREE; k++) ones += V[j * FREE + k] == 1.0, zeros += V[j * FREE + k] == 0.0;
    units += ones == 1 && zeros == FREE - 1;
  }
  ck_assert_uint_eq(units, FREE);
  ck_assert_int_eq(bramah__null_space(0, 3, copy, 1e-10, &rank, V, work, iwork), 0);
  for (size_t i = 0; i < 9; i++) ck_assert_double_eq(V[i], i % 4 == 0);
}

TEST(test_solve_many)
{
  double G[N * N], X[3 * N], Y[3 * N], smallest;
  fill(N * N, G, 22);
  fill(3 * N, X, 23);
  bramah__multiply_transposed(3, N, N, X, G, Y); /* rows of Y = A x */
  memcpy(A, G, sizeof G);
  ck_assert_int_eq(bramah__solve_many(N, 3, A, Y, iwork, &smallest), 0);
  for (size_t i = 0; i < 3 * N; i++) ck_assert_double_eq_tol(Y[i], X[i], 1e-11);
  ck_assert_double_gt(smallest, 1e-6);
  memcpy(A, G, sizeof G);
  for (size_t j = 0; j < N; j++) A[N + j] = 2.0 * A[j];
  bramah__solve_many(N, 0, A, Y, iwork, &smallest);
  ck_assert_double_lt(smallest, 1e-14);
}

int main(void) { return run_tests("spectral"); }
