/* SPDX-License-Identifier: MIT */
/* Passing singular poses, where two branches of the motion cross and the constraints determine neither the pose
 * nor the ratios of the rates: a parallelogram that lies flat may go on as one or as an antiparallelogram.
 *
 * On the branch that the machine is on everything is smooth. So near a singular pose it is not asked of the
 * constraints there but of poses before and behind it, at the equidistant times t = -3 tau .. 3 tau of a motion
 * with the present rates of the independent coordinates; t = 0 is interpolated from these six, with an error of
 * order tau^6. The dependent rates, which the state carries, lead to the poses and so say which branch it is. */
#include "lib/plant/state.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Of the smallest pivot that is usual for this machine: below the first a pose is interpolated, from poses above
 * the second. */
const double bramah__near_singular = 0.01;
static const double clear = 0.02;
static const double first_move = 0.02, longest_move = 0.4; /* [rad or m] to the first poses */
static const double largest_gap = 1e-9;                    /* [m or rad] of loops in an interpolated pose */

/* Rates [n] of the motion to the other poses: those of the state where they fit the constraints, for what fits
 * them badly has not been found from them yet. */
static void lead(const bramah_model *model, const bramah__state *state, bramah__eval *eval, double *rate)
{
  const size_t n = model->n, n_dof = model->n_independent;
  double size = 0.0, off = 0.0;
  bramah__constraint_rate(model, state, eval, eval->column);
  for (size_t k = 0; k < model->m; k++) off = fmax(off, fabs(eval->column[k]));
  for (size_t k = 0; k < model->m * n; k++) size = fmax(size, fabs(eval->Phi_z[k] * state->zd[k % n]));
  memcpy(rate, state->zd, n * sizeof *rate);
  if (off <= 0.1 * size) return;
  bramah__fill_Rz(model, state, eval);
  for (size_t k = 0; k < model->n_dependent; k++) {
    const size_t j = (size_t)state->index[k];
    rate[j] = model->n_motions ? eval->drift[j] : 0.0;
    for (size_t f = 0; f < n_dof; f++) rate[j] += eval->Rz[j * n_dof + f] * eval->bridge_speed[f];
  }
}

/* The pose at k tau: state->z and eval, from the guess in state->z; and its part in the sums. */
static bramah_status add_pose(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                              int64_t start_ns, int k, double tau)
{
  static const double value[4] = {0.0, 0.75, -0.3, 0.05}, slope[4] = {0.0, 0.75, -0.15, 1.0 / 60.0};
  const size_t n = model->n, n_dof = model->n_independent;
  const double w = value[k < 0 ? -k : k], ws = (k < 0 ? -slope[-k] : slope[k]) / tau;
  if (model->n_motions) *state->time_ns = start_ns + (int64_t)llround(k * tau * 1e9);
  for (size_t f = 0; f < n_dof; f++) {
    const size_t j = (size_t)state->index[model->n_dependent + f];
    state->z[j] = eval->bridge_z[j] + k * tau * eval->bridge_speed[f];
  }
  const bramah_status status = bramah__place_joints(model, state, eval, BRAMAH__LOOPS_CLOSED, clear);
  if (status != BRAMAH_OK) return status;
  for (size_t j = 0; j < n; j++) {
    double rate = model->n_motions ? eval->drift[j] : 0.0;
    eval->bridge_drift[j] += w * rate;
    for (size_t f = 0; f < n_dof; f++) {
      rate += eval->Rz[j * n_dof + f] * eval->bridge_speed[f];
      eval->bridge_R[j * n_dof + f] += w * eval->Rz[j * n_dof + f];
      eval->bridge_D[j * n_dof + f] += ws * eval->Rz[j * n_dof + f];
    }
    eval->bridge_bias[j] += ws * rate;
    eval->bridge_pose[j] += w * state->z[j];
  }
  return BRAMAH_OK;
}

/* The six poses. Of each pair the guess of the first follows the rates `lead` [n], that of the others the
 * parabola through the poses before. */
