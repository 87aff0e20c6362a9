/* SPDX-License-Identifier: MIT */
/* The linearized equations: A, C, B and D, then the object with its memory and names. */
#include "lib/linear/linearization_internal.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/hydraulics/metering.h"
#include "lib/math/dense.h"
#include "lib/plant/plant_table.h"

#include <string.h>

/* ---- A ---- */

/* Rows of the velocities come from the derivatives of the equations of motion (residual_derivative.c), all others from
 * the derivatives of the elements, led along the constraints:
 *
 *   positions        z'_i
 *   velocities       -r_a^-1 [r_z r_v r_p 0 r_q], r = Rz' (M z'' - Q)
 *   pressures        by strokes s(z_i), stroke velocities v(z_i, z'_i), pressures, spools
 *   spools           U' = (U_ref - U) / tau; those without lag are no states: their columns go to B and D
 *   friction states  by v(z_i, z'_i) and themselves
 *
 * Source: Agundez et al. 2023, equation 64, without its restriction to one block of pressures. */

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

/* Columns of the spools that are states, from those of all spools: to [rows x n], by_U [rows x n_spools]. */
static void put_spools(const bramah_linearization *l, size_t rows, const double *by_U, double *to)
{
  const size_t n = l->system.n, ns = bramah__n_spools(&l->model->circuit), first = bramah__first_spool(l);
  for (size_t r = 0; r < rows; r++)
    for (size_t i = 0; i < l->system.n_spool; i++) to[r * n + first + i] = by_U[r * ns + l->spool[i]];
}

void bramah__linear_rates(const bramah_linearization *l, const bramah_coupled *c, double *xd)
{
  const bramah_model *model = c->model;
  const size_t n_dof = model->n_independent, n_dependent = model->n_dependent;
  for (size_t f = 0; f < n_dof; f++) {
    xd[f] = c->state.zd[c->state.index[n_dependent + f]];
    xd[n_dof + f] = c->state.zdd[c->state.index[n_dependent + f]];
  }
  memcpy(xd + 2 * n_dof, c->state.pd, l->system.n_pressure * sizeof *xd);
  for (size_t i = 0; i < l->system.n_spool; i++) {
    const bramah__valve *valve = &model->circuit.valve[l->spool[i]];
    xd[bramah__first_spool(l) + i] =
        (bramah__spool_reference(valve, c->state.u[valve->input]) - c->state.U[l->spool[i]]) /
        valve->time_constant;
  }
  memcpy(xd + bramah__first_friction(l), c->state.xd, l->system.n_friction * sizeof *xd);
}

/* Bristles of contacts: their rows, and what they do to the velocities. */
static void add_bristles(bramah_linearization *l, bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const size_t n = l->system.n, n_dof = l->system.n_position;
  bramah__bristles_by_state(c, c->transition.bristle_rates);
  for (size_t i = 0; i < model->n_contact_points; i++) {
    const bramah__contact *contact = &model->contact_point[i];
    const bramah__contact_slope *slope = &c->derivative.contact[i];
    if (contact->n_states == 0) continue;
    bramah__contact_arms(model, c->now, &c->derivative, i);
    for (size_t a = 0; a < contact->n_states; a++) {
      const size_t at = bramah__first_friction(l) + contact->first_state + a;
      memcpy(l->A + at * n, c->transition.bristle_rates + (4 * i + 2 * a) * n_dof, 2 * n_dof * sizeof *l->A);
      l->A[at * n + at] = slope->rate_by_bristle;
      for (size_t f = 0; f < n_dof; f++)
        l->column[f] = slope->by_bristle * c->derivative.contact_arms[a * n_dof + f];
      bramah__cholesky_solve(n_dof, c->now->Mi, l->column);
      for (size_t f = 0; f < n_dof; f++) l->A[(n_dof + f) * n + at] = l->column[f];
    }
  }
}

/* A force along cylinder q by something: added to the column of independent accelerations, `stride` apart. */
static void cylinder_column(bramah_linearization *l, const bramah_coupled *c, size_t q, double force,
                            double *column, size_t stride)
{
  const size_t n_dof = l->system.n_position;
  for (size_t f = 0; f < n_dof; f++) l->column[f] = force * c->now->row_i[q * n_dof + f];
  bramah__cholesky_solve(n_dof, c->now->Mi, l->column);
  for (size_t f = 0; f < n_dof; f++) column[f * stride] += l->column[f];
}

