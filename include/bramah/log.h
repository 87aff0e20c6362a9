/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Logs: CSV with name[unit] headers, MAT files, or CAN frames (candump, ASC, BLF, interfaces); a reader of one file, and a stream that makes of one or many what a
 * replay takes. Part of libbramah-tools. Independent of the locale. */
#ifndef BRAMAH_LOG_H
#define BRAMAH_LOG_H

#include <stdint.h>
#include "bramah/units.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- reading: streaming, memory does not grow with the file ---- */

typedef struct bramah_log_reader bramah_log_reader;

/* Where the units of the columns are. */
typedef enum bramah_log_units {
  BRAMAH_LOG_UNITS_FOUND = 0, /* in brackets; where no column has such, the next line if it has units only */
  BRAMAH_LOG_UNITS_HEADER,
  BRAMAH_LOG_UNITS_ROW /* in the line below the header */
} bramah_log_units;

/* How a file is written. All zero: what other programs write, as far as the file shows it by itself. A
 * byte-order mark of UTF-8 and lines that end with CR LF are always understood. */
typedef struct bramah_log_format {
  char delimiter; /* between cells; ' ': any number of blanks. 0: what is in the header, one of , ; tab
                        * and blanks; an error if , and ; do */
  char decimal;   /* '.' or ','; 0: the one met first, from then on the other is an error; '.' where commas
                        * are between the cells */
  const char *comment; /* marks at the beginning of comment lines, separated by a blank; NULL: "#" */
  const char *missing; /* texts that mean no sample ("NaN -"), separated by a blank; NULL: none */
  const char *dbc; /* of CAN frames: the files that say what is in them, separated by line ends, each FILE or
                        * CHANNEL=FILE; NULL: none, and such logs are not read */
  int skip;        /* lines before the header, comments included */
  int no_header;   /* 1: the columns are called 1, 2, ... and have no units */
  bramah_log_units units;
  int skip_bad_cells; /* 1: a cell that is no number counts as empty; see bramah_log_info */
  int skip_bad_rows;  /* 1: rows with too few or too many cells are left out, a cut last one too, and those
                       * with a bad cell where such are not skipped */
} bramah_log_format;

/* Open a log ("-": standard input) and read its header: the first line that is neither empty nor a comment. format NULL: all zero. Column names are unique; each is `name` or `name[unit]`. Cells may be in quotes, not
 * where blanks separate them. A unit that is unknown is an error when the column is asked for.
 * What kind of file it is is seen in its first bytes, by its name where those say nothing; a pipe is text.
 *   A MAT file: read with matio (versions 4, 5, 7, and 7.3 where matio has HDF5). Vectors
 * of one length are columns, see datasets/README.md, Logs; a row counts as a line. Of the format only `missing`
 * (where it is a number), skip_bad_cells and skip_bad_rows concern it.
 *   An MDF file of version 4: every channel that is a number is a column, t the times of its groups; the same holds.
 *   CAN frames, as candump, ASC, BLF, or of an interface (can0, where no file has that name): by `dbc` of the format, a
 * column t[s] and one for each signal, MESSAGE.SIGNAL (CHANNEL. or 0xIDENTIFIER. before it where several messages have
 * that name); a row is a frame, or what the transport protocol of J1939 makes of several, with a column that is not ignored.
 * `missing` names texts of values, too.
 *   Errors: E_FILE, E_EMPTY (no header), E_SYNTAX, E_UNIT, E_KEY (a column twice), E_TRUNCATED (a MAT file that was
 * cut), E_UNSUPPORTED (built without matio; a file that is known to be something else). Allocates. */
BRAMAH_API bramah_status bramah_log_open(const char *path, const bramah_log_format *format, bramah_diag *diag,
                                         bramah_log_reader **out);
BRAMAH_API void bramah_log_close(bramah_log_reader *reader); /* NULL allowed */

/* A column of a file. */
typedef struct bramah_log_column {
  const char *name, *unit; /* unit "": the header has none */
  int ignored;             /* 1: nothing uses it; its cells are not read and never present */
  uint64_t bad_cells;      /* skipped, and the line of the first; 0 if none was */
  int first_bad;
  int position; /* in the header line, counted from 1; 0: unknown */
} bramah_log_column;

