/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/circuit_graph.h"

#include <math.h>

typedef struct sums {
  const bramah__circuit *circuit;
  const bramah__circuit_graph *in;
  bramah__expr *flow, *compliance; /* [n_volumes + n_supplies], [n_volumes] */
} sums;

static bramah__expr pressure(const sums *d, size_t node)
{
  const size_t np = d->circuit->n_volumes;
  return node < np ? d->in->p[node] : d->in->supply[node - np];
}

static bramah__expr difference(const sums *d, size_t from, size_t to)
{
  return e_sub(pressure(d, from), pressure(d, to));
}

/* Flow Q from one node to another. */
static void book(const sums *d, size_t from, size_t to, bramah__expr Q)
{
  d->flow[from] = e_sub(d->flow[from], Q);
  d->flow[to] = e_add(d->flow[to], Q);
}

/* The highest load that the valves with this pump port report. */
static bramah__expr load_signal(const sums *d, size_t pump)
{
  bramah__expr highest = e_number(-INFINITY);
  for (size_t i = 0; i < d->circuit->n_valves; i++) {
    const bramah__valve *valve = &d->circuit->valve[i];
    bramah__expr e[BRAMAH__N_PATHS];
    if (valve->pump != pump) continue;
    bramah__openings(&valve->opening, d->in->U[i], e);
    for (int port = 0; port < 2; port++) {
      const bramah__expr part = bramah__reported_part(valve, e[port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A]);
      const size_t node = port ? valve->b : valve->a;
      const bramah__expr rest = e_sub(e_number(1.0), part);
      const bramah__expr load = e_sub(pressure(d, node), e_mul(rest, difference(d, node, valve->tank)));
      highest = e_is(highest, -INFINITY) ? load : e_max(highest, load);
    }
  }
  return highest;
}

/* Does a compensator or a pump listen to what valve i reports, and is it the first one at its pump port? */
static int is_first_heard(const bramah__circuit *circuit, size_t i)
{
  const size_t pump = circuit->valve[i].pump;
  int heard = 0;
  for (size_t k = 0; k < i; k++)
    if (circuit->valve[k].pump == pump) return 0;
  for (size_t k = i; k < circuit->n_valves; k++)
    heard |= circuit->valve[k].pump == pump && circuit->valve[k].compensator == BRAMAH_COMPENSATOR_AFTER;
  for (size_t k = 0; k < circuit->n_elements; k++) {
    const bramah__element *e = &circuit->element[k];
    heard |= (bramah__element_kinds[e->kind]->sees & 1U << BRAMAH__LOAD) && e->node[1] == pump;
  }
  return heard;
}

size_t bramah__load_signals(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                            bramah__expr *signal)
{
  const sums d = {.circuit = circuit, .in = in};
  size_t count = 0;
  for (size_t i = 0; i < circuit->n_valves; i++) {
    if (!is_first_heard(circuit, i)) continue;
    if (signal) {
      const bramah__expr load = signal[count] = load_signal(&d, circuit->valve[i].pump);
      for (size_t k = 0; k < circuit->n_volumes; k++)
        if (load.graph && in->p[k].node == load.node) signal[count] = e_number(0.0);
    }
    count++;
  }
  return count;
}

/* What element i sees. */
static void look(const sums *d, size_t i, bramah__expr *seen)
{
  const bramah__element *e = &d->circuit->element[i];
  const unsigned sees = bramah__element_kinds[e->kind]->sees;
  seen[BRAMAH__DP] = difference(d, e->node[0], e->node[1]);
  if (sees & 1U << BRAMAH__LOAD)
    seen[BRAMAH__LOAD] = e_sub(load_signal(d, e->node[1]), pressure(d, e->node[1]));
  if (sees & 1U << BRAMAH__PILOT)
    seen[BRAMAH__PILOT] = difference(d, e->node[2], e->node[bramah__element_kinds[e->kind]->pilot_against]);
  if (sees & 1U << BRAMAH__STATE) seen[BRAMAH__STATE] = d->in->p[e->node[BRAMAH__OWN_STATE]];
}

/* What it lets through, of a pump at its full speed. */
static bramah__expr full_flow(const sums *d, size_t i)
{
  bramah__expr seen[BRAMAH__N_SEEN];
  look(d, i, seen);
  return bramah__element_kinds[d->circuit->element[i].kind]->flow(
      (bramah__quantities){.node = d->in->element_value[i]}, seen, d->circuit->transition_pressure);
}

