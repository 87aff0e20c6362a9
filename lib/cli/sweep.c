/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah sweep: what a study makes of logs with many values of its figures. */
#include "lib/cli/arguments.h"
#include "lib/cli/commands.h"
#include "lib/cli/output_files.h"
#include "lib/cli/progress.h"
#include "lib/cli/stop.h"
#include "lib/cli/study_crew.h"
#include "lib/cli/tune_search.h"
#include "lib/cli/tune_vary.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sets done between two looks at memory. */
enum { CHUNK = 256 };

typedef struct sweep {
  const cli_arguments *arguments;
  const char *output, *journal;
  uint64_t threads, seed, latin, ahead;
  size_t rank, n_truths;
  const char **truths;
  cli_tune_lab lab;
  cli_tune_crew crew;
  cli_tune_vary vary;
  size_t *logs;             /* [n_logs] 0, 1, ... */
  double *block, **figures; /* of a chunk */
  char (*sets)[CLI_TUNE_TEXT];
  FILE *file;
  size_t failed, best; /* sets that failed; the one of least cost */
  double least;
  char best_set[CLI_TUNE_TEXT];
  size_t first; /* point that failed first; its verdict and set */
  cli_tune_verdict first_verdict;
  char first_set[CLI_TUNE_TEXT];
  double start;
} sweep;

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

static int read_arguments(sweep *s)
{
  const cli_arguments *a = s->arguments;
  s->output = cli_value(a, "output");
  s->journal = cli_value(a, "journal");
  s->seed = 1;
  int code = cli_count_value(a, "threads", 1, &s->threads);
  if (!code) code = cli_count_value(a, "seed", 0, &s->seed);
  if (!code) code = cli_count_value(a, "latin", 1, &s->latin);
  if (!code) code = cli_count_value(a, "ahead", 1, &s->ahead);
  if (code) return code;
  if (!s->latin && !cli_value(a, "vary"))
    return cli_wrong_use(a->command,
                         "nothing varies: give --vary, or --latin for the figures of the study's 'tune'");
  while (cli_value_again(a, "truth", s->n_truths)) s->n_truths++;
  s->truths = calloc(s->n_truths + 1, sizeof *s->truths);
  for (size_t i = 0; s->truths && i < s->n_truths; i++) s->truths[i] = cli_value_again(a, "truth", i);
  return s->truths ? 0 : CLI_FAILED;
}

/* Neither table nor journal may take the place of what is read. */
static bramah_status check_files(const sweep *s, size_t n_logs, const char *const *logs, bramah_diag *diag)
{
  const char *const outputs[] = {s->output, s->journal};
  const char *const others[] = {s->lab.path, bramah_session_study(s->lab.session)->machine_file, s->output};
  bramah_status status = BRAMAH_OK;
  for (size_t o = 0; !status && o < 2; o++) {
    status = cli_check_output(outputs[o], 2 + o, others, diag);
    if (!status) status = cli_check_output(outputs[o], n_logs, logs, diag);
    if (!status) status = cli_check_output(outputs[o], s->n_truths, s->truths, diag);
  }
  return status;
}

static bramah_status open_lab(sweep *s, bramah_diag *diag)
{
  const cli_arguments *a = s->arguments;
  const size_t n = (size_t)a->n_operands - 1;
  bramah_status status = cli_tune_lab_open(&s->lab, a->operands[0], diag);
  if (!status)
    s->lab.ahead = s->ahead ? (int)(s->ahead < 1000000 ? s->ahead : 1000000)
                            : bramah_session_study(s->lab.session)->tune.ahead;
  if (!status) status = cli_tune_vary_read(&s->vary, &s->lab, a, s->latin, s->seed, diag);
  if (!status) status = check_files(s, n, a->operands + 1, diag);
  if (!status) status = cli_tune_lab_read(&s->lab, n, a->operands + 1, s->n_truths, s->truths, diag);
  return status ? status : cli_tune_lab_seal(&s->lab, diag);
}

static bramah_status open_work(sweep *s, bramah_diag *diag)
{
  const size_t n = s->lab.n_logs, size = cli_tune_n_figures(&s->lab, 0);
  s->crew.lab = &s->lab;
  s->crew.n_threads = s->threads ? (size_t)s->threads : s->crew.n_ranks > 1 ? 1 : cli_crew_processors();
  s->logs = calloc(n + 1, sizeof *s->logs);
  s->block = calloc(CHUNK * n * size + 1, sizeof *s->block);
  s->figures = calloc(CHUNK * n + 1, sizeof *s->figures);
  s->sets = calloc(CHUNK, sizeof *s->sets);
  if (!s->logs || !s->block || !s->figures || !s->sets) return fail_memory(diag);
  for (size_t i = 0; i < n; i++) s->logs[i] = i;
  for (size_t i = 0; i < CHUNK * n; i++) s->figures[i] = s->block + i * size;
  bramah_diag_clear(diag);
  return bramah_journal_open(s->journal, diag, &s->crew.journal);
}

