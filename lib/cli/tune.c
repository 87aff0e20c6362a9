/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah tune: the values of a study from logs. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include "lib/cli/cli.h"
#include "lib/cli/tune_output.h"
#include "lib/cli/tune_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct run_of {
  const cli_arguments *arguments;
  const char *output, *evaluations, *report;
  size_t rank, n_tuned, n_all;
  int64_t time_ns;
  const char **logs, **truths; /* those held out come last */
  bramah_tune_options options;
  bramah_tuning tuning;
  double start, seconds; /* of the clock */
} run_of;

/* ---- what is asked ---- */

typedef struct word {
  const char *name;
  int value;
} word;

static const word criteria[] = {{"likelihood", BRAMAH_TUNE_LIKELIHOOD},
                                {"nis", BRAMAH_TUNE_NIS},
                                {"rmse", BRAMAH_TUNE_RMSE},
                                {"prediction", BRAMAH_TUNE_PREDICTION},
                                {0}};
static const word methods[] = {{"scoring", BRAMAH_TUNE_SCORING}, {"simplex", BRAMAH_TUNE_SIMPLEX}, {0}};

static int word_value(const cli_arguments *arguments, const char *name, const word *words, int *out)
{
  const char *text = cli_value(arguments, name), *names[8];
  size_t n = 0;
  if (!text) return 0;
  for (; words[n].name; n++) {
    if (strcmp(words[n].name, text) == 0) return *out = words[n].value, 0;
    names[n] = words[n].name;
  }
  const char *nearest = cli_nearest(text, n, names);
  return cli_wrong_use(arguments->command, "--%s: '%s' is not known; did you mean '%s'?", name, text,
                       nearest ? nearest : names[0]);
}

static size_t count_given(const cli_arguments *arguments, const char *name)
{
  size_t n = 0;
  while (cli_value_again(arguments, name, n)) n++;
  return n;
}

static int read_lists(run_of *r)
{
  const cli_arguments *a = r->arguments;
  bramah_tune_options *o = &r->options;
  o->n_held = count_given(a, "hold-out");
  o->n_truths = count_given(a, "truth");
  r->n_tuned = (size_t)a->n_operands - 1;
  r->n_all = r->n_tuned + o->n_held;
  r->logs = calloc(r->n_all + 1, sizeof *r->logs);
  o->truths = r->truths = calloc(o->n_truths + 1, sizeof *r->truths);
  if (!r->logs || !r->truths) return CLI_FAILED;
  for (size_t i = 0; i < r->n_tuned; i++) r->logs[i] = a->operands[i + 1];
  for (size_t i = 0; i < o->n_held; i++) r->logs[r->n_tuned + i] = cli_value_again(a, "hold-out", i);
  for (size_t i = 0; i < o->n_truths; i++) r->truths[i] = cli_value_again(a, "truth", i);
  return 0;
}

static int read_count(const cli_arguments *a, const char *name, uint64_t least, size_t *out)
{
  uint64_t value = *out;
  const int code = cli_count_value(a, name, least, &value);
  *out = (size_t)value;
  return code;
}

static int read_arguments(run_of *r)
{
  const cli_arguments *a = r->arguments;
  bramah_tune_options *o = &r->options;
  *o = bramah_tune_options_default();
  r->output = cli_value(a, "output");
  r->evaluations = cli_value(a, "evaluations");
  r->report = cli_value(a, "report");
  o->journal = cli_value(a, "journal");
  o->start_from_study = cli_value(a, "start-from-study") != NULL;
  int code = read_count(a, "threads", 1, &o->n_threads);
  if (!code) code = cli_count_value(a, "budget", 1, &o->budget);
  if (!code) code = read_count(a, "folds", 2, &o->folds);
  if (!code) code = read_count(a, "profile", 1, &o->profile);
  if (!code) code = cli_time_value(a, "time", &r->time_ns);
  if (!code) code = word_value(a, "criterion", criteria, &o->criterion);
  if (!code) code = word_value(a, "method", methods, &o->method);
  return code ? code : read_lists(r);
}

/* ---- the run ---- */

