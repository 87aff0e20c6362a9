/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the formats of logs share. A format is one file with its functions and a row in the tables of reader.c and
 * writer.c (its sink): CSV is read in csv.c, CAN frames in can.c, MAT files in mat_read.c, after mat_check.c has found that they are whole, and
 * written in mat_write.c. */
#ifndef BRAMAH_LIB_LOGS_READER_H
#define BRAMAH_LIB_LOGS_READER_H

#include "bramah/log.h"
#include "bramah/units.h"
#include "lib/io/fail.h"

enum { BRAMAH__LOG_HEAD = 4096, BRAMAH__UNITS_ATTRIBUTE = 2 };

typedef struct bramah__log_kind {
  const char *names;  /* patterns of its files' names, separated by blanks */
  const char *what;   /* "MAT file" */
  const char *record; /* what a row is called: "line" of text, else "row" */
  const char *column; /* what one is called in messages; NULL: "channel" */
  int from_pipe;      /* 1: it is read from the beginning to the end by bramah__log_read, a pipe suffices */
  const struct bramah__log_sink *sink; /* NULL: it is not written */
  /* By the first bytes of the file, at most BRAMAH__LOG_HEAD and all of a shorter file, of a pipe those that came
   * first. NULL, or 0 of all kinds: by its name. */
  int (*takes)(const char *path, const unsigned char *head, size_t n);
  /* Find the columns (bramah__log_add_column); `source` of the reader is the format's own. */
  bramah_status (*open)(bramah_log_reader *reader);
  void (*close)(bramah_log_reader *reader); /* after a failed open too */
  /* The next row into the reader: values, present, row_line, row_done, fault. */
  bramah_status (*next)(bramah_log_reader *reader, int *end);
  /* Of the info: bytes that belong to the rows given, kind, is_cut. */
  void (*describe)(const bramah_log_reader *reader, bramah_log_info *info);
  /* Text of a cell of the row to come, which stays to come; NULL: cells are no text. *text NULL: no row. */
  bramah_status (*peek)(bramah_log_reader *reader, size_t column, const char **text, size_t *length);
  /* Column that is meant by a name that is none, SIZE_MAX: none; why a name that the file has is no column, NULL:
   * it does not have it. NULL: none. */
  size_t (*stand_in)(const bramah_log_reader *reader, const char *name);
  const char *(*why_not)(const bramah_log_reader *reader, const char *name);
  /* A device in place of a file: 1 if the path is one, `fd` or the failure of the reader is set. NULL: none. */
  int (*connect)(bramah_log_reader *reader);
  const char *no_rows; /* message for a log without rows */
  int units_in_header; /* 1: name[unit]; or an attribute of the dataset; else only in the study or a struct of the file */
} bramah__log_kind;

extern const bramah__log_kind bramah__log_csv, bramah__log_mat, bramah__log_hdf5, bramah__log_mdf,
    bramah__log_mcap, bramah__log_bag, bramah__log_can, bramah__log_blf, bramah__log_interface;

/* The unit of a column. */
typedef struct bramah__log_unit {
  double factor; /* value in that unit times factor is the value in SI */
  bramah_dimension dimension;
  int unknown; /* it is none we know: an error only if the column is asked for */
  int may_be_date; /* seconds from a date that the file states: 1: dates if the study says iso8601; 2: unless it states a unit */
  int position; /* of the column in the header line */
} bramah__log_unit;

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
  void *c_locale; /* locale_t */
  int fd;
  unsigned char *head; /* first bytes of a pipe that nobody has read yet: from head_at to n_head */
  size_t head_at, n_head;
  char *path;
  bramah_log_format format; /* as found; its texts are ours */
  char *comment, *missing, *dbc;
  double *no_samples; /* [n_no_samples] the texts of `missing` that are numbers */
  size_t n_no_samples;

  bramah_log_column *columns; /* [n_columns]; their texts are ours */
  bramah__log_unit *units;    /* [n_columns] */
  size_t n_columns, room;
  int header_line;
  int no_numbers; /* 1: there is none in the first row */
  int is_sparse;  /* 1, by the first row: a row has the cells of one message, rows come when a message does */

  /* The row that is being put together. */
  double *values; /* of the caller */
  unsigned char *present;
  int row_line;   /* first line of the row */
  int row_done;   /* it was read to its end: it may be left out where bad rows are */
  int given_line; /* of the row given last */
  bramah__log_fault fault;

  size_t time_column; /* SIZE_MAX: none */
  int is_date;        /* 1: times without text are ns since 1970 */
  bramah__time_format clock;
  /* of the row given last, if its time is present: ns, of ISO 8601 since 1970; or the counter */
  int64_t time;

  uint64_t n_rows, skipped_rows;
  int first_skipped;   /* line */
  bramah_diag failure; /* sticky */
};

/* ---- errors: the failure of the reader, with file, line and place ---- */

bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *format, ...) BRAMAH__PRINTF(6, 7);
bramah_status bramah__log_fail_memory(bramah_log_reader *reader);
bramah_status bramah__log_fail_system(bramah_log_reader *reader, const char *what, int error);

/* The kind whose files are called so; NULL: none. */
const bramah__log_kind *bramah__log_kind_of(const char *path);
/* Next bytes [at most n] of the file: read(2) of what was not looked at yet. *got 0: the end. Errors: E_FILE. */
bramah_status bramah__log_read(bramah_log_reader *reader, void *out, size_t n, size_t *got);