void bramah__circuit_columns(bramah_linearization *l, bramah_coupled *c)
{
  bramah__derivative *d = &c->derivative;
  bramah__circuit_derivatives(&c->model->circuit, c->state.p, c->now->s, c->now->v, c->state.U, d->circuit,
                              d->pd, d->pd_p, d->pd_s, d->pd_v, l->by_U, l->by_supply);
}

static bramah_status linearize_state(bramah_linearization *l, bramah_coupled *c)
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  const size_t n = l->system.n, n_dof = l->system.n_position, n_error = 2 * n_dof + l->system.n_pressure,
               width = bramah__n_error(model), ns = bramah__n_spools(circuit);
  memset(l->A, 0, n * n * sizeof *l->A);
  memset(l->x_by_U, 0, n * ns * sizeof *l->x_by_U);

  /* Positions, velocities and pressures by each other. */
  const bramah_status status = bramah__rates_by_state(c);
  if (status != BRAMAH_OK) return status;
  for (size_t f = 0; f < n_dof; f++) l->A[f * n + n_dof + f] = 1.0;
  for (size_t i = n_dof; i < n_error; i++)
    memcpy(l->A + i * n, c->A + (i - n_dof) * width, n_error * sizeof *l->A);

  /* Rates by the spools: those of the pressures and, by the drags of quasistatic actuators, which follow the rates of
   * their virtual volumes, and by commanded torques the accelerations. */
  bramah__circuit_columns(l, c);
  memcpy(l->x_by_U + 2 * n_dof * ns, l->by_U, circuit->n_volumes * ns * sizeof *l->by_U);
  for (size_t i = 0; i < circuit->n_metered; i++) {
    const bramah__metered_port *port = &circuit->metered_port[i];
    const double per_rate = bramah__drag_per_rate(circuit, i), *by_U = l->by_U + port->volume * ns;
    for (size_t k = 0; k < ns; k++)
      if (by_U[k] != 0.0)
        cylinder_column(l, c, port->cylinder, per_rate * by_U[k], l->x_by_U + n_dof * ns + k, ns);
  }
  bramah__torques_by_spools(c, l->torque_by_U);
  for (size_t k = 0; k < ns && model->n_commanded; k++) {
    for (size_t f = 0; f < n_dof; f++) {
      l->column[f] = 0.0;
      for (size_t j = 0; j < model->n; j++)
        l->column[f] += c->now->Rz[j * n_dof + f] * l->torque_by_U[j * ns + k];
    }
    bramah__cholesky_solve(n_dof, c->now->Mi, l->column);
    for (size_t f = 0; f < n_dof; f++) l->x_by_U[(n_dof + f) * ns + k] += l->column[f];
  }
  put_spools(l, n, l->x_by_U, l->A);
  for (size_t i = 0, first = bramah__first_spool(l); i < l->system.n_spool; i++)
    l->A[(first + i) * n + first + i] = -1.0 / circuit->valve[l->spool[i]].time_constant;

  /* Friction states: their rows, and what they do to the velocities. */
  add_bristles(l, c);
  for (size_t q = 0; q < circuit->n_cylinders; q++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[q];
    const size_t states = bramah__friction_states(cylinder->friction.kind),
                 first = bramah__first_friction(l) + cylinder->first_state;
    const double *arm = c->now->row_i + q * n_dof, *v_zi = c->derivative.v_zi + q * n_dof;
    bramah__friction_partials by;
    if (states == 0) continue;
    bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
    for (size_t k = 0; k < states; k++) {
      double *row = l->A + (first + k) * n;
      for (size_t f = 0; f < n_dof; f++) {
        row[f] += by.rate_by_v[k] * v_zi[f];
        row[n_dof + f] += by.rate_by_v[k] * arm[f];
      }
      for (size_t j = 0; j < states; j++) row[first + j] = by.rate_by_x[k][j];
      cylinder_column(l, c, q, -cylinder->friction_scale * by.force_by_x[k], l->A + n_dof * n + first + k, n);
    }
  }
  return BRAMAH_OK;
}

/* ---- C ---- */

