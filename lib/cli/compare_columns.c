/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/compare_columns.h"
#include "bramah/units.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which columns ---- */

/* -1: none of the name. */
static long find_name(const bramah_log_reader *reader, const char *name)
{
  const size_t n = bramah_log_n_columns(reader);
  for (size_t i = 0; i < n; i++)
    if (strcmp(bramah_log_column_name(reader, i), name) == 0) return (long)i;
  return -1;
}

static void find_sigma(cli_shared *shared, const cli_pairs *pairs)
{
  char name[256];
  snprintf(name, sizeof name, "%s.sigma", shared->name);
  shared->sigma_side = -1;
  for (int side = 1; side >= 0; side--) {
    const long column = find_name(pairs->side[side].reader, name);
    if (column < 0) continue;
    shared->sigma_side = side;
    shared->sigma = (size_t)column;
  }
}

/* What a column without dimension is expected in. Readers of logs take these marks for none. */
static const char *expected_unit(const char *unit)
{
  return !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "counts") == 0 ? "1" : unit;
}

/* A column of the first file, which the second one has too. */
static bramah_status share(cli_columns *columns, const cli_pairs *pairs, size_t column, bramah_diag *diag)
{
  const bramah_log_reader *a = pairs->side[0].reader, *b = pairs->side[1].reader;
  cli_shared shared = {.name = bramah_log_column_name(a, column),
                       .unit = bramah_log_column_unit(a, column),
                       .factor = 1.0,
                       .tolerance = NAN,
                       .column = {column, 0}};
  bramah_dimension dimension = {0};
  shared.expected = expected_unit(shared.unit);
  bramah_status status = bramah_log_unit(a, column, &shared.factor, &dimension, diag);
  if (status) return cli_place(diag, bramah_log_path(a), 0), status;
  status = bramah_log_find(b, shared.name, shared.expected, &shared.column[1], diag);
  if (status) return cli_place(diag, bramah_log_path(b), 0), status;
  shared.is_angle = dimension.rad == 2 && !dimension.m && !dimension.kg && !dimension.s && !dimension.volt;
  find_sigma(&shared, pairs);
  columns->shared[columns->n++] = shared;
  return BRAMAH_OK;
}

static bramah_status share_all(cli_columns *columns, const cli_pairs *pairs, bramah_diag *diag)
{
  for (int side = 0; side < 2; side++) {
    const bramah_log_reader *here = pairs->side[side].reader, *there = pairs->side[!side].reader;
    const size_t n = bramah_log_n_columns(here);
    for (size_t i = 0; i < n; i++) {
      const char *name = bramah_log_column_name(here, i);
      if (i == pairs->side[side].time) continue;
      if (find_name(there, name) < 0)
        columns->only[side][columns->n_only[side]++] = name;
      else if (side == 0 && share(columns, pairs, i, diag))
        return diag->status;
    }
  }
  return BRAMAH_OK;
}

static bramah_status share_named(cli_columns *columns, const cli_pairs *pairs, size_t n,
                                 const char *const *names, bramah_diag *diag)
{
  for (size_t i = 0; i < n; i++) {
    size_t ignored;
    const long column = find_name(pairs->side[0].reader, names[i]);
    bramah_status status;
    if (column < 0) {
      status = bramah_log_find(pairs->side[0].reader, names[i], "1", &ignored, diag);
      cli_place(diag, bramah_log_path(pairs->side[0].reader), 0);
    } else {
      status = share(columns, pairs, (size_t)column, diag);
    }
    if (status) return status;
  }
  return BRAMAH_OK;
}

bramah_status cli_columns_init(cli_columns *columns, const cli_pairs *pairs, size_t n_names,
                               const char *const *names, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  const size_t n = bramah_log_n_columns(pairs->side[0].reader) + n_names;
  columns->shared = calloc(n + 1, sizeof *columns->shared);
  for (int side = 0; side < 2; side++)
    columns->only[side] =
        calloc(bramah_log_n_columns(pairs->side[side].reader) + 1, sizeof *columns->only[side]);
  if (!columns->shared || !columns->only[0] || !columns->only[1])
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  return n_names ? share_named(columns, pairs, n_names, names, diag) : share_all(columns, pairs, diag);
}

