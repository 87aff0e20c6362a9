/* SPDX-License-Identifier: MIT */
/* Rotations: unit quaternions, and the three angles of spherical and floating joints.
 *
 * Quaternions are q [4] = (w, x, y, z). Angles are a [3] = (yaw, pitch, roll): R(a) = Rz(yaw) Ry(pitch)
 * Rx(roll) takes axes of the child to those in front of the joint. Turns u [3] are the angular velocity about
 * the child's own axes in the order of the angles, u = (w_z, w_y, w_x): then u = a' where a = 0. Source: the
 * kinematics of z-y-x angles, e.g. Diebel, Representing Attitude (2006), (1,2,3) sequence. */
#ifndef BRAMAH_LIB_MULTIBODY_ROTATION_H
#define BRAMAH_LIB_MULTIBODY_ROTATION_H

/* R [9] of a unit quaternion. */
void bramah__quaternion_matrix(const double *q, double *R);

/* q = q p, scaled to unit length: first p, then q as seen from outside. */
void bramah__quaternion_append(double *q, const double *p);

/* Quaternion of angles: half of each, so that it is continuous in them; w = 1 at zero. */
void bramah__quaternion_of_angles(const double *a, double *q);

/* dq [4 x 3]: derivative of a quaternion by small turns u. */
void bramah__quaternion_by_turns(const double *q, double *dq);

/* Is it the quaternion of no rotation, to the bit? */
int bramah__quaternion_is_identity(const double *q);

/* Angles of R: yaw and roll in [-pi, pi], pitch in [-pi/2, pi/2]; at +-pi/2, where only the sum or
 * difference of the others counts, the roll is zero. */
void bramah__angles_of_matrix(const double *R, double *a);

/* u = X(a) a', X [9]. Its determinant is cos(pitch). */
void bramah__turn_matrix(const double *a, double *X);

/* Inverse of X(a). Where the cosine of the pitch is below 1e-8 it counts as 1e-8. */
void bramah__turn_inverse(const double *a, double *Xi);

/* U [9] = d(X(a) a')/da at constant a'; also u' = X a'' + U a'. */
void bramah__turn_gradient(const double *a, const double *rate, double *U);

/* P, Q [9] = d(U(a, a') a')/da and /da'. */
void bramah__turn_curvature(const double *a, const double *rate, double *P, double *Q);

#endif
