/* SPDX-License-Identifier: MIT */
/* Plant noise on the four-bar: white noise of unknown density is found while the filter runs; a coloured
 * disturbance calls for a shaping filter, an augmented state that follows it. The valve is opened to 7 V, see
 * test_consistency.c. */
#include "bramah/adaptive.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 5, SENSORS = 5, VALUES = 3 };

static bramah_diag diag;

static const double position_sigma = 0.01, rate_sigma = 0.02, pressure_sigma[3] = {1e5, 1e5, 1e5},
                    acceleration_truth = 0.3, pressure_truth[3] = {1e6, 1e6, 1e6};

static const unsigned char present[SENSORS] = {1, 1, 1, 1, 1};

typedef struct side {
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  bramah_adaptive *adaptive;
} side;

static const bramah_model *model;

static void set_up(void)
{
  static four_bar fb;
  four_bar_describe(&fb, 1.0, 1000000);
  must(bramah_model_new(&fb.machine, &diag, &model), &diag);
}

static void tear_down(void) { bramah_model_free(model); }

/* With densities `factor` times the truth's; v1 is given right: it follows the valve so quickly that its noise
 * of 5 kPa is lost in that of its sensor. */
static void open_side(side *s, double factor, const bramah_augmented *augmented)
{
  const double q = factor * acceleration_truth,
               qp[3] = {pressure_truth[0], factor * pressure_truth[1], factor * pressure_truth[2]};
  memset(s, 0, sizeof *s);
  must(bramah_coupled_new(model, &diag, &s->coupled), &diag);
  s->plant = bramah_coupled_plant(s->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &s->plant, &diag, &s->sensor[i]), &diag);
  const size_t basis = must_find(&s->plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &position_sigma,
                                   .rate_sigma = &rate_sigma,
                                   .first_order_sigma = pressure_sigma,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp,
                                   .n_augmented = augmented ? 1 : 0,
                                   .augmented = augmented};
  must(bramah_filter_new(&s->plant, SENSORS, s->sensor, &o, &diag, &s->filter), &diag);
}

static void close_side(side *s)
{
  bramah_adaptive_free(s->adaptive);
  bramah_filter_free(s->filter);
  bramah_coupled_free(s->coupled);
}

static void measure(side *truth, unsigned *seed, double *y)
{
  for (int i = 0; i < SENSORS; i++)
    y[i] = bramah_sensor_predict(&truth->sensor[i], &truth->plant) +
           four_bar_sensors[i].sigma * test_normal(seed);
}

/* One cycle; y' S^-1 y per degree of freedom. */
static double cycle(side *s, double u, const double *y)
{
  size_t dof;
  must(bramah_filter_set_inputs(s->filter, &u, &diag), &diag);
  must(bramah_filter_predict(s->filter, &diag), &diag);
  if (s->adaptive) bramah_adaptive_predicted(s->adaptive);
  must(bramah_filter_correct(s->filter, y, present, &diag), &diag);
  if (s->adaptive) bramah_adaptive_corrected(s->adaptive);
  const double nis = filter_nis(s->filter, &dof);
  return nis / (double)dof;
}

static double command(int k) { return 0.7 * four_bar_command((int64_t)k * 1000000); }

/* ---- white noise ---- */

/* The truth moves on with the noise of the step that a filter on it would reckon with. */
static void advance_disturbed(side *truth, double u, unsigned *seed)
{
  double dx[N];
  must(bramah_filter_set_inputs(truth->filter, &u, &diag), &diag);
  must(bramah_filter_predict(truth->filter, &diag), &diag);
  test_normals(N, bramah_filter_get_info(truth->filter).n_noise, bramah_filter_get_last(truth->filter).noise,
               seed, dx);
  must(truth->plant.inject(truth->plant.self, dx, &diag), &diag);
}

static void adapt(side *s, bramah_adaptive_method method)
{
  static const double la = 1e-3, ma = 100, lp[3] = {0, 1e3, 1e3}, mp[3] = {0, 1e8, 1e8};
  const bramah_adaptive_options o = {.method = method,
                                     .window = 500,
                                     .acceleration_least = &la,
                                     .acceleration_most = &ma,
                                     .first_order_least = lp,
                                     .first_order_most = mp};
  must(bramah_adaptive_new(s->filter, &o, &diag, &s->adaptive), &diag);
}

static const struct {
  bramah_adaptive_method method;
  double factor;
} starts[] = {{BRAMAH_ADAPTIVE_LIKELIHOOD, 0.1},
              {BRAMAH_ADAPTIVE_LIKELIHOOD, 10.0},
              {BRAMAH_ADAPTIVE_MATCHING, 0.1},
              {BRAMAH_ADAPTIVE_MATCHING, 10.0}};

