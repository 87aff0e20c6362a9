/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs and estimates: CSV with name[unit] headers. Part of libbramah-tools. Independent of the locale. */
#ifndef BRAMAH_LOG_H
#define BRAMAH_LOG_H

#include <stdint.h>
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading: streaming, memory does not grow with the file ---- */

typedef struct bramah_log_reader bramah_log_reader;

/* Open a CSV file ("-": standard input) and read its header: the first line that is not empty and does not
 * begin with #. Column names are unique; each is `name` or `name[unit]`. Errors: E_FILE, E_EMPTY (no header),
 * E_SYNTAX, E_UNIT, E_KEY (a column twice). Allocates. */
BRAMAH_API bramah_status bramah_log_open(const char *path, bramah_diag *diag, bramah_log_reader **out);
BRAMAH_API void bramah_log_close(bramah_log_reader *reader); /* NULL allowed */

/* Columns in file order. Unit is "" where the header has none. */
BRAMAH_API size_t bramah_log_n_columns(const bramah_log_reader *reader);
BRAMAH_API const char *bramah_log_column_name(const bramah_log_reader *reader, size_t column);
BRAMAH_API const char *bramah_log_column_unit(const bramah_log_reader *reader, size_t column);

/* Find a column by name and check that its unit has the dimension of `expected` ("Pa"). Errors: E_COLUMN
 * (suggests the nearest name), E_UNIT (no unit or a wrong one). */
BRAMAH_API bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name,
                                         const char *expected, size_t *column, bramah_diag *diag);

/* Next row: values [n_columns] in SI, present [n_columns] 0 where the cell is empty. *end = 1 at the end of
 * the file. Errors, with line and column: E_SYNTAX (text in a number, more or fewer cells than the header),
 * E_NOT_FINITE (nan, inf), E_TRUNCATED (the last line has fewer cells and no line end), E_EMPTY (no row at
 * all). Rows given before stay valid. */
BRAMAH_API bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present,
                                         int *end, bramah_diag *diag);

/* Line of the row given last, counted from 1; path as opened. */
BRAMAH_API int bramah_log_line(const bramah_log_reader *reader);
BRAMAH_API const char *bramah_log_path(const bramah_log_reader *reader);

/* ---- writing ---- */

typedef struct bramah_log_writer bramah_log_writer;

/* Create (replace) a file ("-": standard output). Columns are added before the first row. Buffered; whole
 * rows only are handed to the system. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_log_create(const char *path, bramah_diag *diag, bramah_log_writer **out);
/* Add column `name[unit]`, written with so many significant digits (1 to 17). */
BRAMAH_API bramah_status bramah_log_add_column(bramah_log_writer *writer, const char *name, const char *unit,
                                               int digits, bramah_diag *diag);
/* Write the row; NaN gives an empty cell. values [number of columns added]. The first call writes the header.
 */
BRAMAH_API bramah_status bramah_log_write(bramah_log_writer *writer, const double *values, bramah_diag *diag);
/* Hand all rows written so far to the system. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_log_flush(bramah_log_writer *writer, bramah_diag *diag);
/* Flush and close; NULL allowed. Errors: E_FILE (disk full): the file is then incomplete. Frees the writer in
 * any case. */
BRAMAH_API bramah_status bramah_log_finish(bramah_log_writer *writer, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
