/* SPDX-License-Identifier: MIT */
/* Score tests: which cause would explain the innovations. Beside the filter goes, for each cause j of size
 * theta_j, the derivative V_j = de/dtheta_j of its error:
 *
 *   prediction   V = F V + G                        G = df/dtheta, of a parameter of the plant
 *   sample       U = H V + D                        D = dy/dtheta: what the sensor itself shows of it
 *                score += U nu / S, information += U' U / S
 *   fused        V = V - K U
 *
 * A cause that the filter estimates is tested too: it may change faster than the filter expects.
 *
 * Source: B. Friedland, "Treatment of bias in recursive filtering", IEEE Trans. AC 14 (1969), whose estimate of a
 * bias theta = score / information is; information^-1/2 is its standard deviation and score^2 / information
 * what it explains of the sum of nu^2 / S. */
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

/* A delay is looked for by the change of the prediction over so many steps: a short one in signals that go
 * slowly, a long one in those that have long changed again. */
enum { N_LAGS = 3 };
static const int64_t lag[N_LAGS] = {1, 8, BRAMAH__PAST};

size_t bramah__most_causes(const bramah_plant *plant, size_t n_sensors)
{
  return plant->n_parameter + (2 + N_LAGS) * n_sensors;
}

void bramah__take_causes(bramah_filter *f)
{
  f->n_causes = 0;
  for (size_t p = 0; p < f->plant.n_parameter; p++) {
    bramah_parameter_info info;
    f->plant.parameter_info(f->plant.self, p, &info);
    f->cause_column[f->n_causes] = f->n_par;
    f->cause[f->n_causes++] =
        (bramah_cause){.kind = BRAMAH_CAUSE_PARAMETER, .name = info.name, .unit = info.unit, .target = p};
    /* a small part of what it is or, of a load that is zero, of what it may become */
    const double scale = info.nominal != 0.0 ? info.nominal : isfinite(info.least) ? info.least : 1.0;
    f->par[f->n_par] = p;
    f->par_step[f->n_par++] = 1e-4 * fabs(scale != 0.0 ? scale : 1.0);
  }
  for (size_t i = 0; i < f->n_sensors; i++) {
    bramah_cause cause = {
        .kind = BRAMAH_CAUSE_BIAS, .name = f->sensor[i].name, .unit = f->sensor[i].unit, .target = i};
    f->cause[f->n_causes++] = cause;
    cause.kind = BRAMAH_CAUSE_GAIN;
    cause.unit = "1";
    f->cause[f->n_causes++] = cause;
    cause.kind = BRAMAH_CAUSE_DELAY;
    cause.unit = "s";
    for (size_t l = 0; l < N_LAGS; l++) {
      cause.lag_ns = lag[l] * f->plant.step_ns;
      f->cause[f->n_causes++] = cause;
    }
  }
}

/* ---- with the filter ---- */

/* The first bank from the start on, others from when they are restarted. */
static int bank_runs(const bramah_filter *f, size_t b) { return b == 0 || f->score_runs[b]; }

/* Predictions at the start of the step that is the count-th of the filter. */
static double *past(const bramah_filter *f, uint64_t count)
{
  return f->past + count % BRAMAH__PAST * f->n_sensors;
}

void bramah__scores_start_step(bramah_filter *f)
{
  double *here = past(f, f->progress.report.predictions);
  for (size_t i = 0; i < f->n_sensors; i++) here[i] = bramah__prediction(f, i);
}

void bramah__scores_predict(bramah_filter *f)
{
  const size_t n = f->n, m = f->n_causes;
  bramah__scores_rebase(f, f->F);
  for (size_t b = 0; b < f->n_banks; b++)
    for (size_t j = 0; j < m && bank_runs(f, b); j++) {
      if (f->cause[j].kind != BRAMAH_CAUSE_PARAMETER) continue;
      for (size_t r = 0; r < f->n_plant; r++)
        f->sensitivity[(b * n + r) * m + j] += f->work.G[r * f->n_par + f->cause_column[j]];
    }
}

/* 1 if row r of T [n x n] leaves what it is about as it is. */
static int is_unit(size_t n, const double *T, size_t r)
{
  for (size_t k = 0; k < n; k++)
    if (T[r * n + k] != (k == r ? 1.0 : 0.0)) return 0;
  return 1;
}

void bramah__scores_rebase(bramah_filter *f, const double *T)
{
  const size_t n = f->n, m = f->n_causes;
  size_t last = n; /* constants stand behind the states that move */
  while (last && is_unit(n, T, last - 1)) last--;
  for (size_t b = 0; b < f->n_banks; b++) {
    double *V = f->sensitivity + b * n * m;
    if (!bank_runs(f, b)) continue;
    bramah__multiply(last, n, m, T, V, f->work.causes);
    memcpy(V, f->work.causes, last * m * sizeof(double));
  }
}

