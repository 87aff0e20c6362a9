/* SPDX-License-Identifier: MIT */
/* A replay from inside: what it needs of its filter next, for whoever makes cycles of several at once. */
#ifndef BRAMAH_ESTIMATORS_REPLAY_INTERNAL_H
#define BRAMAH_ESTIMATORS_REPLAY_INTERNAL_H

#include "bramah/replay.h"
#include "estimators/filter_internal.h"

enum { QUEUE = 64 }; /* rows; of more than that at one point those behind are fused as live ones are */

typedef struct waiting_row {
  int64_t time_ns, mark;
  int handed;    /* its measurements are in the rewind buffer */
  int commanded; /* its commands are taken */
} waiting_row;

/* What changes besides the arrays. */
typedef struct replay_progress {
  size_t first, n_rows;  /* of the queue */
  int mixed;             /* some command changes within the step */
  int news;              /* the plant is to be given commands anew */
  int started, gathered; /* samples in the correction that is being gathered */
  int64_t zero_ns;       /* time of the log at time 0 of the filter */
  int64_t time_ns;       /* of the grid point the filter is at */
  int64_t gathered_mark; /* of the last row in the correction */
  bramah_replay_report counts;
} replay_progress;

/* Arrays that a snapshot holds.
 *
 * Commands may change at any time, for a plant that holds them over whole steps: it is given their mean over
 * the step, what a zero-order hold of the true ones brings to first order. A command that does not change
 * within the step is passed on as it is, to the bit. */
#define REPLAY_STATE(X)                                                                                      \
  X(waiting_row, row, QUEUE, "a ring; of each:")                                                             \
  X(double, row_inputs, QUEUE * r->n_input)                                                                  \
  X(unsigned char, row_has_input, QUEUE * r->n_input)                                                        \
  X(double, row_y, QUEUE * r->n_sensors)                                                                     \
  X(unsigned char, row_present, QUEUE * r->n_sensors)                                                        \
  X(double, latest, r->n_input, "commands")                                                                  \
  X(double, integral, r->n_input, "from the begin of the step to `since`, command times ns")                 \
  X(int64_t, since, r->n_input, "when the latest came, after the begin; 0: it holds from there on")          \
  X(double, held, r->n_input, "given to the plant now")                                                      \
  X(double, stepped, r->n_input, "and over the last step")                                                   \
  X(double, y, r->n_sensors, "of the correction that is being gathered")                                     \
  X(int64_t, offset_ns, r->n_sensors)                                                                        \
  X(unsigned char, present, r->n_sensors)

#define REPLAY_WORK(X) X(bramah_innovation, innovation, r->n_sensors, "of this call, the last of each sensor")

/* How far a point has been made. */
typedef enum bramah__replay_stage {
  AT_POINT,  /* the next one is still to begin */
  FINISHING, /* rows of the last one */
  GATHERING, /* the step to it was made, its rows are gathered */
  DELIVERING /* all is fused */
} bramah__replay_stage;

struct bramah_replay {
  bramah_filter *filter;
  const bramah_sensor *sensor;
  bramah_rewind *rewind; /* NULL: no sensor has a delay */
  bramah_source source;
  void *user;
  bramah_replay_options options;
  int64_t step_ns;
  size_t n_input, n_sensors;
  replay_progress progress;
  REPLAY_STATE(BRAMAH__FIELD_MEMBER)
  REPLAY_WORK(BRAMAH__FIELD_MEMBER)
  double nis;
  size_t nis_dof;
  bramah__replay_stage stage;
  uint64_t measured_before; /* samples fused before this point */
  int fused;                /* corrections made at this point */
  int corrected, at_end;    /* what is said of this point: something was fused; there is none */
  int defers,
      has_inputs; /* 1: `held` is not given to the filter, whoever makes its steps does that; it is to be */
  int ended;
  bramah_status failed; /* of a row read ahead: reported when what came before is delivered */
  bramah_diag failure;
};

/* On to the next point, up to what is needed of the filter: a step, the correction by y, present and offset_ns of the
 * replay, or nothing, when it is there (or the log has ended). That it was made, or what kept it from that, is then told
 * the watcher and the replay, before the next call. Errors: those of bramah_replay_next. */
typedef enum bramah__replay_need {
  BRAMAH__NEEDS_NOTHING,
  BRAMAH__NEEDS_STEP,
  BRAMAH__NEEDS_CORRECTION
} bramah__replay_need;
bramah_status bramah__replay_want(bramah_replay *replay, bramah__replay_need *need, bramah_diag *diag);
bramah_status bramah__replay_watch(const bramah_replay *replay, bramah__replay_need need, bramah_diag *diag);
void bramah__replay_made(bramah_replay *replay, bramah__replay_need need, bramah_status status);

/* By a filter alone. */
bramah_status bramah__replay_make(const bramah_replay *replay, bramah__replay_need need,
                                  bramah_filter *filter, bramah_diag *diag);

#endif
