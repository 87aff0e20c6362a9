/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/multibody/contact_law.h"
#include "lib/hydraulics/friction.h"
#include "lib/hydraulics/element.h"
#include "lib/math/elementary.h"

#include <string.h>

/* |v|, at 0 with the slope of what is above */
BRAMAH__EQUATION bramah__expr speed_of(bramah__expr v)
{
  return e_with_slope(e_abs(v), v, e_select(e_neg(v), e_number(-1.0), e_number(1.0)));
}

/* (D 2.44), smooth and odd in v. */
BRAMAH__EQUATION bramah__expr brown_mcphee(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr r = e_scale(1.0 / f->stribeck, v);
  const bramah__expr per_Q = e_inv(e_add(e_scale(0.25, e_square(r)), e_number(0.75)));
  const bramah__expr peak = e_scale(f->static_force - f->coulomb, e_mul(r, e_square(per_Q)));
  const bramah__expr sliding = e_scale(f->coulomb, e_tanh(e_scale(4.0, r)));
  return e_add(e_add(sliding, peak), e_scale(f->viscous * BRAMAH__TANH_4, v));
}

/* (D 2.42). As printed the viscous term begins with a jump at v_s; it is ramped in over one per cent of v_s
 * on either side, t^2 (3 - 2t) over 0.99 < |v|/v_s < 1.01, so that the force is a function Newton can follow. */
BRAMAH__EQUATION bramah__expr bengisu_akay(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr speed = speed_of(v), beyond = e_sub(speed, e_number(f->stribeck)), one = e_number(1.0);
  const bramah__expr r = e_scale(1.0 / f->stribeck, speed);
  const bramah__expr t = e_min(e_max(e_scale(1.0 / 0.02, e_sub(r, e_number(0.99))), e_number(0.0)), one);
  const bramah__expr ramp = e_mul(e_square(t), e_sub(e_number(3.0), e_scale(2.0, t)));
  const bramah__expr part = e_scale(1.0 / f->stribeck, beyond);
  const bramah__expr rising = e_scale(f->static_force, e_sub(one, e_square(part)));
  const bramah__expr decayed = e_exp(e_scale(-f->decay, beyond));
  const bramah__expr falling = e_add(e_number(f->coulomb), e_scale(f->static_force - f->coulomb, decayed));
  const bramah__expr dry = e_signed(e_select(e_neg(beyond), rising, falling), v);
  return e_add(dry, e_mul(e_scale(f->viscous, v), ramp));
}

/* ---- bristles (LuGre), with a lubricant film (modified) ---- */

/* h_ss (D 2.52, 2.53). */
BRAMAH__EQUATION bramah__expr steady_film(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr r = e_scale(1.0 / f->film_velocity, speed_of(v));
  return e_scale(1.0 - f->coulomb / f->static_force, e_power(e_min(r, e_number(1.0)), 2.0 / 3.0));
}

/* 1/tau of the film, by what it takes while the rod moves. */
BRAMAH__EQUATION bramah__expr film_rate(const bramah__friction *f, bramah__expr v, double moving)
{
  return e_select(e_abs(v), e_number(1.0 / moving), e_number(1.0 / f->film_dwell));
}

/* x = x_k + half (xd_k + (target - x) rate), solved for x. */
BRAMAH__EQUATION bramah__expr relax(bramah__expr half, bramah__expr x_k, bramah__expr xd_k,
                                    bramah__expr target, bramah__expr rate)
{
  const bramah__expr moved = e_add(x_k, e_mul(half, e_add(xd_k, e_mul(target, rate))));
  return e_div(moved, e_add(e_number(1.0), e_mul(half, rate)));
}

/* (D 2.45-2.51): q' = v - slip q, h' = (h_ss - h)/tau, F = sigma_0 q + sigma_1 q' + sigma_2 v. The film's time constant
 * depends on which side of its steady value it ends; both agree where it ends on it. */
