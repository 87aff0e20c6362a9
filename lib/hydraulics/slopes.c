/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/slopes.h"
#include "lib/hydraulics/constants.h"

#include <math.h>

bramah__tangent bramah__flow_tangent(double dp, double transition_pressure)
{
  const double magnitude = fabs(dp);
  const int laminar = magnitude < transition_pressure;
  const double root = sqrt(laminar ? transition_pressure : magnitude);
  if (laminar) return (bramah__tangent){dp / root, 1.0 / root};
  return (bramah__tangent){copysign(root, dp), 0.5 / root};
}

bramah__tangent bramah__check_valve_tangent(const bramah__check_valve *valve, double dp,
                                            double transition_pressure)
{
  const double excess = dp - valve->cracking;
  if (!(excess > 0.0)) return (bramah__tangent){0.0, 0.0};
  const bramah__tangent q = bramah__flow_tangent(excess, transition_pressure);
  return (bramah__tangent){valve->coefficient * q.value, valve->coefficient * q.slope};
}

bramah__tangent bramah__relief_valve_tangent(const bramah__relief_valve *valve, double dp,
                                             double transition_pressure)
{
  const double lift = (dp - valve->setting) / valve->override;
  if (!(lift > 0.0)) return (bramah__tangent){0.0, 0.0};
  const bramah__tangent q = bramah__flow_tangent(dp, transition_pressure);
  const double C = fmin(lift, 1.0) * valve->coefficient;
  const double opening = lift < 1.0 ? valve->coefficient / valve->override * q.value : 0.0;
  return (bramah__tangent){C * q.value, C * q.slope + opening};
}

bramah__tangent bramah__pump_tangent(const bramah__pump *pump, double dp)
{
  if (pump->band <= 0.0) return (bramah__tangent){pump->flow, 0.0};
  const double part = (pump->setting - dp) / pump->band;
  return (bramah__tangent){pump->flow * fmin(fmax(part, 0.0), 1.0),
                           part > 0.0 && part < 1.0 ? -pump->flow / pump->band : 0.0};
}

bramah__tangent bramah__accumulator_tangent(const bramah__accumulator *a, double p)
{
  const double value = bramah__accumulator_compliance(a, p);
  if (p >= a->precharge) return (bramah__tangent){value, -(1.0 + 1.0 / a->exponent) * value / p};
  const double x = fmax(1.0 - (1.0 - p / a->precharge) / BRAMAH__EMPTY_BAND, 0.0);
  const double at_precharge = a->gas_volume / (a->exponent * a->precharge);
  return (bramah__tangent){value, 4.0 * at_precharge * x * x * x / (BRAMAH__EMPTY_BAND * a->precharge)};
}

bramah__tangent bramah__air_tangent(const bramah__air *air, double p)
{
  const double value = bramah__air_compressibility(air, p), x = p - air->vapour_pressure;
  if (air->fraction <= 0.0 || !(x > BRAMAH__LEAST_AIR_PRESSURE)) return (bramah__tangent){value, 0.0};
  return (bramah__tangent){value, -(1.0 + 1.0 / air->exponent) * value / x};
}

bramah__tangent bramah__cavity_tangent(const bramah__air *air, double p)
{
  const double value = bramah__cavity_recovery(air, p);
  return (bramah__tangent){value, value > 0.0 ? -1.0 / BRAMAH__RECOVERY_TIME : 0.0};
}

bramah__tangent bramah__curve_tangent(const bramah__curve *curve, double x)
{
  const double *X = curve->x, *Y = curve->y;
  if (!(x > X[0])) return (bramah__tangent){Y[0], 0.0};
  for (size_t i = 1; i < curve->n; i++)
    if (x < X[i]) {
      const double rise = Y[i] - Y[i - 1], run = X[i] - X[i - 1];
      return (bramah__tangent){Y[i - 1] + rise * ((x - X[i - 1]) / run), rise / run};
    }
  return (bramah__tangent){Y[curve->n - 1], 0.0};
}

/* max(sign t, 0), towards greater x. */
static bramah__tangent positive_part(bramah__tangent t, double sign)
{
  const double value = sign * t.value, slope = sign * t.slope;
  if (value > 0.0) return (bramah__tangent){value, slope};
  return (bramah__tangent){0.0, value < 0.0 ? 0.0 : fmax(slope, 0.0)};
}

/* Outside the dead band, and on the edge from which U leaves it upwards, the opening follows the spool. */
static bramah__tangent common_opening(const bramah__opening *opening, double U)
{
  if (opening->common.n) return bramah__curve_tangent(&opening->common, U);
  const double d = opening->dead_band;
  return (bramah__tangent){copysign(fmax(fabs(U) - d, 0.0), U), U >= d || U < -d ? 1.0 : 0.0};
}

void bramah__opening_tangents(const bramah__opening *opening, double U, double *e, double *slope)
{
  const bramah__tangent common = common_opening(opening, U);
  for (int w = 0; w < BRAMAH__N_WAYS; w++) {
    const double sign = w == BRAMAH__PUMP_A || w == BRAMAH__B_TANK ? 1.0 : -1.0;
    const bramah__tangent way = opening->way[w].n
                                    ? positive_part(bramah__curve_tangent(&opening->way[w], U), 1.0)
                                    : positive_part(common, sign);
    e[w] = way.value;
    slope[w] = way.slope;
  }
}

static void contact_slopes(const bramah__end_stop *stop, double l, double w, double *by_l, double *by_w)
{
  const double depth = -l / BRAMAH__CONTACT_DEPTH, in_force = fmin(1.0, depth);
  if (!(-stop->stiffness * l + stop->damping * w * in_force > 0.0)) return;
  *by_l = -stop->stiffness - (depth < 1.0 ? stop->damping * w / BRAMAH__CONTACT_DEPTH : 0.0);
  *by_w = stop->damping * in_force;
}

void bramah__end_stop_slopes(const bramah__end_stop *stop, double l, double w, double *by_l, double *by_w)
{
  const double L = stop->cushion_length;
  *by_l = *by_w = 0.0;
  if (stop->stiffness > 0.0 && l < 0.0) contact_slopes(stop, l, w, by_l, by_w);
  if (!(L > 0.0 && l < L && w > 0.0)) return;
  if (l > 0.0) *by_l -= stop->cushion_damping * w / L;
  *by_w += stop->cushion_damping * fmin(1.0, (L - l) / L);
}

double bramah__chamber_filled_slope(const bramah__cylinder *c, double length)
{
  return c->stop.stiffness > 0.0 && !(length > 0.0) ? 0.0 : 1.0;
}
