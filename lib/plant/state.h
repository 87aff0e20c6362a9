/* SPDX-License-Identifier: MIT */
/* State of the coupled plant and everything evaluated from it.
 *
 * State, one block that a snapshot copies:
 *   | z zd zdd [n each] | p pd [np each] | U [ns] | u [nu] | work [nc] | x xd [nx each] | lambda [m]
 *   | drive drive_work [n_motions each] | base [4 n_balls] | theta [n_parameters] | time | index [n]
 *   | row [m] | */
#ifndef BRAMAH_LIB_PLANT_STATE_H
#define BRAMAH_LIB_PLANT_STATE_H

#include "lib/machine/model_internal.h"

typedef struct bramah__state {
  void *block;
  size_t size;          /* bytes of the block */
  double *z, *zd, *zdd; /* [n] joint positions, rates, accelerations */
  double *p, *pd;       /* [n_volumes] pressures and their rates */
  double *U;            /* [n_spools] */
  double *u;            /* [n_inputs] commands in force */
  double *work;         /* [n_cylinders] done since the start, trapezoidal sums */
  double *x, *xd;       /* [n_friction_states] friction states and their rates */
  double *lambda;       /* [m] multipliers of the constraints (augmented Lagrangian) */
  double *drive;        /* [n_motions] forces that prescribe the motions, at these accelerations */
  double *drive_work;   /* [n_motions] done by them since the start, trapezoidal sums */
  double *base;         /* [n_balls x 4] base rotations of spherical and floating joints (rebase.c) */
  double *theta;        /* [n_parameters] values of the parameters; the plant's own tables follow them */
  int64_t *time_ns;     /* since the start; of a candidate: the end of its step */
  int *index;           /* [n] dependent coordinates first, then the independent ones */
  int *row;             /* [m] constraint rows in use first */
} bramah__state;

/* Quantities that follow from a state. Filled in stages: position, motion, forces. */
typedef struct bramah__eval {
  /* position stage */
  bramah__pose *pose; /* [n] */
  double *Phi;        /* [m] */
  double *Phi_z;      /* [m x n] */
  double *LU;         /* [nd x nd] factors of the dependent block of Phi_z */
  int *pivot;         /* [nd] */
  int Rz_is_identity; /* 1: without loops every coordinate is independent */
  double *Rz;         /* [n x nf] z' = Rz z'_i  (D 2.26) ... */
  double *drift;      /* [n] ... + drift, -(Phi_z^d)^-1 Phi_t, where motions are prescribed */
  double *s;          /* [nc] strokes */
  double *row;        /* [nc x n] ds/dz */
  double *row_i;      /* [nc x nf] ds/dz_i */
  /* motion stage */
  double *Z, *Zd; /* [n x 6] */
  double *bias;   /* [n] z'' = Rz z''_i + bias */
  double *v;      /* [nc] stroke velocities */
  double *D;      /* [n x nf] joint rates by the independent positions at constant independent rates */
  int D_known;    /* 1: bramah__rate_derivative has filled it for this motion */
  /* forces stage */
  double *force, *friction; /* [nc] on the mechanism, loads from outside included; friction as scaled */
  double *stop;             /* [nc] part of the force that stops and cushions exert */
  double *w, *P;            /* [n_metered], [n_metered_lines] of bramah__metered_solve */
  /* dynamics */
  double *mass; /* [n x n] */
  double *Mi;   /* [nf x nf] Cholesky factor of Rz' M Rz */
  int factored; /* 1: it belongs to this pose */
  double *rhs;  /* [nf] -Rz' (M bias - Q), cylinders left out */
  /* scratch */
  bramah__composite *composite; /* [n] */
  double *W;                    /* [n x 6] */
  double *gamma;                /* [m] */
  double *tau, *column;         /* [n], [max(n, m)] */
  double *MR;                   /* [n x nf] */
  double *flow;                 /* [np] */
} bramah__eval;

