/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether what was found holds: how well the logs say it, on logs it was not tuned on, away from the
 * optimum, by other criteria. */
#include "lib/base/diag.h"
#include "lib/io/fail.h"
#include "lib/tune/tune_internal.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 95 % of a normal distribution lie within; and half the 95 % quantile of chi-square with one degree of
 * freedom. */
static const double quantile = 1.959963984540054, level = 1.920729;

/* ---- standard errors ---- */

/* Pseudo-inverse of the information of the free values, scaled to a diagonal of ones first, into V [n x n];
 * directions that hold next to nothing are left with a huge variance rather than none. */
static bramah_status invert(bramah__tune_certainty *c, double *V, bramah_diag *diag)
{
  const size_t n = c->n;
  const double *information = c->information;
  double *E = calloc(n * n + n + bramah__symmetric_eigen_work(n) + 1, sizeof *E), *w = E + n * n;
  if (!E) return bramah__fail_memory(diag);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      const int out = c->held[i] || c->held[j];
      const double size = sqrt(information[i * n + i] * information[j * n + j]);
      E[i * n + j] = i == j ? 1.0 : out ? 0.0 : information[i * n + j] / size;
    }
  const int failed =
      bramah__symmetric_eigen(n, E, w, w + n); /* its rows are the vectors, the weakest the first */
  if (n && !failed && w[0] < c->weakest) {
    c->weakest = w[0];
    memcpy(c->direction, E, n * sizeof *E);
  }
  for (size_t i = 0; !failed && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0.0;
      for (size_t k = 0; k < n; k++) sum += E[k * n + i] * E[k * n + j] / fmax(w[k], 1e-12);
      const int out = c->held[i] || c->held[j];
      V[i * n + j] = out ? 0.0 : sum / sqrt(information[i * n + i] * information[j * n + j]);
    }
  free(E);
  return failed ? bramah__fail(diag, BRAMAH_E_NOT_FINITE, "information",
                               "the information of the logs is not finite")
                : BRAMAH_OK;
}

/* J [n x n]: sum of the squares of the slopes of twentieths about their mean; returns how many there are. */
static size_t scatter(const bramah__tune_search *s, double *J)
{
  const size_t n = s->problem->n, N = s->n_logs * BRAMAH__TUNE_CHECKS;
  double mean[BRAMAH__TUNE_MOST] = {0}, g[BRAMAH__TUNE_MOST];
  for (int pass = 0; pass < 2; pass++) {
    double sum[BRAMAH__TUNE_MOST] = {0};
    for (size_t k = 0; k < N; k++) {
      const size_t c = k % BRAMAH__TUNE_CHECKS;
      const double *at = s->scores[k / BRAMAH__TUNE_CHECKS].gradient_at + c * n;
      for (size_t i = 0; i < n; i++) g[i] = at[i] - (c ? at[(ptrdiff_t)i - (ptrdiff_t)n] : 0.0) - mean[i];
      for (size_t i = 0; pass && i < n; i++)
        for (size_t j = 0; j < n; j++) J[i * n + j] += g[i] * g[j];
      for (size_t i = 0; i < n; i++) sum[i] += g[i];
    }
    for (size_t i = 0; !pass && i < n; i++) mean[i] = sum[i] / (double)N;
  }
  return N;
}

