/* SPDX-License-Identifier: MIT */
#include "lib/plant/rest_internal.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

double bramah__state_size(const bramah_linearization *l, size_t i)
{
  const size_t pressure = 2 * l->system.n_position, spool = bramah__first_spool(l),
               friction = bramah__first_friction(l);
  if (i < pressure) return 1.0;
  if (i < spool) return 1e6;
  if (i < friction) return l->model->circuit.valve[i - spool].limit;
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
  for (size_t i = 0; i < l->system.n_spool; i++) c->next.U[i] += dx[2 * nf + np + i];
  for (size_t i = 0; i < l->system.n_friction; i++) c->next.x[i] += dx[bramah__first_friction(l) + i];
  return bramah__adopt_candidate(c, diag);
}

double bramah__spool_at_rest(const bramah__valve *valve, double command)
{
  return fmin(fmax(command + valve->offset, -valve->limit), valve->limit);
}

bramah_status bramah__halt(bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  bramah__state_copy(&c->state, &c->next);
  memset(c->next.zd, 0, model->n * sizeof *c->next.zd);
  for (size_t i = 0; i < model->circuit.n_valves; i++) {
    const bramah__valve *valve = &model->circuit.valve[i];
    c->next.U[i] = bramah__spool_at_rest(valve, c->next.u[valve->input]);
  }
  return bramah__adopt_candidate(c, diag);
}

size_t bramah__snap_size(const bramah_coupled *c) { return (c->state.size + 7) / 8; }

void bramah__keep_state(const bramah_coupled *c, double *snap) { memcpy(snap, c->state.block, c->state.size); }

void bramah__go_back(bramah_coupled *c, const double *snap)
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
