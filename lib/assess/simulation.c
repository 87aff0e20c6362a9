/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bramah/simulation.h"
#include "bramah/noise.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bramah_simulation {
  const bramah_machine_plant *machine;
  bramah_simulation_options options;
  bramah_schedule *schedule;
  unsigned char *set;        /* [n_parameters] 1: has been set */
  bramah_log_writer *writer; /* NULL: no file */
  size_t *outputs, n_outputs;
  double *row; /* time, outputs */
  bramah_study *study;
  bramah_simulated_log *log;
  /* Process noise: a session on the machine with a filter that corrects nothing. */
  bramah_session *assumed;
  bramah_noise *noise;
  double *dx;                               /* [n_error] */
  size_t kinetic, potential, *work, n_work; /* outputs */
  double start;                             /* [J] energy */
  bramah_simulation_result result;
};

static const bramah_plant *plant_of(const bramah_simulation *s) { return &s->machine->plant; }

static double output(const bramah_simulation *s, size_t i)
{
  return plant_of(s)->output(plant_of(s)->self, i);
}

/* ---- energy ---- */

/* Everything that does work and tells so: cylinders, rotary actuators, motions. */
static bramah_status prepare_energy(bramah_simulation *s, bramah_diag *diag)
{
  static const char ending[] = ".work";
  const bramah_plant *plant = plant_of(s);
  s->work = calloc(plant->n_output + 1, sizeof *s->work);
  if (!s->work) return bramah__fail_memory(diag);
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, i, &info);
    const size_t n = strlen(info.name);
    if (n > strlen(ending) && strcmp(info.name + n - strlen(ending), ending) == 0) s->work[s->n_work++] = i;
  }
  s->kinetic = (size_t)bramah_plant_find_output(plant, "energy.kinetic");
  s->potential = (size_t)bramah_plant_find_output(plant, "energy.potential");
  s->start = output(s, s->kinetic) + output(s, s->potential);
  s->result.has_energy = s->n_work && !s->options.n_parameters && !s->options.process_noise;
  return BRAMAH_OK;
}

static void watch(bramah_simulation *s)
{
  bramah_simulation_result *r = &s->result;
  double work = 0.0;
  for (size_t i = 0; i < s->n_work; i++) work += output(s, s->work[i]);
  const double error = fabs(output(s, s->kinetic) + output(s, s->potential) - s->start - work);
  r->energy_error = fmax(r->energy_error, error);
  r->work = fmax(r->work, fabs(work));
  r->violation = fmax(r->violation, bramah_coupled_constraint_violation(s->machine->coupled));
}

/* ---- process noise ---- */

/* Densities of accelerations and pressures from the study; its augmented states and the noise of parameters
 * are left out. */
static bramah_status open_noise(bramah_simulation *s, bramah_diag *diag)
{
  bramah_session *session = s->assumed = calloc(1, sizeof *session);
  if (!session) return bramah__fail_memory(diag);
  session->machine = *s->machine;
  bramah_status status = bramah_study_load(s->options.study, diag, &session->study);
  if (!status) status = bramah__session_make_room(session, diag);
  if (!status) status = bramah__session_find_joints(session, diag);
  if (!status) status = bramah__session_find_volumes(session, diag);
  if (!status) {
    bramah_filter_options options = bramah_session_filter_options(session);
    options.n_augmented = options.n_parameter_noise = 0;
    options.gate = NULL;
    status =
        bramah_filter_new(&session->machine.plant, 0, session->sensors, &options, diag, &session->filter);
  }
  if (!status)
    status = bramah_noise_new(s->options.seed, bramah_noise_stream("plant noise"), diag, &s->noise);
  if (status) return bramah__place(diag, s->options.study, 0);
  s->dx = calloc(bramah_filter_n_error(session->filter) + 1, sizeof *s->dx);
  return s->dx ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* A step, then a displacement drawn from the covariance that a filter would add. */
static bramah_status step_with_noise(bramah_simulation *s, bramah_diag *diag)
{
  bramah_filter *filter = s->assumed->filter;
  const bramah_plant *plant = &s->assumed->machine.plant;
  const bramah_status status = bramah_filter_predict(filter, diag);
  if (status) return status;
  size_t columns;
  const size_t n = bramah_filter_n_error(filter);
  const double *gamma = bramah_filter_last_noise(filter, &columns);
  for (size_t r = 0; r < n; r++) s->dx[r] = 0.0;
  for (size_t c = 0; c < columns; c++) {
    const double w = bramah_noise_gaussian(s->noise, 1.0);
    for (size_t r = 0; r < n; r++) s->dx[r] += gamma[r * columns + c] * w;
  }
  return plant->inject(plant->self, s->dx, diag);
}

/* ---- files ---- */

static bramah_status create_truth(bramah_simulation *s, bramah_diag *diag)
{
  const bramah_plant *plant = plant_of(s);
  s->outputs = calloc(plant->n_output + 1, sizeof *s->outputs);
  s->row = calloc(plant->n_output + 1, sizeof *s->row);
  if (!s->outputs || !s->row) return bramah__fail_memory(diag);
  bramah_status status = bramah_log_create(s->options.truth, diag, &s->writer);
  if (!status) status = bramah_log_add_column(s->writer, "t", "s", 12, diag);
  for (size_t i = 0; !status && i < plant->n_output; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, i, &info);
    if (info.hidden && !s->options.hidden_outputs) continue;
    s->outputs[s->n_outputs++] = i;
    status = bramah_log_add_column(s->writer, info.name, info.unit, 10, diag);
  }
  return status;
}

