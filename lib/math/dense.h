/* SPDX-License-Identifier: MIT */
/* Dense matrices, row-major, by plain loops: the same bits on every CPU and from any number of threads.
 * test/bench/bench_math.c compares them with OpenBLAS, which only analyses use (spectral.h): for 20 to 40 error states
 * it is two to five times as fast in products and no faster in factorisations, but not safe on several threads
 * (spectral.c). */
#ifndef BRAMAH_LIB_MATH_DENSE_H
#define BRAMAH_LIB_MATH_DENSE_H

#include <stddef.h>

/* C [m x n] = A [m x k] B [k x n]. C overlaps neither. */
void bramah__multiply(size_t m, size_t k, size_t n, const double *A, const double *B, double *C);

/* C [m x n] = A [m x k] B' with B [n x k]. C overlaps neither. */
void bramah__multiply_transposed(size_t m, size_t k, size_t n, const double *A, const double *B, double *C);

/* y [m] = A [m x n] x. y does not overlap x. */
void bramah__apply(size_t m, size_t n, const double *A, const double *x, double *y);

/* y [n] = A' x with A [m x n]. y does not overlap x. */
void bramah__apply_transposed(size_t m, size_t n, const double *A, const double *x, double *y);

/* P = (P + P') / 2 */
void bramah__symmetrise(size_t n, double *P);

/* LU factors of A [n x n] in place, pivot [n]. Returns 0, or 1 + the row at which A is singular or not
 * finite. */
size_t bramah__lu_factor(size_t n, double *A, int *pivot);
/* Solve A x = b (x in place of b), or A' x = b. */
void bramah__lu_solve(size_t n, const double *LU, const int *pivot, double *b);
void bramah__lu_solve_transposed(size_t n, const double *LU, const int *pivot, double *b);

/* Cholesky factor L of a symmetric A [n x n] into its lower triangle. Returns 0, or 1 + the row at which A is
 * not positive definite. */
size_t bramah__cholesky_factor(size_t n, double *A);
/* Solve A x = b with the factor. */
void bramah__cholesky_solve(size_t n, const double *L, double *b);

/* Eliminate A [m x n] (overwritten) with full pivoting: which joint coordinates are independent, and which
 * constraint rows say something new (dissertation 2.26). Pivots below `tolerance` times the first count as
 * zero. Columns with late[j] != 0 are taken only when no other has a pivot left (late may be NULL).
 * Returns the rank; row [m]: the first `rank` entries are the rows with a pivot; column [n]: first the
 * columns with a pivot in the order found (dependent coordinates), then the others, ascending (independent
 * coordinates). */
size_t bramah__eliminate(size_t m, size_t n, double *A, double tolerance, const unsigned char *late, int *row,
                         int *column);

/* Minimum-norm least-squares solution of A x = b, A [m x n]. Singular values below rcond times the largest
 * count as zero. A and b [max(m, n)] are overwritten, b by x. Returns the rank, or -1 if the iteration
 * failed. work [bramah__least_squares_work(m, n)]. */
int bramah__least_squares(size_t m, size_t n, double *A, double *b, double rcond, double *work);
size_t bramah__least_squares_work(size_t m, size_t n);

/* Eigenvalues w [n], ascending, of a symmetric A [n x n], whose rows become the eigenvectors, of length one.
 * Returns 0, or -1 if the iteration failed. work [bramah__symmetric_eigen_work(n)]. */
int bramah__symmetric_eigen(size_t n, double *A, double *w, double *work);
size_t bramah__symmetric_eigen_work(size_t n);

#endif
