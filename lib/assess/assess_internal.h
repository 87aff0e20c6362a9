/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An assessment and its parts. assess.c steps it, forwards and backwards, results.c has what it estimates, counts,
 * compares with the truth and judges, windows.c judges innovations in windows,
 * noise_doubt.c doubts process noise, unknown_inputs.c runs the second filter, snapshot.c writes it all into a file. */
#ifndef BRAMAH_LIB_ASSESS_ASSESS_INTERNAL_H
#define BRAMAH_LIB_ASSESS_ASSESS_INTERNAL_H

#include "bramah/alarm.h"
#include "bramah/assess.h"
#include "bramah/log.h"
#include "bramah/monitor.h"
#include "bramah/smoother.h"
#include "bramah/observability.h"
#include "lib/math/innovation_tests.h"
#include "lib/assess/statistics.h"
#include "lib/base/arena.h"
#include "lib/io/fail.h"
#include "lib/logs/logs.h"

/* Sums over the innovations of a sensor, or of all. */
typedef struct bramah__innovations {
  bramah__nis nis;   /* of those fused */
  double expected;   /* sum over them of what their gates leave of a mean NIS of 1 */
  double considered; /* sum over them of the shares of considered states in their variances */
  uint64_t present, gated, saturated;
  /* normalised: the last one, sums of products with the one before, squares */
  double last, products, squares;
} bramah__innovations;

/* Innovations of a sensor in a window (windows.c). */
typedef struct bramah__window {
  int open;
  int64_t begin_ns, end_ns, last_ns; /* the last sample */
  bramah__innovation_sums sums;
} bramah__window;
/* Of all windows of a length the one that is worst in one respect. */
typedef struct bramah__worst {
  uint64_t tests;
  int matters; /* 1: it is beyond what is tolerated, if it is no accident */
  int64_t begin_ns, end_ns;
  uint64_t fails;     /* windows that fail without a doubt */
  int64_t since_ns;   /* begin of the first of them */
  double value, size; /* in standard deviations of the value */
} bramah__worst;
enum {
  BRAMAH__LENGTHS = 3,
  BRAMAH__WINDOW_KINDS = BRAMAH__TESTS,     /* in the order of BRAMAH_CHECK_MEAN to BRAMAH_CHECK_ANTI */
  BRAMAH__CHECKS = BRAMAH__WINDOW_KINDS + 4 /* of a sensor at most */
};
/* Windows of a sensor, or of all. */
typedef struct bramah__windows {
  int is_sensor, has_gate;
  int64_t start_ns; /* the first sample that is judged */
  double expected;  /* mean NIS behind the gate */
  uint64_t tests;
  bramah__window window[BRAMAH__LENGTHS]; /* 1 s, 10 s, all */
  bramah__worst worst[BRAMAH__WINDOW_KINDS][BRAMAH__LENGTHS];
} bramah__windows;

/* Begin with the first sample of all, at t; of a sensor with this gate (0: none), or of all. */
void bramah__windows_begin(bramah__windows *w, int64_t t, int is_sensor, double gate);
/* One more sample of a sensor whose noise has this variance; of all after them: the NIS of one time. */
void bramah__windows_add(bramah__windows *w, int64_t t, const bramah_innovation *in, double noise);
void bramah__windows_add_all(bramah__windows *w, int64_t t, double nis, size_t dof,
                             const bramah__windows *sensors, size_t n_sensors);
/* With the windows judged that are not over. */
bramah__windows bramah__windows_close(const bramah__windows *w);
/* The worst of a kind, against what is tolerated; without tests where none was made. */
const bramah__worst *bramah__windows_worst(const bramah__windows *w, bramah_check_kind kind, double limit);
/* Standard deviations within which all of so many tests stay in 99.9 % of the runs of a right filter (Z. Sidak, J. Am.
 * Stat. Assoc. 62, 1967). */
double bramah__windows_limit(uint64_t tests, int two_sided);

/* Sums over the errors of an output. */
typedef struct bramah__accuracy {
  size_t output; /* of the plant */
  const char *name, *unit;
  long sensor;   /* that measures just this, -1: none */
  int is_judged; /* 0: an angle of a vector, whose band says nothing where the vector is as small as its own */
  bramah__rmse estimate, model, measured, smoothed;
  uint64_t judged, within; /* as in bramah_accuracy */
} bramah__accuracy;

