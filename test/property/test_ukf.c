/* SPDX-License-Identifier: MIT */
/* The unscented filter: equal to the error-state filter on a linear plant, as good on the four-bar, through a
 * change of the independent coordinates, and what it refuses. */
#include "test/support/ukf.h"
#include "lib/plant/plant_table.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = LINEAR_N };

static bramah_diag diag;

/* ---- linear ---- */

static double difference(const linear_run *a, bramah_filter *filter, const linear_run *b, bramah_ukf *ukf)
{
  const double *P = bramah_filter_covariance(filter), *U = bramah_ukf_get_report(ukf).covariance;
  double worst = fabs(bramah_filter_get_last(filter).nis - bramah_ukf_get_report(ukf).nis);
  for (int i = 0; i < N; i++) {
    worst = fmax(worst, fabs(a->object.x[i] - b->object.x[i]) / sqrt(P[i * N + i]));
    for (int j = 0; j < N; j++)
      worst = fmax(worst, fabs(P[i * N + j] - U[i * N + j]) / sqrt(P[i * N + i] * P[j * N + j]));
  }
  return worst;
}

/* The first sensor rounds, and the larger half of what it sees lies beyond its range. */
static void limit_sensor(linear_run *run)
{
  double largest = 0.0;
  for (int k = 0; k < LINEAR_STEPS; k++) largest = fmax(largest, fabs(run->y[k][0]));
  run->sensor[0].resolution = 3.0 * run->sensor[0].sigma;
  run->sensor[0].most = 0.5 * largest;
  run->sensor[0].least = -0.5 * largest;
}

