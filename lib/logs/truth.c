/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The true motion from a file, row by row as estimates go on. */
#include "bramah/log.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
  int64_t time_ns;
  double *values;         /* [columns] */
  unsigned char *present; /* [columns] */
} row;

struct bramah_truth {
  bramah_log_reader *reader;
  size_t time; /* column */
  row row[2];  /* the present one and the one after it */
  int now, ended;
  int matched; /* the present row belongs to the time asked for last */
};

static bramah_status time_of(const bramah_truth *truth, row *r, bramah_diag *diag)
{
  const char *path = bramah_log_path(truth->reader),
             *name = bramah_log_column_name(truth->reader, truth->time);
  const int line = bramah_log_line(truth->reader);
  const double t = r->values[truth->time];
  if (!r->present[truth->time])
    return bramah__failf(diag, BRAMAH_E_TIME, path, line, name, "the time of this row is missing");
  if (!(fabs(t) < 9e9))
    return bramah__failf(diag, BRAMAH_E_TIME, path, line, name,
                         "a time of %g s does not fit into nanoseconds", t);
  r->time_ns = llround(t * 1e9);
  if (r->time_ns > truth->row[truth->now].time_ns) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_TIME, path, line, name, "time does not go forward");
}

/* The next row becomes the present one, and the one after it is read. */
static bramah_status read_ahead(bramah_truth *truth, bramah_diag *diag)
{
  truth->now = !truth->now;
  row *next = &truth->row[!truth->now];
  const bramah_status status =
      bramah_log_next(truth->reader, next->values, next->present, &truth->ended, diag);
  return status || truth->ended ? status : time_of(truth, next, diag);
}

static bramah_status open(bramah_truth *truth, const char *path, bramah_diag *diag)
{
  bramah_status status = bramah_log_open(path, diag, &truth->reader);
  if (!status) status = bramah_log_find(truth->reader, "t", "s", &truth->time, diag);
  if (status) return bramah__place(diag, path, 0);
  const size_t n = bramah_log_n_columns(truth->reader);
  for (int i = 0; i < 2; i++) {
    truth->row[i].time_ns = INT64_MIN;
    truth->row[i].values = calloc(n, sizeof(double));
    truth->row[i].present = calloc(n, 1);
    if (!truth->row[i].values || !truth->row[i].present) return bramah__fail_memory(diag);
  }
  status = read_ahead(truth, diag);
  return status ? status : read_ahead(truth, diag);
}

bramah_status bramah_truth_open(const char *path, bramah_diag *diag, bramah_truth **out)
{
  bramah_truth *truth = calloc(1, sizeof *truth);
  bramah_diag_clear(diag);
  if (!truth) return bramah__fail_memory(diag);
  const bramah_status status = open(truth, path, diag);
  if (status)
    bramah_truth_close(truth);
  else
    *out = truth;
  return status;
}

void bramah_truth_close(bramah_truth *truth)
{
  if (!truth) return;
  bramah_log_close(truth->reader);
  for (int i = 0; i < 2; i++) {
    free(truth->row[i].values);
    free(truth->row[i].present);
  }
  free(truth);
}

bramah_status bramah_truth_find(const bramah_truth *truth, const char *name, const char *unit, long *column,
                                bramah_diag *diag)
{
  const size_t n = bramah_log_n_columns(truth->reader);
  *column = -1;
  for (size_t i = 0; i < n; i++) {
    if (strcmp(bramah_log_column_name(truth->reader, i), name) != 0) continue;
    bramah_diag_clear(diag);
    const bramah_status status = bramah_log_find(truth->reader, name, unit, &i, diag);
    if (status) return bramah__place(diag, bramah_log_path(truth->reader), 0);
    *column = (long)i;
    return BRAMAH_OK;
  }
  return BRAMAH_OK;
}

/* Times lie within +-9e18 ns: half of them leaves room for a difference. */
static int64_t half_distance(const row *r, int64_t time_ns)
{
  const int64_t d = r->time_ns / 2 - time_ns / 2;
  return d < 0 ? -d : d;
}

bramah_status bramah_truth_seek(bramah_truth *truth, int64_t time_ns, int64_t tolerance_ns, int *matched,
                                bramah_diag *diag)
{
  const row *rows = truth->row;
  bramah_status status = BRAMAH_OK;
  while (!status && !truth->ended &&
         half_distance(&rows[!truth->now], time_ns) <= half_distance(&rows[truth->now], time_ns))
    status = read_ahead(truth, diag);
  truth->matched = half_distance(&rows[truth->now], time_ns) <= tolerance_ns / 2;
  *matched = truth->matched;
  return status;
}

double bramah_truth_value(const bramah_truth *truth, size_t column)
{
  const row *r = &truth->row[truth->now];
  return truth->matched && r->present[column] ? r->values[column] : (double)NAN;
}