/* The rows by the error state that sensors use already, and behind them what the outputs have of spools (of all: those
 * that are no states go to D) and of friction states. Energies and the forces of prescribed motions are central
 * differences. */

/* The force of cylinder q by its friction states, times `sign`. */
static void friction_part(const bramah_linearization *l, const bramah_coupled *c, size_t q, double sign,
                          double *row)
{
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[q];
  bramah__friction_partials by;
  bramah__friction_derivatives(&cylinder->friction, c->now->v[q], c->state.x + cylinder->first_state, &by);
  for (size_t k = 0; k < bramah__friction_states(cylinder->friction.kind); k++)
    row[bramah__first_friction(l) + cylinder->first_state + k] =
        sign * cylinder->friction_scale * by.force_by_x[k];
}

/* The friction of contact i by its bristles in direction a. */
static void bristle_part(const bramah_linearization *l, const bramah_coupled *c, size_t i, size_t a,
                         double *row)
{
  const bramah_model *model = c->model;
  for (size_t p = model->first_point[i]; p < model->first_point[i + 1]; p++)
    if (a < model->contact_point[p].n_states)
      row[bramah__first_friction(l) + model->contact_point[p].first_state + a] =
          c->derivative.contact[p].by_bristle;
}

/* What no derivative is known of: forces of drives hold friction states in balance too, in which they are linear but for
 * the film; spools of quasistatic actuators and of commands of the mechanics reach forces and chambers at once. */
static bramah_status differ_output(bramah_linearization *l, bramah_coupled *c, size_t output, double *row,
                                   double *by_U, bramah_diag *diag)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t n_friction = c->model->output[output].code == BRAMAH__DRIVE_FORCE ? l->system.n_friction : 0;
  bramah_status status = BRAMAH_OK;
  const int defined = c->model->output[output].code == BRAMAH__DEFINED, /* knows what it has of spools */
      act = !defined && (circuit->n_metered || c->model->n_commanded);
  if (n_friction == 0 && !act) return BRAMAH_OK;
  bramah__keep_state(c, l->snap);

  for (size_t k = 0; k < n_friction && status == BRAMAH_OK; k++) {
    double value[2] = {0, 0};
    const double step = 1e-8;
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      memcpy(c->next.block, l->snap, c->state.size);
      c->next.x[k] += side ? step : -step;
      status = bramah__adopt_candidate(c, diag);
      value[side] = bramah__output_value(c, output);
    }
    row[bramah__first_friction(l) + k] = (value[1] - value[0]) / (2.0 * step);
  }

  double base = 0.0;
  const size_t ns = act ? bramah__n_spools(circuit) : 0;
  for (size_t i = circuit->n_valves; i < ns && status == BRAMAH_OK; i++) {
    const bramah__spool_difference d = bramah__differ_spool(&circuit->valve[i], c->state.U[i]);
    for (int k = 0; k < 3 && status == BRAMAH_OK; k++) {
      if (d.weight[k] == 0.0) continue;
      memcpy(c->next.block, l->snap, c->state.size);
      c->next.U[i] += d.at[k] * d.step;
      status = bramah__adopt_with_spools(c, diag);
      const double value = bramah__output_value(c, output);
      if (k == 0) base = value;
      by_U[i] += (value - base) * d.weight[k] / d.step;
    }
  }
  bramah__return_state(c, l->snap);
  return status == BRAMAH_OK ? bramah__refresh(c, diag) : status;
}

