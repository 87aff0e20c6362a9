/* SPDX-License-Identifier: MIT */
/* One plant: its state, a candidate for the next state, and three evaluations (of the state, of the
 * candidate, of a perturbation). A step works on the candidate and copies it over only when it has succeeded.
 */
#ifndef BRAMAH_LIB_PLANT_COUPLED_INTERNAL_H
#define BRAMAH_LIB_PLANT_COUPLED_INTERNAL_H

#include "bramah/coupled.h"
#include "lib/plant/residual_derivative.h"

/* Newton iteration of one step: unknowns [dz_i; dp] [nx], the changes over the step. */
typedef struct bramah__newton {
  double *change;     /* [nx] */
  double *correction; /* [nx] */
  double *move;       /* [nx] the part of it that is taken */
  double *weight;     /* [nx] of the rows of the residual */
  double *base;       /* [nx] residual that differences start from */
  double *f, *g;      /* [nx] residual and perturbed residual */
  double *J;          /* [nx x nx] */
  double *Jzz;        /* [n x n] its mechanical part, for projections */
  double *scale;      /* [nx] typical size of an unknown */
  int *pivot;         /* [nx] */
} bramah__newton;

typedef struct bramah__formulation bramah__formulation;

/* Factors of a matrix whose rows were scaled by `weight` and whose columns by `scale`. */
typedef struct bramah__factors {
  const double *LU, *weight, *scale;
  const int *pivot;
} bramah__factors;

/* Work of the transition (transition.c); ne = 2 nf + np, nx = nf + np. */
typedef struct bramah__transition {
  double *A;              /* [nf x ne] independent accelerations by the state, at the start of the step */
  double *S;              /* [np x ne] pressure rates by the state, there */
  double *V;              /* [nc x 2 nf] stroke velocities by positions and rates, there */
  bramah__state start;    /* the state there */
  double *v;              /* [nc] stroke velocities there */
  double *by_start;       /* [nc] friction at the end by the velocity at the start */
  double *r_v, *r_a;      /* [nf x nf] imbalance by rates and accelerations at the end */
  double *J;              /* [nx x nx] */
  double *X;              /* [nx x ne] right-hand side, then solution */
  double *X_par;          /* [nx x n_parameters] */
  double *theta, *xd, *U; /* [n_parameters], [n_friction_states], [n_spools] for differences by parameters */
  double *f, *f0;         /* [nx] */
  double *column, *weight, *scale; /* [nx] */
  bramah__factors factors;         /* of J, or Newton's own */
  int *pivot;                      /* [nx] */
} bramah__transition;

void bramah__transition_layout(const bramah_model *model, bramah__arena *arena, bramah__transition *t);

/* A plant's own copy of the model, with tables of its own where parameters stand: the model is shared. */
typedef struct bramah__own {
  bramah_model model;
  bramah__link *link;
  double *joint_load, *supply;
  bramah__cylinder *cylinder;
  bramah__element *element;
  bramah__valve *valve;
  bramah__metered *metered;
  bramah__metered_line *metered_line;
  double *theta; /* [n_parameters] that the tables stand for */
} bramah__own;

struct bramah_coupled {
  uint64_t mark; /* bramah__mark_of; stands first; 0 in the plant that a model is made with */
  const bramah_model
      *model; /* `own`, with the present parameters; of the plant that a model is made with that model */
  const bramah_model
      *base; /* the shared one, with nominal parameters; NULL in the plant that a model is made with */
  bramah__own own;
  const bramah__formulation *formulation;
  bramah__state state, next, probe_state;
  bramah__eval *now, *trial, *probe; /* point to the three below and are exchanged */
  bramah__eval eval[3];
  int now_valid; /* 1: `now` belongs to `state` */
  bramah_injection injection;
  int linearised; /* 1: the candidate's loops are not closed further */
  int basis_changed;
  double *T; /* [n_error x n_error] of the changes of coordinates that nobody has asked about yet */
  double *T_step, *T_work; /* [n_error x n_error] of the present change; scratch */
  bramah__newton newton;
  bramah__linear linear;
  bramah__transition transition;
  int sweeps;                   /* 1: an open tree without forces between bodies, solved body by body */
  double *zdd_i, *zdd_base, *D; /* [nf], [nf], [n x nf] scratch */
  int *index_work, *row_work;
  double *Phi_z_work;
  double *J,
      *Q; /* [nf x n_error], [n x n_error] accelerations by the error state; of the joints, at Q_state */
  void *Q_state; /* [state.size] */
  int Q_valid;
  bramah_step_report report;
  int own_memory;
};

/* Lay out one plant of this model in the arena; the object itself comes first. */
bramah_coupled *bramah__coupled_layout(const bramah_model *model, bramah__arena *arena);

/* Bring `now` up to date with the state. */
bramah_status bramah__refresh(bramah_coupled *c, bramah_diag *diag);

/* One implicit trapezoidal step; on success the state has advanced and `now` belongs to it. */
bramah_status bramah__trapezoidal_step(bramah_coupled *c, bramah_diag *diag);

/* Residual f [nx] of the step at `change`; afterwards the candidate belongs to it. */
bramah_status bramah__step_residual(bramah_coupled *c, const double *change, double *f);

/* Tangent df/dx of the step's residual at the candidate, J [nx x nx], whose residual must have been evaluated
 * last: analytic, or by forward differences from the residual c->newton.f at `change`. */
void bramah__step_tangent(bramah_coupled *c, double *J);
void bramah__step_tangent_differences(bramah_coupled *c, const double *change, double *J);

