/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows in the order of time: late ones, repeated ones, clocks that begin anew. */
#include "lib/cli/log_stream.h"
#include "lib/cli/message.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WAITING = 1 << 20 };

static double seconds(int64_t ns) { return 1e-9 * (double)ns; }

/* ---- rows that wait ---- */

static bramah_status grow(cli_log_stream *s, bramah_diag *diag)
{
  const size_t room = s->room ? 2 * s->room : 16, n = s->n_targets + 1;
  if (room > MOST_WAITING)
    return cli_fail(diag, BRAMAH_E_MEMORY, bramah_log_path(s->reader), bramah_log_line(s->reader), NULL,
                    "more than %d rows lie within log.reorder", MOST_WAITING / 2);
  cli_log_waiting *rows = realloc(s->rows, room * sizeof *rows);
  if (rows) s->rows = rows;
  size_t *free_slots = realloc(s->free_slots, room * sizeof *free_slots);
  if (free_slots) s->free_slots = free_slots;
  double *cells = realloc(s->cells, room * n * sizeof *cells);
  if (cells) s->cells = cells;
  unsigned char *filled = realloc(s->filled, room * n);
  if (filled) s->filled = filled;
  if (!rows || !free_slots || !cells || !filled)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t slot = room; slot > s->room; slot--) s->free_slots[s->n_free++] = slot - 1;
  s->room = room;
  return BRAMAH_OK;
}

/* Keep the cells of the row read last. */
static bramah_status keep(cli_log_stream *s, uint64_t mark, cli_log_waiting *row, bramah_diag *diag)
{
  if (!s->n_free) {
    const bramah_status status = grow(s, diag);
    if (status) return status;
  }
  const size_t slot = s->free_slots[--s->n_free], n = s->n_targets;
  double *cells = s->cells + slot * n;
  unsigned char *filled = s->filled + slot * n;
  for (size_t i = 0; i < n; i++) {
    const size_t column = s->targets[i].column;
    filled[i] = s->present[column];
    cells[i] = s->values[column];
  }
  *row = (cli_log_waiting){.mark = mark, .slot = slot};
  return BRAMAH_OK;
}

/* Behind all rows of the same time or before. */
static void insert(cli_log_stream *s, const cli_log_waiting *row)
{
  if (s->tail == s->room) { /* there is a free slot, so there is room in front */
    memmove(s->rows, s->rows + s->head, (s->tail - s->head) * sizeof *s->rows);
    s->tail -= s->head;
    s->head = 0;
  }
  size_t at = s->tail++;
  for (; at > s->head && s->rows[at - 1].time_ns > row->time_ns; at--) s->rows[at] = s->rows[at - 1];
  s->rows[at] = *row;
}

/* ---- intervals ---- */

int64_t cli_log_stream_interval(const cli_log_stream *s)
{
  return s->pace.n ? s->pace.sorted[s->pace.n / 2] : 0;
}

/* Longer than 1.75 times the usual one; both may be as long as the times of a log go. */
static int is_gap(int64_t usual, int64_t interval)
{
  return usual && interval - usual > usual / 4 * 3 + usual % 4 * 3 / 4;
}

/* Between rows in order. */
static void note_interval(cli_log_stream *s, int64_t interval)
{
  cli_log_pace *pace = &s->pace;
  const int64_t usual = cli_log_stream_interval(s);
  if (is_gap(usual, interval)) {
    cli_log_note(&s->counts.gaps, s->mark);
    s->counts.missing += (uint64_t)((interval + usual / 2) / usual - 1);
    if (interval > s->counts.longest_gap_ns) s->counts.gap_mark = s->mark;
    if (interval > s->counts.longest_gap_ns) s->counts.longest_gap_ns = interval;
  }
  if (pace->n == CLI_LOG_INTERVALS) return;
  size_t at = pace->n++;
  for (; at && pace->sorted[at - 1] > interval; at--) pace->sorted[at] = pace->sorted[at - 1];
  pace->sorted[at] = interval;
}

/* ---- taking rows ---- */

static void take_forward(cli_log_stream *s, cli_log_waiting *row, int64_t time_ns)
{
  row->time_ns = time_ns;
  if (s->any && is_gap(cli_log_stream_interval(s), time_ns - s->newest_ns)) {
    s->jump_ns = s->newest_ns;
    s->jump_mark = s->newest_mark;
  }
  s->any = 1;
  s->newest_ns = time_ns;
  s->newest_mark = row->mark;
  insert(s, row);
}

