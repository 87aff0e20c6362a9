/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files of version 5, uncompressed: elements of type, length and data, each padded to eight bytes
 * ("MAT-File Format", The MathWorks, chapter 1). Lengths are known before the data, so nothing is kept. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup, mkstemp, pread */
#include "lib/base/text.h"
#include "lib/logs/reader.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MI_INT8 = 1, MI_UINT16 = 4, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14 };
enum { CLASS_CELL = 1, CLASS_STRUCT = 2, CLASS_CHAR = 4, CLASS_DOUBLE = 6 };
#define MOST_BYTES ((uint64_t)INT32_MAX)

typedef struct mat_file {
  FILE *file;
  const char *path;
  bramah_diag *failure; /* the first one; nothing is written after it */
} mat_file;

static bramah_status fail(mat_file *mat, bramah_status status, const char *thing, const char *message)
{
  return bramah__failf(mat->failure, status, mat->path, 0, thing, "%s", message);
}

static bramah_status fail_system(mat_file *mat, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  return bramah__failf(mat->failure, BRAMAH_E_FILE, mat->path, 0, NULL, "%s: %s", what, reason);
}

/* ---- bytes ---- */

static uint64_t padded(uint64_t n) { return (n + 7) / 8 * 8; }

static void put(mat_file *mat, const void *bytes, size_t n)
{
  if (!mat->failure->status && n && fwrite(bytes, 1, n, mat->file) != n) fail_system(mat, "cannot write");
}

static void put_tag(mat_file *mat, uint32_t type, uint64_t bytes)
{
  const uint32_t tag[2] = {type, (uint32_t)bytes};
  put(mat, tag, sizeof tag);
}

static void put_padding(mat_file *mat, uint64_t written)
{
  put(mat, "\0\0\0\0\0\0\0", (size_t)(padded(written) - written));
}

/* ---- the file ---- */

/* Path and failure, which is none yet, must outlive the file. */
static bramah_status create_file(mat_file *mat, const char *path, bramah_diag *failure)
{
  static const char says[] = "MATLAB 5.0 MAT-file, written by bramah " BRAMAH_VERSION;
  char text[124];
  const uint16_t head[2] = {0x0100, 0x4D49}; /* version; reads "MI" where bytes are ordered as here */
  *mat = (mat_file){.path = path, .failure = failure};
  mat->file = fopen(path, "wb");
  if (!mat->file) return fail_system(mat, "cannot create");
  memset(text, ' ', 116);
  memset(text + 116, 0, 8); /* no data of subsystems */
  memcpy(text, says, sizeof says - 1);
  put(mat, text, sizeof text);
  put(mat, head, sizeof head);
  return BRAMAH_OK; /* a failure to write shows in the end */
}

static void close_file(mat_file *mat)
{
  if (mat->file && fclose(mat->file) != 0 && !mat->failure->status) fail_system(mat, "cannot write");
}

/* ---- variables ---- */

/* What comes before the data: flags, dimensions, name. */
static uint64_t head_size(const char *name) { return 16 + 16 + 8 + padded(strlen(name)); }

static void put_head(mat_file *mat, uint32_t class_type, size_t n_rows, size_t n_columns, const char *name,
                     uint64_t data)
{
  const uint32_t flags[2] = {class_type, 0};
  const int32_t size[2] = {(int32_t)n_rows, (int32_t)n_columns};
  put_tag(mat, MI_MATRIX, head_size(name) + data);
  put_tag(mat, MI_UINT32, sizeof flags);
  put(mat, flags, sizeof flags);
  put_tag(mat, MI_INT32, sizeof size);
  put(mat, size, sizeof size);
  put_tag(mat, MI_INT8, strlen(name));
  put(mat, name, strlen(name));
  put_padding(mat, strlen(name));
}

/* A variable of the file whose data has so many bytes. */
static bramah_status put_variable(mat_file *mat, uint32_t class_type, const char *name, size_t n_rows,
                                  size_t n_columns, uint64_t data)
{
  char valid[BRAMAH__MAT_NAME];
  bramah__mat_name(name, valid);
  if (mat->failure->status) return mat->failure->status;
  if (strcmp(name, valid) != 0) return fail(mat, BRAMAH_E_ARGUMENT, name, "this is no name for a variable");
  if (data > MOST_BYTES - 1024)
    return fail(mat, BRAMAH_E_VALUE, name, "a variable of a MAT file has at most 2 GiB");
  put_head(mat, class_type, n_rows, n_columns, name, data);
  return mat->failure->status;
}

/* The data of a matrix, by columns, are then for the caller to put. */
static bramah_status put_matrix(mat_file *mat, const char *name, size_t n_rows, size_t n_columns)
{
  const uint64_t room = MOST_BYTES / 8;
  const int fits = n_rows <= room && n_columns <= room && (!n_columns || n_rows <= room / n_columns);
  const uint64_t bytes = fits ? 8 * (uint64_t)n_rows * n_columns : MOST_BYTES;
  const bramah_status status = put_variable(mat, CLASS_DOUBLE, name, n_rows, n_columns, 8 + bytes);
  if (!status) put_tag(mat, MI_DOUBLE, bytes);
  return mat->failure->status;
}

