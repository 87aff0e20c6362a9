/* SPDX-License-Identifier: MIT */
/* Properties of the filter on the machines: covariance symmetric and positive definite, the same bits twice,
 * consistent through changes of the independent coordinates. */
#include "bramah/filter.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static void check_covariance(const bramah_filter *filter)
{
  const size_t n = bramah_plant_n_error(bramah_filter_get_info(filter).plant);
  const double *P = bramah_filter_covariance(filter);
  double scaled[64];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      ck_assert_double_eq(P[i * n + j], P[j * n + i]);
      scaled[i * n + j] = P[i * n + j] / sqrt(P[i * n + i] * P[j * n + j]);
    }
  ck_assert_uint_eq(bramah__cholesky_factor(n, scaled), 0);
}

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_sensor sensor[5];
  bramah_filter *filter;
} rig;

static void rig_setup(rig *r)
{
  static const double angle = 63.0 * 3.14159265358979323846 / 180.0, rest = 0.0;
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static const bramah_sensor_options options[5] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  const size_t crank = 0;
  four_bar_describe(&r->fb, 1.1, 1000000);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->c), &diag);
  must(bramah_coupled_start(r->c, 1, &crank, &angle, &rest, NULL, &diag), &diag);
  r->plant = bramah_coupled_plant(r->c);
  for (int i = 0; i < 5; i++) must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  const size_t basis = must_find(&r->plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  must(bramah_filter_new(&r->plant, 5, r->sensor, &o, &diag, &r->filter), &diag);
}

static void rig_teardown(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->c);
  bramah_model_free(r->model);
}

/* One step of estimator and truth with sensors at mixed rates and dropouts. */
static void cycle(rig *r, const bramah_plant *truth, int64_t k, unsigned *seed)
{
  double y[5];
  unsigned char present[5];
  const double u = four_bar_command(k * 1000000);
  for (size_t i = 0; i < 5; i++) {
    y[i] = bramah_sensor_predict(&r->sensor[i], truth) + r->sensor[i].sigma * test_normal(seed);
    present[i] = k % (int64_t)(1 + i) == 0 && !(k > 3000 && k < 3400); /* and 0.4 s without any */
  }
  must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
  must(bramah_filter_set_inputs(r->filter, &u, &diag), &diag);
  must(bramah_filter_predict(r->filter, &diag), &diag);
  must(truth->set_inputs(truth->self, &u, &diag), &diag);
  must(truth->step(truth->self, &diag), &diag);
}

TEST(test_covariance_and_bits)
{
  static rig a, b;
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *truth[2];
  unsigned seed[2] = {8, 8};
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  for (int i = 0; i < 2; i++) must(bramah_coupled_new(model, &diag, &truth[i]), &diag);
  const bramah_plant pa = bramah_coupled_plant(truth[0]), pb = bramah_coupled_plant(truth[1]);
  rig_setup(&a);
  rig_setup(&b);
  static unsigned char sa[4096], sb[4096];
  ck_assert_uint_le(bramah_filter_snapshot_size(a.filter), sizeof sa);
  for (int64_t k = 0; k < 6000; k++) {
    cycle(&a, &pa, k, &seed[0]);
    cycle(&b, &pb, k, &seed[1]);
    if (k % 7 == 0) check_covariance(a.filter);
    if (k == 2000) { /* b goes on from a snapshot of itself */
      bramah_filter_save(b.filter, sb);
      for (int i = 0; i < 5; i++) must(bramah_filter_predict(b.filter, &diag), &diag);
      bramah_filter_restore(b.filter, sb);
    }
  }
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a.filter));
  rig_teardown(&a);
  rig_teardown(&b);
  for (int i = 0; i < 2; i++) bramah_coupled_free(truth[i]);
  bramah_model_free(model);
}

/* A crank and slider whose independent coordinate is first the block, which fails at the dead point: the
 * filter must stay consistent through the change, with its noise stated for the crank. */
TEST(test_consistent_through_a_basis_change)
{
  static const bramah_sensor_options option = {
      .name = "stroke", .kind = BRAMAH_SENSOR_ENCODER, .at = "block", .sigma = 0.02};
  static const double sp = 0.05, sv = 0.05, q = 0.02;
  crank_slider s;
  const bramah_model *model;
  bramah_coupled *truth, *c;
  bramah_sensor sensor;
  bramah_filter *filter;
  unsigned seed = 4;
  crank_slider_describe(&s, 10.0, 1000000);
  s.machine.gravity[1] = 0.0; /* without gravity crank, rod and block carry each other round steadily */
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
  must(bramah_filter_new(&p, 1, &sensor, &o, &diag, &filter), &diag);
  double nis = 0.0;
  int inside = 0;
  const int steps = 4000;
  for (int k = 0; k < steps; k++) {
    const double y = bramah_sensor_predict(&sensor, &t) + 0.02 * test_normal(&seed);
    const unsigned char present = 1;
    must(bramah_filter_correct(filter, &y, &present, &diag), &diag);
    nis += bramah_filter_get_last(filter).nis;
    const double error = p.output(p.self, basis) - t.output(t.self, basis);
    inside += fabs(error) < 1.96 * bramah_filter_output_sigma(filter, basis);
    if (k % 10 == 0) check_covariance(filter);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(t.step(t.self, &diag), &diag);
  }
  ck_assert_uint_ge(bramah_coupled_report(c).basis_changes, 1);
  ck_assert_double_eq_tol(nis / steps, 1.0, 0.1);
  ck_assert_int_gt(inside, steps * 9 / 10);
  bramah_filter_free(filter);
  bramah_coupled_free(truth);
  bramah_coupled_free(c);
  bramah_model_free(model);
}

int main(void) { return run_tests("filter properties"); }
