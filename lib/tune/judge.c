/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/tune_internal.h"
#include "lib/io/fail.h"
#include "lib/assess/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- criteria ---- */

static double sum_over(size_t n, double *const *scores, size_t place)
{
  double sum = 0.0;
  for (size_t k = 0; k < n; k++) sum += scores[k][place];
  return sum;
}

/* Pearson's phi^2 of the bins from even ones; what chance alone makes of it is taken off, so that more
 * samples do not look better. */
static double distance_of(size_t n, double *const *scores, size_t place, size_t *counted)
{
  double total = 0.0, sum = 0.0;
  for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) total += sum_over(n, scores, place + b);
  if (!(total > 0.0)) return 0.0;
  ++*counted;
  for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) {
    const double off = sum_over(n, scores, place + b) / total - 1.0 / BRAMAH__TUNE_BINS;
    sum += BRAMAH__TUNE_BINS * off * off;
  }
  return sum;
}

static double distance(const bramah__tune_problem *problem, size_t n, double *const *scores)
{
  size_t counted = 0;
  double sum = distance_of(n, scores, BRAMAH__TUNE_JOINT, &counted);
  for (size_t i = 0; i < problem->n_sensors; i++)
    sum += distance_of(n, scores, bramah__tune_place_sensor(i) + BRAMAH__TUNE_OF_BINS, &counted);
  return counted ? sum / (double)counted : (double)NAN;
}

static double rmse(const bramah__tune_problem *problem, size_t n, const size_t *logs, double *const *scores)
{
  double sum = 0.0;
  size_t counted = 0;
  for (size_t i = 0; i < problem->n_outputs; i++) {
    const size_t place = bramah__tune_place_output(problem, i);
    const double number = sum_over(n, scores, place + 1);
    double largest = 0.0;
    for (size_t k = 0; k < n; k++)
      if (problem->logs[logs[k]].largest) largest = fmax(largest, problem->logs[logs[k]].largest[i]);
    if (!(number > 0.0) || !(largest > 0.0)) continue;
    sum += sum_over(n, scores, place) / number / (largest * largest);
    counted++;
  }
  return counted ? sqrt(sum / (double)counted) : (double)NAN;
}

static double prediction(const bramah__tune_problem *problem, size_t n, double *const *scores)
{
  double sum = 0.0;
  size_t counted = 0;
  for (size_t i = 0; problem->ahead && i < problem->n_sensors; i++) {
    const size_t place = bramah__tune_place_sensor(i) + BRAMAH__TUNE_OF_AHEAD;
    const double number = sum_over(n, scores, place + 1);
    if (!(number > 0.0)) continue;
    sum += sum_over(n, scores, place) / number /
           bramah_sensor_variance(&bramah_session_about(problem->session)->sensors[i]);
    counted++;
  }
  return counted ? sqrt(sum / (double)counted) : (double)NAN;
}

/* Of a replay that was given up: what it had cost so far, on top of what the limit was. */
static double cost_of(const double *f)
{
  const int stopped = (int)f[BRAMAH__TUNE_STOPPED];
  return f[BRAMAH__TUNE_COST + (stopped ? stopped - 1 : BRAMAH__TUNE_CHECKS - 1)];
}

bramah_tune_verdict bramah__tune_judge(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                       double *const *scores)
{
  bramah_tune_verdict v = {.failed = problem->n_logs};
  for (size_t k = 0; k < n; k++) {
    const double *f = scores[k];
    if (f[BRAMAH__TUNE_STATUS] != 0.0 && !v.status) {
      v.status = (bramah_status)(int)f[BRAMAH__TUNE_STATUS];
      v.failed = logs[k];
    }
    v.stopped |= f[BRAMAH__TUNE_STOPPED] > 0.0;
    v.cost += cost_of(f);
  }
  v.used = sum_over(n, scores, BRAMAH__TUNE_USED);
  v.gated = sum_over(n, scores, BRAMAH__TUNE_GATED);
  v.nis = sum_over(n, scores, BRAMAH__TUNE_NIS) / sum_over(n, scores, BRAMAH__TUNE_DOF);
  v.distance = distance(problem, n, scores);
  v.rmse = rmse(problem, n, logs, scores);
  v.prediction = prediction(problem, n, scores);
  return v;
}

