/* SPDX-License-Identifier: MIT */
/* Rates of a circuit as expressions: what circuit.c computes. Quasistatic actuators are not among them. */
#ifndef BRAMAH_LIB_HYDRAULICS_CIRCUIT_GRAPH_H
#define BRAMAH_LIB_HYDRAULICS_CIRCUIT_GRAPH_H

#include "lib/hydraulics/circuit.h"

/* Quantities that parameters may change, and the state. */
typedef struct bramah__circuit_graph {
  bramah__expr oil_bulk_modulus;
  bramah__expr *supply, *valve_coefficient;              /* [n_supplies], [n_valves] */
  bramah__expr (*element_value)[BRAMAH__ELEMENT_VALUES]; /* [n_elements] */
  const bramah__expr *p, *s, *v, *U;                     /* [n_volumes], [n_cylinders] two, [n_spools] */
} bramah__circuit_graph;

/* pd [n_volumes]; flow and compliance [n_volumes] are scratch. */
void bramah__circuit_graph_rates(const bramah__circuit *circuit, const bramah__circuit_graph *in,
                                 bramah__expr *flow, bramah__expr *compliance, bramah__expr *pd);

#endif
