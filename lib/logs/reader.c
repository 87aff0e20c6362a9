/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading logs row by row, whatever their format. Nothing is kept of a row but its numbers. */
#define _GNU_SOURCE /* newlocale, strerror_l, strtod_l */
#include "lib/base/text.h"
#include "lib/io/files.h"
#include "lib/io/quantity.h"
#include "lib/logs/reader.h"

#include <errno.h>
#include <fnmatch.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The formats; the last one takes whatever no other takes. */
static const bramah__log_kind *const kinds[] = {&bramah__log_interface, &bramah__log_can,  &bramah__log_blf,
                                                &bramah__log_mdf,       &bramah__log_mcap, &bramah__log_bag,
                                                &bramah__log_mat,       &bramah__log_hdf5, &bramah__log_csv};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* What people have in their folders and give as a log, but is none that is read: by bytes at a place of the file. Rows
 * that look closer come first. */
static const struct {
  size_t at;
  const char *bytes;
  size_t n;
  const char *what, *instead;
} others[] = {
#define BYTES(text) text, sizeof text - 1
    {0, BYTES("PAR1"), "a Parquet file",
     "save it as CSV, or as a log in Python (bramah.write_log with the columns)"},
    {0, BYTES("ARROW1"), "an Arrow (Feather) file",
     "save it as CSV, or as a log in Python (bramah.write_log with the columns)"},
    {0, BYTES("CDF\1"), "a netCDF file", "save its vectors with a time 't' as MAT file or CSV"},
    {0, BYTES("SQLite format 3"), "an SQLite database, as bags of ROS 2 are (.db3)",
     "convert the bag to MCAP (ros2 bag convert, storage_id: mcap)"},
    {0, BYTES("MDF     3"), "an MDF file of version 3",
     "save it as MDF 4.10 (all current tools do), or as CSV"},
    {0, BYTES("MDF     2"), "an MDF file of version 2",
     "save it as MDF 4.10 (all current tools do), or as CSV"},
    {0, BYTES("\x0a\x0d\x0d\x0a"), "a capture (pcapng)",
     "save CAN frames as Vector ASC, BLF or candump text"},
    {0, BYTES("\xd4\xc3\xb2\xa1"), "a capture (pcap)", "save CAN frames as Vector ASC, BLF or candump text"},
    {0, BYTES(";$FILEVERSION"), "a trace of PCAN", "save its frames as Vector ASC, BLF or candump text"},
    {0, BYTES("# Created by Octave"), "a text file of Octave", "save it there with save -v7"},
    {0, BYTES("Octave-1-"), "a binary file of Octave", "save it there with save -v7"},
    {0, BYTES("{\""), "JSON", "save it as CSV with a time 't', or its messages as MCAP"},
    {0, BYTES("<?xml"), "XML", "save its numbers as CSV with a time 't'"},
    {0, BYTES("TDSm"), "a TDMS file of LabVIEW", "save it as CSV or MAT file"},
    {0, BYTES("ULog\x01\x12\x35"), "a ULog file of PX4", "save its topics as CSV (ulog2csv)"},
    {0, BYTES("\x93NUMPY"), "an array of NumPy",
     "save it as a log in Python (bramah.write_log with the columns)"},
    {0, BYTES("\x1f\x8b"), "compressed (gzip)",
     "unpack it first (gunzip), or read it from a pipe: zcat FILE | bramah ... -"},
    {0, BYTES("BZh"), "compressed (bzip2)", "unpack it first (bunzip2)"},
    {0,
     BYTES("\xfd"
           "7zXZ"),
     "compressed (xz)", "unpack it first (unxz)"},
    {0, BYTES("\x28\xb5\x2f\xfd"), "compressed (Zstandard)", "unpack it first (unzstd)"},
    {0, BYTES("\x04\x22\x4d\x18"), "compressed (LZ4)", "unpack it first (unlz4)"},
    {0, BYTES("7z\xbc\xaf\x27\x1c"), "an archive (7z)", "unpack it first"},
    {30, BYTES("[Content_Types].xml"), "a workbook of Excel or another document of Office",
     "save the sheet as CSV"},
    {30, BYTES("mimetypeapplication/vnd.oasis"), "a document of LibreOffice", "save the sheet as CSV"},
    {0, BYTES("PK\3\4"), "an archive (zip)", "unpack it first"},
    {257, BYTES("ustar"), "an archive (tar)", "unpack it first"},
    {0, BYTES("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), "a document of Office (before 2007)",
     "save the sheet as CSV"},
    {8, BYTES("WAVEfmt "), "a sound (WAV)", "save its channels with a time 't' as CSV or MAT file"},
    {8, BYTES("AVI "), "a film (AVI)", NULL},
    {4, BYTES("ftyp"), "a film (MP4)", NULL},
    {0, BYTES("OggS"), "a sound or film (Ogg)", NULL},
    {0, BYTES("\x89PNG\r\n"), "a picture (PNG)", NULL},
    {0, BYTES("\xff\xd8\xff"), "a picture (JPEG)", NULL},
    {0, BYTES("%PDF-"), "a document (PDF)", NULL},
    {0,
     BYTES("\x7f"
           "ELF"),
     "a program", NULL},
#undef BYTES
};

/* ---- errors ---- */

static const char *display_path(const bramah_log_reader *reader)
{
  return strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path;
}

bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *format, ...)
{
  bramah_diag *diag = &reader->failure;
  va_list list;
  bramah__failf(diag, status, display_path(reader), line, thing, "%s", "");
  diag->column = position;
  va_start(list, format);
  vsnprintf(diag->message, sizeof diag->message, format, list);
  va_end(list);
  return status;
}

