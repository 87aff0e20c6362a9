/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The head of a log: what separates the cells, names and units of the columns. What the file shows by itself
 * is found; what the caller has stated is not questioned. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/logs/log_internal.h"
#include "lib/logs/log_mat.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 10000 };

/* ---- what separates the cells ---- */

typedef struct marks {
  size_t commas, semicolons, tabs, words;
} marks;

/* Marks outside quotes and brackets. */
static marks count_marks(const char *text, size_t length)
{
  marks m = {0};
  int quoted = 0, inside = 0, in_word = 0;
  for (size_t i = 0; i < length; i++) {
    const char c = text[i];
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == '[' || c == ']')) inside = c == '[';
    if (quoted || inside) continue;
    m.commas += c == ',';
    m.semicolons += c == ';';
    m.tabs += c == '\t';
    m.words += !bramah__log_is_blank(c) && !in_word && c != ']';
    in_word = !bramah__log_is_blank(c);
  }
  return m;
}

/* In the line of the header; without a header in the first row, where commas may be decimal marks. */
static bramah_status find_delimiter(bramah_log_reader *reader)
{
  const marks m = count_marks(reader->text, reader->length);
  char *delimiter = &reader->format.delimiter;
  if (m.commas && m.semicolons && !reader->format.no_header)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line, 0,
                            "both ',' and ';' stand in the header: state the delimiter of the log");
  if (m.semicolons)
    *delimiter = ';';
  else if (m.commas && !(m.tabs && reader->format.no_header))
    *delimiter = ',';
  else if (m.tabs)
    *delimiter = '\t';
  else
    *delimiter = m.words > 1 ? ' ' : ',';
  return BRAMAH_OK;
}

static void set_delimiter(bramah_log_reader *reader)
{
  const char delimiter = reader->format.delimiter;
  csv_set_delim(&reader->parser, (unsigned char)delimiter);
  /* Between commas a decimal comma is possible in quotes only, and would have to be stated. */
  if (delimiter == ',' && !reader->format.decimal) reader->format.decimal = '.';
}

/* ---- columns ---- */

static int grow_columns(bramah_log_reader *reader)
{
  if (reader->n_columns < reader->room) return 1;
  size_t room = reader->room ? 2 * reader->room : 16;
  char **names = realloc(reader->names, room * sizeof *names);
  if (names) reader->names = names;
  bramah__log_column *columns = realloc(reader->columns, room * sizeof *columns);
  if (columns) reader->columns = columns;
  if (!names || !columns) return 0;
  reader->room = room;
  return 1;
}

/* The unit in brackets at the end of a header cell: cut it off into *unit (NULL where there is none). Returns
 * 0 if the brackets do not match. */
static int split_unit(char *cell, size_t length, char **unit)
{
  char *open = strchr(cell, '[');
  *unit = NULL;
  if (!open) return strchr(cell, ']') == NULL;
  if (cell[length - 1] != ']' || strchr(cell, ']') != cell + length - 1) return 0;
  cell[length - 1] = '\0';
  *open = '\0';
  *unit = open + 1;
  return 1;
}

static bramah_status check_name(bramah_log_reader *reader, const char *name, int line, int position)
{
  if (reader->n_columns == MOST_COLUMNS) /* each name is compared with all others */
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, line, position, "more than 10000 columns");
  if (!*name)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, line, position,
                            "a column of the header has no name");
  if (bramah__log_is_number(reader, name))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, line, position,
                            "a number where the header should name a column; a log without header has "
                            "'log: {header: none}' in its study");
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->names[i], name) == 0)
      return bramah__log_fail(reader, BRAMAH_E_KEY, name, line, position, "the header has this column twice");
  return BRAMAH_OK;
}

static int is_no_unit(const char *unit)
{
  return !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0 || strcmp(unit, "counts") == 0;
}

