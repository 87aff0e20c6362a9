/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of a log stream share. clock.c: from what the clock of a device shows to the time of the log;
 * conversion.c: from what a column holds to what a sensor measured; device.c: files that follow each other,
 * their rows in the order of time; stream.c: devices merged by time. */
#ifndef BRAMAH_LIB_LOGS_STREAM_H
#define BRAMAH_LIB_LOGS_STREAM_H

#include "bramah/study.h"
#include "bramah/log.h"
#include "lib/logs/reader.h"

/* ---- clocks ---- */

typedef enum bramah__origin {
  BRAMAH__ORIGIN_NONE = 0, /* the clock's own zero is that of the log */
  BRAMAH__ORIGIN_FIRST,    /* the first row of all files that have no origin of their own */
  BRAMAH__ORIGIN_OWN,      /* the first row of this file */
  BRAMAH__ORIGIN_STATED
} bramah__origin;

typedef struct bramah__clock {
  int is_date;
  double rate;    /* [Hz] of a counter of samples; 0: the clock shows times */
  int64_t wrap;   /* the clock begins anew after so much: ns or counts; 0: never */
  int64_t offset; /* [ns] */
  double drift;   /* seconds gained per second */
  bramah__origin origin;
  int64_t zero; /* [ns] of the clock: time 0 of the log */
  /* What has happened so far. */
  int started;
  int64_t first;         /* [ns] of the clock, in its first row */
  int64_t last, unwound; /* the reading before, and what wraps have added up to: ns or counts */
  int64_t joined;        /* [ns] that resets have added up to */
  uint64_t wraps;
} bramah__clock;

/* By what the study (NULL: none) says; is_date as the reader has found. Errors, with the line of the study:
 * E_VALUE. */
bramah_status bramah__clock_make(bramah__clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, int is_date, bramah_diag *diag);
/* A reading as nanoseconds of the clock, its wraps undone by the shorter arc. Readings come in the order of the
 * file. Returns 0 if it does not fit into nanoseconds. */
int bramah__clock_read(bramah__clock *clock, int64_t reading, int64_t *ns);
/* The time of the log for nanoseconds of the clock. Returns 0 if it is beyond 3e9 s, so that differences of
 * times fit too. */
int bramah__clock_time(const bramah__clock *clock, int64_t ns, int64_t *time_ns);

/* ---- columns: value = offset + sign * scale * column, and back ---- */

typedef struct bramah__column_map {
  int plain;             /* 1: the column holds the value */
  double factor, offset; /* value [SI] = offset + factor * column, as its numbers are in the file */
  double wrap;           /* the column jumps by this much; 0: it does not */
  double least, most;    /* of what it holds, beyond these it is no measurement; both 0: none known */
  double last, turns;    /* the column's last value, and how often it has jumped since the first */
} bramah__column_map;

/* By what the study says (from NULL: nothing) of a column with the unit `unit` ("": none), for something in
 * `si_unit`. Errors, with the line of the study: E_UNIT, E_VALUE. */
bramah_status bramah__column_map_make(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, const char *unit, const char *si_unit,
                                      bramah_diag *diag);
/* The same for a column of a log: finds its unit and how the reader shall give it. */
bramah_status bramah__column_map_bind(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, bramah_log_reader *reader,
                                      size_t column, const char *si_unit, bramah_diag *diag);
/* The unit a device would write into the header, "" for none. */
const char *bramah__column_map_unit(const bramah_study_column *from, const char *si_unit);
/* In SI, of a column that comes in its own unit because another target wants it so. */
void bramah__column_map_si(bramah__column_map *map, const char *unit);
/* 1 if the study says anything about the column but its name. */
int bramah__column_map_is_needed(const bramah_study_column *from);
double bramah__column_map_value(bramah__column_map *map, double column);
/* 1 if the column holds what no measurement is: the current of a loop that is broken. */
int bramah__column_map_is_dead(const bramah__column_map *map, double column);
/* What the column holds for a value; of a column that jumps, within [0, wrap). */
double bramah__column_map_column(const bramah__column_map *map, double value);

/* What the study says of the column of an input (NULL: nothing), and its name, "<input>.command" by itself. */
const bramah_study_column *bramah__input_column(const bramah_study *study, const char *input, char *name,
                                                size_t n);

/* ---- files ---- */

typedef struct bramah__log_path {
  char *path;
  const bramah_study_file *entry; /* the first of log.files whose pattern its name matches; NULL: none */
} bramah__log_path;

/* Marks: the file by its number among the paths, and the line. */
static inline int64_t bramah__mark(size_t path, int line) { return (int64_t)path << 32 | line; }
static inline size_t bramah__mark_path(int64_t mark) { return (size_t)(mark >> 32); }
static inline int bramah__mark_line(int64_t mark) { return (int)(mark & UINT32_MAX); }

