/* SPDX-License-Identifier: MIT */
/* Normal equations of the last corrections, and their solution between limits. Each correction says A theta =
 * b of m variances theta, A [m x m] symmetric and positive semidefinite, [m] each in its own unit squared. */
#ifndef BRAMAH_ESTIMATORS_ADAPTIVE_WINDOW_H
#define BRAMAH_ESTIMATORS_ADAPTIVE_WINDOW_H

#include <stddef.h>

/* Doubles of one record: the lower triangle of A by rows, then b. */
static inline size_t bramah__window_record(size_t m) { return m * (m + 1) / 2 + m; }

/* Place of A[i][j], j <= i. */
static inline size_t bramah__window_place(size_t i, size_t j) { return i * (i + 1) / 2 + j; }

/* Sum of `count` records, the last written at slot `last` of a ring of `size`; a record counts `forgetting`
 * times what the one after it does. A [m x m] full, b [m]. */
void bramah__window_sum(size_t m, const double *ring, size_t size, size_t last, size_t count,
                        double forgetting, double *A, double *b);

/* theta [m] > 0: minimise x' A x / 2 - b' x within [least, most] (each m), near theta where A says little:
 * theta counts as one sample of variance theta. Gauss-Seidel, one variance after the other, which keeps the
 * limits exactly. A gets the weight of that sample added. x [m] is the result. */
void bramah__window_solve(size_t m, double *A, const double *b, const double *theta, const double *least,
                          const double *most, double *x);

#endif
