/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/circuit_graph.h"

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

bramah__expr bramah__element_flow_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                        size_t i)
{
  const sums d = {.circuit = circuit, .in = in};
  const bramah__element *e = &circuit->element[i];
  return bramah__element_kinds[e->kind]->flow((bramah__quantities){.node = in->element_value[i]},
                                              difference(&d, e->node[0], e->node[1]),
                                              circuit->transition_pressure);
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
static void add_port(const sums *d, size_t port, bramah__expr coefficient, size_t p, bramah__expr e, size_t q,
                     bramah__expr f)
{
  const bramah__expr dp = e_select(f, difference(d, q, port), difference(d, p, port));
  const bramah__expr flow = e_mul(coefficient, bramah__root_flow(dp, d->circuit->transition_pressure));
  book(d, p, port, e_mul(e, flow));
  book(d, q, port, e_mul(f, flow));
}

static void add_valve(const sums *d, size_t i)
{
  const bramah__valve *valve = &d->circuit->valve[i];
  const bramah__expr coefficient = d->in->valve_coefficient[i];
  bramah__expr e[BRAMAH__N_PATHS];
  int separate = 0;
  bramah__openings(&valve->opening, d->in->U[i], e);
  for (int w = 0; w < BRAMAH__N_PATHS; w++) separate |= valve->opening.path[w].n > 0;
  if (!separate) {
    add_port(d, valve->a, coefficient, valve->pump, e[BRAMAH__PUMP_A], valve->tank, e[BRAMAH__A_TANK]);
    add_port(d, valve->b, coefficient, valve->tank, e[BRAMAH__B_TANK], valve->pump, e[BRAMAH__PUMP_B]);
    return;
  }
  size_t ends[BRAMAH__N_PATHS][2];
  bramah__valve_ends(valve, ends);
  for (int w = 0; w < BRAMAH__N_PATHS; w++) {
    const bramah__expr dp = difference(d, ends[w][0], ends[w][1]);
    book(d, ends[w][0], ends[w][1],
         e_mul(e_mul(coefficient, e[w]), bramah__root_flow(dp, d->circuit->transition_pressure)));
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
  for (size_t i = 0; i < circuit->n_lines; i++) {
    const bramah__element *e = &circuit->element[first_line + i];
    const bramah__expr Q = in->p[n_filled + i];
    book(&d, e->node[0], e->node[1], Q);
    pd[n_filled + i] =
        bramah__element_kinds[e->kind]->rate((bramah__quantities){.node = in->element_value[first_line + i]},
                                             difference(&d, e->node[0], e->node[1]), Q);
  }
  for (size_t i = 0; i < n_filled; i++)
    pd[i] = e_add(e_div(flow[i], compliance[i]), bramah__cavity_recovery(&circuit->air, in->p[i]));
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const bramah__expr apart = e_sub(in->w[i], in->v[port->cylinder]);
    pd[port->volume] = e_scale(bramah__load_stiffness(circuit, i), apart);
  }
}
