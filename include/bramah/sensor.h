/* SPDX-License-Identifier: MIT */
/* Sensors: what they measure, how they predict it from a plant and how sure they are. Each refers to outputs
 * of the plant, so it works with any plant that has them. */
#ifndef BRAMAH_SENSOR_H
#define BRAMAH_SENSOR_H

#include <stdint.h>
#include "bramah/plant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_sensor_kind {
  BRAMAH_SENSOR_ENCODER = 1, /* joint angle [rad] or position [m] */
  BRAMAH_SENSOR_GYRO = 2, /* angular rate of a body about an axis fixed in it [rad/s], or rate of a joint */
  BRAMAH_SENSOR_PRESSURE = 3 /* absolute pressure of a volume [Pa] */
} bramah_sensor_kind;

/* As the user describes it. Strings must live as long as the sensor. */
typedef struct bramah_sensor_options {
  const char *name;
  int line; /* of the file it was read from, 0: none */
  bramah_sensor_kind kind;
  const char *at;    /* encoder: joint; gyro: body, or joint where axis is zero; pressure: volume */
  double axis[3];    /* gyro: in body axes, any length; all zero: the rate of the joint `at` */
  double sigma;      /* standard deviation of one sample, > 0, in the unit of the sensor */
  int64_t period_ns; /* time between samples; 0: every step */
  int64_t delay_ns;  /* >= 0: a sample that arrives at t was measured at t - delay */
} bramah_sensor_options;

#define BRAMAH_SENSOR_MAX_TERMS 3

/* A sensor bound to the outputs of a plant: measured = sum of weight x output. Plain memory. */
typedef struct bramah_sensor {
  const char *name;
  const char *unit; /* "rad", "rad/s", "Pa", "m" */
  bramah_sensor_kind kind;
  int wraps; /* 1: an angle, innovations are taken to (-pi, pi] */
  size_t n_terms;
  size_t output[BRAMAH_SENSOR_MAX_TERMS];
  double weight[BRAMAH_SENSOR_MAX_TERMS];
  double sigma;
  int64_t period_ns;
  int64_t delay_ns; /* heeded by the replay; the filter fuses what it is given at the present time */
} bramah_sensor;

/* Names of the kinds ("encoder"), and back (0 if there is none of that name). Static storage. */
BRAMAH_API const char *bramah_sensor_kind_name(bramah_sensor_kind kind);
BRAMAH_API int bramah_sensor_kind_find(const char *name);
/* Unit of the measured quantity of a kind when bound to a revolute joint: "rad", "rad/s", "Pa". */
BRAMAH_API const char *bramah_sensor_kind_unit(bramah_sensor_kind kind);

/* Bind a description to a plant. Errors: E_REFERENCE (no such joint, body or volume), E_VALUE (sigma, axis).
 */
BRAMAH_API bramah_status bramah_sensor_init(const bramah_sensor_options *options, const bramah_plant *plant,
                                            bramah_diag *diag, bramah_sensor *out);

/* The measurement the plant predicts in its present state. */
BRAMAH_API double bramah_sensor_predict(const bramah_sensor *sensor, const bramah_plant *plant);

/* Innovation: measured minus predicted, wrapped where the sensor measures an angle. */
BRAMAH_API double bramah_sensor_innovation(const bramah_sensor *sensor, double measured, double predicted);

/* Row of the measurement Jacobian, H [n]: derivative of the prediction by the error state (dissertation 3.6).
 * Scratch: term [n], snap [plant->snapshot_size], dx [n]. */
BRAMAH_API bramah_status bramah_sensor_row(const bramah_sensor *sensor, const bramah_plant *plant, double *H,
                                           double *term, void *snap, double *dx, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
