/* SPDX-License-Identifier: GPL-3.0-or-later */
/* CSV: a file cut into lines, so that every message knows its line; lines cut into cells, by libcsv where there are
 * quotes, and the numbers in them read; and the head of the log: what separates the cells, names and units of the
 * columns. What the file shows by itself is found; what the caller has stated is not questioned. */
#define _GNU_SOURCE /* strtod_l */
#include "lib/base/text.h"
#include "lib/logs/reader.h"

#include <csv.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Longest row in bytes. It bounds the memory, whatever the file holds: also when a quote is never closed. */
enum { LONGEST_ROW = 1 << 18, MOST_COLUMNS = 10000 };

typedef struct csv {
  bramah_log_reader *reader;
  struct csv_parser parser;
  char *buffer; /* [LONGEST_ROW + 2]: a missing line end, and a zero byte after it */
  size_t begin, end;
  uint64_t bytes; /* read from the file */
  int at_eof;

  char *text; /* the line read last, in buffer, its line end included */
  size_t length;
  int line, no_line_end;

  /* The row that is being put together. */
  size_t n_cells;
  size_t line_first_cell; /* cells that were complete when the current line began */
  int line_quoted;        /* the current line began inside quotes, in a cell that opened at ... */
  int open_line, open_position;
  int stray; /* something follows a carriage return */
} csv;

/* A cell: text [length], which may be changed in place; user is the csv. */
typedef void on_cell(void *text, size_t length, void *user);

static bramah_status fail(csv *c, int line, int position, const char *message)
{
  return bramah__log_fail(c->reader, BRAMAH_E_SYNTAX, NULL, line, position, "%s", message);
}

/* ---- lines ---- */

static bramah_status fill_buffer(csv *c)
{
  size_t n;
  c->end -= c->begin;
  memmove(c->buffer, c->buffer + c->begin, c->end);
  c->begin = 0;
  const bramah_status status = bramah__log_read(c->reader, c->buffer + c->end, LONGEST_ROW - c->end, &n);
  if (status) return status;
  c->end += n;
  c->bytes += n;
  c->at_eof = n == 0;
  return BRAMAH_OK;
}

static bramah_status take_line(csv *c, size_t length)
{
  c->text = c->buffer + c->begin;
  c->length = length;
  c->begin += length;
  if (length && c->line < INT_MAX) c->line++;
  return BRAMAH_OK;
}

/* Next line into text and length; length 0 at the end of the file. */
static bramah_status next_line(csv *c)
{
  for (size_t scanned = 0;;) {
    const char *start = c->buffer + c->begin;
    const size_t held = c->end - c->begin;
    const char *line_end = memchr(start + scanned, '\n', held - scanned);
    if (line_end) return take_line(c, (size_t)(line_end - start) + 1);
    if (c->at_eof && !held) return take_line(c, 0);
    if (c->at_eof) { /* what is left is completed by a line end */
      c->no_line_end = 1;
      c->buffer[c->end++] = '\n';
      return take_line(c, held + 1);
    }
    scanned = held;
    if (held >= LONGEST_ROW)
      return fail(c, c->line + 1, 0,
                  memchr(start, 0, held) ? "a zero byte: this is not a text file"
                                         : "the line is longer than 256 KiB: this is not a log");
    const bramah_status status = fill_buffer(c);
    if (status) return status;
  }
}

