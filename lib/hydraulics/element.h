/* SPDX-License-Identifier: MIT */
/* Hydraulic elements. Each has a file of its own: its keys, its checks, and what it does, equations that the interpreter
 * calls with numbers, for a value with its slope, and the graph with nodes (lib/graph/expr.h). A row in BRAMAH__ELEMENTS makes it known to everybody: readers of files, compiler, circuit,
 * outputs, parameters, listings. Devices (directional valves, actuators, pump lines) share the keys and the checks;
 * what they do has signatures of its own. Equations and sources: bramah/machine.h.
 *
 * At a kink a slope is the one-sided derivative of the branch that the value takes there; where both branches
 * give the same value (minimum, maximum), that of the second, which is the one that is held constant: a shut valve, an
 * idle compensator, a chamber that is just empty. Openings of a directional valve are the exception, see
 * bramah__openings. */
#ifndef BRAMAH_LIB_HYDRAULICS_ELEMENT_H
#define BRAMAH_LIB_HYDRAULICS_ELEMENT_H

#include <math.h>
#include <stddef.h>
#include "bramah/machine.h"
#include "lib/graph/expr.h"

/* In the order in which a circuit sums them; those that pass oil come first, those with a state last. Files: lib/hydraulics/<name>.c. */
#define BRAMAH__ELEMENTS(X)                                                                                  \
  X(orifice)                                                                                                 \
  X(leakage)                                                                                                 \
  X(check_valve)                                                                                             \
  X(relief_valve)                                                                                            \
  X(pump)                                                                                                    \
  X(motor)                                                                                                   \
  X(overcentre_valve)                                                                                        \
  X(pilot_check_valve)                                                                                       \
  X(load_sensing_pump)                                                                                       \
  X(accumulator)                                                                                             \
  X(line)

/* An element in a circuit. A node is a volume (index < n_volumes) or, above that, a supply. */
#define BRAMAH__NO_NODE ((size_t)-1)
enum { BRAMAH__ELEMENT_VALUES = 8, BRAMAH__OWN_STATE = 2 };
typedef struct bramah__element {
  int kind; /* BRAMAH__KIND(...) */
  /* In the order of the keys: the ports, then the pilot, the drain or BRAMAH__NO_NODE, or the virtual volume of its state where its
   * kind has a rate; of an accumulator node[0] alone. */
  size_t node[3];
  double value[BRAMAH__ELEMENT_VALUES]; /* its quantities in the order of the keys, SI */
} bramah__element;

/* What an element sees of the circuit. */
enum {
  BRAMAH__DP,    /* p0 - p1 [Pa] */
  BRAMAH__PILOT, /* p2 less the pressure that it is counted from [Pa] */
  BRAMAH__LOAD,  /* what the valves at node 1 report of their loads, less p1 [Pa] */
  BRAMAH__STATE, /* its own */
  BRAMAH__N_SEEN
};

/* The quantities of an element, its numbers or what stands for them in a graph. */
typedef struct bramah__quantities {
  const double *number;     /* [BRAMAH__ELEMENT_VALUES] */
  const bramah__expr *node; /* [BRAMAH__ELEMENT_VALUES]; NULL: the numbers */
} bramah__quantities;

static inline bramah__expr e_of(bramah__quantities of, int i)
{
  return of.node ? of.node[i] : e_number(of.number[i]);
}

/* The pressure difference from which on an element passes oil, and how fast its flow grows from there [m^3/s/Pa]. */
typedef struct bramah__kink {
  bramah__expr at, slope;
} bramah__kink;

typedef bramah__expr bramah__element_equation(bramah__quantities of, const bramah__expr *seen,
                                              double transition_pressure);

