/* SPDX-License-Identifier: MIT */
/* Description of a machine: bodies, joints, loops, hydraulics. Plain structures that the caller fills (by
 * hand, or with bramah_machine_load of bramah/study.h) and that bramah_model_new compiles and checks. SI
 * units throughout, angles in rad, pressures absolute. Elements refer to each other by name; "ground" is the
 * inertial frame. `line` is the line of the description in its file (0: none) and only serves error messages.
 * Sources: the dissertation that README.md names (D 2.44 is an equation of it) and its publications I to VI. */
#ifndef BRAMAH_MACHINE_H
#define BRAMAH_MACHINE_H

#include <stdint.h>
#include "bramah/status.h"
#include "bramah/terrain.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Point of a body that has a name: "<body>.<point>". */
typedef struct bramah_point {
  const char *name;
  int line;
  double position[3]; /* [m] in the body frame */
} bramah_point;

typedef enum bramah_shape_kind {
  BRAMAH_SHAPE_SPHERE = 1,
  BRAMAH_SHAPE_CAPSULE = 2,
  BRAMAH_SHAPE_BOX = 3,
  BRAMAH_SHAPE_HULL = 4 /* the smallest convex body around its corners */
} bramah_shape_kind;

/* What a body touches others and the ground with (bramah_contact); it has no mass of its own. Body frame. */
typedef struct bramah_shape {
  bramah_shape_kind kind;
  double centre[3];      /* [m] sphere, box */
  double radius;         /* [m] > 0: sphere, capsule */
  double ends[2][3];     /* [m] capsule: the centres of its two caps */
  double size[3];        /* [m] > 0: box, lengths of its edges */
  double rotation[9];    /* box: its axes to those of the body (row-major); all zero: none */
  size_t n_corners;      /* hull: 4 to 32, none inside or on an edge of the others; at most 8 in one face */
  const double *corners; /* [n_corners x 3] m */
} bramah_shape;

/* Rigid body. Its frame is the frame of the joint in front of it (see bramah_joint). */
typedef struct bramah_body {
  const char *name;
  int line;
  double mass;              /* [kg] >= 0 */
  double centre_of_mass[3]; /* [m] in the body frame */
  double inertia[6]; /* [kg m^2] about the centre of mass, body axes: xx yy zz xy xz yz (xy = -integral x y
                        dm: the off-diagonal elements of the inertia matrix as the matrix has them) */
  int payload_point_given; /* 0: the payload sits at the centre of mass */
  double payload_point[3]; /* [m] in the body frame: where the parameter <body>.payload adds its mass */
  size_t n_points;
  const bramah_point *points; /* that outputs of the machine refer to */
  size_t n_shapes;
  const bramah_shape *shapes; /* that it touches with */
} bramah_body;

/* Joints between a parent and a child. A compound joint is a chain of simple ones with massless bodies
 * between them (dissertation 2.4 ff.); each link of the chain is a coordinate of its own, with outputs and an
 * initial value, and goes by the name of the joint and a suffix:
 *
 *   type         coordinates, in the order of the chain
 *   revolute     <joint> [rad] about axis
 *   prismatic    <joint> [m] along axis
 *   fixed        none: the child is welded to the parent and becomes part of it. Its name stays good for
 *                joints, loops, cylinders and forces; its motion is that of the parent (no outputs of its
 *                own).
 *   cylindrical  <joint>_slide [m] along axis, <joint>_turn [rad] about axis
 *   universal    <joint>_first [rad] about axis, <joint>_second [rad] about second_axis, which turns with the
 *                first; the two axes are perpendicular
 *   planar       <joint>_x [m] along second_axis, <joint>_y [m] along axis x second_axis, <joint>_turn [rad]
 *                about axis, the normal of the plane
 *   spherical    <joint>_yaw, <joint>_pitch, <joint>_roll [rad] about z, then the turned y, then the turned x
 *                of the joint axes
 *   floating     <joint>_x, <joint>_y, <joint>_z [m] along the joint axes, then the three angles of a
 *                spherical joint: a body that is held by nothing
 *
 * Spherical and floating joints go through any rotation. Inside, the angles are counted from a base
 * rotation that changes when the pitch goes beyond 1 rad. Outside they are those of the whole rotation:
 * outputs .angle, whose rates and accelerations race near a pitch of +-90 deg as such angles do (the rates
 * of the body do not: use those, and the unit quaternion <joint>.qw, .qx, .qy, .qz of child axes against
 * joint axes, which is continuous; its sign is + at zero angles). As long as the pitch has not gone beyond
 * 1 rad, angles count whole turns; afterwards yaw and roll are within +-pi. Standard deviations and
 * noise of these angles mean small turns of the child about its own z (yaw), y (pitch) and x (roll). A
 * joint spring, damper or rotary actuator on one of the angles keeps them for coordinates; such a joint is
 * singular at a pitch of +-90 deg and a step stops with BRAMAH_E_SINGULAR within about one degree of it. */
typedef enum bramah_joint_type {
  BRAMAH_JOINT_REVOLUTE = 1,
  BRAMAH_JOINT_PRISMATIC = 2,
  BRAMAH_JOINT_FIXED = 3,
  BRAMAH_JOINT_CYLINDRICAL = 4,
  BRAMAH_JOINT_UNIVERSAL = 5,
  BRAMAH_JOINT_PLANAR = 6,
  BRAMAH_JOINT_SPHERICAL = 7,
  BRAMAH_JOINT_FLOATING = 8
} bramah_joint_type;

/* How the starting value of a joint is meant. */
typedef enum bramah_initial {
  BRAMAH_INITIAL_GUESS = 0, /* start of the iteration that closes the loops */
  BRAMAH_INITIAL_GIVEN = 1  /* to be kept; the other joints follow */
} bramah_initial;

/* Stops and cushions at both ends of the stroke of an actuator or of the range of a joint. With d = -l, the
 * depth to which the piston has entered the end of a chamber of length l, and w = -l' its closing speed, a stop
 * pushes back with max(0, k d + c w min(1, d / 0.1 mm)) for d > 0 and a cushion with
 * c_c max(w, 0) min(1, (L - l)/L) for l < L. The sum is part of the cylinder's force. Source: Kelvin-Voigt contact with a damper that sets in over 0.1 mm and a contact
 * that does not pull, so that the force is continuous in position and speed. */
typedef struct bramah_end_stop {
  double stiffness;       /* k [N/m] > 0; 0: no stop, leaving the cylinder is an error */
  double damping;         /* c [N s/m] >= 0 */
  double cushion_length;  /* L [m] > 0; 0: no cushion */
  double cushion_damping; /* c_c [N s/m] > 0 with a length, else 0 */
} bramah_end_stop;

/* Joint between a parent body (or "ground") and the one body behind it. The child frame is the parent frame
 * moved by `position`, turned by `rotation`, then turned about (revolute) or moved along (prismatic) `axis`
 * by z; a compound joint does so once for each of its coordinates. */
typedef struct bramah_joint {
  const char *name;
  int line;
  bramah_joint_type type;
  const char *parent;
  const char *child;
  double position[3];          /* [m] in the parent frame */
  double rotation[9];          /* row-major, child axes to parent axes at z = 0; all zero means identity */
  double axis[3];              /* in joint axes, any length > 0; positive by the right-hand rule */
  double initial_position;     /* [rad] or [m], revolute and prismatic joints */
  double initial_rate;         /* [rad/s] or [m/s] */
  bramah_initial initial;      /* of all its coordinates */
  double second_axis[3];       /* universal and planar joints: perpendicular to axis, in joint axes */
  double initial_positions[6]; /* [rad] or [m], compound joints, in the order of their coordinates */
  double initial_rates[6];     /* [rad/s] or [m/s] */
  double range[2];             /* [rad] or [m] between stops, ascending; revolute and prismatic joints */
  bramah_end_stop stop;        /* in N m and rad where the joint turns; stiffness 0: no stops */
} bramah_joint;

typedef enum bramah_loop_type {
  BRAMAH_LOOP_REVOLUTE = 1,  /* the points coincide, the axes stay parallel: 5 equations */
  BRAMAH_LOOP_SPHERICAL = 2, /* the points coincide: 3 */
  BRAMAH_LOOP_PRISMATIC = 3, /* point 1 stays on the line through point 0 along axis 0, axes and normals stay
                                parallel: 5 */
  BRAMAH_LOOP_UNIVERSAL = 4, /* the points coincide, the axes stay perpendicular: 4 */
  BRAMAH_LOOP_DISTANCE = 5   /* the points keep their distance, as if a massless rod joined them: 1 */
} bramah_loop_type;

/* Cut joint that closes a loop. Equations that say nothing new (in a planar mechanism) do no harm. Two
 * directions that stay parallel may point in the same direction or against each other, as the starting values have
 * them. */
