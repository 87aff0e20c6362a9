/* SPDX-License-Identifier: MIT */
/* Noise that the filter finds out while it runs: process noise of accelerations and first-order states and,
 * only if asked, standard deviations of sensors, from the innovations of a window of corrections.
 *
 * One cycle: bramah_filter_predict, bramah_adaptive_predicted; bramah_filter_correct,
 * bramah_adaptive_corrected, which now and then gives the filter new noise. Nothing else of the filter
 * changes. Nothing allocates after init.
 *
 * Two methods, for the variances theta (spectral densities of process noise, variances of measurement
 * noise) over the corrections k of the window, with innovations v and their covariance S = H P- H' + R:
 *
 *   likelihood  zero of the derivative of the likelihood of the innovations,
 *               sum_k v' S^-1 S_j S^-1 v - tr(S^-1 S_j) - 2 v' S^-1 v_j = 0,
 *               S_j = H D_j H' (of a sensor: + its place in R), v_j = -H E_j, by Fisher's scoring. D_j =
 *               dP-/dtheta_j and E_j = dx-/dtheta_j are carried along with the filter. Source: Maybeck,
 *               Stochastic Models, Estimation and Control 2 (1982), chapter 10.
 *   matching    Q = mean(dx dx') + P+ - F P+ F', R = mean(v v') - H P- H'. Source: Mohamed and Schwarz,
 *               "Adaptive Kalman filtering for INS/GPS", Journal of Geodesy 73 (1999), who take D_j for
 *               dQ/dtheta_j and E_j for zero; on multibody models: Rodriguez, Sanjurjo, Pastorino, Naya,
 *               "Multibody-based input and state observers using adaptive extended Kalman filter", Sensors
 *               21 (2021). Theta is fitted to the diagonals of Q and of R by weighted least squares. Slow,
 *               and wanting a long window, where a sensor says little of a state in one step.
 *
 * F and Q run over all steps since the correction before.
 *
 * Noise covers what is random. Where innovations have a mean that chance does not make, the model or a sensor is
 * wrong, and noise found from them would hide it: nothing gets smaller by such a window, and what had got smaller
 * than it was given goes back to that (bramah_adaptive_bias). Correlated innovations are no such sign by
 * themselves, since noise that is wrong makes them: such windows are used, and counted. */
#ifndef BRAMAH_ADAPTIVE_H
#define BRAMAH_ADAPTIVE_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_adaptive_method {
  BRAMAH_ADAPTIVE_LIKELIHOOD = 0,
  BRAMAH_ADAPTIVE_MATCHING = 1
} bramah_adaptive_method;

/* Limits are in the units of the filter's options: rad/s^2/sqrt(Hz) or m/s^2/sqrt(Hz), Pa/sqrt(s), the
 * sensor's unit; 0 < least < most. A pair of zeros leaves that value alone, a NULL all of its kind. At
 * least one must adapt. With gates a sensor's sigma is found too small where large innovations are
 * rejected: start it too large.
 *
 * Values that the sensors see alike cannot be separated, and one that they hardly see (the noise of a
 * pressure that follows its neighbours within a step) wanders between its limits: leave it alone. What
 * they do not see at all stays as it is. The method takes the noise for white; of a coloured disturbance
 * it finds the spectral density with which the innovations have the right size, see datasets/README.md on
 * shaping filters. */
typedef struct bramah_adaptive_options {
  bramah_adaptive_method method;
  size_t window;     /* corrections, 10 to 10^6; 0 means 200 */
  size_t every;      /* corrections between changes; 0: a tenth of the window */
  double forgetting; /* weight of a correction by that of the next, 0 < f <= 1; 0 means 1 */
  double smoothing;  /* share of the former variance in the new one, 0 <= s < 1 */
  const double *acceleration_least, *acceleration_most; /* [n_dof] in the basis of the filter's options */
  const double *first_order_least, *first_order_most;   /* [n_first_order] */
  const double *sensor_least, *sensor_most;             /* [n_sensors] */
} bramah_adaptive_options;

/* The likelihood over a window of 200, changed each tenth of it; the limits are left to give. */
BRAMAH_API void bramah_adaptive_options_default(bramah_adaptive_options *options);

