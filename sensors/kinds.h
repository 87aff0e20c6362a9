/* SPDX-License-Identifier: MIT */
/* The registry of sensors. A kind is one file that binds a description to outputs of the plant; prediction
 * and Jacobian are common to all (sensor.c). */
#ifndef BRAMAH_SENSORS_KINDS_H
#define BRAMAH_SENSORS_KINDS_H

#include "bramah/sensor.h"

typedef struct bramah__sensor_kind {
  bramah_sensor_kind kind;
  const char *name;
  const char *unit; /* unless the kind of the joint or output says otherwise */
  int group;        /* see bramah_sensor.group */
  bramah_status (*bind)(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                        bramah_sensor *out);
} bramah__sensor_kind;

extern const bramah__sensor_kind bramah__encoder;
extern const bramah__sensor_kind bramah__gyro;
extern const bramah__sensor_kind bramah__pressure;
extern const bramah__sensor_kind bramah__accelerometer;
extern const bramah__sensor_kind bramah__inclinometer;
extern const bramah__sensor_kind bramah__stroke;
extern const bramah__sensor_kind bramah__pressure_difference;
extern const bramah__sensor_kind bramah__flow;
extern const bramah__sensor_kind bramah__load_pin;
extern const bramah__sensor_kind bramah__any_output;

/* Terms of its first sum; the others are of the second. */
size_t bramah__sensor_first(const bramah_sensor *sensor);
/* What it shows of the sums of its terms, and the derivatives of that by these. */
double bramah__sensor_shown(const bramah_sensor *sensor, const double sum[2], double slope[2]);

/* Innovation: measured minus predicted, wrapped where the sensor measures an angle. */
double bramah__sensor_innovation(const bramah_sensor *sensor, double measured, double predicted);

/* Where its range counts as left, below or above: samples there or beyond are saturated; infinite without a range. */
double bramah__sensor_end(const bramah_sensor *sensor, int most);

/* Its derivative by a parameter of the plant, where the plant knows those of its outputs: else E_UNSUPPORTED. */
bramah_status bramah__sensor_slope(const bramah_sensor *sensor, const bramah_plant *plant, size_t parameter,
                                   double *out);

#define BRAMAH__TURN 6.28318530717958647693

/* Does the plant have an output "<at><suffix>"? 0 for at = NULL. */
int bramah__sensor_has(const bramah_plant *plant, const char *at, const char *suffix);

/* Make output "<at><suffix>" a term of the sensor. Returns E_REFERENCE if the plant has no such output. */
bramah_status bramah__sensor_add_term(const bramah_plant *plant, const char *at, const char *suffix,
                                      double weight, bramah_sensor *sensor);

/* Make the outputs "<at><stem>x", "y", "z" terms, weighted by the components of w; zero ones are left out. */
bramah_status bramah__sensor_add_vector(const bramah_plant *plant, const char *at, const char *stem,
                                        const double w[3], bramah_sensor *sensor);

/* out = axis / |axis|. Returns E_VALUE with "the <what> is not finite" or "... is zero". */
bramah_status bramah__sensor_unit_vector(const bramah_sensor_options *options, const char *what,
                                         const double axis[3], bramah_diag *diag, double out[3]);

/* An error of kind E_VALUE with the name and line of the sensor. */
bramah_status bramah__sensor_fail(const bramah_sensor_options *options, const char *message,
                                  bramah_diag *diag);

/* "there is no joint 'crnk'; did you mean 'crank'?", candidates being all outputs with that suffix. */
bramah_status bramah__sensor_no_such(const bramah_sensor_options *options, const bramah_plant *plant,
                                     const char *what, const char *suffix, bramah_diag *diag);

/* The same for a volume or the like that is not options->at. */
bramah_status bramah__sensor_no_other(const bramah_sensor_options *options, const char *at,
                                      const bramah_plant *plant, const char *what, const char *suffix,
                                      bramah_diag *diag);

#endif
