/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sensor studies: the truth of a scenario, the model without corrections, and the runs of filters over noise,
 * by several threads. */
#include "bramah/assess.h"
#include "bramah/log.h"
#include "lib/assess/sensor_study.h"
#include "lib/io/fail.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double seconds(int64_t ns) { return (double)ns / 1e9; }

/* ---- cases ---- */

bramah_sensor_study_case bramah_sensor_study_case_of(const bramah_sensor_study *study, size_t run)
{
  const bramah_sensor_study_layout *is = &study->is;
  bramah_sensor_study_case c;
  c.seed = run % is->n_seeds;
  run /= is->n_seeds;
  c.rate = run % is->n_rates;
  run /= is->n_rates;
  c.filter = run % is->n_filters;
  run /= is->n_filters;
  c.study = run % is->n_studies;
  c.scenario = run / is->n_studies;
  return c;
}

size_t bramah__study_run_of(const bramah_sensor_study *study, const bramah_sensor_study_case *c)
{
  const bramah_sensor_study_layout *is = &study->is;
  const size_t set = (c->scenario * is->n_studies + c->study) * is->n_filters + c->filter;
  return (set * is->n_rates + c->rate) * is->n_seeds + c->seed;
}

bramah__study_set *bramah__study_set_of(const bramah_sensor_study *study, const bramah_sensor_study_case *at)
{
  const bramah_sensor_study_layout *is = &study->is;
  return &study->sets[(at->scenario * is->n_studies + at->study) * is->n_filters + at->filter];
}

uint64_t bramah__study_every(double rate, int64_t period_ns, int64_t step_ns)
{
  const int64_t period = rate > 0.0 ? llround(1e9 / rate) : period_ns;
  return period > step_ns ? (uint64_t)((period + step_ns / 2) / step_ns) : 1;
}

/* ---- truth ---- */

static void record(const bramah_sensor_study *s, bramah__truth *truth, size_t row, const size_t *output,
                   bramah_sensor *const *sensors)
{
  const bramah_plant *plant = &s->machine.plant;
  for (size_t i = 0; i < s->is.n_signals; i++) {
    const double value = plant->output(plant->self, output[i]);
    truth->signal[row * s->is.n_signals + i] = value;
    truth->largest[i] = fmax(truth->largest[i], fabs(value));
  }
  for (size_t i = 0; i < s->is.n_studies; i++) {
    const size_t n = s->studies[i]->n_sensors;
    for (size_t k = 0; k < n; k++)
      truth->measured[i][row * n + k] = bramah_sensor_predict(&sensors[i][k], plant);
  }
}

static bramah_status set_parameters(const bramah_sensor_study *s, const bramah_plan_scenario *scenario,
                                    bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  for (size_t i = 0; i < scenario->n_parameters; i++) {
    const bramah_change *p = &scenario->parameters[i];
    bramah_parameter_info info;
    size_t index;
    double value = 0.0;
    bramah_diag_clear(diag);
    bramah_status status = bramah_plant_parameter_index(plant, p->path, &index, diag);
    if (!status) plant->parameter_info(plant->self, index, &info);
    if (!status) status = bramah_quantity_parse(p->value, info.unit, &value, diag);
    if (!status) status = plant->set_parameter(plant->self, index, value, diag);
    if (status) return bramah__place(diag, p->file, p->line);
  }
  return BRAMAH_OK;
}

