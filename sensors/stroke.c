/* SPDX-License-Identifier: MIT */
/* Stroke sensor: the distance of the two attachment points of a cylinder [m]. */
#include "sensors/kinds.h"

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  if (options->at && bramah__sensor_add_term(plant, options->at, ".stroke", 1.0, out) == BRAMAH_OK)
    return BRAMAH_OK;
  return bramah__sensor_no_such(options, plant, "cylinder", ".stroke", diag);
}

const bramah__sensor_kind bramah__stroke = {BRAMAH_SENSOR_STROKE, "stroke", "m", 0, bind};
