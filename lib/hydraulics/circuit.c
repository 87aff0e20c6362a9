/* SPDX-License-Identifier: MIT */
/* Pressure rates pd = flow/C + recovery, C the compliance of a volume, and their derivatives
 *   d pd = (d flow - (flow/C) dC) / C + d recovery
 * C depends on the volume's own pressure (air, gas) and on the strokes of its cylinders. One pass over
 * the circuit sums values and, where they are wanted, derivatives. What elements, oil, chambers and openings do, and its
 * slopes, comes from their equations; this chain rule is written out, as it costs a fifth of a pass, where a pass
 * by each pressure, stroke and velocity would make a step half as long again. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/metering.h"

#include <string.h>

/* Where the sums go: first those of flows and compliances, which finish() makes those of the rates. */
typedef struct sums {
  const bramah__circuit *circuit;
  const double *p;
  double *flow, *compliance;                     /* [np] */
  double *compliance_by_p, *air, *air_by_p;      /* [np] NULL: values only, and so all that follow */
  double *by_p, *by_s, *by_v, *by_U, *by_supply; /* the last two may be NULL alone */
} sums;

static void clear(double *x, size_t n)
{
  if (x) memset(x, 0, n * sizeof *x);
}

static inline void begin(const sums *d)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes;
  clear(d->by_p, np * np);
  clear(d->by_s, np * circuit->n_cylinders);
  clear(d->by_v, np * circuit->n_cylinders);
  clear(d->by_U, np * bramah__n_spools(circuit));
  clear(d->by_supply, np * circuit->n_supplies);
  for (size_t i = 0; i < bramah__n_filled(circuit); i++) {
    const bramah__volume *volume = &circuit->volume[i];
    const bramah__expr air = bramah__air_compliance(&circuit->air, e_variable(d->p[i]));
    d->flow[i] = 0.0;
    d->compliance[i] = volume->hose_volume / circuit->oil_bulk_modulus + volume->hose_compliance +
                       volume->hose_volume * air.value;
    if (!d->by_p) continue;
    d->air[i] = air.value;
    d->air_by_p[i] = air.slope;
    d->compliance_by_p[i] = volume->hose_volume * air.slope;
  }
}

/* Derivative of the flow into a volume by the pressure of a node. */
static void add(const sums *d, size_t volume, size_t node, double slope)
{
  const size_t np = d->circuit->n_volumes;
  if (node < np)
    d->by_p[volume * np + node] += slope;
  else if (d->by_supply)
    d->by_supply[volume * d->circuit->n_supplies + node - np] += slope;
}

/* Flow from one node to another with its slope by p_from - p_to. */
static inline void book(const sums *d, size_t from, size_t to, bramah__expr Q)
{
  const size_t np = d->circuit->n_volumes;
  if (from < np) {
    d->flow[from] -= Q.value;
    if (d->by_p) add(d, from, from, -Q.slope), add(d, from, to, Q.slope);
  }
  if (to < np) {
    d->flow[to] += Q.value;
    if (d->by_p) add(d, to, from, Q.slope), add(d, to, to, -Q.slope);
  }
}

static double difference(const bramah__circuit *circuit, const double *p, size_t from, size_t to)
{
  return bramah__node_pressure(circuit, p, from) - bramah__node_pressure(circuit, p, to);
}

static bramah__expr flow_through(const bramah__circuit *circuit, const bramah__element *e, const double *p)
{
  const bramah__expr dp = e_variable(difference(circuit, p, e->node[0], e->node[1]));
  return bramah__element_kinds[e->kind]->flow((bramah__quantities){.number = e->value}, dp,
                                              circuit->transition_pressure);
}

/* From port 0 or 1 of an element to its drain; nothing where there is none. */
static bramah__expr drained(const bramah__circuit *circuit, const bramah__element *e, int port,
                            const double *p)
{
  const bramah__element_kind *kind = bramah__element_kinds[e->kind];
  if (!kind->drain || e->node[2] == BRAMAH__NO_NODE) return e_number(0.0);
  return kind->drain((bramah__quantities){.number = e->value},
                     e_variable(difference(circuit, p, e->node[port], e->node[2])));
}

