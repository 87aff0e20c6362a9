/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans of estimator studies (YAML): which truth, which sensor sets at which rates through which filters,
 * with which errors of the model, how often, and what is claimed of the outcome. Part of libbramah-tools. */
#ifndef BRAMAH_PLAN_H
#define BRAMAH_PLAN_H

#include <stdint.h>
#include "bramah/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is compared with the truth. */
typedef struct bramah_plan_signal {
  const char *name;
  int line;
  const char *output; /* of the plant */
} bramah_plan_signal;

/* A sensor set with its start values and noise: a study file. */
typedef struct bramah_plan_study {
  const char *name;
  int line;
  const char *file; /* path, relative ones taken from the folder of the plan */
} bramah_plan_study;

/* What is otherwise than in the study files. */
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

/* A claim about the outcome, to be judged by the figures. */
typedef enum bramah_finding_kind {
  BRAMAH_FINDING_BEST_STUDY = 1,      /* `study` is more accurate than every other one */
  BRAMAH_FINDING_FALLS_WITH_RATE = 2, /* errors grow from each rate to the next lower one */
  BRAMAH_FINDING_AS_GOOD_AS = 3, /* `study` is at most `within` less accurate than the study `reference` */
  BRAMAH_FINDING_SAW_TOOTH = 4,  /* at `rate` a correction narrows the bands by the factor `least` or more */
  BRAMAH_FINDING_BETTER_FILTER = 5 /* `filter` is more accurate than the filter `reference` */
} bramah_finding_kind;

/* A name that refers to something else of the plan. */
typedef struct bramah_plan_name {
  const char *name; /* NULL: not given */
  int line, column;
} bramah_plan_name;

/* A finding that the plan asks for. */
typedef struct bramah_plan_finding {
  const char *name;
  int line;
  bramah_finding_kind kind;
  bramah_plan_name study, filter, reference;
  double within;    /* share, 0.1 */
  double least;     /* factor, 1.1 */
  double rate;      /* [Hz], one of the plan's; 0: all */
  size_t n_signals; /* 0: all */
  const bramah_plan_name *signals;
  size_t n_scenarios; /* 0: all */
  const bramah_plan_name *scenarios;
} bramah_plan_finding;

/* A plan of runs, as its file has it. */
typedef struct bramah_plan {
  const char *file;
  const char *name;
  const char *machine_file; /* of the truth; path, relative ones taken from the folder of the plan */
  size_t n_changes;         /* of the truth's machine file */
  const bramah_change *changes;
  double duration;     /* [s] */
  double step;         /* [s]; 0: the machine's */
  double settle;       /* [s] from here on errors are also counted apart */
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
  size_t n_findings;
  const bramah_plan_finding *findings;
} bramah_plan;

enum { BRAMAH_PLAN_MOST_SIGNALS = 12, BRAMAH_PLAN_MOST_STUDIES = 64, BRAMAH_PLAN_MOST_RATES = 64 };

/* Read a plan; no other file is opened. Names that the findings refer to are checked. Errors as for
 * bramah_machine_load. Release it with bramah_plan_free. */
BRAMAH_API bramah_status bramah_plan_load(const char *path, bramah_diag *diag, bramah_plan **out);
BRAMAH_API void bramah_plan_free(bramah_plan *plan); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
