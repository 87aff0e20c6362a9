/* SPDX-License-Identifier: MIT */
/* Rules of the rewind buffer: what it takes and refuses, several samples at a step, what it tells of them,
 * errors. */
#include "bramah/replay.h"
#include "test/support/four_bar.h"
#include "test/support/pendulum.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_diag diag;
static const int64_t ms = 1000000;

typedef struct rig {
  pendulum model;
  bramah_plant plant;
  bramah_sensor sensor[2];
  bramah_filter *filter;
  bramah_rewind *rewind;
} rig;

/* A pendulum that cannot be stepped when it is too fast or too low, and takes no absurd corrections. */
static double lowest = -INFINITY;
static bramah_status (*sound_step)(void *self, bramah_diag *d);
static bramah_status (*sound_inject)(void *self, const double *dx, bramah_diag *d);

static bramah_status complain(bramah_status status, const char *message, bramah_diag *d)
{
  bramah_diag_clear(d);
  d->status = status;
  strcpy(d->thing, "bob");
  strcpy(d->message, message);
  return status;
}
static bramah_status fragile_step(void *self, bramah_diag *d)
{
  const pendulum *p = self;
  if (fabs(p->rate) > 5.0) return complain(BRAMAH_E_NO_CONVERGENCE, "too fast", d);
  if (p->angle < lowest) return complain(BRAMAH_E_NO_CONVERGENCE, "too low", d);
  return sound_step(self, d);
}

static bramah_status fragile_inject(void *self, const double *dx, bramah_diag *d)
{
  if (fabs(dx[1]) > 1e6) return complain(BRAMAH_E_CLOSURE, "absurd", d);
  return sound_inject(self, dx, d);
}

static void setup(rig *r, int64_t window_ms, size_t every, size_t room)
{
  static const bramah_sensor_options options[2] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "bob", .sigma = 0.05}};
  static const double sp = 0.1, sv = 0.2, q = 0.05;
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = NULL,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = NULL,
                                   .acceleration_noise = &q,
                                   .first_order_noise = NULL};
  const bramah_rewind_options w = {window_ms * ms, every, room};
  r->model = (pendulum){0.4, 0.0, 0.0, 1.0, 0.1};
  r->plant = pendulum_plant(&r->model, ms);
  sound_step = r->plant.step;
  r->plant.step = fragile_step;
  sound_inject = r->plant.inject;
  r->plant.inject = fragile_inject;
  lowest = -INFINITY;
  for (int i = 0; i < 2; i++) must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  must(bramah_filter_new(&r->plant, 2, r->sensor, &o, &diag, &r->filter), &diag);
  must(bramah_rewind_new(r->filter, &w, &diag, &r->rewind), &diag);
}

static void teardown(rig *r)
{
  bramah_rewind_free(r->rewind);
  bramah_filter_free(r->filter);
}

static void assert_same(const rig *a, const rig *b)
{
  unsigned char sa[1024], sb[1024];
  ck_assert_uint_le(bramah_filter_snapshot_size(a->filter), sizeof sa);
  bramah_filter_save(a->filter, sa);
  bramah_filter_save(b->filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a->filter));
}

static void advance(rig *r, int n)
{
  for (int k = 0; k < n; k++) must(bramah_rewind_advance(r->rewind, &diag), &diag);
}

static void give(rig *r, size_t sensor, int64_t time_ns, double y)
{
  must(bramah_rewind_sample(r->rewind, sensor, time_ns, y, &diag), &diag);
}

/* One correction by hand, of samples off the time. */
static void correct_beside(rig *r, int has_encoder, int64_t encoder_ns, double encoder, int has_gyro,
                           int64_t gyro_ns, double gyro)
{
  const double y[2] = {encoder, gyro};
  const int64_t offset_ns[2] = {encoder_ns, gyro_ns};
  const unsigned char present[2] = {(unsigned char)has_encoder, (unsigned char)has_gyro};
  must(bramah_filter_correct_at(r->filter, y, present, offset_ns, &diag), &diag);
}

