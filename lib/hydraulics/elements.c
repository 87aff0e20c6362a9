/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/elements.h"

#include <math.h>

double bramah__check_valve_flow(const bramah__check_valve *valve, double dp, double laminar_pressure)
{
  const double excess = dp - valve->cracking;
  return excess > 0.0 ? valve->coefficient * bramah__flow_function(excess, laminar_pressure) : 0.0;
}

double bramah__relief_valve_flow(const bramah__relief_valve *valve, double dp, double laminar_pressure)
{
  const double opening = fmin(fmax((dp - valve->setting) / valve->override, 0.0), 1.0);
  return opening > 0.0 ? opening * valve->coefficient * bramah__flow_function(dp, laminar_pressure) : 0.0;
}

double bramah__pump_flow(const bramah__pump *pump, double dp)
{
  if (pump->band <= 0.0) return pump->flow;
  return pump->flow * fmin(fmax((pump->setting - dp) / pump->band, 0.0), 1.0);
}
