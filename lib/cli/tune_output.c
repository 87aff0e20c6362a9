/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `bramah tune` writes of its result: tables, the CSV file of all evaluations, the HTML page. */
#include "lib/cli/tune_output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static const char *level(const bramah_tune_colour *c)
{
  return c->nis > c->high ? "larger than assumed" : c->nis < c->low ? "smaller than assumed" : "consistent";
}

static const char *colour(const bramah_tune_colour *c)
{
  if (c->faint) return ", faintly coloured";
  return !c->coloured      ? ", white"
         : c->lag[0] > 0.0 ? ", remains coloured: something is not modelled"
                           : ", anticorrelated: less plant noise would do";
}

static cli_table consistency_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"log",       "sensor",    "NIS before",  "lag 1 before",
                                       "NIS after", "95 % band", "lag 1 after", "verdict"};
  cli_table table = cli_table_make("Innovations before and after (NIS per degree of freedom: 1 is expected)",
                                   "llrrrrrl", header);
  for (size_t k = 0; k < r->n_consistency; k++) {
    const bramah_tune_consistency *c = &r->consistency[k];
    const bramah_tune_colour *was = &c->before, *is = &c->after;
    cli_table_add(&table, "%s", base_name(c->log));
    cli_table_add(&table, "%s", c->sensor ? c->sensor : "all together");
    cli_table_add_number(&table, was->nis);
    if (c->sensor)
      cli_table_add_number(&table, was->lag[0]);
    else
      cli_table_add(&table, "%s", "");
    cli_table_add_number(&table, is->nis);
    cli_table_add(&table, "%.4f to %.4f", is->low, is->high);
    if (c->sensor)
      cli_table_add_number(&table, is->lag[0]);
    else
      cli_table_add(&table, "%s", "");
    if (c->sensor)
      cli_table_add(&table, "%s%s", is->n > 0.0 ? level(is) : "no sample", is->n > 0.0 ? colour(is) : "");
    else
      cli_table_add(&table, "%s", level(is));
  }
  return table;
}

static cli_table certainty_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"value", "unit",          "was",
                                       "found", "95 % interval", "strongest correlation"};
  cli_table table = cli_table_make("Values found", "llrrll", header);
  for (size_t i = 0; i < r->n; i++) {
    const bramah_tuned_value *v = &r->values[i];
    cli_table_add(&table, "%s", v->path);
    cli_table_add(&table, "%s", v->unit);
    cli_table_add_number(&table, v->before);
    cli_table_add(&table, "%.4g", v->found);
    cli_table_add(&table, "%.4g to %.4g%s", v->low, v->high,
                  v->flat       ? " (flat)"
                  : v->at_bound ? " (at its bound)"
                                : "");
    if (v->with == i)
      cli_table_add(&table, "%s", "");
    else
      cli_table_add(&table, "%.2f with %s", v->correlation, r->values[v->with].path);
  }
  return table;
}

static void add_verdict(cli_table *table, const bramah_tune_verdict *v)
{
  cli_table_add(table, "%.5f", v->cost / v->used);
  cli_table_add_number(table, v->nis);
}

static cli_table folds_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"left out", "as given",      "NIS", "tuned without",
                                       "NIS",      "tuned with it", "NIS"};
  cli_table table = cli_table_make("Cross-validation on logs left out (cost per innovation: less is better)",
                                   "lrrrrrr", header);
  for (size_t f = 0; f < r->n_folds; f++) {
    const bramah_tune_fold *fold = &r->folds[f];
    if (!fold->n_held) continue;
    const char *name = base_name(r->logs[fold->held[0]]);
    if (fold->n_held == 1)
      cli_table_add(&table, "%s", name);
    else
      cli_table_add(&table, "%s and %zu more", name, fold->n_held - 1);
    add_verdict(&table, &fold->given);
    add_verdict(&table, &fold->found);
    add_verdict(&table, &fold->all);
  }
  return table;
}

static cli_table spread_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"value", "unit", "least of the folds", "mean", "most of the folds"};
  cli_table table = cli_table_make("Values found without some of the logs", "llrrr", header);
  for (size_t i = 0; i < r->n; i++) {
    double least = (double)INFINITY, most = -(double)INFINITY, sum = 0.0;
    for (size_t f = 0; f < r->n_folds; f++) {
      const double x = r->folds[f].x[i];
      least = fmin(least, x);
      most = fmax(most, x);
      sum += x / (double)r->n_folds;
    }
    cli_table_add(&table, "%s", r->values[i].path);
    cli_table_add(&table, "%s", r->values[i].unit);
    cli_table_add_number(&table, least);
    cli_table_add_number(&table, sum);
    cli_table_add_number(&table, most);
  }
  return table;
}

