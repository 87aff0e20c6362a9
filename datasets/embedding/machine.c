/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VOLUMES = 16 };

bramah_status machine_load(const bramah_study *study, int as_believed, bramah_diag *diag, machine *out)
{
  *out = (machine){0};
  bramah_status status = bramah_machine_load(study->machine_file, as_believed ? study->n_changes : 0,
                                             study->changes, diag, &out->description);
  if (status == BRAMAH_OK) status = bramah_model_new(out->description, diag, &out->model);
  if (status == BRAMAH_OK) status = bramah_coupled_new(out->model, diag, &out->coupled);
  if (status == BRAMAH_OK) out->plant = bramah_coupled_plant(out->coupled);
  return status;
}

void machine_free(machine *m)
{
  bramah_coupled_free(m->coupled);
  bramah_model_free(m->model);
  bramah_machine_free(m->description);
}

bramah_status sensors_bind(const bramah_study *study, const bramah_plant *plant, bramah_diag *diag,
                           bramah_sensor *sensor)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < study->n_sensors && status == BRAMAH_OK; i++)
    status = bramah_sensor_init(&study->sensors[i], plant, diag, &sensor[i]);
  return status;
}

static size_t joint_index(const bramah_model *model, const char *name)
{
  size_t j = 0;
  while (bramah_model_joint_name(model, j) && strcmp(bramah_model_joint_name(model, j), name) != 0) j++;
  return j;
}

/* Place in the model of a volume that the study names. */
static size_t volume_index(const bramah_model *model, const char *name)
{
  size_t i = 0;
  while (bramah_model_volume_name(model, i) && strcmp(bramah_model_volume_name(model, i), name) != 0) i++;
  return i;
}

bramah_status filter_make(const bramah_study *study, machine *m, const bramah_sensor *sensor,
                          bramah_diag *diag, bramah_filter **out)
{
  const bramah_joint_start *start = &study->joints[0]; /* one degree of freedom */
  const size_t joint = joint_index(m->model, start->joint);
  const size_t basis = output_index(&m->plant, start->joint, "angle");
  double sigma[MAX_VOLUMES] = {0}, noise[MAX_VOLUMES] = {0};
  for (size_t i = 0; i < study->n_volumes; i++) {
    const size_t volume = volume_index(m->model, study->volumes[i].volume);
    if (volume >= MAX_VOLUMES) return BRAMAH_E_ARGUMENT;
    sigma[volume] = study->volumes[i].sigma;
    noise[volume] = study->volumes[i].noise;
  }
  const bramah_filter_options options = {.transition = study->transition,
                                         .discretisation = study->discretisation,
                                         .form = study->form,
                                         .fusion = study->fusion,
                                         .basis = &basis,
                                         .position_sigma = &start->position_sigma,
                                         .velocity_sigma = &start->rate_sigma,
                                         .pressure_sigma = sigma,
                                         .acceleration_noise = &start->acceleration_noise,
                                         .pressure_noise = noise,
                                         .gate = study->gate};
  bramah_status status = BRAMAH_OK;
  if (start->has_position)
    status = bramah_coupled_start(m->coupled, 1, &joint, &start->position, &start->rate, NULL, diag);
  if (status != BRAMAH_OK) return status;
  return bramah_filter_new(&m->plant, study->n_sensors, sensor, &options, diag, out);
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
