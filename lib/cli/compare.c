/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah compare: how far two files are apart. JSON keys are listed in datasets/README.md. */
#include "bramah/compare.h"
#include "bramah/units.h"
#include "lib/cli/cli.h"
#include "lib/cli/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- terminal ---- */

/* The unit people read, and the factor from SI to it. */
static cli_readable readable(const bramah_compared_column *column)
{
  if (column->factor == 1.0) return cli_readable_unit(column->unit);
  return (cli_readable){column->unit, 1.0 / column->factor};
}

static void print(const bramah_comparison *c, int all, int different, bramah_report *page, FILE *out)
{
  enum { SHOWN = 6 };
  uint64_t alone[2] = {0, 0};
  for (int i = 0; i < 2; i++) {
    const bramah_compared_file *file = &c->file[i];
    fprintf(out, "%c: %s, %llu rows from %.9g to %.9g s\n", "AB"[i], file -> path,
            (unsigned long long)file -> rows, cli_seconds(file->first_ns), cli_seconds(file->last_ns));
    if (file->before || file->between || file->after)
      fprintf(
          out,
          "  rows without a partner: %llu before the other file begins, %llu between, %llu after it ends\n",
          (unsigned long long)file->before, (unsigned long long)file->between,
          (unsigned long long)file->after);
    if (file->n_alone) fprintf(out, "  columns of %c alone:", "AB"[i]);
    for (size_t k = 0; k < file->n_alone && k < SHOWN; k++) fprintf(out, " %s", file->alone[k]);
    if (file->n_alone > SHOWN) fprintf(out, " and %zu more", file->n_alone - SHOWN);
    if (file->n_alone) fputc('\n', out);
  }
  fprintf(out, "pairs of rows: %llu", (unsigned long long)c->pairs);
  if (c->furthest_ns) fprintf(out, ", at most %.3g s apart", 1e-9 * (double)c->furthest_ns);
  fputc('\n', out);
  for (size_t i = 0; i < c->n_columns; i++)
    for (int file = 0; file < 2; file++) alone[file] += c->columns[i].alone[file];
  if (alone[0] || alone[1])
    fprintf(out, "cells empty in one file only: %llu in A, %llu in B\n", (unsigned long long)alone[1],
            (unsigned long long)alone[0]);
  static const char *const header[] = {"column", "unit",  "pairs",           "RMS", "largest", "at s",
                                       "RMS σ",  "max σ", "beyond tolerance"};
  cli_table table = cli_table_make("Differences", "llrrrrrrl", header);
  size_t same = 0;
  for (size_t i = 0; i < c->n_columns; i++) {
    const bramah_compared_column *column = &c->columns[i];
    const cli_readable unit = readable(column);
    if (column->n && column->largest.difference == 0.0) {
      same++;
      continue;
    }
    cli_table_add(&table, "%s\t%s\t%llu\t%s\t%s\t%.9g\t%s\t%s", column->name, unit.unit,
                  (unsigned long long)column->n, CLI_NUMBER(unit.factor * column->rms),
                  CLI_NUMBER(column->n ? unit.factor * column->largest.difference : (double)NAN),
                  cli_seconds(column->largest.time_ns), CLI_NUMBER(column->rms_sigmas),
                  CLI_NUMBER(column->most_sigmas));
    if (column->beyond)
      cli_table_add(&table, "%llu from %.9g s on", (unsigned long long)column->beyond,
                    cli_seconds(column->first.time_ns));
    else
      cli_table_add(&table, "%s", column->judged ? "" : "not judged");
  }
  if (table.n_cells) cli_table_print(&table, out);
  if (table.n_cells && page) cli_table_report(&table, page);
  if (same) fprintf(out, "\ncolumns without any difference: %zu of %zu\n", same, c->n_columns);
  cli_table_free(&table);
  if (c->first) {
    const bramah_compared_pair *first = &c->first->first;
    const cli_readable unit = readable(c->first);
    fprintf(out,
            "\nfirst beyond the tolerance: t = %.9g s, %s: %.9g and %.9g%s%s, %.4g apart, tolerated %.4g\n",
            cli_seconds(first->time_ns), c->first->name, unit.factor * first->value[0],
            unit.factor * first->value[1], *unit.unit ? " " : "", unit.unit, unit.factor * first->difference,
            unit.factor * first->tolerance);
  }
  if (all && c->lacks) fputs("\nB lacks something that A has\n", out);
  fprintf(out, "\n%sverdict: %s%s\n", cli_colour_of(out, different ? CLI_RED : CLI_BOLD),
          different ? "different" : "the same within tolerance", cli_colour_of(out, CLI_PLAIN));
}

