/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensors of a study as outputs of the linear equations of a machine, behind those of the plant. */
#ifndef BRAMAH_LIB_CLI_LINEAR_SENSORS_H
#define BRAMAH_LIB_CLI_LINEAR_SENSORS_H

#include "bramah/study.h"
#include "bramah/linear.h"
#include "lib/cli/message.h"

typedef struct cli_linear_sensors {
  bramah_study *study;
  bramah_sensor *sensors; /* [study->n_sensors] */
  size_t *term;           /* [n_sensors x BRAMAH_SENSOR_MAX_TERMS] outputs of the linear system */
  bramah_linear_system system;
  double *C, *D, *y;
  const char **name, **unit;
} cli_linear_sensors;

/* Bind the sensors of the study to the plant and to the outputs of `base`. Released by
 * cli_linear_sensors_free, also after an error. */
bramah_status cli_linear_sensors_open(cli_linear_sensors *out, const char *study, const bramah_plant *plant,
                                      const bramah_linear_system *base, bramah_diag *diag);
void cli_linear_sensors_free(cli_linear_sensors *sensors);

/* out->system at what `base` holds now. */
void cli_linear_sensors_fill(cli_linear_sensors *out, const bramah_linear_system *base);

#endif
