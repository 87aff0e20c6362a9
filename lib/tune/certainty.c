/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 95 % of a normal distribution lie within. */
static const double quantile = 1.959963984540054;
/* A standard error beyond which nothing is known: a factor of e, a third of the range. */
static const double flat_log = 1.0, flat_linear = 0.3;
static const double high_correlation = 0.95;

static bramah_status make_room(bramah__tune_certainty *c, size_t n, bramah_diag *diag)
{
  c->n = n;
  c->x = calloc(6 * n + n * n + 1, sizeof *c->x);
  c->held = calloc(n + 1, sizeof *c->held);
  if (!c->x || !c->held) return bramah__fail_memory(diag);
  c->sigma = c->x + n;
  c->fisher = c->sigma + n;
  c->low = c->fisher + n;
  c->high = c->low + n;
  c->direction = c->high + n;
  c->correlation = c->direction + n;
  c->weakest = 1.0;
  return BRAMAH_OK;
}

void bramah__tune_certainty_free(bramah__tune_certainty *certainty)
{
  free(certainty->x);
  free(certainty->held);
}

/* ---- inverse of the information ---- */

/* Pseudo-inverse of the information of the free values, scaled to a diagonal of ones first, into V [n x n];
 * directions that hold next to nothing are left with a huge variance rather than none. */
static bramah_status invert(bramah__tune_certainty *c, const double *information, double *V,
                            bramah_diag *diag)
{
  const size_t n = c->n;
  gsl_matrix *A = gsl_matrix_calloc(n, n), *E = gsl_matrix_alloc(n, n);
  gsl_vector *w = gsl_vector_alloc(n);
  gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(n);
  bramah_status status = A && E && w && work ? BRAMAH_OK : bramah__fail_memory(diag);
  for (size_t i = 0; !status && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      const int out = c->held[i] || c->held[j];
      const double size = sqrt(information[i * n + i] * information[j * n + j]);
      gsl_matrix_set(A, i, j, i == j ? 1.0 : out ? 0.0 : information[i * n + j] / size);
    }
  if (!status) gsl_eigen_symmv(A, w, E, work);
  for (size_t k = 0; !status && k < n; k++) {
    if (gsl_vector_get(w, k) >= c->weakest) continue;
    c->weakest = gsl_vector_get(w, k);
    for (size_t i = 0; i < n; i++) c->direction[i] = gsl_matrix_get(E, i, k);
  }
  for (size_t i = 0; !status && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0.0;
      for (size_t k = 0; k < n; k++)
        sum += gsl_matrix_get(E, i, k) * gsl_matrix_get(E, j, k) / fmax(gsl_vector_get(w, k), 1e-12);
      const int out = c->held[i] || c->held[j];
      V[i * n + j] = out ? 0.0 : sum / sqrt(information[i * n + i] * information[j * n + j]);
    }
  gsl_matrix_free(A);
  gsl_matrix_free(E);
  gsl_vector_free(w);
  gsl_eigen_symmv_free(work);
  return status;
}

/* ---- scatter of the slopes ---- */

/* J [n x n]: sum of the squares of the slopes of twentieths about their mean; returns how many there are. */
static size_t scatter(const bramah__tune_search *s, double *J)
{
  const size_t n = s->problem->n, place = bramah__tune_place_scores(s->problem),
               N = s->n_logs * BRAMAH__TUNE_CHECKS;
  double mean[BRAMAH__TUNE_MOST] = {0}, g[BRAMAH__TUNE_MOST];
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < N; k++) {
      const double *f = s->scores[k / BRAMAH__TUNE_CHECKS] + place;
      const size_t c = k % BRAMAH__TUNE_CHECKS;
      for (size_t i = 0; i < n; i++) g[i] = f[c * n + i] - (c ? f[(c - 1) * n + i] : 0.0) - mean[i];
      for (size_t i = 0; pass && i < n; i++)
        for (size_t j = 0; j < n; j++) J[i * n + j] += g[i] * g[j];
      for (size_t i = 0; !pass && i < n; i++) J[i * n + i] += g[i];
      if (!pass && k + 1 == N)
        for (size_t i = 0; i < n; i++) {
          mean[i] = J[i * n + i] / (double)N;
          J[i * n + i] = 0.0;
        }
    }
  return N;
}

/* V J V */
static void sandwich(size_t n, const double *V, const double *J, double *out)
{
  for (size_t i = 0; i < n; i++) {
    double sum = 0.0;
    for (size_t a = 0; a < n; a++)
      for (size_t b = 0; b < n; b++) sum += V[i * n + a] * J[a * n + b] * V[b * n + i];
    out[i] = sqrt(fmax(sum, 0.0));
  }
}

/* ---- intervals ---- */

