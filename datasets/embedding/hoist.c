/* SPDX-License-Identifier: MIT */
#include "hoist.h"

#include <math.h>

static void rates(const hoist *h, double force, const double x[4], double xd[4])
{
  const double g = 9.81, s = sin(x[2]), c = cos(x[2]);
  const double pull = force - h->drag * x[1] + h->load * s * (h->rope * x[3] * x[3] + g * c);
  xd[0] = x[1];
  xd[1] = pull / (h->trolley + h->load * s * s);
  xd[2] = x[3];
  xd[3] = -(g * s + xd[1] * c) / h->rope;
}

void hoist_step(hoist *h, double force, double dt)
{
  static const double at[4] = {0.0, 0.5, 0.5, 1.0}, share[4] = {1.0, 2.0, 2.0, 1.0};
  const double start[4] = {h->position, h->speed, h->swing, h->swing_rate};
  double k[4] = {0}, sum[4] = {0};
  for (int stage = 0; stage < 4; stage++) {
    double x[4];
    for (int i = 0; i < 4; i++) x[i] = start[i] + at[stage] * dt * k[i];
    rates(h, force, x, k);
    for (int i = 0; i < 4; i++) sum[i] += share[stage] * k[i];
  }
  h->position += dt / 6.0 * sum[0];
  h->speed += dt / 6.0 * sum[1];
  h->swing += dt / 6.0 * sum[2];
  h->swing_rate += dt / 6.0 * sum[3];
}
