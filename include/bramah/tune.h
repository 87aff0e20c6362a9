/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a study (measurement and process noise, parameters of the machine) from logs: those that make
 * the innovations of its filter most likely, with intervals. Part of libbramah-tools.
 *
 *   bramah_tuning *tuning;
 *   if (bramah_tune("study.yaml", n, logs, NULL, &diag, &tuning)) ... diag says what and where ...
 *   bramah_tuning_write(tuning, "tuned.yaml", NULL, &diag);
 *   bramah_tuning_free(tuning);
 *
 * What comes out does not depend on the number of threads or processes. Nothing is printed; study, machine and
 * logs are read once, at the start. The section `tune` of the study says which values are to be found and between
 * which bounds. Source of likelihood, slope and information: F. C. Schweppe, IEEE Trans. Information Theory 11
 * (1965); N. K. Gupta, R. K. Mehra, IEEE Trans. Automatic Control 19 (1974). */
#ifndef BRAMAH_TUNE_H
#define BRAMAH_TUNE_H

#include "bramah/plausibility.h"
#include "bramah/study.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far a search is. */
typedef struct bramah_tune_progress {
  const char *phase; /* "start", "search", "range", "fold", "profile" */
  uint64_t evaluations, replays;
  double best; /* value of the criterion */
} bramah_tune_progress;

/* Other processes that work along, such as those of MPI, as a carrier of bytes. All of them call bramah_tune
 * or bramah_sweep_open with the same files and options; rank 0 leads, the others replay what it sends them.
 * The functions are called on the thread that called, and bytes arrive in the order in which they were sent.
 */
typedef struct bramah_transport {
  void *self;
  size_t rank, size;                                    /* 0 <= rank < size */
  void (*broadcast)(void *self, void *bytes, size_t n); /* from rank 0 to all others; called by all */
  void (*send)(void *self, size_t to, const void *bytes, size_t n);
  /* 1 with the length n <= room of a message and who sent it; 0: none has come. Does not wait. */
  int (*receive)(void *self, void *bytes, size_t room, size_t *n, size_t *from);
} bramah_transport;

/* What tunings and sweeps share: how the replays are made. All zero: the default. */
typedef struct bramah_tune_run {
  size_t n_threads; /* 0: as many as there are processors; among several processes one */
  size_t n_truths;
  const char *const *truths; /* [n_truths] true motion of the first logs */
  int strict; /* 1: a log that cannot be used ends the run; 0: it is left out, and `tell` names it once */
  const char *journal; /* file for every result as it comes; a new run goes on from it. NULL: none */
  const bramah_transport *transport; /* NULL: this process is alone */
  void *user;                        /* of the functions, all of which may be NULL: */
  /* Once the study was read and before the logs are: an error ends the run. */
  bramah_status (*opened)(void *user, const bramah_study *study, bramah_diag *diag);
  void (*tell)(void *user, const char *note); /* e.g. a value outside its bounds */
  int (*stopped)(void *user); /* asked by any thread now and then: 1 ends everything with E_TIME */
} bramah_tune_run;

/* How to tune. */
typedef struct bramah_tune_options {
  bramah_tune_run run;
  int criterion;        /* bramah_tune_criterion; -1: the study's */
  int method;           /* bramah_tune_method; -1: the study's */
  int start_from_study; /* 1: begin with the study's values, not with what the innovations tell */
  uint64_t budget;      /* evaluations (candidates tried) at most, and as many in each fold; 0: any number */
  size_t folds;         /* cross-validation: tune anew without each folds-th of the logs; 0: none */
  size_t profile;       /* profile of the likelihood: points to each side of every value; 0: none */
  size_t n_held;        /* the last so many logs are judged but not tuned on */
  void (*progress)(void *user, const bramah_tune_progress *progress); /* on the calling thread; NULL: none */
  int (*enough)(void *user); /* asked after evaluations: 1 ends the search as its budget does; NULL: never */
} bramah_tune_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_tune_options_default(bramah_tune_options *options);

/* How a filter with one candidate, a value for each that varies, did on some logs. NaN: not known (no truth,
 * no predictions). */
typedef struct bramah_tune_verdict {
  bramah_status status; /* of the first replay that failed */
  size_t failed;        /* that log; the number of logs: none */
  int stopped;          /* 1: a replay was given up; only `cost` counts then, as a lower bound */
  double used, gated;   /* innovations */
  double cost;          /* minus log likelihood, in all */
  double nis;           /* mean per degree of freedom */
  double distance;      /* of the distributions of NIS from chi-square, 0: alike; mean over sensors and all */
  double rmse;          /* against the truth, share of the largest magnitude, root mean square over outputs */
  double prediction;    /* errors some steps ahead, in standard deviations of the study's sensors */
} bramah_tune_verdict;

/* Lags that are looked at, and criteria there are. */
enum { BRAMAH_TUNE_LAGS = 10, BRAMAH_TUNE_CRITERIA = 4 };

