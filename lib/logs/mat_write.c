/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files of version 5, uncompressed: elements of type, length and data, each padded to eight bytes
 * ("MAT-File Format", The MathWorks, chapter 1). Lengths are known before the data, so nothing is kept. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup, mkstemp, pread */
#include "bramah/log.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/logs/mat_write.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MI_INT8 = 1, MI_UINT16 = 4, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14 };
enum { CLASS_CELL = 1, CLASS_STRUCT = 2, CLASS_CHAR = 4, CLASS_DOUBLE = 6 };
#define MOST_BYTES ((uint64_t)INT32_MAX)

struct bramah_mat {
  FILE *file;
  char *path;
  bramah_diag failure;
};

/* ---- errors ---- */

static bramah_status report(const bramah_mat *mat, bramah_diag *diag)
{
  if (mat->failure.status && diag) *diag = mat->failure;
  return mat->failure.status;
}

static bramah_status fail(bramah_mat *mat, bramah_status status, const char *thing, const char *message,
                          bramah_diag *diag)
{
  bramah__fail(&mat->failure, status, thing, message);
  bramah__at(&mat->failure, mat->path, 0, 0);
  return report(mat, diag);
}

static void fail_system(bramah_mat *mat, const char *what)
{
  char reason[128];
  if (mat->failure.status) return;
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  fail(mat, BRAMAH_E_FILE, NULL, what, NULL);
  bramah__add_text(&mat->failure, reason);
}

/* ---- bytes ---- */

static uint64_t padded(uint64_t n) { return (n + 7) / 8 * 8; }

static void put(bramah_mat *mat, const void *bytes, size_t n)
{
  if (!mat->failure.status && n && fwrite(bytes, 1, n, mat->file) != n) fail_system(mat, "cannot write: ");
}

static void put_tag(bramah_mat *mat, uint32_t type, uint64_t bytes)
{
  const uint32_t tag[2] = {type, (uint32_t)bytes};
  put(mat, tag, sizeof tag);
}

static void put_padding(bramah_mat *mat, uint64_t written)
{
  put(mat, "\0\0\0\0\0\0\0", (size_t)(padded(written) - written));
}

/* ---- matrices ---- */

/* What comes before the data: flags, dimensions, name. */
static uint64_t head_size(const char *name) { return 16 + 16 + 8 + padded(strlen(name)); }

