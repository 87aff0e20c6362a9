/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/operating_point.h"
#include "bramah/log.h"
#include "bramah/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_status no_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

/* ---- names ---- */

static bramah_status none_of(size_t n, const char *const *names, const char *name, const char *written,
                             const char *what, bramah_diag *diag)
{
  const char *nearest = cli_nearest(written, n, names);
  if (nearest)
    return cli_fail(diag, BRAMAH_E_REFERENCE, NULL, 0, name,
                    "there is no %s of this name; did you mean '%s'?", what, nearest);
  return cli_fail(diag, BRAMAH_E_REFERENCE, NULL, 0, name, "there is no %s of this name", what);
}

static bramah_status find(size_t n, const char *const *names, const char *name, size_t *out)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(names[i], name) == 0) return *out = i, BRAMAH_OK;
  return BRAMAH_E_REFERENCE;
}

bramah_status cli_find_linear_input(const bramah_linear_system *system, const char *name, size_t *out,
                                    bramah_diag *diag)
{
  char command[300];
  snprintf(command, sizeof command, "%s.command", name);
  if (!find(system->n_u, system->u_name, command, out) || !find(system->n_u, system->u_name, name, out))
    return BRAMAH_OK;
  const char *written = cli_nearest(name, system->n_u, system->u_name) ? name : command;
  return none_of(system->n_u, system->u_name, name, written, "input (see --input)", diag);
}

bramah_status cli_find_linear_output(const bramah_linear_system *system, const char *name, size_t *out,
                                     bramah_diag *diag)
{
  if (!find(system->n_y, system->y_name, name, out)) return BRAMAH_OK;
  return none_of(system->n_y, system->y_name, name, name, "output", diag);
}

/* ---- NAME=VALUE ---- */

/* The part before the sign of equality into name [size]; returns the part behind it or NULL. */
static const char *split(const char *text, char *name, size_t size)
{
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1] || (size_t)(equals - text) >= size) return NULL;
  snprintf(name, size, "%.*s", (int)(equals - text), text);
  return equals + 1;
}

/* A number alone is in SI. */
static bramah_status read_quantity(const char *text, const char *unit, double *out, bramah_diag *diag)
{
  char *end;
  *out = strtod(text, &end);
  if (end != text && !*end && isfinite(*out)) return BRAMAH_OK;
  return bramah_quantity_parse(text, unit, out, diag);
}

static bramah_status malformed(const char *option, const char *text, bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_SYNTAX, option, 0, text, "is not of the form NAME=VALUE");
}

/* ---- machine ---- */

static int count_of(const cli_arguments *arguments, const char *name)
{
  int n = 0;
  while (cli_value_again(arguments, name, (size_t)n)) n++;
  return n;
}

static bramah_status open_machine(const cli_arguments *arguments, cli_operating_point *point,
                                  bramah_diag *diag)
{
  const size_t n = (size_t)count_of(arguments, "set");
  bramah_change *changes = calloc(n + 1, sizeof *changes);
  char(*paths)[256] = calloc(n + 1, sizeof *paths);
  bramah_status status = changes && paths ? BRAMAH_OK : no_memory(diag);
  for (size_t i = 0; i < n && !status; i++) {
    const char *text = cli_value_again(arguments, "set", i), *value = split(text, paths[i], sizeof paths[i]);
    if (!value) status = malformed("--set", text, diag);
    changes[i] = (bramah_change){.path = paths[i], .value = value, .file = "--set"};
  }
  if (!status)
    status = bramah_machine_plant_open(&point->machine, arguments->operands[0], n, changes, 0, diag);
  free(changes);
  free(paths);
  return status;
}

/* Parameters that become inputs: those of --input, and those of --free that are no commands. */
static bramah_status choose_columns(const cli_arguments *arguments, cli_operating_point *point, size_t *n,
                                    bramah_diag *diag)
{
  static const char *const options[] = {"input", "free"};
  const bramah_plant *plant = &point->machine.plant;
  const char *name;
  *n = 0;
  point->columns = calloc((size_t)arguments->n_given + 1, sizeof *point->columns);
  if (!point->columns) return no_memory(diag);
  for (int o = 0; o < 2; o++)
    for (size_t k = 0; (name = cli_value_again(arguments, options[o], k)); k++) {
      const long parameter = bramah_plant_find_parameter(plant, name);
      size_t found;
      if (parameter >= 0) {
        int given = 0;
        for (size_t i = 0; i < *n; i++) given |= point->columns[i] == (size_t)parameter;
        if (!given) point->columns[(*n)++] = (size_t)parameter;
      } else if (o == 0) {
        return bramah_plant_parameter_index(plant, name, &found, diag);
      }
    }
  return BRAMAH_OK;
}