static bramah_status linearize_outputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const bramah_plant plant = bramah_coupled_plant(c);
  const size_t n = l->system.n, n_dof = l->system.n_position, n_friction = l->system.n_friction,
               ns = bramah__n_spools(&c->model->circuit), first = bramah__first_friction(l);
  memset(l->C, 0, l->system.n_y * n * sizeof *l->C);
  memset(l->y_by_U, 0, l->system.n_y * ns * sizeof *l->y_by_U);
  for (size_t i = 0; i < l->system.n_y; i++) {
    double *row = l->C + i * n, *by_U = l->y_by_U + i * ns;
    const size_t output = l->output[i];
    const bramah__output *o = &c->model->output[output];

    /* By positions, velocities and pressures; by spools and friction states where that takes differences. */
    if (o->code == BRAMAH__CYLINDER_FRICTION) {
      const bramah__cylinder *cylinder = &c->model->circuit.cylinder[o->index];
      const double slope =
          cylinder->friction_scale * bramah__friction_slope(&cylinder->friction, c->now->v[o->index],
                                                            c->state.x + cylinder->first_state);
      for (size_t f = 0; f < n_dof; f++) {
        row[f] = slope * c->derivative.v_zi[o->index * n_dof + f];
        row[n_dof + f] = slope * c->now->row_i[o->index * n_dof + f];
      }
    } else if (o->code != BRAMAH__VALVE_SPOOL && o->code != BRAMAH__INPUT_COMMAND) {
      bramah_status status = bramah__plant_output_row(&plant, output, row, l->snap, l->dx, diag);
      if (status == BRAMAH_OK) status = bramah__refresh(c, diag);
      if (status == BRAMAH_OK) status = differ_output(l, c, output, row, by_U, diag);
      if (status != BRAMAH_OK) return status;
    }

    /* What spools and friction states do to the others. */
    const int accelerates = o->code == BRAMAH__JOINT_ACCELERATION || bramah__body_accelerates(o->code);
    if (o->code == BRAMAH__VALVE_SPOOL) by_U[o->index] = 1.0;
    bramah__flow_by_spools(c, output, by_U);
    if (o->code == BRAMAH__CYLINDER_FORCE) friction_part(l, c, o->index, -1.0, row);
    if (o->code == BRAMAH__CYLINDER_FRICTION) friction_part(l, c, o->index, 1.0, row);
    if (o->code == BRAMAH__CONTACT_X) bristle_part(l, c, o->index, 0, row);
    if (o->code == BRAMAH__CONTACT_Y) bristle_part(l, c, o->index, 1, row);
    if (accelerates && n_friction) { /* as A has them already */
      bramah__output_by_acceleration(c, output, l->row);
      for (size_t k = 0; k < n_friction; k++)
        for (size_t f = 0; f < n_dof; f++) row[first + k] += l->row[f] * l->A[(n_dof + f) * n + first + k];
    }
    l->y[i] = bramah__output_value(c, output);
  }
  put_spools(l, l->system.n_y, l->y_by_U, l->C);
  return BRAMAH_OK;
}

/* ---- B and D ---- */

/* Commands reach the spools alone: the rates of those that lag, and whatever depends on those that do not, which are no
 * states. Loads and supply pressures enter linearly and have exact columns; other parameters are differenced, and so is
 * what outputs have of any parameter but offsets of commands: the plant is set to the displaced value at the same
 * positions, velocities, pressures and friction states. */

/* to [rows, n_u apart] += the column of by_U [rows x n_spools] of this spool */
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
              follows = bramah__spool_follows(valve, input, c->state.u[input]);
    if (follows && lags) *rate = 1.0 / valve->time_constant;
    if (follows && !lags) {
      add_direct(l, l->system.n, l->x_by_U, i, l->B + column);
      add_direct(l, l->system.n_y, l->y_by_U, i, l->D + column);
    }
    if (lags) rate += nu;
  }
}

/* Independent accelerations by a generalised force [n_dof]. */
static void force_column(bramah_linearization *l, const bramah_coupled *c, const double *force,
                         double *column)
{
  const size_t n_dof = l->system.n_position, nu = l->system.n_u;
  memcpy(l->column, force, n_dof * sizeof *force);
  bramah__cholesky_solve(n_dof, c->now->Mi, l->column);
  for (size_t f = 0; f < n_dof; f++) column[(n_dof + f) * nu] = l->column[f];
}

/* Difference of second order of rates and outputs by a parameter into side [n + n_y]: central, or one-sided at an end of
 * its range. */
