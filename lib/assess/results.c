/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an assessment has found, as structures; and whether the filter may be believed. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdlib.h>

bramah_status bramah__results_init(bramah_assess *a, bramah_diag *diag)
{
  bramah__results *r = &a->results;
  const size_t n_adapted = a->adaptive ? bramah_adaptive_count(a->adaptive) : 0;
  r->sensor = calloc(a->n_sensors + 1, sizeof *r->sensor);
  r->adapted = calloc(n_adapted + 1, sizeof *r->adapted);
  r->input_cost = calloc(a->n_outputs + 1, sizeof *r->input_cost);
  r->finding = calloc(4 * a->n_sensors + a->n_accuracies + 2, sizeof *r->finding);
  if (!r->sensor || !r->adapted || !r->input_cost || !r->finding) return bramah__fail_memory(diag);
  r->of = (bramah_assess_results){.n_sensors = a->n_sensors,
                                  .n_accuracies = a->n_accuracies,
                                  .n_augmented = a->n_augmented,
                                  .n_adapted = n_adapted,
                                  .sensor = r->sensor,
                                  .accuracy = a->accuracy,
                                  .augmented = a->augmented,
                                  .adapted = r->adapted,
                                  .input_cost = r->input_cost,
                                  .verdict = {.finding = r->finding}};
  return BRAMAH_OK;
}

void bramah__results_free(bramah__results *results)
{
  free(results->sensor);
  free(results->adapted);
  free(results->input_cost);
  free(results->finding);
}

bramah_assess_totals bramah_assess_get_totals(const bramah_assess *a)
{
  bramah_assess_totals totals = a->totals;
  totals.nees = bramah_nis_mean(&a->nees);
  totals.nees_times = a->nees.n;
  return totals;
}

/* ---- sensors, noise, inputs ---- */

static bramah_consistency consistency_of(const bramah__innovations *sums)
{
  const bramah_nis *nis = &sums->nis;
  const double expected = nis->n ? sums->expected / nis->dof : (double)NAN;
  double low, high;
  bramah_diag ignored;
  if (!nis->n || bramah_nis_band(nis->dof, 0.95, &low, &high, &ignored)) low = high = NAN;
  return (bramah_consistency){.samples = sums->present,
                              .fused = nis->n ? (uint64_t)llround(nis->dof) : 0,
                              .gated = sums->gated,
                              .saturated = sums->saturated,
                              .nis = bramah_nis_mean(nis),
                              .expected = expected,
                              .low = expected * low,
                              .high = expected * high,
                              .lag_1 = sums->squares > 0.0 ? sums->products / sums->squares : (double)NAN};
}

/* Noise of accelerations is stated for joints, whatever coordinates are independent now. */
static bramah_adapted adapted_of(const bramah_assess *a, size_t i)
{
  const bramah_adaptive_value noise = bramah_adaptive_get(a->adaptive, i);
  const size_t n_dof = a->plant->n_dof, first[] = {0, 0, n_dof, n_dof + a->plant->n_first_order};
  const double stated = a->stated[first[noise.kind] + noise.index];
  bramah_output_info rate = {.name = ""};
  if (noise.kind == BRAMAH_ADAPTIVE_ACCELERATION)
    bramah_plant_output_info(a->plant, bramah_session_joint_output(a->session, noise.index) + 1, &rate);
  const char *name = noise.kind == BRAMAH_ADAPTIVE_SENSOR ? bramah_filter_sensor(a->filter, noise.index)->name
                     : noise.kind == BRAMAH_ADAPTIVE_ACCELERATION
                         ? rate.name
                         : bramah_plant_state_name(a->plant, 2 * n_dof + noise.index);
  return (bramah_adapted){name, noise.value / stated, noise.sigma / stated, noise.limited};
}

static size_t fill_input_costs(const bramah_assess *a, bramah_input_cost *out)
{
  size_t n = 0;
  const double count = (double)a->known.count;
  for (size_t c = 0; a->known.count && c < a->n_outputs; c++) {
    const bramah_assess_output *of = &a->outputs[c];
    bramah_output_info info;
    bramah_plant_output_info(a->plant, of->output, &info);
    if (of->has_sigma)
      out[n++] = (bramah_input_cost){.name = of->name,
                                     .unit = of->unit,
                                     .sigma = a->known.sum[0][of->output] / count,
                                     .sigma_known =
                                         info.has_row ? a->known.sum[1][of->output] / count : (double)NAN};
  }
  return n;
}

/* ---- verdict ---- */

/* datasets/README.md tells why these tolerances. */
static const double NIS_LEAST =
    1.0 / 9.0;                         /* of what the gates leave: innovations a third as large as believed */
