/* SPDX-License-Identifier: MIT */
/* The compiled machine: every name resolved to an index, every table ready for the step. */
#ifndef BRAMAH_LIB_MACHINE_MODEL_INTERNAL_H
#define BRAMAH_LIB_MACHINE_MODEL_INTERNAL_H

#include <stdint.h>
#include "bramah/machine.h"
#include "bramah/plant.h"
#include "lib/base/arena.h"
#include "lib/hydraulics/circuit.h"
#include "lib/multibody/closure.h"
#include "lib/multibody/contact.h"
#include "lib/multibody/shape.h"
#include "lib/multibody/forces.h"
#include "lib/multibody/motion.h"
#include "lib/multibody/rotation.h"
#include "lib/multibody/shaft.h"
#include "lib/multibody/tree.h"
#include "lib/terrain/heights.h"

/* What an output of the plant shows. */
typedef enum bramah__output_code {
  BRAMAH__JOINT_POSITION,
  BRAMAH__JOINT_RATE,
  BRAMAH__JOINT_ACCELERATION,
  BRAMAH__VOLUME_PRESSURE,
  BRAMAH__VALVE_SPOOL,
  BRAMAH__CYLINDER_STROKE,
  BRAMAH__CYLINDER_VELOCITY,
  BRAMAH__CYLINDER_FORCE,
  BRAMAH__CYLINDER_FRICTION,
  BRAMAH__INPUT_COMMAND,
  BRAMAH__ENERGY_KINETIC,
  BRAMAH__ENERGY_POTENTIAL,
  BRAMAH__ENERGY_DAMPERS, /* this and the next four in the order of bramah__exchange */
  BRAMAH__ENERGY_FRICTION,
  BRAMAH__ENERGY_STOPS,
  BRAMAH__ENERGY_LOADS,
  BRAMAH__ENERGY_CONTACTS,
  BRAMAH__CYLINDER_WORK,
  BRAMAH__BODY_RATE_X,
  BRAMAH__BODY_RATE_Y,
  BRAMAH__BODY_RATE_Z,
  BRAMAH__ELEMENT_FLOW,
  BRAMAH__VALVE_FLOW_A,
  BRAMAH__VALVE_FLOW_B,
  BRAMAH__MOTOR_FLOW_A, /* by element */
  BRAMAH__MOTOR_FLOW_B,
  BRAMAH__MOTOR_DRAIN,
  BRAMAH__DRIVE_FORCE,
  BRAMAH__DRIVE_WORK,
  BRAMAH__BALL_QW,
  BRAMAH__BALL_QX,
  BRAMAH__BALL_QY,
  BRAMAH__BALL_QZ,
  BRAMAH__BODY_FORCE_X, /* specific force at the origin of the body, see outputs.c */
  BRAMAH__BODY_FORCE_Y,
  BRAMAH__BODY_FORCE_Z,
  BRAMAH__BODY_TURN_X, /* angular acceleration */
  BRAMAH__BODY_TURN_Y,
  BRAMAH__BODY_TURN_Z,
  BRAMAH__BODY_UP_X, /* direction against gravity */
  BRAMAH__BODY_UP_Y,
  BRAMAH__BODY_UP_Z,
  BRAMAH__BODY_RATE_XX, /* products of angular rates */
  BRAMAH__BODY_RATE_YY,
  BRAMAH__BODY_RATE_ZZ,
  BRAMAH__BODY_RATE_XY,
  BRAMAH__BODY_RATE_XZ,
  BRAMAH__BODY_RATE_YZ,
  BRAMAH__METERED_VELOCITY, /* of metered cylinders (by cylinder) and of pump lines: outputs.c */
  BRAMAH__PISTON_PRESSURE,
  BRAMAH__ROD_PRESSURE,
  BRAMAH__METERED_FLOW,
  BRAMAH__REGENERATION_FLOW,
  BRAMAH__METERED_VALVES,
  BRAMAH__LINE_PRESSURE,
  BRAMAH__CONTACT_NORMAL, /* of a contact: the sum over its points, along the axes of the plane, and the deepest */
  BRAMAH__CONTACT_X,
  BRAMAH__CONTACT_Y,
  BRAMAH__CONTACT_DEPTH,
  BRAMAH__TOOL_CARRIED, /* of what soil puts on a tool, in the state */
  BRAMAH__TOOL_X,
  BRAMAH__TOOL_Y,
  BRAMAH__TOOL_Z,
  BRAMAH__TOOL_CUTTING,
  BRAMAH__BETWEEN_X, /* force on the body that is named first */
  BRAMAH__BETWEEN_Y,
  BRAMAH__BETWEEN_Z,
  BRAMAH__BETWEEN_POINTS, /* how many touch; what happened so far */
  BRAMAH__BETWEEN_TOUCHES,
  BRAMAH__BETWEEN_LEAVES,
  BRAMAH__BETWEEN_RESETS,
  BRAMAH__BETWEEN_TOUCHED,
  BRAMAH__BETWEEN_LEFT,
  BRAMAH__DEFINED,    /* by the machine (bramah__definition) */
  BRAMAH__DEFINED_SUM /* one of its sums over time */
} bramah__output_code;

