/* SPDX-License-Identifier: MIT */
/* After initialisation nothing allocates, opens or reads a file, asks a clock or takes a lock: the calls are
 * intercepted in this program while the filter runs, faults included. */
#define _GNU_SOURCE
#include "bramah/adaptive.h"
#include "bramah/filter.h"
#include "bramah/replay.h"
#include "test/embed/intercept.h"
#include "test/embed/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bramah_diag diag;

/* A measurement in `bad` of every hundred steps is NaN, a command now and then infinite: errors must not
 * allocate either. */
static int run(bramah_filter *filter, const bramah_plant *plant, const void *start, int steps)
{
  int refused = 0;
  for (int k = 0; k < steps; k++) {
    if (k % 10000 == 0) bramah_filter_restore(filter, start);
    double y[4] = {plant->output(plant->self, 1), 3e6, 3e6, k % 100 == 50 ? NAN : 3.5e6};
    const unsigned char present[4] = {1, k % 2 == 0, k % 5 == 0, 1};
    const double u = k % 1000 == 77 ? INFINITY : four_bar_command((int64_t)(k % 10000) * 1000000);
    refused += bramah_filter_correct(filter, y, present, &diag) != BRAMAH_OK;
    refused += bramah_filter_set_inputs(filter, &u, &diag) != BRAMAH_OK;
    if (bramah_filter_predict(filter, &diag) != BRAMAH_OK) return -1;
    for (size_t i = 0; i < 12; i++) bramah_filter_output_sigma(filter, i);
  }
  return refused;
}

/* The same through the rewind buffer: samples up to 12 ms late where 10 are allowed, some refused, some given
 * up. */
static int run_late(bramah_rewind *rewind, const bramah_filter *filter, int steps)
{
  const bramah_plant *plant = bramah_filter_get_info(filter).plant;
  int refused = 0;
  for (int k = 0; k < steps; k++) {
    const int64_t now = bramah_filter_time_ns(filter);
    const double u = k % 1000 == 77 ? INFINITY : four_bar_command(now);
    const double y[4] = {plant->output(plant->self, 1), 3e6, 3e6, k % 100 == 50 ? NAN : 3.5e6};
    for (size_t i = 0; i < 4; i++) {
      const int64_t delay = (k * k + (int)i * 5) % 13;
      refused += bramah_rewind_sample(rewind, i, now - delay * 1000000, y[i], &diag) != BRAMAH_OK;
    }
    refused += bramah_rewind_set_inputs(rewind, &u, &diag) != BRAMAH_OK;
    if (k % 50 == 49 && bramah_rewind_discard(rewind, &diag) != BRAMAH_OK) return -1;
    if (bramah_rewind_advance(rewind, &diag) != BRAMAH_OK) return -1;
  }
  return refused;
}

/* Rows that never meet a step twice at the same place, read ahead. */
typedef struct row_maker {
  const bramah_plant *plant;
  int row, rows, used;
} row_maker;

static bramah_status make_row(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  row_maker *m = user;
  (void)d;
  *end = m->row == m->rows;
  if (*end) return BRAMAH_OK;
  sample->time_ns = INT64_C(370001) * m->row++;
  for (int i = 0; i < 4; i++) sample->present[i] = m->row % (i + 1) == 0;
  sample->y[0] = m->plant->output(m->plant->self, 1);
  sample->y[1] = sample->y[2] = 3e6;
  sample->y[3] = 3.5e6;
  sample->inputs[0] = four_bar_command(sample->time_ns);
  sample->has_input[0] = 1;
  return BRAMAH_OK;
}

static void count_use(void *user, const bramah_rewind_use *use)
{
  (void)use;
  ((row_maker *)user)->used++;
}

/* Replay with samples and commands off the grid of steps; the filter is saved and restored meanwhile. */
static int run_off_grid(bramah_replay *replay, bramah_filter *filter, void *snap)
{
  for (int steps = 0;; steps++) {
    int64_t time_ns;
    int corrected, end;
    if (bramah_replay_next(replay, &time_ns, &corrected, &end, &diag) != BRAMAH_OK) return -1;
    if (end) return steps;
    if (steps % 100 == 0) bramah_filter_save(filter, snap), bramah_filter_restore(filter, snap);
  }
}

