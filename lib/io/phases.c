/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Phases of a study: their outputs, sensors and augmented states found in the machine and the study. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/io/study_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The place of a mistake: "phases.digging.begin.bucket_height". */
static bramah_status place(const bramah_study *study, const bramah_study_phase *phase, const char *section,
                           const char *name, int line, int column, bramah_status status, bramah_diag *diag)
{
  if (!status || !diag) return status;
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  snprintf(diag->thing, sizeof diag->thing, "phases.%s.%s.%s", phase->name, section, name);
  diag->line = line;
  diag->column = column;
  return status;
}

static bramah_status no_such(const char *what, const char *name, size_t n, const char *const *names,
                             const char *listing, bramah_diag *diag)
{
  bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, NULL, "there is no %s '%s'", what, name);
  bramah__add_suggestion(diag, name, n, names, listing);
  return BRAMAH_E_REFERENCE;
}

static bramah_status find_output(const bramah_plant *plant, const char *name, size_t *out, bramah_diag *diag)
{
  const long found = bramah_plant_find_output(plant, name);
  if (found >= 0) return *out = (size_t)found, BRAMAH_OK;
  const char **names = calloc(plant->n_output + 1, sizeof *names);
  for (size_t i = 0; names && i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    names[i] = info.name;
  }
  no_such("output", name, names ? plant->n_output : 0, names, "", diag);
  free(names);
  return BRAMAH_E_REFERENCE;
}

static bramah_status find_sensor(const bramah_study *study, const char *name, size_t *out, bramah_diag *diag)
{
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; i < study->n_sensors; i++) {
    if (strcmp(study->sensors[i].name, name) == 0) return *out = i, BRAMAH_OK;
    if (n < sizeof names / sizeof names[0]) names[n++] = study->sensors[i].name;
  }
  return no_such("sensor", name, n, names, "; there are ", diag);
}

static bramah_status bind_condition(const bramah_session *session, const bramah_study_phase *phase,
                                    const char *section, const bramah_study_condition *from,
                                    bramah_condition *out, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const bramah_study_value *values[2] = {&from->above, &from->below};
  bramah_output_info info;
  bramah_status status;
  *out = (bramah_condition){BRAMAH_CONDITION_OUTPUT, 0, -HUGE_VAL, HUGE_VAL};
  if (from->within > 0.0) {
    out->kind = BRAMAH_CONDITION_SAMPLE;
    out->most = from->within;
    status = find_sensor(study, from->name, &out->at, diag);
    return place(study, phase, section, from->name, from->line, 0, status, diag);
  }
  status = find_output(plant, from->name, &out->at, diag);
  if (status) return place(study, phase, section, from->name, from->line, 0, status, diag);
  bramah_plant_output_info(plant, out->at, &info);
  for (int k = 0; k < 2; k++) {
    if (!values[k]->text) continue;
    status = bramah__study_value_get(values[k], info.unit, k ? &out->most : &out->least, diag);
    if (status)
      return place(study, phase, section, from->name, values[k]->line, values[k]->column, status, diag);
  }
  if (out->least <= out->most) return BRAMAH_OK;
  status = bramah__fail(diag, BRAMAH_E_VALUE, NULL, "nothing is above the one and below the other value");
  return place(study, phase, section, from->name, from->line, 0, status, diag);
}

static bramah_status bind_process(const bramah_session *session, const bramah_study_phase *phase,
                                  const bramah_study_phase_process *from, bramah_phase_process *out,
                                  bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const char *names[64];
  size_t i = 0, n = 0;
  for (; i < study->n_augmented && strcmp(study->augmented[i].name, from->name) != 0; i++)
    if (n < sizeof names / sizeof names[0]) names[n++] = study->augmented[i].name;
  if (i == study->n_augmented)
    return place(study, phase, "augmented", from->name, from->line, 0,
                 no_such("augmented state", from->name, n, names, "; there are ", diag), diag);
  const bramah_study_augmented *of = &study->augmented[i];
  char expected[128];
  *out = (bramah_phase_process){BRAMAH_PHASE_AUGMENTED, i, 0.0, from->time_constant};
  snprintf(expected, sizeof expected, "%s%s", session->augmented.unit[i],
           of->order == 2 ? "/s^1.5" : "/s^0.5");
  bramah_status status = BRAMAH_OK;
  if (of->frequency > 0.0 || of->signal_period.text)
    status = bramah__fail(diag, BRAMAH_E_VALUE, NULL, "an oscillation does not go with phases");
  if (!status) status = bramah__study_value_get(&from->noise, expected, &out->noise, diag);
  return place(study, phase, "augmented", from->name, from->noise.line, from->noise.column, status, diag);
}

/* A section of a phase that gives noise to states of the plant, and what it names. */
typedef struct noise_section {
  const char *name, *what;
  bramah_phase_kind kind;
} noise_section;

static const noise_section joints = {"joints", "joint", BRAMAH_PHASE_ACCELERATION},
                           volumes = {"volumes", "volume", BRAMAH_PHASE_FIRST_ORDER},
                           contacts = {"contacts", "contact", BRAMAH_PHASE_FIRST_ORDER};

