/* SPDX-License-Identifier: MIT */
/* Elements of a circuit, each a function of its own pressure difference: continuous, and defined for any
 * pressure an iteration may try. Pressures [Pa], flows [m^3/s]; `from`, `to` and `into` are nodes as in
 * circuit.h. Equations and sources: bramah/machine.h. */
#ifndef BRAMAH_LIB_HYDRAULICS_ELEMENTS_H
#define BRAMAH_LIB_HYDRAULICS_ELEMENTS_H

#include <stddef.h>

/* Leakage Q = k dp. */
typedef struct bramah__leakage {
  size_t from, to;
  double conductance; /* [m^3/(s Pa)] */
} bramah__leakage;

typedef struct bramah__check_valve {
  size_t from, to;
  double coefficient; /* [m^3/(s sqrt(Pa))] */
  double cracking;    /* [Pa] */
} bramah__check_valve;

typedef struct bramah__relief_valve {
  size_t from, to;
  double coefficient;       /* [m^3/(s sqrt(Pa))] */
  double setting, override; /* [Pa] */
} bramah__relief_valve;

typedef struct bramah__pump {
  size_t from, into;
  double flow;          /* [m^3/s] */
  double setting, band; /* [Pa]; band 0: no compensator */
} bramah__pump;

/* sgn(dp) sqrt|dp|, linear below the laminar pressure and continuous there [sqrt(Pa)]. */
double bramah__flow_function(double dp, double laminar_pressure);

/* Flow at dp = p_from - p_to; never negative. */
double bramah__check_valve_flow(const bramah__check_valve *valve, double dp, double laminar_pressure);
double bramah__relief_valve_flow(const bramah__relief_valve *valve, double dp, double laminar_pressure);

/* Flow into `into` at dp = p_into - p_from; never negative. */
double bramah__pump_flow(const bramah__pump *pump, double dp);

#endif
