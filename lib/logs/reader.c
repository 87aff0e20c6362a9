/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading logs row by row, whatever their format. Nothing is kept of a row but its numbers. */
#define _GNU_SOURCE /* newlocale, strerror_l */
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/io/quantity.h"
#include "lib/logs/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The formats; the last one takes every name. */
static const bramah__log_kind *const kinds[] = {&bramah__log_mat, &bramah__log_csv};

/* ---- errors ---- */

static const char *display_path(const bramah_log_reader *reader)
{
  return strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path;
}

bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *message)
{
  bramah__fail(&reader->failure, status, thing, message);
  return bramah__at(&reader->failure, display_path(reader), line, position);
}

bramah_status bramah__log_fail_memory(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_MEMORY, NULL, 0, 0, "out of memory");
}

bramah_status bramah__log_fail_system(bramah_log_reader *reader, const char *what, int error)
{
  bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, what);
  bramah__add_text(&reader->failure, strerror_l(error, reader->c_locale));
  return BRAMAH_E_FILE;
}

/* Texts one after the other, appended to the message. */
#define ADD_TEXTS(diag, ...)                                                                                 \
  do {                                                                                                       \
    const char *const texts[] = {__VA_ARGS__};                                                               \
    for (size_t at = 0; at < sizeof texts / sizeof texts[0]; at++) bramah__add_text(diag, texts[at]);        \
  } while (0)

/* ---- opening and closing ---- */

bramah_status bramah_log_open(const char *path, bramah_diag *diag, bramah_log_reader **out)
{
  return bramah_log_open_as(path, NULL, diag, out);
}

bramah_status bramah_log_open_as(const char *path, const bramah_log_format *format, bramah_diag *diag,
                                 bramah_log_reader **out)
{
  bramah_status status = BRAMAH_OK;
  bramah_log_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  if (format) reader->format = *format;
  reader->fd = -1;
  reader->time_column = SIZE_MAX;
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->path = strdup(path);
  reader->comment = strdup(reader->format.comment ? reader->format.comment : "#");
  reader->missing = strdup(reader->format.missing ? reader->format.missing : "");
  reader->format.comment = reader->comment;
  reader->format.missing = reader->missing;
  if (!reader->c_locale || !reader->path || !reader->comment || !reader->missing)
    status = bramah__fail(&reader->failure, BRAMAH_E_MEMORY, NULL, "out of memory");
  if (!status) {
    reader->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd < 0) status = bramah__log_fail_system(reader, "cannot open: ", errno);
  }
  for (size_t i = 0; !status && !reader->kind && i < sizeof kinds / sizeof kinds[0]; i++)
    if (kinds[i]->takes(path)) reader->kind = kinds[i];
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
    free(reader->names[i]);
    free(reader->columns[i].unit);
  }
  free(reader->names);
  free(reader->columns);
  if (reader->c_locale) freelocale(reader->c_locale);
  if (reader->fd > STDIN_FILENO) close(reader->fd);
  free(reader->path);
  free(reader->comment);
  free(reader->missing);
  free(reader);
}

/* ---- columns ---- */

int bramah__log_is_no_unit(const char *unit)
{
  return !unit || !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0 || strcmp(unit, "counts") == 0;
}

bramah_status bramah__log_set_unit(bramah_log_reader *reader, size_t column, const char *unit)
{
  bramah__log_column *c = &reader->columns[column];
  bramah_diag ignored;
  char *copy = strdup(unit);
  if (!copy) return bramah__log_fail_memory(reader);
  free(c->unit);
  c->unit = copy;
  c->factor = 1.0;
  c->dimension = (bramah_dimension){0};
  if (bramah__log_is_no_unit(unit)) return BRAMAH_OK;
  c->unknown = bramah_unit_parse(unit, &c->factor, &c->dimension, &ignored) != BRAMAH_OK;
  if (c->unknown) c->factor = 1.0;
  return BRAMAH_OK;
}

bramah_status bramah__log_add_column(bramah_log_reader *reader, const char *name, const char *unit,
                                     int position)
{
  if (reader->n_columns == reader->room) {
    const size_t room = reader->room ? 2 * reader->room : 16;
    char **names = realloc(reader->names, room * sizeof *names);
    if (names) reader->names = names;
    bramah__log_column *columns = realloc(reader->columns, room * sizeof *columns);
    if (columns) reader->columns = columns;
    if (!names || !columns) return bramah__log_fail_memory(reader);
    reader->room = room;
  }
  char *copy = strdup(name);
  if (!copy) return bramah__log_fail_memory(reader);
  reader->names[reader->n_columns] = copy;
  reader->columns[reader->n_columns] = (bramah__log_column){.position = position};
  return bramah__log_set_unit(reader, reader->n_columns++, unit);
}

size_t bramah_log_n_columns(const bramah_log_reader *reader) { return reader->n_columns; }

const char *bramah_log_column_name(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->names[column] : NULL;
}

const char *bramah_log_column_unit(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->columns[column].unit : NULL;
}

