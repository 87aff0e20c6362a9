/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what was found holds: on logs it was not tuned on, away from the optimum, by other criteria. */
#ifndef BRAMAH_LIB_CLI_TUNE_VALIDATE_H
#define BRAMAH_LIB_CLI_TUNE_VALIDATE_H

#include "lib/cli/tune_certainty.h"

/* Figures the slope tells little of (flat, at a bound, a large standard error): how far they may go from x
 * until the cost has grown by 1.92, half the 95 % quantile of chi-square, the others leaning with them as the
 * information tells. Changes low and high of the certainty. */
bramah_status cli_tune_bound_weak(cli_tune_certainty *certainty, cli_tune_search *search, const char *set,
                                  const double *information, bramah_diag *diag);

/* ---- cross-validation ---- */

typedef struct cli_tune_fold {
  size_t n_held;
  size_t *held;            /* [n_held] logs left out */
  char set[CLI_TUNE_TEXT]; /* found without them */
  cli_tune_verdict given;  /* on those left out: with the study's own figures, */
  cli_tune_verdict found;  /* with those found without them, */
  cli_tune_verdict all;    /* with those found on all */
} cli_tune_fold;

typedef struct cli_tune_folds {
  size_t n;
  cli_tune_fold *fold; /* [n] */
} cli_tune_folds;

/* Of two logs or more. Log k is left out in fold k % n; each search begins at `set`. Sets tried go into search->tried. */
bramah_status cli_tune_cross_validate(cli_tune_folds *folds, cli_tune_search *search, size_t n,
                                      const char *given, const char *set, bramah_diag *diag);
void cli_tune_folds_free(cli_tune_folds *folds);
cli_table cli_tune_folds_table(const cli_tune_folds *folds, const cli_tune_lab *lab);
/* What each fold found. */
cli_table cli_tune_spread_table(const cli_tune_folds *folds, const cli_tune_lab *lab);

/* ---- profiles ---- */

typedef struct cli_tune_profile {
  size_t n;         /* points */
  double *x;        /* [n] of the figure, ascending */
  double *cost;     /* [n] above the least, the other figures made the best of */
  double low, high; /* where it crosses 1.92 */
} cli_tune_profile;

/* `sides` points to each side of every figure, out to three standard errors; profiles [n of the lab] are
 * released by cli_tune_profiles_free. */
bramah_status cli_tune_find_profiles(cli_tune_profile *profiles, cli_tune_search *search, const char *set,
                                     const cli_tune_certainty *certainty, const double *information,
                                     size_t sides, bramah_diag *diag);
void cli_tune_profiles_free(cli_tune_profile *profiles, size_t n);
cli_table cli_tune_profile_table(const cli_tune_profile *profiles, const cli_tune_lab *lab);

/* ---- criteria against each other ---- */

/* front [n_tried] 1: no other set that was tried is better by one criterion and as good by the others. */
void cli_tune_find_front(const cli_tune_search *search, unsigned char *front);
/* The best set of each criterion, as judged by all. */
cli_table cli_tune_criteria_table(const cli_tune_search *search);

#endif
