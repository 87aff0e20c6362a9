/* SPDX-License-Identifier: MIT */
/* What any plant can do through its interface: find outputs, differentiate by finite differences. */
#include "bramah/plant.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

long bramah_plant_find_output(const bramah_plant *plant, const char *name)
{
  for (size_t i = 0; i < plant->n_output; i++) {
    bramah_output_info info;
    plant->output_info(plant->self, i, &info);
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

/* Perturbation of error state k: small against rad, m, rad/s, m/s; 10 Pa for pressures. */
static double perturbation(const bramah_plant *plant, size_t k)
{
  return k < 2 * plant->n_position ? 1e-6 : 10.0;
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
  if (plant->output_row) {
    const bramah_status own = plant->output_row(plant->self, i, row);
    if (own != BRAMAH_E_UNSUPPORTED) return own;
  }
  bramah_status status = BRAMAH_OK;
  plant->save(plant->self, snap);
  for (size_t k = 0; k < bramah_plant_n_error(plant) && status == BRAMAH_OK; k++) {
    const double step = perturbation(plant, k);
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
  if (plant->acceleration_jacobian) return plant->acceleration_jacobian(plant->self, J, diag);
  const size_t n = bramah_plant_n_error(plant), nf = plant->n_position;
  double *base = zdd, *moved = zdd + nf;
  bramah_status status = plant->accelerations(plant->self, base, diag);
  plant->save(plant->self, snap);
  for (size_t k = 0; k < n && status == BRAMAH_OK; k++) {
    const double step = perturbation(plant, k);
    status = displace(plant, k, step, snap, dx, diag);
    if (status == BRAMAH_OK) status = plant->accelerations(plant->self, moved, diag);
    for (size_t r = 0; r < nf; r++) J[r * n + k] = (moved[r] - base[r]) / step;
  }
  plant->restore(plant->self, snap);
  return status;
}
