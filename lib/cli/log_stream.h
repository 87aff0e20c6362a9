/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One device of a log: a file, or several that follow each other, with a clock of its own. Rows come out in
 * the order of time, late ones put in their place, repeated ones once, a clock that began anew joined if the
 * study says so; all of it counted. Memory does not grow with the log. */
#ifndef BRAMAH_LIB_CLI_LOG_STREAM_H
#define BRAMAH_LIB_CLI_LOG_STREAM_H

#include "lib/cli/log_clock.h"
#include "lib/cli/log_map.h"
#include "lib/cli/log_paths.h"
#include "lib/cli/message.h"

/* Something that befell rows or cells: how often, and in which row first. */
typedef struct cli_log_event {
  uint64_t n, mark;
} cli_log_event;

typedef struct cli_log_counts {
  uint64_t rows;                   /* read, with a time */
  cli_log_event repeated;          /* said nothing new: dropped */
  cli_log_event merged;            /* had the time of the row before and other columns */
  cli_log_event late;              /* put in order */
  cli_log_event resets;            /* of the clock, joined */
  cli_log_event gaps;              /* between rows, longer than 1.75 times the usual interval */
  cli_log_event no_time, bad_rows; /* left out */
  cli_log_event bad_cells;         /* taken for empty */
  cli_log_event cut;               /* last lines without line end */
  uint64_t missing, gap_mark;      /* rows that would fill the gaps; row before the longest */
  int64_t most_late_ns, longest_gap_ns;
} cli_log_counts;

/* A column that feeds an input or a sensor. */
typedef struct cli_log_target {
  char *name; /* copied by cli_log_stream_feed */
  const char *si_unit;
  const bramah_study_column *from; /* NULL: the study says nothing of it */
  size_t slot;                     /* inputs come before sensors */
  size_t column;                   /* of the present file */
  cli_log_map map;
} cli_log_target;

/* The usual interval between rows: the median of the first ones. */
enum { CLI_LOG_INTERVALS = 63 };
typedef struct cli_log_pace {
  size_t n;
  int64_t sorted[CLI_LOG_INTERVALS]; /* [ns] */
} cli_log_pace;

/* A row that waits: its time, where it stands in the files, and where its cells are kept. */
typedef struct cli_log_waiting {
  int64_t time_ns;
  uint64_t mark;
  size_t slot;
} cli_log_waiting;

typedef struct cli_log_stream {
  const bramah_study *study; /* NULL: none */
  const cli_log_paths *paths;
  const bramah_study_file *entry; /* NULL: none matches */
  bramah_study_time time;         /* the entry's, completed by the log's */
  size_t *parts, n_parts, part;   /* indices of paths; the present one */
  bramah_log_reader *reader;      /* of the present part */
  size_t time_column;
  double *values; /* [columns] of the row read last */
  unsigned char *present;
  cli_log_target *targets;
  size_t n_targets;
  cli_log_clock clock;
  cli_log_pace pace;
  cli_log_counts counts;
  int collected;  /* what the reader of the present part has skipped is among them */
  uint64_t bytes; /* of parts that are done */
  /* Rows that wait, in the order of time. */
  int64_t reorder_ns;
  int64_t first_ns;           /* reading of the first row */
  int primed;                 /* it was read, but not taken */
  cli_log_waiting *rows;      /* [room], those from head to tail wait */
  size_t *free_slots, n_free; /* [room] */
  double *cells;              /* [room x n_targets] as they stand in the file */
  unsigned char *filled;      /* [room x n_targets] */
  size_t head, tail, room;
  int64_t newest_ns, jump_ns; /* latest time so far; time before the last jump ahead, INT64_MIN: none */
  uint64_t newest_mark, jump_mark;
  int any, over;       /* a row was taken; no more rows are read */
  bramah_diag failure; /* told when the rows before it were given */
  /* The row given last. */
  uint64_t given;
  int64_t time_ns;
  uint64_t mark;
  double *out; /* [n_targets] in SI */
  unsigned char *has;
} cli_log_stream;

/* Begin with a part that was opened. Released by cli_log_stream_close in any case. */
bramah_status cli_log_stream_open(cli_log_stream *stream, const bramah_study *study,
                                  const cli_log_paths *paths, size_t part, bramah_log_reader *reader,
                                  bramah_diag *diag);
void cli_log_stream_close(cli_log_stream *stream);
/* Another file that follows. */
bramah_status cli_log_stream_follow(cli_log_stream *stream, size_t part, bramah_diag *diag);

/* Open a file as the study says it is written. */
bramah_status cli_log_stream_open_file(const bramah_study *study, const cli_log_path *path, bramah_diag *diag,
                                       bramah_log_reader **out);

/* Find the column of times. */
bramah_status cli_log_stream_find_time(cli_log_stream *stream, bramah_diag *diag);
/* Let a column feed the slot. Its unit must live as long as the stream. */
bramah_status cli_log_stream_feed(cli_log_stream *stream, const cli_log_target *target, bramah_diag *diag);

/* Read the first row, so that its time is known. *end = 1 if there is none. */
bramah_status cli_log_stream_prime(cli_log_stream *stream, int *end, bramah_diag *diag);

/* Next row: time_ns, mark, out, has. *end = 1 at the end. Errors: those of the reader; E_TIME with the line
 * (time goes back, or two rows of a time contradict each other). */
bramah_status cli_log_stream_next(cli_log_stream *stream, int *end, bramah_diag *diag);

/* Take what the reader has skipped so far into the counts, where reading ends before the file does. */
void cli_log_stream_collect(cli_log_stream *stream);

/* Usual interval between rows [ns], 0 before there are two. */
int64_t cli_log_stream_interval(const cli_log_stream *stream);

/* Marks: the file by its number among the paths, and the line. */
uint64_t cli_log_mark(size_t path, int line);
size_t cli_log_mark_path(uint64_t mark);
int cli_log_mark_line(uint64_t mark);
/* "line"; of a MAT file "row". */
const char *cli_log_mark_word(const cli_log_stream *stream, uint64_t mark);
void cli_log_note(cli_log_event *event, uint64_t mark);

/* ---- for log_order.c ---- */

/* The row of the file that comes next: its time on the clock and its mark; *end = 1 behind the last part. */
bramah_status cli__log_read(cli_log_stream *stream, int64_t *ns, uint64_t *mark, int *end, bramah_diag *diag);
/* An error in a row. */
bramah_status cli__log_fail(const cli_log_stream *stream, uint64_t mark, bramah_diag *diag,
                            const char *format, ...) CLI_PRINTF(4, 5);

#endif
