/* SPDX-License-Identifier: MIT */
/* Analysis of linear equations with names, as bramah/linearization.h gives them:
 *
 *   dx/dt = A x + B u      y = C x + D u
 *
 * modes, Gramians, frequency response, the same equations in discrete time. Part of libbramah-tools;
 * functions that make an object take memory, the others take and release what they need. Units of the state
 * differ by many powers of ten (rad, Pa): matrices are balanced before anything is done with them. */
#ifndef BRAMAH_ANALYSIS_H
#define BRAMAH_ANALYSIS_H

#include "bramah/linearization.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bramah_stability {
  BRAMAH_STABLE = 0,   /* decays */
  BRAMAH_MARGINAL = 1, /* neither, as far as rounding lets one tell */
  BRAMAH_UNSTABLE = 2  /* grows */
} bramah_stability;

/* A real eigenvalue or a pair of conjugate ones. */
typedef struct bramah_mode {
  double re, im;    /* the eigenvalue s with im >= 0 [1/s] */
  double frequency; /* |s| / (2 pi) of a pair, undamped [Hz]; 0 of a real one */
  double damping;   /* -re / |s|; 0 where s = 0 */
  double
      condition; /* reciprocal condition number of the eigenvalue, 0 ... 1; tiny: vectors nearly coincide */
  double error;  /* what rounding can have moved it by [1/s] */
  bramah_stability stability;
  int pair;
  /* 1: shares its eigenvector with another eigenvalue as far as one can tell, so that t exp(s t) occurs too.
   * Such a mode grows if it is marginal. */
  int defective;
  const double *shape_re, *shape_im; /* [n] right eigenvector x; the motion is Re(x exp(s t)) */
  /* [n] participation factors of the states, |l_i x_i| with sum 1 (l: left eigenvector): free of units.
   * Source: Perez-Arriaga, Verghese, Schweppe, "Selective modal analysis", IEEE PAS-101 (1982). */
  const double *participation;
} bramah_mode;

/* Eigenvalues and modes. */
typedef struct bramah_modes {
  size_t n, n_modes;                          /* order; modes, a pair counted once */
  const bramah_mode *mode;                    /* [n_modes] by |s|, slowest first */
  size_t n_unstable, n_marginal, n_defective; /* eigenvalues; a pair counts twice */
  bramah_stability
      stability; /* of the whole: the worst of its modes, unstable if a marginal one is defective */
} bramah_modes;

/* Modes of a linear system; release with bramah_modes_free (NULL allowed). Errors: E_NOT_FINITE, E_SINGULAR
 * (the iteration failed), E_MEMORY. */
BRAMAH_API bramah_status bramah_modes_new(const bramah_linear_system *system, bramah_diag *diag,
                                          bramah_modes **out);
BRAMAH_API void bramah_modes_free(bramah_modes *modes);

/* Zero-order hold: x_next = F x + G u for inputs held over step h [s]; F [n x n] = exp(A h), G [n x n_u] or
 * NULL. Source: Higham, "The scaling and squaring method for the matrix exponential revisited", SIAM J.
 * Matrix Anal. 26 (2005). Errors: E_ARGUMENT (h), E_NOT_FINITE (also of what a long step makes of an unstable
 * mode), E_MEMORY. */
BRAMAH_API bramah_status bramah_discretise(const bramah_linear_system *system, double h, double *F, double *G,
                                           bramah_diag *diag);

typedef enum bramah_gramian_kind {
  BRAMAH_CONTROLLABILITY = 0, /* integral of exp(A t) B B' exp(A' t) */
  BRAMAH_OBSERVABILITY = 1    /* integral of exp(A' t) C' C exp(A t) */
} bramah_gramian_kind;

/* Gramian W [n x n] over the time from 0 to `horizon` [s]; INFINITY for stable systems alone. Errors:
 * E_ARGUMENT (horizon), E_SINGULAR ("... is not stable: give a horizon"), E_NOT_FINITE (the system, or what a
 * long horizon makes of an unstable mode), E_MEMORY. */
BRAMAH_API bramah_status bramah_gramian(const bramah_linear_system *system, bramah_gramian_kind kind,
                                        double horizon, double *W, bramah_diag *diag);

/* Hankel singular values [n], descending: how much of a state can both be reached from the inputs and be
 * seen in the outputs; those that are nearly zero can be left out. Free of the units of the state, not of
 * those of u and y; D counts for nothing. Errors as above. */
