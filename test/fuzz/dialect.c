/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strtok_r */
#include "test/fuzz/dialect.h"

#include <string.h>

enum { LONGEST_LINE = 200 };

/* "key=text": the text, with '_' for a blank. Returns 0 if the word is another. */
static int take_text(const char *word, const char *key, char *out)
{
  const size_t n = strlen(key);
  if (strncmp(word, key, n) != 0) return 0;
  snprintf(out, FUZZ_LONGEST_MARKS, "%s", word + n);
  for (char *c = out; *c; c++)
    if (*c == '_') *c = ' ';
  return 1;
}

static int take_delimiter(const char *word, char *delimiter)
{
  static const struct {
    const char *word;
    char mark;
  } marks[] = {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'},
               {"blank", ' '}, {"bar", '|'},       {"colon", ':'}};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (strcmp(word, marks[i].word) == 0) return *delimiter = marks[i].mark, 1;
  return 0;
}

static void take_flag(const char *word, fuzz_dialect *d)
{
  d->format.no_header |= strcmp(word, "no-header") == 0;
  d->format.skip_bad_cells |= strcmp(word, "skip-cells") == 0;
  d->format.skip_bad_rows |= strcmp(word, "skip-rows") == 0;
  d->has_time |= strcmp(word, "time") == 0;
  d->last |= strcmp(word, "last") == 0;
  d->counter |= strcmp(word, "counter") == 0;
  d->ignore |= strcmp(word, "ignore") == 0;
  d->restate |= strcmp(word, "restate") == 0;
  if (strcmp(word, "units-header") == 0) d->format.units = BRAMAH_LOG_UNITS_HEADER;
  if (strcmp(word, "units-row") == 0) d->format.units = BRAMAH_LOG_UNITS_ROW;
  if (strcmp(word, "decimal-point") == 0) d->format.decimal = '.';
  if (strcmp(word, "decimal-comma") == 0) d->format.decimal = ',';
}

static void take_word(const char *word, fuzz_dialect *d)
{
  if (strncmp(word, "skip=", 5) == 0)
    d->format.skip = atoi(word + 5) > 0 ? atoi(word + 5) : 0;
  else if (take_text(word, "comment=", d->comment))
    d->format.comment = d->comment;
  else if (take_text(word, "missing=", d->missing))
    d->format.missing = d->missing;
  else if (take_text(word, "unit=", d->unit))
    d->has_unit = 1;
  else if (!take_delimiter(word, &d->format.delimiter))
    take_flag(word, d);
}

size_t fuzz_read_dialect(const uint8_t *data, size_t size, fuzz_dialect *dialect)
{
  char line[LONGEST_LINE + 1], *rest = line;
  memset(dialect, 0, sizeof *dialect);
  if (!size || data[0] != '!') return 0;
  const uint8_t *end = memchr(data, '\n', size);
  const size_t length = end ? (size_t)(end - data) : size;
  const size_t kept = length < LONGEST_LINE ? length : LONGEST_LINE;
  memcpy(line, data, kept);
  line[kept] = '\0';
  for (char *word = strtok_r(line, " !\r", &rest); word; word = strtok_r(NULL, " !\r", &rest))
    take_word(word, dialect);
  return end ? length + 1 : length;
}
