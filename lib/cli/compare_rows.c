/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/compare_rows.h"
#include "lib/cli/truth.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>

/* ---- one file ---- */

static bramah_status open_side(cli_side *side, const char *path, const char *time, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_open(path, diag, &side->reader);
  if (!status) status = bramah_log_find(side->reader, time, "s", &side->time, diag);
  if (status) {
    cli_place(diag, path, 0);
    return status;
  }
  const size_t n = bramah_log_n_columns(side->reader);
  for (int i = 0; i < 2; i++) {
    side->row[i].values = calloc(n, sizeof(double));
    side->row[i].present = calloc(n, 1);
    if (!side->row[i].values || !side->row[i].present)
      return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  }
  return BRAMAH_OK;
}

static void close_side(cli_side *side)
{
  bramah_log_close(side->reader);
  for (int i = 0; i < 2; i++) {
    free(side->row[i].values);
    free(side->row[i].present);
  }
}

static cli_side_row *present_row(cli_side *side) { return &side->row[side->now]; }
static cli_side_row *next_row(cli_side *side) { return &side->row[!side->now]; }

/* Read the row after the present one, the first within the window. */
static bramah_status read_next(cli_side *side, const cli_pairs *pairs, bramah_diag *diag)
{
  cli_side_row *row = next_row(side);
  do {
    int end;
    bramah_status status = bramah_log_next(side->reader, row->values, row->present, &end, diag);
    side->more = !status && !end;
    if (!side->more) return status;
    status = cli_log_time(side->reader, side->time, row->values, row->present, &row->time_ns, diag);
    if (status) return status;
    if (side->last_ns != INT64_MIN && row->time_ns <= side->last_ns)
      return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(side->reader), bramah_log_line(side->reader),
                      bramah_log_column_name(side->reader, side->time), "time does not go forward");
    side->last_ns = row->time_ns;
  } while (row->time_ns < pairs->from_ns);
  if (row->time_ns > pairs->to_ns) side->more = 0;
  return BRAMAH_OK;
}

static bramah_status advance(cli_side *side, const cli_pairs *pairs, bramah_diag *diag)
{
  side->here = side->more;
  if (!side->more) return BRAMAH_OK;
  side->now = !side->now;
  if (!side->rows++) side->first_ns = present_row(side)->time_ns;
  return read_next(side, pairs, diag);
}

static bramah_status begin(cli_side *side, const cli_pairs *pairs, bramah_diag *diag)
{
  side->last_ns = INT64_MIN;
  const bramah_status status = read_next(side, pairs, diag);
  return status ? status : advance(side, pairs, diag);
}

/* ---- two files ---- */

bramah_status cli_pairs_open(cli_pairs *pairs, const char *const *paths, const char *time, bramah_diag *diag)
{
  *pairs = (cli_pairs){.from_ns = INT64_MIN, .to_ns = INT64_MAX};
  const bramah_status status = open_side(&pairs->side[0], paths[0], time, diag);
  return status ? status : open_side(&pairs->side[1], paths[1], time, diag);
}

void cli_pairs_close(cli_pairs *pairs)
{
  close_side(&pairs->side[0]);
  close_side(&pairs->side[1]);
}

static uint64_t apart(int64_t a, int64_t b)
{
  return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int64_t time_of(cli_side *side) { return present_row(side)->time_ns; }

/* The present row has no partner. */
static bramah_status leave_out(cli_pairs *pairs, cli_side *side, cli_side *other, bramah_diag *diag)
{
  if (other->rows && time_of(side) < other->first_ns)
    side->before++;
  else if (!other->here)
    side->after++;
  else
    side->between++;
  return advance(side, pairs, diag);
}

/* The file whose present row has no partner; NULL: the two are a pair. */
static cli_side *lonely(cli_pairs *pairs)
{
  cli_side *a = &pairs->side[0], *b = &pairs->side[1];
  if (!a->here) return b;
  if (!b->here) return a;
  cli_side *early = time_of(a) <= time_of(b) ? a : b, *late = early == a ? b : a;
  const uint64_t gap = apart(time_of(early), time_of(late));
  if (gap > pairs->within_ns) return early;
  return gap && early->more && apart(next_row(early)->time_ns, time_of(late)) < gap ? early : NULL;
}

static bramah_status go_on(cli_pairs *pairs, bramah_diag *diag)
{
  cli_side *a = &pairs->side[0], *b = &pairs->side[1];
  const int begun = pairs->paired;
  pairs->paired = 1;
  const bramah_status status = begun ? advance(a, pairs, diag) : begin(a, pairs, diag);
  if (status) return status;
  return begun ? advance(b, pairs, diag) : begin(b, pairs, diag);
}

bramah_status cli_pairs_next(cli_pairs *pairs, int *end, bramah_diag *diag)
{
  cli_side *a = &pairs->side[0], *b = &pairs->side[1], *alone;
  bramah_status status = go_on(pairs, diag);
  *end = 0;
  while (!status && (a->here || b->here) && (alone = lonely(pairs)))
    status = leave_out(pairs, alone, alone == a ? b : a, diag);
  if (status) return status;
  if (!a->here) return *end = 1, BRAMAH_OK;
  const uint64_t gap = apart(time_of(a), time_of(b));
  if (gap > pairs->furthest_ns) pairs->furthest_ns = gap;
  pairs->n++;
  return BRAMAH_OK;
}

double cli_pairs_value(const cli_pairs *pairs, int side, size_t column)
{
  const cli_side *s = &pairs->side[side];
  const cli_side_row *row = &s->row[s->now];
  return row->present[column] ? row->values[column] : NAN;
}

int64_t cli_pairs_time(const cli_pairs *pairs)
{
  const cli_side *side = &pairs->side[0];
  return side->row[side->now].time_ns;
}
