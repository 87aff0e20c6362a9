/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a log of the corpus is to be read: words in a first line that begins with '!', such as
 *   ! semicolon decimal-comma time unit=ms skip-rows
 * Without such a line nothing is stated. */
#ifndef BRAMAH_TEST_FUZZ_DIALECT_H
#define BRAMAH_TEST_FUZZ_DIALECT_H

#include "bramah/log.h"
#include "test/fuzz/fuzz.h"

enum { FUZZ_LONGEST_MARKS = 24 };

typedef struct fuzz_dialect {
  bramah_log_format format; /* its texts are below */
  int has_time, last;       /* times stand in the first column; in the last */
  int counter;
  int has_unit; /* stated for the times */
  int ignore, restate;
  char unit[FUZZ_LONGEST_MARKS], comment[FUZZ_LONGEST_MARKS], missing[FUZZ_LONGEST_MARKS];
} fuzz_dialect;

/* Returns the bytes of the line; the log begins behind them. */
size_t fuzz_read_dialect(const uint8_t *data, size_t size, fuzz_dialect *dialect);

#endif
