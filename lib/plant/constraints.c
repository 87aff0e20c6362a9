/* SPDX-License-Identifier: MIT */
#include "lib/plant/constraints.h"
#include "lib/math/dense.h"

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

void bramah__constraint_quadratic(const bramah_model *model, bramah__eval *eval, double *gamma)
{
  bramah__closure_bias(model->n_loops, model->loop, eval->pose, eval->Z, eval->Zd, gamma);
  for (size_t i = 0; i < model->n_motions; i++) gamma[model->motion[i].row] = 0.0;
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

void bramah__fill_drift(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t nd = model->n_dependent;
  double *Phi_t = eval->gamma;
  memset(Phi_t, 0, model->m * sizeof *Phi_t);
  bramah__motion_add_rate(model->n_motions, model->motion, seconds(state), Phi_t);
  for (size_t k = 0; k < nd; k++) eval->column[k] = -Phi_t[state->row[k]];
  bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
  memset(eval->drift, 0, model->n * sizeof *eval->drift);
  for (size_t k = 0; k < nd; k++) eval->drift[state->index[k]] = eval->column[k];
  /* what they are but for rounding */
  for (size_t i = 0; i < model->n_motions; i++)
    eval->drift[model->motion[i].joint] = -Phi_t[model->motion[i].row];
}

static size_t place_in_use(const bramah_model *model, const bramah__state *state, size_t row)
{
  size_t k = 0;
  while (k + 1 < model->n_dependent && (size_t)state->row[k] != row) k++;
  return k;
}

void bramah__drive_forces(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                          double *force)
{
  const size_t n = model->n, nd = model->n_dependent;
  if (model->n_motions == 0) return;
  bramah__inverse_dynamics(model, state, eval, state->zdd);
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t j = 0; j < n; j++) eval->tau[j] -= eval->row[c * n + j] * eval->force[c];
  for (size_t k = 0; k < nd; k++) eval->column[k] = eval->tau[state->index[k]];
  bramah__lu_solve_transposed(nd, eval->LU, eval->pivot, eval->column);
  for (size_t i = 0; i < model->n_motions; i++)
    force[i] = eval->column[place_in_use(model, state, model->motion[i].row)];
}
