/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tuning and sweeps inside: the problem, candidates, replays and their scores, workers, judging, search,
 * certainty. */
#ifndef BRAMAH_LIB_TUNE_INTERNAL_H
#define BRAMAH_LIB_TUNE_INTERNAL_H

#include "lib/base/text.h"
#include "lib/io/worker_pool.h"
#include "lib/tune/journal.h"
#include "lib/tune/optimise.h"
#include "bramah/replay.h"
#include "bramah/session.h"
#include "bramah/tune.h"

enum { BRAMAH__TUNE_MOST = 64, BRAMAH__TUNE_CHECKS = 20, BRAMAH__TUNE_BINS = 20, BRAMAH__TUNE_TEXT = 4096 };

/* ---- logs (tune_log.c) ---- */

/* A log held in memory, read once and replayed often by any number of threads; and the truth that goes with
 * it. */
typedef struct bramah__tune_log {
  const char *path;
  size_t number; /* of the paths given */
  size_t rows, n_inputs, n_sensors;
  int64_t *time_ns;                   /* [rows] */
  double *inputs, *y;                 /* [rows x n_inputs], [rows x n_sensors] */
  unsigned char *has_input, *present; /* the same */
  size_t truth_rows, n_outputs;
  int64_t *truth_ns; /* [truth_rows] */
  double *truth;     /* [truth_rows x n_outputs] NaN: nothing there */
  double *largest;   /* [n_outputs] magnitude of the truth; NULL: no truth */
  uint64_t hash;     /* of all of it */
} bramah__tune_log;

/* Read a log by the columns that the session's study names; `stopped` (NULL: never) is asked now and then.
 * Released by bramah__tune_log_free in any case. Errors: those of bramah_log_stream_open; E_EMPTY (fewer
 * than BRAMAH__TUNE_CHECKS rows after `settle`); E_TIME. */
bramah_status bramah__tune_log_read(bramah__tune_log *log, const char *path, const bramah_session *session,
                                    const bramah_tune_run *run, bramah_diag *diag);
/* And the truth: outputs [n] of the plant by name. Errors: those of bramah__truth_open; E_COLUMN. */
bramah_status bramah__tune_log_read_truth(bramah__tune_log *log, const char *path, const bramah_plant *plant,
                                          size_t n, const size_t *outputs, bramah_diag *diag);
void bramah__tune_log_free(bramah__tune_log *log);

/* Value of output i of the truth nearest to a time, or NaN beyond `tolerance`; times ascend with one *row,
 * which begins at 0. */
double bramah__tune_log_truth(const bramah__tune_log *log, int64_t time_ns, int64_t tolerance_ns, size_t i,
                              size_t *row);

/* The log as the source of one replay. Samples that arrive late are given at the times they were measured,
 * so that nothing has to be made again. */
typedef struct bramah__tune_cursor {
  const bramah__tune_log *log;
  int64_t end_ns;          /* later rows are not read */
  size_t input;            /* next row of the commands */
  size_t *next;            /* [n_sensors] next row of each sensor */
  const int64_t *delay_ns; /* [n_sensors] */
  const double *shift;     /* [n_sensors] added to the samples */
  int any_delay;
} bramah__tune_cursor;

/* delay_ns and shift [n_sensors] stay the caller's; the first `thousandths` of the log's time are read.
 * Released by bramah__tune_cursor_close. */
bramah_status bramah__tune_cursor_open(bramah__tune_cursor *cursor, const bramah__tune_log *log,
                                       const int64_t *delay_ns, const double *shift, int thousandths,
                                       bramah_diag *diag);
void bramah__tune_cursor_close(bramah__tune_cursor *cursor);
/* bramah_source; user is the bramah__tune_cursor. */
bramah_status bramah__tune_cursor_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag);

/* ---- the problem (problem.c): a study, the values that vary, and the logs; shared by all threads ---- */

