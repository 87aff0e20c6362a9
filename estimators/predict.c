/* SPDX-License-Identifier: MIT */
/* Prediction: the plant makes its step, the covariance follows (dissertation 3.1-3.4). */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Derivative of the independent accelerations by the parameters in use, by differences. */
static bramah_status accelerations_by_parameters(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status = f->n_par ? f->plant.accelerations(f->plant.self, f->work.zdd, diag) : BRAMAH_OK;
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    double *moved = f->work.zdd + f->nf;
    const double value = f->plant.parameter(f->plant.self, f->par[j]);
    f->plant.save(f->plant.self, f->work.row_snap);
    status = f->plant.set_parameter(f->plant.self, f->par[j], value + f->par_step[j], diag);
    if (status == BRAMAH_OK) status = f->plant.accelerations(f->plant.self, moved, diag);
    for (size_t r = 0; r < f->nf; r++)
      f->work.Ap[r * f->n_par + j] = (moved[r] - f->work.zdd[r]) / f->par_step[j];
    f->plant.restore(f->plant.self, f->work.row_snap);
  }
  return status;
}

static bramah_status paper(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status;
  if (f->transition == BRAMAH_TRANSITION_PAPER_EXACT) {
    status = f->plant.acceleration_derivative(f->plant.self, f->work.A, f->n_par, f->par, f->work.Ap, diag);
  } else {
    status = bramah_plant_acceleration_jacobian(&f->plant, f->work.A, f->work.row_snap, f->work.dx,
                                                f->work.zdd, diag);
    if (status == BRAMAH_OK) status = accelerations_by_parameters(f, diag);
  }
  if (status != BRAMAH_OK) return status;
  bramah__paper_transition(f->nf, f->np, bramah__step_seconds(f), f->work.A, f->work.Fe);
  bramah__paper_parameters(f->nf, f->np, f->n_par, bramah__step_seconds(f), f->work.Ap, f->work.G);
  return f->plant.step(f->plant.self, diag);
}

/* ---- derivative of the step by differences of whole steps ---- */

static bramah_status step_from(bramah_filter *f, double *x, bramah_diag *diag)
{
  const bramah_status status = f->plant.step(f->plant.self, diag);
  bramah_plant_coordinates(&f->plant, x);
  return status;
}

static bramah_status displaced_step(bramah_filter *f, size_t k, double by, double *x, bramah_diag *diag)
{
  memset(f->work.dx, 0, f->ne * sizeof(double));
  f->work.dx[k] = by;
  f->plant.restore(f->plant.self, f->work.snap);
  const bramah_status status = f->plant.inject(f->plant.self, f->work.dx, diag);
  return status == BRAMAH_OK ? step_from(f, x, diag) : status;
}

static bramah_status differenced_step(bramah_filter *f, bramah_diag *diag)
{
  double *above = f->work.coordinates, *below = above + f->ne;
  bramah_status status = BRAMAH_OK;
  f->plant.save(f->plant.self, f->work.snap);
  for (size_t k = 0; k < f->ne && status == BRAMAH_OK; k++) {
    const double by = bramah_plant_difference_step(&f->plant, k);
    status = displaced_step(f, k, by, above, diag);
    if (status == BRAMAH_OK) status = displaced_step(f, k, -by, below, diag);
    bramah_plant_subtract(&f->plant, above, below, above);
    for (size_t r = 0; r < f->ne; r++) f->work.Fe[r * f->ne + k] = above[r] / (2.0 * by);
  }
  f->plant.restore(f->plant.self, f->work.snap);
  return status;
}

static bramah_status differenced_parameters(bramah_filter *f, bramah_diag *diag)
{
  double *above = f->work.coordinates, *below = above + f->ne;
  bramah_status status = BRAMAH_OK;
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    const double value = f->plant.parameter(f->plant.self, f->par[j]);
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      const double by = side ? f->par_step[j] : -f->par_step[j];
      status = f->plant.set_parameter(f->plant.self, f->par[j], value + by, diag);
      if (status == BRAMAH_OK) status = step_from(f, side ? above : below, diag);
      f->plant.restore(f->plant.self, f->work.snap);
    }
    bramah_plant_subtract(&f->plant, above, below, above);
    for (size_t r = 0; r < f->ne; r++) f->work.G[r * f->n_par + j] = above[r] / (2.0 * f->par_step[j]);
  }
  return status;
}

static bramah_status step_and_derive(bramah_filter *f, bramah_diag *diag)
{
  if (f->plant.step_transition)
    return f->plant.step_transition(f->plant.self, f->work.Fe, f->resolvent ? f->work.N : NULL, f->n_par,
                                    f->par, f->work.G, diag);
  bramah_status status = differenced_step(f, diag);
  if (status == BRAMAH_OK) status = differenced_parameters(f, diag);
  return status == BRAMAH_OK ? f->plant.step(f->plant.self, diag) : status;
}

