/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a tuning run. */
#include "lib/cli/tune_tables.h"
#include "bramah/assess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- consistency ---- */

static const char *level(const bramah__tune_colour *c)
{
  return c->nis > c->high ? "larger than assumed" : c->nis < c->low ? "smaller than assumed" : "consistent";
}

static const char *colour(const bramah__tune_colour *c)
{
  if (bramah__tune_is_faint(c)) return ", faintly coloured";
  return !c->coloured      ? ", white"
         : c->lag[0] > 0.0 ? ", remains coloured: something is not modelled"
                           : ", anticorrelated: less plant noise would do";
}

static void add_sensor(cli_table *table, const bramah__tune_problem *problem, size_t log, size_t i,
                       double *before, double *after)
{
  const bramah__tune_colour was = bramah__tune_look_at_sensor(problem, 1, &before, i),
                            is = bramah__tune_look_at_sensor(problem, 1, &after, i);
  const char *path = problem->logs[log].path, *slash = strrchr(path, '/');
  cli_table_add(table, "%s", slash ? slash + 1 : path);
  cli_table_add(table, "%s", bramah_session_sensors(problem->session)[i].name);
  cli_table_add_number(table, was.nis);
  cli_table_add_number(table, was.lag[0]);
  cli_table_add_number(table, is.nis);
  cli_table_add(table, "%.4f to %.4f", is.low, is.high);
  cli_table_add_number(table, is.lag[0]);
  cli_table_add(table, "%s%s", is.n > 0.0 ? level(&is) : "no sample", is.n > 0.0 ? colour(&is) : "");
}

static void add_all(cli_table *table, const bramah__tune_problem *problem, size_t log, const double *before,
                    const double *after)
{
  const char *path = problem->logs[log].path, *slash = strrchr(path, '/');
  bramah__tune_colour is = {.nis = after[BRAMAH__TUNE_NIS] / after[BRAMAH__TUNE_DOF]};
  bramah_diag diag;
  cli_table_add(table, "%s", slash ? slash + 1 : path);
  cli_table_add(table, "all together");
  cli_table_add_number(table, before[BRAMAH__TUNE_NIS] / before[BRAMAH__TUNE_DOF]);
  cli_table_add(table, "%s", "");
  cli_table_add_number(table, is.nis);
  if (bramah_nis_band(after[BRAMAH__TUNE_DOF], 0.95, &is.low, &is.high, &diag))
    is.low = is.high = (double)NAN;
  double share = 0.0, n = 0.0;
  for (size_t i = 0; i < problem->n_sensors; i++) {
    const double of = after[bramah__tune_place_sensor(i) + BRAMAH__TUNE_OF_N];
    share += of * bramah_nis_left_by_gate(bramah_session_study(problem->session)->gate[i]);
    n += of;
  }
  is.low *= share / n;
  is.high *= share / n;
  cli_table_add(table, "%.4f to %.4f", is.low, is.high);
  cli_table_add(table, "%s", "");
  cli_table_add(table, "%s", level(&is));
}

cli_table cli_tune_consistency_table(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                     double *const *before, double *const *after)
{
  static const char *const header[] = {"log",       "sensor",    "NIS before",  "lag 1 before",
                                       "NIS after", "95 % band", "lag 1 after", "verdict"};
  cli_table table = cli_table_make("Innovations before and after (NIS per degree of freedom: 1 is expected)",
                                   "llrrrrrl", header);
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < problem->n_sensors; i++)
      add_sensor(&table, problem, logs[k], i, before[k], after[k]);
    add_all(&table, problem, logs[k], before[k], after[k]);
  }
  return table;
}

/* ---- certainty ---- */

static void add_strongest(cli_table *table, const bramah__tune_certainty *c,
                          const bramah__tune_problem *problem, size_t i)
{
  size_t best = i;
  for (size_t j = 0; j < c->n; j++) {
    const double r = fabs(c->correlation[i * c->n + j]);
    if (j != i && isfinite(r) && (best == i || r > fabs(c->correlation[i * c->n + best]))) best = j;
  }
  if (best == i || c->held[i])
    cli_table_add(table, "%s", "");
  else
    cli_table_add(table, "%.2f with %s", c->correlation[i * c->n + best], problem->tuned[best].name);
}

cli_table cli_tune_certainty_table(const bramah__tune_certainty *certainty,
                                   const bramah__tune_problem *problem)
{
  static const char *const header[] = {"figure", "unit",          "was",
                                       "found",  "95 % interval", "strongest correlation"};
  const bramah__tune_certainty *c = certainty;
  cli_table table = cli_table_make("Figures found", "llrrll", header);
  for (size_t i = 0; i < c->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    cli_table_add(&table, "%s", t->name);
    cli_table_add(&table, "%s", t->unit);
    cli_table_add_number(&table, strtod(t->text, NULL));
    cli_table_add(&table, "%.4g", c->x[i]);
    cli_table_add(&table, "%.4g to %.4g%s", c->low[i], c->high[i],
                  c->held[i] == BRAMAH__TUNE_FREE   ? ""
                  : c->held[i] == BRAMAH__TUNE_FLAT ? " (flat)"
                                                    : " (at its bound)");
    add_strongest(&table, c, problem, i);
  }
  return table;
}

