/* SPDX-License-Identifier: MIT */
/* Prescribed motion of a joint coordinate, a rheonomic constraint Phi = z_j - f(t): Phi_z = e_j, Phi_t =
 * -f'(t), second derivative with z'' = 0: -f''(t). Source: spec equations 1, dissertation 2.18 ff. (Phi(z, t)
 * = 0). */
#ifndef BRAMAH_LIB_MULTIBODY_MOTION_H
#define BRAMAH_LIB_MULTIBODY_MOTION_H

#include <stddef.h>

typedef enum bramah__motion_type {
  BRAMAH__MOTION_RATE = 1,     /* position + rate t */
  BRAMAH__MOTION_HARMONIC = 2, /* position + amplitude sin(omega t + phase) */
  BRAMAH__MOTION_TABLE = 3     /* cubic spline */
} bramah__motion_type;

typedef struct bramah__motion {
  bramah__motion_type type;
  size_t joint; /* j */
  size_t row;   /* of its equation in Phi */
  double position, rate, amplitude, omega, phase;
  size_t n_points;
  const double *time, *value, *slope; /* [n_points] of the spline */
} bramah__motion;

/* f, f' and f'' at time t [s]. A table is held outside its times; its spline arrives there with zero rate,
 * and its acceleration jumps there to zero (at the end points themselves it is that of the spline). */
void bramah__motion_at(const bramah__motion *motion, double t, double f[3]);

/* Slopes [n] of the cubic spline through n >= 2 points (times ascending) that is twice continuously
 * differentiable between them and has slope zero at both ends. work [n]. */
void bramah__spline_slopes(size_t n, const double *time, const double *value, double *slope, double *work);

/* Rows of n_motions motions at time t [s] in Phi [m], Phi_z [m x n] and gamma [m], and Phi_t added to the
 * rates Phi_z z' [m]; other rows are left alone. */
void bramah__motion_residual(size_t n_motions, const bramah__motion *motion, double t, const double *z,
                             double *Phi);
void bramah__motion_jacobian(size_t n, size_t n_motions, const bramah__motion *motion, double *Phi_z);
void bramah__motion_add_rate(size_t n_motions, const bramah__motion *motion, double t, double *rate);
void bramah__motion_bias(size_t n_motions, const bramah__motion *motion, double t, double *gamma);

#endif
