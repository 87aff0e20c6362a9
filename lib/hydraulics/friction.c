/* SPDX-License-Identifier: MIT */
/* Each model gives its force together with its slopes. Even functions of v are differentiated by |v|; odd ones,
 * f(|v|) sgn v, have the same slope on both sides. */
#include "lib/hydraulics/friction.h"
#include "lib/hydraulics/element.h"
#include "lib/math/elementary.h"

#include <math.h>

/* A force and its slope by v. */
typedef struct force {
  double value, by_v;
} force;

/* (D 2.44), smooth and odd in v; (r/Q^2)' = (Q - r^2)/Q^3 with Q = r^2/4 + 3/4. */
static force brown_mcphee(const bramah__friction *f, double v)
{
  const double r = fabs(v) / f->stribeck, t = bramah__tanh(4.0 * r), Q = 0.25 * r * r + 0.75;
  const double peak = f->static_force - f->coulomb;
  const double dry = f->coulomb * t + peak * r / (Q * Q);
  const double dry_by_r = f->coulomb * 4.0 * (1.0 - t * t) + peak * (Q - r * r) / (Q * Q * Q);
  return (force){copysign(dry, v) + f->viscous * v * BRAMAH__TANH_4,
                 dry_by_r / f->stribeck + f->viscous * BRAMAH__TANH_4};
}

/* (D 2.42). As printed the viscous term begins with a jump at v_s; it is ramped in over one per cent of v_s
 * on either side, t^2 (3 - 2t) over 0.99 < |v|/v_s < 1.01, so that the force is a function Newton can follow. */
static force bengisu_akay(const bramah__friction *f, double v)
{
  const double speed = fabs(v), beyond = speed - f->stribeck, r = speed / f->stribeck;
  const double t = fmin(fmax((r - 0.99) / 0.02, 0.0), 1.0), ramp = t * t * (3.0 - 2.0 * t);
  const double viscous = f->viscous * v * ramp;
  const double viscous_by_v = f->viscous * (ramp + r * 6.0 * t * (1.0 - t) / 0.02);
  if (beyond < 0.0) {
    const double part = beyond / f->stribeck;
    return (force){copysign(f->static_force * (1.0 - part * part), v) + viscous,
                   -2.0 * f->static_force * part / f->stribeck + viscous_by_v};
  }
  const double excess = f->static_force - f->coulomb, decayed = bramah__exp(-f->decay * beyond);
  return (force){copysign(f->coulomb + excess * decayed, v) + viscous,
                 -f->decay * excess * decayed + viscous_by_v};
}

/* ---- the same as expressions ---- */

static bramah__expr brown_mcphee_graph(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr r = e_scale(1.0 / f->stribeck, v);
  const bramah__expr per_Q = e_inv(e_add(e_scale(0.25, e_square(r)), e_number(0.75)));
  const bramah__expr peak = e_scale(f->static_force - f->coulomb, e_mul(r, e_square(per_Q)));
  const bramah__expr sliding = e_scale(f->coulomb, e_tanh(e_scale(4.0, r)));
  return e_add(e_add(sliding, peak), e_scale(f->viscous * BRAMAH__TANH_4, v));
}