/* A unit we do not know may stand over a column that nobody wants. */
static void read_unit(bramah__log_column *column)
{
  bramah_diag ignored;
  column->factor = 1.0;
  memset(&column->dimension, 0, sizeof column->dimension);
  if (is_no_unit(column->unit)) return;
  column->unknown =
      bramah_unit_parse(column->unit, &column->factor, &column->dimension, &ignored) != BRAMAH_OK;
  if (column->unknown) column->factor = 1.0;
}

static bramah_status keep_column(bramah_log_reader *reader, const char *name, const char *unit, int position)
{
  bramah__log_column c = {.position = position};
  char *copy = strdup(name);
  c.unit = strdup(unit);
  if (!copy || !c.unit || !grow_columns(reader)) {
    free(copy);
    free(c.unit);
    return bramah__log_fail_memory(reader);
  }
  read_unit(&c);
  reader->names[reader->n_columns] = copy;
  reader->columns[reader->n_columns++] = c;
  return BRAMAH_OK;
}

bramah_status bramah__log_keep_column(bramah_log_reader *reader, const char *name, const char *unit)
{
  return keep_column(reader, name, unit, 0);
}

static bramah_status add_column(bramah_log_reader *reader, char *cell, size_t length)
{
  int line;
  char *unit;
  const int position = bramah__log_cell_position(reader, reader->n_cells, &line);
  if (!split_unit(cell, length, &unit))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, cell, line, position, "expected name or name[unit]");
  size_t name_length = strlen(cell), unit_length = unit ? strlen(unit) : 0;
  bramah__log_trim(&cell, &name_length);
  cell[name_length] = '\0';
  if (unit) {
    bramah__log_trim(&unit, &unit_length);
    unit[unit_length] = '\0';
    reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  }
  const bramah_status status = check_name(reader, cell, line, position);
  return status ? status : keep_column(reader, cell, unit ? unit : "", position);
}

/* A cell of the header; the line itself must stay as it is, for places in messages. */
static void on_name(void *data, size_t length, void *user)
{
  bramah_log_reader *reader = user;
  char *text = data;
  reader->row_stray |= reader->row_done;
  bramah__log_trim(&text, &length);
  char *copy = strndup(text, length);
  for (size_t i = 0; copy && i < length; i++) /* a line end in a quoted name */
    if ((unsigned char)copy[i] < 0x20u) copy[i] = ' ';
  if (!copy)
    bramah__log_fail_memory(reader);
  else if (!reader->failure.status && !reader->row_done)
    add_column(reader, copy, length);
  free(copy);
  reader->n_cells++;
}

/* A cell of the first row of a log without header. */
static void on_numbered(void *data, size_t length, void *user)
{
  bramah_log_reader *reader = user;
  char name[24];
  (void)data, (void)length;
  name[bramah__format_integer(name, (int64_t)reader->n_columns + 1)] = '\0';
  if (!reader->failure.status) keep_column(reader, name, "", 0);
  reader->n_cells++;
}

/* ---- a row of units ---- */

typedef struct units_row {
  size_t n, known, numbers;
  int assign; /* 1: take them over */
} units_row;

/* "[bar]", "(bar)", "\"bar\"", "bar": the unit without what is around it, into out. */
static void bare_unit(const char *text, size_t length, char *out, size_t n)
{
  char *t = (char *)(uintptr_t)text;
  for (;;) {
    bramah__log_trim(&t, &length);
    if (length < 2 || !strchr("[(\"", *t) || !strchr("])\"", t[length - 1])) break;
    t++;
    length -= 2;
  }
  if (length >= n) length = n - 1;
  memcpy(out, t, length);
  out[length] = '\0';
}

