/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tuning and sweeps share: a study, the figures that vary, and the logs. It does not change while any
 * number of threads replays; a set of values is a text, so that it can be kept, sent and compared exactly. */
#ifndef BRAMAH_LIB_CLI_TUNE_LAB_H
#define BRAMAH_LIB_CLI_TUNE_LAB_H

#include "lib/cli/tune_log.h"

/* What a figure is, as far as it matters for its start value and its penalty. */
typedef enum cli_tune_kind {
  CLI_TUNE_OTHER = 0,
  CLI_TUNE_SENSOR,       /* sigma of sensor `index` */
  CLI_TUNE_ACCELERATION, /* density of the joint `index` of the study */
  CLI_TUNE_PRESSURE,     /* density of the volume `index` of the study */
  CLI_TUNE_NOISE,        /* another density */
  CLI_TUNE_DELAY
} cli_tune_kind;

/* One figure that varies. Numbers are in the unit in which the value stands in its file. */
typedef struct cli_tuned {
  char *name; /* as given: "volumes.v1.noise", "machine.hydraulics.oil.bulk_modulus" */
  bramah_study_ref ref;
  size_t n_also;
  const char *const *also;    /* further places, as given */
  bramah_study_ref *also_ref; /* [n_also] */
  int line;                   /* of the study */
  const char *text;           /* the value as it stands */
  const char *unit;           /* in `text`, "" for none */
  double factor;              /* to SI */
  double start;               /* `text` as a number */
  double least, most;         /* bounds, for tuning */
  double step;                /* 0: default */
  int linear;
  cli_tune_kind kind;
  size_t index;
} cli_tuned;

enum { CLI_TUNE_MOST = 64, CLI_TUNE_CHECKS = 20, CLI_TUNE_BINS = 20, CLI_TUNE_TEXT = 4096 };

typedef struct cli_tune_lab {
  const char *path;        /* of the study */
  int quiet;               /* 1: notes are said elsewhere */
  bramah_study *study;     /* in memory; what varies is set in copies of it */
  bramah_session *session; /* of a copy, as the files say: names, units, the start */
  size_t n;
  cli_tuned *tuned; /* [n] */
  size_t n_logs;
  cli_tune_log *logs; /* [n_logs] */
  size_t n_sensors, n_outputs;
  size_t *outputs; /* [n_outputs] compared with the truth */
  int ahead;       /* steps of a prediction, 0: none */
  int64_t settle_ns;
  double
      *edges; /* [n_sensors x (CLI_TUNE_BINS - 1)] upper ends of bins of chi-square, by degrees of freedom */
  uint64_t identity; /* of the program, the study, its machine, what is judged */
  int shared_model;  /* 1: no figure changes the machine, all replays use the session's model */
} cli_tune_lab;

/* Open the study and what its `tune` section says. Whatever was made is released by cli_tune_lab_close. */
bramah_status cli_tune_lab_open(cli_tune_lab *lab, const char *path, bramah_diag *diag);
void cli_tune_lab_close(cli_tune_lab *lab);
/* One more figure by its name; its value as it stands is looked up (NULL: none may stand there, for a sweep).
 * `also` is kept by reference. Errors: E_KEY with the nearest name, E_VALUE (given twice,
 * too many), E_UNSUPPORTED (it says how logs are read). */
bramah_status cli_tune_lab_add(cli_tune_lab *lab, const char *name, int line, size_t n_also,
                               const char *const *also, cli_tuned **out, bramah_diag *diag);
/* The figures of the `tune` section with their bounds. */
bramah_status cli_tune_lab_add_parameters(cli_tune_lab *lab, bramah_diag *diag);
/* Read the logs; truths [n_truths] belong to the first ones. */
bramah_status cli_tune_lab_read(cli_tune_lab *lab, size_t n, const char *const *paths, size_t n_truths,
                                const char *const *truths, bramah_diag *diag);
/* After everything is known: identity, whether the model can be shared, bins. Errors: E_MEMORY. */
bramah_status cli_tune_lab_seal(cli_tune_lab *lab, bramah_diag *diag);

/* ---- sets of values ---- */

/* A set is "value; value; ..." [CLI_TUNE_TEXT]. From numbers x [n] in the units of the files, to 12
 * digits. */
void cli_tune_set_text(const cli_tune_lab *lab, const double *x, char *out);
/* Numbers of such a text. */
void cli_tune_set_numbers(const cli_tune_lab *lab, const char *set, double *x);
/* Scale on which steps are made: logarithm, or share of the bounds' distance; and back, within the bounds. */
double cli_tune_scaled(const cli_tuned *tuned, double x);
double cli_tune_unscaled(const cli_tuned *tuned, double z);
/* The set in which figure j is changed a little, to see what changes; returns by how much on the scale. */
double cli_tune_neighbour(const cli_tune_lab *lab, const char *set, size_t j, char *out);

/* A session of the study with this set, with filter; delays are moved from its sensors into
 * delay_ns [n_sensors]. Released by cli_tune_session_close in any case. */
typedef struct cli_tune_session {
  bramah_session *session;
  int64_t *delay_ns; /* [n_sensors] */
  double *shift;     /* [n_sensors] to be added to what the log says [SI] */
  int shared;        /* the model is the lab's */
} cli_tune_session;
bramah_status cli_tune_session_open(cli_tune_session *session, const cli_tune_lab *lab, const char *set,
                                    bramah_diag *diag);
void cli_tune_session_close(cli_tune_session *session);

#endif
