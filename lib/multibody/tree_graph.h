/* SPDX-License-Identifier: MIT */
/* Kinematics and dynamics of a tree as expressions: what tree.c, tangent.c, closure.c and forces.c compute. As there velocities and
 * accelerations are in inertial axes, those of the point of the body that coincides with the inertial origin; sums
 * over subtrees then need no transport. Or they are in the axes and about the origin of a body that carries the
 * one they belong to, the frame: the attachment of a machine that slews moves in a plane there, of which the third dimension
 * is zeros, and the body itself has constant inertia. Other derivatives are made on the graph. */
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
  bramah__mat A;    /* body axes to inertial axes */
  bramah__vec r, n; /* origin of the body frame, joint axis */
  int frame;        /* body in whose axes and about whose origin all that follows is; -1: inertial */
  bramah__mat axes; /* of the body there */
  int is_round;     /* it is not seen how far it has turned: what follows is as if it had not */
  bramah__mat turn; /* axes and origin of the body there, ... */
  bramah__vec place;
  bramah__mat frame_turn; /* ... and if it is a frame itself in that of its parent */
  bramah__vec frame_place;
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
 * are turned (tree.h), with frames on bodies that turn about another axis than what hangs on them, or all in inertial axes; then masses, velocities and accelerations at zd, zdd [n]. */
void bramah__tree_graph_pose(const bramah__tree *tree, const bramah__expr *base, const bramah__expr *z,
                             int with_frames, const unsigned char *round, bramah__body_graph *body);
void bramah__tree_graph_motion(const bramah__tree *tree, const bramah__link_graph *link, bramah__vec gravity,
                               const bramah__expr *zd, const bramah__expr *zdd, bramah__body_graph *body);

/* Joint forces tau [n] that make this motion against gravity and wrenches [n] that act on the bodies, in their frames
 * (Newton-Euler). */
void bramah__tree_graph_force(const bramah__tree *tree, const bramah__pair *wrench, bramah__body_graph *body,
                              bramah__expr *tau);

/* How bodies move as the joints, their rates and their accelerations move by dz, dzd, dzdd [n]: twists that their poses move by,
 * and changes of velocity and acceleration as they are seen from the body, all in its frame. */
typedef struct bramah__moves_graph {
  bramah__pair pose, twist, acceleration;
} bramah__moves_graph;
void bramah__tree_graph_moves(const bramah__tree *tree, const bramah__body_graph *body,
                              const bramah__expr *dz, const bramah__expr *dzd, const bramah__expr *dzdd,
                              bramah__moves_graph *moves);

/* Derivatives of the joint forces, instead of those that the graph makes, which go through all that the motion is made of:
 * dtau [n] along moves, while wrenches change as seen from the bodies by `wrench` [n]; ... */
void bramah__tree_graph_vary(const bramah__tree *tree, const bramah__body_graph *body, const bramah__expr *dz,
                             const bramah__moves_graph *moves, const bramah__pair *wrench,
                             bramah__expr *dtau);

/* ... and T [n x n], column k as those of joint k alone move by `along` [3], by composite bodies: without
 * frames, and wrenches held to the bodies. */
void bramah__tree_graph_tangent(const bramah__tree *tree, const bramah__body_graph *body,
                                const bramah__expr *along, bramah__expr *T);

/* Bodies with all that they carry in the same frame, [n]; and by them column j of the mass matrix as far up as the root: into tau [n], what
 * joint j and those that carry it exert as it alone accelerates by 1. */
void bramah__tree_graph_composites(const bramah__tree *tree, const bramah__body_graph *body,
                                   bramah__mass_graph *composite);
void bramah__tree_graph_accelerate(const bramah__tree *tree, const bramah__body_graph *body,
                                   const bramah__mass_graph *composite, size_t j, bramah__expr *tau);

/* Twists [n] of the bodies in their frames as the joints move along dz [n]. */
void bramah__tree_graph_follow(const bramah__tree *tree, const bramah__body_graph *body,
                               const bramah__expr *dz, bramah__pair *twist);

/* What the joints exert against wrenches [n] on the bodies, which are then those on all that each carries. */
void bramah__tree_graph_hold(const bramah__tree *tree, const bramah__body_graph *body, bramah__pair *wrench,
                             bramah__expr *tau);

/* The twist of a body in inertial axes about the inertial origin. */
bramah__pair bramah__twist_graph(const bramah__body_graph *body, size_t number);

/* A direction of a body in its frame. */
bramah__vec bramah__framed_graph(const bramah__body_graph *own, const double *local);

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
