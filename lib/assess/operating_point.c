/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a machine file to linear equations about a point: simulated to, found in a log, or an equilibrium. */
#include "bramah/linear.h"
#include "bramah/log.h"
#include "bramah/session.h"
#include "bramah/units.h"
#include "lib/base/text.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sensors of a study as outputs behind those of the plant. */
typedef struct sensors {
  bramah_study *study;
  bramah_sensor *sensor; /* [study->n_sensors] */
  size_t *term;          /* [n_sensors x BRAMAH_SENSOR_MAX_TERMS] outputs of the linear system */
  bramah_linear_system system;
  double *C, *D, *y;
  const char **name, **unit;
} sensors;

typedef struct operating_point {
  bramah_operating_point found; /* first: what the caller holds */
  bramah_machine_plant machine;
  const bramah_linear_system *base; /* all outputs that have a derivative */
  sensors sensors;                  /* study NULL: none */
  bramah_trim trim;                 /* if something is held or free */
  size_t *held, *free, *columns;
  double *target;
} operating_point;

/* ---- names and values ---- */

static bramah_status no_such(size_t n, const char *const *names, const char *name, const char *written,
                             const char *what, bramah_diag *diag)
{
  bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, name, "there is no %s of this name", what);
  bramah__add_suggestion(diag, written, n, names, "");
  return BRAMAH_E_REFERENCE;
}

static int find(size_t n, const char *const *names, const char *name, size_t *out)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return *out = i, 1;
  return 0;
}

bramah_status bramah_linear_input(const bramah_linear_system *system, const char *name, size_t *u,
                                  bramah_diag *diag)
{
  char command[300];
  snprintf(command, sizeof command, "%s.command", name);
  if (find(system->n_u, system->u_name, command, u) || find(system->n_u, system->u_name, name, u))
    return BRAMAH_OK;
  const char *written = bramah__nearest(name, system->n_u, system->u_name) ? name : command;
  return no_such(system->n_u, system->u_name, name, written, "input", diag);
}

bramah_status bramah_linear_output(const bramah_linear_system *system, const char *name, size_t *y,
                                   bramah_diag *diag)
{
  if (find(system->n_y, system->y_name, name, y)) return BRAMAH_OK;
  return no_such(system->n_y, system->y_name, name, name, "output", diag);
}

/* A number alone is in SI. */
static bramah_status read_quantity(const char *text, const char *unit, double *out, bramah_diag *diag)
{
  char *end;
  *out = strtod(text, &end);
  return end != text && !*end && isfinite(*out) ? BRAMAH_OK : bramah_quantity_parse(text, unit, out, diag);
}

/* "NAME=VALUE" into name [256] and *value. */
static bramah_status split(const char *text, char *name, const char **value, bramah_diag *diag)
{
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1] || equals - text >= 256)
    return bramah__failf(diag, BRAMAH_E_SYNTAX, NULL, 0, text, "is not of the form NAME=VALUE");
  snprintf(name, 256, "%.*s", (int)(equals - text), text);
  *value = equals + 1;
  return BRAMAH_OK;
}

/* ---- machine and linearization ---- */

/* The machine file with its changes, and its linear equations. Parameters that become inputs: those listed as such,
 * and the free ones that are no commands. */
