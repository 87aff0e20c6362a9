/* SPDX-License-Identifier: MIT */
/* Laws of touch and rubbing, one place for all that have them: end stops of actuators and limits of joints, seals, points
 * on the ground. Numbers or nodes, as graph/equation.h says, which comes first. */
#ifndef BRAMAH_LIB_MULTIBODY_CONTACT_LAW_H
#define BRAMAH_LIB_MULTIBODY_CONTACT_LAW_H

#include "lib/graph/equation.h"
#include "lib/multibody/contact.h"

/* ---- stops ---- */

/* Force [N] >= 0 at the distance l from what is touched and closing speed w = -l': beyond it (l < 0) max(0, k d + c w min(1, d / 0.1 mm)),
 * d = -l, whose damper sets in gently so that the force is continuous. */
BRAMAH__EQUATION bramah__expr pushed_out(bramah__expr stiffness, bramah__expr damping, bramah__expr l,
                                         bramah__expr w)
{
  static const double contact_depth = 1e-4; /* [m] over which the damper sets in */
  const bramah__expr zero = {0}, one = e_number(1.0);
  const bramah__expr in_force = e_min(e_scale(-1.0 / contact_depth, l), one);
  const bramah__expr damper = e_mul(damping, e_mul(w, in_force));
  return e_select(e_neg(l), e_max(e_sub(damper, e_mul(stiffness, l)), zero), zero);
}

/* That which one end pushes back with; before it a cushion. */
BRAMAH__EQUATION bramah__expr one_stop(const bramah__end_stop *stop, bramah__expr l, bramah__expr w)
{
  const bramah__expr zero = {0}, one = e_number(1.0);
  bramah__expr force = zero;
  if (stop->stiffness > 0.0 && !e_excludes(e_neg(l)))
    force = pushed_out(e_number(stop->stiffness), e_number(stop->damping), l, w);
  if (!(stop->cushion_length > 0.0)) return force;
  const bramah__expr inside = e_sub(e_number(stop->cushion_length), l);
  if (e_excludes(inside)) return force;
  const bramah__expr part = e_max(e_min(e_scale(1.0 / stop->cushion_length, inside), one), zero);
  return e_add(force, e_scale(stop->cushion_damping, e_mul(e_max(w, zero), part)));
}

/* Between two ends at the distances l[0], which grows with v, and l[1]. */
BRAMAH__EQUATION bramah__expr both_stops(const bramah__end_stop *stop, const bramah__expr l[2],
                                         bramah__expr v)
{
  return e_sub(one_stop(stop, l[0], e_neg(v)), one_stop(stop, l[1], v));
}

/* ---- bristles (LuGre) ---- */

/* sigma_0 |v| / g(|v|) of (D 2.46, 2.47), by which bristles yield; g = coulomb + excess exp(-(|v|/v_s)^exponent) is what
 * steadily sliding ones settle at. */
BRAMAH__EQUATION bramah__expr bristles_yield(bramah__expr stiffness, double coulomb, bramah__expr excess,
                                             double stribeck, double exponent, bramah__expr speed)
{
  if (e_is(excess, 0.0)) return e_div(e_mul(stiffness, speed), e_number(coulomb));
  const bramah__expr r = e_scale(1.0 / stribeck, speed);
  const bramah__expr drop = e_exp(e_neg(exponent == 2.0 ? e_square(r) : e_power(r, exponent)));
  return e_div(e_mul(stiffness, speed), e_add(e_number(coulomb), e_mul(excess, drop)));
}

/* q' = v - yields q at the end of a trapezoidal step of length 2 half: q and its rate there. */
BRAMAH__EQUATION void bend_bristles(bramah__expr half, bramah__expr yields, bramah__expr v, bramah__expr q_k,
                                    bramah__expr qd_k, bramah__expr *q, bramah__expr *qd)
{
  *q = e_div(e_add(q_k, e_mul(half, e_add(qd_k, v))), e_add(e_number(1.0), e_mul(half, yields)));
  *qd = e_sub(v, e_mul(yields, *q));
}

#endif
