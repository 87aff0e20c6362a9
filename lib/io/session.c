/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A study bound to its machine: names are found, units checked, and a filter put at the study's start. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/session.h"
#include "lib/io/quantity.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/io/machine_file.h"
#include "lib/io/native.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Say where it was, if the one who found the mistake did not know. The status as it is. */
static bramah_status in_file(bramah_diag *diag, bramah_status status, const char *file, int line)
{
  if (status && diag && !diag->file[0]) bramah__at(diag, file, diag->line ? diag->line : line, diag->column);
  return status;
}

/* ---- machine ---- */

bramah_program *bramah__machine_program(const bramah_machine_plant *machine, bramah_program_scope scope,
                                        size_t n_par, const size_t *par)
{
  bramah_program *program;
  if (bramah_program_new_for(machine->model, scope, n_par, par, NULL, &program)) return NULL;
  if (bramah_program_get_info(program).is_faster && bramah_program_add_bases(program, NULL) == BRAMAH_OK)
    return program;
  bramah_program_free(program);
  return NULL;
}

bramah_status bramah_machine_plant_compile(bramah_machine_plant *machine, bramah_program_scope scope,
                                           size_t n_par, const size_t *par, bramah_diag *diag)
{
  if (machine->fmu) return BRAMAH_OK;
  bramah_program *program = bramah__machine_program(machine, scope, n_par, par);
  const bramah_status status = bramah_coupled_use(machine->coupled, program, diag);
  bramah_program *needless = status ? program : machine->program;
  if (!status) {
    bramah__native_code_close(machine->native);
    machine->program = program;
    machine->native = program ? bramah__native_code_open(program) : NULL;
  }
  bramah_program_free(needless);
  return status;
}

bramah_status bramah_machine_plant_another(const bramah_machine_plant *machine, bramah_diag *diag,
                                           bramah_coupled **out)
{
  *out = NULL;
  if (machine->fmu)
    return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, "plant", "this needs a machine, not an FMU");
  bramah_status status = bramah_coupled_new(machine->model, diag, out);
  if (!status) status = bramah_coupled_use(*out, machine->program, diag);
  if (!status) return BRAMAH_OK;
  bramah_coupled_free(*out);
  *out = NULL;
  return status;
}

/* Index of a name of the study among those of the model. Errors: E_REFERENCE, which suggests the nearest or
 * lists them all; `what` they are goes into the message. */
static bramah_status find_name(const bramah_study *study, const char *what, size_t n,
                               const char *const *names, const char *name, int line, size_t *out,
                               bramah_diag *diag)
{
  enum { LONGEST_LISTING = 64 };
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return *out = i, BRAMAH_OK;
  if (n > LONGEST_LISTING) n = LONGEST_LISTING;
  bramah__failf(diag, BRAMAH_E_REFERENCE, study->file, line, name, "the machine has no %s of this name",
                what);
  bramah__add_suggestion(diag, name, n, names, "; it has: ");
  return BRAMAH_E_REFERENCE;
}

/* The contacts whose bristles are error states, by the study. */
static bramah_status name_bristles(bramah_machine_plant *machine, const bramah_study *study,
                                   bramah_diag *diag)
{
  bramah_machine *m = machine->machine;
  const size_t n = m->n_contacts + m->n_tyres + m->n_brakes + m->n_clutches;
  machine->bristles = calloc(study->n_contacts + n + 1, sizeof *machine->bristles);
  if (!machine->bristles) return bramah__fail_memory(diag);
  const char **names = machine->bristles + study->n_contacts;
  for (size_t i = 0; i < m->n_contacts; i++) names[i] = m->contacts[i].name;
  for (size_t i = 0; i < m->n_tyres; i++) names[m->n_contacts + i] = m->tyres[i].name;
  for (size_t i = 0; i < m->n_brakes; i++) names[m->n_contacts + m->n_tyres + i] = m->brakes[i].name;
  for (size_t i = 0; i < m->n_clutches; i++) names[n - m->n_clutches + i] = m->clutches[i].name;
  for (size_t i = 0; i < study->n_contacts; i++) {
    const bramah_contact_start *from = &study->contacts[i];
    size_t at;
    const bramah_status status =
        find_name(study, "contact, tyre, brake or clutch", n, names, from->contact, from->line, &at, diag);
    if (status) return status;
    if (at < m->n_contacts && m->contacts[at].friction.model == BRAMAH_FRICTION_NONE)
      return bramah__failf(diag, BRAMAH_E_VALUE, study->file, from->line, "contacts",
                           "'%s' has no friction, and so no bristles", from->contact);
    machine->bristles[i] = from->contact;
  }
  m->n_estimated_bristles = study->n_contacts;
  m->estimated_bristles = machine->bristles;
  return BRAMAH_OK;
}

/* ---- an FMU ---- */

bramah_status bramah__refuse_fmu(const bramah_study *study, const char *what, bramah_diag *diag)
{
  if (!study->plant.line) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, study->file, study->plant.line, "plant",
                       "%s needs a machine file: an FMU does not show what is inside", what);
}

/* The ports of the study as the FMU's mapping has them, into `out`. */
static bramah_fmu_port *map_ports(bramah_fmu_port *out, size_t n, const bramah_study_port *from)
{
  for (size_t i = 0; i < n; i++) out[i] = (bramah_fmu_port){from[i].name, {from[i].variable, from[i].line}};
  return out;
}

