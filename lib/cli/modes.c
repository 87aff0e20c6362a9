/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah modes: eigenvalues of a machine about a point and what takes part in them; responses. */
#include "lib/cli/commands.h"
#include "bramah/log.h"
#include "lib/cli/operating_point.h"
#include "lib/cli/output_files.h"
#include "lib/cli/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FREQUENCIES = 400 };

typedef struct analysis {
  const bramah_linear_system *system;
  bramah_operating_point_info point;
  bramah_modes *modes;
  size_t n_bodies, n_shares;
  double *share; /* [n_modes x n_shares] of the energy, by body and volume */
} analysis;

/* ---- words ---- */

static const char *stability_name(bramah_stability stability)
{
  return stability == BRAMAH_STABLE ? "stable" : stability == BRAMAH_MARGINAL ? "marginal" : "unstable";
}

static void print_verdict(const bramah_modes *m, FILE *out)
{
  const int drifts = m->stability == BRAMAH_UNSTABLE && m->n_unstable == 0;
  fprintf(out, "%s: of %zu eigenvalues %zu grow, %zu neither grow nor decay",
          drifts ? "drifts" : stability_name(m->stability), m->n, m->n_unstable, m->n_marginal);
  if (m->n_defective)
    fprintf(out, ", %zu are defective%s", m->n_defective,
            drifts ? " (share an eigenvector: grow in proportion to time)" : " (share an eigenvector)");
  fputc('\n', out);
}

static const char *thing_name(const analysis *a, size_t i)
{
  return i < a->n_bodies ? bramah_linearization_body(a->point.model, i)
                         : bramah_model_volume_name(a->point.model, i - a->n_bodies);
}

static const char *state_name(const analysis *a, size_t i) { return a->system->x_name[i]; }

/* The largest of some shares, as "crank 62 %, v2 30 %". */
static void name_shares(size_t n, const double *share, const char *(*name)(const analysis *, size_t),
                        const analysis *of, char *out, size_t size)
{
  unsigned char told[512] = {0};
  size_t used = 0;
  out[0] = '\0';
  for (int k = 0; k < 3; k++) {
    size_t best = n;
    for (size_t i = 0; i < n && i < sizeof told; i++)
      if (!told[i] && (best == n || share[i] > share[best])) best = i;
    if (best == n || share[best] < 0.01 || used >= size) return;
    told[best] = 1;
    used += (size_t)snprintf(out + used, size - used, "%s%s %.0f %%", k ? ", " : "", name(of, best),
                             100.0 * share[best]);
  }
}

/* ---- tables ---- */

static void add_mode(cli_table *table, const analysis *a, size_t k)
{
  const bramah_mode *m = &a->modes->mode[k];
  char text[CLI_CELL];
  cli_table_add(table, "%zu", k + 1);
  if (m->pair)
    cli_table_add(table, "%.6g ± %.6gi", m->re, m->im);
  else
    cli_table_add(table, "%.6g", m->re);
  if (m->pair)
    cli_table_add_number(table, m->frequency);
  else
    cli_table_add(table, "%s", "");
  if (m->pair || m->stability != BRAMAH_MARGINAL)
    cli_table_add(table, "%.4g", m->damping);
  else
    cli_table_add(table, "%s", "");
  cli_table_add(table, "%s%s", stability_name(m->stability), m->defective ? ", defective" : "");
  name_shares(a->n_shares, a->share + k * a->n_shares, thing_name, a, text, sizeof text);
  cli_table_add(table, "%s", text);
  name_shares(a->modes->n, m->participation, state_name, a, text, sizeof text);
  cli_table_add(table, "%s", text);
}

static void print_modes(const analysis *a, FILE *out)
{
  static const char *const header[] = {"mode", "eigenvalue [1/s]", "f [Hz]",          "damping",
                                       "",     "energy in",        "states concerned"};
  cli_table table = cli_table_make("Modes, slowest first", "rrrrlll", header);
  for (size_t k = 0; k < a->modes->n_modes; k++) add_mode(&table, a, k);
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
                                       "told apart by", "off by",      "largest real part [1/s]"};
  static const char *const name[] = {"minimal", "redundant", "penalty (1e7, 1, 10)"};
  cli_table table = cli_table_make("Approaches, in all joint coordinates", "lrrrrr", header);
  double *work = calloc(bramah_linearization_constrained_work(a->point.model) + 1, sizeof *work);
  bramah_constrained system;
  bramah_status status =
      work ? bramah_linearization_constrained(a->point.linearization, a->point.plant, work, &system, diag)
           : cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
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
  free(work);
  return status;
}

/* ---- files ---- */

static FILE *open_file(const char *path, bramah_diag *diag)
{
  FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
  if (!file) cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", strerror(errno));
  return file;
}

static bramah_status close_file(FILE *file, const char *path, bramah_diag *diag)
{
  const int failed = ferror(file) != 0 || (file != stdout && fclose(file) != 0);
  return failed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written") : BRAMAH_OK;
}

