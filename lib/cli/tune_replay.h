/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One replay of one log with one set of values, and what it tells: all figures that any criterion needs, as
 * plain numbers that can be kept, sent and compared to the bit. */
#ifndef BRAMAH_LIB_CLI_TUNE_REPLAY_H
#define BRAMAH_LIB_CLI_TUNE_REPLAY_H

#include "lib/cli/tune_lab.h"

enum { CLI_TUNE_LAGS = 10 };

/* What is asked. With `slope` a neighbour per figure of the lab runs along. */
typedef struct cli_tune_job {
  size_t log;
  int slope;
  int thousandths; /* of the log's time that are replayed, 1000: all */
  int limited;     /* 1: stop when the cost passes limit[c] at check c */
  double limit[CLI_TUNE_CHECKS];
  char set[CLI_TUNE_TEXT];
} cli_tune_job;

/* Places of the figures common to all labs. Cost: bramah/likelihood.h, up to CLI_TUNE_CHECKS times spread
 * evenly over what is replayed. Bins: of the NIS of one time, as many in each for a consistent filter. */
enum {
  CLI_TUNE_STATUS = 0, /* bramah_status */
  CLI_TUNE_STOPPED,    /* 1 + check at which it was given up, 0: complete */
  CLI_TUNE_CHECKED,    /* checks passed */
  CLI_TUNE_TIME,       /* [s] of the log reached */
  CLI_TUNE_STEPS,
  CLI_TUNE_USED, /* innovations fused, after settling */
  CLI_TUNE_GATED,
  CLI_TUNE_NIS, /* sum, and of its degrees of freedom */
  CLI_TUNE_DOF,
  CLI_TUNE_COST,                                    /* [CLI_TUNE_CHECKS] the last one is the cost of all */
  CLI_TUNE_JOINT = CLI_TUNE_COST + CLI_TUNE_CHECKS, /* [CLI_TUNE_BINS] */
  CLI_TUNE_SENSORS = CLI_TUNE_JOINT + CLI_TUNE_BINS
};

/* Figures of one sensor, in blocks from CLI_TUNE_SENSORS on. */
enum {
  CLI_TUNE_OF_N = 0, /* innovations fused */
  CLI_TUNE_OF_GATED,
  CLI_TUNE_OF_SQUARES,                                 /* sum of nu^2 [SI] */
  CLI_TUNE_OF_NIS,                                     /* sum of e^2, e = nu / sigma */
  CLI_TUNE_OF_SUM,                                     /* of e */
  CLI_TUNE_OF_LAG,                                     /* [CLI_TUNE_LAGS] sums of e e_-l */
  CLI_TUNE_OF_AHEAD = CLI_TUNE_OF_LAG + CLI_TUNE_LAGS, /* sum of squared errors of predictions [SI], number */
  CLI_TUNE_OF_BINS = CLI_TUNE_OF_AHEAD + 2,            /* [CLI_TUNE_BINS] */
  CLI_TUNE_PER_SENSOR = CLI_TUNE_OF_BINS + CLI_TUNE_BINS
};

/* Behind them per output: sum of squares of the errors against the truth [SI], their number. Behind these,
 * with slope: gradient [n], information [n x n], gradient at each check [CLI_TUNE_CHECKS x n]. */
size_t cli_tune_place_sensor(size_t i);
size_t cli_tune_place_output(const cli_tune_lab *lab, size_t i);
size_t cli_tune_place_gradient(const cli_tune_lab *lab);
size_t cli_tune_place_information(const cli_tune_lab *lab);
size_t cli_tune_place_scores(const cli_tune_lab *lab);
size_t cli_tune_n_figures(const cli_tune_lab *lab, int slope);

/* Other hands: share(user, n, task, of) does task(of, i) for all i < n, on whatever threads, and comes back
 * when all are done. */
typedef struct cli_tune_hands {
  void *user;
  void (*share)(void *user, size_t n, void (*task)(void *of, size_t i), void *of);
} cli_tune_hands;

/* Replay. Whatever goes wrong in the filter is a figure (CLI_TUNE_STATUS), with its message in diag; errors:
 * E_MEMORY; E_TIME (interrupted by a signal). Runs on any thread; neighbours on others too, if there are
 * hands (NULL: none). Figures do not depend on them. */
bramah_status cli_tune_replay(const cli_tune_lab *lab, const cli_tune_job *job, const cli_tune_hands *hands,
                              double *figures, bramah_diag *diag);

/* E_TIME, with the signal that came. */
bramah_status cli_tune_interrupted(bramah_diag *diag);

/* What a job with these limits gives, from one without or with others: 0 if that cannot be told. */
int cli_tune_cut(const cli_tune_job *job, double *figures);

#endif
