/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search for the best values: evaluations over some of the logs, where to begin, and the optimisers. */
#ifndef BRAMAH_LIB_CLI_TUNE_SEARCH_H
#define BRAMAH_LIB_CLI_TUNE_SEARCH_H

#include "bramah/optimise.h"
#include "lib/cli/tune_crew.h"
#include "lib/cli/tune_judge.h"

/* A set that was tried, for the table of all evaluations. */
typedef struct cli_tune_tried {
  const char *phase; /* "start", "search", "fold 2", "profile" */
  int slope;
  cli_tune_verdict verdict;
  double value; /* of the criterion with penalty */
  double *x;    /* [n] in the units of the files */
} cli_tune_tried;

typedef struct cli_tune_search {
  const cli_tune_lab *lab;
  cli_tune_crew *crew;
  bramah_tune_criterion criterion;
  bramah_tune_method method;
  double penalty;
  uint64_t budget, evaluations; /* sets evaluated; a slope counts 1 + n; budget 0: none */
  double until;                 /* of the clock; 0: no limit */
  uint64_t seed;
  size_t starts;
  size_t n_logs;
  size_t *logs;    /* [n_logs] tuned on */
  double *white;   /* [n] sigma of a sensor that is white as it stands, in the file's unit; 0: no penalty */
  double *samples; /* [n] of that sensor */
  double unit;     /* of the penalty: cost per squared logarithm; 0: by samples */
  int talks;       /* 1: to a terminal, how far it is */
  const char *phase;
  double most_used; /* innovations of a complete evaluation */
  size_t n_tried, room;
  cli_tune_tried *tried;
  int given; /* early stopping: limits of the best set known are there */
  double best;
  double *limits;   /* [lab->n_logs x CLI_TUNE_CHECKS] costs of the best set */
  double *block;    /* figures of an evaluation */
  double **figures; /* [lab->n_logs] */
} cli_tune_search;

/* Room; logs [n_logs] is copied. Released by cli_tune_search_close in any case. */
bramah_status cli_tune_search_open(cli_tune_search *search, const cli_tune_lab *lab, cli_tune_crew *crew,
                                   size_t n_logs, const size_t *logs, bramah_diag *diag);
void cli_tune_search_close(cli_tune_search *search);

/* Evaluate a set over the logs of the search; figures in search->figures [n_logs] until the next call. value:
 * criterion with penalty, infinite where it cannot be used. */
bramah_status cli_tune_evaluate(cli_tune_search *search, const char *set, int slope, int limited,
                                double *value, cli_tune_verdict *verdict, bramah_diag *diag);

/* Why a replay of the set failed (verdict->status): its message, with log and time; with `slope` also that of
 * a neighbour. */
bramah_status cli_tune_explain_failure(const cli_tune_lab *lab, const char *set, int slope,
                                       const cli_tune_verdict *verdict, bramah_diag *diag);

/* Why the set cannot be used: a message that names log, set and what to do. */
bramah_status cli_tune_explain(const cli_tune_search *search, const char *set,
                               const cli_tune_verdict *verdict, bramah_diag *diag);

/* Take the line that tells how far it is away. */
void cli_tune_stop_talking(const cli_tune_search *search);

/* Replays of many sets over the search's logs at once; figures [n_sets x n_logs] pointers. */
bramah_status cli_tune_evaluate_all(cli_tune_search *search, size_t n_sets, char (*sets)[CLI_TUNE_TEXT],
                                    int thousandths, double *const *figures, bramah_diag *diag);
void cli_tune_note_tried(cli_tune_search *search, const char *set, int slope, const cli_tune_verdict *verdict,
                         double value);

/* From set as it stands to where the search begins: sensors' noise from the correlations of the innovations,
 * plant noise by a common factor. The set is changed. */
bramah_status cli_tune_find_start(cli_tune_search *search, char *set, bramah_diag *diag);

/* The search; set [CLI_TUNE_TEXT] is where it begins and what it finds. `fixed` [n] (NULL: none) tells
 * figures that stay. */
bramah_status cli_tune_optimise(cli_tune_search *search, char *set, const unsigned char *fixed,
                                bramah_optimum *out, bramah_diag *diag);

/* Penalty at a set, and its slope and curvature on the scale of the figures, added to gradient [n] and
 * information [n x n] (may be NULL). */
double cli_tune_penalty(const cli_tune_search *search, const double *x, double *gradient,
                        double *information);

#endif
