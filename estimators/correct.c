/* SPDX-License-Identifier: MIT */
/* Correction: innovations, gates, fusion, injection of the estimated errors (dissertation 3.5-3.16). */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/elementary.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

static double square(double x) { return x * x; }

static double innovation_of(const bramah_filter *f, size_t i, double y)
{
  double predicted = bramah__prediction(f, i);
  if (f->oosm[i].theta != 0.0) predicted += f->oosm[i].prediction_offset;
  return bramah__sensor_innovation(&f->sensor[i], y, predicted);
}

/* Of the columns of row H from first to end those with entries, behind the `found` listed so far; returns how many are. */
static size_t list_entries(const double *H, size_t first, size_t end, size_t found, size_t *entry)
{
  for (size_t k = first; k < end; k++) {
    entry[found] = k;
    found += H[k] != 0.0;
  }
  return found;
}

static bramah_status row_of(bramah_filter *f, size_t i, bramah_diag *diag)
{
  double *H = f->H + i * f->n;
  const bramah_status status = bramah__row(f, i, H, diag);
  f->r[i] = bramah_sensor_variance(&f->sensor[i]);
  if (status == BRAMAH_OK && f->oosm[i].theta != 0.0) bramah__oosm_shift_row(f, i);
  /* where it has entries: states of the plant, errors of its own; else anywhere */
  const int anywhere = f->moved_at_once[i] || f->oosm[i].theta != 0.0;
  size_t *entry = f->entry + i * f->n, found = list_entries(H, 0, anywhere ? f->n : f->n_plant, 0, entry);
  for (size_t e = anywhere ? SIZE_MAX : f->first_error[i]; e != SIZE_MAX; e = f->self_state[e].next) {
    const size_t first = f->self_state[e].state;
    found = list_entries(H, first, first + (f->augmented[e].order == 2 ? 2 : 1), found, entry);
  }
  f->n_entries[i] = found;
  return status;
}

/* PH = P H' of the upper triangle of P; H P H' */
static double project(const bramah_filter *f, size_t i, double *PH)
{
  const size_t n = f->n;
  return bramah__kernel_project(0, n, f->n_entries[i], f->entry + i * n, f->H + i * n, f->P, PH);
}

/* Prediction, innovation and its variance for one sensor, all before any correction of this time. */
static bramah_status innovate(bramah_filter *f, size_t i, double y, bramah_diag *diag)
{
  const bramah_sensor *sensor = &f->sensor[i];
  bramah_innovation *out = &f->innovation[i];
  if (!isfinite(y))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, sensor->name, "the measurement is not a finite number");
  const bramah_status status = row_of(f, i, diag);
  if (status != BRAMAH_OK) return status;
  const size_t n = f->n, count = f->n_entries[i], *column = f->entry + i * n;
  const double *H = f->H + i * n;
  const double S = f->r[i] + (f->considered /* then all of P H' is wanted */
                                  ? bramah__kernel_project(1, n, count, column, H, f->P, f->PH + i * n)
                                  : bramah__kernel_variance(n, count, column, H, f->P));
  if (!(S > 0.0) || !isfinite(S))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, sensor->name,
                        "the variance of the innovation is not positive and finite");
  out->innovation = f->y[i] = innovation_of(f, i, y);
  out->sigma = sqrt(S);
  out->considered = bramah__augmented_share(f, i, S);
  const int absurd = fabs(out->innovation) > bramah__absurd_innovation * out->sigma;
  if (absurd && f->gate[i] == 0.0)
    return bramah__fail(diag, BRAMAH_E_VALUE, sensor->name,
                        "the measurement is absurd, and this sensor has no gate that would reject it");
  out->nis = absurd ? square(bramah__absurd_innovation) : square(out->innovation) / S;
  out->present = 1;
  out->saturated = bramah_sensor_is_saturated(sensor, y);
  out->accepted = !out->saturated && (f->gate[i] == 0.0 || out->nis <= square(f->gate[i]));
  return BRAMAH_OK;
}

/* ---- likelihood ---- */

