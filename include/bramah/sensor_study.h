/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensor studies by simulation: which sensors, at which rates, through which filters, with which errors of the
 * model, how often. A plan (YAML) says so; opening it simulates the truth of every scenario, running it takes
 * every filter of every sensor set at every rate over every noise. Part of libbramah-tools.
 *
 *   bramah_sensor_study *s;
 *   bramah_status status = bramah_sensor_study_open("plan.yaml", NULL, &diag, &s);
 *   if (!status) status = bramah_sensor_study_run(s, 4, NULL, NULL, &diag);
 *   ... bramah_sensor_study_mean(s, &one, signal, BRAMAH_METRIC_RMSE) ...
 *   bramah_sensor_study_free(s); */
#ifndef BRAMAH_SENSOR_STUDY_H
#define BRAMAH_SENSOR_STUDY_H

#include <stdint.h>
#include "bramah/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- plans ---- */

/* What is compared with the truth. */
typedef struct bramah_plan_signal {
  const char *name;
  int line;
  const char *output; /* of the plant */
} bramah_plan_signal;

/* A sensor set with its start values and noise: a study file, with all of its sensors or all but some. */
typedef struct bramah_plan_study {
  const char *name;
  int line;
  const char *file; /* path, relative ones taken from the folder of the plan */
  size_t n_without;
  const char *const *without; /* sensors that are not there */
} bramah_plan_study;

/* What differs from the study files. */
typedef struct bramah_plan_filter {
  const char *name;
  int line;
  bramah_transition transition; /* 0: that of the study */
  size_t n_changes;             /* of the study files */
  const bramah_change *changes;
} bramah_plan_filter;

/* What the filter's model has wrong. Paths are those of the machine file of the studies; parameters (path:
 * name of the parameter, value: with unit) hold in the truth from the start on. */
typedef struct bramah_plan_scenario {
  const char *name;
  int line;
  const char *title; /* NULL: none */
  size_t n_changes;
  const bramah_change *changes;
  size_t n_parameters;
  const bramah_change *parameters;
} bramah_plan_scenario;

/* A plan of runs, as its file has it. */
typedef struct bramah_plan {
  const char *file;
  const char *name;
  const char *machine_file; /* of the truth; path, relative ones taken from the folder of the plan */
  size_t n_changes;         /* of the truth's machine file */
  const bramah_change *changes;
  double duration;     /* [s] */
  double step;         /* [s]; 0: the machine's */
  double settle;       /* [s] from here on errors are also counted separately */
  int seeds;           /* noise 1 to `seeds` */
  size_t n_rates;      /* of all sensors; 0: those of the studies */
  const double *rates; /* [Hz] descending */
  size_t n_signals;
  const bramah_plan_signal *signals;
  size_t n_studies;
  const bramah_plan_study *studies;
  size_t n_filters; /* 0: as the studies say */
  const bramah_plan_filter *filters;
  size_t n_scenarios; /* 0: one, the studies with their own changes */
  const bramah_plan_scenario *scenarios;
} bramah_plan;

enum { BRAMAH_PLAN_MOST_SIGNALS = 12, BRAMAH_PLAN_MOST_STUDIES = 64, BRAMAH_PLAN_MOST_RATES = 64 };

/* ---- studies ---- */

typedef struct bramah_sensor_study bramah_sensor_study;

/* What of a plan is to be run. */
typedef struct bramah_sensor_study_options {
  size_t seeds;       /* noises per cell; 0: as the plan says */
  size_t n_scenarios; /* of the plan, by name; 0: all */
  const char *const *scenarios;
  /* Asked by any thread now and then, as long as the study is used: 1 ends opening or running with E_TIME. NULL: never */
  int (*stopped)(void *user);
  void *user;
} bramah_sensor_study_options;
/* All of the plan, to its end. */
BRAMAH_API void bramah_sensor_study_options_default(bramah_sensor_study_options *options);

/* Read the plan and all it names, simulate the truth and run the model without corrections. options NULL: the
 * default. Errors: those of bramah_machine_load for the plan, of bramah_study_load and bramah_session_open with their
 * places; E_REFERENCE (a scenario, output or sensor that does not exist), E_UNSUPPORTED (a study with unknown inputs,
 * adapting noise or delayed sensors), E_VALUE (more than 1e8 runs), E_TIME (stopped), E_MEMORY. */
BRAMAH_API bramah_status bramah_sensor_study_open(const char *plan,
                                                  const bramah_sensor_study_options *options,
                                                  bramah_diag *diag, bramah_sensor_study **out);
BRAMAH_API void bramah_sensor_study_free(bramah_sensor_study *study); /* NULL allowed */

/* Do all runs on so many threads (the caller's is one of them). `progress` (NULL: none) is called after each
 * run, from any thread but never from two at once, with the number of runs that are done. A run that fails
 * ends by itself (its `failure`) and is in no mean; neither are those that an error leaves undone, which say so. The
 * outcome does not depend on the number of threads. Errors: E_TIME (stopped), E_MEMORY. */
