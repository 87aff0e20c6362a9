/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_report.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of the search itself: not the neighbours that were looked at, nor what was given up. */
static int is_step(const cli_tune_tried *t)
{
  return strcmp(t->phase, "search") == 0 && isfinite(t->value) && !t->verdict.stopped;
}

static double least_value(const cli_tune_search *s)
{
  double least = (double)INFINITY;
  for (size_t i = 0; i < s->n_tried; i++)
    if (is_step(&s->tried[i])) least = fmin(least, s->tried[i].value);
  return least;
}

/* The least of it would be minus infinity on this scale. */
static double above(double value, double least) { return log10(fmax(value - least, 1e-3)); }

static bramah_status plot_criterion(bramah_report *report, const cli_tune_search *s)
{
  char title[128];
  size_t plot;
  double best = (double)INFINITY;
  const double least = least_value(s);
  snprintf(title, sizeof title, "%s above its least, by evaluations instead of time (line: the best so far)",
           cli_tune_criterion_name(s->criterion));
  bramah_status status = bramah_report_add_plot(report, title, "log10", 1.0, 0, &plot);
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const cli_tune_tried *t = &s->tried[i];
    if (!is_step(t)) continue;
    best = fmin(best, t->value);
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, (double)i + 1.0,
                                 above(t->value, least), (double)NAN);
    if (!status)
      status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)i + 1.0, above(best, least),
                                   (double)NAN);
  }
  return status;
}

/* A figure on its scale, with the interval that was found at the end. */
static bramah_status plot_figure(bramah_report *report, const cli_tune_search *s, const cli_tune_certainty *c,
                                 size_t j)
{
  const cli_tuned *tuned = &s->lab->tuned[j];
  char title[512], unit[128];
  size_t plot;
  double best = (double)INFINITY;
  snprintf(title, sizeof title, "%s, by evaluations instead of time (line: of the best so far)", tuned->name);
  snprintf(unit, sizeof unit, tuned->linear ? "%s%s" : "%slog10 %s", "", tuned->unit);
  bramah_status status = bramah_report_add_plot(report, title, unit, 1.0, 0, &plot);
  double half =
      c && isfinite(c->sigma[j]) ? 1.96 * c->sigma[j] / (tuned->linear ? 1.0 : log(10.0)) : (double)NAN;
  if (tuned->linear) half *= tuned->most - tuned->least;
  double shown = (double)NAN;
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const cli_tune_tried *t = &s->tried[i];
    if (!is_step(t)) continue;
    const double x = tuned->linear ? t->x[j] : log10(t->x[j]);
    if (t->value < best) shown = x;
    best = fmin(best, t->value);
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, (double)i + 1.0, x, (double)NAN);
    if (!status)
      status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)i + 1.0, shown, half);
  }
  return status;
}

bramah_status cli_tune_write_report(const char *path, const cli_tune_search *search,
                                    const cli_tune_certainty *certainty, size_t n_notes,
                                    const cli_tune_note *notes, size_t n_tables, const cli_table *tables,
                                    bramah_diag *diag)
{
  bramah_report *report = NULL;
  char title[256];
  snprintf(title, sizeof title, "Tuning: %.200s", search->lab->session.study->name);
  bramah_diag_clear(diag);
  bramah_status status = bramah_report_new(title, diag, &report);
  for (size_t i = 0; !status && i < n_notes; i++)
    status = bramah_report_note(report, notes[i].name, notes[i].value);
  if (!status) status = plot_criterion(report, search);
  for (size_t j = 0; !status && j < search->lab->n; j++) status = plot_figure(report, search, certainty, j);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], report);
  if (status && !diag->message[0]) cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  if (!status) status = bramah_report_write(report, path, diag);
  if (status) cli_place(diag, path, 0);
  bramah_report_free(report);
  return status;
}