static void correct(rig *r, int has_encoder, double encoder, int has_gyro, double gyro)
{
  correct_beside(r, has_encoder, 0, encoder, has_gyro, 0, gyro);
}

TEST(options_and_memory_are_checked)
{
  static const bramah_rewind_options bad[6] = {{-1, 1, 1},         {INT64_MAX, 1, 1}, {1000000, 0, 1},
                                               {1000000, 1001, 1}, {1000000, 1, 0},   {1000000, 1, 1001}};
  rig r;
  bramah_rewind *other = NULL;
  setup(&r, 10, 1, 1);
  for (int i = 0; i < 6; i++) {
    ck_assert_int_eq(bramah_rewind_new(r.filter, &bad[i], &diag, &other), BRAMAH_E_VALUE);
    ck_assert_str_eq(diag.thing, "rewind");
    ck_assert_uint_eq(bramah_rewind_size(r.filter, &bad[i]), 0);
  }
  const size_t size = bramah_rewind_size(r.filter, NULL);
  unsigned char *mem = aligned_alloc(64, size + 64);
  ck_assert_uint_eq(size % 64, 0);
  ck_assert_int_eq(bramah_rewind_init(r.filter, NULL, mem, size - 1, &diag, &other), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_rewind_init(r.filter, NULL, mem, 8, &diag, &other), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_rewind_init(r.filter, NULL, NULL, size, &diag, &other), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_rewind_init(r.filter, NULL, mem + 8, size, &diag, &other), BRAMAH_E_ARGUMENT);
  ck_assert_ptr_null(other);
  must(bramah_rewind_init(r.filter, NULL, mem, size, &diag, &other), &diag);
  ck_assert_int_eq(bramah_rewind_get_report(other).oldest_ns, -ms / 2);
  bramah_rewind_free(other); /* not its memory: a second free would be seen by the sanitizer */
  free(mem);
  bramah_rewind_free(NULL);
  teardown(&r);
}

/* Fewer snapshots, less memory. */
TEST(sparse_snapshots_save_memory)
{
  rig r;
  setup(&r, 10, 1, 1);
  const bramah_rewind_options dense = {100 * ms, 1, 1}, sparse = {100 * ms, 20, 1};
  const size_t snapshot = bramah_filter_snapshot_size(r.filter);
  ck_assert_uint_ge(bramah_rewind_size(r.filter, &dense),
                    bramah_rewind_size(r.filter, &sparse) + 40 * snapshot);
  teardown(&r);
}

