/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/optimise.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- scoring ---- */

/* A step no longer than this in any variable: far from the minimum the quadratic promises too much. */
static const double reach = 2.0;
enum { MOST_STEPS = 200 };

/* What promises no more than this lies so near, in standard errors, that likelihoods are parabolas: after a step that kept what it
 * promised such a one is likely taken, and the slope is wanted there. */
static const double near_enough = 25.0;

static bramah_status fail_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "optimiser", "out of memory");
}

typedef struct search {
  const bramah__objective *f;
  double *z, *trial, *d;             /* step from z to the trial */
  double *g, *I, *trial_g, *trial_I; /* gradient, information */
  double *A, *right;                 /* [n x n], [n] of a linear system */
  unsigned char *held;               /* [n] */
  double cost, lambda, tolerance;
  int has_slope; /* g and I are of z */
  int kept;      /* the last trial was as good as promised */
  bramah__optimum *out;
} search;

/* How far variable i may go. */
static double room(const search *s, size_t i, double d)
{
  const double least = fmax(s->f->low[i] - s->z[i], -reach), most = fmin(s->f->high[i] - s->z[i], reach);
  return fmin(fmax(d, least), most);
}

/* The step d, damped by lambda: a variable that would go too far goes as far as it may, and the others make
 * the best of that; one that no cost depends on stays. 1: there is none. */
static int aim(search *s, double lambda)
{
  const size_t n = s->f->n;
  for (size_t i = 0; i < n; i++) {
    s->held[i] = !(s->I[i * n + i] > 0.0);
    s->d[i] = 0.0;
  }
  for (size_t round = 0; round <= n; round++) {
    /* Solve for the variables that are not held; those that are go by d[i]. */
    for (size_t i = 0; i < n; i++) {
      double right = -s->g[i];
      for (size_t j = 0; j < n; j++) {
        const int apart = s->held[i] || s->held[j];
        s->A[i * n + j] = apart ? 0.0 : s->I[i * n + j];
        if (s->held[j] && !s->held[i]) right -= s->I[i * n + j] * s->d[j];
      }
      s->A[i * n + i] = s->held[i] ? 1.0 : s->I[i * n + i] * (1.0 + lambda);
      s->right[i] = s->held[i] ? s->d[i] : right;
    }
    if (bramah__cholesky_factor(n, s->A)) return 1;
    memcpy(s->d, s->right, n * sizeof *s->d);
    bramah__cholesky_solve(n, s->A, s->d);

    /* Hold the one that would go too far by most. */
    size_t worst = n;
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double over = fabs(s->d[i] - room(s, i, s->d[i]));
      if (s->held[i] || !(over > most)) continue;
      most = over;
      worst = i;
    }
    if (worst == n) break;
    s->d[worst] = room(s, worst, s->d[worst]);
    s->held[worst] = 1;
  }
  return 0;
}

/* From z by d to trial, within the bounds to the bit; returns by how much that promises to lower the cost. */
static double promise(search *s)
{
  const size_t n = s->f->n;
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) s->trial[i] = fmin(fmax(s->z[i] + s->d[i], s->f->low[i]), s->f->high[i]);
  for (size_t i = 0; i < n; i++) {
    const double d = s->trial[i] - s->z[i];
    sum -= s->g[i] * d;
    for (size_t j = 0; j < n; j++) sum -= 0.5 * d * s->I[i * n + j] * (s->trial[j] - s->z[j]);
  }
  return sum;
}

static bramah_status slope_at(search *s, const double *z, double *cost, double *g, double *I,
                              bramah_diag *diag)
{
  s->out->slopes++;
  return s->f->slope(s->f->user, z, cost, g, I, diag);
}

/* Slope at z, where it must be. */
static bramah_status look(search *s, bramah_diag *diag)
{
  const bramah_status status = slope_at(s, s->z, &s->cost, s->g, s->I, diag);
  s->has_slope = 1;
  if (status || isfinite(s->cost)) return status;
  return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "optimiser",
                      "the cost is not finite where a slope is wanted");
}

/* The trial with this cost becomes z. */
static void take_trial(search *s, double cost, double promised, int with_slope)
{
  memcpy(s->z, s->trial, s->f->n * sizeof *s->z);
  s->kept = s->cost - cost > 0.25 * promised;
  if (s->kept) s->lambda = fmax(0.1 * s->lambda, 1e-7);
  s->cost = cost;
  s->has_slope = with_slope;
  if (!with_slope) return;
  double *const g = s->g, *const I = s->I;
  s->g = s->trial_g;
  s->I = s->trial_I;
  s->trial_g = g;
  s->trial_I = I;
}

