/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/metering.h"

#include <math.h>

double bramah__flow_function(double dp, double transition_pressure)
{
  const double magnitude = fabs(dp);
  if (magnitude < transition_pressure) return dp / sqrt(transition_pressure);
  return copysign(sqrt(magnitude), dp);
}

double bramah__node_pressure(const bramah__circuit *circuit, const double *p, size_t node)
{
  return node < circuit->n_volumes ? p[node] : circuit->supply[node - circuit->n_volumes];
}

/* Flow Q from one node to another, booked on the volumes among them. */
static void book(const bramah__circuit *circuit, double *flow, size_t from, size_t to, double Q)
{
  if (from < circuit->n_volumes) flow[from] -= Q;
  if (to < circuit->n_volumes) flow[to] += Q;
}

static void pass(const bramah__circuit *circuit, const double *p, double *flow, size_t from, size_t to,
                 double coefficient)
{
  const double dp = bramah__node_pressure(circuit, p, from) - bramah__node_pressure(circuit, p, to);
  book(circuit, flow, from, to, coefficient * bramah__flow_function(dp, circuit->transition_pressure));
}

static double difference(const bramah__circuit *circuit, const double *p, size_t from, size_t to)
{
  return bramah__node_pressure(circuit, p, from) - bramah__node_pressure(circuit, p, to);
}

/* Leakages, check valves, relief valves, pumps. */
static void element_flows(const bramah__circuit *circuit, const double *p, double *flow)
{
  const double laminar = circuit->transition_pressure;
  for (size_t i = 0; i < circuit->n_leakages; i++) {
    const bramah__leakage *l = &circuit->leakage[i];
    book(circuit, flow, l->from, l->to, l->conductance * difference(circuit, p, l->from, l->to));
  }
  for (size_t i = 0; i < circuit->n_check_valves; i++) {
    const bramah__check_valve *v = &circuit->check_valve[i];
    const double dp = difference(circuit, p, v->from, v->to);
    book(circuit, flow, v->from, v->to, bramah__check_valve_flow(v, dp, laminar));
  }
  for (size_t i = 0; i < circuit->n_relief_valves; i++) {
    const bramah__relief_valve *v = &circuit->relief_valve[i];
    const double dp = difference(circuit, p, v->from, v->to);
    book(circuit, flow, v->from, v->to, bramah__relief_valve_flow(v, dp, laminar));
  }
  for (size_t i = 0; i < circuit->n_pumps; i++) {
    const bramah__pump *pump = &circuit->pump[i];
    const double dp = difference(circuit, p, pump->into, pump->from);
    book(circuit, flow, pump->from, pump->into, bramah__pump_flow(pump, dp));
  }
}

void bramah__valve_ends(const bramah__valve *valve, size_t ends[BRAMAH__N_WAYS][2])
{
  ends[BRAMAH__PUMP_A][0] = ends[BRAMAH__PUMP_B][0] = valve->pump;
  ends[BRAMAH__B_TANK][1] = ends[BRAMAH__A_TANK][1] = valve->tank;
  ends[BRAMAH__PUMP_A][1] = ends[BRAMAH__A_TANK][0] = valve->a;
  ends[BRAMAH__PUMP_B][1] = ends[BRAMAH__B_TANK][0] = valve->b;
}

static void valve_flows(const bramah__circuit *circuit, const bramah__valve *valve, const double *p, double U,
                        double *flow)
{
  size_t ends[BRAMAH__N_WAYS][2];
  double e[BRAMAH__N_WAYS];
  bramah__valve_ends(valve, ends);
  bramah__openings(&valve->opening, U, e);
  for (int w = 0; w < BRAMAH__N_WAYS; w++)
    if (e[w] > 0.0) pass(circuit, p, flow, ends[w][0], ends[w][1], valve->coefficient * e[w]);
}

double bramah__piston_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->piston_length + (s - cylinder->reference);
}

double bramah__rod_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->rod_length - (s - cylinder->reference);
}

double bramah__chamber_filled(const bramah__cylinder *c, double length)
{
  return c->stop.stiffness > 0.0 ? fmax(length, 0.0) : length;
}

