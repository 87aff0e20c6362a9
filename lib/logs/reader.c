/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading logs row by row, whatever their format. Nothing is kept of a row but its numbers. */
#define _GNU_SOURCE /* newlocale, strerror_l */
#include "lib/base/text.h"
#include "lib/io/files.h"
#include "lib/io/quantity.h"
#include "lib/logs/reader.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

/* ---- opening and closing ---- */

bramah_status bramah_log_open(const char *path, const bramah_log_format *format, bramah_diag *diag,
                              bramah_log_reader **out)
{
  char reason[512];
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
  reader->format.comment = reader->comment;
  reader->format.missing = reader->missing;
  if (!reader->c_locale || !reader->path || !reader->comment || !reader->missing)
    status = bramah__fail_memory(&reader->failure);
  if (!status) {
    reader->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : bramah__open_input(path);
    if (reader->fd < 0)
      status = bramah__log_fail(reader, BRAMAH_E_FILE, NULL, 0, 0, "cannot open: %s",
                                bramah__open_reason(path, errno, reason, sizeof reason));
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
    free((char *)(uintptr_t)reader->columns[i].name);
    free((char *)(uintptr_t)reader->columns[i].unit);
  }
  free(reader->columns);
  free(reader->units);
  if (reader->c_locale) freelocale(reader->c_locale);
  if (reader->fd > STDIN_FILENO) close(reader->fd);
  free(reader->path);
  free(reader->comment);
  free(reader->missing);
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

int bramah_log_is_mat(const char *path) { return bramah__log_mat.takes(path); }

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
  if (strcmp(expected, "1") == 0)
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), reader->header_line, name,
                  "%s%s where a number without unit is expected", is, unit);
  else if (reader->kind->units_in_header)
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), reader->header_line, name,
                  "%s%s; expected a unit like %s, written %s[%s]", is, unit, expected, name, expected);
  else
    bramah__failf(diag, BRAMAH_E_UNIT, display_path(reader), reader->header_line, name,
                  "%s%s; expected a unit like %s: state it in the study (%s%s, unit: %s%s), or in a struct "
                  "'units' of the file (units.%s = '%s')",
                  is, unit, expected, is_time ? "time: {column: " : "column: ", name, expected,
                  is_time ? "}" : "", name, expected);
  bramah__add_meant(diag, unit, expected);
  if (diag) diag->column = reader->units[column].position;
  return BRAMAH_E_UNIT;
}

/* With the reason, the nearest name, or those the log has. */
static bramah_status fail_no_column(const bramah_log_reader *reader, const char *name, bramah_diag *diag)
{
  const char *path = display_path(reader);
  const char *why = reader->kind->why_not ? reader->kind->why_not(reader, name) : NULL;
  if (why) return bramah__failf(diag, BRAMAH_E_COLUMN, path, 0, name, "the variable '%s' %s", name, why);
  const char **names = calloc(reader->n_columns + 1, sizeof *names);
  for (size_t i = 0; names && i < reader->n_columns; i++) names[i] = reader->columns[i].name;
  const char *near = names ? bramah__nearest(name, reader->n_columns, names) : NULL;
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
  size_t i = bramah__log_index(reader, name);
  if (i == SIZE_MAX && reader->kind->stand_in) i = reader->kind->stand_in(reader, name);
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
  if (!unit) unit = reader->columns[column].unit;
  clock->iso = strcmp(unit, "iso8601") == 0;
  if (clock->iso && is_text) return BRAMAH_OK;

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
                   : bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "%s", reader->kind->no_rows);
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
