/* SPDX-License-Identifier: MIT */
/* Snapshots of a filter, a rewind buffer, a replay with delays and adaptive noise: they go on to the bit, and
 * nothing is restored that is damaged, of another object, or could not have been saved. */
#include "bramah/adaptive.h"
#include "bramah/replay.h"
#include "lib/base/seal.h"
#include "test/support/four_bar.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILTER, REWIND, REPLAY, ADAPTIVE, KINDS };

static bramah_diag diag;
static const int64_t ms = 1000000;

typedef struct object {
  int kind;
  pendulum model;
  bramah_plant plant;
  bramah_sensor sensor[2];
  bramah_filter *filter;
  bramah_rewind *rewind;
  bramah_replay *replay;
  bramah_adaptive *adaptive;
  int64_t row; /* the next of the replay */
} object;

/* A row each 0.7 ms. */
static bramah_status take(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  object *o = user;
  (void)end, (void)d;
  sample->time_ns = o->row * 7 * ms / 10;
  sample->present[0] = 1;
  sample->present[1] = o->row % 3 == 0;
  sample->y[0] = 0.4 + 0.001 * (double)(o->row % 5);
  sample->y[1] = 0.01;
  o->row++;
  return BRAMAH_OK;
}

/* delay_steps: of the second sensor, and the window of the rewind buffer. */
static void make_with(object *o, int kind, int delay_steps, size_t window, size_t n_augmented,
                      const bramah_augmented *augmented)
{
  const bramah_sensor_options sensors[2] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "bob", .sigma = 0.05, .delay_ns = delay_steps * ms}};
  static const double sp = 0.1, sv = 0.2, q = 0.05, least = 0.01, most = 1.0,
                      sensor_least[2] = {0.001, 0.001}, sensor_most[2] = {1.0, 1.0}, gate[2] = {50.0, 50.0};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &sp,
                                         .rate_sigma = &sv,
                                         .acceleration_noise = &q,
                                         .gate = gate,
                                         .drift_gate = 50.0,
                                         .n_augmented = n_augmented,
                                         .augmented = augmented};
  const bramah_rewind_options w = {delay_steps * ms, 2, 3};
  bramah_replay_options r;
  bramah_adaptive_options a;
  bramah_replay_options_default(&r);
  bramah_adaptive_options_default(&a);
  a.window = window;
  a.acceleration_least = &least, a.acceleration_most = &most;
  a.sensor_least = sensor_least, a.sensor_most = sensor_most;
  *o = (object){.kind = kind, .model = {0.4, 0.0, 0.0, 1.0, 0.1}};
  o->plant = pendulum_plant(&o->model, ms);
  for (int i = 0; i < 2; i++) must(bramah_sensor_init(&sensors[i], &o->plant, &diag, &o->sensor[i]), &diag);
  must(bramah_filter_new(&o->plant, 2, o->sensor, &options, &diag, &o->filter), &diag);
  if (kind == REWIND) must(bramah_rewind_new(o->filter, &w, &diag, &o->rewind), &diag);
  if (kind == REPLAY) must(bramah_replay_new(o->filter, &r, take, o, &diag, &o->replay), &diag);
  if (kind == ADAPTIVE) must(bramah_adaptive_new(o->filter, &a, &diag, &o->adaptive), &diag);
}

static void make(object *o, int kind, int delay_steps, size_t window)
{
  make_with(o, kind, delay_steps, window, 0, NULL);
}

static void make_usual(object *o, int kind) { make(o, kind, 4, 12); }

static void drop(object *o)
{
  bramah_adaptive_free(o->adaptive);
  bramah_replay_free(o->replay);
  bramah_rewind_free(o->rewind);
  bramah_filter_free(o->filter);
}

/* Some steps; errors of a state that makes no sense are what they are. */
static void go_on(object *o, int n)
{
  const double y[2] = {0.41, 0.02};
  const unsigned char present[2] = {1, 1};
  int64_t time_ns;
  int corrected, end;
  for (int k = 0; k < n; k++) {
    const int64_t now = bramah_filter_time_ns(o->filter);
    if (o->kind == REPLAY) {
      (void)bramah_replay_next(o->replay, &time_ns, &corrected, &end, &diag);
    } else if (o->kind == REWIND) {
      (void)bramah_rewind_sample(o->rewind, 0, now + ms, 0.41, &diag);
      (void)bramah_rewind_sample(o->rewind, 1, now - (k % 4) * ms, 0.02, &diag);
      (void)bramah_rewind_advance(o->rewind, &diag);
    } else {
      if (bramah_filter_predict(o->filter, &diag) == BRAMAH_OK && o->adaptive)
        bramah_adaptive_predicted(o->adaptive);
      if (bramah_filter_correct(o->filter, y, present, &diag) == BRAMAH_OK && o->adaptive)
        (void)bramah_adaptive_corrected(o->adaptive);
    }
  }
}