/* Accelerations and pressure rates of the state from the equations of motion. `now` must belong to it. */
bramah_status bramah__restart_rates(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                    double *zdd_i);

/* Go over to other coordinates if the present ones have become poor: new base rotations of spherical joints,
 * other independent coordinates. */
void bramah__update_basis(bramah_coupled *c);

/* Derivative of output i by the error state. */
bramah_status bramah__output_row(void *self, size_t i, double *row);

/* Derivative of output i by the independent accelerations, row [nf]. */
void bramah__output_by_acceleration(bramah_coupled *c, size_t i, double *row);

/* What sigma and noise of output i mean: see bramah_plant.noise_row. */
bramah_status bramah__noise_row(void *self, size_t i, double *row);

/* Value of output i. */
double bramah__output_value(void *self, size_t i);

/* Whether an output is a flow; its value [m^3/s] at the present pressures and spools and, unless by_p is
 * NULL, its derivatives by the pressures [n_volumes]. */
int bramah__is_flow(bramah__output_code code);
double bramah__output_flow(const bramah_coupled *c, const bramah__output *output, double *by_p);

/* Whether an output is a vector in the axes of a body; whether it depends on accelerations. Its value, and
 * its derivatives by the positions, rates and accelerations of all joints, added to a, b, q [n]. */
int bramah__is_of_body(bramah__output_code code);
int bramah__body_accelerates(bramah__output_code code);
double bramah__body_value(const bramah_coupled *c, const bramah__output *output);
void bramah__body_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                           double *q);

/* Outputs of metered cylinders and pump lines: value, and derivatives by the pressures [n_volumes] and by the
 * positions and rates of all joints, added to by_p, a, b. Not of BRAMAH__METERED_VALVES. */
int bramah__is_metered(bramah__output_code code);
double bramah__metered_value(const bramah_coupled *c, const bramah__output *output);
void bramah__metered_partials(bramah_coupled *c, const bramah__output *output, double *by_p, double *a,
                              double *b);

/* What the drag of a metered cylinder adds to the derivatives of its force. */
void bramah__drag_partials(bramah_coupled *c, size_t cylinder, double *by_p, double *a, double *b);

/* How the force of cylinder i follows its stroke and velocity, its friction states held [N/m, N s/m]. */
void bramah__force_slopes(const bramah_coupled *c, size_t i, double *by_s, double *by_v);

/* Derivative of the independent accelerations by the error state, A [nf x ne], analytic, at the motion of
 * c->state, to which `now` must belong. Leaves the derivatives of the motion in c->linear. Returns
 * E_SINGULAR. */
bramah_status bramah__accelerations_by_state(bramah_coupled *c, double *A);

/* Fill c->Q with the derivative of all joint accelerations by the error state, unless it belongs to this
 * state already. */
bramah_status bramah__joint_acceleration_rows(bramah_coupled *c);

/* J [nf x n_error] by forward differences that repeat only what a perturbation reaches. */
bramah_status bramah__acceleration_jacobian(void *self, double *J, bramah_diag *diag);

/* Analytic derivative of the independent accelerations by the error state, J [nf x ne]; friction states are
 * held. Jp [nf x n_par]: by parameters. */
bramah_status bramah__acceleration_derivative(bramah_coupled *c, double *J, size_t n_par, const size_t *par,
                                              double *Jp, bramah_diag *diag);

/* One step, the derivative F [ne x ne] of the error state at its end by that at its start, the response N [ne
 * x nx] to noise (NULL: not wanted) and G [ne x n_par] to parameters; see bramah_plant.step_transition. */
bramah_status bramah__step_with_transition(bramah_coupled *c, double *F, double *N, size_t n_par,
                                           const size_t *par, double *G, bramah_diag *diag);

/* Initial pose and pressures of a model under construction, whose plant c is. work [bramah__equilibrium_work] */
bramah_status bramah__assemble(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                               const unsigned char *given, bramah_diag *diag);
bramah_status bramah__equilibrium(bramah_coupled *c, bramah_model *model, const bramah_machine *machine,
                                  double *work, bramah_diag *diag);
size_t bramah__equilibrium_work(const bramah_machine *machine);

/* Accelerations and pressure rates of c->state anew, from its positions, rates and pressures. */
bramah_status bramah__settle_rates(bramah_coupled *c, bramah_diag *diag);

/* The candidate `next` (positions approximately closed, independent rates, pressures and parameters set)
 * becomes the state; on error nothing has changed. */
bramah_status bramah__adopt_candidate(bramah_coupled *c, bramah_diag *diag);

/* The same with all spools of the candidate where they stand, those of valves without lag too: to see what
 * follows from a spool alone. */
bramah_status bramah__adopt_with_spools(bramah_coupled *c, bramah_diag *diag);

/* Put the spools U [n_spools] of valves without lag where the commands u [n_inputs] have them; 1 if one
 * moved. */
int bramah__place_direct_spools(const bramah_model *model, const double *u, double *U);

/* Tables of its own for a plant whose model is complete; c->model is then the own one. NULL: only count. */
void bramah__own_layout(const bramah_model *model, bramah__arena *arena, bramah_coupled *c);

/* Let the own tables stand for theta [n_parameters]; cheap if they do. Evaluations made before belong to the
 * old values.
 */
void bramah__apply_parameters(bramah_coupled *c, const double *theta);

/* Parameters behind the plant interface. */
bramah_status bramah__set_parameter(void *self, size_t i, double value, bramah_diag *diag);

#endif
