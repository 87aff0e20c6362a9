/* SPDX-License-Identifier: MIT */
/* One actuator: force by velocity (Gamma) and velocity by load (Lambda). */
#include "lib/hydraulics/metered_internal.h"

#include <math.h>

int bramah__metering_allowed(const bramah__metering *u)
{
  const double each[] = {u->ph, u->tr, u->pr, u->th, u->a};
  for (int i = 0; i < 5; ++i) {
    if (!(each[i] >= 0.0 && each[i] <= 1.0)) return 0;
  }
  return (u->pr == 0.0 && u->th == 0.0) || (u->ph == 0.0 && u->tr == 0.0);
}

/* u_hat^2 (20, 21): S(q) / it is the force lost over a valve at chamber velocity q. */
static double conductance(double c, double u, double A) { return c * u * c * u / (A * A * A); }

bramah__directed bramah__direct(const bramah__metered *m, const bramah__metering *u)
{
  if (u->pr > 0.0 || u->th > 0.0) {
    return (bramah__directed){.sign = -1.0,
                              .A = m->A_r,
                              .F_M = m->A_r * m->P_rM,
                              .a = conductance(m->c_pr, u->pr, m->A_r),
                              .A_o = m->A_h,
                              .F_oM = m->A_h * m->P_hM,
                              .ao = conductance(m->c_th, u->th, m->A_h),
                              .ratio = m->A_h / m->A_r};
  }
  const int open = u->ph > 0.0 || u->tr > 0.0;
  return (bramah__directed){.sign = 1.0,
                            .A = m->A_h,
                            .F_M = m->A_h * m->P_hM,
                            .a = conductance(m->c_ph, u->ph, m->A_h),
                            .A_o = m->A_r,
                            .F_oM = m->A_r * m->P_rM,
                            .ao = conductance(m->c_tr, u->tr, m->A_r),
                            .k = open ? conductance(m->c_a, u->a, m->A_r) : 0.0,
                            .ratio = m->A_r / m->A_h};
}

/* Force of the driven chamber at q > 0 when the line would push it with A P (36a). */
static double driven_force(const bramah__directed *d, double push, double q)
{
  if (d->a == 0.0) return 0.0;
  return fmin(fmax(push - q * q / d->a, 0.0), d->F_M);
}

/* Force of the drained chamber at r > 0 (32). */
static double drained_force(const bramah__directed *d, double r)
{
  return d->ao == 0.0 ? d->F_oM : fmin(r * r / d->ao, d->F_oM);
}

/* Both chambers at w = 0, at the end of the set where the actuator begins to move ahead (45, 73). An open
 * regeneration valve keeps a drained chamber without an outlet at the pressure of the driven one. */
static bramah__chambers resting_chambers(const bramah__directed *d, double push)
{
  const double in = d->a > 0.0 ? fmin(fmax(push, 0.0), d->F_M) : 0.0;
  if (d->ao > 0.0) return (bramah__chambers){.in = in};
  return (bramah__chambers){.in = in, .out = d->k > 0.0 ? fmin(d->ratio * in, d->F_oM) : d->F_oM};
}

/* ---- regeneration: the w_a of (64a), in closed form ---- */

/* Xi (65) on one segment: x^2/k less the drained force, held or lost (w - x)^2, plus ratio times the driven
 * force, constant - gain (w - ratio x)^2. On [0, w] it rises; its root there, clamped. The discriminant is
 * written out so that large squares of nearly closed valves have cancelled already. */
typedef struct segment {
  double lost, held; /* drained side */
  double gain, constant;
} segment;

static double root_of_segment(const bramah__directed *d, segment s, double w)
{
  const double c = d->ratio, fed = c * s.gain, per_k = 1.0 / d->k, apart = 1.0 - c;
  const double rest = c * s.constant - s.held, at_0 = rest - w * w * (s.lost + fed);
  if (at_0 >= 0.0) return 0.0;
  if (w * w * per_k + rest - fed * w * w * apart * apart <= 0.0) return w;
  const double x2 = per_k - s.lost - fed * c * c, half_x1 = w * (s.lost + fed * c);
  const double quarter = w * w * ((s.lost + fed) * per_k - s.lost * fed * apart * apart) - x2 * rest;
  return fmin(-at_0 / (half_x1 + sqrt(fmax(quarter, 0.0))), w);
}

typedef struct regeneration {
  double w_a;
  int at_relief; /* the drained chamber */
} regeneration;