/* The compliance V/B_e of each volume goes to `pd` first, the flow minus dV/dt to `flow`. */
static void cylinder_volumes(const bramah__circuit *circuit, const bramah__cylinder *c, const double *p,
                             double s, double v, double *flow, double *compliance)
{
  const double per_volume = 1.0 / circuit->oil_bulk_modulus + 1.0 / c->bulk_modulus;
  const double air[2] = {bramah__air_compressibility(&circuit->air, p[c->piston]),
                         bramah__air_compressibility(&circuit->air, p[c->rod])};
  compliance[c->piston] +=
      c->piston_area * bramah__chamber_filled(c, bramah__piston_chamber(c, s)) * (per_volume + air[0]);
  compliance[c->rod] +=
      c->rod_area * bramah__chamber_filled(c, bramah__rod_chamber(c, s)) * (per_volume + air[1]);
  flow[c->piston] -= c->piston_area * v;
  flow[c->rod] += c->rod_area * v;
}

void bramah__fluid_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                         const double *U, double *flow, double *pd)
{
  const size_t filled = circuit->n_volumes - circuit->n_metered;
  for (size_t i = 0; i < filled; i++) {
    const bramah__volume *volume = &circuit->volume[i];
    flow[i] = 0.0;
    pd[i] = volume->hose_volume / circuit->oil_bulk_modulus + volume->hose_compliance +
            volume->hose_volume * bramah__air_compressibility(&circuit->air, p[i]);
  }
  for (size_t i = 0; i < circuit->n_orifices; i++) {
    const bramah__orifice *t = &circuit->orifice[i];
    pass(circuit, p, flow, t->from, t->to, t->coefficient);
  }
  element_flows(circuit, p, flow);
  for (size_t i = 0; i < circuit->n_valves; i++) valve_flows(circuit, &circuit->valve[i], p, U[i], flow);
  for (size_t i = 0; i < circuit->n_cylinders; i++)
    if (!circuit->cylinder[i].metered)
      cylinder_volumes(circuit, &circuit->cylinder[i], p, s[i], v[i], flow, pd);
  for (size_t i = 0; i < circuit->n_accumulators; i++) {
    const bramah__accumulator *a = &circuit->accumulator[i];
    pd[a->volume] += bramah__accumulator_compliance(a, p[a->volume]);
  }
  for (size_t i = 0; i < filled; i++) pd[i] = flow[i] / pd[i];
  if (circuit->air.vapour_pressure > 0.0)
    for (size_t i = 0; i < filled; i++) pd[i] += bramah__cavity_recovery(&circuit->air, p[i]);
}

void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd)
{
  bramah__fluid_rates(circuit, p, s, v, U, flow, pd);
  if (circuit->n_metered) bramah__metered_rates(circuit, p, v, U, flow, pd);
}

double bramah__pressure_force(const bramah__circuit *circuit, size_t c, const double *p)
{
  const bramah__cylinder *cylinder = &circuit->cylinder[c];
  return p[cylinder->piston] * cylinder->piston_area - p[cylinder->rod] * cylinder->rod_area;
}

double bramah__stop_force(const bramah__circuit *circuit, size_t c, double s, double v)
{
  const bramah__cylinder *cylinder = &circuit->cylinder[c];
  return bramah__end_stop_force(&cylinder->stop, bramah__piston_chamber(cylinder, s), -v) -
         bramah__end_stop_force(&cylinder->stop, bramah__rod_chamber(cylinder, s), v);
}

double bramah__spool_reference(const bramah__valve *valve, double command)
{
  return fmin(fmax(command + valve->offset, -valve->limit), valve->limit);
}

/* [V] A spool on its way to zero would otherwise end among the subnormal numbers, on which processors are
 * slow. */
static const double arrived = 1e-250;

double bramah__spool_step(const bramah__valve *valve, double U, double command, double h)
{
  const double reference = bramah__spool_reference(valve, command);
  if (bramah__is_direct(valve)) return reference;
  const double ratio = h / valve->time_constant;
  const double next = U + ratio * (reference - U) / (1.0 + 0.5 * ratio);
  return fabs(next - reference) < arrived ? reference : next;
}
