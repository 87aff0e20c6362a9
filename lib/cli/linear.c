/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah linearize and bramah modes: a machine as a linear system about a point; A, B, C, D with the names of rows and
 * columns, or its eigenvalues, what takes part in them, and responses. */
#include "bramah/linear.h"
#include "bramah/log.h"
#include "lib/cli/cli.h"
#include "lib/cli/modes_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the point ---- */

#define OPERATING_POINT_OPTIONS                                                                              \
  {"at", "POINT",                                                                                            \
   "start (default), rest, a time or FILE@TIME\nA time (\"2 s\") is simulated; FILE@TIME is a row of a "     \
   "log; at rest the machine has come to rest from its start, where trapped oil stays trapped.",             \
   0, 0},                                                                                                    \
      {"set", "PATH=VALUE", "another value for a key of the machine file", 0, 1},                            \
      {"parameter", "NAME=VALUE", "set a parameter of the plant at the start", 0, 1},                        \
      {"command", "NAME=VALUE", "another command [V] from the point on", 0, 1},                              \
      {"hold", "OUTPUT=VALUE", "an equilibrium where an output has this value", 0, 1},                       \
      {"free", "INPUT", "a command or parameter it may choose", 0, 1},                                       \
      {"input", "PARAMETER", "a parameter that counts as an input", 0, 1},                                   \
  {                                                                                                          \
    "sensors", "STUDY", "also the sensors of this study as outputs", 0, 0                                    \
  }

/* bramah_operating_point_new as these options say. */
static bramah_status open_point(const cli_arguments *arguments, bramah_operating_point **out,
                                bramah_diag *diag)
{
  bramah_operating_point_options o;
  bramah_operating_point_options_default(&o);
  const struct {
    const char *option;
    const char *const **values;
    size_t *n;
  } lists[] = {{"set", &o.set, &o.n_set},
               {"parameter", &o.parameter, &o.n_parameter},
               {"command", &o.command, &o.n_command},
               {"hold", &o.hold, &o.n_hold},
               {"free", &o.free, &o.n_free},
               {"input", &o.input, &o.n_input}};
  const char **next = calloc((size_t)arguments->n_given + 1, sizeof *next), **all = next, *text;
  *out = NULL;
  bramah_diag_clear(diag);
  if (!all) return cli_no_memory(diag);
  if (cli_value(arguments, "at")) o.at = cli_value(arguments, "at");
  o.sensors = cli_value(arguments, "sensors");
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    *lists[i].values = next;
    while ((text = cli_value_again(arguments, lists[i].option, *lists[i].n))) {
      *next++ = text;
      ++*lists[i].n;
    }
  }
  const bramah_status status = bramah_operating_point_new(arguments->operands[0], &o, diag, out);
  free(all);

  /* An option at fault is named as it is written. */
  int is_option = status && strcmp(diag->file, "at") == 0;
  for (size_t i = 0; status && i < sizeof lists / sizeof lists[0]; i++)
    is_option |= strcmp(diag->file, lists[i].option) == 0;
  if (is_option) {
    memmove(diag->file + 2, diag->file, strlen(diag->file) + 1);
    memcpy(diag->file, "--", 2);
  }
  return status;
}

/* "four-bar, linearized at 2 s" */
static void print_where(FILE *out, const cli_arguments *arguments, const bramah_operating_point *point)
{
  const char *at = cli_value(arguments, "at");
  const int trims = cli_value(arguments, "hold") || cli_value(arguments, "free");
  fprintf(out, "%s, linearized at ", bramah_model_get_info(point->model).name);
  if (at && strchr(at, '@'))
    fprintf(out, "the row of a log at %.9g s", point->time);
  else if (point->time > 0.0)
    fprintf(out, "%.9g s", point->time);
  else
    fputs(at ? at : "the start", out);
  fputs(trims ? ", then in equilibrium" : "", out);
  const bramah_linear_system *s = point->system;
  for (size_t i = 0; i < s->n_velocity && point->at_rest; i++) /* shafts that turn there */
    if (s->x[s->n_position + i] != 0.0)
      fprintf(out, ", %s %.4g %s", s->x_name[s->n_position + i], s->x[s->n_position + i],
              s->x_unit[s->n_position + i]);
  fputc('\n', out);
}

