/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_log.h"
#include "lib/cli/message.h"
#include "lib/cli/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

uint64_t cli_tune_hash(uint64_t hash, const void *data, size_t n)
{
  const unsigned char *byte = data;
  if (!hash) hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < n; i++) hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
  return hash;
}

/* ---- reading ---- */

static void *grown(void *block, size_t rows, size_t width, size_t size)
{
  return realloc(block, (rows * width + 1) * size);
}

/* Room for so many rows; blocks that could not grow stay as they are. */
static int grow(cli_tune_log *log, size_t rows)
{
  void *block;
  int failed = 0;
#define GROW(member, width)                                                                                  \
  block = grown(log->member, rows, width, sizeof *log->member);                                              \
  if (block)                                                                                                 \
    log->member = block;                                                                                     \
  else                                                                                                       \
    failed = 1
  GROW(time_ns, 1);
  GROW(inputs, log->n_inputs);
  GROW(has_input, log->n_inputs);
  GROW(y, log->n_sensors);
  GROW(present, log->n_sensors);
#undef GROW
  return failed;
}

static bramah_status read_row(cli_tune_log *log, bramah_log_stream *stream, int *end, bramah_diag *diag)
{
  const size_t k = log->rows;
  bramah_sample sample = {.inputs = log->inputs + k * log->n_inputs,
                          .has_input = log->has_input + k * log->n_inputs,
                          .y = log->y + k * log->n_sensors,
                          .present = log->present + k * log->n_sensors};
  memset(sample.has_input, 0, log->n_inputs);
  memset(sample.present, 0, log->n_sensors);
  const bramah_status status = bramah_log_stream_next(stream, &sample, end, diag);
  if (status || *end) return status;
  for (size_t i = 0; i < log->n_inputs; i++)
    if (!sample.has_input[i]) sample.inputs[i] = 0.0;
  for (size_t i = 0; i < log->n_sensors; i++)
    if (!sample.present[i]) sample.y[i] = 0.0;
  log->time_ns[k] = sample.time_ns;
  log->rows++;
  return BRAMAH_OK;
}

static bramah_status read_rows(cli_tune_log *log, bramah_log_stream *stream, bramah_diag *diag)
{
  size_t room = 0;
  int end = 0;
  while (!end) {
    if (log->rows == room) {
      room = room ? 2 * room : 4096;
      if (grow(log, room)) return fail_memory(diag);
    }
    const bramah_status status = read_row(log, stream, &end, diag);
    if (status) return status;
  }
  if (log->rows < 2) return cli_fail(diag, BRAMAH_E_EMPTY, log->path, 0, NULL, "a log to tune by needs rows");
  for (size_t k = 1; k < log->rows; k++)
    if (log->time_ns[k] <= log->time_ns[k - 1])
      return cli_fail(diag, BRAMAH_E_TIME, log->path, 0, NULL, "time does not go forward after %.9g s",
                      1e-9 * (double)log->time_ns[k - 1]);
  return BRAMAH_OK;
}

static void hash_rows(cli_tune_log *log)
{
  log->hash = cli_tune_hash(log->hash, log->time_ns, log->rows * sizeof *log->time_ns);
  log->hash = cli_tune_hash(log->hash, log->inputs, log->rows * log->n_inputs * sizeof *log->inputs);
  log->hash = cli_tune_hash(log->hash, log->has_input, log->rows * log->n_inputs);
  log->hash = cli_tune_hash(log->hash, log->y, log->rows * log->n_sensors * sizeof *log->y);
  log->hash = cli_tune_hash(log->hash, log->present, log->rows * log->n_sensors);
}

bramah_status cli_tune_log_read(cli_tune_log *log, const char *path, const bramah_session *session,
                                bramah_diag *diag)
{
  bramah_log_stream *stream;
  log->path = path;
  log->n_inputs = bramah_session_plant(session)->n_input;
  log->n_sensors = bramah_session_n_sensors(session);
  bramah_status status = bramah_log_stream_open(session, 1, &path, diag, &stream);
  if (status) return status;
  status = read_rows(log, stream, diag);
  bramah_log_stream_close(stream);
  if (!status) hash_rows(log);
  return status;
}

