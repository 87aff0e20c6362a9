/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/support/twin.h"
#include "bramah/log.h"
#include "lib/assess/statistics.h"
#include "test/support/four_bar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_diag diag;

/* Memory of a test, which stops where there is none. */
static void *take(size_t n, size_t size)
{
  void *p = calloc(n + 1, size);
  if (!p) abort();
  return p;
}

void twin_open(twin *t, const twin_options *o)
{
  static const double gates[TWIN_SENSORS] = {4, 4, 4, 4, 4, 4, 4, 4, 4, 4}, none[TWIN_SENSORS];
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[1024];
  bramah_study *study;
  *t = (twin){.as_model = o->as_model};
  snprintf(path, sizeof path, "%s/datasets/%s", root ? root : ".", o->study);
  must(bramah_study_load(path, o->n_changes, o->change, &diag, &study), &diag);
  study->n_changes = 0; /* the model is right */
  study->transition = BRAMAH_TRANSITION_STEP;
  study->uncertainty.is_on = o->budget;
  for (size_t i = 0; o->budget == 2 && i < study->n_sensors; i++) {
    t->errors[i] = study->errors[i];
    t->errors[i].gain = t->errors[i].delay = (bramah_study_uncertain){.is_stated = 1};
  }
  if (o->budget == 2) study->errors = t->errors;
  study->gate = o->protect ? gates : none;
  study->drift_gate = o->protect ? 6.0 : 0.0;
  must(bramah_session_new(study, 0, &diag, &t->session), &diag);
  t->about = bramah_session_about(t->session);
  t->plant = *bramah_session_plant(t->session);
  t->n = bramah_plant_n_error(&t->plant);
  t->n_sensors = study->n_sensors;
  if (t->n_sensors > TWIN_SENSORS || t->plant.n_input > TWIN_INPUTS) abort();
  must(bramah_machine_plant_another(t->about->machine, &diag, &t->coupled), &diag);
  t->truth = bramah_coupled_plant(t->coupled);
  must(bramah_schedule_new(t->about->machine->machine, t->about->machine->model, &diag, &t->schedule), &diag);
  must(bramah_session_start(t->session, t->coupled, &diag), &diag);
  bramah_filter_options options = t->about->options;
  options.n_augmented = 0;
  options.gate = NULL;
  options.drift_gate = 0.0;
  must(bramah_filter_new(&t->truth, t->n_sensors, t->about->sensors, &options, &diag, &t->bound), &diag);
  t->row = take(o->rows, sizeof *t->row);
  t->output = take(o->rows * t->truth.n_output, sizeof *t->output);
  t->sigma = take(o->rows * t->truth.n_output, sizeof *t->sigma);
  t->x = take(o->rows * t->n, sizeof *t->x);
}

void twin_close(twin *t)
{
  bramah_schedule_free(t->schedule);
  bramah_filter_free(t->bound);
  bramah_coupled_free(t->coupled);
  bramah_session_close(t->session);
  free(t->row);
  free(t->output);
  free(t->sigma);
  free(t->x);
}

/* Add L xi to the truth, L [n x columns], xi standard normal. */
static void disturb(twin *t, size_t columns, const double *L, bramah_noise *noise)
{
  double dx[32] = {0.0};
  if (t->n > 32) abort();
  if (t->as_model) return;
  for (size_t c = 0; c < columns; c++) {
    const double xi = bramah_noise_gaussian(noise, 1.0);
    for (size_t i = 0; i < t->n; i++) dx[i] += L[i * columns + c] * xi;
  }
  must(t->truth.inject(t->truth.self, dx, &diag), &diag);
}

/* A lower root of P, which may be singular. */
static void root_of(size_t n, const double *P, double *L)
{
  memset(L, 0, n * n * sizeof *L);
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = P[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i == j)
        L[j * n + j] = sqrt(fmax(sum, 0.0));
      else
        L[i * n + j] = L[j * n + j] > 0.0 ? sum / L[j * n + j] : 0.0;
    }
}

/* What sensor i shows at row k, without noise, as the causes have it. */
static double shown(const twin *t, size_t i, size_t k, double past[][TWIN_SENSORS], size_t n_causes,
                    const twin_cause *cause)
{
  const double h = 1e-9 * (double)t->truth.step_ns, now = h * (double)k;
  double y = past[k % TWIN_PAST][i];
  for (size_t c = 0; c < n_causes; c++) {
    if (cause[c].kind <= BRAMAH_CAUSE_PARAMETER || cause[c].target != i || now < cause[c].begin_s ||
        now >= cause[c].end_s)
      continue;
    if (cause[c].kind == BRAMAH_CAUSE_GAIN) y *= 1.0 + cause[c].size;
    if (cause[c].kind == BRAMAH_CAUSE_BIAS) y += cause[c].size;
    if (cause[c].kind == BRAMAH_CAUSE_DELAY) {
      const size_t back = (size_t)lround(cause[c].size / h);
      y = past[(k > back ? k - back : 0) % TWIN_PAST][i];
    }
  }
  return y;
}

