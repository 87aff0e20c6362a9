/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Simulating a machine into files: its true motion, what sensors log of it, and the process noise that a study
 * assumes. */
#include "bramah/simulation.h"
#include "bramah/replay.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/logs/logs.h"

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
  double *u;   /* [n_input] commands */
  bramah_study *study;
  bramah__simulated_log *log;
  bramah_output_error *errors;
  bramah_simulation_result result;

  /* Process noise, if it is wanted: a session of the same machine, whose filter corrects nothing. */
  bramah_session *session;
  bramah_noise *noise;
  double *dx; /* [n_error] */
};

static const bramah_plant *plant_of(const bramah_simulation *s) { return &s->machine->plant; }

static double output(const bramah_simulation *s, size_t i)
{
  return plant_of(s)->output(plant_of(s)->self, i);
}

/* ---- process noise ---- */

/* Spectral densities of accelerations and pressures from the study, for the machine in its present state; its
 * augmented states and the noise of parameters are left out. */
static bramah_status open_noise(bramah_simulation *s, bramah_diag *diag)
{
  bramah_session *session = s->session = calloc(1, sizeof *session);
  if (!session) return bramah__fail_memory(diag);
  session->machine = *s->machine;
  bramah_diag_clear(diag);
  bramah_status status = bramah_study_load(s->options.study, 0, NULL, diag, &session->study);
  if (!status) status = bramah__session_make_room(session, diag);
  if (!status) status = bramah__session_find_joints(session, diag);
  if (!status) status = bramah__session_find_volumes(session, diag);
  if (!status) {
    const bramah_filter_options options = {.transition = session->study->transition,
                                           .discretisation = session->study->discretisation,
                                           .basis = session->start.basis,
                                           .position_sigma = session->start.position_sigma,
                                           .rate_sigma = session->start.rate_sigma,
                                           .first_order_sigma = session->start.pressure_sigma,
                                           .acceleration_noise = session->start.acceleration_noise,
                                           .first_order_noise = session->start.pressure_noise};
    bramah_plant plant = session->machine.plant;
    plant.n_kinks = 0; /* what moves is the machine, of which nothing is uncertain */
    status = bramah_filter_new(&plant, 0, session->sensors, &options, diag, &session->filter);
  }
  if (!status) status = bramah_noise_new(s->options.seed, "plant noise", diag, &s->noise);
  if (status) return bramah__place(diag, s->options.study, 0);
  s->dx = calloc(bramah_filter_get_info(session->filter).n_error + 1, sizeof *s->dx);
  return s->dx ? BRAMAH_OK : bramah__fail_memory(diag);
}

/* ---- making one ---- */

void bramah_simulation_options_default(bramah_simulation_options *options)
{
  *options = (bramah_simulation_options){.seed = 1};
}

bramah_status bramah_simulation_new(const bramah_machine_plant *m, const bramah_simulation_options *options,
                                    bramah_diag *diag, bramah_simulation **out)
{
  bramah_simulation *s = calloc(1, sizeof *s);
  bramah_diag ignored;
  bramah_diag_clear(diag);
  if (!s) return bramah__fail_memory(diag);
  const bramah_plant *plant = &m->plant;
  bramah_simulation_options *o = &s->options;
  bramah_simulation_result *r = &s->result;
  s->machine = m;
  bramah_simulation_options_default(o);
  if (options) *o = *options;
  s->set = calloc(o->n_parameters + 1, 1);
  s->outputs = calloc(plant->n_output + 1, sizeof *s->outputs);
  s->row = calloc(plant->n_output + 1, sizeof *s->row);
  s->errors = calloc(plant->n_output + 1, sizeof *s->errors);
  s->u = calloc(plant->n_input + 1, sizeof *s->u);
  bramah_status status =
      s->set && s->outputs && s->row && s->errors && s->u ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah_schedule_new(m->machine, m->model, diag, &s->schedule);
  if (!status && o->study) {
    status = bramah_study_load(o->study, 0, NULL, diag, &s->study);
    if (!status) status = bramah__simulated_log_new(s->study, plant, o->seed, diag, &s->log);
    if (status) bramah__place(diag, o->study, 0);
  }
  if (!status && o->process_noise) status = open_noise(s, diag);

  /* Files, when everything else is known to be well. */
  if (!status && o->truth) status = bramah_log_create(o->truth, diag, &s->writer);
  if (!status && o->truth) status = bramah_log_add_column(s->writer, "t", "s", 12, diag);
  for (size_t i = 0; !status && o->truth && i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (info.hidden && !o->columns) continue;
    s->outputs[s->n_outputs++] = i;
    status = bramah_log_add_column(s->writer, info.name, info.unit, 10, diag);
  }
  if (!status && o->truth) status = bramah_log_choose_columns(s->writer, o->columns, diag);
  if (!status && o->log) status = bramah__simulated_log_create(s->log, o->log, o->exact ? 17 : 10, diag);
  r->sensors = s->log ? bramah__simulated_log_sensors(s->log) : NULL;
  r->n_sensors = s->log ? s->study->n_sensors : 0;
  r->n_changes = s->study ? s->study->n_changes : 0;
  r->changes = s->study ? s->study->changes : NULL;
  if (!status) {
    *out = s;
    return BRAMAH_OK;
  }
  bramah_log_abandon(s->writer, &ignored);
  s->writer = NULL;
  bramah_simulation_close(s, &ignored);
  return status;
}

