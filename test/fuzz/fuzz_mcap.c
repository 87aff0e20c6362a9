/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as an MCAP file or a bag of ROS 1 (read_log.h), whatever their name. A first line of the corpus that begins with '!' says how it
 * is to be read (dialect.h). */
#include "test/fuzz/fuzz.h"
#include "test/fuzz/read_log.h"

#include <limits.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  fuzz_dialect dialect;
  const size_t begin = fuzz_read_dialect(data, size, &dialect);
  const int is_mcap = size - begin >= 8 && memcmp(data + begin, "\x89MCAP0\r\n", 8) == 0;
  if (!is_mcap && (size - begin < 9 || memcmp(data + begin, "#ROSBAG V", 9) != 0)) return 0;
  const fuzz_log log = {
      .path = fuzz_file(data + begin, size - begin), .size = size - begin, .lines = INT_MAX};
  fuzz_check_log(&log, &dialect);
  return 0;
}
