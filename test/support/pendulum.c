/* SPDX-License-Identifier: MIT */
#include "test/support/pendulum.h"

#include <math.h>
#include <string.h>

static const double h = 1e-3;

static double acceleration(const pendulum *p)
{
  return -9.81 / p->length * sin(p->angle) - p->damping * p->rate + p->torque;
}
static bramah_status step(void *self, bramah_diag *diag)
{
  pendulum *p = self, middle = *p;
  (void)diag;
  middle.angle += 0.5 * h * p->rate; /* midpoint rule */
  middle.rate += 0.5 * h * acceleration(p);
  p->angle += h * middle.rate;
  p->rate += h * acceleration(&middle);
  return BRAMAH_OK;
}
static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  (void)diag;
  ((pendulum *)self)->angle += dx[0];
  ((pendulum *)self)->rate += dx[1];
  return BRAMAH_OK;
}
static bramah_status accelerations(void *self, double *zdd, bramah_diag *diag)
{
  (void)diag;
  *zdd = acceleration(self);
  return BRAMAH_OK;
}
static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  (void)diag;
  ((pendulum *)self)->torque = u[0];
  return BRAMAH_OK;
}
static void coordinates(void *self, double *x)
{
  x[0] = ((pendulum *)self)->angle;
  x[1] = ((pendulum *)self)->rate;
}
static double output(void *self, size_t i)
{
  return i ? ((pendulum *)self)->rate : ((pendulum *)self)->angle;
}
static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(pendulum)); }
static void restore(void *self, const void *snap) { memcpy(self, snap, sizeof(pendulum)); }
static const char *input_name(const void *self, size_t i) { return (void)self, (void)i, "torque"; }
static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  (void)self;
  *info = (bramah_output_info){i ? "bob.rate" : "bob.angle", i ? "rad/s" : "rad",
                               i ? BRAMAH_OUTPUT_RATE : BRAMAH_OUTPUT_POSITION, 1, 0};
}

bramah_plant pendulum_plant(pendulum *p, int64_t step_ns)
{
  return (bramah_plant){BRAMAH_PLANT_HEAD,
                        .self = p,
                        .n_dof = 1,
                        .n_input = 1,
                        .n_output = 2,
                        .snapshot_size = sizeof *p,
                        .step_ns = step_ns,
                        .input_name = input_name,
                        .output_info = output_info,
                        .set_inputs = set_inputs,
                        .step = step,
                        .inject = inject,
                        .accelerations = accelerations,
                        .output = output,
                        .save = save,
                        .restore = restore,
                        .coordinates = coordinates};
}
