/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search: evaluations of candidates over logs, where it begins, and how it goes on. */
#include "lib/io/fail.h"
#include "lib/tune/tune_internal.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__tune_search_open(bramah__tune_search *search, bramah__tune_workers *workers,
                                       size_t n_logs, const size_t *logs, bramah_diag *diag)
{
  const bramah__tune_problem *problem = workers->problem;
  search->problem = problem;
  search->workers = workers;
  search->n_logs = n_logs;
  search->phase = "search";
  search->logs = calloc(n_logs + 1, sizeof *search->logs);
  search->white = calloc(2 * problem->n + 1, sizeof *search->white);
  search->limits = calloc(problem->n_logs * BRAMAH__TUNE_CHECKS + 1, sizeof *search->limits);
  search->scores = bramah__replay_scores_new(problem, n_logs, 1);
  if (!search->logs || !search->white || !search->limits || !search->scores) return bramah__fail_memory(diag);
  search->samples = search->white + problem->n;
  memcpy(search->logs, logs, n_logs * sizeof *logs);
  return BRAMAH_OK;
}

void bramah__tune_search_close(bramah__tune_search *search)
{
  for (size_t i = 0; i < search->n_tried; i++) free(search->tried[i].x);
  free(search->tried);
  free(search->logs);
  free(search->white);
  free(search->limits);
  free(search->scores);
}

/* ---- evaluations ---- */

int bramah__tune_affords(const bramah__tune_search *search, uint64_t n)
{
  return !search->budget || search->evaluations + n <= search->budget;
}

/* For the table of all that was tried; without memory the table gets shorter, the search goes on. */
static void note_tried(bramah__tune_search *search, const double *x, int slope,
                       const bramah_tune_verdict *verdict, double value)
{
  if (search->n_tried == search->room) {
    const size_t room = search->room ? 2 * search->room : 64;
    bramah_tune_tried *tried = realloc(search->tried, room * sizeof *tried);
    if (!tried) return;
    search->tried = tried;
    search->room = room;
  }
  bramah_tune_tried *t = &search->tried[search->n_tried];
  if (!verdict->status && !verdict->stopped && strcmp(search->phase, "fold") != 0)
    search->most_used = fmax(search->most_used, verdict->used + verdict->gated);
  *t = (bramah_tune_tried){.phase = search->phase, .slope = slope, .verdict = *verdict, .value = value};
  t->x = malloc((search->problem->n + 1) * sizeof *t->x);
  if (!t->x) return;
  memcpy(t->x, x, search->problem->n * sizeof *x);
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
    const double over = bramah__log(x[i] / search->white[i]);
    const double by = t->linear ? (t->most - t->least) / x[i] : 1.0; /* d log x / d scale */
    sum += weight * over * over;
    if (gradient) gradient[i] += 2.0 * weight * over * by;
    if (information) information[i * n + i] += 2.0 * weight * by * by;
  }
  return sum;
}

bramah_status bramah__tune_evaluate_all(bramah__tune_search *search, size_t n, double (*x)[BRAMAH__TUNE_MOST],
                                        int thousandths, bramah_tune_criterion criterion, int penalised,
                                        double *value, bramah_diag *diag)
{
  const size_t n_logs = search->n_logs;
  bramah__replay_score *scores = bramah__replay_scores_new(search->problem, n * n_logs, 0);
  if (!scores) return bramah__fail_memory(diag);
  const bramah_status status =
      bramah__tune_workers_replay(search->workers, n, x, n_logs, search->logs, thousandths, scores, diag);
  search->evaluations += n;
  for (size_t i = 0; !status && i < n; i++) {
    const bramah_tune_verdict v =
        bramah__tune_judge(search->problem, n_logs, search->logs, scores + i * n_logs);
    value[i] = bramah__tune_criterion_value(&v, criterion);
    if (penalised) value[i] += bramah__tune_penalty(search, x[i], NULL, NULL);
    note_tried(search, x[i], 0, &v, value[i]);
  }
  free(scores);
  return status;
}

/* One candidate on all logs. A replay that has lost so much against the best one does not come back: the
 * likelihood of what follows would have to say as much against the best candidate. */