static size_t size_of(const object *o)
{
  return o->kind == FILTER   ? bramah_filter_snapshot_size(o->filter)
         : o->kind == REWIND ? bramah_rewind_snapshot_size(o->rewind)
         : o->kind == REPLAY ? bramah_replay_snapshot_size(o->replay)
                             : bramah_adaptive_snapshot_size(o->adaptive);
}

static void save(const object *o, void *snap)
{
  if (o->kind == FILTER) bramah_filter_save(o->filter, snap);
  if (o->kind == REWIND) bramah_rewind_save(o->rewind, snap);
  if (o->kind == REPLAY) bramah_replay_save(o->replay, snap);
  if (o->kind == ADAPTIVE) bramah_adaptive_save(o->adaptive, snap);
}

static bramah_status restore(object *o, const void *snap)
{
  return o->kind == FILTER   ? bramah_filter_restore(o->filter, snap)
         : o->kind == REWIND ? bramah_rewind_restore(o->rewind, snap)
         : o->kind == REPLAY ? bramah_replay_restore(o->replay, snap)
                             : bramah_adaptive_restore(o->adaptive, snap);
}

static bramah_status check(const object *o, const void *snap, size_t size)
{
  return o->kind == FILTER   ? bramah_filter_check_snapshot(o->filter, snap, size, &diag)
         : o->kind == REWIND ? bramah_rewind_check_snapshot(o->rewind, snap, size, &diag)
         : o->kind == REPLAY ? bramah_replay_check_snapshot(o->replay, snap, size, &diag)
                             : bramah_adaptive_check_snapshot(o->adaptive, snap, size, &diag);
}

/* Of an object that has done 20 steps; it goes on for 5. */
static unsigned char *saved(object *o)
{
  go_on(o, 20);
  unsigned char *snap = malloc(size_of(o));
  ck_assert(snap);
  save(o, snap);
  go_on(o, 5);
  return snap;
}

/* Whatever bit it is, and the object is as it was. */
EACH_TEST(each_wrong_bit_is_found, 0, KINDS)
{
  object o;
  make_usual(&o, _i);
  unsigned char *snap = saved(&o), *before = malloc(size_of(&o)), *after = malloc(size_of(&o));
  const size_t size = size_of(&o);
  ck_assert(before && after);
  save(&o, before);
  for (size_t at = 0; at < size; at++) {
    snap[at] ^= (unsigned char)(1u << at % 8);
    ck_assert_int_lt(restore(&o, snap), 0);
    snap[at] ^= (unsigned char)(1u << at % 8);
  }
  save(&o, after);
  ck_assert_mem_eq(before, after, size);
  ck_assert_int_eq(check(&o, snap, size), BRAMAH_OK);
  ck_assert_int_eq(check(&o, snap, size - 8), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(restore(&o, snap), BRAMAH_OK);
  save(&o, after);
  ck_assert_mem_eq(snap, after, size);
  free(before);
  free(after);
  free(snap);
  drop(&o);
}

/* Another kind, another window, the same but for a room. */
EACH_TEST(snapshots_of_other_objects_are_refused, 0, KINDS)
{
  object o, other;
  make_usual(&o, _i);
  unsigned char *snap = saved(&o);
  for (int kind = 0; kind < KINDS; kind++) {
    make_usual(&other, kind);
    ck_assert_int_eq(restore(&other, snap), kind == _i ? BRAMAH_OK : BRAMAH_E_REFERENCE);
    drop(&other);
  }
  make(&other, _i, 5, 13); /* a filter knows neither */
  ck_assert_int_eq(restore(&other, snap), _i == FILTER ? BRAMAH_OK : BRAMAH_E_REFERENCE);
  go_on(&other, 10);
  drop(&other);
  free(snap);
  drop(&o);
}

EACH_TEST(other_computers_are_noticed, 0, KINDS)
{
  object o;
  make_usual(&o, _i);
  unsigned char *snap = saved(&o);
  for (int reversed = 0; reversed < 2; reversed++) {
    bramah__seal s;
    memcpy(&s, snap, sizeof s);
    unsigned char *bytes = (unsigned char *)&s;
    for (size_t k = 0; k < 4 && reversed; k++) {
      const unsigned char kept = bytes[k];
      bytes[k] = bytes[7 - k], bytes[7 - k] = kept;
    }
    s.computer ^= reversed ? 0 : 1;
    unsigned char *there = malloc(size_of(&o));
    ck_assert(there);
    memcpy(there, snap, size_of(&o));
    memcpy(there, &s, sizeof s);
    ck_assert_int_eq(check(&o, there, size_of(&o)), BRAMAH_E_SYNTAX);
    ck_assert_ptr_nonnull(strstr(diag.message, "another type of computer"));
    free(there);
  }
  free(snap);
  drop(&o);
}

/* Sealed anew by somebody who knows how: each word set to what it cannot be. What is taken is worked with, for
 * sanitizers to see. */
EACH_TEST(what_could_not_have_been_saved_is_refused, 0, KINDS)
{
  static const int64_t values[] = {-1, INT64_MAX, INT64_MIN, INT64_C(1) << 40, 1000};
  object o;
  make_usual(&o, _i);
  unsigned char *snap = saved(&o);
  const size_t size = size_of(&o);
  uint64_t *there = malloc(size);
  size_t refused = 0;
  bramah__seal s;
  memcpy(&s, snap, sizeof s);
  ck_assert(there);
  for (size_t at = sizeof s / 8; at < size / 8; at++)
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      memcpy(there, snap, size);
      memcpy(there + at, &values[v], sizeof values[v]);
      bramah__seal_put(there, s.identity, size);
      if (restore(&o, there) != BRAMAH_OK)
        refused++;
      else
        go_on(&o, 3);
    }
  ck_assert_uint_ge(refused, 5);
  ck_assert_int_eq(restore(&o, snap), BRAMAH_OK);
  free(there);
  free(snap);
  drop(&o);
}

