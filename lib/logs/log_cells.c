/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting lines into cells, by libcsv, and reading the numbers in them. */
#define _GNU_SOURCE /* strtod_l */
#include "lib/base/diag.h"
#include "lib/logs/log_internal.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- where a cell stands: worked out only for a message, so that reading is not slowed down ---- */

/* UTF-8 continuation bytes do not count. */
int bramah__log_character(const char *text, size_t offset)
{
  int position = 1;
  for (size_t i = 0; i < offset; i++) position += ((unsigned char)text[i] & 0xC0u) != 0x80u;
  return position;
}

static size_t skip_blanks(const char *text, size_t length, size_t i)
{
  while (i + 1 < length && bramah__log_is_blank(text[i])) i++;
  return i;
}

/* Offset of a cell between blanks. */
static size_t word_offset(const char *text, size_t length, size_t cell)
{
  size_t i = skip_blanks(text, length, 0);
  for (size_t at = 0; at < cell && i + 1 < length; at++) {
    while (i + 1 < length && !bramah__log_is_blank(text[i])) i++;
    i = skip_blanks(text, length, i);
  }
  return i;
}

/* Offset of a cell of the current line, which begins within quotes if `quoted`; its leading blanks are not
 * passed over. */
static size_t cell_offset(const bramah_log_reader *reader, size_t cell, size_t at, int quoted)
{
  const char delimiter = reader->format.delimiter;
  size_t i = 0;
  if (delimiter == ' ') return word_offset(reader->text, reader->length, cell);
  for (; i < reader->length && at < cell; i++) {
    if (reader->text[i] == '"') quoted = !quoted;
    if (reader->text[i] == delimiter && !quoted) at++;
  }
  return i;
}

int bramah__log_cell_position(const bramah_log_reader *reader, size_t cell, int *line)
{
  const char delimiter = reader->format.delimiter;
  const int in_quotes = reader->line_quoted && cell == reader->line_first_cell;
  *line = in_quotes ? reader->open_line : reader->line;
  if (in_quotes) return reader->open_position;
  size_t i = cell_offset(reader, cell, reader->line_first_cell, reader->line_quoted);
  while (i + 1 < reader->length && reader->text[i] != delimiter && bramah__log_is_blank(reader->text[i])) i++;
  return bramah__log_character(reader->text, i);
}

const char *bramah__log_cell_text(const bramah_log_reader *reader, size_t cell, size_t *length)
{
  const size_t begin = cell_offset(reader, cell, 0, 0), end = cell_offset(reader, cell + 1, 0, 0);
  char *text = reader->text + begin;
  *length = end - begin;
  if (*length && text[*length - 1] == reader->format.delimiter) --*length;
  bramah__log_trim(&text, length);
  return text;
}

/* ---- numbers ---- */

void bramah__log_trim(char **text, size_t *length)
{
  while (*length && bramah__log_is_blank(**text)) ++*text, --*length;
  while (*length && bramah__log_is_blank((*text)[*length - 1])) --*length;
}

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
  bramah__log_fault *f = &reader->fault;
  if (f->status) return;
  f->status = status;
  f->cell = cell;
  f->position = bramah__log_cell_position(reader, cell, &f->line);
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
 * at it. What stands at `end` must not continue a number. */
