/* SPDX-License-Identifier: MIT */
#include "motor.h"

#include <math.h>

void motor_step(motor *m)
{
  const double inertia = 0.02, weight = 0.8, friction = 0.02;     /* kg m^2, N m, N m s */
  const double resistance = 1.2, inductance = 5e-3, factor = 0.4; /* ohm, H, N m/A or V s */
  const double h = 1e-4;
  for (int k = 0; k < 10; k++) {
    const double *x = m->x, torque = factor * x[2] - weight * sin(x[0]) - friction * x[1];
    const double change[3] = {x[1], torque / inertia,
                              (m->voltage - resistance * x[2] - factor * x[1]) / inductance};
    m->x[0] += h * x[1] + 0.5 * h * h * change[1];
    m->x[1] += h * change[1];
    m->x[2] += h * change[2];
  }
}

double motor_ammeter(const motor *m, unsigned *seed)
{
  double noise = -6.0; /* nearly normal, standard deviation 1 */
  for (int i = 0; i < 12; i++) {
    *seed = *seed * 1664525u + 1013904223u;
    noise += (double)(*seed >> 8) / 16777216.0;
  }
  return m->x[2] + 0.02 * noise;
}