static void put_head(bramah_mat *mat, uint32_t class_type, size_t n_rows, size_t n_columns, const char *name,
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

static bramah_status check_name(bramah_mat *mat, const char *name, bramah_diag *diag)
{
  char valid[BRAMAH_MAT_NAME];
  if (mat->failure.status) return report(mat, diag);
  bramah_mat_name(name, valid);
  if (strcmp(name, valid) != 0)
    return fail(mat, BRAMAH_E_ARGUMENT, name, "this is no name for a variable", diag);
  return BRAMAH_OK;
}

static bramah_status begin(bramah_mat *mat, const char *name, size_t n_rows, size_t n_columns,
                           bramah_diag *diag)
{
  const bramah_status status = check_name(mat, name, diag);
  if (status) return status;
  const uint64_t room = (MOST_BYTES - 1024) / 8;
  if (n_rows > room || n_columns > room || (n_columns && n_rows > room / n_columns))
    return fail(mat, BRAMAH_E_VALUE, name, "a variable of a MAT file has at most 2 GiB", diag);
  const uint64_t bytes = 8 * (uint64_t)n_rows * n_columns;
  put_head(mat, CLASS_DOUBLE, n_rows, n_columns, name, 8 + bytes);
  put_tag(mat, MI_DOUBLE, bytes);
  return report(mat, diag);
}

bramah_status bramah_mat_add_matrix(bramah_mat *mat, const char *name, size_t n_rows, size_t n_columns,
                                    const double *values, bramah_diag *diag)
{
  const bramah_status status = begin(mat, name, n_rows, n_columns, diag);
  if (status) return status;
  for (size_t j = 0; j < n_columns; j++)
    for (size_t i = 0; i < n_rows; i++) put(mat, &values[i * n_columns + j], sizeof *values);
  return report(mat, diag);
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

static uint64_t text_data(const char *text) { return 8 + padded(2 * (uint64_t)n_units(text)); }

static void put_text(bramah_mat *mat, const char *name, const char *text)
{
  const unsigned char *t = (const unsigned char *)text;
  const size_t n = n_units(text);
  put_head(mat, CLASS_CHAR, n ? 1 : 0, n, name, text_data(text));
  put_tag(mat, MI_UINT16, 2 * n);
  while (*t) {
    const uint16_t unit = next_unit(&t);
    put(mat, &unit, sizeof unit);
  }
  put_padding(mat, 2 * n);
}

/* Of a text without name, with its tag. */
static uint64_t sizes_of(size_t n, const char *const *texts)
{
  uint64_t bytes = 0;
  for (size_t i = 0; i < n; i++) bytes += 8 + head_size("") + text_data(texts[i]);
  return bytes;
}

static bramah_status check_texts(bramah_mat *mat, const char *name, uint64_t bytes, bramah_diag *diag)
{
  const bramah_status status = check_name(mat, name, diag);
  if (!status && bytes > MOST_BYTES - 1024)
    return fail(mat, BRAMAH_E_VALUE, name, "a variable of a MAT file has at most 2 GiB", diag);
  return status;
}

bramah_status bramah_mat_add_text(bramah_mat *mat, const char *name, const char *text, bramah_diag *diag)
{
  const bramah_status status = check_texts(mat, name, text_data(text), diag);
  if (!status) put_text(mat, name, text);
  return report(mat, diag);
}

bramah_status bramah_mat_add_texts(bramah_mat *mat, const char *name, size_t n, const char *const *texts,
                                   bramah_diag *diag)
{
  const uint64_t bytes = sizes_of(n, texts);
  const bramah_status status = check_texts(mat, name, bytes, diag);
  if (status) return status;
  put_head(mat, CLASS_CELL, n, 1, name, bytes);
  for (size_t i = 0; i < n; i++) put_text(mat, "", texts[i]);
  return report(mat, diag);
}

bramah_status bramah_mat_add_struct(bramah_mat *mat, const char *name, size_t n, const char *const *fields,
                                    const char *const *texts, bramah_diag *diag)
{
  const uint64_t names = (uint64_t)n * BRAMAH_MAT_NAME, bytes = 8 + 8 + names + sizes_of(n, texts);
  bramah_status status = check_texts(mat, name, bytes, diag);
  for (size_t i = 0; !status && i < n; i++) status = check_name(mat, fields[i], diag);
  if (status) return status;
  const uint32_t length[2] = {4u << 16 | MI_INT32, BRAMAH_MAT_NAME}; /* a small element: data in its tag */
  put_head(mat, CLASS_STRUCT, 1, 1, name, bytes);
  put(mat, length, sizeof length);
  put_tag(mat, MI_INT8, names);
  for (size_t i = 0; i < n; i++) {
    char field[BRAMAH_MAT_NAME] = {0};
    memcpy(field, fields[i], strlen(fields[i]));
    put(mat, field, sizeof field);
  }
  for (size_t i = 0; i < n; i++) put_text(mat, "", texts[i]);
  return report(mat, diag);
}

/* ---- the file ---- */

bramah_status bramah_mat_create(const char *path, bramah_diag *diag, bramah_mat **out)
{
  bramah_mat *mat = calloc(1, sizeof *mat);
  if (mat) mat->path = strdup(path);
  if (!mat || !mat->path) {
    free(mat);
    return bramah__fail_memory(diag);
  }
  mat->file = fopen(path, "wb");
  if (!mat->file) {
    fail_system(mat, "cannot create: ");
    return bramah_mat_finish(mat, diag);
  }
  char text[124];
  const uint16_t head[2] = {0x0100, 0x4D49}; /* version; reads "MI" where bytes are ordered as here */
  static const char says[] = "MATLAB 5.0 MAT-file, written by bramah " BRAMAH_VERSION;
  memset(text, ' ', 116);
  memset(text + 116, 0, 8); /* no data of subsystems */
  memcpy(text, says, sizeof says - 1);
  put(mat, text, sizeof text);
  put(mat, head, sizeof head);
  *out = mat;
  return BRAMAH_OK; /* a failure to write shows in the end */
}

bramah_status bramah_mat_finish(bramah_mat *mat, bramah_diag *diag)
{
  if (!mat) return BRAMAH_OK;
  if (mat->file && fclose(mat->file) != 0) fail_system(mat, "cannot write: ");
  const bramah_status status = report(mat, diag);
  free(mat->path);
  free(mat);
  return status;
}

static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void bramah_mat_name(const char *text, char *out)
{
  size_t n = 0;
  if (!is_letter(*text)) out[n++] = 'x';
  for (; *text && n + 1 < BRAMAH_MAT_NAME; text++) {
    if (((unsigned char)*text & 0xC0u) == 0x80u) continue; /* one mark for one character */
    out[n++] = is_letter(*text) || (*text >= '0' && *text <= '9') ? *text : '_';
  }
  out[n] = '\0';
}

/* ---- rows that become columns ---- */

/* Rows of a block, which is kept column by column. */
enum { BLOCK = 4096 };

/* The number of rows is known only in the end, and a MAT file holds its columns one after the other: rows wait in a
 * nameless file in the same folder, so that memory does not grow with them. The disk holds them twice for a while. */
typedef struct mat_columns {
  bramah_mat *mat;
  char *path;
  char **fields, **names, **units; /* [n] */
  size_t n;
  double *block; /* [n x BLOCK]; NULL before the first row */
  size_t used;
  uint64_t n_blocks; /* that wait in the file */
  int fd;
  bramah_diag failure; /* sticky */
} mat_columns;

static bramah_status report_columns(const mat_columns *c, bramah_diag *diag)
{
  if (c->failure.status && diag) *diag = c->failure;
  return c->failure.status;
}

static bramah_status fail_waiting(mat_columns *c, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__fail(&c->failure, BRAMAH_E_FILE, NULL, what);
  bramah__add_text(&c->failure, reason);
  return bramah__at(&c->failure, c->path, 0, 0);
}

/* ---- columns ---- */

/* A name of its own for each column. */
static void make_field(const mat_columns *c, const char *name, char *field)
{
  char whole[BRAMAH_MAT_NAME], tail[24] = "_";
  bramah_mat_name(name, whole);
  memcpy(field, whole, sizeof whole);
  for (int64_t k = 2;; k++) {
    int taken = strcmp(field, "units") == 0 || strcmp(field, "names") == 0;
    for (size_t i = 0; i < c->n; i++) taken |= strcmp(c->fields[i], field) == 0;
    if (!taken) return;
    const size_t n = 1 + bramah__format_integer(tail + 1, k), length = strlen(whole);
    const size_t kept = length + n < BRAMAH_MAT_NAME ? length : BRAMAH_MAT_NAME - 1 - n;
    memcpy(field + kept, tail, n + 1);
  }
}

static int keep(char ***list, size_t n, const char *text)
{
  char **longer = realloc(*list, (n + 1) * sizeof *longer);
  if (!longer) return 0;
  *list = longer;
  longer[n] = strdup(text);
  return longer[n] != NULL;
}

static bramah_status add_column(void *sink, const char *name, const char *unit, int digits, bramah_diag *diag)
{
  mat_columns *c = sink;
  char field[BRAMAH_MAT_NAME];
  (void)digits; /* all are written */
  if (c->block)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name,
                        "columns must be added before the first row is written");
  make_field(c, name, field);
  if (!keep(&c->fields, c->n, field)) return bramah__fail_memory(&c->failure), report_columns(c, diag);
  if (!keep(&c->names, c->n, name))
    return free(c->fields[c->n]), bramah__fail_memory(&c->failure), report_columns(c, diag);
  if (!keep(&c->units, c->n, unit))
    return free(c->fields[c->n]), free(c->names[c->n]), bramah__fail_memory(&c->failure),
           report_columns(c, diag);
  c->n++;
  return BRAMAH_OK;
}

/* ---- rows ---- */

/* In the folder of the file, where there is as much room as it will need. */
static bramah_status open_waiting(mat_columns *c)
{
  static const char mark[] = ".rows-XXXXXX"; /* mkstemp chooses the letters */
  const size_t length = strlen(c->path);
  char *name = malloc(length + sizeof mark);
  if (!name) return bramah__fail_memory(&c->failure);
  memcpy(name, c->path, length);
  memcpy(name + length, mark, sizeof mark);
  c->fd = mkstemp(name);
  if (c->fd >= 0) unlink(name);
  free(name);
  return c->fd < 0 ? fail_waiting(c, "cannot create a file for rows that wait: ") : BRAMAH_OK;
}

static bramah_status put_block(mat_columns *c)
{
  if (c->fd < 0 && open_waiting(c)) return c->failure.status;
  const char *at = (const char *)c->block;
  for (size_t left = c->n * BLOCK * sizeof *c->block; left;) {
    const ssize_t n = write(c->fd, at, left);
    if (n < 0 && errno != EINTR) return fail_waiting(c, "cannot write rows that wait: ");
    if (n > 0) at += n, left -= (size_t)n;
  }
  c->n_blocks++;
  c->used = 0;
  return BRAMAH_OK;
}

static bramah_status write_row(void *sink, const double *values, bramah_diag *diag)
{
  mat_columns *c = sink;
  if (!c->failure.status && !c->block) {
    c->block = malloc((c->n + 1) * BLOCK * sizeof *c->block);
    if (!c->block) bramah__fail_memory(&c->failure);
  }
  if (!c->failure.status && c->used == BLOCK) put_block(c);
  if (c->failure.status) return report_columns(c, diag);
  for (size_t i = 0; i < c->n; i++) c->block[i * BLOCK + c->used] = values[i];
  c->used++;
  return BRAMAH_OK;
}

/* ---- the end ---- */

/* A part of a block that waits. */
static bramah_status read_part(mat_columns *c, uint64_t block, size_t column, double *values)
{
  char *at = (char *)values;
  off_t from = (off_t)((block * c->n + column) * BLOCK * sizeof *values);
  for (size_t left = BLOCK * sizeof *values; left;) {
    const ssize_t n = pread(c->fd, at, left, from);
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) return fail_waiting(c, "cannot read rows that wait: ");
    if (n > 0) at += n, from += n, left -= (size_t)n;
  }
  return BRAMAH_OK;
}