BRAMAH__EQUATION bramah__expr lugre(const bramah__friction *f, bramah__expr v, bramah__expr half,
                                    const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                                    bramah__expr *xd)
{
  bramah__expr film = {0};
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) {
    const bramah__expr settled = steady_film(f, v), rising = film_rate(f, v, f->film_rising),
                       falling = film_rate(f, v, f->film_falling);
    const bramah__expr risen = relax(half, x_k[1], xd_k[1], settled, rising),
                       fallen = relax(half, x_k[1], xd_k[1], settled, falling), above = e_sub(risen, settled);
    film = x[1] = e_select(above, fallen, risen);
    xd[1] = e_mul(e_sub(settled, film), e_select(above, falling, rising));
  }
  /* with a film of thickness h, (1 - h) F_s for F_s (D 2.49) */
  const bramah__expr excess = e_sub(e_number(f->static_force - f->coulomb), e_scale(f->static_force, film));
  const bramah__expr yields =
      bristles_yield(e_number(f->stiffness), f->coulomb, excess, f->stribeck, f->exponent, speed_of(v));
  bend_bristles(half, yields, v, x_k[0], xd_k[0], &x[0], &xd[0]);
  return e_add(e_add(e_scale(f->stiffness, x[0]), e_scale(f->damping, xd[0])), e_scale(f->viscous, v));
}

/* ---- any model ---- */

size_t bramah__friction_states(bramah__friction_kind kind)
{
  if (kind == BRAMAH__FRICTION_LUGRE) return 1;
  return kind == BRAMAH__FRICTION_MODIFIED_LUGRE ? 2 : 0;
}

BRAMAH__EQUATION bramah__expr friction_at(const bramah__friction *friction, bramah__expr v, bramah__expr half,
                                          const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                                          bramah__expr *xd)
{
  switch (friction->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    return brown_mcphee(friction, v);
  case BRAMAH__FRICTION_BENGISU_AKAY:
    return bengisu_akay(friction, v);
  case BRAMAH__FRICTION_LUGRE:
  case BRAMAH__FRICTION_MODIFIED_LUGRE:
    return lugre(friction, v, half, x_k, xd_k, x, xd);
  case BRAMAH__FRICTION_VISCOUS:
    return e_scale(friction->viscous, v);
  case BRAMAH__FRICTION_NONE:
    break;
  }
  return e_number(0.0);
}

bramah__expr bramah__friction_at(const bramah__friction *friction, bramah__expr v, bramah__expr half,
                                 const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                                 bramah__expr *xd)
{
  return friction_at(friction, v, half, x_k, xd_k, x, xd);
}

/* ---- with numbers ---- */

typedef struct bristles {
  bramah__expr x[BRAMAH__FRICTION_MAX_STATES], xd[BRAMAH__FRICTION_MAX_STATES];
} bristles;

static void take(const bramah__friction *f, const double *x, const double *xd, bristles *out)
{
  for (size_t i = 0; i < bramah__friction_states(f->kind); i++) {
    out->x[i] = e_number(x[i]);
    out->xd[i] = e_number(xd ? xd[i] : 0.0);
  }
}

/* From `start` to `end`; with h = 0 at the state `start`. v is a number. */
static bramah__expr move(const bramah__friction *f, double h, bramah__expr v, const bristles *start,
                         bristles *end)
{
  v.graph = NULL;
  return friction_at(f, v, e_number(0.5 * h), start->x, start->xd, end->x, end->xd);
}

double bramah__friction_force(const bramah__friction *friction, double v, const double *x, double *xd)
{
  bristles at;
  take(friction, x, NULL, &at);
  const double force = move(friction, 0.0, e_number(v), &at, &at).value;
  for (size_t i = 0; i < bramah__friction_states(friction->kind); i++) xd[i] = at.xd[i].value;
  return force;
}

double bramah__friction_slope(const bramah__friction *friction, double v, const double *x)
{
  bristles at;
  take(friction, x, NULL, &at);
  return move(friction, 0.0, e_variable(v), &at, &at).slope;
}

void bramah__friction_derivatives(const bramah__friction *friction, double v, const double *x,
                                  bramah__friction_partials *out)
{
  const size_t n = bramah__friction_states(friction->kind);
  *out = (bramah__friction_partials){.force_by_v = bramah__friction_slope(friction, v, x)};
  for (size_t j = 0; j <= n && n > 0; j++) { /* by each state, then by v */
    bristles at;
    take(friction, x, NULL, &at);
    if (j < n) at.x[j].slope = 1.0;
    const double slope = move(friction, 0.0, j < n ? e_number(v) : e_variable(v), &at, &at).slope;
    if (j < n) out->force_by_x[j] = slope;
    for (size_t i = 0; i < n; i++) *(j < n ? &out->rate_by_x[i][j] : &out->rate_by_v[i]) = at.xd[i].slope;
  }
}

