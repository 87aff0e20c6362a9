/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How well values are known: "1500 MPa ± 30 %" in a machine file, the table of defaults, and the augmented states
 * that a session makes of both. */
#define _GNU_SOURCE /* locale_t, strtod_l */
#include "lib/io/uncertainty.h"
#include "lib/base/diag.h"
#include "lib/io/fail.h"
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
    {".payload", 0.1, 0.0},      {".friction_scale", 0.2, 0.0},   {".pressure", 0.05, 0.3e5},
    {".bulk_modulus", 0.3, 0.0}, {".flow_coefficient", 0.1, 0.0}, {".conductance", 0.1, 0.0},
    {".leakage", 0.1, 0.0},      {".drain_leakage", 0.1, 0.0},    {".viscosity", 0.1, 0.0},
    {".pump_flow", 0.05, 0.0},   {".flow_scale", 0.1, 0.0}};

#define DEGREE (3.14159265358979323846 / 180.0)

/* Errors of sensors: the bias at the start, how it walks, the gain, the delay. Of an accelerometer the bias is also what
 * it feels of gravity across its axis when it is mounted half a degree askew. Others have none. */
static const struct {
  bramah_sensor_kind kind;
  const char *unit;
  double bias, drift, gain, delay; /* unit, unit/sqrt(s), 1, s */
} sensor_defaults[] = {{BRAMAH_SENSOR_ENCODER, "rad", DEGREE, 0.1 * DEGREE, 0.0, 1e-3},
                       {BRAMAH_SENSOR_INCLINOMETER, "rad", DEGREE, 0.1 * DEGREE, 0.0, 1e-3},
                       {BRAMAH_SENSOR_GYRO, "rad/s", 5e-3, 0.5e-3, 0.02, 1e-3},
                       {BRAMAH_SENSOR_ACCELEROMETER, "m/s^2", 0.1, 0.01, 0.01, 1e-3},
                       {BRAMAH_SENSOR_STROKE, "m", 0.0, 0.0, 0.0, 1e-3},
                       {BRAMAH_SENSOR_PRESSURE, "Pa", 0.5e5, 0.1e5, 0.01, 1e-3},
                       {BRAMAH_SENSOR_PRESSURE_DIFFERENCE, "Pa", 0.5e5, 0.1e5, 0.01, 1e-3},
                       {BRAMAH_SENSOR_FLOW, "m^3/s", 0.0, 0.0, 0.02, 1e-3},
                       {BRAMAH_SENSOR_LOAD_PIN, "N", 0.0, 0.0, 0.01, 1e-3}};

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
  if (machine->fmu) return BRAMAH_UNCERTAINTY_NONE; /* names say nothing there */
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

/* What the study lists as augmented it estimates its own way; NULL: it does not. */
static const bramah_study_augmented *listed(const bramah_study *study, bramah_augmented_kind kind,
                                            const char *at)
{
  for (size_t i = 0; i < study->n_augmented; i++)
    if (study->augmented[i].kind == kind && strcmp(study->augmented[i].at, at) == 0)
      return &study->augmented[i];
  return NULL;
}

/* Of an error of sensor s not both may be said: how large it is in the budget, and an augmented state. */
static bramah_status refuse_twice(const bramah_study *study, size_t s, bramah_augmented_kind kind,
                                  const bramah_study_uncertain *from, const char *key, bramah_diag *diag)
{
  const char *name = study->sensors[s].name;
  const bramah_study_augmented *other = listed(study, kind, name);
  if (!other || !from->is_stated || !(from->sigma.text || from->share > 0.0)) return BRAMAH_OK;
  bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                "the study estimates it its own way as augmented.%s: say it in one place, here 'fixed'",
                other->name);
  return in_study(diag, BRAMAH_E_VALUE, study, from->line, "sensors", name, key);
}