/* ---- the table ---- */

static void put_number(double x, FILE *file)
{
  fputc(',', file);
  if (isfinite(x)) fprintf(file, "%.9g", x);
}

/* Quoted where a reader would take it for several cells. */
static void put_text(const char *text, FILE *file)
{
  if (strpbrk(text, ",\"\r\n"))
    csv_fwrite(file, text, strlen(text));
  else
    fputs(text, file);
}

static void put_row(const sweep *s, size_t point, const char *log, const cli_tune_verdict *v, const char *set)
{
  fprintf(s->file, "%zu,", point + 1);
  put_text(log, s->file);
  fprintf(s->file, ",%s", v->status ? bramah_status_name(v->status) : "ok");
  const double gone = (double)NAN;
  put_number(v->status ? gone : v->cost, s->file);
  put_number(v->status ? gone : v->nis, s->file);
  put_number(v->status ? gone : v->distance, s->file);
  put_number(v->status ? gone : v->rmse, s->file);
  put_number(v->status ? gone : v->prediction, s->file);
  put_number(v->status ? gone : v->used, s->file);
  put_number(v->status ? gone : v->gated, s->file);
  const char *p = set;
  for (size_t i = 0; i < s->lab.n; i++) {
    const char *end = strstr(p, "; ");
    const size_t n = end ? (size_t)(end - p) : strlen(p);
    fprintf(s->file, ",\"%.*s\"", (int)n, p);
    p = end ? end + 2 : p + n;
  }
  fputc('\n', s->file);
}

static bramah_status create_table(sweep *s, bramah_diag *diag)
{
  s->file = strcmp(s->output, "-") == 0 ? stdout : fopen(s->output, "w");
  if (!s->file)
    return cli_fail(diag, BRAMAH_E_FILE, s->output, 0, NULL, "cannot be created: %s", strerror(errno));
  fputs("point,log,outcome,cost,nis,nis_distance,rmse,prediction,innovations,gated", s->file);
  for (size_t i = 0; i < s->lab.n; i++) fprintf(s->file, ",%s", s->lab.tuned[i].name);
  fputc('\n', s->file);
  return BRAMAH_OK;
}

static bramah_status finish_table(sweep *s, bramah_status status, bramah_diag *diag)
{
  if (!s->file) return status;
  const int own = s->file != stdout, bad = ferror(s->file) != 0;
  const int unclosed = own ? fclose(s->file) != 0 : fflush(s->file) != 0;
  if (status || (!bad && !unclosed)) return status;
  return cli_fail(diag, BRAMAH_E_FILE, s->output, 0, NULL, "cannot be written completely");
}

static void put_set(sweep *s, size_t point, const char *set, double *const *figures)
{
  const size_t n = s->lab.n_logs;
  const cli_tune_verdict all = cli_tune_judge(&s->lab, n, s->logs, figures);
  put_row(s, point, "all", &all, set);
  for (size_t k = 0; n > 1 && k < n; k++) {
    const cli_tune_verdict one = cli_tune_judge(&s->lab, 1, &s->logs[k], figures + k);
    put_row(s, point, s->lab.logs[k].path, &one, set);
  }
  const double cost = cli_tune_criterion_value(&all, BRAMAH_TUNE_LIKELIHOOD);
  if (all.status && !s->failed++) {
    s->first = point;
    s->first_verdict = all;
    memcpy(s->first_set, set, CLI_TUNE_TEXT);
  }
  if (!(cost < s->least)) return;
  s->least = cost;
  s->best = point;
  memcpy(s->best_set, set, CLI_TUNE_TEXT);
}

/* ---- the run ---- */

static bramah_status work(sweep *s, bramah_diag *diag)
{
  const size_t n_logs = s->lab.n_logs;
  cli_tune_job *jobs = calloc(CHUNK * n_logs + 1, sizeof *jobs);
  bramah_status status = jobs ? BRAMAH_OK : fail_memory(diag);
  for (size_t first = 0; !status && first < s->vary.n_points; first += CHUNK) {
    const size_t n = s->vary.n_points - first < CHUNK ? s->vary.n_points - first : CHUNK;
    for (size_t i = 0; i < n; i++) cli_tune_vary_set(&s->vary, &s->lab, first + i, s->sets[i]);
    for (size_t i = 0; i < n * n_logs; i++) {
      jobs[i] = (cli_tune_job){.log = i % n_logs, .thousandths = 1000};
      memcpy(jobs[i].set, s->sets[i / n_logs], CLI_TUNE_TEXT);
    }
    status = cli_tune_crew_work(&s->crew, n * n_logs, jobs, s->figures, diag);
    for (size_t i = 0; !status && i < n; i++) put_set(s, first + i, s->sets[i], s->figures + i * n_logs);
  }
  free(jobs);
  return status;
}

