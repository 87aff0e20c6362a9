/* SPDX-License-Identifier: MIT */
/* The residual of one step. The candidate c->next with its evaluation c->trial belongs to changes [nx] over the
 * step, c->newton.change. */
#ifndef BRAMAH_LIB_PLANT_RESIDUAL_H
#define BRAMAH_LIB_PLANT_RESIDUAL_H

#include "lib/plant/formulation.h"

/* Place, move and load the candidate at the changes; coordinates that are no unknowns follow the correction `move`
 * by what `from` knows (both NULL: all stand where they were guessed). */
bramah_status bramah__place_candidate(bramah_coupled *c, const bramah__eval *from, const double *move);

/* Its accelerations by the trapezoidal rule. */
void bramah__set_accelerations(bramah_coupled *c);

/* The residual into c->newton.f: accelerations and rates of the trapezoidal rule put into the equations of motion and
 * those of the circuit. */
void bramah__residual(bramah_coupled *c);

#endif
