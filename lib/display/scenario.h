/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario as it is bound to outputs (scenario.c), and what changes while it is followed (course.c). */
#ifndef BRAMAH_LIB_DISPLAY_SCENARIO_H
#define BRAMAH_LIB_DISPLAY_SCENARIO_H

#include "lib/display/display_parts.h"
#include "lib/io/yaml.h"

/* ---- as bound ---- */

/* offset + scale x value lies between `least` and `most`, or outside of them. */
typedef struct bramah__limit {
  size_t used; /* place in the list of outputs that are used */
  double offset, scale, least, most;
  int is_outside;
} bramah__limit;

typedef struct bramah__limits {
  size_t n;
  const bramah__limit *of; /* [n] all hold */
  int is_unsure;           /* an output has no standard deviation, and is no command */
} bramah__limits;

typedef struct bramah__task {
  const char *name, *instruction;
  bramah__limits begin, end, forbidden;
  size_t n_after;
  const size_t *after;      /* [n_after] */
  int64_t hold_ns, most_ns; /* most_ns 0: no limit */
  double points, late;
} bramah__task;

typedef struct bramah__rule {
  const char *name, *text;
  bramah__limits when;
  int64_t hold_ns;
  double points, per_second, probability;
  uint64_t most;
  int is_breakdown, goes_on;
} bramah__rule;

/* ---- what changes ---- */

/* Whether something holds with enough probability for long enough. Of the probability that it did so at all the largest of those that
 * were not undercut for that long counts. */
typedef struct bramah__watch {
  int64_t since_ns, block_ns; /* INT64_MIN: it does not hold; no block has begun */
  double least, block, best;
} bramah__watch;

typedef struct bramah__task_state {
  bramah_task_is is;
  int is_watched, is_compared; /* it was done and holds since; with the other judge */
  int64_t begun_ns, ended_ns;
  double now, lost;
  bramah__watch watch;
} bramah__task_state;

typedef struct bramah__rule_state {
  int is_on;
  uint64_t times;
  int64_t first_ns, since_ns;
  double now, lost;
  bramah__watch watch;
  double expected, variance,
      together; /* of what is lost; `together` [points] is one standard deviation of what goes on in time */
} bramah__rule_state;

typedef struct bramah__course_state {
  bramah_scenario_is is;
  int has_begun, is_compared;
  int64_t begun_ns, ended_ns, now_ns;
} bramah__course_state;

/* By one judge. */
typedef struct bramah__course {
  bramah__course_state *at;
  bramah__task_state *task; /* [n_tasks] */
  bramah__rule_state *rule; /* [n_rules] */
} bramah__course;

struct bramah__scenario {
  bramah__pool pool;
  bramah_display *display;
  double confidence;
  int64_t most_ns; /* 0: no limit */
  size_t n_tasks, n_rules, n_penalties, n_used;
  bramah__task *task;
  bramah__rule *rule;    /* [n_rules] penalties first */
  size_t *used;          /* [n_used] columns of bramah_assess_results.output */
  double *value, *sigma; /* [n_used] by the present judge */
  bramah_judge judge;
  int by_truth, has_truth;
  double most; /* points */
  bramah__course course[2];
  void *state; /* [state_size] all that changes */
  size_t state_size;
  struct looks {                    /* for gauges and sensors */
    int64_t *next_ns;               /* the next look */
    unsigned char *critical;        /* [n_gauges] */
    unsigned char *lost;            /* [n_sensors] */
    bramah__watched_sensor *sensor; /* [n_sensors] */
  } looks;
  /* A machine that is simulated along, which may be a row ahead: its outputs at its last two rows. */
  const bramah_simulation *simulation; /* NULL: none */
  const bramah_plant *simulated;
  size_t *output; /* [n_used] of that plant; */
  double *row[2]; /* [n_used] */
  int64_t row_ns[2];
  int last;
  size_t n_shown;
  bramah_shown *shown;
  bramah_scenario_result result[2];
};

/* Follow it by one estimate: the step of a passenger. */
void bramah__scenario_step(void *scenario);
/* [s]; of INT64_MIN, which is no time, NaN. */
double bramah__seconds(int64_t ns);

#endif
