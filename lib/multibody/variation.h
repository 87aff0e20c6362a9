/* SPDX-License-Identifier: MIT */
/* How a motion changes when the joint coordinates and their rates and accelerations change, and what the
 * constraint equations say of it: their accelerations change by Phi_z dz'' + 2 Phi_z' dz' + Phi_z'' dz, dots
 * of Phi_z being total derivatives by time. The derivatives of everything that follows from the independent
 * coordinates come from here. Source: variation of dissertation 2.18-2.19 and of their second derivative. */
#ifndef BRAMAH_LIB_MULTIBODY_VARIATION_H
#define BRAMAH_LIB_MULTIBODY_VARIATION_H

#include "lib/multibody/closure.h"
#include "lib/multibody/tangent.h"

/* Change of Phi'' [m] at velocities Z, accelerations Zd. Rows of directions with used[row] = 0 may be left
 * out (NULL: none is). */
void bramah__vary_closure(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, const bramah__variation *variation, const unsigned char *used,
                          double *Phidd);

#endif
