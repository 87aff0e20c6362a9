/* SPDX-License-Identifier: GPL-3.0-or-later */
/* MAT files of version 5, uncompressed: elements of type, length and data, each padded to eight bytes
 * ("MAT-File Format", The MathWorks, chapter 1). Lengths are known before the data, so nothing is kept. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup */
#include "bramah/mat.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MI_INT8 = 1, MI_UINT16 = 4, MI_INT32 = 5, MI_UINT32 = 6, MI_DOUBLE = 9, MI_MATRIX = 14 };
enum { CLASS_CELL = 1, CLASS_STRUCT = 2, CLASS_CHAR = 4, CLASS_DOUBLE = 6 };
#define MOST_BYTES ((uint64_t)INT32_MAX)

struct bramah_mat {
  FILE *file;
  char *path;
  size_t left; /* values of the column that was begun */
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

static void put_bytes(bramah_mat *mat, const char *bytes, size_t n)
{
  put_tag(mat, MI_INT8, n);
  put(mat, bytes, n);
  put_padding(mat, n);
}

/* ---- matrices ---- */

/* What stands before the data: flags, dimensions, name. */
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
  put_bytes(mat, name, strlen(name));
}

static bramah_status check_name(bramah_mat *mat, const char *name, bramah_diag *diag)
{
  char valid[BRAMAH_MAT_NAME];
  if (mat->failure.status) return report(mat, diag);
  if (mat->left) return fail(mat, BRAMAH_E_ARGUMENT, name, "the column before it is not complete", diag);
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

bramah_status bramah_mat_begin_column(bramah_mat *mat, const char *name, size_t n, bramah_diag *diag)
{
  const bramah_status status = begin(mat, name, n, 1, diag);
  if (!status) mat->left = n;
  return status;
}

bramah_status bramah_mat_write(bramah_mat *mat, size_t n, const double *values, bramah_diag *diag)
{
  if (mat->failure.status) return report(mat, diag);
  if (n > mat->left) return fail(mat, BRAMAH_E_ARGUMENT, NULL, "more values than the column has rows", diag);
  put(mat, values, n * sizeof *values);
  mat->left -= n;
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

static void put_header(bramah_mat *mat)
{
  char text[124];
  const uint16_t version = 0x0100, order = 0x4D49; /* reads "MI" where bytes stand as they did here */
  memset(text, ' ', 116);
  memset(text + 116, 0, 8); /* no data of subsystems */
  static const char says[] = "MATLAB 5.0 MAT-file, written by bramah " BRAMAH_VERSION;
  memcpy(text, says, sizeof says - 1);
  put(mat, text, sizeof text);
  put(mat, &version, sizeof version);
  put(mat, &order, sizeof order);
}

bramah_status bramah_mat_create(const char *path, bramah_diag *diag, bramah_mat **out)
{
  bramah_mat *mat = calloc(1, sizeof *mat);
  if (mat) mat->path = strdup(path);
  if (!mat || !mat->path) {
    free(mat);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  }
  mat->file = fopen(path, "wb");
  if (!mat->file) {
    fail_system(mat, "cannot create: ");
    return bramah_mat_finish(mat, diag);
  }
  put_header(mat);
  *out = mat;
  return BRAMAH_OK; /* a failure to write shows in the end */
}

bramah_status bramah_mat_finish(bramah_mat *mat, bramah_diag *diag)
{
  if (!mat) return BRAMAH_OK;
  if (mat->left) fail(mat, BRAMAH_E_ARGUMENT, NULL, "the last column is not complete", NULL);
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
