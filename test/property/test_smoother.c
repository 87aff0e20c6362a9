/* SPDX-License-Identifier: MIT */
/* Filter and smoother against batch least squares over all states; the smoother on a machine; what it
 * refuses. */
#include "bramah/replay.h"
#include "bramah/smoother.h"
#include "estimators/filter_internal.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = LINEAR_N };

static bramah_diag diag;

static const int state_of_output[N] = {0, 2, 1, 3, 4, 5};

/* Largest difference of the plant's outputs to the batch's x, in standard deviations of the batch, and of
 * sigma [N, of the outputs] to its own, relative. */
static double difference(const bramah_plant *plant, const double *sigma, const double *x, const double *P)
{
  double worst = 0.0;
  for (size_t i = 0; i < N; i++) {
    const int s = state_of_output[i];
    const double scale = sqrt(P[s * N + s]);
    worst = fmax(worst, fabs(plant->output(plant->self, i) - x[s]) / scale);
    worst = fmax(worst, fabs(sigma[i] / scale - 1.0));
  }
  return worst;
}

/* The same of a whole covariance, where the coordinates are those of the batch. */
static double covariance_difference(const double *P, const double *batch)
{
  double worst = 0.0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      worst = fmax(worst, fabs(P[i * N + j] - batch[i * N + j]) / sqrt(batch[i * N + i] * batch[j * N + j]));
  return worst;
}

/* Batch solution of everything up to step k, compared with the filter as it is there. */
static double compare_filter(const linear_run *run, int k, bramah_filter *filter)
{
  double x[N], P[N * N], sigma[N];
  least_squares *b = least_squares_new(k);
  linear_run_batch(run, k, b);
  least_squares_state(b, k, x, P);
  least_squares_free(b);
  for (size_t i = 0; i < N; i++) sigma[i] = bramah_filter_output_sigma(filter, i);
  return difference(&run->plant, sigma, x, P);
}

static double run_forward(linear_run *run, bramah_filter *filter, bramah_smoother *smoother)
{
  double worst = 0.0;
  for (int k = 0; k <= LINEAR_STEPS; k++) {
    linear_run_gate(run, k, bramah_filter_covariance(filter));
    must(bramah_filter_correct(filter, run->y[k], run->used[k], &diag), &diag);
    must(bramah_smoother_record(smoother, BRAMAH_FILTER_CORRECTED, filter, &diag), &diag);
    if (k % 25 == 0) worst = fmax(worst, compare_filter(run, k, filter));
    if (k == LINEAR_STEPS) break;
    must(bramah_filter_set_inputs(filter, &run->u[k], &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(bramah_smoother_record(smoother, BRAMAH_FILTER_PREDICTED, filter, &diag), &diag);
  }
  return worst;
}

static double compare_smoother(const linear_run *run, bramah_smoother *smoother, int64_t change_at)
{
  double worst = 0.0, x[N], P[N * N], sigma[N];
  least_squares *b = least_squares_new(LINEAR_STEPS);
  linear_run_batch(run, LINEAR_STEPS, b);
  for (int k = 0; k <= LINEAR_STEPS; k += 3) {
    least_squares_state(b, k, x, P);
    must(bramah_smoother_show(smoother, (size_t)k, &diag), &diag);
    for (size_t i = 0; i < N; i++) sigma[i] = bramah_smoother_output_sigma(smoother, i);
    worst = fmax(worst, difference(&run->plant, sigma, x, P));
    if (change_at < 0 || k < change_at)
      worst = fmax(worst, covariance_difference(bramah_smoother_get_step(smoother, (size_t)k).covariance, P));
  }
  least_squares_free(b);
  return worst;
}

static void check_against_batch(int64_t change_at)
{
  static linear_run run;
  bramah_filter *filter;
  bramah_smoother *smoother;
  int gated = 0;
  linear_run_make(&run, change_at);
  must(bramah_filter_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, &diag, &filter), &diag);
  must(bramah_smoother_new(filter, LINEAR_STEPS + 1, &diag, &smoother), &diag);
  const double filtered = run_forward(&run, filter, smoother);
  must(bramah_smoother_run(smoother, &diag), &diag);
  const double smoothed = compare_smoother(&run, smoother, change_at);
  printf("against batch least squares: filter %.2g, smoother %.2g standard deviations\n", filtered, smoothed);
  for (int k = 0; k <= LINEAR_STEPS; k++)
    for (int i = 0; i < LINEAR_SENSORS; i++) gated += run.due[k][i] && !run.used[k][i];
  ck_assert_int_ge(gated, 20);
  ck_assert_double_lt(filtered, 1e-10);
  ck_assert_double_lt(smoothed, 1e-10);
  ck_assert_int_eq(run.object.changed, change_at >= 0);
  bramah_smoother_free(smoother);
  bramah_filter_free(filter);
}

TEST(test_equals_batch_least_squares)
{
  if (long_double_is_as_promised()) check_against_batch(-1);
}

/* Other independent coordinates from step 150 on. */
TEST(test_equals_batch_through_a_change_of_coordinates)
{
  if (long_double_is_as_promised()) check_against_batch(150);
}

/* The noise that the batch assumes is that of the filter: P after predict minus F P F'. */
TEST(test_noise_is_that_of_the_filter)
{
  static linear_run run;
  double Q[N * N], F[N * N], before[N * N];
  bramah_filter *filter;
  linear_run_make(&run, -1);
  must(bramah_filter_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, &diag, &filter), &diag);
  memcpy(before, bramah_filter_covariance(filter), sizeof before);
  must(bramah_filter_predict(filter, &diag), &diag);
  linear_run_noise(&run, Q);
  linear_plant_transition(&run.object, F);
  const double *P = bramah_filter_covariance(filter), *last = bramah_filter_get_last(filter).transition;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0.0;
      for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++) sum += F[i * N + a] * before[a * N + b] * F[j * N + b];
      const double scale = sqrt(P[i * N + i] * P[j * N + j]);
      ck_assert_double_eq_tol(P[i * N + j] - sum, Q[i * N + j], 1e-14 * scale);
      ck_assert_double_eq_tol(last[i * N + j], F[i * N + j], 1e-12 * fmax(1e-6, fabs(F[i * N + j])));
    }
  bramah_filter_free(filter);
}

