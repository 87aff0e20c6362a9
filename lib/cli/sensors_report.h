/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the report shows of each sensor: its measurements over their predictions, innovations, how near they
 * came to the gate, their autocorrelation; gates, ranges and gaps as events. */
#ifndef BRAMAH_LIB_CLI_SENSORS_REPORT_H
#define BRAMAH_LIB_CLI_SENSORS_REPORT_H

#include "bramah/report.h"
#include "bramah/assess.h"
#include "bramah/session.h"

typedef struct cli_sensor_report {
  const char *name;
  const char *unit;                      /* as shown */
  double factor;                         /* from SI to it */
  double gate;                           /* 0: none */
  size_t prediction, innovation, ratio;  /* plots */
  bramah_autocorrelation whiteness;      /* of the normalised innovations that were fused */
  uint64_t samples, held_back, at_range; /* the latter two: in a row at present */
  double last, usual; /* time of the last sample; usual time between two [s], 0: not known yet */
} cli_sensor_report;

typedef struct cli_sensors_report {
  bramah_report *report; /* borrowed */
  size_t n;
  double step; /* [s] */
  cli_sensor_report *sensor;
} cli_sensors_report;

/* Make the plots. Released by cli_sensors_report_free in any case. */
bramah_status cli_sensors_report_init(cli_sensors_report *sensors, bramah_report *report,
                                      const bramah_session *session, bramah_diag *diag);
void cli_sensors_report_free(cli_sensors_report *sensors);

/* A sample measured at t [s]: its value [SI] and innovation. One that comes later than its successors is not
 * drawn. */
bramah_status cli_sensors_report_add(cli_sensors_report *sensors, size_t i, double t, double value,
                                     const bramah_innovation *innovation);

/* At the end: the autocorrelations. */
bramah_status cli_sensors_report_finish(cli_sensors_report *sensors);

#endif