typedef struct bramah__element_kind {
  bramah_element_kind description;
  /* Flow [m^3/s] from node 0 to node 1 by what it sees [BRAMAH__N_SEEN], for any
   * pressures an iteration may try; or NULL. Below the transition pressure turbulent flow becomes linear in dp. */
  bramah__element_equation *flow;
  /* Flow [m^3/s] from each of the nodes 0 and 1 to the drain, by the pressure above it; or NULL. */
  bramah__expr (*drain)(bramah__quantities of, bramah__expr dp);
  /* dV_oil/dp [m^3/Pa] >= 0 that it adds to its volume, by the pressure p; or NULL. */
  bramah__expr (*compliance)(bramah__quantities of, bramah__expr p);
  /* Rate of its state, a flow [m^3/s^2], by what it sees; or NULL. */
  bramah__element_equation *rate;
  /* Where it opens, of one that is shut below a pressure difference and knows nothing else; or NULL. */
  bramah__kink (*opens)(bramah__quantities of, double transition_pressure);
  int opens_back;          /* 1: by the pressure of node 1 above that of node 0 */
  unsigned sees;           /* 1 << BRAMAH__LOAD and so on: what, besides dp, its flow and rate depend on */
  int pilot_against;       /* the node whose pressure the pilot's counts from: 0 or 1 */
  const char *flow_output; /* name of the output of this flow behind the element's; NULL: ".flow" */
  int levels; /* 1: oil rests only at equal pressures on both sides; 0: it must pass nothing then */
} bramah__element_kind;

#define BRAMAH__KIND(name) BRAMAH__KIND_##name
#define BRAMAH__KIND_ROW(name) BRAMAH__KIND(name),
enum { BRAMAH__ELEMENTS(BRAMAH__KIND_ROW) BRAMAH__N_ELEMENT_KINDS };

#define BRAMAH__KIND_EXTERN(name) extern const bramah__element_kind bramah__##name##_kind;
BRAMAH__ELEMENTS(BRAMAH__KIND_EXTERN)

extern const bramah__element_kind *const bramah__element_kinds[BRAMAH__N_ELEMENT_KINDS];

/* Devices: what is more than two ports. Their tables: directional_valve.c, cylinder.c, metering.c. */
#define BRAMAH__DEVICES(X) X(valve) X(cylinder) X(rotary) X(pump_line) X(metered_cylinder)
#define BRAMAH__DEVICE_EXTERN(name) extern const bramah_element_kind bramah__##name##_kind;
BRAMAH__DEVICES(BRAMAH__DEVICE_EXTERN)

/* Tables of parts: friction (friction.c) and end stops (cylinder.c) in m and N, in rad and N m; openings of the four
 * flow paths of a valve; what turns a pump (pump.c). */
extern const bramah_element_kind bramah__friction_part, bramah__rotary_friction_part, bramah__end_stop_part,
    bramah__rotary_end_stop_part, bramah__ports_part, bramah__drive_part;

/* Elements of a machine in the order of the circuit: how many, how many of them pass oil, how many need
 * equal pressures to rest, how many are a state alone, how many have a state, how many come before the motors; description and (unless
 * NULL) kind of number i. */
typedef struct bramah__element_counts {
  size_t n, passing, levelling, lines, states, before_motors;
} bramah__element_counts;

bramah__element_counts bramah__count_elements(const bramah_machine *machine);
const bramah_named *bramah__element_of(const bramah_machine *machine, size_t i,
                                       const bramah_element_kind **kind);

/* Pumps that joints turn, load-sensing ones last: how many, and the drive and the name of number i; *of (unless NULL) is its number
 * among the pumps, or n_pumps more than that among the load-sensing ones. */
size_t bramah__n_driven(const bramah_machine *machine);
const bramah_drive *bramah__driven(const bramah_machine *machine, size_t i, const bramah_named **named,
                                   size_t *of);

/* Rotary actuators, then motors, then what driven pumps take from their joints, without areas: how many, and number i as a rotary
 * actuator, whose bulk modulus and chambers are 0 if it has no ends. */
size_t bramah__n_turning(const bramah_machine *machine);
bramah_rotary bramah__turning(const bramah_machine *machine, size_t i);