static bramah_status make_linearization(const cli_arguments *arguments, cli_operating_point *point,
                                        bramah_diag *diag)
{
  size_t n;
  bramah_status status = choose_columns(arguments, point, &n, diag);
  if (status) return status;
  const bramah_linearization_options options = {
      .n_parameters = n, .parameters = point->columns, .all_outputs = 1};
  status = bramah_linearization_new(point->machine.model, &options, diag, &point->linearization);
  if (status) return status;
  point->base = point->system = bramah_linearization_system(point->linearization);
  status = bramah_linearization_run(point->linearization, point->machine.coupled, diag); /* for the names */
  const char *study = cli_value(arguments, "sensors");
  if (status || !study) return status;
  point->has_sensors = 1;
  status = cli_linear_sensors_open(&point->sensors, study, &point->machine.plant, point->base, diag);
  if (status) return status;
  cli_linear_sensors_fill(&point->sensors, point->base);
  point->system = &point->sensors.system;
  return BRAMAH_OK;
}

/* ---- the point ---- */

/* The time at which the point really is, which may not be quite the one asked for. */
static void tell_time(cli_operating_point *point, const char *where, double seconds)
{
  snprintf(point->what, sizeof point->what, "at %s%.9g s%s", where, seconds,
           point->at_rest ? ", then in equilibrium" : "");
}

static bramah_status simulate(cli_operating_point *point, int64_t until, bramah_diag *diag)
{
  const bramah_plant *plant = &point->machine.plant;
  bramah_schedule *schedule = NULL;
  bramah_status status = bramah_schedule_new(point->machine.machine, point->machine.model, diag, &schedule);
  if (!status) status = cli_parameters_set(&point->parameters, plant, 0, diag);
  if (!status) status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, 0), diag);
  int64_t now = 0;
  for (; !status && now + plant->step_ns <= until; now += plant->step_ns) {
    status = plant->set_inputs(plant->self, bramah_schedule_at(schedule, now), diag);
    if (!status) status = cli_parameters_set(&point->parameters, plant, now, diag);
    if (!status) status = plant->step(plant->self, diag);
  }
  if (until > 0 && !status) tell_time(point, "", 1e-9 * (double)now);
  if (until > now && !status)
    cli_note("--at is not a multiple of the step: the machine stands at %.9g s", 1e-9 * (double)now);
  bramah_schedule_free(schedule);
  return status;
}

static bramah_status set_commands(const cli_arguments *arguments, cli_operating_point *point,
                                  bramah_diag *diag)
{
  const bramah_linear_system *s = point->base;
  const size_t n = point->machine.plant.n_input;
  double *u = calloc(n + 1, sizeof *u);
  const char *text;
  if (!u) return no_memory(diag);
  memcpy(u, s->u, n * sizeof *u);
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && (text = cli_value_again(arguments, "command", k)); k++) {
    char name[256];
    size_t input = n;
    const char *value = split(text, name, sizeof name);
    status = value ? cli_find_linear_input(s, name, &input, diag) : malformed("--command", text, diag);
    if (!status && input >= n)
      status = cli_fail(diag, BRAMAH_E_REFERENCE, "--command", 0, name, "is a parameter: use --parameter");
    if (!status) status = read_quantity(value, "V", &u[input], diag);
  }
  const bramah_plant *plant = &point->machine.plant;
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  free(u);
  cli_place(diag, "--command", 0);
  return status;
}

static bramah_status read_held(const cli_arguments *arguments, cli_operating_point *point, size_t n,
                               size_t *held, double *target, bramah_diag *diag)
{
  for (size_t k = 0; k < n; k++) {
    char name[256];
    const char *text = cli_value_again(arguments, "hold", k), *value = split(text, name, sizeof name);
    bramah_status status =
        value ? cli_find_linear_output(point->base, name, &held[k], diag) : malformed("--hold", text, diag);
    if (!status) status = read_quantity(value, point->base->y_unit[held[k]], &target[k], diag);
    if (status) return cli_place(diag, "--hold", 0), status;
  }
  return BRAMAH_OK;
}

/* Any parameter may be free, so one of them can be meant too. */
static bramah_status find_free(const cli_operating_point *point, const char *name, size_t *out,
                               bramah_diag *diag)
{
  bramah_diag parameter;
  size_t found;
  const bramah_status status = cli_find_linear_input(point->base, name, out, diag);
  if (!status || strchr(diag->message, '?')) return status;
  if (bramah_plant_parameter_index(&point->machine.plant, name, &found, &parameter) &&
      strchr(parameter.message, '?'))
    *diag = parameter;
  return status;
}