static bramah_status differ(bramah_linearization *l, bramah_coupled *c, size_t parameter, bramah_diag *diag)
{
  const size_t n = l->system.n, n_y = l->system.n_y;
  const bramah__parameter *p = &c->model->parameter[parameter];

  /* The step is small against the parameter; those that are zero by nature are loads [N m, N], in which all is linear,
   * and payloads [kg]. */
  const double value = c->state.theta[parameter], size = fmax(fabs(value), fabs(p->info.nominal)),
               h = size > 0.0                   ? 1e-5 * size
                   : p->code == BRAMAH__PAYLOAD ? 1e-3
                                                : 1.0;
  const int low = value - h<p->info.least, high = value + h> p->info.most;
  const double at[3] = {low ? 0.0 : high ? 0.0 : -h, low ? h : high ? -h : h, low ? 2.0 * h : -2.0 * h};
  const double w[3] = {low || high ? -1.5 : -0.5, low || high ? 2.0 : 0.5, low || high ? -0.5 : 0.0};

  bramah_status status = BRAMAH_OK;
  bramah__keep_state(c, l->snap);
  for (size_t k = 0; k < 3 && status == BRAMAH_OK; k++) {
    double *side = l->side + k * (n + n_y);
    if (w[k] == 0.0) continue;
    memcpy(c->next.block, l->snap, c->state.size);
    c->next.theta[parameter] = value + at[k];
    status = bramah__adopt_candidate(c, diag);
    if (status != BRAMAH_OK) break;
    bramah__linear_rates(l, c, side);
    for (size_t i = 0; i < n_y; i++) side[n + i] = bramah__output_value(c, l->output[i]);
  }
  bramah__return_state(c, l->snap);
  if (status != BRAMAH_OK) return status;

  double *const side[3] = {l->side, l->side + n + n_y, l->side + 2 * (n + n_y)};
  for (size_t i = 0; i < n + n_y; i++) {
    double sum = w[0] * side[0][i] + w[1] * side[1][i];
    if (w[2] != 0.0) sum += w[2] * side[2][i];
    side[0][i] = sum / (high && !low ? -h : h);
  }
  return bramah__refresh(c, diag);
}

static bramah_status linearize_inputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const bramah_model *model = c->model;
  const size_t n = l->system.n, nu = l->system.n_u, n_y = l->system.n_y, n_dof = l->system.n_position;
  memset(l->B, 0, n * nu * sizeof *l->B);
  memset(l->D, 0, n_y * nu * sizeof *l->D);

  /* Commands, which may be outputs themselves. */
  for (size_t i = 0; i < model->n_inputs; i++) spool_column(l, c, i, i);
  for (size_t i = 0; i < n_y; i++) {
    const bramah__output *output = &model->output[l->output[i]];
    if (output->code == BRAMAH__INPUT_COMMAND) l->D[i * nu + output->index] = 1.0;
  }

  /* Parameters: exact columns of B where there are any; an offset has that of its command, in D too. */
  for (size_t k = 0; k < l->n_parameters; k++) {
    const bramah__parameter *p = &model->parameter[l->parameter[k]];
    const size_t at = model->n_inputs + k;
    double *column = l->B + at;
    int exact = 1;
    if (bramah__factor_mass(model, &c->state, c->now) != BRAMAH_OK) return BRAMAH_E_SINGULAR;
    switch (p->code) {
    case BRAMAH__JOINT_LOAD:
      force_column(l, c, c->now->Rz + p->index * n_dof, column);
      break;
    case BRAMAH__CYLINDER_LOAD:
      force_column(l, c, c->now->row_i + p->index * n_dof, column);
      break;
    case BRAMAH__SUPPLY_PRESSURE:
      for (size_t i = 0; i < l->system.n_pressure; i++)
        column[(2 * n_dof + i) * nu] = l->by_supply[i * model->circuit.n_supplies + p->index];
      break;
    case BRAMAH__INPUT_OFFSET:
      spool_column(l, c, p->index, at);
      break;
    default:
      exact = 0;
    }
    if (exact && (n_y == 0 || p->code == BRAMAH__INPUT_OFFSET)) continue;
    const bramah_status status = differ(l, c, l->parameter[k], diag);
    if (status != BRAMAH_OK) return status;
    for (size_t i = 0; i < n && !exact; i++) column[i * nu] = l->side[i];
    for (size_t i = 0; i < n_y; i++) l->D[i * nu + at] = l->side[n + i];
  }
  return BRAMAH_OK;
}

/* ---- the object ---- */

int bramah__output_has_no_slope(bramah__output_code code)
{
  return code == BRAMAH__CYLINDER_WORK || code == BRAMAH__DEFINED_SUM || code == BRAMAH__DRIVE_WORK ||
         code == BRAMAH__METERED_VALVES ||
         (code >= BRAMAH__ENERGY_DAMPERS && code <= BRAMAH__ENERGY_CONTACTS);
}

