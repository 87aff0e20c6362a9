/* SPDX-License-Identifier: MIT */
/* Disc of a tyre on a plane: which point of its rim touches, and how that follows the motion. Source: contact point and
 * axes of a thin disc, as in publication V of the dissertation and Meijaard et al. (2007); derivatives ours. */
#include "lib/math/vector3.h"
#include "lib/multibody/contact.h"

#include <math.h>

/* With n the normal, e the spin axis: forwards t = e x n / m, m = |e x n|, to the side l = n x t, down in the disc's plane
 * d = e x t. */

void bramah__disc_place(const bramah__contact *disc, const bramah__pose *pose, bramah__contact_frame *touch)
{
  const double *normal = disc->axes + 6;
  double *t = touch->own, down[3];
  bramah__direction(pose, disc->body, disc->spin, touch->spin);
  bramah__cross3(touch->spin, normal, t);
  const double m = sqrt(fmax(bramah__dot3(t, t), bramah__least_lean));
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
  const double lean = bramah__dot3(n, e), m = sqrt(fmax(1.0 - lean * lean, bramah__least_lean));
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