bramah_status bramah__log_fail_memory(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_MEMORY, NULL, 0, 0, "out of memory");
}

bramah_status bramah__log_fail_system(bramah_log_reader *reader, const char *what, int error)
{
  return bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "%s%s", what,
                          strerror_l(error, reader->c_locale));
}

/* ---- what kind of file it is ---- */

const bramah__log_kind *bramah__log_kind_of(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
  for (size_t i = 0; i < N_KINDS; i++)
    for (const char *at = kinds[i]->names; *at; at += *at == ' ') {
      char pattern[64];
      const size_t n = strcspn(at, " ");
      snprintf(pattern, sizeof pattern, "%.*s", (int)n, at);
      if (fnmatch(pattern, name, FNM_CASEFOLD) == 0) return kinds[i];
      at += n;
    }
  return NULL;
}

int bramah_log_is_mat(const char *path) { return bramah__log_kind_of(path) == &bramah__log_mat; }

const char *bramah_log_row_word(const char *path)
{
  const bramah__log_kind *kind = bramah__log_kind_of(path);
  return kind ? kind->record : NULL;
}

void bramah_log_names(char *out, size_t n)
{
  size_t used = 0;
  *out = '\0';
  for (size_t i = N_KINDS; i-- > 0;) {
    if (used && *kinds[i]->names) used = bramah__append(out, n, used, " ");
    used = bramah__append(out, n, used, kinds[i]->names);
  }
}

bramah_status bramah__log_read(bramah_log_reader *reader, void *out, size_t n, size_t *got)
{
  const size_t left = reader->n_head - reader->head_at;
  ssize_t length;
  if (left) {
    *got = n < left ? n : left;
    memcpy(out, reader->head + reader->head_at, *got);
    reader->head_at += *got;
    return BRAMAH_OK;
  }
  do length = read(reader->fd, out, n);
  while (length < 0 && errno == EINTR);
  *got = length < 0 ? 0 : (size_t)length;
  return length < 0 ? bramah__log_fail_system(reader, "cannot read: ", errno) : BRAMAH_OK;
}

