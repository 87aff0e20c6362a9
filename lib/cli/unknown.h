/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raw data: what it costs not to know the commands of a machine. Beside the filter, which estimates them,
 * runs a second one of the same study that is told them: at each step what the first had made of them so far.
 * Both have the same measurements; what their standard deviations differ by is the price. Where all inputs
 * are known there is no second filter. */
#ifndef BRAMAH_LIB_CLI_UNKNOWN_H
#define BRAMAH_LIB_CLI_UNKNOWN_H

#include "lib/cli/estimate.h"
#include "lib/cli/json.h"
#include "lib/cli/snapshot_file.h"
#include "lib/cli/table.h"

/* Rows the second filter has not taken yet. */
typedef struct cli_row_queue {
  size_t n, room, n_inputs, width; /* width: inputs and sensors */
  int64_t *time_ns;                /* [room] */
  double *value;                   /* [room x width] */
  unsigned char *given;            /* [room x width] */
} cli_row_queue;

typedef struct cli_unknown {
  size_t n; /* unknown inputs */
  const bramah_session *session;
  bramah_source source; /* of the log */
  void *source_user;
  cli_row_queue queue;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_filter *filter; /* NULL: there is none, or it has ended */
  bramah_replay *replay;
  size_t *parameter; /* [n] */
  double *sum[2];    /* [outputs of the plant] of sigma: unknown commands, known ones */
  uint64_t count;
  double ended_at; /* [s] if the second filter has ended, else NaN */
} cli_unknown;

/* Before the replay, which takes its rows by cli_unknown_next; options of both replays. Released by
 * cli_unknown_close in any case. */
bramah_status cli_unknown_open(cli_unknown *unknown, const bramah_session *session,
                               const bramah_replay_options *options, bramah_source source, void *source_user,
                               bramah_diag *diag);
void cli_unknown_close(cli_unknown *unknown);

/* bramah_source; user is the cli_unknown: rows of the log, kept for the second filter if there is one. */
bramah_status cli_unknown_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* After each step of the first filter: the same step of the second. A second filter that cannot go on is
 * given up; the replay goes on without. */
void cli_unknown_step(cli_unknown *unknown, const cli_estimate *estimate, double t);

/* The second filter in a snapshot and from it; between two steps. Errors: E_VALUE (another study). A snapshot
 * without it ends the second filter. */
void cli_unknown_save(const cli_unknown *unknown, cli_snapshot *snapshot);
bramah_status cli_unknown_resume(cli_unknown *unknown, const cli_snapshot *snapshot, bramah_diag *diag);

/* Without rows where nothing was unknown. */
cli_table cli_unknown_table(const cli_unknown *unknown, const cli_estimate *estimate);
/* The same as the list "unknown_commands", in SI units; nothing where all commands are known. */
void cli_unknown_json(const cli_unknown *unknown, const cli_estimate *estimate, cli_json *json);

#endif
