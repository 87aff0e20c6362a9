/* SPDX-License-Identifier: MIT */
/* Flow meter: flow through an orifice, leakage, check valve, relief valve or pump, in the direction of its
 * description; or out of a directional valve into one of its ports [m^3/s]. */
#include "sensors/kinds.h"

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  const int port = options->port != BRAMAH_SENSOR_PORT_NONE;
  const char *suffix = !port ? ".flow" : options->port == BRAMAH_SENSOR_PORT_A ? ".flow_a" : ".flow_b";
  if (options->at && bramah__sensor_add_term(plant, options->at, suffix, 1.0, out) == BRAMAH_OK)
    return BRAMAH_OK;
  if (port && bramah__sensor_has(plant, options->at, ".flow"))
    return bramah__sensor_fail(options, "only a directional valve has ports", diag);
  if (!port && bramah__sensor_has(plant, options->at, ".flow_a"))
    return bramah__sensor_fail(options, "the port of the directional valve, a or b, is missing", diag);
  return bramah__sensor_no_such(options, plant, port ? "directional valve" : "hydraulic element", suffix,
                                diag);
}

const bramah__sensor_kind bramah__flow = {BRAMAH_SENSOR_FLOW, "flow", "m^3/s", 1, bind};
