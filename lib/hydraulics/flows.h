/* SPDX-License-Identifier: MIT */
/* Flow through single elements of a circuit, with its derivatives by the pressures of the nodes. */
#ifndef BRAMAH_LIB_HYDRAULICS_FLOWS_H
#define BRAMAH_LIB_HYDRAULICS_FLOWS_H

#include "lib/hydraulics/slopes.h"

/* Elements between two nodes, in the order in which a circuit adds them up. */
typedef enum bramah__two_port_kind {
  BRAMAH__ORIFICE,
  BRAMAH__LEAKAGE,
  BRAMAH__CHECK_VALVE,
  BRAMAH__RELIEF_VALVE,
  BRAMAH__PUMP,
  BRAMAH__N_TWO_PORT_KINDS
} bramah__two_port_kind;

typedef struct bramah__two_port {
  size_t from, to;      /* nodes */
  bramah__tangent flow; /* from -> to [m^3/s], by p_from - p_to */
} bramah__two_port;

size_t bramah__two_port_count(const bramah__circuit *circuit, bramah__two_port_kind kind);

/* Element i of a kind at pressures p [n_volumes]. */
bramah__two_port bramah__two_port_at(const bramah__circuit *circuit, bramah__two_port_kind kind, size_t i,
                                     const double *p);

/* Its flow [m^3/s] and, unless by_p is NULL, the derivatives by_p [n_volumes]. */
double bramah__two_port_flow(const bramah__circuit *circuit, bramah__two_port_kind kind, size_t i,
                             const double *p, double *by_p);

/* Flow out of directional valve i into its port a (port 0) or b (port 1) [m^3/s] at spool U, and its
 * derivatives as above: pump -> port less port -> tank. */
double bramah__valve_port_flow(const bramah__circuit *circuit, size_t i, int port, const double *p, double U,
                               double *by_p);

#endif
