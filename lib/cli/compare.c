/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah compare: how far two files are apart. */
#include "lib/cli/compare.h"
#include "bramah/units.h"
#include "lib/cli/commands.h"
#include "lib/cli/output_files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static int read_factor(const cli_arguments *arguments, const char *name, double *out)
{
  const char *text = cli_value(arguments, name);
  bramah_diag diag;
  if (!text) return 0;
  bramah_diag_clear(&diag);
  if (bramah_quantity_parse(text, "1", out, &diag) == BRAMAH_OK && *out >= 0.0) return 0;
  return cli_wrong_use(arguments->command, "--%s: '%s' is not a number from 0 on", name, text);
}

static int read_options(const cli_arguments *arguments, cli_comparison *c)
{
  const char *time = cli_value(arguments, "time");
  *c = (cli_comparison){.path = {arguments->operands[0], arguments->operands[1]},
                        .time = time ? time : "t",
                        .json_path = cli_value(arguments, "json"),
                        .all = cli_value(arguments, "all") != NULL,
                        .from_ns = INT64_MIN,
                        .to_ns = INT64_MAX};
  c->columns.turns = cli_value(arguments, "turns") != NULL;
  int code = read_factor(arguments, "relative", &c->columns.relative);
  if (!code) code = read_factor(arguments, "sigmas", &c->columns.sigmas);
  if (!code) code = cli_moment_value(arguments, "from", &c->from_ns);
  if (!code) code = cli_moment_value(arguments, "to", &c->to_ns);
  if (!code) code = cli_time_value(arguments, "within", &c->within_ns);
  if (code) return code;
  const int stream = strcmp(c->path[0], "-") == 0 || strcmp(c->path[1], "-") == 0;
  if (strcmp(c->path[0], c->path[1]) == 0 && stream)
    return cli_wrong_use(arguments->command, "only one of the files can be standard input");
  if (stream && c->columns.relative > 0.0)
    return cli_wrong_use(arguments->command, "--relative reads the files twice: it needs files, not a pipe");
  return 0;
}

/* "crank.angle=0.1 deg" */
static int read_tolerance(const cli_arguments *arguments, const cli_columns *columns, const char *text)
{
  const char *equals = strchr(text, '=');
  bramah_diag diag;
  char name[256];
  if (!equals || (size_t)(equals - text) >= sizeof name)
    return cli_wrong_use(arguments->command, "--tolerance: '%s' is not of the form COLUMN=VALUE", text);
  snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
  cli_shared *shared = cli_columns_find(columns, name);
  if (!shared) return cli_wrong_use(arguments->command, "--tolerance: no column '%s' is compared", name);
  bramah_diag_clear(&diag);
  if (bramah_quantity_parse(equals + 1, shared->expected, &shared->tolerance, &diag) != BRAMAH_OK)
    return cli_wrong_use(arguments->command, "--tolerance %s: %s", name, diag.message);
  if (shared->tolerance >= 0.0) return 0;
  return cli_wrong_use(arguments->command, "--tolerance %s: '%s' is negative", name, equals + 1);
}

static int read_tolerances(const cli_arguments *arguments, const cli_columns *columns)
{
  int code = 0;
  const char *text;
  for (size_t i = 0; !code && (text = cli_value_again(arguments, "tolerance", i)); i++)
    code = read_tolerance(arguments, columns, text);
  return code;
}

/* ---- running ---- */

static bramah_status open_pairs(cli_comparison *c, bramah_diag *diag)
{
  const bramah_status status = cli_pairs_open(&c->pairs, c->path, c->time, diag);
  c->pairs.from_ns = c->from_ns;
  c->pairs.to_ns = c->to_ns;
  c->pairs.within_ns = (uint64_t)c->within_ns;
  return status;
}

static bramah_status init_columns(cli_comparison *c, const cli_arguments *arguments, bramah_diag *diag)
{
  const char **names = calloc((size_t)arguments->n_given + 1, sizeof *names);
  size_t n = 0;
  if (!names) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  while ((names[n] = cli_value_again(arguments, "column", n))) n++;
  const bramah_status status = cli_columns_init(&c->columns, &c->pairs, n, names, diag);
  free(names);
  if (status || c->columns.n) return status;
  return cli_fail(diag, BRAMAH_E_COLUMN, c->path[1], 0, NULL, "no column has the name of one in %s",
                  c->path[0]);
}

typedef void each_pair(cli_columns *columns, const cli_pairs *pairs);

static bramah_status go_through(cli_comparison *c, each_pair *each, bramah_diag *diag)
{
  for (;;) {
    int end;
    const bramah_status status = cli_pairs_next(&c->pairs, &end, diag);
    if (status || end) return status;
    each(&c->columns, &c->pairs);
  }
}

/* The first pass of two. The columns keep names from the reader, so it is the second one that is opened for
 * it. */