bramah_status bramah__study_simulate(bramah_sensor_study *s, size_t scenario, const size_t *output,
                                     bramah_sensor *const *sensors, bramah_diag *diag)
{
  const bramah_plant *plant = &s->machine.plant;
  bramah_schedule *schedule = NULL;
  bramah_status status = bramah_schedule_new(s->machine.machine, s->machine.model, diag, &schedule);
  if (!status) status = bramah_coupled_reset(s->machine.coupled, diag);
  if (!status) status = set_parameters(s, &s->scenarios[scenario], diag);
  for (size_t k = 0; !status && k < s->is.rows; k++) {
    const int64_t now = (int64_t)k * plant->step_ns;
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    if (!status) record(s, &s->truth[scenario], k, output, sensors);
    if (status || k + 1 == s->is.rows) break;
    status = plant->step(plant->self, diag);
    if (!status) continue;
    const size_t used = strlen(diag->message);
    snprintf(diag->message + used, sizeof diag->message - used, " (truth after t = %.9g s)", seconds(now));
  }
  bramah_schedule_free(schedule);
  return status ? bramah__place(diag, s->plan->machine_file, 0) : BRAMAH_OK;
}

/* Without corrections the model may come to an early end; then it has no metrics. */
bramah_status bramah__study_run_alone(bramah_sensor_study *s, size_t scenario, bramah_diag *diag)
{
  const bramah__study_set *set = bramah__study_set_of(s, &(bramah_sensor_study_case){.scenario = scenario});
  const bramah_plant *plant = bramah_session_plant(set->session);
  bramah__truth *truth = &s->truth[scenario];
  bramah_rmse all[BRAMAH_PLAN_MOST_SIGNALS] = {{0}}, settled[BRAMAH_PLAN_MOST_SIGNALS] = {{0}};
  bramah_schedule *schedule = NULL;
  bramah_status status =
      bramah_schedule_new(s->machine.machine, bramah_session_model(set->session), diag, &schedule);
  if (status) return status;
  status = bramah_session_start(set->session, bramah_session_coupled(set->session), diag);
  for (size_t k = 0; !status && k < s->is.rows; k++) {
    const int64_t now = (int64_t)k * plant->step_ns;
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    for (size_t i = 0; !status && i < s->is.n_signals; i++) {
      const double is = truth->signal[k * s->is.n_signals + i],
                   has = plant->output(plant->self, set->output[i]);
      bramah_rmse_add(&all[i], is, has, NAN);
      if (k >= s->settled) bramah_rmse_add(&settled[i], is, has, NAN);
    }
    if (!status && k + 1 < s->is.rows) status = plant->step(plant->self, diag);
  }
  for (size_t i = 0; i < s->is.n_signals; i++) {
    const double percent = status ? (double)NAN : 100.0 / truth->largest[i];
    truth->alone[2 * i + BRAMAH_METRIC_RMSE] = percent * bramah_rmse_value(&all[i]);
    truth->alone[2 * i + BRAMAH_METRIC_SETTLED] = percent * bramah_rmse_value(&settled[i]);
  }
  bramah_schedule_free(schedule);
  return BRAMAH_OK;
}

/* ---- one run ---- */

typedef struct sampled {
  bramah_noise *noise; /* a stream of its own, as in `simulate --noise` */
  uint64_t every;      /* steps between samples */
} sampled;

typedef struct watched {
  bramah_rmse all, settled, noise;
  long sensor;   /* that measures just this; -1: none */
  double before; /* sigma before the correction */
  double saw_sum;
  size_t saw_n;
} watched;

/* What one run has to itself: its session is a clone. */
typedef struct bench {
  const bramah_sensor_study *study;
  bramah_sensor_study_case at;
  const bramah__truth *truth;
  const bramah__study_set *set;
  const bramah_sensor_options *sensors; /* of the truth */
  size_t n_sensors;
  bramah_session *session;
  bramah_filter *filter;
  const bramah_plant *plant;
  const bramah_sensor *assumed; /* [n_sensors] by the filter */
  bramah_schedule *schedule;
  sampled *sampled;       /* [n_sensors] */
  double *y;              /* [n_sensors] */
  unsigned char *present; /* [n_sensors] */
  watched watched[BRAMAH_PLAN_MOST_SIGNALS];
  bramah_nis nis;
} bench;

