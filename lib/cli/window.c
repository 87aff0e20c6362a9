/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/window.h"
#include "lib/cli/message.h"
#include "lib/cli/output_files.h"
#include "lib/cli/stop.h"

#include <stdlib.h>
#include <string.h>

bramah_status cli_window_init(cli_window *window, cli_log_source *source, bramah_diag *diag)
{
  *window = (cli_window){.source = source,
                         .from_ns = INT64_MIN,
                         .to_ns = INT64_MAX,
                         .after_ns = INT64_MIN,
                         .last_ns = INT64_MIN,
                         .held = calloc(source->n_inputs + 1, sizeof *window->held),
                         .known = calloc(source->n_inputs + 1, 1)};
  if (window->held && window->known) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

void cli_window_free(cli_window *window)
{
  free(window->held);
  free(window->known);
}

/* 1: the row is not for the replay. */
static int skip(cli_window *window, const bramah_sample *sample)
{
  if (sample->time_ns <= window->after_ns) return window->used_before++, 1;
  if (sample->time_ns >= window->from_ns) return 0;
  for (size_t i = 0; i < window->source->n_inputs; i++) {
    if (!sample->has_input[i]) continue;
    window->held[i] = sample->inputs[i];
    window->known[i] = 1;
  }
  window->skipped++;
  return 1;
}

/* A sparse column of commands has its last one before the window. */
static void complete_inputs(const cli_window *window, bramah_sample *sample)
{
  for (size_t i = 0; i < window->source->n_inputs; i++) {
    if (sample->has_input[i] || !window->known[i]) continue;
    sample->inputs[i] = window->held[i];
    sample->has_input[i] = 1;
  }
}

static bramah_status begin(cli_window *window, bramah_sample *sample, bramah_diag *diag)
{
  window->begun = 1;
  if (sample->time_ns > window->to_ns)
    return cli_fail(diag, BRAMAH_E_EMPTY, window->source->paths.file[0].path, 0, NULL,
                    "no row lies in the window: after --from comes %.9g s, behind --to",
                    cli_seconds(sample->time_ns));
  complete_inputs(window, sample);
  return BRAMAH_OK;
}

static bramah_status end_of_log(const cli_window *window, bramah_diag *diag)
{
  if (window->begun || !window->skipped) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_EMPTY, window->source->paths.file[0].path, 0, NULL,
                  "no row lies in the window: the log ends at %.9g s, before --from",
                  cli_seconds(window->last_ns));
}

bramah_status cli_window_next(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  cli_window *window = user;
  const size_t n_inputs = window->source->n_inputs, n_sensors = window->source->n_sensors;
  for (;;) {
    const bramah_status status = cli_log_source_next(window->source, sample, end, diag);
    /* A line that an interruption cut short is no row, and no mistake. */
    if (cli_stop_signal() && (status || window->piped)) return *end = 1, BRAMAH_OK;
    if (status) return status;
    if (*end) return end_of_log(window, diag);
    window->last_ns = sample->time_ns;
    if (!skip(window, sample)) break;
    memset(sample->has_input, 0, n_inputs);
    memset(sample->present, 0, n_sensors);
    if (cli_stop_signal()) return *end = 1, BRAMAH_OK;
  }
  return window->begun ? BRAMAH_OK : begin(window, sample, diag);
}