static bramah_status open_fmu(bramah_machine_plant *machine, const bramah_study *study, int64_t step_ns,
                              bramah_diag *diag)
{
  const bramah_study_plant *p = &study->plant;
  const size_t n_ports = p->n_inputs + p->n_outputs + p->n_parameters;
  bramah_fmu_position *positions = calloc(p->n_positions + 1, sizeof *positions);
  bramah_fmu_state *states = calloc(p->n_states + 1, sizeof *states);
  bramah_fmu_port *ports = calloc(n_ports + 1, sizeof *ports);
  bramah_fmu_value *values = calloc(p->n_values + 1, sizeof *values);
  bramah__loaded *loaded = calloc(1, sizeof *loaded);
  bramah_status status =
      positions && states && ports && values && loaded ? BRAMAH_OK : bramah__fail_memory(diag);
  if (loaded) machine->machine = &loaded->machine;
  for (size_t i = 0; !status && i < p->n_positions; i++) {
    const bramah_study_position *from = &p->positions[i];
    positions[i] = (bramah_fmu_position){.name = from->start.joint,
                                         .slides = from->start.slides,
                                         .position = {from->variable, from->start.line},
                                         .rate = {from->rate_variable, from->start.line},
                                         .scale = from->scale,
                                         .rate_scale = from->rate_scale,
                                         .period = from->period};
  }
  for (size_t i = 0; !status && i < p->n_states; i++) {
    const bramah_study_state *from = &p->states[i];
    states[i] = (bramah_fmu_state){.name = from->name, .of = {from->variable, from->line}};
    if (!from->scale.text) continue;
    const char *unit = bramah__unit_of(from->scale.text);
    states[i].scale_unit = unit && *unit ? unit : "1";
    status = bramah__study_value_get(&from->scale, states[i].scale_unit, &states[i].scale, diag);
  }
  for (size_t i = 0; !status && i < p->n_values; i++)
    values[i] = (bramah_fmu_value){{p->values[i].variable, p->values[i].line}, p->values[i].value};
  const bramah_fmu_mapping mapping = {
      .path = p->fmu,
      .file = study->file,
      .line = p->line,
      .step_ns = step_ns ? step_ns : p->step_ns,
      .differences = p->differences,
      .isolate = p->isolate,
      .time_limit = p->time_limit,
      .n_positions = p->n_positions,
      .positions = positions,
      .n_states = p->n_states,
      .states = states,
      .n_inputs = p->n_inputs,
      .inputs = ports ? map_ports(ports, p->n_inputs, p->inputs) : NULL,
      .n_outputs = p->n_outputs,
      .outputs = ports ? map_ports(ports + p->n_inputs, p->n_outputs, p->outputs) : NULL,
      .n_parameters = p->n_parameters,
      .parameters =
          ports ? map_ports(ports + p->n_inputs + p->n_outputs, p->n_parameters, p->parameters) : NULL,
      .n_values = p->n_values,
      .values = values};
  if (!status) status = bramah_fmu_open(&mapping, diag, &machine->fmu);
  if (!status) status = bramah_fmu_plant_new(machine->fmu, diag, &machine->instance);
  if (!status) {
    const char *name = bramah_fmu_get_abilities(machine->fmu).model;
    machine->plant = bramah_fmu_plant_table(machine->instance);
    loaded->machine.name = bramah__pool_text(&loaded->pool, name, strlen(name));
    loaded->machine.integrator.step_ns = machine->plant.step_ns;
    if (!loaded->machine.name) status = bramah__fail_memory(diag);
  }
  free(positions);
  free(states);
  free(ports);
  free(values);
  return in_file(diag, status, study->file, p->line);
}

/* study NULL: all inputs are known. */
static bramah_status open_machine(bramah_machine_plant *machine, const char *path, size_t n_changes,
                                  const bramah_change *changes, int64_t step_ns, bramah_study *study,
                                  bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (study && study->plant.line) return open_fmu(machine, study, step_ns, diag);
  bramah_status status = study ? bramah__study_load_machine(study, diag, &machine->machine)
                               : bramah_machine_load(path, n_changes, changes, diag, &machine->machine);
  bramah_machine *m = machine->machine;
  if (!status && step_ns) m->integrator.step_ns = step_ns;

  /* Valves moved by unknown inputs lose their lag. */
  if (!status && study) {
    machine->valves = calloc(m->n_valves + 1, sizeof *machine->valves);
    machine->metered = calloc(m->n_metered_cylinders + 1, sizeof *machine->metered);
    if (!machine->valves || !machine->metered) return bramah__fail_memory(diag);
    for (size_t i = 0; i < m->n_valves; i++) {
      machine->valves[i] = m->valves[i];
      if (bramah__study_unknown_input(study, m->valves[i].input)) machine->valves[i].time_constant = 0.0;
    }
    for (size_t i = 0; i < m->n_metered_cylinders; i++) {
      machine->metered[i] = m->metered_cylinders[i];
      bramah_valve *spool = &machine->metered[i].spool;
      if (bramah__study_unknown_input(study, spool->input)) spool->time_constant = 0.0;
    }
    m->valves = machine->valves;
    m->metered_cylinders = machine->metered;
  }

  if (!status && study) status = name_bristles(machine, study, diag);
  if (!status) status = bramah_model_new(m, diag, &machine->model);
  if (!status) status = bramah_coupled_new(machine->model, diag, &machine->coupled);
  if (!status) machine->plant = bramah_coupled_plant(machine->coupled);
  return in_file(diag, status, path, 0);
}

bramah_status bramah_machine_plant_open(bramah_machine_plant *out, const char *path, size_t n_changes,
                                        const bramah_change *changes, int64_t step_ns, bramah_diag *diag)
{
  *out = (bramah_machine_plant){0};
  const bramah_status status = open_machine(out, path, n_changes, changes, step_ns, NULL, diag);
  return status ? status : bramah_machine_plant_compile(out, BRAMAH_PROGRAM_STEPS, 0, NULL, diag);
}

bramah_native_report bramah_machine_plant_native(const bramah_machine_plant *machine)
{
  return bramah__native_code_report(machine->native);
}

bramah_status bramah_machine_plant_dig(bramah_machine_plant *machine, bramah_diag *diag)
{
  if (machine->site || bramah_worksite_size(machine->model) == 0) return BRAMAH_OK;
  const bramah_status status = bramah_worksite_new(machine->coupled, diag, &machine->site);
  if (!status) machine->plant = bramah_worksite_plant(machine->site);
  return status;
}

