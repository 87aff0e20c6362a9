/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading logs. The file is cut into lines here, so that every message knows its line, and each line is
 * pushed through libcsv, which knows quotes. Nothing is kept of a row but its numbers. */
#define _GNU_SOURCE /* strtod_l */
#include "bramah/log.h"
#include "bramah/units.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <csv.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest row in bytes. It bounds the memory, whatever the file holds: also when a quote is never closed. */
enum { LONGEST_ROW = 1 << 18 };

typedef struct log_column {
  char *unit;
  double factor; /* value in that unit times factor is the value in SI */
  bramah_dimension dimension;
  int position; /* in the header line */
} log_column;

/* The first bad cell of a row. It is reported only when the row is known to have the right number of cells.
 */
typedef struct fault {
  bramah_status status;
  size_t cell;
  int line, position;
  char quote[48];
} fault;

struct bramah_log_reader {
  struct csv_parser parser;
  locale_t c_locale;
  int fd;
  char *path;

  char *buffer; /* [LONGEST_ROW + 1]: one byte more for a missing line end */
  size_t begin, end;
  int at_eof;

  char *text; /* the line read last, in buffer, its line end included */
  size_t length;
  int line;
  int no_line_end;

  char **names;
  log_column *columns;
  size_t n_columns, room;
  int header_line;

  /* The row that is being put together. */
  double *values; /* of the caller */
  unsigned char *present;
  size_t n_cells;
  size_t line_first_cell; /* cells that were complete when the current line began */
  int line_quoted;        /* the current line began inside quotes, in a cell that opened at ... */
  int open_line, open_position;
  int row_line;   /* first line of the row */
  int given_line; /* of the row given last */
  int row_done;
  int row_stray; /* something follows a carriage return */
  fault fault;

  uint64_t n_rows;
  bramah_diag failure; /* sticky */
};

/* ---- errors ---- */

static const char *display_path(const bramah_log_reader *reader)
{
  return strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path;
}

static bramah_status fail_at(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                             int position, const char *message)
{
  bramah__fail(&reader->failure, status, thing, message);
  return bramah__at(&reader->failure, display_path(reader), line, position);
}

static bramah_status fail_memory(bramah_log_reader *reader)
{
  return fail_at(reader, BRAMAH_E_MEMORY, NULL, 0, 0, "out of memory");
}

static bramah_status fail_system(bramah_log_reader *reader, const char *what, int error)
{
  fail_at(reader, BRAMAH_E_FILE, NULL, 0, 0, what);
  bramah__add_text(&reader->failure, strerror_l(error, reader->c_locale));
  return BRAMAH_E_FILE;
}

/* ---- lines ---- */

static bramah_status fill_buffer(bramah_log_reader *reader)
{
  reader->end -= reader->begin;
  memmove(reader->buffer, reader->buffer + reader->begin, reader->end);
  reader->begin = 0;
  ssize_t n;
  do n = read(reader->fd, reader->buffer + reader->end, LONGEST_ROW - reader->end);
  while (n < 0 && errno == EINTR);
  if (n < 0) return fail_system(reader, "cannot read: ", errno);
  reader->end += (size_t)n;
  reader->at_eof = n == 0;
  return BRAMAH_OK;
}

static bramah_status take_line(bramah_log_reader *reader, size_t length)
{
  reader->text = reader->buffer + reader->begin;
  reader->length = length;
  reader->begin += length;
  if (length && reader->line < INT_MAX) reader->line++;
  return BRAMAH_OK;
}

/* The rest of the file after the last line end, completed by a line end; length 0 if there is none. */
static bramah_status take_last_line(bramah_log_reader *reader)
{
  size_t rest = reader->end - reader->begin;
  if (rest == 0) return take_line(reader, 0);
  reader->no_line_end = 1;
  reader->buffer[reader->end++] = '\n';
  return take_line(reader, rest + 1);
}

