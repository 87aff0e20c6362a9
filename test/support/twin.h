/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine twice: the truth with exactly the noise that a study assumes, of the plant, of the sensors and of the
 * start, and the study's session, which knows only what the sensors show. */
#ifndef BRAMAH_TEST_SUPPORT_TWIN_H
#define BRAMAH_TEST_SUPPORT_TWIN_H

#include "bramah/replay.h"
#include "bramah/session.h"

enum { TWIN_SENSORS = 10, TWIN_INPUTS = 4, TWIN_PAST = 256 };

/* How the filter is set: `preset` as the study has it otherwise. */
typedef struct twin_options {
  const char *study;     /* file in datasets/ */
  bramah_change *change; /* of the study file; NULL: none */
  size_t n_changes;
  int protect; /* 1: gates of 4 and a drift gate of 6; 0: none */
  int budget; /* 1: the uncertainty budget is on, by its defaults; 2: gains and delays of sensors are certain */
  int as_model; /* 1: the truth starts as the model does, and no noise acts on it */
  size_t rows;  /* room for so many */
} twin_options;

/* One moment of the log. */
typedef struct twin_row {
  double u[TWIN_INPUTS], y[TWIN_SENSORS];
  unsigned char present[TWIN_SENSORS];
} twin_row;

typedef struct twin {
  bramah_session *session;
  const bramah_session_parts *about;
  bramah_plant plant; /* of the session */
  bramah_coupled *coupled;
  bramah_plant truth;
  /* On the truth: makes its steps, knows their noise; measuring without error, it is linearised at the truth, and its
   * covariance the posterior Cramer-Rao bound. */
  bramah_filter *bound;
  bramah_schedule *schedule;
  int as_model;
  size_t n_rows, n_sensors, n; /* rows so far; n: error states of the plant */
  twin_row *row;
  double *output, *sigma;                          /* [n_rows x n_output] of the truth; of the bound */
  double *x;                                       /* [n_rows x n] coordinates of the truth */
  size_t read;                                     /* rows that the source has given */
  bramah_study_sensor_errors errors[TWIN_SENSORS]; /* where gains and delays are certain */
} twin;

/* What is wrong with the truth: a parameter is greater by `size` than the model's, a sensor shows `size` more, (1 +
 * size) times as much, or what was `size` seconds ago; from begin_s to end_s. kind 0: nothing. */
typedef struct twin_cause {
  bramah_cause_kind kind;
  size_t target;
  double size, begin_s, end_s;
} twin_cause;

/* Ready for twin_run; stops the test program on errors. */
void twin_open(twin *t, const twin_options *options);
void twin_close(twin *t);

/* Record `n_rows` rows of the truth from its start, drawn from the covariance of the study's; noise of `seed`. The
 * session is where it starts. With_bound 0: sigma is not made. */
void twin_run(twin *t, size_t n_rows, uint64_t seed, size_t n_causes, const twin_cause *cause,
              int with_bound);

/* The rows once more, from the first when `read` is 0: a bramah_source; user is the twin. */
bramah_status twin_source(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* The session's filter, which is at row k, against the truth: errors e [n] of the outputs shown, over their own standard
 * deviations ratio [n], and the NEES of the plant's state per state. */
void twin_compare(const twin *t, size_t k, size_t n, const size_t *shown, double *e, double *ratio,
                  double *nees);

#endif
