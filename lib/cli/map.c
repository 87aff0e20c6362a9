/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah map: which column of a log is which sensor of a machine, as a study to begin with. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "bramah/mapping.h"
#include "lib/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A text of the file or the log as a YAML scalar; quotes in it are doubled. */
static void put_text(FILE *file, const char *text)
{
  fputc('\'', file);
  for (; *text; text++) fprintf(file, *text == '\'' ? "''" : "%c", *text);
  fputc('\'', file);
}

/* Column, unit, sign and scale, as far as the header does not say them. */
static void put_source(FILE *file, const bramah_mapped_column *c)
{
  fputs("column: ", file);
  put_text(file, c->name);
  if (!c->unit)
    fprintf(file, ", unit: counts, scale: %.6g %s", c->per_unit, c->si);
  else if (strcmp(c->unit, c->header_unit) != 0)
    fprintf(file, ", unit: %s", c->unit);
  if (c->sign < 0) fputs(", sign: -1", file);
  if (c->is_gauge) fputs(", reference: gauge", file);
}

/* A value in the unit that people read. */
static void put_value(FILE *file, const char *key, double value, const char *si, int digits)
{
  const cli_readable r = cli_readable_unit(si);
  fprintf(file, ", %s: %.*g %s", key, digits, value * r.factor, r.unit);
}

static void put_evidence(FILE *file, const bramah_mapped_column *c)
{
  if (c->role == BRAMAH_MAPPED_TO_SENSOR) {
    fprintf(file, "  # goes with the model by a correlation of %.4f, %.3g times as far in %s", c->correlation,
            c->ratio, c->unit);
    if (c->second[0]) fprintf(file, "; next best: %s, %.4f", c->second, c->second_correlation);
    fputc('\n', file);
  }
  if (c->doubt[0]) fprintf(file, "  # doubtful: %s\n", c->doubt);
}

/* A column's name as one of a sensor: of letters, digits, _ and -. */
static void make_name(const char *column, char *out, size_t n)
{
  static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  snprintf(out, n, "%s", column);
  for (char *at = out; *(at += strspn(at, allowed));) *at = '_';
}

/* With its number behind it where a column before becomes the same. */
static void put_name(FILE *file, const bramah_mapping *m, size_t i)
{
  char name[512], other[512];
  size_t same = 0;
  make_name(m->column[i].name, name, sizeof name);
  for (size_t k = 0; k < i && !same; k++) {
    make_name(m->column[k].name, other, sizeof other);
    if (strcmp(name, other) == 0) same = i + 1;
  }
  if (same)
    fprintf(file, "'%s_%zu'", name, same);
  else
    fprintf(file, "'%s'", name);
}

static void put_sensor(FILE *file, const bramah_mapping *m, size_t i)
{
  const bramah_mapped_column *c = &m->column[i];
  const bramah_sensor_options *o = &c->sensor;
  const int is_turning = o->axis[0] != 0.0 || o->axis[1] != 0.0 || o->axis[2] != 0.0;
  put_evidence(file, c);
  fputs("  ", file);
  put_name(file, m, i);
  fprintf(file, ": {type: %s, %s: ", bramah_sensor_kind_name(o->kind), bramah_sensor_place_key(o));
  put_text(file, o->at);
  if (is_turning) fprintf(file, ", axis: [%g, %g, %g]", o->axis[0], o->axis[1], o->axis[2]);
  fputs(", ", file);
  put_source(file, c);
  put_value(file, "sigma", o->sigma > 0.0 ? o->sigma : 1e-6, c->si, 3);
  if (o->period_ns > 0) fprintf(file, ", rate: %.6g Hz", 1e9 / (double)o->period_ns);
  if (o->delay_ns > 0) fprintf(file, ", delay: %.3g ms", 1e-6 * (double)o->delay_ns);
  if (c->offset != 0.0) put_value(file, "offset", c->offset, c->si, 6);
  fputs("}\n", file);
}