/* From the information of the candidate x. */
static bramah_status find_errors(bramah__tune_certainty *c, const bramah__tune_search *search,
                                 bramah_diag *diag)
{
  /* A standard error beyond which nothing is known: a factor of e, a third of the range. */
  static const double flat_log = 1.0, flat_linear = 0.3;
  const bramah__tune_problem *problem = search->problem;
  const size_t n = c->n;
  for (size_t i = 0; i < n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    const double z = bramah__tune_scaled(t, c->x[i]), low = bramah__tune_scaled(t, t->least),
                 high = bramah__tune_scaled(t, t->most);
    if (!(c->information[i * n + i] > 0.0)) c->held[i] = BRAMAH__TUNE_FLAT;
    if (z - low < 1e-6 * (high - low)) c->held[i] = BRAMAH__TUNE_AT_LEAST;
    if (high - z < 1e-6 * (high - low)) c->held[i] = BRAMAH__TUNE_AT_MOST;
  }
  double *V = calloc(2 * n * n + 1, sizeof *V), *J = V + n * n;
  const bramah_status status = V ? invert(c, V, diag) : bramah__fail_memory(diag);
  const size_t blocks = status ? 0 : scatter(search, J);
  for (size_t i = 0; !status && i < n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    const double z = bramah__tune_scaled(t, c->x[i]);
    double robust = 0.0; /* V J V */
    for (size_t a = 0; a < n; a++)
      for (size_t b = 0; b < n; b++) robust += V[i * n + a] * J[a * n + b] * V[b * n + i];
    c->fisher[i] = sqrt(V[i * n + i]);
    c->sigma[i] = blocks >= 10 * n ? fmax(c->fisher[i], sqrt(fmax(robust, 0.0))) : c->fisher[i];
    if (c->held[i]) c->sigma[i] = c->fisher[i] = (double)NAN;
    c->low[i] = c->held[i] ? t->least : bramah__tune_unscaled(t, z - quantile * c->sigma[i]);
    c->high[i] = c->held[i] ? t->most : bramah__tune_unscaled(t, z + quantile * c->sigma[i]);
    if (!c->held[i] && c->sigma[i] > (t->linear ? flat_linear : flat_log)) c->held[i] = BRAMAH__TUNE_FLAT;
    for (size_t j = 0; j < n; j++)
      c->correlation[i * n + j] = V[i * n + j] / sqrt(V[i * n + i] * V[j * n + j]);
  }
  free(V);
  return status;
}

/* ---- intervals of values that the slope says little of ---- */

/* Where cost crosses the level between two points of a scale. */
static double crossing(double z0, double cost0, double z1, double cost1, double limit)
{
  const double a = sqrt(fmax(cost0, 0.0)), b = sqrt(fmax(cost1, 0.0));
  return b > a ? z0 + (z1 - z0) * (sqrt(limit) - a) / (b - a) : z1;
}

/* Where the other values go when value j moves by dz, as the information says: they solve I_oo d = -I_oj
 * dz, by Gauss-Seidel, which converges for it and is as good as needed as a start. */
