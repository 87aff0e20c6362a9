/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/campaign/run.h"
#include "bramah/assess.h"
#include "lib/assess/statistics.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A replay under way. */
typedef struct running {
  const campaign_truth *truth;
  const campaign_fault *fault;
  double step;             /* [s] */
  size_t next;             /* row of the log */
  double *held;            /* [n_sensors] */
  size_t *outside;         /* [n_outputs] looks at which it was */
  double *first, *largest; /* [n_outputs] [s]; [sigmas] */
  size_t looks;
  bramah__nis nees;
  double *work; /* of the NEES */
  campaign_outcome *out;
} running;

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *diag)
{
  running *r = user;
  const campaign_truth *t = r->truth;
  const size_t n_input = bramah_session_plant(t->machine->session)->n_input, n = t->machine->n_sensors;
  (void)diag;
  *end = r->next == t->rows;
  if (*end) return BRAMAH_OK;
  sample->time_ns = (int64_t)r->next * bramah_session_plant(t->machine->session)->step_ns;
  memcpy(sample->inputs, t->input + r->next * n_input, n_input * sizeof(double));
  memset(sample->has_input, 1, n_input);
  campaign_measure(t, r->fault, r->next++, r->held, sample->y);
  for (size_t s = 0; s < n; s++) sample->present[s] = (unsigned char)!isnan(sample->y[s]);
  return BRAMAH_OK;
}

/* A flag at that time. */
static void flag(running *r, double t, const char *what, const char *at)
{
  const double begin = r->fault->kind == FAULT_NONE ? INFINITY : r->step * (double)r->fault->begin;
  double *first = t < begin ? &r->out->false_at : &r->out->flagged_at;
  if (!(t < *first)) return;
  *first = t;
  if (t >= begin || !r->out->flag[0] || r->fault->kind == FAULT_NONE)
    snprintf(r->out->flag, sizeof r->out->flag, "%.40s %.40s", what, *at ? at : "-");
}

/* ---- errors against the truth ---- */

static double nees(running *r, const double *truth, const bramah_filter *filter)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  const size_t n = bramah_plant_n_error(info.plant), m = info.n_error;
  double *e = r->work, *P = e + n, *work = P + n * n, value;
  const double *covariance = bramah_filter_covariance(filter);
  bramah_diag ignored;
  for (size_t i = 0; i < n; i++) {
    bramah_state_info state;
    bramah_plant_state_info(info.plant, i, &state);
    const long output = bramah_plant_find_output(info.plant, state.name);
    if (output < 0) return NAN;
    e[i] = truth[output] - info.plant->output(info.plant->self, (size_t)output);
    memcpy(P + i * n, covariance + i * m, n * sizeof *P);
  }
  return bramah__nees(n, e, P, work, &value, &ignored) ? (double)NAN : value;
}

static void look(running *r, size_t row, bramah_filter *filter)
{
  const campaign_machine *m = r->truth->machine;
  const bramah_plant *plant = bramah_filter_get_info(filter).plant;
  const double *truth = r->truth->output + row * r->truth->width;
  const double value = nees(r, truth, filter);
  if (!isnan(value)) bramah__nis_add(&r->nees, value, (double)bramah_plant_n_error(plant));
  if (row < r->fault->begin) return;
  r->looks++;
  for (size_t i = 0; i < m->n_outputs; i++) {
    const size_t o = m->output[i];
    const double error =
        fabs(bramah__without_turns(plant, o, truth[o], plant->output(plant->self, o)) - truth[o]);
    const double sigma = bramah_filter_output_sigma(filter, o);
    if (error <= campaign_wrong_sigmas * sigma || error <= 1e-9 * fabs(truth[o])) continue;
    if (!r->outside[i]++) r->first[i] = r->step * (double)row;
    r->largest[i] = fmax(r->largest[i], error / sigma);
  }
}

/* ---- the whole ---- */

static void watch(running *r, size_t row, bramah_filter *filter, bramah_filter_report *before)
{
  const bramah_filter_report now = bramah_filter_get_report(filter);
  const double t = r->step * (double)row;
  for (size_t s = 0; now.sensor_faults > before->sensor_faults && s < r->truth->machine->n_sensors; s++)
    if (bramah_filter_sensor_fault(filter, s))
      flag(r, t, "fault", bramah_filter_get_info(filter).sensor[s].name);
  if (now.recoveries > before->recoveries) flag(r, t, "recovery", "");
  *before = now;
}