static bramah_status fail_no_column(const bramah_log_reader *reader, const char *name, bramah_diag *diag)
{
  const char *why = reader->kind->why_not ? reader->kind->why_not(reader, name) : NULL;
  const char *near = bramah__nearest(name, reader->n_columns, (const char *const *)reader->names);
  bramah__fail(diag, BRAMAH_E_COLUMN, name, why ? "the variable '" : "the log has no column '");
  bramah__at(diag, display_path(reader), why ? 0 : reader->header_line, 0);
  ADD_TEXTS(diag, name, why ? "' " : "'", why ? why : "");
  if (why || !diag) return BRAMAH_E_COLUMN;
  if (near) ADD_TEXTS(diag, "; did you mean '", near, "'?");
  for (size_t i = 0; !near && i < reader->n_columns; i++) {
    bramah__add_text(diag, i ? ", " : "; it has ");
    const int full = strlen(diag->message) + strlen(reader->names[i]) + 8 > sizeof diag->message;
    bramah__add_text(diag, full ? "..." : reader->names[i]);
    if (full) break;
  }
  return BRAMAH_E_COLUMN;
}

bramah_status bramah_log_find_name(const bramah_log_reader *reader, const char *name, size_t *column,
                                   bramah_diag *diag)
{
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->names[i], name) == 0) return *column = i, BRAMAH_OK;
  const size_t other = reader->kind->stand_in ? reader->kind->stand_in(reader, name) : SIZE_MAX;
  if (other != SIZE_MAX) return *column = other, BRAMAH_OK;
  return fail_no_column(reader, name, diag);
}

bramah_status bramah_log_unit(const bramah_log_reader *reader, size_t column, double *factor,
                              bramah_dimension *dimension, bramah_diag *diag)
{
  const bramah__log_column *c = &reader->columns[column];
  *factor = c->factor;
  *dimension = c->dimension;
  if (!c->unknown) return BRAMAH_OK;
  const bramah_status status = bramah_unit_parse(c->unit, factor, dimension, diag);
  if (diag) bramah__append(diag->thing, sizeof diag->thing, 0, reader->names[column]);
  return bramah__at(diag, display_path(reader), reader->header_line, c->position), status;
}

bramah_status bramah_log_fail_unit(const bramah_log_reader *reader, size_t column, const char *expected,
                                   bramah_diag *diag)
{
  const bramah__log_column *c = &reader->columns[column];
  const char *name = reader->names[column];
  const int is_time = strcmp(expected, "s") == 0;
  bramah__fail(diag, BRAMAH_E_UNIT, name, c->unit[0] ? "the column is in " : "the column has no unit");
  bramah__at(diag, display_path(reader), reader->header_line, c->position);
  bramah__add_text(diag, c->unit);
  if (strcmp(expected, "1") == 0)
    bramah__add_text(diag, " where a number without unit is expected");
  else if (reader->kind->units_in_header)
    ADD_TEXTS(diag, "; expected a unit like ", expected, ", written ", name, "[", expected, "]");
  else
    ADD_TEXTS(diag, "; expected a unit like ", expected, ": state it in the study (",
              is_time ? "time: {column: " : "column: ", name, ", unit: ", expected, is_time ? "}" : "",
              "), or in a struct 'units' of the file (units.", name, " = '", expected, "')");
  return BRAMAH_E_UNIT;
}

bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name, const char *expected,
                              size_t *column, bramah_diag *diag)
{
  bramah_dimension wanted = {0}, dimension;
  double factor;
  size_t i;
  bramah_status status = bramah_log_find_name(reader, name, &i, diag);
  if (!status) status = bramah_log_unit(reader, i, &factor, &dimension, diag);
  if (!status && strcmp(expected, "1") != 0) {
    status = bramah_unit_parse(expected, &factor, &wanted, diag);
    if (!status && !reader->columns[i].unit[0]) return bramah_log_fail_unit(reader, i, expected, diag);
  }
  if (status) return status;
  if (!bramah__same_dimension(dimension, wanted)) return bramah_log_fail_unit(reader, i, expected, diag);
  *column = i;
  return BRAMAH_OK;
}

void bramah_log_restate_unit(bramah_log_reader *reader, size_t column)
{
  reader->columns[column].factor = 1.0;
}

void bramah_log_ignore(bramah_log_reader *reader, size_t column) { reader->columns[column].ignored = 1; }

/* ---- times ---- */

/* A unit of time as whole nanoseconds. */
static bramah_status set_scale(bramah_log_reader *reader, const char *unit, bramah_diag *diag)
{
  double factor;
  bramah_dimension d;
  const size_t column = reader->time_column;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_unit_parse(unit, &factor, &d, diag);
  if (status)
    return bramah__at(diag, display_path(reader), reader->header_line, reader->columns[column].position),
           status;
  const int is_time = d.s == 2 && !d.m && !d.kg && !d.volt && !d.rad;
  if (is_time && factor < 1e5) reader->clock.scale = llround(factor * 1e9); /* else beyond int64_t */
  if (is_time && factor < 1e5 && reader->clock.scale > 0) return BRAMAH_OK;
  return bramah_log_fail_unit(reader, column, "s", diag);
}

