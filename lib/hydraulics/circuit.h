/* SPDX-License-Identifier: MIT */
/* Lumped-fluid circuit: volumes, orifices, directional valves and double-acting cylinders. Source:
 * dissertation 2.32 ff., spec equations 2. It sees a cylinder only as a stroke and a velocity; a rotary
 * actuator is a cylinder with angles for lengths and m^3/rad for areas. Pressures absolute [Pa], flows
 * [m^3/s]. A node is a volume (index < n_volumes) or, above that, a supply of constant pressure. */
#ifndef BRAMAH_LIB_HYDRAULICS_CIRCUIT_H
#define BRAMAH_LIB_HYDRAULICS_CIRCUIT_H

#include <stddef.h>
#include "lib/hydraulics/elements.h"
#include "lib/hydraulics/friction.h"
#include "lib/hydraulics/metered.h"

typedef struct bramah__volume {
  double hose_volume;     /* [m^3] sum over hoses */
  double hose_compliance; /* [m^3/Pa] sum of V/B over hoses */
} bramah__volume;

typedef struct bramah__orifice {
  size_t from, to;
  double coefficient; /* [m^3/(s sqrt(Pa))] */
} bramah__orifice;

typedef struct bramah__valve {
  size_t pump, tank, a, b, input;
  double coefficient;   /* [m^3/(s sqrt(Pa) V)] */
  double time_constant; /* [s] 0: none */
  double limit;         /* [V] */
  double offset;        /* [V] added to the command before the limit */
  bramah__opening opening;
} bramah__valve;

typedef struct bramah__cylinder {
  int metered;                      /* 1: quasistatic, see bramah__metered_port */
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

/* No spool: the opening is constant. */
#define BRAMAH__NO_SPOOL ((size_t)-1)

/* A quasistatic actuator in the circuit. Its chambers have no pressures of their own: a viscoelastic element
 * K, B stands between the actuator, which moves with v, and its rod, whose stroke s moves with s'. The state
 * is the load pressure pi = K (x - s) / A_h, x' = v: one `virtual' volume with the piston area A_h and no rod
 * area, so that A_h pi is the pressure force of its cylinder. Of (48a), (50):
 *   v = Lambda(B, A_h pi - B s'),  pi' = K/A_h (v - s'),  f = A_h pi + B (v - s')
 * pi is a difference and may be negative. */
typedef struct bramah__metered_port {
  size_t cylinder, volume;
  size_t spool;             /* of its metering valves; bramah__valve.opening with a = head, b = rod side */
  double stiffness;         /* K [N/m] */
  double damping;           /* B [N s/m] */
  size_t regeneration;      /* spool, or BRAMAH__NO_SPOOL */
  double regeneration_open; /* opening without one, in [0, 1] */
} bramah__metered_port;

/* The line of a pump with the actuators that it feeds, number first ... first + n - 1. */
typedef struct bramah__metered_line {
  bramah__pump_line line; /* U_b at full opening */
  size_t tank;            /* supply that its pressures count from */
  size_t bleed;           /* spool, or BRAMAH__NO_SPOOL */
  double bleed_open;      /* opening without one, in [0, 1] */
  size_t first, n;
} bramah__metered_line;

/* Most actuators on one line. */
enum { BRAMAH__MAX_ON_LINE = 16 };

typedef struct bramah__circuit {
  double oil_bulk_modulus, transition_pressure;
  size_t n_volumes, n_supplies, n_orifices, n_valves, n_cylinders; /* volumes: virtual ones included */
  size_t n_friction_states;                                        /* of all cylinders */
  const bramah__volume *volume;
  const double *supply; /* [n_supplies] Pa */
  const bramah__orifice *orifice;
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
  /* Quasistatic actuators, sorted by lines. Their virtual volumes are the last n_metered among the volumes;
   * their spools stand behind the directional valves in `valve`. */
  size_t n_metered, n_metered_lines, n_metering_spools;
  const bramah__metered *metered;           /* [n_metered] */
  const bramah__metered_port *metered_port; /* [n_metered] */
  const bramah__metered_line *metered_line; /* [n_metered_lines] */
} bramah__circuit;

/* All spools. */
static inline size_t bramah__n_spools(const bramah__circuit *circuit)
{
  return circuit->n_valves + circuit->n_metering_spools;
}

/* Pressure of a node [Pa]. */
double bramah__node_pressure(const bramah__circuit *circuit, const double *p, size_t node);

/* Pressure rates pd [n_volumes] = u0(p, s, v; U) [Pa/s] from pressures p, strokes s and velocities v
 * [n_cylinders], spools U [n_spools]. flow [n_volumes] is scratch; of virtual volumes it leaves the velocity
 * of the actuator there. */
void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd);

/* Doubles of scratch per volume. */
enum { BRAMAH__CIRCUIT_SCRATCH = 5 };

/* The same rates pd [n_volumes], to the bit, and their derivatives, row-major: by pressures by_p [n_volumes x
 * n_volumes] [1/s], strokes by_s and velocities by_v [n_volumes x n_cylinders], spools by_U [n_volumes x
 * n_spools] and supplies by_supply [n_volumes x n_supplies]; the last two may be NULL. Analytic, but for by_U
 * of virtual volumes, which are differences; at kinks as slopes.h and metered.h say. scratch
 * [BRAMAH__CIRCUIT_SCRATCH n_volumes]; its second n_volumes are the compliances V/B_e [m^3/Pa] afterwards
 * (not of virtual volumes). */
void bramah__circuit_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
                                 const double *v, const double *U, double *scratch, double *pd, double *by_p,
                                 double *by_s, double *by_v, double *by_U, double *by_supply);

/* Both without the rows of virtual volumes: rates and flows are left alone there, derivatives cleared. */
void bramah__fluid_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                         const double *U, double *flow, double *pd);
void bramah__fluid_derivatives(const bramah__circuit *circuit, const double *p, const double *s,
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

/* Where a command puts the spool in the end: the offset added, within the limit. */
double bramah__spool_reference(const bramah__valve *valve, double command);

/* A valve without lag: its spool always stands at its reference. */
static inline int bramah__is_direct(const bramah__valve *valve) { return valve->time_constant == 0.0; }

/* Spool after a step h [s] of the trapezoidal rule under a held command; exact Newton of a linear equation.
 * Source: dissertation 2.40, U' = (U_ref - U)/tau. */
double bramah__spool_step(const bramah__valve *valve, double U, double command, double h);

#endif
