/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a report:
 *
 *   report.c         the object that is filled
 *   report_map.c     ground from above
 *   report_points.c  points, ranges, ticks
 *   report_plot.c    plots as SVG: in the page and as a picture for papers
 *   report_data.c    what the page's script needs besides; the numbers as CSV
 *   report_page.c    the page
 *   report_write.c   a file being written
 *   report_page.js, report_page.css, report_paper.css: embedded by the build */
#ifndef BRAMAH_LIB_REPORT_REPORT_PARTS_H
#define BRAMAH_LIB_REPORT_REPORT_PARTS_H

#include <stddef.h>
#include <stdint.h>
#include "bramah/report.h"
#include "lib/io/fail.h"

/* ---- samples ---- */

enum { BRAMAH__SAMPLES = 12000 };

/* What one or several points in a row amount to. */
typedef struct bramah__sample {
  double t;             /* mean */
  float min, mean, max; /* the same of a single point */
  float low, high;      /* of the band; NaN: no point had one */
} bramah__sample;

typedef struct bramah__samples {
  uint64_t steps; /* points to a sample: 1, 2, 4, ... */
  uint64_t in_last;
  size_t n, room;
  double first, last; /* time of the first and of the last point */
  bramah__sample *at; /* [n] */
} bramah__samples;

/* Zero-initialise; release `at`. E_MEMORY. */
bramah_status bramah__samples_add(bramah__samples *samples, double t, double value, double low, double high);
int bramah__samples_banded(const bramah__samples *samples);

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

enum { BRAMAH__N_SERIES = BRAMAH_REPORT_N_SERIES };

typedef struct bramah__plot {
  const char *title, *unit, *band, *x;
  const char *names[BRAMAH__N_SERIES];
  double factor, weight;
  int symmetric, logarithmic;
  bramah_report_axis axis;
  size_t section, n_labels;
  const char **labels;                      /* [n_labels] */
  bramah__samples *curve[BRAMAH__N_SERIES]; /* NULL: no point yet */
} bramah__plot;

typedef struct bramah__section {
  const char *title, *text; /* text NULL: none */
} bramah__section;

typedef struct bramah__table {
  const char *title;
  size_t n_rows, n_columns;
  const char **texts; /* header, then cells row by row */
} bramah__table;

/* Ground from above. */
typedef struct bramah__map {
  const char *title, *text;
  size_t nx, ny, size, n_tracks;
  double cell, origin[2], low, high; /* heights */
  unsigned char *bytes;              /* [size] of its bitmap */
  bramah_report_track *tracks;       /* [n_tracks] */
  double *points;                    /* of all tracks, then of all dots */
  size_t n_dots;
  const double *dots; /* [n_dots x 2] */
  double dot_radius;
} bramah__map;
void bramah__map_free(bramah__map *map);

typedef struct bramah__note {
  const char *name, *value;
} bramah__note;

/* The series of a plot as they are drawn, from back to front, and what its legend calls them. */
extern const bramah_report_series bramah__drawn[BRAMAH__N_SERIES];
const char *bramah__series_name(const bramah__plot *plot, bramah_report_series series);

/* ---- machine and events ---- */

enum { BRAMAH__POSES = 500, BRAMAH__EVENTS_OF_KIND = 1000 };

typedef struct bramah__part {
  bramah_skeleton_kind kind;
  const char *name;
} bramah__part;

/* A motion of the machine: that of the run, or the shape of a mode. */
typedef struct bramah__motion {
  const char *name, *text; /* name NULL: of the run */
  size_t n_parts;
  bramah__part *parts;
  uint64_t stride, asked; /* every stride-th pose is kept; how often one was offered */
  double *pose;           /* [n_parts x 6] being worked out */
  size_t n_poses;
  double *t;     /* [BRAMAH__POSES] */
  float *points; /* [BRAMAH__POSES x n_parts x 6] */
} bramah__motion;

typedef struct bramah__event {
  double t;
  size_t kind;
  uint64_t number; /* in the order they came */
  const char *text;
} bramah__event;

typedef struct bramah__event_kind {
  const char *name;
  uint64_t n;
} bramah__event_kind;

typedef struct bramah__events {
  size_t n, n_kinds;
  bramah__event *at;
  bramah__event_kind *kinds;
} bramah__events;
/* The events in the order of their times, [n] to be freed; NULL without memory. */
const bramah__event **bramah__events_sorted(const bramah__events *events);

/* A text that the report keeps. */
typedef struct bramah__text {
  struct bramah__text *next;
  char text[];
} bramah__text;

struct bramah_report {
  const char *title;
  bramah__text *texts;         /* all of them */
  int failed;                  /* memory was out */
  bramah_report_answer answer; /* headline NULL: none */
  bramah__note *notes;
  bramah__plot *plots;
  bramah__table *tables;
  bramah__section *sections;
  bramah__motion *motions;
  bramah__map *maps;
  size_t n_notes, n_plots, n_tables, n_sections, n_motions, n_maps;
  bramah__events events;
};

/* A copy of a text that may be missing, for as long as the report. Without memory the report has failed. */
const char *bramah__report_keep(bramah_report *report, const char *text);

/* All plots over time show the same stretch of it, so that they can be compared. */
bramah__range bramah__report_time(const bramah_report *report);

/* ---- files ---- */

/* A file being written, through a buffer. The first error stays. */
typedef struct bramah__page {
  int fd;
  int error; /* errno */
  size_t used;
  char buffer[1 << 14];
} bramah__page;

/* A page into a new file (-: standard output); bramah__page_close says what went wrong and releases it. */
bramah_status bramah__page_open(const char *path, bramah_diag *diag, bramah__page **out);
bramah_status bramah__page_close(bramah__page *page, const char *path, bramah_diag *diag);

void bramah__page_put(bramah__page *page, const char *text); /* as it is */
void bramah__page_put_bytes(bramah__page *page, const char *bytes, size_t n);
void bramah__page_put_integer(bramah__page *page, int64_t value);
/* Markup with %d, %ld, %zu; %.9g, a number with so many digits whatever the locale; and %s, text as it may stand between
 * tags and in quotes: what would be markup in it is escaped. */
void bramah__page_format(bramah__page *page, const char *format, ...) BRAMAH__PRINTF(2, 3);

/* ---- what the build embeds ---- */

extern const char bramah__page_css[], bramah__page_js[], bramah__paper_css[];

/* ---- formats ---- */

/* All plots below each other, and their numbers as CSV. */
void bramah__picture_write(bramah__page *page, const bramah_report *report);
void bramah__csv_write(bramah__page *page, const bramah_report *report);

/* Time, events and motions for the script. */
void bramah__data_write(bramah__page *page, const bramah_report *report);

/* All maps, as a section. */
void bramah__maps_write(bramah__page *page, const bramah_report *report);

/* Plot n with its caption. */
void bramah__plot_write(bramah__page *page, const bramah_report *report, size_t n);

#endif
