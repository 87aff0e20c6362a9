/* SPDX-License-Identifier: MIT */
/* Uncertainty as users state it: initial standard deviations and densities of white noise in coordinates of
 * their choice (the basis), carried to those that are independent now by B = d(basis)/d(independent). Source:
 * dissertation 3.18. */
#ifndef BRAMAH_ESTIMATORS_PROCESS_NOISE_H
#define BRAMAH_ESTIMATORS_PROCESS_NOISE_H

#include "bramah/filter.h"
#include "lib/base/arena.h"
#include "lib/plant/plant_table.h"

#define BRAMAH__PROCESS_NOISE_ARRAYS(X)                                                                      \
  X(size_t, basis, nf, "outputs")                                                                            \
  X(double, acceleration, nf, "square roots of spectral densities")                                          \
  X(double, pressure, np)                                                                                    \
  X(double, B, nf *nf, "at the last refresh")                                                                \
  X(double, B_inverse, nf *nf)                                                                               \
  X(double, LU, nf *nf)                                                                                      \
  X(double, column, nf)                                                                                      \
  X(double, row, ne)                                                                                         \
  X(double, dx, ne)                                                                                          \
  X(int, pivot, nf)                                                                                          \
  X(unsigned char, snap, plant->snapshot_size)

typedef struct bramah__process_noise {
  size_t nf, np;
  BRAMAH__PROCESS_NOISE_ARRAYS(BRAMAH__FIELD_MEMBER)
} bramah__process_noise;

void bramah__process_noise_layout(const bramah_plant *plant, bramah__arena *arena,
                                  bramah__process_noise *noise);

/* Check and take the values and the basis. Errors as of bramah_filter_init. */
bramah_status bramah__process_noise_take(const bramah_plant *plant, const bramah_filter_options *options,
                                         bramah__process_noise *noise, bramah_diag *diag);

/* Other densities; NULL leaves a part as it is. Errors: E_VALUE (nothing changed). */
bramah_status bramah__process_noise_set(const bramah_plant *plant, const double *acceleration,
                                        const double *pressure, bramah__process_noise *noise,
                                        bramah_diag *diag);

/* Bring B up to date with the present pose. Errors: E_SINGULAR. */
bramah_status bramah__process_noise_refresh(const bramah_plant *plant, bramah__process_noise *noise,
                                            bramah_diag *diag);

/* Initial covariance into the leading block of P, whose rows are n long; the rest of P is set to zero. */
void bramah__process_noise_covariance(const bramah__process_noise *noise,
                                      const bramah_filter_options *options, size_t n, double *P);

/* Columns of the noise of one step h by D 3.18 into the leading block of Gamma, whose rows are nq >= 2 nf +
 * np long: two for each acceleration of the basis, one for each pressure. Gamma must be zero there. */
void bramah__process_noise_columns(const bramah__process_noise *noise, double h, size_t nq, double *Gamma);

#endif