/* What a value is, as far as it matters for its start value and its penalty. */
typedef enum bramah__tune_kind {
  BRAMAH__TUNE_OTHER = 0,
  BRAMAH__TUNE_SENSOR,       /* sigma of sensor `index` */
  BRAMAH__TUNE_ACCELERATION, /* density of a joint */
  BRAMAH__TUNE_PRESSURE,     /* density of a volume */
  BRAMAH__TUNE_NOISE         /* another density */
} bramah__tune_kind;

/* One value that varies. Numbers are in the unit in which the value is in its file. */
typedef struct bramah__tune_parameter {
  char *name; /* as given: "volumes.v1.noise", "machine.hydraulics.oil.bulk_modulus" */
  bramah_study_ref ref;
  size_t n_also;
  const char *const *also;    /* further places, as given */
  bramah_study_ref *also_ref; /* [n_also] */
  int line;                   /* of the study; 0: asked for by --vary */
  const char *text;           /* the value as it is */
  const char *unit;           /* in `text`, "" for none; NULL: it is no number */
  double factor;              /* to SI */
  double start;               /* `text` as a number */
  double least, most;         /* bounds, for tuning */
  double step;                /* 0: default */
  int linear;
  size_t n_listed; /* 0: any number */
  char **
      listed; /* [n_listed] the values of a sweep, words among them; a candidate has the place in this list */
  bramah__tune_kind kind;
  size_t index;
  int is_parameter; /* 1: `parameter` of the plant is this value of the machine */
  size_t parameter;
} bramah__tune_parameter;

typedef struct bramah__tune_problem {
  char *path; /* of the study */
  bramah_tune_run run;
  bramah_study *study;     /* in memory; what varies is set in copies of it */
  bramah_session *session; /* of a copy, as the files say: names, units, the start */
  size_t n;
  bramah__tune_parameter *tuned; /* [n] */
  size_t n_logs, n_held;         /* those not tuned on come last */
  bramah__tune_log *logs;        /* [n_logs] */
  size_t n_left_out;
  bramah_tune_left_out *left_out; /* [n_left_out] */
  size_t n_sensors, n_outputs;
  size_t *outputs; /* [n_outputs] compared with the truth */
  int ahead;       /* steps of a prediction, 0: none */
  int64_t settle_ns;
  double *edges;     /* [n_sensors x (BINS - 1)] upper ends of bins of chi-square, by degrees of freedom */
  uint64_t identity; /* of the program, the study, its machine, what is judged */
  int shared_model; /* 1: no value changes the machine but by parameters, all replays use the session's model */
} bramah__tune_problem;

/* Open the study. Whatever was made is released by bramah__tune_problem_close. run NULL: default. */
bramah_status bramah__tune_problem_open(bramah__tune_problem *problem, const char *path,
                                        const bramah_tune_run *run, bramah_diag *diag);
void bramah__tune_problem_close(bramah__tune_problem *problem);
/* One more value by its name. `also` is kept by reference. Errors: E_KEY with the nearest name, E_VALUE
 * (given twice, too many), E_UNSUPPORTED (it says how logs are read). */
bramah_status bramah__tune_problem_add(bramah__tune_problem *problem, const char *name, int line,
                                       size_t n_also, const char *const *also, bramah__tune_parameter **out,
                                       bramah_diag *diag);
/* The values of the `tune` section with their bounds. */
bramah_status bramah__tune_problem_add_parameters(bramah__tune_problem *problem, bramah_diag *diag);
/* After all values are known: ask whether to go on, read the logs with their truths, make identity and bins.
 * The last n_held paths are not tuned on. Logs that cannot be used are left out while one to tune on remains. */
bramah_status bramah__tune_problem_read(bramah__tune_problem *problem, size_t n, const char *const *paths,
                                        size_t n_held, bramah_diag *diag);
/* A log is left out: remembered, and told. */
void bramah__tune_leave_out(bramah__tune_problem *problem, const char *log, const bramah_diag *why);

/* E_TIME where the run is to end. */
bramah_status bramah__tune_stopped(const bramah_tune_run *run, bramah_diag *diag);

/* ---- candidates: x [n] of the problem, each as a file would have it, with 12 digits ---- */

