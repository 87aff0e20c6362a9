/* SPDX-License-Identifier: MIT */
/* Faults of sensors: each sensor in turn drops out, sticks, spikes, is biased or saturates for two seconds of
 * the work cycle. The filter must say so in time, stay finite and positive definite, and not be confidently
 * wrong. Also the covariance through extreme standard deviations, and, by BRAMAH_STEPS, through many
 * steps. */
#include "estimators/filter_internal.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SENSORS = 5, N = 5, FROM = 1500, TO = 3500, END = 4500 };

static bramah_diag diag;

typedef enum fault { DROPOUT, STUCK, SPIKES, BIAS, SATURATED, N_FAULTS } fault;
static const char *const fault_name[N_FAULTS] = {"dropout", "stuck", "spikes", "bias", "saturated"};

typedef struct rig {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *truth_coupled, *coupled;
  bramah_plant truth, plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  size_t output[N];
} rig;

static bramah_filter_options options_of(const rig *r)
{
  static const double sp = 0.02, sv = 0.05, spr[3] = {1e5, 1e5, 1e5}, q = 0.03, qp[3] = {3e5, 3e5, 3e5};
  static const double gate[SENSORS] = {4, 4, 4, 4, 4};
  return (bramah_filter_options){.transition = BRAMAH_TRANSITION_STEP,
                                 .basis = &r->output[0],
                                 .position_sigma = &sp,
                                 .rate_sigma = &sv,
                                 .first_order_sigma = spr,
                                 .acceleration_noise = &q,
                                 .first_order_noise = qp,
                                 .gate = gate,
                                 .drift_gate = 6.0};
}

/* saturated >= 0: that sensor's range ends where it works. */
static void open_rig(rig *r, int saturated)
{
  static const char *const name[N] = {"crank.angle", "crank.rate", "v1.pressure", "v2.pressure",
                                      "v3.pressure"};
  static const double most[SENSORS] = {1.0, 1e-3, 2.0e6, 2.0e6, 2.5e6};
  bramah_sensor_options options[SENSORS];
  memcpy(options, four_bar_sensors, sizeof options);
  four_bar_describe(&r->fb, 1.0, 1000000);
  must(bramah_model_new(&r->fb.machine, &diag, &r->model), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->truth_coupled), &diag);
  must(bramah_coupled_new(r->model, &diag, &r->coupled), &diag);
  r->truth = bramah_coupled_plant(r->truth_coupled);
  r->plant = bramah_coupled_plant(r->coupled);
  for (int i = 0; i < SENSORS; i++) {
    if (i == saturated) options[i].least = -1e9, options[i].most = most[i];
    must(bramah_sensor_init(&options[i], &r->plant, &diag, &r->sensor[i]), &diag);
  }
  for (int i = 0; i < N; i++) r->output[i] = must_find(&r->plant, name[i]);
  const bramah_filter_options o = options_of(r);
  must(bramah_filter_new(&r->plant, SENSORS, r->sensor, &o, &diag, &r->filter), &diag);
}

static void close_rig(rig *r)
{
  bramah_filter_free(r->filter);
  bramah_coupled_free(r->coupled);
  bramah_coupled_free(r->truth_coupled);
  bramah_model_free(r->model);
}

static void check_covariance(const bramah_filter *f)
{
  double scaled[N * N];
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++) {
      ck_assert(isfinite(f->P[i * N + j]));
      ck_assert_double_eq(f->P[i * N + j], f->P[j * N + i]);
      scaled[i * N + j] = f->P[i * N + j] / sqrt(f->P[i * N + i] * f->P[j * N + j]);
    }
  ck_assert_uint_eq(bramah__cholesky_factor(N, scaled), 0);
}

/* What sensor i of the faulty machine tells at step k. */
static double measure(rig *r, int i, int k, int faulty, fault what, unsigned *seed, unsigned char *present)
{
  static double held;
  const double sigma = r->sensor[i].sigma;
  double y = bramah_sensor_predict(&r->sensor[i], &r->truth) + sigma * test_normal(seed);
  *present = 1;
  if (!faulty || k < FROM || k >= TO) return held = faulty ? y : held, y;
  if (what == DROPOUT) *present = 0;
  if (what == STUCK) return held;
  if (what == SPIKES && k % 20 == 0) y += (k % 40 ? 30.0 : -30.0) * sigma;
  if (what == BIAS) y += 6.0 * sigma;
  return what == SATURATED ? fmin(y, r->sensor[i].most) : y;
}

typedef struct verdict {
  int seen_ms;     /* after the onset until a measurement was held back or missed; -1: never */
  int lost_ms;     /* until the sensor counted as lost */
  double worst[N]; /* |error| / sigma */
  double beyond;   /* share of the time and states beyond 4 sigma */
} verdict;

