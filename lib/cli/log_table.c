/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/log_table.h"

#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The file's name, the entry's if it has one. */
static const char *name_of(const cli_log_stream *s)
{
  return s->entry ? s->entry->name : base_name(s->paths->file[s->parts[0]].path);
}

static void add(cli_table *table, const cli_log_stream *s, const char *what, uint64_t n, const char *where)
{
  if (!n) return;
  cli_table_add(table, "%.60s", name_of(s));
  cli_table_add(table, "%s", what);
  cli_table_add(table, "%llu", (unsigned long long)n);
  cli_table_add(table, "%s", where);
}

/* The line, with the file where the device has several. */
static void place(const cli_log_stream *s, uint64_t mark, char *out, size_t n)
{
  if (s->n_parts > 1)
    snprintf(out, n, "%.36s %s %d", base_name(s->paths->file[cli_log_mark_path(mark)].path),
             cli_log_mark_word(s, mark), cli_log_mark_line(mark));
  else
    snprintf(out, n, "%s %d", cli_log_mark_word(s, mark), cli_log_mark_line(mark));
}

static void add_event(cli_table *table, const cli_log_stream *s, const char *what, const cli_log_event *event)
{
  char where[CLI_CELL];
  place(s, event->mark, where, sizeof where);
  add(table, s, what, event->n, where);
}

static void add_late(cli_table *table, const cli_log_stream *s)
{
  char what[CLI_CELL];
  snprintf(what, sizeof what, "rows put in order, at most %.4g ms late",
           1e-6 * (double)s->counts.most_late_ns);
  add_event(table, s, what, &s->counts.late);
}

static void add_gaps(cli_table *table, const cli_log_stream *s)
{
  const cli_log_counts *c = &s->counts;
  char what[CLI_CELL], where[CLI_CELL];
  snprintf(what, sizeof what, "gaps, %llu rows of %.4g ms missing", (unsigned long long)c->missing,
           1e-6 * (double)cli_log_stream_interval(s));
  place(s, c->gap_mark, where, sizeof where - 24);
  const size_t used = strlen(where);
  snprintf(where + used, sizeof where - used, ": %.4g ms", 1e-6 * (double)c->longest_gap_ns);
  add(table, s, what, c->gaps.n, where);
}

static void add_stream(cli_table *table, const cli_log_stream *s)
{
  const cli_log_counts *c = &s->counts;
  add(table, s, "files that follow each other", s->n_parts > 1 ? s->n_parts : 0, "");
  cli_table_add(table, "%.60s", name_of(s));
  cli_table_add(table, "rows");
  cli_table_add(table, "%llu", (unsigned long long)c->rows);
  cli_table_add(table, "%s", "");
  add_event(table, s, "rows that repeat the one before, dropped", &c->repeated);
  add_event(table, s, "rows joined with the one before, of the same time", &c->merged);
  add_late(table, s);
  add_gaps(table, s);
  add_event(table, s, "times the clock began anew, joined", &c->resets);
  add(table, s, "wraps of the clock", s->clock.wraps, "");
  add_event(table, s, "rows without time, dropped", &c->no_time);
  add_event(table, s, "bad rows, dropped", &c->bad_rows);
  add_event(table, s, "bad cells, taken for empty", &c->bad_cells);
  add_event(table, s, "last line without line end: its last number may be cut", &c->cut);
}

static void add_held(cli_table *table, const cli_log_source *source, const bramah_model *model)
{
  for (size_t i = 0; i < source->n_inputs; i++) {
    const cli_log_stream *stream;
    char what[CLI_CELL];
    if (!source->held_rows[i] || !cli_log_source_target(source, i, &stream)) continue;
    snprintf(what, sizeof what, "rows without %.40s, held", bramah_model_input_name(model, i));
    add(table, stream, what, source->held_rows[i], "");
  }
}

cli_table cli_log_table(const cli_log_source *source, const bramah_model *model)
{
  static const char *const header[] = {"log", "what", "times", "first, longest"};
  cli_table table = cli_table_make("Log", "llrl", header);
  for (size_t k = 0; k < source->n_streams; k++) add_stream(&table, &source->streams[k]);
  add_held(&table, source, model);
  return table;
}

/* ---- for programs ---- */

static void put_event(cli_json *json, const char *name, const cli_log_event *event)
{
  cli_json_count(json, name, event->n);
}

static void put_stream(const cli_log_stream *s, cli_json *json)
{
  const cli_log_counts *c = &s->counts;
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "name", name_of(s));
  cli_json_count(json, "files", s->n_parts);
  cli_json_count(json, "rows", c->rows);
  cli_json_number(json, "interval", 1e-9 * (double)cli_log_stream_interval(s));
  put_event(json, "repeated", &c->repeated);
  put_event(json, "joined", &c->merged);
  put_event(json, "reordered", &c->late);
  cli_json_number(json, "most_late", 1e-9 * (double)c->most_late_ns);
  put_event(json, "gaps", &c->gaps);
  cli_json_count(json, "missing", c->missing);
  cli_json_number(json, "longest_gap", 1e-9 * (double)c->longest_gap_ns);
  put_event(json, "resets", &c->resets);
  cli_json_count(json, "wraps", s->clock.wraps);
  put_event(json, "without_time", &c->no_time);
  put_event(json, "bad_rows", &c->bad_rows);
  put_event(json, "bad_cells", &c->bad_cells);
  cli_json_close(json, '}');
}

void cli_log_json(const cli_log_source *source, cli_json *json)
{
  cli_json_open(json, "devices", '[');
  for (size_t k = 0; k < source->n_streams; k++) put_stream(&source->streams[k], json);
  cli_json_close(json, ']');
}