typedef struct bramah_loop {
  const char *name;
  int line;
  bramah_loop_type type;
  const char *body[2];
  double point[2][3];  /* [m] in the frame of body[0], body[1] */
  double axis[2][3];   /* in the axes of body[0], body[1]; any length > 0; revolute, prismatic, universal */
  double normal[2][3]; /* prismatic: directions across the axes that stay parallel and so keep the bodies from
                          turning about the axis; only their part across the axis counts */
  double distance;     /* [m] > 0, distance loops */
} bramah_loop;

/* Spring and damper between two points: they are pulled together with k (s - free_length) + c s', s their
 * distance. Its energy counts in energy.potential. */
typedef struct bramah_spring {
  const char *name;
  int line;
  const char *body[2]; /* "ground" allowed */
  double point[2][3];  /* [m] in the frame of body[0], body[1] */
  double free_length;  /* [m] >= 0 */
  double stiffness;    /* k [N/m] >= 0 */
  double damping;      /* c [N s/m] >= 0 */
} bramah_spring;

/* Spring and damper in a joint: force or torque -k (z - free_position) - c z'. */
typedef struct bramah_joint_spring {
  const char *name;
  int line;
  const char *joint;    /* a coordinate: the name of the joint, for compound joints with its suffix */
  double free_position; /* [rad] or [m] */
  double stiffness;     /* k [N m/rad] or [N/m] >= 0 */
  double damping;       /* c [N m s/rad] or [N s/m] >= 0 */
} bramah_joint_spring;

typedef enum bramah_axes {
  BRAMAH_AXES_INERTIAL = 0, /* of the ground */
  BRAMAH_AXES_BODY = 1      /* of the body: turns with it */
} bramah_axes;

/* Constant force at a point of a body, and constant torque on it. The components of the force are parameters of the plant,
 * <name>.x, .y and .z [N]: an unknown force that a filter estimates is one of zero here. */
typedef struct bramah_force {
  const char *name;
  int line;
  const char *body;
  double point[3];  /* [m] body frame */
  double force[3];  /* [N] */
  double torque[3]; /* [N m] */
  bramah_axes axes; /* of force and torque */
} bramah_force;

typedef enum bramah_motion_type {
  BRAMAH_MOTION_RATE = 1,     /* position + rate t; without a rate the joint is held */
  BRAMAH_MOTION_HARMONIC = 2, /* mean + amplitude sin(2 pi frequency t + phase) */
  BRAMAH_MOTION_TABLE = 3     /* cubic spline through points */
} bramah_motion_type;

/* Prescribed motion z = f(t) of a joint coordinate: a drive that follows its command exactly, whatever force
 * it takes. Time counts from the start of the plant; the joint starts at f(0) with f'(0), and an initial
 * value given for it must agree. A prescribed coordinate is no degree of freedom and carries no error in a
 * filter. Outputs: <name>.force [N, or N m where the joint turns], what the drive exerts along the
 * coordinate, and <name>.work [J] since the start.
 *
 * The spline of a table is the clamped one: rate zero at its first and last point, rate and acceleration
 * continuous between them. Before and behind its times the end positions are held, so the acceleration jumps
 * at the two end points (the rate does not). */
typedef struct bramah_motion {
  const char *name;
  int line;
  const char *joint; /* a coordinate: the name of the joint, for compound joints with its suffix */
  bramah_motion_type type;
  double position;         /* [rad] or [m] at t = 0, type rate */
  double rate;             /* [rad/s] or [m/s] */
  double mean;             /* [rad] or [m], type harmonic */
  double amplitude;        /* [rad] or [m] */
  double frequency;        /* [Hz] > 0 */
  double phase;            /* [rad] */
  size_t n_points;         /* at least 2, type table */
  const double *times;     /* [n_points] s, ascending */
  const double *positions; /* [n_points] rad or m */
} bramah_motion;

typedef enum bramah_friction_model {
  BRAMAH_FRICTION_NONE = 0,
  BRAMAH_FRICTION_BROWN_MCPHEE = 1,   /* D 2.44: coulomb, static, Stribeck velocity, viscous */
  BRAMAH_FRICTION_BENGISU_AKAY = 2,   /* D 2.42: and decay */
  BRAMAH_FRICTION_LUGRE = 3,          /* D 2.45-2.47: and bristles, exponent */
  BRAMAH_FRICTION_MODIFIED_LUGRE = 4, /* D 2.48-2.54: and the lubricant film */
  BRAMAH_FRICTION_VISCOUS = 5         /* F = viscous v */
} bramah_friction_model;

/* Friction of seals, or of points on the ground. Members that the model does not name are not looked at. Source:
 * D 2.42-2.54. */
typedef struct bramah_friction {
  bramah_friction_model model;
  double coulomb;           /* F_c [N] >= 0; > 0 for the LuGre models */
  double static_force;      /* F_s [N] >= F_c */
  double stribeck_velocity; /* v_s [m/s] > 0 */
  double viscous;           /* sigma_2 [N s/m] >= 0 */
  double decay;             /* xi [s/m] > 0: how fast F_s falls to F_c beyond v_s */
  double bristle_stiffness; /* sigma_0 [N/m] > 0 */
  double bristle_damping;   /* sigma_1 [N s/m] >= 0 */
  double stribeck_exponent; /* n > 0 */
  double film_velocity;     /* v_b [m/s] > 0: the film is as thick as it gets from here on */
  double film_time_rising;  /* tau_hp [s] > 0 */
  double film_time_falling; /* tau_hn [s] > 0 */
  double film_time_dwell;   /* tau_h0 [s] > 0, at rest */
} bramah_friction;

typedef enum bramah_contact_law {
  BRAMAH_CONTACT_HUNT_CROSSLEY = 0, /* K d^1.5 (1 + a d') */
  BRAMAH_CONTACT_PENALTY = 1        /* K d + C d' */
} bramah_contact_law;

/* Points of a body that touch a plane of the ground. A point at the depth d > 0 is pushed out along the normal by a
 * force N that never pulls: Hunt and Crossley's K d^1.5 (1 + a d') grows from zero as the point touches, which a step can
 * follow; the restitution is about 1 - 2/3 a v after a blow at the speed v. Penalty: K d + C d', whose damper sets in over
 * the first 0.1 mm as that of an end stop does. In the plane the points rub with LuGre's bristles x (two directions), which
 * are states of the plant, by c N,
 *   x' = w - sigma_0 |w|/g x,  g = mu_c + (mu_s - mu_c) exp(-(|w|/v_s)^n),
 *   c = sigma_0 x + sigma_1/(1 + sigma_1 |w|/g) x' + sigma_2 w,
 * w the velocity along the plane: below mu_s N they stick, give by mu/sigma_0 and do not creep. The damping of the bristles fades as they slide,
 * so that friction never gives energy. A point in the air has no bristles. They are error states of a filter, "<name>.bristle_x_1"
 * and so on, where estimated_bristles of the machine names the contact; all others are held where a step is differentiated by its
 * start, as those of seals are. Source: Hunt and Crossley (1975); dissertation 2.45-2.47
 * as a vector. Outputs, of all points together: <name>.normal_force, .friction_x, .friction_y [N] on the body, along
 * two directions of the plane (x: that of the inertial x axis, or y where that is nearly normal to it), and
 * .penetration [m], the deepest. Energy that contacts take (and give back): energy.contacts.
 *
 * A body without points touches with its shapes: a sphere with its lowest point, a capsule with both ends, a box or hull
 * with its corners. The law is that of a shape that lies on the ground: the ends of a capsule have half of K and C each, the
 * corners of a box a quarter, those of a hull one n-th, n the mean number of corners of its faces.
 *
 * Bodies in `between` touch each other with their shapes, each with each but those that a joint joins, and no ground. Where a
 * flat face takes part the touch is a patch of up to 16 points (8 of two boxes), which is the one face clipped by the other;
 * each has the part of K and C that the edges of the patch next to it are of half its girth, so the law is that of the touch
 * as a whole whatever its points. Edges across each other, spheres and capsules touch in one point, capsules along each other or
 * on a face in two. The force acts on both bodies, opposite and equal. Which features touch is found at the start of every step (and
 * of each part of one that is divided) and held while the step is made: planes in the body that carries them; the normal between
 * spheres and capsules, and where these touch edges and corners, follows the nearest places of what is inside them. Bristles go over to
 * the nearest point of the new patch; where there is none they are let go, which counts as a reset.
 * Source: dissertation, publication IV (14)-(19), with all terms and bars. No C source. Not known: how the normal of two edges that cross turns
 * within the derivatives of a step, and how corners of a patch wander; linearizations with crossing edges that touch are refused. Outputs:
 * <name>.normal_force [N], the sum of its points; .force_x, .force_y, .force_z [N] on the body named first, inertial axes;
 * .penetration [m], the deepest; .points that touch; .touches, .leaves and .resets since the start; .touched_at and .left_at [s],
 * when the last of them happened (NaN: never). All of them at steps. */