BRAMAH_API bramah_status bramah_hankel(const bramah_linear_system *system, double horizon, double *sigma,
                                       bramah_diag *diag);

/* Frequency response of output `y` to input `u` at angular frequencies w [n_w, rad/s]: re + i im [n_w].
 * Errors: E_ARGUMENT, E_NOT_FINITE, E_SINGULAR (w is an undamped frequency), E_MEMORY. */
BRAMAH_API bramah_status bramah_frequency_response(const bramah_linear_system *system, size_t y, size_t u,
                                                   size_t n_w, const double *w, double *re, double *im,
                                                   bramah_diag *diag);

/* Linear-quadratic regulator: u = -K x, K [n_u x n], makes the integral of x' Q x + u' R u least; Q [n x n]
 * symmetric, not negative, R [n_u x n_u] symmetric, positive definite; both in the units of x and u. P [n x
 * n], or NULL: the least value is x' P x. Source: Laub, "A Schur method for solving algebraic Riccati
 * equations", IEEE AC-24 (1979); the ordered Schur form is LAPACK's. Errors: E_ARGUMENT (R), E_NOT_FINITE,
 * E_SINGULAR (a mode that does not decay is not reached by the inputs, or costs nothing and neither grows nor
 * decays), E_MEMORY. */
BRAMAH_API bramah_status bramah_lqr(const bramah_linear_system *system, const double *Q, const double *R,
                                    double *K, double *P, bramah_diag *diag);

/* ---- equations with constraints ---- */

/* Three ways from equations with constraints to eigenvalues. Source: Gonzalez, Masarati, Cuadrado, Naya,
 * "Assessment of linearization approaches for multibody dynamics formulations", J. Comput. Nonlinear Dynam.
 * 12 (2017).
 *
 *   minimal    velocities projected on what the constraints allow (equations 2-6): exact, nothing spurious
 *   redundant  coordinates and multipliers in one pencil (7-10): exact; infinite eigenvalues are left out
 *   penalty    constraints become stiff springs, dampers and masses (11-15): approximate; eigenvalues whose
 *              vectors violate the constraints are spurious. K must be that of the pose where the springs
 *              hold the balance; with the K of the exact pose, multipliers in it, the springs only add to it.
 *
 * All three work where constraints depend on each other, at singular poses too. The first two solve for 1 /
 * (s - sigma), so that slow modes are exact to their last digits however fast the fastest are; without
 * damping, symmetric matrices of half the order. */
typedef enum bramah_approach {
  BRAMAH_APPROACH_MINIMAL = 0,
  BRAMAH_APPROACH_REDUNDANT = 1,
  BRAMAH_APPROACH_PENALTY = 2
} bramah_approach;

/* Penalties of the constraints in the penalty approach. */
typedef struct bramah_penalty_factors {
  double alpha, xi, omega; /* masses alpha, dampers 2 xi omega alpha [1/s], springs omega^2 alpha [1/s^2] */
} bramah_penalty_factors;

/* Eigenvalues of equations with constraints. */
typedef struct bramah_spectrum {
  size_t n;              /* eigenvalues of the constrained system: 2 (n - rank) + k */
  const double *re, *im; /* [n] slowest first; pairs stand together */
  size_t rank;           /* independent constraints */
  size_t n_spurious;     /* what the approach adds: infinite (redundant) or finite (penalty) */
  const double *spurious_re, *spurious_im; /* [n_spurious] (penalty), else NULL */
  /* How clearly they are told apart, > 1 (INFINITY where nothing is spurious): |s| of the least infinite one
   * over the largest finite one; violation of the least violated spurious one over the most violated true
   * one. */
  double gap;
} bramah_spectrum;

/* Eigenvalues of a constrained system; `factors` for the penalty approach (NULL: 1e7, 1, 10, as published).
 * Released by bramah_spectrum_free (NULL allowed). Errors: E_ARGUMENT, E_SINGULAR (the iteration failed, or
 * masses vanish where the constraints leave motion), E_MEMORY. */
BRAMAH_API bramah_status bramah_spectrum_new(const bramah_constrained *system, bramah_approach approach,
                                             const bramah_penalty_factors *factors, bramah_diag *diag,
                                             bramah_spectrum **out);
BRAMAH_API void bramah_spectrum_free(bramah_spectrum *spectrum);

#ifdef __cplusplus
}
#endif
#endif