bramah_status bramah_log_set_time(bramah_log_reader *reader, size_t column, const char *unit, int counter,
                                  bramah_diag *diag)
{
  const int is_text = reader->kind->peek != NULL;
  reader->time_column = column;
  reader->clock = (bramah__time_format){.scale = 1, .whole = counter};
  if (counter) return BRAMAH_OK;
  if (!unit) unit = reader->columns[column].unit;
  reader->clock.iso = strcmp(unit, "iso8601") == 0;
  if (reader->clock.iso && is_text) return BRAMAH_OK;
  if (*unit && !reader->clock.iso) return set_scale(reader, unit, diag);
  if (is_text) { /* does the next row have such a time? */
    const char *text;
    size_t length;
    int64_t ns;
    int zone;
    const bramah_status status = reader->kind->peek(reader, column, &text, &length);
    if (status && diag) *diag = reader->failure;
    if (status) return status;
    reader->clock.iso = text && bramah__time_iso(text, text + length, &ns, &zone) == BRAMAH_OK;
    if (reader->clock.iso) return BRAMAH_OK;
  }
  return bramah_log_fail_unit(reader, column, "s", diag);
}

int64_t bramah_log_time(const bramah_log_reader *reader) { return reader->time; }
int bramah_log_time_is_iso(const bramah_log_reader *reader) { return reader->clock.iso; }

bramah_status bramah_log_read_time(const char *text, int64_t *ns)
{
  int zone;
  return bramah__time_iso(text, text + strlen(text), ns, &zone);
}

/* ---- rows ---- */

void bramah__log_bad_cell(bramah_log_reader *reader, size_t column, int line)
{
  bramah__log_column *c = &reader->columns[column];
  if (!reader->format.skip_bad_cells) return;
  if (!c->bad++) c->first_bad = line;
  reader->present[column] = 0;
  reader->fault.status = BRAMAH_OK;
}

static bramah_status fail_cell(bramah_log_reader *reader)
{
  const bramah__log_fault *f = &reader->fault;
  const int is_time = f->cell == reader->time_column;
  const char other = reader->format.decimal == ',' ? '.' : ',';
  const char *wrong = "' is not a number";
  if (is_time && f->status == BRAMAH_E_TIME)
    wrong = "' has no time zone where rows before have one, or one where they have none";
  else if (is_time && f->status == BRAMAH_E_VALUE)
    wrong = reader->clock.whole ? "' is not a whole number" : "' does not fit into nanoseconds";
  else if (is_time && f->status == BRAMAH_E_SYNTAX && reader->clock.iso)
    wrong = "' is not a time like 2024-03-05T12:34:56.789Z";
  else if (f->status != BRAMAH_E_SYNTAX)
    wrong = "' is not a finite number";
  else if (strchr(f->quote, other) && reader->format.delimiter != ',')
    wrong = other == ',' ? "' is not a number: the numbers before have decimal points"
                         : "' is not a number: the numbers before have decimal commas";
  bramah__log_fail(reader, f->status, reader->names[f->cell], f->line, f->position, "'");
  ADD_TEXTS(&reader->failure, f->quote, wrong);
  return f->status;
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

static bramah_status fail_no_rows(bramah_log_reader *reader)
{
  if (!reader->skipped_rows)
    return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, reader->kind->no_rows);
  bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, reader->first_skipped, 0, "every row of the log is bad: ");
  bramah__add_number(&reader->failure, (double)reader->skipped_rows, 12);
  bramah__add_text(&reader->failure, " were left out, from here on");
  return BRAMAH_E_EMPTY;
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
    if (!status && ended && !reader->n_rows) status = fail_no_rows(reader);
    if (!status && !ended && reader->fault.status) status = fail_cell(reader);
    again = status && !ended && skip_row(reader, status);
  }
  *end = !status && ended;
  if (!status && !ended) {
    reader->n_rows++;
    reader->given_line = reader->row_line;
  }
  if (status && diag) *diag = reader->failure;
  return status;
}

/* ---- what was found ---- */

int bramah_log_is_mat(const char *path) { return bramah__log_mat.takes(path); }

const char *bramah_log_kind(const bramah_log_reader *reader)
{
  return reader->kind->describe ? reader->kind->describe(reader) : NULL;
}

int bramah_log_line(const bramah_log_reader *reader) { return reader->given_line; }
const char *bramah_log_path(const bramah_log_reader *reader) { return reader->path; }
bramah_log_format bramah_log_format_found(const bramah_log_reader *reader) { return reader->format; }
uint64_t bramah_log_bytes(const bramah_log_reader *reader) { return reader->kind->bytes(reader); }

int bramah_log_is_cut(const bramah_log_reader *reader)
{
  return reader->kind->is_cut && reader->kind->is_cut(reader);
}

uint64_t bramah_log_bad_cells(const bramah_log_reader *reader, size_t column, int *first_line)
{
  *first_line = reader->columns[column].first_bad;
  return reader->columns[column].bad;
}

uint64_t bramah_log_bad_rows(const bramah_log_reader *reader, int *first_line)
{
  *first_line = reader->first_skipped;
  return reader->skipped_rows;
}
