/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { COEFFICIENT, SETTING, OVERRIDE };

/* Never negative; shut at the setting, fully open at setting + override. */
static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  const bramah__expr dp = seen[BRAMAH__DP];
  const bramah__expr lift = e_div(e_sub(dp, e_of(of, SETTING)), e_of(of, OVERRIDE));
  const bramah__expr open = e_min(e_max(lift, e_number(0.0)), e_number(1.0));
  return e_mul(e_mul(open, e_of(of, COEFFICIENT)), bramah__root_flow(dp, transition_pressure));
}

static bramah__kink opens(bramah__quantities of, double transition_pressure)
{
  const bramah__expr at = e_of(of, SETTING), per_lift = e_div(e_of(of, COEFFICIENT), e_of(of, OVERRIDE));
  return (bramah__kink){at, e_mul(per_lift, bramah__root_flow(at, transition_pressure))};
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
    .flow = flow, .opens = opens};