bramah__expr bramah__driven_torque_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                         size_t k)
{
  const sums d = {.circuit = circuit, .in = in};
  const bramah__driven_pump *pump = &circuit->driven[k];
  const size_t *node = circuit->element[pump->element].node;
  const bramah__expr dp = e_max(difference(&d, node[1], node[0]), e_number(0.0)),
                     grip = bramah__driven_grip(pump, in->v[pump->cylinder]);
  return e_scale(-pump->per_power, e_mul(grip, e_mul(dp, full_flow(&d, pump->element))));
}

bramah__expr bramah__element_flow_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                        size_t i)
{
  const sums d = {.circuit = circuit, .in = in};
  const size_t drive = circuit->drive ? circuit->drive[i] : BRAMAH__NO_SPOOL;
  bramah__expr flow = full_flow(&d, i);
  for (size_t k = 0; k < circuit->n_driven; k++)
    if (circuit->driven[k].element == i)
      flow = e_mul(bramah__driven_part(&circuit->driven[k], in->v[circuit->driven[k].cylinder]), flow);
  if (drive == BRAMAH__NO_SPOOL) return flow;
  return e_mul(bramah__drive_part_of(&circuit->valve[drive], in->U[drive]), flow);
}

static void add_element(const sums *d, size_t i)
{
  const bramah__element *e = &d->circuit->element[i];
  const bramah__element_kind *kind = bramah__element_kinds[e->kind];
  const bramah__quantities of = {.node = d->in->element_value[i]};
  book(d, e->node[0], e->node[1], bramah__element_flow_graph(d->circuit, d->in, i));
  for (int port = 0; port < 2 && kind->drain && e->node[2] != BRAMAH__NO_NODE; port++)
    book(d, e->node[port], e->node[2], kind->drain(of, difference(d, e->node[port], e->node[2])));
}

/* A port of a valve whose paths open on either side of one spool position: it is joined to the pump or to the tank,
 * never to both, and one root is enough. In the middle the path counts that opens upwards: e to or from node p; f: q. */
static void add_port(const sums *d, size_t port, bramah__expr coefficient, size_t p, bramah__expr e,
                     bramah__expr p_difference, size_t q, bramah__expr f, bramah__expr q_difference)
{
  const bramah__expr dp = e_select(f, q_difference, p_difference);
  const bramah__expr flow = e_mul(coefficient, bramah__root_flow(dp, d->circuit->transition_pressure));
  book(d, p, port, e_mul(e, flow));
  book(d, q, port, e_mul(f, flow));
}

static void add_valve(const sums *d, size_t i)
{
  const bramah__valve *valve = &d->circuit->valve[i];
  const bramah__expr coefficient = d->in->valve_coefficient[i];
  bramah__expr e[BRAMAH__N_PATHS], excess = {0}, dp[BRAMAH__N_PATHS];
  size_t ends[BRAMAH__N_PATHS][2];
  int separate = 0;
  bramah__valve_ends(valve, ends);
  bramah__openings(&valve->opening, d->in->U[i], e);
  if (valve->compensator == BRAMAH_COMPENSATOR_AFTER)
    excess = e_sub(pressure(d, valve->pump), load_signal(d, valve->pump));
  for (int w = 0; w < BRAMAH__N_PATHS; w++) separate |= valve->opening.path[w].n > 0;
  if (!separate) {
    const bramah__expr from_pump_a = difference(d, valve->pump, valve->a),
                       from_pump_b = difference(d, valve->pump, valve->b);
    add_port(d, valve->a, coefficient, valve->pump, e[BRAMAH__PUMP_A],
             bramah__edge_difference(valve, BRAMAH__PUMP_A, from_pump_a, excess), valve->tank,
             e[BRAMAH__A_TANK], difference(d, valve->tank, valve->a));
    add_port(d, valve->b, coefficient, valve->tank, e[BRAMAH__B_TANK], difference(d, valve->tank, valve->b),
             valve->pump, e[BRAMAH__PUMP_B],
             bramah__edge_difference(valve, BRAMAH__PUMP_B, from_pump_b, excess));
    return;
  }
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    dp[w] = bramah__edge_difference(valve, w, difference(d, ends[w][0], ends[w][1]), excess);
    book(d, ends[w][0], ends[w][1],
         e_mul(e_mul(coefficient, e[w]), bramah__root_flow(dp[w], d->circuit->transition_pressure)));
  }
}

