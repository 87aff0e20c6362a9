/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log held in memory, read once and replayed often by any number of threads; and the truth that goes with
 * it. */
#ifndef BRAMAH_LIB_CLI_TUNE_LOG_H
#define BRAMAH_LIB_CLI_TUNE_LOG_H

#include "bramah/replay.h"
#include "bramah/session.h"

typedef struct cli_tune_log {
  const char *path;
  size_t rows, n_inputs, n_sensors;
  int64_t *time_ns;                   /* [rows] */
  double *inputs, *y;                 /* [rows x n_inputs], [rows x n_sensors] */
  unsigned char *has_input, *present; /* the same */
  const char *truth_path;             /* NULL: none */
  size_t truth_rows, n_outputs;
  int64_t *truth_ns; /* [truth_rows] */
  double *truth;     /* [truth_rows x n_outputs] NaN: nothing there */
  double *largest;   /* [n_outputs] magnitude of the truth */
  uint64_t hash;     /* of all of it */
} cli_tune_log;

/* Read a log by the columns that the session's study names. Released by cli_tune_log_free in any case.
 * Errors: those of cli_log_source; E_EMPTY (fewer than two rows). */
bramah_status cli_tune_log_read(cli_tune_log *log, const char *path, const bramah_session *session,
                                bramah_diag *diag);
/* And the truth: outputs [n] of the plant by name. Errors: those of cli_truth; E_COLUMN. */
bramah_status cli_tune_log_read_truth(cli_tune_log *log, const char *path, const bramah_plant *plant,
                                      size_t n, const size_t *outputs, bramah_diag *diag);
void cli_tune_log_free(cli_tune_log *log);

/* Value of output i of the truth nearest to a time, or NaN beyond `tolerance`; times ascend with one *row,
 * which begins at 0. */
double cli_tune_log_truth(const cli_tune_log *log, int64_t time_ns, int64_t tolerance_ns, size_t i,
                          size_t *row);

/* The log as the source of one replay. Samples that arrive late stand where they were measured, so that
 * nothing has to be made again. */
typedef struct cli_tune_cursor {
  const cli_tune_log *log;
  int64_t end_ns;    /* later rows are not read */
  size_t input;      /* next row of the commands */
  size_t *next;      /* [n_sensors] next row of each sensor */
  int64_t *delay_ns; /* [n_sensors] */
  double *shift;     /* [n_sensors] added to the samples */
  int any_delay;
} cli_tune_cursor;

/* delay_ns and shift [n_sensors] are copied; the first `thousandths` of the log's time are read. Released by
 * cli_tune_cursor_close. */
bramah_status cli_tune_cursor_open(cli_tune_cursor *cursor, const cli_tune_log *log, const int64_t *delay_ns,
                                   const double *shift, int thousandths, bramah_diag *diag);
void cli_tune_cursor_close(cli_tune_cursor *cursor);
/* bramah_source; user is the cli_tune_cursor. */
bramah_status cli_tune_cursor_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* FNV-1a, continued from a former hash (0: a new one). */
uint64_t cli_tune_hash(uint64_t hash, const void *data, size_t n);

#endif
