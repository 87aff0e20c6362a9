/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an assessment has found, as structures: estimates at one time, innovations and events, errors against the
 * truth, and whether the filter is consistent. */
#include "lib/assess/assess_internal.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- estimates ---- */

/* Outputs and errors of states that the truth has. */
static bramah_status open_truth(bramah_assess *a, bramah_diag *diag)
{
  bramah_status status = bramah__truth_open(a->options.truth, diag, &a->rows);
  for (size_t c = 0; !status && c < a->n_outputs; c++) {
    bramah_assess_output *out = &a->outputs[c];
    long *column = &a->column[out->output];
    *column = -1;
    if (out->has_sigma) status = bramah__truth_find(a->rows, out->name, out->unit, column, diag);
    out->has_truth = !status && *column >= 0;
    if (!out->has_truth) continue;
    bramah_output_info info;
    bramah_plant_output_info(a->plant, out->output, &info);
    a->accuracy[a->n_accuracies++] =
        (bramah__accuracy){.output = out->output,
                           .name = out->name,
                           .unit = out->unit,
                           .sensor = out->sensor,
                           .is_judged = info.kind == BRAMAH_OUTPUT_POSITION || strcmp(out->unit, "rad") != 0};
  }
  a->has_nees = !status && bramah_plant_coordinates(a->plant, a->error);
  return status;
}

/* Unknown commands have the name of an output, which no other augmented state can have. */
bramah_status bramah__results_init(bramah_assess *a, bramah_diag *diag)
{
  const size_t n = a->plant->n_output;
  for (size_t i = 0; i < n; i++) a->value[i] = a->sigma[i] = a->truth[i] = a->alone[i] = NAN;
  for (size_t k = 0; k < a->n_augmented; k++) {
    const bramah_augmented *state = &bramah_filter_get_info(a->filter).augmented[k];
    const long i = bramah_plant_find_output(a->plant, state->name);
    a->shown_as[k] = i < 0 ? n : (size_t)i;
    a->augmented[k] = (bramah_augmented_estimate){.name = state->name,
                                                  .at = state->at,
                                                  .unit = bramah_session_about(a->session)->augmented_unit[k],
                                                  .kind = state->kind,
                                                  .is_shown = i >= 0};
    a->estimated_from[k] = state->role == BRAMAH_AUGMENTED_ESTIMATED ? INT64_MIN : INT64_MAX;
  }
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    bramah_plant_output_info(a->plant, i, &info);
    if (info.hidden) continue;
    bramah_assess_output *out = &a->outputs[a->n_outputs++];
    *out = (bramah_assess_output){.output = i,
                                  .name = info.name,
                                  .unit = info.unit,
                                  .has_sigma = info.has_row,
                                  .sensor = bramah__session_sensor_of_output(a->session, i)};
    for (size_t k = 0; k < a->n_augmented; k++) out->has_sigma |= a->shown_as[k] == i;
  }
  a->estimate = (bramah_estimate){.nis = NAN,
                                  .nis_low = NAN,
                                  .nis_high = NAN,
                                  .value = a->value,
                                  .sigma = a->sigma,
                                  .truth = a->truth,
                                  .model = a->alone,
                                  .measured = a->measured,
                                  .innovation = bramah_replay_get_report(a->replay).innovation,
                                  .augmented = a->augmented};
  const bramah_status status = a->options.truth ? open_truth(a, diag) : BRAMAH_OK;
  a->results =
      (bramah_assess_results){.n_outputs = a->n_outputs,
                              .n_sensors = a->n_sensors,
                              .n_accuracies = a->n_accuracies,
                              .n_augmented = a->n_augmented,
                              .n_adapted = a->adaptive ? bramah_adaptive_get_report(a->adaptive).n_values : 0,
                              .sensor = a->sensor_results,
                              .alarm = a->alarms,
                              .output = a->outputs,
                              .accuracy = a->accuracy_results,
                              .augmented = a->augmented,
                              .n_phases = a->n_phases,
                              .phase = a->phases,
                              .adapted = a->adapted,
                              .input_cost = a->input_cost,
                              .hidden = a->hidden};
  return status;
}

void bramah__estimate_augmented(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_augmented && !a->smoothing; k++) {
    a->augmented[k].value = bramah_filter_get_augmented(a->filter, k).value;
    a->augmented[k].sigma = bramah_filter_get_augmented(a->filter, k).sigma;
    a->augmented[k].estimated_from_ns = a->estimated_from[k];
    a->augmented[k].is_estimated = a->estimated_from[k] != INT64_MAX;
  }
}

