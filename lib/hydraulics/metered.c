/* SPDX-License-Identifier: MIT */
/* From the roots of the orifices' laws to chambers, one actuator (Lambda), several on one line, derivatives by the loads; and
 * Gamma. */
#include "lib/hydraulics/metered.h"

#include <math.h>

/* In place of fmin and fmax, which are calls; of a NaN comes the second. */
static inline double lesser(double a, double b) { return a < b ? a : b; }
static inline double greater(double a, double b) { return a > b ? a : b; }

/* ---- roots of the quadratic laws of orifices, in forms that do not cancel ---- */

BRAMAH__METERED double bramah__signed_square(double x) { return x * fabs(x); }

/* Printed, (11) subtracts two nearly equal numbers; its conjugate adds them. */
BRAMAH__METERED double bramah__phi_a(double b, double c, double a)
{
  const double r = sqrt(a);
  if (c == 0.0) return 0.0;
  return -2.0 * r * c / (r * b + sqrt(a * b * b + 4.0 * fabs(c)));
}

/* Root of A x^2 + B x + C at which the slope is positive. */
static double rising_root(double A, double B, double C)
{
  const double slope = sqrt(greater(B * B - 4.0 * A * C, 0.0));
  return B >= 0.0 ? -2.0 * C / (B + slope) : (slope - B) / (2.0 * A);
}

/* For x1 >= 0. The function rises; its sign at 0 and x1 tells the branch. */
static double phi_b_of_positive(double b, double c, double a0, double a1, double x1)
{
  if (a1 * c - x1 * x1 > 0.0) { /* x < 0: counted from 0 */
    return rising_root(-(a0 + a1), a0 * (a1 * b + 2.0 * x1), a0 * (a1 * c - x1 * x1));
  }
  const double at_x1 = x1 * x1 + a0 * (b * x1 + c);
  if (at_x1 <= 0.0) { /* x >= x1: counted from x1, where nothing cancels */
    return x1 + rising_root(a0 + a1, a1 * (a0 * b + 2.0 * x1), a1 * at_x1);
  }
  const double x = rising_root(a1 - a0, a0 * (a1 * b + 2.0 * x1), a0 * (a1 * c - x1 * x1));
  if (x < 0.5 * x1) return x;
  return x1 + rising_root(a1 - a0, a1 * (a0 * b + 2.0 * x1), a1 * at_x1);
}

BRAMAH__METERED double bramah__phi_b(double b, double c, double a0, double a1, double x1)
{
  if (a0 == 0.0) return 0.0;
  if (a1 == 0.0) return x1;
  if (x1 < 0.0) return -phi_b_of_positive(b, -c, a0, a1, -x1);
  return phi_b_of_positive(b, c, a0, a1, x1);
}

/* Root of a falling function between lo and hi, f(lo) >= 0 >= f(hi), to the last digits in at most 64 evaluations, which
 * the caller makes (I. F. D. Oliveira, R. H. C. Takahashi, ACM Trans. Math. Softw. 47 (2021): interpolate, truncate,
 * project). */
typedef struct search {
  double lo, hi, f_lo, f_hi;
  double pull, allowed; /* width that bisection with two steps to spare would have left */
  double x;             /* the trial, in the end the root */
  int trials;           /* that are left */
} search;

static search search_between(double lo, double hi, double f_lo, double f_hi)
{
  search s = {lo, hi, f_lo, f_hi, 0.2 / (hi - lo), 2.0 * (hi - lo), f_lo <= 0.0 ? lo : hi, 62};
  if (f_lo <= 0.0 || f_hi >= 0.0) s.trials = -1;
  return s;
}

