/* SPDX-License-Identifier: MIT */
/* Analytic derivatives of the friction models in friction.c. Even functions of v are differentiated by |v|;
 * odd ones, f(|v|) sgn v, have the same slope on both sides. */
#include "lib/hydraulics/friction.h"

#include <math.h>

/* (D 2.44); (r/Q^2)' = (Q - r^2)/Q^3 with Q = r^2/4 + 3/4 */
static double brown_mcphee_slope(const bramah__friction *f, double v)
{
  const double r = fabs(v) / f->stribeck, t = tanh(4.0 * r), Q = 0.25 * r * r + 0.75;
  const double dry =
      f->coulomb * 4.0 * (1.0 - t * t) + (f->static_force - f->coulomb) * (Q - r * r) / (Q * Q * Q);
  return dry / f->stribeck + f->viscous * BRAMAH__TANH_4;
}

/* (D 2.42) with the ramp of the viscous term, t^2 (3 - 2t) over 0.99 < |v|/v_s < 1.01 */
static double bengisu_akay_slope(const bramah__friction *f, double v)
{
  const double speed = fabs(v), beyond = speed - f->stribeck, r = speed / f->stribeck;
  const double t = fmin(fmax((r - 0.99) / 0.02, 0.0), 1.0);
  const double viscous = f->viscous * (t * t * (3.0 - 2.0 * t) + r * 6.0 * t * (1.0 - t) / 0.02);
  if (beyond < 0.0) return -2.0 * f->static_force * (beyond / f->stribeck) / f->stribeck + viscous;
  return -f->decay * (f->static_force - f->coulomb) * exp(-f->decay * beyond) + viscous;
}

/* sigma_0 |v| / g(v, h) of (D 2.46, 2.47) with its derivatives. |v| dg/d|v| stays finite at v = 0, where
 * dg/d|v| alone need not. */
typedef struct slip {
  double value, by_v, by_film;
} slip;

static slip slip_at(const bramah__friction *f, double v, double film)
{
  const double speed = fabs(v), power = pow(speed / f->stribeck, f->exponent), drop = exp(-power);
  const double excess = (1.0 - film) * f->static_force - f->coulomb, g = f->coulomb + excess * drop;
  const double v_g_by_v = -excess * drop * f->exponent * power, per_g = f->stiffness / g;
  return (slip){.value = per_g * speed,
                .by_v = copysign(per_g * (1.0 - v_g_by_v / g), v),
                .by_film = per_g * speed * f->static_force * drop / g};
}

/* h_ss and its slope (D 2.52, 2.53). */
typedef struct steady {
  double film, by_v;
} steady;

static steady steady_at(const bramah__friction *f, double v)
{
  const double limit = 1.0 - f->coulomb / f->static_force, r = fabs(v) / f->film_velocity;
  const double film = limit * pow(fmin(r, 1.0), 2.0 / 3.0);
  if (v == 0.0 || !(r < 1.0)) return (steady){film, 0.0};
  return (steady){film, film / (1.5 * v)};
}

static double film_rate(const bramah__friction *f, double v, int rises)
{
  if (v == 0.0) return 1.0 / f->film_dwell;
  return 1.0 / (rises ? f->film_rising : f->film_falling);
}

/* q' = v - slip q, h' = (h_ss - h)/tau, F = sigma_0 q + sigma_1 q' + sigma_2 v */
static void lugre(const bramah__friction *f, double v, const double *x, bramah__friction_partials *out)
{
  const int film = f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE;
  const slip c = slip_at(f, v, film ? x[1] : 0.0);
  out->rate_by_v[0] = 1.0 - c.by_v * x[0];
  out->rate_by_x[0][0] = -c.value;
  if (film) {
    const steady h = steady_at(f, v);
    const double rate = film_rate(f, v, x[1] <= h.film);
    out->rate_by_x[0][1] = -c.by_film * x[0];
    out->rate_by_v[1] = h.by_v * rate;
    out->rate_by_x[1][1] = -rate;
  }
  out->force_by_v = f->damping * out->rate_by_v[0] + f->viscous;
  out->force_by_x[0] = f->stiffness + f->damping * out->rate_by_x[0][0];
  out->force_by_x[1] = f->damping * out->rate_by_x[0][1];
}

void bramah__friction_derivatives(const bramah__friction *friction, double v, const double *x,
                                  bramah__friction_partials *out)
{
  *out = (bramah__friction_partials){.force_by_v = 0.0};
  switch (friction->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    out->force_by_v = brown_mcphee_slope(friction, v);
    break;
  case BRAMAH__FRICTION_BENGISU_AKAY:
    out->force_by_v = bengisu_akay_slope(friction, v);
    break;
  case BRAMAH__FRICTION_LUGRE:
  case BRAMAH__FRICTION_MODIFIED_LUGRE:
    lugre(friction, v, x, out);
    break;
  case BRAMAH__FRICTION_VISCOUS:
    out->force_by_v = friction->viscous;
    break;
  case BRAMAH__FRICTION_NONE:
    break;
  }
}

double bramah__friction_slope(const bramah__friction *friction, double v, const double *x)
{
  bramah__friction_partials partials;
  bramah__friction_derivatives(friction, v, x, &partials);
  return partials.force_by_v;
}

/* Derivatives of the states at the end of a step by v there and by xd_k. */
typedef struct step_slopes {
  double q_by_v, q_by_qd, q_by_hd, h_by_v, h_by_hd;
} step_slopes;

/* Film = (start + half h_ss rate) / (1 + half rate), start = h_k + half hd_k, with the rate that
 * bramah__friction_step takes: that of rising where it leads no higher than the steady film. */
static void step_film(const bramah__friction *f, double half, double v, double start, double *h,
                      step_slopes *out)
{
  const steady end = steady_at(f, v);
  const double rising = 1.0 / f->film_rising;
  const double risen = (start + half * end.film * rising) / (1.0 + half * rising);
  const double rate = film_rate(f, v, risen <= end.film), per = 1.0 / (1.0 + half * rate);
  *h = (start + half * end.film * rate) * per;
  out->h_by_v = half * rate * per * end.by_v;
  out->h_by_hd = half * per;
}

/* q = (q_k + h/2 (qd_k + v)) / (1 + h/2 slip(v, h)) */
static step_slopes step_states(const bramah__friction *f, double h, double v, const double *x_k,
                               const double *xd_k, double *x)
{
  const double half = 0.5 * h;
  step_slopes out = {0};
  x[1] = 0.0;
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) step_film(f, half, v, x_k[1] + half * xd_k[1], &x[1], &out);
  const slip c = slip_at(f, v, x[1]);
  const double per = 1.0 / (1.0 + half * c.value);
  x[0] = (x_k[0] + half * (xd_k[0] + v)) * per;
  out.q_by_v = half * per * (1.0 - x[0] * (c.by_v + c.by_film * out.h_by_v));
  out.q_by_qd = half * per;
  out.q_by_hd = -half * per * x[0] * c.by_film * out.h_by_hd;
  return out;
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