/* ---- texts ---- */

/* The next character of a text in UTF-8 as a unit of UTF-16; beyond that, and where it is none, a question
 * mark. */
static uint16_t next_unit(const unsigned char **text)
{
  const unsigned char *t = *text;
  const int n = t[0] < 0x80 ? 1 : (t[0] & 0xE0) == 0xC0 ? 2 : (t[0] & 0xF0) == 0xE0 ? 3 : 0;
  unsigned unit = n == 1 ? t[0] : n == 2 ? t[0] & 0x1Fu : t[0] & 0x0Fu;
  int i = 1;
  for (; i < n && (t[i] & 0xC0) == 0x80; i++) unit = unit << 6 | (t[i] & 0x3Fu);
  *text += i;
  return n && i == n ? (uint16_t)unit : '?';
}

static size_t n_units(const char *text)
{
  const unsigned char *t = (const unsigned char *)text;
  size_t n = 0;
  for (; *t; n++) next_unit(&t);
  return n;
}

/* Bytes of a text without name, with its tag. */
static uint64_t text_size(const char *text)
{
  return 8 + head_size("") + 8 + padded(2 * (uint64_t)n_units(text));
}

static void put_text(mat_file *mat, const char *text)
{
  const unsigned char *t = (const unsigned char *)text;
  const size_t n = n_units(text);
  put_head(mat, CLASS_CHAR, n ? 1 : 0, n, "", text_size(text) - 8 - head_size(""));
  put_tag(mat, MI_UINT16, 2 * n);
  while (*t) {
    const uint16_t unit = next_unit(&t);
    put(mat, &unit, sizeof unit);
  }
  put_padding(mat, 2 * n);
}

/* ---- matrices and texts ---- */