/* The key of quantity number i of an element; NULL behind the last. */
const bramah_element_key *bramah__value_key(const bramah_element_kind *kind, size_t i);

/* Rows of a table of keys. */
#define BRAMAH__NAME_KEY(key, kind_, type_, member, required_)                                               \
  {                                                                                                          \
    .name = (key), .type = (kind_), .offset = offsetof(type_, member), .required = (required_)               \
  }
#define BRAMAH__NODE_KEY(key, type_, member) BRAMAH__NAME_KEY(key, BRAMAH_KEY_NODE, type_, member, 1)
#define BRAMAH__VOLUME_KEY(key, type_, member) BRAMAH__NAME_KEY(key, BRAMAH_KEY_VOLUME, type_, member, 1)
#define BRAMAH__QUANTITY_KEY(key, type_, member, ...)                                                        \
  {                                                                                                          \
    .name = (key), .type = BRAMAH_KEY_QUANTITY, .offset = offsetof(type_, member), __VA_ARGS__               \
  }
#define BRAMAH__FACTOR_KEY(key, unit_, result, ...)                                                          \
  {                                                                                                          \
    .name = (key), .type = BRAMAH_KEY_QUANTITY, .unit = (unit_), .range = BRAMAH_KEY_POSITIVE,               \
    .factor_of = (result), __VA_ARGS__                                                                       \
  }
#define BRAMAH__PART_KEY(key, type_, member, part_)                                                          \
  {                                                                                                          \
    .name = (key), .type = BRAMAH_KEY_PART, .offset = offsetof(type_, member), .part = (part_)               \
  }
/* Two bodies with a point of each. */
#define BRAMAH__ATTACHMENT_KEYS(type_)                                                                       \
  BRAMAH__NAME_KEY("bodies", BRAMAH_KEY_BODIES, type_, body, 1),                                             \
      BRAMAH__NAME_KEY("points", BRAMAH_KEY_POINTS, type_, point, 1)
/* Areas of piston and rod side; files may give diameters. */
#define BRAMAH__AREA_KEYS(type_)                                                                             \
  {.name = "bore", .type = BRAMAH_KEY_DIAMETER, .either = "piston_area"},                                    \
      BRAMAH__QUANTITY_KEY("piston_area", type_, piston_area, .required = 1, .unit = "m^2",                  \
                           .what = "the piston area", .range = BRAMAH_KEY_POSITIVE),                         \
      {.name = "rod", .type = BRAMAH_KEY_DIAMETER, .either = "rod_area"},                                    \
      BRAMAH__QUANTITY_KEY("rod_area", type_, rod_area, .required = 1, .unit = "m^2",                        \
                           .what = "the rod area", .range = BRAMAH_KEY_POSITIVE)

/* The description of a kind: section, name in messages, its structure and its place in bramah_machine. */
#define BRAMAH__DESCRIPTION(section_, name_, type_, members, ...)                                            \
  {                                                                                                          \
    .section = (section_), .name = (name_), .size = sizeof(type_),                                           \
    .array = offsetof(bramah_machine, members), .count = offsetof(bramah_machine, n_##members), __VA_ARGS__  \
  }

#define BRAMAH__FLOW_UNIT "m^3/s/Pa^0.5" /* of C in Q = C sqrt(dp) */

/* sgn(dp) sqrt|dp| [sqrt(Pa)], linear below the transition pressure and continuous there, where the slope is that of
 * the root, half of the linear part's. */
static inline bramah__expr bramah__root_flow(bramah__expr dp, double transition_pressure)
{
  const bramah__expr size = e_abs(dp), transition = e_number(transition_pressure);
  const bramah__expr per_root = e_inv(e_sqrt(e_max(size, transition)));
  return e_with_slope(e_mul(dp, per_root), dp,
                      e_select(e_sub(transition, size), per_root, e_scale(0.5, per_root)));
}

#endif