static bramah_status open_sensors(bench *b, bramah_diag *diag)
{
  b->sensors = b->study->studies[b->at.study]->sensors;
  b->n_sensors = b->study->studies[b->at.study]->n_sensors;
  b->sampled = calloc(b->n_sensors + 1, sizeof *b->sampled);
  b->y = calloc(b->n_sensors + 1, sizeof *b->y);
  b->present = calloc(b->n_sensors + 1, 1);
  if (!b->sampled || !b->y || !b->present) return bramah__fail_memory(diag);
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < b->n_sensors; i++) {
    b->sampled[i].every =
        bramah__study_every(b->study->rates[b->at.rate], b->assumed[i].period_ns, b->plant->step_ns);
    status =
        bramah_noise_new(b->at.seed + 1, bramah_noise_stream(b->sensors[i].name), diag, &b->sampled[i].noise);
  }
  for (size_t i = 0; i < b->study->is.n_signals; i++)
    b->watched[i].sensor = bramah_session_sensor_of_output(b->session, b->set->output[i]);
  return status;
}

static bramah_status open_bench(bench *b, const bramah_sensor_study *study, size_t run, bramah_diag *diag)
{
  b->study = study;
  b->at = bramah_sensor_study_case_of(study, run);
  b->truth = &study->truth[b->at.scenario];
  b->set = bramah__study_set_of(study, &b->at);
  bramah_status status = bramah_session_clone(b->set->session, diag, &b->session);
  if (status) return status;
  b->filter = bramah_session_filter(b->session);
  b->plant = bramah_session_plant(b->session);
  b->assumed = bramah_session_sensors(b->session);
  status = bramah_schedule_new(study->machine.machine, bramah_session_model(b->session), diag, &b->schedule);
  return status ? status : open_sensors(b, diag);
}

static void close_bench(bench *b)
{
  for (size_t i = 0; b->sampled && i < b->n_sensors; i++) bramah_noise_free(b->sampled[i].noise);
  free(b->sampled);
  free(b->y);
  free(b->present);
  bramah_schedule_free(b->schedule);
  bramah_session_close(b->session);
}

/* What the sensors that have a sample at row k say of the truth; returns whether any has. */
static int take_samples(bench *b, size_t k)
{
  int any = 0;
  for (size_t i = 0; i < b->n_sensors; i++) {
    b->present[i] = k % b->sampled[i].every == 0;
    any |= b->present[i];
    if (!b->present[i]) continue;
    const double is = b->truth->measured[b->at.study][k * b->n_sensors + i];
    b->y[i] = bramah_sensor_digitize(&b->assumed[i],
                                     is + bramah_noise_gaussian(b->sampled[i].noise, b->sensors[i].sigma));
  }
  return any;
}

static double sigma_of(const bench *b, size_t signal)
{
  return bramah_filter_output_sigma(b->filter, b->set->output[signal]);
}

static bramah_status correct(bench *b, size_t k, bramah_diag *diag)
{
  const size_t n = b->study->is.n_signals;
  const int settled = k >= b->study->settled;
  for (size_t i = 0; settled && i < n; i++) b->watched[i].before = sigma_of(b, i);
  const bramah_status status = bramah_filter_correct(b->filter, b->y, b->present, diag);
  if (status) return status;
  size_t dof;
  const double nis = bramah_filter_nis(b->filter, &dof);
  bramah_nis_add(&b->nis, nis, (double)dof);
  for (size_t i = 0; settled && i < n; i++) {
    const double ratio = b->watched[i].before / sigma_of(b, i);
    if (!isfinite(ratio)) continue;
    b->watched[i].saw_sum += ratio;
    b->watched[i].saw_n++;
  }
  return BRAMAH_OK;
}

