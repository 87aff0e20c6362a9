/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tuning from start to end, and the study with what it found. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "lib/io/fail.h"
#include "lib/io/session.h"
#include "bramah/assess.h"
#include "lib/tune/tune_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bramah_tuning {
  bramah_tune_options options;
  bramah__tune_problem problem;
  bramah__tune_workers workers;
  bramah__tune_search search;
  size_t n_tuned, n_all;                                 /* logs; those that are only judged come last */
  size_t *logs;                                          /* [n_all] of the problem */
  double first[BRAMAH__TUNE_MOST], x[BRAMAH__TUNE_MOST]; /* the study's own candidate, and the one found */
  bramah__replay_score *before, *after;                  /* [n_all] of these */
  bramah__optimum optimum;
  bramah__tune_certainty certainty; /* n 0: not known */
  bramah_tune_fold *folds;
  size_t n_folds;
  bramah_tune_profile *profiles; /* NULL: not wanted */
  bramah_tune_result result;
  bramah_tuned_value *values;
  double *nis;            /* [2 x n_all] */
  const char **log_names; /* [n_all] */
  bramah_tune_consistency *consistency;
  const char *warning[16];
  char warning_text[16][256];
  bramah_doubt doubt;
};

void bramah_tune_options_default(bramah_tune_options *options)
{
  *options = (bramah_tune_options){.criterion = -1, .method = -1};
}

/* ---- preparation ---- */

/* The study, how it is to be tuned, and the logs. */
static bramah_status prepare(bramah_tuning *t, const char *path, size_t n_logs, const char *const *logs,
                             bramah_diag *diag)
{
  const bramah_tune_options *o = &t->options;
  bramah_diag_clear(diag);
  if (o->n_held >= n_logs)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, "logs", "there is none to tune on");
  bramah_status status = bramah__tune_problem_open(&t->problem, path, &o->run, diag);
  if (!status) status = bramah__tune_problem_add_parameters(&t->problem, diag);
  if (status) return status;

  const bramah_study_tune *tune = &bramah_session_study(t->problem.session)->tune;
  const int criterion = o->criterion < 0 ? (int)tune->criterion : o->criterion;
  int method = o->method < 0 ? (int)tune->method : o->method;
  if (o->folds && n_logs - o->n_held < 2)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, "--folds", "cross-validation needs two logs or more");
  if (o->profile && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, 0, "--profile",
                         "it follows the likelihood; other criteria have none");
  if (method == BRAMAH_TUNE_SCORING && criterion != BRAMAH_TUNE_LIKELIHOOD)
    return bramah__failf(diag, BRAMAH_E_VALUE, path, tune->line, "tune",
                         "scoring is for the likelihood; other criteria want simplex");
  if (method == BRAMAH_TUNE_DEFAULT)
    method = criterion == BRAMAH_TUNE_LIKELIHOOD ? BRAMAH_TUNE_SCORING : BRAMAH_TUNE_SIMPLEX;
  t->search = (bramah__tune_search){.criterion = (bramah_tune_criterion)criterion,
                                    .method = (bramah_tune_method)method,
                                    .penalty = tune->penalty < 0.0 ? 1.0 : tune->penalty,
                                    .budget = o->budget,
                                    .options = o};
  if (!t->problem.ahead && criterion == BRAMAH_TUNE_PREDICTION) t->problem.ahead = 100;
  status = bramah__tune_problem_read(&t->problem, n_logs, logs, o->n_held, diag);
  t->n_all = t->problem.n_logs;
  t->n_tuned = t->n_all - t->problem.n_held;
  t->logs = calloc(t->n_all + 1, sizeof *t->logs);
  if (!status && !t->logs) status = bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < t->n_all; i++) t->logs[i] = i;
  return status;
}

/* ---- the run ---- */

static void take_warning(void *user, const char *line)
{
  bramah_tuning *t = user;
  if (t->result.n_warnings == sizeof t->warning / sizeof t->warning[0]) return;
  snprintf(t->warning_text[t->result.n_warnings], sizeof t->warning_text[0], "%.255s", line);
  t->warning[t->result.n_warnings] = t->warning_text[t->result.n_warnings];
  t->result.n_warnings++;
}

/* Logs that the filter follows neither as the study has it nor where it hardly heeds its sensors are left out,
 * so long as one to tune on remains: what is wrong is in the log, not in the values. */