/* How many, and what the first one died of. */
static void print_failures(const sweep *s, FILE *out)
{
  bramah_diag why;
  bramah_diag_clear(&why);
  cli_tune_explain_failure(&s->lab, s->first_set, 0, &s->first_verdict, &why);
  fprintf(out, "points that failed: %zu; point %zu: %s: %s%s%s\n", s->failed, s->first + 1, why.file,
          why.thing, why.thing[0] ? ": " : "", why.message);
}

static void print_summary(const sweep *s)
{
  FILE *out = cli_summary_stream(1, &s->output);
  const double seconds = cli_clock() - s->start;
  fprintf(out, "study: %s (%s), %zu figure%s, %zu point%s on %zu log%s\n",
          bramah_session_study(s->lab.session)->name, s->lab.path, s->lab.n,
          s->lab.n == 1 ? " varies" : "s vary", s->vary.n_points, s->vary.n_points == 1 ? "" : "s",
          s->lab.n_logs, s->lab.n_logs == 1 ? "" : "s");
  fprintf(out, "work: %llu replay%s in %.1f s\n", (unsigned long long)s->crew.replays,
          s->crew.replays == 1 ? "" : "s", seconds);
  if (s->failed) print_failures(s, out);
  if (isfinite(s->least))
    fprintf(out, "least cost: %.9g at point %zu: %s\n", s->least, s->best + 1, s->best_set);
}

static bramah_status lead(sweep *s, bramah_diag *diag)
{
  cli_stop_catch();
  bramah_status status = open_work(s, diag);
  if (!status) status = create_table(s, diag);
  if (!status) status = work(s, diag);
  cli_tune_ranks_dismiss();
  status = finish_table(s, status, diag);
  if (!status) print_summary(s);
  return status;
}

static void clean_up(sweep *s)
{
  bramah_journal_close(s->crew.journal);
  cli_tune_vary_free(&s->vary);
  cli_tune_lab_close(&s->lab);
  free(s->truths);
  free(s->logs);
  free(s->block);
  free(s->figures);
  free(s->sets);
}

static int run(const cli_arguments *arguments)
{
  sweep s = {.arguments = arguments, .least = (double)INFINITY, .start = cli_clock()};
  bramah_diag diag;
  bramah_diag_clear(&diag);
  int code = read_arguments(&s);
  if (!code) {
    cli_tune_ranks_begin(&s.rank, &s.crew.n_ranks);
    s.lab.quiet = s.rank != 0;
    bramah_status status = cli_tune_ranks_agree(&s.lab, open_lab(&s, &diag), &diag);
    if (!status) status = s.rank ? cli_tune_ranks_serve(&s.lab, &diag) : lead(&s, &diag);
    if (status) code = diag.message[0] ? cli_report(&diag) : CLI_FAILED;
    if (!code && s.failed && s.failed == s.vary.n_points) code = CLI_FAILED;
    cli_tune_ranks_end();
  }
  clean_up(&s);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "CSV file with a row per point; - is standard output", 1, 0},
    {"vary", "NAME=VALUES", "\"0.1 bar, 1 bar\", or \"0.1 bar .. 10 bar: 5 log\"; more make a grid", 0, 1},
    {"latin", "N", "N points spread over the ranges given, or over the bounds of the study's 'tune'", 0, 0},
    {"seed", "N", "of --latin (1)", 0, 0},
    {"truth", "FILE", "true motion of a log, in the order of the logs", 0, 1},
    {"ahead", "N", "also judge predictions N steps ahead", 0, 0},
    {"journal", "FILE", "every result goes there as it comes; a new run goes on from it", 0, 0},
    {"threads", "N", "default: as many as there are processors; 1 beside other processes of mpirun", 0, 0},
    {0}};

const cli_command cli_sweep = {.name = "sweep",
                               .operands = "STUDY LOG...",
                               .summary = "Replay logs with many values of a study's figures",
                               .details = "Any figure of the study may vary, \"volumes.v1.noise\", or of its "
                                          "machine, \"machine.integrator.step\".\n"
                                          "Each point is a row with likelihood, NIS, errors against the "
                                          "truth and of predictions; with several\n"
                                          "logs a row for each of them follows.\n",
                               .example = "bramah sweep sensors-2.yaml log.csv --vary \"volumes.v1.noise=0.1 "
                                          "bar/s^0.5 .. 10 bar/s^0.5: 5 log\" \\\n"
                                          "    --vary \"filter.transition=paper, step\" --output sweep.csv",
                               .min_operands = 2,
                               .max_operands = 1000,
                               .options = options,
                               .run = run};
