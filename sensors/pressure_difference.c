/* SPDX-License-Identifier: MIT */
/* Pressure difference: the pressure of one volume less that of another [Pa]. */
#include "sensors/kinds.h"

#include <string.h>

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  const char *at = options->at, *less = options->less;
  if (!at || bramah__sensor_add_term(plant, at, ".pressure", 1.0, out) != BRAMAH_OK)
    return bramah__sensor_no_such(options, plant, "volume", ".pressure", diag);
  if (!less || bramah__sensor_add_term(plant, less, ".pressure", -1.0, out) != BRAMAH_OK)
    return bramah__sensor_no_other(options, less, plant, "volume", ".pressure", diag);
  if (strcmp(at, less) == 0)
    return bramah__sensor_fail(options, "the difference of a pressure with itself is always zero", diag);
  return BRAMAH_OK;
}

const bramah__sensor_kind bramah__pressure_difference = {BRAMAH_SENSOR_PRESSURE_DIFFERENCE,
                                                         "pressure-difference", "Pa", 1, bind};
