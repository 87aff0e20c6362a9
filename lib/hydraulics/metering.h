/* SPDX-License-Identifier: MIT */
/* Quasistatic actuators in a circuit: from load pressures, velocities of the rods and spools to the
 * actuators' velocities, and what follows from these. See bramah__metered_port; i counts the actuators. */
#ifndef BRAMAH_LIB_HYDRAULICS_METERING_H
#define BRAMAH_LIB_HYDRAULICS_METERING_H

#include "lib/hydraulics/circuit.h"

/* Opening of a regeneration or unloading valve that has a spool. */
double bramah__single_opening(const bramah__circuit *circuit, size_t spool, const double *U);

/* How to difference by a spool [V]: displacements `at` in steps, and the weights of what is seen there (0:
 * need not be looked at); their sum goes by the step. */
typedef struct bramah__spool_difference {
  double step; /* [V] */
  double at[3], weight[3];
} bramah__spool_difference;

/* Central; where an opening has a corner (a shut valve that is about to open) to the side that
 * bramah__openings looks to, and from next to the corner: an actuator that a shut valve holds has
 * chamber pressures of its own. Second order. */
bramah__spool_difference bramah__differ_spool(const bramah__valve *valve, double U);

/* Velocities w [n_metered] of the actuators and pressures P [n_metered_lines] of the lines, from the tank on,
 * at pressures p, rod velocities v [n_cylinders] and spools U. This is what costs time. */
void bramah__metered_solve(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                           double *w, double *P);

/* The same at effective openings `open` [n_spools x BRAMAH__N_PATHS] [V], with the derivatives by_load [n_metered x
 * n_metered] of w by the loads fbar = A_h p - B v [N]; zero between lines. */
void bramah__metered_solve_tangent(const bramah__circuit *circuit, const double *p, const double *v,
                                   const double *open, double *w, double *P, double *by_load);

/* What actuator i exerts beyond A_h pi at its velocity w: B (w - v) [N]. */
double bramah__metered_drag(const bramah__circuit *circuit, size_t i, double w, const double *v);

/* Its derivatives are those of the rate of its virtual volume times this, B A_h / K [m^2 s]. */
double bramah__drag_per_rate(const bramah__circuit *circuit, size_t i);

/* K / A_h [Pa/m]: how the rate of its virtual volume follows w - v. */
double bramah__load_stiffness(const bramah__circuit *circuit, size_t i);

/* Rows of the virtual volumes: w into flow, rates into pd; rates from w that are known; rates and
 * derivatives, with w and P of metered_solve or, if these are NULL, their own. */
void bramah__metered_rates(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                           double *flow, double *pd);
void bramah__metered_rates_of(const bramah__circuit *circuit, const double *w, const double *v, double *flow,
                              double *pd);
void bramah__metered_derivatives(const bramah__circuit *circuit, const double *p, const double *v,
                                 const double *U, const double *w, const double *P, double *pd, double *by_p,
                                 double *by_v, double *by_U);

/* What can be measured, gauge [bramah__n_gauges], where w and P are known, and unless by_load is NULL its derivatives by the loads [n_gauges x
 * n_metered], differences that solve twice an actuator. */
void bramah__metered_gauges(const bramah__circuit *circuit, const double *p, const double *v, const double *U,
                            const double *w, const double *P, double *gauge, double *by_load);

/* Valves of actuator i that are open there, bits of bramah__metered_state. */
unsigned bramah__metered_valves(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                                const double *U, const double *w, const double *P);

/* Number of the actuator that a cylinder is; n_metered if none. */
size_t bramah__metered_of(const bramah__circuit *circuit, size_t cylinder);

/* Line of actuator i. */
size_t bramah__line_of(const bramah__circuit *circuit, size_t i);

#endif
