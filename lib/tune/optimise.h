/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Minima of functions that are costly to evaluate, within bounds: scoring for likelihoods, the simplex of
 * GSL. The same calls in the same order on every machine and in every run. Part of
 * libbramah-tools. */
#ifndef BRAMAH_LIB_TUNE_OPTIMISE_H
#define BRAMAH_LIB_TUNE_OPTIMISE_H

#include <stdint.h>
#include "bramah/status.h"

/* The function. Variables z [n] on scales on which steps of about 1 are large: logarithms, shares of a range.
 * A point that cannot be used has a cost that is not finite; an error ends the search. */
typedef struct bramah__objective {
  void *user;
  size_t n;
  const double *low, *high; /* [n] bounds, low < high */
  bramah_status (*cost)(void *user, const double *z, double *cost, bramah_diag *diag);
  /* Cost, gradient [n] and information [n x n], a positive semidefinite stand-in for the second derivatives;
   * of them nothing where the cost is not finite. For scoring only. */
  bramah_status (*slope)(void *user, const double *z, double *cost, double *gradient, double *information,
                         bramah_diag *diag);
  /* 1 when time or evaluations are used up; NULL: never. */
  int (*stop)(void *user);
} bramah__objective;

typedef enum bramah__ending {
  BRAMAH_ENDING_CONVERGED = 0,
  BRAMAH_ENDING_STOPPED = 1, /* as stop() asked */
  BRAMAH_ENDING_STUCK = 2    /* no descent was found although the slope promises one */
} bramah__ending;

/* What a search came to. */
typedef struct bramah__optimum {
  double cost;
  bramah__ending ending;
  int iterations;
  uint64_t costs, slopes; /* calls */
} bramah__optimum;

/* Scoring: steps that solve (I + lambda diag I) d = -gradient, lambda falling and rising as steps succeed or
 * not (K. Levenberg 1944, D. W. Marquardt 1963), with the information in place of the second derivatives (R.
 * A. Fisher's scoring); a variable that meets its bound goes as far as that, the others make the
 * best of it. After one that kept its promise a step that promises little is tried with its slope at once. It ends when a whole step promises less than
 * `tolerance` of cost. A sum that holds logarithms
 * of variances is no sum of squares, so least-squares solvers such as GSL's cannot judge its steps. z [n]:
 * from where, and the minimum. gradient [n] and information [n x n] there (may be NULL). Errors: those of the
 * functions; E_NOT_FINITE (at the start, or the slope where it has come to). */
bramah_status bramah__optimise_scoring(const bramah__objective *objective, double tolerance, double *z,
                                       double *gradient, double *information, bramah__optimum *out,
                                       bramah_diag *diag);

/* Simplex of Nelder and Mead (GSL nmsimplex2), first edges of length `size`, until its size is below
 * `tolerance` times that. Bounds by z = low + (high - low) (1 + sin u) / 2. Errors: those of the cost;
 * E_ARGUMENT (no variables); E_NOT_FINITE (the cost is finite nowhere near the start). */
bramah_status bramah__optimise_simplex(const bramah__objective *objective, double size, double tolerance,
                                       double *z, bramah__optimum *out, bramah_diag *diag);

/* Points spread over the unit cube, out [n_points x n]: one in each of n_points layers of every dimension (M.
 * D. McKay, R. J. Beckman, W. J. Conover, Technometrics 21, 1979). Errors: E_MEMORY. */
bramah_status bramah__latin_hypercube(size_t n_points, size_t n, uint64_t seed, double *out,
                                      bramah_diag *diag);

#endif
