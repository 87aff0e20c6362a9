/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From what a device writes to times and values: its clock, its columns. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/io/quantity.h"
#include "lib/logs/reader.h"
#include "lib/logs/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What sums and differences of these stay within: readings of the clock, times of the log, numbers of the
 * study. */
static const int64_t most_reading = INT64_C(4000000000000000000);
static const int64_t most_time = INT64_C(3000000000000000000);
static const double most_value = 1e18;

/* ---- what the study says ---- */

static bramah_status fail_time(const bramah_study *study, const bramah_study_value *stated, const char *key,
                               bramah_diag *diag)
{
  snprintf(diag->thing, sizeof diag->thing, "time.%s", key);
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  diag->line = stated->line;
  diag->column = stated->column;
  return diag->status;
}

/* A value in `unit`; 0 where it is not given. */
static bramah_status read_value(const bramah_study *study, const bramah_study_value *stated, const char *unit,
                                const char *key, double *out, bramah_diag *diag)
{
  *out = 0.0;
  bramah_diag_clear(diag);
  if (!stated->text || !bramah_quantity_parse(stated->text, unit, out, diag)) return BRAMAH_OK;
  return fail_time(study, stated, key, diag);
}

/* The same as a whole number: of units of which `per_unit` make one of the value's. */
static bramah_status read_whole(const bramah_study *study, const bramah_study_value *stated, const char *unit,
                                double per_unit, const char *key, int64_t *out, bramah_diag *diag)
{
  double value;
  const bramah_status status = read_value(study, stated, unit, key, &value, diag);
  if (status) return status;
  value *= per_unit;
  if (!(fabs(value) <= most_value)) {
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "%s is more than a clock can show", stated->text);
    return fail_time(study, stated, key, diag);
  }
  *out = llround(value);
  return BRAMAH_OK;
}

bramah_status bramah__clock_make(bramah__clock *clock, const bramah_study *study,
                                 const bramah_study_time *time, int is_date, bramah_diag *diag)
{
  *clock =
      (bramah__clock){.is_date = is_date, .origin = is_date ? BRAMAH__ORIGIN_FIRST : BRAMAH__ORIGIN_NONE};
  if (!study) return BRAMAH_OK;
  clock->drift = time->drift;
  bramah_status status = read_value(study, &time->rate, "Hz", "rate", &clock->rate, diag);
  if (!status) status = read_whole(study, &time->offset, "s", 1e9, "offset", &clock->offset, diag);
  const int counts = clock->rate > 0.0;
  if (!status)
    status =
        read_whole(study, &time->wrap, counts ? "1" : "s", counts ? 1.0 : 1e9, "wrap", &clock->wrap, diag);
  const char *origin = time->origin.text;
  if (status || !origin) return status;

  /* Said of the log, or of this file: `time` is a copy in both cases, its texts are not. */
  const int is_of_log = origin == study->time.origin.text;
  if (strcmp(origin, "first") == 0) {
    clock->origin = is_of_log ? BRAMAH__ORIGIN_FIRST : BRAMAH__ORIGIN_OWN;
    return BRAMAH_OK;
  }

  /* An entry of log.files has the origin of the log: of a date where its clock has none, or the reverse,
   * it makes nothing. */
  int64_t zero;
  const int states_date = bramah_log_read_time(origin, &zero) == BRAMAH_OK;
  if (states_date != is_date && is_of_log && time->line != study->time.line) return BRAMAH_OK;
  clock->origin = BRAMAH__ORIGIN_STATED;
  if (states_date != is_date) {
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "%s",
                  states_date ? "a date, but the log's times have none"
                              : "a date is wanted, as the log's times have one");
    return fail_time(study, &time->origin, "origin", diag);
  }
  if (!states_date) return read_whole(study, &time->origin, "s", 1e9, "origin", &clock->zero, diag);
  clock->zero = zero;
  return BRAMAH_OK;
}

/* ---- readings ---- */

static int is_within(int64_t ns, int64_t most) { return ns <= most && ns >= -most; }

int bramah__clock_read(bramah__clock *clock, int64_t reading, int64_t *ns)
{
  if (clock->wrap) {
    if (!is_within(reading, most_reading / 2) || !is_within(clock->unwound, most_reading)) return 0;
    /* The clock has begun anew, or a late row is from before that. */
    const int64_t change = clock->started ? reading - clock->last : 0;
    if (change < -(clock->wrap / 2)) clock->unwound += clock->wrap, clock->wraps++;
    if (change > clock->wrap / 2) clock->unwound -= clock->wrap, clock->wraps -= clock->wraps > 0;
    clock->last = reading;
    reading += clock->unwound;
  }
  if (!is_within(reading, most_reading)) return 0;
  if (clock->rate > 0.0) {
    const long double exact = (long double)reading * 1e9L / (long double)clock->rate;
    if (!(fabsl(exact) < (long double)most_reading)) return 0;
    reading = llroundl(exact);
  }
  if (!clock->started) clock->first = reading;
  clock->started = 1;
  *ns = reading;
  return 1;
}

