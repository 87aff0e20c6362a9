/* SPDX-License-Identifier: MIT */
/* The table of faults of an embedded estimator: each has its status, changes nothing, and the next good
 * call goes on as if it had not been. And bramah_filter_step against the calls it is made of. */
#include "test/embed/rig.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

static bramah_diag diag;
static const unsigned char all[RIG_SENSORS] = {1, 1, 1, 1};

enum { N = 16 * 1024, WARM = 300 };
static unsigned char before[N], after[N], start[N];

typedef struct pair {
  rig r;     /* the filter that is disturbed */
  rig truth; /* where measurements come from */
  unsigned seed;
  double y[RIG_SENSORS], u;
} pair;

static bramah_filter_cycle next(pair *p)
{
  const int64_t now = bramah_filter_time_ns(p->r.filter);
  p->u = four_bar_command(now + 1000000000);
  must(p->truth.plant.set_inputs(p->truth.plant.self, &p->u, &diag), &diag);
  must(p->truth.plant.step(p->truth.plant.self, &diag), &diag);
  rig_measure(&p->truth, &p->seed, p->y);
  return (bramah_filter_cycle){now + RIG_STEP_NS, 1, &p->u, RIG_SENSORS, p->y, all, NULL};
}

enum { VARIANTS = 4 };

/* Of the filter: plain, square root, block with iterations, and with something estimated with the state. */
static bramah_filter_options variant(int i)
{
  static const bramah_augmented both[2] = {{.name = "bias",
                                            .kind = BRAMAH_AUGMENTED_BIAS,
                                            .at = "gyro",
                                            .order = 2,
                                            .time_constant = 5.0,
                                            .sigma = 1e-3,
                                            .noise = 1e-5},
                                           {.name = "load",
                                            .kind = BRAMAH_AUGMENTED_PARAMETER,
                                            .at = "crank.load",
                                            .sigma = 50.0,
                                            .noise = 10.0,
                                            .least = -1e3,
                                            .most = 1e3}};
  bramah_filter_options o = rig_options();
  if (i == 1) o.form = BRAMAH_COVARIANCE_SQUARE_ROOT;
  if (i == 2) o.fusion = BRAMAH_FUSION_BLOCK, o.iterations = 2;
  if (i == 3) o.transition = BRAMAH_TRANSITION_KINEMATIC, o.n_augmented = 2, o.augmented = both;
  return o;
}

static void warm_up(pair *p, int i)
{
  const bramah_filter_options o = variant(i);
  rig_make_with(&p->r, 1.1, &o);
  rig_make(&p->truth, 1.0);
  p->seed = 7;
  ck_assert_uint_le(bramah_filter_snapshot_size(p->r.filter), N);
  for (int k = 0; k < WARM; k++) {
    const bramah_filter_cycle cycle = next(p);
    must(bramah_filter_step(p->r.filter, &cycle, NULL, &diag), &diag);
  }
}

static void cool_down(pair *p)
{
  rig_free(&p->r);
  rig_free(&p->truth);
}

static void expect_unchanged(const pair *p)
{
  bramah_filter_save(p->r.filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(p->r.filter));
}

/* The faulty cycle is refused with this status and thing and leaves the filter's bits alone, and then the
 * good one gives the bits of a filter that never met the fault. */
static void refused(pair *p, const bramah_filter_cycle *good, const bramah_filter_cycle *bad,
                    bramah_status status, const char *thing)
{
  bramah_filter_step_report report = {.time_ns = -7}, fine;
  bramah_filter_save(p->r.filter, before);
  must(bramah_filter_step(p->r.filter, good, NULL, &diag), &diag);
  bramah_filter_save(p->r.filter, after);
  must(bramah_filter_restore(p->r.filter, before), &diag);
  memcpy(start, after, N);
  for (int twice = 0; twice < 2; twice++) {
    ck_assert_int_eq(bramah_filter_step(p->r.filter, bad, &report, &diag), status);
    ck_assert_str_eq(diag.thing, thing);
    ck_assert_uint_gt(strlen(diag.message), 10);
    ck_assert_int_eq(report.time_ns, -7);
    expect_unchanged(p);
  }
  must(bramah_filter_step(p->r.filter, good, &fine, &diag), &diag);
  ck_assert_int_eq(fine.time_ns, good->time_ns);
  bramah_filter_save(p->r.filter, after);
  ck_assert_mem_eq(start, after, bramah_filter_snapshot_size(p->r.filter));
}