static void take_late(cli_log_stream *s, cli_log_waiting *row, int64_t time_ns)
{
  const int64_t late = s->newest_ns - time_ns;
  row->time_ns = time_ns;
  cli_log_note(&s->counts.late, row->mark);
  if (late > s->counts.most_late_ns) s->counts.most_late_ns = late;
  insert(s, row);
}

/* The time before the last jump ahead lies behind this one: what came after the jump was wrong. */
static int is_back_from_jump(const cli_log_stream *s, int64_t time_ns)
{
  return s->jump_ns != INT64_MIN && time_ns > s->jump_ns;
}

static bramah_status fail_back(const cli_log_stream *s, uint64_t mark, int64_t time_ns, bramah_diag *diag)
{
  if (is_back_from_jump(s, time_ns))
    return cli__log_fail(s, mark, diag,
                         "time does not go forward: %.12g s after %.12g s; it jumped ahead after "
                         "%s %d",
                         seconds(time_ns), seconds(s->newest_ns), cli_log_mark_word(s, s->jump_mark),
                         cli_log_mark_line(s->jump_mark));
  return cli__log_fail(
      s, mark, diag,
      "time does not go forward: %.12g s after %.12g s (log.reorder of the study puts late rows "
      "in order, log.resets joins a clock that began anew)",
      seconds(time_ns), seconds(s->newest_ns));
}

static bramah_status time_of(const cli_log_stream *s, int64_t ns, uint64_t mark, int64_t *time_ns,
                             bramah_diag *diag)
{
  if (cli_log_clock_time(&s->clock, ns, time_ns)) return BRAMAH_OK;
  return cli__log_fail(s, mark, diag, "this time cannot be told in nanoseconds");
}

static int may_reset(const cli_log_stream *s, int64_t time_ns)
{
  return s->study && s->study->log.resets == BRAMAH_LOG_RESETS_JOIN && !s->clock.is_iso &&
         !is_back_from_jump(s, time_ns);
}

/* The clock goes on from `time_ns`, to which it went back: a single row that is late would too, but then the
 * next one is back where the clock was. */
static int goes_on(const cli_log_stream *s, int64_t time_ns, int64_t next_ns)
{
  return next_ns > time_ns && next_ns - time_ns <= s->study->log.longest_gap_ns && next_ns < s->newest_ns;
}

/* What passed while the clock began anew is not known; it is taken to be the usual interval. */
static void join(cli_log_stream *s, cli_log_waiting *row, int64_t time_ns, cli_log_waiting *second,
                 int64_t next_ns)
{
  const int64_t step = next_ns - time_ns, interval = cli_log_stream_interval(s);
  const int64_t usual = interval && interval <= s->study->log.longest_gap_ns ? interval : step;
  const int64_t shift = s->newest_ns + usual - time_ns;
  s->clock.joined += shift;
  s->jump_ns = INT64_MIN;
  cli_log_note(&s->counts.resets, row->mark);
  take_forward(s, row, time_ns + shift);
  take_forward(s, second, next_ns + shift);
}

static bramah_status take_reset(cli_log_stream *s, cli_log_waiting *row, int64_t time_ns, bramah_diag *diag)
{
  cli_log_waiting second;
  uint64_t mark;
  int64_t ns;
  int end;
  if (!may_reset(s, time_ns)) return fail_back(s, row->mark, time_ns, diag);
  bramah_status status = cli__log_read(s, &ns, &mark, &end, diag);
  if (status) return status;
  if (end) return cli__log_fail(s, row->mark, diag, "time goes back in the last row alone");
  int64_t next_ns;
  status = time_of(s, ns, mark, &next_ns, diag);
  if (status) return status;
  if (!goes_on(s, time_ns, next_ns))
    return cli__log_fail(
        s, row->mark, diag,
        "time goes back to %.12g s after %.12g s and does not go on from there: no clock that "
        "began anew",
        seconds(time_ns), seconds(s->newest_ns));
  status = keep(s, mark, &second, diag);
  if (!status) join(s, row, time_ns, &second, next_ns);
  return status;
}

