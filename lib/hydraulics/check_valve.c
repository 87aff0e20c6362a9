/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { COEFFICIENT, CRACKING };

/* Never negative; shut at the cracking pressure. */
static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  const bramah__expr excess = e_max(e_sub(seen[BRAMAH__DP], e_of(of, CRACKING)), e_number(0.0));
  return e_mul(e_of(of, COEFFICIENT), bramah__root_flow(excess, transition_pressure));
}

static bramah__kink opens(bramah__quantities of, double transition_pressure)
{
  return (bramah__kink){e_of(of, CRACKING), e_scale(1.0 / sqrt(transition_pressure), e_of(of, COEFFICIENT))};
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_check_valve, from),
    BRAMAH__NODE_KEY("to", bramah_check_valve, to),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_check_valve, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("cracking_pressure", bramah_check_valve, cracking_pressure, .unit = "Pa",
                         .what = "the cracking pressure", .range = BRAMAH_KEY_NOT_NEGATIVE),
    {0}};

const bramah__element_kind bramah__check_valve_kind = {
    BRAMAH__DESCRIPTION("check_valves", "check valve", bramah_check_valve, check_valves, .keys = keys),
    .flow = flow, .opens = opens};
