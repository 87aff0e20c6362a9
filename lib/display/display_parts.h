/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a display:
 *
 *   json.c       texts as JSON
 *   display.c    a display file bound to an assessment, and its description
 *   frame.c      frames, verdicts, messages
 *   recording.c  the page, and a run as one file
 *   display_page.html, display_page.css, display_page.js: embedded by the build */
#ifndef BRAMAH_LIB_DISPLAY_DISPLAY_PARTS_H
#define BRAMAH_LIB_DISPLAY_DISPLAY_PARTS_H

#include "bramah/display.h"

/* ---- JSON ---- */

/* A text being written: into memory that grows, or into a piece of fixed size, whose `used` goes on counting. */
typedef struct bramah__json {
  char *text; /* [size], terminated where it is longer than used */
  size_t used, size;
  int grows, failed; /* failed: no memory */
  int filled;        /* something comes before in the same object or list */
} bramah__json;

void bramah__json_raw(bramah__json *json, const char *text);
/* NULL: in a list, or outermost. Open '{' or '[', close '}' or ']'. */
void bramah__json_open(bramah__json *json, const char *name, char bracket);
void bramah__json_close(bramah__json *json, char bracket);
/* Escaped, '<' too; what is no UTF-8 becomes U+FFFD. NULL: null. */
void bramah__json_text(bramah__json *json, const char *name, const char *text);
/* The shortest of 15 to 17 digits that reads back the same; not finite: null. */
void bramah__json_number(bramah__json *json, const char *name, double value);
void bramah__json_numbers(bramah__json *json, const char *name, size_t n, const double *values,
                          int digits); /* 0: to the last bit */

/* ---- the display ---- */

typedef struct bramah__bound_gauge {
  size_t output;       /* column of bramah_assess_results.output */
  double below, above; /* SI, of what is shown: offset + scale x output */
  double offset, scale;
} bramah__bound_gauge;

typedef struct bramah__watched_sensor {
  uint64_t present, gated; /* at the frame before */
  int64_t first_ns, last_ns;
  bramah_sensor_state state;
} bramah__watched_sensor;

/* Soil that moves below a simulated machine. */
typedef struct bramah__soil {
  const bramah_worksite *site; /* NULL: none does */
  size_t nx, ny, stride, most_particles;
  int *sent;                 /* [nx * ny] heights that were sent last [mm] */
  unsigned char *ever;       /* [nx * ny] 1: has changed */
  size_t changed, again;     /* where to look next: for changes, for what is sent again */
  bramah_particle *particle; /* [most_particles] */
} bramah__soil;

struct bramah_display {
  bramah_assess *assess;
  size_t n_outputs, n_gauges, n_sensors, n_bodies;
  bramah__bound_gauge *gauge;     /* [n_gauges] */
  bramah__watched_sensor *sensor; /* [n_sensors] */
  int64_t begin_ns;               /* of the first frame; INT64_MIN: none yet */
  char *description;
  bramah__soil soil;
};

/* Probability that a gauge is critical; NaN: it has no limits. */
double bramah__gauge_probability(const bramah__bound_gauge *gauge, double value, double sigma);

/* ---- what the build embeds ---- */

extern const char bramah__display_html[], bramah__display_css[], bramah__display_js[];

#endif