void bramah__estimated_watch(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_augmented; k++) {
    int64_t *from = &a->estimated_from[k];
    if (*from == INT64_MAX && bramah_filter_get_augmented(a->filter, k).is_estimated)
      *from = a->totals.last_ns;
  }
}

double bramah__assess_value(const bramah_assess *a, size_t column, double *sigma)
{
  const size_t i = a->outputs[column].output;
  for (size_t k = 0; k < a->n_augmented; k++) {
    if (a->shown_as[k] != i) continue;
    *sigma = bramah_filter_get_augmented(a->filter, k).sigma;
    return bramah_filter_get_augmented(a->filter, k).value;
  }
  *sigma = a->outputs[column].has_sigma ? bramah_filter_output_sigma(a->filter, i) : (double)NAN;
  return a->plant->output(a->plant->self, i);
}

void bramah_assess_skip_sigma(bramah_assess *a, size_t output) { a->sigma_unwanted[output] = 1; }

const bramah_estimate *bramah_assess_estimate(bramah_assess *a)
{
  if (a->taken) return &a->estimate;
  a->taken = 1;
  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    a->value[i] = a->plant->output(a->plant->self, i);
    if (!a->outputs[c].has_sigma) continue;
    if (!a->sigma_unwanted[i]) a->sigma[i] = bramah_filter_output_sigma(a->filter, i);
    a->alone[i] = a->model_runs ? a->model.output(a->model.self, i) : (double)NAN;
  }
  bramah__estimate_augmented(a);
  for (size_t k = 0; k < a->n_augmented; k++) {
    if (!a->augmented[k].is_shown) continue;
    a->value[a->shown_as[k]] = a->augmented[k].value;
    a->sigma[a->shown_as[k]] = a->augmented[k].sigma;
  }

  /* The band of the NIS, kept for each of its usual degrees of freedom. */
  const size_t dof = a->estimate.dof;
  bramah__band other = {0.0, 0.0}, *found = dof <= a->n_sensors ? &a->bands[dof] : &other;
  if (!(found->high > 0.0) && bramah__nis_band((double)dof, 0.95, &found->low, &found->high, NULL))
    found->low = found->high = NAN; /* of nothing */
  a->estimate.nis_low = found->low;
  a->estimate.nis_high = found->high;
  return &a->estimate;
}

/* ---- innovations and events ---- */

static void count(bramah__innovations *into, const bramah_innovation *innovation, double expected)
{
  into->present++;
  into->gated += (uint64_t)(!innovation->accepted && !innovation->saturated);
  into->saturated += (uint64_t)(innovation->saturated != 0);
  if (!innovation->accepted) return;
  into->expected += expected;
  into->considered += innovation->considered;
}

void bramah__consistency_add(bramah_assess *a, const bramah_rewind_use *use)
{
  const bramah_innovation *innovation = &use->innovation;
  bramah__innovations *sensor = &a->innovations[use->sensor];
  const double expected = bramah__nis_left_by_gate(a->study->gate[use->sensor]);
  count(sensor, innovation, expected);
  count(&a->all, innovation, expected);
  for (size_t i = 0; a->all.present == 1 && i <= a->n_sensors; i++)
    bramah__windows_begin(&a->windows[i], use->time_ns, i < a->n_sensors,
                          i < a->n_sensors ? a->study->gate[i] : 0.0);
  bramah__windows_add(&a->windows[use->sensor], use->time_ns, innovation,
                      bramah_sensor_variance(&bramah_filter_get_info(a->filter).sensor[use->sensor]));
  if (!innovation->accepted) return;
  const double normalised = innovation->innovation / innovation->sigma;
  bramah__nis_add(&sensor->nis, innovation->nis, 1.0);
  sensor->products += normalised * sensor->last;
  sensor->squares += normalised * normalised;
  sensor->last = normalised;
  if (a->options.whiteness && innovation->sigma > 0.0)
    bramah__autocorrelation_add(&a->whiteness[use->sensor], normalised);
}

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

  /* An estimate may lie there as far as it is uncertain. */
  bramah_limit limit[BRAMAH_N_LIMITS];
  bramah_coupled *const coupled = bramah_session_about(a->session)->machine->coupled;
  if (coupled) bramah_coupled_limits(coupled, limit);
  for (int k = 0; coupled && k < BRAMAH_N_LIMITS; k++)
    if (limit[k].beyond > 0.0 &&
        (k >= BRAMAH_LIMIT_LOOP ||
         !(limit[k].beyond <= 3.92 * bramah_filter_output_sigma(a->filter, limit[k].output))))
      bramah_limit_event_add(&a->results.limit[k], &limit[k], a->totals.last_ns);
  if (coupled) bramah_energy_add(&a->results.energy, coupled, a->totals.last_ns);
  a->counts = counts;
}

