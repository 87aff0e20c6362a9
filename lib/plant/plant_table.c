/* SPDX-License-Identifier: MIT */
/* What any plant can do through its interface: find outputs, differentiate by finite differences. */
#include "lib/plant/plant_table.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- what the table holds ---- */

/* Is there this function? Tables of older callers may be shorter than ours. */
#define HAS(plant, member)                                                                                   \
  ((plant)->size >= offsetof(bramah_plant, member) + sizeof((plant)->member) && (plant)->member)

static bramah_status refuse(bramah_diag *diag, const char *thing, const char *message)
{
  return bramah__fail(diag, BRAMAH_E_UNSUPPORTED, thing, message);
}

/* Are the first outputs the states? So it is where one of the two has no names of its own. */
static int outputs_are_states(const bramah_plant *plant)
{
  return !HAS(plant, state_info) || !HAS(plant, output_info);
}

bramah_status bramah__plant_check(const bramah_plant *plant, bramah_diag *diag)
{
  if (plant->version != BRAMAH_PLANT_VERSION)
    return refuse(diag, "plant", "its table was made for another version of the plant interface");
  if (plant->size < offsetof(bramah_plant, state_info))
    return refuse(diag, "plant", "its table is too short: its member size is not that of a bramah_plant");

  const int parameters = plant->n_parameter > 0;
  const struct {
    const char *name;
    int is_missing;
  } required[] = {{"step", !plant->step},
                  {"inject", !plant->inject},
                  {"output", !plant->output},
                  {"save", !plant->save},
                  {"restore", !plant->restore},
                  {"set_inputs", plant->n_input && !plant->set_inputs},
                  {"parameter_info", parameters && !HAS(plant, parameter_info)},
                  {"parameter", parameters && !HAS(plant, parameter)},
                  {"set_parameter", parameters && !HAS(plant, set_parameter)}};
  for (size_t i = 0; i < sizeof required / sizeof *required; i++)
    if (required[i].is_missing) return refuse(diag, required[i].name, "the plant lacks this function");
  if (plant->step_ns <= 0)
    return bramah__fail(diag, BRAMAH_E_VALUE, "step_ns", "the length of the plant's step must be positive");

  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    if (!(info.scale > 0.0) || !isfinite(info.scale))
      return bramah__fail(diag, BRAMAH_E_VALUE, info.name, "the scale of this state must be positive");
    if (!(info.period >= 0.0) || !isfinite(info.period))
      return bramah__fail(diag, BRAMAH_E_VALUE, info.name, "the period of this state must not be negative");
    if (!outputs_are_states(plant)) continue;
    bramah_output_info output = {.kind = BRAMAH_OUTPUT_OTHER};
    if (i < plant->n_output) bramah_plant_output_info(plant, i, &output);
    if (output.kind != info.kind)
      return bramah__fail(
          diag, BRAMAH_E_VALUE, info.name,
          "without state_info and output_info the first outputs must be the states: positions, "
          "rates, first-order states");
  }
  return BRAMAH_OK;
}

bramah_plant bramah__plant_copy(const bramah_plant *plant)
{
  bramah_plant copy = {0};
  memcpy(&copy, plant, plant->size < sizeof copy ? plant->size : sizeof copy);
  copy.size = sizeof copy;
  return copy;
}

/* ---- names ---- */

void bramah_plant_output_info(const bramah_plant *plant, size_t i, bramah_output_info *info)
{
  *info = (bramah_output_info){.name = "output", .unit = "", .kind = BRAMAH_OUTPUT_OTHER, .has_row = 1};
  if (HAS(plant, output_info)) {
    plant->output_info(plant->self, i, info);
    return;
  }
  if (i >= bramah_plant_n_error(plant)) return;
  bramah_state_info state;
  bramah_plant_state_info(plant, i, &state);
  info->name = state.name, info->unit = state.unit, info->kind = state.kind;
}

void bramah_plant_state_info(const bramah_plant *plant, size_t i, bramah_state_info *info)
{
  *info = (bramah_state_info){.name = "state", .unit = "", .scale = 1.0};
  if (HAS(plant, state_info)) {
    plant->state_info(plant->self, i, info);
  } else if (HAS(plant, output_info) && i < plant->n_output) {
    bramah_output_info output;
    plant->output_info(plant->self, i, &output);
    info->name = output.name, info->unit = output.unit;
  }
  info->kind = i < plant->n_dof       ? BRAMAH_OUTPUT_POSITION
               : i < 2 * plant->n_dof ? BRAMAH_OUTPUT_RATE
                                      : BRAMAH_OUTPUT_FIRST_ORDER;
}

const char *bramah__plant_state_name(const bramah_plant *plant, size_t i)
{
  bramah_state_info info;
  bramah_plant_state_info(plant, i, &info);
  return info.name;
}

