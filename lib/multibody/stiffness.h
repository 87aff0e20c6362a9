/* SPDX-License-Identifier: MIT */
/* Second derivatives of places and directions by the joint coordinates: how a force that keeps its size and
 * direction becomes another joint force as the machine moves (geometric stiffness). */
#ifndef BRAMAH_LIB_MULTIBODY_STIFFNESS_H
#define BRAMAH_LIB_MULTIBODY_STIFFNESS_H

#include "lib/multibody/closure.h"

/* A place, or a direction, that moves with a body (-1: the ground, which does not). */
typedef struct bramah__mark {
  int body;
  int is_direction;
  const double *x; /* inertial axes */
} bramah__mark;

/* K [n x n] += s d^2 (x . y) / dz dz, y held. */
void bramah__add_curvature(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *mark,
                           const double *y, double s, double *K);

/* K_jk += s (dx_a/dz_j) . (dx_b/dz_k) */
void bramah__add_products(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *a,
                          const bramah__mark *b, double s, double *K);

/* K += d(Phi_z' mu)/dz with the multipliers mu [m] held. */
void bramah__closure_add_stiffness(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                                   const bramah__pose *pose, const double *mu, double *K);

#endif
