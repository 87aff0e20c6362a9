/* SPDX-License-Identifier: MIT */
/* Load pin: the force of a cylinder on the pins at its ends [N], friction and stops included; positive pushes
 * them apart. */
#include "sensors/kinds.h"

/* Drives of motions have a force too, but no stroke: they have no pin either. */
static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  if (bramah__sensor_has(plant, options->at, ".stroke") &&
      bramah__sensor_add_term(plant, options->at, ".force", 1.0, out) == BRAMAH_OK)
    return BRAMAH_OK;
  return bramah__sensor_no_such(options, plant, "cylinder", ".stroke", diag);
}

const bramah__sensor_kind bramah__load_pin = {BRAMAH_SENSOR_LOAD_PIN, "load-pin", "N", 1, bind};
