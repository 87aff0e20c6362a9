/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a comparison tells: tables on the terminal, JSON for programs (keys in datasets/README.md). */
#include "lib/cli/compare.h"
#include "lib/cli/output_files.h"
#include "lib/cli/table.h"

#include <math.h>

int cli_comparison_lacks(const cli_comparison *comparison)
{
  const cli_side *a = &comparison->pairs.side[0];
  uint64_t cells = 0;
  for (size_t i = 0; i < comparison->columns.n; i++) cells += comparison->columns.shared[i].only[0];
  return comparison->columns.n_only[0] || a->before || a->between || a->after || cells;
}

/* ---- terminal ---- */

/* The unit people read, and the factor from SI to it. */
static cli_readable readable(const cli_shared *shared)
{
  if (shared->factor == 1.0) return cli_readable_unit(shared->unit);
  return (cli_readable){shared->unit, 1.0 / shared->factor};
}

static void print_side(const cli_comparison *c, int i, FILE *out)
{
  const cli_side *side = &c->pairs.side[i];
  const char name = "AB"[i];
  fprintf(out, "%c: %s, %llu rows from %.9g to %.9g s\n", name, c->path[i], (unsigned long long)side->rows,
          cli_seconds(side->first_ns), cli_seconds(side->row[side->now].time_ns));
  if (side->before || side->between || side->after)
    fprintf(out,
            "  rows without a partner: %llu before the other file begins, %llu between, %llu after it ends\n",
            (unsigned long long)side->before, (unsigned long long)side->between,
            (unsigned long long)side->after);
}

static void print_only(const cli_columns *columns, int side, FILE *out)
{
  enum { SHOWN = 6 };
  const size_t n = columns->n_only[side];
  if (!n) return;
  fprintf(out, "  columns of %c alone:", "AB"[side]);
  for (size_t i = 0; i < n && i < SHOWN; i++) fprintf(out, " %s", columns->only[side][i]);
  if (n > SHOWN) fprintf(out, " and %zu more", n - SHOWN);
  fputc('\n', out);
}

static void print_cells(const cli_columns *columns, FILE *out)
{
  uint64_t only[2] = {0, 0};
  for (size_t i = 0; i < columns->n; i++)
    for (int side = 0; side < 2; side++) only[side] += columns->shared[i].only[side];
  if (only[0] || only[1])
    fprintf(out, "cells empty in one file only: %llu in A, %llu in B\n", (unsigned long long)only[1],
            (unsigned long long)only[0]);
}

static void add_row(cli_table *table, const cli_columns *columns, const cli_shared *shared)
{
  const cli_readable unit = readable(shared);
  cli_table_add(table, "%s", shared->name);
  cli_table_add(table, "%s", unit.unit);
  cli_table_add(table, "%llu", (unsigned long long)shared->n);
  cli_table_add_number(table, unit.factor * cli_shared_rms(shared));
  cli_table_add_number(table, shared->n ? unit.factor * shared->most : NAN);
  cli_table_add(table, "%.9g", cli_seconds(shared->most_ns));
  cli_table_add_number(table, cli_shared_rms_sigmas(shared));
  cli_table_add_number(table, shared->judged ? shared->most_sigmas : NAN);
  if (shared->beyond)
    cli_table_add(table, "%llu from %.9g s on", (unsigned long long)shared->beyond,
                  cli_seconds(shared->first_ns));
  else
    cli_table_add(table, "%s", cli_columns_judge(columns, shared) ? "" : "not judged");
}

static void print_table(const cli_columns *columns, FILE *out)
{
  static const char *const header[] = {"column", "unit",  "pairs",           "RMS", "largest", "at s",
                                       "RMS σ",  "max σ", "beyond tolerance"};
  cli_table table = cli_table_make("Differences", "llrrrrrrl", header);
  size_t same = 0;
  for (size_t i = 0; i < columns->n; i++) {
    const cli_shared *shared = &columns->shared[i];
    if (shared->n && shared->most == 0.0)
      same++;
    else
      add_row(&table, columns, shared);
  }
  if (table.n_cells) cli_table_print(&table, out);
  if (same) fprintf(out, "\ncolumns without any difference: %zu of %zu\n", same, columns->n);
  cli_table_free(&table);
}

static void print_first(const cli_comparison *c, FILE *out)
{
  const cli_shared *first = cli_columns_first(&c->columns);
  if (!first) return;
  const cli_readable unit = readable(first);
  fprintf(out,
          "\nfirst beyond the tolerance: t = %.9g s, %s: %.9g and %.9g%s%s, %.4g apart, tolerated %.4g\n",
          cli_seconds(first->first_ns), first->name, unit.factor * first->first_values[0],
          unit.factor * first->first_values[1], *unit.unit ? " " : "", unit.unit,
          unit.factor * first->first_difference, unit.factor * first->first_tolerance);
}

