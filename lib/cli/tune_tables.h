/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a tuning run. */
#ifndef BRAMAH_LIB_CLI_TUNE_TABLES_H
#define BRAMAH_LIB_CLI_TUNE_TABLES_H

#include "lib/cli/cli.h"
#include "lib/tune/tune_internal.h"

/* A row per log and sensor: NIS, lag 1, verdict, before and after. */
cli_table cli_tune_consistency_table(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                     double *const *before, double *const *after);
cli_table cli_tune_certainty_table(const bramah__tune_certainty *certainty,
                                   const bramah__tune_problem *problem);
cli_table cli_tune_folds_table(const bramah__tune_folds *folds, const bramah__tune_problem *problem);
/* What each fold found. */
cli_table cli_tune_spread_table(const bramah__tune_folds *folds, const bramah__tune_problem *problem);
cli_table cli_tune_profile_table(const bramah__tune_profile *profiles, const bramah__tune_problem *problem);
/* The best set of each criterion, as judged by all. */
cli_table cli_tune_criteria_table(const bramah__tune_search *search);

#endif
