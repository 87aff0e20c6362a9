/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/element.h"

enum { COEFFICIENT, SETTING, OVERRIDE };

/* Never negative; shut at the setting, fully open at setting + override. */
static bramah__tangent flow(const bramah__element *e, double dp, double transition_pressure)
{
  const double lift = (dp - e->value[SETTING]) / e->value[OVERRIDE];
  if (!(lift > 0.0)) return (bramah__tangent){0.0, 0.0};
  const bramah__tangent q = bramah__flow_tangent(dp, transition_pressure);
  const double C = fmin(lift, 1.0) * e->value[COEFFICIENT];
  const double opening = lift < 1.0 ? e->value[COEFFICIENT] / e->value[OVERRIDE] * q.value : 0.0;
  return (bramah__tangent){C * q.value, C * q.slope + opening};
}

static bramah__expr flow_graph(const bramah__expr *value, bramah__expr dp, double transition_pressure)
{
  const bramah__expr lift = e_div(e_sub(dp, value[SETTING]), value[OVERRIDE]);
  const bramah__expr open = e_min(e_max(lift, e_number(0.0)), e_number(1.0));
  return e_mul(e_mul(open, value[COEFFICIENT]), bramah__flow_graph(dp, transition_pressure));
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_relief_valve, from),
    BRAMAH__NODE_KEY("to", bramah_relief_valve, to),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_relief_valve, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("set_pressure", bramah_relief_valve, set_pressure, .required = 1, .unit = "Pa",
                         .what = "the set pressure", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("override", bramah_relief_valve, override, .required = 1, .unit = "Pa",
                         .what = "the override", .range = BRAMAH_KEY_POSITIVE),
    {0}};

const bramah__element_kind bramah__relief_valve_kind = {
    BRAMAH__DESCRIPTION("relief_valves", "relief valve", bramah_relief_valve, relief_valves, .keys = keys),
    .flow = flow, .flow_graph = flow_graph};