/* Give the line back: the next call delivers it again. */
static void return_line(csv *c)
{
  if (!c->length) return;
  c->begin -= c->length;
  if (c->line < INT_MAX) c->line--;
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* 1 if the text begins with one of the words of a list, which blanks separate; whole: if it is one, capital letters or
 * not. */
static int is_listed(const char *list, const char *text, size_t length, int whole)
{
  while (*list) {
    const size_t n = strcspn(list, " ");
    if (n && n <= length &&
        (whole ? n == length && strncasecmp(list, text, n) == 0 : memcmp(list, text, n) == 0))
      return 1;
    list += n;
    list += *list == ' ';
  }
  return 0;
}

/* Empty lines and comments: one of the marks is at their beginning. */
static int is_skipped(const csv *c)
{
  size_t i = 0;
  while (i < c->length && is_blank(c->text[i])) i++;
  if (i == c->length) return 1;
  if ((unsigned char)(c->text[i] - '0') < 10) return 0; /* the common case */
  return is_listed(c->reader->comment, c->text + i, c->length - i, 0);
}

/* The next line that is neither empty nor a comment; length 0 at the end of the file. */
static bramah_status next_full_line(csv *c)
{
  bramah_status status;
  do status = next_line(c);
  while (!status && c->length && is_skipped(c));
  return status;
}

/* ---- where a cell is: worked out only for a message, so that reading is not slowed down ---- */

/* Number of the character that begins at text[offset], counted from 1: UTF-8 continuation bytes do not count. */
static int character(const char *text, size_t offset)
{
  int position = 1;
  for (size_t i = 0; i < offset; i++) position += ((unsigned char)text[i] & 0xC0u) != 0x80u;
  return position;
}

static size_t skip_blanks(const char *text, size_t length, size_t i)
{
  while (i + 1 < length && is_blank(text[i])) i++;
  return i;
}

/* Offset of a cell of the current line, whose first one is number `at` and begins within quotes if `quoted`; its
 * leading blanks are not passed over. */
static size_t cell_offset(const csv *c, size_t cell, size_t at, int quoted)
{
  const char delimiter = c->reader->format.delimiter;
  size_t i = 0;
  if (delimiter == ' ') {
    i = skip_blanks(c->text, c->length, 0);
    for (at = 0; at < cell && i + 1 < c->length; at++) {
      while (i + 1 < c->length && !is_blank(c->text[i])) i++;
      i = skip_blanks(c->text, c->length, i);
    }
    return i;
  }
  for (; i < c->length && at < cell; i++) {
    if (c->text[i] == '"') quoted = !quoted;
    if (c->text[i] == delimiter && !quoted) at++;
  }
  return i;
}

/* Place of a cell that ends in the current line. */
static int cell_position(const csv *c, size_t cell, int *line)
{
  const char delimiter = c->reader->format.delimiter;
  const int in_quotes = c->line_quoted && cell == c->line_first_cell;
  *line = in_quotes ? c->open_line : c->line;
  if (in_quotes) return c->open_position;
  size_t i = cell_offset(c, cell, c->line_first_cell, c->line_quoted);
  while (i + 1 < c->length && c->text[i] != delimiter && is_blank(c->text[i])) i++;
  return character(c->text, i);
}

/* Cut blanks off both ends. */
static void trim(char **text, size_t *length)
{
  while (*length && is_blank(**text)) ++*text, --*length;
  while (*length && is_blank((*text)[*length - 1])) --*length;
}

/* ---- numbers ---- */

/* A number that ends at `end`, where a character may be put for the time being. */
static bramah_status read_number(const csv *c, char *text, char *end, double *value)
{
  const char point = c->reader->format.decimal ? c->reader->format.decimal : '.';
  if (bramah__read_number(text, end, point, value)) return BRAMAH_OK;
  const char behind = *end;
  char *mark = point == '.' ? NULL : memchr(text, point, (size_t)(end - text)), *stop;
  if (point != '.' && memchr(text, '.', (size_t)(end - text))) return BRAMAH_E_SYNTAX;
  *end = '\0';
  if (mark) *mark = '.';
  *value = strtod_l(text, &stop, c->reader->c_locale);
  if (mark) *mark = point;
  const int hexadecimal = strpbrk(text, "xX") != NULL; /* strtod reads such numbers, a log has none */
  *end = behind;
  if (stop != end || stop == text || hexadecimal) return BRAMAH_E_SYNTAX;
  return isfinite(*value) ? BRAMAH_OK : BRAMAH_E_NOT_FINITE;
}

/* 1 if the text is a number from its first to its last character. */
static int is_number(const csv *c, const char *text)
{
  char copy[64], *stop;
  const size_t n = strlen(text);
  if (n == 0 || n >= sizeof copy || !strpbrk(text, "0123456789")) return 0;
  memcpy(copy, text, n + 1);
  if (c->reader->format.delimiter != ',' && c->reader->format.decimal != '.')
    for (char *at = copy; *at; at++)
      if (*at == ',') *at = '.';
  strtod_l(copy, &stop, c->reader->c_locale);
  return *stop == '\0';
}

/* The first mark met in a number decides: from then on the other one is an error. Words have such marks too
 * ("n.a."). */
static void decide_decimal(csv *c, const char *text, size_t length)
{
  int digits = 0;
  for (size_t i = 0; i < length; i++) {
    if (!text[i] || !strchr("0123456789+-.,eE", text[i])) return;
    digits |= text[i] >= '0' && text[i] <= '9';
  }
  if (!digits) return;
  if (memchr(text, ',', length)) c->reader->format.decimal = ',';
  if (memchr(text, '.', length)) c->reader->format.decimal = '.';
}

/* Note the first bad cell of a row, with a copy for the message: cut, and with nothing in it that could disturb a terminal. */
static void take_bad(csv *c, bramah_status status, size_t cell, const char *text, size_t length)
{
  bramah__log_fault *f = &c->reader->fault;
  size_t used = 0;
  f->status = status;
  f->cell = cell;
  f->position = cell_position(c, cell, &f->line);
  for (size_t i = 0; i < length && used + 4 < sizeof f->quote; i++)
    f->quote[used++] = (unsigned char)text[i] < 0x20u || text[i] == 0x7f ? '?' : text[i];
  if (used < length) {
    while (used && ((unsigned char)text[used] & 0xC0u) == 0x80u)
      used--; /* not in the middle of a character */
    memcpy(f->quote + used, "...", 3);
    used += 3;
  }
  f->quote[used] = '\0';
  bramah__log_bad_cell(c->reader, cell, f->line);
}

/* A cell of the column of times, as ns or a counter. All have a zone, or none has. */
static bramah_status read_time(bramah_log_reader *reader, const char *text, const char *end, double *value)
{
  bramah__time_format *clock = &reader->clock;
  int zone = 0;
  if (!clock->iso) {
    const bramah_status status =
        bramah__time_decimal(text, end, reader->format.decimal ? reader->format.decimal : '.', clock->scale,
                             clock->whole, &reader->time);
    *value = (double)reader->time / (double)clock->scale;
    return status;
  }
  const bramah_status status = bramah__time_iso(text, end, &reader->time, &zone);
  *value = 1e-9 * (double)reader->time;
  if (status) return status;
  if (!clock->zone) clock->zone = zone ? 1 : 2;
  return clock->zone == (zone ? 1 : 2) ? BRAMAH_OK : BRAMAH_E_TIME;
}

/* A cell of a row of numbers. */
static void on_number(void *data, size_t length, void *user)
{
  csv *c = user;
  bramah_log_reader *reader = c->reader;
  char *text = data;
  double value;
  bramah_status status;
  const size_t cell = c->n_cells++;
  c->stray |= reader->row_done;
  if (cell >= reader->n_columns) return;
  reader->present[cell] = 0;
  reader->values[cell] = NAN;
  if (reader->columns[cell].ignored) return;
  trim(&text, &length);
  if (!length || (*reader->missing && is_listed(reader->missing, text, length, 1))) return;
  const int is_time = cell == reader->time_column;
  if (!reader->format.decimal && !(is_time && reader->clock.iso)) decide_decimal(c, text, length);
  reader->present[cell] = 1;
  if (is_time) {
    status = read_time(reader, text, text + length, &value);
  } else {
    status = read_number(c, text, text + length, &value);
    value *= reader->units[cell].factor;
    if (!status && !isfinite(value)) status = BRAMAH_E_NOT_FINITE;
  }
  if (!status)
    reader->values[cell] = value;
  else if (!reader->fault.status)
    take_bad(c, status, cell, text, length);
}

/* ---- rows ---- */

/* Cells between any number of blanks, which libcsv does not know; a unit in brackets belongs to the word before it,
 * blanks inside it are kept. */
static bramah_status split_blanks(csv *c, on_cell *cell)
{
  char *at = c->text, *end = at + c->length;
  if (memchr(at, '"', c->length))
    return fail(c, c->line, 0, "quotes in a line whose cells are separated by blanks");
  while (end > at && (end[-1] == '\n' || end[-1] == '\r')) end--;
  if (memchr(at, '\r', (size_t)(end - at))) c->stray = 1;
  while (at < end) {
    while (at < end && is_blank(*at)) at++;
    char *begin = at;
    int inside = 0;
    for (char *next = at; next < end; at = next) {
      while (next < end && (inside || !is_blank(*next))) {
        inside = *next == '[' || (inside && *next != ']');
        next++;
      }
      at = next;
      while (next < end && is_blank(*next)) next++;
      if (next == end || *next != '[') break;
    }
    if (at > begin) cell(begin, (size_t)(at - begin), c);
  }
  c->reader->row_done = 1;
  return BRAMAH_OK;
}

/* 1 for a line without quotes and with a carriage return at most at its end: nearly every one. */
static int is_plain(const csv *c)
{
  const size_t n = c->length;
  const char *carriage_return = memchr(c->text, '\r', n);
  return !memchr(c->text, '"', n) && (!carriage_return || carriage_return == c->text + n - 2);
}

/* The cells of a plain line, as libcsv finds them in a tenth of the time; blanks around them are left. */
static void split_plain(csv *c, on_cell *cell)
{
  char *begin = c->text, *at = begin, *end = begin + c->length - 1;
  const char delimiter = c->reader->format.delimiter;
  for (; at < end; at++) {
    if (*at != delimiter) continue;
    cell(begin, (size_t)(at - begin), c);
    begin = at + 1;
  }
  cell(begin, (size_t)(at - begin), c);
  c->reader->row_done = 1;
}

/* libcsv: the end of a row. */
static void on_row(int mark, void *user)
{
  (void)mark;
  ((csv *)user)->reader->row_done = 1;
}

/* Hand on the cells of the lines up to the end of the next row. *end = 1 if there is none. */
static bramah_status split_row(csv *c, on_cell *cell, int *end)
{
  size_t bytes = 0;
  bramah_log_reader *reader = c->reader;
  c->n_cells = 0;
  reader->row_done = c->stray = c->line_quoted = 0;
  while (!reader->row_done) {
    bramah_status status = next_line(c);
    if (status) return status;
    *end = c->length == 0;
    bytes += c->length;
    if (c->line_quoted && (*end || bytes > LONGEST_ROW))
      return fail(c, c->open_line, c->open_position, "the quote is never closed");
    if (*end) return BRAMAH_OK;
    if (!c->line_quoted && is_skipped(c)) {
      bytes = 0;
      continue;
    }
    if (!c->line_quoted) reader->row_line = c->line;

    /* The cells of this line; row_done is set by the last one. */
    const char *zero = memchr(c->text, 0, c->length);
    if (zero)
      return fail(c, c->line, character(c->text, (size_t)(zero - c->text)),
                  "a zero byte: this is not a text file");
    c->line_first_cell = c->n_cells;
    if (reader->format.delimiter == ' ') {
      status = split_blanks(c, cell);
      if (status) return status;
      continue;
    }
    if (!c->line_quoted && is_plain(c)) {
      split_plain(c, cell);
      break;
    }
    const size_t parsed = csv_parse(&c->parser, c->text, c->length, cell, on_row, c);
    if (parsed < c->length && csv_error(&c->parser) != CSV_EPARSE) return bramah__log_fail_memory(reader);
    if (parsed < c->length)
      return fail(c, c->line, character(c->text, parsed), "a quote in the middle of a cell");
    if (reader->row_done) { /* a quote that opened behind a carriage return ends here too */
      csv_fini(&c->parser, cell, NULL, c);
      break;
    }
    c->open_position = cell_position(c, c->n_cells, &c->open_line); /* it ended inside quotes */
    c->line_quoted = 1;
  }
  return c->stray ? fail(c, c->line, 0, "a carriage return in the middle of the line") : BRAMAH_OK;
}

static bramah_status next_row(bramah_log_reader *reader, int *end)
{
  csv *c = reader->source;
  const bramah_status status = split_row(c, on_number, end);
  if (status || *end || c->n_cells == reader->n_columns) return status;
  if (c->n_cells < reader->n_columns && c->no_line_end)
    return bramah__log_fail(
        reader, BRAMAH_E_TRUNCATED, NULL, c->line, 0,
        "the file ends in the middle of line %d: delete the line, or 'log: {bad_rows: skip}' in the "
        "study leaves it out",
        c->line);
  return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->row_line, 0,
                          "%zu cell%s where the header has %zu", c->n_cells, c->n_cells == 1 ? "" : "s",
                          reader->n_columns);
}

