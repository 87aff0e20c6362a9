/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well values are known: "1500 MPa ± 30 %" in a machine file, the table of defaults, and the augmented states
 * that a session makes of both. */
#define _GNU_SOURCE /* locale_t, strtod_l */
#include "lib/io/uncertainty.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what holds where nothing is stated: standard deviations ---- */

/* Parameters of the plant by the ends of their names: a share of their value (of a payload: of the mass of its body),
 * at least so much. All others are known exactly. */
static const struct {
  const char *suffix;
  double share, least;
} parameter_defaults[] = {
    {".payload", 0.1, 0.0},     {".friction_scale", 0.2, 0.0},   {".pressure", 0.05, 0.3e5},
    {".bulk_modulus", 0.3, 0.0}, {".flow_coefficient", 0.1, 0.0}, {".conductance", 0.1, 0.0},
    {".leakage", 0.1, 0.0},      {".drain_leakage", 0.1, 0.0},    {".viscosity", 0.1, 0.0},
    {".pump_flow", 0.05, 0.0},   {".flow_scale", 0.1, 0.0}};

#define DEGREE (3.14159265358979323846 / 180.0)

/* Biases of sensors at the start, and how they walk. All others have none. */
static const struct {
  bramah_sensor_kind kind;
  const char *unit;
  double bias, drift; /* unit, unit/sqrt(s) */
} bias_defaults[] = {{BRAMAH_SENSOR_ENCODER, "rad", DEGREE, 0.1 * DEGREE},
                     {BRAMAH_SENSOR_INCLINOMETER, "rad", DEGREE, 0.1 * DEGREE},
                     {BRAMAH_SENSOR_GYRO, "rad/s", 5e-3, 0.5e-3},
                     {BRAMAH_SENSOR_PRESSURE, "Pa", 0.5e5, 0.1e5},
                     {BRAMAH_SENSOR_PRESSURE_DIFFERENCE, "Pa", 0.5e5, 0.1e5}};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

/* ---- how well a parameter is known ---- */

/* What a share of a parameter is a share of. */
static double whole_of(const bramah_machine *machine, const bramah_parameter_info *info)
{
  for (size_t i = 0; ends_with(info->name, ".payload") && i < machine->n_bodies; i++) {
    const size_t n = strlen(machine->bodies[i].name);
    if (strncmp(info->name, machine->bodies[i].name, n) == 0 && strcmp(info->name + n, ".payload") == 0)
      return machine->bodies[i].mass;
  }
  return fabs(info->nominal);
}

bramah_uncertainty_source bramah_machine_plant_uncertainty(const bramah_machine_plant *machine,
                                                           size_t parameter, double *sigma)
{
  const bramah__loaded *loaded = (const bramah__loaded *)machine->machine;
  bramah_parameter_info info;
  int stated = 0;
  *sigma = 0.0;
  machine->plant.parameter_info(machine->plant.self, parameter, &info);

  /* Factors are uncertain independently of each other; terms have one scale, and the least certain one says so. */
  for (const bramah__uncertain *u = loaded->uncertain; u; u = u->next) {
    if (strcmp(u->parameter, info.name) != 0) continue;
    const double own = u->lead == BRAMAH__LEAD_SAME ? u->sigma
                       : fabs(u->value) > 0.0       ? fabs(info.nominal) * u->sigma / fabs(u->value)
                                                    : 0.0;
    *sigma = u->lead == BRAMAH__LEAD_FACTOR ? hypot(*sigma, own) : fmax(*sigma, own);
    stated = 1;
  }
  if (stated) return BRAMAH_UNCERTAINTY_STATED;
  for (size_t i = 0; i < COUNT(parameter_defaults); i++) {
    if (!ends_with(info.name, parameter_defaults[i].suffix)) continue;
    *sigma =
        fmax(parameter_defaults[i].share * whole_of(machine->machine, &info), parameter_defaults[i].least);
    return BRAMAH_UNCERTAINTY_DEFAULT;
  }
  return BRAMAH_UNCERTAINTY_NONE;
}

/* ---- the budget of a study ---- */

static bramah_status in_study(bramah_diag *diag, bramah_status status, const bramah_study *study, int line,
                              const char *section, const char *name, const char *key)
{
  if (!status || !diag) return status;
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  snprintf(diag->thing, sizeof diag->thing, "%s.%s%s", section, name, key);
  diag->line = line;
  return status;
}

/* What the study lists as augmented it estimates its own way. */
static int is_listed(const bramah_study *study, bramah_augmented_kind kind, const char *at)
{
  for (size_t i = 0; i < study->n_augmented; i++)
    if (study->augmented[i].kind == kind && strcmp(study->augmented[i].at, at) == 0) return 1;
  return 0;
}

