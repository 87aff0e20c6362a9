/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the search begins. */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_FACTORS = 7, ROUNDS = 2 };

/* By which the plant noise of one kind is multiplied. */
static const double factors[N_FACTORS] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};

static double inside(const bramah__tune_parameter *t, double x) { return fmin(fmax(x, t->least), t->most); }

/* Sensors: the part of their innovations that has no memory, less what rounding makes. */
static void take_white_parts(const bramah__tune_search *s, double *x)
{
  for (size_t i = 0; i < s->problem->n; i++) {
    const bramah__tune_parameter *t = &s->problem->tuned[i];
    if (t->kind != BRAMAH__TUNE_SENSOR) continue;
    const bramah_tune_colour c = bramah__tune_look_at_sensor(s->problem, s->n_logs, s->scores, t->index);
    const double step = bramah_session_about(s->problem->session)->sensors[t->index].resolution;
    const double variance = c.white_sigma * c.white_sigma - step * step / 12.0;
    if (variance > 0.0) x[i] = inside(t, sqrt(variance) / t->factor);
  }
}

static void scale_kind(const bramah__tune_problem *problem, bramah__tune_kind kind, double *x, double factor)
{
  for (size_t i = 0; i < problem->n; i++)
    if (problem->tuned[i].kind == kind) x[i] = inside(&problem->tuned[i], factor * x[i]);
}

static int has_kind(const bramah__tune_problem *problem, bramah__tune_kind kind)
{
  for (size_t i = 0; i < problem->n; i++)
    if (problem->tuned[i].kind == kind) return 1;
  return 0;
}

/* A quarter of long logs is enough to begin with. */
static int enough(const bramah__tune_search *s)
{
  size_t rows = 0;
  for (size_t k = 0; k < s->n_logs; k++) rows += s->problem->logs[s->logs[k]].rows;
  return rows > 8000 ? 250 : 1000;
}

typedef struct factor_scan {
  char (*sets)[BRAMAH__TUNE_TEXT];
  double *block, **scores; /* [N_FACTORS x logs] */
} factor_scan;

static bramah_status open_scan(factor_scan *scan, const bramah__tune_search *s, bramah_diag *diag)
{
  const size_t size = bramah__tune_n_scores(s->problem, 0), n = N_FACTORS * s->n_logs;
  scan->sets = calloc(N_FACTORS, sizeof *scan->sets);
  scan->block = calloc(n * size + 1, sizeof *scan->block);
  scan->scores = calloc(n + 1, sizeof *scan->scores);
  if (!scan->sets || !scan->block || !scan->scores) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++) scan->scores[i] = scan->block + i * size;
  return BRAMAH_OK;
}

static void close_scan(factor_scan *scan)
{
  free(scan->sets);
  free(scan->block);
  free(scan->scores);
}

/* x becomes the best of the factors for the plant noise of one kind. */
static bramah_status try_factors(bramah__tune_search *s, factor_scan *scan, bramah__tune_kind kind, double *x,
                                 bramah_diag *diag)
{
  double trial[BRAMAH__TUNE_MOST], least = (double)INFINITY;
  for (size_t k = 0; k < N_FACTORS; k++) {
    memcpy(trial, x, s->problem->n * sizeof *x);
    scale_kind(s->problem, kind, trial, factors[k]);
    bramah__tune_set_text(s->problem, trial, scan->sets[k]);
  }
  const bramah_status status =
      bramah__tune_evaluate_all(s, N_FACTORS, scan->sets, enough(s), scan->scores, diag);
  for (size_t k = 0; !status && k < N_FACTORS; k++) {
    const bramah_tune_verdict v =
        bramah__tune_judge(s->problem, s->n_logs, s->logs, scan->scores + k * s->n_logs);
    const double here = bramah__tune_criterion_value(&v, BRAMAH_TUNE_LIKELIHOOD);
    bramah__tune_note_tried(s, scan->sets[k], 0, &v, here);
    if (!(here < least)) continue;
    least = here;
    bramah__tune_set_numbers(s->problem, scan->sets[k], x);
  }
  return status;
}

