/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cutting a file into lines, so that every message knows its line. */
#define _GNU_SOURCE /* strerror_l */
#include "lib/base/diag.h"
#include "lib/logs/log_internal.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

const char *bramah__log_display_path(const bramah_log_reader *reader)
{
  return strcmp(reader->path, "-") == 0 ? "<stdin>" : reader->path;
}

bramah_status bramah__log_fail(bramah_log_reader *reader, bramah_status status, const char *thing, int line,
                               int position, const char *message)
{
  bramah__fail(&reader->failure, status, thing, message);
  return bramah__at(&reader->failure, bramah__log_display_path(reader), line, position);
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

/* ---- lines ---- */

static bramah_status fill_buffer(bramah_log_reader *reader)
{
  reader->end -= reader->begin;
  memmove(reader->buffer, reader->buffer + reader->begin, reader->end);
  reader->begin = 0;
  ssize_t n;
  do n = read(reader->fd, reader->buffer + reader->end, BRAMAH__LONGEST_ROW - reader->end);
  while (n < 0 && errno == EINTR);
  if (n < 0) return bramah__log_fail_system(reader, "cannot read: ", errno);
  reader->end += (size_t)n;
  reader->bytes += (uint64_t)n;
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

bramah_status bramah__log_next_line(bramah_log_reader *reader)
{
  size_t scanned = 0;
  for (;;) {
    const char *start = reader->buffer + reader->begin;
    size_t held = reader->end - reader->begin;
    const char *line_end = memchr(start + scanned, '\n', held - scanned);
    if (line_end) return take_line(reader, (size_t)(line_end - start) + 1);
    if (reader->at_eof) return take_last_line(reader);
    scanned = held;
    if (held >= BRAMAH__LONGEST_ROW)
      return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, reader->line + 1, 0,
                              memchr(start, 0, held) ? "a zero byte: this is not a text file"
                                                     : "the line is longer than 256 KiB: this is not a log");
    bramah_status status = fill_buffer(reader);
    if (status) return status;
  }
}

void bramah__log_return_line(bramah_log_reader *reader)
{
  if (!reader->length) return;
  reader->begin -= reader->length;
  if (reader->line < INT_MAX) reader->line--;
}

bramah_status bramah__log_begin(bramah_log_reader *reader)
{
  bramah_status status = BRAMAH_OK;
  while (!status && !reader->at_eof && reader->end < 3) status = fill_buffer(reader);
  if (status || reader->end < 2) return status;
  if (memcmp(reader->buffer, "\xFF\xFE", 2) == 0 || memcmp(reader->buffer, "\xFE\xFF", 2) == 0)
    return bramah__log_fail(reader, BRAMAH_E_SYNTAX, NULL, 1, 1,
                            "the file is in UTF-16: a log is read in UTF-8 or ASCII, save it so");
  if (reader->end >= 3 && memcmp(reader->buffer, "\xEF\xBB\xBF", 3) == 0) reader->begin = 3;
  return status;
}

int bramah__log_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* One of the marks, separated by blanks, stands at the beginning of the text. */
static int begins_with_mark(const char *text, size_t length, const char *marks)
{
  while (*marks) {
    const size_t n = strcspn(marks, " ");
    if (n && n <= length && memcmp(text, marks, n) == 0) return 1;
    marks += n;
    marks += *marks == ' ';
  }
  return 0;
}

int bramah__log_is_skipped(const bramah_log_reader *reader)
{
  size_t i = 0;
  while (i < reader->length && bramah__log_is_blank(reader->text[i])) i++;
  if (i < reader->length && (unsigned char)(reader->text[i] - '0') < 10) return 0; /* the common case */
  return i == reader->length || begins_with_mark(reader->text + i, reader->length - i, reader->comment);
}