void cli_columns_free(cli_columns *columns)
{
  free(columns->shared);
  free(columns->only[0]);
  free(columns->only[1]);
}

/* ---- differences ---- */

void cli_columns_measure(cli_columns *columns, const cli_pairs *pairs)
{
  for (size_t i = 0; i < columns->n; i++) {
    cli_shared *shared = &columns->shared[i];
    for (int side = 0; side < 2; side++) /* fmax leaves out what is not a number */
      shared->scale = fmax(shared->scale, fabs(cli_pairs_value(pairs, side, shared->column[side])));
  }
}

static void judge(cli_shared *shared, double difference, double sigma, int64_t time_ns)
{
  if (!(sigma > 0.0)) return;
  const double sigmas = difference / sigma;
  shared->judged++;
  shared->sigma_squares += sigmas * sigmas;
  if (!(sigmas > shared->most_sigmas)) return;
  shared->most_sigmas = sigmas;
  shared->most_sigmas_ns = time_ns;
}

/* The largest of the tolerances that are given. */
static double tolerated(const cli_columns *columns, const cli_shared *shared, double sigma)
{
  const double relative = columns->relative * shared->scale;
  return fmax(fmax(shared->tolerance, relative), sigma > 0.0 ? columns->sigmas * sigma : 0.0);
}

int cli_columns_judge(const cli_columns *columns, const cli_shared *shared)
{
  return !(columns->sigmas > 0.0) || shared->sigma_side >= 0 || columns->relative > 0.0 ||
         !isnan(shared->tolerance);
}

static void note_beyond(cli_shared *shared, double a, double b, double difference, double tolerance,
                        int64_t time_ns)
{
  if (shared->beyond++) return;
  shared->first_values[0] = a;
  shared->first_values[1] = b;
  shared->first_difference = difference;
  shared->first_tolerance = tolerance;
  shared->first_ns = time_ns;
}

static void add(const cli_columns *columns, cli_shared *shared, const cli_pairs *pairs)
{
  static const double turn = 6.28318530717958647693;
  const double a = cli_pairs_value(pairs, 0, shared->column[0]),
               b = cli_pairs_value(pairs, 1, shared->column[1]);
  const int64_t time_ns = cli_pairs_time(pairs);
  if (isnan(a) || isnan(b)) {
    shared->only[0] += (uint64_t)!isnan(a);
    shared->only[1] += (uint64_t)!isnan(b);
    return;
  }
  const double difference = fabs(columns->turns && shared->is_angle ? remainder(a - b, turn) : a - b);
  const double sigma =
      shared->sigma_side < 0 ? NAN : cli_pairs_value(pairs, shared->sigma_side, shared->sigma);
  const double tolerance = tolerated(columns, shared, sigma);
  shared->squares += difference * difference;
  if (!shared->n++ || difference > shared->most) {
    shared->most = difference;
    shared->most_ns = time_ns;
    shared->most_values[0] = a;
    shared->most_values[1] = b;
  }
  judge(shared, difference, sigma, time_ns);
  if (difference > tolerance && cli_columns_judge(columns, shared))
    note_beyond(shared, a, b, difference, tolerance, time_ns);
}

void cli_columns_add(cli_columns *columns, const cli_pairs *pairs)
{
  for (size_t i = 0; i < columns->n; i++) add(columns, &columns->shared[i], pairs);
}

/* ---- results ---- */

cli_shared *cli_columns_find(const cli_columns *columns, const char *name)
{
  for (size_t i = 0; i < columns->n; i++)
    if (strcmp(columns->shared[i].name, name) == 0) return &columns->shared[i];
  return NULL;
}

const cli_shared *cli_columns_first(const cli_columns *columns)
{
  const cli_shared *first = NULL;
  for (size_t i = 0; i < columns->n; i++) {
    const cli_shared *shared = &columns->shared[i];
    if (shared->beyond && (!first || shared->first_ns < first->first_ns)) first = shared;
  }
  return first;
}

double cli_shared_rms(const cli_shared *shared)
{
  return shared->n ? sqrt(shared->squares / (double)shared->n) : NAN;
}

double cli_shared_rms_sigmas(const cli_shared *shared)
{
  return shared->judged ? sqrt(shared->sigma_squares / (double)shared->judged) : NAN;
}