static cli_table profile_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"value",      "unit", "95 % by the profile", "from",
                                       "cost there", "to",   "cost there"};
  cli_table table =
      cli_table_make("Profiles of the likelihood (the other values made the best of; cost above the least)",
                     "lllrrrr", header);
  for (size_t j = 0; j < r->n; j++) {
    const bramah_tune_profile *p = &r->values[j].profile;
    cli_table_add(&table, "%s", r->values[j].path);
    cli_table_add(&table, "%s", r->values[j].unit);
    cli_table_add(&table, "%.4g to %.4g", p->low, p->high);
    for (size_t end = 0; end < 2; end++) {
      const size_t i = end ? p->n - 1 : 0;
      cli_table_add_number(&table, p->x[i]);
      cli_table_add(&table, "%.3f", p->cost[i]);
    }
  }
  return table;
}

static cli_table criteria_table(const bramah_tune_result *r)
{
  static const char *const header[] = {"best by",      "evaluation", "cost above the least",
                                       "NIS distance", "RMSE %",     "prediction"};
  cli_table table = cli_table_make("What the criteria prefer among the sets tried", "lrrrrr", header);
  const size_t least = r->best[BRAMAH_TUNE_LIKELIHOOD];
  for (int c = 0; c < BRAMAH_TUNE_CRITERIA && least < r->n_tried; c++) {
    if (r->best[c] == r->n_tried) continue;
    const bramah_tune_verdict *v = &r->tried[r->best[c]].verdict;
    cli_table_add(&table, "%s", bramah_tune_criterion_name((bramah_tune_criterion)c));
    cli_table_add(&table, "%zu", r->best[c] + 1);
    cli_table_add(&table, "%.3f", v->cost - r->tried[least].verdict.cost);
    cli_table_add_number(&table, v->distance);
    cli_table_add_number(&table, 100.0 * v->rmse);
    cli_table_add_number(&table, v->prediction);
  }
  return table;
}

size_t cli_tune_tables(const bramah_tune_result *result, cli_table *tables)
{
  size_t n = 0;
  if (result->has_intervals) tables[n++] = certainty_table(result);
  tables[n++] = consistency_table(result);
  if (result->n_folds) {
    tables[n++] = folds_table(result);
    tables[n++] = spread_table(result);
  }
  if (result->n && result->values[0].profile.n) tables[n++] = profile_table(result);
  tables[n++] = criteria_table(result);
  return n;
}

/* ---- all evaluations ---- */

static void put_number(double x, FILE *file)
{
  fputc(',', file);
  if (isfinite(x)) fprintf(file, "%.9g", x);
}

static void put_row(const bramah_tune_result *r, size_t i, FILE *file)
{
  const bramah_tune_tried *t = &r->tried[i];
  const bramah_tune_verdict *v = &t->verdict;
  const int whole = !v->status && !v->stopped;
  fprintf(file, "%zu,%s,%d,%s", i + 1, t->phase, t->slope,
          v->status    ? bramah_status_name(v->status)
          : v->stopped ? "given up"
                       : "ok");
  put_number(t->value, file);
  put_number(whole ? v->cost : (double)NAN, file);
  put_number(whole ? v->nis : (double)NAN, file);
  put_number(whole ? v->distance : (double)NAN, file);
  put_number(whole ? v->rmse : (double)NAN, file);
  put_number(whole ? v->prediction : (double)NAN, file);
  put_number(whole ? v->used : (double)NAN, file);
  put_number(whole ? v->gated : (double)NAN, file);
  fprintf(file, ",%d", t->front);
  for (size_t k = 0; k < r->n; k++) put_number(t->x[k], file);
  fputc('\n', file);
}

bramah_status cli_tune_write_evaluations(const char *path, const bramah_tune_result *result,
                                         bramah_diag *diag)
{
  const int own = strcmp(path, "-") != 0;
  FILE *file = own ? fopen(path, "w") : stdout;
  if (!file) return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be created: %s", strerror(errno));
  fputs("evaluation,phase,slope,outcome,criterion,cost,nis,nis_distance,rmse,prediction,innovations,gated,"
        "front",
        file);
  for (size_t k = 0; k < result->n; k++)
    fprintf(file, *result->values[k].unit ? ",%s[%s]" : ",%s%s", result->values[k].path,
            result->values[k].unit);
  fputc('\n', file);
  for (size_t i = 0; i < result->n_tried; i++) put_row(result, i, file);
  const int bad = ferror(file) != 0, unclosed = own ? fclose(file) != 0 : fflush(file) != 0;
  return bad || unclosed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written completely")
                         : BRAMAH_OK;
}

/* ---- the page ---- */

/* Steps of the search itself: not the neighbours that were looked at, nor what was given up. */
static int is_step(const bramah_tune_tried *t)
{
  return strcmp(t->phase, "search") == 0 && isfinite(t->value) && !t->verdict.stopped;
}

