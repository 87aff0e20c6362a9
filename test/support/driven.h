/* SPDX-License-Identifier: MIT */
/* Machines with prescribed motions: each a description and a plant. */
#ifndef BRAMAH_TEST_SUPPORT_DRIVEN_H
#define BRAMAH_TEST_SUPPORT_DRIVEN_H

#include "test/support/four_bar.h"

typedef struct driven {
  crank_slider slider;
  bramah_machine machine;
  bramah_body bodies[4];
  bramah_joint joints[4];
  bramah_motion motion;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant p;
} driven;

/* A crank and slider (0.3 m, 1 m) whose crank turns at 6 rad/s from 40 deg on, with a pendulum "bob" that
 * hangs on the block: the one degree of freedom. */
void driven_slider_describe(driven *out, int64_t step_ns);

/* The free crank and slider of scale 10, whose crank stands on a base that shakes across the slider by 0.2 m
 * with 2 Hz: its independent coordinate changes as it turns. */
void shaken_slider_describe(driven *out, int64_t step_ns);

/* A pendulum (2 kg, 0.5 m, 0.01 kg m^2) on a cart (3 kg) that moves by 0.05 m with 2 Hz. */
void shaken_pendulum_describe(driven *out, int64_t step_ns);

void driven_open(driven *d);
void driven_close(driven *d);

/* Present value of the output of that name. */
double driven_value(const driven *d, const char *name);

#endif