/* One step down, trying shorter and shorter ones until they promise nothing. *moved 0: there is none. */
static bramah_status descend(search *s, int *moved, double *promised, bramah_diag *diag)
{
  for (*moved = 0; s->lambda < 1e9; s->lambda *= 10.0) {
    double cost;
    if (s->f->stop && s->f->stop(s->f->user)) return BRAMAH_OK;
    if (aim(s, s->lambda)) continue;
    *promised = promise(s);
    if (*promised < s->tolerance) return BRAMAH_OK;
    const int with_slope = s->kept && *promised < near_enough;
    s->out->costs += !with_slope;
    const bramah_status status = with_slope ? slope_at(s, s->trial, &cost, s->trial_g, s->trial_I, diag)
                                            : s->f->cost(s->f->user, s->trial, &cost, diag);
    if (status) return status;
    s->kept = 0;
    if (!isfinite(cost) || cost >= s->cost) continue;
    take_trial(s, cost, *promised, with_slope);
    *moved = 1;
    return BRAMAH_OK;
  }
  return BRAMAH_OK;
}

bramah_status bramah__optimise_scoring(const bramah__objective *objective, double tolerance, double *z,
                                       double *gradient, double *information, bramah__optimum *out,
                                       bramah_diag *diag)
{
  const size_t n = objective->n;
  double *block = calloc(5 * n + 3 * n * n + 1, sizeof *block);
  unsigned char *held = calloc(n + 1, 1);
  *out = (bramah__optimum){0};
  if (!block || !held) {
    free(block);
    free(held);
    return fail_memory(diag);
  }
  search s = {.f = objective,
              .z = z,
              .trial = block,
              .d = block + n,
              .right = block + 2 * n,
              .g = block + 3 * n,
              .trial_g = block + 4 * n,
              .I = block + 5 * n,
              .trial_I = block + 5 * n + n * n,
              .A = block + 5 * n + 2 * n * n,
              .held = held,
              .lambda = 1e-3,
              .tolerance = tolerance,
              .out = out};
  for (size_t i = 0; i < n; i++) z[i] = fmin(fmax(z[i], objective->low[i]), objective->high[i]);
  bramah_status status = look(&s, diag);
  while (!status) {
    int moved;
    double promised = (double)INFINITY;
    /* Would a whole step still be worth it? Where the matrix is singular the damped one is asked. */
    if ((aim(&s, 1e-9) && aim(&s, s.lambda)) || !(promise(&s) > tolerance)) break;
    if (!out->iterations && promise(&s) > near_enough) s.lambda = 0.1; /* parabolas end before that */
    out->ending = BRAMAH_ENDING_STOPPED;
    if (out->iterations == MOST_STEPS || (objective->stop && objective->stop(objective->user))) break;
    out->iterations++;
    status = descend(&s, &moved, &promised, diag);
    if (!status && !moved) {
      if (s.lambda >= 1e9) out->ending = BRAMAH_ENDING_STUCK;
      if (promised < tolerance) out->ending = BRAMAH_ENDING_CONVERGED;
      break;
    }
    if (status || (objective->stop && objective->stop(objective->user))) break;
    if (!s.has_slope) status = look(&s, diag);
    out->ending = BRAMAH_ENDING_CONVERGED;
  }
  out->cost = s.cost;
  if (gradient) memcpy(gradient, s.g, n * sizeof *gradient);
  if (information) memcpy(information, s.I, n * n * sizeof *information);
  free(block);
  free(held);
  return status;
}

/* ---- the simplex ---- */

/* Without a better point for so many iterations per variable nothing is to be gained: the function has
 * stairs, or the simplex has folded up. */
enum { MOST_ITERATIONS = 10000, PATIENCE = 30 };

typedef struct bounded {
  const bramah__objective *f;
  double *z, *best; /* [n] */
  double best_cost;
  bramah_status status;
  bramah__optimum *out;
  bramah_diag *diag;
} bounded;

/* The simplex wants finite numbers: what cannot be used is worse than all else. */
static const double unusable = 1e300;