static int off_grid_allocates_nothing(bramah_filter *filter)
{
  row_maker maker = {bramah_filter_get_info(filter).plant, 0, 14000, 0};
  bramah_replay_options o;
  bramah_replay *replay;
  bramah_replay_options_default(&o);
  o.gather = 1;
  o.listener = (bramah_listener){&maker, count_use};
  must(bramah_replay_new(filter, &o, make_row, &maker, &diag, &replay), &diag);
  void *snap = malloc(bramah_filter_snapshot_size(filter));
  armed = 1;
  const int steps = run_off_grid(replay, filter, snap);
  armed = 0;
  const bramah_replay_report counts = bramah_replay_get_report(replay);
  printf("%d steps with %d samples off them, %d intercepted calls\n", steps, maker.used, calls);
  if (steps < 0) printf("%s: %s\n", diag.thing, diag.message);
  free(snap);
  bramah_replay_free(replay);
  return steps > 5000 && maker.used > 25000 && counts.off_grid > 13000 && calls == 0;
}

/* The same with noise that adapts. */
static int run_adaptive(bramah_adaptive *adaptive, bramah_filter *filter, void *snap, int steps)
{
  static const unsigned char present[4] = {1, 1, 1, 1};
  static const double u = 1.0;
  const bramah_plant *plant = bramah_filter_get_info(filter).plant;
  unsigned seed = 1;
  int changes = 0;
  for (int k = 0; k < steps; k++) {
    double y[4];
    for (size_t i = 0; i < 4; i++) {
      const bramah_sensor *sensor = &bramah_filter_get_info(filter).sensor[i];
      y[i] = bramah_sensor_predict(sensor, plant) + 0.01 * sensor->sigma * test_normal(&seed);
    }
    if (bramah_filter_correct(filter, y, present, &diag) != BRAMAH_OK) return -1;
    changes += bramah_adaptive_corrected(adaptive);
    if (bramah_filter_set_inputs(filter, &u, &diag) != BRAMAH_OK) return -1;
    if (bramah_filter_predict(filter, &diag) != BRAMAH_OK) return -1;
    bramah_adaptive_predicted(adaptive);
    if (k % 100 == 0) bramah_adaptive_save(adaptive, snap), bramah_adaptive_restore(adaptive, snap);
  }
  return changes;
}

static int adaptive_allocates_nothing(bramah_filter *filter)
{
  static const double least = 1e-3, most = 10, least_pressure[3] = {1e3, 1e3, 1e3},
                      most_pressure[3] = {1e8, 1e8, 1e8}, least_sensor[4] = {1e-4, 1, 1, 1},
                      most_sensor[4] = {1, 1e8, 1e8, 1e8};
  const bramah_adaptive_options o = {.acceleration_least = &least,
                                     .acceleration_most = &most,
                                     .first_order_least = least_pressure,
                                     .first_order_most = most_pressure,
                                     .sensor_least = least_sensor,
                                     .sensor_most = most_sensor};
  bramah_adaptive *adaptive;
  must(bramah_adaptive_new(filter, &o, &diag, &adaptive), &diag);
  void *snap = malloc(bramah_adaptive_snapshot_size(adaptive));
  armed = 1;
  const int changes = run_adaptive(adaptive, filter, snap, 2000);
  armed = 0;
  printf("2000 steps with adaptive noise, %d changes, %d intercepted calls\n", changes, calls);
  free(snap);
  bramah_adaptive_free(adaptive);
  return changes > 50 && calls == 0;
}

/* ---- cycles in one call ---- */

enum { CYCLES = 10000, SNAP = 16 * 1024 };
static double measured[CYCLES][RIG_SENSORS];

