/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__tune_search_open(bramah__tune_search *search, const bramah__tune_problem *problem,
                                       bramah__tune_workers *workers, size_t n_logs, const size_t *logs,
                                       bramah_diag *diag)
{
  const size_t size = bramah__tune_n_scores(problem, 1), all = problem->n_logs;
  *search =
      (bramah__tune_search){.problem = problem, .workers = workers, .n_logs = n_logs, .phase = "search"};
  search->logs = calloc(n_logs + 1, sizeof *search->logs);
  search->white = calloc(2 * problem->n + 1, sizeof *search->white);
  search->limits = calloc(all * BRAMAH__TUNE_CHECKS + 1, sizeof *search->limits);
  search->block = calloc(n_logs * size + 1, sizeof *search->block);
  search->scores = calloc(n_logs + 1, sizeof *search->scores);
  if (!search->logs || !search->white || !search->limits || !search->block || !search->scores)
    return bramah__fail_memory(diag);
  search->samples = search->white + problem->n;
  for (size_t k = 0; k < n_logs; k++) {
    search->logs[k] = logs[k];
    search->scores[k] = search->block + k * size;
  }
  return BRAMAH_OK;
}

void bramah__tune_search_close(bramah__tune_search *search)
{
  for (size_t i = 0; i < search->n_tried; i++) free(search->tried[i].x);
  free(search->tried);
  free(search->logs);
  free(search->white);
  free(search->limits);
  free(search->block);
  free(search->scores);
}

/* ---- evaluations ---- */

static void talk(const bramah__tune_search *search)
{
  const bramah_tune_progress progress = {.phase = search->phase,
                                         .evaluations = search->evaluations,
                                         .replays = search->workers->replays,
                                         .best = search->best};
  if (search->progress) search->progress(search->user, &progress);
}

void bramah__tune_note_tried(bramah__tune_search *search, const char *set, int slope,
                             const bramah_tune_verdict *verdict, double value)
{
  if (search->n_tried == search->room) {
    const size_t room = search->room ? 2 * search->room : 64;
    bramah_tune_tried *tried = realloc(search->tried, room * sizeof *tried);
    if (!tried) return; /* the table gets shorter, the search goes on */
    search->tried = tried;
    search->room = room;
  }
  bramah_tune_tried *t = &search->tried[search->n_tried];
  if (!verdict->status && !verdict->stopped && strcmp(search->phase, "fold") != 0)
    search->most_used = fmax(search->most_used, verdict->used + verdict->gated);
  *t = (bramah_tune_tried){.phase = search->phase, .slope = slope, .verdict = *verdict, .value = value};
  t->x = malloc((search->problem->n + 1) * sizeof *t->x);
  if (!t->x) return;
  bramah__tune_set_numbers(search->problem, set, t->x);
  search->n_tried++;
}

double bramah__tune_penalty(const bramah__tune_search *search, const double *x, double *gradient,
                            double *information)
{
  const size_t n = search->problem->n;
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    const bramah__tune_parameter *t = &search->problem->tuned[i];
    if (!(search->white[i] > 0.0) || !(x[i] > search->white[i])) continue;
    const double weight = search->penalty * (search->unit > 0.0 ? search->unit : search->samples[i]);
    const double over = log(x[i] / search->white[i]);
    const double by = t->linear ? (t->most - t->least) / x[i] : 1.0; /* d log x / d scale */
    sum += weight * over * over;
    if (gradient) gradient[i] += 2.0 * weight * over * by;
    if (information) information[i * n + i] += 2.0 * weight * by * by;
  }
  return sum;
}

/* A replay that has lost this much against the best one does not come back: the likelihood of what follows
 * would have to tell as much against the best set. */
static double patience(double cost) { return 50.0 + 0.05 * fabs(cost); }

