/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah sweep: what a study makes of logs with many values of its values. */
#include "lib/cli/tune.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A row: a point on all logs, or on one of several. */
static void put_row(FILE *file, size_t point, const char *log, const bramah_tune_verdict *v, size_t n,
                    const char *const *values)
{
  fprintf(file, "%zu,", point + 1);
  if (strpbrk(log, ",\"\r\n")) /* quoted where a reader would take it for several cells */
    csv_fwrite(file, log, strlen(log));
  else
    fputs(log, file);
  fprintf(file, ",%s", v->status ? bramah_status_name(v->status) : "ok");
  cli_tune_put_verdict(v, file);
  for (size_t i = 0; i < n; i++) fprintf(file, ",\"%s\"", values[i]);
  fputc('\n', file);
}

/* The table, a row as soon as a point is done. */
static bramah_status write_table(const cli_tune_command *c, bramah_sweep *sweep, bramah_diag *diag)
{
  const char *output = c->outputs[0];
  const bramah_sweep_summary *s = bramah_sweep_get_summary(sweep);
  cli_progress progress = cli_progress_begin();
  FILE *file = cli_create(output, diag);
  if (!file) return BRAMAH_E_FILE;
  fputs("point,log,outcome,cost,nis,nis_distance,rmse,prediction,innovations,gated", file);
  for (size_t i = 0; i < s->n; i++) fprintf(file, ",%s", s->names[i]);
  fputc('\n', file);

  bramah_sweep_point point;
  bramah_status status;
  size_t at = 0;
  for (int end = 0; !(status = bramah_sweep_next(sweep, &point, &end, diag)) && !end; at++) {
    put_row(file, at, "all", &point.all, s->n, point.values);
    for (size_t k = 0; s->n_logs > 1 && k < s->n_logs; k++)
      put_row(file, at, s->logs[k], &point.logs[k], s->n, point.values);
    fflush(file); /* who follows it, or stops the run, has what is known */
    cli_progress_update(&progress, (double)(at + 1) / (double)s->n_points, "%zu of %zu points", at + 1,
                        s->n_points);
  }
  cli_progress_end(&progress);
  bramah_diag other; /* rows written stay written, whatever happened */
  const bramah_status closed = cli_finish(file, output, status ? &other : diag);
  return status ? status : closed;
}

static void print_summary(const cli_tune_command *c, const bramah_sweep_summary *s)
{
  FILE *out = cli_summary_stream(1, c->outputs);
  fprintf(out, "study: %s (%s), %zu value%s, %zu point%s on %zu log%s\n", s->study->name,
          c->arguments->operands[0], s->n, s->n == 1 ? " varies" : "s vary", s->n_points,
          s->n_points == 1 ? "" : "s", s->n_logs, s->n_logs == 1 ? "" : "s");
  fprintf(out, "work: %llu replay%s in %.1f s\n", (unsigned long long)s->replays, s->replays == 1 ? "" : "s",
          cli_clock() - c->start);
  if (s->n_failed)
    fprintf(out, "points that failed: %zu; point %zu: %s: %s%s%s\n", s->n_failed, s->first_failed + 1,
            s->failure.file, s->failure.thing, s->failure.thing[0] ? ": " : "", s->failure.message);
  if (!isfinite(s->least)) return;
  fprintf(out, "least cost: %.9g at point %zu: ", s->least, s->best + 1);
  for (size_t i = 0; i < s->n; i++) fprintf(out, "%s%s", i ? "; " : "", s->best_values[i]);
  fputc('\n', out);
}

static int run(const cli_arguments *arguments)
{
  cli_tune_command c = {.n_outputs = 2,
                        .outputs = {cli_value(arguments, "output"), cli_value(arguments, "journal")}};
  bramah_sweep_options o;
  uint64_t latin = 0, ahead = 0;
  bramah_diag diag;
  bramah_diag_clear(&diag);
  bramah_sweep_options_default(&o);
  int code = cli_count_value(arguments, "seed", 0, &o.seed);
  if (!code) code = cli_count_value(arguments, "latin", 1, &latin);
  if (!code) code = cli_count_value(arguments, "ahead", 1, &ahead);
  if (!code && !latin && !cli_value(arguments, "vary"))
    code = cli_wrong_use(arguments->command,
                         "nothing varies: give --vary, or --latin for the values of the study's 'tune'");
  if (code) return code;
  o.latin = (size_t)latin;
  o.ahead = (size_t)ahead;
  const char **vary = cli_tune_values(arguments, "vary", &o.n_vary);
  if (!vary) return CLI_FAILED;
  o.vary = vary;
  code = cli_tune_begin(&c, arguments, &o.run);
  bramah_sweep *sweep = NULL;
  bramah_status status = BRAMAH_OK;
  if (!code) {
    status = bramah_sweep_open(arguments->operands[0], c.n_logs, c.logs, &o, &diag, &sweep);
    if (!status && sweep) {
      status = write_table(&c, sweep, &diag);
      const bramah_sweep_summary *s = bramah_sweep_get_summary(sweep);
      if (!status) print_summary(&c, s);
      if (s->n_failed && s->n_failed == s->n_points) code = CLI_FAILED;
    }
    bramah_sweep_close(sweep);
  }
  const int failed = cli_tune_end(&c, status, &diag);
  free(vary);
  return failed ? failed : code;
}

static const cli_option options[] = {
    {"output", "FILE", "a row per point, CSV; - is standard output", 1, 0},
    {"vary", "NAME=VALUES",
     "\"0.1 bar, 1 bar\" or \"0.1 bar .. 10 bar: 5 log\"\nSeveral make a grid. Any value of the study may "
     "vary, volumes.v1.noise, or of its machine, machine.integrator.step.",
     0, 1},
    {"latin", "N", "N points spread over the ranges given\nOr over the bounds of the study's 'tune'.", 0, 0},
    {"seed", "N", "of --latin; default 1", 0, 0},
    CLI_EACH,
    CLI_STRICT,
    {"truth", "FILE", "true motion of a log, in the order of the logs", 0, 1},
    {"ahead", "N", "also judge predictions N steps ahead", 0, 0},
    {"journal", "FILE", "every result as it comes; a new run goes on from it", 0, 0},
    {"threads", "N", "default: one per processor; 1 under mpirun", 0, 0},
    {0}};

const cli_command cli_sweep = {.name = "sweep",
                               .operands = "STUDY [LOG...]",
                               .summary = "Replay logs with many sets of values of a study",
                               .details = "Each point is a row with likelihood, NIS, errors against the "
                                          "truth and of predictions; with several\n"
                                          "logs a row for each of them follows.\n",
                               .example = "bramah sweep sensors-2.yaml log.csv --output sweep.csv \\\n"
                                          "    --vary \"sensors.p1.sigma=0.1 bar .. 10 bar: 5 log\"",
                               .min_operands = 1,
                               .max_operands = 1000,
                               .options = options,
                               .run = run};