/* Work and valves have no derivative; accelerations of a machine that rolls are not those of the free
 * plant. */
static int left_out(const bramah_model *model, bramah__output_code code)
{
  if (bramah__output_has_no_slope(code)) return 1;
  return model->n_rolling && (code == BRAMAH__JOINT_ACCELERATION || code == BRAMAH__DRIVE_FORCE ||
                              bramah__body_accelerates(code));
}

static bramah_linearization *layout(const bramah_model *model, const bramah_linearization_options *options,
                                    bramah__arena *arena)
{
  static const char *const suffix[BRAMAH__FRICTION_MAX_STATES] = {".bristle", ".film"};
  const bramah__circuit *circuit = &model->circuit;
  bramah_linearization *object = BRAMAH__TAKE(arena, bramah_linearization, 1), counted = {0};
  bramah_linearization *l = object ? object : &counted, *fields = l;

  /* How many of everything. */
  bramah_linear_system *s = &l->system;
  l->model = model;
  l->n_parameters = options->n_parameters;
  s->n_coordinates = model->n;
  s->n_constraints = model->n_dependent;
  s->n_position = s->n_velocity = model->n_independent;
  s->n_pressure = circuit->n_volumes;
  s->n_spool = bramah__lagging_valves(circuit, NULL);
  s->n_friction = model->n_friction_states;
  s->n_u = model->n_inputs + l->n_parameters;
  s->n_y = options->all_outputs ? 0 : options->n_outputs;
  for (size_t i = 0; i < model->n_outputs && options->all_outputs; i++)
    s->n_y += !left_out(model, model->output[i].code);
  const size_t k = s->n_pressure + s->n_spool + s->n_friction, n = 2 * s->n_position + k, n_u = s->n_u,
               n_y = s->n_y, coordinates = model->n, n_spools = bramah__n_spools(circuit);
  s->n = n;
  bramah__state state;
  bramah__arena of_state = bramah__arena_make(NULL, 0);
  bramah__state_layout(model, &of_state, &state);
  l->n_snap = (state.size + 7) / 8;

  BRAMAH__LINEARIZATION_FIELDS(BRAMAH__FIELD_TAKE)
  bramah__roll_layout(model, arena, n, &l->roll);
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    for (size_t j = 0; j < bramah__friction_states(cylinder->friction.kind); j++) {
      const char *name = bramah__join_text(arena, model->cylinder_name[i], suffix[j]);
      if (l->friction_name) l->friction_name[cylinder->first_state + j] = name;
    }
  }
  for (size_t i = 0; i < model->n_contacts; i++) {
    for (size_t p = model->first_point[i]; p < model->first_point[i + 1]; p++)
      for (size_t a = 0; a < model->contact_point[p].n_states; a++) {
        const char *name = bramah__bristle_name(arena, model->contact_name[i], p - model->first_point[i], a);
        if (l->friction_name) l->friction_name[model->contact_point[p].first_state + a] = name;
      }
  }

  s->A = l->A, s->B = l->B, s->C = l->C, s->D = l->D;
  s->x = l->x, s->xd = l->xd, s->u = l->u, s->y = l->y;
  s->x_name = l->x_name, s->x_unit = l->x_unit;
  s->u_name = l->u_name, s->u_unit = l->u_unit;
  s->y_name = l->y_name, s->y_unit = l->y_unit;
  return object;
}

/* States of which an output tells, from `first` on: pressures or spools. Number i is that of thing[i], or
 * i. */
static void name_like(bramah_linearization *l, bramah__output_code code, size_t first, size_t n,
                      const size_t *thing)
{
  for (size_t i = 0; i < n; i++) {
    const bramah__output *output = l->model->output;
    while (output->code != code || output->index != (thing ? thing[i] : i)) output++;
    l->x_name[first + i] = output->info.name;
    l->x_unit[first + i] = output->info.unit;
  }
}

