/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of the log reader share: lines (log_lines.c), cells (log_cells.c), header and dialect
 * (log_header.c), columns (log_columns.c), rows (log_reader.c). */
#ifndef BRAMAH_LIB_LOGS_LOG_INTERNAL_H
#define BRAMAH_LIB_LOGS_LOG_INTERNAL_H

#include "bramah/log.h"
#include "bramah/units.h"
#include "lib/logs/log_time.h"

#include <csv.h>
#include <locale.h>

/* Longest row in bytes. It bounds the memory, whatever the file holds: also when a quote is never closed. */
enum { BRAMAH__LONGEST_ROW = 1 << 18 };

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

/* The first bad cell of a row. It is reported only when the row is known to have the right number of
 * cells. */
typedef struct bramah__log_fault {
  bramah_status status;
  size_t cell;
  int line, position;
  char quote[48];
} bramah__log_fault;

typedef struct bramah__mat_log bramah__mat_log; /* log_mat.h */

struct bramah_log_reader {
  bramah__mat_log *mat; /* a MAT file; NULL: text */
  struct csv_parser parser;
  locale_t c_locale;
  int fd;
  char *path;
  bramah_log_format format; /* as found; its texts are ours */
  char *comment, *missing;

  char *buffer; /* [LONGEST_ROW + 2]: a missing line end, and a zero byte behind it */
  size_t begin, end;
  uint64_t bytes; /* read from the file */
  int at_eof;

  char *text; /* the line read last, in buffer, its line end included */
  size_t length;
  int line;
  int no_line_end;

  char **names;
  bramah__log_column *columns;
  size_t n_columns, room;
  int header_line;

  /* The row that is being put together. */
  double *values; /* of the caller */
  unsigned char *present;
  size_t n_cells;
  size_t line_first_cell; /* cells that were complete when the current line began */
  int line_quoted;        /* the current line began inside quotes, in a cell that opened at ... */
  int open_line, open_position;
  int row_line;   /* first line of the row */
  int given_line; /* of the row given last */
  int row_done;
  int row_stray; /* something follows a carriage return */
  bramah__log_fault fault;

  size_t time_column; /* SIZE_MAX: none */
  bramah__log_clock clock;
  int64_t time;

  uint64_t n_rows, skipped_rows;
  int first_skipped;   /* line */
  bramah_diag failure; /* sticky */
};

/* A cell: text [length], which may be changed in place. `user` is the reader. */
typedef void bramah__log_on_cell(void *text, size_t length, void *user);

/* ---- errors: the failure of the reader, with file, line and place ---- */

const char *bramah__log_display_path(const bramah_log_reader *reader);
bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *message);
bramah_status bramah__log_fail_memory(bramah_log_reader *reader);
bramah_status bramah__log_fail_system(bramah_log_reader *reader, const char *what, int error);

/* ---- lines ---- */

/* Next line into text and length; length 0 at the end of the file. */
bramah_status bramah__log_next_line(bramah_log_reader *reader);
/* Give the line back: the next call delivers it again. */
void bramah__log_return_line(bramah_log_reader *reader);
/* A byte-order mark of UTF-8 is passed over; UTF-16 is refused. */
bramah_status bramah__log_begin(bramah_log_reader *reader);
/* Empty lines and comments. */
int bramah__log_is_skipped(const bramah_log_reader *reader);
int bramah__log_is_blank(char c);

/* ---- cells ---- */

/* Cut blanks off both ends. */
void bramah__log_trim(char **text, size_t *length);
/* Number of the character that begins at text[offset], counted from 1. */
int bramah__log_character(const char *text, size_t offset);
/* Place of a cell that ends in the current line. */
int bramah__log_cell_position(const bramah_log_reader *reader, size_t cell, int *line);
/* Hand the cells of the current line on; row_done is set unless the line ends inside quotes. */
bramah_status bramah__log_split_line(bramah_log_reader *reader, bramah__log_on_cell *on_cell);
/* Where a cell of the current line begins, quotes included, and ends; the end of the line if it has fewer. */
const char *bramah__log_cell_text(const bramah_log_reader *reader, size_t cell, size_t *length);
/* Lines up to the end of the next row. *end = 1 if there is none. */
bramah_status bramah__log_split_row(bramah_log_reader *reader, bramah__log_on_cell *on_cell, int *end);
/* A cell of a row of numbers. */
bramah__log_on_cell bramah__log_on_number;
/* 1 if the text is a number from its first to its last character. */
int bramah__log_is_number(const bramah_log_reader *reader, const char *text);

/* ---- header ---- */

bramah_status bramah__log_read_header(bramah_log_reader *reader);

#endif
