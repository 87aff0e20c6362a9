/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sensor study while it is worked on. Runs only read it and write their own metrics, so that any number of
 * threads may work at once and the outcome does not depend on how many. */
#ifndef BRAMAH_LIB_ASSESS_SENSOR_STUDY_H
#define BRAMAH_LIB_ASSESS_SENSOR_STUDY_H

#include "bramah/sensor_study.h"
#include "bramah/session.h"

/* The truth in one scenario, sampled at every step. */
typedef struct bramah__truth {
  double *signal;    /* [rows x signals] */
  double *largest;   /* [signals] */
  double **measured; /* [studies][rows x sensors] without noise */
  double *alone;     /* [signals x 2] RMSE and SETTLED of the model without corrections */
} bramah__truth;

/* One scenario, study and filter: what its runs share. */
typedef struct bramah__study_set {
  bramah_session *session;
  size_t *output; /* [signals] of the filter's plant */
} bramah__study_set;

typedef struct bramah__study_run {
  bramah_status status; /* not OK: it has no metrics */
  char why[256];
} bramah__study_run;

struct bramah_sensor_study {
  bramah_sensor_study_layout is;
  bramah_plan *plan;
  bramah_plan_scenario *scenarios;
  bramah_plan_filter *filters;
  double *rates, *sampled;
  bramah_study **studies;
  bramah_machine_plant machine; /* of the truth */
  size_t settled;               /* first row from `settle` on */
  bramah__truth *truth;         /* [scenarios] */
  bramah__study_set *sets;      /* [scenarios x studies x filters] */
  bramah__study_run *runs;      /* [n_runs] */
  double *metrics;              /* [n_runs x signals x BRAMAH_N_METRICS] */
};

/* Number of a run; what its set shares. */
size_t bramah__study_run_of(const bramah_sensor_study *study, const bramah_sensor_study_case *at);
bramah__study_set *bramah__study_set_of(const bramah_sensor_study *study, const bramah_sensor_study_case *at);

/* Steps from one sample of a sensor to the next: the nearest multiple of the step. rate 0: the sensor's own
 * period. */
uint64_t bramah__study_every(double rate, int64_t period_ns, int64_t step_ns);

/* Simulate the truth of a scenario; measure the first set's model against it, without corrections. output
 * [signals] of the truth's plant, sensors [studies][sensors] on it. */
bramah_status bramah__study_simulate(bramah_sensor_study *study, size_t scenario, const size_t *output,
                                     bramah_sensor *const *sensors, bramah_diag *diag);
bramah_status bramah__study_run_alone(bramah_sensor_study *study, size_t scenario, bramah_diag *diag);

#endif