/* To these digits. */
void bramah__tune_round(const bramah__tune_problem *problem, double *x);
/* "0.1 bar", or what is listed; out [256]. */
void bramah__tune_value_text(const bramah__tune_parameter *tuned, double x, char *out);
/* All of them, "0.1 bar; 3 deg": for keys and messages. out [BRAMAH__TUNE_TEXT]. */
void bramah__tune_candidate_text(const bramah__tune_problem *problem, const double *x, char *out);
/* Scale on which steps are made: logarithm, or share of the bounds' distance; and back, within the bounds. */
double bramah__tune_scaled(const bramah__tune_parameter *tuned, double x);
double bramah__tune_unscaled(const bramah__tune_parameter *tuned, double z);
/* The candidate in which value j is changed a little, to see what changes; returns by how much on the scale.
 */
double bramah__tune_neighbour(const bramah__tune_problem *problem, const double *x, size_t j, double *out);

/* A session of the study with this candidate, with filter; delays are moved from its sensors into
 * delay_ns [n_sensors]. Released by bramah__tune_session_close in any case. */
typedef struct bramah__tune_session {
  bramah_session *session;
  int64_t *delay_ns; /* [n_sensors] */
  double *shift;     /* [n_sensors] to be added to what the log says [SI] */
  int shared;        /* the model is the problem's */
} bramah__tune_session;
bramah_status bramah__tune_session_open(bramah__tune_session *session, const bramah__tune_problem *problem,
                                        const double *x, bramah_diag *diag);
void bramah__tune_session_close(bramah__tune_session *session);

/* ---- replays of a log with a candidate each, and their scores (replay.c) ---- */

/* What is asked. With `slope` a neighbour per value of the problem runs along. Sent between processes as
 * bytes. */
typedef struct bramah__tune_job {
  size_t log;
  int slope;
  int thousandths; /* of the log's time that are replayed, 1000: all */
  int limited;     /* 1: stop when the cost passes limit[c] at check c */
  double limit[BRAMAH__TUNE_CHECKS];
  double x[BRAMAH__TUNE_MOST];
} bramah__tune_job;

/* What the innovations of one sensor add up to, e = nu / sigma. */
typedef struct bramah__sensor_score {
  double n, gated;                /* innovations fused, rejected by the gate */
  double squares;                 /* sum of nu^2 [SI] */
  double nis;                     /* sum of e^2 */
  double sum;                     /* of e */
  double lag[BRAMAH_TUNE_LAGS];   /* sums of e e_-l */
  double ahead_squares, ahead_n;  /* errors of predictions [SI] */
  double bins[BRAMAH__TUNE_BINS]; /* counts of e^2, as many in each for a consistent filter */
} bramah__sensor_score;

/* Errors of one output against the truth. */
typedef struct bramah__output_score {
  double squares, n; /* [SI] */
} bramah__output_score;

/* All that any criterion needs of a replay. After settling, but for status, time and steps. */
typedef struct bramah__replay_score {
  bramah_status status; /* of the filter */
  int stopped;          /* 1 + check at which it was given up, 0: complete */
  int checked;          /* checks passed */
  double time;          /* [s] of the log reached */
  double steps;         /* made */
  double used, gated;   /* innovations fused, rejected */
  double nis, dof;      /* sum, and of its degrees of freedom */
  /* lib/tune/likelihood.h, at times spread evenly; the last one is of all */
  double cost[BRAMAH__TUNE_CHECKS];
  double bins[BRAMAH__TUNE_BINS]; /* counts of the NIS of one time */
  bramah__sensor_score *sensor;   /* [n_sensors] */
  bramah__output_score *output;   /* [n_outputs] */
  double *gradient;               /* [n] of the cost; with slope, as what follows */
  double *information;            /* [n x n] */
  double *gradient_at;            /* [BRAMAH__TUNE_CHECKS x n] gradient at each check */
  double apart[8];                /* keeps what two threads write out of one line of the cache */
} bramah__replay_score;

/* Scores [n] with all their arrays in one block, zero; released by free(). NULL: no memory. */
bramah__replay_score *bramah__replay_scores_new(const bramah__tune_problem *problem, size_t n, int slope);

