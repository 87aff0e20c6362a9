/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a MAT file of version 4, 5 or 7 (read_log.h). A first line of the corpus that begins with '!'
 * says how it is to be read (dialect.h). Files of version 7.3 are passed over: what becomes of them is up to
 * HDF5. */
#define _GNU_SOURCE /* symlink */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/read_log.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_NAME = 512 };

/* matio asks for as much memory as a damaged file says, and takes no for an answer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1:max_allocation_size_mb=500"; }

/* Of damaged files it forgets some memory. What we forget of undamaged ones the unit tests find. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libz\nleak:libmatio\n"; }

/* A file in memory under a name that ends in .mat; the name is to be unlinked. */
static void name_it(const char *file, const char *which, char name[LONGEST_NAME])
{
  const char *folder = getenv("TMPDIR");
  const int n = snprintf(name, LONGEST_NAME, "%s/bramah-fuzz-%ld-%s.mat",
                         folder && *folder ? folder : P_tmpdir, (long)getpid(), which);
  FUZZ_CHECK(n > 0 && n < LONGEST_NAME, "TMPDIR is too long");
  unlink(name);
  FUZZ_CHECK(symlink(file, name) == 0, "no link %s", name);
}

static int is_hdf5(const uint8_t *data, size_t size)
{
  return size >= 128 && (data[124] == 2 || data[125] == 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[LONGEST_NAME], copy[LONGEST_NAME];
  fuzz_dialect dialect;
  const size_t begin = fuzz_read_dialect(data, size, &dialect);
  if (is_hdf5(data + begin, size - begin)) return 0;
  name_it(fuzz_file(data + begin, size - begin), "read", path);
  name_it(fuzz_empty_file(), "copy", copy);
  const fuzz_log log = {.path = path, .size = size - begin, .lines = INT_MAX, .copy = copy};
  fuzz_check_log(&log, &dialect);
  unlink(path);
  unlink(copy);
  return 0;
}
