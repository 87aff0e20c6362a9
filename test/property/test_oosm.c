/* SPDX-License-Identifier: MIT */
/* Samples off the present time: offset zero keeps the bits; before it the filter is the optimal one, which
 * knows the state at both ends of the step (batch least squares); after it, exact for motion along a straight
 * line; on a machine the error of the innovation falls with the square of the step. */
#include "estimators/filter_internal.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = LINEAR_N, STEPS = 150 };

static bramah_diag diag;

static double dot(const double *x, const double *y)
{
  double sum = 0.0;
  for (int i = 0; i < N; i++) sum += x[i] * y[i];
  return sum;
}

static bramah_filter *new_filter(linear_run *run)
{
  bramah_filter *filter;
  must(bramah_filter_new(&run->plant, LINEAR_SENSORS, run->sensor, &run->options, &diag, &filter), &diag);
  return filter;
}

static void predict(linear_run *run, bramah_filter *filter, int k)
{
  must(bramah_filter_set_inputs(filter, &run->u[k], &diag), &diag);
  must(bramah_filter_predict(filter, &diag), &diag);
}

static void assert_same(const bramah_filter *a, const bramah_filter *b)
{
  const size_t size = bramah_filter_snapshot_size(a);
  void *sa = calloc(1, size), *sb = calloc(1, size);
  ck_assert_uint_eq(size, bramah_filter_snapshot_size(b));
  bramah_filter_save(a, sa);
  bramah_filter_save(b, sb);
  ck_assert_mem_eq(sa, sb, size);
  free(sa);
  free(sb);
}

/* ---- at the present time ---- */

static void vary(linear_run *run, int variant)
{
  static const double gate[LINEAR_SENSORS] = {4, 4, 4, 4, 4};
  run->options.form = variant == 1 ? BRAMAH_COVARIANCE_SQUARE_ROOT : BRAMAH_COVARIANCE_JOSEPH;
  run->options.fusion = variant == 2 ? BRAMAH_FUSION_BLOCK : BRAMAH_FUSION_SEQUENTIAL;
  run->options.iterations = variant == 3 ? 3 : 1;
  run->options.gate = gate;
}

EACH_TEST(offset_zero_gives_the_same_bits, 0, 4)
{
  static linear_run a, b;
  static const int64_t at_it[LINEAR_SENSORS] = {0};
  linear_run_make(&a, 60);
  linear_run_make(&b, 60);
  vary(&a, _i);
  vary(&b, _i);
  bramah_filter *plain = new_filter(&a), *timed = new_filter(&b);
  for (int k = 0; k < STEPS; k++) {
    must(bramah_filter_correct(plain, a.y[k], a.due[k], &diag), &diag);
    must(bramah_filter_correct_at(timed, b.y[k], b.due[k], k % 2 ? at_it : NULL, &diag), &diag);
    assert_same(plain, timed);
    predict(&a, plain, k);
    predict(&b, timed, k);
  }
  ck_assert_uint_gt(bramah_filter_get_report(plain).gated, 5);
  bramah_filter_free(plain);
  bramah_filter_free(timed);
}

/* Nothing is known of the time before: the sample is taken as one of the start. */
TEST(before_the_first_step_offsets_do_not_count)
{
  static linear_run a, b;
  static const int64_t offset_ns[LINEAR_SENSORS] = {-3000000, 4000000, 0, 1, -1};
  static const unsigned char all[LINEAR_SENSORS] = {1, 1, 1, 1, 1};
  linear_run_make(&a, -1);
  linear_run_make(&b, -1);
  bramah_filter *plain = new_filter(&a), *timed = new_filter(&b);
  must(bramah_filter_correct(plain, a.y[0], all, &diag), &diag);
  must(bramah_filter_correct_at(timed, b.y[0], all, offset_ns, &diag), &diag);
  assert_same(plain, timed);
  bramah_filter_free(plain);
  bramah_filter_free(timed);
}

/* ---- before it ---- */

typedef struct between {
  int sensor;
  double theta, y, sigma;
} between;

