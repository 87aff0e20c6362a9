/* SPDX-License-Identifier: MIT */
/* Posterior Cramer-Rao bound along a simulated motion: no filter can have a smaller mean square error.
 * Source: P. Tichavsky, C. H. Muravchik, A. Nehorai, "Posterior Cramer-Rao bounds for discrete-time nonlinear
 * filtering", IEEE Trans. Signal Processing 46 (1998), for additive normal noise. There its information
 * recursion
 *   J+ = D22 - D21 (J + D11)^-1 D12,  D11 = F' Q^-1 F, D12 = -F' Q^-1, D22 = Q^-1 + H' R^-1 H
 * is that of the covariance, P+ = F P F' + Q and then the update by H and R, with all derivatives taken at
 * the true motion instead of an estimate; in this form Q need not have an inverse. The true motion is taken
 * as given: the bound is that of small errors about this one motion, not of an average over motions. Matrices
 * row-major. */
#ifndef TEST_SUPPORT_PCRB_H
#define TEST_SUPPORT_PCRB_H

#include "bramah/status.h"

#include <stddef.h>

typedef struct pcrb pcrb;

/* Start with the covariance P0 [n x n] of what is known beforehand. Errors: E_NOT_SPD (a variance of P0 is not
 * positive). */
bramah_status pcrb_new(size_t n, const double *P0, bramah_diag *diag, pcrb **out);
void pcrb_free(pcrb *b); /* NULL allowed */

/* One step of the true motion: F [n x n] its transition, from the coordinates before to those after it, Q [n
 * x n] the covariance of its noise in the coordinates after it; Q NULL: none. Errors: E_NOT_SPD, E_NOT_FINITE
 * (the bound is as before). */
bramah_status pcrb_step(pcrb *b, const double *F, const double *Q, bramah_diag *diag);

/* m independent samples at the present time: rows H [m x n] at the true state, standard deviations sigma [m]
 * > 0. Errors as above; E_VALUE (sigma). */
bramah_status pcrb_measure(pcrb *b, size_t m, const double *H, const double *sigma, bramah_diag *diag);

/* The bound on the covariance of errors [n x n], and on the standard deviation of row . x, row [n]. */
const double *pcrb_covariance(const pcrb *b);
double pcrb_sigma(const pcrb *b, const double *row);

#endif
