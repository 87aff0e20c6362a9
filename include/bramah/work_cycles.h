/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Work cycles of excavators and loaders, and what their operators do: logs are cut into digging, swinging loaded, dumping
 * and swinging empty, cycles and runs are measured, operators and attachments compared. Part of libbramah-tools.
 *
 *   bramah_work *work;
 *   bramah_work_results *r;
 *   bramah_status status = bramah_work_load("work.yaml", &diag, &work);
 *   if (!status) status = bramah_work_run(work, 0, NULL, &diag, &r);
 *   ... r->runs[0].cycles[2].mass ...
 *   bramah_work_results_free(r);
 *   bramah_work_free(work); */
#ifndef BRAMAH_WORK_CYCLES_H
#define BRAMAH_WORK_CYCLES_H

#include <stdint.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- cutting ---- */

/* A swing is slewing with a steady load; digging and dumping are all that is between. */
typedef enum bramah_work_phase {
  BRAMAH_WORK_DIG = 0,
  BRAMAH_WORK_SWING_LOADED = 1,
  BRAMAH_WORK_DUMP = 2,
  BRAMAH_WORK_SWING_EMPTY = 3,
  BRAMAH_WORK_N_PHASES = 4
} bramah_work_phase;

/* What is cut: estimates at the times t [n] [s], ascending. NaN: no sample. */
typedef struct bramah_work_signals {
  size_t n;
  const double *t;
  const double *load;       /* [n] payload [kg], or what grows with it: a pressure, a force */
  const double *load_sigma; /* [n] of its error; NULL: not known */
  const double *swing;      /* [n] slew rate [rad/s], of a loader its speed [m/s]; the sign does not matter */
} bramah_work_signals;

/* Where a phase begins: the median of its posterior, its 95 % interval, and the probability that there is such a border at
 * all between the middles of the phases before and after it. */
typedef struct bramah_work_border {
  double t, low, high; /* [s] */
  double probability;
} bramah_work_border;

/* A cycle with its dig, loaded swing and dump. The first of a log may begin with it, the last may end with it. */
typedef struct bramah_work_cycle {
  bramah_work_border begin[BRAMAH_WORK_N_PHASES + 1]; /* of the phases, and the end */
  int complete; /* 1: no end of the log is one of its ends; its empty swing is there */
  /* carried less what stays in the bucket, in the unit of the load; sigma NaN: not known */
  double load, load_sigma;
  const char *doubt; /* why it may be no such cycle; NULL: nothing speaks against it */
} bramah_work_cycle;

/* What a log was cut into. */
typedef struct bramah_work_cut {
  size_t n_cycles;
  const bramah_work_cycle *cycles;  /* [n_cycles] */
  double empty, full;               /* load in the swings */
  double empty_spread, full_spread; /* standard deviations of the swings about these */
  double usual_rate;                /* usual rate of a swing, magnitude */
  double separation;                /* of full and empty, in spreads */
  double certain;                   /* share of time in which a phase has a probability of 0.9 or more */
  /* share of time in which a swing rests or its load changes, or in which it swings else */
  double unexplained;
  double longest_gap; /* [s] without samples of load or swing */
  const char *doubt;  /* why the model does not fit the log; NULL: nothing speaks against it */
  size_t n;           /* times it was looked at: start + i step [s] */
  double start, step;
  const double *load, *load_sigma, *swing; /* [n] there, NaN in gaps; load_sigma NULL: not known */
  const unsigned char *phase;              /* [n] */
  const double *probability;               /* [n] of that phase; 0 where there is nothing to cut */
} bramah_work_cut;

/* Cut a log by a hidden Markov model whose four phases follow each other in a circle. It sees the load, its rate and the
 * magnitude of the swing rate at 20 Hz; levels, spreads and mean durations are found in the log itself (Baum and Welch),
 * phases by the algorithm of Viterbi, borders and their probability by forward and backward sums. Neighbouring
 * samples say much the same: each counts 0.4 of one.
 *   A log in which there is nothing to cut has no cycles and a doubt. Allocates *out. Errors: E_VALUE (fewer than two
 * samples), E_TIME (t does not ascend, more than 1e5 s), E_NOT_FINITE, E_MEMORY. Source: L. R. Rabiner, A tutorial on hidden Markov
 * models (1989). */
BRAMAH_API bramah_status bramah_work_cut_new(const bramah_work_signals *signals, bramah_diag *diag,
                                             bramah_work_cut **out);
BRAMAH_API void bramah_work_cut_free(bramah_work_cut *cut); /* NULL allowed */

/* ---- measures ---- */

/* How a signal moves, of an arm the distance of the bucket from the upper carriage. Publication VI speaks of its range,
 * "deviation" and "fluctuation" without saying what they are. */