static int read_plain(const char *s, const char *end, char point, double *value)
{
#if FLT_EVAL_METHOD == 0
  uint64_t mantissa = 0;
  int negative = *s == '-', power = 0;
  if (*s == '-' || *s == '+') s++;
  int n = take_digits(&s, &mantissa);
  if (*s == point && s < end) {
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
  (void)s, (void)end, (void)point, (void)value;
  return 0;
#endif
}

/* A number that ends at `end`, where a character may be put for the time being. */
static bramah_status read_number(const bramah_log_reader *reader, char *text, char *end, double *value)
{
  const char point = reader->format.decimal ? reader->format.decimal : '.';
  if (read_plain(text, end, point, value)) return BRAMAH_OK;
  const char behind = *end;
  char *mark = point == '.' ? NULL : memchr(text, point, (size_t)(end - text)), *stop;
  if (point != '.' && memchr(text, '.', (size_t)(end - text))) return BRAMAH_E_SYNTAX;
  *end = '\0';
  if (mark) *mark = '.';
  *value = strtod_l(text, &stop, reader->c_locale);
  if (mark) *mark = point;
  const int hexadecimal = strpbrk(text, "xX") != NULL; /* strtod reads such numbers, a log has none */
  *end = behind;
  if (stop != end || stop == text || hexadecimal) return BRAMAH_E_SYNTAX;
  return isfinite(*value) ? BRAMAH_OK : BRAMAH_E_NOT_FINITE;
}

int bramah__log_is_number(const bramah_log_reader *reader, const char *text)
{
  char copy[64], *stop;
  const size_t n = strlen(text);
  if (n == 0 || n >= sizeof copy || !strpbrk(text, "0123456789")) return 0;
  memcpy(copy, text, n + 1);
  if (reader->format.delimiter != ',' && reader->format.decimal != '.')
    for (char *c = copy; *c; c++)
      if (*c == ',') *c = '.';
  strtod_l(copy, &stop, reader->c_locale);
  return *stop == '\0';
}

/* The first mark met in a number decides: from then on the other one is an error. Words have such marks too
 * ("n.a."). */
static void decide_decimal(bramah_log_reader *reader, const char *text, size_t length)
{
  int digits = 0;
  for (size_t i = 0; i < length; i++) {
    if (!text[i] || !strchr("0123456789+-.,eE", text[i])) return;
    digits |= text[i] >= '0' && text[i] <= '9';
  }
  if (!digits) return;
  if (memchr(text, ',', length)) reader->format.decimal = ',';
  if (memchr(text, '.', length)) reader->format.decimal = '.';
}

/* One of the texts that stand for no sample. */
static int is_missing(const bramah_log_reader *reader, const char *text, size_t length)
{
  for (const char *m = reader->missing; *m;) {
    const size_t n = strcspn(m, " ");
    if (n == length && strncasecmp(m, text, n) == 0) return 1;
    m += n;
    m += *m == ' ';
  }
  return 0;
}

static bramah_status read_time(bramah_log_reader *reader, const char *text, const char *end)
{
  bramah__log_clock *clock = &reader->clock;
  if (!clock->iso)
    return bramah__time_decimal(text, end, reader->format.decimal ? reader->format.decimal : '.',
                                clock->scale, clock->whole, &reader->time);
  int zone;
  const bramah_status status = bramah__time_iso(text, end, &reader->time, &zone);
  if (!status && !clock->zone) clock->zone = zone ? 1 : 2;
  return status || clock->zone == (zone ? 1 : 2) ? status : BRAMAH_E_TIME;
}

static bramah_status read_cell(bramah_log_reader *reader, size_t cell, char *text, char *end, double *value)
{
  if (cell == reader->time_column) {
    const bramah_status status = read_time(reader, text, end);
    *value =
        reader->clock.iso ? 1e-9 * (double)reader->time : (double)reader->time / (double)reader->clock.scale;
    return status;
  }
  bramah_status status = read_number(reader, text, end, value);
  *value *= reader->columns[cell].factor;
  if (!status && !isfinite(*value)) status = BRAMAH_E_NOT_FINITE;
  return status;
}

/* A bad cell: the row's fault, or no sample, counted. */
static void take_bad(bramah_log_reader *reader, bramah_status status, size_t cell, const char *text,
                     size_t length)
{
  bramah__log_column *column = &reader->columns[cell];
  note_fault(reader, status, cell, text, length);
  if (!reader->format.skip_bad_cells) return;
  if (!column->bad++) column->first_bad = reader->fault.line;
  reader->present[cell] = 0;
  reader->fault.status = BRAMAH_OK;
}

void bramah__log_on_number(void *data, size_t length, void *user)
{
  bramah_log_reader *reader = user;
  char *text = data;
  size_t cell = reader->n_cells++;
  reader->row_stray |= reader->row_done;
  if (cell >= reader->n_columns) return;
  reader->present[cell] = 0;
  reader->values[cell] = NAN;
  if (reader->columns[cell].ignored) return;
  bramah__log_trim(&text, &length); /* quoted cells keep their blanks */
  if (!length || (*reader->missing && is_missing(reader, text, length))) return;
  if (!reader->format.decimal && !(cell == reader->time_column && reader->clock.iso))
    decide_decimal(reader, text, length);
  reader->present[cell] = 1;
  double value;
  const bramah_status status = read_cell(reader, cell, text, text + length, &value);
  if (status)
    take_bad(reader, status, cell, text, length);
  else
    reader->values[cell] = value;
}

/* ---- lines with blanks between the cells, any number of them: libcsv knows no such thing ---- */

/* Between blanks; a unit in brackets belongs to the word before it, blanks inside it are kept. */
static void split_words(bramah_log_reader *reader, char *at, char *end, bramah__log_on_cell *on_cell)
{
  while (at < end) {
    while (at < end && bramah__log_is_blank(*at)) at++;
    char *begin = at;
    int inside = 0;
    for (char *next = at; next < end; at = next) {
      while (next < end && (inside || !bramah__log_is_blank(*next))) {
        inside = *next == '[' || (inside && *next != ']');
        next++;
      }
      at = next;
      while (next < end && bramah__log_is_blank(*next)) next++;
      if (next == end || *next != '[') break;
    }
    if (at > begin) on_cell(begin, (size_t)(at - begin), reader);
  }
}

static bramah_status split_blanks(bramah_log_reader *reader, bramah__log_on_cell *on_cell)
{
  char *at = reader->text, *end = at + reader->length;
  if (memchr(at, '"', reader->length))
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line, 0,
                            "quotes in a line whose cells are separated by blanks");
  while (end > at && (end[-1] == '\n' || end[-1] == '\r')) end--;
  if (memchr(at, '\r', (size_t)(end - at))) reader->row_stray = 1;
  split_words(reader, at, end, on_cell);
  reader->row_done = 1;
  return BRAMAH_OK;
}