/* None of the files written may take the place of one that is read. */
static bramah_status check_files(const run_of *r, bramah_diag *diag)
{
  const bramah_tune_options *options = &r->options;
  const char *const outputs[] = {r->output, r->evaluations, r->report, options->journal};
  const char *others[16];
  bramah_status status = BRAMAH_OK;
  for (size_t o = 0; !status && o < 4; o++) {
    size_t n = 0;
    others[n++] = o ? r->tuning.problem.path : NULL; /* the study itself may be written anew */
    others[n++] = bramah_session_study(r->tuning.problem.session)->machine_file;
    for (size_t p = 0; p < o; p++) others[n++] = outputs[p];
    status = cli_check_output(outputs[o], n, others, diag);
    if (!status) status = cli_check_output(outputs[o], r->n_all, r->logs, diag);
    if (!status) status = cli_check_output(outputs[o], options->n_truths, r->truths, diag);
    if (!status) status = cli_check_place(outputs[o], diag);
  }
  return status;
}

static bramah_status open_tuning(run_of *r, bramah_diag *diag)
{
  bramah_status status =
      bramah__tuning_open(&r->tuning, r->arguments->operands[0], r->n_all, &r->options, diag);
  if (!status) status = check_files(r, diag);
  return status ? status : bramah__tuning_read(&r->tuning, r->logs, diag);
}

void cli_tune_tell(void *user, const char *line)
{
  (void)user;
  cli_note("%s", line);
}

int cli_tune_stopped(void *user)
{
  (void)user;
  return cli_stop_signal() != 0;
}

bramah_status cli_tune_name_signal(bramah_status status, bramah_diag *diag)
{
  if (status != BRAMAH_E_TIME || !cli_stop_signal()) return status;
  return cli_fail(diag, BRAMAH_E_TIME, NULL, 0, NULL, "interrupted (%s)", cli_stop_name());
}

static int is_late(void *user)
{
  const run_of *r = user;
  return r->time_ns && cli_clock() >= r->start + cli_seconds(r->time_ns);
}

/* To a terminal: one line that is written over. */
static void show_progress(void *user, const bramah_tune_progress *p)
{
  (void)user;
  fprintf(stderr, "\r\033[K%s: %llu evaluations, %llu replays, best %.9g", p->phase,
          (unsigned long long)p->evaluations, (unsigned long long)p->replays, p->best);
}

/* ---- what came out ---- */

static void write_head(const run_of *r, char *head, size_t room)
{
  size_t used = (size_t)snprintf(head, room, "Tuned by bramah %s: criterion %s, %zu log%s:", bramah_version(),
                                 r->tuning.result.criterion, r->n_tuned, r->n_tuned == 1 ? "" : "s");
  for (size_t i = 0; i < r->n_tuned && used < room; i++)
    used += (size_t)snprintf(head + used, room - used, "%s %s", i ? "," : "", r->logs[i]);
}

static void print_search(const run_of *r, const char *name, FILE *out)
{
  const bramah_tune_result *result = &r->tuning.result;
  fprintf(out, "study: %s (%s), %zu value%s\n", name, r->arguments->operands[0], result->n,
          result->n == 1 ? "" : "s");
  fprintf(out, "logs: %zu tuned on, %zu held out\n", r->n_tuned, r->n_all - r->n_tuned);
  fprintf(out, "search: %s after %d iterations, %zu evaluations; %s %.6g\n", result->ending,
          result->iterations, result->evaluations, result->criterion, result->cost);
  fprintf(out, "work: %llu replays in %.1f s, %.1f s of log per second%s\n",
          (unsigned long long)result->replays, r->seconds, result->log_seconds / r->seconds,
          result->n_known ? " (others were in the journal)" : "");
}

static bramah_status write_files(const run_of *r, const bramah_study *study, size_t n,
                                 const cli_table *tables, bramah_diag *diag)
{
  const bramah_tune_result *result = &r->tuning.result;
  char head[2048];
  bramah_status status = BRAMAH_OK;
  write_head(r, head, sizeof head);
  if (r->output) status = bramah_tuning_write(&r->tuning, r->output, head, diag);
  if (!status && r->evaluations) status = cli_tune_write_evaluations(r->evaluations, result, diag);
  if (status || !r->report) return status;
  cli_tune_note notes[3 + 16] = {
      {"study", r->arguments->operands[0]}, {"machine", study->machine_file}, {"tuned", head}};
  size_t n_notes = 3;
  for (size_t i = 0; i < result->n_warnings; i++)
    notes[n_notes++] = (cli_tune_note){"warning", result->warnings[i]};
  return cli_tune_write_report(r->report, study->name, result, n_notes, notes, n, tables, diag);
}

