/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/elements.h"
#include "lib/hydraulics/constants.h"

#include <math.h>

double bramah__check_valve_flow(const bramah__check_valve *valve, double dp, double transition_pressure)
{
  const double excess = dp - valve->cracking;
  return excess > 0.0 ? valve->coefficient * bramah__flow_function(excess, transition_pressure) : 0.0;
}

double bramah__relief_valve_flow(const bramah__relief_valve *valve, double dp, double transition_pressure)
{
  const double opening = fmin(fmax((dp - valve->setting) / valve->override, 0.0), 1.0);
  return opening > 0.0 ? opening * valve->coefficient * bramah__flow_function(dp, transition_pressure) : 0.0;
}

double bramah__pump_flow(const bramah__pump *pump, double dp)
{
  if (pump->band <= 0.0) return pump->flow;
  return pump->flow * fmin(fmax((pump->setting - dp) / pump->band, 0.0), 1.0);
}

double bramah__curve_at(const bramah__curve *curve, double x)
{
  const double *X = curve->x, *Y = curve->y;
  if (!(x > X[0])) return Y[0];
  for (size_t i = 1; i < curve->n; i++)
    if (x < X[i]) return Y[i - 1] + (Y[i] - Y[i - 1]) * ((x - X[i - 1]) / (X[i] - X[i - 1]));
  return Y[curve->n - 1];
}

void bramah__openings(const bramah__opening *opening, double U, double *e)
{
  const double common = opening->common.n ? bramah__curve_at(&opening->common, U)
                                          : copysign(fmax(fabs(U) - opening->dead_band, 0.0), U);
  e[BRAMAH__PUMP_A] = e[BRAMAH__B_TANK] = fmax(common, 0.0);
  e[BRAMAH__A_TANK] = e[BRAMAH__PUMP_B] = fmax(-common, 0.0);
  for (int w = 0; w < BRAMAH__N_WAYS; w++)
    if (opening->way[w].n) e[w] = fmax(bramah__curve_at(&opening->way[w], U), 0.0);
}

double bramah__accumulator_compliance(const bramah__accumulator *a, double p)
{
  const double at_precharge = a->gas_volume / (a->exponent * a->precharge);
  if (p >= a->precharge) {
    const double ratio = a->precharge / p;
    return at_precharge * ratio * pow(ratio, 1.0 / a->exponent);
  }
  const double x = fmax(1.0 - (1.0 - p / a->precharge) / BRAMAH__EMPTY_BAND, 0.0);
  return at_precharge * (x * x) * (x * x);
}

double bramah__air_compressibility(const bramah__air *air, double p)
{
  if (air->fraction <= 0.0) return 0.0;
  const double x = fmax(p - air->vapour_pressure, BRAMAH__LEAST_AIR_PRESSURE);
  return air->fraction / (air->exponent * x) * pow(BRAMAH__ATMOSPHERE / x, 1.0 / air->exponent);
}

double bramah__cavity_recovery(const bramah__air *air, double p)
{
  return air->vapour_pressure > 0.0 ? fmax(air->vapour_pressure - p, 0.0) / BRAMAH__RECOVERY_TIME : 0.0;
}

double bramah__end_stop_force(const bramah__end_stop *stop, double l, double w)
{
  double force = 0.0;
  if (stop->stiffness > 0.0 && l < 0.0)
    force = fmax(0.0, -stop->stiffness * l + stop->damping * w * fmin(1.0, -l / BRAMAH__CONTACT_DEPTH));
  if (stop->cushion_length > 0.0 && l < stop->cushion_length)
    force +=
        stop->cushion_damping * fmax(w, 0.0) * fmin(1.0, (stop->cushion_length - l) / stop->cushion_length);
  return force;
}
