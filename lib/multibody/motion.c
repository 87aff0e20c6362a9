/* SPDX-License-Identifier: MIT */
#include "lib/multibody/motion.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

/* Hermite's form of the cubic: exact values and slopes at the points. */
static void spline_at(const bramah__motion *motion, double t, double f[3])
{
  const size_t last = motion->n_points - 1;
  f[1] = f[2] = 0.0;
  if (t < motion->time[0] || t > motion->time[last]) {
    f[0] = motion->value[t < motion->time[0] ? 0 : last];
    return;
  }

  /* Interval i with time[i] <= t <= time[i + 1]; t lies within the table. */
  size_t i = 0, high = motion->n_points - 1;
  while (high - i > 1) {
    const size_t middle = i + (high - i) / 2;
    if (t < motion->time[middle])
      high = middle;
    else
      i = middle;
  }
  const double h = motion->time[i + 1] - motion->time[i], u = (t - motion->time[i]) / h;
  const double rise = motion->value[i + 1] - motion->value[i];
  const double a = h * motion->slope[i] - rise, b = rise - h * motion->slope[i + 1];

  /* value + u rise + u (1 - u) (a (1 - u) + b u) */
  f[0] = motion->value[i] + u * rise + u * (1.0 - u) * (a * (1.0 - u) + b * u);
  f[1] = (rise + a * (1.0 - u) * (1.0 - 3.0 * u) + b * u * (2.0 - 3.0 * u)) / h;
  f[2] = (a * (6.0 * u - 4.0) + b * (2.0 - 6.0 * u)) / (h * h);
}

void bramah__motion_at(const bramah__motion *motion, double t, double f[3])
{
  if (motion->type == BRAMAH__MOTION_TABLE) {
    spline_at(motion, t, f);
  } else if (motion->type == BRAMAH__MOTION_HARMONIC) {
    const double angle = motion->omega * t + motion->phase;
    double s, c;
    bramah__sincos_any(angle, &s, &c);
    f[0] = motion->position + motion->amplitude * s;
    f[1] = motion->omega * motion->amplitude * c;
    f[2] = -motion->omega * motion->omega * motion->amplitude * s;
  } else {
    f[0] = motion->position + motion->rate * t;
    f[1] = motion->rate;
    f[2] = 0.0;
  }
}

/* Equal second derivatives on both sides of each inner point: s_(i-1)/h_(i-1) + 2 (1/h_(i-1) + 1/h_i) s_i +
 * s_(i+1)/h_i = 3 (d_(i-1)/h_(i-1) + d_i/h_i), d the slope of the chord: tridiagonal and diagonally dominant,
 * so elimination needs no pivoting. */
void bramah__spline_slopes(size_t n, const double *time, const double *value, double *slope, double *work)
{
  slope[0] = slope[n - 1] = work[0] = 0.0;
  for (size_t i = 1; i + 1 < n; i++) {
    const double before = 1.0 / (time[i] - time[i - 1]), behind = 1.0 / (time[i + 1] - time[i]);
    const double right =
        3.0 * ((value[i] - value[i - 1]) * before * before + (value[i + 1] - value[i]) * behind * behind);
    const double pivot = 2.0 * (before + behind) - before * work[i - 1];
    work[i] = behind / pivot;
    slope[i] = (right - before * slope[i - 1]) / pivot;
  }
  for (size_t i = n - 1; i-- > 1;) slope[i] -= work[i] * slope[i + 1];
}

void bramah__motion_residual(size_t n_motions, const bramah__motion *motion, double t, const double *z,
                             double *Phi)
{
  double f[3];
  for (size_t i = 0; i < n_motions; i++) {
    bramah__motion_at(&motion[i], t, f);
    Phi[motion[i].row] = z[motion[i].joint] - f[0];
  }
}

void bramah__motion_jacobian(size_t n, size_t n_motions, const bramah__motion *motion, double *Phi_z)
{
  for (size_t i = 0; i < n_motions; i++) {
    double *row = Phi_z + motion[i].row * n;
    memset(row, 0, n * sizeof *row);
    row[motion[i].joint] = 1.0;
  }
}

void bramah__motion_add_rate(size_t n_motions, const bramah__motion *motion, double t, double *rate)
{
  double f[3];
  for (size_t i = 0; i < n_motions; i++) {
    bramah__motion_at(&motion[i], t, f);
    rate[motion[i].row] -= f[1];
  }
}

void bramah__motion_bias(size_t n_motions, const bramah__motion *motion, double t, double *gamma)
{
  double f[3];
  for (size_t i = 0; i < n_motions; i++) {
    bramah__motion_at(&motion[i], t, f);
    gamma[motion[i].row] = -f[2];
  }
}