/* ---- on a machine ---- */

/* Encoder and pressures at 100 Hz as in the published study; the truth starts 3 deg off. The smoother knows
 * at the beginning what the filter finds later. With the transition of (D 3.4), which freezes the errors of
 * pressures, only angles are looked at: later pressures say nothing true about earlier ones, and smoothed
 * rates suffer from it. */
enum { STEPS = 3000, SENSORS = 4, LOOKED = 2 };

typedef struct comparison {
  size_t output[LOOKED];
  double truth[STEPS + 1][LOOKED], squares[2][LOOKED];
  int inside[LOOKED];
} comparison;

static void add_error(comparison *c, const bramah_plant *plant, int k, int smoothed,
                      bramah_smoother *smoother)
{
  for (int i = 0; i < LOOKED; i++) {
    const double error = plant->output(plant->self, c->output[i]) - c->truth[k][i];
    c->squares[smoothed][i] += error * error;
    if (smoothed) c->inside[i] += fabs(error) < 1.96 * bramah_smoother_output_sigma(smoother, c->output[i]);
  }
}

static void forward_on_four_bar(four_bar_rig *truth, four_bar_rig *r, const bramah_sensor *sensor,
                                bramah_filter *filter, bramah_smoother *smoother, comparison *c)
{
  unsigned seed = 5;
  for (int k = 0; k <= STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000 + 500000000);
    double y[SENSORS];
    unsigned char present[SENSORS];
    for (int i = 0; i < SENSORS; i++) {
      y[i] = bramah_sensor_predict(&sensor[i], &truth->plant) + sensor[i].sigma * test_normal(&seed);
      present[i] = k % 10 == 0;
    }
    if (k) must(bramah_smoother_record(smoother, BRAMAH_FILTER_PREDICTED, filter, &diag), &diag);
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    must(bramah_smoother_record(smoother, BRAMAH_FILTER_CORRECTED, filter, &diag), &diag);
    for (int i = 0; i < LOOKED; i++) c->truth[k][i] = truth->plant.output(truth->plant.self, c->output[i]);
    add_error(c, &r->plant, k, 0, NULL);
    must(bramah_filter_set_inputs(filter, &u, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(truth->plant.set_inputs(truth->plant.self, &u, &diag), &diag);
    must(truth->plant.step(truth->plant.self, &diag), &diag);
  }
}

/* Smoothed errors, relative to filtered ones, into ratio [LOOKED]. */
static void smooth_four_bar(bramah_transition transition, const char *const *name, double *ratio)
{
  static const bramah_sensor_options options[SENSORS] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static four_bar_rig truth, r;
  static comparison c;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  bramah_smoother *smoother;
  memset(&c, 0, sizeof c);
  four_bar_open(&truth, 1.0, 60.0);
  four_bar_open(&r, 1.1, 63.0);
  for (int i = 0; i < SENSORS; i++) must(bramah_sensor_init(&options[i], &r.plant, &diag, &sensor[i]), &diag);
  for (int i = 0; i < LOOKED; i++) c.output[i] = must_find(&r.plant, name[i]);
  const size_t basis = must_find(&r.plant, "crank.angle");
  const bramah_filter_options o = {.transition = transition,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  must(bramah_filter_new(&r.plant, SENSORS, sensor, &o, &diag, &filter), &diag);
  must(bramah_smoother_new(filter, STEPS + 1, &diag, &smoother), &diag);
  forward_on_four_bar(&truth, &r, sensor, filter, smoother, &c);
  must(bramah_smoother_run(smoother, &diag), &diag);
  ck_assert_uint_eq(bramah_smoother_count(smoother), STEPS + 1);
  for (int k = 0; k <= STEPS; k++) {
    ck_assert_int_eq(bramah_smoother_get_step(smoother, (size_t)k).time_ns, (int64_t)k * 1000000);
    must(bramah_smoother_show(smoother, (size_t)k, &diag), &diag);
    ck_assert_double_lt(bramah_coupled_constraint_violation(r.c), 1e-9);
    add_error(&c, &r.plant, k, 1, smoother);
  }
  for (int i = 0; i < LOOKED; i++) {
    printf("%s: RMSE filtered %.3g, smoothed %.3g, %.1f %% inside\n", name[i],
           sqrt(c.squares[0][i] / (STEPS + 1)), sqrt(c.squares[1][i] / (STEPS + 1)),
           100.0 * c.inside[i] / (STEPS + 1));
    ratio[i] = sqrt(c.squares[1][i] / c.squares[0][i]);
  }
  bramah_smoother_free(smoother);
  bramah_filter_free(filter);
  four_bar_close(&r);
  four_bar_close(&truth);
}

TEST(test_better_than_the_filter_on_the_four_bar)
{
  static const char *const angles[LOOKED] = {"crank.angle", "coupler.angle"}, *const others[LOOKED] = {
                                                                                  "crank.rate",
                                                                                  "v2.pressure"};
  double ratio[LOOKED];
  smooth_four_bar(BRAMAH_TRANSITION_KINEMATIC, angles, ratio);
  for (int i = 0; i < LOOKED; i++) ck_assert_double_lt(ratio[i], 0.6);
  smooth_four_bar(BRAMAH_TRANSITION_STEP, angles, ratio);
  for (int i = 0; i < LOOKED; i++) ck_assert_double_lt(ratio[i], 0.6);
  smooth_four_bar(BRAMAH_TRANSITION_STEP, others, ratio);
  for (int i = 0; i < LOOKED; i++) ck_assert_double_lt(ratio[i], 1.0);
}

/* ---- records ---- */

typedef struct small {
  pendulum bob;
  bramah_plant plant;
  bramah_sensor sensor;
  bramah_filter *filter;
  bramah_smoother *smoother;
} small;

static void open_small(small *s, size_t capacity)
{
  static const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02};
  static const double sp = 0.3, sv = 0.5, q = 0.02;
  static const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                                .position_sigma = &sp,
                                                .rate_sigma = &sv,
                                                .acceleration_noise = &q};
  s->bob = (pendulum){0.8, 0.0, 0.0, 1.0, 0.1};
  s->plant = pendulum_plant(&s->bob, 1000000);
  must(bramah_sensor_init(&encoder, &s->plant, &diag, &s->sensor), &diag);
  must(bramah_filter_new(&s->plant, 1, &s->sensor, &options, &diag, &s->filter), &diag);
  must(bramah_smoother_new(s->filter, capacity, &diag, &s->smoother), &diag);
}

