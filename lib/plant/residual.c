/* SPDX-License-Identifier: MIT */
/* A candidate for the next state: from the changes over the step to positions, rates, forces and the residual
 * of the trapezoidal rule. Source: dissertation 2.55 ff., spec equations 4. */
#include "lib/plant/residual.h"
#include "lib/hydraulics/metering.h"

bramah_status bramah__place_candidate(bramah_coupled *c, const bramah__eval *from, const double *move)
{
  const bramah_model *model = c->model;
  bramah__state *next = &c->next;
  bramah__eval *eval = c->trial;
  const double *change = c->newton.change;
  const size_t nm = bramah__n_mechanical(c), nf = model->n_independent;
  for (size_t k = 0; move && !c->formulation->all && k < model->n_dependent; k++) {
    const size_t j = (size_t)next->index[k];
    for (size_t f = 0; f < nf; f++) next->z[j] += from->Rz[j * nf + f] * move[f];
  }
  for (size_t k = 0; move && k < nm; k++) {
    const size_t j = bramah__unknown_joint(c, k);
    next->z[j] = c->state.z[j] + change[k];
  }
  const bramah_status status = c->formulation->place(model, next, eval);
  if (status != BRAMAH_OK) return status;
  for (size_t k = 0; k < nm; k++) {
    const size_t j = bramah__unknown_joint(c, k);
    next->zd[j] = 2.0 / model->h * change[k] - c->state.zd[j];
  }
  if (!c->formulation->all) bramah__dependent_rates(model, next, eval);
  for (size_t i = 0; i < model->n_first_order; i++) next->p[i] = c->state.p[i] + change[nm + i];
  bramah__evaluate_motion(model, next, eval);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[i];
    const size_t first = cylinder->first_state;
    bramah__friction_step(&cylinder->friction, model->h, eval->v[i], c->state.x + first, c->state.xd + first,
                          next->x + first);
  }
  bramah__evaluate_forces(model, next->p, next->U, next->x, next->xd, eval);
  return BRAMAH_OK;
}

void bramah__set_accelerations(bramah_coupled *c)
{
  const double h = c->model->h;
  double *zdd = c->formulation->all ? c->next.zdd : c->zdd_i;
  for (size_t k = 0; k < bramah__n_mechanical(c); k++) {
    const size_t j = bramah__unknown_joint(c, k);
    zdd[k] = 4.0 / (h * h) * c->newton.change[k] - 4.0 / h * c->state.zd[j] - c->state.zdd[j];
  }
  if (!c->formulation->all) bramah__expand_acceleration(c->model, c->trial, zdd, c->next.zdd);
}

/* Rows of virtual volumes, c1 (dpi + K/A_h ds) - K/A_h (w_k + w) with c1 = 2/h: the trapezoidal rule for the
 * actuator's own stroke, which does not change as long as closed valves hold it, whatever its rod does. */
static void load_residual(bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const double c1 = 2.0 / c->model->h, *change = c->newton.change + bramah__n_mechanical(c);
  double *f = c->newton.f + bramah__n_mechanical(c);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double K = bramah__load_stiffness(circuit, i),
                 ds = c->trial->s[port->cylinder] - c->now->s[port->cylinder];
    f[port->volume] =
        c1 * (change[port->volume] + K * ds) - K * (c->now->w[i] + c->trial->flow[port->volume]);
  }
}

void bramah__residual(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nm = bramah__n_mechanical(c);
  bramah__state *next = &c->next;
  c->report.last_evaluations++;
  bramah__set_accelerations(c);
  c->formulation->imbalance(model, next, c->trial, next->zdd, c->newton.f);
  bramah__evaluate_rates_again(model, next->p, next->U, c->trial, next->pd);
  for (size_t i = 0; i < model->n_first_order; i++)
    c->newton.f[nm + i] = 2.0 / model->h * c->newton.change[nm + i] - c->state.pd[i] - next->pd[i];
  if (model->circuit.n_metered) load_residual(c);
}
