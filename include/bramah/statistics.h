/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures that tell whether a filter can be trusted (GSL). Part of libbramah-tools. */
#ifndef BRAMAH_STATISTICS_H
#define BRAMAH_STATISTICS_H

#include <stdint.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Running sums of squares of errors and of the largest magnitude of the true signal. Zero-initialise. */
typedef struct bramah_rmse {
  uint64_t n;
  double sum_squares;
  double max_truth;
  uint64_t inside; /* errors within 1.96 sigma */
  uint64_t banded; /* errors that came with a sigma */
} bramah_rmse;
/* Add an error with its true value; sigma NaN where there is none. */
BRAMAH_API void bramah_rmse_add(bramah_rmse *rmse, double truth, double estimate, double sigma);
BRAMAH_API double bramah_rmse_value(const bramah_rmse *rmse);   /* NaN when empty */
BRAMAH_API double bramah_rmse_percent(const bramah_rmse *rmse); /* of the absolute maximum of the truth */
BRAMAH_API double
bramah_rmse_inside(const bramah_rmse *rmse); /* share inside +-1.96 sigma, 0 to 1; NaN when empty */

/* Running mean of a normalised innovation squared. Zero-initialise. */
typedef struct bramah_nis {
  uint64_t n; /* samples */
  double sum; /* of the squares */
  double dof; /* sum of their degrees of freedom */
} bramah_nis;
BRAMAH_API void bramah_nis_add(bramah_nis *nis, double value, double degrees_of_freedom);
BRAMAH_API double bramah_nis_mean(const bramah_nis *nis); /* per degree of freedom: 1 if consistent */

/* Two-sided band that the mean of chi-square variables with so many degrees of freedom in all, divided by
 * that number, holds with the given probability (0.95). Errors: E_VALUE. */
BRAMAH_API bramah_status bramah_nis_band(double degrees_of_freedom, double probability, double *low,
                                         double *high, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
