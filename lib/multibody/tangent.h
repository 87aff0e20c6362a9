/* SPDX-License-Identifier: MIT */
/* Derivatives of the inverse dynamics tau(z, z', z'') of an open tree.
 *
 * A change dz of the joints displaces body j by the twist pi_j = pi_parent + b_j dz_j, whose first and
 * second derivatives by time follow from b', b''. The wrench of a body moving with Z, Z', seen with the
 * gravity in its acceleration, changes by
 *
 *   dw = pi x* w + I (pi'' - pi x a0) + B pi',   a0 = [-g; 0]
 *   B pi' = I (pi' x Z) + pi' x* I Z + Z x* I pi'
 *
 * so that all sums over a subtree need only sums of w, I and B, and B depends on the turning part of pi'
 * alone. Source: ours, from the variation of dissertation 2.4-2.12; the sums over subtrees are those of the
 * composite rigid body method. */
#ifndef BRAMAH_LIB_MULTIBODY_TANGENT_H
#define BRAMAH_LIB_MULTIBODY_TANGENT_H

#include "lib/math/vector3.h"
#include "lib/multibody/tree.h"

/* Twists are [linear; angular], wrenches [force; moment], about the inertial origin. out = a x b: how
 * twist b changes when it moves along with a. */
static inline void bramah__twist_cross(const double *a, const double *b, double *out)
{
  bramah__cross3(a + 3, b, out);
  bramah__add_cross3(a, b + 3, out);
  bramah__cross3(a + 3, b + 3, out + 3);
}

/* A body or subtree in motion, about the inertial origin, and the joint in front of it. */
typedef struct bramah__moving {
  bramah__composite mass;
  double h[3];          /* momentum */
  double bd[6], bdd[6]; /* b', b'' */
  double B[9];          /* moment part of B; its force part is 2 pi'_turn x h */
} bramah__moving;

/* Fill moving [n] with the single bodies at velocities Z, accelerations Zd [n x 6]: all but B. */
void bramah__tree_moving(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                         const double *Zd, bramah__moving *moving);

/* Displacements of all bodies, twists as Z, and their derivatives by time. */
typedef struct bramah__variation {
  double *pi, *pid, *pidd; /* [n x 6] */
} bramah__variation;

/* They follow from changes dz, dzd, dzdd [n] of the joint coordinates and their rates and accelerations. */
void bramah__vary_tree(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                       const double *dz, const double *dzd, const double *dzdd, const bramah__variation *out);

/* Change dtau [n] of bramah__tree_force, which left W [n x 6], the wrench of each subtree, by a variation:
 * one column of the derivative for the price of about one evaluation. Y [n x 6] is scratch. */
void bramah__vary_force(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                        const double *Z, const double *W, const double *dz,
                        const bramah__variation *variation, double *Y, double *dtau);

/* The whole: K = d tau/dz, C = d tau/dz', M = d tau/dz'' [n x n]. Turns the bodies of `moving` into
 * subtrees. */
void bramah__tree_tangent(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                          const double *Z, const double *W, double *K, double *C, double *M);

/* What elimination keeps of a body. Its subtree answers a displacement x = [pi; turning part of pi'; pi''] of
 * its own with the wrench G x + g, joints behind it having yielded. */
enum { BRAMAH__SWEEP_STATE = 15 };
typedef struct bramah__sweep {
  double G[6 * BRAMAH__SWEEP_STATE];
  double u[6];                      /* G c */
  double c[BRAMAH__SWEEP_STATE];    /* x = x_parent + c dz; its first six are b */
  double t[BRAMAH__SWEEP_STATE], d; /* joint: t x_parent + d dz + e = 0 */
  double g[6], e;
  double x[BRAMAH__SWEEP_STATE];
} bramah__sweep;

/* Eliminate the matrix K + c1 C + c2 M + diag of the open tree in O(n) without forming it: bodies yield from
 * the leaves to the root, each by the equation of its own joint (without pivoting: for short steps c2 M is by
 * far the largest part). `moving` as bramah__tree_moving leaves it, whose B it fills; diag [n] what joint
 * springs add. Returns 0, or 1 + the joint whose pivot vanishes. */
size_t bramah__sweep_factor(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                            const double *Z, const double *W, double c1, double c2, const double *diag,
                            bramah__sweep *sweep);

/* Solve with it: matrix dz = -f. */
void bramah__sweep_solve(const bramah__tree *tree, bramah__sweep *sweep, const double *f, double *dz);

#endif
