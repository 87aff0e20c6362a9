/* SPDX-License-Identifier: MIT */
/* Uncertainty as the user states it, in coordinates of her choice, brought to the error state: initial covariance and
 * the noise of each step. Source: dissertation 3.18. */
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/linalg/dense.h"

#include <math.h>
#include <string.h>

static double square(double x) { return x * x; }

/* Row by the error state of what standard deviations of output i mean, into f->term. */
static bramah_status noise_row(bramah_filter *f, size_t i, bramah_diag *diag)
{
  if (f->plant.noise_row) {
    const bramah_status status = f->plant.noise_row(f->plant.self, i, f->term);
    if (status != BRAMAH_E_UNSUPPORTED) return status;
  }
  return bramah_plant_output_row(&f->plant, i, f->term, f->row_snap, f->dx_scratch, diag);
}

bramah_status bramah__refresh_basis(bramah_filter *f, bramah_diag *diag)
{
  const size_t nf = f->nf;
  for (size_t r = 0; r < nf; r++) {
    const bramah_status status = noise_row(f, f->basis[r], diag);
    if (status != BRAMAH_OK) return status;
    memcpy(f->B + r * nf, f->term, nf * sizeof(double));
  }
  memcpy(f->LU, f->B, nf * nf * sizeof(double));
  if (bramah__lu_factor(nf, f->LU, f->pivot))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "basis",
                        "the coordinates in which the noise is given do not determine the motion here");
  for (size_t k = 0; k < nf; k++) {
    double *column = f->zdd;
    for (size_t r = 0; r < nf; r++) column[r] = r == k ? 1.0 : 0.0;
    bramah__lu_solve(nf, f->LU, f->pivot, column);
    for (size_t r = 0; r < nf; r++) f->B_inverse[r * nf + k] = column[r];
  }
  return BRAMAH_OK;
}

bramah_status bramah__take_basis(bramah_filter *f, const size_t *basis, bramah_diag *diag)
{
  for (size_t r = 0; r < f->nf; r++) {
    const char *name = f->plant.state_name(f->plant.self, r);
    const long own = basis ? (long)basis[r] : bramah_plant_find_output(&f->plant, name);
    if (own < 0 || (size_t)own + 1 >= f->plant.n_output)
      return bramah__fail(diag, BRAMAH_E_REFERENCE, name,
                          "the plant has no position output of this name followed by its rate");
    bramah_output_info position, rate;
    f->plant.output_info(f->plant.self, (size_t)own, &position);
    f->plant.output_info(f->plant.self, (size_t)own + 1, &rate);
    if (position.kind != BRAMAH_OUTPUT_POSITION || rate.kind != BRAMAH_OUTPUT_RATE)
      return bramah__fail(diag, BRAMAH_E_VALUE, position.name,
                          "the basis must name positions that are followed by their rates");
    f->basis[r] = (size_t)own;
  }
  return bramah__refresh_basis(f, diag);
}

void bramah__start_covariance(bramah_filter *f, const bramah_filter_options *o)
{
  const size_t n = f->n, nf = f->nf;
  const double *sigma[2] = {o->position_sigma, o->velocity_sigma};
  memset(f->P_initial, 0, n * n * sizeof(double));
  for (size_t block = 0; block < 2; block++)
    for (size_t r = 0; r < nf; r++)
      for (size_t k = 0; k < nf; k++) {
        double sum = 0.0;
        for (size_t b = 0; b < nf; b++)
          sum += f->B_inverse[r * nf + b] * square(sigma[block][b]) * f->B_inverse[k * nf + b];
        f->P_initial[(block * nf + r) * n + block * nf + k] = sum;
      }
  for (size_t i = 2 * nf; i < f->ne; i++) f->P_initial[i * n + i] = square(o->pressure_sigma[i - 2 * nf]);
}

/* Columns 2 b and 2 b + 1: white noise on acceleration b of the basis by D 3.18, whose factor is [sqrt(h^3/3), 0;
 * sqrt(3 h)/2, sqrt(h)/2]. */
static void published_accelerations(bramah_filter *f, double h)
{
  const double l11 = sqrt(h * h * h / 3.0), l21 = 0.5 * sqrt(3.0 * h), l22 = 0.5 * sqrt(h);
  for (size_t b = 0; b < f->nf; b++)
    for (size_t r = 0; r < f->nf; r++) {
      const double g = f->B_inverse[r * f->nf + b] * f->acceleration_noise[b];
      f->Gamma[r * f->nq + 2 * b] = l11 * g;
      f->Gamma[(f->nf + r) * f->nq + 2 * b] = l21 * g;
      f->Gamma[(f->nf + r) * f->nq + 2 * b + 1] = l22 * g;
    }
}

/* The same noise through the resolvent, which gives positions h^3/4; the h^3/12 that it misses of their h^3/3 follows. */
static void resolvent_accelerations(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t b = 0; b < nf; b++)
    for (size_t r = 0; r < f->ne; r++) {
      double sum = 0.0;
      for (size_t k = 0; k < nf; k++) sum += f->N[r * nx + k] * f->B_inverse[k * nf + b];
      f->Gamma[r * f->nq + 2 * b] = sqrt(h) * sum * f->acceleration_noise[b];
      if (r < nf)
        f->Gamma[r * f->nq + 2 * b + 1] =
            sqrt(h * h * h / 12.0) * f->B_inverse[r * nf + b] * f->acceleration_noise[b];
    }
}

static void pressure_columns(bramah_filter *f, double h)
{
  const size_t nf = f->nf, nx = nf + f->np;
  for (size_t i = 0; i < f->np; i++) {
    const double sigma = f->pressure_noise[i] * sqrt(h);
    if (!f->resolvent) {
      f->Gamma[(2 * nf + i) * f->nq + 2 * nf + i] = sigma;
      continue;
    }
    for (size_t r = 0; r < f->ne; r++) f->Gamma[r * f->nq + 2 * nf + i] = sigma * f->N[r * nx + nf + i];
  }
}

static void augmented_columns(bramah_filter *f, size_t column)
{
  for (size_t i = 0; i < f->n_augmented; i++) {
    const bramah__augmented *own = &f->own[i];
    double *row = f->Gamma + own->state * f->nq;
    row[column++] = own->noise[0];
    if (f->augmented[i].order != 2) continue;
    row[f->nq + column - 1] = own->noise[1];
    row[f->nq + column++] = own->noise[2];
  }
  for (size_t j = 0; j < f->n_par_noise; j++, column++) {
    const size_t par = f->n_par - f->n_par_noise + j;
    for (size_t r = 0; r < f->ne; r++)
      f->Gamma[r * f->nq + column] =
          f->G[r * f->n_par + par] * f->par_noise[j] / sqrt(bramah__step_seconds(f));
  }
}

void bramah__fill_noise(bramah_filter *f)
{
  const double h = bramah__step_seconds(f);
  memset(f->Gamma, 0, f->n * f->nq * sizeof(double));
  if (f->resolvent)
    resolvent_accelerations(f, h);
  else
    published_accelerations(f, h);
  pressure_columns(f, h);
  augmented_columns(f, 2 * f->nf + f->np);
}