bramah_status bramah_simulation_close(bramah_simulation *s, bramah_diag *diag)
{
  bramah_diag other;
  if (!s) return BRAMAH_OK;
  bramah_status status = bramah_log_finish(s->writer, diag);
  const bramah_status closed = bramah__simulated_log_close(s->log, status ? &other : diag);
  if (!status) status = closed;
  bramah_study_free(s->study);
  bramah_schedule_free(s->schedule);
  if (s->session) s->session->machine = (bramah_machine_plant){0}; /* not ours */
  bramah_session_close(s->session);
  bramah_noise_free(s->noise);
  free(s->dx);
  free(s->set);
  free(s->outputs);
  free(s->row);
  free(s->errors);
  free(s->u);
  free(s);
  return status;
}

/* ---- rows ---- */

/* The errors of the step that led to the present row. */
static void watch_errors(bramah_simulation *s)
{
  size_t n = 0;
  for (size_t i = 0; i < plant_of(s)->n_output; i++) {
    const double error = bramah_coupled_step_error(s->machine->coupled, i);
    bramah_output_info info;
    bramah_plant_output_info(plant_of(s), i, &info);
    if (info.kind != BRAMAH_OUTPUT_POSITION && info.kind != BRAMAH_OUTPUT_RATE &&
        info.kind != BRAMAH_OUTPUT_FIRST_ORDER)
      continue;
    bramah_output_error *e = &s->errors[n++];
    e->output = i;
    if (!(error > e->largest)) continue;
    e->largest = error;
    e->time_ns = s->result.time_ns;
  }
  s->result.errors = s->errors;
  s->result.n_errors = n;
}

/* The next row, into the files or as a sample (NULL: none). */
static bramah_status next_row(bramah_simulation *s, bramah_sample *sample, bramah_diag *diag)
{
  const bramah_plant *plant = plant_of(s);
  bramah_simulation_result *r = &s->result;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  if (r->rows) {
    status = s->noise ? bramah_filter_predict(s->session->filter, diag) : plant->step(plant->self, diag);
    /* With process noise a displacement drawn from the covariance that a filter would add: what a filter of that study
     * expects is then true. */
    if (!status && s->noise) {
      const bramah_filter_info info = bramah_filter_get_info(s->session->filter);
      const size_t n = info.n_error, columns = info.n_noise;
      const double *gamma = bramah_filter_get_last(s->session->filter).noise;
      for (size_t i = 0; i < n; i++) s->dx[i] = 0.0;
      for (size_t c = 0; c < columns; c++) {
        const double w = bramah_noise_gaussian(s->noise, 1.0);
        for (size_t i = 0; i < n; i++) s->dx[i] += gamma[i * columns + c] * w;
      }
      status = plant->inject(plant->self, s->dx, diag);
    }
    if (status) {
      const size_t used = strlen(diag->message);
      snprintf(diag->message + used, sizeof diag->message - used, " (after t = %.9g s)",
               (double)r->time_ns / 1e9);
      return status;
    }
    r->time_ns += plant->step_ns;
    watch_errors(s);
  }
  double *u = s->u;
  if (plant->n_input) memcpy(u, bramah_schedule_at(s->schedule, r->time_ns), plant->n_input * sizeof *u);
  for (size_t i = 0; !status && i < s->options.n_parameters; i++) {
    const bramah_timed_parameter *p = &s->options.parameters[i];
    if (s->set[i] || p->time_ns > r->time_ns) continue;
    status = plant->set_parameter(plant->self, p->index, p->value, diag);
    s->set[i] = !status;
  }
  if (!status && s->options.commands) status = s->options.commands(s->options.user, r->time_ns, u, diag);
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  if (status) return status;
  if (s->writer) {
    s->row[0] = (double)r->time_ns / 1e9;
    for (size_t i = 0; i < s->n_outputs; i++) s->row[1 + i] = output(s, s->outputs[i]);
    status = bramah_log_write(s->writer, s->row, diag);
  }
  if (!status && sample)
    status = bramah__simulated_log_sample(s->log, r->rows, r->time_ns, u, sample, diag);
  else if (!status && s->log && s->options.log) /* a study can be there for its process noise alone */
    status = bramah__simulated_log_row(s->log, r->rows, r->time_ns, u, diag);
  r->rows++;

  /* What the row shows beyond its columns: the energy balance, loops, physical limits. */
  bramah_energy_add(&r->energy, s->machine->coupled, r->time_ns);
  bramah_limit limit[BRAMAH_N_LIMITS];
  bramah_coupled_limits(s->machine->coupled, limit);
  for (int k = 0; k < BRAMAH_N_LIMITS; k++) bramah_limit_event_add(&r->limit[k], &limit[k], r->time_ns);
  r->violation = fmax(r->violation, bramah_coupled_constraint_violation(s->machine->coupled));
  return status;
}

bramah_status bramah_simulation_next(bramah_simulation *s, bramah_diag *diag)
{
  return next_row(s, NULL, diag);
}

bramah_status bramah_simulation_sample(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  *end = 0;
  return next_row(user, sample, diag);
}

void bramah_simulation_unplug(bramah_simulation *s, size_t sensor, int is_unplugged)
{
  if (s->log && sensor < s->study->n_sensors) bramah__simulated_log_unplug(s->log, sensor, is_unplugged);
}

bramah_status bramah_simulation_flush(bramah_simulation *s, bramah_diag *diag)
{
  return bramah__simulated_log_flush(s->log, diag);
}

bramah_simulation_result bramah_simulation_get_result(const bramah_simulation *s) { return s->result; }