/* 1: what the function is at x is to be told next. */
static int next_trial(search *s)
{
  const double width = s->hi - s->lo, middle = s->lo + 0.5 * width, slack = s->allowed - 0.5 * width;
  if (s->trials < 0) return 0;

  /* Interpolate, and draw the trial by pull * width^2 towards the middle. */
  const double straight = (s->f_lo * s->hi - s->f_hi * s->lo) / (s->f_lo - s->f_hi);
  const double to_middle = middle - straight, drawn = s->pull * width * width;
  const double ahead = to_middle < 0.0 ? -1.0 : 1.0;
  const double trial = drawn <= fabs(to_middle) ? straight + ahead * drawn : middle;

  /* No further from the middle than bisection allows. */
  s->x = fabs(trial - middle) <= slack ? trial : middle - ahead * slack;
  if (s->trials-- > 0 && s->x > s->lo && s->x < s->hi) return 1;
  s->x = s->f_lo < -s->f_hi ? s->lo : s->hi; /* neighbours in double precision */
  s->trials = -1;
  return 0;
}

static void tell(search *s, double y)
{
  if (y == 0.0) s->trials = -1;
  if (y > 0.0) {
    s->lo = s->x;
    s->f_lo = y;
  } else {
    s->hi = s->x;
    s->f_hi = y;
  }
  s->allowed *= 0.5;
}

/* ---- the actuator as its motion sees it: a driven side, which the pump feeds, and a drained side ---- */

/* w = sign v, g = sign f. Forces of chambers: pressure times area. */
typedef struct directed {
  double sign;          /* +1 extending or closed, -1 retracting */
  double A, F_M, a;     /* driven side: area, force at relief, u_hat^2 of its valve (20, 21) */
  double A_o, F_oM, ao; /* drained side */
  double k;             /* u_hat_a^2; 0: no regeneration */
  double ratio;         /* A_o / A */
} directed;

/* u_hat^2 (20, 21): S(q) / it is the force lost over a valve at chamber velocity q. */
static double conductance(double c, double u, double A) { return c * u * c * u / (A * A * A); }

static directed direct(const bramah__metered *m, const bramah__metering *u)
{
  if (u->pr > 0.0 || u->th > 0.0) {
    return (directed){.sign = -1.0,
                      .A = m->A_r,
                      .F_M = m->A_r * m->P_rM,
                      .a = conductance(m->c_pr, u->pr, m->A_r),
                      .A_o = m->A_h,
                      .F_oM = m->A_h * m->P_hM,
                      .ao = conductance(m->c_th, u->th, m->A_h),
                      .ratio = m->A_h / m->A_r};
  }
  const int open = u->ph > 0.0 || u->tr > 0.0;
  return (directed){.sign = 1.0,
                    .A = m->A_h,
                    .F_M = m->A_h * m->P_hM,
                    .a = conductance(m->c_ph, u->ph, m->A_h),
                    .A_o = m->A_r,
                    .F_oM = m->A_r * m->P_rM,
                    .ao = conductance(m->c_tr, u->tr, m->A_r),
                    .k = open ? conductance(m->c_a, u->a, m->A_r) : 0.0,
                    .ratio = m->A_r / m->A_h};
}

/* Forces of the chambers at velocity w and line pressure P, with the velocity w_a = Q_a / A_o that
 * regeneration takes. At w = 0 the lowest driven and the highest drained force. */
typedef struct chambers {
  double in, out, w_a;
} chambers;

/* Force of the driven chamber at q > 0 when the line would push it with A P (36a). */
static double driven_force(const directed *d, double push, double q)
{
  if (d->a == 0.0) return 0.0;
  return lesser(greater(push - q * q / d->a, 0.0), d->F_M);
}

/* Force of the drained chamber at r > 0 (32). */
static double drained_force(const directed *d, double r)
{
  return d->ao == 0.0 ? d->F_oM : lesser(r * r / d->ao, d->F_oM);
}

/* Both chambers at w = 0, at the end of the set where the actuator begins to move ahead (45, 73). An open
 * regeneration valve keeps a drained chamber without an outlet at the pressure of the driven one. */