void bramah_machine_plant_close(bramah_machine_plant *machine)
{
  bramah_fmu_plant_free(machine->instance);
  bramah_fmu_close(machine->fmu);
  bramah_worksite_free(machine->site);
  bramah_coupled_free(machine->coupled);
  bramah__native_code_close(machine->native);
  bramah_program_free(machine->program);
  bramah_model_free(machine->model);
  bramah_machine_free(machine->machine);
  free(machine->valves);
  free(machine->metered);
  free(machine->bristles);
}

/* ---- names and inputs ---- */

const bramah_study_augmented *bramah__study_unknown_input(const bramah_study *study, const char *input)
{
  for (size_t i = 0; study && i < study->n_unknown_inputs; i++)
    if (strcmp(study->augmented[i].input, input) == 0) return &study->augmented[i];
  return NULL;
}

const char *bramah__input_name(const bramah_plant *plant, size_t i)
{
  return plant->input_name ? plant->input_name(plant->self, i) : "input";
}

const char *bramah__input_unit(const bramah_plant *plant, size_t i)
{
  return plant->input_unit ? plant->input_unit(plant->self, i) : "V";
}

bramah__input_reach bramah__input_reach_of(const bramah_machine *m, const char *input)
{
  bramah__input_reach out = {0.0, 0.0};
  for (size_t i = 0; i < m->n_valves + m->n_metered_cylinders; i++) {
    const bramah_valve *v = i < m->n_valves ? &m->valves[i] : &m->metered_cylinders[i - m->n_valves].spool;
    if (strcmp(v->input, input) != 0) continue;
    out.limit = fmax(out.limit, v->limit);
    out.dead_band = fmax(out.dead_band, v->dead_band);
  }
  return out;
}

static bramah_status check_inputs(const bramah_study *study, const bramah_plant *plant, const char **names,
                                  bramah_diag *diag)
{
  const size_t n_inputs = plant->n_input;
  bramah_status status = BRAMAH_OK;
  size_t index;
  for (size_t i = 0; i < n_inputs; i++) names[i] = bramah__input_name(plant, i);
  for (size_t i = 0; !status && i < study->n_inputs; i++)
    status = find_name(study, "input", n_inputs, names, study->inputs[i].target, study->inputs[i].line,
                       &index, diag);
  for (size_t i = 0; !status && i < study->n_unknown_inputs; i++) {
    const bramah_study_augmented *unknown = &study->augmented[i];
    status = find_name(study, "input", n_inputs, names, unknown->input, unknown->line, &index, diag);
    if (!status && study->transition != BRAMAH_TRANSITION_STEP)
      status =
          bramah__failf(diag, BRAMAH_E_VALUE, study->file, unknown->line, unknown->input,
                        "an unknown input needs 'filter: {transition: step}': by the others an error of the "
                        "command never reaches the pressures");
  }
  return status;
}

bramah_status bramah__study_check_inputs(const bramah_study *study, const bramah_plant *plant,
                                         bramah_diag *diag)
{
  const char **names = calloc(plant->n_input + 1, sizeof *names);
  if (!names) return bramah__fail_memory(diag);
  const bramah_status status = check_inputs(study, plant, names, diag);
  free(names);
  return status;
}

/* ---- augmented states and noise on parameters ---- */

/* The place of a mistake: "augmented.load.sigma" in the study. */
static bramah_status place(bramah_diag *diag, bramah_status status, const bramah_study *study, int line,
                           int column, const char *section, const char *name, const char *key)
{
  if (!diag) return status;
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  snprintf(diag->thing, sizeof diag->thing, "%s.%s%s%s", section, name, *key ? "." : "", key);
  diag->line = line;
  diag->column = column;
  return status;
}

/* That of a value of an augmented state: "inputs.valve.unknown.sigma" of an unknown input. */
static bramah_status place_value(bramah_diag *diag, bramah_status status, const bramah_study *study,
                                 const bramah_study_augmented *from, const bramah_study_value *value,
                                 const char *key)
{
  char in_unknown[64];
  if (!from->input)
    return place(diag, status, study, value->line, value->column, "augmented", from->name, key);
  snprintf(in_unknown, sizeof in_unknown, "unknown.%s", key);
  return place(diag, status, study, value->line, value->column, "inputs", from->input, in_unknown);
}

/* The values of a state that starts at `start`, all in the unit of what it estimates. */
static bramah_status take_values(const bramah_study_augmented *from, const bramah_study *study,
                                 const char *unit, double start, bramah_augmented *out, bramah_diag *diag)
{
  const int oscillates = from->frequency > 0.0 || from->signal_period.text;
  const struct {
    const char *key, *per; /* what comes behind the unit */
    const bramah_study_value *from;
    double *to;
  } values[] = {{"sigma", "", &from->sigma, &out->sigma},
                {"noise", from->order == 2 && !oscillates ? "/s^1.5" : "/s^0.5", &from->noise, &out->noise},
                {"signal_period", "", &from->signal_period, &out->signal_period},
                {"least", "", &from->least, &out->least},
                {"most", "", &from->most, &out->most}};
  const int limited = from->least.text || from->most.text;
  if (limited) {
    out->least = -HUGE_VAL; /* those not given are open */
    out->most = HUGE_VAL;
  }
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    char expected[128];
    if (!values[i].from->text) continue;
    snprintf(expected, sizeof expected, "%s%s", unit, values[i].per);
    const bramah_status status = bramah__study_value_get(values[i].from, expected, values[i].to, diag);
    if (status) return place_value(diag, status, study, from, values[i].from, values[i].key);
  }

  /* The estimate starts between its limits. */
  if (!limited || (out->least < out->most && out->least <= start && start <= out->most)) return BRAMAH_OK;
  if (out->least < out->most)
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "the estimate starts at %.6g %s, outside these limits",
                  start, unit);
  else
    bramah__fail(diag, BRAMAH_E_VALUE, NULL, "'least' must lie below 'most'");
  return from->least.text ? place_value(diag, BRAMAH_E_VALUE, study, from, &from->least, "least")
                          : place_value(diag, BRAMAH_E_VALUE, study, from, &from->most, "most");
}

