/* SPDX-License-Identifier: MIT */
/* A program outside the tree: a pendulum described in C, stepped and filtered. Built by check_install.sh
 * against the installed library with pkg-config alone. */
#include <bramah/coupled.h>
#include <bramah/filter.h>
#include <stdio.h>

int main(void)
{
  const bramah_body body = {"bob", 0, 1.0, {0.5, 0, 0}, {0, 0.1, 0.1, 0, 0, 0}};
  bramah_joint joint = {"pin", 0,   BRAMAH_JOINT_REVOLUTE, "ground", "bob", {0, 0, 0}, {0}, {0, 0, 1},
                        0.3,   0.0, BRAMAH_INITIAL_GIVEN};
  bramah_machine machine = {"pendulum", NULL, {0, -9.81, 0}, 0, 0,    1, &body, 1,
                            &joint,     0,    NULL,          0, NULL, 0, NULL,  0,
                            NULL,       0,    NULL,          0, NULL, 0, NULL,  {1000000, 0, 0, 0}};
  const bramah_sensor_options encoder = {"encoder", 0, BRAMAH_SENSOR_ENCODER, "pin", {0, 0, 0}, 0.01, 0};
  const double sigma = 0.1, noise = 0.01, y = 0.25;
  const unsigned char present = 1;
  bramah_diag diag;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_sensor sensor;
  bramah_filter *filter;
  if (bramah_model_new(&machine, &diag, &model) || bramah_coupled_new(model, &diag, &coupled)) return 1;
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_PAPER,
                                         .basis = NULL,
                                         .position_sigma = &sigma,
                                         .rate_sigma = &sigma,
                                         .first_order_sigma = NULL,
                                         .acceleration_noise = &noise,
                                         .first_order_noise = NULL};
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
