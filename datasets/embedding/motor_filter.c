/* SPDX-License-Identifier: MIT */
/* The angle of a pendulum from the current of its motor alone. The model starts straight down while the
 * pendulum hangs at 23 degrees; the estimate must come to within a degree and keep inside its 95 % band. */
#include "motor.h"
#include <bramah/filter.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
  motor truth = {.x = {0.4, 0.0, 0.0}}, model = {.x = {0.0}};
  const bramah_plant plant = motor_plant(&model);
  const bramah_sensor ammeter = {.name = "amp", .n_terms = 1, .output = {2}, .weight = {1}, .sigma = 0.02};
  const double sigma[3] = {0.4, 0.5, 0.5}, noise[2] = {0.01, 0.01}; /* rad, rad/s, A */
  bramah_filter_options options;
  bramah_filter_options_default(&options);
  options.position_sigma = &sigma[0], options.rate_sigma = &sigma[1], options.first_order_sigma = &sigma[2];
  options.acceleration_noise = &noise[0], options.first_order_noise = &noise[1];
  bramah_filter *filter;
  bramah_diag diag;
  if (bramah_filter_new(&plant, 1, &ammeter, &options, &diag, &filter)) return puts(diag.message);
  unsigned seed = 1, inside = 0;
  for (int k = 0; k < 10000; k++) {
    truth.voltage = model.voltage = 3.0 * sin(0.002 * k);
    motor_step(&truth);
    const double y = motor_ammeter(&truth, &seed);
    if (bramah_filter_predict(filter, &diag)) return puts(diag.message);
    if (bramah_filter_correct(filter, &y, &(const unsigned char){1}, &diag)) return puts(diag.message);
    inside += fabs(model.x[0] - truth.x[0]) < 1.96 * bramah_filter_output_sigma(filter, 0);
  }
  bramah_filter_free(filter);
  printf("angle %.4f rad, in truth %.4f; %.1f %% inside 95 %%\n", model.x[0], truth.x[0], inside / 100.0);
  return !(fabs(model.x[0] - truth.x[0]) < 0.017 && inside > 9000);
}
