/* SPDX-License-Identifier: MIT */
/* What any plant can do through its interface: find outputs, differentiate by finite differences. */
#include "bramah/plant.h"
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

static const char *missing_function(const bramah_plant *p)
{
  if (!p->step) return "step";
  if (!p->inject) return "inject";
  if (!p->output) return "output";
  if (!p->save) return "save";
  if (!p->restore) return "restore";
  if (p->n_input && !p->set_inputs) return "set_inputs";
  if (!p->n_parameter) return NULL;
  if (!HAS(p, parameter_info)) return "parameter_info";
  if (!HAS(p, parameter)) return "parameter";
  return HAS(p, set_parameter) ? NULL : "set_parameter";
}

static bramah_output_kind kind_of_state(const bramah_plant *plant, size_t i)
{
  if (i < plant->n_dof) return BRAMAH_OUTPUT_POSITION;
  return i < 2 * plant->n_dof ? BRAMAH_OUTPUT_RATE : BRAMAH_OUTPUT_FIRST_ORDER;
}

/* Are the first outputs the states? So it is where one of the two has no names of its own. */
static int outputs_are_states(const bramah_plant *plant)
{
  return !HAS(plant, state_info) || !HAS(plant, output_info);
}

static bramah_status check_state(const bramah_plant *plant, size_t i, bramah_diag *diag)
{
  bramah_state_info info;
  bramah_plant_state_info(plant, i, &info);
  if (!(info.scale > 0.0) || !isfinite(info.scale))
    return bramah__fail(diag, BRAMAH_E_VALUE, info.name, "the scale of this state must be positive");
  if (!(info.period >= 0.0) || !isfinite(info.period))
    return bramah__fail(diag, BRAMAH_E_VALUE, info.name, "the period of this state must not be negative");
  if (!outputs_are_states(plant)) return BRAMAH_OK;
  bramah_output_info output = {.kind = BRAMAH_OUTPUT_OTHER};
  if (i < plant->n_output) bramah_plant_output_info(plant, i, &output);
  if (output.kind == info.kind) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_VALUE, info.name,
                      "without state_info and output_info the first outputs must be the states: positions, "
                      "rates, first-order states");
}

bramah_status bramah_plant_check(const bramah_plant *plant, bramah_diag *diag)
{
  if (plant->version != BRAMAH_PLANT_VERSION)
    return refuse(diag, "plant", "its table was made for another version of the plant interface");
  if (plant->size < offsetof(bramah_plant, state_info))
    return refuse(diag, "plant", "its table is too short: its member size is not that of a bramah_plant");
  const char *missing = missing_function(plant);
  if (missing) return refuse(diag, missing, "the plant lacks this function");
  if (plant->step_ns <= 0)
    return bramah__fail(diag, BRAMAH_E_VALUE, "step_ns", "the length of the plant's step must be positive");
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < bramah_plant_n_error(plant) && status == BRAMAH_OK; i++)
    status = check_state(plant, i, diag);
  return status;
}

bramah_plant bramah_plant_copy(const bramah_plant *plant)
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
  info->kind = kind_of_state(plant, i);
}

const char *bramah_plant_state_name(const bramah_plant *plant, size_t i)
{
  bramah_state_info info;
  bramah_plant_state_info(plant, i, &info);
  return info.name;
}

const char *bramah_plant_input_name(const bramah_plant *plant, size_t i)
{
  return HAS(plant, input_name) ? plant->input_name(plant->self, i) : "input";
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
                            : bramah_plant_find_output(plant, bramah_plant_state_name(plant, i));
    if (output < 0) return 0;
    x[i] = plant->output(plant->self, (size_t)output);
  }
  return 1;
}

void bramah_plant_subtract(const bramah_plant *plant, const double *a, const double *b, double *d)
{
  for (size_t i = 0; i < bramah_plant_n_error(plant); i++) {
    bramah_state_info info;
    bramah_plant_state_info(plant, i, &info);
    d[i] = a[i] - b[i];
    if (info.period > 0.0) d[i] = remainder(d[i], info.period);
  }
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

long bramah_plant_find_parameter(const bramah_plant *plant, const char *name)
{
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    if (strcmp(info.name, name) == 0) return (long)i;
  }
  return -1;
}

static const char *nearest_parameter(const bramah_plant *plant, const char *name)
{
  const char *two[2] = {NULL, NULL};
  for (size_t i = 0; i < plant->n_parameter; i++) {
    bramah_parameter_info info;
    plant->parameter_info(plant->self, i, &info);
    two[1] = info.name;
    two[0] = two[0] ? bramah__nearest(name, 2, two) : bramah__nearest(name, 1, two + 1);
  }
  return two[0];
}

bramah_status bramah_plant_parameter_index(const bramah_plant *plant, const char *name, size_t *i,
                                           bramah_diag *diag)
{
  const long found = bramah_plant_find_parameter(plant, name);
  if (found >= 0) {
    *i = (size_t)found;
    return BRAMAH_OK;
  }
  const char *near = nearest_parameter(plant, name);
  bramah__fail(diag, BRAMAH_E_REFERENCE, name, "there is no parameter of this name");
  if (near) bramah__add_text(diag, "; did you mean '"), bramah__add_text(diag, near);
  if (near) bramah__add_text(diag, "'?");
  return BRAMAH_E_REFERENCE;
}

/* ---- differences ---- */

double bramah_plant_difference_step(const bramah_plant *plant, size_t i)
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

bramah_status bramah_plant_output_row(const bramah_plant *plant, size_t i, double *row, void *snap,
                                      double *dx, bramah_diag *diag)
{
  if (HAS(plant, output_row)) {
    const bramah_status own = plant->output_row(plant->self, i, row);
    if (own != BRAMAH_E_UNSUPPORTED) return own;
  }
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, snap);
  for (size_t k = 0; k < bramah_plant_n_error(plant) && status == BRAMAH_OK; k++) {
    const double step = bramah_plant_difference_step(plant, k);
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

bramah_status bramah_plant_acceleration_jacobian(const bramah_plant *plant, double *J, void *snap, double *dx,
                                                 double *zdd, bramah_diag *diag)
{
  if (HAS(plant, acceleration_jacobian)) return plant->acceleration_jacobian(plant->self, J, diag);
  if (!HAS(plant, accelerations)) return refuse(diag, "plant", "it does not tell its accelerations");
  const size_t n = bramah_plant_n_error(plant), nf = plant->n_dof;
  double *base = zdd, *moved = zdd + nf;
  bramah_status status = plant->accelerations(plant->self, base, diag);
  plant->save(plant->self, snap);
  for (size_t k = 0; k < n && status == BRAMAH_OK; k++) {
    const double step = bramah_plant_difference_step(plant, k);
    status = displace(plant, k, step, snap, dx, diag);
    if (status == BRAMAH_OK) status = plant->accelerations(plant->self, moved, diag);
    for (size_t r = 0; r < nf; r++) J[r * n + k] = (moved[r] - base[r]) / step;
  }
  plant->restore(plant->self, snap);
  return status;
}