typedef struct bramah_contact {
  const char *name;
  int line;
  const char *body;
  size_t n_points;      /* 0: the shapes of the body touch */
  const double *points; /* [n_points x 3] m, body frame */
  int on_terrain;       /* 1: its ground is the machine's terrain, not a plane */
  double ground[3];     /* [m] a point of the plane */
  /* of the plane, out of the ground, any length; zero: against gravity (z without gravity) */
  double normal[3];
  bramah_contact_law law;
  double stiffness; /* K > 0 [N/m^1.5], [N/m] of one point */
  double damping;   /* a [s/m] or C [N s/m] >= 0 */
  /* Per normal force: mu_c, mu_s [1], sigma_0 [1/m], sigma_1, sigma_2 [s/m]. Model LuGre or none. 0 means: static_force as
   * coulomb; v_s 0.1 m/s; n 2; sigma_0 1000 / m; sigma_1 2 sqrt(sigma_0/9.81 m/s^2), critical for a body under its own
   * weight. */
  bramah_friction friction;
  size_t n_between; /* 0: a contact with the ground; else at least 2, and no body, points, ground or normal */
  /* [n_between] bodies; ones that are welded to the ground stand for what stands there */
  const char *const *between;
} bramah_contact;

/* Values of a tyre's friction: those of publications IV and V as far as they are known, on soil; a car's on asphalt. */
typedef enum bramah_tyre_set {
  /* sigma_0 100/m, sigma_1 0.7 s/m, sigma_2 0.011 s/m, mu_c 0.35, mu_s 0.5, v_s 10 m/s */
  BRAMAH_TYRE_TRACTOR = 0,
  /* 40/m, 4.9487 s/m, 0.0018 s/m, 0.5, 0.9, 12.5 m/s (Canudas de Wit and Tsiotras 1999) */
  BRAMAH_TYRE_LITERATURE = 1
} bramah_tyre_set;

/* Tyre of a wheel that turns with its body: discs side by side, each of which touches a plane of the ground with the lowest
 * point of its rim and is pushed out by K d + C d', which never pulls and whose damper sets in over 0.1 mm. There it rubs
 * as the point of a contact does, with bristles x in the axes of the wheel (forwards axis x normal, and to the side) and
 * the slip w, the velocity of the rim along the plane,
 *   x' = w - Y x,  Y = sigma_0 |w|/g + kappa |r Omega|,  g = mu_c + (mu_s - mu_c) exp(-(|w|/v_s)^n),
 *   c = sigma_0 x + sigma_1/(1 + sigma_1 Y/sigma_0) x' + sigma_2 w,
 * Omega the rate about the axis: who rolls leaves bent bristles behind and takes up straight ones, kappa = 2/L of a patch
 * of the length L, which gives small slips s the force sigma_0/kappa s of a brush. kappa = 0, a patch without end, is the
 * lumped model as printed, which slides fully at any slip. Source: publications IV (20)-(22) and V (26)-(28) of the
 * dissertation; (IV 21) lacks bars around the slip and runs away in reverse, (V 26) takes magnitudes and leaps when the slip
 * turns: both are mistakes, the vector form is meant. The damping fades, so that the tyre never gives energy; as
 * printed it does above |w| = 4 g/sigma_1. kappa: Canudas de Wit, Tsiotras, Velenis, Basset, Gissinger (2003). Outputs, of
 * all discs together: <name>.normal_force, .longitudinal_force, .lateral_force [N] on the wheel, forwards and to the side,
 * and .penetration [m], the deepest. Energy: energy.contacts. */
typedef struct bramah_tyre {
  const char *name;
  int line;
  const char *body;         /* the wheel */
  double centre[3];         /* [m] in its frame */
  double axis[3];           /* in its frame, any length; zero: that of the revolute joint in front of it */
  double radius;            /* r > 0 [m], without load */
  double width;             /* >= 0 [m], over which discs are spread evenly */
  int n_discs;              /* 0: one without width, else three */
  int on_terrain;           /* as of a contact */
  double ground[3];         /* [m] a point of the plane */
  double normal[3];         /* as of a contact */
  double stiffness;         /* K > 0 [N/m] of all discs */
  double damping;           /* C >= 0 [N s/m] of all discs */
  double patch_length;      /* L > 0 [m]; 0: 1/3 m */
  bramah_tyre_set set;      /* gives values of friction that are 0, and n = 1/2 */
  bramah_friction friction; /* otherwise as of a contact; its model is not looked at */
} bramah_tyre;

/* A cone on a terrain, at the angle of repose. */
typedef struct bramah_heap {
  double at[2];  /* [m] in the frame of the field */
  double height; /* > 0 [m], above the level of the field */
} bramah_heap;

/* Ground that is no plane: a field of columns (bramah/terrain.h). Its axes are up against gravity, and as those of a contact's plane
 * across it: x that of the inertial x axis (or y), y to its left; its origin is the inertial one. Where neighbouring heights differ
 * by more than the angle of repose, soil is about to slump. Contacts and tyres on it see, each by itself, the plane that touches
 * the field below them, bilinear height and normal there, which is held over a step and taken anew before the next: with it
 * steps are what they are on planes. A plant stands on the field as it is given here and leaves it alone; a worksite
 * (bramah/worksite.h) has soil that moves. */
typedef struct bramah_machine_terrain {
  int line;
  /* nx 0: there is none. Gravity and tools are those of the machine; sinking 0.5 m/s (bramah_machine_default). */
  bramah_terrain_options options;
  double level;          /* [m] of the flat field */
  const double *heights; /* [nx x ny, m] in its place; NULL: it is flat */
  size_t n_heaps;
  const bramah_heap *heaps; /* on it, the higher one where two meet */
} bramah_machine_terrain;

/* A tool of a body that moves through the soil of a worksite: a bucket, a blade. What the soil puts on it acts on the body from
 * step to step; a plant without a worksite meets no soil. Outputs, those of the last step: <name>.carried [kg], the mass of the particles that touch
 * the box around its plates; <name>.force_x, .force_y, .force_z [N] on the body, in inertial axes; <name>.cutting_force [N], the size of the
 * part of it that the wedges before its edge ask for. Energy: in energy.loads. */
typedef struct bramah_machine_tool {
  const char *name;
  int line;
  const char *body;
  bramah_tool tool; /* in the frame of the body; blade 0: to the first point of the profile */
  /* A bucket by its side: from the middle of the edge to these points [n_profile x 3, m], 7 at most, go plates as wide as the edge,
   * and two sides close it, besides the plates of `tool`. With an edge only. */
  size_t n_profile;
  const double *profile;
} bramah_machine_tool;

/* A command u of an element: its lag is that of a spool (bramah_valve), and the part u/limit of what the element has is
 * at work, nothing for u <= 0 V (of a joint torque both signs). Of a pump it is the part of its speed. Output
 * <element>.drive.spool [V] of pumps, .command.spool, .throttle.spool, .gear.spool of others. */
typedef struct bramah_drive {
  const char *input;    /* NULL: there is no command, and all of it is at work */
  double limit;         /* [V] > 0: command of the whole; commands beyond it are taken as it */
  double time_constant; /* [s] >= 0; of what is no pump and no gear 0 means 0.02 s, and 0 V of limit 10 V */
  double initial;       /* [V] at the start, within the limit */
  /* Of a pump, in place of the input: a joint that turns, as an engine's crankshaft, turns the pump, which loads it with the
   * power of its flow: torque = -ratio/speed x Q (p_into - p_from)/efficiency, Q at `speed`; nothing where the pressure
   * difference is negative or the pump stands or turns back (it fades in over 1 % of the speed). Outputs then: <pump>.angle
   * [rad] and .rate [rad/s] of the joint, .torque [N m] on it and .work [J], which is one of the actuators'. */
  const char *joint;
  double ratio;      /* turns of the pump per turn of the joint; 0: 1 */
  double speed;      /* > 0 [rad/s] of the pump at its full flow; of a load-sensing pump 0 means its own */
  double efficiency; /* of the whole, > 0; 0: 1 */
} bramah_drive;

/* Brake of a joint that turns, pressed for good or as far as a command presses it: up to its static torque it holds the joint,
 * which gives by 1/sigma_0; beyond that it slides with the law of a contact's friction, in which the torque has the place of
 * mu N. A command takes the same part of both torques. (What presses the bent bristles harder does work on them, at most
 * torque/2 sigma_0, which comes from outside.) Outputs: <name>.torque [N m] on the child; its energy is in
 * energy.contacts. */
typedef struct bramah_brake {
  const char *name;
  int line;
  const char *joint;        /* a coordinate that turns */
  double torque;            /* > 0 [N m] */
  double static_torque;     /* [N m]; 0: as torque */
  double stribeck_velocity; /* [rad/s]; 0: 0.1 rad/s */
  double bristle_stiffness; /* sigma_0 [1/rad]; 0: 1000/rad */
  double bristle_damping;   /* sigma_1 [s/rad]; 0: as of a contact */
  bramah_drive command;     /* without input: pressed for good */
} bramah_brake;

