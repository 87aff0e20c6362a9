/* SPDX-License-Identifier: MIT */
/* Rows B z' of what rolls and glides: three for a wheel, velocity of the material point at its lowest point
 * across the plane (the rate of its height, holonomic) and along it; one for a knife edge, velocity of its
 * point along its normal. Source: contact geometry of a thin disc, e.g. Meijaard, Papadopoulos, Ruina,
 * Schwab, Proc. R. Soc. A 463 (2007). */
#ifndef BRAMAH_LIB_LINEAR_ROLLING_H
#define BRAMAH_LIB_LINEAR_ROLLING_H

#include "lib/plant/state.h"

static inline size_t bramah__rolling_rows(const bramah__rolling *r) { return r->is_wheel ? 3 : 1; }
size_t bramah__count_rolling_rows(const bramah_model *model);

/* B [rows x n] at these poses. */
void bramah__rolling_jacobian(const bramah_model *model, const bramah__pose *pose, double *B);

/* d(B z')/dt [rows] of a motion with velocities Z and accelerations Zd [n x 6]. */
void bramah__rolling_acceleration(const bramah_model *model, const bramah__pose *pose, const double *Z,
                                  const double *Zd, double *out);

/* Height of the lowest point of a wheel above the plane [m]. */
double bramah__rolling_height(const bramah_model *model, const bramah__pose *pose,
                              const bramah__rolling *wheel);

#endif