/* What a file is, and how far it was read. Texts and columns live as long as the reader. */
typedef struct bramah_log_info {
  const char *path;         /* as opened */
  const char *kind;         /* what it is, if it is not text: "MAT file of version 5"; else NULL */
  bramah_log_format format; /* as stated, with what was found of it */
  size_t n_columns;
  const bramah_log_column *columns; /* [n_columns] in the order of the file */
  int header_line;                  /* counted from 1; 0: there is none */
  int line;                         /* of the row given last, counted from 1 */
  uint64_t bytes;                   /* of the file, used so far */
  int is_cut; /* 1: the end was reached and is none (a line without line end, a file that was not finished): its last number may be cut */
  uint64_t bad_rows; /* skipped, and the line of the first; 0 if none was */
  int first_bad_row;
  uint64_t
      lost; /* frames that a CAN interface has dropped, because they were not read in time; wanted messages of
                  * several frames (J1939) of which one is missing; and the line of the first */
  int first_lost;
} bramah_log_info;
/* What is known by now; cheap. */
BRAMAH_API bramah_log_info bramah_log_get_info(const bramah_log_reader *reader);

/* Find a column by name and check that its unit has the dimension of `expected` ("Pa"; NULL: any). Errors: E_COLUMN
 * (suggests the nearest name), E_UNIT (no unit or a wrong one). */
BRAMAH_API bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name,
                                         const char *expected, size_t *column, bramah_diag *diag);

/* Next row: values [n_columns] in SI, present [n_columns] 0 where the cell is empty. *end = 1 at the end of
 * the file. Errors, with line and column: E_SYNTAX (text in a number, more or fewer cells than the header),
 * E_NOT_FINITE (nan, inf), E_TRUNCATED (the last line has fewer cells and no line end), E_EMPTY (no row at all, or
 * all were left out). Rows given before stay valid. */
BRAMAH_API bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present,
                                         int *end, bramah_diag *diag);

/* 1 if the name ends in .mat. */
BRAMAH_API int bramah_log_is_mat(const char *path);
/* By the name of a file, as folders of logs are searched: what a row of it is called in messages ("line" of text, else
 * "row"); NULL: it is called as no log is. */
BRAMAH_API const char *bramah_log_row_word(const char *path);
/* Patterns of those names, separated by blanks ("*.csv *.mat"): out [n]. */
BRAMAH_API void bramah_log_names(char *out, size_t n);

/* ns since 1970-01-01T00:00Z of "2024-03-05T12:34:56.789+01:00"; without a zone it is UTC. Errors: E_SYNTAX. */
BRAMAH_API bramah_status bramah_log_read_time(const char *text, int64_t *ns);
/* And back, in UTC: out [n >= 36]. */
BRAMAH_API void bramah_log_time_text(int64_t ns, char *out, size_t n);

/* ---- streams: a log of one or many files as the source of a replay ---- */

typedef struct bramah_log_stream bramah_log_stream;
typedef struct bramah_session bramah_session; /* bramah/session.h */
typedef struct bramah_study bramah_study;     /* bramah/study.h */
typedef struct bramah_plant bramah_plant;     /* bramah/plant.h */
typedef struct bramah_sensor bramah_sensor;   /* bramah/sensor.h */
typedef struct bramah_sample bramah_sample;   /* bramah/replay.h */

/* Open a log for a session, which must outlive the stream, and find the columns of its inputs and sensors.
 * paths [n]: files, and folders, of which are taken in the order of their names (log2 before log10) those that
 * match an entry of the study's log.files; where there are no entries, those called as logs are (bramah_log_names). Files
 * that match one entry follow each other, as do files that match none and have the same columns: they are a
 * device. Devices are merged by time. Units, scales, clocks, late rows and all else as the study says; what was
 * done about it is counted. Memory does not grow with the log.
 *
 *   bramah_log_stream *log;
 *   bramah_log_stream_open(session, 1, &path, &diag, &log);
 *   bramah_replay_new(filter, &options, bramah_log_stream_next, log, &diag, &replay);
 *
 * Errors, with file and line of the log or the study: E_FILE, E_EMPTY, E_SYNTAX, E_KEY, E_COLUMN, E_UNIT,
 * E_VALUE, E_TIME, E_MEMORY. Allocates. */
