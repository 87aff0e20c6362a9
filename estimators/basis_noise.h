/* SPDX-License-Identifier: MIT */
/* Initial uncertainty and plant noise as users state them, in coordinates of their choice (the basis), carried to the
 * coordinates that are independent now: with B = d(basis)/d(independent), G = B^-1 diag(variance) B^-T. */
#ifndef BRAMAH_ESTIMATORS_BASIS_NOISE_H
#define BRAMAH_ESTIMATORS_BASIS_NOISE_H

#include "bramah/filter.h"
#include "lib/base/arena.h"

typedef struct bramah__basis_noise {
  size_t nf, np;
  double h;                        /* [s] */
  size_t *basis;                   /* [nf] outputs */
  double *acceleration, *pressure; /* densities [nf], [np] */
  double *B, *B_inverse, *G;       /* [nf x nf] */
  double *LU, *column, *row, *dx;  /* [nf x nf], [nf], [n], [n] scratch */
  int *pivot;                      /* [nf] */
  void *snap;
} bramah__basis_noise;

void bramah__basis_noise_layout(const bramah_plant *plant, bramah__arena *arena, bramah__basis_noise *noise);

/* Check and take the options and write the initial covariance P [n x n]. Errors as of bramah_filter_init. */
bramah_status bramah__basis_noise_init(const bramah_plant *plant, const bramah_filter_options *options,
                                       bramah__basis_noise *noise, double *P, bramah_diag *diag);

/* Bring G up to date with the present pose. Errors: E_SINGULAR. */
bramah_status bramah__basis_noise_refresh(const bramah_plant *plant, bramah__basis_noise *noise,
                                          bramah_diag *diag);

/* P += noise of one step (D 3.18), P [n x n]. */
void bramah__basis_noise_add(const bramah__basis_noise *noise, double *P);

#endif
