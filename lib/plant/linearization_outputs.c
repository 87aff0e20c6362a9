/* SPDX-License-Identifier: MIT */
/* C of the linearized equations: the rows by the error state that sensors use already, and behind them what the outputs
 * have of spools and friction states. Energies and the forces of prescribed motions are central differences. */
#include "lib/plant/linearization_internal.h"
#include "lib/base/diag.h"
#include "lib/hydraulics/slopes.h"

#include <math.h>
#include <string.h>

/* Friction of a cylinder by everything; its states' columns are added by friction_part. */
static void friction_row(const bramah_linearization *l, const bramah_coupled *c, size_t q, double *row)
{
  const size_t nf = l->system.n_position;
  const bramah__cylinder *cylinder = &c->model->circuit.cylinder[q];
  const double slope = cylinder->friction_scale * bramah__friction_slope(&cylinder->friction, c->now->v[q],
                                                                         c->state.x + cylinder->first_state);
  for (size_t f = 0; f < nf; f++) {
    row[f] = slope * l->v_zi[q * nf + f];
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
  double e[BRAMAH__N_WAYS], slope[BRAMAH__N_WAYS], sum = 0.0;
  size_t ends[BRAMAH__N_WAYS][2];
  bramah__opening_tangents(&valve->opening, c->state.U[valve_index], e, slope);
  bramah__valve_ends(valve, ends);
  for (int k = 0; k < 2; k++) {
    const double dp = bramah__node_pressure(circuit, c->state.p, ends[ways[k]][0]) -
                      bramah__node_pressure(circuit, c->state.p, ends[ways[k]][1]);
    sum += (k ? -1.0 : 1.0) * valve->coefficient * slope[ways[k]] *
           bramah__flow_function(dp, circuit->laminar_pressure);
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

static void beyond_error_state(const bramah_linearization *l, bramah_coupled *c, size_t output, double *row)
{
  const bramah__output *o = &c->model->output[output];
  switch (o->code) {
  case BRAMAH__VALVE_SPOOL:
    row[bramah__first_spool(l) + o->index] = 1.0;
    break;
  case BRAMAH__VALVE_FLOW_A:
  case BRAMAH__VALVE_FLOW_B:
    row[bramah__first_spool(l) + o->index] = flow_by_spool(c, o->index, o->code == BRAMAH__VALVE_FLOW_B);
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
                                bramah_diag *diag)
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
  return status == BRAMAH_OK ? differ_by_friction(l, c, output, row, diag) : status;
}

bramah_status bramah__linearize_outputs(bramah_linearization *l, bramah_coupled *c, bramah_diag *diag)
{
  const size_t n = l->system.n;
  memset(l->C, 0, l->system.n_y * n * sizeof *l->C);
  for (size_t i = 0; i < l->system.n_y; i++) {
    const bramah_status status = output_row(l, c, l->output[i], l->C + i * n, diag);
    if (status != BRAMAH_OK) return status;
    beyond_error_state(l, c, l->output[i], l->C + i * n);
    l->y[i] = bramah__output_value(c, l->output[i]);
  }
  return BRAMAH_OK;
}