/* Next line into text and length; length 0 at the end of the file. */
static bramah_status next_line(bramah_log_reader *reader)
{
  size_t scanned = 0;
  for (;;) {
    const char *start = reader->buffer + reader->begin;
    size_t held = reader->end - reader->begin;
    const char *line_end = memchr(start + scanned, '\n', held - scanned);
    if (line_end) return take_line(reader, (size_t)(line_end - start) + 1);
    if (reader->at_eof) return take_last_line(reader);
    scanned = held;
    if (held >= LONGEST_ROW)
      return fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->line + 1, 0,
                     memchr(start, 0, held) ? "a zero byte: this is not a text file"
                                            : "the line is longer than 256 KiB: this is not a log");
    bramah_status status = fill_buffer(reader);
    if (status) return status;
  }
}

static int is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* Empty lines and comments. */
static int is_skipped(const bramah_log_reader *reader)
{
  size_t i = 0;
  while (i < reader->length && is_blank(reader->text[i])) i++;
  return i == reader->length || reader->text[i] == '#';
}

/* ---- where a cell stands: worked out only for a message, so that reading is not slowed down ---- */

/* Number of the character that begins at text[offset], counted from 1; UTF-8 continuation bytes do not count.
 */
static int character_position(const char *text, size_t offset)
{
  int position = 1;
  for (size_t i = 0; i < offset; i++) position += ((unsigned char)text[i] & 0xC0u) != 0x80u;
  return position;
}

/* Place of a cell that ends in the current line. */
static int cell_position(const bramah_log_reader *reader, size_t cell, int *line)
{
  size_t at = reader->line_first_cell, i = 0;
  int quoted = reader->line_quoted;
  *line = quoted && cell == at ? reader->open_line : reader->line;
  if (quoted && cell == at) return reader->open_position;
  for (; i < reader->length && at < cell; i++) {
    if (reader->text[i] == '"') quoted = !quoted;
    if (reader->text[i] == ',' && !quoted) at++;
  }
  while (i + 1 < reader->length && is_blank(reader->text[i])) i++;
  return character_position(reader->text, i);
}

/* ---- cells ---- */

/* Copy a cell for a message: cut, and with nothing in it that could disturb a terminal. */
static void quote_cell(char *out, size_t n, const char *text, size_t length)
{
  size_t used = 0;
  for (size_t i = 0; i < length && used + 4 < n; i++)
    out[used++] = (unsigned char)text[i] < 0x20u || text[i] == 0x7f ? '?' : text[i];
  if (used < length) {
    while (used && ((unsigned char)text[used] & 0xC0u) == 0x80u)
      used--; /* not in the middle of a character */
    memcpy(out + used, "...", 3);
    used += 3;
  }
  out[used] = '\0';
}

static void note_fault(bramah_log_reader *reader, bramah_status status, size_t cell, const char *text,
                       size_t length)
{
  fault *f = &reader->fault;
  if (f->status) return;
  f->status = status;
  f->cell = cell;
  f->position = cell_position(reader, cell, &f->line);
  quote_cell(f->quote, sizeof f->quote, text, length);
}

/* 10^power for |power| <= 22: exact in a double. */
static double scale_exact(double value, int power)
{
  static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  return power < 0 ? value / ten[-power] : value * ten[power];
}

/* Digits from *text on, at most so many that *mantissa holds them exactly; returns how many. */
static int take_digits(const char **text, uint64_t *mantissa)
{
  const char *s = *text;
  while (*s >= '0' && *s <= '9' && *mantissa < UINT64_C(1000000000000000000))
    *mantissa = *mantissa * 10 + (uint64_t)(*s++ - '0');
  int n = (int)(s - *text);
  *text = s;
  return n;
}

/* Plain decimal numbers, bit for bit as strtod reads them but several times faster: if the digits fit 53 bits
 * and the power of ten is exact, one operation rounds once. Returns 0 for all other text: strtod shall look
 * at it. */