/* Largest acceleration and pressure rate there. */
static void find_rates(const bramah_linear_system *s, double *acceleration, double *pressure)
{
  *acceleration = *pressure = 0.0;
  for (size_t i = 0; i < s->n_velocity; i++)
    *acceleration = fmax(*acceleration, fabs(s->xd[s->n_position + i]));
  for (size_t i = 0; i < s->n_pressure; i++)
    *pressure = fmax(*pressure, fabs(s->xd[s->n_position + s->n_velocity + i]));
}

/* ---- linearize ---- */

typedef struct matrices {
  const bramah_linear_system *s;
  const double *A, *B; /* continuous or of discrete time */
  double dt;           /* its step [s]; 0: continuous */
} matrices;

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

static bramah_status write_matrices(const char *path, const matrices *m, bramah_diag *diag)
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

static void print_summary(const cli_arguments *arguments, const bramah_operating_point *point,
                          const char *output)
{
  const bramah_linear_system *s = point->system;
  FILE *out = cli_summary_stream(1, &output);
  print_where(out, arguments, point);
  fprintf(out,
          "order %zu: positions %zu, velocities %zu, pressures %zu, spools %zu, friction states %zu\n"
          "(%zu coordinates less %zu constraints; the redundant equations would be of order %zu)\n",
          s->n, s->n_position, s->n_velocity, s->n_pressure, s->n_spool, s->n_friction, s->n_coordinates,
          s->n_constraints, 2 * s->n_coordinates + s->n_pressure + s->n_spool + s->n_friction);
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
  double acceleration, pressure, rate = 0.0;
  find_rates(s, &acceleration, &pressure);
  for (size_t i = 0; i < s->n_velocity; i++) rate = fmax(rate, fabs(s->x[s->n_position + i]));
  if (point->at_rest)
    fprintf(out, "equilibrium found after %d iterations\n", point->rest.iterations);
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

static int run_linearize(const cli_arguments *arguments)
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
  bramah_status status = open_point(arguments, &point, &diag);
  if (!status && output) {
    const bramah_linear_system *s = point->system;
    matrices m = {s, s->A, s->B, 1e-9 * (double)discrete};
    double *F = NULL;
    if (discrete) {
      F = calloc(s->n * (s->n + s->n_u) + 1, sizeof *F);
      double *G = F ? F + s->n * s->n : NULL;
      status = F ? bramah_discretise(s, m.dt, F, G, &diag) : cli_no_memory(&diag);
      m.A = F;
      m.B = G;
    }
    if (!status) status = write_matrices(output, &m, &diag);
    free(F);
  }
  if (!status) print_summary(arguments, point, output);
  bramah_operating_point_free(point);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option linearize_options[] = {
    OPERATING_POINT_OPTIONS,
    {"discrete", "TIME", "A and B of discrete time, with this step\nInputs are held over each step.", 0, 0},
    {"output", "FILE", "the matrices, CSV or MAT; - is standard output", 0, 0},
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
        "--hold and --free search an equilibrium with given outputs, say --hold crank.angle=\"50 deg\" "
        "--free valve; what "
        "cannot\n"
        "balance is named.\n\n"
        "The file is in SI. Its row of a state holds value, rate, row of A, row of B; its row y:NAME of an\n"
        "output value, row of C, row of D. A .mat file holds A, B, C, D, x, xd, u, y (value and rate of the\n"
        "state, inputs, outputs), dt (0: continuous), and x_name, x_unit and so on.\n",
    .example = "bramah linearize four-bar.yaml --at rest --output A.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = linearize_options,
    .run = run_linearize};

/* ---- modes ---- */

enum { FREQUENCIES = 400 };

typedef struct analysis {
  const bramah_operating_point *point;
  const bramah_linear_system *system; /* its equations */
  bramah_modes *modes;
  size_t n_shares;
  const char **share_name; /* [n_shares] bodies, then volumes */
  double *share;           /* [n_modes x n_shares] of the energy */
} analysis;

static const char *stability_name(bramah_stability stability)
{
  return stability == BRAMAH_STABLE ? "stable" : stability == BRAMAH_MARGINAL ? "marginal" : "unstable";
}

/* The largest of some shares, as "crank 62 %, v2 30 %". */
static void add_shares(cli_table *table, size_t n, const double *share, const char *const *name)
{
  unsigned char named[512] = {0};
  char out[CLI_CELL] = "";
  size_t used = 0;
  for (int k = 0; k < 3; k++) {
    size_t best = n;
    for (size_t i = 0; i < n && i < sizeof named; i++)
      if (!named[i] && (best == n || share[i] > share[best])) best = i;
    if (best == n || share[best] < 0.01 || used >= sizeof out) break;
    named[best] = 1;
    used += (size_t)snprintf(out + used, sizeof out - used, "%s%s %.0f %%", k ? ", " : "", name[best],
                             100.0 * share[best]);
  }
  cli_table_add(table, "%s", out);
}

/* Stability, a note where the machine is in motion (*moves), and a table of the modes, which is returned. */
static cli_table print_modes(const analysis *a, int *moves, FILE *out)
{
  static const char *const header[] = {"mode", "eigenvalue [1/s]", "f [Hz]",          "damping",
                                       "",     "energy in",        "states concerned"};
  const bramah_linear_system *s = a->system;
  const bramah_modes *modes = a->modes;
  const int drifts = modes->stability == BRAMAH_UNSTABLE && modes->n_unstable == 0;
  fprintf(out, "%s: of %zu eigenvalues %zu grow, %zu neither grow nor decay",
          drifts ? "drifts" : stability_name(modes->stability), modes->n, modes->n_unstable,
          modes->n_marginal);
  if (modes->n_defective)
    fprintf(out, ", %zu are defective%s", modes->n_defective,
            drifts ? " (share an eigenvector: grow in proportion to time)" : " (share an eigenvector)");
  fputc('\n', out);

  /* Eigenvalues say what becomes of a small disturbance only where the equations stay as they are. */
  double acceleration, pressure;
  find_rates(s, &acceleration, &pressure);
  *moves = acceleration > 1e-3 || pressure > 1e3;
  if (*moves)
    cli_note(
        "the machine is not in equilibrium here (acceleration up to %.3g, pressure rate up to %.3g bar/s): "
        "its eigenvalues are those of the moment",
        acceleration, 1e-5 * pressure);

  cli_table table = cli_table_make("Modes, slowest first", "rrrrlll", header);
  for (size_t k = 0; k < modes->n_modes; k++) {
    const bramah_mode *m = &modes->mode[k];
    cli_table_add(&table, "%zu", k + 1);
    cli_table_add(&table, m->pair ? "%.6g ± %.6gi" : "%.6g", m->re, m->im);
    cli_table_add(&table, "%s\t%s\t%s%s", CLI_NUMBER(m->pair ? m->frequency : (double)NAN),
                  CLI_NUMBER(m->pair || m->stability != BRAMAH_MARGINAL ? m->damping : (double)NAN),
                  stability_name(m->stability), m->defective ? ", defective" : "");
    add_shares(&table, a->n_shares, a->share + k * a->n_shares, a->share_name);
    add_shares(&table, modes->n, m->participation, s->x_name);
  }
  cli_table_print(&table, out);
  return table;
}

static bramah_status print_approaches(const analysis *a, FILE *out, bramah_diag *diag)
{
  static const char *const header[] = {"approach",      "eigenvalues", "spurious",
                                       "recognized by", "off by",      "largest real part [1/s]"};
  static const char *const name[] = {"minimal", "redundant", "penalty (1e7, 1, 10)"};
  cli_table table = cli_table_make("Approaches, in all joint coordinates", "lrrrrr", header);
  bramah_constrained system;
  bramah_status status =
      bramah_linearization_constrained(a->point->linearization, a->point->plant, &system, diag);
  for (int i = 0; i < 3 && !status; i++) {
    bramah_spectrum *s;
    double growth = -(double)INFINITY, off = 0.0;
    status = bramah_spectrum_new(&system, (bramah_approach)i, NULL, diag, &s);
    if (status) break;
    for (size_t k = 0; k < s->n; k++) growth = fmax(growth, s->re[k]);

    /* Largest distance of an eigenvalue of the modes from the nearest one, against its size or 1/s. */
    for (size_t k = 0; k < a->modes->n_modes; k++) {
      const bramah_mode *mode = &a->modes->mode[k];
      double least = (double)INFINITY;
      for (size_t j = 0; j < s->n; j++)
        least = fmin(least, hypot(s->re[j] - mode->re, fabs(s->im[j]) - mode->im));
      off = fmax(off, least / fmax(hypot(mode->re, mode->im), 1.0));
    }
    cli_table_add(&table, "%s\t%zu\t%zu\t%s\t%.1e\t%s", name[i], s->n, s->n_spurious, CLI_NUMBER(s->gap), off,
                  CLI_NUMBER(growth));
    bramah_spectrum_free(s);
  }
  if (!status) cli_table_print(&table, out);
  cli_table_free(&table);
  return status;
}

static bramah_status write_modes(const analysis *a, const char *path, bramah_diag *diag)
{
  const bramah_linear_system *s = a->system;
  FILE *file = cli_create(path, diag);
  if (!file) return diag->status;
  fputs("mode,re[1/s],im[1/s],frequency[Hz],damping,condition,error[1/s],stability,defective", file);
  for (size_t i = 0; i < a->n_shares; i++) fprintf(file, ",energy:%s", a->share_name[i]);
  for (size_t i = 0; i < s->n; i++) fprintf(file, ",participation:%s", s->x_name[i]);
  for (size_t i = 0; i < s->n; i++)
    fprintf(file, ",re:%s[%s],im:%s[%s]", s->x_name[i], s->x_unit[i], s->x_name[i], s->x_unit[i]);
  fputc('\n', file);
  for (size_t k = 0; k < a->modes->n_modes; k++) {
    const bramah_mode *m = &a->modes->mode[k];
    fprintf(file, "%zu,%.17g,%.17g,%.17g,%.17g,%.6g,%.6g,%s,%d", k + 1, m->re, m->im, m->frequency,
            m->damping, m->condition, m->error, stability_name(m->stability), m->defective);
    for (size_t i = 0; i < a->n_shares; i++) fprintf(file, ",%.9g", a->share[k * a->n_shares + i]);
    for (size_t i = 0; i < s->n; i++) fprintf(file, ",%.9g", m->participation[i]);
    for (size_t i = 0; i < s->n; i++) fprintf(file, ",%.17g,%.17g", m->shape_re[i], m->shape_im[i]);
    fputc('\n', file);
  }
  return cli_finish(file, path, diag);
}

/* Every --response INPUT:OUTPUT, over the frequencies of the modes. */
static bramah_status write_responses(const analysis *a, const cli_arguments *arguments, const char *path,
                                     bramah_diag *diag)
{
  double w[FREQUENCIES], re[FREQUENCIES], im[FREQUENCIES];
  const char *text;
  FILE *file = cli_create(path, diag);
  if (!file) return diag->status;
  bramah_response_frequencies(a->modes, FREQUENCIES, w);
  fputs("response,w[rad/s],re,im\n", file);
  bramah_status status = BRAMAH_OK;
  for (size_t n = 0; !status && (text = cli_value_again(arguments, "response", n)); n++) {
    const char *colon = strchr(text, ':');
    char input[256];
    size_t u, y;
    if (!colon || colon == text || !colon[1]) {
      status = cli_fail(diag, BRAMAH_E_SYNTAX, "--response", 0, text, "is not of the form INPUT:OUTPUT");
      break;
    }
    snprintf(input, sizeof input, "%.*s", (int)(colon - text), text);
    status = bramah_linear_input(a->system, input, &u, diag);
    if (!status) status = bramah_linear_output(a->system, colon + 1, &y, diag);
    if (!status) status = bramah_frequency_response(a->system, y, u, FREQUENCIES, w, re, im, diag);
    for (size_t k = 0; !status && k < FREQUENCIES; k++)
      fprintf(file, "%s,%.17g,%.17g,%.17g\n", text, w[k], re[k], im[k]);
    cli_place(diag, "--response", 0);
  }
  bramah_diag closing;
  const bramah_status closed = cli_finish(file, path, status ? &closing : diag);
  return status ? status : closed;
}

/* Modes, and how bodies and volumes share the energy of each. */
static bramah_status find_modes(analysis *a, bramah_diag *diag)
{
  bramah_status status = bramah_modes_new(a->system, diag, &a->modes);
  for (size_t k = 0; !status && k < a->modes->n_modes; k++) {
    const bramah_mode *m = &a->modes->mode[k];
    bramah_energies e;
    status = bramah_linearization_energies(a->point->linearization, a->point->plant, m->shape_re, m->shape_im,
                                           &e, diag);
    if (status) break;
    const size_t n = e.n_bodies + e.n_volumes;
    if (k == 0) {
      a->n_shares = n;
      a->share = calloc(a->modes->n_modes * n + 1, sizeof *a->share);
      a->share_name = calloc(n + 1, sizeof *a->share_name);
      if (!a->share || !a->share_name) return cli_no_memory(diag);
    }
    double *share = a->share + k * n, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
      const size_t volume = i - e.n_bodies;
      a->share_name[i] = i < e.n_bodies ? e.body_name[i] : e.volume_name[volume];
      share[i] = i < e.n_bodies ? e.body[i] : e.volume[volume];
      sum += share[i];
    }
    for (size_t i = 0; i < n && sum > 0.0; i++) share[i] /= sum;
  }
  return status;
}

