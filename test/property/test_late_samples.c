/* SPDX-License-Identifier: MIT */
/* Samples that arrive late and out of order: once all are there, the filter has the bits of the log in order;
 * and before that those of the samples known so far. */
#include "bramah/replay.h"
#include "lib/plant/plant_table.h"
#include "test/support/driven.h"
#include "test/support/four_bar.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_diag diag;
static const int64_t ms = 1000000;

enum { MOST_SENSORS = 5, MOST_SAMPLES = 8000 };

/* A filter with the machine under it. */
typedef struct rig {
  pendulum model;
  four_bar fb;
  driven slider;
  const bramah_model *machine;
  bramah_coupled *c;
  bramah_plant plant;
  bramah_sensor sensor[MOST_SENSORS];
  size_t n_sensors;
  bramah_filter *filter;
} rig;

typedef void (*maker)(rig *r, int wrong); /* wrong: as the filter believes, not as it is */

static void bind(rig *r, size_t n, const bramah_sensor_options *options, const bramah_filter_options *o)
{
  r->n_sensors = n;
  for (size_t i = 0; i < n; i++)
    must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  must(bramah_filter_new(&r->plant, n, r->sensor, o, &diag, &r->filter), &diag);
}

static void make_pendulum(rig *r, int wrong)
{
  static const bramah_sensor_options options[2] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "bob", .sigma = 0.05}};
  static const double sp = 0.3, sv = 0.5, q = 0.02;
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = NULL,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = NULL,
                                   .acceleration_noise = &q,
                                   .first_order_noise = NULL};
  *r = (rig){.model = {wrong ? 1.1 : 0.8, 0.0, 0.0, 1.0, 0.1}};
  r->plant = pendulum_plant(&r->model, ms);
  bind(r, 2, options, &o);
}

static void make_four_bar(rig *r, int wrong)
{
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5};
  static const bramah_sensor_options options[5] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.0174},
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 9.84e-4},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e4},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e4}};
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = NULL,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  const double angle = (wrong ? 63.0 : 60.0) * 3.14159265358979323846 / 180.0, rest = 0.0;
  const size_t crank = 0;
  *r = (rig){0};
  four_bar_describe(&r->fb, wrong ? 1.1 : 1.0, ms);
  must(bramah_model_new(&r->fb.machine, &diag, &r->machine), &diag);
  must(bramah_coupled_new(r->machine, &diag, &r->c), &diag);
  must(bramah_coupled_start(r->c, 1, &crank, &angle, &rest, NULL, &diag), &diag);
  r->plant = bramah_coupled_plant(r->c);
  bind(r, 5, options, &o);
}

/* Its independent coordinate changes meanwhile, so that the buffer goes back over such changes too. */
static void make_slider(rig *r, int wrong)
{
  static const bramah_sensor_options options[1] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.01}};
  static const double sp = 0.02, sv = 0.1, q = 0.1;
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = NULL,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = NULL,
                                   .acceleration_noise = &q,
                                   .first_order_noise = NULL};
  *r = (rig){0};
  shaken_slider_describe(&r->slider, ms);
  driven_open(&r->slider);
  r->plant = r->slider.p;
  bind(r, 1, options, &o);
  if (!wrong) return;
  double dx[2] = {0.005, 0.0};
  must(r->plant.inject(r->plant.self, dx, &diag), &diag);
}

static void destroy(rig *r)
{
  bramah_filter_free(r->filter);
  if (r->slider.c) driven_close(&r->slider);
  if (r->c) bramah_coupled_free(r->c);
  if (r->machine) bramah_model_free(r->machine);
}

/* ---- a log ---- */

typedef struct event {
  size_t sensor;
  int64_t point;
  int64_t time_ns; /* of measurement, a little off the grid */
  int64_t arrival_ns;
  double y;
} event;

typedef struct journal {
  event event[MOST_SAMPLES];
  size_t n;
  int64_t steps;
} journal;

static double command(int64_t point) { return point < 60 ? 0.0 : point < 200 ? 10.0 : -4.0; }
static int command_changes(int64_t point) { return point == 0 || point == 60 || point == 200; }

static void add_event(journal *j, size_t sensor, int64_t point, double y, unsigned *seed)
{
  const int64_t jitter = point ? (int64_t)(0.45e6 * test_uniform(seed)) : 0;
  const int64_t time_ns = point * ms + jitter;
  const int64_t delay_ns = (int64_t)(25e6 * (1.0 + test_uniform(seed))); /* 0 to 50 ms */
  ck_assert_uint_lt(j->n, MOST_SAMPLES);
  j->event[j->n++] = (event){sensor, point, time_ns, time_ns + delay_ns, y};
}

