/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bramah tune: the figures of a study from logs. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include "lib/cli/commands.h"
#include "lib/cli/arguments.h"
#include "lib/cli/output_files.h"
#include "lib/cli/progress.h"
#include "lib/cli/stop.h"
#include "lib/cli/study_crew.h"
#include "lib/cli/tune_output.h"
#include "lib/cli/tune_report.h"
#include "lib/cli/tune_validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct tuning {
  const cli_arguments *arguments;
  const char *output, *evaluations, *journal, *report;
  size_t rank;
  int as_it_stands; /* 1: begin with the study's own figures */
  uint64_t threads, seed, starts, budget, folds, profile;
  int64_t time_ns;
  cli_tune_lab lab;
  cli_tune_crew crew;
  cli_tune_search search;
  size_t n_tuned, n_all;
  const char **logs, **truths; /* those held out stand behind */
  size_t n_truths;
  char first[CLI_TUNE_TEXT], set[CLI_TUNE_TEXT];
  double *block, **before, **after; /* figures [n_all] */
  double *gradient, *information;
  bramah_optimum optimum;
  cli_tune_certainty certainty;
  cli_tune_folds folds_found;
  cli_tune_profile *profiles; /* NULL: not wanted */
  size_t n_warnings;
  char warnings[16][256];
  double start, seconds; /* of the clock */
} tuning;

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
static const word methods[] = {{"scoring", BRAMAH_TUNE_SCORING},
                               {"simplex", BRAMAH_TUNE_SIMPLEX},
                               {"multistart", BRAMAH_TUNE_MULTISTART},
                               {"global", BRAMAH_TUNE_GLOBAL},
                               {0}};

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

static int read_lists(tuning *t)
{
  const cli_arguments *a = t->arguments;
  const size_t held = count_given(a, "hold-out");
  t->n_tuned = (size_t)a->n_operands - 1;
  t->n_all = t->n_tuned + held;
  t->n_truths = count_given(a, "truth");
  t->logs = calloc(t->n_all + 1, sizeof *t->logs);
  t->truths = calloc(t->n_truths + 1, sizeof *t->truths);
  if (!t->logs || !t->truths) return CLI_FAILED;
  for (size_t i = 0; i < t->n_tuned; i++) t->logs[i] = a->operands[i + 1];
  for (size_t i = 0; i < held; i++) t->logs[t->n_tuned + i] = cli_value_again(a, "hold-out", i);
  for (size_t i = 0; i < t->n_truths; i++) t->truths[i] = cli_value_again(a, "truth", i);
  return 0;
}

static int read_arguments(tuning *t)
{
  const cli_arguments *a = t->arguments;
  t->output = cli_value(a, "output");
  t->evaluations = cli_value(a, "evaluations");
  t->journal = cli_value(a, "journal");
  t->report = cli_value(a, "report");
  t->as_it_stands = cli_value(a, "as-it-stands") != NULL;
  t->seed = 1;
  t->starts = 8;
  int code = cli_count_value(a, "threads", 1, &t->threads);
  if (!code) code = cli_count_value(a, "seed", 0, &t->seed);
  if (!code) code = cli_count_value(a, "starts", 1, &t->starts);
  if (!code) code = cli_count_value(a, "budget", 1, &t->budget);
  if (!code) code = cli_count_value(a, "folds", 2, &t->folds);
  if (!code) code = cli_count_value(a, "profile", 1, &t->profile);
  if (!code) code = cli_time_value(a, "time", &t->time_ns);
  return code ? code : read_lists(t);
}

/* ---- preparation ---- */

static bramah_status check_files(const tuning *t, bramah_diag *diag)
{
  const char *const outputs[] = {t->output, t->evaluations, t->report, t->journal};
  const char *others[16];
  bramah_status status = BRAMAH_OK;
  for (size_t o = 0; !status && o < 4; o++) {
    size_t n = 0;
    others[n++] = o ? t->lab.path : NULL; /* the study itself may be written anew */
    others[n++] = bramah_session_study(t->lab.session)->machine_file;
    for (size_t p = 0; p < o; p++) others[n++] = outputs[p];
    status = cli_check_output(outputs[o], n, others, diag);
    if (!status) status = cli_check_output(outputs[o], t->n_all, t->logs, diag);
    if (!status) status = cli_check_output(outputs[o], t->n_truths, t->truths, diag);
    if (!status) status = cli_check_place(outputs[o], diag);
  }
  return status;
}

