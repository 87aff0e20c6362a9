/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The backward pass of a replay: what it keeps of each step, the file it writes, its errors against the
 * truth. */
#ifndef BRAMAH_LIB_CLI_SMOOTH_H
#define BRAMAH_LIB_CLI_SMOOTH_H

#include "bramah/replay.h"
#include "bramah/smoother.h"
#include "lib/cli/accuracy.h"

typedef struct cli_smooth {
  bramah_smoother *smoother;
  bramah_replay *replay;
  int64_t last_ns;      /* end of the log, as its last line says */
  int64_t first_ns;     /* time of the log at the first step */
  const char *truth;    /* file, NULL: none */
  cli_truth truth_rows; /* read a second time */
  cli_accuracy accuracy;
  cli_estimate_file file;
  size_t written; /* steps; 0: nothing was smoothed */
  double megabytes;
} cli_smooth;

/* Log and truth must be files that can be looked at twice. truth may be NULL. Whatever is made from here on
 * is released by cli_smooth_close. */
bramah_status cli_smooth_open(cli_smooth *smooth, int64_t last_ns, const char *truth, bramah_replay *replay,
                              bramah_diag *diag);
void cli_smooth_close(cli_smooth *smooth);

/* The filter stands at the first step: take memory for the rest of the log, at most so many megabytes, and
 * record. */
bramah_status cli_smooth_begin(cli_smooth *smooth, bramah_filter *filter, int64_t time_ns, uint64_t megabytes,
                               bramah_diag *diag);

/* The backward pass over the first n_rows steps and its file; every `every`-th step is written. The
 * estimate's values and the filter's plant are used for it. */
bramah_status cli_smooth_write(cli_smooth *smooth, const char *path, const bramah_session *session,
                               cli_estimate *estimate, uint64_t n_rows, uint64_t every, bramah_diag *diag);

/* Errors before and after; filtered: of the same outputs. */
cli_table cli_smooth_table(const cli_smooth *smooth, const cli_accuracy *filtered, const bramah_plant *plant);

#endif