typedef void (*bramah_sensor_study_progress)(void *user, size_t done);
/* Do the runs, see bramah_sensor_study_progress. */
BRAMAH_API bramah_status bramah_sensor_study_run(bramah_sensor_study *study, size_t n_threads,
                                                 bramah_sensor_study_progress progress, void *user,
                                                 bramah_diag *diag);

/* One run, by indices. Where the seed or, in ratios, another index has the value ALL, every one is meant. */
#define BRAMAH_SENSOR_STUDY_ALL SIZE_MAX
/* Indices of a run in what was opened. */
typedef struct bramah_sensor_study_case {
  size_t scenario, study, filter, rate, seed; /* the noise has the number seed + 1 */
} bramah_sensor_study_case;
/* What became of a run. */
typedef struct bramah_sensor_study_outcome {
  bramah_sensor_study_case at;
  const char *failure; /* why it failed; NULL: it did not */
  /* What a replay of the run's log would say of its filter (bramah_verdict_text: "contradicted: ...", "doubted: ...", "no
   * contradiction found ..."), of the first seed of each case in runs of 2 s or more that did not fail; else NULL */
  const char *verdict;
} bramah_sensor_study_outcome;
/* A signal of a scenario without any filter. */
typedef struct bramah_sensor_study_signal {
  double largest; /* magnitude of the truth [SI] */
  /* RMSE and SETTLED of the first study's and filter's model without corrections; NaN: it came to an early end. */
  double model_alone, model_alone_settled;
} bramah_sensor_study_signal;

/* What was opened. A plan without scenarios, filters or rates has one of each: what the studies say. */
typedef struct bramah_sensor_study_layout {
  const bramah_plan *plan;
  size_t n_scenarios, n_studies, n_filters, n_rates, n_signals, n_seeds, n_runs;
  const bramah_plan_scenario *scenarios; /* [n_scenarios] those wanted */
  const bramah_plan_filter *filters;     /* [n_filters] */
  const double *rates;                   /* [n_rates] [Hz]; 0: those of the studies */
  const double *sampled;        /* [n_rates] [Hz] the nearest to it that the step allows; 0: likewise */
  bramah_study *const *studies; /* [n_studies] as their files say */
  int64_t step_ns;
  size_t rows;                               /* steps of a run + 1 */
  const bramah_sensor_study_signal *signals; /* [n_scenarios x n_signals] */
  const bramah_sensor_study_outcome *runs; /* [n_runs] seeds in rates, in filters, in studies, in scenarios */
} bramah_sensor_study_layout;
/* What was opened, and what became of the runs; it goes with the study. */
BRAMAH_API const bramah_sensor_study_layout *bramah_sensor_study_about(const bramah_sensor_study *study);

/* What a run says of a signal. */
typedef enum bramah_metric {
  BRAMAH_METRIC_RMSE = 0,    /* in % of the largest magnitude of the truth, from the start on */
  BRAMAH_METRIC_SETTLED = 1, /* the same from the plan's `settle` on */
  BRAMAH_METRIC_INSIDE = 2,  /* share of time the truth lies within 1.96 sigma; NaN where there is no sigma */
  BRAMAH_METRIC_SAW_TOOTH =
      3,                 /* sigma before a correction by that after it, mean over those from `settle` on */
  BRAMAH_METRIC_NIS = 4, /* per degree of freedom, of all sensors together, the same for every signal */
  /* RMSE of the samples of the sensor that measures just this, in %; NaN: none does */
  BRAMAH_METRIC_NOISE = 5,
  /* root mean square of the filter's own sigma, in % as SETTLED; NaN where there is none */
  BRAMAH_METRIC_SIGMA = 6,
  BRAMAH_N_METRICS = 7
} bramah_metric;

/* Mean over the seeds that have this metric, and its standard error (NaN for fewer than two). at->seed is not
 * looked at. */
typedef struct bramah_sensor_study_average {
  double mean, error;
  size_t n;
} bramah_sensor_study_average;
/* The mean of a metric of a signal over the seeds of a case. */
BRAMAH_API bramah_sensor_study_average bramah_sensor_study_mean(const bramah_sensor_study *study,
                                                                const bramah_sensor_study_case *at,
                                                                size_t signal, bramah_metric metric);

/* How the means of one metric compare: the geometric mean of a's by b's (NULL: of a's themselves) over all
 * cases of what is ALL in `a` (the same must be ALL in `b`), signals included; in how many cases a's is the
 * smaller one, and of how many. Cases without values, or of zero, are left out; without any the mean is NaN.
 */
typedef struct bramah_sensor_study_ratio {
  double mean;
  size_t smaller, n;
} bramah_sensor_study_ratio;
/* Compare a metric of a signal of two cases. */
BRAMAH_API bramah_sensor_study_ratio bramah_sensor_study_compare(const bramah_sensor_study *study,
                                                                 bramah_metric metric, size_t signal,
                                                                 const bramah_sensor_study_case *a,
                                                                 const bramah_sensor_study_case *b);

#ifdef __cplusplus
}
#endif
#endif