/* A score as plain numbers, the same to the bit, for journal and other processes: how many there are, and
 * from the score to the numbers or back. */
size_t bramah__replay_score_length(const bramah__tune_problem *problem, int slope);
typedef enum bramah__score_direction { BRAMAH__SCORE_PACK, BRAMAH__SCORE_UNPACK } bramah__score_direction;
void bramah__replay_score_transfer(const bramah__tune_problem *problem, int slope,
                                   bramah__score_direction direction, bramah__replay_score *score,
                                   double *numbers);

/* Filters that go in lockstep: as many as a program has lanes. */
enum { BRAMAH__TUNE_TOGETHER = 16 };

/* Replay jobs [n] into scores [n], all filters of them in lockstep. Whatever goes wrong in a filter is
 * score->status, of a single job with its message in diag; errors: E_MEMORY; E_TIME (interrupted). Runs on any
 * thread; what is more than go together, on those of the pool (NULL: none) that have nothing else to do. Scores
 * do not depend on them, nor on the jobs that go with them. */
bramah_status bramah__tune_replay(const bramah__tune_problem *problem, size_t n,
                                  const bramah__tune_job *const *jobs, bramah__worker_pool *pool,
                                  bramah__replay_score *const *scores, bramah_diag *diag);

/* What a job with these limits gives, from one without or with others: 0 if that cannot be said. */
int bramah__tune_cut(const bramah__tune_job *job, bramah__replay_score *score);

/* ---- many replays at once (workers.c) ---- */

/* Threads of this process, and other processes. What comes out does not depend on how many there are or who
 * is done first. Every result goes into the journal as it comes; what the journal knows is not replayed
 * again. */
typedef struct bramah__tune_workers {
  const bramah__tune_problem *problem;
  size_t n_threads;
  bramah__journal *journal;
  uint64_t replays;   /* made in this run; a neighbour counts as one */
  double log_seconds; /* of log replayed in this run */
} bramah__tune_workers;

/* How many threads the run has. */
size_t bramah__tune_threads(const bramah_tune_run *run);

/* Number of threads, journal; says what the journal has. Closed by bramah__tune_workers_close in any case. */
bramah_status bramah__tune_workers_open(bramah__tune_workers *workers, const bramah__tune_problem *problem,
                                        bramah_diag *diag);
void bramah__tune_workers_close(bramah__tune_workers *workers);

/* Do the jobs. Errors: E_MEMORY; E_FILE (the journal cannot take more: what was done before is in it);
 * E_TIME. */
bramah_status bramah__tune_workers_do(bramah__tune_workers *workers, size_t n, const bramah__tune_job *jobs,
                                      bramah__replay_score *scores, bramah_diag *diag);
/* Candidates x [n] on logs [n_logs], whole; scores [n x n_logs]. */
bramah_status bramah__tune_workers_replay(bramah__tune_workers *workers, size_t n,
                                          double (*x)[BRAMAH__TUNE_MOST], size_t n_logs, const size_t *logs,
                                          int thousandths, bramah__replay_score *scores, bramah_diag *diag);

/* After reading, with what came of it: do all processes have the same study, machine and logs? Called by
 * all. Where the first one failed the others return its status with an empty diag: it says it for all. */
bramah_status bramah__tune_agree(const bramah__tune_problem *problem, const bramah_tune_run *run,
                                 bramah_status status, bramah_diag *diag);
/* Is this a process that works for another one? */
int bramah__tune_serves(const bramah_tune_run *run);
/* Then: jobs until it is dismissed. */
bramah_status bramah__tune_serve(const bramah__tune_problem *problem, bramah_diag *diag);
void bramah__tune_dismiss(const bramah_tune_run *run); /* all other processes */

/* ---- judging (judge.c) ---- */

