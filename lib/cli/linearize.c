/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah linearize: A, B, C and D of a machine with the names of rows and columns. */
#include "lib/cli/cli.h"
#include "bramah/log.h"
#include "lib/cli/operating_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matrices {
  const bramah_linear_system *s;
  const double *A, *B; /* continuous or of discrete time */
  double dt;           /* its step [s]; 0: continuous */
} matrices;

/* ---- file ---- */

static void put_number(FILE *file, double value) { fprintf(file, ",%.17g", value); }

static bramah_status write_mat(const char *path, const matrices *m, bramah_diag *diag)
{
  const bramah_linear_system *s = m->s;
  const bramah_mat_variable all[] = {{"A", s->n, s->n, m->A, NULL},
                                     {"B", s->n, s->n_u, m->B, NULL},
                                     {"C", s->n_y, s->n, s->C, NULL},
                                     {"D", s->n_y, s->n_u, s->D, NULL},
                                     {"x", s->n, 1, s->x, NULL},
                                     {"xd", s->n, 1, s->xd, NULL},
                                     {"u", s->n_u, 1, s->u, NULL},
                                     {"y", s->n_y, 1, s->y, NULL},
                                     {"dt", 1, 1, &m->dt, NULL},
                                     {"x_name", s->n, 1, NULL, s->x_name},
                                     {"x_unit", s->n, 1, NULL, s->x_unit},
                                     {"u_name", s->n_u, 1, NULL, s->u_name},
                                     {"u_unit", s->n_u, 1, NULL, s->u_unit},
                                     {"y_name", s->n_y, 1, NULL, s->y_name},
                                     {"y_unit", s->n_y, 1, NULL, s->y_unit}};
  return bramah_mat_write(path, sizeof all / sizeof all[0], all, diag);
}

static bramah_status write_file(const char *path, const matrices *m, bramah_diag *diag)
{
  if (bramah_log_is_mat(path)) return write_mat(path, m, diag);
  const bramah_linear_system *s = m->s;
  FILE *file = cli_create(path, diag);
  if (!file) return diag->status;
  fputs("row,unit,value,rate", file);
  for (size_t i = 0; i < s->n; i++) fprintf(file, ",%s[%s]", s->x_name[i], s->x_unit[i]);
  for (size_t i = 0; i < s->n_u; i++) fprintf(file, ",%s[%s]", s->u_name[i], s->u_unit[i]);
  fputc('\n', file);
  for (size_t i = 0; i < s->n; i++) {
    fprintf(file, "%s,%s", s->x_name[i], s->x_unit[i]);
    put_number(file, s->x[i]);
    put_number(file, s->xd[i]);
    for (size_t j = 0; j < s->n; j++) put_number(file, m->A[i * s->n + j]);
    for (size_t j = 0; j < s->n_u; j++) put_number(file, m->B[i * s->n_u + j]);
    fputc('\n', file);
  }
  for (size_t i = 0; i < s->n_y; i++) {
    fprintf(file, "y:%s,%s", s->y_name[i], s->y_unit[i]);
    put_number(file, s->y[i]);
    fputc(',', file);
    for (size_t j = 0; j < s->n; j++) put_number(file, s->C[i * s->n + j]);
    for (size_t j = 0; j < s->n_u; j++) put_number(file, s->D[i * s->n_u + j]);
    fputc('\n', file);
  }
  return cli_finish(file, path, diag);
}

/* ---- summary ---- */

