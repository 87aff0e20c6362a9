/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* mkstemp, pread, strdup */
#include "lib/logs/mat_columns.h"
#include "bramah/mat.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a block, which is kept column by column. */
enum { BLOCK = 4096 };

struct bramah__mat_columns {
  bramah_mat *mat;
  char *path;
  char **fields, **names, **units; /* [n] */
  size_t n;
  double *block; /* [n x BLOCK]; NULL before the first row */
  size_t used;
  uint64_t n_blocks; /* that wait in the file */
  int fd;
  bramah_diag failure; /* sticky */
};

static bramah_status report(const bramah__mat_columns *c, bramah_diag *diag)
{
  if (c->failure.status && diag) *diag = c->failure;
  return c->failure.status;
}

static bramah_status fail_memory(bramah__mat_columns *c)
{
  return bramah__fail(&c->failure, BRAMAH_E_MEMORY, NULL, "out of memory");
}

static bramah_status fail_system(bramah__mat_columns *c, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__fail(&c->failure, BRAMAH_E_FILE, NULL, what);
  bramah__add_text(&c->failure, reason);
  return bramah__at(&c->failure, c->path, 0, 0);
}

bramah_status bramah__mat_columns_create(const char *path, bramah_diag *diag, bramah__mat_columns **out)
{
  bramah__mat_columns *c = calloc(1, sizeof *c);
  if (!c) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  c->fd = -1;
  c->path = strdup(path);
  if (!c->path)
    fail_memory(c);
  else
    bramah_mat_create(path, &c->failure, &c->mat);
  if (c->failure.status) return bramah__mat_columns_finish(c, diag);
  *out = c;
  return BRAMAH_OK;
}

/* ---- columns ---- */

static int is_taken(const bramah__mat_columns *c, const char *field)
{
  if (strcmp(field, "units") == 0 || strcmp(field, "names") == 0) return 1;
  for (size_t i = 0; i < c->n; i++)
    if (strcmp(c->fields[i], field) == 0) return 1;
  return 0;
}

/* A name of its own for each column. */
static void make_field(const bramah__mat_columns *c, const char *name, char *field)
{
  char whole[BRAMAH_MAT_NAME], tail[24] = "_";
  bramah_mat_name(name, whole);
  memcpy(field, whole, sizeof whole);
  for (int64_t k = 2; is_taken(c, field); k++) {
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

bramah_status bramah__mat_columns_add(bramah__mat_columns *c, const char *name, const char *unit,
                                      bramah_diag *diag)
{
  char field[BRAMAH_MAT_NAME];
  if (c->block)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name,
                        "columns must be added before the first row is written");
  make_field(c, name, field);
  if (!keep(&c->fields, c->n, field)) return fail_memory(c), report(c, diag);
  if (!keep(&c->names, c->n, name)) return free(c->fields[c->n]), fail_memory(c), report(c, diag);
  if (!keep(&c->units, c->n, unit))
    return free(c->fields[c->n]), free(c->names[c->n]), fail_memory(c), report(c, diag);
  c->n++;
  return BRAMAH_OK;
}

/* ---- rows ---- */

/* Beside the file, where there is as much room as it will need. */
static bramah_status open_waiting(bramah__mat_columns *c)
{
  enum { CHOSEN = 6 }; /* letters that mkstemp chooses, X before */
  static const char mark[] = ".rows-";
  const size_t length = strlen(c->path), end = length + strlen(mark);
  char *name = malloc(end + CHOSEN + 1);
  if (!name) return fail_memory(c);
  memcpy(name, c->path, length);
  memcpy(name + length, mark, strlen(mark));
  memset(name + end, 'X', CHOSEN);
  name[end + CHOSEN] = '\0';
  c->fd = mkstemp(name);
  if (c->fd >= 0) unlink(name);
  free(name);
  return c->fd < 0 ? fail_system(c, "cannot create a file for rows that wait: ") : BRAMAH_OK;
}

static bramah_status put_block(bramah__mat_columns *c)
{
  if (c->fd < 0 && open_waiting(c)) return c->failure.status;
  const char *at = (const char *)c->block;
  for (size_t left = c->n * BLOCK * sizeof *c->block; left;) {
    const ssize_t n = write(c->fd, at, left);
    if (n < 0 && errno != EINTR) return fail_system(c, "cannot write rows that wait: ");
    if (n > 0) at += n, left -= (size_t)n;
  }
  c->n_blocks++;
  c->used = 0;
  return BRAMAH_OK;
}

bramah_status bramah__mat_columns_write(bramah__mat_columns *c, const double *values, bramah_diag *diag)
{
  if (!c->failure.status && !c->block) {
    c->block = malloc((c->n + 1) * BLOCK * sizeof *c->block);
    if (!c->block) fail_memory(c);
  }
  if (!c->failure.status && c->used == BLOCK) put_block(c);
  if (c->failure.status) return report(c, diag);
  for (size_t i = 0; i < c->n; i++) c->block[i * BLOCK + c->used] = values[i];
  c->used++;
  return BRAMAH_OK;
}

/* ---- the end ---- */

/* A part of a block that waits. */
static bramah_status read_part(bramah__mat_columns *c, uint64_t block, size_t column, double *values)
{
  char *at = (char *)values;
  off_t from = (off_t)((block * c->n + column) * BLOCK * sizeof *values);
  for (size_t left = BLOCK * sizeof *values; left;) {
    const ssize_t n = pread(c->fd, at, left, from);
    if (n == 0) errno = EIO;
    if (n == 0 || (n < 0 && errno != EINTR)) return fail_system(c, "cannot read rows that wait: ");
    if (n > 0) at += n, from += n, left -= (size_t)n;
  }
  return BRAMAH_OK;
}

static bramah_status put_column(bramah__mat_columns *c, size_t column, double *values)
{
  bramah_status status = bramah_mat_begin_column(c->mat, c->fields[column],
                                                 (size_t)(c->n_blocks * BLOCK + c->used), &c->failure);
  for (uint64_t block = 0; !status && block < c->n_blocks; block++) {
    status = read_part(c, block, column, values);
    if (!status) status = bramah_mat_write(c->mat, BLOCK, values, &c->failure);
  }
  if (!status && c->used) status = bramah_mat_write(c->mat, c->used, c->block + column * BLOCK, &c->failure);
  return status;
}

static void put_all(bramah__mat_columns *c)
{
  double *values = malloc(BLOCK * sizeof *values);
  if (!values) fail_memory(c);
  for (size_t i = 0; !c->failure.status && i < c->n; i++) put_column(c, i, values);
  free(values);
  if (c->failure.status) return;
  const char *const *fields = (const char *const *)c->fields;
  if (!bramah_mat_add_struct(c->mat, "units", c->n, fields, (const char *const *)c->units, &c->failure))
    bramah_mat_add_struct(c->mat, "names", c->n, fields, (const char *const *)c->names, &c->failure);
}

bramah_status bramah__mat_columns_finish(bramah__mat_columns *c, bramah_diag *diag)
{
  bramah_diag other;
  if (!c->failure.status) put_all(c);
  bramah_mat_finish(c->mat, c->failure.status ? &other : &c->failure);
  const bramah_status status = report(c, diag);
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