static bramah_status open_machine(operating_point *point, const char *path,
                                  const bramah_operating_point_options *o, bramah_diag *diag)
{
  bramah_change *changes = calloc(o->n_set + 1, sizeof *changes);
  char(*paths)[256] = calloc(o->n_set + 1, sizeof *paths);
  point->columns = calloc(o->n_input + o->n_free + 1, sizeof *point->columns);
  bramah_status status = changes && paths && point->columns ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; i < o->n_set && !status; i++) {
    const char *value = NULL;
    status = split(o->set[i], paths[i], &value, diag);
    if (!status) changes[i] = (bramah_change){.path = paths[i], .value = value, .file = "set"};
  }
  bramah__place(diag, "set", 0);
  if (!status) status = bramah_machine_plant_open(&point->machine, path, o->n_set, changes, 0, diag);
  free(changes);
  free(paths);

  bramah_linearization_options all = {.parameters = point->columns, .all_outputs = 1};
  for (size_t k = 0; !status && k < o->n_input + o->n_free; k++) {
    const int is_input = k < o->n_input;
    const char *name = is_input ? o->input[k] : o->free[k - o->n_input];
    size_t parameter = 0, given = 0;
    const bramah_status found =
        bramah_plant_parameter_index(&point->machine.plant, name, &parameter, is_input ? diag : NULL);
    if (found && is_input) return bramah__place(diag, "input", 0);
    for (size_t i = 0; i < all.n_parameters; i++) given += point->columns[i] == parameter;
    if (!found && !given) point->columns[all.n_parameters++] = parameter;
  }
  return status ? status
                : bramah_linearization_new(point->machine.model, &all, diag, &point->found.linearization);
}

/* ---- sensors ---- */

static bramah_status bind_sensors(operating_point *point, const char *study, bramah_diag *diag)
{
  sensors *s = &point->sensors;
  const bramah_linear_system *base = point->base;
  const bramah_plant *plant = &point->machine.plant;
  bramah_status status = bramah_study_load(study, 0, NULL, diag, &s->study);
  if (status) return status;
  const size_t n = s->study->n_sensors, most = base->n_y + n;
  s->sensor = calloc(n + 1, sizeof *s->sensor);
  s->term = calloc((n + 1) * BRAMAH_SENSOR_MAX_TERMS, sizeof *s->term);
  s->C = calloc(most * (base->n + base->n_u + 1) + 1, sizeof *s->C);
  s->name = calloc(2 * most + 1, sizeof *s->name);
  if (!s->sensor || !s->term || !s->C || !s->name) return bramah__fail_memory(diag);
  s->D = s->C + most * base->n;
  s->y = s->D + most * base->n_u;
  s->unit = s->name + most;
  for (size_t i = 0; i < n && !status; i++) {
    status = bramah_sensor_init(&s->study->sensors[i], plant, diag, &s->sensor[i]);
    for (size_t k = 0; !status && k < s->sensor[i].n_terms; k++) {
      bramah_output_info info;
      bramah_plant_output_info(plant, s->sensor[i].output[k], &info);
      if (!find(base->n_y, base->y_name, info.name, &s->term[i * BRAMAH_SENSOR_MAX_TERMS + k]))
        status = bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, s->sensor[i].name,
                               "what it measures has no place in the linear equations: %s", info.name);
    }
    if (status) bramah__place(diag, s->study->file, s->study->sensors[i].line);
  }
  return status;
}

/* Value of a sensor and its slopes by the two sums of its terms. */
static double shape(const bramah_sensor *sensor, const double sum[2], double slope[2])
{
  const double a = sum[0], b = sum[1];
  slope[0] = slope[1] = 1.0;
  if (sensor->shape == BRAMAH_SENSOR_SUM) return a + b;
  if (sensor->shape == BRAMAH_SENSOR_ARCSINE) {
    const double s = fmin(fmax(a + b, -1.0), 1.0), c = sqrt(1.0 - s * s);
    slope[0] = slope[1] = c > 0.0 ? 1.0 / c : 0.0;
    return asin(s);
  }
  const double square = a * a + b * b;
  slope[0] = square > 0.0 ? b / square : 0.0;
  slope[1] = square > 0.0 ? -a / square : 0.0;
  return atan2(a, b);
}

