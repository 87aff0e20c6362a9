/* SPDX-License-Identifier: MIT */
/* A filter on somebody else's simulator, which is stepped as it is. The simulator (hoist.h) is a structure
 * and a function with an integrator of its own; here stands all that bramah needs to be told of it: sixteen
 * members of a table, most of them one line. No derivative is asked for: the filter makes differences of
 * whole steps.
 *
 * A trolley crane swings its load. Only the trolley's position is measured; the model believes in a rope 5 %
 * too long and hangs straight at the start, while the load swings by 11 degrees. */
#include "hoist.h"

#include <bramah/filter.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double dt = 0.005; /* s */

/* ---- the plant interface, filled ---- */

typedef struct own_plant {
  hoist h;
  double force;
} own_plant;

/* Outputs: what sensors may measure and what the filter can tell. Each position is followed by its rate. */
enum { POSITION, SPEED, SWING, SWING_RATE, N_OUTPUTS };

/* The error state: first the positions, then the rates. */
static const size_t state[N_OUTPUTS] = {POSITION, SWING, SPEED, SWING_RATE};

static double *value(own_plant *p, size_t i)
{
  double *const at[N_OUTPUTS] = {&p->h.position, &p->h.speed, &p->h.swing, &p->h.swing_rate};
  return at[i];
}

static double output(void *self, size_t i) { return *value(self, i); }

static void output_info(const void *self, size_t i, bramah_output_info *info)
{
  static const bramah_output_info all[N_OUTPUTS] = {{"trolley.position", "m", BRAMAH_OUTPUT_POSITION, 1, 0},
                                                    {"trolley.rate", "m/s", BRAMAH_OUTPUT_RATE, 1, 0},
                                                    {"rope.angle", "rad", BRAMAH_OUTPUT_POSITION, 1, 0},
                                                    {"rope.rate", "rad/s", BRAMAH_OUTPUT_RATE, 1, 0}};
  (void)self;
  *info = all[i];
}

static const char *state_name(const void *self, size_t i)
{
  bramah_output_info info;
  output_info(self, state[i], &info);
  return info.name;
}

static const char *input_name(const void *self, size_t i) { return (void)self, (void)i, "force"; }

static bramah_status set_inputs(void *self, const double *u, bramah_diag *diag)
{
  (void)diag;
  if (!isfinite(u[0])) return BRAMAH_E_NOT_FINITE;
  ((own_plant *)self)->force = u[0];
  return BRAMAH_OK;
}

static bramah_status step(void *self, bramah_diag *diag)
{
  own_plant *p = self;
  (void)diag;
  hoist_step(&p->h, p->force, dt); /* their code, unmodified */
  return BRAMAH_OK;
}

/* Add the estimated errors: positions, then rates. */
static bramah_status inject(void *self, const double *dx, bramah_diag *diag)
{
  (void)diag;
  for (size_t i = 0; i < N_OUTPUTS; i++) *value(self, state[i]) += dx[i];
  return BRAMAH_OK;
}

static void coordinates(void *self, double *x)
{
  for (size_t i = 0; i < N_OUTPUTS; i++) x[i] = *value(self, state[i]);
}

/* From a tiny step, for a simulator that does not tell its accelerations. */
static bramah_status accelerations(void *self, double *zdd, bramah_diag *diag)
{
  const own_plant *p = self;
  hoist ahead = p->h;
  (void)diag;
  hoist_step(&ahead, p->force, 1e-6);
  zdd[0] = (ahead.speed - p->h.speed) / 1e-6;
  zdd[1] = (ahead.swing_rate - p->h.swing_rate) / 1e-6;
  return BRAMAH_OK;
}

static void save(const void *self, void *snap) { memcpy(snap, self, sizeof(own_plant)); }
static void restore(void *self, const void *snap) { memcpy(self, snap, sizeof(own_plant)); }

static bramah_plant as_plant(own_plant *p)
{
  return (bramah_plant){.self = p,
                        .n_position = 2,
                        .n_input = 1,
                        .n_output = N_OUTPUTS,
                        .snapshot_size = sizeof *p,
                        .step_ns = (int64_t)(dt * 1e9),
                        .state_name = state_name,
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

/* ---- a run ---- */

static double noise(unsigned *seed) /* nearly normal, sigma 1 */
{
  double sum = -6.0;
  for (int i = 0; i < 12; i++) {
    *seed = *seed * 1664525u + 1013904223u;
    sum += (double)(*seed >> 8) / 16777216.0;
  }
  return sum;
}

static int fail(const bramah_diag *diag)
{
  return fprintf(stderr, "%s: %s\n", diag->thing, diag->message), 1;
}

int main(void)
{
  static bramah_diag diag;
  hoist truth = {.trolley = 300, .load = 800, .rope = 6.0, .drag = 20, .swing = 0.19};
  own_plant model = {.h = truth}, alone;
  model.h.rope *= 1.05;
  model.h.swing = 0.0;
  alone = model;
  const bramah_plant plant = as_plant(&model);
  const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "trolley", .sigma = 0.002};
  const double sigma[2] = {0.01, 0.2}, rate_sigma[2] = {0.05, 0.2}, density[2] = {0.01, 0.02};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_STEP,
                                         .position_sigma = sigma,
                                         .velocity_sigma = rate_sigma,
                                         .acceleration_noise = density};
  bramah_sensor sensor;
  bramah_filter *filter;
  if (bramah_sensor_init(&encoder, &plant, &diag, &sensor)) return fail(&diag);
  if (bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter)) return fail(&diag);
  const unsigned char present = 1;
  unsigned seed = 1;
  double filtered = 0.0, unfiltered = 0.0;
  int inside = 0, n = 0;
  for (int k = 1; k <= 8000; k++) {
    const double force = k % 2000 < 600 ? 500.0 : k % 2000 < 1200 ? -500.0 : 0.0;
    hoist_step(&truth, force, dt);
    hoist_step(&alone.h, force, dt);
    const double y = truth.position + 0.002 * noise(&seed);
    const bramah_filter_cycle cycle = {.time_ns = k * plant.step_ns,
                                       .n_input = 1,
                                       .u = &force,
                                       .n_sensors = 1,
                                       .y = &y,
                                       .present = &present};
    if (bramah_filter_step(filter, &cycle, NULL, &diag)) return fail(&diag);
    if (k < 1000) continue;
    const double error = model.h.swing - truth.swing;
    filtered += error * error;
    unfiltered += (alone.h.swing - truth.swing) * (alone.h.swing - truth.swing);
    inside += fabs(error) < 1.96 * bramah_filter_output_sigma(filter, SWING);
    n++;
  }
  const double deg = 57.29578, with = deg * sqrt(filtered / n), without = deg * sqrt(unfiltered / n);
  printf("swing of the load, from the trolley's position alone: error %.3f deg RMS, model alone %.3f; %.0f "
         "%% inside 95 %%\n",
         with, without, 100.0 * inside / n);
  bramah_filter_free(filter);
  return with < 0.1 * without && inside > 0.85 * n ? 0 : 1;
}
