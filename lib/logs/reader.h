/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the formats of logs share. A format is one file with its functions and a row in the table of reader.c: CSV
 * in csv.c, MAT files in mat_read.c. */
#ifndef BRAMAH_LIB_LOGS_READER_H
#define BRAMAH_LIB_LOGS_READER_H

#include "bramah/log.h"
#include "bramah/units.h"

#include <locale.h>

typedef struct bramah__log_kind {
  int (*takes)(const char *path); /* by its name */
  /* Find the columns (bramah__log_add_column); `source` of the reader is the format's own. */
  bramah_status (*open)(bramah_log_reader *reader);
  void (*close)(bramah_log_reader *reader); /* after a failed open too */
  /* The next row into the reader: values, present, row_line, row_done, fault. */
  bramah_status (*next)(bramah_log_reader *reader, int *end);
  uint64_t (*bytes)(const bramah_log_reader *reader);       /* of the file, that belong to the rows given */
  int (*is_cut)(const bramah_log_reader *reader);           /* the last line has no end; NULL: cannot be */
  const char *(*describe)(const bramah_log_reader *reader); /* NULL: text */
  /* Text of a cell of the row to come, which stays to come; NULL: cells are no text. *text NULL: no row. */
  bramah_status (*peek)(bramah_log_reader *reader, size_t column, const char **text, size_t *length);
  /* Column that is meant by a name that is none, SIZE_MAX: none; why a name that the file has is no column, NULL:
   * it does not have it. NULL: none. */
  size_t (*stand_in)(const bramah_log_reader *reader, const char *name);
  const char *(*why_not)(const bramah_log_reader *reader, const char *name);
  const char *no_rows; /* message for a log without rows */
  int units_in_header; /* name[unit]; else only in the study or a struct of the file */
} bramah__log_kind;

extern const bramah__log_kind bramah__log_csv, bramah__log_mat;

typedef struct bramah__log_column {
  char *unit;    /* as in the header; "" where it has none */
  double factor; /* value in that unit times factor is the value in SI */
  bramah_dimension dimension;
  int unknown;  /* the unit is none we know: an error only if the column is asked for */
  int position; /* in the header line */
  int ignored;  /* nobody wants it: its cells are not read */
  uint64_t bad; /* cells that were skipped */
  int first_bad;
} bramah__log_column;

/* The first bad cell of a row. It is reported only when the row is known to have the right number of cells. */
typedef struct bramah__log_fault {
  bramah_status status;
  size_t cell;
  int line, position;
  char quote[48];
} bramah__log_fault;

/* How the cells of a time column are read. */
typedef struct bramah__time_format {
  int iso;       /* 1: ISO 8601 text */
  int64_t scale; /* otherwise a number, times this: 1000000000 for seconds in ns, 1 for a counter */
  int whole;     /* 1: only whole numbers are right, as of a counter */
  int zone;      /* of ISO text: 0 not known yet, 1 all have a zone, 2 none has */
} bramah__time_format;

struct bramah_log_reader {
  const bramah__log_kind *kind;
  void *source;
  locale_t c_locale;
  int fd;
  char *path;
  bramah_log_format format; /* as found; its texts are ours */
  char *comment, *missing;

  char **names;
  bramah__log_column *columns;
  size_t n_columns, room;
  int header_line;

  /* The row that is being put together. */
  double *values; /* of the caller */
  unsigned char *present;
  int row_line;   /* first line of the row */
  int row_done;   /* it was read to its end: it may be left out where bad rows are */
  int given_line; /* of the row given last */
  bramah__log_fault fault;

  size_t time_column; /* SIZE_MAX: none */
  bramah__time_format clock;
  int64_t time;

  uint64_t n_rows, skipped_rows;
  int first_skipped;   /* line */
  bramah_diag failure; /* sticky */
};

/* ---- errors: the failure of the reader, with file, line and place ---- */

bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *message);
bramah_status bramah__log_fail_memory(bramah_log_reader *reader);
bramah_status bramah__log_fail_system(bramah_log_reader *reader, const char *what, int error);

/* ---- columns and cells ---- */

bramah_status bramah__log_add_column(bramah_log_reader *reader, const char *name, const char *unit,
                                     int position);
/* Give a column its unit. One we do not know may belong to a column that nobody wants. Errors: E_MEMORY. */
bramah_status bramah__log_set_unit(bramah_log_reader *reader, size_t column, const char *unit);
/* NULL, "", "-", "1" and "counts" */
int bramah__log_is_no_unit(const char *unit);
/* A bad cell, noted in the fault: no sample and counted, where bad cells are skipped. */
void bramah__log_bad_cell(bramah_log_reader *reader, size_t column, int line);

/* ---- times, read into integers without a detour over floating point (time.c) ---- */

/* "12.345", "-1.5e-3" times scale, rounded to the nearest integer: exact, ties away from zero. `point` is the
 * decimal mark. Errors: E_SYNTAX, E_VALUE (beyond 9e18, or a fraction where whole numbers are wanted). */
bramah_status bramah__time_decimal(const char *text, const char *end, char point, int64_t scale, int whole,
                                   int64_t *out);

/* "2024-03-05T12:34:56.123456789+01:00": nanoseconds since 1970-01-01T00:00Z. Also a blank instead of the T,
 * no seconds, a comma before the fraction, Z, +hh, +hhmm; without a zone the clock is taken to show UTC.
 * *zone 1 if there is one. Digits of the fraction after the ninth round. Years 1678 to 2261. */
bramah_status bramah__time_iso(const char *text, const char *end, int64_t *ns, int *zone);

#endif
