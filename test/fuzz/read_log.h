/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reading of a log must keep, whatever the file: what is not there is NaN and nothing else is, lines
 * ascend, the end and an error stay, times come back from their text, a second reading with the dialect that
 * was found stated gives the same bits, and what was read comes back from a file of the writer. */
#ifndef BRAMAH_TEST_FUZZ_READ_LOG_H
#define BRAMAH_TEST_FUZZ_READ_LOG_H

#include "test/fuzz/dialect.h"

typedef struct fuzz_log {
  const char *path;
  size_t size;      /* [bytes] */
  int lines;        /* the most it can have */
  const char *copy; /* where the writer may write to; NULL: nothing is written */
} fuzz_log;

/* Read it twice. The dialect is completed with what was found. */
void fuzz_check_log(const fuzz_log *log, fuzz_dialect *dialect);

#endif
