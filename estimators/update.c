/* SPDX-License-Identifier: MIT */
#include "estimators/update.h"
#include "lib/linalg/dense.h"

#include <math.h>

void bramah__propagate(size_t n, const double *F, double *P, double *work)
{
  bramah__multiply(n, n, n, F, P, work);
  bramah__multiply_transposed(n, n, n, work, F, P);
  bramah__symmetrise(n, P);
}

double bramah__variance(size_t n, const double *H, const double *P)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (H[i] == 0.0) continue;
    double row = 0.0;
    for (size_t j = 0; j < n; j++) row += P[i * n + j] * H[j];
    sum += H[i] * row;
  }
  return sum;
}

/* P = (I - K H) P (I - K H)' + K r K', from the left and then, with the product of what that left, from the
 * right. */
static void joseph(size_t n, const double *H, double r, const double *K, double *PH, double *P)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) P[i * n + j] -= K[i] * PH[j];
  bramah__apply(n, n, P, H, PH);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) P[i * n + j] += (K[i] * r - PH[i]) * K[j];
  bramah__symmetrise(n, P);
}

int bramah__fuse_scalar(size_t n, const double *H, double y, double r, double *P, double *dx, double *work)
{
  double *PH = work, *K = work + n;
  double S = r, expected = 0.0;
  for (size_t i = 0; i < n; i++) {
    PH[i] = 0.0;
    for (size_t j = 0; j < n; j++) PH[i] += P[i * n + j] * H[j];
    S += H[i] * PH[i];
    expected += H[i] * dx[i];
  }
  if (!(S > 0.0) || !isfinite(S)) return -1;
  const double rest = (y - expected) / S;
  for (size_t i = 0; i < n; i++) {
    K[i] = PH[i] / S;
    dx[i] += PH[i] * rest;
  }
  joseph(n, H, r, K, PH, P);
  return 0;
}

size_t bramah__bad_variance(size_t n, const double *P)
{
  for (size_t i = 0; i < n; i++)
    if (!(P[i * n + i] > 0.0) || !isfinite(P[i * n + i])) return i;
  return n;
}