static bramah_status leave_out(bramah_tuning *t, bramah_diag *diag)
{
  bramah__tune_problem *problem = &t->problem;
  double x[1][BRAMAH__TUNE_MOST];
  size_t n = 0, n_bad = 0, n_tuned = 0, *bad = calloc(t->n_all + 1, sizeof *bad);
  bramah__replay_score *again = bramah__replay_scores_new(problem, t->n_all, 0);
  bramah_status status = bad && again ? BRAMAH_OK : bramah__fail_memory(diag);
  memcpy(x[0], t->first, sizeof x[0]);
  if (!t->options.start_from_study) bramah__tune_heedless(problem, x[0]);
  for (size_t k = 0; !status && !t->options.run.strict && k < t->n_all; k++)
    if (t->before[k].status) bad[n++] = k;
  if (!status && n) status = bramah__tune_workers_replay(&t->workers, 1, x, n, bad, 1000, again, diag);
  for (size_t b = 0; !status && b < n; b++) {
    if (!again[b].status) continue;
    n_tuned += bad[b] < t->n_tuned;
    bad[n_bad++] = bad[b];
  }
  if (n_tuned == t->n_tuned) n_bad = 0;
  for (size_t b = 0; !status && b < n_bad; b++) {
    const size_t k = bad[b] - b; /* those before are out already */
    const bramah_tune_verdict verdict = {.status = t->before[k].status, .failed = bad[b]};
    status = bramah__tune_explain_failure(problem, t->first, 0, &verdict, diag);
    if (status != BRAMAH_E_MEMORY) status = BRAMAH_OK;
    bramah__tune_leave_out(problem, problem->logs[bad[b]].path, diag);
    if (!status) bramah_diag_clear(diag);
    t->n_tuned -= k < t->n_tuned;
    t->n_all--;
    memmove(t->logs + k, t->logs + k + 1, (t->n_all - k) * sizeof *t->logs);
    memmove(t->before + k, t->before + k + 1, (t->n_all - k) * sizeof *t->before);
  }
  free(bad);
  free(again);
  return status;
}

/* Intervals, by the slope at the end. Where the search was stopped, or the candidate found can be replayed but a
 * neighbour of it cannot, there is none, which is a warning. */
static bramah_status find_certainty(bramah_tuning *t, bramah_diag *diag)
{
  double value;
  bramah_tune_verdict verdict;
  if (t->search.criterion != BRAMAH_TUNE_LIKELIHOOD) return BRAMAH_OK;
  if (t->optimum.ending == BRAMAH_ENDING_STOPPED) {
    take_warning(t, "no intervals: the search was stopped before it converged");
    return BRAMAH_OK;
  }
  bramah_status status = bramah__tune_evaluate(&t->search, t->x, 1, 0, &value, &verdict, diag);
  if (status) return status;
  if (isfinite(value)) return bramah__tune_certainty_find(&t->certainty, &t->search, t->x, diag);
  char line[sizeof t->warning_text[0]];
  status = bramah__tune_explain(&t->search, t->x, &verdict, diag);
  if (status == BRAMAH_E_MEMORY) return status;
  snprintf(line, sizeof line, "no intervals: %.60s%s%.150s", diag->thing, diag->thing[0] ? ": " : "",
           diag->message);
  bramah_diag_clear(diag);
  take_warning(t, line);
  return BRAMAH_OK;
}

