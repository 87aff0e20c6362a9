/* SPDX-License-Identifier: MIT */
/* Derivatives of Lambda by the loads. */
#include "lib/hydraulics/metered_internal.h"

#include <math.h>

/* Of one actuator at rest or on a segment: of its velocity w and of the flow Q it draws, by its load g and by
 * the pressure P of the line. */
typedef struct sensitivity {
  double w_by_g, w_by_P, Q_by_g, Q_by_P;
} sensitivity;

/* Slopes of the chamber forces and of w_a by w and P on the segment of c (65 differentiated). */
typedef struct slopes {
  double in_by_q, out_by_r; /* -dF_in/dq, dF_out/dr >= 0; 0 at a limit */
  double push;              /* dF_in/dP */
  double w_a_by_w, w_a_by_P;
} slopes;

static slopes slopes_at(const bramah__directed *d, const bramah__chambers *c, double w)
{
  const double q = w - d->ratio * c->w_a, r = w - c->w_a;
  const int in_free = d->a > 0.0 && c->in > 0.0 && c->in < d->F_M;
  const int out_free = d->ao > 0.0 && c->out < d->F_oM;
  slopes s = {.in_by_q = in_free ? 2.0 * q / d->a : 0.0,
              .out_by_r = out_free ? 2.0 * r / d->ao : 0.0,
              .push = in_free ? d->A : 0.0};
  if (c->w_a == 0.0) return s;
  if (d->ao == 0.0 && c->w_a == w) { /* all the drained oil regenerates */
    s.w_a_by_w = 1.0;
    return s;
  }
  const double rise = 2.0 * c->w_a / d->k + s.out_by_r + d->ratio * d->ratio * s.in_by_q;
  s.w_a_by_w = (s.out_by_r + d->ratio * s.in_by_q) / rise;
  s.w_a_by_P = -d->ratio * s.push / rise;
  return s;
}

/* d(F_in - F_out) by w and P. Where all the oil regenerates F_out follows from the flow, F_out = ratio F_in +
 * S/k. */
static void force_slopes(const bramah__directed *d, const bramah__chambers *c, const slopes *s, double w,
                         double *by_w, double *by_P)
{
  const double q_by_w = 1.0 - d->ratio * s->w_a_by_w, q_by_P = -d->ratio * s->w_a_by_P;
  const double in_by_w = -s->in_by_q * q_by_w, in_by_P = s->push - s->in_by_q * q_by_P;
  const int pinned = d->ao == 0.0 && c->w_a > 0.0 && c->w_a == w && c->out < d->F_oM;
  const double out_by_w = pinned ? d->ratio * in_by_w + 2.0 * w / d->k : s->out_by_r * (1.0 - s->w_a_by_w);
  const double out_by_P = pinned ? d->ratio * in_by_P : -s->out_by_r * s->w_a_by_P;
  *by_w = in_by_w - out_by_w;
  *by_P = in_by_P - out_by_P;
}

/* Flow between its bounds follows the velocity; at a bound it follows the pressure alone. */
static void flow_slopes(const bramah__directed *d, double P, double q, double *by_q, double *by_P)
{
  const double push = d->A * P, r = sqrt(d->a);
  const double against_full = r * sqrt(fmax(push - d->F_M, 0.0)), into_empty = r * sqrt(push);
  const int full = q<against_full, empty = q> into_empty;
  const double bound = full ? against_full : into_empty;
  *by_q = full || empty || q <= 0.0 ? 0.0 : d->A;
  *by_P = (full || empty) && bound > 0.0 ? 0.5 * d->A * d->A * d->a / bound : 0.0;
}

static sensitivity sensitivity_of(const bramah__directed *d, double P, double beta, double w)
{
  const bramah__chambers c = bramah__chambers_at(d, P, w);
  double force_by_w, force_by_P, flow_by_q, flow_by_P;
  flow_slopes(d, P, w - d->ratio * c.w_a, &flow_by_q, &flow_by_P);
  sensitivity s = {.Q_by_P = flow_by_P};
  if (w < 0.0) s.w_by_g = -1.0 / beta; /* pushed back through the relief */
  if (w <= 0.0) return s;
  const slopes by = slopes_at(d, &c, w);
  force_slopes(d, &c, &by, w, &force_by_w, &force_by_P);
  s.w_by_g = -1.0 / (beta - force_by_w);
  s.w_by_P = force_by_P / (beta - force_by_w);
  const double q_by_w = 1.0 - d->ratio * by.w_a_by_w;
  s.Q_by_g = flow_by_q * q_by_w * s.w_by_g;
  s.Q_by_P = flow_by_P + flow_by_q * (q_by_w * s.w_by_P - d->ratio * by.w_a_by_P);
  return s;
}

/* v_by_P and P_by_f [n] of the group; signs of the actuators cancel in the diagonal. */
static void fill_sensitivities(const bramah__metered_group *group, double P, const double *beta,
                               const double *v, double *slope, double *v_by_P, double *P_by_f)
{
  double stiffness = group->line.U_b > 0.0 && P > 0.0 ? 0.5 * group->line.U_b / sqrt(P) : 0.0;
  for (size_t j = 0; j < group->n; ++j) {
    const bramah__directed d = bramah__direct(&group->actuators[j], &group->u[j]);
    const sensitivity s = sensitivity_of(&d, P, beta[j], d.sign * v[j]);
    slope[j * group->n + j] = s.w_by_g;
    v_by_P[j] = d.sign * s.w_by_P;
    P_by_f[j] = -d.sign * s.Q_by_g;
    stiffness += s.Q_by_P;
  }
  const double compliance = P < group->line.P_M && stiffness > 0.0 ? 1.0 / stiffness : 0.0;
  for (size_t j = 0; j < group->n; ++j) P_by_f[j] *= compliance;
}

void bramah__lambda_slopes(const bramah__metered_group *group, double P, const double *beta, const double *v,
                           double *slope, double *work)
{
  const size_t n = group->n;
  double *v_by_P = work, *P_by_f = work + n;
  for (size_t i = 0; i < n * n; ++i) slope[i] = 0.0;
  fill_sensitivities(group, P, beta, v, slope, v_by_P, P_by_f);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) slope[i * n + j] += v_by_P[i] * P_by_f[j];
  }
}
