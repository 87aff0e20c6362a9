/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/report/report_parts.h"

#include <math.h>

/* Join two neighbouring bins into the earlier one. */
static void join(bramah__bin *bin, const bramah__bin *later)
{
  if (!later->n) return;
  if (!bin->n) {
    *bin = *later;
    return;
  }
  bin->n += later->n;
  bin->t_last = later->t_last;
  bin->last = later->last;
  if (later->min < bin->min) {
    bin->min = later->min;
    bin->t_min = later->t_min;
  }
  if (later->max > bin->max) {
    bin->max = later->max;
    bin->t_max = later->t_max;
  }
  bin->low = fmin(bin->low, later->low); /* of a number and NaN: the number */
  bin->high = fmax(bin->high, later->high);
}

static void halve_resolution(bramah__series *series)
{
  size_t n = (series->n_bins + 1) / 2;
  for (size_t i = 0; i < n; i++) {
    bramah__bin joined = series->bin[2 * i];
    if (2 * i + 1 < series->n_bins) join(&joined, &series->bin[2 * i + 1]);
    series->bin[i] = joined;
  }
  series->n_bins = n;
  series->width *= 2.0;
}

/* Index of the bin of a time, which there is after as many doublings as it takes. */
static size_t bin_index(bramah__series *series, double t)
{
  while (!((t - series->start) / series->width < (double)BRAMAH__BINS)) halve_resolution(series);
  return (size_t)((t - series->start) / series->width);
}

static void start_series(bramah__series *series, double t)
{
  series->start = t;
  series->width =
      0x1p-20; /* a microsecond: finer than any log; the first thousand points double it as need be */
}

void bramah__series_add(bramah__series *series, double t, double value, double low, double high)
{
  if (!series->n_bins) start_series(series, t);
  size_t i = bin_index(series, t);
  while (series->n_bins <= i) series->bin[series->n_bins++].n = 0;
  bramah__bin point = {1, t, t, t, t, value, value, value, value, low, high};
  join(&series->bin[i], &point);
  series->t_last = t;
}
