/* SPDX-License-Identifier: MIT */
/* Pressure sensor: the absolute pressure of a volume [Pa]. */
#include "sensors/kinds.h"

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  if (options->at && bramah__sensor_add_term(plant, options->at, ".pressure", 1.0, out) == BRAMAH_OK)
    return BRAMAH_OK;
  return bramah__sensor_no_such(options, plant, "volume", ".pressure", diag);
}

const bramah__sensor_kind bramah__pressure = {BRAMAH_SENSOR_PRESSURE, "pressure", "Pa", 1, bind};