/* A sample of sensor k % 5 on the straight line between two states, noisy as the filter takes it to be. */
static between sample_between(const linear_run *run, int k, const double *x, const double *before,
                              unsigned *seed)
{
  double row[N], Q[N * N], spread = 0.0;
  between s = {.sensor = k % LINEAR_SENSORS, .theta = -0.5 + 0.499 * test_uniform(seed)};
  linear_run_row(run, s.sensor, row);
  linear_run_noise(run, Q);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) spread += row[i] * Q[i * N + j] * row[j];
  s.theta = round(s.theta * 1e7) / 1e7; /* whole nanoseconds */
  s.sigma =
      sqrt(run->sensor[s.sensor].sigma * run->sensor[s.sensor].sigma - s.theta * (1.0 + s.theta) * spread);
  s.y = (1.0 + s.theta) * dot(row, x) - s.theta * dot(row, before) + s.sigma * test_normal(seed);
  return s;
}

static void add_to_batch(const linear_run *run, int k, const between *s, least_squares *b)
{
  double row[N], before[N];
  linear_run_row(run, s->sensor, row);
  for (int i = 0; i < N; i++) before[i] = -s->theta * row[i], row[i] *= 1.0 + s->theta;
  least_squares_measurement_between(b, k, before, row, s->y, s->sigma);
}

/* Batch of all up to step k against the filter: in standard deviations. */
static double compare(linear_run *run, int last, const between *samples, const bramah_filter *filter)
{
  static const int state_of_output[N] = {0, 2, 1, 3, 4, 5};
  double x[N], P[N * N], worst = 0.0;
  least_squares *b = least_squares_new(last);
  for (int k = 1; k <= last; k++) add_to_batch(run, k, &samples[k], b);
  linear_run_batch(run, last, b);
  least_squares_state(b, last, x, P);
  least_squares_free(b);
  for (size_t i = 0; i < N; i++) {
    const int s = state_of_output[i];
    const double sigma = sqrt(P[s * N + s]);
    worst = fmax(worst, fabs(run->plant.output(run->plant.self, i) - x[s]) / sigma);
    worst = fmax(worst, fabs(bramah_filter_output_sigma((bramah_filter *)filter, i) / sigma - 1.0));
  }
  return worst;
}

/* The sample off the step comes with the others, or after them in a correction of its own, or before. */
static void correct_in_parts(linear_run *run, bramah_filter *filter, int k, const between *s, int order)
{
  double y[LINEAR_SENSORS];
  unsigned char present[LINEAR_SENSORS];
  int64_t offset_ns[LINEAR_SENSORS] = {0};
  const size_t i = (size_t)s->sensor;
  memcpy(y, run->y[k], sizeof y);
  memcpy(present, run->used[k], sizeof present);
  offset_ns[i] = (int64_t)llround(s->theta * (double)run->plant.step_ns);
  if (order == 1) must(bramah_filter_correct_at(filter, y, present, NULL, &diag), &diag);
  if (order) memset(present, 0, sizeof present);
  y[i] = s->y;
  present[i] = 1;
  must(bramah_filter_correct_at(filter, y, present, offset_ns, &diag), &diag);
  if (order == 2) must(bramah_filter_correct_at(filter, run->y[k], run->used[k], NULL, &diag), &diag);
}

static double run_against_batch(int64_t change_at, int order, int variant)
{
  static linear_run run;
  static between samples[STEPS + 1];
  unsigned seed = 17;
  double x[N], before[N], F[N * N], worst = 0.0;
  linear_run_make(&run, change_at);
  vary(&run, variant);
  run.options.gate = NULL;
  bramah_filter *filter = new_filter(&run);
  memcpy(x, run.object.x, sizeof x);
  linear_plant_transition(&run.object, F);
  for (int k = 0; k <= STEPS; k++) {
    memcpy(run.used[k], run.due[k], sizeof run.used[k]);
    if (k) run.used[k][k % LINEAR_SENSORS] = 0; /* the one that is off the step */
    if (!k) must(bramah_filter_correct(filter, run.y[k], run.used[k], &diag), &diag);
    if (k) samples[k] = sample_between(&run, k, x, before, &seed);
    if (k) correct_in_parts(&run, filter, k, &samples[k], order);
    if (k % 10 == 0) worst = fmax(worst, compare(&run, k, samples, filter));
    memcpy(before, x, sizeof x);
    for (int i = 0; i < N; i++) x[i] = dot(F + i * N, before) + 1e-3 * test_normal(&seed) * fabs(before[i]);
    predict(&run, filter, k);
  }
  bramah_filter_free(filter);
  return worst;
}

