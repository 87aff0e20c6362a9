/* SPDX-License-Identifier: MIT */
/* Score tests: which cause would explain the innovations. Beside the filter goes, for each cause j of size
 * theta_j that it does not estimate, the derivative V_j = de/dtheta_j of its error:
 *
 *   prediction   V = F V + G                        G = df/dtheta, of a parameter of the plant
 *   sample       U = H V + D                        D = dy/dtheta: what the sensor itself shows of it
 *                score += U nu / S, information += U' U / S
 *   fused        V = V - K U
 *
 * Source: B. Friedland, "Treatment of bias in recursive filtering", IEEE Trans. AC 14 (1969), whose estimate of a
 * bias theta = score / information is; information^-1/2 is its standard deviation and score^2 / information
 * what it explains of the sum of nu^2 / S. */
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

static int is_augmented(const bramah_filter *f, bramah_cause_kind kind, size_t target)
{
  for (size_t i = 0; i < f->n_augmented; i++) {
    if ((int)f->augmented[i].kind == (int)kind && f->self_state[i].target == target) return 1;
  }
  return 0;
}

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
    if (is_augmented(f, BRAMAH_CAUSE_PARAMETER, p)) continue;
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
    if (!is_augmented(f, BRAMAH_CAUSE_BIAS, i)) f->cause[f->n_causes++] = cause;
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
  bramah__multiply(n, n, m, f->F, f->sensitivity, f->work.causes);
  memcpy(f->sensitivity, f->work.causes, n * m * sizeof(double));
  for (size_t j = 0; j < m; j++) {
    if (f->cause[j].kind != BRAMAH_CAUSE_PARAMETER) continue;
    for (size_t r = 0; r < f->n_plant; r++)
      f->sensitivity[r * m + j] += f->work.G[r * f->n_par + f->cause_column[j]];
  }
}

void bramah__scores_rebase(bramah_filter *f, const double *T)
{
  bramah__multiply(f->n, f->n, f->n_causes, T, f->sensitivity, f->work.causes);
  memcpy(f->sensitivity, f->work.causes, f->n * f->n_causes * sizeof(double));
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

bramah_status bramah__scores_sample(bramah_filter *f, size_t i, double rest, double S,
                                    const unsigned char *held, bramah_diag *diag)
{
  const size_t n = f->n, m = f->n_causes;
  const double *H = f->H + i * n;
  double *U = f->work.causes, *PH = U + m;
  for (size_t j = 0; j < m; j++) {
    const bramah_status status = direct(f, i, j, &U[j], diag);
    if (status != BRAMAH_OK) return status;
    for (size_t k = 0; k < n; k++) U[j] += H[k] * f->sensitivity[k * m + j];
  }
  f->score_sums[0] += rest * rest / S;
  f->score_sums[1] += 1.0;
  for (size_t j = 0; j < m; j++) {
    f->score[j] += U[j] * rest / S;
    for (size_t k = 0; k <= j; k++) f->score_information[j * m + k] += U[j] * U[k] / S;
  }
  if (!f->innovation[i].accepted) return BRAMAH_OK;

  if (f->square_root) {
    bramah__apply_transposed(n, n, f->S, H, PH + n);
    bramah__apply(n, n, f->S, PH + n, PH);
  } else {
    bramah__apply(n, n, f->P, H, PH);
  }
  for (size_t k = 0; k < n; k++) {
    if (held && held[k]) continue;
    for (size_t j = 0; j < m; j++) f->sensitivity[k * m + j] -= PH[k] / S * U[j];
  }
  return BRAMAH_OK;
}

/* ---- results ---- */

bramah_filter_scores bramah_filter_get_scores(const bramah_filter *f)
{
  return (bramah_filter_scores){.n = f->n_causes,
                                .cause = f->cause,
                                .score = f->score,
                                .information = f->score_information,
                                .chi_square = f->score_sums[0],
                                .samples = f->score_sums[1]};
}

void bramah_filter_restart_scores(bramah_filter *f)
{
  memset(f->sensitivity, 0, f->n * f->n_causes * sizeof(double));
  memset(f->score, 0, f->n_causes * sizeof(double));
  memset(f->score_information, 0, f->n_causes * f->n_causes * sizeof(double));
  f->score_sums[0] = f->score_sums[1] = 0.0;
}
