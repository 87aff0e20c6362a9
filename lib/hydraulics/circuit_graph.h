/* SPDX-License-Identifier: MIT */
/* Rates of a circuit as expressions: what circuit.c computes. The velocities of quasistatic actuators, which several on
 * one line find together by iteration, are given. */
#ifndef BRAMAH_LIB_HYDRAULICS_CIRCUIT_GRAPH_H
#define BRAMAH_LIB_HYDRAULICS_CIRCUIT_GRAPH_H

#include "lib/hydraulics/circuit.h"
#include "lib/hydraulics/metering.h"

/* Quantities that parameters may change, and the state. */
typedef struct bramah__circuit_graph {
  bramah__expr oil_bulk_modulus;
  bramah__expr *supply, *valve_coefficient;              /* [n_supplies], [n_valves] */
  bramah__expr (*element_value)[BRAMAH__ELEMENT_VALUES]; /* [n_elements] */
  const bramah__expr *p, *s, *v, *U;                     /* [n_volumes], [n_cylinders] two, [n_spools] */
  const bramah__expr *w;                                 /* [n_metered] */
} bramah__circuit_graph;

/* pd [n_volumes] and flow into each node [n_volumes + n_supplies]; compliance [n_volumes] is scratch. */
void bramah__circuit_graph_rates(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                 bramah__expr *flow, bramah__expr *compliance, bramah__expr *pd);

/* Of element number k that opens (bramah__kink_element): the pressure difference by which it is beyond that, and how much faster
 * the pressures of its two nodes rise for each Pa of it, at the compliances found above [1/s]; 0: a supply. */
bramah__expr bramah__kink_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                bramah__expr *compliance, size_t k, bramah__expr effect[2]);

/* Torque of driven pump k on its joint. */
bramah__expr bramah__driven_torque_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                         size_t k);

/* Flow through element i. */
bramah__expr bramah__element_flow_graph(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                        size_t i);

/* What the valves report of their loads, one signal for each pump port that any valve has and a compensator or a pump listens to; 0
 * in place of one that is a number or a pressure. It depends on all their pressures, and all their flows on it. Writes no
 * more than n_valves into `signal`; returns how many there are, also where that is NULL. */
size_t bramah__load_signals(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                            bramah__expr *signal);

/* Load of quasistatic actuator i [N], and what it exerts beyond A_h p at its velocity w, when its rod moves with v. */
static inline bramah__expr bramah__metered_load_graph(const bramah__circuit *circuit, size_t i,
                                                      const bramah__expr *p, bramah__expr v)
{
  const bramah__metered_port *port = &circuit->metered_port[i];
  return e_sub(e_scale(circuit->metered[i].A_h, p[port->volume]), e_scale(port->damping, v));
}

static inline bramah__expr bramah__metered_drag_graph(const bramah__circuit *circuit, size_t i,
                                                      bramah__expr w, bramah__expr v)
{
  return e_scale(circuit->metered_port[i].damping, e_sub(w, v));
}

#endif
