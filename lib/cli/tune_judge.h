/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the figures of replays to what they are worth: criteria, and how consistent each sensor is. */
#ifndef BRAMAH_LIB_CLI_TUNE_JUDGE_H
#define BRAMAH_LIB_CLI_TUNE_JUDGE_H

#include "lib/cli/table.h"
#include "lib/cli/tune_replay.h"

/* Of one set of values over some logs. NaN: not known (no truth, no predictions). */
typedef struct cli_tune_verdict {
  bramah_status status; /* of the first replay that failed */
  size_t failed;        /* that log; n_logs: none */
  int stopped;          /* 1: at least one replay was given up; only `cost` counts then, as a lower bound */
  double used, gated;
  double cost;       /* minus log likelihood, in all */
  double nis;        /* mean per degree of freedom */
  double distance;   /* of the distributions of NIS from chi-square: 0 if alike, mean over sensors and all */
  double rmse;       /* against the truth, share of the largest magnitude, root mean square over outputs */
  double prediction; /* errors some steps ahead in standard deviations of the sensors as the study has them */
} cli_tune_verdict;

/* logs [n] in the order of figures [n]. */
cli_tune_verdict cli_tune_judge(const cli_tune_lab *lab, size_t n, const size_t *logs,
                                double *const *figures);

/* Is next to nothing left of the innovations after gating? */
int cli_tune_starved(const cli_tune_verdict *verdict);

/* Value of a criterion, to be made small; infinite where a replay failed. */
double cli_tune_criterion_value(const cli_tune_verdict *verdict, bramah_tune_criterion criterion);
const char *cli_tune_criterion_name(bramah_tune_criterion criterion);

/* What innovations of a sensor say, over some logs. */
typedef struct cli_tune_colour {
  double n, gated;
  double nis;                /* mean */
  double low, high;          /* band of it */
  double lag[CLI_TUNE_LAGS]; /* correlations of normalised innovations */
  double ljung_box, p;       /* over all lags, and the probability of as much by chance */
  double white_sigma;        /* [SI] of the part without memory, from the correlations run back to lag zero */
  int coloured;              /* 1: the correlation of neighbours is beyond its band and a tenth */
} cli_tune_colour;
cli_tune_colour cli_tune_look_at_sensor(const cli_tune_lab *lab, size_t n, double *const *figures, size_t i);

/* A line for each sensor whose innovations keep a memory; returns how many. figures [n] of logs. */
size_t cli_tune_warn_coloured(const cli_tune_lab *lab, size_t n, double *const *after,
                              void (*say)(void *user, const char *line), void *user);

/* A row per log and sensor: NIS, lag 1, verdict, before and after. */
cli_table cli_tune_consistency_table(const cli_tune_lab *lab, size_t n, const size_t *logs,
                                     double *const *before, double *const *after);

#endif
