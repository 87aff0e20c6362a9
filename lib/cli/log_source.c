/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a log and their columns; log_merge.c makes one of their rows. */
#define _POSIX_C_SOURCE 200809L /* stat */
#include "lib/cli/log_source.h"
#include "lib/cli/message.h"
#include "lib/cli/study_names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- devices ---- */

static int same_columns(const bramah_log_reader *a, const bramah_log_reader *b)
{
  const size_t n = bramah_log_n_columns(a);
  if (bramah_log_n_columns(b) != n) return 0;
  for (size_t i = 0; i < n; i++)
    if (strcmp(bramah_log_column_name(a, i), bramah_log_column_name(b, i)) != 0 ||
        strcmp(bramah_log_column_unit(a, i), bramah_log_column_unit(b, i)) != 0)
      return 0;
  return 1;
}

/* The stream that a file goes on. Standard input cannot be opened a second time. */
static cli_log_stream *find_stream(cli_log_source *source, const cli_log_path *path,
                                   const bramah_log_reader *reader)
{
  if (strcmp(path->path, "-") == 0) return NULL;
  for (size_t k = 0; k < source->n_streams; k++) {
    cli_log_stream *s = &source->streams[k];
    if (s->entry != path->entry) continue;
    if (path->entry || same_columns(s->reader, reader)) return s;
  }
  return NULL;
}

static bramah_status add_file(cli_log_source *source, size_t part, bramah_diag *diag)
{
  bramah_log_reader *reader;
  bramah_status status = cli_log_stream_open_file(source->study, &source->paths.file[part], diag, &reader);
  if (status) return status;
  cli_log_stream *before = find_stream(source, &source->paths.file[part], reader);
  if (!before)
    return cli_log_stream_open(&source->streams[source->n_streams++], source->study, &source->paths, part,
                               reader, diag);
  bramah_log_close(reader);
  return cli_log_stream_follow(before, part, diag);
}

bramah_status cli_log_source_open(cli_log_source *source, const bramah_study *study, size_t n,
                                  const char *const *names, size_t n_inputs, size_t n_sensors,
                                  bramah_diag *diag)
{
  source->study = study;
  bramah_status status = cli_log_paths_find(&source->paths, study, n, names, diag);
  if (status) return status;
  source->n_inputs = n_inputs;
  source->n_sensors = n_sensors;
  source->streams = calloc(source->paths.n + 1, sizeof *source->streams);
  source->waiting = calloc(source->paths.n + 1, 1);
  source->y = calloc(n_sensors + 1, sizeof *source->y);
  source->held_rows = calloc(n_inputs + 1, sizeof *source->held_rows);
  if (!source->streams || !source->waiting || !source->y || !source->held_rows) return fail_memory(diag);
  for (size_t part = 0; !status && part < source->paths.n; part++) status = add_file(source, part, diag);
  return status;
}

void cli_log_source_close(cli_log_source *source)
{
  for (size_t k = 0; k < source->n_streams; k++) cli_log_stream_close(&source->streams[k]);
  cli_log_paths_free(&source->paths);
  free(source->streams);
  free(source->waiting);
  free(source->y);
  free(source->held_rows);
  free(source->expected);
}

/* ---- columns ---- */

/* What the column is wanted for belongs to the message: the log alone does not show it. */
static bramah_status say_purpose(bramah_status status, const char *purpose, const char *user,
                                 bramah_diag *diag)
{
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used, " (wanted for %s %s)", purpose, user);
  return status;
}

static int may_have(const cli_log_stream *s, const bramah_study_column *from)
{
  return !from || !from->file || (s->entry && strcmp(s->entry->name, from->file) == 0);
}

static int has_column(const cli_log_stream *s, const char *name)
{
  for (size_t i = 0; i < bramah_log_n_columns(s->reader); i++)
    if (strcmp(bramah_log_column_name(s->reader, i), name) == 0) return 1;
  return 0;
}

/* The stream with the column; where none has it, the first that may have. */
static bramah_status choose(cli_log_source *source, const cli_log_target *target, cli_log_stream **out,
                            bramah_diag *diag)
{
  cli_log_stream *with = NULL, *without = NULL;
  for (size_t k = 0; k < source->n_streams; k++) {
    cli_log_stream *s = &source->streams[k];
    if (!may_have(s, target->from)) continue;
    if (!without) without = s;
    if (!has_column(s, target->name)) continue;
    if (with)
      return cli_fail(diag, BRAMAH_E_COLUMN, bramah_log_path(s->reader), 0, target->name,
                      "%s has a column of that name too: say which by 'file', an entry of log.files",
                      bramah_log_path(with->reader));
    with = s;
  }
  *out = with ? with : without;
  if (*out) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_COLUMN, source->study->file, target->from->line, target->from->target,
                  "no file of this log matches log.files.%s", target->from->file);
}

static bramah_status feed(cli_log_source *source, const cli_log_target *target, const char *purpose,
                          const char *user, bramah_diag *diag)
{
  cli_log_stream *stream;
  bramah_diag_clear(diag);
  bramah_status status = choose(source, target, &stream, diag);
  if (!status) status = cli_log_stream_feed(stream, target, diag);
  return status ? say_purpose(status, purpose, user, diag) : BRAMAH_OK;
}

bramah_status cli_log_source_find_time(cli_log_source *source, size_t stream, bramah_diag *diag)
{
  return cli_log_stream_find_time(&source->streams[stream], diag);
}

static const bramah_study_column *find_input(const bramah_study *study, const char *input)
{
  for (size_t i = 0; study && i < study->n_inputs; i++)
    if (strcmp(study->inputs[i].target, input) == 0) return &study->inputs[i];
  return NULL;
}

