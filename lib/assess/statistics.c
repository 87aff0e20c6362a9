/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics of errors and innovations: RMSE, NIS and NEES with their chi-square distribution, whiteness, the
 * condition of a covariance. */
#include "lib/assess/statistics.h"
#include "lib/base/diag.h"
#include "lib/math/elementary.h"
#include "lib/math/innovation_tests.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- RMSE, NIS ---- */

double bramah__without_turns(const bramah_plant *plant, size_t output, double truth, double value)
{
  static const double half_turn = 3.14159265358979323846;
  bramah_output_info info;
  bramah_plant_output_info(plant, output, &info);
  const int turns = strcmp(info.unit, "rad") == 0;
  return turns && fabs(value - truth) > half_turn ? truth + remainder(value - truth, 2.0 * half_turn) : value;
}

/* The last of ten digits, with which files are written: a value at a limit of its own (fuel at idle) is known with sigma 0. */
#define ROUNDING 1e-10

void bramah__rmse_add(bramah__rmse *rmse, double truth, double estimate, double sigma)
{
  double error = estimate - truth;
  rmse->n++;
  rmse->sum_squares += error * error;
  if (fabs(truth) > rmse->max_truth) rmse->max_truth = fabs(truth);
  if (isnan(sigma)) return;
  rmse->banded++;
  rmse->inside += fabs(error) <= 1.96 * sigma + ROUNDING * fabs(truth);
}

bramah_rmse bramah__rmse_of(const bramah__rmse *sums)
{
  const double value = sums->n ? sqrt(sums->sum_squares / (double)sums->n) : (double)NAN;
  return (bramah_rmse){.n = sums->n,
                       .value = value,
                       .percent = sums->max_truth > 0.0 ? 100.0 * value / sums->max_truth : (double)NAN,
                       .inside = sums->banded ? (double)sums->inside / (double)sums->banded : (double)NAN};
}

void bramah__nis_add(bramah__nis *nis, double value, double degrees_of_freedom)
{
  nis->n++;
  nis->sum += value;
  nis->dof += degrees_of_freedom;
}

double bramah__nis_mean(const bramah__nis *nis) { return nis->dof > 0.0 ? nis->sum / nis->dof : (double)NAN; }

double bramah__nis_left_by_gate(double gate)
{
  const double density = bramah__exp(-0.5 * gate * gate) / 2.5066282746310005024;
  return gate > 0.0 ? 1.0 - 2.0 * gate * density / (1.0 - bramah__erfc(gate / 1.4142135623730950488)) : 1.0;
}

/* ---- chi-square ---- */

/* The inverse of the chi-square distribution in GSL is not used: it was seen to fail once in some three
 * million trials below 1000 degrees of freedom and often above 1800, at ordinary probabilities, and would
 * then call the error handler, which aborts the program. What follows cannot fail. */

/* Above this the cube root of the variable is taken as normal (E. B. Wilson and M. M. Hilferty, 1931), which
 * by then is good to six digits at 95 %. */
#define LARGEST_EXACT 1000.0

/* Smallest probability of one tail: the series is good to some 1e-12. */
#define SMALLEST_TAIL 1e-9

/* Probability that a chi-square variable lies below x: the series of the incomplete gamma function, which has
 * positive terms only and always converges; here (x below a few times the degrees of freedom) within some
 * hundred of them. */
static double probability_below(double x, double degrees_of_freedom)
{
  double a = 0.5 * degrees_of_freedom, term = 1.0, sum = 1.0;
  x *= 0.5;
  for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) {
    term *= x / n;
    sum += term;
  }
  return bramah__exp(a * bramah__log(x) - x - bramah__log_gamma(a + 1.0)) * sum;
}

/* The value that a chi-square variable falls below with probability `tail` (or exceeds, if upper), divided by
 * its degrees of freedom. */
static double quantile(double degrees_of_freedom, double tail, int upper)
{
  if (degrees_of_freedom > LARGEST_EXACT) {
    const double z = upper ? bramah__normal_beyond(tail) : -bramah__normal_beyond(tail);
    const double variance = 2.0 / (9.0 * degrees_of_freedom), root = 1.0 - variance + z * sqrt(variance);
    return root * root * root;
  }
  /* The value that lies above this share of all, by halving the interval until it cannot be halved. */
  const double share = upper ? 1.0 - tail : tail;
  double low = 0.0, high = degrees_of_freedom;
  while (probability_below(high, degrees_of_freedom) < share) high *= 1.5;
  for (double middle = 0.5 * high; low < middle && middle < high; middle = 0.5 * (low + high)) {
    if (probability_below(middle, degrees_of_freedom) < share)
      low = middle;
    else
      high = middle;
  }
  return high / degrees_of_freedom;
}

bramah_status bramah__nis_band(double degrees_of_freedom, double probability, double *low, double *high,
                               bramah_diag *diag)
{
  if (!(degrees_of_freedom >= 1.0) || !isfinite(degrees_of_freedom))
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "degrees of freedom must be at least 1 and finite");
  double tail = 0.5 * (1.0 - probability);
  if (!(probability > 0.0) || !(tail >= SMALLEST_TAIL))
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "probability must lie above 0 and not above 0.999999998");
  *low = quantile(degrees_of_freedom, tail, 0);
  *high = quantile(degrees_of_freedom, tail, 1);
  if (*low > *high) *low = *high; /* by rounding, where the probability is next to nothing */
  return BRAMAH_OK;
}

