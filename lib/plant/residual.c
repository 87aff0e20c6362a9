/* SPDX-License-Identifier: MIT */
/* A candidate for the next state: from the changes over the step to positions, rates, forces and the residual
 * of the trapezoidal rule. Source: dissertation 2.55 ff., spec equations 4. */
#include "lib/plant/step_internal.h"
#include "lib/hydraulics/metering.h"

#include <math.h>

/* Candidate positions as the change dz says; coordinates that are no unknowns follow the correction. */
void bramah__set_positions(const bramah_coupled *c, const bramah__eval *eval, const double *change,
                           const double *correction, bramah__state *next)
{
  if (c->formulation->follow) c->formulation->follow(c->model, eval, correction, next);
  for (size_t k = 0; k < bramah__n_mechanical(c); k++) {
    const size_t j = c->formulation->joint(c, k);
    next->z[j] = c->state.z[j] + change[k];
  }
}

/* Rates and pressures of the candidate by the trapezoidal rule. */
static void set_rates(const bramah_coupled *c, const double *change, bramah__state *next,
                      const bramah__eval *eval)
{
  const size_t nm = bramah__n_mechanical(c);
  for (size_t k = 0; k < nm; k++) {
    const size_t j = c->formulation->joint(c, k);
    next->zd[j] = 2.0 / c->model->h * change[k] - c->state.zd[j];
  }
  if (c->formulation->complete_rates) c->formulation->complete_rates(c->model, next, eval);
  for (size_t i = 0; i < c->model->circuit.n_volumes; i++) next->p[i] = c->state.p[i] + change[nm + i];
}

/* Accelerations of the candidate by the trapezoidal rule. */
void bramah__set_accelerations(const bramah_coupled *c, const double *change, bramah__state *next,
                               const bramah__eval *eval)
{
  const double h = c->model->h;
  for (size_t k = 0; k < bramah__n_mechanical(c); k++) {
    const size_t j = c->formulation->joint(c, k);
    c->zdd_i[k] = 4.0 / (h * h) * change[k] - 4.0 / h * c->state.zd[j] - c->state.zdd[j];
  }
  c->formulation->accelerations(c->model, eval, c->zdd_i, next->zdd);
}

/* Friction states at the candidate's velocities. */
static void step_friction(const bramah_coupled *c, bramah__state *next, const bramah__eval *eval)
{
  for (size_t i = 0; i < c->model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
    const size_t first = cylinder->first_state;
    bramah__friction_step(&cylinder->friction, c->model->h, eval->v[i], c->state.x + first,
                          c->state.xd + first, next->x + first);
  }
}

/* Place, move and load the candidate. */
bramah_status bramah__place_candidate(bramah_coupled *c, const double *change, bramah__state *next,
                                      bramah__eval *eval)
{
  const bramah_status status = c->formulation->place(c->model, next, eval);
  if (status != BRAMAH_OK) return status;
  set_rates(c, change, next, eval);
  bramah__evaluate_motion(c->model, next, eval);
  step_friction(c, next, eval);
  bramah__evaluate_forces(c->model, next->p, next->U, next->x, next->xd, eval);
  return BRAMAH_OK;
}

/* Mechanical part of the residual: accelerations of the trapezoidal rule put into the equations of motion. */
void bramah__mechanical_residual(bramah_coupled *c, const double *change, bramah__state *next,
                                 bramah__eval *eval, double *f)
{
  bramah__set_accelerations(c, change, next, eval);
  c->formulation->imbalance(c->model, next, eval, next->zdd, f);
}

/* Rows of virtual volumes, c1 (dpi + K/A_h ds) - K/A_h (w_k + w) with c1 = 2/h: the trapezoidal rule for the
 * actuator's own stroke, which does not change as long as closed valves hold it, whatever its rod does. */
static void load_residual(const bramah_coupled *c, const double *change, const bramah__eval *eval, double *f)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const double c1 = 2.0 / c->model->h;
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double K = bramah__load_stiffness(circuit, i),
                 ds = eval->s[port->cylinder] - c->now->s[port->cylinder];
    f[port->volume] = c1 * (change[port->volume] + K * ds) - K * (c->now->w[i] + eval->flow[port->volume]);
  }
}

/* Hydraulic part: pd of the trapezoidal rule minus u0(p, z, z'). Only differences by a pressure come with
 * others than those of the candidate whose forces stand in eval. */
void bramah__hydraulic_residual(bramah_coupled *c, const double *change, const double *p, bramah__state *next,
                                bramah__eval *eval, double *f)
{
  const size_t nm = bramah__n_mechanical(c);
  if (eval == c->probe || p == c->next.p)
    bramah__evaluate_rates_again(c->model, p, next->U, eval, next->pd);
  else
    bramah__evaluate_rates(c->model, p, next->U, eval, next->pd);
  for (size_t i = 0; i < c->model->circuit.n_volumes; i++)
    f[nm + i] = 2.0 / c->model->h * change[nm + i] - c->state.pd[i] - next->pd[i];
  if (c->model->circuit.n_metered) load_residual(c, change + nm, eval, f + nm);
}