void cli_comparison_print(const cli_comparison *c, FILE *out)
{
  for (int side = 0; side < 2; side++) {
    print_side(c, side, out);
    print_only(&c->columns, side, out);
  }
  fprintf(out, "pairs of rows: %llu", (unsigned long long)c->pairs.n);
  if (c->pairs.furthest_ns) fprintf(out, ", at most %.3g s apart", 1e-9 * (double)c->pairs.furthest_ns);
  fputc('\n', out);
  print_cells(&c->columns, out);
  print_table(&c->columns, out);
  print_first(c, out);
  if (c->all && cli_comparison_lacks(c)) fputs("\nB lacks something that A has\n", out);
  fprintf(out, "\nverdict: %s\n", c->different ? "different" : "the same within tolerance");
}

/* ---- JSON ---- */

static void put_side(cli_comparison *c, int i)
{
  cli_json *json = &c->json;
  const cli_side *side = &c->pairs.side[i];
  cli_json_open(json, i ? "b" : "a", '{');
  cli_json_text(json, "file", c->path[i]);
  cli_json_count(json, "rows", side->rows);
  cli_json_number(json, "first", cli_seconds(side->first_ns));
  cli_json_number(json, "last", cli_seconds(side->row[side->now].time_ns));
  cli_json_open(json, "alone", '{');
  cli_json_count(json, "before", side->before);
  cli_json_count(json, "between", side->between);
  cli_json_count(json, "after", side->after);
  cli_json_close(json, '}');
  cli_json_open(json, "columns_alone", '[');
  for (size_t k = 0; k < c->columns.n_only[i]; k++) cli_json_text(json, NULL, c->columns.only[i][k]);
  cli_json_close(json, ']');
  cli_json_close(json, '}');
}

static void put_first(cli_json *json, const cli_shared *shared, int with_name)
{
  cli_json_open(json, "first_beyond", '{');
  if (with_name) cli_json_text(json, "column", shared->name);
  cli_json_number(json, "time", cli_seconds(shared->first_ns));
  cli_json_number(json, "a", shared->first_values[0]);
  cli_json_number(json, "b", shared->first_values[1]);
  cli_json_number(json, "tolerated", shared->first_tolerance);
  cli_json_close(json, '}');
}

static void put_column(cli_json *json, const cli_columns *columns, const cli_shared *shared)
{
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "column", shared->name);
  cli_json_text(json, "unit", shared->unit);
  cli_json_number(json, "unit_in_si", shared->factor);
  cli_json_count(json, "pairs", shared->n);
  cli_json_count(json, "cells_of_a_alone", shared->only[0]);
  cli_json_count(json, "cells_of_b_alone", shared->only[1]);
  cli_json_number(json, "rms", cli_shared_rms(shared));
  cli_json_number(json, "largest", shared->n ? shared->most : NAN);
  cli_json_number(json, "largest_time", shared->n ? cli_seconds(shared->most_ns) : NAN);
  cli_json_number(json, "largest_a", shared->n ? shared->most_values[0] : NAN);
  cli_json_number(json, "largest_b", shared->n ? shared->most_values[1] : NAN);
  cli_json_number(json, "rms_sigmas", cli_shared_rms_sigmas(shared));
  cli_json_number(json, "largest_sigmas", shared->judged ? shared->most_sigmas : NAN);
  cli_json_number(json, "largest_sigmas_time", shared->judged ? cli_seconds(shared->most_sigmas_ns) : NAN);
  cli_json_flag(json, "judged", cli_columns_judge(columns, shared));
  cli_json_count(json, "beyond", shared->beyond);
  if (shared->beyond) put_first(json, shared, 0);
  cli_json_close(json, '}');
}

void cli_comparison_write(cli_comparison *c, int code)
{
  cli_json *json = &c->json;
  const cli_shared *first = cli_columns_first(&c->columns);
  cli_json_open(json, NULL, '{');
  cli_json_text(json, "bramah", bramah_version());
  cli_json_text(json, "command", "compare");
  put_side(c, 0);
  put_side(c, 1);
  cli_json_count(json, "pairs", c->pairs.n);
  cli_json_number(json, "furthest_apart", 1e-9 * (double)c->pairs.furthest_ns);
  cli_json_open(json, "columns", '[');
  for (size_t i = 0; i < c->columns.n; i++) put_column(json, &c->columns, &c->columns.shared[i]);
  cli_json_close(json, ']');
  if (first) put_first(json, first, 1);
  cli_json_flag(json, "same", !c->different);
  cli_json_count(json, "exit_code", (uint64_t)code);
  cli_json_close(json, '}');
}
