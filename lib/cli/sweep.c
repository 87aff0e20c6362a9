/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah sweep: what a study makes of logs with many values of its values. */
#include "lib/cli/cli.h"
#include "lib/cli/tune_ranks.h"
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
  bramah__tune_problem problem;
  bramah__tune_workers workers;
  cli_tune_vary vary;
  size_t *logs;            /* [n_logs] 0, 1, ... */
  double *block, **scores; /* of a chunk */
  char (*sets)[BRAMAH__TUNE_TEXT];
  FILE *file;
  size_t failed, best; /* sets that failed; the one of least cost */
  double least;
  char best_set[BRAMAH__TUNE_TEXT];
  size_t first; /* point that failed first; its verdict and set */
  bramah_tune_verdict first_verdict;
  char first_set[BRAMAH__TUNE_TEXT];
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
                         "nothing varies: give --vary, or --latin for the values of the study's 'tune'");
  while (cli_value_again(a, "truth", s->n_truths)) s->n_truths++;
  s->truths = calloc(s->n_truths + 1, sizeof *s->truths);
  for (size_t i = 0; s->truths && i < s->n_truths; i++) s->truths[i] = cli_value_again(a, "truth", i);
  return s->truths ? 0 : CLI_FAILED;
}

/* Neither table nor journal may take the place of what is read. */
static bramah_status check_files(const sweep *s, size_t n_logs, const char *const *logs, bramah_diag *diag)
{
  const char *const outputs[] = {s->output, s->journal};
  const char *const others[] = {s->problem.path, bramah_session_study(s->problem.session)->machine_file,
                                s->output};
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
  bramah_status status = bramah__tune_problem_open(&s->problem, a->operands[0], diag);
  if (!status)
    s->problem.ahead = s->ahead ? (int)(s->ahead < 1000000 ? s->ahead : 1000000)
                                : bramah_session_study(s->problem.session)->tune.ahead;
  if (!status) status = cli_tune_vary_read(&s->vary, &s->problem, a, s->latin, s->seed, diag);
  if (!status) status = check_files(s, n, a->operands + 1, diag);
  if (!status)
    status = bramah__tune_problem_read(&s->problem, n, a->operands + 1, s->n_truths, s->truths, diag);
  return status ? status : bramah__tune_problem_seal(&s->problem, diag);
}

