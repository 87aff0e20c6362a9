/* SPDX-License-Identifier: MIT */
/* Filling diagnostics without stdio. All functions accept diag == NULL and return `status`, so that an error
 * path is one line: return bramah__fail(diag, BRAMAH_E_VALUE, name, "mass must not be negative"). */
#ifndef BRAMAH_LIB_BASE_DIAG_H
#define BRAMAH_LIB_BASE_DIAG_H

#include "bramah/status.h"

/* Replace the diagnostic by this status, thing and message (copied, cut to fit; thing may be NULL). */
bramah_status bramah__fail(bramah_diag *diag, bramah_status status, const char *thing, const char *message);

/* Append to the message: text, or a number with so many significant digits. */
void bramah__add_text(bramah_diag *diag, const char *text);
void bramah__add_number(bramah_diag *diag, double value, int digits);

/* Say where it is in a file (file may be NULL). */
bramah_status bramah__at(bramah_diag *diag, const char *file, int line, int column);

#endif
