/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log read from its first row to its last, without a filter: how it is written, what it holds, what is
 * wrong with it. */
#include "lib/cli/check.h"
#include "lib/cli/log_source.h"
#include "lib/cli/log_table.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What the rows of a log look like. */
typedef struct survey {
  uint64_t rows, off_grid;
  int64_t first_ns, last_ns, shortest_ns, longest_ns, step_ns, most_shift_ns;
  uint64_t *samples;      /* [sensors] */
  int64_t *last_sample;   /* [sensors] */
  int64_t *longest_wait;  /* [sensors] between two samples */
  double *values;         /* [inputs + sensors] */
  unsigned char *present; /* [inputs + sensors] */
} survey;

static int report(const bramah_diag *diag)
{
  cli_report(diag);
  return 1;
}

/* ---- columns ---- */

/* Returns the number of mistakes. *no_time 1: rows cannot be read. */
static int find_columns(cli_log_source *source, const bramah_machine_plant *machine,
                        const bramah_session *session, int *no_time)
{
  bramah_diag diag;
  int wrong = 0;
  for (size_t k = 0; k < source->n_streams; k++)
    if (cli_log_source_find_time(source, k, &diag)) wrong += report(&diag);
  *no_time = wrong;
  for (size_t i = 0; i < source->n_inputs; i++)
    if (cli_log_source_find_input(source, bramah_model_input_name(machine->model, i), i, &diag))
      wrong += report(&diag);
  for (size_t i = 0; i < source->n_sensors; i++)
    if (cli_log_source_find_sensor(source, &bramah_session_sensors(session)[i], i, &diag))
      wrong += report(&diag);
  return wrong;
}

static int is_used(const cli_log_stream *s, size_t column)
{
  int used = column == s->time_column;
  for (size_t i = 0; i < s->n_targets; i++) used |= s->targets[i].column == column;
  return used;
}

static void list_columns(const cli_log_stream *s, int wanted, const char *title)
{
  size_t n = 0;
  for (size_t i = 0; i < bramah_log_n_columns(s->reader); i++) {
    if (is_used(s, i) != wanted) continue;
    const char *unit = bramah_log_column_unit(s->reader, i);
    printf(*unit ? "%s %s[%s]" : "%s %s", n++ ? "," : title, bramah_log_column_name(s->reader, i), unit);
  }
  if (n) printf("\n");
}

/* ---- how the files are written ---- */

static const char *mark_name(char mark)
{
  static const struct {
    char mark;
    const char *name;
  } names[] = {{',', "commas"}, {';', "semicolons"}, {'\t', "tabs"}, {' ', "blanks"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].mark == mark) return names[i].name;
  return "a mark of its own";
}

/* Only what is not the plain case: commas, points, a header with units. Some of it shows in the rows. */
static void tell_format(const cli_log_stream *s)
{
  const bramah_log_format format = bramah_log_format_found(s->reader);
  const char *kind = bramah_log_kind(s->reader);
  if (kind) printf("  %s\n", kind);
  if (format.delimiter != ',') printf("  cells between %s\n", mark_name(format.delimiter));
  if (format.decimal == ',') printf("  decimal commas\n");
  if (format.no_header) printf("  no header: columns are numbered\n");
  if (format.units == BRAMAH_LOG_UNITS_ROW) printf("  units stand in a row of their own\n");
  if (format.skip) printf("  %d lines before the header are passed over\n", format.skip);
}

static void tell_clock(const cli_log_stream *s)
{
  const cli_log_clock *c = &s->clock;
  char text[64];
  if (c->rate > 0.0) printf("  time: %s counts samples at %.9g Hz\n", s->time.column, c->rate);
  if (c->wrap)
    printf("  time: wraps after %.9g %s\n", c->rate > 0.0 ? (double)c->wrap : 1e-9 * (double)c->wrap,
           c->rate > 0.0 ? "counts" : "s");
  if (c->offset) printf("  time: %.9g s are added\n", 1e-9 * (double)c->offset);
  if (c->drift != 0.0)
    printf("  time: the clock gains %.6g ppm, taken out from its first row on\n", 1e6 * c->drift);
  if (c->is_iso) {
    bramah_log_tell_time(c->zero, text, sizeof text);
    printf("  time: dates; 0 s is %s\n", text);
  } else if (c->zero) {
    printf("  time: 0 s is %.9g s of the clock\n", 1e-9 * (double)c->zero);
  }
}

static void tell_map(const cli_log_source *source, size_t slot, const char *name)
{
  const cli_log_stream *stream;
  const cli_log_target *t = cli_log_source_target(source, slot, &stream);
  if (!t || t->map.plain) return;
  const cli_readable unit = cli_readable_unit(t->si_unit);
  printf("  %s = %.9g %s", name, unit.factor * t->map.offset, unit.unit);
  printf(" %c %.9g %s x %s", t->map.factor < 0.0 ? '-' : '+', unit.factor * fabs(t->map.factor), unit.unit,
         t->name);
  if (t->map.wrap > 0.0) printf(", which jumps by %.9g", t->map.wrap);
  printf("\n");
}

static void tell_files(const cli_log_source *source)
{
  for (size_t k = 0; k < source->n_streams; k++) {
    const cli_log_stream *s = &source->streams[k];
    printf("log:");
    for (size_t i = 0; i < s->n_parts; i++) printf("%s %s", i ? "," : "", s->paths->file[s->parts[i]].path);
    if (s->entry) printf(" (log.files.%s)", s->entry->name);
    printf("\n");
    list_columns(s, 1, "  columns used:");
    list_columns(s, 0, "  columns not used:");
  }
  if (source->paths.passed_over)
    printf("  %zu files of the folder are not used\n", source->paths.passed_over);
}