static bramah_status choose(tuning *t, bramah_diag *diag)
{
  const bramah_study_tune *tune = &bramah_session_study(t->lab.session)->tune;
  int criterion = (int)tune->criterion, method = (int)tune->method;
  if (word_value(t->arguments, "criterion", criteria, &criterion)) return BRAMAH_E_ARGUMENT;
  if (word_value(t->arguments, "method", methods, &method)) return BRAMAH_E_ARGUMENT;
  if (t->folds && t->n_tuned < 2)
    return cli_fail(diag, BRAMAH_E_VALUE, t->lab.path, 0, "--folds",
                    "cross-validation needs two logs or more");
  if (t->profile && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return cli_fail(diag, BRAMAH_E_VALUE, t->lab.path, 0, "--profile",
                    "it follows the likelihood; other criteria have none");
  if (method == BRAMAH_TUNE_SCORING && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return cli_fail(diag, BRAMAH_E_VALUE, t->lab.path, tune->line, "tune",
                    "scoring is for the likelihood; other criteria want simplex, multistart or global");
  if (method == BRAMAH_TUNE_DEFAULT)
    method = criterion == BRAMAH_TUNE_LIKELIHOOD ? BRAMAH_TUNE_SCORING : BRAMAH_TUNE_SIMPLEX;
  t->search.criterion = (bramah_tune_criterion)criterion;
  t->search.method = (bramah_tune_method)method;
  t->search.penalty = tune->penalty < 0.0 ? 1.0 : tune->penalty;
  t->lab.ahead = tune->ahead ? tune->ahead : criterion == BRAMAH_TUNE_PREDICTION ? 100 : 0;
  return BRAMAH_OK;
}

static bramah_status open_lab(tuning *t, bramah_diag *diag)
{
  bramah_status status = cli_tune_lab_open(&t->lab, t->arguments->operands[0], diag);
  if (!status) status = cli_tune_lab_add_parameters(&t->lab, diag);
  if (!status) status = choose(t, diag);
  if (!status) status = check_files(t, diag);
  if (!status) status = cli_tune_lab_read(&t->lab, t->n_all, t->logs, t->n_truths, t->truths, diag);
  return status ? status : cli_tune_lab_seal(&t->lab, diag);
}

static bramah_status open_search(tuning *t, bramah_diag *diag)
{
  const cli_tune_lab *lab = &t->lab;
  const size_t size = cli_tune_n_figures(lab, 0), n = t->n_all;
  const cli_tune_search asked = t->search;
  size_t *logs = calloc(n + 1, sizeof *logs);
  if (!logs) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < n; i++) logs[i] = i;
  bramah_status status = cli_tune_search_open(&t->search, lab, &t->crew, t->n_tuned, logs, diag);
  free(logs);
  t->search.criterion = asked.criterion;
  t->search.method = asked.method;
  t->search.penalty = asked.penalty;
  t->search.seed = t->seed;
  t->search.starts = (size_t)t->starts;
  t->search.budget = t->budget;
  t->search.talks = isatty(STDERR_FILENO);
  t->search.until = t->time_ns ? t->start + cli_seconds(t->time_ns) : 0.0;
  t->block = calloc(2 * n * size + lab->n + lab->n * lab->n + 1, sizeof *t->block);
  t->before = calloc(2 * n + 1, sizeof *t->before);
  if (!status && (!t->block || !t->before))
    status = cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  if (status) return status;
  t->after = t->before + n;
  for (size_t i = 0; i < 2 * n; i++) t->before[i] = t->block + i * size;
  t->gradient = t->block + 2 * n * size;
  t->information = t->gradient + lab->n;
  return BRAMAH_OK;
}

static bramah_status open_crew(tuning *t, bramah_diag *diag)
{
  t->crew.lab = &t->lab;
  t->crew.n_threads = t->threads ? (size_t)t->threads : t->crew.n_ranks > 1 ? 1 : cli_crew_processors();
  bramah_diag_clear(diag);
  bramah_status status = bramah_journal_open(t->journal, diag, &t->crew.journal);
  if (status) return status;
  if (bramah_journal_count_damaged(t->crew.journal))
    cli_note("%s: %zu damaged lines are left out", t->journal, bramah_journal_count_damaged(t->crew.journal));
  if (bramah_journal_count_read(t->crew.journal))
    cli_note("%s: %zu results are there already", t->journal, bramah_journal_count_read(t->crew.journal));
  return BRAMAH_OK;
}

/* ---- the run ---- */

static bramah_status replay_all(tuning *t, const char *set, double **figures, bramah_diag *diag)
{
  cli_tune_job *jobs = calloc(t->n_all + 1, sizeof *jobs);
  if (!jobs) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < t->n_all; i++) {
    jobs[i] = (cli_tune_job){.log = i, .thousandths = 1000};
    memcpy(jobs[i].set, set, CLI_TUNE_TEXT);
  }
  const bramah_status status = cli_tune_crew_work(&t->crew, t->n_all, jobs, figures, diag);
  free(jobs);
  return status;
}

