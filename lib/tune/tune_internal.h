/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tuning as the library and its program share it: problem, replays, workers, judging, search, certainty. */
#ifndef BRAMAH_LIB_TUNE_INTERNAL_H
#define BRAMAH_LIB_TUNE_INTERNAL_H

#include "lib/base/text.h"
#include "lib/io/worker_pool.h"
#include "lib/tune/journal.h"
#include "lib/tune/optimise.h"
#include "bramah/replay.h"
#include "bramah/session.h"
#include "bramah/tune.h"

/* A log held in memory, read once and replayed often by any number of threads; and the truth that goes with
 * it. */
typedef struct bramah__tune_log {
  const char *path;
  size_t rows, n_inputs, n_sensors;
  int64_t *time_ns;                   /* [rows] */
  double *inputs, *y;                 /* [rows x n_inputs], [rows x n_sensors] */
  unsigned char *has_input, *present; /* the same */
  const char *truth_path;             /* NULL: none */
  size_t truth_rows, n_outputs;
  int64_t *truth_ns; /* [truth_rows] */
  double *truth;     /* [truth_rows x n_outputs] NaN: nothing there */
  double *largest;   /* [n_outputs] magnitude of the truth */
  uint64_t hash;     /* of all of it */
} bramah__tune_log;

/* Read a log by the columns that the session's study names. Released by bramah__tune_log_free in any case.
 * Errors: those of cli_log_source; E_EMPTY (fewer than two rows). */
bramah_status bramah__tune_log_read(bramah__tune_log *log, const char *path, const bramah_session *session,
                                    bramah_diag *diag);
/* And the truth: outputs [n] of the plant by name. Errors: those of cli_truth; E_COLUMN. */
bramah_status bramah__tune_log_read_truth(bramah__tune_log *log, const char *path, const bramah_plant *plant,
                                          size_t n, const size_t *outputs, bramah_diag *diag);
void bramah__tune_log_free(bramah__tune_log *log);

/* Value of output i of the truth nearest to a time, or NaN beyond `tolerance`; times ascend with one *row,
 * which begins at 0. */
double bramah__tune_log_truth(const bramah__tune_log *log, int64_t time_ns, int64_t tolerance_ns, size_t i,
                              size_t *row);

/* The log as the source of one replay. Samples that arrive late stand where they were measured, so that
 * nothing has to be made again. */
typedef struct bramah__tune_cursor {
  const bramah__tune_log *log;
  int64_t end_ns;    /* later rows are not read */
  size_t input;      /* next row of the commands */
  size_t *next;      /* [n_sensors] next row of each sensor */
  int64_t *delay_ns; /* [n_sensors] */
  double *shift;     /* [n_sensors] added to the samples */
  int any_delay;
} bramah__tune_cursor;

/* delay_ns and shift [n_sensors] are copied; the first `thousandths` of the log's time are read. Released by
 * bramah__tune_cursor_close. */
bramah_status bramah__tune_cursor_open(bramah__tune_cursor *cursor, const bramah__tune_log *log,
                                       const int64_t *delay_ns, const double *shift, int thousandths,
                                       bramah_diag *diag);
void bramah__tune_cursor_close(bramah__tune_cursor *cursor);
/* bramah_source; user is the bramah__tune_cursor. */
bramah_status bramah__tune_cursor_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* What tuning and sweeps share: a study, the values that vary, and the logs. It does not change while any
 * number of threads replays; a set of values is a text, so that it can be kept, sent and compared exactly. */
/* What a value is, as far as it matters for its start value and its penalty. */
typedef enum bramah__tune_kind {
  BRAMAH__TUNE_OTHER = 0,
  BRAMAH__TUNE_SENSOR,       /* sigma of sensor `index` */
  BRAMAH__TUNE_ACCELERATION, /* density of the joint `index` of the study */
  BRAMAH__TUNE_PRESSURE,     /* density of the volume `index` of the study */
  BRAMAH__TUNE_NOISE,        /* another density */
  BRAMAH__TUNE_DELAY
} bramah__tune_kind;

