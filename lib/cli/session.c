/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/session.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- machine ---- */

/* Valves moved by unknown inputs lose their lag. */
static bramah_status make_direct(cli_machine *machine, const bramah_study *study, bramah_diag *diag)
{
  bramah_machine *m = machine->machine;
  machine->valves = calloc(m->n_valves + 1, sizeof *machine->valves);
  if (!machine->valves) return fail_memory(diag);
  for (size_t i = 0; i < m->n_valves; i++) {
    machine->valves[i] = m->valves[i];
    if (cli_session_unknown(study, m->valves[i].input)) machine->valves[i].time_constant = 0.0;
  }
  m->valves = machine->valves;
  return BRAMAH_OK;
}

/* study NULL: all inputs are known. */
static bramah_status open_machine(cli_machine *machine, const char *path, size_t n_changes,
                                  const bramah_change *changes, int64_t step_ns, const bramah_study *study,
                                  bramah_diag *diag)
{
  bramah_diag_clear(diag);
  bramah_status status = bramah_machine_load(path, n_changes, changes, diag, &machine->machine);
  if (!status && step_ns) machine->machine->integrator.step_ns = step_ns;
  if (!status && study) status = make_direct(machine, study, diag);
  if (!status) status = bramah_model_new(machine->machine, diag, &machine->model);
  if (!status) status = bramah_coupled_new(machine->model, diag, &machine->coupled);
  if (!status) machine->plant = bramah_coupled_plant(machine->coupled);
  if (status) cli_place(diag, path, 0);
  return status;
}

bramah_status cli_machine_open(cli_machine *machine, const char *path, size_t n_changes,
                               const bramah_change *changes, int64_t step_ns, bramah_diag *diag)
{
  return open_machine(machine, path, n_changes, changes, step_ns, NULL, diag);
}

void cli_machine_close(cli_machine *machine)
{
  bramah_coupled_free(machine->coupled);
  bramah_model_free(machine->model);
  bramah_machine_free(machine->machine);
  free(machine->valves);
}

/* ---- names ---- */

typedef const char *(*name_of)(const bramah_model *model, size_t i);

/* Index of a name among those of the model; the message suggests the nearest or lists them all. */
static bramah_status find_name(const bramah_study *study, const bramah_model *model, const char *what,
                               const char *name, int line, name_of at, size_t *out, bramah_diag *diag)
{
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; at(model, i); i++) {
    if (strcmp(at(model, i), name) == 0) return *out = i, BRAMAH_OK;
    if (n < sizeof names / sizeof names[0]) names[n++] = at(model, i);
  }
  const char *nearest = cli_nearest(name, n, names);
  if (nearest)
    return cli_fail(diag, BRAMAH_E_REFERENCE, study->file, line, name,
                    "the machine has no %s of this name; did you mean '%s'?", what, nearest);
  cli_fail(diag, BRAMAH_E_REFERENCE, study->file, line, name,
           "the machine has no %s of this name; it has:", what);
  for (size_t i = 0; i < n; i++) {
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, "%s %s", i ? "," : "", names[i]);
  }
  return BRAMAH_E_REFERENCE;
}

void cli_session_input_column(const bramah_study *study, const char *input, char *out, size_t n, int *line)
{
  *line = 0;
  snprintf(out, n, "%s.command", input);
  for (size_t i = 0; study && i < study->n_inputs; i++) {
    if (strcmp(study->inputs[i].target, input) != 0) continue;
    snprintf(out, n, "%s", study->inputs[i].name);
    *line = study->inputs[i].line;
  }
}

const bramah_study_augmented *cli_session_unknown(const bramah_study *study, const char *input)
{
  for (size_t i = 0; study && i < study->n_augmented; i++)
    if (study->augmented[i].input && strcmp(study->augmented[i].input, input) == 0)
      return &study->augmented[i];
  return NULL;
}

size_t cli_session_n_unknown(const bramah_study *study)
{
  size_t n = 0;
  while (n < study->n_augmented && study->augmented[n].input) n++;
  return n;
}

static bramah_status check_unknown(const bramah_study *study, const bramah_model *model,
                                   const bramah_study_augmented *unknown, bramah_diag *diag)
{
  size_t index;
  const bramah_status status =
      find_name(study, model, "input", unknown->input, unknown->line, bramah_model_input_name, &index, diag);
  if (status || study->transition == BRAMAH_TRANSITION_STEP) return status;
  return cli_fail(diag, BRAMAH_E_VALUE, study->file, unknown->line, unknown->input,
                  "an unknown input needs 'filter: {transition: step}': by the others an error of the "
                  "command never reaches the pressures");
}

