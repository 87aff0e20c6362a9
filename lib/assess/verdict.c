/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a filter may be believed; datasets/README.md tells why these tolerances. */
#include "lib/assess/assess_internal.h"

#include <math.h>

static const double NIS_LEAST =
    1.0 / 9.0;                         /* of what the gates leave: innovations a third as large as believed */
static const double NIS_MOST = 2.25;   /* 1.5 times as large */
static const double LAG_MOST = 0.7;    /* half the variance of an innovation is known from the one before */
static const double GATED_MOST = 10.0; /* % of the samples of a sensor */
static const double WITHIN_LEAST = 90.0; /* % of the errors within 2 * 1.96 sigma: twice as large */
static const double NEES_MOST = 4.0;     /* per state: errors twice as large */
enum { JUDGED_FROM = 50 };               /* samples */

static void add(bramah_assess *a, bramah_check_kind kind, const char *at, double value, double least,
                double most)
{
  static const struct {
    const char *what, *unit;
  } checks[] = {[BRAMAH_CHECK_NIS] = {"mean NIS", ""},
                [BRAMAH_CHECK_LAG] = {"correlation at lag 1", ""},
                [BRAMAH_CHECK_GATED] = {"held back by gates", "%"},
                [BRAMAH_CHECK_FAULT] = {"lost at the end", ""},
                [BRAMAH_CHECK_RECOVERIES] = {"filter found wrong", ""},
                [BRAMAH_CHECK_ERRORS] = {"errors within 3.92 σ", "%"},
                [BRAMAH_CHECK_NEES] = {"mean NEES", ""}};
  bramah_finding *finding = &a->finding[a->verdict.n++];
  *finding = (bramah_finding){.kind = kind,
                              .what = checks[kind].what,
                              .at = at,
                              .unit = checks[kind].unit,
                              .value = value,
                              .least = least,
                              .most = most,
                              .passed = value >= least && value <= most};
  a->verdict.n_failed += !finding->passed;
}

static void check_sensor(bramah_assess *a, size_t i)
{
  const bramah_consistency c = bramah_assess_sensor(a, i);
  double low, high;
  bramah_diag ignored;
  /* The wider of the tolerance and the 99.9 % band of so many samples. */
  if (c.fused >= JUDGED_FROM && !bramah_nis_band((double)c.fused, 0.999, &low, &high, &ignored))
    add(a, BRAMAH_CHECK_NIS, c.name, c.nis, c.expected * fmin(low, NIS_LEAST),
        c.expected * fmax(high, NIS_MOST));
  const double lag = fmax(LAG_MOST, 3.29 / sqrt((double)c.fused));
  if (c.fused >= JUDGED_FROM && !isnan(c.lag_1)) add(a, BRAMAH_CHECK_LAG, c.name, c.lag_1, -lag, lag);
  if (c.samples >= JUDGED_FROM)
    add(a, BRAMAH_CHECK_GATED, c.name, 100.0 * (double)c.gated / (double)c.samples, 0.0, GATED_MOST);
  add(a, BRAMAH_CHECK_FAULT, c.name, a->fault[i].lasts, 0.0, 0.0);
}

const bramah_verdict *bramah_assess_verdict(bramah_assess *a)
{
  a->verdict = (bramah_verdict){.finding = a->finding};
  for (size_t i = 0; i < a->n_sensors; i++) check_sensor(a, i);
  add(a, BRAMAH_CHECK_RECOVERIES, "", (double)a->counts.recoveries, 0.0, 0.0);
  for (size_t k = 0; k < a->n_accuracies; k++) {
    const bramah_accuracy *c = &a->accuracy[k];
    if (c->judged >= JUDGED_FROM)
      add(a, BRAMAH_CHECK_ERRORS, c->name, 100.0 * (double)c->within / (double)c->judged, WITHIN_LEAST,
          INFINITY);
  }
  if (a->nees.n >= JUDGED_FROM) add(a, BRAMAH_CHECK_NEES, "", bramah_nis_mean(&a->nees), 0.0, NEES_MOST);
  a->verdict.consistent = a->verdict.n_failed == 0;
  return &a->verdict;
}