/* Both filters over the same samples; the weights of the points must not matter. */
static void check_linear(int64_t change_at, const bramah_ukf_options *unscented, int limited,
                         double tolerance)
{
  static linear_run a, b;
  bramah_filter *filter;
  bramah_ukf *ukf;
  double worst = 0.0;
  linear_run_make(&a, change_at);
  linear_run_make(&b, change_at);
  if (limited) limit_sensor(&a), limit_sensor(&b);
  must(bramah_filter_new(&a.plant, LINEAR_SENSORS, a.sensor, &a.options, &diag, &filter), &diag);
  must(bramah_ukf_new(&b.plant, LINEAR_SENSORS, b.sensor, &b.options, unscented, &diag, &ukf), &diag);
  for (int k = 0; k < LINEAR_STEPS; k++) {
    linear_run_gate(&a, k, bramah_filter_covariance(filter));
    must(bramah_filter_correct(filter, a.y[k], a.used[k], &diag), &diag);
    must(bramah_ukf_correct(ukf, b.y[k], a.used[k], &diag), &diag);
    worst = fmax(worst, difference(&a, filter, &b, ukf));
    must(bramah_filter_set_inputs(filter, &a.u[k], &diag), &diag);
    must(bramah_ukf_set_inputs(ukf, &b.u[k], &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(bramah_ukf_predict(ukf, &diag), &diag);
    ck_assert_int_eq(bramah_filter_time_ns(filter), bramah_ukf_get_report(ukf).time_ns);
  }
  const bramah_filter_report report = bramah_filter_get_report(filter);
  ck_assert_int_eq(report.saturated > 0, limited);
  ck_assert_uint_gt(report.accepted, report.saturated);
  printf("unscented against error-state filter, linear: %.2g\n", worst);
  ck_assert_double_lt(worst, tolerance);
  ck_assert_int_eq(b.object.changed, change_at >= 0);
  bramah_filter_free(filter);
  bramah_ukf_free(ukf);
}

TEST(test_equals_the_filter_on_a_linear_plant)
{
  static const bramah_ukf_options wide = {1.0, 2.0, 0.0}, narrow = {0.1, 2.0, 1.0};
  check_linear(-1, NULL, 0, 1e-9);
  check_linear(-1, &wide, 0, 1e-9);
  check_linear(-1, &narrow, 0, 1e-9);
  check_linear(-1, NULL, 1, 1e-9);
}

/* A prediction of the pendulum from a wide covariance, where the weights tell: by the textbook,
 * points and moments in full (Wan and van der Merwe 2001). */
EACH_TEST(test_weights_on_the_pendulum, 0, 3)
{
  static const bramah_ukf_options all[] = {{0.6, 2.0, 0.0}, {1.0, 2.0, 1.0}, {0.8, 0.5, 1.0}};
  const bramah_ukf_options o = all[_i];
  const double sigma[2] = {0.5, 0.7}, density = 0.3, h = 1e-3, q = density * density;
  pendulum model = {1.0, 0.4, 0.2, 1.0, 0.1};
  const pendulum start = model;
  const bramah_plant plant = pendulum_plant(&model, 1000000);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &sigma[0],
                                         .rate_sigma = &sigma[1],
                                         .acceleration_noise = &density};
  bramah_ukf *ukf;
  must(bramah_ukf_new(&plant, 0, NULL, &options, &o, &diag, &ukf), &diag);
  must(bramah_ukf_predict(ukf, &diag), &diag);
  const double n = 2.0, lambda = o.alpha * o.alpha * (n + o.kappa) - n;
  double x[5][2], mean[2] = {0}, P[3] = {q * h * h * h / 3, q * h * h / 2, q * h};
  for (int k = 0; k < 5; k++) {
    pendulum point = start;
    const bramah_plant p = pendulum_plant(&point, 1000000);
    const double off = (k % 2 ? 1.0 : -1.0) * sqrt(n + lambda);
    if (k == 1 || k == 2) point.angle += off * sigma[0];
    if (k > 2) point.rate += off * sigma[1];
    must(p.step(p.self, &diag), &diag);
    x[k][0] = point.angle, x[k][1] = point.rate;
    for (int i = 0; i < 2; i++) mean[i] += (k ? 0.5 : lambda) / (n + lambda) * x[k][i];
  }
  for (int k = 0; k < 5; k++) {
    const double w = (k ? 0.5 : lambda) / (n + lambda) + (k ? 0.0 : 1.0 - o.alpha * o.alpha + o.beta);
    const double a = x[k][0] - mean[0], b = x[k][1] - mean[1];
    P[0] += w * a * a, P[1] += w * a * b, P[2] += w * b * b;
  }
  const double *found = bramah_ukf_get_report(ukf).covariance;
  ck_assert_double_gt(fabs(mean[1] - x[0][1]), 5e-4); /* it is not linear */
  ck_assert_double_eq_tol(model.angle, mean[0], 1e-9);
  ck_assert_double_eq_tol(model.rate, mean[1], 1e-9);
  ck_assert_double_eq_tol(found[0], P[0], 1e-8);
  ck_assert_double_eq_tol(found[1], P[1], 1e-8);
  ck_assert_double_eq_tol(found[3], P[2], 1e-8);
  bramah_ukf_free(ukf);
}

/* Options of the error-state filter that it would leave out without a word. */
TEST(test_refuses_options_it_does_not_have)
{
  static linear_run run;
  const bramah_augmented bias = {
      .name = "bias", .kind = BRAMAH_AUGMENTED_BIAS, .at = "x", .sigma = 1.0, .noise = 0.1};
  const bramah_parameter_noise noise = {.at = "x", .density = 0.1};
  const double gates[LINEAR_SENSORS] = {[LINEAR_SENSORS - 1] = 5.0}, none[LINEAR_SENSORS] = {0.0};
  bramah_ukf *ukf = NULL;
  linear_run_make(&run, -1);
  const bramah_filter_options plain = run.options;
  bramah_filter_options with[3] = {plain, plain, plain};
  with[0].n_augmented = 1, with[0].augmented = &bias;
  with[1].n_parameter_noise = 1, with[1].parameter_noise = &noise;
  with[2].gate = gates;
  static const char *const said[3] = {"augmented states", "noise of parameters", "gates"};
  for (int i = 0; i < 3; i++) {
    ck_assert_int_eq(bramah_ukf_new(&run.plant, LINEAR_SENSORS, run.sensor, &with[i], NULL, &diag, &ukf),
                     BRAMAH_E_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(diag.message, said[i]));
    ck_assert_ptr_null(ukf);
  }
  with[2].gate = none;
  must(bramah_ukf_new(&run.plant, LINEAR_SENSORS, run.sensor, &with[2], NULL, &diag, &ukf), &diag);
  bramah_ukf_free(ukf);
  must(bramah_ukf_new(&run.plant, 0, NULL, &plain, NULL, &diag, &ukf), &diag);
  must(bramah_ukf_correct(ukf, NULL, NULL, &diag), &diag);
  bramah_ukf_free(ukf);
}

/* The linear plant has no output for the sum that becomes a coordinate, and says so. */
TEST(test_refuses_coordinates_that_are_no_outputs)
{
  static linear_run run;
  bramah_ukf *ukf;
  linear_run_make(&run, 3);
  must(bramah_ukf_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, NULL, &diag, &ukf), &diag);
  for (int k = 0; k < 2; k++) must(bramah_ukf_predict(ukf, &diag), &diag);
  const linear_plant before = run.object;
  double P[N * N];
  memcpy(P, bramah_ukf_get_report(ukf).covariance, sizeof P);
  ck_assert_int_eq(bramah_ukf_predict(ukf, &diag), BRAMAH_E_UNSUPPORTED);
  ck_assert_ptr_nonnull(strstr(diag.message, "sigma points"));
  ck_assert_mem_eq(before.x, run.object.x, sizeof before.x);
  ck_assert_int_eq(before.changed, run.object.changed);
  ck_assert_mem_eq(P, bramah_ukf_get_report(ukf).covariance, sizeof P);
  bramah_ukf_free(ukf);
}

