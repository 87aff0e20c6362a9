/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/study_run.h"
#include "bramah/noise.h"
#include "bramah/assess.h"
#include "lib/cli/message.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
  const cli_lab *lab;
  cli_lab_place place;
  const cli_lab_truth *truth;
  const cli_lab_set *set;
  const bramah_sensor_options *sensors; /* of the truth */
  size_t n_sensors;
  bramah_session *session;
  bramah_schedule *schedule;
  sampled *sampled;       /* [n_sensors] */
  double *y;              /* [n_sensors] */
  unsigned char *present; /* [n_sensors] */
  watched watched[BRAMAH_PLAN_MOST_SIGNALS];
  bramah_nis nis;
} bench;

/* ---- preparation ---- */

static bramah_status open_noise(bench *b, bramah_diag *diag)
{
  const double rate = b->lab->rates[b->place.rate];
  b->sampled = calloc(b->n_sensors + 1, sizeof *b->sampled);
  b->y = calloc(b->n_sensors + 1, sizeof *b->y);
  b->present = calloc(b->n_sensors + 1, 1);
  if (!b->sampled || !b->y || !b->present)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < b->n_sensors; i++) {
    b->sampled[i].every = cli_lab_every(&bramah_session_sensors(b->session)[i], rate,
                                        bramah_session_plant(b->session)->step_ns);
    status = bramah_noise_new(b->place.seed + 1, bramah_noise_stream(b->sensors[i].name), diag,
                              &b->sampled[i].noise);
  }
  return status;
}

static bramah_status open_bench(bench *b, const cli_lab *lab, size_t index, bramah_diag *diag)
{
  b->lab = lab;
  b->place = cli_lab_place_of(lab, index);
  b->truth = &lab->truth[b->place.scenario];
  b->set = cli_lab_set_of(lab, &b->place);
  b->sensors = lab->studies[b->place.study]->sensors;
  b->n_sensors = lab->studies[b->place.study]->n_sensors;
  for (size_t i = 0; i < lab->n_signals; i++)
    b->watched[i].sensor = bramah_session_sensor_of_output(b->set->session, b->set->output[i]);
  bramah_status status = bramah_session_clone(b->set->session, diag, &b->session);
  if (!status)
    status = bramah_schedule_new(lab->machine.machine, bramah_session_model(b->session), diag, &b->schedule);
  return status ? status : open_noise(b, diag);
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

/* ---- steps ---- */

/* What the sensor says of the truth at row k. */
static double sample(bench *b, size_t i, size_t k)
{
  const double is = b->truth->measured[b->place.study][k * b->n_sensors + i];
  return bramah_sensor_digitize(&bramah_session_sensors(b->session)[i],
                                is + bramah_noise_gaussian(b->sampled[i].noise, b->sensors[i].sigma));
}

static int take_samples(bench *b, size_t k)
{
  int any = 0;
  for (size_t i = 0; i < b->n_sensors; i++) {
    b->present[i] = k % b->sampled[i].every == 0;
    if (b->present[i]) b->y[i] = sample(b, i, k);
    any |= b->present[i];
  }
  return any;
}

static double sigma_of(const bench *b, size_t signal)
{
  return bramah_filter_output_sigma(bramah_session_filter(b->session), b->set->output[signal]);
}

static bramah_status correct(bench *b, size_t k, bramah_diag *diag)
{
  const size_t n = b->lab->n_signals;
  const int saw = k >= b->lab->settled;
  for (size_t i = 0; saw && i < n; i++) b->watched[i].before = sigma_of(b, i);
  const bramah_status status =
      bramah_filter_correct(bramah_session_filter(b->session), b->y, b->present, diag);
  if (status) return status;
  size_t dof;
  const double nis = bramah_filter_nis(bramah_session_filter(b->session), &dof);
  bramah_nis_add(&b->nis, nis, (double)dof);
  for (size_t i = 0; saw && i < n; i++) {
    const double ratio = b->watched[i].before / sigma_of(b, i);
    if (!isfinite(ratio)) continue;
    b->watched[i].saw_sum += ratio;
    b->watched[i].saw_n++;
  }
  return BRAMAH_OK;
}

static void watch(bench *b, size_t k)
{
  const bramah_plant *plant = bramah_session_plant(b->session);
  for (size_t i = 0; i < b->lab->n_signals; i++) {
    watched *w = &b->watched[i];
    const double is = b->truth->signal[k * b->lab->n_signals + i];
    const double has = plant->output(plant->self, b->set->output[i]);
    bramah_rmse_add(&w->all, is, has, sigma_of(b, i));
    if (k >= b->lab->settled) bramah_rmse_add(&w->settled, is, has, NAN);
    if (w->sensor >= 0 && b->present[w->sensor]) bramah_rmse_add(&w->noise, is, b->y[w->sensor], NAN);
  }
}

/* A row holds what was corrected at its time and the command from then on, as the truth does. */
static bramah_status run_row(bench *b, size_t k, bramah_diag *diag)
{
  bramah_filter *filter = bramah_session_filter(b->session);
  bramah_status status = take_samples(b, k) ? correct(b, k, diag) : BRAMAH_OK;
  const int64_t now = (int64_t)k * bramah_session_plant(b->session)->step_ns;
  if (!status) status = bramah_filter_set_inputs(filter, bramah_schedule_at(b->schedule, now), diag);
  if (!status) watch(b, k);
  return !status && k + 1 < b->lab->rows ? bramah_filter_predict(filter, diag) : status;
}

static void store(const bench *b, double *figures)
{
  for (size_t i = 0; i < b->lab->n_signals; i++) {
    const watched *w = &b->watched[i];
    const double percent = 100.0 / b->truth->largest[i];
    double *f = figures + i * CLI_N_FIGURES;
    f[CLI_RMSE] = percent * bramah_rmse_value(&w->all);
    f[CLI_SETTLED] = percent * bramah_rmse_value(&w->settled);
    f[CLI_INSIDE] = bramah_rmse_inside(&w->all);
    f[CLI_SAW_TOOTH] = w->saw_n ? w->saw_sum / (double)w->saw_n : (double)NAN;
    f[CLI_NOISE] = percent * bramah_rmse_value(&w->noise);
    f[CLI_NIS] = bramah_nis_mean(&b->nis);
  }
}

void cli_study_run(cli_lab *lab, size_t index)
{
  bench b = {0};
  bramah_diag diag;
  cli_lab_run *run = &lab->runs[index];
  bramah_diag_clear(&diag);
  size_t k = 0;
  bramah_status status = open_bench(&b, lab, index, &diag);
  for (; !status && k < lab->rows; k++) status = run_row(&b, k, &diag);
  if (!status) store(&b, &lab->figures[index * lab->n_signals * CLI_N_FIGURES]);
  run->status = status;
  if (status)
    snprintf(run->why, sizeof run->why, "%.60s%s%.140s (at t = %.9g s)", diag.thing,
             diag.thing[0] ? ": " : "", diag.message,
             k ? cli_seconds((int64_t)(k - 1) * lab->machine.plant.step_ns) : 0.0);
  close_bench(&b);
}
