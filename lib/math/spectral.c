/* SPDX-License-Identifier: MIT */
#include "lib/math/spectral.h"
#include "lib/math/lapack.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Some distributions build their serial OpenBLAS without locks around its shared buffers: on two threads at once it
 * returns wrong numbers (Debian's 0.3.21 at n = 40: once in 400 calls). */
static pthread_mutex_t lapack = PTHREAD_MUTEX_INITIALIZER;
#define ALONE(call) (pthread_mutex_lock(&lapack), (call), pthread_mutex_unlock(&lapack))

static void transpose(size_t n, double *A)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < i; j++) {
      const double a = A[i * n + j];
      A[i * n + j] = A[j * n + i];
      A[j * n + i] = a;
    }
}

int bramah__balance(size_t n, double *A, double *scale)
{
  const int in = (int)n;
  int low = 0, high = 0, info = 0;
  if (n == 0) return 0;
  transpose(n, A);
  ALONE(dgebal_("S", &in, A, &in, &low, &high, scale, &info));
  transpose(n, A);
  return info;
}

/* Room for blocked algorithms on top of what is asked for at least. */
size_t bramah__eigen_work(size_t n) { return n * n + 70 * n + 64 + 4 * n; }

int bramah__eigen(size_t n, double *A, double *wr, double *wi, double *L, double *R, double *reciprocal,
                  double *norm, double *work, int *iwork)
{
  const int in = (int)n, one = 1, lwork = (int)(bramah__eigen_work(n) - 2 * n);
  int low = 0, high = 0, info = 0;
  double abnrm = 0.0, *scale = work, *rcondv = work + n, *rest = work + 2 * n;
  if (n == 0) return 0;
  transpose(n, A);
  if (L && R)
    ALONE(dgeevx_("B", "V", "V", "E", &in, A, &in, wr, wi, L, &in, R, &in, &low, &high, scale, &abnrm,
                  reciprocal, rcondv, rest, &lwork, iwork, &info));
  else
    ALONE(dgeevx_("B", "N", R ? "V" : "N", "N", &in, A, &in, wr, wi, NULL, &one, R, R ? &in : &one, &low,
                  &high, scale, &abnrm, rcondv, rcondv, rest, &lwork, iwork, &info));
  if (norm) *norm = abnrm;
  return info;
}

size_t bramah__symmetric_pencil_work(size_t n) { return 3 * n + 1 + 64 * n; }

int bramah__symmetric_pencil(size_t n, double *K, double *M, double *w, int vectors, double *work)
{
  const int type = 1, in = (int)n, lwork = (int)bramah__symmetric_pencil_work(n);
  int info = 0;
  if (n == 0) return 0;
  ALONE(dsygv_(&type, vectors ? "V" : "N", "L", &in, K, &in, M, &in, w, work, &lwork, &info));
  return info;
}

size_t bramah__stable_subspace_work(size_t n) { return 2 * n + 70 * n + 16; }

static int decays(const double *re, const double *im)
{
  (void)im;
  return *re < 0.0;
}

int bramah__stable_subspace(size_t n, double *A, double *Z, size_t *stable, double *gap, double *work,
                            int *bwork)
{
  const int in = (int)n, lwork = (int)(70 * n + 16);
  double *wr = work, *wi = wr + n, *rest = wi + n;
  int info = 0, sdim = 0;
  *stable = 0;
  *gap = (double)INFINITY;
  if (n == 0) return 0;
  transpose(n, A);
  ALONE(dgees_("V", "S", decays, &in, A, &in, &sdim, wr, wi, Z, &in, rest, &lwork, bwork, &info));
  *stable = (size_t)sdim;
  for (size_t i = 0; i < n; i++) *gap = fmin(*gap, fabs(wr[i]));
  return info;
}

int bramah__complex_solve(size_t n, size_t m, double *A, double *B, int *pivot)
{
  const int in = (int)n, im = (int)m;
  int info = 0;
  if (n == 0 || m == 0) return 0;
  ALONE(zgesv_(&in, &im, A, &in, pivot, B, &in, &info));
  return info;
}

size_t bramah__orthonormal_work(size_t m, size_t n) { return m * n + n + 3 * n + 1 + 64 * n + 16; }

int bramah__orthonormal(size_t m, size_t n, double *A, double tolerance, size_t *rank, double *work,
                        int *pivot)
{
  const int im = (int)m, in = (int)n, lwork = (int)(3 * n + 1 + 64 * n + 16);
  double *copy = work, *tau = copy + m * n, *rest = tau + n;
  int info = 0;
  *rank = 0;
  if (n == 0 || m < n) return m < n;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) copy[j * m + i] = A[i * n + j];
  memset(pivot, 0, n * sizeof *pivot);
  ALONE(dgeqp3_(&im, &in, copy, &im, pivot, tau, rest, &lwork, &info));
  if (info) return info;
  const double largest = fabs(copy[0]);
  while (*rank < n && fabs(copy[*rank * m + *rank]) > tolerance * largest) ++*rank;
  ALONE(dorgqr_(&im, &in, &in, copy, &im, tau, rest, &lwork, &info));
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) A[i * n + j] = copy[j * m + i];
  return info;
}

size_t bramah__null_space_work(size_t m, size_t n) { return m * n + 4 * n + 1 + 64 * n + 16; }

/* Column-major R = [R11 R12] with R11 [rank]: R11 becomes what it was, R12 X of R11 X = R12. */
static int solve_triangle(size_t m, size_t n, size_t rank, double *R)
{
  const int ir = (int)rank, rest = (int)(n - rank), im = (int)m;
  int info = 0;
  if (rank && rest) ALONE(dtrtrs_("U", "N", "N", &ir, &rest, R, &im, R + rank * m, &im, &info));
  return info;
}

int bramah__null_space(size_t m, size_t n, double *A, double tolerance, size_t *rank, double *N, double *work,
                       int *pivot)
{
  const int im = (int)m, in = (int)n, lwork = (int)(3 * n + 1 + 64 * n + 16);
  double *R = work, *tau = R + m * n, *rest = tau + n;
  const size_t most = m < n ? m : n;
  int info = 0;
  *rank = 0;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) R[j * m + i] = A[i * n + j];
  for (size_t j = 0; j < n; j++) pivot[j] = 0;
  if (m && n) ALONE(dgeqp3_(&im, &in, R, &im, pivot, tau, rest, &lwork, &info));
  if (info) return info;
  while (*rank < most && fabs(R[*rank * m + *rank]) > tolerance * fabs(R[0])) ++*rank;
  const size_t free = n - *rank;
  if (solve_triangle(m, n, *rank, R)) return 1;
  for (size_t i = 0; i < n; i++) {
    const size_t row = m ? (size_t)pivot[i] - 1 : i;
    for (size_t k = 0; k < free; k++)
      N[row * free + k] = i < *rank ? -R[(*rank + k) * m + i] : (i - *rank == k);
  }
  return 0;
}

int bramah__solve_many(size_t n, size_t m, double *A, double *B, int *pivot, double *smallest)
{
  const int in = (int)n, im = (int)m;
  int info = 0;
  double least = (double)INFINITY, most = 0.0;
  *smallest = 1.0;
  if (n == 0) return 0;
  ALONE(dgetrf_(&in, &in, A, &in, pivot, &info));
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, fabs(A[i * n + i]));
    most = fmax(most, fabs(A[i * n + i]));
  }
  *smallest = most > 0.0 ? least / most : 0.0;
  if (info) return info;
  if (m) ALONE(dgetrs_("T", &in, &im, A, &in, pivot, B, &in, &info));
  return info;
}
