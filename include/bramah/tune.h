/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a study (measurement and process noise, parameters of the machine) from logs: those that make
 * the innovations of its filter most likely, with intervals. Part of libbramah-tools.
 *
 *   bramah_tuning *tuning;
 *   if (bramah_tune("study.yaml", n, logs, NULL, &diag, &tuning)) ... diag says what and where ...
 *   bramah_tuning_write(tuning, "tuned.yaml", NULL, &diag);
 *   bramah_tuning_free(tuning);
 *
 * What comes out does not depend on the number of threads. Nothing is printed; study, machine and logs are
 * read once, at the start. The section `tune` of the study says which values are to be found and between
 * which bounds. Source of likelihood,
 * slope and information: F. C. Schweppe, IEEE Trans. Information Theory 11 (1965); N. K. Gupta, R. K. Mehra, IEEE
 * Trans. Automatic Control 19 (1974). */
#ifndef BRAMAH_TUNE_H
#define BRAMAH_TUNE_H

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

/* How to tune. */
typedef struct bramah_tune_options {
  int criterion;        /* bramah_tune_criterion; -1: the study's */
  int method;           /* bramah_tune_method; -1: the study's */
  int start_from_study; /* 1: begin with the study's values, not with what the innovations tell */
  size_t n_threads;     /* 0: as many as there are processors */
  uint64_t budget;      /* evaluations at most; 0: any number */
  size_t folds;         /* cross-validation: tune anew without each folds-th of the logs; 0: none */
  size_t profile;       /* profile of the likelihood: points to each side of every value; 0: none */
  size_t n_held;        /* the last so many logs are judged but not tuned on */
  size_t n_truths;
  const char *const *truths; /* [n_truths] true motion of the first logs */
  const char *journal;       /* file for every result as it comes; a new run goes on from it. NULL: none */
  void *user;                /* of the functions, all of which may be NULL: */
  void (*progress)(void *user, const bramah_tune_progress *progress); /* on the calling thread */
  void (*tell)(void *user, const char *note);                         /* e.g. a value outside its bounds */
  int (*stopped)(void *user); /* asked by any thread now and then: 1 ends everything with E_TIME */
  int (*enough)(void *user);  /* asked after evaluations: 1 ends the search as its budget does */
} bramah_tune_options;

/* All of them at their defaults. */
BRAMAH_API bramah_tune_options bramah_tune_options_default(void);

/* How a filter with one set of values did on some logs. NaN: not known (no truth, no predictions). */
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
  double n, gated;              /* samples */
  double nis;                   /* mean per degree of freedom */
  double low, high;             /* its 95 % band */
  double lag[BRAMAH_TUNE_LAGS]; /* correlations of normalised innovations */
  double ljung_box, p;          /* over all lags, and the probability of as much by chance */
  double white_sigma;           /* [SI] of the part without memory */
  int coloured;                 /* 1: the correlation of neighbours is beyond its band and a tenth */
  int faint;                    /* 1: not so, but beyond chance over all lags */
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
  size_t *held;              /* [n_held] logs left out */
  double *x;                 /* [n values] found without them */
  bramah_tune_verdict given; /* on those left out: with the study's own values, */
  bramah_tune_verdict found; /* with those found without them, */
  bramah_tune_verdict all;   /* with those found on all */
} bramah_tune_fold;

/* A set of values that was tried. */
typedef struct bramah_tune_tried {
  const char *phase; /* "start", "search", "range", "fold", "profile" */
  int slope;         /* 1: with its neighbours */
  bramah_tune_verdict verdict;
  double value; /* of the criterion with penalty */
  double *x;    /* [n values] */
  int front;    /* 1: no other set is better by one criterion and as good by the others */
} bramah_tune_tried;

/* What a tuning found. */
typedef struct bramah_tune_result {
  const char *ending;    /* "converged", "stopped by its budget", "stuck" */
  const char *criterion; /* its name */
  int converged;         /* 0: stopped by its budget, or stuck */
  int iterations;
  size_t evaluations;
  uint64_t replays;   /* made in this run */
  double log_seconds; /* of log replayed in this run */
  size_t n_known;     /* results that the journal had */
  double cost;        /* value of the criterion at the end */
  size_t n;
  const bramah_tuned_value *values; /* [n] in the order of the study */
  int has_intervals;
  size_t n_logs;
  const char *const *logs;              /* [n_logs] */
  const double *nis_before, *nis_after; /* [n_logs] mean per degree of freedom; 1 is expected */
  size_t n_consistency;
  const bramah_tune_consistency *consistency; /* of each log: its sensors, then all together */
  size_t n_folds;
  const bramah_tune_fold *folds;
  size_t n_tried;
  const bramah_tune_tried *tried;    /* [n_tried] in their order */
  size_t best[BRAMAH_TUNE_CRITERIA]; /* set preferred by each criterion; n_tried: none */
  size_t n_warnings;
  const char *const *warnings; /* what the logs do not tell, what remains coloured */
} bramah_tune_result;

/* A finished tuning. */
typedef struct bramah_tuning bramah_tuning;

/* "likelihood", "nis", "rmse" or "prediction". */
BRAMAH_API const char *bramah_tune_criterion_name(bramah_tune_criterion criterion);

/* Tune. options NULL: default. Allocates; takes its time. Errors (*out is NULL then): those of
 * bramah_session_open and of reading logs; E_KEY (the study does not say what to tune), E_VALUE, E_UNIT,
 * E_UNSUPPORTED; E_TIME (stopped); a log that the filter cannot follow, with what to do. */
BRAMAH_API bramah_status bramah_tune(const char *study, size_t n_logs, const char *const *logs,
                                     const bramah_tune_options *options, bramah_diag *diag,
                                     bramah_tuning **out);
/* What a study says is to be tuned, without any log: of the result only n and, of each value, path, unit, text,
 * places that follow it, bounds, scale and `before`. Errors: as above. */
BRAMAH_API bramah_status bramah_tune_check(const char *study, bramah_diag *diag, bramah_tuning **out);
BRAMAH_API void bramah_tuning_free(bramah_tuning *tuning); /* NULL allowed */

/* What was found; lives as long as the tuning. */
BRAMAH_API const bramah_tune_result *bramah_tuning_result(const bramah_tuning *tuning);

/* The study with the values found in place of its own ("-": standard output), each with a comment on its
 * interval, and `head` (NULL: none) as a comment in front. Values of the machine become changes. Errors:
 * E_FILE; E_UNSUPPORTED where an alias shares a value with another place, or where a value is empty or goes over
 * several lines. */
BRAMAH_API bramah_status bramah_tuning_write(const bramah_tuning *tuning, const char *path, const char *head,
                                             bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
