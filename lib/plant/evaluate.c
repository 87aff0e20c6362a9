/* SPDX-License-Identifier: MIT */
/* From a state to poses, constraints, velocities and forces, in stages, so that finite differences repeat
 * only the stage that a perturbation reaches. */
#include "lib/plant/constraints.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

enum { CLOSE_ITERATIONS = 20 };

/* Phi_z, and the factors of its dependent block. */
static bramah_status factor_dependent(const bramah_model *model, const bramah__state *state,
                                      bramah__eval *eval)
{
  const size_t n = model->n, nd = model->n_dependent;
  bramah__constraint_jacobian(model, eval);
  for (size_t k = 0; k < nd; k++)
    for (size_t l = 0; l < nd; l++)
      eval->LU[k * nd + l] = eval->Phi_z[(size_t)state->row[k] * n + (size_t)state->index[l]];
  return bramah__lu_factor(nd, eval->LU, eval->pivot) ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

/* Rz = [-(Phi_z^d)^-1 Phi_z^i ; I], rows in the order of the joints (D 2.26). */
static void fill_Rz(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, nd = model->n_dependent, nf = model->n_independent;
  if (nd == 0 && eval->Rz_is_identity) return;
  eval->Rz_is_identity = nd == 0;
  for (size_t f = 0; f < nf; f++) {
    const size_t independent = (size_t)state->index[nd + f];
    for (size_t k = 0; k < nd; k++) eval->column[k] = -eval->Phi_z[(size_t)state->row[k] * n + independent];
    bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < nd; k++) eval->Rz[(size_t)state->index[k] * nf + f] = eval->column[k];
    for (size_t g = 0; g < nf; g++) eval->Rz[(size_t)state->index[nd + g] * nf + f] = g == f ? 1.0 : 0.0;
    /* what they are but for rounding */
    for (size_t i = 0; i < model->n_motions; i++) eval->Rz[model->motion[i].joint * nf + f] = 0.0;
  }
}

void bramah__project(const bramah_model *model, const bramah__eval *eval, const double *x, double *y)
{
  if (eval->Rz_is_identity)
    memcpy(y, x, model->n * sizeof *y);
  else
    bramah__apply_transposed(model->n, model->n_independent, eval->Rz, x, y);
}

static void fill_lines(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, nf = model->n_independent;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    eval->s[c] = bramah__line_length(&model->tree, &model->line[c], state->z, eval->pose, eval->row + c * n);
    bramah__project(model, eval, eval->row + c * n, eval->row_i + c * nf);
  }
}

/* cos(pitch) below which the yaw and roll of a spherical joint count as one motion: about 1.1 deg */
static const double singular_cosine = 0.02;

const char *bramah__singular_joint(const bramah_model *model, const double *z, const char **reason)
{
  const char *name = NULL;
  double least = singular_cosine;
  for (size_t b = 0; b < model->n_balls; b++) {
    const size_t j = model->ball[b].first + 1;
    if (!(fabs(cos(z[j])) < least)) continue;
    least = fabs(cos(z[j]));
    name = model->joint_name[j];
    if (reason)
      *reason =
          model->ball[b].pinned
              ? "the spherical joint comes too near its pitch of 90 deg, where it is singular as long as a "
                "spring or actuator acts on its angles"
              : "the spherical joint turns too far at once";
  }
  return name;
}

