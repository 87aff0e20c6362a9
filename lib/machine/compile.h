/* SPDX-License-Identifier: MIT */
/* What the compiler of a machine shares among its files: the tables being filled, names, checks. */
#ifndef BRAMAH_LIB_MACHINE_COMPILE_H
#define BRAMAH_LIB_MACHINE_COMPILE_H

#include "lib/machine/model_internal.h"

/* The tables of the model while they may still be written. */
typedef struct bramah__tables {
  bramah__link *link;
  bramah__loop *loop;
  bramah__line *line;
  bramah__volume *volume;
  double *supply;
  bramah__valve *valve;
  bramah__cylinder *cylinder;
  int *body_of_joint;   /* index in machine->bodies */
  size_t *joint_order;  /* index in machine->joints */
  unsigned char *given; /* [n] initial position to be kept */
  bramah__element *element;
  size_t *drive;
  bramah__driven_pump *driven;
  double *points; /* of all curves */
  bramah__spring *spring;
  bramah__joint_spring *joint_spring;
  bramah__load *load;
  bramah__limit *limit;
  bramah__contact *contact_point;
  bramah_tool *tool;
  bramah_plate *plate; /* of all tools */
  double *tool_point;
  bramah__shape *shape;
  double *corner, *normal; /* of all shapes, as the lists below */
  int *first, *of_face, *edge;
  bramah__meeting *meeting;
  double *heights; /* [nx x ny] of the terrain */
  bramah__shaft *shaft;
  double *shaft_points; /* of their curves */
  bramah__motion *motion;
  double *motion_points; /* of all tables */
  /* the machine without welds and compound joints (expand.c) */
  bramah_body *bodies;
  bramah_joint *joints;
  bramah_loop *loops;
  bramah_volume *volumes; /* see compile_circuit.c */
  bramah_valve *valves;
  bramah__metered *metered;
  bramah__metered_port *metered_port;
  bramah__metered_line *metered_line;
  const char **point_name; /* of the named points of one body */
  size_t *ball;            /* [n] 1 + number of the ball whose yaw a joint is, in the order of `joints` */
} bramah__tables;

typedef struct bramah__compiler {
  const bramah_machine *source;  /* as the caller wrote it */
  const bramah_machine *machine; /* expanded */
  bramah_machine expanded;
  bramah_model *model;
  bramah_diag *diag;
  bramah__tables t;
} bramah__compiler;

/* Bytes of a compiled model of this machine; `counts` gets the numbers of its elements. */
size_t bramah__compile_size(const bramah_machine *machine, bramah_model *counts);

/* The machine as a model in the arena, complete but for its initial pose and the pressures that are to be found:
 * `k` holds what that needs, the expanded machine and which positions are given. */
bramah_status bramah__compile(const bramah_machine *machine, bramah__arena *arena, bramah_diag *diag,
                              bramah__compiler *k);

/* Report a fault of the thing `of`: any description, since all begin with their name and line (bramah_named). */
bramah_status bramah__compile_fail(const bramah__compiler *k, bramah_status status, const void *of,
                                   const char *message);
bramah_status bramah__refuse(const bramah__compiler *k, const void *of, const char *message); /* E_VALUE */

/* E_KEY "KIND: has no name", or, where another one has it, "this name is given to more than one KIND". */
bramah_status bramah__check_named(const bramah__compiler *k, const void *of, const char *kind, int is_known);

/* E_VALUE "WHAT must be positive, not ..." unless value is positive and finite; "WHAT must not be negative". */
bramah_status bramah__positive(const bramah__compiler *k, double value, const void *of, const char *what);
bramah_status bramah__not_negative(const bramah__compiler *k, double value, const void *of, const char *what);

/* Index of a name, or -1. */
long bramah__find_name(size_t n, const char *const *names, const char *name);

/* E_REFERENCE "there is no WHAT 'NAME'; did you mean ...?" */
bramah_status bramah__no_such(const bramah__compiler *k, const void *of, const char *what, const char *name,
                              size_t n, const char *const *names);

/* Index of a body in the sorted tree, -1 for the ground. */
bramah_status bramah__find_body(const bramah__compiler *k, const void *of, const char *name, int *out);

/* Index of a joint coordinate; and of one that turns about an axis by itself, which the message asks for. */
bramah_status bramah__find_coordinate(const bramah__compiler *k, const void *of, const char *name,
                                      size_t *out);
bramah_status bramah__find_turning(const bramah__compiler *k, const void *of, const char *name,
                                   const char *message, size_t *out);

/* Index of a volume, or n_volumes + index of a supply. */
bramah_status bramah__find_node(const bramah__compiler *k, const void *of, const char *name, size_t *out);

/* Unit vector along v; 0 if it has no direction. */
int bramah__normalise(const double *v, double *out);

/* Fault of a value of a body or of the rotation of a joint; R [9], the identity where none is given. */
bramah_status bramah__check_body(const bramah__compiler *k, const bramah_body *body);
bramah_status bramah__joint_rotation(const bramah__compiler *k, const bramah_joint *joint, double *R);

/* Scalar coordinates of all joints. */
size_t bramah__count_coordinates(const bramah_machine *machine);
/* Spherical and floating joints. */
int bramah__is_ball(const bramah_joint *joint);
size_t bramah__count_balls(const bramah_machine *machine);
int bramah__is_welded(const bramah_machine *machine, const bramah_body *body);