TEST(samples_outside_the_window_are_refused)
{
  rig r;
  setup(&r, 10, 4, 1);
  ck_assert_int_eq(bramah_rewind_get_report(r.rewind).oldest_ns, -ms / 2);
  advance(&r, 30);
  unsigned char before[1024], after[1024];
  bramah_filter_save(r.filter, before);
  ck_assert_int_eq(bramah_rewind_get_report(r.rewind).oldest_ns, 19500000);
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 0, 19499999, 0.4, &diag), BRAMAH_E_TIME);
  ck_assert_str_eq(diag.thing, "encoder");
  ck_assert_str_eq(
      diag.message,
      "a sample measured at 0.019499999 s is older than the longest delay; the estimate is at 0.03 s");
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 1, -ms, 0.4, &diag), BRAMAH_E_TIME);
  ck_assert_ptr_nonnull(strstr(diag.message, "before the start"));
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 1, INT64_MIN, 0.4, &diag), BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 1, 31500000, 0.4, &diag), BRAMAH_E_VALUE);
  ck_assert_ptr_nonnull(strstr(diag.message, "beyond the coming step"));
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 1, INT64_MAX, 0.4, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 2, 30 * ms, 0.4, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_rewind_sample(r.rewind, 0, 30 * ms, NAN, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "encoder");
  must(bramah_rewind_settle(r.rewind, &diag), &diag);
  bramah_filter_save(r.filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(r.filter));
  bramah_rewind_report counts = bramah_rewind_get_report(r.rewind);
  ck_assert_uint_eq(counts.too_old, 1);
  ck_assert_uint_eq(counts.before_start, 2);
  ck_assert_uint_eq(counts.samples, 0);
  ck_assert_uint_eq(counts.rewinds, 0);
  give(&r, 0, 19500000, 0.4); /* the oldest, and the latest */
  give(&r, 1, 31499999, 0.0);
  advance(&r, 1);
  counts = bramah_rewind_get_report(r.rewind);
  ck_assert_uint_eq(counts.samples, 2);
  ck_assert_uint_eq(counts.late, 1);
  ck_assert_uint_eq(counts.rewinds, 1);
  ck_assert_int_eq(counts.deepest_ns, 11 * ms); /* for the estimate of 31 ms */
  ck_assert_uint_eq(counts.recomputed, 10);     /* 20 has a snapshot */
  give(&r, 0, 23 * ms, 0.4);
  must(bramah_rewind_settle(r.rewind, &diag), &diag);
  ck_assert_uint_eq(bramah_rewind_get_report(r.rewind).recomputed, 10 + 11); /* from 20 to 31 */
  teardown(&r);
}