/* Whether an output is one of metered cylinders or pump lines; and there one that counts from the pressure of the tank. */
static inline int bramah__is_metered(bramah__output_code code)
{
  return code >= BRAMAH__METERED_VELOCITY && code <= BRAMAH__LINE_PRESSURE;
}

static inline int bramah__is_from_tank(bramah__output_code code)
{
  return code == BRAMAH__PISTON_PRESSURE || code == BRAMAH__ROD_PRESSURE || code == BRAMAH__LINE_PRESSURE;
}

/* Whether an output is a vector in the axes of a body, and whether that depends on accelerations. */
static inline int bramah__is_of_body(bramah__output_code code)
{
  return (code >= BRAMAH__BODY_RATE_X && code <= BRAMAH__BODY_RATE_Z) ||
         (code >= BRAMAH__BODY_FORCE_X && code <= BRAMAH__BODY_RATE_YZ);
}

static inline int bramah__body_accelerates(bramah__output_code code)
{
  return code >= BRAMAH__BODY_FORCE_X && code <= BRAMAH__BODY_TURN_Z;
}

/* The two components of the rate whose product an output is. */
static inline const size_t *bramah__rate_pair(bramah__output_code code)
{
  static const size_t pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
  return pairs[code - BRAMAH__BODY_RATE_XX];
}

/* What a parameter of the plant changes. */
typedef enum bramah__parameter_code {
  BRAMAH__JOINT_LOAD,        /* force along a joint */
  BRAMAH__CYLINDER_LOAD,     /* force along the line of a cylinder or about the joint of a rotary actuator */
  BRAMAH__PAYLOAD,           /* point mass on a link */
  BRAMAH__LOAD_FORCE,        /* component of the force of a load */
  BRAMAH__SUPPLY_PRESSURE,   /* of a supply */
  BRAMAH__FRICTION_SCALE,    /* factor of the friction of a cylinder or rotary actuator */
  BRAMAH__BULK_MODULUS,      /* of the oil */
  BRAMAH__ELEMENT_VALUE,     /* of an element, see `value` */
  BRAMAH__VALVE_COEFFICIENT, /* of a directional valve */
  BRAMAH__INPUT_OFFSET,      /* added to a command */
  BRAMAH__GRAVITY_SCALE,     /* factor of gravity */
  BRAMAH__LINE_FLOW,         /* of the pump of a pump line */
  BRAMAH__FLOW_SCALE,        /* factor of the flow coefficients of a quasistatic actuator */
  BRAMAH__CONTACT_STIFFNESS, /* of all points or discs of a contact or tyre */
  BRAMAH__CONTACT_DAMPING,
  BRAMAH__CONTACT_FRICTION, /* factor of the friction of a contact, tyre, brake or clutch */
  BRAMAH__CONTACT_BRISTLES, /* stiffness of the bristles of one of these */
  BRAMAH__CONTACT_PATCH,    /* length of the patch of a tyre */
  BRAMAH__SHAFT_PARAMETER,  /* of an engine or commanded torque, see `value` */
  BRAMAH__CONTACT_GROUND    /* height of the ground below a contact or tyre above where the machine has it */
} bramah__parameter_code;

typedef struct bramah__parameter {
  bramah__parameter_code code;
  size_t index; /* of the joint, cylinder, link, supply, ... in the model; >= n: a payload on the ground */
  size_t value; /* of an element or shaft: which of its quantities */
  /* of a payload, frame of the link; of a component of a force: its unit vector in the load's axes */
  double point[3];
  bramah_parameter_info info;
} bramah__parameter;

/* Does it change the rates of bristles, which a step carries over from its start? */
static inline int bramah__bends_bristles(const bramah__parameter *p)
{
  return p->code == BRAMAH__CONTACT_BRISTLES || p->code == BRAMAH__CONTACT_PATCH;
}

/* Spherical joint, or the turning half of a floating one: three coordinates in a row, yaw, pitch and roll. */
typedef struct bramah__ball {
  size_t first; /* joint number of the yaw */
  int pinned;   /* 1: something else acts on one of the angles, so they must stay the coordinates */
} bramah__ball;

