/* SPDX-License-Identifier: MIT */
/* Derivatives of the inverse dynamics tau(z, z', z'') of an open tree.
 *
 * A change dz of the joints displaces body j by the twist pi_j = pi_parent + b_j dz_j, whose first and second
 * derivatives by time follow from b', b''. The wrench of a body moving with Z, Z', seen with the gravity in its
 * acceleration, changes by
 *
 *   dw = pi x* w + I (pi'' - pi x a0) + B pi',   B pi' = I (pi' x Z) + pi' x* I Z + Z x* I pi',   a0 = [-g; 0],
 *
 * so that all sums over a subtree need only sums of w, I and B, and B depends on the turning part of pi' alone.
 * Source: ours, from the variation of dissertation 2.4-2.12; the sums over subtrees are those of the composite
 * rigid body method. */
#ifndef BRAMAH_LIB_MULTIBODY_TANGENT_H
#define BRAMAH_LIB_MULTIBODY_TANGENT_H

#include "lib/multibody/tree.h"

/* A body or subtree in motion, about the inertial origin, and the joint in front of it. */
typedef struct bramah__moving {
  bramah__composite mass;
  double h[3];          /* momentum */
  double B[9];          /* moment part of B; its force part is 2 pi'_turn x h */
  double bd[6], bdd[6]; /* b', b'' */
} bramah__moving;

/* Fill moving [n] with the single bodies at velocities Z, accelerations Zd [n x 6]. */
void bramah__tree_moving(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                         const double *Zd, bramah__moving *moving);

/* K = d tau/dz, C = d tau/dz', M = d tau/dz'' [n x n] of bramah__tree_force, which left W [n x 6], the wrench
 * of each subtree. Turns the bodies of `moving` into subtrees. */
void bramah__tree_tangent(const bramah__tree *tree, const bramah__pose *pose, bramah__moving *moving,
                          const double *W, double *K, double *C, double *M);

/* What elimination keeps of a body. Its subtree answers a displacement x = [pi; turning part of pi'; pi''] of
 * its own with the wrench G x + g, joints behind it having yielded. */
enum { BRAMAH__SWEEP_STATE = 15 };
typedef struct bramah__sweep {
  double G[6 * BRAMAH__SWEEP_STATE], g[6];
  double c[BRAMAH__SWEEP_STATE];    /* x = x_parent + c dz */
  double t[BRAMAH__SWEEP_STATE], d; /* joint: t x_parent + d dz + e = 0 */
  double e;
  double x[BRAMAH__SWEEP_STATE];
} bramah__sweep;

/* Solve (K + c1 C + c2 M + diag) dz = -f for the open tree in O(n) without forming a matrix: bodies are
 * eliminated from the leaves to the root, each by the equation of its own joint (without pivoting: for short
 * steps c2 M is by far the largest). `moving` as bramah__tree_moving leaves it, W as above, diag [n] what joint
 * springs add. Returns 0, or 1 + the joint whose pivot vanishes. */
size_t bramah__tree_sweep(const bramah__tree *tree, const bramah__pose *pose, const bramah__moving *moving,
                          const double *W, double c1, double c2, const double *diag, const double *f,
                          bramah__sweep *sweep, double *dz);

#endif