/* ---- JSON ---- */

static void put_first(cli_json *json, const char *name, const bramah_compared_pair *first)
{
  cli_json_open(json, "first_beyond", '{');
  if (name) cli_json_text(json, "column", name);
  cli_json_number(json, "time", cli_seconds(first->time_ns));
  cli_json_number(json, "a", first->value[0]);
  cli_json_number(json, "b", first->value[1]);
  cli_json_number(json, "tolerated", first->tolerance);
  cli_json_close(json, '}');
}

static bramah_status write_json(const bramah_comparison *c, const char *path, int code, bramah_diag *diag)
{
  cli_json json = {0};
  const bramah_status status = cli_json_create(&json, path, diag);
  if (status) return status;
  cli_json_begin(&json, "compare");
  for (int i = 0; i < 2; i++) {
    const bramah_compared_file *file = &c->file[i];
    cli_json_open(&json, i ? "b" : "a", '{');
    cli_json_text(&json, "file", file->path);
    cli_json_count(&json, "rows", file->rows);
    cli_json_number(&json, "first", cli_seconds(file->first_ns));
    cli_json_number(&json, "last", cli_seconds(file->last_ns));
    cli_json_open(&json, "alone", '{');
    cli_json_count(&json, "before", file->before);
    cli_json_count(&json, "between", file->between);
    cli_json_count(&json, "after", file->after);
    cli_json_close(&json, '}');
    cli_json_open(&json, "columns_alone", '[');
    for (size_t k = 0; k < file->n_alone; k++) cli_json_text(&json, NULL, file->alone[k]);
    cli_json_close(&json, ']');
    cli_json_close(&json, '}');
  }
  cli_json_count(&json, "pairs", c->pairs);
  cli_json_number(&json, "furthest_apart", 1e-9 * (double)c->furthest_ns);
  cli_json_open(&json, "columns", '[');
  for (size_t i = 0; i < c->n_columns; i++) {
    const bramah_compared_column *column = &c->columns[i];
    const bramah_compared_pair *largest = &column->largest;
    const int some = column->n > 0;
    cli_json_open(&json, NULL, '{');
    cli_json_text(&json, "column", column->name);
    cli_json_text(&json, "unit", column->unit);
    cli_json_number(&json, "unit_in_si", column->factor);
    cli_json_count(&json, "pairs", column->n);
    cli_json_count(&json, "cells_of_a_alone", column->alone[0]);
    cli_json_count(&json, "cells_of_b_alone", column->alone[1]);
    cli_json_number(&json, "rms", column->rms);
    cli_json_number(&json, "largest", some ? largest->difference : (double)NAN);
    cli_json_number(&json, "largest_time", some ? cli_seconds(largest->time_ns) : (double)NAN);
    cli_json_number(&json, "largest_a", some ? largest->value[0] : (double)NAN);
    cli_json_number(&json, "largest_b", some ? largest->value[1] : (double)NAN);
    cli_json_number(&json, "rms_sigmas", column->rms_sigmas);
    cli_json_number(&json, "largest_sigmas", column->most_sigmas);
    cli_json_number(&json, "largest_sigmas_time",
                    column->n_sigma ? cli_seconds(column->most_sigmas_ns) : (double)NAN);
    cli_json_flag(&json, "judged", column->judged);
    cli_json_count(&json, "beyond", column->beyond);
    if (column->beyond) put_first(&json, NULL, &column->first);
    cli_json_close(&json, '}');
  }
  cli_json_close(&json, ']');
  if (c->first) put_first(&json, c->first->name, &c->first->first);
  cli_json_flag(&json, "same", code == CLI_OK);
  return cli_json_end(&json, code, diag);
}

