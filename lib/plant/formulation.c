/* SPDX-License-Identifier: MIT */
/* Formulations of a closed-loop step in all joint coordinates, instead of coordinate partitioning
 * (double-step, dissertation 2.26-2.29), where the independent coordinates are the unknowns and the others
 * follow from the loops, which are closed to machine precision at every iterate.
 *
 * The penalty method holds the loops by stiff, critically damped oscillators of the constraint equations
 * (dissertation 2.30-2.33); the index-3 augmented Lagrangian by multipliers that are improved at each
 * iterate, with projections of rates and accelerations after the step (2.20-2.23). Redundant constraints
 * do no harm. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* The augmented Lagrangian ends only when the loops are this closed [m or rad], besides the corrections being
 * small. */
static const double closed_enough = 1e-11;

bramah_status bramah__place_all(const bramah_model *model, const bramah__state *next, bramah__eval *eval)
{
  eval->factored = 0;
  eval->D_known = 0;
  if (bramah__singular_joint(model, next->z, NULL)) return BRAMAH_E_SINGULAR;
  bramah__tree_pose(&model->tree, next->base, next->z, eval->pose);
  bramah__constraint_residual(model, next, eval);
  bramah__constraint_jacobian(model, eval);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    eval->s[i] =
        bramah__line_length(&model->tree, &model->line[i], next->z, eval->pose, eval->row + i * model->n);
  return BRAMAH_OK;
}

/* f += Phi_z' force, force [m] */
static void add_constraint_forces(const bramah_model *model, const bramah__eval *eval, const double *force,
                                  double *f)
{
  for (size_t k = 0; k < model->m; k++)
    for (size_t j = 0; j < model->n; j++) f[j] += eval->Phi_z[k * model->n + j] * force[k];
}

/* Second derivative of the constraints by time, Phi_z z'' + gamma, into eval->column [m]. */
static void constraint_acceleration(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                                    const double *zdd)
{
  bramah__apply(model->m, model->n, eval->Phi_z, zdd, eval->column);
  if (model->m == 0) return;
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, next->zd, NULL, eval->Zd);
  bramah__constraint_bias(model, next, eval);
  for (size_t k = 0; k < model->m; k++) eval->column[k] += eval->gamma[k];
}

void bramah__imbalance_all(const bramah_model *model, const bramah__state *next, bramah__eval *eval,
                           const double *zdd, double *f)
{
  /* M z'' - Q of the open tree, cylinders included. */
  bramah__inverse_dynamics(model, next, eval, zdd);
  memcpy(f, eval->tau, model->n * sizeof *f);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    for (size_t j = 0; j < model->n; j++) f[j] -= eval->row[i * model->n + j] * eval->force[i];

  double *force = eval->column;
  const double alpha = model->penalty_factor;
  if (model->formulation == BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN) {
    /* (D 2.20): ... + Phi_z' (alpha Phi + lambda) */
    for (size_t k = 0; k < model->m; k++) force[k] = alpha * eval->Phi[k] + next->lambda[k];
  } else {
    /* (D 2.30): ... + Phi_z' alpha (Phi'' + 2 zeta Omega Phi' + Omega^2 Phi) */
    const double Omega = model->penalty_frequency, damping = 2.0 * model->penalty_damping * Omega;
    double *rate = eval->gamma;
    constraint_acceleration(model, next, eval, zdd);
    bramah__constraint_rate(model, next, eval, rate);
    for (size_t k = 0; k < model->m; k++)
      force[k] = alpha * (force[k] + damping * rate[k] + Omega * Omega * eval->Phi[k]);
  }
  add_constraint_forces(model, eval, force, f);
}

/* lambda += alpha Phi (D 2.21) */
int bramah__update_multipliers(bramah_coupled *c)
{
  double largest = 0.0;
  for (size_t k = 0; k < c->model->m; k++) {
    c->next.lambda[k] += c->model->penalty_factor * c->trial->Phi[k];
    largest = fmax(largest, fabs(c->trial->Phi[k]));
  }
  return largest <= closed_enough * fmax(1.0, c->model->closure_tolerance * 1e13);
}

/* x -= B^-1 Phi_z' alpha violation, with B = W + h^2/4 Phi_z' alpha Phi_z times 4/h^2: the tangent of the
 * last iterate, whose factors are in c->newton.Jzz. `violation` [m] is overwritten. */
static void project(bramah_coupled *c, double *violation, double *x)
{
  const bramah_model *model = c->model;
  double *correction = c->newton.correction;
  memset(correction, 0, model->n * sizeof *correction);
  for (size_t k = 0; k < model->m; k++) violation[k] *= model->penalty_factor;
  add_constraint_forces(model, c->trial, violation, correction);
  bramah__lu_solve(model->n, c->newton.Jzz, c->newton.pivot, correction);
  for (size_t j = 0; j < model->n; j++) x[j] -= correction[j];
}

/* (D 2.22), (D 2.23) */
bramah_status bramah__project_motion(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__eval *eval = c->trial;
  if (model->m == 0) return BRAMAH_OK;
  if (bramah__lu_factor(model->n, c->newton.Jzz, c->newton.pivot)) return BRAMAH_E_SINGULAR;
  bramah__constraint_rate(model, &c->next, eval, eval->column);
  project(c, eval->column, c->next.zd);
  bramah__tree_velocity(&model->tree, eval->pose, c->next.zd, eval->Z);
  constraint_acceleration(model, &c->next, eval, c->next.zdd);
  project(c, eval->column, c->next.zdd);
  return BRAMAH_OK;
}
