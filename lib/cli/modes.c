/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah modes: eigenvalues of a machine about a point, what takes part in them, and what follows from
 * them. */
#include "lib/cli/commands.h"
#include "lib/cli/modes_curves.h"
#include "lib/cli/output_files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RESPONSES = 16 };

typedef struct analysis {
  cli_operating_point point;
  cli_modes modes;
  size_t n_responses;
  cli_response response[MOST_RESPONSES];
  int has_locus;
  cli_locus locus;
  double *hankel; /* [n], NULL: not asked for */
  int has_approaches;
  cli_table approaches;
  char verdict[256];
  char where[320];
} analysis;

/* ---- what is computed ---- */

static bramah_status find_responses(analysis *a, const cli_arguments *arguments, bramah_diag *diag)
{
  const char *text;
  bramah_status status = BRAMAH_OK;
  while (!status && (text = cli_value_again(arguments, "response", a->n_responses))) {
    if (a->n_responses == MOST_RESPONSES)
      return cli_fail(diag, BRAMAH_E_ARGUMENT, NULL, 0, text, "there are too many responses");
    status = cli_response_make(&a->point, &a->modes, text, &a->response[a->n_responses++], diag);
  }
  return status;
}

/* Columns of B and rows of C that the responses name. */
static void keep_named(const analysis *a, const bramah_linear_system *s, double *B, double *C)
{
  const size_t k = a->n_responses;
  for (size_t r = 0; r < k; r++) {
    for (size_t i = 0; i < s->n; i++) B[i * k + r] = s->B[i * s->n_u + a->response[r].u];
    memcpy(C + r * s->n, s->C + a->response[r].y * s->n, s->n * sizeof *C);
  }
}

/* From the inputs to the outputs that the responses name, or from all to all. */
static bramah_status find_hankel(analysis *a, int64_t horizon_ns, bramah_diag *diag)
{
  const double horizon = horizon_ns ? 1e-9 * (double)horizon_ns : (double)INFINITY;
  const size_t n = a->point.system->n, k = a->n_responses;
  bramah_linear_system s = *a->point.system;
  a->hankel = calloc(n + 2 * n * k + 1, sizeof *a->hankel);
  if (!a->hankel) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  double *B = a->hankel + n, *C = B + n * k;
  if (k) {
    keep_named(a, &s, B, C);
    s.n_u = s.n_y = k;
    s.B = B;
    s.C = C;
  }
  return bramah_hankel(&s, horizon, a->hankel, diag);
}

static bramah_status analyse(analysis *a, const cli_arguments *arguments, int64_t horizon_ns,
                             bramah_diag *diag)
{
  const char *locus = cli_value(arguments, "locus");
  bramah_diag_clear(diag);
  bramah_status status = cli_modes_find(&a->point, &a->modes, diag);
  if (status) return status;
  cli_modes_verdict(&a->modes, a->verdict, sizeof a->verdict);
  snprintf(a->where, sizeof a->where, "%s, linearized %s", bramah_model_name(a->point.machine.model),
           a->point.what);
  status = find_responses(a, arguments, diag);
  if (!status && cli_value(arguments, "hankel")) status = find_hankel(a, horizon_ns, diag);
  if (!status && cli_value(arguments, "approaches")) {
    a->has_approaches = 1;
    status = cli_approaches_table(&a->point, &a->modes, &a->approaches, diag);
  }
  if (!status && locus) {
    a->has_locus = 1;
    status = cli_locus_make(&a->point, locus, &a->locus, diag);
  }
  return status;
}

/* ---- what is told ---- */

static cli_table hankel_table(const analysis *a)
{
  static const char *const header[] = {"number", "Hankel singular value", "of the largest"};
  cli_table table = cli_table_make(a->n_responses ? "From input to output of the responses (SI)"
                                                  : "From all inputs to all outputs (SI)",
                                   "rrr", header);
  for (size_t i = 0; i < a->point.system->n; i++) {
    cli_table_add(&table, "%zu", i + 1);
    cli_table_add_number(&table, a->hankel[i]);
    cli_table_add_number(&table, a->hankel[0] > 0.0 ? a->hankel[i] / a->hankel[0] : 0.0);
  }
  return table;
}

/* To the terminal, or onto the page. */
static void tell_table(cli_table table, FILE *out, int page)
{
  if (page)
    cli_page_table(out, &table);
  else
    cli_table_print(&table, out);
  cli_table_free(&table);
}

static void tell_others(const analysis *a, int shapes, FILE *out, int page)
{
  for (size_t k = 0; shapes && k < a->modes.modes->n_modes; k++) {
    char title[64];
    tell_table(cli_shape_table(&a->point, &a->modes, k, title, sizeof title), out, page);
  }
  if (a->hankel) tell_table(hankel_table(a), out, page);
  if (a->has_approaches && page) cli_page_table(out, &a->approaches);
  if (a->has_approaches && !page) cli_table_print(&a->approaches, out);
  if (a->has_locus) tell_table(cli_locus_table(&a->locus), out, page);
}