static void set_limits(const bramah__tune_search *search, size_t log, bramah__tune_job *job)
{
  const double *best = search->limits + log * BRAMAH__TUNE_CHECKS;
  job->limited = 1;
  for (int c = 0; c < BRAMAH__TUNE_CHECKS; c++)
    job->limit[c] = best[c] + patience(best[BRAMAH__TUNE_CHECKS - 1]);
}

static void keep_limits(bramah__tune_search *search, double value)
{
  if (search->given && !(value < search->best)) return;
  search->given = 1;
  search->best = value;
  for (size_t k = 0; k < search->n_logs; k++)
    memcpy(search->limits + search->logs[k] * BRAMAH__TUNE_CHECKS, search->scores[k] + BRAMAH__TUNE_COST,
           BRAMAH__TUNE_CHECKS * sizeof *search->limits);
}

bramah_status bramah__tune_evaluate_all(bramah__tune_search *search, size_t n_sets,
                                        char (*sets)[BRAMAH__TUNE_TEXT], int thousandths,
                                        double *const *scores, bramah_diag *diag)
{
  const size_t n = n_sets * search->n_logs;
  bramah__tune_job *jobs = calloc(n + 1, sizeof *jobs);
  if (!jobs) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++) {
    jobs[i] = (bramah__tune_job){.log = search->logs[i % search->n_logs], .thousandths = thousandths};
    memcpy(jobs[i].set, sets[i / search->n_logs], BRAMAH__TUNE_TEXT);
  }
  const bramah_status status = bramah__tune_workers_do(search->workers, n, jobs, scores, diag);
  free(jobs);
  search->evaluations += n_sets;
  return status;
}

static bramah_status replay_logs(bramah__tune_search *search, const char *set, int slope, int limited,
                                 bramah_diag *diag)
{
  bramah__tune_job *jobs = calloc(search->n_logs + 1, sizeof *jobs);
  if (!jobs) return bramah__fail_memory(diag);
  for (size_t k = 0; k < search->n_logs; k++) {
    jobs[k] = (bramah__tune_job){.log = search->logs[k], .slope = slope, .thousandths = 1000};
    if (limited && search->given) set_limits(search, search->logs[k], &jobs[k]);
    memcpy(jobs[k].set, set, strlen(set) + 1);
  }
  const bramah_status status =
      bramah__tune_workers_do(search->workers, search->n_logs, jobs, search->scores, diag);
  free(jobs);
  return status;
}

/* A replay was given up: how much it had lost then is what the whole is taken to lose at least. */
static double lost(const bramah__tune_search *search)
{
  double sum = search->best;
  for (size_t k = 0; k < search->n_logs; k++) {
    const double *f = search->scores[k];
    const int at = f[BRAMAH__TUNE_STOPPED] > 0.0 ? (int)f[BRAMAH__TUNE_STOPPED] - 1 : BRAMAH__TUNE_CHECKS - 1;
    sum += fmax(
        f[BRAMAH__TUNE_COST + at] - search->limits[search->logs[k] * BRAMAH__TUNE_CHECKS + (size_t)at], 0.0);
  }
  return sum;
}

bramah_status bramah__tune_evaluate(bramah__tune_search *search, const char *set, int slope, int limited,
                                    double *value, bramah_tune_verdict *verdict, bramah_diag *diag)
{
  double x[BRAMAH__TUNE_MOST];
  const bramah_status status = replay_logs(search, set, slope, limited, diag);
  search->evaluations += 1 + (slope ? search->problem->n : 0);
  if (status) return status;
  bramah__tune_set_numbers(search->problem, set, x);
  *verdict = bramah__tune_judge(search->problem, search->n_logs, search->logs, search->scores);
  *value = bramah__tune_criterion_value(verdict, search->criterion);
  if (isfinite(*value) && verdict->stopped) *value = lost(search);
  if (isfinite(*value)) *value += bramah__tune_penalty(search, x, NULL, NULL);
  if (isfinite(*value) && !verdict->stopped && search->criterion == BRAMAH_TUNE_LIKELIHOOD)
    keep_limits(search, *value);
  bramah__tune_note_tried(search, set, slope, verdict, *value);
  talk(search);
  return BRAMAH_OK;
}