/* ---- the page: both runs over each other ---- */

enum { MOST_PLOTTED = 60 };

typedef struct overlay {
  bramah_report *page; /* NULL: none is wanted */
  bramah_status status;
  const char *name[2]; /* of the files, in legends */
  size_t n;
  size_t column[MOST_PLOTTED];                         /* of the comparison */
  size_t both[MOST_PLOTTED], difference[MOST_PLOTTED]; /* plots */
} overlay;

/* Plots of a column; NULL: it has none. Standard deviations and what only says how the filter went are not shown. */
static const size_t *plots_of(overlay *o, size_t number, const bramah_compared_column *column)
{
  static const char *const left_out[] = {".sigma", ".nis", ".innovation"};
  const cli_readable unit = readable(column);
  const size_t length = strlen(column->name);
  for (size_t k = 0; k < o->n; k++)
    if (o->column[k] == number) return &o->column[k];
  for (size_t k = 0; k < sizeof left_out / sizeof left_out[0]; k++)
    if (length > strlen(left_out[k]) && strcmp(column->name + length - strlen(left_out[k]), left_out[k]) == 0)
      return NULL;
  if (o->n == MOST_PLOTTED || o->status) return NULL;
  bramah_report_plot look = {.section = "One over the other",
                             .title = column->name,
                             .unit = unit.unit,
                             .factor = unit.factor,
                             .names = {o->name[0], o->name[1]}};
  o->column[o->n] = number;
  o->status = bramah_report_add(o->page, &look, &o->both[o->n]);
  look = (bramah_report_plot){.section = "Differences",
                              .text = "A less B; the band is that of the standard deviation.",
                              .title = column->name,
                              .unit = unit.unit,
                              .factor = unit.factor,
                              .symmetric = 1,
                              .names = {"difference"}};
  if (!o->status) o->status = bramah_report_add(o->page, &look, &o->difference[o->n]);
  return o->status ? NULL : &o->column[o->n++];
}

static void add_pair(void *user, size_t number, const bramah_compared_column *column,
                     const bramah_compared_pair *pair, double sigma)
{
  overlay *o = user;
  const size_t *found = plots_of(o, number, column);
  const double t = cli_seconds(pair->time_ns), a = pair->value[0], half = 1.96 * sigma;
  if (!found || o->status) return;
  const size_t k = (size_t)(found - o->column);
  o->status = bramah_report_point(o->page, o->both[k], BRAMAH_REPORT_ESTIMATE, t, a, a - half, a + half);
  if (!o->status)
    o->status = bramah_report_point(o->page, o->both[k], BRAMAH_REPORT_TRUTH, t, pair->value[1], NAN, NAN);
  if (!o->status)
    o->status = bramah_report_point(o->page, o->difference[k], BRAMAH_REPORT_ESTIMATE, t, a - pair->value[1],
                                    -half, half);
}