/* The sensor of a bias or gain must be bound. */
static bramah_status bind_augmented(bramah_session *session, size_t i, const bramah_sensor *biased,
                                    bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const bramah_study_augmented *from = &study->augmented[i];
  bramah_augmented out = {.name = from->name,
                          .kind = from->kind,
                          .at = from->at,
                          .order = from->order,
                          .time_constant = from->time_constant,
                          .frequency = from->frequency};
  bramah_parameter_info info = {.unit = from->kind == BRAMAH_AUGMENTED_GAIN ? "1"
                                        : biased                            ? biased->unit
                                                                            : NULL};
  double start = 0.0;
  bramah_diag_clear(diag);
  if (!biased) {
    size_t p;
    const bramah_status status = bramah_plant_parameter_index(plant, from->at, &p, diag);
    if (status)
      return place(diag, status, study, from->at_line, 0, from->input ? "inputs" : "augmented",
                   from->input ? from->input : from->name, from->input ? "unknown" : "parameter");
    plant->parameter_info(plant->self, p, &info);
    start = plant->parameter(plant->self, p);
  }
  const bramah_status status = take_values(from, study, info.unit, start, &out, diag);
  if (status) return status;
  session->augmented.states[i] = out;
  session->augmented.unit[i] = info.unit;
  return BRAMAH_OK;
}

static bramah_status bind_parameter_noise(bramah_session *session, size_t i, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const bramah_study_parameter_noise *from = &study->parameter_noise[i];
  bramah__bound_augmented *augmented = &session->augmented;
  bramah_parameter_info info;
  char expected[128];
  size_t p;
  bramah_diag_clear(diag);
  bramah_status status = bramah_plant_parameter_index(plant, from->at, &p, diag);
  if (status) return place(diag, status, study, from->line, 0, "parameter_noise", from->at, "");
  plant->parameter_info(plant->self, p, &info);
  snprintf(expected, sizeof expected, "%s/Hz^0.5", info.unit);
  augmented->noise[i].at = from->at;
  augmented->noise_unit[i] = info.unit;
  status = bramah__study_value_get(&from->density, expected, &augmented->noise[i].density, diag);
  if (!status) return BRAMAH_OK;
  return place(diag, status, study, from->density.line, from->density.column, "parameter_noise", from->at,
               "");
}

/* ---- start values ---- */

bramah_status bramah__session_make_room(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  bramah__start_values *s = &session->start;
  bramah__bound_augmented *a = &session->augmented;
  const size_t n = session->machine.plant.n_dof, np = session->machine.plant.n_first_order;
  const size_t n_budget =
      study->uncertainty.is_on ? session->machine.plant.n_parameter + 3 * study->n_sensors : 0;
  size_t n_letters = 1;
  for (size_t i = 0; i < study->n_sensors; i++)
    n_letters += 3 * (strlen(study->sensors[i].name) + sizeof ".delay");
  session->sensors = calloc(study->n_sensors + 1, sizeof *session->sensors);
  s->joints = calloc(2 * n + 1, sizeof *s->joints);
  s->position = calloc(5 * n + 3 * np + 1, sizeof *s->position);
  a->states = calloc(study->n_augmented + n_budget + 1, sizeof *a->states);
  a->unit = calloc(study->n_augmented + n_budget + 1, sizeof *a->unit);
  a->is_stated = calloc(n_budget + 1, sizeof *a->is_stated);
  a->names = calloc(n_letters, 1);
  a->noise = calloc(study->n_parameter_noise + 1, sizeof *a->noise);
  a->noise_unit = calloc(study->n_parameter_noise + 1, sizeof *a->noise_unit);
  if (!session->sensors || !s->joints || !s->position || !a->states || !a->unit || !a->is_stated ||
      !a->names || !a->noise || !a->noise_unit)
    return bramah__fail_memory(diag);
  s->basis = s->joints + n;
  s->rate = s->position + n;
  s->position_sigma = s->rate + n;
  s->rate_sigma = s->position_sigma + n;
  s->acceleration_noise = s->rate_sigma + n;
  s->pressure = s->acceleration_noise + n;
  s->pressure_sigma = s->pressure + np;
  s->pressure_noise = s->pressure_sigma + np;
  return BRAMAH_OK;
}

/* Joint i starts as the study or else the plant has it, whose output tells its position and the next one its rate. */
static void start_joint(bramah__start_values *s, const bramah_plant *plant, size_t i,
                        const bramah_joint_start *from, size_t output)
{
  s->basis[i] = output;
  s->position[i] = from->has_position ? from->position : plant->output(plant->self, output);
  s->rate[i] = from->has_rate ? from->rate : plant->output(plant->self, output + 1);
  s->position_sigma[i] = from->position_sigma;
  s->rate_sigma[i] = from->rate_sigma;
  s->acceleration_noise[i] = from->acceleration_noise;
}

/* Of an FMU: positions in their order, each with its rate behind it among the outputs, and first-order states. */
static bramah_status start_fmu(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah__start_values *s = &session->start;
  for (size_t i = 0; i < plant->n_dof; i++) start_joint(s, plant, i, &study->joints[i], 2 * i);
  for (size_t i = 0; i < plant->n_first_order; i++) {
    const bramah_study_state *from = &study->plant.states[i];
    bramah_state_info info;
    char density[64];
    bramah_plant_state_info(plant, 2 * plant->n_dof + i, &info);
    snprintf(density, sizeof density, "%s/s^0.5", info.unit);
    s->pressure[i] = plant->output(plant->self, 2 * plant->n_dof + i);
    const struct {
      const char *key, *unit;
      const bramah_study_value *from;
      double *to;
    } values[] = {{"start", info.unit, &from->start, &s->pressure[i]},
                  {"sigma", info.unit, &from->sigma, &s->pressure_sigma[i]},
                  {"noise", density, &from->noise, &s->pressure_noise[i]}};
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
      if (!values[k].from->text) continue;
      const bramah_status status =
          bramah__study_value_get(values[k].from, values[k].unit, values[k].to, diag);
      if (status)
        return place(diag, status, study, values[k].from->line, values[k].from->column, "plant.states",
                     from->name, values[k].key);
    }
  }
  return BRAMAH_OK;
}