/* ---- four-bar ---- */

enum { STEPS = 6000, SENSORS = 5 };

typedef struct score {
  double squares[3], nis;
} score;

static void add(score *s, const bramah_plant *plant, const bramah_plant *truth, const size_t *output,
                double nis)
{
  for (int i = 0; i < 3; i++)
    s->squares[i] += pow(plant->output(plant->self, output[i]) - truth->output(truth->self, output[i]), 2);
  s->nis += nis;
}

/* Sensor set 2 of the study at every step; both filters see the same samples. */
TEST(test_as_good_on_the_four_bar)
{
  static const bramah_sensor_options options[SENSORS] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.002, qp[3] = {5e4, 5e4, 5e4};
  static const char *const name[3] = {"crank.angle", "crank.rate", "v2.pressure"};
  static const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};
  static four_bar_rig truth, e, s;
  score ekf = {0}, ukf_score = {0};
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  bramah_ukf *ukf;
  size_t output[3];
  unsigned seed = 5;
  four_bar_open(&truth, 1.0, 60.0);
  four_bar_open(&e, 1.1, 63.0);
  four_bar_open(&s, 1.1, 63.0);
  for (int i = 0; i < SENSORS; i++) must(bramah_sensor_init(&options[i], &e.plant, &diag, &sensor[i]), &diag);
  for (int i = 0; i < 3; i++) output[i] = must_find(&e.plant, name[i]);
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = &output[0],
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  must(bramah_filter_new(&e.plant, SENSORS, sensor, &o, &diag, &filter), &diag);
  must(bramah_ukf_new(&s.plant, SENSORS, sensor, &o, NULL, &diag, &ukf), &diag);
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000 + 500000000);
    double y[SENSORS];
    for (int i = 0; i < SENSORS; i++)
      y[i] = bramah_sensor_predict(&sensor[i], &truth.plant) + sensor[i].sigma * test_normal(&seed);
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    must(bramah_ukf_correct(ukf, y, present, &diag), &diag);
    add(&ekf, &e.plant, &truth.plant, output, bramah_filter_get_last(filter).nis);
    add(&ukf_score, &s.plant, &truth.plant, output, bramah_ukf_get_report(ukf).nis);
    must(bramah_filter_set_inputs(filter, &u, &diag), &diag);
    must(bramah_ukf_set_inputs(ukf, &u, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(bramah_ukf_predict(ukf, &diag), &diag);
    must(truth.plant.set_inputs(truth.plant.self, &u, &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
  }
  for (int i = 0; i < 3; i++) {
    printf("%s: RMSE error-state %.3g, unscented %.3g\n", name[i], sqrt(ekf.squares[i] / STEPS),
           sqrt(ukf_score.squares[i] / STEPS));
    ck_assert_double_lt(ukf_score.squares[i], 1.5 * ekf.squares[i]);
  }
  printf("mean NIS per sensor: error-state %.4f, unscented %.4f\n", ekf.nis / STEPS / SENSORS,
         ukf_score.nis / STEPS / SENSORS);
  ck_assert_double_eq_tol(ukf_score.nis / STEPS / SENSORS, 1.0, 0.05);
  bramah_filter_free(filter);
  bramah_ukf_free(ukf);
  four_bar_close(&truth);
  four_bar_close(&e);
  four_bar_close(&s);
}

/* A crank and slider that goes over from the block to the crank at its dead point. */
TEST(test_through_a_change_of_coordinates)
{
  static const bramah_sensor_options option = {
      .name = "stroke", .kind = BRAMAH_SENSOR_ENCODER, .at = "block", .sigma = 0.02};
  static const double sp = 0.05, sv = 0.05, q = 0.02;
  crank_slider s;
  const bramah_model *model;
  bramah_coupled *truth, *c;
  bramah_sensor sensor;
  bramah_ukf *ukf;
  unsigned seed = 4;
  crank_slider_describe(&s, 10.0, 1000000);
  s.machine.gravity[1] = 0.0;
  must(bramah_model_new(&s.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &truth), &diag);
  must(bramah_coupled_new(model, &diag, &c), &diag);
  const size_t crank = 0;
  const double angle = 40.0 * 3.14159265358979323846 / 180.0 + 0.05, rate = 6.04;
  must(bramah_coupled_start(c, 1, &crank, &angle, &rate, NULL, &diag), &diag);
  const bramah_plant t = bramah_coupled_plant(truth), p = bramah_coupled_plant(c);
  must(bramah_sensor_init(&option, &p, &diag, &sensor), &diag);
  const size_t basis = must_find(&p, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = NULL,
                                   .acceleration_noise = &q,
                                   .first_order_noise = NULL};
  must(bramah_ukf_new(&p, 1, &sensor, &o, NULL, &diag, &ukf), &diag);
  char first[64];
  snprintf(first, sizeof first, "%s", bramah__plant_state_name(&p, 0));
  double nis = 0.0;
  int inside = 0, changes = 0;
  const int steps = 4000;
  for (int k = 0; k < steps; k++) {
    const double y = bramah_sensor_predict(&sensor, &t) + 0.02 * test_normal(&seed);
    const unsigned char present = 1;
    must(bramah_ukf_correct(ukf, &y, &present, &diag), &diag);
    nis += bramah_ukf_get_report(ukf).nis;
    const double error = p.output(p.self, basis) - t.output(t.self, basis);
    inside += fabs(error) < 1.96 * bramah_ukf_output_sigma(ukf, basis);
    must(bramah_ukf_predict(ukf, &diag), &diag);
    must(t.step(t.self, &diag), &diag);
    changes += strcmp(first, bramah__plant_state_name(&p, 0)) != 0;
    snprintf(first, sizeof first, "%s", bramah__plant_state_name(&p, 0));
  }
  ck_assert_int_ge(changes, 1);
  ck_assert_double_eq_tol(nis / steps, 1.0, 0.1);
  ck_assert_int_gt(inside, steps * 9 / 10);
  bramah_ukf_free(ukf);
  bramah_coupled_free(truth);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

/* ---- coordinates and errors ---- */

/* What the built-in plant calls its coordinates are the values of the states of those names, and move as
 * inject says. */
TEST(test_coordinates_of_the_plant)
{
  static four_bar_rig r;
  double x[5], moved[5];
  const double dx[5] = {1e-3, -2e-3, 1e3, 2e3, -3e3};
  four_bar_open(&r, 1.0, 60.0);
  for (int k = 0; k < 20; k++) must(r.plant.step(r.plant.self, &diag), &diag);
  r.plant.coordinates(r.plant.self, x);
  for (size_t i = 0; i < 5; i++)
    ck_assert_double_eq(
        x[i], r.plant.output(r.plant.self, must_find(&r.plant, bramah__plant_state_name(&r.plant, i))));
  must(r.plant.inject(r.plant.self, dx, &diag), &diag);
  r.plant.coordinates(r.plant.self, moved);
  for (size_t i = 0; i < 5; i++) ck_assert_double_eq_tol(moved[i], x[i] + dx[i], 1e-12 * fabs(x[i]) + 1e-15);
  four_bar_close(&r);
}

/* An angle near the turn: a measurement beyond it is not a turn away. */
TEST(test_angles_wrap)
{
  static const double sp = 0.3, sv = 0.5, q = 0.02;
  static const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02};
  const bramah_filter_options o = {.position_sigma = &sp, .rate_sigma = &sv, .acceleration_noise = &q};
  pendulum bob = {3.1, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&bob, 1000000);
  bramah_sensor sensor;
  bramah_ukf *ukf;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  must(bramah_ukf_new(&plant, 1, &sensor, &o, NULL, &diag, &ukf), &diag);
  const double y = -3.13, wrong = NAN;
  const unsigned char present = 1;
  ck_assert_int_eq(bramah_ukf_correct(ukf, &wrong, &present, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "encoder");
  must(bramah_ukf_correct(ukf, &y, &present, &diag), &diag);
  ck_assert_double_eq_tol(bramah_ukf_get_report(ukf).innovation[0].innovation,
                          2 * 3.14159265358979 - 3.13 - 3.1, 1e-9);
  ck_assert_double_eq_tol(bob.angle, 3.1 + 0.0532 * 0.09 / (0.09 + 0.0004), 1e-3);
  bramah_ukf_free(ukf);
}

/* Without the function for coordinates they are read as outputs, to the same bits. */
TEST(test_without_coordinates)
{
  static linear_run a, b;
  bramah_ukf *u[2];
  linear_run_make(&a, -1);
  linear_run_make(&b, -1);
  b.plant.coordinates = NULL;
  must(bramah_ukf_new(&a.plant, LINEAR_SENSORS, a.sensor, &a.options, NULL, &diag, &u[0]), &diag);
  must(bramah_ukf_new(&b.plant, LINEAR_SENSORS, b.sensor, &b.options, NULL, &diag, &u[1]), &diag);
  for (int k = 0; k < 50; k++) {
    for (int i = 0; i < 2; i++) {
      must(bramah_ukf_correct(u[i], a.y[k], a.due[k], &diag), &diag);
      must(bramah_ukf_predict(u[i], &diag), &diag);
    }
  }
  ck_assert_mem_eq(a.object.x, b.object.x, sizeof a.object.x);
  for (int i = 0; i < 2; i++) bramah_ukf_free(u[i]);
}

TEST(test_refuses)
{
  static linear_run run;
  static const bramah_ukf_options bad[3] = {{0.0, 2.0, 0.0}, {0.5, 2.0, -6.0}, {0.5, NAN, 0.0}};
  bramah_ukf *ukf;
  linear_run_make(&run, -1);
  for (int i = 0; i < 3; i++)
    ck_assert_int_eq(
        bramah_ukf_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, &bad[i], &diag, &ukf),
        BRAMAH_E_VALUE);
  const double zero[2] = {0.0, 1.0};
  run.options.first_order_sigma = zero;
  ck_assert_int_eq(bramah_ukf_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, NULL, &diag, &ukf),
                   BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "left.pressure");
}

int main(void) { return run_tests("unscented filter"); }
