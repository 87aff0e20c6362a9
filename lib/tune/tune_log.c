/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "lib/logs/logs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

bramah_status bramah__tune_stopped(const bramah_tune_run *run, bramah_diag *diag)
{
  if (!run->stopped || !run->stopped(run->user)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "interrupted");
}

/* Room for so many rows; blocks that could not grow stay as they are. */
static int grow(bramah__tune_log *log, size_t rows)
{
  void *block;
  int failed = 0;
#define GROW(member, width)                                                                                  \
  block = realloc(log->member, (rows * (width) + 1) * sizeof *log->member);                                  \
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

static bramah_status read_rows(bramah__tune_log *log, bramah_log_stream *stream, const bramah_tune_run *run,
                               bramah_diag *diag)
{
  size_t room = 0;
  for (int end = 0;;) {
    if (log->rows == room) {
      room = room ? 2 * room : 4096;
      if (grow(log, room)) return bramah__fail_memory(diag);
      const bramah_status status = bramah__tune_stopped(run, diag);
      if (status) return status;
    }
    const size_t k = log->rows;
    bramah_sample sample = {.inputs = log->inputs + k * log->n_inputs,
                            .has_input = log->has_input + k * log->n_inputs,
                            .y = log->y + k * log->n_sensors,
                            .present = log->present + k * log->n_sensors};
    memset(sample.has_input, 0, log->n_inputs);
    memset(sample.present, 0, log->n_sensors);
    const bramah_status status = bramah_log_stream_next(stream, &sample, &end, diag);
    if (status) return status;
    if (end) break;
    for (size_t i = 0; i < log->n_inputs; i++)
      if (!sample.has_input[i]) sample.inputs[i] = 0.0;
    for (size_t i = 0; i < log->n_sensors; i++)
      if (!sample.present[i]) sample.y[i] = 0.0;
    log->time_ns[k] = sample.time_ns;
    log->rows++;
  }
  for (size_t k = 1; k < log->rows; k++)
    if (log->time_ns[k] <= log->time_ns[k - 1])
      return bramah__failf(diag, BRAMAH_E_TIME, log->path, 0, NULL, "time does not go forward after %.9g s",
                           1e-9 * (double)log->time_ns[k - 1]);
  return BRAMAH_OK;
}

/* A twentieth of the log without a row says nothing of how slopes scatter, nor a few samples of their lags. */
static bramah_status check_length(const bramah__tune_log *log, double settle, bramah_diag *diag)
{
  size_t judged = 0;
  for (size_t k = 0; k < log->rows; k++)
    judged += (double)(log->time_ns[k] - log->time_ns[0]) >= 1e9 * settle;
  if (judged >= BRAMAH__TUNE_CHECKS) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_EMPTY, log->path, 0, NULL,
                       "too short to tune by: %zu rows%s, and %d are the least", judged,
                       settle > 0.0 ? " after 'settle'" : "", (int)BRAMAH__TUNE_CHECKS);
}

bramah_status bramah__tune_log_read(bramah__tune_log *log, const char *path, const bramah_session *session,
                                    const bramah_tune_run *run, bramah_diag *diag)
{
  bramah_log_stream *stream;
  log->path = path;
  log->n_inputs = bramah_session_plant(session)->n_input;
  log->n_sensors = bramah_session_study(session)->n_sensors;
  bramah_status status = bramah_log_stream_open(session, 1, &path, diag, &stream);
  if (status) return status;
  status = read_rows(log, stream, run, diag);
  bramah_log_stream_close(stream);
  if (!status) status = check_length(log, bramah_session_study(session)->tune.settle, diag);
  if (status) return status;
  log->hash = bramah__fnv(log->hash, log->time_ns, log->rows * sizeof *log->time_ns);
  log->hash = bramah__fnv(log->hash, log->inputs, log->rows * log->n_inputs * sizeof *log->inputs);
  log->hash = bramah__fnv(log->hash, log->has_input, log->rows * log->n_inputs);
  log->hash = bramah__fnv(log->hash, log->y, log->rows * log->n_sensors * sizeof *log->y);
  log->hash = bramah__fnv(log->hash, log->present, log->rows * log->n_sensors);
  return BRAMAH_OK;
}

void bramah__tune_log_free(bramah__tune_log *log)
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

static bramah_status read_truth_rows(bramah__tune_log *log, bramah_log_reader *reader, size_t time,
                                     const long *column, double *values, unsigned char *present,
                                     bramah_diag *diag)
{
  size_t room = 0;
  for (int end = 0;;) {
    if (log->truth_rows == room) {
      room = room ? 2 * room : 4096;
      int64_t *times = realloc(log->truth_ns, room * sizeof *times);
      if (times) log->truth_ns = times;
      double *truth = realloc(log->truth, (room * log->n_outputs + 1) * sizeof *truth);
      if (truth) log->truth = truth;
      if (!times || !truth) return bramah__fail_memory(diag);
    }
    const bramah_status status = bramah_log_next(reader, values, present, &end, diag);
    if (end) return BRAMAH_OK;
    if (status) return status;
    const char *mistake = !present[time]                ? "the time of this row is missing"
                          : !(fabs(values[time]) < 9e9) ? "this time cannot be had in nanoseconds"
                                                        : NULL;
    if (mistake) {
      const bramah_log_info info = bramah_log_get_info(reader);
      return bramah__failf(diag, BRAMAH_E_TIME, info.path, info.line, info.columns[time].name, "%s", mistake);
    }
    log->truth_ns[log->truth_rows] = llround(values[time] * 1e9);
    for (size_t i = 0; i < log->n_outputs; i++) {
      const double value = present[column[i]] ? values[column[i]] : (double)NAN;
      log->truth[log->truth_rows * log->n_outputs + i] = value;
      log->largest[i] = fmax(log->largest[i], fabs(value));
    }
    log->truth_rows++;
  }
}