static void put_filter(FILE *file, const bramah_machine_plant *machine)
{
  const bramah_model_info info = bramah_model_get_info(machine->model);
  fputs("\n# What the filter takes for possible at the start and from step to step: to begin with. 'bramah "
        "tune' finds "
        "better.\njoints:\n",
        file);
  for (size_t i = 0; i < info.n_dof; i++) {
    const int j = info.independent_joints[i];
    fprintf(file, "  '%s': {", info.joint_names[j]);
    fputs(info.joint_turns[j]
              ? "position_sigma: 2 deg, rate_sigma: 5 deg/s, acceleration_noise: 0.01 rad/s^2/Hz^0.5}\n"
              : "position_sigma: 20 mm, rate_sigma: 50 mm/s, acceleration_noise: 0.02 m/s^2/Hz^0.5}\n",
          file);
  }
  if (info.n_volumes) fputs("volumes:\n", file);
  for (size_t i = 0; i < info.n_volumes; i++)
    fprintf(file, "  '%s': {sigma: 2 bar, noise: 0.5 bar/s^0.5}\n", info.volume_names[i]);
}

static void put_study(FILE *file, const bramah_mapping *m, const bramah_machine_plant *machine,
                      const char *machine_file, const char *log, const char *dbc)
{
  fprintf(file, "# Proposed by bramah map from %.4g s of ", m->duration);
  put_text(file, log);
  fprintf(file,
          ": %zu columns, %zu of them doubtful.\n# Look through it, then try it: bramah check, bramah "
          "replay.\nstudy: ",
          m->n, m->n_doubtful);
  put_text(file, bramah_model_get_info(machine->model).name);
  fputs("\nmachine: ", file);
  put_text(file, machine_file);
  fputs("\n", file);
  if (dbc) {
    fputs("log: {dbc: ", file);
    put_text(file, dbc);
    fputs("}\n", file);
  }
  for (size_t i = 0; i < m->n; i++) {
    const bramah_mapped_column *c = &m->column[i];
    if (c->role != BRAMAH_MAPPED_TO_TIME) continue;
    put_evidence(file, c);
    fputs("time: {", file);
    put_source(file, c);
    fputs("}\n", file);
  }
  int n_inputs = 0, n_sensors = 0;
  for (size_t i = 0; i < m->n; i++) {
    const bramah_mapped_column *c = &m->column[i];
    if (c->role != BRAMAH_MAPPED_TO_INPUT) continue;
    if (!n_inputs++) fputs("\ninputs:\n", file);
    put_evidence(file, c);
    fprintf(file, "  '%s': {", c->input);
    put_source(file, c);
    fputs("}\n", file);
  }
  for (size_t i = 0; i < m->n; i++) {
    if (m->column[i].role != BRAMAH_MAPPED_TO_SENSOR) continue;
    if (!n_sensors++) fputs("\nsensors:\n", file);
    put_sensor(file, m, i);
  }
  for (size_t i = 0; i < m->n; i++) {
    const bramah_mapped_column *c = &m->column[i];
    if (c->role != BRAMAH_MAPPED_TO_NOTHING) continue;
    fputs("\n# left out: ", file);
    put_text(file, c->name);
    fprintf(file, " %s\n", c->doubt[0] ? c->doubt : "is another time");
  }
  put_filter(file, machine);
}

