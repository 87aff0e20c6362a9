/* SPDX-License-Identifier: MIT */
/* Encoder: the coordinate of a joint; an angle [rad] of a revolute one (innovations wrap), a position [m] of
 * a sliding one. */
#include "sensors/kinds.h"

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  out->period = BRAMAH__TURN;
  if (!options->at) return bramah__sensor_no_such(options, plant, "joint", ".angle", diag);
  if (bramah__sensor_add_term(plant, options->at, ".angle", 1.0, out) == BRAMAH_OK) return BRAMAH_OK;
  out->unit = "m";
  out->period = 0.0;
  if (bramah__sensor_add_term(plant, options->at, ".position", 1.0, out) == BRAMAH_OK) return BRAMAH_OK;
  return bramah__sensor_no_such(options, plant, "joint", ".angle", diag);
}

const bramah__sensor_kind bramah__encoder = {BRAMAH_SENSOR_ENCODER, "encoder", "rad", 0, bind};
