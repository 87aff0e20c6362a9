/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/session.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
}

void bramah__in_file(bramah_diag *diag, const char *file, int line)
{
  if (!diag || diag->file[0]) return;
  bramah__at(diag, file, diag->line ? diag->line : line, diag->column);
}

/* ---- machine ---- */

/* Valves moved by unknown inputs lose their lag. */
static bramah_status make_direct(bramah_machine_plant *machine, const bramah_study *study, bramah_diag *diag)
{
  bramah_machine *m = machine->machine;
  machine->valves = calloc(m->n_valves + 1, sizeof *machine->valves);
  if (!machine->valves) return fail_memory(diag);
  for (size_t i = 0; i < m->n_valves; i++) {
    machine->valves[i] = m->valves[i];
    if (bramah_study_unknown_input(study, m->valves[i].input)) machine->valves[i].time_constant = 0.0;
  }
  m->valves = machine->valves;
  machine->metered = calloc(m->n_metered_cylinders + 1, sizeof *machine->metered);
  if (!machine->metered) return fail_memory(diag);
  for (size_t i = 0; i < m->n_metered_cylinders; i++) {
    machine->metered[i] = m->metered_cylinders[i];
    bramah_valve *spool = &machine->metered[i].spool;
    if (bramah_study_unknown_input(study, spool->input)) spool->time_constant = 0.0;
  }
  m->metered_cylinders = machine->metered;
  return BRAMAH_OK;
}

/* study NULL: all inputs are known. */
static bramah_status open_machine(bramah_machine_plant *machine, const char *path, size_t n_changes,
                                  const bramah_change *changes, int64_t step_ns, bramah_study *study,
                                  bramah_diag *diag)
{
  bramah_diag_clear(diag);
  bramah_status status = study ? bramah__study_load_machine(study, diag, &machine->machine)
                               : bramah_machine_load(path, n_changes, changes, diag, &machine->machine);
  if (!status && step_ns) machine->machine->integrator.step_ns = step_ns;
  if (!status && study) status = make_direct(machine, study, diag);
  if (!status) status = bramah_model_new(machine->machine, diag, &machine->model);
  if (!status) status = bramah_coupled_new(machine->model, diag, &machine->coupled);
  if (!status) machine->plant = bramah_coupled_plant(machine->coupled);
  if (status) bramah__in_file(diag, path, 0);
  return status;
}

bramah_status bramah_machine_plant_open(bramah_machine_plant *out, const char *path, size_t n_changes,
                                        const bramah_change *changes, int64_t step_ns, bramah_diag *diag)
{
  *out = (bramah_machine_plant){0};
  return open_machine(out, path, n_changes, changes, step_ns, NULL, diag);
}

void bramah_machine_plant_close(bramah_machine_plant *machine)
{
  bramah_coupled_free(machine->coupled);
  bramah_model_free(machine->model);
  bramah_machine_free(machine->machine);
  free(machine->valves);
  free(machine->metered);
}

/* ---- session ---- */

bramah_status bramah__session_open_machine(bramah_session *session, bramah_diag *diag)
{
  bramah_study *study = session->study;
  return open_machine(&session->machine, study->machine_file, study->n_changes, study->changes,
                      session->step_ns, study, diag);
}

bramah_status bramah__session_make_room(bramah_session *session, bramah_diag *diag)
{
  bramah__start_values *s = &session->start;
  const size_t n = session->machine.plant.n_dof, np = session->machine.plant.n_first_order;
  session->sensors = calloc(session->study->n_sensors + 1, sizeof *session->sensors);
  s->joints = calloc(2 * n + 1, sizeof *s->joints);
  s->position = calloc(5 * n + 3 * np + 1, sizeof *s->position);
  if (!session->sensors || !s->joints || !s->position) return fail_memory(diag);
  s->basis = s->joints + n;
  s->rate = s->position + n;
  s->position_sigma = s->rate + n;
  s->rate_sigma = s->position_sigma + n;
  s->acceleration_noise = s->rate_sigma + n;
  s->pressure = s->acceleration_noise + n;
  s->pressure_sigma = s->pressure + np;
  s->pressure_noise = s->pressure_sigma + np;
  return bramah__make_augmented(&session->augmented, session->study, diag);
}

bramah_status bramah__session_bind_sensor(bramah_session *session, size_t i, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_sensor_options *options = &study->sensors[i];
  bramah_diag_clear(diag);
  const bramah_status status =
      bramah_sensor_init(options, &session->machine.plant, diag, &session->sensors[i]);
  if (status) bramah__in_file(diag, study->file, options->line);
  return status;
}

bramah_status bramah_session_start(const bramah_session *session, bramah_coupled *coupled, bramah_diag *diag)
{
  const bramah__start_values *s = &session->start;
  const bramah_study *study = session->study;
  bramah_diag_clear(diag);
  const bramah_status status =
      bramah_coupled_start(coupled, study->n_joints, s->joints, s->position, s->rate, s->pressure, diag);
  if (status) bramah__in_file(diag, study->file, study->n_joints ? study->joints[0].line : 0);
  return status;
}

