/* SPDX-License-Identifier: MIT */
/* Replay against the same steps made by hand, and its rules for time. */
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

typedef struct row {
  int64_t time_ns;
  double y;      /* NaN: no sample */
  double torque; /* NaN: no command */
} row;

typedef struct rows {
  const row *row;
  size_t n, next;
} rows;

static bramah_status take(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  rows *r = user;
  (void)d;
  if (r->next == r->n) {
    *end = 1;
    return BRAMAH_OK;
  }
  const row *now = &r->row[r->next++];
  sample->time_ns = now->time_ns;
  sample->y[0] = now->y;
  sample->present[0] = (unsigned char)!isnan(now->y);
  sample->inputs[0] = now->torque;
  sample->has_input[0] = (unsigned char)!isnan(now->torque);
  sample->mark = (int64_t)r->next + 1; /* line of a file with a header */
  return BRAMAH_OK;
}

typedef struct rig {
  pendulum model;
  bramah_plant plant;
  bramah_sensor sensor;
  bramah_filter *filter;
} rig;

static void rig_setup_delayed(rig *r, int64_t delay_ns)
{
  const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02, .delay_ns = delay_ns};
  static const double sp = 0.1, sv = 0.2, q = 0.05;
  r->model = (pendulum){0.4, 0.0, 0.0, 1.0, 0.1};
  r->plant = pendulum_plant(&r->model, ms);
  must(bramah_sensor_init(&encoder, &r->plant, &diag, &r->sensor), &diag);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &sp,
                                         .rate_sigma = &sv,
                                         .acceleration_noise = &q};
  must(bramah_filter_new(&r->plant, 1, &r->sensor, &options, &diag, &r->filter), &diag);
}

static void rig_setup(rig *r) { rig_setup_delayed(r, 0); }

static void count(void *user, int64_t time_ns, int corrected)
{
  (void)time_ns;
  int *n = user;
  n[0]++;
  n[1] += corrected;
}

static bramah_status run(rig *r, const row *data, size_t n, int *counted, bramah_replay_report *counts)
{
  rows source = {data, n, 0};
  bramah_replay *replay;
  must(bramah_replay_new(r->filter, NULL, take, &source, &diag, &replay), &diag);
  const bramah_status status = replay_run(replay, count, counted, &diag);
  if (counts) *counts = bramah_replay_get_report(replay);
  bramah_replay_free(replay);
  return status;
}

TEST(test_same_bits_as_by_hand)
{
  rig a, b;
  rig_setup(&a);
  rig_setup(&b);
  row data[50];
  for (int k = 0; k < 50; k++)
    data[k] = (row){(100 + k) * ms, k % 3 ? NAN : 0.4 + 0.001 * k, k == 20 ? 1.5 : NAN};
  int counted[2] = {0, 0};
  must(run(&a, data, 50, counted, NULL), &diag);
  ck_assert_int_eq(counted[0], 50);
  ck_assert_int_eq(counted[1], 17);
  double torque = 0.0;
  for (int k = 0; k < 50; k++) {
    const unsigned char present = k % 3 == 0;
    if (k) must(bramah_filter_predict(b.filter, &diag), &diag);
    must(bramah_filter_correct(b.filter, &data[k].y, &present, &diag), &diag);
    if (k == 20) torque = 1.5;
    must(bramah_filter_set_inputs(b.filter, &torque, &diag), &diag);
  }
  unsigned char sa[1024], sb[1024];
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a.filter));
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

TEST(test_slow_logs_are_stepped_through)
{
  rig r;
  rig_setup(&r);
  const row data[3] = {{0, 0.4, NAN}, {10 * ms, 0.41, NAN}, {20 * ms, 0.42, NAN}};
  int counted[2] = {0, 0};
  bramah_replay_report counts;
  must(run(&r, data, 3, counted, &counts), &diag);
  ck_assert_int_eq(counted[0], 21);
  ck_assert_int_eq(counted[1], 3);
  ck_assert_uint_eq(counts.steps, 20);
  ck_assert_uint_eq(counts.off_grid, 0);
  bramah_filter_free(r.filter);
}