/* The first bytes. What was taken out of a pipe is kept: enough for what others begin with, or up to a line's end. */
static bramah_status read_head(bramah_log_reader *reader, unsigned char *head, size_t *n, int *is_pipe)
{
  enum { ENOUGH = 64 };
  const off_t at = lseek(reader->fd, 0, SEEK_CUR);
  ssize_t got;
  *is_pipe = at < 0;
  *n = 0;
  do {
    got = *is_pipe ? read(reader->fd, head + *n, BRAMAH__LOG_HEAD - *n)
                   : pread(reader->fd, head + *n, BRAMAH__LOG_HEAD - *n, at + (off_t)*n);
    if (got > 0) *n += (size_t)got;
  } while ((got < 0 && errno == EINTR) || (got > 0 && *n < ENOUGH && !memchr(head, '\n', *n)));
  if (got < 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  if (!*is_pipe || !*n) return BRAMAH_OK;
  reader->head = malloc(*n);
  if (!reader->head) return bramah__log_fail_memory(reader);
  memcpy(reader->head, head, *n);
  reader->n_head = *n;
  return BRAMAH_OK;
}

/* By what is in it, then by its name, else CSV. */
static bramah_status find_kind(bramah_log_reader *reader)
{
  unsigned char head[BRAMAH__LOG_HEAD];
  size_t n;
  int is_pipe;
  const bramah_status status = read_head(reader, head, &n, &is_pipe);
  if (status) return status;
  const bramah__log_kind *kind = NULL;
  for (size_t i = 0; !kind && i < N_KINDS; i++)
    if (kinds[i]->takes && kinds[i]->takes(reader->path, head, n)) kind = kinds[i];
  for (size_t i = 0; !kind && i < sizeof others / sizeof others[0]; i++)
    if (n >= others[i].at + others[i].n && memcmp(head + others[i].at, others[i].bytes, others[i].n) == 0)
      return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                              "this is %s, which is not read as a log%s%s", others[i].what,
                              others[i].instead ? ": " : "", others[i].instead ? others[i].instead : "");
  if (!kind) kind = bramah__log_kind_of(reader->path);
  if (!kind) kind = kinds[N_KINDS - 1];
  if (!kind->from_pipe && (is_pipe || strcmp(reader->path, "-") == 0))
    return bramah__log_fail(reader, BRAMAH_E_UNSUPPORTED, NULL, 0, 0,
                            "this %s cannot be read from a pipe: give the name of the file", kind->what);
  reader->kind = kind;
  return BRAMAH_OK;
}

/* ---- opening and closing ---- */

/* A device, whose kind is known then, or a file. */
static bramah_status open_input(bramah_log_reader *reader)
{
  char reason[512];
  for (size_t i = 0; i < N_KINDS; i++)
    if (kinds[i]->connect && kinds[i]->connect(reader)) {
      reader->kind = reader->failure.status ? NULL : kinds[i];
      return reader->failure.status;
    }
  reader->fd = strcmp(reader->path, "-") == 0 ? STDIN_FILENO : bramah__open_input(reader->path);
  if (reader->fd >= 0) return BRAMAH_OK;
  return bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "cannot open: %s",
                          bramah__open_reason(reader->path, errno, reason, sizeof reason));
}

/* The texts of `missing` that are numbers. */
static bramah_status get_no_samples(bramah_log_reader *reader)
{
  const char *at = reader->missing;
  reader->no_samples = malloc((strlen(at) / 2 + 1) * sizeof *reader->no_samples);
  if (!reader->no_samples) return bramah__log_fail_memory(reader);
  for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
    char *end;
    const double value = strtod_l(at, &end, reader->c_locale);
    if (end > at && (*end == ' ' || !*end)) reader->no_samples[reader->n_no_samples++] = value;
    at += strcspn(at, " ");
  }
  return BRAMAH_OK;
}

int bramah__log_is_no_sample(const bramah_log_reader *reader, double value)
{
  if (isnan(value)) return 1;
  for (size_t i = 0; i < reader->n_no_samples; i++)
    if (value == reader->no_samples[i]) return 1;
  return 0;
}

bramah_status bramah_log_open(const char *path, const bramah_log_format *format, bramah_diag *diag,
                              bramah_log_reader **out)
{
  bramah_status status = BRAMAH_OK;
  bramah_log_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return bramah__fail_memory(diag);
  if (format) reader->format = *format;
  reader->fd = -1;
  reader->time_column = SIZE_MAX;
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->path = strdup(path);
  reader->comment = strdup(reader->format.comment ? reader->format.comment : "#");
  reader->missing = strdup(reader->format.missing ? reader->format.missing : "");
  if (reader->format.dbc) reader->dbc = strdup(reader->format.dbc);
  reader->format.dbc = reader->dbc;
  reader->format.comment = reader->comment;
  reader->format.missing = reader->missing;
  if (!reader->c_locale || !reader->path || !reader->comment || !reader->missing)
    status = bramah__fail_memory(&reader->failure);
  if (!status) status = get_no_samples(reader);
  if (!status) status = open_input(reader);
  if (!status && !reader->kind) status = find_kind(reader);
  if (!status) status = reader->kind->open(reader);
  if (!status) return *out = reader, BRAMAH_OK;
  if (diag) *diag = reader->failure;
  bramah_log_close(reader);
  return status;
}