/* One value that varies. Numbers are in the unit in which the value is in its file. */
typedef struct bramah__tune_parameter {
  char *name; /* as given: "volumes.v1.noise", "machine.hydraulics.oil.bulk_modulus" */
  bramah_study_ref ref;
  size_t n_also;
  const char *const *also;    /* further places, as given */
  bramah_study_ref *also_ref; /* [n_also] */
  int line;                   /* of the study */
  const char *text;           /* the value as it is */
  const char *unit;           /* in `text`, "" for none */
  double factor;              /* to SI */
  double start;               /* `text` as a number */
  double least, most;         /* bounds, for tuning */
  double step;                /* 0: default */
  int linear;
  bramah__tune_kind kind;
  size_t index;
} bramah__tune_parameter;

enum { BRAMAH__TUNE_MOST = 64, BRAMAH__TUNE_CHECKS = 20, BRAMAH__TUNE_BINS = 20, BRAMAH__TUNE_TEXT = 4096 };

typedef struct bramah__tune_problem {
  const char *path;                           /* of the study */
  void (*tell)(void *user, const char *line); /* notes; NULL: nobody wants them */
  void *tell_user;
  int (*stopped)(void *user); /* asked now and then: 1 ends all work with E_TIME; NULL: never */
  void *stopped_user;
  bramah_study *study;     /* in memory; what varies is set in copies of it */
  bramah_session *session; /* of a copy, as the files say: names, units, the start */
  size_t n;
  bramah__tune_parameter *tuned; /* [n] */
  size_t n_logs;
  bramah__tune_log *logs; /* [n_logs] */
  size_t n_sensors, n_outputs;
  size_t *outputs; /* [n_outputs] compared with the truth */
  int ahead;       /* steps of a prediction, 0: none */
  int64_t settle_ns;
  double *
      edges; /* [n_sensors x (BRAMAH__TUNE_BINS - 1)] upper ends of bins of chi-square, by degrees of freedom */
  uint64_t identity; /* of the program, the study, its machine, what is judged */
  int shared_model;  /* 1: no value changes the machine, all replays use the session's model */
} bramah__tune_problem;

/* Open the study and what its `tune` section says. Whatever was made is released by bramah__tune_problem_close. */
bramah_status bramah__tune_problem_open(bramah__tune_problem *problem, const char *path, bramah_diag *diag);
void bramah__tune_problem_close(bramah__tune_problem *problem);
/* One more value by its name; its value as it is is looked up (NULL: none may stand there, for a sweep).
 * `also` is kept by reference. Errors: E_KEY with the nearest name, E_VALUE (given twice,
 * too many), E_UNSUPPORTED (it says how logs are read). */
bramah_status bramah__tune_problem_add(bramah__tune_problem *problem, const char *name, int line,
                                       size_t n_also, const char *const *also, bramah__tune_parameter **out,
                                       bramah_diag *diag);
/* The values of the `tune` section with their bounds. */
bramah_status bramah__tune_problem_add_parameters(bramah__tune_problem *problem, bramah_diag *diag);
/* Read the logs; truths [n_truths] belong to the first ones. */
bramah_status bramah__tune_problem_read(bramah__tune_problem *problem, size_t n, const char *const *paths,
                                        size_t n_truths, const char *const *truths, bramah_diag *diag);
/* After everything is known: identity, whether the model can be shared, bins. Errors: E_MEMORY. */
bramah_status bramah__tune_problem_seal(bramah__tune_problem *problem, bramah_diag *diag);

/* ---- sets of values ---- */

/* A set is "value; value; ..." [BRAMAH__TUNE_TEXT]. From numbers x [n] in the units of the files, to 12
 * digits. */
