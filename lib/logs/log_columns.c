/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns by name, and whether their units are what is wanted. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/logs/log_internal.h"
#include "lib/logs/log_mat.h"
#include "lib/io/quantity.h"

#include <stdlib.h>
#include <string.h>

size_t bramah_log_n_columns(const bramah_log_reader *reader) { return reader->n_columns; }

const char *bramah_log_column_name(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->names[column] : NULL;
}

const char *bramah_log_column_unit(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->columns[column].unit : NULL;
}

static void add_names(const bramah_log_reader *reader, bramah_diag *diag)
{
  for (size_t i = 0; i < reader->n_columns; i++) {
    bramah__add_text(diag, i ? ", " : "; it has ");
    if (strlen(diag->message) + strlen(reader->names[i]) + 8 > sizeof diag->message) {
      bramah__add_text(diag, "...");
      return;
    }
    bramah__add_text(diag, reader->names[i]);
  }
}

/* The name is that of something in a MAT file which cannot be a column. */
static bramah_status fail_no_vector(const bramah_log_reader *reader, const char *name, const char *why,
                                    bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_COLUMN, name, "the variable '");
  bramah__at(diag, bramah__log_display_path(reader), 0, 0);
  bramah__add_text(diag, name);
  bramah__add_text(diag, "' ");
  bramah__add_text(diag, why);
  return BRAMAH_E_COLUMN;
}

static bramah_status fail_no_column(const bramah_log_reader *reader, const char *name, bramah_diag *diag)
{
  const char *why = reader->mat ? bramah__mat_why_not(reader->mat, name) : NULL;
  if (why) return fail_no_vector(reader, name, why, diag);
  const char *near = bramah__nearest(name, reader->n_columns, (const char *const *)reader->names);
  bramah__fail(diag, BRAMAH_E_COLUMN, name, "the log has no column '");
  bramah__at(diag, bramah__log_display_path(reader), reader->header_line, 0);
  bramah__add_text(diag, name);
  bramah__add_text(diag, "'");
  if (near) {
    bramah__add_text(diag, "; did you mean '");
    bramah__add_text(diag, near);
    bramah__add_text(diag, "'?");
  } else if (diag) {
    add_names(reader, diag);
  }
  return BRAMAH_E_COLUMN;
}

bramah_status bramah_log_find_name(const bramah_log_reader *reader, const char *name, size_t *column,
                                   bramah_diag *diag)
{
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->names[i], name) == 0) return *column = i, BRAMAH_OK;
  const size_t other = reader->mat ? bramah__mat_stand_in(reader, name) : SIZE_MAX;
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
  return bramah__at(diag, bramah__log_display_path(reader), reader->header_line, c->position), status;
}

void bramah_log_restate_unit(bramah_log_reader *reader, size_t column)
{
  reader->columns[column].factor = 1.0;
}

void bramah_log_ignore(bramah_log_reader *reader, size_t column) { reader->columns[column].ignored = 1; }

/* Variables have no units by themselves. */
static bramah_status say_mat_unit(const char *name, const char *expected, bramah_diag *diag)
{
  bramah__add_text(diag, ": state it in the study (");
  bramah__add_text(diag, strcmp(expected, "s") == 0 ? "time: {column: " : "column: ");
  bramah__add_text(diag, name);
  bramah__add_text(diag, ", unit: ");
  bramah__add_text(diag, expected);
  bramah__add_text(diag, strcmp(expected, "s") == 0 ? "}" : "");
  bramah__add_text(diag, "), or in a struct 'units' of the file (units.");
  bramah__add_text(diag, name);
  bramah__add_text(diag, " = '");
  bramah__add_text(diag, expected);
  bramah__add_text(diag, "')");
  return BRAMAH_E_UNIT;
}

bramah_status bramah_log_fail_unit(const bramah_log_reader *reader, size_t column, const char *expected,
                                   bramah_diag *diag)
{
  const bramah__log_column *c = &reader->columns[column];
  bramah__fail(diag, BRAMAH_E_UNIT, reader->names[column],
               c->unit[0] ? "the column is in " : "the column has no unit");
  bramah__at(diag, bramah__log_display_path(reader), reader->header_line, c->position);
  bramah__add_text(diag, c->unit);
  if (strcmp(expected, "1") == 0) {
    bramah__add_text(diag, " where a number without unit is expected");
    return BRAMAH_E_UNIT;
  }
  bramah__add_text(diag, "; expected a unit like ");
  bramah__add_text(diag, expected);
  if (reader->mat) return say_mat_unit(reader->names[column], expected, diag);
  bramah__add_text(diag, ", written ");
  bramah__add_text(diag, reader->names[column]);
  bramah__add_text(diag, "[");
  bramah__add_text(diag, expected);
  bramah__add_text(diag, "]");
  return BRAMAH_E_UNIT;
}

static bramah_status check_unit(const bramah_log_reader *reader, size_t i, const char *expected,
                                bramah_diag *diag)
{
  const bramah__log_column *c = &reader->columns[i];
  bramah_dimension wanted = {0}, dimension;
  double factor;
  bramah_status status = bramah_log_unit(reader, i, &factor, &dimension, diag);
  if (status) return status;
  if (strcmp(expected, "1") != 0) {
    status = bramah_unit_parse(expected, &factor, &wanted, diag);
    if (status) return status;
    if (!c->unit[0]) return bramah_log_fail_unit(reader, i, expected, diag);
  }
  return bramah__same_dimension(dimension, wanted) ? BRAMAH_OK
                                                   : bramah_log_fail_unit(reader, i, expected, diag);
}

bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name, const char *expected,
                              size_t *column, bramah_diag *diag)
{
  size_t i;
  bramah_status status = bramah_log_find_name(reader, name, &i, diag);
  if (!status) status = check_unit(reader, i, expected, diag);
  if (!status) *column = i;
  return status;
}

/* ---- counts ---- */

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
