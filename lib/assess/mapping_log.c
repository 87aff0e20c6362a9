/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A log whose columns may be anything: which is the time, and what each column is like. */
#define _GNU_SOURCE /* strdup */
#include "lib/assess/mapping.h"
#include "lib/io/fail.h"
#include "lib/logs/reader.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_ROWS = 40000, FEWEST_ROWS = 100, MOST_COLUMNS = 400, FEWEST_BINS = 50, MOST_BINS = 2000 };
static const double longest = 20.0, bin = 0.01, lag = 0.5, averaged = 0.11; /* s */

/* ---- reading ---- */

static bramah_status add_channels(bramah_log_reader *reader, bramah__channels *c, bramah_diag *diag)
{
  const bramah_log_info info = bramah_log_get_info(reader);
  c->n = info.n_columns < MOST_COLUMNS ? info.n_columns : MOST_COLUMNS;
  c->n_more = info.n_columns - c->n;
  c->channel = calloc(c->n + 1, sizeof *c->channel);
  if (!c->channel) return bramah__fail_memory(diag);
  for (size_t i = 0; i < c->n; i++) {
    bramah__channel *channel = &c->channel[i];
    bramah_diag ignored;
    size_t column;
    channel->name = strdup(info.columns[i].name);
    channel->unit = strdup(info.columns[i].unit);
    channel->value = calloc(MOST_ROWS, sizeof *channel->value);
    if (!channel->name || !channel->unit || !channel->value) return bramah__fail_memory(diag);
    double factor;
    channel->is_known = !bramah__log_is_no_unit(channel->unit) &&
                        !bramah_unit_parse(channel->unit, &factor, &channel->dimension, &ignored);
    bramah_log_find(reader, channel->name, NULL, &column, &ignored); /* so that its cells are read */
  }
  return BRAMAH_OK;
}

static int is_called_time(const char *name)
{
  static const char *const names[] = {"t", "time", "timestamp", "tout", "zeit"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcasecmp(name, names[i]) == 0) return 1;
  return 0;
}

/* Times that are called so and have a unit, or dates, are read as such. */
static void find_stated_time(bramah_log_reader *reader, bramah__channels *c)
{
  for (size_t i = 0; i < c->n; i++) {
    bramah_diag ignored;
    if (!is_called_time(c->channel[i].name)) continue;
    if (!bramah__log_set_time(reader, i, NULL, 0, &ignored)) {
      c->stated_time = i;
      c->channel[i].is_known = 1;
      c->channel[i].dimension.s = 2;
      return;
    }
    reader->time_column = SIZE_MAX;
    reader->clock = (bramah__time_format){0};
  }
}

static bramah_status read_rows(bramah_log_reader *reader, bramah__channels *c, bramah_diag *diag)
{
  const size_t width = bramah_log_get_info(reader).n_columns;
  double *row = calloc(width + 1, sizeof *row);
  unsigned char *present = calloc(width + 1, 1);
  bramah_status status = row && present ? BRAMAH_OK : bramah__fail_memory(diag);
  int64_t first = 0;
  for (int end = 0; !status && c->n_rows < MOST_ROWS;) {
    status = bramah_log_next(reader, row, present, &end, diag);
    if (status || end) break;
    for (size_t i = 0; i < c->n; i++)
      c->channel[i].value[c->n_rows] = present[i] && isfinite(row[i]) ? row[i] : (double)NAN;
    if (c->stated_time < c->n && present[c->stated_time]) {
      if (!c->n_rows) first = reader->time;
      c->channel[c->stated_time].value[c->n_rows] = 1e-9 * (double)(reader->time - first);
    }
    c->n_rows++;
  }
  free(row);
  free(present);
  if (!status && c->n_rows < FEWEST_ROWS)
    status = bramah__failf(diag, BRAMAH_E_EMPTY, bramah_log_get_info(reader).path, 0, NULL,
                           "%zu rows are too few to tell the columns apart: %d are needed", c->n_rows,
                           FEWEST_ROWS);
  return status;
}

/* ---- the time ---- */

/* It only goes forward, in every row, and most of its steps are about as long as the usual one. *step: that. One that is stated need
 * not be so even. */
