/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/io/fail.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__failf(bramah_diag *diag, bramah_status status, const char *file, int line,
                            const char *thing, const char *format, ...)
{
  va_list list;
  if (!diag) return status;
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

bramah_status bramah__fail_memory(bramah_diag *diag)
{
  return bramah__failf(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

bramah_status bramah__place(bramah_diag *diag, const char *file, int line)
{
  if (!diag->file[0] && file) {
    snprintf(diag->file, sizeof diag->file, "%s", file);
    if (!diag->line) diag->line = line;
  }
  return diag->status;
}

void bramah__add_suggestion(bramah_diag *diag, const char *name, size_t n, const char *const *names,
                            const char *listing)
{
  const char *best = bramah__nearest(name, n, names);
  if (best) {
    bramah__add_text(diag, "; did you mean '");
    bramah__add_text(diag, best);
    bramah__add_text(diag, "'?");
    return;
  }
  for (size_t i = 0; i < n && *listing; i++) {
    bramah__add_text(diag, i ? ", " : listing);
    bramah__add_text(diag, names[i]);
  }
}

void bramah__suggest_thing(bramah_diag *diag, const char *name, size_t n, const void *first, size_t stride,
                           const char *listing)
{
  const char **names = calloc(n + 1, sizeof *names);
  size_t n_named = 0;
  for (size_t i = 0; names && i < n; i++) {
    memcpy(&names[n_named], (const unsigned char *)first + i * stride, sizeof *names);
    n_named += names[n_named] != NULL; /* others could not be read */
  }
  bramah__add_suggestion(diag, name, n_named, names, listing);
  free(names);
}