/* Names that never change: inputs, outputs, pressures, spools, friction states. */
static void name_all(bramah_linearization *l)
{
  const bramah_model *model = l->model;
  const bramah_linear_system *s = &l->system;
  name_like(l, BRAMAH__VOLUME_PRESSURE, 2 * s->n_position, s->n_pressure, NULL);
  name_like(l, BRAMAH__VALVE_SPOOL, bramah__first_spool(l), s->n_spool, l->spool);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const bramah__cylinder *cylinder = &model->circuit.cylinder[i];
    const int turns = i >= model->circuit.n_cylinders - model->n_rotaries;
    for (size_t k = 0; k < bramah__friction_states(cylinder->friction.kind); k++) {
      const size_t at = cylinder->first_state + k;
      l->x_name[bramah__first_friction(l) + at] = l->friction_name[at];
      l->x_unit[bramah__first_friction(l) + at] = k ? "1" : turns ? "rad" : "m";
    }
  }
  for (size_t at = model->circuit.n_friction_states; at < model->n_friction_states; at++) {
    l->x_name[bramah__first_friction(l) + at] = l->friction_name[at];
    l->x_unit[bramah__first_friction(l) + at] = "m";
  }
  for (size_t k = 0; k < l->n_parameters; k++) {
    l->u_name[model->n_inputs + k] = model->parameter[l->parameter[k]].info.name;
    l->u_unit[model->n_inputs + k] = model->parameter[l->parameter[k]].info.unit;
  }
  for (size_t i = 0; i < model->n_outputs; i++)
    if (model->output[i].code == BRAMAH__INPUT_COMMAND) {
      l->u_name[model->output[i].index] = model->output[i].info.name;
      l->u_unit[model->output[i].index] = model->output[i].info.unit;
    }
  for (size_t i = 0; i < s->n_y; i++) {
    l->y_name[i] = model->output[l->output[i]].info.name;
    l->y_unit[i] = model->output[l->output[i]].info.unit;
  }
}

void bramah_linearization_options_default(bramah_linearization_options *options)
{
  *options = (bramah_linearization_options){0};
}

bramah_status bramah_linearization_new(const bramah_model *model, const bramah_linearization_options *options,
                                       bramah_diag *diag, bramah_linearization **out)
{
  bramah_linearization_options start;
  bramah_linearization_options_default(&start);
  const bramah_linearization_options *o = options ? options : &start;

  /* Outputs that have a derivative; what rolls needs parameters whose column is that of a force, or does not touch the
   * motion. */
  for (size_t k = 0; k < o->n_outputs && !o->all_outputs; k++) {
    if (o->outputs[k] >= model->n_outputs)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "there is no output of this number");
    const bramah__output *output = &model->output[o->outputs[k]];
    if (left_out(model, output->code))
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, output->info.name,
                          output->code == BRAMAH__METERED_VALVES
                              ? "this output says which valves are open; it has no derivative"
                          : bramah__output_has_no_slope(output->code)
                              ? "this output is summed over time and no function of the state"
                              : "accelerations of a rolling machine are no outputs");
  }
  for (size_t k = 0; k < o->n_parameters; k++) {
    if (o->parameters[k] >= model->n_parameters)
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, model->name, "there is no parameter of this number");
    const bramah__parameter *p = &model->parameter[o->parameters[k]];
    if (model->n_rolling && p->code != BRAMAH__JOINT_LOAD && p->code != BRAMAH__CYLINDER_LOAD &&
        p->code != BRAMAH__SUPPLY_PRESSURE && p->code != BRAMAH__INPUT_OFFSET)
      return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, p->info.name,
                          "this parameter cannot be an input of a rolling machine");
  }

  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(model, o, &arena);
  const bramah_status status = bramah__arena_new("linearization", arena.used, &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_linearization *l = layout(model, o, &arena);
  size_t n = 0;
  for (size_t i = 0; i < model->n_outputs && o->all_outputs; i++)
    if (!left_out(model, model->output[i].code)) l->output[n++] = i;
  for (size_t k = 0; n < l->system.n_y; k++) l->output[n++] = o->outputs[k];
  for (size_t k = 0; k < o->n_parameters; k++) l->parameter[k] = o->parameters[k];
  bramah__lagging_valves(&model->circuit, l->spool);
  name_all(l);
  *out = l;
  return BRAMAH_OK;
}

void bramah_linearization_free(bramah_linearization *l)
{
  if (l) bramah__aligned_free(l);
}

const bramah_linear_system *bramah_linearization_system(const bramah_linearization *l) { return &l->system; }

