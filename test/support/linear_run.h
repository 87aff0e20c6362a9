/* SPDX-License-Identifier: MIT */
/* A run of the linear plant with its true motion disturbed as the filter assumes, sensors at mixed rates,
 * dropouts, and outliers that are gated; and the batch least squares of what was let through. */
#ifndef BRAMAH_TEST_SUPPORT_LINEAR_RUN_H
#define BRAMAH_TEST_SUPPORT_LINEAR_RUN_H

#include "bramah/filter.h"
#include "test/support/least_squares.h"

enum { LINEAR_SENSORS = 5, LINEAR_STEPS = 400 };

typedef struct linear_run {
  linear_plant object;
  bramah_plant plant;
  bramah_sensor sensor[LINEAR_SENSORS];
  bramah_filter_options options;
  double y[LINEAR_STEPS + 1][LINEAR_SENSORS];
  unsigned char due[LINEAR_STEPS + 1][LINEAR_SENSORS];  /* the sensor gave something */
  unsigned char used[LINEAR_STEPS + 1][LINEAR_SENSORS]; /* and it passed the gate */
  double u[LINEAR_STEPS + 1];
} linear_run;

/* The coordinates of the plant change at step change_at, -1: never. */
void linear_run_make(linear_run *run, int64_t change_at);

/* Which samples of step k pass: their innovation, from covariance P [6 x 6] in the present coordinates, must
 * lie within 4 standard deviations. Fills used[k]. */
void linear_run_gate(linear_run *run, int k, const double *P);

/* Rows of the sensors by the physical state, and process noise Q [6 x 6] of one step (D 3.18). */
void linear_run_row(const linear_run *run, int sensor, double *row);
void linear_run_noise(const linear_run *run, double *Q);

/* All that is known up to step `last`: prior, motion, samples used. */
void linear_run_batch(const linear_run *run, int last, least_squares *b);

#endif
