/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How probable the innovations of a filter are, how that changes with parameters, and how much they tell of
 * them. Part of libbramah-tools.
 *
 * Cost: minus the logarithm of the likelihood, without its constant,
 *   c = 1/2 sum (log det S + y' S^-1 y)
 * over the times, innovations y with the covariance S that the filter believes. Its slope and the Fisher
 * information are built from differences between the filter and neighbours of it that run along, in each of
 * which one parameter is a little different:
 *   dc/dp_j  = sum 1/2 tr(S^-1 S_j) - 1/2 y' S^-1 S_j S^-1 y + y' S^-1 y_j
 *   I_jk     = sum 1/2 tr(S^-1 S_j S^-1 S_k) + y_j' S^-1 y_k
 * Sources: F. C. Schweppe, IEEE Trans. Information Theory 11 (1965); N. K. Gupta, R. K. Mehra, IEEE Trans.
 * Automatic Control 19 (1974); A. C. Harvey, Forecasting, Structural Time Series Models and the Kalman Filter
 * (1989), 3.4.69. */
#ifndef BRAMAH_LIKELIHOOD_H
#define BRAMAH_LIKELIHOOD_H

#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_likelihood bramah_likelihood;

/* Room for so many innovations at one time and so many parameters (0: the cost alone). Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_likelihood_new(size_t most, size_t n_parameters, bramah_diag *diag,
                                               bramah_likelihood **out);
BRAMAH_API void bramah_likelihood_free(bramah_likelihood *likelihood); /* NULL allowed */

/* Add one time: innovations y [m] of what was fused, their covariance S [m x m] row-major; those of the
 * neighbours near_y [n_parameters x m], near_S [n_parameters x m x m], where parameter j differs by step[j]
 * (all NULL without parameters). Errors, nothing added: E_NOT_SPD, E_NOT_FINITE. No allocation. */
BRAMAH_API bramah_status bramah_likelihood_add(bramah_likelihood *likelihood, size_t m, const double *y,
                                               const double *S, const double *near_y, const double *near_S,
                                               const double *step, bramah_diag *diag);

/* Add one innovation that a gate (in standard deviations > 0) kept out: beyond the gate the density falls
 * with the inverse square of the innovation,
 *   c = log sigma + gate^2 / 2 + 2 log(|y| / (gate sigma)),
 * so that it goes on evenly at the gate and that calling more samples outliers is no gain. near_y, near_sigma
 * [n_parameters]. */
BRAMAH_API void bramah_likelihood_add_outlier(bramah_likelihood *likelihood, double y, double sigma,
                                              double gate, const double *near_y, const double *near_sigma,
                                              const double *step);

/* y' S^-1 y of the time added last. */
BRAMAH_API double bramah_likelihood_nis(const bramah_likelihood *likelihood);

/* Sums so far: cost; gradient [n_parameters]; information [n_parameters x n_parameters]. */
BRAMAH_API double bramah_likelihood_cost(const bramah_likelihood *likelihood);
BRAMAH_API const double *bramah_likelihood_gradient(const bramah_likelihood *likelihood);
BRAMAH_API const double *bramah_likelihood_information(const bramah_likelihood *likelihood);

#ifdef __cplusplus
}
#endif
#endif
