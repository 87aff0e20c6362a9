/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/tune_certainty.h"
#include "lib/cli/message.h"

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

static bramah_status fail_memory(bramah_diag *diag)
{
  return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
}

static bramah_status make_room(cli_tune_certainty *c, size_t n, bramah_diag *diag)
{
  c->n = n;
  c->x = calloc(6 * n + n * n + 1, sizeof *c->x);
  c->held = calloc(n + 1, sizeof *c->held);
  if (!c->x || !c->held) return fail_memory(diag);
  c->sigma = c->x + n;
  c->fisher = c->sigma + n;
  c->low = c->fisher + n;
  c->high = c->low + n;
  c->direction = c->high + n;
  c->correlation = c->direction + n;
  c->weakest = 1.0;
  return BRAMAH_OK;
}

void cli_tune_certainty_free(cli_tune_certainty *certainty)
{
  free(certainty->x);
  free(certainty->held);
}

/* ---- inverse of the information ---- */

/* Pseudo-inverse of the information of the free figures, scaled to a diagonal of ones first, into V [n x n];
 * directions that hold next to nothing are left with a huge variance rather than none. */
static bramah_status invert(cli_tune_certainty *c, const double *information, double *V, bramah_diag *diag)
{
  const size_t n = c->n;
  gsl_matrix *A = gsl_matrix_calloc(n, n), *E = gsl_matrix_alloc(n, n);
  gsl_vector *w = gsl_vector_alloc(n);
  gsl_eigen_symmv_workspace *work = gsl_eigen_symmv_alloc(n);
  bramah_status status = A && E && w && work ? BRAMAH_OK : fail_memory(diag);
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
static size_t scatter(const cli_tune_search *s, double *J)
{
  const size_t n = s->lab->n, place = cli_tune_place_scores(s->lab), N = s->n_logs * CLI_TUNE_CHECKS;
  double mean[CLI_TUNE_MOST] = {0}, g[CLI_TUNE_MOST];
  for (int pass = 0; pass < 2; pass++)
    for (size_t k = 0; k < N; k++) {
      const double *f = s->figures[k / CLI_TUNE_CHECKS] + place;
      const size_t c = k % CLI_TUNE_CHECKS;
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

static void find_held(cli_tune_certainty *c, const cli_tune_lab *lab, const double *information)
{
  for (size_t i = 0; i < c->n; i++) {
    const cli_tuned *t = &lab->tuned[i];
    const double z = cli_tune_scaled(t, c->x[i]), low = cli_tune_scaled(t, t->least),
                 high = cli_tune_scaled(t, t->most);
    if (!(information[i * c->n + i] > 0.0)) c->held[i] = CLI_TUNE_FLAT;
    if (z - low < 1e-6 * (high - low)) c->held[i] = CLI_TUNE_AT_LEAST;
    if (high - z < 1e-6 * (high - low)) c->held[i] = CLI_TUNE_AT_MOST;
  }
}

static void find_intervals(cli_tune_certainty *c, const cli_tune_lab *lab, const double *V,
                           const double *robust, int use_robust)
{
  for (size_t i = 0; i < c->n; i++) {
    const cli_tuned *t = &lab->tuned[i];
    const double z = cli_tune_scaled(t, c->x[i]);
    c->fisher[i] = sqrt(V[i * c->n + i]);
    c->sigma[i] = use_robust ? fmax(c->fisher[i], robust[i]) : c->fisher[i];
    if (c->held[i]) c->sigma[i] = c->fisher[i] = (double)NAN;
    c->low[i] = c->held[i] ? t->least : cli_tune_unscaled(t, z - quantile * c->sigma[i]);
    c->high[i] = c->held[i] ? t->most : cli_tune_unscaled(t, z + quantile * c->sigma[i]);
    if (!c->held[i] && c->sigma[i] > (t->linear ? flat_linear : flat_log)) c->held[i] = CLI_TUNE_FLAT;
    for (size_t j = 0; j < c->n; j++)
      c->correlation[i * c->n + j] = V[i * c->n + j] / sqrt(V[i * c->n + i] * V[j * c->n + j]);
  }
}

bramah_status cli_tune_certainty_find(cli_tune_certainty *certainty, const cli_tune_search *search,
                                      const char *set, const double *information, bramah_diag *diag)
{
  const cli_tune_lab *lab = search->lab;
  const size_t n = lab->n;
  double *V = calloc(2 * n * n + n + 1, sizeof *V);
  bramah_status status = make_room(certainty, n, diag);
  if (!status && !V) status = fail_memory(diag);
  if (!status) {
    double *J = V + n * n, *robust = J + n * n;
    cli_tune_set_numbers(lab, set, certainty->x);
    find_held(certainty, lab, information);
    status = invert(certainty, information, V, diag);
    const size_t blocks = scatter(search, J);
    sandwich(n, V, J, robust);
    if (!status) find_intervals(certainty, lab, V, robust, blocks >= 10 * n);
  }
  free(V);
  return status;
}

/* ---- words ---- */

/* Three and more that are told only together show in no pair. */
static size_t warn_direction(const cli_tune_certainty *c, const cli_tune_lab *lab,
                             void (*say)(void *user, const char *line), void *user)
{
  char line[512];
  size_t used = 0, involved = 0;
  for (size_t i = 0; c->weakest < 0.01 && i < c->n; i++) {
    if (fabs(c->direction[i]) < 0.3 || used >= sizeof line) continue;
    used +=
        (size_t)snprintf(line + used, sizeof line - used, "%s%s", involved++ ? ", " : "", lab->tuned[i].name);
  }
  if (involved < 3 || used >= sizeof line) return 0;
  snprintf(line + used, sizeof line - used, " can hardly be told apart together: fix one of them");
  say(user, line);
  return 1;
}

size_t cli_tune_certainty_warn(const cli_tune_certainty *certainty, const cli_tune_lab *lab,
                               void (*say)(void *user, const char *line), void *user)
{
  const cli_tune_certainty *c = certainty;
  size_t count = 0;
  char line[512];
  for (size_t i = 0; i < c->n; i++) {
    const char *name = lab->tuned[i].name;
    if (c->held[i] == CLI_TUNE_FREE) continue;
    if (c->held[i] == CLI_TUNE_FLAT)
      snprintf(line, sizeof line,
               "%s: the logs do not tell it (the likelihood is flat); fix it or drive the machine "
               "so that it matters",
               name);
    else
      snprintf(line, sizeof line, "%s: stands at its bound of %.6g %s; widen the bounds if it may go on",
               name, c->x[i], lab->tuned[i].unit);
    say(user, line);
    count++;
  }
  for (size_t i = 0; i < c->n; i++)
    for (size_t j = 0; j < i; j++) {
      const double r = c->correlation[i * c->n + j];
      if (c->held[i] == CLI_TUNE_AT_LEAST || c->held[i] == CLI_TUNE_AT_MOST || !(fabs(r) > high_correlation))
        continue;
      snprintf(line, sizeof line, "%s and %s can hardly be told apart (correlation %.3f): fix one of them",
               lab->tuned[j].name, lab->tuned[i].name, r);
      say(user, line);
      count++;
    }
  return count + warn_direction(c, lab, say, user);
}

static void add_strongest(cli_table *table, const cli_tune_certainty *c, const cli_tune_lab *lab, size_t i)
{
  size_t best = i;
  for (size_t j = 0; j < c->n; j++) {
    const double r = fabs(c->correlation[i * c->n + j]);
    if (j != i && isfinite(r) && (best == i || r > fabs(c->correlation[i * c->n + best]))) best = j;
  }
  if (best == i || c->held[i])
    cli_table_add(table, "%s", "");
  else
    cli_table_add(table, "%.2f with %s", c->correlation[i * c->n + best], lab->tuned[best].name);
}

cli_table cli_tune_certainty_table(const cli_tune_certainty *certainty, const cli_tune_lab *lab)
{
  static const char *const header[] = {"figure", "unit",          "was",
                                       "found",  "95 % interval", "strongest correlation"};
  const cli_tune_certainty *c = certainty;
  cli_table table = cli_table_make("Figures found", "llrrll", header);
  for (size_t i = 0; i < c->n; i++) {
    const cli_tuned *t = &lab->tuned[i];
    cli_table_add(&table, "%s", t->name);
    cli_table_add(&table, "%s", t->unit);
    cli_table_add_number(&table, strtod(t->text, NULL));
    cli_table_add(&table, "%.4g", c->x[i]);
    cli_table_add(&table, "%.4g to %.4g%s", c->low[i], c->high[i],
                  c->held[i] == CLI_TUNE_FREE   ? ""
                  : c->held[i] == CLI_TUNE_FLAT ? " (flat)"
                                                : " (at its bound)");
    add_strongest(&table, c, lab, i);
  }
  return table;
}