static bramah_status transition_and_step(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n, ne = f->ne;
  const bramah_status status =
      f->transition == BRAMAH_TRANSITION_STEP ? step_and_derive(f, diag) : paper(f, diag);
  if (status != BRAMAH_OK) return status;
  memset(f->F, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(f->F + r * n, f->work.Fe + r * ne, ne * sizeof(double));
  bramah__augmented_transition(f);
  return BRAMAH_OK;
}

/* ---- process noise ---- */

/* White noise on accelerations through the resolvent, which gives positions h^3/4; the h^3/12 that it misses
 * of their h^3/3 follows. */
static void resolvent_accelerations(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t b = 0; b < nf; b++)
    for (size_t r = 0; r < f->ne; r++) {
      double sum = 0.0;
      for (size_t k = 0; k < nf; k++) sum += f->work.N[r * nx + k] * f->noise.B_inverse[k * nf + b];
      f->Gamma[r * f->nq + 2 * b] = sqrt(h) * sum * f->noise.acceleration[b];
      if (r < nf)
        f->Gamma[r * f->nq + 2 * b + 1] =
            sqrt(h * h * h / 12.0) * f->noise.B_inverse[r * nf + b] * f->noise.acceleration[b];
    }
}

static void resolvent_first_order(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t i = 0; i < f->np; i++)
    for (size_t r = 0; r < f->ne; r++)
      f->Gamma[r * f->nq + 2 * nf + i] = sqrt(h) * f->noise.pressure[i] * f->work.N[r * nx + nf + i];
}

/* Gamma of the step whose N and G are in the filter: what the user states (process_noise.h), through the
 * resolvent where the plant has it; augmented states and noisy parameters. */
static void fill_noise(bramah_filter *f)
{
  const double h = bramah__step_seconds(f);
  memset(f->Gamma, 0, f->n * f->nq * sizeof(double));
  if (f->resolvent) {
    resolvent_accelerations(f, h);
    resolvent_first_order(f, h);
  } else {
    bramah__process_noise_columns(&f->noise, h, f->nq, f->Gamma);
  }
  bramah__augmented_noise(f, 2 * f->nf + f->np);
}

/* ---- covariance ---- */

static void propagate(bramah_filter *f)
{
  const size_t n = f->n, nq = f->nq;
  if (f->square_root) {
    bramah__multiply(n, n, n, f->F, f->S, f->work.square);
    for (size_t r = 0; r < n; r++) {
      memcpy(f->work.wide + r * (n + nq), f->work.square + r * n, n * sizeof(double));
      memcpy(f->work.wide + r * (n + nq) + n, f->Gamma + r * nq, nq * sizeof(double));
    }
    bramah__lower_root(n, n + nq, f->work.wide, f->S);
    bramah__refresh_covariance(f);
    return;
  }
  bramah__propagate(n, f->F, f->P, f->work.wide);
  bramah__add_outer(n, nq, f->Gamma, f->P);
}

/* The plant now has other independent coordinates: P = T P T', F = T F, Gamma = T Gamma. */
static void follow_basis_change(bramah_filter *f)
{
  const size_t n = f->n, ne = f->ne;
  f->progress.rebased = 0;
  if (!f->plant.basis_change || !f->plant.basis_change(f->plant.self, f->work.T)) return;
  f->progress.rebased = 1;
  double *whole = f->work.square;
  memset(whole, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(whole + r * n, f->work.T + r * ne, ne * sizeof(double));
  for (size_t k = ne; k < n; k++) whole[k * n + k] = 1.0;
  if (f->square_root) {
    bramah__multiply(n, n, n, whole, f->S, f->work.wide);
    bramah__lower_root(n, n, f->work.wide, f->S);
    bramah__refresh_covariance(f);
  } else {
    bramah__propagate(n, whole, f->P, f->work.wide);
  }
  bramah__multiply(n, n, n, whole, f->F, f->work.wide);
  memcpy(f->F, f->work.wide, n * n * sizeof(double));
  bramah__multiply(n, n, f->nq, whole, f->Gamma, f->work.wide);
  memcpy(f->Gamma, f->work.wide, n * f->nq * sizeof(double));
}

static bramah_status advance(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status = bramah__process_noise_refresh(&f->plant, &f->noise, diag);
  if (status == BRAMAH_OK) status = transition_and_step(f, diag);
  if (status != BRAMAH_OK) return status;
  fill_noise(f);
  propagate(f);
  follow_basis_change(f);
  status = bramah__augmented_advance(f, diag);
  return status == BRAMAH_OK ? bramah__check_covariance(f, diag) : status;
}

bramah_status bramah_filter_predict(bramah_filter *f, bramah_diag *diag)
{
  bramah__keep(f, f->snapshot.call_start);
  bramah__swap_matrices(f);
  const bramah_status status = advance(f, diag);
  if (status != BRAMAH_OK) {
    bramah__swap_matrices(f);
    bramah__take_back(f, f->snapshot.call_start, 1);
    bramah__clear_correction(f);
    return status;
  }
  void *const last = f->snapshot.call_start;
  f->snapshot.call_start = f->snapshot.last_step;
  f->snapshot.last_step = last;
  memset(f->accumulated_correction, 0, f->n * sizeof(double));
  f->progress.has_last = 1;
  f->progress.time_ns += f->plant.step_ns;
  f->progress.report.predictions++;
  return BRAMAH_OK;
}