static bramah_status finish_position(const bramah_model *model, const bramah__state *state,
                                     bramah__eval *eval)
{
  eval->factored = 0;
  eval->D_known = 0;
  if (bramah__singular_joint(model, state->z, NULL)) return BRAMAH_E_SINGULAR;
  if (factor_dependent(model, state, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  fill_Rz(model, state, eval);
  if (model->n_motions) bramah__fill_drift(model, state, eval);
  fill_lines(model, state, eval);
  return BRAMAH_OK;
}

bramah_status bramah__evaluate_position(const bramah_model *model, const bramah__state *state,
                                        bramah__eval *eval)
{
  bramah__tree_pose(&model->tree, state->base, state->z, eval->pose);
  return finish_position(model, state, eval);
}

static double violation(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  bramah__constraint_residual(model, state, eval);
  double largest = 0.0;
  for (size_t k = 0; k < model->n_dependent; k++) largest = fmax(largest, fabs(eval->Phi[state->row[k]]));
  return largest;
}

bramah_status bramah__close_position(const bramah_model *model, bramah__state *state, bramah__eval *eval)
{
  const size_t nd = model->n_dependent;
  for (int iteration = 0; iteration < CLOSE_ITERATIONS; iteration++) {
    bramah__prescribe(model, state);
    bramah__tree_pose(&model->tree, state->base, state->z, eval->pose);
    const double error = violation(model, state, eval);
    if (error <= model->closure_tolerance) return finish_position(model, state, eval);
    if (!isfinite(error)) return BRAMAH_E_CLOSURE;
    if (factor_dependent(model, state, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
    for (size_t k = 0; k < nd; k++) eval->column[k] = -eval->Phi[state->row[k]];
    bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < nd; k++) state->z[state->index[k]] += eval->column[k];
  }
  return BRAMAH_E_CLOSURE;
}

const char *bramah__worst_loop(const bramah_model *model, const bramah__eval *eval)
{
  const char *name = model->name;
  double widest = -1.0;
  for (size_t i = 0; i < model->n_loops; i++) {
    const double gap = bramah__loop_gap(&model->loop[i], eval->Phi);
    if (gap > widest) widest = gap, name = model->loop_name[i];
  }
  for (size_t i = 0; i < model->n_motions; i++) {
    const double gap = fabs(eval->Phi[model->motion[i].row]);
    if (gap > widest) widest = gap, name = model->motion_name[i];
  }
  return name;
}

/* bias: joint accelerations when the independent ones vanish, [-(Phi_z^d)^-1 gamma ; 0] (D 2.28). */
static void fill_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t nd = model->n_dependent;
  for (size_t f = nd; f < model->n; f++) eval->bias[state->index[f]] = 0.0;
  if (nd == 0) return;
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, state->zd, NULL, eval->Zd);
  bramah__constraint_bias(model, state, eval);
  for (size_t k = 0; k < nd; k++) eval->column[k] = -eval->gamma[state->row[k]];
  bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
  for (size_t k = 0; k < nd; k++) eval->bias[state->index[k]] = eval->column[k];
  for (size_t i = 0; i < model->n_motions; i++)
    eval->bias[model->motion[i].joint] = -eval->gamma[model->motion[i].row];
}

void bramah__dependent_rates(const bramah_model *model, bramah__state *state, const bramah__eval *eval)
{
  const size_t nd = model->n_dependent, nf = model->n_independent;
  for (size_t k = 0; k < nd; k++) {
    const size_t j = (size_t)state->index[k];
    double rate = model->n_motions ? eval->drift[j] : 0.0;
    for (size_t f = 0; f < nf; f++) rate += eval->Rz[j * nf + f] * state->zd[state->index[nd + f]];
    state->zd[j] = rate;
  }
}

void bramah__evaluate_motion(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  eval->D_known = 0;
  bramah__tree_velocity(&model->tree, eval->pose, state->zd, eval->Z);
  fill_bias(model, state, eval);
  bramah__apply(model->circuit.n_cylinders, model->n, eval->row, state->zd, eval->v);
}

void bramah__set_motion(const bramah_model *model, bramah__state *state, bramah__eval *eval)
{
  bramah__dependent_rates(model, state, eval);
  bramah__evaluate_motion(model, state, eval);
}

void bramah__evaluate_forces(const bramah_model *model, const double *p, const double *U, const double *x,
                             double *xd, bramah__eval *eval)
{
  for (size_t c = 0; c < model->circuit.n_cylinders; c++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[c];
    const size_t first = cylinder->first_state;
    eval->friction[c] = cylinder->friction_scale *
                        bramah__friction_force(&cylinder->friction, eval->v[c], x + first, xd + first);
  }
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    eval->stop[c] = bramah__stop_force(&model->circuit, c, eval->s[c], eval->v[c]);
  bramah__update_forces(model, p, U, eval);
}

/* Beyond A_h pi, which stands there already. */
static void add_drags(const bramah_model *model, const double *p, const double *U, bramah__eval *eval)
{
  const bramah__circuit *circuit = &model->circuit;
  bramah__metered_solve(circuit, p, eval->v, U, eval->w, eval->P);
  for (size_t i = 0; i < circuit->n_metered; i++)
    eval->force[circuit->metered_port[i].cylinder] += bramah__metered_drag(circuit, i, eval->w[i], eval->v);
}

void bramah__update_forces(const bramah_model *model, const double *p, const double *U, bramah__eval *eval)
{
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    eval->force[c] = bramah__pressure_force(&model->circuit, c, p) - eval->friction[c] + eval->stop[c] +
                     model->circuit.cylinder[c].load;
  if (model->circuit.n_metered) add_drags(model, p, U, eval);
}

void bramah__evaluate_rates(const bramah_model *model, const double *p, const double *U, bramah__eval *eval,
                            double *pd)
{
  bramah__circuit_rates(&model->circuit, p, eval->s, eval->v, U, eval->flow, pd);
}

void bramah__evaluate_rates_again(const bramah_model *model, const double *p, const double *U,
                                  bramah__eval *eval, double *pd)
{
  bramah__fluid_rates(&model->circuit, p, eval->s, eval->v, U, eval->flow, pd);
  if (model->circuit.n_metered) bramah__metered_rates_of(&model->circuit, eval->w, eval->v, eval->flow, pd);
}

bramah_status bramah__evaluate(const bramah_model *model, bramah__state *state, bramah__eval *eval)
{
  if (bramah__evaluate_position(model, state, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_motion(model, state, eval);
  bramah__evaluate_forces(model, state->p, state->U, state->x, state->xd, eval);
  return BRAMAH_OK;
}
