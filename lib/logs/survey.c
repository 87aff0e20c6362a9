/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log read from its first row to its last, without a filter. */
#include "bramah/replay.h"
#include "bramah/session.h"
#include "lib/logs/stream.h"

#include <stdlib.h>
#include <string.h>

static void take_time(bramah_log_survey *s, int64_t time_ns, int64_t step_ns)
{
  if (!s->rows++) {
    s->first_ns = s->last_ns = time_ns;
    s->shortest_ns = INT64_MAX;
    return;
  }
  const int64_t gap = time_ns - s->last_ns, behind = (time_ns - s->first_ns) % step_ns;
  const int64_t shift = behind > step_ns / 2 ? step_ns - behind : behind;
  if (shift) s->off_grid++;
  if (shift > s->most_shift_ns) s->most_shift_ns = shift;
  if (gap < s->shortest_ns) s->shortest_ns = gap;
  if (gap > s->longest_ns) s->longest_ns = gap;
  s->last_ns = time_ns;
}

/* A replay would end here. */
static void check_gap(const bramah_log_survey *s, const bramah_log_stream *stream, int64_t longest_gap_ns,
                      const bramah_sample *sample, void (*report)(void *user, const bramah_diag *diag),
                      void *user)
{
  bramah_diag diag;
  int line;
  if (!s->rows || sample->time_ns - s->last_ns <= longest_gap_ns) return;
  const char *path = bramah_log_stream_place(stream, sample->mark, &line);
  bramah__failf(&diag, BRAMAH_E_TIME, path, line, "t",
                "time jumps ahead further than the longest gap allowed: %.12g s after %.12g s",
                1e-9 * (double)sample->time_ns, 1e-9 * (double)s->last_ns);
  report(user, &diag);
}

bramah_status bramah_log_survey_read(bramah_log_stream *stream, size_t n_inputs, size_t n_sensors,
                                     int64_t step_ns, int64_t longest_gap_ns,
                                     void (*report)(void *user, const bramah_diag *diag), void *user,
                                     bramah_log_survey *out)
{
  bramah_diag diag;
  bramah_status status = BRAMAH_OK;
  int64_t *last = calloc(n_sensors + 1, sizeof *last);
  double *values = calloc(n_inputs + n_sensors + 1, sizeof *values);
  unsigned char *flags = calloc(n_inputs + n_sensors + 1, 1);
  *out = (bramah_log_survey){.samples = calloc(n_sensors + 1, sizeof *out->samples),
                             .longest_wait_ns = calloc(n_sensors + 1, sizeof *out->longest_wait_ns)};
  if (!last || !values || !flags || !out->samples || !out->longest_wait_ns)
    status = bramah__fail_memory(&diag);
  for (int end = 0; !status;) {
    bramah_sample sample = {
        .inputs = values, .has_input = flags, .y = values + n_inputs, .present = flags + n_inputs};
    memset(flags, 0, n_inputs + n_sensors);
    status = bramah_log_stream_next(stream, &sample, &end, &diag);
    if (status || end) break;
    check_gap(out, stream, longest_gap_ns, &sample, report, user);
    take_time(out, sample.time_ns, step_ns);
    for (size_t i = 0; i < n_sensors; i++) {
      if (!sample.present[i]) continue;
      const int64_t wait = out->samples[i]++ ? sample.time_ns - last[i] : 0;
      if (wait > out->longest_wait_ns[i]) out->longest_wait_ns[i] = wait;
      last[i] = sample.time_ns;
    }
  }
  if (status) report(user, &diag);
  free(last);
  free(values);
  free(flags);
  return status;
}

void bramah_log_survey_free(bramah_log_survey *survey)
{
  free(survey->samples);
  free(survey->longest_wait_ns);
  *survey = (bramah_log_survey){0};
}