EACH_TEST(before_it_the_filter_equals_batch_least_squares, 0, 12)
{
  const int order = _i % 3, variant = _i / 3;
  const double worst = run_against_batch(-1, order, variant),
               changing = run_against_batch(53, order, variant);
  printf("order %d, variant %d: against batch least squares %.2g, coordinates changing %.2g standard "
         "deviations\n",
         order, variant, worst, changing);
  ck_assert_double_lt(worst, 1e-9);
  ck_assert_double_lt(changing, 1e-9);
}

/* ---- after it ---- */

/* From the corrected state the plant goes on by F and the drift of the command; the sample lies on the
 * straight line there. Row and innovation must be those of that line. */
static void look_ahead(linear_run *run, bramah_filter *filter, double theta, const double *F)
{
  double x[N], next[N], row[N], y[LINEAR_SENSORS];
  unsigned char present[LINEAR_SENSORS];
  int64_t offset_ns[LINEAR_SENSORS];
  memcpy(x, run->object.x, sizeof x);
  for (int i = 0; i < N; i++) next[i] = dot(F + i * N, x);
  next[4] += run->object.h * 4e5 * run->object.u;
  next[5] -= run->object.h * 2e5 * run->object.u;
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    linear_run_row(run, i, row);
    y[i] = (1.0 - theta) * dot(row, x) + theta * dot(row, next);
    present[i] = 1;
    offset_ns[i] = (int64_t)llround(theta * (double)run->plant.step_ns);
  }
  double noise[LINEAR_SENSORS] = {0}; /* H Q H' of the last step */
  const size_t nq = bramah_filter_get_info(filter).n_noise;
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    linear_run_row(run, i, row);
    for (size_t q = 0; q < nq; q++) {
      double column = 0.0;
      for (size_t j = 0; j < N; j++) column += row[j] * bramah_filter_get_last(filter).noise[j * nq + q];
      noise[i] += column * column;
    }
  }
  must(bramah_filter_correct_at(filter, y, present, offset_ns, &diag), &diag);
  for (int i = 0; i < LINEAR_SENSORS; i++) {
    const double variance =
        bramah_sensor_variance(&bramah_filter_get_info(filter).sensor[i]) + theta * noise[i];
    ck_assert_double_eq_tol(bramah_filter_get_last(filter).variances[i], variance, 1e-12 * variance);
    const bramah_innovation *out = &bramah_filter_get_last(filter).innovation[i];
    const double *H = bramah_filter_get_last(filter).rows + i * N;
    linear_run_row(run, i, row);
    ck_assert_double_lt(fabs(out->innovation), 1e-10 * out->sigma);
    for (int j = 0; j < N; j++) {
      double along = (1.0 - theta) * row[j];
      for (int m = 0; m < N; m++) along += theta * row[m] * F[m * N + j];
      ck_assert_double_eq_tol(H[j], along, 1e-12 * fmax(1.0, fabs(along)));
    }
  }
}

TEST(after_it_motion_along_a_line_is_exact)
{
  static linear_run run;
  static const double theta[4] = {1e-3, 0.3, 0.5, 1.0};
  double F[N * N];
  linear_run_make(&run, -1);
  bramah_filter *filter = new_filter(&run);
  linear_plant_transition(&run.object, F);
  for (int k = 0; k < 40; k++) {
    run.u[k] = 0.7; /* a command that goes on */
    predict(&run, filter, k);
    if (k % 3) must(bramah_filter_correct(filter, run.y[k + 1], run.due[k + 1], &diag), &diag);
    if (k % 3 != 1) look_ahead(&run, filter, theta[k % 4], F);
  }
  bramah_filter_free(filter);
}