/* What the innovations of a sensor say. */
typedef struct bramah_tune_colour {
  double n, gated;  /* samples */
  double nis;       /* mean per degree of freedom */
  double low, high; /* its band: some test of a run of a right filter fails once in a thousand runs. NaN: too
                       few samples to judge */
  double lag[BRAMAH_TUNE_LAGS]; /* correlations of normalised innovations */
  double ljung_box, p;          /* over all lags, and the probability of as much by chance */
  double white_sigma;           /* [SI] of the part without memory */
  int coloured; /* 1: the correlation of neighbours is beyond a tenth and, with the same thousandth, chance */
  int faint;    /* 1: not so, but beyond chance over all lags */
} bramah_tune_colour;

/* The innovations of one log before and after tuning. */
typedef struct bramah_tune_consistency {
  const char *log, *sensor; /* sensor NULL: all together (n, nis, low and high only) */
  bramah_tune_colour before, after;
} bramah_tune_consistency;

/* Cost over one value, the others made the best of. */
typedef struct bramah_tune_profile {
  size_t n;         /* points */
  double *x;        /* [n] of the value, ascending */
  double *cost;     /* [n] above the least */
  double low, high; /* where it crosses 1.92, half the 95 % quantile of chi-square */
} bramah_tune_profile;

/* One value, in the unit in which the study has it. */
typedef struct bramah_tuned_value {
  const char *path, *unit;
  size_t n_also;
  const char *const *also; /* [n_also] places that take the same value */
  const char *text;        /* as it was */
  double least, most;      /* bounds */
  int linear;              /* 1: on a linear scale, 0: on a logarithmic one */
  double before, found;
  double low, high; /* 95 % interval; NaN: not known (other criteria than the likelihood) */
  double sigma; /* standard error of the logarithm, linear: as a share of the bounds' distance; NaN: none */
  int at_bound; /* 1: it ended at a bound */
  int flat;     /* 1: the logs hardly tell it */
  size_t with;  /* the value it is most correlated with; itself: with none */
  double correlation;
  bramah_tune_profile profile; /* n 0: none */
} bramah_tuned_value;

/* Tuned without some of the logs, and judged on these. */
typedef struct bramah_tune_fold {
  size_t n_held;
  size_t *held;              /* [n_held] logs it does without, of the result's */
  double *x;                 /* [n values] found without them */
  bramah_tune_verdict given; /* on those left out: with the study's own values, */
  bramah_tune_verdict found; /* with those found without them, */
  bramah_tune_verdict all;   /* with those found on all */
} bramah_tune_fold;

/* A candidate that was tried. */
typedef struct bramah_tune_tried {
  const char *phase; /* "start", "search", "range", "fold", "profile" */
  int slope;         /* 1: with its neighbours */
  bramah_tune_verdict verdict;
  double value; /* of the criterion with penalty */
  double *x;    /* [n values] */
  int front;    /* 1: no other one is better by one criterion and as good by the others */
} bramah_tune_tried;

/* A log that was left out, and why. */
typedef struct bramah_tune_left_out {
  const char *log;
  bramah_diag why;
} bramah_tune_left_out;

/* What a tuning found. */
typedef struct bramah_tune_result {
  const bramah_study *study; /* that was tuned, as it was read */
  const char *ending;        /* "converged", "stopped by its budget", "stuck" */
  const char *criterion;     /* its name: "likelihood", "nis", "rmse" or "prediction" */
  int converged;             /* 0: stopped by its budget, or stuck */
  int iterations;
  size_t evaluations;
  uint64_t replays;   /* made in this run */
  double log_seconds; /* of log replayed in this run */
  size_t n_known;     /* results that the journal had */
  double cost;        /* value of the criterion at the end */
  size_t n;
  const bramah_tuned_value *values; /* [n] in the order of the study */
  int has_intervals;
  size_t n_logs, n_held;                /* of them the last n_held were not tuned on */
  const char *const *logs;              /* [n_logs] that were used */
  const double *nis_before, *nis_after; /* [n_logs] mean per degree of freedom; 1 is expected */
  size_t n_left_out;
  const bramah_tune_left_out *left_out;
  size_t n_consistency;
  const bramah_tune_consistency *consistency; /* of each log: its sensors, then all together */
  size_t n_folds;
  const bramah_tune_fold *folds;
  size_t n_tried;
  const bramah_tune_tried *tried;    /* [n_tried] in their order */
  size_t best[BRAMAH_TUNE_CRITERIA]; /* candidate preferred by each criterion; n_tried: none */
  size_t n_warnings;
  const char *const *warnings; /* what the logs do not tell, what remains coloured */
  /* With the values found process noise is overestimated in a log while parameters are learned (bramah/assess.h, bramah_verdict.doubt);
   * NULL: nothing says so */
  const bramah_doubt *doubt;
  const char *doubted_log; /* the first that says so */
} bramah_tune_result;

/* A finished tuning. */
typedef struct bramah_tuning bramah_tuning;