EACH_TEST(test_numbers_that_are_none, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  const double values[] = {NAN, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    const bramah_filter_cycle good = next(&p);
    bramah_filter_cycle bad = good;
    double y[RIG_SENSORS];
    memcpy(y, p.y, sizeof y);
    y[2] = values[i];
    bad.y = y;
    refused(&p, &good, &bad, BRAMAH_E_NOT_FINITE, "p1");
    const bramah_filter_cycle again = next(&p);
    bad = again;
    bad.u = &values[i];
    refused(&p, &again, &bad, BRAMAH_E_NOT_FINITE, "valve");
  }
  cool_down(&p);
}

EACH_TEST(test_times_that_do_not_fit, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  const int64_t now = bramah_filter_time_ns(p.r.filter);
  const int64_t bad_times[] = {now,
                               now - 1,
                               now - 5 * RIG_STEP_NS,
                               -1,
                               INT64_MIN,
                               now + 1,
                               now + RIG_STEP_NS / 2,
                               now + 3 * RIG_STEP_NS / 2,
                               now + 1000 * RIG_STEP_NS,
                               INT64_MAX};
  const bramah_filter_cycle good = next(&p);
  bramah_filter_save(p.r.filter, start);
  for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++) {
    static unsigned char once[N];
    bramah_filter_cycle bad = good;
    bad.time_ns = bad_times[i];
    bramah_filter_save(p.r.filter, once);
    refused(&p, &good, &bad, BRAMAH_E_TIME, "cycle");
    must(bramah_filter_restore(p.r.filter, once), &diag);
  }
  /* lost cycles are made up for by steps without measurements */
  for (int k = 0; k < 3; k++) {
    const bramah_filter_cycle lost = {
        bramah_filter_time_ns(p.r.filter) + RIG_STEP_NS, 0, NULL, 0, NULL, NULL, NULL};
    bramah_filter_step_report report;
    must(bramah_filter_step(p.r.filter, &lost, &report, &diag), &diag);
    ck_assert_uint_eq(report.present, 0);
    ck_assert_uint_eq(report.nis_dof, 0);
    ck_assert_uint_ge(report.iterations, 1);
  }
  ck_assert_int_eq(bramah_filter_time_ns(p.r.filter), now + 3 * RIG_STEP_NS);
  /* a sample of a wrong time of its own */
  const bramah_filter_cycle fine = next(&p);
  const int64_t offset[RIG_SENSORS] = {0, 0, 0, -RIG_STEP_NS - 1}, beyond[RIG_SENSORS] = {INT64_MAX, 0, 0, 0};
  bramah_filter_cycle bad = fine;
  bad.offset_ns = offset;
  refused(&p, &fine, &bad, BRAMAH_E_TIME, "p2");
  const bramah_filter_cycle more = next(&p);
  bad = more;
  bad.offset_ns = beyond;
  bad.time_ns += 1;
  refused(&p, &more, &bad, BRAMAH_E_TIME, "encoder");
  cool_down(&p);
}