/* A filter with known inputs that runs along (unknown_inputs.c). */
typedef struct bramah__known_inputs {
  size_t n;            /* unknown inputs; 0: there is no second filter */
  size_t n_rows, room; /* rows of the log that it has not taken yet */
  unsigned char *rows; /* [room x row_size] time, values, flags */
  size_t n_values;     /* of a row: inputs and sensors */
  bramah_another_plant other;
  bramah_plant plant;
  bramah_filter *filter; /* NULL: there is none, or it has ended */
  bramah_replay *replay;
  size_t *parameter; /* [n] of the plant */
  double *sum[2];    /* [n_output] of sigma: unknown commands, known ones */
  uint64_t count;
} bramah__known_inputs;

/* ---- snapshots ---- */

/* A file of named pieces of memory, to go on later:
 *
 *   | "BRAMAHSN" | format, byte order | length |
 *   | { name [24] | size | bytes, to a multiple of 8 } ... | FNV-1a |
 *
 * The check sum at the end is over all before it. Numbers are those of the machine that wrote it: a snapshot
 * is for the same program on the same kind of computer, not for archives. */
typedef struct bramah__snapshot {
  unsigned char *bytes; /* NULL: none */
  size_t size, room;
  int failed; /* memory was out */
} bramah__snapshot;

void bramah__snapshot_free(bramah__snapshot *snapshot);
/* Begin anew, in the memory there is. */
void bramah__snapshot_clear(bramah__snapshot *snapshot);
/* A new piece of n bytes, zeroed and 8-byte aligned, to be filled before the next one; NULL when memory is
 * out; bramah__snapshot_write then fails. */
void *bramah__snapshot_add(bramah__snapshot *snapshot, const char *name, size_t n);
void bramah__snapshot_put(bramah__snapshot *snapshot, const char *name, const void *from, size_t n);
/* A piece and its size; NULL if there is none of the name. */
const void *bramah__snapshot_find(const bramah__snapshot *snapshot, const char *name, size_t *n);
/* Copy a piece that must have n bytes; 0 if there is none, or of another size. */
int bramah__snapshot_get(const bramah__snapshot *snapshot, const char *name, void *out, size_t n);

/* Complete it, after the last piece. Returns 0 if memory ran out. */
int bramah__snapshot_seal(bramah__snapshot *snapshot);
/* Seal it, write it to a file of its own and rename that, so that the path always holds a whole snapshot. Errors:
 * E_FILE, E_MEMORY. */
bramah_status bramah__snapshot_write(bramah__snapshot *snapshot, const char *path, bramah_diag *diag);
/* Read and check it. Errors: E_FILE, E_SYNTAX (no snapshot, or damaged), E_TRUNCATED, E_MEMORY. */
bramah_status bramah__snapshot_read(bramah__snapshot *snapshot, const char *path, bramah_diag *diag);

/* FNV-1a hash (64 bits) of n bytes, begun with the number below or gone on with. */
#define BRAMAH__HASH_START UINT64_C(14695981039346656037)
uint64_t bramah__hash(const void *bytes, size_t n, uint64_t hash);

/* ---- an assessment ---- */

/* What of the corrections of an augmented state comes from changes of its gains, over a window (noise_doubt.c). */
typedef struct bramah__gathered {
  double sum, variance;     /* so far in the window that is open, and what it is by chance */
  int64_t from_ns, last_ns; /* of the window; of the last correction */
  double worst, share,
      start; /* of the window most in doubt: sum in standard deviations, and in those of the state; when it began [s] */
} bramah__gathered;

typedef struct bramah__mean_gain {
  double value;
  int64_t time_ns;
  int is_known;
} bramah__mean_gain;

/* Whether innovations of a sensor take back what the one before did (noise_doubt.c). */
typedef struct bramah__lag_1 {
  bramah__innovation_sums from; /* all up to the window that is open */
  int64_t from_ns;              /* it begins */
  uint64_t tests;               /* windows judged */
  double correlation, size;     /* of the worst one, size in standard deviations; 0: none matters */
  int64_t begin_ns, end_ns;
} bramah__lag_1;

/* Estimates that a diagnosis can begin with, spread over the run. */
enum { BRAMAH__KEPT = 128 };

typedef char bramah__state_name[128];
typedef struct bramah__band {
  double low, high; /* of a mean NIS; both 0: not looked up yet */
} bramah__band;

