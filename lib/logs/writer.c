/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing logs and estimates. Rows are put into a buffer of our own and handed to the system whole, so that a
 * run that stops, for whatever reason, leaves a file that can be read. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, strdup */
#include "lib/base/text.h"
#include "lib/logs/reader.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FLUSH_AT = 1 << 16 };

/* CSV. */
typedef struct text_file {
  int fd;
  int owned;     /* 0: standard output, which is not ours to close or cut */
  int each_row;  /* somebody may wait for it: a pipe, a terminal */
  off_t written; /* bytes of whole rows in the file */
  char *buffer;  /* [FLUSH_AT + header + one row] */
  size_t used;
} text_file;

static void fail_system(bramah_log_writer *writer, const char *what)
{
  char reason[128];
  if (strerror_r(errno, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__failf(&writer->failure, BRAMAH_E_FILE, strcmp(writer->path, "-") == 0 ? "<stdout>" : writer->path,
                0, NULL, "%s: %s", what, reason);
}

static void create_text(bramah_log_writer *writer)
{
  text_file *file = writer->file = calloc(1, sizeof *file);
  if (!file) {
    bramah__fail_memory(&writer->failure);
    return;
  }
  file->owned = strcmp(writer->path, "-") != 0;
  file->fd = file->owned ? open(writer->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : STDOUT_FILENO;
  struct stat about;
  if (file->fd < 0) fail_system(writer, "cannot create");
  file->each_row = file->fd >= 0 && fstat(file->fd, &about) == 0 &&
                   (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode) || isatty(file->fd));
}

/* The header: name[unit], put in quotes where a reader might take what is in it for a mark between cells, a comment, or a
 * byte-order mark of the file. */
static void begin_text(bramah_log_writer *writer)
{
  text_file *file = writer->file;
  const size_t n = writer->n_columns;
  size_t header = 1, longest = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t length = strlen(writer->columns[i].name) + strlen(writer->columns[i].unit) + 3;
    if (length > longest) longest = length;
    header += 2 * length + 3;
  }
  char *title = malloc(longest + 1);
  file->buffer = malloc(FLUSH_AT + header + n * (BRAMAH__NUMBER_SIZE + 1) + 1);
  if (!title || !file->buffer) bramah__fail_memory(&writer->failure);
  for (size_t i = 0; title && file->buffer && i < n; i++) {
    const bramah__log_title *c = &writer->columns[i];
    const int length = snprintf(title, longest + 1, *c->unit ? "%s[%s]" : "%s%s", c->name, c->unit);
    const int is_clear = !strpbrk(title, ",;\t \"#\r\n") && strncmp(title, "\xEF\xBB\xBF", 3) != 0 &&
                         strncmp(title, "\xFF\xFE", 2) != 0 && strncmp(title, "\xFE\xFF", 2) != 0;
    char *out = file->buffer + file->used;
    if (is_clear) memcpy(out, title, (size_t)length);
    file->used += is_clear ? (size_t)length : csv_write(out, header, title, (size_t)length);
    file->buffer[file->used++] = i + 1 < n ? ',' : '\n';
  }
  free(title);
}

/* ---- rows ---- */

static void flush_text(bramah_log_writer *writer)
{
  text_file *file = writer->file;
  size_t done = 0;
  while (done < file->used) {
    ssize_t n = write(file->fd, file->buffer + done, file->used - done);
    if (n > 0) done += (size_t)n;
    if (n >= 0 || errno == EINTR) continue;
    fail_system(writer, "cannot write");
    while (done && file->buffer[done - 1] != '\n') done--;
    file->written += (off_t)done;
    /* The file may end in the middle of a row: cut it back to the last whole one. What cannot be cut (a pipe, a
     * device) stays as it is: the error that led here is the one to report. */
    if (file->owned && ftruncate(file->fd, file->written) != 0) return;
    return;
  }
  file->written += (off_t)done;
  file->used = 0;
}

/* What cannot be brought to a disk (a pipe, a device) goes on its way. */
static void sync_text(bramah_log_writer *writer)
{
  const text_file *file = writer->file;
  flush_text(writer);
  if (!writer->failure.status && fsync(file->fd) != 0 && errno != EINVAL && errno != EROFS &&
      errno != ENOTSUP)
    fail_system(writer, "cannot write");
}

/* The buffer has room for a whole row past FLUSH_AT. */
static void write_text(bramah_log_writer *writer, const double *values)
{
  text_file *file = writer->file;
  const size_t n = writer->n_columns;
  char *out = file->buffer + file->used;
  for (size_t i = 0; i < n; i++) {
    if (!isnan(values[i])) out += bramah__format_number(out, values[i], writer->columns[i].digits);
    if (isnan(values[i]) && n == 1) *out++ = '"', *out++ = '"'; /* an empty line is no row */
    *out++ = i + 1 < n ? ',' : '\n';
  }
  file->used = (size_t)(out - file->buffer);
  if (file->each_row || file->used >= FLUSH_AT) flush_text(writer);
}

static void finish_text(bramah_log_writer *writer)
{
  text_file *file = writer->file;
  if (!file) return;
  if (!writer->failure.status) flush_text(writer);
  /* Some file systems report a full disk only here. */
  if (file->owned && file->fd >= 0 && close(file->fd) != 0 && errno != EINTR && !writer->failure.status)
    fail_system(writer, "cannot write");
  free(file->buffer);
  free(file);
}

/* ---- writers of any format, which is chosen by the name of the file ---- */

const bramah__log_sink bramah__csv_sink = {.create = create_text,
                                           .begin = begin_text,
                                           .write = write_text,
                                           .sync = sync_text,
                                           .finish = finish_text};

static bramah_status report(const bramah_log_writer *writer, bramah_diag *diag)
{
  if (writer->failure.status && diag) *diag = writer->failure;
  return writer->failure.status;
}

/* Once, before the first row: until then nothing has happened to a file of this name. Returns 0 if something has failed. */
static int begin(bramah_log_writer *writer)
{
  if (!writer->failure.status && !writer->begun) writer->sink->create(writer);
  if (!writer->failure.status && !writer->begun) writer->sink->begin(writer);
  writer->begun = 1;
  return !writer->failure.status;
}

bramah_status bramah_log_create(const char *path, bramah_diag *diag, bramah_log_writer **out)
{
  const bramah__log_kind *kind = bramah__log_kind_of(path);
  if (kind && !kind->sink)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, path, 0, NULL, "a %s is only read: name it .csv or .mat",
                         kind->what);
  bramah_log_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return bramah__fail_memory(diag);
  writer->sink = kind ? kind->sink : &bramah__csv_sink;
  writer->path = strdup(path);
  if (!writer->path) {
    free(writer);
    return bramah__fail_memory(diag);
  }
  *out = writer;
  return BRAMAH_OK;
}

