/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which part of a log a replay is given: from a time on, or what comes after a snapshot. */
#ifndef BRAMAH_LIB_CLI_WINDOW_H
#define BRAMAH_LIB_CLI_WINDOW_H

#include "lib/cli/log_source.h"

/* Stands between a log and its replay. */
typedef struct cli_window {
  cli_log_source *source;
  int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: no limit */
  int64_t after_ns;       /* rows up to this time were used before; INT64_MIN: none */
  int piped;              /* when the run is stopped, the row read last may be half of one */
  uint64_t skipped;       /* rows before from_ns */
  uint64_t used_before;   /* rows up to after_ns */
  int begun;              /* a row was given */
  int64_t last_ns;        /* of the row read last */
  double *held;           /* [n_inputs] last commands of the rows skipped */
  unsigned char *known;   /* [n_inputs] there was one */
} cli_window;

/* No limits. Released by cli_window_free in any case. */
bramah_status cli_window_init(cli_window *window, cli_log_source *source, bramah_diag *diag);
void cli_window_free(cli_window *window);

/* bramah_source; user is the cli_window. Commands of rows that are skipped are in force at the first one
 * given. Errors: E_EMPTY (no row within the window). */
bramah_status cli_window_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

#endif
