/* SPDX-License-Identifier: MIT */
/* C of the linearized equations: the rows by the error state that sensors use already, and behind them what
 * the outputs have of spools (of all: those that are no states go to D) and of friction states. Energies and
 * the forces of prescribed motions are central differences. */
#include "lib/linear/linearization_internal.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* Friction of a cylinder by everything; its states' columns are added by friction_part. */
static void friction_row(const bramah_linearization *l, const bramah_coupled *c, size_t q, double *row)
{
  const size_t nf = l->system.n_position;
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[q];
  const double *v_zi = c->derivative.v_zi + q * nf;
  const double slope = cylinder->friction_scale * bramah__friction_slope(&cylinder->friction, c->now->v[q],
                                                                         c->state.x + cylinder->first_state);
  for (size_t f = 0; f < nf; f++) {
    row[f] = slope * v_zi[f];
    row[nf + f] = slope * c->now->row_i[q * nf + f];
  }
}

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

/* Flow into port a or b of a valve by its spool. */
static double flow_by_spool(const bramah_coupled *c, size_t valve_index, int port)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const bramah__valve *valve = &circuit->valve[valve_index];
  const int ways[2] = {port ? BRAMAH__PUMP_B : BRAMAH__PUMP_A, port ? BRAMAH__B_TANK : BRAMAH__A_TANK};
  double e[BRAMAH__N_PATHS], slope[BRAMAH__N_PATHS], sum = 0.0;
  size_t ends[BRAMAH__N_PATHS][2];
  bramah__opening_tangents(&valve->opening, c->state.U[valve_index], e, slope);
  bramah__valve_ends(valve, ends);
  for (int k = 0; k < 2; k++) {
    const double dp = bramah__node_pressure(circuit, c->state.p, ends[ways[k]][0]) -
                      bramah__node_pressure(circuit, c->state.p, ends[ways[k]][1]);
    sum += (k ? -1.0 : 1.0) * valve->coefficient * slope[ways[k]] *
           bramah__flow_tangent(dp, circuit->transition_pressure).value;
  }
  return sum;
}

/* Accelerations by friction states stand in A already. */
static void acceleration_part(const bramah_linearization *l, bramah_coupled *c, size_t output, double *row)
{
  const size_t n = l->system.n, nf = l->system.n_position, first = bramah__first_friction(l);
  if (l->system.n_friction == 0) return;
  bramah__output_by_acceleration(c, output, l->row);
  for (size_t k = 0; k < l->system.n_friction; k++)
    for (size_t f = 0; f < nf; f++) row[first + k] += l->row[f] * l->A[(nf + f) * n + first + k];
}

static void beyond_error_state(const bramah_linearization *l, bramah_coupled *c, size_t output, double *row,
                               double *by_U)
{
  const bramah__output *o = &c->model->output[output];
  switch (o->code) {
  case BRAMAH__VALVE_SPOOL:
    by_U[o->index] = 1.0;
    break;
  case BRAMAH__VALVE_FLOW_A:
  case BRAMAH__VALVE_FLOW_B:
    by_U[o->index] = flow_by_spool(c, o->index, o->code == BRAMAH__VALVE_FLOW_B);
    break;
  case BRAMAH__CYLINDER_FORCE:
    friction_part(l, c, o->index, -1.0, row);
    break;
  case BRAMAH__CYLINDER_FRICTION:
    friction_part(l, c, o->index, 1.0, row);
    break;
  default:
    if (o->code == BRAMAH__JOINT_ACCELERATION || bramah__body_accelerates(o->code))
      acceleration_part(l, c, output, row);
  }
}

/* Spools of quasistatic actuators reach forces and chambers at once: by differences. */
static bramah_status differ_by_metering(bramah_linearization *l, bramah_coupled *c, size_t output,
                                        double *by_U, bramah_diag *diag)
{
  const bramah__circuit *circuit = &c->model->circuit;
  bramah_status status = BRAMAH_OK;
  double base = 0.0;
  memcpy(l->snap, c->state.block, c->state.size);
  for (size_t i = circuit->n_valves; i < bramah__n_spools(circuit) && status == BRAMAH_OK; i++) {
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
  memcpy(c->state.block, l->snap, c->state.size);
  c->now_valid = 0;
  return status == BRAMAH_OK ? bramah__refresh(c, diag) : status;
}

/* Forces of drives hold friction states in balance too, in which they are linear but for the film. */
static bramah_status differ_by_friction(bramah_linearization *l, bramah_coupled *c, size_t output,
                                        double *row, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (c->model->output[output].code != BRAMAH__DRIVE_FORCE) return BRAMAH_OK;
  memcpy(l->snap, c->state.block, c->state.size);
  for (size_t k = 0; k < l->system.n_friction && status == BRAMAH_OK; k++) {
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
  memcpy(c->state.block, l->snap, c->state.size);
  c->now_valid = 0;
  return status == BRAMAH_OK ? bramah__refresh(c, diag) : status;
}

static bramah_status output_row(bramah_linearization *l, bramah_coupled *c, size_t output, double *row,
                                double *by_U, bramah_diag *diag)
{
  const bramah_plant plant = bramah_coupled_plant(c);
  const bramah__output_code code = c->model->output[output].code;
  if (code == BRAMAH__VALVE_SPOOL || code == BRAMAH__INPUT_COMMAND) return BRAMAH_OK;
  if (code == BRAMAH__CYLINDER_FRICTION) {
    friction_row(l, c, c->model->output[output].index, row);
    return BRAMAH_OK;
  }
  bramah_status status = bramah_plant_output_row(&plant, output, row, l->snap, l->dx, diag);
  if (status != BRAMAH_OK) return status;
  status = bramah__refresh(c, diag);
  if (status == BRAMAH_OK) status = differ_by_friction(l, c, output, row, diag);
  if (status != BRAMAH_OK || c->model->circuit.n_metered == 0) return status;
  return differ_by_metering(l, c, output, by_U, diag);
}

bramah_status bramah__linearize_outputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const size_t n = l->system.n, ns = bramah__n_spools(&c->model->circuit);
  memset(l->C, 0, l->system.n_y * n * sizeof *l->C);
  memset(l->y_by_U, 0, l->system.n_y * ns * sizeof *l->y_by_U);
  for (size_t i = 0; i < l->system.n_y; i++) {
    double *row = l->C + i * n, *by_U = l->y_by_U + i * ns;
    const bramah_status status = output_row(l, c, l->output[i], row, by_U, diag);
    if (status != BRAMAH_OK) return status;
    beyond_error_state(l, c, l->output[i], row, by_U);
    l->y[i] = bramah__output_value(c, l->output[i]);
  }
  bramah__put_spools(l, l->system.n_y, l->y_by_U, l->C);
  return BRAMAH_OK;
}
