/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing logs and estimates. Rows are put into a buffer of our own and handed to the system whole, so that a
 * run that stops, for whatever reason, leaves a file that can be read. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup */
#include "lib/base/text.h"
#include "lib/logs/reader.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

typedef struct log_column {
  char *title; /* as it is in the header: name[unit], quoted if need be */
  int digits;
} log_column;

/* CSV. */
typedef struct text_file {
  int fd;
  int owned;     /* 0: standard output, which is not ours to close or cut */
  off_t written; /* bytes of whole rows in the file */
  char *path;
  log_column *columns;
  size_t n_columns, room;
  char *buffer; /* [FLUSH_AT + header + one row]; NULL until the header is written */
  size_t used;
  bramah_diag failure; /* sticky */
} text_file;

static bramah_status fail_system(text_file *file, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  return bramah__failf(&file->failure, BRAMAH_E_FILE, strcmp(file->path, "-") == 0 ? "<stdout>" : file->path,
                       0, NULL, "%s: %s", what, reason);
}

static bramah_status report_failure(const text_file *file, bramah_diag *diag)
{
  if (file->failure.status && diag) *diag = file->failure;
  return file->failure.status;
}

/* ---- opening ---- */

static void free_text(text_file *file)
{
  for (size_t i = 0; i < file->n_columns; i++) free(file->columns[i].title);
  free(file->columns);
  free(file->buffer);
  free(file->path);
  free(file);
}

static bramah_status create_text(const char *path, bramah_diag *diag, void **out)
{
  text_file *file = calloc(1, sizeof *file);
  if (file) file->path = strdup(path);
  if (!file || !file->path) {
    free(file);
    return bramah__fail_memory(diag);
  }
  file->owned = strcmp(path, "-") != 0;
  file->fd = file->owned ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
  if (file->fd >= 0) {
    *out = file;
    return BRAMAH_OK;
  }
  fail_system(file, "cannot create");
  const bramah_status status = report_failure(file, diag);
  free_text(file);
  return status;
}

/* ---- columns ---- */

static bramah_status add_text_column(void *sink, const char *name, const char *unit, int digits,
                                     bramah_diag *diag)
{
  text_file *file = sink;
  if (file->buffer)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name,
                         "columns must be added before the first row is written");
  if (file->n_columns == file->room) {
    const size_t room = file->room ? 2 * file->room : 16;
    log_column *columns = realloc(file->columns, room * sizeof *columns);
    if (!columns) return bramah__fail_memory(diag);
    file->columns = columns;
    file->room = room;
  }

  /* name[unit], put in quotes where a reader might take what is in it for a mark between cells, a comment, or a
   * byte-order mark of the file. */
  const size_t length = strlen(name) + strlen(unit) + 3;
  char *plain = malloc(length), *quoted = malloc(2 * length + 3);
  if (!plain || !quoted) {
    free(plain);
    free(quoted);
    return bramah__fail_memory(diag);
  }
  const int used = snprintf(plain, length, *unit ? "%s[%s]" : "%s%s", name, unit);
  const int is_clear = !strpbrk(plain, ",;\t \"#\r\n") && strncmp(plain, "\xEF\xBB\xBF", 3) != 0 &&
                       strncmp(plain, "\xFF\xFE", 2) != 0 && strncmp(plain, "\xFE\xFF", 2) != 0;
  quoted[csv_write(quoted, 2 * length + 2, plain, (size_t)used)] = '\0';
  free(is_clear ? quoted : plain);
  file->columns[file->n_columns++] = (log_column){is_clear ? plain : quoted, digits};
  return BRAMAH_OK;
}

/* ---- rows ---- */

static bramah_status flush(text_file *file)
{
  size_t done = 0;
  while (done < file->used) {
    ssize_t n = write(file->fd, file->buffer + done, file->used - done);
    if (n > 0) done += (size_t)n;
    if (n >= 0 || errno == EINTR) continue;
    fail_system(file, "cannot write");
    while (done && file->buffer[done - 1] != '\n') done--;
    file->written += (off_t)done;
    /* The file may end in the middle of a row: cut it back to the last whole one. What cannot be cut (a pipe, a
     * device) stays as it is: the error that led here is the one to report. */
    if (file->owned && ftruncate(file->fd, file->written) != 0) return BRAMAH_E_FILE;
    return BRAMAH_E_FILE;
  }
  file->written += (off_t)done;
  file->used = 0;
  return BRAMAH_OK;
}