static double evaluate(const gsl_vector *u, void *user)
{
  bounded *b = user;
  const bramah__objective *f = b->f;
  double cost = unusable;
  if (b->status || (f->stop && f->stop(f->user))) return cost;
  for (size_t i = 0; i < f->n; i++) {
    double s, c;
    bramah__sincos_any(gsl_vector_get(u, i), &s, &c);
    b->z[i] = f->low[i] + 0.5 * (f->high[i] - f->low[i]) * (1.0 + s);
  }
  b->out->costs++;
  b->status = f->cost(f->user, b->z, &cost, b->diag);
  if (b->status || !isfinite(cost)) return unusable;
  if (cost < b->best_cost) {
    b->best_cost = cost;
    memcpy(b->best, b->z, f->n * sizeof *b->z);
  }
  return cost;
}

bramah_status bramah__optimise_simplex(const bramah__objective *objective, double size, double tolerance,
                                       double *z, bramah__optimum *out, bramah_diag *diag)
{
  const bramah__objective *f = objective;
  const size_t n = f->n;
  *out = (bramah__optimum){.ending = BRAMAH_ENDING_CONVERGED};
  if (!n) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "optimiser", "there is nothing to vary");
  double *block = calloc(2 * n + 1, sizeof *block);
  gsl_vector *u = gsl_vector_alloc(n), *edge = gsl_vector_alloc(n);
  gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
  bounded b = {
      .f = f, .z = block, .best = block + n, .best_cost = (double)INFINITY, .out = out, .diag = diag};
  if (!block || !u || !edge || !m) b.status = fail_memory(diag);

  /* Start and first edges as angles. At a bound the sine is flat: a little inside of it a step counts. */
  double first = 0.0;
  for (size_t i = 0; !b.status && i < n; i++) {
    const double range = f->high[i] - f->low[i];
    const double share = fmin(fmax(2.0 * (z[i] - f->low[i]) / range - 1.0, -0.98), 0.98);
    const double turned = fmin(fabs(size) / (0.5 * range * sqrt(1.0 - share * share)), 1.0);
    gsl_vector_set(u, i, bramah__asin(share));
    gsl_vector_set(edge, i, share > 0.0 ? -turned : turned);
  }
  if (!b.status) first = gsl_vector_max(edge) > 0.0 ? gsl_vector_max(edge) : -gsl_vector_min(edge);
  gsl_multimin_function function = {.f = evaluate, .n = n, .params = &b};
  int going = !b.status && !gsl_multimin_fminimizer_set(m, &function, u, edge);
  if (going) out->ending = BRAMAH_ENDING_STUCK;
  double best = b.best_cost;
  for (size_t idle = 0;
       going && !b.status && out->iterations < MOST_ITERATIONS && idle < PATIENCE * (n + 1);) {
    if (f->stop && f->stop(f->user)) {
      out->ending = BRAMAH_ENDING_STOPPED;
      break;
    }
    out->iterations++;
    if (gsl_multimin_fminimizer_iterate(m)) break;
    idle = b.best_cost < best ? 0 : idle + 1;
    best = b.best_cost;
    if (!(gsl_multimin_fminimizer_size(m) < tolerance * first)) continue;
    out->ending = BRAMAH_ENDING_CONVERGED;
    break;
  }

  out->cost = b.best_cost;
  if (isfinite(b.best_cost))
    memcpy(z, b.best, n * sizeof *z);
  else if (!b.status && out->ending != BRAMAH_ENDING_STOPPED)
    b.status =
        bramah__fail(diag, BRAMAH_E_NOT_FINITE, "optimiser", "the cost is finite nowhere near the start");
  gsl_multimin_fminimizer_free(m);
  gsl_vector_free(u);
  gsl_vector_free(edge);
  free(block);
  return b.status;
}

/* ---- points spread ---- */

bramah_status bramah__latin_hypercube(size_t n_points, size_t n, uint64_t seed, double *out,
                                      bramah_diag *diag)
{
  gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
  if (!rng) return fail_memory(diag);
  gsl_rng_set(rng, (unsigned long)(seed & 0xFFFFFFFFu));
  for (size_t k = 0; k < n; k++) {
    for (size_t i = 0; i < n_points; i++) out[i * n + k] = (double)i;
    for (size_t i = n_points; i-- > 1;) { /* shuffled */
      const size_t other = (size_t)gsl_rng_uniform_int(rng, (unsigned long)i + 1);
      const double swap = out[i * n + k];
      out[i * n + k] = out[other * n + k];
      out[other * n + k] = swap;
    }
    for (size_t i = 0; i < n_points; i++)
      out[i * n + k] = (out[i * n + k] + gsl_rng_uniform(rng)) / (double)n_points;
  }
  gsl_rng_free(rng);
  return BRAMAH_OK;
}
