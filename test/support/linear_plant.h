/* SPDX-License-Identifier: MIT */
/* A plant whose step is exactly linear, for tests against batch least squares: two carts on springs and dampers, each
 * pushed by a pressure, with errors that follow (D 3.4) to the letter,
 *   z + h z' + h^2/2 z'', z' + h z'', p + h g u  with  z'' = A [z; z'; p].
 * From a chosen step on it takes other independent coordinates: [z_0 + z_1, z_1] for [z_0, z_1]. */
#ifndef BRAMAH_TEST_SUPPORT_LINEAR_PLANT_H
#define BRAMAH_TEST_SUPPORT_LINEAR_PLANT_H

#include "bramah/plant.h"

enum { LINEAR_N = 6 };

typedef struct linear_plant {
  double x[LINEAR_N]; /* z0 z1 [m], their rates, p0 p1 [Pa]: always these, whatever the coordinates */
  double u;
  double h;                /* [s] */
  int64_t step, change_at; /* step at which the coordinates change; -1: never */
  int changed, news;
} linear_plant;

/* Outputs: left.position, left.rate, right.position, right.rate, left.pressure, right.pressure. The object
 * must outlive the plant. */
bramah_plant linear_plant_table(linear_plant *p);

/* F [6 x 6] of one step in [z0 z1 z0' z1' p0 p1]. */
void linear_plant_transition(const linear_plant *p, double *F);

#endif