static bramah_status replay_logs(bramah__tune_search *search, const double *x, int slope, int limited,
                                 bramah_diag *diag)
{
  bramah__tune_job *jobs = calloc(search->n_logs + 1, sizeof *jobs);
  if (!jobs) return bramah__fail_memory(diag);
  for (size_t k = 0; k < search->n_logs; k++) {
    bramah__tune_job *job = &jobs[k];
    const double *best = search->limits + search->logs[k] * BRAMAH__TUNE_CHECKS;
    *job = (bramah__tune_job){.log = search->logs[k], .slope = slope, .thousandths = 1000};
    memcpy(job->x, x, search->problem->n * sizeof *x);
    job->limited = limited && search->given;
    for (int c = 0; job->limited && c < BRAMAH__TUNE_CHECKS; c++)
      job->limit[c] = best[c] + (50.0 + 0.05 * fabs(best[BRAMAH__TUNE_CHECKS - 1]));
  }
  const bramah_status status =
      bramah__tune_workers_do(search->workers, search->n_logs, jobs, search->scores, diag);
  free(jobs);
  return status;
}

bramah_status bramah__tune_evaluate(bramah__tune_search *search, const double *x, int slope, int limited,
                                    double *value, bramah_tune_verdict *verdict, bramah_diag *diag)
{
  const bramah_status status = replay_logs(search, x, slope, limited, diag);
  search->evaluations++;
  if (status) return status;
  *verdict = bramah__tune_judge(search->problem, search->n_logs, search->logs, search->scores);
  *value = bramah__tune_criterion_value(verdict, search->criterion);

  /* A replay was given up: how much it had lost then is what the whole is taken to lose at least. */
  if (isfinite(*value) && verdict->stopped) {
    *value = search->best;
    for (size_t k = 0; k < search->n_logs; k++) {
      const bramah__replay_score *s = &search->scores[k];
      const int at = s->stopped > 0 ? s->stopped - 1 : BRAMAH__TUNE_CHECKS - 1;
      *value += fmax(s->cost[at] - search->limits[search->logs[k] * BRAMAH__TUNE_CHECKS + (size_t)at], 0.0);
    }
  }
  if (isfinite(*value)) *value += bramah__tune_penalty(search, x, NULL, NULL);

  /* The best one so far says what the others may cost where. */
  if (isfinite(*value) && !verdict->stopped && search->criterion == BRAMAH_TUNE_LIKELIHOOD &&
      (!search->given || *value < search->best)) {
    search->given = 1;
    search->best = *value;
    for (size_t k = 0; k < search->n_logs; k++)
      memcpy(search->limits + search->logs[k] * BRAMAH__TUNE_CHECKS, search->scores[k].cost,
             sizeof search->scores[k].cost);
  }
  note_tried(search, x, slope, verdict, *value);
  const bramah_tune_options *o = search->options;
  const bramah_tune_progress progress = {.phase = search->phase,
                                         .evaluations = search->evaluations,
                                         .replays = search->workers->replays,
                                         .best = search->best};
  if (o->progress) o->progress(o->run.user, &progress);
  return BRAMAH_OK;
}