bramah_status bramah__session_find_joints(bramah_session *session, bramah_diag *diag)
{
  if (session->machine.fmu) return start_fmu(session, diag);
  const bramah_study *study = session->study;
  const bramah_model_info info = bramah_model_get_info(session->machine.model);
  const bramah_plant *plant = &session->machine.plant;
  bramah__start_values *s = &session->start;
  for (size_t i = 0; i < study->n_joints && i < plant->n_dof; i++) {
    const bramah_joint_start *from = &study->joints[i];
    const bramah_status status = find_name(study, "joint", info.n_joints, info.joint_names, from->joint,
                                           from->line, &s->joints[i], diag);
    if (status) return status;
    const int revolute = info.joint_turns[s->joints[i]];
    if (revolute == from->slides)
      return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->joint,
                           revolute ? "this joint turns: its values need units of angle (deg, rad)"
                                    : "this joint slides: its values need units of length (m, mm)");
    char name[256];
    snprintf(name, sizeof name, "%s.%s", from->joint, revolute ? "angle" : "position");
    const long output = bramah_plant_find_output(plant, name);
    if (output < 0)
      return bramah__failf(diag, BRAMAH_E_REFERENCE, study->file, from->line, name, "no such output");
    start_joint(s, plant, i, from, (size_t)output);
  }

  /* As many joints as degrees of freedom; else say which would do. */
  if (study->n_joints == info.n_dof) return BRAMAH_OK;
  bramah__failf(diag, BRAMAH_E_VALUE, study->file, study->n_joints ? study->joints[0].line : 0, "joints",
                "start values of %zu joints are given, but the machine has %zu degree%s of freedom; "
                "independent at the start:",
                study->n_joints, info.n_dof, info.n_dof == 1 ? "" : "s");
  for (size_t i = 0; i < info.n_dof; i++) {
    bramah__add_text(diag, i ? ", " : " ");
    bramah__add_text(diag, info.joint_names[info.independent_joints[i]]);
  }
  return BRAMAH_E_VALUE;
}

/* Those of the first-order states from `first` on, in which the names of a contact's are "NAME.bristle...". */
static bramah_status start_bristles(bramah_session *session, size_t first, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah__start_values *s = &session->start;
  for (size_t v = first; v < plant->n_first_order; v++) {
    bramah_state_info state;
    bramah_plant_state_info(plant, 2 * plant->n_dof + v, &state);
    const size_t length = (size_t)(strrchr(state.name, '.') - state.name);
    const bramah_contact_start *from = study->contacts;
    while (strlen(from->contact) != length || strncmp(from->contact, state.name, length) != 0) from++;
    const int turns = strcmp(state.unit, "rad") == 0;
    if ((from->sigma > 0.0 || from->has_noise) && from->turns != turns)
      return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, "contacts", "'%s' %s", from->contact,
                           turns
                               ? "is a brake, whose bristles bend by an angle: rad and rad/s^0.5 are expected"
                               : "has bristles that bend by a length: m and m/s^0.5 are expected");
    s->pressure_sigma[v] = from->sigma > 0.0 ? from->sigma : 0.1 * state.scale;
    s->pressure_noise[v] = from->has_noise ? from->noise : 0.01 * state.scale;
  }
  return BRAMAH_OK;
}

bramah_status bramah__session_find_volumes(bramah_session *session, bramah_diag *diag)
{
  if (session->machine.fmu) return BRAMAH_OK;
  const bramah_study *study = session->study;
  const bramah_model_info info = bramah_model_get_info(session->machine.model);
  const bramah_plant *plant = &session->machine.plant;
  bramah__start_values *s = &session->start;
  for (size_t i = 0; i < study->n_volumes; i++) {
    const bramah_volume_start *from = &study->volumes[i];
    size_t v = 0;
    const bramah_status status =
        find_name(study, "volume", info.n_volumes, info.volume_names, from->volume, from->line, &v, diag);
    if (status) return status;
    bramah_state_info state;
    bramah_plant_state_info(plant, 2 * plant->n_dof + v, &state);
    if (from->flow_unit != (strcmp(state.unit, "m^3/s") == 0) || (from->flow_unit && from->has_pressure))
      return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, "volumes", "'%s'%s", from->volume,
                           from->flow_unit ? " has a pressure for a state: Pa and Pa/s^0.5 are expected"
                                           : " has a flow for a state: m^3/s and m^3/s^1.5");
    s->pressure[v] = from->has_pressure ? from->pressure : info.initial_pressures[v];
    s->pressure_sigma[v] = from->sigma;
    s->pressure_noise[v] = from->noise;
  }
  const bramah_machine *machine = session->machine.machine;
  for (size_t i = 0; i < machine->n_load_sensing_pumps;
       i++) { /* where nothing is said: a tenth of the full flow */
    const size_t v = machine->n_volumes + machine->n_lines + i;
    bramah_state_info state;
    bramah_plant_state_info(plant, 2 * plant->n_dof + v, &state);
    if (s->pressure_sigma[v] > 0.0) continue;
    s->pressure[v] = info.initial_pressures[v];
    s->pressure_sigma[v] = s->pressure_noise[v] = 0.1 * state.scale;
  }
  const bramah_status bristles = start_bristles(session, info.n_volumes, diag);
  if (bristles) return bristles;
  for (size_t v = 0; v < info.n_volumes; v++)
    if (!(s->pressure_sigma[v] > 0.0))
      return bramah__failf(diag, BRAMAH_E_KEY, study->file, study->n_volumes ? study->volumes[0].line : 0,
                           "volumes", "volume '%s' of the machine is missing here: give its sigma and noise",
                           info.volume_names[v]);
  return BRAMAH_OK;
}

