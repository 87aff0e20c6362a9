/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a replay gives at one time: the values of the plant with their standard deviations, and the file they
 * go to. */
#ifndef BRAMAH_LIB_CLI_ESTIMATE_H
#define BRAMAH_LIB_CLI_ESTIMATE_H

#include "bramah/log.h"
#include "bramah/replay.h"
#include "bramah/session.h"

typedef struct cli_estimate {
  bramah_filter *filter;
  const bramah_replay *replay; /* knows the innovations */
  const bramah_plant *plant;
  size_t n_outputs, *outputs; /* those that go into files */
  unsigned char *has_sigma;   /* [plant's outputs] */
  double *value, *sigma;      /* [plant's outputs] at the present time; sigma NaN where there is none */
  size_t *shown_as;           /* [augmented states] the output that shows it: <input>.command of an unknown
                                 input; n_output: none, it has columns of its own */
} cli_estimate;

bramah_status cli_estimate_init(cli_estimate *estimate, const bramah_replay *replay, bramah_filter *filter,
                                bramah_diag *diag);
void cli_estimate_free(cli_estimate *estimate);
/* Ask the filter for all values of the present time. */
void cli_estimate_take(cli_estimate *estimate);

/* The file of estimates: a row per step, with what only the filter knows if wanted: augmented states and
 * innovations. */
typedef struct cli_estimate_file {
  bramah_log_writer *writer;
  size_t n_augmented;
  size_t n_sensors; /* whose innovations it has */
  double *row;
} cli_estimate_file;

bramah_status cli_estimate_file_create(cli_estimate_file *file, const char *path,
                                       const cli_estimate *estimate, int of_filter, bramah_diag *diag);
bramah_status cli_estimate_file_row(cli_estimate_file *file, const cli_estimate *estimate, double t,
                                    bramah_diag *diag);
/* Hand all rows so far to the system. */
bramah_status cli_estimate_file_flush(cli_estimate_file *file, bramah_diag *diag);
/* Flush and close. */
bramah_status cli_estimate_file_finish(cli_estimate_file *file, bramah_diag *diag);

#endif