static bramah_status open_work(sweep *s, bramah_diag *diag)
{
  const size_t n = s->problem.n_logs, size = bramah__tune_n_scores(&s->problem, 0);
  s->workers.problem = &s->problem;
  s->workers.n_threads = s->threads ? (size_t)s->threads : s->workers.n_ranks > 1 ? 1 : cli_processors();
  s->logs = calloc(n + 1, sizeof *s->logs);
  s->block = calloc(CHUNK * n * size + 1, sizeof *s->block);
  s->scores = calloc(CHUNK * n + 1, sizeof *s->scores);
  s->sets = calloc(CHUNK, sizeof *s->sets);
  if (!s->logs || !s->block || !s->scores || !s->sets) return fail_memory(diag);
  for (size_t i = 0; i < n; i++) s->logs[i] = i;
  for (size_t i = 0; i < CHUNK * n; i++) s->scores[i] = s->block + i * size;
  bramah_diag_clear(diag);
  return bramah__journal_open(s->journal, diag, &s->workers.journal);
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

static void put_row(const sweep *s, size_t point, const char *log, const bramah_tune_verdict *v,
                    const char *set)
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
  for (size_t i = 0; i < s->problem.n; i++) {
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
  for (size_t i = 0; i < s->problem.n; i++) fprintf(s->file, ",%s", s->problem.tuned[i].name);
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

static void put_set(sweep *s, size_t point, const char *set, double *const *scores)
{
  const size_t n = s->problem.n_logs;
  const bramah_tune_verdict all = bramah__tune_judge(&s->problem, n, s->logs, scores);
  put_row(s, point, "all", &all, set);
  for (size_t k = 0; n > 1 && k < n; k++) {
    const bramah_tune_verdict one = bramah__tune_judge(&s->problem, 1, &s->logs[k], scores + k);
    put_row(s, point, s->problem.logs[k].path, &one, set);
  }
  const double cost = bramah__tune_criterion_value(&all, BRAMAH_TUNE_LIKELIHOOD);
  if (all.status && !s->failed++) {
    s->first = point;
    s->first_verdict = all;
    memcpy(s->first_set, set, BRAMAH__TUNE_TEXT);
  }
  if (!(cost < s->least)) return;
  s->least = cost;
  s->best = point;
  memcpy(s->best_set, set, BRAMAH__TUNE_TEXT);
}

/* ---- the run ---- */

static bramah_status work(sweep *s, bramah_diag *diag)
{
  const size_t n_logs = s->problem.n_logs;
  bramah__tune_job *jobs = calloc(CHUNK * n_logs + 1, sizeof *jobs);
  bramah_status status = jobs ? BRAMAH_OK : fail_memory(diag);
  for (size_t first = 0; !status && first < s->vary.n_points; first += CHUNK) {
    const size_t n = s->vary.n_points - first < CHUNK ? s->vary.n_points - first : CHUNK;
    for (size_t i = 0; i < n; i++) cli_tune_vary_set(&s->vary, &s->problem, first + i, s->sets[i]);
    for (size_t i = 0; i < n * n_logs; i++) {
      jobs[i] = (bramah__tune_job){.log = i % n_logs, .thousandths = 1000};
      memcpy(jobs[i].set, s->sets[i / n_logs], BRAMAH__TUNE_TEXT);
    }
    status = bramah__tune_workers_do(&s->workers, n * n_logs, jobs, s->scores, diag);
    for (size_t i = 0; !status && i < n; i++) put_set(s, first + i, s->sets[i], s->scores + i * n_logs);
  }
  free(jobs);
  return status;
}

/* How many, and what the first one died of. */
static void print_failures(const sweep *s, FILE *out)
{
  bramah_diag why;
  bramah_diag_clear(&why);
  bramah__tune_explain_failure(&s->problem, s->first_set, 0, &s->first_verdict, &why);
  fprintf(out, "points that failed: %zu; point %zu: %s: %s%s%s\n", s->failed, s->first + 1, why.file,
          why.thing, why.thing[0] ? ": " : "", why.message);
}

static void print_summary(const sweep *s)
{
  FILE *out = cli_summary_stream(1, &s->output);
  const double seconds = cli_clock() - s->start;
  fprintf(out, "study: %s (%s), %zu value%s, %zu point%s on %zu log%s\n",
          bramah_session_study(s->problem.session)->name, s->problem.path, s->problem.n,
          s->problem.n == 1 ? " varies" : "s vary", s->vary.n_points, s->vary.n_points == 1 ? "" : "s",
          s->problem.n_logs, s->problem.n_logs == 1 ? "" : "s");
  fprintf(out, "work: %llu replay%s in %.1f s\n", (unsigned long long)s->workers.replays,
          s->workers.replays == 1 ? "" : "s", seconds);
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
  status = finish_table(s, cli_tune_name_signal(status, diag), diag);
  if (!status) print_summary(s);
  return status;
}

static void clean_up(sweep *s)
{
  bramah__journal_close(s->workers.journal);
  cli_tune_vary_free(&s->vary);
  bramah__tune_problem_close(&s->problem);
  free(s->truths);
  free(s->logs);
  free(s->block);
  free(s->scores);
  free(s->sets);
}

static int run(const cli_arguments *arguments)
{
  sweep s = {.arguments = arguments, .least = (double)INFINITY, .start = cli_clock()};
  bramah_diag diag;
  bramah_diag_clear(&diag);
  int code = read_arguments(&s);
  if (!code) {
    cli_tune_ranks_begin(&s.rank, &s.workers.n_ranks);
    s.workers.ranks = &cli_tune_ranks;
    if (s.rank == 0) s.problem.tell = cli_tune_tell;
    s.problem.stopped = cli_tune_stopped;
    bramah_status status = cli_tune_ranks_agree(&s.problem, open_lab(&s, &diag), &diag);
    if (!status) status = s.rank ? cli_tune_ranks_serve(&s.problem, &diag) : lead(&s, &diag);
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
    {"threads", "N", "default: one per processor; 1 under mpirun", 0, 0},
    {0}};

const cli_command cli_sweep = {.name = "sweep",
                               .operands = "STUDY LOG...",
                               .summary = "Replay logs with many sets of values of a study",
                               .details = "Any value of the study may vary, \"volumes.v1.noise\", or of its "
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