static chambers resting_chambers(const directed *d, double push)
{
  const double in = d->a > 0.0 ? lesser(greater(push, 0.0), d->F_M) : 0.0;
  if (d->ao > 0.0) return (chambers){.in = in};
  return (chambers){.in = in, .out = d->k > 0.0 ? lesser(d->ratio * in, d->F_oM) : d->F_oM};
}

/* ---- regeneration: the w_a of (64a), in closed form ---- */

/* Xi (65) on one segment: x^2/k less the drained force, held or lost (w - x)^2, plus ratio times the driven
 * force, push - gain (w - ratio x)^2. On [0, w] it rises; its root there, clamped. The discriminant is
 * written out so that large squares of nearly closed valves have cancelled already. */
typedef struct segment {
  double lost, held; /* drained side */
  double gain, push;
} segment;

static double root_of_segment(const directed *d, segment s, double w)
{
  const double c = d->ratio, fed = c * s.gain, per_k = 1.0 / d->k, apart = 1.0 - c;
  const double rest = c * s.push - s.held, at_0 = rest - w * w * (s.lost + fed);
  if (at_0 >= 0.0) return 0.0;
  if (w * w * per_k + rest - fed * w * w * apart * apart <= 0.0) return w;
  const double x2 = per_k - s.lost - fed * c * c, half_x1 = w * (s.lost + fed * c);
  const double quarter = w * w * ((s.lost + fed) * per_k - s.lost * fed * apart * apart) - x2 * rest;
  return lesser(-at_0 / (half_x1 + sqrt(greater(quarter, 0.0))), w);
}

typedef struct regeneration {
  double w_a;
  int at_relief; /* the drained chamber */
} regeneration;

/* Of the two forces that the drained chamber can have the lesser one counts: Xi is the greater, its root the
 * nearer. */
static regeneration nearer_root(const directed *d, double w, double push, double gain)
{
  const double limited = root_of_segment(d, (segment){0.0, d->F_oM, gain, push}, w);
  if (d->ao == 0.0) return (regeneration){limited, limited < w};
  const double free = root_of_segment(d, (segment){1.0 / d->ao, 0.0, gain, push}, w);
  return limited < free ? (regeneration){limited, 1} : (regeneration){free, 0};
}

/* (67). The driven force is max(0, min(F_M, push - S/a)), and so is the root. */
static regeneration regenerated(const directed *d, double push, double w)
{
  const regeneration empty = nearer_root(d, w, 0.0, 0.0);
  if (d->a == 0.0) return empty;
  const regeneration full = nearer_root(d, w, d->F_M, 0.0), free = nearer_root(d, w, push, 1.0 / d->a);
  const regeneration fed = full.w_a > free.w_a ? full : free;
  return empty.w_a < fed.w_a ? empty : fed;
}

/* The drained force follows from the flow through either valve; the one that loses less says it more exactly.
 * (With its own valve closed all the oil may regenerate, w_a = w.) */
static double drained_while_regenerating(const directed *d, double in, double w, regeneration a)
{
  const double r = w - a.w_a;
  if (a.at_relief) return d->F_oM;
  if (d->ao > 0.0 && r * d->k <= a.w_a * d->ao) return drained_force(d, r);
  return lesser(d->ratio * in + a.w_a * a.w_a / d->k, d->F_oM);
}

static chambers moving_chambers(const directed *d, double push, double w)
{
  const regeneration a = d->k > 0.0 ? regenerated(d, push, w) : (regeneration){0.0, 0};
  chambers c = {.in = driven_force(d, push, w - d->ratio * a.w_a), .w_a = a.w_a};
  c.out = a.w_a > 0.0 ? drained_while_regenerating(d, c.in, w, a) : drained_force(d, w);
  return c;
}

static chambers chambers_at(const directed *d, double P, double w)
{
  if (w < 0.0) return (chambers){.in = d->F_M};
  if (w == 0.0) return resting_chambers(d, d->A * P);
  return moving_chambers(d, d->A * P, w);
}

/* Least force that keeps the actuator from moving ahead, Gamma_+(0) (73). */
static double holding_force(const directed *d, double P)
{
  const chambers c = resting_chambers(d, d->A * P);
  return c.in - c.out;
}