/* Returns 0 if the sum would be beyond the times of a log. */
static int add(int64_t *sum, int64_t summand)
{
  if (summand > 0 ? *sum > most_time - summand : *sum < -most_time - summand) return 0;
  *sum += summand;
  return 1;
}

int bramah__clock_time(const bramah__clock *clock, int64_t ns, int64_t *time_ns)
{
  if (clock->drift != 0.0)
    ns = clock->first + llroundl((long double)(ns - clock->first) / (1.0L + (long double)clock->drift));
  *time_ns = ns;
  return add(time_ns, -clock->zero) && add(time_ns, clock->offset) && add(time_ns, clock->joined) &&
         is_within(*time_ns, most_time);
}

/* ---- columns ---- */

int bramah__column_map_is_needed(const bramah_study_column *from)
{
  return from && (from->unit || from->scale.text || from->points[0].text || from->offset.text ||
                  from->wrap.text || from->gauge || from->sign < 0.0);
}

static bramah_status fail_value(const bramah_study *study, const bramah_study_column *from,
                                const bramah_study_value *stated, const char *key, bramah_diag *diag)
{
  const bramah_status status = diag->status;
  snprintf(diag->thing, sizeof diag->thing, "%s.%s", from->target, key);
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  diag->line = stated->line;
  diag->column = stated->column;
  return status;
}

/* The straight line through two points, whose columns are in the unit `raw`: its slope [SI], and what it has for a
 * column of 0. A loop of 4 to 20 mA is alive from 3.6 to 21 mA (NAMUR NE 43). */
static bramah_status read_points(const bramah_study *study, const bramah_study_column *from, const char *raw,
                                 const char *si_unit, bramah_dimension have, bramah__column_map *out,
                                 bramah_diag *diag)
{
  double p[4], ampere;
  bramah_dimension current;
  for (size_t i = 0; i < 4; i++)
    if (bramah_quantity_parse(from->points[i].text, i % 2 ? si_unit : *raw ? raw : "1", &p[i], diag))
      return fail_value(study, from, &from->points[i], "scale", diag);
  if (p[0] == p[2] || p[1] == p[3]) {
    bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "two different points are expected");
    return fail_value(study, from, &from->points[2 + (p[0] != p[2])], "scale", diag);
  }
  out->factor = (p[3] - p[1]) / (p[2] - p[0]);
  out->offset = p[1] - out->factor * p[0];
  bramah_unit_parse("A", &ampere, &current, NULL);
  if (!bramah__same_dimension(have, current) || !(fmin(p[0], p[2]) > 0.0)) return BRAMAH_OK;
  out->least = 0.9 * fmin(p[0], p[2]);
  out->most = 1.05 * fmax(p[0], p[2]);
  return BRAMAH_OK;
}

bramah_status bramah__column_map_make(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, const char *unit, const char *si_unit,
                                      bramah_diag *diag)
{
  const char *raw = bramah__log_is_no_unit(unit) ? "" : unit; /* of the numbers in the column */
  bramah_dimension have = {0}, want = {0};
  double raw_factor = 1.0, scale = 1.0, wrap, ignored;
  bramah__column_map line = {0};
  if (!*raw && from->points[0].text) raw = bramah__unit_of(from->points[0].text);
  bramah_diag_clear(diag);
  bramah_status status = *raw ? bramah_unit_parse(raw, &raw_factor, &have, diag) : BRAMAH_OK;
  if (!status && strcmp(si_unit, "1") != 0) status = bramah_unit_parse(si_unit, &ignored, &want, diag);
  if (status) return status;

  /* A scale without unit leaves the unit of the column as it is; one with a unit takes it into that of the
   * target: 50 bar/V. */
  if (from->points[0].text) {
    status = read_points(study, from, raw, si_unit, have, &line, diag);
    if (status) return status;
    scale = line.factor;
  } else if (from->scale.text && bramah_quantity_parse(from->scale.text, "1", &scale, diag) != BRAMAH_OK) {
    char expected[160];
    snprintf(expected, sizeof expected, "%s%s%s%s", si_unit, *raw ? "/(" : "", raw, *raw ? ")" : "");
    bramah_diag_clear(diag);
    if (bramah_quantity_parse(from->scale.text, expected, &scale, diag))
      return fail_value(study, from, &from->scale, "scale", diag);
  } else if (!bramah__same_dimension(have, want)) {
    if (*raw) {
      bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
                    "the column is in %s; expected a unit like %s, or a scale that leads to it", raw,
                    si_unit);
      bramah__add_meant(diag, raw, si_unit);
      return BRAMAH_E_UNIT;
    }
    return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
                         "the column '%s' has no unit: give it one in the header (%s[%s]) or by 'unit', or "
                         "counts a 'scale' in %s",
                         from->name, from->name, si_unit, si_unit);
  }
  const double sign = from->sign < 0.0 ? -1.0 : 1.0;
  *map = (bramah__column_map){.factor = sign * scale * raw_factor,
                              .least = line.least / raw_factor,
                              .most = line.most / raw_factor,
                              .last = NAN};

  if (from->offset.text && bramah_quantity_parse(from->offset.text, si_unit, &map->offset, diag))
    return fail_value(study, from, &from->offset, "offset", diag);
  if (from->points[0].text) map->offset += sign * line.offset;
  if (from->gauge) map->offset += study->log.atmosphere;

  /* A wrap without unit is in the numbers of the column. */
  if (!from->wrap.text) return BRAMAH_OK;
  if (strcmp(si_unit, "1") != 0 && bramah_quantity_parse(from->wrap.text, "1", &wrap, diag) == BRAMAH_OK) {
    map->wrap = wrap;
    return BRAMAH_OK;
  }
  bramah_diag_clear(diag);
  if (bramah_quantity_parse(from->wrap.text, si_unit, &wrap, diag))
    return fail_value(study, from, &from->wrap, "wrap", diag);
  map->wrap = wrap / fabs(map->factor);
  return BRAMAH_OK;
}