static bramah__expr bengisu_akay_graph(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr speed = e_abs(v), beyond = e_sub(speed, e_number(f->stribeck)), one = e_number(1.0);
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

bramah__expr bramah__friction_graph(const bramah__friction *friction, bramah__expr v)
{
  switch (friction->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    return brown_mcphee_graph(friction, v);
  case BRAMAH__FRICTION_BENGISU_AKAY:
    return bengisu_akay_graph(friction, v);
  case BRAMAH__FRICTION_VISCOUS:
    return e_scale(friction->viscous, v);
  default:
    return e_number(0.0);
  }
}

/* ---- bristles (LuGre), with a lubricant film (modified) ---- */

/* sigma_0 |v| / g(v, h) of (D 2.46, 2.47), by which the bristles yield. g is the force at which steadily
 * sliding ones settle; with a film of thickness h it takes (1 - h) F_s for F_s (D 2.49). |v| dg/d|v| stays
 * finite at v = 0, where dg/d|v| alone need not. */
typedef struct slip {
  double value, by_v, by_film;
} slip;

static slip slip_at(const bramah__friction *f, double v, double film)
{
  const double speed = fabs(v), power = bramah__power(speed / f->stribeck, f->exponent),
               drop = bramah__exp(-power);
  const double excess = (1.0 - film) * f->static_force - f->coulomb, g = f->coulomb + excess * drop;
  const double v_g_by_v = -excess * drop * f->exponent * power, value = f->stiffness * speed / g;
  return (slip){.value = value,
                .by_v = copysign(f->stiffness / g * (1.0 - v_g_by_v / g), v),
                .by_film = value * f->static_force * drop / g};
}

/* h_ss (D 2.52, 2.53). */
typedef struct steady {
  double film, by_v;
} steady;

static steady steady_at(const bramah__friction *f, double v)
{
  const double limit = 1.0 - f->coulomb / f->static_force; /* K_f |v_b|^(2/3) */
  const double r = fabs(v) / f->film_velocity, film = limit * bramah__power(fmin(r, 1.0), 2.0 / 3.0);
  return (steady){film, v == 0.0 || !(r < 1.0) ? 0.0 : film / (1.5 * v)};
}

static double film_time(const bramah__friction *f, double v, int rises)
{
  if (v == 0.0) return f->film_dwell;
  return rises ? f->film_rising : f->film_falling;
}

/* (D 2.45-2.51): q' = v - slip q, h' = (h_ss - h)/tau, F = sigma_0 q + sigma_1 q' + sigma_2 v */
static double lugre(const bramah__friction *f, double v, const double *x, double *xd,
                    bramah__friction_partials *by)
{
  const int film = f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE;
  const slip c = slip_at(f, v, film ? x[1] : 0.0);
  const double q_rate = v - c.value * x[0];
  if (xd) xd[0] = q_rate;
  by->rate_by_v[0] = 1.0 - c.by_v * x[0];
  by->rate_by_x[0][0] = -c.value;
  if (film) {
    const steady h = steady_at(f, v);
    const double time = film_time(f, v, x[1] <= h.film);
    if (xd) xd[1] = (h.film - x[1]) / time;
    by->rate_by_x[0][1] = -c.by_film * x[0];
    by->rate_by_v[1] = h.by_v / time;
    by->rate_by_x[1][1] = -1.0 / time;
  }
  by->force_by_v = f->damping * by->rate_by_v[0] + f->viscous;
  by->force_by_x[0] = f->stiffness + f->damping * by->rate_by_x[0][0];
  by->force_by_x[1] = f->damping * by->rate_by_x[0][1];
  return f->stiffness * x[0] + f->damping * q_rate + f->viscous * v;
}

/* ---- any model ---- */

size_t bramah__friction_states(bramah__friction_kind kind)
{
  if (kind == BRAMAH__FRICTION_LUGRE) return 1;
  return kind == BRAMAH__FRICTION_MODIFIED_LUGRE ? 2 : 0;
}

/* Force, rates of the states (xd, may be NULL) and all derivatives. */
static double friction_at(const bramah__friction *f, double v, const double *x, double *xd,
                          bramah__friction_partials *by)
{
  force dry = {0.0, 0.0};
  *by = (bramah__friction_partials){.force_by_v = 0.0};
  switch (f->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    dry = brown_mcphee(f, v);
    break;
  case BRAMAH__FRICTION_BENGISU_AKAY:
    dry = bengisu_akay(f, v);
    break;
  case BRAMAH__FRICTION_LUGRE:
  case BRAMAH__FRICTION_MODIFIED_LUGRE:
    return lugre(f, v, x, xd, by);
  case BRAMAH__FRICTION_VISCOUS:
    dry = (force){f->viscous * v, f->viscous};
    break;
  case BRAMAH__FRICTION_NONE:
    break;
  }
  by->force_by_v = dry.by_v;
  return dry.value;
}

double bramah__friction_force(const bramah__friction *friction, double v, const double *x, double *xd)
{
  bramah__friction_partials by;
  return friction_at(friction, v, x, xd, &by);
}

void bramah__friction_derivatives(const bramah__friction *friction, double v, const double *x,
                                  bramah__friction_partials *out)
{
  friction_at(friction, v, x, NULL, out);
}

double bramah__friction_slope(const bramah__friction *friction, double v, const double *x)
{
  bramah__friction_partials by;
  friction_at(friction, v, x, NULL, &by);
  return by.force_by_v;
}

/* ---- steps of the states ---- */

/* x = x_k + h/2 (xd_k + (target - x) rate), solved for x. */
static double relax(double h, double x_k, double xd_k, double target, double rate)
{
  return (x_k + 0.5 * h * (xd_k + target * rate)) / (1.0 + 0.5 * h * rate);
}

/* Derivatives of the states at the end of a step by v there and by xd_k. */
typedef struct step_slopes {
  double q_by_v, q_by_qd, q_by_hd, h_by_v, h_by_hd;
} step_slopes;

/* States x at the end of a step of a model that has some, and their slopes. */
static step_slopes step_states(const bramah__friction *f, double h, double v, const double *x_k,
                               const double *xd_k, double *x)
{
  const double half = 0.5 * h;
  step_slopes out = {0};
  double film = 0.0;
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) {
    /* The time constant depends on which side of its steady value the film ends; both agree where it ends on
     * it. */
    const steady end = steady_at(f, v);
    double rate = 1.0 / film_time(f, v, 1);
    film = relax(h, x_k[1], xd_k[1], end.film, rate);
    if (film > end.film) {
      rate = 1.0 / film_time(f, v, 0);
      film = relax(h, x_k[1], xd_k[1], end.film, rate);
    }
    out.h_by_v = half * rate / (1.0 + half * rate) * end.by_v;
    out.h_by_hd = half / (1.0 + half * rate);
    x[1] = film;
  }

  /* q = (q_k + h/2 (qd_k + v)) / (1 + h/2 slip(v, h)) */
  const slip c = slip_at(f, v, film);
  const double per = 1.0 / (1.0 + half * c.value);
  x[0] = (x_k[0] + half * (xd_k[0] + v)) / (1.0 + half * c.value);
  out.q_by_v = half * per * (1.0 - x[0] * (c.by_v + c.by_film * out.h_by_v));
  out.q_by_qd = half * per;
  out.q_by_hd = -half * per * x[0] * c.by_film * out.h_by_hd;
  return out;
}