static void add(bramah_session *session, const bramah_augmented *state, const char *unit, int stated)
{
  bramah__bound_augmented *a = &session->augmented;
  const size_t i = session->study->n_augmented + a->n_budget;
  if (!(state->sigma > 0.0) || is_listed(session->study, state->kind, state->at)) return;
  a->states[i] = *state;
  a->states[i].role = BRAMAH_AUGMENTED_AUTO;
  a->unit[i] = unit;
  a->is_stated[a->n_budget++] = (unsigned char)stated;
}

/* What the study says of a parameter, else the machine, else the table. */
static bramah_status take_parameter(bramah_session *session, size_t p, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah_parameter_info info;
  plant->parameter_info(plant->self, p, &info);
  bramah_augmented out = {.name = info.name, .kind = BRAMAH_AUGMENTED_PARAMETER, .at = info.name};
  int stated =
      bramah_machine_plant_uncertainty(&session->machine, p, &out.sigma) == BRAMAH_UNCERTAINTY_STATED;
  if (!stated && study->uncertainty.others_fixed) out.sigma = 0.0;
  for (size_t i = 0; i < study->uncertainty.n; i++) {
    const bramah_study_uncertain *from = &study->uncertainty.parameters[i];
    if (strcmp(from->name, info.name) != 0) continue;
    stated = 1;
    if (from->sigma.text) {
      const bramah_status status = bramah__study_value_get(&from->sigma, info.unit, &out.sigma, diag);
      if (status) return in_study(diag, status, study, from->line, "uncertainty", from->name, "");
      continue;
    }
    out.sigma = from->share * whole_of(session->machine.machine, &info);
    if (from->share > 0.0 && !(out.sigma > 0.0))
      return in_study(diag, bramah__fail(diag, BRAMAH_E_VALUE, NULL, "a share of 0: give it with its unit"),
                      study, from->line, "uncertainty", from->name, "");
  }

  /* What cannot be negative is known by a factor. */
  out.logarithmic = info.nominal > 0.0 && info.least >= 0.0;

  /* It varies slowly about its value, by no more than that: what was learned in a transient far from linear is forgotten
   * again. */
  out.time_constant = 200.0;
  out.noise = out.sigma * sqrt(2.0 / out.time_constant);
  add(session, &out, info.unit, stated);
  return BRAMAH_OK;
}

/* The bias of sensor s. Where only its size is stated it drifts as much less as its size is less than the table's. */
static bramah_status take_bias(bramah_session *session, size_t s, char *name, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_study_bias *from = &study->biases[s];
  const bramah_sensor *sensor = &session->sensors[s];
  const char *at = study->sensors[s].name;
  bramah_augmented out = {.name = name, .kind = BRAMAH_AUGMENTED_BIAS, .at = at};
  char per[64];
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < COUNT(bias_defaults); i++)
    if (bias_defaults[i].kind == study->sensors[s].kind && strcmp(bias_defaults[i].unit, sensor->unit) == 0)
      out.sigma = bias_defaults[i].bias, out.noise = bias_defaults[i].drift;
  const double usual = out.sigma;
  if (from->sigma.text) status = bramah__study_value_get(&from->sigma, sensor->unit, &out.sigma, diag);
  if (status) return in_study(diag, status, study, from->sigma.line, "sensors", at, ".bias");
  if (from->sigma.text && usual > 0.0) out.noise *= out.sigma / usual;
  snprintf(per, sizeof per, "%s/s^0.5", sensor->unit);
  if (from->drift.text) status = bramah__study_value_get(&from->drift, per, &out.noise, diag);
  if (status) return in_study(diag, status, study, from->drift.line, "sensors", at, ".bias_drift");
  const int stated = from->is_fixed || from->sigma.text || from->drift.text;
  if (from->is_fixed || (!stated && study->uncertainty.others_fixed)) out.sigma = 0.0;
  add(session, &out, sensor->unit, stated);
  return BRAMAH_OK;
}

bramah_status bramah__session_take_budget(bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  bramah_status status = BRAMAH_OK;
  bramah_diag_clear(diag);
  if (!study->uncertainty.is_on) return BRAMAH_OK;
  for (size_t i = 0; !status && i < study->uncertainty.n; i++) {
    const bramah_study_uncertain *from = &study->uncertainty.parameters[i];
    size_t p;
    status = in_study(diag, bramah_plant_parameter_index(plant, from->name, &p, diag), study, from->line,
                      "uncertainty", from->name, "");
  }
  for (size_t p = 0; !status && p < plant->n_parameter; p++) status = take_parameter(session, p, diag);

  char *name = session->augmented.names;
  for (size_t s = 0; !status && s < study->n_sensors; s++) {
    const size_t size = strlen(study->sensors[s].name) + sizeof ".bias";
    snprintf(name, size, "%s.bias", study->sensors[s].name);
    if (session->sensors[s].unit) status = take_bias(session, s, name, diag);
    name += size;
  }
  return status;
}