/* ---- order of the error ---- */

enum { FINE_NS = 31250, SENSORS = 5 };

typedef struct machine {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
} machine;

static void open_machine(machine *m, int64_t step_ns)
{
  const double u = 7.0;
  memset(m, 0, sizeof *m);
  four_bar_describe(&m->fb, 1.0, step_ns);
  m->fb.valves[0].initial_spool = u;
  must(bramah_model_new(&m->fb.machine, &diag, &m->model), &diag);
  must(bramah_coupled_new(m->model, &diag, &m->coupled), &diag);
  m->plant = bramah_coupled_plant(m->coupled);
  must(m->plant.set_inputs(m->plant.self, &u, &diag), &diag);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &m->plant, &diag, &m->sensor[i]), &diag);
}

static void close_machine(machine *m)
{
  bramah_coupled_free(m->coupled);
  bramah_model_free(m->model);
}

static double shown(const machine *m, const char *output)
{
  return m->plant.output(m->plant.self, must_find(&m->plant, output));
}

static void start_like(machine *m, const machine *truth)
{
  static const size_t crank = 0;
  const double angle = shown(truth, "crank.angle"), rate = shown(truth, "crank.rate"),
               p[3] = {shown(truth, "v1.pressure"), shown(truth, "v2.pressure"), shown(truth, "v3.pressure")},
               u = 7.0;
  must(bramah_coupled_start(m->coupled, 1, &crank, &angle, &rate, p, &diag), &diag);
  must(m->plant.set_inputs(m->plant.self, &u, &diag), &diag);
}

static void go(machine *m, int64_t steps)
{
  for (int64_t k = 0; k < steps; k++) must(m->plant.step(m->plant.self, &diag), &diag);
}

static bramah_filter *machine_filter(const machine *m)
{
  static const double sp = 0.02, sv = 0.05, spr[3] = {1e5, 1e5, 1e5}, q = 0.05, qp[3] = {1e6, 1e6, 1e6};
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp};
  bramah_filter *filter;
  must(bramah_filter_new(&m->plant, SENSORS, m->sensor, &o, &diag, &filter), &diag);
  return filter;
}

/* What a filter that knows the state finds wrong with true samples theta steps of h off its second point,
 * the state known at the first: with their time, and if they are taken for samples at the point. */
static void errors(int64_t h_ns, double theta, double *timed, double *untimed)
{
  static const unsigned char all[SENSORS] = {1, 1, 1, 1, 1};
  machine truth, model;
  double y[SENSORS];
  int64_t offset_ns[SENSORS];
  open_machine(&truth, FINE_NS);
  open_machine(&model, h_ns);
  go(&truth, 100000000 / FINE_NS);
  start_like(&model, &truth);
  bramah_filter *filter = machine_filter(&model);
  const int64_t offset = (int64_t)llround(theta * (double)h_ns);
  go(&truth, (h_ns + offset) / FINE_NS);
  for (int i = 0; i < SENSORS; i++) {
    y[i] = bramah_sensor_predict(&truth.sensor[i], &truth.plant);
    offset_ns[i] = offset;
  }
  must(bramah_filter_predict(filter, &diag), &diag);
  void *snap = malloc(bramah_filter_snapshot_size(filter));
  bramah_filter_save(filter, snap);
  must(bramah_filter_correct_at(filter, y, all, offset_ns, &diag), &diag);
  for (int i = 0; i < SENSORS; i++) timed[i] = bramah_filter_get_last(filter).innovation[i].innovation;
  bramah_filter_restore(filter, snap);
  must(bramah_filter_correct(filter, y, all, &diag), &diag);
  for (int i = 0; i < SENSORS; i++) untimed[i] = bramah_filter_get_last(filter).innovation[i].innovation;
  free(snap);
  bramah_filter_free(filter);
  close_machine(&model);
  close_machine(&truth);
}

