/* SPDX-License-Identifier: MIT */
/* Newton's tangent by forward differences, as the papers take it (spec equations 4). It checks the analytic
 * one and can be chosen in its place. */
#include "lib/plant/step_internal.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* Spec equations 4: eps = 1e-8 max(1e-2, |x|). */
static double difference_step(double x) { return 1e-8 * fmax(1e-2, fabs(x)); }

/* The part of the mechanical residual whose tangent is taken by differences. Stiff constraint forces are not:
 * their tangent is known, and its error would drown the inertia of the free directions. */
static void differenced_residual(bramah_coupled *c, const double *change, bramah__state *next,
                                 bramah__eval *eval, double *f)
{
  if (!c->formulation->differenced) {
    bramah__mechanical_residual(c, change, next, eval, f);
    return;
  }
  bramah__set_accelerations(c, change, next, eval);
  c->formulation->differenced(c->model, next, eval, next->zdd, f);
}

static void position_column(bramah_coupled *c, const double *change, size_t k, double *J)
{
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c);
  bramah__newton *newton = &c->newton;
  bramah__state_copy(&c->next, &c->probe_state);
  const double eps = difference_step(c->next.z[c->formulation->joint(c, k)]);
  memcpy(newton->correction, change, nx * sizeof(double));
  newton->correction[k] += eps;
  double *move = newton->g;
  for (size_t l = 0; l < nm; l++) move[l] = l == k ? eps : 0.0;
  bramah__set_positions(c, c->trial, newton->correction, move, &c->probe_state);
  if (bramah__place_candidate(c, newton->correction, &c->probe_state, c->probe) != BRAMAH_OK) {
    for (size_t r = 0; r < nx; r++) J[r * nx + k] = NAN; /* the factorisation reports it */
    return;
  }
  differenced_residual(c, newton->correction, &c->probe_state, c->probe, newton->g);
  bramah__hydraulic_residual(c, newton->correction, c->probe_state.p, &c->probe_state, c->probe, newton->g);
  for (size_t r = 0; r < nx; r++) J[r * nx + k] = (newton->g[r] - newton->base[r]) / eps;
}

/* What the drags of quasistatic actuators add to unknown k's force at pressures p. */
static double drag_part(const bramah_coupled *c, const double *p, size_t k)
{
  const bramah__circuit *circuit = &c->model->circuit;
  double sum = 0.0;
  if (circuit->n_metered == 0) return sum;
  bramah__metered_solve(circuit, p, c->trial->v, c->next.U, c->probe->w, c->probe->P);
  for (size_t i = 0; i < circuit->n_metered; i++)
    sum += c->formulation->arm(c->model, c->trial, circuit->metered_port[i].cylinder)[k] *
           bramah__metered_drag(circuit, i, c->probe->w[i], c->trial->v);
  return sum;
}

/* A pressure reaches the cylinder forces and the flows only: no new pose. */
static void pressure_column(bramah_coupled *c, const double *change, size_t i, double *J)
{
  const bramah_model *model = c->model;
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c), nc = model->circuit.n_cylinders;
  bramah__newton *newton = &c->newton;
  double *p = c->probe_state.p;
  memcpy(p, c->next.p, model->circuit.n_volumes * sizeof(double));
  memcpy(newton->correction, change, nx * sizeof(double));
  const double eps = difference_step(p[i]);
  p[i] += eps;
  newton->correction[nm + i] += eps;
  for (size_t k = 0; k < nm; k++) {
    double sum = 0.0;
    for (size_t q = 0; q < nc; q++)
      sum -= c->formulation->arm(model, c->trial, q)[k] *
             (bramah__pressure_force(&model->circuit, q, p) - c->trial->friction[q] + c->trial->stop[q] +
              model->circuit.cylinder[q].load - c->trial->force[q]);
    J[k * nx + nm + i] = (sum - drag_part(c, p, k)) / eps;
  }
  memcpy(c->probe_state.U, c->next.U, bramah__n_spools(&model->circuit) * sizeof(double));
  bramah__hydraulic_residual(c, newton->correction, p, &c->probe_state, c->trial, newton->g);
  for (size_t r = nm; r < nx; r++) J[r * nx + nm + i] = (newton->g[r] - newton->f[r]) / eps;
}

void bramah__step_tangent_differences(bramah_coupled *c, const double *change, double *J)
{
  const size_t nm = bramah__n_mechanical(c), np = c->model->circuit.n_volumes;
  memcpy(c->newton.base, c->newton.f, bramah__n_unknowns(c) * sizeof(double));
  if (c->formulation->differenced) differenced_residual(c, change, &c->next, c->trial, c->newton.base);
  for (size_t k = 0; k < nm; k++) position_column(c, change, k, J);
  if (c->formulation->add_tangent) c->formulation->add_tangent(c, J, bramah__n_unknowns(c));
  for (size_t i = 0; i < np; i++) pressure_column(c, change, i, J);
}