void bramah__tune_set_text(const bramah__tune_problem *problem, const double *x, char *out);
/* Numbers of such a text. */
void bramah__tune_set_numbers(const bramah__tune_problem *problem, const char *set, double *x);
/* Scale on which steps are made: logarithm, or share of the bounds' distance; and back, within the bounds. */
double bramah__tune_scaled(const bramah__tune_parameter *tuned, double x);
double bramah__tune_unscaled(const bramah__tune_parameter *tuned, double z);
/* The set in which value j is changed a little, to see what changes; returns by how much on the scale. */
double bramah__tune_neighbour(const bramah__tune_problem *problem, const char *set, size_t j, char *out);

/* A session of the study with this set, with filter; delays are moved from its sensors into
 * delay_ns [n_sensors]. Released by bramah__tune_session_close in any case. */
typedef struct bramah__tune_session {
  bramah_session *session;
  int64_t *delay_ns; /* [n_sensors] */
  double *shift;     /* [n_sensors] to be added to what the log says [SI] */
  int shared;        /* the model is the problem's */
} bramah__tune_session;
bramah_status bramah__tune_session_open(bramah__tune_session *session, const bramah__tune_problem *problem,
                                        const char *set, bramah_diag *diag);
void bramah__tune_session_close(bramah__tune_session *session);

/* One replay of one log with one set of values, and what it tells: all values that any criterion needs, as
 * plain numbers that can be kept, sent and compared to the bit. */
/* What is asked. With `slope` a neighbour per value of the problem runs along. */
typedef struct bramah__tune_job {
  size_t log;
  int slope;
  int thousandths; /* of the log's time that are replayed, 1000: all */
  int limited;     /* 1: stop when the cost passes limit[c] at check c */
  double limit[BRAMAH__TUNE_CHECKS];
  char set[BRAMAH__TUNE_TEXT];
} bramah__tune_job;

/* Places of the values common to all problems. Cost: lib/tune/likelihood.h, up to BRAMAH__TUNE_CHECKS times spread
 * evenly over what is replayed. Bins: of the NIS of one time, as many in each for a consistent filter. */
enum {
  BRAMAH__TUNE_STATUS = 0, /* bramah_status */
  BRAMAH__TUNE_STOPPED,    /* 1 + check at which it was given up, 0: complete */
  BRAMAH__TUNE_CHECKED,    /* checks passed */
  BRAMAH__TUNE_TIME,       /* [s] of the log reached */
  BRAMAH__TUNE_STEPS,
  BRAMAH__TUNE_USED, /* innovations fused, after settling */
  BRAMAH__TUNE_GATED,
  BRAMAH__TUNE_NIS, /* sum, and of its degrees of freedom */
  BRAMAH__TUNE_DOF,
  BRAMAH__TUNE_COST, /* [BRAMAH__TUNE_CHECKS] the last one is the cost of all */
  BRAMAH__TUNE_JOINT = BRAMAH__TUNE_COST + BRAMAH__TUNE_CHECKS, /* [BRAMAH__TUNE_BINS] */
  BRAMAH__TUNE_SENSORS = BRAMAH__TUNE_JOINT + BRAMAH__TUNE_BINS
};

/* Values of one sensor, in blocks from BRAMAH__TUNE_SENSORS on. */
enum {
  BRAMAH__TUNE_OF_N = 0, /* innovations fused */
  BRAMAH__TUNE_OF_GATED,
  BRAMAH__TUNE_OF_SQUARES, /* sum of nu^2 [SI] */
  BRAMAH__TUNE_OF_NIS,     /* sum of e^2, e = nu / sigma */
  BRAMAH__TUNE_OF_SUM,     /* of e */
  BRAMAH__TUNE_OF_LAG,     /* [BRAMAH_TUNE_LAGS] sums of e e_-l */
  BRAMAH__TUNE_OF_AHEAD =
      BRAMAH__TUNE_OF_LAG + BRAMAH_TUNE_LAGS,       /* sum of squared errors of predictions [SI], number */
  BRAMAH__TUNE_OF_BINS = BRAMAH__TUNE_OF_AHEAD + 2, /* [BRAMAH__TUNE_BINS] */
  BRAMAH__TUNE_PER_SENSOR = BRAMAH__TUNE_OF_BINS + BRAMAH__TUNE_BINS
};

