/* SPDX-License-Identifier: MIT */
/* Forces on a tree, as generalised forces of its joints: along the line of a cylinder, of springs and
 * dampers, of constant loads. The virtual work of a force at a point, of a torque on a body, of a force in
 * a joint. */
#ifndef BRAMAH_LIB_MULTIBODY_FORCES_H
#define BRAMAH_LIB_MULTIBODY_FORCES_H

#include "lib/multibody/contact.h"
#include "lib/multibody/tree.h"

/* The line between two points on two bodies, along which a cylinder acts. A rotary actuator acts along a joint
 * coordinate, which takes the place of the length. */
typedef struct bramah__line {
  int body[2];        /* -1: ground */
  double point[2][3]; /* body frames */
  int is_coordinate;  /* 1: the length is that of the coordinate `joint`, which may have any sign */
  size_t joint;
} bramah__line;

/* Length s [m] and its derivative by the joint coordinates z, row [n]. A force F that pushes the points apart
 * does the work F ds: its generalised force is row' F. */
double bramah__line_length(const bramah__tree *tree, const bramah__line *line, const double *z,
                           const bramah__pose *pose, double *row);

/* Derivative of the rate s' = row z' by the joint coordinates at constant rates, out [n]. Z [n x 6]:
 * velocities. */
void bramah__line_rate_derivative(const bramah__tree *tree, const bramah__line *line,
                                  const bramah__pose *pose, const double *Z, double *out);

/* A force F(s, s') that pushes the points apart takes row' F off the joint forces M z'' - Q. Add the
 * derivative of this by positions to K, by rates to C [n x n]: F_s = dF/ds, F_v = dF/ds', row [n] as above,
 * rate_row [n] from bramah__line_rate_derivative. */
void bramah__line_add_tangent(const bramah__tree *tree, const bramah__line *line, const bramah__pose *pose,
                              double F, double F_s, double F_v, const double *row, const double *rate_row,
                              double *K, double *C);

/* Pulls its two points together with k (s - free_length) + c s'. */
typedef struct bramah__spring {
  bramah__line line;
  double free_length, stiffness, damping; /* [m], [N/m], [N s/m] */
} bramah__spring;

/* Drives a joint with -k (z - free_position) - c z'. */
typedef struct bramah__joint_spring {
  size_t joint;
  double free_position, stiffness, damping; /* [rad or m] and what belongs to it */
} bramah__joint_spring;

/* Stops at both ends of the range of a joint coordinate. */
typedef struct bramah__limit {
  size_t joint;
  double range[2]; /* [rad or m], and what belongs to it */
  bramah__end_stop stop;
} bramah__limit;

/* Force that they drive the coordinate z with at the rate zd. */
bramah__expr bramah__limit_force(const bramah__limit *limit, bramah__expr z, bramah__expr zd);

/* Its value, and derivatives by position and rate. */
typedef struct bramah__limit_force_at {
  double force, by_z, by_zd;
} bramah__limit_force_at;

/* Constant force at a point, and torque. */
typedef struct bramah__load {
  int body;
  int turns; /* 1: force and torque are given in the axes of the body and turn with it; 0: inertial axes */
  double point[3];            /* body frame */
  double force[3], torque[3]; /* [N], [N m] */
} bramah__load;

typedef struct bramah__forces {
  size_t n_springs, n_joint_springs, n_loads, n_limits;
  const bramah__spring *spring;
  const bramah__joint_spring *joint_spring;
  const bramah__load *load;
  const bramah__limit *limit;
  const double *joint_load; /* [n] along the joints, constant [N m, N]; NULL: none */
} bramah__forces;

/* Subtract the generalised forces from tau [n] at joint positions z [n], rates zd [n], velocities Z [n x 6].
 */
void bramah__forces_subtract(const bramah__tree *tree, const bramah__forces *forces, const bramah__pose *pose,
                             const double *Z, const double *z, const double *zd, double *tau);

/* Derivatives of what bramah__forces_subtract leaves, by positions added to K, by rates to C [n x n]. row,
 * rate_row [n] are scratch. */
void bramah__forces_add_tangent(const bramah__tree *tree, const bramah__forces *forces,
                                const bramah__pose *pose, const double *Z, double *row, double *rate_row,
                                double *K, double *C);

/* Forces of the stops of joints, out [n_limits], at joint positions z and rates zd [n]. */
void bramah__evaluate_limits(const bramah__forces *forces, const double *z, const double *zd,
                             bramah__limit_force_at *out);

/* Energy in the springs [J]. */
double bramah__forces_potential(const bramah__forces *forces, const bramah__pose *pose, const double *z);

#endif
