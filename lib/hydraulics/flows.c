/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/flows.h"

#include <string.h>

size_t bramah__two_port_count(const bramah__circuit *circuit, bramah__two_port_kind kind)
{
  switch (kind) {
  case BRAMAH__ORIFICE:
    return circuit->n_orifices;
  case BRAMAH__LEAKAGE:
    return circuit->n_leakages;
  case BRAMAH__CHECK_VALVE:
    return circuit->n_check_valves;
  case BRAMAH__RELIEF_VALVE:
    return circuit->n_relief_valves;
  case BRAMAH__PUMP:
    return circuit->n_pumps;
  case BRAMAH__N_TWO_PORT_KINDS:
    break;
  }
  return 0;
}

static double difference(const bramah__circuit *circuit, const double *p, size_t from, size_t to)
{
  return bramah__node_pressure(circuit, p, from) - bramah__node_pressure(circuit, p, to);
}

static bramah__two_port orifice_at(const bramah__circuit *circuit, size_t i, const double *p)
{
  const bramah__orifice *t = &circuit->orifice[i];
  const bramah__tangent q =
      bramah__flow_tangent(difference(circuit, p, t->from, t->to), circuit->transition_pressure);
  return (bramah__two_port){t->from, t->to, {t->coefficient * q.value, t->coefficient * q.slope}};
}

static bramah__two_port leakage_at(const bramah__circuit *circuit, size_t i, const double *p)
{
  const bramah__leakage *l = &circuit->leakage[i];
  const double dp = difference(circuit, p, l->from, l->to);
  return (bramah__two_port){l->from, l->to, {l->conductance * dp, l->conductance}};
}

static bramah__two_port check_valve_at(const bramah__circuit *circuit, size_t i, const double *p)
{
  const bramah__check_valve *v = &circuit->check_valve[i];
  const double dp = difference(circuit, p, v->from, v->to);
  return (bramah__two_port){v->from, v->to, bramah__check_valve_tangent(v, dp, circuit->transition_pressure)};
}

static bramah__two_port relief_valve_at(const bramah__circuit *circuit, size_t i, const double *p)
{
  const bramah__relief_valve *v = &circuit->relief_valve[i];
  const double dp = difference(circuit, p, v->from, v->to);
  return (bramah__two_port){v->from, v->to,
                            bramah__relief_valve_tangent(v, dp, circuit->transition_pressure)};
}

/* The pump's own difference is the opposite one. */
static bramah__two_port pump_at(const bramah__circuit *circuit, size_t i, const double *p)
{
  const bramah__pump *pump = &circuit->pump[i];
  const bramah__tangent Q = bramah__pump_tangent(pump, difference(circuit, p, pump->into, pump->from));
  return (bramah__two_port){pump->from, pump->into, {Q.value, -Q.slope}};
}

bramah__two_port bramah__two_port_at(const bramah__circuit *circuit, bramah__two_port_kind kind, size_t i,
                                     const double *p)
{
  switch (kind) {
  case BRAMAH__ORIFICE:
    return orifice_at(circuit, i, p);
  case BRAMAH__LEAKAGE:
    return leakage_at(circuit, i, p);
  case BRAMAH__CHECK_VALVE:
    return check_valve_at(circuit, i, p);
  case BRAMAH__RELIEF_VALVE:
    return relief_valve_at(circuit, i, p);
  case BRAMAH__PUMP:
  case BRAMAH__N_TWO_PORT_KINDS:
    break;
  }
  return pump_at(circuit, i, p);
}

/* d(p_from - p_to)/dp times slope; supplies have no place in by_p. */
static void add_slopes(const bramah__circuit *circuit, size_t from, size_t to, double slope, double *by_p)
{
  if (from < circuit->n_volumes) by_p[from] += slope;
  if (to < circuit->n_volumes) by_p[to] -= slope;
}

double bramah__two_port_flow(const bramah__circuit *circuit, bramah__two_port_kind kind, size_t i,
                             const double *p, double *by_p)
{
  const bramah__two_port element = bramah__two_port_at(circuit, kind, i, p);
  if (by_p) {
    memset(by_p, 0, circuit->n_volumes * sizeof *by_p);
    add_slopes(circuit, element.from, element.to, element.flow.slope, by_p);
  }
  return element.flow.value;
}

double bramah__valve_port_flow(const bramah__circuit *circuit, size_t i, int port, const double *p, double U,
                               double *by_p)
{
  const bramah__valve *valve = &circuit->valve[i];
  const int ways[2] = {port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A, port ? BRAMAH__B_TANK : BRAMAH__A_TANK};
  double e[BRAMAH__N_WAYS], flow = 0.0;
  size_t ends[BRAMAH__N_WAYS][2];
  bramah__openings(&valve->opening, U, e);
  bramah__valve_ends(valve, ends);
  if (by_p) memset(by_p, 0, circuit->n_volumes * sizeof *by_p);
  for (int k = 0; k < 2; k++) {
    const size_t from = ends[ways[k]][0], to = ends[ways[k]][1];
    const bramah__tangent q =
        bramah__flow_tangent(difference(circuit, p, from, to), circuit->transition_pressure);
    const double C = (k ? -1.0 : 1.0) * valve->coefficient * e[ways[k]];
    flow += C * q.value;
    if (by_p) add_slopes(circuit, from, to, C * q.slope, by_p);
  }
  return flow;
}
