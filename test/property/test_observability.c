/* SPDX-License-Identifier: MIT */
/* What sensors tell: by hand on two states, against batch least squares, and the states of machines that are
 * named when a sensor is taken away. */
#include "bramah/observability.h"
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = LINEAR_N };

static bramah_diag diag;

/* Position measured twice, h apart, of something that moves on: W = [2 h; h h^2] / r^2. */
TEST(test_two_samples_by_hand)
{
  const double sigma[2] = {2.0, 3.0}, h = 0.25, r = 0.5, H[2] = {1.0, 0.0}, F[4] = {1.0, h, 0.0, 1.0};
  const double a = 2.0 / 0.25 * 4.0, b = h / 0.25 * 6.0, c = h * h / 0.25 * 9.0;
  const double middle = 0.5 * (a + c), root = sqrt(0.25 * (a - c) * (a - c) + b * b);
  pendulum bob = {0};
  const bramah_plant plant = pendulum_plant(&bob, 1000000);
  bramah_observability *o;
  char names[64];
  must(bramah_observability_new(&plant, 0, NULL, NULL, &diag, &o), &diag);
  must(bramah__observability_begin(o, sigma, &diag), &diag);
  bramah__observability_observe(o, H, r);
  must(bramah__observability_analyse(o, &diag), &diag);
  ck_assert_uint_eq(bramah_observability_get_report(o).rank, 1);
  ck_assert_uint_eq(bramah_observability_get_report(o).lasting, 1);
  ck_assert(isinf(bramah_observability_get_report(o).condition));
  ck_assert_uint_eq(bramah_observability_names(o, names, sizeof names), 1);
  ck_assert_str_eq(names, "bob.rate");
  ck_assert_uint_eq(bramah_observability_names(o, names, 4), 1);
  ck_assert_str_eq(names, "bob");
  bramah__observability_advance(o, F);
  bramah__observability_observe(o, H, r);
  must(bramah__observability_analyse(o, &diag), &diag);
  ck_assert_double_eq_tol(bramah_observability_get_report(o).eigenvalues[0], middle - root, 1e-12);
  ck_assert_double_eq_tol(bramah_observability_get_report(o).eigenvalues[1], middle + root, 1e-12);
  ck_assert_double_eq_tol(bramah_observability_get_report(o).condition, (middle + root) / (middle - root),
                          1e-9);
  ck_assert_uint_eq(bramah_observability_get_report(o).rank, 2);
  ck_assert_uint_eq(bramah_observability_names(o, names, sizeof names), 0);
  ck_assert_str_eq(names, "");
  /* Something that is unseen but dies out needs no sensor. */
  const double decay[4] = {1.0, 0.0, 0.0, 0.03};
  must(bramah__observability_begin(o, sigma, &diag), &diag);
  bramah__observability_observe(o, H, r);
  bramah__observability_advance(o, decay);
  must(bramah__observability_analyse(o, &diag), &diag);
  ck_assert_uint_eq(bramah_observability_get_report(o).rank, 1);
  ck_assert_uint_eq(bramah_observability_get_report(o).lasting, 0);
  bramah_observability_free(o);
}

/* ---- linear plant ---- */

static const double prior[N] = {2e-2, 1e-2, 5e-2, 8e-2, 5e4, 8e4};

static void run_linear(const linear_run *run, size_t n_sensors, const bramah_sensor *sensors, double *values,
                       char *names)
{
  bramah_observability *o;
  const linear_plant before = run->object;
  must(bramah_observability_new(&run->plant, n_sensors, sensors, NULL, &diag, &o), &diag);
  must(bramah_observability_run(o, prior, &diag), &diag);
  ck_assert_mem_eq(&before.x, &run->object.x, sizeof before.x);
  ck_assert_int_eq(before.changed, run->object.changed);
  ck_assert_double_eq_tol(bramah_observability_get_report(o).horizon, 0.2, 1e-12);
  memcpy(values, bramah_observability_get_report(o).eigenvalues, N * sizeof *values);
  bramah_observability_names(o, names, 256);
  bramah_observability_free(o);
}

static void assert_near(const double *a, const double *b, double tolerance)
{
  for (int i = 0; i < N; i++) ck_assert_double_eq_tol(a[i], b[i], tolerance * fmax(1.0, fabs(b[i])));
}

/* Whether the plant tells its transition, or its coordinates, or neither, and whether these change on the
 * way, is the same. What it should be: prior and posterior of x_0 by batch least squares of the same samples
 * without noise. */
