/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Measures of an operator's run: how the arm moves, what the cylinders do, and the score of an attempt. */
#include "bramah/work_cycles.h"
#include "lib/io/fail.h"

#include <math.h>
#include <stdlib.h>

/* ---- movement ---- */

/* Turns of a signal that come back by the band; `up` 0: none yet. */
typedef struct turning {
  int up; /* 1, -1 */
  double low, high;
  uint64_t n;
} turning;

static void follow(turning *w, double x, double band)
{
  w->low = fmin(w->low, x);
  w->high = fmax(w->high, x);
  const int rises = x - w->low >= band && w->up <= 0, falls = w->high - x >= band && w->up >= 0;
  if (!rises && !falls) return;
  w->n += w->up != 0;
  w->up = rises ? 1 : -1;
  w->low = w->high = x;
}

bramah_status bramah_movement_of(size_t n, const double *t, const double *x, double band,
                                 bramah_movement *out, bramah_diag *diag)
{
  bramah_movement m = {.minimum = (double)INFINITY, .maximum = -(double)INFINITY};
  turning w = {.low = (double)INFINITY, .high = -(double)INFINITY};
  double area = 0.0, squares = 0.0, begin = 0.0;
  size_t last = n, rows = 0;
  if (!(band > 0.0)) return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "the band must be positive");
  for (int pass = 0; pass < 2; pass++, last = n)
    for (size_t i = 0; i < n; i++) {
      if (isnan(x[i])) continue;
      if (!isfinite(t[i]) || isinf(x[i]))
        return bramah__failf(diag, BRAMAH_E_NOT_FINITE, NULL, 0, NULL, "row %zu is not finite", i + 1);
      if (last < n && !(t[i] > t[last]))
        return bramah__failf(diag, BRAMAH_E_TIME, NULL, 0, NULL, "time does not go forward in row %zu",
                             i + 1);
      const double half = last < n ? 0.5 * (t[i] - t[last]) : 0.0;
      if (pass) { /* about the mean, which is known now */
        const double a = last < n ? x[last] - m.mean : 0.0, b = x[i] - m.mean;
        squares += half * (a * a + b * b);
      } else {
        if (last == n) begin = t[i];
        if (last < n) area += half * (x[last] + x[i]), m.travel += fabs(x[i] - x[last]);
        m.minimum = fmin(m.minimum, x[i]);
        m.maximum = fmax(m.maximum, x[i]);
        m.duration = t[i] - begin;
        follow(&w, x[i], band);
        rows++;
      }
      last = i;
      if (!pass && rows > 1) m.mean = area / m.duration;
    }
  if (rows < 2) return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "a movement needs two samples");
  m.deviation = sqrt(squares / m.duration);
  m.range = m.maximum - m.minimum;
  m.travel_rate = m.travel / m.duration;
  m.reversals = w.n;
  m.reversals_per_minute = 60.0 * (double)w.n / m.duration;
  *out = m;
  return BRAMAH_OK;
}

/* ---- cylinders ---- */

bramah_status bramah_cylinder_work_of(const bramah_cylinder_log *log, bramah_cylinder_work *out,
                                      bramah_diag *diag)
{
  static const double slow = 0.01, long_enough = 0.2; /* [m/s], [s] of a near-stall */
  bramah_cylinder_work sum = {0};
  double force = 0.0, stroke = 0.0, time = 0.0, stalled = 0.0;
  size_t rows = 0;
  for (size_t i = 0; i < log->n; i++) {
    const double s = log->stroke[i], p1 = log->piston_pressure[i],
                 p2 = log->rod_pressure ? log->rod_pressure[i] : 0.0, t = log->t[i];
    const double f = p1 * log->piston_area - p2 * log->rod_area;
    if (isnan(f) || isnan(s)) continue;
    if (rows++) {
      const double part = 0.5 * (force + f) * (s - stroke), before = stalled;
      sum.work += part;
      sum.positive += fmax(part, 0.0);
      const int stalls = log->stall_pressure > 0.0 && fmax(p1, p2) >= log->stall_pressure &&
                         fabs(s - stroke) < slow * (t - time);
      stalled = stalls ? stalled + (t - time) : 0.0;
      sum.near_stalls += before < long_enough && stalled >= long_enough;
    }
    force = f, stroke = s, time = t;
  }
  if (rows < 2) return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL, "a cylinder needs two rows");
  *out = sum;
  return BRAMAH_OK;
}

/* ---- the leaderboard of publication VI ---- */

bramah_status bramah_leaderboard(size_t n, const bramah_attempt *attempts, const double weight[3],
                                 size_t n_persons, double *score, bramah_diag *diag)
{
  const double weights = weight[0] + weight[1] + weight[2];
  double best[2] = {(double)INFINITY, (double)INFINITY};
  if (!(weights > 0.0) || !(fmin(fmin(weight[0], weight[1]), weight[2]) >= 0.0))
    return bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                         "weights must not be negative, and not all zero");
  size_t *counts = calloc(n_persons + 1, sizeof *counts);
  if (!counts) return bramah__fail_memory(diag);
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < n && !status; i++) {
    const bramah_attempt *a = &attempts[i];
    if ((weight[0] > 0.0 && !(a->time > 0.0)) || (weight[1] > 0.0 && !(a->fuel > 0.0)) ||
        (weight[2] > 0.0 && !(a->hits >= 0.0)))
      status = bramah__failf(diag, BRAMAH_E_VALUE, NULL, 0, NULL,
                             "attempt %zu: time and fuel must be positive, hits not negative", i + 1);
    if (a->person >= n_persons)
      status = bramah__failf(diag, BRAMAH_E_ARGUMENT, NULL, 0, NULL, "attempt %zu: there is no person %zu",
                             i + 1, a->person);
    best[0] = fmin(best[0], a->time);
    best[1] = fmin(best[1], a->fuel);
  }
  for (size_t p = 0; p < n_persons; p++) score[p] = 0.0;
  for (size_t i = 0; i < n && !status; i++) {
    const bramah_attempt *a = &attempts[i];
    const double part[3] = {a->time / best[0], a->fuel / best[1], 1.0 + a->hits};
    double sum = 0.0;
    for (int k = 0; k < 3; k++) sum += weight[k] > 0.0 ? weight[k] * part[k] : 0.0;
    score[a->person] += sum / weights;
    counts[a->person]++;
  }
  for (size_t p = 0; p < n_persons; p++) score[p] = counts[p] ? score[p] / (double)counts[p] : (double)NAN;
  free(counts);
  return status;
}
