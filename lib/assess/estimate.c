/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an assessment estimates at one time. */
#include "lib/assess/assess_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Accelerations could have a sigma too, but their derivatives cost as much as those of the filter's own
 * prediction. Unknown commands have the name of an output, which no other augmented state can have. */
bramah_status bramah__estimate_init(bramah_assess *a, bramah_diag *diag)
{
  const size_t n = a->plant->n_output;
  a->outputs = calloc(n + 1, sizeof *a->outputs);
  a->value = calloc(3 * n + a->n_sensors + 1, sizeof *a->value);
  a->augmented = calloc(a->n_augmented + 1, sizeof *a->augmented);
  a->shown_as = calloc(a->n_augmented + 1, sizeof *a->shown_as);
  if (!a->outputs || !a->value || !a->augmented || !a->shown_as) return bramah__fail_memory(diag);
  a->sigma = a->value + n;
  a->truth = a->sigma + n;
  a->measured = a->truth + n;
  for (size_t i = 0; i < 3 * n; i++) a->value[i] = NAN;
  for (size_t k = 0; k < a->n_augmented; k++) {
    const bramah_augmented *state = bramah_filter_augmented(a->filter, k);
    const long i = bramah_plant_find_output(a->plant, state->name);
    a->shown_as[k] = i < 0 ? n : (size_t)i;
    a->augmented[k] = (bramah_augmented_estimate){.name = state->name,
                                                  .at = state->at,
                                                  .unit = bramah_session_augmented_unit(a->session, k),
                                                  .is_bias = state->kind == BRAMAH_AUGMENTED_BIAS,
                                                  .is_shown = i >= 0};
  }
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    bramah_plant_output_info(a->plant, i, &info);
    if (info.hidden) continue;
    bramah_assess_output *out = &a->outputs[a->n_outputs++];
    *out = (bramah_assess_output){.output = i,
                                  .name = info.name,
                                  .unit = info.unit,
                                  .has_sigma = info.has_row && info.kind != BRAMAH_OUTPUT_ACCELERATION,
                                  .sensor = bramah_session_sensor_of_output(a->session, i)};
    for (size_t k = 0; k < a->n_augmented; k++) out->has_sigma |= a->shown_as[k] == i;
  }
  a->estimate = (bramah_estimate){.value = a->value,
                                  .sigma = a->sigma,
                                  .truth = a->truth,
                                  .measured = a->measured,
                                  .innovation = bramah_replay_innovations(a->replay),
                                  .augmented = a->augmented};
  return BRAMAH_OK;
}

void bramah__estimate_augmented(bramah_assess *a)
{
  for (size_t k = 0; k < a->n_augmented && !a->smoothing; k++) {
    a->augmented[k].value = bramah_filter_augmented_value(a->filter, k);
    a->augmented[k].sigma = bramah_filter_augmented_sigma(a->filter, k);
  }
}

const bramah_estimate *bramah_assess_estimate(bramah_assess *a)
{
  if (a->taken) return &a->estimate;
  a->taken = 1;
  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->outputs[c].output;
    a->value[i] = a->plant->output(a->plant->self, i);
    if (a->outputs[c].has_sigma) a->sigma[i] = bramah_filter_output_sigma(a->filter, i);
  }
  bramah__estimate_augmented(a);
  for (size_t k = 0; k < a->n_augmented; k++) {
    if (!a->augmented[k].is_shown) continue;
    a->value[a->shown_as[k]] = a->augmented[k].value;
    a->sigma[a->shown_as[k]] = a->augmented[k].sigma;
  }
  return &a->estimate;
}

const bramah_assess_output *bramah_assess_outputs(const bramah_assess *a, size_t *n)
{
  *n = a->n_outputs;
  return a->outputs;
}
