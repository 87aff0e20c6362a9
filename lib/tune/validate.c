/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the 95 % quantile of chi-square with one degree of freedom. */
static const double level = 1.920729;

/* Where cost crosses the level between two points of a scale. */
static double crossing(double z0, double cost0, double z1, double cost1, double limit)
{
  const double a = sqrt(fmax(cost0, 0.0)), b = sqrt(fmax(cost1, 0.0));
  return b > a ? z0 + (z1 - z0) * (sqrt(limit) - a) / (b - a) : z1;
}

/* ---- values that the slope tells little of ---- */

/* Where the other values go when value j moves by dz, as the information tells: they solve I_oo d = -I_oj
 * dz, by Gauss-Seidel, which converges for it and is as good as needed as a start. */
static void lean(const bramah__tune_certainty *c, const double *information, size_t j, double dz, double *z)
{
  const size_t n = c->n;
  double d[BRAMAH__TUNE_MOST] = {0};
  d[j] = dz;
  for (int round = 0; round < 100; round++)
    for (size_t i = 0; i < n; i++) {
      if (i == j || c->held[i]) continue;
      double sum = 0.0;
      for (size_t k = 0; k < n; k++)
        if (k != i) sum += information[i * n + k] * d[k];
      d[i] = -sum / information[i * n + i];
    }
  for (size_t i = 0; i < n; i++) z[i] += d[i];
}

enum { N_LOOKS = 24 };
/* A standard error on a logarithmic scale from which on the cost is no parabola. */
static const double weak = 0.15;

typedef struct tune_stretch {
  size_t j;
  double low, high; /* looked at, on the value's scale */
} tune_stretch;

static double look_at(const tune_stretch *s, size_t i)
{
  return s->low + (s->high - s->low) * (double)i / (N_LOOKS - 1);
}

static tune_stretch choose_stretch(const bramah__tune_certainty *c, const bramah__tune_parameter *t, size_t j)
{
  tune_stretch s = {j, bramah__tune_scaled(t, t->least), bramah__tune_scaled(t, t->most)};
  const double z = bramah__tune_scaled(t, c->x[j]);
  if (c->held[j]) return s;
  /* Downwards a noise that is weak may vanish altogether. */
  s.high = fmin(s.high, z + 6.0 * c->sigma[j]);
  s.low = fmax(s.low, z - 8.0 * fmax(c->sigma[j], t->linear ? 0.0 : 1.0));
  return s;
}

/* The set in which value j is at z_j and the others lean with it. Variances add up, so what a logarithm
 * loses downwards counts ever less. */
static void lean_set(const bramah__tune_problem *problem, const char *set, const bramah__tune_certainty *c,
                     const double *information, size_t j, double z_j, char *out)
{
  double x[BRAMAH__TUNE_MOST], z[BRAMAH__TUNE_MOST] = {0};
  bramah__tune_set_numbers(problem, set, x);
  for (size_t i = 0; i < problem->n; i++) z[i] = bramah__tune_scaled(&problem->tuned[i], x[i]);
  const double dz = z_j - z[j];
  if (information[j * problem->n + j] > 0.0 && !c->held[j])
    lean(c, information, j, problem->tuned[j].linear || dz > 0.0 ? dz : 0.5 * expm1(2.0 * dz), z);
  z[j] = z_j;
  for (size_t i = 0; i < problem->n; i++) x[i] = bramah__tune_unscaled(&problem->tuned[i], z[i]);
  bramah__tune_set_text(problem, x, out);
}

/* Costs at looks across a stretch. */
static bramah_status look_across(bramah__tune_search *s, const char *set, const bramah__tune_certainty *c,
                                 const double *information, const tune_stretch *stretch, double *cost,
                                 bramah_diag *diag)
{
  const size_t size = bramah__tune_n_scores(s->problem, 0), n = N_LOOKS * s->n_logs;
  char(*sets)[BRAMAH__TUNE_TEXT] = calloc(N_LOOKS, sizeof *sets);
  double *block = calloc(n * size + 1, sizeof *block), **scores = calloc(n + 1, sizeof *scores);
  bramah_status status = sets && block && scores ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++) scores[i] = block + i * size;
  for (size_t i = 0; !status && i < N_LOOKS; i++)
    lean_set(s->problem, set, c, information, stretch->j, look_at(stretch, i), sets[i]);
  if (!status) status = bramah__tune_evaluate_all(s, N_LOOKS, sets, 1000, scores, diag);
  for (size_t i = 0; !status && i < N_LOOKS; i++) {
    const bramah_tune_verdict v = bramah__tune_judge(s->problem, s->n_logs, s->logs, scores + i * s->n_logs);
    double x[BRAMAH__TUNE_MOST];
    bramah__tune_set_numbers(s->problem, sets[i], x);
    cost[i] =
        bramah__tune_criterion_value(&v, BRAMAH_TUNE_LIKELIHOOD) + bramah__tune_penalty(s, x, NULL, NULL);
    bramah__tune_note_tried(s, sets[i], 0, &v, cost[i]);
  }
  free(sets);
  free(block);
  free(scores);
  return status;
}

