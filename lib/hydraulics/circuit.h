/* SPDX-License-Identifier: MIT */
/* Lumped-fluid circuit: volumes, elements between them, directional valves and double-acting cylinders. Source:
 * dissertation 2.32 ff. It sees a cylinder only as a stroke and a velocity; a rotary actuator is a cylinder with angles for lengths and m^3/rad for areas. Pressures absolute [Pa], flows
 * [m^3/s]. A node is a volume (index < n_volumes) or, above that, a supply of constant pressure. */
#ifndef BRAMAH_LIB_HYDRAULICS_CIRCUIT_H
#define BRAMAH_LIB_HYDRAULICS_CIRCUIT_H

#include "lib/hydraulics/cylinder.h"
#include "lib/hydraulics/directional_valve.h"
#include "lib/hydraulics/metered.h"
#include "lib/hydraulics/oil.h"

typedef struct bramah__volume {
  double hose_volume;     /* [m^3] sum over hoses */
  double hose_compliance; /* [m^3/Pa] sum of V/B over hoses */
} bramah__volume;

/* A pump that a joint turns. To the circuit the joint is a cylinder without areas, whose velocity is its rate. */
typedef struct bramah__driven_pump {
  size_t element, cylinder;
  double part_per_rate; /* [s/rad] part of its full flow by the joint's rate: ratio/speed */
  double per_power;     /* torque on the joint by full flow and pressure: ratio/(speed efficiency) [s/rad] */
} bramah__driven_pump;

typedef struct bramah__circuit {
  double oil_bulk_modulus, transition_pressure;
  size_t n_volumes, n_supplies, n_valves, n_cylinders; /* volumes: virtual ones included */
  size_t n_elements, n_passing, n_lines;               /* those that pass oil come first, lines last */
  size_t n_states;                                     /* of elements */
  size_t first_motor, n_motors; /* elements, and among the cylinders those before the driven ones */
  size_t n_driven;              /* pumps that joints turn: the last ones among the cylinders */
  size_t n_friction_states;     /* of all cylinders */
  const bramah__volume *volume;
  const double *supply; /* [n_supplies] Pa */
  /* Lines and load-sensing pumps have flows [m^3/s] for states: virtual volumes behind the filled ones. */
  const bramah__element *element; /* [n_elements] sorted by kinds */
  const size_t *drive; /* [n_elements] spool that the flow goes by, or BRAMAH__NO_SPOOL; NULL: none */
  const bramah__driven_pump *driven; /* [n_driven] */
  const bramah__valve *valve;
  const bramah__cylinder *cylinder;
  bramah__air air;
  /* Quasistatic actuators, sorted by lines. Their virtual volumes are the last n_metered among the volumes;
   * their spools follow the directional valves in `valve`. */
  size_t n_metered, n_metered_lines, n_metering_spools;
  const bramah__metered *metered;           /* [n_metered] */
  const bramah__metered_port *metered_port; /* [n_metered] */
  const bramah__metered_line *metered_line; /* [n_metered_lines] */
} bramah__circuit;

/* Volumes that hold oil; then come the flows that are states, then the load pressures of quasistatic actuators. */
static inline size_t bramah__n_filled(const bramah__circuit *circuit)
{
  return circuit->n_volumes - circuit->n_metered - circuit->n_states;
}

/* All spools. */
static inline size_t bramah__n_spools(const bramah__circuit *circuit)
{
  return circuit->n_valves + circuit->n_metering_spools;
}

/* What can be measured of quasistatic actuators: BRAMAH__GAUGES of each, then the pressures of the lines, from the tank
 * on. */
static inline size_t bramah__n_gauges(const bramah__circuit *circuit)
{
  return BRAMAH__GAUGES * circuit->n_metered + circuit->n_metered_lines;
}

/* Pressure of a node [Pa]. */
static inline double bramah__node_pressure(const bramah__circuit *circuit, const double *p, size_t node)
{
  return node < circuit->n_volumes ? p[node] : circuit->supply[node - circuit->n_volumes];
}

/* Pressure rates pd [n_volumes] = u0(p, s, v; U) [Pa/s] from pressures p, strokes s and velocities v
 * [n_cylinders], spools U [n_spools]. flow [n_volumes] is scratch; of virtual volumes it leaves the velocity
 * of the actuator there. */