TEST(test_off_grid_and_fast_rows_are_counted)
{
  rig r;
  rig_setup(&r);
  const row data[4] = {{0, 0.4, NAN}, {ms + ms / 10, 0.4, NAN}, {ms + ms / 4, 0.4, NAN}, {2 * ms, 0.4, NAN}};
  int counted[2] = {0, 0};
  bramah_replay_report counts;
  must(run(&r, data, 4, counted, &counts), &diag);
  ck_assert_int_eq(counted[0], 3);
  ck_assert_uint_eq(counts.measurements, 4);
  ck_assert_uint_eq(counts.merged, 1);
  ck_assert_uint_eq(counts.off_grid, 2);
  ck_assert_int_eq(counts.max_shift_ns, ms / 4);
  bramah_filter_free(r.filter);
}

TEST(test_time_must_go_forward)
{
  rig r;
  rig_setup(&r);
  const row backwards[3] = {{0, 0.4, NAN}, {2 * ms, 0.4, NAN}, {ms, 0.4, NAN}};
  int counted[2] = {0, 0};
  ck_assert_int_eq(run(&r, backwards, 3, counted, NULL), BRAMAH_E_TIME);
  ck_assert_int_eq(counted[0], 3); /* what came before was delivered */
  ck_assert_str_eq(diag.message, "time does not go forward: 0.001 s after 0.002 s");
  const row leap[2] = {{0, 0.4, NAN}, {11000 * ms, 0.4, NAN}};
  ck_assert_int_eq(run(&r, leap, 2, counted, NULL), BRAMAH_E_TIME);
  ck_assert_ptr_nonnull(strstr(diag.message, "jumps ahead"));
  bramah_filter_free(r.filter);
}

/* Rows stamped 7 ms after the measurement: in the end the bits of the log in which each has its own time;
 * each estimate before is that of a filter which has just been given what arrived. */
TEST(test_a_delayed_sensor_is_used_where_it_measured)
{
  enum { N = 60, DELAY = 7 };
  rig a, b;
  rig_setup_delayed(&a, DELAY * ms + ms / 5); /* off the grid: the nearest step */
  rig_setup(&b);
  row data[N];
  for (int k = 0; k < N; k++)
    data[k] = (row){(100 + k) * ms, k % 3 ? NAN : 0.4 + 0.001 * k, k == 20 ? 1.5 : NAN};
  rows source = {data, N, 0};
  bramah_replay *replay;
  must(bramah_replay_new(a.filter, NULL, take, &source, &diag, &replay), &diag);
  int64_t time_ns;
  int corrected, end;
  for (int k = 0; k < N; k++) {
    must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
    ck_assert_int_eq(end, 0);
    ck_assert_int_eq(time_ns, (100 + k) * ms);
    ck_assert_int_eq(bramah_filter_time_ns(a.filter), k * ms);
    const int fresh = k % 3 == 0 && k >= DELAY;
    ck_assert_int_eq(corrected, fresh);
    ck_assert_int_eq(bramah_replay_get_report(replay).innovation[0].present, fresh);
    const bramah_replay_report report = bramah_replay_get_report(replay);
    ck_assert_uint_eq(report.nis_dof, (size_t)fresh);
    if (fresh) ck_assert_double_eq(report.nis, report.innovation[0].nis);
  }
  must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
  ck_assert_int_eq(end, 1);
  double torque = 0.0;
  for (int k = 0; k < N; k++) {
    const unsigned char present = k + DELAY < N && (k + DELAY) % 3 == 0;
    const double y = 0.4 + 0.001 * (k + DELAY);
    if (k) must(bramah_filter_predict(b.filter, &diag), &diag);
    const int64_t offset_ns = -ms / 5;
    must(bramah_filter_correct_at(b.filter, &y, &present, &offset_ns, &diag), &diag);
    if (k == 20) torque = 1.5;
    must(bramah_filter_set_inputs(b.filter, &torque, &diag), &diag);
  }
  unsigned char sa[1024], sb[1024];
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a.filter));
  const bramah_rewind_report counts = bramah_rewind_get_report(bramah_replay_get_report(replay).rewind);
  ck_assert_uint_eq(counts.before_start, 3); /* of rows 0, 3 and 6 */
  ck_assert_uint_eq(counts.late, 17);
  ck_assert_uint_eq(counts.too_old, 0);
  ck_assert_int_eq(counts.deepest_ns, DELAY * ms);
  ck_assert_uint_eq(bramah_replay_get_report(replay).measurements, 17);
  ck_assert_uint_eq(bramah_replay_get_report(replay).steps, N - 1);
  bramah_replay_free(replay);
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

