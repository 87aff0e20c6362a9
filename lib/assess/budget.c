/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the uncertainty budget states of its parameters and errors of sensors, against what the log says of them, state by
 * state in windows of time: does one leave its stated uncertainty, and which, when?
 *
 * One that is considered correlates with each innovation x = nu / sigma by rho: x = rho c + rest, c its error in its
 * stated standard deviations. The score, the sum of rho x, has with J = sum of rho rho' the variance J_ii + sum over all k
 * of J_ik^2: what the others may do is reckoned with. The rest counts with the variance 1 of the whole: a gain that
 * considers does not leave it white. Where J_ii < 1 the innovations say less of the state than the budget: not judged.
 *
 * One that is estimated changes in a window by the sum D of its corrections. With nothing but its stated drift Q its
 * variance P goes from P_0 to P_0 + Q and, by what the corrections tell, to P: D has the variance P_0 + Q - P, and what does
 * not go beyond the stated drift Q itself is no contradiction, whatever a gain that considers makes of it. What its error has of states that are considered, L in their standard deviations, is not told: L^2 - L_0^2 more where it has
 * grown, and (L - L_0)^2 as it goes along with them. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <string.h>

static const int64_t length[BRAMAH__LENGTHS] = {1000000000, 10000000000, INT64_MAX};
static const int64_t settle_ns = 1000000000;  /* of a start that may be wrong */
static const int64_t shortest_ns = 500000000; /* window that is judged */

/* A bias of order 1 and the like, of the budget: what a study lists itself it may leave to move as it likes. */
static int is_judged(const bramah_augmented *a)
{
  return a->role != BRAMAH_AUGMENTED_ESTIMATED && a->order != 2;
}

/* What the error of state k has of another one, if that is considered, in standard deviations of that. */
static double part(const bramah_assess *a, size_t k, size_t of)
{
  const size_t n = bramah_filter_get_info(a->filter).n_error;
  const double *P = bramah_filter_covariance(a->filter);
  const size_t i = a->error_state[k], j = a->error_state[of];
  return bramah_filter_get_augmented(a->filter, of).is_estimated ? 0.0 : P[i * n + j] / sqrt(P[j * n + j]);
}

static void open_window(bramah_assess *a, size_t l, int64_t t)
{
  const size_t m = a->n_augmented, n = bramah_filter_get_info(a->filter).n_error;
  const double *P = bramah_filter_covariance(a->filter);
  a->budget.begin_ns[l] = t;
  memset(a->budget_information + l * m * m, 0, m * m * sizeof(double));
  for (size_t k = 0; k < m; k++) {
    bramah__budget_sums *s = &a->budget_sums[l * m + k];
    *s = (bramah__budget_sums){.variance = P[a->error_state[k] * (n + 1)],
                               .was_estimated =
                                   (uint64_t)bramah_filter_get_augmented(a->filter, k).is_estimated};
    for (size_t j = 0; j < m; j++) a->budget_part[(l * m + k) * m + j] = part(a, k, j);
  }
}

/* State k in the open window of a length: how far it is from what is stated, in standard deviations; 0: not judged. */
static double judge(const bramah_assess *a, size_t l, size_t k, double *amount)
{
  const size_t m = a->n_augmented, n = bramah_filter_get_info(a->filter).n_error;
  const bramah__budget_sums *s = &a->budget_sums[l * m + k];
  const double P = bramah_filter_covariance(a->filter)[a->error_state[k] * (n + 1)];
  const bramah_filter_augmented now = bramah_filter_get_augmented(a->filter, k);
  const bramah_augmented *state = &bramah_filter_get_info(a->filter).augmented[k];
  const double unit = state->logarithmic ? now.value : 1.0;
  if (!is_judged(state) || now.is_estimated != (int)s->was_estimated) return 0.0;
  if (!now.is_estimated) {
    const double *J = a->budget_information + (l * m + k) * m;
    if (!(J[k] >= 1.0)) return 0.0;
    double variance = J[k];
    for (size_t j = 0; j < m; j++) variance += J[j] * J[j];
    *amount = unit * sqrt(P) * s->score / J[k];
    return fabs(s->score) / sqrt(variance);
  }
  double variance = fmax(s->variance - P, fmax(s->drift, 1e-6 * P));
  for (size_t j = 0; j < m; j++) {
    const double before = a->budget_part[(l * m + k) * m + j], after = part(a, k, j);
    variance += fmax(after * after - before * before, 0.0) + (after - before) * (after - before);
  }
  *amount = unit * s->change;
  return fabs(s->change) / sqrt(variance);
}

