/* SPDX-License-Identifier: MIT */
/* Lumped-fluid circuit: volumes, throttles, directional valves and double-acting cylinders. Source:
 * dissertation 2.32 ff., spec equations 2. It sees a cylinder only as a stroke and a velocity; a rotary
 * actuator is a cylinder with angles for lengths and m^3/rad for areas. Pressures absolute [Pa], flows
 * [m^3/s]. A node is a volume (index < n_volumes) or, above that, a supply of constant pressure. */
#ifndef BRAMAH_LIB_HYDRAULICS_CIRCUIT_H
#define BRAMAH_LIB_HYDRAULICS_CIRCUIT_H

#include <stddef.h>
#include "lib/hydraulics/elements.h"
#include "lib/hydraulics/friction.h"

typedef struct bramah__volume {
  double hose_volume;     /* [m^3] sum over hoses */
  double hose_compliance; /* [m^3/Pa] sum of V/B over hoses */
} bramah__volume;

typedef struct bramah__throttle {
  size_t from, to;
  double coefficient; /* [m^3/(s sqrt(Pa))] */
} bramah__throttle;

typedef struct bramah__valve {
  size_t pump, tank, a, b, input;
  double coefficient;   /* [m^3/(s sqrt(Pa) V)] */
  double time_constant; /* [s] */
  double limit;         /* [V] */
  double offset;        /* [V] added to the command before the limit */
  bramah__opening opening;
} bramah__valve;

typedef struct bramah__cylinder {
  size_t piston, rod;               /* volumes */
  double piston_area, rod_area;     /* [m^2] */
  double bulk_modulus;              /* [Pa] */
  double reference;                 /* [m] stroke at which the chamber lengths hold */
  double piston_length, rod_length; /* [m] */
  bramah__friction friction;
  size_t first_state; /* of its friction states among those of the circuit */
  /* for those who make forces of pressures; the circuit itself does not look at them */
  double friction_scale; /* goes before the friction force */
  double load;           /* [N] from outside along its line, pushes the points apart */
  bramah__end_stop stop;
} bramah__cylinder;

typedef struct bramah__circuit {
  double oil_bulk_modulus, laminar_pressure;
  size_t n_volumes, n_supplies, n_throttles, n_valves, n_cylinders;
  size_t n_friction_states; /* of all cylinders */
  const bramah__volume *volume;
  const double *supply; /* [n_supplies] Pa */
  const bramah__throttle *throttle;
  const bramah__valve *valve;
  const bramah__cylinder *cylinder;
  size_t n_leakages;
  const bramah__leakage *leakage;
  size_t n_check_valves, n_relief_valves, n_pumps;
  const bramah__check_valve *check_valve;
  const bramah__relief_valve *relief_valve;
  const bramah__pump *pump;
  size_t n_accumulators;
  const bramah__accumulator *accumulator;
  bramah__air air;
} bramah__circuit;

/* Pressure of a node [Pa]. */
double bramah__node_pressure(const bramah__circuit *circuit, const double *p, size_t node);

/* Pressure rates pd [n_volumes] = u0(p, s, v; U) [Pa/s] from pressures p, strokes s and velocities v
 * [n_cylinders], spools U [n_valves]. flow [n_volumes] is scratch. */
void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd);

/* Doubles of scratch per volume. */
enum { BRAMAH__CIRCUIT_SCRATCH = 5 };

/* The same rates pd [n_volumes], to the bit, and their derivatives, row-major: by pressures by_p [n_volumes x
 * n_volumes] [1/s], strokes by_s and velocities by_v [n_volumes x n_cylinders], spools by_U [n_volumes x
 * n_valves] and supplies by_supply [n_volumes x n_supplies]; the last two may be NULL. Analytic; at kinks as
 * slopes.h says. scratch [BRAMAH__CIRCUIT_SCRATCH n_volumes]; its second n_volumes are the compliances V/B_e [m^3/Pa]
 * afterwards. */
void bramah__circuit_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                                 const double *v, const double *U, double *scratch, double *pd, double *by_p,
                                 double *by_s, double *by_v, double *by_U, double *by_supply);

/* Force of the pressures on the piston of cylinder c, p1 A1 - p2 A2 [N]; friction goes off from it. */
double bramah__pressure_force(const bramah__circuit *circuit, size_t c, const double *p);

/* What the stops and cushions of cylinder c add to its force [N] at stroke s and velocity v. */
double bramah__stop_force(const bramah__circuit *circuit, size_t c, double s, double v);

/* Its derivatives by stroke and velocity [N/m, N s/m]; kinks as in slopes.h. */
void bramah__stop_slopes(const bramah__circuit *circuit, size_t c, double s, double v, double *by_s,
                         double *by_v);

/* Chamber lengths of cylinder c at stroke s [m]. */
double bramah__piston_chamber(const bramah__cylinder *cylinder, double s);
double bramah__rod_chamber(const bramah__cylinder *cylinder, double s);

/* Part of a chamber length that holds oil [m]: none behind a stop. */
double bramah__chamber_filled(const bramah__cylinder *cylinder, double length);

/* The nodes each way through a directional valve leads from and to. */
void bramah__valve_ends(const bramah__valve *valve, size_t ends[BRAMAH__N_WAYS][2]);

/* Spool after a step h [s] of the trapezoidal rule under a held command, to which the offset is added before
 * the limit; exact Newton of a linear equation. Source: dissertation 2.40, U' = (U_ref - U)/tau. */
double bramah__spool_step(const bramah__valve *valve, double U, double command, double h);

#endif
