/* SPDX-License-Identifier: MIT */
/* Seal friction of a cylinder: four models, two of them with internal states. Forces are positive for
 * positive velocity. Source: dissertation 2.42-2.54. */
#ifndef BRAMAH_LIB_HYDRAULICS_FRICTION_H
#define BRAMAH_LIB_HYDRAULICS_FRICTION_H

#include "lib/graph/expr.h"

#define BRAMAH__TANH_4 0.99932929973906704 /* tanh(4), which (D 2.44) carries in its viscous term */

typedef enum bramah__friction_kind {
  BRAMAH__FRICTION_NONE = 0,
  BRAMAH__FRICTION_BROWN_MCPHEE = 1,
  BRAMAH__FRICTION_BENGISU_AKAY = 2,
  BRAMAH__FRICTION_LUGRE = 3,
  BRAMAH__FRICTION_MODIFIED_LUGRE = 4,
  BRAMAH__FRICTION_VISCOUS = 5
} bramah__friction_kind;

enum { BRAMAH__FRICTION_MAX_STATES = 2 };

typedef struct bramah__friction {
  bramah__friction_kind kind;
  double coulomb;       /* F_c [N] */
  double static_force;  /* F_s [N] */
  double stribeck;      /* v_s [m/s] */
  double viscous;       /* sigma_2 [N s/m] */
  double decay;         /* xi [s/m] (Bengisu-Akay) */
  double stiffness;     /* sigma_0 [N/m] of the bristles (LuGre) */
  double damping;       /* sigma_1 [N s/m] of the bristles */
  double exponent;      /* n of the Stribeck curve */
  double film_velocity; /* v_b [m/s], above it the film does not grow (modified LuGre) */
  double film_rising, film_falling, film_dwell; /* tau_hp, tau_hn, tau_h0 [s] */
} bramah__friction;

/* Number of internal states x: none; bristle deflection q [m]; q and film thickness h [-]. */
size_t bramah__friction_states(bramah__friction_kind kind);

/* Friction force [N] at the end of a trapezoidal step of length 2 half [s] that ends at velocity v [m/s], with the states
 * and their rates there into x and xd, from x_k and xd_k at its start: for given v the rule is a linear equation for each
 * state, so that they need no place among the unknowns of an iteration. With half = 0 all of them at the state x_k.
 * Kinks: at v = 0 |v| has the slope of what is above; the steady film, whose slope grows beyond bounds there, counts as
 * level (0), as it does from the film velocity on; a film at its steady value counts as rising. Brown-McPhee is smooth;
 * Bengisu-Akay takes the decaying branch at |v| = v_s. The arrays are not looked at without states. */
bramah__expr bramah__friction_at(const bramah__friction *friction, bramah__expr v, bramah__expr half,
                                 const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                                 bramah__expr *xd);

/* ---- the same with numbers ---- */

/* Friction force [N] at velocity v [m/s] and states x; their rates go to xd. x and xd may be NULL without
 * states. */
double bramah__friction_force(const bramah__friction *friction, double v, const double *x, double *xd);

/* States x after a step h [s] that ends at velocity v, from x_k and their rates xd_k. */
void bramah__friction_step(const bramah__friction *friction, double h, double v, const double *x_k,
                           const double *xd_k, double *x);

/* Derivatives of force F and rates xd at velocity v and states x, all three taken as independent. Zero for
 * states a model does not have. */
typedef struct bramah__friction_partials {
  double force_by_v;                                                          /* [N s/m] at held states */
  double force_by_x[BRAMAH__FRICTION_MAX_STATES];                             /* [N/m], [N] */
  double rate_by_v[BRAMAH__FRICTION_MAX_STATES];                              /* [-], [1/m] */
  double rate_by_x[BRAMAH__FRICTION_MAX_STATES][BRAMAH__FRICTION_MAX_STATES]; /* of xd[i] by x[j] */
} bramah__friction_partials;

void bramah__friction_derivatives(const bramah__friction *friction, double v, const double *x,
                                  bramah__friction_partials *out);

/* dF/dv at held states x (NULL without states) [N s/m]. */
double bramah__friction_slope(const bramah__friction *friction, double v, const double *x);

/* Derivatives [N s/m] of the force at the end of a trapezoidal step h (bramah__friction_step, then
 * bramah__friction_force) by the velocity v at its end, and by the velocity v_k at its start where x_k is
 * held and xd_k, its rate at (v_k, x_k), follows v_k. x_k and xd_k may be NULL without states. */
void bramah__friction_step_slopes(const bramah__friction *friction, double h, double v, double v_k,
                                  const double *x_k, const double *xd_k, double *by_v, double *by_v_k);

#endif
