/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Innovations per sensor and all together; sensors that become faulty, and the filter found wrong. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdlib.h>

bramah_status bramah__consistency_init(bramah_assess *a, bramah_diag *diag)
{
  a->innovations = calloc(a->n_sensors + 1, sizeof *a->innovations);
  a->fault = calloc(a->n_sensors + 1, sizeof *a->fault);
  if (a->options.whiteness) a->whiteness = calloc(a->n_sensors + 1, sizeof *a->whiteness);
  if (a->innovations && a->fault && (a->whiteness || !a->options.whiteness)) return BRAMAH_OK;
  return bramah__fail_memory(diag);
}

/* ---- innovations ---- */

static void count(bramah__innovations *into, const bramah_innovation *innovation, double expected)
{
  into->present++;
  into->gated += (uint64_t)(!innovation->accepted && !innovation->saturated);
  into->saturated += (uint64_t)(innovation->saturated != 0);
  if (innovation->accepted) into->expected += expected;
}

void bramah__consistency_add(bramah_assess *a, const bramah_rewind_use *use)
{
  const bramah_innovation *innovation = &use->innovation;
  bramah__innovations *sensor = &a->innovations[use->sensor];
  const double expected = bramah_nis_left_by_gate(a->study->gate[use->sensor]);
  count(sensor, innovation, expected);
  count(&a->all, innovation, expected);
  if (!innovation->accepted) return;
  const double normalised = innovation->innovation / innovation->sigma;
  bramah_nis_add(&sensor->nis, innovation->nis, 1.0);
  sensor->products += normalised * sensor->last;
  sensor->squares += normalised * normalised;
  sensor->last = normalised;
  if (a->whiteness && innovation->sigma > 0.0)
    bramah_autocorrelation_add(&a->whiteness[use->sensor], normalised);
}

void bramah__consistency_step(bramah_assess *a)
{
  size_t dof;
  const double nis = bramah_replay_nis(a->replay, &dof);
  if (dof) bramah_nis_add(&a->all.nis, nis, (double)dof);
}

/* ---- events ---- */

static void begin(bramah_event *event, double t)
{
  if (event->n < BRAMAH_EVENT_TIMES) event->begin[event->n] = t;
  event->n++;
}

void bramah__events_watch(bramah_assess *a)
{
  const double t = (double)a->totals.last_ns / 1e9;
  const bramah_filter_report counts = bramah_filter_get_report(a->filter);
  for (size_t i = 0; i < a->n_sensors; i++) {
    bramah_event *fault = &a->fault[i];
    const int faulty = bramah_filter_sensor_fault(a->filter, i);
    if (faulty == fault->lasts) continue;
    if (faulty)
      begin(fault, t);
    else if (fault->n && fault->n <= BRAMAH_EVENT_TIMES)
      fault->end[fault->n - 1] = t;
    fault->lasts = faulty;
  }
  if (counts.recoveries > a->counts.recoveries) begin(&a->recoveries, t);
  a->counts = counts;
}
