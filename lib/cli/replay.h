/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay: what was asked for, what runs, and its parts in their order. replay.c knows the options,
 * replay_run.c prepares and goes through the rows, replay_summary.c tells what came out. */
#ifndef BRAMAH_LIB_CLI_REPLAY_H
#define BRAMAH_LIB_CLI_REPLAY_H

#include "lib/cli/accuracy.h"
#include "lib/cli/adapt.h"
#include "lib/cli/events.h"
#include "lib/cli/json.h"
#include "bramah/log.h"
#include "lib/cli/model_alone.h"
#include "lib/cli/replay_report.h"
#include "lib/cli/smooth.h"
#include "lib/cli/snapshot_file.h"
#include "lib/cli/unknown.h"
#include "lib/cli/verdict.h"

/* What the command line asks for; files that are not wanted are NULL. */
typedef struct cli_replay_request {
  const char *study, *output, *truth, *report, *smooth, *json, *snapshot, *resume;
  const char *const *logs; /* [n_logs] files and folders */
  size_t n_logs;
  const char *plot, *plot_data, *plot_only; /* plot_only: titles, comma-separated; NULL: all */
  int plots;                                /* report, plot or plot_data is wanted */
  uint64_t every, smooth_megabytes;
  int64_t from_ns, to_ns;    /* INT64_MIN, INT64_MAX: no limit */
  int64_t snapshot_every_ns; /* of the log; 0: at the end only */
} cli_replay_request;

typedef struct cli_replay_run {
  cli_replay_request request;
  bramah_session *session;
  bramah_log_stream *log;
  double reading; /* [s] of the clock, spent reading the log */
  bramah_replay *replay;
  cli_estimate estimate;
  cli_estimate_file file;
  cli_truth truth;
  cli_model_alone alone;
  cli_accuracy accuracy;
  cli_nees nees;
  cli_consistency consistency;
  cli_events events;
  cli_table estimated; /* augmented states at the end */
  double *augmented;   /* [n_augmented x 2] their values and sigmas at the end */
  cli_replay_report report;
  cli_json json;
  cli_smooth smooth;
  cli_adapt adapt;
  cli_unknown unknown;
  cli_verdict verdict;   /* after cli_replay_conclude */
  double *measured;      /* [n_sensors] used last at the present time, NaN where there was no sample */
  bramah_status plotted; /* of the innovations in the report */
  uint64_t rows, written;
  int64_t first_ns, last_ns; /* of all estimates, those before a snapshot included */
  int64_t begin_ns;          /* first estimate of this run */
  uint64_t begin_rows;       /* estimates before it */
  cli_snapshot kept;         /* memory of the last one written */
  uint64_t saved_rows;       /* estimates it covers */
  int64_t snapshot_ns;       /* their last time */
  bramah_status outcome;     /* of the rows: what ended them early */
  bramah_diag mistake;
  double filter_seconds, seconds; /* of the clock */
  double step_seconds;            /* of the filter, for the present row */
} cli_replay_run;

/* Open and check everything, and begin the file of estimates. */
bramah_status cli_replay_prepare(cli_replay_run *run, bramah_diag *diag);
/* Go through the log. After an error the estimates up to it stand in the run. */
bramah_status cli_replay_rows(cli_replay_run *run, bramah_diag *diag);
/* State of the run to and from a snapshot (replay_snapshot.c). Save at the end, and when the log has gone on
 * by --snapshot-every; resume after prepare. Errors: E_VALUE (a snapshot of another study, machine or
 * version). */
bramah_status cli_replay_save(cli_replay_run *run, bramah_diag *diag);
bramah_status cli_replay_save_when_due(cli_replay_run *run, bramah_diag *diag);
bramah_status cli_replay_resume(cli_replay_run *run, bramah_diag *diag);
/* Close the file of estimates. */
bramah_status cli_replay_finish(cli_replay_run *run, bramah_diag *diag);
/* The estimates once more, backwards, if that is wanted. */
bramah_status cli_replay_smooth(cli_replay_run *run, bramah_diag *diag);
/* Summary and tables on the terminal, and into the report. */
bramah_status cli_replay_conclude(cli_replay_run *run, bramah_diag *diag);
/* The summary for programs, if it is wanted; code: the exit code. */
bramah_status cli_replay_json(cli_replay_run *run, int code, bramah_diag *diag);
/* Release all that was opened; allowed at any point. */
void cli_replay_close(cli_replay_run *run);

#endif