static void look_at_unit(bramah_log_reader *reader, const char *text, size_t length, units_row *row)
{
  char unit[64];
  double factor;
  bramah_dimension dimension;
  bramah_diag ignored;
  bare_unit(text, length, unit, sizeof unit);
  row->numbers += (size_t)bramah__log_is_number(reader, unit);
  row->known += *unit && bramah_unit_parse(unit, &factor, &dimension, &ignored) == BRAMAH_OK;
  if (is_no_unit(unit) || row->n >= reader->n_columns || !row->assign) return;
  bramah__log_column *column = &reader->columns[row->n];
  char *copy = strdup(unit);
  if (!copy) return;
  free(column->unit);
  column->unit = copy;
  read_unit(column);
}

/* Cells of one line, in which quotes hold no delimiters. */
static units_row walk_units(bramah_log_reader *reader, int assign)
{
  units_row row = {.assign = assign};
  const char *at = reader->text, *end = at + reader->length;
  const char delimiter = reader->format.delimiter;
  for (;;) {
    while (delimiter == ' ' && at < end && bramah__log_is_blank(*at)) at++;
    if (delimiter == ' ' && at == end) return row;
    const char *next = at;
    while (next < end && (delimiter == ' ' ? !bramah__log_is_blank(*next) : *next != delimiter)) next++;
    look_at_unit(reader, at, (size_t)(next - at), &row);
    row.n++;
    if (next == end) return row;
    at = next + (delimiter != ' ');
  }
}

/* The next line that is no comment is a row of units if it has one for some column and no number at all. It
 * is looked at only where the header has no units, since a live source may be slow to send it. */
static bramah_status find_units(bramah_log_reader *reader)
{
  const int stated = reader->format.units == BRAMAH_LOG_UNITS_ROW;
  bramah_status status;
  do status = bramah__log_next_line(reader);
  while (!status && reader->length && bramah__log_is_skipped(reader));
  if (status) return status;
  const units_row row = walk_units(reader, 0);
  const int fits = reader->length && row.n == reader->n_columns && row.numbers == 0 && row.known > 0;
  if (fits) {
    walk_units(reader, 1);
    reader->format.units = BRAMAH_LOG_UNITS_ROW;
    reader->header_line = reader->line;
    return BRAMAH_OK;
  }
  if (stated)
    return bramah__log_fail(reader, BRAMAH_E_UNIT, NULL, reader->line, 0,
                            "a row with a unit for each column is expected below the header");
  reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  bramah__log_return_line(reader);
  return BRAMAH_OK;
}

/* ---- the whole ---- */

static bramah_status skip_lines(bramah_log_reader *reader)
{
  bramah_status status = BRAMAH_OK;
  for (int i = 0; !status && i < reader->format.skip; i++) {
    status = bramah__log_next_line(reader);
    if (!status && !reader->length) break; /* the end of the file */
  }
  do
    if (!status) status = bramah__log_next_line(reader);
  while (!status && reader->length && bramah__log_is_skipped(reader));
  return status;
}

static bramah_status number_columns(bramah_log_reader *reader)
{
  int end = 0;
  bramah_status status = bramah__log_split_row(reader, on_numbered, &end);
  if (!status) status = reader->failure.status;
  if (!status && reader->row_line != reader->line)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line, 0,
                            "the first row is broken by a quote");
  if (!status) bramah__log_return_line(reader);
  return status;
}

bramah_status bramah__log_read_header(bramah_log_reader *reader)
{
  int end = 0;
  bramah_status status = bramah__log_begin(reader);
  if (!status) status = skip_lines(reader);
  if (!status && !reader->length)
    return bramah__log_fail(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file has no header line");
  if (!status && !reader->format.delimiter) status = find_delimiter(reader);
  if (status) return status;
  set_delimiter(reader);
  bramah__log_return_line(reader);
  if (reader->format.no_header) return number_columns(reader);
  status = bramah__log_split_row(reader, on_name, &end);
  if (!status) status = reader->failure.status;
  if (status) return status;
  reader->header_line = reader->row_line;
  return reader->format.units == BRAMAH_LOG_UNITS_HEADER ? BRAMAH_OK : find_units(reader);
}
