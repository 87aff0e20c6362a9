/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>

bramah_status sensors_bind(const bramah_study *study, const bramah_plant *plant, bramah_diag *diag,
                           bramah_sensor *sensor)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < study->n_sensors && status == BRAMAH_OK; i++)
    status = bramah_sensor_init(&study->sensors[i], plant, diag, &sensor[i]);
  return status;
}

size_t output_index(const bramah_plant *plant, const char *thing, const char *what)
{
  char name[128];
  snprintf(name, sizeof name, "%s.%s", thing, what);
  const long i = bramah_plant_find_output(plant, name);
  if (i >= 0) return (size_t)i;
  fprintf(stderr, "the machine has no output %s\n", name);
  exit(EXIT_FAILURE);
}
