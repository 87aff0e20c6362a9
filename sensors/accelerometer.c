/* SPDX-License-Identifier: MIT */
/* Accelerometer: specific force of the point r of a body along the unit axis a, both fixed in the body
 * [m/s^2],
 *
 *   y = a . (f + alpha x r + omega x (omega x r))
 *     = a . f + (r x a) . alpha + (a . omega) (r . omega) - (a . r) omega^2
 *
 * with the specific force f at the origin of the body, its angular acceleration alpha and its rate omega, all
 * in its axes: a fixed sum of outputs of the plant. */
#include "sensors/kinds.h"

#include <math.h>

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  static const char *const suffix[6] = {".body_rate_xx", ".body_rate_yy", ".body_rate_zz",
                                        ".body_rate_xy", ".body_rate_xz", ".body_rate_yz"};
  const double *r = options->point;
  double a[3];
  bramah_status status = bramah__sensor_unit_vector(options, "axis", options->axis, diag, a);
  if (status != BRAMAH_OK) return status;
  if (!isfinite(r[0] + r[1] + r[2])) return bramah__sensor_fail(options, "the point is not finite", diag);
  if (!bramah__sensor_has(plant, options->at, ".specific_force_x"))
    return bramah__sensor_no_such(options, plant, "body", ".specific_force_x", diag);

  /* the origin's force, the lever of the angular acceleration, and the products of two rates */
  const double ar = a[0] * r[0] + a[1] * r[1] + a[2] * r[2];
  const double lever[3] = {r[1] * a[2] - r[2] * a[1], r[2] * a[0] - r[0] * a[2], r[0] * a[1] - r[1] * a[0]};
  const double centripetal[6] = {a[0] * r[0] - ar,          a[1] * r[1] - ar,
                                 a[2] * r[2] - ar,          a[0] * r[1] + a[1] * r[0],
                                 a[0] * r[2] + a[2] * r[0], a[1] * r[2] + a[2] * r[1]};
  status = bramah__sensor_add_vector(plant, options->at, ".specific_force_", a, out);
  if (status == BRAMAH_OK)
    status = bramah__sensor_add_vector(plant, options->at, ".angular_acceleration_", lever, out);
  for (int k = 0; k < 6 && status == BRAMAH_OK; k++)
    if (centripetal[k] != 0.0)
      status = bramah__sensor_add_term(plant, options->at, suffix[k], centripetal[k], out);
  return status == BRAMAH_OK ? status
                             : bramah__sensor_no_such(options, plant, "body", ".specific_force_x", diag);
}

const bramah__sensor_kind bramah__accelerometer = {BRAMAH_SENSOR_ACCELEROMETER, "accelerometer", "m/s^2", 0,
                                                   bind};
