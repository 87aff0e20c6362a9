/* SPDX-License-Identifier: MIT */
/* What sensors tell of the state along a trajectory: the information of a window (observability Gramian
 * weighted with the sensors' variances),
 *   W = sum over samples of Phi' H' R^-1 H Phi,  Phi the transition from the beginning of the window,
 * made dimensionless by the standard deviations D that the state had beforehand: D W D. Its eigenvector v
 * with the eigenvalue l is a direction of which the sensors leave 1 / sqrt(1 + l) of the prior standard
 * deviation. Source: A. J. Krener, K. Ide, "Measures of unobservability", IEEE CDC (2009), there without
 * noise.
 *
 * A direction of which nearly all is left is unseen. That does no harm if its error dies out by itself, as
 * those of pressures often do: what counts is the part of the unseen directions that does not (the state is
 * then not detectable). States that have a share in it are named. */
#ifndef BRAMAH_OBSERVABILITY_H
#define BRAMAH_OBSERVABILITY_H

#include "bramah/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* When a state counts as unseen. */
typedef struct bramah_observability_options {
  /* Of bramah_observability_run; default 0: 0.2 s, or twice the longest period of a sensor, but at most 2000
   * steps. */
  int64_t horizon_ns;
  double unseen; /* share of the prior standard deviation that is left of an unseen direction; default 0.99 */
  double fading; /* an error that shrinks below this share over the window has died out; default 0.1:
                         on its way back and forth a swinging one may look smaller than it is */
  /* Augmented states, as in a filter's options: the sigmas, directions and states of all
   * functions here count them behind it. One of order 2 is taken for one of order 1 with its time constant.
   * Copied; parameters need a plant with step_transition. */
  size_t n_augmented;
  const bramah_augmented *augmented;
} bramah_observability_options;

/* All of them at their defaults. */
BRAMAH_API void bramah_observability_options_default(bramah_observability_options *options);

typedef struct bramah_observability bramah_observability;

/* Copies and lifetimes as for bramah_filter_new; memory is taken here, once. options may be NULL (defaults).
 * Errors: E_MEMORY, E_REFERENCE (no such parameter or sensor), E_UNSUPPORTED (a plant without
 * step_transition), those of a filter for a plant that it cannot work with (bramah/plant.h). */
BRAMAH_API bramah_status bramah_observability_new(const bramah_plant *plant, size_t n_sensors,
                                                  const bramah_sensor *sensors,
                                                  const bramah_observability_options *options,
                                                  bramah_diag *diag, bramah_observability **out);
BRAMAH_API void bramah_observability_free(bramah_observability *o); /* NULL allowed */

/* Before a run: the plant is stepped over the horizon from its present state with the inputs it has, sampled
 * by its sensors with their periods, analysed, and put back. sigma [n]: prior standard deviations > 0 of the
 * plant's error state and the augmented states. Transitions are the plant's own, or differences of steps, or
 * (D 3.4) where neither can be had. Errors: E_VALUE (sigma), those of the plant, E_NOT_FINITE,
 * E_NO_CONVERGENCE. */
BRAMAH_API bramah_status bramah_observability_run(bramah_observability *o, const double *sigma,
                                                  bramah_diag *diag);

/* Results of the last run. */
typedef struct bramah_observability_report {
  size_t n;
  size_t rank;               /* directions that are seen */
  size_t lasting;            /* unseen ones that do not die out; 0: the state is detectable */
  double condition;          /* largest eigenvalue by smallest of D W D, infinite where one is zero */
  double horizon;            /* [s] */
  const double *eigenvalues; /* [n], ascending; valid until the next run */
} bramah_observability_report;

/* All of it. */
BRAMAH_API bramah_observability_report bramah_observability_get_report(const bramah_observability *o);

/* The names of the states that have a share of 0.1 and more in the unseen directions that last, "arm.angle,
 * arm.rate", into out [size], cut to fit; returns how many there are. The plant
 * must be in the coordinates of the window's beginning. */
BRAMAH_API size_t bramah_observability_names(const bramah_observability *o, char *out, size_t size);

/* ---- the posterior Cramer-Rao bound ---- */

/* Posterior Cramer-Rao bound along a simulated motion: no filter can have a smaller mean square error.
 * Source: P. Tichavsky, C. H. Muravchik, A. Nehorai, "Posterior Cramer-Rao bounds for discrete-time nonlinear
 * filtering", IEEE Trans. Signal Processing 46 (1998), for additive normal noise. There its information
 * recursion
 *   J+ = D22 - D21 (J + D11)^-1 D12,  D11 = F' Q^-1 F, D12 = -F' Q^-1, D22 = Q^-1 + H' R^-1 H
 * is that of the covariance, P+ = F P F' + Q and then the update by H and R, with all derivatives taken at
 * the true motion instead of an estimate; in this form Q need not have an inverse. The true motion is taken
 * as given: the bound is that of small errors about this one motion, not of an average over motions.
 *
 * One step of it on the bound P [n x n], which begins as the covariance of what is known beforehand; matrices
 * row-major. F [n x n]: transition, from the coordinates before to those after it, or NULL: no step; Q [n x
 * n]: covariance of its noise in the coordinates after it, or NULL: none. Then m independent samples: rows H
 * [m x n] at the true state, standard deviations sigma [m] > 0. work [2 n^2 + 3 n]. No allocation. Errors,
 * with P as before: E_VALUE (sigma), E_NOT_SPD (a variance is not positive), E_NOT_FINITE. */
BRAMAH_API bramah_status bramah_pcrb_step(size_t n, const double *F, const double *Q, size_t m,
                                          const double *H, const double *sigma, double *P, double *work,
                                          bramah_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