/* A flow path that is shut passes nothing, but may be about to open. */
static inline void add_valve(const sums *d, size_t i, double U)
{
  const bramah__circuit *circuit = d->circuit;
  const bramah__valve *valve = &circuit->valve[i];
  const size_t np = circuit->n_volumes, nv = bramah__n_spools(circuit);
  bramah__expr e[BRAMAH__N_PATHS];
  size_t ends[BRAMAH__N_PATHS][2];
  bramah__valve_ends(valve, ends);
  bramah__openings(&valve->opening, e_variable(U), e);
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    const size_t from = ends[w][0], to = ends[w][1];
    if (!(e[w].value > 0.0) && (!d->by_U || e[w].slope == 0.0)) continue;
    const bramah__expr q =
        bramah__root_flow(e_variable(difference(circuit, d->p, from, to)), circuit->transition_pressure);
    const double C = valve->coefficient * e[w].value, by_U = valve->coefficient * e[w].slope * q.value;
    if (e[w].value > 0.0) book(d, from, to, e_scale(C, q));
    if (d->by_U && from < np) d->by_U[from * nv + i] -= by_U;
    if (d->by_U && to < np) d->by_U[to * nv + i] += by_U;
  }
}

/* The chamber of cylinder c on its piston side (0), which grows with the stroke, or on its rod side (1). */
static inline void add_chamber(const sums *d, size_t c, int side, double s, double v)
{
  const bramah__cylinder *cylinder = &d->circuit->cylinder[c];
  const size_t volume = side ? cylinder->rod : cylinder->piston;
  const double area = side ? cylinder->rod_area : cylinder->piston_area, sign = side ? -1.0 : 1.0;
  const size_t at = volume * d->circuit->n_cylinders + c;
  d->flow[volume] -= sign * area * v;
  if (d->by_p) d->by_v[at] -= sign * area;
  if (cylinder->endless) return;
  const double air =
      d->by_p ? d->air[volume] : bramah__air_compliance(&d->circuit->air, e_number(d->p[volume])).value;
  const double per_volume = 1.0 / d->circuit->oil_bulk_modulus + 1.0 / cylinder->bulk_modulus;
  const bramah__expr filled = bramah__filled(cylinder, bramah__chamber(cylinder, side, e_variable(s)));
  const double oil = area * filled.value, by_volume = per_volume + air;
  d->compliance[volume] += oil * by_volume;
  if (!d->by_p) return;
  d->compliance_by_p[volume] += oil * d->air_by_p[volume];
  d->by_s[at] += area * filled.slope * by_volume;
}

static void scale(double *x, size_t row, size_t n, double factor)
{
  for (size_t k = 0; x && k < n; k++) x[row * n + k] *= factor;
}

/* From the sums of volume i to its rate and the derivatives of that. */
static inline double finish(const sums *d, size_t i)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes, nc = circuit->n_cylinders;
  const double pd = d->flow[i] / d->compliance[i];
  const bramah__expr recovery = bramah__cavity_recovery(&circuit->air, e_variable(d->p[i]));
  if (d->by_p) {
    const double per_compliance = 1.0 / d->compliance[i];
    d->by_p[i * np + i] -= pd * d->compliance_by_p[i];
    scale(d->by_p, i, np, per_compliance);
    scale(d->by_s, i, nc, -pd * per_compliance);
    scale(d->by_v, i, nc, per_compliance);
    scale(d->by_U, i, bramah__n_spools(circuit), per_compliance);
    scale(d->by_supply, i, circuit->n_supplies, per_compliance);
    d->by_p[i * np + i] += recovery.slope;
  }
  return circuit->air.vapour_pressure > 0.0 ? pd + recovery.value : pd;
}

