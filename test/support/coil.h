/* SPDX-License-Identifier: MIT */
/* A foreign plant whose first-order state is no pressure: a pendulum pushed by a coil of some milliampere whose
 * force saturates. It keeps its angle within half a turn. Derivatives are known exactly. */
#ifndef BRAMAH_TEST_SUPPORT_COIL_H
#define BRAMAH_TEST_SUPPORT_COIL_H

#include "bramah/plant.h"

enum { COIL_N = 3 }; /* angle [rad], rate [rad/s], current [A] */

typedef struct coil {
  double x[COIL_N];
  double voltage;
} coil;

/* Outputs: coil.angle, coil.rate, coil.current, coil.force. The object must outlive the plant. */
bramah_plant coil_plant(coil *c);

#endif
