/* SPDX-License-Identifier: MIT */
/* A second plant, to keep the plant interface honest: a damped pendulum with its own integrator. The filter
 * that runs on it cannot know joints or cylinders. */
#ifndef BRAMAH_TEST_SUPPORT_PENDULUM_H
#define BRAMAH_TEST_SUPPORT_PENDULUM_H

#include "bramah/plant.h"

typedef struct pendulum {
  double angle, rate, torque, length, damping;
} pendulum;

/* step_ns as given; the pendulum must outlive the plant. */
bramah_plant pendulum_plant(pendulum *p, int64_t step_ns);

#endif