static int read_plain(const char *s, const char *end, double *value)
{
#if FLT_EVAL_METHOD == 0
  uint64_t mantissa = 0;
  int negative = *s == '-', power = 0;
  if (*s == '-' || *s == '+') s++;
  int n = take_digits(&s, &mantissa);
  if (*s == '.') {
    s++;
    power = -take_digits(&s, &mantissa);
  }
  if (n - power == 0) return 0;
  if (*s == 'e' || *s == 'E') {
    uint64_t exponent = 0;
    int down = *++s == '-';
    if (*s == '-' || *s == '+') s++;
    if (take_digits(&s, &exponent) == 0 || exponent > 99) return 0;
    power += down ? -(int)exponent : (int)exponent;
  }
  if (s != end || mantissa > UINT64_C(1) << 53 || power < -22 || power > 22) return 0;
  double magnitude = scale_exact((double)mantissa, power);
  *value = negative ? -magnitude : magnitude;
  return 1;
#else
  (void)s, (void)end, (void)value;
  return 0;
#endif
}

/* A number that ends at `end`, where a zero byte stands. */
static bramah_status read_number(const bramah_log_reader *reader, const char *text, char *end, double *value)
{
  if (read_plain(text, end, value)) return BRAMAH_OK;
  char *stop;
  *value = strtod_l(text, &stop, reader->c_locale);
  if (stop != end || stop == text) return BRAMAH_E_SYNTAX;
  if (strpbrk(text, "xX")) return BRAMAH_E_SYNTAX; /* strtod reads hexadecimal numbers, a log has none */
  return isfinite(*value) ? BRAMAH_OK : BRAMAH_E_NOT_FINITE;
}

static void trim(char **text, size_t *length)
{
  while (*length && is_blank(**text)) ++*text, --*length;
  while (*length && is_blank((*text)[*length - 1])) --*length;
}

/* libcsv: a cell of a row of numbers. */
static void on_number(void *data, size_t length, void *user)
{
  bramah_log_reader *reader = user;
  char *text = data;
  size_t cell = reader->n_cells++;
  reader->row_stray |= reader->row_done;
  if (cell >= reader->n_columns) return;
  trim(&text, &length); /* quoted cells keep their blanks */
  reader->present[cell] = length > 0;
  reader->values[cell] = NAN;
  if (!length) return;
  text[length] = '\0';
  double value;
  bramah_status status = read_number(reader, text, text + length, &value);
  value *= reader->columns[cell].factor;
  if (!status && !isfinite(value)) status = BRAMAH_E_NOT_FINITE;
  if (status)
    note_fault(reader, status, cell, text, length);
  else
    reader->values[cell] = value;
}

/* libcsv: the end of a row. */
static void on_row(int character, void *user)
{
  (void)character;
  ((bramah_log_reader *)user)->row_done = 1;
}

/* ---- rows ---- */

static bramah_status fail_parser(bramah_log_reader *reader, size_t parsed)
{
  if (csv_error(&reader->parser) != CSV_EPARSE) return fail_memory(reader);
  return fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->line, character_position(reader->text, parsed),
                 "a quote in the middle of a cell");
}

static bramah_status fail_open_quote(bramah_log_reader *reader)
{
  return fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->open_line, reader->open_position,
                 "the quote is never closed");
}

/* Push the current line through the parser. */
static bramah_status parse_line(bramah_log_reader *reader, void (*on_cell)(void *, size_t, void *))
{
  const char *zero = memchr(reader->text, 0, reader->length);
  if (zero)
    return fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->line,
                   character_position(reader->text, (size_t)(zero - reader->text)),
                   "a zero byte: this is not a text file");
  reader->line_first_cell = reader->n_cells;
  size_t parsed = csv_parse(&reader->parser, reader->text, reader->length, on_cell, on_row, reader);
  if (parsed < reader->length) return fail_parser(reader, parsed);
  if (reader->row_done) return BRAMAH_OK;
  /* A line that does not end a row ended inside quotes. */
  reader->open_position = cell_position(reader, reader->n_cells, &reader->open_line);
  reader->line_quoted = 1;
  return BRAMAH_OK;
}