static bramah_status peek(bramah_log_reader *reader, size_t column, const char **text, size_t *length)
{
  csv *c = reader->source;
  *text = NULL;
  const bramah_status status = next_full_line(c);
  if (status || !c->length) return status;
  const size_t begin = cell_offset(c, column, 0, 0), end = cell_offset(c, column + 1, 0, 0);
  char *at = c->text + begin;
  *length = end - begin;
  if (*length && at[*length - 1] == reader->format.delimiter) --*length;
  trim(&at, length);
  if (*length > 1 && at[0] == '"' && at[*length - 1] == '"') at++, *length -= 2;
  *text = at;
  return_line(c);
  return BRAMAH_OK;
}

/* ---- the head of the log ---- */

/* Marks of the header line outside quotes and brackets; without a header of the first row, where commas may be
 * decimal marks. */
static bramah_status find_delimiter(csv *c)
{
  size_t commas = 0, semicolons = 0, tabs = 0, words = 0;
  int quoted = 0, inside = 0, in_word = 0;
  bramah_log_format *format = &c->reader->format;
  for (size_t i = 0; i < c->length; i++) {
    const char mark = c->text[i];
    if (mark == '"') quoted = !quoted;
    if (!quoted && (mark == '[' || mark == ']')) inside = mark == '[';
    if (quoted || inside) continue;
    commas += mark == ',';
    semicolons += mark == ';';
    tabs += mark == '\t';
    words += !is_blank(mark) && !in_word && mark != ']';
    in_word = !is_blank(mark);
  }
  if (commas && semicolons && !format->no_header)
    return fail(c, c->line, 0, "both ',' and ';' are in the header: state the delimiter of the log");
  if (semicolons)
    format->delimiter = ';';
  else if (commas && !(tabs && format->no_header))
    format->delimiter = ',';
  else if (tabs)
    format->delimiter = '\t';
  else
    format->delimiter = words > 1 ? ' ' : ',';
  return BRAMAH_OK;
}

