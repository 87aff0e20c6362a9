/* SPDX-License-Identifier: MIT */
/* How the plant comes to another state than by a step: a candidate is closed, its accelerations and pressure rates
 * are found from the equations of motion, and only then it becomes the state. */
#include "lib/plant/constraints.h"
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"

#include <math.h>

bramah_status bramah__refresh(bramah_coupled *c, bramah_diag *diag)
{
  if (c->now_valid) return BRAMAH_OK;
  if (bramah__evaluate(c->model, &c->state, c->now) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the constraints are singular in this pose");
  c->now_valid = 1;
  return BRAMAH_OK;
}

bramah_status bramah__restart_rates(const bramah_model *model, bramah__state *state, bramah__eval *eval,
                                    double *zdd_i)
{
  if (bramah__factor_mass(model, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_rhs(model, state, eval);
  bramah__solve_acceleration(model, eval, zdd_i);
  bramah__expand_acceleration(model, eval, zdd_i, state->zdd);
  bramah__drive_forces(model, state, eval, state->drive);
  bramah__evaluate_rates(model, state->p, state->U, eval, state->pd);
  return BRAMAH_OK;
}

/* Is every number of the state finite? Names the first that is not. */
static bramah_status check_finite(const bramah_model *model, const bramah__state *state, bramah_diag *diag)
{
  for (size_t j = 0; j < model->n; j++)
    if (!isfinite(state->z[j]) || !isfinite(state->zd[j]) || !isfinite(state->zdd[j]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->joint_name[j],
                          "the motion of this joint is not finite");
  for (size_t i = 0; i < model->circuit.n_volumes; i++)
    if (!isfinite(state->p[i]) || !isfinite(state->pd[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->volume_name[i], "the pressure is not finite");
  return BRAMAH_OK;
}

/* Loops closed by Newton, or left as the linearised position problem leaves them. */
static bramah_status place_candidate(bramah_coupled *c)
{
  return c->linearised ? bramah__evaluate_position(c->model, &c->next, c->trial)
                       : bramah__close_position(c->model, &c->next, c->trial);
}

/* With the tables that belong to it. */
static bramah_status try_candidate(bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah_status status = place_candidate(c);
  if (status == BRAMAH_E_CLOSURE)
    return bramah__fail(diag, status, bramah__worst_loop(model, c->trial),
                        "the loop cannot be closed at the corrected position");
  if (status == BRAMAH_OK) {
    bramah__set_motion(model, &c->next, c->trial);
    bramah__evaluate_forces(model, c->next.p, c->next.U, c->next.x, c->next.xd, c->trial);
    status = bramah__restart_rates(model, &c->next, c->trial, c->zdd_i);
  }
  if (status != BRAMAH_OK) {
    const char *reason = "the equations of motion are singular";
    const char *joint = bramah__singular_joint(model, c->next.z, &reason);
    return bramah__fail(diag, status, joint ? joint : model->name, reason);
  }
  status = check_finite(model, &c->next, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
  c->now_valid = 1;
  return BRAMAH_OK;
}

int bramah__place_direct_spools(const bramah_model *model, const double *u, double *U)
{
  int moved = 0;
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    if (!bramah__is_direct(valve)) continue;
    const double reference = bramah__spool_reference(valve, u[valve->input]);
    moved |= reference != U[i];
    U[i] = reference;
  }
  return moved;
}

bramah_status bramah__adopt_with_spools(bramah_coupled *c, bramah_diag *diag)
{
  bramah__apply_parameters(c, c->next.theta);
  const bramah_status status = try_candidate(c, diag);
  if (status != BRAMAH_OK) bramah__apply_parameters(c, c->state.theta);
  return status;
}

bramah_status bramah__adopt_candidate(bramah_coupled *c, bramah_diag *diag)
{
  bramah__apply_parameters(c, c->next.theta); /* offsets of commands among them */
  bramah__place_direct_spools(c->model, c->next.u, c->next.U);
  return bramah__adopt_with_spools(c, diag);
}

bramah_status bramah__settle_rates(bramah_coupled *c, bramah_diag *diag)
{
  bramah__state_copy(&c->state, &c->next);
  return bramah__adopt_candidate(c, diag);
}
