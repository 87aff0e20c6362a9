/* SPDX-License-Identifier: MIT */
/* Score tests: one thing at a time is wrong with the model or a sensor of the four-bar, and the tests must name it
 * first of all causes; what is right must not be blamed. */
#include "bramah/filter.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS = 5, STEPS = 3000, LATEST = 64 };

static bramah_diag diag;

/* What is wrong, by how much, and how well its size must be found [part of it]; 0: it is great enough to change the
 * motion itself, so that only the name counts. */
typedef struct mistake {
  bramah_cause_kind kind; /* 0: nothing */
  const char *at;
  double size, tolerance;
  int from; /* step at which it begins */
} mistake;

static const mistake mistakes[] = {{0, NULL, 0.0, 0.0, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "pump.pressure", -1.52e5, 0.1, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "pump.pressure", -7.6e5, 0.1, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "valve.flow_coefficient", 1.07e-9, 0.1, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "valve.flow_coefficient", -4.276e-9, 0.2, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "orifice.flow_coefficient", -2.2e-7, 0.0, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "oil.bulk_modulus", -4.5e8, 0.2, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "oil.bulk_modulus", 1.5e9, 0.0, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "coupler.payload", 5.0, 0.2, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "lift.friction_scale", -0.3, 0.2, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "crank.load", 200.0, 0.1, 0},
                                   {BRAMAH_CAUSE_PARAMETER, "valve.offset", 0.1, 0.2, 0},
                                   {BRAMAH_CAUSE_BIAS, "encoder", 0.05, 0.1, 0},
                                   {BRAMAH_CAUSE_BIAS, "gyro", 5e-3, 0.1, 0},
                                   {BRAMAH_CAUSE_BIAS, "p1", 1e5, 0.1, 0},
                                   {BRAMAH_CAUSE_BIAS, "p2", 1e5, 0.1, 0},
                                   {BRAMAH_CAUSE_BIAS, "p3", -1e5, 0.1, 0},
                                   {BRAMAH_CAUSE_GAIN, "encoder", 0.05, 0.1, 0},
                                   {BRAMAH_CAUSE_GAIN, "gyro", -0.05, 0.1, 0},
                                   {BRAMAH_CAUSE_GAIN, "p1", 0.05, 0.1, 0},
                                   {BRAMAH_CAUSE_GAIN, "p3", 0.05, 0.1, 0},
                                   {BRAMAH_CAUSE_DELAY, "encoder", 0.02, 0.3, 0},
                                   {BRAMAH_CAUSE_DELAY, "gyro", 0.02, 0.0, 0},
                                   {BRAMAH_CAUSE_DELAY, "gyro", 0.002, 0.3, 0},
                                   {BRAMAH_CAUSE_DELAY, "p1", 0.02, 0.0, 0},
                                   {BRAMAH_CAUSE_DELAY, "p2", 0.003, 0.0, 0}};

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_program *program;
  bramah_coupled *coupled[2];
  bramah_plant truth, plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
} rig;

static bramah_status make_filter(rig *r, double gate, bramah_covariance_form form, bramah_fusion fusion)
{
  static const double sp = 0.06, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.02, qp[3] = {1e5, 1e5, 1e5};
  const double gates[SENSORS] = {gate, gate, gate, gate, gate};
  const size_t basis = must_find(&r->plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp,
                                   .gate = gates,
                                   .drift_gate = gate > 0.0 ? 6.0 : 0.0,
                                   .form = form,
                                   .fusion = fusion,
                                   .scores = 2};
  return bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter);
}

static void open_rig(rig *r)
{
  four_bar_describe(&r->fb, 1.0, 1000000);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_program_new(r->model, &diag, &r->program), &diag);
  for (int k = 0; k < 2; k++) {
    must(bramah_coupled_new(r->model, &diag, &r->coupled[k]), &diag);
    must(bramah_coupled_use(r->coupled[k], r->program, &diag), &diag);
  }
  r->truth = bramah_coupled_plant(r->coupled[0]);
  r->plant = bramah_coupled_plant(r->coupled[1]);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &r->plant, &diag, &r->sensor[i]), &diag);
}

static void close_rig(rig *r)
{
  bramah_filter_free(r->filter);
  for (int k = 0; k < 2; k++) bramah_coupled_free(r->coupled[k]);
  bramah_program_free(r->program);
  bramah_model_free(r->model);
}

