/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "test/campaign/truth.h"
#include "lib/io/fail.h"
#include "lib/math/dense.h"
#include "test/campaign/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

campaign_machine campaign_machines[CAMPAIGN_MACHINES] = {
    {.name = "four-bar", .command = 6.0, .every = 5},
    {.name = "crane", .command = 1.0, .every = 2, .step_ns = 2000000},
    {.name = "metered-crane", .command = 3.0, .every = 1}};

const char *const campaign_kinds[N_FAULTS] = {"none",  "bias",    "ramp",   "gain",   "delay",
                                              "stuck", "dropout", "zero",   "absurd", "noise",
                                              "sign",  "spikes",  "clipped"};

/* What streams of random numbers are for. */
enum { OF_START = 1, OF_COMMANDS, OF_STEPS, OF_PARAMETERS, OF_ERRORS, OF_NOISE, OF_FAULT, OF_SAMPLES };

/* ---- machines ---- */

bramah_status campaign_open(campaign_machine *m, bramah_diag *diag)
{
  const char *root = getenv("BRAMAH_SOURCE_ROOT");
  char path[4096];
  bramah_study *study;
  snprintf(path, sizeof path, "%s/test/campaign/%s.yaml", root ? root : ".", m->name);
  bramah_status status = bramah_study_load(path, 0, NULL, diag, &study);
  if (!status) status = bramah_session_new(study, m->step_ns, diag, &m->session);
  if (status) return status;
  const bramah_plant *plant = bramah_session_plant(m->session);
  m->n_sensors = bramah_session_study(m->session)->n_sensors;
  m->output = calloc(plant->n_output + 1, sizeof *m->output);
  if (!m->output) return bramah__fail_memory(diag);
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (info.has_row && !info.hidden) m->output[m->n_outputs++] = i;
  }
  return BRAMAH_OK;
}

void campaign_close(campaign_machine *m)
{
  bramah_session_close(m->session);
  free(m->output);
}

/* ---- true motions ---- */

/* Valves open and close, to one side and the other, and rest between. */
static void command(campaign_truth *t, size_t n_input, double step)
{
  for (size_t i = 0; i < n_input; i++) {
    const uint64_t key = draw_key(t->key, OF_COMMANDS, i);
    double until = draw_between(key, 0, 0.1, 0.6), level = 0.0,
           side = draw_uniform(key, 1) < 0.5 ? -1.0 : 1.0;
    for (size_t k = 0, n = 2; k < t->rows; k++) {
      for (; (double)k * step >= until; n += 3) {
        until += draw_between(key, n, 0.3, 1.0);
        level = draw_uniform(key, n + 1) < 0.3 ? 0.0 : side * draw_between(key, n + 2, 0.2, 1.0);
        if (level != 0.0) side = -side;
      }
      t->input[k * n_input + i] = t->machine->command * level;
    }
  }
}

/* Of sensor s at a row between those there are; the first and the last one go on for ever. */
static double reading_at(const campaign_truth *t, size_t s, double row)
{
  const size_t n = t->machine->n_sensors, last = t->rows - 1;
  const double at = fmin(fmax(row, 0.0), (double)last);
  const size_t k = (size_t)at, next = k < last ? k + 1 : k;
  return t->reading[k * n + s] + (at - (double)k) * (t->reading[next * n + s] - t->reading[k * n + s]);
}

/* What the sensor of this error shows too much by it, over the whole motion. */
static void err(campaign_truth *t, size_t s, const bramah_augmented *a, uint64_t key, double step)
{
  const size_t n = t->machine->n_sensors;
  double x = a->sigma * draw_normal(key, 0);
  for (size_t k = 0; k < t->rows; k++) {
    const double reading = t->reading[k * n + s];
    t->noise[k * n + s] += a->kind == BRAMAH_AUGMENTED_GAIN ? x * reading
                           : a->kind == BRAMAH_AUGMENTED_DELAY
                               ? reading_at(t, s, (double)k - x / step) - reading
                               : x;
    x += a->noise * sqrt(step) * draw_normal(key, k + 1);
  }
}

/* Noise of all samples; errors of sensors as the budget has them. */
static void disturb(campaign_truth *t, int uncertain, double step)
{
  const bramah_session_parts *parts = bramah_session_about(t->machine->session);
  const size_t n = t->machine->n_sensors;
  for (size_t s = 0; s < n; s++) {
    const uint64_t key = draw_key(t->key, OF_NOISE, s);
    for (size_t k = 0; k < t->rows; k++) t->noise[k * n + s] = parts->sensors[s].sigma * draw_normal(key, k);
    for (size_t i = 0; uncertain && i < parts->options.n_augmented; i++) {
      const bramah_augmented *a = &parts->options.augmented[i];
      if (a->kind != BRAMAH_AUGMENTED_PARAMETER && strcmp(parts->sensors[s].name, a->at) == 0)
        err(t, s, a, draw_key(t->key, OF_ERRORS, i), step);
    }
  }
}

