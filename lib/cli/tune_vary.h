/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The points of a sweep: a grid of values, or a Latin hypercube over ranges. */
#ifndef BRAMAH_LIB_CLI_TUNE_VARY_H
#define BRAMAH_LIB_CLI_TUNE_VARY_H

#include "lib/cli/cli.h"
#include "lib/tune/tune_internal.h"

/* Values of one value, as texts. */
typedef struct cli_tune_values {
  size_t n;
  char **text;      /* [n] */
  int ranged, log;  /* 1: given as a range */
  double low, high; /* in the unit of the file */
} cli_tune_values;

typedef struct cli_tune_vary {
  size_t n_points, n;      /* values */
  cli_tune_values *values; /* [n] */
  double *cube;            /* [n_points x n] of a hypercube; NULL: a grid */
  char **names;            /* [n] texts the problem keeps pointers to */
} cli_tune_vary;

/* From the options --vary of the command line, or, with latin and none of them, the study's `tune` section;
 * adds the values to the problem. Errors: E_KEY (no such value), E_VALUE, E_UNIT, E_SYNTAX. */
bramah_status cli_tune_vary_read(cli_tune_vary *vary, bramah__tune_problem *problem,
                                 const cli_arguments *arguments, uint64_t latin, uint64_t seed,
                                 bramah_diag *diag);
void cli_tune_vary_free(cli_tune_vary *vary);

/* Set of values of a point, BRAMAH__TUNE_TEXT long. In a grid the last value varies fastest. */
void cli_tune_vary_set(const cli_tune_vary *vary, const bramah__tune_problem *problem, size_t point,
                       char *set);

#endif
