/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as an MDF file of version 4 (read_log.h), its CAN frames by a DBC file. A first line of the corpus that begins with '!' says how it is to be
 * read (dialect.h). */
#define _GNU_SOURCE /* symlink */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/read_log.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_NAME = 512 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  char path[LONGEST_NAME];
  const char *folder = getenv("TMPDIR");
  fuzz_dialect dialect;
  static const char dbc[] = "BO_ 291 A: 8 X\n SG_ x : 0|16@1+ (0.5,0) [0|0] \"bar\" X\n"
                            "BO_ 2566853172 B: 20 X\n SG_ y : 0|8@1- (1,0) [0|0] \"\" X\n"
                            "BA_DEF_ \"ProtocolType\" STRING ;\nBA_ \"ProtocolType\" \"J1939\";\n";
  const size_t begin = fuzz_read_dialect(data, size, &dialect);
  const int is_mdf = size - begin >= 8 &&
                     (memcmp(data + begin, "MDF     ", 8) == 0 || memcmp(data + begin, "UnFinMF ", 8) == 0);
  if (is_mdf) /* else it could be a log of CAN frames */
    dialect.format.dbc = fuzz_part(0, (const uint8_t *)dbc, sizeof dbc - 1);
  const int n = snprintf(path, sizeof path, "%s/bramah-fuzz-%ld.mf4", folder && *folder ? folder : P_tmpdir,
                         (long)getpid());
  FUZZ_CHECK(n > 0 && n < LONGEST_NAME, "TMPDIR is too long");
  unlink(path);
  FUZZ_CHECK(symlink(fuzz_file(data + begin, size - begin), path) == 0, "no link %s", path);
  const fuzz_log log = {.path = path, .size = size - begin, .lines = INT_MAX};
  fuzz_check_log(&log, &dialect);
  unlink(path);
  return 0;
}
