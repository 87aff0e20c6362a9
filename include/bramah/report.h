/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run to look at: one self-contained HTML page that answers first and shows then, its plots as a picture for papers
 * (SVG), and every plotted number as CSV. Part of libbramah-tools.
 *
 * The page needs no network. The same plots are in the page and in the picture; the page's script moves a cursor of time
 * over them, zooms them and moves the machine. Without scripts they stand still. */
#ifndef BRAMAH_REPORT_H
#define BRAMAH_REPORT_H

#include "bramah/coupled.h"
#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_report bramah_report;

/* A report under construction. Memory does not grow with the log: a series keeps up to 12 000 points as they
 * are; beyond that each point is 2, 4, 8, ... steps by their minimum, mean and maximum. Plots show minimum and maximum of
 * some 1700 columns, and in the window of the answer (bramah_report_answer) up to eight times finer ones. */
BRAMAH_API bramah_status bramah_report_new(const char *title, bramah_diag *diag, bramah_report **out);
BRAMAH_API void bramah_report_free(bramah_report *report); /* NULL allowed */

/* What the page says first, and whether the reader may go on. */
typedef enum bramah_report_level {
  BRAMAH_REPORT_FINE = 0,   /* nothing speaks against it */
  BRAMAH_REPORT_UNSURE = 1, /* it cannot be told */
  BRAMAH_REPORT_WRONG = 2   /* not to be trusted */
} bramah_report_level;
/* The answer of a report. */
typedef struct bramah_report_answer {
  bramah_report_level level;
  const char *headline; /* a sentence */
  const char *reason;   /* which check, of what, when, how far; NULL: none */
  const char *advice;   /* what to do; of a fine run, what to keep in mind; NULL: none */
  double begin, end;    /* [s] the window to look at: a link to it, finer plots there; NaN: none */
} bramah_report_answer;
/* Say it; the strings are copied. A second call replaces the first. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_report_say(bramah_report *report, const bramah_report_answer *answer);

/* What was run, "name: value", in small below it. */
BRAMAH_API bramah_status bramah_report_note(bramah_report *report, const char *name, const char *value);

typedef enum bramah_report_series {
  BRAMAH_REPORT_ESTIMATE = 0, /* line, in front */
  BRAMAH_REPORT_TRUTH = 1,    /* broad pale line behind the estimate */
  /* dots, or bars where there are many, behind; in symmetric plots: innovations left out */
  BRAMAH_REPORT_MEASURED = 2,
  BRAMAH_REPORT_MODEL = 3 /* dashed line: the model alone */
} bramah_report_series;
enum { BRAMAH_REPORT_N_SERIES = 4 };

typedef enum bramah_report_axis {
  BRAMAH_REPORT_TIME = 0, /* t [s]; all such plots share their axis */
  /* its own, drawn as stems: lags of an autocorrelation, classes of a histogram, things with names */
  BRAMAH_REPORT_LAG = 1,
  BRAMAH_REPORT_CURVE = 2 /* its own, drawn as lines: a search over its steps, a profile */
} bramah_report_axis;

/* How a plot looks. Zero and NULL: as said. Strings are copied. */
typedef struct bramah_report_plot {
  /* its heading; NULL: "Plots". Sections come in the order in which plots first name them */
  const char *section;
  const char *text;  /* one or two sentences under the heading, if it has none yet; NULL: none */
  const char *title; /* "crank.angle" */
  const char *unit;  /* of the axis as shown, "deg"; "1": none */
  double factor;     /* from SI to that unit */
  int symmetric;     /* 1: the band of bramah_report_point lies about zero (innovations, errors) */
  int logarithmic;   /* 1: decades have the same height; values that are not positive are left out */
  bramah_report_axis axis;
  const char *names[BRAMAH_REPORT_N_SERIES]; /* in the legend; NULL: "estimate", "truth", "measured", "model
                                                alone"; in symmetric plots "value" and "left out" */
  const char *band;                          /* in the legend; NULL: "±1.96 σ" */
  const char *x;                             /* under an axis of its own; NULL: "lag [samples]" */
  size_t n_labels;                           /* of the stems at 1, 2, ...; 0: they have numbers */
  const char *const *labels;                 /* [n_labels] */
} bramah_report_plot;

