/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log as the source of a replay: files of several devices merged by time, columns made into inputs and
 * measurements. */
#ifndef BRAMAH_LIB_CLI_LOG_SOURCE_H
#define BRAMAH_LIB_CLI_LOG_SOURCE_H

#include "bramah/log.h"
#include "bramah/replay.h"
#include "lib/cli/log_stream.h"
#include "bramah/session.h"

typedef struct cli_log_source {
  const bramah_study *study; /* NULL: none */
  cli_log_paths paths;
  cli_log_stream *streams; /* one per device */
  unsigned char *waiting;  /* [n_streams] 1: the stream's row was not given yet */
  size_t n_streams;
  size_t n_inputs, n_sensors;
  double *y;           /* [n_sensors] of the row given last, NaN: no sample */
  uint64_t *held_rows; /* [n_inputs] rows in which the command had no cell and was held */
  uint64_t rows;       /* given */
  uint64_t mark;       /* of the row given last; also the sample's */
  double seconds;      /* of the clock, spent reading */
  int begun;
  int64_t *expected; /* [n_expected] see cli_log_source_expect; NULL: nothing is */
  size_t n_expected;
} cli_log_source;

/* Open a log of n files or folders and make room; then find the columns. Files whose names match one entry of
 * log.files follow each other, as do files that match none and have the same header; what is left is merged
 * by time. study NULL: none. Released by cli_log_source_close in any case. */
bramah_status cli_log_source_open(cli_log_source *source, const bramah_study *study, size_t n,
                                  const char *const *names, size_t n_inputs, size_t n_sensors,
                                  bramah_diag *diag);
void cli_log_source_close(cli_log_source *source);

bramah_status cli_log_source_find_time(cli_log_source *source, size_t stream, bramah_diag *diag);
/* An unknown input has no column and is held at 0. */
bramah_status cli_log_source_find_input(cli_log_source *source, const char *input, size_t i,
                                        bramah_diag *diag);
bramah_status cli_log_source_find_sensor(cli_log_source *source, const bramah_sensor *sensor, size_t i,
                                         bramah_diag *diag);
/* All of them. */
bramah_status cli_log_source_bind(cli_log_source *source, const bramah_session *session, bramah_diag *diag);

/* What the clocks of the devices showed in their first rows: out [n_streams] [ns]. */
void cli_log_source_starts(const cli_log_source *source, int64_t *out);
/* Begin where such clocks showed the same [n], or fail with E_TIME: asked of devices that count something
 * from their first row (dates, drift, wraps, resets), which without those rows would be shifted. n 0:
 * nothing. */
bramah_status cli_log_source_expect(cli_log_source *source, size_t n, const int64_t *starts,
                                    bramah_diag *diag);

/* bramah_source; user is the cli_log_source. Rows of several devices that have the same time are one. */
bramah_status cli_log_source_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* File and line of a row; mark as in source->mark. */
const char *cli_log_source_path(const cli_log_source *source, uint64_t mark);
int cli_log_source_line(const cli_log_source *source, uint64_t mark);
/* The stream and target that feed a slot (inputs first, then sensors); NULL: nothing does. */
const cli_log_target *cli_log_source_target(const cli_log_source *source, size_t slot,
                                            const cli_log_stream **stream);
/* 1 if something was dropped, held back, put in order, joined or taken for empty. */
int cli_log_source_is_touched(const cli_log_source *source);

/* Share of the files that was read, for the progress bar; NaN where it cannot be had. */
double cli_log_source_share(const cli_log_source *source);
/* The log's last time [ns], by reading it all beforehand: 0 in *known where it cannot be read twice. */
bramah_status cli_log_source_last_time(const bramah_session *session, size_t n, const char *const *names,
                                       int64_t *time_ns, int *known, bramah_diag *diag);

/* A time of a row as whole nanoseconds. */
bramah_status cli_log_time(const bramah_log_reader *reader, size_t column, const double *values,
                           const unsigned char *present, int64_t *time_ns, bramah_diag *diag);

#endif