int bramah_plant_coordinates(const bramah_plant *plant, double *x)
{
  if (HAS(plant, coordinates)) {
    plant->coordinates(plant->self, x);
    return 1;
  }
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    const long output = outputs_are_states(plant)
                            ? (long)i
                            : bramah_plant_find_output(plant, bramah__plant_state_name(plant, i));
    if (output < 0) return 0;
    x[i] = plant->output(plant->self, (size_t)output);
  }
  return 1;
}

void bramah__plant_subtract(const bramah_plant *plant, const double *a, const double *b, double *d)
{
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    d[i] = a[i] - b[i];
    if (info.period > 0.0) d[i] = remainder(d[i], info.period);
  }
}

void bramah_plant_outputs(const bramah_plant *plant, size_t n_outputs, const size_t *output, double *value)
{
  for (size_t k = 0; k < n_outputs; k++) value[k] = plant->output(plant->self, output[k]);
}

long bramah_plant_find_output(const bramah_plant *plant, const char *name)
{
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(plant, i, &info);
    if (strcmp(info.name, name) == 0) return (long)i;
  }
  return -1;
}

bramah_status bramah_plant_parameter_index(const bramah_plant *plant, const char *name, size_t *i,
                                           bramah_diag *diag)
{
  const char *nearest = NULL;
  for (size_t k = 0; k < plant->n_parameter; k++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, k, &info);
    if (strcmp(info.name, name) == 0) {
      *i = k;
      return BRAMAH_OK;
    }

    /* The nearer one of what has been found and this: names compete two by two. */
    const char *two[2] = {nearest, info.name};
    nearest = nearest ? bramah__nearest(name, 2, two) : bramah__nearest(name, 1, two + 1);
  }

  bramah__fail(diag, BRAMAH_E_REFERENCE, name, "there is no parameter of this name");
  if (nearest) bramah__add_text(diag, "; did you mean '"), bramah__add_text(diag, nearest);
  if (nearest) bramah__add_text(diag, "'?");
  return BRAMAH_E_REFERENCE;
}

/* ---- differences ---- */

double bramah__plant_difference_step(const bramah_plant *plant, size_t i)
{
  bramah_state_info info;
  bramah_plant_state_info(plant, i, &info);
  return 1e-6 * info.scale;
}

/* Set the plant to its saved state displaced by `step` in error state k. */
static bramah_status displace(const bramah_plant *plant, size_t k, double step, const void *snap, double *dx,
                              bramah_diag *diag)
{
  const size_t n = bramah_plant_n_error(plant);
  for (size_t i = 0; i < n; i++) dx[i] = 0.0;
  dx[k] = step;
  plant->restore(plant->self, snap);
  return plant->inject(plant->self, dx, diag);
}

bramah_status bramah__plant_output_row(const bramah_plant *plant, size_t i, double *row, void *snap,
                                       double *dx, bramah_diag *diag)
{
  if (HAS(plant, output_row)) {
    const bramah_status own = plant->output_row(plant->self, i, row);
    if (own != BRAMAH_E_UNSUPPORTED) return own;
  }
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, snap);
  for (size_t k = 0; k < bramah_plant_n_error(plant) && status == BRAMAH_OK; k++) {
    const double step = bramah__plant_difference_step(plant, k);
    double value[2] = {0, 0};
    for (int side = 0; side < 2 && status == BRAMAH_OK; side++) {
      status = displace(plant, k, side ? step : -step, snap, dx, diag);
      value[side] = plant->output(plant->self, i);
    }
    row[k] = (value[1] - value[0]) / (2.0 * step);
  }
  plant->restore(plant->self, snap);
  return status;
}

bramah_status bramah__plant_acceleration_jacobian(const bramah_plant *plant, double *J, void *snap,
                                                  double *dx, double *zdd, bramah_diag *diag)
{
  if (HAS(plant, acceleration_jacobian)) return plant->acceleration_jacobian(plant->self, J, diag);
  if (!HAS(plant, accelerations)) return refuse(diag, "plant", "it does not give its accelerations");
  const size_t n = bramah_plant_n_error(plant), nf = plant->n_dof;
  double *base = zdd, *moved = zdd + nf;
  bramah_status status = plant->accelerations(plant->self, base, diag);
  plant->save(plant->self, snap);
  for (size_t k = 0; k < n && status == BRAMAH_OK; k++) {
    const double step = bramah__plant_difference_step(plant, k);
    status = displace(plant, k, step, snap, dx, diag);
    if (status == BRAMAH_OK) status = plant->accelerations(plant->self, moved, diag);
    for (size_t r = 0; r < nf; r++) J[r * n + k] = (moved[r] - base[r]) / step;
  }
  plant->restore(plant->self, snap);
  return status;
}