static void take_value(bramah_tuning *t, size_t i, double found)
{
  const bramah__tune_parameter *p = &t->problem.tuned[i];
  const bramah__tune_certainty *c = &t->certainty;
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
  if (!c->n) return;
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

/* Consistency before and after: of each log its sensors, then all together; and a line for each sensor whose
 * innovations keep a memory. */
static void take_consistency(bramah_tuning *t)
{
  const bramah__tune_problem *problem = &t->problem;
  const size_t n = problem->n_sensors;
  for (size_t k = 0; k < t->n_all; k++) {
    bramah_tune_consistency *out = t->consistency + k * (n + 1);
    const char *log = t->log_names[k] = problem->logs[t->logs[k]].path;
    for (size_t i = 0; i < n; i++)
      *out++ =
          (bramah_tune_consistency){.log = log,
                                    .sensor = bramah_session_about(problem->session)->sensors[i].name,
                                    .before = bramah__tune_colour_of(problem, 1, &t->before[k], i, t->n_all),
                                    .after = bramah__tune_colour_of(problem, 1, &t->after[k], i, t->n_all)};
    *out = (bramah_tune_consistency){.log = log,
                                     .before = bramah__tune_colour_of_all(problem, &t->before[k], t->n_all),
                                     .after = bramah__tune_colour_of_all(problem, &t->after[k], t->n_all)};
    t->nis[k] = out->before.nis;
    t->nis[t->n_all + k] = out->after.nis;
  }
  for (size_t i = 0; i < n; i++) {
    size_t coloured = 0, faint = 0;
    double most = 0.0;
    for (size_t k = 0; k < t->n_all; k++) {
      const bramah_tune_colour *c = &t->consistency[k * (n + 1) + i].after;
      coloured += (size_t)c->coloured;
      faint += (size_t)c->faint;
      if (fabs(c->lag[0]) > fabs(most)) most = c->lag[0];
    }
    if (!coloured && !faint) continue;
    char line[512];
    snprintf(line, sizeof line,
             "%s: its innovations remain %scoloured in %zu of %zu logs (correlation of neighbours up to "
             "%.2f); noise cannot cure what the model lacks there",
             bramah_session_about(problem->session)->sensors[i].name, coloured ? "" : "faintly ",
             coloured + faint, t->n_all, most);
    take_warning(t, line);
  }
}

/* The verdict of a replay of log k with the values found, where that is a doubt. */
static bramah_status replay_found(bramah_tuning *t, size_t k, bramah_diag *diag)
{
  const bramah__tune_log *log = &t->problem.logs[t->logs[k]];
  bramah__tune_session opened;
  bramah__tune_cursor cursor = {0};
  bramah_assess *assess = NULL;
  bramah_status status = bramah__tune_session_open(&opened, &t->problem, t->x, diag);
  if (!status) status = bramah__tune_cursor_open(&cursor, log, opened.delay_ns, opened.shift, 1000, diag);
  if (!status)
    status = bramah_assess_new(opened.session, bramah__tune_cursor_next, &cursor, NULL, diag, &assess);
  if (!status) status = bramah_assess_run(assess, diag);
  const bramah_doubt *doubt = status ? NULL : bramah_assess_get_results(assess)->verdict.doubt;
  if (doubt) {
    t->doubt = *doubt;
    t->result.doubt = &t->doubt;
    t->result.doubted_log = log->path;
  }
  bramah_assess_free(assess);
  bramah__tune_cursor_close(&cursor);
  bramah__tune_session_close(&opened);
  return status;
}

/* Of the first log that doubts it. A replay that is assessed takes as long as some evaluations: only where a sensor's neighbours are
 * anticorrelated at all. */
static void take_doubt(bramah_tuning *t)
{
  static const double least = -0.04, sigmas = -2.5;
  for (size_t k = 0; k < t->n_all && !t->result.doubt; k++) {
    int any = 0;
    for (size_t i = 0; i < t->problem.n_sensors; i++) {
      const bramah__sensor_score *s = &t->after[k].sensor[i];
      any |= s->lag[0] < least * s->nis && s->lag[0] * sqrt(s->n) < sigmas * s->nis;
    }
    bramah_diag why;
    bramah_diag_clear(&why);
    if (!any || !replay_found(t, k, &why)) continue;
    char line[512];
    snprintf(line, sizeof line, "whether process noise is overestimated is not known: %.300s", why.message);
    take_warning(t, line);
  }
}

static bramah_status take_result(bramah_tuning *t, bramah_diag *diag)
{
  static const char *const endings[] = {"converged", "stopped by its budget", "stuck"};
  bramah_tune_result *r = &t->result;
  r->study = bramah_session_study(t->problem.session);
  r->ending = endings[t->optimum.ending];
  r->criterion = bramah__tune_criterion_name(t->search.criterion);
  r->converged = t->optimum.ending == BRAMAH_ENDING_CONVERGED;
  r->iterations = t->optimum.iterations;
  r->evaluations = t->search.n_tried;
  r->replays = t->workers.replays;
  r->log_seconds = t->workers.log_seconds;
  r->n_known = t->workers.journal->read;
  r->cost = t->optimum.cost;
  r->n = t->problem.n;
  r->has_intervals = t->certainty.n > 0;
  r->n_logs = t->n_all;
  r->n_held = t->n_all - t->n_tuned;
  r->n_left_out = t->problem.n_left_out;
  r->left_out = t->problem.left_out;
  r->n_consistency = t->n_all * (t->problem.n_sensors + 1);
  r->n_folds = t->n_folds;
  r->folds = t->folds;
  t->values = calloc(r->n + 1, sizeof *t->values);
  t->nis = calloc(2 * t->n_all + 1, sizeof *t->nis);
  t->log_names = calloc(t->n_all + 1, sizeof *t->log_names);
  t->consistency = calloc(r->n_consistency + 1, sizeof *t->consistency);
  if (!t->values || !t->nis || !t->log_names || !t->consistency) return bramah__fail_memory(diag);
  for (size_t i = 0; i < r->n; i++) take_value(t, i, t->x[i]);
  bramah__tune_compare_criteria(&t->search, r->best);
  if (t->certainty.n) bramah__tune_certainty_warn(&t->certainty, &t->problem, take_warning, t);
  take_consistency(t);
  r->values = t->values;
  r->logs = t->log_names;
  r->nis_before = t->nis;
  r->nis_after = t->nis + t->n_all;
  r->consistency = t->consistency;
  r->n_tried = t->search.n_tried;
  r->tried = t->search.tried;
  take_doubt(t);
  r->warnings = t->warning;
  return BRAMAH_OK;
}

/* Start, search, intervals, validation. */
static bramah_status tune(bramah_tuning *t, bramah_diag *diag)
{
  const bramah_tune_options *o = &t->options;
  const bramah__tune_problem *problem = &t->problem;
  bramah__tune_search *s = &t->search;
  double both[2][BRAMAH__TUNE_MOST] = {{0}};
  t->before = bramah__replay_scores_new(problem, t->n_all, 0);
  t->after = bramah__replay_scores_new(problem, t->n_all, 0);
  bramah_status status = t->before && t->after ? BRAMAH_OK : bramah__fail_memory(diag);
  if (!status) status = bramah__tune_workers_open(&t->workers, problem, diag);
  for (size_t i = 0; i < problem->n; i++) t->first[i] = problem->tuned[i].start;
  bramah__tune_round(problem, t->first);
  memcpy(t->x, t->first, sizeof t->x);
  memcpy(both[0], t->first, sizeof both[0]);
  if (!status)
    status = bramah__tune_workers_replay(&t->workers, 1, both, t->n_all, t->logs, 1000, t->before, diag);
  if (!status) status = leave_out(t, diag);
  if (!status) status = bramah__tune_search_open(s, &t->workers, t->n_tuned, t->logs, diag);
  if (!status && !o->start_from_study) status = bramah__tune_find_start(s, t->x, diag);
  if (!status) status = bramah__tune_optimise(s, t->x, NULL, &t->optimum, diag);
  memcpy(both[1], t->x, sizeof both[1]);
  if (!status)
    status = bramah__tune_workers_replay(&t->workers, 1, both + 1, t->n_all, t->logs, 1000, t->after, diag);
  if (status) return status;

  /* A search may end where the gates reject what does not fit. */
  const bramah_tune_verdict verdict = bramah__tune_judge(problem, s->n_logs, s->logs, t->after);
  if (verdict.status || bramah__tune_starved(&verdict)) return bramah__tune_explain(s, t->x, &verdict, diag);
  status = find_certainty(t, diag);
  if (!status && o->folds) {
    t->n_folds = o->folds < s->n_logs ? o->folds : s->n_logs;
    t->folds = calloc(t->n_folds, sizeof *t->folds);
    status = t->folds ? bramah__tune_cross_validate(t->folds, t->n_folds, s, t->first, t->x, diag)
                      : bramah__fail_memory(diag);
  }
  if (!status && o->profile && t->certainty.n) {
    s->budget = 0;
    t->profiles = calloc(problem->n, sizeof *t->profiles);
    status = t->profiles ? bramah__tune_find_profiles(t->profiles, s, &t->certainty, o->profile, diag)
                         : bramah__fail_memory(diag);
  }
  return status ? status : take_result(t, diag);
}

bramah_status bramah_tune(const char *study, size_t n_logs, const char *const *logs,
                          const bramah_tune_options *options, bramah_diag *diag, bramah_tuning **out)
{
  bramah_tuning *t = calloc(1, sizeof *t);
  *out = NULL;
  if (!t) return bramah__fail_memory(diag);
  bramah_tune_options_default(&t->options);
  if (options) t->options = *options;
  const bramah_tune_run *run = &t->options.run;
  const int serves = bramah__tune_serves(run);
  bramah_status status = bramah__tune_agree(&t->problem, run, prepare(t, study, n_logs, logs, diag), diag);
  if (!status) {
    status = serves ? bramah__tune_serve(&t->problem, diag) : tune(t, diag);
    if (!serves) bramah__tune_dismiss(run);
  }
  if (status || serves)
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
  bramah_status status = bramah__tune_problem_open(&t->problem, study, NULL, diag);
  if (!status) status = bramah__tune_problem_add_parameters(&t->problem, diag);
  t->values = calloc(t->problem.n + 1, sizeof *t->values);
  if (!status && !t->values) status = bramah__fail_memory(diag);
  if (status) {
    bramah_tuning_free(t);
    return status;
  }
  for (size_t i = 0; i < t->problem.n; i++) take_value(t, i, t->problem.tuned[i].start);
  t->result = (bramah_tune_result){
      .study = bramah_session_study(t->problem.session), .n = t->problem.n, .values = t->values};
  *out = t;
  return BRAMAH_OK;
}

void bramah_tuning_free(bramah_tuning *tuning)
{
  if (!tuning) return;
  bramah__tune_folds_free(tuning->folds, tuning->n_folds);
  bramah__tune_profiles_free(tuning->profiles, tuning->problem.n);
  bramah__tune_certainty_free(&tuning->certainty);
  bramah__tune_search_close(&tuning->search);
  bramah__tune_workers_close(&tuning->workers);
  bramah__tune_problem_close(&tuning->problem);
  free(tuning->logs);
  free(tuning->before);
  free(tuning->after);
  free(tuning->values);
  free(tuning->nis);
  free(tuning->log_names);
  free(tuning->consistency);
  free(tuning);
}

const bramah_tune_result *bramah_tuning_result(const bramah_tuning *tuning) { return &tuning->result; }

/* ---- the study ---- */

static bramah_status set_place(bramah__edit *edit, const char *name, const char *value, const char *comment,
                               bramah_diag *diag)
{
  char path[512];
  const int in_machine = strncmp(name, "machine.", 8) == 0;
  snprintf(path, sizeof path, "%s%s", in_machine ? "changes." : "", in_machine ? name + 8 : name);
  return bramah__edit_set(edit, path, value, comment, diag);
}

static size_t folder_length(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

bramah_status bramah_tuning_write(const bramah_tuning *tuning, const char *path, const char *head,
                                  bramah_diag *diag)
{
  const bramah__tune_problem *problem = &tuning->problem;
  const bramah__tune_certainty *c = &tuning->certainty;
  bramah__edit *edit = NULL;
  bramah_diag_clear(diag);
  bramah_status status = bramah__edit_study(problem->study, diag, &edit);

  /* The study names its machine from its own folder: in another one the whole path must be there. */
  const size_t length = folder_length(path);
  const int elsewhere = strcmp(path, "-") != 0 &&
                        (length != folder_length(problem->path) || strncmp(path, problem->path, length) != 0);
  const bramah_study *study = bramah_session_study(problem->session);
  char *machine = elsewhere ? realpath(study->machine_file, NULL) : NULL;
  if (!status && machine)
    status = bramah__edit_set(edit, study->plant.line ? "plant.fmu" : "machine", machine, NULL, diag);
  free(machine);

  for (size_t i = 0; !status && i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    const char *gap = *t->unit ? " " : "";
    char value[128], comment[256];
    snprintf(value, sizeof value, "%.6g%s%s", tuning->x[i], gap, t->unit);
    if (!c->n)
      snprintf(comment, sizeof comment, "tuned; was %s", t->text);
    else
      snprintf(comment, sizeof comment, "tuned: 95 %% interval %.4g to %.4g%s%s%s; was %s", c->low[i],
               c->high[i], gap, t->unit,
               c->held[i] == BRAMAH__TUNE_FREE   ? ""
               : c->held[i] == BRAMAH__TUNE_FLAT ? ", the logs hardly tell it"
                                                 : ", at its bound",
               t->text);
    status = set_place(edit, t->name, value, comment, diag);
    for (size_t k = 0; !status && k < t->n_also; k++) {
      snprintf(comment, sizeof comment, "tuned together with %.200s", t->name);
      status = set_place(edit, t->also[k], value, comment, diag);
    }
  }
  if (!status) status = bramah__edit_write(edit, path, head, diag);
  bramah__edit_free(edit);
  return status;
}