void cli_tune_log_free(cli_tune_log *log)
{
  free(log->time_ns);
  free(log->inputs);
  free(log->has_input);
  free(log->y);
  free(log->present);
  free(log->truth_ns);
  free(log->truth);
  free(log->largest);
}

/* ---- truth ---- */

static bramah_status find_columns(const cli_truth *truth, const bramah_plant *plant, size_t n,
                                  const size_t *outputs, long *column, bramah_diag *diag)
{
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, outputs[i], &info);
    const bramah_status status = cli_truth_find(truth, info.name, info.unit, &column[i], diag);
    if (status) return status;
    if (column[i] < 0)
      return cli_fail(diag, BRAMAH_E_COLUMN, bramah_log_path(truth->reader), 0, info.name,
                      "the truth has no column of this name");
  }
  return BRAMAH_OK;
}

static int grow_truth(cli_tune_log *log, size_t rows)
{
  int64_t *times = realloc(log->truth_ns, rows * sizeof *times);
  if (times) log->truth_ns = times;
  double *values = realloc(log->truth, (rows * log->n_outputs + 1) * sizeof *values);
  if (values) log->truth = values;
  return !times || !values;
}

static bramah_status read_truth_rows(cli_tune_log *log, cli_truth *truth, const long *column, double *values,
                                     unsigned char *present, bramah_diag *diag)
{
  size_t room = 0;
  for (int end = 0;;) {
    if (log->truth_rows == room) {
      room = room ? 2 * room : 4096;
      if (grow_truth(log, room)) return fail_memory(diag);
    }
    const size_t k = log->truth_rows;
    bramah_status status = bramah_log_next(truth->reader, values, present, &end, diag);
    if (end) return BRAMAH_OK;
    if (!status) status = cli_log_time(truth->reader, truth->time, values, present, &log->truth_ns[k], diag);
    if (status) return status;
    for (size_t i = 0; i < log->n_outputs; i++) {
      const double value = present[column[i]] ? values[column[i]] : (double)NAN;
      log->truth[k * log->n_outputs + i] = value;
      log->largest[i] = fmax(log->largest[i], fabs(value));
    }
    log->truth_rows++;
  }
}

/* The opened truth has its first row read already: what stands there is read anew from the file. */
bramah_status cli_tune_log_read_truth(cli_tune_log *log, const char *path, const bramah_plant *plant,
                                      size_t n, const size_t *outputs, bramah_diag *diag)
{
  cli_truth names = {0}, truth = {0};
  log->truth_path = path;
  log->n_outputs = n;
  log->largest = calloc(n + 1, sizeof *log->largest);
  long *column = calloc(n + 1, sizeof *column);
  double *values = NULL;
  unsigned char *present = NULL;
  bramah_status status = log->largest && column ? cli_truth_open(&names, path, diag) : fail_memory(diag);
  if (!status) status = find_columns(&names, plant, n, outputs, column, diag);
  if (!status) status = bramah_log_open(path, diag, &truth.reader);
  if (!status) {
    const size_t columns = bramah_log_n_columns(truth.reader);
    truth.time = names.time;
    values = calloc(columns + 1, sizeof *values);
    present = calloc(columns + 1, 1);
    status =
        values && present ? read_truth_rows(log, &truth, column, values, present, diag) : fail_memory(diag);
  }
  if (status) cli_place(diag, path, 0);
  free(values);
  free(present);
  free(column);
  cli_truth_close(&names);
  bramah_log_close(truth.reader);
  log->hash = cli_tune_hash(log->hash, log->truth_ns, log->truth_rows * sizeof *log->truth_ns);
  log->hash = cli_tune_hash(log->hash, log->truth, log->truth_rows * n * sizeof *log->truth);
  return status;
}

static int64_t distance(int64_t a, int64_t b) { return a < b ? b - a : a - b; }

double cli_tune_log_truth(const cli_tune_log *log, int64_t time_ns, int64_t tolerance_ns, size_t i,
                          size_t *row)
{
  if (!log->truth_rows) return NAN;
  while (*row + 1 < log->truth_rows &&
         distance(log->truth_ns[*row + 1], time_ns) < distance(log->truth_ns[*row], time_ns))
    ++*row;
  if (distance(log->truth_ns[*row], time_ns) > tolerance_ns) return NAN;
  return log->truth[*row * log->n_outputs + i];
}