static void take_warning(void *user, const char *line)
{
  tuning *t = user;
  if (t->n_warnings < sizeof t->warnings / sizeof t->warnings[0])
    snprintf(t->warnings[t->n_warnings++], sizeof t->warnings[0], "%s", line);
}

/* The set found can be replayed, but a figure beside it cannot, so that there is no slope. */
static bramah_status tell_no_intervals(tuning *t, const cli_tune_verdict *verdict, bramah_diag *diag)
{
  char line[sizeof t->warnings[0]];
  const bramah_status status = cli_tune_explain(&t->search, t->set, verdict, diag);
  if (status == BRAMAH_E_MEMORY) return status;
  snprintf(line, sizeof line, "no intervals: %.60s%s%.150s", diag->thing, diag->thing[0] ? ": " : "",
           diag->message);
  bramah_diag_clear(diag);
  take_warning(t, line);
  return BRAMAH_OK;
}

/* The slope at the end, for the intervals. */
static bramah_status find_certainty(tuning *t, bramah_diag *diag)
{
  cli_tune_search *s = &t->search;
  double value, x[CLI_TUNE_MOST];
  cli_tune_verdict verdict;
  const size_t n = t->lab.n, place = cli_tune_place_information(&t->lab);
  if (s->criterion != BRAMAH_TUNE_LIKELIHOOD) return BRAMAH_OK;
  bramah_status status = cli_tune_evaluate(s, t->set, 1, 0, &value, &verdict, diag);
  if (status) return status;
  if (!isfinite(value)) return tell_no_intervals(t, &verdict, diag);
  for (size_t k = 0; k < s->n_logs; k++)
    for (size_t i = 0; i < n * n; i++) t->information[i] += s->figures[k][place + i];
  cli_tune_set_numbers(&t->lab, t->set, x);
  cli_tune_penalty(s, x, t->gradient, t->information);
  status = cli_tune_certainty_find(&t->certainty, s, t->set, t->information, diag);
  return status ? status : cli_tune_bound_weak(&t->certainty, s, t->set, t->information, diag);
}

static bramah_status validate(tuning *t, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (t->folds)
    status = cli_tune_cross_validate(&t->folds_found, &t->search, (size_t)t->folds, t->first, t->set, diag);
  if (status || !t->profile || !t->certainty.n) return status;
  t->profiles = calloc(t->lab.n, sizeof *t->profiles);
  if (!t->profiles) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  return cli_tune_find_profiles(t->profiles, &t->search, t->set, &t->certainty, t->information,
                                (size_t)t->profile, diag);
}

/* A search may end where the gates keep out what does not fit. */
static bramah_status check_outcome(const tuning *t, bramah_diag *diag)
{
  const cli_tune_search *s = &t->search;
  const cli_tune_verdict verdict = cli_tune_judge(&t->lab, s->n_logs, s->logs, t->after);
  const int bad = verdict.status || cli_tune_starved(&verdict);
  return bad ? cli_tune_explain(s, t->set, &verdict, diag) : BRAMAH_OK;
}

