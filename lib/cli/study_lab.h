/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A planned study: everything its runs need and what came out of them. Runs only read it, each writes its own
 * figures, so that any number of threads may work at once and the outcome does not depend on how many. */
#ifndef BRAMAH_LIB_CLI_STUDY_LAB_H
#define BRAMAH_LIB_CLI_STUDY_LAB_H

#include "bramah/plan.h"
#include "bramah/session.h"

/* What a run tells of a signal. */
typedef enum cli_figure {
  CLI_RMSE,      /* in % of the largest magnitude of the truth, from the start on */
  CLI_SETTLED,   /* the same from the plan's `settle` on */
  CLI_INSIDE,    /* share of time the truth lies within 1.96 sigma; NaN where there is no sigma */
  CLI_SAW_TOOTH, /* sigma before a correction by that after it, mean over those from `settle` on */
  CLI_NOISE, /* RMSE of the samples of the sensor that measures just this, in %; NaN where there is none */
  CLI_NIS,   /* per degree of freedom, of all sensors together, the same for every signal */
  CLI_N_FIGURES
} cli_figure;

/* The truth in one scenario, sampled at every step. */
typedef struct cli_lab_truth {
  double *signal;    /* [rows x signals] */
  double *largest;   /* [signals] */
  double **measured; /* [studies][rows x sensors] without noise */
  double *alone;     /* [signals x 2] CLI_RMSE and CLI_SETTLED of the filter's model without corrections */
} cli_lab_truth;

/* One scenario, study and filter. */
typedef struct cli_lab_set {
  bramah_session *session;
  size_t *output; /* [signals] of the filter's plant */
} cli_lab_set;

typedef struct cli_lab_run {
  int begun;            /* some thread has it */
  bramah_status status; /* not OK: it has no figures */
  char why[256];
} cli_lab_run;

typedef struct cli_lab {
  bramah_plan *plan;
  size_t n_scenarios, n_studies, n_filters, n_rates, n_signals, n_seeds;
  bramah_plan_scenario *scenarios; /* those wanted; one without a name of the plan where it has none */
  bramah_plan_filter *filters;     /* as the plan says, or one */
  double *rates;                   /* [Hz]; 0: those of the studies */
  bramah_study **studies;          /* as their files say, for the sensors of the truth */
  bramah_machine_plant machine;    /* of the truth */
  size_t rows, settled;            /* rows of the truth; the first one from `settle` on */
  cli_lab_truth *truth;            /* [scenarios] */
  cli_lab_set *sets;               /* [scenarios x studies x filters] */
  size_t n_runs;
  cli_lab_run *runs; /* [n_runs], seed by seed in rates, in filters, in studies, in scenarios */
  double *figures;   /* [n_runs x signals x CLI_N_FIGURES] */
} cli_lab;

/* Which of the runs. */
typedef struct cli_lab_place {
  size_t scenario, study, filter, rate, seed; /* indices; noise has the number seed + 1 */
} cli_lab_place;

/* Read the plan and all it names and simulate the truth. seeds 0: as the plan says; wanted [n_wanted] names
 * of scenarios, none: all. Whatever was made is released by cli_lab_close. */
bramah_status cli_lab_open(cli_lab *lab, const char *path, uint64_t seeds, size_t n_wanted,
                           const char *const *wanted, bramah_diag *diag);
void cli_lab_close(cli_lab *lab);

size_t cli_lab_index(const cli_lab *lab, const cli_lab_place *place);
cli_lab_place cli_lab_place_of(const cli_lab *lab, size_t index);
const cli_lab_set *cli_lab_set_of(const cli_lab *lab, const cli_lab_place *place);

/* Steps from one sample of a sensor to the next: the nearest multiple of the step. rate 0: its own. */
uint64_t cli_lab_every(const bramah_sensor *sensor, double rate, int64_t step_ns);

/* Mean over the seeds that have this figure, and its standard error (NaN for fewer than two). place->seed is
 * not looked at. */
typedef struct cli_lab_mean {
  double mean, error;
  size_t n;
} cli_lab_mean;
cli_lab_mean cli_lab_average(const cli_lab *lab, const cli_lab_place *place, size_t signal,
                             cli_figure figure);

#endif