/* ---- replaying ---- */

bramah_status cli_tune_cursor_open(cli_tune_cursor *cursor, const cli_tune_log *log, const int64_t *delay_ns,
                                   const double *shift, int thousandths, bramah_diag *diag)
{
  const int64_t first = log->time_ns[0], last = log->time_ns[log->rows - 1];
  *cursor = (cli_tune_cursor){.log = log};
  cursor->end_ns = thousandths >= 1000 ? last : first + (last - first) / 1000 * thousandths;
  cursor->next = calloc(log->n_sensors + 1, sizeof *cursor->next);
  cursor->delay_ns = calloc(log->n_sensors + 1, sizeof *cursor->delay_ns);
  cursor->shift = calloc(log->n_sensors + 1, sizeof *cursor->shift);
  if (!cursor->next || !cursor->delay_ns || !cursor->shift) return fail_memory(diag);
  for (size_t i = 0; i < log->n_sensors; i++) {
    cursor->delay_ns[i] = delay_ns[i];
    cursor->shift[i] = shift[i];
    cursor->any_delay |= delay_ns[i] != 0;
  }
  return BRAMAH_OK;
}

void cli_tune_cursor_close(cli_tune_cursor *cursor)
{
  free(cursor->next);
  free(cursor->delay_ns);
  free(cursor->shift);
}

static void take_inputs(cli_tune_cursor *c, bramah_sample *sample)
{
  const cli_tune_log *log = c->log;
  const size_t at = c->input++ * log->n_inputs;
  memcpy(sample->inputs, log->inputs + at, log->n_inputs * sizeof *sample->inputs);
  memcpy(sample->has_input, log->has_input + at, log->n_inputs);
}

/* Time at which the next sample of a sensor was measured; INT64_MAX: none is left. */
static int64_t measured_at(cli_tune_cursor *c, size_t i)
{
  const cli_tune_log *log = c->log;
  size_t *k = &c->next[i];
  while (*k < log->rows &&
         (!log->present[*k * log->n_sensors + i] || log->time_ns[*k] - c->delay_ns[i] < log->time_ns[0]))
    ++*k;
  return *k < log->rows ? log->time_ns[*k] - c->delay_ns[i] : INT64_MAX;
}

static void take_sample(cli_tune_cursor *c, size_t i, bramah_sample *sample)
{
  const size_t at = c->next[i]++ * c->log->n_sensors + i;
  sample->y[i] = c->log->y[at] + c->shift[i];
  sample->present[i] = 1;
}

static void next_with_delays(cli_tune_cursor *c, bramah_sample *sample, int *end)
{
  const cli_tune_log *log = c->log;
  int64_t now = c->input < log->rows ? log->time_ns[c->input] : INT64_MAX;
  for (size_t i = 0; i < log->n_sensors; i++) {
    const int64_t t = measured_at(c, i);
    if (t < now) now = t;
  }
  *end = now == INT64_MAX || now > c->end_ns;
  if (*end) return;
  sample->time_ns = now;
  if (c->input < log->rows && log->time_ns[c->input] == now) take_inputs(c, sample);
  for (size_t i = 0; i < log->n_sensors; i++)
    if (measured_at(c, i) == now) take_sample(c, i, sample);
}

bramah_status cli_tune_cursor_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_tune_cursor *c = user;
  const cli_tune_log *log = c->log;
  (void)diag;
  if (c->any_delay) {
    next_with_delays(c, sample, end);
    return BRAMAH_OK;
  }
  const size_t k = c->input;
  *end = k == log->rows || log->time_ns[k] > c->end_ns;
  if (*end) return BRAMAH_OK;
  sample->time_ns = log->time_ns[k];
  for (size_t i = 0; i < log->n_sensors; i++) sample->y[i] = log->y[k * log->n_sensors + i] + c->shift[i];
  memcpy(sample->present, log->present + k * log->n_sensors, log->n_sensors);
  take_inputs(c, sample);
  return BRAMAH_OK;
}
