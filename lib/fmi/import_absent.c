/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Without libzip or expat no FMU is read. */
#include "bramah/fmu.h"
#include "lib/io/fail.h"

bramah_status bramah_fmu_open(const bramah_fmu_mapping *mapping, bramah_diag *diag, bramah_fmu **out)
{
  *out = NULL;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, mapping->file, mapping->line, "plant",
                       "this bramah was built without libzip or expat and reads no FMUs: install libzip-dev "
                       "and libexpat1-dev, build it anew");
}

void bramah_fmu_close(bramah_fmu *fmu) { (void)fmu; }
bramah_fmu_abilities bramah_fmu_get_abilities(const bramah_fmu *fmu)
{
  return (void)fmu, (bramah_fmu_abilities){0};
}

bramah_status bramah_fmu_plant_new(const bramah_fmu *fmu, bramah_diag *diag, bramah_fmu_plant **out)
{
  *out = NULL;
  return (void)fmu, bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, "plant", "no FMUs are read here");
}

void bramah_fmu_plant_free(bramah_fmu_plant *instance) { (void)instance; }
bramah_plant bramah_fmu_plant_table(bramah_fmu_plant *instance)
{
  return (void)instance, (bramah_plant){BRAMAH_PLANT_HEAD};
}

bramah_status bramah_fmu_plant_start(bramah_fmu_plant *instance, const double *x, bramah_diag *diag)
{
  (void)instance, (void)x;
  return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, "plant", "no FMUs are read here");
}