/* Does the run say that the sensor at fault could move this output out of its band unnoticed? */
static int is_said(const running *r, const bramah_assess_results *results, const char *output)
{
  int said = 0;
  for (size_t i = 0; r->fault->kind != FAULT_NONE && i < results->n_hidden; i++)
    said |= strcmp(results->hidden[i].name, output) == 0 &&
            strcmp(results->hidden[i].sensor, results->sensor[r->fault->sensor].name) == 0;
  return said;
}

static void conclude(running *r, bramah_assess *assess)
{
  const campaign_machine *m = r->truth->machine;
  const bramah_assess_results *results = bramah_assess_get_results(assess);
  campaign_outcome *out = r->out;
  const double end = r->step * (double)(r->truth->rows - 1);
  out->contradicted = results->verdict.contradicted;
  out->doubted = results->verdict.doubt && results->verdict.doubt->kind == BRAMAH_DOUBT_PROCESS_NOISE;
  out->is_hidden = 1;
  for (size_t i = 0; i <= m->n_sensors; i++)
    if (results->alarm[i].times)
      flag(r, 1e-9 * (double)results->alarm[i].raised_ns, "alarm",
           i < m->n_sensors ? results->sensor[i].name : "jointly");
  for (size_t k = 0; k < results->verdict.n; k++) {
    const bramah_finding *f = &results->verdict.finding[k];
    if (!f->passed) flag(r, isnan(f->end) ? end : fmin(f->end, end), f->what, f->at);
  }
  for (size_t i = 0; i < m->n_outputs; i++) {
    const double share = r->looks ? (double)r->outside[i] / (double)r->looks : 0.0;
    bramah_output_info info;
    bramah_plant_output_info(bramah_session_plant(m->session), m->output[i], &info);
    if (share > campaign_wrong_share) out->is_hidden &= is_said(r, results, info.name);
    if (share <= out->share && i) continue;
    out->share = share;
    out->worst = r->largest[i];
    out->wrong_at = r->outside[i] ? r->first[i] : (double)INFINITY;
    snprintf(out->output, sizeof out->output, "%s", info.name);
  }
  out->nees = bramah__nis_mean(&r->nees);
  out->hidden = results->n_hidden;
}

bramah_status campaign_run(const campaign_truth *t, const campaign_fault *fault, bramah_diag *diag,
                           campaign_outcome *out)
{
  const campaign_machine *m = t->machine;
  bramah_session *session = NULL;
  bramah_assess *assess = NULL;
  const size_t n = bramah_plant_n_error(bramah_session_plant(m->session));
  running r = {.truth = t, .fault = fault, .out = out};
  r.step = 1e-9 * (double)bramah_session_plant(m->session)->step_ns;
  *out = (campaign_outcome){.wrong_at = INFINITY, .flagged_at = INFINITY, .false_at = INFINITY};
  r.held = calloc(m->n_sensors + 2 * m->n_outputs + n + n * n + n * (n + 2), sizeof *r.held);
  r.outside = calloc(m->n_outputs, sizeof *r.outside);
  bramah_status status =
      r.held && r.outside ? bramah_session_clone(m->session, diag, &session) : bramah__fail_memory(diag);
  if (!status) status = bramah_assess_new(session, next_row, &r, NULL, diag, &assess);
  if (!status) {
    bramah_filter *filter = bramah_session_filter(session);
    bramah_filter_report before = {0};
    bramah_status ended = BRAMAH_OK;
    r.first = r.held + m->n_sensors;
    r.largest = r.first + m->n_outputs;
    r.work = r.largest + m->n_outputs;
    for (size_t s = 0; s < m->n_sensors; s++) r.held[s] = NAN;
    for (int end = 0; !end && !ended;) {
      ended = bramah_assess_next(assess, &end, diag);
      if (end || ended) break;
      const int64_t now = bramah_assess_get_totals(assess).last_ns;
      const size_t row = (size_t)(now / bramah_session_plant(session)->step_ns);
      watch(&r, row, filter, &before);
      if (row % (size_t)m->every == 0) look(&r, row, filter);
    }
    out->failed = ended != BRAMAH_OK; /* it says so, and ends: a flag */
    if (ended) flag(&r, 1e-9 * (double)bramah_assess_get_totals(assess).last_ns, "error:", diag->message);
    conclude(&r, assess);
  }
  bramah_assess_free(assess);
  bramah_session_close(session);
  free(r.held);
  free(r.outside);
  return status;
}