/* How a candidate did on logs [n] with these scores [n]. */
bramah_tune_verdict bramah__tune_judge(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                       const bramah__replay_score *scores);
/* Is next to nothing left of the innovations after gating? */
int bramah__tune_starved(const bramah_tune_verdict *verdict);
const char *bramah__tune_criterion_name(bramah_tune_criterion criterion);
/* Value of a criterion, to be made small; infinite where a replay failed. */
double bramah__tune_criterion_value(const bramah_tune_verdict *verdict, bramah_tune_criterion criterion);
/* What the innovations of sensor i say over n logs; of all sensors over one log (n, nis and its band). Those of
 * `looks` logs are looked at in this way: of all their tests one fails by chance once in a thousand times. */
bramah_tune_colour bramah__tune_colour_of(const bramah__tune_problem *problem, size_t n,
                                          const bramah__replay_score *scores, size_t i, size_t looks);
bramah_tune_colour bramah__tune_colour_of_all(const bramah__tune_problem *problem,
                                              const bramah__replay_score *score, size_t looks);

/* Why a replay of the candidate failed (verdict->status): its message, with log and time; with `slope` also
 * that of a neighbour. */
bramah_status bramah__tune_explain_failure(const bramah__tune_problem *problem, const double *x, int slope,
                                           const bramah_tune_verdict *verdict, bramah_diag *diag);

/* ---- the search (search.c): evaluations over some of the logs, where to begin, and the optimisers ---- */

typedef struct bramah__tune_search {
  const bramah__tune_problem *problem;
  bramah__tune_workers *workers;
  bramah_tune_criterion criterion;
  bramah_tune_method method;
  double penalty;
  uint64_t budget, evaluations;       /* candidates evaluated, with slope or not; budget 0: any number */
  const bramah_tune_options *options; /* for progress and `enough` */
  size_t n_logs;
  size_t *logs;    /* [n_logs] tuned on */
  double *white;   /* [n] sigma of a sensor that is white as it is, in the file's unit; 0: no penalty */
  double *samples; /* [n] of that sensor */
  double unit;     /* of the penalty: cost per squared logarithm; 0: by samples */
  const char *phase;
  double most_used; /* innovations of a complete evaluation */
  size_t n_tried, room;
  bramah_tune_tried *tried;
  int given; /* early stopping: limits of the best candidate known are there */
  double best;
  double *limits;               /* [problem->n_logs x BRAMAH__TUNE_CHECKS] costs of the best candidate */
  bramah__replay_score *scores; /* [n_logs] with slope, of the last evaluation */
} bramah__tune_search;

/* Room; criterion, method, penalty and options are set beforehand, logs [n_logs] is copied. Released by
 * bramah__tune_search_close in any case. */
bramah_status bramah__tune_search_open(bramah__tune_search *search, bramah__tune_workers *workers,
                                       size_t n_logs, const size_t *logs, bramah_diag *diag);
void bramah__tune_search_close(bramah__tune_search *search);

/* Does the budget allow n more evaluations? */
int bramah__tune_affords(const bramah__tune_search *search, uint64_t n);
/* Evaluate a candidate over the logs of the search; search->scores are its. value: criterion with penalty,
 * infinite where it cannot be used. limited: a replay that is hopeless against the best one may be given up.
 */
bramah_status bramah__tune_evaluate(bramah__tune_search *search, const double *x, int slope, int limited,
                                    double *value, bramah_tune_verdict *verdict, bramah_diag *diag);
/* Candidates x [n] at once, over the first `thousandths` of the logs; value [n] of the criterion, with
 * penalty or not. */
bramah_status bramah__tune_evaluate_all(bramah__tune_search *search, size_t n, double (*x)[BRAMAH__TUNE_MOST],
                                        int thousandths, bramah_tune_criterion criterion, int penalised,
                                        double *value, bramah_diag *diag);
/* Why the candidate cannot be used: a message that names log, candidate and what to do. */
bramah_status bramah__tune_explain(const bramah__tune_search *search, const double *x,
                                   const bramah_tune_verdict *verdict, bramah_diag *diag);

/* The candidate that hardly heeds its sensors: their noise as large, that of the plant as small as may be. */
void bramah__tune_heedless(const bramah__tune_problem *problem, double *x);
/* From x as it is to where the search begins: sensors' noise from the correlations of the innovations,
 * plant noise by a common factor. x is changed. Where the budget does not allow all of that, it stays. */
