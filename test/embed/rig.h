/* SPDX-License-Identifier: MIT */
/* The hydraulic four-bar with four sensors, its model 10 % wrong in friction, in memory of the caller: what
 * the tests and benches of embedding drive. */
#ifndef BRAMAH_TEST_EMBED_RIG_H
#define BRAMAH_TEST_EMBED_RIG_H

#include "bramah/filter.h"
#include "test/support/four_bar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_SENSORS = 4 };
#define RIG_STEP_NS INT64_C(1000000)
#define RIG_CYCLE_NS INT64_C(10000000000)

typedef struct rig {
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[RIG_SENSORS];
  bramah_filter *filter;
  void *memory[3]; /* of model, plant, filter */
  size_t size[3];
} rig;

static const bramah_sensor_options rig_sensors[RIG_SENSORS] = {
    {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01745},
    {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 1e-3},
    {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
    {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4}};

static inline bramah_filter_options rig_options(void)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static const double gate[RIG_SENSORS] = {6, 6, 6, 6};
  return (bramah_filter_options){.transition = BRAMAH_TRANSITION_STEP,
                                 .position_sigma = &sp,
                                 .rate_sigma = &sv,
                                 .first_order_sigma = spr,
                                 .acceleration_noise = &q,
                                 .first_order_noise = qp,
                                 .gate = gate};
}

static inline void *rig_memory(rig *r, int which, size_t size)
{
  const size_t rounded = (size + 63) / 64 * 64;
  r->size[which] = size;
  r->memory[which] = aligned_alloc(64, rounded);
  memset(r->memory[which], 0, rounded);
  return r->memory[which];
}

static inline void rig_make_with(rig *r, double friction, const bramah_filter_options *o)
{
  static bramah_diag diag;
  four_bar fb;
  four_bar_describe(&fb, friction, RIG_STEP_NS);
  size_t size = bramah_model_size(&fb.machine);
  must(bramah_model_init(&fb.machine, rig_memory(r, 0, size), size, &diag, &r->model), &diag);
  size = bramah_coupled_size(r->model);
  must(bramah_coupled_init(r->model, rig_memory(r, 1, size), size, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < RIG_SENSORS; i++)
    must(bramah_sensor_init(&rig_sensors[i], &r->plant, &diag, &r->sensor[i]), &diag);
  size = bramah_filter_size(&r->plant, RIG_SENSORS, o);
  must(bramah_filter_init(&r->plant, RIG_SENSORS, r->sensor, o, rig_memory(r, 2, size), size, &diag,
                          &r->filter),
       &diag);
}

static inline void rig_make(rig *r, double friction)
{
  const bramah_filter_options o = rig_options();
  rig_make_with(r, friction, &o);
}

static inline void rig_free(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->coupled);
  bramah_model_free(r->model);
  for (int i = 0; i < 3; i++) free(r->memory[i]);
}

/* What the sensors of a machine in the state of `truth` show. */
static inline void rig_measure(const rig *truth, unsigned *seed, double *y)
{
  for (size_t i = 0; i < RIG_SENSORS; i++)
    y[i] =
        bramah_sensor_predict(&truth->sensor[i], &truth->plant) + truth->sensor[i].sigma * test_normal(seed);
}

#endif
