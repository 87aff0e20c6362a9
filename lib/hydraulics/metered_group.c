/* SPDX-License-Identifier: MIT */
/* Actuators on one pump line: the pressure at which the flows balance, and what stands behind the forces
 * there. */
#include "lib/hydraulics/metered_internal.h"

#include <math.h>

double bramah__drawn_flow(const bramah__directed *d, double P, double q)
{
  const double r = sqrt(d->a), push = d->A * P;
  const double against_full = r * sqrt(fmax(push - d->F_M, 0.0)), into_empty = r * sqrt(fmax(push, 0.0));
  return d->A * fmin(fmax(q, against_full), into_empty);
}

/* Velocity with which the driven chamber takes oil from the line. */
static double taken(const bramah__directed *d, double P, double w)
{
  return w - d->ratio * bramah__chambers_at(d, P, w).w_a;
}

/* Flow that is left for the relief (77b, 84b); falls with P. Exactly one of v and fbar is given. */
typedef struct balance {
  const bramah__metered_group *group;
  const double *v, *beta, *fbar;
} balance;

static double velocity_at(const balance *b, size_t j, const bramah__directed *d, double P)
{
  return b->v != NULL ? d->sign * b->v[j] : bramah__directed_lambda(d, P, b->beta[j], d->sign * b->fbar[j]);
}

static double left_over(const void *context, double P)
{
  const balance *b = context;
  double Q = b->group->line.Q - b->group->line.U_b * sqrt(P);
  for (size_t j = 0; j < b->group->n; ++j) {
    const bramah__directed d = bramah__direct(&b->group->actuators[j], &b->group->u[j]);
    Q -= bramah__drawn_flow(&d, P, taken(&d, P, velocity_at(b, j, &d, P)));
  }
  return Q;
}

static double balanced_pressure(const balance *b)
{
  const double P_M = b->group->line.P_M;
  if (left_over(b, P_M) >= 0.0) return P_M; /* the relief takes the rest */
  return bramah__root_between(left_over, b, 0.0, P_M);
}

double bramah__line_pressure(const bramah__metered_group *group, const double *v)
{
  return balanced_pressure(&(balance){.group = group, .v = v});
}

static int has_closed_form(const bramah__metered_group *group)
{
  return group->n == 1 && (group->u[0].a == 0.0 || group->actuators[0].c_a == 0.0);
}

/* Line pressure of one moving actuator from the force of its driven chamber, where that is not at a limit. */
static double pressure_behind(const bramah__metered_group *group, double beta, double fbar, double v)
{
  const bramah__directed d = bramah__direct(group->actuators, group->u);
  const double w = d.sign * v, drained = d.ao > 0.0 ? fmin(w * w / d.ao, d.F_oM) : d.F_oM;
  const double driven = beta * w + d.sign * fbar + drained;
  const double margin = 1e-9 * d.F_M; /* at its relief the chamber takes what the line gives */
  if (w > 0.0 && d.a > 0.0 && driven > margin && driven < d.F_M - margin) {
    return fmin((driven + w * w / d.a) / d.A, group->line.P_M);
  }
  return bramah__line_pressure(group, &v);
}

double bramah__lambda_of(const bramah__metered_group *group, const double *beta, const double *fbar,
                         double *v)
{
  if (has_closed_form(group)) {
    v[0] = bramah__lambda(group->actuators, group->u, &group->line, beta[0], fbar[0]);
    return pressure_behind(group, beta[0], fbar[0], v[0]);
  }
  const double P = balanced_pressure(&(balance){.group = group, .beta = beta, .fbar = fbar});
  for (size_t j = 0; j < group->n; ++j) {
    v[j] = bramah__lambda_at(&group->actuators[j], &group->u[j], P, beta[j], fbar[j]);
  }
  return P;
}

/* At rest the driven chamber carries what its valve lets through or the load asks for, whichever is more. */
static bramah__chambers chambers_behind(const bramah__directed *d, double P, double w, double g)
{
  bramah__chambers c = bramah__chambers_at(d, P, w);
  if (w == 0.0) {
    c.in = fmin(fmax(c.in, g), d->F_M);
    c.out = fmax(c.in - g, 0.0);
  }
  return c;
}

static unsigned reliefs(const bramah__directed *d, const bramah__chambers *c, double w, unsigned driven,
                        unsigned drained)
{
  const int ahead = w > 0.0;
  return (w != 0.0 && c->in >= d->F_M ? driven : 0u) | (ahead && c->out >= d->F_oM ? drained : 0u);
}

static unsigned suctions(const bramah__chambers *c, double w, unsigned driven, unsigned drained)
{
  return (w > 0.0 && c->in <= 0.0 ? driven : 0u) | (w < 0.0 && c->out <= 0.0 ? drained : 0u);
}

bramah__metered_state bramah__metered_state_at(const bramah__metered *actuator, const bramah__metering *u,
                                               const bramah__pump_line *line, double P, double v, double f)
{
  const bramah__directed d = bramah__direct(actuator, u);
  const double w = d.sign * v;
  const bramah__chambers c = chambers_behind(&d, P, w, d.sign * f);
  const int head_driven = d.sign > 0.0;
  bramah__metered_state s = {.P_h = head_driven ? c.in / d.A : c.out / d.A_o,
                             .P_r = head_driven ? c.out / d.A_o : c.in / d.A,
                             .Q_p = bramah__drawn_flow(&d, P, w - d.ratio * c.w_a),
                             .Q_a = c.w_a * d.A_o};
  s.valves = head_driven ? reliefs(&d, &c, w, BRAMAH__HEAD_RELIEF, BRAMAH__ROD_RELIEF) |
                               suctions(&c, w, BRAMAH__HEAD_SUCTION, BRAMAH__ROD_SUCTION)
                         : reliefs(&d, &c, w, BRAMAH__ROD_RELIEF, BRAMAH__HEAD_RELIEF) |
                               suctions(&c, w, BRAMAH__ROD_SUCTION, BRAMAH__HEAD_SUCTION);
  if (c.w_a > 0.0) s.valves |= BRAMAH__REGENERATION;
  if (P >= line->P_M) s.valves |= BRAMAH__PUMP_RELIEF;
  return s;
}
