/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a device one after the other, their columns and times. log_order.c puts the rows in order. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/logs/stream.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks and messages ---- */

/* "line"; of a MAT file "row". */
static const char *word(const bramah__device *d, int64_t mark)
{
  return bramah_log_is_mat(d->paths[bramah__mark_path(mark)].path) ? "row" : "line";
}

static void note(bramah_log_event *event, int64_t mark)
{
  if (!event->n++) event->mark = mark;
}

/* An error in a row. */
static bramah_status fail_row(const bramah__device *d, int64_t mark, bramah_diag *diag, const char *format,
                              ...) BRAMAH__PRINTF(4, 5);

static bramah_status fail_row(const bramah__device *d, int64_t mark, bramah_diag *diag, const char *format,
                              ...)
{
  va_list list;
  bramah__failf(diag, BRAMAH_E_TIME, d->paths[bramah__mark_path(mark)].path, bramah__mark_line(mark),
                bramah_log_column_name(d->reader, d->time_column), "%s", "");
  va_start(list, format);
  vsnprintf(diag->message, sizeof diag->message, format, list);
  va_end(list);
  return BRAMAH_E_TIME;
}

/* ---- files ---- */

bramah_status bramah__device_open_file(const bramah_study *study, const bramah__log_path *path,
                                       bramah_diag *diag, bramah_log_reader **out)
{
  const bramah_log_format *format = path->entry ? &path->entry->format : study ? &study->log.format : NULL;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_log_open_as(path->path, format, diag, out);
  if (status) bramah__place(diag, path->path, 0);
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

static bramah_status make_room(bramah__device *d, bramah_diag *diag)
{
  const size_t n = bramah_log_n_columns(d->reader) + 1;
  free(d->values);
  free(d->present);
  d->values = calloc(n, sizeof *d->values);
  d->present = calloc(n, 1);
  return d->values && d->present ? BRAMAH_OK : bramah__fail_memory(diag);
}

bramah_status bramah__device_open(bramah__device *d, const bramah_study *study, const bramah__log_path *paths,
                                  size_t part, bramah_log_reader *reader, bramah_diag *diag)
{
  *d = (bramah__device){.study = study,
                        .paths = paths,
                        .entry = paths[part].entry,
                        .reader = reader,
                        .jump_ns = INT64_MIN,
                        .reorder_ns = study ? study->log.reorder_ns : 0};
  d->time = times_of(study, d->entry);
  d->time_column = SIZE_MAX;
  const bramah_status status = make_room(d, diag);
  return status ? status : bramah__device_follow(d, part, diag);
}

bramah_status bramah__device_follow(bramah__device *d, size_t part, bramah_diag *diag)
{
  size_t *parts = realloc(d->parts, (d->n_parts + 1) * sizeof *parts);
  if (!parts) return bramah__fail_memory(diag);
  d->parts = parts;
  d->parts[d->n_parts++] = part;
  return BRAMAH_OK;
}

void bramah__device_close(bramah__device *d)
{
  bramah_log_close(d->reader);
  for (size_t i = 0; i < d->n_targets; i++) free(d->targets[i].copy);
  free(d->parts);
  free(d->values);
  free(d->present);
  free(d->targets);
  free(d->rows);
  free(d->free_slots);
  free(d->cells);
  free(d->filled);
  free(d->out);
  free(d->has);
}

/* ---- columns ---- */

bramah_status bramah__device_find_time(bramah__device *d, bramah_diag *diag)
{
  const char *unit = d->time.unit;
  const int counter = d->time.rate.text != NULL;
  size_t column = 0;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_find_name(d->reader, d->time.column, &column, diag);
  if (!status) status = bramah_log_set_time(d->reader, column, unit, counter, diag);
  if (status) {
    bramah__place(diag, bramah_log_path(d->reader), 0);
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (wanted for the time)");
    return status;
  }
  const int first = d->time_column == SIZE_MAX;
  d->time_column = column;
  const int is_date = bramah_log_time_is_iso(d->reader);
  if (first) return bramah__clock_make(&d->clock, d->study, &d->time, is_date, diag);
  if (is_date != d->clock.is_date)
    return bramah__failf(diag, BRAMAH_E_TIME, bramah_log_path(d->reader), 0, d->time.column,
                         "the times of this file %s a date, those of the files before %s",
                         is_date ? "have" : "do not have", is_date ? "do not" : "do");
  return BRAMAH_OK;
}

/* Of a file that follows: the wraps go on. */
static bramah_status bind(bramah__device *d, bramah__target *target, bramah_diag *diag)
{
  const double last = target->map.last, turns = target->map.turns;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_find_name(d->reader, target->name, &target->column, diag);
  if (!status)
    status = bramah__column_map_bind(&target->map, d->study, target->from, d->reader, target->column,
                                     target->si_unit, diag);
  if (status) bramah__place(diag, bramah_log_path(d->reader), 0);
  if (d->any) target->map.last = last, target->map.turns = turns;
  return status;
}

bramah_status bramah__device_feed(bramah__device *d, const bramah__target *target, bramah_diag *diag)
{
  bramah__target *targets = realloc(d->targets, (d->n_targets + 1) * sizeof *targets);
  if (!targets) return bramah__fail_memory(diag);
  d->targets = targets;
  targets[d->n_targets] = *target;
  targets[d->n_targets].name = targets[d->n_targets].copy = strdup(target->name);
  if (!targets[d->n_targets].copy) return bramah__fail_memory(diag);
  const bramah_status status = bind(d, &targets[d->n_targets], diag);
  if (status)
    free(targets[d->n_targets].copy);
  else
    d->n_targets++;
  return status;
}

/* Cells that nobody wants are not read. */
static void ignore_others(bramah__device *d)
{
  for (size_t column = 0; column < bramah_log_n_columns(d->reader); column++) {
    int wanted = column == d->time_column;
    for (size_t i = 0; i < d->n_targets; i++) wanted |= d->targets[i].column == column;
    if (!wanted) bramah_log_ignore(d->reader, column);
  }
}

/* ---- from file to file ---- */

static void note_many(bramah_log_event *event, uint64_t n, int64_t mark)
{
  if (!event->n) event->mark = mark;
  event->n += n;
}

/* What the reader of the present file has skipped. A column may feed several targets. */
static void add_skipped(const bramah__device *d, bramah_log_counts *counts)
{
  const size_t path = d->parts[d->part];
  int line;
  uint64_t n = bramah_log_bad_rows(d->reader, &line);
  note_many(&counts->bad_rows, n, bramah__mark(path, line));
  for (size_t column = 0; column < bramah_log_n_columns(d->reader); column++) {
    n = bramah_log_bad_cells(d->reader, column, &line);
    if (n) note_many(&counts->bad_cells, n, bramah__mark(path, line));
  }
  if (bramah_log_is_cut(d->reader)) note(&counts->cut, bramah__mark(path, bramah_log_line(d->reader)));
}

bramah_log_counts bramah__device_counts(const bramah__device *d)
{
  bramah_log_counts counts = d->counts;
  if (!d->collected) add_skipped(d, &counts);
  return counts;
}

static void collect(bramah__device *d)
{
  if (!d->collected) add_skipped(d, &d->counts);
  d->collected = 1;
}

static bramah_status next_part(bramah__device *d, int *end, bramah_diag *diag)
{
  collect(d);
  *end = d->part + 1 == d->n_parts;
  if (*end) return BRAMAH_OK;
  d->bytes += bramah_log_bytes(d->reader);
  bramah_log_reader *reader;
  bramah_status status = bramah__device_open_file(d->study, &d->paths[d->parts[d->part + 1]], diag, &reader);
  if (status) return status;
  bramah_log_close(d->reader);
  d->reader = reader;
  d->part++;
  d->collected = 0;
  status = make_room(d, diag);
  if (!status) status = bramah__device_find_time(d, diag);
  for (size_t i = 0; !status && i < d->n_targets; i++) status = bind(d, &d->targets[i], diag);
  ignore_others(d);
  return status;
}

/* 1: the row has no time and may be left out. */
static int has_no_time(bramah__device *d, int64_t mark, bramah_status *status, bramah_diag *diag)
{
  if (d->present[d->time_column]) return 0;
  if (!d->study || !d->study->log.format.skip_bad_rows)
    *status = fail_row(d, mark, diag, "the time of this row is missing");
  else
    note(&d->counts.no_time, mark);
  return 1;
}

static bramah_status read_next(bramah__device *d, int64_t *ns, int64_t *mark, int *end, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  int ended = 0;
  *end = 0;
  while (!status) {
    status = bramah_log_next(d->reader, d->values, d->present, &ended, diag);
    if (status) break;
    if (ended) {
      status = next_part(d, end, diag);
      if (status || *end) return status;
      continue;
    }
    *mark = bramah__mark(d->parts[d->part], bramah_log_line(d->reader));
    if (has_no_time(d, *mark, &status, diag)) continue;
    d->counts.rows++;
    if (bramah__clock_read(&d->clock, bramah_log_time(d->reader), ns)) return BRAMAH_OK;
    status = fail_row(d, *mark, diag, "this time cannot be told in nanoseconds");
  }
  bramah__place(diag, bramah_log_path(d->reader), 0);
  collect(d);
  return status;
}

bramah_status bramah__device_prime(bramah__device *d, int *end, bramah_diag *diag)
{
  ignore_others(d);
  d->out = calloc(d->n_targets + 1, sizeof *d->out);
  d->has = calloc(d->n_targets + 1, 1);
  if (!d->out || !d->has) return bramah__fail_memory(diag);
  const bramah_status status = read_next(d, &d->first_ns, &d->newest_mark, end, diag);
  d->primed = !status && !*end;
  d->over = *end;
  return status;
}

enum { MOST_WAITING = 1 << 20 };

static double seconds(int64_t ns) { return 1e-9 * (double)ns; }

/* ---- rows that wait ---- */

static bramah_status grow(bramah__device *d, bramah_diag *diag)
{
  const size_t room = d->room ? 2 * d->room : 16, n = d->n_targets + 1;
  if (room > MOST_WAITING)
    return bramah__failf(diag, BRAMAH_E_MEMORY, bramah_log_path(d->reader), bramah_log_line(d->reader), NULL,
                         "more than %d rows lie within log.reorder", MOST_WAITING / 2);
  bramah__waiting *rows = realloc(d->rows, room * sizeof *rows);
  if (rows) d->rows = rows;
  size_t *free_slots = realloc(d->free_slots, room * sizeof *free_slots);
  if (free_slots) d->free_slots = free_slots;
  double *cells = realloc(d->cells, room * n * sizeof *cells);
  if (cells) d->cells = cells;
  unsigned char *filled = realloc(d->filled, room * n);
  if (filled) d->filled = filled;
  if (!rows || !free_slots || !cells || !filled) return bramah__fail_memory(diag);
  for (size_t slot = room; slot > d->room; slot--) d->free_slots[d->n_free++] = slot - 1;
  d->room = room;
  return BRAMAH_OK;
}

/* Keep the cells of the row read last. */
static bramah_status keep(bramah__device *d, int64_t mark, bramah__waiting *row, bramah_diag *diag)
{
  if (!d->n_free) {
    const bramah_status status = grow(d, diag);
    if (status) return status;
  }
  const size_t slot = d->free_slots[--d->n_free], n = d->n_targets;
  double *cells = d->cells + slot * n;
  unsigned char *filled = d->filled + slot * n;
  for (size_t i = 0; i < n; i++) {
    const size_t column = d->targets[i].column;
    filled[i] = d->present[column];
    cells[i] = d->values[column];
  }
  *row = (bramah__waiting){.mark = mark, .slot = slot};
  return BRAMAH_OK;
}

/* Behind all rows of the same time or before. */
static void insert(bramah__device *d, const bramah__waiting *row)
{
  if (d->tail == d->room) { /* there is a free slot, so there is room in front */
    memmove(d->rows, d->rows + d->head, (d->tail - d->head) * sizeof *d->rows);
    d->tail -= d->head;
    d->head = 0;
  }
  size_t at = d->tail++;
  for (; at > d->head && d->rows[at - 1].time_ns > row->time_ns; at--) d->rows[at] = d->rows[at - 1];
  d->rows[at] = *row;
}

/* ---- intervals ---- */

int64_t bramah__device_interval(const bramah__device *d)
{
  return d->n_intervals ? d->intervals[d->n_intervals / 2] : 0;
}

/* Longer than 1.75 times the usual one; both may be as long as the times of a log go. */
static int is_gap(int64_t usual, int64_t interval)
{
  return usual && interval - usual > usual / 4 * 3 + usual % 4 * 3 / 4;
}

/* Between rows in order. */
static void note_interval(bramah__device *d, int64_t interval)
{
  const int64_t usual = bramah__device_interval(d);
  if (is_gap(usual, interval)) {
    note(&d->counts.gaps, d->mark);
    d->counts.missing += (uint64_t)((interval + usual / 2) / usual - 1);
    if (interval > d->counts.longest_gap_ns) d->counts.gap_mark = d->mark;
    if (interval > d->counts.longest_gap_ns) d->counts.longest_gap_ns = interval;
  }
  if (d->n_intervals == BRAMAH__INTERVALS) return;
  size_t at = d->n_intervals++;
  for (; at && d->intervals[at - 1] > interval; at--) d->intervals[at] = d->intervals[at - 1];
  d->intervals[at] = interval;
}

/* ---- taking rows ---- */

static void take_forward(bramah__device *d, bramah__waiting *row, int64_t time_ns)
{
  row->time_ns = time_ns;
  if (d->any && is_gap(bramah__device_interval(d), time_ns - d->newest_ns)) {
    d->jump_ns = d->newest_ns;
    d->jump_mark = d->newest_mark;
  }
  d->any = 1;
  d->newest_ns = time_ns;
  d->newest_mark = row->mark;
  insert(d, row);
}

static void take_late(bramah__device *d, bramah__waiting *row, int64_t time_ns)
{
  const int64_t late = d->newest_ns - time_ns;
  row->time_ns = time_ns;
  note(&d->counts.late, row->mark);
  if (late > d->counts.most_late_ns) d->counts.most_late_ns = late;
  insert(d, row);
}

/* The time before the last jump ahead lies behind this one: what came after the jump was wrong. */
static int is_back_from_jump(const bramah__device *d, int64_t time_ns)
{
  return d->jump_ns != INT64_MIN && time_ns > d->jump_ns;
}

static bramah_status fail_back(const bramah__device *d, int64_t mark, int64_t time_ns, bramah_diag *diag)
{
  if (is_back_from_jump(d, time_ns))
    return fail_row(d, mark, diag,
                    "time does not go forward: %.12g s after %.12g s; it jumped ahead after "
                    "%s %d",
                    seconds(time_ns), seconds(d->newest_ns), word(d, d->jump_mark),
                    bramah__mark_line(d->jump_mark));
  return fail_row(d, mark, diag,
                  "time does not go forward: %.12g s after %.12g s (log.reorder of the study puts late rows "
                  "in order, log.resets joins a clock that began anew)",
                  seconds(time_ns), seconds(d->newest_ns));
}

static bramah_status time_of(const bramah__device *d, int64_t ns, int64_t mark, int64_t *time_ns,
                             bramah_diag *diag)
{
  if (bramah__clock_time(&d->clock, ns, time_ns)) return BRAMAH_OK;
  return fail_row(d, mark, diag, "this time cannot be told in nanoseconds");
}

static int may_reset(const bramah__device *d, int64_t time_ns)
{
  return d->study && d->study->log.resets == BRAMAH_LOG_RESETS_JOIN && !d->clock.is_date &&
         !is_back_from_jump(d, time_ns);
}

/* The clock goes on from `time_ns`, to which it went back: a single row that is late would too, but then the
 * next one is back where the clock was. */
static int goes_on(const bramah__device *d, int64_t time_ns, int64_t next_ns)
{
  return next_ns > time_ns && next_ns - time_ns <= d->study->log.longest_gap_ns && next_ns < d->newest_ns;
}

/* What passed while the clock began anew is not known; it is taken to be the usual interval. */
static void join(bramah__device *d, bramah__waiting *row, int64_t time_ns, bramah__waiting *second,
                 int64_t next_ns)
{
  const int64_t step = next_ns - time_ns, interval = bramah__device_interval(d);
  const int64_t usual = interval && interval <= d->study->log.longest_gap_ns ? interval : step;
  const int64_t shift = d->newest_ns + usual - time_ns;
  d->clock.joined += shift;
  d->jump_ns = INT64_MIN;
  note(&d->counts.resets, row->mark);
  take_forward(d, row, time_ns + shift);
  take_forward(d, second, next_ns + shift);
}

static bramah_status take_reset(bramah__device *d, bramah__waiting *row, int64_t time_ns, bramah_diag *diag)
{
  bramah__waiting second;
  int64_t mark;
  int64_t ns;
  int end;
  if (!may_reset(d, time_ns)) return fail_back(d, row->mark, time_ns, diag);
  bramah_status status = read_next(d, &ns, &mark, &end, diag);
  if (status) return status;
  if (end) return fail_row(d, row->mark, diag, "time goes back in the last row alone");
  int64_t next_ns;
  status = time_of(d, ns, mark, &next_ns, diag);
  if (status) return status;
  if (!goes_on(d, time_ns, next_ns))
    return fail_row(d, row->mark, diag,
                    "time goes back to %.12g s after %.12g s and does not go on from there: no clock that "
                    "began anew",
                    seconds(time_ns), seconds(d->newest_ns));
  status = keep(d, mark, &second, diag);
  if (!status) join(d, row, time_ns, &second, next_ns);
  return status;
}

static bramah_status take(bramah__device *d, bramah_diag *diag)
{
  int64_t mark = d->newest_mark;
  int64_t ns = d->first_ns;
  bramah_status status = BRAMAH_OK;
  bramah__waiting row;
  if (!d->primed) status = read_next(d, &ns, &mark, &d->over, diag);
  d->primed = 0;
  if (status || d->over) return status;
  status = keep(d, mark, &row, diag);
  if (status) return status;
  int64_t time_ns;
  status = time_of(d, ns, mark, &time_ns, diag);
  if (status) return status;
  if (!d->any || time_ns >= d->newest_ns)
    take_forward(d, &row, time_ns);
  else if (d->newest_ns - time_ns <= d->reorder_ns)
    take_late(d, &row, time_ns);
  else
    status = take_reset(d, &row, time_ns, diag);
  return status;
}

/* ---- giving rows ---- */

/* No row with the time of the first or before can come any more. */
static int is_ready(const bramah__device *d)
{
  return d->tail > d->head && (d->over || d->newest_ns - d->rows[d->head].time_ns > d->reorder_ns);
}

static void fail_contradiction(bramah__device *d, const bramah__waiting *row, size_t i)
{
  const double before = d->out[i], now = d->cells[row->slot * d->n_targets + i];
  fail_row(d, row->mark, &d->failure,
           "time does not go forward: %.12g s as in %s %d, but there '%s' is %.9g and here %.9g",
           seconds(row->time_ns), word(d, d->mark), bramah__mark_line(d->mark), d->targets[i].name, before,
           now);
}

/* Another row of the time. Returns 0 if they contradict each other. */
static int absorb(bramah__device *d, const bramah__waiting *row)
{
  const double *cells = d->cells + row->slot * d->n_targets;
  const unsigned char *filled = d->filled + row->slot * d->n_targets;
  int more = 0;
  for (size_t i = 0; i < d->n_targets; i++)
    if (filled[i] && d->has[i] && memcmp(&cells[i], &d->out[i], sizeof cells[i]) != 0)
      return fail_contradiction(d, row, i), 0;
  for (size_t i = 0; i < d->n_targets; i++) {
    if (!filled[i] || d->has[i]) continue;
    d->out[i] = cells[i];
    d->has[i] = 1;
    more = 1;
  }
  note(more ? &d->counts.merged : &d->counts.repeated, row->mark);
  return 1;
}

static const bramah__waiting *take_first(bramah__device *d)
{
  const bramah__waiting *row = &d->rows[d->head++];
  d->free_slots[d->n_free++] = row->slot;
  return row;
}

/* A value beyond all numbers ends the log with the row before it. */
static void map_cell(bramah__device *d, size_t i)
{
  const bramah__target *target = &d->targets[i];
  const double cell = d->out[i];
  d->out[i] = bramah__column_map_value(&d->targets[i].map, cell);
  if (isfinite(d->out[i])) return;
  bramah__failf(&d->failure, BRAMAH_E_NOT_FINITE, d->paths[bramah__mark_path(d->mark)].path,
                bramah__mark_line(d->mark), target->name, "%g becomes %g as the study scales it", cell,
                d->out[i]);
  d->has[i] = 0;
  d->head = d->tail;
  d->over = 1;
}

static void give(bramah__device *d)
{
  const size_t n = d->n_targets;
  const bramah__waiting *row = take_first(d);
  if (d->given++) note_interval(d, row->time_ns - d->time_ns);
  d->time_ns = row->time_ns;
  d->mark = row->mark;
  memcpy(d->out, d->cells + row->slot * n, n * sizeof *d->out);
  memcpy(d->has, d->filled + row->slot * n, n);
  while (d->head < d->tail && d->rows[d->head].time_ns == d->time_ns)
    if (!absorb(d, take_first(d))) {
      d->head = d->tail; /* nothing is given after a contradiction */
      d->over = 1;
    }
  for (size_t i = 0; i < n; i++)
    if (d->has[i]) map_cell(d, i);
}

bramah_status bramah__device_next(bramah__device *d, int *end, bramah_diag *diag)
{
  *end = 0;
  while (!is_ready(d) && !d->over)
    if (take(d, &d->failure)) d->over = 1;
  if (d->tail == d->head) {
    *end = !d->failure.status;
    if (d->failure.status) *diag = d->failure;
    return d->failure.status;
  }
  give(d);
  return BRAMAH_OK;
}