EACH_TEST(test_wrong_sizes, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  bramah_filter_cycle good = next(&p), bad = good;
  bad.n_sensors = RIG_SENSORS + 1;
  refused(&p, &good, &bad, BRAMAH_E_ARGUMENT, "cycle");
  good = bad = next(&p);
  bad.n_input = 2;
  refused(&p, &good, &bad, BRAMAH_E_ARGUMENT, "cycle");
  good = bad = next(&p);
  bad.y = NULL;
  refused(&p, &good, &bad, BRAMAH_E_ARGUMENT, "cycle");
  bramah_filter_save(p.r.filter, before);
  ck_assert_int_eq(bramah_filter_set_sensor_sigma(p.r.filter, RIG_SENSORS, 1.0, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_filter_set_sensor_sigma(p.r.filter, 0, 0.0, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_filter_set_augmented_noise(p.r.filter, 1000, 1.0, &diag), BRAMAH_E_ARGUMENT);
  const double noise = -1.0;
  ck_assert_int_eq(bramah_filter_set_noise(p.r.filter, &noise, NULL, &diag), BRAMAH_E_VALUE);
  expect_unchanged(&p);
  cool_down(&p);
}

EACH_TEST(test_broken_snapshots, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  const size_t size = bramah_filter_snapshot_size(p.r.filter);
  static unsigned char good[N];
  bramah_filter_save(p.r.filter, good);
  for (int k = 0; k < 5; k++) {
    const bramah_filter_cycle cycle = next(&p);
    must(bramah_filter_step(p.r.filter, &cycle, NULL, &diag), &diag);
  }
  bramah_filter_save(p.r.filter, before);
  for (size_t at = 0; at < size; at++) {
    good[at] ^= (unsigned char)(1u << at % 8);
    ck_assert_int_lt(bramah_filter_restore(p.r.filter, good), 0);
    if (at % 97 == 0) expect_unchanged(&p);
    good[at] ^= (unsigned char)(1u << at % 8);
  }
  expect_unchanged(&p);
  ck_assert_int_eq(bramah_filter_check_snapshot(p.r.filter, good, size, &diag), BRAMAH_OK);
  ck_assert_int_eq(bramah_filter_check_snapshot(p.r.filter, good, size - 8, &diag), BRAMAH_E_ARGUMENT);
  good[size - 1] ^= 1;
  ck_assert_int_eq(bramah_filter_check_snapshot(p.r.filter, good, size, &diag), BRAMAH_E_VALUE);
  good[size - 1] ^= 1, good[0] ^= 1;
  ck_assert_int_eq(bramah_filter_check_snapshot(p.r.filter, good, size, &diag), BRAMAH_E_SYNTAX);
  good[0] ^= 1;
  /* of a filter of other sensors, of the same size */
  bramah_filter *other;
  bramah_sensor sensor[RIG_SENSORS];
  const bramah_filter_options o = variant(_i);
  memcpy(sensor, p.r.sensor, sizeof sensor);
  sensor[3].name = "p3";
  must(bramah_filter_new(&p.r.plant, RIG_SENSORS, sensor, &o, &diag, &other), &diag);
  ck_assert_uint_eq(bramah_filter_snapshot_size(other), size);
  ck_assert_int_eq(bramah_filter_restore(other, good), BRAMAH_E_REFERENCE);
  bramah_filter_free(other);
  expect_unchanged(&p);
  must(bramah_filter_restore(p.r.filter, good), &diag);
  ck_assert_int_eq(bramah_filter_time_ns(p.r.filter), WARM * RIG_STEP_NS);
  cool_down(&p);
}

EACH_TEST(test_second_init_in_the_same_memory, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  const bramah_filter_options o = variant(_i);
  four_bar fb;
  four_bar_describe(&fb, 1.1, RIG_STEP_NS);
  const bramah_model *model = NULL;
  bramah_coupled *coupled = NULL;
  bramah_filter *filter = NULL;
  const bramah_filter_cycle good = next(&p);
  bramah_filter_save(p.r.filter, before);
  ck_assert_int_eq(bramah_model_init(&fb.machine, p.r.memory[0], p.r.size[0], &diag, &model),
                   BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(bramah_coupled_init(p.r.model, p.r.memory[1], p.r.size[1], &diag, &coupled),
                   BRAMAH_E_ARGUMENT);
  ck_assert_int_eq(
      bramah_filter_init(&p.r.plant, RIG_SENSORS, p.r.sensor, &o, p.r.memory[2], p.r.size[2], &diag, &filter),
      BRAMAH_E_ARGUMENT);
  ck_assert_str_eq(diag.message, "this memory holds a filter: free that one first");
  ck_assert_ptr_null(model);
  ck_assert_ptr_null(coupled);
  ck_assert_ptr_null(filter);
  expect_unchanged(&p);
  must(bramah_filter_step(p.r.filter, &good, NULL, &diag), &diag);
  /* given back, it can be used again */
  bramah_filter_free(p.r.filter);
  must(bramah_filter_init(&p.r.plant, RIG_SENSORS, p.r.sensor, &o, p.r.memory[2], p.r.size[2], &diag,
                          &p.r.filter),
       &diag);
  ck_assert_int_eq(bramah_filter_time_ns(p.r.filter), 0);
  cool_down(&p);
}

/* A plant that does not find its next state in two iterations finds it in parts of the step; in one it finds none: refused
 * with the name of the unknown, after no more work than promised, time and again. */
EACH_TEST(test_limit_of_iterations, 0, 2)
{
  const unsigned most = 1 + (unsigned)_i;
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  four_bar_describe(&fb, 1.0, RIG_STEP_NS);
  fb.machine.integrator.max_iterations = (int)most;
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  const bramah_plant plant = bramah_coupled_plant(coupled);
  const bramah_filter_options o = rig_options();
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 0, NULL, &o, &diag, &filter), &diag);
  const double full = 10.0;
  int refusals = 0;
  for (int k = 0; k < 50; k++) {
    const bramah_filter_cycle cycle = {
        bramah_filter_time_ns(filter) + RIG_STEP_NS, 1, &full, 0, NULL, NULL, NULL};
    bramah_filter_save(filter, before);
    const bramah_status status = bramah_filter_step(filter, &cycle, NULL, &diag);
    const bramah_step_report report = bramah_coupled_report(coupled);
    ck_assert_uint_le(report.last_iterations, most);
    ck_assert_uint_le(report.last_evaluations, 2 + 10 * most);
    if (status == BRAMAH_OK) continue;
    ck_assert_int_eq(status, BRAMAH_E_NO_CONVERGENCE);
    ck_assert_uint_eq(report.last_iterations, most);
    ck_assert_uint_eq(plant.iterations(plant.self), most);
    bramah_filter_save(filter, after);
    ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
    refusals++;
  }
  const bramah_step_report report = bramah_coupled_report(coupled);
  ck_assert_int_eq(refusals > 0, most == 1);
  ck_assert_int_eq(report.unconverged > 0, most == 2);
  ck_assert_uint_eq(report.steps + (unsigned)refusals, 50);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
}

/* ---- the good case ---- */

/* Another filter that goes on from the snapshot of the first, as after a crash. */
static void make_twin(rig *twin, const pair *p, int i)
{
  const bramah_filter_options o = variant(i);
  rig_make_with(twin, 1.1, &o);
  bramah_filter_save(p->r.filter, before);
  must(bramah_filter_restore(twin->filter, before), &diag);
}

/* The bits of set_inputs, predict and correct, and a report that tells what they did. */
EACH_TEST(test_step_is_its_parts, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  rig twin;
  make_twin(&twin, &p, _i);
  uint64_t gated = 0;
  for (int k = 0; k < 500; k++) {
    bramah_filter_step_report report;
    const unsigned char present[RIG_SENSORS] = {1, k % 2 == 0, k % 3 == 0, 1};
    bramah_filter_cycle cycle = next(&p);
    cycle.present = present;
    if (k % 50 == 7) p.y[0] += 1.0; /* far beyond its gate */
    must(bramah_filter_step(p.r.filter, &cycle, &report, &diag), &diag);
    must(bramah_filter_set_inputs(twin.filter, cycle.u, &diag), &diag);
    must(bramah_filter_predict(twin.filter, &diag), &diag);
    must(bramah_filter_correct(twin.filter, cycle.y, present, &diag), &diag);
    size_t dof;
    ck_assert_double_eq(report.nis, filter_nis(twin.filter, &dof));
    ck_assert_uint_eq(report.nis_dof, dof);
    ck_assert_uint_eq(report.present, 2u + (k % 2 == 0) + (k % 3 == 0));
    ck_assert_uint_eq(report.accepted, dof);
    ck_assert_uint_eq(report.gated, report.present - dof);
    ck_assert_int_eq(!!(report.flags & BRAMAH_STEP_GATED), report.gated > 0);
    ck_assert_uint_ge(report.iterations, 1);
    ck_assert_int_eq(report.time_ns, cycle.time_ns);
    gated += report.gated;
    bramah_filter_save(p.r.filter, before);
    bramah_filter_save(twin.filter, after);
    ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(twin.filter));
  }
  ck_assert_uint_eq(gated, 10);
  rig_free(&twin);
  cool_down(&p);
}

