/* SPDX-License-Identifier: MIT */
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <string.h>

bramah_status bramah__fail(bramah_diag *diag, bramah_status status, const char *thing, const char *message)
{
  if (!diag) return status;
  bramah_diag_clear(diag);
  diag->status = status;
  if (thing) bramah__append(diag->thing, sizeof diag->thing, 0, thing);
  bramah__append(diag->message, sizeof diag->message, 0, message);
  return status;
}

void bramah__add_text(bramah_diag *diag, const char *text)
{
  if (diag) bramah__append(diag->message, sizeof diag->message, strlen(diag->message), text);
}

void bramah__add_number(bramah_diag *diag, double value, int digits)
{
  char text[BRAMAH__NUMBER_SIZE];
  bramah__format_number(text, value, digits);
  bramah__add_text(diag, text);
}

bramah_status bramah__at(bramah_diag *diag, const char *file, int line, int column)
{
  if (!diag) return BRAMAH_OK;
  if (file) {
    diag->file[0] = '\0';
    bramah__append(diag->file, sizeof diag->file, 0, file);
  }
  diag->line = line;
  diag->column = column;
  return diag->status;
}