/* Behind them per output: sum of squares of the errors against the truth [SI], their number. Behind these,
 * with slope: gradient [n], information [n x n], gradient at each check [BRAMAH__TUNE_CHECKS x n]. */
size_t bramah__tune_place_sensor(size_t i);
size_t bramah__tune_place_output(const bramah__tune_problem *problem, size_t i);
size_t bramah__tune_place_gradient(const bramah__tune_problem *problem);
size_t bramah__tune_place_information(const bramah__tune_problem *problem);
size_t bramah__tune_place_scores(const bramah__tune_problem *problem);
size_t bramah__tune_n_scores(const bramah__tune_problem *problem, int slope);

/* Replay. Whatever goes wrong in the filter is a value (BRAMAH__TUNE_STATUS), with its message in diag; errors:
 * E_MEMORY; E_TIME (interrupted by a signal). Runs on any thread; neighbours on those of the pool (NULL: none) that
 * have nothing else to do. Values do not depend on them. */
bramah_status bramah__tune_replay(const bramah__tune_problem *problem, const bramah__tune_job *job,
                                  bramah__worker_pool *pool, double *scores, bramah_diag *diag);

int bramah__tune_is_stopped(const bramah__tune_problem *problem);
/* E_TIME. */
bramah_status bramah__tune_interrupted(bramah_diag *diag);

/* What a job with these limits gives, from one without or with others: 0 if that cannot be told. */
int bramah__tune_cut(const bramah__tune_job *job, double *scores);

/* One filter that replays one log, and its innovations: a chunk of steps at a time, so that several that run
 * along may do their chunks on several threads. */
/* Steps of a chunk: some tenths of a millisecond, much longer than it takes to share them out. */
enum { BRAMAH__TUNE_CHUNK = 64 };

/* One correction. */
typedef struct bramah__tune_seen {
  const bramah_innovation *innovation; /* [n_sensors] */
  const double *S;                     /* [n_sensors x n_sensors] covariance of those present */
} bramah__tune_seen;

/* One step of the chunk, and its corrections: a log faster than the step brings several. */
typedef struct bramah__tune_step {
  int64_t time_ns;
  size_t first, n_seen;
} bramah__tune_step;

typedef struct bramah__tune_runner bramah__tune_runner;

/* Who else wants to know: after a step of the filter before its correction, and after it. NULL: nobody. */
typedef struct bramah__tune_hooks {
  void *user;
  bramah_status (*predicted)(void *user, bramah_diag *diag);
  void (*stepped)(void *user, const bramah__tune_step *step);
} bramah__tune_hooks;

struct bramah__tune_runner {
  size_t n_sensors;
  bramah__tune_session opened;
  bramah__tune_cursor cursor;
  bramah_replay *replay;
  bramah__tune_hooks hooks;
  double *P;      /* [n_error x n_error] before the coming correction */
  double *column; /* [n_error] */
  /* The last chunk; it ends early where the log ends, or with an error. */
  size_t n_steps, n_seen, room;
  bramah__tune_step steps[BRAMAH__TUNE_CHUNK];
  bramah_innovation *innovations; /* [room x n_sensors] */
  double *S;                      /* [room x n_sensors x n_sensors] */
  int end;
  bramah_status status;
  bramah_diag diag;
};

/* A runner for this set of values over the first `thousandths` of a log. Released by bramah__tune_runner_close in
 * any case. Errors: those of bramah__tune_session_open, E_MEMORY. */
bramah_status bramah__tune_runner_open(bramah__tune_runner *runner, const bramah__tune_problem *problem,
                                       size_t log, int thousandths, const char *set, bramah_diag *diag);
