/* SPDX-License-Identifier: MIT */
#include "estimators/basis_noise.h"
#include "lib/base/diag.h"
#include "lib/linalg/dense.h"

#include <math.h>
#include <string.h>

void bramah__basis_noise_layout(const bramah_plant *plant, bramah__arena *arena, bramah__basis_noise *noise)
{
  const size_t nf = plant->n_position, np = plant->n_pressure, n = 2 * nf + np;
  noise->nf = nf;
  noise->np = np;
  noise->h = (double)plant->step_ns * 1e-9;
  noise->basis = BRAMAH__TAKE(arena, size_t, nf);
  noise->acceleration = BRAMAH__TAKE(arena, double, nf);
  noise->pressure = BRAMAH__TAKE(arena, double, np);
  noise->B = BRAMAH__TAKE(arena, double, nf *nf);
  noise->B_inverse = BRAMAH__TAKE(arena, double, nf *nf);
  noise->G = BRAMAH__TAKE(arena, double, nf *nf);
  noise->LU = BRAMAH__TAKE(arena, double, nf *nf);
  noise->column = BRAMAH__TAKE(arena, double, nf);
  noise->row = BRAMAH__TAKE(arena, double, n);
  noise->dx = BRAMAH__TAKE(arena, double, n);
  noise->pivot = BRAMAH__TAKE(arena, int, nf);
  noise->snap = bramah__arena_take(arena, plant->snapshot_size, 1);
}

/* ---- coordinates ---- */

static bramah_status row_of(const bramah_plant *plant, bramah__basis_noise *noise, size_t output,
                            bramah_diag *diag)
{
  if (plant->noise_row) {
    const bramah_status own = plant->noise_row(plant->self, output, noise->row);
    if (own != BRAMAH_E_UNSUPPORTED) return own;
  }
  return bramah_plant_output_row(plant, output, noise->row, noise->snap, noise->dx, diag);
}

static bramah_status invert(bramah__basis_noise *noise, bramah_diag *diag)
{
  const size_t nf = noise->nf;
  memcpy(noise->LU, noise->B, nf * nf * sizeof(double));
  if (bramah__lu_factor(nf, noise->LU, noise->pivot))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "basis",
                        "the coordinates in which the noise is given do not determine the motion here");
  for (size_t k = 0; k < nf; k++) {
    for (size_t r = 0; r < nf; r++) noise->column[r] = r == k ? 1.0 : 0.0;
    bramah__lu_solve(nf, noise->LU, noise->pivot, noise->column);
    for (size_t r = 0; r < nf; r++) noise->B_inverse[r * nf + k] = noise->column[r];
  }
  return BRAMAH_OK;
}

/* G = B^-1 diag(variance) B^-T */
static void carry(bramah__basis_noise *noise, const double *variance)
{
  const size_t nf = noise->nf;
  for (size_t r = 0; r < nf; r++)
    for (size_t k = 0; k < nf; k++) {
      double sum = 0.0;
      for (size_t b = 0; b < nf; b++)
        sum += noise->B_inverse[r * nf + b] * variance[b] * noise->B_inverse[k * nf + b];
      noise->G[r * nf + k] = sum;
    }
}

static bramah_status refresh_map(const bramah_plant *plant, bramah__basis_noise *noise, bramah_diag *diag)
{
  for (size_t r = 0; r < noise->nf; r++) {
    const bramah_status status = row_of(plant, noise, noise->basis[r], diag);
    if (status != BRAMAH_OK) return status;
    memcpy(noise->B + r * noise->nf, noise->row, noise->nf * sizeof(double));
  }
  return invert(noise, diag);
}

bramah_status bramah__basis_noise_refresh(const bramah_plant *plant, bramah__basis_noise *noise,
                                          bramah_diag *diag)
{
  const bramah_status status = refresh_map(plant, noise, diag);
  if (status == BRAMAH_OK) carry(noise, noise->acceleration);
  return status;
}

static bramah_status take_basis(const bramah_plant *plant, const size_t *basis, bramah__basis_noise *noise,
                                bramah_diag *diag)
{
  for (size_t r = 0; r < noise->nf; r++) {
    const char *name = plant->state_name(plant->self, r);
    const long own = basis ? (long)basis[r] : bramah_plant_find_output(plant, name);
    if (own < 0 || (size_t)own + 1 >= plant->n_output)
      return bramah__fail(diag, BRAMAH_E_REFERENCE, name,
                          "the plant has no position output of this name followed by its rate");
    noise->basis[r] = (size_t)own;
  }
  return refresh_map(plant, noise, diag);
}

