/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of modes: is the machine stable here, its modes as motions, frequencies and damping. */
#include "lib/cli/modes_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PHASES = 24 };
static const double period = 2.0; /* [s] of any mode, as it is shown */

/* Does it oscillate, as far as rounding lets one tell? */
static int oscillates(const bramah_mode *m) { return m->pair && hypot(m->re, m->im) > 10.0 * m->error; }

/* What a mode is, in a line. */
static void describe(const bramah_mode *m, char *text, size_t size)
{
  static const char *const names[] = {"decays", "neither grows nor decays", "grows"};
  if (oscillates(m))
    snprintf(text, size, "%.4g Hz, damping %.3g: %s; shown in 2 s, as large as can be seen", m->frequency,
             m->damping, names[m->stability]);
  else if (m->stability == BRAMAH_MARGINAL)
    snprintf(text, size, "stays where it is put: neither grows nor decays; shown as to and fro");
  else
    snprintf(text, size, "no oscillation, eigenvalue %.4g 1/s: %s; shown as to and fro", m->re,
             names[m->stability]);
}

/* ---- shapes ---- */

typedef struct shape {
  const bramah_operating_point *point;
  const bramah_mode *mode;
  double *x;                 /* [n] a state of the motion */
  bramah_skeleton rest, now; /* points at the point itself, and displaced */
  double size, largest;      /* [m] of the machine; of the displacement */
} shape;

/* Put the plant `amplitude` times the shape beside its point: pressures and velocities do not move it. */
static bramah_status displace(shape *s, double amplitude, double phase, bramah_diag *diag)
{
  const bramah_linear_system *system = s->point->system;
  memcpy(s->x, system->x, system->n * sizeof *s->x);
  for (size_t i = 0; i < system->n_position; i++)
    s->x[i] += amplitude * (s->mode->shape_re[i] * cos(phase) - s->mode->shape_im[i] * sin(phase));
  return bramah_linearization_place(s->point->linearization, s->point->plant, s->x, diag);
}

/* How far the furthest point has moved [m], over the whole motion; NaN: the loops do not reach so far. */
static double travel(shape *s, double amplitude)
{
  double most = 0.0;
  bramah_diag diag;
  for (int k = 0; k < PHASES; k++) {
    bramah_diag_clear(&diag);
    if (displace(s, amplitude, 6.28318530717958648 * k / PHASES, &diag)) return (double)NAN;
    if (bramah_coupled_skeleton(s->point->plant, &s->now, &diag)) return (double)NAN;
    for (size_t i = 0; i < 2 * s->now.n; i++) {
      const double *a = s->now.points + 3 * i, *b = s->rest.points + 3 * i;
      most = fmax(most, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
  }
  return most;
}

/* An amplitude that moves the machine by a tenth of its size; 0: this mode does not move it. */
static double find_amplitude(shape *s)
{
  double largest = 0.0;
  for (size_t i = 0; i < s->point->system->n_position; i++)
    largest = fmax(largest, hypot(s->mode->shape_re[i], s->mode->shape_im[i]));
  if (!(largest > 0.0)) return 0.0;
  const double small = 1e-3 / largest, moved = travel(s, small);
  if (!(moved > 1e-7 * s->size)) return 0.0;
  double amplitude = fmin(small * 0.1 * s->size / moved, 0.6 / largest);
  for (int attempt = 0; attempt < 6; attempt++, amplitude *= 0.5)
    if (!isnan(travel(s, amplitude))) return amplitude;
  return 0.0;
}

/* The motion of a mode: its rest, then a period of it. */
static bramah_status add_motion(bramah_report *report, shape *s, size_t number, bramah_diag *diag)
{
  const double amplitude = find_amplitude(s);
  char name[64], text[160];
  if (!(amplitude > 0.0)) return BRAMAH_OK;
  if (oscillates(s->mode))
    snprintf(name, sizeof name, "Mode %zu: %.4g Hz", number, s->mode->frequency);
  else if (s->mode->stability == BRAMAH_MARGINAL)
    snprintf(name, sizeof name, "Mode %zu: marginal", number);
  else
    snprintf(name, sizeof name, "Mode %zu: %.4g 1/s", number, s->mode->re);
  describe(s->mode, text, sizeof text);
  bramah_status status = bramah_report_motion(report, name, text);
  if (!status) status = displace(s, 0.0, 0.0, diag);
  if (!status) status = bramah_report_pose(report, -1.0, s->point->plant);
  for (int k = 0; !status && k <= PHASES; k++) {
    status = displace(s, amplitude, 6.28318530717958648 * k / PHASES, diag);
    if (!status) status = bramah_report_pose(report, period * k / PHASES, s->point->plant);
  }
  return status;
}

static bramah_status add_motions(bramah_report *report, const bramah_operating_point *point,
                                 const bramah_modes *modes, bramah_diag *diag)
{
  shape s = {.point = point};
  bramah_status status = bramah_coupled_skeleton(point->plant, &s.rest, diag);
  const size_t n = s.rest.n;
  s.now.n = n;
  s.x = calloc(point->system->n + 1, sizeof *s.x);
  s.rest.points = calloc(6 * n + 1, sizeof *s.rest.points);
  s.now.points = calloc(6 * n + 1, sizeof *s.now.points);
  if (!s.x || !s.rest.points || !s.now.points) status = cli_no_memory(diag);
  if (!status) status = bramah_coupled_skeleton(point->plant, &s.rest, diag);
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; !status && i < 6 * n; i++) {
    low[i % 3] = fmin(low[i % 3], s.rest.points[i]);
    high[i % 3] = fmax(high[i % 3], s.rest.points[i]);
  }
  s.size = n ? hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]) : 0.0;
  /* Where the shape cannot be placed (something rolls) the page has none. */
  for (int still = 0; still < 2; still++) /* those that oscillate first */
    for (size_t k = 0; !status && s.size > 0.0 && k < modes->n_modes; k++) {
      s.mode = &modes->mode[k];
      if (oscillates(s.mode) == !still) status = add_motion(report, &s, k + 1, diag);
    }
  bramah_diag ignored;
  if (s.x) displace(&s, 0.0, 0.0, &ignored);
  free(s.x);
  free(s.rest.points);
  free(s.now.points);
  return status;
}

