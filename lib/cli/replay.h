/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay: what was asked for, what runs, and its parts in their order. replay.c knows the options,
 * replay_run.c prepares and goes through the rows, replay_summary.c tells what came out. */
#ifndef BRAMAH_LIB_CLI_REPLAY_H
#define BRAMAH_LIB_CLI_REPLAY_H

#include "lib/cli/accuracy.h"
#include "lib/cli/adapt.h"
#include "lib/cli/events.h"
#include "lib/cli/log_source.h"
#include "lib/cli/model_alone.h"
#include "lib/cli/replay_report.h"
#include "lib/cli/smooth.h"

/* What the command line asks for; files that are not wanted are NULL. */
typedef struct cli_replay_request {
  const char *study, *log, *output, *truth, *report, *smooth;
  uint64_t every, smooth_megabytes;
} cli_replay_request;

typedef struct cli_replay_run {
  cli_replay_request request;
  cli_session session;
  cli_log_source source;
  bramah_replay *replay;
  cli_estimate estimate;
  cli_estimate_file file;
  cli_truth truth;
  cli_model_alone alone;
  cli_accuracy accuracy;
  cli_consistency consistency;
  cli_events events;
  cli_table estimated; /* augmented states at the end */
  cli_replay_report report;
  cli_smooth smooth;
  cli_adapt adapt;
  double *measured; /* [n_sensors] at the present time, NaN where there was no sample */
  uint64_t rows, written;
  int64_t first_ns, last_ns;
  double filter_seconds, seconds; /* of the clock */
} cli_replay_run;

/* Open and check everything, and begin the file of estimates. */
bramah_status cli_replay_prepare(cli_replay_run *run, bramah_diag *diag);
/* Go through the log. After an error the estimates up to it stand in the run. */
bramah_status cli_replay_rows(cli_replay_run *run, bramah_diag *diag);
/* Close the file of estimates. */
bramah_status cli_replay_finish(cli_replay_run *run, bramah_diag *diag);
/* The estimates once more, backwards, if that is wanted. */
bramah_status cli_replay_smooth(cli_replay_run *run, bramah_diag *diag);
/* Summary and tables on the terminal, and into the report. */
bramah_status cli_replay_conclude(cli_replay_run *run, bramah_diag *diag);
/* Release all that was opened; allowed at any point. */
void cli_replay_close(cli_replay_run *run);

#endif