typedef struct bramah_movement {
  double duration;        /* [s] */
  double mean, deviation; /* over time, by the trapezoidal rule; deviation: standard deviation */
  double range, minimum, maximum;
  double travel, travel_rate; /* sum of all ways, and per second */
  uint64_t reversals;         /* turns by more than the band */
  double reversals_per_minute;
} bramah_movement;

/* Of x [n] at ascending times t [n] [s]; rows in which x is NaN are passed over. band > 0, in the unit of x: a turn counts
 * once x has come back by so much. Errors: E_VALUE (no two samples, a band that is not positive), E_TIME, E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_movement_of(size_t n, const double *t, const double *x, double band,
                                            bramah_movement *out, bramah_diag *diag);

/* A hydraulic cylinder while it works. Rows with a NaN are passed over. */
typedef struct bramah_cylinder_log {
  size_t n;
  const double *t;                              /* [n] [s] */
  const double *stroke;                         /* [n] [m] */
  const double *piston_pressure, *rod_pressure; /* [n] [Pa]; rod_pressure NULL: none, a plunger */
  double piston_area, rod_area;                 /* [m^2] */
  double stall_pressure;                        /* [Pa] of either side, a near-stall begins; 0: not counted */
} bramah_cylinder_log;

/* What it did. */
typedef struct bramah_cylinder_work {
  /* [J] on the piston, the trapezoid of the force over the stroke, and its positive parts */
  double work, positive;
  uint64_t near_stalls; /* 0.2 s or more beyond stall_pressure at less than 10 mm/s */
} bramah_cylinder_work;

/* Errors: E_VALUE (no two rows). */
BRAMAH_API bramah_status bramah_cylinder_work_of(const bramah_cylinder_log *log, bramah_cylinder_work *out,
                                                 bramah_diag *diag);

/* ---- comparing ---- */

/* An attempt of one of several operators. */
typedef struct bramah_attempt {
  size_t person;           /* from 0 */
  double time, fuel, hits; /* [s]; in any unit; with obstacles */
} bramah_attempt;

/* score [n_persons]: mean over the attempts of weight[0] time / best + weight[1] fuel / best + weight[2] (1 + hits), by the
 * sum of the weights; best: of all attempts. The smallest wins; NaN: no attempt. Weights of publication VI are not
 * printed: equal ones are ours. What has the weight 0 is not looked at. Errors: E_VALUE (a time or fuel that is not positive, a
 * negative number of hits, no weight), E_ARGUMENT (no such person). */
BRAMAH_API bramah_status bramah_leaderboard(size_t n, const bramah_attempt *attempts, const double weight[3],
                                            size_t n_persons, double *score, bramah_diag *diag);

/* A test by ranks. */
typedef struct bramah_rank_test {
  double statistic;        /* Friedman's chi-square corrected for ties; Spearman's rho */
  double p, p_low, p_high; /* by permutations, two-sided; 95 % interval of what more of them would come to */
  double effect;           /* Kendall's W, 0 to 1; Spearman's rho */
  /* 95 % interval of rho by Fisher's z and the variance of Bonett and Wright; NaN of Friedman */
  double low, high;
  double critical;   /* |statistic| from which on p < 0.05; infinite: so few can show nothing */
  double detectable; /* |rho| that four of five such studies would find at 0.05; NaN of Friedman */
  uint64_t n;        /* blocks, pairs */
} bramah_rank_test;

/* Do treatments differ? values [n x k], row-major: a block (operator) a row, a treatment (attempt, attachment) a column.
 * Permutes the values within the blocks. Deterministic for a seed. Errors: E_VALUE (fewer than two blocks or treatments,
 * all values of every block equal), E_NOT_FINITE, E_MEMORY. Source: M. Friedman (1937). */
BRAMAH_API bramah_status bramah_friedman(size_t n, size_t k, const double *values, uint64_t seed,
                                         bramah_rank_test *out, bramah_diag *diag);

/* Do x [n] and y [n] rise together? Likewise. Errors: E_VALUE (fewer than four pairs, all x or all y equal),
 * E_NOT_FINITE, E_MEMORY. Source: C. Spearman (1904); D. G. Bonett, T. A. Wright, Psychometrika 65 (2000). */
BRAMAH_API bramah_status bramah_spearman(size_t n, const double *x, const double *y, uint64_t seed,
                                         bramah_rank_test *out, bramah_diag *diag);

/* ---- work files and their runs ---- */

/* Columns of the logs of a cylinder, and its sizes. */
typedef struct bramah_work_cylinder {
  const char *name;
  int line;
  const char *stroke, *piston_pressure, *rod_pressure; /* rod_pressure NULL: none, a plunger */
  double bore, rod;                                    /* diameters [m] */
  double stall_pressure;                               /* [Pa]; 0: near-stalls are not counted */
  int number;                                          /* of such cylinders side by side */
} bramah_work_cylinder;

