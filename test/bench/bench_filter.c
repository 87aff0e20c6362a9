/* SPDX-License-Identifier: MIT */
/* Microseconds per step on the four-bar: the plant alone, each part of the filter, and the whole replay from
 * memory. Prints what it ran on. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/filter.h"
#include "bramah/replay.h"
#include "lib/plant/residual_derivative.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 10000, RUNS = 5, SENSORS = 5 };

static bramah_diag diag;
static double measured[STEPS + 1][SENSORS];

/* Median of RUNS runs of `body`, in microseconds per step. */
static double median_us(double (*body)(void *), void *user)
{
  double t[RUNS];
  for (int i = 0; i < RUNS; i++) t[i] = body(user) * 1e6 / STEPS;
  return bench_median(t, RUNS);
}

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  void *start;
  double sum; /* keeps results alive */
} rig;

static double plant_alone(void *user)
{
  rig *r = user;
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    r->plant.set_inputs(r->plant.self, &u, &diag);
    must(r->plant.step(r->plant.self, &diag), &diag);
  }
  return bench_now() - t;
}

/* The same cycle in another formulation. */
static double plant_formulated(bramah_formulation formulation)
{
  static rig other;
  four_bar_describe(&other.fb, 1.1, 1000000);
  other.fb.machine.integrator.formulation = formulation;
  must(bramah_model_new(&other.fb.machine, &diag, &other.model), &diag);
  must(bramah_coupled_new(other.model, &diag, &other.coupled), &diag);
  other.plant = bramah_coupled_plant(other.coupled);
  const double elapsed = plant_alone(&other);
  bramah_coupled_free(other.coupled);
  bramah_model_free(other.model);
  return elapsed;
}

static double plant_lagrangian(void *user)
{
  (void)user;
  return plant_formulated(BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN);
}

static double plant_penalty(void *user)
{
  (void)user;
  return plant_formulated(BRAMAH_FORMULATION_PENALTY);
}

static double plant_saved_and_restored(void *user)
{
  static double snap[256];
  rig *r = user;
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    r->plant.set_inputs(r->plant.self, &u, &diag);
    r->plant.save(r->plant.self, snap);
    r->plant.restore(r->plant.self, snap);
    must(r->plant.step(r->plant.self, &diag), &diag);
  }
  return bench_now() - t;
}

static double jacobian_alone(void *user)
{
  rig *r = user;
  double J[16];
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    must(r->plant.acceleration_jacobian(r->plant.self, J, &diag), &diag);
    r->sum += J[0];
  }
  return bench_now() - t;
}

static double tangent_alone(void *user)
{
  rig *r = user;
  double change[4] = {0}, f[4], J[16];
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah__step_residual(r->coupled, change, f), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    bramah__step_tangent(r->coupled, J);
    r->sum += J[0];
  }
  return bench_now() - t;
}

static double inject_alone(void *user)
{
  rig *r = user;
  const double dx[5] = {1e-9, 0, 0, 0, 0};
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) must(r->plant.inject(r->plant.self, dx, &diag), &diag);
  return bench_now() - t;
}

static double correct_alone(void *user)
{
  rig *r = user;
  const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
  bramah_filter_restore(r->filter, r->start);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) must(bramah_filter_correct(r->filter, measured[0], present, &diag), &diag);
  return bench_now() - t;
}

/* All of them a part of the step before or after the present time. */
static double correct_beside(void *user)
{
  rig *r = user;
  static const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
  static const int64_t offset_ns[SENSORS] = {-300000, 200000, -100000, 400000, -450000};
  bramah_filter_restore(r->filter, r->start);
  must(bramah_filter_predict(r->filter, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++)
    must(bramah_filter_correct_at(r->filter, measured[0], present, offset_ns, &diag), &diag);
  return bench_now() - t;
}

static bramah_status next_sample(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  int *k = user;
  (void)d;
  if (*k > STEPS) {
    *end = 1;
    return BRAMAH_OK;
  }
  sample->time_ns = (int64_t)*k * 1000000;
  sample->inputs[0] = four_bar_command(sample->time_ns);
  sample->has_input[0] = 1;
  memcpy(sample->y, measured[*k], sizeof measured[0]);
  memset(sample->present, 1, SENSORS);
  ++*k;
  return BRAMAH_OK;
}

/* Estimates of everything that has a sigma are asked for, as a log writer would. */
static void look(void *user, int64_t time_ns, int corrected)
{
  rig *r = user;
  (void)time_ns, (void)corrected;
  for (size_t i = 0; i < r->plant.n_output; i++) {
    bramah_output_info info;
    bramah_plant_output_info(&r->plant, i, &info);
    if (info.hidden) continue;
    r->sum += r->plant.output(r->plant.self, i);
    if (info.has_row) r->sum += bramah_filter_output_sigma(r->filter, i);
  }
}

static void look_away(void *user, int64_t time_ns, int corrected)
{
  (void)user, (void)time_ns, (void)corrected;
}

static double replay_with(rig *r, replay_sink sink)
{
  int k = 0;
  bramah_replay *replay;
  bramah_filter_restore(r->filter, r->start);
  must(bramah_replay_new(r->filter, NULL, next_sample, &k, &diag, &replay), &diag);
  const double t = bench_now();
  must(replay_run(replay, sink, r, &diag), &diag);
  const double elapsed = bench_now() - t;
  bramah_replay_free(replay);
  return elapsed;
}

static double whole_replay(void *user) { return replay_with(user, look_away); }
static double replay_with_outputs(void *user) { return replay_with(user, look); }

static bramah_filter_options filter_options(const rig *r)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static size_t basis;
  basis = must_find(&r->plant, "crank.angle");
  return (bramah_filter_options){.transition = BRAMAH_TRANSITION_KINEMATIC,
                                 .basis = &basis,
                                 .position_sigma = &sp,
                                 .rate_sigma = &sv,
                                 .first_order_sigma = spr,
                                 .acceleration_noise = &q,
                                 .first_order_noise = qp};
}