/* A cell of the header: name or name[unit]. The line itself must stay as it is, for places in messages. */
static void on_name(void *data, size_t length, void *user)
{
  csv *c = user;
  bramah_log_reader *reader = c->reader;
  char *text = data;
  int line;
  c->stray |= reader->row_done;
  trim(&text, &length);
  const int position = cell_position(c, c->n_cells++, &line);
  if (reader->failure.status || reader->row_done) return;
  char *copy = strndup(text, length), *cell = copy;
  if (!copy) {
    bramah__log_fail_memory(reader);
    return;
  }
  for (size_t i = 0; i < length; i++) /* a line end in a quoted name */
    if ((unsigned char)copy[i] < 0x20u) copy[i] = ' ';

  char *open = strchr(cell, '['), *close = strchr(cell, ']'), *unit = cell + length;
  size_t name_length = length, unit_length = 0;
  if (open ? close != cell + length - 1 : close != NULL) {
    bramah__log_fail(reader, BRAMAH_E_SYNTAX, cell, line, position, "expected name or name[unit]");
    free(copy);
    return;
  }
  if (open) {
    unit = open + 1;
    name_length = (size_t)(open - cell);
    unit_length = length - name_length - 2;
    reader->format.units = BRAMAH_LOG_UNITS_HEADER;
  }
  trim(&cell, &name_length);
  trim(&unit, &unit_length);
  cell[name_length] = unit[unit_length] = '\0';
  if (reader->n_columns == MOST_COLUMNS) /* each name is compared with all others */
    fail(c, line, position, "more than 10000 columns");
  else if (!*cell)
    fail(c, line, position, "a column of the header has no name");
  else if (is_number(c, cell))
    fail(c, line, position,
         "a number where the header should name a column; a log without header has "
         "'log: {header: none}' in its study");
  else if (bramah__log_index(reader, cell) != SIZE_MAX)
    bramah__log_fail(reader, BRAMAH_E_KEY, cell, line, position, "the header has this column twice");
  else
    bramah__log_add_column(reader, cell, unit, position);
  free(copy);
}

