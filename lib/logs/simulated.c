/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The log a machine with the sensors of a study would have written. */
#include "bramah/replay.h"
#include "lib/base/text.h"
#include "lib/io/session.h"
#include "lib/logs/logs.h"
#include "lib/logs/stream.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers: GSL's Mersenne twister and normal distribution ---- */

/* The generator is in memory of our own and not in gsl_rng_alloc's, which would call GSL's error handler, and so
 * abort the process, when memory runs out. */
struct bramah_noise {
  gsl_rng rng;
  unsigned char state[]; /* of gsl_rng_mt19937 */
};

/* splitmix64: turns any number, also a small one, into well mixed bits; one to one. */
static uint64_t mix(uint64_t x)
{
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

bramah_status bramah__noise_new(uint64_t seed, uint64_t stream, bramah_diag *diag, bramah_noise **out)
{
  bramah_noise *noise = malloc(sizeof *noise + gsl_rng_mt19937->size);
  if (!noise) return bramah__fail_memory(diag);
  noise->rng.type = gsl_rng_mt19937;
  noise->rng.state = noise->state;
  /* GSL's generators take 32 bits of seed; 0 would mean their default. Two streams of one study meet with a
   * probability of one in four thousand million. */
  const unsigned long bits = (unsigned long)(mix(mix(seed) + stream) >> 32);
  gsl_rng_set(&noise->rng, bits ? bits : 1);
  *out = noise;
  return BRAMAH_OK;
}

void bramah_noise_free(bramah_noise *noise) { free(noise); }

double bramah_noise_gaussian(bramah_noise *noise, double sigma)
{
  /* Above 3.44 GSL makes it from the logarithm of the C library, whose last digits depend on the CPU: they are cut off. */
  const double z = gsl_ran_gaussian_ziggurat(&noise->rng, 1.0);
  return sigma * (fabs(z) > 3.44 ? nearbyint(z * 0x1p30) * 0x1p-30 : z);
}

void bramah__noise_shuffle(bramah_noise *noise, size_t n, double *x)
{
  gsl_ran_shuffle(&noise->rng, x, n, sizeof *x);
}

bramah_status bramah_noise_new(uint64_t seed, const char *name, bramah_diag *diag, bramah_noise **out)
{
  return bramah__noise_new(seed, bramah__fnv(0, name, strlen(name)), diag, out);
}

/* ---- the log ---- */

/* A sensor with a stream of noise of its own, so that its samples do not depend on the other sensors. */
typedef struct simulated_sensor {
  bramah_sensor sensor;
  bramah_noise *noise;
  uint64_t every;         /* steps between samples */
  uint64_t delay;         /* steps from measurement to arrival */
  double *in_transit;     /* [delay + 1] measured at step k: number k % (delay + 1); NaN: nothing */
  int is_unplugged;       /* nothing arrives; what it would measure goes on, and so does its noise */
  bramah__column_map map; /* from what the device writes to the measurement */
} simulated_sensor;

struct bramah__simulated_log {
  const bramah_study *study;
  const bramah_plant *plant;
  simulated_sensor *sensors;     /* [study->n_sensors] */
  bramah_simulated_sensor *info; /* [study->n_sensors] */
  bramah_log_writer *writer;
  bramah__column_map *inputs; /* [inputs of the plant] */
  double *row;                /* time, inputs, sensors */
};

bramah_status bramah__simulated_log_new(const bramah_study *study, const bramah_plant *plant, uint64_t seed,
                                        bramah_diag *diag, bramah__simulated_log **out)
{
  const int64_t step_ns = plant->step_ns;
  bramah__simulated_log *log = calloc(1, sizeof *log);
  *out = NULL;
  if (!log) return bramah__fail_memory(diag);
  log->study = study;
  log->plant = plant;
  log->sensors = calloc(study->n_sensors + 1, sizeof *log->sensors);
  log->info = calloc(study->n_sensors + 1, sizeof *log->info);
  log->row = calloc(1 + plant->n_input + study->n_sensors, sizeof *log->row);
  log->inputs = calloc(plant->n_input + 1, sizeof *log->inputs);
  bramah_status status =
      log->sensors && log->info && log->row && log->inputs ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah__study_check_inputs(study, plant, diag);

  /* Every sensor with its noise, its period and delay in steps. */
  for (size_t i = 0; !status && i < study->n_sensors; i++) {
    const bramah_sensor_options *options = &study->sensors[i];
    simulated_sensor *s = &log->sensors[i];
    bramah_diag_clear(diag);
    status = bramah_sensor_init(options, plant, diag, &s->sensor);
    if (!status) status = bramah_noise_new(seed, options->name, diag, &s->noise);
    if (status) {
      bramah__place(diag, study->file, options->line);
      break;
    }
    const int64_t period = s->sensor.period_ns;
    s->every = period > step_ns ? (uint64_t)((period + step_ns / 2) / step_ns) : 1;
    s->delay = (uint64_t)((s->sensor.delay_ns + step_ns / 2) / step_ns);
    s->in_transit = calloc(s->delay + 1, sizeof *s->in_transit);
    if (!s->in_transit) status = bramah__fail_memory(diag);
    for (uint64_t k = 0; !status && k <= s->delay; k++) s->in_transit[k] = NAN;
    log->info[i] = (bramah_simulated_sensor){.name = s->sensor.name,
                                             .period_ns = period ? (int64_t)s->every * step_ns : 0,
                                             .wanted_period_ns = period,
                                             .delay_ns = (int64_t)s->delay * step_ns,
                                             .wanted_delay_ns = s->sensor.delay_ns};
  }
  if (status)
    bramah__simulated_log_close(log, NULL);
  else
    *out = log;
  return status;
}

bramah_status bramah__simulated_log_close(bramah__simulated_log *log, bramah_diag *diag)
{
  if (!log) return BRAMAH_OK;
  const bramah_status status = bramah_log_finish(log->writer, diag);
  for (size_t i = 0; log->sensors && i < log->study->n_sensors; i++) {
    bramah_noise_free(log->sensors[i].noise);
    free(log->sensors[i].in_transit);
  }
  free(log->sensors);
  free(log->info);
  free(log->row);
  free(log->inputs);
  free(log);
  return status;
}

/* A column as the study describes it, so that the study reads what it should. */
static bramah_status add_column(bramah__simulated_log *log, const char *name, const bramah_study_column *from,
                                const char *si_unit, int digits, bramah__column_map *map, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  const int needed = bramah__column_map_is_needed(from);
  const char *unit = needed ? bramah__column_map_unit(from, si_unit) : si_unit;
  *map = (bramah__column_map){.plain = 1};
  if (needed) status = bramah__column_map_make(map, log->study, from, unit, si_unit, diag);
  return status ? status : bramah_log_add_column(log->writer, name, unit, digits, diag);
}

bramah_status bramah__simulated_log_create(bramah__simulated_log *log, const char *path, int digits,
                                           bramah_diag *diag)
{
  /* Logs are written with commas, seconds and a header, in one file. */
  const bramah_study *study = log->study;
  const bramah_log_format *f = &study->log.format;
  const bramah_study_time *t = &study->time;
  if (f->no_header || f->skip || f->units == BRAMAH_LOG_UNITS_ROW || (f->delimiter && f->delimiter != ',') ||
      f->decimal == ',' || study->log.n_files)
    return bramah__failf(
        diag, BRAMAH_E_UNSUPPORTED, study->file, study->log.line, "log",
        "simulated logs are one file with commas and a header; this study wants them otherwise");
  if (t->rate.text || t->wrap.text || t->offset.text || t->origin.text || t->drift != 0.0 ||
      (t->unit && strcmp(t->unit, "s") != 0))
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, study->file, t->line, "time",
                         "simulated logs have plain seconds; this study wants them otherwise");

  bramah_status status = bramah_log_create(path, diag, &log->writer);
  if (!status) status = bramah_log_add_column(log->writer, study->time_column, "s", 12, diag);
  for (size_t i = 0; !status && i < log->plant->n_input; i++) {
    char name[256];
    const char *input = bramah__input_name(log->plant, i);
    if (bramah__study_unknown_input(study, input)) continue; /* nobody writes it down */
    const bramah_study_column *from = bramah__input_column(study, input, name, sizeof name);
    status = add_column(log, name, from, bramah__input_unit(log->plant, i), digits, &log->inputs[i], diag);
  }
  for (size_t i = 0; !status && i < study->n_sensors; i++)
    status = add_column(log, study->sensor_columns[i].name, &study->sensor_columns[i],
                        log->sensors[i].sensor.unit, digits, &log->sensors[i].map, diag);
  return status;
}