static bramah_status conclude(const run_of *r, bramah_diag *diag)
{
  const char *const outputs[] = {r->output, r->evaluations, r->report};
  const bramah_study *study = bramah_session_study(r->tuning.problem.session);
  const bramah_tune_result *result = &r->tuning.result;
  FILE *out = cli_summary_stream(3, outputs);
  cli_table tables[CLI_TUNE_MOST_TABLES];
  const size_t n = cli_tune_tables(result, tables);
  print_search(r, study->name, out);
  for (size_t i = 0; i < n; i++) cli_table_print(&tables[i], out);
  if (result->n_warnings) fputc('\n', out);
  for (size_t i = 0; i < result->n_warnings; i++) fprintf(out, "warning: %s\n", result->warnings[i]);
  const bramah_status status = write_files(r, study, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  return status;
}

static bramah_status lead(run_of *r, bramah_diag *diag)
{
  cli_stop_catch();
  const bramah_status status = bramah__tuning_run(&r->tuning, diag);
  if (r->options.progress) fputs("\r\033[K", stderr);
  cli_tune_ranks_dismiss();
  r->seconds = cli_clock() - r->start;
  return status ? cli_tune_name_signal(status, diag) : conclude(r, diag);
}

static int run(const cli_arguments *arguments)
{
  run_of *r = calloc(1, sizeof *r);
  bramah_diag diag;
  if (!r) return CLI_FAILED;
  r->arguments = arguments;
  r->start = cli_clock();
  bramah_diag_clear(&diag);
  int code = read_arguments(r);
  if (!code) {
    cli_tune_ranks_begin(&r->rank, &r->tuning.workers.n_ranks);
    r->tuning.workers.ranks = &cli_tune_ranks;
    r->options.user = r;
    if (r->rank == 0) r->options.tell = cli_tune_tell;
    r->options.stopped = cli_tune_stopped;
    r->options.enough = is_late;
    if (isatty(STDERR_FILENO)) r->options.progress = show_progress;
    bramah_status status = cli_tune_ranks_agree(&r->tuning.problem, open_tuning(r, &diag), &diag);
    if (!status) status = r->rank ? cli_tune_ranks_serve(&r->tuning.problem, &diag) : lead(r, &diag);
    if (status) code = diag.message[0] ? cli_report(&diag) : CLI_FAILED;
    cli_tune_ranks_end();
  }
  bramah__tuning_close(&r->tuning);
  free(r->logs);
  free(r->truths);
  free(r);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "study file with the values found; - is standard output", 0, 0},
    {"journal", "FILE", "every result goes there as it comes; a new run goes on from it", 0, 0},
    {"evaluations", "FILE", "CSV file with every set of values that was tried", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"truth", "FILE", "true motion of a log, in the order of the logs", 0, 1},
    {"hold-out", "LOG", "a log that is judged but not tuned on", 0, 1},
    {"folds", "N", "cross-validation: tune anew without each N-th of the logs", 0, 0},
    {"profile", "N", "profile of the likelihood, N points to each side of every value", 0, 0},
    {"criterion", "NAME", "likelihood, nis, rmse or prediction, instead of the study's", 0, 0},
    {"method", "NAME", "scoring or simplex, instead of the study's", 0, 0},
    {"start-from-study", NULL, "begin with the study's values, not with what the innovations tell", 0, 0},
    {"budget", "N", "evaluations at most", 0, 0},
    {"time", "TIME", "time of the clock at most; what was finished then depends on the machine", 0, 0},
    {"threads", "N", "default: one per processor; 1 under mpirun", 0, 0},
    {0}};

const cli_command cli_tune = {
    .name = "tune",
    .operands = "STUDY LOG...",
    .summary = "Find noise and other values of a study from logs",
    .details =
        "The section 'tune' of the study names the values, their bounds and the criterion. Without one the\n"
        "likelihood of the innovations is made as large as it gets. The outcome does not depend on the "
        "number\n"
        "of threads, or of processes (mpirun bramah-mpi tune ...).\n",
    .example =
        "bramah tune sensors-2.yaml monday.csv tuesday.csv --hold-out friday.csv --journal tune.journal \\\n"
        "    --output tuned.yaml",
    .min_operands = 2,
    .max_operands = 1000,
    .options = options,
    .run = run};