/* Note what is left of the innovation of sensor i after those before it. Such a sample counts by one density whether it is fused or
 * rejected: else a filter would gain by rejecting what it does not explain. Within the gate g it is the normal one; beyond
 * it falls with the square, phi(g) (g sigma / rest)^2, to which it is continuous. */
static void count_sample(bramah_filter *f, size_t i, double rest, double variance)
{
  bramah__likelihood_sums *sums = &f->likelihood;
  bramah_innovation *in = &f->innovation[i];
  const double most = square(f->gate[i]), marginal = in->nis,
               nis = marginal < square(bramah__absurd_innovation) ? square(rest) / variance : marginal;
  if (sums->is_closed) return;
  in->rest = rest;
  in->rest_variance = variance;
  sums->cost +=
      bramah__log_two_pi + (most == 0.0 || nis <= most ? nis : most + 2.0 * bramah__log(nis / most));
  sums->variance *= variance;
  if (sums->variance > 1e-100 && sums->variance < 1e100) return;
  sums->cost += bramah__log(sums->variance);
  sums->variance = 1.0;
}

/* ---- gates ---- */

/* Sensors whose running mean is beyond its gate are not fused: spikes count no more in it than the gate on
 * single samples lets through. Then count what was accepted and rejected. */
static void apply_gates(bramah_filter *f)
{
  bramah_filter_report *report = &f->progress.report;
  for (size_t i = 0; i < f->n_sensors; i++) {
    bramah_innovation *in = &f->innovation[i];
    const double most = f->gate[i];
    if (!in->present) continue;
    if (f->drift_gate != 0.0 && most != 0.0 && !in->saturated) {
      const double nu = in->innovation / in->sigma;
      f->drift[i] += bramah__drift_share * ((nu < -most ? -most : nu > most ? most : nu) - f->drift[i]);
      f->drift_common[i] += bramah__drift_share * (in->considered - f->drift_common[i]);
      const double limit = f->drift_gate * bramah__drift_sigma(f->drift_common[i]);
      f->drifted[i] = fabs(f->drift[i]) > (f->drifted[i] ? 0.5 : 1.0) * limit;
      if (f->drifted[i]) in->accepted = 0;
    }
    if (in->accepted) {
      f->reject[i] = 0;
      report->accepted++;
    } else if (in->saturated) {
      report->saturated++;
    } else {
      report->gated++;
      if (f->reject[i] < UINT32_MAX) f->reject[i]++;
      report->sensor_faults += f->reject[i] == f->patience;
    }
  }
}

/* Is it the filter that is wrong? When no sensor with a gate agrees with it any more (group 2); or none of
 * two and more that measure motion (0), or pressures (1): one of them may fail, hardly all. */
static int filter_is_wrong(const bramah_filter *f)
{
  size_t any = 0;
  for (size_t i = 0; i < f->n_sensors; i++) any += f->reject[i] >= f->patience;
  if (!any) return 0;
  for (int group = 0; group <= 2; group++) {
    size_t n = 0, faulty = 0;
    for (size_t i = 0; i < f->n_sensors; i++) {
      if (f->gate[i] == 0.0 || (group < 2 && f->sensor[i].group != group)) continue;
      n++;
      faulty += f->reject[i] >= f->patience;
    }
    if (n == faulty && n >= (group < 2 ? 2 : 1)) return 1;
  }
  return 0;
}