/* A welded body: the one that carries it, and its place there. */
typedef struct bramah__weld {
  const char *name, *carrier; /* carrier NULL: the ground */
  double R[9], r[3];          /* from its axes to the carrier's, its origin */
} bramah__weld;

typedef struct bramah__output {
  bramah__output_code code;
  size_t index; /* of the joint, volume, valve, cylinder, input, body, motion, ball or other element */
  bramah_output_info info;
} bramah__output;

/* ---- outputs that the machine defines ----
 *
 * Each is a shape of up to three sums q of products of two factors and a weight. */

typedef enum bramah__factor_kind {
  BRAMAH__FACTOR_ONE,
  BRAMAH__FACTOR_PLACE,       /* coordinate `axis` of a point of a body [m] */
  BRAMAH__FACTOR_DIRECTION,   /* component `axis` of a direction that turns with the body */
  BRAMAH__FACTOR_FIRST_ORDER, /* state `index` */
  BRAMAH__FACTOR_SUPPLY,      /* pressure of a supply [Pa] */
  BRAMAH__FACTOR_FLOW,        /* through an element [m^3/s] */
  BRAMAH__FACTOR_DRAWN,       /* out of a supply [m^3/s] */
  BRAMAH__FACTOR_PARAMETER,
  BRAMAH__FACTOR_SHAFT,  /* view `axis` of a shaft */
  BRAMAH__FACTOR_CARRIED /* soil in a tool [kg] */
} bramah__factor_kind;

typedef struct bramah__factor {
  bramah__factor_kind kind;
  size_t index; /* of the state, supply, element, parameter, body, shaft or tool */
  int axis;
  double local[3]; /* the point or direction, frame of the body */
} bramah__factor;

typedef struct bramah__term {
  size_t sum; /* 0, 1 or 2 */
  double weight;
  bramah__factor factor[2];
} bramah__term;

typedef enum bramah__sums_shape {
  BRAMAH__SUMS_PLAIN,    /* q0 */
  BRAMAH__SUMS_LENGTH,   /* |q| */
  BRAMAH__SUMS_ANGLE,    /* atan2(q0, q1) */
  BRAMAH__SUMS_ELEVATION /* atan2(q0, |q1, q2|) */
} bramah__sums_shape;

typedef struct bramah__definition {
  const char *name, *unit;
  size_t thing; /* columns of one definition of the machine have one number */
  bramah__sums_shape shape;
  int hidden;
  int is_summed; /* over time: what the output shows is then exchange BRAMAH__N_EXCHANGES + sum of the state */
  size_t sum;
  size_t n_terms;
  const bramah__term *term;
} bramah__definition;

/* Contacts that roll or glide (rolling.c): three rows of velocities for a wheel, height first, one for an
 * edge. */
typedef struct bramah__rolling {
  const char *name;
  int is_wheel;
  int body;
  double point[3], axis[3]; /* of a wheel: centre and axis; of an edge: point and normal */
  double radius;
} bramah__rolling;

/* What the state has of a tool: force [N] and torque about the body's origin [N m] in inertial axes, carried mass [kg], cutting
 * force [N]; the first GIVEN are inputs of a program. */
enum { BRAMAH__TOOL_MASS = 6, BRAMAH__TOOL_GIVEN = 7, BRAMAH__TOOL_STATE = 8 };

/* A point or disc whose ground is the field. */
typedef struct bramah__standing {
  size_t point;    /* its number among all of contacts */
  double patch[2]; /* length and width that it presses on [m]; 0 of a point */
} bramah__standing;

/* Two shapes that may touch. Their points lie in a row, at first the law alone. */
typedef struct bramah__meeting {
  size_t contact, shape[2];
  size_t first, n; /* points among all of contacts */
  size_t held;     /* the first one's bramah__held in the state */
} bramah__meeting; /* sorted by the lower and the higher of the two shapes, then by contacts */

typedef struct bramah__met {
  int64_t near; /* points in use */
  int64_t touching, touches, leaves, resets;
  int64_t touched_ns, left_ns; /* 1 + the last time; 0: never */
} bramah__met;