static void close_small(small *s)
{
  bramah_smoother_free(s->smoother);
  bramah_filter_free(s->filter);
}

/* Sample of step k, of which one step in 50 has two. */
static void correct_small(small *s, int k)
{
  const unsigned char present = 1;
  for (int i = 0; i < 1 + (k % 50 == 7); i++) {
    const double y = 0.7 * cos(3.1e-3 * k) + 0.01 * i;
    must(bramah_filter_correct(s->filter, &y, &present, &diag), &diag);
    must(bramah_smoother_record(s->smoother, BRAMAH_FILTER_CORRECTED, s->filter, &diag), &diag);
  }
}

static void go_small(small *s, int from, int to)
{
  for (int k = from; k < to; k++) {
    must(bramah_filter_predict(s->filter, &diag), &diag);
    must(bramah_smoother_record(s->smoother, BRAMAH_FILTER_PREDICTED, s->filter, &diag), &diag);
    correct_small(s, k + 1);
  }
}

/* A filter that went ahead, was restored and went again leaves the same records as one that did not. */
TEST(test_going_back)
{
  small a, b;
  static double snap[128];
  open_small(&a, 301);
  open_small(&b, 301);
  ck_assert_uint_le(bramah_filter_snapshot_size(b.filter), sizeof snap);
  correct_small(&a, 0);
  correct_small(&b, 0);
  go_small(&a, 0, 300);
  go_small(&b, 0, 100);
  bramah_filter_save(b.filter, snap);
  go_small(&b, 100, 200);
  bramah_filter_restore(b.filter, snap);
  go_small(&b, 100, 300);
  must(bramah_smoother_run(a.smoother, &diag), &diag);
  must(bramah_smoother_run(b.smoother, &diag), &diag);
  ck_assert_uint_eq(bramah_smoother_count(b.smoother), 301);
  for (size_t k = 0; k <= 300; k++) {
    ck_assert_mem_eq(bramah_smoother_get_step(a.smoother, k).correction,
                     bramah_smoother_get_step(b.smoother, k).correction, 16);
    ck_assert_mem_eq(bramah_smoother_get_step(a.smoother, k).covariance,
                     bramah_smoother_get_step(b.smoother, k).covariance, 32);
  }
  close_small(&a);
  close_small(&b);
}

