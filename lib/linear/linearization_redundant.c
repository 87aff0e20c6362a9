/* SPDX-License-Identifier: MIT */
/* What stands beside the reduced equations: the conventional counterpart in redundant coordinates (Agundez
 * et al. 2023, equations 95-100), and the energies of a small motion. */
#include "lib/linear/linearization_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
#include "lib/plant/constraints.h"
#include "lib/linear/rolling.h"

#include <math.h>
#include <string.h>

/* Rows of what rolls, behind those of the loops; Z and Zd are those of z'' = 0. */
static void border_rolling(bramah_linearization *l, const bramah_model *model, const bramah__eval *eval,
                           size_t nk)
{
  bramah__roll *r = &l->roll;
  const size_t n = model->n, first = n + model->n_dependent;
  bramah__rolling_jacobian(model, eval->pose, r->B);
  bramah__rolling_acceleration(model, eval->pose, eval->Z, eval->Zd, r->e[0]);
  for (size_t k = 0; k < r->rank; k++) {
    const double *row = r->B + (size_t)r->row[k] * n;
    for (size_t j = 0; j < n; j++) l->K[(first + k) * nk + j] = l->K[j * nk + first + k] = row[j];
    l->rhs[first + k] = -r->e[0][r->row[k]];
  }
}

/* M and the constraint rows in use, bordered; right-hand side Q and -gamma. */
static void border(bramah_linearization *l, const bramah_coupled *c, const bramah__state *state,
                   bramah__eval *eval)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, nd = model->n_dependent, nk = n + nd + l->roll.rank;
  memset(l->K, 0, nk * nk * sizeof *l->K);
  for (size_t i = 0; i < n; i++) {
    memcpy(l->K + i * nk, eval->mass + i * n, n * sizeof *l->K);
    double Q = -eval->tau[i];
    for (size_t q = 0; q < model->circuit.n_cylinders; q++) Q += eval->row[q * n + i] * eval->force[q];
    l->rhs[i] = Q;
  }
  for (size_t k = 0; k < nd; k++) {
    const double *row = eval->Phi_z + (size_t)state->row[k] * n;
    for (size_t j = 0; j < n; j++) l->K[(n + k) * nk + j] = l->K[j * nk + n + k] = row[j];
    l->rhs[n + k] = -eval->gamma[state->row[k]];
  }
  if (l->roll.rows) border_rolling(l, model, eval, nk);
}

/* Rates F [N] of the redundant state in c->probe_state. */
static bramah_status redundant_rates(bramah_linearization *l, bramah_coupled *c, double *F)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, nk = n + model->n_dependent + l->roll.rank, np = l->system.n_pressure,
               nv = l->system.n_spool;
  bramah__state *state = &c->probe_state;
  bramah__eval *eval = c->probe;
  if (bramah__evaluate(model, state, eval) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__tree_mass(&model->tree, eval->pose, eval->composite, eval->mass);
  bramah__inverse_dynamics(model, state, eval, l->zero);
  border(l, c, state, eval);
  if (bramah__lu_factor(nk, l->K, l->pivot)) return BRAMAH_E_SINGULAR;
  bramah__lu_solve(nk, l->K, l->pivot, l->rhs);
  memcpy(F, state->zd, n * sizeof *F);
  memcpy(F + n, l->rhs, n * sizeof *F);
  bramah__evaluate_rates(model, state->p, state->U, eval, F + 2 * n);
  for (size_t i = 0; i < nv; i++) {
    const bramah__valve *valve = &model->circuit.valve[l->spool[i]];
    const double reference = bramah__spool_reference(valve, c->state.u[valve->input]);
    F[2 * n + np + i] = (reference - state->U[l->spool[i]]) / valve->time_constant;
  }
  memcpy(F + 2 * n + np + nv, state->xd, l->system.n_friction * sizeof *F);
  return BRAMAH_OK;
}

/* Element k of the redundant state. */
static double *element(const bramah_linearization *l, bramah__state *state, size_t k)
{
  const size_t n = l->model->n, np = l->system.n_pressure, nv = l->system.n_spool;
  if (k < n) return &state->z[k];
  if (k < 2 * n) return &state->zd[k - n];
  if (k < 2 * n + np) return &state->p[k - 2 * n];
  if (k < 2 * n + np + nv) return &state->U[l->spool[k - 2 * n - np]];
  return &state->x[k - 2 * n - np - nv];
}

