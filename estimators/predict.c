/* SPDX-License-Identifier: MIT */
/* Prediction: the plant makes its step, the covariance follows (dissertation 3.1-3.4). */
#include "estimators/filter_internal.h"
#include "estimators/transition.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* Derivative of the independent accelerations by the parameters in use, by differences. */
static bramah_status accelerations_by_parameters(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status = f->n_par ? f->plant.accelerations(f->plant.self, f->zdd, diag) : BRAMAH_OK;
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    double *moved = f->zdd + f->nf;
    const double value = f->plant.parameter(f->plant.self, f->par[j]);
    f->plant.save(f->plant.self, f->row_snap);
    status = f->plant.set_parameter(f->plant.self, f->par[j], value + f->par_step[j], diag);
    if (status == BRAMAH_OK) status = f->plant.accelerations(f->plant.self, moved, diag);
    for (size_t r = 0; r < f->nf; r++) f->Ap[r * f->n_par + j] = (moved[r] - f->zdd[r]) / f->par_step[j];
    f->plant.restore(f->plant.self, f->row_snap);
  }
  return status;
}

static bramah_status paper(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status;
  if (f->transition == BRAMAH_TRANSITION_PAPER_EXACT) {
    status = f->plant.acceleration_derivative(f->plant.self, f->A, f->n_par, f->par, f->Ap, diag);
  } else {
    status = bramah_plant_acceleration_jacobian(&f->plant, f->A, f->row_snap, f->dx_scratch, f->zdd, diag);
    if (status == BRAMAH_OK) status = accelerations_by_parameters(f, diag);
  }
  if (status != BRAMAH_OK) return status;
  bramah__transition_paper(f->nf, f->np, bramah__step_seconds(f), f->A, f->Fe);
  bramah__transition_paper_parameters(f->nf, f->np, f->n_par, bramah__step_seconds(f), f->Ap, f->G);
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
  memset(f->dx_scratch, 0, f->ne * sizeof(double));
  f->dx_scratch[k] = by;
  f->plant.restore(f->plant.self, f->snap);
  const bramah_status status = f->plant.inject(f->plant.self, f->dx_scratch, diag);
  return status == BRAMAH_OK ? step_from(f, x, diag) : status;
}

static bramah_status differenced_step(bramah_filter *f, bramah_diag *diag)
{
  double *above = f->coordinates, *below = above + f->ne;
  bramah_status status = BRAMAH_OK;
  f->plant.save(f->plant.self, f->snap);
  for (size_t k = 0; k < f->ne && status == BRAMAH_OK; k++) {
    const double by = bramah_plant_difference_step(&f->plant, k);
    status = displaced_step(f, k, by, above, diag);
    if (status == BRAMAH_OK) status = displaced_step(f, k, -by, below, diag);
    for (size_t r = 0; r < f->ne; r++) f->Fe[r * f->ne + k] = (above[r] - below[r]) / (2.0 * by);
  }
  f->plant.restore(f->plant.self, f->snap);
  return status;
}

static bramah_status differenced_parameters(bramah_filter *f, bramah_diag *diag)
{
  double *above = f->coordinates, *below = above + f->ne;
  bramah_status status = BRAMAH_OK;
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    const double value = f->plant.parameter(f->plant.self, f->par[j]);
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      const double by = side ? f->par_step[j] : -f->par_step[j];
      status = f->plant.set_parameter(f->plant.self, f->par[j], value + by, diag);
      if (status == BRAMAH_OK) status = step_from(f, side ? above : below, diag);
      f->plant.restore(f->plant.self, f->snap);
    }
    for (size_t r = 0; r < f->ne; r++)
      f->G[r * f->n_par + j] = (above[r] - below[r]) / (2.0 * f->par_step[j]);
  }
  return status;
}

static bramah_status step_and_derive(bramah_filter *f, bramah_diag *diag)
{
  if (f->plant.step_transition)
    return f->plant.step_transition(f->plant.self, f->Fe, f->resolvent ? f->N : NULL, f->n_par, f->par, f->G,
                                    diag);
  bramah_status status = differenced_step(f, diag);
  if (status == BRAMAH_OK) status = differenced_parameters(f, diag);
  return status == BRAMAH_OK ? f->plant.step(f->plant.self, diag) : status;
}

