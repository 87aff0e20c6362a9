/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/friction.h"

#include <math.h>

/* (D 2.44), smooth and odd in v. */
static double brown_mcphee(const bramah__friction *f, double v)
{
  const double ratio = fabs(v) / f->stribeck;
  const double quartic = 0.25 * ratio * ratio + 0.75;
  const double dry =
      f->coulomb * tanh(4.0 * ratio) + (f->static_force - f->coulomb) * ratio / (quartic * quartic);
  return copysign(dry, v) + f->viscous * v * BRAMAH__TANH_4;
}

/* From 0 to 1 as r goes from 0.99 to 1.01. */
static double smooth_step(double r)
{
  const double t = fmin(fmax((r - 0.99) / 0.02, 0.0), 1.0);
  return t * t * (3.0 - 2.0 * t);
}

/* (D 2.42). As printed the viscous term begins with a jump at v_s; it is ramped in over one per cent of v_s
 * on either side, so that the force is a function Newton can follow. */
static double bengisu_akay(const bramah__friction *f, double v)
{
  const double speed = fabs(v), beyond = speed - f->stribeck;
  const double viscous = f->viscous * v * smooth_step(speed / f->stribeck);
  if (beyond < 0.0) {
    const double part = beyond / f->stribeck;
    return copysign(f->static_force * (1.0 - part * part), v) + viscous;
  }
  return copysign(f->coulomb + (f->static_force - f->coulomb) * exp(-f->decay * beyond), v) + viscous;
}

/* g(v): the force at which steadily sliding bristles settle (D 2.47); with a film of thickness h it takes (1
 * - h) F_s for F_s (D 2.49). */
static double stribeck_curve(const bramah__friction *f, double v, double film)
{
  const double top = (1.0 - film) * f->static_force;
  return f->coulomb + (top - f->coulomb) * exp(-pow(fabs(v) / f->stribeck, f->exponent));
}

/* h_ss (D 2.52, 2.53). */
static double steady_film(const bramah__friction *f, double v)
{
  const double limit = 1.0 - f->coulomb / f->static_force; /* K_f |v_b|^(2/3) */
  return limit * pow(fmin(fabs(v) / f->film_velocity, 1.0), 2.0 / 3.0);
}

static double film_time(const bramah__friction *f, double v, double film)
{
  if (v == 0.0) return f->film_dwell;
  return film <= steady_film(f, v) ? f->film_rising : f->film_falling;
}

static double film_of(const bramah__friction *f, const double *x)
{
  return f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE ? x[1] : 0.0;
}

/* (D 2.45-2.51) */
static double lugre(const bramah__friction *f, double v, const double *x, double *xd)
{
  const double slip = f->stiffness * fabs(v) / stribeck_curve(f, v, film_of(f, x));
  xd[0] = v - slip * x[0];
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) xd[1] = (steady_film(f, v) - x[1]) / film_time(f, v, x[1]);
  return f->stiffness * x[0] + f->damping * xd[0] + f->viscous * v;
}

size_t bramah__friction_states(bramah__friction_kind kind)
{
  if (kind == BRAMAH__FRICTION_LUGRE) return 1;
  return kind == BRAMAH__FRICTION_MODIFIED_LUGRE ? 2 : 0;
}

double bramah__friction_force(const bramah__friction *friction, double v, const double *x, double *xd)
{
  switch (friction->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    return brown_mcphee(friction, v);
  case BRAMAH__FRICTION_BENGISU_AKAY:
    return bengisu_akay(friction, v);
  case BRAMAH__FRICTION_LUGRE:
  case BRAMAH__FRICTION_MODIFIED_LUGRE:
    return lugre(friction, v, x, xd);
  case BRAMAH__FRICTION_VISCOUS:
    return friction->viscous * v;
  case BRAMAH__FRICTION_NONE:
    break;
  }
  return 0.0;
}

/* x = x_k + h/2 (xd_k + (target - x) rate), solved for x. */
static double relax(double h, double x_k, double xd_k, double target, double rate)
{
  return (x_k + 0.5 * h * (xd_k + target * rate)) / (1.0 + 0.5 * h * rate);
}

/* The time constant depends on which side of its steady value the film ends; both agree where it ends on it.
 */
static double step_film(const bramah__friction *f, double h, double v, double film, double rate)
{
  const double steady = steady_film(f, v);
  if (v == 0.0) return relax(h, film, rate, steady, 1.0 / f->film_dwell);
  const double rising = relax(h, film, rate, steady, 1.0 / f->film_rising);
  return rising <= steady ? rising : relax(h, film, rate, steady, 1.0 / f->film_falling);
}

void bramah__friction_step(const bramah__friction *friction, double h, double v, const double *x_k,
                           const double *xd_k, double *x)
{
  const bramah__friction *f = friction;
  if (bramah__friction_states(f->kind) == 0) return;
  if (f->kind == BRAMAH__FRICTION_MODIFIED_LUGRE) x[1] = step_film(f, h, v, x_k[1], xd_k[1]);
  const double slip = f->stiffness * fabs(v) / stribeck_curve(f, v, film_of(f, x));
  x[0] = (x_k[0] + 0.5 * h * (xd_k[0] + v)) / (1.0 + 0.5 * h * slip);
}
