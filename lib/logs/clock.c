/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/logs/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What sums and differences of these stay within: readings of the clock, times of the log, figures of the
 * study. */
static const int64_t most_reading = INT64_C(4000000000000000000);
static const int64_t most_time = INT64_C(3000000000000000000);
static const double most_figure = 1e18;

/* ---- what the study says ---- */

static bramah_status fail_figure(const bramah_study *study, const bramah_study_value *figure,
                                 const char *key, bramah_diag *diag)
{
  snprintf(diag->thing, sizeof diag->thing, "time.%s", key);
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  diag->line = figure->line;
  diag->column = figure->column;
  return diag->status;
}

/* A figure in `unit`; 0 where it is not given. */
static bramah_status read_figure(const bramah_study *study, const bramah_study_value *figure,
                                 const char *unit, const char *key, double *out, bramah_diag *diag)
{
  *out = 0.0;
  bramah_diag_clear(diag);
  if (!figure->text || !bramah_quantity_parse(figure->text, unit, out, diag)) return BRAMAH_OK;
  return fail_figure(study, figure, key, diag);
}

/* The same as a whole number: of units of which `per_unit` make one of the figure's. */
static bramah_status read_whole(const bramah_study *study, const bramah_study_value *figure,
                                const char *unit, double per_unit, const char *key, int64_t *out,
                                bramah_diag *diag)
{
  double value;
  const bramah_status status = read_figure(study, figure, unit, key, &value, diag);
  if (status) return status;
  value *= per_unit;
  if (!(fabs(value) <= most_figure)) {
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "%s is more than a clock can show", figure->text);
    return fail_figure(study, figure, key, diag);
  }
  *out = llround(value);
  return BRAMAH_OK;
}

static bramah_status read_wrap(bramah__clock *clock, const bramah_study *study, const bramah_study_time *time,
                               bramah_diag *diag)
{
  const int counts = clock->rate > 0.0;
  return read_whole(study, &time->wrap, counts ? "1" : "s", counts ? 1.0 : 1e9, "wrap", &clock->wrap, diag);
}

/* An entry of log.files has the origin of the log. Of a date where its clock has none, or the other way round,
 * it makes nothing. */
static int is_taken_over(const bramah_study *study, const bramah_study_time *time)
{
  return time->origin.text == study->time.origin.text && time->line != study->time.line;
}

static bramah_status read_origin(bramah__clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, bramah_diag *diag)
{
  clock->origin = clock->is_date ? BRAMAH__ORIGIN_FIRST : BRAMAH__ORIGIN_NONE;
  if (!time->origin.text) return BRAMAH_OK;
  if (strcmp(time->origin.text, "first") == 0) {
    /* Said of the log, or of this file: `time` is a copy in both cases, its texts are not. */
    clock->origin = time->origin.text == study->time.origin.text ? BRAMAH__ORIGIN_FIRST : BRAMAH__ORIGIN_OWN;
    return BRAMAH_OK;
  }
  int64_t zero;
  const int states_date = bramah_log_read_time(time->origin.text, &zero) == BRAMAH_OK;
  if (states_date != clock->is_date && is_taken_over(study, time)) return BRAMAH_OK;
  clock->origin = BRAMAH__ORIGIN_STATED;
  if (states_date != clock->is_date) {
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                  states_date ? "a date, but the log's times have none"
                              : "a date is wanted, as the log's times have one");
    return fail_figure(study, &time->origin, "origin", diag);
  }
  if (states_date) return clock->zero = zero, BRAMAH_OK;
  return read_whole(study, &time->origin, "s", 1e9, "origin", &clock->zero, diag);
}

bramah_status bramah__clock_make(bramah__clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, int is_date, bramah_diag *diag)
{
  *clock =
      (bramah__clock){.is_date = is_date, .origin = is_date ? BRAMAH__ORIGIN_FIRST : BRAMAH__ORIGIN_NONE};
  if (!study) return BRAMAH_OK;
  clock->drift = time->drift;
  bramah_status status = read_figure(study, &time->rate, "Hz", "rate", &clock->rate, diag);
  if (!status) status = read_whole(study, &time->offset, "s", 1e9, "offset", &clock->offset, diag);
  if (!status) status = read_wrap(clock, study, time, diag);
  return status ? status : read_origin(clock, study, time, diag);
}

/* ---- readings ---- */

/* The clock has begun anew, or a late row is from before that. */
static int64_t unwind(bramah__clock *clock, int64_t reading)
{
  const int64_t change = reading - clock->last;
  if (clock->started && change < -(clock->wrap / 2)) clock->unwound += clock->wrap, clock->wraps++;
  if (clock->started && change > clock->wrap / 2)
    clock->unwound -= clock->wrap, clock->wraps -= clock->wraps > 0;
  clock->last = reading;
  return reading + clock->unwound;
}

static int is_within(int64_t ns, int64_t most) { return ns <= most && ns >= -most; }

int bramah__clock_read(bramah__clock *clock, int64_t reading, int64_t *ns)
{
  if (clock->wrap) {
    if (!is_within(reading, most_reading / 2) || !is_within(clock->unwound, most_reading)) return 0;
    reading = unwind(clock, reading);
  }
  if (!is_within(reading, most_reading)) return 0;
  if (clock->rate > 0.0) {
    const long double exact = (long double)reading * 1e9L / (long double)clock->rate;
    if (!(fabsl(exact) < (long double)most_reading)) return 0;
    reading = llroundl(exact);
  }
  if (!clock->started) clock->first = reading;
  clock->started = 1;
  *ns = reading;
  return 1;
}

/* Returns 0 if the sum would be beyond the times of a log. */
static int add(int64_t *sum, int64_t summand)
{
  if (summand > 0 ? *sum > most_time - summand : *sum < -most_time - summand) return 0;
  *sum += summand;
  return 1;
}

int bramah__clock_time(const bramah__clock *clock, int64_t ns, int64_t *time_ns)
{
  if (clock->drift != 0.0)
    ns = clock->first + llroundl((long double)(ns - clock->first) / (1.0L + (long double)clock->drift));
  *time_ns = ns;
  return add(time_ns, -clock->zero) && add(time_ns, clock->offset) && add(time_ns, clock->joined) &&
         is_within(*time_ns, most_time);
}
