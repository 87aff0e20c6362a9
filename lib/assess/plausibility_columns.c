/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of a log against what the machine can do, without its motion: times, ranges, scatter. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static const bramah_sensor_options *sensor_of(const bramah__look *look, size_t slot)
{
  return slot < look->n_inputs ? NULL : &look->study->sensors[slot - look->n_inputs];
}

/* What feeds the slots and where that is in the files. */
static void describe_columns(bramah__look *look)
{
  bramah_diag ignored;
  for (size_t k = 0; k < look->n_slots; k++) {
    bramah__column *column = &look->columns[k];
    const bramah_sensor *sensor =
        k < look->n_inputs ? NULL : &bramah_session_about(look->session)->sensors[k - look->n_inputs];
    column->what = sensor ? sensor->name : bramah__input_name(&look->machine->plant, k);
    column->si = sensor ? sensor->unit : bramah__input_unit(&look->machine->plant, k);
    column->least = HUGE_VAL;
    column->most = -HUGE_VAL;
    column->scatter = NAN;
    if (!bramah_log_stream_get_feed(look->log, k, &column->feed)) continue;
    const bramah_log_device device = bramah_log_stream_get_device(look->log, column->feed.device);
    column->file = device.log.path;
    column->line = device.log.header_line;
    for (size_t i = 0; i < device.log.n_columns; i++) {
      const bramah_log_column *c = &device.log.columns[i];
      bramah_dimension dimension;
      if (strcmp(c->name, column->feed.column) != 0) continue;
      snprintf(column->header, sizeof column->header, *c->unit ? "%.120s[%.60s]" : "%.120s", c->name,
               c->unit);
      column->position = c->position;
      if (column->feed.plain && *c->unit) bramah_unit_parse(c->unit, &column->declared, &dimension, &ignored);
    }
  }
  const bramah_log_device device = bramah_log_stream_get_device(look->log, 0);
  look->time_column = device.time_column;
  look->time_rate = device.rate;
  look->time_file = device.log.path;
  look->time_line = device.log.header_line;
  look->time_unit = "";
  for (size_t i = 0; i < device.log.n_columns; i++)
    if (device.time_column && strcmp(device.log.columns[i].name, device.time_column) == 0) {
      look->time_position = device.log.columns[i].position;
      look->time_unit = device.log.columns[i].unit;
    }
}

static void take_cell(bramah__column *c, int64_t time_ns, int line, double y)
{
  const int same = c->n && y == c->last;
  c->still = same ? c->still + 1 : 1;
  if (!same) {
    c->still_from_ns = time_ns;
    c->still_line = line;
  }
  if (c->still > c->longest_still) {
    c->longest_still = c->still;
    c->longest_from_ns = c->still_from_ns;
    c->longest_line = c->still_line;
  }
  c->least = fmin(c->least, y);
  c->most = fmax(c->most, y);
  c->last = y;
  c->last_ns = time_ns;
  c->n++;
}

/* All rows into the columns, the first ones kept. What ends them early is told elsewhere. */
static bramah_status read_rows(bramah__look *look, bramah_diag *diag)
{
  const size_t n = look->n_slots, n_inputs = look->n_inputs;
  double *now = calloc(n + 1, sizeof *now);
  unsigned char *flags = calloc(n + 1, 1);
  look->time_ns = calloc(BRAMAH__MOST_KEPT, sizeof *look->time_ns);
  look->value = calloc(BRAMAH__MOST_KEPT * (n + 1), sizeof *look->value);
  bramah_status status = now && flags && look->time_ns && look->value ? BRAMAH_OK : bramah__fail_memory(diag);
  for (int end = 0; !status;) {
    bramah_diag ignored;
    memset(flags, 0, n);
    bramah_sample sample = {
        .inputs = now, .has_input = flags, .y = now + n_inputs, .present = flags + n_inputs};
    if (bramah_log_stream_next(look->log, &sample, &end, &ignored) || end) break;
    if (sample.time_ns > look->options.to_ns) break;
    int line = 0;
    bramah_log_stream_place(look->log, sample.mark, &line);
    if (!look->rows++) look->first_ns = sample.time_ns;
    look->end_ns = sample.time_ns;
    for (size_t k = 0; k < n; k++)
      if (flags[k]) take_cell(&look->columns[k], sample.time_ns, line, now[k]);
    if (look->n_kept == BRAMAH__MOST_KEPT || sample.time_ns - look->first_ns > BRAMAH__KEPT_NS) continue;
    double *row = &look->value[look->n_kept * n];
    for (size_t k = 0; k < n; k++) row[k] = flags[k] || k < n_inputs ? now[k] : (double)NAN;
    look->time_ns[look->n_kept++] = sample.time_ns;
  }
  free(now);
  free(flags);
  return status;
}