/* Flows of lines leave and enter the volumes at their ends. */
static inline void add_lines(const sums *d)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes;
  for (size_t i = 0, state = bramah__n_filled(circuit); i < circuit->n_lines; i++, state++) {
    const size_t *node = circuit->element[circuit->n_elements - circuit->n_lines + i].node;
    for (int end = 0; end < 2; end++) {
      const double sign = end ? 1.0 : -1.0;
      if (node[end] >= np) continue;
      d->flow[node[end]] += sign * d->p[state];
      if (d->by_p) d->by_p[node[end] * np + state] += sign;
    }
  }
}

/* How their flows change. */
static inline void rate_lines(const sums *d, double *pd)
{
  const bramah__circuit *circuit = d->circuit;
  const size_t np = circuit->n_volumes;
  for (size_t i = 0, state = bramah__n_filled(circuit); i < circuit->n_lines; i++, state++) {
    const bramah__element *e = &circuit->element[circuit->n_elements - circuit->n_lines + i];
    const double dp = difference(circuit, d->p, e->node[0], e->node[1]);
    const bramah__element_kind *kind = bramah__element_kinds[e->kind];
    const bramah__expr by_dp =
        kind->rate((bramah__quantities){.number = e->value}, e_variable(dp), e_number(d->p[state]));
    d->flow[state] = 0.0;
    pd[state] = by_dp.value;
    if (!d->by_p) continue;
    d->compliance[state] = 0.0;
    add(d, state, e->node[0], by_dp.slope);
    add(d, state, e->node[1], -by_dp.slope);
    d->by_p[state * np + state] +=
        kind->rate((bramah__quantities){.number = e->value}, e_number(dp), e_variable(d->p[state])).slope;
  }
}

static inline void sum(const sums *d, const double *s, const double *v, const double *U, double *pd)
{
  const bramah__circuit *circuit = d->circuit;
  begin(d);
  for (size_t i = 0; i < circuit->n_passing; i++) {
    const bramah__element *e = &circuit->element[i];
    book(d, e->node[0], e->node[1], flow_through(circuit, e, d->p));
    if (!bramah__element_kinds[e->kind]->drain || e->node[2] == BRAMAH__NO_NODE) continue;
    for (int port = 0; port < 2; port++) book(d, e->node[port], e->node[2], drained(circuit, e, port, d->p));
  }
  for (size_t i = 0; i < circuit->n_valves; i++) add_valve(d, i, U[i]);
  for (size_t c = 0; c < circuit->n_cylinders; c++) {
    if (circuit->cylinder[c].metered) continue;
    add_chamber(d, c, 0, s[c], v[c]);
    add_chamber(d, c, 1, s[c], v[c]);
  }
  for (size_t i = circuit->n_passing; i < circuit->n_elements - circuit->n_lines; i++) {
    const bramah__element *e = &circuit->element[i];
    const bramah__expr compliance = bramah__element_kinds[e->kind]->compliance(
        (bramah__quantities){.number = e->value}, e_variable(d->p[e->node[0]]));
    d->compliance[e->node[0]] += compliance.value;
    if (d->by_p) d->compliance_by_p[e->node[0]] += compliance.slope;
  }
  add_lines(d);
  for (size_t i = 0; i < bramah__n_filled(circuit); i++) pd[i] = finish(d, i);
  rate_lines(d, pd);
}

void bramah__fluid_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                         const double *U, double *flow, double *pd)
{
  const sums d = {.circuit = circuit, .p = p, .flow = flow, .compliance = pd};
  sum(&d, s, v, U, pd);
}

void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd)
{
  bramah__fluid_rates(circuit, p, s, v, U, flow, pd);
  if (circuit->n_metered) bramah__metered_rates(circuit, p, v, U, flow, pd);
}