/* What arrives now of sensor i: the truth with noise, rounded and limited, was in transit since it was measured `delay` steps
 * before. NaN: nothing. */
static double arriving(bramah__simulated_log *log, size_t i, uint64_t k)
{
  simulated_sensor *s = &log->sensors[i];
  const uint64_t n = s->delay + 1;
  double y = NAN;
  if (k % s->every == 0) {
    const double noisy =
        bramah_sensor_predict(&s->sensor, log->plant) + bramah_noise_gaussian(s->noise, s->sensor.sigma);
    y = bramah_sensor_digitize(&s->sensor, noisy);
    log->info[i].samples++;
    log->info[i].saturated += (uint64_t)bramah_sensor_is_saturated(&s->sensor, y);
  }
  s->in_transit[k % n] = y;
  return s->is_unplugged ? NAN : s->in_transit[(k + 1) % n]; /* the oldest */
}

static int is_logged(const bramah__simulated_log *log, size_t input)
{
  return !bramah__study_unknown_input(log->study, bramah__input_name(log->plant, input));
}

bramah_status bramah__simulated_log_row(bramah__simulated_log *log, uint64_t k, int64_t time_ns,
                                        const double *u, bramah_diag *diag)
{
  double *cell = log->row;
  *cell++ = 1e-9 * (double)time_ns;
  for (size_t i = 0; i < log->plant->n_input; i++)
    if (is_logged(log, i)) *cell++ = bramah__column_map_column(&log->inputs[i], u[i]);
  for (size_t i = 0; i < log->study->n_sensors; i++)
    *cell++ = bramah__column_map_column(&log->sensors[i].map, arriving(log, i, k));
  return bramah_log_write(log->writer, log->row, diag);
}