static void eigenvalue_chart(const analysis *a, FILE *page)
{
  const bramah_modes *m = a->modes.modes;
  double *x = calloc(4 * m->n + 1, sizeof *x), *y = x + 2 * m->n;
  size_t n = 0;
  if (!x) return;
  for (size_t k = 0; k < m->n_modes; k++)
    for (int half = 0; half < (m->mode[k].pair ? 2 : 1); half++, n++) {
      x[n] = m->mode[k].re;
      y[n] = half ? -m->mode[k].im : m->mode[k].im;
    }
  const cli_curve curve = {.n = n, .x = x, .y = y, .dots = 1};
  cli_page_chart(page, &(cli_chart){"Eigenvalues",
                                    {"real part [1/s]", CLI_AXIS_SIGNED},
                                    {"imaginary part [1/s]", CLI_AXIS_SIGNED},
                                    1,
                                    &curve});
  free(x);
}

static bramah_status write_page(const analysis *a, const char *path, bramah_diag *diag)
{
  FILE *page = fopen(path, "w");
  if (!page) return cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written: %s", strerror(errno));
  cli_page_begin(page, a->where);
  cli_page_note(page, "stability", a->verdict);
  tell_table(cli_modes_table(&a->point, &a->modes), page, 1);
  cli_page_open(page);
  eigenvalue_chart(a, page);
  for (size_t i = 0; i < a->n_responses; i++) cli_response_charts(page, &a->point, &a->response[i]);
  if (a->has_locus) cli_locus_charts(page, &a->locus);
  cli_page_close(page);
  cli_page_open(page);
  tell_others(a, 1, page, 1);
  cli_page_close(page);
  cli_page_end(page);
  const int failed = ferror(page) != 0 || fclose(page) != 0;
  return failed ? cli_fail(diag, BRAMAH_E_FILE, path, 0, NULL, "cannot be written") : BRAMAH_OK;
}

/* Eigenvalues say what becomes of a small disturbance only where the equations stay as they are. */
static void note_motion(const analysis *a)
{
  const bramah_linear_system *s = a->point.system;
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

static bramah_status tell(const analysis *a, const cli_arguments *arguments, bramah_diag *diag)
{
  const char *output = cli_value(arguments, "output"), *report = cli_value(arguments, "report"),
             *curves = cli_value(arguments, "curves");
  FILE *out = cli_summary_stream(1, &output);
  fprintf(out, "%s\n%s\n", a->where, a->verdict);
  note_motion(a);
  tell_table(cli_modes_table(&a->point, &a->modes), out, 0);
  tell_others(a, cli_value(arguments, "shapes") != NULL, out, 0);
  bramah_status status = output ? cli_modes_write(&a->point, &a->modes, output, diag) : BRAMAH_OK;
  if (!status && curves)
    status = cli_curves_write(curves, a->n_responses, a->response, a->has_locus ? &a->locus : NULL, diag);
  if (!status && report) status = write_page(a, report, diag);
  return status;
}

/* ---- run ---- */

static int check_options(const cli_arguments *arguments, int64_t *horizon_ns)
{
  const char *hankel = cli_value(arguments, "hankel");
  bramah_diag diag;
  const char *const files[] = {arguments->operands[0], cli_value(arguments, "output"),
                               cli_value(arguments, "curves")};
  if (cli_value(arguments, "curves") && !cli_value(arguments, "response") && !cli_value(arguments, "locus"))
    return cli_wrong_use(arguments->command, "--curves needs --response or --locus");
  if (cli_check_output(files[1], 1, files, &diag) || cli_check_output(files[2], 2, files, &diag) ||
      cli_check_output(cli_value(arguments, "report"), 3, files, &diag))
    return cli_report(&diag);
  return hankel && strcmp(hankel, "ever") != 0 ? cli_time_value(arguments, "hankel", horizon_ns) : 0;
}

static void clean_up(analysis *a)
{
  for (size_t i = 0; i < a->n_responses; i++) cli_response_free(&a->response[i]);
  if (a->has_locus) cli_locus_free(&a->locus);
  free(a->hankel);
  cli_table_free(&a->approaches);
  cli_modes_free(&a->modes);
  cli_operating_point_close(&a->point);
}

static int run(const cli_arguments *arguments)
{
  int64_t horizon_ns = 0;
  bramah_diag diag;
  int code = check_options(arguments, &horizon_ns);
  if (code) return code;
  analysis *a = calloc(1, sizeof *a);
  if (!a) return CLI_FAILED;
  code = cli_operating_point_open(arguments, &a->point);
  if (!code && (analyse(a, arguments, horizon_ns, &diag) || tell(a, arguments, &diag)))
    code = cli_report(&diag);
  clean_up(a);
  free(a);
  return code;
}

static const cli_option options[] = {
    CLI_OPERATING_POINT_OPTIONS,
    {"shapes", NULL, "also tell the shape of every mode", 0, 0},
    {"approaches", NULL, "also find the eigenvalues from the equations with constraints, in three ways", 0,
     0},
    {"hankel", "HORIZON",
     "Hankel singular values over a time (\"2 s\"), or ever for a stable machine; of --response", 0, 0},
    {"response", "INPUT:OUTPUT", "frequency response, for --curves and --report; may be repeated", 0, 1},
    {"locus", "NAME=FROM:TO[:N]", "eigenvalues over a parameter of the plant, values in SI", 0, 0},
    {"output", "FILE", "CSV file for the modes; - is standard output", 0, 0},
    {"curves", "FILE", "CSV file for responses (at: rad/s) and locus", 0, 0},
    {"report", "FILE", "HTML page with tables and plots", 0, 0},
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
        "grows in proportion to time. With --at rest or --hold the equilibrium is searched anew for each "
        "value of "
        "--locus.\n",
    .example = "bramah modes four-bar.yaml --at rest --response valve:crank.rate --report modes.html",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .run = run};