static int is_time(const bramah__channels *c, size_t i, double *sorted, double *step)
{
  const double *t = c->channel[i].value;
  size_t even = 0;
  for (size_t k = 1; k < c->n_rows; k++) {
    if (!(t[k] > t[k - 1]) && !(i == c->stated_time && t[k] == t[k - 1])) return 0;
    sorted[k - 1] = t[k] - t[k - 1];
  }
  gsl_sort(sorted, 1, c->n_rows - 1);
  *step = sorted[(c->n_rows - 1) / 2];
  for (size_t k = 0; k + 1 < c->n_rows; k++) even += sorted[k] > 0.5 * *step && sorted[k] < 2.0 * *step;
  return i == c->stated_time || (double)even > 0.8 * (double)(c->n_rows - 1);
}

/* Seconds where they are stated; else the largest unit with ten rows a second or more, so that 5 is 5 ms. */
static void find_time_unit(bramah__channels *c, double step)
{
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
  const bramah__channel *time = &c->channel[c->time];
  c->time_factor = 1.0;
  c->time_unit = NULL;
  if (time->is_known) return;
  for (size_t i = 0; i < 4; i++) {
    c->time_factor = units[i].seconds;
    c->time_unit = units[i].name;
    if (step * units[i].seconds <= 0.1) return;
  }
}

static bramah_status find_time(bramah__channels *c, const char *path, bramah_diag *diag)
{
  double *sorted = calloc(c->n_rows, sizeof *sorted), step = 0.0, of_best = 0.0;
  if (!sorted) return bramah__fail_memory(diag);
  c->time = SIZE_MAX;
  for (size_t i = 0; i < c->n; i++) {
    const bramah__channel *channel = &c->channel[i];
    const int is_other =
        channel->is_known && (channel->dimension.m || channel->dimension.kg || channel->dimension.volt ||
                              channel->dimension.rad || channel->dimension.s != 2);
    if (is_other || !is_time(c, i, sorted, &step)) continue;
    if (c->time != SIZE_MAX && !is_called_time(channel->name)) continue;
    c->time = i;
    of_best = step;
    if (is_called_time(channel->name)) break;
  }
  free(sorted);
  if (c->time == SIZE_MAX)
    return bramah__failf(diag, BRAMAH_E_TIME, path, 0, NULL,
                         "no column can be the time: none goes forward in every row at even steps");
  find_time_unit(c, of_best);
  c->t = calloc(c->n_rows, sizeof *c->t);
  if (!c->t) return bramah__fail_memory(diag);
  const double *t = c->channel[c->time].value;
  size_t n = 0;
  for (; n < c->n_rows; n++) {
    c->t[n] = (t[n] - t[0]) * c->time_factor;
    if (c->t[n] > longest) break;
  }
  c->n_rows = n;
  if (n < FEWEST_ROWS)
    return bramah__failf(diag, BRAMAH_E_EMPTY, path, 0, c->channel[c->time].name,
                         "the first 20 s have %zu rows, too few to tell the columns apart: %d are needed", n,
                         FEWEST_ROWS);
  return BRAMAH_OK;
}

/* ---- what a column is like ---- */

static double median(double *x, size_t n)
{
  if (!n) return NAN;
  gsl_sort(x, 1, n);
  return x[n / 2];
}

static void describe(const bramah__channels *c, bramah__channel *channel, double *work)
{
  double *cells = work, *gaps = cells + c->n_rows, *bends = gaps + c->n_rows;
  size_t n = 0, n_first = 0, same = 0;
  double last = 0.0;
  channel->least = HUGE_VAL;
  channel->most = -HUGE_VAL;
  for (size_t k = 0; k < c->n_rows; k++) {
    const double y = channel->value[k];
    if (isnan(y)) continue;
    if (n) gaps[n - 1] = c->t[k] - last;
    if (n) same += y == cells[n - 1];
    if (n > 1) bends[n - 2] = fabs(y - 2.0 * cells[n - 1] + cells[n - 2]);
    if (c->t[k] <= 0.1 || !n) {
      channel->first += y;
      n_first++;
    }
    channel->mean += y;
    channel->least = fmin(channel->least, y);
    channel->most = fmax(channel->most, y);
    last = c->t[k];
    cells[n++] = y;
  }
  channel->n = n;
  if (n < 2) return;
  channel->mean /= (double)n;
  channel->first /= (double)n_first;
  channel->held = (double)same / (double)(n - 1);
  channel->interval_ns = llround(1e9 * median(gaps, n - 1));
  channel->scatter = n > 20 ? median(bends, n - 2) / (0.6745 * sqrt(6.0)) : (double)NAN; /* of white noise */
  gsl_sort(cells, 1, n);
  channel->lowest = cells[n / 20];
}

