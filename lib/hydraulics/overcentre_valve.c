/* SPDX-License-Identifier: MIT */
/* Overcentre (counterbalance) valve: oil flows to the load through a check valve, and back only as far as the pressures of load
 * and pilot open the way. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { COEFFICIENT, SETTING, OVERRIDE, PILOT_RATIO, CHECK_COEFFICIENT, CRACKING };

static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  const bramah__expr dp = seen[BRAMAH__DP], zero = e_number(0.0), C = e_of(of, COEFFICIENT);
  const bramah__expr check = e_excludes(e_of(of, CHECK_COEFFICIENT)) ? C : e_of(of, CHECK_COEFFICIENT);
  const bramah__expr opens = e_add(dp, e_mul(e_of(of, PILOT_RATIO), seen[BRAMAH__PILOT]));
  const bramah__expr lift = e_div(e_sub(opens, e_of(of, SETTING)), e_of(of, OVERRIDE));
  const bramah__expr open = e_min(e_max(lift, zero), e_number(1.0));
  const bramah__expr lowers = e_mul(open, bramah__root_flow(e_max(dp, zero), transition_pressure));
  const bramah__expr pushes = e_max(e_neg(e_add(dp, e_of(of, CRACKING))), zero);
  return e_sub(e_mul(C, lowers), e_mul(check, bramah__root_flow(pushes, transition_pressure)));
}

/* Its check valve; what load and pilot open depends on more than one difference, and is not counted. */
static bramah__kink opens(bramah__quantities of, double transition_pressure)
{
  const bramah__expr C = e_of(of, COEFFICIENT), own = e_of(of, CHECK_COEFFICIENT);
  return (bramah__kink){e_of(of, CRACKING),
                        e_scale(1.0 / sqrt(transition_pressure), e_excludes(own) ? C : own)};
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("load", bramah_overcentre_valve, load),
    BRAMAH__NODE_KEY("valve", bramah_overcentre_valve, valve),
    BRAMAH__NODE_KEY("pilot", bramah_overcentre_valve, pilot),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_overcentre_valve, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("set_pressure", bramah_overcentre_valve, set_pressure, .required = 1, .unit = "Pa",
                         .what = "the set pressure", .range = BRAMAH_KEY_POSITIVE,
                         .parameter = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("override", bramah_overcentre_valve, override, .required = 1, .unit = "Pa",
                         .what = "the override", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("pilot_ratio", bramah_overcentre_valve, pilot_ratio, .required = 1, .unit = "1",
                         .what = "the pilot ratio", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("check_flow_coefficient", bramah_overcentre_valve, check_flow_coefficient,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient of the check valve",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("cracking_pressure", bramah_overcentre_valve, cracking_pressure, .unit = "Pa",
                         .what = "the cracking pressure", .range = BRAMAH_KEY_NOT_NEGATIVE),
    {0}};

const bramah__element_kind bramah__overcentre_valve_kind = {
    BRAMAH__DESCRIPTION("overcentre_valves", "overcentre valve", bramah_overcentre_valve, overcentre_valves,
                        .keys = keys),
    .flow = flow,
    .opens = opens,
    .opens_back = 1,
    .sees = 1U << BRAMAH__PILOT,
    .pilot_against = 1};