/* An unknown command stays just inside the limit of its valves: at the limit itself it would act on nothing,
 * and the filter could not take it back. */
static void limit_unknown(bramah_session *session)
{
  const bramah_machine *m = session->machine.machine;
  for (size_t i = 0; i < session->study->n_augmented; i++) {
    const char *input = session->study->augmented[i].input;
    bramah_augmented *state = &session->augmented.states[i];
    double limit = 0.0;
    for (size_t v = 0; input && v < m->n_valves; v++)
      if (strcmp(m->valves[v].input, input) == 0) limit = fmax(limit, m->valves[v].limit);
    for (size_t v = 0; input && v < m->n_metered_cylinders; v++)
      if (strcmp(m->metered_cylinders[v].spool.input, input) == 0)
        limit = fmax(limit, m->metered_cylinders[v].spool.limit);
    if (!input || state->least != 0.0 || state->most != 0.0) continue;
    state->most = 0.9999 * limit;
    state->least = -state->most;
  }
}

bramah_filter_options bramah_session_filter_options(const bramah_session *session)
{
  const bramah__start_values *s = &session->start;
  const bramah_study *study = session->study;
  return (bramah_filter_options){.transition = study->transition,
                                 .basis = s->basis,
                                 .position_sigma = s->position_sigma,
                                 .rate_sigma = s->rate_sigma,
                                 .first_order_sigma = s->pressure_sigma,
                                 .acceleration_noise = s->acceleration_noise,
                                 .first_order_noise = s->pressure_noise,
                                 .discretisation = study->discretisation,
                                 .form = study->form,
                                 .fusion = study->fusion,
                                 .iterations = study->iterations,
                                 .gate = study->gate,
                                 .drift_gate = study->drift_gate,
                                 .patience = (unsigned)study->patience,
                                 .n_augmented = study->n_augmented,
                                 .augmented = session->augmented.states,
                                 .n_parameter_noise = study->n_parameter_noise,
                                 .parameter_noise = session->augmented.noise};
}

bramah_status bramah__session_open_filter(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  limit_unknown(session);
  const bramah_filter_options options = bramah_session_filter_options(session);
  bramah_status status = bramah_session_start(session, session->machine.coupled, diag);
  if (!status)
    status = bramah_filter_new(&session->machine.plant, study->n_sensors, session->sensors, &options, diag,
                               &session->filter);
  bramah_coupled_set_injection(session->machine.coupled, (bramah_injection)study->injection);
  if (status) bramah__in_file(diag, study->file, 0);
  return status;
}

bramah_status bramah__session_open_study(bramah_session *session, bramah_diag *diag)
{
  bramah_status status = bramah__session_open_machine(session, diag);
  if (!status) status = bramah_study_check_inputs(session->study, session->machine.model, diag);
  return status ? status : bramah__session_open_on_machine(session, diag);
}

bramah_status bramah__session_open_on_machine(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  bramah_status status = bramah__session_make_room(session, diag);
  for (size_t i = 0; !status && i < study->n_sensors; i++)
    status = bramah__session_bind_sensor(session, i, diag);
  for (size_t i = 0; !status && i < study->n_augmented; i++)
    status = bramah__session_bind_augmented(session, i, diag);
  for (size_t i = 0; !status && i < study->n_parameter_noise; i++)
    status = bramah__session_bind_parameter_noise(session, i, diag);
  if (!status) status = bramah__session_find_joints(session, diag);
  if (!status) status = bramah__session_find_volumes(session, diag);
  return status ? status : bramah__session_open_filter(session, diag);
}

/* ---- opening and closing ---- */

bramah_status bramah_session_new(bramah_study *study, int64_t step_ns, bramah_diag *diag,
                                 bramah_session **out)
{
  *out = NULL;
  bramah_session *session = calloc(1, sizeof *session);
  if (!session) {
    bramah_study_free(study);
    return fail_memory(diag);
  }
  session->study = study;
  session->step_ns = step_ns;
  const bramah_status status = bramah__session_open_study(session, diag);
  if (status)
    bramah_session_close(session);
  else
    *out = session;
  return status;
}

bramah_status bramah_session_open(const char *path, bramah_diag *diag, bramah_session **out)
{
  bramah_study *study = NULL;
  *out = NULL;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_study_load(path, diag, &study);
  if (status) bramah__in_file(diag, path, 0);
  return status ? status : bramah_session_new(study, 0, diag, out);
}

bramah_status bramah_session_clone(const bramah_session *session, bramah_diag *diag, bramah_session **out)
{
  *out = NULL;
  bramah_session *clone = malloc(sizeof *clone);
  if (!clone) return fail_memory(diag);
  *clone = *session;
  clone->shares = session;
  clone->filter = NULL;
  clone->machine.coupled = NULL;
  bramah_status status = bramah_coupled_new(clone->machine.model, diag, &clone->machine.coupled);
  if (!status) {
    clone->machine.plant = bramah_coupled_plant(clone->machine.coupled);
    status = bramah__session_open_filter(clone, diag);
  }
  if (status)
    bramah_session_close(clone);
  else
    *out = clone;
  return status;
}

