/* SPDX-License-Identifier: MIT */
/* Disc of a tyre on a plane: which point of its rim touches, and how that follows the motion. Source: contact point and
 * axes of a thin disc, as in publication V of the dissertation and Meijaard et al. (2007); derivatives ours. */
#include "lib/multibody/contact_graph.h"
#include "lib/math/vector3.h"

#include <math.h>

/* With n the normal, e the spin axis: forwards t = e x n / m, m = |e x n|, to the side l = n x t, down in the disc's plane
 * d = e x t. A disc that lies flat has no such direction; from half a degree upwards this is exact. */
static const double least_lean = 1e-4; /* m^2 */

void bramah__disc_place(const bramah__contact *disc, const bramah__pose *pose, bramah__contact_frame *touch)
{
  const double *normal = disc->axes + 6;
  double *t = touch->own, down[3];
  bramah__direction(pose, disc->body, disc->spin, touch->spin);
  bramah__cross3(touch->spin, normal, t);
  const double m = sqrt(fmax(bramah__dot3(t, t), least_lean));
  for (int k = 0; k < 3; k++) t[k] /= m;
  bramah__cross3(normal, t, t + 3);
  bramah__copy3(normal, t + 6);
  bramah__cross3(touch->spin, t, down);
  bramah__point(pose, disc->body, disc->point, touch->place);
  bramah__axpy3(disc->radius, down, touch->place);
  touch->axes = touch->own;
}

/* de = turn x e turns t about n by psi = l . dt = n . turn - (n . e) (l . turn) / m. The lowest point stays behind the
 * material by r (dd - turn x d) = r (e . turn - psi n . e) t: it moves over the rim along t, at one height. */
void bramah__disc_turns(const bramah__contact *disc, const bramah__contact_frame *touch, const double *turn,
                        double *out)
{
  const double *l = touch->own + 3, *n = touch->own + 6, *e = touch->spin;
  const double lean = bramah__dot3(n, e), m = sqrt(fmax(1.0 - lean * lean, least_lean));
  out[0] = bramah__dot3(n, turn) - lean / m * bramah__dot3(l, turn);
  out[1] = disc->radius * (bramah__dot3(e, turn) - lean * out[0]);
}

void bramah__disc_moment(const bramah__contact *disc, const bramah__pose *pose, const double *force,
                         double *moment)
{
  bramah__contact_frame touch;
  double down[3];
  if (bramah__is_disc(disc)) {
    bramah__disc_place(disc, pose, &touch);
    bramah__cross3(touch.spin, touch.own, down);
  } else {
    for (int k = 0; k < 3; k++) down[k] = -disc->axes[6 + k];
  }
  bramah__cross3(down, force, moment);
  for (int k = 0; k < 3; k++) moment[k] *= disc->radius;
}

/* ---- the same as a graph ---- */

bramah__contact_frame_graph bramah__contact_graph(const bramah__contact *contact,
                                                  const bramah__plane_graph *plane,
                                                  const bramah__body_graph *body)
{
  const bramah__pair Z = bramah__twist_graph(body, (size_t)contact->body);
  bramah__contact_frame_graph touch = {.axes = plane ? plane->axes : m_number(contact->axes)};
  touch.held = touch.place = bramah__point_graph(body, contact->body, contact->point);
  if (contact->radius > 0.0 && !bramah__is_disc(contact)) {
    const bramah__vec n = {{touch.axes.m[2][0], touch.axes.m[2][1], touch.axes.m[2][2]}};
    touch.arm = v_scale(e_number(-contact->radius), n);
    touch.place = v_add(touch.held, touch.arm);
  } else if (contact->radius > 0.0) {
    const bramah__vec n = {{touch.axes.m[2][0], touch.axes.m[2][1], touch.axes.m[2][2]}},
                      e = bramah__direction_graph(body, contact->body, contact->spin), across = v_cross(e, n);
    const bramah__expr m2 = e_max(v_dot(across, across), e_number(least_lean));
    const bramah__vec t = v_scale(e_inv(e_sqrt(m2)), across), l = v_cross(n, t);
    touch.arm = v_scale(e_number(contact->radius), v_cross(e, t));
    touch.place = v_add(touch.place, touch.arm);
    for (int k = 0; k < 3; k++) {
      touch.axes.m[0][k] = t.x[k];
      touch.axes.m[1][k] = l.x[k];
    }
    touch.w[3] = e_scale(contact->radius, v_dot(e, Z.angular));
  }
  const bramah__vec from = plane ? touch.place : v_sub(touch.place, v_number(contact->origin)),
                    q = m_rotate(touch.axes, from),
                    w = m_rotate(touch.axes, v_add(Z.linear, v_cross(Z.angular, touch.place)));
  touch.height = plane ? e_sub(q.x[2], plane->distance) : q.x[2];
  for (int k = 0; k < 3; k++) touch.w[k] = w.x[k];
  return touch;
}
