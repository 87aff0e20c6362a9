/* SPDX-License-Identifier: MIT */
/* How the plant comes to another state than by a step: other values of parameters, corrections, other
 * coordinates. */
#include "lib/plant/compiled.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* ---- a candidate is closed, its accelerations and pressure rates are found from the equations of motion,
 * and only then it becomes the state ---- */

bramah_status bramah__refresh(bramah_coupled *c, bramah_diag *diag)
{
  if (c->now_valid) return BRAMAH_OK;
  if (bramah__evaluate(c->model, &c->state, c->now) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, c->model->name, "the constraints are singular in this pose");
  c->now_valid = 1;
  return BRAMAH_OK;
}

void bramah__take_candidate(bramah_coupled *c)
{
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
  /* What is interpolated depends on the rates: it is evaluated anew with those that it has led to. */
  c->now_valid = !c->now->bridged && !c->now->by_program;
}

/* Accelerations and rates of the candidate, whose pose and motion are in `eval`. */
static bramah_status find_rates(bramah_coupled *c, bramah__eval *eval, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah__state *next = &c->next;
  bramah__evaluate_forces(model, next->p, next->U, next->x, next->xd, eval);
  const bramah_status status = bramah__accelerations(model, next, eval, c->zdd_i);
  if (status != BRAMAH_OK) return status;
  bramah__expand_acceleration(model, eval, c->zdd_i, next->zdd);
  bramah__drive_forces(model, next, eval, next->drive);
  bramah__evaluate_rates(model, next->p, next->U, eval, next->pd);

  for (size_t j = 0; j < model->n; j++)
    if (!isfinite(next->z[j]) || !isfinite(next->zd[j]) || !isfinite(next->zdd[j]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->joint_name[j],
                          "the motion of this joint is not finite");
  for (size_t i = 0; i < model->circuit.n_volumes; i++)
    if (!isfinite(next->p[i]) || !isfinite(next->pd[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, model->volume_name[i], "the pressure is not finite");
  return BRAMAH_OK;
}

static bramah_status fail_singular(const bramah_coupled *c, bramah_status status, bramah_diag *diag)
{
  const char *reason = "the equations of motion are singular";
  const char *joint = bramah__singular_joint(c->model, c->next.z, &reason);
  return bramah__fail(diag, status, joint ? joint : c->model->name, reason);
}

/* With the tables that belong to it. */
static bramah_status try_candidate(bramah_coupled *c, bramah_diag *diag)
{
  bramah__eval *eval = c->trial;
  if (bramah__compiled_adopt(c)) {
    bramah__take_candidate(c);
    bramah__compiled_took(c, 1);
    return BRAMAH_OK;
  }

  /* Loops closed by Newton, or left as the linearised position problem leaves them. */
  bramah_status status = bramah__evaluate_position(
      c->model, &c->next, eval, c->linearised ? BRAMAH__LOOPS_AS_THEY_ARE : BRAMAH__LOOPS_CLOSED);
  if (status == BRAMAH_E_CLOSURE)
    return bramah__fail(diag, status, bramah__worst_loop(c->model, eval),
                        "the loop cannot be closed at the corrected position");
  if (status == BRAMAH_OK) {
    bramah__set_motion(c->model, &c->next, eval);
    status = find_rates(c, eval, diag);
    if (status == BRAMAH_E_NOT_FINITE) return status;
  }
  if (status != BRAMAH_OK) return fail_singular(c, status, diag);
  bramah__take_candidate(c);
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
  if (status != BRAMAH_OK) bramah__follow_state(c);
  return status;
}

bramah_status bramah__adopt_candidate(bramah_coupled *c, bramah_diag *diag)
{
  bramah__apply_parameters(c, c->next.theta); /* offsets of commands among them */
  bramah__place_direct_spools(c->model, c->next.u, c->next.U);
  bramah__stand(c, &c->next);
  return bramah__adopt_with_spools(c, diag);
}

bramah_status bramah__settle_rates(bramah_coupled *c, bramah_diag *diag)
{
  bramah__state_copy(&c->state, &c->next);
  return bramah__adopt_candidate(c, diag);
}

bramah_status bramah__follow_spools(bramah_coupled *c, bramah_diag *diag)
{
  bramah__state_copy(&c->state, &c->next);
  bramah__stand(c, &c->next);
  if (c->compiled.program || memcmp(c->next.block, c->state.block, c->state.size) != 0)
    return bramah__adopt_candidate(c, diag);
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  status = find_rates(c, c->now, diag);
  if (status == BRAMAH_OK)
    bramah__state_copy(&c->next, &c->state);
  else
    c->now_valid = 0;
  return status == BRAMAH_E_SINGULAR ? fail_singular(c, status, diag) : status;
}

bramah_status bramah__adopt_on_ground(bramah_coupled *c, bramah_diag *diag)
{
  bramah__stand(c, &c->next);
  if (memcmp(c->next.block, c->state.block, c->state.size) == 0) return BRAMAH_OK;
  return bramah__adopt_with_spools(c, diag);
}

bramah_status bramah__renew_planes(bramah_coupled *c, bramah_diag *diag)
{
  if (c->model->n_standing + c->model->n_meetings == 0) return BRAMAH_OK;
  bramah__state_copy(&c->state, &c->next);
  return bramah__adopt_on_ground(c, diag);
}

/* ---- change of coordinates, and how errors follow it ----
 *
 * Independent coordinates: full pivoting keeps |Rz| near one; as the machine moves, the choice made
 * earlier may come near a dead point, where dependent coordinates race. The choice is then made anew, and
 * the errors of the old coordinates are mapped to the new ones: dz_new = Rz_new dz, dz'_new = Rz_new dz' +
 * D_new dz.
 *
 * Spherical and floating joints: where the pitch has gone far the joint is re-based, which
 * changes all three of its coordinates by dz_new = X dz, dz'_new = X dz' + Y dz; with E the same for all
 * joints (the identity for the others) errors map by dz_new = E_X Rz dz_i, dz'_new = E_X (Rz dz'_i + D
 * dz_i) + E_Y Rz dz_i, of which the rows of the coordinates that are independent afterwards make the map. */

static double largest_ratio(const bramah_model *model, const bramah__eval *eval)
{
  double largest = 0.0;
  for (size_t k = 0; k < model->n * model->n_independent; k++) largest = fmax(largest, fabs(eval->Rz[k]));
  return largest;
}

/* T_step from the derivatives of all joint positions and rates after the change by the independent ones
 * before it: dz = Rz dz_i, dz' = Rz dz'_i + D dz_i, both [n x n_dof]. */
static void fill_map(bramah_coupled *c, const double *Rz, const double *D, const int *index)
{
  const bramah_model *model = c->model;
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent, n = bramah__n_error(model);
  memset(c->T_step, 0, n * n * sizeof *c->T_step);
  for (size_t r = 0; r < n_dof; r++) {
    const size_t j = (size_t)index[n_dependent + r];
    for (size_t f = 0; f < n_dof; f++) {
      c->T_step[r * n + f] = c->T_step[(n_dof + r) * n + n_dof + f] = Rz[j * n_dof + f];
      c->T_step[(n_dof + r) * n + f] = D[j * n_dof + f];
    }
  }
  for (size_t i = 2 * n_dof; i < n; i++) c->T_step[i * n + i] = 1.0;
}

/* `next`, evaluated in `trial`, becomes the state; the map is composed with a change that nobody has asked
 * about yet. */
static void adopt(bramah_coupled *c)
{
  const size_t n = bramah__n_error(c->model);
  if (c->basis_changed)
    bramah__multiply(n, n, n, c->T_step, c->T, c->T_work);
  else
    memcpy(c->T_work, c->T_step, n * n * sizeof *c->T_work);
  double *swap = c->T;
  c->T = c->T_work;
  c->T_work = swap;
  c->basis_changed = 1;
  bramah__take_candidate(c);
}

/* Choose independent coordinates of `next` from Phi_z; 0 if they would be more or fewer than they are. */
static int choose(bramah_coupled *c, const double *Phi_z)
{
  const bramah_model *model = c->model;
  memcpy(c->Phi_z_work, Phi_z, model->m * model->n * sizeof(double));
  const size_t rank =
      bramah__eliminate(model->m, model->n, c->Phi_z_work, 1e-9, NULL, c->row_work, c->index_work);
  if (rank != model->n_dependent) return 0;
  memcpy(c->next.index, c->index_work, model->n * sizeof(int));
  memcpy(c->next.row, c->row_work, model->m * sizeof(int));
  return 1;
}

/* Re-base the joints that are far. Where that fails (loops that are singular just here) they stay as they
 * are; the next step tries again. Independent coordinates are chosen anew with it: the old choice means
 * other motions now. */
static int rebase(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent;
  int any = 0;
  for (size_t b = 0; b < model->n_balls; b++) any |= bramah__ball_is_far(model, &c->state, b);
  if (!any || bramah__refresh(c, NULL) != BRAMAH_OK) return 0;
  double *Rz = c->now->MR; /* scratch of the same size */
  bramah__rate_derivative(model, &c->state, c->now);
  memcpy(c->D, c->now->D, model->n * n_dof * sizeof *c->D);
  memcpy(Rz, c->now->Rz, model->n * n_dof * sizeof *Rz);
  bramah__state_copy(&c->state, &c->next);
  for (size_t b = 0; b < model->n_balls; b++) {
    double X[9], Y[9];
    if (!bramah__ball_is_far(model, &c->next, b)) continue;
    bramah__rebase_ball(model, &c->next, b, X, Y);
    /* Rows of the joint `first` and the two behind it: D = X D + Y Rz, Rz = X Rz. */
    size_t first = model->ball[b].first;
    for (size_t f = 0; f < n_dof; f++) {
      double z[3], d[3];
      for (size_t k = 0; k < 3; k++) {
        z[k] = d[k] = 0.0;
        for (size_t l = 0; l < 3; l++) {
          z[k] += X[3 * k + l] * Rz[(first + l) * n_dof + f];
          d[k] += X[3 * k + l] * c->D[(first + l) * n_dof + f] + Y[3 * k + l] * Rz[(first + l) * n_dof + f];
        }
      }
      for (size_t k = 0; k < 3; k++) {
        Rz[(first + k) * n_dof + f] = z[k];
        c->D[(first + k) * n_dof + f] = d[k];
      }
    }
  }

  /* The choice comes before the position stage, which needs one: Phi_z of `next` into `trial`. */
  if (model->n_dependent) {
    bramah__tree_pose(&model->tree, c->next.base, c->next.z, c->trial->pose);
    bramah__constraint_jacobian(model, c->trial);
    if (!choose(c, c->trial->Phi_z)) return 0;
  }
  if (bramah__evaluate(model, &c->next, c->trial) != BRAMAH_OK) return 0;
  fill_map(c, Rz, c->D, c->next.index);
  adopt(c);
  c->report.rebases++;
  c->error.end_ns = -1; /* of other coordinates */
  return 1;
}

void bramah__update_basis(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent;
  if (rebase(c) || n_dependent == 0 || n_dof == 0) return;
  const double before = largest_ratio(model, c->now);
  if (before < bramah__poor_ratio || bramah__refresh(c, NULL) != BRAMAH_OK) return;

  /* Another choice, if there is one and it is much better. */
  bramah__state_copy(&c->state, &c->next);
  if (!choose(c, c->now->Phi_z)) return;
  if (memcmp(c->index_work + n_dependent, c->state.index + n_dependent, n_dof * sizeof(int)) == 0) return;
  if (bramah__evaluate(model, &c->next, c->trial) != BRAMAH_OK) return;
  if (largest_ratio(model, c->trial) > 0.5 * before) return;
  bramah__rate_derivative(model, &c->state, c->now);
  fill_map(c, c->now->Rz, c->now->D, c->next.index);
  adopt(c);
  c->report.basis_changes++;
}
