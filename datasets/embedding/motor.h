/* SPDX-License-Identifier: MIT */
/* Somebody else's simulator, a pendulum turned by a direct-current motor (motor.c), which knows nothing of
 * bramah; and what makes a plant of it (motor_plant.c). */
#ifndef MOTOR_H
#define MOTOR_H

#include <bramah/plant.h>

/* x: angle of the pendulum from straight down [rad], its rate [rad/s], current of the motor [A] */
typedef struct motor {
  double x[3];
  double voltage; /* at its terminals [V] */
} motor;

/* Advance by 1 ms, in ten steps of its own. */
void motor_step(motor *m);

/* What an ammeter with a standard deviation of 20 mA shows. */
double motor_ammeter(const motor *m, unsigned *seed);

bramah_plant motor_plant(motor *m);

#endif