/* A run: a log and who worked with what. */
typedef struct bramah_work_entry {
  const char *name;
  int line;
  const char *log;        /* path, relative ones taken from the folder of the work file */
  const char *person;     /* the operator; the name of the run if none is given */
  const char *attachment; /* NULL: none is given */
  double hits;            /* with obstacles */
  int has_hits;
} bramah_work_entry;

/* Which columns of logs are what (names as given, or the default of datasets/README.md), and the runs. */
typedef struct bramah_work {
  const char *file, *name;
  const char *time, *payload, *swing_rate, *arm, *fuel_rate, *power;
  int has_arm, has_fuel_rate, has_power; /* 1: named in the file, so a log must have it */
  double band;                           /* [m] of the arm's reversals */
  size_t n_cylinders, n_runs;
  const bramah_work_cylinder *cylinders;
  const bramah_work_entry *runs;
} bramah_work;

/* Read a work file. Allocates *out. Errors, with their places: E_FILE, E_SYNTAX, E_KEY, E_UNIT, E_VALUE, E_MEMORY. */
BRAMAH_API bramah_status bramah_work_load(const char *path, bramah_diag *diag, bramah_work **out);
BRAMAH_API void bramah_work_free(bramah_work *work); /* NULL allowed */

/* Of a run or one of its cycles. NaN: the log does not have what it takes. */
typedef struct bramah_work_measures {
  double begin, end;                 /* [s] */
  double time[BRAMAH_WORK_N_PHASES]; /* [s] in the phases of whole cycles */
  double load, load_sigma;           /* moved; the errors of cycles are taken as one, so that sigmas add */
  double fuel;                       /* [kg] or [m^3] */
  double energy;                     /* [J] of the power column */
  bramah_movement arm;               /* duration 0: not known */
  double work, positive_work;        /* [J] of all cylinders */
  double near_stalls;
} bramah_work_measures;

/* A run, cut and measured. */
typedef struct bramah_work_run_result {
  const char *name, *log, *person, *attachment; /* attachment NULL: none is given */
  size_t attempt;                               /* of the person, in the order of the file, from 1 */
  double hits;                                  /* NaN: not given */
  char *verdict;     /* of the replay that wrote the log (bramah_verdict_keep); NULL: not known */
  const char *doubt; /* of the cut, or a verdict of no use; NULL: nothing speaks against the run */
  bramah_work_cut *cut;
  bramah_work_measures whole;   /* from the first cycle's begin to the last one's end */
  bramah_work_measures *cycles; /* [cut->n_cycles] */
  double *arm;                  /* [cut->n] at the times of the cut; NULL: not known */
  double cycle_time;            /* [s] median of complete cycles; NaN: there is none */
  double effort[2];             /* time [s] and fuel: per 1000 kg, or per cycle where the load is no mass */
} bramah_work_run_result;

/* An operator. */
typedef struct bramah_work_person {
  const char *name;
  size_t attempts;
  double score; /* bramah_leaderboard; NaN: a run of the person's could not be scored */
  size_t place; /* from 1; 0: without score */
} bramah_work_person;

/* A question to all runs without doubts. */
typedef struct bramah_work_question {
  const char *what; /* "time and reversals per minute" */
  int is_friedman;  /* treatments differ; else a correlation over operators, of the means of their runs */
  bramah_rank_test test;
  double adjusted;     /* p by Holm for all questions that could be asked */
  const char *why_not; /* NULL: it could be asked */
} bramah_work_question;

/* What became of the runs of a work file. */
typedef struct bramah_work_results {
  const char *load_unit, *swing_unit, *fuel_unit; /* of all logs; fuel_unit NULL: none has it */
  size_t n_runs, n_persons, n_questions;
  const bramah_work_run_result *runs;
  const bramah_work_person *persons;
  const bramah_work_question *questions;
  double weight[3]; /* of the score: of time, fuel and hits; 0: not every run has it */
} bramah_work_results;

/* Cut and measure the runs of a work file, or other logs [n] (n 0: those of the file), each then an operator's only run,
 * and compare them. Nothing depends on the number of processors. Allocates *out, which refers to the work. Errors, with their
 * places: those of bramah_log_open and bramah_log_next; E_COLUMN, E_UNIT, E_TIME, E_EMPTY (no runs), E_MEMORY. */
BRAMAH_API bramah_status bramah_work_run(const bramah_work *work, size_t n, const char *const *logs,
                                         bramah_diag *diag, bramah_work_results **out);
BRAMAH_API void bramah_work_results_free(bramah_work_results *results); /* NULL allowed */

#ifdef __cplusplus
}
#endif
#endif