bramah_status cli_session_check_inputs(const bramah_study *study, const bramah_model *model,
                                       bramah_diag *diag)
{
  for (size_t i = 0; i < study->n_inputs; i++) {
    size_t index;
    const bramah_status status = find_name(study, model, "input", study->inputs[i].target,
                                           study->inputs[i].line, bramah_model_input_name, &index, diag);
    if (status) return status;
  }
  for (size_t i = 0; i < cli_session_n_unknown(study); i++) {
    const bramah_status status = check_unknown(study, model, &study->augmented[i], diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

long cli_session_sensor_of(const cli_session *session, size_t output)
{
  for (size_t i = 0; i < session->study->n_sensors; i++) {
    const bramah_sensor *sensor = &session->sensors[i];
    if (sensor->shape == BRAMAH_SENSOR_SUM && sensor->n_terms == 1 && sensor->output[0] == output &&
        sensor->weight[0] == 1.0)
      return (long)i;
  }
  return -1;
}

/* ---- session ---- */

bramah_status cli_session_open_machine(cli_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  return open_machine(&session->machine, study->machine_file, study->n_changes, study->changes,
                      session->step_ns, study, diag);
}

bramah_status cli_session_make_room(cli_session *session, bramah_diag *diag)
{
  cli_start *s = &session->start;
  const size_t n = session->machine.plant.n_position, np = session->machine.plant.n_pressure;
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
  return cli_augmented_make_room(&session->augmented, session->study, diag);
}

bramah_status cli_session_bind_sensor(cli_session *session, size_t i, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_sensor_options *options = &study->sensors[i];
  bramah_diag_clear(diag);
  const bramah_status status =
      bramah_sensor_init(options, &session->machine.plant, diag, &session->sensors[i]);
  if (status) cli_place(diag, study->file, options->line);
  return status;
}

bramah_status cli_session_bind_augmented(cli_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < study->n_augmented; i++)
    status = cli_augmented_bind(&session->augmented, study, plant, session->sensors, i, diag);
  for (size_t i = 0; !status && i < study->n_parameter_noise; i++)
    status = cli_parameter_noise_bind(&session->augmented, study, plant, i, diag);
  return status;
}

/* As many joints as degrees of freedom; says which would do. */
static bramah_status check_count(const cli_session *session, bramah_diag *diag)
{
  const bramah_model *model = session->machine.model;
  const bramah_study *study = session->study;
  const size_t n = bramah_model_degrees_of_freedom(model);
  if (study->n_joints == n) return BRAMAH_OK;
  size_t *independent = calloc(n + 1, sizeof *independent);
  if (!independent) return fail_memory(diag);
  bramah_model_independent_joints(model, independent);
  cli_fail(diag, BRAMAH_E_VALUE, study->file, study->n_joints ? study->joints[0].line : 0, "joints",
           "start values of %zu joints are given, but the machine has %zu degree%s of freedom; independent "
           "at the start:",
           study->n_joints, n, n == 1 ? "" : "s");
  for (size_t i = 0; i < n; i++) {
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, "%s %s", i ? "," : "",
             bramah_model_joint_name(model, independent[i]));
  }
  free(independent);
  return BRAMAH_E_VALUE;
}

static bramah_status take_joint(cli_session *session, size_t i, bramah_diag *diag)
{
  const bramah_joint_start *from = &session->study->joints[i];
  const bramah_plant *plant = &session->machine.plant;
  cli_start *s = &session->start;
  bramah_status status = find_name(session->study, session->machine.model, "joint", from->joint, from->line,
                                   bramah_model_joint_name, &s->joints[i], diag);
  if (status) return status;
  const int revolute = bramah_model_joint_is_revolute(session->machine.model, s->joints[i]);
  if (revolute != from->revolute_unit)
    return cli_fail(diag, BRAMAH_E_UNIT, session->study->file, from->line, from->joint,
                    revolute ? "this joint turns: its values need units of angle (deg, rad)"
                             : "this joint slides: its values need units of length (m, mm)");
  char name[256];
  snprintf(name, sizeof name, "%s.%s", from->joint, revolute ? "angle" : "position");
  const long output = bramah_plant_find_output(plant, name);
  if (output < 0)
    return cli_fail(diag, BRAMAH_E_REFERENCE, session->study->file, from->line, name, "no such output");
  s->basis[i] = (size_t)output;
  s->position[i] = from->has_position ? from->position : plant->output(plant->self, s->basis[i]);
  s->rate[i] = from->rate;
  s->position_sigma[i] = from->position_sigma;
  s->rate_sigma[i] = from->rate_sigma;
  s->acceleration_noise[i] = from->acceleration_noise;
  return BRAMAH_OK;
}

bramah_status cli_session_find_joints(cli_session *session, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < session->study->n_joints; i++)
    if (i < session->machine.plant.n_position) status = take_joint(session, i, diag);
  return status ? status : check_count(session, diag);
}

