/* SPDX-License-Identifier: MIT */
/* State of the coupled plant and everything evaluated from it. */
#ifndef BRAMAH_LIB_PLANT_STATE_H
#define BRAMAH_LIB_PLANT_STATE_H

#include "lib/machine/model_internal.h"

/* Where energy goes and comes from, apart from actuators and motions: taken by dampers, by the friction of actuators,
 * by end stops and cushions (which give a part back); work of loads from outside; taken by contacts and by the stops of
 * joints, which give a part back. */
typedef enum bramah__exchange {
  BRAMAH__DAMPERS,
  BRAMAH__FRICTION,
  BRAMAH__STOPS,
  BRAMAH__LOADS,
  BRAMAH__CONTACTS,
  BRAMAH__LIMITS,
  BRAMAH__FROM_NOTHING, /* what is stored too much: the error of the steps */
  BRAMAH__N_EXCHANGES
} bramah__exchange;

/* The state is one block, in this order, that a snapshot copies. Numbers: n joints, n_first_order
 * first-order states, nc cylinders. */
#define BRAMAH__STATE_FIELDS(X)                                                                              \
  X(double, z, n) /* joint positions, rates, accelerations */                                                \
  X(double, zd, n)                                                                                           \
  X(double, zdd, n)                                                                                          \
  X(double, p, n_first_order) /* first-order states of the circuit, pressures, and their rates */            \
  X(double, pd, n_first_order)                                                                               \
  X(double, U, bramah__n_spools(&model->circuit)) /* what is before it is all that corrections move */       \
  X(double, u, model->n_inputs)                   /* commands in force */                                    \
  X(double, work, nc)                             /* done since the start, trapezoidal sums */               \
  X(double, x, model->n_friction_states)          /* friction states and their rates */                      \
  X(double, xd, model->n_friction_states)                                                                    \
  X(double, lambda, model->m)             /* multipliers of the constraints (augmented Lagrangian) */        \
  X(double, drive, model->n_motions)      /* forces that prescribe the motions, at these accelerations */    \
  X(double, drive_work, model->n_motions) /* done by them since the start, trapezoidal sums */               \
  X(double, exchange,                                                                                        \
    BRAMAH__N_EXCHANGES +                                                                                    \
        model->n_sums) /* of energy since the start, trapezoidal sums (energy.c); then those of outputs */   \
  X(double, plane,                                                                                           \
    4 * model->n_standing) /* below contacts on the field: unit normal, distance along it (ground.c) */      \
  X(double, tool, BRAMAH__TOOL_STATE * model->n_tools) /* what soil puts on tools, held over a step */       \
  X(bramah__held, held, model->n_held)                 /* planes between bodies (meeting.c) */               \
  X(bramah__met, met, model->n_meetings)                                                                     \
  X(double, base, 4 * model->n_balls)   /* base rotations of spherical and floating joints (evaluate.c) */   \
  X(double, theta, model->n_parameters) /* values of the parameters; the plant's own tables follow them */   \
  X(int64_t, time_ns, 1)                /* since the start; of a candidate: the end of its step */           \
  X(int, index, n)                      /* dependent coordinates first, then the independent ones */         \
  X(int, row, model->m)                 /* constraint rows in use first */

typedef struct bramah__state {
  void *block;
  size_t size; /* bytes of the block */
  BRAMAH__STATE_FIELDS(BRAMAH__FIELD_MEMBER)
} bramah__state;

/* Quantities that follow from a state. Filled in stages: position, motion, forces. n_dependent and n_dof,
 * the dependent and independent coordinates, count as many as there can be: the rank is known only after
 * the assembly. */
