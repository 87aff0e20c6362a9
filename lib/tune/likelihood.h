/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How probable the innovations of a filter are, how that changes with parameters, and how much they tell of
 * them.
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
#ifndef BRAMAH_LIB_TUNE_LIKELIHOOD_H
#define BRAMAH_LIB_TUNE_LIKELIHOOD_H

#include "bramah/status.h"

typedef struct bramah__likelihood {
  size_t most, n;      /* innovations at one time, parameters */
  double cost;         /* sums so far: cost, */
  double *gradient;    /* [n] */
  double *information; /* [n x n] */
  double nis;          /* y' S^-1 y of the time added last */
  double *L;           /* [most x most] lower Cholesky factor of S */
  double *e;           /* [most] L^-1 y */
  double *d;           /* [n x most] L^-1 y_j */
  double *M;           /* [n x most x most] L^-1 S_j L^-T */
} bramah__likelihood;

/* Lower Cholesky factor L of A [n x n], which may be the same; its upper triangle is left as it is. 1: A is
 * not positive definite. And L^-1 x, where element i of x is at x[i stride]. */
int bramah__cholesky(size_t n, const double *A, double *L);
void bramah__cholesky_forward(size_t n, const double *L, double *x, size_t stride);

/* Room for so many innovations at one time and so many parameters (0: the cost alone). Errors: E_MEMORY. */
bramah_status bramah__likelihood_new(size_t most, size_t n_parameters, bramah_diag *diag,
                                     bramah__likelihood **out);
void bramah__likelihood_free(bramah__likelihood *likelihood); /* NULL allowed */

/* Add one time: innovations y [m] of what was fused, their covariance S [m x m] row-major; those of the
 * neighbours near_y [n_parameters x m], near_S [n_parameters x m x m], where parameter j differs by step[j]
 * (all NULL without parameters). Errors, nothing added: E_NOT_SPD, E_NOT_FINITE. No allocation. */
bramah_status bramah__likelihood_add(bramah__likelihood *likelihood, size_t m, const double *y,
                                     const double *S, const double *near_y, const double *near_S,
                                     const double *step, bramah_diag *diag);

/* Add one innovation that a gate (in standard deviations > 0) kept out: beyond the gate the density falls
 * with the inverse square of the innovation,
 *   c = log sigma + gate^2 / 2 + 2 log(|y| / (gate sigma)),
 * so that it goes on evenly at the gate and that calling more samples outliers is no gain. near_y, near_sigma
 * [n_parameters]. */
void bramah__likelihood_add_outlier(bramah__likelihood *likelihood, double y, double sigma, double gate,
                                    const double *near_y, const double *near_sigma, const double *step);

#endif
