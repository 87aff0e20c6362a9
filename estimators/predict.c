/* SPDX-License-Identifier: MIT */
/* Prediction: the plant makes its step, the covariance follows (dissertation 3.1-3.4). */
#include "estimators/filter_internal.h"
#include "estimators/update.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

/* The transition of the papers (D 3.4), made of the derivatives of the independent accelerations. */
static bramah_status paper(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  bramah_status status;
  if (f->transition == BRAMAH_TRANSITION_KINEMATIC_EXACT) {
    status = plant->acceleration_derivative(plant->self, f->work.A, f->n_par, f->par, f->work.Ap, diag);
  } else {
    double *zdd = f->work.zdd, *moved = zdd + f->nf;
    status = bramah__plant_acceleration_jacobian(plant, f->work.A, f->work.row_snap, f->work.dx, zdd, diag);
    if (status == BRAMAH_OK && f->n_par) status = plant->accelerations(plant->self, zdd, diag);
    for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
      const double value = plant->parameter(plant->self, f->par[j]);
      plant->save(plant->self, f->work.row_snap);
      status = plant->set_parameter(plant->self, f->par[j], value + f->par_step[j], diag);
      if (status == BRAMAH_OK) status = plant->accelerations(plant->self, moved, diag);
      for (size_t r = 0; r < f->nf; r++) f->work.Ap[r * f->n_par + j] = (moved[r] - zdd[r]) / f->par_step[j];
      plant->restore(plant->self, f->work.row_snap);
    }
  }
  if (status != BRAMAH_OK) return status;
  bramah__kinematic_transition(f->nf, f->np, bramah__step_seconds(f), f->work.A, f->work.Fe);
  bramah__kinematic_parameters(f->nf, f->np, f->n_par, bramah__step_seconds(f), f->work.Ap, f->work.G);
  return plant->step(plant->self, diag);
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

/* Fe by the states and G by the parameters, then the step itself. */
static bramah_status differenced_step(bramah_filter *f, bramah_diag *diag)
{
  const bramah_plant *plant = &f->plant;
  double *above = f->work.coordinates, *below = above + f->ne;
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, f->work.snap);
  for (size_t k = 0; k < f->ne && status == BRAMAH_OK; k++) {
    const double by = bramah__plant_difference_step(plant, k);
    status = displaced_step(f, k, by, above, diag);
    if (status == BRAMAH_OK) status = displaced_step(f, k, -by, below, diag);
    bramah__plant_subtract(plant, above, below, above);
    for (size_t r = 0; r < f->ne; r++) f->work.Fe[r * f->ne + k] = above[r] / (2.0 * by);
  }
  plant->restore(plant->self, f->work.snap);
  for (size_t j = 0; j < f->n_par && status == BRAMAH_OK; j++) {
    const double value = plant->parameter(plant->self, f->par[j]);
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      const double by = side ? f->par_step[j] : -f->par_step[j];
      status = plant->set_parameter(plant->self, f->par[j], value + by, diag);
      if (status == BRAMAH_OK) status = step_from(f, side ? above : below, diag);
      plant->restore(plant->self, f->work.snap);
    }
    bramah__plant_subtract(plant, above, below, above);
    for (size_t r = 0; r < f->ne; r++) f->work.G[r * f->n_par + j] = above[r] / (2.0 * f->par_step[j]);
  }
  return status == BRAMAH_OK ? plant->step(plant->self, diag) : status;
}

static bramah_status transition_and_step(bramah_filter *f, bramah_diag *diag)
{
  const size_t n = f->n, ne = f->ne;
  bramah_status status;
  if (f->transition != BRAMAH_TRANSITION_STEP)
    status = paper(f, diag);
  else if (f->plant.step_transition)
    status = f->plant.step_transition(f->plant.self, f->work.Fe, f->resolvent ? f->work.N : NULL, f->n_par,
                                      f->par, f->work.G, diag);
  else
    status = differenced_step(f, diag);
  if (status != BRAMAH_OK) return status;
  memset(f->F, 0, n * n * sizeof(double));
  for (size_t r = 0; r < ne; r++) memcpy(f->F + r * n, f->work.Fe + r * ne, ne * sizeof(double));
  bramah__augmented_transition(f);
  return BRAMAH_OK;
}

/* ---- process noise ---- */

/* Gamma of the step whose N and G are in the filter: what the user states (process_noise.h), through the
 * resolvent where the plant has it; augmented states and noisy parameters. */
static void fill_noise(bramah_filter *f)
{
  const double h = bramah__step_seconds(f);
  const size_t nf = f->nf, np = f->np, nx = nf + np, nq = f->nq;
  memset(f->Gamma, 0, f->n * nq * sizeof(double));
  if (!f->resolvent) bramah__process_noise_columns(&f->noise, h, nq, f->Gamma);
  for (size_t r = 0; r < f->ne && f->resolvent; r++) {
    /* White noise on accelerations through the resolvent gives positions h^3/4; the h^3/12 that it misses of
     * their h^3/3 follows. */
    for (size_t b = 0; b < nf; b++) {
      double sum = 0.0;
      for (size_t k = 0; k < nf; k++) sum += f->work.N[r * nx + k] * f->noise.B_inverse[k * nf + b];
      f->Gamma[r * nq + 2 * b] = sqrt(h) * sum * f->noise.acceleration[b];
      if (r < nf)
        f->Gamma[r * nq + 2 * b + 1] =
            sqrt(h * h * h / 12.0) * f->noise.B_inverse[r * nf + b] * f->noise.acceleration[b];
    }
    for (size_t i = 0; i < np; i++)
      f->Gamma[r * nq + 2 * nf + i] = sqrt(h) * f->noise.pressure[i] * f->work.N[r * nx + nf + i];
  }
  bramah__augmented_noise(f, 2 * nf + np);
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
