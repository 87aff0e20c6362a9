/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A run of tuning from start to end. */
#define _XOPEN_SOURCE 700 /* realpath */
#define _DEFAULT_SOURCE   /* _SC_NPROCESSORS_ONLN */
#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "lib/assess/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bramah_tune_options bramah_tune_options_default(void)
{
  return (bramah_tune_options){.criterion = -1, .method = -1};
}

/* ---- preparation ---- */

static bramah_status choose(bramah_tuning *t, bramah_diag *diag)
{
  const bramah_study_tune *tune = &bramah_session_study(t->problem.session)->tune;
  const char *path = t->problem.path;
  const int criterion = t->options.criterion < 0 ? (int)tune->criterion : t->options.criterion;
  int method = t->options.method < 0 ? (int)tune->method : t->options.method;
  if (t->options.folds && t->n_tuned < 2)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, "--folds", "cross-validation needs two logs or more");
  if (t->options.profile && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, "--profile",
                         "it follows the likelihood; other criteria have none");
  if (method == BRAMAH_TUNE_SCORING && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, tune->line, "tune",
                         "scoring is for the likelihood; other criteria want simplex");
  if (method == BRAMAH_TUNE_DEFAULT)
    method = criterion == BRAMAH_TUNE_LIKELIHOOD ? BRAMAH_TUNE_SCORING : BRAMAH_TUNE_SIMPLEX;
  t->search.criterion = (bramah_tune_criterion)criterion;
  t->search.method = (bramah_tune_method)method;
  t->search.penalty = tune->penalty < 0.0 ? 1.0 : tune->penalty;
  t->problem.ahead = tune->ahead ? tune->ahead : criterion == BRAMAH_TUNE_PREDICTION ? 100 : 0;
  return BRAMAH_OK;
}

bramah_status bramah__tuning_open(bramah_tuning *t, const char *study, size_t n_logs,
                                  const bramah_tune_options *options, bramah_diag *diag)
{
  t->options = options ? *options : bramah_tune_options_default();
  t->n_all = n_logs;
  t->n_tuned = n_logs - (t->options.n_held < n_logs ? t->options.n_held : n_logs);
  t->problem.tell = t->options.tell;
  t->problem.tell_user = t->options.user;
  t->problem.stopped = t->options.stopped;
  t->problem.stopped_user = t->options.user;
  bramah_diag_clear(diag);
  if (!t->n_tuned) return bramah__failf(diag, BRAMAH_E_VALUE, study, 0, "logs", "there is none to tune on");
  bramah_status status = bramah__tune_problem_open(&t->problem, study, diag);
  if (!status) status = bramah__tune_problem_add_parameters(&t->problem, diag);
  return status ? status : choose(t, diag);
}

bramah_status bramah__tuning_read(bramah_tuning *t, const char *const *logs, bramah_diag *diag)
{
  const bramah_status status =
      bramah__tune_problem_read(&t->problem, t->n_all, logs, t->options.n_truths, t->options.truths, diag);
  return status ? status : bramah__tune_problem_seal(&t->problem, diag);
}

static bramah_status open_search(bramah_tuning *t, bramah_diag *diag)
{
  const bramah__tune_problem *problem = &t->problem;
  const size_t size = bramah__tune_n_scores(problem, 0), n = t->n_all;
  const bramah__tune_search asked = t->search;
  size_t *logs = calloc(n + 1, sizeof *logs);
  if (!logs) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++) logs[i] = i;
  bramah_status status = bramah__tune_search_open(&t->search, problem, &t->workers, t->n_tuned, logs, diag);
  free(logs);
  t->search.criterion = asked.criterion;
  t->search.method = asked.method;
  t->search.penalty = asked.penalty;
  t->search.budget = t->options.budget;
  t->search.progress = t->options.progress;
  t->search.enough = t->options.enough;
  t->search.user = t->options.user;
  t->block = calloc(2 * n * size + problem->n + problem->n * problem->n + 1, sizeof *t->block);
  t->before = calloc(2 * n + 1, sizeof *t->before);
  if (!status && (!t->block || !t->before)) status = bramah__fail_memory(diag);
  if (status) return status;
  t->after = t->before + n;
  for (size_t i = 0; i < 2 * n; i++) t->before[i] = t->block + i * size;
  t->gradient = t->block + 2 * n * size;
  t->information = t->gradient + problem->n;
  return BRAMAH_OK;
}