static bramah_status take(cli_log_stream *s, bramah_diag *diag)
{
  uint64_t mark = s->newest_mark;
  int64_t ns = s->first_ns;
  bramah_status status = BRAMAH_OK;
  cli_log_waiting row;
  if (!s->primed) status = cli__log_read(s, &ns, &mark, &s->over, diag);
  s->primed = 0;
  if (status || s->over) return status;
  status = keep(s, mark, &row, diag);
  if (status) return status;
  int64_t time_ns;
  status = time_of(s, ns, mark, &time_ns, diag);
  if (status) return status;
  if (!s->any || time_ns >= s->newest_ns)
    take_forward(s, &row, time_ns);
  else if (s->newest_ns - time_ns <= s->reorder_ns)
    take_late(s, &row, time_ns);
  else
    status = take_reset(s, &row, time_ns, diag);
  return status;
}

/* ---- giving rows ---- */

/* No row with the time of the first or before can come any more. */
static int is_ready(const cli_log_stream *s)
{
  return s->tail > s->head && (s->over || s->newest_ns - s->rows[s->head].time_ns > s->reorder_ns);
}

static void fail_contradiction(cli_log_stream *s, const cli_log_waiting *row, size_t i)
{
  const double before = s->out[i], now = s->cells[row->slot * s->n_targets + i];
  cli__log_fail(s, row->mark, &s->failure,
                "time does not go forward: %.12g s as in %s %d, but there '%s' is %.9g and here %.9g",
                seconds(row->time_ns), cli_log_mark_word(s, s->mark), cli_log_mark_line(s->mark),
                s->targets[i].name, before, now);
}

/* Another row of the time. Returns 0 if they contradict each other. */
static int absorb(cli_log_stream *s, const cli_log_waiting *row)
{
  const double *cells = s->cells + row->slot * s->n_targets;
  const unsigned char *filled = s->filled + row->slot * s->n_targets;
  int more = 0;
  for (size_t i = 0; i < s->n_targets; i++)
    if (filled[i] && s->has[i] && memcmp(&cells[i], &s->out[i], sizeof cells[i]) != 0)
      return fail_contradiction(s, row, i), 0;
  for (size_t i = 0; i < s->n_targets; i++) {
    if (!filled[i] || s->has[i]) continue;
    s->out[i] = cells[i];
    s->has[i] = 1;
    more = 1;
  }
  cli_log_note(more ? &s->counts.merged : &s->counts.repeated, row->mark);
  return 1;
}

static const cli_log_waiting *take_first(cli_log_stream *s)
{
  const cli_log_waiting *row = &s->rows[s->head++];
  s->free_slots[s->n_free++] = row->slot;
  return row;
}

/* A value beyond all numbers ends the log with the row before it. */
static void map_cell(cli_log_stream *s, size_t i)
{
  const cli_log_target *target = &s->targets[i];
  const double cell = s->out[i];
  s->out[i] = cli_log_map_value(&s->targets[i].map, cell);
  if (isfinite(s->out[i])) return;
  cli_fail(&s->failure, BRAMAH_E_NOT_FINITE, s->paths->file[cli_log_mark_path(s->mark)].path,
           cli_log_mark_line(s->mark), target->name, "%g becomes %g as the study scales it", cell, s->out[i]);
  s->has[i] = 0;
  s->head = s->tail;
  s->over = 1;
}

static void give(cli_log_stream *s)
{
  const size_t n = s->n_targets;
  const cli_log_waiting *row = take_first(s);
  if (s->given++) note_interval(s, row->time_ns - s->time_ns);
  s->time_ns = row->time_ns;
  s->mark = row->mark;
  memcpy(s->out, s->cells + row->slot * n, n * sizeof *s->out);
  memcpy(s->has, s->filled + row->slot * n, n);
  while (s->head < s->tail && s->rows[s->head].time_ns == s->time_ns)
    if (!absorb(s, take_first(s))) {
      s->head = s->tail; /* nothing is given after a contradiction */
      s->over = 1;
    }
  for (size_t i = 0; i < n; i++)
    if (s->has[i]) map_cell(s, i);
}

bramah_status cli_log_stream_next(cli_log_stream *s, int *end, bramah_diag *diag)
{
  *end = 0;
  while (!is_ready(s) && !s->over)
    if (take(s, &s->failure)) s->over = 1;
  if (s->tail == s->head) {
    *end = !s->failure.status;
    if (s->failure.status) *diag = s->failure;
    return s->failure.status;
  }
  give(s);
  return BRAMAH_OK;
}