static void find_held(bramah__tune_certainty *c, const bramah__tune_problem *problem,
                      const double *information)
{
  for (size_t i = 0; i < c->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    const double z = bramah__tune_scaled(t, c->x[i]), low = bramah__tune_scaled(t, t->least),
                 high = bramah__tune_scaled(t, t->most);
    if (!(information[i * c->n + i] > 0.0)) c->held[i] = BRAMAH__TUNE_FLAT;
    if (z - low < 1e-6 * (high - low)) c->held[i] = BRAMAH__TUNE_AT_LEAST;
    if (high - z < 1e-6 * (high - low)) c->held[i] = BRAMAH__TUNE_AT_MOST;
  }
}

static void find_intervals(bramah__tune_certainty *c, const bramah__tune_problem *problem, const double *V,
                           const double *robust, int use_robust)
{
  for (size_t i = 0; i < c->n; i++) {
    const bramah__tune_parameter *t = &problem->tuned[i];
    const double z = bramah__tune_scaled(t, c->x[i]);
    c->fisher[i] = sqrt(V[i * c->n + i]);
    c->sigma[i] = use_robust ? fmax(c->fisher[i], robust[i]) : c->fisher[i];
    if (c->held[i]) c->sigma[i] = c->fisher[i] = (double)NAN;
    c->low[i] = c->held[i] ? t->least : bramah__tune_unscaled(t, z - quantile * c->sigma[i]);
    c->high[i] = c->held[i] ? t->most : bramah__tune_unscaled(t, z + quantile * c->sigma[i]);
    if (!c->held[i] && c->sigma[i] > (t->linear ? flat_linear : flat_log)) c->held[i] = BRAMAH__TUNE_FLAT;
    for (size_t j = 0; j < c->n; j++)
      c->correlation[i * c->n + j] = V[i * c->n + j] / sqrt(V[i * c->n + i] * V[j * c->n + j]);
  }
}

bramah_status bramah__tune_certainty_find(bramah__tune_certainty *certainty,
                                          const bramah__tune_search *search, const char *set,
                                          const double *information, bramah_diag *diag)
{
  const bramah__tune_problem *problem = search->problem;
  const size_t n = problem->n;
  double *V = calloc(2 * n * n + n + 1, sizeof *V);
  bramah_status status = make_room(certainty, n, diag);
  if (!status && !V) status = bramah__fail_memory(diag);
  if (!status) {
    double *J = V + n * n, *robust = J + n * n;
    bramah__tune_set_numbers(problem, set, certainty->x);
    find_held(certainty, problem, information);
    status = invert(certainty, information, V, diag);
    const size_t blocks = scatter(search, J);
    sandwich(n, V, J, robust);
    if (!status) find_intervals(certainty, problem, V, robust, blocks >= 10 * n);
  }
  free(V);
  return status;
}

/* ---- words ---- */

/* Three and more that are told only together show in no pair. */
static size_t warn_direction(const bramah__tune_certainty *c, const bramah__tune_problem *problem,
                             void (*say)(void *user, const char *line), void *user)
{
  char line[512];
  size_t used = 0, involved = 0;
  for (size_t i = 0; c->weakest < 0.01 && i < c->n; i++) {
    if (fabs(c->direction[i]) < 0.3 || used >= sizeof line) continue;
    used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", involved++ ? ", " : "",
                             problem->tuned[i].name);
  }
  if (involved < 3 || used >= sizeof line) return 0;
  snprintf(line + used, sizeof line - used, " can hardly be told apart together: fix one of them");
  say(user, line);
  return 1;
}

size_t bramah__tune_certainty_warn(const bramah__tune_certainty *certainty,
                                   const bramah__tune_problem *problem,
                                   void (*say)(void *user, const char *line), void *user)
{
  const bramah__tune_certainty *c = certainty;
  size_t count = 0;
  char line[512];
  for (size_t i = 0; i < c->n; i++) {
    const char *name = problem->tuned[i].name;
    if (c->held[i] == BRAMAH__TUNE_FREE) continue;
    if (c->held[i] == BRAMAH__TUNE_FLAT)
      snprintf(line, sizeof line,
               "%s: the logs do not tell it (the likelihood is flat); fix it or drive the machine "
               "so that it matters",
               name);
    else
      snprintf(line, sizeof line, "%s: stands at its bound of %.6g %s; widen the bounds if it may go on",
               name, c->x[i], problem->tuned[i].unit);
    say(user, line);
    count++;
  }
  for (size_t i = 0; i < c->n; i++)
    for (size_t j = 0; j < i; j++) {
      const double r = c->correlation[i * c->n + j];
      if (c->held[i] == BRAMAH__TUNE_AT_LEAST || c->held[i] == BRAMAH__TUNE_AT_MOST ||
          !(fabs(r) > high_correlation))
        continue;
      snprintf(line, sizeof line, "%s and %s can hardly be told apart (correlation %.3f): fix one of them",
               problem->tuned[j].name, problem->tuned[i].name, r);
      say(user, line);
      count++;
    }
  return count + warn_direction(c, problem, say, user);
}
