/* SPDX-License-Identifier: MIT */
/* Change of coordinates, and how errors follow it.
 *
 * Independent coordinates: full pivoting keeps |Rz| near one; as the machine moves, the choice made
 * earlier may come near a dead point, where dependent coordinates race. The choice is then made anew, and
 * the errors of the old coordinates are mapped to the new ones: dz_new = Rz_new dz, dz'_new = Rz_new dz' +
 * D_new dz.
 *
 * Spherical and floating joints: where the pitch has gone far the joint is re-based (rebase.c), which
 * changes all three of its coordinates by dz_new = X dz, dz'_new = X dz' + Y dz; with E the same for all
 * joints (the identity for the others) errors map by dz_new = E_X Rz dz_i, dz'_new = E_X (Rz dz'_i + D
 * dz_i) + E_Y Rz dz_i, of which the rows of the coordinates that are independent afterwards make the map. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/dense.h"
#include "lib/multibody/partition.h"
#include "lib/plant/constraints.h"

#include <math.h>
#include <string.h>

/* Poor when a dependent coordinate moves this much faster than an independent one; a new choice must halve
 * it, so that two equally good choices do not alternate. */
static const double poor = 6.0;

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
  const size_t n_dependent = model->n_dependent, n_dof = model->n_independent,
               n_first_order = model->circuit.n_volumes, n = 2 * n_dof + n_first_order;
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

/* Compose with a change that nobody has asked about yet. */
static void compose_map(bramah_coupled *c)
{
  const size_t n = 2 * c->model->n_independent + c->model->circuit.n_volumes;
  if (c->basis_changed)
    bramah__multiply(n, n, n, c->T_step, c->T, c->T_work);
  else
    memcpy(c->T_work, c->T_step, n * n * sizeof *c->T_work);
  double *swap = c->T;
  c->T = c->T_work;
  c->T_work = swap;
  c->basis_changed = 1;
}

static int same_set(const bramah_coupled *c)
{
  const size_t n_dependent = c->model->n_dependent, n = c->model->n;
  return memcmp(c->index_work + n_dependent, c->state.index + n_dependent, (n - n_dependent) * sizeof(int)) ==
         0;
}

/* `next`, evaluated in `trial`, becomes the state. */
static void adopt(bramah_coupled *c)
{
  compose_map(c);
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
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

static void update_independent(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  if (model->n_dependent == 0 || model->n_independent == 0) return;
  const double before = largest_ratio(model, c->now);
  if (before < poor) return;
  bramah__state_copy(&c->state, &c->next);
  if (!choose(c, c->now->Phi_z) || same_set(c)) return;
  if (bramah__evaluate(model, &c->next, c->trial) != BRAMAH_OK) return;
  if (largest_ratio(model, c->trial) > 0.5 * before) return;
  bramah__rate_derivative(model, &c->state, c->now);
  fill_map(c, c->now->Rz, c->now->D, c->next.index);
  adopt(c);
  c->report.basis_changes++;
}

/* Phi_z of `next` into `trial`, for the choice of independent coordinates before the position stage, which
 * needs one. */
static int choose_after_rebase(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  if (model->n_dependent == 0) return 1;
  bramah__tree_pose(&model->tree, c->next.base, c->next.z, c->trial->pose);
  bramah__constraint_jacobian(model, c->trial);
  return choose(c, c->trial->Phi_z);
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
  if (!any) return 0;
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
  if (!choose_after_rebase(c) || bramah__evaluate(model, &c->next, c->trial) != BRAMAH_OK) return 0;
  fill_map(c, Rz, c->D, c->next.index);
  adopt(c);
  c->report.rebases++;
  return 1;
}

void bramah__update_basis(bramah_coupled *c)
{
  if (!rebase(c)) update_independent(c);
}
