/* SPDX-License-Identifier: MIT */
/* The actuator as its motion sees it: a driven side, which the pump feeds, and a drained side. */
#ifndef BRAMAH_LIB_HYDRAULICS_METERED_INTERNAL_H
#define BRAMAH_LIB_HYDRAULICS_METERED_INTERNAL_H

#include "lib/hydraulics/metered.h"

/* Square roots and squares with the sign of their argument (8, 9). */
double bramah__signed_square(double x);
double bramah__signed_root(double x);

/* The x of S(x)/a + b x + c = 0, a >= 0, b > 0 (11, 13); a = 0: 0. */
double bramah__phi_a(double b, double c, double a);

/* The x of S(x)/a0 + S(x - x1)/a1 + b x + c = 0 (12, 14); a0 = 0: 0, else a1 = 0: x1. */
double bramah__phi_b(double b, double c, double a0, double a1, double x1);

/* Root of a falling function between lo and hi, f(lo) >= 0 >= f(hi), to the last digits in at most 64
 * evaluations (I. F. D. Oliveira, R. H. C. Takahashi, ACM Trans. Math. Softw. 47 (2021): interpolate,
 * truncate, project). */
typedef double (*bramah__falling)(const void *context, double x);
double bramah__root_between(bramah__falling f, const void *context, double lo, double hi);

/* w = sign v, g = sign f. Forces of chambers: pressure times area. */
typedef struct bramah__directed {
  double sign;          /* +1 extending or closed, -1 retracting */
  double A, F_M, a;     /* driven side: area, force at relief, u_hat^2 of its valve (20, 21) */
  double A_o, F_oM, ao; /* drained side */
  double k;             /* u_hat_a^2; 0: no regeneration */
  double ratio;         /* A_o / A */
} bramah__directed;

bramah__directed bramah__direct(const bramah__metered *actuator, const bramah__metering *u);

/* Forces of the chambers at velocity w and line pressure P, with the velocity w_a = Q_a / A_o that
 * regeneration takes. At w = 0 the lowest driven and the highest drained force. */
typedef struct bramah__chambers {
  double in, out, w_a;
} bramah__chambers;

bramah__chambers bramah__chambers_at(const bramah__directed *d, double P, double w);

/* Least force that keeps the actuator from moving ahead, Gamma_+(0) (73). */
double bramah__holding_force(const bramah__directed *d, double P);

/* w of beta w + g in Gamma(w) at line pressure P. */
double bramah__directed_lambda(const bramah__directed *d, double P, double beta, double g);

/* Flow out of the line at P while the driven side takes the velocity q (74): between what flows against the
 * full and against the empty chamber. */
double bramah__drawn_flow(const bramah__directed *d, double P, double q);

#endif