void bramah__alarm_keep(bramah_assess *a, size_t i)
{
  const uint64_t times = a->alarms[i].times;
  if (!times) a->alarms[i] = bramah_alarm_get(a->alarm, i);
  a->alarms[i].times = times + 1;
}

/* ---- errors against the truth: of outputs, and of the whole state by the filter's own covariance ---- */

bramah_status bramah__truth_seek(bramah_assess *a, int64_t time_ns, int *matched, bramah_diag *diag)
{
  const bramah_status status = bramah__truth_row_at(a->rows, time_ns, a->plant->step_ns / 2, matched, diag);
  for (size_t c = 0; !status && c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    if (a->outputs[c].has_truth) a->truth[i] = bramah__truth_value(a->rows, (size_t)a->column[i]);
  }
  return status;
}

/* Normalised errors of the whole state; 0 if the truth lacks one. Errors of spherical and floating joints are turns
 * about axes of the body, not those of the angles shown: such a state has no column. */
static int nees(bramah_assess *a, double *value)
{
  const bramah_plant *plant = a->plant;
  const size_t n = bramah_plant_n_error(plant), m = bramah_filter_get_info(a->filter).n_error;
  double *e = a->error, *x = e + n, *P = x + n, *work = P + n * n;
  const double *covariance = bramah_filter_covariance(a->filter);
  bramah_diag ignored;

  /* The columns of the coordinates that are independent now. */
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    bramah_state_info state;
    bramah_plant_state_info(plant, i, &state);
    const char *name = state.name;
    if (strcmp(name, a->state[i]) == 0) continue;
    snprintf(a->state[i], sizeof a->state[i], "%s", name);
    a->state_column[i] = -1;
    const long output = bramah_plant_find_output(plant, name);
    if (output < 0 || (i < plant->n_dof && plant->noise_row &&
                       plant->noise_row(plant->self, (size_t)output, work) == BRAMAH_OK))
      continue;
    bramah_plant_output_info(plant, (size_t)output, &info);
    if (bramah__truth_find(a->rows, name, info.unit, &a->state_column[i], &ignored)) a->state_column[i] = -1;
  }

  bramah_plant_coordinates(plant, x);
  for (size_t i = 0; i < n; i++) {
    if (a->state_column[i] < 0) return 0;
    e[i] = bramah__truth_value(a->rows, (size_t)a->state_column[i]) - x[i];
    if (isnan(e[i])) return 0;
    memcpy(P + i * n, covariance + i * m, n * sizeof *P);
  }
  return bramah__nees(n, e, P, work, value, &ignored) == BRAMAH_OK;
}

void bramah__accuracy_step(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_accuracies; k++) {
    bramah__accuracy *c = &a->accuracy[k];
    const size_t i = c->output;
    const double truth = a->truth[i], sigma = a->sigma[i];
    if (isnan(truth)) continue;
    const double value = bramah__without_turns(a->plant, i, truth, a->value[i]);
    bramah__rmse_add(&c->estimate, truth, value, sigma);
    /* What is moved by a motion has no uncertainty, only rounding. */
    if (c->is_judged && sigma > 1e-9 * c->estimate.max_truth) {
      c->judged++;
      c->within += fabs(value - truth) <= 2.0 * 1.96 * sigma;
    }
    if (a->model_runs)
      bramah__rmse_add(&c->model, truth, bramah__without_turns(&a->model, i, truth, a->alone[i]), NAN);
    if (c->sensor >= 0 && !isnan(a->measured[c->sensor]))
      bramah__rmse_add(&c->measured, truth, a->measured[c->sensor], NAN);
  }
  double value;
  if (a->has_nees && nees(a, &value))
    bramah__nis_add(&a->nees, value, (double)bramah_plant_n_error(a->plant));
}