static int run_modes(const cli_arguments *arguments)
{
  const char *output = cli_value(arguments, "output"), *curves = cli_value(arguments, "curves"),
             *report = cli_value(arguments, "report"),
             *at = cli_value(arguments, "at"), *const files[] = {arguments->operands[0], output, curves};
  bramah_operating_point *point;
  bramah_diag diag;
  if (!curves != !cli_value(arguments, "response"))
    return cli_wrong_use(arguments->command, "--response and --curves go together");
  if (cli_check_output(output, 1, files, &diag) || cli_check_output(curves, 2, files, &diag) ||
      cli_check_output(report, 3, files, &diag) || cli_check_place(report, &diag))
    return cli_report(&diag);
  FILE *out = cli_summary_stream(1, &output);
  analysis a = {0};
  cli_table table = {0};
  int moves = 0;
  bramah_status status = open_point(arguments, &point, &diag);
  if (!status) {
    a.point = point;
    a.system = point->system;
    status = find_modes(&a, &diag);
  }
  if (!status) {
    print_where(out, arguments, point);
    table = print_modes(&a, &moves, out);
  }
  if (!status && cli_value(arguments, "approaches")) status = print_approaches(&a, out, &diag);
  if (!status && output) status = write_modes(&a, output, &diag);
  if (!status && curves) status = write_responses(&a, arguments, curves, &diag);
  if (!status && report)
    status = cli_modes_report(report, arguments->operands[0], at ? at : "the start", moves, point, a.modes,
                              &table, &diag);
  cli_table_free(&table);
  bramah_modes_free(a.modes);
  free(a.share);
  free(a.share_name);
  bramah_operating_point_free(point);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option modes_options[] = {
    OPERATING_POINT_OPTIONS,
    {"approaches", NULL, "also from the equations with constraints\nThe eigenvalues, in three ways.", 0, 0},
    {"output", "FILE", "the modes with their shapes, CSV", 0, 0},
    {"response", "INPUT:OUTPUT", "frequency response, for --curves", 0, 1},
    {"curves", "FILE", "these responses, CSV; - is standard output", 0, 0},
    {"report", "FILE", "HTML page with the modes as motions", 0, 0},
    {0}};

const cli_command cli_modes_command = {
    .name = "modes",
    .operands = "MACHINE",
    .summary = "Eigenvalues of a machine at a point: stability, frequency, damping",
    .details =
        "Linearizes the machine as 'bramah linearize' does and prints its modes: eigenvalue, frequency,\n"
        "damping; how bodies (by their motion) and volumes (by their oil) share the energy of the mode; "
        "which\n"
        "states take part, by participation factors.\n\n"
        "Marginal: rounding does not tell whether the mode grows or decays; trapped oil and closed valves "
        "give\n"
        "such modes. Defective: modes that share an eigenvector; a marginal one grows in proportion to "
        "time.\n",
    .example = "bramah modes four-bar.yaml --at rest --output modes.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = modes_options,
    .run = run_modes};
