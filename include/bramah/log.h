/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs and estimates: CSV with name[unit] headers. Part of libbramah-tools. Independent of the locale. */
#ifndef BRAMAH_LOG_H
#define BRAMAH_LOG_H

#include <stdint.h>
#include "bramah/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading: streaming, memory does not grow with the file ---- */

typedef struct bramah_log_reader bramah_log_reader;

/* Where the units of the columns stand. */
typedef enum bramah_log_units {
  BRAMAH_LOG_UNITS_FOUND = 0, /* in brackets; where no column has such, the next line if it has units only */
  BRAMAH_LOG_UNITS_HEADER,
  BRAMAH_LOG_UNITS_ROW /* in the line below the header */
} bramah_log_units;

/* How a file is written. All zero: what other programs write, as far as the file shows it by itself. A
 * byte-order mark of UTF-8 and lines that end with CR LF are always understood. */
typedef struct bramah_log_format {
  char delimiter; /* between cells; ' ': any number of blanks. 0: what stands in the header, one of , ; tab
                        * and blanks; an error if , and ; do */
  char decimal;   /* '.' or ','; 0: the one met first, from then on the other is an error; '.' where commas
                        * are between the cells */
  const char *comment; /* marks at the beginning of comment lines, separated by a blank; NULL: "#" */
  const char *missing; /* texts that stand for no sample ("NaN -"), separated by a blank; NULL: none */
  int skip;            /* lines before the header, comments included */
  int no_header;       /* 1: the columns are called 1, 2, ... and have no units */
  bramah_log_units units;
  int skip_bad_cells; /* 1: a cell that is no number counts as empty; see bramah_log_bad_cells */
  int skip_bad_rows;  /* 1: rows with too few or too many cells are left out, a cut last one too, and those
                       * with a bad cell where such are not skipped */
} bramah_log_format;

/* Open a CSV file ("-": standard input) and read its header: the first line that is not empty and does not
 * begin with #. Column names are unique; each is `name` or `name[unit]`. Cells may stand in quotes, not where
 * blanks separate them. A unit that is unknown is an error when the column is asked for. Errors: E_FILE,
 * E_EMPTY (no header), E_SYNTAX, E_UNIT, E_KEY (a column twice). Allocates. */
BRAMAH_API bramah_status bramah_log_open(const char *path, bramah_diag *diag, bramah_log_reader **out);
/* The same for a file that is written otherwise; format NULL: as bramah_log_open. */
BRAMAH_API bramah_status bramah_log_open_as(const char *path, const bramah_log_format *format,
                                            bramah_diag *diag, bramah_log_reader **out);
BRAMAH_API void bramah_log_close(bramah_log_reader *reader); /* NULL allowed */

/* 1 if the name ends in .mat: a MAT file is read with matio (versions 4, 5, 7, and 7.3 where matio has
 * HDF5), and written in version 5. Vectors of one length are columns, see datasets/README.md, Logs; a row
 * counts as a line. Of the format only `missing` (where it is a number), skip_bad_cells and skip_bad_rows
 * concern it. Further errors: E_UNSUPPORTED (built without matio). */
BRAMAH_API int bramah_log_is_mat(const char *path);
/* What the file is and how it is read, if it is not text: "MAT file of version 5"; else NULL. */
BRAMAH_API const char *bramah_log_kind(const bramah_log_reader *reader);

/* The format with what was found of it; texts live as long as the reader. */
BRAMAH_API bramah_log_format bramah_log_format_found(const bramah_log_reader *reader);

/* Columns in file order. Unit is "" where the header has none. */
BRAMAH_API size_t bramah_log_n_columns(const bramah_log_reader *reader);
BRAMAH_API const char *bramah_log_column_name(const bramah_log_reader *reader, size_t column);
BRAMAH_API const char *bramah_log_column_unit(const bramah_log_reader *reader, size_t column);

/* Find a column by name and check that its unit has the dimension of `expected` ("Pa"). Errors: E_COLUMN
 * (suggests the nearest name), E_UNIT (no unit or a wrong one). */
BRAMAH_API bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name,
                                         const char *expected, size_t *column, bramah_diag *diag);

/* By name alone; units are the caller's affair. Errors: E_COLUMN. */
BRAMAH_API bramah_status bramah_log_find_name(const bramah_log_reader *reader, const char *name,
                                              size_t *column, bramah_diag *diag);
/* Factor and dimension of a column's unit; 1 and none where it has no unit, or - or counts. Errors:
 * E_UNIT. */
BRAMAH_API bramah_status bramah_log_unit(const bramah_log_reader *reader, size_t column, double *factor,
                                         bramah_dimension *dimension, bramah_diag *diag);