/* Like the quantiles above not GSL's, whose error handler may be called. Incomplete gamma functions: the series of
 * the lower one below its mean, the continued fraction of the upper one above, by Lentz's method as modified by
 * Thompson and Barnett (J. Comput. Phys. 64, 1986). Both converge in some sqrt(a) terms near the mean. */
double bramah__chi_square_above(double x, double degrees_of_freedom)
{
  const double a = 0.5 * degrees_of_freedom, half = 0.5 * x;
  if (isnan(x) || !(degrees_of_freedom > 0.0)) return NAN;
  if (half <= 0.0) return 1.0;
  if (isinf(half)) return 0.0;
  const double front = bramah__exp(a * bramah__log(half) - half - bramah__log_gamma(a));
  if (half < a + 1.0) {
    double term = 1.0 / a, sum = term;
    for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) sum += term *= half / n;
    return fmax(0.0, 1.0 - front * sum);
  }
  if (!(front > 0.0)) return 0.0;
  double b = half + 1.0 - a, c = 1e300, d = 1.0 / b, f = d;
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
  return front * f;
}

/* ---- NEES ---- */

bramah_status bramah__nees(size_t n, const double *e, const double *P, double *work, double *nees,
                           bramah_diag *diag)
{
  double *C = work, *scale = work + n * n, *z = scale + n;
  for (size_t i = 0; i < n; i++) {
    scale[i] = sqrt(P[i * n + i]);
    if (!(P[i * n + i] > 0.0))
      return bramah__fail(diag, BRAMAH_E_NOT_SPD, NULL, "a variance is not positive");
    if (!isfinite(e[i]) || !isfinite(scale[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "an error or its variance is not finite");
  }
  /* Cholesky factor L of the correlations into the lower triangle of C. */
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) C[i * n + j] = P[i * n + j] / (scale[i] * scale[j]);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = C[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= C[i * n + k] * C[j * n + k];
      if (i == j && !(sum > 0.0))
        return bramah__fail(diag, BRAMAH_E_NOT_SPD, NULL, "the covariance is not positive definite");
      C[i * n + j] = i == j ? sqrt(sum) : sum / C[j * n + j];
    }
  double squares = 0.0; /* |L^-1 e|^2 */
  for (size_t i = 0; i < n; i++) {
    z[i] = e[i] / scale[i];
    for (size_t k = 0; k < i; k++) z[i] -= C[i * n + k] * z[k];
    z[i] /= C[i * n + i];
    squares += z[i] * z[i];
  }
  *nees = squares;
  return BRAMAH_OK;
}

/* ---- whiteness ---- */

/* Sums of products instead of the samples, and the samples at both ends, by which the mean is taken off
 * afterwards. */
enum { LAGS = BRAMAH__AUTOCORRELATION_LAGS };

void bramah__autocorrelation_add(bramah__autocorrelation *a, double x)
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

bramah_status bramah__autocorrelation_test(const bramah__autocorrelation *a, size_t lags, double *r,
                                           bramah_whiteness *out, bramah_diag *diag)
{
  const double n = (double)a->n, mean = a->n ? a->sum / n : 0.0, variance = a->squares - n * mean * mean;
  double sum = 0.0;
  if (lags < 1 || lags > LAGS || a->n < 3 || lags > a->n - 2)
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "there must be a lag, and more samples than lags");
  if (!isfinite(variance)) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, NULL, "a sample is not finite");
  if (!(variance > 1e-14 * a->squares))
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "all samples are the same");
  *out = (bramah_whiteness){.n = (size_t)a->n, .lags = lags, .r = r, .band = 1.96 / sqrt(n)};
  double head = 0.0, tail = 0.0; /* sums of the first and of the last k samples */
  for (size_t k = 1; k <= lags; k++) {
    head += a->first[k - 1];
    tail += a->last[(a->n - k) % LAGS];
    /* Sum of (x_i - m)(x_{i-k} - m) over i = k ... n - 1: the first k samples are no x_i, the last k no
     * x_{i-k}. */
    const double covariance =
        a->products[k - 1] - mean * (2.0 * a->sum - head - tail) + (double)(a->n - k) * mean * mean;
    r[k - 1] = covariance / variance;
    out->outside += fabs(r[k - 1]) > out->band;
    sum += r[k - 1] * r[k - 1] / (n - (double)k);
  }
  out->ljung_box = n * (n + 2.0) * sum;
  out->p_value = bramah__chi_square_above(out->ljung_box, (double)lags);
  return BRAMAH_OK;
}

/* ---- condition of a covariance ---- */

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
  /* Cyclic sweeps over all pairs; each rotation of rows and columns p < q makes C[p, q] vanish. C symmetric, both
   * halves kept. */
  double *C = work;
  for (int i = 0, rotated = 1; i < 30 && rotated; i++) {
    rotated = 0;
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++) {
        const double size = sqrt(fabs(C[p * n + p] * C[q * n + q]));
        if (fabs(C[p * n + q]) <= 1e-14 * size || fabs(C[p * n + q]) < 1e-300) continue;
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
        rotated = 1;
      }
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