BRAMAH_API bramah_status bramah_log_stream_open(const bramah_session *session, size_t n,
                                                const char *const *paths, bramah_diag *diag,
                                                bramah_log_stream **out);

/* The same for the inputs of a plant (NULL: none) and the sensors [study->n_sensors] of a study (NULL: none, and
 * no sensors; one without unit is left out). With `report` (NULL allowed) every mistake goes there and none
 * to diag, and columns that are not found are no error: *out is NULL only where no row can be read. */
BRAMAH_API bramah_status bramah_log_stream_open_for(const bramah_study *study, const bramah_plant *plant,
                                                    const bramah_sensor *sensors, size_t n,
                                                    const char *const *paths,
                                                    void (*report)(void *user, const bramah_diag *diag),
                                                    void *user, bramah_diag *diag, bramah_log_stream **out);
BRAMAH_API void bramah_log_stream_close(bramah_log_stream *stream); /* NULL allowed */

/* Next row, a bramah_source (bramah/replay.h) whose user is the stream: time, commands and samples in SI; a
 * command that is given is in force from this row on. Rows of several devices that have the same time are one.
 * Errors, each after the rows before it: those of bramah_log_next; E_TIME (time goes back; two rows of a time
 * contradict each other; a row without time), E_NOT_FINITE, E_EMPTY (no row within the limits). */
BRAMAH_API bramah_status bramah_log_stream_next(void *stream, bramah_sample *sample, int *end,
                                                bramah_diag *diag);

/* Before the first row: begin with the first row at from_ns or later, whose commands are completed by those of
 * the rows before; E_EMPTY of bramah_log_stream_next if that is later than to_ns. Without limits INT64_MIN and
 * INT64_MAX. */
BRAMAH_API void bramah_log_stream_limit(bramah_log_stream *stream, int64_t from_ns, int64_t to_ns);
/* Asked after every row; once it is not 0, the log ends. A line that an interruption cut short is then no
 * mistake. NULL: never. */
BRAMAH_API void bramah_log_stream_stop(bramah_log_stream *stream, int (*stopped)(void *user), void *user);

/* Something that happened to rows or cells: how often, and in which row first. */
typedef struct bramah_log_event {
  uint64_t n;
  int64_t mark; /* see bramah_log_stream_place */
} bramah_log_event;

/* What was out of order in a log, and what became of it. */
typedef struct bramah_log_counts {
  uint64_t rows;              /* read, with a time */
  bramah_log_event repeated;  /* rows that say nothing new: dropped */
  bramah_log_event merged;    /* rows with the time of the row before and other columns */
  bramah_log_event late;      /* out-of-order rows, put in order */
  bramah_log_event resets;    /* of the clock, joined */
  bramah_log_event gaps;      /* between rows, longer than 1.75 times the usual interval */
  bramah_log_event no_time;   /* rows without time: left out */
  bramah_log_event bad_rows;  /* left out */
  bramah_log_event bad_cells; /* taken for empty */
  bramah_log_event cut;       /* files that were cut or not finished: their last number may be cut */
  bramah_log_event
      lost; /* frames that a CAN interface has dropped, messages of several frames that are not whole */
  uint64_t missing; /* rows that would fill the gaps */
  int64_t gap_mark; /* row before the longest gap */
  int64_t most_late_ns, longest_gap_ns;
} bramah_log_counts;