/* A cell of the first row of a log without header. */
static void on_numbered(void *data, size_t length, void *user)
{
  csv *c = user;
  char name[24];
  (void)data, (void)length;
  name[bramah__format_integer(name, (int64_t)c->reader->n_columns + 1)] = '\0';
  if (!c->reader->failure.status) bramah__log_add_column(c->reader, name, "", 0);
  c->n_cells++;
}

/* What a line looks like as a row of units: "[bar]", "(bar)", "\"bar\"", "bar". Quotes hold no delimiters. */
typedef struct units_row {
  size_t n, known, numbers;
} units_row;

static bramah_status walk_units(csv *c, int assign, units_row *row)
{
  char *at = c->text, *end = at + c->length;
  const char delimiter = c->reader->format.delimiter;
  *row = (units_row){0};
  for (;;) {
    char unit[64], *next, *text;
    double factor;
    bramah_dimension dimension;
    bramah_diag ignored;
    while (delimiter == ' ' && at < end && is_blank(*at)) at++;
    if (delimiter == ' ' && at == end) return BRAMAH_OK;
    for (next = at; next < end && (delimiter == ' ' ? !is_blank(*next) : *next != delimiter);) next++;
    size_t length = (size_t)(next - at);
    for (text = at;
         trim(&text, &length), length > 1 && strchr("[(\"", *text) && strchr("])\"", text[length - 1]);)
      text++, length -= 2;
    if (length >= sizeof unit) length = sizeof unit - 1;
    memcpy(unit, text, length);
    unit[length] = '\0';
    row->numbers += (size_t)is_number(c, unit);
    row->known += *unit && bramah_unit_parse(unit, &factor, &dimension, &ignored) == BRAMAH_OK;
    if (assign && row->n < c->reader->n_columns && !bramah__log_is_no_unit(unit)) {
      const bramah_status status = bramah__log_set_unit(c->reader, row->n, unit);
      if (status) return status;
    }
    row->n++;
    if (next == end) return BRAMAH_OK;
    at = next + (delimiter != ' ');
  }
}