static bramah_status write_page(overlay *o, const bramah_comparison *c, const bramah_compare_options *options,
                                int different, const char *path, bramah_diag *diag)
{
  const int judged = options->n_tolerances || options->relative > 0.0 || options->sigmas > 0.0;
  const double span = cli_seconds(c->file[0].last_ns - c->file[0].first_ns);
  char reason[512], pairs[64];
  bramah_report_answer said = {.level = !different ? BRAMAH_REPORT_FINE
                                        : judged   ? BRAMAH_REPORT_WRONG
                                                   : BRAMAH_REPORT_UNSURE,
                               .headline = !different ? "The same within tolerance"
                                           : judged   ? "Different: beyond the tolerance"
                                                      : "They differ; no tolerance was given",
                               .reason = reason,
                               .begin = NAN,
                               .end = NAN};
  snprintf(reason, sizeof reason, "%zu columns in %llu pairs of rows.", c->n_columns,
           (unsigned long long)c->pairs);
  if (c->first) {
    const bramah_compared_pair *first = &c->first->first;
    const cli_readable unit = readable(c->first);
    snprintf(reason, sizeof reason, "First at %.6g s in %s: %.6g and %.6g %s, %.3g apart, tolerated %.3g.",
             cli_seconds(first->time_ns), c->first->name, unit.factor * first->value[0],
             unit.factor * first->value[1], unit.unit, unit.factor * first->difference,
             unit.factor * first->tolerance);
    said.begin = fmax(cli_seconds(first->time_ns) - 0.01 * span, cli_seconds(c->file[0].first_ns));
    said.end = cli_seconds(first->time_ns) + 0.01 * span;
  }
  snprintf(pairs, sizeof pairs, "%llu", (unsigned long long)c->pairs);
  bramah_status status = o->status ? o->status : bramah_report_say(o->page, &said);
  for (int i = 0; i < 2 && !status; i++) status = bramah_report_note(o->page, i ? "B" : "A", c->file[i].path);
  if (!status) status = bramah_report_note(o->page, "pairs", pairs);
  for (size_t k = 0; k < o->n; k++) {
    const bramah_compared_column *column = &c->columns[o->column[k]];
    const double share = column->n ? (double)column->beyond / (double)column->n : 0.0;
    bramah_report_weigh(o->page, o->both[k], column->beyond && judged ? 1.0 + share : share);
    bramah_report_weigh(o->page, o->difference[k], 0.99 * share);
  }
  if (status) return cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  return bramah_report_write(o->page, BRAMAH_REPORT_PAGE, path, diag);
}

/* ---- the command ---- */

typedef char column_name[256];

static int read_factor(const cli_arguments *arguments, const char *name, double *out)
{
  const char *text = cli_value(arguments, name);
  bramah_diag diag;
  if (!text) return 0;
  bramah_diag_clear(&diag);
  if (bramah_quantity_parse(text, "1", out, &diag) == BRAMAH_OK && *out >= 0.0) return 0;
  return cli_wrong_use(arguments->command, "--%s: '%s' is not a number from 0 on", name, text);
}

static int compare(const cli_arguments *arguments, bramah_compare_options *options)
{
  const char *json = cli_value(arguments, "json"), *report = cli_value(arguments, "report");
  const char *const *files = arguments->operands;
  const char *const others[] = {files[0], files[1], json};
  overlay o = {.name = {cli_base_name(files[0]), cli_base_name(files[1])}};
  const int all = cli_value(arguments, "all") != NULL;
  bramah_comparison *c = NULL;
  bramah_diag diag;
  bramah_status status = cli_check_output(json, 2, arguments->operands, &diag);
  if (!status) status = cli_check_output(report, 3, others, &diag);
  if (!status) status = cli_check_place(report, &diag);
  if (!status && report) status = bramah_report_new("Comparison", &diag, &o.page);
  if (report) options->listener = add_pair, options->listener_user = &o;
  if (!status) status = bramah_compare(arguments->operands[0], arguments->operands[1], options, &diag, &c);
  if (status) bramah_report_free(o.page);
  if (status == BRAMAH_E_ARGUMENT)
    return cli_wrong_use(arguments->command, "--tolerance%s%s: %s", diag.thing[0] ? " " : "", diag.thing,
                         diag.message);
  if (status) return cli_report(&diag);
  const int code = c->first || (all && c->lacks) ? CLI_DIFFERENT : CLI_OK;
  print(c, all, code != CLI_OK, o.page, cli_summary_stream(1, &json));
  if (json) status = write_json(c, json, code, &diag);
  if (report && !status) status = write_page(&o, c, options, code != CLI_OK, report, &diag);
  bramah_report_free(o.page);
  bramah_comparison_free(c);
  return status ? cli_report(&diag) : code;
}