/* The plant of the truth to where it starts, with its parameters. */
static bramah_status start(campaign_truth *t, bramah_coupled *coupled, const bramah_filter *filter,
                           int uncertain, bramah_diag *diag)
{
  const bramah_session_parts *parts = bramah_session_about(t->machine->session);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const size_t n = bramah_plant_n_error(&plant);
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; uncertain && !status && i < parts->options.n_augmented; i++) {
    const bramah_augmented *a = &parts->options.augmented[i];
    const double z = draw_normal(draw_key(t->key, OF_PARAMETERS, i), 0);
    size_t p;
    if (a->kind != BRAMAH_AUGMENTED_PARAMETER) continue;
    status = bramah_plant_parameter_index(&plant, a->at, &p, diag);
    if (status) break;
    const double nominal = plant.parameter(plant.self, p);
    double value = a->logarithmic ? nominal * exp(a->sigma / nominal * z) : nominal + a->sigma * z;
    if (a->least < a->most) value = fmin(fmax(value, a->least), a->most);
    status = plant.set_parameter(plant.self, p, value, diag);
  }

  double *L = calloc(n * n + n, sizeof *L);
  if (!L) return bramah__fail_memory(diag);
  memcpy(L, bramah_filter_covariance(filter), n * n * sizeof *L);
  bramah__cholesky_factor(n, L);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++)
      L[n * n + i] += L[i * n + j] * draw_normal(draw_key(t->key, OF_START, j), 0);
  if (!status) status = plant.inject(plant.self, L + n * n, diag);
  free(L);
  return status;
}

/* Row k of what the plant shows. */
static void keep_row(campaign_truth *t, const bramah_plant *plant, size_t k)
{
  const bramah_session_parts *parts = bramah_session_about(t->machine->session);
  for (size_t i = 0; i < t->width; i++) t->output[k * t->width + i] = plant->output(plant->self, i);
  for (size_t s = 0; s < t->machine->n_sensors; s++)
    t->reading[k * t->machine->n_sensors + s] = bramah_sensor_predict(&parts->sensors[s], plant);
}

double campaign_overestimated = 1.0;

/* Step after step, each displaced by the noise that the filter reckons with, or less. */
static bramah_status move(campaign_truth *t, bramah_filter *filter, bramah_diag *diag)
{
  const bramah_filter_info info = bramah_filter_get_info(filter);
  const bramah_plant *plant = info.plant;
  const size_t n = info.n_error, columns = info.n_noise;
  const uint64_t key = draw_key(t->key, OF_STEPS, 0);
  double *dx = calloc(n + 1, sizeof *dx);
  bramah_status status = dx ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah_filter_set_inputs(filter, t->input, diag);
  keep_row(t, plant, 0);
  for (size_t k = 1; !status && k < t->rows; k++) {
    status = bramah_filter_predict(filter, diag);
    if (status) break;
    const double *gamma = bramah_filter_get_last(filter).noise;
    memset(dx, 0, n * sizeof *dx);
    for (size_t c = 0; c < columns; c++) {
      const double w = draw_normal(key, k * columns + c) / campaign_overestimated;
      for (size_t i = 0; i < n; i++) dx[i] += gamma[i * columns + c] * w;
    }
    status = plant->inject(plant->self, dx, diag);
    if (!status) status = bramah_filter_set_inputs(filter, t->input + k * plant->n_input, diag);
    keep_row(t, plant, k);
  }
  free(dx);
  return status;
}

bramah_status campaign_simulate(const campaign_machine *m, uint64_t key, double seconds, int uncertain,
                                bramah_diag *diag, campaign_truth *t)
{
  const bramah_session_parts *parts = bramah_session_about(m->session);
  const bramah_plant *of = bramah_session_plant(m->session);
  bramah_coupled *coupled = NULL;
  bramah_filter *filter = NULL;
  *t = (campaign_truth){.machine = m, .key = key, .width = of->n_output};
  t->rows = (size_t)(seconds * 1e9) / (size_t)of->step_ns + 1;
  t->output = calloc(t->rows * (t->width + of->n_input + 2 * m->n_sensors), sizeof *t->output);
  if (!t->output) return bramah__fail_memory(diag);
  t->input = t->output + t->rows * t->width;
  t->reading = t->input + t->rows * of->n_input;
  t->noise = t->reading + t->rows * m->n_sensors;
  command(t, of->n_input, 1e-9 * (double)of->step_ns);

  bramah_filter_options options = parts->options;
  options.n_augmented = options.n_parameter_noise = 0;
  bramah_status status = bramah_coupled_new(parts->machine->model, diag, &coupled);
  if (!status) status = bramah_session_start(m->session, coupled, diag);
  if (!status) {
    const bramah_plant plant = bramah_coupled_plant(coupled);
    status = bramah_filter_new(&plant, m->n_sensors, parts->sensors, &options, diag, &filter);
  }
  if (!status) status = start(t, coupled, filter, uncertain, diag);
  if (!status) status = move(t, filter, diag);
  if (!status) disturb(t, uncertain, 1e-9 * (double)of->step_ns);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  return status;
}

