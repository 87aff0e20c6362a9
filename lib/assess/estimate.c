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
  a->output = calloc(n + 1, sizeof *a->output);
  a->value = calloc(3 * n + a->n_sensors + 2 * a->n_augmented + 1, sizeof *a->value);
  a->shown_as = calloc(a->n_augmented + 1, sizeof *a->shown_as);
  if (!a->output || !a->value || !a->shown_as) return bramah__fail_memory(diag);
  a->sigma = a->value + n;
  a->truth = a->sigma + n;
  a->measured = a->truth + n;
  a->augmented = a->measured + a->n_sensors;
  for (size_t i = 0; i < 3 * n; i++) a->value[i] = NAN;
  for (size_t k = 0; k < a->n_augmented; k++) {
    const long i = bramah_plant_find_output(a->plant, bramah_filter_augmented(a->filter, k)->name);
    a->shown_as[k] = i < 0 ? n : (size_t)i;
  }
  for (size_t i = 0; i < n; i++) {
    bramah_output_info info;
    bramah_plant_output_info(a->plant, i, &info);
    if (info.hidden) continue;
    bramah_assess_output_info *out = &a->output[a->n_outputs++];
    *out = (bramah_assess_output_info){.output = i,
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
                                  .innovation = bramah_replay_innovations(a->replay)};
  return BRAMAH_OK;
}

const bramah_estimate *bramah_assess_estimate(bramah_assess *a)
{
  if (a->taken) return &a->estimate;
  a->taken = 1;
  for (size_t c = 0; c < a->n_outputs; c++) {
    const size_t i = a->output[c].output;
    a->value[i] = a->plant->output(a->plant->self, i);
    if (a->output[c].has_sigma) a->sigma[i] = bramah_filter_output_sigma(a->filter, i);
  }
  for (size_t k = 0; k < a->n_augmented; k++) {
    const size_t i = a->shown_as[k];
    if (i == a->plant->n_output) continue;
    a->value[i] = bramah_filter_augmented_value(a->filter, k);
    a->sigma[i] = bramah_filter_augmented_sigma(a->filter, k);
  }
  return &a->estimate;
}

size_t bramah_assess_n_outputs(const bramah_assess *a) { return a->n_outputs; }
bramah_assess_output_info bramah_assess_output(const bramah_assess *a, size_t i) { return a->output[i]; }

bramah_augmented_estimate bramah_assess_augmented(const bramah_assess *a, size_t i)
{
  const bramah_augmented *state = bramah_filter_augmented(a->filter, i);
  return (bramah_augmented_estimate){
      .name = state->name,
      .at = state->at,
      .unit = bramah_session_augmented_unit(a->session, i),
      .is_bias = state->kind == BRAMAH_AUGMENTED_BIAS,
      .is_shown = a->shown_as[i] < a->plant->n_output,
      .value = a->smoothing ? a->augmented[2 * i] : bramah_filter_augmented_value(a->filter, i),
      .sigma = a->smoothing ? a->augmented[2 * i + 1] : bramah_filter_augmented_sigma(a->filter, i)};
}

/* ---- noise that adapts ---- */

size_t bramah_assess_n_adapted(const bramah_assess *a)
{
  return a->adaptive ? bramah_adaptive_count(a->adaptive) : 0;
}

/* Noise of accelerations is stated for joints, whatever coordinates are independent now. */
bramah_adapted bramah_assess_adapted(const bramah_assess *a, size_t i)
{
  const bramah_adaptive_value noise = bramah_adaptive_get(a->adaptive, i);
  const size_t n_dof = a->plant->n_dof, first[] = {0, 0, n_dof, n_dof + a->plant->n_first_order};
  const double stated = a->stated[first[noise.kind] + noise.index];
  bramah_output_info rate = {.name = ""};
  if (noise.kind == BRAMAH_ADAPTIVE_ACCELERATION)
    bramah_plant_output_info(a->plant, bramah_session_joint_output(a->session, noise.index) + 1, &rate);
  const char *name = noise.kind == BRAMAH_ADAPTIVE_SENSOR ? bramah_filter_sensor(a->filter, noise.index)->name
                     : noise.kind == BRAMAH_ADAPTIVE_ACCELERATION
                         ? rate.name
                         : bramah_plant_state_name(a->plant, 2 * n_dof + noise.index);
  return (bramah_adapted){name, noise.value / stated, noise.sigma / stated, noise.limited};
}