static directed without_regeneration(const bramah__metered *actuator, const bramah__metering *u)
{
  directed d = direct(actuator, u);
  d.k = 0.0;
  return d;
}

/* A P in (38) at w >= 0: the relief setting, or what the unloading valve's share of the flow raises. */
static double push_of_line(const directed *d, const bramah__pump_line *line, double w)
{
  const double at_relief = d->A * line->P_M, left = line->Q / d->A - w;
  if (line->U_b == 0.0) return left >= 0.0 ? at_relief : 0.0;
  return lesser(at_relief, d->A * bramah__signed_square(d->A * left / line->U_b));
}

/* ---- Lambda ---- */

/* w of the segments that do not depend on the line (53a, b, g, h), and of (53e, f) for the push A P. */
static double at_driven_relief(const directed *d, double beta, double g)
{
  return greater(bramah__phi_a(beta, g - d->F_M, d->ao), (d->F_M - d->F_oM - g) / beta);
}

static double at_driven_suction(const directed *d, double beta, double g)
{
  return greater(bramah__phi_a(beta, g, d->ao), (-d->F_oM - g) / beta);
}

/* psi (10) of the two valves in series, of their squares. */
static double in_series(double a, double b) { return a == 0.0 || b == 0.0 ? 0.0 : a * b / (a + b); }

static double through_valves(const directed *d, double beta, double g, double push)
{
  return greater(bramah__phi_a(beta, g - push, in_series(d->a, d->ao)),
                 bramah__phi_a(beta, g - push + d->F_oM, d->a));
}

/* (53c, d): below the relief setting of the line, whose unloading valve takes what the actuator leaves. */
static double with_unloading(const directed *d, const bramah__pump_line *line, double beta, double g)
{
  const double bled = line->U_b * line->U_b / (d->A * d->A * d->A), all = line->Q / d->A;
  return greater(bramah__phi_b(beta, g, in_series(d->a, d->ao), bled, all),
                 bramah__phi_b(beta, g + d->F_oM, d->a, bled, all));
}

/* Moving back and rest are the same for every supply; returns 1 if w is settled. */
static int settled(const directed *d, double beta, double g, double holding, double *w)
{
  *w = g > d->F_M ? (d->F_M - g) / beta : 0.0;
  return g >= holding;
}

/* Falling in w: what Gamma exceeds the load by. */
typedef struct load {
  const directed *d;
  double P, beta, g;
} load;

static double excess(const load *l, double w)
{
  const chambers c = chambers_at(l->d, l->P, w);
  return c.in - c.out - l->g - l->beta * w;
}

/* w of beta w + g in Gamma(w) at line pressure P. */
static double directed_lambda(const directed *d, double P, double beta, double g)
{
  double w;
  if (settled(d, beta, g, holding_force(d, P), &w)) return w;
  w = greater(lesser(at_driven_relief(d, beta, g), through_valves(d, beta, g, d->A * P)),
              at_driven_suction(d, beta, g));
  if (d->k == 0.0) return w;

  /* Regeneration only makes an actuator quicker; the relief of the driven side bounds it (69). */
  w = greater(w, 0.0);
  if (w > 0.0 && chambers_at(d, P, w).w_a == 0.0) return w;
  const load l = {d, P, beta, g};
  const double most = (d->F_M - g) / beta;
  search s = search_between(w, most, excess(&l, w), excess(&l, most));
  while (next_trial(&s)) tell(&s, excess(&l, s.x));
  return s.x;
}

BRAMAH__METERED double bramah__lambda_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                         double beta, double fbar)
{
  const directed d = direct(actuator, u);
  return d.sign * directed_lambda(&d, P, beta, d.sign * fbar);
}