void bramah__accuracy_smoothed(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_accuracies; k++) {
    bramah__accuracy *c = &a->accuracy[k];
    const size_t i = c->output;
    if (isnan(a->truth[i])) continue;
    const double value = bramah__without_turns(a->plant, i, a->truth[i], a->value[i]);
    bramah__rmse_add(&c->smoothed, a->truth[i], value, a->sigma[i]);
  }
}

/* ---- results ---- */

bramah_assess_totals bramah_assess_get_totals(const bramah_assess *a)
{
  bramah_assess_totals totals = a->totals;
  totals.exhausted = bramah_replay_get_report(a->replay).exhausted;
  totals.nees = bramah__nis_mean(&a->nees);
  totals.nees_times = a->nees.n;
  return totals;
}

static bramah_consistency consistency_of(const bramah__innovations *sums)
{
  const bramah__nis *nis = &sums->nis;
  const double expected = nis->n ? sums->expected / nis->dof : (double)NAN;
  double low, high;
  bramah_diag ignored;
  if (!nis->n || bramah__nis_band(nis->dof, 0.95, &low, &high, &ignored)) low = high = NAN;
  return (bramah_consistency){.samples = sums->present,
                              .fused = nis->n ? (uint64_t)llround(nis->dof) : 0,
                              .gated = sums->gated,
                              .saturated = sums->saturated,
                              .nis = bramah__nis_mean(nis),
                              .expected = expected,
                              .considered = nis->n ? sums->considered / nis->dof : (double)NAN,
                              .low = expected * low,
                              .high = expected * high,
                              .lag_1 = sums->squares > 0.0 ? sums->products / sums->squares : (double)NAN};
}

/* ---- verdict ---- */

/* Why these tolerances: datasets/README.md. */
static const double NIS_MOST = 2.25;     /* of what the gates leave: innovations 1.5 times as large */
static const double GATED_MOST = 10.0;   /* % of the samples of a sensor */
static const double WITHIN_LEAST = 90.0; /* % of the errors within 2 * 1.96 sigma: twice as large */
static const double NEES_MOST = 4.0;     /* per state: errors twice as large */
enum { JUDGED_FROM = 50 };               /* samples */

static bramah_finding *add(bramah_assess *a, bramah_check_kind kind, const char *at, double value,
                           double least, double most)
{
  static const struct {
    const char *what, *unit;
  } checks[] = {[BRAMAH_CHECK_NIS] = {"mean NIS", ""},
                [BRAMAH_CHECK_GATED] = {"rejected by gates", "%"},
                [BRAMAH_CHECK_FAULT] = {"faulty at the end", ""},
                [BRAMAH_CHECK_RECOVERIES] = {"filter found wrong", ""},
                [BRAMAH_CHECK_ERRORS] = {"errors within 3.92 σ", "%"},
                [BRAMAH_CHECK_NEES] = {"mean NEES", ""},
                [BRAMAH_CHECK_PRESSURE] = {"oil under tension by", "Pa"},
                [BRAMAH_CHECK_STROKE] = {"piston behind its end by", ""},
                [BRAMAH_CHECK_LOOP] = {"loop open by", "m"},
                [BRAMAH_CHECK_POSE] = {"undetermined pose", ""},
                [BRAMAH_CHECK_STEP] = {"error of a step beyond its tolerance by", ""},
                [BRAMAH_CHECK_ENERGY] = {"energy from nothing", "J"},

                [BRAMAH_CHECK_MEAN] = {"mean in a window", "σ"},
                [BRAMAH_CHECK_VARIANCE] = {"variance in a window", "σ"},
                [BRAMAH_CHECK_CORRELATION] = {"correlation in a window", "σ"},
                [BRAMAH_CHECK_REJECTED] = {"rejected in a window", "σ"},
                [BRAMAH_CHECK_SMALL] = {"small variance in a window", "σ"},
                [BRAMAH_CHECK_ANTI] = {"anticorrelation in a window", "σ"},
                [BRAMAH_CHECK_BIAS] = {"mean while noise adapts", "σ"},
                [BRAMAH_CHECK_STATED] = {"beyond its stated uncertainty", "σ"},
                [BRAMAH_CHECK_OFFSET] = {"offset in a window", "σ"}};
  bramah_finding *finding = &a->finding[a->results.verdict.n++];
  *finding = (bramah_finding){.kind = kind,
                              .what = checks[kind].what,
                              .at = at,
                              .unit = checks[kind].unit,
                              .value = value,
                              .least = least,
                              .most = most,
                              .passed = value >= least && value <= most,
                              .amount = NAN,
                              .since = NAN,
                              .begin = NAN,
                              .end = NAN};
  return finding;
}

