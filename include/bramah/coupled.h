/* SPDX-License-Identifier: MIT */
/* The built-in plant: semi-recursive multibody dynamics and lumped-fluid hydraulics in one implicit
 * trapezoidal step. One bramah_coupled holds everything that changes (state and scratch); it refers to a
 * model that must outlive it. */
#ifndef BRAMAH_COUPLED_H
#define BRAMAH_COUPLED_H

#include "bramah/machine.h"
#include "bramah/plant.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_coupled bramah_coupled;

/* Bytes for one plant of this model; create it there (aligned to 64, no allocation), or in memory taken once.
 * It starts at the initial state of the machine. Errors: E_ARGUMENT (memory too small, or a plant lives in it
 * already). */
BRAMAH_API size_t bramah_coupled_size(const bramah_model *model);
BRAMAH_API bramah_status bramah_coupled_init(const bramah_model *model, void *mem, size_t size,
                                             bramah_diag *diag, bramah_coupled **out);
BRAMAH_API bramah_status bramah_coupled_new(const bramah_model *model, bramah_diag *diag,
                                            bramah_coupled **out);
/* NULL allowed. Memory of the caller can be used again after it. */
BRAMAH_API void bramah_coupled_free(bramah_coupled *plant);

/* The plant interface of this object. Each plant has parameter values of its own, in SI:
 *
 *   <joint coordinate>.load [N m, N]: external force along the coordinate; 0
 *   <actuator>.actuator_load [N, N m]: external force along the line of a cylinder (about the joint of a
 *       rotary actuator or motor) that pushes its points apart; not part of its .force, .torque and .work; 0
 *   <actuator>.friction_scale [1]: goes before the friction force of any model, not before the states of a
 *       bristle; only where there is friction; at least 0; 1
 *   <body>.payload [kg]: point mass at the payload point of the body, of a welded body on what carries it;
 *       negative down to nearly the body's own mass; 0
 *   <force>.x, .y, .z [N]: of a force of the machine, at its point and in its axes
 *   gravity.scale [1]: goes before gravity; 1
 *   <supply>.pressure [Pa]: absolute, at least 0
 *   oil.bulk_modulus [Pa]
 *   <leakage>.conductance, <motor>.leakage, .drain_leakage [m^3/(s Pa)]: at least 0
 *   <orifice>.flow_coefficient [m^3/(s Pa^0.5)], <valve>.flow_coefficient [m^3/(s Pa^0.5 V)]
 *   <overcentre valve>.set_pressure [Pa]; <line>.viscosity [Pa s]
 *   <pump>.pump_flow, <pump line>.pump_flow [m^3/s]; <load-sensing pump>.margin [Pa], .displacement [m^3/rad]
 *   <metered cylinder>.flow_scale [1]: goes before all its flow coefficients; 1
 *   <input>.offset [V]: added to the command for every valve on it, before the limit of the valve; the output
 *       .command does not show it; 0
 *   <contact, tyre>.stiffness, .damping [as in the machine]: of all its points; .ground_height [m]: of what is
 *       below them, above the plane or terrain of the machine; 0
 *   <contact, tyre, brake, clutch>.friction_scale [1]: goes before what the friction can hold; 1
 *   <contact, tyre>.bristle_stiffness [1/m], <brake>.bristle_stiffness [1/rad], <clutch>.stiffness [N m/rad],
 *       <tyre>.patch_length [m]
 *   <engine>.torque_scale [1], .friction [N m], .idle_speed [rad/s]; <joint torque>.torque_scale [1]
 *
 * bramah_plant.parameter_info tells them one by one.
 * Nominal values where none is given here are those of the machine. What must be positive must be at least
 * 1e-6 times its nominal value. */
BRAMAH_API bramah_plant bramah_coupled_plant(bramah_coupled *plant);

/* Back to the initial state of the machine, parameters to their nominal values. */
BRAMAH_API bramah_status bramah_coupled_reset(bramah_coupled *plant, bramah_diag *diag);