BRAMAH__METERED double bramah__lambda(const bramah__metered *actuator, const bramah__metering *u,
                                      const bramah__pump_line *line, double beta, double fbar)
{
  const directed d = without_regeneration(actuator, u);
  const double g = d.sign * fbar, at_relief = d.A * line->P_M;
  double w;
  if (settled(&d, beta, g, holding_force(&d, push_of_line(&d, line, 0.0) / d.A), &w)) return d.sign * w;
  const double supplied = lesser(with_unloading(&d, line, beta, g), through_valves(&d, beta, g, at_relief));
  return d.sign * greater(lesser(at_driven_relief(&d, beta, g), supplied), at_driven_suction(&d, beta, g));
}

/* ---- actuators on one line ---- */

/* Flow out of the line at P while the driven side takes the velocity q (74): between what flows against the
 * full and against the empty chamber. Between these bounds it follows the velocity, at a bound the pressure
 * alone. */
typedef struct drawn {
  double Q, by_q, by_P;
} drawn;

static drawn drawn_flow(const directed *d, double P, double q)
{
  const double r = sqrt(d->a), push = d->A * P;
  const double against_full = r * sqrt(greater(push - d->F_M, 0.0)),
               into_empty = r * sqrt(greater(push, 0.0));
  const int full = q<against_full, empty = q> into_empty;
  const double bound = full ? against_full : into_empty;
  return (drawn){.Q = d->A * lesser(greater(q, against_full), into_empty),
                 .by_q = full || empty || q <= 0.0 ? 0.0 : d->A,
                 .by_P = (full || empty) && bound > 0.0 ? 0.5 * d->A * d->A * d->a / bound : 0.0};
}

/* Flow that is left for the relief (77b, 84b); falls with P. Exactly one of v and fbar is given. */
typedef struct balance {
  const bramah__metered_group *group;
  const double *v, *beta, *fbar;
} balance;

static double left_over(const balance *b, double P)
{
  double Q = b->group->line.Q - b->group->line.U_b * sqrt(P);
  for (size_t j = 0; j < b->group->n; ++j) {
    const directed d = direct(&b->group->actuators[j], &b->group->u[j]);
    const double w = b->v ? d.sign * b->v[j] : directed_lambda(&d, P, b->beta[j], d.sign * b->fbar[j]);
    Q -= drawn_flow(&d, P, w - d.ratio * chambers_at(&d, P, w).w_a).Q;
  }
  return Q;
}

static double balanced_pressure(const balance *b)
{
  const double P_M = b->group->line.P_M, left = left_over(b, P_M);
  if (left >= 0.0) return P_M; /* the relief takes the rest */
  search s = search_between(0.0, P_M, left_over(b, 0.0), left);
  while (next_trial(&s)) tell(&s, left_over(b, s.x));
  return s.x;
}

BRAMAH__METERED double bramah__line_pressure(const bramah__metered_group *group, const double *v)
{
  const balance b = {.group = group, .v = v};
  return balanced_pressure(&b);
}

/* Line pressure of one moving actuator from the force of its driven chamber, where that is not at a limit. At its relief
 * setting but for rounding a line is there: its derivatives are others. */
static double pressure_behind(const bramah__metered_group *group, double beta, double fbar, double v)
{
  const directed d = direct(group->actuators, group->u);
  const double w = d.sign * v, drained = d.ao > 0.0 ? lesser(w * w / d.ao, d.F_oM) : d.F_oM;
  const double driven = beta * w + d.sign * fbar + drained;
  const double margin = 1e-9 * d.F_M; /* at its relief the chamber takes what the line gives */
  if (w > 0.0 && d.a > 0.0 && driven > margin && driven < d.F_M - margin) {
    const double P = (driven + w * w / d.a) / d.A, P_M = group->line.P_M;
    return P < (1.0 - 1e-12) * P_M ? P : P_M;
  }
  return bramah__line_pressure(group, &v);
}

