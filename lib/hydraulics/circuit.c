/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/circuit.h"

#include <math.h>

double bramah__flow_function(double dp, double laminar_pressure)
{
  const double magnitude = fabs(dp);
  if (magnitude < laminar_pressure) return dp / sqrt(laminar_pressure);
  return copysign(sqrt(magnitude), dp);
}

static double pressure_at(const bramah__circuit *circuit, const double *p, size_t node)
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
  const double dp = pressure_at(circuit, p, from) - pressure_at(circuit, p, to);
  book(circuit, flow, from, to, coefficient * bramah__flow_function(dp, circuit->laminar_pressure));
}

static void valve_flows(const bramah__circuit *circuit, const bramah__valve *valve, const double *p, double U,
                        double *flow)
{
  const double opening = valve->coefficient * fabs(U);
  if (U >= 0.0) {
    pass(circuit, p, flow, valve->pump, valve->a, opening);
    pass(circuit, p, flow, valve->b, valve->tank, opening);
  } else {
    pass(circuit, p, flow, valve->a, valve->tank, opening);
    pass(circuit, p, flow, valve->pump, valve->b, opening);
  }
}

double bramah__piston_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->piston_length + (s - cylinder->reference);
}

double bramah__rod_chamber(const bramah__cylinder *cylinder, double s)
{
  return cylinder->rod_length - (s - cylinder->reference);
}

/* The compliance V/B_e of each volume goes to `pd` first, the flow minus dV/dt to `flow`. */
static void cylinder_volumes(const bramah__circuit *circuit, const bramah__cylinder *c, double s, double v,
                             double *flow, double *compliance)
{
  const double per_volume = 1.0 / circuit->oil_bulk_modulus + 1.0 / c->bulk_modulus;
  compliance[c->piston] += c->piston_area * bramah__piston_chamber(c, s) * per_volume;
  compliance[c->rod] += c->rod_area * bramah__rod_chamber(c, s) * per_volume;
  flow[c->piston] -= c->piston_area * v;
  flow[c->rod] += c->rod_area * v;
}

void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd)
{
  for (size_t i = 0; i < circuit->n_volumes; i++) {
    const bramah__volume *volume = &circuit->volume[i];
    flow[i] = 0.0;
    pd[i] = volume->hose_volume / circuit->oil_bulk_modulus + volume->hose_compliance;
  }
  for (size_t i = 0; i < circuit->n_throttles; i++) {
    const bramah__throttle *t = &circuit->throttle[i];
    pass(circuit, p, flow, t->from, t->to, t->coefficient);
  }
  for (size_t i = 0; i < circuit->n_valves; i++) valve_flows(circuit, &circuit->valve[i], p, U[i], flow);
  for (size_t i = 0; i < circuit->n_cylinders; i++)
    cylinder_volumes(circuit, &circuit->cylinder[i], s[i], v[i], flow, pd);
  for (size_t i = 0; i < circuit->n_volumes; i++) pd[i] = flow[i] / pd[i];
}

double bramah__pressure_force(const bramah__circuit *circuit, size_t c, const double *p)
{
  const bramah__cylinder *cylinder = &circuit->cylinder[c];
  return p[cylinder->piston] * cylinder->piston_area - p[cylinder->rod] * cylinder->rod_area;
}

double bramah__spool_step(const bramah__valve *valve, double U, double command, double h)
{
  const double reference = fmin(fmax(command, -valve->limit), valve->limit);
  const double ratio = h / valve->time_constant;
  return U + ratio * (reference - U) / (1.0 + 0.5 * ratio);
}
