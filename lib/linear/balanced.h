/* SPDX-License-Identifier: MIT */
/* A linear system in balanced coordinates, x = diag(scale) z: rows and columns of A of like size. */
#ifndef BRAMAH_LIB_LINEAR_BALANCED_H
#define BRAMAH_LIB_LINEAR_BALANCED_H

#include "bramah/linear.h"

typedef struct bramah__balanced {
  size_t n;
  double *A, *scale; /* [n x n], [n] */
  double norm;       /* Frobenius norm of A */
} bramah__balanced;

/* E_NOT_FINITE or E_MEMORY; released by bramah__balanced_free, also after an error. */
bramah_status bramah__balanced_make(const bramah_linear_system *system, bramah__balanced *out,
                                    bramah_diag *diag);
void bramah__balanced_free(bramah__balanced *balanced);

bramah_status bramah__analysis_memory(bramah_diag *diag);

int bramah__all_finite(size_t n, const double *x);

/* E_NOT_FINITE with the name of the row of B or C; A is looked at by bramah__balanced_make. */
bramah_status bramah__check_inputs(const bramah_linear_system *system, bramah_diag *diag);
bramah_status bramah__check_outputs(const bramah_linear_system *system, bramah_diag *diag);

/* E [n x n] = exp(A t), A [n x n] of moderate size in all its entries. What is too large for numbers comes
 * out infinite or not a number. work [bramah__exponential_work(n)], pivot [n]. */
void bramah__exponential(size_t n, const double *A, double t, double *E, double *work, int *pivot);
static inline size_t bramah__exponential_work(size_t n) { return 6 * n * n; }

#endif
