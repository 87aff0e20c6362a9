/* SPDX-License-Identifier: MIT */
/* Newton's tangent of the trapezoidal step: analytic, from the derivatives of linear.h with z' = 2/h dz and
 * z'' = 4/h^2 dz; friction states follow the velocity by their own trapezoidal rule. Long open chains are not
 * formed at all but eliminated body by body. */
#include "lib/plant/step_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* How the force of each cylinder at the end of the step follows its stroke and velocity there. */
static void force_slopes(bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    const size_t first = cylinder->first_state;
    double friction, at_start, by_s, by_v;
    bramah__friction_step_slopes(&cylinder->friction, c->model->h, c->trial->v[i], c->now->v[i],
                                 c->state.x + first, c->state.xd + first, &friction, &at_start);
    bramah__stop_slopes(circuit, i, c->trial->s[i], c->trial->v[i], &by_s, &by_v);
    c->linear.F_s[i] = by_s;
    c->linear.F_v[i] = by_v - cylinder->friction_scale * friction;
  }
}

/* Derivatives of the pressure rates by stroke and velocity of each cylinder, led to the mechanical
 * unknowns. */
static void pressure_rows(bramah_coupled *c, double *J)
{
  const bramah_model *model = c->model;
  const bramah__linear *linear = &c->linear;
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c), np = model->circuit.n_volumes,
               nc = model->circuit.n_cylinders;
  const double c1 = 2.0 / model->h;
  for (size_t i = 0; i < np; i++) {
    double *row = J + (nm + i) * nx;
    for (size_t k = 0; k < nm; k++) row[k] = 0.0;
    for (size_t q = 0; q < nc; q++) {
      const double by_s = linear->pd_s[i * nc + q], by_v = linear->pd_v[i * nc + q];
      if (by_s == 0.0 && by_v == 0.0) continue;
      const double *arm = c->formulation->arm(model, c->trial, q), *rate = c->formulation->rate_arm(c, q);
      for (size_t k = 0; k < nm; k++) row[k] -= by_s * arm[k] + by_v * (rate[k] + c1 * arm[k]);
    }
    for (size_t j = 0; j < np; j++) row[nm + j] = (i == j ? c1 : 0.0) - linear->pd_p[i * np + j];
  }
}

static void pressure_columns(const bramah_coupled *c, double *J)
{
  const bramah_model *model = c->model;
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c), np = model->circuit.n_volumes;
  for (size_t k = 0; k < nm; k++)
    for (size_t i = 0; i < np; i++) J[k * nx + nm + i] = 0.0;
  for (size_t q = 0; q < model->circuit.n_cylinders; q++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[q];
    const double *arm = c->formulation->arm(model, c->trial, q);
    for (size_t k = 0; k < nm; k++) {
      J[k * nx + nm + cylinder->piston] -= arm[k] * cylinder->piston_area;
      J[k * nx + nm + cylinder->rod] += arm[k] * cylinder->rod_area;
    }
  }
  for (size_t i = 0; i < model->circuit.n_metered; i++) {
    const double *arm = c->formulation->arm(model, c->trial, model->circuit.metered_port[i].cylinder);
    for (size_t k = 0; k < nm; k++)
      bramah__metered_by_pressure(model, &c->linear, i, -arm[k], J + k * nx + nm);
  }
}

/* What rows of virtual volumes have beyond that: they take the change of the stroke itself, which leaves the
 * change of its velocity at held rates. */
static void load_rows(bramah_coupled *c, double *J)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const double *rate = c->formulation->rate_arm(c, circuit->metered_port[i].cylinder);
    double *row = J + (nm + circuit->metered_port[i].volume) * nx;
    for (size_t k = 0; k < nm; k++) row[k] -= bramah__load_stiffness(circuit, i) * rate[k];
  }
}

void bramah__step_tangent(bramah_coupled *c, double *J)
{
  const double h = c->model->h;
  force_slopes(c);
  bramah__linear_circuit(c->model, c->next.p, c->next.U, c->trial, &c->linear);
  c->formulation->tangent(c, 2.0 / h, 4.0 / (h * h), J, bramah__n_unknowns(c));
  pressure_columns(c, J);
  pressure_rows(c, J);
  load_rows(c, J);
}

/* The part of the tangent that the projections need, before it is scaled and factored. */
static void keep_mechanical_tangent(bramah_coupled *c)
{
  const size_t nx = bramah__n_unknowns(c), nm = bramah__n_mechanical(c);
  for (size_t k = 0; k < nm; k++) memcpy(c->newton.Jzz + k * nm, c->newton.J + k * nx, nm * sizeof(double));
}

/* Columns are scaled to typical sizes of the unknowns and rows to their largest entry: the unknowns span 1e-7
 * to 1e7. */
static void scale_tangent(bramah__newton *newton, size_t nx)
{
  for (size_t r = 0; r < nx; r++) {
    double largest = 0.0;
    for (size_t k = 0; k < nx; k++) {
      newton->J[r * nx + k] *= newton->scale[k];
      largest = fmax(largest, fabs(newton->J[r * nx + k]));
    }
    const double row = largest > 0.0 ? 1.0 / largest : 1.0;
    for (size_t k = 0; k < nx; k++) newton->J[r * nx + k] *= row;
    newton->weight[r] = row;
  }
}

static bramah_status sweep_factor(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  bramah__linear *linear = &c->linear;
  const double h = model->h;
  double *diag = linear->row;
  memset(diag, 0, model->n * sizeof *diag);
  for (size_t i = 0; i < model->forces.n_joint_springs; i++) {
    const bramah__joint_spring *spring = &model->forces.joint_spring[i];
    diag[spring->joint] += spring->stiffness + 2.0 / h * spring->damping;
  }
  bramah__tree_moving(&model->tree, c->trial->pose, c->trial->Z, c->trial->Zd, linear->moving);
  const size_t bad = bramah__sweep_factor(&model->tree, c->trial->pose, linear->moving, c->trial->Z,
                                          c->trial->W, 2.0 / h, 4.0 / (h * h), diag, linear->sweep);
  return bad ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

bramah_status bramah__tangent_factor(bramah_coupled *c)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = bramah__n_unknowns(c);
  if (c->sweeps) return sweep_factor(c);
  if (c->model->tangent == BRAMAH_TANGENT_DIFFERENCES)
    bramah__step_tangent_differences(c, newton->change, newton->J);
  else
    bramah__step_tangent(c, newton->J);
  if (c->formulation->finish) keep_mechanical_tangent(c);
  scale_tangent(newton, nx);
  return bramah__lu_factor(nx, newton->J, newton->pivot) ? BRAMAH_E_SINGULAR : BRAMAH_OK;
}

void bramah__tangent_solve(bramah_coupled *c, const double *f, double *x)
{
  bramah__newton *newton = &c->newton;
  const size_t nx = bramah__n_unknowns(c);
  if (c->sweeps) {
    bramah__sweep_solve(&c->model->tree, c->linear.sweep, f, x);
    return;
  }
  for (size_t r = 0; r < nx; r++) x[r] = -newton->weight[r] * f[r];
  bramah__lu_solve(nx, newton->J, newton->pivot, x);
  for (size_t k = 0; k < nx; k++) x[k] *= newton->scale[k];
}
