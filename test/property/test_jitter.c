/* SPDX-License-Identifier: MIT */
/* Replay of logs whose rows are off the steps, on the hydraulic four-bar: a log with jitter comes to the
 * clean one as the jitter vanishes; samples at random times and at rates of their own leave the filter
 * consistent (NEES), which it is not if their times are rounded; delays give the bits of the log in order.
 * The valve is opened to 7 V, see test_consistency.c. BRAMAH_RUNS sets the number of runs. */
#include "bramah/replay.h"
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 5, SENSORS = 5, FINE = 10, STEPS = 400, POINTS = STEPS * FINE + 1, FIRST = 100 };

static const int64_t ms = 1000000;
static bramah_diag diag;

static const double position_sigma = 0.01, rate_sigma = 0.02, pressure_sigma[3] = {1e5, 1e5, 1e5},
                    acceleration_noise = 0.3, pressure_noise[3] = {1e6, 1e6, 1e6};

static const bramah_sensor_options sensor_options[SENSORS] = {
    {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 2e-4},
    {.name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "crank", .axis = {0, 0, 1}, .sigma = 2e-3},
    {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 1e4},
    {.name = "p2", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v2", .sigma = 1e4},
    {.name = "p3", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v3", .sigma = 1e4}};

/* ---- machines ---- */

typedef struct side {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
} side;

static void open_side(side *s, int64_t step_ns, int64_t delay_ns)
{
  memset(s, 0, sizeof *s);
  four_bar_describe(&s->fb, 1.0, step_ns);
  must(bramah_model_new(&s->fb.machine, &diag, &s->model), &diag);
  must(bramah_coupled_new(s->model, &diag, &s->coupled), &diag);
  s->plant = bramah_coupled_plant(s->coupled);
  for (int i = 0; i < SENSORS; i++) {
    bramah_sensor_options o = sensor_options[i];
    o.delay_ns = delay_ns * i; /* each its own */
    must(bramah_sensor_init(&o, &s->plant, &diag, &s->sensor[i]), &diag);
  }
  const size_t basis = must_find(&s->plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &position_sigma,
                                   .rate_sigma = &rate_sigma,
                                   .first_order_sigma = pressure_sigma,
                                   .acceleration_noise = &acceleration_noise,
                                   .first_order_noise = pressure_noise};
  must(bramah_filter_new(&s->plant, SENSORS, s->sensor, &o, &diag, &s->filter), &diag);
}

static void close_side(side *s)
{
  bramah_filter_free(s->filter);
  bramah_coupled_free(s->coupled);
  bramah_model_free(s->model);
}

/* ---- truth ---- */

typedef struct truth {
  double x[POINTS][N], y[POINTS][SENSORS];
} truth;

static void disturb_start(side *s, unsigned *seed)
{
  double dx[N];
  test_draw(N, s->filter->P, seed, dx);
  must(s->plant.inject(s->plant.self, dx, &diag), &diag);
}

/* Motion in fine steps, disturbed as the filter assumes if `noisy`. */
static void make_truth(truth *out, int noisy, unsigned seed)
{
  const double u = 7.0;
  double dx[N];
  side s;
  open_side(&s, ms / FINE, 0);
  must(bramah_filter_set_inputs(s.filter, &u, &diag), &diag);
  if (noisy) disturb_start(&s, &seed);
  for (int j = 0; j < POINTS; j++) {
    s.plant.coordinates(s.plant.self, out->x[j]);
    for (int i = 0; i < SENSORS; i++) out->y[j][i] = bramah_sensor_predict(&s.sensor[i], &s.plant);
    must(bramah_filter_predict(s.filter, &diag), &diag);
    if (!noisy) continue;
    test_normals(N, s.filter->nq, s.filter->Gamma, &seed, dx);
    must(s.plant.inject(s.plant.self, dx, &diag), &diag);
  }
  close_side(&s);
}

/* What sensor i would show at any time, between the fine points along a straight line. */
static double shown(const truth *t, int64_t time_ns, int i)
{
  const int64_t fine_ns = ms / FINE, j = time_ns / fine_ns;
  const double part = (double)(time_ns - j * fine_ns) / (double)fine_ns;
  return part > 0.0 ? (1.0 - part) * t->y[j][i] + part * t->y[j + 1][i] : t->y[j][i];
}

/* ---- a log ---- */

typedef struct entry {
  int64_t time_ns; /* of arrival */
  int sensor;      /* -1: the command */
  double value;
} entry;

enum { MOST_ENTRIES = SENSORS * POINTS + 4 };

typedef struct journal {
  entry entry[MOST_ENTRIES];
  size_t n, next;
} journal;

static void add(journal *j, int64_t time_ns, int sensor, double value)
{
  ck_assert_uint_lt(j->n, MOST_ENTRIES);
  j->entry[j->n++] = (entry){time_ns, sensor, value};
}

static int sooner(const void *a, const void *b)
{
  const entry *x = a, *y = b;
  if (x->time_ns != y->time_ns) return x->time_ns < y->time_ns ? -1 : 1;
  return x->sensor - y->sensor;
}

/* Entries of one time make a row. */
static bramah_status take(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  journal *j = user;
  (void)d;
  *end = j->next == j->n;
  if (*end) return BRAMAH_OK;
  sample->time_ns = j->entry[j->next].time_ns;
  for (; j->next < j->n && j->entry[j->next].time_ns == sample->time_ns; j->next++) {
    const entry *e = &j->entry[j->next];
    if (e->sensor < 0) {
      sample->inputs[0] = e->value;
      sample->has_input[0] = 1;
    } else {
      sample->y[e->sensor] = e->value;
      sample->present[e->sensor] = 1;
    }
  }
  return BRAMAH_OK;
}

/* ---- replays ---- */

typedef struct result {
  double x[STEPS + 1][N], P[STEPS + 1][N * N];
  size_t points, used;
  bramah_replay_report counts;
  const bramah_filter *filter;
} result;

static void count_use(void *user, const bramah_rewind_use *use)
{
  (void)use;
  ((result *)user)->used++;
}

static void keep(void *user, int64_t time_ns, int corrected)
{
  result *r = user;
  const bramah_filter *filter = r->filter;
  (void)corrected;
  ck_assert_int_eq(time_ns, (int64_t)r->points * ms);
  if (r->points <= STEPS) {
    filter->plant.coordinates(filter->plant.self, r->x[r->points]);
    memcpy(r->P[r->points], filter->P, sizeof r->P[0]);
  }
  r->points++;
}

static void replay(side *s, journal *j, result *out)
{
  bramah_replay *replay;
  bramah_replay_options o;
  bramah_replay_options_default(&o);
  o.gather = 1;
  memset(out, 0, sizeof *out);
  j->next = 0;
  qsort(j->entry, j->n, sizeof *j->entry, sooner);
  out->filter = s->filter;
  o.listener = (bramah_listener){out, count_use};
  must(bramah_replay_new(s->filter, &o, take, j, &diag, &replay), &diag);
  must(replay_run(replay, keep, out, &diag), &diag);
  out->counts = bramah_replay_get_report(replay);
  bramah_replay_free(replay);
}

/* ---- jitter ---- */

/* Every sensor at every step, up to `jitter` steps off it; the noise is that of the step whatever the
 * jitter. stamped = 0: the time of the step is given instead of the true one. */
static void jittered(const truth *t, double jitter, int stamped, double noise, journal *j)
{
  unsigned seed = 7;
  j->n = 0;
  add(j, 0, -1, 7.0);
  for (int64_t k = 1; k < STEPS; k++)
    for (int i = 0; i < SENSORS; i++) {
      const int64_t offset_ns = (int64_t)llround(jitter * test_uniform(&seed) * (double)ms);
      const double error = noise * sensor_options[i].sigma * test_normal(&seed);
      add(j, k * ms + (stamped ? offset_ns : 0), i, shown(t, k * ms + offset_ns, i) + error);
    }
  add(j, STEPS * ms, -1, 7.0);
}

static void replay_jittered(const truth *t, double jitter, int stamped, double noise, result *out)
{
  journal *j = calloc(1, sizeof *j);
  side s;
  open_side(&s, ms, 0);
  jittered(t, jitter, stamped, noise, j);
  replay(&s, j, out);
  ck_assert_uint_eq(out->points, STEPS + 1);
  ck_assert_uint_eq(out->used, (STEPS - 1) * SENSORS);
  ck_assert_uint_eq(out->counts.merged, 0);
  close_side(&s);
  free(j);
}

/* Root mean square over all states and points, in standard deviations. */
static double apart(const result *a, const result *b)
{
  double sum = 0.0;
  for (int k = FIRST; k <= STEPS; k++)
    for (int i = 0; i < N; i++) sum += pow(a->x[k][i] - b->x[k][i], 2) / b->P[k][i * N + i];
  return sqrt(sum / (N * (STEPS - FIRST + 1)));
}

static truth motion;
static result clean, timed, untimed;

/* Sensors without noise show the errors of the rule alone. With noise the filter weighs samples off the
 * step otherwise than those at it, rightly so: the estimates differ more, and still come together. */
EACH_TEST(a_jittered_log_comes_to_the_clean_one, 0, 2)
{
  const double noise = _i;
  double first = 0.0, before = INFINITY;
  make_truth(&motion, 0, 1);
  replay_jittered(&motion, 0.0, 1, noise, &clean);
  for (double jitter = 0.4; jitter > 0.01; jitter /= 2) {
    replay_jittered(&motion, jitter, 1, noise, &timed);
    replay_jittered(&motion, jitter, 0, noise, &untimed);
    const double with = apart(&timed, &clean), without = apart(&untimed, &clean);
    printf("noise %g, jitter of %.3f steps: %.5f standard deviations off the clean log, times rounded %.5f\n",
           noise, jitter, with, without);
    ck_assert_uint_gt(timed.counts.off_grid, (STEPS - 1) * SENSORS * 9 / 10);
    ck_assert_double_lt(with, 0.7 * before);
    if (_i == 0) ck_assert_double_lt(with, 0.15 * without);
    if (jitter > 0.3) first = with;
    before = with;
  }
  ck_assert_double_lt(before, 0.08 * first);
  replay_jittered(&motion, 0.0, 0, noise, &untimed);
  ck_assert_mem_eq(untimed.x, clean.x, sizeof clean.x);
  ck_assert_mem_eq(untimed.P, clean.P, sizeof clean.P);
}

/* ---- consistency ---- */

/* Periods in fine steps that do not divide the step, or random times as often. */
static void mixed_rates(const truth *t, int random, int stamped, unsigned seed, journal *j)
{
  static const int period[SENSORS] = {23, 13, 7, 19, 31};
  j->n = 0;
  add(j, 0, -1, 7.0);
  for (int i = 0; i < SENSORS; i++)
    for (int p = 1; p < POINTS - FINE / 2; p++) {
      const int due = random ? test_uniform(&seed) < 2.0 / period[i] - 1.0 : p % period[i] == 0;
      const int64_t time_ns = p * (ms / FINE), point = (time_ns + ms / 2) / ms * ms;
      if (due)
        add(j, stamped ? time_ns : point, i, t->y[p][i] + sensor_options[i].sigma * test_normal(&seed));
    }
  add(j, STEPS * ms, -1, 7.0);
}

static double nees(const result *r, const truth *t, int k)
{
  double L[N * N], e[N], x[N], sum = 0.0;
  memcpy(L, r->P[k], sizeof L);
  for (int i = 0; i < N; i++) x[i] = e[i] = t->x[k * FINE][i] - r->x[k][i];
  ck_assert_uint_eq(bramah__cholesky_factor(N, L), 0);
  bramah__cholesky_solve(N, L, x);
  for (int i = 0; i < N; i++) sum += x[i] * e[i];
  return sum;
}

static int number_of_runs(void)
{
  const char *text = getenv("BRAMAH_RUNS");
  const int n = text ? atoi(text) : 0;
  return n > 0 ? n : 30;
}

/* Mean NEES over runs and points, and the share of points at which the mean over the runs is in its band. */
static void campaign(int random, int stamped, double *mean, double *share)
{
  static double sum[STEPS + 1];
  const int runs = number_of_runs();
  const double half = 1.96 * sqrt(2.0 * N / runs);
  journal *j = calloc(1, sizeof *j);
  memset(sum, 0, sizeof sum);
  *mean = *share = 0.0;
  for (int r = 0; r < runs; r++) {
    side s;
    make_truth(&motion, 1, 500u + 7919u * (unsigned)r);
    open_side(&s, ms, 0);
    mixed_rates(&motion, random, stamped, 90001u + 104729u * (unsigned)r, j);
    replay(&s, j, &timed);
    for (int k = FIRST; k <= STEPS; k++) sum[k] += nees(&timed, &motion, k) / runs;
    close_side(&s);
  }
  for (int k = FIRST; k <= STEPS; k++) *mean += sum[k], *share += fabs(sum[k] - N) <= half;
  *mean /= STEPS - FIRST + 1;
  *share /= STEPS - FIRST + 1;
  free(j);
}

EACH_TEST(samples_at_any_time_leave_the_filter_consistent, 0, 2)
{
  double mean, share, rounded_mean, rounded_share;
  campaign(_i, 1, &mean, &share);
  campaign(_i, 0, &rounded_mean, &rounded_share);
  printf("%s: mean NEES %.3f of %d, in its 95 %% band %.1f %% of the time; times rounded: %.3f, %.1f %%\n",
         _i ? "random times" : "rates that do not divide the step", mean, N, 100 * share, rounded_mean,
         100 * rounded_share);
  ck_assert_double_eq_tol(mean, N, 0.5 * fmax(1.0, sqrt(30.0 / number_of_runs())));
  ck_assert_double_ge(share, 0.75);
  ck_assert_double_gt(rounded_mean, 2 * N);
}

/* ---- delays ---- */

/* At most one sample of each sensor in a step, measured anywhere in it. Rows carry the time of arrival. */
static void delayed(const truth *t, const side *s, journal *j)
{
  unsigned seed = 23;
  j->n = 0;
  add(j, 0, -1, 7.0);
  for (int64_t k = 1; k < STEPS - 40; k++)
    for (int i = 0; i < SENSORS; i++) {
      const int64_t time_ns = k * ms + (int64_t)llround(0.49 * test_uniform(&seed) * (double)ms);
      const double error = sensor_options[i].sigma * test_normal(&seed);
      if (k % (i + 1) == 0) add(j, time_ns + s->sensor[i].delay_ns, i, shown(t, time_ns, i) + error);
    }
  for (int64_t k = 1; k <= STEPS; k++) add(j, k * ms, -1, k < 200 ? 7.0 : 6.0);
}

/* Delays that are no multiples of the step: rows come out of order, and in the end nothing shows. */
TEST(delayed_samples_beside_the_steps_give_the_bits_of_the_log_in_order)
{
  journal *j = calloc(1, sizeof *j);
  side late, ordered;
  make_truth(&motion, 1, 3);
  open_side(&late, ms, 7300001);
  open_side(&ordered, ms, 0);
  delayed(&motion, &late, j);
  replay(&late, j, &timed);
  delayed(&motion, &ordered, j);
  replay(&ordered, j, &clean);
  ck_assert_uint_eq(timed.used, clean.used);
  ck_assert_uint_eq(timed.points, clean.points);
  ck_assert_int_ne(memcmp(timed.x[100], clean.x[100], sizeof clean.x[100]), 0);
  ck_assert_mem_eq(timed.x[STEPS], clean.x[STEPS], sizeof clean.x[STEPS]);
  ck_assert_mem_eq(timed.P[STEPS], clean.P[STEPS], sizeof clean.P[STEPS]);
  close_side(&late);
  close_side(&ordered);
  free(j);
}

int main(void) { return run_tests("jitter"); }
