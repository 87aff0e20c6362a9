/* SPDX-License-Identifier: MIT */
/* Microseconds per step on the four-bar of one cycle (correction by five sensors, prediction) of the
 * error-state filter, without and with adaptive noise, and of the unscented one, and of the smoother's two
 * passes. Not a test: nothing here can fail for being slow. */
#define _GNU_SOURCE
#include "bramah/adaptive.h"
#include "bramah/smoother.h"
#include "bramah/ukf.h"
#include "test/bench/bench.h"
#include "test/support/four_bar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 5000, RUNS = 5, SENSORS = 5, PARTS = 6 };

static bramah_diag diag;

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter_options options;
  size_t basis;
  double sum; /* keeps results alive */
} rig;

static const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};

static void setup(rig *r)
{
  static const bramah_sensor_options options[SENSORS] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01745},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  four_bar_describe(&r->fb, 1.1, 1000000);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  r->basis = must_find(&r->plant, "crank.angle");
  r->options = (bramah_filter_options){.transition = BRAMAH_TRANSITION_KINEMATIC,
                                       .basis = &r->basis,
                                       .position_sigma = &sp,
                                       .rate_sigma = &sv,
                                       .first_order_sigma = spr,
                                       .acceleration_noise = &q,
                                       .first_order_noise = qp};
}

/* What the sensors would show without noise: the times are the same. */
static void sample(const rig *r, int k, double *u, double *y)
{
  *u = four_bar_command((int64_t)k * 1000000 + 500000000);
  for (int i = 0; i < SENSORS; i++) y[i] = bramah_sensor_predict(&r->sensor[i], &r->plant);
}

static double error_state(rig *r, bramah_smoother *smoother, bramah_filter *filter)
{
  const double begin = bench_now();
  for (int k = 0; k < STEPS; k++) {
    double u, y[SENSORS];
    sample(r, k, &u, y);
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    if (smoother) must(bramah_smoother_record(smoother, BRAMAH_FILTER_CORRECTED, filter, &diag), &diag);
    must(bramah_filter_set_inputs(filter, &u, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    if (smoother) must(bramah_smoother_record(smoother, BRAMAH_FILTER_PREDICTED, filter, &diag), &diag);
  }
  return bench_now() - begin;
}

/* All four densities of plant noise adapt. */
static double adaptive(rig *r, bramah_adaptive_method method)
{
  static const double la = 1e-3, ma = 10, lp[3] = {1e3, 1e3, 1e3}, mp[3] = {1e8, 1e8, 1e8};
  const bramah_adaptive_options o = {.method = method,
                                     .acceleration_least = &la,
                                     .acceleration_most = &ma,
                                     .first_order_least = lp,
                                     .first_order_most = mp};
  bramah_filter *filter;
  bramah_adaptive *a;
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &r->options, &diag, &filter), &diag);
  must(bramah_adaptive_new(filter, &o, &diag, &a), &diag);
  const double begin = bench_now();
  for (int k = 0; k < STEPS; k++) {
    double u, y[SENSORS];
    sample(r, k, &u, y);
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    r->sum += bramah_adaptive_corrected(a);
    must(bramah_filter_set_inputs(filter, &u, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    bramah_adaptive_predicted(a);
  }
  const double t = bench_now() - begin;
  bramah_adaptive_free(a);
  bramah_filter_free(filter);
  return t;
}

static double unscented(rig *r, bramah_ukf *ukf)
{
  const double begin = bench_now();
  for (int k = 0; k < STEPS; k++) {
    double u, y[SENSORS];
    sample(r, k, &u, y);
    must(bramah_ukf_correct(ukf, y, present, &diag), &diag);
    must(bramah_ukf_set_inputs(ukf, &u, &diag), &diag);
    must(bramah_ukf_predict(ukf, &diag), &diag);
  }
  return bench_now() - begin;
}

static double backward(rig *r, bramah_smoother *smoother)
{
  const double begin = bench_now();
  must(bramah_smoother_run(smoother, &diag), &diag);
  r->sum += bramah_smoother_get_step(smoother, 0).correction[0];
  return bench_now() - begin;
}

static void run(rig *r, double *t)
{
  bramah_filter *filter;
  bramah_smoother *smoother;
  bramah_ukf *ukf;
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &r->options, &diag, &filter), &diag);
  t[0] = error_state(r, NULL, filter);
  bramah_filter_free(filter);
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &r->options, &diag, &filter), &diag);
  must(bramah_smoother_new(filter, STEPS + 1, &diag, &smoother), &diag);
  t[1] = error_state(r, smoother, filter);
  t[2] = backward(r, smoother);
  bramah_smoother_free(smoother);
  bramah_filter_free(filter);
  must(bramah_coupled_reset(r->coupled, &diag), &diag);
  must(bramah_ukf_new(&r->plant, SENSORS, r->sensor, &r->options, NULL, &diag, &ukf), &diag);
  t[3] = unscented(r, ukf);
  bramah_ukf_free(ukf);
  t[4] = adaptive(r, BRAMAH_ADAPTIVE_LIKELIHOOD);
  t[5] = adaptive(r, BRAMAH_ADAPTIVE_MATCHING);
}

int main(void)
{
  static const char *const name[PARTS] = {"error-state filter",
                                          "  and the smoother's records",
                                          "  backward pass",
                                          "unscented filter, 11 sigma points",
                                          "adaptive filter, likelihood",
                                          "  matching"};
  static rig r;
  double t[PARTS][RUNS];
  bench_print_machine();
  setup(&r);
  for (int i = 0; i < RUNS; i++) {
    double once[PARTS];
    run(&r, once);
    for (int k = 0; k < PARTS; k++) t[k][i] = once[k] * 1e6 / STEPS;
  }
  printf("\nfour-bar, 5 sensors at 1 kHz, %d steps, median of %d\n\n%-40s %8s\n", STEPS, RUNS, "", "us/step");
  for (int k = 0; k < PARTS; k++) printf("%-40s %8.3f\n", name[k], bench_median(t[k], RUNS));
  bramah_coupled_free(r.coupled);
  bramah_model_free(r.model);
  return isnan(r.sum) ? EXIT_FAILURE : EXIT_SUCCESS;
}
