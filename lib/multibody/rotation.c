/* SPDX-License-Identifier: MIT */
#include "lib/multibody/rotation.h"
#include "lib/math/elementary.h"

#include <math.h>

void bramah__quaternion_matrix(const double *q, double *R)
{
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  R[0] = 1.0 - 2.0 * (y * y + z * z);
  R[1] = 2.0 * (x * y - w * z);
  R[2] = 2.0 * (x * z + w * y);
  R[3] = 2.0 * (x * y + w * z);
  R[4] = 1.0 - 2.0 * (x * x + z * z);
  R[5] = 2.0 * (y * z - w * x);
  R[6] = 2.0 * (x * z - w * y);
  R[7] = 2.0 * (y * z + w * x);
  R[8] = 1.0 - 2.0 * (x * x + y * y);
}

void bramah__quaternion_append(double *q, const double *p)
{
  const double w = q[0] * p[0] - q[1] * p[1] - q[2] * p[2] - q[3] * p[3];
  const double x = q[0] * p[1] + q[1] * p[0] + q[2] * p[3] - q[3] * p[2];
  const double y = q[0] * p[2] + q[2] * p[0] + q[3] * p[1] - q[1] * p[3];
  const double z = q[0] * p[3] + q[3] * p[0] + q[1] * p[2] - q[2] * p[1];
  const double scale = 1.0 / sqrt(w * w + x * x + y * y + z * z);
  q[0] = w * scale;
  q[1] = x * scale;
  q[2] = y * scale;
  q[3] = z * scale;
}

void bramah__quaternion_of_angles(const double *a, double *q)
{
  double sy, cy, sp, cp, sr, cr;
  bramah__sincos_any(0.5 * a[0], &sy, &cy);
  bramah__sincos_any(0.5 * a[1], &sp, &cp);
  bramah__sincos_any(0.5 * a[2], &sr, &cr);
  q[0] = cy * cp * cr + sy * sp * sr;
  q[1] = cy * cp * sr - sy * sp * cr;
  q[2] = cy * sp * cr + sy * cp * sr;
  q[3] = sy * cp * cr - cy * sp * sr;
}

/* dq = 1/2 q (0, u_x, u_y, u_z) */
void bramah__quaternion_by_turns(const double *q, double *dq)
{
  const double w = 0.5 * q[0], x = 0.5 * q[1], y = 0.5 * q[2], z = 0.5 * q[3];
  const double rows[12] = {-z, -y, -x, y, -z, w, -x, w, z, w, x, -y};
  for (int k = 0; k < 12; k++) dq[k] = rows[k];
}

int bramah__quaternion_is_identity(const double *q)
{
  return q[0] == 1.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
}

void bramah__angles_of_matrix(const double *R, double *a)
{
  const double cp = sqrt(R[0] * R[0] + R[3] * R[3]);
  a[1] = bramah__atan2(-R[6], cp);
  if (cp < 1e-12) {
    a[0] = bramah__atan2(-R[1], R[4]);
    a[2] = 0.0;
    return;
  }
  a[0] = bramah__atan2(R[3], R[0]);

  /* What is left when the yaw is taken back: fits it however little the elements that it came from say. */
  double s, c;
  bramah__sincos_any(a[0], &s, &c);
  a[2] = bramah__atan2(s * R[2] - c * R[5], c * R[4] - s * R[1]);
}

void bramah__turn_matrix(const double *a, double *X)
{
  double sp, cp, sr, cr;
  bramah__sincos_any(a[1], &sp, &cp);
  bramah__sincos_any(a[2], &sr, &cr);
  const double rows[9] = {cr * cp, -sr, 0.0, sr * cp, cr, 0.0, -sp, 0.0, 1.0};
  for (int k = 0; k < 9; k++) X[k] = rows[k];
}

void bramah__turn_inverse(const double *a, double *Xi)
{
  static const double least = 1e-8;
  double sp, c, sr, cr;
  bramah__sincos_any(a[1], &sp, &c);
  bramah__sincos_any(a[2], &sr, &cr);
  const double cp = fabs(c) < least ? copysign(least, c) : c;
  const double rows[9] = {cr / cp, sr / cp, 0.0, -sr, cr, 0.0, cr * sp / cp, sr * sp / cp, 1.0};
  for (int k = 0; k < 9; k++) Xi[k] = rows[k];
}

void bramah__turn_gradient(const double *a, const double *rate, double *U)
{
  double sp, cp, sr, cr;
  bramah__sincos_any(a[1], &sp, &cp);
  bramah__sincos_any(a[2], &sr, &cr);
  const double y = rate[0], p = rate[1];
  const double rows[9] = {
      0.0, -y * cr * sp, -p * cr - y * sr * cp, 0.0, -y * sr * sp, -p * sr + y * cr * cp, 0.0, -y * cp, 0.0};
  for (int k = 0; k < 9; k++) U[k] = rows[k];
}

void bramah__turn_curvature(const double *a, const double *rate, double *P, double *Q)
{
  double sp, cp, sr, cr;
  bramah__sincos_any(a[1], &sp, &cp);
  bramah__sincos_any(a[2], &sr, &cr);
  const double y = rate[0], p = rate[1], r = rate[2];
  const double by_angle[9] = {0.0,
                              y * (r * sr * sp - p * cr * cp),
                              y * (p * sr * sp - r * cr * cp) + r * p * sr,
                              0.0,
                              -y * (r * cr * sp + p * sr * cp),
                              -y * (p * cr * sp + r * sr * cp) - r * p * cr,
                              0.0,
                              y * p * sp,
                              0.0};
  const double by_rate[9] = {-p * cr * sp - r * sr * cp,
                             -y * cr * sp - r * cr,
                             -p * cr - y * sr * cp,
                             r * cr * cp - p * sr * sp,
                             -y * sr * sp - r * sr,
                             y * cr * cp - p * sr,
                             -p * cp,
                             -y * cp,
                             0.0};
  for (int k = 0; k < 9; k++) P[k] = by_angle[k], Q[k] = by_rate[k];
}
