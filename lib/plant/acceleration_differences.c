/* SPDX-License-Identifier: MIT */
/* Derivative of the independent accelerations by the error state, by forward differences as the papers do it
 * (below D 3.4). A pressure reaches the forces only, a velocity the motion and the forces, a position
 * everything. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

static const double position_step = 1e-7; /* rad or m */
static const double velocity_step = 1e-7; /* rad/s or m/s */

static void store(const bramah_coupled *c, size_t column, double step, double *J)
{
  const size_t nf = c->model->n_independent, n = 2 * nf + c->model->circuit.n_volumes;
  for (size_t r = 0; r < nf; r++) J[r * n + column] = (c->zdd_i[r] - c->zdd_base[r]) / step;
}

static bramah_status position_column(bramah_coupled *c, size_t f, double *J)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent;
  bramah__state *state = &c->probe_state;
  bramah__state_copy(&c->state, state);
  for (size_t j = 0; j < model->n; j++) state->z[j] += c->now->Rz[j * nf + f] * position_step;
  bramah_status status = bramah__close_position(model, state, c->probe);
  if (status != BRAMAH_OK) return status;
  bramah__set_motion(model, state, c->probe);
  bramah__evaluate_forces(model, state->p, state->U, state->x, state->xd, c->probe);
  status = bramah__factor_mass(model, c->probe);
  if (status != BRAMAH_OK) return status;
  bramah__evaluate_rhs(model, state, c->probe);
  bramah__solve_acceleration(model, c->probe, c->zdd_i);
  store(c, f, position_step, J);
  return BRAMAH_OK;
}

static void velocity_column(bramah_coupled *c, size_t f, double *J)
{
  const bramah_model *model = c->model;
  bramah__state_copy(&c->state, &c->probe_state);
  c->probe_state.zd[c->state.index[model->n_dependent + f]] += velocity_step;
  bramah__set_motion(model, &c->probe_state, c->now);
  bramah__evaluate_forces(model, c->state.p, c->state.U, c->probe_state.x, c->probe_state.xd, c->now);
  bramah__evaluate_rhs(model, &c->probe_state, c->now);
  bramah__solve_acceleration(model, c->now, c->zdd_i);
  store(c, model->n_independent + f, velocity_step, J);
}

static void pressure_column(bramah_coupled *c, size_t i, double *J)
{
  const bramah_model *model = c->model;
  double *p = c->probe_state.p;
  memcpy(p, c->state.p, model->circuit.n_volumes * sizeof(double));
  const double step =
      1e-4 * fmax(1e5, fabs(p[i])); /* linear in p: a large step costs nothing and rounds less */
  p[i] += step;
  bramah__update_forces(model, p, c->state.U, c->now);
  bramah__solve_acceleration(model, c->now, c->zdd_i);
  store(c, 2 * model->n_independent + i, step, J);
}

bramah_status bramah__acceleration_jacobian(void *self, double *J, bramah_diag *diag)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  if (bramah__factor_mass(model, c->now) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, model->name, "the mass matrix is singular");
  bramah__evaluate_rhs(model, &c->state, c->now);
  bramah__solve_acceleration(model, c->now, c->zdd_base);
  for (size_t i = 0; i < model->circuit.n_volumes; i++) pressure_column(c, i, J);
  for (size_t f = 0; f < model->n_independent; f++) {
    status = position_column(c, f, J);
    if (status != BRAMAH_OK)
      return bramah__fail(diag, status, model->name, "the loops cannot be closed near this state");
  }
  for (size_t f = 0; f < model->n_independent; f++) velocity_column(c, f, J);
  bramah__evaluate_motion(model, &c->state, c->now); /* as it was */
  bramah__evaluate_forces(model, c->state.p, c->state.U, c->state.x, c->state.xd, c->now);
  return BRAMAH_OK;
}
