/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the search begins. */
#include "lib/cli/tune_search.h"
#include "lib/cli/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_FACTORS = 7, ROUNDS = 2 };

/* By which all plant noise is multiplied. */
static const double factors[N_FACTORS] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};

static int is_plant_noise(const cli_tuned *t)
{
  return t->kind == CLI_TUNE_ACCELERATION || t->kind == CLI_TUNE_PRESSURE || t->kind == CLI_TUNE_NOISE;
}

static double inside(const cli_tuned *t, double x) { return fmin(fmax(x, t->least), t->most); }

/* Sensors: the part of their innovations that has no memory, less what rounding makes. */
static void take_white_parts(const cli_tune_search *s, double *x)
{
  for (size_t i = 0; i < s->lab->n; i++) {
    const cli_tuned *t = &s->lab->tuned[i];
    if (t->kind != CLI_TUNE_SENSOR) continue;
    const cli_tune_colour c = cli_tune_look_at_sensor(s->lab, s->n_logs, s->figures, t->index);
    const double step = s->lab->session.sensors[t->index].resolution;
    const double variance = c.white_sigma * c.white_sigma - step * step / 12.0;
    if (variance > 0.0) x[i] = inside(t, sqrt(variance) / t->factor);
  }
}

static void scale_plant_noise(const cli_tune_lab *lab, double *x, double factor)
{
  for (size_t i = 0; i < lab->n; i++)
    if (is_plant_noise(&lab->tuned[i])) x[i] = inside(&lab->tuned[i], factor * x[i]);
}

static int has_plant_noise(const cli_tune_lab *lab)
{
  for (size_t i = 0; i < lab->n; i++)
    if (is_plant_noise(&lab->tuned[i])) return 1;
  return 0;
}

/* The best of the factors; `value` infinite if none can be used. */
static bramah_status try_factors(cli_tune_search *s, const double *x, double *best, double *value,
                                 bramah_diag *diag)
{
  const size_t size = cli_tune_n_figures(s->lab, 0), n = has_plant_noise(s->lab) ? N_FACTORS : 1;
  char(*sets)[CLI_TUNE_TEXT] = calloc(N_FACTORS, sizeof *sets);
  double *block = calloc(n * s->n_logs * size + 1, sizeof *block),
         **figures = calloc(n * s->n_logs + 1, sizeof *figures);
  bramah_status status = BRAMAH_OK;
  if (!sets || !block || !figures) status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  double(*tried)[CLI_TUNE_MOST] = calloc(N_FACTORS, sizeof *tried);
  if (!tried && !status) status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t k = 0; !status && k < n; k++) {
    memcpy(tried[k], x, s->lab->n * sizeof *x);
    scale_plant_noise(s->lab, tried[k], n == 1 ? 1.0 : factors[k]);
    cli_tune_set_text(s->lab, tried[k], sets[k]);
    for (size_t l = 0; l < s->n_logs; l++) figures[k * s->n_logs + l] = block + (k * s->n_logs + l) * size;
  }
  if (!status) status = cli_tune_evaluate_all(s, n, sets, 1000, figures, diag);
  *value = (double)INFINITY;
  for (size_t k = 0; !status && k < n; k++) {
    const cli_tune_verdict v = cli_tune_judge(s->lab, s->n_logs, s->logs, figures + k * s->n_logs);
    const double here = cli_tune_criterion_value(&v, BRAMAH_TUNE_LIKELIHOOD);
    cli_tune_note_tried(s, sets[k], 0, &v, here);
    if (!(here < *value)) continue;
    *value = here;
    cli_tune_set_numbers(s->lab, sets[k], best);
  }
  free(sets);
  free(block);
  free(figures);
  free(tried);
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

bramah_status cli_tune_find_start(cli_tune_search *search, char *set, bramah_diag *diag)
{
  double x[CLI_TUNE_MOST], best[CLI_TUNE_MOST], value, lowest;
  char trial[CLI_TUNE_TEXT];
  cli_tune_verdict verdict;
  cli_tune_set_numbers(search->lab, set, x);
  search->phase = "start";
  bramah_status status = cli_tune_evaluate(search, set, 0, 0, &lowest, &verdict, diag);
  if (!status && !isfinite(lowest)) return cli_tune_explain(search, set, &verdict, diag);
  if (!status) find_white_sensors(search, x);
  if (search->criterion != BRAMAH_TUNE_LIKELIHOOD) search->unit = lowest;
  memcpy(trial, set, CLI_TUNE_TEXT);
  for (int round = 0; !status && round < ROUNDS; round++) {
    double here;
    take_white_parts(search, x);
    status = try_factors(search, x, best, &here, diag);
    if (status || !isfinite(here)) break;
    memcpy(x, best, search->lab->n * sizeof *x);
    cli_tune_set_text(search->lab, x, trial);
    status = cli_tune_evaluate(search, trial, 0, 0, &value, &verdict, diag);
    if (!status && value < lowest) {
      lowest = value;
      memcpy(set, trial, CLI_TUNE_TEXT);
    }
    if (!status && !isfinite(value)) break;
  }
  search->phase = "search";
  return status;
}