/* What noisy sensors measure at rates of their own, with dropouts. */
static journal *make_journal(maker make, int64_t steps, unsigned *seed)
{
  journal *j = calloc(1, sizeof *j);
  rig truth;
  make(&truth, 0);
  const bramah_plant *plant = &truth.plant;
  for (int64_t k = 0; k <= steps; k++) {
    for (size_t i = 0; i < truth.n_sensors; i++) {
      const double y =
          bramah_sensor_predict(&truth.sensor[i], plant) + truth.sensor[i].sigma * test_normal(seed);
      const int dropout = test_uniform(seed) > 0.8 || (k > 150 && k < 180);
      if (k % (int64_t)(1 + i) == 0 && !dropout) add_event(j, i, k, y, seed);
    }
    const double u[2] = {command(k), 0.0};
    if (plant->n_input) must(plant->set_inputs(plant->self, u, &diag), &diag);
    if (k < steps) must(plant->step(plant->self, &diag), &diag);
  }
  destroy(&truth);
  j->steps = steps;
  return j;
}

/* The plain filter over all points up to `last`, with the samples that have arrived by arrival_ns. */
static void run_in_order(rig *r, const journal *j, int64_t last, int64_t arrival_ns)
{
  for (int64_t k = 0; k <= last; k++) {
    double y[MOST_SENSORS] = {0};
    unsigned char present[MOST_SENSORS] = {0};
    int64_t offset_ns[MOST_SENSORS] = {0};
    for (size_t e = 0; e < j->n; e++) {
      const event *now = &j->event[e];
      if (now->point != k || now->arrival_ns > arrival_ns) continue;
      y[now->sensor] = now->y;
      present[now->sensor] = 1;
      offset_ns[now->sensor] = now->time_ns - k * ms;
    }
    if (k) must(bramah_filter_predict(r->filter, &diag), &diag);
    must(bramah_filter_correct_at(r->filter, y, present, offset_ns, &diag), &diag);
    const double u[2] = {command(k), 0.0};
    if (r->plant.n_input && command_changes(k)) must(bramah_filter_set_inputs(r->filter, u, &diag), &diag);
  }
}

static int sooner(const void *a, const void *b)
{
  const event *x = a, *y = b;
  return (x->arrival_ns > y->arrival_ns) - (x->arrival_ns < y->arrival_ns);
}

static void assert_same(const rig *a, const rig *b)
{
  const size_t n = bramah_filter_snapshot_size(a->filter);
  void *sa = calloc(1, n), *sb = calloc(1, n);
  bramah_filter_save(a->filter, sa);
  bramah_filter_save(b->filter, sb);
  ck_assert_mem_eq(sa, sb, n);
  free(sa);
  free(sb);
}

/* The estimate of now is the one of a filter that was given in order what has arrived by now. */
static void check_causal(maker make, const rig *r, const journal *j, int64_t k)
{
  rig known;
  make(&known, 1);
  run_in_order(&known, j, k, k * ms);
  assert_same(r, &known);
  destroy(&known);
}

