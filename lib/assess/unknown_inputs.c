/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What it costs not to know the commands of a machine. Along with the filter, which estimates them, runs a second
 * one of the same study to which they are given: at each step as the first has estimated them so far. Both have
 * the same measurements; what their standard deviations differ by is the cost. Where all inputs are known there
 * is no second filter. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows ---- */

/* Of the queue: time, values of inputs and sensors, flags. */
static size_t row_size(const bramah__known_inputs *known)
{
  return sizeof(int64_t) + known->n_values * (sizeof(double) + 1);
}

bramah_status bramah__known_keep(bramah_assess *a, const bramah_sample *sample, bramah_diag *diag)
{
  bramah__known_inputs *known = &a->known;
  const size_t n_inputs = a->plant->n_input, size = row_size(known);
  if (!known->filter) return BRAMAH_OK;
  if (known->n_rows == known->room) {
    const size_t room = 2 * known->room + 8;
    unsigned char *rows = realloc(known->rows, room * size);
    if (!rows) return bramah__fail_memory(diag);
    known->rows = rows;
    known->room = room;
  }
  unsigned char *row = known->rows + known->n_rows++ * size;
  unsigned char *values = row + sizeof(int64_t), *flags = values + known->n_values * sizeof(double);
  memcpy(row, &sample->time_ns, sizeof sample->time_ns);
  memcpy(values, sample->inputs, n_inputs * sizeof(double));
  memcpy(values + n_inputs * sizeof(double), sample->y, a->n_sensors * sizeof(double));
  memcpy(flags, sample->has_input, n_inputs);
  memcpy(flags + n_inputs, sample->present, a->n_sensors);
  return BRAMAH_OK;
}

/* bramah_source of the second filter: the oldest row kept. It looks as far ahead as the first. */
static bramah_status take_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  bramah_assess *a = user;
  bramah__known_inputs *known = &a->known;
  const size_t n_inputs = a->plant->n_input, size = row_size(known);
  const unsigned char *values = known->rows + sizeof(int64_t),
                      *flags = values + known->n_values * sizeof(double);
  (void)diag;
  *end = known->n_rows == 0;
  if (*end) return BRAMAH_OK;
  memcpy(&sample->time_ns, known->rows, sizeof sample->time_ns);
  memcpy(sample->inputs, values, n_inputs * sizeof(double));
  memcpy(sample->y, values + n_inputs * sizeof(double), a->n_sensors * sizeof(double));
  memcpy(sample->has_input, flags, n_inputs);
  memcpy(sample->present, flags + n_inputs, a->n_sensors);
  memmove(known->rows, known->rows + size, --known->n_rows * size);
  return BRAMAH_OK;
}

/* ---- second filter ---- */

/* The unknown commands are the first augmented states: the second filter has the others. */
bramah_status bramah__known_init(bramah_assess *a, const bramah_replay_options *replay, bramah_diag *diag)
{
  bramah__known_inputs *known = &a->known;
  const size_t n_output = a->plant->n_output;
  known->n = a->study->n_unknown_inputs;
  known->n_values = a->plant->n_input + a->n_sensors;
  if (!known->n) return BRAMAH_OK;
  known->parameter = calloc(known->n, sizeof *known->parameter);
  known->sum[0] = calloc(2 * n_output + 1, sizeof *known->sum[0]);
  if (!known->parameter || !known->sum[0]) return bramah__fail_memory(diag);
  known->sum[1] = known->sum[0] + n_output;
  for (size_t k = 0; k < known->n; k++)
    bramah_plant_parameter_index(a->plant, a->study->augmented[k].at, &known->parameter[k], NULL);
  bramah_filter_options options = bramah_session_about(a->session)->options;
  options.augmented += known->n;
  options.n_augmented -= known->n;
  bramah_status status = bramah_session_another(a->session, diag, &known->other);
  if (status) return status;
  known->plant = known->other.plant;
  status = bramah_filter_new(&known->plant, a->n_sensors, bramah_session_about(a->session)->sensors, &options,
                             diag, &known->filter);
  return status ? status : bramah_replay_new(known->filter, replay, take_row, a, diag, &known->replay);
}