EACH_TEST(innovations_are_of_second_order, 0, 4)
{
  static const double theta[4] = {-0.5, -0.25, 0.25, 0.5};
  double timed[3][SENSORS], untimed[3][SENSORS];
  for (int j = 0; j < 3; j++) errors(1000000 >> j, theta[_i], timed[j], untimed[j]);
  for (int i = 0; i < SENSORS; i++) {
    printf(
        "theta %5.2f sensor %d: error at 1, 0.5, 0.25 ms %9.2e %9.2e %9.2e; without time %9.2e %9.2e %9.2e\n",
        theta[_i], i, timed[0][i], timed[1][i], timed[2][i], untimed[0][i], untimed[1][i], untimed[2][i]);
    ck_assert_double_gt(fabs(timed[1][i]), 3.2 * fabs(timed[2][i]));
    ck_assert_double_lt(fabs(untimed[1][i]), 2.8 * fabs(untimed[2][i]));
    ck_assert_double_lt(fabs(timed[2][i]), 0.2 * fabs(untimed[2][i]));
  }
}

/* ---- refusals and snapshots ---- */

TEST(samples_further_than_a_step_are_refused)
{
  static linear_run a, b;
  static const unsigned char all[LINEAR_SENSORS] = {1, 1, 1, 1, 1};
  int64_t offset_ns[LINEAR_SENSORS] = {0};
  linear_run_make(&a, -1);
  linear_run_make(&b, -1);
  bramah_filter *filter = new_filter(&a), *other = new_filter(&b);
  predict(&a, filter, 0);
  predict(&b, other, 0);
  for (int side = -1; side <= 1; side += 2) {
    offset_ns[2] = side * (a.plant.step_ns + 1);
    ck_assert_int_eq(bramah_filter_correct_at(filter, a.y[1], all, offset_ns, &diag), BRAMAH_E_TIME);
    ck_assert_str_eq(diag.thing, "rate");
    assert_same(filter, other);
    offset_ns[2] = side * a.plant.step_ns;
    must(bramah_filter_correct_at(filter, a.y[1], all, offset_ns, &diag), &diag);
    must(bramah_filter_correct_at(other, b.y[1], all, offset_ns, &diag), &diag);
  }
  bramah_filter_free(filter);
  bramah_filter_free(other);
}

/* Another filter that takes over the snapshot knows the last step too: in the middle of a correction's time,
 * and after the coordinates have changed. */
EACH_TEST(a_snapshot_holds_the_last_step, 0, 4)
{
  static linear_run a, b;
  static const int64_t offset_ns[LINEAR_SENSORS] = {-2500000, 4000000, 0, 3000000, -5000000};
  static const unsigned char all[LINEAR_SENSORS] = {1, 1, 1, 1, 1}, some[LINEAR_SENSORS] = {0, 1, 0, 0, 1};
  linear_run_make(&a, 20);
  linear_run_make(&b, 20);
  vary(&a, _i);
  vary(&b, _i);
  bramah_filter *first = new_filter(&a), *second = new_filter(&b);
  void *snap = malloc(bramah_filter_snapshot_size(first));
  for (int k = 0; k < 40; k++) {
    predict(&a, first, k);
    if (k % 2) must(bramah_filter_correct_at(first, a.y[k + 1], some, offset_ns, &diag), &diag);
    if (k % 19 == 0) {
      bramah_filter_save(first, snap);
      bramah_filter_restore(second, snap);
    } else {
      predict(&b, second, k);
      if (k % 2) must(bramah_filter_correct_at(second, b.y[k + 1], some, offset_ns, &diag), &diag);
    }
    must(bramah_filter_correct_at(first, a.y[k + 1], all, offset_ns, &diag), &diag);
    must(bramah_filter_correct_at(second, b.y[k + 1], all, offset_ns, &diag), &diag);
    assert_same(first, second);
  }
  free(snap);
  bramah_filter_free(first);
  bramah_filter_free(second);
}

int main(void) { return run_tests("samples off the time"); }