/* Of the two forces that the drained chamber can have the lesser one counts: Xi is the greater, its root the
 * nearer. */
static regeneration nearer_root(const bramah__directed *d, double w, double constant, double gain)
{
  const double limited = root_of_segment(d, (segment){0.0, d->F_oM, gain, constant}, w);
  if (d->ao == 0.0) return (regeneration){limited, limited < w};
  const double free = root_of_segment(d, (segment){1.0 / d->ao, 0.0, gain, constant}, w);
  return limited < free ? (regeneration){limited, 1} : (regeneration){free, 0};
}

/* (67). The driven force is max(0, min(F_M, push - S/a)), and so is the root. */
static regeneration regenerated(const bramah__directed *d, double push, double w)
{
  const regeneration empty = nearer_root(d, w, 0.0, 0.0);
  if (d->a == 0.0) return empty;
  const regeneration full = nearer_root(d, w, d->F_M, 0.0), free = nearer_root(d, w, push, 1.0 / d->a);
  const regeneration fed = full.w_a > free.w_a ? full : free;
  return empty.w_a < fed.w_a ? empty : fed;
}

/* The drained force follows from the flow through either valve; the one that loses less says it more exactly.
 * (With its own valve closed all the oil may regenerate, w_a = w.) */
static double drained_while_regenerating(const bramah__directed *d, double in, double w, regeneration a)
{
  const double r = w - a.w_a;
  if (a.at_relief) return d->F_oM;
  if (d->ao > 0.0 && r * d->k <= a.w_a * d->ao) return drained_force(d, r);
  return fmin(d->ratio * in + a.w_a * a.w_a / d->k, d->F_oM);
}

static bramah__chambers moving_chambers(const bramah__directed *d, double push, double w)
{
  const regeneration a = d->k > 0.0 ? regenerated(d, push, w) : (regeneration){0.0, 0};
  bramah__chambers c = {.in = driven_force(d, push, w - d->ratio * a.w_a), .w_a = a.w_a};
  c.out = a.w_a > 0.0 ? drained_while_regenerating(d, c.in, w, a) : drained_force(d, w);
  return c;
}

bramah__chambers bramah__chambers_at(const bramah__directed *d, double P, double w)
{
  if (w < 0.0) return (bramah__chambers){.in = d->F_M};
  if (w == 0.0) return resting_chambers(d, d->A * P);
  return moving_chambers(d, d->A * P, w);
}

/* ---- Gamma ---- */

double bramah__holding_force(const bramah__directed *d, double P)
{
  const bramah__chambers c = resting_chambers(d, d->A * P);
  return c.in - c.out;
}

static bramah__interval turned(double sign, double lo, double hi)
{
  return sign > 0.0 ? (bramah__interval){lo, hi} : (bramah__interval){-hi, -lo};
}

static bramah__interval directed_gamma(const bramah__directed *d, double P, double v)
{
  const bramah__chambers c = bramah__chambers_at(d, P, d->sign * v);
  const double g = c.in - c.out;
  return turned(d->sign, g, v == 0.0 ? d->F_M : g);
}

bramah__interval bramah__gamma_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                  double v)
{
  const bramah__directed d = bramah__direct(actuator, u);
  return directed_gamma(&d, P, v);
}

static bramah__directed without_regeneration(const bramah__metered *actuator, const bramah__metering *u)
{
  bramah__directed d = bramah__direct(actuator, u);
  d.k = 0.0;
  return d;
}

/* A P in (38) at w >= 0: the relief setting, or what the unloading valve's share of the flow raises. */
static double push_of_line(const bramah__directed *d, const bramah__pump_line *line, double w)
{
  const double at_relief = d->A * line->P_M, left = line->Q / d->A - w;
  if (line->U_b == 0.0) return left >= 0.0 ? at_relief : 0.0;
  return fmin(at_relief, d->A * bramah__signed_square(d->A * left / line->U_b));
}

bramah__interval bramah__gamma(const bramah__metered *actuator, const bramah__metering *u,
                               const bramah__pump_line *line, double v)
{
  const bramah__directed d = without_regeneration(actuator, u);
  const double w = d.sign * v, push = push_of_line(&d, line, w);
  if (w <= 0.0) return directed_gamma(&d, push / d.A, v);
  const bramah__chambers c = moving_chambers(&d, push, w);
  /* With the unloading valve closed the pump's whole flow fixes the velocity, and the line takes any pressure. */
  const int pinned = line->U_b == 0.0 && w * d.A == line->Q;
  return turned(d.sign, pinned ? -c.out : c.in - c.out, c.in - c.out);
}

