/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_to_mat LOG.csv LOG.mat [bare]: the numbers of a log as they are in it, as a MAT file; bare: without
 * the structs `units` and `names`, as MATLAB's save writes variables. Names must be names of variables
 * then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "lib/logs/reader.h"

enum { MOST_COLUMNS = 64 };

static bramah_log_reader *reader;
static bramah_diag diag;

static void check(bramah_status status)
{
  if (!status) return;
  fprintf(stderr, "csv_to_mat: %s\n", diag.message);
  exit(EXIT_FAILURE);
}

static void open_log(const char *path)
{
  check(bramah_log_open(path, NULL, &diag, &reader));
  if (reader->n_columns > MOST_COLUMNS) exit(EXIT_FAILURE);
  for (size_t i = 0; i < reader->n_columns; i++) reader->units[i].factor = 1.0;
}

static int next(double *values)
{
  unsigned char present[MOST_COLUMNS];
  int end;
  check(bramah_log_next(reader, values, present, &end, &diag));
  return !end;
}

static void with_units(const char *from, const char *to)
{
  bramah_log_writer *writer;
  double values[MOST_COLUMNS];
  open_log(from);
  check(bramah_log_create(to, &diag, &writer));
  for (size_t i = 0; i < reader->n_columns; i++)
    check(bramah_log_add_column(writer, reader->columns[i].name, reader->columns[i].unit, 17, &diag));
  while (next(values)) check(bramah_log_write(writer, values, &diag));
  check(bramah_log_finish(writer, &diag));
}

static void bare(const char *from, const char *to)
{
  bramah_mat_variable columns[MOST_COLUMNS];
  char names[MOST_COLUMNS][BRAMAH__MAT_NAME];
  double row[MOST_COLUMNS], *values[MOST_COLUMNS];
  size_t n = 0;
  open_log(from);
  while (next(row)) n++;
  bramah_log_close(reader);
  open_log(from);
  for (size_t i = 0; i < reader->n_columns; i++) {
    bramah__mat_name(reader->columns[i].name, names[i]);
    values[i] = calloc(n + 1, sizeof *values[i]);
    if (!values[i]) exit(EXIT_FAILURE);
    columns[i] = (bramah_mat_variable){.name = names[i], .n_rows = n, .n_columns = 1, .values = values[i]};
  }
  for (size_t k = 0; k < n && next(row); k++)
    for (size_t i = 0; i < reader->n_columns; i++) values[i][k] = row[i];
  check(bramah_mat_write(to, reader->n_columns, columns, &diag));
  for (size_t i = 0; i < reader->n_columns; i++) free(values[i]);
}

int main(int argc, char **argv)
{
  if (argc < 3) return EXIT_FAILURE;
  if (argc > 3 && strcmp(argv[3], "bare") == 0)
    bare(argv[1], argv[2]);
  else
    with_units(argv[1], argv[2]);
  bramah_log_close(reader);
  return EXIT_SUCCESS;
}
