/* SPDX-License-Identifier: MIT */
/* State feedback for one valve that moves one joint, scheduled over its angle. */
#ifndef EMBEDDING_GAINS_H
#define EMBEDDING_GAINS_H

#include <bramah/linear.h>

enum { POSES = 7, MAX_STATES = 16 };

typedef struct gains {
  double start; /* angle of the machine as its file has it, where the reference begins [rad] */
  size_t n;     /* states of the linearized machine; the integral of the error comes behind them */
  char state[MAX_STATES][64];      /* their names, outputs of the plant; the joint comes first */
  double angle[POSES];             /* [rad] ascending */
  double K[POSES][MAX_STATES + 1]; /* V per unit of each state */
  double gain[POSES];              /* joint rate per volt in steady motion [rad/s/V], for the feed-forward */
  double drop[POSES];              /* pressure drop over pump -> a [Pa] that the volts are meant at */
} gains;

/* What is controlled: the machine has one degree of freedom, joint `joint`, and one valve. */
typedef struct gains_of {
  const char *joint, *a_side; /* the volume at port a of the valve */
  double pump;                /* supply pressure [Pa] */
  double least, most;         /* range of the joint's angle [rad] */
} gains_of;

/* Output "thing.what" of the plant; ends the program if there is none. */
size_t output_index(const bramah_plant *plant, const char *thing, const char *what);

/* Linearize the machine at rest at POSES angles and solve for the feedback. Allocates; done once, before the
 * loop. */
bramah_status gains_make(const bramah_model *model, const gains_of *of, bramah_diag *diag, gains *out);

/* Feedback, feed-forward and drop at this angle, between the poses along straight lines. K [n + 1]. */
void gains_at(const gains *g, double angle, double *K, double *gain, double *drop);

#endif