bramah_status cli_log_source_find_input(cli_log_source *source, const char *input, size_t i,
                                        bramah_diag *diag)
{
  char name[256];
  int line;
  if (bramah_study_unknown_input(source->study, input)) return BRAMAH_OK;
  cli_input_column(source->study, input, name, sizeof name, &line);
  const bramah_study_column *from = find_input(source->study, input);
  const cli_log_target target = {.name = name, .si_unit = "V", .from = from, .slot = i};
  const bramah_status status = feed(source, &target, "input", input, diag);
  if (status != BRAMAH_E_COLUMN || !source->study) return status;
  const size_t used = strlen(diag->message);
  snprintf(diag->message + used, sizeof diag->message - used,
           "; if nobody recorded it, say so in the study: inputs: {%s: {unknown: {sigma: 2 V, noise: 5 "
           "V/s^0.5}}}",
           input);
  return status;
}

bramah_status cli_log_source_find_sensor(cli_log_source *source, const bramah_sensor *sensor, size_t i,
                                         bramah_diag *diag)
{
  const bramah_study_column *from = &source->study->sensor_columns[i];
  const cli_log_target target = {.name = (char *)(uintptr_t)from->name,
                                 .si_unit = sensor->unit,
                                 .from = from,
                                 .slot = source->n_inputs + i};
  return feed(source, &target, "sensor", sensor->name, diag);
}

bramah_status cli_log_source_bind(cli_log_source *source, const bramah_session *session, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < source->n_streams; k++)
    status = cli_log_source_find_time(source, k, diag);
  for (size_t i = 0; !status && i < source->n_inputs; i++)
    status =
        cli_log_source_find_input(source, bramah_model_input_name(bramah_session_model(session), i), i, diag);
  for (size_t i = 0; !status && i < source->n_sensors; i++)
    status = cli_log_source_find_sensor(source, &bramah_session_sensors(session)[i], i, diag);
  return status;
}

/* ---- what is known ---- */

const char *cli_log_source_path(const cli_log_source *source, uint64_t mark)
{
  return source->paths.file[cli_log_mark_path(mark)].path;
}

int cli_log_source_line(const cli_log_source *source, uint64_t mark)
{
  (void)source;
  return cli_log_mark_line(mark);
}

const cli_log_target *cli_log_source_target(const cli_log_source *source, size_t slot,
                                            const cli_log_stream **stream)
{
  for (size_t k = 0; k < source->n_streams; k++)
    for (size_t i = 0; i < source->streams[k].n_targets; i++)
      if (source->streams[k].targets[i].slot == slot) {
        *stream = &source->streams[k];
        return &source->streams[k].targets[i];
      }
  return NULL;
}

int cli_log_source_is_touched(const cli_log_source *source)
{
  for (size_t k = 0; k < source->n_streams; k++) {
    const cli_log_counts *c = &source->streams[k].counts;
    if (c->repeated.n || c->merged.n || c->late.n || c->resets.n || c->no_time.n || c->bad_rows.n ||
        c->bad_cells.n || source->streams[k].clock.wraps)
      return 1;
  }
  return 0;
}

double cli_log_source_share(const cli_log_source *source)
{
  double done = 0.0, all = 0.0;
  for (size_t i = 0; i < source->paths.n; i++) {
    struct stat about;
    if (stat(source->paths.file[i].path, &about) != 0 || !S_ISREG(about.st_mode)) return NAN;
    all += (double)about.st_size;
  }
  for (size_t k = 0; k < source->n_streams; k++)
    done += (double)(source->streams[k].bytes + bramah_log_bytes(source->streams[k].reader));
  return all > 0.0 ? done / all : NAN;
}

static bramah_status read_to_end(cli_log_source *source, int64_t *time_ns, bramah_diag *diag)
{
  double *values = calloc(source->n_inputs + source->n_sensors + 1, sizeof *values);
  unsigned char *flags = calloc(source->n_inputs + source->n_sensors + 1, 1);
  bramah_status status = values && flags ? BRAMAH_OK : fail_memory(diag);
  bramah_sample sample = {.inputs = values, .has_input = flags};
  sample.y = values ? values + source->n_inputs : NULL;
  sample.present = flags ? flags + source->n_inputs : NULL;
  int end = 0;
  while (!status && !end) {
    status = cli_log_source_next(source, &sample, &end, diag);
    if (!status && !end) *time_ns = sample.time_ns;
  }
  free(values);
  free(flags);
  return status;
}

/* Opening a pipe once more could wait for a writer for ever. */
static int can_be_read_twice(const char *name)
{
  struct stat about;
  return strcmp(name, "-") != 0 &&
         (stat(name, &about) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

bramah_status cli_log_source_last_time(const bramah_session *session, size_t n, const char *const *names,
                                       int64_t *time_ns, int *known, bramah_diag *diag)
{
  cli_log_source source = {0};
  bramah_diag later;
  *known = 1;
  *time_ns = INT64_MIN;
  for (size_t i = 0; i < n; i++) *known &= can_be_read_twice(names[i]);
  if (!*known) return BRAMAH_OK;
  bramah_status status =
      cli_log_source_open(&source, bramah_session_study(session), n, names,
                          bramah_session_plant(session)->n_input, bramah_session_n_sensors(session), diag);
  if (!status) status = cli_log_source_bind(&source, session, diag);
  /* A bad row ends the log here as it will end the replay. */
  if (!status) read_to_end(&source, time_ns, &later);
  cli_log_source_close(&source);
  return status;
}

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
