/* SPDX-License-Identifier: MIT */
/* Check valve that a pilot pressure opens against its flow. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { COEFFICIENT, CRACKING, PILOT_RATIO, OVERRIDE };

static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  const bramah__expr zero = e_number(0.0), excess = e_sub(seen[BRAMAH__DP], e_of(of, CRACKING));
  const bramah__expr opens = e_add(excess, e_mul(e_of(of, PILOT_RATIO), seen[BRAMAH__PILOT]));
  const bramah__expr open = e_min(e_max(e_div(opens, e_of(of, OVERRIDE)), zero), e_number(1.0));
  const bramah__expr back = e_max(e_neg(seen[BRAMAH__DP]), zero);
  const bramah__expr roots = e_sub(bramah__root_flow(e_max(excess, zero), transition_pressure),
                                   e_mul(open, bramah__root_flow(back, transition_pressure)));
  return e_mul(e_of(of, COEFFICIENT), roots);
}

/* As a check valve; what the pilot opens depends on more than one difference, and is not counted. */
static bramah__kink opens(bramah__quantities of, double transition_pressure)
{
  return (bramah__kink){e_of(of, CRACKING), e_scale(1.0 / sqrt(transition_pressure), e_of(of, COEFFICIENT))};
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_pilot_check_valve, from),
    BRAMAH__NODE_KEY("to", bramah_pilot_check_valve, to),
    BRAMAH__NODE_KEY("pilot", bramah_pilot_check_valve, pilot),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_pilot_check_valve, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("cracking_pressure", bramah_pilot_check_valve, cracking_pressure, .unit = "Pa",
                         .what = "the cracking pressure", .range = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__QUANTITY_KEY("pilot_ratio", bramah_pilot_check_valve, pilot_ratio, .required = 1, .unit = "1",
                         .what = "the pilot ratio", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("override", bramah_pilot_check_valve, override, .unit = "Pa", .what = "the override",
                         .range = BRAMAH_KEY_POSITIVE, .otherwise = 5e5),
    {0}};

const bramah__element_kind bramah__pilot_check_valve_kind = {
    BRAMAH__DESCRIPTION("pilot_check_valves", "pilot-operated check valve", bramah_pilot_check_valve,
                        pilot_check_valves, .keys = keys),
    .flow = flow, .opens = opens, .sees = 1U << BRAMAH__PILOT};
