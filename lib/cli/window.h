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
  uint64_t skipped;       /* rows before from_ns */
  uint64_t used_before;   /* rows up to after_ns */
  int begun;              /* a row was given */
  int64_t last_ns;        /* of the row read last */
  /* NULL, or what is to be done once the log has ended, before the replay is told: it stands then where more
   * rows could follow. */
  bramah_status (*at_end)(void *user, bramah_diag *diag);
  void *user;
} cli_window;

cli_window cli_window_make(cli_log_source *source);

/* bramah_source; user is the cli_window. Commands of rows that are skipped are in force at the first one
 * given. Errors: E_EMPTY (no row within the window). */
bramah_status cli_window_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

#endif