static double least_value(const bramah_tune_result *s)
{
  double least = (double)INFINITY;
  for (size_t i = 0; i < s->n_tried; i++)
    if (is_step(&s->tried[i])) least = fmin(least, s->tried[i].value);
  return least;
}

/* The least of it would be minus infinity on this scale. */
static double above(double value, double least) { return log10(fmax(value - least, 1e-3)); }

static bramah_status plot_criterion(bramah_report *report, const bramah_tune_result *s)
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
  snprintf(title, sizeof title, "%s above its least", s->criterion);
  bramah_status status = bramah_report_add(report, &look, &plot);
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const bramah_tune_tried *t = &s->tried[i];
    if (!is_step(t)) continue;
    best = fmin(best, t->value);
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, (double)i + 1.0,
                                 above(t->value, least), (double)NAN, (double)NAN);
    if (!status)
      status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)i + 1.0, above(best, least),
                                   (double)NAN, (double)NAN);
  }
  return status;
}

/* A value on its scale; where the search was about at its end, with the interval found there. */
static bramah_status plot_value(bramah_report *report, const bramah_tune_result *s, size_t j)
{
  const bramah_tuned_value *tuned = &s->values[j];
  char unit[128];
  size_t plot;
  double best = (double)INFINITY;
  snprintf(unit, sizeof unit, tuned->linear ? "%s%s" : "%slog10 %s", "", tuned->unit);
  const bramah_report_plot look = {.section = "Search",
                                   .title = tuned->path,
                                   .unit = unit,
                                   .factor = 1.0,
                                   .axis = BRAMAH_REPORT_CURVE,
                                   .names = {"of the best so far", NULL, "tried", NULL},
                                   .band = "95 % interval",
                                   .x = "evaluation"};
  bramah_status status = bramah_report_add(report, &look, &plot);
  double half = 1.96 * tuned->sigma / (tuned->linear ? 1.0 : log(10.0));
  if (tuned->linear) half *= tuned->most - tuned->least;
  const double least = least_value(s);
  double shown = (double)NAN;
  for (size_t i = 0; !status && i < s->n_tried; i++) {
    const bramah_tune_tried *t = &s->tried[i];
    if (!is_step(t)) continue;
    const double x = tuned->linear ? t->x[j] : log10(t->x[j]);
    if (t->value < best) shown = x;
    best = fmin(best, t->value);
    status = bramah_report_point(report, plot, BRAMAH_REPORT_MEASURED, (double)i + 1.0, x, (double)NAN,
                                 (double)NAN);
    const double about = t->value < least + 2.0 ? half : (double)NAN;
    if (!status)
      status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, (double)i + 1.0, shown,
                                   shown - about, shown + about);
  }
  return status;
}

/* Cost above the least over a value; the level is that of 95 %. */
static bramah_status plot_profile(bramah_report *report, const bramah_tuned_value *tuned)
{
  const bramah_tune_profile *p = &tuned->profile;
  char title[256], x[256];
  size_t plot;
  snprintf(title, sizeof title, "profile of %.200s", tuned->path);
  snprintf(x, sizeof x, "%.100s [%.100s]", tuned->path, *tuned->unit ? tuned->unit : "1");
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
    status = bramah_report_point(report, plot, BRAMAH_REPORT_ESTIMATE, p->x[i], p->cost[i], (double)NAN,
                                 (double)NAN);
    if (!status)
      status =
          bramah_report_point(report, plot, BRAMAH_REPORT_MODEL, p->x[i], 1.92, (double)NAN, (double)NAN);
  }
  return status;
}

bramah_status cli_tune_write_report(const char *path, const char *name, const bramah_tune_result *result,
                                    size_t n_notes, const cli_tune_note *notes, size_t n_tables,
                                    const cli_table *tables, bramah_diag *diag)
{
  bramah_report *report = NULL;
  char title[256];
  snprintf(title, sizeof title, "Tuning: %.200s", name);
  bramah_diag_clear(diag);
  bramah_status status = bramah_report_new(title, diag, &report);
  for (size_t i = 0; !status && i < n_notes; i++)
    status = bramah_report_note(report, notes[i].name, notes[i].value);
  if (!status) status = plot_criterion(report, result);
  for (size_t j = 0; !status && j < result->n; j++) status = plot_value(report, result, j);
  for (size_t j = 0; !status && j < result->n; j++)
    if (result->values[j].profile.n) status = plot_profile(report, &result->values[j]);
  for (size_t i = 0; !status && i < n_tables; i++) status = cli_table_report(&tables[i], report);
  if (status && !diag->message[0]) cli_fail(diag, status, path, 0, NULL, "the report cannot be completed");
  if (!status) status = bramah_report_write(report, BRAMAH_REPORT_PAGE, path, diag);
  if (status) cli_place(diag, path, 0);
  bramah_report_free(report);
  return status;
}