/* The work cycle with that mistake in the machine or in a sensor. */
static void run(rig *r, const mistake *m)
{
  static double shown[SENSORS][LATEST];
  unsigned seed = 42;
  unsigned char present[SENSORS];
  memset(present, 1, sizeof present);
  if (m->kind == BRAMAH_CAUSE_PARAMETER) {
    const size_t p = must_find_parameter(&r->truth, m->at);
    const double value = r->truth.parameter(r->truth.self, p) + m->size;
    must(r->truth.set_parameter(r->truth.self, p, value, &diag), &diag);
  }
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    double y[SENSORS];
    must(r->truth.set_inputs(r->truth.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(r->filter, &u, &diag), &diag);
    must(r->truth.step(r->truth.self, &diag), &diag);
    must(bramah_filter_predict(r->filter, &diag), &diag);
    if (k == m->from) bramah_filter_restart_scores(r->filter, 1);
    for (int i = 0; i < SENSORS; i++) {
      const int wrong =
          k >= m->from && m->kind > BRAMAH_CAUSE_PARAMETER && strcmp(m->at, r->sensor[i].name) == 0;
      const int delay = wrong && m->kind == BRAMAH_CAUSE_DELAY ? (int)lround(m->size * 1e3) : 0;
      shown[i][k % LATEST] = bramah_sensor_predict(&r->sensor[i], &r->truth);
      y[i] = shown[i][(k > delay ? k - delay : 0) % LATEST];
      if (wrong && m->kind == BRAMAH_CAUSE_GAIN) y[i] *= 1.0 + m->size;
      if (wrong && m->kind == BRAMAH_CAUSE_BIAS) y[i] += m->size;
      y[i] += r->sensor[i].sigma * test_normal(&seed);
    }
    must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
  }
}

/* chi-square with one degree of freedom that cause j explains */
static double explained(const bramah_filter_scores *s, size_t j)
{
  const double information = s->information[j * s->n + j];
  return information > 0.0 ? s->score[j] * s->score[j] / information : 0.0;
}

static size_t first(const bramah_filter_scores *s)
{
  size_t best = 0;
  for (size_t j = 1; j < s->n; j++)
    if (explained(s, j) > explained(s, best)) best = j;
  return best;
}

/* How far the tests can tell two causes apart: 1 not at all. */
static double likeness(const bramah_filter_scores *s, size_t j, size_t k)
{
  const size_t row = j > k ? j : k, column = j > k ? k : j;
  return fabs(s->information[row * s->n + column]) /
         sqrt(s->information[j * s->n + j] * s->information[k * s->n + k]);
}

static size_t find(const bramah_filter_scores *s, const mistake *m)
{
  for (size_t j = 0; j < s->n; j++)
    if (s->cause[j].kind == m->kind && strcmp(s->cause[j].name, m->at) == 0) return j;
  ck_abort_msg("no such cause");
  return 0;
}

/* Without gates and with: a sensor that is rejected for its fault is still blamed for it. */
EACH_TEST(test_right_cause_first, 0, 2 * sizeof mistakes / sizeof mistakes[0])
{
  const mistake *m = &mistakes[_i / 2];
  rig r = {0};
  open_rig(&r);
  must(make_filter(&r, _i % 2 ? 4.0 : 0.0, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL), &diag);
  run(&r, m);
  const bramah_filter_scores s = bramah_filter_get_scores(r.filter, 0);
  size_t j = first(&s);
  /* the load of another joint moves the mechanism of one freedom just so */
  if (m->kind == BRAMAH_CAUSE_PARAMETER && likeness(&s, j, find(&s, m)) > 0.99) j = find(&s, m);
  const double size = s.score[j] / s.information[j * s.n + j];
  printf("%d %-24s %10.3g: named %d %-24s %10.3g %s, explains %.0f of %.0f in %.0f samples\n", (int)m->kind,
         m->at ? m->at : "nothing", m->size, (int)s.cause[j].kind, s.cause[j].name, size, s.cause[j].unit,
         explained(&s, j), s.chi_square, s.samples);
  if (m->kind) {
    ck_assert_int_eq(s.cause[j].kind, m->kind);
    ck_assert_str_eq(s.cause[j].name, m->at);
    ck_assert_double_gt(explained(&s, j), 30.0);
    if (m->tolerance > 0.0) ck_assert_double_eq_tol(size / m->size, 1.0, m->tolerance);
  } else {
    ck_assert_double_lt(explained(&s, j), 12.0); /* one of 40: 5e-4 each */
  }
  close_rig(&r);
}