static bramah_status record(void *user, bramah_filter_event event, bramah_filter *filter, bramah_diag *d)
{
  return bramah_smoother_record(user, event, filter, d);
}

/* One sample in four steps, which comes `late` steps after it was measured; the rewind buffer goes back for
 * it. */
static void go_late(small *s, int late)
{
  const bramah_rewind_options options = {
      .longest_delay_ns = 20000000, .snapshot_every = 3, .samples_per_step = 4};
  const bramah_watcher watcher = {s->smoother, record};
  bramah_rewind *rewind;
  must(bramah_rewind_new(s->filter, &options, &diag, &rewind), &diag);
  must(bramah_smoother_record(s->smoother, BRAMAH_FILTER_CORRECTED, s->filter, &diag), &diag);
  bramah__rewind_watch(rewind, &watcher);
  for (int k = 0; k <= 300; k++) {
    const int made = k - late;
    if (made >= 0 && made % 4 == 0)
      must(bramah_rewind_sample(rewind, 0, made * INT64_C(1000000), 0.7 * cos(3.1e-3 * made), &diag), &diag);
    must(bramah_rewind_settle(rewind, &diag), &diag);
    if (k < 300) must(bramah_rewind_advance(rewind, &diag), &diag);
  }
  for (int made = 300 - late + 1; made <= 300; made++)
    if (made % 4 == 0)
      must(bramah_rewind_sample(rewind, 0, made * INT64_C(1000000), 0.7 * cos(3.1e-3 * made), &diag), &diag);
  must(bramah_rewind_settle(rewind, &diag), &diag);
  ck_assert_int_eq(bramah_rewind_get_report(rewind).deepest_ns, late * INT64_C(1000000));
  bramah_rewind_free(rewind);
  must(bramah_smoother_run(s->smoother, &diag), &diag);
}

TEST(test_late_samples)
{
  small a, b;
  open_small(&a, 301);
  open_small(&b, 301);
  go_late(&a, 0);
  go_late(&b, 11);
  for (size_t k = 0; k <= 300; k++) {
    ck_assert_mem_eq(bramah_smoother_get_step(a.smoother, k).correction,
                     bramah_smoother_get_step(b.smoother, k).correction, 16);
    ck_assert_mem_eq(bramah_smoother_get_step(a.smoother, k).covariance,
                     bramah_smoother_get_step(b.smoother, k).covariance, 32);
    must(bramah_smoother_show(a.smoother, k, &diag), &diag);
    must(bramah_smoother_show(b.smoother, k, &diag), &diag);
    ck_assert_double_eq(a.bob.angle, b.bob.angle);
    if (k) ck_assert_double_lt(fabs(a.bob.angle - 0.7 * cos(3.1e-3 * (double)k)), 0.02);
  }
  close_small(&a);
  close_small(&b);
}