static void set_parameters(twin *t, double now, size_t n_causes, const twin_cause *cause)
{
  for (size_t c = 0; c < n_causes; c++) {
    bramah_parameter_info info;
    if (cause[c].kind != BRAMAH_CAUSE_PARAMETER) continue;
    t->truth.parameter_info(t->truth.self, cause[c].target, &info);
    const int is_on = now >= cause[c].begin_s && now < cause[c].end_s;
    must(t->truth.set_parameter(t->truth.self, cause[c].target, info.nominal + (is_on ? cause[c].size : 0.0),
                                &diag),
         &diag);
  }
}

void twin_run(twin *t, size_t n_rows, uint64_t seed, size_t n_causes, const twin_cause *cause, int with_bound)
{
  double past[TWIN_PAST][TWIN_SENSORS], L[32 * 32];
  bramah_noise *plant, *sensor[TWIN_SENSORS];
  const size_t m = t->n_sensors, n_output = t->truth.n_output;
  const int64_t h = t->truth.step_ns;
  must(bramah_noise_new(seed, "plant noise", &diag, &plant), &diag);
  for (size_t i = 0; i < m; i++)
    must(bramah_noise_new(seed, t->about->sensors[i].name, &diag, &sensor[i]), &diag);
  root_of(t->n, bramah_filter_covariance(t->bound), L);
  disturb(t, t->n, L, plant);
  for (size_t k = 0; k < n_rows; k++) {
    twin_row *row = &t->row[k];
    if (k) {
      must(bramah_filter_predict(t->bound, &diag), &diag);
      disturb(t, bramah_filter_get_info(t->bound).n_noise, bramah_filter_get_last(t->bound).noise, plant);
    }
    set_parameters(t, 1e-9 * (double)h * (double)k, n_causes, cause);
    const double *u = bramah_schedule_at(t->schedule, (int64_t)k * h);
    memcpy(row->u, u, t->truth.n_input * sizeof *u);
    must(bramah_filter_set_inputs(t->bound, u, &diag), &diag);
    for (size_t i = 0; i < m; i++) {
      const bramah_sensor *s = &t->about->sensors[i];
      const int64_t period = t->about->study->sensors[i].period_ns;
      past[k % TWIN_PAST][i] = bramah_sensor_predict(s, &t->truth);
      row->present[i] = period <= h || (int64_t)k % (period / h) == 0;
      row->y[i] = shown(t, i, k, past, n_causes, cause) + bramah_noise_gaussian(sensor[i], s->sigma);
    }
    if (with_bound) must(bramah_filter_correct(t->bound, past[k % TWIN_PAST], row->present, &diag), &diag);
    for (size_t i = 0; i < n_output; i++) {
      t->output[k * n_output + i] = t->truth.output(t->truth.self, i);
      t->sigma[k * n_output + i] = with_bound ? bramah_filter_output_sigma(t->bound, i) : NAN;
    }
    bramah_plant_coordinates(&t->truth, t->x + k * t->n);
  }
  t->n_rows = n_rows;
  bramah_noise_free(plant);
  for (size_t i = 0; i < m; i++) bramah_noise_free(sensor[i]);
}

bramah_status twin_source(void *user, bramah_sample *sample, int *end, bramah_diag *ignored)
{
  twin *t = user;
  (void)ignored;
  *end = t->read >= t->n_rows;
  if (*end) return BRAMAH_OK;
  const twin_row *row = &t->row[t->read];
  sample->time_ns = (int64_t)t->read * t->truth.step_ns;
  memcpy(sample->inputs, row->u, t->plant.n_input * sizeof *row->u);
  memset(sample->has_input, 1, t->plant.n_input);
  memcpy(sample->y, row->y, t->n_sensors * sizeof *row->y);
  memcpy(sample->present, row->present, t->n_sensors);
  t->read++;
  return BRAMAH_OK;
}

void twin_compare(const twin *t, size_t k, size_t n, const size_t *shown, double *e, double *ratio,
                  double *nees)
{
  bramah_filter *filter = bramah_session_filter(t->session);
  const double *P = bramah_filter_covariance(filter);
  const size_t states = bramah_filter_get_info(filter).n_error;
  double x[32], of_plant[32 * 32], work[32 * 34];
  for (size_t i = 0; i < n; i++) {
    e[i] = t->plant.output(t->plant.self, shown[i]) - t->output[k * t->plant.n_output + shown[i]];
    ratio[i] = fabs(e[i]) / bramah_filter_output_sigma(filter, shown[i]);
  }
  bramah_plant_coordinates(&t->plant, x);
  for (size_t i = 0; i < t->n; i++) {
    x[i] -= t->x[k * t->n + i];
    for (size_t j = 0; j < t->n; j++) of_plant[i * t->n + j] = P[i * states + j];
  }
  must(bramah__nees(t->n, x, of_plant, work, nees, &diag), &diag);
  *nees /= (double)t->n;
}