void bramah__fluid_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                               const double *v, const double *U, double *scratch, double *pd, double *by_p,
                               double *by_s, double *by_v, double *by_U, double *by_supply)
{
  const size_t np = circuit->n_volumes;
  const sums d = {.circuit = circuit,
                  .p = p,
                  .flow = scratch,
                  .compliance = scratch + np,
                  .compliance_by_p = scratch + 2 * np,
                  .air = scratch + 3 * np,
                  .air_by_p = scratch + 4 * np,
                  .by_p = by_p,
                  .by_s = by_s,
                  .by_v = by_v,
                  .by_U = by_U,
                  .by_supply = by_supply};
  sum(&d, s, v, U, pd);
}

void bramah__circuit_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                                 const double *v, const double *U, double *scratch, double *pd, double *by_p,
                                 double *by_s, double *by_v, double *by_U, double *by_supply)
{
  bramah__fluid_derivatives(circuit, p, s, v, U, scratch, pd, by_p, by_s, by_v, by_U, by_supply);
  if (circuit->n_metered) bramah__metered_derivatives(circuit, p, v, U, NULL, NULL, pd, by_p, by_v, by_U);
}

/* ---- flows for flow meters ---- */

/* d(p_from - p_to)/dp times slope; supplies have no place in by_p. */
static void add_slopes(const bramah__circuit *circuit, size_t from, size_t to, double slope, double *by_p)
{
  if (from < circuit->n_volumes) by_p[from] += slope;
  if (to < circuit->n_volumes) by_p[to] -= slope;
}

double bramah__element_flow(const bramah__circuit *circuit, size_t i, const double *p, double *by_p)
{
  const bramah__element *e = &circuit->element[i];
  const bramah__expr Q = flow_through(circuit, e, p);
  clear(by_p, circuit->n_volumes);
  if (by_p) add_slopes(circuit, e->node[0], e->node[1], Q.slope, by_p);
  return Q.value;
}

double bramah__motor_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                          const double *v, double *by_p)
{
  const bramah__element *e = &circuit->element[i];
  const size_t cylinder = bramah__motor_cylinder(circuit, i);
  const double sign[3][2] = {{1.0, 0.0}, {0.0, -1.0}, {1.0, 1.0}}; /* of what the ports lose to the drain */
  double flow = 0.0;
  clear(by_p, circuit->n_volumes);
  if (port < 2) {
    const bramah__expr Q = flow_through(circuit, e, p);
    flow = circuit->cylinder[cylinder].piston_area * v[cylinder] + Q.value;
    if (by_p) add_slopes(circuit, e->node[0], e->node[1], Q.slope, by_p);
  }
  for (int side = 0; side < 2; side++) {
    const bramah__expr Q = drained(circuit, e, side, p);
    flow += sign[port][side] * Q.value;
    if (by_p && Q.slope != 0.0)
      add_slopes(circuit, e->node[side], e->node[2], sign[port][side] * Q.slope, by_p);
  }
  return flow;
}

bramah__expr bramah__valve_port_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                                     bramah__expr U, double *by_p)
{
  const bramah__valve *valve = &circuit->valve[i];
  const int paths[2] = {port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A, port ? BRAMAH__B_TANK : BRAMAH__A_TANK};
  bramah__expr e[BRAMAH__N_PATHS], flow = e_number(0.0);
  size_t ends[BRAMAH__N_PATHS][2];
  bramah__openings(&valve->opening, U, e);
  bramah__valve_ends(valve, ends);
  clear(by_p, circuit->n_volumes);
  for (int k = 0; k < 2; k++) {
    const size_t from = ends[paths[k]][0], to = ends[paths[k]][1];
    const bramah__expr C = e_scale(k ? -valve->coefficient : valve->coefficient, e[paths[k]]);
    const bramah__expr q =
        bramah__root_flow(e_variable(difference(circuit, p, from, to)), circuit->transition_pressure);
    flow = e_add(flow, e_mul(C, e_number(q.value)));
    if (by_p) add_slopes(circuit, from, to, C.value * q.slope, by_p);
  }
  return flow;
}