/* ---- lines with a character between the cells: libcsv ---- */

/* libcsv: the end of a row. */
static void on_row(int character, void *user)
{
  (void)character;
  ((bramah_log_reader *)user)->row_done = 1;
}

static bramah_status fail_parser(bramah_log_reader *reader, size_t parsed)
{
  if (csv_error(&reader->parser) != CSV_EPARSE) return bramah__log_fail_memory(reader);
  return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line,
                          bramah__log_character(reader->text, parsed), "a quote in the middle of a cell");
}

static bramah_status fail_open_quote(bramah_log_reader *reader)
{
  return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->open_line, reader->open_position,
                          "the quote is never closed");
}

static bramah_status split_marks(bramah_log_reader *reader, bramah__log_on_cell *on_cell)
{
  size_t parsed = csv_parse(&reader->parser, reader->text, reader->length, on_cell, on_row, reader);
  if (parsed < reader->length) return fail_parser(reader, parsed);
  if (reader->row_done) return BRAMAH_OK;
  /* A line that does not end a row ended inside quotes. */
  reader->open_position = bramah__log_cell_position(reader, reader->n_cells, &reader->open_line);
  reader->line_quoted = 1;
  return BRAMAH_OK;
}

/* ---- rows ---- */

bramah_status bramah__log_split_line(bramah_log_reader *reader, bramah__log_on_cell *on_cell)
{
  const char *zero = memchr(reader->text, 0, reader->length);
  if (zero)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line,
                            bramah__log_character(reader->text, (size_t)(zero - reader->text)),
                            "a zero byte: this is not a text file");
  reader->line_first_cell = reader->n_cells;
  return reader->format.delimiter == ' ' ? split_blanks(reader, on_cell) : split_marks(reader, on_cell);
}

bramah_status bramah__log_split_row(bramah_log_reader *reader, bramah__log_on_cell *on_cell, int *end)
{
  size_t bytes = 0;
  reader->n_cells = 0;
  reader->row_done = reader->row_stray = reader->line_quoted = 0;
  reader->fault.status = BRAMAH_OK;
  while (!reader->row_done) {
    bramah_status status = bramah__log_next_line(reader);
    if (status) return status;
    *end = reader->length == 0;
    bytes += reader->length;
    if (reader->line_quoted && (*end || bytes > BRAMAH__LONGEST_ROW)) return fail_open_quote(reader);
    if (*end) return BRAMAH_OK;
    if (!reader->line_quoted && bramah__log_is_skipped(reader)) {
      bytes = 0;
      continue;
    }
    if (!reader->line_quoted) reader->row_line = reader->line;
    status = bramah__log_split_line(reader, on_cell);
    if (status) return status;
  }
  if (reader->row_stray)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line, 0,
                            "a carriage return in the middle of the line");
  return BRAMAH_OK;
}