void bramah_session_close(bramah_session *session)
{
  if (!session) return;
  bramah_filter_free(session->filter);
  if (session->shares) {
    bramah_coupled_free(session->machine.coupled);
  } else {
    free(session->sensors);
    bramah__free_augmented(&session->augmented);
    free(session->start.joints);
    free(session->start.position);
    bramah_machine_plant_close(&session->machine);
    bramah_study_free(session->study);
  }
  free(session);
}

/* ---- every mistake ---- */

typedef struct checking {
  bramah_mistake tell;
  void *user;
  bramah_status first;
} checking;

static void heard(void *user, const bramah_diag *diag)
{
  checking *c = user;
  if (!c->first) c->first = diag->status;
  c->tell(c->user, diag);
}

static int told(checking *c, bramah_status status, const bramah_diag *diag)
{
  if (status) heard(c, diag);
  return status != BRAMAH_OK;
}

/* The unit of a bias is known only if its sensor is right; the filter is tried only if all else is. */
static void check_on_machine(checking *c, bramah_session *session)
{
  const bramah_study *study = session->study;
  bramah_diag diag;
  told(c, bramah_study_check_inputs(study, session->machine.model, &diag), &diag);
  if (told(c, bramah__session_make_room(session, &diag), &diag)) return;
  for (size_t i = 0; i < study->n_sensors; i++)
    told(c, bramah__session_bind_sensor(session, i, &diag), &diag);
  for (size_t i = 0; i < study->n_augmented; i++) {
    const size_t sensor = bramah__study_augmented_sensor(study, i);
    if (sensor < study->n_sensors && !session->sensors[sensor].unit) continue;
    told(c, bramah__session_bind_augmented(session, i, &diag), &diag);
  }
  for (size_t i = 0; i < study->n_parameter_noise; i++)
    told(c, bramah__session_bind_parameter_noise(session, i, &diag), &diag);
  told(c, bramah__session_find_joints(session, &diag), &diag);
  told(c, bramah__session_find_volumes(session, &diag), &diag);
  if (!c->first) told(c, bramah__session_open_filter(session, &diag), &diag);
}

bramah_status bramah_session_check(const char *path, bramah_mistake tell, void *user)
{
  checking c = {.tell = tell, .user = user};
  bramah_diag diag;
  bramah_session *session = calloc(1, sizeof *session);
  bramah_diag_clear(&diag);
  if (told(&c, session ? BRAMAH_OK : fail_memory(&diag), &diag)) return c.first;
  bramah_study_check(path, heard, &c);
  if (!c.first) told(&c, bramah_study_load(path, &diag, &session->study), &diag);
  const bramah_study *study = session->study;
  if (study) bramah_machine_check(study->machine_file, study->n_changes, study->changes, heard, &c);
  if (!c.first && !told(&c, bramah__session_open_machine(session, &diag), &diag))
    check_on_machine(&c, session);
  bramah_session_close(session);
  return c.first;
}

/* ---- its parts ---- */

const bramah_study *bramah_session_study(const bramah_session *session) { return session->study; }
const bramah_machine_plant *bramah_session_machine(const bramah_session *session)
{
  return &session->machine;
}
const bramah_model *bramah_session_model(const bramah_session *session) { return session->machine.model; }
const bramah_plant *bramah_session_plant(const bramah_session *session) { return &session->machine.plant; }
bramah_coupled *bramah_session_coupled(const bramah_session *session) { return session->machine.coupled; }
bramah_filter *bramah_session_filter(const bramah_session *session) { return session->filter; }
size_t bramah_session_n_sensors(const bramah_session *session) { return session->study->n_sensors; }
const bramah_sensor *bramah_session_sensors(const bramah_session *session) { return session->sensors; }

long bramah_session_find_input(const bramah_session *session, const char *name)
{
  const bramah_plant *plant = &session->machine.plant;
  for (size_t i = 0; i < plant->n_input; i++)
    if (strcmp(plant->input_name(plant->self, i), name) == 0) return (long)i;
  return -1;
}

long bramah_session_find_sensor(const bramah_session *session, const char *name)
{
  for (size_t i = 0; i < session->study->n_sensors; i++)
    if (strcmp(session->sensors[i].name, name) == 0) return (long)i;
  return -1;
}

long bramah_session_sensor_of_output(const bramah_session *session, size_t output)
{
  for (size_t i = 0; i < session->study->n_sensors; i++) {
    const bramah_sensor *sensor = &session->sensors[i];
    if (sensor->shape == BRAMAH_SENSOR_SUM && sensor->n_terms == 1 && sensor->output[0] == output &&
        sensor->weight[0] == 1.0)
      return (long)i;
  }
  return -1;
}

size_t bramah_session_joint_output(const bramah_session *session, size_t i)
{
  return session->start.basis[i];
}
double bramah_session_joint_start(const bramah_session *session, size_t i)
{
  return session->start.position[i];
}

const char *bramah_session_augmented_unit(const bramah_session *session, size_t i)
{
  return session->augmented.unit[i];
}

const char *bramah_session_noise_unit(const bramah_session *session, size_t i)
{
  return session->augmented.noise_unit[i];
}