static bramah_status read_trim(const cli_arguments *arguments, cli_operating_point *point, bramah_diag *diag)
{
  const size_t n_held = (size_t)count_of(arguments, "hold"), n_free = (size_t)count_of(arguments, "free");
  size_t *held = calloc(n_held + 1, sizeof *held), *free_ones = calloc(n_free + 1, sizeof *free_ones);
  double *target = calloc(n_held + 1, sizeof *target);
  point->trim = (bramah_trim){n_held, held, target, n_free, free_ones};
  if (!held || !free_ones || !target) return no_memory(diag);
  bramah_status status = read_held(arguments, point, n_held, held, target, diag);
  for (size_t k = 0; k < n_free && !status; k++)
    status = find_free(point, cli_value_again(arguments, "free", k), &free_ones[k], diag);
  if (status) return cli_place(diag, "--free", 0), status;
  point->work =
      calloc(bramah_equilibrium_work(point->linearization, n_held, n_free) + 1, sizeof *point->work);
  return point->work ? BRAMAH_OK : no_memory(diag);
}

bramah_status cli_operating_point_again(cli_operating_point *point, bramah_diag *diag)
{
  bramah_coupled *plant = point->machine.coupled;
  bramah_linearization *l = point->linearization;
  bramah_status status = BRAMAH_OK;
  if (point->at_rest && point->trim.n_held + point->trim.n_free)
    status = bramah_trim_find(l, plant, &point->trim, point->work, &point->rest, diag);
  else if (point->at_rest)
    status = bramah_settle(l, plant, point->work, &point->rest, diag);
  if (!status) status = bramah_linearization_run(l, plant, diag);
  if (!status && point->has_sensors) cli_linear_sensors_fill(&point->sensors, point->base);
  return status;
}

/* ---- a row of a log ---- */

/* Times of a log [s]: the first, the last, the longest way from one row to the next. */
typedef struct extent {
  double first, last, gap;
} extent;

static bramah_status check_reach(const bramah_log_reader *log, const extent *e, double wanted,
                                 bramah_diag *diag)
{
  const char *path = bramah_log_path(log);
  if (!(e->first <= e->last))
    return cli_fail(diag, BRAMAH_E_VALUE, path, 0, "--at", "the log has no row with a time");
  if (wanted >= e->first - e->gap && wanted <= e->last + e->gap) return BRAMAH_OK;
  return cli_fail(diag, BRAMAH_E_VALUE, path, 0, "--at",
                  "%.9g s is not in the log, which goes from %.9g s to %.9g s", wanted, e->first, e->last);
}

/* The row nearest to a time, into values [columns]. */
static bramah_status find_row(bramah_log_reader *log, size_t time, double wanted, size_t n, double *values,
                              unsigned char *present, bramah_diag *diag)
{
  double *row = calloc(n + 1, sizeof *row), best = (double)INFINITY;
  unsigned char *filled = calloc(n + 1, 1);
  extent e = {(double)INFINITY, -(double)INFINITY, 0.0};
  bramah_status status = row && filled ? BRAMAH_OK : no_memory(diag);
  for (int end = 0; !status && !end;) {
    status = bramah_log_next(log, row, filled, &end, diag);
    if (status || end || !filled[time]) continue;
    if (e.first <= e.last) e.gap = fmax(e.gap, row[time] - e.last);
    e.first = fmin(e.first, row[time]);
    e.last = fmax(e.last, row[time]);
    if (!(fabs(row[time] - wanted) < best)) continue;
    best = fabs(row[time] - wanted);
    memcpy(values, row, n * sizeof *row);
    memcpy(present, filled, n);
  }
  free(row);
  free(filled);
  return status ? status : check_reach(log, &e, wanted, diag);
}

/* Value of a column of that row, if the log has it. */
static bramah_status take_cell(const bramah_log_reader *log, const char *name, const char *unit,
                               const double *values, const unsigned char *present, double *out,
                               bramah_diag *diag)
{
  size_t column;
  const bramah_status status = bramah_log_find(log, name, unit, &column, diag);
  if (status) return status;
  if (!present[column])
    return cli_fail(diag, BRAMAH_E_COLUMN, bramah_log_path(log), 0, name, "is empty at this time");
  *out = values[column];
  return BRAMAH_OK;
}

