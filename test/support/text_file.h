/* SPDX-License-Identifier: MIT */
/* A temporary text file made of known lines, one of which a test replaces by a mistaken one. */
#ifndef BRAMAH_TEST_SUPPORT_TEXT_FILE_H
#define BRAMAH_TEST_SUPPORT_TEXT_FILE_H

#include <check.h>

#include "bramah/status.h"
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

/* A line of such a file replaced by a mistaken one, with what is said of it. A NULL is not looked at; of a line
 * without '@', or with more lines behind it, neither is the place. */
typedef struct bad_line {
  int line;
  const char *with;
  bramah_status status;
  const char *thing, *message;
} bad_line;

/* `column`: from write_lines. */
static inline void check_mistake(const bad_line *bad, int column, bramah_status status,
                                 const bramah_diag *diag)
{
  if (bad->message)
    ck_assert_msg(strcmp(diag->message, bad->message) == 0, "%s\n  gives: %s", bad->with, diag->message);
  ck_assert_int_eq(status, bad->status);
  ck_assert_int_eq(diag->status, status);
  if (bad->thing) ck_assert_str_eq(diag->thing, bad->thing);
  ck_assert_str_eq(diag->file, path);
  if (!column || strchr(bad->with, '\n')) return;
  ck_assert_msg(diag->line == bad->line && diag->column == column, "%s: at %d:%d, not %d:%d: %s", bad->with,
                diag->line, diag->column, bad->line, column, diag->message);
}

#endif