/* A device as far as it was read. Texts live as long as the stream. */
typedef struct bramah_log_device {
  const char *name;  /* that of its entry in log.files, or of its first file without folders */
  const char *entry; /* in log.files; NULL: none */
  size_t n_files;
  const char *const *files; /* [n_files] in the order they are read */
  /* of the file it reads at present; a column is ignored if no input or sensor uses it */
  bramah_log_info log;
  bramah_log_counts counts;
  int64_t interval_ns; /* usual one between rows: median of the first 63; 0 before there are two rows */
  int64_t start_ns;    /* what its clock showed in the first row */
  /* Its clock: time of the log = (shown - zero) / (1 + drift) + offset. */
  const char *time_column;
  int is_date;       /* it shows dates: ns since 1970-01-01T00:00Z */
  double rate;       /* [Hz] it counts samples; 0: it shows times */
  int64_t wrap;      /* it begins anew after so much: counts where rate > 0, else ns; 0: never */
  uint64_t wraps;    /* how often it has */
  int64_t offset_ns; /* added */
  int64_t zero_ns;   /* of the clock: time 0 of the log */
  double drift;      /* [s/s] gained, counted from the first row */
} bramah_log_device;

/* What feeds an input or a sensor: value [SI] = offset + factor * column. */
typedef struct bramah_log_feed {
  const char *column;
  const char *unit; /* of the value, SI */
  size_t device;
  int plain; /* 1: the reader gives the value itself; factor 1, offset 0 */
  double factor, offset;
  double wrap;   /* the column jumps by this much; 0: it does not */
  uint64_t held; /* of an input: rows without a cell, in which the former command went on */
} bramah_log_feed;

/* A stream as far as it was read. */
typedef struct bramah_log_stream_info {
  size_t n_devices;     /* with clocks of their own */
  uint64_t rows;        /* given or passed over, merged */
  uint64_t skipped;     /* before from_ns of bramah_log_stream_limit */
  uint64_t used_before; /* of a replay that was gone on with: rows before its snapshot */
  size_t unused_files;  /* of folders, that were not taken */
  int is_touched;       /* 1: rows or cells were dropped, merged, put in order, joined or taken for empty */
  double share;         /* of the files that was read, 0 to 1; NaN where it is not known (a pipe) */
} bramah_log_stream_info;

/* What was read by now. */
BRAMAH_API bramah_log_stream_info bramah_log_stream_get_info(const bramah_log_stream *stream);
/* Device k < n_devices. */
BRAMAH_API bramah_log_device bramah_log_stream_get_device(const bramah_log_stream *stream, size_t k);
/* What feeds a slot: inputs of the model first, then sensors. Returns 0 if nothing does. */
BRAMAH_API int bramah_log_stream_get_feed(const bramah_log_stream *stream, size_t slot, bramah_log_feed *out);
/* File and line (of a MAT file the row) of a mark: of a sample, a count, or a report (bramah_replay_report.mark). */
BRAMAH_API const char *bramah_log_stream_place(const bramah_log_stream *stream, int64_t mark, int *line);

/* The log's last time [ns], by reading all of it: INT64_MIN if it has no row. A bad row ends it as it ends a
 * replay. Errors: those of bramah_log_stream_open; E_UNSUPPORTED (a pipe, which cannot be read twice). */
BRAMAH_API bramah_status bramah_log_last_time(const bramah_session *session, size_t n,
                                              const char *const *paths, int64_t *time_ns, bramah_diag *diag);

/* What the rows of a log look like. */
typedef struct bramah_log_survey {
  uint64_t rows, off_grid;                            /* off_grid: not at a multiple of the step */
  int64_t first_ns, last_ns, shortest_ns, longest_ns; /* shortest and longest interval between rows */
  int64_t most_shift_ns;                              /* furthest off the grid */
  uint64_t *samples;                                  /* [sensors] */
  int64_t *longest_wait_ns;                           /* [sensors] between two samples */
} bramah_log_survey;

/* Read all rows without a filter; step_ns: of the plant. Every gap longer than longest_gap_ns is reported (E_TIME), and
 * the error that ended the rows, whose status is returned. Released by bramah_log_survey_free in any case. */
BRAMAH_API bramah_status bramah_log_survey_read(bramah_log_stream *stream, int64_t step_ns,
                                                int64_t longest_gap_ns,
                                                void (*report)(void *user, const bramah_diag *diag),
                                                void *user, bramah_log_survey *out);
