/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { CONDUCTANCE };

static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  (void)transition_pressure;
  return e_mul(e_of(of, CONDUCTANCE), seen[BRAMAH__DP]);
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_leakage, from),
    BRAMAH__NODE_KEY("to", bramah_leakage, to),
    BRAMAH__NAME_KEY("cylinder", BRAMAH_KEY_CYLINDER, bramah_leakage, cylinder, 0),
    BRAMAH__QUANTITY_KEY("conductance", bramah_leakage, conductance, .required = 1, .unit = "m^3/s/Pa",
                         .what = "the conductance", .range = BRAMAH_KEY_POSITIVE,
                         .parameter = BRAMAH_KEY_NOT_NEGATIVE),
    {0}};

const bramah__element_kind bramah__leakage_kind = {
    BRAMAH__DESCRIPTION("leakages", "leakage", bramah_leakage, leakages, .keys = keys), .flow = flow,
    .levels = 1};
