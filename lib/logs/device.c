/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of a device one after the other, their columns and times, and their rows in the order of time. */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/logs/stream.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- marks and messages ---- */

/* "line" of text, else "row". */
static const char *word(const bramah__device *d, int64_t mark)
{
  const char *record = bramah_log_row_word(d->paths[bramah__mark_path(mark)].path);
  return record ? record : "line";
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
                d->reader->columns[d->time_column].name, "%s", "");
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
  const bramah_status status = bramah_log_open(path->path, format, diag, out);
  if (status) bramah__place(diag, path->path, 0);
  return status;
}

static bramah_status make_room(bramah__device *d, bramah_diag *diag)
{
  const size_t n = d->reader->n_columns + 1;
  free(d->values);
  free(d->present);
  d->values = calloc(n, sizeof *d->values);
  d->present = calloc(n, 1);
  return d->values && d->present ? BRAMAH_OK : bramah__fail_memory(diag);
}

bramah_status bramah__device_open(bramah__device *d, const bramah_study *study, const bramah__log_path *paths,
                                  size_t part, bramah_log_reader *reader, bramah_diag *diag)
{
  const bramah_study_file *entry = paths[part].entry;
  *d = (bramah__device){.study = study,
                        .paths = paths,
                        .entry = entry,
                        .reader = reader,
                        .jump_ns = INT64_MIN,
                        .reorder_ns = study ? study->log.reorder_ns : 0,
                        .time = study ? study->time : (bramah_study_time){.column = "t"},
                        .time_column = SIZE_MAX};

  /* What an entry of log.files does not say of its times the log has said. */
  if (study && entry && entry->time.line) {
    const bramah_study_time *log = &study->time;
    bramah_study_time *time = &d->time;
    *time = entry->time;
    if (!time->column) time->column = log->column;
    if (!time->unit && !time->rate.text) { /* they go together: 'unit: counts' needs its rate */
      time->unit = log->unit;
      time->rate = log->rate;
    }
    if (!time->wrap.text) time->wrap = log->wrap;
    if (!time->offset.text) time->offset = log->offset;
    if (!time->origin.text) time->origin = log->origin;
    if (time->drift == 0.0) time->drift = log->drift;
  }
  const bramah_status status = make_room(d, diag);
  return status ? status : bramah__device_follow(d, part, diag);
}

bramah_status bramah__device_follow(bramah__device *d, size_t part, bramah_diag *diag)
{
  size_t *parts = realloc(d->parts, (d->n_parts + 1) * sizeof *parts);
  if (!parts) return bramah__fail_memory(diag);
  d->parts = parts;
  const char **files = realloc(d->files, (d->n_parts + 1) * sizeof *files);
  if (!files) return bramah__fail_memory(diag);
  d->files = files;
  files[d->n_parts] = d->paths[part].path;
  parts[d->n_parts++] = part;
  return BRAMAH_OK;
}

void bramah__device_close(bramah__device *d)
{
  bramah_log_close(d->reader);
  for (size_t i = 0; i < d->n_targets; i++) free(d->targets[i].copy);
  free(d->parts);
  free(d->files);
  free(d->values);
  free(d->present);
  free(d->targets);
  free(d->rows);
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
  bramah_status status = bramah_log_find(d->reader, d->time.column, NULL, &column, diag);
  if (!status) status = bramah__log_set_time(d->reader, column, unit, counter, diag);
  if (status) {
    bramah__place(diag, d->reader->path, 0);
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (wanted for the time)");
    return status;
  }
  const int first = d->time_column == SIZE_MAX;
  d->time_column = column;
  const int is_date = d->reader->clock.iso;
  if (first) return bramah__clock_make(&d->clock, d->study, &d->time, is_date, diag);
  if (is_date != d->clock.is_date)
    return bramah__failf(diag, BRAMAH_E_TIME, d->reader->path, 0, d->time.column,
                         "the times of this file %s a date, those of the files before %s",
                         is_date ? "have" : "do not have", is_date ? "do not" : "do");
  return BRAMAH_OK;
}