/* Friction states, which logs do not hold, stay; everything else must be there. */
static bramah_status place_from(cli_operating_point *point, bramah_log_reader *log, double wanted,
                                double *room, bramah_diag *diag)
{
  const bramah_linear_system *s = point->base;
  const bramah_plant *plant = &point->machine.plant;
  const size_t n = bramah_log_n_columns(log), held = s->n - s->n_friction;
  double *values = room, *x = values + n, *u = x + s->n;
  unsigned char *present = (unsigned char *)(u + plant->n_input);
  size_t time;
  bramah_status status = bramah_log_find(log, "t", "s", &time, diag);
  if (!status) status = find_row(log, time, wanted, n, values, present, diag);
  if (!status) tell_time(point, "the row of a log at ", values[time]);
  memcpy(x, s->x, s->n * sizeof *x);
  for (size_t i = 0; i < held && !status; i++)
    status = take_cell(log, s->x_name[i], s->x_unit[i], values, present, &x[i], diag);
  for (size_t i = 0; i < plant->n_input && !status; i++)
    status = take_cell(log, s->u_name[i], s->u_unit[i], values, present, &u[i], diag);
  if (!status) status = plant->set_inputs(plant->self, u, diag);
  return status ? status : bramah_linearization_place(point->linearization, point->machine.coupled, x, diag);
}

static bramah_status place(cli_operating_point *point, bramah_diag *diag)
{
  bramah_log_reader *log = NULL;
  bramah_status status = bramah_log_open(point->file, diag, &log);
  if (status) return status;
  const size_t n = bramah_log_n_columns(log);
  double *room = calloc(2 * n + point->base->n + point->machine.plant.n_input + 1, sizeof *room);
  status = room ? place_from(point, log, 1e-9 * (double)point->file_ns, room, diag) : no_memory(diag);
  cli_place(diag, point->file, 0);
  free(room);
  bramah_log_close(log);
  return status;
}

static bramah_status go(const cli_arguments *arguments, cli_operating_point *point, int64_t until,
                        bramah_diag *diag)
{
  bramah_status status = open_machine(arguments, point, diag);
  if (!status) status = cli_parameters_read(arguments, &point->machine.plant, &point->parameters, diag);
  if (!status) status = make_linearization(arguments, point, diag);
  if (!status) status = simulate(point, until, diag);
  if (!status && point->file[0]) status = place(point, diag);
  if (!status) status = bramah_linearization_run(point->linearization, point->machine.coupled, diag);
  if (!status) status = set_commands(arguments, point, diag);
  if (!status) status = read_trim(arguments, point, diag);
  if (!status) status = cli_operating_point_again(point, diag);
  cli_place(diag, arguments->operands[0], 0);
  return status;
}

/* FILE@TIME */
static int read_file_at(const cli_arguments *arguments, cli_operating_point *point, const char *at,
                        const char *sign)
{
  double seconds;
  bramah_diag diag;
  if (sign == at || (size_t)(sign - at) >= sizeof point->file ||
      read_quantity(sign + 1, "s", &seconds, &diag) || fabs(seconds) > 9e9)
    return cli_wrong_use(arguments->command, "--at: '%s' is not of the form FILE@TIME", at);
  snprintf(point->file, sizeof point->file, "%.*s", (int)(sign - at), at);
  point->file_ns = llround(seconds * 1e9);
  point->at_rest = cli_value(arguments, "hold") || cli_value(arguments, "free");
  return 0;
}

static int read_at(const cli_arguments *arguments, cli_operating_point *point, int64_t *until)
{
  const char *at = cli_value(arguments, "at");
  const int trims = cli_value(arguments, "hold") || cli_value(arguments, "free");
  *until = 0;
  const char *sign = at ? strrchr(at, '@') : NULL;
  if (sign) return read_file_at(arguments, point, at, sign);
  point->at_rest = trims || (at && strcmp(at, "rest") == 0);
  if (at && strcmp(at, "rest") != 0 && strcmp(at, "start") != 0) {
    const int wrong = cli_time_value(arguments, "at", until);
    if (wrong) return wrong;
  }
  snprintf(point->what, sizeof point->what, "at %s%s", at ? at : "the start",
           trims ? ", then in equilibrium" : "");
  return 0;
}

int cli_operating_point_open(const cli_arguments *arguments, cli_operating_point *point)
{
  bramah_diag diag;
  int64_t until;
  *point = (cli_operating_point){0};
  const int wrong = read_at(arguments, point, &until);
  if (wrong) return wrong;
  bramah_diag_clear(&diag);
  return go(arguments, point, until, &diag) ? cli_report(&diag) : CLI_OK;
}

void cli_operating_point_close(cli_operating_point *point)
{
  if (point->has_sensors) cli_linear_sensors_free(&point->sensors);
  bramah_linearization_free(point->linearization);
  cli_parameters_free(&point->parameters);
  bramah_machine_plant_close(&point->machine);
  free(point->columns);
  free(point->work);
  free((void *)(uintptr_t)point->trim.held); /* ours, const for the library */
  free((void *)(uintptr_t)point->trim.target);
  free((void *)(uintptr_t)point->trim.free);
}
