/* SPDX-License-Identifier: MIT */
/* Error-state (indirect) extended Kalman filter on any plant. Source: dissertation 3.1-3.18, spec
 * equations 5.
 *
 * One cycle: bramah_filter_set_inputs (held over the coming step), bramah_filter_predict (plant step, P = F P
 * F' + Q), bramah_filter_correct (fuse what was measured at the new time, inject the estimated errors into
 * the plant). After a successful init nothing allocates. */
#ifndef BRAMAH_FILTER_H
#define BRAMAH_FILTER_H

#include "bramah/plant.h"
#include "bramah/sensor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_transition {
  BRAMAH_TRANSITION_PAPER = 1 /* D 3.4 by finite differences; pressure errors are frozen */
} bramah_transition;

/* Standard deviations in the plant's own units. Arrays are copied. `basis` says in which coordinates the
 * position, velocity and acceleration figures are meant: n_position indices of outputs of kind POSITION
 * whose velocities are the outputs that follow them; NULL means the coordinates that are independent at
 * init. They keep that meaning when the plant goes over to other independent coordinates. Where the plant
 * has a noise_row for such an output the figures mean that displacement, its rate and acceleration: for
 * the angles of spherical and floating joints small turns of the body about its own axes. */
typedef struct bramah_filter_options {
  bramah_transition transition;
  const size_t *basis;          /* [n_position] or NULL */
  const double *position_sigma; /* [n_position] initial, rad or m, > 0 */
  const double *velocity_sigma; /* [n_position] initial, rad/s or m/s, > 0 */
  const double *pressure_sigma; /* [n_pressure] initial, Pa, > 0 */
  const double
      *acceleration_noise;      /* [n_position] square root of the density, rad/s^2/sqrt(Hz), >= 0 (D 3.18) */
  const double *pressure_noise; /* [n_pressure] square root of the density, Pa/sqrt(s), >= 0: each step adds
                                   its square times the step to the variance */
} bramah_filter_options;

typedef struct bramah_filter bramah_filter;

/* What the last correction did, per sensor. Valid until the next call on the filter. */
typedef struct bramah_innovation {
  int present;       /* 1: a measurement was given for this sensor */
  double innovation; /* y = measured - predicted, before any correction at this time (D 3.5) */
  double sigma;      /* square root of its predicted variance S (D 3.6) */
  double nis;        /* y^2 / S: chi-square with 1 degree of freedom if the filter is consistent */
} bramah_innovation;

/* Bytes for a filter of this plant with so many sensors; create it there (aligned to 64) or in memory taken
 * once. The plant table and the sensors are copied; the plant object behind the table and the strings must
 * outlive the filter. Errors: E_VALUE (a standard deviation), E_SINGULAR (the basis does not determine the
 * motion), E_ARGUMENT (memory too small). */
BRAMAH_API size_t bramah_filter_size(const bramah_plant *plant, size_t n_sensors);
BRAMAH_API bramah_status bramah_filter_init(const bramah_plant *plant, size_t n_sensors,
                                            const bramah_sensor *sensors,
                                            const bramah_filter_options *options, void *mem, size_t size,
                                            bramah_diag *diag, bramah_filter **out);
BRAMAH_API bramah_status bramah_filter_new(const bramah_plant *plant, size_t n_sensors,
                                           const bramah_sensor *sensors, const bramah_filter_options *options,
                                           bramah_diag *diag, bramah_filter **out);
BRAMAH_API void bramah_filter_free(bramah_filter *filter); /* NULL allowed; only for bramah_filter_new */

/* Inputs u [n_input] held from now on. */
BRAMAH_API bramah_status bramah_filter_set_inputs(bramah_filter *filter, const double *u, bramah_diag *diag);

/* One plant step and the covariance with it (D 3.3). On error plant and covariance are as before the call.
 * Errors: those of the plant; E_NOT_FINITE, E_NOT_SPD name the state. */
BRAMAH_API bramah_status bramah_filter_predict(bramah_filter *filter, bramah_diag *diag);

/* Fuse measurements y [n_sensors] at the present time; present[i] = 0 leaves sensor i out. Corrections are
 * scalar, in the order of the sensors, with the Joseph form; then the errors are injected (D 3.5-3.16). On
 * error plant and covariance are as before the call. Errors: E_NOT_FINITE names the sensor; E_NOT_SPD the
 * state; those of inject. */
BRAMAH_API bramah_status bramah_filter_correct(bramah_filter *filter, const double *y,
                                               const unsigned char *present, bramah_diag *diag);

/* Results of the last correction: [n_sensors]; and over all present sensors y' S^-1 y with its degrees of
 * freedom. */
BRAMAH_API const bramah_innovation *bramah_filter_innovations(const bramah_filter *filter);
BRAMAH_API double bramah_filter_nis(const bramah_filter *filter, size_t *degrees_of_freedom);

/* Covariance of the error state P [n x n] row-major, in the plant's present independent coordinates. */
BRAMAH_API const double *bramah_filter_covariance(const bramah_filter *filter);

/* What smoothers and analyses need of the last cycle. F [n x n]: transition of the last predict, from the coordinates
 * before it to those after it (a change of independent coordinates included). H [n_sensors x n]: measurement rows of
 * the last correct, those of present sensors. dx [n]: the errors it injected (zeros if nothing was measured). */
BRAMAH_API size_t bramah_filter_n_error(const bramah_filter *filter);
BRAMAH_API const double *bramah_filter_last_transition(const bramah_filter *filter);
BRAMAH_API const double *bramah_filter_last_rows(const bramah_filter *filter);
BRAMAH_API const double *bramah_filter_last_correction(const bramah_filter *filter);

/* Standard deviation of output i of the plant, sqrt(h P h'); NaN where the output has no row. */
BRAMAH_API double bramah_filter_output_sigma(bramah_filter *filter, size_t i);

/* Time since init, the plant, the sensors. */
BRAMAH_API int64_t bramah_filter_time_ns(const bramah_filter *filter);
BRAMAH_API const bramah_plant *bramah_filter_plant(const bramah_filter *filter);
BRAMAH_API size_t bramah_filter_n_sensors(const bramah_filter *filter);
BRAMAH_API const bramah_sensor *bramah_filter_sensor(const bramah_filter *filter, size_t i);

/* The whole state, plant included, copied to and from snap [size bytes, 8-byte aligned], exact to the bit. */
BRAMAH_API size_t bramah_filter_snapshot_size(const bramah_filter *filter);
BRAMAH_API void bramah_filter_save(const bramah_filter *filter, void *snap);
BRAMAH_API void bramah_filter_restore(bramah_filter *filter, const void *snap);

#ifdef __cplusplus
}
#endif
#endif