/* Each column is written in pieces: its blocks, and what is left in memory. */
static void put_all(mat_columns *c)
{
  double *values = malloc(BLOCK * sizeof *values);
  bramah_status status = values ? BRAMAH_OK : bramah__fail_memory(&c->failure);
  for (size_t i = 0; !status && i < c->n; i++) {
    status = begin(c->mat, c->fields[i], (size_t)(c->n_blocks * BLOCK + c->used), 1, &c->failure);
    for (uint64_t block = 0; !status && block < c->n_blocks; block++) {
      status = read_part(c, block, i, values);
      if (!status) put(c->mat, values, BLOCK * sizeof *values);
    }
    if (!status && c->used) put(c->mat, c->block + i * BLOCK, c->used * sizeof *values);
    if (!status) status = report(c->mat, &c->failure);
  }
  free(values);
  const char *const *fields = (const char *const *)c->fields;
  if (!status)
    status = bramah_mat_add_struct(c->mat, "units", c->n, fields, (const char *const *)c->units, &c->failure);
  if (!status)
    bramah_mat_add_struct(c->mat, "names", c->n, fields, (const char *const *)c->names, &c->failure);
}

static bramah_status finish_columns(void *sink, bramah_diag *diag)
{
  mat_columns *c = sink;
  bramah_diag other;
  if (!c->failure.status) put_all(c);
  bramah_mat_finish(c->mat, c->failure.status ? &other : &c->failure);
  const bramah_status status = report_columns(c, diag);
  if (c->fd >= 0) close(c->fd);
  for (size_t i = 0; i < c->n; i++) free(c->fields[i]), free(c->names[i]), free(c->units[i]);
  free(c->fields);
  free(c->names);
  free(c->units);
  free(c->block);
  free(c->path);
  free(c);
  return status;
}

static bramah_status create_columns(const char *path, bramah_diag *diag, void **out)
{
  mat_columns *c = calloc(1, sizeof *c);
  if (!c) return bramah__fail_memory(diag);
  c->fd = -1;
  c->path = strdup(path);
  if (!c->path)
    bramah__fail_memory(&c->failure);
  else
    bramah_mat_create(path, &c->failure, &c->mat);
  if (c->failure.status) return finish_columns(c, diag);
  *out = c;
  return BRAMAH_OK;
}

const bramah__log_sink bramah__mat_sink = {
    .create = create_columns, .add = add_column, .write = write_row, .finish = finish_columns};