/* The equations at the point with a row more for each sensor. */
static void add_sensors(operating_point *point)
{
  sensors *s = &point->sensors;
  const bramah_linear_system *base = point->base;
  const size_t n = base->n, nu = base->n_u;
  memcpy(s->C, base->C, base->n_y * n * sizeof *s->C);
  if (nu) memcpy(s->D, base->D, base->n_y * nu * sizeof *s->D);
  memcpy(s->y, base->y, base->n_y * sizeof *s->y);
  memcpy(s->name, base->y_name, base->n_y * sizeof *s->name);
  memcpy(s->unit, base->y_unit, base->n_y * sizeof *s->unit);
  s->system = *base;
  for (size_t i = 0; i < s->study->n_sensors; i++) {
    const bramah_sensor *sensor = &s->sensor[i];
    const size_t *term = s->term + i * BRAMAH_SENSOR_MAX_TERMS, row = s->system.n_y++,
                 first = sensor->shape == BRAMAH_SENSOR_ANGLE ? sensor->n_first : sensor->n_terms;
    double sum[2] = {0.0, 0.0}, slope[2], *C = s->C + row * n, *D = s->D + row * nu;
    for (size_t k = 0; k < sensor->n_terms; k++) sum[k >= first] += sensor->weight[k] * base->y[term[k]];
    s->y[row] = shape(sensor, sum, slope);
    memset(C, 0, n * sizeof *C);
    memset(D, 0, nu * sizeof *D);
    for (size_t k = 0; k < sensor->n_terms; k++) {
      const double by = slope[k >= first] * sensor->weight[k];
      for (size_t j = 0; j < n; j++) C[j] += by * base->C[term[k] * n + j];
      for (size_t j = 0; j < nu; j++) D[j] += by * base->D[term[k] * nu + j];
    }
    s->name[row] = sensor->name;
    s->unit[row] = sensor->unit;
  }
  s->system.C = s->C, s->system.D = s->D, s->system.y = s->y;
  s->system.y_name = s->name, s->system.y_unit = s->unit;
}

/* ---- the point ---- */

static bramah_status simulate(operating_point *point, double seconds, bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  const int64_t until = llround(seconds * 1e9);
  bramah_schedule *schedule = NULL;
  bramah_status status = bramah_schedule_new(point->machine.machine, point->machine.model, diag, &schedule);
  int64_t now = 0;
  if (!status) status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, 0), diag);
  for (; !status && now + plant->step_ns <= until; now += plant->step_ns) {
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    if (!status) status = plant->step(plant->self, diag);
  }
  point->found.time = 1e-9 * (double)now;
  bramah_schedule_free(schedule);
  return status;
}

/* Value of a column of that row, if the log has it. */
static bramah_status take_cell(const bramah_log_reader *log, const char *name, const char *unit,
                               const double *values, const unsigned char *present, double *out,
                               bramah_diag *diag)
{
  size_t column;
  const bramah_status status = bramah_log_find(log, name, unit, &column, diag);
  if (status) return status;
  if (!present[column]) return bramah__failf(diag, BRAMAH_E_COLUMN, NULL, 0, name, "is empty at this time");
  *out = values[column];
  return BRAMAH_OK;
}

/* Go to the row of a log nearest to a time. Friction states, which logs do not hold, stay; everything else must be
 * there. What is farther from all rows than the longest gap between two is not in the log. */
