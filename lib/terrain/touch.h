/* SPDX-License-Identifier: MIT */
/* The law of all contacts of spheres and points, inlined. */
#ifndef BRAMAH_LIB_TERRAIN_TOUCH_H
#define BRAMAH_LIB_TERRAIN_TOUCH_H

#include "lib/base/processors.h"
#include "lib/math/vector3.h"
#include "lib/terrain/terrain_internal.h"

#include <math.h>

/* Force f [3] on a body of velocity v against what it touches, d deep, along the normal n towards the body; bristles z [3] go
 * on by a step dt. Returns the normal force.
 *
 * No damper takes more than half of the momentum in a step. Bristles: z' = v - yields z with yields = sigma_0 |v| / mu, at the
 * end of the step; their damping fades with speed, which keeps them passive. Bristles turn with the plane they lie in. */
BRAMAH__IN_CALLER double bramah__touch_force(const bramah__touch *law, double dt, double d, const double *n,
                                             const double *v, double *z, double *f)
{
  const double most = 0.5 * law->mass / dt, closing = -bramah__dot3(v, n);
  const double elastic = law->stiffness * d * sqrt(d), loss = elastic * law->loss;
  const double force = elastic + (loss < most ? loss : most) * closing, normal = force > 0.0 ? force : 0.0;
  const double lift = bramah__dot3(z, n);
  double slip[3], square = 0.0;
  for (int k = 0; k < 3; k++) {
    slip[k] = v[k] + closing * n[k];
    square += slip[k] * slip[k];
  }
  const double part = sqrt(square) / law->friction, yields = law->bristles * part;
  const double scale = 1.0 / (1.0 + dt * yields), fading = law->damping / (1.0 + law->damping * part);
  const double damping = fading * normal < most ? fading * normal : most;
  for (int k = 0; k < 3; k++) {
    z[k] = (z[k] - lift * n[k] + dt * slip[k]) * scale;
    f[k] = normal * (n[k] - law->bristles * z[k]) - damping * (slip[k] - yields * z[k]);
  }
  return normal;
}

#endif
