/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

cli_table cli_table_make(const char *title, const char *align, const char *const *header)
{
  cli_table table = {.title = title, .align = align, .n_columns = strlen(align)};
  for (size_t i = 0; i < table.n_columns; i++) table.header[i] = header[i];
  return table;
}

void cli_table_free(cli_table *table) { free(table->cells); }

void cli_table_add(cli_table *table, const char *format, ...)
{
  if (table->n_cells == table->room) {
    const size_t room = table->room ? 2 * table->room : 64;
    char(*cells)[CLI_CELL] = realloc(table->cells, room * sizeof *cells);
    if (!cells) return;
    table->cells = cells;
    table->room = room;
  }
  va_list list;
  va_start(list, format);
  vsnprintf(table->cells[table->n_cells++], CLI_CELL, format, list);
  va_end(list);
}

void cli_table_add_number(cli_table *table, double value)
{
  if (isfinite(value))
    cli_table_add(table, "%.4g", value);
  else
    cli_table_add(table, "%s", "");
}

/* Characters of a text in UTF-8. */
static int width_of(const char *text)
{
  int width = 0;
  for (; *text; text++) width += ((unsigned char)*text & 0xC0u) != 0x80u;
  return width;
}

static void print_cell(FILE *file, const char *text, int width, int right, int last)
{
  const int blank = width - width_of(text);
  if (last && !*text) return;
  if (right) fprintf(file, "%*s", blank, "");
  fputs(text, file);
  if (!right && !last) fprintf(file, "%*s", blank, "");
}

static void print_row(const cli_table *table, FILE *file, const char *const *row, const int *width)
{
  for (size_t c = 0; c < table->n_columns; c++) {
    fputs("  ", file);
    print_cell(file, row[c], width[c], table->align[c] == 'r', c + 1 == table->n_columns);
  }
  fputc('\n', file);
}

void cli_table_print(const cli_table *table, FILE *file)
{
  int width[CLI_TABLE_COLUMNS] = {0};
  const size_t columns = table->n_columns, rows = table->n_cells / columns;
  for (size_t c = 0; c < columns; c++) {
    width[c] = width_of(table->header[c]);
    for (size_t r = 0; r < rows; r++) {
      const int w = width_of(table->cells[r * columns + c]);
      if (w > width[c]) width[c] = w;
    }
  }
  fprintf(file, "\n%s\n", table->title);
  print_row(table, file, table->header, width);
  for (size_t r = 0; r < rows; r++) {
    const char *row[CLI_TABLE_COLUMNS];
    for (size_t c = 0; c < columns; c++) row[c] = table->cells[r * columns + c];
    print_row(table, file, row, width);
  }
}

bramah_status cli_table_report(const cli_table *table, bramah_report *report)
{
  const size_t rows = table->n_cells / table->n_columns;
  const char **cells = calloc(table->n_cells + 1, sizeof *cells);
  if (!cells) return BRAMAH_E_MEMORY;
  for (size_t i = 0; i < rows * table->n_columns; i++) cells[i] = table->cells[i];
  const bramah_status status =
      bramah_report_add_table(report, table->title, rows, table->n_columns, table->header, cells);
  free(cells);
  return status;
}

cli_readable cli_readable_unit(const char *si)
{
  static const double degree = 57.295779513082320877;
  if (strcmp(si, "rad") == 0) return (cli_readable){"deg", degree};
  if (strcmp(si, "rad/s") == 0) return (cli_readable){"deg/s", degree};
  if (strcmp(si, "Pa") == 0) return (cli_readable){"bar", 1e-5};
  if (strcmp(si, "m") == 0) return (cli_readable){"mm", 1e3};
  if (strcmp(si, "m/s") == 0) return (cli_readable){"mm/s", 1e3};
  if (strcmp(si, "m^3/s") == 0) return (cli_readable){"L/min", 6e4};
  return (cli_readable){si, 1.0};
}
