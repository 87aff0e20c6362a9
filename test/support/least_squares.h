/* SPDX-License-Identifier: MIT */
/* Batch weighted least squares over all states of a run of the linear plant at once, in long double: what
 * filter and smoother must equal. Nothing here is recursive. */
#ifndef BRAMAH_TEST_SUPPORT_LEAST_SQUARES_H
#define BRAMAH_TEST_SUPPORT_LEAST_SQUARES_H

#include "test/support/linear_plant.h"

typedef struct least_squares least_squares;

/* Room for the states of steps 0 .. last. */
least_squares *least_squares_new(int last);
void least_squares_free(least_squares *b);
void least_squares_clear(least_squares *b);

/* x_0 is known to be x with these standard deviations [6]. */
void least_squares_prior(least_squares *b, const double *x, const double *sigma);

/* x_(k+1) = F x_k + g + noise with covariance Q [6 x 6]. */
void least_squares_motion(least_squares *b, int k, const double *F, const double *g, const double *Q);

/* row [6] x_k = y with standard deviation sigma. */
void least_squares_measurement(least_squares *b, int k, const double *row, double y, double sigma);

/* before [6] x_(k-1) + row [6] x_k = y: a sample between two steps. */
void least_squares_measurement_between(least_squares *b, int k, const double *before, const double *row,
                                       double y, double sigma);

/* Estimate x [6] and covariance P [6 x 6] of the state of step k. solve comes first. */
void least_squares_solve(least_squares *b);
void least_squares_state(const least_squares *b, int k, double *x, double *P);

#endif