static bramah_status open_workers(bramah_tuning *t, bramah_diag *diag)
{
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const size_t all = processors > 0 ? (size_t)processors : 1;
  t->workers.problem = &t->problem;
  t->workers.n_threads = t->options.n_threads ? t->options.n_threads : t->workers.n_ranks > 1 ? 1 : all;
  bramah_diag_clear(diag);
  const bramah_status status = bramah__journal_open(t->options.journal, diag, &t->workers.journal);
  if (status || !t->options.tell) return status;
  const size_t damaged = bramah__journal_count_damaged(t->workers.journal),
               read = bramah__journal_count_read(t->workers.journal);
  char line[1024];
  snprintf(line, sizeof line, "%s: %zu damaged lines are left out", t->options.journal, damaged);
  if (damaged) t->options.tell(t->options.user, line);
  snprintf(line, sizeof line, "%s: %zu results are there already", t->options.journal, read);
  if (read) t->options.tell(t->options.user, line);
  return BRAMAH_OK;
}

/* ---- the run ---- */

static bramah_status replay_all(bramah_tuning *t, const char *set, double **scores, bramah_diag *diag)
{
  bramah__tune_job *jobs = calloc(t->n_all + 1, sizeof *jobs);
  if (!jobs) return bramah__fail_memory(diag);
  for (size_t i = 0; i < t->n_all; i++) {
    jobs[i] = (bramah__tune_job){.log = i, .thousandths = 1000};
    memcpy(jobs[i].set, set, BRAMAH__TUNE_TEXT);
  }
  const bramah_status status = bramah__tune_workers_do(&t->workers, t->n_all, jobs, scores, diag);
  free(jobs);
  return status;
}

static void take_warning(void *user, const char *line)
{
  bramah_tuning *t = user;
  if (t->result.n_warnings == sizeof t->warning / sizeof t->warning[0]) return;
  snprintf(t->warning_text[t->result.n_warnings], sizeof t->warning_text[0], "%s", line);
  t->warning[t->result.n_warnings] = t->warning_text[t->result.n_warnings];
  t->result.n_warnings++;
}

/* The set found can be replayed, but a neighbour of it cannot, so that there is no slope. */
static bramah_status tell_no_intervals(bramah_tuning *t, const bramah_tune_verdict *verdict,
                                       bramah_diag *diag)
{
  char line[sizeof t->warning_text[0]];
  const bramah_status status = bramah__tune_explain(&t->search, t->set, verdict, diag);
  if (status == BRAMAH_E_MEMORY) return status;
  snprintf(line, sizeof line, "no intervals: %.60s%s%.150s", diag->thing, diag->thing[0] ? ": " : "",
           diag->message);
  bramah_diag_clear(diag);
  take_warning(t, line);
  return BRAMAH_OK;
}

/* The slope at the end, for the intervals. */
static bramah_status find_certainty(bramah_tuning *t, bramah_diag *diag)
{
  bramah__tune_search *s = &t->search;
  double value, x[BRAMAH__TUNE_MOST];
  bramah_tune_verdict verdict;
  const size_t n = t->problem.n, place = bramah__tune_place_information(&t->problem);
  if (s->criterion != BRAMAH_TUNE_LIKELIHOOD) return BRAMAH_OK;
  bramah_status status = bramah__tune_evaluate(s, t->set, 1, 0, &value, &verdict, diag);
  if (status) return status;
  if (!isfinite(value)) return tell_no_intervals(t, &verdict, diag);
  for (size_t k = 0; k < s->n_logs; k++)
    for (size_t i = 0; i < n * n; i++) t->information[i] += s->scores[k][place + i];
  bramah__tune_set_numbers(&t->problem, t->set, x);
  bramah__tune_penalty(s, x, t->gradient, t->information);
  status = bramah__tune_certainty_find(&t->certainty, s, t->set, t->information, diag);
  return status ? status : bramah__tune_bound_weak(&t->certainty, s, t->set, t->information, diag);
}

static bramah_status validate(bramah_tuning *t, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  if (t->options.folds)
    status = bramah__tune_cross_validate(&t->folds, &t->search, t->options.folds, t->first, t->set, diag);
  if (status || !t->options.profile || !t->certainty.n) return status;
  t->profiles = calloc(t->problem.n, sizeof *t->profiles);
  if (!t->profiles) return bramah__fail_memory(diag);
  return bramah__tune_find_profiles(t->profiles, &t->search, t->set, &t->certainty, t->information,
                                    t->options.profile, diag);
}

