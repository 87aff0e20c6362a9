/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _POSIX_C_SOURCE 200809L /* strdup */
#include "lib/cli/pictures.h"
#include "lib/cli/message.h"

#include <stdlib.h>
#include <string.h>

static int ends_with(const char *text, const char *end)
{
  const size_t n = strlen(text), m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

int cli_is_picture(const char *path)
{
  return ends_with(path, ".svg") || (ends_with(path, ".png") && bramah_report_has_png());
}

/* Cut the list at its commas, without the blanks around them; returns how many there are. */
static size_t split(char *list, const char **out)
{
  size_t n = 0;
  for (char *next = list; next; n++) {
    char *title = next + strspn(next, " "), *comma = strchr(title, ',');
    next = comma ? comma + 1 : NULL;
    char *end = comma ? comma : title + strlen(title);
    while (end > title && end[-1] == ' ') end--;
    *end = '\0';
    out[n] = title;
  }
  return n;
}

bramah_status cli_write_picture(const bramah_report *report, const char *path, const char *titles,
                                bramah_diag *diag)
{
  if (!titles) return bramah_report_write_picture(report, path, 0, NULL, diag);
  char *list = strdup(titles);
  const char **title = calloc(strlen(titles) + 2, sizeof *title);
  bramah_status status = BRAMAH_E_MEMORY;
  if (list && title)
    status = bramah_report_write_picture(report, path, split(list, title), title, diag);
  else
    cli_fail(diag, status, NULL, 0, NULL, "out of memory");
  free(list);
  free(title);
  return status;
}