/* A failed replay once more, for its words: of the set itself, or, where that one does not fail, of a
 * neighbour. */
bramah_status bramah__tune_explain_failure(const bramah__tune_problem *problem, const char *set, int slope,
                                           const bramah_tune_verdict *verdict, bramah_diag *diag)
{
  bramah__tune_job job = {.log = verdict->failed, .thousandths = 1000};
  double *scores = calloc(bramah__tune_n_scores(problem, 1) + 1, sizeof *scores);
  if (!scores) return bramah__fail_memory(diag);
  memcpy(job.set, set, strlen(set) + 1);
  bramah_diag why = {0};
  bramah_status status = bramah__tune_replay(problem, &job, NULL, scores, &why);
  if (!status && slope && scores[BRAMAH__TUNE_STATUS] == 0.0) {
    job.slope = 1;
    status = bramah__tune_replay(problem, &job, NULL, scores, &why);
  }
  const double t = scores[BRAMAH__TUNE_TIME];
  const int again = scores[BRAMAH__TUNE_STATUS] != 0.0;
  free(scores);
  if (status) return *diag = why, status;
  if (!again)
    return bramah__failf(diag, verdict->status, problem->logs[verdict->failed].path, 0, NULL,
                         "a replay failed (%s), but not when it was repeated",
                         bramah_status_text(verdict->status));
  return bramah__failf(diag, verdict->status, problem->logs[verdict->failed].path, 0, why.thing,
                       "%.340s (at t = %.9g s%s)", why.message, t,
                       job.slope ? ", one value a step further" : "");
}

bramah_status bramah__tune_explain(const bramah__tune_search *search, const char *set,
                                   const bramah_tune_verdict *verdict, bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  if (verdict->status) {
    const bramah_status status = bramah__tune_explain_failure(problem, set, 1, verdict, diag);
    const size_t used = strlen(diag->message);
    if (status != BRAMAH_E_MEMORY)
      snprintf(diag->message + used, sizeof diag->message - used,
               ": look at the log there, or begin from other values");
    return status;
  }
  const char *path = search->n_logs ? problem->logs[search->logs[0]].path : problem->path;
  if (verdict->gated > 0.0 && bramah__tune_starved(verdict))
    return bramah__failf(
        diag, BRAMAH_E_EMPTY, path, 0, "innovations",
        "next to none is left: the gates keep %.0f of %.0f out; take 'gate' out of the study, or begin "
        "with more noise",
        verdict->gated, verdict->gated + verdict->used);
  if (!(verdict->used > 0.0))
    return bramah__failf(
        diag, BRAMAH_E_EMPTY, path, 0, "innovations",
        "none is there after 'settle': the log is too short, or has none of the study's sensors");
  return bramah__failf(diag, BRAMAH_E_NOT_FINITE, path, 0, bramah_tune_criterion_name(search->criterion),
                       "the criterion is not finite with %.200s: %s", set,
                       search->criterion == BRAMAH_TUNE_RMSE ? "give the truth of the logs with --truth"
                                                             : "begin from other values");
}

/* ---- optimisers ---- */

typedef struct posed {
  bramah__tune_search *search;
  size_t n;                        /* free values */
  size_t index[BRAMAH__TUNE_MOST]; /* of them */
  double x[BRAMAH__TUNE_MOST];     /* all, the free ones to be filled in */
  double low[BRAMAH__TUNE_MOST], high[BRAMAH__TUNE_MOST];
} posed;

static void write_set(const posed *p, const double *z, char *set)
{
  double x[BRAMAH__TUNE_MOST];
  memcpy(x, p->x, sizeof x);
  for (size_t k = 0; k < p->n; k++)
    x[p->index[k]] = bramah__tune_unscaled(&p->search->problem->tuned[p->index[k]], z[k]);
  bramah__tune_set_text(p->search->problem, x, set);
}

