/* SPDX-License-Identifier: MIT */
/* Closed loops: constraint equations of the cut joints. A cut revolute joint gives five rows: three that
 * bring its two points together [m] and two that keep its axes parallel [rad]. In a planar mechanism three of
 * them are redundant; the partition (partition.h) finds which. Source: dissertation 2.18 ff., spec
 * equations 1. */
#ifndef BRAMAH_LIB_MULTIBODY_CLOSURE_H
#define BRAMAH_LIB_MULTIBODY_CLOSURE_H

#include "lib/multibody/tree.h"

#define BRAMAH__LOOP_ROWS 5

typedef struct bramah__loop {
  int body[2];         /* -1: ground */
  double point[2][3];  /* body frames */
  double axis[3];      /* unit vector on body 0 */
  double normal[2][3]; /* two unit vectors on body 1, normal to its axis and to each other */
} bramah__loop;

/* Take the axis of body 1 apart into two normals. */
void bramah__loop_normals(const double *axis, double normal[2][3]);

/* Constraint violation Phi [5 n_loops]. */
void bramah__closure_residual(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose,
                              double *Phi);

/* Jacobian Phi_z [5 n_loops x n]. */
void bramah__closure_jacobian(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                              const bramah__pose *pose, double *Phi_z);

/* gamma [5 n_loops] = (d Phi_z/dt) z': second derivative of Phi with z'' = 0. Zd [n x 6] are the
 * accelerations with z'' = 0. */
void bramah__closure_bias(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, double *gamma);

#endif