BRAMAH__METERED double bramah__lambda_of(const bramah__metered_group *group, const double *beta,
                                         const double *fbar, double *v)
{
  if (group->n == 1 && (group->u[0].a == 0.0 || group->actuators[0].c_a == 0.0)) { /* a closed form */
    v[0] = bramah__lambda(group->actuators, group->u, &group->line, beta[0], fbar[0]);
    return pressure_behind(group, beta[0], fbar[0], v[0]);
  }
  const balance b = {.group = group, .beta = beta, .fbar = fbar};
  const double P = balanced_pressure(&b);
  for (size_t j = 0; j < group->n; ++j) {
    v[j] = bramah__lambda_at(&group->actuators[j], &group->u[j], P, beta[j], fbar[j]);
  }
  return P;
}

/* ---- derivatives of Lambda by the loads ----
 *
 * Written out: v is found by iteration and by roots that take care of cancellation, and what a root depends on follows from
 * the equation that it solves. */

/* Of one actuator at rest or on a segment: of its velocity w and of the flow Q it draws, by its load g and by
 * the pressure P of the line. */
typedef struct sensitivity {
  double w_by_g, w_by_P, Q_by_g, Q_by_P;
} sensitivity;

static sensitivity sensitivity_of(const directed *d, double P, double beta, double w)
{
  const chambers c = chambers_at(d, P, w);
  const double q = w - d->ratio * c.w_a, r = w - c.w_a;
  const drawn flow = drawn_flow(d, P, q);
  sensitivity s = {.Q_by_P = flow.by_P};
  if (w < 0.0) s.w_by_g = -1.0 / beta; /* pushed back through the relief */
  if (w <= 0.0) return s;

  /* Slopes of the chamber forces on the segment: -dF_in/dq and dF_out/dr >= 0, 0 at a limit; dF_in/dP. */
  const int in_free = d->a > 0.0 && c.in > 0.0 && c.in < d->F_M;
  const double in_by_q = in_free ? 2.0 * q / d->a : 0.0, push = in_free ? d->A : 0.0;
  const double out_by_r = d->ao > 0.0 && c.out < d->F_oM ? 2.0 * r / d->ao : 0.0;

  /* w_a by w and P: (65) differentiated. */
  const int all_regenerates = c.w_a > 0.0 && d->ao == 0.0 && c.w_a == w;
  double w_a_by_w = 0.0, w_a_by_P = 0.0;
  if (all_regenerates) {
    w_a_by_w = 1.0;
  } else if (c.w_a != 0.0) {
    const double rise = 2.0 * c.w_a / d->k + out_by_r + d->ratio * d->ratio * in_by_q;
    w_a_by_w = (out_by_r + d->ratio * in_by_q) / rise;
    w_a_by_P = -d->ratio * push / rise;
  }

  /* F_in - F_out by w and P. Where all the oil regenerates F_out follows from the flow, F_out = ratio F_in +
   * S/k. */
  const double q_by_w = 1.0 - d->ratio * w_a_by_w, q_by_P = -d->ratio * w_a_by_P;
  const double in_by_w = -in_by_q * q_by_w, in_by_P = push - in_by_q * q_by_P;
  const int follows = all_regenerates && c.out < d->F_oM;
  const double out_by_w = follows ? d->ratio * in_by_w + 2.0 * w / d->k : out_by_r * (1.0 - w_a_by_w);
  const double out_by_P = follows ? d->ratio * in_by_P : -out_by_r * w_a_by_P;

  const double rest = beta - (in_by_w - out_by_w);
  s.w_by_g = -1.0 / rest;
  s.w_by_P = (in_by_P - out_by_P) / rest;
  s.Q_by_g = flow.by_q * q_by_w * s.w_by_g;
  s.Q_by_P = flow.by_P + flow.by_q * (q_by_w * s.w_by_P - d->ratio * w_a_by_P);
  return s;
}