static void lean(const bramah__tune_certainty *c, size_t j, double dz, double *z)
{
  const size_t n = c->n;
  const double *information = c->information;
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

/* The candidate in which value j is at z_j and the others lean with it. For a look a value that the logs do
 * not say takes none with it; and variances add up, so that what a logarithm loses downwards counts ever
 * less. */
static void lean_to(const bramah__tune_problem *problem, const bramah__tune_certainty *c, size_t j,
                    double z_j, int look, double *x)
{
  double z[BRAMAH__TUNE_MOST] = {0};
  for (size_t i = 0; i < problem->n; i++) z[i] = bramah__tune_scaled(&problem->tuned[i], c->x[i]);
  double dz = z_j - z[j];
  if (look && !problem->tuned[j].linear && !(dz > 0.0)) dz = 0.5 * bramah__expm1(2.0 * dz);
  if (!look || (c->information[j * c->n + j] > 0.0 && !c->held[j])) lean(c, j, dz, z);
  if (look) z[j] = z_j;
  for (size_t i = 0; i < problem->n; i++) x[i] = bramah__tune_unscaled(&problem->tuned[i], z[i]);
  bramah__tune_round(problem, x);
}

enum { N_LOOKS = 24 };

/* The interval of value j by looks across its range. */
static bramah_status look_across(bramah__tune_certainty *c, bramah__tune_search *search, size_t j,
                                 bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  const bramah__tune_parameter *t = &problem->tuned[j];
  const double z = bramah__tune_scaled(t, c->x[j]);
  double low = bramah__tune_scaled(t, t->least), high = bramah__tune_scaled(t, t->most);
  if (!c->held[j]) { /* downwards a noise that is weak may vanish altogether */
    high = fmin(high, z + 6.0 * c->sigma[j]);
    low = fmax(low, z - 8.0 * fmax(c->sigma[j], t->linear ? 0.0 : 1.0));
  }

  /* Costs there, and at the optimum. */
  double x[N_LOOKS][BRAMAH__TUNE_MOST] = {{0}}, at[N_LOOKS], cost[N_LOOKS], least;
  bramah_tune_verdict verdict;
  for (size_t i = 0; i < N_LOOKS; i++) {
    at[i] = low + (high - low) * (double)i / (N_LOOKS - 1);
    lean_to(problem, c, j, at[i], 1, x[i]);
  }
  bramah_status status =
      bramah__tune_evaluate_all(search, N_LOOKS, x, 1000, BRAMAH_TUNE_LIKELIHOOD, 1, cost, diag);
  if (!status) status = bramah__tune_evaluate(search, c->x, 0, 0, &least, &verdict, diag);
  if (status) return status;
  for (size_t i = 0; i < N_LOOKS; i++) least = fmin(least, cost[i]);

  /* From the outermost looks below the level outwards; the level as much higher as the scatter of the slopes
   * makes the standard error wider. */
  const double wider = c->held[j] ? 1.0 : c->sigma[j] / c->fisher[j], limit = level * wider * wider;
  size_t first = N_LOOKS, last = N_LOOKS;
  for (size_t i = 0; i < N_LOOKS; i++) {
    if (!(cost[i] - least < limit)) continue;
    if (first == N_LOOKS) first = i;
    last = i;
  }
  if (first == N_LOOKS) return BRAMAH_OK; /* narrower than the looks are apart */
  low = at[first];
  high = at[last];
  if (first > 0) low = crossing(low, cost[first] - least, at[first - 1], cost[first - 1] - least, limit);
  if (last + 1 < N_LOOKS)
    high = crossing(high, cost[last] - least, at[last + 1], cost[last + 1] - least, limit);
  c->low[j] = bramah__tune_unscaled(t, fmin(low, z));
  c->high[j] = bramah__tune_unscaled(t, fmax(high, z));
  return BRAMAH_OK;
}

bramah_status bramah__tune_certainty_find(bramah__tune_certainty *certainty, bramah__tune_search *search,
                                          const double *x, bramah_diag *diag)
{
  /* A standard error on a logarithmic scale from which on the cost is no parabola. */
  static const double weak = 0.15;
  bramah__tune_certainty *c = certainty;
  const size_t n = search->problem->n;
  double *block = calloc(6 * n + 2 * n * n + 1, sizeof *block);
  *c = (bramah__tune_certainty){.n = n, .weakest = 1.0, .x = block, .held = calloc(n + 1, sizeof *c->held)};
  if (!block || !c->held) return bramah__fail_memory(diag);
  c->sigma = c->x + n;
  c->fisher = c->sigma + n;
  c->low = c->fisher + n;
  c->high = c->low + n;
  c->direction = c->high + n;
  c->correlation = c->direction + n;
  c->information = c->correlation + n * n;
  memcpy(c->x, x, n * sizeof *x);
  for (size_t k = 0; k < search->n_logs; k++)
    for (size_t i = 0; i < n * n; i++) c->information[i] += search->scores[k].information[i];
  bramah__tune_penalty(search, x, NULL, c->information);

  bramah_status status = find_errors(c, search, diag);
  search->phase = "range";
  for (size_t j = 0; !status && j < n; j++) {
    if (c->held[j] == BRAMAH__TUNE_FREE && (search->problem->tuned[j].linear || !(c->sigma[j] > weak)))
      continue;
    c->cut |= !bramah__tune_affords(search, N_LOOKS + 1);
    if (!c->cut) status = look_across(c, search, j, diag);
  }
  return status;
}

void bramah__tune_certainty_free(bramah__tune_certainty *certainty)
{
  free(certainty->x);
  free(certainty->held);
}

/* ---- words ---- */

void bramah__tune_certainty_warn(const bramah__tune_certainty *certainty, const bramah__tune_problem *problem,
                                 void (*say)(void *user, const char *line), void *user)
{
  static const double high_correlation = 0.95;
  const bramah__tune_certainty *c = certainty;
  char line[512];
  if (c->cut)
    say(user, "the budget does not reach for all intervals: some are by the slope alone, or the whole range");
  for (size_t i = 0; i < c->n; i++) {
    const char *name = problem->tuned[i].name;
    if (c->held[i] == BRAMAH__TUNE_FREE) continue;
    if (c->held[i] == BRAMAH__TUNE_FLAT)
      snprintf(line, sizeof line,
               "%s: the logs do not tell it (the likelihood is flat); fix it or drive the machine "
               "so that it matters",
               name);
    else
      snprintf(line, sizeof line, "%s: lies at its bound of %.6g %s; widen the bounds if it may go on", name,
               c->x[i], problem->tuned[i].unit);
    say(user, line);
  }
  for (size_t i = 0; i < c->n; i++)
    for (size_t j = 0; j < i; j++) {
      const double r = c->correlation[i * c->n + j];
      if (c->held[i] == BRAMAH__TUNE_AT_LEAST || c->held[i] == BRAMAH__TUNE_AT_MOST ||
          !(fabs(r) > high_correlation))
        continue;
      snprintf(line, sizeof line, "%s and %s can hardly be separated (correlation %.3f): fix one of them",
               problem->tuned[j].name, problem->tuned[i].name, r);
      say(user, line);
    }

  /* Three and more that can be found only together show in no pair. */
  size_t used = 0, involved = 0;
  for (size_t i = 0; c->weakest < 0.01 && i < c->n; i++) {
    if (fabs(c->direction[i]) < 0.3 || used >= sizeof line) continue;
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", involved++ ? ", " : "",
                             problem->tuned[i].name);
  }
  if (involved < 3 || used >= sizeof line) return;
  snprintf(line + used, sizeof line - used, " can hardly be separated: fix one of them");
  say(user, line);
}

