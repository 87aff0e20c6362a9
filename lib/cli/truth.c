/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/truth.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status cli_log_time(const bramah_log_reader *reader, size_t column, const double *values,
                           const unsigned char *present, int64_t *time_ns, bramah_diag *diag)
{
  const char *name = bramah_log_column_name(reader, column);
  if (!present[column])
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(reader), bramah_log_line(reader), name,
                    "the time of this row is missing");
  if (!(fabs(values[column]) < 9e9))
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(reader), bramah_log_line(reader), name,
                    "a time of %g s cannot be told in nanoseconds", values[column]);
  *time_ns = llround(values[column] * 1e9);
  return BRAMAH_OK;
}

/* Read the row that comes after the present one. */
static bramah_status read_ahead(cli_truth *truth, bramah_diag *diag)
{
  cli_truth_row *present = &truth->row[truth->now], *next = &truth->row[!truth->now];
  bramah_status status = bramah_log_next(truth->reader, next->values, next->present, &truth->ended, diag);
  if (status || truth->ended) return status;
  status = cli_log_time(truth->reader, truth->time, next->values, next->present, &next->time_ns, diag);
  if (!status && next->time_ns <= present->time_ns)
    return cli_fail(diag, BRAMAH_E_TIME, bramah_log_path(truth->reader), bramah_log_line(truth->reader),
                    bramah_log_column_name(truth->reader, truth->time), "time does not go forward");
  return status;
}

bramah_status cli_truth_open(cli_truth *truth, const char *path, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_open(path, diag, &truth->reader);
  if (!status) status = bramah_log_find(truth->reader, "t", "s", &truth->time, diag);
  if (status) {
    cli_place(diag, path, 0);
    return status;
  }
  const size_t n = bramah_log_n_columns(truth->reader);
  for (int i = 0; i < 2; i++) {
    truth->row[i].time_ns = INT64_MIN;
    truth->row[i].values = calloc(n, sizeof(double));
    truth->row[i].present = calloc(n, 1);
    if (!truth->row[i].values || !truth->row[i].present)
      return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  }
  status = read_ahead(truth, diag);
  if (status) return status;
  truth->now = !truth->now;
  return read_ahead(truth, diag);
}

void cli_truth_close(cli_truth *truth)
{
  bramah_log_close(truth->reader);
  for (int i = 0; i < 2; i++) {
    free(truth->row[i].values);
    free(truth->row[i].present);
  }
}

bramah_status cli_truth_find(const cli_truth *truth, const char *name, const char *unit, long *column,
                             bramah_diag *diag)
{
  const size_t n = bramah_log_n_columns(truth->reader);
  *column = -1;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(bramah_log_column_name(truth->reader, i), name) != 0) continue;
    *column = (long)i;
    bramah_diag_clear(diag);
    const bramah_status status = bramah_log_find(truth->reader, name, unit, &i, diag);
    if (status) cli_place(diag, bramah_log_path(truth->reader), 0);
    return status;
  }
  return BRAMAH_OK;
}

/* Times lie within +-9e18 ns: half of them leaves room for a difference. */
static int64_t away(const cli_truth_row *row, int64_t time_ns)
{
  const int64_t d = row->time_ns / 2 - time_ns / 2;
  return d < 0 ? -d : d;
}

bramah_status cli_truth_seek(cli_truth *truth, int64_t time_ns, int64_t tolerance_ns, bramah_diag *diag)
{
  while (!truth->ended && away(&truth->row[!truth->now], time_ns) <= away(&truth->row[truth->now], time_ns)) {
    truth->now = !truth->now;
    const bramah_status status = read_ahead(truth, diag);
    if (status) return status;
  }
  truth->matched = away(&truth->row[truth->now], time_ns) <= tolerance_ns / 2;
  truth->unmatched += !truth->matched;
  return BRAMAH_OK;
}

double cli_truth_value(const cli_truth *truth, size_t column)
{
  const cli_truth_row *row = &truth->row[truth->now];
  return truth->matched && row->present[column] ? row->values[column] : NAN;
}