/* A cause that begins later: scores that are restarted then find its size, those of all the time a smaller one. */
TEST(test_onset)
{
  static const mistake late = {BRAMAH_CAUSE_BIAS, "gyro", 5e-3, 0.1, 1700};
  rig r = {0};
  open_rig(&r);
  must(make_filter(&r, 4.0, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL), &diag);
  run(&r, &late);
  double size[2], most[2];
  for (size_t bank = 0; bank < 2; bank++) {
    const bramah_filter_scores s = bramah_filter_get_scores(r.filter, bank);
    const size_t j = find(&s, &late);
    size[bank] = s.score[j] / s.information[j * s.n + j];
    most[bank] = explained(&s, j);
    ck_assert_double_eq(s.samples, bank ? SENSORS * (STEPS - 1700.0) : SENSORS * (double)STEPS);
    if (bank) ck_assert_uint_eq(first(&s), j);
  }
  ck_assert_double_eq_tol(size[1], late.size, 0.1 * late.size);
  ck_assert_double_lt(size[0], 0.9 * late.size);
  ck_assert_double_gt(most[1], 1.2 * most[0]);
  ck_assert_uint_eq(bramah_filter_get_scores(r.filter, 2).n, 0);
  close_rig(&r);
}

/* The root of the covariance gives the same scores, and a snapshot takes them along. */
TEST(test_forms_and_snapshots)
{
  rig r[2] = {{.filter = NULL}};
  for (int k = 0; k < 2; k++) {
    open_rig(&r[k]);
    must(make_filter(&r[k], 0.0, k ? BRAMAH_COVARIANCE_SQUARE_ROOT : BRAMAH_COVARIANCE_JOSEPH,
                     BRAMAH_FUSION_SEQUENTIAL),
         &diag);
    run(&r[k], &mistakes[1]);
  }
  const bramah_filter_scores a = bramah_filter_get_scores(r[0].filter, 0),
                             b = bramah_filter_get_scores(r[1].filter, 0);
  ck_assert_uint_eq(a.n, b.n);
  for (size_t j = 0; j < a.n; j++) {
    const double scale = sqrt(a.information[j * a.n + j]);
    ck_assert_double_eq_tol(a.score[j] / scale, b.score[j] / scale, 1e-3);
    ck_assert_double_eq_tol(a.information[j * a.n + j], b.information[j * a.n + j], 1e-4 * scale * scale);
  }
  const double kept = a.score[3];
  void *snap = calloc(1, bramah_filter_snapshot_size(r[0].filter));
  bramah_filter_save(r[0].filter, snap);
  must(bramah_filter_predict(r[0].filter, &diag), &diag);
  const unsigned char one[SENSORS] = {1};
  const double y[SENSORS] = {1.0};
  must(bramah_filter_correct(r[0].filter, y, one, &diag), &diag);
  ck_assert_double_ne(bramah_filter_get_scores(r[0].filter, 0).score[3], kept);
  must(bramah_filter_restore(r[0].filter, snap), &diag);
  ck_assert_double_eq(bramah_filter_get_scores(r[0].filter, 0).score[3], kept);
  free(snap);

  /* Another filter takes the estimate over: the same covariance, now and a step later. */
  rig other = {.filter = NULL};
  open_rig(&other);
  must(make_filter(&other, 4.0, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_SEQUENTIAL), &diag);
  ck_assert_int_eq(bramah_filter_take_over(other.filter, r[1].filter), BRAMAH_E_ARGUMENT); /* it has a root */
  must(bramah_filter_take_over(other.filter, r[0].filter), &diag);
  for (int step = 0; step < 2; step++) {
    const size_t n = bramah_filter_get_info(other.filter).n_error;
    ck_assert_mem_eq(bramah_filter_covariance(other.filter), bramah_filter_covariance(r[0].filter),
                     n * n * sizeof(double));
    for (size_t i = 0; i < r[0].plant.n_output; i++)
      ck_assert_double_eq(other.plant.output(other.plant.self, i), r[0].plant.output(r[0].plant.self, i));
    must(bramah_filter_predict(r[0].filter, &diag), &diag);
    must(bramah_filter_predict(other.filter, &diag), &diag);
  }
  close_rig(&other);
  bramah_filter_free(r[0].filter);
  r[0].filter = NULL;
  ck_assert_int_eq(make_filter(&r[0], 0.0, BRAMAH_COVARIANCE_JOSEPH, BRAMAH_FUSION_BLOCK),
                   BRAMAH_E_UNSUPPORTED);
  for (int k = 0; k < 2; k++) close_rig(&r[k]);
}

int main(void) { return run_tests("scores"); }
