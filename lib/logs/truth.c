/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The true motion from a file, row by row as estimates go on. */
#include "lib/logs/logs.h"
#include "lib/logs/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct row {
  int64_t time_ns;
  double *values;         /* [columns] */
  unsigned char *present; /* [columns] */
} row;

struct bramah__truth {
  bramah_log_reader *reader;
  size_t time; /* column */
  row row[2];  /* the present one and the one after it */
  int now, ended;
  int matched; /* the present row belongs to the time asked for last */
};

/* The next row becomes the present one, and the one after it is read. */
static bramah_status read_ahead(bramah__truth *truth, bramah_diag *diag)
{
  const int64_t before_ns = truth->row[!truth->now].time_ns;
  truth->now = !truth->now;
  row *next = &truth->row[!truth->now];
  const bramah_status status =
      bramah_log_next(truth->reader, next->values, next->present, &truth->ended, diag);
  if (status || truth->ended) return status;
  const double t = next->values[truth->time];
  const char *path = truth->reader->path, *name = truth->reader->columns[truth->time].name;
  const int line = truth->reader->given_line;
  if (!next->present[truth->time])
    return bramah__failf(diag, BRAMAH_E_TIME, path, line, name, "the time of this row is missing");
  if (!(fabs(t) < 9e9))
    return bramah__failf(diag, BRAMAH_E_TIME, path, line, name,
                         "a time of %g s does not fit into nanoseconds", t);
  next->time_ns = llround(t * 1e9);
  if (next->time_ns > before_ns) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_TIME, path, line, name, "time does not go forward");
}

bramah_status bramah__truth_open(const char *path, bramah_diag *diag, bramah__truth **out)
{
  bramah__truth *truth = calloc(1, sizeof *truth);
  bramah_diag_clear(diag);
  if (!truth) return bramah__fail_memory(diag);
  bramah_status status = bramah_log_open(path, NULL, diag, &truth->reader);
  if (!status) status = bramah_log_find(truth->reader, "t", "s", &truth->time, diag);
  if (status) bramah__place(diag, path, 0);
  for (int i = 0; !status && i < 2; i++) {
    row *r = &truth->row[i];
    r->time_ns = INT64_MIN;
    r->values = calloc(truth->reader->n_columns, sizeof *r->values);
    r->present = calloc(truth->reader->n_columns, 1);
    if (!r->values || !r->present) status = bramah__fail_memory(diag);
  }
  for (int i = 0; !status && i < 2; i++) status = read_ahead(truth, diag);
  if (status)
    bramah__truth_close(truth);
  else
    *out = truth;
  return status;
}

void bramah__truth_close(bramah__truth *truth)
{
  if (!truth) return;
  bramah_log_close(truth->reader);
  for (int i = 0; i < 2; i++) {
    free(truth->row[i].values);
    free(truth->row[i].present);
  }
  free(truth);
}

bramah_status bramah__truth_find(const bramah__truth *truth, const char *name, const char *unit, long *column,
                                 bramah_diag *diag)
{
  size_t i = bramah__log_index(truth->reader, name);
  *column = -1;
  if (i == SIZE_MAX) return BRAMAH_OK;
  bramah_diag_clear(diag);
  const bramah_status status = bramah_log_find(truth->reader, name, unit, &i, diag);
  if (status) return bramah__place(diag, truth->reader->path, 0);
  *column = (long)i;
  return BRAMAH_OK;
}

/* Times lie within +-9e18 ns: half of them leaves room for a difference. */
static int64_t half_distance(const row *r, int64_t time_ns)
{
  const int64_t d = r->time_ns / 2 - time_ns / 2;
  return d < 0 ? -d : d;
}

bramah_status bramah__truth_row_at(bramah__truth *truth, int64_t time_ns, int64_t tolerance_ns, int *matched,
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

double bramah__truth_value(const bramah__truth *truth, size_t column)
{
  const row *r = &truth->row[truth->now];
  return truth->matched && r->present[column] ? r->values[column] : (double)NAN;
}
