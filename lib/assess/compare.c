/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bramah/compare.h"
#include "lib/io/fail.h"
#include "lib/logs/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct line {
  int64_t time_ns;
  double *values;         /* [columns] */
  unsigned char *present; /* [columns] */
} line;

/* One file while it is read. */
typedef struct reading {
  bramah_log_reader *reader;
  bramah_compared_file *file;
  size_t time; /* column */
  line row[2];
  int now;         /* the present row */
  int here, more;  /* there is a present row, and one after it */
  int64_t last_ns; /* of all rows read */
} reading;

typedef struct shared {
  size_t at[2];
  const char *expected; /* unit in which a value without one is read */
  int is_angle;
  int sigma_side;   /* whose <name>.sigma is used: 0, 1; -1: there is none */
  size_t sigma;     /* its column */
  double tolerance; /* given for this column; NaN: none */
  double scale;     /* largest magnitude */
  double squares, sigma_squares;
} shared;

typedef struct work {
  bramah_comparison result; /* first: the caller's pointer is ours */
  bramah_compare_options options;
  reading side[2];
  shared *columns; /* [n_columns] of the result */
} work;

/* ---- one file ---- */

static bramah_status open_side(work *w, int s, bramah_diag *diag)
{
  reading *side = &w->side[s];
  side->file = &w->result.file[s];
  side->last_ns = INT64_MIN;
  bramah_diag_clear(diag);
  bramah_status status = bramah_log_open(side->file->path, NULL, diag, &side->reader);
  if (!status) status = bramah_log_find(side->reader, w->options.time, "s", &side->time, diag);
  if (status) return bramah__place(diag, side->file->path, 0);
  const size_t n = bramah_log_get_info(side->reader).n_columns;
  for (int i = 0; i < 2; i++) {
    side->row[i].values = calloc(n, sizeof(double));
    side->row[i].present = calloc(n, 1);
    if (!side->row[i].values || !side->row[i].present) return bramah__fail_memory(diag);
  }
  return BRAMAH_OK;
}

static void close_side(reading *side)
{
  bramah_log_close(side->reader);
  for (int i = 0; i < 2; i++) {
    free(side->row[i].values);
    free(side->row[i].present);
  }
}

/* Read the row after the present one, the first within the window. */
static bramah_status read_next(const work *w, reading *side, bramah_diag *diag)
{
  line *row = &side->row[!side->now];
  do {
    int end;
    const bramah_status status = bramah_log_next(side->reader, row->values, row->present, &end, diag);
    side->more = !status && !end;
    if (!side->more) return status;
    const double time = row->present[side->time] ? row->values[side->time] : (double)NAN;
    const char *wrong = isnan(time)           ? "the time of this row is missing"
                        : !(fabs(time) < 9e9) ? "this time is too large for nanoseconds"
                                              : NULL;
    if (!wrong) row->time_ns = llround(time * 1e9);
    if (!wrong && side->last_ns != INT64_MIN && row->time_ns <= side->last_ns)
      wrong = "time does not go forward";
    if (wrong) {
      const bramah_log_info info = bramah_log_get_info(side->reader);
      return bramah__failf(diag, BRAMAH_E_TIME, info.path, info.line, info.columns[side->time].name, "%s",
                           wrong);
    }
    side->last_ns = row->time_ns;
  } while (row->time_ns < w->options.from_ns);
  if (row->time_ns > w->options.to_ns) side->more = 0;
  return BRAMAH_OK;
}

static bramah_status advance(const work *w, reading *side, bramah_diag *diag)
{
  side->here = side->more;
  if (!side->more) return BRAMAH_OK;
  side->now = !side->now;
  side->file->last_ns = side->row[side->now].time_ns;
  if (!side->file->rows++) side->file->first_ns = side->file->last_ns;
  return read_next(w, side, diag);
}

/* ---- pairs of rows ---- */

static int64_t time_of(const reading *side) { return side->row[side->now].time_ns; }