/* Its arrays, cut from one arena: type, name, how many, and what they hold. Their numbers are in `a`. */
#define BRAMAH__ASSESS_ARRAYS(X)                                                                             \
  X(bramah_assess_output, outputs, a->plant->n_output, "those shown")                                        \
  X(double, value, a->plant->n_output, "estimates")                                                          \
  X(double, sigma, a->plant->n_output, "of these")                                                           \
  X(double, truth, a->plant->n_output, "at the same time")                                                   \
  X(unsigned char, sigma_unwanted, a->plant->n_output, "nobody looks at it")                                 \
  X(double, alone, a->plant->n_output, "of the model alone")                                                 \
  X(double, measured, a->n_sensors, "at this time")                                                          \
  X(bramah__band, bands, a->n_sensors + 1, "of a NIS by its degrees of freedom")                             \
  X(size_t, shown_as, a->n_augmented, "output of the plant, or n_output")                                    \
  X(bramah_augmented_estimate, augmented, a->n_augmented, "states")                                          \
  X(int64_t, estimated_from, a->n_augmented, "as in bramah_augmented_estimate")                              \
  X(bramah__gathered, gathered, a->n_augmented)                                                              \
  X(bramah__mean_gain, mean_gain, a->n_augmented * a->n_sensors)                                             \
  X(bramah__lag_1, lag_1, 2 * a->n_sensors, "of the filter's own innovations, of the monitor's, by sensor")  \
  X(bramah_filter_phase, phases, a->n_phases)                                                                \
  X(bramah__innovations, innovations, a->n_sensors, "sums")                                                  \
  X(bramah__windows, windows, a->n_sensors + 1, "of each, and of all together")                              \
  X(bramah__autocorrelation, whiteness, a->options.whiteness ? a->n_sensors : 0, "of innovations")           \
  X(double, lags, a->options.whiteness ? a->n_sensors *BRAMAH__AUTOCORRELATION_LAGS : 0, "of these")         \
  X(bramah_event, fault, a->n_sensors, "of sensors")                                                         \
  X(bramah__accuracy, accuracy, a->options.truth ? a->plant->n_output : 0, "[n_accuracies]")                 \
  X(long, column, a->plant->n_output, "of the truth by output, -1: none")                                    \
  X(bramah__state_name, state, bramah_plant_n_error(a->plant), "names of the error states at the last time") \
  X(long, state_column, bramah_plant_n_error(a->plant), "of the truth, -1: none")                            \
  X(double, error, a->n_work, "[n] and P [n x n], work [n (n + 2)], x [n] behind it")                        \
  X(double, stated, a->n_noises, "noise that adapts, as the study states it")                                \
  X(bramah_consistency, sensor_results, a->n_sensors, "results of sensors")                                  \
  X(bramah_accuracy, accuracy_results, a->options.truth ? a->plant->n_output : 0, "of outputs")              \
  X(bramah_adapted, adapted, a->n_noises, "noise that adapts, at present")                                   \
  X(bramah_input_cost, input_cost, a->plant->n_output, "of unknown inputs")                                  \
  X(bramah_hidden, hidden, a->plant->n_output, "what sensors could hide")                                    \
  X(int64_t, kept_ns, BRAMAH__KEPT, "[n_kept] times of estimates")                                           \
  X(unsigned char, kept, BRAMAH__KEPT * a->kept_size,                                                        \
    "[n_kept] the filter then, as bramah_filter_save has it")                                                \
  X(bramah_alarm_state, alarms, a->n_sensors + 1, "first ones of sensors and of all jointly")                \
  X(bramah_finding, finding,                                                                                 \
    (BRAMAH__CHECKS + 1) * (a->n_sensors + 1) + a->n_augmented + a->plant->n_output + 3 + BRAMAH_N_LIMITS,   \
    "of the verdict")

