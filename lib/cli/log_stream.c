/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a device one after the other, their columns and times. log_order.c puts the rows in order. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/cli/log_stream.h"
#include "lib/cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks and messages ---- */

uint64_t cli_log_mark(size_t path, int line) { return (uint64_t)path << 32 | (uint32_t)line; }
size_t cli_log_mark_path(uint64_t mark) { return (size_t)(mark >> 32); }
int cli_log_mark_line(uint64_t mark) { return (int)(mark & UINT32_MAX); }

const char *cli_log_mark_word(const cli_log_stream *s, uint64_t mark)
{
  return bramah_log_is_mat(s->paths->file[cli_log_mark_path(mark)].path) ? "row" : "line";
}

void cli_log_note(cli_log_event *event, uint64_t mark)
{
  if (!event->n++) event->mark = mark;
}

bramah_status cli__log_fail(const cli_log_stream *s, uint64_t mark, bramah_diag *diag, const char *format,
                            ...)
{
  va_list list;
  cli_fail(diag, BRAMAH_E_TIME, s->paths->file[cli_log_mark_path(mark)].path, cli_log_mark_line(mark),
           bramah_log_column_name(s->reader, s->time_column), "%s", "");
  va_start(list, format);
  vsnprintf(diag->message, sizeof diag->message, format, list);
  va_end(list);
  return BRAMAH_E_TIME;
}

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- files ---- */

bramah_status cli_log_stream_open_file(const bramah_study *study, const cli_log_path *path, bramah_diag *diag,
                                       bramah_log_reader **out)
{
  const bramah_log_format *format = path->entry ? &path->entry->format : study ? &study->log.format : NULL;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_log_open_as(path->path, format, diag, out);
  if (status) cli_place(diag, path->path, 0);
  return status;
}

static void complete(bramah_study_value *figure, const bramah_study_value *from)
{
  if (!figure->text) *figure = *from;
}

/* What an entry of log.files does not say of its times the log has said. */
static bramah_study_time times_of(const bramah_study *study, const bramah_study_file *entry)
{
  if (!study) return (bramah_study_time){.column = "t"};
  if (!entry || !entry->time.line) return study->time;
  bramah_study_time time = entry->time;
  const bramah_study_time *log = &study->time;
  if (!time.column) time.column = log->column;
  if (!time.unit && !time.rate.text) { /* they go together: 'unit: counts' needs its rate */
    time.unit = log->unit;
    time.rate = log->rate;
  }
  complete(&time.wrap, &log->wrap);
  complete(&time.offset, &log->offset);
  complete(&time.origin, &log->origin);
  if (time.drift == 0.0) time.drift = log->drift;
  return time;
}

static bramah_status make_room(cli_log_stream *s, bramah_diag *diag)
{
  const size_t n = bramah_log_n_columns(s->reader) + 1;
  free(s->values);
  free(s->present);
  s->values = calloc(n, sizeof *s->values);
  s->present = calloc(n, 1);
  return s->values && s->present ? BRAMAH_OK : fail_memory(diag);
}

bramah_status cli_log_stream_open(cli_log_stream *s, const bramah_study *study, const cli_log_paths *paths,
                                  size_t part, bramah_log_reader *reader, bramah_diag *diag)
{
  *s = (cli_log_stream){.study = study,
                        .paths = paths,
                        .entry = paths->file[part].entry,
                        .reader = reader,
                        .jump_ns = INT64_MIN,
                        .reorder_ns = study ? study->log.reorder_ns : 0};
  s->time = times_of(study, s->entry);
  s->time_column = SIZE_MAX;
  const bramah_status status = make_room(s, diag);
  return status ? status : cli_log_stream_follow(s, part, diag);
}

bramah_status cli_log_stream_follow(cli_log_stream *s, size_t part, bramah_diag *diag)
{
  size_t *parts = realloc(s->parts, (s->n_parts + 1) * sizeof *parts);
  if (!parts) return fail_memory(diag);
  s->parts = parts;
  s->parts[s->n_parts++] = part;
  return BRAMAH_OK;
}

void cli_log_stream_close(cli_log_stream *s)
{
  bramah_log_close(s->reader);
  for (size_t i = 0; i < s->n_targets; i++) free(s->targets[i].name);
  free(s->parts);
  free(s->values);
  free(s->present);
  free(s->targets);
  free(s->rows);
  free(s->free_slots);
  free(s->cells);
  free(s->filled);
  free(s->out);
  free(s->has);
}

/* ---- columns ---- */

bramah_status cli_log_stream_find_time(cli_log_stream *s, bramah_diag *diag)
{
  const char *unit = s->time.unit;
  const int counter = s->time.rate.text != NULL;
  size_t column = 0;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_find_name(s->reader, s->time.column, &column, diag);
  if (!status) status = bramah_log_set_time(s->reader, column, unit, counter, diag);
  if (status) {
    cli_place(diag, bramah_log_path(s->reader), 0);
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (wanted for the time)");
    return status;
  }
  const int first = s->time_column == SIZE_MAX;
  s->time_column = column;
  const int is_iso = bramah_log_time_is_iso(s->reader);
  if (first) return cli_log_clock_make(&s->clock, s->study, &s->time, is_iso, diag);
  if (is_iso != s->clock.is_iso)
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(s->reader), 0, s->time.column,
                    "the times of this file %s a date, those of the files before %s",
                    is_iso ? "have" : "do not have", is_iso ? "do not" : "do");
  return BRAMAH_OK;
}

