/* SPDX-License-Identifier: MIT */
#include "lib/linear/rest_internal.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

double bramah__state_size(const bramah_linearization *l, size_t i)
{
  const size_t pressure = 2 * l->system.n_position, spool = bramah__first_spool(l),
               friction = bramah__first_friction(l);
  if (i < pressure) return 1.0;
  if (i < spool) return 1e6;
  if (i < friction) return l->model->circuit.valve[l->spool[i - spool]].limit;
  return strcmp(l->system.x_unit[i], "1") == 0 ? 1.0 : 1e-5;
}

bramah_status bramah__move_state(bramah_linearization *l, bramah_coupled *c, const double *dx,
                                 bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t nd = model->n_dependent, nf = model->n_independent, np = l->system.n_pressure;
  for (size_t i = 0; i < l->system.n; i++)
    if (!isfinite(dx[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, l->system.x_name[i], "the correction is not finite");
  const bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  bramah__state_copy(&c->state, &c->next);
  for (size_t j = 0; j < model->n; j++)
    for (size_t f = 0; f < nf; f++) c->next.z[j] += c->now->Rz[j * nf + f] * dx[f];
  for (size_t f = 0; f < nf; f++) c->next.zd[c->next.index[nd + f]] += dx[nf + f];
  for (size_t i = 0; i < np; i++) c->next.p[i] += dx[2 * nf + i];
  for (size_t i = 0; i < l->system.n_spool; i++) c->next.U[l->spool[i]] += dx[2 * nf + np + i];
  for (size_t i = 0; i < l->system.n_friction; i++) c->next.x[i] += dx[bramah__first_friction(l) + i];
  return bramah__adopt_candidate(c, diag);
}

/* What still moves is prescribed. */
static bramah_status drives_stand(const bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  for (size_t i = 0; i < model->n_motions; i++)
    if (c->state.zd[model->motion[i].joint] != 0.0)
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, model->motion_name[i],
                          "this prescribed motion does not stand still: there is no equilibrium");
  return BRAMAH_OK;
}

bramah_status bramah__halt(bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah__state_copy(&c->state, &c->next);
  memset(c->next.zd, 0, model->n * sizeof *c->next.zd);
  for (size_t i = 0; i < bramah__n_spools(&model->circuit); i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    c->next.U[i] = bramah__spool_reference(valve, c->next.u[valve->input]);
  }
  const bramah_status status = bramah__adopt_candidate(c, diag);
  return status == BRAMAH_OK ? drives_stand(c, diag) : status;
}

size_t bramah__snap_size(const bramah_coupled *c) { return (c->state.size + 7) / 8; }

void bramah__keep_state(const bramah_coupled *c, double *snap)
{
  memcpy(snap, c->state.block, c->state.size);
}

void bramah__return_state(bramah_coupled *c, const double *snap)
{
  memcpy(c->state.block, snap, c->state.size);
  bramah__apply_parameters(c, c->state.theta);
  c->now_valid = 0;
}

bramah_status bramah__out_of_balance(const bramah_linearization *l, const bramah_coupled *c, size_t k,
                                     const char *what, bramah_diag *diag)
{
  const size_t nf = l->system.n_position;
  const int moves = k < 2 * nf;
  const char *name = moves ? c->model->body_name[(size_t)c->state.index[c->model->n_dependent + k % nf]]
                           : c->model->volume_name[k - 2 * nf];
  bramah__fail(diag, BRAMAH_E_NO_CONVERGENCE, name, what);
  bramah__add_text(diag, l->system.x_name[k]);
  bramah__add_text(diag, " changes by ");
  bramah__add_number(diag, l->system.xd[k], 3);
  bramah__add_text(diag, " ");
  bramah__add_text(diag, l->system.x_unit[k]);
  bramah__add_text(diag, strchr(l->system.x_unit[k], '/') ? "^2" : "/s");
  return BRAMAH_E_NO_CONVERGENCE;
}

void bramah__rest_report(const bramah_linearization *l, const bramah_coupled *c, int iterations,
                         bramah_equilibrium_report *report)
{
  if (!report) return;
  *report = (bramah_equilibrium_report){.iterations = iterations};
  for (size_t j = 0; j < c->model->n; j++)
    report->acceleration = fmax(report->acceleration, fabs(c->state.zdd[j]));
  for (size_t i = 0; i < l->system.n_pressure; i++)
    report->pressure_rate = fmax(report->pressure_rate, fabs(c->state.pd[i]));
}

/* Largest move of a position in one step [rad or m]. */
static const double stride = 0.05;

/* How many steps it takes to x. */
static size_t strides(const bramah_linearization *l, const double *x)
{
  double far = 0.0;
  for (size_t i = 0; i < l->system.n_position; i++) far = fmax(far, fabs(x[i] - l->system.x[i]));
  return far < 1e4 * stride ? 1 + (size_t)(far / stride) : 0;
}

bramah_status bramah_linearization_place(bramah_linearization *l, bramah_coupled *plant, const double *x,
                                         bramah_diag *diag)
{
  const size_t n = l->system.n;
  if (plant->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  if (l->roll.rows)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, l->model->rolling[0].name,
                        "a rolling machine is placed by its machine file");
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return bramah__fail(diag, BRAMAH_E_NOT_FINITE, l->system.x_name[i], "is not finite");
  const size_t steps = strides(l, x);
  if (steps == 0) return bramah__fail(diag, BRAMAH_E_CLOSURE, l->model->name, "this state is too far away");
  bramah_status status = BRAMAH_OK;
  memcpy(l->snap, plant->state.block, plant->state.size);
  for (size_t i = 0; i < n; i++) l->side[0][i] = (x[i] - l->x[i]) / (double)steps;
  for (size_t k = 0; k < steps && status == BRAMAH_OK; k++)
    status = bramah__move_state(l, plant, l->side[0], diag);
  if (status != BRAMAH_OK) bramah__return_state(plant, l->snap);
  return status;
}
