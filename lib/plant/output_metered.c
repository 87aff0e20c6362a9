/* SPDX-License-Identifier: MIT */
/* Outputs of metered cylinders and pump lines: pressures and flows that follow from the load pressures, the
 * stroke velocities and the spools. */
#include "lib/plant/residual_derivative.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

int bramah__is_metered(bramah__output_code code)
{
  return code >= BRAMAH__METERED_VELOCITY && code <= BRAMAH__LINE_PRESSURE;
}

/* The actuator that an output is about; of a line its first one, n_metered if it has none. */
static size_t actuator_of(const bramah__circuit *circuit, const bramah__output *output)
{
  if (output->code != BRAMAH__LINE_PRESSURE) return bramah__metered_of(circuit, output->index);
  const bramah__metered_line *line = &circuit->metered_line[output->index];
  return line->n ? line->first : circuit->n_metered;
}

/* Pressure of a line that nobody draws from: what the unloading valve leaves of it. */
static double idle_pressure(const bramah__metered_line *line, const bramah__circuit *circuit, const double *U)
{
  double open = line->unloading_open;
  if (line->unloading != BRAMAH__NO_SPOOL) open = bramah__single_opening(circuit, line->unloading, U);
  const double unloading = line->line.U_b * open, root = line->line.Q / unloading;
  return unloading > 0.0 ? fmin(root * root, line->line.P_M) : line->line.P_M;
}

/* From the tank on, at pressures p; w and P of the actuators and lines there, or NULL. */
static double value_at(const bramah_coupled *c, const bramah__output *output, const double *p,
                       const double *w, const double *P)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t i = actuator_of(circuit, output);
  if (i == circuit->n_metered)
    return idle_pressure(&circuit->metered_line[output->index], circuit, c->state.U);
  const bramah__metered_reading reading = bramah__metered_read(circuit, i, p, c->now->v, c->state.U, w, P);
  switch (output->code) {
  case BRAMAH__METERED_VELOCITY:
    return reading.w;
  case BRAMAH__PISTON_PRESSURE:
    return reading.state.P_h;
  case BRAMAH__ROD_PRESSURE:
    return reading.state.P_r;
  case BRAMAH__METERED_FLOW:
    return reading.state.Q_p;
  case BRAMAH__REGENERATION_FLOW:
    return reading.state.Q_a;
  case BRAMAH__METERED_VALVES:
    return reading.state.valves;
  default:
    return reading.line_pressure;
  }
}

double bramah__metered_value(const bramah_coupled *c, const bramah__output *output)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const double value = value_at(c, output, c->state.p, c->now->w, c->now->P);
  if (output->code == BRAMAH__LINE_PRESSURE)
    return value + circuit->supply[circuit->metered_line[output->index].tank];
  if (output->code != BRAMAH__PISTON_PRESSURE && output->code != BRAMAH__ROD_PRESSURE) return value;
  const size_t line = bramah__line_of(circuit, bramah__metered_of(circuit, output->index));
  return value + circuit->supply[circuit->metered_line[line].tank];
}

/* a, b += factor (derivatives of the stroke velocity of a cylinder by positions and rates). */
static void add_velocity(bramah_coupled *c, size_t cylinder, double factor, double *a, double *b)
{
  const size_t n = c->model->n;
  const double *row = c->now->row + cylinder * n;
  double *rate = c->derivative.rate_row;
  bramah__line_rate_derivative(&c->model->tree, &c->model->line[cylinder], c->now->pose, c->now->Z, rate);
  for (size_t j = 0; j < n; j++) {
    a[j] += factor * rate[j];
    b[j] += factor * row[j];
  }
}

/* Central differences over this part of the force at which the piston side relieves. */
static const double load_step = 1e-6;

void bramah__metered_partials(bramah_coupled *c, const bramah__output *output, double *by_p, double *a,
                              double *b)
{
  const bramah__circuit *circuit = &c->model->circuit;
  const size_t i = actuator_of(circuit, output);
  if (i == circuit->n_metered) return;
  const bramah__metered_line *line = &circuit->metered_line[bramah__line_of(circuit, i)];
  for (size_t k = line->first; k < line->first + line->n; k++) {
    const bramah__metered_port *port = &circuit->metered_port[k];
    /* Everything depends on load pressure and velocity by fbar = A_h pi - B v alone. */
    const size_t volume = circuit->metered_port[k].volume;
    const double step = load_step * circuit->metered[k].P_hM;
    double *p = c->probe_state.p;
    memcpy(p, c->state.p, circuit->n_volumes * sizeof *p);
    p[volume] = c->state.p[volume] + step;
    const double up = value_at(c, output, p, NULL, NULL), from = p[volume];
    p[volume] = c->state.p[volume] - step;
    const double down = value_at(c, output, p, NULL, NULL);
    const double slope = (up - down) / ((from - p[volume]) * circuit->metered[k].A_h);
    by_p[port->volume] += slope * circuit->metered[k].A_h;
    if (slope != 0.0) add_velocity(c, port->cylinder, -slope * port->damping, a, b);
  }
}

void bramah__drag_partials(bramah_coupled *c, size_t cylinder, double *by_p, double *a, double *b)
{
  const bramah_model *model = c->model;
  const size_t i = bramah__metered_of(&model->circuit, cylinder);
  bramah__derive_circuit(model, c->state.p, c->state.U, c->now, &c->derivative);
  bramah__metered_by_pressure(model, &c->derivative, i, 1.0, by_p);
  for (size_t k = 0; k < model->circuit.n_metered; k++) {
    const double slope = bramah__metered_by_velocity(model, &c->derivative, i, k);
    if (slope != 0.0) add_velocity(c, model->circuit.metered_port[k].cylinder, slope, a, b);
  }
}