static bramah_status add_poses(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                               double tau, const double *lead_rate)
{
  const size_t n = model->n, n_dof = model->n_independent;
  const int64_t start_ns = *state->time_ns;
  memset(eval->bridge_R, 0, n * n_dof * sizeof *eval->bridge_R);
  memset(eval->bridge_D, 0, n * n_dof * sizeof *eval->bridge_D);
  double *const sums[] = {eval->bridge_pose, eval->bridge_bias, eval->bridge_drift};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) memset(sums[i], 0, n * sizeof *sums[i]);
  bramah_status status = BRAMAH_OK;
  for (int side = -1; side <= 1 && status == BRAMAH_OK; side += 2) {
    double *before = eval->bridge_before, *here = eval->bridge_here; /* the two poses before */
    for (size_t j = 0; j < n; j++) {
      here[j] = eval->bridge_z[j];
      before[j] = here[j] - side * tau * lead_rate[j];
    }
    for (int k = 1; k <= 3 && status == BRAMAH_OK; k++) {
      for (size_t j = 0; j < n; j++) state->z[j] = 2.0 * here[j] - before[j];
      status = add_pose(model, state, eval, start_ns, side * k, tau);
      memcpy(before, here, n * sizeof *before);
      memcpy(here, state->z, n * sizeof *here);
    }
  }
  *state->time_ns = start_ns;
  memcpy(state->z, eval->bridge_z, n * sizeof *state->z);
  return status;
}

bramah_status bramah__bridge(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                             bramah__loops loops)
{
  const size_t n = model->n, n_dependent = model->n_dependent, n_dof = model->n_independent;
  double fastest = 0.0, *rate = eval->bridge_rate;
  for (size_t f = 0; f < n_dof; f++) eval->bridge_speed[f] = state->zd[state->index[n_dependent + f]];
  memcpy(eval->bridge_z, state->z, n * sizeof *state->z);
  lead(model, state, eval, rate);
  for (size_t j = 0; j < n; j++) fastest = fmax(fastest, fabs(rate[j]));
  if (!(fastest > 1e-9 && isfinite(fastest))) return BRAMAH_E_SINGULAR; /* at rest no branch is known */

  bramah_status status = BRAMAH_E_SINGULAR;
  for (double move = first_move; status != BRAMAH_OK && move <= longest_move; move *= 2.0)
    status = add_poses(model, state, eval, move / fastest, rate);
  if (status != BRAMAH_OK) return status;

  for (size_t k = 0; k < n_dependent && loops == BRAMAH__LOOPS_CLOSED; k++)
    state->z[state->index[k]] = eval->bridge_pose[state->index[k]];
  bramah__tree_pose(&model->tree, state->base, state->z, eval->pose);
  if (bramah__singular_joint(model, state->z, NULL)) return BRAMAH_E_SINGULAR;
  bramah__constraint_residual(model, state, eval);
  for (size_t k = 0; k < model->m && loops == BRAMAH__LOOPS_CLOSED; k++)
    if (!(fabs(eval->Phi[k]) <= largest_gap * fmax(1.0, 1e13 * model->closure_tolerance)))
      return BRAMAH_E_CLOSURE;
  bramah__constraint_jacobian(model, eval);
  memcpy(eval->Rz, eval->bridge_R, n * n_dof * sizeof *eval->Rz);
  memcpy(eval->drift, eval->bridge_drift, n * sizeof *eval->drift);
  eval->bridged = 1;
  return BRAMAH_OK;
}

/* Quadratic in the rates; exact to first order about those that the poses were found with. */
void bramah__bridge_bias(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, n_dof = model->n_independent;
  memcpy(eval->bias, eval->bridge_bias, n * sizeof *eval->bias);
  for (size_t f = 0; f < n_dof; f++) {
    const double more = state->zd[state->index[model->n_dependent + f]] - eval->bridge_speed[f];
    for (size_t j = 0; j < n; j++) eval->bias[j] += 2.0 * eval->bridge_D[j * n_dof + f] * more;
  }
}
