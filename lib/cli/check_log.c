/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/check.h"
#include "lib/cli/log_source.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What the rows of a log look like. */
typedef struct survey {
  uint64_t rows, backwards, off_grid, long_gaps;
  int64_t first_ns, last_ns, shortest_ns, longest_ns, step_ns, most_shift_ns;
  uint64_t *samples;     /* [sensors] */
  int64_t *last_sample;  /* [sensors] */
  int64_t *longest_wait; /* [sensors] between two samples */
} survey;

static int report(const bramah_diag *diag)
{
  cli_report(diag);
  return 1;
}

/* ---- columns ---- */

/* Returns the number of mistakes; used [columns + 1] marks what the study needs. */
static int find_columns(cli_log_source *source, const cli_machine *machine, const cli_session *session,
                        unsigned char *used)
{
  bramah_diag diag;
  const bramah_study *study = session ? session->study : NULL;
  const size_t none = bramah_log_n_columns(source->reader); /* used [none] stays 0 */
  source->time = none;
  for (size_t i = 0; i < source->n_sensors; i++) source->sensors[i] = none;
  int wrong = 0, no_time = cli_log_source_find_time(source, study, &diag) != BRAMAH_OK;
  if (no_time)
    wrong += report(&diag);
  else
    used[source->time] = 1;
  for (size_t i = 0; i < source->n_inputs; i++) {
    const char *input = bramah_model_input_name(machine->model, i);
    if (cli_log_source_find_input(source, study, input, i, &diag))
      wrong += report(&diag);
    else
      used[source->inputs[i]] = 1;
  }
  for (size_t i = 0; i < source->n_sensors; i++) {
    if (session->sensors[i].unit == NULL) continue; /* could not be bound: reported before */
    if (cli_log_source_find_sensor(source, study, &session->sensors[i], i, &diag))
      wrong += report(&diag);
    else
      used[source->sensors[i]] = 1;
  }
  return wrong;
}

static void list_columns(const bramah_log_reader *reader, const unsigned char *used, int wanted,
                         const char *title)
{
  size_t n = 0;
  for (size_t i = 0; i < bramah_log_n_columns(reader); i++) {
    if (used[i] != wanted) continue;
    const char *unit = bramah_log_column_unit(reader, i);
    printf(*unit ? "%s %s[%s]" : "%s %s", n++ ? "," : title, bramah_log_column_name(reader, i), unit);
  }
  if (n) printf("\n");
}

/* ---- rows ---- */

/* Returns 1 if time goes back. */
static int take_time(survey *s, const cli_log_source *source, int64_t time_ns)
{
  if (!s->rows++) {
    s->first_ns = s->last_ns = time_ns;
    s->shortest_ns = INT64_MAX;
    return 0;
  }
  const int64_t gap = time_ns - s->last_ns;
  if (gap <= 0) {
    bramah_diag diag;
    cli_fail(&diag, BRAMAH_E_TIME, bramah_log_path(source->reader), bramah_log_line(source->reader),
             bramah_log_column_name(source->reader, source->time),
             "time does not go forward: %.12g s after %.12g s", 1e-9 * (double)time_ns,
             1e-9 * (double)s->last_ns);
    if (s->backwards++ < 5) cli_report(&diag);
    return 1;
  }
  const int64_t beside = (time_ns - s->first_ns) % s->step_ns;
  const int64_t shift = beside > s->step_ns / 2 ? s->step_ns - beside : beside;
  if (shift) s->off_grid++;
  if (shift > s->most_shift_ns) s->most_shift_ns = shift;
  if (gap < s->shortest_ns) s->shortest_ns = gap;
  if (gap > s->longest_ns) s->longest_ns = gap;
  s->last_ns = time_ns;
  return 0;
}

