/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A self-contained HTML page with static plots (inline SVG) of a replay. Part of libbramah-tools. */
#ifndef BRAMAH_REPORT_H
#define BRAMAH_REPORT_H

#include "bramah/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bramah_report bramah_report;

/* A report under construction. Series are kept decimated (per pixel column: minimum and maximum), so memory
 * does not grow with the log. Times need not be known beforehand: a series halves its resolution whenever the
 * run outgrows it. */
BRAMAH_API bramah_status bramah_report_new(const char *title, bramah_diag *diag, bramah_report **out);
BRAMAH_API void bramah_report_free(bramah_report *report); /* NULL allowed */

/* A line of text for the head of the page, "name: value". */
BRAMAH_API bramah_status bramah_report_note(bramah_report *report, const char *name, const char *value);

typedef enum bramah_report_series {
  BRAMAH_REPORT_ESTIMATE = 0, /* line */
  BRAMAH_REPORT_TRUTH = 1,    /* thin dark line */
  BRAMAH_REPORT_MEASURED = 2, /* dots or range bars behind; in symmetric plots: innovations left out */
  BRAMAH_REPORT_MODEL = 3     /* dashed line: the model alone */
} bramah_report_series;

/* Add a plot: title ("crank.angle"), unit of the axis as shown ("deg"), and factor from SI to it. With
 * `symmetric` the band given with each point is drawn about zero (innovations, errors) instead of about the
 * estimate. Returns its number through *plot. */
BRAMAH_API bramah_status bramah_report_add_plot(bramah_report *report, const char *title, const char *unit,
                                                double factor, int symmetric, size_t *plot);

/* Add a point of a series [SI]; half_width: half the width of the band, NaN for none (only with ESTIMATE). A
 * NaN value is skipped. t [s] must not decrease within a plot and series. */
BRAMAH_API bramah_status bramah_report_point(bramah_report *report, size_t plot, bramah_report_series series,
                                             double t, double value, double half_width);

/* Add a table: header and rows of cells as text, row-major [n_rows x n_columns]. */
BRAMAH_API bramah_status bramah_report_add_table(bramah_report *report, const char *title, size_t n_rows,
                                                 size_t n_columns, const char *const *header,
                                                 const char *const *cells);

/* Write the page. Errors: E_FILE. */
BRAMAH_API bramah_status bramah_report_write(const bramah_report *report, const char *path,
                                             bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