static bramah_status write_header(text_file *file)
{
  size_t header = 1, n = file->n_columns;
  for (size_t i = 0; i < n; i++) header += strlen(file->columns[i].title) + 1;
  size_t row = n * (BRAMAH__NUMBER_SIZE + 1) + 1;
  file->buffer = malloc(FLUSH_AT + header + row);
  if (!file->buffer) return bramah__fail_memory(&file->failure);
  for (size_t i = 0; i < n; i++) {
    size_t length = strlen(file->columns[i].title);
    memcpy(file->buffer + file->used, file->columns[i].title, length);
    file->used += length;
    file->buffer[file->used++] = i + 1 < n ? ',' : '\n';
  }
  return BRAMAH_OK;
}

static bramah_status write_text_row(void *sink, const double *values, bramah_diag *diag)
{
  text_file *file = sink;
  if (!file->failure.status && !file->buffer) write_header(file);
  if (file->failure.status) return report_failure(file, diag);
  /* The buffer has room for a whole row past FLUSH_AT. */
  char *out = file->buffer + file->used;
  for (size_t i = 0; i < file->n_columns; i++) {
    if (!isnan(values[i])) out += bramah__format_number(out, values[i], file->columns[i].digits);
    if (isnan(values[i]) && file->n_columns == 1) *out++ = '"', *out++ = '"'; /* an empty line is no row */
    *out++ = i + 1 < file->n_columns ? ',' : '\n';
  }
  file->used = (size_t)(out - file->buffer);
  if (file->used >= FLUSH_AT) flush(file);
  return report_failure(file, diag);
}

static bramah_status flush_text(void *sink, bramah_diag *diag)
{
  text_file *file = sink;
  if (!file->failure.status && !file->buffer) write_header(file);
  if (!file->failure.status) flush(file);
  return report_failure(file, diag);
}

static bramah_status finish_text(void *sink, bramah_diag *diag)
{
  text_file *file = sink;
  flush_text(file, NULL);
  /* Some file systems report a full disk only here. */
  if (file->owned && close(file->fd) != 0 && errno != EINTR && !file->failure.status)
    fail_system(file, "cannot write");
  const bramah_status status = report_failure(file, diag);
  free_text(file);
  return status;
}

/* ---- the formats, chosen by the name of the file; the last takes all ---- */

static const bramah__log_sink text_sink = {.create = create_text,
                                           .add = add_text_column,
                                           .write = write_text_row,
                                           .flush = flush_text,
                                           .finish = finish_text};

static const struct {
  int (*takes)(const char *path);
  const bramah__log_sink *sink;
} formats[] = {{bramah_log_is_mat, &bramah__mat_sink}, {NULL, &text_sink}};

struct bramah_log_writer {
  const bramah__log_sink *format;
  void *sink;
};

bramah_status bramah_log_create(const char *path, bramah_diag *diag, bramah_log_writer **out)
{
  bramah_log_writer *writer = calloc(1, sizeof *writer);
  size_t i = 0;
  if (!writer) return bramah__fail_memory(diag);
  while (formats[i].takes && !formats[i].takes(path)) i++;
  writer->format = formats[i].sink;
  const bramah_status status = writer->format->create(path, diag, &writer->sink);
  if (status)
    free(writer);
  else
    *out = writer;
  return status;
}

bramah_status bramah_log_add_column(bramah_log_writer *writer, const char *name, const char *unit, int digits,
                                    bramah_diag *diag)
{
  if (digits < 1 || digits > 17)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name, "digits must be 1 to 17");
  if (!*name || strpbrk(name, "[]"))
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name, "a column needs a name without brackets");
  return writer->format->add(writer->sink, name, unit ? unit : "", digits, diag);
}

bramah_status bramah_log_write(bramah_log_writer *writer, const double *values, bramah_diag *diag)
{
  return writer->format->write(writer->sink, values, diag);
}

bramah_status bramah_log_flush(bramah_log_writer *writer, bramah_diag *diag)
{
  return writer->format->flush ? writer->format->flush(writer->sink, diag) : BRAMAH_OK;
}

bramah_status bramah_log_finish(bramah_log_writer *writer, bramah_diag *diag)
{
  if (!writer) return BRAMAH_OK;
  const bramah_status status = writer->format->finish(writer->sink, diag);
  free(writer);
  return status;
}
