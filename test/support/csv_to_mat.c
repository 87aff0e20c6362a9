/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_to_mat LOG.csv LOG.mat [bare]: the numbers of a log as they stand in it, as a MAT file; bare: without
 * the structs `units` and `names`, as MATLAB's save writes variables. Names must be names of variables
 * then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bramah/log.h"

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
  check(bramah_log_open(path, &diag, &reader));
  if (bramah_log_n_columns(reader) > MOST_COLUMNS) exit(EXIT_FAILURE);
  for (size_t i = 0; i < bramah_log_n_columns(reader); i++) bramah_log_restate_unit(reader, i);
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
  for (size_t i = 0; i < bramah_log_n_columns(reader); i++)
    check(bramah_log_add_column(writer, bramah_log_column_name(reader, i), bramah_log_column_unit(reader, i),
                                17, &diag));
  while (next(values)) check(bramah_log_write(writer, values, &diag));
  check(bramah_log_finish(writer, &diag));
}

static void bare(const char *from, const char *to)
{
  bramah_mat *mat;
  double values[MOST_COLUMNS];
  size_t n = 0;
  char name[BRAMAH_MAT_NAME];
  open_log(from);
  while (next(values)) n++;
  bramah_log_close(reader);
  double *column = calloc(n + 1, sizeof *column);
  if (!column) exit(EXIT_FAILURE);
  check(bramah_mat_create(to, &diag, &mat));
  open_log(from);
  for (size_t i = 0; i < bramah_log_n_columns(reader); i++) {
    bramah_mat_name(bramah_log_column_name(reader, i), name);
    for (size_t row = 0; row < n && next(values); row++) column[row] = values[i];
    check(bramah_mat_add_matrix(mat, name, n, 1, column, &diag));
    bramah_log_close(reader);
    open_log(from);
  }
  check(bramah_mat_finish(mat, &diag));
  free(column);
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
