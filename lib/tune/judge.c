/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What scores say: verdicts, criteria, the innovations of a sensor, and why a replay failed. */
#include "lib/assess/statistics.h"
#include "lib/io/fail.h"
#include "lib/tune/tune_internal.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdlib.h>

/* ---- criteria ---- */

/* Sensor i over some logs. */
static bramah__sensor_score sum_sensor(size_t n, const bramah__replay_score *scores, size_t i)
{
  bramah__sensor_score sum = {0};
  for (size_t k = 0; k < n; k++) {
    const bramah__sensor_score *s = &scores[k].sensor[i];
    sum.n += s->n;
    sum.gated += s->gated;
    sum.squares += s->squares;
    sum.nis += s->nis;
    sum.sum += s->sum;
    for (size_t l = 0; l < BRAMAH_TUNE_LAGS; l++) sum.lag[l] += s->lag[l];
    sum.ahead_squares += s->ahead_squares;
    sum.ahead_n += s->ahead_n;
    for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) sum.bins[b] += s->bins[b];
  }
  return sum;
}

/* Pearson's phi^2 of the bins from even ones; what chance alone makes of it is taken off, so that more
 * samples do not look better. */
static double distance_of(const double *bins, size_t *counted)
{
  double total = 0.0, sum = 0.0;
  for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) total += bins[b];
  if (!(total > 0.0)) return 0.0;
  ++*counted;
  for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) {
    const double off = bins[b] / total - 1.0 / BRAMAH__TUNE_BINS;
    sum += BRAMAH__TUNE_BINS * off * off;
  }
  return sum;
}

bramah_tune_verdict bramah__tune_judge(const bramah__tune_problem *problem, size_t n, const size_t *logs,
                                       const bramah__replay_score *scores)
{
  bramah_tune_verdict v = {.failed = problem->n_logs};
  double nis = 0.0, dof = 0.0, bins[BRAMAH__TUNE_BINS] = {0};
  for (size_t k = 0; k < n; k++) {
    const bramah__replay_score *s = &scores[k];
    if (s->status && !v.status) {
      v.status = s->status;
      v.failed = logs[k];
    }
    v.stopped |= s->stopped > 0;
    v.cost += s->cost[s->stopped ? s->stopped - 1 : BRAMAH__TUNE_CHECKS - 1];
    v.used += s->used;
    v.gated += s->gated;
    nis += s->nis;
    dof += s->dof;
    for (size_t b = 0; b < BRAMAH__TUNE_BINS; b++) bins[b] += s->bins[b];
  }
  v.nis = nis / dof;

  /* Distance of the NIS from chi-square, and errors of predictions. */
  size_t distances = 0, predictions = 0, outputs = 0;
  double predicted = 0.0, errors = 0.0;
  v.distance = distance_of(bins, &distances);
  for (size_t i = 0; i < problem->n_sensors; i++) {
    const bramah__sensor_score s = sum_sensor(n, scores, i);
    v.distance += distance_of(s.bins, &distances);
    if (!problem->ahead || !(s.ahead_n > 0.0)) continue;
    predicted += s.ahead_squares / s.ahead_n /
                 bramah_sensor_variance(&bramah_session_about(problem->session)->sensors[i]);
    predictions++;
  }
  v.distance = distances ? v.distance / (double)distances : (double)NAN;
  v.prediction = predictions ? sqrt(predicted / (double)predictions) : (double)NAN;

  /* Errors against the truth, as shares of its largest magnitude. */
  for (size_t i = 0; i < problem->n_outputs; i++) {
    double largest = 0.0;
    bramah__output_score sum = {0};
    for (size_t k = 0; k < n; k++) {
      const double *of_log = problem->logs[logs[k]].largest;
      sum.squares += scores[k].output[i].squares;
      sum.n += scores[k].output[i].n;
      if (of_log) largest = fmax(largest, of_log[i]);
    }
    if (!(sum.n > 0.0) || !(largest > 0.0)) continue;
    errors += sum.squares / sum.n / (largest * largest);
    outputs++;
  }
  v.rmse = outputs ? sqrt(errors / (double)outputs) : (double)NAN;
  return v;
}

int bramah__tune_starved(const bramah_tune_verdict *verdict)
{
  return !(verdict->used > 0.1 * (verdict->used + verdict->gated));
}

double bramah__tune_criterion_value(const bramah_tune_verdict *verdict, bramah_tune_criterion criterion)
{
  const double values[BRAMAH_TUNE_CRITERIA] = {verdict->cost, verdict->distance, verdict->rmse,
                                               verdict->prediction};
  const double value = values[criterion];
  return verdict->status || !(verdict->used > 0.0) || !isfinite(value) ? (double)INFINITY : value;
}

const char *bramah__tune_criterion_name(bramah_tune_criterion criterion)
{
  static const char *const names[BRAMAH_TUNE_CRITERIA] = {"likelihood", "nis", "rmse", "prediction"};
  return names[criterion];
}

