/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of several devices merged by time. */
#include "lib/cli/log_source.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the zero of time ---- */

/* Clocks with and without a date have no common zero. */
static bramah_status check_clocks(const cli_log_source *source, bramah_diag *diag)
{
  const cli_log_stream *date = NULL, *none = NULL;
  for (size_t k = 0; k < source->n_streams; k++) {
    const cli_log_stream *s = &source->streams[k];
    if (s->clock.origin == CLI_LOG_ORIGIN_FIRST && s->clock.is_iso) date = s;
    if (s->clock.origin != CLI_LOG_ORIGIN_STATED && !s->clock.is_iso) none = s;
  }
  if (!date || !none) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(date->reader), 0, date->time.column,
                  "these times have a date, those of %s do not: state the date of their zero as 'origin' of "
                  "'time'",
                  bramah_log_path(none->reader));
}

static void set_zeros(cli_log_source *source)
{
  int64_t first = INT64_MAX;
  for (size_t k = 0; k < source->n_streams; k++) {
    const cli_log_stream *s = &source->streams[k];
    if (s->clock.origin == CLI_LOG_ORIGIN_FIRST && source->waiting[k] && s->first_ns < first)
      first = s->first_ns;
  }
  for (size_t k = 0; k < source->n_streams; k++) {
    cli_log_stream *s = &source->streams[k];
    if (s->clock.origin == CLI_LOG_ORIGIN_FIRST) s->clock.zero = first;
    if (s->clock.origin == CLI_LOG_ORIGIN_OWN) s->clock.zero = s->first_ns;
  }
}

void cli_log_source_starts(const cli_log_source *source, int64_t *out)
{
  for (size_t k = 0; k < source->n_streams; k++) out[k] = source->streams[k].first_ns;
}

bramah_status cli_log_source_expect(cli_log_source *source, size_t n, const int64_t *starts,
                                    bramah_diag *diag)
{
  source->expected = calloc(n + 1, sizeof *source->expected);
  if (!source->expected) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  if (n) memcpy(source->expected, starts, n * sizeof *starts);
  source->n_expected = n;
  return BRAMAH_OK;
}

static int counts_from_first_row(const cli_log_stream *s)
{
  const cli_log_clock *c = &s->clock;
  int counts = c->origin == CLI_LOG_ORIGIN_FIRST || c->origin == CLI_LOG_ORIGIN_OWN || c->drift != 0.0 ||
               c->wrap || (s->study && s->study->log.resets == BRAMAH_LOG_RESETS_JOIN);
  for (size_t i = 0; i < s->n_targets; i++) counts |= s->targets[i].map.wrap > 0.0;
  return counts;
}

static bramah_status check_starts(const cli_log_source *source, bramah_diag *diag)
{
  for (size_t k = 0; source->n_expected && k < source->n_streams; k++) {
    const cli_log_stream *s = &source->streams[k];
    if (!counts_from_first_row(s) ||
        (source->n_expected == source->n_streams && source->expected[k] == s->first_ns))
      continue;
    return cli_fail(
        diag, BRAMAH_E_TIME, bramah_log_path(s->reader), 0, s->time.column,
        "this log does not begin where that of the snapshot began, and its times or columns count from "
        "the first row: go on with the whole log");
  }
  return BRAMAH_OK;
}

static bramah_status advance(cli_log_source *source, size_t k, bramah_diag *diag)
{
  int end;
  const bramah_status status = cli_log_stream_next(&source->streams[k], &end, diag);
  source->waiting[k] = !status && !end;
  return status;
}

static bramah_status begin(cli_log_source *source, bramah_diag *diag)
{
  bramah_status status = check_clocks(source, diag);
  source->begun = 1;
  for (size_t k = 0; !status && k < source->n_streams; k++) {
    int end = 0;
    status = cli_log_stream_prime(&source->streams[k], &end, diag);
    source->waiting[k] = !end;
  }
  if (!status) status = check_starts(source, diag);
  if (status) return status;
  set_zeros(source);
  for (size_t k = 0; !status && k < source->n_streams; k++)
    if (source->waiting[k]) status = advance(source, k, diag);
  return status;
}

/* ---- rows ---- */

static void fill_cell(cli_log_source *source, bramah_sample *sample, size_t slot, double value)
{
  if (slot < source->n_inputs) {
    sample->inputs[slot] = value;
    sample->has_input[slot] = 1;
  } else {
    sample->y[slot - source->n_inputs] = value;
    sample->present[slot - source->n_inputs] = 1;
    source->y[slot - source->n_inputs] = value;
  }
}

static void fill(cli_log_source *source, const cli_log_stream *s, bramah_sample *sample)
{
  for (size_t i = 0; i < s->n_targets; i++)
    if (s->has[i]) fill_cell(source, sample, s->targets[i].slot, s->out[i]);
}

/* The earliest row that waits; all rows of its time. */
static void give(cli_log_source *source, bramah_sample *sample, int *end)
{
  const cli_log_stream *first = NULL;
  for (size_t k = 0; k < source->n_streams; k++)
    if (source->waiting[k] && (!first || source->streams[k].time_ns < first->time_ns))
      first = &source->streams[k];
  *end = !first;
  if (!first) return;
  sample->time_ns = first->time_ns;
  source->mark = first->mark;
  sample->mark = (int64_t)first->mark;
  source->rows++;
  for (size_t i = 0; i < source->n_sensors; i++) source->y[i] = NAN;
  for (size_t k = 0; k < source->n_streams; k++) {
    if (!source->waiting[k] || source->streams[k].time_ns != sample->time_ns) continue;
    fill(source, &source->streams[k], sample);
    source->waiting[k] = 2;
  }
  for (size_t i = 0; i < source->n_inputs; i++) source->held_rows[i] += !sample->has_input[i];
}

/* Go on in the streams whose rows were given. */
static bramah_status refill(cli_log_source *source, bramah_diag *diag)
{
  if (!source->begun) return begin(source, diag);
  for (size_t k = 0; k < source->n_streams; k++) {
    if (source->waiting[k] != 2) continue;
    const bramah_status status = advance(source, k, diag);
    if (status) return status;
  }
  return BRAMAH_OK;
}

bramah_status cli_log_source_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_log_source *source = user;
  const double start = cli_clock();
  bramah_status status = refill(source, diag);
  if (!status) give(source, sample, end);
  source->seconds += cli_clock() - start;
  return status;
}