/* ---- what the kept rows are like ---- */

static double part_of(double *sorted, size_t n, double share)
{
  return n ? sorted[(size_t)(share * (double)(n - 1))] : (double)NAN;
}

/* Medians: interval between cells, their level, and how they scatter about a straight line through three. */
static bramah_status summarise(bramah__look *look, bramah_diag *diag)
{
  enum { FEWEST = 50 };
  double *work = calloc(3 * (look->n_kept + 1), sizeof *work);
  if (!work) return bramah__fail_memory(diag);
  double *cells = work, *gaps = work + look->n_kept, *bends = gaps + look->n_kept;
  for (size_t k = 0; k <= look->n_slots; k++) {
    size_t n = 0;
    int64_t last = 0;
    for (size_t i = 0; i < look->n_kept; i++) {
      const double y = k < look->n_slots ? look->value[i * look->n_slots + k] : 0.0;
      if (isnan(y)) continue;
      if (n) gaps[n - 1] = (double)(look->time_ns[i] - last);
      if (n > 1) bends[n - 2] = fabs(y - 2.0 * cells[n - 1] + cells[n - 2]);
      last = look->time_ns[i];
      cells[n++] = y;
    }
    if (n > 1) gsl_sort(gaps, 1, n - 1);
    const int64_t interval = n > 1 ? llround(part_of(gaps, n - 1, 0.5)) : 0;
    if (k == look->n_slots) {
      look->interval_ns = interval;
      continue;
    }
    bramah__column *c = &look->columns[k];
    c->interval_ns = interval;
    if (n > FEWEST) {
      gsl_sort(bends, 1, n - 2);
      c->scatter = part_of(bends, n - 2, 0.5) / (0.6745 * sqrt(6.0)); /* of white noise */
    }
    gsl_sort(cells, 1, n);
    c->lowest = part_of(cells, n, 0.05);
    c->middle = part_of(cells, n, 0.5);
  }
  free(work);
  return BRAMAH_OK;
}

/* ---- times ---- */

/* "1 kHz", "200 Hz", "0.5 Hz" of an interval. */
static const char *rate_text(double interval_ns, char text[32])
{
  const double hz = 1e9 / interval_ns;
  if (hz >= 999.5)
    snprintf(text, 32, "%.4g kHz", 1e-3 * hz);
  else
    snprintf(text, 32, "%.4g Hz", hz);
  return text;
}

/* Factor between stated and found intervals where it is that of all sensors, else 0. */
static double common_ratio(const bramah__look *look)
{
  double common = 0.0;
  for (size_t k = look->n_inputs; k < look->n_slots; k++) {
    const bramah__column *c = &look->columns[k];
    const int64_t planned = sensor_of(look, k)->period_ns;
    if (!planned || !c->interval_ns) continue;
    const double ratio = (double)c->interval_ns / (double)planned;
    if (common > 0.0 && fabs(log(ratio / common)) > 0.2) return 0.0;
    common = ratio;
  }
  return common;
}

/* Returns 0 if times are in another unit than is said, so that nothing can be compared with the motion. */
static int look_at_times(bramah__look *look)
{
  char found[32], stated[32];
  const double common = common_ratio(look);
  static const double factors[] = {1e3, 1e-3, 1e6, 1e-6};
  for (size_t i = 0; i < 4; i++) {
    if (!(common > 0.0) || fabs(log(common / factors[i])) > 0.1) continue;
    double declared = 1.0;
    bramah_dimension dimension;
    bramah_diag ignored;
    if (look->time_rate > 0.0) {
      bramah__doubt_value(look, BRAMAH_DOUBT_TIME, 1, common, "study.time.rate",
                          "samples come %g times as far apart as the sensors' rates say: write rate: %s",
                          common, rate_text(1e9 / (look->time_rate * common), found));
      return 0;
    }
    if (*look->time_unit) bramah_unit_parse(look->time_unit, &declared, &dimension, &ignored);
    const char *unit = bramah__unit_for("s", declared, common, 1.2);
    bramah__doubt_at(
        look, BRAMAH_DOUBT_TIME, 1, common, look->time_file, look->time_line, look->time_position,
        look->time_column,
        "samples come %g times as far apart as the sensors' rates say, every %.6g s: these times "
        "seem to be in %s; write %s[%s], or 'time: {column: %s, unit: %s}' in the study",
        common, 1e-9 * (double)look->interval_ns, unit ? unit : "another unit", look->time_column,
        unit ? unit : "...", look->time_column, unit ? unit : "...");
    return 0;
  }
  for (size_t k = look->n_inputs; k < look->n_slots; k++) {
    const bramah__column *c = &look->columns[k];
    const int64_t planned = sensor_of(look, k)->period_ns;
    const double ratio = planned ? (double)c->interval_ns / (double)planned : 1.0;
    if (c->n > 2 && fabs(log(ratio)) > 0.6)
      bramah__doubt_value(look, BRAMAH_DOUBT_TIME, 0, ratio, BRAMAH__PATH("study.sensors.%s.rate", c->what),
                          "the log has a sample of %s every %.4g ms, the study says rate: %s; write rate: %s",
                          c->what, 1e-6 * (double)c->interval_ns, rate_text((double)planned, stated),
                          rate_text((double)c->interval_ns, found));
  }
  return 1;
}