TEST(test_linear_in_every_way)
{
  static linear_run run[4];
  double wanted[N] = {0}, values[4][N], D[N * N], w[N], work[N * N + 3 * N], F[N * N], row[N];
  char names[256];
  for (int i = 0; i < 4; i++) {
    linear_run_make(&run[i], i == 3 ? 7 : -1);
    if (i == 1 || i == 2) run[i].plant.step_transition = NULL;
    if (i == 2) run[i].plant.coordinates = NULL;
    for (int s = 0; s < LINEAR_SENSORS; s++) run[i].sensor[s].period_ns = (s + 1) * INT64_C(10000000);
    run_linear(&run[i], LINEAR_SENSORS, run[i].sensor, values[i], names);
    ck_assert_str_eq(names, "");
  }
  least_squares *b = least_squares_new(0);
  const double zero[N] = {0};
  least_squares_prior(b, zero, prior);
  linear_plant_transition(&run[0].object, F);
  for (int s = 0; s < LINEAR_SENSORS; s++) {
    double moved[N];
    linear_run_row(&run[0], s, row);
    for (int k = 0; k <= 20; k++) {
      if (k % (s + 1) == 0) least_squares_measurement(b, 0, row, 0.0, run[0].sensor[s].sigma);
      bramah__apply_transposed(N, N, F, row, moved);
      memcpy(row, moved, sizeof row);
    }
  }
  least_squares_solve(b);
  least_squares_state(b, 0, w, D);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) D[i * N + j] /= prior[i] * prior[j];
  ck_assert_uint_le(bramah__symmetric_eigen_work(N), sizeof work / sizeof *work);
  ck_assert_int_eq(bramah__symmetric_eigen(N, D, w, work), 0);
  for (int i = 0; i < N; i++) wanted[i] = 1.0 / w[N - 1 - i] - 1.0;
  for (int i = 0; i < 4; i++) assert_near(values[i], wanted, i == 0 ? 1e-9 : 1e-6);
  least_squares_free(b);
}

/* A pressure sensor at the left tells nothing of the carts, for the pressures push them and not they the pressures
 * round. */
TEST(test_names_on_the_linear_plant)
{
  static linear_run run;
  double values[N];
  char names[256];
  linear_run_make(&run, -1);
  run_linear(&run, 1, &run.sensor[3], values, names);
  ck_assert_str_eq(names, "left.position, right.position, left.rate, right.rate, right.pressure");
  run_linear(&run, 0, NULL, values, names);
  ck_assert_str_eq(names,
                   "left.position, right.position, left.rate, right.rate, left.pressure, right.pressure");
  const double bad[N] = {1.0, 1.0, 0.0, 1.0, 1.0, 1.0};
  bramah_observability *o;
  must(bramah_observability_new(&run.plant, 0, NULL, NULL, &diag, &o), &diag);
  ck_assert_int_eq(bramah_observability_run(o, bad, &diag), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "left.rate");
  bramah_observability_free(o);
}

/* ---- four-bar ---- */

/* The valve is closed: with the pressure sensors gone nothing tells how much oil is locked in on both sides
 * of the piston; the small volume at the valve settles by itself. */