int bramah__tune_starved(const bramah_tune_verdict *verdict)
{
  return !(verdict->used > 0.1 * (verdict->used + verdict->gated));
}

double bramah__tune_criterion_value(const bramah_tune_verdict *verdict, bramah_tune_criterion criterion)
{
  double value = verdict->cost;
  if (criterion == BRAMAH_TUNE_NIS) value = verdict->distance;
  if (criterion == BRAMAH_TUNE_RMSE) value = verdict->rmse;
  if (criterion == BRAMAH_TUNE_PREDICTION) value = verdict->prediction;
  return verdict->status || !(verdict->used > 0.0) || !isfinite(value) ? (double)INFINITY : value;
}

const char *bramah_tune_criterion_name(bramah_tune_criterion criterion)
{
  static const char *const names[] = {"likelihood", "nis", "rmse", "prediction"};
  return names[criterion];
}

/* ---- sensors ---- */

/* The part of the variance that has no memory: what is left at lag zero above a parabola through the next
 * three lags. Of innovations that a much too sharp filter makes it is up to five times too large, of others
 * right; R. K. Mehra (IEEE Trans. Automatic Control 15, 1970) takes noise from correlations of innovations,
 * with a gain that is still. */
static double white_variance(const bramah_tune_colour *c, double variance)
{
  const double rest = 1.0 - (3.0 * c->lag[0] - 3.0 * c->lag[1] + c->lag[2]);
  return variance * fmin(fmax(rest, 1e-4), 5.0);
}

bramah_tune_colour bramah__tune_look_at_sensor(const bramah__tune_problem *problem, size_t n,
                                               double *const *scores, size_t i)
{
  const size_t place = bramah__tune_place_sensor(i);
  const double squares = sum_over(n, scores, place + BRAMAH__TUNE_OF_NIS);
  bramah_tune_colour c = {.n = sum_over(n, scores, place + BRAMAH__TUNE_OF_N),
                          .gated = sum_over(n, scores, place + BRAMAH__TUNE_OF_GATED),
                          .low = (double)NAN,
                          .high = (double)NAN,
                          .p = (double)NAN};
  bramah_diag diag;
  const double expected = bramah__nis_left_by_gate(bramah_session_study(problem->session)->gate[i]);
  c.nis = squares / c.n;
  if (!(c.n > BRAMAH_TUNE_LAGS) || !(squares > 0.0)) return c;
  for (size_t l = 0; l < BRAMAH_TUNE_LAGS; l++) {
    c.lag[l] = sum_over(n, scores, place + BRAMAH__TUNE_OF_LAG + l) / squares;
    c.ljung_box += c.n * (c.n + 2.0) * c.lag[l] * c.lag[l] / (c.n - (double)l - 1.0);
  }
  c.p = bramah__chi_square_above(c.ljung_box, BRAMAH_TUNE_LAGS);
  bramah__nis_band(c.n, 0.95, &c.low, &c.high, &diag);
  c.low *= expected;
  c.high *= expected;
  c.white_sigma = sqrt(white_variance(&c, sum_over(n, scores, place + BRAMAH__TUNE_OF_SQUARES) / c.n));
  c.coloured = fabs(c.lag[0]) > fmax(0.1, 1.96 / sqrt(c.n));
  c.faint = !c.coloured && c.p < 1e-3;
  return c;
}

size_t bramah__tune_warn_coloured(const bramah__tune_problem *problem, size_t n, double *const *after,
                                  void (*say)(void *user, const char *line), void *user)
{
  size_t count = 0;
  for (size_t i = 0; i < problem->n_sensors; i++) {
    size_t coloured = 0, faint = 0;
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
      const bramah_tune_colour c = bramah__tune_look_at_sensor(problem, 1, after + k, i);
      coloured += (size_t)c.coloured;
      faint += (size_t)c.faint;
      if (fabs(c.lag[0]) > fabs(most)) most = c.lag[0];
    }
    if (!coloured && !faint) continue;
    char line[512];
    snprintf(line, sizeof line,
             "%s: its innovations remain %scoloured in %zu of %zu logs (correlation of neighbours up to "
             "%.2f); noise cannot "
             "cure what the model lacks there",
             bramah_session_about(problem->session)->sensors[i].name, coloured ? "" : "faintly ",
             coloured + faint, n, most);
    say(user, line);
    count++;
  }
  return count;
}
