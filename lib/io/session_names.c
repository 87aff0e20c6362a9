/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a study calls by name, found in the machine: joints and volumes with their start values, inputs. */
#include "lib/io/session.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

static bramah_status fail_at(bramah_diag *diag, bramah_status status, const bramah_study *study, int line,
                             const char *thing, const char *message)
{
  bramah__fail(diag, status, thing, message);
  bramah__at(diag, study->file, line, 0);
  return status;
}

static void add_name(bramah_diag *diag, int first, const char *name)
{
  bramah__add_text(diag, first ? " " : ", ");
  bramah__add_text(diag, name);
}

bramah_status bramah__find_model_name(const bramah_study *study, const bramah_model *model, const char *what,
                                      const char *name, int line, bramah__name_of at, size_t *out,
                                      bramah_diag *diag)
{
  const char *names[64];
  size_t n = 0;
  for (size_t i = 0; at(model, i); i++) {
    if (strcmp(at(model, i), name) == 0) return *out = i, BRAMAH_OK;
    if (n < sizeof names / sizeof names[0]) names[n++] = at(model, i);
  }
  const char *nearest = bramah__nearest(name, n, names);
  fail_at(diag, BRAMAH_E_REFERENCE, study, line, name, "the machine has no ");
  bramah__add_text(diag, what);
  bramah__add_text(diag, nearest ? " of this name; did you mean '" : " of this name; it has:");
  if (nearest) {
    bramah__add_text(diag, nearest);
    bramah__add_text(diag, "'?");
  }
  for (size_t i = 0; !nearest && i < n; i++) add_name(diag, i == 0, names[i]);
  return BRAMAH_E_REFERENCE;
}

/* ---- inputs ---- */

const bramah_study_augmented *bramah_study_unknown_input(const bramah_study *study, const char *input)
{
  for (size_t i = 0; study && i < study->n_augmented; i++)
    if (study->augmented[i].input && strcmp(study->augmented[i].input, input) == 0)
      return &study->augmented[i];
  return NULL;
}

size_t bramah_study_n_unknown_inputs(const bramah_study *study)
{
  size_t n = 0;
  while (n < study->n_augmented && study->augmented[n].input) n++;
  return n;
}

static bramah_status check_unknown(const bramah_study *study, const bramah_model *model,
                                   const bramah_study_augmented *unknown, bramah_diag *diag)
{
  size_t index;
  const bramah_status status = bramah__find_model_name(study, model, "input", unknown->input, unknown->line,
                                                       bramah_model_input_name, &index, diag);
  if (status || study->transition == BRAMAH_TRANSITION_STEP) return status;
  return fail_at(diag, BRAMAH_E_VALUE, study, unknown->line, unknown->input,
                 "an unknown input needs 'filter: {transition: step}': by the others an error of the command "
                 "never reaches the pressures");
}

