/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/window.h"
#include "lib/cli/message.h"
#include "lib/cli/output_files.h"
#include "lib/cli/stop.h"

#include <string.h>

cli_window cli_window_make(cli_log_source *source)
{
  return (cli_window){.source = source,
                      .from_ns = INT64_MIN,
                      .to_ns = INT64_MAX,
                      .after_ns = INT64_MIN,
                      .last_ns = INT64_MIN};
}

/* 1: the row is not for the replay. */
static int skip(cli_window *window, int64_t time_ns)
{
  if (time_ns <= window->after_ns) return window->used_before++, 1;
  if (time_ns < window->from_ns) return window->skipped++, 1;
  return 0;
}

/* A sparse column of commands has its last one before the window. */
static void complete_inputs(const cli_window *window, bramah_sample *sample)
{
  for (size_t i = 0; i < window->source->n_inputs; i++) {
    if (sample->has_input[i]) continue;
    sample->inputs[i] = window->source->held[i];
    sample->has_input[i] = 1;
  }
}

static bramah_status begin(cli_window *window, bramah_sample *sample, bramah_diag *diag)
{
  window->begun = 1;
  if (sample->time_ns > window->to_ns)
    return cli_fail(diag, BRAMAH_E_EMPTY, bramah_log_path(window->source->reader), 0, NULL,
                    "no row lies in the window: after --from comes %.9g s, behind --to",
                    cli_seconds(sample->time_ns));
  if (window->skipped || window->after_ns != INT64_MIN) complete_inputs(window, sample);
  return BRAMAH_OK;
}

static bramah_status end_of_log(const cli_window *window, bramah_diag *diag)
{
  if (!window->begun && window->skipped)
    return cli_fail(diag, BRAMAH_E_EMPTY, bramah_log_path(window->source->reader), 0, NULL,
                    "no row lies in the window: the log ends at %.9g s, before --from",
                    cli_seconds(window->last_ns));
  return window->at_end ? window->at_end(window->user, diag) : BRAMAH_OK;
}

bramah_status cli_window_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_window *window = user;
  const size_t n_inputs = window->source->n_inputs, n_sensors = window->source->n_sensors;
  for (;;) {
    const bramah_status status = cli_log_source_next(window->source, sample, end, diag);
    /* A line that an interruption cut short is no row, and no mistake. */
    if (cli_stop_signal()) return *end = 1, end_of_log(window, diag);
    if (status) return status;
    if (*end) return end_of_log(window, diag);
    window->last_ns = sample->time_ns;
    if (!skip(window, sample->time_ns)) break;
    memset(sample->has_input, 0, n_inputs);
    memset(sample->present, 0, n_sensors);
  }
  return window->begun ? BRAMAH_OK : begin(window, sample, diag);
}