void bramah__tune_runner_close(bramah__tune_runner *runner);
/* The next chunk. What goes wrong is in `status` and `diag`, after the steps before it. */
void bramah__tune_runner_go(bramah__tune_runner *runner);
/* Correction k of the chunk. */
bramah__tune_seen bramah__tune_runner_seen(const bramah__tune_runner *runner, size_t k);

/* Many replays at once: by threads of this process and, where the program was built for it, by other
 * processes through MPI. What comes out does not depend on how many there are or who is done first. Every
 * result goes into the journal as it comes; what the journal knows is not replayed again. */
/* Other processes. give: hand a job to worker 1 <= rank < n_ranks; fetch an answer: 1 and whose with its
 * values, 0 if none has come. `number` comes back with the answer. */
typedef struct bramah__tune_ranks {
  void (*give)(size_t rank, size_t number, const bramah__tune_job *job);
  int (*fetch)(const bramah__tune_problem *problem, size_t *rank, size_t *number, double *scores);
} bramah__tune_ranks;

typedef struct bramah__tune_workers {
  const bramah__tune_problem *problem;
  size_t n_threads;
  bramah__journal *journal;
  uint64_t replays;   /* made in this run; a neighbour counts as one */
  double log_seconds; /* of log replayed in this run */
  size_t n_ranks;     /* 1: no other processes */
  const bramah__tune_ranks *ranks;
} bramah__tune_workers;

/* Do the jobs; values [n] pointers to room for bramah__tune_n_scores each. Errors: E_MEMORY; E_FILE (the
 * journal cannot take more: what was done before is in it); E_TIME (interrupted). */
bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      double *const *scores, bramah_diag *diag);

/* logs [n] in the order of values [n]. */
bramah_tune_verdict bramah__tune_judge(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                       double *const *scores);

/* Is next to nothing left of the innovations after gating? */
int bramah__tune_starved(const bramah_tune_verdict *verdict);

/* Value of a criterion, to be made small; infinite where a replay failed. */
double bramah__tune_criterion_value(const bramah_tune_verdict *verdict, bramah_tune_criterion criterion);

bramah_tune_colour bramah__tune_look_at_sensor(const bramah__tune_problem *problem, size_t n,
                                               double *const *scores, size_t i);

/* A line for each sensor whose innovations keep a memory; returns how many. values [n] of logs. */
size_t bramah__tune_warn_coloured(const bramah__tune_problem *problem, size_t n, double *const *after,
                                  void (*say)(void *user, const char *line), void *user);

/* The search for the best values: evaluations over some of the logs, where to begin, and the optimisers. */
typedef struct bramah__tune_search {
  const bramah__tune_problem *problem;
  bramah__tune_workers *workers;
  bramah_tune_criterion criterion;
  bramah_tune_method method;
  double penalty;
  uint64_t budget, evaluations; /* sets evaluated; a slope counts 1 + n; budget 0: none */
  int (*enough)(void *user);    /* 1 ends the search as its budget does; NULL: never */
  size_t n_logs;
  size_t *logs;    /* [n_logs] tuned on */
  double *white;   /* [n] sigma of a sensor that is white as it is, in the file's unit; 0: no penalty */
  double *samples; /* [n] of that sensor */
  double unit;     /* of the penalty: cost per squared logarithm; 0: by samples */
  void (*progress)(void *user, const bramah_tune_progress *progress); /* NULL: none */
  void *user;
  const char *phase;
  double most_used; /* innovations of a complete evaluation */
  size_t n_tried, room;
  bramah_tune_tried *tried;
  int given; /* early stopping: limits of the best set known are there */
  double best;
  double *limits;  /* [problem->n_logs x BRAMAH__TUNE_CHECKS] costs of the best set */
  double *block;   /* values of an evaluation */
  double **scores; /* [problem->n_logs] */
} bramah__tune_search;