/* Into the log, if there is one, and what the sample holds is then what the log says: a replay of it has the same bits. */
static double note_down(const bramah__simulated_log *log, bramah__column_map *map, double **cell,
                        double value)
{
  if (!log->writer) return value;
  *(*cell)++ = bramah__column_map_column(map, value);
  return map->plain ? value : bramah__column_map_value(map, (*cell)[-1]);
}

bramah_status bramah__simulated_log_sample(bramah__simulated_log *log, uint64_t k, int64_t time_ns,
                                           const double *u, bramah_sample *sample, bramah_diag *diag)
{
  double *cell = log->row;
  sample->time_ns = time_ns;
  *cell++ = 1e-9 * (double)time_ns;
  for (size_t i = 0; i < log->plant->n_input; i++) {
    sample->has_input[i] = (unsigned char)is_logged(log, i);
    sample->inputs[i] = sample->has_input[i] ? note_down(log, &log->inputs[i], &cell, u[i]) : u[i];
  }
  for (size_t i = 0; i < log->study->n_sensors; i++) {
    sample->y[i] = note_down(log, &log->sensors[i].map, &cell, arriving(log, i, k));
    sample->present[i] = (unsigned char)!isnan(sample->y[i]);
  }
  return log->writer ? bramah_log_write(log->writer, log->row, diag) : BRAMAH_OK;
}

void bramah__simulated_log_unplug(bramah__simulated_log *log, size_t sensor, int is_unplugged)
{
  log->sensors[sensor].is_unplugged = is_unplugged;
}

bramah_status bramah__simulated_log_flush(bramah__simulated_log *log, bramah_diag *diag)
{
  return log && log->writer ? bramah_log_flush(log->writer, diag) : BRAMAH_OK;
}

const bramah_simulated_sensor *bramah__simulated_log_sensors(const bramah__simulated_log *log)
{
  return log->info;
}