/* What the monitor says of each state of the budget and each sensor, against this limit; or, of none, how many tests were
 * made. */
static uint64_t judge_monitor(bramah_assess *a, double limit)
{
  const int64_t zero_ns = a->totals.last_ns - bramah_filter_time_ns(a->filter);
  uint64_t tests = 0;
  for (size_t k = 0; a->monitor && k < a->n_augmented + a->n_sensors; k++) {
    const size_t sensor = k - a->n_augmented;
    const int of_state = k < a->n_augmented;
    const bramah_monitor_worst worst = of_state ? bramah_monitor_state(a->monitor, k, limit)
                                                : bramah_monitor_offset(a->monitor, sensor, limit);
    tests += worst.tests;
    if (limit == 0.0 || !worst.tests) continue;
    bramah_finding *f =
        add(a, of_state ? BRAMAH_CHECK_STATED : BRAMAH_CHECK_OFFSET,
            of_state ? a->augmented[k].name : a->results.sensor[sensor].name, worst.size, -INFINITY, limit);
    f->amount = worst.amount;
    f->begin = f->since = 1e-9 * (double)(worst.begin_ns + zero_ns);
    f->end = 1e-9 * (double)(worst.end_ns + zero_ns);
  }
  return tests;
}

/* The worst windows of every sensor and of all, and what the monitor says. Returns how many tests were made. */
static uint64_t judge_windows(bramah_assess *a)
{
  uint64_t tests = judge_monitor(a, 0.0);
  for (int pass = 0; pass < 2; pass++)
    for (size_t i = 0; i <= a->n_sensors; i++) {
      const bramah__windows closed = bramah__windows_close(&a->windows[i]);
      if (!pass) tests += closed.tests;
      for (int k = 0; pass && k < BRAMAH__WINDOW_KINDS; k++) {
        const bramah_check_kind kind = (bramah_check_kind)(BRAMAH_CHECK_MEAN + k);
        const double limit = bramah__windows_limit(tests, kind == BRAMAH_CHECK_MEAN);
        const bramah__worst *worst = bramah__windows_worst(&closed, kind, limit);
        if (!worst->tests) continue;
        bramah_finding *f =
            add(a, kind, i < a->n_sensors ? a->results.sensor[i].name : "", worst->size, -INFINITY, limit);
        f->noted = !f->passed && (!worst->matters || kind >= BRAMAH_CHECK_SMALL);
        f->passed |= f->noted;
        f->amount = worst->value;
        f->begin = 1e-9 * (double)worst->begin_ns;
        f->since = worst->fails ? 1e-9 * (double)worst->since_ns : f->begin;
        f->end = 1e-9 * (double)worst->end_ns;
      }
    }
  judge_monitor(a, fmax(bramah__windows_limit(tests, 1), BRAMAH_MONITOR_LIMIT));
  return tests;
}

/* Of what failed that which says most: a window of a sensor, else one of all, else another check. */
static const bramah_finding *worst_of(const bramah_verdict *v)
{
  const bramah_finding *worst = NULL;
  int best = -1;
  for (size_t k = 0; k < v->n; k++) {
    const bramah_finding *f = &v->finding[k];
    const int says = isnan(f->amount) ? 0 : *f->at ? 2 : 1;
    if (f->passed || says < best || (says == best && (!says || f->value <= worst->value))) continue;
    worst = f;
    best = says;
  }
  return worst;
}