/* Start from given values of some joints: positions [n] and rates [n] of the joints [n] (indices of the
 * model, n = degrees of freedom), of spherical and floating joints those of their outputs .angle and .rate;
 * the others follow from the loops. Pressures [n_volumes] absolute (of metered cylinders the load pressures),
 * or NULL to leave them. Parameters go to their nominal values. Errors: E_ARGUMENT (wrong n, a joint twice, a
 * value that is not finite; nothing has changed), E_SINGULAR (these joints do not determine the pose),
 * E_CLOSURE, E_NOT_FINITE (pressures); the plant is then at the initial state of the machine. */
BRAMAH_API bramah_status bramah_coupled_start(bramah_coupled *plant, size_t n, const size_t *joints,
                                              const double *positions, const double *rates,
                                              const double *pressures, bramah_diag *diag);

/* How a correction of the independent positions reaches the dependent ones: by Newton until the loops close,
 * or by the linearised position problem of the publication (below D 3.16), dz_d = -(Phi_z^d)^-1 Phi_z^i dz_i,
 * which leaves the loops open by the square of the correction until the next step closes them. */
typedef enum bramah_injection {
  BRAMAH_INJECTION_EXACT = 0, /* the default */
  BRAMAH_INJECTION_LINEARISED = 1
} bramah_injection;
/* Another injection from now on. */
BRAMAH_API void bramah_coupled_set_injection(bramah_coupled *plant, bramah_injection injection);

/* ---- compiled machines ----
 *
 * The equations of a model as a program: one expression graph with its derivatives, folded, scheduled, and run by a small
 * machine, without a compiler. Machine plants and sessions (bramah/session.h) use one where it is faster. A plant that uses
 * one makes the same steps, to rounding and the tolerances of the iteration. Where bodies stay in a plane it takes about half
 * the instructions; joints with axes in general directions fold to nothing, and a machine with many of these and little
 * hydraulics is faster without. What a program does not do, or not well (a step near a singular pose, in independent coordinates
 * that it is not made for or beyond 1e6 rad, whose iteration diverges), the plant does as it would without:
 * bramah_step_report counts it (under `basis` where the coordinates are to blame). Derivatives of a step by parameters
 * are exact, where those of a plant without are differences. */
typedef struct bramah_program bramah_program;

/* The program of a model, which must outlive it; any number of plants and threads share it. Allocates. Errors: E_UNSUPPORTED
 * (diag names what of the machine cannot be compiled: other formulations than coordinate partitioning, wheels, very large
 * machines), E_SINGULAR, E_MEMORY. */
BRAMAH_API bramah_status bramah_program_new(const bramah_model *model, bramah_diag *diag,
                                            bramah_program **out);

/* What plants ask of their program; the less, the sooner it is compiled. What is beyond they do as without it. */
typedef enum bramah_program_scope {
  BRAMAH_PROGRAM_STEPS = 0,       /* steps, and values of outputs: simulations */
  BRAMAH_PROGRAM_DERIVATIVES = 1, /* and the derivatives of both by the error state: filters */
  BRAMAH_PROGRAM_PARAMETERS = 2   /* and by parameters: filters that estimate or consider some; everything */
} bramah_program_scope;
/* The same of a smaller scope: the same steps to the last bit. With BRAMAH_PROGRAM_PARAMETERS by the n_par parameters of these numbers;
 * par NULL: by all. Errors: the same. */
BRAMAH_API bramah_status bramah_program_new_for(const bramah_model *model, bramah_program_scope scope,
                                                size_t n_par, const size_t *par, bramah_diag *diag,
                                                bramah_program **out);
/* NULL allowed; after the plants that use it. */
BRAMAH_API void bramah_program_free(bramah_program *program);

/* A program knows the independent coordinates that the machine begins with. Where loops move far the plant goes over to others,
 * and makes steps in these without. For up to five more choices, those that it comes to when it is led about from its initial
 * pose between the ends of its cylinders; before plants use the program. A choice that cannot be compiled is left out. Errors:
 * E_MEMORY; the program is then as it was. */
BRAMAH_API bramah_status bramah_program_add_bases(bramah_program *program, bramah_diag *diag);

