/* SPDX-License-Identifier: MIT */
/* Line with the inertia of its oil. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { LENGTH, DIAMETER, DENSITY, VISCOSITY, LOSS };

static const double pi = 3.14159265358979323846;

static bramah__expr rate(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  (void)transition_pressure;
  const bramah__expr dp = seen[BRAMAH__DP], Q = seen[BRAMAH__STATE];
  const bramah__expr d = e_of(of, DIAMETER), rho = e_of(of, DENSITY), l = e_of(of, LENGTH), d2 = e_square(d);
  const bramah__expr A = e_scale(pi / 4.0, d2), per_inertia = e_div(A, e_mul(rho, l));
  const bramah__expr laminar = e_div(e_scale(128.0 / pi, e_mul(e_of(of, VISCOSITY), l)), e_square(d2));
  const bramah__expr turbulent = e_div(e_scale(0.5, e_mul(e_of(of, LOSS), rho)), e_square(A));
  const bramah__expr loss = e_mul(Q, e_add(laminar, e_mul(turbulent, e_abs(Q))));
  return e_mul(per_inertia, e_sub(dp, loss));
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_inertial_line, from),
    BRAMAH__NODE_KEY("to", bramah_inertial_line, to),
    BRAMAH__QUANTITY_KEY("length", bramah_inertial_line, length, .required = 1, .unit = "m",
                         .what = "the length", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("diameter", bramah_inertial_line, diameter, .required = 1, .unit = "m",
                         .what = "the diameter", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("density", bramah_inertial_line, density, .required = 1, .unit = "kg/m^3",
                         .what = "the density", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("viscosity", bramah_inertial_line, viscosity, .unit = "Pa*s",
                         .what = "the viscosity", .range = BRAMAH_KEY_NOT_NEGATIVE,
                         .parameter = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__QUANTITY_KEY("loss", bramah_inertial_line, loss, .unit = "1", .what = "the loss coefficient",
                         .range = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__QUANTITY_KEY("initial_flow", bramah_inertial_line, initial_flow, .unit = "m^3/s",
                         .what = "the initial flow", .range = BRAMAH_KEY_ANY),
    {0}};

const bramah__element_kind bramah__line_kind = {
    BRAMAH__DESCRIPTION("lines", "line", bramah_inertial_line, lines, .keys = keys), .rate = rate,
    .sees = 1U << BRAMAH__STATE, .levels = 1};