static bramah_status cost(void *user, const double *z, double *out, bramah_diag *diag)
{
  posed *p = user;
  char set[BRAMAH__TUNE_TEXT];
  bramah_tune_verdict verdict;
  write_set(p, z, set);
  return bramah__tune_evaluate(p->search, set, 0, p->search->criterion == BRAMAH_TUNE_LIKELIHOOD, out,
                               &verdict, diag);
}

/* Gradient and information of the likelihood, summed over the logs in their order. */
static void sum_slopes(const posed *p, double *gradient, double *information)
{
  const bramah__tune_search *s = p->search;
  const size_t all = s->problem->n, g = bramah__tune_place_gradient(s->problem),
               I = bramah__tune_place_information(s->problem);
  for (size_t a = 0; a < p->n; a++) {
    gradient[a] = 0.0;
    for (size_t k = 0; k < s->n_logs; k++) gradient[a] += s->scores[k][g + p->index[a]];
    for (size_t b = 0; b < p->n; b++) {
      information[a * p->n + b] = 0.0;
      for (size_t k = 0; k < s->n_logs; k++)
        information[a * p->n + b] += s->scores[k][I + p->index[a] * all + p->index[b]];
    }
  }
}

static bramah_status add_penalty(const posed *p, const char *set, double *gradient, double *information,
                                 bramah_diag *diag)
{
  const size_t all = p->search->problem->n;
  double x[BRAMAH__TUNE_MOST], g[BRAMAH__TUNE_MOST] = {0}, *I = calloc(all * all + 1, sizeof *I);
  if (!I) return bramah__fail_memory(diag);
  bramah__tune_set_numbers(p->search->problem, set, x);
  bramah__tune_penalty(p->search, x, g, I);
  for (size_t a = 0; a < p->n; a++) {
    gradient[a] += g[p->index[a]];
    information[a * p->n + a] += I[p->index[a] * all + p->index[a]];
  }
  free(I);
  return BRAMAH_OK;
}

static bramah_status slope(void *user, const double *z, double *out, double *gradient, double *information,
                           bramah_diag *diag)
{
  posed *p = user;
  char set[BRAMAH__TUNE_TEXT];
  bramah_tune_verdict verdict;
  write_set(p, z, set);
  const bramah_status status = bramah__tune_evaluate(p->search, set, 1, 0, out, &verdict, diag);
  if (status) return status;
  if (!isfinite(*out)) return bramah__tune_explain(p->search, set, &verdict, diag);
  sum_slopes(p, gradient, information);
  return add_penalty(p, set, gradient, information, diag);
}

static int used_up(void *user)
{
  const bramah__tune_search *s = ((posed *)user)->search;
  return (s->budget && s->evaluations >= s->budget) || (s->enough && s->enough(s->user));
}

static void pose(posed *p, bramah__tune_search *search, const char *set, const unsigned char *fixed,
                 double *z)
{
  *p = (posed){.search = search};
  bramah__tune_set_numbers(search->problem, set, p->x);
  for (size_t i = 0; i < search->problem->n; i++) {
    const bramah__tune_parameter *t = &search->problem->tuned[i];
    if (fixed && fixed[i]) continue;
    p->low[p->n] = bramah__tune_scaled(t, t->least);
    p->high[p->n] = bramah__tune_scaled(t, t->most);
    z[p->n] = bramah__tune_scaled(t, p->x[i]);
    p->index[p->n++] = i;
  }
}

/* Small against the half unit of cost that one standard error makes. */
static const double tolerance = 1e-2;

/* ---- values that went to where nothing pulls ---- */

/* The logarithm of a noise that is much too small has no slope: what went there does not come back by itself.
 * So values that are flat or at their lower bound are tried all over their range. */
enum { N_TRIALS = 12, REVIVALS = 3 };