void bramah_log_close(bramah_log_reader *reader)
{
  if (!reader) return;
  if (reader->kind) reader->kind->close(reader);
  for (size_t i = 0; i < reader->n_columns; i++) {
    free((char *)(uintptr_t)reader->columns[i].name);
    free((char *)(uintptr_t)reader->columns[i].unit);
  }
  free(reader->columns);
  free(reader->units);
  if (reader->c_locale) freelocale(reader->c_locale);
  if (reader->fd > STDIN_FILENO) close(reader->fd);
  free(reader->head);
  free(reader->path);
  free(reader->comment);
  free(reader->missing);
  free(reader->no_samples);
  free(reader->dbc);
  free(reader);
}

bramah_log_info bramah_log_get_info(const bramah_log_reader *reader)
{
  bramah_log_info info = {.path = reader->path,
                          .format = reader->format,
                          .n_columns = reader->n_columns,
                          .columns = reader->columns,
                          .header_line = reader->header_line,
                          .line = reader->given_line,
                          .bad_rows = reader->skipped_rows,
                          .first_bad_row = reader->first_skipped};
  reader->kind->describe(reader, &info);
  return info;
}

/* ---- columns ---- */

int bramah__log_is_no_unit(const char *unit)
{
  return !unit || !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0 || strcmp(unit, "counts") == 0;
}

bramah_status bramah__log_set_unit(bramah_log_reader *reader, size_t column, const char *unit)
{
  bramah__log_unit *u = &reader->units[column];
  bramah_diag ignored;
  char *copy = strdup(unit);
  if (!copy) return bramah__log_fail_memory(reader);
  free((char *)(uintptr_t)reader->columns[column].unit);
  reader->columns[column].unit = copy;
  u->factor = 1.0;
  u->dimension = (bramah_dimension){0};
  if (bramah__log_is_no_unit(unit)) return BRAMAH_OK;
  u->unknown = bramah_unit_parse(unit, &u->factor, &u->dimension, &ignored) != BRAMAH_OK;
  if (u->unknown) u->factor = 1.0;
  return BRAMAH_OK;
}

bramah_status bramah__log_add_column(bramah_log_reader *reader, const char *name, const char *unit,
                                     int position)
{
  if (reader->n_columns == reader->room) {
    const size_t room = reader->room ? 2 * reader->room : 16;
    bramah_log_column *columns = realloc(reader->columns, room * sizeof *columns);
    if (columns) reader->columns = columns;
    bramah__log_unit *units = realloc(reader->units, room * sizeof *units);
    if (units) reader->units = units;
    if (!columns || !units) return bramah__log_fail_memory(reader);
    reader->room = room;
  }
  char *copy = strdup(name);
  if (!copy) return bramah__log_fail_memory(reader);
  reader->columns[reader->n_columns] = (bramah_log_column){.name = copy, .position = position};
  reader->units[reader->n_columns] = (bramah__log_unit){.position = position};
  return bramah__log_set_unit(reader, reader->n_columns++, unit);
}

size_t bramah__log_index(const bramah_log_reader *reader, const char *name)
{
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->columns[i].name, name) == 0) return i;
  return SIZE_MAX;
}

size_t bramah__log_column_of(const bramah_log_reader *reader, const char *name)
{
  const size_t i = bramah__log_index(reader, name);
  return i == SIZE_MAX && reader->kind->stand_in ? reader->kind->stand_in(reader, name) : i;
}