static bramah_status no_such_start(const bramah_study *study, const noise_section *section, const char *name,
                                   bramah_diag *diag)
{
  const char *names[64];
  size_t n = section == &joints    ? study->n_joints
             : section == &volumes ? study->n_volumes
                                   : study->n_contacts;
  if (n > sizeof names / sizeof *names) n = sizeof names / sizeof *names;
  for (size_t i = 0; i < n; i++)
    names[i] = section == &joints    ? study->joints[i].joint
               : section == &volumes ? study->volumes[i].volume
                                     : study->contacts[i].contact;
  return no_such(section->what, name, n, names, " with a noise in the study; there are ", diag);
}

/* Of a joint, or of all first-order states of a volume or contact: "V1.pressure", "wheel.bristle_x_1". *out goes on behind them. */
static bramah_status bind_noise(const bramah_session *session, const bramah_study_phase *phase,
                                const noise_section *section, const bramah_study_phase_process *from,
                                bramah_phase_process **out, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const int of_joint = section == &joints;
  const size_t length = strlen(from->name),
               n_joints = study->n_joints < plant->n_dof ? study->n_joints : plant->n_dof,
               n = of_joint ? n_joints : plant->n_first_order;
  const bramah_phase_process *const before = *out;
  bramah_status status = BRAMAH_OK;
  if (study->adapt.line)
    status = bramah__fail(diag, BRAMAH_E_VALUE, NULL, "phases do not set noise that adapts ('adapt')");
  for (size_t i = 0; i < n && !status; i++) {
    bramah_state_info state;
    char expected[64];
    bramah_plant_state_info(plant, (of_joint ? 0 : 2 * plant->n_dof) + i, &state);
    const char *const name = of_joint ? study->joints[i].joint : state.name;
    const char *const end = of_joint ? NULL : strrchr(name, '.');
    if (strncmp(name, from->name, length) != 0 || (name[length] && name + length != end)) continue;
    if (of_joint)
      snprintf(expected, sizeof expected, "%s/s^2/Hz^0.5", study->joints[i].slides ? "m" : "rad");
    else
      snprintf(expected, sizeof expected, "%s/s^0.5", state.unit);
    **out = (bramah_phase_process){section->kind, i, 0.0, 0.0};
    status = bramah__study_value_get(&from->noise, expected, &(*out)++->noise, diag);
  }
  if (status)
    return place(study, phase, section->name, from->name, from->noise.line, from->noise.column, status, diag);
  if (*out != before) return BRAMAH_OK;
  status = no_such_start(study, section, from->name, diag);
  return place(study, phase, section->name, from->name, from->line, 0, status, diag);
}

static bramah_status bind_noises(const bramah_session *session, const bramah_study_phase *phase,
                                 bramah_phase_process **out, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < phase->n_augmented; k++)
    status = bind_process(session, phase, &phase->augmented[k], (*out)++, diag);
  for (size_t k = 0; !status && k < phase->n_joints; k++)
    status = bind_noise(session, phase, &joints, &phase->joints[k], out, diag);
  for (size_t k = 0; !status && k < phase->n_volumes; k++)
    status = bind_noise(session, phase, &volumes, &phase->volumes[k], out, diag);
  for (size_t k = 0; !status && k < phase->n_contacts; k++)
    status = bind_noise(session, phase, &contacts, &phase->contacts[k], out, diag);
  return status;
}

bramah_status bramah__session_take_phases(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  bramah__bound_phases *to = &session->phases;
  size_t conditions = 0, processes = 0;
  for (size_t i = 0; i < study->n_phases; i++) {
    const bramah_study_phase *p = &study->phases[i];
    conditions += p->n_begin + p->n_end;
    processes +=
        p->n_augmented + p->n_joints + (p->n_volumes + p->n_contacts) * session->machine.plant.n_first_order;
  }
  to->phases = calloc(study->n_phases + 1, sizeof *to->phases);
  to->conditions = calloc(conditions + 1, sizeof *to->conditions);
  to->processes = calloc(processes + 1, sizeof *to->processes);
  if (!to->phases || !to->conditions || !to->processes) return bramah__fail_memory(diag);
  bramah_condition *condition = to->conditions;
  bramah_phase_process *process = to->processes;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  for (size_t i = 0; !status && i < study->n_phases; i++) {
    const bramah_study_phase *from = &study->phases[i];
    bramah_phase *out = &to->phases[i];
    *out = (bramah_phase){from->name, from->n_begin, from->n_end,    condition, condition + from->n_begin,
                          0,          process,       from->off_delay};
    for (size_t k = 0; !status && k < from->n_begin; k++)
      status = bind_condition(session, from, "begin", &from->begin[k], condition++, diag);
    for (size_t k = 0; !status && k < from->n_end; k++)
      status = bind_condition(session, from, "end", &from->end[k], condition++, diag);
    if (!status) status = bind_noises(session, from, &process, diag);
    out->n_processes = (size_t)(process - out->processes);
  }
  return status;
}