/* Room; logs [n_logs] is copied. Released by bramah__tune_search_close in any case. */
bramah_status bramah__tune_search_open(bramah__tune_search *search, const bramah__tune_problem *problem,
                                       bramah__tune_workers *workers, size_t n_logs, const size_t *logs,
                                       bramah_diag *diag);
void bramah__tune_search_close(bramah__tune_search *search);

/* Evaluate a set over the logs of the search; values in search->values [n_logs] until the next call. value:
 * criterion with penalty, infinite where it cannot be used. */
bramah_status bramah__tune_evaluate(bramah__tune_search *search, const char *set, int slope, int limited,
                                    double *value, bramah_tune_verdict *verdict, bramah_diag *diag);

/* Why a replay of the set failed (verdict->status): its message, with log and time; with `slope` also that of
 * a neighbour. */
bramah_status bramah__tune_explain_failure(const bramah__tune_problem *problem, const char *set, int slope,
                                           const bramah_tune_verdict *verdict, bramah_diag *diag);

/* Why the set cannot be used: a message that names log, set and what to do. */
bramah_status bramah__tune_explain(const bramah__tune_search *search, const char *set,
                                   const bramah_tune_verdict *verdict, bramah_diag *diag);

/* Replays of many sets over the search's logs at once; values [n_sets x n_logs] pointers. */
bramah_status bramah__tune_evaluate_all(bramah__tune_search *search, size_t n_sets,
                                        char (*sets)[BRAMAH__TUNE_TEXT], int thousandths,
                                        double *const *scores, bramah_diag *diag);
void bramah__tune_note_tried(bramah__tune_search *search, const char *set, int slope,
                             const bramah_tune_verdict *verdict, double value);

/* From set as it is to where the search begins: sensors' noise from the correlations of the innovations,
 * plant noise by a common factor. The set is changed. */
bramah_status bramah__tune_find_start(bramah__tune_search *search, char *set, bramah_diag *diag);

/* The search; set [BRAMAH__TUNE_TEXT] is where it begins and what it finds. `fixed` [n] (NULL: none) tells
 * values that stay. */
bramah_status bramah__tune_optimise(bramah__tune_search *search, char *set, const unsigned char *fixed,
                                    bramah__optimum *out, bramah_diag *diag);

/* Penalty at a set, and its slope and curvature on the scale of the values, added to gradient [n] and
 * information [n x n] (may be NULL). */
double bramah__tune_penalty(const bramah__tune_search *search, const double *x, double *gradient,
                            double *information);

/* How well the logs tell the values that were found. */
typedef enum bramah__tune_held {
  BRAMAH__TUNE_FREE = 0,
  BRAMAH__TUNE_AT_LEAST, /* at a bound */
  BRAMAH__TUNE_AT_MOST,
  BRAMAH__TUNE_FLAT /* the logs do not tell it */
} bramah__tune_held;

typedef struct bramah__tune_certainty {
  size_t n;
  double *x;      /* [n] as found, in the units of the files */
  double *sigma;  /* [n] standard error on the scale (of the logarithm, or share of the range); NaN: none */
  double *fisher; /* [n] the same by the information alone */
  double *low, *high;      /* [n] 95 % interval in the units of the files */
  double *correlation;     /* [n x n] */
  bramah__tune_held *held; /* [n] */
  double weakest;          /* least eigenvalue of the information scaled to a diagonal of ones */
  double *direction;       /* [n] its eigenvector */
} bramah__tune_certainty;

/* From an evaluation with slope at `set` that is in search->values, and the information [n x n] with
 * penalty. The standard error is the larger one of two: by the information, which holds for a right model;
 * and by how the slopes of twentieths of the logs scatter (P. J. Huber 1967, H. White 1982), which holds for
 * a wrong one too, where there are at least ten of them per value. Released by bramah__tune_certainty_free in
 * any case. */
