/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log read from its first row to its last, without a filter: how it is written, what it holds, what is
 * wrong with it. */
#include "lib/cli/check.h"
#include "lib/cli/log_table.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdio.h>

static void report(void *wrong, const bramah_diag *diag)
{
  cli_report(diag);
  ++*(int *)wrong;
}

/* ---- files and columns ---- */

static void list_columns(const bramah_log_stream *log, size_t device, int wanted, const char *title)
{
  const bramah_log_reader *reader = bramah_log_stream_reader(log, device);
  size_t n = 0;
  for (size_t i = 0; i < bramah_log_n_columns(reader); i++) {
    if (bramah_log_stream_uses(log, device, i) != wanted) continue;
    const char *unit = bramah_log_column_unit(reader, i);
    printf(*unit ? "%s %s[%s]" : "%s %s", n++ ? "," : title, bramah_log_column_name(reader, i), unit);
  }
  if (n) printf("\n");
}

static void print_files(const bramah_log_stream *log)
{
  for (size_t k = 0; k < bramah_log_stream_n_devices(log); k++) {
    bramah_log_device device;
    bramah_log_stream_device(log, k, &device);
    printf("log:");
    for (size_t i = 0; i < device.n_files; i++)
      printf("%s %s", i ? "," : "", bramah_log_stream_device_file(log, k, i));
    if (device.entry) printf(" (log.files.%s)", device.entry);
    printf("\n");
    list_columns(log, k, 1, "  columns used:");
    list_columns(log, k, 0, "  columns not used:");
  }
  const size_t unused = bramah_log_stream_totals(log).unused_files;
  if (unused) printf("  %zu files of the folder are not used\n", unused);
}

static void print_map(const bramah_log_stream *log, size_t slot, const char *name)
{
  bramah_log_column c;
  if (!bramah_log_stream_column(log, slot, &c) || c.plain) return;
  const cli_readable unit = cli_readable_unit(c.unit);
  printf("  %s = %.9g %s", name, unit.factor * c.offset, unit.unit);
  printf(" %c %.9g %s x %s", c.factor < 0.0 ? '-' : '+', unit.factor * fabs(c.factor), unit.unit, c.name);
  if (c.wrap > 0.0) printf(", which jumps by %.9g", c.wrap);
  printf("\n");
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
static void print_format(const bramah_log_reader *reader)
{
  const bramah_log_format format = bramah_log_format_found(reader);
  const char *kind = bramah_log_kind(reader);
  if (kind) printf("  %s\n", kind);
  if (format.delimiter != ',') printf("  cells between %s\n", mark_name(format.delimiter));
  if (format.decimal == ',') printf("  decimal commas\n");
  if (format.no_header) printf("  no header: columns are numbered\n");
  if (format.units == BRAMAH_LOG_UNITS_ROW) printf("  units stand in a row of their own\n");
  if (format.skip) printf("  %d lines before the header are passed over\n", format.skip);
}

static void print_clock(const bramah_log_device *d)
{
  char text[64];
  if (d->rate > 0.0) printf("  time: %s counts samples at %.9g Hz\n", d->time_column, d->rate);
  if (d->wrap)
    printf("  time: wraps after %.9g %s\n", d->rate > 0.0 ? (double)d->wrap : 1e-9 * (double)d->wrap,
           d->rate > 0.0 ? "counts" : "s");
  if (d->offset_ns) printf("  time: %.9g s are added\n", 1e-9 * (double)d->offset_ns);
  if (d->drift != 0.0)
    printf("  time: the clock gains %.6g ppm, taken out from its first row on\n", 1e6 * d->drift);
  if (d->is_date) {
    bramah_log_time_text(d->zero_ns, text, sizeof text);
    printf("  time: dates; 0 s is %s\n", text);
  } else if (d->zero_ns) {
    printf("  time: 0 s is %.9g s of the clock\n", 1e-9 * (double)d->zero_ns);
  }
}

/* ---- rows ---- */

static void print_times(const bramah_log_survey *s, int64_t step_ns)
{
  printf("  %llu rows from %.9g s to %.9g s\n", (unsigned long long)s->rows, 1e-9 * (double)s->first_ns,
         1e-9 * (double)s->last_ns);
  if (s->rows > 1 && s->longest_ns)
    printf("  between rows: %.6g ms to %.6g ms; the model's step: %.6g ms\n", 1e-6 * (double)s->shortest_ns,
           1e-6 * (double)s->longest_ns, 1e-6 * (double)step_ns);
  if (s->off_grid)
    printf("  %llu rows are off the grid of steps, at most %.3g ms: they are fused at the nearest step with "
           "their own time\n",
           (unsigned long long)s->off_grid, 1e-6 * (double)s->most_shift_ns);
  else if (s->rows > 1)
    printf("  all rows are on the grid of steps\n");
}

static void print_sensor(const bramah_log_survey *s, const bramah_sensor *sensor, size_t i, int64_t step_ns)
{
  const int64_t period = sensor->period_ns ? sensor->period_ns : step_ns;
  printf("  %s: %llu samples", sensor->name, (unsigned long long)s->samples[i]);
  if (2 * s->longest_wait_ns[i] > 3 * period)
    printf(", once %.6g ms without a sample where %.6g ms were planned", 1e-6 * (double)s->longest_wait_ns[i],
           1e-6 * (double)period);
  printf("\n");
}

int cli_explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                    const bramah_study *study, const bramah_sensor *sensors)
{
  const size_t n_sensors = study ? study->n_sensors : 0, n_inputs = machine->plant.n_input;
  const int64_t step_ns = machine->plant.step_ns;
  const int64_t longest_gap_ns = study ? study->log.longest_gap_ns : INT64_C(10000000000);
  bramah_log_stream *log;
  bramah_log_survey survey;
  bramah_log_column column;
  int wrong = 0;
  if (bramah_log_stream_open_for(study, machine->model, sensors, n, names, report, &wrong, NULL, &log))
    return wrong;
  print_files(log);
  for (size_t i = 0; i < n_inputs; i++) print_map(log, i, bramah_model_input_name(machine->model, i));
  for (size_t i = 0; i < n_sensors; i++) print_map(log, n_inputs + i, sensors[i].name);
  bramah_log_survey_read(log, n_inputs, n_sensors, step_ns, longest_gap_ns, report, &wrong, &survey);
  for (size_t k = 0; k < bramah_log_stream_n_devices(log); k++) {
    bramah_log_device device;
    bramah_log_stream_device(log, k, &device);
    print_format(bramah_log_stream_reader(log, k));
    print_clock(&device);
  }
  if (survey.rows) print_times(&survey, step_ns);
  for (size_t i = 0; i < n_sensors; i++)
    if (bramah_log_stream_column(log, n_inputs + i, &column)) print_sensor(&survey, &sensors[i], i, step_ns);
  cli_table table = cli_log_table(log, machine->model);
  cli_table_print(&table, stdout);
  cli_table_free(&table);
  bramah_log_survey_free(&survey);
  bramah_log_stream_close(log);
  return wrong;
}