static bramah_status place(operating_point *point, const char *file, double wanted, bramah_diag *diag)
{
  const bramah_linear_system *s = point->base;
  const bramah_plant *plant = &point->machine.plant;
  bramah_log_reader *log = NULL;
  bramah_status status = bramah_log_open(file, NULL, diag, &log);
  if (status) return status;
  const size_t n = bramah_log_get_info(log).n_columns, nu = plant->n_input;
  double *row = calloc(3 * n + s->n + nu + 1, sizeof *row), *values = row + n, *x = values + n, *u = x + s->n;
  unsigned char *present = (unsigned char *)(u + nu), *filled = calloc(n + 1, 1);
  double best = (double)INFINITY, first = best, last = -best, gap = 0.0;
  size_t time = 0;
  status = row && filled ? bramah_log_find(log, "t", "s", &time, diag) : bramah__fail_memory(diag);
  for (int end = 0; !status && !end;) {
    status = bramah_log_next(log, row, filled, &end, diag);
    if (status || end || !filled[time]) continue;
    if (first <= last) gap = fmax(gap, row[time] - last);
    first = fmin(first, row[time]);
    last = fmax(last, row[time]);
    if (!(fabs(row[time] - wanted) < best)) continue;
    best = fabs(row[time] - wanted);
    memcpy(values, row, n * sizeof *row);
    memcpy(present, filled, n);
  }
  if (!status && !(first <= last))
    status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, "at", "the log has no row with a time");
  if (!status && !(wanted >= first - gap && wanted <= last + gap))
    status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, "at",
                           "%.9g s is not in the log, which goes from %.9g s to %.9g s", wanted, first, last);
  if (!status) point->found.time = values[time];
  if (!status) memcpy(x, s->x, s->n * sizeof *x);
  for (size_t i = 0; !status && i < s->n - s->n_friction; i++)
    status = take_cell(log, s->x_name[i], s->x_unit[i], values, present, &x[i], diag);
  for (size_t i = 0; !status && i < nu; i++)
    status = take_cell(log, s->u_name[i], s->u_unit[i], values, present, &u[i], diag);
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  if (!status)
    status = bramah_linearization_place(point->found.linearization, point->machine.coupled, x, diag);
  if (status) bramah__place(diag, file, 0);
  free(row);
  free(filled);
  bramah_log_close(log);
  return status;
}

/* To "start", "rest", a time, or FILE@TIME with these parameters; then with these commands. */
static bramah_status go_to(operating_point *point, const bramah_operating_point_options *o, bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  const char *at = o->at, *sign = at ? strrchr(at, '@') : NULL, *value = NULL;
  char name[512];
  double seconds = 0.0;
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; k < o->n_parameter && !status; k++) {
    size_t i;
    double x;
    bramah_parameter_info info;
    status = split(o->parameter[k], name, &value, diag);
    if (!status) status = bramah_plant_parameter_index(plant, name, &i, diag);
    if (status) break;
    plant->parameter_info(plant->self, i, &info);
    status = read_quantity(value, info.unit, &x, diag);
    if (!status) status = plant->set_parameter(plant->self, i, x, diag);
  }
  if (status) return bramah__place(diag, "parameter", 0);

  if (sign) {
    if (sign == at || (size_t)(sign - at) >= sizeof name || read_quantity(sign + 1, "s", &seconds, diag))
      return bramah__failf(diag, BRAMAH_E_SYNTAX, "at", 0, at, "is not of the form FILE@TIME");
    snprintf(name, sizeof name, "%.*s", (int)(sign - at), at);
    status = simulate(point, 0.0, diag);
    if (!status) status = place(point, name, seconds, diag);
  } else {
    if (at && strcmp(at, "start") != 0 && strcmp(at, "rest") != 0) {
      status = read_quantity(at, "s", &seconds, diag);
      if (!status && !(seconds >= 0.0 && seconds < 9e9))
        status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, at, "is not a time to work with");
      if (status) return bramah__place(diag, "at", 0);
    }
    status = simulate(point, seconds, diag);
  }
  if (!status) status = bramah_linearization_run(point->found.linearization, point->machine.coupled, diag);
  if (status) return status;

  double *u = calloc(plant->n_input + 1, sizeof *u);
  if (!u) return bramah__fail_memory(diag);
  memcpy(u, point->base->u, plant->n_input * sizeof *u);
  for (size_t k = 0; !status && k < o->n_command; k++) {
    size_t input;
    status = split(o->command[k], name, &value, diag);
    if (!status) status = bramah_linear_input(point->base, name, &input, diag);
    if (!status && input >= plant->n_input)
      status = bramah__failf(diag, BRAMAH_E_REFERENCE, NULL, 0, name, "is a parameter, no command");
    if (!status) status = read_quantity(value, "V", &u[input], diag);
  }
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  free(u);
  return status ? bramah__place(diag, "command", 0) : BRAMAH_OK;
}

