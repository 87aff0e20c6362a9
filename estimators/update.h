/* SPDX-License-Identifier: MIT */
/* Covariance arithmetic of the filter: matrices row-major, P symmetric. No allocation. */
#ifndef BRAMAH_ESTIMATORS_UPDATE_H
#define BRAMAH_ESTIMATORS_UPDATE_H

#include <stddef.h>

/* P = F P F' + Q (D 3.3), symmetrised. Q is added by the caller. work [n x n]. */
void bramah__propagate(size_t n, const double *F, double *P, double *work);

/* Fuse one scalar measurement into the error state: innovation y with respect to x = 0, row H [n], variance
 * r. Source: dissertation 3.5-3.9, covariance in Joseph form, P = (I - K H) P (I - K H)' + K r K'. Reads and
 * writes P [n x n], dx [n]; work [2 n]. Returns 0, or -1 if S = H P H' + r is not positive (nothing changed).
 */
int bramah__fuse_scalar(size_t n, const double *H, double y, double r, double *P, double *dx, double *work);

/* H P H' [1]. */
double bramah__variance(size_t n, const double *H, const double *P);

/* Index of the first state whose variance is not positive or not finite, or n. */
size_t bramah__bad_variance(size_t n, const double *P);

#endif
