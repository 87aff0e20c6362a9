/* SPDX-License-Identifier: MIT */
/* The registry of sensors. A kind is one file that binds a description to outputs of the plant; prediction
 * and Jacobian are common to all (sensor.c). */
#ifndef BRAMAH_SENSORS_KINDS_H
#define BRAMAH_SENSORS_KINDS_H

#include "bramah/sensor.h"

typedef struct bramah__sensor_kind {
  bramah_sensor_kind kind;
  const char *name;
  const char *unit;
  bramah_status (*bind)(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                        bramah_sensor *out);
} bramah__sensor_kind;

extern const bramah__sensor_kind bramah__encoder;
extern const bramah__sensor_kind bramah__gyro;
extern const bramah__sensor_kind bramah__pressure;

/* Make output "<at><suffix>" a term of the sensor. Returns E_REFERENCE if the plant has no such output. */
bramah_status bramah__sensor_add_term(const bramah_plant *plant, const char *at, const char *suffix,
                                      double weight, bramah_sensor *sensor);

/* "there is no joint 'crnk'; did you mean 'crank'?", candidates being all outputs with that suffix. */
bramah_status bramah__sensor_no_such(const bramah_sensor_options *options, const bramah_plant *plant,
                                     const char *what, const char *suffix, bramah_diag *diag);

#endif
