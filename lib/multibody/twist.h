/* SPDX-License-Identifier: MIT */
/* Products of twists [linear; angular] and wrenches [force; moment] about the inertial origin. */
#ifndef BRAMAH_LIB_MULTIBODY_TWIST_H
#define BRAMAH_LIB_MULTIBODY_TWIST_H

#include "lib/math/vector3.h"

static inline double bramah__dot6(const double *a, const double *b)
{
  return bramah__dot3(a, b) + bramah__dot3(a + 3, b + 3);
}

/* out = a x b: how twist b changes when it moves along with a. */
static inline void bramah__twist_cross(const double *a, const double *b, double *out)
{
  bramah__cross3(a + 3, b, out);
  bramah__add_cross3(a, b + 3, out);
  bramah__cross3(a + 3, b + 3, out + 3);
}

/* out = a x* w: how wrench w changes when it moves along with a. */
static inline void bramah__wrench_cross(const double *a, const double *w, double *out)
{
  bramah__cross3(a + 3, w, out);
  bramah__cross3(a + 3, w + 3, out + 3);
  bramah__add_cross3(a, w, out + 3);
}

#endif