/* Its size. */
typedef struct bramah_program_info {
  bramah_program_scope scope;
  size_t n_parameters; /* that it has derivatives by */
  size_t n_operations; /* of all parts, for all choices of independent coordinates that it is made for */
  size_t n_iterate;    /* of one Newton iterate */
  size_t bytes;        /* that each plant takes to use it */
  int is_faster; /* 1: than the plant without: an iterate has at most 400 operations for each joint coordinate, 100 for each
                  * first-order state, 150 for each element and valve, 300 for each cylinder and what a dense elimination
                  * takes, n^3/3 of the unknowns. So it is in the plane, not
                  * with many axes in general directions and little hydraulics */
} bramah_program_info;
/* Never fails. */
BRAMAH_API bramah_program_info bramah_program_get_info(const bramah_program *program);

/* Let a plant of the program's model use it from now on; NULL: not any longer. It takes memory of its own for it, which
 * bramah_coupled_free gives back. Errors: E_ARGUMENT (a program of another model), E_MEMORY; the plant then goes on as
 * before. */
BRAMAH_API bramah_status bramah_coupled_use(bramah_coupled *plant, const bramah_program *program,
                                            bramah_diag *diag);

/* What the numbers of C source are. */
typedef enum bramah_precision {
  BRAMAH_PRECISION_DOUBLE = 0,
  /* Floats, for processors without doubles. Newton's method ends at corrections below 2e-6 rad or m, pressures 10 Pa. */
  BRAMAH_PRECISION_SINGLE = 1
} bramah_precision;

/* The steps of a program as C source: two files without dependencies but sqrt and fabs, in fixed sizes, for a computer that
 * has no bramah. The plant alone, no sensors and no filter; steps are neither divided nor made in other coordinates (the
 * header says what is refused). The same bits as with bramah_coupled_use as long as the plant needs neither. */
typedef struct bramah_c_source {
  char name[64];       /* of the files and of all that they define: <name>.h, <name>.c, <name>_step */
  char *header, *code; /* their texts */
  double step;         /* [s] */
  size_t n_iterate;    /* operations of a Newton iterate ... */
  size_t n_step;       /* ... and of the rest of the equations in a step, of a filter in a cycle */
  size_t n_kept;       /* values between the parts of a step */
  size_t n_outputs;    /* that it has, in its order; NULL: none */
  size_t *output;      /* [n_outputs] of the plant */
} bramah_c_source;

/* Of a plant of the program's model, which starts where the plant is, with its parameters as the nominal ones. The name may
 * have letters, digits and others, which become _. Allocates. Errors: E_ARGUMENT (a program of another model or a
 * smaller scope, a plant in other independent coordinates, no letter in the name), E_UNSUPPORTED (motions prescribed by a table,
 * a first step with a small pivot), those of the first step, E_MEMORY; *out is then empty. */
BRAMAH_API bramah_status bramah_program_c_source(const bramah_program *program, const bramah_coupled *start,
                                                 const char *name, bramah_precision precision,
                                                 bramah_diag *diag, bramah_c_source *out);

/* The same with more than steps: those are divided as the plant's are, but for their energy; outputs, the derivative of a step and of
 * outputs by the error state, corrections of it. Errors: the same, and E_UNSUPPORTED (contacts on a terrain). */
BRAMAH_API bramah_status bramah_plant_c_source(const bramah_program *program, const bramah_coupled *start,
                                               const char *name, bramah_diag *diag, bramah_c_source *out);

struct bramah_filter;
/* The same with the filter on that plant, which has not been used yet: <name>_predict, <name>_correct and more, the same
 * bits as of the filter on a plant that uses the program as long as no step is divided for its energy, goes over to other coordinates or
 * falls back. Errors: the same; E_UNSUPPORTED names what the source of a filter does not do: other transitions than that
 * of the step, block fusion, iterated updates, delays of parts of a step, sensors of what the program does not know (datasets/README.md has
 * the list). */
BRAMAH_API bramah_status bramah_filter_c_source(const struct bramah_filter *filter,
                                                const bramah_program *program, const bramah_coupled *start,
                                                const char *name, bramah_precision precision,
                                                bramah_diag *diag, bramah_c_source *out);