BRAMAH__METERED void bramah__lambda_slopes(const bramah__metered_group *group, double P, const double *beta,
                                           const double *v, double *slope, double *work)
{
  const size_t n = group->n;
  double *v_by_P = work, *P_by_f = work + n;

  /* Each actuator alone; signs of the actuators cancel in the diagonal. */
  double stiffness = group->line.U_b > 0.0 && P > 0.0 ? 0.5 * group->line.U_b / sqrt(P) : 0.0;
  for (size_t i = 0; i < n * n; ++i) slope[i] = 0.0;
  for (size_t j = 0; j < n; ++j) {
    const directed d = direct(&group->actuators[j], &group->u[j]);
    const sensitivity s = sensitivity_of(&d, P, beta[j], d.sign * v[j]);
    slope[j * n + j] = s.w_by_g;
    v_by_P[j] = d.sign * s.w_by_P;
    P_by_f[j] = -d.sign * s.Q_by_g;
    stiffness += s.Q_by_P;
  }

  /* And through the pressure of their line. */
  const double compliance = P < group->line.P_M && stiffness > 0.0 ? 1.0 / stiffness : 0.0;
  for (size_t j = 0; j < n; ++j) P_by_f[j] *= compliance;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) slope[i * n + j] += v_by_P[i] * P_by_f[j];
  }
}

/* ---- the chambers behind a force ---- */

BRAMAH__METERED bramah__metered_state bramah__metered_state_at(const bramah__metered *actuator,
                                                               const bramah__metering *u,
                                                               const bramah__pump_line *line, double P,
                                                               double v, double f)
{
  const directed d = direct(actuator, u);
  const double w = d.sign * v, g = d.sign * f;
  const int head_driven = d.sign > 0.0;
  chambers c = chambers_at(&d, P, w);
  if (w ==
      0.0) { /* the driven chamber carries what its valve lets through or the load asks for, the greater */
    c.in = lesser(greater(c.in, g), d.F_M);
    c.out = greater(c.in - g, 0.0);
  }
  bramah__metered_state s = {.P_h = head_driven ? c.in / d.A : c.out / d.A_o,
                             .P_r = head_driven ? c.out / d.A_o : c.in / d.A,
                             .Q_p = drawn_flow(&d, P, w - d.ratio * c.w_a).Q,
                             .Q_a = c.w_a * d.A_o};

  /* Relief and suction valves of the driven, then of the drained chamber. */
  if (w != 0.0 && c.in >= d.F_M) s.valves |= head_driven ? BRAMAH__HEAD_RELIEF : BRAMAH__ROD_RELIEF;
  if (w > 0.0 && c.in <= 0.0) s.valves |= head_driven ? BRAMAH__HEAD_SUCTION : BRAMAH__ROD_SUCTION;
  if (w > 0.0 && c.out >= d.F_oM) s.valves |= head_driven ? BRAMAH__ROD_RELIEF : BRAMAH__HEAD_RELIEF;
  if (w < 0.0 && c.out <= 0.0) s.valves |= head_driven ? BRAMAH__ROD_SUCTION : BRAMAH__HEAD_SUCTION;
  if (c.w_a > 0.0) s.valves |= BRAMAH__REGENERATION;
  if (P >= line->P_M) s.valves |= BRAMAH__PUMP_RELIEF;
  return s;
}

/* ---- in a machine ---- */

BRAMAH__METERED void bramah__scale_valves(const bramah__metered *nominal, double by, bramah__metered *out)
{
  out->c_ph = by * nominal->c_ph;
  out->c_tr = by * nominal->c_tr;
  out->c_pr = by * nominal->c_pr;
  out->c_th = by * nominal->c_th;
  out->c_a = by * nominal->c_a;
}

BRAMAH__METERED double bramah__opened(double open, double limit)
{
  const double u = lesser(open / limit, 1.0);
  return u > BRAMAH__LEAST_OPENING ? u : 0.0;
}

BRAMAH__METERED bramah__metering bramah__metering_of(const double *open, double limit, double a)
{
  return (bramah__metering){.ph = bramah__opened(open[0], limit),
                            .tr = bramah__opened(open[1], limit),
                            .pr = bramah__opened(open[3], limit),
                            .th = bramah__opened(open[2], limit),
                            .a = a};
}