static void look_at_steps(bramah__look *look)
{
  const bramah_plant *plant = &look->machine->plant;
  const double step = (double)plant->step_ns, interval = (double)look->interval_ns;
  size_t columns = 1;
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (!info.hidden) columns += info.has_row ? 2u : 1u;
  }
  const double estimates = (double)(look->end_ns - look->first_ns) / step;
  const double bytes = 11.0 * (double)columns * estimates;
  if (interval > 500.0 * step)
    bramah__doubt_value(look, BRAMAH_DOUBT_TIME, 0, interval / step, "integrator.step",
                        "the model makes %.4g steps of %.4g ms from row to row; write step: %.4g ms, as the "
                        "samples come",
                        interval / step, 1e-6 * step, 1e-6 * interval);
  if (interval > 0.0 && step > 10.0 * interval)
    bramah__doubt_value(look, BRAMAH_DOUBT_TIME, 0, interval / step, "integrator.step",
                        "%.4g rows of the log fall into one step of %.4g ms; write step: %.4g ms, as the "
                        "samples come",
                        step / interval, 1e-6 * step, 1e-6 * interval);
  if (bytes > 5e8)
    bramah__doubt_value(look, BRAMAH_DOUBT_SIZE, 0, bytes, "integrator.step",
                        "%.3g estimates of %zu columns would take about %.2g GB: write fewer of them with "
                        "--every %.0f, or some columns with --columns",
                        estimates, columns, 1e-9 * bytes, ceil(bytes / 1e8));
}

/* ---- levels ---- */

/* The unit of the header that is meant, or what to change where the study says how the column is read. */
void bramah__doubt_unit(bramah__look *look, size_t slot, int certain, double ratio, const char *why)
{
  bramah__column *c = &look->columns[slot];
  const char *unit = bramah__unit_for(c->si, c->declared > 0.0 ? c->declared : 1.0, ratio, 4.0);
  char name[128];
  snprintf(name, sizeof name, "%.*s", (int)strcspn(c->header, "["), c->header);
  if (c->declared > 0.0 && unit)
    bramah__doubt_column(look, BRAMAH_DOUBT_UNIT, certain, ratio, slot,
                         "%s, %.3g times that: these numbers seem to be in %s: write %s[%s] "
                         "instead of %s",
                         why, ratio, unit, name, unit, c->header);
  else
    bramah__doubt_column(look, BRAMAH_DOUBT_UNIT, certain, ratio, slot,
                         "%s, %.3g times that: divide its scale (or the unit it is read "
                         "in) by this",
                         why, ratio);
}

static double initial_pressure(const bramah__look *look, const char *volume)
{
  const bramah_model_info info =
      look->machine->model ? bramah_model_get_info(look->machine->model) : (bramah_model_info){0};
  for (size_t i = 0; i < info.n_volumes; i++)
    if (strcmp(info.volume_names[i], volume) == 0) return info.initial_pressures[i];
  return 0.0;
}

static void look_at_pressure(bramah__look *look, size_t slot)
{
  const bramah_machine *m = look->machine->machine;
  const bramah__column *c = &look->columns[slot];
  const char *pump;
  const double supply = bramah__highest_supply(m, &pump);
  const double usual = fmax(initial_pressure(look, sensor_of(look, slot)->at), 0.05 * supply);
  const int is_far = fabs(log(fabs(c->middle) / usual)) > 1.0;
  char why[200];
  snprintf(why, sizeof why, "%.3g bar where %.3g bar are usual", 1e-5 * c->middle, 1e-5 * usual);
  if (supply > 0.0 && is_far && (c->middle > 5.0 * supply || fabs(c->most) < 0.03 * supply)) {
    bramah__doubt_unit(look, slot, c->middle > 5.0 * supply || fabs(c->most) < 1e4, c->middle / usual, why);
    return;
  }
  double below;
  if (!look->study->sensor_columns[slot - look->n_inputs].gauge && bramah__seems_gauge(m, c->lowest, &below))
    bramah__doubt_value(
        look, BRAMAH_DOUBT_VALUE, 0, c->lowest, BRAMAH__PATH("study.sensors.%s", c->what),
        "%s goes down to %.3g bar, %.3g bar below the tank: it seems to be the pressure over the "
        "atmosphere; write reference: gauge",
        c->what, 1e-5 * c->lowest, 1e-5 * below);
}

