/* SPDX-License-Identifier: MIT */
#include "test/support/redundant_differences.h"
#include "lib/linear/linearization_internal.h"
#include "lib/math/dense.h"
#include "lib/plant/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
  double *K, *rhs, *F[2], *zero;
  int *pivot;
} room; /* of one call */

/* Rows of what rolls, behind those of the loops; Z and Zd are those of z'' = 0. */
static void border_rolling(bramah_linearization *l, const bramah_model *model, const bramah__eval *eval,
                           size_t nk)
{
  bramah__roll *r = &l->roll;
  const size_t n = model->n, first = n + model->n_dependent;
  bramah__rolling_jacobian(model, eval->pose, r->B);
  bramah__rolling_acceleration(model, eval->pose, eval->Z, eval->Zd, r->e);
  for (size_t k = 0; k < r->rank; k++) {
    const double *row = r->B + (size_t)r->row[k] * n;
    for (size_t j = 0; j < n; j++) room.K[(first + k) * nk + j] = room.K[j * nk + first + k] = row[j];
    room.rhs[first + k] = -r->e[r->row[k]];
  }
}

/* M and the constraint rows in use, bordered; right-hand side Q and -gamma. */
static void border(bramah_linearization *l, const bramah_coupled *c, const bramah__state *state,
                   bramah__eval *eval)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, nd = model->n_dependent, nk = n + nd + l->roll.rank;
  memset(room.K, 0, nk * nk * sizeof *room.K);
  for (size_t i = 0; i < n; i++) {
    memcpy(room.K + i * nk, eval->mass + i * n, n * sizeof *room.K);
    double Q = -eval->tau[i];
    for (size_t q = 0; q < model->circuit.n_cylinders; q++) Q += eval->row[q * n + i] * eval->force[q];
    room.rhs[i] = Q;
  }
  for (size_t k = 0; k < nd; k++) {
    const double *row = eval->Phi_z + (size_t)state->row[k] * n;
    for (size_t j = 0; j < n; j++) room.K[(n + k) * nk + j] = room.K[j * nk + n + k] = row[j];
    room.rhs[n + k] = -eval->gamma[state->row[k]];
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
  bramah__inverse_dynamics(model, state, eval, room.zero);
  border(l, c, state, eval);
  if (bramah__lu_factor(nk, room.K, room.pivot)) return BRAMAH_E_SINGULAR;
  bramah__lu_solve(nk, room.K, room.pivot, room.rhs);
  memcpy(F, state->zd, n * sizeof *F);
  memcpy(F + n, room.rhs, n * sizeof *F);
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

size_t redundant_order(const bramah_linear_system *s)
{
  return 2 * s->n_coordinates + s->n_pressure + s->n_spool + s->n_friction;
}

static bramah_status redundant_column(bramah_linearization *l, bramah_coupled *c, size_t k, double h,
                                      double *J)
{
  const size_t N = redundant_order(&l->system);
  double at[2];
  for (int side = 0; side < 2; side++) {
    bramah__state_copy(&c->state, &c->probe_state);
    double *x = element(l, &c->probe_state, k);
    const double step = h * fmax(1.0, fabs(*x));
    *x += side ? step : -step;
    at[side] = *x;
    const bramah_status status = redundant_rates(l, c, room.F[side]);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t i = 0; i < N; i++) J[i * N + k] = (room.F[1][i] - room.F[0][i]) / (at[1] - at[0]);
  return BRAMAH_OK;
}

bramah_status redundant_differences(bramah_linearization *l, bramah_coupled *plant, double h, double *J,
                                    bramah_diag *diag)
{
  const size_t n = l->model->n, N = redundant_order(&l->system),
               nk = n + l->model->n_dependent + bramah__count_rolling_rows(l->model);
  bramah_status status = bramah__refresh(plant, diag);
  if (status == BRAMAH_OK && l->roll.rows) status = bramah__roll_bases(l, plant, diag);
  room.K = calloc(nk * nk + nk + 2 * N + n + 1, sizeof *room.K);
  room.pivot = calloc(nk + 1, sizeof *room.pivot);
  if (!room.K || !room.pivot) abort();
  room.rhs = room.K + nk * nk;
  room.F[0] = room.rhs + nk;
  room.F[1] = room.F[0] + N;
  room.zero = room.F[1] + N;
  for (size_t k = 0; k < N && status == BRAMAH_OK; k++) status = redundant_column(l, plant, k, h, J);
  free(room.K);
  free(room.pivot);
  return status;
}