/* ---- cross-validation ---- */

/* A search over other logs, beginning as `search` is now. `tune`: x becomes what it finds; otherwise x is
 * judged. */
static bramah_status search_on(bramah__tune_search *search, size_t n, const size_t *logs, int tune, double *x,
                               bramah_tune_verdict *verdict, bramah_diag *diag)
{
  const size_t n_values = search->problem->n;
  bramah__optimum optimum;
  double value;
  bramah__tune_search other = {.criterion = search->criterion,
                               .method = search->method,
                               .penalty = search->penalty,
                               .options = search->options,
                               .budget = search->budget,
                               .unit = search->unit};
  bramah_status status = bramah__tune_search_open(&other, search->workers, n, logs, diag);
  if (!status) {
    other.phase = "fold";
    memcpy(other.white, search->white, n_values * sizeof *other.white);
    memcpy(other.samples, search->samples, n_values * sizeof *other.samples);
    status = tune ? bramah__tune_optimise(&other, x, NULL, &optimum, diag)
                  : bramah__tune_evaluate(&other, x, 0, 0, &value, verdict, diag);
  }

  /* What it tried goes into the one table. */
  search->evaluations += other.evaluations;
  bramah_tune_tried *tried = realloc(search->tried, (search->n_tried + other.n_tried + 1) * sizeof *tried);
  if (tried) {
    search->tried = tried;
    for (size_t i = 0; i < other.n_tried; i++) tried[search->n_tried++] = other.tried[i];
    search->room = search->n_tried;
    other.n_tried = 0;
  }
  bramah__tune_search_close(&other);
  return status;
}

bramah_status bramah__tune_cross_validate(bramah_tune_fold *folds, size_t n, bramah__tune_search *search,
                                          const double *given, const double *x, bramah_diag *diag)
{
  const size_t n_values = search->problem->n;
  size_t *kept = calloc(2 * search->n_logs + 1, sizeof *kept), *left = kept + search->n_logs;
  bramah_status status = kept ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t f = 0; !status && f < n; f++) {
    bramah_tune_fold *fold = &folds[f];
    double at[BRAMAH__TUNE_MOST];
    size_t n_kept = 0;
    fold->held = calloc(search->n_logs + 1, sizeof *fold->held);
    fold->x = calloc(n_values + 1, sizeof *fold->x);
    if (!fold->held || !fold->x) {
      status = bramah__fail_memory(diag);
      break;
    }
    for (size_t k = 0; k < search->n_logs; k++) {
      if (k % n == f) {
        left[fold->n_held] = search->logs[k];
        fold->held[fold->n_held++] = k;
      } else {
        kept[n_kept++] = search->logs[k];
      }
    }

    /* Tune on those kept; then judge three candidates on those left out. */
    memcpy(fold->x, x, n_values * sizeof *x);
    status = search_on(search, n_kept, kept, 1, fold->x, NULL, diag);
    const double *const candidates[] = {given, fold->x, x};
    bramah_tune_verdict *const verdicts[] = {&fold->given, &fold->found, &fold->all};
    for (size_t i = 0; !status && i < 3; i++) {
      memcpy(at, candidates[i], n_values * sizeof *at);
      status = search_on(search, fold->n_held, left, 0, at, verdicts[i], diag);
    }
  }
  free(kept);
  return status;
}