bramah_status bramah_mat_write(const char *path, size_t n, const bramah_mat_variable *variables,
                               bramah_diag *diag)
{
  mat_file mat;
  bramah_diag failure = {0};
  bramah_status status = create_file(&mat, path, &failure);
  for (const bramah_mat_variable *v = variables; !status && v < variables + n; v++) {
    if (v->texts) {
      uint64_t bytes = 0;
      for (size_t i = 0; i < v->n_rows; i++) bytes += text_size(v->texts[i]);
      status = put_variable(&mat, CLASS_CELL, v->name, v->n_rows, 1, bytes);
      for (size_t i = 0; !status && i < v->n_rows; i++) put_text(&mat, v->texts[i]);
    } else {
      status = put_matrix(&mat, v->name, v->n_rows, v->n_columns);
      for (size_t j = 0; !status && j < v->n_columns; j++)
        for (size_t i = 0; i < v->n_rows; i++) put(&mat, &v->values[i * v->n_columns + j], sizeof *v->values);
    }
  }
  close_file(&mat);
  if (failure.status && diag) *diag = failure;
  return failure.status;
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void bramah__mat_name(const char *text, char *out)
{
  size_t n = 0;
  if (!is_letter(*text)) out[n++] = 'x';
  for (; *text && n + 1 < BRAMAH__MAT_NAME; text++) {
    if (((unsigned char)*text & 0xC0u) == 0x80u) continue; /* one mark for one character */
    out[n++] = is_letter(*text) || (*text >= '0' && *text <= '9') ? *text : '_';
  }
  out[n] = '\0';
}

/* ---- logs: rows that become columns ---- */

/* Rows of a block, which is kept column by column. */
enum { BLOCK = 4096 };

/* The number of rows is known only in the end, and a MAT file holds its columns one after the other: rows wait in a
 * nameless file in the same folder, so that memory does not grow with them. The disk holds them twice for a while. */
typedef struct mat_log {
  mat_file mat;
  size_t n;
  bramah__mat_field *fields; /* [n] the variables */
  double *block;             /* [n x BLOCK] */
  size_t used;
  uint64_t n_blocks; /* that wait in the file */
  int fd;
} mat_log;

static void create_log(bramah_log_writer *writer)
{
  mat_log *log = writer->file = calloc(1, sizeof *log);
  if (!log) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  log->fd = -1;
  create_file(&log->mat, writer->path, &writer->failure);
}

void bramah__mat_names(const bramah_log_writer *writer, bramah__mat_field *names)
{
  for (size_t at = 0; at < writer->n_columns; at++) {
    char *field = names[at], tail[24] = "_";
    bramah__mat_name(writer->columns[at].name, field);
    const size_t length = strlen(field);
    for (int64_t k = 2;; k++) {
      int taken = strcmp(field, "units") == 0 || strcmp(field, "names") == 0;
      for (size_t i = 0; i < at; i++) taken |= strcmp(names[i], field) == 0;
      if (!taken) break;
      const size_t n = 1 + bramah__format_integer(tail + 1, k);
      const size_t kept = length + n < BRAMAH__MAT_NAME ? length : BRAMAH__MAT_NAME - 1 - n;
      memcpy(field + kept, tail, n + 1);
    }
  }
}

static void begin_log(bramah_log_writer *writer)
{
  mat_log *log = writer->file;
  const size_t n_columns = writer->n_columns;
  log->fields = calloc(n_columns + 1, sizeof *log->fields);
  log->block = malloc((n_columns * BLOCK + 1) * sizeof *log->block);
  if (!log->fields || !log->block) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  bramah__mat_names(writer, log->fields);
  log->n = n_columns;
}

static void write_row(bramah_log_writer *writer, const double *values)
{
  mat_log *log = writer->file;
  const size_t size = log->n * BLOCK * sizeof *log->block;

  /* A block that is full goes into the file of rows that wait, which is made in the folder of the log, where there is
   * as much room as it will need. */
  if (log->used == BLOCK && log->fd < 0) {
    static const char mark[] = ".rows-XXXXXX"; /* mkstemp chooses the letters */
    const size_t length = strlen(writer->path);
    char *name = malloc(length + sizeof mark);
    if (!name) {
      bramah__fail_memory(&writer->failure);
      return;
    }
    memcpy(name, writer->path, length);
    memcpy(name + length, mark, sizeof mark);
    log->fd = mkstemp(name);
    if (log->fd < 0) fail_system(&log->mat, "cannot create a file for rows that wait");
    if (log->fd >= 0) unlink(name);
    free(name);
    if (log->fd < 0) return;
  }
  if (log->used == BLOCK) {
    const char *at = (const char *)log->block;
    for (size_t left = size; left;) {
      const ssize_t n = write(log->fd, at, left);
      if (n < 0 && errno != EINTR) {
        fail_system(&log->mat, "cannot write rows that wait");
        return;
      }
      if (n > 0) at += n, left -= (size_t)n;
    }
    log->n_blocks++;
    log->used = 0;
  }

  for (size_t i = 0; i < log->n; i++) log->block[i * BLOCK + log->used] = values[i];
  log->used++;
}

/* A column in pieces: its parts of the blocks, and what is left in memory. */
static bramah_status put_column(mat_log *log, size_t column, double *values)
{
  const uint64_t n_rows = log->n_blocks * BLOCK + log->used;
  bramah_status status = put_matrix(&log->mat, log->fields[column], (size_t)n_rows, 1);
  for (uint64_t block = 0; !status && block < log->n_blocks; block++) {
    char *at = (char *)values;
    off_t from = (off_t)((block * log->n + column) * BLOCK * sizeof *values);
    for (size_t left = BLOCK * sizeof *values; left;) {
      const ssize_t n = pread(log->fd, at, left, from);
      if (n == 0) errno = EIO;
      if (n == 0 || (n < 0 && errno != EINTR)) return fail_system(&log->mat, "cannot read rows that wait");
      if (n > 0) at += n, from += n, left -= (size_t)n;
    }
    put(&log->mat, values, BLOCK * sizeof *values);
  }
  if (!status && log->used) put(&log->mat, log->block + column * BLOCK, log->used * sizeof *values);
  return log->mat.failure->status;
}

/* A struct with a text for each column: its name, or its unit. */
static void put_struct(bramah_log_writer *writer, const char *name, int of_units)
{
  mat_log *log = writer->file;
  mat_file *mat = &log->mat;
  const bramah__log_title *columns = writer->columns;
  const uint32_t length[2] = {4u << 16 | MI_INT32, BRAMAH__MAT_NAME}; /* a small element: data in its tag */
  const uint64_t names = (uint64_t)log->n * BRAMAH__MAT_NAME;
  uint64_t bytes = 8 + 8 + names;
  for (size_t i = 0; i < log->n; i++) bytes += text_size(of_units ? columns[i].unit : columns[i].name);
  if (put_variable(mat, CLASS_STRUCT, name, 1, 1, bytes)) return;
  put(mat, length, sizeof length);
  put_tag(mat, MI_INT8, names);
  for (size_t i = 0; i < log->n; i++) {
    bramah__mat_field field = {0}; /* nothing behind its end */
    memcpy(field, log->fields[i], strlen(log->fields[i]));
    put(mat, field, sizeof field);
  }
  for (size_t i = 0; i < log->n; i++) put_text(mat, of_units ? columns[i].unit : columns[i].name);
}

static void finish_log(bramah_log_writer *writer)
{
  mat_log *log = writer->file;
  if (!log) return;
  bramah_status status = writer->failure.status;
  double *values = malloc(BLOCK * sizeof *values);
  if (!status && !values) status = bramah__fail_memory(&writer->failure);
  for (size_t i = 0; !status && i < log->n; i++) status = put_column(log, i, values);
  free(values);
  if (!status) put_struct(writer, "units", 1);
  if (!status) put_struct(writer, "names", 0);
  close_file(&log->mat);
  if (log->fd >= 0) close(log->fd);
  free(log->fields);
  free(log->block);
  free(log);
}

const bramah__log_sink bramah__mat_sink = {
    .create = create_log, .begin = begin_log, .write = write_row, .finish = finish_log};
