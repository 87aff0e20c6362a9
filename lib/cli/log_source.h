/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log as the source of a replay: which column feeds which input and sensor, and times in whole nanoseconds.
 */
#ifndef BRAMAH_LIB_CLI_LOG_SOURCE_H
#define BRAMAH_LIB_CLI_LOG_SOURCE_H

#include "bramah/log.h"
#include "bramah/replay.h"
#include "lib/cli/session.h"

typedef struct cli_log_source {
  bramah_log_reader *reader;
  size_t time;     /* column */
  size_t *inputs;  /* [n_inputs] columns */
  size_t *sensors; /* [n_sensors] columns */
  size_t n_inputs, n_sensors;
  double *values;         /* [columns] of the row read last */
  unsigned char *present; /* [columns] */
  double seconds;         /* of the clock, spent reading */
} cli_log_source;

/* Open a log and make room; then find the columns. Released by cli_log_source_close in any case. */
bramah_status cli_log_source_open(cli_log_source *source, const char *path, size_t n_inputs, size_t n_sensors,
                                  bramah_diag *diag);
void cli_log_source_close(cli_log_source *source);

bramah_status cli_log_source_find_time(cli_log_source *source, const bramah_study *study, bramah_diag *diag);
bramah_status cli_log_source_find_input(cli_log_source *source, const bramah_study *study, const char *input,
                                        size_t i, bramah_diag *diag);
bramah_status cli_log_source_find_sensor(cli_log_source *source, const bramah_study *study,
                                         const bramah_sensor *sensor, size_t i, bramah_diag *diag);
/* All of them. */
bramah_status cli_log_source_bind(cli_log_source *source, const cli_session *session, bramah_diag *diag);

/* Next row and its time; *end = 1 at the end. */
bramah_status cli_log_source_row(cli_log_source *source, int64_t *time_ns, int *end, bramah_diag *diag);

/* bramah_source; user is the cli_log_source. */
bramah_status cli_log_source_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* A time of a row as whole nanoseconds. */
bramah_status cli_log_time(const bramah_log_reader *reader, size_t column, const double *values,
                           const unsigned char *present, int64_t *time_ns, bramah_diag *diag);

/* First cell of the last line of a file as seconds, for the progress bar; NaN if it cannot be had. */
double cli_log_last_time(const char *path);

#endif
