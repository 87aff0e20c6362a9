/* SPDX-License-Identifier: MIT */
/* The equations in all joint coordinates, constraints beside them: the derivatives of the open tree, the
 * geometric stiffness of the constraint forces, and the circuit by strokes. */
#include "lib/linear/linearization_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/multibody/stiffness.h"

#include <string.h>

typedef struct tables {
  double *M, *C, *K, *Phi, *P, *Xq, *Xv, *Xx;
} tables;

static size_t n_other(const bramah_model *model)
{
  return model->circuit.n_volumes + bramah__lagging_valves(&model->circuit, NULL) +
         model->circuit.n_friction_states;
}

size_t bramah_linearization_constrained_work(const bramah_model *model)
{
  const size_t n = model->n, m = model->n_dependent, k = n_other(model);
  return 3 * n * n + m * n + 3 * n * k + k * k;
}

static tables place(const bramah_model *model, double *work)
{
  const size_t n = model->n, m = model->n_dependent, k = n_other(model);
  tables t = {.M = work};
  t.C = t.M + n * n;
  t.K = t.C + n * n;
  t.Phi = t.K + n * n;
  t.P = t.Phi + m * n;
  t.Xq = t.P + n * k;
  t.Xv = t.Xq + k * n;
  t.Xx = t.Xv + k * n;
  return t;
}

/* Multipliers mu [m of the model] of the rows in use: Phi_d' mu = -g_d. */
static void find_multipliers(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__eval *now = c->now;
  const size_t n = model->n, nd = model->n_dependent;
  double *mu = c->derivative.mu, *g = c->now->column;
  for (size_t k = 0; k < nd; k++) {
    const size_t j = (size_t)c->state.index[k];
    g[k] = -now->tau[j];
    for (size_t q = 0; q < model->circuit.n_cylinders; q++) g[k] += now->row[q * n + j] * now->force[q];
  }
  bramah__lu_solve_transposed(nd, now->LU, now->pivot, g);
  memset(mu, 0, model->m * sizeof *mu);
  for (size_t k = 0; k < nd; k++) mu[c->state.row[k]] = g[k];
}

static void mechanical(bramah_coupled *c, const tables *t)
{
  const bramah_model *model = c->model;
  const bramah__derivative *d = &c->derivative;
  const size_t n = model->n, np = model->n_first_order, k = n_other(model);
  bramah__inverse_dynamics(model, &c->state, c->now, c->state.zdd);
  bramah__state_slopes(c);
  bramah__derive_circuit(model, c->state.p, c->state.U, c->now, &c->derivative);
  find_multipliers(c);
  bramah__derive_all(model, c->now, &c->derivative);
  bramah__closure_add_stiffness(&model->tree, model->n_loops, model->loop, c->now->pose, d->mu, d->K);
  memcpy(t->M, d->M, n * n * sizeof *t->M);
  memcpy(t->C, d->C, n * n * sizeof *t->C);
  memcpy(t->K, d->K, n * n * sizeof *t->K);
  for (size_t r = 0; r < model->n_dependent; r++)
    memcpy(t->Phi + r * n, c->now->Phi_z + (size_t)c->state.row[r] * n, n * sizeof *t->Phi);
  const bramah__arms arms = bramah__all_arms(model, c->now, d);
  bramah__force_by_pressures(model, d, arms, t->P, k);
  bramah__rates_by_motion(model, d, arms, 1.0, 0.0, t->Xq, n);
  bramah__rates_by_motion(model, d, arms, 0.0, 1.0, t->Xv, n);
  for (size_t i = 0; i < np * n; i++) { /* of the residual they are, and belong to the other side here */
    t->Xq[i] = 0.0 - t->Xq[i];
    t->Xv[i] = 0.0 - t->Xv[i];
  }
  for (size_t i = 0; i < np; i++) memcpy(t->Xx + i * k, d->pd_p + i * np, np * sizeof *t->Xx);
}

/* A force along cylinder q by something. */
static void push(const bramah_coupled *c, size_t q, double by, size_t k, size_t column, double *P)
{
  const size_t n = c->model->n;
  for (size_t j = 0; j < n; j++) P[j * k + column] -= by * c->now->row[q * n + j];
}

/* Rates of pressures by the spools, and the drags of quasistatic actuators that follow them. */
static void spools(bramah_linearization *l, bramah_coupled *c, size_t k, const tables *t)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t np = circuit->n_volumes, ns = bramah__n_spools(circuit);
  bramah__circuit_columns(l, c);
  for (size_t j = 0; j < l->system.n_spool; j++) {
    const size_t spool = l->spool[j];
    for (size_t i = 0; i < np; i++) t->Xx[i * k + np + j] = l->by_U[i * ns + spool];
    t->Xx[(np + j) * k + np + j] = -1.0 / circuit->valve[spool].time_constant;
    for (size_t i = 0; i < circuit->n_metered; i++) {
      const bramah__metered_port *port = &circuit->metered_port[i];
      push(c, port->cylinder, bramah__drag_per_rate(circuit, i) * l->by_U[port->volume * ns + spool], k,
           np + j, t->P);
    }
  }
}

static void friction(const bramah_linearization *l, const bramah_coupled *c, size_t k, const tables *t)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t n = c->model->n, first = circuit->n_volumes + l->system.n_spool;
  for (size_t q = 0; q < circuit->n_cylinders; q++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[q];
    const size_t states = bramah__friction_states(cylinder->friction.kind),
                 at = first + cylinder->first_state;
    bramah__friction_partials by;
    if (states == 0) continue;
    bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
    for (size_t i = 0; i < states; i++) {
      for (size_t j = 0; j < n; j++) {
        t->Xq[(at + i) * n + j] += by.rate_by_v[i] * c->derivative.v_z[q * n + j];
        t->Xv[(at + i) * n + j] += by.rate_by_v[i] * c->now->row[q * n + j];
      }
      for (size_t j = 0; j < states; j++) t->Xx[(at + i) * k + at + j] = by.rate_by_x[i][j];
      push(c, q, -cylinder->friction_scale * by.force_by_x[i], k, at + i, t->P);
    }
  }
}

bramah_status bramah_linearization_constrained(bramah_linearization *l, bramah_coupled *plant, double *work,
                                               bramah_constrained *out, bramah_diag *diag)
{
  if (plant->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  if (l->roll.rows)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, l->model->rolling[0].name,
                        "rolling wheels and knife edges have no place in these equations");
  const bramah_status status = bramah__refresh(plant, diag);
  if (status != BRAMAH_OK) return status;
  const bramah_model *model = plant->model;
  const size_t k = n_other(model);
  const tables t = place(model, work);
  memset(work, 0, bramah_linearization_constrained_work(model) * sizeof *work);
  mechanical(plant, &t);
  spools(l, plant, k, &t);
  friction(l, plant, k, &t);
  *out = (bramah_constrained){.n = model->n,
                              .m = model->n_dependent,
                              .k = k,
                              .M = t.M,
                              .C = t.C,
                              .K = t.K,
                              .Phi = t.Phi,
                              .P = t.P,
                              .Xq = t.Xq,
                              .Xv = t.Xv,
                              .Xx = t.Xx};
  return BRAMAH_OK;
}
