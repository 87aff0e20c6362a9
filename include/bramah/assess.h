/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a filter can be trusted: statistics of its innovations and errors. Part of libbramah-tools. */
#ifndef BRAMAH_ASSESS_H
#define BRAMAH_ASSESS_H

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
/* Add the NIS of one correction. */
BRAMAH_API void bramah_nis_add(bramah_nis *nis, double value, double degrees_of_freedom);
BRAMAH_API double bramah_nis_mean(const bramah_nis *nis); /* per degree of freedom: 1 if consistent */

/* Two-sided band that the mean of chi-square variables with so many degrees of freedom in all, divided by
 * that number, holds with the given probability (0.95). Errors: E_VALUE. */
BRAMAH_API bramah_status bramah_nis_band(double degrees_of_freedom, double probability, double *low,
                                         double *high, bramah_diag *diag);

/* What a gate of so many standard deviations (0: none) leaves of a mean NIS of 1: the mean of x^2 of a standard
 * normal x with |x| < gate, 1 - 2 g phi(g) / (2 Phi(g) - 1). */
BRAMAH_API double bramah_nis_left_by_gate(double gate);

/* Normalised estimation error squared e' P^-1 e of an error e [n] against its covariance P [n x n],
 * row-major: chi-square with n degrees of freedom if the filter is consistent. Sum it over runs and times
 * with bramah_nis_add (n degrees of freedom each); bramah_nis_band is the band of its mean where they are
 * independent, as those of different runs at one time are. Source: Y. Bar-Shalom, X. R. Li, T. Kirubarajan,
 * Estimation with Applications to Tracking and Navigation (2001), 5.4. work [n (n + 2)]. Errors: E_NOT_SPD,
 * E_NOT_FINITE (*nees is left alone). */
BRAMAH_API bramah_status bramah_nees(size_t n, const double *e, const double *P, double *work, double *nees,
                                     bramah_diag *diag);

/* Whether samples that should be white, such as innovations, are: a filter that leaves something in its
 * innovations has correlated ones. Divide them by their sigma first where it changes. */
typedef struct bramah_whiteness {
  size_t n, lags;
  double band;      /* 1.96 / sqrt(n): holds 95 % of the autocorrelations of white samples */
  size_t outside;   /* lags beyond it */
  double ljung_box; /* n (n + 2) sum of r_k^2 / (n - k): chi-square with `lags` degrees of freedom if white */
  double p_value;   /* probability of so large a value if white */
} bramah_whiteness;

enum { BRAMAH_AUTOCORRELATION_LAGS = 50 };
/* Of samples that come one by one, however many, none of them kept; up to so many lags. Zero-initialise. */
typedef struct bramah_autocorrelation {
  uint64_t n;
  double shift; /* the first sample: taken off all, for the sake of rounding */
  double sum, squares;
  double products[BRAMAH_AUTOCORRELATION_LAGS]; /* with the sample so many before */
  double first[BRAMAH_AUTOCORRELATION_LAGS], last[BRAMAH_AUTOCORRELATION_LAGS]; /* samples; a ring */
} bramah_autocorrelation;

/* One more sample. */
BRAMAH_API void bramah_autocorrelation_add(bramah_autocorrelation *a, double x);
/* Autocorrelations r [lags] of all samples so far at lags 1, 2, ..., about their mean, and what they say.
 * Sources: G. E. P. Box, G. M. Jenkins, Time Series Analysis (1970); G. M. Ljung, G. E. P. Box, Biometrika 65
 * (1978). Errors: E_VALUE (no lag, more than the number above, not more samples than lags + 1, or all the
 * same), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_autocorrelation_test(const bramah_autocorrelation *a, size_t lags, double *r,
                                                     bramah_whiteness *out, bramah_diag *diag);

/* Condition number of a covariance P [n x n], row-major, freed from its units: largest by smallest eigenvalue
 * of the matrix of correlations. 1 if nothing is correlated; near 1/DBL_EPSILON the covariance is about to
 * lose its positive definiteness (never told larger than that). work [n n]. By cyclic Jacobi rotations.
 * Source: G. H. Golub, C. F. Van Loan, Matrix Computations (2013), 8.5. Errors: E_NOT_SPD (a variance that is
 * not positive), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_conditioning(size_t n, const double *P, double *work, double *condition,
                                             bramah_diag *diag);

/* Probability that a chi-square variable with so many degrees of freedom (> 0) exceeds x. */
BRAMAH_API double bramah_chi_square_above(double x, double degrees_of_freedom);

#ifdef __cplusplus
}
#endif
#endif