/* Its texts; zero-initialised allowed. */
BRAMAH_API void bramah_c_source_free(bramah_c_source *source);

/* ---- native code ----
 *
 * Parts of a program as functions of the processor, which do to the bit what the program does, several times as fast. The core
 * writes their text and checks what was made of it; machine plants and sessions (bramah/session.h) compile and load it. For
 * each choice of independent coordinates and each number of states that are run at once (1, and those of bramah_batch) a
 * program has some pieces, of one or more parts, which come one by one. */
typedef void (*bramah_native_part)(double *registers);
/* One of these pieces. */
typedef struct bramah_native_piece {
  size_t lanes;        /* states at once */
  size_t n_parts;      /* functions */
  size_t n_operations; /* in them */
  int is_asked;        /* 1: a plant has run a part of it, without native code */
  int is_native;       /* 1: it has native code */
} bramah_native_piece;

/* Piece i of a program; 0: it has no such one. Any thread may ask at any time. */
BRAMAH_API int bramah_program_native_piece(const bramah_program *program, size_t i, bramah_native_piece *out);
/* Stands for the text of piece i: another text has another key. Reads all of it. 0: there is no such piece. */
BRAMAH_API uint64_t bramah_program_native_key(const bramah_program *program, size_t i);

/* Its text: C11 with the vector types of GCC and Clang, to be compiled without contraction of products and sums
 * (-ffp-contract=off) into `const bramah_native_part bramah_parts[]` and `const unsigned bramah_n_parts`. free() it. NULL: no
 * memory, or no such piece. */
BRAMAH_API char *bramah_program_native_text(const bramah_program *program, size_t i);

/* Let all plants of the program go on by the functions part [n_parts], which must stay until the program is freed; they are
 * tried first, on states around the initial one. Plants may run meanwhile, on any thread: their bits stay the same.
 * Errors: E_VALUE (other bits than the program's; nothing has changed then), E_ARGUMENT, E_MEMORY. */
BRAMAH_API bramah_status bramah_program_use_native(bramah_program *program, size_t i,
                                                   const bramah_native_part *part, bramah_diag *diag);

/* Counts since the start.
 *
 * The work of a step is bounded: it makes at most bramah_integrator.max_iterations Newton iterations (25
 * unless the machine says otherwise), corrections that begin with a coarse tangent or go on with an old one included, each of which
 * factors one tangent at most and evaluates the equations at most
 * ten times (the correction is halved up to 8 times); each evaluation closes the loops with at most 20
 * iterations of its own. The augmented Lagrangian and the penalty method try a step that does not converge once more in
 * the independent coordinates. A step is made again in 2 to 64 parts where it does not converge, where its error exceeds
 * bramah_integrator.tolerance, or where it makes energy from nothing: more than 0.03 times the tolerance, 3e-4 at least,
 * of the kinetic energy and what was exchanged, and 1e-6 J. Each part is a step with the bounds above; 107 of them at
 * most, the whole step and parts that were tried in vain included (1 + 2 + 8 + 32 + 64). Where 64 do not help, the step
 * is refused with the status of what failed (E_NO_CONVERGENCE, E_CLOSURE, E_SINGULAR, E_NOT_FINITE), the plant is as it
 * was before, and diag names the unknown or loop. A step is accepted with an error beyond the tolerance if 64 parts have it too (`coarse`). There is no other loop
 * whose length depends on data: near a singular pose the loops are closed at up to 36 more poses
 * (lib/plant/singular.c). */
