/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a DBC file and, behind a line with %%, as a log of CAN frames (candump, ASC, BLF). What is not there is NaN
 * and nothing else is, lines do not go back, and a second reading gives the same bits. */
#define _GNU_SOURCE /* memmem */
#include "test/fuzz/fuzz.h"
#include "lib/base/text.h"
#include "lib/logs/reader.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 20000 };

static uint64_t read_rows(bramah_log_reader *reader, size_t n, bramah_diag *diag)
{
  double *values = calloc(n + 1, sizeof *values);
  unsigned char *present = calloc(n + 1, 1);
  uint64_t hash = 0;
  int end = 0, line = 0;
  FUZZ_CHECK(values && present, "no memory");
  bramah_status status = bramah__log_set_time(reader, 0, NULL, 0, diag);
  for (int rows = 0; !status && rows < MOST_ROWS; rows++) {
    status = bramah_log_next(reader, values, present, &end, diag);
    if (status || end) break;
    int any = 0;
    const bramah_log_info info = bramah_log_get_info(reader);
    FUZZ_CHECK(info.line >= line && present[0], "row in line %d after %d", info.line, line);
    line = info.line;
    for (size_t i = 0; i < n; i++) {
      FUZZ_CHECK(present[i] ? isfinite(values[i]) : isnan(values[i]), "column %zu is %g", i, values[i]);
      any |= i && present[i];
    }
    FUZZ_CHECK(any, "a row without a cell in line %d", line);
    hash = bramah__fnv(hash, values, n * sizeof *values);
  }
  free(values);
  free(present);
  return bramah__fnv(hash, &status, sizeof status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const uint8_t *mark = memmem(data, size, "\n%%\n", 4);
  const size_t head = mark ? (size_t)(mark - data) : size;
  const char *dbc = fuzz_part(0, data, head);
  const char *path = mark ? fuzz_part(1, mark + 4, size - head - 4) : fuzz_part(1, data, 0);
  uint64_t hash[2] = {0, 0};
  for (int k = 0; k < 2; k++) {
    const bramah_log_format format = {.dbc = dbc, .missing = "running 3", .skip_bad_rows = (int)(size % 2)};
    bramah_diag diag = {0};
    bramah_log_reader *reader = NULL;
    const bramah_status status = bramah_log_open(path, &format, &diag, &reader);
    FUZZ_CHECK(!status == (reader != NULL), "status %d", status);
    FUZZ_CHECK(!status || *diag.message, "status %d without a message", status);
    if (reader && reader->is_sparse) /* else it is CSV, which fuzz_log reads */
      hash[k] = read_rows(reader, bramah_log_get_info(reader).n_columns, &diag);
    bramah_log_close(reader);
  }
  FUZZ_CHECK(hash[0] == hash[1], "a second reading differs");
  return 0;
}
