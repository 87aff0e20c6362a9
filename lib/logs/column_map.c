/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/logs/stream.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a column's numbers are, before the study's scale. The scale is in SI per SI. */
typedef struct raw_unit {
  const char *text; /* "" for bare numbers */
  double factor;
} raw_unit;

int bramah__column_map_is_needed(const bramah_study_column *from)
{
  return from && (from->unit || from->scale.text || from->offset.text || from->wrap.text || from->gauge ||
                  from->sign < 0.0);
}

static int is_bare(const char *unit)
{
  return !unit || !*unit || strcmp(unit, "counts") == 0 || strcmp(unit, "-") == 0 || strcmp(unit, "1") == 0;
}

static bramah_status fail_figure(const bramah_study *study, const bramah_study_column *from,
                                 const bramah_study_value *figure, const char *key, bramah_diag *diag)
{
  const bramah_status status = diag->status;
  snprintf(diag->thing, sizeof diag->thing, "%s.%s", from->target, key);
  snprintf(diag->file, sizeof diag->file, "%s", study->file);
  diag->line = figure->line;
  diag->column = figure->column;
  return status;
}

static int same_dimension(bramah_dimension a, bramah_dimension b)
{
  return a.m == b.m && a.kg == b.kg && a.s == b.s && a.volt == b.volt && a.rad == b.rad;
}

/* A scale without unit leaves the unit of the column as it is; one with a unit takes it into that of the
 * target: 50 bar/V. */
static bramah_status read_scale(const bramah_study *study, const bramah_study_column *from, raw_unit raw,
                                const char *si_unit, double *scale, int *pure, bramah_diag *diag)
{
  char expected[160];
  *scale = 1.0;
  *pure = 1;
  if (!from->scale.text || bramah_quantity_parse(from->scale.text, "1", scale, diag) == BRAMAH_OK)
    return BRAMAH_OK;
  *pure = 0;
  if (*raw.text)
    snprintf(expected, sizeof expected, "%s/(%s)", si_unit, raw.text);
  else
    snprintf(expected, sizeof expected, "%s", si_unit);
  bramah_diag_clear(diag);
  const bramah_status status = bramah_quantity_parse(from->scale.text, expected, scale, diag);
  return status ? fail_figure(study, from, &from->scale, "scale", diag) : BRAMAH_OK;
}

static bramah_status read_wrap(bramah__column_map *map, const bramah_study *study,
                               const bramah_study_column *from, const char *si_unit, bramah_diag *diag)
{
  double wrap;
  map->wrap = 0.0;
  if (!from->wrap.text) return BRAMAH_OK;
  if (strcmp(si_unit, "1") != 0 && bramah_quantity_parse(from->wrap.text, "1", &wrap, diag) == BRAMAH_OK) {
    map->wrap = wrap;
    return BRAMAH_OK;
  }
  bramah_diag_clear(diag);
  if (bramah_quantity_parse(from->wrap.text, si_unit, &wrap, diag))
    return fail_figure(study, from, &from->wrap, "wrap", diag);
  map->wrap = wrap / fabs(map->factor);
  return BRAMAH_OK;
}

static bramah_status fail_no_unit(const bramah_study *study, const bramah_study_column *from, raw_unit raw,
                                  const char *si_unit, bramah_diag *diag)
{
  if (*raw.text)
    return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
                         "the column is in %s; expected a unit like %s, or a scale that leads to it",
                         raw.text, si_unit);
  return bramah__failf(
      diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
      "the column '%s' has no unit: give it one in the header (%s[%s]) or by 'unit', or counts a "
      "'scale' in %s",
      from->name, from->name, si_unit, si_unit);
}

bramah_status bramah__column_map_make(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, const char *unit, const char *si_unit,
                                      bramah_diag *diag)
{
  raw_unit raw = {is_bare(unit) ? "" : unit, 1.0};
  bramah_dimension have = {0}, want = {0};
  double ignored, scale;
  int pure;
  bramah_diag_clear(diag);
  bramah_status status = *raw.text ? bramah_unit_parse(raw.text, &raw.factor, &have, diag) : BRAMAH_OK;
  if (!status && strcmp(si_unit, "1") != 0) status = bramah_unit_parse(si_unit, &ignored, &want, diag);
  if (!status) status = read_scale(study, from, raw, si_unit, &scale, &pure, diag);
  if (status) return status;
  if (pure && !same_dimension(have, want)) return fail_no_unit(study, from, raw, si_unit, diag);
  *map = (bramah__column_map){.factor = (from->sign < 0.0 ? -1.0 : 1.0) * scale * raw.factor, .last = NAN};
  if (from->offset.text && bramah_quantity_parse(from->offset.text, si_unit, &map->offset, diag))
    return fail_figure(study, from, &from->offset, "offset", diag);
  if (from->gauge) map->offset += study->log.atmosphere;
  status = read_wrap(map, study, from, si_unit, diag);
  return status;
}

/* The header's unit and the study's must not contradict each other. */
static bramah_status check_units(const bramah_study *study, const bramah_study_column *from,
                                 const bramah_log_reader *reader, size_t column, bramah_diag *diag)
{
  double factor, stated;
  bramah_dimension dimension, wanted = {0};
  const char *unit = bramah_log_column_unit(reader, column);
  bramah_diag ignored;
  if (is_bare(unit) || !from->unit) return BRAMAH_OK;
  if (bramah_log_unit(reader, column, &factor, &dimension, &ignored))
    return BRAMAH_OK; /* unknown: the study's */
  if (is_bare(from->unit) || bramah_unit_parse(from->unit, &stated, &wanted, &ignored)) stated = 1.0;
  if (factor == stated && same_dimension(dimension, wanted)) return BRAMAH_OK;
  return bramah__failf(diag, BRAMAH_E_UNIT, study->file, from->line, from->target,
                       "'unit' says %s, but the header of the log says %s[%s]", from->unit, from->name, unit);
}

bramah_status bramah__column_map_bind(bramah__column_map *map, const bramah_study *study,
                                      const bramah_study_column *from, bramah_log_reader *reader,
                                      size_t column, const char *si_unit, bramah_diag *diag)
{
  bramah_diag_clear(diag);
  if (!bramah__column_map_is_needed(from)) {
    *map = (bramah__column_map){.plain = 1};
    return bramah_log_find(reader, bramah_log_column_name(reader, column), si_unit, &column, diag);
  }
  bramah_status status = check_units(study, from, reader, column, diag);
  if (status) return status;
  const char *unit = from->unit ? from->unit : bramah_log_column_unit(reader, column);
  double factor;
  bramah_dimension dimension;
  if (!from->unit) status = bramah_log_unit(reader, column, &factor, &dimension, diag);
  if (!status) status = bramah__column_map_make(map, study, from, unit, si_unit, diag);
  if (!status) bramah_log_restate_unit(reader, column);
  return status;
}

const char *bramah__column_map_unit(const bramah_study_column *from, const char *si_unit)
{
  bramah_diag ignored;
  double scale;
  if (from->unit) return is_bare(from->unit) ? "" : from->unit;
  if (!from->scale.text || bramah_quantity_parse(from->scale.text, "1", &scale, &ignored) == BRAMAH_OK)
    return si_unit;
  return "";
}

double bramah__column_map_value(bramah__column_map *map, double column)
{
  if (map->plain) return column;
  if (map->wrap > 0.0) {
    /* By the shorter way round. */
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