typedef struct bramah_step_report {
  uint64_t steps;
  uint64_t iterations;     /* Newton iterations, sum */
  uint32_t max_iterations; /* largest in one step */
  uint32_t basis_changes;  /* times the independent coordinates were changed */
  uint32_t rebases;        /* steps after which a spherical or floating joint was given a new base rotation */
  uint32_t last_iterations; /* of the last step or last part of one, also where it failed */
  uint64_t divided;         /* steps made in parts */
  /* of them those that did not converge as a whole; the errors of the others were too large */
  uint64_t unconverged;
  uint64_t coarse;     /* of them those whose parts exceed it still: something leaps there */
  uint32_t most_parts; /* of one step: at most 64 */
  /* steps of the augmented Lagrangian or penalty method that were made in the independent coordinates: near a
   * singular pose, or since they did not converge */
  uint64_t partitioned;
  /* of the equations in it: at most 2 + 10 times the largest number of iterations */
  uint32_t last_evaluations;
  uint64_t compiled; /* steps made by a program, parts counted; those it left to the plant, since ... */
  uint64_t left_basis, left_pivot, left_divergence; /* of other coordinates, a small pivot, a bad iteration */
} bramah_step_report;
/* Its counts. */
BRAMAH_API bramah_step_report bramah_coupled_report(const bramah_coupled *plant);

/* Estimated local error of the last step in an output that is the position or rate of a joint or a first-order state, in
 * its unit; of a divided step that of its last part. NaN: another output, or (not of positions) the step before is not
 * known, as after a start or a restore. Source: Milne's device, see lib/plant/control.c. */
BRAMAH_API double bramah_coupled_step_error(const bramah_coupled *plant, size_t output);

/* Largest violation of a constraint, of loops and motions [m, or rad for axes and angles] at the present
 * state. */
BRAMAH_API double bramah_coupled_constraint_violation(bramah_coupled *plant);

/* ---- physical limits ---- */

/* States that the equations have but no machine. */
typedef enum bramah_limit_kind {
  /* oil under tension: a pressure of a volume below 0 bar absolute; with the guard against cavitation
   * (bramah_air) more than 1 kPa below the vapour pressure */
  BRAMAH_LIMIT_PRESSURE = 0,
  /* a chamber without volume: the piston is behind the end of its cylinder, with an end stop by more than 1 %
   * of its travel. A step does not go there without an end stop (E_VALUE) */
  BRAMAH_LIMIT_STROKE = 1,
  /* a loop that gapes, or a motion that is missed: by more than 1e-5 of the machine's size (m, or rad; not
   * where corrections are linearised, which leave loops open) */
  BRAMAH_LIMIT_LOOP = 2,
  /* a singular pose that the machine does not pass but stands in: the constraints determine its motion to
   * less than four digits */
  BRAMAH_LIMIT_POSE = 3,
  /* the local error of the step that led here, of the position of a joint, beyond bramah_integrator.tolerance
   * in 64 parts still */
  BRAMAH_LIMIT_STEP = 4,
  BRAMAH_N_LIMITS = 5
} bramah_limit_kind;

/* What is furthest beyond a limit: the output of the plant that shows it, "v3.pressure", or the loop or motion. */
typedef struct bramah_limit {
  size_t output; /* its number; of a loop its number, of a motion this behind the loops */
  /* of it; of a loop the gap, of a pose the smallest pivot of Phi_z, as a part of what is usual */
  double value;
  double beyond; /* by how much [Pa, m, rad, 1]; 0: the limit holds */
} bramah_limit;

/* The present state, after a step or a correction, against each limit; chambers of metered cylinders included. */
BRAMAH_API void bramah_coupled_limits(bramah_coupled *plant, bramah_limit worst[BRAMAH_N_LIMITS]);

/* Name of what is beyond it and the unit of its value. */
BRAMAH_API void bramah_coupled_limit_info(const bramah_coupled *plant, bramah_limit_kind kind,
                                          const bramah_limit *limit, bramah_output_info *info);

/* A limit over a run. */
typedef struct bramah_limit_event {
  uint64_t n; /* times that were beyond it; 0: none, the rest is then zero */
  int64_t first_ns, worst_ns;
  bramah_limit worst;
} bramah_limit_event;
/* Add what was found at a time; begin with zeros. */
BRAMAH_API void bramah_limit_event_add(bramah_limit_event *event, const bramah_limit *limit, int64_t time_ns);

/* The energy balance [J] at the last of a run's rows: what is stored, kinetic and potential, springs included, grows by the
 * work of actuators, motions and loads less what dampers, contacts and stops of joints take. What else steps make of it is their error: smaller steps
 * make it smaller. Corrections, parameters and noise leap what is stored; that is no error. With linearised corrections,
 * which leave loops open for the step to close, it is not looked at. */