void bramah__friction_step(const bramah__friction *friction, double h, double v, const double *x_k,
                           const double *xd_k, double *x)
{
  bristles start, end;
  if (bramah__friction_states(friction->kind) == 0) return;
  take(friction, x_k, xd_k, &start);
  move(friction, h, e_number(v), &start, &end);
  for (size_t i = 0; i < bramah__friction_states(friction->kind); i++) x[i] = end.x[i].value;
}

void bramah__friction_step_slopes(const bramah__friction *friction, double h, double v, double v_k,
                                  const double *x_k, const double *xd_k, double *by_v, double *by_v_k)
{
  bristles start, end;
  take(friction, x_k, xd_k, &start);
  *by_v = move(friction, h, e_variable(v), &start, &end).slope;
  *by_v_k = 0.0;
  if (bramah__friction_states(friction->kind) == 0) return;
  move(friction, 0.0, e_variable(v_k), &start, &end);
  memcpy(start.xd, end.xd, sizeof start.xd);
  *by_v_k = move(friction, h, e_number(v), &start, &end).slope;
}

/* ---- keys ---- */

/* Models by 1 << number. */
enum {
  VISCOUS = 1 << BRAMAH_FRICTION_VISCOUS,
  AKAY = 1 << BRAMAH_FRICTION_BENGISU_AKAY,
  FILM = 1 << BRAMAH_FRICTION_MODIFIED_LUGRE,
  BRISTLES = 1 << BRAMAH_FRICTION_LUGRE | FILM,
  DRY = 1 << BRAMAH_FRICTION_BROWN_MCPHEE | AKAY | BRISTLES
};

#define KEY(key, member, unit_, models_, range_, what_)                                                      \
  BRAMAH__QUANTITY_KEY(key, bramah_friction, member, .unit = (unit_), .models = (models_),                   \
                       .range = BRAMAH_KEY_##range_, .what = (what_))

/* By the units of force and stroke. */
#define KEYS(force, stroke)                                                                                  \
  {                                                                                                          \
    BRAMAH__NAME_KEY("model", BRAMAH_KEY_FRICTION_MODEL, bramah_friction, model, 1),                         \
        KEY("coulomb", coulomb, force, DRY, NOT_NEGATIVE, "coulomb friction"),                               \
        KEY("static", static_force, force, DRY, NOT_NEGATIVE, "static friction"),                            \
        KEY("stribeck_velocity", stribeck_velocity, stroke "/s", DRY, POSITIVE, "the Stribeck velocity"),    \
        KEY("viscous", viscous, force "*s/" stroke, VISCOUS, NOT_NEGATIVE, "the viscous coefficient"),       \
        KEY("decay", decay, "s/" stroke, AKAY, POSITIVE, "the decay of friction"),                           \
        KEY("bristle_stiffness", bristle_stiffness, force "/" stroke, BRISTLES, POSITIVE,                    \
            "the bristle stiffness"),                                                                        \
        KEY("bristle_damping", bristle_damping, force "*s/" stroke, BRISTLES, NOT_NEGATIVE,                  \
            "the bristle damping"),                                                                          \
        KEY("stribeck_exponent", stribeck_exponent, "1", BRISTLES, POSITIVE, "the Stribeck exponent"),       \
        KEY("film_velocity", film_velocity, stroke "/s", FILM, POSITIVE, "the film velocity"),               \
        KEY("film_time_rising", film_time_rising, "s", FILM, POSITIVE, "the rising time of the film"),       \
        KEY("film_time_falling", film_time_falling, "s", FILM, POSITIVE, "the falling time of the film"),    \
        KEY("film_time_dwell", film_time_dwell, "s", FILM, POSITIVE, "the dwell time of the film"),          \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }

static const char *check(const void *element, const char **key)
{
  const bramah_friction *f = element;
  const unsigned model = 1U << f->model;
  *key = "static";
  if (!(model & DRY)) return NULL;
  if (!(f->static_force >= f->coulomb)) return "static friction must not be below coulomb friction";
  *key = "viscous";
  if (!(f->viscous >= 0.0)) return "the viscous coefficient must not be negative";
  *key = "coulomb";
  return model & BRISTLES && !(f->coulomb > 0.0) ? "the coulomb friction of a bristle model must be positive"
                                                 : NULL;
}

static const bramah_element_key keys[] = KEYS("N", "m");
static const bramah_element_key rotary_keys[] = KEYS("N*m", "rad");
const bramah_element_kind bramah__friction_part = {.keys = keys, .check = check};
const bramah_element_kind bramah__rotary_friction_part = {.keys = rotary_keys, .check = check};