EACH_TEST(test_white_noise_is_found, 0, sizeof starts / sizeof starts[0])
{
  enum { FIRST = 300, SETTLED = 3000, STEPS = 4000 };
  side truth, estimate;
  unsigned seed = 7;
  double nis[2] = {0};
  set_up();
  open_side(&truth, 1.0, NULL);
  open_side(&estimate, starts[_i].factor, NULL);
  adapt(&estimate, starts[_i].method);
  for (int k = 0; k < STEPS; k++) {
    double y[SENSORS];
    advance_disturbed(&truth, command(k), &seed);
    measure(&truth, &seed, y);
    const double one = cycle(&estimate, command(k), y);
    if (k < FIRST) nis[0] += one / FIRST;
    if (k >= SETTLED) nis[1] += one / (STEPS - SETTLED);
  }
  printf("method %d, densities times %g: NIS %.3f, then %.3f\n", (int)starts[_i].method, starts[_i].factor,
         nis[0], nis[1]);
  ck_assert_uint_eq(bramah_adaptive_get_report(estimate.adaptive).n_values, VALUES);
  for (size_t k = 0; k < VALUES; k++) {
    const bramah_adaptive_value value = bramah_adaptive_get_report(estimate.adaptive).value[k];
    const double ratio = value.value / (k ? pressure_truth[k] : acceleration_truth);
    printf("  %s %zu: %.4g +- %.2g, over the truth %.3f\n", k ? "pressure" : "acceleration", value.index,
           value.value, value.sigma, ratio);
    ck_assert_double_gt(ratio, 1.0 / 1.3);
    ck_assert_double_lt(ratio, 1.3);
  }
  ck_assert_double_eq(bramah_filter_get_info(estimate.filter).first_order_noise[0], pressure_truth[0]);
  ck_assert_double_gt(fabs(nis[0] - 1.0), 0.1);
  ck_assert_double_lt(fabs(nis[1] - 1.0), 2.6 * sqrt(2.0 / (SENSORS * (STEPS - SETTLED))));
  close_side(&truth);
  close_side(&estimate);
  tear_down();
}

/* ---- coloured torque ---- */

enum { COLOURED_FIRST = 2000, COLOURED_STEPS = 8000 };

typedef struct outcome {
  double acceleration_rmse; /* of the crank [rad/s^2] */
  double nis;               /* per degree of freedom */
  double correlation;       /* of the gyro's normalised innovations, from one step to the next */
} outcome;

static const double torque_sigma = 200.0, torque_time = 0.3; /* N m, s */

/* A torque on the crank as a Gauss-Markov process. */
static void advance_coloured(side *truth, double u, double *torque, unsigned *seed)
{
  const size_t load = must_find_parameter(&truth->plant, "crank.load");
  const double Phi = exp(-1e-3 / torque_time);
  *torque = Phi * *torque + torque_sigma * sqrt(1.0 - Phi * Phi) * test_normal(seed);
  must(truth->plant.set_parameter(truth->plant.self, load, *torque, &diag), &diag);
  must(truth->plant.set_inputs(truth->plant.self, &u, &diag), &diag);
  must(truth->plant.step(truth->plant.self, &diag), &diag);
}

static outcome run_coloured(side *estimate)
{
  side truth;
  unsigned seed = 19;
  double torque = 0.0, last = 0.0, product = 0.0, squares = 0.0, error = 0.0, nis = 0.0;
  open_side(&truth, 1.0, NULL);
  const size_t a = must_find(&truth.plant, "crank.acceleration");
  for (int k = 0; k < COLOURED_STEPS; k++) {
    double y[SENSORS];
    advance_coloured(&truth, command(k), &torque, &seed);
    measure(&truth, &seed, y);
    const double one = cycle(estimate, command(k), y);
    const bramah_innovation *gyro = &bramah_filter_get_last(estimate->filter).innovation[1];
    const double now = gyro->innovation / gyro->sigma;
    if (k >= COLOURED_FIRST) {
      product += last * now, squares += now * now, nis += one;
      error +=
          pow(truth.plant.output(truth.plant.self, a) - estimate->plant.output(estimate->plant.self, a), 2);
    }
    last = now;
  }
  const double n = COLOURED_STEPS - COLOURED_FIRST;
  close_side(&truth);
  return (outcome){sqrt(error / n), nis / n, product / squares};
}

/* The white filter may find the density that serves it best; the shaping filter is given the torque's
 * values. */
TEST(test_coloured_torque_wants_a_shaping_filter)
{
  const bramah_augmented torque = {.name = "torque",
                                   .kind = BRAMAH_AUGMENTED_PARAMETER,
                                   .at = "crank.load",
                                   .order = 1,
                                   .time_constant = torque_time,
                                   .sigma = torque_sigma,
                                   .noise = torque_sigma * sqrt(2.0 / torque_time)};
  static const double least = 1e-4, most = 100.0;
  const bramah_adaptive_options o = {
      .window = 1000, .acceleration_least = &least, .acceleration_most = &most};
  side white, shaped;
  set_up();
  open_side(&white, 0.05, NULL);
  open_side(&shaped, 0.05, &torque);
  must(bramah_adaptive_new(white.filter, &o, &diag, &white.adaptive), &diag);
  must(bramah_adaptive_new(shaped.filter, &o, &diag, &shaped.adaptive), &diag);
  const outcome w = run_coloured(&white), s = run_coloured(&shaped);
  printf("coloured torque: acceleration RMSE %.4f white, %.4f shaped; NIS %.3f, %.3f; correlation of "
         "innovations "
         "%.3f, %.3f; densities %.4f, %.4f\n",
         w.acceleration_rmse, s.acceleration_rmse, w.nis, s.nis, w.correlation, s.correlation,
         bramah_adaptive_get_report(white.adaptive).value[0].value,
         bramah_adaptive_get_report(shaped.adaptive).value[0].value);
  ck_assert_double_lt(s.acceleration_rmse, 0.7 * w.acceleration_rmse);
  ck_assert_double_lt(fabs(s.correlation), 2.6 / sqrt(COLOURED_STEPS - COLOURED_FIRST)); /* white, 99 % */
  ck_assert_double_gt(fabs(w.correlation), 3.0 * fabs(s.correlation));
  ck_assert_double_lt(fabs(s.nis - 1.0), 0.05);
  close_side(&white);
  close_side(&shaped);
  tear_down();
}

int main(void) { return run_tests("plant noise"); }
