/* SPDX-License-Identifier: MIT */
/* B and D of the linearized equations. Commands reach the spools alone: the rates of those that lag, and
 * whatever depends on those that do not, which are no states. Loads and supply pressures enter linearly and
 * have exact columns; other parameters are differenced, and so is what outputs have of any parameter but
 * offsets of commands: the plant is set to the displaced value at the same positions, velocities, pressures
 * and friction states. */
#include "lib/linear/linearization_internal.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* to [rows, n_u apart] += what stands in by_U [rows x n_spools] of this spool */
static void add_direct(const bramah_linearization *l, size_t rows, const double *by_U, size_t spool,
                       double *to)
{
  const size_t ns = bramah__n_spools(&l->model->circuit), nu = l->system.n_u;
  for (size_t i = 0; i < rows; i++) to[i * nu] += by_U[i * ns + spool];
}

/* Column `column` of B and D by a command, or by an offset to it. */
static void spool_column(bramah_linearization *l, const bramah_coupled *c, size_t input, size_t column)
{
  const size_t nu = l->system.n_u;
  double *rate = l->B + bramah__first_spool(l) * nu + column;
  for (size_t i = 0; i < bramah__n_spools(&c->model->circuit); i++) {
    const bramah__valve *valve = &c->model->circuit.valve[i];
    const int lags = !bramah__is_direct(valve),
              follows = valve->input == input && bramah__spool_follows(valve, c->state.u[input]) > 0.0;
    if (follows && lags) *rate = 1.0 / valve->time_constant;
    if (follows && !lags) {
      add_direct(l, l->system.n, l->x_by_U, i, l->B + column);
      add_direct(l, l->system.n_y, l->y_by_U, i, l->D + column);
    }
    if (lags) rate += nu;
  }
}

/* Independent accelerations by a generalised force of `l->column` [nf]. */
static void force_column(bramah_linearization *l, const bramah_coupled *c, double *column)
{
  const size_t nf = l->system.n_position, nu = l->system.n_u;
  bramah__cholesky_solve(nf, c->now->Mi, l->column);
  for (size_t f = 0; f < nf; f++) column[(nf + f) * nu] = l->column[f];
}

/* Returns 1 if the parameter has an exact column of B, which is then filled; of offsets that of D too. */
static int exact_column(bramah_linearization *l, bramah_coupled *c, const bramah__parameter *p, size_t at)
{
  const size_t nf = l->system.n_position, np = l->system.n_pressure, nu = l->system.n_u;
  double *column = l->B + at;
  switch (p->code) {
  case BRAMAH__JOINT_LOAD:
    for (size_t f = 0; f < nf; f++) l->column[f] = c->now->Rz[p->index * nf + f];
    force_column(l, c, column);
    return 1;
  case BRAMAH__CYLINDER_LOAD:
    for (size_t f = 0; f < nf; f++) l->column[f] = c->now->row_i[p->index * nf + f];
    force_column(l, c, column);
    return 1;
  case BRAMAH__SUPPLY_PRESSURE:
    for (size_t i = 0; i < np; i++)
      column[(2 * nf + i) * nu] = l->by_supply[i * c->model->circuit.n_supplies + p->index];
    return 1;
  case BRAMAH__INPUT_OFFSET:
    spool_column(l, c, p->index, at);
    return 1;
  default:
    return 0;
  }
}

/* Small against the parameter; those that are zero by nature are loads [N m, N], in which all is linear, and
 * payloads [kg]. */
static double step_of(const bramah__parameter *p, double value)
{
  const double size = fmax(fabs(value), fabs(p->info.nominal));
  if (size > 0.0) return 1e-5 * size;
  return p->code == BRAMAH__PAYLOAD ? 1e-3 : 1.0;
}

/* Rates and outputs at a displaced parameter, side [n + n_y]. */
static bramah_status look(bramah_linearization *l, bramah_coupled *c, size_t parameter, double value,
                          double *side, bramah_diag *diag)
{
  memcpy(c->next.block, l->snap, c->state.size);
  c->next.theta[parameter] = value;
  const bramah_status status = bramah__adopt_candidate(c, diag);
  if (status != BRAMAH_OK) return status;
  bramah__linear_rates(l, c, side);
  for (size_t i = 0; i < l->system.n_y; i++) side[l->system.n + i] = bramah__output_value(c, l->output[i]);
  return BRAMAH_OK;
}

static void put_back(bramah_linearization *l, bramah_coupled *c)
{
  memcpy(c->state.block, l->snap, c->state.size);
  bramah__apply_parameters(c, c->state.theta);
  c->now_valid = 0;
}

/* Difference of second order of what `look` sees into side[0]: central, or one-sided at an end of the
 * range. */
static bramah_status differ(bramah_linearization *l, bramah_coupled *c, size_t parameter, bramah_diag *diag)
{
  const bramah__parameter *p = &c->model->parameter[parameter];
  const double value = c->state.theta[parameter], h = step_of(p, value);
  const int low = value - h<p->info.least, high = value + h> p->info.most;
  const double at[3] = {low ? 0.0 : high ? 0.0 : -h, low ? h : high ? -h : h, low ? 2.0 * h : -2.0 * h};
  const double w[3] = {low || high ? -1.5 : -0.5, low || high ? 2.0 : 0.5, low || high ? -0.5 : 0.0};
  bramah_status status = BRAMAH_OK;
  memcpy(l->snap, c->state.block, c->state.size);
  for (int k = 0; k < 3 && status == BRAMAH_OK; k++)
    if (w[k] != 0.0) status = look(l, c, parameter, value + at[k], l->side[k], diag);
  put_back(l, c);
  for (size_t i = 0; i < l->system.n + l->system.n_y; i++) {
    double sum = w[0] * l->side[0][i] + w[1] * l->side[1][i];
    if (w[2] != 0.0) sum += w[2] * l->side[2][i];
    l->side[0][i] = sum / (high && !low ? -h : h);
  }
  if (status != BRAMAH_OK) return status;
  return bramah__refresh(c, diag);
}

static bramah_status parameter_column(bramah_linearization *l, bramah_coupled *c, size_t k, bramah_diag *diag)
{
  const size_t n = l->system.n, nu = l->system.n_u, column = c->model->n_inputs + k;
  const bramah__parameter *p = &c->model->parameter[l->parameter[k]];
  if (bramah__factor_mass(c->model, c->now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
  const int exact = exact_column(l, c, p, column);
  if (exact && (l->system.n_y == 0 || p->code == BRAMAH__INPUT_OFFSET)) return BRAMAH_OK;
  const bramah_status status = differ(l, c, l->parameter[k], diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < n && !exact; i++) l->B[i * nu + column] = l->side[0][i];
  for (size_t i = 0; i < l->system.n_y; i++) l->D[i * nu + column] = l->side[0][n + i];
  return BRAMAH_OK;
}

bramah_status bramah__linearize_inputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t nu = l->system.n_u;
  memset(l->B, 0, l->system.n * nu * sizeof *l->B);
  memset(l->D, 0, l->system.n_y * nu * sizeof *l->D);
  for (size_t i = 0; i < model->n_inputs; i++) spool_column(l, c, i, i);
  for (size_t i = 0; i < l->system.n_y; i++) {
    const bramah__output *output = &model->output[l->output[i]];
    if (output->code == BRAMAH__INPUT_COMMAND) l->D[i * nu + output->index] = 1.0;
  }
  for (size_t k = 0; k < l->n_parameters; k++) {
    const bramah_status status = parameter_column(l, c, k, diag);
    if (status != BRAMAH_OK) return status;
  }
  return BRAMAH_OK;
}
