/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/verdict.h"

#include <math.h>
#include <stdlib.h>

/* ---- one check ---- */

/* Does nothing when memory is out: a check more or less must not end a run. */
static void add(cli_verdict *verdict, const char *what, const char *at, const char *unit, double value,
                double least, double most)
{
  if (verdict->n == verdict->room) {
    const size_t room = verdict->room ? 2 * verdict->room : 32;
    cli_verdict_check *more = realloc(verdict->check, room * sizeof *more);
    if (!more) return;
    verdict->check = more;
    verdict->room = room;
  }
  cli_verdict_check *check = &verdict->check[verdict->n++];
  *check = (cli_verdict_check){.what = what,
                               .unit = unit,
                               .value = value,
                               .least = least,
                               .most = most,
                               .passed = value >= least && value <= most};
  snprintf(check->at, sizeof check->at, "%s", at);
  verdict->failed += !check->passed;
}

void cli_verdict_free(cli_verdict *verdict) { free(verdict->check); }

/* ---- checks ---- */

/* Mean NIS against the wider of the tolerance and the 99.9 % band of so many samples. */
static void check_nis(cli_verdict *verdict, const cli_innovations *innovations, const char *sensor)
{
  const bramah_nis *nis = &innovations->nis;
  const double expected = nis->dof > 0.0 ? innovations->share / nis->dof : 1.0;
  double low, high;
  bramah_diag ignored;
  if (nis->n < CLI_JUDGED_FROM || bramah_nis_band(nis->dof, 0.999, &low, &high, &ignored)) return;
  add(verdict, "mean NIS", sensor, "", bramah_nis_mean(nis), expected * fmin(low, CLI_NIS_LEAST),
      expected * fmax(high, CLI_NIS_MOST));
}

static void check_lag(cli_verdict *verdict, const cli_innovations *innovations, const char *sensor)
{
  const double limit = fmax(CLI_LAG_MOST, 3.29 / sqrt(innovations->nis.dof));
  if (innovations->nis.n < CLI_JUDGED_FROM || !(innovations->squares > 0.0)) return;
  add(verdict, "correlation at lag 1", sensor, "", cli_innovations_lag(innovations), -limit, limit);
}

static void check_held_back(cli_verdict *verdict, const cli_innovations *innovations, const char *sensor)
{
  if (innovations->present < CLI_JUDGED_FROM) return;
  add(verdict, "held back by gates", sensor, "%",
      100.0 * (double)innovations->gated / (double)innovations->present, 0.0, CLI_HELD_BACK_MOST);
}

static void check_sensors(cli_verdict *verdict, const cli_consistency *consistency, const cli_events *events,
                          const bramah_filter *filter)
{
  for (size_t i = 0; i < consistency->n_sensors; i++) {
    const char *name = bramah_filter_sensor(filter, i)->name;
    check_nis(verdict, &consistency->sensor[i], name);
    check_lag(verdict, &consistency->sensor[i], name);
    check_held_back(verdict, &consistency->sensor[i], name);
    add(verdict, "lost at the end", name, "", events->away[i] != 0, 0.0, 0.0);
  }
  add(verdict, "filter found wrong", "", "", (double)events->report.recoveries, 0.0, 0.0);
}

static void check_errors(cli_verdict *verdict, const cli_accuracy *accuracy, const cli_nees *nees,
                         const bramah_plant *plant)
{
  for (size_t k = 0; k < accuracy->n; k++) {
    const cli_compared *c = &accuracy->compared[k];
    bramah_output_info info;
    if (c->judged < CLI_JUDGED_FROM) continue;
    plant->output_info(plant->self, c->output, &info);
    add(verdict, "errors within 3.92 σ", info.name, "%", 100.0 * (double)c->within / (double)c->judged,
        CLI_WITHIN_LEAST, INFINITY);
  }
  if (nees->sum.n >= CLI_JUDGED_FROM)
    add(verdict, "mean NEES", "", "", bramah_nis_mean(&nees->sum), 0.0, CLI_NEES_MOST);
}

cli_verdict cli_verdict_make(const cli_consistency *consistency, const cli_events *events,
                             const cli_accuracy *accuracy, const cli_nees *nees, const bramah_filter *filter)
{
  cli_verdict verdict = {0};
  check_sensors(&verdict, consistency, events, filter);
  if (accuracy) check_errors(&verdict, accuracy, nees, bramah_filter_plant(filter));
  return verdict;
}

/* ---- telling ---- */

const char *cli_verdict_tolerated(const cli_verdict_check *check, char *text, size_t size)
{
  if (isinf(check->most))
    snprintf(text, size, "at least %.3g", check->least);
  else if (check->least == 0.0)
    snprintf(text, size, check->most > 0.0 ? "at most %.3g" : "%.3g", check->most);
  else
    snprintf(text, size, "%.3g to %.3g", check->least, check->most);
  return text;
}

/* "crank_gyro: mean NIS 3.2, tolerated 0.25 to 2" */
static void print_failed(const cli_verdict_check *check, FILE *file)
{
  char tolerated[64];
  fprintf(file, "  %s%s%s %.3g%s%s, tolerated %s\n", check->at, *check->at ? ": " : "", check->what,
          check->value, *check->unit ? " " : "", check->unit,
          cli_verdict_tolerated(check, tolerated, sizeof tolerated));
}

void cli_verdict_print(const cli_verdict *verdict, FILE *file)
{
  if (!verdict->failed) {
    fprintf(file, "\nverdict: consistent, %zu checks passed\n", verdict->n);
    return;
  }
  fprintf(file, "\nverdict: not consistent, %zu of %zu checks failed\n", verdict->failed, verdict->n);
  for (size_t i = 0; i < verdict->n; i++)
    if (!verdict->check[i].passed) print_failed(&verdict->check[i], file);
}

/* How far beyond its limits, by their distance; negative within. */
static double beyond(const cli_verdict_check *check)
{
  const double scale = isinf(check->most) ? check->least : fmax(check->most - check->least, 1e-9);
  return fmax(check->least - check->value, check->value - check->most) / scale;
}

static void add_kind(cli_table *table, const cli_verdict *verdict, const char *what)
{
  const cli_verdict_check *worst = NULL;
  size_t n = 0, failed = 0;
  for (size_t i = 0; i < verdict->n; i++) {
    const cli_verdict_check *check = &verdict->check[i];
    if (check->what != what) continue;
    if (!worst || beyond(check) > beyond(worst)) worst = check;
    n++;
    failed += !check->passed;
  }
  char tolerated[64];
  cli_table_add(table, "%s", what);
  cli_table_add_number(table, worst->value);
  cli_table_add(table, "%s", worst->unit);
  cli_table_add(table, "%s", cli_verdict_tolerated(worst, tolerated, sizeof tolerated));
  if (failed)
    cli_table_add(table, "FAIL %zu of %zu", failed, n);
  else
    cli_table_add(table, "%s", "pass");
  cli_table_add(table, "%s", n > 1 ? worst->at : "");
}

cli_table cli_verdict_table(const cli_verdict *verdict)
{
  static const char *const header[] = {"check", "value", "unit", "tolerated", "result", "worst of"};
  cli_table table = cli_table_make("Checks", "lrlrll", header);
  for (size_t i = 0; i < verdict->n; i++) {
    size_t before = 0;
    while (verdict->check[before].what != verdict->check[i].what) before++;
    if (before == i) add_kind(&table, verdict, verdict->check[i].what);
  }
  return table;
}
