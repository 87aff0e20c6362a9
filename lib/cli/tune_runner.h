/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One filter that replays one log, and its innovations: a chunk of steps at a time, so that several that run
 * along may do their chunks on several threads. */
#ifndef BRAMAH_LIB_CLI_TUNE_RUNNER_H
#define BRAMAH_LIB_CLI_TUNE_RUNNER_H

#include "bramah/replay.h"
#include "lib/cli/tune_lab.h"

/* Steps of a chunk: some tenths of a millisecond, much longer than it takes to share them out. */
enum { CLI_TUNE_CHUNK = 64 };

/* One correction. */
typedef struct cli_tune_seen {
  const bramah_innovation *innovation; /* [n_sensors] */
  const double *S;                     /* [n_sensors x n_sensors] covariance of those present */
} cli_tune_seen;

/* One step of the chunk, and its corrections: a log faster than the step brings several. */
typedef struct cli_tune_step {
  int64_t time_ns;
  size_t first, n_seen;
} cli_tune_step;

typedef struct cli_tune_runner cli_tune_runner;

/* Who else wants to know: after a step of the filter before its correction, and after it. NULL: nobody. */
typedef struct cli_tune_hooks {
  void *user;
  bramah_status (*predicted)(void *user, bramah_diag *diag);
  void (*stepped)(void *user, const cli_tune_step *step);
} cli_tune_hooks;

struct cli_tune_runner {
  size_t n_sensors;
  cli_tune_session opened;
  cli_tune_cursor cursor;
  bramah_replay *replay;
  cli_tune_hooks hooks;
  double *P;      /* [n_error x n_error] before the coming correction */
  double *column; /* [n_error] */
  /* The last chunk; it ends early where the log ends, or with an error. */
  size_t n_steps, n_seen, room;
  cli_tune_step steps[CLI_TUNE_CHUNK];
  bramah_innovation *innovations; /* [room x n_sensors] */
  double *S;                      /* [room x n_sensors x n_sensors] */
  int end;
  bramah_status status;
  bramah_diag diag;
};

/* A runner for this set of values over the first `thousandths` of a log. Released by cli_tune_runner_close in
 * any case. Errors: those of cli_tune_session_open, E_MEMORY. */
bramah_status cli_tune_runner_open(cli_tune_runner *runner, const cli_tune_lab *lab, size_t log,
                                   int thousandths, const char *set, bramah_diag *diag);
void cli_tune_runner_close(cli_tune_runner *runner);
/* The next chunk. What goes wrong is in `status` and `diag`, after the steps before it. */
void cli_tune_runner_go(cli_tune_runner *runner);
/* Correction k of the chunk. */
cli_tune_seen cli_tune_runner_seen(const cli_tune_runner *runner, size_t k);

#endif