#define BRAMAH__EVAL_FIELDS(X)                                                                               \
  /* position stage */                                                                                       \
  X(bramah__pose, pose, n)                                                                                   \
  X(double, Phi, m)                                                                                          \
  X(double, Phi_z, m *n)                                                                                     \
  X(double, LU, n_dependent *n_dependent) /* factors of the dependent block of Phi_z */                      \
  X(int, pivot, n_dependent)                                                                                 \
  X(double, Rz, n *n_dof)     /* z' = Rz z'_i  (D 2.26) ... */                                               \
  X(double, drift, n)         /* ... + drift, -(Phi_z^d)^-1 Phi_t, where motions are prescribed */           \
  X(double, s, nc)            /* strokes */                                                                  \
  X(double, row, nc *n)       /* ds/dz */                                                                    \
  X(double, row_i, nc *n_dof) /* ds/dz_i */                                                                  \
  /* motion stage */                                                                                         \
  X(double, Z, 6 * n)                                                                                        \
  X(double, Zd, 6 * n)                                                                                       \
  X(double, bias, n)                                       /* z'' = Rz z''_i + bias */                       \
  X(bramah__limit_force_at, limit, model->forces.n_limits) /* stops of joints */                             \
  X(double, v, nc)                                         /* stroke velocities */                           \
  X(double, D, n *n_dof) /* joint rates by the independent positions at constant independent rates */        \
  /* forces stage */                                                                                         \
  X(double, force, nc) /* on the mechanism, loads from outside included; friction as scaled */               \
  X(double, friction, nc)                                                                                    \
  X(double, stop, nc)                             /* part of the force that stops and cushions exert */      \
  X(double, contact, 3 * model->n_contact_points) /* forces on the bodies, inertial axes */                  \
  X(double, gear, BRAMAH__MOST_SHAFT_JOINTS * model->n_contact_points) /* of clutches */                     \
  X(double, pump_by_v, model->circuit.n_driven) /* torques of driven pumps by their joints' rates, ... */    \
  X(double, pump_by_p, model->circuit.n_driven *n_first_order)                                               \
  X(double, pump_by_U, model->circuit.n_driven *bramah__n_spools(&model->circuit))                           \
  X(bramah__shaft_state, shaft, model->n_shafts)                                                             \
  X(double, w, model->circuit.n_metered) /* of bramah__metered_solve */                                      \
  X(double, P, model->circuit.n_metered_lines)                                                               \
  /* dynamics */                                                                                             \
  X(double, mass, n *n)                                                                                      \
  X(double, Mi, n_dof *n_dof) /* Cholesky factor of Rz' M Rz */                                              \
  X(double, rhs, n_dof)       /* -Rz' (M bias - Q), cylinders left out */                                    \
  /* interpolation across a singular pose (singular.c) */                                                    \
  X(double, bridge_speed, n) /* independent rates that it is made for */                                     \
  X(double, bridge_R, n *n_dof)                                                                              \
  X(double, bridge_D, n *n_dof) /* rate of Rz at these rates: D */                                           \
  X(double, bridge_bias, n)                                                                                  \
  X(double, bridge_drift, n)                                                                                 \
  X(double, bridge_pose, n) /* joint positions; the others are scratch */                                    \
  X(double, bridge_z, n)                                                                                     \
  X(double, bridge_rate, n)                                                                                  \
  X(double, bridge_here, n)                                                                                  \
  X(double, bridge_before, n)                                                                                \
  /* scratch */                                                                                              \
  X(bramah__composite, composite, n)                                                                         \
  X(double, W, 6 * n)                                                                                        \
  X(double, gamma, m)                                                                                        \
  X(double, tau, n)                                                                                          \
  X(double, column, n > m ? n : m)                                                                           \
  X(double, MR, n *n_dof)                                                                                    \
  X(double, flow, n_first_order)

typedef struct bramah__eval {
  BRAMAH__EVAL_FIELDS(BRAMAH__FIELD_MEMBER)
  int Rz_is_identity; /* 1: without loops every coordinate is independent */
  int D_known;        /* 1: bramah__rate_derivative has filled D for this motion */
  int factored;       /* 1: Mi belongs to this pose */
  int by_program;     /* 1: it holds what a program has given, Rz and actuators, no more */
  int bridged;        /* 1: near a singular pose, Rz, drift, bias and D are interpolated (singular.c) */
} bramah__eval;

void bramah__state_layout(const bramah_model *model, bramah__arena *arena, bramah__state *state);
void bramah__eval_layout(const bramah_model *model, bramah__arena *arena, bramah__eval *eval);
void bramah__state_copy(const bramah__state *from, bramah__state *to);

/* ---- the constraint equations: those of the loops, then one for each prescribed motion; at the time of
 * the state ---- */

/* eval->Phi [m] and eval->Phi_z [m x n] at eval->pose. */
void bramah__constraint_residual(const bramah_model *model, const bramah__state *state, bramah__eval *eval);
void bramah__constraint_jacobian(const bramah_model *model, bramah__eval *eval);

/* eval->gamma [m]: second derivative of Phi by time with z'' = 0, from eval->Z and eval->Zd (those with
 * z'' = 0). */
