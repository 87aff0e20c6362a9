/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/friction.h"

#include <math.h>

#define TANH_4 0.99932929973906704 /* tanh(4), which (D 2.44) carries in its viscous term */

/* (D 2.44), smooth and odd in v. */
static double brown_mcphee(const bramah__friction *f, double v)
{
  const double ratio = fabs(v) / f->stribeck;
  const double quartic = 0.25 * ratio * ratio + 0.75;
  const double dry =
      f->coulomb * tanh(4.0 * ratio) + (f->static_force - f->coulomb) * ratio / (quartic * quartic);
  return copysign(dry, v) + f->viscous * v * TANH_4;
}

double bramah__friction_force(const bramah__friction *friction, double v)
{
  switch (friction->kind) {
  case BRAMAH__FRICTION_BROWN_MCPHEE:
    return brown_mcphee(friction, v);
  case BRAMAH__FRICTION_NONE:
    break;
  }
  return 0.0;
}
