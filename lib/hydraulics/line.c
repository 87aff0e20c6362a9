/* SPDX-License-Identifier: MIT */
/* Line with the inertia of its oil. */
#include "lib/hydraulics/element.h"

enum { LENGTH, DIAMETER, DENSITY, VISCOSITY, LOSS };

static const double pi = 3.14159265358979323846;

static bramah__flow_rate rate(const bramah__element *e, double dp, double Q)
{
  const double d = e->value[DIAMETER], A = pi / 4.0 * d * d, rho = e->value[DENSITY], l = e->value[LENGTH];
  const double laminar = 128.0 * e->value[VISCOSITY] * l / (pi * d * d * d * d);
  const double turbulent = e->value[LOSS] * rho / (2.0 * A * A), per_inertia = A / (rho * l);
  return (bramah__flow_rate){per_inertia * (dp - laminar * Q - turbulent * Q * fabs(Q)), per_inertia,
                             -per_inertia * (laminar + 2.0 * turbulent * fabs(Q))};
}

static bramah__expr rate_graph(const bramah__expr *value, bramah__expr dp, bramah__expr Q)
{
  const bramah__expr d = value[DIAMETER], rho = value[DENSITY], l = value[LENGTH], d2 = e_square(d);
  const bramah__expr A = e_scale(pi / 4.0, d2), per_inertia = e_div(A, e_mul(rho, l));
  const bramah__expr laminar = e_div(e_scale(128.0 / pi, e_mul(value[VISCOSITY], l)), e_square(d2));
  const bramah__expr turbulent = e_div(e_scale(0.5, e_mul(value[LOSS], rho)), e_square(A));
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
    .rate_graph = rate_graph, .levels = 1};