/* A fast log, rows off the grid and a gap, with a delay. */
TEST(test_delayed_rows_beside_the_grid)
{
  rig r;
  rig_setup_delayed(&r, 2 * ms);
  const row data[6] = {{0, 0.4, NAN},      {2 * ms, 0.4, NAN},
                       {3 * ms, 0.4, NAN}, {3 * ms + ms / 4, 0.4, NAN},
                       {9 * ms, 0.4, NAN}, {9 * ms + ms / 3, 0.4, NAN}};
  int counted[2] = {0, 0};
  bramah_replay_report counts;
  must(run(&r, data, 6, counted, &counts), &diag);
  ck_assert_int_eq(counted[0], 10);
  ck_assert_uint_eq(counts.samples, 6);
  ck_assert_uint_eq(counts.merged, 2);
  ck_assert_uint_eq(counts.off_grid, 2);
  ck_assert_int_eq(counts.max_shift_ns, ms / 3);
  ck_assert_uint_eq(counts.measurements, 5); /* the first was measured before the start */
  bramah_filter_free(r.filter);
}

TEST(test_a_bad_delayed_sample_ends_the_replay)
{
  rig r;
  rig_setup_delayed(&r, 2 * ms);
  const row data[3] = {{0, 0.4, NAN}, {3 * ms, INFINITY, NAN}, {4 * ms, 0.4, NAN}};
  int counted[2] = {0, 0};
  ck_assert_int_eq(run(&r, data, 3, counted, NULL), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "encoder");
  ck_assert_int_eq(counted[0], 3);
  bramah_filter_free(r.filter);
  rig_setup_delayed(&r, INT64_C(2000000) * ms);
  bramah_replay *replay = NULL;
  ck_assert_int_eq(bramah_replay_new(r.filter, NULL, take, NULL, &diag, &replay), BRAMAH_E_VALUE);
  ck_assert_ptr_null(replay);
  bramah_filter_free(r.filter);
}

/* ---- read ahead ---- */

static bramah_replay *gathering(rig *r, rows *source)
{
  bramah_replay *replay;
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = 1;
  must(bramah_replay_new(r->filter, &options, take, source, &diag, &replay), &diag);
  return replay;
}

typedef struct notes {
  size_t n;
  bramah_rewind_use use[16];
} notes;

static void note(void *user, const bramah_rewind_use *use)
{
  notes *t = user;
  t->use[t->n++] = *use;
}

