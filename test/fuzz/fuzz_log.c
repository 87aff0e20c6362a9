/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a log in any dialect (read_log.h). */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/read_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_dialect dialect;
  const size_t begin = fuzz_read_dialect(data, size, &dialect);
  const fuzz_log log = {.path = fuzz_file(data + begin, size - begin),
                        .size = size - begin,
                        .lines = fuzz_lines(data + begin, size - begin),
                        .copy = fuzz_empty_file()};
  fuzz_check_log(&log, &dialect);
  return 0;
}
