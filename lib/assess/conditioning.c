/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How near a covariance is to losing its positive definiteness. */
#include "bramah/statistics.h"
#include "lib/base/diag.h"

#include <float.h>
#include <math.h>

enum { MOST_SWEEPS = 30 };

/* The rotation of rows and columns p < q that makes C[p, q] vanish; C symmetric, both halves kept. */
static void rotate(size_t n, double *C, size_t p, size_t q)
{
  const double theta = (C[q * n + q] - C[p * n + p]) / (2.0 * C[p * n + q]);
  const double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + hypot(theta, 1.0));
  const double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
  for (size_t k = 0; k < n; k++) {
    const double a = C[k * n + p], b = C[k * n + q];
    C[k * n + p] = c * a - s * b;
    C[k * n + q] = s * a + c * b;
  }
  for (size_t k = 0; k < n; k++) {
    const double a = C[p * n + k], b = C[q * n + k];
    C[p * n + k] = c * a - s * b;
    C[q * n + k] = s * a + c * b;
  }
}

/* One pass over all pairs; 0 when there was nothing left to do. */
static int sweep(size_t n, double *C)
{
  int rotated = 0;
  for (size_t p = 0; p < n; p++)
    for (size_t q = p + 1; q < n; q++) {
      const double size = sqrt(fabs(C[p * n + p] * C[q * n + q]));
      if (fabs(C[p * n + q]) <= 1e-14 * size || fabs(C[p * n + q]) < 1e-300) continue;
      rotate(n, C, p, q);
      rotated = 1;
    }
  return rotated;
}

bramah_status bramah_conditioning(size_t n, const double *P, double *work, double *condition,
                                  bramah_diag *diag)
{
  double least = INFINITY, most = 0.0, sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(P[i * n + i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "a variance is not finite");
    if (!(P[i * n + i] > 0.0))
      return bramah__fail(diag, BRAMAH_E_NOT_SPD, NULL, "a variance is not positive");
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      work[i * n + j] = 0.5 * (P[i * n + j] + P[j * n + i]) / sqrt(P[i * n + i]) / sqrt(P[j * n + j]);
  for (int i = 0; i < MOST_SWEEPS && sweep(n, work); i++) {
  }
  for (size_t i = 0; i < n; i++) {
    least = fmin(least, work[i * n + i]);
    most = fmax(most, work[i * n + i]);
    sum += work[i * n + i]; /* NaN if one is: fmin and fmax would pass over it */
  }
  if (!isfinite(sum)) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "a covariance is not finite");
  *condition = n ? most / fmax(least, DBL_EPSILON * most) : 1.0;
  return BRAMAH_OK;
}
