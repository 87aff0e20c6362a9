/* SPDX-License-Identifier: MIT */
/* The monitor on a plant whose step is exactly linear, with biases of all sensors considered: as many false findings as
 * its statistics say, jumps of a sensor and of a bias found by their size and time, late samples and snapshots. */
#include "bramah/monitor.h"
#include "test/campaign/draw.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS = LINEAR_SENSORS, STEPS = LINEAR_STEPS, N = LINEAR_N, STEP_NS = 10000000 };

static bramah_diag diag;
static linear_run base; /* sensors, noises, coordinates that change at step 150 */
static const double start_sigma[N] = {2e-2, 1e-2, 5e-2, 8e-2, 5e4, 8e4};

/* A filter with its truth and its monitor. */
typedef struct rig {
  linear_plant truth, object;
  bramah_plant true_plant, plant;
  bramah_sensor sensor[SENSORS];
  bramah_augmented bias[SENSORS];
  bramah_filter *filter;
  bramah_monitor *monitor;
  double off[SENSORS]; /* what sensors show too much */
  uint64_t key;
} rig;

static void open_rig(rig *r, uint64_t key, int64_t delay_ns)
{
  linear_run_make(&base, 150);
  *r = (rig){.truth = base.object, .object = base.object, .key = key};
  r->truth.change_at = -1;
  r->true_plant = linear_plant_table(&r->truth);
  r->plant = linear_plant_table(&r->object);
  for (size_t i = 0; i < N; i++) r->truth.x[i] += start_sigma[i] * draw_normal(draw_key(key, 0, 0), i);
  for (size_t i = 0; i < SENSORS; i++) {
    r->sensor[i] = base.sensor[i];
    r->bias[i] = (bramah_augmented){.name = r->sensor[i].name,
                                    .kind = BRAMAH_AUGMENTED_BIAS,
                                    .at = r->sensor[i].name,
                                    .sigma = 2.0 * r->sensor[i].sigma,
                                    .noise = 0.2 * r->sensor[i].sigma,
                                    .role = BRAMAH_AUGMENTED_CONSIDERED};
    r->off[i] = r->bias[i].sigma * draw_normal(draw_key(key, 1, 0), i);
  }
  r->sensor[3].delay_ns = delay_ns;
  bramah_filter_options o = base.options;
  o.n_augmented = SENSORS;
  o.augmented = r->bias;
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
  must(bramah_monitor_new(r->filter, &diag, &r->monitor), &diag);
}

static void close_rig(rig *r)
{
  bramah_monitor_free(r->monitor);
  bramah_filter_free(r->filter);
}

/* Step k of truth and filter; y: what the sensors show then. */
static void step(rig *r, size_t k, double *y)
{
  double Q[N * N], L[N * N] = {0.0};
  linear_run_noise(&base, Q);
  r->truth.u = sin(0.07 * (double)k);
  must(bramah_filter_set_inputs(r->filter, &r->truth.u, &diag), &diag);
  must(r->true_plant.step(&r->truth, &diag), &diag);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = Q[i * N + j];
      for (size_t c = 0; c < j; c++) sum -= L[i * N + c] * L[j * N + c];
      L[i * N + j] = i == j ? sqrt(sum) : sum / L[j * N + j];
      r->truth.x[i] += L[i * N + j] * draw_normal(draw_key(r->key, 2, k), j);
    }
  for (size_t i = 0; i < SENSORS; i++) {
    r->off[i] += r->bias[i].noise * sqrt(1e-9 * STEP_NS) * draw_normal(draw_key(r->key, 3, k), i);
    y[i] = bramah_sensor_predict(&r->sensor[i], &r->true_plant) + r->off[i] +
           r->sensor[i].sigma * draw_normal(draw_key(r->key, 4, k), i);
  }
  must(bramah_filter_predict(r->filter, &diag), &diag);
  bramah_monitor_watch(r->monitor, BRAMAH_FILTER_PREDICTED);
}

static void correct(rig *r, const double *y, size_t without)
{
  unsigned char present[SENSORS];
  for (size_t i = 0; i < SENSORS; i++) present[i] = i != without;
  must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
  bramah_monitor_watch(r->monitor, BRAMAH_FILTER_CORRECTED);
}

static void run(rig *r, size_t from, size_t to)
{
  double y[SENSORS];
  for (size_t k = from; k < to; k++) {
    step(r, k, y);
    correct(r, y, SENSORS);
  }
}

/* Of so many runs each subject's worst window is beyond a limit that it passes in 95 of 100 if its tests are independent;
 * windows of three lengths over the same time are not, so that it is fewer. */
