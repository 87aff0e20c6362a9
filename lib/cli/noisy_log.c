/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/noisy_log.h"
#include "bramah/log.h"
#include "bramah/noise.h"
#include "lib/cli/log_map.h"
#include "lib/cli/message.h"
#include "lib/cli/study_names.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A sensor with a stream of noise of its own, so that its samples do not depend on the other sensors. */
typedef struct noisy_sensor {
  bramah_sensor sensor;
  bramah_noise *noise;
  uint64_t every; /* steps between samples */
  uint64_t delay; /* steps from measurement to arrival */
  double *on_way; /* [delay + 1] measured at step k: number k % (delay + 1); NaN: nothing */
  uint64_t samples, saturated;
  cli_log_map map; /* from what the device writes to the measurement */
} noisy_sensor;

struct cli_noisy_log {
  bramah_study *study;
  const bramah_plant *plant;
  const bramah_model *model;
  noisy_sensor *sensors; /* [study->n_sensors] */
  bramah_log_writer *writer;
  cli_log_map *inputs; /* [inputs of the plant] */
  double *row;         /* time, inputs, sensors */
};

static void set_period(noisy_sensor *s, int64_t step_ns)
{
  const int64_t period = s->sensor.period_ns;
  s->every = 1;
  if (period > step_ns) s->every = (uint64_t)((period + step_ns / 2) / step_ns);
  const int64_t real = (int64_t)s->every * step_ns;
  if (period && real != period)
    cli_note("%s: sampled every %.9g s instead of %.9g s, the nearest multiple of the step", s->sensor.name,
             cli_seconds(real), cli_seconds(period));
}

static bramah_status set_delay(noisy_sensor *s, int64_t step_ns, bramah_diag *diag)
{
  const int64_t wanted = s->sensor.delay_ns;
  s->delay = (uint64_t)((wanted + step_ns / 2) / step_ns);
  const int64_t real = (int64_t)s->delay * step_ns;
  if (real != wanted)
    cli_note("%s: delayed by %.9g s instead of %.9g s, the nearest multiple of the step", s->sensor.name,
             cli_seconds(real), cli_seconds(wanted));
  s->on_way = calloc(s->delay + 1, sizeof *s->on_way);
  if (!s->on_way) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (uint64_t k = 0; k <= s->delay; k++) s->on_way[k] = NAN;
  return BRAMAH_OK;
}

static bramah_status bind_sensor(cli_noisy_log *log, size_t i, uint64_t seed, bramah_diag *diag)
{
  const bramah_sensor_options *options = &log->study->sensors[i];
  noisy_sensor *s = &log->sensors[i];
  bramah_diag_clear(diag);
  bramah_status status = bramah_sensor_init(options, log->plant, diag, &s->sensor);
  if (!status) status = bramah_noise_new(seed, bramah_noise_stream(options->name), diag, &s->noise);
  if (status) {
    cli_place(diag, log->study->file, options->line);
    return status;
  }
  set_period(s, log->plant->step_ns);
  return set_delay(s, log->plant->step_ns, diag);
}

static bramah_status bind(cli_noisy_log *log, const char *path, uint64_t seed, bramah_diag *diag)
{
  bramah_status status = bramah_study_load(path, diag, &log->study);
  if (status) {
    cli_place(diag, path, 0);
    return status;
  }
  const size_t n = log->study->n_sensors;
  log->sensors = calloc(n + 1, sizeof *log->sensors);
  log->row = calloc(1 + log->plant->n_input + n, sizeof *log->row);
  log->inputs = calloc(log->plant->n_input + 1, sizeof *log->inputs);
  if (!log->sensors || !log->row || !log->inputs)
    return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  status = bramah_study_check_inputs(log->study, log->model, diag);
  for (size_t i = 0; !status && i < n; i++) status = bind_sensor(log, i, seed, diag);
  return status;
}

bramah_status cli_noisy_log_new(const char *study_path, uint64_t seed, const bramah_machine_plant *machine,
                                bramah_diag *diag, cli_noisy_log **out)
{
  cli_noisy_log *log = calloc(1, sizeof *log);
  if (!log) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  log->plant = &machine->plant;
  log->model = machine->model;
  bramah_diag_clear(diag);
  const bramah_status status = bind(log, study_path, seed, diag);
  if (status)
    cli_noisy_log_free(log);
  else
    *out = log;
  return status;
}

void cli_noisy_log_free(cli_noisy_log *log)
{
  bramah_diag ignored;
  if (!log) return;
  bramah_log_finish(log->writer, &ignored);
  for (size_t i = 0; log->sensors && i < log->study->n_sensors; i++) {
    bramah_noise_free(log->sensors[i].noise);
    free(log->sensors[i].on_way);
  }
  free(log->sensors);
  free(log->row);
  free(log->inputs);
  bramah_study_free(log->study);
  free(log);
}

