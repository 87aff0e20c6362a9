/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/directional_valve.h"

/* max(x, 0), at 0 with the slope of what is above. */
BRAMAH__EQUATION bramah__expr ramp(bramah__expr x) { return e_select(e_neg(x), e_number(0.0), x); }

BRAMAH__EQUATION bramah__expr curve_at(const bramah__curve *curve, bramah__expr x)
{
  const double *X = curve->x, *Y = curve->y;
  bramah__expr y = e_number(Y[0]), ahead = e_sub(e_number(X[0]), x);
  for (size_t i = 1; i < curve->n && (!e_is_number(ahead) || e_excludes(ahead)); i++) {
    const bramah__expr begins = ahead;
    ahead = e_sub(e_number(X[i]), x);
    if (e_excludes(ahead)) continue;
    const bramah__expr part = e_scale(-1.0 / (X[i] - X[i - 1]), begins);
    y = e_select(begins, y, e_add(e_number(Y[i - 1]), e_scale(Y[i] - Y[i - 1], part)));
  }
  return e_select(ahead, y, e_number(Y[curve->n - 1]));
}

bramah__expr bramah__curve_at(const bramah__curve *curve, bramah__expr x) { return curve_at(curve, x); }

BRAMAH__EQUATION void openings(const bramah__opening *opening, bramah__expr U, bramah__expr *e)
{
  const bramah__expr zero = {0}, d = e_number(opening->dead_band);
  const bramah__expr band = e_sub(ramp(e_sub(U, d)), e_max(e_neg(e_add(U, d)), zero));
  const bramah__expr common = opening->common.n ? curve_at(&opening->common, U) : band;
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    const int positive = w == BRAMAH__PUMP_A || w == BRAMAH__B_TANK;
    if (opening->path[w].n)
      e[w] = ramp(curve_at(&opening->path[w], U));
    else
      e[w] = positive ? ramp(common) : e_max(e_neg(common), zero);
  }
}

void bramah__openings(const bramah__opening *opening, bramah__expr U, bramah__expr *e)
{
  BRAMAH__EITHER(U.graph, openings(opening, U, e));
}

/* Does the spool move no opening at U? */
static int is_flat(const bramah__opening *opening, double U)
{
  bramah__expr e[BRAMAH__N_PATHS];
  bramah__openings(opening, e_variable(U), e);
  for (int w = 0; w < BRAMAH__N_PATHS; w++)
    if (e[w].slope != 0.0) return 0;
  return 1;
}

static void narrow(const bramah__opening *opening, double edge, double U, double *below, double *above)
{
  const double near = 1e-9 * (1.0 + fabs(edge));
  if (is_flat(opening, edge - near) == is_flat(opening, edge + near)) return;
  if (edge <= U) *below = fmax(*below, edge);
  if (edge >= U) *above = fmin(*above, edge);
}

void bramah__opening_edges(const bramah__opening *opening, double U, double *below, double *above)
{
  *below = -INFINITY;
  *above = INFINITY;
  narrow(opening, opening->dead_band, U, below, above);
  narrow(opening, -opening->dead_band, U, below, above);
  for (int w = -1; w < BRAMAH__N_PATHS; w++) {
    const bramah__curve *curve = w < 0 ? &opening->common : &opening->path[w];
    const double *X = curve->x, *Y = curve->y;
    for (size_t i = 0; i < curve->n; i++) {
      narrow(opening, X[i], U, below, above);
      if (i + 1 < curve->n && Y[i] * Y[i + 1] < 0.0) /* through zero: an opening ends there */
        narrow(opening, X[i] + (X[i + 1] - X[i]) * (Y[i] / (Y[i] - Y[i + 1])), U, below, above);
    }
  }
}

double bramah__spool_step(const bramah__valve *valve, double U, double command, double h)
{
  /* [V] A spool that goes to zero would otherwise end among the subnormal numbers, on which processors are
   * slow. */
  static const double arrived = 1e-250;
  const double reference = bramah__spool_reference(valve, command);
  if (bramah__is_direct(valve)) return reference;
  const double ratio = h / valve->time_constant;
  const double next = U + ratio * (reference - U) / (1.0 + 0.5 * ratio);
  return fabs(next - reference) < arrived ? reference : next;
}

/* ---- keys ---- */

#define PORT(key, port)                                                                                      \
  {                                                                                                          \
    .name = (key), .type = BRAMAH_KEY_CHARACTERISTIC, .offset = (port) * sizeof(bramah_characteristic),      \
    .range = BRAMAH_KEY_NOT_NEGATIVE                                                                         \
  }

static const bramah_element_key ports[] = {PORT("pump_a", BRAMAH_PORT_PUMP_A),
                                           PORT("b_tank", BRAMAH_PORT_B_TANK),
                                           PORT("a_tank", BRAMAH_PORT_A_TANK),
                                           PORT("pump_b", BRAMAH_PORT_PUMP_B),
                                           {0}};

const bramah_element_kind bramah__ports_part = {.keys = ports};

const char *bramah__check_spool(const bramah_valve *valve, const char **key)
{
  *key = "dead_band";
  if (valve->dead_band > 0.0 && !(valve->dead_band < valve->limit))
    return "the dead band must lie between 0 and the limit";
  if (valve->dead_band > 0.0 && valve->characteristic.n_points)
    return "a valve has either a dead band or a characteristic";
  *key = "spool";
  return fabs(valve->initial_spool) <= valve->limit ? NULL
                                                    : "the spool must lie within the limit of the valve";
}

static const char *check(const void *element, const char **key)
{
  const bramah_valve *valve = element;
  const int before = valve->compensator == BRAMAH_COMPENSATOR_BEFORE;
  *key = "compensator_pressure";
  if (before != (valve->compensator_pressure > 0.0))
    return before ? "a compensator before the spool needs the pressure difference that it holds"
                  : "only a compensator before the spool holds a pressure difference of its own";
  *key = "compensator";
  if ((int)valve->compensator < 0 || valve->compensator > BRAMAH_COMPENSATOR_AFTER)
    return "the compensator is unknown";
  return bramah__check_spool(element, key);
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("pump", bramah_valve, pump),
    BRAMAH__NODE_KEY("tank", bramah_valve, tank),
    BRAMAH__NODE_KEY("a", bramah_valve, a),
    BRAMAH__NODE_KEY("b", bramah_valve, b),
    BRAMAH__QUANTITY_KEY("flow_coefficient", bramah_valve, flow_coefficient, .required = 1,
                         .unit = BRAMAH__FLOW_UNIT "/V", .what = "the flow coefficient",
                         .range = BRAMAH_KEY_POSITIVE, .parameter = BRAMAH_KEY_POSITIVE),
    BRAMAH__SPOOL_KEYS(bramah_valve, , 1),
    BRAMAH__NAME_KEY("compensator", BRAMAH_KEY_COMPENSATOR, bramah_valve, compensator, 0),
    BRAMAH__QUANTITY_KEY("compensator_pressure", bramah_valve, compensator_pressure, .unit = "Pa",
                         .what = "the pressure difference of the compensator", .range = BRAMAH_KEY_POSITIVE),
    {0}};

const bramah_element_kind bramah__valve_kind =
    BRAMAH__DESCRIPTION("valves", "valve", bramah_valve, valves, .keys = keys, .check = check, .device = 1);
