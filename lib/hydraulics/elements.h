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

typedef struct bramah__accumulator {
  size_t volume;
  double gas_volume; /* [m^3] */
  double precharge;  /* [Pa] */
  double exponent;
} bramah__accumulator;

/* dV_oil/dp of an accumulator at pressure p [m^3/Pa], >= 0. */
double bramah__accumulator_compliance(const bramah__accumulator *accumulator, double p);

/* Entrained air. */
typedef struct bramah__air {
  double fraction; /* 0: none */
  double exponent;
  double vapour_pressure; /* [Pa] */
} bramah__air;

/* What the air adds to 1/B of the oil at pressure p [1/Pa], >= 0. */
double bramah__air_compressibility(const bramah__air *air, double p);

/* Guard against cavitation: what pulls a pressure below the vapour pressure back to it [Pa/s], >= 0. */
double bramah__cavity_recovery(const bramah__air *air, double p);

/* Stops and cushions of a cylinder. */
typedef struct bramah__end_stop {
  double stiffness, damping;              /* [N/m], [N s/m]; 0: none */
  double cushion_length, cushion_damping; /* [m], [N s/m]; 0: none */
} bramah__end_stop;

/* Force [N] >= 0 that one end pushes back with, at chamber length l [m] and closing speed w = -l' [m/s]. */
double bramah__end_stop_force(const bramah__end_stop *stop, double l, double w);

/* Piecewise-linear y(x), flat beyond its ends; n = 0: none. */
typedef struct bramah__curve {
  size_t n;
  const double *x, *y; /* x ascending */
} bramah__curve;

/* The four ways through a directional valve, in the order of bramah_port. */
enum { BRAMAH__PUMP_A, BRAMAH__B_TANK, BRAMAH__A_TANK, BRAMAH__PUMP_B, BRAMAH__N_WAYS };

/* How its spool opens them [V]. */
typedef struct bramah__opening {
  double dead_band;
  bramah__curve common; /* goes before the dead band */
  bramah__curve way[BRAMAH__N_WAYS];
} bramah__opening;

double bramah__curve_at(const bramah__curve *curve, double x);

/* Effective openings e [BRAMAH__N_WAYS] >= 0 [V] at spool U [V]. */
void bramah__openings(const bramah__opening *opening, double U, double *e);

/* sgn(dp) sqrt|dp|, linear below the transition pressure and continuous there [sqrt(Pa)]. */
double bramah__flow_function(double dp, double transition_pressure);

/* Flow at dp = p_from - p_to; never negative. */
double bramah__check_valve_flow(const bramah__check_valve *valve, double dp, double transition_pressure);
double bramah__relief_valve_flow(const bramah__relief_valve *valve, double dp, double transition_pressure);

/* Flow into `into` at dp = p_into - p_from; never negative. */
double bramah__pump_flow(const bramah__pump *pump, double dp);

#endif