/* From the densities as given: what was best beside wrong sensors means little. */
static bramah_status try_kinds(bramah__tune_search *s, const double *given, double *x, bramah_diag *diag)
{
  static const bramah__tune_kind kinds[] = {BRAMAH__TUNE_ACCELERATION, BRAMAH__TUNE_PRESSURE,
                                            BRAMAH__TUNE_NOISE};
  factor_scan scan = {0};
  bramah_status status = open_scan(&scan, s, diag);
  for (size_t i = 0; i < s->problem->n; i++)
    if (s->problem->tuned[i].kind != BRAMAH__TUNE_SENSOR) x[i] = given[i];
  for (size_t k = 0; !status && k < 3; k++)
    if (has_kind(s->problem, kinds[k])) status = try_factors(s, &scan, kinds[k], x, diag);
  close_scan(&scan);
  return status;
}

/* Sensors that are white and of the right size as the study has them keep to that: the penalty is about
 * them. */
static void find_white_sensors(bramah__tune_search *s, const double *x)
{
  for (size_t i = 0; i < s->problem->n; i++) {
    const bramah__tune_parameter *t = &s->problem->tuned[i];
    if (t->kind != BRAMAH__TUNE_SENSOR) continue;
    const bramah_tune_colour c = bramah__tune_look_at_sensor(s->problem, s->n_logs, s->scores, t->index);
    if (c.coloured || !(c.nis > 0.8 && c.nis < 1.25)) continue;
    s->white[i] = x[i];
    s->samples[i] = c.n;
  }
}

static int is_plant_noise(const bramah__tune_parameter *t)
{
  return t->kind == BRAMAH__TUNE_ACCELERATION || t->kind == BRAMAH__TUNE_PRESSURE ||
         t->kind == BRAMAH__TUNE_NOISE;
}

/* The filter cannot follow the log with the values as given: one that hardly heeds its sensors can, as far
 * as the model alone does, and its innovations show the sensors' noise on top of a slow drift. */
static bramah_status begin_with_model_alone(bramah__tune_search *s, double *x, int *runs, bramah_diag *diag)
{
  char set[BRAMAH__TUNE_TEXT];
  double value;
  bramah_tune_verdict verdict;
  for (size_t i = 0; i < s->problem->n; i++) {
    const bramah__tune_parameter *t = &s->problem->tuned[i];
    if (t->kind == BRAMAH__TUNE_SENSOR) x[i] = t->most;
    if (is_plant_noise(t)) x[i] = t->least;
  }
  bramah__tune_set_text(s->problem, x, set);
  const bramah_status status = bramah__tune_evaluate(s, set, 0, 0, &value, &verdict, diag);
  *runs = !status && isfinite(value);
  return status;
}

bramah_status bramah__tune_find_start(bramah__tune_search *search, char *set, bramah_diag *diag)
{
  double given[BRAMAH__TUNE_MOST], x[BRAMAH__TUNE_MOST], value, lowest;
  char trial[BRAMAH__TUNE_TEXT];
  bramah_tune_verdict verdict;
  bramah__tune_set_numbers(search->problem, set, x);
  bramah__tune_set_numbers(search->problem, set, given);
  search->phase = "start";
  bramah_status status = bramah__tune_evaluate(search, set, 0, 0, &lowest, &verdict, diag);
  if (!status && (!isfinite(lowest) || bramah__tune_starved(&verdict))) {
    int runs = 0;
    lowest = (double)INFINITY;
    if (verdict.status || verdict.gated > 0.0) status = begin_with_model_alone(search, x, &runs, diag);
    if (!status && !runs) return bramah__tune_explain(search, set, &verdict, diag);
  }
  if (!status && isfinite(lowest)) find_white_sensors(search, x);
  if (search->criterion != BRAMAH_TUNE_LIKELIHOOD) search->unit = isfinite(lowest) ? lowest : 1.0;
  for (int round = 0; !status && round < ROUNDS; round++) {
    take_white_parts(search, x);
    status = try_kinds(search, given, x, diag);
    bramah__tune_set_text(search->problem, x, trial);
    if (!status) status = bramah__tune_evaluate(search, trial, 0, 0, &value, &verdict, diag);
    if (status || !isfinite(value)) break;
    if (value < lowest) {
      lowest = value;
      memcpy(set, trial, BRAMAH__TUNE_TEXT);
    }
  }
  search->phase = "search";
  if (!status && !isfinite(lowest)) return bramah__tune_explain(search, trial, &verdict, diag);
  return status;
}
