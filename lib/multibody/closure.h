/* SPDX-License-Identifier: MIT */
/* Closed loops: constraint equations of the cut joints. A loop has rows that hold its two points [m] and
 * behind them rows that hold directions perpendicular to each other [rad]:
 *
 *   joint      points             directions     rows
 *   revolute   coincide (3)       2              5
 *   spherical  coincide (3)       -              3
 *   universal  coincide (3)       1              4
 *   prismatic  on one line (2)    3              5
 *   distance   at a distance (1)  -              1
 *
 * In a planar mechanism some are redundant; the elimination (bramah__eliminate) finds which. Source: dissertation
 * 2.18 ff., spec equations 1. */
#ifndef BRAMAH_LIB_MULTIBODY_CLOSURE_H
#define BRAMAH_LIB_MULTIBODY_CLOSURE_H

#include "lib/multibody/tangent.h"

/* How the offset d from point 0 to point 1 is held. The number is that of the rows. */
typedef enum bramah__hold {
  BRAMAH__HOLD_DISTANCE = 1, /* (d.d - L^2) / 2L */
  BRAMAH__HOLD_LINE = 2,     /* d . normal k */
  BRAMAH__HOLD_POINT = 3     /* -d, in the axes of the carrier */
} bramah__hold;

enum { BRAMAH__LOOP_MOST_ROWS = 5 };

typedef struct bramah__loop {
  int body[2];        /* -1: ground */
  int carrier;        /* the last body that carries both; -1: the ground */
  double point[2][3]; /* body frames */
  bramah__hold hold;
  size_t n_directions; /* at most 3 */
  double u[3][3];      /* unit vectors on body 0 ... */
  double v[3][3];      /* ... each perpendicular to the one on body 1 */
  /* HOLD_LINE: 2 unit vectors on body 0, normal to it; HOLD_POINT: less axes of the carrier */
  double normal[3][3];
  double distance; /* HOLD_DISTANCE: L > 0 [m] */
  size_t row;      /* of its first equation in Phi */
} bramah__loop;

/* Two unit vectors normal to a unit vector and to each other. */
void bramah__loop_normals(const double *axis, double normal[2][3]);

static inline size_t bramah__loop_rows(const bramah__loop *loop)
{
  return (size_t)loop->hold + loop->n_directions;
}

/* The last body in front of both or one of them; -1: the ground. */
int bramah__common_carrier(const bramah__tree *tree, int a, int b);

/* Constraint violation Phi [m]. */
void bramah__closure_residual(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose,
                              double *Phi);

/* Jacobian Phi_z [m x n]. */
void bramah__closure_jacobian(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                              const bramah__pose *pose, double *Phi_z);

/* gamma [m] = (d Phi_z/dt) z': second derivative of Phi with z'' = 0, a quadratic form of the rates. Zd
 * [n x 6] are the accelerations with z'' = 0. */
void bramah__closure_bias(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, double *gamma);

/* ---- geometric stiffness ----
 *
 * Second derivatives of places and directions by the joint coordinates: how a force that keeps its size and
 * direction becomes another joint force as the machine moves. */

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

/* ---- variation ----
 *
 * What the constraint equations say of a motion that changes with the joint coordinates and their rates and
 * accelerations: their accelerations change by Phi_z dz'' + 2 Phi_z' dz' + Phi_z'' dz, dots of Phi_z being total
 * derivatives by time. The derivatives of everything that follows from the independent coordinates come from here.
 * Source: variation of dissertation 2.18-2.19 and of their second derivative. */

/* Change of Phi'' [m] at velocities Z, accelerations Zd. Rows of directions with used[row] = 0 may be left
 * out (NULL: none is). */
void bramah__vary_closure(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, const bramah__variation *variation, const unsigned char *used,
                          double *Phidd);

#endif
