/* SPDX-License-Identifier: MIT */
/* What the three approaches to constrained equations share. */
#ifndef BRAMAH_LIB_LINEAR_CONSTRAINED_H
#define BRAMAH_LIB_LINEAR_CONSTRAINED_H

#include "bramah/linear.h"

/* A quadratic problem of its own: matrices of the constrained system projected, or with penalties. `border`
 * rows hold what is left of the constraints. */
typedef struct bramah__quadratic {
  size_t n, k, border;
  const double *M, *C, *K, *P, *Xq, *Xv, *Xx;
  const double *rows; /* [border x n] of length one, across each other */
  int undamped;       /* C vanishes, M and K are symmetric, k = 0 */
} bramah__quadratic;

/* Its eigenvalues s, unsorted: re, im [2 n + k], and |1 / (s - sigma)| in size [2 n + k], 0 for infinite
 * ones. vectors [(2 n + k)^2] as bramah__eigen gives them, or NULL. */
typedef struct bramah__eigenvalues {
  double *re, *im, *size, *vectors;
} bramah__eigenvalues;

bramah_status bramah__solve_quadratic(const bramah__quadratic *q, bramah__eigenvalues *out,
                                      bramah_diag *diag);

/* The same for undamped ones by symmetric matrices; E_UNSUPPORTED where these do not exist. */
bramah_status bramah__solve_undamped(const bramah__quadratic *q, bramah__eigenvalues *out, bramah_diag *diag);

bramah_status bramah__analysis_memory(bramah_diag *diag);

#endif