/* Engine on a joint that turns, its crankshaft: the body behind the joint has the inertia, and the engine turns it forwards along
 * the joint's axis with throttle x full-load torque, straight between the points, level beyond them and rounded within
 * `rounding` of each, less its friction (tanh of the speed in rad/s). Where there is an idle speed a governor opens the throttle
 * below it, fully at `idle_band` below. Fuel, where there is a consumption: max(idle_fuel, b T w), b = b_0 (1 + t (1 - T/T_0)^2 +
 * s (w/w_0 - 1)^2), T before friction. There is no turbo and no warm-up; below its points the first torque stays. Below
 * the speed `stall`, where there is one, it gives nothing and takes no fuel; both set in over the next quarter of that. Stalled, it is
 * started again by what turns it: a commanded torque on its joint, or the machine that rolls in gear. Outputs:
 * <name>.torque [N m] before friction, .work [J] of that; with a consumption .fuel_rate [kg/s] and .fuel [kg] since the start. Energy,
 * friction taken off: energy.loads. */
typedef struct bramah_engine {
  const char *name;
  int line;
  const char *joint;              /* a coordinate that turns */
  size_t n_points;                /* >= 2 of the full-load curve */
  const double *speeds, *torques; /* [n_points] rad/s, ascending; N m, >= 0 */
  /* [rad/s] < half the distance of any two points; 0: 2 rad/s, or as much as there is room for */
  double rounding;
  double friction;                /* >= 0 [N m] */
  double idle_speed;              /* [rad/s]; 0: no governor */
  double idle_band;               /* [rad/s]; 0: 10 rad/s */
  double stall;                   /* [rad/s], below 0.8 idle_speed; 0: it never stalls */
  double consumption;             /* b_0 [kg/J]; 0: fuel is not shown */
  double best_torque, best_speed; /* T_0 > 0 [N m], w_0 > 0 [rad/s] */
  double torque_loss, speed_loss; /* t, s >= 0 */
  double idle_fuel;               /* >= 0 [kg/s] */
  bramah_drive throttle;          /* without input: full */
} bramah_engine;

/* Clutch between a joint that drives, as the crankshaft, and one or more that are driven, as the two wheels of an axle behind a
 * differential, all of them turning: friction T of the slip s = w_driving - i sum(share w_driven), which drives them with i share T
 * each and holds what drives them back with T. It is that of a brake: up to T_c u it sticks, and gives as a torsional spring k with
 * a damper c in parallel (both as far as it is pressed, times u); beyond that it slides with T_c u. The ratio i is that of the gear
 * whose number is nearest to the command `gear` (none is within 0.5: neutral), or constant. Equal shares of two wheels are an open
 * differential; a clutch between the two wheels locks it. Gears and differentials have neither inertia nor losses, and a gear is
 * changed at once. Outputs: <name>.torque [N m], <name>.heat [J] since the start (with what its spring holds). Energy:
 * energy.contacts. */
typedef struct bramah_clutch {
  const char *name;
  int line;
  const char *driving;
  size_t n_driven; /* 1 ... 8 */
  const char *const *driven;
  size_t n_shares;      /* 0: the mean of them */
  const double *shares; /* [n_driven] not 0 */
  double torque;        /* T_c > 0 [N m] */
  double stiffness;     /* k [N m/rad]; 0: 50 T_c a radian */
  double damping;       /* c [N m s/rad]; 0: 5 ms k */
  double ratio;         /* without gears, not 0; 0: 1 */
  size_t n_gears;
  const double *gears, *ratios; /* [n_gears] whole numbers, ascending; not 0 */
  bramah_drive command;         /* without input: engaged for good */
  bramah_drive gear;            /* its input is needed where there are gears */
} bramah_clutch;

/* Torque along a joint that turns, by a command of either sign: u/limit of it, no more than power/|w|. Outputs: <name>.torque [N m],
 * <name>.work [J]. Energy: energy.loads. */
typedef struct bramah_joint_torque {
  const char *name;
  int line;
  const char *joint;
  double torque;        /* > 0 [N m] */
  double power;         /* [W]; 0: no limit */
  bramah_drive command; /* its input is needed */
} bramah_joint_torque;

/* Wheel that rolls without slipping on a plane: a thin disc of this radius about an axis of its body, which
 * touches the plane at its lowest point. The plane goes through the inertial origin, across gravity (across z
 * where there is no gravity). The contact keeps its height, one holonomic equation, and the material point at
 * it stands still, two nonholonomic ones. */
typedef struct bramah_wheel {
  const char *name;
  int line;
  const char *body;
  double centre[3]; /* [m] in the body frame */
  double axis[3];   /* in the body frame, any length > 0 */
  double radius;    /* [m] > 0 */
} bramah_wheel;

/* Knife edge (skate, blade, idealised trailer axle): a point of a body that does not move along a direction
 * of the body. One nonholonomic equation. */
typedef struct bramah_knife_edge {
  const char *name;
  int line;
  const char *body;
  double point[3];  /* [m] in the body frame */
  double normal[3]; /* across the blade, in the body frame, any length > 0 */
} bramah_knife_edge;

/* Node of constant pressure: pump or tank. */
typedef struct bramah_supply {
  const char *name;
  int line;
  double pressure; /* [Pa] absolute */
} bramah_supply;

/* A hose that belongs to a volume: it adds its own volume and yields. */
typedef struct bramah_hose {
  double volume;       /* [m^3] */
  double bulk_modulus; /* [Pa] of the wall */
} bramah_hose;

typedef enum bramah_pressure_initial {
  BRAMAH_PRESSURE_GIVEN = 0,
  BRAMAH_PRESSURE_EQUILIBRIUM = 1 /* so that nothing accelerates and nothing flows at the initial pose */
} bramah_pressure_initial;

/* Lumped fluid volume: its hoses and the chambers of cylinders and rotary actuators that name it. */
typedef struct bramah_volume {
  const char *name;
  int line;
  size_t n_hoses;
  const bramah_hose *hoses;
  double initial_pressure; /* [Pa] absolute; ignored for BRAMAH_PRESSURE_EQUILIBRIUM */
  bramah_pressure_initial initial;
} bramah_volume;

/* Orifice: Q = C sgn(dp) sqrt|dp| from `from` to `to`. Orifices, leakages, check valves, relief valves and
 * pumps share one list of names: each has an output <name>.flow [m^3/s], positive in the direction its
 * description gives it. */
typedef struct bramah_orifice {
  const char *name;
  int line;
  const char *from, *to;   /* volume or supply */
  double flow_coefficient; /* C = C_d A sqrt(2/rho) [m^3/(s sqrt(Pa))] > 0 */
} bramah_orifice;

/* Piecewise-linear characteristic of a valve: effective opening over the spool, flat beyond its ends. */
typedef struct bramah_characteristic {
  size_t n_points;        /* 0: none; else at least 2 */
  const double *spools;   /* [n_points] V, ascending */
  const double *openings; /* [n_points] V */
} bramah_characteristic;

/* The four flow paths of a directional valve. */
typedef enum bramah_port {
  BRAMAH_PORT_PUMP_A = 0,
  BRAMAH_PORT_B_TANK = 1,
  BRAMAH_PORT_A_TANK = 2,
  BRAMAH_PORT_PUMP_B = 3
} bramah_port;
enum { BRAMAH_N_PORTS = 4 };

/* Where the pressure compensator of a valve sits. */
typedef enum bramah_compensator {
  BRAMAH_COMPENSATOR_NONE = 0,
  BRAMAH_COMPENSATOR_BEFORE = 1,
  BRAMAH_COMPENSATOR_AFTER = 2
} bramah_compensator;

/* 4/3 directional valve with first-order spool. U > 0 opens pump -> a and b -> tank; U < 0 a -> tank, pump ->
 * b. Each flow path passes Q = C_vd e sgn(dp) sqrt|dp| with its effective opening e(U) >= 0 [V]. Without further
 * description e = |U| on the paths that U opens. A dead band d makes it max(|U| - d, 0). A characteristic c(U)
 * makes it c on pump -> a and b -> tank where c > 0, -c on the two others where c < 0. A characteristic of a
 * flow path of its own is e itself and goes before both (overlap, underlap, unequal edges). Its outputs
 * <name>.flow_a and <name>.flow_b [m^3/s] are the flows out of the valve into a and b: less than zero where
 * oil comes back to the tank.
 *
 * Pressure compensators, ideal ones, act on the two paths from the pump, which then let no oil back to it (load check).
 * One before the spool holds the pressure difference over the metering edge at compensator_pressure p_c:
 *   Q = C_vd e q(min(p_pump - p_port, p_c)), 0 where that is negative: the section with the highest load starves first.
 * One after the spool holds the pressure behind the edge at the highest load p_LS that valves on the same pump report:
 *   Q = C_vd e q(p_pump - max(p_port, p_LS)), 0 where negative: all sections shrink alike where the pump cannot follow.
 * Every valve reports, with or without a compensator: the pressure of the port that it feeds, from an opening of 2 % of
 * the limit on, that of its tank where it feeds none, in between linearly. Source: load-sensing and flow-sharing valves,
 * steady characteristics. */