/* Next pair; *end = 1 at the end of both. */
static bramah_status next_pair(work *w, int *end, bramah_diag *diag)
{
  reading *a = &w->side[0], *b = &w->side[1];
  bramah_status status = BRAMAH_OK;
  for (int i = 0; !status && i < 2; i++) {
    if (w->side[i].last_ns == INT64_MIN) status = read_next(w, &w->side[i], diag);
    if (!status) status = advance(w, &w->side[i], diag);
  }
  while (!status && (a->here || b->here)) {
    /* The file whose present row has no partner, if there is one. Times are within 9e18 ns. */
    reading *alone = a->here ? a : b;
    if (a->here && b->here) {
      reading *early = time_of(a) <= time_of(b) ? a : b, *late = early == a ? b : a;
      const uint64_t gap = (uint64_t)time_of(late) - (uint64_t)time_of(early);
      int is_alone = gap > (uint64_t)w->options.within_ns;
      if (!is_alone && gap && early->more) { /* its next row may be nearer */
        const int64_t next = early->row[!early->now].time_ns, is = time_of(late);
        is_alone = (next > is ? (uint64_t)next - (uint64_t)is : (uint64_t)is - (uint64_t)next) < gap;
      }
      if (!is_alone) break;
      alone = early;
    }
    const reading *other = alone == a ? b : a;
    if (other->file->rows && time_of(alone) < other->file->first_ns)
      alone->file->before++;
    else if (!other->here)
      alone->file->after++;
    else
      alone->file->between++;
    status = advance(w, alone, diag);
  }
  *end = !a->here;
  if (status || *end) return status;
  const int64_t gap = llabs(time_of(a) - time_of(b));
  if (gap > w->result.furthest_ns) w->result.furthest_ns = gap;
  w->result.pairs++;
  return BRAMAH_OK;
}

static double value_of(const work *w, int side, size_t column)
{
  const line *row = &w->side[side].row[w->side[side].now];
  return row->present[column] ? row->values[column] : (double)NAN;
}

/* ---- which columns ---- */

/* A column of the first file, which the second one has too. */
static bramah_status share(work *w, size_t at, bramah_diag *diag)
{
  const bramah_log_reader *a = w->side[0].reader, *b = w->side[1].reader;
  bramah_compared_column result = {.name = a->columns[at].name, .unit = a->columns[at].unit};
  shared c = {.at = {at, 0}, .tolerance = (double)NAN, .sigma_side = -1};
  bramah_dimension dimension = {0};
  char name[256];
  const char *unit = result.unit; /* readers of logs take some marks for no unit */
  c.expected = !*unit || strcmp(unit, "-") == 0 || strcmp(unit, "counts") == 0 ? "1" : unit;
  bramah_status status = bramah__log_unit_of(a, at, &result.factor, &dimension, diag);
  if (status) return bramah__place(diag, a->path, 0);
  status = bramah_log_find(b, result.name, c.expected, &c.at[1], diag);
  if (status) return bramah__place(diag, b->path, 0);
  c.is_angle = dimension.rad == 2 && !dimension.m && !dimension.kg && !dimension.s && !dimension.volt;
  snprintf(name, sizeof name, "%s.sigma", result.name);
  for (int side = 1; side >= 0; side--) {
    const size_t sigma = bramah__log_index(w->side[side].reader, name);
    if (sigma == SIZE_MAX) continue;
    c.sigma_side = side;
    c.sigma = sigma;
  }
  w->columns[w->result.n_columns] = c;
  w->result.columns[w->result.n_columns++] = result;
  return BRAMAH_OK;
}