/* Add a plot; its number through *number. Errors: E_VALUE (factor not finite), E_MEMORY. */
BRAMAH_API bramah_status bramah_report_add(bramah_report *report, const bramah_report_plot *plot,
                                           size_t *number);

/* How much a plot matters: the heaviest of a section comes first. From 1 on it contradicts: the four heaviest of these
 * come before all sections. Of several weights the largest counts, none is 0. Errors: E_ARGUMENT (no such plot). */
BRAMAH_API bramah_status bramah_report_weigh(bramah_report *report, size_t plot, double weight);

/* Add a point of a series [SI], with a band from low to high (NaN: none; only with ESTIMATE). A NaN value is
 * skipped. t [s] (or lag) must not decrease within a plot and series. Errors: E_ARGUMENT (no such plot or series),
 * E_TIME (t goes back or is not finite), E_MEMORY. */
BRAMAH_API bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series,
                                             double t, double value, double low, double high);

/* Something that happened at t [s]: kind in a word or two ("gate", "gap", "sensor lost"), text for the
 * reader. In any order. Of each kind the first 1000 are kept, the others counted. */
BRAMAH_API bramah_status bramah_report_event(bramah_report *report, double t, const char *kind,
                                             const char *text);

/* The machine as a stick figure that follows the time cursor: its pose (bramah_coupled_skeleton) at ascending times
 * t [s], always of the same plant. Of many poses up to 500 are kept, evenly; only those are worked out. Errors:
 * E_TIME, E_MEMORY. */
BRAMAH_API bramah_status bramah_report_pose(bramah_report *report, double t, bramah_coupled *plant);

/* The poses that follow belong to a motion of its own that is shown again and again, whatever the cursor: the shape of a
 * mode. Its first pose, before time 0, is its rest, shown pale; the others from 0 on are the motion. The reader chooses
 * among those of a report. text: a line below it; NULL: none. Errors: E_MEMORY. */
BRAMAH_API bramah_status bramah_report_motion(bramah_report *report, const char *name, const char *text);

/* A line over a map: places [n x 2, m] in order. */
typedef struct bramah_report_track {
  const char *name;
  size_t n;
  const double *xy;
} bramah_report_track;

/* Ground seen from above, x to the right and y up: heights [nx x ny, m] of square cells as of a terrain (bramah/terrain.h), finite,
 * 16384 cells a side at most; it is shown shaded, with dots and tracks over it. All is copied. */
typedef struct bramah_report_map {
  const char *title;
  const char *text; /* below it; NULL: none */
  size_t nx, ny;
  double cell, origin[2]; /* [m] */
  const double *heights;
  size_t n_tracks;
  const bramah_report_track *tracks;
  size_t n_dots;      /* things on it, as particles of soil */
  const double *dots; /* [n_dots x 2, m] their places */
  double dot_radius;  /* [m] */
} bramah_report_map;

/* Add a map to the page; pictures and data have none. Errors: E_ARGUMENT (no cells, or too many), E_VALUE (a height is not finite),
 * E_MEMORY. */
BRAMAH_API bramah_status bramah_report_add_map(bramah_report *report, const bramah_report_map *map,
                                               bramah_diag *diag);

/* Add a table: header and rows of cells as text, row-major [n_rows x n_columns]. */
BRAMAH_API bramah_status bramah_report_add_table(bramah_report *report, const char *title, size_t n_rows,
                                                 size_t n_columns, const char *const *header,
                                                 const char *const *cells);

typedef enum bramah_report_format {
  BRAMAH_REPORT_PAGE = 0,    /* HTML */
  BRAMAH_REPORT_PICTURE = 1, /* the plots below each other as SVG, light, for papers; path ends in .svg */
  /* Every number the plots show as CSV: a row per point with columns plot, unit, series, x, steps, min, mean, max,
   * low, high (in the plot's unit; x in s or lags; steps: how many the point is made of; low and high empty without
   * a band). */
  BRAMAH_REPORT_DATA = 2
} bramah_report_format;

/* Write it; the path - is standard output. Errors: E_FILE; E_VALUE (a picture whose path does not end in .svg). */
BRAMAH_API bramah_status bramah_report_write(const bramah_report *report, bramah_report_format format,
                                             const char *path, bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