BRAMAH_API void bramah_log_survey_free(bramah_log_survey *survey);

/* ---- writing ---- */

/* A name that ends in .mat: a MAT file, with full precision, structs `units` and `names` (the names columns
 * have here). It is empty until it is finished; rows wait in a nameless file in its folder. One that ends in .mf4 or
 * .mdf: MDF 4.10, with full precision, the first column as the clock [s]; unfinished, but whole, until it is finished. One
 * that ends in .mcap: an MCAP file, messages of Protobuf with full precision, the first column t[s] (from 0) as log time. */

typedef struct bramah_log_writer bramah_log_writer;

/* A writer of this file ("-": standard output). Columns are added before the first row; only with that is the file made, or the
 * one of that name replaced. Buffered; whole rows only are handed to the system. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_log_create(const char *path, bramah_diag *diag, bramah_log_writer **out);
/* Add column `name[unit]`, written with so many significant digits (1 to 17). */
BRAMAH_API bramah_status bramah_log_add_column(bramah_log_writer *writer, const char *name, const char *unit,
                                               int digits, bramah_diag *diag);
/* Keep of the columns added so far the first one, the time, and those whose name one of the patterns matches, which
 * commas separate: * is any text, ? any character. NULL: all. Before the first row. Errors: E_COLUMN: a pattern matches
 * no name; the others are in force nevertheless. */
BRAMAH_API bramah_status bramah_log_choose_columns(bramah_log_writer *writer, const char *patterns,
                                                   bramah_diag *diag);
/* 1 if this column, counted as they were added, is written. */
BRAMAH_API int bramah_log_has_column(const bramah_log_writer *writer, size_t column);
/* Write the row; NaN gives an empty cell. values [number of columns added]. The first call makes the file and writes the
 * header. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_log_write(bramah_log_writer *writer, const double *values, bramah_diag *diag);
/* Bring all rows written so far to the disk: what a snapshot refers to is there before it. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_log_flush(bramah_log_writer *writer, bramah_diag *diag);
/* Flush and close; NULL allowed. Without a row the file has a header. Errors: E_FILE (disk full): the file is then
 * incomplete. Frees the writer in any case. */
BRAMAH_API bramah_status bramah_log_finish(bramah_log_writer *writer, bramah_diag *diag);
/* The same, but without a row a file of that name is left as it is: what led up to the writing has failed. */
BRAMAH_API bramah_status bramah_log_abandon(bramah_log_writer *writer, bramah_diag *diag);

/* ---- reproducible noise (GSL) ---- */

/* A stream of random numbers. Streams of one seed with different names are independent, so that the noise of a
 * sensor, called by the sensor, does not depend on which other sensors there are. */
typedef struct bramah_noise bramah_noise;
/* Begin a stream. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_noise_new(uint64_t seed, const char *name, bramah_diag *diag,
                                          bramah_noise **out);
BRAMAH_API void bramah_noise_free(bramah_noise *noise); /* NULL allowed */
/* One sample of a normal distribution with mean 0 and standard deviation sigma. */
BRAMAH_API double bramah_noise_gaussian(bramah_noise *noise, double sigma);
/* ---- matrices and texts in a MAT file of version 5, as MATLAB, Octave and SciPy read it; needs no other library.
 * Logs and estimates are written by bramah_log_create: a name that ends in .mat suffices ---- */

/* A variable: a real matrix [n_rows x n_columns], given row-major; or, where `texts` is not NULL, a cell array of
 * texts (UTF-8) [n_rows x 1]: names of states, for example. */
typedef struct bramah_mat_variable {
  const char *name; /* a letter, then letters, digits and _, 63 at most */
  size_t n_rows, n_columns;
  const double *values;
  const char *const *texts;
} bramah_mat_variable;

/* Create (replace) a file with these variables. Errors: E_FILE; E_ARGUMENT (name), E_VALUE (larger than the 2 GiB
 * the format allows a variable): the file is then incomplete. */
BRAMAH_API bramah_status bramah_mat_write(const char *path, size_t n, const bramah_mat_variable *variables,
                                          bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