static const double NIS_MOST = 2.25;   /* 1.5 times as large */
static const double LAG_MOST = 0.7;    /* half the variance of an innovation is known from the one before */
static const double GATED_MOST = 10.0; /* % of the samples of a sensor */
static const double WITHIN_LEAST = 90.0; /* % of the errors within 2 * 1.96 sigma: twice as large */
static const double NEES_MOST = 4.0;     /* per state: errors twice as large */
enum { JUDGED_FROM = 50 };               /* samples */

static void add(bramah__results *r, bramah_check_kind kind, const char *at, double value, double least,
                double most)
{
  static const struct {
    const char *what, *unit;
  } checks[] = {[BRAMAH_CHECK_NIS] = {"mean NIS", ""},
                [BRAMAH_CHECK_LAG] = {"correlation at lag 1", ""},
                [BRAMAH_CHECK_GATED] = {"rejected by gates", "%"},
                [BRAMAH_CHECK_FAULT] = {"faulty at the end", ""},
                [BRAMAH_CHECK_RECOVERIES] = {"filter found wrong", ""},
                [BRAMAH_CHECK_ERRORS] = {"errors within 3.92 σ", "%"},
                [BRAMAH_CHECK_NEES] = {"mean NEES", ""}};
  bramah_finding *finding = &r->finding[r->of.verdict.n++];
  *finding = (bramah_finding){.kind = kind,
                              .what = checks[kind].what,
                              .at = at,
                              .unit = checks[kind].unit,
                              .value = value,
                              .least = least,
                              .most = most,
                              .passed = value >= least && value <= most};
  r->of.verdict.n_failed += !finding->passed;
}

static void check_sensor(bramah__results *r, const bramah_consistency *c)
{
  const double fused = (double)c->fused, lag = fmax(LAG_MOST, 3.29 / sqrt(fused));
  double low, high;
  bramah_diag ignored;
  /* The wider of the tolerance and the 99.9 % band of so many samples. */
  if (c->fused >= JUDGED_FROM && !bramah_nis_band(fused, 0.999, &low, &high, &ignored))
    add(r, BRAMAH_CHECK_NIS, c->name, c->nis, c->expected * fmin(low, NIS_LEAST),
        c->expected * fmax(high, NIS_MOST));
  if (c->fused >= JUDGED_FROM && !isnan(c->lag_1)) add(r, BRAMAH_CHECK_LAG, c->name, c->lag_1, -lag, lag);
  if (c->samples >= JUDGED_FROM)
    add(r, BRAMAH_CHECK_GATED, c->name, 100.0 * (double)c->gated / (double)c->samples, 0.0, GATED_MOST);
  add(r, BRAMAH_CHECK_FAULT, c->name, c->fault.lasts, 0.0, 0.0);
}

const bramah_assess_results *bramah_assess_get_results(bramah_assess *a)
{
  bramah__results *r = &a->results;
  r->of.totals = bramah_assess_get_totals(a);
  r->of.all = consistency_of(&a->all);
  r->of.recoveries = a->recoveries;
  r->of.n_input_costs = fill_input_costs(a, r->input_cost);
  bramah__estimate_augmented(a);
  for (size_t i = 0; i < r->of.n_adapted; i++) r->adapted[i] = adapted_of(a, i);
  r->of.verdict = (bramah_verdict){.finding = r->finding};
  for (size_t i = 0; i < a->n_sensors; i++) {
    bramah_consistency *c = &r->sensor[i];
    *c = consistency_of(&a->innovations[i]);
    c->name = bramah_filter_sensor(a->filter, i)->name;
    c->unit = bramah_filter_sensor(a->filter, i)->unit;
    c->whiteness = a->whiteness ? &a->whiteness[i] : NULL;
    c->fault = a->fault[i];
    check_sensor(r, c);
  }
  add(r, BRAMAH_CHECK_RECOVERIES, "", (double)a->counts.recoveries, 0.0, 0.0);
  for (size_t k = 0; k < a->n_accuracies; k++) {
    const bramah_accuracy *c = &a->accuracy[k];
    if (c->judged >= JUDGED_FROM)
      add(r, BRAMAH_CHECK_ERRORS, c->name, 100.0 * (double)c->within / (double)c->judged, WITHIN_LEAST,
          INFINITY);
  }
  if (a->nees.n >= JUDGED_FROM) add(r, BRAMAH_CHECK_NEES, "", r->of.totals.nees, 0.0, NEES_MOST);
  r->of.verdict.consistent = r->of.verdict.n_failed == 0;
  return &r->of;
}