void campaign_forget(campaign_truth *truth) { free(truth->output); }

/* ---- faults ---- */

campaign_fault campaign_draw_fault(const campaign_truth *t, uint64_t key)
{
  /* least and most: sigmas, shares, seconds, times, as the kind has it; where the sign is drawn too */
  static const struct {
    double least, most;
    int both;
  } sizes[N_FAULTS] = {
      [FAULT_BIAS] = {1.0, 200.0, 1},  [FAULT_RAMP] = {2.0, 400.0, 1}, [FAULT_GAIN] = {0.02, 1.0, 1},
      [FAULT_DELAY] = {0.005, 0.3, 0}, [FAULT_NOISE] = {2.0, 50.0, 0}, [FAULT_SPIKES] = {4.0, 400.0, 1},
      [FAULT_ABSURD] = {1e3, 1e308, 1}};
  key = draw_key(key, OF_FAULT, 0);
  const double rows = (double)t->rows;
  campaign_fault f = {.kind = (campaign_kind)(1 + draw_one(key, 0, N_FAULTS - 1)),
                      .sensor = draw_one(key, 1, t->machine->n_sensors)};
  /* One in ten is there from the start, half of them last. */
  f.begin = draw_uniform(key, 2) < 0.1 ? 0 : (size_t)draw_between(key, 3, 0.2 * rows, 0.75 * rows);
  f.end =
      draw_uniform(key, 4) < 0.5 ? t->rows : f.begin + 1 + (size_t)draw_log(key, 5, 0.02 * rows, 0.5 * rows);
  if (f.end > t->rows) f.end = t->rows;
  if (sizes[f.kind].most > 0.0) f.size = draw_log(key, 6, sizes[f.kind].least, sizes[f.kind].most);
  if (sizes[f.kind].both && draw_uniform(key, 7) < 0.5) f.size = -f.size;
  return f;
}

void campaign_measure(const campaign_truth *t, const campaign_fault *f, size_t k, double *held, double *y)
{
  const size_t n = t->machine->n_sensors, s = f->sensor;
  const bramah_sensor *sensor = bramah_session_about(t->machine->session)->sensors;
  const double step = 1e-9 * (double)bramah_session_plant(t->machine->session)->step_ns;
  for (size_t i = 0; i < n; i++) {
    const size_t every = (size_t)(fmax(1e-9 * (double)sensor[i].period_ns / step, 1.0) + 0.5);
    y[i] = k % every ? (double)NAN : t->reading[k * n + i] + t->noise[k * n + i];
  }
  if (f->kind == FAULT_NONE || k < f->begin || k >= f->end || isnan(y[s])) {
    if (!isnan(y[s])) held[s] = y[s];
    return;
  }
  const double true_value = t->reading[k * n + s], noise = t->noise[k * n + s], sigma = sensor[s].sigma;
  const uint64_t key = draw_key(t->key, OF_SAMPLES, f->begin);
  switch (f->kind) {
  case FAULT_BIAS:
    y[s] += f->size * sigma;
    break;
  case FAULT_RAMP:
    y[s] += f->size * sigma * (double)(k - f->begin) / (double)(f->end - f->begin);
    break;
  case FAULT_GAIN:
    y[s] = (1.0 + f->size) * true_value + noise;
    break;
  case FAULT_DELAY: {
    const size_t back = (size_t)(f->size / step + 0.5);
    y[s] = t->reading[(back < k ? k - back : 0) * n + s] + noise;
    break;
  }
  case FAULT_STUCK:
    y[s] = isnan(held[s]) ? y[s] : held[s];
    break;
  case FAULT_DROPOUT:
    y[s] = NAN;
    break;
  case FAULT_ZERO:
    y[s] = 0.0;
    break;
  case FAULT_ABSURD:
    y[s] = f->size;
    break;
  case FAULT_NOISE:
    y[s] = true_value + f->size * noise;
    break;
  case FAULT_SIGN:
    y[s] = -y[s];
    break;
  case FAULT_SPIKES:
    y[s] += draw_uniform(key, k) < 0.1 ? f->size * sigma * draw_uniform(key, t->rows + k) : 0.0;
    break;
  case FAULT_CLIPPED:
    y[s] = fmin(y[s], held[s]);
    break;
  default:
    break;
  }
  if (f->kind == FAULT_STUCK && isnan(held[s])) held[s] = y[s];
}