/* What is held, what is free for it. */
static bramah_status read_trim(operating_point *point, const bramah_operating_point_options *o,
                               bramah_diag *diag)
{
  const bramah_linear_system *s = point->base;
  bramah_status status = BRAMAH_OK;
  point->held = calloc(o->n_hold + 1, sizeof *point->held);
  point->free = calloc(o->n_free + 1, sizeof *point->free);
  point->target = calloc(o->n_hold + 1, sizeof *point->target);
  if (!point->held || !point->free || !point->target) return bramah__fail_memory(diag);
  point->trim = (bramah_trim){o->n_hold, point->held, point->target, o->n_free, point->free};
  for (size_t k = 0; k < o->n_hold && !status; k++) {
    char name[256];
    const char *value = NULL;
    status = split(o->hold[k], name, &value, diag);
    if (!status) status = bramah_linear_output(s, name, &point->held[k], diag);
    if (!status) status = read_quantity(value, s->y_unit[point->held[k]], &point->target[k], diag);
    if (status) return bramah__place(diag, "hold", 0);
  }
  for (size_t k = 0; k < o->n_free && !status; k++) {
    bramah_diag other;
    size_t unknown;
    status = bramah_linear_input(s, o->free[k], &point->free[k], diag);
    /* any parameter may be free, so one of them can be meant too */
    if (status && !strchr(diag->message, '?') &&
        bramah_plant_parameter_index(&point->machine.plant, o->free[k], &unknown, &other) &&
        strchr(other.message, '?'))
      *diag = other;
  }
  return status ? bramah__place(diag, "free", 0) : BRAMAH_OK;
}

bramah_status bramah_operating_point_new(const char *machine, const bramah_operating_point_options *options,
                                         bramah_diag *diag, bramah_operating_point **out)
{
  bramah_operating_point_options start;
  bramah_operating_point_options_default(&start);
  const bramah_operating_point_options *o = options ? options : &start;
  operating_point *point = calloc(1, sizeof *point);
  *out = NULL;
  if (!point) return bramah__fail_memory(diag);
  bramah_status status = open_machine(point, machine, o, diag);
  bramah_coupled *plant = point->machine.coupled;
  bramah_linearization *l = point->found.linearization;
  if (!status) point->base = bramah_linearization_system(l);
  if (!status) status = bramah_linearization_run(l, plant, diag); /* for the names */
  if (!status && o->sensors) status = bind_sensors(point, o->sensors, diag);

  /* To the point, */
  if (!status) status = go_to(point, o, diag);
  if (!status) status = read_trim(point, o, diag);

  /* the equilibrium near it, if one is asked for, and the equations there. */
  bramah_operating_point *found = &point->found;
  found->at_rest = o->n_hold + o->n_free > 0 || (o->at && strcmp(o->at, "rest") == 0);
  if (!status && found->at_rest)
    status = o->n_hold + o->n_free > 0 ? bramah_trim_find(l, plant, &point->trim, &found->rest, diag)
                                       : bramah_settle(l, plant, &found->rest, diag);
  if (!status) status = bramah_linearization_run(l, plant, diag);
  if (!status && point->sensors.study) add_sensors(point);
  if (status) {
    bramah__place(diag, machine, 0);
    bramah_operating_point_free(found);
    return status;
  }
  found->system = point->sensors.study ? &point->sensors.system : point->base;
  found->model = point->machine.model;
  found->plant = plant;
  *out = found;
  return BRAMAH_OK;
}

void bramah_operating_point_free(bramah_operating_point *found)
{
  operating_point *point = (operating_point *)(void *)found;
  if (!point) return;
  bramah_study_free(point->sensors.study);
  free(point->sensors.sensor);
  free(point->sensors.term);
  free(point->sensors.C);
  free(point->sensors.name);
  bramah_linearization_free(found->linearization);
  bramah_machine_plant_close(&point->machine);
  free(point->columns);
  free(point->held);
  free(point->free);
  free(point->target);
  free(point);
}

void bramah_operating_point_options_default(bramah_operating_point_options *options)
{
  *options = (bramah_operating_point_options){.at = "start"};
}