/* A search may end where the gates reject what does not fit. */
static bramah_status check_outcome(const bramah_tuning *t, bramah_diag *diag)
{
  const bramah__tune_search *s = &t->search;
  const bramah_tune_verdict verdict = bramah__tune_judge(&t->problem, s->n_logs, s->logs, t->after);
  const int bad = verdict.status || bramah__tune_starved(&verdict);
  return bad ? bramah__tune_explain(s, t->set, &verdict, diag) : BRAMAH_OK;
}

static void take_value(bramah_tuning *t, size_t i, double found)
{
  const bramah__tune_parameter *p = &t->problem.tuned[i];
  const bramah__tune_certainty *c = t->certainty.n ? &t->certainty : NULL;
  bramah_tuned_value *v = &t->values[i];
  *v = (bramah_tuned_value){.path = p->name,
                            .unit = p->unit,
                            .n_also = p->n_also,
                            .also = p->also,
                            .text = p->text,
                            .least = p->least,
                            .most = p->most,
                            .linear = p->linear,
                            .before = p->ref.number,
                            .found = found,
                            .low = (double)NAN,
                            .high = (double)NAN,
                            .sigma = (double)NAN,
                            .with = i};
  if (t->profiles) v->profile = t->profiles[i];
  if (!c) return;
  v->low = c->low[i];
  v->high = c->high[i];
  v->sigma = c->sigma[i];
  v->at_bound = c->held[i] == BRAMAH__TUNE_AT_LEAST || c->held[i] == BRAMAH__TUNE_AT_MOST;
  v->flat = c->held[i] == BRAMAH__TUNE_FLAT;
  for (size_t j = 0; !c->held[i] && j < c->n; j++) {
    const double r = c->correlation[i * c->n + j];
    if (j == i || !isfinite(r) || (v->with != i && !(fabs(r) > fabs(v->correlation)))) continue;
    v->with = j;
    v->correlation = r;
  }
}

/* All sensors of a log together: NIS, and what is expected of it behind the gates. */
static bramah_tune_colour together(const bramah__tune_problem *problem, const double *scores)
{
  bramah_tune_colour c = {.nis = scores[BRAMAH__TUNE_NIS] / scores[BRAMAH__TUNE_DOF]};
  bramah_diag ignored;
  double share = 0.0;
  if (bramah__nis_band(scores[BRAMAH__TUNE_DOF], 0.95, &c.low, &c.high, &ignored))
    c.low = c.high = (double)NAN;
  for (size_t i = 0; i < problem->n_sensors; i++) {
    const double n = scores[bramah__tune_place_sensor(i) + BRAMAH__TUNE_OF_N];
    share += n * bramah__nis_left_by_gate(bramah_session_study(problem->session)->gate[i]);
    c.n += n;
  }
  c.low *= share / c.n;
  c.high *= share / c.n;
  return c;
}

static void take_log(bramah_tuning *t, size_t k)
{
  const bramah__tune_problem *problem = &t->problem;
  bramah_tune_consistency *out = t->consistency + k * (problem->n_sensors + 1);
  t->log_names[k] = problem->logs[k].path;
  for (size_t i = 0; i < problem->n_sensors; i++)
    *out++ = (bramah_tune_consistency){.log = problem->logs[k].path,
                                       .sensor = bramah_session_about(problem->session)->sensors[i].name,
                                       .before = bramah__tune_look_at_sensor(problem, 1, t->before + k, i),
                                       .after = bramah__tune_look_at_sensor(problem, 1, t->after + k, i)};
  *out = (bramah_tune_consistency){.log = problem->logs[k].path,
                                   .before = together(problem, t->before[k]),
                                   .after = together(problem, t->after[k])};
  t->nis[k] = out->before.nis;
  t->nis[t->n_all + k] = out->after.nis;
}