static void print_summary(const cli_arguments *arguments, const bramah_operating_point *point,
                          const char *output)
{
  const bramah_linear_system *s = bramah_operating_point_system(point);
  const bramah_operating_point_info info = bramah_operating_point_get(point);
  const bramah_linearization_counts c = bramah_linearization_count(info.model);
  char where[400];
  FILE *out = cli_summary_stream(1, &output);
  cli_say_where(arguments, point, where, sizeof where);
  fprintf(out, "%s\n", where);
  fprintf(out,
          "order %zu: positions %zu, velocities %zu, pressures %zu, spools %zu, friction states %zu\n"
          "(%zu coordinates less %zu constraints; the redundant equations would be of order %zu)\n",
          s->n, s->n_position, s->n_velocity, s->n_pressure, s->n_spool, s->n_friction, c.n_coordinates,
          c.n_constraints, c.n_redundant);
  /* Spools among the outputs that are none of the states. */
  size_t n = 0;
  for (size_t i = 0; i < s->n_y; i++) {
    const char *end = strrchr(s->y_name[i], '.');
    int is_state = 0;
    for (size_t k = 0; k < s->n; k++) is_state |= strcmp(s->x_name[k], s->y_name[i]) == 0;
    if (end && strcmp(end, ".spool") == 0 && !is_state)
      fprintf(out, "%s%s", n++ ? ", " : "without lag, no states: ", s->y_name[i]);
  }
  if (n) fputc('\n', out);
  double acceleration = 0.0, pressure = 0.0, rate = 0.0;
  for (size_t i = 0; i < s->n_velocity; i++) {
    rate = fmax(rate, fabs(s->x[s->n_position + i]));
    acceleration = fmax(acceleration, fabs(s->xd[s->n_position + i]));
  }
  for (size_t i = 0; i < s->n_pressure; i++)
    pressure = fmax(pressure, fabs(s->xd[s->n_position + s->n_velocity + i]));
  if (info.at_rest)
    fprintf(out, "equilibrium found after %d iterations\n", info.rest.iterations);
  else
    fprintf(out, "no equilibrium was searched for\n");
  fprintf(out, "largest rate %.3g, acceleration %.3g (rad or m, s), pressure rate %.3g Pa/s\n", rate,
          acceleration, pressure);
  fprintf(out, "states:\n");
  for (size_t i = 0; i < s->n; i++) fprintf(out, "  %s = %.9g %s\n", s->x_name[i], s->x[i], s->x_unit[i]);
  for (size_t i = 0; i < s->n_u; i++)
    fprintf(out, "%s  %s = %.9g %s\n", i ? "" : "inputs:\n", s->u_name[i], s->u[i], s->u_unit[i]);
  if (output) fprintf(out, "matrices: %s\n", output);
}

/* ---- run ---- */

static int run(const cli_arguments *arguments)
{
  const char *output = cli_value(arguments, "output");
  int64_t discrete = 0;
  bramah_operating_point *point;
  bramah_diag diag;
  const int wrong = cli_time_value(arguments, "discrete", &discrete);
  if (wrong) return wrong;
  if (cli_value(arguments, "discrete") && !output)
    return cli_wrong_use(arguments->command, "--discrete means nothing without --output");
  if (output && cli_check_output(output, 1, arguments->operands, &diag)) return cli_report(&diag);
  bramah_status status = cli_operating_point(arguments, &point, &diag);
  if (!status && output) {
    const bramah_linear_system *s = bramah_operating_point_system(point);
    matrices m = {s, s->A, s->B, 1e-9 * (double)discrete};
    double *F = NULL;
    if (discrete) {
      F = calloc(s->n * (s->n + s->n_u) + 1, sizeof *F);
      double *G = F ? F + s->n * s->n : NULL;
      status = F ? bramah_discretise(s, m.dt, F, G, &diag) : cli_no_memory(&diag);
      m.A = F;
      m.B = G;
    }
    if (!status) status = write_file(output, &m, &diag);
    free(F);
  }
  if (!status) print_summary(arguments, point, output);
  bramah_operating_point_free(point);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option options[] = {
    CLI_OPERATING_POINT_OPTIONS,
    {"discrete", "TIME", "A and B of discrete time, inputs held over steps of this length", 0, 0},
    {"output", "FILE", "CSV or .mat file for the matrices; - is standard output", 0, 0},
    {0}};

const cli_command cli_linearize = {
    .name = "linearize",
    .operands = "MACHINE",
    .summary = "Linear equations of a machine at a point: A, B, C, D with names",
    .details =
        "The states are independent positions and velocities, pressures, spools and friction states: no\n"
        "constraints are left. A spool without lag (time_constant 0) is no state: its command acts at once, "
        "in\n"
        "B and D.\n\n"
        "--at rest lets the machine come to rest from its start; trapped oil stays trapped. --hold and "
        "--free\n"
        "search an equilibrium with given outputs, say --hold crank.angle=\"50 deg\" --free valve; what "
        "cannot\n"
        "balance is named.\n\n"
        "The file is in SI. Its row of a state holds value, rate, row of A, row of B; its row y:NAME of an\n"
        "output value, row of C, row of D. A .mat file holds A, B, C, D, x, xd, u, y (value and rate of the\n"
        "state, inputs, outputs), dt (0: continuous), and x_name, x_unit and so on.\n",
    .example = "bramah linearize four-bar.yaml --at rest --input crank.load --output A.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