bramah_status bramah__column_map_bind(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, bramah_log_reader *reader,
                                      size_t column, const char *si_unit, bramah_diag *diag)
{
  const char *header = reader->columns[column].unit;
  bramah_dimension dimension, wanted = {0};
  double factor, stated = 1.0;
  bramah_diag ignored;
  bramah_diag_clear(diag);
  if (!bramah__column_map_is_needed(from)) {
    *map = (bramah__column_map){.plain = 1};
    return bramah_log_find(reader, reader->columns[column].name, si_unit, &column, diag);
  }

  /* The header's unit, if it is known, and the study's must not contradict each other. (The reader may have been told to leave
   * the column as it is.) */
  if (from->unit && !bramah__log_is_no_unit(header) &&
      !bramah_unit_parse(header, &factor, &dimension, &ignored)) {
    if (bramah__log_is_no_unit(from->unit) || bramah_unit_parse(from->unit, &stated, &wanted, &ignored))
      stated = 1.0;
    if (factor != stated || !bramah__same_dimension(dimension, wanted))
      return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
                           "'unit' says %s, but the header of the log says %s[%s]", from->unit, from->name,
                           header);
  }
  bramah_status status = BRAMAH_OK;
  if (!from->unit) status = bramah__log_unit_of(reader, column, &factor, &dimension, diag);
  if (!status)
    status = bramah__column_map_make(map, study, from, from->unit ? from->unit : header, si_unit, diag);
  if (!status) reader->units[column].factor = 1.0; /* values come as they are in the file */
  return status;
}

void bramah__column_map_si(bramah__column_map *map, const char *unit)
{
  bramah_dimension ignored;
  *map = (bramah__column_map){.factor = 1.0, .last = NAN};
  if (!bramah__log_is_no_unit(unit)) bramah_unit_parse(unit, &map->factor, &ignored, NULL);
}

const char *bramah__column_map_unit(const bramah_study_column *from, const char *si_unit)
{
  bramah_diag ignored;
  double scale;
  char per[160];
  if (from->unit) return bramah__log_is_no_unit(from->unit) ? "" : from->unit;
  if (from->points[0].text) return bramah__unit_of(from->points[0].text);
  if (!from->scale.text || bramah_quantity_parse(from->scale.text, "1", &scale, &ignored) == BRAMAH_OK)
    return si_unit;
  for (size_t i = 0; bramah__unit_named(i);
       i++) { /* what the scale takes to the measurement: of counts, then of volts, ... */
    snprintf(per, sizeof per, "%s/(%s)", si_unit, bramah__unit_named(i));
    if (bramah_quantity_parse(from->scale.text, per, &scale, &ignored) == BRAMAH_OK)
      return i ? bramah__unit_named(i) : "";
  }
  return "";
}

int bramah__column_map_is_dead(const bramah__column_map *map, double column)
{
  return map->most > 0.0 && !(column >= map->least && column <= map->most);
}

double bramah__column_map_value(bramah__column_map *map, double column)
{
  if (map->plain) return column;
  if (map->wrap > 0.0) {
    /* By the shorter arc. */
    if (!isnan(map->last)) map->turns -= round((column - map->last) / map->wrap);
    map->last = column;
    column += map->turns * map->wrap;
  }
  return map->offset + map->factor * column;
}

double bramah__column_map_column(const bramah__column_map *map, double value)
{
  if (map->plain || isnan(value)) return value;
  double column = (value - map->offset) / map->factor;
  if (map->wrap > 0.0) column -= map->wrap * floor(column / map->wrap);
  return column;
}