static int is_lost(const posed *p, const double *information, const double *z, size_t k)
{
  const bramah__tune_parameter *t = &p->search->problem->tuned[p->index[k]];
  const double I = information[k * p->n + k];
  return !t->linear && (!(I > 1.0) || z[k] - p->low[k] < 1e-6);
}

/* The best of the value's range, if it is better; *value is of z. */
static bramah_status revive(posed *p, size_t k, double *z, double *value, int *better, bramah_diag *diag)
{
  bramah__tune_search *s = p->search;
  const size_t size = bramah__tune_n_scores(s->problem, 0), n = N_TRIALS * s->n_logs;
  char(*sets)[BRAMAH__TUNE_TEXT] = calloc(N_TRIALS, sizeof *sets);
  double *block = calloc(n * size + 1, sizeof *block), **scores = calloc(n + 1, sizeof *scores);
  bramah_status status = sets && block && scores ? BRAMAH_OK : bramah__fail_memory(diag);
  const double was = z[k];
  double best = was;
  for (size_t i = 0; !status && i < n; i++) scores[i] = block + i * size;
  for (size_t i = 0; !status && i < N_TRIALS; i++) {
    z[k] = p->low[k] + (p->high[k] - p->low[k]) * ((double)i + 0.5) / N_TRIALS;
    write_set(p, z, sets[i]);
  }
  if (!status) status = bramah__tune_evaluate_all(s, N_TRIALS, sets, 1000, scores, diag);
  for (size_t i = 0; !status && i < N_TRIALS; i++) {
    double x[BRAMAH__TUNE_MOST];
    const bramah_tune_verdict v = bramah__tune_judge(s->problem, s->n_logs, s->logs, scores + i * s->n_logs);
    bramah__tune_set_numbers(s->problem, sets[i], x);
    const double here =
        bramah__tune_criterion_value(&v, s->criterion) + bramah__tune_penalty(s, x, NULL, NULL);
    bramah__tune_note_tried(s, sets[i], 0, &v, here);
    if (!(here < *value - 1.0)) continue;
    *value = here;
    *better = 1;
    best = p->low[k] + (p->high[k] - p->low[k]) * ((double)i + 0.5) / N_TRIALS;
  }
  z[k] = best;
  free(sets);
  free(block);
  free(scores);
  return status;
}

static bramah_status score(posed *p, const bramah__objective *f, double *z, bramah__optimum *out,
                           bramah_diag *diag)
{
  double *g = calloc(p->n + p->n * p->n + 1, sizeof *g), *I = g + p->n;
  bramah_status status = g ? BRAMAH_OK : bramah__fail_memory(diag);
  int better = 1;
  for (int round = 0; !status && better && round <= REVIVALS; round++) {
    bramah__optimum one;
    status = bramah__optimise_scoring(f, tolerance, z, g, I, &one, diag);
    out->iterations += one.iterations;
    out->cost = one.cost;
    out->ending = one.ending;
    better = 0;
    for (size_t k = 0; !status && !used_up(p) && k < p->n; k++)
      if (is_lost(p, I, z, k)) status = revive(p, k, z, &out->cost, &better, diag);
  }
  free(g);
  return status;
}

bramah_status bramah__tune_optimise(bramah__tune_search *search, char *set, const unsigned char *fixed,
                                    bramah__optimum *out, bramah_diag *diag)
{
  posed p;
  double z[BRAMAH__TUNE_MOST];
  pose(&p, search, set, fixed, z);
  *out = (bramah__optimum){0};
  if (!p.n) return BRAMAH_OK;
  const bramah__objective f = {
      .user = &p, .n = p.n, .low = p.low, .high = p.high, .cost = cost, .slope = slope, .stop = used_up};
  const bramah_status status = search->method == BRAMAH_TUNE_SIMPLEX
                                   ? bramah__optimise_simplex(&f, 0.5, 2e-3, z, out, diag)
                                   : score(&p, &f, z, out, diag);
  if (!status) write_set(&p, z, set);
  return status;
}