static int run(const cli_arguments *arguments)
{
  const char *const *path = arguments->operands, *text;
  const size_t room = (size_t)arguments->n_given + 1;
  bramah_compare_options o;
  bramah_compare_options_default(&o);
  if (cli_value(arguments, "time")) o.time = cli_value(arguments, "time");
  o.turns = cli_value(arguments, "turns") != NULL;
  int code = read_factor(arguments, "relative", &o.relative);
  if (!code) code = read_factor(arguments, "sigmas", &o.sigmas);
  if (!code) code = cli_moment_value(arguments, "from", &o.from_ns);
  if (!code) code = cli_moment_value(arguments, "to", &o.to_ns);
  if (!code) code = cli_time_value(arguments, "within", &o.within_ns);
  if (code) return code;

  const int stream = strcmp(path[0], "-") == 0 || strcmp(path[1], "-") == 0;
  if (strcmp(path[0], path[1]) == 0 && stream)
    return cli_wrong_use(arguments->command, "only one of the files can be standard input");
  if (stream && o.relative > 0.0)
    return cli_wrong_use(arguments->command, "--relative reads the files twice: it needs files, not a pipe");

  /* Columns, and tolerances with the names of theirs. */
  const char **columns = calloc(room, sizeof *columns);
  bramah_tolerance *tolerances = calloc(room, sizeof *tolerances);
  column_name *names = calloc(room, sizeof *names);
  if (!columns || !tolerances || !names) code = CLI_FAILED;
  while (!code && (text = cli_value_again(arguments, "column", o.n_columns))) columns[o.n_columns++] = text;
  while (!code && (text = cli_value_again(arguments, "tolerance", o.n_tolerances))) {
    const size_t i = o.n_tolerances++;
    const char *equals = strchr(text, '='); /* "crank.angle=0.1 deg" */
    if (!equals || (size_t)(equals - text) >= sizeof names[i]) {
      code = cli_wrong_use(arguments->command, "--tolerance: '%s' is not of the form COLUMN=VALUE", text);
      continue;
    }
    snprintf(names[i], sizeof names[i], "%.*s", (int)(equals - text), text);
    tolerances[i] = (bramah_tolerance){names[i], equals + 1};
  }
  o.columns = columns;
  o.tolerances = tolerances;
  if (!code) code = compare(arguments, &o);
  free(columns);
  free(tolerances);
  free(names);
  return code;
}

static const cli_option options[] = {
    {"column", "NAME", "compare this column only", 0, 1},
    {"tolerance", "NAME=VALUE", "difference allowed in a column, with its unit", 0, 1},
    {"relative", "FRACTION", "of the largest magnitude of each column", 0, 0},
    {"sigmas", "FACTOR",
     "of the column's standard deviation\nThat of <column>.sigma, of A, or of B where A has none.", 0, 0},
    {"all", NULL, "what only A has is a difference too\nColumns, rows and cells.", 0, 0},
    {"within", "TIME", "pair rows whose times differ by so much\nDefault: equal times only.", 0, 0},
    {"from", "TIME", "only rows from this time on", 0, 0},
    {"to", "TIME", "only rows up to this time", 0, 0},
    {"turns", NULL, "angles that differ by whole turns are the same", 0, 0},
    {"time", "NAME", "time column of both files (t)", 0, 0},
    {"json", "FILE", "the result for programs; - is standard output", 0, 0},
    {"report", "FILE", "HTML page: the runs over each other, differences", 0, 0},
    {0}};

const cli_command cli_compare = {
    .name = "compare",
    .operands = "A B",
    .summary = "Say how far estimates are from others or from the truth",
    .details =
        "Columns of the same name are compared, whatever their order and units; values of .sigma columns\n"
        "(of A, or of B where A has none) say how large differences are in standard deviations.\n\n"
        "A row of A is compared with the row of B that has the same time, to the nanosecond, or with\n"
        "--within with the nearest one that is not used otherwise. Nothing is resampled: rows and cells\n"
        "without a partner are counted and left out, so files of different rates are compared where both\n"
        "have rows, and files of different ranges where they overlap.\n\n"
        "Of several tolerances the largest counts; without any, every difference does. With --sigmas,\n"
        "columns without standard deviations and without another tolerance are listed, but not judged.\n\n"
        "Exit code: 0 within tolerance, 4 beyond it, 1 bad input (also when no row has a partner), 2\n"
        "wrong use. One of the files may be - (standard input).\n",
    .example = "bramah compare estimate.csv truth.csv --sigmas 3",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .run = run};