/* Two samples in one step weigh as one of half the variance at their mean. */
TEST(test_two_corrections_in_a_step)
{
  small a, b;
  open_small(&a, 21);
  open_small(&b, 21);
  b.sensor.sigma /= sqrt(2.0);
  bramah_filter_free(b.filter);
  static const double sp = 0.3, sv = 0.5, q = 0.02;
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &sp,
                                         .rate_sigma = &sv,
                                         .acceleration_noise = &q};
  must(bramah_filter_new(&b.plant, 1, &b.sensor, &options, &diag, &b.filter), &diag);
  const unsigned char present = 1;
  for (int k = 0; k <= 20; k++) {
    const double y[3] = {0.7, 0.72, 0.71};
    for (int i = 0; i < 2; i++) {
      must(bramah_filter_correct(a.filter, &y[i], &present, &diag), &diag);
      must(bramah_smoother_record(a.smoother, BRAMAH_FILTER_CORRECTED, a.filter, &diag), &diag);
    }
    must(bramah_filter_correct(b.filter, &y[2], &present, &diag), &diag);
    must(bramah_smoother_record(b.smoother, BRAMAH_FILTER_CORRECTED, b.filter, &diag), &diag);
    if (k == 20) break;
    must(bramah_filter_predict(a.filter, &diag), &diag);
    must(bramah_smoother_record(a.smoother, BRAMAH_FILTER_PREDICTED, a.filter, &diag), &diag);
    must(bramah_filter_predict(b.filter, &diag), &diag);
    must(bramah_smoother_record(b.smoother, BRAMAH_FILTER_PREDICTED, b.filter, &diag), &diag);
  }
  must(bramah_smoother_run(a.smoother, &diag), &diag);
  must(bramah_smoother_run(b.smoother, &diag), &diag);
  for (size_t k = 0; k <= 20; k++) {
    must(bramah_smoother_show(a.smoother, k, &diag), &diag);
    must(bramah_smoother_show(b.smoother, k, &diag), &diag);
    ck_assert_double_eq_tol(a.bob.angle, b.bob.angle, 1e-9);
    ck_assert_double_eq_tol(bramah_smoother_output_sigma(a.smoother, 0),
                            bramah_smoother_output_sigma(b.smoother, 0), 1e-9);
  }
  close_small(&a);
  close_small(&b);
}

TEST(test_refuses)
{
  small s;
  open_small(&s, 3);
  ck_assert_uint_eq(bramah_smoother_size(s.filter, SIZE_MAX / 100), SIZE_MAX);
  bramah_smoother *other;
  ck_assert_int_eq(bramah_smoother_new(s.filter, SIZE_MAX / 100, &diag, &other), BRAMAH_E_MEMORY);
  correct_small(&s, 0);
  ck_assert_int_eq(bramah_smoother_show(s.smoother, 0, &diag), BRAMAH_E_ARGUMENT);
  must(bramah_filter_predict(s.filter, &diag), &diag);
  ck_assert_int_eq(bramah_smoother_record(s.smoother, BRAMAH_FILTER_CORRECTED, s.filter, &diag),
                   BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_smoother_record(s.smoother, BRAMAH_FILTER_RESTORED, s.filter, &diag),
                   BRAMAH_E_TIME);
  must(bramah_filter_predict(s.filter, &diag), &diag);
  ck_assert_int_eq(bramah_smoother_record(s.smoother, BRAMAH_FILTER_PREDICTED, s.filter, &diag),
                   BRAMAH_E_TIME);
  close_small(&s);
  open_small(&s, 3);
  correct_small(&s, 0);
  go_small(&s, 0, 2);
  must(bramah_filter_predict(s.filter, &diag), &diag);
  ck_assert_int_eq(bramah_smoother_record(s.smoother, BRAMAH_FILTER_PREDICTED, s.filter, &diag),
                   BRAMAH_E_MEMORY);
  ck_assert_uint_eq(bramah_smoother_count(s.smoother), 3);
  must(bramah_smoother_run(s.smoother, &diag), &diag);
  ck_assert_int_eq(bramah_smoother_run(s.smoother, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_smoother_record(s.smoother, BRAMAH_FILTER_PREDICTED, s.filter, &diag),
                   BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_smoother_show(s.smoother, 3, &diag), BRAMAH_E_ARGUMENT);
  close_small(&s);
}

int main(void) { return run_tests("smoother"); }