/* A log faster than the step: every sample in its turn, each with its time, before the point is delivered. */
TEST(test_gathered_rows_are_fused_in_their_order)
{
  static const unsigned char present = 1;
  const row data[6] = {{0, 0.40, NAN},
                       {8 * ms / 10, 0.41, NAN},
                       {ms, 0.42, NAN},
                       {13 * ms / 10, 0.43, NAN},
                       {15 * ms / 10, 0.44, NAN},
                       {2 * ms, 0.45, NAN}};
  static const int64_t offset_ns[6] = {0, -200000, 0, 300000, -500000, 0};
  rig a, b;
  notes heard = {0};
  int64_t time_ns;
  int corrected, end;
  size_t next = 0;
  rig_setup(&a);
  rig_setup(&b);
  rows source = {data, 6, 0};
  bramah_replay_options options = {.max_gap_ns = 10000 * ms, .gather = 1, .listener = {&heard, note}};
  bramah_replay *replay;
  must(bramah_replay_new(a.filter, &options, take, &source, &diag, &replay), &diag);
  for (int k = 0; k < 3; k++) {
    static const size_t samples[3] = {1, 3, 2};
    must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
    ck_assert_int_eq(time_ns, k * ms);
    ck_assert_int_eq(corrected, 1);
    ck_assert_uint_eq(bramah_replay_get_report(replay).nis_dof, samples[k]);
    if (k) must(bramah_filter_predict(b.filter, &diag), &diag);
    for (const size_t last = next + samples[k]; next < last; next++) {
      must(bramah_filter_correct_at(b.filter, &data[next].y, &present, &offset_ns[next], &diag), &diag);
      ck_assert_int_eq(heard.use[next].time_ns, data[next].time_ns);
      ck_assert_double_eq(heard.use[next].y, data[next].y);
      ck_assert_double_eq(heard.use[next].innovation.nis, bramah_filter_get_last(b.filter).innovation[0].nis);
    }
    ck_assert_uint_eq(heard.n, next);
    ck_assert_int_eq(bramah_replay_get_report(replay).mark, (int64_t)next + 1);
  }
  unsigned char sa[1024], sb[1024];
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a.filter));
  ck_assert_uint_eq(bramah_replay_get_report(replay).merged, 0);
  ck_assert_uint_eq(bramah_replay_get_report(replay).off_grid, 3);
  bramah_replay_free(replay);
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

/* A step holds the mean of its commands; after it the latest one goes on. */
TEST(test_commands_beside_the_points_act_as_their_mean)
{
  const row data[7] = {{0, NAN, 0.0},          {3 * ms + ms / 4, NAN, 2.0}, {3 * ms + 3 * ms / 4, NAN, -1.0},
                       {6 * ms, NAN, 0.1},     {7 * ms, NAN, 0.1},          {8 * ms - ms / 5, NAN, 0.6},
                       {11 * ms + 1, NAN, NAN}};
  static const double held[11] = {0.0, 0.0, 0.0, 0.75, -1.0, -1.0, 0.1, 0.2, 0.6, 0.6, 0.6};
  rig a, b;
  int64_t time_ns;
  int corrected, end;
  rig_setup(&a);
  rig_setup(&b);
  rows source = {data, 7, 0};
  bramah_replay *replay = gathering(&a, &source);
  must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
  for (int k = 0; k < 11; k++) {
    must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
    ck_assert_double_eq_tol(bramah_replay_get_report(replay).inputs[0], held[k], 1e-15);
    must(bramah_filter_set_inputs(b.filter, bramah_replay_get_report(replay).inputs, &diag), &diag);
    must(bramah_filter_predict(b.filter, &diag), &diag);
    ck_assert_double_eq(a.model.angle, b.model.angle);
    ck_assert_double_eq(a.model.rate, b.model.rate);
  }
  must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
  ck_assert_int_eq(end, 1);
  bramah_replay_free(replay);
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

/* What is wrong with a row read ahead is reported when its turn has come, with its mark. */
TEST(test_errors_of_rows_read_ahead_come_in_their_turn)
{
  const row backwards[4] = {{0, 0.4, NAN}, {ms, 0.4, NAN}, {ms + ms / 5, 0.4, NAN}, {ms, 0.4, NAN}};
  const row infinite[3] = {{0, 0.4, NAN}, {ms, INFINITY, NAN}, {ms + ms / 5, 0.4, NAN}};
  rig r;
  int64_t time_ns;
  int corrected, end;
  rig_setup(&r);
  rows source = {backwards, 4, 0};
  bramah_replay *replay = gathering(&r, &source);
  for (int k = 0; k < 2; k++) must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
  ck_assert_uint_eq(bramah_replay_get_report(replay).measurements, 3);
  ck_assert_int_eq(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), BRAMAH_E_TIME);
  ck_assert_int_eq(bramah_replay_get_report(replay).mark, 5);
  bramah_replay_free(replay);
  bramah_filter_free(r.filter);
  rig_setup(&r);
  source = (rows){infinite, 3, 0};
  replay = gathering(&r, &source);
  must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
  ck_assert_int_eq(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_replay_get_report(replay).mark, 3);
  bramah_replay_free(replay);
  bramah_filter_free(r.filter);
}

