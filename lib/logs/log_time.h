/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Times as they stand in logs, read into integers without a detour over floating point. */
#ifndef BRAMAH_LIB_LOGS_LOG_TIME_H
#define BRAMAH_LIB_LOGS_LOG_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "bramah/status.h"

/* How the cells of a time column are read. */
typedef struct bramah__log_clock {
  int iso;       /* 1: ISO 8601 text; -1: such text is tried */
  int64_t scale; /* otherwise a number, times this: 1000000000 for seconds in ns, 1 for a counter */
  int whole;     /* 1: only whole numbers are right, as of a counter */
  int zone;      /* of ISO text: 0 not known yet, 1 all have a zone, 2 none has */
} bramah__log_clock;

/* "12.345", "-1.5e-3" times scale, rounded to the nearest integer: exact, ties away from zero. `point` is the
 * decimal mark. Errors: E_SYNTAX, E_VALUE (beyond 9e18, or a fraction where whole numbers are wanted). */
bramah_status bramah__time_decimal(const char *text, const char *end, char point, int64_t scale, int whole,
                                   int64_t *out);

/* "2024-03-05T12:34:56.123456789+01:00": nanoseconds since 1970-01-01T00:00Z. Also a blank instead of the T,
 * no seconds, a comma before the fraction, Z, +hh, +hhmm; without a zone the clock is taken to show UTC.
 * *zone 1 if there is one. Digits of the fraction behind the ninth round. Years 1678 to 2261. */
bramah_status bramah__time_iso(const char *text, const char *end, int64_t *ns, int *zone);

/* The text of such a time, with as many digits as it needs: out [n >= 36]. */
void bramah__time_text(int64_t ns, char *out, size_t n);

#endif