TEST(test_locked_oil_of_the_four_bar)
{
  static const bramah_sensor_options options[5] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  static const double sigma[5] = {0.05, 0.1, 1e5, 1e5, 1e5};
  static unsigned char snap[2][4096];
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_sensor sensor[5];
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant plant = bramah_coupled_plant(c);
  for (int i = 0; i < 5; i++) must(bramah_sensor_init(&options[i], &plant, &diag, &sensor[i]), &diag);
  ck_assert_uint_le(plant.snapshot_size, sizeof snap[0]);
  plant.save(plant.self, snap[0]);
  for (int i = 0; i < 2; i++) {
    const size_t n = i ? 2 : 5;
    char names[256];
    bramah_observability *o;
    must(bramah_observability_new(&plant, n, sensor, NULL, &diag, &o), &diag);
    must(bramah_observability_run(o, sigma, &diag), &diag);
    plant.save(plant.self, snap[1]);
    ck_assert_mem_eq(snap[0], snap[1], plant.snapshot_size);
    bramah_observability_names(o, names, sizeof names);
    ck_assert_str_eq(names, n == 5 ? "" : "v2.pressure, v3.pressure");
    ck_assert_uint_eq(bramah_observability_get_report(o).lasting, n == 5 ? 0 : 1);
    bramah_observability_free(o);
  }
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* A command that nobody recorded, of a valve that opens at once: the pressures and the crank's angle show it,
 * the angle of the crank alone too; nothing does without a sensor. What is not there is reported. */
TEST(test_unknown_command)
{
  static const bramah_sensor_options options[2] = {
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174}};
  static const double sigma[6] = {0.05, 0.1, 1e5, 1e5, 1e5, 2.0};
  bramah_augmented command = {
      .name = "valve.command", .kind = BRAMAH_AUGMENTED_PARAMETER, .at = "valve.offset", .sigma = 2.0};
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_sensor sensor[2];
  bramah_observability *o = NULL;
  bramah_observability_options o_options;
  char names[256];
  four_bar_describe(&fb, 1.0, 1000000);
  fb.valves[0].time_constant = 0.0;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const bramah_plant plant = bramah_coupled_plant(c);
  for (int i = 0; i < 2; i++) must(bramah_sensor_init(&options[i], &plant, &diag, &sensor[i]), &diag);
  bramah_observability_options_default(&o_options);
  o_options.augmented = &command;
  o_options.n_augmented = 1;
  for (size_t n = 0; n < 3; n++) {
    must(
        bramah_observability_new(&plant, n == 2 ? 1 : n, n == 2 ? &sensor[1] : sensor, &o_options, &diag, &o),
        &diag);
    must(bramah_observability_run(o, sigma, &diag), &diag);
    ck_assert_uint_eq(bramah_observability_get_report(o).n, 6);
    bramah_observability_names(o, names, sizeof names);
    ck_assert_msg((strstr(names, "valve.command") != NULL) == (n == 0), "%zu: %s", n, names);
    bramah_observability_free(o);
  }
  command.at = "valv.offset";
  ck_assert_int_eq(bramah_observability_new(&plant, 1, sensor, &o_options, &diag, &o), BRAMAH_E_REFERENCE);
  ck_assert_str_eq(diag.message, "the plant has no parameter 'valv.offset'");
  command = (bramah_augmented){.name = "b", .kind = BRAMAH_AUGMENTED_BIAS, .at = "p2", .sigma = 1.0};
  ck_assert_int_eq(bramah_observability_new(&plant, 1, sensor, &o_options, &diag, &o), BRAMAH_E_REFERENCE);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* A bias with the state: what it and the position have in common is not seen by the one sensor. */
TEST(test_bias_of_the_only_sensor)
{
  const double sigma[3] = {2.0, 3.0, 0.5};
  pendulum bob = {.length = 1.0};
  const bramah_plant plant = pendulum_plant(&bob, 1000000);
  bramah_sensor sensor;
  const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.01};
  const bramah_augmented bias = {
      .name = "bias", .kind = BRAMAH_AUGMENTED_BIAS, .at = "encoder", .sigma = 0.5};
  bramah_observability_options options;
  bramah_observability *o;
  char names[64];
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  bramah_observability_options_default(&options);
  options.augmented = &bias;
  options.n_augmented = 1;
  options.horizon_ns = 5000000;
  must(bramah_observability_new(&plant, 1, &sensor, &options, &diag, &o), &diag);
  must(bramah_observability_run(o, sigma, &diag), &diag);
  bramah_observability_names(o, names, sizeof names);
  ck_assert_msg(strstr(names, "bias") != NULL, "%s", names);
  bramah_observability_free(o);
}

/* What an encoder rounds is noise of its own: the same as a finer one that is so much noisier. */
TEST(test_rounding_counts)
{
  static const double sigma[2] = {0.3, 0.5}, resolution = 0.1;
  const bramah_sensor_options coarse = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02, .resolution = resolution};
  bramah_sensor_options fine = coarse;
  double w[2][2];
  fine.resolution = 0.0;
  fine.sigma = sqrt(0.02 * 0.02 + resolution * resolution / 12.0);
  for (int i = 0; i < 2; i++) {
    pendulum bob = {0.4, 0.3, 0.0, 1.0, 0.1};
    const bramah_plant plant = pendulum_plant(&bob, 1000000);
    bramah_sensor sensor;
    bramah_observability *o;
    must(bramah_sensor_init(i ? &fine : &coarse, &plant, &diag, &sensor), &diag);
    must(bramah_observability_new(&plant, 1, &sensor, NULL, &diag, &o), &diag);
    must(bramah_observability_run(o, sigma, &diag), &diag);
    memcpy(w[i], bramah_observability_get_report(o).eigenvalues, sizeof w[i]);
    bramah_observability_free(o);
  }
  for (int k = 0; k < 2; k++) ck_assert_double_eq_tol(w[0][k], w[1][k], 1e-9 * w[1][k]);
}

int main(void) { return run_tests("observability"); }
