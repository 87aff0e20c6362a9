/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Autocorrelation without keeping the samples: sums of products, and the samples at both ends by which the
 * mean is taken off afterwards. */
#include "bramah/statistics.h"
#include "lib/base/diag.h"

#include <math.h>

enum { LAGS = BRAMAH_AUTOCORRELATION_LAGS };

void bramah_autocorrelation_add(bramah_autocorrelation *a, double x)
{
  if (!a->n) a->shift = x;
  x -= a->shift;
  if (a->n < LAGS) a->first[a->n] = x;
  for (uint64_t k = 1; k <= LAGS && k <= a->n; k++) a->products[k - 1] += x * a->last[(a->n - k) % LAGS];
  a->last[a->n % LAGS] = x;
  a->sum += x;
  a->squares += x * x;
  a->n++;
}

/* Sum of (x_i - m)(x_{i-k} - m) over i = k ... n - 1: the first k samples are no x_i, the last k no
 * x_{i-k}. */
static double covariance(const bramah_autocorrelation *a, size_t k, double mean)
{
  double head = 0.0, tail = 0.0;
  for (size_t i = 0; i < k; i++) {
    head += a->first[i];
    tail += a->last[(a->n - 1 - i) % LAGS];
  }
  return a->products[k - 1] - mean * (2.0 * a->sum - head - tail) + (double)(a->n - k) * mean * mean;
}

bramah_status bramah_autocorrelation_test(const bramah_autocorrelation *a, size_t lags, double *r,
                                          bramah_whiteness *out, bramah_diag *diag)
{
  const double n = (double)a->n, mean = a->n ? a->sum / n : 0.0, variance = a->squares - n * mean * mean;
  double sum = 0.0;
  if (lags < 1 || lags > LAGS || a->n < 3 || lags > a->n - 2)
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "there must be a lag, and more samples than lags");
  if (!isfinite(variance)) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "a sample is not finite");
  if (!(variance > 1e-14 * a->squares))
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "all samples are the same");
  *out = (bramah_whiteness){.n = (size_t)a->n, .lags = lags, .band = 1.96 / sqrt(n)};
  for (size_t k = 1; k <= lags; k++) {
    r[k - 1] = covariance(a, k, mean) / variance;
    out->outside += fabs(r[k - 1]) > out->band;
    sum += r[k - 1] * r[k - 1] / (n - (double)k);
  }
  out->ljung_box = n * (n + 2.0) * sum;
  out->p_value = bramah_chi_square_above(out->ljung_box, (double)lags);
  return BRAMAH_OK;
}