/* Push the lines of the next row through the parser. *end = 1 if there is none. */
static bramah_status parse_row(bramah_log_reader *reader, void (*on_cell)(void *, size_t, void *), int *end)
{
  size_t bytes = 0;
  reader->n_cells = 0;
  reader->row_done = reader->row_stray = reader->line_quoted = 0;
  reader->fault.status = BRAMAH_OK;
  while (!reader->row_done) {
    bramah_status status = next_line(reader);
    if (status) return status;
    *end = reader->length == 0;
    bytes += reader->length;
    if (reader->line_quoted && (*end || bytes > LONGEST_ROW)) return fail_open_quote(reader);
    if (*end) return BRAMAH_OK;
    if (!reader->line_quoted && is_skipped(reader)) {
      bytes = 0;
      continue;
    }
    if (!reader->line_quoted) reader->row_line = reader->line;
    status = parse_line(reader, on_cell);
    if (status) return status;
  }
  if (reader->row_stray)
    return fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->line, 0,
                   "a carriage return in the middle of the line");
  return BRAMAH_OK;
}

static bramah_status fail_cell_count(bramah_log_reader *reader)
{
  bramah_diag *diag = &reader->failure;
  if (reader->n_cells < reader->n_columns && reader->no_line_end) {
    fail_at(reader, BRAMAH_E_TRUNCATED, NULL, reader->line, 0, "the file ends in the middle of line ");
    bramah__add_number(diag, reader->line, 12);
    return BRAMAH_E_TRUNCATED;
  }
  fail_at(reader, BRAMAH_E_SYNTAX, NULL, reader->row_line, 0, "");
  bramah__add_number(diag, (double)reader->n_cells, 12);
  bramah__add_text(diag,
                   reader->n_cells == 1 ? " cell where the header has " : " cells where the header has ");
  bramah__add_number(diag, (double)reader->n_columns, 12);
  return BRAMAH_E_SYNTAX;
}

static bramah_status fail_cell(bramah_log_reader *reader)
{
  const fault *f = &reader->fault;
  fail_at(reader, f->status, reader->names[f->cell], f->line, f->position, "'");
  bramah__add_text(&reader->failure, f->quote);
  bramah__add_text(&reader->failure,
                   f->status == BRAMAH_E_SYNTAX ? "' is not a number" : "' is not a finite number");
  return f->status;
}