bramah_status bramah_session_start(const bramah_session *session, bramah_coupled *coupled, bramah_diag *diag)
{
  const bramah__start_values *s = &session->start;
  const bramah_study *study = session->study;
  bramah_diag_clear(diag);
  bramah_status status = bramah__refuse_fmu(study, "a coupled plant", diag);
  if (status) return status;
  status = bramah_coupled_start(coupled, study->n_joints, s->joints, s->position, s->rate, s->pressure, diag);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  if (!status) status = bramah__session_apply_hypothesis(session, &plant, diag);
  return in_file(diag, status, study->file, study->n_joints ? study->joints[0].line : 0);
}

/* Put the plant at the start. */
static bramah_status put(const bramah_session *session, const bramah_another_plant *at, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  if (at->coupled) return bramah_session_start(session, at->coupled, diag);
  const size_t nf = at->plant.n_dof, np = at->plant.n_first_order;
  double *x = calloc(2 * nf + np + 1, sizeof *x);
  if (!x) return bramah__fail_memory(diag);
  memcpy(x, session->start.position, nf * sizeof *x);
  memcpy(x + nf, session->start.rate, nf * sizeof *x);
  memcpy(x + 2 * nf, session->start.pressure, np * sizeof *x);
  bramah_status status = bramah_fmu_plant_start(at->instance, x, diag);
  if (!status) status = bramah__session_apply_hypothesis(session, &at->plant, diag);
  free(x);
  return in_file(diag, status, study->file, study->plant.line);
}

bramah_status bramah__machine_another(const bramah_machine_plant *machine, bramah_diag *diag,
                                      bramah_another_plant *out)
{
  *out = (bramah_another_plant){0};
  const bramah_status status = machine->fmu ? bramah_fmu_plant_new(machine->fmu, diag, &out->instance)
                                            : bramah_machine_plant_another(machine, diag, &out->coupled);
  if (!status)
    out->plant = machine->fmu ? bramah_fmu_plant_table(out->instance) : bramah_coupled_plant(out->coupled);
  return status;
}

bramah_status bramah_session_another(const bramah_session *session, bramah_diag *diag,
                                     bramah_another_plant *out)
{
  bramah_status status = bramah__machine_another(&session->machine, diag, out);
  if (!status) status = put(session, out, diag);
  if (!status && out->coupled)
    bramah_coupled_set_injection(out->coupled, (bramah_injection)session->study->injection);
  if (status) bramah_another_plant_free(out);
  return status;
}

void bramah_another_plant_free(bramah_another_plant *other)
{
  bramah_coupled_free(other->coupled);
  bramah_fmu_plant_free(other->instance);
  *other = (bramah_another_plant){0};
}

/* ---- filter ---- */

/* What the user sees, and the filter, on a plant at the start. */
static bramah_status open_filter(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah__start_values *s = &session->start;
  const bramah_machine *m = session->machine.machine;

  /* An unknown command stays just inside the limit of its valves: at the limit itself it would act on nothing,
   * and the filter could not take it back. */
  for (size_t i = 0; i < study->n_unknown_inputs; i++) {
    bramah_augmented *state = &session->augmented.states[i];
    if (state->least != 0.0 || state->most != 0.0) continue;
    state->most = 0.9999 * bramah__input_reach_of(m, study->augmented[i].input).limit;
    state->least = -state->most;
  }

  session->parts =
      (bramah_session_parts){.study = study,
                             .machine = &session->machine,
                             .sensors = session->sensors,
                             .options = {.transition = study->transition,
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
                                         .n_augmented = study->n_augmented + session->augmented.n_budget,
                                         .augmented = session->augmented.states,
                                         .n_parameter_noise = study->n_parameter_noise,
                                         .parameter_noise = session->augmented.noise,
                                         .n_phases = study->n_phases,
                                         .phases = session->phases.phases},
                             .joint_output = s->basis,
                             .joint_start = s->position,
                             .joint_start_rate = s->rate,
                             .augmented_unit = session->augmented.unit,
                             .n_budget = session->augmented.n_budget,
                             .is_stated = session->augmented.is_stated,
                             .noise_unit = session->augmented.noise_unit};
  const bramah_another_plant own = {session->machine.plant, session->machine.coupled,
                                    session->machine.instance};
  bramah_status status = put(session, &own, diag);
  if (!status)
    status = bramah_filter_new(&session->machine.plant, study->n_sensors, session->sensors,
                               &session->parts.options, diag, &session->filter);
  if (own.coupled) bramah_coupled_set_injection(own.coupled, (bramah_injection)study->injection);
  return in_file(diag, status, study->file, 0);
}

/* ---- opening and closing ---- */

/* Who hears of every mistake. */
typedef struct checking {
  bramah_mistake tell;
  void *user;
  bramah_status first;
} checking;

static void hear(void *user, const bramah_diag *diag)
{
  checking *c = user;
  if (!c->first) c->first = diag->status;
  c->tell(c->user, diag);
}

/* Tell the mistake and go on; c NULL: the first one ends it. */
static bramah_status go_on(checking *c, bramah_status status, const bramah_diag *diag)
{
  if (!status || !c) return status;
  hear(c, diag);
  return BRAMAH_OK;
}

/* Does the unit of sigma, where no type of sensor says it, go with what is measured? */
static bramah_status check_measured(const bramah_study_column *column, const bramah_sensor *sensor,
                                    bramah_diag *diag)
{
  bramah_dimension given, wanted;
  double factor;
  if (!column->measured) return BRAMAH_OK;
  if (bramah_unit_parse(column->measured, &factor, &given, NULL) == BRAMAH_OK &&
      bramah_unit_parse(sensor->unit, &factor, &wanted, NULL) == BRAMAH_OK &&
      bramah__same_dimension(given, wanted))
    return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_UNIT, NULL, 0, sensor->name, "its output is in %s, its sigma in %s",
                       sensor->unit, column->measured);
}