typedef struct bramah_valve {
  const char *name;
  int line;
  const char *pump, *tank, *a, *b; /* volume or supply */
  double flow_coefficient;         /* [m^3/(s sqrt(Pa) V)] > 0: Q = C_vd U sgn(dp) sqrt|dp| */
  double time_constant; /* [s] 0: the spool is where the command has it at once; below half a step the
                           trapezoidal rule overshoots */
  double limit;         /* [V] > 0: commands beyond +-limit are taken as +-limit */
  double initial_spool; /* [V] */
  const char *input;    /* the command that moves it */
  double dead_band;     /* [V] 0 <= d < limit */
  bramah_characteristic characteristic;        /* instead of a dead band */
  bramah_characteristic ports[BRAMAH_N_PORTS]; /* by bramah_port; openings >= 0 */
  bramah_compensator compensator;
  double compensator_pressure; /* p_c [Pa] > 0 before the spool, else 0 */
} bramah_valve;

/* Double-acting cylinder between two attachment points. Its stroke s is the distance between them (the |s| of
 * the papers); chamber lengths are l_piston = piston_chamber_length + (s - reference_stroke) and l_rod =
 * rod_chamber_length - (s - reference_stroke). Positive force pushes the points apart. */
typedef struct bramah_cylinder {
  const char *name;
  int line;
  const char *body[2];          /* barrel side, rod side; "ground" allowed */
  double point[2][3];           /* [m] in the frame of body[0], body[1] */
  const char *piston_volume;    /* volume that fills the piston chamber */
  const char *rod_volume;       /* volume that fills the rod chamber */
  double piston_area;           /* [m^2] */
  double rod_area;              /* [m^2] annulus */
  double bulk_modulus;          /* [Pa] of the barrel wall */
  double reference_stroke;      /* [m] */
  double piston_chamber_length; /* [m] at the reference stroke */
  double rod_chamber_length;    /* [m] at the reference stroke */
  bramah_friction friction;
  bramah_end_stop end_stop; /* with one, both volumes need a hose */
} bramah_cylinder;

/* Rotary actuator, of vanes or rack and pinion, on a joint coordinate z that turns: the cylinder whose stroke
 * is an angle. Torque D (p_a - p_b) - friction + stops, positive with z; chamber volumes V_a = D (a_angle + z
 * - reference_angle) and V_b = D (b_angle - z + reference_angle); flow D z' into a and out of b. Its friction
 * and end stop are those of a cylinder in N m and rad: coulomb [N m], stribeck_velocity [rad/s], stiffness [N
 * m/rad], cushion_length [rad], and so on; a stop's damper sets in over 0.1 mrad. Cylinders and rotary
 * actuators share one list of names, and no joint coordinate may have the name of a rotary actuator: both
 * have outputs .angle and .rate. */
typedef struct bramah_rotary {
  const char *name;
  int line;
  const char *joint;        /* a coordinate: the name of the joint, for compound joints with its suffix */
  const char *a_volume;     /* volume that fills the chamber that grows with z */
  const char *b_volume;     /* volume that fills the other */
  double displacement;      /* D [m^3/rad] > 0 */
  double bulk_modulus;      /* [Pa] of the housing */
  double reference_angle;   /* [rad] */
  double a_angle;           /* [rad] > 0 at the reference angle: V_a0 / D */
  double b_angle;           /* [rad] > 0 at the reference angle: V_b0 / D */
  bramah_friction friction; /* N m, rad */
  bramah_end_stop end_stop; /* N m, rad; with one, both volumes need a hose */
} bramah_rotary;

/* Hydraulic motor on a joint coordinate z that turns, without ends: it turns as far as it likes. With the ratio
 * i of the gear between (turns of the motor per turn of the joint) the torque on the joint is i D (p_a - p_b) -
 * friction, positive with z, and the flow i D z' into a and out of b; k (p_a - p_b) leaks from a to b. With a drain
 * k_d (p_a - p_d) and k_d (p_b - p_d) leak into the case and out of it into the drain. Friction is that of a rotary
 * actuator, counted at the joint; it makes the mechanical efficiency 1 - friction / (i D (p_a - p_b)), the leakages the
 * volumetric one. The oil inside counts as rigid: both volumes need a hose or a chamber. Outputs: those of a rotary
 * actuator, <name>.leakage_flow from a to b, and at its ports <name>.flow_a into it, <name>.flow_b and <name>.drain_flow
 * out of it [m^3/s], flow_a = flow_b + drain_flow. Motors share one list of names with cylinders and rotary actuators.
 * Source: Merritt (1967), hydraulic motors. */
typedef struct bramah_motor {
  const char *name;
  int line;
  const char *joint; /* a coordinate: the name of the joint, for compound joints with its suffix */
  const char *a_volume, *b_volume;
  double displacement;      /* D [m^3/rad] > 0 of the motor shaft */
  double gear_ratio;        /* i > 0; 0 means 1 */
  double leakage;           /* k [m^3/(s Pa)] >= 0 */
  const char *drain;        /* volume or supply, or NULL */
  double drain_leakage;     /* k_d [m^3/(s Pa)] >= 0; 0 without a drain */
  bramah_friction friction; /* N m, rad, at the joint */
} bramah_motor;

/* Line between two nodes with the inertia of its oil: its flow Q, positive from `from` to `to`, is a state of the plant,
 *   Q' = A/(rho l) (p_from - p_to - 128 mu l/(pi d^4) Q - zeta rho/(2 A^2) Q |Q|),   A = pi d^2/4:
 * laminar friction (Hagen-Poiseuille) and what bends, fittings and turbulence lose. Its compliance belongs to the hoses
 * of the volumes at its ends. Two volumes of compliance C at the ends of a line swing with w^2 = 2 A/(rho l C). Output
 * <name>.flow [m^3/s]; parameter <name>.viscosity. Source: Merritt (1967), transmission lines, lumped. */
typedef struct bramah_inertial_line {
  const char *name;
  int line;
  const char *from, *to; /* volume or supply */
  double length;         /* l [m] > 0 */
  double diameter;       /* d [m] > 0 */
  double density;        /* rho [kg/m^3] > 0 */
  double viscosity;      /* mu [Pa s] >= 0, dynamic */
  double loss;           /* zeta >= 0 */
  double initial_flow;   /* [m^3/s] */
} bramah_inertial_line;

/* Laminar leakage between two nodes: Q = k (p_from - p_to). With `cylinder`, which may be a rotary actuator,
 * it passes that cylinder's piston, from the piston to the rod volume (a to b), and `from`, `to` are NULL.
 * Source: Merritt, Hydraulic Control Systems (1967), laminar flow through clearances. */
typedef struct bramah_leakage {
  const char *name;
  int line;
  const char *from, *to; /* volume or supply */
  const char *cylinder;  /* or NULL */
  double conductance;    /* k [m^3/(s Pa)] > 0 */
} bramah_leakage;

/* Check valve: Q = C q(dp - p_c) for dp = p_from - p_to above the cracking pressure p_c, 0 below; q(x) =
 * sgn(x) sqrt|x|, linear below the transition pressure. Continuous. Source: the orifice of dissertation 2.32
 * ff. with a spring in front. */
typedef struct bramah_check_valve {
  const char *name;
  int line;
  const char *from, *to;    /* volume or supply */
  double flow_coefficient;  /* C [m^3/(s sqrt(Pa))] > 0 */
  double cracking_pressure; /* p_c [Pa] >= 0, a difference */
} bramah_check_valve;

/* Relief valve: Q = C y q(dp) with the opening y = (dp - p_set) / p_o held within 0 and 1, dp = p_from -
 * p_to. Nothing passes below the setting; from p_set + p_o on it is an orifice. Continuous. Source: steady
 * characteristic, Merritt (1967), pressure-control valves. */
typedef struct bramah_relief_valve {
  const char *name;
  int line;
  const char *from, *to;   /* volume or supply */
  double flow_coefficient; /* C [m^3/(s sqrt(Pa))] > 0, fully open */
  double set_pressure;     /* p_set [Pa] > 0, a difference */
  double override;         /* p_o [Pa] > 0: overpressure of full opening */
} bramah_relief_valve;

/* Overcentre (counterbalance) valve between an actuator's volume and its directional valve; its flow counts from the load
 * on. With dp = p_load - p_valve oil goes to the load through a check valve, Q = -C_c q(-dp - p_c) for -dp > p_c, and back as
 * far as load and pilot open it,
 *   Q = C y q(dp) for dp > 0,   y = (dp + R (p_pilot - p_valve) - p_set) / p_o held within 0 and 1:
 * a pressure behind the valve acts against it 1 + R times, as where the spring chamber is not vented. Without pilot pressure it
 * is a relief valve. Continuous. Source: steady characteristic of counterbalance valves. */
typedef struct bramah_overcentre_valve {
  const char *name;
  int line;
  const char *load, *valve, *pilot; /* volume or supply */
  double flow_coefficient;          /* C [m^3/(s sqrt(Pa))] > 0, fully open */
  double set_pressure;              /* p_set [Pa] > 0, a difference */
  double override;                  /* p_o [Pa] > 0: of full opening */
  double pilot_ratio;               /* R > 0 */
  double check_flow_coefficient;    /* C_c > 0; 0 means C */
  double cracking_pressure;         /* p_c [Pa] >= 0 of the check valve */
} bramah_overcentre_valve;

