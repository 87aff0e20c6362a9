/* SPDX-License-Identifier: MIT */
/* The alarm in a controller: after six seconds the ammeter of the motor shows 0.1 A too much, five of its standard
 * deviations. The alarm must say so within the delay it expects, and not before. */
#include "motor.h"
#include <bramah/alarm.h>
#include <math.h>
#include <stdio.h>

int main(void)
{
  motor truth = {.x = {0.1, 0.0, 0.0}}, model = {.x = {0.0}};
  const bramah_plant plant = motor_plant(&model);
  const bramah_sensor ammeter = {.name = "amp", .n_terms = 1, .output = {2}, .weight = {1}, .sigma = 0.02};
  const double sigma[3] = {0.4, 0.5, 0.5}, noise[2] = {0.01, 0.01}, gate = 4.0; /* rad, rad/s, A */
  bramah_filter_options options;
  bramah_filter_options_default(&options);
  options.transition = BRAMAH_TRANSITION_STEP, options.gate = &gate, options.drift_gate = 6.0;
  options.position_sigma = &sigma[0], options.rate_sigma = &sigma[1], options.first_order_sigma = &sigma[2];
  options.acceleration_noise = &noise[0], options.first_order_noise = &noise[1];
  bramah_filter *filter;
  bramah_alarm *alarm; /* of defaults: false once in four days */
  bramah_diag diag;
  if (bramah_filter_new(&plant, 1, &ammeter, &options, &diag, &filter)) return puts(diag.message);
  if (bramah_alarm_new(filter, NULL, &diag, &alarm)) return puts(diag.message);
  unsigned seed = 1;
  int raised = -1, begin = 6000;
  for (int k = 0; k < 10000 && raised < 0; k++) {
    truth.voltage = model.voltage = 3.0 * sin(0.002 * k);
    motor_step(&truth);
    const double y = motor_ammeter(&truth, &seed) + (k < begin ? 0.0 : 0.1);
    if (bramah_filter_predict(filter, &diag)) return puts(diag.message);
    if (bramah_filter_correct(filter, &y, &(const unsigned char){1}, &diag)) return puts(diag.message);
    if (bramah_alarm_corrected(alarm)) raised = k;
  }
  const bramah_alarm_state state = bramah_alarm_get(alarm, 0);
  const double delay = bramah_alarm_delay(alarm, 0, 5.0);
  bramah_alarm_free(alarm);
  bramah_filter_free(filter);
  printf("%s: %s of its innovations %.3g, since %.3f s; raised after %d samples, expected %.0f\n",
         ammeter.name, bramah_alarm_kind_name(state.kind), state.amount, 1e-9 * (double)state.since_ns,
         raised - begin, 1e3 * delay);
  return !(raised >= begin && raised - begin < 4e3 * delay);
}
