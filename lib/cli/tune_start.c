/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the search begins. */
#include "lib/cli/tune_search.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_FACTORS = 7, ROUNDS = 2 };

/* By which the plant noise of one kind is multiplied. */
static const double factors[N_FACTORS] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};

static double inside(const cli_tuned *t, double x) { return fmin(fmax(x, t->least), t->most); }

/* Sensors: the part of their innovations that has no memory, less what rounding makes. */
static void take_white_parts(const cli_tune_search *s, double *x)
{
  for (size_t i = 0; i < s->lab->n; i++) {
    const cli_tuned *t = &s->lab->tuned[i];
    if (t->kind != CLI_TUNE_SENSOR) continue;
    const cli_tune_colour c = cli_tune_look_at_sensor(s->lab, s->n_logs, s->figures, t->index);
    const double step = bramah_session_sensors(s->lab->session)[t->index].resolution;
    const double variance = c.white_sigma * c.white_sigma - step * step / 12.0;
    if (variance > 0.0) x[i] = inside(t, sqrt(variance) / t->factor);
  }
}

static void scale_kind(const cli_tune_lab *lab, cli_tune_kind kind, double *x, double factor)
{
  for (size_t i = 0; i < lab->n; i++)
    if (lab->tuned[i].kind == kind) x[i] = inside(&lab->tuned[i], factor * x[i]);
}

static int has_kind(const cli_tune_lab *lab, cli_tune_kind kind)
{
  for (size_t i = 0; i < lab->n; i++)
    if (lab->tuned[i].kind == kind) return 1;
  return 0;
}

/* A quarter of long logs is enough to begin with. */
static int enough(const cli_tune_search *s)
{
  size_t rows = 0;
  for (size_t k = 0; k < s->n_logs; k++) rows += s->lab->logs[s->logs[k]].rows;
  return rows > 8000 ? 250 : 1000;
}

typedef struct factor_scan {
  char (*sets)[CLI_TUNE_TEXT];
  double *block, **figures; /* [N_FACTORS x logs] */
} factor_scan;

static bramah_status open_scan(factor_scan *scan, const cli_tune_search *s, bramah_diag *diag)
{
  const size_t size = cli_tune_n_figures(s->lab, 0), n = N_FACTORS * s->n_logs;
  scan->sets = calloc(N_FACTORS, sizeof *scan->sets);
  scan->block = calloc(n * size + 1, sizeof *scan->block);
  scan->figures = calloc(n + 1, sizeof *scan->figures);
  if (!scan->sets || !scan->block || !scan->figures)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < n; i++) scan->figures[i] = scan->block + i * size;
  return BRAMAH_OK;
}

static void close_scan(factor_scan *scan)
{
  free(scan->sets);
  free(scan->block);
  free(scan->figures);
}

/* x becomes the best of the factors for the plant noise of one kind. */
static bramah_status try_factors(cli_tune_search *s, factor_scan *scan, cli_tune_kind kind, double *x,
                                 bramah_diag *diag)
{
  double trial[CLI_TUNE_MOST], least = (double)INFINITY;
  for (size_t k = 0; k < N_FACTORS; k++) {
    memcpy(trial, x, s->lab->n * sizeof *x);
    scale_kind(s->lab, kind, trial, factors[k]);
    cli_tune_set_text(s->lab, trial, scan->sets[k]);
  }
  const bramah_status status =
      cli_tune_evaluate_all(s, N_FACTORS, scan->sets, enough(s), scan->figures, diag);
  for (size_t k = 0; !status && k < N_FACTORS; k++) {
    const cli_tune_verdict v = cli_tune_judge(s->lab, s->n_logs, s->logs, scan->figures + k * s->n_logs);
    const double here = cli_tune_criterion_value(&v, BRAMAH_TUNE_LIKELIHOOD);
    cli_tune_note_tried(s, scan->sets[k], 0, &v, here);
    if (!(here < least)) continue;
    least = here;
    cli_tune_set_numbers(s->lab, scan->sets[k], x);
  }
  return status;
}