/* Pilot-operated check valve: that of bramah_check_valve, which a pilot opens against its flow, from `to` to `from`:
 *   Q = -C y q(-dp) for dp = p_from - p_to < 0,   y = (dp + R (p_pilot - p_from) - p_c) / p_o held within 0 and 1. */
typedef struct bramah_pilot_check_valve {
  const char *name;
  int line;
  const char *from, *to, *pilot; /* volume or supply */
  double flow_coefficient;       /* C [m^3/(s sqrt(Pa))] > 0 */
  double cracking_pressure;      /* p_c [Pa] >= 0, a difference */
  double pilot_ratio;            /* R > 0 */
  double override;               /* p_o [Pa] > 0: of full opening by the pilot; 0 means 5e5 */
} bramah_pilot_check_valve;

/* Pump: Q from `from` into `into`, whatever the pressures; with a pressure compensator (set_pressure > 0) the
 * flow falls linearly from Q at dp = p_set - band to zero at p_set, dp = p_into - p_from. It never turns
 * back. Its losses are a leakage of their own. */
typedef struct bramah_pump {
  const char *name;
  int line;
  const char *from;    /* volume or supply */
  const char *into;    /* volume */
  double flow;         /* Q [m^3/s] > 0: displacement times speed */
  double set_pressure; /* p_set [Pa] a difference; 0: no compensator */
  double band;         /* [Pa] 0 < band <= p_set with a compensator, else 0 */
  bramah_drive drive;  /* Q is then the flow at full speed */
} bramah_pump;

/* Pump with a load-sensing controller: its flow q from `from` into `into` makes the pressure there a margin higher than
 * the highest load that the valves report whose pump port is that volume (bramah_valve). With lacks =
 * min(load + margin, p_from + cut_off) - p_into, without a cut-off the first alone,
 *   q = Q_s + D w lacks / band, held within 0 and D w min(1, T/(D (p_into - p_from))),   Q_s' = (q - Q_s)/time_constant:
 * a step in what is drawn sinks the pressure by as much of the band as it is of the full flow, and the displacement
 * makes up for it with the time constant. At rest lacks = 0, or the pump is at one of its ends: full displacement, the
 * torque T, or no flow. With a volume of compliance C the controller is well damped for time_constant > 4 C band/(D w).
 * State is Q_s, output <name>.settled_flow [m^3/s], besides <name>.flow, which is q; parameters <name>.displacement and
 * <name>.margin. Its losses are a leakage of their own. Sources: steady characteristic of load-sensing pumps with pressure
 * cut-off and torque control; the controller is ours. */
typedef struct bramah_load_sensing_pump {
  const char *name;
  int line;
  const char *from;     /* volume or supply */
  const char *into;     /* volume; the pump port of one valve at least */
  double displacement;  /* D [m^3/rad] > 0, full */
  double speed;         /* w [rad/s] > 0 */
  double margin;        /* [Pa] > 0 */
  double cut_off;       /* [Pa] a difference to `from`; 0: none */
  double torque_limit;  /* T [N m]; 0: none */
  double band;          /* [Pa] > 0; 0 means 1e6 */
  double time_constant; /* [s] > 0; 0 means 0.1 */
  double initial_flow;  /* Q_s at the start [m^3/s], 0 ... D w */
  bramah_drive drive;   /* w is then the full speed; what is delivered is u/limit of q */
} bramah_load_sensing_pump;

/* Gas-loaded accumulator on a volume. Above its precharge the gas follows p V^n = p0 V0^n and adds the
 * compliance V / (n p) to its volume; below 0.9 p0 it is empty of oil and adds none; between, the compliance
 * is V0 / (n p0) x^4 with x = (p - 0.9 p0) / (0.1 p0), so that pressure rates are continuous and an
 * accumulator that runs empty does not make them leap within a step. Source: polytropic gas without heat
 * exchange, Merritt (1967), accumulators; the transition is ours. */
typedef struct bramah_accumulator {
  const char *name;
  int line;
  const char *volume;
  double gas_volume; /* V0 [m^3] > 0 at the precharge */
  double precharge;  /* p0 [Pa] > 0 absolute */
  double exponent;   /* n >= 1: 1 slow (isothermal), 1.4 fast (adiabatic); 0 means 1.4 */
} bramah_accumulator;

/* Valve with one flow path that is open at a constant part, or that a command opens: fully at the limit, not at
 * all at zero and below. */
typedef struct bramah_metering_valve {
  double flow_coefficient; /* C [m^3/(s sqrt(Pa))] > 0 fully open; 0: there is no such valve */
  double opening;          /* 0 ... 1, without an input */
  const char *input;       /* or NULL */
  double time_constant;    /* [s] >= 0 of its spool: 0: it follows at once */
  double limit;            /* [V] > 0 with an input */
} bramah_metering_valve;

/* Line of a pump that delivers Q, with a relief valve, which opens at its setting whatever the flow, and
 * perhaps an unloading valve back to the tank. Metered cylinders that name it share it: its pressure is the one at
 * which their flows and these balance. Output: <name>.pressure [Pa]. */
typedef struct bramah_pump_line {
  const char *name;
  int line;
  const char *tank;                /* supply */
  double flow;                     /* Q [m^3/s] > 0 */
  double set_pressure;             /* P_M [Pa] > 0 above the tank */
  bramah_metering_valve unloading; /* may be missing: then the relief valve takes what nobody draws */
} bramah_pump_line;

/* Quasistatic cylinder: incompressible oil behind four metering valves (pump -> a and b -> tank extend, a ->
 * tank and pump -> b retract; a is the piston side), check valves from the line, ideal relief and suction
 * valves at both chambers, and perhaps a regeneration valve from the rod to the piston side, which passes
 * while the cylinder extends. Force and velocity determine each other; where all valves are closed and none
 * of the reliefs opens, the actuator stands still whatever the load. A viscoelastic element of stiffness K
 * and damping B between actuator and rod makes that a rate: state is its load pressure pi = K (x - s) / A, x
 * the stroke of the actuator itself, s that of the rod, A the piston area; the force on the rod is A pi + B
 * (x' - s'). K and B represent the oil and have no exact value: the rod gives by force / K. Source: Kikuuwe
 * et al. (2022), (48)-(50), (60) ff.
 *
 * Its spool is that of a directional valve, with the effective openings of bramah_valve; a flow path is fully open
 * where its effective opening reaches the limit. An opening of less than 1e-9 is closed. Paths that extend
 * must be shut for U <= 0, those that retract for U >= 0 (18).
 *
 * Outputs besides those of cylinders: <name>.load_pressure (pi), .spool, .metered_velocity (x'),
 * <name>_piston.pressure and <name>_rod.pressure [Pa] absolute, the lowest possible where a standing actuator
 * leaves them open, .flow out of the line and .regeneration_flow [m^3/s], .valves (which of relief and
 * suction valves are open: 1 piston relief, 2 piston suction, 4 rod relief, 8 rod suction, 16 pump relief, 32
 * regeneration, added). Names are shared with cylinders; no volume, valve, orifice, leakage, check valve,
 * relief valve or pump may have the name of a metered cylinder, no volume that of a pump line. */
typedef struct bramah_metered_cylinder {
  const char *name;
  int line;
  const char *body[2]; /* barrel side, rod side; "ground" allowed */
  double point[2][3];  /* [m] in the frame of body[0], body[1] */
  const char *pump_line;
  double piston_area;               /* A [m^2] */
  double rod_area;                  /* [m^2] annulus; with regeneration not above the piston area */
  double piston_relief, rod_relief; /* settings [Pa] > 0 above the tank */
  double flow_coefficient[4];       /* C [m^3/(s sqrt(Pa))] > 0 fully open, by bramah_port */
  bramah_metering_valve regeneration;
  bramah_valve spool;   /* members from time_constant on; limit > 0, time constant >= 0 */
  double stiffness;     /* K [N/m] > 0 */
  double damping;       /* B [N s/m] > 0 */
  double load_pressure; /* [Pa] at the start; ignored for BRAMAH_PRESSURE_EQUILIBRIUM */
  bramah_pressure_initial initial;
  double reference_stroke;      /* [m], with chamber lengths > 0 as those of bramah_cylinder, else */
  double piston_chamber_length; /* all 0: the stroke is not limited */
  double rod_chamber_length;
  bramah_friction friction;
  bramah_end_stop end_stop; /* needs chamber lengths */
} bramah_metered_cylinder;