static void look(rig *r, int k, verdict *v)
{
  check_covariance(r->filter);
  for (int s = 0; s < N; s++) {
    const double e =
        r->truth.output(r->truth.self, r->output[s]) - r->plant.output(r->plant.self, r->output[s]);
    const double ratio = fabs(e) / bramah_filter_output_sigma(r->filter, r->output[s]);
    if (k >= FROM && ratio > v->worst[s]) v->worst[s] = ratio;
    if (k >= FROM) v->beyond += (ratio > 4.0) / (double)(N * (END - FROM));
  }
}

static verdict run(rig *r, int faulty, fault what)
{
  verdict v = {.seen_ms = -1, .lost_ms = -1};
  unsigned seed = 77;
  for (int k = 0; k < END; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    double y[SENSORS];
    unsigned char present[SENSORS];
    must(r->truth.set_inputs(r->truth.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(r->filter, &u, &diag), &diag);
    must(r->truth.step(r->truth.self, &diag), &diag);
    must(bramah_filter_predict(r->filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) y[i] = measure(r, i, k, i == faulty, what, &seed, &present[i]);
    must(bramah_filter_correct(r->filter, y, present, &diag), &diag);
    const bramah_innovation *in = &bramah_filter_get_last(r->filter).innovation[faulty];
    if (k >= FROM && v.seen_ms < 0 && !in->accepted) v.seen_ms = k - FROM;
    if (k >= FROM && v.lost_ms < 0 && bramah_filter_sensor_fault(r->filter, (size_t)faulty))
      v.lost_ms = k - FROM;
    look(r, k, &v);
  }
  return v;
}

EACH_TEST(test_faults, 0, N_FAULTS *SENSORS)
{
  const int faulty = _i % SENSORS;
  const fault what = (fault)(_i / SENSORS);
  rig r = {0};
  open_rig(&r, what == SATURATED ? faulty : -1);
  const verdict v = run(&r, faulty, what);
  const bramah_filter_report report = bramah_filter_get_report(r.filter);
  printf("%-9s %-7s seen after %4d ms, lost after %4d ms; worst errors %4.1f %4.1f %4.1f %4.1f %4.1f sigma, "
         "beyond 4 sigma "
         "%.2f %%; gated %llu saturated %llu recoveries %llu\n",
         fault_name[what], r.sensor[faulty].name, v.seen_ms, v.lost_ms, v.worst[0], v.worst[1], v.worst[2],
         v.worst[3], v.worst[4], 100.0 * v.beyond, (unsigned long long)report.gated,
         (unsigned long long)report.saturated, (unsigned long long)report.recoveries);
  close_rig(&r);
  /* A pressure that sticks while it would rest anyway shows only when it should move again. */
  const int at_once = what != STUCK;
  ck_assert_int_ge(v.seen_ms, 0);
  ck_assert_int_le(v.seen_ms, at_once ? 0 : faulty == 4 ? 1100 : 250);
  if (what == STUCK || what == BIAS) ck_assert(v.lost_ms >= 0 && v.lost_ms <= v.seen_ms + 150);
  if (what == SPIKES) ck_assert_uint_ge(report.gated, 100);
  if (what == SATURATED) ck_assert_uint_ge(report.saturated, 4000);
  ck_assert_uint_eq(report.recoveries, 0);
  ck_assert_double_lt(v.beyond, 0.03);
  for (int k = 0; k < N; k++) ck_assert_double_lt(v.worst[k], 10.0);
}

/* All sensors at once lie: then it is the filter that is taken to be wrong, and it must come back when they
 * are right. */
TEST(test_recovers_when_it_is_wrong_itself)
{
  rig r = {0};
  unsigned seed = 3;
  const double lost[N] = {0.3, 0.5, 3e5, -3e5, 4e5};
  open_rig(&r, -1);
  for (int k = 0; k < 600; k++) {
    double y[SENSORS];
    unsigned char present[SENSORS];
    if (k == 200) must(r.plant.inject(r.plant.self, lost, &diag), &diag);
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) y[i] = measure(&r, i, 0, 0, DROPOUT, &seed, &present[i]);
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    check_covariance(r.filter);
  }
  const bramah_filter_report report = bramah_filter_get_report(r.filter);
  ck_assert_uint_ge(report.recoveries, 1);
  for (int s = 0; s < N; s++) {
    const double e = r.truth.output(r.truth.self, r.output[s]) - r.plant.output(r.plant.self, r.output[s]);
    ck_assert_double_lt(fabs(e), 5.0 * bramah_filter_output_sigma(r.filter, r.output[s]));
  }
  for (size_t i = 0; i < SENSORS; i++) ck_assert_int_eq(bramah_filter_sensor_fault(r.filter, i), 0);
  close_rig(&r);
}

/* What a filter that was wrong had estimated of its machine and sensors it only considers again: the great corrections of the
 * recovery do not go there. */
TEST(test_recovery_forgets_what_was_learned)
{
  rig r = {0};
  unsigned seed = 3;
  const double lost[N] = {0.3, 0.5, 3e5, -3e5, 4e5};
  uint64_t recovered = 0;
  open_rig(&r, -1);
  bramah_filter_free(r.filter);
  bramah_filter_options o = options_of(&r);
  const bramah_augmented bias = {.name = "bias",
                                 .kind = BRAMAH_AUGMENTED_BIAS,
                                 .at = r.sensor[2].name,
                                 .sigma = 5e4,
                                 .role = BRAMAH_AUGMENTED_AUTO};
  o.n_augmented = 1, o.augmented = &bias;
  must(bramah_filter_new(&r.plant, SENSORS, r.sensor, &o, &diag, &r.filter), &diag);
  for (int k = 0; k < 600 && !recovered; k++) {
    double y[SENSORS];
    unsigned char present[SENSORS];
    if (k == 200) ck_assert_int_eq(bramah_filter_get_augmented(r.filter, 0).is_estimated, 1);
    if (k == 200) must(r.plant.inject(r.plant.self, lost, &diag), &diag);
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) y[i] = measure(&r, i, 0, 0, DROPOUT, &seed, &present[i]);
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    recovered = bramah_filter_get_report(r.filter).recoveries;
  }
  ck_assert_uint_eq(recovered, 1);
  ck_assert_double_eq(bramah_filter_get_last(r.filter).correction[N], 0.0);
  ck_assert_double_ne(bramah_filter_get_last(r.filter).correction[0], 0.0);
  close_rig(&r);
}