bramah_status bramah__tune_find_start(bramah__tune_search *search, double *x, bramah_diag *diag);
/* The search; x is where it begins and what it finds. `fixed` [n] (NULL: none) marks values that stay. */
bramah_status bramah__tune_optimise(bramah__tune_search *search, double *x, const unsigned char *fixed,
                                    bramah__optimum *out, bramah_diag *diag);
/* Penalty at x, and its slope and curvature on the scale of the values, added to gradient [n] and
 * information [n x n] (may be NULL). */
double bramah__tune_penalty(const bramah__tune_search *search, const double *x, double *gradient,
                            double *information);

/* ---- whether what was found holds (certainty.c) ---- */

/* How well the logs say a value. */
typedef enum bramah__tune_held {
  BRAMAH__TUNE_FREE = 0,
  BRAMAH__TUNE_AT_LEAST, /* at a bound */
  BRAMAH__TUNE_AT_MOST,
  BRAMAH__TUNE_FLAT /* the logs do not say it */
} bramah__tune_held;

typedef struct bramah__tune_certainty {
  size_t n;                /* 0: not known */
  double *x;               /* [n] as found, in the units of the files */
  double *sigma;           /* [n] standard error on the scale; NaN: none */
  double *fisher;          /* [n] the same by the information alone */
  double *low, *high;      /* [n] 95 % interval in the units of the files */
  double *correlation;     /* [n x n] */
  double *information;     /* [n x n] with penalty */
  bramah__tune_held *held; /* [n] */
  int cut;                 /* 1: the budget ended before the looks across */
  double weakest;          /* least eigenvalue of the information scaled to a diagonal of ones */
  double *direction;       /* [n] its eigenvector */
} bramah__tune_certainty;

/* From an evaluation with slope at x that is in search->scores. The standard error is the larger one of two:
 * by the information, which holds for a right model; and by how the slopes of twentieths of the logs scatter
 * (P. J. Huber 1967, H. White 1982), which holds for a wrong one too, where there are at least ten of them
 * per value. Values the slope says little of (flat, at a bound, a large standard error) get their interval
 * by looks across: how far they may go from x until the cost has grown by 1.92, half the 95 % quantile of
 * chi-square, the others leaning with them as the information says. Released by bramah__tune_certainty_free
 * in any case. */
bramah_status bramah__tune_certainty_find(bramah__tune_certainty *certainty, bramah__tune_search *search,
                                          const double *x, bramah_diag *diag);
void bramah__tune_certainty_free(bramah__tune_certainty *certainty);

/* Warnings by name: values the logs do not say, and values that can be found only together. */
void bramah__tune_certainty_warn(const bramah__tune_certainty *certainty, const bramah__tune_problem *problem,
                                 void (*say)(void *user, const char *line), void *user);

/* Cross-validation over two logs or more: log k is left out in fold k % n; each search begins at x. `given`
 * is the study's own candidate. folds [n] are released by bramah__tune_folds_free. */
bramah_status bramah__tune_cross_validate(bramah_tune_fold *folds, size_t n, bramah__tune_search *search,
                                          const double *given, const double *x, bramah_diag *diag);
void bramah__tune_folds_free(bramah_tune_fold *folds, size_t n);

/* `sides` points to each side of every value, out to three standard errors; profiles [n of the problem] are
 * released by bramah__tune_profiles_free. */
bramah_status bramah__tune_find_profiles(bramah_tune_profile *profiles, bramah__tune_search *search,
                                         const bramah__tune_certainty *certainty, size_t sides,
                                         bramah_diag *diag);
void bramah__tune_profiles_free(bramah_tune_profile *profiles, size_t n);

/* Candidates tried that no other one beats by one criterion while it is as good by the others: their
 * `front`; and the best candidate of each criterion, best [BRAMAH_TUNE_CRITERIA]; n_tried: none. */
void bramah__tune_compare_criteria(bramah__tune_search *search, size_t *best);

#endif