static bramah_status measure(cli_comparison *c, bramah_diag *diag)
{
  const cli_pairs kept = c->pairs;
  bramah_status status = BRAMAH_OK;
  if (!(c->columns.relative > 0.0)) return BRAMAH_OK;
  status = open_pairs(c, diag);
  if (!status) status = go_through(c, cli_columns_measure, diag);
  cli_pairs_close(&c->pairs);
  c->pairs = kept;
  return status;
}

static bramah_status check_pairs(const cli_comparison *c, bramah_diag *diag)
{
  const cli_side *a = &c->pairs.side[0], *b = &c->pairs.side[1];
  if (c->pairs.n) return BRAMAH_OK;
  if (!a->rows || !b->rows)
    return cli_fail(diag, BRAMAH_E_EMPTY, c->path[a->rows ? 1 : 0], 0, NULL,
                    "the file has no row between --from and --to");
  return cli_fail(
      diag, BRAMAH_E_TIME, NULL, 0, NULL,
      "no row of %s (%.9g to %.9g s) has a partner in %s (%.9g to %.9g s); --within TIME takes the "
      "nearest",
      c->path[0], cli_seconds(a->first_ns), cli_seconds(a->last_ns), c->path[1], cli_seconds(b->first_ns),
      cli_seconds(b->last_ns));
}

static bramah_status compare(cli_comparison *c, bramah_diag *diag)
{
  bramah_status status = measure(c, diag);
  if (!status) status = cli_check_output(c->json_path, 2, c->path, diag);
  if (!status) status = go_through(c, cli_columns_add, diag);
  if (!status) status = check_pairs(c, diag);
  return status || !c->json_path ? status : cli_json_create(&c->json, c->json_path, diag);
}

static int conclude(cli_comparison *c)
{
  const char *const outputs[] = {c->json_path};
  bramah_diag diag;
  c->different = cli_columns_first(&c->columns) != NULL || (c->all && cli_comparison_lacks(c));
  const int code = c->different ? CLI_DIFFERENT : CLI_OK;
  cli_comparison_print(c, cli_summary_stream(1, outputs));
  if (!c->json.file) return code;
  cli_comparison_write(c, code);
  return cli_json_finish(&c->json, &diag) ? cli_report(&diag) : code;
}

static int run(const cli_arguments *arguments)
{
  cli_comparison c;
  bramah_diag diag, ignored;
  int code = read_options(arguments, &c);
  if (code) return code;
  bramah_status status = open_pairs(&c, &diag);
  if (!status) status = init_columns(&c, arguments, &diag);
  if (!status) code = read_tolerances(arguments, &c.columns);
  if (!status && !code) status = compare(&c, &diag);
  if (status)
    code = cli_report(&diag);
  else if (!code)
    code = conclude(&c);
  if (c.json.file) cli_json_finish(&c.json, &ignored);
  cli_columns_free(&c.columns);
  cli_pairs_close(&c.pairs);
  return code;
}

static const cli_option options[] = {
    {"column", "NAME", "compare this column only; may be given again", 0, 1},
    {"tolerance", "COLUMN=VALUE", "difference allowed in a column, with its unit; may be given again", 0, 1},
    {"relative", "FRACTION", "difference allowed, of the largest magnitude of each column", 0, 0},
    {"sigmas", "FACTOR", "difference allowed, of the column's standard deviation (<column>.sigma)", 0, 0},
    {"all", NULL, "what only A has (columns, rows, cells) is a difference too", 0, 0},
    {"within", "TIME", "pair rows whose times differ by so much; default: equal times only", 0, 0},
    {"from", "TIME", "only rows from this time on", 0, 0},
    {"to", "TIME", "only rows up to this time", 0, 0},
    {"turns", NULL, "angles that differ by whole turns are the same", 0, 0},
    {"time", "NAME", "time column of both files (t)", 0, 0},
    {"json", "FILE", "the result for programs, as JSON; - is standard output", 0, 0},
    {0}};

const cli_command cli_compare = {
    .name = "compare",
    .operands = "A B",
    .summary = "Tell how far two files of estimates, or estimates and truth, are apart",
    .details =
        "Columns of the same name are compared, whatever their order and units; values of .sigma columns\n"
        "(of A, or of B where A has none) say how large differences are in standard deviations.\n\n"
        "A row of A is compared with the row of B that has the same time, to the nanosecond, or with\n"
        "--within with the nearest one that is not used otherwise. Nothing is resampled: rows and cells\n"
        "without a partner are counted and left out, so files of different rates are compared where both\n"
        "have rows, and files of different ranges where they overlap.\n\n"
        "Of several tolerances the largest counts; without any, every difference does. With --sigmas,\n"
        "columns without standard deviations and without another tolerance are told, but not judged.\n\n"
        "Exit code: 0 within tolerance, 4 beyond it, 1 bad input (also when no row has a partner), 2\n"
        "wrong use. One of the files may be - (standard input).\n",
    .example = "bramah compare estimate.csv truth.csv --sigmas 3",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .run = run};
