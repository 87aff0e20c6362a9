/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/cylinder.h"

bramah__stop_tangent bramah__end_stop_at(const bramah__end_stop *stop, double l, double w)
{
  static const double contact_depth = 1e-4; /* [m] over which the damper of a stop sets in */
  const double L = stop->cushion_length;
  bramah__stop_tangent out = {0.0, 0.0, 0.0};
  if (stop->stiffness > 0.0 && l < 0.0) {
    const double depth = -l / contact_depth, in_force = fmin(1.0, depth);
    const double force = -stop->stiffness * l + stop->damping * w * in_force;
    if (force > 0.0) {
      out.force = force;
      out.by_length = -stop->stiffness - (depth < 1.0 ? stop->damping * w / contact_depth : 0.0);
      out.by_velocity = stop->damping * in_force;
    }
  }
  if (!(L > 0.0 && l < L && w > 0.0)) return out;
  const double part = fmin(1.0, (L - l) / L);
  out.force += stop->cushion_damping * w * part;
  if (l > 0.0) out.by_length -= stop->cushion_damping * w / L;
  out.by_velocity += stop->cushion_damping * part;
  return out;
}

bramah__stop_tangent bramah__stops_at(const bramah__cylinder *c, double s, double v)
{
  const bramah__stop_tangent piston = bramah__end_stop_at(&c->stop, bramah__piston_chamber(c, s), -v);
  const bramah__stop_tangent rod = bramah__end_stop_at(&c->stop, bramah__rod_chamber(c, s), v);
  return (bramah__stop_tangent){piston.force - rod.force, piston.by_length + rod.by_length,
                                -piston.by_velocity - rod.by_velocity};
}