bramah_status bramah__transition_and_step(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n, ne = f->ne;
  const bramah_status status =
      f->transition == BRAMAH_TRANSITION_STEP ? step_and_derive(f, diag) : paper(f, diag);
  if (status != BRAMAH_OK) return status;
  memset(f->F, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(f->F + r * n, f->Fe + r * ne, ne * sizeof(double));
  bramah__augmented_transition(f);
  return BRAMAH_OK;
}

/* ---- covariance ---- */

static void propagate(bramah_filter *f)
{
  const size_t n = f->n, nq = f->nq;
  if (f->square_root) {
    bramah__multiply(n, n, n, f->F, f->S, f->work2);
    for (size_t r = 0; r < n; r++) {
      memcpy(f->work + r * (n + nq), f->work2 + r * n, n * sizeof(double));
      memcpy(f->work + r * (n + nq) + n, f->Gamma + r * nq, nq * sizeof(double));
    }
    bramah__lower_root(n, n + nq, f->work, f->S);
    bramah__refresh_covariance(f);
    return;
  }
  bramah__propagate(n, f->F, f->P, f->work);
  bramah__add_outer(n, nq, f->Gamma, f->P);
}

/* The plant now has other independent coordinates: P = T P T', F = T F, Gamma = T Gamma. */
static void follow_basis_change(bramah_filter *f)
{
  const size_t n = f->n, ne = f->ne;
  f->progress.rebased = 0;
  if (!f->plant.basis_change || !f->plant.basis_change(f->plant.self, f->T)) return;
  f->progress.rebased = 1;
  double *whole = f->work2;
  memset(whole, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(whole + r * n, f->T + r * ne, ne * sizeof(double));
  for (size_t k = ne; k < n; k++) whole[k * n + k] = 1.0;
  if (f->square_root) {
    bramah__multiply(n, n, n, whole, f->S, f->work);
    bramah__lower_root(n, n, f->work, f->S);
    bramah__refresh_covariance(f);
  } else {
    bramah__propagate(n, whole, f->P, f->work);
  }
  bramah__multiply(n, n, n, whole, f->F, f->work);
  memcpy(f->F, f->work, n * n * sizeof(double));
  bramah__multiply(n, n, f->nq, whole, f->Gamma, f->work);
  memcpy(f->Gamma, f->work, n * f->nq * sizeof(double));
}

static bramah_status advance(bramah_filter *f, bramah_diag *diag)
{
  bramah_status status = bramah__stated_noise_refresh(&f->plant, &f->stated, diag);
  if (status == BRAMAH_OK) status = bramah__transition_and_step(f, diag);
  if (status != BRAMAH_OK) return status;
  bramah__fill_noise(f);
  propagate(f);
  follow_basis_change(f);
  status = bramah__augmented_advance(f, diag);
  return status == BRAMAH_OK ? bramah__check_covariance(f, diag) : status;
}

void bramah__swap_matrices(bramah_filter *f)
{
  double *const F = f->F, *const Gamma = f->Gamma;
  f->F = f->F_spare, f->Gamma = f->Gamma_spare;
  f->F_spare = F, f->Gamma_spare = Gamma;
}

bramah_status bramah_filter_predict(bramah_filter *filter, bramah_diag *diag)
{
  bramah__keep(filter, filter->before);
  bramah__swap_matrices(filter);
  const bramah_status status = advance(filter, diag);
  if (status != BRAMAH_OK) {
    bramah__swap_matrices(filter);
    bramah__take_back(filter, filter->before, 1);
    bramah__clear_correction(filter);
    return status;
  }
  void *const last = filter->before;
  filter->before = filter->last;
  filter->last = last;
  memset(filter->shift, 0, filter->n * sizeof(double));
  filter->progress.has_last = 1;
  filter->progress.time_ns += filter->plant.step_ns;
  filter->progress.report.predictions++;
  return BRAMAH_OK;
}
