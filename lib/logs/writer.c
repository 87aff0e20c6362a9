/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing logs and estimates. Rows are put into a buffer of our own and handed to the system whole, so that a
 * run that stops, for whatever reason, leaves a file that can be read. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup */
#include "bramah/log.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"
#include "lib/logs/mat_write.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

typedef struct log_column {
  char *title; /* as it stands in the header: name[unit], quoted if need be */
  int digits;
} log_column;

struct bramah_log_writer {
  bramah__mat_columns *mat; /* NULL: text */
  int fd;
  int owned;     /* 0: standard output, which is not ours to close or cut */
  off_t written; /* bytes of whole rows in the file */
  char *path;
  log_column *columns;
  size_t n_columns, room;
  char *buffer; /* [FLUSH_AT + header + one row]; NULL until the header is written */
  size_t used;
  bramah_diag failure; /* sticky */
};

static bramah_status fail_system(bramah_log_writer *writer, const char *what, int error)
{
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__fail(&writer->failure, BRAMAH_E_FILE, NULL, what);
  bramah__add_text(&writer->failure, reason);
  return bramah__at(&writer->failure, strcmp(writer->path, "-") == 0 ? "<stdout>" : writer->path, 0, 0);
}

static bramah_status report_failure(const bramah_log_writer *writer, bramah_diag *diag)
{
  if (writer->failure.status && diag) *diag = writer->failure;
  return writer->failure.status;
}

/* ---- opening ---- */

static void free_writer(bramah_log_writer *writer)
{
  for (size_t i = 0; i < writer->n_columns; i++) free(writer->columns[i].title);
  free(writer->columns);
  free(writer->buffer);
  free(writer->path);
  free(writer);
}

bramah_status bramah_log_create(const char *path, bramah_diag *diag, bramah_log_writer **out)
{
  bramah_log_writer *writer = calloc(1, sizeof *writer);
  if (writer) writer->path = strdup(path);
  if (!writer || !writer->path) {
    free(writer);
    return bramah__fail_memory(diag);
  }
  if (bramah_log_is_mat(path)) {
    const bramah_status status = bramah__mat_columns_create(path, diag, &writer->mat);
    if (status)
      free_writer(writer);
    else
      *out = writer;
    return status;
  }
  writer->owned = strcmp(path, "-") != 0;
  writer->fd = writer->owned ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
  if (writer->fd >= 0) {
    *out = writer;
    return BRAMAH_OK;
  }
  fail_system(writer, "cannot create: ", errno);
  bramah_status status = report_failure(writer, diag);
  free_writer(writer);
  return status;
}

/* ---- columns ---- */

/* name[unit], put in quotes where a reader would not take the plain text as one cell. */
static char *make_title(const char *name, const char *unit)
{
  size_t length = strlen(name) + strlen(unit) + 3;
  char *plain = malloc(length);
  char *quoted = malloc(2 * length + 3);
  if (plain && quoted) {
    size_t used = bramah__append(plain, length, 0, name);
    if (*unit) {
      used = bramah__append(plain, length, used, "[");
      used = bramah__append(plain, length, used, unit);
      used = bramah__append(plain, length, used, "]");
    }
    /* What a reader might take for a mark between cells, a comment, or a byte-order mark of the file. */
    if (!strpbrk(plain, ",;\t \"#\r\n") && strncmp(plain, "\xEF\xBB\xBF", 3) != 0 &&
        strncmp(plain, "\xFF\xFE", 2) != 0 && strncmp(plain, "\xFE\xFF", 2) != 0) {
      free(quoted);
      return plain;
    }
    quoted[csv_write(quoted, 2 * length + 2, plain, used)] = '\0';
  }
  free(plain);
  return quoted;
}