bramah_status bramah__tune_log_read_truth(bramah__tune_log *log, const char *path, const bramah_plant *plant,
                                          size_t n, const size_t *outputs, bramah_diag *diag)
{
  bramah__truth *names = NULL;
  bramah_log_reader *reader = NULL;
  double *values = NULL;
  unsigned char *present = NULL;
  size_t time = 0;
  log->n_outputs = n;
  log->largest = calloc(n + 1, sizeof *log->largest);
  long *column = calloc(n + 1, sizeof *column);
  bramah_status status =
      log->largest && column ? bramah__truth_open(path, diag, &names) : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, outputs[i], &info);
    status = bramah__truth_find(names, info.name, info.unit, &column[i], diag);
    if (!status && column[i] < 0)
      status =
          bramah__failf(diag, BRAMAH_E_COLUMN, path, 0, info.name, "the truth has no column of this name");
  }
  if (!status) status = bramah_log_open(path, NULL, diag, &reader);
  if (!status) status = bramah_log_find(reader, "t", "s", &time, diag);
  if (!status) {
    const size_t columns = bramah_log_get_info(reader).n_columns;
    values = calloc(columns + 1, sizeof *values);
    present = calloc(columns + 1, 1);
    status = values && present ? read_truth_rows(log, reader, time, column, values, present, diag)
                               : bramah__fail_memory(diag);
  }
  if (status) bramah__place(diag, path, 0);
  free(values);
  free(present);
  free(column);
  bramah__truth_close(names);
  bramah_log_close(reader);
  log->hash = bramah__fnv(log->hash, log->truth_ns, log->truth_rows * sizeof *log->truth_ns);
  log->hash = bramah__fnv(log->hash, log->truth, log->truth_rows * n * sizeof *log->truth);
  return status;
}

static int64_t distance(int64_t a, int64_t b) { return a < b ? b - a : a - b; }

double bramah__tune_log_truth(const bramah__tune_log *log, int64_t time_ns, int64_t tolerance_ns, size_t i,
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

bramah_status bramah__tune_cursor_open(bramah__tune_cursor *cursor, const bramah__tune_log *log,
                                       const int64_t *delay_ns, const double *shift, int thousandths,
                                       bramah_diag *diag)
{
  const int64_t first = log->time_ns[0], last = log->time_ns[log->rows - 1];
  *cursor = (bramah__tune_cursor){.log = log, .delay_ns = delay_ns, .shift = shift};
  cursor->end_ns = thousandths >= 1000 ? last : first + (last - first) / 1000 * thousandths;
  cursor->next = calloc(log->n_sensors + 1, sizeof *cursor->next);
  for (size_t i = 0; i < log->n_sensors; i++) cursor->any_delay |= delay_ns[i] != 0;
  return cursor->next ? BRAMAH_OK : bramah__fail_memory(diag);
}

void bramah__tune_cursor_close(bramah__tune_cursor *cursor) { free(cursor->next); }

static void take_inputs(bramah__tune_cursor *c, bramah_sample *sample)
{
  const bramah__tune_log *log = c->log;
  const size_t at = c->input++ * log->n_inputs;
  memcpy(sample->inputs, log->inputs + at, log->n_inputs * sizeof *sample->inputs);
  memcpy(sample->has_input, log->has_input + at, log->n_inputs);
}

/* Time at which the next sample of a sensor was measured; INT64_MAX: none is left. */
static int64_t measured_at(bramah__tune_cursor *c, size_t i)
{
  const bramah__tune_log *log = c->log;
  size_t *k = &c->next[i];
  while (*k < log->rows &&
         (!log->present[*k * log->n_sensors + i] || log->time_ns[*k] - c->delay_ns[i] < log->time_ns[0]))
    ++*k;
  return *k < log->rows ? log->time_ns[*k] - c->delay_ns[i] : INT64_MAX;
}

bramah_status bramah__tune_cursor_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  bramah__tune_cursor *c = user;
  const bramah__tune_log *log = c->log;
  const size_t n = log->n_sensors;
  (void)diag;

  /* Without delays: a row after the other. */
  int64_t now = c->input < log->rows ? log->time_ns[c->input] : INT64_MAX;
  if (!c->any_delay) {
    const size_t first = c->input * n;
    *end = now == INT64_MAX || now > c->end_ns;
    if (*end) return BRAMAH_OK;
    sample->time_ns = now;
    for (size_t i = 0; i < n; i++) sample->y[i] = log->y[first + i] + c->shift[i];
    memcpy(sample->present, log->present + first, n);
    take_inputs(c, sample);
    return BRAMAH_OK;
  }

  /* With: the next time at which a command or a sample belongs, and all that belongs there. */
  for (size_t i = 0; i < n; i++) {
    const int64_t t = measured_at(c, i);
    if (t < now) now = t;
  }
  *end = now == INT64_MAX || now > c->end_ns;
  if (*end) return BRAMAH_OK;
  sample->time_ns = now;
  if (c->input < log->rows && log->time_ns[c->input] == now) take_inputs(c, sample);
  for (size_t i = 0; i < n; i++) {
    if (measured_at(c, i) != now) continue;
    sample->y[i] = log->y[c->next[i]++ * n + i] + c->shift[i];
    sample->present[i] = 1;
  }
  return BRAMAH_OK;
}
