/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { COEFFICIENT };

static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  return e_mul(e_of(of, COEFFICIENT), bramah__root_flow(seen[BRAMAH__DP], transition_pressure));
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_orifice, from),
    BRAMAH__NODE_KEY("to", bramah_orifice, to),
    BRAMAH__FACTOR_KEY("area", "m^2", "flow_coefficient", .required = 0),
    BRAMAH__FACTOR_KEY("discharge_coefficient", "1", "flow_coefficient", .required = 0),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_orifice, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT, .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE, .parameter = BRAMAH_KEY_POSITIVE),
    {0}};

const bramah__element_kind bramah__orifice_kind = {BRAMAH__DESCRIPTION("orifices", "orifice", bramah_orifice,
                                                                       orifices, .keys = keys,
                                                                       .factors_by_density = 1),
                                                   .flow = flow, .levels = 1};
