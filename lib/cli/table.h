/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small table of text for the terminal and the report, and the units people read. */
#ifndef BRAMAH_LIB_CLI_TABLE_H
#define BRAMAH_LIB_CLI_TABLE_H

#include <stdio.h>
#include "bramah/report.h"
#include "lib/cli/message.h"

enum { CLI_TABLE_COLUMNS = 16, CLI_CELL = 80 };

typedef struct cli_table {
  const char *title;
  const char *align; /* one of l and r per column */
  size_t n_columns;
  const char *header[CLI_TABLE_COLUMNS];
  size_t n_cells, room;
  char (*cells)[CLI_CELL]; /* row-major */
} cli_table;

/* The number of columns is the length of `align`; header [n_columns], kept by reference. */
cli_table cli_table_make(const char *title, const char *align, const char *const *header);
void cli_table_free(cli_table *table);
/* The next cell, row by row. Does nothing when memory is out: a summary must not end a run. */
void cli_table_add(cli_table *table, const char *format, ...) CLI_PRINTF(2, 3);
/* A number with four digits; empty if it is not finite. */
void cli_table_add_number(cli_table *table, double value);
void cli_table_print(const cli_table *table, FILE *file);
bramah_status cli_table_report(const cli_table *table, bramah_report *report);

/* The unit in which people read a quantity given in this SI unit, and the factor to it: rad: deg, Pa: bar. */
typedef struct cli_readable {
  const char *unit;
  double factor;
} cli_readable;
cli_readable cli_readable_unit(const char *si);

#endif
