/* SPDX-License-Identifier: MIT */
/* Transition Jacobians of the error state. */
#ifndef BRAMAH_ESTIMATORS_TRANSITION_H
#define BRAMAH_ESTIMATORS_TRANSITION_H

#include <stddef.h>

/* F [n x n] of (D 3.4) from the derivative A [nf x n] of the independent accelerations by the error state, n
 * = 2 nf + np; h [s]. Pressure errors are carried on unchanged. */
void bramah__transition_paper(size_t nf, size_t np, double h, const double *A, double *F);

/* The same for parameters: G [n x n_par] from the derivative Ap [nf x n_par] of the accelerations. */
void bramah__transition_paper_parameters(size_t nf, size_t np, size_t n_par, double h, const double *Ap,
                                         double *G);

#endif
