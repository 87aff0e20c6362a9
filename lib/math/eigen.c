/* SPDX-License-Identifier: MIT */
#include "lib/math/dense.h"
#include "lib/math/lapack.h"

size_t bramah__symmetric_eigen_work(size_t n) { return 3 * n + 1; }

int bramah__symmetric_eigen(size_t n, double *A, double *w, double *work)
{
  const int in = (int)n, lwork = (int)bramah__symmetric_eigen_work(n);
  int info = 0;
  if (n == 0) return 0;
  dsyev_("V", "L", &in, A, &in, w, work, &lwork, &info); /* its columns are our rows */
  return info == 0 ? 0 : -1;
}
