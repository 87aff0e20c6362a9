/* SPDX-License-Identifier: MIT */
/* Somebody else's simulator (motor.h) as a plant, stepped as it is. Five functions and a few sizes are all
 * that bramah asks for: the outputs are the states, and derivatives it takes by differences of steps. */
#include "motor.h"
#include <string.h>

static bramah_status step(void *self, bramah_diag *diag) { return (void)diag, motor_step(self), BRAMAH_OK; }
static double output(void *self, size_t i) { return ((motor *)self)->x[i]; }
static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(motor)); }
static void restore(void *self, const void *snap) { memcpy(self, snap, sizeof(motor)); }
static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  for (int i = 0; i < 3; i++) ((motor *)self)->x[i] += dx[i];
  return (void)diag, BRAMAH_OK;
}

bramah_plant motor_plant(motor *m)
{
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = m,
                        .step_ns = 1000000,
                        .n_dof = 1,
                        .n_first_order = 1,
                        .n_output = 3,
                        .snapshot_size = sizeof *m,
                        .step = step,
                        .inject = inject,
                        .output = output,
                        .save = save,
                        .restore = restore};
}