/* Time of the measurements off the grid: those of correct_at. */
EACH_TEST(test_time_beside_the_step, 0, VARIANTS)
{
  pair p;
  warm_up(&p, _i);
  rig twin;
  make_twin(&twin, &p, _i);
  for (int k = 0; k < 50; k++) {
    const int64_t jitter = (k * 37 % 90 - 45) * 10000, own[RIG_SENSORS] = {0, -200000, 0, 100000};
    bramah_filter_cycle cycle = next(&p);
    cycle.time_ns += jitter;
    cycle.offset_ns = k % 2 ? own : NULL;
    int64_t offset[RIG_SENSORS];
    for (int i = 0; i < RIG_SENSORS; i++) offset[i] = jitter + (k % 2 ? own[i] : 0);
    must(bramah_filter_step(p.r.filter, &cycle, NULL, &diag), &diag);
    must(bramah_filter_set_inputs(twin.filter, cycle.u, &diag), &diag);
    must(bramah_filter_predict(twin.filter, &diag), &diag);
    must(bramah_filter_correct_at(twin.filter, cycle.y, all, offset, &diag), &diag);
    bramah_filter_save(p.r.filter, before);
    bramah_filter_save(twin.filter, after);
    ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(twin.filter));
  }
  rig_free(&twin);
  cool_down(&p);
}

