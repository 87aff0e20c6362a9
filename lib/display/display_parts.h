/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of a display:
 *
 *   json.c       texts as JSON
 *   display.c    a display file bound to an assessment, and its description
 *   frame.c      frames, verdicts, messages
 *   certainty.c  how sure a value is, how a sensor does
 *   scenario.c   tasks, penalties, breakdowns bound to outputs, and as texts; scenario.h
 *   course.c     ... followed estimate by estimate
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
void bramah__json_texts(bramah__json *json, const char *name, size_t n, const char *const *texts);
void bramah__json_numbers(bramah__json *json, const char *name, size_t n, const double *values,
                          int digits); /* 0: to the last bit */

/* ---- the display ---- */

typedef struct bramah__bound_gauge {
  char *name;          /* of its own */
  double probability;  /* critical from here on */
  size_t output;       /* column of bramah_assess_results.output */
  double below, above; /* SI, of what is shown: offset + scale x output */
  double offset, scale;
} bramah__bound_gauge;

typedef struct bramah__scenario bramah__scenario;

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
  int is_told;               /* 1: another process says what it does: */
  bramah_display_frame told; /* of this only the soil */
} bramah__soil;

enum { BRAMAH__SOIL_NUMBERS = 2 * BRAMAH_DISPLAY_CELLS + 3 * BRAMAH_DISPLAY_PARTICLES };
/* Memory [BRAMAH__SOIL_NUMBERS] for the soil of a frame; NULL: it has none. */
void bramah__soil_room(bramah_display_frame *frame, int *numbers);
/* Every how many cells of a field are shown. */
size_t bramah__soil_stride(const bramah_machine_terrain *terrain);
bramah_status bramah__soil_open(bramah__soil *soil, const bramah_machine_plant *simulated, bramah_diag *diag);
void bramah__soil_close(bramah__soil *soil);
/* What has become of it, into a frame. */
void bramah__soil_take(bramah__soil *soil, bramah_display_frame *frame);

struct bramah_display {
  bramah_assess *assess;
  size_t n_outputs, n_gauges, n_sensors, n_bodies;
  bramah__bound_gauge *gauge;     /* [n_gauges] */
  bramah__watched_sensor *sensor; /* [n_sensors] */
  char *description;
  bramah__soil soil;
  bramah__scenario *scenario; /* NULL: none */
};

/* Probability that a gauge is critical; NaN: it has no limits. */
double bramah__gauge_probability(const bramah__bound_gauge *gauge, double value, double sigma);

/* Probability of more than zero: of a normal distribution about `by`; without sigma 0 or 1. */
double bramah__beyond(double by, double sigma);
/* How sensor i does, by its samples since it was looked at in w. */
bramah_sensor_state bramah__look_at_sensor(const bramah_display *display, bramah__watched_sensor *w, size_t i,
                                           int64_t now_ns);

/* ---- its scenario ---- */

/* Bind that of the file to display->scenario, whose gauges are bound already, gauge [n_gauges of the file] as, SIZE_MAX: left out; it rides
 * with the assessment from now on. Errors: E_REFERENCE, E_UNIT, E_VALUE with file and line, E_MEMORY. */
bramah_status bramah__scenario_new(bramah_display *display, const bramah_display_file *file,
                                   const size_t *gauge, bramah_diag *diag);
void bramah__scenario_free(bramah__scenario *scenario); /* NULL allowed */
/* As a member of the display's description. Errors: E_REFERENCE (a gauge), E_MEMORY. */
bramah_status bramah__scenario_describe(const bramah__scenario *scenario, const bramah_display_file *file,
                                        const size_t *gauge, bramah__json *json, bramah_diag *diag);
/* Room for results; what they are now; as a member of a frame, of at most so many bytes. */
bramah_status bramah__scenario_results_new(const bramah__scenario *scenario, bramah_scenario_result *out,
                                           bramah_diag *diag);
void bramah__scenario_results_free(bramah_scenario_result *results);
void bramah__scenario_take(bramah_display *display, bramah_scenario_result *out);
void bramah__scenario_text(const bramah_scenario_result *result, bramah__json *json);
size_t bramah__scenario_text_size(const bramah__scenario *scenario);

/* ---- what the build embeds ---- */

extern const char bramah__display_html[], bramah__display_css[], bramah__display_js[];

#endif
