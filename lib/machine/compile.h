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
  double *work;         /* [3 n] */
  bramah__element *element;
  double *points; /* of all curves */
  bramah__spring *spring;
  bramah__joint_spring *joint_spring;
  bramah__load *load;
  bramah__motion *motion;
  double *motion_points; /* of all tables */
  /* the machine without welds and compound joints (expand.c) */
  bramah_body *bodies;
  bramah_joint *joints;
  bramah_loop *loops;
  bramah_cylinder *cylinders;
  bramah_volume *volumes; /* behind the machine's own those of metered cylinders */
  bramah_valve *valves;   /* likewise their spools */
  bramah__metered *metered;
  bramah__metered_port *metered_port;
  bramah__metered_line *metered_line;
  size_t *ball; /* [n] 1 + number of the ball whose yaw a joint is, in the order of `joints` */
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

/* Report a fault of the element `thing`, which is in that line of the machine's file. */
bramah_status bramah__compile_fail(const bramah__compiler *k, bramah_status status, const char *thing,
                                   int line, const char *message);

/* E_VALUE "... must be positive, not ..." unless value is positive and finite. */
bramah_status bramah__positive(const bramah__compiler *k, double value, const char *thing, int line,
                               const char *what);

/* Index of a name, or -1. */
long bramah__find_name(size_t n, const char *const *names, const char *name);

/* E_REFERENCE "there is no WHAT 'NAME'; did you mean ...?" */
bramah_status bramah__no_such(const bramah__compiler *k, const char *thing, int line, const char *what,
                              const char *name, size_t n, const char *const *names);

/* Index of a body in the sorted tree, -1 for the ground. */
bramah_status bramah__find_body(const bramah__compiler *k, const char *thing, int line, const char *name,
                                int *out);

/* Index of a volume, or n_volumes + index of a supply. */
bramah_status bramah__find_node(const bramah__compiler *k, const char *thing, int line, const char *name,
                                size_t *out);

/* Unit vector along v; 0 if it has no direction. */
int bramah__normalise(const double *v, double *out);

/* Every name is given, and once within its kind. */
bramah_status bramah__check_names(const bramah__compiler *k);

/* Fault of a value of a body or of the rotation of a joint; R [9], the identity where none is given. */
bramah_status bramah__check_body(const bramah__compiler *k, const bramah_body *body);
bramah_status bramah__joint_rotation(const bramah__compiler *k, const bramah_joint *joint, double *R);

/* Scalar coordinates of all joints. */
size_t bramah__count_coordinates(const bramah_machine *machine);
/* Spherical and floating joints. */
int bramah__is_ball(const bramah_joint *joint);
size_t bramah__count_balls(const bramah_machine *machine);
int bramah__is_welded(const bramah_machine *machine, const bramah_body *body);

/* Point k->machine to the expanded machine. */
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
bramah_status bramah__build_rolling(bramah__compiler *k);
bramah_status bramah__build_circuit(bramah__compiler *k);
/* After bramah__build_metered: friction states of all cylinders numbered, compliance of all volumes checked. */
bramah_status bramah__finish_circuit(bramah__compiler *k);

/* Elements, end stops, air and characteristics of valves: room, tables (after bramah__build_circuit), and the
 * circuit's pointers to them. */
void bramah__elements_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena);
bramah_status bramah__build_elements(bramah__compiler *k);
void bramah__elements_connect(bramah__compiler *k);

/* Metered cylinders. In the expanded machine each is a volume (its load pressure), a cylinder and a spool. */
size_t bramah__count_metering_spools(const bramah_machine *machine);
void bramah__metered_layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                            bramah__arena *arena);
void bramah__expand_metered(bramah__compiler *k);
bramah_status bramah__build_metered(bramah__compiler *k);
/* After the curves of the spools. */
bramah_status bramah__check_flow_paths(const bramah__compiler *k);
void bramah__metered_connect(bramah__compiler *k);
/* Names of spools behind those of valves, and the metered cylinder of the source that cylinder i is, or NULL.
 */
const char *bramah__spool_name(const bramah_machine *machine, size_t i, const char **suffix);
const bramah_metered_cylinder *bramah__metered_cylinder(const bramah__compiler *k, size_t cylinder);

/* Friction of a cylinder, and its attachment points. */
bramah_status bramah__build_friction(bramah__compiler *k, const bramah_cylinder *in, bramah__friction *out);
bramah_status bramah__build_attachment(bramah__compiler *k, const bramah_cylinder *in, bramah__line *line);

/* Parameters: how many, the table with its names, and what each of them means (after everything
 * else). */
size_t bramah__count_parameters(const bramah_machine *machine);
void bramah__parameters_layout(const bramah_machine *machine, bramah_model *model, bramah__arena *arena);
bramah_status bramah__build_parameters(bramah__compiler *k);

#endif