/* What sensor i itself shows of cause j. */
static bramah_status direct(bramah_filter *f, size_t i, size_t j, double *D, bramah_diag *diag)
{
  const bramah_cause *cause = &f->cause[j];
  *D = 0.0;
  if (cause->kind == BRAMAH_CAUSE_PARAMETER) return bramah__sensor_by_used(f, i, f->cause_column[j], D, diag);
  if (cause->target != i) return BRAMAH_OK;
  const bramah_augmented_kind error = cause->kind == BRAMAH_CAUSE_BIAS   ? BRAMAH_AUGMENTED_BIAS
                                      : cause->kind == BRAMAH_CAUSE_GAIN ? BRAMAH_AUGMENTED_GAIN
                                                                         : BRAMAH_AUGMENTED_DELAY;
  const uint64_t steps = f->progress.report.predictions;
  double rate = 0.0;
  if (cause->kind == BRAMAH_CAUSE_DELAY && steps >= (uint64_t)(cause->lag_ns / f->plant.step_ns))
    rate = bramah__sensor_innovation(&f->sensor[i], bramah__prediction(f, i),
                                     past(f, steps - (uint64_t)(cause->lag_ns / f->plant.step_ns))[i]) /
           (1e-9 * (double)cause->lag_ns);
  *D = bramah__sensor_by_error(f, i, error, rate);
  return BRAMAH_OK;
}

/* A sample of variance S, of which `rest` is left, into one bank: `shown` [m] of the sensor itself, `gain` [n] what is fused of
 * it. U [m] is scratch. */
static void sample_bank(bramah_filter *f, size_t b, const double *restrict H, double rest, double S,
                        const double *restrict shown, const double *restrict gain, double *restrict U)
{
  const size_t n = f->n, m = f->n_causes;
  double *restrict V = f->sensitivity + b * n * m, *restrict information = f->score_information + b * m * m,
                   *restrict score = f->score + b * m;
  memcpy(U, shown, m * sizeof *U);
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < m && H[k] != 0.0; j++) U[j] += H[k] * V[k * m + j];
  f->score_sums[2 * b] += rest * rest / S;
  f->score_sums[2 * b + 1] += 1.0;
  for (size_t j = 0; j < m; j++) {
    const double part = U[j] / S;
    score[j] += part * rest;
    for (size_t k = 0; k <= j && part != 0.0; k++) information[j * m + k] += part * U[k];
  }
  for (size_t k = 0; k < n; k++)
    for (size_t j = 0; j < m && gain[k] != 0.0; j++) V[k * m + j] -= gain[k] * U[j];
}

bramah_status bramah__scores_sample(bramah_filter *f, size_t i, const double *PH, double rest, double S,
                                    bramah_diag *diag)
{
  const size_t n = f->n, m = f->n_causes;
  const unsigned char *held = f->considered;
  double *D = f->work.causes, *U = D + m, *gain = U + m;
  for (size_t j = 0; j < m; j++) {
    const bramah_status status = direct(f, i, j, &D[j], diag);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t k = 0; k < n; k++) gain[k] = f->innovation[i].accepted && !(held && held[k]) ? PH[k] / S : 0.0;
  for (size_t b = 0; b < f->n_banks; b++)
    if (bank_runs(f, b)) sample_bank(f, b, f->H + i * n, rest, S, D, gain, U);
  return BRAMAH_OK;
}

/* ---- results ---- */

bramah_filter_scores bramah_filter_get_scores(const bramah_filter *f, size_t bank)
{
  const size_t m = f->n_causes;
  if (bank >= f->n_banks) return (bramah_filter_scores){.n = 0};
  return (bramah_filter_scores){.n = m,
                                .cause = f->cause,
                                .score = f->score + bank * m,
                                .information = f->score_information + bank * m * m,
                                .chi_square = f->score_sums[2 * bank],
                                .samples = f->score_sums[2 * bank + 1]};
}

void bramah_filter_restart_scores(bramah_filter *f, size_t bank)
{
  const size_t n = f->n, m = f->n_causes;
  if (bank >= f->n_banks) return;
  memset(f->sensitivity + bank * n * m, 0, n * m * sizeof(double));
  memset(f->score + bank * m, 0, m * sizeof(double));
  memset(f->score_information + bank * m * m, 0, m * m * sizeof(double));
  f->score_sums[2 * bank] = f->score_sums[2 * bank + 1] = 0.0;
  f->score_runs[bank] = 1;
}
