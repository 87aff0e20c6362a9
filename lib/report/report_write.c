/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file being written: text, numbers and escaped text, whole pages at a time. */
#define _POSIX_C_SOURCE 200809L /* strerror_r that returns an int, O_CLOEXEC */
#include "lib/report/report_parts.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bramah_status fail_system(bramah_diag *diag, const char *path, const char *what, int error)
{
  char reason[128];
  if (strerror_r(error, reason, sizeof reason) != 0) reason[0] = '\0';
  bramah__fail(diag, BRAMAH_E_FILE, NULL, what);
  bramah__at(diag, path, 0, 0);
  bramah__add_text(diag, reason);
  return BRAMAH_E_FILE;
}

bramah_status bramah__page_open(const char *path, bramah_diag *diag, bramah__page **out)
{
  bramah__page *page = malloc(sizeof *page);
  if (!page) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  page->error = 0;
  page->used = 0;
  page->fd = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO)
                                    : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (page->fd < 0) {
    const int reason = errno;
    free(page);
    return fail_system(diag, path, "cannot create: ", reason);
  }
  *out = page;
  return BRAMAH_OK;
}

static void flush(bramah__page *page)
{
  size_t done = 0;
  while (done < page->used && !page->error) {
    const ssize_t n = write(page->fd, page->buffer + done, page->used - done);
    if (n > 0) done += (size_t)n;
    if (n < 0 && errno != EINTR) page->error = errno;
  }
  page->used = 0;
}

bramah_status bramah__page_close(bramah__page *page, const char *path, bramah_diag *diag)
{
  flush(page);
  int error = page->error;
  if (close(page->fd) != 0 && !error && errno != EINTR) error = errno;
  free(page);
  return error ? fail_system(diag, path, "cannot write: ", error) : BRAMAH_OK;
}

void bramah__page_put_bytes(bramah__page *page, const char *bytes, size_t n)
{
  while (n) {
    const size_t room = sizeof page->buffer - page->used, part = n < room ? n : room;
    memcpy(page->buffer + page->used, bytes, part);
    page->used += part;
    bytes += part;
    n -= part;
    if (page->used == sizeof page->buffer) flush(page);
  }
}

void bramah__page_put(bramah__page *page, const char *text)
{
  bramah__page_put_bytes(page, text, strlen(text));
}

void bramah__page_put_integer(bramah__page *page, int64_t value)
{
  char digits[BRAMAH__NUMBER_SIZE];
  bramah__page_put_bytes(page, digits, bramah__format_integer(digits, value));
}

static void put_escaped(bramah__page *page, const char *text)
{
  static const char special[] = "&<>\"'";
  static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  for (; *text; text++) {
    const char *found = strchr(special, *text);
    if (found)
      bramah__page_put(page, escaped[found - special]);
    else if ((unsigned char)*text < 0x20u || *text == 0x7f)
      bramah__page_put(page, " ");
    else
      bramah__page_put_bytes(page, text, 1);
  }
}

void bramah__page_format(bramah__page *page, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  for (const char *at; *format; format++) {
    if ((at = strchr(format, '%')) == NULL) at = format + strlen(format);
    bramah__page_put_bytes(page, format, (size_t)(at - format));
    if (!*at) break;
    char number[BRAMAH__NUMBER_SIZE], *end;
    const int digits = at[1] == '.' ? (int)strtol(at + 2, &end, 10) : 0;
    format = digits ? end : at + 1;
    const int is_long = *format == 'l';
    if (is_long) format++;
    switch (*format) {
    case 'g':
      bramah__page_put_bytes(page, number, bramah__format_number(number, va_arg(list, double), digits));
      break;
    case 'd':
      bramah__page_put_integer(page, is_long ? va_arg(list, long) : va_arg(list, int));
      break;
    case 'z':
      format++;
      bramah__page_put_integer(page, (int64_t)va_arg(list, size_t));
      break;
    case 's':
      put_escaped(page, va_arg(list, const char *));
      break;
    default: /* %% */
      bramah__page_put_bytes(page, format, 1);
    }
  }
  va_end(list);
}
