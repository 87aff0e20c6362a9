/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages with tables and charts of analyses, in the style of the replay report: one file without scripts that
 * follows the reader's choice of light or dark. */
#ifndef BRAMAH_LIB_CLI_CHART_H
#define BRAMAH_LIB_CLI_CHART_H

#include "lib/cli/cli.h"

typedef enum cli_axis_kind {
  CLI_AXIS_LINEAR,
  CLI_AXIS_LOG,   /* positive values; others are left out */
  CLI_AXIS_SIGNED /* logarithmic to both sides of zero */
} cli_axis_kind;

typedef struct cli_axis {
  const char *name; /* "frequency [Hz]" */
  cli_axis_kind kind;
} cli_axis;

typedef struct cli_curve {
  const char *name; /* NULL: not in the legend */
  size_t n;
  const double *x, *y; /* [n]; what is not finite interrupts a line */
  int dots;            /* 1: points alone */
  int colour;          /* 0 ... 3 */
} cli_curve;

typedef struct cli_chart {
  const char *title;
  cli_axis x, y;
  size_t n;
  const cli_curve *curve;
} cli_chart;

void cli_page_begin(FILE *file, const char *title);
void cli_page_note(FILE *file, const char *name, const char *value); /* before tables and charts */
void cli_page_table(FILE *file, const cli_table *table);
/* What follows stands side by side, as far as there is room, until it is closed. */
void cli_page_open(FILE *file);
void cli_page_close(FILE *file);
void cli_page_chart(FILE *file, const cli_chart *chart);
void cli_page_end(FILE *file);

#endif
