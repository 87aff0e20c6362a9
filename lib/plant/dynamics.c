/* SPDX-License-Identifier: MIT */
/* Equations of motion of the independent coordinates (D 2.29): Rz' M Rz z''_i = Rz' (Q - M bias). */
#include "lib/plant/constraints.h"
#include "lib/math/dense.h"

#include <string.h>

void bramah__expand_acceleration(const bramah_model *model, const bramah__eval *eval, const double *zdd_i,
                                 double *zdd)
{
  if (eval->Rz_is_identity)
    memcpy(zdd, zdd_i, model->n * sizeof *zdd);
  else
    bramah__apply(model->n, model->n_independent, eval->Rz, zdd_i, zdd);
  for (size_t j = 0; j < model->n; j++) zdd[j] += eval->bias[j];
}

void bramah__inverse_dynamics(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                              const double *zdd)
{
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, state->zd, zdd, eval->Zd);
  bramah__tree_force(&model->tree, eval->pose, eval->Z, eval->Zd, eval->W, eval->tau);
  bramah__forces_subtract(&model->tree, &model->forces, eval->pose, eval->Z, state->z, state->zd, eval->tau);
}

/* Rz' times those forces. */
static void project_inverse_dynamics(const bramah_model *model, const bramah__state *state,
                                     bramah__eval *eval, const double *zdd, double *r)
{
  bramah__inverse_dynamics(model, state, eval, zdd);
  bramah__project(model, eval, eval->tau, r);
}

static void subtract_cylinders(const bramah_model *model, const bramah__eval *eval, double *r)
{
  const size_t nf = model->n_independent;
  for (size_t c = 0; c < model->circuit.n_cylinders; c++)
    for (size_t f = 0; f < nf; f++) r[f] -= eval->row_i[c * nf + f] * eval->force[c];
}

void bramah__imbalance(const bramah_model *model, const bramah__state *state, bramah__eval *eval,
                       const double *zdd, double *r)
{
  project_inverse_dynamics(model, state, eval, zdd, r);
  subtract_cylinders(model, eval, r);
}

/* Mi = Rz' M Rz */
static void project_mass(const bramah_model *model, bramah__eval *eval)
{
  const size_t n = model->n, nf = model->n_independent;
  if (eval->Rz_is_identity) {
    memcpy(eval->Mi, eval->mass, n * n * sizeof(double));
    return;
  }
  bramah__multiply(n, n, nf, eval->mass, eval->Rz, eval->MR);
  for (size_t f = 0; f < nf; f++)
    for (size_t g = 0; g <= f; g++) {
      double sum = 0.0;
      for (size_t j = 0; j < n; j++) sum += eval->Rz[j * nf + f] * eval->MR[j * nf + g];
      eval->Mi[f * nf + g] = eval->Mi[g * nf + f] = sum;
    }
}

bramah_status bramah__factor_mass(const bramah_model *model, bramah__eval *eval)
{
  if (eval->factored) return BRAMAH_OK;
  bramah__tree_mass(&model->tree, eval->pose, eval->composite, eval->mass);
  project_mass(model, eval);
  if (bramah__cholesky_factor(model->n_independent, eval->Mi)) return BRAMAH_E_SINGULAR;
  eval->factored = 1;
  return BRAMAH_OK;
}

void bramah__evaluate_rhs(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  project_inverse_dynamics(model, state, eval, eval->bias, eval->rhs);
  for (size_t f = 0; f < model->n_independent; f++) eval->rhs[f] = -eval->rhs[f];
}

void bramah__solve_acceleration(const bramah_model *model, const bramah__eval *eval, double *zdd_i)
{
  const size_t nf = model->n_independent;
  for (size_t f = 0; f < nf; f++) {
    zdd_i[f] = eval->rhs[f];
    for (size_t c = 0; c < model->circuit.n_cylinders; c++)
      zdd_i[f] += eval->row_i[c * nf + f] * eval->force[c];
  }
  bramah__cholesky_solve(nf, eval->Mi, zdd_i);
}

/* gamma at rates w [n]: the quadratic form Phi_zz[w, w]. */
static void quadratic(const bramah_model *model, bramah__eval *eval, const double *w, double *gamma)
{
  bramah__tree_velocity(&model->tree, eval->pose, w, eval->Z);
  bramah__tree_acceleration(&model->tree, eval->pose, eval->Z, w, NULL, eval->Zd);
  bramah__constraint_quadratic(model, eval, gamma);
}

/* Moving along Rz_f keeps Phi_z z' + Phi_t = 0, and Phi_t depends on time alone, so Phi_z^d dz'_d =
 * -Phi_zz[Rz_f, z'] with all of z', the drift included; the bilinear form comes from the quadratic one: [a,
 * b] = ([a+b, a+b] - [a-b, a-b]) / 4, exact because gamma is a quadratic form of the rates. */
static void fill_D(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  const size_t n = model->n, nd = model->n_dependent, nf = model->n_independent;
  for (size_t f = 0; f < nf; f++) {
    double *sum = eval->tau;
    for (int sign = 1; sign >= -1; sign -= 2) {
      for (size_t j = 0; j < n; j++) sum[j] = eval->Rz[j * nf + f] + sign * state->zd[j];
      quadratic(model, eval, sum, eval->gamma);
      for (size_t k = 0; k < nd; k++) {
        const double part = 0.25 * sign * eval->gamma[state->row[k]];
        eval->column[k] = sign > 0 ? -part : eval->column[k] - part;
      }
    }
    bramah__lu_solve(nd, eval->LU, eval->pivot, eval->column);
    for (size_t k = 0; k < nd; k++) eval->D[(size_t)state->index[k] * nf + f] = eval->column[k];
  }
  bramah__tree_velocity(&model->tree, eval->pose, state->zd, eval->Z); /* as it was */
}

void bramah__rate_derivative(const bramah_model *model, const bramah__state *state, bramah__eval *eval)
{
  if (eval->D_known) return;
  memset(eval->D, 0, model->n * model->n_independent * sizeof *eval->D);
  if (model->n_dependent) fill_D(model, state, eval);
  eval->D_known = 1;
}