static void judge(bramah_assess *a)
{
  bramah_assess_results *r = &a->results;
  bramah_verdict *v = &r->verdict;
  *v = (bramah_verdict){.finding = a->finding, .too_short = 1};
  for (size_t i = 0; i < a->n_sensors; i++) {
    const bramah_consistency *c = &r->sensor[i];
    double low, high;
    bramah_diag ignored;
    /* The wider of the tolerance and the 99.9 % band of so many samples. */
    v->too_short &= c->samples < JUDGED_FROM;
    if (c->fused >= JUDGED_FROM && !bramah__nis_band((double)c->fused, 0.999, &low, &high, &ignored))
      /* what considered states have of it is one draw for all samples: within 4 of its standard deviations */
      add(a, BRAMAH_CHECK_NIS, c->name, c->nis, 0.0,
          (1.0 - c->considered) * c->expected * fmax(high, NIS_MOST) + 16.0 * c->considered);
    if (c->samples >= JUDGED_FROM)
      add(a, BRAMAH_CHECK_GATED, c->name, 100.0 * (double)c->gated / (double)c->samples, 0.0, GATED_MOST);
    add(a, BRAMAH_CHECK_FAULT, c->name, c->fault.lasts, 0.0, 0.0);
  }
  add(a, BRAMAH_CHECK_RECOVERIES, "", (double)a->counts.recoveries, 0.0, 0.0);
  const bramah_machine_plant *machine = bramah_session_about(a->session)->machine;
  for (int k = 0; machine->coupled && k < BRAMAH_N_LIMITS; k++) {
    const bramah_limit *worst = &r->limit[k].worst;
    bramah_output_info info = {.name = ""};
    if ((k == BRAMAH_LIMIT_LOOP || k == BRAMAH_LIMIT_POSE) &&
        machine->machine->n_loops + machine->machine->n_motions == 0)
      continue;
    if (r->limit[k].n) bramah_coupled_limit_info(machine->coupled, (bramah_limit_kind)k, worst, &info);
    add(a, (bramah_check_kind)(BRAMAH_CHECK_PRESSURE + k), info.name, worst->beyond, 0.0, 0.0);
  }
  if (machine->coupled) add(a, BRAMAH_CHECK_ENERGY, "", r->energy.largest, 0.0, r->energy.limit);
  for (size_t i = 0; r->adaptation.windows && i < a->n_sensors; i++)
    add(a, BRAMAH_CHECK_BIAS, r->sensor[i].name, fabs(r->adaptation.bias[i].worst), 0.0,
        BRAMAH_ADAPTIVE_BIASED);
  for (size_t k = 0; k < a->n_accuracies; k++) {
    const bramah_accuracy *c = &r->accuracy[k];
    if (c->judged >= JUDGED_FROM)
      add(a, BRAMAH_CHECK_ERRORS, c->name, 100.0 * (double)c->within / (double)c->judged, WITHIN_LEAST,
          INFINITY);
  }
  if (a->nees.n >= JUDGED_FROM) add(a, BRAMAH_CHECK_NEES, "", r->totals.nees, 0.0, NEES_MOST);

  v->tests = v->n;
  v->tests += judge_windows(a);
  for (size_t k = 0; k < v->n; k++) v->n_failed += !v->finding[k].passed;
  v->worst = worst_of(v);
  v->contradicted = v->n_failed > 0;
  v->broken_off = a->broken_off && !v->contradicted;
  const bramah_doubt *noise = bramah__noise_doubt(a);
  v->doubt = v->contradicted || v->broken_off ? NULL : a->doubt ? a->doubt : noise;
  v->too_short &= !v->contradicted && !v->broken_off && !v->doubt;
}

/* What sensors could hide, of the outputs that are shown. */
static void take_hidden(bramah_assess *a)
{
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  const int64_t zero_ns = a->totals.last_ns - bramah_filter_time_ns(a->filter);
  bramah_assess_results *r = &a->results;
  r->n_hidden = 0;
  for (size_t c = 0; a->monitor && c < a->n_outputs; c++) {
    const bramah_assess_output *of = &a->outputs[c];
    const bramah_monitor_hidden h = bramah_monitor_hidden_of(a->monitor, of->output);
    if (!of->has_sigma || !h.open) continue;
    a->hidden[r->n_hidden++] = (bramah_hidden){.name = of->name,
                                               .unit = of->unit,
                                               .sensor = info.sensor[h.sensor].name,
                                               .sensor_unit = info.sensor[h.sensor].unit,
                                               .offset = h.offset,
                                               .effect = h.effect,
                                               .sigmas = h.sigmas,
                                               .begin = 1e-9 * (double)(h.begin_ns + zero_ns),
                                               .end = 1e-9 * (double)(h.end_ns + zero_ns),
                                               .share = (double)h.open / (double)h.windows};
  }
}

/* ---- all of it ---- */

