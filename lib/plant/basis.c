/* SPDX-License-Identifier: MIT */
/* Change of independent coordinates. Full pivoting keeps |Rz| near one; as the machine moves, the choice made
 * earlier may come near a dead point, where dependent coordinates race. The choice is then made anew, and the
 * errors of the old coordinates are mapped to the new ones: dz_new = Rz_new dz, dz'_new = Rz_new dz' + D_new
 * dz. */
#include "lib/plant/coupled_internal.h"
#include "lib/multibody/partition.h"

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

static void fill_map(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nd = model->n_dependent, nf = model->n_independent, np = model->circuit.n_volumes,
               n = 2 * nf + np;
  bramah__rate_derivative(model, &c->state, c->now, c->D);
  memset(c->T, 0, n * n * sizeof *c->T);
  for (size_t r = 0; r < nf; r++) {
    const size_t j = (size_t)c->index_work[nd + r];
    for (size_t f = 0; f < nf; f++) {
      c->T[r * n + f] = c->T[(nf + r) * n + nf + f] = c->now->Rz[j * nf + f];
      c->T[(nf + r) * n + f] = c->D[j * nf + f];
    }
  }
  for (size_t i = 2 * nf; i < n; i++) c->T[i * n + i] = 1.0;
}

static int same_set(const bramah_coupled *c)
{
  const size_t nd = c->model->n_dependent, n = c->model->n;
  return memcmp(c->index_work + nd, c->state.index + nd, (n - nd) * sizeof(int)) == 0;
}

/* Compose with a change that nobody has asked about yet. */
static void adopt(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  fill_map(c);
  memcpy(c->state.index, c->index_work, model->n * sizeof(int));
  memcpy(c->state.row, c->row_work, model->m * sizeof(int));
  c->basis_changed = 1;
  c->report.basis_changes++;
}

void bramah__update_basis(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  if (model->n_dependent == 0 || model->n_independent == 0) return;
  const double before = largest_ratio(model, c->now);
  if (before < poor) return;
  memcpy(c->Phi_z_work, c->now->Phi_z, model->m * model->n * sizeof(double));
  const size_t rank =
      bramah__eliminate(model->m, model->n, c->Phi_z_work, 1e-9, NULL, c->row_work, c->index_work);
  if (rank != model->n_dependent || same_set(c)) return;
  bramah__state_copy(&c->state, &c->next);
  memcpy(c->next.index, c->index_work, model->n * sizeof(int));
  memcpy(c->next.row, c->row_work, model->m * sizeof(int));
  if (bramah__evaluate(model, &c->next, c->trial) != BRAMAH_OK) return;
  if (largest_ratio(model, c->trial) > 0.5 * before) return;
  adopt(c);
  bramah__state_copy(&c->next, &c->state);
  bramah__eval *swap = c->now;
  c->now = c->trial;
  c->trial = swap;
}