/* Both chambers of cylinder c: the piston takes from one what it gives to the other, and each holds oil. */
static void add_chambers(const sums *d, size_t c)
{
  const bramah__cylinder *cylinder = &d->circuit->cylinder[c];
  const size_t volume[2] = {cylinder->piston, cylinder->rod};
  const double area[2] = {cylinder->piston_area, cylinder->rod_area};
  for (int side = 0; side < 2; side++) {
    const size_t i = volume[side];
    const bramah__expr moved = e_scale(side ? -area[side] : area[side], d->in->v[c]);
    d->flow[i] = e_sub(d->flow[i], moved);
    if (cylinder->endless) continue;
    const bramah__expr length = bramah__filled(cylinder, bramah__chamber(cylinder, side, d->in->s[c]));
    const bramah__expr per_volume =
        e_add(e_inv(d->in->oil_bulk_modulus), e_number(1.0 / cylinder->bulk_modulus));
    const bramah__expr soft = e_add(per_volume, bramah__air_compliance(&d->circuit->air, d->in->p[i]));
    d->compliance[i] = e_add(d->compliance[i], e_mul(e_scale(area[side], soft), length));
  }
}

void bramah__circuit_graph_rates(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                 bramah__expr *flow, bramah__expr *compliance, bramah__expr *pd)
{
  const sums d = {circuit, in, flow, compliance};
  const size_t n_filled = bramah__n_filled(circuit), first_line = circuit->n_elements - circuit->n_lines;
  for (size_t i = 0; i < circuit->n_volumes + circuit->n_supplies; i++) flow[i] = e_number(0.0);
  for (size_t i = 0; i < n_filled; i++) {
    const bramah__volume *volume = &circuit->volume[i];
    const bramah__expr soft =
        e_add(e_inv(in->oil_bulk_modulus), bramah__air_compliance(&circuit->air, in->p[i]));
    compliance[i] = e_add(e_scale(volume->hose_volume, soft), e_number(volume->hose_compliance));
  }
  for (size_t i = 0; i < circuit->n_passing; i++) add_element(&d, i);
  for (size_t i = 0; i < circuit->n_valves; i++) add_valve(&d, i);
  for (size_t c = 0; c < circuit->n_cylinders; c++)
    if (!circuit->cylinder[c].metered) add_chambers(&d, c);
  for (size_t i = circuit->n_passing; i < first_line; i++) {
    const bramah__element *e = &circuit->element[i];
    const bramah__expr gas = bramah__element_kinds[e->kind]->compliance(
        (bramah__quantities){.node = in->element_value[i]}, in->p[e->node[0]]);
    compliance[e->node[0]] = e_add(compliance[e->node[0]], gas);
  }
  for (size_t i = first_line; i < circuit->n_elements; i++) {
    const bramah__element *e = &circuit->element[i];
    book(&d, e->node[0], e->node[1], in->p[e->node[BRAMAH__OWN_STATE]]);
  }
  for (size_t i = 0; circuit->n_states && i < circuit->n_elements; i++) {
    const bramah__element *e = &circuit->element[i];
    bramah__expr seen[BRAMAH__N_SEEN];
    if (!bramah__element_kinds[e->kind]->rate) continue;
    look(&d, i, seen);
    pd[e->node[BRAMAH__OWN_STATE]] = bramah__element_kinds[e->kind]->rate(
        (bramah__quantities){.node = in->element_value[i]}, seen, circuit->transition_pressure);
  }
  for (size_t i = 0; i < n_filled; i++)
    pd[i] = e_add(e_div(flow[i], compliance[i]), bramah__cavity_recovery(&circuit->air, in->p[i]));
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const bramah__expr apart = e_sub(in->w[i], in->v[port->cylinder]);
    pd[port->volume] = e_scale(bramah__load_stiffness(circuit, i), apart);
  }
}

bramah__expr bramah__kink_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                bramah__expr *compliance, size_t k, bramah__expr effect[2])
{
  const sums d = {.circuit = circuit, .in = in};
  const size_t i = bramah__kink_element(circuit, k);
  const bramah__element *e = &circuit->element[i];
  const int back = bramah__element_kinds[e->kind]->opens_back;
  const bramah__kink kink = bramah__element_kinds[e->kind]->opens(
      (bramah__quantities){.node = in->element_value[i]}, circuit->transition_pressure);
  for (int side = 0; side < 2; side++) {
    const size_t node = e->node[side ^ back];
    effect[side] = e_number(0.0);
    if (node >= circuit->n_volumes) continue;
    const bramah__expr by = e_div(kink.slope, compliance[node]);
    effect[side] = side ? by : e_neg(by);
  }
  return e_sub(difference(&d, e->node[back], e->node[1 - back]), kink.at);
}