/* It goes on to the bit in a filter that was made with other noise; stepping back brings no old noise. */
TEST(noise_set_at_run_time_is_kept)
{
  static const double q = 0.7;
  object a, b;
  make_usual(&a, FILTER);
  make_usual(&b, FILTER);
  must(bramah_filter_set_noise(a.filter, &q, NULL, &diag), &diag);
  must(bramah_filter_set_sensor_sigma(a.filter, 1, 0.3, &diag), &diag);
  unsigned char *snap = saved(&a);
  must(bramah_filter_restore(b.filter, snap), &diag);
  ck_assert_double_eq(bramah_filter_get_info(b.filter).sensor[1].sigma, 0.3);
  ck_assert_double_eq(bramah_filter_get_info(b.filter).acceleration_noise[0], q);
  go_on(&b, 5);
  ck_assert_mem_eq(bramah_filter_covariance(a.filter), bramah_filter_covariance(b.filter),
                   4 * sizeof(double));
  free(snap);
  drop(&a);
  drop(&b);

  /* That of an augmented state. */
  const bramah_augmented bias = {
      .name = "bias", .kind = BRAMAH_AUGMENTED_BIAS, .at = "encoder", .sigma = 0.2, .noise = 0.1};
  object with[2];
  for (int k = 0; k < 2; k++) make_with(&with[k], FILTER, 4, 12, 1, &bias);
  must(bramah_filter_set_augmented_noise(with[0].filter, 0, 0.5, &diag), &diag);
  snap = saved(&with[0]);
  must(bramah_filter_restore(with[1].filter, snap), &diag);
  for (int k = 0; k < 2; k++) go_on(&with[k], k ? 5 : 0);
  ck_assert_mem_eq(bramah_filter_covariance(with[0].filter), bramah_filter_covariance(with[1].filter),
                   9 * sizeof(double));
  free(snap);
  for (int k = 0; k < 2; k++) drop(&with[k]);

  make_usual(&a, REWIND);
  go_on(&a, 10);
  must(bramah_filter_set_noise(a.filter, &q, NULL, &diag), &diag);
  must(bramah_rewind_sample(a.rewind, 1, bramah_filter_time_ns(a.filter) - 3 * ms, 0.0, &diag), &diag);
  must(bramah_rewind_settle(a.rewind, &diag), &diag);
  ck_assert_uint_gt(bramah_rewind_get_report(a.rewind).rewinds, 0);
  ck_assert_double_eq(bramah_filter_get_info(a.filter).acceleration_noise[0], q);
  drop(&a);
}

int main(void) { return run_tests("snapshots"); }