void bramah__circuit_rates(const bramah__circuit *circuit, const double *p, const double *s, const double *v,
                           const double *U, double *flow, double *pd);

/* Elements that open at a pressure difference (bramah__element_kind.opens): how many, and which element number k of them is. */
size_t bramah__n_kinks(const bramah__circuit *circuit);
size_t bramah__kink_element(const bramah__circuit *circuit, size_t k);

/* Compliance of a filled volume [m^3/Pa] at these pressures and strokes. */
double bramah__compliance(const bramah__circuit *circuit, size_t volume, const double *p, const double *s);

/* Doubles of scratch per volume. */
enum { BRAMAH__CIRCUIT_SCRATCH = 5 };

/* The same rates pd [n_volumes] and their derivatives, row-major: by pressures by_p [n_volumes x
 * n_volumes] [1/s], strokes by_s and velocities by_v [n_volumes x n_cylinders], spools by_U [n_volumes x
 * n_spools] and supplies by_supply [n_volumes x n_supplies]; the last two may be NULL. Analytic, but for by_U
 * of virtual volumes, which are differences; at kinks as element.h and metered.h say. scratch
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

/* Flow of element i [m^3/s], from its first node to its second, at spools U [n_spools], and unless they are NULL its
 * derivatives by_p [n_volumes] and by_U [n_spools]; i < n_passing. Joints that turn pumps stand. */
double bramah__element_flow(const bramah__circuit *circuit, size_t i, const double *p, const double *U,
                            double *by_p, double *by_U);

/* The same with velocities v [n_cylinders] of what turns pumps, and by_v [n_cylinders] or NULL. */
double bramah__flow_at(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                       const double *U, double *by_p, double *by_v, double *by_U);

/* Flow out of supply i [m^3/s] at pressures p, velocities v and spools U into all that hangs on it but quasistatic actuators,
 * derivatives as above. */
double bramah__drawn_flow(const bramah__circuit *circuit, size_t i, const double *p, const double *v,
                          const double *U, double *by_p, double *by_v, double *by_U);

/* Part of its full flow that a driven pump delivers at the rate v of its joint, and the part of the torque that it takes. */
bramah__expr bramah__driven_part(const bramah__driven_pump *pump, bramah__expr v);
bramah__expr bramah__driven_grip(const bramah__driven_pump *pump, bramah__expr v);

/* Torque of driven pump k on its joint [N m] <= 0 at these; derivatives by the pressures and spools as above, and *by_v. */
double bramah__driven_torque(const bramah__circuit *circuit, size_t k, const double *p, const double *v,
                             const double *U, double *by_p, double *by_v, double *by_U);

/* Flows of motor i, an element, at velocities v [n_cylinders] [m^3/s]: into it at port a (0), out of it at port b (1) and
 * at the drain (2, where v is not looked at); derivatives by the pressures as above. By the velocity: the displacement. */
double bramah__motor_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                          const double *v, double *by_p);

/* Cylinder that motor i, an element, turns. */
static inline size_t bramah__motor_cylinder(const bramah__circuit *circuit, size_t i)
{
  return circuit->n_cylinders - circuit->n_driven - circuit->n_motors + i - circuit->first_motor;
}

/* Flow out of directional valve i into its port a (port 0) or b (port 1) [m^3/s], pump -> port less port -> tank, and
 * its derivatives as above. */
double bramah__valve_port_flow(const bramah__circuit *circuit, size_t i, int port, const double *p,
                               const double *U, double *by_p, double *by_U);

/* The highest load that the valves with this pump port report [Pa], and its derivatives by the pressures of a port and a
 * tank, nodes, and by a spool. */
typedef struct bramah__load_signal {
  double value;
  size_t port, tank, spool;
  double by_port, by_tank, by_spool;
} bramah__load_signal;
bramah__load_signal bramah__load_signal_at(const bramah__circuit *circuit, size_t pump, const double *p,
                                           const double *U);

/* Force of the pressures on the piston of cylinder c, p1 A1 - p2 A2 [N]; friction goes off from it. */
static inline double bramah__pressure_force(const bramah__circuit *circuit, size_t c, const double *p)
{
  const bramah__cylinder *cylinder = &circuit->cylinder[c];
  return p[cylinder->piston] * cylinder->piston_area - p[cylinder->rod] * cylinder->rod_area;
}

#endif
