/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a log holds, in plain words: for bramah check. */
#include "lib/cli/check.h"
#include "lib/cli/cli.h"
#include "lib/cli/log_table.h"

#include <math.h>
#include <stdio.h>

static void list_columns(const bramah_log_info *log, int ignored, const char *title)
{
  size_t n = 0;
  for (size_t i = 0; i < log->n_columns; i++) {
    const bramah_log_column *c = &log->columns[i];
    if (c->ignored != ignored) continue;
    printf(*c->unit ? "%s %s[%s]" : "%s %s", n++ ? "," : title, c->name, c->unit);
  }
  if (n) printf("\n");
}

static void print_files(const bramah_log_stream *log)
{
  const bramah_log_stream_info info = bramah_log_stream_get_info(log);
  for (size_t k = 0; k < info.n_devices; k++) {
    const bramah_log_device device = bramah_log_stream_get_device(log, k);
    printf("log:");
    for (size_t i = 0; i < device.n_files; i++) printf("%s %s", i ? "," : "", device.files[i]);
    if (device.entry) printf(" (log.files.%s)", device.entry);
    printf("\n");
    list_columns(&device.log, 0, "  columns used:");
    list_columns(&device.log, 1, "  columns not used:");
  }
  if (info.unused_files) printf("  %zu files of the folder are not used\n", info.unused_files);
}

static void print_map(const bramah_log_stream *log, size_t slot, const char *name)
{
  bramah_log_feed c;
  if (!bramah_log_stream_get_feed(log, slot, &c) || c.plain) return;
  const cli_readable unit = cli_readable_unit(c.unit);
  printf("  %s = %.9g %s", name, unit.factor * c.offset, unit.unit);
  printf(" %c %.9g %s x %s", c.factor < 0.0 ? '-' : '+', unit.factor * fabs(c.factor), unit.unit, c.column);
  if (c.wrap > 0.0) printf(", which jumps by %.9g", c.wrap);
  printf("\n");
}

/* Only what is not the plain case: commas, points, a header with units, seconds from 0 on. Some of it shows in
 * the rows. */
static void print_format(const bramah_log_stream *log, size_t k)
{
  const bramah_log_device device = bramah_log_stream_get_device(log, k);
  const bramah_log_format format = device.log.format;
  if (device.log.kind) printf("  %s\n", device.log.kind);
  if (format.delimiter != ',')
    printf("  cells between %s\n", format.delimiter == ';'    ? "semicolons"
                                   : format.delimiter == '\t' ? "tabs"
                                   : format.delimiter == ' '  ? "blanks"
                                                              : "a mark of its own");
  if (format.decimal == ',') printf("  decimal commas\n");
  if (format.no_header) printf("  no header: columns are numbered\n");
  if (format.units == BRAMAH_LOG_UNITS_ROW) printf("  units are in a row of their own\n");
  if (format.skip) printf("  %d lines before the header are passed over\n", format.skip);

  if (device.rate > 0.0) printf("  time: %s counts samples at %.9g Hz\n", device.time_column, device.rate);
  if (device.wrap)
    printf("  time: wraps after %.9g %s\n",
           device.rate > 0.0 ? (double)device.wrap : 1e-9 * (double)device.wrap,
           device.rate > 0.0 ? "counts" : "s");
  if (device.offset_ns) printf("  time: %.9g s are added\n", 1e-9 * (double)device.offset_ns);
  if (device.drift != 0.0)
    printf("  time: the clock gains %.6g ppm, taken out from its first row on\n", 1e6 * device.drift);
  if (device.is_date) {
    char text[64];
    bramah_log_time_text(device.zero_ns, text, sizeof text);
    printf("  time: dates; 0 s is %s\n", text);
  } else if (device.zero_ns) {
    printf("  time: 0 s is %.9g s of the clock\n", 1e-9 * (double)device.zero_ns);
  }
}

/* Count a mistake and report it. */
static void tell_mistake(void *user, const bramah_diag *diag)
{
  int *wrong = user;
  cli_report(diag);
  *wrong += 1;
}

int cli_explain_log(size_t n, const char *const *names, const bramah_machine_plant *machine,
                    const bramah_study *study, const bramah_sensor *sensors)
{
  const size_t n_sensors = study ? study->n_sensors : 0, n_inputs = machine->plant.n_input;
  const int64_t step_ns = machine->plant.step_ns;
  const int64_t longest_gap_ns = study ? study->log.longest_gap_ns : INT64_C(10000000000);
  bramah_log_stream *log;
  bramah_log_survey survey;
  bramah_log_feed feed;
  int wrong = 0;
  if (bramah_log_stream_open_for(study, &machine->plant, sensors, n, names, tell_mistake, &wrong, NULL, &log))
    return wrong;
  print_files(log);
  for (size_t i = 0; i < n_inputs; i++) print_map(log, i, machine->plant.input_name(machine->plant.self, i));
  for (size_t i = 0; i < n_sensors; i++) print_map(log, n_inputs + i, sensors[i].name);
  bramah_log_survey_read(log, step_ns, longest_gap_ns, tell_mistake, &wrong, &survey);
  for (size_t k = 0; k < bramah_log_stream_get_info(log).n_devices; k++) print_format(log, k);
  if (survey.rows) {
    printf("  %llu rows from %.9g s to %.9g s\n", (unsigned long long)survey.rows,
           1e-9 * (double)survey.first_ns, 1e-9 * (double)survey.last_ns);
    if (survey.rows > 1 && survey.longest_ns)
      printf("  between rows: %.6g ms to %.6g ms; the model's step: %.6g ms\n",
             1e-6 * (double)survey.shortest_ns, 1e-6 * (double)survey.longest_ns, 1e-6 * (double)step_ns);
    if (survey.off_grid)
      printf(
          "  %llu rows are off the grid of steps, at most %.3g ms: they are fused at the nearest step with "
          "their own time\n",
          (unsigned long long)survey.off_grid, 1e-6 * (double)survey.most_shift_ns);
    else if (survey.rows > 1)
      printf("  all rows are on the grid of steps\n");
  }
  for (size_t i = 0; i < n_sensors; i++)
    if (bramah_log_stream_get_feed(log, n_inputs + i, &feed)) {
      const bramah_sensor *sensor = &sensors[i];
      const int64_t period = sensor->period_ns ? sensor->period_ns : step_ns;
      printf("  %s: %llu samples", sensor->name, (unsigned long long)survey.samples[i]);
      if (2 * survey.longest_wait_ns[i] > 3 * period)
        printf(", once %.6g ms without a sample where %.6g ms were planned",
               1e-6 * (double)survey.longest_wait_ns[i], 1e-6 * (double)period);
      printf("\n");
    }
  cli_table table = cli_log_table(log, &machine->plant);
  cli_table_print(&table, stdout);
  cli_table_free(&table);
  bramah_log_survey_free(&survey);
  bramah_log_stream_close(log);
  return wrong;
}