bramah_status bramah_study_check_inputs(const bramah_study *study, const bramah_model *model,
                                        bramah_diag *diag)
{
  for (size_t i = 0; i < study->n_inputs; i++) {
    size_t index;
    const bramah_study_column *input = &study->inputs[i];
    const bramah_status status = bramah__find_model_name(study, model, "input", input->target, input->line,
                                                         bramah_model_input_name, &index, diag);
    if (status) return status;
  }
  for (size_t i = 0; i < bramah_study_n_unknown_inputs(study); i++) {
    const bramah_status status = check_unknown(study, model, &study->augmented[i], diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

/* ---- joints ---- */

/* As many joints as degrees of freedom; says which would do. */
static bramah_status check_count(const bramah_session *session, bramah_diag *diag)
{
  const bramah_model *model = session->machine.model;
  const bramah_study *study = session->study;
  const size_t n = bramah_model_degrees_of_freedom(model);
  char text[160];
  if (study->n_joints == n) return BRAMAH_OK;
  size_t *independent = calloc(n + 1, sizeof *independent);
  if (!independent) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  bramah_model_independent_joints(model, independent);
  snprintf(text, sizeof text,
           "start values of %zu joints are given, but the machine has %zu degree%s of freedom; independent "
           "at the start:",
           study->n_joints, n, n == 1 ? "" : "s");
  fail_at(diag, BRAMAH_E_VALUE, study, study->n_joints ? study->joints[0].line : 0, "joints", text);
  for (size_t i = 0; i < n; i++) add_name(diag, i == 0, bramah_model_joint_name(model, independent[i]));
  free(independent);
  return BRAMAH_E_VALUE;
}

static bramah_status take_joint(bramah_session *session, size_t i, bramah_diag *diag)
{
  const bramah_joint_start *from = &session->study->joints[i];
  const bramah_plant *plant = &session->machine.plant;
  bramah__start_values *s = &session->start;
  const bramah_status status =
      bramah__find_model_name(session->study, session->machine.model, "joint", from->joint, from->line,
                              bramah_model_joint_name, &s->joints[i], diag);
  if (status) return status;
  const int revolute = bramah_model_joint_is_revolute(session->machine.model, s->joints[i]);
  if (revolute != from->revolute_unit)
    return fail_at(diag, BRAMAH_E_UNIT, session->study, from->line, from->joint,
                   revolute ? "this joint turns: its values need units of angle (deg, rad)"
                            : "this joint slides: its values need units of length (m, mm)");
  char name[256];
  snprintf(name, sizeof name, "%s.%s", from->joint, revolute ? "angle" : "position");
  const long output = bramah_plant_find_output(plant, name);
  if (output < 0)
    return fail_at(diag, BRAMAH_E_REFERENCE, session->study, from->line, name, "no such output");
  s->basis[i] = (size_t)output;
  s->position[i] = from->has_position ? from->position : plant->output(plant->self, s->basis[i]);
  s->rate[i] = from->rate;
  s->position_sigma[i] = from->position_sigma;
  s->rate_sigma[i] = from->rate_sigma;
  s->acceleration_noise[i] = from->acceleration_noise;
  return BRAMAH_OK;
}

bramah_status bramah__session_find_joints(bramah_session *session, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < session->study->n_joints; i++)
    if (i < session->machine.plant.n_dof) status = take_joint(session, i, diag);
  return status ? status : check_count(session, diag);
}

/* ---- volumes ---- */

static bramah_status fail_missing(const bramah_session *session, size_t volume, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  fail_at(diag, BRAMAH_E_KEY, study, study->n_volumes ? study->volumes[0].line : 0, "volumes", "volume '");
  bramah__add_text(diag, bramah_model_volume_name(session->machine.model, volume));
  bramah__add_text(diag, "' of the machine is missing here: give its sigma and noise");
  return BRAMAH_E_KEY;
}

bramah_status bramah__session_find_volumes(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_model *model = session->machine.model;
  bramah__start_values *s = &session->start;
  for (size_t i = 0; i < study->n_volumes; i++) {
    const bramah_volume_start *from = &study->volumes[i];
    size_t v;
    const bramah_status status = bramah__find_model_name(study, model, "volume", from->volume, from->line,
                                                         bramah_model_volume_name, &v, diag);
    if (status) return status;
    bramah_state_info state;
    bramah_plant_state_info(&session->machine.plant, 2 * session->machine.plant.n_dof + v, &state);
    if (from->flow_unit != (strcmp(state.unit, "m^3/s") == 0) || (from->flow_unit && from->has_pressure)) {
      fail_at(diag, BRAMAH_E_UNIT, study, from->line, "volumes", "'");
      bramah__add_text(diag, from->volume);
      bramah__add_text(diag, from->flow_unit ? "' has a pressure for a state: Pa and Pa/s^0.5 are expected"
                                             : "' is a line, whose state is its flow: m^3/s and m^3/s^1.5");
      return BRAMAH_E_UNIT;
    }
    s->pressure[v] = from->has_pressure ? from->pressure : bramah_model_initial_pressure(model, v);
    s->pressure_sigma[v] = from->sigma;
    s->pressure_noise[v] = from->noise;
  }
  for (size_t v = 0; v < bramah_model_n_volumes(model); v++)
    if (!(s->pressure_sigma[v] > 0.0)) return fail_missing(session, v, diag);
  return BRAMAH_OK;
}
