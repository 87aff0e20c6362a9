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

/* Weights of the products of two rates: xx, yy, zz, xy, xz, yz. */
static void centripetal_weights(const double *a, const double *r, double *w)
{
  const double ar = a[0] * r[0] + a[1] * r[1] + a[2] * r[2];
  for (int k = 0; k < 3; k++) w[k] = a[k] * r[k] - ar;
  w[3] = a[0] * r[1] + a[1] * r[0];
  w[4] = a[0] * r[2] + a[2] * r[0];
  w[5] = a[1] * r[2] + a[2] * r[1];
}

static bramah_status add_centripetal(const bramah_plant *plant, const char *at, const double *a,
                                     const double *r, bramah_sensor *out)
{
  static const char *const suffix[6] = {".body_rate_xx", ".body_rate_yy", ".body_rate_zz",
                                        ".body_rate_xy", ".body_rate_xz", ".body_rate_yz"};
  bramah_status status = BRAMAH_OK;
  double w[6];
  centripetal_weights(a, r, w);
  for (int k = 0; k < 6 && status == BRAMAH_OK; k++)
    if (w[k] != 0.0) status = bramah__sensor_add_term(plant, at, suffix[k], w[k], out);
  return status;
}

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  const double *r = options->point;
  double a[3];
  bramah_status status = bramah__sensor_unit_vector(options, "axis", options->axis, diag, a);
  if (status != BRAMAH_OK) return status;
  if (!isfinite(r[0] + r[1] + r[2])) return bramah__sensor_fail(options, "the point is not finite", diag);
  if (!bramah__sensor_has(plant, options->at, ".specific_force_x"))
    return bramah__sensor_no_such(options, plant, "body", ".specific_force_x", diag);
  const double lever[3] = {r[1] * a[2] - r[2] * a[1], r[2] * a[0] - r[0] * a[2], r[0] * a[1] - r[1] * a[0]};
  status = bramah__sensor_add_vector(plant, options->at, ".specific_force_", a, out);
  if (status == BRAMAH_OK)
    status = bramah__sensor_add_vector(plant, options->at, ".angular_acceleration_", lever, out);
  if (status == BRAMAH_OK) status = add_centripetal(plant, options->at, a, r, out);
  return status == BRAMAH_OK ? status
                             : bramah__sensor_no_such(options, plant, "body", ".specific_force_x", diag);
}

const bramah__sensor_kind bramah__accelerometer = {BRAMAH_SENSOR_ACCELEROMETER, "accelerometer", "m/s^2", 0,
                                                   bind};
