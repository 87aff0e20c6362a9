/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/augmented.h"
#include "lib/cli/message.h"
#include "bramah/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status cli_augmented_make_room(cli_augmented *augmented, const bramah_study *study, bramah_diag *diag)
{
  augmented->states = calloc(study->n_augmented + 1, sizeof *augmented->states);
  augmented->unit = calloc(study->n_augmented + 1, sizeof *augmented->unit);
  augmented->noise = calloc(study->n_parameter_noise + 1, sizeof *augmented->noise);
  augmented->noise_unit = calloc(study->n_parameter_noise + 1, sizeof *augmented->noise_unit);
  if (augmented->states && augmented->unit && augmented->noise && augmented->noise_unit) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

void cli_augmented_free(cli_augmented *augmented)
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
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  snprintf(diag->thing, sizeof diag->thing, "%s.%s%s%s", section, name, *key ? "." : "", key);
  diag->line = line;
  diag->column = column;
  return status;
}

/* That of a figure of an augmented state: "inputs.valve.unknown.sigma" of an unknown input. */
static bramah_status place_figure(bramah_diag *diag, bramah_status status, const bramah_study *study,
                                  const bramah_study_augmented *from, const bramah_study_figure *figure,
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
                                  const bramah_study_figure *figure, const char *key, const char *unit,
                                  const char *per, double *out, bramah_diag *diag)
{
  char expected[128];
  if (!figure->text) return BRAMAH_OK;
  snprintf(expected, sizeof expected, "%s%s", unit, per);
  const bramah_status status = bramah_quantity_parse(figure->text, expected, out, diag);
  if (!status) return BRAMAH_OK;
  return place_figure(diag, status, study, from, figure, key);
}

size_t cli_augmented_sensor(const bramah_study *study, size_t i)
{
  size_t k = 0;
  if (study->augmented[i].kind != BRAMAH_AUGMENTED_BIAS) return study->n_sensors;
  while (k < study->n_sensors && strcmp(study->sensors[k].name, study->augmented[i].at) != 0) k++;
  return k;
}

/* Limits: those not given are open. The estimate starts between them. */
static bramah_status take_limits(const bramah_study_augmented *from, const bramah_study *study,
                                 const char *unit, double start, bramah_augmented *out, bramah_diag *diag)
{
  const bramah_study_figure *any = from->least.text ? &from->least : &from->most;
  if (!any->text) return BRAMAH_OK;
  out->least = -HUGE_VAL;
  out->most = HUGE_VAL;
  bramah_status status = figure_value(from, study, &from->least, "least", unit, "", &out->least, diag);
  if (!status) status = figure_value(from, study, &from->most, "most", unit, "", &out->most, diag);
  if (status || (out->least < out->most && out->least <= start && start <= out->most)) return status;
  const char *key = from->least.text ? "least" : "most";
  if (out->least < out->most)
    cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "the estimate starts at %.6g %s, outside these limits",
             start, unit);
  else
    cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "'least' must lie below 'most'");
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

bramah_status cli_augmented_bind(cli_augmented *augmented, const bramah_study *study,
                                 const bramah_plant *plant, const bramah_sensor *sensors, size_t i,
                                 bramah_diag *diag)
{
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
    info.unit = sensors[cli_augmented_sensor(study, i)].unit;
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
  augmented->states[i] = out;
  augmented->unit[i] = info.unit;
  return BRAMAH_OK;
}

bramah_status cli_parameter_noise_bind(cli_augmented *augmented, const bramah_study *study,
                                       const bramah_plant *plant, size_t i, bramah_diag *diag)
{
  const bramah_study_parameter_noise *from = &study->parameter_noise[i];
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
  status = bramah_quantity_parse(from->density.text, expected, &augmented->noise[i].density, diag);
  if (!status) return BRAMAH_OK;
  return place(diag, status, study, from->density.line, from->density.column, "parameter_noise", from->at,
               "");
}

/* ---- words ---- */

/* The name of an unknown command has a dot, which no name in a file may have. */
static const char *what_of(const cli_augmented *augmented, size_t i)
{
  const bramah_augmented *a = &augmented->states[i];
  if (a->kind == BRAMAH_AUGMENTED_BIAS) return "bias of";
  return strchr(a->name, '.') ? "unknown input, parameter" : "parameter";
}

void cli_augmented_explain(const cli_augmented *augmented, const bramah_plant *plant, size_t i)
{
  const bramah_augmented *a = &augmented->states[i];
  const cli_readable unit = cli_readable_unit(augmented->unit[i]);
  const long p = a->kind == BRAMAH_AUGMENTED_PARAMETER ? bramah_plant_find_parameter(plant, a->at) : -1;
  printf("  estimated %s: %s %s [%s], starts at %.6g, sigma %.6g; ", a->name, what_of(augmented, i), a->at,
         unit.unit, p < 0 ? 0.0 : unit.factor * plant->parameter(plant->self, (size_t)p),
         unit.factor * a->sigma);
  if (a->time_constant > 0.0)
    printf("Gauss-Markov of order %d, time constant %.6g s", a->order == 2 ? 2 : 1, a->time_constant);
  else
    printf(a->noise > 0.0 ? "random walk" : "constant");
  if (a->noise > 0.0)
    printf(", noise %.6g %s/s^%s", unit.factor * a->noise, unit.unit, a->order == 2 ? "1.5" : "0.5");
  if (a->least < a->most && a->least > -HUGE_VAL) printf(", at least %.6g", unit.factor * a->least);
  if (a->least < a->most && a->most < HUGE_VAL) printf(", at most %.6g", unit.factor * a->most);
  printf("\n");
}

void cli_parameter_noise_explain(const cli_augmented *augmented, size_t i)
{
  const cli_readable unit = cli_readable_unit(augmented->noise_unit[i]);
  printf("  noise on %s: %.6g %s/Hz^0.5\n", augmented->noise[i].at, unit.factor * augmented->noise[i].density,
         unit.unit);
}

const char *cli_augmented_unit(const bramah_filter *filter, size_t i)
{
  const bramah_augmented *a = bramah_filter_augmented(filter, i);
  const bramah_plant *plant = bramah_filter_plant(filter);
  if (a->kind == BRAMAH_AUGMENTED_PARAMETER) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, (size_t)bramah_plant_find_parameter(plant, a->at), &info);
    return info.unit;
  }
  size_t k = 0;
  while (strcmp(bramah_filter_sensor(filter, k)->name, a->at) != 0) k++;
  return bramah_filter_sensor(filter, k)->unit;
}

cli_table cli_augmented_table(const bramah_filter *filter)
{
  static const char *const header[] = {"estimated", "", "unit", "at the end", "sigma"};
  cli_table table = cli_table_make("Estimated beside the state", "lllrr", header);
  for (size_t i = 0; i < bramah_filter_n_augmented(filter); i++) {
    const bramah_augmented *a = bramah_filter_augmented(filter, i);
    const cli_readable unit = cli_readable_unit(cli_augmented_unit(filter, i));
    cli_table_add(&table, "%s", a->name);
    cli_table_add(&table, "%s%s", a->kind == BRAMAH_AUGMENTED_BIAS ? "bias of " : "", a->at);
    cli_table_add(&table, "%s", unit.unit);
    cli_table_add(&table, "%.6g", unit.factor * bramah_filter_augmented_value(filter, i));
    cli_table_add_number(&table, unit.factor * bramah_filter_augmented_sigma(filter, i));
  }
  return table;
}