void bramah__constraint_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Rates of the constraints, Phi_z z' + Phi_t [m]. */
void bramah__constraint_rate(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                             double *rate);

/* Prescribed coordinates take the position that their motions have at the time of the state. */
void bramah__prescribe(const bramah_model *model, bramah__state *state);

/* Forces or torques [n_motions] that the drives exert along their coordinates so that the state has the
 * accelerations it has: the multipliers mu = (Phi_z^d)^-T g_d of the imbalance g = M z'' - Q = Phi_z' mu. A
 * motion's row is independent of all others, so its multiplier is unique even where loops are redundant. The
 * eval must belong to the state, forces included. */
void bramah__drive_forces(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                          double *force);
/* Add to drive_work of `next` what the drives have done since `before`; both hold their forces. */
void bramah__work_of_drives(const bramah_model *model, const bramah__state *before, bramah__state *next);

/* ---- the stages ---- */

/* cos(pitch) below which the yaw and roll of a spherical joint count as one motion: about 1.1 deg */
#define BRAMAH__SINGULAR_COSINE 0.02

/* Name of the spherical coordinate nearest to its singular position if it is too near, and how that could come
 * about (may be NULL); NULL if none is. */
const char *bramah__singular_joint(const bramah_model *model, const double *z, const char **reason);

/* What the position stage does about loops and motions. */
typedef enum bramah__loops {
  BRAMAH__LOOPS_AS_THEY_ARE, /* state->z stays */
  BRAMAH__LOOPS_CLOSED       /* the dependent positions are moved until they close (Newton) */
} bramah__loops;

/* Position stage. Returns E_SINGULAR (the dependent block of Phi_z has no inverse, or a spherical joint is
 * too near its singular position), and where loops are to be closed E_CLOSURE; state->z is then undefined. */
bramah_status bramah__evaluate_position(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                        bramah__loops loops);

