/* SPDX-License-Identifier: MIT */
/* Inclinometer: angle of the unit direction e of a body against the horizontal plane [rad], from the
 * direction `up` against gravity in the axes of the body: asin(e . up); or the angle about a body-fixed unit
 * axis n across e, atan2(e . up, (n x e) . up). */
#include "sensors/kinds.h"

#include <math.h>

/* Two directions less than this (sine) apart do not make a plane. */
static const double least_sine = 1e-6;

/* Without gravity the plant's direction `up` is zero. */
static int has_gravity(const bramah_plant *plant, const char *at)
{
  const double all[3] = {1, 1, 1};
  bramah_sensor up = {.n_terms = 0};
  double sum = 0.0;
  if (bramah__sensor_add_vector(plant, at, ".up_", all, &up) != BRAMAH_OK) return 0;
  for (size_t k = 0; k < up.n_terms; k++) {
    const double component = plant->output(plant->self, up.output[k]);
    sum += component * component;
  }
  return sum > 0.5;
}

static bramah_status bind(const bramah_sensor_options *options, const bramah_plant *plant, bramah_diag *diag,
                          bramah_sensor *out)
{
  const double *about = options->about;
  double e[3], n[3], second[3], across[3];
  bramah_status status = bramah__sensor_unit_vector(options, "axis", options->axis, diag, e);
  if (status != BRAMAH_OK) return status;
  if (!bramah__sensor_has(plant, options->at, ".up_x"))
    return bramah__sensor_no_such(options, plant, "body", ".up_x", diag);
  if (!has_gravity(plant, options->at))
    return bramah__sensor_fail(options, "an inclinometer needs gravity, and the machine has none", diag);
  out->shape = BRAMAH_SENSOR_ARCSINE;
  if (about[0] == 0.0 && about[1] == 0.0 && about[2] == 0.0)
    return bramah__sensor_add_vector(plant, options->at, ".up_", e, out);

  /* With `about`: the direction e and the axis n x e across it. */
  status = bramah__sensor_unit_vector(options, "axis 'about'", about, diag, n);
  if (status != BRAMAH_OK) return status;
  for (int k = 0; k < 3; k++) second[k] = n[(k + 1) % 3] * e[(k + 2) % 3] - n[(k + 2) % 3] * e[(k + 1) % 3];
  if (!(sqrt(second[0] * second[0] + second[1] * second[1] + second[2] * second[2]) > least_sine))
    return bramah__sensor_fail(options, "'about' must not point along 'axis'", diag);
  status = bramah__sensor_unit_vector(options, "axis 'about'", second, diag, across);
  if (status == BRAMAH_OK) status = bramah__sensor_add_vector(plant, options->at, ".up_", e, out);
  out->n_first = out->n_terms;
  if (status == BRAMAH_OK) status = bramah__sensor_add_vector(plant, options->at, ".up_", across, out);
  out->shape = BRAMAH_SENSOR_ANGLE;
  out->period = BRAMAH__TURN;
  return status;
}

const bramah__sensor_kind bramah__inclinometer = {BRAMAH_SENSOR_INCLINOMETER, "inclinometer", "rad", 0, bind};