/* Noise of the plant and of sensors can be changed while it runs: the filter then goes on as one that was
 * made so. */
TEST(test_noise_at_run_time)
{
  pair p;
  rig_make(&p.r, 1.1);
  rig_make(&p.truth, 1.0);
  p.seed = 3;
  rig twin;
  const double q = 0.2, qp[3] = {1e6, 1e6, 1e6};
  bramah_filter_options o = rig_options();
  o.acceleration_noise = &q;
  o.first_order_noise = qp;
  rig_make_with(&twin, 1.1, &o);
  must(bramah_filter_set_noise(p.r.filter, &q, qp, &diag), &diag);
  for (int k = 0; k < 100; k++) {
    const bramah_filter_cycle cycle = next(&p);
    must(bramah_filter_step(p.r.filter, &cycle, NULL, &diag), &diag);
    must(bramah_filter_step(twin.filter, &cycle, NULL, &diag), &diag);
  }
  bramah_filter_save(p.r.filter, before);
  bramah_filter_save(twin.filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(twin.filter));
  must(bramah_filter_set_sensor_sigma(p.r.filter, 0, 1.0, &diag), &diag);
  const bramah_filter_cycle cycle = next(&p);
  must(bramah_filter_step(p.r.filter, &cycle, NULL, &diag), &diag);
  ck_assert_double_ge(bramah_filter_get_last(p.r.filter).innovation[0].sigma, 1.0);
  rig_free(&twin);
  cool_down(&p);
}

int main(void) { return run_tests("faults of embedding"); }
