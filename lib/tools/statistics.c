/* SPDX-License-Identifier: GPL-3.0-or-later */
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

/* Most degrees of freedom for which GSL is asked. Its inverse of the chi-square distribution was seen to fail
 * (and would then call the error handler, which aborts) from 1800 on, at ordinary probabilities; never below
 * in some millions of trials. */
#define LARGEST_EXACT 1000.0

/* Smallest probability of one tail for which those trials were made. */
#define SMALLEST_TAIL 1e-12

/* The value that a chi-square variable falls below with probability `tail` (or exceeds, if upper), divided by
 * its degrees of freedom. Beyond LARGEST_EXACT the cube root is taken as normal (E. B. Wilson and M. M.
 * Hilferty, 1931), by then good to six digits. */
static double quantile(double degrees_of_freedom, double tail, int upper)
{
  if (degrees_of_freedom <= LARGEST_EXACT)
    return (upper ? gsl_cdf_chisq_Qinv(tail, degrees_of_freedom)
                  : gsl_cdf_chisq_Pinv(tail, degrees_of_freedom)) /
           degrees_of_freedom;
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
    return bramah__fail(diag, BRAMAH_E_VALUE, NULL, "probability must lie between 0 and 1, both excluded");
  *low = quantile(degrees_of_freedom, tail, 0);
  *high = quantile(degrees_of_freedom, tail, 1);
  return BRAMAH_OK;
}
