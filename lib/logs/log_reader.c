/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading logs row by row. Nothing is kept of a row but its numbers. */
#define _GNU_SOURCE /* newlocale */
#include "lib/base/diag.h"
#include "lib/logs/log_internal.h"
#include "lib/logs/log_mat.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* ---- rows ---- */

static bramah_status fail_cell_count(bramah_log_reader *reader)
{
  bramah_diag *diag = &reader->failure;
  if (reader->n_cells < reader->n_columns && reader->no_line_end) {
    bramah__log_fail(reader, BRAMAH_E_TRUNCATED, NULL, reader->line, 0,
                     "the file ends in the middle of line ");
    bramah__add_number(diag, reader->line, 12);
    return BRAMAH_E_TRUNCATED;
  }
  bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->row_line, 0, "");
  bramah__add_number(diag, (double)reader->n_cells, 12);
  bramah__add_text(diag,
                   reader->n_cells == 1 ? " cell where the header has " : " cells where the header has ");
  bramah__add_number(diag, (double)reader->n_columns, 12);
  return BRAMAH_E_SYNTAX;
}

static const char *what_is_wrong(const bramah_log_reader *reader)
{
  const bramah__log_fault *f = &reader->fault;
  const int is_time = f->cell == reader->time_column;
  const char other = reader->format.decimal == ',' ? '.' : ',';
  if (is_time && f->status == BRAMAH_E_TIME)
    return "' has no time zone where rows before have one, or one where they have none";
  if (is_time && f->status == BRAMAH_E_VALUE)
    return reader->clock.whole ? "' is not a whole number" : "' cannot be told in nanoseconds";
  if (is_time && f->status == BRAMAH_E_SYNTAX && reader->clock.iso)
    return "' is not a time like 2024-03-05T12:34:56.789Z";
  if (f->status != BRAMAH_E_SYNTAX) return "' is not a finite number";
  if (strchr(f->quote, other) && reader->format.delimiter != ',')
    return other == ',' ? "' is not a number: decimal points stood before"
                        : "' is not a number: decimal commas stood before";
  return "' is not a number";
}

static bramah_status fail_cell(bramah_log_reader *reader)
{
  const bramah__log_fault *f = &reader->fault;
  bramah__log_fail(reader, f->status, reader->names[f->cell], f->line, f->position, "'");
  bramah__add_text(&reader->failure, f->quote);
  bramah__add_text(&reader->failure, what_is_wrong(reader));
  return f->status;
}

/* What the row itself has wrong. */
static bramah_status check_row(bramah_log_reader *reader)
{
  if (reader->n_cells != reader->n_columns) return fail_cell_count(reader);
  return reader->fault.status ? fail_cell(reader) : BRAMAH_OK;
}

static bramah_status fail_no_rows(bramah_log_reader *reader)
{
  if (!reader->skipped_rows)
    return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0,
                            reader->mat ? "the vectors of the log are empty"
                                        : "the log has a header but no rows");
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, reader->first_skipped, 0, "every row of the log is bad: ");
  bramah__add_number(&reader->failure, (double)reader->skipped_rows, 12);
  bramah__add_text(&reader->failure, " were left out, from here on");
  return BRAMAH_E_EMPTY;
}

/* A bad row that may be left out: mistakes of the file, but none of the system. */
static int skip_row(bramah_log_reader *reader, bramah_status status)
{
  const int of_the_row = status == BRAMAH_E_SYNTAX || status == BRAMAH_E_TRUNCATED ||
                         status == BRAMAH_E_NOT_FINITE || status == BRAMAH_E_VALUE || status == BRAMAH_E_TIME;
  if (!reader->format.skip_bad_rows || !of_the_row || !reader->row_done) return 0;
  if (!reader->skipped_rows++) reader->first_skipped = reader->row_line;
  bramah_diag_clear(&reader->failure);
  return 1;
}

static bramah_status read_row(bramah_log_reader *reader, int *end)
{
  bramah_status status;
  do {
    status = reader->mat ? bramah__mat_row(reader, end)
                         : bramah__log_split_row(reader, bramah__log_on_number, end);
    if (!status && *end && !reader->n_rows) return fail_no_rows(reader);
    if (!status && !*end) status = check_row(reader);
  } while (status && skip_row(reader, status));
  return status;
}

bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present, int *end,
                              bramah_diag *diag)
{
  bramah_status status = reader->failure.status;
  *end = 0;
  if (!status) {
    reader->values = values;
    reader->present = present;
    status = read_row(reader, end);
    if (!status && !*end) {
      reader->n_rows++;
      reader->given_line = reader->row_line;
    }
  }
  if (status) *end = 0;
  if (status && diag) *diag = reader->failure;
  return status;
}

/* ---- times ---- */

static int is_iso_unit(const char *unit) { return strcmp(unit, "iso8601") == 0; }

/* Does the next row have such a time? It is looked at, but not taken. */
static bramah_status look_for_iso(bramah_log_reader *reader)
{
  bramah_status status;
  do status = bramah__log_next_line(reader);
  while (!status && reader->length && bramah__log_is_skipped(reader));
  if (status || !reader->length) return status;
  size_t length;
  int64_t ns;
  int zone;
  const char *text = bramah__log_cell_text(reader, reader->time_column, &length);
  if (length > 1 && text[0] == '"' && text[length - 1] == '"') text++, length -= 2;
  reader->clock.iso = bramah__time_iso(text, text + length, &ns, &zone) == BRAMAH_OK;
  bramah__log_return_line(reader);
  return BRAMAH_OK;
}