/* The same replay by another filter. */
static double replay_by(rig *r, bramah_transition transition, bramah_covariance_form form)
{
  bramah_filter_options o = filter_options(r);
  bramah_filter *own = r->filter;
  void *start = r->start;
  o.transition = transition;
  o.form = form;
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
  r->start = malloc(bramah_filter_snapshot_size(r->filter));
  bramah_filter_save(r->filter, r->start);
  const double elapsed = replay_with(r, look_away);
  free(r->start);
  bramah_filter_free(r->filter);
  r->filter = own;
  r->start = start;
  return elapsed;
}

static double replay_exact(void *user)
{
  return replay_by(user, BRAMAH_TRANSITION_KINEMATIC_EXACT, BRAMAH_COVARIANCE_JOSEPH);
}
static double replay_step(void *user)
{
  return replay_by(user, BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_JOSEPH);
}
static double replay_step_root(void *user)
{
  return replay_by(user, BRAMAH_TRANSITION_STEP, BRAMAH_COVARIANCE_SQUARE_ROOT);
}

static double plant_with_transition(void *user)
{
  rig *r = user;
  double F[25], N[20];
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  const double t = bench_now();
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    r->plant.set_inputs(r->plant.self, &u, &diag);
    must(r->plant.step_transition(r->plant.self, F, N, 0, NULL, NULL, &diag), &diag);
    r->sum += F[0];
  }
  return bench_now() - t;
}

static void make_measurements(void)
{
  static rig truth;
  unsigned seed = 1;
  static const char *const name[SENSORS] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                            "v3.pressure"};
  static const double sigma[SENSORS] = {0.01745, 9.84e-4, 5e4, 5e4, 5e4};
  four_bar_describe(&truth.fb, 1.0, 1000000);
  must(bramah_model_new(&truth.fb.machine, &diag, &truth.model), &diag);
  must(bramah_coupled_new(truth.model, &diag, &truth.coupled), &diag);
  truth.plant = bramah_coupled_plant(truth.coupled);
  for (int k = 0; k <= STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    truth.plant.set_inputs(truth.plant.self, &u, &diag);
    for (int i = 0; i < SENSORS; i++)
      measured[k][i] = truth.plant.output(truth.plant.self, must_find(&truth.plant, name[i])) +
                       sigma[i] * test_normal(&seed);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
  }
  bramah_coupled_free(truth.coupled);
  bramah_model_free(truth.model);
}

static void setup(rig *r)
{
  static const bramah_sensor_options options[SENSORS] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01745},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  four_bar_describe(&r->fb, 1.1, 1000000);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  const bramah_filter_options o = filter_options(r);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
  r->start = malloc(bramah_filter_snapshot_size(r->filter));
  bramah_filter_save(r->filter, r->start);
}

int main(void)
{
  static rig r;
  const struct {
    const char *name;
    double (*body)(void *);
  } rows[] = {{"plant step alone", plant_alone},
              {"  by augmented Lagrangian", plant_lagrangian},
              {"  by penalty", plant_penalty},
              {"  with the derivative of the step", plant_with_transition},
              {"plant step, state saved and restored each time", plant_saved_and_restored},
              {"  of it: tangent, once", tangent_alone},
              {"acceleration Jacobian by differences (D 3.4)", jacobian_alone},
              {"injection of a correction", inject_alone},
              {"correction, 5 sensors, injection included", correct_alone},
              {"  all measured beside the step", correct_beside},
              {"whole replay from memory, 5 sensors at 1 kHz", whole_replay},
              {"  by paper-exact", replay_exact},
              {"  by step", replay_step},
              {"  by step, square root", replay_step_root},
              {"  and all outputs with their sigmas read", replay_with_outputs}};
  bench_print_machine();
  make_measurements();
  setup(&r);
  printf("\nfour-bar with three pressures, 10 s at 1 kHz, one thread, median of %d\n\n%-52s %8s %14s\n", RUNS,
         "", "us/step", "x real time");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double us = median_us(rows[i].body, &r);
    printf("%-52s %8.3f %14.0f\n", rows[i].name, us, 1000.0 / us);
  }
  const bramah_step_report report = bramah_coupled_report(r.coupled);
  printf("\nNewton iterations per step in the replays: %.2f (max %u)\n",
         (double)report.iterations / (double)report.steps, report.max_iterations);
  printf("for comparison (measured elsewhere, on a similar core): Exudyn 1.11 plant 14.7-21.8 us, Chrono "
         "114, MATLAB papers 2154; "
         "errorEKF in Octave 4000, estimated floor 0.45\n");
  free(r.start);
  bramah_filter_free(r.filter);
  bramah_coupled_free(r.coupled);
  bramah_model_free(r.model);
  return isnan(r.sum) ? EXIT_FAILURE : EXIT_SUCCESS;
}