/* Everything between machine and filter. */
static bramah_status bind(bramah_session *session, checking *c, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  bramah_status status = bramah__session_make_room(session, diag);

  for (size_t i = 0; !status && i < study->n_sensors; i++) {
    bramah_diag_clear(diag);
    status = bramah_sensor_init(&study->sensors[i], &session->machine.plant, diag, &session->sensors[i]);
    if (!status) status = check_measured(&study->sensor_columns[i], &session->sensors[i], diag);
    status = go_on(c, in_file(diag, status, study->file, study->sensors[i].line), diag);
  }

  /* The unit of a bias is known only if its sensor is right. */
  for (size_t i = 0; !status && i < study->n_augmented; i++) {
    const bramah_study_augmented *from = &study->augmented[i];
    const bramah_sensor *biased = NULL;
    for (size_t k = 0; from->kind != BRAMAH_AUGMENTED_PARAMETER && !biased && k < study->n_sensors; k++)
      if (strcmp(study->sensors[k].name, from->at) == 0) biased = &session->sensors[k];
    if (!biased || biased->unit) status = go_on(c, bind_augmented(session, i, biased, diag), diag);
  }
  if (!status) status = go_on(c, bramah__session_take_hypotheses(session, diag), diag);
  if (!status) status = go_on(c, bramah__session_take_budget(session, diag), diag);
  for (size_t i = 0; !status && i < study->n_parameter_noise; i++)
    status = go_on(c, bind_parameter_noise(session, i, diag), diag);

  if (!status) status = go_on(c, bramah__session_take_phases(session, diag), diag);

  if (!status) status = go_on(c, bramah__session_find_joints(session, diag), diag);
  if (!status) status = go_on(c, bramah__session_find_volumes(session, diag), diag);
  return status;
}

bramah_status bramah__session_open_on_machine(bramah_session *session, bramah_diag *diag)
{
  const bramah_status status = bind(session, NULL, diag);
  return status ? status : open_filter(session, diag);
}

/* For what the filter asks of the plant. */
static bramah_status compile(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah__bound_augmented *a = &session->augmented;
  const size_t n_states = study->n_augmented + a->n_budget;
  size_t n = 0, *par = calloc(n_states + study->n_parameter_noise + 1, sizeof *par);
  if (!par) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n_states + study->n_parameter_noise; i++) {
    const int is_state = i < n_states;
    if (is_state && a->states[i].kind != BRAMAH_AUGMENTED_PARAMETER) continue;
    const char *name = is_state ? a->states[i].at : a->noise[i - n_states].at;
    n += bramah_plant_parameter_index(&session->machine.plant, name, &par[n], NULL) == BRAMAH_OK;
  }
  const bramah_status status = bramah_machine_plant_compile(
      &session->machine, n ? BRAMAH_PROGRAM_PARAMETERS : BRAMAH_PROGRAM_DERIVATIVES, n, par, diag);
  free(par);
  return status;
}

static bramah_status open_study(bramah_session *session, checking *c, bramah_diag *diag)
{
  bramah_study *study = session->study;
  bramah_status status = open_machine(&session->machine, study->machine_file, study->n_changes,
                                      study->changes, session->step_ns, study, diag);
  if (!status) status = go_on(c, bramah__study_check_inputs(study, &session->machine.plant, diag), diag);
  if (!status) status = bind(session, c, diag);
  if (status || (c && c->first)) return status;
  status = compile(session, diag);
  return status ? status : open_filter(session, diag);
}

bramah_status bramah__session_open_study(bramah_session *session, bramah_diag *diag)
{
  return open_study(session, NULL, diag);
}

