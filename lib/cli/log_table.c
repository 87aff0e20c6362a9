/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/log_table.h"

#include <stdio.h>
#include <string.h>

static void add(cli_table *table, const char *name, const char *what, uint64_t n, const char *where)
{
  if (!n) return;
  cli_table_add(table, "%.60s\t%s\t%llu\t%s", name, what, (unsigned long long)n, where);
}

/* The line, with the file where the device has several. */
static void place(const bramah_log_stream *log, const bramah_log_device *device, int64_t mark, char *out,
                  size_t n)
{
  int line;
  const char *path = bramah_log_stream_place(log, mark, &line);
  const char *record = bramah_log_row_word(path), *word = record ? record : "line";
  if (device->n_files > 1)
    snprintf(out, n, "%.36s %s %d", cli_base_name(path), word, line);
  else
    snprintf(out, n, "%s %d", word, line);
}

cli_table cli_log_table(const bramah_log_stream *log, const bramah_plant *plant)
{
  static const char *const header[] = {"log", "what", "times", "first, longest"};
  cli_table table = cli_table_make("Log", "llrl", header);
  const size_t n_devices = bramah_log_stream_get_info(log).n_devices;
  for (size_t k = 0; k < n_devices; k++) {
    const bramah_log_device device = bramah_log_stream_get_device(log, k);
    const bramah_log_counts *c = &device.counts;
    char late[CLI_CELL], gaps[CLI_CELL], where[CLI_CELL];
    snprintf(late, sizeof late, "rows put in order, at most %.4g ms late", 1e-6 * (double)c->most_late_ns);
    snprintf(gaps, sizeof gaps, "gaps, %llu rows of %.4g ms missing", (unsigned long long)c->missing,
             1e-6 * (double)device.interval_ns);
    const struct {
      const char *what;
      const bramah_log_event *event; /* NULL: n alone */
      uint64_t n;
    } lines[] = {{"rows that repeat the one before, dropped", &c->repeated, 0},
                 {"rows joined with the one before, of the same time", &c->merged, 0},
                 {late, &c->late, 0},
                 {gaps, &c->gaps, 0},
                 {"times the clock began anew, joined", &c->resets, 0},
                 {"wraps of the clock", NULL, device.wraps},
                 {"rows without time, dropped", &c->no_time, 0},
                 {"bad rows, dropped", &c->bad_rows, 0},
                 {"bad cells, taken for empty", &c->bad_cells, 0},
                 {"messages lost: dropped by the interface, or not whole", &c->lost, 0},
                 {"the file was cut, or not finished: its last number may be cut", &c->cut, 0}};
    add(&table, device.name, "files that follow each other", device.n_files > 1 ? device.n_files : 0, "");
    cli_table_add(&table, "%.60s\trows\t%llu\t", device.name, (unsigned long long)c->rows);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
      const bramah_log_event *event = lines[i].event;
      where[0] = '\0';
      if (event == &c->gaps) {
        place(log, &device, c->gap_mark, where, sizeof where - 24);
        const size_t used = strlen(where);
        snprintf(where + used, sizeof where - used, ": %.4g ms", 1e-6 * (double)c->longest_gap_ns);
      } else if (event) {
        place(log, &device, event->mark, where, sizeof where);
      }
      add(&table, device.name, lines[i].what, event ? event->n : lines[i].n, where);
    }
  }
  for (size_t i = 0; plant && i < plant->n_input; i++) {
    bramah_log_feed feed;
    char what[CLI_CELL];
    if (!bramah_log_stream_get_feed(log, i, &feed) || !feed.held) continue;
    snprintf(what, sizeof what, "rows without %.40s, held", plant->input_name(plant->self, i));
    add(&table, bramah_log_stream_get_device(log, feed.device).name, what, feed.held, "");
  }
  return table;
}

/* ---- for programs ---- */

void cli_log_json(const bramah_log_stream *log, cli_json *json)
{
  cli_json_open(json, "devices", '[');
  const size_t n_devices = bramah_log_stream_get_info(log).n_devices;
  for (size_t k = 0; k < n_devices; k++) {
    const bramah_log_device device = bramah_log_stream_get_device(log, k);
    const bramah_log_counts *c = &device.counts;
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "name", device.name);
    cli_json_count(json, "files", device.n_files);
    cli_json_count(json, "rows", c->rows);
    cli_json_number(json, "interval", 1e-9 * (double)device.interval_ns);
    cli_json_count(json, "repeated", c->repeated.n);
    cli_json_count(json, "joined", c->merged.n);
    cli_json_count(json, "reordered", c->late.n);
    cli_json_number(json, "most_late", 1e-9 * (double)c->most_late_ns);
    cli_json_count(json, "gaps", c->gaps.n);
    cli_json_count(json, "missing", c->missing);
    cli_json_number(json, "longest_gap", 1e-9 * (double)c->longest_gap_ns);
    cli_json_count(json, "resets", c->resets.n);
    cli_json_count(json, "wraps", device.wraps);
    cli_json_count(json, "without_time", c->no_time.n);
    cli_json_count(json, "bad_rows", c->bad_rows.n);
    cli_json_count(json, "bad_cells", c->bad_cells.n);
    cli_json_count(json, "lost", c->lost.n);
    cli_json_close(json, '}');
  }
  cli_json_close(json, ']');
}