static void tell_maps(const cli_log_source *source, const bramah_machine_plant *machine,
                      const bramah_session *session)
{
  for (size_t i = 0; i < source->n_inputs; i++)
    tell_map(source, i, bramah_model_input_name(machine->model, i));
  for (size_t i = 0; i < source->n_sensors; i++)
    tell_map(source, source->n_inputs + i, bramah_session_sensors(session)[i].name);
}

/* ---- rows ---- */

static void take_time(survey *s, int64_t time_ns)
{
  if (!s->rows++) {
    s->first_ns = s->last_ns = time_ns;
    s->shortest_ns = INT64_MAX;
    return;
  }
  const int64_t gap = time_ns - s->last_ns, beside = (time_ns - s->first_ns) % s->step_ns;
  const int64_t shift = beside > s->step_ns / 2 ? s->step_ns - beside : beside;
  if (shift) s->off_grid++;
  if (shift > s->most_shift_ns) s->most_shift_ns = shift;
  if (gap < s->shortest_ns) s->shortest_ns = gap;
  if (gap > s->longest_ns) s->longest_ns = gap;
  s->last_ns = time_ns;
}

/* The replay would end here. */
static int check_gap(const survey *s, const cli_log_source *source, int64_t time_ns)
{
  const int64_t longest = source->study ? source->study->log.longest_gap_ns : INT64_C(10000000000);
  bramah_diag diag;
  if (!s->rows || time_ns - s->last_ns <= longest) return 0;
  cli_fail(&diag, BRAMAH_E_TIME, cli_log_source_path(source, source->mark),
           cli_log_source_line(source, source->mark), "t",
           "time jumps ahead further than the longest gap allowed: %.12g s after %.12g s",
           1e-9 * (double)time_ns, 1e-9 * (double)s->last_ns);
  return report(&diag);
}

static void take_samples(survey *s, const cli_log_source *source, int64_t time_ns)
{
  for (size_t i = 0; i < source->n_sensors; i++) {
    if (isnan(source->y[i])) continue;
    const int64_t wait = s->samples[i]++ ? time_ns - s->last_sample[i] : 0;
    if (wait > s->longest_wait[i]) s->longest_wait[i] = wait;
    s->last_sample[i] = time_ns;
  }
}

/* Read it all; returns the number of mistakes. */
static int read_rows(survey *s, cli_log_source *source)
{
  bramah_diag diag;
  int wrong = 0, end = 0;
  bramah_sample sample = {.inputs = s->values, .has_input = s->present};
  sample.y = s->values + source->n_inputs;
  sample.present = s->present + source->n_inputs;
  for (;;) {
    bramah_diag_clear(&diag);
    memset(s->present, 0, source->n_inputs + source->n_sensors);
    if (cli_log_source_next(source, &sample, &end, &diag)) return wrong + report(&diag);
    if (end) return wrong;
    wrong += check_gap(s, source, sample.time_ns);
    take_time(s, sample.time_ns);
    take_samples(s, source, sample.time_ns);
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
    printf(
        "  %llu rows are beside the grid of steps, at most %.3g ms: they are fused at the nearest step with "
        "their own time\n",
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

static int survey_rows(survey *s, cli_log_source *source, const bramah_machine_plant *machine,
                       const bramah_session *session)
{
  const int wrong = read_rows(s, source);
  const cli_log_stream *stream;
  for (size_t k = 0; k < source->n_streams; k++) {
    tell_format(&source->streams[k]);
    tell_clock(&source->streams[k]);
  }
  if (s->rows) tell_times(s);
  for (size_t i = 0; i < source->n_sensors; i++)
    if (cli_log_source_target(source, source->n_inputs + i, &stream))
      tell_sensor(s, &bramah_session_sensors(session)[i], i);
  cli_table table = cli_log_table(source, machine->model);
  cli_table_print(&table, stdout);
  cli_table_free(&table);
  return wrong;
}

static int survey_log(cli_log_source *source, const bramah_machine_plant *machine,
                      const bramah_session *session)
{
  const size_t n = source->n_sensors, cells = source->n_inputs + n + 1;
  survey s = {.step_ns = machine->plant.step_ns,
              .samples = calloc(n + 1, sizeof *s.samples),
              .last_sample = calloc(2 * n + 1, sizeof *s.last_sample),
              .values = calloc(cells, sizeof *s.values),
              .present = calloc(cells, 1)};
  int no_time, wrong = find_columns(source, machine, session, &no_time);
  if (s.samples && s.last_sample && s.values && s.present && !no_time) {
    s.longest_wait = s.last_sample + n;
    tell_files(source);
    tell_maps(source, machine, session);
    wrong += survey_rows(&s, source, machine, session);
  }
  free(s.samples);
  free(s.last_sample);
  free(s.values);
  free(s.present);
  return wrong;
}

int cli_explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                    const bramah_session *session)
{
  cli_log_source source = {0};
  bramah_diag diag;
  const size_t n_sensors = session ? bramah_session_n_sensors(session) : 0;
  const bramah_status status = cli_log_source_open(&source, session ? bramah_session_study(session) : NULL, n,
                                                   names, machine->plant.n_input, n_sensors, &diag);
  const int wrong = status ? report(&diag) : survey_log(&source, machine, session);
  cli_log_source_close(&source);
  return wrong;
}