void bramah__tune_folds_free(bramah_tune_fold *folds, size_t n)
{
  for (size_t f = 0; folds && f < n; f++) {
    free(folds[f].held);
    free(folds[f].x);
  }
  free(folds);
}

/* ---- profiles ---- */

/* Where the cost of a profile first crosses the level from its middle to one side, on the value's scale. */
static double profile_end(const bramah_tune_profile *p, const bramah__tune_parameter *t, size_t middle,
                          int up)
{
  for (size_t i = middle; up ? i + 1 < p->n : i > 0; i = up ? i + 1 : i - 1) {
    const size_t next = up ? i + 1 : i - 1;
    if (p->cost[next] >= level)
      return bramah__tune_unscaled(t, crossing(bramah__tune_scaled(t, p->x[i]), p->cost[i],
                                               bramah__tune_scaled(t, p->x[next]), p->cost[next], level));
  }
  return up ? t->most : t->least;
}

bramah_status bramah__tune_find_profiles(bramah_tune_profile *profiles, bramah__tune_search *search,
                                         const bramah__tune_certainty *certainty, size_t sides,
                                         bramah_diag *diag)
{
  const bramah__tune_certainty *c = certainty;
  double least;
  bramah_tune_verdict verdict;
  search->phase = "profile";
  bramah_status status = bramah__tune_evaluate(search, c->x, 0, 0, &least, &verdict, diag);
  for (size_t j = 0; !status && j < c->n; j++) {
    const bramah__tune_parameter *t = &search->problem->tuned[j];
    const double z = bramah__tune_scaled(t, c->x[j]), low = bramah__tune_scaled(t, t->least),
                 high = bramah__tune_scaled(t, t->most);
    /* Without a standard error: over the whole range. */
    const double reach = c->held[j] ? high - low : 3.0 * c->sigma[j];
    const size_t points = 2 * sides + 1;
    size_t middle = 0;
    bramah_tune_profile *p = &profiles[j];
    p->x = calloc(2 * points, sizeof *p->x);
    if (!p->x) return bramah__fail_memory(diag);
    p->cost = p->x + points;
    for (size_t i = 0; !status && i < points; i++) {
      const double at = fmin(fmax(z + reach * ((double)i - (double)sides) / (double)sides, low), high);
      double cost = least;
      if (i != sides && at == z) continue; /* at its bound already */
      if (i == sides) middle = p->n;
      if (i != sides) { /* the others made the best of, but for those that nothing pulls at */
        double x[BRAMAH__TUNE_MOST];
        unsigned char fixed[BRAMAH__TUNE_MOST] = {0};
        bramah__optimum optimum;
        for (size_t k = 0; k < c->n; k++) fixed[k] = k == j || c->held[k] != BRAMAH__TUNE_FREE;
        lean_to(search->problem, c, j, at, 0, x);
        status = bramah__tune_optimise(search, x, fixed, &optimum, diag);
        if (!status) status = bramah__tune_evaluate(search, x, 0, 0, &cost, &verdict, diag);
      }
      p->x[p->n] = bramah__tune_unscaled(t, at);
      p->cost[p->n++] = cost - least;
    }
    p->low = profile_end(p, t, middle, 0);
    p->high = profile_end(p, t, middle, 1);
  }
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

/* Candidates over all logs of the search, replayed to their end; parts of logs and folds are not comparable.
 */
static int is_comparable(const bramah__tune_search *s, size_t i)
{
  const bramah_tune_verdict *v = &s->tried[i].verdict;
  return !v->status && !v->stopped && v->used > 0.0 && v->used + v->gated >= s->most_used - 0.5 &&
         strcmp(s->tried[i].phase, "fold") != 0;
}

void bramah__tune_compare_criteria(bramah__tune_search *search, size_t *best)
{
  const size_t n = search->n_tried;
  for (size_t i = 0; i < n; i++) {
    int front = is_comparable(search, i);
    for (size_t k = 0; front && k < n; k++) {
      int better = 0, worse = 0;
      if (k == i || !is_comparable(search, k)) continue;
      for (int c = 0; c < BRAMAH_TUNE_CRITERIA; c++) {
        const double other = value_of(&search->tried[k], c), own = value_of(&search->tried[i], c);
        worse |= other > own;
        better |= other < own;
      }
      front = worse || !better;
    }
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