void bramah__state_layout(const bramah_model *model, bramah__arena *arena, bramah__state *state);
void bramah__eval_layout(const bramah_model *model, bramah__arena *arena, bramah__eval *eval);
void bramah__state_copy(const bramah__state *from, bramah__state *to);

/* Angles a, their rates ad and accelerations add [3 each; NULL: not wanted] of a spherical or floating
 * joint against its axes in the model, whatever its base rotation is: the coordinates themselves, to the
 * bit, as long as that is none. Rates race near a pitch of +-90 deg, where they count as if its cosine
 * were 1e-8. */
void bramah__ball_motion(const bramah_model *model, const bramah__state *state, size_t ball, double *a,
                         double *ad, double *add);

/* Unit quaternion q [4] of the same rotation: continuous along a motion. */
void bramah__ball_quaternion(const bramah_model *model, const bramah__state *state, size_t ball, double *q);

/* Name of the spherical coordinate nearest to its singular position if it is too near, and how that could come
 * about (may be NULL); NULL if none is. */
const char *bramah__singular_joint(const bramah_model *model, const double *z, const char **reason);

/* Is it time to move the rotation of this joint into its base? */
int bramah__ball_is_far(const bramah_model *model, const bramah__state *state, size_t ball);

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

/* Position stage at state->z as it is. Returns E_SINGULAR if the dependent block has no inverse. */
bramah_status bramah__evaluate_position(const bramah_model *model, const bramah__state *state,
                                        bramah__eval *eval);

/* Move the dependent positions until the loops close (Newton), then the position stage.
 * Returns E_CLOSURE or E_SINGULAR; state->z is then undefined. */
bramah_status bramah__close_position(const bramah_model *model, bramah__state *state, bramah__eval *eval);

/* Name of the loop whose points lie farthest apart in eval->Phi, or of the motion that is missed by more; the
 * machine's name if it has none. */
const char *bramah__worst_loop(const bramah_model *model, const bramah__eval *eval);

/* Dependent rates from the independent ones (D 2.27). */
void bramah__dependent_rates(const bramah_model *model, bramah__state *state, const bramah__eval *eval);

/* y [nf] = Rz' x with x [n]: a generalised force in the independent coordinates. */
void bramah__project(const bramah_model *model, const bramah__eval *eval, const double *x, double *y);

/* Motion stage at state->zd as it is: velocities, bias accelerations, stroke
 * velocities. */
void bramah__evaluate_motion(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Dependent rates and then the motion stage. */
void bramah__set_motion(const bramah_model *model, bramah__state *state, bramah__eval *eval);

/* Forces stage at pressures p [np], spools U and friction states x, whose rates go to xd [n_friction_states].
 */
void bramah__evaluate_forces(const bramah_model *model, const double *p, const double *U, const double *x,
                             double *xd, bramah__eval *eval);

/* The same at other pressures and spools and the friction found before. */
void bramah__update_forces(const bramah_model *model, const double *p, const double *U, bramah__eval *eval);

/* Pressure rates at pressures p and spools U, pd [np]; the same where the forces stage was at these. */
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

/* Out-of-balance of the independent coordinates at accelerations zdd [n]: r [nf] = Rz' (M z'' - Q) (D 2.29).
 */
void bramah__imbalance(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                       const double *zdd, double *r);

/* Joint forces eval->tau [n] that the accelerations zdd [n] need against gravity: M z'' - Q of the open tree,
 * cylinders left out. */
void bramah__inverse_dynamics(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                              const double *zdd);

/* Factor Rz' M Rz at this pose. Returns E_SINGULAR. */
bramah_status bramah__factor_mass(const bramah_model *model, bramah__eval *eval);

/* The part of the right-hand side that does not depend on cylinder forces, into eval->rhs. */
void bramah__evaluate_rhs(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

/* Independent accelerations zdd_i [nf] from the factor, the right-hand side and the forces in eval. */
void bramah__solve_acceleration(const bramah_model *model, const bramah__eval *eval, double *zdd_i);

/* Fill eval->D if it is not known yet. */
void bramah__rate_derivative(const bramah_model *model, const bramah__state *state, bramah__eval *eval);

#endif