bramah_status bramah__log_unit_of(const bramah_log_reader *reader, size_t column, double *factor,
                                  bramah_dimension *dimension, bramah_diag *diag)
{
  const bramah__log_unit *u = &reader->units[column];
  bramah_diag own;
  *factor = u->factor;
  *dimension = u->dimension;
  if (!u->unknown) return BRAMAH_OK;
  if (!diag) diag = &own;
  const bramah_status status = bramah_unit_parse(reader->columns[column].unit, factor, dimension, diag);
  bramah__append(diag->thing, sizeof diag->thing, 0, reader->columns[column].name);
  bramah__append(diag->file, sizeof diag->file, 0, display_path(reader));
  diag->line = reader->header_line;
  diag->column = u->position;
  return status;
}

/* The column's unit is missing or wrong. */
static bramah_status fail_unit(const bramah_log_reader *reader, size_t column, const char *expected,
                               bramah_diag *diag)
{
  const char *name = reader->columns[column].name, *unit = reader->columns[column].unit;
  const char *is = *unit ? "the column is in " : "the column has no unit";
  const int is_time = strcmp(expected, "s") == 0;
  const int of = reader->kind->units_in_header, line = reader->header_line;
  char where[200] = ""; /* else than in the study */
  if (of == BRAMAH__UNITS_ATTRIBUTE)
    snprintf(where, sizeof where, ", or in an attribute 'units' of the dataset");
  if (reader->kind == &bramah__log_mat)
    snprintf(where, sizeof where, ", or in a struct 'units' of the file (units.%.80s = '%.30s')", name,
             expected);
  if (strcmp(expected, "1") == 0)
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), line, name,
                  "%s%s where a number without unit is expected", is, unit);
  else if (of == 1)
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), line, name,
                  "%s%s; expected a unit like %s, written %s[%s]", is, unit, expected, name, expected);
  else if (*unit && !is_time)
    bramah__failf(
        diag, BRAMAH_E_UNIT, display_path(reader), line, name,
        "%s%s; expected a unit like %s, or in the study a scale that leads there (scale: 1 %s/(%s))", is,
        unit, expected, expected, unit);
  else
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), line, name,
                  "%s%s; expected a unit like %s: state it in the study (%s%s, unit: %s%s)%s", is, unit,
                  expected, is_time ? "time: {column: " : "column: ", name, expected, is_time ? "}" : "",
                  where);
  bramah__add_meant(diag, unit, expected);
  if (diag) diag->column = reader->units[column].position;
  return BRAMAH_E_UNIT;
}

/* With the reason, the nearest name, or those the log has. */
static bramah_status fail_no_column(const bramah_log_reader *reader, const char *name, bramah_diag *diag)
{
  const char *path = display_path(reader);
  const char *why = reader->kind->why_not ? reader->kind->why_not(reader, name) : NULL;
  if (why)
    return bramah__failf(diag, BRAMAH_E_COLUMN, path, 0, name, "the %s '%s' %s",
                         reader->kind->column ? reader->kind->column : "channel", name, why);
  const char **names = calloc(reader->n_columns + 1, sizeof *names);
  for (size_t i = 0; names && i < reader->n_columns; i++) names[i] = reader->columns[i].name;
  const char *near = names ? bramah__nearest(name, reader->n_columns, names) : NULL;
  for (size_t i = 0; names && !near && i < reader->n_columns; i++) { /* the last part of names with parts */
    const char *dot = strrchr(names[i], '.'), *slash = strrchr(names[i], '/');
    if (dot || slash) names[i] = (slash > dot ? slash : dot) + 1;
  }
  if (names && !near) near = bramah__nearest(name, reader->n_columns, names);
  free(names);
  if (near)
    return bramah__failf(diag, BRAMAH_E_COLUMN, path, reader->header_line, name,
                         "the log has no column '%s'; did you mean '%s'?", name, near);
  bramah__failf(diag, BRAMAH_E_COLUMN, path, reader->header_line, name, "the log has no column '%s'", name);
  /* Of a file that is no log at all nothing is repeated. */
  for (size_t i = 0; diag && !reader->no_numbers && i < reader->n_columns; i++) {
    const char *has = reader->columns[i].name;
    const size_t used = strlen(diag->message), room = sizeof diag->message;
    const int full = used + strlen(has) + 10 > room;
    snprintf(diag->message + used, room - used, "%s%s", i ? ", " : "; it has ", full ? "..." : has);
    if (full) break;
  }
  return BRAMAH_E_COLUMN;
}

bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name, const char *expected,
                              size_t *column, bramah_diag *diag)
{
  bramah_dimension wanted = {0}, dimension;
  double factor;
  const size_t i = bramah__log_column_of(reader, name);
  if (i == SIZE_MAX) return fail_no_column(reader, name, diag);
  if (!expected) return *column = i, BRAMAH_OK;
  bramah_status status = bramah__log_unit_of(reader, i, &factor, &dimension, diag);
  if (!status && strcmp(expected, "1") != 0) {
    status = bramah_unit_parse(expected, &factor, &wanted, diag);
    if (!status && !reader->columns[i].unit[0]) return fail_unit(reader, i, expected, diag);
  }
  if (status) return status;
  if (!bramah__same_dimension(dimension, wanted)) return fail_unit(reader, i, expected, diag);
  *column = i;
  return BRAMAH_OK;
}

/* ---- times ---- */

bramah_status bramah__log_set_time(bramah_log_reader *reader, size_t column, const char *unit, int counter,
                                   bramah_diag *diag)
{
  const int is_text = reader->kind->peek != NULL;
  bramah__time_format *clock = &reader->clock;
  reader->time_column = column;
  *clock = (bramah__time_format){.scale = 1, .whole = counter};
  if (counter) return BRAMAH_OK;
  if (reader->is_date && (!unit || strcmp(unit, "iso8601") == 0)) return clock->iso = 1, BRAMAH_OK;
  if (!unit && reader->units[column].may_be_date == 2) unit = "iso8601";
  if (!unit) unit = reader->columns[column].unit;
  clock->iso = strcmp(unit, "iso8601") == 0;
  if (clock->iso && (is_text || reader->units[column].may_be_date)) return BRAMAH_OK;

  if (clock->iso && !is_text)
    return bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), reader->header_line,
                         reader->columns[column].name,
                         "these times are numbers that count from no date: state their unit instead of "
                         "iso8601, time: {column: %s, "
                         "unit: s}",
                         reader->columns[column].name);

  /* A unit of time as whole nanoseconds. */
  if (*unit && !clock->iso) {
    double factor;
    bramah_dimension d;
    bramah_diag_clear(diag);
    const bramah_status status = bramah_unit_parse(unit, &factor, &d, diag);
    if (status && diag) {
      bramah__place(diag, display_path(reader), reader->header_line);
      diag->column = reader->units[column].position;
    }
    if (status) return status;
    const int is_time = d.s == 2 && !d.m && !d.kg && !d.volt && !d.rad;
    if (is_time && factor < 1e5) clock->scale = llround(factor * 1e9); /* else beyond int64_t */
    if (is_time && factor < 1e5 && clock->scale > 0) return BRAMAH_OK;
    return fail_unit(reader, column, "s", diag);
  }

  /* No unit: does the next row have a date? */
  if (is_text) {
    const char *text;
    size_t length;
    int64_t ns;
    int zone;
    const bramah_status status = reader->kind->peek(reader, column, &text, &length);
    if (status && diag) *diag = reader->failure;
    if (status) return status;
    clock->iso = text && bramah__time_iso(text, text + length, &ns, &zone) == BRAMAH_OK;
    if (clock->iso) return BRAMAH_OK;
  }
  return fail_unit(reader, column, "s", diag);
}

/* ---- rows ---- */

void bramah__log_bad_cell(bramah_log_reader *reader, size_t column, int line)
{
  bramah_log_column *c = &reader->columns[column];
  if (!reader->format.skip_bad_cells) return;
  if (!c->bad_cells++) c->first_bad = line;
  reader->present[column] = 0;
  reader->fault.status = BRAMAH_OK;
}

void bramah__log_bad_number(bramah_log_reader *reader, size_t column, bramah_status status, double value)
{
  bramah__log_fault *f = &reader->fault;
  reader->values[column] = NAN;
  reader->present[column] = 0;
  if (f->status) return;
  *f = (bramah__log_fault){.status = status, .cell = column, .line = reader->row_line};
  bramah__format_number(f->quote, value, 17);
  bramah__log_bad_cell(reader, column, reader->row_line);
}