/* The header line, or the first row, stays to come. A byte-order mark of UTF-8 is passed over; UTF-16 is refused. */
static bramah_status find_header(csv *c)
{
  bramah_log_format *format = &c->reader->format;
  bramah_status status = BRAMAH_OK;
  while (!status && !c->at_eof && c->end < 3) status = fill_buffer(c);
  if (!status && c->end >= 2 &&
      (memcmp(c->buffer, "\xFF\xFE", 2) == 0 || memcmp(c->buffer, "\xFE\xFF", 2) == 0))
    return fail(c, 1, 1, "the file is in UTF-16: a log is read in UTF-8 or ASCII, save it so");
  if (c->end >= 3 && memcmp(c->buffer, "\xEF\xBB\xBF", 3) == 0) c->begin = 3;
  for (int i = 0; !status && i < format->skip; i++) {
    status = next_line(c);
    if (!status && !c->length) break; /* the end of the file */
  }
  if (!status) status = next_full_line(c);
  if (status) return status;
  if (!c->length)
    return bramah__log_fail(c->reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file has no header line");
  static const char *const others[] = {"study: ", "machine: ", "plan: "};
  for (size_t i = 0; i < 3; i++)
    if (c->length > strlen(others[i]) && strncmp(c->text, others[i], strlen(others[i])) == 0)
      return fail(
          c, c->line, 1,
          "this is a study, machine or plan, no log: the study comes first, then the log (STUDY LOG)");
  if (!format->delimiter) status = find_delimiter(c);
  if (status) return status;
  csv_set_delim(&c->parser, (unsigned char)format->delimiter);
  /* Between commas a decimal comma is possible in quotes only, and would have to be stated. */
  if (format->delimiter == ',' && !format->decimal) format->decimal = '.';
  return_line(c);
  return BRAMAH_OK;
}

static bramah_status open_csv(bramah_log_reader *reader)
{
  bramah_log_format *format = &reader->format;
  int end = 0;
  csv *c = reader->source = calloc(1, sizeof *c);
  if (!c) return bramah__log_fail_memory(reader);
  c->reader = reader;
  csv_init(&c->parser, CSV_STRICT | CSV_APPEND_NULL);
  c->buffer = malloc(LONGEST_ROW + 2);
  bramah_status status = c->buffer ? find_header(c) : bramah__log_fail_memory(reader);
  if (!status) status = split_row(c, format->no_header ? on_numbered : on_name, &end);
  if (!status) status = reader->failure.status;
  if (status) return status;
  if (format->no_header) {
    if (reader->row_line != c->line) return fail(c, c->line, 0, "the first row is broken by a quote");
    return_line(c);
    return BRAMAH_OK;
  }
  reader->header_line = reader->row_line;
  if (format->units == BRAMAH_LOG_UNITS_HEADER) return BRAMAH_OK;

  /* The next line that is no comment is a row of units if it has one for some column and no number at all. It
   * is looked at only where the header has no units, since a live source may be slow to send it. */
  units_row row;
  status = next_full_line(c);
  if (!status) status = walk_units(c, 0, &row);
  if (status) return status;
  if (c->length && row.n == reader->n_columns && row.numbers == 0 && row.known > 0) {
    format->units = BRAMAH_LOG_UNITS_ROW;
    reader->header_line = c->line;
    return walk_units(c, 1, &row);
  }
  if (format->units == BRAMAH_LOG_UNITS_ROW)
    return bramah__log_fail(reader, BRAMAH_E_UNIT, NULL, c->line, 0,
                            "a row with a unit for each column is expected below the header");
  format->units = BRAMAH_LOG_UNITS_HEADER;
  reader->no_numbers = c->length && row.numbers == 0;
  return_line(c);
  return BRAMAH_OK;
}

static void close_csv(bramah_log_reader *reader)
{
  csv *c = reader->source;
  if (!c) return;
  csv_free(&c->parser);
  free(c->buffer);
  free(c);
}

static void describe(const bramah_log_reader *reader, bramah_log_info *info)
{
  const csv *c = reader->source;
  const uint64_t left = c->end - c->begin; /* the line end that we have added counts among them */
  info->bytes = c->bytes - (left && c->no_line_end ? left - 1 : left);
  info->is_cut = c->no_line_end;
}

const bramah__log_kind bramah__log_csv = {.names = "*.csv",
                                          .what = "CSV file",
                                          .record = "line",
                                          .from_pipe = 1,
                                          .sink = &bramah__csv_sink,
                                          .open = open_csv,
                                          .close = close_csv,
                                          .next = next_row,
                                          .describe = describe,
                                          .peek = peek,
                                          .no_rows = "the log has a header but no rows",
                                          .units_in_header = 1};
