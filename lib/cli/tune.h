/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the commands tune and sweep share. */
#ifndef BRAMAH_LIB_CLI_TUNE_H
#define BRAMAH_LIB_CLI_TUNE_H

#include "bramah/tune.h"
#include "lib/cli/cli.h"

/* Other processes: tune_alone.c, or tune_mpi.c in bramah-mpi. NULL: there are none. */
const bramah_transport *cli_transport_begin(void);
void cli_transport_end(void);

/* A run, as the command line asks for it. */
typedef struct cli_tune_command {
  const cli_arguments *arguments;
  size_t n_outputs;
  const char *outputs[4]; /* [n_outputs] files that are written; NULL: not wanted */
  size_t n_logs, n_held, n_truths;
  const char **logs, **truths; /* those held out come last */
  cli_progress progress;
  double start;     /* of the clock */
  int64_t time_ns;  /* at most; 0: any */
  int begun, leads; /* transport; 1: the first process */
} cli_tune_command;

/* Logs and truths of the command line, and from --threads, --journal and the processes there are a run whose
 * user is the command. Returns an exit code; released by cli_tune_end in any case. */
int cli_tune_begin(cli_tune_command *command, const cli_arguments *arguments, bramah_tune_run *run);
/* The exit code for a status; frees. */
int cli_tune_end(cli_tune_command *command, bramah_status status, bramah_diag *diag);

/* All values of an option, [*n + 1]; the caller frees them. NULL: no memory. */
const char **cli_tune_values(const cli_arguments *arguments, const char *name, size_t *n);

/* Its CSV cells, each behind a comma; empty where nothing is known. */
void cli_tune_put_verdict(const bramah_tune_verdict *verdict, FILE *file);

#endif
