/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/linear_sensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_status bind_terms(cli_linear_sensors *s, size_t i, const bramah_plant *plant,
                                const bramah_linear_system *base, bramah_diag *diag)
{
  const bramah_sensor *sensor = &s->sensors[i];
  for (size_t k = 0; k < sensor->n_terms; k++) {
    bramah_output_info info;
    size_t found = base->n_y;
    plant->output_info(plant->self, sensor->output[k], &info);
    for (size_t y = 0; y < base->n_y; y++)
      if (strcmp(base->y_name[y], info.name) == 0) found = y;
    if (found == base->n_y)
      return cli_fail(diag, BRAMAH_E_UNSUPPORTED, s->study->file, s->study->sensors[i].line, sensor->name,
                      "what it measures has no place in the linear equations: %s", info.name);
    s->term[i * BRAMAH_SENSOR_MAX_TERMS + k] = found;
  }
  return BRAMAH_OK;
}

static int take(cli_linear_sensors *s, const bramah_linear_system *base)
{
  const size_t most = base->n_y + s->study->n_sensors;
  s->sensors = calloc(s->study->n_sensors + 1, sizeof *s->sensors);
  s->term = calloc((s->study->n_sensors + 1) * BRAMAH_SENSOR_MAX_TERMS, sizeof *s->term);
  s->C = calloc(most * (base->n + base->n_u + 1) + 1, sizeof *s->C);
  s->name = calloc(2 * most + 1, sizeof *s->name);
  if (!s->sensors || !s->term || !s->C || !s->name) return 0;
  s->D = s->C + most * base->n;
  s->y = s->D + most * base->n_u;
  s->unit = s->name + most;
  return 1;
}

bramah_status cli_linear_sensors_open(cli_linear_sensors *out, const char *study, const bramah_plant *plant,
                                      const bramah_linear_system *base, bramah_diag *diag)
{
  bramah_status status = bramah_study_load(study, diag, &out->study);
  if (status) return status;
  if (!take(out, base)) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < out->study->n_sensors && !status; i++) {
    status = bramah_sensor_init(&out->study->sensors[i], plant, diag, &out->sensors[i]);
    if (status) cli_place(diag, out->study->file, out->study->sensors[i].line);
    if (!status) status = bind_terms(out, i, plant, base, diag);
  }
  return status;
}

void cli_linear_sensors_free(cli_linear_sensors *s)
{
  bramah_study_free(s->study);
  free(s->sensors);
  free(s->term);
  free(s->C);
  free(s->name);
}

/* Value of a sensor and its slopes by the two sums of its terms. */
static double shape(const bramah_sensor *sensor, const double sum[2], double slope[2])
{
  const double a = sum[0], b = sum[1];
  slope[0] = slope[1] = 1.0;
  if (sensor->shape == BRAMAH_SENSOR_SUM) return a + b;
  if (sensor->shape == BRAMAH_SENSOR_ARCSINE) {
    const double s = fmin(fmax(a + b, -1.0), 1.0), c = sqrt(1.0 - s * s);
    slope[0] = slope[1] = c > 0.0 ? 1.0 / c : 0.0;
    return asin(s);
  }
  const double square = a * a + b * b;
  slope[0] = square > 0.0 ? b / square : 0.0;
  slope[1] = square > 0.0 ? -a / square : 0.0;
  return atan2(a, b);
}

static void fill_sensor(cli_linear_sensors *s, size_t i, const bramah_linear_system *base)
{
  const bramah_sensor *sensor = &s->sensors[i];
  const size_t *term = s->term + i * BRAMAH_SENSOR_MAX_TERMS, row = base->n_y + i,
               first = sensor->shape == BRAMAH_SENSOR_ANGLE ? sensor->n_first : sensor->n_terms;
  double sum[2] = {0.0, 0.0}, slope[2];
  double *C = s->C + row * base->n, *D = s->D + row * base->n_u;
  for (size_t k = 0; k < sensor->n_terms; k++) sum[k >= first] += sensor->weight[k] * base->y[term[k]];
  s->y[row] = shape(sensor, sum, slope);
  for (size_t j = 0; j < base->n; j++) C[j] = 0.0;
  for (size_t j = 0; j < base->n_u; j++) D[j] = 0.0;
  for (size_t k = 0; k < sensor->n_terms; k++) {
    const double by = slope[k >= first] * sensor->weight[k];
    for (size_t j = 0; j < base->n; j++) C[j] += by * base->C[term[k] * base->n + j];
    for (size_t j = 0; j < base->n_u; j++) D[j] += by * base->D[term[k] * base->n_u + j];
  }
  s->name[row] = sensor->name;
  s->unit[row] = sensor->unit;
}

void cli_linear_sensors_fill(cli_linear_sensors *s, const bramah_linear_system *base)
{
  memcpy(s->C, base->C, base->n_y * base->n * sizeof *s->C);
  if (base->n_u) memcpy(s->D, base->D, base->n_y * base->n_u * sizeof *s->D);
  memcpy(s->y, base->y, base->n_y * sizeof *s->y);
  memcpy(s->name, base->y_name, base->n_y * sizeof *s->name);
  memcpy(s->unit, base->y_unit, base->n_y * sizeof *s->unit);
  for (size_t i = 0; i < s->study->n_sensors; i++) fill_sensor(s, i, base);
  s->system = *base;
  s->system.n_y = base->n_y + s->study->n_sensors;
  s->system.C = s->C;
  s->system.D = s->D;
  s->system.y = s->y;
  s->system.y_name = s->name;
  s->system.y_unit = s->unit;
}