bramah_status bramah__tune_certainty_find(bramah__tune_certainty *certainty,
                                          const bramah__tune_search *search, const char *set,
                                          const double *information, bramah_diag *diag);
void bramah__tune_certainty_free(bramah__tune_certainty *certainty);

/* Warnings by name: values the logs do not tell, and pairs that can be told only together. Calls say for
 * each line; returns how many. */
size_t bramah__tune_certainty_warn(const bramah__tune_certainty *certainty,
                                   const bramah__tune_problem *problem,
                                   void (*say)(void *user, const char *line), void *user);

/* Whether what was found holds: on logs it was not tuned on, away from the optimum, by other criteria. */
/* Values the slope tells little of (flat, at a bound, a large standard error): how far they may go from x
 * until the cost has grown by 1.92, half the 95 % quantile of chi-square, the others leaning with them as the
 * information tells. Changes low and high of the certainty. */
bramah_status bramah__tune_bound_weak(bramah__tune_certainty *certainty, bramah__tune_search *search,
                                      const char *set, const double *information, bramah_diag *diag);

/* ---- cross-validation ---- */

typedef struct bramah__tune_folds {
  size_t n;
  bramah_tune_fold *fold; /* [n] */
} bramah__tune_folds;

/* Of two logs or more. Log k is left out in fold k % n; each search begins at `set`. Sets tried go into search->tried. */
bramah_status bramah__tune_cross_validate(bramah__tune_folds *folds, bramah__tune_search *search, size_t n,
                                          const char *given, const char *set, bramah_diag *diag);
void bramah__tune_folds_free(bramah__tune_folds *folds);

/* ---- profiles ---- */

/* `sides` points to each side of every value, out to three standard errors; profiles [n of the problem] are
 * released by bramah__tune_profiles_free. */
bramah_status bramah__tune_find_profiles(bramah_tune_profile *profiles, bramah__tune_search *search,
                                         const char *set, const bramah__tune_certainty *certainty,
                                         const double *information, size_t sides, bramah_diag *diag);
void bramah__tune_profiles_free(bramah_tune_profile *profiles, size_t n);

/* ---- criteria against each other ---- */

/* Sets tried that no other one beats by one criterion while it is as good by the others: their `front`; and
 * the best set of each criterion, best [BRAMAH_TUNE_CRITERIA]; n_tried: none. */
void bramah__tune_compare_criteria(bramah__tune_search *search, size_t *best);

/* ---- a run ---- */

struct bramah_tuning {
  bramah_tune_options options;
  bramah__tune_problem problem;
  bramah__tune_workers workers;
  bramah__tune_search search;
  size_t n_tuned, n_all; /* logs; those that are only judged come last */
  char first[BRAMAH__TUNE_TEXT], set[BRAMAH__TUNE_TEXT];
  double *block, **before, **after; /* values [n_all] */
  double *gradient, *information;
  bramah__optimum optimum;
  bramah__tune_certainty certainty;
  bramah__tune_folds folds;
  bramah_tune_profile *profiles; /* NULL: not wanted */
  bramah_tune_result result;
  bramah_tuned_value *values;
  double *nis;            /* [2 x n_all] */
  const char **log_names; /* [n_all] */
  bramah_tune_consistency *consistency;
  const char *warning[16];
  char warning_text[16][256];
};

/* Steps of bramah_tune, on a structure of zeros: the study and what it wants tuned; the logs; all the rest.
 * bramah__tuning_close releases what they made, after an error too. */
bramah_status bramah__tuning_open(bramah_tuning *tuning, const char *study, size_t n_logs,
                                  const bramah_tune_options *options, bramah_diag *diag);
bramah_status bramah__tuning_read(bramah_tuning *tuning, const char *const *logs, bramah_diag *diag);
bramah_status bramah__tuning_run(bramah_tuning *tuning, bramah_diag *diag);
void bramah__tuning_close(bramah_tuning *tuning);

#endif