bramah_status bramah_log_next(bramah_log_reader *reader, double *values, unsigned char *present, int *end,
                              bramah_diag *diag)
{
  bramah_status status = reader->failure.status;
  *end = 0;
  if (!status) {
    reader->values = values;
    reader->present = present;
    status = parse_row(reader, on_number, end);
    if (!status && *end && !reader->n_rows)
      status = fail_at(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the log has a header but no rows");
    if (!status && !*end && reader->n_cells != reader->n_columns) status = fail_cell_count(reader);
    if (!status && !*end && reader->fault.status) status = fail_cell(reader);
    if (!status && !*end) {
      reader->n_rows++;
      reader->given_line = reader->row_line;
    }
  }
  if (status) *end = 0;
  if (status && diag) *diag = reader->failure;
  return status;
}

/* ---- header ---- */

static int grow_columns(bramah_log_reader *reader)
{
  if (reader->n_columns < reader->room) return 1;
  size_t room = reader->room ? 2 * reader->room : 16;
  char **names = realloc(reader->names, room * sizeof *names);
  if (names) reader->names = names;
  log_column *columns = realloc(reader->columns, room * sizeof *columns);
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

static int looks_like_number(const bramah_log_reader *reader, const char *name)
{
  char *stop;
  strtod_l(name, &stop, reader->c_locale);
  return *stop == '\0' && strpbrk(name, "0123456789");
}

static bramah_status check_name(bramah_log_reader *reader, const char *name, int line, int position)
{
  if (!*name)
    return fail_at(reader, BRAMAH_E_SYNTAX, NULL, line, position, "a column of the header has no name");
  if (looks_like_number(reader, name))
    return fail_at(reader, BRAMAH_E_SYNTAX, NULL, line, position,
                   "a number where the header should name a column");
  for (size_t i = 0; i < reader->n_columns; i++)
    if (strcmp(reader->names[i], name) == 0)
      return fail_at(reader, BRAMAH_E_KEY, name, line, position, "the header has this column twice");
  return BRAMAH_OK;
}

static bramah_status read_unit(bramah_log_reader *reader, const char *name, char *unit, log_column *out)
{
  size_t length = unit ? strlen(unit) : 0;
  int line = reader->line;
  memset(&out->dimension, 0, sizeof out->dimension);
  out->factor = 1.0;
  if (unit) {
    trim(&unit, &length);
    unit[length] = '\0';
    bramah_diag diag = {0};
    bramah_status status = bramah_unit_parse(unit, &out->factor, &out->dimension, &diag);
    if (status) return fail_at(reader, status, name, line, out->position, diag.message);
  }
  out->unit = strndup(unit ? unit : "", length);
  return out->unit ? BRAMAH_OK : fail_memory(reader);
}

static bramah_status add_column(bramah_log_reader *reader, char *cell, size_t length)
{
  int line;
  char *unit;
  log_column c = {0};
  c.position = cell_position(reader, reader->n_cells, &line);
  if (strchr(cell, ';'))
    return fail_at(reader, BRAMAH_E_SYNTAX, NULL, line, c.position,
                   "columns are separated by ';' where a log has commas (and decimal points)");
  if (!split_unit(cell, length, &unit))
    return fail_at(reader, BRAMAH_E_SYNTAX, cell, line, c.position, "expected name or name[unit]");
  size_t name_length = strlen(cell);
  trim(&cell, &name_length);
  cell[name_length] = '\0';
  bramah_status status = check_name(reader, cell, line, c.position);
  if (!status) status = read_unit(reader, cell, unit, &c);
  if (status) return status;
  char *name = strdup(cell);
  if (!name || !grow_columns(reader)) {
    free(name);
    free(c.unit);
    return fail_memory(reader);
  }
  reader->names[reader->n_columns] = name;
  reader->columns[reader->n_columns++] = c;
  return BRAMAH_OK;
}

/* libcsv: a cell of the header. */
static void on_name(void *data, size_t length, void *user)
{
  bramah_log_reader *reader = user;
  char *text = data;
  reader->row_stray |= reader->row_done;
  for (size_t i = 0; i < length; i++) /* a line end in a quoted name */
    if ((unsigned char)text[i] < 0x20u) text[i] = ' ';
  trim(&text, &length);
  text[length] = '\0';
  if (!reader->failure.status && !reader->row_done) add_column(reader, text, length);
  reader->n_cells++;
}

static bramah_status skip_byte_order_mark(bramah_log_reader *reader)
{
  bramah_status status = BRAMAH_OK;
  while (!status && !reader->at_eof && reader->end < 3) status = fill_buffer(reader);
  if (reader->end >= 3 && memcmp(reader->buffer, "\xEF\xBB\xBF", 3) == 0) reader->begin = 3;
  return status;
}

static bramah_status read_header(bramah_log_reader *reader)
{
  int end = 0;
  bramah_status status = skip_byte_order_mark(reader);
  if (!status) status = parse_row(reader, on_name, &end);
  if (!status) status = reader->failure.status;
  if (status) return status;
  if (end) return fail_at(reader, BRAMAH_E_EMPTY, NULL, 0, 0, "the file has no header line");
  reader->header_line = reader->row_line;
  return BRAMAH_OK;
}

/* ---- opening and closing ---- */

static bramah_status open_file(bramah_log_reader *reader)
{
  reader->fd = strcmp(reader->path, "-") == 0 ? STDIN_FILENO : open(reader->path, O_RDONLY | O_CLOEXEC);
  return reader->fd < 0 ? fail_system(reader, "cannot open: ", errno) : BRAMAH_OK;
}

static bramah_log_reader *new_reader(const char *path)
{
  bramah_log_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->fd = -1;
  csv_init(&reader->parser, CSV_STRICT | CSV_APPEND_NULL);
  reader->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  reader->path = strdup(path);
  reader->buffer = malloc(LONGEST_ROW + 1);
  if (reader->c_locale && reader->path && reader->buffer) return reader;
  bramah_log_close(reader);
  return NULL;
}

bramah_status bramah_log_open(const char *path, bramah_diag *diag, bramah_log_reader **out)
{
  bramah_log_reader *reader = new_reader(path);
  if (!reader) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  bramah_status status = open_file(reader);
  if (!status) status = read_header(reader);
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
  csv_free(&reader->parser);
  if (reader->c_locale) freelocale(reader->c_locale);
  if (reader->fd > STDIN_FILENO) close(reader->fd);
  free(reader->path);
  free(reader->buffer);
  free(reader);
}

/* ---- columns ---- */

size_t bramah_log_n_columns(const bramah_log_reader *reader) { return reader->n_columns; }

const char *bramah_log_column_name(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->names[column] : NULL;
}

const char *bramah_log_column_unit(const bramah_log_reader *reader, size_t column)
{
  return column < reader->n_columns ? reader->columns[column].unit : NULL;
}

int bramah_log_line(const bramah_log_reader *reader) { return reader->given_line; }
const char *bramah_log_path(const bramah_log_reader *reader) { return reader->path; }

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

static bramah_status fail_no_column(const bramah_log_reader *reader, const char *name, bramah_diag *diag)
{
  const char *near = bramah__nearest(name, reader->n_columns, (const char *const *)reader->names);
  bramah__fail(diag, BRAMAH_E_COLUMN, name, "the log has no column '");
  bramah__at(diag, display_path(reader), reader->header_line, 0);
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

static int same_dimension(bramah_dimension a, bramah_dimension b)
{
  return a.m == b.m && a.kg == b.kg && a.s == b.s && a.volt == b.volt && a.rad == b.rad;
}

static bramah_status fail_unit(const bramah_log_reader *reader, size_t i, const char *expected,
                               bramah_diag *diag)
{
  const log_column *c = &reader->columns[i];
  bramah__fail(diag, BRAMAH_E_UNIT, reader->names[i],
               c->unit[0] ? "the column is in " : "the column has no unit");
  bramah__at(diag, display_path(reader), reader->header_line, c->position);
  bramah__add_text(diag, c->unit);
  if (strcmp(expected, "1") == 0) {
    bramah__add_text(diag, " where a number without unit is expected");
    return BRAMAH_E_UNIT;
  }
  bramah__add_text(diag, "; expected a unit like ");
  bramah__add_text(diag, expected);
  bramah__add_text(diag, ", written ");
  bramah__add_text(diag, reader->names[i]);
  bramah__add_text(diag, "[");
  bramah__add_text(diag, expected);
  bramah__add_text(diag, "]");
  return BRAMAH_E_UNIT;
}

static bramah_status check_unit(const bramah_log_reader *reader, size_t i, const char *expected,
                                bramah_diag *diag)
{
  const log_column *c = &reader->columns[i];
  bramah_dimension dimension = {0};
  double factor;
  if (strcmp(expected, "1") != 0) {
    bramah_status status = bramah_unit_parse(expected, &factor, &dimension, diag);
    if (status) return status;
    if (!c->unit[0]) return fail_unit(reader, i, expected, diag);
  }
  return same_dimension(c->dimension, dimension) ? BRAMAH_OK : fail_unit(reader, i, expected, diag);
}

bramah_status bramah_log_find(const bramah_log_reader *reader, const char *name, const char *expected,
                              size_t *column, bramah_diag *diag)
{
  for (size_t i = 0; i < reader->n_columns; i++) {
    if (strcmp(reader->names[i], name) != 0) continue;
    bramah_status status = check_unit(reader, i, expected, diag);
    if (!status) *column = i;
    return status;
  }
  return fail_no_column(reader, name, diag);
}