/* ---- devices ---- */

/* A column that feeds an input or a sensor. */
typedef struct bramah__target {
  const char *name; /* of the column */
  char *copy;       /* of a device: holds the name */
  const char *si_unit;
  const bramah_study_column *from; /* NULL: the study says nothing of it */
  size_t slot;                     /* inputs come before sensors */
  size_t column;                   /* of the present file */
  bramah__column_map map;
} bramah__target;

/* The usual interval between rows: the median of the first ones. */
enum { BRAMAH__INTERVALS = 63 };

/* A row that waits for its turn: its time, its place in the files. */
typedef struct bramah__waiting {
  int64_t time_ns, mark;
} bramah__waiting;

/* A file, or several that follow each other, with a clock of its own. Rows come out in the order of time, late
 * ones put in their place, repeated ones once, a clock that began anew joined if the study says so; all of it
 * counted. Memory does not grow with the log. */
typedef struct bramah__device {
  const bramah_study *study; /* NULL: none */
  const bramah__log_path *paths;
  const bramah_study_file *entry; /* NULL: none matches */
  bramah_study_time time;         /* the entry's, completed by the log's */
  size_t *parts, n_parts, part;   /* indices of paths; the present one */
  const char **files;             /* [n_parts] their names */
  bramah_log_reader *reader;      /* of the present part */
  size_t time_column;             /* SIZE_MAX: not found yet */
  double *values;                 /* [columns] of the row read last */
  unsigned char *present;
  bramah__target *targets;
  size_t n_targets;
  bramah__clock clock;
  bramah_log_counts counts;
  int collected;  /* what the reader of the present part has skipped is among them */
  uint64_t bytes; /* of parts that are done */
  size_t n_intervals;
  int64_t intervals[BRAMAH__INTERVALS]; /* [ns] the first ones, sorted */
  /* Rows that wait, in the order of time. */
  int64_t reorder_ns;
  int64_t first_ns;      /* reading of the first row */
  int primed;            /* it was read, but not taken */
  bramah__waiting *rows; /* [room], those from head to tail wait */
  double *cells;         /* [room x n_targets] as they are in the file */
  unsigned char *filled; /* [room x n_targets] */
  size_t head, tail, room;
  int64_t newest_ns, jump_ns; /* latest time so far; time before the last jump ahead, INT64_MIN: none */
  int64_t newest_mark, jump_mark;
  int any, over;       /* a row was taken; no more rows are read */
  bramah_diag failure; /* reported when the rows before it were given */
  size_t beat; /* of rows that are messages: a target of the first one, whose rows show the usual interval */
  int64_t beat_ns; /* time of the last such row */
  /* The row given last. */
  uint64_t given;
  int64_t time_ns, mark;
  double *out; /* [n_targets] in SI */
  unsigned char *has;
} bramah__device;

/* Open a file as the study says it is written. */
bramah_status bramah__device_open_file(const bramah_study *study, const bramah__log_path *path,
                                       bramah_diag *diag, bramah_log_reader **out);
/* Begin with a part that was opened. Released by bramah__device_close in any case. */
bramah_status bramah__device_open(bramah__device *d, const bramah_study *study, const bramah__log_path *paths,
                                  size_t part, bramah_log_reader *reader, bramah_diag *diag);
void bramah__device_close(bramah__device *d);
/* Another file that follows. */
bramah_status bramah__device_follow(bramah__device *d, size_t part, bramah_diag *diag);
/* Find the column of times. */
bramah_status bramah__device_find_time(bramah__device *d, bramah_diag *diag);
/* Let a column feed the slot. Its unit must live as long as the device. */
bramah_status bramah__device_feed(bramah__device *d, const bramah__target *target, bramah_diag *diag);
/* After the last one: cells of columns that nobody wants are not read. */
void bramah__device_ignore_others(bramah__device *d);
/* Read the first row, so that its time is known. *end = 1 if there is none. */
bramah_status bramah__device_prime(bramah__device *d, int *end, bramah_diag *diag);
/* Next row: time_ns, mark, out, has. *end = 1 at the end. Errors: those of the reader; E_TIME with the line
 * (time goes back, or two rows of a time contradict each other). */
bramah_status bramah__device_next(bramah__device *d, int *end, bramah_diag *diag);
/* The counts, with what the reader has skipped of a file that was not read to its end. */
bramah_log_counts bramah__device_counts(const bramah__device *d);
/* Usual interval between rows [ns], 0 before there are two. */
int64_t bramah__device_interval(const bramah__device *d);

#endif