/* Of a file that follows: the wraps go on. */
static bramah_status bind(bramah__device *d, bramah__target *target, bramah_diag *diag)
{
  const double last = target->map.last, turns = target->map.turns;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_find(d->reader, target->name, NULL, &target->column, diag);
  if (!status)
    status = bramah__column_map_bind(&target->map, d->study, target->from, d->reader, target->column,
                                     target->si_unit, diag);
  if (status) bramah__place(diag, d->reader->path, 0);
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

/* A column that another target wants as it is in the file comes so, for one that would have it in SI, too. */
static void share_columns(bramah__device *d)
{
  for (size_t i = 0; i < d->n_targets; i++) {
    bramah__target *t = &d->targets[i];
    int is_raw = 0;
    for (size_t k = 0; k < d->n_targets; k++)
      is_raw |= d->targets[k].column == t->column && !d->targets[k].map.plain;
    if (t->map.plain && is_raw) bramah__column_map_si(&t->map, d->reader->columns[t->column].unit);
  }
}

void bramah__device_ignore_others(bramah__device *d)
{
  share_columns(d);
  for (size_t column = 0; column < d->reader->n_columns; column++) {
    int wanted = column == d->time_column;
    for (size_t i = 0; i < d->n_targets; i++) wanted |= d->targets[i].column == column;
    d->reader->columns[column].ignored = !wanted;
  }
}

/* ---- from file to file ---- */

/* What the reader of the present file has skipped. */
static void add_skipped(const bramah__device *d, bramah_log_counts *counts)
{
  const bramah_log_info info = bramah_log_get_info(d->reader);
  for (size_t i = 0; i <= info.n_columns; i++) {
    bramah_log_event *event = i ? &counts->bad_cells : &counts->bad_rows;
    const uint64_t n = i ? info.columns[i - 1].bad_cells : info.bad_rows;
    const int line = i ? info.columns[i - 1].first_bad : info.first_bad_row;
    if (n && !event->n) event->mark = bramah__mark(d->parts[d->part], line);
    event->n += n;
  }
  if (info.lost && !counts->lost.n) counts->lost.mark = bramah__mark(d->parts[d->part], info.first_lost);
  counts->lost.n += info.lost;
  if (info.is_cut) note(&counts->cut, bramah__mark(d->parts[d->part], info.line));
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

/* The row of the files that comes next: its time on the clock and its mark; *end = 1 after the last part. */
static bramah_status read_next(bramah__device *d, int64_t *ns, int64_t *mark, int *end, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  int ended = 0;
  *end = 0;
  while (!status) {
    status = bramah_log_next(d->reader, d->values, d->present, &ended, diag);
    if (status) break;

    /* On to the next file, whose columns may be others. */
    if (ended) {
      collect(d);
      *end = d->part + 1 == d->n_parts;
      if (*end) return BRAMAH_OK;
      d->bytes += bramah_log_get_info(d->reader).bytes;
      bramah_log_reader *reader;
      status = bramah__device_open_file(d->study, &d->paths[d->parts[d->part + 1]], diag, &reader);
      if (status) return status;
      bramah_log_close(d->reader);
      d->reader = reader;
      d->part++;
      d->collected = 0;
      status = make_room(d, diag);
      if (!status) status = bramah__device_find_time(d, diag);
      for (size_t i = 0; !status && i < d->n_targets; i++) status = bind(d, &d->targets[i], diag);
      if (status) return status;
      bramah__device_ignore_others(d);
      continue;
    }

    /* A row; one without time may be left out. */
    *mark = bramah__mark(d->parts[d->part], d->reader->given_line);
    if (!d->present[d->time_column]) {
      if (!d->study || !d->study->log.format.skip_bad_rows)
        status = fail_row(d, *mark, diag, "the time of this row is missing");
      else
        note(&d->counts.no_time, *mark);
      continue;
    }
    d->counts.rows++;
    if (bramah__clock_read(&d->clock, d->reader->time, ns)) return BRAMAH_OK;
    status = fail_row(d, *mark, diag, "this time does not fit into nanoseconds");
  }
  bramah__place(diag, d->reader->path, 0);
  collect(d);
  return status;
}

bramah_status bramah__device_prime(bramah__device *d, int *end, bramah_diag *diag)
{
  d->out = calloc(d->n_targets + 1, sizeof *d->out);
  d->has = calloc(d->n_targets + 1, 1);
  if (!d->out || !d->has) return bramah__fail_memory(diag);
  const bramah_status status = read_next(d, &d->first_ns, &d->newest_mark, end, diag);
  d->primed = !status && !*end;
  d->over = *end;
  return status;
}

/* ---- rows that wait: [head, tail) of arrays with `room` rows, in the order of time ---- */

enum { MOST_ROOM = 1 << 20 };

static void move(bramah__device *d, size_t to, size_t from, size_t rows)
{
  const size_t n = d->n_targets;
  memmove(d->rows + to, d->rows + from, rows * sizeof *d->rows);
  memmove(d->cells + to * n, d->cells + from * n, rows * n * sizeof *d->cells);
  memmove(d->filled + to * n, d->filled + from * n, rows * n);
}

/* Put the row read last after all rows of the same time or before. */
static bramah_status insert(bramah__device *d, int64_t time_ns, int64_t mark, bramah_diag *diag)
{
  const size_t n = d->n_targets;

  /* Room after the tail: by moving what waits to the front where that is worth it, else by growing. */
  if (d->head == d->tail) d->head = d->tail = 0;
  if (d->tail == d->room && d->head > d->room / 2) {
    move(d, 0, d->head, d->tail - d->head);
    d->tail -= d->head;
    d->head = 0;
  } else if (d->tail == d->room) {
    const size_t room = d->room ? 2 * d->room : 16;
    if (room > MOST_ROOM)
      return bramah__failf(diag, BRAMAH_E_MEMORY, d->reader->path, d->reader->given_line, NULL,
                           "more than %d rows lie within log.reorder", MOST_ROOM / 2);
    bramah__waiting *rows = realloc(d->rows, room * sizeof *rows);
    if (rows) d->rows = rows;
    double *cells = realloc(d->cells, room * (n + 1) * sizeof *cells);
    if (cells) d->cells = cells;
    unsigned char *filled = realloc(d->filled, room * (n + 1));
    if (filled) d->filled = filled;
    if (!rows || !cells || !filled) return bramah__fail_memory(diag);
    d->room = room;
  }

  size_t at = d->tail;
  while (at > d->head && d->rows[at - 1].time_ns > time_ns) at--;
  if (at < d->tail) move(d, at + 1, at, d->tail - at);
  d->tail++;
  d->rows[at] = (bramah__waiting){time_ns, mark};
  for (size_t i = 0; i < n; i++) {
    const size_t column = d->targets[i].column;
    d->filled[at * n + i] = d->present[column];
    d->cells[at * n + i] = d->values[column];
  }
  return BRAMAH_OK;
}

/* ---- intervals ---- */

static double seconds(int64_t ns) { return 1e-9 * (double)ns; }

int64_t bramah__device_interval(const bramah__device *d)
{
  return d->n_intervals ? d->intervals[d->n_intervals / 2] : 0;
}

/* Longer than 1.75 times the usual one; both may be as long as the times of a log go. */
static int is_gap(int64_t usual, int64_t interval)
{
  return usual && interval - usual > usual / 4 * 3 + usual % 4 * 3 / 4;
}

/* ---- taking rows ---- */

static bramah_status take_forward(bramah__device *d, int64_t time_ns, int64_t mark, bramah_diag *diag)
{
  const bramah_status status = insert(d, time_ns, mark, diag);
  if (status) return status;
  if (d->any && is_gap(bramah__device_interval(d), time_ns - d->newest_ns)) {
    d->jump_ns = d->newest_ns;
    d->jump_mark = d->newest_mark;
  }
  d->any = 1;
  d->newest_ns = time_ns;
  d->newest_mark = mark;
  return BRAMAH_OK;
}

static bramah_status time_of(const bramah__device *d, int64_t ns, int64_t mark, int64_t *time_ns,
                             bramah_diag *diag)
{
  if (bramah__clock_time(&d->clock, ns, time_ns)) return BRAMAH_OK;
  return fail_row(d, mark, diag, "this time does not fit into nanoseconds");
}

/* A row further back than late rows may be: the clock began anew, where the study says so and the next row goes on
 * from there. A single row that is late would too, but then the next one is back where the clock was. What passed
 * meanwhile is not known; it is taken to be the usual interval. */
static bramah_status take_reset(bramah__device *d, int64_t time_ns, int64_t mark, bramah_diag *diag)
{
  const bramah_study_log *log = d->study ? &d->study->log : NULL;
  int64_t ns, next_ns, next_mark;
  int end;
  /* The time before the last jump ahead is before this one: what came after the jump was wrong. */
  if (d->jump_ns != INT64_MIN && time_ns > d->jump_ns)
    return fail_row(
        d, mark, diag, "time does not go forward: %.12g s after %.12g s; it jumped ahead after %s %d",
        seconds(time_ns), seconds(d->newest_ns), word(d, d->jump_mark), bramah__mark_line(d->jump_mark));
  if (!log || log->resets != BRAMAH_LOG_RESETS_JOIN || d->clock.is_date)
    return fail_row(
        d, mark, diag,
        "time does not go forward: %.12g s after %.12g s (log.reorder of the study puts late rows "
        "in order, log.resets joins a clock that began anew)",
        seconds(time_ns), seconds(d->newest_ns));
  bramah_status status = insert(d, INT64_MAX, mark, diag); /* its time comes with the next row */
  if (status) return status;
  d->tail--;
  status = read_next(d, &ns, &next_mark, &end, diag);
  if (status) return status;
  if (end) return fail_row(d, mark, diag, "time goes back in the last row alone");
  status = time_of(d, ns, next_mark, &next_ns, diag);
  if (status) return status;
  if (next_ns <= time_ns || next_ns - time_ns > log->longest_gap_ns || next_ns >= d->newest_ns)
    return fail_row(d, mark, diag,
                    "time goes back to %.12g s after %.12g s and does not go on from there: no clock that "
                    "began anew",
                    seconds(time_ns), seconds(d->newest_ns));
  const int64_t interval = bramah__device_interval(d);
  const int64_t usual = interval && interval <= log->longest_gap_ns ? interval : next_ns - time_ns;
  const int64_t shift = d->newest_ns + usual - time_ns;
  d->clock.joined += shift;
  d->jump_ns = INT64_MIN;
  d->newest_mark = mark;
  d->newest_ns = time_ns + shift;
  d->rows[d->tail++].time_ns = d->newest_ns;
  note(&d->counts.resets, mark);
  return take_forward(d, next_ns + shift, next_mark, diag);
}

/* ---- giving rows ---- */

/* The interval before the row that is given. */
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

/* Does the row count for the usual interval? Of rows that are messages those do that have a cell of the first one. */
static int is_beat(bramah__device *d, size_t at)
{
  const size_t n = d->n_targets;
  const unsigned char *filled = d->filled + at * n;
  if (!d->reader->is_sparse) return 1;
  if (!d->given)
    for (d->beat = 0; d->beat + 1 < n && !filled[d->beat];) d->beat++;
  for (size_t row = at; n && row < d->tail && d->rows[row].time_ns == d->rows[at].time_ns; row++)
    if (d->filled[row * n + d->beat]) return 1;
  return 0;
}

/* The earliest row that waits, with all rows of its time. A contradiction, or a value beyond all numbers, ends the
 * log with it. */
static void give(bramah__device *d)
{
  const size_t n = d->n_targets, at = d->head++;
  int good = 1;
  const int beats = is_beat(d, at);
  if (beats && d->given) note_interval(d, d->rows[at].time_ns - d->beat_ns);
  if (beats) d->beat_ns = d->rows[at].time_ns;
  d->given++;
  d->time_ns = d->rows[at].time_ns;
  d->mark = d->rows[at].mark;
  memcpy(d->out, d->cells + at * n, n * sizeof *d->out);
  memcpy(d->has, d->filled + at * n, n);

  /* Other rows of the time: what they add. */
  while (good && d->head < d->tail && d->rows[d->head].time_ns == d->time_ns) {
    const bramah__waiting *row = &d->rows[d->head];
    const double *cells = d->cells + d->head * n;
    const unsigned char *filled = d->filled + d->head++ * n;
    int more = 0;
    for (size_t i = 0; good && i < n; i++) {
      if (!filled[i] || !d->has[i] || memcmp(&cells[i], &d->out[i], sizeof cells[i]) == 0) continue;
      fail_row(d, row->mark, &d->failure,
               "time does not go forward: %.12g s as in %s %d, but there '%s' is %.9g and here %.9g",
               seconds(row->time_ns), word(d, d->mark), bramah__mark_line(d->mark), d->targets[i].name,
               d->out[i], cells[i]);
      good = 0;
    }
    for (size_t i = 0; good && i < n; i++) {
      if (!filled[i] || d->has[i]) continue;
      d->out[i] = cells[i];
      d->has[i] = 1;
      more = 1;
    }
    if (good) note(more ? &d->counts.merged : &d->counts.repeated, row->mark);
  }

  /* In SI, as the study scales it. */
  for (size_t i = 0; i < n; i++) {
    const double cell = d->out[i];
    if (!d->has[i]) continue;
    const bramah__column_map *map = &d->targets[i].map;
    if (bramah__column_map_is_dead(map, cell)) {
      d->has[i] = 0;
      if (d->study->log.format.skip_bad_cells) {
        note(&d->counts.bad_cells, d->mark);
        continue;
      }
      bramah__failf(
          &d->failure, BRAMAH_E_VALUE, d->paths[bramah__mark_path(d->mark)].path, bramah__mark_line(d->mark),
          d->targets[i].name,
          "%.6g is no measurement: this loop is alive from %.6g to %.6g (a broken wire?); 'log: {bad_cells: "
          "skip}' goes on without such cells",
          cell, map->least, map->most);
      good = 0;
      continue;
    }
    d->out[i] = bramah__column_map_value(&d->targets[i].map, cell);
    if (isfinite(d->out[i])) continue;
    bramah__failf(&d->failure, BRAMAH_E_NOT_FINITE, d->paths[bramah__mark_path(d->mark)].path,
                  bramah__mark_line(d->mark), d->targets[i].name, "%g becomes %g as the study scales it",
                  cell, d->out[i]);
    d->has[i] = 0;
    good = 0;
  }
  if (good) return;
  d->head = d->tail;
  d->over = 1;
}

bramah_status bramah__device_next(bramah__device *d, int *end, bramah_diag *diag)
{
  *end = 0;
  /* Rows are read and put among those that wait until none can come any more that belongs before the first. */
  while (!d->over && (d->tail == d->head || d->newest_ns - d->rows[d->head].time_ns <= d->reorder_ns)) {
    int64_t mark = d->newest_mark, ns = d->first_ns, time_ns = 0;
    bramah_status status = BRAMAH_OK;
    if (!d->primed) status = read_next(d, &ns, &mark, &d->over, &d->failure);
    d->primed = 0;
    if (!status && d->over) break;
    if (!status) status = time_of(d, ns, mark, &time_ns, &d->failure);
    const int64_t late = !status && d->any ? d->newest_ns - time_ns : 0;
    if (!status && late <= 0) {
      status = take_forward(d, time_ns, mark, &d->failure);
    } else if (!status && late > d->reorder_ns) {
      status = take_reset(d, time_ns, mark, &d->failure);
    } else if (!status) {
      note(&d->counts.late, mark);
      if (late > d->counts.most_late_ns) d->counts.most_late_ns = late;
      status = insert(d, time_ns, mark, &d->failure);
    }
    if (status) d->over = 1;
  }
  if (d->tail > d->head) return give(d), BRAMAH_OK;
  *end = !d->failure.status;
  if (d->failure.status) *diag = d->failure;
  return d->failure.status;
}
