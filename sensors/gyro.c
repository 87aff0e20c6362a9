/* SPDX-License-Identifier: MIT */
/* Gyro: the angular rate of a body, seen from the inertial frame, about an axis fixed in the body [rad/s];
 * or, without an axis, the rate of a joint. Publication III prints (3.19) for positions and pressures only; its sensor sets 2 to 4 need
 * this row, too. */
#include "sensors/kinds.h"

#include <math.h>

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  static const char *const suffix[3] = {".body_rate_x", ".body_rate_y", ".body_rate_z"};
  const double *a = options->axis, length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
  if (!isfinite(length)) return bramah__sensor_fail(options, "the axis is not finite", diag);
  if (!options->at || (length == 0.0 && bramah__sensor_add_term(plant, options->at, ".rate", 1.0, out)))
    return bramah__sensor_no_such(options, plant, "joint", ".rate", diag);
  for (int k = 0; k < 3; k++)
    if (a[k] != 0.0 && bramah__sensor_add_term(plant, options->at, suffix[k], a[k] / length, out))
      return bramah__sensor_no_such(options, plant, "body", suffix[k], diag);
  return BRAMAH_OK;
}

const bramah__sensor_kind bramah__gyro = {BRAMAH_SENSOR_GYRO, "gyro", "rad/s", 0, bind};