/* ---- plots ---- */

/* Frequency or damping of the modes that oscillate. */
static bramah_status plot_modes(bramah_report *report, const bramah_modes *modes, int damping)
{
  char(*name)[32] = calloc(modes->n_modes + 1, sizeof *name);
  const char **labels = calloc(modes->n_modes + 1, sizeof *labels);
  size_t n = 0, plot;
  bramah_status status = name && labels ? BRAMAH_OK : BRAMAH_E_MEMORY;
  for (size_t k = 0; !status && k < modes->n_modes; k++) {
    if (!oscillates(&modes->mode[k])) continue;
    snprintf(name[n], sizeof name[n], "mode %zu", k + 1);
    labels[n] = name[n];
    n++;
  }
  const bramah_report_plot look = {
      .section = "Modes that oscillate",
      .title = damping ? "damping" : "frequency",
      .unit = damping ? "1" : "Hz",
      .factor = 1.0,
      .symmetric = damping,
      .logarithmic = !damping,
      .axis = BRAMAH_REPORT_LAG,
      .names = {damping ? "damping ratio, negative: grows" : "undamped frequency"},
      .n_labels = n,
      .labels = labels};
  if (!status && n) status = bramah_report_add(report, &look, &plot);
  n = 0;
  for (size_t k = 0; !status && k < modes->n_modes; k++) {
    const bramah_mode *m = &modes->mode[k];
    if (!oscillates(m)) continue;
    status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)++n,
                                 damping ? m->damping : m->frequency, NAN, NAN);
  }
  free(name);
  free(labels);
  return status;
}

/* ---- the page ---- */

static bramah_status answer(bramah_report *report, const bramah_modes *modes, int moves)
{
  const bramah_mode *least = NULL;
  char headline[160], reason[512];
  for (size_t k = 0; k < modes->n_modes; k++)
    if (oscillates(&modes->mode[k]) && (!least || modes->mode[k].damping < least->damping))
      least = &modes->mode[k];
  const int drifts = modes->stability == BRAMAH_UNSTABLE && modes->n_unstable == 0;
  snprintf(headline, sizeof headline, "%s",
           modes->stability == BRAMAH_STABLE ? "Stable: every small disturbance dies away"
           : drifts                          ? "Drifts: a small disturbance grows in proportion to time"
           : modes->stability == BRAMAH_MARGINAL
               ? "Neither stable nor unstable: some disturbances stay as they are"
               : "Unstable: small disturbances grow");
  size_t used =
      (size_t)snprintf(reason, sizeof reason, "Of %zu eigenvalues %zu grow and %zu neither grow nor decay. ",
                       modes->n, modes->n_unstable, modes->n_marginal);
  if (least)
    snprintf(reason + used, sizeof reason - used,
             "The oscillation that is damped least has %.4g Hz and damping %.3g.", least->frequency,
             least->damping);
  const bramah_report_answer said = {.level = modes->stability == BRAMAH_UNSTABLE ? BRAMAH_REPORT_WRONG
                                              : modes->stability == BRAMAH_MARGINAL || moves
                                                  ? BRAMAH_REPORT_UNSURE
                                                  : BRAMAH_REPORT_FINE,
                                     .headline = headline,
                                     .reason = reason,
                                     .advice = moves ? "The machine is not in equilibrium here: these are "
                                                       "the eigenvalues of the moment. Take --at rest, or "
                                                       "--hold and --free."
                                                     : NULL,
                                     .begin = NAN,
                                     .end = NAN};
  return bramah_report_say(report, &said);
}

bramah_status cli_modes_report(const char *path, const char *machine, const char *where, int moves,
                               const bramah_operating_point *point, const bramah_modes *modes,
                               const cli_table *table, bramah_diag *diag)
{
  bramah_report *report = NULL;
  char title[256];
  snprintf(title, sizeof title, "Modes: %.200s", bramah_model_get_info(point->model).name);
  bramah_status status = bramah_report_new(title, diag, &report);
  if (!status) status = answer(report, modes, moves);
  if (!status) status = bramah_report_note(report, "machine", machine);
  if (!status) status = bramah_report_note(report, "at", where);
  if (!status) status = add_motions(report, point, modes, diag);
  if (!status) status = plot_modes(report, modes, 0);
  if (!status) status = plot_modes(report, modes, 1);
  if (!status) status = cli_table_report(table, report);
  if (status && !diag->message[0]) cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  if (!status) status = bramah_report_write(report, BRAMAH_REPORT_PAGE, path, diag);
  bramah_report_free(report);
  return status;
}
