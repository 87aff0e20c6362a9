/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah modes: eigenvalues of a machine about a point and what takes part in them; responses. */
#include "lib/cli/cli.h"
#include "lib/cli/operating_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREQUENCIES = 400 };

typedef struct analysis {
  const bramah_operating_point *point;
  const bramah_linear_system *system; /* its equations */
  bramah_modes *modes;
  size_t n_shares;
  const char **share_name; /* [n_shares] bodies, then volumes */
  double *share;           /* [n_modes x n_shares] of the energy */
} analysis;

/* ---- words ---- */

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

/* ---- tables ---- */

/* Stability, a note where the machine is in motion, and a table of the modes. */
static void print_modes(const analysis *a, FILE *out)
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
  double acceleration = 0.0, pressure = 0.0;
  for (size_t i = 0; i < s->n_velocity; i++)
    acceleration = fmax(acceleration, fabs(s->xd[s->n_position + i]));
  for (size_t i = 0; i < s->n_pressure; i++)
    pressure = fmax(pressure, fabs(s->xd[s->n_position + s->n_velocity + i]));
  if (acceleration > 1e-3 || pressure > 1e3)
    cli_note(
        "the machine is not in equilibrium here (acceleration up to %.3g, pressure rate up to %.3g bar/s): "
        "its eigenvalues are those of the moment",
        acceleration, 1e-5 * pressure);

  cli_table table = cli_table_make("Modes, slowest first", "rrrrlll", header);
  for (size_t k = 0; k < modes->n_modes; k++) {
    const bramah_mode *m = &modes->mode[k];
    cli_table_add(&table, "%zu", k + 1);
    cli_table_add(&table, m->pair ? "%.6g ± %.6gi" : "%.6g", m->re, m->im);
    cli_table_add_number(&table, m->pair ? m->frequency : (double)NAN);
    cli_table_add_number(&table, m->pair || m->stability != BRAMAH_MARGINAL ? m->damping : (double)NAN);
    cli_table_add(&table, "%s%s", stability_name(m->stability), m->defective ? ", defective" : "");
    add_shares(&table, a->n_shares, a->share + k * a->n_shares, a->share_name);
    add_shares(&table, modes->n, m->participation, s->x_name);
  }
  cli_table_print(&table, out);
  cli_table_free(&table);
}

/* Largest distance of an eigenvalue of the modes from the nearest one of the spectrum, against its size or
 * 1/s. */
static double distance(const bramah_modes *modes, const bramah_spectrum *s)
{
  double largest = 0.0;
  for (size_t k = 0; k < modes->n_modes; k++) {
    const bramah_mode *m = &modes->mode[k];
    double least = (double)INFINITY;
    for (size_t i = 0; i < s->n; i++) least = fmin(least, hypot(s->re[i] - m->re, fabs(s->im[i]) - m->im));
    largest = fmax(largest, least / fmax(hypot(m->re, m->im), 1.0));
  }
  return largest;
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
    double growth = -(double)INFINITY;
    status = bramah_spectrum_new(&system, (bramah_approach)i, NULL, diag, &s);
    if (status) break;
    for (size_t k = 0; k < s->n; k++) growth = fmax(growth, s->re[k]);
    cli_table_add(&table, "%s", name[i]);
    cli_table_add(&table, "%zu", s->n);
    cli_table_add(&table, "%zu", s->n_spurious);
    cli_table_add_number(&table, s->gap);
    cli_table_add(&table, "%.1e", distance(a->modes, s));
    cli_table_add_number(&table, growth);
    bramah_spectrum_free(s);
  }
  if (!status) cli_table_print(&table, out);
  cli_table_free(&table);
  return status;
}

/* ---- files ---- */

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

/* ---- run ---- */

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

static bramah_status run_at(const cli_arguments *arguments, const bramah_operating_point *point,
                            bramah_diag *diag)
{
  analysis a = {.point = point, .system = point->system};
  const char *output = cli_value(arguments, "output"), *response = cli_value(arguments, "curves");
  char where[400];
  FILE *out = cli_summary_stream(1, &output);
  bramah_status status = find_modes(&a, diag);
  if (!status) {
    cli_say_where(arguments, point, where, sizeof where);
    fprintf(out, "%s\n", where);
    print_modes(&a, out);
  }
  if (!status && cli_value(arguments, "approaches")) status = print_approaches(&a, out, diag);
  if (!status && output) status = write_modes(&a, output, diag);
  if (!status && response) status = write_responses(&a, arguments, response, diag);
  bramah_modes_free(a.modes);
  free(a.share);
  free(a.share_name);
  return status;
}

static int run(const cli_arguments *arguments)
{
  const char *const files[] = {arguments->operands[0], cli_value(arguments, "output"),
                               cli_value(arguments, "curves")};
  bramah_operating_point *point;
  bramah_diag diag;
  if (!files[2] != !cli_value(arguments, "response"))
    return cli_wrong_use(arguments->command, "--response and --curves go together");
  if (cli_check_output(files[1], 1, files, &diag) || cli_check_output(files[2], 2, files, &diag))
    return cli_report(&diag);
  bramah_status status = cli_operating_point(arguments, &point, &diag);
  if (!status) status = run_at(arguments, point, &diag);
  bramah_operating_point_free(point);
  return status ? cli_report(&diag) : CLI_OK;
}

static const cli_option options[] = {
    CLI_OPERATING_POINT_OPTIONS,
    {"approaches", NULL, "also find the eigenvalues from the equations with constraints, in three ways", 0,
     0},
    {"output", "FILE", "CSV file for the modes with their shapes; - is standard output", 0, 0},
    {"response", "INPUT:OUTPUT", "frequency response, for --curves", 0, 1},
    {"curves", "FILE", "CSV file for these responses; - is standard output", 0, 0},
    {0}};

const cli_command cli_modes_command = {
    .name = "modes",
    .operands = "MACHINE",
    .summary = "Eigenvalues of a machine at a point: stability, frequency, damping, what takes part",
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
    .options = options,
    .run = run};
