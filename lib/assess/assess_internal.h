/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An assessment and its parts. run.c steps it, results.c has what it estimates, counts and judges, accuracy.c
 * compares with the truth, unknown_inputs.c runs the second filter, smooth.c is the backward pass, save.c writes
 * it all into a snapshot. */
#ifndef BRAMAH_LIB_ASSESS_ASSESS_INTERNAL_H
#define BRAMAH_LIB_ASSESS_ASSESS_INTERNAL_H

#include "bramah/assess.h"
#include "bramah/log.h"
#include "bramah/smoother.h"
#include "bramah/observability.h"
#include "lib/assess/snapshot.h"
#include "lib/assess/statistics.h"
#include "lib/io/fail.h"
#include "lib/logs/logs.h"

/* Sums over the innovations of a sensor, or of all. */
typedef struct bramah__innovations {
  bramah__nis nis; /* of those fused */
  double expected; /* sum over them of what their gates leave of a mean NIS of 1 */
  uint64_t present, gated, saturated;
  double last, products,
      squares; /* normalised: the last one, sums of products with the one before, squares */
} bramah__innovations;

/* Sums over the errors of an output. */
typedef struct bramah__accuracy {
  size_t output; /* of the plant */
  const char *name, *unit;
  long sensor; /* that measures just this, -1: none */
  bramah__rmse estimate, model, measured, smoothed;
  uint64_t judged, within; /* as in bramah_accuracy */
} bramah__accuracy;

/* A filter with known inputs that runs along (unknown_inputs.c). */
typedef struct bramah__known_inputs {
  size_t n;            /* unknown inputs; 0: there is no second filter */
  size_t n_rows, room; /* rows of the log that it has not taken yet */
  unsigned char *rows; /* [room x row_size] time, values, flags */
  size_t n_values;     /* of a row: inputs and sensors */
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_filter *filter; /* NULL: there is none, or it has ended */
  bramah_replay *replay;
  size_t *parameter; /* [n] of the plant */
  double *sum[2];    /* [n_output] of sigma: unknown commands, known ones */
  uint64_t count;
} bramah__known_inputs;

/* What the results point to. */
typedef struct bramah__results {
  bramah_assess_results of;
  bramah_consistency *sensor;    /* [n_sensors] */
  double *lags;                  /* [n_sensors x BRAMAH__AUTOCORRELATION_LAGS] */
  bramah_accuracy *accuracy;     /* [n_accuracies] */
  bramah_adapted *adapted;       /* [n_adapted] */
  bramah_input_cost *input_cost; /* [n_outputs] */
  bramah_finding *finding;       /* [4 n_sensors + n_accuracies + 2] */
} bramah__results;

struct bramah_assess {
  bramah_session *session;
  bramah_assess_options options;
  bramah_source source;
  void *source_user;
  bramah_log_stream *log; /* the source, if it is one; else NULL */
  const bramah_study *study;
  bramah_filter *filter;
  const bramah_plant *plant;
  bramah_replay *replay;
  size_t n_sensors, n_augmented;
  bramah_assess_totals totals;
  bramah_filter_report counts; /* at the step before */
  double reading;              /* [s] of the clock, within the source */
  uint64_t study_hash, machine_hash;

  /* results.c */
  bramah_estimate estimate;
  int taken; /* the estimate holds the values of the present step */
  size_t n_outputs;
  bramah_assess_output *outputs;         /* [n_outputs] */
  double *value, *sigma, *truth, *alone; /* [n_output of the plant]; alone: of the model */
  double *measured;                      /* [n_sensors] */
  size_t *shown_as;                      /* [n_augmented] output of the plant, or n_output */
  bramah_augmented_estimate *augmented;  /* [n_augmented] */
  bramah__innovations *innovations, all; /* [n_sensors] */
  bramah__autocorrelation *whiteness;    /* [n_sensors] or NULL */
  bramah_event *fault, recoveries;       /* [n_sensors] */

  /* accuracy.c */
  bramah__truth *rows; /* of the truth; NULL: none */
  size_t n_accuracies;
  bramah__accuracy *accuracy; /* [n_accuracies] */
  long *column;               /* [n_output of the plant] of the truth, -1: none */
  bramah__nis nees;
  char (*state)[128]; /* [n] names of the error states at the last time; NULL: no NEES */
  long *state_column; /* [n] of the truth, -1: none */
  double *error;      /* [n] and P [n x n], work [n (n + 2)], x [n] behind it */

  /* model alone */
  bramah_coupled *free_model;
  bramah_plant model;
  int model_runs; /* 0: there is none, or it could not be integrated any further */

  bramah__known_inputs known;

  /* noise that adapts */
  bramah_adaptive *adaptive; /* NULL: none */
  double *stated;            /* [n_dof + n_first_order + n_sensors] */

  /* smooth.c */
  bramah_smoother *smoother;
  int64_t smooth_from_ns; /* time of the log at its first step */
  int smoothing;          /* the backward pass was made */

  bramah__snapshot snapshot; /* memory of the last one written */
  bramah__results results;
};

/* run.c */
void bramah__assess_tell(const bramah_assess *a, const char *format, ...) BRAMAH__PRINTF(2, 3);

/* results.c: memory for estimates, and for results; the augmented states of the filter, which showing smoothed steps
 * moves; count a sample that is used; watch for faults and resets at the present step. */
bramah_status bramah__estimate_init(bramah_assess *a, bramah_diag *diag);
bramah_status bramah__results_init(bramah_assess *a, bramah_diag *diag);
void bramah__results_free(bramah__results *results);
void bramah__estimate_augmented(bramah_assess *a);
void bramah__consistency_add(bramah_assess *a, const bramah_rewind_use *use);
void bramah__events_watch(bramah_assess *a);

/* accuracy.c: open the truth and find its columns; go to the present time; compare the present estimate, or
 * the smoothed one. Where there is no truth nothing is done. */
bramah_status bramah__accuracy_init(bramah_assess *a, bramah_diag *diag);
bramah_status bramah__accuracy_seek(bramah_assess *a, int64_t time_ns, int *matched, bramah_diag *diag);
void bramah__accuracy_step(bramah_assess *a);
void bramah__accuracy_smoothed(bramah_assess *a);

/* unknown_inputs.c: keep a row for the second filter; after each step of the first the same step of the second.
 * A second filter that cannot go on is given up: the status is why. */
bramah_status bramah__known_init(bramah_assess *a, const bramah_replay_options *options, bramah_diag *diag);
void bramah__known_free(bramah__known_inputs *known);
bramah_status bramah__known_keep(bramah_assess *a, const bramah_sample *sample, bramah_diag *diag);
bramah_status bramah__known_step(bramah_assess *a, bramah_diag *diag);
void bramah__known_save(const bramah_assess *a, bramah__snapshot *snapshot);
bramah_status bramah__known_resume(bramah_assess *a, const bramah__snapshot *snapshot, bramah_diag *diag);

/* smooth.c: at the first step, take memory and record. */
bramah_status bramah__smooth_begin(bramah_assess *a, bramah_diag *diag);

#endif
