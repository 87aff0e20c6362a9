/* SPDX-License-Identifier: MIT */
/* The running alarm: as many false alarms of white innovations as stated and no more, offsets found within the delay it
 * expects, variances and correlations by their names, and snapshots. */
#include "bramah/alarm.h"
#include "test/campaign/draw.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <stdio.h>
#include <string.h>

enum { SENSORS = 5 };

static bramah_diag diag;
static four_bar_rig rig;
static bramah_sensor sensors[SENSORS];
static bramah_filter *filter;

static void open_filter(void)
{
  static const double sigma = 0.01, pressure[3] = {1e5, 1e5, 1e5}, noise[3] = {1e5, 1e5, 1e5};
  four_bar_open(&rig, 1.0, 60.0);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &rig.plant, &diag, &sensors[i]), &diag);
  const size_t basis = must_find(&rig.plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &sigma,
                                   .rate_sigma = &sigma,
                                   .first_order_sigma = pressure,
                                   .acceleration_noise = &sigma,
                                   .first_order_noise = noise};
  must(bramah_filter_new(&rig.plant, SENSORS, sensors, &o, &diag, &filter), &diag);
}

static void close_filter(void)
{
  bramah_filter_free(filter);
  four_bar_close(&rig);
}

static bramah_alarm *make(double false_per_hour)
{
  bramah_alarm_options o;
  bramah_alarm *alarm;
  bramah_alarm_options_default(&o);
  if (false_per_hour > 0.0) o.false_per_hour = false_per_hour;
  must(bramah_alarm_new(filter, &o, &diag, &alarm), &diag);
  return alarm;
}

/* Sample k of sensor i, every millisecond, with this innovation over its sigma; of these the state has nothing. */
static int give(bramah_alarm *alarm, size_t i, uint64_t k, double x)
{
  const double sigma = sqrt(bramah_sensor_variance(&sensors[i]));
  const bramah_innovation in = {
      .present = 1, .innovation = x * sigma, .sigma = sigma, .nis = x * x, .accepted = fabs(x) < 4.0};
  return bramah_alarm_sample(alarm, i, (int64_t)k * 1000000, &in);
}

TEST(test_white)
{
  enum { SAMPLES = 200000 }; /* of each sensor: a million */
  const double per_hour[] = {0.0, 720.0};
  for (int r = 0; r < 2; r++) {
    bramah_alarm *alarm = make(per_hour[r]);
    uint64_t raised = 0;
    for (uint64_t k = 0; k < SAMPLES; k++) {
      double nis = 0.0;
      for (size_t i = 0; i < SENSORS; i++) {
        const double x = draw_normal(draw_key(3, 0, i), k);
        raised += (uint64_t)give(alarm, i, k, x);
        nis += x * x;
      }
      raised += (uint64_t)bramah_alarm_all(alarm, (int64_t)k * 1000000, nis, SENSORS);
    }
    const double expected = (SAMPLES * 1e-3 - 1.0) / 3600.0 * per_hour[r];
    printf("%g per hour: %d false alarms in %d s, at most %.1f expected\n", per_hour[r], (int)raised,
           SAMPLES / 1000, expected);
    if (r == 0)
      ck_assert_uint_eq(raised, 0);
    else /* overlapping windows and what does not matter make it less, not nothing; 3 sigma of Poisson above */
      ck_assert(raised >= 4 && (double)raised < expected + 3.0 * sqrt(expected));
    bramah_alarm_free(alarm);
  }
}

/* An offset of so many sigmas from an unforeseen sample on: median delay against the one expected. */
TEST(test_offset)
{
  enum { RUNS = 101 };
  static const double sigmas[] = {0.3, 1.0, 2.0, 5.0};
  for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
    bramah_alarm *alarm = make(0.0);
    const double expected = bramah_alarm_delay(alarm, 1, sigmas[s]);
    double sum = 0.0;
    bramah_alarm_free(alarm);
    for (uint64_t r = 0; r < RUNS; r++) {
      alarm = make(0.0);
      const uint64_t begin = 1000 + draw_one(draw_key(7, s, r), 0, 700);
      uint64_t k = 0;
      while (!give(alarm, 1, k, draw_normal(draw_key(5, s, r), k) + (k >= begin ? sigmas[s] : 0.0))) k++;
      const bramah_alarm_state state = bramah_alarm_get(alarm, 1);
      ck_assert_uint_ge(k, begin);
      ck_assert_uint_eq(bramah_alarm_count(alarm), 1);
      ck_assert_int_eq(state.raised_ns, (int64_t)k * 1000000);
      ck_assert_int_lt(state.since_ns, state.raised_ns);
      sum += 1e-3 * (double)(k - begin);
      bramah_alarm_free(alarm);
    }
    printf("%.1f sigma: %.4f s, expected %.4f s\n", sigmas[s], sum / RUNS, expected);
    ck_assert(sum / RUNS > 0.5 * expected && sum / RUNS < 1.5 * expected);
  }
}

