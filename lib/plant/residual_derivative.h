/* SPDX-License-Identifier: MIT */
/* The derivative of the one residual of the plant,
 *
 *   r(z, z', z'', p) = [ Rz' (M z'' - Q) ; -u0(p, z, z') ]      (D 2.29, 2.55 ff.)
 *
 * whose first part is of the mechanical unknowns and whose second holds the rates of the first-order
 * states. With R_z, R_v, R_a, R_p its derivatives by positions, rates, accelerations and first-order
 * states:
 *
 *   the step           J = R_z + c1 R_v + c2 R_a, R_p + c1 [0; 1]     Newton's tangent, c1 = 2/h, c2 = c1^2
 *   the transition     F = -J^-1 R_k                                  (transition.c) R_k: by what step k left
 *   the linearization  A = -R_a^-1 [R_z R_v R_p]                      (lib/linear)
 *
 * The three take it as columns c0 R_z + c1 R_v + c2 R_a of a motion, which costs no more than one of them
 * alone.
 *
 * Mechanical unknowns are all joint coordinates (the open tree, with every force: cylinders, springs,
 * loads), or the independent ones, which all others follow along the constraints: a displacement dz_i
 * moves all joints by Rz dz_i, their rates by D dz_i and their accelerations by E dz_i; a change dz'_i of
 * the independent rates changes the accelerations by 2 D dz'_i. */
#ifndef BRAMAH_LIB_PLANT_RESIDUAL_DERIVATIVE_H
#define BRAMAH_LIB_PLANT_RESIDUAL_DERIVATIVE_H

#include "lib/plant/coupled_internal.h"

/* How the strokes of the cylinders follow n mechanical unknowns, and their velocities at held rates,
 * [n_cylinders x n]. */
typedef struct bramah__arms {
  size_t n;
  const double *stroke, *rate;
} bramah__arms;

static inline bramah__arms bramah__all_arms(const bramah_model *model, const bramah__eval *eval,
                                            const bramah__derivative *d)
{
  return (bramah__arms){model->n, eval->row, d->v_z};
}

static inline bramah__arms bramah__independent_arms(const bramah_model *model, const bramah__eval *eval,
                                                    const bramah__derivative *d)
{
  return (bramah__arms){model->n_independent, eval->row_i, d->v_zi};
}

/* All coordinates, at the motion of `eval`: poses, velocities Z, accelerations Zd and wrenches W of this
 * motion must be there (bramah__inverse_dynamics leaves them), and strokes and forces. */
void bramah__derive_all(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d);

/* The geometric stiffness of the constraint forces, added to d->K: their multipliers mu of Phi_z^d' mu =
 * -g_d, into d->mu with d->used for the rows in use, g the inverse dynamics in eval->tau less the
 * cylinders. */
void bramah__add_constraint_stiffness(const bramah_model *model, const bramah__state *state,
                                      bramah__eval *eval, bramah__derivative *d);

/* Independent coordinates: prepare the derivatives at the motion of `eval` (as above; eval->tau must hold
 * the inverse dynamics too), which fills D, E and v_zi; then take columns. */
void bramah__derive_independent(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                                bramah__derivative *d);

/* column [n_dof] of r as independent coordinate f moves by c0 dx, its rate by c1 dx and its acceleration by c2
 * dx: c0 dr/dz_i + c1 dr/dz'_i + c2 dr/dz''_i. Its entries are `stride` apart. */
void bramah__derivative_column(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d,
                               size_t f, double c0, double c1, double c2, double *column, size_t stride);

/* Rates of the pressures p at spools U, strokes and velocities of `eval`, whose forces must be those at p and
 * U, and their derivatives. With quasistatic actuators it comes before all of the above: their forces follow
 * the stroke velocities by the derivatives that it leaves in pd_v. */
void bramah__derive_circuit(const bramah_model *model, const double *p, const double *U,
                            const bramah__eval *eval, bramah__derivative *d);

/* Rows of the residual of the first-order states, X [n_first_order x arms.n] `ld` apart, as each unknown
 * moves by c0, its rate by c1. */
void bramah__rates_by_motion(const bramah_model *model, const bramah__derivative *d, bramah__arms arms,
                             double c0, double c1, double *X, size_t ld);

/* Mechanical rows by the first-order states, X [arms.n x n_first_order] `ld` apart. */
void bramah__force_by_pressures(const bramah_model *model, const bramah__derivative *d, bramah__arms arms,
                                double *X, size_t ld);

/* How the force of cylinder i follows its stroke and velocity at c->state, its friction states held [N/m, N s/m];
 * those of all cylinders into c->derivative. */
void bramah__force_slopes(const bramah_coupled *c, size_t i, double *by_s, double *by_v);
void bramah__state_slopes(bramah_coupled *c);

/* The same at the end of a step from `start`, where the strokes moved with v: friction states follow the
 * velocity by their own trapezoidal rule. by_start [n_cylinders]: friction by the velocity at
 * the start, which it gets instead; or NULL. */
void bramah__step_slopes(bramah_coupled *c, const bramah__eval *end, const double *U, const double *v,
                         const bramah__state *start, double *by_start);

/* Arms [2 x n_dof] of friction at contact point i into d->contact_arms: a force along a direction of the plane is a
 * generalised force along its row. */
void bramah__contact_arms(const bramah_model *model, const bramah__eval *eval, bramah__derivative *d,
                          size_t i);

/* What commands of the mechanics do: torques along the joints by all spools, out [n x n_spools], at c->state; all 0 where
 * there are none. */
void bramah__torques_by_spools(const bramah_coupled *c, double *out);

/* Rates of the bristles of contacts at c->state, after bramah__rates_by_state, or at the end of a step: out [two of each
 * point x 2 n_dof] by positions and rates. */
void bramah__bristles_by_state(bramah_coupled *c, double *out);

/* c->A [(n_dof + n_first_order) x n_error]: independent accelerations and rates of the first-order states by the
 * error state, at c->state, to which `now` must belong; friction states that are none of it are held. Returns E_SINGULAR. */
bramah_status bramah__rates_by_state(bramah_coupled *c);

/* Fill c->Q with the derivative of all joint accelerations by the error state, unless it belongs to this state
 * already. */
bramah_status bramah__joint_acceleration_rows(bramah_coupled *c);

/* Tangent J [nx x nx] of the step's residual at the candidate, whose residual must have been evaluated
 * last; of the independent coordinates at any end of a step, whose slopes must be in c->derivative. */
void bramah__step_tangent(bramah_coupled *c, double *J);

/* The same of the independent coordinates, without what is small against 4/h^2 M in a short step: how Rz, the wrenches and arms of
 * all forces turn as the machine moves. A tenth of the price; corrections with it shrink by some h z'. */
void bramah__coarse_tangent(bramah_coupled *c, double *J);
void bramah__independent_tangent(bramah_coupled *c, const bramah__state *state, bramah__eval *eval,
                                 double *J);

/* How the force of the cylinder of quasistatic actuator i follows the stroke velocity of the cylinder of
 * actuator k, both on one line [N s/m], and the pressures, added to by_p [n_volumes] times `factor`. */
double bramah__metered_by_velocity(const bramah_model *model, const bramah__derivative *d, size_t i,
                                   size_t k);
void bramah__metered_by_pressure(const bramah_model *model, const bramah__derivative *d, size_t i,
                                 double factor, double *by_p);

#endif