/* A unit of time as whole nanoseconds. */
static bramah_status set_scale(bramah_log_reader *reader, const char *unit, bramah_diag *diag)
{
  double factor;
  bramah_dimension d;
  const size_t column = reader->time_column;
  bramah_diag_clear(diag);
  bramah_status status = bramah_unit_parse(unit, &factor, &d, diag);
  if (status) {
    bramah__at(diag, bramah__log_display_path(reader), reader->header_line, reader->columns[column].position);
    return status;
  }
  if (d.s != 2 || d.m || d.kg || d.volt || d.rad) return bramah_log_fail_unit(reader, column, "s", diag);
  if (!(factor < 1e5)) return bramah_log_fail_unit(reader, column, "s", diag); /* beyond int64_t */
  reader->clock.scale = llround(factor * 1e9);
  return reader->clock.scale > 0 ? BRAMAH_OK : bramah_log_fail_unit(reader, column, "s", diag);
}

bramah_status bramah_log_set_time(bramah_log_reader *reader, size_t column, const char *unit, int counter,
                                  bramah_diag *diag)
{
  const char *own = reader->columns[column].unit;
  reader->time_column = column;
  reader->clock = (bramah__log_clock){.scale = 1, .whole = counter};
  if (counter) return BRAMAH_OK;
  if (!unit) unit = own;
  reader->clock.iso = is_iso_unit(unit);
  if (reader->clock.iso && reader->mat) return bramah_log_fail_unit(reader, column, "s", diag);
  if (reader->clock.iso) return BRAMAH_OK;
  if (*unit) return set_scale(reader, unit, diag);
  if (reader->mat) return bramah_log_fail_unit(reader, column, "s", diag);
  const bramah_status status = look_for_iso(reader);
  if (status && diag) *diag = reader->failure;
  if (status || reader->clock.iso) return status;
  return bramah_log_fail_unit(reader, column, "s", diag);
}

int64_t bramah_log_time(const bramah_log_reader *reader) { return reader->time; }
int bramah_log_time_is_iso(const bramah_log_reader *reader) { return reader->clock.iso; }

bramah_status bramah_log_read_time(const char *text, int64_t *ns)
{
  int zone;
  return bramah__time_iso(text, text + strlen(text), ns, &zone);
}

void bramah_log_tell_time(int64_t ns, char *out, size_t n) { bramah__time_text(ns, out, n); }

/* ---- opening and closing ---- */

static bramah_status open_file(bramah_log_reader *reader)
{
  reader->fd = strcmp(reader->path, "-") == 0 ? STDIN_FILENO : open(reader->path, O_RDONLY | O_CLOEXEC);
  return reader->fd < 0 ? bramah__log_fail_system(reader, "cannot open: ", errno) : BRAMAH_OK;
}

int bramah_log_is_mat(const char *path)
{
  const size_t n = strlen(path);
  return n > 4 && strcasecmp(path + n - 4, ".mat") == 0;
}

static bramah_log_reader *new_reader(const char *path, const bramah_log_format *format)
{
  bramah_log_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->fd = -1;
  reader->time_column = SIZE_MAX;
  csv_init(&reader->parser, CSV_STRICT | CSV_APPEND_NULL);
  if (format) reader->format = *format;
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->path = strdup(path);
  reader->comment = strdup(reader->format.comment ? reader->format.comment : "#");
  reader->missing = strdup(reader->format.missing ? reader->format.missing : "");
  reader->format.comment = reader->comment;
  reader->format.missing = reader->missing;
  reader->buffer = malloc(BRAMAH__LONGEST_ROW + 2);
  if (reader->c_locale && reader->path && reader->buffer && reader->comment && reader->missing) return reader;
  bramah_log_close(reader);
  return NULL;
}

bramah_status bramah_log_open(const char *path, bramah_diag *diag, bramah_log_reader **out)
{
  return bramah_log_open_as(path, NULL, diag, out);
}

bramah_status bramah_log_open_as(const char *path, const bramah_log_format *format, bramah_diag *diag,
                                 bramah_log_reader **out)
{
  bramah_log_reader *reader = new_reader(path, format);
  if (!reader) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  bramah_status status = open_file(reader);
  const int is_mat = bramah_log_is_mat(path);
  if (!status) status = is_mat ? bramah__mat_open(reader) : bramah__log_read_header(reader);
  if (!status) {
    *out = reader;
    return BRAMAH_OK;
  }
  if (diag) *diag = reader->failure;
  bramah_log_close(reader);
  return status;
}

void bramah_log_close(bramah_log_reader *reader)
{
  if (!reader) return;
  for (size_t i = 0; i < reader->n_columns; i++) {
    free(reader->names[i]);
    free(reader->columns[i].unit);
  }
  free(reader->names);
  free(reader->columns);
  bramah__mat_close(reader->mat);
  csv_free(&reader->parser);
  if (reader->c_locale) freelocale(reader->c_locale);
  if (reader->fd > STDIN_FILENO) close(reader->fd);
  free(reader->path);
  free(reader->comment);
  free(reader->missing);
  free(reader->buffer);
  free(reader);
}

/* ---- what was found ---- */

int bramah_log_line(const bramah_log_reader *reader) { return reader->given_line; }
const char *bramah_log_path(const bramah_log_reader *reader) { return reader->path; }
bramah_log_format bramah_log_format_found(const bramah_log_reader *reader) { return reader->format; }
const char *bramah_log_kind(const bramah_log_reader *reader)
{
  return reader->mat ? bramah__mat_kind(reader->mat) : NULL;
}
uint64_t bramah_log_bytes(const bramah_log_reader *reader)
{
  if (reader->mat) return bramah__mat_bytes(reader->mat);
  const uint64_t left = reader->end - reader->begin; /* the line end that we have added counts among them */
  return reader->bytes - (left && reader->no_line_end ? left - 1 : left);
}
int bramah_log_is_cut(const bramah_log_reader *reader) { return reader->no_line_end; }