/* Which sensors must lie for the filter to be taken for wrong: all with a gate of one group, if they are two or
 * more; one that is alone in its group may fail by itself. */
EACH_TEST(test_groups, 0, 7)
{
  static const struct {
    unsigned char gated[SENSORS], lies[SENSORS];
    int wrong;
  } cases[] = {{{0, 1, 1, 1, 1}, {0, 1, 0, 0, 0}, 0}, {{1, 1, 1, 1, 1}, {0, 1, 0, 0, 0}, 0},
               {{1, 1, 1, 1, 1}, {1, 1, 0, 0, 0}, 1}, {{1, 1, 1, 0, 0}, {0, 0, 1, 0, 0}, 0},
               {{1, 1, 1, 1, 1}, {0, 0, 1, 1, 0}, 0}, {{1, 1, 1, 1, 1}, {0, 0, 1, 1, 1}, 1},
               {{0, 0, 0, 1, 0}, {0, 0, 0, 1, 0}, 1}};
  rig r = {0};
  unsigned seed = 21;
  double gate[SENSORS];
  open_rig(&r, -1);
  bramah_filter_free(r.filter);
  bramah_filter_options o = options_of(&r);
  for (int i = 0; i < SENSORS; i++) gate[i] = cases[_i].gated[i] ? 4.0 : 0.0;
  o.gate = gate;
  o.drift_gate = 0.0;
  must(bramah_filter_new(&r.plant, SENSORS, r.sensor, &o, &diag, &r.filter), &diag);
  for (int k = 0; k < 75; k++) {
    double y[SENSORS];
    unsigned char present[SENSORS];
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) {
      y[i] = measure(&r, i, 0, 0, DROPOUT, &seed, &present[i]);
      if (k >= 50 && cases[_i].lies[i]) y[i] += 60.0 * r.sensor[i].sigma;
    }
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    /* 25 rejections, patience's default, end with k = 74 */
    if (k == 73) ck_assert_uint_eq(bramah_filter_get_report(r.filter).recoveries, 0);
    if (k == 74) ck_assert_uint_eq(bramah_filter_get_report(r.filter).recoveries, (uint64_t)cases[_i].wrong);
    for (size_t i = 0; k == 74 && !cases[_i].wrong && i < SENSORS; i++)
      ck_assert_int_eq(bramah_filter_sensor_fault(r.filter, i), cases[_i].lies[i]);
  }
  close_rig(&r);
}

