/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running statistics of errors and innovations. */
#ifndef BRAMAH_LIB_ASSESS_STATISTICS_H
#define BRAMAH_LIB_ASSESS_STATISTICS_H

#include "bramah/assess.h"

/* A value of an output without the whole turns that part it from its truth: a spherical joint shows the same
 * attitude with or without them. */
double bramah__without_turns(const bramah_plant *plant, size_t output, double truth, double value);

/* Running sums of squares of errors and of the largest magnitude of the true signal. Zero-initialise. */
typedef struct bramah__rmse {
  uint64_t n;
  double sum_squares;
  double max_truth;
  uint64_t inside; /* errors within 1.96 sigma, but for rounding */
  uint64_t banded; /* errors that came with a sigma */
} bramah__rmse;
/* Add an error with its true value; sigma NaN where there is none. */
void bramah__rmse_add(bramah__rmse *rmse, double truth, double estimate, double sigma);
bramah_rmse bramah__rmse_of(const bramah__rmse *rmse); /* what they come to */

/* Running mean of a normalised innovation squared. Zero-initialise. */
typedef struct bramah__nis {
  uint64_t n; /* samples */
  double sum; /* of the squares */
  double dof; /* sum of their degrees of freedom */
} bramah__nis;
/* Add the NIS of one correction. */
void bramah__nis_add(bramah__nis *nis, double value, double degrees_of_freedom);
double bramah__nis_mean(const bramah__nis *nis); /* per degree of freedom: 1 if consistent */

/* Two-sided band in which a chi-square variable, divided by its degrees of freedom, lies with this probability (0.95):
 * the band of a mean NIS whose samples have so many degrees of freedom together. Errors: E_VALUE. */
bramah_status bramah__nis_band(double degrees_of_freedom, double probability, double *low, double *high,
                               bramah_diag *diag);
/* Expected NIS of a consistent filter behind a gate of so many standard deviations (0: none): the mean of x^2 of a
 * standard normal x with |x| < gate, 1 - 2 g phi(g) / (2 Phi(g) - 1). */
double bramah__nis_left_by_gate(double gate);

/* Probability that a chi-square variable with so many degrees of freedom (> 0) exceeds x. */
double bramah__chi_square_above(double x, double degrees_of_freedom);

/* Normalised estimation error squared e' P^-1 e of an error e [n] against its covariance P [n x n],
 * row-major: chi-square with n degrees of freedom if the filter is consistent. Sum it over runs and times
 * with bramah__nis_add (n degrees of freedom each); bramah__nis_band is the band of its mean where they are
 * independent, as those of different runs at one time are. Source: Y. Bar-Shalom, X. R. Li, T. Kirubarajan,
 * Estimation with Applications to Tracking and Navigation (2001), 5.4. work [n (n + 2)]. Errors: E_NOT_SPD,
 * E_NOT_FINITE (*nees is left alone). */
bramah_status bramah__nees(size_t n, const double *e, const double *P, double *work, double *nees,
                           bramah_diag *diag);

enum { BRAMAH__AUTOCORRELATION_LAGS = 50 };
/* Of samples that come one by one, however many, none of them kept; up to so many lags. Zero-initialise. */
typedef struct bramah__autocorrelation {
  uint64_t n;
  double shift; /* the first sample: taken off all, for the sake of rounding */
  double sum, squares;
  double products[BRAMAH__AUTOCORRELATION_LAGS]; /* with the sample so many before */
  double first[BRAMAH__AUTOCORRELATION_LAGS], last[BRAMAH__AUTOCORRELATION_LAGS]; /* samples; a ring */
} bramah__autocorrelation;

/* One more sample. */
void bramah__autocorrelation_add(bramah__autocorrelation *a, double x);
/* Autocorrelations r [lags] of all samples so far and what they say. Errors: E_VALUE (no lag, more than the number
 * above, not more samples than lags + 1, or all the same), E_NOT_FINITE. */
bramah_status bramah__autocorrelation_test(const bramah__autocorrelation *a, size_t lags, double *r,
                                           bramah_whiteness *out, bramah_diag *diag);

#endif
