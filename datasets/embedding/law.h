/* SPDX-License-Identifier: MIT */
/* The control law: a reference for one joint, state feedback about it, and the valve's square root taken out.
 */
#ifndef EMBEDDING_LAW_H
#define EMBEDDING_LAW_H

#include "gains.h"

typedef struct law {
  const gains *gains;
  double pump, tank;        /* [Pa] */
  double limit;             /* of the command [V] */
  size_t a_side;            /* the state that is the pressure at port a */
  double integral;          /* of the angle's error [rad s] */
  double level[MAX_STATES]; /* slow part of each pressure [Pa] */
  int started;
} law;

/* Angle [rad] and rate wanted at time t [s] after the start from angle `start`: still for a second, then up
 * and down. */
void law_reference(double t, double start, double *angle, double *rate);

/* Command [V] for states x [gains->n] at time t. */
double law_command(law *l, double t, double start, const double *x);

#endif
