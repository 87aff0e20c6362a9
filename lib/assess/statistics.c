/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* lgamma_r: lgamma writes to a global variable */
#include "bramah/statistics.h"
#include "lib/base/diag.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

void bramah_rmse_add(bramah_rmse *rmse, double truth, double estimate, double sigma)
{
  double error = estimate - truth;
  rmse->n++;
  rmse->sum_squares += error * error;
  if (fabs(truth) > rmse->max_truth) rmse->max_truth = fabs(truth);
  if (isnan(sigma)) return;
  rmse->banded++;
  rmse->inside += fabs(error) <= 1.96 * sigma;
}

double bramah_rmse_value(const bramah_rmse *rmse)
{
  return rmse->n ? sqrt(rmse->sum_squares / (double)rmse->n) : (double)NAN;
}

double bramah_rmse_percent(const bramah_rmse *rmse)
{
  return rmse->max_truth > 0.0 ? 100.0 * bramah_rmse_value(rmse) / rmse->max_truth : (double)NAN;
}

double bramah_rmse_inside(const bramah_rmse *rmse)
{
  return rmse->banded ? (double)rmse->inside / (double)rmse->banded : (double)NAN;
}

void bramah_nis_add(bramah_nis *nis, double value, double degrees_of_freedom)
{
  nis->n++;
  nis->sum += value;
  nis->dof += degrees_of_freedom;
}

double bramah_nis_mean(const bramah_nis *nis) { return nis->dof > 0.0 ? nis->sum / nis->dof : (double)NAN; }

/* The inverse of the chi-square distribution in GSL is not used: it was seen to fail once in some three
 * million trials below 1000 degrees of freedom and often above 1800, at ordinary probabilities, and would
 * then call the error handler, which aborts the program. What stands here cannot fail. */

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
  int sign;
  double a = 0.5 * degrees_of_freedom, term = 1.0, sum = 1.0;
  x *= 0.5;
  for (double n = a + 1.0; term > 1e-17 * sum; n += 1.0) {
    term *= x / n;
    sum += term;
  }
  return exp(a * log(x) - x - lgamma_r(a + 1.0, &sign)) * sum;
}

/* The value that lies above this share of all, by halving the interval until it cannot be halved. */
static double exact_quantile(double degrees_of_freedom, double share)
{
  double low = 0.0, high = degrees_of_freedom;
  while (probability_below(high, degrees_of_freedom) < share) high *= 1.5;
  for (double middle = 0.5 * high; low < middle && middle < high; middle = 0.5 * (low + high)) {
    if (probability_below(middle, degrees_of_freedom) < share)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* The value that a chi-square variable falls below with probability `tail` (or exceeds, if upper), divided by
 * its degrees of freedom. */
static double quantile(double degrees_of_freedom, double tail, int upper)
{
  if (degrees_of_freedom <= LARGEST_EXACT)
    return exact_quantile(degrees_of_freedom, upper ? 1.0 - tail : tail) / degrees_of_freedom;
  double z = upper ? gsl_cdf_ugaussian_Qinv(tail) : gsl_cdf_ugaussian_Pinv(tail);
  double variance = 2.0 / (9.0 * degrees_of_freedom);
  double root = 1.0 - variance + z * sqrt(variance);
  return root * root * root;
}

bramah_status bramah_nis_band(double degrees_of_freedom, double probability, double *low, double *high,
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