/* A row holds what was corrected at its time and the command from then on, as the truth does. */
static bramah_status run_row(bench *b, size_t k, bramah_diag *diag)
{
  const bramah_plant *plant = b->plant;
  const size_t n = b->study->is.n_signals;
  bramah_status status = take_samples(b, k) ? correct(b, k, diag) : BRAMAH_OK;
  const double *u = bramah_schedule_at(b->schedule, (int64_t)k * plant->step_ns);
  if (!status) status = bramah_filter_set_inputs(b->filter, u, diag);
  for (size_t i = 0; !status && i < n; i++) {
    watched *w = &b->watched[i];
    const double is = b->truth->signal[k * n + i], has = plant->output(plant->self, b->set->output[i]);
    bramah_rmse_add(&w->all, is, has, sigma_of(b, i));
    if (k >= b->study->settled) bramah_rmse_add(&w->settled, is, has, NAN);
    if (w->sensor >= 0 && b->present[w->sensor]) bramah_rmse_add(&w->noise, is, b->y[w->sensor], NAN);
  }
  return !status && k + 1 < b->study->is.rows ? bramah_filter_predict(b->filter, diag) : status;
}

static void store(const bench *b, double *metrics)
{
  for (size_t i = 0; i < b->study->is.n_signals; i++, metrics += BRAMAH_N_METRICS) {
    const watched *w = &b->watched[i];
    const double percent = 100.0 / b->truth->largest[i];
    metrics[BRAMAH_METRIC_RMSE] = percent * bramah_rmse_value(&w->all);
    metrics[BRAMAH_METRIC_SETTLED] = percent * bramah_rmse_value(&w->settled);
    metrics[BRAMAH_METRIC_INSIDE] = bramah_rmse_inside(&w->all);
    metrics[BRAMAH_METRIC_SAW_TOOTH] = w->saw_n ? w->saw_sum / (double)w->saw_n : (double)NAN;
    metrics[BRAMAH_METRIC_NOISE] = percent * bramah_rmse_value(&w->noise);
    metrics[BRAMAH_METRIC_NIS] = bramah_nis_mean(&b->nis);
  }
}

/* Only what belongs to this run is written. */
static void run_one(bramah_sensor_study *s, size_t run)
{
  bench b = {0};
  bramah_diag diag;
  bramah_diag_clear(&diag);
  size_t k = 0;
  bramah_status status = open_bench(&b, s, run, &diag);
  for (; !status && k < s->is.rows; k++) status = run_row(&b, k, &diag);
  if (!status) store(&b, &s->metrics[run * s->is.n_signals * BRAMAH_N_METRICS]);
  s->runs[run].status = status;
  if (status)
    snprintf(s->runs[run].why, sizeof s->runs[run].why, "%.60s%s%.140s (at t = %.9g s)", diag.thing,
             diag.thing[0] ? ": " : "", diag.message, k ? seconds((int64_t)(k - 1) * s->is.step_ns) : 0.0);
  close_bench(&b);
}

/* ---- all runs ---- */

typedef struct workers {
  bramah_sensor_study *study;
  bramah_sensor_study_progress progress;
  void *user;
  pthread_mutex_t lock; /* of what follows */
  size_t next, done;
} workers;

static void *work(void *user)
{
  workers *w = user;
  for (int finished = 0;; finished = 1) {
    pthread_mutex_lock(&w->lock);
    w->done += (size_t)finished;
    if (finished && w->progress) w->progress(w->user, w->done);
    const size_t mine = w->next++;
    pthread_mutex_unlock(&w->lock);
    if (mine >= w->study->is.n_runs) return NULL;
    run_one(w->study, mine);
  }
}

bramah_status bramah_sensor_study_run(bramah_sensor_study *study, size_t n_threads,
                                      bramah_sensor_study_progress progress, void *user, bramah_diag *diag)
{
  workers w = {
      .study = study, .progress = progress, .user = user, .lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER};
  pthread_t *threads = calloc(n_threads + 1, sizeof *threads);
  if (!threads) return bramah__fail_memory(diag);
  size_t n = 0; /* where no more threads can be had, fewer do it */
  while (n + 1 < n_threads && pthread_create(&threads[n], NULL, work, &w) == 0) n++;
  work(&w);
  while (n-- > 0) pthread_join(threads[n], NULL);
  free(threads);
  pthread_mutex_destroy(&w.lock);
  return BRAMAH_OK;
}
