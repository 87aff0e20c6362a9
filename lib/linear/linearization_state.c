/* SPDX-License-Identifier: MIT */
/* A of the linearized equations. Rows of the velocities come from the derivatives of the equations of motion
 * (residual_derivative.c), all others from the derivatives of the elements, led along the constraints:
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

/* A force along cylinder q by something: added to the column of independent accelerations, `stride` apart. */
static void cylinder_column(bramah_linearization *l, const bramah_coupled *c, size_t q, double force,
                            double *column, size_t stride)
{
  const size_t nf = l->system.n_position;
  for (size_t f = 0; f < nf; f++) l->column[f] = force * c->now->row_i[q * nf + f];
  bramah__cholesky_solve(nf, c->now->Mi, l->column);
  for (size_t f = 0; f < nf; f++) column[f * stride] += l->column[f];
}

void bramah__circuit_columns(bramah_linearization *l, bramah_coupled *c)
{
  bramah__derivative *d = &c->derivative;
  bramah__circuit_derivatives(&c->model->circuit, c->state.p, c->now->s, c->now->v, c->state.U, d->circuit,
                              d->pd, d->pd_p, d->pd_s, d->pd_v, l->by_U, l->by_supply);
}

/* Rates by the spools: those of the pressures and, by the drags of quasistatic actuators, which follow the rates of
 * their virtual volumes, the accelerations. */
static void spool_columns(bramah_linearization *l, const bramah_coupled *c)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t nf = l->system.n_position, ns = bramah__n_spools(circuit), first = bramah__first_spool(l);
  memcpy(l->x_by_U + 2 * nf * ns, l->by_U, circuit->n_volumes * ns * sizeof *l->by_U);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double per_rate = bramah__drag_per_rate(circuit, i), *by_U = l->by_U + port->volume * ns;
    for (size_t k = 0; k < ns; k++)
      if (by_U[k] != 0.0)
        cylinder_column(l, c, port->cylinder, per_rate * by_U[k], l->x_by_U + nf * ns + k, ns);
  }
  bramah__put_spools(l, l->system.n, l->x_by_U, l->A);
  for (size_t i = 0; i < l->system.n_spool; i++)
    l->A[(first + i) * l->system.n + first + i] = -1.0 / circuit->valve[l->spool[i]].time_constant;
}

/* Friction states of cylinder q: their rows, and what they do to the velocities. */
static void friction_rows(bramah_linearization *l, const bramah_coupled *c, size_t q)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[q];
  const size_t n = l->system.n, nf = l->system.n_position,
               states = bramah__friction_states(cylinder->friction.kind),
               first = bramah__first_friction(l) + cylinder->first_state;
  const double *arm = c->now->row_i + q * nf, *v_zi = c->derivative.v_zi + q * nf;
  bramah__friction_partials by;
  if (states == 0) return;
  bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
  for (size_t k = 0; k < states; k++) {
    double *row = l->A + (first + k) * n;
    for (size_t f = 0; f < nf; f++) {
      row[f] += by.rate_by_v[k] * v_zi[f];
      row[nf + f] += by.rate_by_v[k] * arm[f];
    }
    for (size_t j = 0; j < states; j++) row[first + j] = by.rate_by_x[k][j];
    cylinder_column(l, c, q, -cylinder->friction_scale * by.force_by_x[k], l->A + nf * n + first + k, n);
  }
}

bramah_status bramah__linearize_state(bramah_linearization *l, bramah_coupled *c)
{
  const size_t n = l->system.n, nf = l->system.n_position, ne = 2 * nf + l->system.n_pressure;
  memset(l->A, 0, n * n * sizeof *l->A);
  memset(l->x_by_U, 0, n * bramah__n_spools(&c->model->circuit) * sizeof *l->x_by_U);
  const bramah_status status = bramah__rates_by_state(c);
  if (status != BRAMAH_OK) return status;
  for (size_t f = 0; f < nf; f++) l->A[f * n + nf + f] = 1.0;
  for (size_t i = nf; i < ne; i++) memcpy(l->A + i * n, c->A + (i - nf) * ne, ne * sizeof *l->A);
  bramah__circuit_columns(l, c);
  spool_columns(l, c);
  for (size_t q = 0; q < c->model->circuit.n_cylinders; q++) friction_rows(l, c, q);
  return BRAMAH_OK;
}
