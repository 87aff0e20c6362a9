/* SPDX-License-Identifier: MIT */
/* Tree of rigid bodies with one scalar joint in front of each: semi-recursive kinematics and dynamics.
 * Source: dissertation 2.4 ff., spec equations 1. All vectors are in inertial axes; velocities and
 * accelerations are those of the point of the body that coincides with the inertial origin, Z = [s'; w], so
 * that bodies add without transport. Bodies are ordered from the root outwards: parent < own index; -1 is the
 * ground. */
#ifndef BRAMAH_LIB_MULTIBODY_TREE_H
#define BRAMAH_LIB_MULTIBODY_TREE_H

#include <stddef.h>

/* What never changes of a body and the joint in front of it. */
typedef struct bramah__link {
  int parent;
  int revolute;       /* 1 turns, 0 slides */
  int turned;         /* 0: `rotation` is the identity */
  int ball;           /* > 0: base rotation number ball - 1 turns the joint axes further, see below */
  double rotation[9]; /* joint axes to parent axes */
  double position[3]; /* joint origin in the parent frame [m] */
  double axis[3];     /* unit vector, joint axes */
  double mass;        /* [kg] */
  double centre[3];   /* centre of mass, body frame [m] */
  double inertia[9];  /* about the centre of mass, body axes [kg m^2] */
} bramah__link;

typedef struct bramah__tree {
  size_t n;
  const bramah__link *link; /* [n] */
  double gravity[3];        /* [m/s^2] */
} bramah__tree;

/* Where a body is. */
typedef struct bramah__pose {
  double A[9]; /* body axes to inertial axes */
  double r[3]; /* origin of the body frame */
  double n[3]; /* joint axis */
  double b[6]; /* Z = Z_parent + b z' : revolute [r x n; n], prismatic [n; 0] */
  double g[3]; /* centre of mass */
  double J[9]; /* inertia about the centre of mass, A J A' */
} bramah__pose;

/* Composite mass of a subtree about the inertial origin. */
typedef struct bramah__composite {
  double m, mg[3], J[9];
} bramah__composite;

/* Poses [n] from joint coordinates z [n]. base [n_balls x 4]: unit quaternions (w, x, y, z) by which the
 * axes of joints with a `ball` are turned after `rotation`; NULL: none is. They belong to the state: the
 * first of the three turning coordinates of a spherical joint has one, and the state changes it together
 * with the coordinates so that these stay away from their singular position. */
void bramah__tree_pose(const bramah__tree *tree, const double *base, const double *z, bramah__pose *pose);

/* Velocities Z [n x 6] from joint rates zd [n]. */
void bramah__tree_velocity(const bramah__tree *tree, const bramah__pose *pose, const double *zd, double *Z);

/* Accelerations Zd [n x 6] = Z' from joint accelerations zdd [n] (NULL: zero). */
void bramah__tree_acceleration(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                               const double *zd, const double *zdd, double *Zd);

/* Joint forces tau [n] that make this motion against gravity: M z'' - Q of the open tree (inverse dynamics).
 * W [n x 6] is scratch. */
void bramah__tree_force(const bramah__tree *tree, const bramah__pose *pose, const double *Z, const double *Zd,
                        double *W, double *tau);

/* Mass matrix M [n x n] of the open tree; `composite` [n] is scratch. */
void bramah__tree_mass(const bramah__tree *tree, const bramah__pose *pose, bramah__composite *composite,
                       double *M);

/* Composite of one body; `to` grows by `from`; momentum w [6] of the composite moving with twist b [6]. */
void bramah__composite_of_body(const bramah__link *link, const bramah__pose *pose, bramah__composite *c);
void bramah__composite_add(const bramah__composite *from, bramah__composite *to);
void bramah__composite_momentum(const bramah__composite *c, const double *b, double *w);

/* Energies [J]; potential energy is zero at the inertial origin. */
double bramah__tree_kinetic(const bramah__tree *tree, const bramah__pose *pose, const double *Z);
double bramah__tree_potential(const bramah__tree *tree, const bramah__pose *pose);

/* A point given in the frame of `body` (-1: ground): its place, and its velocity. */
void bramah__point(const bramah__pose *pose, int body, const double *local, double *out);
void bramah__point_velocity(const double *Z, int body, const double *place, double *out);

/* A direction given in the axes of `body`. */
void bramah__direction(const bramah__pose *pose, int body, const double *local, double *out);

/* Derivative of a place that moves with body by the coordinate of joint j, which must be among its ancestors.
 */
void bramah__point_derivative(const bramah__tree *tree, const bramah__pose *pose, size_t j,
                              const double *place, double *out);

/* Derivative of its velocity v by that coordinate at held rates, from `move`, that of the place. */
void bramah__velocity_derivative(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                                 size_t j, const double *place, const double *v, const double *move,
                                 double *out);

#endif