/* ---- columns and cells ---- */

bramah_status bramah__log_add_column(bramah_log_reader *reader, const char *name, const char *unit,
                                     int position);
/* Give a column its unit. One we do not know may belong to a column that nobody wants. Errors: E_MEMORY. */
bramah_status bramah__log_set_unit(bramah_log_reader *reader, size_t column, const char *unit);
/* SIZE_MAX: none of that name. */
size_t bramah__log_index(const bramah_log_reader *reader, const char *name);
/* Or what stands in for that name. */
size_t bramah__log_column_of(const bramah_log_reader *reader, const char *name);
/* NULL, "", "-", "1" and "counts" */
int bramah__log_is_no_unit(const char *unit);
/* Factor and dimension of a column's unit; 1 and none where it has no unit, or - or counts. Errors: E_UNIT. */
bramah_status bramah__log_unit_of(const bramah_log_reader *reader, size_t column, double *factor,
                                  bramah_dimension *dimension, bramah_diag *diag);
/* The column holds times, which are read exactly: `time` of the reader. unit: of time, "iso8601", or NULL: that of the
 * header; if there is none, the next row is looked at, and text of ISO 8601 is taken as such. counter 1: whole
 * numbers, whatever the unit. Errors: E_UNIT. Then those of bramah_log_next: E_VALUE and E_TIME (a time that cannot be
 * read; one with a zone among others without). */
bramah_status bramah__log_set_time(bramah_log_reader *reader, size_t column, const char *unit, int counter,
                                   bramah_diag *diag);
/* 1 of a number that means no sample: NaN, or one of `missing`, in the unit of the file. For formats that hold numbers. */
int bramah__log_is_no_sample(const bramah_log_reader *reader, double value);
/* A number of the file into its cell: in SI, or as a time, where the column holds them. One that is not finite is a bad cell. */
void bramah__log_put_number(bramah_log_reader *reader, size_t column, double value);
/* A number as a time of the clock: ns, or counts. Errors: E_VALUE. */
bramah_status bramah__log_to_clock(const bramah_log_reader *reader, double value, int64_t *out);
/* The cell of the row is bad: it has no sample, and the fault quotes the number, if it is the first one. */
void bramah__log_bad_number(bramah_log_reader *reader, size_t column, bramah_status status, double value);
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

/* ---- MAT files ---- */

/* Longest name of a variable or field, with the zero byte; objects that are told. */
enum { BRAMAH__MAT_NAME = 64, BRAMAH__MAT_OBJECTS = 32 };

/* Size [bytes], and the variables that are objects of MATLAB: only MATLAB knows what is in them. */
typedef struct bramah__mat_object {
  char name[BRAMAH__MAT_NAME], class_name[BRAMAH__MAT_NAME];
} bramah__mat_object;

typedef struct bramah__mat_about {
  uint64_t size;
  size_t n_objects;
  bramah__mat_object objects[BRAMAH__MAT_OBJECTS];
} bramah__mat_about;

/* Is the file whole, and can it hold what it says it holds? One that was cut while it was copied, or damaged so that
 * matio would ask for more memory than a log can need, is found before it is read (mat_check.c). */
bramah_status bramah__mat_check(bramah_log_reader *reader, bramah__mat_about *about);

/* A text as a name MATLAB allows: other characters become _, x is put before what is no letter, the rest is
 * cut off. out [BRAMAH__MAT_NAME]. */
void bramah__mat_name(const char *text, char *out);

/* ---- formats that are written ---- */

/* What is done with the writer, whose `file` is the format's own; errors go into its `failure`. */
typedef struct bramah__log_sink {
  void (*create)(bramah_log_writer *writer);
  void (*begin)(bramah_log_writer *writer); /* all columns are there, no row is yet */
  void (*write)(bramah_log_writer *writer, const double *values);
  void (*sync)(bramah_log_writer *writer);   /* to the disk; NULL: rows wait for the end */
  void (*finish)(bramah_log_writer *writer); /* releases the file; after a failed create or begin too */
} bramah__log_sink;

typedef struct bramah__log_title {
  char *name, *unit;
  int digits;
} bramah__log_title;

struct bramah_log_writer {
  const bramah__log_sink *sink;
  void *file;
  char *path;
  bramah__log_title *columns; /* [n_columns] that are written */
  size_t n_columns;
  size_t *chosen; /* [n_columns] their numbers as they were added; NULL: all */
  double *row;    /* [n_columns] of chosen columns */
  int begun;
  bramah_diag failure; /* sticky */
};

/* Names that MATLAB, and Protobuf, allow, for the columns of a writer [n_columns]: no two are the same, and none is that
 * of a struct that is written besides. */
typedef char bramah__mat_field[BRAMAH__MAT_NAME];
void bramah__mat_names(const bramah_log_writer *writer, bramah__mat_field *names);

/* A vector per column, and the structs `units` and `names` with their units and the names they have here. */
extern const bramah__log_sink bramah__mat_sink, bramah__csv_sink;
/* MDF 4.10, one group with the first column as its clock. */
extern const bramah__log_sink bramah__mdf_sink;
/* A message of Protobuf per row, in the topic that is called like the file. */
extern const bramah__log_sink bramah__mcap_sink;

#endif