/* Of a file that follows: the wraps go on. */
static bramah_status bind(cli_log_stream *s, cli_log_target *target, bramah_diag *diag)
{
  const double last = target->map.last, turns = target->map.turns;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_find_name(s->reader, target->name, &target->column, diag);
  if (!status)
    status = cli_log_map_bind(&target->map, s->study, target->from, s->reader, target->column,
                              target->si_unit, diag);
  if (status) cli_place(diag, bramah_log_path(s->reader), 0);
  if (s->any) target->map.last = last, target->map.turns = turns;
  return status;
}

bramah_status cli_log_stream_feed(cli_log_stream *s, const cli_log_target *target, bramah_diag *diag)
{
  cli_log_target *targets = realloc(s->targets, (s->n_targets + 1) * sizeof *targets);
  if (!targets) return fail_memory(diag);
  s->targets = targets;
  targets[s->n_targets] = *target;
  targets[s->n_targets].name = strdup(target->name);
  if (!targets[s->n_targets].name) return fail_memory(diag);
  const bramah_status status = bind(s, &targets[s->n_targets], diag);
  if (status)
    free(targets[s->n_targets].name);
  else
    s->n_targets++;
  return status;
}

/* Cells that nobody wants are not read. */
static void ignore_others(cli_log_stream *s)
{
  for (size_t column = 0; column < bramah_log_n_columns(s->reader); column++) {
    int wanted = column == s->time_column;
    for (size_t i = 0; i < s->n_targets; i++) wanted |= s->targets[i].column == column;
    if (!wanted) bramah_log_ignore(s->reader, column);
  }
}

/* ---- from file to file ---- */

static void note_many(cli_log_event *event, uint64_t n, uint64_t mark)
{
  if (!event->n) event->mark = mark;
  event->n += n;
}

/* Once for each file. A column may feed several targets. */
void cli_log_stream_collect(cli_log_stream *s)
{
  const size_t path = s->parts[s->part];
  int line;
  if (s->collected) return;
  s->collected = 1;
  uint64_t n = bramah_log_bad_rows(s->reader, &line);
  note_many(&s->counts.bad_rows, n, cli_log_mark(path, line));
  for (size_t column = 0; column < bramah_log_n_columns(s->reader); column++) {
    n = bramah_log_bad_cells(s->reader, column, &line);
    if (n) note_many(&s->counts.bad_cells, n, cli_log_mark(path, line));
  }
  if (bramah_log_is_cut(s->reader))
    cli_log_note(&s->counts.cut, cli_log_mark(path, bramah_log_line(s->reader)));
}

static bramah_status next_part(cli_log_stream *s, int *end, bramah_diag *diag)
{
  cli_log_stream_collect(s);
  *end = s->part + 1 == s->n_parts;
  if (*end) return BRAMAH_OK;
  s->bytes += bramah_log_bytes(s->reader);
  bramah_log_reader *reader;
  bramah_status status =
      cli_log_stream_open_file(s->study, &s->paths->file[s->parts[s->part + 1]], diag, &reader);
  if (status) return status;
  bramah_log_close(s->reader);
  s->reader = reader;
  s->part++;
  s->collected = 0;
  status = make_room(s, diag);
  if (!status) status = cli_log_stream_find_time(s, diag);
  for (size_t i = 0; !status && i < s->n_targets; i++) status = bind(s, &s->targets[i], diag);
  ignore_others(s);
  return status;
}

/* 1: the row has no time and may be left out. */
static int has_no_time(cli_log_stream *s, uint64_t mark, bramah_status *status, bramah_diag *diag)
{
  if (s->present[s->time_column]) return 0;
  if (!s->study || !s->study->log.format.skip_bad_rows)
    *status = cli__log_fail(s, mark, diag, "the time of this row is missing");
  else
    cli_log_note(&s->counts.no_time, mark);
  return 1;
}

bramah_status cli__log_read(cli_log_stream *s, int64_t *ns, uint64_t *mark, int *end, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  int ended = 0;
  *end = 0;
  while (!status) {
    status = bramah_log_next(s->reader, s->values, s->present, &ended, diag);
    if (status) break;
    if (ended) {
      status = next_part(s, end, diag);
      if (status || *end) return status;
      continue;
    }
    *mark = cli_log_mark(s->parts[s->part], bramah_log_line(s->reader));
    if (has_no_time(s, *mark, &status, diag)) continue;
    s->counts.rows++;
    if (cli_log_clock_read(&s->clock, bramah_log_time(s->reader), ns)) return BRAMAH_OK;
    status = cli__log_fail(s, *mark, diag, "this time cannot be told in nanoseconds");
  }
  cli_place(diag, bramah_log_path(s->reader), 0);
  cli_log_stream_collect(s);
  return status;
}

bramah_status cli_log_stream_prime(cli_log_stream *s, int *end, bramah_diag *diag)
{
  ignore_others(s);
  s->out = calloc(s->n_targets + 1, sizeof *s->out);
  s->has = calloc(s->n_targets + 1, 1);
  if (!s->out || !s->has) return fail_memory(diag);
  const bramah_status status = cli__log_read(s, &s->first_ns, &s->newest_mark, end, diag);
  s->primed = !status && !*end;
  s->over = *end;
  return status;
}