typedef struct bramah_energy {
  uint64_t rows;
  /* of all actuators and motions, less friction and stops; this and the next four since the plant's start */
  double work;
  double loads;   /* work of loads from outside */
  double dampers; /* taken by them */
  /* taken by friction and by end stops and cushions of actuators; off the work already, but for stops of
   * joints */
  double friction, stops;
  double contacts;      /* taken by points on the ground */
  double error;         /* made by steps from nothing since the first row */
  double largest;       /* magnitude of the error at any row */
  double leap;          /* the error has grown most from one row to the next ... */
  int64_t leap_ns;      /* ... to that at this time */
  double turnover;      /* largest of kinetic energy, change of what is stored, work, dampers, loads */
  double limit;         /* that `largest` is judged by: 1 % of the turnover, at least 1e-6 J */
  double start, before; /* at the first row: what was stored, the error of steps before it */
} bramah_energy;
/* Add a row, after a step or a correction; begin with zeros. */
BRAMAH_API void bramah_energy_add(bramah_energy *energy, bramah_coupled *plant, int64_t time_ns);

/* ---- the skeleton ---- */

/* A machine as a skeleton: straight parts between points, for drawing. A body is a line from its own
 * joint to each joint, loop point or end of a spring or rod behind it; where there is none, to its payload
 * point (the centre of mass unless the machine gives another). What a cylinder holds on to apart from these lines
 * is joined to the nearest of them by a lug. */

/* A mark has both points at the same place. */
typedef enum bramah_skeleton_kind {
  BRAMAH_SKELETON_BODY = 1,  /* beam of a body */
  BRAMAH_SKELETON_LUG = 2,   /* from a beam to where a cylinder holds on */
  BRAMAH_SKELETON_SLIDE = 3, /* slide of a prismatic joint or loop */
  /* of a cylinder, from the attachment on its barrel side; its length is constant */
  BRAMAH_SKELETON_BARREL = 4,
  BRAMAH_SKELETON_PISTON_ROD = 5, /* from the end of the barrel to the attachment on the rod side */
  BRAMAH_SKELETON_SPRING = 6,
  BRAMAH_SKELETON_ROD = 7,    /* massless rod of a distance loop */
  BRAMAH_SKELETON_JOINT = 8,  /* mark: what turns, joints and loops */
  BRAMAH_SKELETON_ROTARY = 9, /* mark: a rotary actuator */
  BRAMAH_SKELETON_GROUND = 10 /* mark: something is held by the ground here */
} bramah_skeleton_kind;

/* A part of the picture: what it is and of which thing. */
typedef struct bramah_skeleton_part {
  bramah_skeleton_kind kind;
  /* of the body, joint, loop, cylinder, actuator; lives as long as the model; "" for springs */
  const char *name;
  /* that its ends move with: numbers as of joints (bramah_model_info); -1: the ground. Of a barrel and its
   * piston rod those that hold the cylinder; the other end of each lies on the line between */
  int body[2];
} bramah_skeleton_part;

/* The number of parts, which is always the same for a model, and tables of the caller that they are written
 * to; NULL: not wanted. Asked with both NULL first, it says how long the tables must be. */
typedef struct bramah_skeleton {
  size_t n;                   /* before the call: room in the tables; after it: number of parts */
  bramah_skeleton_part *part; /* [n] */
  /* [n x 2 x 3] row-major: first end, second end, in the inertial frame [m], at the present state */
  double *points;
  /* [n_joints x 7] where bodies are, by the joint in front of them: origin x, y, z [m] and unit quaternion w,
   * x, y, z, w not below 0, from body axes to inertial ones; their names: bramah_model_info.body_names. NULL:
   * not wanted */
  double *poses;
} bramah_skeleton;

/* Fill in the skeleton. Nothing is allocated. Errors: E_ARGUMENT (tables too short), those of the equations of
 * motion (the state cannot be evaluated). */
BRAMAH_API bramah_status bramah_coupled_skeleton(bramah_coupled *plant, bramah_skeleton *skeleton,
                                                 bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
