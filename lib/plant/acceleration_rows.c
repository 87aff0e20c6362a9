/* SPDX-License-Identifier: MIT */
/* How accelerations follow the error state: the independent ones from the derivatives of the equations of motion
 * (linear.h), all others along the constraints. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/diag.h"
#include "lib/linalg/dense.h"

#include <string.h>

void bramah__force_slopes(const bramah_coupled *c, size_t i, double *by_s, double *by_v)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[i];
  const double *x = c->state.x + cylinder->first_state;
  bramah__stop_slopes(&c->model->circuit, i, c->now->s[i], c->now->v[i], by_s, by_v);
  *by_v -= bramah__friction_slope(&cylinder->friction, c->now->v[i], x);
}

/* Derivative of the imbalance r by the pressures. */
static void pressure_columns(const bramah_coupled *c, double *J, size_t ne)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t nf = c->model->n_independent;
  for (size_t g = 0; g < nf; g++) {
    double *row = J + g * ne + 2 * nf;
    memset(row, 0, circuit->n_volumes * sizeof *row);
    for (size_t i = 0; i < circuit->n_cylinders; i++) {
      const double arm = c->now->row_i[i * nf + g];
      row[circuit->cylinder[i].piston] -= arm * circuit->cylinder[i].piston_area;
      row[circuit->cylinder[i].rod] += arm * circuit->cylinder[i].rod_area;
    }
  }
}

/* z''_i keeps r = Rz' (M z'' - Q) at zero: Rz' M Rz dz''_i = -dr. */
bramah_status bramah__acceleration_rows(bramah_coupled *c, double *J)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent, ne = 2 * nf + model->circuit.n_volumes;
  if (bramah__factor_mass(model, c->now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  bramah__evaluate_rhs(model, &c->state, c->now);
  bramah__solve_acceleration(model, c->now, c->zdd_i);
  bramah__expand_acceleration(model, c->now, c->zdd_i, c->zdd_base);
  bramah__inverse_dynamics(model, &c->state, c->now, c->zdd_base);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++)
    bramah__force_slopes(c, i, &c->linear.F_s[i], &c->linear.F_v[i]);
  bramah__linear_reduce(model, &c->state, c->now, &c->linear);
  for (size_t f = 0; f < nf; f++) {
    bramah__linear_column(model, &c->state, c->now, &c->linear, f, 1.0, 0.0, 0.0, J + f, ne);
    bramah__linear_column(model, &c->state, c->now, &c->linear, f, 0.0, 1.0, 0.0, J + nf + f, ne);
  }
  pressure_columns(c, J, ne);
  for (size_t k = 0; k < ne; k++) {
    for (size_t g = 0; g < nf; g++) c->zdd_i[g] = -J[g * ne + k];
    bramah__cholesky_solve(nf, c->now->Mi, c->zdd_i);
    for (size_t g = 0; g < nf; g++) J[g * ne + k] = c->zdd_i[g];
  }
  return BRAMAH_OK;
}

/* What the dependent accelerations gain as all joints move by linear.dz and their rates by linear.dzd, the independent
 * accelerations held: Phi'' stays zero. Added to column k of Q. */
static void add_dependent(bramah_coupled *c, size_t k, size_t ne)
{
  const bramah_model *model = c->model;
  bramah__linear *linear = &c->linear;
  bramah__eval *now = c->now;
  const size_t nd = model->n_dependent;
  memset(linear->dzdd, 0, model->n * sizeof *linear->dzdd);
  bramah__vary_tree(&model->tree, now->pose, linear->moving, linear->dz, linear->dzd, linear->dzdd,
                    &linear->variation);
  bramah__vary_closure(model->n_loops, model->loop, now->pose, now->Z, linear->Y, &linear->variation, NULL,
                       now->gamma);
  for (size_t i = 0; i < model->n_motions; i++) now->gamma[model->motion[i].row] = 0.0; /* z_j is given */
  for (size_t l = 0; l < nd; l++) now->column[l] = -now->gamma[c->state.row[l]];
  bramah__lu_solve(nd, now->LU, now->pivot, now->column);
  for (size_t l = 0; l < nd; l++) c->Q[(size_t)c->state.index[l] * ne + k] += now->column[l];
}

static void follow_constraints(bramah_coupled *c, size_t ne)
{
  const bramah_model *model = c->model;
  bramah__linear *linear = &c->linear;
  const size_t n = model->n, nf = model->n_independent;
  if (model->n_dependent == 0) return;
  bramah__rate_derivative(model, &c->state, c->now, c->D);
  bramah__tree_acceleration(&model->tree, c->now->pose, c->now->Z, c->state.zd, c->state.zdd, linear->Y);
  bramah__tree_moving(&model->tree, c->now->pose, c->now->Z, linear->Y, linear->moving);
  for (size_t f = 0; f < nf; f++) {
    for (size_t j = 0; j < n; j++) {
      linear->dz[j] = c->now->Rz[j * nf + f];
      linear->dzd[j] = c->D[j * nf + f];
    }
    add_dependent(c, f, ne);
    memcpy(linear->dzd, linear->dz, n * sizeof *linear->dzd);
    memset(linear->dz, 0, n * sizeof *linear->dz);
    add_dependent(c, nf + f, ne);
  }
}

/* The bytes of the state say whether the last answer still holds. */
bramah_status bramah__joint_acceleration_rows(bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent, ne = 2 * nf + model->circuit.n_volumes;
  if (c->Q_valid && memcmp(c->Q_state, c->state.block, c->state.size) == 0) return BRAMAH_OK;
  c->Q_valid = 0;
  const bramah_status status = bramah__acceleration_rows(c, c->J);
  if (status != BRAMAH_OK) return status;
  bramah__multiply(model->n, nf, ne, c->now->Rz, c->J, c->Q);
  follow_constraints(c, ne);
  memcpy(c->Q_state, c->state.block, c->state.size);
  c->Q_valid = 1;
  return BRAMAH_OK;
}