/* A column as the study describes it, so that the study reads what it should. */
static bramah_status add_column(cli_noisy_log *log, const char *name, const bramah_study_column *from,
                                const char *si_unit, cli_log_map *map, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  const int needed = cli_log_map_is_needed(from);
  const char *unit = needed ? cli_log_map_unit(from, si_unit) : si_unit;
  *map = (cli_log_map){.plain = 1};
  if (needed) status = cli_log_map_make(map, log->study, from, unit, si_unit, diag);
  return status ? status : bramah_log_add_column(log->writer, name, unit, 10, diag);
}

static const bramah_study_column *input_column(const bramah_study *study, const char *input)
{
  for (size_t i = 0; i < study->n_inputs; i++)
    if (strcmp(study->inputs[i].target, input) == 0) return &study->inputs[i];
  return NULL;
}

/* Logs are written with commas, seconds and a header, in one file. */
static bramah_status check_log(const bramah_study *study, bramah_diag *diag)
{
  const bramah_log_format *f = &study->log.format;
  const bramah_study_time *t = &study->time;
  if (f->no_header || f->skip || f->units == BRAMAH_LOG_UNITS_ROW || (f->delimiter && f->delimiter != ',') ||
      f->decimal == ',' || study->log.n_files)
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, study->file, study->log.line, "log",
                    "simulated logs are one file with commas and a header; this study wants them otherwise");
  if (t->rate.text || t->wrap.text || t->offset.text || t->origin.text || t->drift != 0.0 ||
      (t->unit && strcmp(t->unit, "s") != 0))
    return cli_fail(diag, BRAMAH_E_UNSUPPORTED, study->file, t->line, "time",
                    "simulated logs have plain seconds; this study wants them otherwise");
  return BRAMAH_OK;
}

bramah_status cli_noisy_log_create(cli_noisy_log *log, const char *path, bramah_diag *diag)
{
  const bramah_study *study = log->study;
  bramah_status status = check_log(study, diag);
  if (!status) status = bramah_log_create(path, diag, &log->writer);
  if (!status) status = bramah_log_add_column(log->writer, study->time_column, "s", 12, diag);
  for (size_t i = 0; !status && i < log->plant->n_input; i++) {
    char name[256];
    int line;
    const char *input = bramah_model_input_name(log->model, i);
    if (bramah_study_unknown_input(study, input)) continue; /* nobody writes it down */
    cli_input_column(study, input, name, sizeof name, &line);
    status = add_column(log, name, input_column(study, input), "V", &log->inputs[i], diag);
  }
  for (size_t i = 0; !status && i < study->n_sensors; i++)
    status = add_column(log, study->sensor_columns[i].name, &study->sensor_columns[i],
                        log->sensors[i].sensor.unit, &log->sensors[i].map, diag);
  return status;
}

/* What the device tells: the truth with noise, rounded and limited. */
static double sample(noisy_sensor *s, const bramah_plant *plant)
{
  const double noisy =
      bramah_sensor_predict(&s->sensor, plant) + bramah_noise_gaussian(s->noise, s->sensor.sigma);
  const double y = bramah_sensor_digitize(&s->sensor, noisy);
  s->samples++;
  s->saturated += (uint64_t)bramah_sensor_is_saturated(&s->sensor, y);
  return y;
}

/* Measure at step k; what arrives then was measured `delay` steps before. NaN: nothing. */
static double arrival(noisy_sensor *s, uint64_t k, const bramah_plant *plant)
{
  const uint64_t n = s->delay + 1;
  s->on_way[k % n] = k % s->every ? NAN : sample(s, plant);
  return s->on_way[(k + 1) % n]; /* the oldest */
}

bramah_status cli_noisy_log_row(cli_noisy_log *log, uint64_t k, int64_t time_ns, const double *u,
                                bramah_diag *diag)
{
  double *cell = log->row;
  *cell++ = cli_seconds(time_ns);
  for (size_t i = 0; i < log->plant->n_input; i++)
    if (!bramah_study_unknown_input(log->study, bramah_model_input_name(log->model, i)))
      *cell++ = cli_log_map_column(&log->inputs[i], u[i]);
  for (size_t i = 0; i < log->study->n_sensors; i++)
    *cell++ = cli_log_map_column(&log->sensors[i].map, arrival(&log->sensors[i], k, log->plant));
  return bramah_log_write(log->writer, log->row, diag);
}

bramah_status cli_noisy_log_finish(cli_noisy_log *log, bramah_diag *diag)
{
  const bramah_status status = bramah_log_finish(log->writer, diag);
  log->writer = NULL;
  return status;
}

size_t cli_noisy_log_n_sensors(const cli_noisy_log *log) { return log->study->n_sensors; }

void cli_noisy_log_print_saturated(const cli_noisy_log *log, FILE *out)
{
  for (size_t i = 0; i < log->study->n_sensors; i++) {
    const noisy_sensor *s = &log->sensors[i];
    if (s->saturated)
      fprintf(out, "%s: %llu of %llu samples stand at the ends of its range\n", s->sensor.name,
              (unsigned long long)s->saturated, (unsigned long long)s->samples);
  }
}