/* Sensors far better and far worse than anything real, in both forms of the covariance. */
EACH_TEST(test_extreme_sigmas, 0, 10)
{
  static const double factor[][SENSORS] = {{1e-10, 1, 1, 1, 1},
                                           {1, 1e-9, 1, 1, 1},
                                           {1, 1, 1e-16, 1, 1},
                                           {1e6, 1e6, 1e2, 1e2, 1e2},
                                           {1e-10, 1e-9, 1e-16, 1e-16, 1e2}};
  rig r = {0};
  unsigned seed = 9;
  open_rig(&r, -1);
  bramah_filter_free(r.filter);
  for (int i = 0; i < SENSORS; i++) r.sensor[i].sigma *= factor[_i / 2][i];
  bramah_filter_options o = options_of(&r);
  o.gate = NULL;
  o.form = (bramah_covariance_form)(_i % 2);
  must(bramah_filter_new(&r.plant, SENSORS, r.sensor, &o, &diag, &r.filter), &diag);
  for (int k = 0; k < 1500; k++) {
    double y[SENSORS];
    unsigned char present[SENSORS];
    const double u = k < 300 ? 0.0 : 10.0;
    must(r.truth.set_inputs(r.truth.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) y[i] = measure(&r, i, 0, 0, DROPOUT, &seed, &present[i]);
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    check_covariance(r.filter);
  }
  close_rig(&r);
}

/* BRAMAH_STEPS steps to and fro with dropouts: the covariance stays what it is. */
TEST(test_many_steps)
{
  const char *text = getenv("BRAMAH_STEPS");
  const long steps = text ? atol(text) : 20000;
  rig r = {0};
  unsigned seed = 5;
  double u = 10.0;
  open_rig(&r, -1);
  const size_t stroke = must_find(&r.truth, "lift.stroke");
  for (long k = 0; k < steps; k++) {
    const double s = r.truth.output(r.truth.self, stroke);
    u = s > 1.85 ? -10.0 : s < 1.65 ? 10.0 : u; /* to and fro */
    double y[SENSORS];
    unsigned char present[SENSORS];
    must(r.truth.set_inputs(r.truth.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) {
      y[i] = measure(&r, i, 0, 0, DROPOUT, &seed, &present[i]);
      present[i] = (k / 700) % SENSORS != i && k % 11000 > 500;
    }
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    if (k % 13 == 0) check_covariance(r.filter);
  }
  ck_assert_uint_eq(bramah_filter_get_report(r.filter).recoveries, 0);
  close_rig(&r);
}

/* A sample that no sensor can mean is rejected by its gate, for as long as it comes and from all sensors at
 * once; without a gate the step fails and says so, with nothing changed. */
TEST(test_absurd_sample)
{
  rig r = {0};
  open_rig(&r, -1);
  unsigned seed = 5;
  unsigned char present[SENSORS];
  memset(present, 1, sizeof present);
  uint64_t absurd = 0;
  for (int k = 0; k < 400; k++) {
    const double u = four_bar_command((int64_t)k * 1000000), huge = k % 2 ? 1e308 : -1e308;
    double y[SENSORS];
    must(r.truth.set_inputs(r.truth.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(r.filter, &u, &diag), &diag);
    must(r.truth.step(r.truth.self, &diag), &diag);
    must(bramah_filter_predict(r.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) {
      const int bad = k % 20 == 4 * i || (k >= 200 && k < 260);
      y[i] =
          bad ? huge : bramah_sensor_predict(&r.sensor[i], &r.truth) + r.sensor[i].sigma * test_normal(&seed);
      absurd += (uint64_t)bad;
    }
    must(bramah_filter_correct(r.filter, y, present, &diag), &diag);
    check_covariance(r.filter);
  }
  const bramah_filter_report report = bramah_filter_get_report(r.filter);
  ck_assert_uint_ge(report.gated, absurd - 2 * SENSORS); /* those of a recovery are counted as taken */
  ck_assert_uint_eq(report.recoveries, 2);
  for (int s = 0; s < N; s++) {
    const double error =
        r.plant.output(r.plant.self, r.output[s]) - r.truth.output(r.truth.self, r.output[s]);
    ck_assert_double_lt(fabs(error), 4.0 * bramah_filter_output_sigma(r.filter, r.output[s]));
  }

  bramah_filter_free(r.filter);
  bramah_filter_options o = options_of(&r);
  o.gate = NULL;
  must(bramah_filter_new(&r.plant, SENSORS, r.sensor, &o, &diag, &r.filter), &diag);
  const double y[SENSORS] = {[2] = 1e308}, before = r.plant.output(r.plant.self, r.output[0]);
  const unsigned char only[SENSORS] = {[2] = 1};
  ck_assert_int_eq(bramah_filter_correct(r.filter, y, only, &diag), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, "p1");
  ck_assert_double_eq(r.plant.output(r.plant.self, r.output[0]), before);
  close_rig(&r);
}

int main(void) { return run_tests("faults"); }