/* From the outermost looks below the level outwards. */
static void bound(bramah__tune_certainty *c, const bramah__tune_parameter *t, const tune_stretch *s,
                  const double *cost, double least, double limit)
{
  size_t first = N_LOOKS, last = N_LOOKS;
  for (size_t i = 0; i < N_LOOKS; i++) {
    if (!(cost[i] - least < limit)) continue;
    if (first == N_LOOKS) first = i;
    last = i;
  }
  if (first == N_LOOKS) return; /* narrower than the looks are apart */
  const double z = bramah__tune_scaled(t, c->x[s->j]);
  double low = look_at(s, first), high = look_at(s, last);
  if (first > 0)
    low = crossing(low, cost[first] - least, look_at(s, first - 1), cost[first - 1] - least, limit);
  if (last + 1 < N_LOOKS)
    high = crossing(high, cost[last] - least, look_at(s, last + 1), cost[last + 1] - least, limit);
  c->low[s->j] = bramah__tune_unscaled(t, fmin(low, z));
  c->high[s->j] = bramah__tune_unscaled(t, fmax(high, z));
}

static int is_weak(const bramah__tune_certainty *c, const bramah__tune_parameter *t, size_t j)
{
  return c->held[j] != BRAMAH__TUNE_FREE || (!t->linear && c->sigma[j] > weak);
}

bramah_status bramah__tune_bound_weak(bramah__tune_certainty *certainty, bramah__tune_search *search,
                                      const char *set, const double *information, bramah_diag *diag)
{
  bramah__tune_certainty *c = certainty;
  bramah_status status = BRAMAH_OK;
  search->phase = "range";
  for (size_t j = 0; !status && j < c->n; j++) {
    const bramah__tune_parameter *t = &search->problem->tuned[j];
    double cost[N_LOOKS], least;
    bramah_tune_verdict verdict;
    if (!is_weak(c, t, j)) continue;
    const tune_stretch s = choose_stretch(c, t, j);
    status = look_across(search, set, c, information, &s, cost, diag);
    if (!status) status = bramah__tune_evaluate(search, set, 0, 0, &least, &verdict, diag);
    for (size_t i = 0; !status && i < N_LOOKS; i++) least = fmin(least, cost[i]);
    /* As much wider as the scatter of the slopes makes the standard error. */
    const double wider = c->held[j] ? 1.0 : c->sigma[j] / c->fisher[j];
    if (!status) bound(c, t, &s, cost, least, level * wider * wider);
  }
  return status;
}

/* ---- cross-validation ---- */

static void take_over_tried(bramah__tune_search *to, bramah__tune_search *from)
{
  bramah_tune_tried *tried = realloc(to->tried, (to->n_tried + from->n_tried + 1) * sizeof *tried);
  if (!tried) return;
  to->tried = tried;
  for (size_t i = 0; i < from->n_tried; i++) to->tried[to->n_tried++] = from->tried[i];
  to->room = to->n_tried;
  from->n_tried = 0;
}

static bramah__tune_search *branch_off(const bramah__tune_search *search, bramah__tune_search *out, size_t n,
                                       const size_t *logs, bramah_diag *diag)
{
  if (bramah__tune_search_open(out, search->problem, search->workers, n, logs, diag)) return NULL;
  out->criterion = search->criterion;
  out->method = search->method;
  out->penalty = search->penalty;
  out->budget = 0;
  out->enough = search->enough;
  out->user = search->user;
  out->unit = search->unit;
  out->phase = "fold";
  out->progress = search->progress;
  memcpy(out->white, search->white, search->problem->n * sizeof *out->white);
  memcpy(out->samples, search->samples, search->problem->n * sizeof *out->samples);
  return out;
}

/* Tune on some logs, beginning at set, which becomes the outcome. */
static bramah_status tune_on(bramah__tune_search *search, size_t n, const size_t *logs, char *set,
                             bramah_diag *diag)
{
  bramah__tune_search other = {0};
  bramah__optimum optimum;
  bramah_status status = branch_off(search, &other, n, logs, diag) ? BRAMAH_OK : diag->status;
  if (!status) status = bramah__tune_optimise(&other, set, NULL, &optimum, diag);
  search->evaluations += other.evaluations;
  take_over_tried(search, &other);
  bramah__tune_search_close(&other);
  return status;
}

