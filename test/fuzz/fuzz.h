/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz harnesses share. A harness is one file with a function LLVMFuzzerTestOneInput that hands
 * bytes to a reader and aborts where the reader breaks its word. It is linked twice: with libFuzzer (meson
 * setup -Dfuzz=true, clang), which invents inputs, and with driver.c (any compiler), which runs the files of
 * corpus/ as an ordinary test.
 *
 * How to look for mistakes: sh test/run.sh --fuzz 1000000 (see --help). What it finds lies in
 * build-fuzz/findings/; run
 *   build-fuzz/test/fuzz/fuzz_log FILE
 * to see it again, -minimize_crash=1 -runs=100000 to make it small, then mend the reader and put the file
 * into corpus/. */
#ifndef BRAMAH_TEST_FUZZ_FUZZ_H
#define BRAMAH_TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "bramah/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition, ...)                                                                           \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition);                                        \
      fprintf(stderr, __VA_ARGS__);                                                                          \
      fputc('\n', stderr);                                                                                   \
      abort();                                                                                               \
    }                                                                                                        \
  } while (0)

/* The bytes as a file in memory: its path, until the next call. */
const char *fuzz_file(const uint8_t *data, size_t size);

/* The bytes as one of several files, i < FUZZ_PARTS: its name is the number 100 + i, for patterns. */
enum { FUZZ_PARTS = 4, FUZZ_FIRST_PART = 100 };
const char *fuzz_part(size_t i, const uint8_t *data, size_t size);

/* Another one, empty, to write to. */
const char *fuzz_empty_file(void);

/* The most lines any reader can count in these bytes. */
int fuzz_lines(const uint8_t *data, size_t size);

/* A diagnostic says what a caller is promised: the status returned, a message, a line that the file has. */
void fuzz_check_diag(const bramah_diag *diag, bramah_status status, const char *path, int lines);

/* Two diagnostics are the same. */
void fuzz_check_same_diag(const bramah_diag *a, const bramah_diag *b);

/* The mistakes a check tells: hand `fuzz_tell` and one of these to it. */
typedef struct fuzz_mistakes {
  const char *path;
  int lines;
  size_t n;
  bramah_diag first;
} fuzz_mistakes;
void fuzz_tell(void *user, const bramah_diag *diag);

/* What check and load say of one file agrees: the same status; the mistake of the load is the first of the
 * check. */
void fuzz_check_agreement(const fuzz_mistakes *mistakes, bramah_status check, bramah_status load,
                          const bramah_diag *diag);

#endif
