/* SPDX-License-Identifier: MIT */
/* A temporary text file made of known lines, one of which a test replaces by a mistaken one. */
#ifndef BRAMAH_TEST_SUPPORT_TEXT_FILE_H
#define BRAMAH_TEST_SUPPORT_TEXT_FILE_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/bramah-test-XXXXXX";

static inline void make_path(void)
{
  int file = mkstemp(path);
  ck_assert_int_ge(file, 0);
  close(file);
}

static inline void remove_path(void)
{
  remove(path);
  strcpy(path + strlen(path) - 6, "XXXXXX");
}

static inline void write_bytes(const char *text, size_t length)
{
  FILE *stream = fopen(path, "wb");
  ck_assert_ptr_nonnull(stream);
  ck_assert_uint_eq(fwrite(text, 1, length, stream), length);
  fclose(stream);
}

/* The lines with number `line` (from 1; 0: none) replaced; '@' in the new line marks the offending place and
 * is left out. Returns its column, 0 without a mark. */
static inline int write_lines(const char *const *lines, int n, int line, const char *with)
{
  static char text[16384];
  const char *mark = with ? strchr(with, '@') : NULL;
  size_t used = 0;
  for (int i = 1; i <= n; i++) {
    if (i == line && mark)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%.*s%s\n", (int)(mark - with), with, mark + 1);
    else
      used += (size_t)snprintf(text + used, sizeof text - used, "%s\n", i == line ? with : lines[i - 1]);
    ck_assert_uint_lt(used, sizeof text);
  }
  write_bytes(text, used);
  return mark ? (int)(mark - with) + 1 : 0;
}

#endif