/* From the densities as given: what was best beside wrong sensors means little. */
static bramah_status try_kinds(cli_tune_search *s, const double *given, double *x, bramah_diag *diag)
{
  static const cli_tune_kind kinds[] = {CLI_TUNE_ACCELERATION, CLI_TUNE_PRESSURE, CLI_TUNE_NOISE};
  factor_scan scan = {0};
  bramah_status status = open_scan(&scan, s, diag);
  for (size_t i = 0; i < s->lab->n; i++)
    if (s->lab->tuned[i].kind != CLI_TUNE_SENSOR) x[i] = given[i];
  for (size_t k = 0; !status && k < 3; k++)
    if (has_kind(s->lab, kinds[k])) status = try_factors(s, &scan, kinds[k], x, diag);
  close_scan(&scan);
  return status;
}

/* Sensors that are white and of the right size as the study has them keep to that: the penalty is about
 * them. */
static void find_white_sensors(cli_tune_search *s, const double *x)
{
  for (size_t i = 0; i < s->lab->n; i++) {
    const cli_tuned *t = &s->lab->tuned[i];
    if (t->kind != CLI_TUNE_SENSOR) continue;
    const cli_tune_colour c = cli_tune_look_at_sensor(s->lab, s->n_logs, s->figures, t->index);
    if (c.coloured || !(c.nis > 0.8 && c.nis < 1.25)) continue;
    s->white[i] = x[i];
    s->samples[i] = c.n;
  }
}

static int is_plant_noise(const cli_tuned *t)
{
  return t->kind == CLI_TUNE_ACCELERATION || t->kind == CLI_TUNE_PRESSURE || t->kind == CLI_TUNE_NOISE;
}

/* The filter cannot follow the log with the figures as given: one that hardly heeds its sensors can, as far
 * as the model alone does, and its innovations show the sensors' noise on top of a slow drift. */
static bramah_status begin_with_model_alone(cli_tune_search *s, double *x, int *runs, bramah_diag *diag)
{
  char set[CLI_TUNE_TEXT];
  double value;
  cli_tune_verdict verdict;
  for (size_t i = 0; i < s->lab->n; i++) {
    const cli_tuned *t = &s->lab->tuned[i];
    if (t->kind == CLI_TUNE_SENSOR) x[i] = t->most;
    if (is_plant_noise(t)) x[i] = t->least;
  }
  cli_tune_set_text(s->lab, x, set);
  const bramah_status status = cli_tune_evaluate(s, set, 0, 0, &value, &verdict, diag);
  *runs = !status && isfinite(value);
  return status;
}

bramah_status cli_tune_find_start(cli_tune_search *search, char *set, bramah_diag *diag)
{
  double given[CLI_TUNE_MOST], x[CLI_TUNE_MOST], value, lowest;
  char trial[CLI_TUNE_TEXT];
  cli_tune_verdict verdict;
  cli_tune_set_numbers(search->lab, set, x);
  cli_tune_set_numbers(search->lab, set, given);
  search->phase = "start";
  bramah_status status = cli_tune_evaluate(search, set, 0, 0, &lowest, &verdict, diag);
  if (!status && (!isfinite(lowest) || cli_tune_starved(&verdict))) {
    int runs = 0;
    lowest = (double)INFINITY;
    if (verdict.status || verdict.gated > 0.0) status = begin_with_model_alone(search, x, &runs, diag);
    if (!status && !runs) return cli_tune_explain(search, set, &verdict, diag);
  }
  if (!status && isfinite(lowest)) find_white_sensors(search, x);
  if (search->criterion != BRAMAH_TUNE_LIKELIHOOD) search->unit = isfinite(lowest) ? lowest : 1.0;
  for (int round = 0; !status && round < ROUNDS; round++) {
    take_white_parts(search, x);
    status = try_kinds(search, given, x, diag);
    cli_tune_set_text(search->lab, x, trial);
    if (!status) status = cli_tune_evaluate(search, trial, 0, 0, &value, &verdict, diag);
    if (status || !isfinite(value)) break;
    if (value < lowest) {
      lowest = value;
      memcpy(set, trial, CLI_TUNE_TEXT);
    }
  }
  search->phase = "search";
  if (!status && !isfinite(lowest)) return cli_tune_explain(search, trial, &verdict, diag);
  return status;
}
