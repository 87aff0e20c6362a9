/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with the layout of a text that is no YAML: in words, at the line where it was written, which is seldom
 * the line where the parser gives up. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/io/fail.h"
#include "lib/io/yaml.h"

#include <stdio.h>
#include <string.h>

/* A line of a text: where it begins, its length without comment and blanks at its end, how far it is indented. */
typedef struct layout_line {
  const char *text;
  size_t length, indent;
} layout_line;

/* Line number n, counted from 1; of length 0: blank, a comment, or not there. */
static layout_line line_at(const char *text, size_t length, int n)
{
  const char *end = text + length;
  for (int i = 1; i < n && text < end; i++) {
    const char *next = memchr(text, '\n', (size_t)(end - text));
    text = next ? next + 1 : end;
  }
  const char *stop = text < end ? memchr(text, '\n', (size_t)(end - text)) : NULL;
  layout_line line = {.text = text, .length = (size_t)((stop ? stop : end) - text)};
  while (line.indent < line.length && text[line.indent] == ' ') line.indent++;
  for (size_t i = line.indent; i < line.length; i++)
    if (text[i] == '#' && (i == line.indent || text[i - 1] == ' ')) line.length = i;
  while (line.length && (text[line.length - 1] == ' ' || text[line.length - 1] == '\r')) line.length--;
  if (line.length <= line.indent) line.length = 0;
  return line;
}

/* Has it a key: a colon with a blank or nothing behind it? */
static int has_key(const layout_line *line)
{
  for (size_t i = line->indent; i < line->length; i++)
    if (line->text[i] == ':' && (i + 1 == line->length || line->text[i + 1] == ' ')) return 1;
  return 0;
}

int bramah__layout_explain(const char *text, size_t length, int line, int opened, int column,
                           bramah_diag *diag)
{
  if (opened) {
    const layout_line at = line_at(text, length, opened);
    if (column < 1 || (size_t)column > at.length || !strchr("[{", at.text[column - 1])) return 0;
    diag->line = opened;
    diag->column = column;
    snprintf(diag->message, sizeof diag->message,
             "the %c that is opened here is not closed before line %d: write %c", at.text[column - 1], line,
             at.text[column - 1] == '[' ? ']' : '}');
    return 1;
  }
  int before = line - 1;
  while (before > 0 && !line_at(text, length, before).length) before--;
  if (before < 1) return 0;
  const layout_line here = line_at(text, length, line), last = line_at(text, length, before);
  if (!here.length) return 0;
  if (!has_key(&last) && last.text[last.indent] != '-') {
    diag->line = before;
    diag->column = (int)last.indent + 1;
    snprintf(diag->message, sizeof diag->message,
             "'%.*s' is no key with a value: write 'key: value', with a blank behind the colon",
             (int)(last.length - last.indent < 60 ? last.length - last.indent : 60), last.text + last.indent);
    return 1;
  }
  if (here.indent == last.indent) return 0;
  diag->line = line;
  diag->column = (int)here.indent + 1;
  snprintf(
      diag->message, sizeof diag->message,
      "this line is indented by %zu blanks, line %d by %zu: keys of one level begin in the same column, what "
      "belongs to a key lies deeper",
      here.indent, before, last.indent);
  return 1;
}

int bramah__layout_is_log(const char *text, size_t length)
{
  int n = 1;
  while (n < 100 && !line_at(text, length, n).length) n++;
  const layout_line head = line_at(text, length, n), row = line_at(text, length, n + 1);
  if (!head.length || !row.length || has_key(&head)) return 0;
  const char *mark = strpbrk(head.text, ",;\t");
  if (!mark || mark >= head.text + head.length) return 0;
  return strchr("0123456789-+.", row.text[0]) != NULL && memchr(row.text, *mark, row.length) != NULL;
}