static bramah_status take_result(bramah_tuning *t, bramah_diag *diag)
{
  static const char *const endings[] = {"converged", "stopped by its budget", "stuck"};
  bramah_tune_result *r = &t->result;
  double x[BRAMAH__TUNE_MOST];
  r->ending = endings[t->optimum.ending];
  r->criterion = bramah_tune_criterion_name(t->search.criterion);
  r->converged = t->optimum.ending == BRAMAH_ENDING_CONVERGED;
  r->iterations = t->optimum.iterations;
  r->evaluations = t->search.n_tried;
  r->replays = t->workers.replays;
  r->log_seconds = t->workers.log_seconds;
  r->n_known = bramah__journal_count_read(t->workers.journal);
  r->cost = t->optimum.cost;
  r->n = t->problem.n;
  r->has_intervals = t->certainty.n > 0;
  r->n_logs = t->n_all;
  r->n_consistency = t->n_all * (t->problem.n_sensors + 1);
  r->n_folds = t->folds.n;
  r->folds = t->folds.fold;
  t->values = calloc(r->n + 1, sizeof *t->values);
  t->nis = calloc(2 * t->n_all + 1, sizeof *t->nis);
  t->log_names = calloc(t->n_all + 1, sizeof *t->log_names);
  t->consistency = calloc(r->n_consistency + 1, sizeof *t->consistency);
  if (!t->values || !t->nis || !t->log_names || !t->consistency) return bramah__fail_memory(diag);
  bramah__tune_set_numbers(&t->problem, t->set, x);
  for (size_t i = 0; i < r->n; i++) take_value(t, i, x[i]);
  for (size_t k = 0; k < t->n_all; k++) take_log(t, k);
  bramah__tune_compare_criteria(&t->search, r->best);
  if (t->certainty.n) bramah__tune_certainty_warn(&t->certainty, &t->problem, take_warning, t);
  bramah__tune_warn_coloured(&t->problem, t->n_all, t->after, take_warning, t);
  r->values = t->values;
  r->logs = t->log_names;
  r->nis_before = t->nis;
  r->nis_after = t->nis + t->n_all;
  r->consistency = t->consistency;
  r->n_tried = t->search.n_tried;
  r->tried = t->search.tried;
  r->warnings = t->warning;
  return BRAMAH_OK;
}

bramah_status bramah__tuning_run(bramah_tuning *t, bramah_diag *diag)
{
  double x[BRAMAH__TUNE_MOST];
  bramah_status status = open_workers(t, diag);
  if (!status) status = open_search(t, diag);
  if (status) return status;
  for (size_t i = 0; i < t->problem.n; i++) x[i] = t->problem.tuned[i].start;
  bramah__tune_set_text(&t->problem, x, t->first);
  memcpy(t->set, t->first, BRAMAH__TUNE_TEXT);
  status = replay_all(t, t->first, t->before, diag);
  if (!status && !t->options.start_from_study) status = bramah__tune_find_start(&t->search, t->set, diag);
  if (!status) status = bramah__tune_optimise(&t->search, t->set, NULL, &t->optimum, diag);
  if (!status) status = replay_all(t, t->set, t->after, diag);
  if (!status) status = check_outcome(t, diag);
  if (!status) status = find_certainty(t, diag);
  if (!status) status = validate(t, diag);
  return status ? status : take_result(t, diag);
}

/* ---- the study ---- */

static void write_comment(const bramah__tune_parameter *t, const bramah__tune_certainty *c, size_t i,
                          char *out, size_t room)
{
  const char *gap = *t->unit ? " " : "";
  if (!c)
    snprintf(out, room, "tuned; was %s", t->text);
  else
    snprintf(out, room, "tuned: 95 %% interval %.4g to %.4g%s%s%s; was %s", c->low[i], c->high[i], gap,
             t->unit,
             c->held[i] == BRAMAH__TUNE_FREE   ? ""
             : c->held[i] == BRAMAH__TUNE_FLAT ? ", the logs hardly tell it"
                                               : ", at its bound",
             t->text);
}

static bramah_status set_place(bramah__edit *edit, const char *name, const char *value, const char *comment,
                               bramah_diag *diag)
{
  char path[512];
  const int in_machine = strncmp(name, "machine.", 8) == 0;
  snprintf(path, sizeof path, "%s%s", in_machine ? "changes." : "", in_machine ? name + 8 : name);
  return bramah__edit_set(edit, path, value, comment, diag);
}