BRAMAH__METERED void bramah__load_line(const bramah__metered_port *port, const double *p, const double *v,
                                       bramah__line_point *at)
{
  for (size_t j = 0; j < at->line->n; ++j) {
    at->beta[j] = port[j].damping;
    at->fbar[j] = at->group.actuators[j].A_h * p[port[j].volume] - port[j].damping * v[port[j].cylinder];
  }
}

BRAMAH__METERED void bramah__line_gauges(const bramah__line_point *at, double *gauge)
{
  for (size_t j = 0; j < at->line->n; ++j) {
    const bramah__metered_state s =
        bramah__metered_state_at(&at->group.actuators[j], &at->u[j], &at->group.line, at->P, at->w[j],
                                 at->beta[j] * at->w[j] + at->fbar[j]);
    const double shown[BRAMAH__GAUGES] = {at->w[j], s.P_h, s.P_r, s.Q_p, s.Q_a};
    for (size_t k = 0; k < BRAMAH__GAUGES; ++k) gauge[j * BRAMAH__GAUGES + k] = shown[k];
  }
}

BRAMAH__METERED void bramah__line_gauges_by_load(const bramah__line_point *at, size_t width, double *by_load,
                                                 double *pressure_by_load)
{
  const size_t n = at->line->n;
  bramah__line_point moved = *at;
  double up[BRAMAH__GAUGES * BRAMAH__MAX_ON_LINE], down[BRAMAH__GAUGES * BRAMAH__MAX_ON_LINE];
  for (size_t k = 0; k < n; ++k) {
    const bramah__metered *actuator = &at->group.actuators[k];
    const double step = BRAMAH__VARIED * actuator->P_hM * actuator->A_h;
    const double greater_load = at->fbar[k] + step, lesser_load = at->fbar[k] - step;
    moved.fbar[k] = greater_load;
    moved.P = bramah__lambda_of(&moved.group, moved.beta, moved.fbar, moved.w);
    bramah__line_gauges(&moved, up);
    const double P = moved.P;
    moved.fbar[k] = lesser_load;
    moved.P = bramah__lambda_of(&moved.group, moved.beta, moved.fbar, moved.w);
    bramah__line_gauges(&moved, down);
    moved.fbar[k] = at->fbar[k];
    for (size_t i = 0; i < BRAMAH__GAUGES * n; ++i)
      by_load[i * width + k] = (up[i] - down[i]) / (greater_load - lesser_load);
    pressure_by_load[k] = (P - moved.P) / (greater_load - lesser_load);
  }
}

/* ---- behind this line not in C source ---- */

/* ---- Gamma ---- */

static bramah__interval turned(double sign, double lo, double hi)
{
  return sign > 0.0 ? (bramah__interval){lo, hi} : (bramah__interval){-hi, -lo};
}

static bramah__interval directed_gamma(const directed *d, double P, double v)
{
  const chambers c = chambers_at(d, P, d->sign * v);
  const double g = c.in - c.out;
  return turned(d->sign, g, v == 0.0 ? d->F_M : g);
}

bramah__interval bramah__gamma_at(const bramah__metered *actuator, const bramah__metering *u, double P,
                                  double v)
{
  const directed d = direct(actuator, u);
  return directed_gamma(&d, P, v);
}

bramah__interval bramah__gamma(const bramah__metered *actuator, const bramah__metering *u,
                               const bramah__pump_line *line, double v)
{
  const directed d = without_regeneration(actuator, u);
  const double w = d.sign * v, push = push_of_line(&d, line, w);
  if (w <= 0.0) return directed_gamma(&d, push / d.A, v);
  const chambers c = moving_chambers(&d, push, w);
  /* With the unloading valve closed the pump's whole flow fixes the velocity, and the line takes any pressure. */
  const int pinned = line->U_b == 0.0 && w * d.A == line->Q;
  return turned(d.sign, pinned ? -c.out : c.in - c.out, c.in - c.out);
}
