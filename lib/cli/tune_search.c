/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_search.h"
#include "lib/cli/message.h"
#include "lib/cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

bramah_status cli_tune_search_open(cli_tune_search *search, const cli_tune_lab *lab, cli_tune_crew *crew,
                                   size_t n_logs, const size_t *logs, bramah_diag *diag)
{
  const size_t size = cli_tune_n_figures(lab, 1), all = lab->n_logs;
  *search = (cli_tune_search){.lab = lab, .crew = crew, .n_logs = n_logs, .phase = "search", .starts = 8};
  search->logs = calloc(n_logs + 1, sizeof *search->logs);
  search->white = calloc(2 * lab->n + 1, sizeof *search->white);
  search->limits = calloc(all * CLI_TUNE_CHECKS + 1, sizeof *search->limits);
  search->block = calloc(n_logs * size + 1, sizeof *search->block);
  search->figures = calloc(n_logs + 1, sizeof *search->figures);
  if (!search->logs || !search->white || !search->limits || !search->block || !search->figures)
    return fail_memory(diag);
  search->samples = search->white + lab->n;
  for (size_t k = 0; k < n_logs; k++) {
    search->logs[k] = logs[k];
    search->figures[k] = search->block + k * size;
  }
  return BRAMAH_OK;
}

void cli_tune_search_close(cli_tune_search *search)
{
  for (size_t i = 0; i < search->n_tried; i++) free(search->tried[i].x);
  free(search->tried);
  free(search->logs);
  free(search->white);
  free(search->limits);
  free(search->block);
  free(search->figures);
}

/* ---- evaluations ---- */

static void talk(const cli_tune_search *search)
{
  static const char clear[] = "\r\033[K";
  if (search->talks)
    fprintf(stderr, "%s%s: %llu evaluations, %llu replays, best %.9g", clear, search->phase,
            (unsigned long long)search->evaluations, (unsigned long long)search->crew->replays, search->best);
}

void cli_tune_stop_talking(const cli_tune_search *search)
{
  if (search->talks) fputs("\r\033[K", stderr);
}

void cli_tune_note_tried(cli_tune_search *search, const char *set, int slope, const cli_tune_verdict *verdict,
                         double value)
{
  if (search->n_tried == search->room) {
    const size_t room = search->room ? 2 * search->room : 64;
    cli_tune_tried *tried = realloc(search->tried, room * sizeof *tried);
    if (!tried) return; /* the table gets shorter, the search goes on */
    search->tried = tried;
    search->room = room;
  }
  cli_tune_tried *t = &search->tried[search->n_tried];
  if (!verdict->status && !verdict->stopped && strcmp(search->phase, "fold") != 0)
    search->most_used = fmax(search->most_used, verdict->used + verdict->gated);
  *t = (cli_tune_tried){.phase = search->phase, .slope = slope, .verdict = *verdict, .value = value};
  t->x = malloc((search->lab->n + 1) * sizeof *t->x);
  if (!t->x) return;
  cli_tune_set_numbers(search->lab, set, t->x);
  search->n_tried++;
}