void bramah__keep_state(const bramah_coupled *c, double *snap)
{
  memcpy(snap, c->state.block, c->state.size);
}

void bramah__return_state(bramah_coupled *c, const double *snap)
{
  memcpy(c->state.block, snap, c->state.size);
  bramah__follow_state(c);
  c->now_valid = 0;
}

bramah_status bramah__check_plant(const bramah_linearization *l, const bramah_coupled *c,
                                  const char *if_rolling, bramah_diag *diag)
{
  if (c->base != l->model)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, l->model->name, "the plant is of another model");
  if (l->roll.rows && if_rolling)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, l->model->rolling[0].name, if_rolling);
  return BRAMAH_OK;
}

bramah_status bramah__check_pose(bramah_coupled *c, bramah_diag *diag)
{
  bramah_limit limit[BRAMAH_N_LIMITS];
  bramah_output_info at;
  const bramah_status status = bramah__refresh(c, diag);
  if (status != BRAMAH_OK) return status;
  const char *turning = bramah__turning_contact(c);
  if (turning)
    return bramah__fail(
        diag, BRAMAH_E_UNSUPPORTED, turning,
        "edges or round shapes touch here, and how their normal turns as the bodies move along each other is "
        "not known to linear equations; linearize where faces touch");
  bramah_coupled_limits(c, limit);
  if (!c->now->bridged && !(limit[BRAMAH_LIMIT_POSE].beyond > 0.0)) return BRAMAH_OK;
  bramah_coupled_limit_info(c, BRAMAH_LIMIT_POSE, &limit[BRAMAH_LIMIT_POSE], &at);
  return bramah__fail(
      diag, BRAMAH_E_SINGULAR, at.name,
      "the pose is singular, or nearly: this loop lets the machine move on in more than one way, and "
      "neither linear equations nor eigenvalues are unique there; linearize elsewhere");
}

bramah_status bramah_linearization_run(bramah_linearization *l, bramah_coupled *plant, bramah_diag *diag)
{
  bramah_status status = bramah__check_plant(l, plant, NULL, diag);
  if (status == BRAMAH_OK) status = bramah__check_pose(plant, diag);
  if (status != BRAMAH_OK) return status;
  if (l->roll.rows) {
    /* As if nothing rolled, and the names that belong to it. */
    bramah_linear_system *s = &l->system;
    s->n_position = s->n_velocity = l->model->n_independent;
    s->n = 2 * s->n_position + s->n_pressure + s->n_spool + s->n_friction;
    name_all(l);
  }
  if (linearize_state(l, plant) != BRAMAH_OK)
    return bramah__fail(diag, BRAMAH_E_SINGULAR, l->model->name, "the mass matrix is singular");
  /* Positions and velocities are named by the coordinates that are independent now. */
  const bramah_model *model = l->model;
  const bramah_linear_system *s = &l->system;
  const size_t n_dof = s->n_position;
  for (size_t f = 0; f < 2 * n_dof; f++) {
    const size_t joint = (size_t)plant->state.index[model->n_dependent + f % n_dof];
    const bramah_output_info *info = &model->output[3 * joint + f / n_dof].info;
    l->x_name[f] = info->name;
    l->x_unit[f] = info->unit;
    l->x[f] = f < n_dof ? plant->state.z[joint] : plant->state.zd[joint];
  }
  memcpy(l->x + 2 * n_dof, plant->state.p, s->n_pressure * sizeof(double));
  for (size_t i = 0; i < s->n_spool; i++) l->x[bramah__first_spool(l) + i] = plant->state.U[l->spool[i]];
  memcpy(l->x + bramah__first_friction(l), plant->state.x, s->n_friction * sizeof(double));
  memcpy(l->u, plant->state.u, model->n_inputs * sizeof(double));
  for (size_t k = 0; k < l->n_parameters; k++)
    l->u[model->n_inputs + k] = plant->state.theta[l->parameter[k]];
  bramah__linear_rates(l, plant, l->xd);
  bramah__keep_state(plant, l->run);
  status = linearize_outputs(l, plant, diag);
  if (status == BRAMAH_OK) status = linearize_inputs(l, plant, diag);
  if (status == BRAMAH_OK && l->roll.rows) status = bramah__roll_on(l, plant, diag);
  return status;
}
