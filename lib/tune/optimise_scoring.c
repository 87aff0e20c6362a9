/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/optimise.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A step no longer than this in any variable: far from the minimum the quadratic promises too much. */
static const double reach = 2.0;
enum { MOST_ITERATIONS = 200 };

typedef struct search {
  const bramah__objective *f;
  double *z, *trial, *g, *I, *d; /* at z: gradient, information; step */
  double *A, *right;             /* [n x n], [n] of a linear system */
  unsigned char *held;           /* [n] */
  double cost, lambda, tolerance;
  bramah__optimum *out;
} search;

static int solve(size_t n, double *A, double *x)
{
  for (size_t j = 0; j < n; j++)
    for (size_t i = j; i < n; i++) {
      double sum = A[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= A[i * n + k] * A[j * n + k];
      if (i == j && !(sum > 0.0)) return 1;
      A[i * n + j] = i == j ? sqrt(sum) : sum / A[j * n + j];
    }
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < i; k++) x[i] -= A[i * n + k] * x[k];
    x[i] /= A[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; k++) x[i] -= A[k * n + i] * x[k];
    x[i] /= A[i * n + i];
  }
  return 0;
}

/* How far variable i may go. */
static double room(const search *s, size_t i, double d)
{
  const double least = fmax(s->f->low[i] - s->z[i], -reach), most = fmin(s->f->high[i] - s->z[i], reach);
  return fmin(fmax(d, least), most);
}

/* Solve for the variables that are not held; those that are go by d[i]. */
static int solve_free(search *s, double lambda)
{
  const size_t n = s->f->n;
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
  if (solve(n, s->A, s->right)) return 1;
  memcpy(s->d, s->right, n * sizeof *s->d);
  return 0;
}

/* The variable that would go too far by most, or n. */
static size_t furthest_out(const search *s)
{
  const size_t n = s->f->n;
  size_t worst = n;
  double most = 0.0;
  for (size_t i = 0; i < n; i++) {
    const double over = fabs(s->d[i] - room(s, i, s->d[i]));
    if (s->held[i] || !(over > most)) continue;
    most = over;
    worst = i;
  }
  return worst;
}

/* The step d: a variable that would go too far goes as far as it may, and the others make the best of that;
 * one that no cost depends on stays. */
static int aim(search *s, double lambda)
{
  const size_t n = s->f->n;
  for (size_t i = 0; i < n; i++) {
    s->held[i] = !(s->I[i * n + i] > 0.0);
    s->d[i] = 0.0;
  }
  for (size_t round = 0; round <= n; round++) {
    if (solve_free(s, lambda)) return 1;
    const size_t worst = furthest_out(s);
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

static bramah_status look(search *s, bramah_diag *diag)
{
  s->out->slopes++;
  return s->f->slope(s->f->user, s->z, &s->cost, s->g, s->I, diag);
}

/* Would a whole step still be worth it? Where the matrix is singular the damped one is asked. */
static int worth_it(search *s)
{
  if (aim(s, 1e-9) && aim(s, s->lambda)) return 0;
  return promise(s) > s->tolerance;
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
    s->out->costs++;
    const bramah_status status = s->f->cost(s->f->user, s->trial, &cost, diag);
    if (status) return status;
    if (!isfinite(cost) || cost >= s->cost) continue;
    memcpy(s->z, s->trial, s->f->n * sizeof *s->z);
    if (s->cost - cost > 0.25 * *promised) s->lambda = fmax(0.1 * s->lambda, 1e-7);
    *moved = 1;
    return BRAMAH_OK;
  }
  return BRAMAH_OK;
}

static bramah_status iterate(search *s, bramah_diag *diag)
{
  bramah_status status = look(s, diag);
  if (!status && !isfinite(s->cost))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "optimiser", "the cost at the start is not finite");
  s->out->ending = BRAMAH_ENDING_CONVERGED;
  while (!status && worth_it(s)) {
    int moved;
    double promised = (double)INFINITY;
    s->out->ending = BRAMAH_ENDING_STOPPED;
    if (s->out->iterations == MOST_ITERATIONS || (s->f->stop && s->f->stop(s->f->user))) break;
    s->out->iterations++;
    status = descend(s, &moved, &promised, diag);
    if (!status && !moved) {
      if (s->lambda >= 1e9) s->out->ending = BRAMAH_ENDING_STUCK;
      if (promised < s->tolerance) s->out->ending = BRAMAH_ENDING_CONVERGED;
      break;
    }
    if (!status) status = look(s, diag);
    s->out->ending = BRAMAH_ENDING_CONVERGED;
  }
  s->out->cost = s->cost;
  return status;
}

bramah_status bramah__optimise_scoring(const bramah__objective *objective, double tolerance, double *z,
                                       double *gradient, double *information, bramah__optimum *out,
                                       bramah_diag *diag)
{
  const size_t n = objective->n;
  double *block = calloc(4 * n + 2 * n * n + 1, sizeof *block);
  unsigned char *held = calloc(n + 1, 1);
  *out = (bramah__optimum){0};
  if (!block || !held) {
    free(block);
    free(held);
    return bramah__fail(diag, BRAMAH_E_MEMORY, "optimiser", "out of memory");
  }
  search s = {.f = objective,
              .z = z,
              .trial = block,
              .g = block + n,
              .d = block + 2 * n,
              .I = block + 3 * n,
              .A = block + 3 * n + n * n,
              .right = block + 3 * n + 2 * n * n,
              .held = held,
              .lambda = 1e-3,
              .tolerance = tolerance,
              .out = out};
  for (size_t i = 0; i < n; i++) z[i] = fmin(fmax(z[i], objective->low[i]), objective->high[i]);
  const bramah_status status = iterate(&s, diag);
  if (gradient) memcpy(gradient, s.g, n * sizeof *gradient);
  if (information) memcpy(information, s.I, n * n * sizeof *information);
  free(block);
  free(held);
  return status;
}
