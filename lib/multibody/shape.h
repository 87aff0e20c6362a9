/* SPDX-License-Identifier: MIT */
/* Shapes of bodies and where two of them touch.
 *
 * Every shape is a convex core with a ball swept over it: a sphere is a corner with a radius, a capsule two corners with one,
 * boxes and hulls have corners, faces and edges and no radius. Where a flat face takes part, the touch is a patch: the
 * other shape's face clipped by it (Sutherland and Hodgman), so that what lies flat does not rock; all of its points share
 * the force law by the lengths of the patch's edges, which changes as smoothly as the patch does. Which face it is comes
 * from the test of separating axes (Gottschalk, Lin, Manocha 1996: for boxes the 15 of publication IV (14), all terms
 * with bars). Round shapes touch where their cores come nearest. No iteration, nothing allocated, the same bits at every run. */
#ifndef BRAMAH_LIB_MULTIBODY_SHAPE_H
#define BRAMAH_LIB_MULTIBODY_SHAPE_H

#include "lib/multibody/tree.h"

enum {
  BRAMAH__MOST_CORNERS = 32, /* of a hull */
  BRAMAH__MOST_OF_FACE = 8,  /* corners of one face */
  BRAMAH__MOST_TOUCHES = 2 * BRAMAH__MOST_OF_FACE
};

/* Room that n corners need at most. */
#define BRAMAH__FACES_OF(n) (2 * (n))
#define BRAMAH__EDGES_OF(n) (3 * (n))

typedef struct bramah__shape {
  int body; /* -1: the ground */
  double radius;
  size_t n_corners, n_faces, n_edges, n_directions;
  double *corner;          /* [n_corners x 3] body frame */
  double *normal;          /* [n_faces x 3], out of it */
  int *first;              /* [n_faces + 1] where the corners of a face begin in ... */
  int *of_face;            /* [2 n_edges] ... this list, counterclockwise from outside */
  int *edge;               /* [n_edges x 2] */
  double *direction;       /* [n_directions x 3] of edges, each once */
  double middle[3], reach; /* a ball around it */
} bramah__shape;

/* Faces, edges, directions and the ball around a shape whose corners are there, with room for what BRAMAH__FACES_OF and
 * BRAMAH__EDGES_OF say. Returns the corner at fault: one that is no corner of their hull, or one too many of a face; -1: none;
 * -2: the corners have no volume. Shapes with a radius need no faces. */
long bramah__shape_build(bramah__shape *shape);

/* Points that two shapes touch in at most. */
size_t bramah__shape_touches(const bramah__shape *a, const bramah__shape *b);

/* What gives a touch its normal: a face; the line between two cores where they are nearest, so that it turns as they move along each
 * other; two edges of polyhedra across each other. */
enum { BRAMAH__ON_FACE, BRAMAH__NEAREST, BRAMAH__ACROSS };

/* Where they touch, or would if they came nearer: a plane that one of them carries, and points of the other, balls with
 * its radius. All in inertial axes. */
typedef struct bramah__patch {
  int owner;                   /* 0: the first carries the plane */
  int turns;                   /* with the one of these */
  double normal[3], origin[3]; /* out of the owner */
  size_t n;                    /* 0: they are farther apart */
  double point[BRAMAH__MOST_TOUCHES][3], share[BRAMAH__MOST_TOUCHES];
  /* Of cores that are nearest: the place on the owner's for each point; and the directions, of length 1, in which that of the other one and that of
   * the owner go along as the shapes move; 0 at the ends of cores. */
  double core[2][3], slide[2][2][3];
} bramah__patch;

/* owner: of the plane so far, which is kept unless the other one's is clearly better; -1: there was none. */
void bramah__shapes_touch(const bramah__shape *a, const bramah__shape *b, const bramah__pose *pose, int owner,
                          double margin, bramah__patch *patch);

/* A ball around a shape. */
typedef struct bramah__around {
  double middle[3], radius;
} bramah__around;

/* All pairs i < j of balls that overlap, each once, in an order that the balls alone decide. order [n]: any order of them, which is left
 * sorted; what it is costs time alone. NaN overlaps nothing. */
void bramah__near_pairs(size_t n, const bramah__around *ball, int *order,
                        void (*found)(void *, size_t, size_t), void *self);

/* Largest gap of two polyhedra along any axis of the test of separating axes, negative where they overlap; the axis. */
double bramah__shapes_gap(const bramah__shape *a, const bramah__shape *b, const bramah__pose *pose,
                          double *axis);

#endif
