/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A progress bar on standard error where that is a terminal; nothing elsewhere. And the clocks for the
 * summaries. */
#ifndef BRAMAH_LIB_CLI_PROGRESS_H
#define BRAMAH_LIB_CLI_PROGRESS_H

#include <stdint.h>

typedef struct cli_progress {
  int shown; /* standard error is a terminal */
  int drawn;
  int64_t total_ns;   /* simulated time to come; 0: unknown */
  double start, next; /* [s] of the clock */
} cli_progress;

cli_progress cli_progress_begin(int64_t total_ns);
/* So much simulated time is done; redraws at most ten times a second. */
void cli_progress_update(cli_progress *progress, int64_t done_ns);
/* Take the bar away. */
void cli_progress_end(cli_progress *progress);

/* A clock that only goes forward [s]. */
double cli_clock(void);

#endif
