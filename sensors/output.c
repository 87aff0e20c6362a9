/* SPDX-License-Identifier: MIT */
/* Any output of a plant by its whole name, in its unit. It wraps as the state of that name does; angles that are no states
 * wrap, too. */
#include "lib/base/diag.h"
#include "sensors/kinds.h"

#include <string.h>

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  bramah_output_info info;
  if (!options->at || bramah__sensor_add_term(plant, options->at, "", 1.0, out) != BRAMAH_OK)
    return bramah__sensor_no_such(options, plant, "output", "", diag);
  bramah_plant_output_info(plant, out->output[0], &info);
  if (!info.has_row)
    return bramah__fail(diag, BRAMAH_E_VALUE, options->name,
                        "its output does not follow from the state (a sum over time, a friction, a spool): "
                        "measuring it corrects nothing");
  out->unit = info.unit;
  out->group = info.kind == BRAMAH_OUTPUT_FIRST_ORDER || info.kind == BRAMAH_OUTPUT_OTHER;
  if (info.kind == BRAMAH_OUTPUT_OTHER && strcmp(info.unit, "rad") == 0) out->period = BRAMAH__TURN;
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info state;
    bramah_plant_state_info(plant, i, &state);
    if (strcmp(state.name, info.name) == 0) out->period = state.period;
  }
  return BRAMAH_OK;
}

const bramah__sensor_kind bramah__any_output = {BRAMAH_SENSOR_OUTPUT, "output", NULL, 0, bind};
