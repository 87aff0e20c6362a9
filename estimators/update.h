/* SPDX-License-Identifier: MIT */
/* Arithmetic of the filter: matrices row-major, P symmetric. No allocation. */
#ifndef BRAMAH_ESTIMATORS_UPDATE_H
#define BRAMAH_ESTIMATORS_UPDATE_H

#include "estimators/kernel_shape.h"

/* F [n x n] of (D 3.4) from the derivative A [nf x n] of the independent accelerations by the error state, n
 * = 2 nf + np; h [s]. Errors of first-order states are carried on unchanged. */
void bramah__kinematic_transition(size_t nf, size_t np, double h, const double *A, double *F);

/* The same for parameters: G [n x n_par] from the derivative Ap [nf x n_par] of the accelerations. */
void bramah__kinematic_parameters(size_t nf, size_t np, size_t n_par, double h, const double *Ap, double *G);

/* P = F P F' + Q (D 3.3), symmetrised. Q is added by the caller. work [n x n]. */
void bramah__propagate(size_t n, const double *F, double *P, double *work);

/* ---- a cycle of the filter; kernel.h says what each does and in which order ---- */

/* P = F P F' + Gamma Gamma' of all of P; T [n (n + nq)] is scratch. */
void bramah__kernel_propagate(const bramah__kernel_shape *shape, const double *F, const double *Gamma,
                              double *P, double *T);

/* PH [n] = P H'; returns H P H'. Of P the upper triangle is read, or where it is whole what is quickest. H has entries in
 * the `count` columns listed, ascending; NULL: in the first `count`. */
double bramah__kernel_project(int whole, size_t n, size_t count, const size_t *column, const double *H,
                              const double *P, double *PH);

/* H P H' alone, of all of P: the same bits. */
double bramah__kernel_variance(size_t n, size_t count, const size_t *column, const double *H,
                               const double *P);

/* Fuse a sample into the upper triangle of P and dx [n]: PH of it, S = H P H' + r > 0 and finite, and rest = y - H dx.
 * work [2 n]. held [n]: see bramah__fuse_scalar. Returns how many rows of the upper triangle have changed. */
size_t bramah__kernel_fuse(size_t n, size_t count, const size_t *column, const double *H, const double *PH,
                           double S, double r, double rest, const unsigned char *held, double *P, double *dx,
                           double *work);

/* The lower triangle from the first `rows` rows of the upper one. */
void bramah__kernel_mirror(size_t n, size_t rows, double *P);

/* ---- samples one at a time, and all at once ---- */

/* Fuse one scalar measurement into the error state: innovation y with respect to x = 0, row H [n],
 * variance r of the measurement noise. Source: dissertation 3.5-3.9, covariance in Joseph form, P = (I - K
 * H) P (I - K H)' + K r K'. Reads and writes P [n x n], dx [n]; work [3 n]. Where held [n] (NULL: nowhere)
 * is not 0 the gain is zero: Schmidt's filter, for which that form of the covariance holds as it does for
 * any gain. Returns 0, or -1 if S = H P H' + r is not positive (nothing changed).
 */
int bramah__fuse_scalar(size_t n, const double *H, double y, double r, const unsigned char *held, double *P,
                        double *dx, double *work);

/* The same on a square root S [n x n] of P = S S'. Source: Potter's algorithm (Bierman, Factorization
 * Methods, 1977); with states held S becomes the root of [(I - K H) S, K sqrt(r)] by reflections. work
 * [2 n, with states held 3 n + n^2]. */
int bramah__fuse_root(size_t n, const double *H, double y, double r, const unsigned char *held, double *S,
                      double *dx, double *work);

/* Fuse m measurements at once: rows H [m x n], innovations y, variances r [m]; Joseph form. *nis = y' S^-1 y.
 * work [bramah__fuse_block_work]. Returns 0, or -1 if the covariance of the innovations is not positive
 * definite. */
int bramah__fuse_block(size_t n, size_t m, const double *H, const double *y, const double *r,
                       const unsigned char *held, double *P, double *dx, double *nis, double *work);
size_t bramah__fuse_block_work(size_t n, size_t m);

/* P += Gamma Gamma', Gamma [n x q]. */
void bramah__add_outer(size_t n, size_t q, const double *Gamma, double *P);

/* Lower triangular S [n x n], positive diagonal, with S S' = W W', W [n x m], m >= n, overwritten:
 * Householder reflections from the right. */
void bramah__lower_root(size_t n, size_t m, double *W, double *S);

/* H S S' H' [1]; work [n]. */
double bramah__root_variance(size_t n, const double *H, const double *S, double *work);

/* H P H' [1]. */
double bramah__variance(size_t n, const double *H, const double *P);

/* Index of the first state whose variance is not positive or not finite, or n. */
size_t bramah__bad_variance(size_t n, const double *P);

#endif