/* What goes along with an assessment: called after each estimate; its state goes into snapshots and comes back from them. */
typedef struct bramah__passenger {
  void (*step)(void *user);
  void *user;
  void *state; /* [size] no pointers */
  size_t size;
} bramah__passenger;

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
  size_t n_sensors, n_augmented, n_phases, n_outputs, n_accuracies;
  size_t n_noises, n_work;  /* sizes of arrays */
  size_t kept_size, n_kept; /* of estimates kept */
  int64_t keep_ns, next_ns; /* from one to the next; time of the next one */
  bramah_assess_totals totals;
  bramah_filter_report counts; /* at the step before */
  double reading;              /* [s] of the clock, within the source */
  uint64_t study_hash, machine_hash;

  void *memory; /* of the arrays */
  BRAMAH__ASSESS_ARRAYS(BRAMAH__FIELD_MEMBER)
  bramah_estimate estimate;
  int taken;                 /* the estimate holds the values of the present step */
  int broken_off;            /* an error has ended the run */
  const bramah_doubt *doubt; /* of the verdict */
  bramah_doubt noise_doubt;  /* that claimed process noise is there */
  bramah__innovations all;
  bramah_event recoveries;
  bramah_assess_results results;

  bramah__truth *rows; /* of the truth; NULL: none */
  int has_nees;        /* the plant has coordinates to compare */
  bramah__nis nees;

  /* model alone */
  bramah_another_plant free_model;
  bramah_plant model;
  int model_runs; /* 0: there is none, or it could not be integrated any further */

  bramah__known_inputs known;
  bramah_adaptive *adaptive; /* noise that adapts; NULL: none */
  bramah_alarm *alarm;
  bramah_monitor *monitor; /* NULL: nothing is augmented, innovations are white anyway */

  /* backward pass */
  bramah_smoother *smoother;
  int64_t smooth_from_ns; /* time of the log at its first step */
  int smoothing;          /* it was made */

  bramah__passenger passenger; /* step NULL: none */
  bramah__snapshot snapshot;   /* memory of the last one written */
};

/* assess.c */
void bramah__assess_tell(const bramah_assess *a, const char *format, ...) BRAMAH__PRINTF(2, 3);

/* Take one along, in place of the one before; before the first estimate, or to drop it. */
void bramah__assess_carry(bramah_assess *a, const bramah__passenger *passenger);

/* results.c: the present estimate of a column of the results alone, with its standard deviation, NaN: none. Fill what estimates and results consist of, and open the truth; the augmented states of the filter, which
 * showing smoothed steps moves; which of them are estimated from now on; count a sample that is used; watch for faults and resets at the present step. */
double bramah__assess_value(const bramah_assess *a, size_t column, double *sigma);
bramah_status bramah__results_init(bramah_assess *a, bramah_diag *diag);
void bramah__estimate_augmented(bramah_assess *a);
void bramah__estimated_watch(bramah_assess *a);
void bramah__consistency_add(bramah_assess *a, const bramah_rewind_use *use);
void bramah__events_watch(bramah_assess *a);
/* The alarm of sensor i, or of all jointly, is raised. */
void bramah__alarm_keep(bramah_assess *a, size_t i);
/* Where there is a truth: go to the present time; compare the present estimate, or the smoothed one. */
bramah_status bramah__truth_seek(bramah_assess *a, int64_t time_ns, int *matched, bramah_diag *diag);
void bramah__accuracy_step(bramah_assess *a);
void bramah__accuracy_smoothed(bramah_assess *a);

/* noise_doubt.c: after each correction of the filter. Whether process noise is claimed that is not there, while constants are learned; NULL: not. */
void bramah__noise_doubt_watch(bramah_assess *a);
const bramah_doubt *bramah__noise_doubt(bramah_assess *a);

/* unknown_inputs.c: keep a row for the second filter; after each step of the first the same step of the second.
 * A second filter that cannot go on is given up: the status is why. */
bramah_status bramah__known_init(bramah_assess *a, const bramah_replay_options *options, bramah_diag *diag);
void bramah__known_free(bramah__known_inputs *known);
bramah_status bramah__known_keep(bramah_assess *a, const bramah_sample *sample, bramah_diag *diag);
bramah_status bramah__known_step(bramah_assess *a, bramah_diag *diag);
void bramah__known_save(const bramah_assess *a, bramah__snapshot *snapshot);
bramah_status bramah__known_resume(bramah_assess *a, const bramah__snapshot *snapshot, bramah_diag *diag);

/* The whole state of an assessment in memory, and back to it on the log opened anew (a log stream, without truth and backward
 * pass): it goes on from there as it did the first time. Errors: E_MEMORY; those of bramah_assess_resume. */
bramah_status bramah__assess_keep(bramah_assess *a, bramah__snapshot *snapshot, bramah_diag *diag);
bramah_status bramah__assess_go_back(bramah_assess *a, const bramah__snapshot *snapshot,
                                     bramah_log_stream *log, bramah_diag *diag);

/* What bramah_verdict_keep has kept of these estimates, cut to fit out [n]. 0: nothing, or of another file. */
int bramah__verdict_kept(const char *estimates, char *out, size_t n);

#endif