static void arrive_and_settle(maker make, unsigned seed, size_t every, int64_t steps)
{
  journal *j = make_journal(make, steps, &seed);
  rig late, ordered;
  bramah_rewind *rewind;
  make(&late, 1);
  make(&ordered, 1);
  const bramah_rewind_options o = {
      .longest_delay_ns = 51 * ms, .snapshot_every = every, .samples_per_step = 1};
  must(bramah_rewind_new(late.filter, &o, &diag, &rewind), &diag);
  qsort(j->event, j->n, sizeof *j->event, sooner);
  size_t e = 0, used = 0;
  for (int64_t k = 0; k <= steps; k++) {
    for (; e < j->n && j->event[e].arrival_ns <= k * ms; e++)
      must(bramah_rewind_sample(rewind, j->event[e].sensor, j->event[e].time_ns, j->event[e].y, &diag),
           &diag);
    must(k ? bramah_rewind_advance(rewind, &diag) : bramah_rewind_settle(rewind, &diag), &diag);
    used += bramah_rewind_get_report(rewind).n_uses;
    if (k % 97 == 5) check_causal(make, &late, j, k);
    const double u[2] = {command(k), 0.0};
    if (late.plant.n_input && command_changes(k)) must(bramah_rewind_set_inputs(rewind, u, &diag), &diag);
  }
  for (; e < j->n; e++)
    must(bramah_rewind_sample(rewind, j->event[e].sensor, j->event[e].time_ns, j->event[e].y, &diag), &diag);
  must(bramah_rewind_settle(rewind, &diag), &diag);
  ck_assert_uint_eq(used + bramah_rewind_get_report(rewind).n_uses, j->n); /* each is used once */
  run_in_order(&ordered, j, steps, INT64_MAX);
  assert_same(&late, &ordered);
  const bramah_rewind_report counts = bramah_rewind_get_report(rewind);
  ck_assert_uint_eq(counts.samples, j->n);
  ck_assert_uint_gt(counts.late, j->n * 9 / 10);
  ck_assert_uint_gt(counts.rewinds, (unsigned)steps / 4);
  ck_assert_int_gt(counts.deepest_ns, 45 * ms);
  ck_assert_int_le(counts.deepest_ns, 52 * ms);
  ck_assert_uint_le(counts.recomputed, counts.rewinds * (51 + every - 1));
  bramah_rewind_free(rewind);
  destroy(&late);
  destroy(&ordered);
  free(j);
}

/* The slider is of use only if its independent coordinate really changes meanwhile. */
static void assert_coordinates_change(void)
{
  rig r;
  make_slider(&r, 0);
  char first[64] = "";
  int changes = 0;
  strncat(first, bramah__plant_state_name(&r.plant, 0), sizeof first - 1);
  for (int k = 0; k < 600; k++) {
    must(r.plant.step(r.plant.self, &diag), &diag);
    changes += strcmp(first, bramah__plant_state_name(&r.plant, 0)) != 0;
  }
  ck_assert_int_gt(changes, 50);
  destroy(&r);
}

static const size_t every_of[4] = {1, 2, 7, 60};

EACH_TEST(pendulum_settles_to_the_bits_of_the_ordered_log, 0, 4)
{
  for (unsigned seed = 1; seed <= 3; seed++) arrive_and_settle(make_pendulum, seed, every_of[_i], 400);
}

EACH_TEST(four_bar_settles_to_the_bits_of_the_ordered_log, 0, 4)
{
  arrive_and_settle(make_four_bar, 11, every_of[_i], 300);
}

EACH_TEST(slider_with_changing_coordinates_too, 0, 4)
{
  assert_coordinates_change();
  arrive_and_settle(make_slider, 21, every_of[_i], 600);
}

/* Nothing advances between the samples: all come at the end, in any order, some in groups. */
TEST(any_order_of_arrival_gives_the_same)
{
  unsigned seed = 5;
  rig ordered;
  journal *j = make_journal(make_four_bar, 50, &seed);
  make_four_bar(&ordered, 1);
  run_in_order(&ordered, j, 50, INT64_MAX);
  for (int trial = 0; trial < 5; trial++) {
    rig late;
    bramah_rewind *rewind;
    make_four_bar(&late, 1);
    const bramah_rewind_options o = {.longest_delay_ns = 50 * ms, .snapshot_every = 3, .samples_per_step = 4};
    must(bramah_rewind_new(late.filter, &o, &diag, &rewind), &diag);
    const double u = command(0);
    must(bramah_rewind_set_inputs(rewind, &u, &diag), &diag);
    for (int k = 0; k < 50; k++) must(bramah_rewind_advance(rewind, &diag), &diag);
    for (size_t e = j->n - 1; e > 0; e--) { /* Fisher and Yates */
      const size_t other = (size_t)((test_uniform(&seed) + 1.0) / 2.0 * (double)e);
      const event kept = j->event[e];
      j->event[e] = j->event[other];
      j->event[other] = kept;
    }
    for (size_t e = 0; e < j->n; e++) {
      must(bramah_rewind_sample(rewind, j->event[e].sensor, j->event[e].time_ns, j->event[e].y, &diag),
           &diag);
      if (test_uniform(&seed) > 0.6) must(bramah_rewind_settle(rewind, &diag), &diag);
    }
    must(bramah_rewind_settle(rewind, &diag), &diag);
    assert_same(&late, &ordered);
    bramah_rewind_free(rewind);
    destroy(&late);
  }
  destroy(&ordered);
  free(j);
}

int main(void) { return run_tests("late samples"); }