static bramah_status judge_on(bramah__tune_search *search, size_t n, const size_t *logs, const char *set,
                              bramah_tune_verdict *verdict, bramah_diag *diag)
{
  bramah__tune_search other = {0};
  double value;
  bramah_status status = branch_off(search, &other, n, logs, diag) ? BRAMAH_OK : diag->status;
  if (!status) status = bramah__tune_evaluate(&other, set, 0, 0, &value, verdict, diag);
  search->evaluations += other.evaluations;
  take_over_tried(search, &other);
  bramah__tune_search_close(&other);
  return status;
}

static bramah_status run_fold(bramah_tune_fold *fold, bramah__tune_search *search, size_t f, size_t n,
                              const char *given, const char *set, bramah_diag *diag)
{
  size_t *kept = calloc(search->n_logs + 1, sizeof *kept), n_kept = 0;
  char found[BRAMAH__TUNE_TEXT];
  fold->held = calloc(search->n_logs + 1, sizeof *fold->held);
  fold->x = calloc(search->problem->n + 1, sizeof *fold->x);
  if (!kept || !fold->held || !fold->x) {
    free(kept);
    return bramah__fail_memory(diag);
  }
  for (size_t k = 0; k < search->n_logs; k++) {
    if (k % n == f)
      fold->held[fold->n_held++] = search->logs[k];
    else
      kept[n_kept++] = search->logs[k];
  }
  memcpy(found, set, BRAMAH__TUNE_TEXT);
  bramah_status status = tune_on(search, n_kept, kept, found, diag);
  bramah__tune_set_numbers(search->problem, found, fold->x);
  free(kept);
  if (!status) status = judge_on(search, fold->n_held, fold->held, given, &fold->given, diag);
  if (!status) status = judge_on(search, fold->n_held, fold->held, found, &fold->found, diag);
  return status ? status : judge_on(search, fold->n_held, fold->held, set, &fold->all, diag);
}

bramah_status bramah__tune_cross_validate(bramah__tune_folds *folds, bramah__tune_search *search, size_t n,
                                          const char *given, const char *set, bramah_diag *diag)
{
  if (n > search->n_logs) n = search->n_logs;
  folds->fold = calloc(n, sizeof *folds->fold);
  if (!folds->fold) return bramah__fail_memory(diag);
  folds->n = n;
  bramah_status status = BRAMAH_OK;
  for (size_t f = 0; !status && f < n; f++)
    status = run_fold(&folds->fold[f], search, f, n, given, set, diag);
  return status;
}

void bramah__tune_folds_free(bramah__tune_folds *folds)
{
  for (size_t f = 0; f < folds->n; f++) {
    free(folds->fold[f].held);
    free(folds->fold[f].x);
  }
  free(folds->fold);
}

/* ---- profiles ---- */

static bramah_status profile_point(bramah__tune_search *s, const char *set, const bramah__tune_certainty *c,
                                   const double *information, size_t j, double z_j, double *cost,
                                   bramah_diag *diag)
{
  const bramah__tune_problem *problem = s->problem;
  double x[BRAMAH__TUNE_MOST], z[BRAMAH__TUNE_MOST] = {0};
  unsigned char fixed[BRAMAH__TUNE_MOST] = {0};
  char trial[BRAMAH__TUNE_TEXT];
  bramah__optimum optimum;
  bramah__tune_set_numbers(problem, set, x);
  for (size_t i = 0; i < problem->n; i++) {
    z[i] = bramah__tune_scaled(&problem->tuned[i], x[i]);
    fixed[i] = c->held[i] != BRAMAH__TUNE_FREE; /* nothing pulls at them */
  }
  lean(c, information, j, z_j - z[j], z);
  for (size_t i = 0; i < problem->n; i++) x[i] = bramah__tune_unscaled(&problem->tuned[i], z[i]);
  bramah__tune_set_text(problem, x, trial);
  fixed[j] = 1;
  bramah_tune_verdict verdict;
  bramah_status status = bramah__tune_optimise(s, trial, fixed, &optimum, diag);
  return status ? status : bramah__tune_evaluate(s, trial, 0, 0, cost, &verdict, diag);
}