bramah_status bramah_log_add_column(bramah_log_writer *writer, const char *name, const char *unit, int digits,
                                    bramah_diag *diag)
{
  if (writer->buffer)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name,
                        "columns must be added before the first row is written");
  if (digits < 1 || digits > 17) return bramah__fail(diag, BRAMAH_E_ARGUMENT, name, "digits must be 1 to 17");
  if (!*name || strpbrk(name, "[]"))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, name, "a column needs a name without brackets");
  if (writer->mat) return bramah__mat_columns_add(writer->mat, name, unit ? unit : "", diag);
  if (writer->n_columns == writer->room) {
    const size_t room = writer->room ? 2 * writer->room : 16;
    log_column *columns = realloc(writer->columns, room * sizeof *columns);
    if (!columns) return bramah__fail_memory(diag);
    writer->columns = columns;
    writer->room = room;
  }
  char *title = make_title(name, unit ? unit : "");
  if (!title) return bramah__fail_memory(diag);
  writer->columns[writer->n_columns++] = (log_column){title, digits};
  return BRAMAH_OK;
}

/* ---- rows ---- */

static bramah_status flush(bramah_log_writer *writer)
{
  size_t done = 0;
  while (done < writer->used) {
    ssize_t n = write(writer->fd, writer->buffer + done, writer->used - done);
    if (n > 0) done += (size_t)n;
    if (n >= 0 || errno == EINTR) continue;
    fail_system(writer, "cannot write: ", errno);
    while (done && writer->buffer[done - 1] != '\n') done--;
    writer->written += (off_t)done;
    /* The file may end in the middle of a row: cut it back to the last whole one. What cannot be cut (a pipe, a
     * device) stays as it is: the error that led here is the one to report. */
    if (writer->owned && ftruncate(writer->fd, writer->written) != 0) return BRAMAH_E_FILE;
    return BRAMAH_E_FILE;
  }
  writer->written += (off_t)done;
  writer->used = 0;
  return BRAMAH_OK;
}

static bramah_status write_header(bramah_log_writer *writer)
{
  size_t header = 1, n = writer->n_columns;
  for (size_t i = 0; i < n; i++) header += strlen(writer->columns[i].title) + 1;
  size_t row = n * (BRAMAH__NUMBER_SIZE + 1) + 1;
  writer->buffer = malloc(FLUSH_AT + header + row);
  if (!writer->buffer) return bramah__fail_memory(&writer->failure);
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(writer->columns[i].title);
    memcpy(writer->buffer + writer->used, writer->columns[i].title, length);
    writer->used += length;
    writer->buffer[writer->used++] = i + 1 < n ? ',' : '\n';
  }
  return BRAMAH_OK;
}

bramah_status bramah_log_write(bramah_log_writer *writer, const double *values, bramah_diag *diag)
{
  if (writer->mat) return bramah__mat_columns_write(writer->mat, values, diag);
  if (!writer->failure.status && !writer->buffer) write_header(writer);
  if (writer->failure.status) return report_failure(writer, diag);
  /* The buffer has room for a whole row past FLUSH_AT. */
  char *out = writer->buffer + writer->used;
  for (size_t i = 0; i < writer->n_columns; i++) {
    if (!isnan(values[i])) out += bramah__format_number(out, values[i], writer->columns[i].digits);
    if (isnan(values[i]) && writer->n_columns == 1) *out++ = '"', *out++ = '"'; /* an empty line is no row */
    *out++ = i + 1 < writer->n_columns ? ',' : '\n';
  }
  writer->used = (size_t)(out - writer->buffer);
  if (writer->used >= FLUSH_AT) flush(writer);
  return report_failure(writer, diag);
}

bramah_status bramah_log_flush(bramah_log_writer *writer, bramah_diag *diag)
{
  if (writer->mat) return BRAMAH_OK;
  if (!writer->failure.status && !writer->buffer) write_header(writer);
  if (!writer->failure.status) flush(writer);
  return report_failure(writer, diag);
}

bramah_status bramah_log_finish(bramah_log_writer *writer, bramah_diag *diag)
{
  if (!writer) return BRAMAH_OK;
  if (writer->mat) {
    const bramah_status status = bramah__mat_columns_finish(writer->mat, diag);
    free_writer(writer);
    return status;
  }
  if (!writer->failure.status && !writer->buffer) write_header(writer);
  if (!writer->failure.status) flush(writer);
  /* Some file systems report a full disk only here. */
  if (writer->owned && close(writer->fd) != 0 && errno != EINTR && !writer->failure.status)
    fail_system(writer, "cannot write: ", errno);
  bramah_status status = report_failure(writer, diag);
  free_writer(writer);
  return status;
}