bramah_status bramah__log_to_clock(const bramah_log_reader *reader, double value, int64_t *out)
{
  const long double ns = (long double)value * (long double)reader->clock.scale;
  if (!(fabsl(ns) < 9e18L) || (reader->clock.whole && ns != floorl(ns))) return BRAMAH_E_VALUE;
  *out = llroundl(ns);
  return BRAMAH_OK;
}

void bramah__log_put_number(bramah_log_reader *reader, size_t column, double value)
{
  bramah_status status = BRAMAH_OK;
  double out = value * reader->units[column].factor;
  if (column == reader->time_column) {
    status = bramah__log_to_clock(reader, value, &reader->time);
    out = (double)reader->time / (double)reader->clock.scale;
  }
  if (!status && !isfinite(out)) status = BRAMAH_E_NOT_FINITE;
  reader->present[column] = 1;
  reader->values[column] = out;
  if (status) bramah__log_bad_number(reader, column, status, value);
}

static bramah_status fail_cell(bramah_log_reader *reader)
{
  const bramah__log_fault *f = &reader->fault;
  const int is_time = f->cell == reader->time_column;
  const char other = reader->format.decimal == ',' ? '.' : ',';
  const char *wrong = "is not a number";
  if (is_time && f->status == BRAMAH_E_TIME)
    wrong = "has no time zone where rows before have one, or one where they have none";
  else if (is_time && f->status == BRAMAH_E_VALUE)
    wrong = reader->clock.whole ? "is not a whole number" : "does not fit into nanoseconds";
  else if (is_time && f->status == BRAMAH_E_SYNTAX && reader->clock.iso)
    wrong = "is not a time like 2024-03-05T12:34:56.789Z";
  else if (f->status != BRAMAH_E_SYNTAX)
    wrong = f->quote[0] == 'n' || f->quote[0] == 'N' ? "is not a finite number; 'log: {missing: NaN nan}' in "
                                                       "the study takes such texts for empty cells"
                                                     : "is not a finite number";
  else if (strchr(f->quote, other) && reader->format.delimiter != ',')
    wrong = other == ',' ? "is not a number: the numbers before have decimal points"
                         : "is not a number: the numbers before have decimal commas";
  return bramah__log_fail(reader, f->status, reader->columns[f->cell].name, f->line, f->position, "'%s' %s",
                          f->quote, wrong);
}

bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present, int *end,
                              bramah_diag *diag)
{
  bramah_status status = reader->failure.status;
  int ended = 0, again = !status;
  reader->values = values;
  reader->present = present;
  while (again) {
    reader->fault.status = BRAMAH_OK;
    status = reader->kind->next(reader, &ended);
    if (!status && ended && !reader->n_rows)
      status = reader->skipped_rows
                   ? bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, reader->first_skipped, 0,
                                      "every row of the log is bad: %llu were left out, from here on",
                                      (unsigned long long)reader->skipped_rows)
                   : bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "%s%s", reader->kind->no_rows,
                                      reader->kind != &bramah__log_csv && bramah_log_get_info(reader).is_cut
                                          ? "; the file was cut, or not finished: this is of what is whole"
                                          : "");
    if (!status && !ended && reader->fault.status) status = fail_cell(reader);

    /* A bad row may be left out: mistakes of the file, but none of the system. */
    const int of_the_row = status == BRAMAH_E_SYNTAX || status == BRAMAH_E_TRUNCATED ||
                           status == BRAMAH_E_NOT_FINITE || status == BRAMAH_E_VALUE ||
                           status == BRAMAH_E_TIME;
    again = of_the_row && !ended && reader->format.skip_bad_rows && reader->row_done;
    if (!again) break;
    if (!reader->skipped_rows++) reader->first_skipped = reader->row_line;
    bramah_diag_clear(&reader->failure);
  }
  *end = !status && ended;
  if (!status && !ended) {
    reader->n_rows++;
    reader->given_line = reader->row_line;
  }
  if (status && diag) *diag = reader->failure;
  return status;
}
