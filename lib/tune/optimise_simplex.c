/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/optimise.h"
#include "lib/base/diag.h"

#include <gsl/gsl_multimin.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bramah_status fail_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "optimiser", "out of memory");
}

/* The simplex wants finite numbers: what cannot be used is worse than all else. */
static const double unusable = 1e300;

static double evaluate(const gsl_vector *u, void *user)
{
  bounded *b = user;
  const bramah__objective *f = b->f;
  double cost = unusable;
  if (b->status || (f->stop && f->stop(f->user))) return cost;
  for (size_t i = 0; i < f->n; i++)
    b->z[i] = f->low[i] + 0.5 * (f->high[i] - f->low[i]) * (1.0 + sin(gsl_vector_get(u, i)));
  b->out->costs++;
  b->status = f->cost(f->user, b->z, &cost, b->diag);
  if (b->status || !isfinite(cost)) return unusable;
  if (cost < b->best_cost) {
    b->best_cost = cost;
    memcpy(b->best, b->z, f->n * sizeof *b->z);
  }
  return cost;
}

static void run(bounded *b, gsl_multimin_fminimizer *m, double tolerance)
{
  const bramah__objective *f = b->f;
  double best = b->best_cost;
  size_t idle = 0;
  b->out->ending = BRAMAH_ENDING_STUCK;
  while (!b->status && b->out->iterations < MOST_ITERATIONS && idle < PATIENCE * (f->n + 1)) {
    if (f->stop && f->stop(f->user)) {
      b->out->ending = BRAMAH_ENDING_STOPPED;
      return;
    }
    b->out->iterations++;
    if (gsl_multimin_fminimizer_iterate(m)) return;
    idle = b->best_cost < best ? 0 : idle + 1;
    best = b->best_cost;
    if (gsl_multimin_fminimizer_size(m) < tolerance) {
      b->out->ending = BRAMAH_ENDING_CONVERGED;
      return;
    }
  }
}

/* Start and first edges as angles. At a bound the sine is flat: a little inside of it a step counts. */
static void place(const bramah__objective *f, const double *z, double size, gsl_vector *u, gsl_vector *edge)
{
  for (size_t i = 0; i < f->n; i++) {
    const double range = f->high[i] - f->low[i];
    const double share = fmin(fmax(2.0 * (z[i] - f->low[i]) / range - 1.0, -0.98), 0.98);
    const double turned = fmin(fabs(size) / (0.5 * range * sqrt(1.0 - share * share)), 1.0);
    gsl_vector_set(u, i, asin(share));
    gsl_vector_set(edge, i, share > 0.0 ? -turned : turned);
  }
}

bramah_status bramah__optimise_simplex(const bramah__objective *objective, double size, double tolerance,
                                       double *z, bramah__optimum *out, bramah_diag *diag)
{
  const size_t n = objective->n;
  *out = (bramah__optimum){0};
  if (!n) return bramah__fail(diag, BRAMAH_E_ARGUMENT, "optimiser", "there is nothing to vary");
  double *block = calloc(2 * n + 1, sizeof *block);
  gsl_vector *u = gsl_vector_alloc(n), *edge = gsl_vector_alloc(n);
  gsl_multimin_fminimizer *m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, n);
  bounded b = {
      .f = objective, .z = block, .best = block + n, .best_cost = (double)INFINITY, .out = out, .diag = diag};
  if (!block || !u || !edge || !m) b.status = fail_memory(diag);
  if (!b.status) {
    gsl_multimin_function function = {.f = evaluate, .n = n, .params = &b};
    place(objective, z, size, u, edge);
    const double first = gsl_vector_max(edge) > 0.0 ? gsl_vector_max(edge) : -gsl_vector_min(edge);
    if (!gsl_multimin_fminimizer_set(m, &function, u, edge)) run(&b, m, tolerance * first);
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