static bramah_status set_value(bramah__edit *edit, const bramah_tuning *tuning, size_t i, double x,
                               bramah_diag *diag)
{
  const bramah__tune_parameter *t = &tuning->problem.tuned[i];
  char value[128], comment[256];
  snprintf(value, sizeof value, "%.6g%s%s", x, *t->unit ? " " : "", t->unit);
  write_comment(t, tuning->certainty.n ? &tuning->certainty : NULL, i, comment, sizeof comment);
  bramah_status status = set_place(edit, t->name, value, comment, diag);
  for (size_t k = 0; !status && k < t->n_also; k++) {
    snprintf(comment, sizeof comment, "tuned together with %.200s", t->name);
    status = set_place(edit, t->also[k], value, comment, diag);
  }
  return status;
}

static size_t folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The study names its machine from its own folder: in another one the whole path must be there. */
static bramah_status carry_machine(bramah__edit *edit, const bramah__tune_problem *problem, const char *path,
                                   bramah_diag *diag)
{
  const size_t n = folder_length(path);
  if (strcmp(path, "-") == 0 || (n == folder_length(problem->path) && strncmp(path, problem->path, n) == 0))
    return BRAMAH_OK;
  char *whole = realpath(bramah_session_study(problem->session)->machine_file, NULL);
  if (!whole) return BRAMAH_OK;
  const bramah_status status = bramah__edit_set(edit, "machine", whole, NULL, diag);
  free(whole);
  return status;
}

bramah_status bramah_tuning_write(const bramah_tuning *tuning, const char *path, const char *head,
                                  bramah_diag *diag)
{
  bramah__edit *edit = NULL;
  double x[BRAMAH__TUNE_MOST];
  bramah__tune_set_numbers(&tuning->problem, tuning->set, x);
  bramah_diag_clear(diag);
  bramah_status status = bramah__edit_study(tuning->problem.study, diag, &edit);
  if (!status) status = carry_machine(edit, &tuning->problem, path, diag);
  for (size_t i = 0; !status && i < tuning->problem.n; i++) status = set_value(edit, tuning, i, x[i], diag);
  if (!status) status = bramah__edit_write(edit, path, head, diag);
  bramah__edit_free(edit);
  return status;
}

/* ---- all of it ---- */

void bramah__tuning_close(bramah_tuning *t)
{
  bramah__tune_folds_free(&t->folds);
  bramah__tune_profiles_free(t->profiles, t->problem.n);
  bramah__tune_certainty_free(&t->certainty);
  bramah__tune_search_close(&t->search);
  bramah__journal_close(t->workers.journal);
  bramah__tune_problem_close(&t->problem);
  free(t->block);
  free(t->before);
  free(t->values);
  free(t->nis);
  free(t->log_names);
  free(t->consistency);
}

bramah_status bramah_tune(const char *study, size_t n_logs, const char *const *logs,
                          const bramah_tune_options *options, bramah_diag *diag, bramah_tuning **out)
{
  bramah_tuning *t = calloc(1, sizeof *t);
  *out = NULL;
  if (!t) return bramah__fail_memory(diag);
  t->workers.n_ranks = 1;
  bramah_status status = bramah__tuning_open(t, study, n_logs, options, diag);
  if (!status) status = bramah__tuning_read(t, logs, diag);
  if (!status) status = bramah__tuning_run(t, diag);
  if (status)
    bramah_tuning_free(t);
  else
    *out = t;
  return status;
}

bramah_status bramah_tune_check(const char *study, bramah_diag *diag, bramah_tuning **out)
{
  bramah_tuning *t = calloc(1, sizeof *t);
  *out = NULL;
  bramah_diag_clear(diag);
  if (!t) return bramah__fail_memory(diag);
  bramah_status status = bramah__tune_problem_open(&t->problem, study, diag);
  if (!status) status = bramah__tune_problem_add_parameters(&t->problem, diag);
  t->values = calloc(t->problem.n + 1, sizeof *t->values);
  if (!status && !t->values) status = bramah__fail_memory(diag);
  if (status) {
    bramah_tuning_free(t);
    return status;
  }
  for (size_t i = 0; i < t->problem.n; i++) take_value(t, i, t->problem.tuned[i].start);
  t->result = (bramah_tune_result){.n = t->problem.n, .values = t->values};
  *out = t;
  return BRAMAH_OK;
}

void bramah_tuning_free(bramah_tuning *tuning)
{
  if (!tuning) return;
  bramah__tuning_close(tuning);
  free(tuning);
}

const bramah_tune_result *bramah_tuning_result(const bramah_tuning *tuning) { return &tuning->result; }