bramah_status bramah__tune_explain(const bramah__tune_search *search, const double *x,
                                   const bramah_tune_verdict *verdict, bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  if (verdict->status) {
    const bramah_status status = bramah__tune_explain_failure(problem, x, 1, verdict, diag);
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
  char text[BRAMAH__TUNE_TEXT];
  bramah__tune_candidate_text(problem, x, text);
  return bramah__failf(diag, BRAMAH_E_NOT_FINITE, path, 0, bramah__tune_criterion_name(search->criterion),
                       "the criterion is not finite with %.200s: %s", text,
                       search->criterion == BRAMAH_TUNE_RMSE ? "give the truth of the logs with --truth"
                                                             : "begin from other values");
}

/* ---- where it begins ---- */

enum { N_FACTORS = 7, ROUNDS = 2 };

/* By which the plant noise of one kind is multiplied. */
static const double factors[N_FACTORS] = {1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3};
static const bramah__tune_kind plant_noise[] = {BRAMAH__TUNE_ACCELERATION, BRAMAH__TUNE_PRESSURE,
                                                BRAMAH__TUNE_NOISE};

/* Evaluations of a start at most, and the first one of the search. */
enum { START_COST = 3 + ROUNDS * (N_FACTORS * (sizeof plant_noise / sizeof plant_noise[0]) + 1) };

static double inside(const bramah__tune_parameter *t, double x) { return fmin(fmax(x, t->least), t->most); }

/* x becomes the best of the factors for the plant noise of each kind, one after the other. */
static bramah_status try_factors(bramah__tune_search *s, double *x, bramah_diag *diag)
{
  const bramah__tune_problem *problem = s->problem;
  bramah_status status = BRAMAH_OK;
  size_t rows = 0;
  for (size_t k = 0; k < s->n_logs; k++) rows += problem->logs[s->logs[k]].rows;
  const int thousandths = rows > 8000 ? 250 : 1000; /* a quarter of long logs is enough to begin with */
  for (size_t kind = 0; !status && kind < sizeof plant_noise / sizeof plant_noise[0]; kind++) {
    double trial[N_FACTORS][BRAMAH__TUNE_MOST] = {{0}}, value[N_FACTORS], least = (double)INFINITY;
    size_t n = 0; /* different ones: a bound may make several the same */
    int any = 0;
    for (size_t f = 0; f < N_FACTORS; f++) {
      for (size_t i = 0; i < problem->n; i++) {
        const bramah__tune_parameter *t = &problem->tuned[i];
        trial[n][i] = t->kind == plant_noise[kind] ? inside(t, factors[f] * x[i]) : x[i];
        any |= t->kind == plant_noise[kind];
      }
      bramah__tune_round(problem, trial[n]);
      n += n == 0 || memcmp(trial[n], trial[n - 1], sizeof trial[n]) != 0;
    }
    if (!any) continue;
    status = bramah__tune_evaluate_all(s, n, trial, thousandths, BRAMAH_TUNE_LIKELIHOOD, 0, value, diag);
    for (size_t k = 0; !status && k < n; k++) {
      if (!(value[k] < least)) continue;
      least = value[k];
      memcpy(x, trial[k], problem->n * sizeof *x);
    }
  }
  return status;
}

void bramah__tune_heedless(const bramah__tune_problem *problem, double *x)
{
  for (size_t i = 0; i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    if (t->kind == BRAMAH__TUNE_SENSOR) x[i] = t->most;
    for (size_t k = 0; k < sizeof plant_noise / sizeof plant_noise[0]; k++)
      if (t->kind == plant_noise[k]) x[i] = t->least;
  }
  bramah__tune_round(problem, x);
}

/* Sensors: the part of their innovations that has no memory, less what rounding makes. All else from the values
 * as given: what was best with wrong sensors means little. The most that a sensor has moved, in logarithms. */
static double take_white(const bramah__tune_search *search, const double *given, double *at)
{
  const bramah__tune_problem *problem = search->problem;
  double moved = 0.0;
  for (size_t i = 0; i < problem->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    if (t->kind != BRAMAH__TUNE_SENSOR) {
      at[i] = given[i];
      continue;
    }
    const bramah_tune_colour c = bramah__tune_colour_of(problem, search->n_logs, search->scores, t->index, 1);
    const double step = bramah_session_about(problem->session)->sensors[t->index].resolution;
    const double variance = c.white_sigma * c.white_sigma - step * step / 12.0;
    const double now = variance > 0.0 ? inside(t, sqrt(variance) / t->factor) : at[i];
    moved = fmax(moved, fabs(bramah__log(now / at[i])));
    at[i] = now;
  }
  return moved;
}

bramah_status bramah__tune_find_start(bramah__tune_search *search, double *x, bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  const size_t n = problem->n;
  double given[BRAMAH__TUNE_MOST], at[BRAMAH__TUNE_MOST], value, lowest;
  bramah_tune_verdict verdict;
  if (!bramah__tune_affords(search, START_COST)) return BRAMAH_OK;
  memcpy(given, x, n * sizeof *x);
  memcpy(at, x, n * sizeof *x);
  search->phase = "start";
  bramah_status status = bramah__tune_evaluate(search, x, 0, 0, &lowest, &verdict, diag);

  /* The filter cannot follow the log with the values as given: one that hardly heeds its sensors can, as far
   * as the model alone does, and its innovations show the sensors' noise on top of a slow drift. */
  if (!status && (!isfinite(lowest) || bramah__tune_starved(&verdict))) {
    value = lowest = (double)INFINITY;
    if (verdict.status || verdict.gated > 0.0) {
      bramah_tune_verdict alone;
      bramah__tune_heedless(problem, at);
      status = bramah__tune_evaluate(search, at, 0, 0, &value, &alone, diag);
    }
    if (!status && !isfinite(value)) return bramah__tune_explain(search, x, &verdict, diag);
  }

  /* Sensors that are white and of the right size as the study has them keep to that: the penalty is about
   * them. */
  for (size_t i = 0; !status && isfinite(lowest) && i < n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    if (t->kind != BRAMAH__TUNE_SENSOR) continue;
    const bramah_tune_colour c = bramah__tune_colour_of(problem, search->n_logs, search->scores, t->index, 1);
    if (c.coloured || !(c.nis > 0.8 && c.nis < 1.25)) continue;
    search->white[i] = at[i];
    search->samples[i] = c.n;
  }
  if (search->criterion != BRAMAH_TUNE_LIKELIHOOD) search->unit = isfinite(lowest) ? lowest : 1.0;

  for (int round = 0; !status && round < ROUNDS; round++) {
    /* Another round is for sensors that came out different. */
    const double moved = take_white(search, given, at);
    if (round && moved < 0.01) break;
    status = try_factors(search, at, diag);
    bramah__tune_round(problem, at);
    if (!status) status = bramah__tune_evaluate(search, at, 0, 0, &value, &verdict, diag);
    if (status || !isfinite(value)) break;
    if (value < lowest) {
      lowest = value;
      memcpy(x, at, n * sizeof *x);
    }
  }
  search->phase = "search";
  return !status && !isfinite(lowest) ? bramah__tune_explain(search, at, &verdict, diag) : status;
}

/* ---- the optimisers ---- */

/* The search as an objective: free values on their scales. */
typedef struct posed {
  bramah__tune_search *search;
  size_t n;                        /* free values */
  size_t index[BRAMAH__TUNE_MOST]; /* of them */
  double x[BRAMAH__TUNE_MOST];     /* all, the free ones to be filled in */
  double low[BRAMAH__TUNE_MOST], high[BRAMAH__TUNE_MOST];
  double slope_x[BRAMAH__TUNE_MOST]; /* where the last slope was wanted, and what came of it */
  bramah_tune_verdict verdict;
  int failed;
} posed;

static void candidate_at(const posed *p, const double *z, double *x)
{
  const bramah__tune_problem *problem = p->search->problem;
  memcpy(x, p->x, problem->n * sizeof *x);
  for (size_t k = 0; k < p->n; k++)
    x[p->index[k]] = bramah__tune_unscaled(&problem->tuned[p->index[k]], z[k]);
  bramah__tune_round(problem, x);
}

static bramah_status cost(void *user, const double *z, double *out, bramah_diag *diag)
{
  posed *p = user;
  double x[BRAMAH__TUNE_MOST];
  bramah_tune_verdict verdict;
  candidate_at(p, z, x);
  return bramah__tune_evaluate(p->search, x, 0, p->search->criterion == BRAMAH_TUNE_LIKELIHOOD, out, &verdict,
                               diag);
}

static bramah_status slope(void *user, const double *z, double *out, double *gradient, double *information,
                           bramah_diag *diag)
{
  posed *p = user;
  const bramah__tune_search *s = p->search;
  const size_t all = s->problem->n;
  double *x = p->slope_x, g[BRAMAH__TUNE_MOST] = {0};
  candidate_at(p, z, x);
  const bramah_status status = bramah__tune_evaluate(p->search, x, 1, 0, out, &p->verdict, diag);
  p->failed = !isfinite(*out);
  if (status || p->failed) return status;

  /* Summed over the logs in their order, then the penalty. */
  double *I = calloc(all * all + 1, sizeof *I);
  if (!I) return bramah__fail_memory(diag);
  bramah__tune_penalty(s, x, g, I);
  for (size_t a = 0; a < p->n; a++) {
    const size_t i = p->index[a];
    gradient[a] = 0.0;
    for (size_t k = 0; k < s->n_logs; k++) gradient[a] += s->scores[k].gradient[i];
    gradient[a] += g[i];
    for (size_t b = 0; b < p->n; b++) {
      const size_t place = i * all + p->index[b];
      double sum = 0.0;
      for (size_t k = 0; k < s->n_logs; k++) sum += s->scores[k].information[place];
      information[a * p->n + b] = a == b ? sum + I[place] : sum;
    }
  }
  free(I);
  return BRAMAH_OK;
}

static int used_up(void *user)
{
  const bramah__tune_search *s = ((posed *)user)->search;
  const bramah_tune_options *o = s->options;
  return !bramah__tune_affords(s, 1) || (o->enough && o->enough(o->run.user));
}

/* The logarithm of a noise that is much too small has no slope: what went there does not come back by itself.
 * So values that are flat or at their lower bound are tried all over their range. */
enum { N_TRIALS = 12, REVIVALS = 3 };

/* The best of the value's range, if it is better; *value is of z. */
static bramah_status revive(posed *p, size_t k, double *z, double *value, int *better, bramah_diag *diag)
{
  double x[N_TRIALS][BRAMAH__TUNE_MOST] = {{0}}, at[N_TRIALS], here[N_TRIALS], best = z[k];
  for (size_t i = 0; i < N_TRIALS; i++) {
    z[k] = at[i] = p->low[k] + (p->high[k] - p->low[k]) * ((double)i + 0.5) / N_TRIALS;
    candidate_at(p, z, x[i]);
  }
  const bramah_status status =
      bramah__tune_evaluate_all(p->search, N_TRIALS, x, 1000, p->search->criterion, 1, here, diag);
  for (size_t i = 0; !status && i < N_TRIALS; i++) {
    if (!(here[i] < *value - 1.0)) continue;
    *value = here[i];
    *better = 1;
    best = at[i];
  }
  z[k] = best;
  return status;
}

/* Scoring; anew from where a value was revived. */
static bramah_status score(posed *p, const bramah__objective *f, double *z, bramah__optimum *out,
                           bramah_diag *diag)
{
  static const double tolerance =
      1e-2; /* small against the half unit of cost that one standard error makes */
  double *g = calloc(p->n + p->n * p->n + 1, sizeof *g), *I = g + p->n;
  bramah_status status = g ? BRAMAH_OK : bramah__fail_memory(diag);
  int better = 1;
  for (int round = 0; !status && better && round <= REVIVALS; round++) {
    bramah__optimum one;
    if (round && used_up(p)) {
      out->ending = BRAMAH_ENDING_STOPPED;
      break;
    }
    status = bramah__optimise_scoring(f, tolerance, z, g, I, &one, diag);
    if (status == BRAMAH_E_NOT_FINITE && p->failed)
      status = bramah__tune_explain(p->search, p->slope_x, &p->verdict, diag);
    out->iterations += one.iterations;
    out->cost = one.cost;
    out->ending = one.ending;
    better = 0;
    for (size_t k = 0; !status && !used_up(p) && k < p->n; k++) {
      const int at_bound = z[k] - p->low[k] < 1e-6, flat = !(I[k * p->n + k] > 1.0);
      if (!p->search->problem->tuned[p->index[k]].linear && (flat || at_bound) &&
          bramah__tune_affords(p->search, N_TRIALS))
        status = revive(p, k, z, &out->cost, &better, diag);
    }
  }
  free(g);
  return status;
}

bramah_status bramah__tune_optimise(bramah__tune_search *search, double *x, const unsigned char *fixed,
                                    bramah__optimum *out, bramah_diag *diag)
{
  posed p = {.search = search};
  double z[BRAMAH__TUNE_MOST];
  memcpy(p.x, x, search->problem->n * sizeof *x);
  for (size_t i = 0; i < search->problem->n; i++) {
    const bramah__tune_parameter *t = &search->problem->tuned[i];
    if (fixed && fixed[i]) continue;
    p.low[p.n] = bramah__tune_scaled(t, t->least);
    p.high[p.n] = bramah__tune_scaled(t, t->most);
    z[p.n] = bramah__tune_scaled(t, x[i]);
    p.index[p.n++] = i;
  }
  *out = (bramah__optimum){0};
  if (!p.n) return BRAMAH_OK;
  const bramah__objective f = {
      .user = &p, .n = p.n, .low = p.low, .high = p.high, .cost = cost, .slope = slope, .stop = used_up};
  const bramah_status status = search->method == BRAMAH_TUNE_SIMPLEX
                                   ? bramah__optimise_simplex(&f, 0.5, 2e-3, z, out, diag)
                                   : score(&p, &f, z, out, diag);
  if (!status) candidate_at(&p, z, x);
  return status;
}
