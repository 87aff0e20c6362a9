/* SPDX-License-Identifier: MIT */
#include "sensors/kinds.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

static const bramah__sensor_kind *const kinds[] = {&bramah__encoder, &bramah__gyro, &bramah__pressure};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], NAME_SIZE = 256 };

static const bramah__sensor_kind *find_kind(bramah_sensor_kind kind)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (kinds[i]->kind == kind) return kinds[i];
  return NULL;
}

const char *bramah_sensor_kind_name(bramah_sensor_kind kind)
{
  const bramah__sensor_kind *k = find_kind(kind);
  return k ? k->name : "?";
}

const char *bramah_sensor_kind_unit(bramah_sensor_kind kind)
{
  const bramah__sensor_kind *k = find_kind(kind);
  return k ? k->unit : "?";
}

int bramah_sensor_kind_find(const char *name)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (strcmp(kinds[i]->name, name) == 0) return (int)kinds[i]->kind;
  return 0;
}

bramah_status bramah__sensor_add_term(const bramah_plant *plant, const char *at, const char *suffix,
                                      double weight, bramah_sensor *sensor)
{
  char name[NAME_SIZE];
  const size_t used = bramah__append(name, sizeof name, 0, at);
  bramah__append(name, sizeof name, used, suffix);
  const long output = bramah_plant_find_output(plant, name);
  if (output < 0) return BRAMAH_E_REFERENCE;
  sensor->output[sensor->n_terms] = (size_t)output;
  sensor->weight[sensor->n_terms++] = weight;
  return BRAMAH_OK;
}

/* The part of an output's name before the suffix; 0 if it ends otherwise. */
static int stem(const char *name, const char *suffix, char *out)
{
  const size_t n = strlen(name), tail = strlen(suffix);
  if (n <= tail || n - tail >= NAME_SIZE || strcmp(name + n - tail, suffix) != 0) return 0;
  memcpy(out, name, n - tail);
  out[n - tail] = '\0';
  return 1;
}

bramah_status bramah__sensor_no_such(const bramah_sensor_options *options, const bramah_plant *plant,
                                     const char *what, const char *suffix, bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_REFERENCE, options->name, "there is no ");
  bramah__add_text(diag, what);
  bramah__add_text(diag, " '");
  bramah__add_text(diag, options->at ? options->at : "");
  bramah__add_text(diag, "'");
  char best[NAME_SIZE] = "";
  for (size_t i = 0; options->at && i < plant->n_output; i++) {
    bramah_output_info info;
    char candidate[NAME_SIZE];
    plant->output_info(plant->self, i, &info);
    if (!stem(info.name, suffix, candidate)) continue;
    const char *both[2] = {candidate, best};
    if (bramah__nearest(options->at, best[0] ? 2 : 1, both) == candidate)
      memcpy(best, candidate, sizeof best);
  }
  if (best[0]) {
    bramah__add_text(diag, "; did you mean '");
    bramah__add_text(diag, best);
    bramah__add_text(diag, "'?");
  }
  return bramah__at(diag, NULL, options->line, 0), BRAMAH_E_REFERENCE;
}

static bramah_status check_options(const bramah_sensor_options *options, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (!(options->sigma > 0.0) || !isfinite(options->sigma))
    status = bramah__fail(diag, BRAMAH_E_VALUE, options->name, "the standard deviation must be positive");
  else if (options->period_ns < 0)
    status = bramah__fail(diag, BRAMAH_E_VALUE, options->name, "the sampling period must not be negative");
  else if (options->delay_ns < 0)
    status = bramah__fail(diag, BRAMAH_E_VALUE, options->name, "the delay must not be negative");
  else if (!find_kind(options->kind))
    status = bramah__fail(diag, BRAMAH_E_VALUE, options->name, "the kind of this sensor is unknown");
  if (status != BRAMAH_OK) bramah__at(diag, NULL, options->line, 0);
  return status;
}

bramah_status bramah_sensor_init(const bramah_sensor_options *options, const bramah_plant *plant,
                                 bramah_diag *diag, bramah_sensor *out)
{
  bramah_status status = check_options(options, diag);
  if (status != BRAMAH_OK) return status;
  bramah_sensor sensor = {.name = options->name,
                          .kind = options->kind,
                          .sigma = options->sigma,
                          .period_ns = options->period_ns,
                          .delay_ns = options->delay_ns};
  status = find_kind(options->kind)->bind(options, plant, diag, &sensor);
  if (status == BRAMAH_OK) *out = sensor;
  return status;
}

double bramah_sensor_predict(const bramah_sensor *sensor, const bramah_plant *plant)
{
  double sum = 0.0;
  for (size_t i = 0; i < sensor->n_terms; i++)
    sum += sensor->weight[i] * plant->output(plant->self, sensor->output[i]);
  return sum;
}

double bramah_sensor_innovation(const bramah_sensor *sensor, double measured, double predicted)
{
  static const double turn = 6.28318530717958647693;
  const double y = measured - predicted;
  return sensor->wraps ? remainder(y, turn) : y;
}

bramah_status bramah_sensor_row(const bramah_sensor *sensor, const bramah_plant *plant, double *H,
                                double *term, void *snap, double *dx, bramah_diag *diag)
{
  const size_t n = bramah_plant_n_error(plant);
  for (size_t k = 0; k < n; k++) H[k] = 0.0;
  for (size_t i = 0; i < sensor->n_terms; i++) {
    if (sensor->weight[i] == 0.0) continue;
    const bramah_status status = bramah_plant_output_row(plant, sensor->output[i], term, snap, dx, diag);
    if (status != BRAMAH_OK) return status;
    for (size_t k = 0; k < n; k++) H[k] += sensor->weight[i] * term[k];
  }
  return BRAMAH_OK;
}