typedef struct bramah_adaptive bramah_adaptive;

/* Memory is taken here, once; the filter must outlive it; arrays are copied. Noise of the filter outside the
 * limits is brought to the nearer one. While it is in use it alone may change the noise that adapts. Errors:
 * E_VALUE (options), E_MEMORY. */
BRAMAH_API bramah_status bramah_adaptive_new(bramah_filter *filter, const bramah_adaptive_options *options,
                                             bramah_diag *diag, bramah_adaptive **out);
BRAMAH_API void bramah_adaptive_free(bramah_adaptive *adaptive); /* NULL allowed */

/* After each successful bramah_filter_predict. */
BRAMAH_API void bramah_adaptive_predicted(bramah_adaptive *adaptive);

/* After each successful bramah_filter_correct. Rejected samples are left out, and a correction that made the
 * filter recover is not used. Returns 1 if the filter has new noise from now on, else 0. */
BRAMAH_API int bramah_adaptive_corrected(bramah_adaptive *adaptive);

typedef enum bramah_adaptive_kind {
  BRAMAH_ADAPTIVE_ACCELERATION = 1,
  BRAMAH_ADAPTIVE_FIRST_ORDER = 2,
  BRAMAH_ADAPTIVE_SENSOR = 3
} bramah_adaptive_kind;

/* One value that adapts. */
typedef struct bramah_adaptive_value {
  bramah_adaptive_kind kind;
  size_t index; /* of the acceleration in the basis, pressure, sensor */
  double value; /* present root of a spectral density, or standard deviation of the measurement noise */
  double least, most;
  /* Standard deviation of value by the window's information (inverse Fisher matrix) at the last change;
   * likelihood only, else NaN; NaN before the first change. */
  double sigma;
  int limited; /* 1: the last change was held at a limit */
} bramah_adaptive_value;

/* A mean innovation of a sensor is a bias beyond so many of its standard deviations, which are those by the scatter
 * and the correlation of the innovations themselves. They are remembered over one window (200 of its samples at
 * least) and over fifty, weights falling off exponentially. */
enum { BRAMAH_ADAPTIVE_BIASED = 6 };

/* What was found of one sensor. */
typedef struct bramah_adaptive_bias {
  uint64_t windows;  /* with a bias of this sensor */
  uint64_t coloured; /* whose correlation at lag 1 was beyond as many of its standard deviations */
  double now;        /* mean in its standard deviations, of the memory in which that is more */
  double worst;      /* that of the worst window */
} bramah_adaptive_bias;

/* Counts since init, and what adapts. */
typedef struct bramah_adaptive_report {
  uint64_t corrections; /* used */
  uint64_t skipped;     /* corrections that made the filter recover, or whose S was not positive */
  uint64_t changes;     /* times the filter was given new noise */
  uint64_t windows;     /* that were there to change it, each a tenth further than the last (`every`) */
  uint64_t biased;      /* of them made noise only larger: some sensor has a bias */
  size_t n_sensors;
  const bramah_adaptive_bias *bias; /* [n_sensors] of the filter */
  size_t n_values;
  const bramah_adaptive_value *value; /* [n_values] accelerations, then first-order states, then sensors */
} bramah_adaptive_report;

/* All of it. */
BRAMAH_API bramah_adaptive_report bramah_adaptive_get_report(const bramah_adaptive *adaptive);

/* The whole state, window and present noise included, to and from snap [size bytes, 8-byte aligned], exact to
 * the bit. Save and restore it together with the filter; restoring gives the filter the noise of then. Sealed
 * and checked like snapshots of a filter, the same errors. bramah_rewind does not restore it: its steps back
 * would be counted as new ones, so the two do not go together. */
BRAMAH_API size_t bramah_adaptive_snapshot_size(const bramah_adaptive *adaptive);
BRAMAH_API void bramah_adaptive_save(const bramah_adaptive *adaptive, void *snap);
BRAMAH_API bramah_status bramah_adaptive_restore(bramah_adaptive *adaptive, const void *snap);
BRAMAH_API bramah_status bramah_adaptive_check_snapshot(const bramah_adaptive *adaptive, const void *snap,
                                                        size_t size, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
