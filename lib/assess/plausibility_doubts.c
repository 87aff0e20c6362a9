/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Doubts about machine, study and log, and where in which file each of them belongs; units that are taken for each other. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"
#include "bramah/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- units that are taken for each other ---- */

static const struct {
  const char *si, *unit;
} known[] = {
    {"Pa", "Pa"},       {"Pa", "kPa"},       {"Pa", "bar"},      {"Pa", "MPa"},      {"Pa", "psi"},
    {"rad", "rad"},     {"rad", "deg"},      {"rad", "mrad"},    {"rad", "rev"},     {"rad/s", "rad/s"},
    {"rad/s", "deg/s"}, {"rad/s", "mrad/s"}, {"rad/s", "rpm"},   {"m", "m"},         {"m", "mm"},
    {"m", "cm"},        {"m", "in"},         {"V", "V"},         {"V", "mV"},        {"m/s^2", "m/s^2"},
    {"m/s^2", "gn"},    {"m/s^2", "mm/s^2"}, {"m^3/s", "m^3/s"}, {"m^3/s", "L/min"}, {"N", "N"},
    {"N", "kN"},        {"s", "s"},          {"s", "ms"},        {"s", "us"},        {"s", "min"}};

const char *bramah__unit_at(const char *si, size_t k, double *per_si)
{
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    double factor;
    bramah_dimension dimension;
    bramah_diag ignored;
    if (strcmp(known[i].si, si) != 0 || k--) continue;
    if (bramah_unit_parse(known[i].unit, &factor, &dimension, &ignored)) return NULL;
    *per_si = 1.0 / factor;
    return known[i].unit;
  }
  return NULL;
}

const char *bramah__unit_for(const char *si, double declared, double ratio, double tolerance)
{
  const char *best = NULL, *unit;
  double nearest = log(tolerance), per_si;
  for (size_t k = 0; (unit = bramah__unit_at(si, k, &per_si)) != NULL; k++) {
    const double off = fabs(log(ratio / (per_si * declared)));
    if (!(off < nearest)) continue;
    nearest = off;
    best = unit;
  }
  return best;
}

double bramah__highest_supply(const bramah_machine *m, const char **name)
{
  double most = 0.0;
  *name = "";
  if (m->n_pumps || m->n_load_sensing_pumps) return 0.0; /* which give what the load asks for */
  for (size_t i = 0; i < m->n_pump_lines; i++) most = fmax(most, m->pump_lines[i].set_pressure);
  for (size_t i = 0; i < m->n_supplies; i++)
    if (m->supplies[i].pressure > most) {
      most = m->supplies[i].pressure;
      *name = m->supplies[i].name;
    }
  return m->n_valves || m->n_pump_lines ? most : 0.0; /* else it may be a tank */
}

int bramah__seems_gauge(const bramah_machine *m, double lowest, double *below)
{
  double tank = HUGE_VAL;
  for (size_t i = 0; i < m->n_supplies; i++) tank = fmin(tank, m->supplies[i].pressure);
  *below = tank - lowest;
  return tank > 0.8e5 && tank < 3e5 && lowest < tank - 0.7e5 && lowest > -0.7e5;
}

/* ---- doubts ---- */

bramah__path bramah__path_of(const char *format, ...)
{
  bramah__path out;
  va_list list;
  va_start(list, format);
  vsnprintf(out.text, sizeof out.text, format, list);
  va_end(list);
  return out;
}

BRAMAH__PRINTF(6, 0)
static bramah_doubt *add(bramah__look *look, bramah_doubt_kind kind, int certain, double value,
                         const char *thing, const char *format, va_list list)
{
  if (look->n_doubts == BRAMAH__MOST_DOUBTS) return NULL;
  bramah_doubt *doubt = &look->doubts[look->n_doubts++];
  *doubt = (bramah_doubt){.kind = kind, .certain = certain, .value = value};
  doubt->diag.status = BRAMAH_E_VALUE;
  snprintf(doubt->diag.thing, sizeof doubt->diag.thing, "%s", thing);
  vsnprintf(doubt->diag.message, sizeof doubt->diag.message, format, list);
  return doubt;
}

static void put_place(bramah_diag *diag, const char *file, int line, int column)
{
  snprintf(diag->file, sizeof diag->file, "%s", file ? file : "");
  diag->line = line;
  diag->column = column;
}

/* At the path, or the nearest one above it that the file has. */
static void place_in(bramah_diag *diag, const bramah__source *source, const char *path)
{
  char text[256];
  snprintf(text, sizeof text, "%s", path);
  if (!source) return;
  put_place(diag, source->file, 1, 0);
  const bramah__node *node = source->root;
  for (char *key = text; key && node;) {
    char *dot = strchr(key, '.');
    if (dot) *dot = '\0';
    const bramah__node *below = NULL;
    for (size_t i = 0; node->kind == BRAMAH__NODE_MAPPING && i < node->n; i++) {
      if (strcmp(node->keys[i]->text, key) != 0) continue;
      below = node->items[i];
      put_place(diag, source->file, below->kind == BRAMAH__NODE_SCALAR ? below->line : node->keys[i]->line,
                below->kind == BRAMAH__NODE_SCALAR ? below->column : node->keys[i]->column);
    }
    node = below;
    key = dot ? dot + 1 : NULL;
  }
}

void bramah__doubt_value(bramah__look *look, bramah_doubt_kind kind, int certain, double value,
                         const char *path, const char *format, ...)
{
  const int of_study = strncmp(path, "study.", 6) == 0;
  const char *inner = of_study ? path + 6 : path;
  va_list list;
  va_start(list, format);
  bramah_doubt *doubt = add(look, kind, certain, value, inner, format, list);
  va_end(list);
  if (!doubt) return;
  place_in(&doubt->diag, of_study ? look->study_file : look->machine_file, inner);
  for (size_t i = 0; look->study && !of_study && i < look->study->n_changes; i++) {
    const bramah_change *change = &look->study->changes[i];
    if (strcmp(change->path, inner) == 0) put_place(&doubt->diag, change->file, change->line, 0);
  }
}

void bramah__doubt_at(bramah__look *look, bramah_doubt_kind kind, int certain, double value, const char *file,
                      int line, int position, const char *thing, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  bramah_doubt *doubt = add(look, kind, certain, value, thing, format, list);
  va_end(list);
  if (doubt) put_place(&doubt->diag, file, line, position);
}

void bramah__doubt_column(bramah__look *look, bramah_doubt_kind kind, int certain, double value, size_t slot,
                          const char *format, ...)
{
  bramah__column *column = &look->columns[slot];
  char path[256];
  va_list list;
  va_start(list, format);
  bramah_doubt *doubt = add(look, kind, certain, value, column->what, format, list);
  va_end(list);
  column->is_doubted = 1;
  if (!doubt) return;
  put_place(&doubt->diag, column->file, column->line, column->position);
  if (column->declared > 0.0 && kind == BRAMAH_DOUBT_UNIT) return;
  snprintf(path, sizeof path, slot < look->n_inputs ? "inputs.%s" : "sensors.%s", column->what);
  const bramah_diag of_log = doubt->diag;
  place_in(&doubt->diag, look->study_file, path);
  if (slot < look->n_inputs && look->study->n_inputs == 0) doubt->diag = of_log;
}