/* The columns that are named, or all that both files have, and their tolerances. */
static bramah_status find_columns(work *w, bramah_diag *diag)
{
  const size_t n = w->side[0].reader->n_columns + w->options.n_columns + 1;
  w->columns = calloc(n, sizeof *w->columns);
  w->result.columns = calloc(n, sizeof *w->result.columns);
  for (int i = 0; i < 2; i++)
    w->result.file[i].alone = calloc(w->side[i].reader->n_columns + 1, sizeof(const char *));
  if (!w->columns || !w->result.columns || !w->result.file[0].alone || !w->result.file[1].alone)
    return bramah__fail_memory(diag);
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < w->options.n_columns; i++) {
    size_t at;
    status = bramah_log_find(w->side[0].reader, w->options.columns[i], NULL, &at, diag);
    if (status) return bramah__place(diag, w->side[0].reader->path, 0);
    status = share(w, at, diag);
  }
  for (int s = 0; s < 2 && !w->options.n_columns; s++) {
    const reading *here = &w->side[s], *there = &w->side[!s];
    for (size_t i = 0; !status && i < here->reader->n_columns; i++) {
      const char *name = here->reader->columns[i].name;
      if (i == here->time) continue;
      if (bramah__log_index(there->reader, name) == SIZE_MAX)
        here->file->alone[here->file->n_alone++] = name;
      else if (s == 0)
        status = share(w, i, diag);
    }
  }
  if (!status && !w->result.n_columns)
    status = bramah__failf(diag, BRAMAH_E_COLUMN, w->result.file[1].path, 0, NULL,
                           "no column has the name of one in %s", w->result.file[0].path);
  if (status) return status;

  for (size_t i = 0; i < w->options.n_tolerances; i++) {
    const bramah_tolerance *t = &w->options.tolerances[i];
    size_t k = 0;
    while (k < w->result.n_columns && strcmp(w->result.columns[k].name, t->column) != 0) k++;
    if (k == w->result.n_columns)
      return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, NULL, "no column '%s' is compared", t->column);
    bramah_diag_clear(diag);
    if (bramah_quantity_parse(t->value, w->columns[k].expected, &w->columns[k].tolerance, diag)) {
      snprintf(diag->thing, sizeof diag->thing, "%s", t->column);
      return diag->status = BRAMAH_E_ARGUMENT;
    }
    if (w->columns[k].tolerance < 0.0)
      return bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, t->column, "'%s' is negative", t->value);
  }
  for (size_t k = 0; k < w->result.n_columns; k++)
    w->result.columns[k].judged = !(w->options.sigmas > 0.0) || w->columns[k].sigma_side >= 0 ||
                                  w->options.relative > 0.0 || !isnan(w->columns[k].tolerance);
  return BRAMAH_OK;
}

/* ---- differences ---- */

static void add_values(const work *w, shared *c, size_t column)
{
  bramah_compared_column *result = &w->result.columns[column];
  static const double turn = 6.28318530717958647693;
  const double a = value_of(w, 0, c->at[0]), b = value_of(w, 1, c->at[1]);
  if (isnan(a) || isnan(b)) {
    result->alone[0] += (uint64_t)!isnan(a);
    result->alone[1] += (uint64_t)!isnan(b);
    return;
  }
  const double sigma = c->sigma_side < 0 ? (double)NAN : value_of(w, c->sigma_side, c->sigma);
  const bramah_compared_pair pair = {
      .time_ns = time_of(&w->side[0]),
      .value = {a, b},
      .difference = fabs(w->options.turns && c->is_angle ? remainder(a - b, turn) : a - b),
      .tolerance = fmax(fmax(c->tolerance, w->options.relative * c->scale),
                        sigma > 0.0 ? w->options.sigmas * sigma : 0.0)};
  if (w->options.listener) w->options.listener(w->options.listener_user, column, result, &pair, sigma);
  c->squares += pair.difference * pair.difference;
  if (!result->n++ || pair.difference > result->largest.difference) result->largest = pair;
  if (sigma > 0.0) {
    const double sigmas = pair.difference / sigma;
    result->n_sigma++;
    c->sigma_squares += sigmas * sigmas;
    if (sigmas > result->most_sigmas) {
      result->most_sigmas = sigmas;
      result->most_sigmas_ns = pair.time_ns;
    }
  }
  if (pair.difference > pair.tolerance && result->judged && !result->beyond++) result->first = pair;
}

