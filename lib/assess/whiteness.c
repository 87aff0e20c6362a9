/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Consistency of a filter beyond the mean of its innovations: errors against their covariance, and
 * innovations against each other. */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma writes to a global variable */
#include "bramah/statistics.h"
#include "lib/base/diag.h"

#include <math.h>

/* ---- NEES ---- */

/* Cholesky factor of C [n x n] into its lower triangle; 0, or 1 + the row at which it is not positive
 * definite. */
static size_t factor(size_t n, double *C)
{
  for (size_t j = 0; j < n; j++) {
    for (size_t i = j; i < n; i++) {
      double sum = C[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= C[i * n + k] * C[j * n + k];
      if (i == j && !(sum > 0.0)) return j + 1;
      C[i * n + j] = i == j ? sqrt(sum) : sum / C[j * n + j];
    }
  }
  return 0;
}

bramah_status bramah_nees(size_t n, const double *e, const double *P, double *work, double *nees,
                          bramah_diag *diag)
{
  double *C = work, *scale = work + n * n, *z = scale + n, sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    scale[i] = sqrt(P[i * n + i]);
    if (!(P[i * n + i] > 0.0))
      return bramah__fail(diag, BRAMAH_E_NOT_SPD, NULL, "a variance is not positive");
    if (!isfinite(e[i]) || !isfinite(scale[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "an error or its variance is not finite");
  }
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) C[i * n + j] = P[i * n + j] / (scale[i] * scale[j]);
  if (factor(n, C))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, NULL, "the covariance is not positive definite");
  for (size_t i = 0; i < n; i++) { /* |L^-1 e|^2 */
    z[i] = e[i] / scale[i];
    for (size_t k = 0; k < i; k++) z[i] -= C[i * n + k] * z[k];
    z[i] /= C[i * n + i];
    sum += z[i] * z[i];
  }
  *nees = sum;
  return BRAMAH_OK;
}

/* ---- chi-square ---- */

/* Like the quantiles (statistics.c) not GSL's, whose error handler may be called. Incomplete gamma functions:
 * the series of the lower one below its mean, the continued fraction of the upper one above, by Lentz's
 * method as modified by Thompson and Barnett (J. Comput. Phys. 64, 1986). Both converge in some sqrt(a) terms
 * near the mean. */
static double lower_series(double a, double x)
{
  double term = 1.0 / a, sum = term;
  for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) sum += term *= x / n;
  return sum;
}

static double upper_fraction(double a, double x)
{
  double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, f = d;
  for (int i = 1; i < 1000000; i++) {
    const double an = -(double)i * ((double)i - a);
    b += 2.0;
    d = an * d + b;
    c = b + an / c;
    if (fabs(d) < 1e-300) d = 1e-300;
    if (fabs(c) < 1e-300) c = 1e-300;
    d = 1.0 / d;
    f *= d * c;
    if (fabs(d * c - 1.0) < 1e-16) break;
  }
  return f;
}

double bramah_chi_square_above(double x, double degrees_of_freedom)
{
  int sign;
  const double a = 0.5 * degrees_of_freedom, half = 0.5 * x;
  if (isnan(x) || !(degrees_of_freedom > 0.0)) return NAN;
  if (half <= 0.0) return 1.0;
  if (isinf(half)) return 0.0;
  const double front = exp(a * log(half) - half - lgamma_r(a, &sign));
  if (half < a + 1.0) return fmax(0.0, 1.0 - front * lower_series(a, half));
  return front > 0.0 ? front * upper_fraction(a, half) : 0.0;
}

/* ---- whiteness ---- */

static bramah_status moments(size_t n, const double *x, double *mean, double *variance, bramah_diag *diag)
{
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (!isfinite(x[i])) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "a sample is not finite");
    sum += x[i];
  }
  *mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (x[i] - *mean) * (x[i] - *mean);
  *variance = squares;
  if (squares > 0.0 && isfinite(squares)) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "all samples are the same");
}

bramah_status bramah_whiteness_test(size_t n, const double *x, size_t lags, double *r, bramah_whiteness *out,
                                    bramah_diag *diag)
{
  double mean = 0.0, variance = 0.0, sum = 0.0;
  if (lags < 1 || n < 3 || lags > n - 2)
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "there must be a lag, and more samples than lags");
  const bramah_status status = moments(n, x, &mean, &variance, diag);
  if (status != BRAMAH_OK) return status;
  *out = (bramah_whiteness){.n = n, .lags = lags, .band = 1.96 / sqrt((double)n)};
  for (size_t k = 1; k <= lags; k++) {
    double products = 0.0;
    for (size_t i = k; i < n; i++) products += (x[i] - mean) * (x[i - k] - mean);
    r[k - 1] = products / variance;
    out->outside += fabs(r[k - 1]) > out->band;
    sum += r[k - 1] * r[k - 1] / (double)(n - k);
  }
  out->ljung_box = (double)n * ((double)n + 2.0) * sum;
  out->p_value = bramah_chi_square_above(out->ljung_box, (double)lags);
  return BRAMAH_OK;
}