/* Say that the column's unit is missing or wrong: E_UNIT with the place in the header. */
BRAMAH_API bramah_status bramah_log_fail_unit(const bramah_log_reader *reader, size_t column,
                                              const char *expected, bramah_diag *diag);
/* From now on the values of the column are given as they stand in the file. */
BRAMAH_API void bramah_log_restate_unit(bramah_log_reader *reader, size_t column);
/* From now on the cells of the column are not looked at; they are never present. */
BRAMAH_API void bramah_log_ignore(bramah_log_reader *reader, size_t column);

/* The column holds times, which are read exactly. unit: of time, "iso8601", or NULL: that of the header; if
 * there is none, the next row is looked at, and text of ISO 8601 is taken as such. counter 1: whole numbers,
 * whatever the unit. Errors: E_UNIT. */
BRAMAH_API bramah_status bramah_log_set_time(bramah_log_reader *reader, size_t column, const char *unit,
                                             int counter, bramah_diag *diag);
/* Of the row given last, if its time is present: ns, for ISO 8601 since 1970-01-01T00:00Z; or the counter. */
BRAMAH_API int64_t bramah_log_time(const bramah_log_reader *reader);
BRAMAH_API int bramah_log_time_is_iso(const bramah_log_reader *reader);
/* The same for one text ("2024-03-05T12:34:56.789+01:00"; without a zone it is UTC). Errors: E_SYNTAX. */
BRAMAH_API bramah_status bramah_log_read_time(const char *text, int64_t *ns);
/* And back, in UTC: out [n >= 36]. */
BRAMAH_API void bramah_log_tell_time(int64_t ns, char *out, size_t n);

/* Next row: values [n_columns] in SI, present [n_columns] 0 where the cell is empty. *end = 1 at the end of
 * the file. Errors, with line and column: E_SYNTAX (text in a number, more or fewer cells than the header),
 * E_NOT_FINITE (nan, inf), E_VALUE and E_TIME (a time that cannot be told; one with a zone among others
 * without), E_TRUNCATED (the last line has fewer cells and no line end), E_EMPTY (no row at all, or all were
 * left out). Rows given before stay valid. */
BRAMAH_API bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present,
                                         int *end, bramah_diag *diag);

/* Cells of a column that were skipped as bad, rows that were, and the line of the first; 0 if none was. */
BRAMAH_API uint64_t bramah_log_bad_cells(const bramah_log_reader *reader, size_t column, int *first_line);
BRAMAH_API uint64_t bramah_log_bad_rows(const bramah_log_reader *reader, int *first_line);
/* 1 if the last line was reached and has no line end: its last number may be cut. */
BRAMAH_API int bramah_log_is_cut(const bramah_log_reader *reader);
/* Bytes of the file used so far. */
BRAMAH_API uint64_t bramah_log_bytes(const bramah_log_reader *reader);

/* Line of the row given last, counted from 1; path as opened. */
BRAMAH_API int bramah_log_line(const bramah_log_reader *reader);
BRAMAH_API const char *bramah_log_path(const bramah_log_reader *reader);

/* ---- writing ---- */

/* A name that ends in .mat: a MAT file, with full precision, structs `units` and `names` (the names columns
 * have here). It is empty until it is finished; rows wait in a file beside it. */

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

/* ---- the true motion, to compare with ---- */

typedef struct bramah_truth bramah_truth;

/* Open a file that has a column t[s], which ascends, and outputs of a plant by their names. Errors: those of
 * bramah_log_open and bramah_log_find, E_TIME, E_MEMORY. Allocates. */
BRAMAH_API bramah_status bramah_truth_open(const char *path, bramah_diag *diag, bramah_truth **out);
BRAMAH_API void bramah_truth_close(bramah_truth *truth); /* NULL allowed */

/* Column of that name, read in this unit. *column -1 if there is none of the name. Errors: E_UNIT (of another
 * dimension). */
BRAMAH_API bramah_status bramah_truth_find(const bramah_truth *truth, const char *name, const char *unit,
                                           long *column, bramah_diag *diag);

/* Go to the row nearest to a time; times ascend. It matches if it is not further away than the tolerance.
 * Memory does not grow. Errors: those of bramah_log_next, E_TIME (time goes back). */
BRAMAH_API bramah_status bramah_truth_seek(bramah_truth *truth, int64_t time_ns, int64_t tolerance_ns,
                                           int *matched, bramah_diag *diag);
/* Value in a column of the row that matched; NaN if none did or the cell is empty. */
BRAMAH_API double bramah_truth_value(const bramah_truth *truth, size_t column);

#ifdef __cplusplus
}
#endif
#endif