/* Entrained air in the oil, and the guard against cavitation.
 *
 * The free air holds x = p - vapour_pressure (Dalton: bubbles of air and vapour) and follows x V^n = const,
 * so a volume of oil V has the compliance V (1/B + phi/(n x) (p_atm/x)^(1/n)), p_atm = 101325 Pa, walls added
 * as ever. Below x = 100 Pa the compliance is held, so that it exists for any pressure.
 *
 * Guard (vapour_pressure > 0): as x goes to zero the bubbles grow, so oil drawn out of a volume leaves a
 * cavity that has to be filled again. What is drawn beyond about (1 + 1/n) phi (1013)^(1/n) V is forgotten:
 * below the vapour pressure p' gains -x/(1 ms), and the pressure stays within some pascals of it. A cavity
 * that closes within a step or two makes the pressure leap further than Newton's method follows
 * (BRAMAH_E_NO_CONVERGENCE with the volume's name): take a smaller step there.
 *
 * Source: Merritt, Hydraulic Control Systems (1967), effective bulk modulus, with V_gas/V of the
 * oil alone; the guard is ours. */
typedef struct bramah_air {
  double fraction;        /* phi >= 0: free air at p_atm per oil */
  double exponent;        /* n >= 1; 0 means 1.4 */
  double vapour_pressure; /* [Pa] absolute >= 0; needs a fraction > 0 */
} bramah_air;

/* Command of a valve over time, for simulation: each value holds from its time until the next. Before the
 * first, 0. */
typedef struct bramah_input {
  const char *name;
  int line;
  size_t n_points;
  const double *times;  /* [s] ascending */
  const double *values; /* [V] */
} bramah_input;

/* Outputs that a machine defines (virtual sensors): quantities that follow from its state and its parameters and that
 * no sensor need measure. They are outputs of the plant like all others, visible, with derivatives by the error state and by the
 * parameters, so that a filter gives them standard deviations. Up is against gravity, z where there is none; a point is
 * "<body>.<point>", or "<body>" for the origin of its frame.
 *
 *   kind             of                        outputs
 *   HEIGHT           a point, or two           <name> [m] of the first above the other, or above the inertial origin
 *   DISTANCE         two points                <name> [m]
 *   POSITION         a point                   <name>.x, .y, .z [m], inertial
 *   POSE             a body                    the same of its origin, and <name>.yaw, .pitch, .roll [rad]: the axes of the
 *                                              body are the inertial ones turned about z, then y, then x; yaw and roll within
 *                                              +-pi, pitch within +-pi/2, near which the two others have no meaning
 *   PAYLOAD          bodies                    <name> [kg]: sum of the parameters <body>.payload and, where the plant is stepped
 *                                              with its soil (worksite.h), of the soil in the tools of these bodies
 *   FORCE            a force of `forces`       <name> [N], its magnitude; <name>.x, .y, .z [N], inertial; <name>.elevation
 *                                              [rad] above the horizontal, within +-pi/2; <name>.azimuth [rad] about up from
 *                                              the inertial x (from y where x is vertical), within +-pi. Hidden on the
 *                                              body of a tool: it stands for soil where there is none
 *   HYDRAULIC_POWER  elements, supplies        <name> [W]: sum of pressure rise times flow of elements, and of pressure
 *                                              times what is drawn of supplies
 *   ENERGY           the same                  <name> [J]: that since the start; no function of the state, no derivative
 *   FLOW             the same                  <name> [m^3/s]: sum of the flows
 *   FUEL_RATE        the same                  <name> [kg/s]: idle + consumption x hydraulic power (Willans line)
 *
 * Where a distance or force is zero it has no derivative (NaN), nor have the angles of a force that is zero. A band of
 * a magnitude or angle is as linear as the filter: it holds where they are some standard deviations of their components away
 * from there. */
typedef enum bramah_output_definition_kind {
  BRAMAH_OUTPUT_OF_HEIGHT = 1,
  BRAMAH_OUTPUT_OF_DISTANCE = 2,
  BRAMAH_OUTPUT_OF_POSITION = 3,
  BRAMAH_OUTPUT_OF_POSE = 4,
  BRAMAH_OUTPUT_OF_PAYLOAD = 5,
  BRAMAH_OUTPUT_OF_FORCE = 6,
  BRAMAH_OUTPUT_OF_HYDRAULIC_POWER = 7,
  BRAMAH_OUTPUT_OF_ENERGY = 8,
  BRAMAH_OUTPUT_OF_FLOW = 9,
  BRAMAH_OUTPUT_OF_FUEL_RATE = 10
} bramah_output_definition_kind;

/* One such definition: what it is made of, by names. */
typedef struct bramah_output_definition {
  const char *name;
  int line;
  bramah_output_definition_kind kind;
  size_t n_of;
  const char *const *of; /* [n_of] names */
  double idle;           /* [kg/s] >= 0, fuel rate */
  double consumption;    /* [kg/J] >= 0 */
} bramah_output_definition;

/* How closed loops enter the step. All three give the same motion within their tolerances. */
typedef enum bramah_formulation {
  BRAMAH_FORMULATION_PARTITIONING = 0,         /* double-step: independent coordinates only (D 2.26-2.29) */
  BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN = 1, /* index 3 with projections: penalty_factor (D 2.20-2.23) */
  BRAMAH_FORMULATION_PENALTY = 2               /* all three penalty values (D 2.30-2.33) */
} bramah_formulation;

/* Implicit trapezoidal rule, x' = 2/h (x - x_k) - x'_k for positions, rates, pressures and friction states x at the end
 * of a step h from k, put into the equations of all of them and solved together by Newton. Zero means the value of
 * bramah_machine_default. */
typedef struct bramah_integrator {
  int64_t step_ns;           /* time step; default 1 000 000 ns */
  double position_tolerance; /* [rad or m] default 1e-7: largest correction of the last iteration */
  double pressure_tolerance; /* [Pa] default 1e-2 */
  double tolerance;   /* [rad or m] default 1e-2: error of a joint position beyond which a step is made in
                                parts; 0.03 times it (3e-4 at least) is the same of energy, see bramah_step_report */
  int max_iterations; /* default 25 */
  bramah_formulation formulation;
  double penalty_factor;    /* alpha, default 1e11 (augmented Lagrangian), or 1e8 times the inertia against a
                               violation of the loops at the start, 1 / (Phi_z M^-1 Phi_z') (penalty) */
  double penalty_frequency; /* Omega [rad/s], default 100 */
  double penalty_damping;   /* zeta [-], default 1 */
} bramah_integrator;

/* ---- the kinds of hydraulic elements, as data ----
 *
 * Everything in the hydraulics of a machine but oil, supplies and volumes (what passes oil, valves, actuators, pump
 * lines) is described by a table of its keys: what a machine file may give, where it goes in the structure of the
 * description, and what is checked. Readers, editors, the compiler and listings walk these tables instead of knowing
 * the elements. */

typedef enum bramah_key_type {
  BRAMAH_KEY_QUANTITY = 1, /* double, SI */
  BRAMAH_KEY_NODE = 2,     /* name of a volume or supply: const char *, as all names */
  BRAMAH_KEY_VOLUME = 3,
  BRAMAH_KEY_CYLINDER = 4,        /* of a cylinder or rotary actuator whose two volumes are both nodes */
  BRAMAH_KEY_COORDINATE = 5,      /* of a joint coordinate that turns */
  BRAMAH_KEY_PART = 6,            /* a structure with a table of its own */
  BRAMAH_KEY_SUPPLY = 7,          /* name of a supply */
  BRAMAH_KEY_PUMP_LINE = 8,       /* name of a pump line */
  BRAMAH_KEY_INPUT = 9,           /* name of a command */
  BRAMAH_KEY_BODIES = 10,         /* names of two bodies, "ground" allowed */
  BRAMAH_KEY_POINTS = 11,         /* double [2][3], a point of each */
  BRAMAH_KEY_CHARACTERISTIC = 12, /* bramah_characteristic */
  BRAMAH_KEY_FRICTION_MODEL = 13, /* bramah_friction_model, the first key of its table */
  BRAMAH_KEY_PRESSURE = 14,       /* double, or the word "equilibrium", which `initial` says */
  BRAMAH_KEY_DIAMETER = 15,       /* in files only: of a piston or rod, instead of its area */
  BRAMAH_KEY_COMPENSATOR = 16     /* bramah_compensator */
} bramah_key_type;

typedef enum bramah_key_range {
  BRAMAH_KEY_POSITIVE = 1, /* > 0; where the key is not required 0 means that it is not given */
  BRAMAH_KEY_NOT_NEGATIVE = 2,
  BRAMAH_KEY_FROM_ONE = 3, /* >= 1; 0 means not given */
  BRAMAH_KEY_ANY = 4
} bramah_key_range;

/* A key of an element in a machine file and the member of its description that it fills. */
typedef struct bramah_element_key {
  const char *name; /* in a machine file */
  bramah_key_type type;
  size_t offset;          /* of the member in the description; of the keys of a part, in the part */
  int required;           /* in a file, where `otherwise` is 0 */
  const char *unit;       /* of a quantity */
  const char *what;       /* what messages call it */
  bramah_key_range range; /* of a quantity */
  double otherwise;       /* what a quantity is that is not given */
  /* of the parameter <element>.<key> of the plant, which a filter may estimate; 0: none */
  bramah_key_range parameter;
  const char *factor_of; /* a quantity without a member: it and its like multiplied give this key instead */
  const struct bramah_element_kind *part; /* of a part: its table */
  size_t initial;                         /* of a pressure: offset of its bramah_pressure_initial */
  size_t copies; /* the member is an array of so many, which the value fills; 0: one */
  /* 1 << model for the models of friction that need it; others do not look at it. 0: all do */
  unsigned models;
  const char *either, *excludes; /* another key: one of the two is given in a file; not both are */
} bramah_element_key;

