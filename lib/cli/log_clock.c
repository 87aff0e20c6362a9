/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/log_clock.h"
#include "bramah/units.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what the study says ---- */

static bramah_status fail_figure(const bramah_study *study, const bramah_study_figure *figure,
                                 const char *key, bramah_diag *diag)
{
  snprintf(diag->thing, sizeof diag->thing, "time.%s", key);
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  diag->line = figure->line;
  diag->column = figure->column;
  return diag->status;
}

/* A figure in `unit`; 0 where it is not given. */
static bramah_status read_figure(const bramah_study *study, const bramah_study_figure *figure,
                                 const char *unit, const char *key, double *out, bramah_diag *diag)
{
  *out = 0.0;
  bramah_diag_clear(diag);
  if (!figure->text || !bramah_quantity_parse(figure->text, unit, out, diag)) return BRAMAH_OK;
  return fail_figure(study, figure, key, diag);
}

static bramah_status read_wrap(cli_log_clock *clock, const bramah_study *study, const bramah_study_time *time,
                               bramah_diag *diag)
{
  double wrap;
  const bramah_status status =
      read_figure(study, &time->wrap, clock->rate > 0.0 ? "1" : "s", "wrap", &wrap, diag);
  if (status) return status;
  clock->wrap = llround(clock->rate > 0.0 ? wrap : 1e9 * wrap);
  return BRAMAH_OK;
}

static bramah_status read_origin(cli_log_clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, bramah_diag *diag)
{
  double seconds;
  clock->origin = clock->is_iso ? CLI_LOG_ORIGIN_FIRST : CLI_LOG_ORIGIN_NONE;
  if (!time->origin.text) return BRAMAH_OK;
  if (strcmp(time->origin.text, "first") == 0) {
    clock->origin = time == &study->time ? CLI_LOG_ORIGIN_FIRST : CLI_LOG_ORIGIN_OWN;
    return BRAMAH_OK;
  }
  clock->origin = CLI_LOG_ORIGIN_STATED;
  const int is_date = bramah_log_read_time(time->origin.text, &clock->zero) == BRAMAH_OK;
  if (is_date != clock->is_iso) {
    cli_fail(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
             is_date ? "a date, but the log's times have none"
                     : "a date is wanted, as the log's times have one");
    return fail_figure(study, &time->origin, "origin", diag);
  }
  if (is_date) return BRAMAH_OK;
  const bramah_status status = read_figure(study, &time->origin, "s", "origin", &seconds, diag);
  if (!status) clock->zero = llround(1e9 * seconds);
  return status;
}

bramah_status cli_log_clock_make(cli_log_clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, int is_iso, bramah_diag *diag)
{
  double offset = 0.0;
  *clock = (cli_log_clock){.is_iso = is_iso, .origin = is_iso ? CLI_LOG_ORIGIN_FIRST : CLI_LOG_ORIGIN_NONE};
  if (!study) return BRAMAH_OK;
  clock->drift = time->drift;
  bramah_status status = read_figure(study, &time->rate, "Hz", "rate", &clock->rate, diag);
  if (!status) status = read_figure(study, &time->offset, "s", "offset", &offset, diag);
  if (!status) status = read_wrap(clock, study, time, diag);
  clock->offset = llround(1e9 * offset);
  return status ? status : read_origin(clock, study, time, diag);
}

/* ---- readings ---- */

/* The clock has begun anew, or a late row is from before that. */
static int64_t unwind(cli_log_clock *clock, int64_t reading)
{
  const int64_t change = reading - clock->last;
  if (clock->started && change < -(clock->wrap / 2)) clock->unwound += clock->wrap, clock->wraps++;
  if (clock->started && change > clock->wrap / 2) clock->unwound -= clock->wrap, clock->wraps--;
  clock->last = reading;
  return reading + clock->unwound;
}

int cli_log_clock_read(cli_log_clock *clock, int64_t reading, int64_t *ns)
{
  static const int64_t limit = INT64_C(4000000000000000000);
  if (clock->wrap) reading = unwind(clock, reading);
  if (reading > limit || reading < -limit) return 0;
  if (clock->rate > 0.0) {
    const long double exact = (long double)reading * 1e9L / (long double)clock->rate;
    if (!(fabsl(exact) < (long double)limit)) return 0;
    reading = llroundl(exact);
  }
  if (!clock->started) clock->first = reading;
  clock->started = 1;
  *ns = reading;
  return 1;
}

int64_t cli_log_clock_time(const cli_log_clock *clock, int64_t ns)
{
  if (clock->drift != 0.0)
    ns = clock->first + llroundl((long double)(ns - clock->first) / (1.0L + (long double)clock->drift));
  return ns - clock->zero + clock->offset + clock->joined;
}
