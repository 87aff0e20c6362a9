/* SPDX-License-Identifier: MIT */
#include "estimators/process_noise.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

static double square(double x) { return x * x; }

void bramah__process_noise_layout(const bramah_plant *plant, bramah__arena *arena,
                                  bramah__process_noise *fields)
{
  const size_t nf = plant->n_dof, np = plant->n_first_order, ne = bramah_plant_n_error(plant);
  fields->nf = nf;
  fields->np = np;
  BRAMAH__PROCESS_NOISE_ARRAYS(BRAMAH__FIELD_TAKE)
}

/* ---- coordinates ---- */

bramah_status bramah__process_noise_refresh(const bramah_plant *plant, bramah__process_noise *noise,
                                            bramah_diag *diag)
{
  const size_t nf = noise->nf;
  /* B: rows by the error state of what standard deviations of the basis mean */
  for (size_t r = 0; r < nf; r++) {
    const size_t output = noise->basis[r];
    bramah_status status = BRAMAH_E_UNSUPPORTED;
    if (plant->noise_row) status = plant->noise_row(plant->self, output, noise->row);
    if (status == BRAMAH_E_UNSUPPORTED)
      status = bramah__plant_output_row(plant, output, noise->row, noise->snap, noise->dx, diag);
    if (status != BRAMAH_OK) return status;
    memcpy(noise->B + r * nf, noise->row, nf * sizeof(double));
  }

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

/* ---- values ---- */

/* n standard deviations of the error states from `first` on; NULL: nothing to check. */
static bramah_status check(const bramah_plant *plant, size_t first, size_t n, const double *sigma,
                           int zero_allowed, const char *what, bramah_diag *diag)
{
  for (size_t i = 0; i < n && sigma; i++) {
    if (isfinite(sigma[i]) && (sigma[i] > 0.0 || (zero_allowed && sigma[i] == 0.0))) continue;
    bramah__fail(diag, BRAMAH_E_VALUE, bramah__plant_state_name(plant, first + i), what);
    bramah__add_text(diag, zero_allowed ? " must not be negative" : " must be positive");
    return BRAMAH_E_VALUE;
  }
  return BRAMAH_OK;
}

bramah_status bramah__process_noise_set(const bramah_plant *plant, const double *acceleration,
                                        const double *pressure, bramah__process_noise *noise,
                                        bramah_diag *diag)
{
  const size_t nf = noise->nf, np = noise->np;
  bramah_status status = check(plant, nf, nf, acceleration, 1, "the acceleration noise", diag);
  if (status == BRAMAH_OK) status = check(plant, 2 * nf, np, pressure, 1, "the pressure noise", diag);
  if (status != BRAMAH_OK) return status;
  if (acceleration) memcpy(noise->acceleration, acceleration, nf * sizeof(double));
  if (pressure && np) memcpy(noise->pressure, pressure, np * sizeof(double));
  return BRAMAH_OK;
}

bramah_status bramah__process_noise_take(const bramah_plant *plant, const bramah_filter_options *o,
                                         bramah__process_noise *noise, bramah_diag *diag)
{
  const size_t nf = noise->nf, np = noise->np;
  bramah_status status =
      check(plant, 0, nf, o->position_sigma, 0, "the initial standard deviation of the position", diag);
  if (status == BRAMAH_OK)
    status = check(plant, nf, nf, o->rate_sigma, 0, "the initial standard deviation of the rate", diag);
  if (status == BRAMAH_OK)
    status = check(plant, 2 * nf, np, o->first_order_sigma, 0,
                   "the initial standard deviation of the pressure", diag);
  if (status == BRAMAH_OK)
    status = bramah__process_noise_set(plant, o->acceleration_noise, o->first_order_noise, noise, diag);
  if (status != BRAMAH_OK) return status;

  /* the basis asked for, or the coordinates that are independent now, by their names */
  for (size_t r = 0; r < nf; r++) {
    const char *name = bramah__plant_state_name(plant, r);
    const long own = o->basis ? (long)o->basis[r] : bramah_plant_find_output(plant, name);
    if (own < 0 || (size_t)own >= plant->n_output)
      return bramah__fail(diag, BRAMAH_E_REFERENCE, name, "the plant has no position output of this name");
    bramah_output_info position;
    bramah_plant_output_info(plant, (size_t)own, &position);
    if (position.kind != BRAMAH_OUTPUT_POSITION)
      return bramah__fail(diag, BRAMAH_E_VALUE, position.name, "the basis must name positions");
    noise->basis[r] = (size_t)own;
  }
  return bramah__process_noise_refresh(plant, noise, diag);
}

/* ---- what they make of the error state ---- */

void bramah__process_noise_covariance(const bramah__process_noise *noise,
                                      const bramah_filter_options *options, size_t n, double *P)
{
  const size_t nf = noise->nf;
  const double *sigma[2] = {options->position_sigma, options->rate_sigma};
  memset(P, 0, n * n * sizeof *P);
  for (size_t block = 0; block < 2; block++)
    for (size_t r = 0; r < nf; r++)
      for (size_t k = 0; k < nf; k++) {
        double sum = 0.0;
        for (size_t b = 0; b < nf; b++)
          sum += noise->B_inverse[r * nf + b] * square(sigma[block][b]) * noise->B_inverse[k * nf + b];
        P[(block * nf + r) * n + block * nf + k] = sum;
      }
  for (size_t i = 0; i < noise->np; i++) {
    const size_t k = 2 * nf + i;
    P[k * n + k] = square(options->first_order_sigma[i]);
  }
}

/* White noise on an acceleration makes [h^3/3, h^2/2; h^2/2, h] of position and rate, whose factor is
 * [sqrt(h^3/3), 0; sqrt(3 h)/2, sqrt(h)/2]. */
void bramah__process_noise_columns(const bramah__process_noise *noise, double h, size_t nq, double *Gamma)
{
  const size_t nf = noise->nf;
  const double l11 = sqrt(h * h * h / 3.0), l21 = 0.5 * sqrt(3.0 * h), l22 = 0.5 * sqrt(h);
  for (size_t b = 0; b < nf; b++)
    for (size_t r = 0; r < nf; r++) {
      const double g = noise->B_inverse[r * nf + b] * noise->acceleration[b];
      Gamma[r * nq + 2 * b] = l11 * g;
      Gamma[(nf + r) * nq + 2 * b] = l21 * g;
      Gamma[(nf + r) * nq + 2 * b + 1] = l22 * g;
    }
  for (size_t i = 0; i < noise->np; i++) Gamma[(2 * nf + i) * nq + 2 * nf + i] = noise->pressure[i] * sqrt(h);
}
