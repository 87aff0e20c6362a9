/* SPDX-License-Identifier: MIT */
/* Commands that change at any time, for a plant that holds them over whole steps: it is given their mean over
 * the step, what a zero-order hold of the true ones brings to first order. A command that does not change
 * within the step is passed on as it is, to the bit. */
#ifndef BRAMAH_ESTIMATORS_HELD_INPUTS_H
#define BRAMAH_ESTIMATORS_HELD_INPUTS_H

#include "lib/base/arena.h"

#include <stdint.h>

typedef struct bramah__held_inputs {
  size_t n;
  int64_t step_ns;
  double *latest;   /* [n] */
  double *integral; /* [n] from the begin of the step to `since`, command times ns */
  int64_t *since;   /* [n] when the latest came, after the begin of the step; 0: it holds from there on */
  int mixed;        /* some command changes within the step */
} bramah__held_inputs;

void bramah__held_inputs_layout(size_t n, int64_t step_ns, bramah__arena *arena, bramah__held_inputs *h);

/* Command i from `after_ns` >= 0 after the begin of the step on; later than those before. */
void bramah__held_inputs_take(bramah__held_inputs *h, size_t i, int64_t after_ns, double u);

/* What the plant is to hold over the step by what is known: u [n]. */
void bramah__held_inputs_mean(const bramah__held_inputs *h, double *u);

/* The next step begins. Returns 1 if the plant held something else than the latest commands. */
int bramah__held_inputs_step(bramah__held_inputs *h);

#endif