static bramah_status write_modes(const analysis *a, const char *path, bramah_diag *diag)
{
  const bramah_linear_system *s = a->system;
  FILE *file = open_file(path, diag);
  if (!file) return diag->status;
  fputs("mode,re[1/s],im[1/s],frequency[Hz],damping,condition,error[1/s],stability,defective", file);
  for (size_t i = 0; i < a->n_shares; i++) fprintf(file, ",energy:%s", thing_name(a, i));
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
  return close_file(file, path, diag);
}

/* INPUT:OUTPUT over the frequencies w [FREQUENCIES]; re, im are scratch of the same length. */
static bramah_status write_response(const analysis *a, const char *text, const double *w, double *re,
                                    double *im, FILE *file, bramah_diag *diag)
{
  const char *colon = strchr(text, ':');
  char input[256];
  size_t u, y;
  if (!colon || colon == text || !colon[1])
    return cli_fail(diag, BRAMAH_E_SYNTAX, "--response", 0, text, "is not of the form INPUT:OUTPUT");
  snprintf(input, sizeof input, "%.*s", (int)(colon - text), text);
  bramah_status status = bramah_linear_input(a->system, input, &u, diag);
  if (!status) status = bramah_linear_output(a->system, colon + 1, &y, diag);
  if (!status) status = bramah_frequency_response(a->system, y, u, FREQUENCIES, w, re, im, diag);
  for (size_t k = 0; !status && k < FREQUENCIES; k++)
    fprintf(file, "%s,%.17g,%.17g,%.17g\n", text, w[k], re[k], im[k]);
  cli_place(diag, "--response", 0);
  return status;
}

static bramah_status write_responses(const analysis *a, const cli_arguments *arguments, const char *path,
                                     bramah_diag *diag)
{
  double w[3 * FREQUENCIES];
  const char *text;
  FILE *file = open_file(path, diag);
  if (!file) return diag->status;
  bramah_response_frequencies(a->modes, FREQUENCIES, w);
  fputs("response,w[rad/s],re,im\n", file);
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && (text = cli_value_again(arguments, "response", k)); k++)
    status = write_response(a, text, w, w + FREQUENCIES, w + 2 * FREQUENCIES, file, diag);
  if (!status) return close_file(file, path, diag);
  if (file != stdout) fclose(file);
  return status;
}

/* ---- run ---- */

/* Eigenvalues say what becomes of a small disturbance only where the equations stay as they are. */
static void note_motion(const bramah_linear_system *s)
{
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
}

static bramah_status find_modes(analysis *a, bramah_diag *diag)
{
  bramah_status status = bramah_modes_new(a->system, diag, &a->modes);
  if (status) return status;
  while (bramah_linearization_body(a->point.model, a->n_bodies)) a->n_bodies++;
  a->n_shares = a->n_bodies + a->system->n_pressure;
  a->share = calloc(a->modes->n_modes * a->n_shares + 1, sizeof *a->share);
  if (!a->share) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  return bramah_modes_energies(a->modes, a->point.model, a->point.linearization, a->point.plant, a->share,
                               diag);
}

static bramah_status run_at(const cli_arguments *arguments, const bramah_operating_point *point,
                            bramah_diag *diag)
{
  analysis a = {.system = bramah_operating_point_system(point), .point = bramah_operating_point_get(point)};
  const char *output = cli_value(arguments, "output"), *response = cli_value(arguments, "curves");
  char where[400];
  FILE *out = cli_summary_stream(1, &output);
  bramah_status status = find_modes(&a, diag);
  if (!status) {
    cli_say_where(arguments, point, where, sizeof where);
    fprintf(out, "%s\n", where);
    print_verdict(a.modes, out);
    note_motion(a.system);
    print_modes(&a, out);
  }
  if (!status && cli_value(arguments, "approaches")) status = print_approaches(&a, out, diag);
  if (!status && output) status = write_modes(&a, output, diag);
  if (!status && response) status = write_responses(&a, arguments, response, diag);
  bramah_modes_free(a.modes);
  free(a.share);
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
    {"response", "INPUT:OUTPUT", "frequency response, for --curves; may be repeated", 0, 1},
    {"curves", "FILE", "CSV file for these responses; - is standard output", 0, 0},
    {0}};

const cli_command cli_modes_command = {
    .name = "modes",
    .operands = "MACHINE",
    .summary = "Eigenvalues of a machine about a point: stability, frequency, damping, what takes part",
    .details =
        "Linearizes the machine as 'bramah linearize' does and tells its modes. Energy: how the energy of a "
        "mode\n"
        "is shared by the motion of bodies and the oil of volumes. States concerned: participation factors.\n"
        "Marginal is what rounding does not let one tell from neither growing nor decaying; trapped oil and\n"
        "closed valves give such modes. Defective modes share their eigenvector; a marginal one among them\n"
        "grows in proportion to time.\n",
    .example = "bramah modes four-bar.yaml --at rest --output modes.csv",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
