/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the filter of a study estimates beside the state, and noise on parameters, bound to a machine: names
 * are found and units checked. */
#include "lib/io/session.h"
#include "bramah/units.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__make_augmented(bramah__bound_augmented *augmented, const bramah_study *study,
                                     bramah_diag *diag)
{
  augmented->states = calloc(study->n_augmented + 1, sizeof *augmented->states);
  augmented->unit = calloc(study->n_augmented + 1, sizeof *augmented->unit);
  augmented->noise = calloc(study->n_parameter_noise + 1, sizeof *augmented->noise);
  augmented->noise_unit = calloc(study->n_parameter_noise + 1, sizeof *augmented->noise_unit);
  if (augmented->states && augmented->unit && augmented->noise && augmented->noise_unit) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
}

void bramah__free_augmented(bramah__bound_augmented *augmented)
{
  free(augmented->states);
  free(augmented->unit);
  free(augmented->noise);
  free(augmented->noise_unit);
}

/* ---- binding ---- */

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

/* That of a figure of an augmented state: "inputs.valve.unknown.sigma" of an unknown input. */
static bramah_status place_figure(bramah_diag *diag, bramah_status status, const bramah_study *study,
                                  const bramah_study_augmented *from, const bramah_study_value *figure,
                                  const char *key)
{
  char in_unknown[64];
  if (!from->input)
    return place(diag, status, study, figure->line, figure->column, "augmented", from->name, key);
  snprintf(in_unknown, sizeof in_unknown, "unknown.%s", key);
  return place(diag, status, study, figure->line, figure->column, "inputs", from->input, in_unknown);
}

/* A figure in `unit` and what stands behind it ("/s^0.5"); left alone if it is not given. */
static bramah_status figure_value(const bramah_study_augmented *from, const bramah_study *study,
                                  const bramah_study_value *figure, const char *key, const char *unit,
                                  const char *per, double *out, bramah_diag *diag)
{
  char expected[128];
  if (!figure->text) return BRAMAH_OK;
  snprintf(expected, sizeof expected, "%s%s", unit, per);
  const bramah_status status = bramah_study_value_get(figure, expected, out, diag);
  if (!status) return BRAMAH_OK;
  return place_figure(diag, status, study, from, figure, key);
}

size_t bramah__study_augmented_sensor(const bramah_study *study, size_t i)
{
  size_t k = 0;
  if (study->augmented[i].kind != BRAMAH_AUGMENTED_BIAS) return study->n_sensors;
  while (k < study->n_sensors && strcmp(study->sensors[k].name, study->augmented[i].at) != 0) k++;
  return k;
}

static void fail_outside(bramah_diag *diag, double start, const char *unit)
{
  bramah__fail(diag, BRAMAH_E_VALUE, NULL, "the estimate starts at ");
  bramah__add_number(diag, start, 6);
  bramah__add_text(diag, " ");
  bramah__add_text(diag, unit);
  bramah__add_text(diag, ", outside these limits");
}

/* Limits: those not given are open. The estimate starts between them. */
static bramah_status take_limits(const bramah_study_augmented *from, const bramah_study *study,
                                 const char *unit, double start, bramah_augmented *out, bramah_diag *diag)
{
  const bramah_study_value *any = from->least.text ? &from->least : &from->most;
  if (!any->text) return BRAMAH_OK;
  out->least = -HUGE_VAL;
  out->most = HUGE_VAL;
  bramah_status status = figure_value(from, study, &from->least, "least", unit, "", &out->least, diag);
  if (!status) status = figure_value(from, study, &from->most, "most", unit, "", &out->most, diag);
  if (status || (out->least < out->most && out->least <= start && start <= out->most)) return status;
  const char *key = from->least.text ? "least" : "most";
  if (out->least < out->most)
    fail_outside(diag, start, unit);
  else
    bramah__fail(diag, BRAMAH_E_VALUE, NULL, "'least' must lie below 'most'");
  return place_figure(diag, BRAMAH_E_VALUE, study, from, any, key);
}

static bramah_status take_figures(const bramah_study_augmented *from, const bramah_study *study,
                                  const char *unit, double start, bramah_augmented *out, bramah_diag *diag)
{
  const char *per = from->order == 2 ? "/s^1.5" : "/s^0.5";
  bramah_status status = figure_value(from, study, &from->sigma, "sigma", unit, "", &out->sigma, diag);
  if (!status) status = figure_value(from, study, &from->noise, "noise", unit, per, &out->noise, diag);
  return status ? status : take_limits(from, study, unit, start, out, diag);
}

bramah_status bramah__session_bind_augmented(bramah_session *session, size_t i, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const bramah_study_augmented *from = &study->augmented[i];
  bramah_augmented out = {.name = from->name,
                          .kind = from->kind,
                          .at = from->at,
                          .order = from->order,
                          .time_constant = from->time_constant};
  bramah_parameter_info info = {.unit = NULL};
  size_t p;
  double start = 0.0;
  bramah_diag_clear(diag);
  if (from->kind == BRAMAH_AUGMENTED_BIAS) {
    info.unit = session->sensors[bramah__study_augmented_sensor(study, i)].unit;
  } else {
    const bramah_status status = bramah_plant_parameter_index(plant, from->at, &p, diag);
    if (status)
      return place(diag, status, study, from->at_line, 0, from->input ? "inputs" : "augmented",
                   from->input ? from->input : from->name, from->input ? "unknown" : "parameter");
    plant->parameter_info(plant->self, p, &info);
    start = plant->parameter(plant->self, p);
  }
  const bramah_status status = take_figures(from, study, info.unit, start, &out, diag);
  if (status) return status;
  session->augmented.states[i] = out;
  session->augmented.unit[i] = info.unit;
  return BRAMAH_OK;
}

bramah_status bramah__session_bind_parameter_noise(bramah_session *session, size_t i, bramah_diag *diag)
{
  const bramah_study *study = session->study;
  const bramah_plant *plant = &session->machine.plant;
  const bramah_study_parameter_noise *from = &study->parameter_noise[i];
  bramah_parameter_info info;
  char expected[128];
  size_t p;
  bramah_diag_clear(diag);
  bramah_status status = bramah_plant_parameter_index(plant, from->at, &p, diag);
  if (status) return place(diag, status, study, from->line, 0, "parameter_noise", from->at, "");
  plant->parameter_info(plant->self, p, &info);
  snprintf(expected, sizeof expected, "%s/Hz^0.5", info.unit);
  bramah__bound_augmented *augmented = &session->augmented;
  augmented->noise[i].at = from->at;
  augmented->noise_unit[i] = info.unit;
  status = bramah_study_value_get(&from->density, expected, &augmented->noise[i].density, diag);
  if (!status) return BRAMAH_OK;
  return place(diag, status, study, from->density.line, from->density.column, "parameter_noise", from->at,
               "");
}