struct bramah_model {
  uint64_t mark; /* bramah__mark_of; must be first */
  int own_memory;
  const char *name;
  size_t n; /* joints = bodies */
  size_t n_loops;
  size_t m; /* constraint rows, redundant ones included: m_loops of the loops, then one for each motion */
  size_t m_loops, n_motions;
  size_t n_dependent, n_independent;
  size_t n_inputs;
  bramah__tree tree;
  const bramah__loop *loop;
  const bramah__motion *motion; /* [n_motions] */
  const bramah__line *line;     /* [n_cylinders] of the circuit */
  size_t n_rotaries;            /* the last ones among them */
  bramah__circuit circuit;
  const char **joint_name, **body_name, **loop_name, **volume_name, **supply_name, **valve_name,
      **cylinder_name, **input_name, **motion_name; /* bodies in the order of their joints */
  const char **element_name, **pump_line_name;
  size_t n_outputs;
  const bramah__output *output;
  size_t n_parameters;
  bramah__parameter *parameter;
  /* initial state, closed */
  double *z0, *zd0, *p0, *U0;
  unsigned char *joint_turns; /* [n] */
  int *index0;                /* [n] dependent coordinates, then independent ones */
  int *row0;                  /* [m] constraint rows in use first */
  double potential0;          /* [J] of the initial pose */
  double closure_tolerance;   /* [m] */
  double usual_pivot;         /* smallest pivot of Phi_z in a pose that is not singular */
  /* States of the circuit that have a rate: the pressures of the volumes. Size of each, which unknowns are scaled by,
   * and the correction that ends an iteration. */
  size_t n_first_order;
  double *first_order_scale, *first_order_tolerance; /* [n_first_order] */
  int64_t step_ns;
  double h; /* [s] */
  double position_tolerance;
  double tolerance; /* of the local error of a position */
  int max_iterations;
  size_t n_bodies_named; /* bodies that are not welded, and those between the links of compound joints */
  size_t n_welds;
  bramah__weld *weld;
  size_t n_balls;
  bramah__ball *ball;
  const char **ball_name;
  size_t *ball_of; /* [n] 1 + the ball whose coordinate a joint is; 0: none */
  double *base0;   /* [n_balls x 4] */
  bramah__forces forces;
  size_t n_contacts, n_contact_points; /* those of tyres and then of brakes last */
  size_t n_tyres, n_discs, n_brakes;   /* clutches are among the brakes, last */
  size_t n_commanded;                  /* brakes with a command, and shafts */
  int leaps;                           /* 1: some command reaches the mechanics without lag */
  size_t n_shafts;
  const bramah__shaft *shaft;     /* [n_shafts] engines, clutches, torques of joints */
  bramah__contact *contact_point; /* [n_contact_points], those of a contact in a row */
  const char **contact_name;      /* [n_contacts] */
  size_t *first_point;            /* [n_contacts + 1] */
  size_t n_friction_states;       /* those of the circuit, then those of the points that rub */
  size_t n_bristles;              /* of these, error states */
  const char **bristle_name;      /* [n_bristles] */
  size_t *bristle_state;          /* [n_bristles] among the friction states */
  bramah_terrain_options terrain; /* nx 0: there is none */
  bramah__heights field;          /* as it is given */
  double field_axes[9];           /* rows: its x, its y, up */
  size_t n_standing;
  bramah__standing *standing;
  size_t n_tools, first_tool; /* those of `terrain`; where the loads of theirs are among all */
  const char **tool_name;
  size_t n_shapes, n_meetings, n_held;
  bramah__shape *shape;
  bramah__meeting *meeting;
  size_t n_between; /* contacts between bodies, behind those with the ground */
  size_t n_rolling;
  bramah__rolling *rolling; /* [n_rolling] wheels, then edges */
  size_t n_definitions, n_sums;
  bramah__definition *definition;
  bramah__term *term;
  bramah_formulation formulation;
  double penalty_factor, penalty_frequency, penalty_damping; /* alpha, Omega, zeta */
};

/* How far the points of a loop are from where they belong [m]. */
double bramah__loop_gap(const bramah__loop *loop, const double *Phi);
/* The loop a constraint equation belongs to, and what is wrong when it does not hold, with its unit. */
size_t bramah__loop_of_row(const bramah_model *model, size_t row);
const char *bramah__row_fault(const bramah__loop *loop, size_t row, const char **unit);

/* "NAME" and "SUFFIX" as one text in the arena, at most 511 characters; name may be NULL. */
const char *bramah__join_text(bramah__arena *arena, const char *name, const char *suffix);

/* "tracks.bristle_x_1": direction a of point i, in the arena. */
const char *bramah__bristle_name(bramah__arena *arena, const char *contact, size_t i, size_t a);

/* Fill the table of outputs (compile.c calls it last); names go to the arena. */
size_t bramah__outputs_count(const bramah_model *model);
void bramah__outputs_build(bramah_model *model, bramah__arena *arena);

/* Length of the error state: independent positions, their rates, first-order states, bristles. */
static inline size_t bramah__n_error(const bramah_model *model)
{
  return 2 * model->n_independent + model->n_first_order + model->n_bristles;
}

#endif
