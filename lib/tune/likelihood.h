/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How probable the innovations of a filter are, how that changes with parameters, and how much they tell of
 * them.
 *
 * Cost: minus the logarithm of the likelihood, without its constant,
 *   c = 1/2 sum (log s + nu^2 / s)
 * over the samples, nu what is left of an innovation by those fused before it and s the variance that the
 * filter believes of that (bramah_innovation: rest, rest_variance). Its slope and the Fisher information are
 * built from differences between the filter and neighbours of it that run along, in each of which one
 * parameter is a little different:
 *   dc/dp_j  = sum 1/2 s_j / s (1 - nu^2 / s) + nu nu_j / s
 *   I_jk     = sum 1/2 s_j s_k / s^2 + nu_j nu_k / s
 * Sources: F. C. Schweppe, IEEE Trans. Information Theory 11 (1965); N. K. Gupta, R. K. Mehra, IEEE Trans.
 * Automatic Control 19 (1974); A. C. Harvey, Forecasting, Structural Time Series Models and the Kalman Filter
 * (1989), 3.4.69. */
#ifndef BRAMAH_LIB_TUNE_LIKELIHOOD_H
#define BRAMAH_LIB_TUNE_LIKELIHOOD_H

#include "bramah/status.h"

typedef struct bramah__likelihood {
  size_t n;            /* parameters */
  double *gradient;    /* [n] sums so far */
  size_t stride;       /* n up to a number of whole vectors */
  double *information; /* [n x stride] from the diagonal on: bramah__likelihood_information */
  double cost;         /* but for the logarithm of */
  double variance;     /* the product of variances since it was last taken */
  double *by_step;     /* [n] */
  double *d,
      *s; /* [stride] slopes of what is left and of its variance, by its standard deviation and variance */
} bramah__likelihood;

/* For parameters [n] (0: the cost alone) of which neighbours differ by step [n]. Errors: E_MEMORY. */
bramah_status bramah__likelihood_new(size_t n, const double *step, bramah_diag *diag,
                                     bramah__likelihood **out);
void bramah__likelihood_free(bramah__likelihood *likelihood); /* NULL allowed */

double bramah__likelihood_cost(const bramah__likelihood *likelihood);
void bramah__likelihood_information(const bramah__likelihood *likelihood, double *out); /* [n x n] */

/* Add one sample, fused or rejected: what is left of its innovation, with its variance; those of the neighbours near_rest, near_variance [n].
 * The gate [standard deviations] is its sensor's, 0: none. Beyond it the density falls with the inverse square of the innovation,
 *   c = 1/2 log s + gate^2 / 2 + 2 log(|nu| / (gate s^1/2)),
 * which goes on evenly at the gate and rises where s falls: neither rejecting a sample nor calling more samples outliers is a gain
 * (estimators/correct.c, count_sample). Errors, nothing added: E_NOT_SPD, E_NOT_FINITE. No allocation. */
bramah_status bramah__likelihood_add(bramah__likelihood *likelihood, double rest, double variance,
                                     double gate, const double *near_rest, const double *near_variance,
                                     bramah_diag *diag);

#endif