/* Largest magnitude of each column in either file, for relative tolerances: the first pass of two, with readers of
 * its own. */
static bramah_status measure(const work *w, bramah_diag *diag)
{
  work pass = {.options = w->options, .columns = w->columns, .result.n_columns = w->result.n_columns};
  bramah_status status = BRAMAH_OK;
  for (int i = 0; !status && i < 2; i++) {
    pass.result.file[i].path = w->result.file[i].path;
    status = open_side(&pass, i, diag);
  }
  for (int end = 0; !status && !end;) {
    status = next_pair(&pass, &end, diag);
    for (size_t i = 0; !status && !end && i < w->result.n_columns; i++)
      for (int side = 0; side < 2; side++) { /* fmax leaves out what is not a number */
        shared *c = &pass.columns[i];
        c->scale = fmax(c->scale, fabs(value_of(&pass, side, c->at[side])));
      }
  }
  for (int i = 0; i < 2; i++) close_side(&pass.side[i]);
  return status;
}

void bramah_compare_options_default(bramah_compare_options *options)
{
  *options = (bramah_compare_options){.time = "t", .from_ns = INT64_MIN, .to_ns = INT64_MAX};
}

bramah_status bramah_compare(const char *a, const char *b, const bramah_compare_options *options,
                             bramah_diag *diag, bramah_comparison **out)
{
  work *w = calloc(1, sizeof *w);
  if (!w) return bramah__fail_memory(diag);
  bramah_comparison *r = &w->result;
  bramah_compared_file *first = &r->file[0], *second = &r->file[1];
  bramah_compare_options_default(&w->options);
  if (options) w->options = *options;
  first->path = a;
  second->path = b;
  bramah_status status = open_side(w, 0, diag);
  if (!status) status = open_side(w, 1, diag);
  if (!status) status = find_columns(w, diag);
  if (!status && w->options.relative > 0.0) status = measure(w, diag);
  for (int end = 0; !status && !end;) {
    status = next_pair(w, &end, diag);
    for (size_t i = 0; !status && !end && i < r->n_columns; i++) add_values(w, &w->columns[i], i);
  }

  if (!status && (!first->rows || !second->rows))
    status = bramah__failf(diag, BRAMAH_E_EMPTY, first->rows ? b : a, 0, NULL,
                           "the file has no row within the times asked for");
  if (!status && !r->pairs)
    status = bramah__failf(
        diag, BRAMAH_E_TIME, NULL, 0, NULL,
        "no row of %s (%.9g to %.9g s) has a partner in %s (%.9g to %.9g s); a distance (within) takes "
        "the nearest",
        a, 1e-9 * (double)first->first_ns, 1e-9 * (double)first->last_ns, b, 1e-9 * (double)second->first_ns,
        1e-9 * (double)second->last_ns);
  r->lacks = first->n_alone || first->before || first->between || first->after;
  for (size_t i = 0; !status && i < r->n_columns; i++) {
    bramah_compared_column *c = &r->columns[i];
    c->rms = c->n ? sqrt(w->columns[i].squares / (double)c->n) : (double)NAN;
    c->rms_sigmas = c->n_sigma ? sqrt(w->columns[i].sigma_squares / (double)c->n_sigma) : (double)NAN;
    if (!c->n_sigma) c->most_sigmas = (double)NAN;
    r->lacks |= c->alone[0] > 0;
    if (c->beyond && (!r->first || c->first.time_ns < r->first->first.time_ns)) r->first = c;
  }
  if (status)
    bramah_comparison_free(r);
  else
    *out = r;
  return status;
}

void bramah_comparison_free(bramah_comparison *comparison)
{
  work *w = (work *)comparison;
  if (!w) return;
  for (int i = 0; i < 2; i++) {
    close_side(&w->side[i]);
    free(comparison->file[i].alone);
  }
  free(comparison->columns);
  free(w->columns);
  free(w);
}