/* Tune. options NULL: default. Allocates; takes its time. A log that cannot be read, has fewer than 20 rows
 * to judge, or that the filter follows neither as the study has it nor where it hardly heeds its sensors is
 * left out while others remain, unless the run is strict; a file that cannot be opened is an error. Errors
 * (*out is NULL then): those of bramah_session_open and of reading logs; E_KEY (the study does not say what to
 * tune), E_VALUE, E_UNIT, E_UNSUPPORTED; E_EMPTY (too short); E_TIME (stopped); a log that the filter cannot
 * follow, with what to do. Without intervals where the search was stopped before it converged. With a transport
 * the processes other than the first come back when it is done, with *out NULL; where the first one failed
 * with its status and an empty diag. */
BRAMAH_API bramah_status bramah_tune(const char *study, size_t n_logs, const char *const *logs,
                                     const bramah_tune_options *options, bramah_diag *diag,
                                     bramah_tuning **out);
/* What a study says is to be tuned, without any log: of the result only n and, of each value, path, unit,
 * text, places that follow it, bounds, scale and `before`. Errors: as above. */
BRAMAH_API bramah_status bramah_tune_check(const char *study, bramah_diag *diag, bramah_tuning **out);
BRAMAH_API void bramah_tuning_free(bramah_tuning *tuning); /* NULL allowed */

/* What was found; lives as long as the tuning. */
BRAMAH_API const bramah_tune_result *bramah_tuning_result(const bramah_tuning *tuning);

/* The study with the values found in place of its own ("-": standard output), each with a comment on its
 * interval, and `head` (NULL: none) as a comment in front. Values of the machine become changes. Errors:
 * E_FILE; E_UNSUPPORTED where an alias shares a value with another place, or where a value is empty or goes
 * over several lines. */
BRAMAH_API bramah_status bramah_tuning_write(const bramah_tuning *tuning, const char *path, const char *head,
                                             bramah_diag *diag);

/* ---- sweeps: many candidates on the same logs ----
 *
 *   bramah_sweep_open("study.yaml", n, logs, &options, &diag, &sweep);
 *   while (!(status = bramah_sweep_next(sweep, &point, &end, &diag)) && !end) ... point.all.cost ...
 *   bramah_sweep_close(sweep); */

/* How to sweep: a grid over the values listed, or a Latin hypercube. */
typedef struct bramah_sweep_options {
  bramah_tune_run run;
  size_t n_vary;
  const char *const *vary; /* [n_vary] "NAME=0.1 bar, 1 bar" or "NAME=0.1 bar .. 10 bar: 5 log", NAME being
                              "volumes.v1.noise" or "machine.integrator.step"; without a unit in the file's */
  size_t latin;  /* points spread over the ranges, or without `vary` over the bounds of `tune`; 0: a grid */
  uint64_t seed; /* of these points */
  size_t ahead;  /* steps of the predictions that are judged; 0: the study's */
} bramah_sweep_options;

/* All zero, but seed 1. */
BRAMAH_API void bramah_sweep_options_default(bramah_sweep_options *options);

/* A candidate and how it did. */
typedef struct bramah_sweep_point {
  const char *const *values; /* [n] as a file would have them */
  bramah_tune_verdict all;
  const bramah_tune_verdict *logs; /* [n_logs] of each alone */
} bramah_sweep_point;

/* What a sweep is, and what it came to so far. */
typedef struct bramah_sweep_summary {
  const bramah_study *study;
  size_t n, n_points, n_logs, n_left_out;
  const char *const *names; /* [n] of the values that vary */
  const char *const *logs;  /* [n_logs] that are used */
  uint64_t replays;
  size_t n_failed, first_failed; /* points; the first of them, from 0 */
  bramah_diag failure;           /* why that one failed */
  double least;                  /* cost of the best point; infinite: none */
  size_t best;
  const char *const *best_values; /* [n] */
} bramah_sweep_summary;

typedef struct bramah_sweep bramah_sweep;

/* Read study and logs, and see what varies. options as in bramah_tune; allocates. Errors: those of
 * bramah_tune; E_SYNTAX, E_KEY, E_VALUE, E_UNIT of what is to vary, with "--vary" as the file. */
BRAMAH_API bramah_status bramah_sweep_open(const char *study, size_t n_logs, const char *const *logs,
                                           const bramah_sweep_options *options, bramah_diag *diag,
                                           bramah_sweep **out);
/* The next point, in a grid with the last value varying fastest; it lives until the next call. A candidate
 * that cannot be replayed is a point too. *end 1: there was none. Errors: E_TIME (stopped), E_FILE (the
 * journal), E_MEMORY. */
BRAMAH_API bramah_status bramah_sweep_next(bramah_sweep *sweep, bramah_sweep_point *point, int *end,
                                           bramah_diag *diag);
BRAMAH_API const bramah_sweep_summary *bramah_sweep_get_summary(const bramah_sweep *sweep);
BRAMAH_API void bramah_sweep_close(bramah_sweep *sweep); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