static void add(bramah_session *session, const bramah_augmented *state, const char *unit, int stated)
{
  bramah__bound_augmented *a = &session->augmented;
  const size_t i = session->study->n_augmented + a->n_budget;
  if (!(state->sigma > 0.0) || listed(session->study, state->kind, state->at)) return;
  a->states[i] = *state;
  if (session->study->hypotheses.n && state->role == BRAMAH_AUGMENTED_AUTO)
    a->states[i].role = BRAMAH_AUGMENTED_ESTIMATED;
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
  bramah_augmented out = {
      .name = info.name, .kind = BRAMAH_AUGMENTED_PARAMETER, .at = info.name, .role = BRAMAH_AUGMENTED_AUTO};
  int stated =
      bramah_machine_plant_uncertainty(&session->machine, p, &out.sigma) == BRAMAH_UNCERTAINTY_STATED;
  if (!stated && study->uncertainty.others_fixed) out.sigma = 0.0;
  if (bramah__session_is_fixed(session, p)) out.sigma = 0.0; /* each hypothesis knows it */
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

/* What is stated of an error of sensor s, else left as it is. */
static bramah_status take_error(const bramah_session *session, size_t s, const bramah_study_uncertain *from,
                                const char *key, const char *unit, double *sigma, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (!from->is_stated) return status;
  if (from->sigma.text)
    status = bramah__study_value_get(&from->sigma, unit, sigma, diag);
  else if (from->share > 0.0 && strcmp(unit, "1") != 0)
    status = bramah__fail(diag, BRAMAH_E_VALUE, NULL, "a share is for a gain");
  else
    *sigma = from->share;
  return in_study(diag, status, session->study, from->line, "sensors", session->study->sensors[s].name, key);
}

/* Bias, gain and delay of sensor s, whose names go to `names`. Of a bias of which only the size is stated the drift is as
 * much less as its size is less than the table's. Gain and delay, which next to no data tell from the model's errors,
 * are considered to the end. */
static bramah_status take_sensor(bramah_session *session, size_t s, char **names, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_study_sensor_errors *from = &study->errors[s];
  const bramah_sensor *sensor = &session->sensors[s];
  double bias = 0.0, drift = 0.0, gain = 0.0, delay = 0.0;
  for (size_t i = 0; i < COUNT(sensor_defaults); i++)
    if (sensor_defaults[i].kind == sensor->kind && strcmp(sensor_defaults[i].unit, sensor->unit) == 0)
      bias = sensor_defaults[i].bias, drift = sensor_defaults[i].drift, gain = sensor_defaults[i].gain,
      delay = sensor_defaults[i].delay;

  char per[64];
  snprintf(per, sizeof per, "%s/s^0.5", sensor->unit);
  const double usual = bias;
  bramah_status status = take_error(session, s, &from->bias, ".bias", sensor->unit, &bias, diag);
  if (from->bias.is_stated && usual > 0.0) drift *= bias / usual;
  if (!status) status = take_error(session, s, &from->drift, ".bias_drift", per, &drift, diag);
  if (!status) status = take_error(session, s, &from->gain, ".gain", "1", &gain, diag);
  if (!status) status = take_error(session, s, &from->delay, ".delay_sigma", "s", &delay, diag);
  if (!status) status = refuse_twice(study, s, BRAMAH_AUGMENTED_BIAS, &from->bias, ".bias", diag);
  if (!status) status = refuse_twice(study, s, BRAMAH_AUGMENTED_BIAS, &from->drift, ".bias_drift", diag);
  if (!status) status = refuse_twice(study, s, BRAMAH_AUGMENTED_GAIN, &from->gain, ".gain", diag);

  const struct {
    bramah_augmented_kind kind;
    bramah_augmented_role role;
    const char *suffix, *unit;
    double sigma, noise;
    int stated;
  } errors[] = {
      {BRAMAH_AUGMENTED_BIAS, BRAMAH_AUGMENTED_AUTO, "bias", sensor->unit, bias, drift,
       from->bias.is_stated || from->drift.is_stated},
      {BRAMAH_AUGMENTED_GAIN, BRAMAH_AUGMENTED_CONSIDERED, "gain", "1", gain, 0.0, from->gain.is_stated},
      {BRAMAH_AUGMENTED_DELAY, BRAMAH_AUGMENTED_CONSIDERED, "delay", "s", delay, 0.0, from->delay.is_stated}};
  for (size_t i = 0; !status && i < COUNT(errors); i++) {
    const bramah_augmented out = {
        .name = *names,
        .kind = errors[i].kind,
        .at = study->sensors[s].name,
        .sigma = study->uncertainty.others_fixed && !errors[i].stated ? 0.0 : errors[i].sigma,
        .noise = errors[i].noise,
        .order = errors[i].kind == BRAMAH_AUGMENTED_DELAY ? 2 : 1,
        .role = errors[i].role};
    const size_t size = strlen(out.at) + sizeof ".delay";
    snprintf(*names, size, "%s.%s", out.at, errors[i].suffix);
    *names += size;
    add(session, &out, errors[i].unit, errors[i].stated);
  }
  return status;
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

  char *names = session->augmented.names;
  for (size_t s = 0; !status && s < study->n_sensors; s++)
    if (session->sensors[s].unit) status = take_sensor(session, s, &names, diag);
  return status;
}