bramah_simulation_options bramah_simulation_options_default(void)
{
  return (bramah_simulation_options){.seed = 1};
}

static bramah_status prepare(bramah_simulation *s, bramah_diag *diag)
{
  const bramah_simulation_options *o = &s->options;
  const bramah_machine_plant *m = s->machine;
  bramah_status status = bramah_schedule_new(m->machine, m->model, diag, &s->schedule);
  s->set = calloc(o->n_parameters + 1, 1);
  if (!status && !s->set) status = bramah__fail_memory(diag);
  bramah_diag_clear(diag);
  if (!status && o->study) {
    status = bramah_study_load(o->study, diag, &s->study);
    if (!status) status = bramah_simulated_log_new(s->study, m->model, &m->plant, o->seed, diag, &s->log);
    if (status) bramah__place(diag, o->study, 0);
  }
  if (!status && o->process_noise) status = open_noise(s, diag);
  if (!status) status = prepare_energy(s, diag);
  if (!status && o->truth) status = create_truth(s, diag);
  if (!status && s->log) status = bramah_simulated_log_create(s->log, o->log, diag);
  return status;
}

bramah_status bramah_simulation_new(const bramah_machine_plant *machine,
                                    const bramah_simulation_options *options, bramah_diag *diag,
                                    bramah_simulation **out)
{
  bramah_simulation *s = calloc(1, sizeof *s);
  if (!s) return bramah__fail_memory(diag);
  s->machine = machine;
  s->options = options ? *options : bramah_simulation_options_default();
  const bramah_status status = prepare(s, diag);
  if (status)
    bramah_simulation_free(s);
  else
    *out = s;
  return status;
}

void bramah_simulation_free(bramah_simulation *s)
{
  bramah_diag ignored;
  if (!s) return;
  bramah_log_finish(s->writer, &ignored);
  bramah_simulated_log_free(s->log);
  bramah_study_free(s->study);
  bramah_schedule_free(s->schedule);
  if (s->assumed) s->assumed->machine = (bramah_machine_plant){0}; /* not the session's */
  bramah_session_close(s->assumed);
  bramah_noise_free(s->noise);
  free(s->dx);
  free(s->set);
  free(s->outputs);
  free(s->row);
  free(s->work);
  free(s);
}

/* ---- rows ---- */

static bramah_status set_parameters(bramah_simulation *s, bramah_diag *diag)
{
  const bramah_plant *plant = plant_of(s);
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < s->options.n_parameters; i++) {
    const bramah_timed_parameter *p = &s->options.parameters[i];
    if (s->set[i] || p->time_ns > s->result.time_ns) continue;
    status = plant->set_parameter(plant->self, p->index, p->value, diag);
    s->set[i] = !status;
  }
  return status;
}

bramah_status bramah_simulation_next(bramah_simulation *s, bramah_diag *diag)
{
  const bramah_plant *plant = plant_of(s);
  bramah_simulation_result *r = &s->result;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  if (r->rows) {
    status = s->options.process_noise ? step_with_noise(s, diag) : plant->step(plant->self, diag);
    if (status) {
      const size_t used = strlen(diag->message);
      snprintf(diag->message + used, sizeof diag->message - used, " (after t = %.9g s)",
               (double)r->time_ns / 1e9);
      return status;
    }
    r->time_ns += plant->step_ns;
  }
  const double *u = bramah_schedule_at(s->schedule, r->time_ns);
  status = set_parameters(s, diag);
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  if (status) return status;
  if (s->writer) {
    s->row[0] = (double)r->time_ns / 1e9;
    for (size_t i = 0; i < s->n_outputs; i++) s->row[1 + i] = output(s, s->outputs[i]);
    status = bramah_log_write(s->writer, s->row, diag);
  }
  if (!status && s->log) status = bramah_simulated_log_row(s->log, r->rows, r->time_ns, u, diag);
  r->rows++;
  watch(s);
  return status;
}

bramah_status bramah_simulation_finish(bramah_simulation *s, bramah_diag *diag)
{
  bramah_diag other;
  bramah_status status = bramah_log_finish(s->writer, diag);
  s->writer = NULL;
  const bramah_status closed =
      s->log ? bramah_simulated_log_finish(s->log, status ? &other : diag) : BRAMAH_OK;
  return status ? status : closed;
}

bramah_simulation_result bramah_simulation_get_result(const bramah_simulation *s) { return s->result; }

const bramah_simulated_log *bramah_simulation_log(const bramah_simulation *s, size_t *n_sensors)
{
  *n_sensors = s->study ? s->study->n_sensors : 0;
  return s->log;
}
