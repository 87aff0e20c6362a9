/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bramah_status cli_fail(bramah_diag *diag, bramah_status status, const char *file, int line, const char *thing,
                       const char *format, ...)
{
  va_list list;
  bramah_diag_clear(diag);
  diag->status = status;
  diag->line = line;
  snprintf(diag->file, sizeof diag->file, "%s", file ? file : "");
  snprintf(diag->thing, sizeof diag->thing, "%s", thing ? thing : "");
  va_start(list, format);
  vsnprintf(diag->message, sizeof diag->message, format, list);
  va_end(list);
  return status;
}

void cli_place(bramah_diag *diag, const char *file, int line)
{
  if (diag->file[0] || !file) return;
  snprintf(diag->file, sizeof diag->file, "%s", file);
  if (!diag->line) diag->line = line;
}

int cli_report(const bramah_diag *diag)
{
  char text[1024];
  bramah_diag_format(diag, text, sizeof text);
  fprintf(stderr, "bramah: %s\n", text);
  return CLI_FAILED;
}

void cli_note(const char *format, ...)
{
  va_list list;
  fputs("bramah: note: ", stderr);
  va_start(list, format);
  vfprintf(stderr, format, list);
  va_end(list);
  fputc('\n', stderr);
}

/* ---- suggestions ---- */

enum { LONGEST_NAME = 63 };

static size_t smallest(size_t a, size_t b, size_t c)
{
  const size_t ab = a < b ? a : b;
  return ab < c ? ab : c;
}

/* Edits (insert, delete, replace, swap neighbours) that turn a into b; names longer than the limit are not
 * compared. */
static size_t distance(const char *a, const char *b)
{
  size_t rows[3][LONGEST_NAME + 1], *before = rows[0], *last = rows[1], *now = rows[2];
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST_NAME || m > LONGEST_NAME) return n + m;
  for (size_t j = 0; j <= m; j++) last[j] = before[j] = j;
  for (size_t i = 1; i <= n; i++) {
    now[0] = i;
    for (size_t j = 1; j <= m; j++) {
      const size_t replace = last[j - 1] + (a[i - 1] != b[j - 1]);
      const int swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      now[j] = smallest(last[j] + 1, now[j - 1] + 1, replace);
      if (swapped && before[j - 2] + 1 < now[j]) now[j] = before[j - 2] + 1;
    }
    size_t *free_row = before;
    before = last, last = now, now = free_row;
  }
  return last[m];
}

const char *cli_nearest(const char *text, size_t n, const char *const *candidates)
{
  size_t best = strlen(text) / 3 + 2; /* more changes than that make another word */
  const char *nearest = NULL;
  for (size_t i = 0; i < n; i++) {
    const size_t edits = distance(text, candidates[i]);
    if (edits >= best || edits >= strlen(candidates[i])) continue;
    best = edits;
    nearest = candidates[i];
  }
  return nearest;
}