/* ---- validation ---- */

static const char *base_name(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static void add_verdict(cli_table *table, const bramah__tune_verdict *v)
{
  cli_table_add(table, "%.5f", v->cost / v->used);
  cli_table_add_number(table, v->nis);
}

cli_table cli_tune_folds_table(const bramah__tune_folds *folds, const bramah__tune_problem *problem)
{
  static const char *const header[] = {"left out", "as given",      "NIS", "tuned without",
                                       "NIS",      "tuned with it", "NIS"};
  cli_table table = cli_table_make("Cross-validation on logs left out (cost per innovation: less is better)",
                                   "lrrrrrr", header);
  for (size_t f = 0; f < folds->n; f++) {
    const bramah__tune_fold *fold = &folds->fold[f];
    if (!fold->n_held) continue;
    if (fold->n_held == 1)
      cli_table_add(&table, "%s", base_name(problem->logs[fold->held[0]].path));
    else
      cli_table_add(&table, "%s and %zu more", base_name(problem->logs[fold->held[0]].path),
                    fold->n_held - 1);
    add_verdict(&table, &fold->given);
    add_verdict(&table, &fold->found);
    add_verdict(&table, &fold->all);
  }
  return table;
}

cli_table cli_tune_spread_table(const bramah__tune_folds *folds, const bramah__tune_problem *problem)
{
  static const char *const header[] = {"figure", "unit", "least of the folds", "mean", "most of the folds"};
  cli_table table = cli_table_make("Figures found without some of the logs", "llrrr", header);
  double x[BRAMAH__TUNE_MOST];
  for (size_t i = 0; i < problem->n; i++) {
    double least = (double)INFINITY, most = -(double)INFINITY, sum = 0.0;
    for (size_t f = 0; f < folds->n; f++) {
      bramah__tune_set_numbers(problem, folds->fold[f].set, x);
      least = fmin(least, x[i]);
      most = fmax(most, x[i]);
      sum += x[i] / (double)folds->n;
    }
    cli_table_add(&table, "%s", problem->tuned[i].name);
    cli_table_add(&table, "%s", problem->tuned[i].unit);
    cli_table_add_number(&table, least);
    cli_table_add_number(&table, sum);
    cli_table_add_number(&table, most);
  }
  return table;
}

cli_table cli_tune_profile_table(const bramah__tune_profile *profiles, const bramah__tune_problem *problem)
{
  static const char *const header[] = {"figure",     "unit", "95 % by the profile", "from",
                                       "cost there", "to",   "cost there"};
  cli_table table =
      cli_table_make("Profiles of the likelihood (the other figures made the best of; cost above the least)",
                     "lllrrrr", header);
  for (size_t j = 0; j < problem->n; j++) {
    const bramah__tune_profile *p = &profiles[j];
    cli_table_add(&table, "%s", problem->tuned[j].name);
    cli_table_add(&table, "%s", problem->tuned[j].unit);
    cli_table_add(&table, "%.4g to %.4g", p->low, p->high);
    for (size_t end = 0; end < 2; end++) {
      const size_t i = end ? p->n - 1 : 0;
      cli_table_add_number(&table, p->x[i]);
      cli_table_add(&table, "%.3f", p->cost[i]);
    }
  }
  return table;
}

cli_table cli_tune_criteria_table(const bramah__tune_search *search)
{
  static const char *const header[] = {"best by",      "evaluation", "cost above the least",
                                       "NIS distance", "RMSE %",     "prediction"};
  cli_table table = cli_table_make("What the criteria prefer among the sets tried", "lrrrrr", header);
  size_t best[BRAMAH__TUNE_CRITERIA];
  for (int c = 0; c < BRAMAH__TUNE_CRITERIA; c++) {
    best[c] = search->n_tried;
    for (size_t i = 0; i < search->n_tried; i++)
      if (bramah__tune_is_comparable(search, i) &&
          isfinite(bramah__tune_criterion_value(&search->tried[i].verdict, (bramah_tune_criterion)c)) &&
          (best[c] == search->n_tried ||
           bramah__tune_criterion_value(&search->tried[i].verdict, (bramah_tune_criterion)c) <
               bramah__tune_criterion_value(&search->tried[best[c]].verdict, (bramah_tune_criterion)c)))
        best[c] = i;
  }
  for (int c = 0; c < BRAMAH__TUNE_CRITERIA && best[0] < search->n_tried; c++) {
    if (best[c] == search->n_tried) continue;
    const bramah__tune_verdict *v = &search->tried[best[c]].verdict;
    cli_table_add(&table, "%s", bramah__tune_criterion_name((bramah_tune_criterion)c));
    cli_table_add(&table, "%zu", best[c] + 1);
    cli_table_add(&table, "%.3f", v->cost - search->tried[best[0]].verdict.cost);
    cli_table_add_number(&table, v->distance);
    cli_table_add_number(&table, 100.0 * v->rmse);
    cli_table_add_number(&table, v->prediction);
  }
  return table;
}
