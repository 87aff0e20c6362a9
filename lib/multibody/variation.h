/* SPDX-License-Identifier: MIT */
/* How a motion changes when the joint coordinates and their rates and accelerations change, and what the constraint
 * equations say of it: their accelerations change by Phi_z dz'' + 2 Phi_z' dz' + Phi_z'' dz, dots of Phi_z being
 * total derivatives by time. The derivatives of everything that follows from the independent coordinates come from
 * here. Source: variation of dissertation 2.18-2.19 and of their second derivative. */
#ifndef BRAMAH_LIB_MULTIBODY_VARIATION_H
#define BRAMAH_LIB_MULTIBODY_VARIATION_H

#include "lib/multibody/closure.h"
#include "lib/multibody/tangent.h"

/* Displacements of all bodies, twists as Z, and their derivatives by time. */
typedef struct bramah__variation {
  double *pi, *pid, *pidd; /* [n x 6] */
} bramah__variation;

/* From changes dz, dzd, dzdd [n] of the joint coordinates (each may be NULL: zero). moving: b' and b'' of the
 * motion. */
void bramah__vary_tree(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                       const double *dz, const double *dzd, const double *dzdd, const bramah__variation *out);

/* Change of Phi'' [m] at velocities Z, accelerations Zd. */
void bramah__vary_closure(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, const bramah__variation *variation, double *Phidd);

#endif