/* That of accelerations is stated for joints, whatever coordinates are independent now. */
static bramah_adapted adapted_noise(const bramah_assess *a, size_t i)
{
  const bramah_adaptive_value noise = bramah_adaptive_get_report(a->adaptive).value[i];
  const size_t n_dof = a->plant->n_dof, first[] = {0, 0, n_dof, n_dof + a->plant->n_first_order};
  const double stated = a->stated[first[noise.kind] + noise.index];
  bramah_output_info rate = {.name = ""};
  bramah_state_info state = {.name = ""};
  if (noise.kind == BRAMAH_ADAPTIVE_ACCELERATION)
    bramah_plant_output_info(a->plant, bramah_session_about(a->session)->joint_output[noise.index] + 1,
                             &rate);
  else if (noise.kind != BRAMAH_ADAPTIVE_SENSOR)
    bramah_plant_state_info(a->plant, 2 * n_dof + noise.index, &state);
  const char *name = noise.kind == BRAMAH_ADAPTIVE_SENSOR
                         ? bramah_filter_get_info(a->filter).sensor[noise.index].name
                     : noise.kind == BRAMAH_ADAPTIVE_ACCELERATION ? rate.name
                                                                  : state.name;
  return (bramah_adapted){name, noise.value / stated, noise.sigma / stated, noise.limited};
}

const bramah_assess_results *bramah_assess_get_results(bramah_assess *a)
{
  enum { LAGS = BRAMAH__AUTOCORRELATION_LAGS };
  bramah_assess_results *r = &a->results;
  const bramah_rewind *rewind = bramah_replay_get_report(a->replay).rewind;
  r->totals = bramah_assess_get_totals(a);
  r->all = consistency_of(&a->all);
  r->recoveries = a->recoveries;
  r->rows = bramah_replay_get_report(a->replay);
  r->has_delays = rewind != NULL;
  if (rewind) r->late = bramah_rewind_get_report(rewind);
  r->filter = bramah_filter_get_report(a->filter);
  for (size_t i = 0; i < a->n_phases; i++) a->phases[i] = bramah_filter_get_phase(a->filter, i);
  r->steps = bramah_coupled_report(bramah_session_about(a->session)->machine->coupled);
  bramah__estimate_augmented(a);
  if (a->adaptive) r->adaptation = bramah_adaptive_get_report(a->adaptive);

  for (size_t i = 0; i < a->n_sensors; i++) {
    bramah_consistency *c = &a->sensor_results[i];
    *c = consistency_of(&a->innovations[i]);
    c->name = bramah_filter_get_info(a->filter).sensor[i].name;
    c->unit = bramah_filter_get_info(a->filter).sensor[i].unit;
    c->fault = a->fault[i];
    const size_t most = a->options.whiteness ? (size_t)(a->whiteness[i].n / 4) : 0,
                 lags = most < LAGS ? most : LAGS;
    if (lags >= 2)
      bramah__autocorrelation_test(&a->whiteness[i], lags, &a->lags[i * LAGS], &c->whiteness, NULL);
  }

  for (size_t k = 0; k < a->n_accuracies; k++) {
    const bramah__accuracy *sums = &a->accuracy[k];
    a->accuracy_results[k] = (bramah_accuracy){
        .output = sums->output,
        .name = sums->name,
        .unit = sums->unit,
        .estimate = bramah__rmse_of(&sums->estimate),
        .model = bramah__rmse_of(&sums->model),
        .measured = bramah__rmse_of(&sums->measured),
        .smoothed = bramah__rmse_of(&sums->smoothed),
        .judged = sums->judged,
        .within = sums->within,
        .within_twice = sums->judged ? (double)sums->within / (double)sums->judged : (double)NAN};
  }

  for (size_t i = 0; i < r->n_adapted; i++) a->adapted[i] = adapted_noise(a, i);

  r->n_input_costs = 0;
  for (size_t c = 0; a->known.count && c < a->n_outputs; c++) {
    const bramah_assess_output *of = &a->outputs[c];
    const double count = (double)a->known.count;
    bramah_output_info info;
    bramah_plant_output_info(a->plant, of->output, &info);
    if (!of->has_sigma) continue;
    const double sigma = a->known.sum[0][of->output] / count;
    const double sigma_known = info.has_row ? a->known.sum[1][of->output] / count : (double)NAN;
    a->input_cost[r->n_input_costs++] = (bramah_input_cost){of->name, of->unit, sigma, sigma_known};
  }
  take_hidden(a);
  judge(a);
  return r;
}