/* Means over bins; one without a cell holds what was last. */
static void fill_bins(const bramah__channels *c, const bramah__channel *channel, double *x)
{
  double held = channel->first;
  size_t k = 0;
  for (size_t b = 0; b < c->bins.n; b++) {
    double sum = 0.0;
    size_t n = 0;
    for (; k < c->n_rows && c->t[k] < (double)(b + 1) * c->bins.length; k++)
      if (!isnan(channel->value[k])) {
        sum += channel->value[k];
        n++;
      }
    if (n) held = sum / (double)n;
    x[b] = held;
  }
}

void bramah__changes(const bramah__bins *bins, size_t n_bins, const double *x, double *sum, double *out)
{
  sum[0] = 0.0;
  for (size_t b = 0; b < n_bins; b++) sum[b + 1] = sum[b] + (x[b] - x[0]);
  for (size_t b = 0; b + bins->lag < n_bins; b++) {
    const size_t to = b + bins->lag;
    const size_t a0 = b > bins->half ? b - bins->half : 0, a1 = b + bins->half + 1;
    const size_t b0 = to > bins->half ? to - bins->half : 0;
    const size_t b1 = to + bins->half + 1 < n_bins ? to + bins->half + 1 : n_bins;
    const size_t e1 = a1 < n_bins ? a1 : n_bins;
    out[b] = (sum[b1] - sum[b0]) / (double)(b1 - b0) - (sum[e1] - sum[a0]) / (double)(e1 - a0);
  }
}

static bramah_status find_changes(bramah__channels *c, const char *path, bramah_diag *diag)
{
  const double duration = c->t[c->n_rows - 1], step = duration / (double)(c->n_rows - 1);
  bramah__bins *bins = &c->bins;
  bins->length = fmax(bin, fmax(2.0 * step, duration / MOST_BINS));
  bins->n = (size_t)(duration / bins->length);
  bins->lag = (size_t)fmax(2.0, round(lag / bins->length));
  bins->half = (size_t)(0.5 * averaged / bins->length);
  const size_t fewest = 2 * bins->lag + 1 > FEWEST_BINS ? 2 * bins->lag + 1 : FEWEST_BINS;
  if (bins->n < fewest)
    return bramah__failf(
        diag, BRAMAH_E_EMPTY, path, 0, NULL,
        "%.3g s with a row every %.3g s are too few to tell the columns apart: more than %.3g s are needed",
        duration, step, (double)(fewest - 1) * bins->length);
  double *work = calloc(3 * c->n_rows + 2 * bins->n + 1, sizeof *work);
  if (!work) return bramah__fail_memory(diag);
  for (size_t i = 0; i < c->n; i++) {
    bramah__channel *channel = &c->channel[i];
    double *x = work + 3 * c->n_rows;
    channel->change = calloc(bins->n, sizeof *channel->change);
    if (!channel->change) return free(work), bramah__fail_memory(diag);
    describe(c, channel, work);
    if (channel->n < 2) continue;
    fill_bins(c, channel, x);
    bramah__changes(bins, bins->n, x, x + bins->n, channel->change);
  }
  free(work);
  return BRAMAH_OK;
}

bramah_status bramah__channels_read(const char *path, const char *dbc, bramah__channels *out,
                                    bramah_diag *diag)
{
  const bramah_log_format format = {.skip_bad_cells = 1, .dbc = dbc};
  bramah_log_reader *reader = NULL;
  memset(out, 0, sizeof *out);
  out->stated_time = SIZE_MAX;
  bramah_status status = bramah_log_open(path, &format, diag, &reader);
  if (!status) status = add_channels(reader, out, diag);
  if (!status) find_stated_time(reader, out);
  if (!status) status = read_rows(reader, out, diag);
  bramah_log_close(reader);
  if (!status) status = find_time(out, path, diag);
  if (!status) status = find_changes(out, path, diag);
  return status;
}

void bramah__channels_free(bramah__channels *channels)
{
  for (size_t i = 0; channels->channel && i < channels->n; i++) {
    free(channels->channel[i].name);
    free(channels->channel[i].unit);
    free(channels->channel[i].value);
    free(channels->channel[i].change);
  }
  free(channels->channel);
  free(channels->t);
}
