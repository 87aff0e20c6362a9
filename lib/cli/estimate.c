/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/estimate.h"
#include "lib/cli/augmented.h"
#include "lib/cli/message.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Accelerations could have one too, but their derivatives cost as much as those of the filter's own
 * prediction. */
static int shows_sigma(const bramah_output_info *info)
{
  return info->has_row && !info->hidden && info->kind != BRAMAH_OUTPUT_ACCELERATION;
}

/* Unknown commands have the name of an output, which no other augmented state can have. */
static void find_commands(cli_estimate *estimate)
{
  const bramah_plant *plant = estimate->plant;
  for (size_t k = 0; k < bramah_filter_n_augmented(estimate->filter); k++) {
    const long i = bramah_plant_find_output(plant, bramah_filter_augmented(estimate->filter, k)->name);
    estimate->shown_as[k] = i < 0 ? plant->n_output : (size_t)i;
    if (i >= 0) estimate->has_sigma[i] = 1;
  }
}

bramah_status cli_estimate_init(cli_estimate *estimate, const bramah_replay *replay, bramah_filter *filter,
                                bramah_diag *diag)
{
  const bramah_plant *plant = bramah_filter_plant(filter);
  const size_t n = plant->n_output;
  *estimate = (cli_estimate){.filter = filter, .replay = replay, .plant = plant};
  estimate->outputs = calloc(n + 1, sizeof *estimate->outputs);
  estimate->has_sigma = calloc(n + 1, 1);
  estimate->value = calloc(2 * n + 1, sizeof *estimate->value);
  estimate->shown_as = calloc(bramah_filter_n_augmented(filter) + 1, sizeof *estimate->shown_as);
  if (!estimate->outputs || !estimate->has_sigma || !estimate->value || !estimate->shown_as)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  estimate->sigma = estimate->value + n;
  estimate->n_outputs = cli_visible_outputs(plant, estimate->outputs);
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, i, &info);
    estimate->has_sigma[i] = (unsigned char)shows_sigma(&info);
    estimate->sigma[i] = NAN;
  }
  find_commands(estimate);
  return BRAMAH_OK;
}

void cli_estimate_free(cli_estimate *estimate)
{
  free(estimate->outputs);
  free(estimate->has_sigma);
  free(estimate->value);
  free(estimate->shown_as);
}

void cli_estimate_take(cli_estimate *estimate)
{
  const bramah_plant *plant = estimate->plant;
  for (size_t c = 0; c < estimate->n_outputs; c++) {
    const size_t i = estimate->outputs[c];
    estimate->value[i] = plant->output(plant->self, i);
    if (estimate->has_sigma[i]) estimate->sigma[i] = bramah_filter_output_sigma(estimate->filter, i);
  }
  for (size_t k = 0; k < bramah_filter_n_augmented(estimate->filter); k++) {
    const size_t i = estimate->shown_as[k];
    if (i == plant->n_output) continue;
    estimate->value[i] = bramah_filter_augmented_value(estimate->filter, k);
    estimate->sigma[i] = bramah_filter_augmented_sigma(estimate->filter, k);
  }
}

/* ---- file ---- */

static bramah_status add_output(bramah_log_writer *writer, const cli_estimate *estimate, size_t i,
                                bramah_diag *diag)
{
  bramah_output_info info;
  char name[256];
  estimate->plant->output_info(estimate->plant->self, i, &info);
  const bramah_status status = bramah_log_add_column(writer, info.name, info.unit, 10, diag);
  if (status || !estimate->has_sigma[i]) return status;
  snprintf(name, sizeof name, "%s.sigma", info.name);
  return bramah_log_add_column(writer, name, info.unit, 6, diag);
}

static bramah_status add_augmented(bramah_log_writer *writer, const bramah_filter *filter, size_t i,
                                   bramah_diag *diag)
{
  const char *unit = cli_augmented_unit(filter, i);
  char name[256];
  const bramah_status status =
      bramah_log_add_column(writer, bramah_filter_augmented(filter, i)->name, unit, 10, diag);
  if (status) return status;
  snprintf(name, sizeof name, "%s.sigma", bramah_filter_augmented(filter, i)->name);
  return bramah_log_add_column(writer, name, unit, 6, diag);
}

static bramah_status add_sensor(bramah_log_writer *writer, const bramah_sensor *sensor, bramah_diag *diag)
{
  char name[256];
  snprintf(name, sizeof name, "%s.innovation", sensor->name);
  const bramah_status status = bramah_log_add_column(writer, name, sensor->unit, 6, diag);
  if (status) return status;
  snprintf(name, sizeof name, "%s.nis", sensor->name);
  return bramah_log_add_column(writer, name, "", 6, diag);
}

bramah_status cli_estimate_file_create(cli_estimate_file *file, const char *path,
                                       const cli_estimate *estimate, int of_filter, bramah_diag *diag)
{
  const size_t n_sensors = of_filter ? bramah_filter_n_sensors(estimate->filter) : 0;
  file->n_sensors = n_sensors;
  file->n_augmented = of_filter ? bramah_filter_n_augmented(estimate->filter) : 0;
  bramah_diag_clear(diag);
  file->row = calloc(1 + 2 * estimate->n_outputs + 2 * file->n_augmented + 2 * n_sensors, sizeof *file->row);
  if (!file->row) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  bramah_status status = bramah_log_create(path, diag, &file->writer);
  if (!status) status = bramah_log_add_column(file->writer, "t", "s", 15, diag);
  for (size_t c = 0; !status && c < estimate->n_outputs; c++)
    status = add_output(file->writer, estimate, estimate->outputs[c], diag);
  for (size_t i = 0; !status && i < file->n_augmented; i++)
    if (estimate->shown_as[i] == estimate->plant->n_output)
      status = add_augmented(file->writer, estimate->filter, i, diag);
  for (size_t i = 0; !status && i < n_sensors; i++)
    status = add_sensor(file->writer, bramah_filter_sensor(estimate->filter, i), diag);
  if (status) cli_place(diag, path, 0);
  return status;
}

bramah_status cli_estimate_file_row(cli_estimate_file *file, const cli_estimate *estimate, double t,
                                    bramah_diag *diag)
{
  const bramah_innovation *innovation = file->n_sensors ? bramah_replay_innovations(estimate->replay) : NULL;
  double *cell = file->row;
  *cell++ = t;
  for (size_t c = 0; c < estimate->n_outputs; c++) {
    const size_t i = estimate->outputs[c];
    *cell++ = estimate->value[i];
    if (estimate->has_sigma[i]) *cell++ = estimate->sigma[i];
  }
  for (size_t i = 0; i < file->n_augmented; i++) {
    if (estimate->shown_as[i] != estimate->plant->n_output) continue;
    *cell++ = bramah_filter_augmented_value(estimate->filter, i);
    *cell++ = bramah_filter_augmented_sigma(estimate->filter, i);
  }
  for (size_t i = 0; i < file->n_sensors; i++) {
    *cell++ = innovation[i].present ? innovation[i].innovation : NAN;
    *cell++ = innovation[i].present ? innovation[i].nis : NAN;
  }
  return bramah_log_write(file->writer, file->row, diag);
}

bramah_status cli_estimate_file_flush(cli_estimate_file *file, bramah_diag *diag)
{
  return bramah_log_flush(file->writer, diag);
}

bramah_status cli_estimate_file_finish(cli_estimate_file *file, bramah_diag *diag)
{
  const bramah_status status = bramah_log_finish(file->writer, diag);
  free(file->row);
  *file = (cli_estimate_file){0};
  return status;
}
