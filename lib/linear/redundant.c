/* SPDX-License-Identifier: MIT */
/* The equations in all joint coordinates, constraints as equations of their own: the derivatives of the open tree, the
 * geometric stiffness of the constraint forces, and the circuit by strokes. And the energies of a small motion. */
#include "lib/linear/linearization_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/vector3.h"
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

static void mechanical(bramah_coupled *c, const tables *t)
{
  const bramah_model *model = c->model;
  const bramah__derivative *d = &c->derivative;
  const size_t n = model->n, n_pressure = model->n_first_order, k = n_other(model);
  bramah__inverse_dynamics(model, &c->state, c->now, c->state.zdd);
  bramah__state_slopes(c);
  bramah__derive_circuit(model, c->state.p, c->state.U, c->now, &c->derivative);
  bramah__derive_all(model, c->now, &c->derivative);
  bramah__add_constraint_stiffness(model, &c->state, c->now, &c->derivative);
  memcpy(t->M, d->M, n * n * sizeof *t->M);
  memcpy(t->C, d->C, n * n * sizeof *t->C);
  memcpy(t->K, d->K, n * n * sizeof *t->K);
  for (size_t r = 0; r < model->n_dependent; r++)
    memcpy(t->Phi + r * n, c->now->Phi_z + (size_t)c->state.row[r] * n, n * sizeof *t->Phi);
  const bramah__arms arms = bramah__all_arms(model, c->now, d);
  bramah__force_by_pressures(model, d, arms, t->P, k);
  bramah__rates_by_motion(model, d, arms, 1.0, 0.0, t->Xq, n);
  bramah__rates_by_motion(model, d, arms, 0.0, 1.0, t->Xv, n);
  /* of the residual they are, and belong to the other side here */
  for (size_t i = 0; i < n_pressure * n; i++) {
    t->Xq[i] = 0.0 - t->Xq[i];
    t->Xv[i] = 0.0 - t->Xv[i];
  }
  for (size_t i = 0; i < n_pressure; i++)
    memcpy(t->Xx + i * k, d->pd_p + i * n_pressure, n_pressure * sizeof *t->Xx);
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
  const size_t n_pressure = circuit->n_volumes, ns = bramah__n_spools(circuit);
  bramah__circuit_columns(l, c);
  for (size_t j = 0; j < l->system.n_spool; j++) {
    const size_t spool = l->spool[j];
    for (size_t i = 0; i < n_pressure; i++) t->Xx[i * k + n_pressure + j] = l->by_U[i * ns + spool];
    t->Xx[(n_pressure + j) * k + n_pressure + j] = -1.0 / circuit->valve[spool].time_constant;
    for (size_t i = 0; i < circuit->n_metered; i++) {
      const bramah__metered_port *port = &circuit->metered_port[i];
      push(c, port->cylinder, bramah__drag_per_rate(circuit, i) * l->by_U[port->volume * ns + spool], k,
           n_pressure + j, t->P);
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
  bramah_status status =
      bramah__check_plant(l, plant, "rolling wheels and knife edges have no place in these equations", diag);
  if (status == BRAMAH_OK) status = bramah__refresh(plant, diag);
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

bramah_status bramah_linearization_energies(bramah_linearization *l, bramah_coupled *plant, const double *dx,
                                            double *body, double *volume, bramah_diag *diag)
{
  const bramah_model *model = plant->model;
  const size_t n = model->n, n_dof = model->n_independent, n_pressure = model->circuit.n_volumes;
  bramah_status status = bramah__check_plant(l, plant, NULL, diag);
  if (status == BRAMAH_OK) status = bramah__refresh(plant, diag);
  if (status != BRAMAH_OK) return status;
  if (l->roll.rows) bramah__unroll(l, dx, l->dx);
  if (l->roll.rows) dx = l->dx;
  double *zd = plant->probe_state.zd;
  bramah__rate_derivative(model, &plant->state, plant->now);
  for (size_t j = 0; j < n; j++) {
    zd[j] = 0.0;
    for (size_t f = 0; f < n_dof; f++)
      zd[j] += plant->now->Rz[j * n_dof + f] * dx[n_dof + f] + plant->now->D[j * n_dof + f] * dx[f];
  }
  bramah__tree_velocity(&model->tree, plant->now->pose, zd, plant->derivative.Y);
  for (size_t j = 0; j < n; j++) {
    const bramah__pose *pose = &plant->now->pose[j];
    const double *v = plant->derivative.Y + 6 * j, *w = v + 3;
    double gd[3], Jw[3];
    bramah__cross3(w, pose->g, gd);
    bramah__axpy3(1.0, v, gd); /* velocity of the centre of mass */
    bramah__rotate3(pose->J, w, Jw);
    body[j] = 0.5 * (model->tree.link[j].mass * bramah__dot3(gd, gd) + bramah__dot3(w, Jw));
  }
  bramah__circuit_columns(l, plant);
  for (size_t i = 0; i < n_pressure; i++)
    volume[i] = 0.5 * plant->derivative.circuit[n_pressure + i] * dx[2 * n_dof + i] * dx[2 * n_dof + i];
  for (size_t i = 0; i < model->circuit.n_metered; i++) { /* the element between actuator and rod */
    const size_t load = model->circuit.metered_port[i].volume;
    const double compliance = model->circuit.metered[i].A_h / bramah__load_stiffness(&model->circuit, i);
    volume[load] = 0.5 * compliance * dx[2 * n_dof + load] * dx[2 * n_dof + load];
  }
  return BRAMAH_OK;
}
