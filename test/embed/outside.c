/* SPDX-License-Identifier: MIT */
/* A program outside the tree: a pendulum described in C, stepped and filtered. Built by check_install.sh
 * against the installed library with pkg-config alone. */
#define BRAMAH_CORE_ONLY 1 /* libbramah alone: no files, MIT */
#include <bramah.h>
#include <stdio.h>

int main(void)
{
  const bramah_body body = {.name = "bob",
                            .mass = 1.0,
                            .centre_of_mass = {0.5, 0.0, 0.0},
                            .inertia = {0.0, 0.1, 0.1, 0.0, 0.0, 0.0}};
  const bramah_joint joint = {.name = "pin",
                              .type = BRAMAH_JOINT_REVOLUTE,
                              .parent = "ground",
                              .child = "bob",
                              .axis = {0.0, 0.0, 1.0},
                              .initial_position = 0.3,
                              .initial = BRAMAH_INITIAL_GIVEN};
  bramah_machine machine;
  bramah_machine_default(&machine); /* steps of 1 ms */
  machine.name = "pendulum";
  machine.gravity[1] = -9.81;
  machine.n_bodies = machine.n_joints = 1;
  machine.bodies = &body;
  machine.joints = &joint;
  bramah_sensor_options encoder;
  bramah_sensor_options_default(&encoder);
  encoder.name = "encoder";
  encoder.kind = BRAMAH_SENSOR_ENCODER;
  encoder.at = "pin";
  encoder.sigma = 0.01;
  const double sigma = 0.1, noise = 0.01, y = 0.25;
  const unsigned char present = 1;
  bramah_diag diag;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_sensor sensor;
  bramah_filter *filter;
  if (bramah_model_new(&machine, &diag, &model) || bramah_coupled_new(model, &diag, &coupled)) return 1;
  const bramah_plant plant = bramah_coupled_plant(coupled);
  bramah_filter_options options;
  bramah_filter_options_default(&options);
  options.position_sigma = options.rate_sigma = &sigma;
  options.acceleration_noise = &noise;
  if (bramah_sensor_init(&encoder, &plant, &diag, &sensor)) return 1;
  if (bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter)) return 1;
  if (bramah_filter_correct(filter, &y, &present, &diag) || bramah_filter_predict(filter, &diag)) return 1;
  const double angle = plant.output(plant.self, 0);
  printf("bramah %s: angle %.4f rad +- %.4f\n", bramah_version(), angle,
         bramah_filter_output_sigma(filter, 0));
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
  return angle > 0.249 && angle < 0.252 ? 0 : 1;
}