static void look_at_command(bramah__look *look, size_t slot)
{
  const bramah__column *c = &look->columns[slot];
  const double limit = bramah__input_reach_of(look->machine->machine, c->what).limit;
  char why[200];
  const double most = fmax(fabs(c->least), fabs(c->most));
  if (!(limit > 0.0) || !(most > 0.0)) return;
  snprintf(why, sizeof why, "%.4g V at most where the valve is fully open at %.4g V", most, limit);
  if (most > 20.0 * limit || most < limit / 300.0)
    bramah__doubt_unit(look, slot, most > 20.0 * limit, most / limit, why);
  else if (most > 1.2 * limit)
    bramah__doubt_column(
        look, BRAMAH_DOUBT_VALUE, 0, most / limit, slot,
        "%s: beyond it commands have no more effect; write 'scale' for the input in the study, "
        "or the valve's limit",
        why);
}

/* In the unit that the study's sigma is written in, as far as it is known. A machine that shakes is felt by accelerometers. */
static void look_at_scatter(bramah__look *look, size_t slot)
{
  const bramah__column *c = &look->columns[slot];
  const bramah_sensor_options *o = sensor_of(look, slot);
  const double ratio = o->sigma / c->scatter;
  if (!(c->scatter > 0.0) || o->resolution > 0.0) return;
  const int is_angle = fabs(log(ratio / 57.29578)) < 0.25;
  const double least = o->kind == BRAMAH_SENSOR_ACCELEROMETER ? 0.01 : 0.1;
  if (ratio > least && ratio < 300.0 && !is_angle) return;
  double factor = 1.0;
  const char *unit = c->si;
  if (strncmp(c->si, "rad", 3) == 0) {
    factor = 57.29578;
    unit = strcmp(c->si, "rad") == 0 ? "deg" : "deg/s";
  } else if (strcmp(c->si, "Pa") == 0) {
    factor = 1e-5;
    unit = "bar";
  }
  bramah__doubt_value(
      look, BRAMAH_DOUBT_NOISE, 0, ratio, BRAMAH__PATH("study.sensors.%s.sigma", c->what),
      "%s scatters by %.3g %s from sample to sample, the study says %.3g %s, %.3g times as much: "
      "write sigma: %.2g %s",
      c->what, factor * c->scatter, unit, factor * o->sigma, unit, ratio, factor * c->scatter, unit);
}

/* ---- the whole ---- */

bramah_status bramah__look_at_columns(bramah__look *look, size_t n, const char *const *logs,
                                      bramah_diag *diag)
{
  bramah_diag ignored;
  if (bramah_log_stream_open(look->session, n, logs, &ignored, &look->log)) {
    look->log = NULL;
    return BRAMAH_OK;
  }
  bramah_log_stream_limit(look->log, look->options.from_ns, look->options.to_ns);
  describe_columns(look);
  bramah_status status = read_rows(look, diag);
  if (!status) status = summarise(look, diag);
  if (status || look->rows < 3) return status;
  look->options.motion &= look_at_times(look);
  look_at_steps(look);
  for (size_t k = 0; k < look->n_slots; k++) {
    const bramah__column *c = &look->columns[k];
    if (!c->n) continue;
    if (k < look->n_inputs)
      look_at_command(look, k);
    else if (sensor_of(look, k)->kind == BRAMAH_SENSOR_PRESSURE)
      look_at_pressure(look, k);
    if (k >= look->n_inputs && !c->is_doubted) look_at_scatter(look, k);
    if (k >= look->n_inputs && c->n > 100 && c->longest_still == c->n &&
        sensor_of(look, k)->resolution == 0.0)
      bramah__doubt_column(look, BRAMAH_DOUBT_STUCK, 0, (double)c->n, k,
                           "all %llu cells are the same, %.6g %s: a constant column is no measurement; leave "
                           "the sensor out of the study, or give it its 'resolution'",
                           (unsigned long long)c->n, c->last, c->si);
  }
  return BRAMAH_OK;
}