/* ---- figures ---- */

static bramah_status check(const bramah_plant *plant, size_t state, double sigma, int zero_allowed,
                           const char *what, bramah_diag *diag)
{
  if (isfinite(sigma) && (sigma > 0.0 || (zero_allowed && sigma == 0.0))) return BRAMAH_OK;
  bramah__fail(diag, BRAMAH_E_VALUE, plant->state_name(plant->self, state), what);
  bramah__add_text(diag, zero_allowed ? " must not be negative" : " must be positive");
  return BRAMAH_E_VALUE;
}

static bramah_status check_all(const bramah_plant *plant, size_t first, size_t n, const double *sigma,
                               int zero_allowed, const char *what, bramah_diag *diag)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < n && status == BRAMAH_OK; i++)
    status = check(plant, first + i, sigma[i], zero_allowed, what, diag);
  return status;
}

static bramah_status check_options(const bramah_plant *plant, const bramah_filter_options *o,
                                   bramah_diag *diag)
{
  const size_t nf = plant->n_position, np = plant->n_pressure;
  bramah_status status =
      check_all(plant, 0, nf, o->position_sigma, 0, "the initial standard deviation", diag);
  if (status == BRAMAH_OK)
    status = check_all(plant, nf, nf, o->velocity_sigma, 0, "the initial standard deviation", diag);
  if (status == BRAMAH_OK)
    status = check_all(plant, 2 * nf, np, o->pressure_sigma, 0, "the initial standard deviation", diag);
  if (status == BRAMAH_OK)
    status = check_all(plant, nf, nf, o->acceleration_noise, 1, "the acceleration noise", diag);
  if (status == BRAMAH_OK)
    status = check_all(plant, 2 * nf, np, o->pressure_noise, 1, "the pressure noise", diag);
  return status;
}

static double square(double x) { return x * x; }

static void start_covariance(bramah__basis_noise *noise, const bramah_filter_options *o, double *P)
{
  const size_t nf = noise->nf, n = 2 * nf + noise->np;
  const double *sigma[2] = {o->position_sigma, o->velocity_sigma};
  memset(P, 0, n * n * sizeof *P);
  for (size_t block = 0; block < 2; block++) {
    for (size_t i = 0; i < nf; i++) noise->column[i] = square(sigma[block][i]);
    carry(noise, noise->column);
    for (size_t r = 0; r < nf; r++)
      for (size_t k = 0; k < nf; k++) P[(block * nf + r) * n + block * nf + k] = noise->G[r * nf + k];
  }
  for (size_t i = 2 * nf; i < n; i++) P[i * n + i] = square(o->pressure_sigma[i - 2 * nf]);
}

bramah_status bramah__basis_noise_init(const bramah_plant *plant, const bramah_filter_options *options,
                                       bramah__basis_noise *noise, double *P, bramah_diag *diag)
{
  bramah_status status = check_options(plant, options, diag);
  if (status == BRAMAH_OK) status = take_basis(plant, options->basis, noise, diag);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < noise->nf; i++) noise->acceleration[i] = square(options->acceleration_noise[i]);
  for (size_t i = 0; i < noise->np; i++) noise->pressure[i] = square(options->pressure_noise[i]);
  start_covariance(noise, options, P);
  return BRAMAH_OK;
}

void bramah__basis_noise_add(const bramah__basis_noise *noise, double *P)
{
  const size_t nf = noise->nf, n = 2 * nf + noise->np;
  const double h = noise->h, h2 = h * h / 2.0, h3 = h * h * h / 3.0;
  for (size_t r = 0; r < nf; r++)
    for (size_t k = 0; k < nf; k++) {
      const double g = noise->G[r * nf + k];
      P[r * n + k] += g * h3;
      P[r * n + nf + k] += g * h2;
      P[(nf + r) * n + k] += g * h2;
      P[(nf + r) * n + nf + k] += g * h;
    }
  for (size_t i = 2 * nf; i < n; i++) P[i * n + i] += noise->pressure[i - 2 * nf] * h;
}