/* What it is, how large, and that it ends. */
TEST(test_kinds)
{
  static const char *const name[BRAMAH_ALARM_KINDS] = {"mean", "variance", "correlation"};
  for (int kind = 0; kind < BRAMAH_ALARM_KINDS; kind++) {
    bramah_alarm *alarm = make(0.0);
    double before = 0.0;
    bramah_alarm_state state = {0};
    for (uint64_t k = 0; k < 20000; k++) {
      const double w = draw_normal(draw_key(11, 0, 0), k);
      const int wrong = k >= 3000 && k < 6000;
      before = 0.8 * before + 0.6 * w; /* of variance one */
      give(alarm, 2, k, !wrong ? w : kind == 0 ? w + 1.0 : kind == 1 ? 2.0 * w : before);
      if (k == 5999) state = bramah_alarm_get(alarm, 2);
    }
    printf("%s: since %.3f s, raised %.3f s, %g\n", name[kind], 1e-9 * (double)state.since_ns,
           1e-9 * (double)state.raised_ns, state.amount);
    ck_assert_int_eq(state.raised, 1);
    ck_assert_int_eq((int)state.kind, kind);
    ck_assert(state.since_ns > 2900000000 && state.raised_ns < 3300000000);
    const double amount[BRAMAH_ALARM_KINDS] = {sensors[2].sigma, 4.0, 0.8};
    /* its window begins a little before and shows less */
    ck_assert(state.amount > 0.6 * amount[kind] && state.amount < 1.15 * amount[kind]);
    ck_assert_int_eq(bramah_alarm_get(alarm, 2).raised, 0);
    bramah_alarm_free(alarm);
  }
}

TEST(test_absurd_and_considered)
{
  bramah_alarm *alarm = make(0.0);
  /* A single sample, however large, counts as 8 sigma: it is seen and forgotten. */
  for (uint64_t k = 0; k < 30000; k++)
    give(alarm, 0, k, k == 2000 ? 1e300 : draw_normal(draw_key(13, 0, 0), k));
  ck_assert_uint_le(bramah_alarm_get(alarm, 0).times, 1);
  ck_assert_uint_eq(bramah_alarm_count(alarm), 0);

  /* What a considered bias may explain is none: half of the variance in common. */
  for (uint64_t k = 0; k < 30000; k++) {
    const double sigma = sensors[1].sigma * 1.5, x = sqrt(0.5) * (draw_normal(draw_key(17, 0, 0), k) + 2.5);
    const bramah_innovation in = {
        .present = 1, .innovation = x * sigma, .sigma = sigma, .accepted = 1, .considered = 0.5};
    bramah_alarm_sample(alarm, 1, (int64_t)k * 1000000, &in);
  }
  ck_assert_uint_eq(bramah_alarm_get(alarm, 1).times, 0);
  bramah_alarm_free(alarm);
}

TEST(test_snapshot)
{
  bramah_alarm *alarm = make(0.0), *other = make(0.0), *rate = make(1.0);
  const size_t size = bramah_alarm_snapshot_size(alarm);
  unsigned char *snap = calloc(2, size), *again = snap + size;
  for (uint64_t k = 0; k < 4321; k++) give(alarm, 3, k, draw_normal(draw_key(19, 0, 0), k) + (k > 3000));
  bramah_alarm_save(alarm, snap);
  must(bramah_alarm_restore(other, snap), &diag);
  for (uint64_t k = 4321; k < 9000; k++) {
    const double x = draw_normal(draw_key(19, 0, 0), k);
    ck_assert_int_eq(give(alarm, 3, k, x), give(other, 3, k, x));
  }
  bramah_alarm_save(alarm, snap);
  bramah_alarm_save(other, again);
  ck_assert_mem_eq(snap, again, size);
  ck_assert_int_eq(bramah_alarm_check_snapshot(rate, snap, size, &diag), BRAMAH_E_REFERENCE);
  ck_assert_int_eq(bramah_alarm_check_snapshot(other, snap, size - 8, &diag), BRAMAH_E_ARGUMENT);
  snap[size / 2] ^= 1;
  ck_assert_int_eq(bramah_alarm_restore(other, snap), BRAMAH_E_VALUE);
  bramah_alarm_options o = {.false_per_hour = 0.0};
  bramah_alarm *none = NULL;
  ck_assert_int_eq(bramah_alarm_new(filter, &o, &diag, &none), BRAMAH_E_VALUE);
  free(snap);
  bramah_alarm_free(alarm);
  bramah_alarm_free(other);
  bramah_alarm_free(rate);
}

int main(void)
{
  open_filter();
  const int code = run_tests("alarm");
  close_filter();
  return code;
}