/* Inflate the covariance and take what was rejected: it is tested anew with the greater variance. */
static bramah_status recover(bramah_filter *f, const double *y, bramah_diag *diag)
{
  bramah_filter_report *report = &f->progress.report;

  /* by what was predicted, not by what is made of it now that they are known */
  for (size_t i = 0; i < f->n_sensors; i++)
    if (f->innovation[i].present && !f->innovation[i].saturated)
      count_sample(f, i, f->y[i], square(f->innovation[i].sigma));
  f->likelihood.is_closed = 1;

  for (size_t k = 0; k < f->n * f->n; k++) f->P[k] += f->P_initial[k];
  /* what the wrong filter had learned of them is not to be relied on */
  for (size_t i = 0; i < f->n_augmented; i++) f->information[i] = 0.0;
  bramah__augmented_hold(f);
  bramah_status status = bramah__refresh_root(f, diag);
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++) {
    if (f->gate[i] != 0.0) f->reject[i] = 0;
    f->drift[i] = 0.0;
    f->drifted[i] = 0;
    if (!f->innovation[i].present) continue;
    const uint64_t rejected = !f->innovation[i].accepted && !f->innovation[i].saturated;
    report->gated -= rejected;
    report->accepted += rejected;
    status = innovate(f, i, y[i], diag);
    /* what the initial uncertainty does not cover would be rejected for ever */
    f->innovation[i].accepted =
        !f->innovation[i].saturated && f->innovation[i].nis < square(bramah__absurd_innovation);
  }
  report->recoveries++;
  return status;
}

/* ---- fusion ---- */

/* All accepted sensors at once. */
static bramah_status fuse_block(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n, ns = f->n_sensors;
  double *H = f->work.block, *y = H + ns * n, *r = y + ns, *work = r + ns;
  size_t m = 0;
  for (size_t i = 0; i < ns; i++) {
    if (!f->innovation[i].accepted) continue;
    memcpy(H + m * n, f->H + i * n, n * sizeof(double));
    y[m] = f->y[i];
    r[m++] = f->r[i];
  }
  if (m == 0) return BRAMAH_OK;
  f->nis_dof = m;
  if (bramah__fuse_block(n, m, H, y, r, f->considered, f->P, f->dx, &f->nis, work))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "measurements",
                        "the covariance of the innovations is not positive definite");
  return BRAMAH_OK;
}

/* Fuse the accepted sensors into dx and the covariance. One after the other, the share of each in y' S^-1 y
 * is the square of the innovation that is left after those before it. */
static bramah_status fuse(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n;
  size_t changed = 0; /* rows of the upper triangle of P */
  memset(f->dx, 0, n * sizeof(double));
  f->nis = 0.0;
  f->nis_dof = 0;
  if (!f->likelihood.is_closed) f->likelihood = (bramah__likelihood_sums){.variance = 1.0};
  if (f->considered) bramah__augmented_learn(f);
  if (f->block) return fuse_block(f, diag);
  for (size_t i = 0; i < f->n_sensors; i++) {
    bramah_innovation *in = &f->innovation[i];
    if (!in->present || in->saturated) continue;
    const size_t n_entries = f->n_entries[i], *entry = f->entry + i * n;
    const double *H = f->H + i * n, r = f->r[i];
    double rest = f->y[i], *PH = f->work.fuse, *work = PH + n;
    for (size_t k = 0; k < n_entries; k++) rest -= H[entry[k]] * f->dx[entry[k]];
    const double S = r + (f->square_root ? bramah__root_variance(n, H, f->S, work) : project(f, i, PH));
    count_sample(f, i, rest, S);
    /* rejected by its gate, a sample still says what may be wrong */
    if (f->n_causes && in->nis < square(bramah__absurd_innovation)) {
      if (f->square_root) bramah__apply(n, n, f->S, work, PH);
      const bramah_status status = bramah__scores_sample(f, i, PH, rest, S, diag);
      if (status != BRAMAH_OK) return status;
    }
    if (!in->accepted) continue;
    int failed = !(S > 0.0) || !isfinite(S);
    f->nis += square(rest) / S;
    f->nis_dof++;
    if (f->square_root) {
      failed = bramah__fuse_root(n, H, f->y[i], r, f->considered, f->S, f->dx, work);
    } else if (!failed) {
      const size_t rows =
          bramah__kernel_fuse(n, n_entries, entry, H, PH, S, r, rest, f->considered, f->P, f->dx, work);
      if (rows > changed) changed = rows;
    }
    if (failed)
      return bramah__fail(diag, BRAMAH_E_NOT_SPD, f->sensor[i].name,
                          "the variance of the innovation is not positive");
  }
  bramah__kernel_mirror(n, changed, f->P);
  if (f->square_root) bramah__refresh_covariance(f);
  return BRAMAH_OK;
}