/* At the start there is no last step to form an innovation off it with: rows after it wait for the next
 * point, live and read ahead, with a delay and without. */
EACH_TEST(test_rows_after_the_start_belong_to_the_next_point, 0, 4)
{
  static const unsigned char present = 1;
  static const int64_t offset_ns[2] = {-700000, -600000};
  const int64_t delay_ns = _i / 2 * ms / 2;
  const row data[4] = {{0, NAN, 0.0},
                       {3 * ms / 10 + delay_ns, 0.41, NAN},
                       {4 * ms / 10 + delay_ns, 0.42, NAN},
                       {2 * ms, NAN, 0.0}};
  rig a, b;
  int counted[2] = {0, 0};
  rig_setup_delayed(&a, delay_ns);
  rig_setup(&b);
  rows source = {data, 4, 0};
  bramah_replay *replay;
  if (_i % 2)
    replay = gathering(&a, &source);
  else
    must(bramah_replay_new(a.filter, NULL, take, &source, &diag, &replay), &diag);
  must(replay_run(replay, count, counted, &diag), &diag);
  must(bramah_filter_predict(b.filter, &diag), &diag);
  for (int i = 0; i < 2; i++)
    must(bramah_filter_correct_at(b.filter, &data[i + 1].y, &present, &offset_ns[i], &diag), &diag);
  must(bramah_filter_predict(b.filter, &diag), &diag);
  const unsigned char nothing = 0;
  must(bramah_filter_correct(b.filter, &data[0].y, &nothing, &diag), &diag);
  ck_assert_int_eq(counted[0], 3);
  ck_assert_double_eq(a.model.angle, b.model.angle);
  ck_assert_double_eq(a.model.rate, b.model.rate);
  ck_assert_mem_eq(bramah_filter_covariance(a.filter), bramah_filter_covariance(b.filter),
                   4 * sizeof(double));
  bramah_replay_free(replay);
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

/* More rows at a point than are read ahead: none is lost. */
TEST(test_a_log_faster_than_the_queue)
{
  enum { ROWS = 1000 };
  static row data[ROWS];
  rig r;
  int counted[2] = {0, 0};
  for (int k = 0; k < ROWS; k++) data[k] = (row){k * ms / 400, 0.4, k == 700 ? 1.0 : NAN};
  rig_setup(&r);
  rows source = {data, ROWS, 0};
  bramah_replay *replay = gathering(&r, &source);
  must(replay_run(replay, count, counted, &diag), &diag);
  ck_assert_uint_eq(bramah_replay_get_report(replay).measurements, ROWS);
  ck_assert_uint_eq(bramah_replay_get_report(replay).samples, ROWS);
  ck_assert_int_eq(counted[0], 3);
  bramah_replay_free(replay);
  bramah_filter_free(r.filter);
}

TEST(test_an_empty_source_ends_at_once)
{
  rig r;
  rig_setup(&r);
  int counted[2] = {0, 0};
  must(run(&r, NULL, 0, counted, NULL), &diag);
  ck_assert_int_eq(counted[0], 0);
  bramah_filter_free(r.filter);
}

/* Go on to the end; the sum of what was fused comes in the counts. */
static void finish(bramah_replay *replay)
{
  int64_t time_ns;
  int corrected, end = 0;
  while (!end) must(bramah_replay_next(replay, &time_ns, &corrected, &end, &diag), &diag);
}

/* The state of the filter is at the end. What is damaged there leaves the replay as it was. */
static void check_refuses_damage(bramah_replay *replay, double *snap, size_t size)
{
  unsigned char *bytes = (unsigned char *)snap, *before = malloc(size), *after = malloc(size);
  ck_assert(before && after);
  bramah_replay_save(replay, before);
  bytes[size - 9] ^= 1;
  ck_assert_int_eq(bramah_replay_restore(replay, snap), BRAMAH_E_VALUE);
  bytes[size - 9] ^= 1;
  bramah_replay_save(replay, after);
  ck_assert_mem_eq(before, after, size);
  free(before);
  free(after);
}

/* Saved after 20 estimates, with rows read ahead, restored into another replay whose source goes on behind
 * them. */
static void check_going_on(int64_t delay_ns, int gather)
{
  enum { N = 120 };
  rig a, b;
  rig_setup_delayed(&a, delay_ns);
  rig_setup_delayed(&b, delay_ns);
  row data[N]; /* three rows a step, off the grid; the command changes within steps */
  for (int k = 0; k < N; k++)
    data[k] = (row){100 * ms + k * (ms / 3), k % 2 ? NAN : 0.4 + 0.001 * k, k % 7 ? NAN : 0.1 * k};
  rows first = {data, N, 0}, second = {data, N, 0};
  bramah_replay_options options;
  bramah_replay_options_default(&options);
  options.gather = gather;
  bramah_replay *one, *other;
  must(bramah_replay_new(a.filter, &options, take, &first, &diag, &one), &diag);
  must(bramah_replay_new(b.filter, &options, take, &second, &diag, &other), &diag);
  int64_t time_ns;
  int corrected, end;
  for (int k = 0; k < 20; k++) must(bramah_replay_next(one, &time_ns, &corrected, &end, &diag), &diag);
  const size_t size = bramah_replay_snapshot_size(one);
  ck_assert_uint_eq(size, bramah_replay_snapshot_size(other));
  double *snap = calloc(size / sizeof *snap + 1, sizeof *snap);
  bramah_replay_save(one, snap);
  ck_assert_int_eq(bramah_replay_get_report(one).exhausted, 0);
  ck_assert_int_eq(bramah_replay_get_report(one).read_ns, data[first.next - 1].time_ns);
  second.next = first.next;
  check_refuses_damage(other, snap, size);
  must(bramah_replay_restore(other, snap), &diag);
  finish(one);
  finish(other);
  ck_assert_int_eq(bramah_replay_get_report(other).exhausted, 1);
  unsigned char sa[1024], sb[1024];
  bramah_filter_save(a.filter, sa);
  bramah_filter_save(b.filter, sb);
  ck_assert_mem_eq(sa, sb, bramah_filter_snapshot_size(a.filter));
  bramah_replay_report ca = bramah_replay_get_report(one), cb = bramah_replay_get_report(other);
  if (delay_ns) {
    bramah_rewind_report ra = bramah_rewind_get_report(ca.rewind), rb = bramah_rewind_get_report(cb.rewind);
    ra.use = rb.use = NULL;
    ck_assert_mem_eq(&ra, &rb, sizeof ra);
    ck_assert_uint_gt(ra.late, 0);
  }
  ck_assert_mem_eq(ca.innovation, cb.innovation, sizeof *ca.innovation);
  ck_assert_mem_eq(ca.inputs, cb.inputs, sizeof *ca.inputs);
  ca.innovation = cb.innovation = NULL;
  ca.inputs = cb.inputs = NULL;
  ca.rewind = cb.rewind = NULL;
  ck_assert_mem_eq(&ca, &cb, sizeof ca);
  ck_assert_uint_eq(ca.samples, N);
  free(snap);
  bramah_replay_free(one);
  bramah_replay_free(other);
  bramah_filter_free(a.filter);
  bramah_filter_free(b.filter);
}

TEST(test_a_snapshot_goes_on_bit_for_bit)
{
  check_going_on(0, 0);
  check_going_on(0, 1);
  check_going_on(5 * ms, 0);
  check_going_on(5 * ms, 1);
}

int main(void) { return run_tests("replay"); }