static void make_measurements(void)
{
  rig truth;
  unsigned seed = 1;
  rig_make(&truth, 1.0);
  for (int k = 0; k < CYCLES; k++) {
    const double u = four_bar_command((int64_t)k * RIG_STEP_NS);
    must(truth.plant.set_inputs(truth.plant.self, &u, &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    rig_measure(&truth, &seed, measured[k]);
  }
  rig_free(&truth);
}

typedef struct tally {
  uint64_t good, refused[6], gated, lost, restored;
} tally;

/* Cycle k of the run with what goes wrong in it: 0 nothing, 1 NaN, 2 infinite command, 3 time backwards, 4
 * time far ahead, 5 wrong size. */
static int spoil(int64_t k, bramah_filter_cycle *cycle, double *y, const double *bad)
{
  const int fault = k % 13 ? 0 : (int)(k / 13 % 6);
  if (fault == 1) y[k % RIG_SENSORS] = bad[k % 2];
  if (fault == 2) cycle->u = &bad[1];
  if (fault == 3) cycle->time_ns -= (1 + k % 3) * RIG_STEP_NS;
  if (fault == 4) cycle->time_ns += 1 + k % 3 * RIG_STEP_NS + RIG_STEP_NS / 2;
  if (fault == 5) cycle->n_sensors--;
  if (k % 101 == 7) y[0] += 2.0; /* for its gate */
  return fault;
}

/* Broken snapshots are offered and good ones taken back, noise is changed meanwhile. */
static void meddle(rig *r, int64_t k, unsigned char *snap, tally *t)
{
  const double noise = 0.01 + 1e-3 * (double)(k % 7);
  bramah_filter_set_noise(r->filter, &noise, NULL, &diag);
  bramah_filter_set_sensor_sigma(r->filter, 3, 5e4 + 10.0 * (double)(k % 11), &diag);
  bramah_filter_save(r->filter, snap);
  const size_t at = (size_t)k % bramah_filter_snapshot_size(r->filter);
  snap[at] ^= 8;
  t->restored += bramah_filter_restore(r->filter, snap) != BRAMAH_OK;
  snap[at] ^= 8;
  t->restored += bramah_filter_restore(r->filter, snap) == BRAMAH_OK;
}

static int run_cycles(rig *r, int64_t steps, const void *start, unsigned char *snap, tally *t)
{
  static const unsigned char present[2][RIG_SENSORS] = {{1, 1, 1, 1}, {1, 1, 0, 0}};
  const double bad[2] = {NAN, INFINITY};
  for (int64_t k = 0; k < steps; k++) {
    if (k % CYCLES == 0 && bramah_filter_restore(r->filter, start) != BRAMAH_OK) return -1;
    const int64_t now = bramah_filter_time_ns(r->filter);
    const size_t row = (size_t)(now / RIG_STEP_NS);
    const double u = four_bar_command(now);
    double y[RIG_SENSORS];
    memcpy(y, measured[row], sizeof y);
    bramah_filter_cycle cycle = {now + RIG_STEP_NS, 1, &u, RIG_SENSORS, y, present[k % 3 == 0], NULL};
    bramah_filter_step_report report;
    if (k % 17 == 5) cycle.time_ns += 4 * k % 400000 - 200000;
    const int fault = spoil(k, &cycle, y, bad);
    const bramah_status status = bramah_filter_step(r->filter, &cycle, &report, &diag);
    if (status != BRAMAH_OK) t->refused[fault]++;
    if (status == BRAMAH_OK) t->good++, t->gated += report.gated, t->lost += report.faulty;
    if (k % 1000 == 999) meddle(r, k, snap, t);
    for (size_t i = 0; k % 10 == 0 && i < r->plant.n_output; i++) bramah_filter_output_sigma(r->filter, i);
  }
  return 0;
}

static int cycles_call_nothing(bramah_covariance_form form, bramah_fusion fusion, int64_t steps)
{
  static unsigned char start[SNAP], snap[SNAP];
  rig r;
  tally t = {0};
  bramah_filter_options o = rig_options();
  o.form = form;
  o.fusion = fusion;
  rig_make_with(&r, 1.1, &o);
  if (bramah_filter_snapshot_size(r.filter) > SNAP) return 0;
  bramah_filter_save(r.filter, start);
  armed = 1;
  const int ended = run_cycles(&r, steps, start, snap, &t);
  armed = 0;
  printf("%lld cycles: %llu good, %llu+%llu+%llu+%llu+%llu refused, %llu samples gated, %llu of %lld "
         "snapshots as they should; "
         "%d intercepted calls\n",
         (long long)steps, (unsigned long long)t.good, (unsigned long long)t.refused[1],
         (unsigned long long)t.refused[2], (unsigned long long)t.refused[3], (unsigned long long)t.refused[4],
         (unsigned long long)t.refused[5], (unsigned long long)t.gated, (unsigned long long)t.restored,
         (long long)steps / 1000 * 2, calls);
  rig_free(&r);
  int each = 1;
  for (int fault = 1; fault < 6; fault++) each &= t.refused[fault] > (uint64_t)steps / 13 / 6 - 2;
  return ended == 0 && calls == 0 && each && t.refused[0] == 0 && t.gated >= (uint64_t)steps / 150 &&
         t.restored == (uint64_t)steps / 1000 * 2;
}

int main(void)
{
  static const bramah_sensor_options options[4] = {
      {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 1e-2},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e6},
      {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 5e6},
      {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 5e6}};
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {6e5, 6e5, 6e5};
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_sensor sensors[4];
  bramah_filter *filter;
  if (!interception_works()) {
    puts("skipped: calls cannot be intercepted here (sanitizer or valgrind)");
    return 77;
  }
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
  must(bramah_coupled_new(model, &diag, &coupled), &diag);
  bramah_plant plant = bramah_coupled_plant(coupled);
  for (int i = 0; i < 4; i++) must(bramah_sensor_init(&options[i], &plant, &diag, &sensors[i]), &diag);
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                   .basis = NULL,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  must(bramah_filter_new(&plant, 4, sensors, &o, &diag, &filter), &diag);
  void *start = malloc(bramah_filter_snapshot_size(filter));
  bramah_filter_save(filter, start);
  armed = 1;
  const int refused = run(filter, &plant, start, 100000);
  armed = 0;
  printf("100000 steps, %d refused inputs, %d intercepted calls\n", refused, calls);
  bramah_rewind *rewind;
  const bramah_rewind_options window = {
      .longest_delay_ns = 10000000, .snapshot_every = 3, .samples_per_step = 1};
  bramah_filter_restore(filter, start);
  must(bramah_rewind_new(filter, &window, &diag, &rewind), &diag);
  armed = 1;
  const int refused_late = run_late(rewind, filter, 3000);
  armed = 0;
  const bramah_rewind_report late = bramah_rewind_get_report(rewind);
  printf("3000 steps with late samples, %d refused, %llu rewinds, %d intercepted calls\n", refused_late,
         (unsigned long long)late.rewinds, calls);
  const int good = refused == 1100 && calls == 0 && refused_late > 1000 && late.rewinds > 2000 &&
                   late.too_old > 1000 && late.crowded > 100 && late.discarded > 100;
  if (refused < 0 || refused_late < 0) printf("%s: %s\n", diag.thing, diag.message);
  bramah_rewind_free(rewind);
  bramah_filter_restore(filter, start);
  const int off_grid_good = off_grid_allocates_nothing(filter);
  bramah_filter_restore(filter, start);
  const int adaptive_good = adaptive_allocates_nothing(filter);
  free(start);
  bramah_filter_free(filter);
  bramah_coupled_free(coupled);
  bramah_model_free(model);
  make_measurements();
  const char *asked = getenv("BRAMAH_CYCLES");
  const int64_t cycles = asked ? strtoll(asked, NULL, 10) : 100000;
  const int cycles_good =
      cycles_call_nothing(BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL, cycles) &&
      cycles_call_nothing(BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_BLOCK, cycles / 20) &&
      cycles_call_nothing(BRAMAH_COVARIANCE_SQUARE_ROOT, BRAMAH_FUSION_SEQUENTIAL, cycles / 20);
  return good && off_grid_good && adaptive_good && cycles_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