TEST(test_white)
{
  enum { RUNS = 150 };
  int beyond[2] = {0, 0};
  for (uint64_t key = 1; key <= RUNS; key++) {
    rig r;
    open_rig(&r, key, 0);
    run(&r, 0, STEPS);
    for (size_t i = 0; i < SENSORS; i++) {
      const bramah_monitor_worst worst[2] = {bramah_monitor_state(r.monitor, i, 0.0),
                                             bramah_monitor_offset(r.monitor, i, 0.0)};
      for (int of = 0; of < 2; of++) {
        ck_assert_uint_ge(worst[of].tests, 39 + 12 + 3);
        beyond[of] += erfc(worst[of].size / sqrt(2.0)) < 1.0 - pow(0.95, 1.0 / (double)worst[of].tests);
      }
    }
    close_rig(&r);
  }
  printf("beyond the 95 %% limit, of %d: %d biases, %d offsets\n", RUNS * SENSORS, beyond[0], beyond[1]);
  for (int of = 0; of < 2; of++) {
    ck_assert_int_le(beyond[of], (int)(0.05 * RUNS * SENSORS + 3.0 * sqrt(0.05 * RUNS * SENSORS)));
    ck_assert_int_ge(beyond[of], 2 * of); /* of states that are told little no test goes beyond */
  }
}

/* A pressure that shows too much from 2 s on, by 0.2 to 10 of its bias's standard deviations. */
TEST(test_jump)
{
  static const double size[] = {0.2, 3.0, 10.0};
  for (size_t c = 0; c < 3; c++) {
    rig r;
    open_rig(&r, 7, 0);
    run(&r, 0, 200);
    const bramah_monitor_worst before = bramah_monitor_offset(r.monitor, 3, 5.5);
    r.off[3] += size[c] * r.bias[3].sigma;
    run(&r, 200, STEPS);
    const bramah_monitor_worst bias = bramah_monitor_state(r.monitor, 3, 5.5),
                               offset = bramah_monitor_offset(r.monitor, 3, 5.5);
    printf("%g sigma: bias %.1f (%.3g), offset %.1f (%.3g), %.2f to %.2f s\n", size[c], bias.size,
           bias.amount, offset.size, offset.amount, 1e-9 * (double)offset.begin_ns,
           1e-9 * (double)offset.end_ns);
    ck_assert_double_lt(before.size, 5.5);
    ck_assert_int_eq(offset.size > 5.5, c > 0);
    ck_assert_int_eq(bias.size > 5.5, c > 1); /* what changes by less than 1.65 stated sigmas is not judged */
    if (c) {
      ck_assert_int_ge(offset.begin_ns, 1900000000); /* a window of 0.1 s may have begun a little before */
      /* innovations count no further out than 3 sigma: less than it is */
      ck_assert_double_ge(offset.amount, 0.4 * size[c] * r.bias[3].sigma);
      ck_assert_double_le(offset.amount, 1.4 * size[c] * r.bias[3].sigma);
    }
    close_rig(&r);
  }
}

static void same(const rig *a, const rig *b)
{
  for (size_t i = 0; i < SENSORS; i++) {
    const bramah_monitor_worst x[2] = {bramah_monitor_state(a->monitor, i, 3.0),
                                       bramah_monitor_offset(a->monitor, i, 3.0)},
                               y[2] = {bramah_monitor_state(b->monitor, i, 3.0),
                                       bramah_monitor_offset(b->monitor, i, 3.0)};
    ck_assert_mem_eq(x, y, sizeof x);
  }
}

/* A sample that comes when its step is over: what was done without it is forgotten. */
TEST(test_late_samples)
{
  rig a, b;
  open_rig(&a, 3, 50000000);
  open_rig(&b, 3, 50000000);
  void *snap = malloc(bramah_filter_snapshot_size(b.filter));
  double y[SENSORS];
  run(&a, 0, STEPS);
  for (size_t k = 0; k < STEPS; k++) {
    step(&b, k, y);
    bramah_filter_save(b.filter, snap);
    correct(&b, y, 3);
    must(bramah_filter_restore(b.filter, snap), &diag);
    bramah_monitor_watch(b.monitor, BRAMAH_FILTER_RESTORED);
    correct(&b, y, SENSORS);
  }
  same(&a, &b);
  free(snap);
  close_rig(&a);
  close_rig(&b);
}

TEST(test_snapshot)
{
  rig a, b;
  open_rig(&a, 5, 0);
  run(&a, 0, 123);
  open_rig(&b, 5, 0);
  run(&b, 0, 123);
  bramah_monitor_free(b.monitor);
  must(bramah_monitor_new(b.filter, &diag, &b.monitor), &diag);
  const size_t size = bramah_monitor_snapshot_size(a.monitor);
  unsigned char *snap = malloc(size);
  bramah_monitor_save(a.monitor, snap);
  must(bramah_monitor_restore(b.monitor, snap), &diag);
  run(&a, 123, STEPS);
  run(&b, 123, STEPS);
  same(&a, &b);
  snap[size / 2] ^= 1;
  ck_assert_int_eq(bramah_monitor_restore(b.monitor, snap), BRAMAH_E_VALUE);
  same(&a, &b);
  free(snap);
  close_rig(&a);
  close_rig(&b);
}

int main(void) { return run_tests("monitor"); }