static void end_filter(bramah__known_inputs *known)
{
  bramah_replay_free(known->replay);
  bramah_filter_free(known->filter);
  bramah_another_plant_free(&known->other);
  known->replay = NULL;
  known->filter = NULL;
}

void bramah__known_free(bramah__known_inputs *known)
{
  end_filter(known);
  free(known->rows);
  free(known->parameter);
  free(known->sum[0]);
}

/* ---- steps ---- */

bramah_status bramah__known_step(bramah_assess *a, bramah_diag *diag)
{
  bramah__known_inputs *known = &a->known;
  int64_t time_ns;
  int corrected, end = 0;
  if (!known->filter) return BRAMAH_OK;
  bramah_status status = bramah_replay_next(known->replay, &time_ns, &corrected, &end, diag);

  /* The commands as the first filter knows them now, over the second one's next step. Noise that adapts is the same
   * for both. */
  const bramah_plant *from = a->plant, *to = &known->plant;
  for (size_t k = 0; !status && !end && k < known->n; k++) {
    const size_t p = known->parameter[k];
    status = to->set_parameter(to->self, p, from->parameter(from->self, p), diag);
  }
  if (!status && !end && a->adaptive) {
    status = bramah_filter_set_noise(known->filter, bramah_filter_get_info(a->filter).acceleration_noise,
                                     bramah_filter_get_info(a->filter).first_order_noise, diag);
    for (size_t i = 0; !status && i < a->n_sensors; i++)
      status = bramah_filter_set_sensor_sigma(known->filter, i,
                                              bramah_filter_get_info(a->filter).sensor[i].sigma, diag);
  }
  if (status || end) return end_filter(known), status;

  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    const double sigma = a->outputs[c].has_sigma ? bramah_filter_output_sigma(a->filter, i) : (double)NAN;
    if (isnan(sigma)) continue; /* a command itself */
    known->sum[0][i] += sigma;
    known->sum[1][i] += bramah_filter_output_sigma(known->filter, i);
  }
  for (size_t k = 0; k < known->n; k++)
    known->sum[0][a->shown_as[k]] += bramah_filter_get_augmented(a->filter, k).sigma;
  known->count++;
  return BRAMAH_OK;
}

/* ---- snapshots ---- */

/* Between two steps both filters have taken the same rows: the queue is empty. */
void bramah__known_save(const bramah_assess *a, bramah__snapshot *snapshot)
{
  const bramah__known_inputs *known = &a->known;
  if (!known->filter) return;
  void *replay = bramah__snapshot_add(snapshot, "known replay", bramah_replay_snapshot_size(known->replay));
  if (replay) bramah_replay_save(known->replay, replay);
  bramah__snapshot_put(snapshot, "known count", &known->count, sizeof known->count);
  bramah__snapshot_put(snapshot, "known sigmas", known->sum[0],
                       2 * a->plant->n_output * sizeof *known->sum[0]);
}

/* A snapshot without it ends the second filter: it had ended before. */
bramah_status bramah__known_resume(bramah_assess *a, const bramah__snapshot *snapshot, bramah_diag *diag)
{
  bramah__known_inputs *known = &a->known;
  size_t size;
  const void *replay = bramah__snapshot_find(snapshot, "known replay", &size);
  if (!known->filter) return BRAMAH_OK;
  if (!replay) return end_filter(known), BRAMAH_OK;
  if (size == bramah_replay_snapshot_size(known->replay) &&
      bramah__snapshot_get(snapshot, "known count", &known->count, sizeof known->count) &&
      bramah__snapshot_get(snapshot, "known sigmas", known->sum[0],
                           2 * a->plant->n_output * sizeof *known->sum[0]) &&
      bramah_replay_restore(known->replay, replay) == BRAMAH_OK)
    return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                       "the filter with known commands in the snapshot is of another study, or damaged");
}