static void take_samples(survey *s, const cli_log_source *source, const unsigned char *used, int64_t time_ns)
{
  for (size_t i = 0; i < source->n_sensors; i++) {
    const size_t column = source->sensors[i];
    if (!used[column] || !source->present[column]) continue;
    const int64_t wait = s->samples[i]++ ? time_ns - s->last_sample[i] : 0;
    if (wait > s->longest_wait[i]) s->longest_wait[i] = wait;
    s->last_sample[i] = time_ns;
  }
}

/* Read it all; returns the number of mistakes. */
static int read_rows(survey *s, cli_log_source *source, const unsigned char *used)
{
  bramah_diag diag;
  int wrong = 0, end = 0;
  for (;;) {
    int64_t time_ns;
    bramah_diag_clear(&diag);
    if (cli_log_source_row(source, &time_ns, &end, &diag)) return wrong + report(&diag);
    if (end) return wrong;
    const int back = take_time(s, source, time_ns);
    wrong += back;
    if (!back) take_samples(s, source, used, time_ns);
  }
}

static void tell_times(const survey *s)
{
  printf("  %llu rows from %.9g s to %.9g s\n", (unsigned long long)s->rows, 1e-9 * (double)s->first_ns,
         1e-9 * (double)s->last_ns);
  if (s->rows > 1 && s->longest_ns)
    printf("  between rows: %.6g ms to %.6g ms; the model's step: %.6g ms\n", 1e-6 * (double)s->shortest_ns,
           1e-6 * (double)s->longest_ns, 1e-6 * (double)s->step_ns);
  if (s->off_grid)
    printf("  %llu rows are beside the grid of steps, at most %.3g ms: they are fused at the nearest step "
           "with their own time\n",
           (unsigned long long)s->off_grid, 1e-6 * (double)s->most_shift_ns);
  else if (s->rows > 1)
    printf("  all rows are on the grid of steps\n");
}

static void tell_sensor(const survey *s, const bramah_sensor *sensor, size_t i)
{
  const int64_t period = sensor->period_ns ? sensor->period_ns : s->step_ns;
  printf("  %s: %llu samples", sensor->name, (unsigned long long)s->samples[i]);
  if (2 * s->longest_wait[i] > 3 * period)
    printf(", once %.6g ms without a sample where %.6g ms were planned", 1e-6 * (double)s->longest_wait[i],
           1e-6 * (double)period);
  printf("\n");
}

/* ---- the whole ---- */

static int survey_log(cli_log_source *source, const cli_machine *machine, const cli_session *session,
                      unsigned char *used)
{
  const size_t n = source->n_sensors;
  survey s = {.step_ns = machine->plant.step_ns,
              .samples = calloc(n + 1, sizeof *s.samples),
              .last_sample = calloc(2 * n + 1, sizeof *s.last_sample)};
  int wrong = find_columns(source, machine, session, used);
  if (s.samples && s.last_sample && used[source->time]) {
    s.longest_wait = s.last_sample + n;
    list_columns(source->reader, used, 1, "  columns used:");
    list_columns(source->reader, used, 0, "  columns not used:");
    wrong += read_rows(&s, source, used);
    tell_times(&s);
    for (size_t i = 0; i < n; i++)
      if (session->sensors[i].unit && used[source->sensors[i]]) tell_sensor(&s, &session->sensors[i], i);
  }
  free(s.samples);
  free(s.last_sample);
  return wrong;
}

int cli_explain_log(const char *path, const cli_machine *machine, const cli_session *session)
{
  cli_log_source source = {0};
  bramah_diag diag;
  int wrong = 0;
  const size_t n_sensors = session ? session->study->n_sensors : 0;
  bramah_status status = cli_log_source_open(&source, path, machine->plant.n_input, n_sensors, &diag);
  unsigned char *used = status ? NULL : calloc(bramah_log_n_columns(source.reader) + 1, 1);
  if (status)
    wrong += report(&diag);
  else if (used) {
    printf("log: %s\n", path);
    wrong += survey_log(&source, machine, session, used);
  }
  free(used);
  cli_log_source_close(&source);
  return wrong;
}
