/* SPDX-License-Identifier: MIT */
/* Analytic derivatives of the elements, found together with their values. `value` has the bits of the
 * function of the same thing in elements.h.
 *
 * At a kink the slope is the one-sided derivative of the branch the value function takes there; where both
 * branches give the same value and it takes either (fmin, fmax), that of the branch that is held constant:
 * a shut valve, an idle compensator, a chamber that is just empty. Openings of a directional valve are the
 * exception, see bramah__opening_tangents. */
#ifndef BRAMAH_LIB_HYDRAULICS_SLOPES_H
#define BRAMAH_LIB_HYDRAULICS_SLOPES_H

#include "lib/hydraulics/circuit.h"

typedef struct bramah__tangent {
  double value, slope;
} bramah__tangent;

/* sgn(dp) sqrt|dp| by dp [sqrt(Pa), 1/sqrt(Pa)]. At |dp| = transition pressure the slope is that of the root,
 * half of the linear part's. */
bramah__tangent bramah__flow_tangent(double dp, double transition_pressure);

/* Flow [m^3/s] by dp, which is p_from - p_to, for the pump p_into - p_from. A check valve is shut at its
 * cracking pressure, a relief valve at its setting; at setting + override it is fully open. */
bramah__tangent bramah__check_valve_tangent(const bramah__check_valve *valve, double dp,
                                            double transition_pressure);
bramah__tangent bramah__relief_valve_tangent(const bramah__relief_valve *valve, double dp,
                                             double transition_pressure);
bramah__tangent bramah__pump_tangent(const bramah__pump *pump, double dp);

/* Compliance of an accumulator [m^3/Pa] by p. At the precharge: that of the gas above it. */
bramah__tangent bramah__accumulator_tangent(const bramah__accumulator *accumulator, double p);

/* Compressibility of the air [1/Pa] by p; held, slope 0, up to 100 Pa above the vapour pressure. */
bramah__tangent bramah__air_tangent(const bramah__air *air, double p);

/* Recovery of a cavity [Pa/s] by p; none at the vapour pressure. */
bramah__tangent bramah__cavity_tangent(const bramah__air *air, double p);

/* A curve by x: at a corner the slope of the piece above it, 0 at both ends. */
bramah__tangent bramah__curve_tangent(const bramah__curve *curve, double x);

/* Openings e and their derivatives slope by the spool U, both [BRAMAH__N_WAYS]. At a kink (U = 0, the edges
 * of a dead band, corners of characteristics) the derivative towards greater U, but for the ends of a
 * characteristic, which are flat. So a spool in the middle of a valve without dead band is seen to open
 * pump -> a and b -> tank. */
void bramah__opening_tangents(const bramah__opening *opening, double U, double *e, double *slope);

/* Force of an end [N] by chamber length l and closing speed w [N/m, N s/m]. */
void bramah__end_stop_slopes(const bramah__end_stop *stop, double l, double w, double *by_l, double *by_w);

/* Length of a chamber that holds oil by its length: 1, or 0 at and behind a stop. */
double bramah__chamber_filled_slope(const bramah__cylinder *cylinder, double length);

#endif