void bramah__friction_step(const bramah__friction *friction, double h, double v, const double *x_k,
                           const double *xd_k, double *x)
{
  if (bramah__friction_states(friction->kind) > 0) step_states(friction, h, v, x_k, xd_k, x);
}

void bramah__friction_step_slopes(const bramah__friction *friction, double h, double v, double v_k,
                                  const double *x_k, const double *xd_k, double *by_v, double *by_v_k)
{
  bramah__friction_partials end, start;
  double x[BRAMAH__FRICTION_MAX_STATES];
  *by_v_k = 0.0;
  if (bramah__friction_states(friction->kind) == 0) {
    *by_v = bramah__friction_slope(friction, v, NULL);
    return;
  }
  const step_slopes d = step_states(friction, h, v, x_k, xd_k, x);
  bramah__friction_derivatives(friction, v, x, &end);
  bramah__friction_derivatives(friction, v_k, x_k, &start);
  *by_v = end.force_by_v + end.force_by_x[0] * d.q_by_v + end.force_by_x[1] * d.h_by_v;
  *by_v_k = end.force_by_x[0] * (d.q_by_qd * start.rate_by_v[0] + d.q_by_hd * start.rate_by_v[1]) +
            end.force_by_x[1] * d.h_by_hd * start.rate_by_v[1];
}

/* ---- the same as expressions ---- */

static bramah__expr speed_graph(bramah__expr v)
{
  return e_with_slope(e_abs(v), v, e_select(e_neg(v), e_number(-1.0), e_number(1.0)));
}

static bramah__expr slip_graph(const bramah__friction *f, bramah__expr v, bramah__expr film)
{
  const bramah__expr speed = speed_graph(v);
  const bramah__expr drop = e_exp(e_neg(e_power(e_scale(1.0 / f->stribeck, speed), f->exponent)));
  const bramah__expr excess = e_sub(e_number(f->static_force - f->coulomb), e_scale(f->static_force, film));
  return e_div(e_scale(f->stiffness, speed), e_add(e_number(f->coulomb), e_mul(excess, drop)));
}

static bramah__expr steady_graph(const bramah__friction *f, bramah__expr v)
{
  const bramah__expr r = e_scale(1.0 / f->film_velocity, speed_graph(v));
  return e_scale(1.0 - f->coulomb / f->static_force, e_power(e_min(r, e_number(1.0)), 2.0 / 3.0));
}

/* 1 / film_time */
static bramah__expr film_rate_graph(const bramah__friction *f, bramah__expr v, double moving)
{
  return e_select(e_abs(v), e_number(1.0 / moving), e_number(1.0 / f->film_dwell));
}

static bramah__expr relax_graph(bramah__expr half, bramah__expr x_k, bramah__expr xd_k, bramah__expr target,
                                bramah__expr rate)
{
  const bramah__expr moved = e_add(x_k, e_mul(half, e_add(xd_k, e_mul(target, rate))));
  return e_div(moved, e_add(e_number(1.0), e_mul(half, rate)));
}

bramah__expr bramah__bristles_graph(const bramah__friction *f, bramah__expr v, bramah__expr half,
                                    const bramah__expr *x_k, const bramah__expr *xd_k, bramah__expr *x,
                                    bramah__expr *xd)
{
  bramah__expr film = {0};
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) {
    const bramah__expr settled = steady_graph(f, v), rising = film_rate_graph(f, v, f->film_rising),
                       falling = film_rate_graph(f, v, f->film_falling);
    const bramah__expr risen = relax_graph(half, x_k[1], xd_k[1], settled, rising),
                       fallen = relax_graph(half, x_k[1], xd_k[1], settled, falling),
                       above = e_sub(risen, settled);
    film = x[1] = e_select(above, fallen, risen);
    xd[1] = e_mul(e_sub(settled, film), e_select(above, falling, rising));
  }
  const bramah__expr yields = slip_graph(f, v, film), one = e_number(1.0);
  x[0] = e_div(e_add(x_k[0], e_mul(half, e_add(xd_k[0], v))), e_add(one, e_mul(half, yields)));
  xd[0] = e_sub(v, e_mul(yields, x[0]));
  return e_add(e_add(e_scale(f->stiffness, x[0]), e_scale(f->damping, xd[0])), e_scale(f->viscous, v));
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