bramah_status cli_session_find_volumes(cli_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_model *model = session->machine.model;
  cli_start *s = &session->start;
  for (size_t i = 0; i < study->n_volumes; i++) {
    const bramah_volume_start *from = &study->volumes[i];
    size_t v;
    const bramah_status status =
        find_name(study, model, "volume", from->volume, from->line, bramah_model_volume_name, &v, diag);
    if (status) return status;
    s->pressure[v] = from->has_pressure ? from->pressure : bramah_model_initial_pressure(model, v);
    s->pressure_sigma[v] = from->sigma;
    s->pressure_noise[v] = from->noise;
  }
  for (size_t v = 0; v < bramah_model_n_volumes(model); v++)
    if (!(s->pressure_sigma[v] > 0.0))
      return cli_fail(diag, BRAMAH_E_KEY, study->file, study->n_volumes ? study->volumes[0].line : 0,
                      "volumes", "volume '%s' of the machine is missing here: give its sigma and noise",
                      bramah_model_volume_name(model, v));
  return BRAMAH_OK;
}

bramah_status cli_session_start(const cli_session *session, bramah_coupled *coupled, bramah_diag *diag)
{
  const cli_start *s = &session->start;
  const bramah_study *study = session->study;
  bramah_diag_clear(diag);
  const bramah_status status =
      bramah_coupled_start(coupled, study->n_joints, s->joints, s->position, s->rate, s->pressure, diag);
  if (status) cli_place(diag, study->file, study->n_joints ? study->joints[0].line : 0);
  return status;
}

/* An unknown command stays just inside the limit of its valves: at the limit itself it would act on nothing,
 * and the filter could not take it back. */
static void limit_unknown(cli_session *session)
{
  const bramah_machine *m = session->machine.machine;
  for (size_t i = 0; i < session->study->n_augmented; i++) {
    const char *input = session->study->augmented[i].input;
    bramah_augmented *state = &session->augmented.states[i];
    double limit = 0.0;
    for (size_t v = 0; input && v < m->n_valves; v++)
      if (strcmp(m->valves[v].input, input) == 0) limit = fmax(limit, m->valves[v].limit);
    if (!input || state->least != 0.0 || state->most != 0.0) continue;
    state->most = 0.9999 * limit;
    state->least = -state->most;
  }
}

bramah_filter_options cli_session_filter_options(const cli_session *session)
{
  const cli_start *s = &session->start;
  const bramah_study *study = session->study;
  return (bramah_filter_options){.transition = study->transition,
                                 .basis = s->basis,
                                 .position_sigma = s->position_sigma,
                                 .velocity_sigma = s->rate_sigma,
                                 .pressure_sigma = s->pressure_sigma,
                                 .acceleration_noise = s->acceleration_noise,
                                 .pressure_noise = s->pressure_noise,
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

bramah_status cli_session_open_filter(cli_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  limit_unknown(session);
  const bramah_filter_options options = cli_session_filter_options(session);
  bramah_status status = cli_session_start(session, session->machine.coupled, diag);
  if (!status)
    status = bramah_filter_new(&session->machine.plant, study->n_sensors, session->sensors, &options, diag,
                               &session->filter);
  bramah_coupled_set_injection(session->machine.coupled, (bramah_injection)study->injection);
  if (status) cli_place(diag, study->file, 0);
  return status;
}

bramah_status cli_session_open(cli_session *session, const char *path, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  const bramah_status status = bramah_study_load(path, diag, &session->study);
  if (status) cli_place(diag, path, 0);
  return status ? status : cli_session_open_study(session, diag);
}

bramah_status cli_session_open_study(cli_session *session, bramah_diag *diag)
{
  bramah_status status = cli_session_open_machine(session, diag);
  if (!status) status = cli_session_check_inputs(session->study, session->machine.model, diag);
  if (!status) status = cli_session_make_room(session, diag);
  for (size_t i = 0; !status && i < session->study->n_sensors; i++)
    status = cli_session_bind_sensor(session, i, diag);
  if (!status) status = cli_session_bind_augmented(session, diag);
  if (!status) status = cli_session_find_joints(session, diag);
  if (!status) status = cli_session_find_volumes(session, diag);
  return status ? status : cli_session_open_filter(session, diag);
}

void cli_session_close(cli_session *session)
{
  bramah_filter_free(session->filter);
  free(session->sensors);
  cli_augmented_free(&session->augmented);
  free(session->start.joints);
  free(session->start.position);
  cli_machine_close(&session->machine);
  bramah_study_free(session->study);
}