/* What a group of keys decides together: NULL, or the message and, in *key, the key at fault. */
typedef const char *bramah_element_check(const void *element, const char **key);

/* A kind of element: its keys, and where a machine keeps its descriptions. Of a part only the keys, the check and the
 * factors count. */
typedef struct bramah_element_kind {
  const char *section; /* of `hydraulics` in a machine file */
  const char *name;    /* "check valve" */
  size_t size;         /* of its description, which begins with name and line */
  size_t array, count; /* offsets in bramah_machine of the pointer to the descriptions and of their number */
  const bramah_element_key *keys; /* ends with {0} */
  bramah_element_check *check;    /* or NULL */
  int factors_by_density;         /* 1: the product of factors goes by sqrt(2 / density of the oil) too */
  int device; /* 1: a valve, actuator or pump line, 0: an element that joins two nodes or sits on a volume */
} bramah_element_kind;

/* What every description begins with. */
typedef struct bramah_named {
  const char *name;
  int line;
} bramah_named;

/* Kind number i, devices last; NULL behind the last. */
BRAMAH_API const bramah_element_kind *bramah_element_kind_at(size_t i);

/* A whole machine, as a file or a program describes it; what bramah_model_new compiles. */
typedef struct bramah_machine {
  const char *name;
  const char *file;           /* where it was read from, or NULL */
  double gravity[3];          /* [m/s^2] */
  double oil_bulk_modulus;    /* [Pa] */
  double transition_pressure; /* [Pa] below it flow is linear in dp; default 2e5 */
  size_t n_bodies;
  const bramah_body *bodies;
  size_t n_joints;
  const bramah_joint *joints;
  size_t n_loops;
  const bramah_loop *loops;
  size_t n_supplies;
  const bramah_supply *supplies;
  size_t n_volumes;
  const bramah_volume *volumes;
  size_t n_orifices;
  const bramah_orifice *orifices;
  size_t n_valves;
  const bramah_valve *valves;
  size_t n_cylinders;
  const bramah_cylinder *cylinders;
  size_t n_inputs;
  const bramah_input *inputs;
  bramah_integrator integrator;
  size_t n_leakages;
  const bramah_leakage *leakages;
  size_t n_check_valves;
  const bramah_check_valve *check_valves;
  size_t n_relief_valves;
  const bramah_relief_valve *relief_valves;
  size_t n_pumps;
  const bramah_pump *pumps;
  size_t n_accumulators;
  const bramah_accumulator *accumulators;
  bramah_air air;
  size_t n_springs;
  const bramah_spring *springs;
  size_t n_joint_springs;
  const bramah_joint_spring *joint_springs;
  size_t n_forces;
  const bramah_force *forces;
  size_t n_rotaries;
  const bramah_rotary *rotaries;
  size_t n_lines;
  const bramah_inertial_line *lines;
  size_t n_motors;
  const bramah_motor *motors;
  size_t n_motions;
  const bramah_motion *motions;
  size_t n_wheels; /* machines with wheels or knife edges can be linearized, not stepped */
  const bramah_wheel *wheels;
  size_t n_knife_edges;
  const bramah_knife_edge *knife_edges;
  size_t n_pump_lines;
  const bramah_pump_line *pump_lines;
  size_t n_metered_cylinders;
  const bramah_metered_cylinder *metered_cylinders;
  size_t n_contacts;
  const bramah_contact *contacts;
  size_t n_tyres;
  const bramah_tyre *tyres;
  size_t n_brakes;
  const bramah_brake *brakes;
  bramah_machine_terrain terrain;
  size_t n_tools;
  const bramah_machine_tool *tools;
  size_t n_load_sensing_pumps;
  const bramah_load_sensing_pump *load_sensing_pumps;
  size_t n_overcentre_valves;
  const bramah_overcentre_valve *overcentre_valves;
  size_t n_pilot_check_valves;
  const bramah_pilot_check_valve *pilot_check_valves;
  size_t n_outputs;
  const bramah_output_definition *outputs;
  size_t n_engines;
  const bramah_engine *engines;
  size_t n_clutches;
  const bramah_clutch *clutches;
  size_t n_joint_torques;
  const bramah_joint_torque *joint_torques;
  /* Contacts, tyres, brakes and clutches, by name, whose bristles are error states of a filter, behind the states of the circuit. Their
   * process noise must be positive, for a point in the air has no other variance. The bristles of all others are held over each
   * step. */
  size_t n_estimated_bristles;
  const char *const *estimated_bristles;
} bramah_machine;

/* Fill *machine with nothing and with what files that say nothing more have: step 1 ms, tolerances, iterations
 * and penalty of bramah_integrator, transition pressure 2 bar. No gravity. Start with it, then give what the
 * machine has. */
BRAMAH_API void bramah_machine_default(bramah_machine *machine);

/* Descriptions of elements of a kind in a machine: how many, and number i of them. */
BRAMAH_API size_t bramah_machine_n_elements(const bramah_machine *machine, const bramah_element_kind *kind);
BRAMAH_API const void *bramah_machine_element(const bramah_machine *machine, const bramah_element_kind *kind,
                                              size_t i);

/* ---- the model ---- */

/* A machine compiled and checked. Immutable, shared by any number of threads and plants. */
typedef struct bramah_model bramah_model;

/* Bytes that bramah_model_init needs for this machine. */
BRAMAH_API size_t bramah_model_size(const bramah_machine *machine);

/* Compile the machine into mem [size bytes, aligned to 64]. Names are copied: the machine may go afterwards.
 * Resolves names, orders the tree from the root, checks values and closes the loops at the initial pose;
 * where volumes ask for it, solves their equilibrium pressures. No allocation. *out is mem on success,
 * untouched otherwise. Errors: E_REFERENCE, E_TOPOLOGY, E_VALUE, E_KEY (a name given twice), E_CLOSURE,
 * E_SINGULAR, E_ARGUMENT (memory too small, or a model lives in it already); diag names the element. */
BRAMAH_API bramah_status bramah_model_init(const bramah_machine *machine, void *mem, size_t size,
                                           bramah_diag *diag, const bramah_model **out);

/* The same in memory taken once; release with bramah_model_free. */
BRAMAH_API bramah_status bramah_model_new(const bramah_machine *machine, bramah_diag *diag,
                                          const bramah_model **out);
/* NULL allowed. Memory of the caller can be used again after it. */
BRAMAH_API void bramah_model_free(const bramah_model *model);

/* Coordinates of a type of joint: how many, and what is appended to the name of the joint to name each (""
 * for revolute and prismatic joints; NULL beyond the last). */
BRAMAH_API size_t bramah_joint_n_coordinates(bramah_joint_type type);
BRAMAH_API const char *bramah_joint_suffix(bramah_joint_type type, size_t i);

/* What there is to know of a model; the pointers live as long as it does. A joint is a scalar coordinate here: compound
 * joints are chains of them, in the order of the tree from the root outwards. Behind the volumes of the machine each line
 * counts as one, its flow [m^3/s], then each metered cylinder, its load pressure, by their names. */
typedef struct bramah_model_info {
  const char *name;
  int64_t step_ns; /* length of one step */
  size_t n_joints, n_dof, n_volumes, n_inputs;
  size_t n_cylinders, n_rotaries;   /* metered cylinders among the former, motors among the latter */
  const char *const *joint_names;   /* [n_joints] */
  const unsigned char *joint_turns; /* [n_joints] 1: it turns, 0: it slides */
  const int *independent_joints;    /* [n_dof] whose coordinates are independent at the initial pose */
  const char *const *volume_names;  /* [n_volumes] */
  const double *initial_pressures;  /* [n_volumes] Pa, solved where the machine asked for equilibrium */
  const char *const *input_names;   /* [n_inputs] */
  /* [n_joints] of the body behind each joint; massless ones inside compound joints too */
  const char *const *body_names;
} bramah_model_info;
/* All of it; its pointers live as long as the model. */
BRAMAH_API bramah_model_info bramah_model_get_info(const bramah_model *model);

/* The commands that a machine plans for its inputs, over time: each value holds from its time until the next;
 * before the first, 0. */
typedef struct bramah_schedule bramah_schedule;

/* Machine and model must outlive it. Free it with bramah_schedule_free. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_schedule_new(const bramah_machine *machine, const bramah_model *model,
                                             bramah_diag *diag, bramah_schedule **out);
BRAMAH_API void bramah_schedule_free(bramah_schedule *schedule); /* NULL allowed */
/* Commands u [inputs of the model], in their order, from this time on; they hold until the next call. Times
 * must not decrease from call to call. Allocates nothing. */
BRAMAH_API const double *bramah_schedule_at(bramah_schedule *schedule, int64_t time_ns);

#ifdef __cplusplus
}
#endif
#endif