static bramah_status redundant_column(bramah_linearization *l, bramah_coupled *c, size_t k, double h,
                                      double *J)
{
  const size_t N = bramah_linearization_count(l->model).n_redundant;
  double at[2];
  for (int side = 0; side < 2; side++) {
    bramah__state_copy(&c->state, &c->probe_state);
    double *x = element(l, &c->probe_state, k);
    const double step = h * fmax(1.0, fabs(*x));
    *x += side ? step : -step;
    at[side] = *x;
    const bramah_status status = redundant_rates(l, c, l->F[side]);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t i = 0; i < N; i++) J[i * N + k] = (l->F[1][i] - l->F[0][i]) / (at[1] - at[0]);
  return BRAMAH_OK;
}

static bramah_status check(const bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  if (c->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  return bramah__refresh(c, diag);
}

bramah_status bramah_linearization_differences(bramah_linearization *l, bramah_coupled *plant, double h,
                                               double *J, bramah_diag *diag)
{
  if (!(h > 0.0) || !isfinite(h))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the step of differences must be positive");
  bramah_status status = check(l, plant, diag);
  if (status == BRAMAH_OK && l->roll.rows) status = bramah__roll_bases(l, plant, diag);
  const size_t N = bramah_linearization_count(l->model).n_redundant;
  for (size_t k = 0; k < N && status == BRAMAH_OK; k++) {
    status = redundant_column(l, plant, k, h, J);
    if (status != BRAMAH_OK)
      bramah__fail(diag, status, l->model->name, "the redundant equations are singular");
  }
  return status;
}

/* Kinetic energy of body j that moves with Z [6]. */
static double kinetic(const bramah_model *model, const bramah__pose *pose, const double *Z, size_t j)
{
  double g[3], Jw[3];
  bramah__cross3(Z + 3, pose[j].g, g);
  bramah__axpy3(1.0, Z, g);
  bramah__rotate3(pose[j].J, Z + 3, Jw);
  return 0.5 * (model->tree.link[j].mass * bramah__dot3(g, g) + bramah__dot3(Z + 3, Jw));
}

bramah_status bramah_linearization_energies(bramah_linearization *l, bramah_coupled *plant, const double *dx,
                                            double *body, double *volume, bramah_diag *diag)
{
  const bramah_model *model = plant->model;
  const size_t n = model->n, nf = model->n_independent, np = model->circuit.n_volumes;
  const bramah_status status = check(l, plant, diag);
  if (status != BRAMAH_OK) return status;
  if (l->roll.rows) bramah__unroll(l, dx, l->dx);
  if (l->roll.rows) dx = l->dx;
  double *zd = plant->probe_state.zd;
  bramah__rate_derivative(model, &plant->state, plant->now);
  for (size_t j = 0; j < n; j++) {
    zd[j] = 0.0;
    for (size_t f = 0; f < nf; f++)
      zd[j] += plant->now->Rz[j * nf + f] * dx[nf + f] + plant->now->D[j * nf + f] * dx[f];
  }
  bramah__tree_velocity(&model->tree, plant->now->pose, zd, plant->derivative.Y);
  for (size_t j = 0; j < n; j++) body[j] = kinetic(model, plant->now->pose, plant->derivative.Y + 6 * j, j);
  bramah__circuit_columns(l, plant);
  for (size_t i = 0; i < np; i++)
    volume[i] = 0.5 * plant->derivative.circuit[np + i] * dx[2 * nf + i] * dx[2 * nf + i];
  for (size_t i = 0; i < model->circuit.n_metered; i++) { /* the element between actuator and rod */
    const size_t load = model->circuit.metered_port[i].volume;
    const double compliance = model->circuit.metered[i].A_h / bramah__load_stiffness(&model->circuit, i);
    volume[load] = 0.5 * compliance * dx[2 * nf + load] * dx[2 * nf + load];
  }
  return BRAMAH_OK;
}