/* Halfway between two steps belongs to the later. */
TEST(samples_belong_to_the_nearest_step)
{
  rig a, b;
  setup(&a, 10, 1, 1);
  setup(&b, 10, 1, 1);
  advance(&a, 5);
  give(&a, 0, 2 * ms + ms / 2, 0.45);
  give(&a, 1, 4 * ms + ms / 2 - 1, 0.1);
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  for (int k = 1; k <= 5; k++) {
    must(bramah_filter_predict(b.filter, &diag), &diag);
    correct_beside(&b, k == 3, -ms / 2, 0.45, k == 4, ms / 2 - 1, 0.1);
  }
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

/* First with first, second with second, in order of measurement. */
TEST(several_samples_at_a_step_do_not_depend_on_arrival)
{
  static const int order[4][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
  static const int64_t at[3] = {2700000, 3000000, 3200000};
  static const double y[3] = {0.42, 0.44, 0.37};
  rig by_hand;
  setup(&by_hand, 10, 1, 1);
  for (int k = 0; k < 3; k++) must(bramah_filter_predict(by_hand.filter, &diag), &diag);
  correct_beside(&by_hand, 1, -300000, 0.42, 1, 100000, -0.3);
  correct_beside(&by_hand, 1, 0, 0.44, 0, 0, 0.0);
  correct_beside(&by_hand, 1, 200000, 0.37, 0, 0, 0.0);
  for (int k = 0; k < 4; k++) must(bramah_filter_predict(by_hand.filter, &diag), &diag);
  for (int i = 0; i < 4; i++) {
    rig r;
    setup(&r, 10, 2, 3);
    advance(&r, 6);
    for (int k = 0; k < 3; k++) {
      give(&r, 0, at[order[i][k]], y[order[i][k]]);
      if (k == i % 3) give(&r, 1, 3100000, -0.3);
      if (k == 1) advance(&r, 1);
    }
    must(bramah_rewind_settle(r.rewind, &diag), &diag);
    assert_same(&r, &by_hand);
    teardown(&r);
  }
  teardown(&by_hand);
}

TEST(of_too_many_samples_the_last_measured_count)
{
  static const int order[3][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}};
  static const int64_t at[4] = {2700000, 3000000, 3200000, 3200000};
  static const double y[4] = {0.42, 0.44, 0.37, 0.38};
  rig by_hand;
  setup(&by_hand, 10, 1, 1);
  for (int k = 0; k < 3; k++) must(bramah_filter_predict(by_hand.filter, &diag), &diag);
  correct_beside(&by_hand, 1, 200000, 0.37, 0, 0, 0.0);
  correct_beside(&by_hand, 1, 200000, 0.38, 0, 0, 0.0); /* at the same time: by value */
  for (int k = 0; k < 3; k++) must(bramah_filter_predict(by_hand.filter, &diag), &diag);
  for (int i = 0; i < 3; i++) {
    rig r;
    setup(&r, 10, 1, 2);
    advance(&r, 6);
    for (int k = 0; k < 4; k++) {
      give(&r, 0, at[order[i][k]], y[order[i][k]]);
      if (i == 1) must(bramah_rewind_settle(r.rewind, &diag), &diag);
    }
    must(bramah_rewind_settle(r.rewind, &diag), &diag);
    ck_assert_uint_eq(bramah_rewind_get_report(r.rewind).crowded, 2);
    assert_same(&r, &by_hand);
    teardown(&r);
  }
  teardown(&by_hand);
}

/* Inputs given twice at a time; a late sample from before the change; one from before the start of the
 * inputs. */
TEST(inputs_are_held_where_they_were_given)
{
  rig a, b;
  setup(&a, 10, 3, 1);
  setup(&b, 10, 1, 1);
  const double first = 3.0, wrong = -8.0, second = 1.5;
  must(bramah_rewind_set_inputs(a.rewind, &first, &diag), &diag);
  advance(&a, 4);
  must(bramah_rewind_set_inputs(a.rewind, &wrong, &diag), &diag);
  must(bramah_rewind_set_inputs(a.rewind, &second, &diag), &diag);
  advance(&a, 4);
  give(&a, 1, 2 * ms, 0.05);
  give(&a, 0, 0, 0.5);
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  correct(&b, 1, 0.5, 0, 0.0);
  must(bramah_filter_set_inputs(b.filter, &first, &diag), &diag);
  for (int k = 1; k <= 8; k++) {
    must(bramah_filter_predict(b.filter, &diag), &diag);
    correct(&b, 0, 0.0, k == 2, 0.05);
    if (k == 4) must(bramah_filter_set_inputs(b.filter, &second, &diag), &diag);
  }
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

/* Each sample is reported once, with the innovation it had when it was new. */
TEST(innovations_are_those_of_the_first_use)
{
  rig a, b;
  size_t dof_by_hand;
  setup(&a, 10, 1, 1);
  setup(&b, 10, 1, 1);
  advance(&a, 1);
  give(&a, 1, 2 * ms, 0.2);
  advance(&a, 1);
  bramah_rewind_report report = bramah_rewind_get_report(a.rewind);
  const bramah_rewind_use *use = report.use;
  for (int k = 0; k < 2; k++) must(bramah_filter_predict(b.filter, &diag), &diag);
  correct(&b, 0, 0.0, 1, 0.2);
  const bramah_innovation gyro = bramah_filter_get_last(b.filter).innovation[1];
  const double gyro_nis = bramah_filter_get_last(b.filter).nis;
  ck_assert_uint_eq(report.n_uses, 1);
  ck_assert_uint_eq(use[0].sensor, 1);
  ck_assert_int_eq(use[0].time_ns, 2 * ms);
  ck_assert_double_eq(use[0].y, 0.2);
  ck_assert_double_eq(use[0].innovation.innovation, gyro.innovation);
  ck_assert_double_eq(use[0].innovation.sigma, gyro.sigma);
  ck_assert_double_eq(report.nis, gyro_nis);
  ck_assert_uint_eq(report.nis_dof, 1);
  advance(&a, 3);
  ck_assert_uint_eq(bramah_rewind_get_report(a.rewind).n_uses, 0);
  give(&a, 0, 2 * ms, 0.43); /* joins the gyro, which is not new */
  give(&a, 0, 1 * ms, 0.41); /* alone and new */
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  report = bramah_rewind_get_report(a.rewind);
  use = report.use;
  ck_assert_uint_eq(report.n_uses, 2);
  ck_assert_int_eq(use[0].time_ns, 1 * ms);
  ck_assert_int_eq(use[1].time_ns, 2 * ms);
  rig c;
  setup(&c, 10, 1, 1);
  must(bramah_filter_predict(c.filter, &diag), &diag);
  correct(&c, 1, 0.41, 0, 0.0);
  double nis = filter_nis(c.filter, &dof_by_hand);
  ck_assert_uint_eq(dof_by_hand, 1);
  must(bramah_filter_predict(c.filter, &diag), &diag);
  correct(&c, 1, 0.43, 1, 0.2);
  const bramah_innovation encoder = bramah_filter_get_last(c.filter).innovation[0];
  ck_assert_double_eq(use[1].innovation.innovation, encoder.innovation);
  ck_assert_double_eq(use[1].innovation.nis, encoder.nis);
  ck_assert_double_eq(report.nis, nis + encoder.nis);
  ck_assert_uint_eq(report.nis_dof, 2);
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  ck_assert_uint_eq(bramah_rewind_get_report(a.rewind).n_uses, 0);
  teardown(&a);
  teardown(&b);
  teardown(&c);
}

/* A late sample throws the pendulum so that it cannot be stepped: nothing changes until it is given up. */
TEST(a_failed_rewind_leaves_the_estimate)
{
  rig a, b;
  setup(&a, 10, 2, 2);
  setup(&b, 10, 2, 2);
  for (int k = 0; k < 7; k++) {
    give(&a, 0, k * ms, 0.4);
    give(&b, 0, k * ms, 0.4);
    if (k < 6) advance(&a, 1), advance(&b, 1);
  }
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  must(bramah_rewind_settle(b.rewind, &diag), &diag);
  give(&a, 1, 3 * ms, 1e6);
  give(&a, 0, 7 * ms, 0.4);
  for (int again = 0; again < 2; again++) {
    ck_assert_int_eq(bramah_rewind_advance(a.rewind, &diag), BRAMAH_E_NO_CONVERGENCE);
    ck_assert_str_eq(diag.thing, "bob");
    ck_assert_str_eq(diag.message, "too fast (in the step to t = 0.004 s, computed again for late samples)");
    assert_same(&a, &b);
    ck_assert_uint_eq(bramah_rewind_get_report(a.rewind).n_uses, 0);
  }
  must(bramah_rewind_discard(a.rewind, &diag), &diag);
  assert_same(&a, &b);
  ck_assert_uint_eq(bramah_rewind_get_report(a.rewind).discarded, 2); /* the one of the coming step too */
  give(&a, 1, 5 * ms, 0.02); /* goes back to a snapshot that the failed attempt had spoilt */
  give(&b, 1, 5 * ms, 0.02);
  advance(&a, 3);
  advance(&b, 3);
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

/* The failure comes some steps after the late sample, when snapshots have been overwritten. */
TEST(discarding_mends_the_snapshots)
{
  rig a, b;
  setup(&a, 10, 2, 2);
  setup(&b, 10, 2, 2);
  lowest = 0.3997;
  advance(&a, 9);
  advance(&b, 9);
  give(&a, 1, 3 * ms, -3.0); /* out by 11 mrad, then back by 3 mrad with each step */
  ck_assert_int_eq(bramah_rewind_settle(a.rewind, &diag), BRAMAH_E_NO_CONVERGENCE);
  ck_assert_str_eq(diag.message, "too low (in the step to t = 0.008 s, computed again for late samples)");
  assert_same(&a, &b);
  must(bramah_rewind_discard(a.rewind, &diag), &diag);
  assert_same(&a, &b);
  give(&a, 1, 5 * ms, -0.02);
  give(&b, 1, 5 * ms, -0.02);
  advance(&a, 1);
  advance(&b, 1);
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

TEST(a_failed_correction_stays_at_the_present)
{
  rig a, b;
  setup(&a, 10, 1, 1);
  setup(&b, 10, 1, 1);
  advance(&a, 2);
  advance(&b, 2);
  give(&a, 1, 3 * ms, 1e9);
  ck_assert_int_eq(bramah_rewind_advance(a.rewind, &diag), BRAMAH_E_CLOSURE);
  ck_assert_str_eq(diag.message, "absurd (in the step to t = 0.003 s)");
  assert_same(&a, &b);
  must(bramah_rewind_discard(a.rewind, &diag), &diag);
  give(&a, 0, 1 * ms, 0.41);
  give(&b, 0, 1 * ms, 0.41);
  advance(&a, 2);
  advance(&b, 2);
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

TEST(a_failed_step_stays_at_the_present)
{
  rig a, b;
  setup(&a, 10, 1, 1);
  setup(&b, 10, 1, 1);
  advance(&a, 1);
  advance(&b, 1);
  give(&a, 1, 2 * ms, 1e6); /* fused at 2 ms; the step from there fails */
  give(&b, 1, 2 * ms, 1e6);
  advance(&a, 1);
  advance(&b, 1);
  give(&a, 0, 3 * ms, 0.4);
  ck_assert_int_eq(bramah_rewind_advance(a.rewind, &diag), BRAMAH_E_NO_CONVERGENCE);
  ck_assert_str_eq(diag.message, "too fast (in the step to t = 0.003 s)");
  ck_assert_int_eq(bramah_filter_time_ns(a.filter), 2 * ms);
  assert_same(&a, &b);
  teardown(&a);
  teardown(&b);
}

/* A sensor in time and one as late as can be: all of the ring is in use, whatever its phase. */
TEST(samples_as_late_as_allowed_are_used)
{
  enum { W = 5, STEPS = 40 };
  for (size_t every = 1; every <= 7; every++) {
    rig a, b;
    setup(&a, W, every, 1);
    setup(&b, W, 1, 1);
    for (int k = 0; k <= STEPS + W; k++) {
      if (k > W) give(&a, 0, (k - 1 - W) * ms, 0.4 - 1e-4 * (k - 1 - W));
      give(&a, 1, k * ms, -0.01 * k);
      must(k ? bramah_rewind_advance(a.rewind, &diag) : bramah_rewind_settle(a.rewind, &diag), &diag);
    }
    for (int k = 0; k <= STEPS + W; k++) {
      if (k) must(bramah_filter_predict(b.filter, &diag), &diag);
      correct(&b, k < STEPS, 0.4 - 1e-4 * k, 1, -0.01 * k);
    }
    assert_same(&a, &b);
    ck_assert_uint_le(bramah_rewind_get_report(a.rewind).recomputed, STEPS * (W + every - 1));
    teardown(&a);
    teardown(&b);
  }
}

TEST(without_late_samples_nothing_is_made_again)
{
  rig a, b;
  setup(&a, 10, 1, 1);
  setup(&b, 10, 1, 1);
  for (int k = 0; k <= 50; k++) {
    if (k) must(bramah_filter_predict(b.filter, &diag), &diag);
    correct(&b, 1, 0.4 - 1e-4 * k, k % 3 == 0, -0.1);
    give(&a, 0, k * ms, 0.4 - 1e-4 * k);
    if (k % 3 == 0) give(&a, 1, k * ms, -0.1);
    if (k) advance(&a, 1);
  }
  assert_same(&a, &b);
  const bramah_rewind_report counts = bramah_rewind_get_report(a.rewind);
  ck_assert_uint_eq(counts.samples, 51 + 17);
  ck_assert_uint_eq(counts.late + counts.rewinds + counts.recomputed, 0);
  teardown(&a);
  teardown(&b);
}

int main(void) { return run_tests("rewind"); }
