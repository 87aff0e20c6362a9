/* SPDX-License-Identifier: MIT */
/* One implicit trapezoidal step, and the factors of its tangent. */
#ifndef BRAMAH_LIB_PLANT_STEP_H
#define BRAMAH_LIB_PLANT_STEP_H

#include "lib/plant/formulation.h"

/* On success the state has advanced and `now` belongs to it. */
bramah_status bramah__trapezoidal_step(bramah_coupled *c, bramah_diag *diag);

/* Residual f [nx] of the step at `change`; afterwards the candidate belongs to it. */
bramah_status bramah__step_residual(bramah_coupled *c, const double *change, double *f);

/* Scale and factor c->newton.J, a tangent of nm mechanical unknowns and the first-order states: columns by typical
 * sizes of the unknowns, rows by their largest entry, for the unknowns span 1e-7 to 1e7. Then x = J^-1 x. */
bramah_status bramah__factor_tangent(bramah_coupled *c, size_t nm);
void bramah__solve_tangent(const bramah_coupled *c, size_t nm, double *x);

#endif