/* ---- innovations ---- */

/* Probability by chance below which one test fails, so that one of all fails in a thousandth of the runs
 * (Sidak): of each sensor its NIS, its neighbours and all its lags, and the NIS of all sensors together. */
static double test_level(const bramah__tune_problem *problem, size_t looks)
{
  const double tests = (double)looks * (3.0 * (double)problem->n_sensors + 1.0);
  return fmax(-bramah__expm1(bramah__log1p(-1e-3) / tests), 2e-9);
}

bramah_tune_colour bramah__tune_colour_of(const bramah__tune_problem *problem, size_t n,
                                          const bramah__replay_score *scores, size_t i, size_t looks)
{
  const double level = test_level(problem, looks);
  const bramah__sensor_score s = sum_sensor(n, scores, i);
  bramah_tune_colour c = {.n = s.n,
                          .gated = s.gated,
                          .nis = s.nis / s.n,
                          .low = (double)NAN,
                          .high = (double)NAN,
                          .p = (double)NAN};
  bramah_diag diag;
  if (!(c.n > BRAMAH_TUNE_LAGS) || !(s.nis > 0.0)) return c;
  for (size_t l = 0; l < BRAMAH_TUNE_LAGS; l++) {
    c.lag[l] = s.lag[l] / s.nis;
    c.ljung_box += c.n * (c.n + 2.0) * c.lag[l] * c.lag[l] / (c.n - (double)l - 1.0);
  }
  c.p = bramah__chi_square_above(c.ljung_box, BRAMAH_TUNE_LAGS);
  const double expected = bramah__nis_left_by_gate(bramah_session_study(problem->session)->gate[i]);
  bramah__nis_band(c.n, 1.0 - level, &c.low, &c.high, &diag);
  c.low *= expected;
  c.high *= expected;

  /* The part of the variance that has no memory: what is left at lag zero above a parabola through the next
   * three lags. Of innovations that a much too sharp filter makes it is up to five times too large, of others
   * right; R. K. Mehra (IEEE Trans. Automatic Control 15, 1970) takes noise from correlations of innovations,
   * with a gain that is still. */
  const double rest = 1.0 - (3.0 * c.lag[0] - 3.0 * c.lag[1] + c.lag[2]);
  c.white_sigma = sqrt(s.squares / c.n * fmin(fmax(rest, 1e-4), 5.0));
  c.coloured = fabs(c.lag[0]) > 0.1 && bramah__erfc(fabs(c.lag[0]) * sqrt(0.5 * c.n)) < level;
  c.faint = !c.coloured && c.p < level;
  return c;
}

bramah_tune_colour bramah__tune_colour_of_all(const bramah__tune_problem *problem,
                                              const bramah__replay_score *score, size_t looks)
{
  bramah_tune_colour c = {.nis = score->nis / score->dof};
  const double level = test_level(problem, looks);
  bramah_diag ignored;
  double share = 0.0;
  if (bramah__nis_band(score->dof, 1.0 - level, &c.low, &c.high, &ignored)) c.low = c.high = (double)NAN;
  for (size_t i = 0; i < problem->n_sensors; i++) { /* what is expected behind the gates */
    share += score->sensor[i].n * bramah__nis_left_by_gate(bramah_session_study(problem->session)->gate[i]);
    c.n += score->sensor[i].n;
  }
  c.low *= share / c.n;
  c.high *= share / c.n;
  return c;
}

/* ---- failures ---- */

/* A failed replay once more, for its words: of the candidate itself, or, where that one does not fail, of a
 * neighbour. */
bramah_status bramah__tune_explain_failure(const bramah__tune_problem *problem, const double *x, int slope,
                                           const bramah_tune_verdict *verdict, bramah_diag *diag)
{
  bramah__tune_job job = {.log = verdict->failed, .thousandths = 1000};
  const bramah__tune_job *one = &job;
  bramah__replay_score *score = bramah__replay_scores_new(problem, 1, 1);
  if (!score) return bramah__fail_memory(diag);
  for (size_t i = 0; i < problem->n; i++) job.x[i] = x[i];
  bramah_diag why = {0};
  bramah_status status = bramah__tune_replay(problem, 1, &one, NULL, &score, &why);
  if (!status && slope && !score->status) {
    job.slope = 1;
    status = bramah__tune_replay(problem, 1, &one, NULL, &score, &why);
  }
  const double t = score->time;
  const int again = score->status != BRAMAH_OK;
  free(score);
  if (status) return *diag = why, status;
  const char *path = problem->logs[verdict->failed].path;
  if (!again)
    return bramah__failf(diag, verdict->status, path, 0, NULL,
                         "a replay failed (%s), but not when it was repeated",
                         bramah_status_text(verdict->status));
  return bramah__failf(diag, verdict->status, path, 0, why.thing, "%.340s (at t = %.9g s%s)", why.message, t,
                       job.slope ? ", one value a step further" : "");
}