static bramah_status tune(tuning *t, bramah_diag *diag)
{
  double x[CLI_TUNE_MOST];
  for (size_t i = 0; i < t->lab.n; i++) x[i] = t->lab.tuned[i].start;
  cli_tune_set_text(&t->lab, x, t->first);
  memcpy(t->set, t->first, CLI_TUNE_TEXT);
  bramah_status status = replay_all(t, t->first, t->before, diag);
  if (!status && !t->as_it_stands) status = cli_tune_find_start(&t->search, t->set, diag);
  if (!status) status = cli_tune_optimise(&t->search, t->set, NULL, &t->optimum, diag);
  if (!status) status = replay_all(t, t->set, t->after, diag);
  if (!status) status = check_outcome(t, diag);
  if (!status) status = find_certainty(t, diag);
  return status ? status : validate(t, diag);
}

/* ---- what came out ---- */

static const char *const endings[] = {"converged", "stopped by its budget", "stuck"};

static void write_head(const tuning *t, char *head, size_t room)
{
  size_t used =
      (size_t)snprintf(head, room, "Tuned by bramah %s: criterion %s, %zu log%s:", bramah_version(),
                       cli_tune_criterion_name(t->search.criterion), t->n_tuned, t->n_tuned == 1 ? "" : "s");
  for (size_t i = 0; i < t->n_tuned && used < room; i++)
    used += (size_t)snprintf(head + used, room - used, "%s %s", i ? "," : "", t->logs[i]);
}

static void print_search(const tuning *t, FILE *out)
{
  const cli_tune_search *s = &t->search;
  fprintf(out, "study: %s (%s), %zu figure%s\n", bramah_session_study(t->lab.session)->name, t->lab.path,
          t->lab.n, t->lab.n == 1 ? "" : "s");
  fprintf(out, "logs: %zu tuned on, %zu held out\n", t->n_tuned, t->n_all - t->n_tuned);
  fprintf(out, "search: %s after %d iterations, %zu evaluations; %s %.6g\n", endings[t->optimum.ending],
          t->optimum.iterations, s->n_tried, cli_tune_criterion_name(s->criterion), t->optimum.cost);
  fprintf(out, "work: %llu replays in %.1f s, %.1f s of log per second%s\n",
          (unsigned long long)t->crew.replays, t->seconds, t->crew.log_seconds / t->seconds,
          bramah_journal_count_read(t->crew.journal) ? " (others were in the journal)" : "");
}

enum { MOST_TABLES = 8 };

static size_t make_tables(tuning *t, cli_table *tables)
{
  size_t n = 0, *logs = calloc(t->n_all + 1, sizeof *logs);
  if (t->certainty.n) tables[n++] = cli_tune_certainty_table(&t->certainty, &t->lab);
  for (size_t i = 0; logs && i < t->n_all; i++) logs[i] = i;
  if (logs) tables[n++] = cli_tune_consistency_table(&t->lab, t->n_all, logs, t->before, t->after);
  if (t->folds_found.n) {
    tables[n++] = cli_tune_folds_table(&t->folds_found, &t->lab);
    tables[n++] = cli_tune_spread_table(&t->folds_found, &t->lab);
  }
  if (t->profiles) tables[n++] = cli_tune_profile_table(t->profiles, &t->lab);
  tables[n++] = cli_tune_criteria_table(&t->search);
  free(logs);
  return n;
}

static bramah_status write_report(const tuning *t, const char *head, size_t n, const cli_table *tables,
                                  bramah_diag *diag)
{
  cli_tune_note notes[4 + 16] = {{"study", t->lab.path},
                                 {"machine", bramah_session_study(t->lab.session)->machine_file},
                                 {"tuned", head}};
  size_t n_notes = 3;
  for (size_t i = 0; i < t->n_warnings; i++) notes[n_notes++] = (cli_tune_note){"warning", t->warnings[i]};
  return cli_tune_write_report(t->report, &t->search, t->certainty.n ? &t->certainty : NULL, t->profiles,
                               n_notes, notes, n, tables, diag);
}

static bramah_status write_files(const tuning *t, size_t n, const cli_table *tables, bramah_diag *diag)
{
  char head[2048];
  bramah_status status = BRAMAH_OK;
  write_head(t, head, sizeof head);
  if (t->output)
    status =
        cli_tune_write_study(t->output, &t->lab, t->set, t->certainty.n ? &t->certainty : NULL, head, diag);
  if (!status && t->evaluations) status = cli_tune_write_evaluations(t->evaluations, &t->search, diag);
  return status || !t->report ? status : write_report(t, head, n, tables, diag);
}