/* ---- Lambda ---- */

/* w of the segments that do not depend on the line (53a, b, g, h), and of (53e, f) for the push A P. */
static double at_driven_relief(const bramah__directed *d, double beta, double g)
{
  return fmax(bramah__phi_a(beta, g - d->F_M, d->ao), (d->F_M - d->F_oM - g) / beta);
}

static double at_driven_suction(const bramah__directed *d, double beta, double g)
{
  return fmax(bramah__phi_a(beta, g, d->ao), (-d->F_oM - g) / beta);
}

/* psi (10) of the two valves in series, of their squares. */
static double in_series(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b / (a + b); }

static double through_valves(const bramah__directed *d, double beta, double g, double push)
{
  return fmax(bramah__phi_a(beta, g - push, in_series(d->a, d->ao)),
              bramah__phi_a(beta, g - push + d->F_oM, d->a));
}

/* (53c, d): below the relief setting of the line, whose unloading valve takes what the actuator leaves. */
static double beside_unloading(const bramah__directed *d, const bramah__pump_line *line, double beta,
                               double g)
{
  const double bled = line->U_b * line->U_b / (d->A * d->A * d->A), all = line->Q / d->A;
  return fmax(bramah__phi_b(beta, g, in_series(d->a, d->ao), bled, all),
              bramah__phi_b(beta, g + d->F_oM, d->a, bled, all));
}

/* Both ways back and the rest are the same for every supply; returns 1 if w is settled. */
static int settled(const bramah__directed *d, double beta, double g, double holding, double *w)
{
  *w = g > d->F_M ? (d->F_M - g) / beta : 0.0;
  return g >= holding;
}

/* Falling in w: what Gamma exceeds the load by. */
typedef struct load {
  const bramah__directed *d;
  double P, beta, g;
} load;

static double excess(const void *context, double w)
{
  const load *l = context;
  const bramah__chambers c = bramah__chambers_at(l->d, l->P, w);
  return c.in - c.out - l->g - l->beta * w;
}

/* Regeneration only makes an actuator quicker; the relief of the driven side bounds it (69). */
static double with_regeneration(const bramah__directed *d, double P, double beta, double g, double w)
{
  const load l = {d, P, beta, g};
  if (w > 0.0 && bramah__chambers_at(d, P, w).w_a == 0.0) return w;
  return bramah__root_between(excess, &l, w, (d->F_M - g) / beta);
}

double bramah__directed_lambda(const bramah__directed *d, double P, double beta, double g)
{
  double w;
  if (settled(d, beta, g, bramah__holding_force(d, P), &w)) return w;
  w = fmax(fmin(at_driven_relief(d, beta, g), through_valves(d, beta, g, d->A * P)),
           at_driven_suction(d, beta, g));
  return d->k > 0.0 ? with_regeneration(d, P, beta, g, fmax(w, 0.0)) : w;
}

double bramah__lambda_at(const bramah__metered *actuator, const bramah__metering *u, double P, double beta,
                         double fbar)
{
  const bramah__directed d = bramah__direct(actuator, u);
  return d.sign * bramah__directed_lambda(&d, P, beta, d.sign * fbar);
}

double bramah__relaxed_step(const bramah__metered *actuator, const bramah__metering *u,
                            const bramah__pump_line *line, double h, double l, bramah__relaxed *state,
                            double *v)
{
  const double beta = state->B + h * state->K;
  const double fbar = state->K * (state->x - l) - state->B * (l - state->l) / h;
  *v = bramah__lambda(actuator, u, line, beta, fbar);
  state->x += h * *v;
  state->l = l;
  return fbar + beta * *v;
}

double bramah__lambda(const bramah__metered *actuator, const bramah__metering *u,
                      const bramah__pump_line *line, double beta, double fbar)
{
  const bramah__directed d = without_regeneration(actuator, u);
  const double g = d.sign * fbar, at_relief = d.A * line->P_M;
  double w;
  if (settled(&d, beta, g, bramah__holding_force(&d, push_of_line(&d, line, 0.0) / d.A), &w))
    return d.sign * w;
  const double supplied = fmin(beside_unloading(&d, line, beta, g), through_valves(&d, beta, g, at_relief));
  return d.sign * fmax(fmin(at_driven_relief(&d, beta, g), supplied), at_driven_suction(&d, beta, g));
}
