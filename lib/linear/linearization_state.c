/* SPDX-License-Identifier: MIT */
/* A of the linearized equations. Rows of the velocities come from the derivatives of the equations of motion
 * (transition.c), all others from the derivatives of the elements, led along the constraints:
 *
 *   positions        z'_i
 *   velocities       -r_a^-1 [r_z r_v r_p 0 r_q], r = Rz' (M z'' - Q)
 *   pressures        by strokes s(z_i), stroke velocities v(z_i, z'_i), pressures, spools
 *   spools           U' = (U_ref - U) / tau; those without lag are no states (linearization_inputs.c)
 *   friction states  by v(z_i, z'_i) and themselves
 *
 * Source: Agundez et al. 2023, equation 64, without its restriction to one block of pressures. */
#include "lib/linear/linearization_internal.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

size_t bramah__lagging_valves(const bramah__circuit *circuit, size_t *valve)
{
  size_t n = 0;
  for (size_t i = 0; i < bramah__n_spools(circuit); i++) {
    if (bramah__is_direct(&circuit->valve[i])) continue;
    if (valve) valve[n] = i;
    n++;
  }
  return n;
}

double bramah__spool_follows(const bramah__valve *valve, double command)
{
  return fabs(command + valve->offset) > valve->limit ? 0.0 : 1.0;
}

void bramah__put_spools(const bramah_linearization *l, size_t rows, const double *by_U, double *to)
{
  const size_t n = l->system.n, ns = bramah__n_spools(&l->model->circuit), first = bramah__first_spool(l);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < l->system.n_spool; i++) to[r * n + first + i] = by_U[r * ns + l->spool[i]];
}

static double spool_rate(const bramah__valve *valve, double U, double command)
{
  return (bramah__spool_reference(valve, command) - U) / valve->time_constant;
}

void bramah__linear_rates(const bramah_linearization *l, const bramah_coupled *c, double *xd)
{
  const bramah_model *model = c->model;
  const size_t nf = model->n_independent, nd = model->n_dependent;
  for (size_t f = 0; f < nf; f++) {
    xd[f] = c->state.zd[c->state.index[nd + f]];
    xd[nf + f] = c->state.zdd[c->state.index[nd + f]];
  }
  memcpy(xd + 2 * nf, c->state.pd, l->system.n_pressure * sizeof *xd);
  for (size_t i = 0; i < l->system.n_spool; i++) {
    const bramah__valve *valve = &model->circuit.valve[l->spool[i]];
    xd[bramah__first_spool(l) + i] = spool_rate(valve, c->state.U[l->spool[i]], c->state.u[valve->input]);
  }
  memcpy(xd + bramah__first_friction(l), c->state.xd, l->system.n_friction * sizeof *xd);
}

/* Rows of positions and velocities as far as the error state reaches. */
static bramah_status motion_rows(bramah_linearization *l, bramah_coupled *c)
{
  const size_t n = l->system.n, nf = l->system.n_position, ne = 2 * nf + l->system.n_pressure;
  const bramah_status status = bramah__accelerations_by_state(c, c->transition.A);
  if (status != BRAMAH_OK) return status;
  memcpy(l->v_zi, c->linear.v_zi, c->model->circuit.n_cylinders * nf * sizeof *l->v_zi);
  for (size_t f = 0; f < nf; f++) {
    l->A[f * n + nf + f] = 1.0;
    memcpy(l->A + (nf + f) * n, c->transition.A + f * ne, ne * sizeof *l->A);
  }
  return BRAMAH_OK;
}

/* A force along cylinder q by something: added to the column of independent accelerations, `stride` apart. */
static void cylinder_column(bramah_linearization *l, const bramah_coupled *c, size_t q, double force,
                            double *column, size_t stride)
{
  const size_t nf = l->system.n_position;
  for (size_t f = 0; f < nf; f++) l->column[f] = force * c->now->row_i[q * nf + f];
  bramah__cholesky_solve(nf, c->now->Mi, l->column);
  for (size_t f = 0; f < nf; f++) column[f * stride] += l->column[f];
}