/* The worst window so far, or the one that is open if that is worse. */
static bramah__worst worse(const bramah_assess *a, size_t l, size_t k)
{
  const bramah__budget *b = &a->budget;
  bramah__worst worst = a->budget_worst[l * a->n_augmented + k];
  double amount = 0.0;
  if (!b->is_open || b->now_ns - b->begin_ns[l] < shortest_ns) return worst;
  const double size = judge(a, l, k, &amount);
  if (!(size > 0.0)) return worst;
  if (!worst.tests++ || size > worst.size) {
    worst.value = amount;
    worst.size = size;
    worst.begin_ns = b->begin_ns[l];
    worst.end_ns = b->now_ns;
  }
  return worst;
}

/* ---- with the filter ---- */

static void predicted(bramah_assess *a)
{
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const size_t m = a->n_augmented;
  for (size_t k = 0; k < m; k++) {
    const size_t i = a->error_state[k];
    const double phi = last.transition[i * (info.n_error + 1)];
    double q = 0.0;
    for (size_t c = 0; c < info.n_noise; c++)
      q += last.noise[i * info.n_noise + c] * last.noise[i * info.n_noise + c];
    for (size_t l = 0; l < BRAMAH__LENGTHS; l++) {
      bramah__budget_sums *s = &a->budget_sums[l * m + k];
      s->change *= phi;
      s->variance = phi * phi * s->variance + q;
      s->drift = phi * phi * s->drift + q;
    }
  }
}

/* One innovation into score and information of all windows. */
static void add_innovation(bramah_assess *a, const bramah_innovation *in, const double *rho)
{
  const size_t m = a->n_augmented;
  const double x = in->innovation / in->sigma;
  for (size_t k = 0; k < m; k++)
    for (size_t l = 0; l < BRAMAH__LENGTHS && rho[k] != 0.0; l++) {
      double *J = a->budget_information + (l * m + k) * m;
      a->budget_sums[l * m + k].score += rho[k] * x;
      for (size_t j = 0; j < m; j++) J[j] += rho[k] * rho[j];
    }
}

static void corrected(bramah_assess *a)
{
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const size_t m = a->n_augmented;
  for (size_t i = 0; i < a->n_sensors; i++)
    if (last.innovation[i].accepted) add_innovation(a, &last.innovation[i], last.correlation + i * m);
  for (size_t k = 0; k < m; k++)
    for (size_t l = 0; l < BRAMAH__LENGTHS; l++)
      a->budget_sums[l * m + k].change += last.correction[a->error_state[k]];
}

void bramah__budget_watch(bramah_assess *a, bramah_filter_event event)
{
  bramah__budget *b = &a->budget;
  const int64_t t = bramah_filter_time_ns(a->filter);
  const uint64_t recoveries = bramah_filter_get_report(a->filter).recoveries;
  if (!a->n_augmented) return;
  if (!b->has_start || recoveries != b->recoveries) {
    b->has_start = 1;
    b->is_open = 0;
    b->recoveries = recoveries;
    b->from_ns = t + settle_ns;
  }
  if (event == BRAMAH_FILTER_PREDICTED) b->is_new = t > b->now_ns;
  if (!b->is_new) return; /* made again for a late sample, which does not count here */
  b->now_ns = t;
  if (b->is_open && event == BRAMAH_FILTER_PREDICTED) predicted(a);
  if (event != BRAMAH_FILTER_CORRECTED || t < b->from_ns) return;
  if (b->is_open) corrected(a);
  for (size_t l = 0; l < BRAMAH__LENGTHS; l++) {
    if (b->is_open && t - b->begin_ns[l] < length[l]) continue;
    for (size_t k = 0; k < a->n_augmented && b->is_open; k++)
      a->budget_worst[l * a->n_augmented + k] = worse(a, l, k);
    open_window(a, l, t);
  }
  b->is_open = 1;
}

void bramah__budget_end(bramah_assess *a)
{
  for (size_t l = 0; l < BRAMAH__LENGTHS; l++)
    for (size_t k = 0; k < a->n_augmented; k++) a->budget_worst[l * a->n_augmented + k] = worse(a, l, k);
  a->budget.is_open = 0;
}

bramah__worst bramah__budget_worst(const bramah_assess *a, size_t k, double limit, uint64_t *tests)
{
  bramah__worst largest = {0};
  *tests = 0;
  for (size_t l = 0; l < BRAMAH__LENGTHS; l++) {
    const bramah__worst worst = worse(a, l, k);
    *tests += worst.tests;
    if (worst.tests && (!largest.tests || (worst.size > largest.size && !(largest.size > limit))))
      largest = worst;
  }
  return largest;
}
