/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "lib/cli/log_source.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bramah_status cli_log_source_open(cli_log_source *source, const char *path, size_t n_inputs, size_t n_sensors,
                                  bramah_diag *diag)
{
  bramah_diag_clear(diag);
  const bramah_status status = bramah_log_open(path, diag, &source->reader);
  if (status) {
    cli_place(diag, path, 0);
    return status;
  }
  const size_t columns = bramah_log_n_columns(source->reader);
  source->n_inputs = n_inputs;
  source->n_sensors = n_sensors;
  source->inputs = calloc(n_inputs + n_sensors + 1, sizeof *source->inputs);
  source->values = calloc(columns + 1, sizeof *source->values);
  source->present = calloc(columns + 1, 1);
  if (!source->inputs || !source->values || !source->present)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  source->sensors = source->inputs + n_inputs;
  return BRAMAH_OK;
}

void cli_log_source_close(cli_log_source *source)
{
  bramah_log_close(source->reader);
  free(source->inputs);
  free(source->values);
  free(source->present);
}

/* ---- columns ---- */

/* What the column is wanted for belongs to the message: the log alone does not show it. */
static bramah_status find(cli_log_source *source, const char *name, const char *unit, const char *purpose,
                          const char *user, size_t *column, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  const bramah_status status = bramah_log_find(source->reader, name, unit, column, diag);
  if (status == BRAMAH_OK) return BRAMAH_OK;
  cli_place(diag, bramah_log_path(source->reader), 0);
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, " (wanted for %s%s%s)", purpose,
           user ? " " : "", user ? user : "");
  return status;
}

bramah_status cli_log_source_find_time(cli_log_source *source, const bramah_study *study, bramah_diag *diag)
{
  return find(source, study ? study->time_column : "t", "s", "the time", NULL, &source->time, diag);
}

bramah_status cli_log_source_find_input(cli_log_source *source, const bramah_study *study, const char *input,
                                        size_t i, bramah_diag *diag)
{
  char name[256];
  int line;
  cli_session_input_column(study, input, name, sizeof name, &line);
  return find(source, name, "V", "input", input, &source->inputs[i], diag);
}

bramah_status cli_log_source_find_sensor(cli_log_source *source, const bramah_study *study,
                                         const bramah_sensor *sensor, size_t i, bramah_diag *diag)
{
  return find(source, study->sensor_columns[i].name, sensor->unit, "sensor", sensor->name,
              &source->sensors[i], diag);
}

bramah_status cli_log_source_bind(cli_log_source *source, const cli_session *session, bramah_diag *diag)
{
  bramah_status status = cli_log_source_find_time(source, session->study, diag);
  for (size_t i = 0; !status && i < source->n_inputs; i++)
    status = cli_log_source_find_input(source, session->study,
                                       bramah_model_input_name(session->machine.model, i), i, diag);
  for (size_t i = 0; !status && i < source->n_sensors; i++)
    status = cli_log_source_find_sensor(source, session->study, &session->sensors[i], i, diag);
  return status;
}

/* ---- rows ---- */

bramah_status cli_log_time(const bramah_log_reader *reader, size_t column, const double *values,
                           const unsigned char *present, int64_t *time_ns, bramah_diag *diag)
{
  const char *name = bramah_log_column_name(reader, column);
  if (!present[column])
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(reader), bramah_log_line(reader), name,
                    "the time of this row is missing");
  if (!(fabs(values[column]) < 9e9))
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(reader), bramah_log_line(reader), name,
                    "a time of %g s cannot be told in nanoseconds", values[column]);
  *time_ns = llround(values[column] * 1e9);
  return BRAMAH_OK;
}

bramah_status cli_log_source_row(cli_log_source *source, int64_t *time_ns, int *end, bramah_diag *diag)
{
  const bramah_status status = bramah_log_next(source->reader, source->values, source->present, end, diag);
  if (status || *end) return status;
  return cli_log_time(source->reader, source->time, source->values, source->present, time_ns, diag);
}

static void fill(cli_log_source *source, bramah_sample *sample)
{
  for (size_t i = 0; i < source->n_inputs; i++) {
    const size_t column = source->inputs[i];
    sample->inputs[i] = source->values[column];
    sample->has_input[i] = source->present[column];
  }
  for (size_t i = 0; i < source->n_sensors; i++) {
    const size_t column = source->sensors[i];
    sample->y[i] = source->values[column];
    sample->present[i] = source->present[column];
  }
}

bramah_status cli_log_source_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_log_source *source = user;
  const double begin = cli_clock();
  const bramah_status status = cli_log_source_row(source, &sample->time_ns, end, diag);
  if (!status && !*end) fill(source, sample);
  sample->mark = bramah_log_line(source->reader);
  source->seconds += cli_clock() - begin;
  return status;
}

double cli_log_last_time(const char *path)
{
  enum { TAIL = 16384 };
  char tail[TAIL + 1];
  struct stat about;
  /* Opening a pipe once more could wait for a writer for ever. */
  if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return NAN;
  FILE *file = fopen(path, "rb");
  if (!file) return NAN;
  size_t n = 0;
  if (fseek(file, -TAIL, SEEK_END) == 0 || fseek(file, 0, SEEK_SET) == 0) n = fread(tail, 1, TAIL, file);
  fclose(file);
  while (n && (tail[n - 1] == '\n' || tail[n - 1] == '\r')) n--;
  tail[n] = '\0';
  const char *last = strrchr(tail, '\n');
  char *end;
  const double time = strtod(last ? last + 1 : tail, &end);
  return *end == ',' && isfinite(time) ? time : NAN;
}
