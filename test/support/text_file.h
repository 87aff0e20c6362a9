/* SPDX-License-Identifier: MIT */
/* A temporary text file made of known lines, one of which a test replaces by a mistaken one. */
#ifndef BRAMAH_TEST_SUPPORT_TEXT_FILE_H
#define BRAMAH_TEST_SUPPORT_TEXT_FILE_H

#include <check.h>

#include "test/support/scratch.h"

static char path[SCRATCH_NAME];

static inline void make_path(void) { ck_assert(scratch_file(path)); }
static inline void remove_path(void) { remove(path); }

/* What a name in the file means: beside the file. */
static inline const char *beside_path(const char *name)
{
  static char text[SCRATCH_NAME + 64];
  const int folder = (int)(strrchr(path, '/') - path);
  snprintf(text, sizeof text, "%.*s/%s", folder, path, name);
  return text;
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