/* What depends on the stroke and its velocity, led to positions and velocities: row [n] of A. */
static void follow_stroke(const bramah_linearization *l, const bramah_coupled *c, size_t q, double by_s,
                          double by_v, double *row)
{
  const size_t nf = l->system.n_position;
  const double *arm = c->now->row_i + q * nf, *v_zi = l->v_zi + q * nf;
  for (size_t f = 0; f < nf; f++) {
    row[f] += by_s * arm[f] + by_v * v_zi[f];
    row[nf + f] += by_v * arm[f];
  }
}

/* Drags of quasistatic actuators follow the rates of their virtual volumes, and so the spools. */
static void drag_columns(bramah_linearization *l, const bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t nf = l->system.n_position, ns = bramah__n_spools(circuit);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double per_rate = bramah__drag_per_rate(circuit, i), *by_U = l->by_U + port->volume * ns;
    for (size_t k = 0; k < ns; k++)
      if (by_U[k] != 0.0)
        cylinder_column(l, c, port->cylinder, per_rate * by_U[k], l->x_by_U + nf * ns + k, ns);
  }
}

static void pressure_rows(bramah_linearization *l, const bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t n = l->system.n, np = circuit->n_volumes, nc = circuit->n_cylinders,
               ns = bramah__n_spools(circuit), first = 2 * l->system.n_position;
  bramah__circuit_derivatives(circuit, c->state.p, c->now->s, c->now->v, c->state.U, l->circuit, l->pd,
                              l->by_p, l->by_s, l->by_v, l->by_U, l->by_supply);
  for (size_t i = 0; i < np; i++) {
    double *row = l->A + (first + i) * n;
    for (size_t q = 0; q < nc; q++) follow_stroke(l, c, q, l->by_s[i * nc + q], l->by_v[i * nc + q], row);
    memcpy(row + first, l->by_p + i * np, np * sizeof *row);
  }
  memcpy(l->x_by_U + first * ns, l->by_U, np * ns * sizeof *l->by_U);
}

static void spool_rows(bramah_linearization *l, const bramah_coupled *c)
{
  const size_t first = bramah__first_spool(l);
  for (size_t i = 0; i < l->system.n_spool; i++)
    l->A[(first + i) * l->system.n + first + i] = -1.0 / c->model->circuit.valve[l->spool[i]].time_constant;
}

/* Friction states of cylinder q: their rows, and what they do to the velocities. */
static void friction_rows(bramah_linearization *l, const bramah_coupled *c, size_t q)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[q];
  const size_t n = l->system.n, nf = l->system.n_position,
               states = bramah__friction_states(cylinder->friction.kind),
               first = bramah__first_friction(l) + cylinder->first_state;
  bramah__friction_partials by;
  if (states == 0) return;
  bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
  for (size_t k = 0; k < states; k++) {
    double *row = l->A + (first + k) * n;
    follow_stroke(l, c, q, 0.0, by.rate_by_v[k], row);
    for (size_t j = 0; j < states; j++) row[first + j] = by.rate_by_x[k][j];
    cylinder_column(l, c, q, -cylinder->friction_scale * by.force_by_x[k], l->A + nf * n + first + k, n);
  }
}

bramah_status bramah__linearize_state(bramah_linearization *l, bramah_coupled *c)
{
  memset(l->A, 0, l->system.n * l->system.n * sizeof *l->A);
  memset(l->x_by_U, 0, l->system.n * bramah__n_spools(&c->model->circuit) * sizeof *l->x_by_U);
  const bramah_status status = motion_rows(l, c);
  if (status != BRAMAH_OK) return status;
  pressure_rows(l, c);
  drag_columns(l, c);
  bramah__put_spools(l, l->system.n, l->x_by_U, l->A);
  spool_rows(l, c);
  for (size_t q = 0; q < c->model->circuit.n_cylinders; q++) friction_rows(l, c, q);
  return BRAMAH_OK;
}
