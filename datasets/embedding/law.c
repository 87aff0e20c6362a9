/* SPDX-License-Identifier: MIT */
#include "law.h"

#include <math.h>
#include <string.h>

static const double step = 1e-3;

void law_reference(double t, double start, double *angle, double *rate)
{
  const double amplitude = 0.14 /* rad */, frequency = 0.6 /* rad/s */, since = fmax(t - 1.0, 0.0);
  *angle = start - amplitude * (1.0 - cos(frequency * since));
  *rate = -amplitude * frequency * sin(frequency * since);
}

/* Pressures are fed back without their slow part, which the load makes: it is no error. */
static double deviation(law *l, size_t i, double x, double angle, double rate, double forward)
{
  const double share = step / 0.3; /* s */
  if (i == 0) return x - angle;
  if (i == 1) return x - rate;
  if (strstr(l->gains->state[i], ".spool")) return x - forward;
  if (!strstr(l->gains->state[i], ".pressure")) return 0.0;
  if (!l->started) l->level[i] = x;
  l->level[i] += share * (x - l->level[i]);
  return x - l->level[i];
}

double law_command(law *l, double t, double start, const double *x)
{
  const gains *g = l->gains;
  double K[MAX_STATES + 1], gain, drop, angle, rate;
  law_reference(t, start, &angle, &rate);
  gains_at(g, angle, K, &gain, &drop);
  const double forward = rate / gain;
  double volts = forward - K[g->n] * l->integral;
  for (size_t i = 0; i < g->n; i++) volts -= K[i] * deviation(l, i, x[i], angle, rate, forward);
  l->started = 1;
  /* A valve passes C u sqrt(drop) from the pump to a, or from a to the tank. The feedback counts in volts at
   * the drop it was designed at; at another drop as many more volts make the same flow. */
  const double actual = fmax(volts > 0.0 ? l->pump - x[l->a_side] : x[l->a_side] - l->tank, 1e5);
  const double u = volts * sqrt(drop / actual);
  if (fabs(u) < l->limit)
    l->integral += step * (x[0] - angle); /* the integral rests while the valve is wide open */
  return fmin(fmax(u, -l->limit), l->limit);
}