bramah_status bramah_session_new(bramah_study *study, int64_t step_ns, bramah_diag *diag,
                                 bramah_session **out)
{
  *out = NULL;
  bramah_session *session = calloc(1, sizeof *session);
  if (!session) {
    bramah_study_free(study);
    return bramah__fail_memory(diag);
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
  const bramah_status status = bramah_study_load(path, 0, NULL, diag, &study);
  return status ? in_file(diag, status, path, 0) : bramah_session_new(study, 0, diag, out);
}

/* holds: as in the session. */
static bramah_status make_clone(const bramah_session *session, size_t holds, bramah_diag *diag,
                                bramah_session **out)
{
  *out = NULL;
  bramah_session *clone = malloc(sizeof *clone);
  if (!clone) return bramah__fail_memory(diag);
  *clone = *session;
  clone->shares = session;
  clone->holds = holds;
  clone->filter = NULL;
  bramah_another_plant other;
  bramah_status status = bramah__machine_another(&session->machine, diag, &other);
  clone->machine.coupled = other.coupled;
  clone->machine.instance = other.instance;
  clone->machine.plant = other.plant;
  if (!status) status = open_filter(clone, diag);
  if (status)
    bramah_session_close(clone);
  else
    *out = clone;
  return status;
}

bramah_status bramah_session_clone(const bramah_session *session, bramah_diag *diag, bramah_session **out)
{
  return make_clone(session, session->holds, diag, out);
}

bramah_status bramah_session_of_hypothesis(const bramah_session *session, size_t k, bramah_diag *diag,
                                           bramah_session **out)
{
  *out = NULL;
  if (k < session->study->hypotheses.n) return make_clone(session, k + 1, diag, out);
  return bramah__fail(diag, BRAMAH_E_ARGUMENT, "session", "the study has no hypothesis of this number");
}

void bramah_session_close(bramah_session *session)
{
  if (!session) return;
  bramah_filter_free(session->filter);
  if (session->shares) {
    bramah_coupled_free(session->machine.coupled);
    bramah_fmu_plant_free(session->machine.instance);
  } else {
    free(session->sensors);
    free(session->augmented.states);
    free(session->augmented.unit);
    free(session->augmented.is_stated);
    free(session->augmented.names);
    free(session->augmented.noise);
    free(session->augmented.noise_unit);
    free(session->phases.phases);
    free(session->phases.conditions);
    free(session->phases.processes);
    free(session->fixed);
    free(session->start.joints);
    free(session->start.position);
    bramah_machine_plant_close(&session->machine);
    bramah_study_free(session->study);
  }
  free(session);
}

/* ---- its parts ---- */

const bramah_session_parts *bramah_session_about(const bramah_session *session) { return &session->parts; }
const bramah_study *bramah_session_study(const bramah_session *session) { return session->study; }
const bramah_plant *bramah_session_plant(const bramah_session *session) { return &session->machine.plant; }
bramah_filter *bramah_session_filter(const bramah_session *session) { return session->filter; }

long bramah__session_sensor_of_output(const bramah_session *session, size_t output)
{
  for (size_t i = 0; i < session->study->n_sensors; i++) {
    const bramah_sensor *sensor = &session->sensors[i];
    if (sensor->shape == BRAMAH_SENSOR_SUM && sensor->n_terms == 1 && sensor->output[0] == output &&
        sensor->weight[0] == 1.0)
      return (long)i;
  }
  return -1;
}

/* ---- adaptive noise ---- */

/* Limits of n values: the factors times what is stated. `out`: least [n], most [n]. */
static void take_limits(const double factor[2], size_t n, const double *stated, double *out)
{
  for (size_t i = 0; i < n; i++) {
    out[i] = factor[0] * stated[i];
    out[n + i] = factor[1] * stated[i];
  }
}

bramah_status bramah_session_new_adaptive(const bramah_session *session, bramah_diag *diag,
                                          bramah_adaptive **out)
{
  const bramah_study_adapt *from = &session->study->adapt;
  const bramah_filter *filter = session->filter;
  const size_t nf = session->machine.plant.n_dof, np = session->machine.plant.n_first_order;
  const size_t ns = session->study->n_sensors;
  *out = NULL;
  if (!from->line) return BRAMAH_OK;
  bramah_diag_clear(diag);
  double *acceleration = calloc(2 * (nf + np) + 3 * ns + 1, sizeof *acceleration);
  if (!acceleration) return bramah__fail_memory(diag);
  double *pressure = acceleration + 2 * nf, *sensor = pressure + 2 * np, *sigma = sensor + 2 * ns;
  for (size_t i = 0; i < ns; i++) sigma[i] = bramah_filter_get_info(filter).sensor[i].sigma;
  take_limits(from->accelerations, nf, bramah_filter_get_info(filter).acceleration_noise, acceleration);
  take_limits(from->pressures, np, bramah_filter_get_info(filter).first_order_noise, pressure);
  take_limits(from->sensors, ns, sigma, sensor);

  bramah_adaptive_options options;
  bramah_adaptive_options_default(&options);
  options.method = (bramah_adaptive_method)from->method;
  options.window = (size_t)from->window;
  options.acceleration_least = acceleration, options.acceleration_most = acceleration + nf;
  options.first_order_least = pressure, options.first_order_most = pressure + np;
  options.sensor_least = sensor, options.sensor_most = sensor + ns;
  const bramah_status status = bramah_adaptive_new(session->filter, &options, diag, out);
  free(acceleration);
  return in_file(diag, status, session->study->file, from->line);
}

/* ---- every mistake ---- */

/* Beyond that the readers refuse a description; some files never end. */
enum { LONGEST_LOOK = 1 << 24 };

/* A study has the key `study`, a plan `plan`, a work file `work`; everything else is taken for a machine, whose reader finds the
 * words for it. The keys are looked for in the text, which may be no YAML. */
static int has_key(const char *path, const char *key)
{
  char line[256];
  long pieces = LONGEST_LOOK / (long)sizeof line;
  const size_t n = strlen(key);
  int found = 0, begin = 1; /* of a line */
  struct stat about;        /* a pipe could not be read a second time */
  FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "r") : NULL;
  if (!file) return 0;
  while (!found && pieces-- > 0 && fgets(line, sizeof line, file)) {
    const char *word = line + (*line == '"' || *line == '\'');
    found = begin && strncmp(word, key, n) == 0 && word[n + strspn(word + n, "\"' \t")] == ':';
    begin = strchr(line, '\n') != NULL;
  }
  fclose(file);
  return found;
}

bramah_file_kind bramah_file_kind_of(const char *path)
{
  return has_key(path, "study")     ? BRAMAH_FILE_STUDY
         : has_key(path, "plan")    ? BRAMAH_FILE_PLAN
         : has_key(path, "work")    ? BRAMAH_FILE_WORK
         : has_key(path, "display") ? BRAMAH_FILE_DISPLAY
                                    : BRAMAH_FILE_MACHINE;
}

bramah_status bramah_file_check(const char *path, bramah_mistake tell, void *user, bramah_file_kind *kind)
{
  checking c = {.tell = tell, .user = user};
  const bramah_file_kind is = bramah_file_kind_of(path);
  bramah_diag diag;
  if (kind) *kind = is;
  static const bramah__file_of *const others[] = {[BRAMAH_FILE_PLAN] = &bramah__plan_file,
                                                  [BRAMAH_FILE_WORK] = &bramah__work_file,
                                                  [BRAMAH_FILE_DISPLAY] = &bramah__display_file};
  void *object = NULL;
  if (others[is]) bramah__read_file_of(path, others[is], hear, &c, &diag, &object);
  bramah__file_free(object);
  if (is == BRAMAH_FILE_MACHINE) bramah__machine_check(path, 0, NULL, hear, &c);
  if (is != BRAMAH_FILE_STUDY) return c.first;

  /* The study by itself, its machine by itself, and only then both together. */
  bramah_session *session = calloc(1, sizeof *session);
  if (!session) {
    go_on(&c, bramah__fail_memory(&diag), &diag);
    return c.first;
  }
  bramah__study_check(path, hear, &c);
  if (!c.first) go_on(&c, bramah_study_load(path, 0, NULL, &diag, &session->study), &diag);
  const bramah_study *study = session->study;
  if (study && !study->plant.line)
    bramah__machine_check(study->machine_file, study->n_changes, study->changes, hear, &c);
  if (!c.first && study && study->n_simulated)
    bramah__machine_check(study->machine_file, study->n_simulated, study->simulated, hear, &c);
  if (!c.first) go_on(&c, open_study(session, &c, &diag), &diag);
  bramah_session_close(session);
  return c.first;
}
