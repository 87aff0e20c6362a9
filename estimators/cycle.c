/* SPDX-License-Identifier: MIT */
/* One cycle of a controller: inputs, prediction and correction in one call that does all or nothing. */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"

#include <math.h>

/* ---- what is given ---- */

static bramah_status check_time(const bramah_filter *f, int64_t time_ns, bramah_diag *diag)
{
  const int64_t now = f->progress.time_ns, step = f->plant.step_ns;
  const char *message;
  if (time_ns <= now)
    message = "the time of the cycle is not after that of the filter";
  else if (time_ns - now <= step / 2)
    message = "the time of the cycle is less than half a step after that of the filter";
  else if (time_ns - now - step >= step - step / 2)
    message = "the time of the cycle is beyond the coming step: first make the steps between";
  else
    return BRAMAH_OK;
  bramah__fail(diag, BRAMAH_E_TIME, "cycle", message);
  bramah__add_text(diag, " (");
  bramah__add_number(diag, (double)time_ns * 1e-9, 12);
  bramah__add_text(diag, " s, filter at ");
  bramah__add_number(diag, (double)now * 1e-9, 12);
  bramah__add_text(diag, " s)");
  return BRAMAH_E_TIME;
}

static bramah_status check_counts(const bramah_filter *f, const bramah_filter_cycle *cycle, bramah_diag *diag)
{
  const int inputs = cycle->n_input == 0 || (cycle->n_input == f->plant.n_input && cycle->u);
  const int sensors =
      cycle->n_sensors == 0 || (cycle->n_sensors == f->n_sensors && cycle->y && cycle->present);
  if (!inputs)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "cycle", "this is not the number of inputs of the plant");
  if (!sensors)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "cycle", "this is not the number of sensors of the filter");
  return BRAMAH_OK;
}

/* Bad samples are found before the plant has done its step for nothing. */
static bramah_status check_samples(const bramah_filter *f, const bramah_filter_cycle *cycle,
                                   bramah_diag *diag)
{
  for (size_t i = 0; i < cycle->n_sensors; i++)
    if (cycle->present[i] && !isfinite(cycle->y[i]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, f->sensor[i].name,
                          "the measurement is not a finite number");
  return BRAMAH_OK;
}

static bramah_status check(const bramah_filter *f, const bramah_filter_cycle *cycle, bramah_diag *diag)
{
  bramah_status status = check_counts(f, cycle, diag);
  if (status == BRAMAH_OK) status = check_time(f, cycle->time_ns, diag);
  return status == BRAMAH_OK ? check_samples(f, cycle, diag) : status;
}

/* Time of each sample after the end of the step; NULL: all at it. A sample's own offset far beyond all sense
 * is handed on as it is, to be refused. */
static const int64_t *offsets(bramah_filter *f, const bramah_filter_cycle *cycle)
{
  const int64_t common = cycle->time_ns - f->progress.time_ns, step = f->plant.step_ns;
  if (common == 0) return cycle->offset_ns;
  for (size_t i = 0; i < f->n_sensors; i++) {
    const int64_t own = cycle->offset_ns ? cycle->offset_ns[i] : 0;
    f->offset_ns[i] = own < -2 * step || own > 2 * step ? own : own + common;
  }
  return f->offset_ns;
}

/* ---- all or nothing ---- */

static void swap(void **a, void **b)
{
  void *const kept = *a;
  *a = *b;
  *b = kept;
}

/* bramah_filter_predict leaves the snapshot of before the former step in f->before, where the correction
 * would write: it is put aside, for the case that the correction fails. */
static bramah_status predict_and_correct(bramah_filter *f, const bramah_filter_cycle *cycle,
                                         bramah_diag *diag)
{
  bramah_status status = bramah_filter_predict(f, diag);
  if (status != BRAMAH_OK || !cycle->n_sensors) {
    bramah__clear_correction(f);
    return status;
  }
  swap(&f->before, &f->older);
  status = bramah_filter_correct_at(f, cycle->y, cycle->present, offsets(f, cycle), diag);
  if (status == BRAMAH_OK) return BRAMAH_OK;
  bramah__swap_matrices(f);
  swap(&f->last, &f->older);
  return status;
}

static bramah_status run(bramah_filter *f, const bramah_filter_cycle *cycle, bramah_diag *diag)
{
  bramah_status status = check(f, cycle, diag);
  if (status != BRAMAH_OK) return status;
  bramah__keep(f, f->cycle);
  if (cycle->n_input) status = bramah_filter_set_inputs(f, cycle->u, diag);
  if (status == BRAMAH_OK) status = predict_and_correct(f, cycle, diag);
  if (status != BRAMAH_OK) bramah__take_back(f, f->cycle, 1);
  return status;
}

/* ---- report ---- */

static unsigned flag(uint64_t before, uint64_t after, bramah_step_flag bit)
{
  return after > before ? (unsigned)bit : 0;
}

static void fill(const bramah_filter *f, const bramah_filter_report *before,
                 bramah_filter_step_report *report)
{
  const bramah_filter_report *now = &f->progress.report;
  *report = (bramah_filter_step_report){.time_ns = f->progress.time_ns, .nis = f->nis, .nis_dof = f->nis_dof};
  if (f->plant.iterations) report->iterations = f->plant.iterations(f->plant.self);
  for (size_t i = 0; i < f->n_sensors; i++) {
    const bramah_innovation *in = &f->innovation[i];
    report->present += (unsigned)in->present;
    report->accepted += in->present && in->accepted;
    report->saturated += in->present && in->saturated;
    report->lost += (unsigned)bramah_filter_lost(f, i);
  }
  report->gated = report->present - report->accepted - report->saturated;
  report->flags = (report->gated ? (unsigned)BRAMAH_STEP_GATED : 0u) |
                  flag(before->saturated, now->saturated, BRAMAH_STEP_SATURATED) |
                  flag(before->lost, now->lost, BRAMAH_STEP_LOST) |
                  flag(before->recoveries, now->recoveries, BRAMAH_STEP_RECOVERED) |
                  flag(before->limited, now->limited, BRAMAH_STEP_LIMITED) |
                  flag(0, f->progress.rebased, BRAMAH_STEP_COORDINATES);
}

bramah_status bramah_filter_step(bramah_filter *filter, const bramah_filter_cycle *cycle,
                                 bramah_filter_step_report *report, bramah_diag *diag)
{
  const bramah_filter_report before = filter->progress.report;
  const bramah_status status = run(filter, cycle, diag);
  if (status == BRAMAH_OK && report) fill(filter, &before, report);
  return status;
}