/* Point k->machine to the expanded machine, and fill the model's table of welded bodies. */
bramah_status bramah__expand(bramah__compiler *k);

/* A direction in the axes of a welded body, and a point of it with the body's name, become those of the body
 * that carries it; others stay. */
void bramah__carry_direction(const bramah__compiler *k, const char *body, double *v);
void bramah__carry_point(const bramah__compiler *k, const char **body, double *point);

/* Fill the tables from the machine. */
bramah_status bramah__build_tree(bramah__compiler *k);
bramah_status bramah__build_loops(bramah__compiler *k);
/* Constraint equations of all loops, the redundant ones included. */
size_t bramah__count_loop_rows(const bramah_machine *machine);
/* After tree and loops. Prescribed joints get the starting values of their motions. */
void bramah__motions_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena);
bramah_status bramah__build_motions(bramah__compiler *k);
bramah_status bramah__build_forces(bramah__compiler *k);
/* Points and tyres on the ground. */
size_t bramah__n_discs(const bramah_tyre *tyre);
/* Columns of its terrain, 0 where there is none or their number cannot be. */
size_t bramah__n_columns_of(const bramah_machine *machine);
/* Plates of a tool, those of its profile included. */
size_t bramah__n_plates(const bramah_machine_tool *tool);
bramah_status bramah__build_terrain(bramah__compiler *k);
bramah_status bramah__build_contacts(bramah__compiler *k);
/* Names of the bristles that are error states, of contacts, tyres, brakes and clutches in this order, into the model (unless NULL); their
 * number. Contacts of bodies that are welded to the ground are among them. */
size_t bramah__bristles_layout(const bramah_machine *machine, bramah_model *model, bramah__arena *arena);
/* Shapes and what they touch with (compile_shapes.c): corners that a shape has; corners, meetings and points of meetings
 * of the machine; points of a contact with the ground. */
size_t bramah__shape_corners(const bramah_shape *shape);
typedef struct bramah__shape_counts {
  size_t shapes, corners, meetings, points, between;
} bramah__shape_counts;
bramah__shape_counts bramah__count_shapes(const bramah_machine *machine);
size_t bramah__count_ground_points(const bramah_machine *machine, const bramah_contact *contact);
bramah_status bramah__build_shapes(bramah__compiler *k);
/* Ends or corners of the shapes of a body that touch the ground, from `each`; how many. */
size_t bramah__fill_ground_points(const bramah__compiler *k, const bramah_contact *in,
                                  const bramah__contact *each, bramah__contact *out);
/* Those of all contacts in the order that they are looked for. */
void bramah__sort_meetings(bramah__compiler *k);

/* The meetings of a contact between bodies, with points from *out on. */
bramah_status bramah__fill_meetings(bramah__compiler *k, const bramah_contact *in, size_t contact,
                                    const bramah__contact *each, bramah__contact **out);
/* A command of the element `of`: complete, checked; its limit goes to *limit. */
bramah_status bramah__check_command(const bramah__compiler *k, const bramah_drive *command, int of_gears,
                                    const void *of, double *limit);
/* Engines, clutches and torques of joints, in that order: how many, and what number i is; their room; and their tables, after the tree. */
size_t bramah__n_shafts(const bramah_machine *machine);
typedef struct bramah__shaft_thing {
  bramah__shaft_kind kind;
  const bramah_named *of;
  const void *element; /* the same: a bramah_engine, bramah_clutch or bramah_joint_torque */
  int takes_fuel;
} bramah__shaft_thing;
bramah__shaft_thing bramah__shaft_thing_at(const bramah_machine *machine, size_t i);
/* Command k of number i; NULL: it has none. */
const bramah_drive *bramah__shaft_command(const bramah_machine *machine, size_t i, size_t k);
void bramah__shafts_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena);
bramah_status bramah__build_shafts(bramah__compiler *k);
bramah_status bramah__build_rolling(bramah__compiler *k);

/* The circuit: room and names of its spools, its part of the expanded machine, and its tables. */
size_t bramah__count_metering_spools(const bramah_machine *machine);
void bramah__circuit_layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                            bramah__arena *arena);
/* The spool of a command (a member of the machine's), which has an input. */
size_t bramah__spool_of_command(const bramah_machine *machine, const bramah_drive *command);
/* Limits, lag and start as they are where nothing is said; gears are changed at once. */
bramah_drive bramah__complete_command(const bramah_drive *command, int of_gears);
bramah_status bramah__expand_circuit(bramah__compiler *k);
bramah_status bramah__build_circuit(bramah__compiler *k);

/* Parameters: how many, and unless model is NULL the table with their names; then what each of them means (after
 * everything else). */
size_t bramah__parameters_layout(const bramah_machine *machine, bramah_model *model, bramah__arena *arena);
bramah_status bramah__build_parameters(bramah__compiler *k);

/* Outputs that the machine defines: names and room; then, after all other outputs are there, what they are made of. */
void bramah__definitions_layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                                bramah__arena *arena);
bramah_status bramah__build_definitions(bramah__compiler *k);

#endif
