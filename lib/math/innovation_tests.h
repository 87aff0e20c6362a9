/* SPDX-License-Identifier: MIT */
/* What innovations over their sigmas should be, and how far from it they are: sums over a window of them, and the tests
 * of the alarm of a controller (estimators/alarm.c) and of the verdict on a log (lib/assess/windows.c).
 *
 * Those of a right filter are independent and standard normal: in a window of n their mean is normal with the
 * variance 1/n, the sum of their squares chi-square with n degrees of freedom, and their correlation at lag 1 about
 * normal with the variance 1/n (R. K. Mehra, J. Peschon, Automatica 7, 1971).
 *
 * Where a filter considers states without estimating them, innovations have a share s of their variance in common:
 * x = sqrt(1 - s) w + sqrt(s) c, w white. Their mean has the variance (sum (1 - s) + (sum sqrt(s))^2) / n^2 at most; the
 * others are judged as for the worst c within 4 standard deviations.
 *
 * With many samples every filter fails a statistical test. A deviation that is no accident matters where it says that
 * what the filter predicts of the sensor is off by more than its own standard deviation, a share q of the variance of
 * the innovation: a mean of sqrt(q), a variance of 1 + q, a correlation of q. */
#ifndef BRAMAH_LIB_MATH_INNOVATION_TESTS_H
#define BRAMAH_LIB_MATH_INNOVATION_TESTS_H

#include <stdint.h>

typedef enum bramah__innovation_test {
  BRAMAH__TEST_MEAN,
  BRAMAH__TEST_VARIANCE, /* too large */
  BRAMAH__TEST_CORRELATION,
  BRAMAH__TEST_REJECTED,
  BRAMAH__TEST_SMALL, /* variance too small: noise is overestimated */
  BRAMAH__TEST_ANTI,  /* a negative correlation: the same */
  BRAMAH__TESTS
} bramah__innovation_test;

/* Sums over innovations x of a sensor, or over all sensors, in a window. Zero: nothing yet. */
typedef struct bramah__innovation_sums {
  uint64_t n, present, rejected;              /* summed; of those within the range of the sensor */
  double sum, squares, products, first, last; /* products with the one before */
  double shares, roots, crossed; /* of s, sqrt(s), s (1 - s): what considered states have of a variance */
  double state;                  /* of what the predicted state has of it */
} bramah__innovation_sums;

/* One more sample within the range of its sensor: an innovation x over its sigma; of its variance the shares that
 * considered states and the predicted state have. A rejected one is counted; summed too, no further out than `most`, where
 * that is not 0. */
void bramah__innovation_add(bramah__innovation_sums *sums, double x, double considered, double state,
                            int accepted, double most);
/* What follows it in time. */
void bramah__innovation_append(bramah__innovation_sums *sums, const bramah__innovation_sums *next);

/* One test. */
typedef struct bramah__innovation_result {
  int made;     /* 0: too few samples */
  double value; /* mean; of squares; correlation; share rejected [%] */
  double size;  /* how far from what is expected, in standard deviations of a normal variable */
  int matters;
} bramah__innovation_result;

/* Of a sensor, or of all together, of which only variances mean something; expected: mean square behind a gate. */
void bramah__innovation_judge(const bramah__innovation_sums *sums, int is_sensor, int has_gate,
                              double expected, bramah__innovation_result results[BRAMAH__TESTS]);

/* Size that a standard normal variable exceeds with this probability, 0 < p <= 0.5. */
double bramah__normal_beyond(double p);

#endif
