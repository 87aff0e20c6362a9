/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_report.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Steps of the search itself: not the neighbours that were looked at, nor what was given up. */
static int is_step(const bramah__tune_tried *t)
{
  return strcmp(t->phase, "search") == 0 && isfinite(t->value) && !t->verdict.stopped;
}

static double least_value(const bramah__tune_search *s)
{
  double least = (double)INFINITY;
  for (size_t i = 0; i < s->n_tried; i++)
    if (is_step(&s->tried[i])) least = fmin(least, s->tried[i].value);
  return least;
}

/* The least of it would be minus infinity on this scale. */
static double above(double value, double least) { return log10(fmax(value - least, 1e-3)); }

static bramah_status plot_criterion(bramah_report *report, const bramah__tune_search *s)
{
  char title[128];
  size_t plot;
  double best = (double)INFINITY;
  const double least = least_value(s);
  const bramah_report_plot look = {.section = "Search",
                                   .title = title,
                                   .unit = "log10",
                                   .factor = 1.0,
                                   .axis = BRAMAH_REPORT_CURVE,
                                   .names = {"best so far", NULL, "tried", NULL},
                                   .x = "evaluation"};
  snprintf(title, sizeof title, "%s above its least", bramah__tune_criterion_name(s->criterion));
  bramah_status status = bramah_report_add(report, &look, &plot);
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const bramah__tune_tried *t = &s->tried[i];
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

/* A value on its scale; where the search was about at its end, with the interval found there. */
static bramah_status plot_figure(bramah_report *report, const bramah__tune_search *s,
                                 const bramah__tune_certainty *c, size_t j)
{
  const bramah__tune_parameter *tuned = &s->problem->tuned[j];
  char unit[128];
  size_t plot;
  double best = (double)INFINITY;
  snprintf(unit, sizeof unit, tuned->linear ? "%s%s" : "%slog10 %s", "", tuned->unit);
  const bramah_report_plot look = {.section = "Search",
                                   .title = tuned->name,
                                   .unit = unit,
                                   .factor = 1.0,
                                   .axis = BRAMAH_REPORT_CURVE,
                                   .names = {"of the best so far", NULL, "tried", NULL},
                                   .band = "95 % interval",
                                   .x = "evaluation"};
  bramah_status status = bramah_report_add(report, &look, &plot);
  double half =
      c && isfinite(c->sigma[j]) ? 1.96 * c->sigma[j] / (tuned->linear ? 1.0 : log(10.0)) : (double)NAN;
  if (tuned->linear) half *= tuned->most - tuned->least;
  const double least = least_value(s);
  double shown = (double)NAN;
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const bramah__tune_tried *t = &s->tried[i];
    if (!is_step(t)) continue;
    const double x = tuned->linear ? t->x[j] : log10(t->x[j]);
    if (t->value < best) shown = x;
    best = fmin(best, t->value);
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, (double)i + 1.0, x, (double)NAN);
    if (!status)
      status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)i + 1.0, shown,
                                   t->value < least + 2.0 ? half : (double)NAN);
  }
  return status;
}

/* Cost above the least over a value; the level is that of 95 %. */
static bramah_status plot_profile(bramah_report *report, const bramah__tune_parameter *tuned,
                                  const bramah__tune_profile *p)
{
  char title[256], x[256];
  size_t plot;
  snprintf(title, sizeof title, "profile of %.200s", tuned->name);
  snprintf(x, sizeof x, "%.100s [%.100s]", tuned->name, *tuned->unit ? tuned->unit : "1");
  const bramah_report_plot look = {
      .section = "Profiles",
      .title = title,
      .unit = "1",
      .factor = 1.0,
      .axis = BRAMAH_REPORT_CURVE,
      .names = {"cost above its least", NULL, NULL, "1.92: end of the 95 % interval"},
      .x = x};
  bramah_status status = bramah_report_add(report, &look, &plot);
  for (size_t i = 0; !status && i < p->n; i++) {
    if (i && !(p->x[i] > p->x[i - 1])) continue; /* points held at a bound */
    status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, p->x[i], p->cost[i], (double)NAN);
    if (!status) status = bramah_report_point(report, plot, BRAMAH_REPORT_MODEL, p->x[i], 1.92, (double)NAN);
  }
  return status;
}

bramah_status cli_tune_write_report(const char *path, const bramah__tune_search *search,
                                    const bramah__tune_certainty *certainty,
                                    const bramah__tune_profile *profiles, size_t n_notes,
                                    const cli_tune_note *notes, size_t n_tables, const cli_table *tables,
                                    bramah_diag *diag)
{
  bramah_report *report = NULL;
  char title[256];
  snprintf(title, sizeof title, "Tuning: %.200s", bramah_session_study(search->problem->session)->name);
  bramah_diag_clear(diag);
  bramah_status status = bramah_report_new(title, diag, &report);
  for (size_t i = 0; !status && i < n_notes; i++)
    status = bramah_report_note(report, notes[i].name, notes[i].value);
  if (!status) status = plot_criterion(report, search);
  for (size_t j = 0; !status && j < search->problem->n; j++)
    status = plot_figure(report, search, certainty, j);
  for (size_t j = 0; !status && profiles && j < search->problem->n; j++)
    status = plot_profile(report, &search->problem->tuned[j], &profiles[j]);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], report);
  if (status && !diag->message[0]) cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  if (!status) status = bramah_report_write(report, path, diag);
  if (status) cli_place(diag, path, 0);
  bramah_report_free(report);
  return status;
}