static void find_crossings(bramah_tune_profile *p, const bramah__tune_parameter *t, size_t middle)
{
  p->low = t->least;
  p->high = t->most;
  for (size_t i = middle; i-- > 0;)
    if (p->cost[i] >= level) {
      p->low = bramah__tune_unscaled(t, crossing(bramah__tune_scaled(t, p->x[i + 1]), p->cost[i + 1],
                                                 bramah__tune_scaled(t, p->x[i]), p->cost[i], level));
      break;
    }
  for (size_t i = middle + 1; i < p->n; i++)
    if (p->cost[i] >= level) {
      p->high = bramah__tune_unscaled(t, crossing(bramah__tune_scaled(t, p->x[i - 1]), p->cost[i - 1],
                                                  bramah__tune_scaled(t, p->x[i]), p->cost[i], level));
      break;
    }
}

static bramah_status find_profile(bramah_tune_profile *p, bramah__tune_search *s, const char *set,
                                  const bramah__tune_certainty *c, const double *information, size_t j,
                                  size_t sides, double least, bramah_diag *diag)
{
  const bramah__tune_parameter *t = &s->problem->tuned[j];
  const double z = bramah__tune_scaled(t, c->x[j]), low = bramah__tune_scaled(t, t->least),
               high = bramah__tune_scaled(t, t->most);
  /* Without a standard error: over the whole range. */
  const double reach = c->held[j] ? high - low : 3.0 * c->sigma[j];
  bramah_status status = BRAMAH_OK;
  p->n = 2 * sides + 1;
  p->x = calloc(2 * p->n, sizeof *p->x);
  if (!p->x) return bramah__fail_memory(diag);
  p->cost = p->x + p->n;
  const size_t points = p->n;
  size_t middle = 0;
  p->n = 0;
  for (size_t i = 0; !status && i < points; i++) {
    const double at = fmin(fmax(z + reach * ((double)i - (double)sides) / (double)sides, low), high);
    double cost = least;
    if (i != sides && at == z) continue; /* at its bound already */
    if (i == sides) middle = p->n;
    if (i != sides) status = profile_point(s, set, c, information, j, at, &cost, diag);
    p->x[p->n] = bramah__tune_unscaled(t, at);
    p->cost[p->n++] = cost - least;
  }
  if (!status) find_crossings(p, t, middle);
  return status;
}

bramah_status bramah__tune_find_profiles(bramah_tune_profile *profiles, bramah__tune_search *search,
                                         const char *set, const bramah__tune_certainty *certainty,
                                         const double *information, size_t sides, bramah_diag *diag)
{
  double least;
  bramah_tune_verdict verdict;
  search->phase = "profile";
  bramah_status status = bramah__tune_evaluate(search, set, 0, 0, &least, &verdict, diag);
  for (size_t j = 0; !status && j < certainty->n; j++)
    status = find_profile(&profiles[j], search, set, certainty, information, j, sides, least, diag);
  return status;
}

void bramah__tune_profiles_free(bramah_tune_profile *profiles, size_t n)
{
  for (size_t j = 0; profiles && j < n; j++) free(profiles[j].x);
  free(profiles);
}

/* ---- criteria against each other ---- */

static double value_of(const bramah_tune_tried *t, int criterion)
{
  return bramah__tune_criterion_value(&t->verdict, (bramah_tune_criterion)criterion);
}

/* Sets over all logs of the search, replayed to their end; parts of logs and folds are not comparable. */
static int is_comparable(const bramah__tune_search *s, size_t i)
{
  const bramah_tune_verdict *v = &s->tried[i].verdict;
  return !v->status && !v->stopped && v->used > 0.0 && v->used + v->gated >= s->most_used - 0.5 &&
         strcmp(s->tried[i].phase, "fold") != 0;
}

static int dominates(const bramah_tune_tried *a, const bramah_tune_tried *b)
{
  int better = 0;
  for (int c = 0; c < BRAMAH_TUNE_CRITERIA; c++) {
    const double x = value_of(a, c), y = value_of(b, c);
    if (x > y) return 0;
    better |= x < y;
  }
  return better;
}

void bramah__tune_compare_criteria(bramah__tune_search *search, size_t *best)
{
  const size_t n = search->n_tried;
  for (size_t i = 0; i < n; i++) {
    int front = is_comparable(search, i);
    for (size_t k = 0; front && k < n; k++)
      if (k != i && is_comparable(search, k) && dominates(&search->tried[k], &search->tried[i])) front = 0;
    search->tried[i].front = front;
  }
  for (int c = 0; c < BRAMAH_TUNE_CRITERIA; c++) {
    best[c] = n;
    for (size_t i = 0; i < n; i++)
      if (is_comparable(search, i) && isfinite(value_of(&search->tried[i], c)) &&
          (best[c] == n || value_of(&search->tried[i], c) < value_of(&search->tried[best[c]], c)))
        best[c] = i;
  }
}