bramah_status bramah_log_add_column(bramah_log_writer *writer, const char *name, const char *unit, int digits,
                                    bramah_diag *diag)
{
  const char *wrong = digits < 1 || digits > 17       ? "digits must be 1 to 17"
                      : !*name || strpbrk(name, "[]") ? "a column needs a name without brackets"
                      : writer->begun ? "columns must be added before the first row is written"
                                      : NULL;
  if (wrong) return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, name, "%s", wrong);
  bramah__log_title *columns = realloc(writer->columns, (writer->n_columns + 1) * sizeof *columns);
  if (!columns) return bramah__fail_memory(diag);
  writer->columns = columns;
  columns[writer->n_columns] = (bramah__log_title){strdup(name), strdup(unit ? unit : ""), digits};
  const bramah__log_title *c = &columns[writer->n_columns++];
  if (!c->name || !c->unit) bramah__fail_memory(&writer->failure);
  return report(writer, diag);
}

/* Mark the columns that match, or say which one may have been meant. */
static bramah_status choose(const bramah_log_writer *writer, const char *pattern, unsigned char *wanted,
                            bramah_diag *diag)
{
  size_t found = 0;
  for (size_t i = 0; i < writer->n_columns; i++) {
    if (fnmatch(pattern, writer->columns[i].name, FNM_NOESCAPE) != 0) continue;
    wanted[i] = 1;
    found++;
  }
  if (found) return BRAMAH_OK;
  const char **names = calloc(writer->n_columns + 1, sizeof *names);
  for (size_t i = 0; names && i < writer->n_columns; i++) names[i] = writer->columns[i].name;
  const char *near = names ? bramah__nearest(pattern, writer->n_columns, names) : NULL;
  free(names);
  return bramah__failf(diag, BRAMAH_E_COLUMN, writer->path, 0, pattern, "there is no such column%s%s%s",
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bramah_status bramah_log_choose_columns(bramah_log_writer *writer, const char *patterns, bramah_diag *diag)
{
  const size_t n = writer->n_columns;
  if (!patterns || !n) return BRAMAH_OK;
  if (writer->begun || writer->chosen)
    return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, NULL, "%s",
                         "columns are chosen once, before the first row is written");
  unsigned char *wanted = calloc(n, 1);
  char *copy = strdup(patterns);
  writer->chosen = calloc(n, sizeof *writer->chosen);
  writer->row = calloc(n, sizeof *writer->row);
  if (!wanted || !copy || !writer->chosen || !writer->row) {
    bramah__fail_memory(&writer->failure);
    free(wanted);
    free(copy);
    return report(writer, diag);
  }
  bramah_status status = BRAMAH_OK;
  for (char *rest = copy, *next; rest; rest = next) {
    bramah_diag other;
    next = strchr(rest, ',');
    if (next) *next++ = '\0';
    const bramah_status one = choose(writer, rest, wanted, status ? &other : diag);
    if (!status) status = one;
  }
  writer->n_columns = 0;
  for (size_t i = 0; i < n; i++) {
    const bramah__log_title c = writer->columns[i];
    if (i == 0 || wanted[i]) {
      writer->chosen[writer->n_columns] = i;
      writer->columns[writer->n_columns++] = c;
    } else {
      free(c.name);
      free(c.unit);
    }
  }
  free(wanted);
  free(copy);
  return status;
}

int bramah_log_has_column(const bramah_log_writer *writer, size_t column)
{
  int found = !writer->chosen && column < writer->n_columns;
  for (size_t i = 0; writer->chosen && i < writer->n_columns; i++) found |= writer->chosen[i] == column;
  return found;
}

bramah_status bramah_log_write(bramah_log_writer *writer, const double *values, bramah_diag *diag)
{
  if (begin(writer)) {
    for (size_t i = 0; writer->chosen && i < writer->n_columns; i++)
      writer->row[i] = values[writer->chosen[i]];
    writer->sink->write(writer, writer->chosen ? writer->row : values);
  }
  return report(writer, diag);
}

bramah_status bramah_log_flush(bramah_log_writer *writer, bramah_diag *diag)
{
  if (begin(writer) && writer->sink->sync) writer->sink->sync(writer);
  return report(writer, diag);
}

bramah_status bramah_log_finish(bramah_log_writer *writer, bramah_diag *diag)
{
  if (!writer) return BRAMAH_OK;
  begin(writer);
  return bramah_log_abandon(writer, diag);
}

bramah_status bramah_log_abandon(bramah_log_writer *writer, bramah_diag *diag)
{
  if (!writer) return BRAMAH_OK;
  writer->sink->finish(writer);
  const bramah_status status = report(writer, diag);
  for (size_t i = 0; i < writer->n_columns; i++) {
    free(writer->columns[i].name);
    free(writer->columns[i].unit);
  }
  free(writer->columns);
  free(writer->chosen);
  free(writer->row);
  free(writer->path);
  free(writer);
  return status;
}
