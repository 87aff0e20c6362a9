/* SPDX-License-Identifier: MIT */
/* Eigenvalues, Schur forms and their kin: what analysis needs and the loop does not. Dense matrices,
 * row-major unless a function says otherwise. Compiled into the tools library; functions take their work
 * memory from the caller; several threads that call them wait for each other. Returns of type int: 0, or what LAPACK complains of. */
#ifndef BRAMAH_LIB_MATH_SPECTRAL_H
#define BRAMAH_LIB_MATH_SPECTRAL_H

#include <stddef.h>

/* Diagonal similarity: A [n x n] becomes S^-1 A S with rows and columns of like size, S = diag(scale) of
 * powers of two. */
int bramah__balance(size_t n, double *A, double *scale);

/* Eigenvalues wr + i wi [n] of A, which is overwritten, and right and left eigenvectors R, L [n x n]: row k
 * is vector k, of a complex pair row k the real and row k + 1 the imaginary part of the one with wi > 0; x'
 * x = 1. L may be NULL with R and reciprocal; R may be NULL: eigenvalues alone. reciprocal [n]: |y^H x| /
 * |y| |x|, the reciprocal condition numbers. A is balanced first by permutation and scaling; *norm is the
 * 1-norm of the balanced matrix. */
int bramah__eigen(size_t n, double *A, double *wr, double *wi, double *L, double *R, double *reciprocal,
                  double *norm, double *work, int *iwork);
size_t bramah__eigen_work(size_t n);
static inline size_t bramah__eigen_iwork(size_t n) { return 2 * n + 2; }

/* Eigenvalues w [n], ascending, of K x = w M x, K symmetric and M symmetric positive definite, both
 * overwritten; rows of K become the vectors, x' M x = 1, if `vectors`. */
int bramah__symmetric_pencil(size_t n, double *K, double *M, double *w, int vectors, double *work);
size_t bramah__symmetric_pencil_work(size_t n);

/* Schur form of A [n x n], overwritten, with the eigenvalues of negative real part first: *stable of them,
 * whose invariant subspace the first rows of Z [n x n] span. *gap: the least |real part|. */
int bramah__stable_subspace(size_t n, double *A, double *Z, size_t *stable, double *gap, double *work,
                            int *bwork);
size_t bramah__stable_subspace_work(size_t n);

/* Solve (A + i A2) X = B in place of B; complex numbers as pairs, column-major: A [n x n], B [n x m]. */
int bramah__complex_solve(size_t n, size_t m, double *A, double *B, int *pivot);

/* A [m x n], m >= n, becomes Q of its QR factorisation with column pivoting where the first *rank columns of
 * Q span those of A (what lies below tolerance times the largest diagonal of R counts as zero). work
 * [bramah__orthonormal_work]. */
int bramah__orthonormal(size_t m, size_t n, double *A, double tolerance, size_t *rank, double *work,
                        int *pivot);
size_t bramah__orthonormal_work(size_t m, size_t n);

/* N [n x (n - *rank)] whose columns span what A [m x n] maps to zero: the columns of A without a pivot
 * become coordinates, N is the unit matrix in their rows. A is overwritten. work [bramah__null_space_work],
 * pivot [n]. */
int bramah__null_space(size_t m, size_t n, double *A, double tolerance, size_t *rank, double *N, double *work,
                       int *pivot);
size_t bramah__null_space_work(size_t m, size_t n);

/* Solve A x = b for many b at once: the rows of B [m x n], which become the x. A [n x n] is
 * overwritten. Returns 0, or 1 + the row where it is singular; *smallest is the least pivot over the
 * largest. */
int bramah__solve_many(size_t n, size_t m, double *A, double *B, int *pivot, double *smallest);

#endif