/* Its parts. Rz and drift from the factors of the dependent block. */
void bramah__fill_Rz(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Pose, Phi_z, the factors, Rz and drift, with the loops left or closed. Returns E_CLOSURE, E_SINGULAR (a pivot of the
 * dependent block is below least_pivot, a part of what is usual; a spherical joint). */
bramah_status bramah__place_joints(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                   bramah__loops loops, double least_pivot);

/* ---- singular poses (singular.c) ---- */

/* Smallest pivot of the dependent block, as a part of the smallest that is usual for the machine; infinite without
 * loops. */
double bramah__least_pivot(const bramah_model *model, const bramah__eval *eval);

/* A pose below this least pivot is near a singular one. */
extern const double bramah__near_singular;

/* What bramah__place_joints does, near a singular pose. The factors that it leaves are those of a pose nearby. Returns
 * E_SINGULAR (the machine is at rest, so that its branch is not known, or the pose is no crossing of branches),
 * E_CLOSURE. */
bramah_status bramah__bridge(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                             bramah__loops loops);

/* eval->bias at the rates of the state. */
void bramah__bridge_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Name of the loop whose points lie farthest apart in eval->Phi, or of the motion that is missed by more; the
 * machine's name if it has none. */
const char *bramah__worst_loop(const bramah_model *model, const bramah__eval *eval);

/* Dependent rates from the independent ones (D 2.27). */
void bramah__dependent_rates(const bramah_model *model, bramah__state *state, const bramah__eval *eval);

/* Motion stage at state->zd as it is: velocities, bias accelerations, stroke
 * velocities. */
void bramah__evaluate_motion(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Dependent rates and then the motion stage. */
void bramah__set_motion(const bramah_model *model, bramah__state *state, bramah__eval *eval);

/* Contacts of the forces stage at the end of a trapezoidal step of length 2 half that began with friction states x_k and
 * their rates xd_k, to x (unless NULL) and xd [n_friction_states], at spools U; with half = 0 at x_k. */
void bramah__evaluate_contacts(const bramah_model *model, const double *U, double half, const double *x_k,
                               const double *xd_k, double *x, double *xd, bramah__eval *eval);

/* Forces stage at pressures p [n_first_order], spools U and friction states x, whose rates go to xd
 * [n_friction_states]; and its part without the contacts. */
void bramah__evaluate_actuators(const bramah_model *model, const double *p, const double *U, const double *x,
                                double *xd, bramah__eval *eval);
void bramah__evaluate_forces(const bramah_model *model, const double *p, const double *U, const double *x,
                             double *xd, bramah__eval *eval);

/* The same at other pressures and spools and the friction found before. */
void bramah__update_forces(const bramah_model *model, const double *p, const double *U, bramah__eval *eval);

/* Pressure rates at pressures p and spools U, pd [n_first_order]; the same where the forces stage was at these. */
void bramah__evaluate_rates(const bramah_model *model, const double *p, const double *U, bramah__eval *eval,
                            double *pd);
void bramah__evaluate_rates_again(const bramah_model *model, const double *p, const double *U,
                                  bramah__eval *eval, double *pd);

/* All three stages at the state as it is; writes nothing but the eval and the rates of the friction states.
 */
bramah_status bramah__evaluate(const bramah_model *model, bramah__state *state, bramah__eval *eval);

/* Joint accelerations zdd [n] = Rz z''_i + bias. */
void bramah__expand_acceleration(const bramah_model *model, const bramah__eval *eval, const double *zdd_i,
                                 double *zdd);

/* Out-of-balance of the independent coordinates at accelerations zdd [n]: r [n_dof] = Rz' (M z'' - Q) (D 2.29).
 */
void bramah__imbalance(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                       const double *zdd, double *r);

/* Joint forces eval->tau [n] that the accelerations zdd [n] need against gravity: M z'' - Q of the open tree,
 * cylinders left out. */
void bramah__inverse_dynamics(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                              const double *zdd);

/* J [n_dof x n_dof], rows ld apart, = Rz' S Rz of S [n x n] by way of SR [n x n_dof]; index: the joints, dependent ones first. Zeros are
 * many: bodies on different branches, loops that a coordinate does not move. */
void bramah__project_matrix(const bramah_model *model, const int *index, const double *Rz, const double *S,
                            double *SR, double *J, size_t ld);

/* Factor Rz' M Rz at this pose. Returns E_SINGULAR. */
bramah_status bramah__factor_mass(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* The part of the right-hand side that does not depend on cylinder forces, into eval->rhs. */
void bramah__evaluate_rhs(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Independent accelerations zdd_i [n_dof] from the factor, the right-hand side and the forces in eval. */
void bramah__solve_acceleration(const bramah_model *model, const bramah__eval *eval, double *zdd_i);

/* The three together. Returns E_SINGULAR. */
bramah_status bramah__accelerations(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                                    double *zdd_i);

/* Fill eval->D if it is not known yet. */
void bramah__rate_derivative(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* ---- spherical and floating joints ---- */

/* Angles a, their rates ad and accelerations add [3 each; NULL: not wanted] of a spherical or floating
 * joint against its axes in the model, whatever its base rotation is: the coordinates themselves, to the
 * bit, as long as that is none. Rates race near a pitch of +-90 deg, where they count as if its cosine
 * were 1e-8. */
void bramah__ball_motion(const bramah_model *model, const bramah__state *state, size_t ball, double *a,
                         double *ad, double *add);

/* Unit quaternion q [4] of the same rotation: continuous along a motion. */
void bramah__ball_quaternion(const bramah_model *model, const bramah__state *state, size_t ball, double *q);

/* Is it time to move the rotation of this joint into its base? */
int bramah__ball_is_far(const bramah_model *model, const bramah__state *state, size_t ball);
/* Is output i anything but a joint angle of a ball whose coordinates count from other axes than it shows? */
int bramah__shows_coordinate(const bramah_model *model, const bramah__state *state, size_t i);

/* Move the rotation of a joint into its base: its coordinates become zero, their rates and accelerations
 * such that angular velocity and acceleration stay. Errors of the old coordinates map to the new ones by
 * dz_new = X dz and dz'_new = X dz' + Y dz (X, Y [9] or NULL). */
void bramah__rebase_ball(const bramah_model *model, bramah__state *state, size_t ball, double *X, double *Y);

/* The same for every joint that is far. */
void bramah__rebase_far(const bramah_model *model, bramah__state *state);

/* Only for joints within about 3 deg of the singular pitch: where the coordinates cannot be worked with. */
void bramah__rebase_singular(const bramah_model *model, bramah__state *state);

/* Take the rotation of a joint out of its base again: its coordinates become the angles of
 * bramah__ball_motion. */
void bramah__unbase_ball(const bramah_model *model, bramah__state *state, size_t ball);

#endif