static bramah_status conclude(tuning *t, bramah_diag *diag)
{
  const char *const outputs[] = {t->output, t->evaluations, t->report};
  FILE *out = cli_summary_stream(3, outputs);
  cli_table tables[MOST_TABLES];
  const size_t n = make_tables(t, tables);
  print_search(t, out);
  if (t->certainty.n) cli_tune_certainty_warn(&t->certainty, &t->lab, take_warning, t);
  cli_tune_warn_coloured(&t->lab, t->n_all, t->after, take_warning, t);
  for (size_t i = 0; i < n; i++) cli_table_print(&tables[i], out);
  if (t->n_warnings) fputc('\n', out);
  for (size_t i = 0; i < t->n_warnings; i++) fprintf(out, "warning: %s\n", t->warnings[i]);
  const bramah_status status = write_files(t, n, tables, diag);
  for (size_t i = 0; i < n; i++) cli_table_free(&tables[i]);
  return status;
}

static void clean_up(tuning *t)
{
  cli_tune_folds_free(&t->folds_found);
  cli_tune_profiles_free(t->profiles, t->lab.n);
  cli_tune_certainty_free(&t->certainty);
  cli_tune_search_close(&t->search);
  bramah_journal_close(t->crew.journal);
  cli_tune_lab_close(&t->lab);
  free(t->block);
  free(t->before);
  free(t->logs);
  free(t->truths);
}

static bramah_status lead(tuning *t, bramah_diag *diag)
{
  cli_stop_catch();
  bramah_status status = open_crew(t, diag);
  if (!status) status = open_search(t, diag);
  if (!status) status = tune(t, diag);
  cli_tune_stop_talking(&t->search);
  cli_tune_ranks_dismiss();
  t->seconds = cli_clock() - t->start;
  return status ? status : conclude(t, diag);
}

static int run(const cli_arguments *arguments)
{
  tuning t = {.arguments = arguments, .start = cli_clock()};
  bramah_diag diag;
  bramah_diag_clear(&diag);
  int code = read_arguments(&t);
  if (!code) {
    cli_tune_ranks_begin(&t.rank, &t.crew.n_ranks);
    t.lab.quiet = t.rank != 0;
    bramah_status status = cli_tune_ranks_agree(&t.lab, open_lab(&t, &diag), &diag);
    if (!status) status = t.rank ? cli_tune_ranks_serve(&t.lab, &diag) : lead(&t, &diag);
    if (status)
      code = diag.message[0] ? cli_report(&diag) : status == BRAMAH_E_ARGUMENT ? CLI_WRONG_USE : CLI_FAILED;
    cli_tune_ranks_end();
  }
  clean_up(&t);
  return code;
}

static const cli_option options[] = {
    {"output", "FILE", "study file with the figures found; - is standard output", 0, 0},
    {"journal", "FILE", "every result goes there as it comes; a new run goes on from it", 0, 0},
    {"evaluations", "FILE", "CSV file with every set of figures that was tried", 0, 0},
    {"report", "FILE", "HTML page with plots and tables", 0, 0},
    {"truth", "FILE", "true motion of a log, in the order of the logs", 0, 1},
    {"hold-out", "LOG", "a log that is judged but not tuned on", 0, 1},
    {"folds", "N", "cross-validation: tune anew without each N-th of the logs", 0, 0},
    {"profile", "N", "profile of the likelihood, N points to each side of every figure", 0, 0},
    {"criterion", "NAME", "likelihood, nis, rmse or prediction, instead of the study's", 0, 0},
    {"method", "NAME", "scoring, simplex, multistart or global, instead of the study's", 0, 0},
    {"as-it-stands", NULL, "begin with the study's figures, not with what the innovations tell", 0, 0},
    {"seed", "N", "of methods that draw at random (1)", 0, 0},
    {"starts", "N", "of multistart (8)", 0, 0},
    {"budget", "N", "evaluations at most", 0, 0},
    {"time", "TIME", "time of the clock at most; what was finished then depends on the machine", 0, 0},
    {"threads", "N", "default: as many as there are processors; 1 beside other processes of mpirun", 0, 0},
    {0}};

const cli_command cli_tune = {
    .name = "tune",
    .operands = "STUDY LOG...",
    .summary = "Find noise and other figures of a study from logs",
    .details =
        "The section 'tune' of the study names the figures, their bounds and the criterion. Without one the\n"
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
