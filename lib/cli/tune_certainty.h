/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well the logs tell the figures that were found. */
#ifndef BRAMAH_LIB_CLI_TUNE_CERTAINTY_H
#define BRAMAH_LIB_CLI_TUNE_CERTAINTY_H

#include "lib/cli/tune_search.h"

typedef enum cli_tune_held {
  CLI_TUNE_FREE = 0,
  CLI_TUNE_AT_LEAST, /* at a bound */
  CLI_TUNE_AT_MOST,
  CLI_TUNE_FLAT /* the logs do not tell it */
} cli_tune_held;

typedef struct cli_tune_certainty {
  size_t n;
  double *x;      /* [n] as found, in the units of the files */
  double *sigma;  /* [n] standard error on the scale (of the logarithm, or share of the range); NaN: none */
  double *fisher; /* [n] the same by the information alone */
  double *low, *high;  /* [n] 95 % interval in the units of the files */
  double *correlation; /* [n x n] */
  cli_tune_held *held; /* [n] */
  double weakest;      /* least eigenvalue of the information scaled to a diagonal of ones */
  double *direction;   /* [n] its eigenvector */
} cli_tune_certainty;

/* From an evaluation with slope at `set` that stands in search->figures, and the information [n x n] with
 * penalty. The standard error is the larger one of two: by the information, which holds for a right model;
 * and by how the slopes of twentieths of the logs scatter (P. J. Huber 1967, H. White 1982), which holds for
 * a wrong one too, where there are at least ten of them per figure. Released by cli_tune_certainty_free in
 * any case. */
bramah_status cli_tune_certainty_find(cli_tune_certainty *certainty, const cli_tune_search *search,
                                      const char *set, const double *information, bramah_diag *diag);
void cli_tune_certainty_free(cli_tune_certainty *certainty);

/* Warnings by name: figures the logs do not tell, and pairs that can be told only together. Calls say for
 * each line; returns how many. */
size_t cli_tune_certainty_warn(const cli_tune_certainty *certainty, const cli_tune_lab *lab,
                               void (*say)(void *user, const char *line), void *user);

cli_table cli_tune_certainty_table(const cli_tune_certainty *certainty, const cli_tune_lab *lab);

#endif
