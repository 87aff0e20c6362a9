/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report:
 *
 *   report.c         the object that is filled
 *   report_series.c  points into time bins
 *   report_axis.c    ranges and round tick values
 *   report_plot.c    one plot as SVG
 *   report_page.c    the page around them, and its way into the file */
#ifndef BRAMAH_LIB_TOOLS_REPORT_PARTS_H
#define BRAMAH_LIB_TOOLS_REPORT_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include "bramah/report.h"

/* ---- series ---- */

/* About one and a half bins per pixel column of a wide plot. */
enum { BRAMAH__BINS = 1200 };

/* The points of one time bin: a line through first, extremes and last looks as the line through all of them.
 */
typedef struct bramah__bin {
  uint64_t n; /* 0: the bin is empty */
  double t_first, t_last, t_min, t_max;
  double first, last, min, max;
  double low, high; /* of the band; NaN: no point had one */
} bramah__bin;

typedef struct bramah__series {
  double start, width; /* bin i covers start + [i, i + 1) width */
  double t_last;
  size_t n_bins; /* used so far; the last one is not empty */
  bramah__bin bin[BRAMAH__BINS];
} bramah__series;

/* Add a point (band from low to high, NaN for none) at a time not before the last one. */
void bramah__series_add(bramah__series *series, double t, double value, double low, double high);

/* ---- axes ---- */

typedef struct bramah__range {
  double low, high; /* low > high: nothing in it yet */
} bramah__range;

/* Round values k * mantissa * 10^power inside the range, for k from first to last. */
typedef struct bramah__ticks {
  int64_t first, last;
  int mantissa; /* 1, 2 or 5 */
  int power;
  int exponent; /* labels are to be read times 10^exponent, a multiple of 3 */
} bramah__ticks;

bramah__range bramah__range_empty(void);
int bramah__range_is_empty(bramah__range range);
void bramah__range_include(bramah__range *range, double value);

/* Range for an axis that shall show these values [n, finite; reordered]: all of them unless a few lie far
 * outside the rest, which then are cut off. Has some air at both ends and is never of zero width. */
bramah__range bramah__range_of(double *values, size_t n);

/* Move an end to a round value that lies just beyond it: a run of 10 s that ends at 9.999 s is labelled up
 * to 10. */
bramah__range bramah__range_snap(bramah__range range);

bramah__ticks bramah__ticks_of(bramah__range range, int about);
double bramah__tick_value(const bramah__ticks *ticks, int64_t k);

/* Label of tick k, terminated; out [BRAMAH__LABEL_SIZE]. */
enum { BRAMAH__LABEL_SIZE = 48 };
void bramah__tick_label(char *out, const bramah__ticks *ticks, int64_t k);

/* ---- the report ---- */

enum { BRAMAH__N_SERIES = 4 };

typedef struct bramah__plot {
  char *title, *unit;
  double factor;
  int symmetric;
  bramah__series *series[BRAMAH__N_SERIES]; /* NULL: no point yet */
} bramah__plot;

typedef struct bramah__table {
  char *title;
  size_t n_rows, n_columns;
  char **texts; /* header, then cells row by row */
} bramah__table;

typedef struct bramah__note {
  char *name, *value;
} bramah__note;

struct bramah_report {
  char *title;
  bramah__note *notes;
  bramah__plot *plots;
  bramah__table *tables;
  size_t n_notes, n_plots, n_tables;
};

/* ---- the page ---- */

/* A file being written, through a buffer. The first error stays. */
typedef struct bramah__page {
  int fd;
  int error; /* errno */
  size_t used;
  char buffer[1 << 14];
} bramah__page;

void bramah__page_put(bramah__page *page, const char *text);         /* as it is */
void bramah__page_put_escaped(bramah__page *page, const char *text); /* as text between tags or in quotes */
void bramah__page_put_integer(bramah__page *page, int64_t value);
void bramah__page_flush(bramah__page *page);

/* Title, notes, tables and plots. */
void bramah__page_write(bramah__page *page, const bramah_report *report);

/* One plot, over this range of time. */
void bramah__plot_write(bramah__page *page, const bramah__plot *plot, bramah__range time);

#endif
