/* SPDX-License-Identifier: MIT */
/* Constraints of loops and motions at a pose: residual, Jacobian, rates; where joints are placed along them. */
#include "lib/plant/state.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/math/elementary.h"
#include <math.h>
#include <string.h>

static double seconds(const bramah__state *state) { return (double)*state->time_ns * 1e-9; }

void bramah__constraint_residual(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  bramah__closure_residual(model->n_loops, model->loop, eval->pose, eval->Phi);
  bramah__motion_residual(model->n_motions, model->motion, seconds(state), state->z, eval->Phi);
}

void bramah__constraint_jacobian(const bramah_model *model, bramah__eval *eval)
{
  bramah__closure_jacobian(&model->tree, model->n_loops, model->loop, eval->pose, eval->Phi_z);
  bramah__motion_jacobian(model->n, model->n_motions, model->motion, eval->Phi_z);
}

void bramah__constraint_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  bramah__closure_bias(model->n_loops, model->loop, eval->pose, eval->Z, eval->Zd, eval->gamma);
  bramah__motion_bias(model->n_motions, model->motion, seconds(state), eval->gamma);
}

void bramah__constraint_rate(const bramah_model *model, const bramah__state *state, const bramah__eval *eval,
                             double *rate)
{
  bramah__apply(model->m, model->n, eval->Phi_z, state->zd, rate);
  bramah__motion_add_rate(model->n_motions, model->motion, seconds(state), rate);
}

void bramah__prescribe(const bramah_model *model, bramah__state *state)
{
  for (size_t i = 0; i < model->n_motions; i++) {
    double f[3];
    bramah__motion_at(&model->motion[i], seconds(state), f);
    state->z[model->motion[i].joint] = f[0];
  }
}

/* ---- the position stage ---- */

const char *bramah__singular_joint(const bramah_model *model, const double *z, const char **reason)
{
  const char *name = NULL;
  double least = BRAMAH__SINGULAR_COSINE;
  for (size_t b = 0; b < model->n_balls; b++) {
    const size_t j = model->ball[b].first + 1;
    const double cosine = fabs(bramah__cos(z[j]));
    if (!(cosine < least)) continue;
    least = cosine;
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

/* Rz = [-(Phi_z^d)^-1 Phi_z^i ; I], rows in the order of the joints (D 2.26), and where motions are prescribed the
 * rates when the independent ones vanish, drift = [-(Phi_z^d)^-1 Phi_t ; 0]. */
void bramah__fill_Rz(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, n_dependent = model->n_dependent, n_dof = model->n_independent;
  if (n_dependent == 0 && eval->Rz_is_identity) return;
  eval->Rz_is_identity = n_dependent == 0;
  for (size_t f = 0; f < n_dof; f++) {
    const size_t independent = (size_t)state->index[n_dependent + f];
    for (size_t k = 0; k < n_dependent; k++)
      eval->column[k] = -eval->Phi_z[(size_t)state->row[k] * n + independent];
    bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < n_dependent; k++) eval->Rz[(size_t)state->index[k] * n_dof + f] = eval->column[k];
    for (size_t g = 0; g < n_dof; g++)
      eval->Rz[(size_t)state->index[n_dependent + g] * n_dof + f] = g == f ? 1.0 : 0.0;
    /* what they are but for rounding */
    for (size_t i = 0; i < model->n_motions; i++) eval->Rz[model->motion[i].joint * n_dof + f] = 0.0;
  }

  if (model->n_motions == 0) return;
  double *Phi_t = eval->gamma;
  memset(Phi_t, 0, model->m * sizeof *Phi_t);
  bramah__motion_add_rate(model->n_motions, model->motion, seconds(state), Phi_t);
  for (size_t k = 0; k < n_dependent; k++) eval->column[k] = -Phi_t[state->row[k]];
  bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
  memset(eval->drift, 0, n * sizeof *eval->drift);
  for (size_t k = 0; k < n_dependent; k++) eval->drift[state->index[k]] = eval->column[k];
  for (size_t i = 0; i < model->n_motions; i++)
    eval->drift[model->motion[i].joint] = -Phi_t[model->motion[i].row];
}

double bramah__least_pivot(const bramah_model *model, const bramah__eval *eval)
{
  double least = (double)INFINITY;
  for (size_t k = 0; k < model->n_dependent; k++)
    least = fmin(least, fabs(eval->LU[k * model->n_dependent + k]));
  return least / model->usual_pivot;
}

enum { CLOSE_ITERATIONS = 20 };
/* Below this least pivot an error of the pose within the tolerance becomes a hundred times that of the rates and ten
 * thousand times that of the accelerations: closed loops are given one more iteration. */
static const double ill_determined = 0.3;

bramah_status bramah__place_joints(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                   bramah__loops loops, double least_pivot)
{
  const size_t n = model->n, n_dependent = model->n_dependent;
  int closed = loops == BRAMAH__LOOPS_AS_THEY_ARE, polished = closed;
  for (int iteration = 0;; iteration++) {
    if (iteration == CLOSE_ITERATIONS) return BRAMAH_E_CLOSURE;
    if (loops == BRAMAH__LOOPS_CLOSED) bramah__prescribe(model, state);
    bramah__tree_pose(&model->tree, state->base, state->z, eval->pose);

    /* Do the loops close? */
    if (loops == BRAMAH__LOOPS_CLOSED) {
      double error = 0.0;
      bramah__constraint_residual(model, state, eval);
      for (size_t k = 0; k < n_dependent; k++) error = fmax(error, fabs(eval->Phi[state->row[k]]));
      closed = error <= model->closure_tolerance;
      if (!isfinite(error)) return BRAMAH_E_CLOSURE;
    }
    if (closed && bramah__singular_joint(model, state->z, NULL)) return BRAMAH_E_SINGULAR;

    /* Phi_z, and the factors of its dependent block. */
    bramah__constraint_jacobian(model, eval);
    for (size_t k = 0; k < n_dependent; k++)
      for (size_t l = 0; l < n_dependent; l++)
        eval->LU[k * n_dependent + l] = eval->Phi_z[(size_t)state->row[k] * n + (size_t)state->index[l]];
    if (bramah__lu_factor(n_dependent, eval->LU, eval->pivot)) return BRAMAH_E_SINGULAR;
    if (bramah__least_pivot(model, eval) < least_pivot) return BRAMAH_E_SINGULAR;
    if (closed && (polished || bramah__least_pivot(model, eval) > ill_determined)) break;
    polished = closed;

    /* Newton's correction of the dependent coordinates. */
    for (size_t k = 0; k < n_dependent; k++) eval->column[k] = -eval->Phi[state->row[k]];
    bramah__lu_solve(n_dependent, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < n_dependent; k++) state->z[state->index[k]] += eval->column[k];
  }
  bramah__fill_Rz(model, state, eval);
  return BRAMAH_OK;
}