double cli_tune_penalty(const cli_tune_search *search, const double *x, double *gradient, double *information)
{
  const size_t n = search->lab->n;
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    const cli_tuned *t = &search->lab->tuned[i];
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

static void set_limits(const cli_tune_search *search, size_t log, cli_tune_job *job)
{
  const double *best = search->limits + log * CLI_TUNE_CHECKS;
  job->limited = 1;
  for (int c = 0; c < CLI_TUNE_CHECKS; c++) job->limit[c] = best[c] + patience(best[CLI_TUNE_CHECKS - 1]);
}

static void keep_limits(cli_tune_search *search, double value)
{
  if (search->given && !(value < search->best)) return;
  search->given = 1;
  search->best = value;
  for (size_t k = 0; k < search->n_logs; k++)
    memcpy(search->limits + search->logs[k] * CLI_TUNE_CHECKS, search->figures[k] + CLI_TUNE_COST,
           CLI_TUNE_CHECKS * sizeof *search->limits);
}

bramah_status cli_tune_evaluate_all(cli_tune_search *search, size_t n_sets, char (*sets)[CLI_TUNE_TEXT],
                                    int thousandths, double *const *figures, bramah_diag *diag)
{
  const size_t n = n_sets * search->n_logs;
  cli_tune_job *jobs = calloc(n + 1, sizeof *jobs);
  if (!jobs) return fail_memory(diag);
  for (size_t i = 0; i < n; i++) {
    jobs[i] = (cli_tune_job){.log = search->logs[i % search->n_logs], .thousandths = thousandths};
    memcpy(jobs[i].set, sets[i / search->n_logs], CLI_TUNE_TEXT);
  }
  const bramah_status status = cli_tune_crew_work(search->crew, n, jobs, figures, diag);
  free(jobs);
  search->evaluations += n_sets;
  return status;
}

static bramah_status replay_logs(cli_tune_search *search, const char *set, int slope, int limited,
                                 bramah_diag *diag)
{
  cli_tune_job *jobs = calloc(search->n_logs + 1, sizeof *jobs);
  if (!jobs) return fail_memory(diag);
  for (size_t k = 0; k < search->n_logs; k++) {
    jobs[k] = (cli_tune_job){.log = search->logs[k], .slope = slope, .thousandths = 1000};
    if (limited && search->given) set_limits(search, search->logs[k], &jobs[k]);
    memcpy(jobs[k].set, set, strlen(set) + 1);
  }
  const bramah_status status = cli_tune_crew_work(search->crew, search->n_logs, jobs, search->figures, diag);
  free(jobs);
  return status;
}

/* A replay was given up: how much it had lost then is what the whole is taken to lose at least. */
static double lost(const cli_tune_search *search)
{
  double sum = search->best;
  for (size_t k = 0; k < search->n_logs; k++) {
    const double *f = search->figures[k];
    const int at = f[CLI_TUNE_STOPPED] > 0.0 ? (int)f[CLI_TUNE_STOPPED] - 1 : CLI_TUNE_CHECKS - 1;
    sum += fmax(f[CLI_TUNE_COST + at] - search->limits[search->logs[k] * CLI_TUNE_CHECKS + (size_t)at], 0.0);
  }
  return sum;
}

bramah_status cli_tune_evaluate(cli_tune_search *search, const char *set, int slope, int limited,
                                double *value, cli_tune_verdict *verdict, bramah_diag *diag)
{
  double x[CLI_TUNE_MOST];
  const bramah_status status = replay_logs(search, set, slope, limited, diag);
  search->evaluations += 1 + (slope ? search->lab->n : 0);
  if (status) return status;
  cli_tune_set_numbers(search->lab, set, x);
  *verdict = cli_tune_judge(search->lab, search->n_logs, search->logs, search->figures);
  *value = cli_tune_criterion_value(verdict, search->criterion);
  if (isfinite(*value) && verdict->stopped) *value = lost(search);
  if (isfinite(*value)) *value += cli_tune_penalty(search, x, NULL, NULL);
  if (isfinite(*value) && !verdict->stopped && search->criterion == BRAMAH_TUNE_LIKELIHOOD)
    keep_limits(search, *value);
  cli_tune_note_tried(search, set, slope, verdict, *value);
  talk(search);
  return BRAMAH_OK;
}

/* A failed replay once more, for its words: of the set itself, or, where that one does not fail, of a
 * neighbour. */
bramah_status cli_tune_explain_failure(const cli_tune_lab *lab, const char *set, int slope,
                                       const cli_tune_verdict *verdict, bramah_diag *diag)
{
  cli_tune_job job = {.log = verdict->failed, .thousandths = 1000};
  double *figures = calloc(cli_tune_n_figures(lab, 1) + 1, sizeof *figures);
  if (!figures) return fail_memory(diag);
  memcpy(job.set, set, strlen(set) + 1);
  bramah_diag why = {0};
  bramah_status status = cli_tune_replay(lab, &job, NULL, figures, &why);
  if (!status && slope && figures[CLI_TUNE_STATUS] == 0.0) {
    job.slope = 1;
    status = cli_tune_replay(lab, &job, NULL, figures, &why);
  }
  const double t = figures[CLI_TUNE_TIME];
  const int again = figures[CLI_TUNE_STATUS] != 0.0;
  free(figures);
  if (status) return *diag = why, status;
  if (!again)
    return cli_fail(diag, verdict->status, lab->logs[verdict->failed].path, 0, NULL,
                    "a replay failed (%s), but not when it was repeated",
                    bramah_status_text(verdict->status));
  return cli_fail(diag, verdict->status, lab->logs[verdict->failed].path, 0, why.thing,
                  "%.340s (at t = %.9g s%s)", why.message, t, job.slope ? ", one figure a step further" : "");
}

bramah_status cli_tune_explain(const cli_tune_search *search, const char *set,
                               const cli_tune_verdict *verdict, bramah_diag *diag)
{
  const cli_tune_lab *lab = search->lab;
  if (verdict->status) {
    const bramah_status status = cli_tune_explain_failure(lab, set, 1, verdict, diag);
    const size_t used = strlen(diag->message);
    if (status != BRAMAH_E_MEMORY)
      snprintf(diag->message + used, sizeof diag->message - used,
               ": look at the log there, or begin from other values");
    return status;
  }
  const char *path = search->n_logs ? lab->logs[search->logs[0]].path : lab->path;
  if (verdict->gated > 0.0 && cli_tune_starved(verdict))
    return cli_fail(
        diag, BRAMAH_E_EMPTY, path, 0, "innovations",
        "next to none is left: the gates keep %.0f of %.0f out; take 'gate' out of the study, or begin "
        "with more noise",
        verdict->gated, verdict->gated + verdict->used);
  if (!(verdict->used > 0.0))
    return cli_fail(diag, BRAMAH_E_EMPTY, path, 0, "innovations",
                    "none is there after 'settle': the log is too short, or has none of the study's sensors");
  return cli_fail(diag, BRAMAH_E_NOT_FINITE, path, 0, cli_tune_criterion_name(search->criterion),
                  "the criterion is not finite with %.200s: %s", set,
                  search->criterion == BRAMAH_TUNE_RMSE ? "give the truth of the logs with --truth"
                                                        : "begin from other values");
}

/* ---- optimisers ---- */

typedef struct problem {
  cli_tune_search *search;
  size_t n;                    /* free figures */
  size_t index[CLI_TUNE_MOST]; /* of them */
  double x[CLI_TUNE_MOST];     /* all, the free ones to be filled in */
  double low[CLI_TUNE_MOST], high[CLI_TUNE_MOST];
} problem;

static void write_set(const problem *p, const double *z, char *set)
{
  double x[CLI_TUNE_MOST];
  memcpy(x, p->x, sizeof x);
  for (size_t k = 0; k < p->n; k++)
    x[p->index[k]] = cli_tune_unscaled(&p->search->lab->tuned[p->index[k]], z[k]);
  cli_tune_set_text(p->search->lab, x, set);
}

static bramah_status cost(void *user, const double *z, double hopeless, double *out, bramah_diag *diag)
{
  problem *p = user;
  char set[CLI_TUNE_TEXT];
  cli_tune_verdict verdict;
  write_set(p, z, set);
  (void)hopeless; /* what is, the search knows by the course of the best */
  return cli_tune_evaluate(p->search, set, 0, p->search->criterion == BRAMAH_TUNE_LIKELIHOOD, out, &verdict,
                           diag);
}

/* Gradient and information of the likelihood, summed over the logs in their order. */
static void sum_slopes(const problem *p, double *gradient, double *information)
{
  const cli_tune_search *s = p->search;
  const size_t all = s->lab->n, g = cli_tune_place_gradient(s->lab), I = cli_tune_place_information(s->lab);
  for (size_t a = 0; a < p->n; a++) {
    gradient[a] = 0.0;
    for (size_t k = 0; k < s->n_logs; k++) gradient[a] += s->figures[k][g + p->index[a]];
    for (size_t b = 0; b < p->n; b++) {
      information[a * p->n + b] = 0.0;
      for (size_t k = 0; k < s->n_logs; k++)
        information[a * p->n + b] += s->figures[k][I + p->index[a] * all + p->index[b]];
    }
  }
}

static bramah_status add_penalty(const problem *p, const char *set, double *gradient, double *information,
                                 bramah_diag *diag)
{
  const size_t all = p->search->lab->n;
  double x[CLI_TUNE_MOST], g[CLI_TUNE_MOST] = {0}, *I = calloc(all * all + 1, sizeof *I);
  if (!I) return fail_memory(diag);
  cli_tune_set_numbers(p->search->lab, set, x);
  cli_tune_penalty(p->search, x, g, I);
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
  problem *p = user;
  char set[CLI_TUNE_TEXT];
  cli_tune_verdict verdict;
  write_set(p, z, set);
  const bramah_status status = cli_tune_evaluate(p->search, set, 1, 0, out, &verdict, diag);
  if (status) return status;
  if (!isfinite(*out)) return cli_tune_explain(p->search, set, &verdict, diag);
  sum_slopes(p, gradient, information);
  return add_penalty(p, set, gradient, information, diag);
}

static int used_up(void *user)
{
  const cli_tune_search *s = ((problem *)user)->search;
  return (s->budget && s->evaluations >= s->budget) || (s->until > 0.0 && cli_clock() >= s->until);
}

static void pose(problem *p, cli_tune_search *search, const char *set, const unsigned char *fixed, double *z)
{
  *p = (problem){.search = search};
  cli_tune_set_numbers(search->lab, set, p->x);
  for (size_t i = 0; i < search->lab->n; i++) {
    const cli_tuned *t = &search->lab->tuned[i];
    if (fixed && fixed[i]) continue;
    p->low[p->n] = cli_tune_scaled(t, t->least);
    p->high[p->n] = cli_tune_scaled(t, t->most);
    z[p->n] = cli_tune_scaled(t, p->x[i]);
    p->index[p->n++] = i;
  }
}

/* Small against the half unit of cost that one standard error makes. */
static const double tolerance = 1e-2;

/* ---- figures that went to where nothing pulls ---- */

/* The logarithm of a noise that is much too small has no slope: what went there does not come back by itself.
 * So figures that are flat or at their lower bound are tried all over their range. */
enum { N_TRIALS = 12, REVIVALS = 3 };

static int is_lost(const problem *p, const double *information, const double *z, size_t k)
{
  const cli_tuned *t = &p->search->lab->tuned[p->index[k]];
  const double I = information[k * p->n + k];
  return !t->linear && (!(I > 1.0) || z[k] - p->low[k] < 1e-6);
}

/* The best of the figure's range, if it is better; *value is of z. */
static bramah_status revive(problem *p, size_t k, double *z, double *value, int *better, bramah_diag *diag)
{
  cli_tune_search *s = p->search;
  const size_t size = cli_tune_n_figures(s->lab, 0), n = N_TRIALS * s->n_logs;
  char(*sets)[CLI_TUNE_TEXT] = calloc(N_TRIALS, sizeof *sets);
  double *block = calloc(n * size + 1, sizeof *block), **figures = calloc(n + 1, sizeof *figures);
  bramah_status status = sets && block && figures ? BRAMAH_OK : fail_memory(diag);
  const double was = z[k];
  double best = was;
  for (size_t i = 0; !status && i < n; i++) figures[i] = block + i * size;
  for (size_t i = 0; !status && i < N_TRIALS; i++) {
    z[k] = p->low[k] + (p->high[k] - p->low[k]) * ((double)i + 0.5) / N_TRIALS;
    write_set(p, z, sets[i]);
  }
  if (!status) status = cli_tune_evaluate_all(s, N_TRIALS, sets, 1000, figures, diag);
  for (size_t i = 0; !status && i < N_TRIALS; i++) {
    double x[CLI_TUNE_MOST];
    const cli_tune_verdict v = cli_tune_judge(s->lab, s->n_logs, s->logs, figures + i * s->n_logs);
    cli_tune_set_numbers(s->lab, sets[i], x);
    const double here = cli_tune_criterion_value(&v, s->criterion) + cli_tune_penalty(s, x, NULL, NULL);
    cli_tune_note_tried(s, sets[i], 0, &v, here);
    if (!(here < *value - 1.0)) continue;
    *value = here;
    *better = 1;
    best = p->low[k] + (p->high[k] - p->low[k]) * ((double)i + 0.5) / N_TRIALS;
  }
  z[k] = best;
  free(sets);
  free(block);
  free(figures);
  return status;
}

static bramah_status score(problem *p, const bramah_objective *f, double *z, bramah_optimum *out,
                           bramah_diag *diag)
{
  double *g = calloc(p->n + p->n * p->n + 1, sizeof *g), *I = g + p->n;
  bramah_status status = g ? BRAMAH_OK : fail_memory(diag);
  int better = 1;
  for (int round = 0; !status && better && round <= REVIVALS; round++) {
    bramah_optimum one;
    status = bramah_optimise_scoring(f, tolerance, z, g, I, &one, diag);
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

static bramah_status choose(problem *p, double *z, bramah_optimum *out, bramah_diag *diag)
{
  const cli_tune_search *s = p->search;
  const bramah_objective f = {
      .user = p, .n = p->n, .low = p->low, .high = p->high, .cost = cost, .slope = slope, .stop = used_up};
  const uint64_t evaluations = s->budget ? s->budget - s->budget / 4 : 200 * (p->n + 1);
  switch (s->method) {
  case BRAMAH_TUNE_SIMPLEX:
    return bramah_optimise_simplex(&f, 0.5, 2e-3, z, out, diag);
  case BRAMAH_TUNE_MULTISTART:
    return bramah_optimise_multistart(&f, s->starts, s->seed, 0.5, 2e-3, z, out, diag);
  case BRAMAH_TUNE_GLOBAL:
    return bramah_optimise_global(&f, evaluations, s->seed, 0.1, 1e-2, z, out, diag);
  default:
    return score(p, &f, z, out, diag);
  }
}

bramah_status cli_tune_optimise(cli_tune_search *search, char *set, const unsigned char *fixed,
                                bramah_optimum *out, bramah_diag *diag)
{
  problem p;
  double z[CLI_TUNE_MOST];
  pose(&p, search, set, fixed, z);
  *out = (bramah_optimum){0};
  if (!p.n) return BRAMAH_OK;
  const bramah_status status = choose(&p, z, out, diag);
  if (!status) write_set(&p, z, set);
  return status;
}