static bramah_status inject(bramah_filter *f, bramah_diag *diag)
{
  const bramah_status status = bramah__augmented_inject(f, f->dx, diag);
  for (size_t k = 0; k < f->n; k++) f->accumulated_correction[k] += f->dx[k];
  return status == BRAMAH_OK ? f->plant.inject(f->plant.self, f->dx, diag) : status;
}

/* ---- iterated update ---- */

/* Covariance, means and plant as before the correction; innovations and counts stay. */
static void back_to_prediction(bramah_filter *f) { bramah__take_back(f, f->snapshot.iterate_from, 0); }

/* Fuse, and as often as asked: back to the prediction, the correction found so far injected, measurements
 * linearised there: what they say of the error of the prediction is y - h(x) + H dx. Source: the iterated
 * extended Kalman filter of Jazwinski, Stochastic Processes and Filtering Theory (1970). */
static bramah_status iterate(bramah_filter *f, const double *y, bramah_diag *diag)
{
  bramah_status status = fuse(f, diag);
  for (int k = 1; k < f->iterations && status == BRAMAH_OK; k++) {
    back_to_prediction(f);
    status = inject(f, diag);
    for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++) {
      if (!f->innovation[i].accepted) continue;
      status = row_of(f, i, diag);
      f->y[i] = innovation_of(f, i, y[i]);
      for (size_t j = 0; j < f->n; j++) f->y[i] += f->H[i * f->n + j] * f->dx[j];
    }
    if (status != BRAMAH_OK) return status;
    back_to_prediction(f);
    status = fuse(f, diag);
  }
  return status;
}

/* ---- one correction ---- */

bramah_status bramah_filter_correct(bramah_filter *f, const double *y, const unsigned char *present,
                                    bramah_diag *diag)
{
  return bramah_filter_correct_at(f, y, present, NULL, diag);
}

bramah_status bramah_filter_correct_at(bramah_filter *f, const double *y, const unsigned char *present,
                                       const int64_t *offset_ns, bramah_diag *diag)
{
  return bramah__correct(f, y, present, offset_ns, 1, diag);
}

bramah_status bramah__correct(bramah_filter *f, const double *y, const unsigned char *present,
                              const int64_t *offset_ns, int whole, bramah_diag *diag)
{
  int any = 0;
  for (size_t i = 0; i < f->n_sensors; i++) any |= present[i];
  bramah__clear_correction(f);
  f->likelihood = (bramah__likelihood_sums){.variance = 1.0};
  if (!any) return BRAMAH_OK;
  if (whole || f->iterations > 1) bramah__keep(f, f->snapshot.step_start);
  f->snapshot.iterate_from = f->snapshot.step_start;

  /* innovations, all before any correction of this time */
  bramah__augmented_hold(f);
  bramah_status status = bramah__oosm_prepare(f, present, offset_ns, diag);
  for (size_t i = 0; i < f->n_sensors && status == BRAMAH_OK; i++)
    if (present[i]) status = innovate(f, i, y[i], diag);

  /* gates */
  if (status == BRAMAH_OK) {
    apply_gates(f);
    if (filter_is_wrong(f)) {
      status = recover(f, y, diag);
      if (f->iterations > 1) {
        bramah__keep(f, f->snapshot.inflated);
        f->snapshot.iterate_from = f->snapshot.inflated;
      }
    }
  }

  /* fusion and injection */
  if (status == BRAMAH_OK) status = iterate(f, y, diag);
  if (status == BRAMAH_OK) status = bramah__check_covariance(f, diag);
  if (status == BRAMAH_OK && f->nis_dof) status = inject(f, diag);
  if (status != BRAMAH_OK) {
    if (whole) bramah__take_back(f, f->snapshot.step_start, 1);
    bramah__clear_correction(f);
    return status;
  }
  f->progress.report.corrections++;
  bramah__phases_hear(f, present);
  f->progress.log_likelihood -= 0.5 * (f->likelihood.cost + bramah__log(f->likelihood.variance));
  return BRAMAH_OK;
}
