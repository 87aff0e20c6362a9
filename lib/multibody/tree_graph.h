/* SPDX-License-Identifier: MIT */
/* Kinematics and dynamics of a tree as expressions: what tree.c, tangent.c, closure.c and forces.c compute, and in
 * their frames: inertial axes, velocities and accelerations those of the point of the body that coincides with the
 * inertial origin. Sums over subtrees then need no transport. Other derivatives are made on the graph. */
#ifndef BRAMAH_LIB_MULTIBODY_TREE_GRAPH_H
#define BRAMAH_LIB_MULTIBODY_TREE_GRAPH_H

#include "lib/graph/vector.h"
#include "lib/multibody/closure.h"
#include "lib/multibody/forces.h"

/* Longer trees are not for graphs. */
enum { BRAMAH__MOST_BODIES = 64 };

/* What parameters may change of a body (bramah__link). */
typedef struct bramah__link_graph {
  bramah__expr mass;
  bramah__vec centre;
  bramah__mat inertia;
} bramah__link_graph;

/* A rigid body or several: mass, its first moment, inertia, about the inertial origin. */
typedef struct bramah__mass_graph {
  bramah__expr m;
  bramah__vec mg;
  bramah__mat J;
} bramah__mass_graph;

typedef struct bramah__body_graph {
  bramah__mat A;           /* body axes to inertial axes */
  bramah__vec r, n;        /* origin of the body frame, joint axis */
  bramah__pair b;          /* Z = Z_parent + b z' */
  bramah__pair Z, Zd;      /* velocity; acceleration less gravity */
  bramah__pair bd, bdd;    /* b' and b'', this seen with gravity in the acceleration */
  bramah__mass_graph mass; /* of the body alone */
  bramah__pair h;          /* momentum of the body alone */
  bramah__pair W;          /* wrench that moves the subtree */
} bramah__body_graph;

bramah__link_graph bramah__link_graph_of(const bramah__link *link);

/* The body carries a point mass m as well (parallel axes). */
void bramah__link_graph_load(bramah__link_graph *link, bramah__expr m, const double *point);

/* Poses of body [n] at joint coordinates z [n], where base [n_balls x 9] are rotations by which the axes of spherical joints
 * are turned (tree.h); then masses, velocities and accelerations at zd, zdd [n]. */
void bramah__tree_graph_pose(const bramah__tree *tree, const bramah__expr *base, const bramah__expr *z,
                             bramah__body_graph *body);
void bramah__tree_graph_motion(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                               const bramah__expr *zd, const bramah__expr *zdd, bramah__body_graph *body);

/* Joint forces tau [n] that make this motion against gravity (Newton-Euler). */
void bramah__tree_graph_force(const bramah__tree *tree, bramah__body_graph *body, bramah__expr *tau);

/* Their derivatives, instead of those that the graph makes, which go through all that the motion is made of:
 * dtau [n] as the joints, their rates and their accelerations move by dz, dzd, dzdd [n]; ... */
void bramah__tree_graph_vary(const bramah__tree *tree, const bramah__body_graph *body, const bramah__expr *dz,
                             const bramah__expr *dzd, const bramah__expr *dzdd, bramah__expr *dtau);

/* ... and T [n x n], column k as those of joint k alone move by `along` [3], by composite bodies. */
void bramah__tree_graph_tangent(const bramah__tree *tree, const bramah__body_graph *body,
                                const bramah__expr *along, bramah__expr *T);

/* A point and a direction of a body (-1: ground). */
bramah__vec bramah__point_graph(const bramah__body_graph *body, int number, const double *local);
bramah__vec bramah__direction_graph(const bramah__body_graph *body, int number, const double *local);

/* Constraint equations of a loop, Phi [bramah__loop_rows]. */
void bramah__closure_graph(const bramah__tree *tree, const bramah__loop *loop, const bramah__expr *base,
                           const bramah__expr *z, const bramah__body_graph *body, bramah__expr *Phi);

/* Length of a line at joint coordinates z and bases as above; of the joints it sees those between its two bodies alone. */
bramah__expr bramah__line_graph(const bramah__tree *tree, const bramah__line *line, const bramah__expr *base,
                                const bramah__expr *z, const bramah__body_graph *body);

#endif