static void print_summary(FILE *file, const bramah_mapping *m)
{
  static const char *const header[] = {"column", "is", "in", "sign", "correlation", "doubt"};
  cli_table table = cli_table_make("Columns", "lllrrl", header);
  for (size_t i = 0; i < m->n; i++) {
    const bramah_mapped_column *c = &m->column[i];
    const bramah_sensor_options *o = &c->sensor;
    cli_table_add(&table, "%.40s", c->name);
    if (c->role == BRAMAH_MAPPED_TO_SENSOR)
      cli_table_add(&table, "%s at %.40s", bramah_sensor_kind_name(o->kind), o->at);
    else
      cli_table_add(&table, "%.40s%s",
                    c->role == BRAMAH_MAPPED_TO_TIME    ? "time"
                    : c->role == BRAMAH_MAPPED_TO_INPUT ? c->input
                                                        : "?",
                    c->role == BRAMAH_MAPPED_TO_INPUT ? ", command" : "");
    cli_table_add(&table, "%.20s\t%s\t%s\t%.70s", c->unit ? c->unit : "",
                  c->role == BRAMAH_MAPPED_TO_NOTHING ? ""
                  : c->sign < 0                       ? "-"
                                                      : "+",
                  CLI_NUMBER(c->correlation), c->doubt);
  }
  cli_table_print(&table, file);
  cli_table_free(&table);
  fprintf(file, "%zu of %zu columns doubtful; the model was run %zu times over %.4g s\n", m->n_doubtful, m->n,
          m->n_runs, m->duration);
  if (m->n_more)
    fprintf(file, "%zu more columns were not looked at: save those that are needed\n", m->n_more);
}

/* A file as a study in that folder finds it. */
static const char *file_for(const char *name, const char *output, char *room)
{
  if (!name || strcmp(output, "-") == 0 || !strchr(output, '/')) return name;
  return realpath(name, room) ? room : name;
}

static int run(const cli_arguments *arguments)
{
  const char *log = arguments->operands[0], *path = arguments->operands[1],
             *output = cli_value(arguments, "output"), *dbc = cli_value(arguments, "dbc");
  bramah_machine_plant machine = {0};
  bramah_mapping *mapping = NULL;
  bramah_diag diag;
  static char room[2][8192];
  bramah_diag_clear(&diag);
  const size_t length = strlen(log);
  if (length > 5 && strcmp(log + length - 5, ".yaml") == 0)
    return cli_wrong_use(arguments->command, "the log comes first, then the machine: '%s' is no log", log);
  if (!output) output = "-";
  const char *const inputs[] = {log, path};
  bramah_status status = cli_check_output(output, 2, inputs, &diag);
  if (!status) status = cli_check_place(output, &diag);
  if (!status) {
    status = bramah_machine_plant_open(&machine, path, 0, NULL, 0, &diag);
    cli_place(&diag, status ? path : NULL, 0);
  }
  if (!status) status = bramah_mapping_new(&machine, log, dbc, &diag, &mapping);
  FILE *file = status ? NULL : cli_create(output, &diag);
  if (file) {
    put_study(file, mapping, &machine, file_for(path, output, room[0]), log, file_for(dbc, output, room[1]));
    status = cli_finish(file, output, &diag);
  } else if (!status)
    status = diag.status;
  int code = status ? cli_report(&diag) : CLI_OK;
  if (!code) print_summary(cli_summary_stream(1, &output), mapping);
  if (!code && (mapping->n_doubtful || mapping->n_more)) code = CLI_UNTRUSTED;
  bramah_mapping_free(mapping);
  bramah_machine_plant_close(&machine);
  return code;
}

static const cli_option options[] = {{"output", "FILE", "the study, YAML; default standard output", 0, 0},
                                     {"dbc", "FILE", "what is in the frames of a log of CAN", 0, 0},
                                     {0}};

const cli_command cli_map = {
    .name = "map",
    .operands = "LOG MACHINE",
    .summary = "Propose a study: which column of a log is which sensor",
    .details = "The first 20 s of the log are compared with the motion of the model, which is run with its "
               "columns as "
               "commands.\nEach column gets sensor or command, unit, sign, scatter, rate, delay and the "
               "evidence for it, "
               "as a study to edit.\n\nThe exit code is 3 if a column is doubtful.\n",
    .example = "bramah map log.csv excavator.yaml --output study.yaml",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .run = run};
