/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bramah/simulation.h"
#include "bramah/assess.h"
#include "lib/io/fail.h"

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
  bramah_process_noise *noise;              /* NULL: none */
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
    bramah_plant_output_info(plant, i, &info);
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
    bramah_plant_output_info(plant, i, &info);
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
  if (!status && o->process_noise) status = bramah_process_noise_new(o->study, o->seed, m, diag, &s->noise);
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
  bramah_process_noise_free(s->noise);
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
    status = s->noise ? bramah_process_noise_step(s->noise, diag) : plant->step(plant->self, diag);
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
