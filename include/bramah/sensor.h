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
  BRAMAH_SENSOR_PRESSURE = 3, /* absolute pressure of a volume [Pa] */
  /* Specific force, the acceleration minus gravity of a point of a body along an axis fixed in the body
   * [m/s^2]: at rest it shows +g along an axis that points up. */
  BRAMAH_SENSOR_ACCELEROMETER = 4,
  /* Angle of a direction fixed in a body against the horizontal plane [rad], positive when it points up
   * against gravity: the boom angle of an excavator. Alone it lies in [-pi/2, pi/2] and does not tell a boom
   * that leans over backwards from one that leans forwards. With `about`, an axis fixed in the body across
   * the direction, it is the angle by which the direction has turned about that axis, by the right-hand rule,
   * from where it was horizontal: any angle, innovations wrap. Should the axis lean, it is the angle in the
   * plane across it, what a device with two accelerometers in that plane reads. It is the true angle; a
   * device that takes any specific force for gravity is better described by accelerometers. Needs gravity. */
  BRAMAH_SENSOR_INCLINOMETER = 5,
  BRAMAH_SENSOR_STROKE = 6,              /* stroke of a cylinder [m] */
  BRAMAH_SENSOR_PRESSURE_DIFFERENCE = 7, /* pressure of one volume less that of another [Pa] */
  /* Flow through an orifice, leakage, check valve, relief valve or pump in the direction of its description,
   * or out of a directional valve into its port a or b [m^3/s]. */
  BRAMAH_SENSOR_FLOW = 8,
  /* Force of a cylinder on its pins [N], positive pushes them apart: pressures times areas less friction, and
   * stops. */
  BRAMAH_SENSOR_LOAD_PIN = 9,
  /* Any output of the plant by its whole name ("motor.current"), in its unit, that follows from the state
   * (bramah_output_info.has_row): what plants of others have. */
  BRAMAH_SENSOR_OUTPUT = 10
} bramah_sensor_kind;

/* The port of a directional valve a flow meter sits at. */
typedef enum bramah_sensor_port {
  BRAMAH_SENSOR_PORT_NONE = 0,
  BRAMAH_SENSOR_PORT_A = 1,
  BRAMAH_SENSOR_PORT_B = 2
} bramah_sensor_port;

/* As the user describes it. Strings must live as long as the sensor. */
typedef struct bramah_sensor_options {
  const char *name;
  int line; /* of the file it was read from, 0: none */
  bramah_sensor_kind kind;
  /* encoder: joint; gyro: body, or joint where axis is zero; accelerometer, inclinometer: body; pressure,
   * pressure difference: volume; stroke, load pin: cylinder; flow: element */
  const char *at;
  /* In body axes, any length. gyro: all zero: the rate of the joint `at`; inclinometer: the direction whose
   * angle it tells. */
  double axis[3];
  double sigma;      /* measurement noise: standard deviation of one sample, > 0, in the unit of the sensor */
  int64_t period_ns; /* time between samples; 0: every step */
  int64_t delay_ns;  /* >= 0: a sample that arrives at t was measured at t - delay */
  double point[3];   /* accelerometer: where it sits, in the body frame [m] */
  /* inclinometer: in body axes, any length; only its part across `axis` counts; all zero: none */
  double about[3];
  const char *less;        /* pressure difference: the volume whose pressure goes off */
  bramah_sensor_port port; /* flow: of a directional valve */
  double resolution;       /* >= 0 step in which the device tells its measurement, 0: none to speak of */
  double least, most;      /* range of the device, in the unit of the sensor; both 0: no limits */
} bramah_sensor_options;

/* All zero: nothing is named, no resolution, no limits; kind, name, what it is at and sigma are left to
 * give. */
BRAMAH_API void bramah_sensor_options_default(bramah_sensor_options *options);

#define BRAMAH_SENSOR_MAX_TERMS 12

/* How the sums over the terms become the measurement. */
typedef enum bramah_sensor_shape {
  BRAMAH_SENSOR_SUM = 0,     /* the sum of all terms */
  BRAMAH_SENSOR_ARCSINE = 1, /* its arc sine */
  BRAMAH_SENSOR_ANGLE = 2    /* atan2 of the sum of the first terms and the sum of the others */
} bramah_sensor_shape;

/* A sensor bound to the outputs of a plant: measured = shape of sums of weight x output. Plain memory. */
typedef struct bramah_sensor {
  const char *name;
  const char *unit; /* "rad", "rad/s", "Pa", "m", "m/s^2", "m^3/s", "N" */
  bramah_sensor_kind kind;
  double period; /* > 0: values this far apart are the same (an angle: 2 pi), innovations wrap; 0: none */
  /* Sensors of one group check each other: should all of it disagree with the filter, it is the filter that
   * is wrong. 0: motion; 1: pressures, flows, forces and whatever else */
  int group;
  size_t n_terms;
  size_t output[BRAMAH_SENSOR_MAX_TERMS];
  double weight[BRAMAH_SENSOR_MAX_TERMS];
  double sigma;
  int64_t period_ns;
  int64_t delay_ns; /* heeded by the replay; the filter fuses what it is given at the present time */
  bramah_sensor_shape shape;
  size_t n_first; /* BRAMAH_SENSOR_ANGLE: terms of the first sum */
  double resolution, least, most;
} bramah_sensor;

/* Name of a kind ("encoder", "load-pin"). Static storage. */
BRAMAH_API const char *bramah_sensor_kind_name(bramah_sensor_kind kind);
/* What a study calls the place of such a sensor: "volume", "cylinder", "body" (where it has an axis) or "joint". Static storage. */
BRAMAH_API const char *bramah_sensor_place_key(const bramah_sensor_options *options);

/* Bind a description to a plant. Errors: E_REFERENCE (no such joint, body, volume, cylinder or element),
 * E_VALUE (sigma, axis, resolution, range; an inclinometer without gravity). */
BRAMAH_API bramah_status bramah_sensor_init(const bramah_sensor_options *options, const bramah_plant *plant,
                                            bramah_diag *diag, bramah_sensor *out);

/* The measurement the plant predicts in its present state. */
BRAMAH_API double bramah_sensor_predict(const bramah_sensor *sensor, const bramah_plant *plant);

/* Variance of one sample: sigma^2, and resolution^2 / 12 of the rounding, taken as uniform. */
BRAMAH_API double bramah_sensor_variance(const bramah_sensor *sensor);

/* What the device tells of the value y: rounded to the nearest multiple of its resolution, then held within
 * its range. */
BRAMAH_API double bramah_sensor_digitize(const bramah_sensor *sensor, double y);

/* 1 if a sample is at an end of the range or beyond, within half a resolution step or 1e-9 of the larger
 * limit: it tells that the value is out there somewhere, not where, and is no measurement to fuse. */
BRAMAH_API int bramah_sensor_is_saturated(const bramah_sensor *sensor, double y);

/* Row of the measurement Jacobian, H [n]: derivative of the prediction by the error state (dissertation 3.6).
 * Scratch: term [n], snap [plant->snapshot_size], dx [n]. The arc sine of an inclinometer without `about` has
 * a fold where the direction is vertical: there its row vanishes. */
BRAMAH_API bramah_status bramah_sensor_row(const bramah_sensor *sensor, const bramah_plant *plant, double *H,
                                           double *term, void *snap, double *dx, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
