/* SPDX-License-Identifier: MIT */
/* Augmented states on the model errors of the estimator study (spec, cases/README.md): a force or payload
 * estimated with the state against the plain filter; biases of sensors; limits; second-order forces. */
#include "bramah/smoother.h"
#include "estimators/filter_internal.h"
#include "test/support/four_bar.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENSORS = 5, STEPS = 6000 };

static bramah_diag diag;

typedef struct side {
  four_bar fb;
  const bramah_model *model;
  bramah_coupled *coupled;
  bramah_plant plant;
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
} side;

static int has(const char *errors, char error) { return strchr(errors, error) != NULL; }

/* The four-bar with a wrong model where `errors` says so: A friction +10 %, B pump pressure -10 %, C masses
 * +10 %, D gravity 8.81; a payload would sit at the tip of the crank. */
static void open_side(side *s, const char *errors)
{
  four_bar_describe(&s->fb, has(errors, 'A') ? 1.1 : 1.0, 1000000);
  s->fb.bodies[0].payload_point_given = 1;
  s->fb.bodies[0].payload_point[0] = 2.0;
  if (has(errors, 'B')) s->fb.supplies[0].pressure *= 0.9;
  for (int b = 0; has(errors, 'C') && b < 3; b++) {
    s->fb.bodies[b].mass *= 1.1;
    for (int k = 0; k < 6; k++) s->fb.bodies[b].inertia[k] *= 1.1;
  }
  for (int k = 0; has(errors, 'D') && k < 3; k++) s->fb.machine.gravity[k] *= 8.81 / 9.81;
  must(bramah_model_new(&s->fb.machine, &diag, &s->model), &diag);
  must(bramah_coupled_new(s->model, &diag, &s->coupled), &diag);
  s->plant = bramah_coupled_plant(s->coupled);
  for (int i = 0; i < SENSORS; i++)
    must(bramah_sensor_init(&four_bar_sensors[i], &s->plant, &diag, &s->sensor[i]), &diag);
}

static void make_filter(side *s, const bramah_augmented *augmented, size_t n, bramah_covariance_form form,
                        const bramah_phase *phase)
{
  static const double sp = 0.06, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.02, qp[3] = {1e5, 1e5, 1e5};
  const size_t basis = must_find(&s->plant, "crank.angle");
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .basis = &basis,
                                   .position_sigma = &sp,
                                   .rate_sigma = &sv,
                                   .first_order_sigma = spr,
                                   .acceleration_noise = &q,
                                   .first_order_noise = qp,
                                   .form = form,
                                   .n_augmented = n,
                                   .augmented = augmented,
                                   .n_phases = phase != NULL,
                                   .phases = phase};
  must(bramah_filter_new(&s->plant, SENSORS, s->sensor, &o, &diag, &s->filter), &diag);
}

static void close_side(side *s)
{
  bramah_filter_free(s->filter);
  bramah_coupled_free(s->coupled);
  bramah_model_free(s->model);
}

static void set(side *s, const char *name, double value)
{
  const size_t i = must_find_parameter(&s->plant, name);
  must(s->plant.set_parameter(s->plant.self, i, value, &diag), &diag);
}

typedef struct outcome {
  double acceleration_rmse; /* of the crank, after the first second [rad/s^2] */
  double value, sigma;      /* of the first augmented state at the end */
  double nis;               /* per degree of freedom, after the first second */
  double outside;           /* share of samples with the crank's angle off by more than 3.92 sigma [%] */
  double final_sigma;       /* of the crank's angle */
  bramah_filter_augmented augmented[2];
} outcome;

/* What the gyro of the truth has wrong: shown = (1 + gain) what it was `delay` steps ago. */
typedef struct wrong_gyro {
  double gain;
  int delay;
} wrong_gyro;

/* The work cycle with noise of the sensors. */
static outcome run(side *truth, side *estimate, wrong_gyro wrong)
{
  unsigned seed = 42;
  double squares = 0.0, nis = 0.0, dof = 0.0, final_sigma = 0.0;
  int outside = 0;
  double past[8] = {0};
  const size_t angle[2] = {must_find(&truth->plant, "crank.angle"),
                           must_find(&estimate->plant, "crank.angle")};
  const size_t a[2] = {must_find(&truth->plant, "crank.acceleration"),
                       must_find(&estimate->plant, "crank.acceleration")};
  unsigned char present[SENSORS];
  memset(present, 1, sizeof present);
  for (int k = 0; k < STEPS; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    double y[SENSORS];
    size_t m;
    must(truth->plant.set_inputs(truth->plant.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(estimate->filter, &u, &diag), &diag);
    must(truth->plant.step(truth->plant.self, &diag), &diag);
    must(bramah_filter_predict(estimate->filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++) {
      y[i] = bramah_sensor_predict(&truth->sensor[i], &truth->plant);
      if (i == 1) past[k % 8] = (1.0 + wrong.gain) * y[i];
      if (i == 1 && k >= wrong.delay) y[i] = past[(k - wrong.delay) % 8];
      y[i] += truth->sensor[i].sigma * test_normal(&seed);
    }
    must(bramah_filter_correct(estimate->filter, y, present, &diag), &diag);
    if (k < 1000) continue;
    const double e =
        truth->plant.output(truth->plant.self, a[0]) - estimate->plant.output(estimate->plant.self, a[1]);
    squares += e * e;
    final_sigma = bramah_filter_output_sigma(estimate->filter, angle[1]);
    outside += fabs(truth->plant.output(truth->plant.self, angle[0]) -
                    estimate->plant.output(estimate->plant.self, angle[1])) > 3.92 * final_sigma;
    nis += filter_nis(estimate->filter, &m);
    dof += (double)m;
  }
  outcome out = {.acceleration_rmse = sqrt(squares / (STEPS - 1000)),
                 .nis = nis / dof,
                 .outside = 100.0 * outside / (STEPS - 1000),
                 .final_sigma = final_sigma};
  for (size_t i = 0; i < 2; i++) out.augmented[i] = bramah_filter_get_augmented(estimate->filter, i);
  out.value = out.augmented[0].value;
  out.sigma = out.augmented[0].sigma;
  return out;
}

static outcome with_form(const char *errors, double payload, const bramah_augmented *augmented, size_t n,
                         bramah_covariance_form form)
{
  const double three_degrees[5] = {0.05236, 0, 0, 0, 0};
  side truth = {0}, estimate = {0};
  open_side(&truth, "");
  if (payload != 0.0) set(&truth, "crank.payload", payload);
  open_side(&estimate, errors);
  must(estimate.plant.inject(estimate.plant.self, three_degrees, &diag), &diag);
  make_filter(&estimate, augmented, n, form, NULL);
  const outcome out = run(&truth, &estimate, (wrong_gyro){0});
  close_side(&truth);
  close_side(&estimate);
  return out;
}

static outcome with(const char *errors, double payload, const bramah_augmented *augmented, size_t n)
{
  return with_form(errors, payload, augmented, n, BRAMAH_COVARIANCE_JOSEPH);
}

/* What each model error calls for. The cylinder's friction is a hundredth of its force: 10 % of it are lost
 * in the noise, and wrong masses show only while the valve switches, so these two must merely do no harm. A
 * force in the place of a payload lacks its inertia. */
static const struct scenario {
  const char *errors;
  double payload, gain; /* least cut of the acceleration's RMSE */
  size_t n;
  bramah_augmented augmented[2];
} scenarios[] = {
    {"A", 0.0, 0.9, 1, {{.name = "friction", .at = "lift.friction_scale", .sigma = 0.2, .noise = 0.01}}},
    {"B", 0.0, 3.0, 1, {{.name = "pump", .at = "pump.pressure", .sigma = 1e6, .noise = 2e4}}},
    {"C",
     0.0,
     0.9,
     1,
     {{.name = "load", .at = "crank.load", .time_constant = 5, .sigma = 300, .noise = 100}}},
    {"D",
     0.0,
     2.0,
     1,
     {{.name = "load", .at = "crank.load", .time_constant = 5, .sigma = 300, .noise = 100}}},
    {"", 20.0, 3.0, 1, {{.name = "payload", .at = "crank.payload", .sigma = 20.0, .noise = 0.05}}},
    {"ABD",
     20.0,
     1.5,
     2,
     {{.name = "load", .at = "crank.load", .time_constant = 50, .sigma = 500, .noise = 1000},
      {.name = "pump", .at = "pump.pressure", .sigma = 1e6, .noise = 2e4}}},
    {"ABD",
     20.0,
     3.0,
     2,
     {{.name = "payload", .at = "crank.payload", .sigma = 20.0, .noise = 0.2},
      {.name = "pump", .at = "pump.pressure", .sigma = 1e6, .noise = 2e4}}}};

EACH_TEST(test_model_errors, 0, sizeof scenarios / sizeof scenarios[0])
{
  const struct scenario *s = &scenarios[_i];
  bramah_augmented augmented[2];
  memcpy(augmented, s->augmented, sizeof augmented);
  for (int k = 0; k < 2; k++) augmented[k].kind = BRAMAH_AUGMENTED_PARAMETER;
  const outcome plain = with(s->errors, s->payload, NULL, 0),
                better = with(s->errors, s->payload, augmented, s->n);
  const double gain = plain.acceleration_rmse / better.acceleration_rmse;
  printf("%-3s payload %2.0f kg: acceleration RMSE %.4f plain, %.4f with %s (%.1f x); NIS %.2f, %.2f; %.4g "
         "+- %.2g\n",
         s->errors, s->payload, plain.acceleration_rmse, better.acceleration_rmse, augmented[0].at, gain,
         plain.nis, better.nis, better.value, better.sigma);
  ck_assert_double_ge(gain, s->gain);
  if (s->payload > 0.0 && s->errors[0] == 0)
    ck_assert_double_eq_tol(better.value, s->payload, 0.02 * s->payload);
  ck_assert_double_lt(better.nis, 1.3);
  ck_assert_double_le(better.nis, plain.nis + 0.01);
}

/* A pump that is 10 % stronger than modelled, whose pressure is known to 8 bar: ignored, the angle is
 * confidently wrong; considered, the bands hold it although the pressure stays as it was; estimated, it is
 * found. What is known so well that the data cannot add to it stays considered. */
TEST(test_considered)
{
  bramah_augmented pump[2] = {
      {.name = "pump", .kind = BRAMAH_AUGMENTED_PARAMETER, .at = "pump.pressure", .sigma = 8e5},
      {.name = "idle",
       .kind = BRAMAH_AUGMENTED_PARAMETER,
       .at = "valve.offset",
       .sigma = 1e-9,
       .role = BRAMAH_AUGMENTED_AUTO}};
  const outcome plain = with("B", 0.0, NULL, 0), estimated = with("B", 0.0, pump, 2);
  pump[0].role = BRAMAH_AUGMENTED_CONSIDERED;
  const outcome considered = with("B", 0.0, pump, 2);
  pump[0].role = BRAMAH_AUGMENTED_AUTO;
  const outcome found = with("B", 0.0, pump, 2);
  printf(
      "pump -10 %%: angle outside 3.92 sigma %.0f %% of the time, considered %.0f %%, estimated %.0f %%, by "
      "itself %.0f %% (told %.2f)\n",
      plain.outside, considered.outside, estimated.outside, found.outside, found.augmented[0].information);
  ck_assert_double_gt(plain.outside, 20.0);
  ck_assert_double_eq(considered.outside, 0.0);
  ck_assert_double_eq(estimated.outside, 0.0);
  ck_assert_double_eq(found.outside, 0.0);

  ck_assert_double_eq(considered.value, 6.84e6);
  ck_assert_double_eq(considered.sigma, 8e5);
  ck_assert_int_eq(considered.augmented[0].is_estimated, 0);
  ck_assert_double_eq_tol(found.value, estimated.value, 3.0 * estimated.sigma);
  ck_assert_double_lt(fabs(found.value - 7.6e6), 4.0 * found.sigma);
  ck_assert_int_eq(found.augmented[0].is_estimated, 1);
  ck_assert_int_eq(found.augmented[1].is_estimated, 0);
  ck_assert_double_gt(considered.final_sigma, estimated.final_sigma);

  /* the square-root form has the same covariance */
  pump[0].role = BRAMAH_AUGMENTED_CONSIDERED;
  const outcome root = with_form("B", 0.0, pump, 2, BRAMAH_COVARIANCE_SQUARE_ROOT);
  ck_assert_double_eq_tol(root.final_sigma / considered.final_sigma, 1.0, 1e-6);
  ck_assert_double_eq_tol(root.acceleration_rmse / considered.acceleration_rmse, 1.0, 1e-6);
}

/* Oil five times softer than the model, known to a factor of two: the state is the logarithm. Its column of the
 * transition is the derivative of the step by it. */
EACH_TEST(test_logarithmic, 0, 2)
{
  const bramah_augmented oil = {.name = "oil",
                                .kind = BRAMAH_AUGMENTED_PARAMETER,
                                .at = "oil.bulk_modulus",
                                .sigma = 1.5e9,
                                .logarithmic = 1};
  side truth = {0}, estimate = {0};
  open_side(&truth, "");
  set(&truth, "oil.bulk_modulus", 3e8);
  open_side(&estimate, "");
  make_filter(&estimate, &oil, 1, _i ? BRAMAH_COVARIANCE_SQUARE_ROOT : BRAMAH_COVARIANCE_JOSEPH, NULL);
  const bramah_filter_augmented start = bramah_filter_get_augmented(estimate.filter, 0);
  ck_assert_double_eq_tol(start.sigma, 1.5e9, 1.0);
  const outcome out = run(&truth, &estimate, (wrong_gyro){0});
  printf("oil of 300 MPa, believed to have 1500: %.1f +- %.1f MPa, angle outside %.0f %%\n", 1e-6 * out.value,
         1e-6 * out.sigma, out.outside);
  ck_assert_double_lt(fabs(out.value - 3e8), 4.0 * out.sigma);
  ck_assert_double_lt(out.sigma, 6e7);
  ck_assert_double_eq(out.outside, 0.0);

  const bramah_plant *plant = &estimate.plant;
  const size_t i = must_find_parameter(plant, "oil.bulk_modulus"), n = bramah_plant_n_error(plant);
  unsigned char *before = malloc(plant->snapshot_size);
  double x[2][8], value = plant->parameter(plant->self, i);
  plant->save(plant->self, before);
  must(bramah_filter_predict(estimate.filter, &diag), &diag);
  for (int k = 0; k < 2; k++) {
    plant->restore(plant->self, before);
    must(plant->set_parameter(plant->self, i, value * exp(k ? 1e-3 : -1e-3), &diag), &diag);
    must(plant->step(plant->self, &diag), &diag);
    bramah_plant_coordinates(plant, x[k]);
  }
  const double *F = bramah_filter_get_last(estimate.filter).transition;
  double largest = 0.0;
  for (size_t r = 0; r < n; r++) largest = fmax(largest, fabs(F[r * (n + 1) + n]));
  ck_assert_double_gt(largest, 1.0); /* pascals */
  for (size_t r = 0; r < n; r++)
    ck_assert_double_eq_tol(F[r * (n + 1) + n], (x[1][r] - x[0][r]) / 2e-3,
                            1e-4 * fabs(F[r * (n + 1) + n]) + 1e-9 * largest);
  free(before);
  close_side(&truth);
  close_side(&estimate);
}

/* What cannot have a logarithm is refused. */
EACH_TEST(test_no_logarithm, 0, 2)
{
  bramah_augmented wrong[2] = {
      {.name = "load",
       .kind = BRAMAH_AUGMENTED_PARAMETER,
       .at = "crank.load",
       .sigma = 1.0,
       .logarithmic = 1},
      {.name = "bias", .kind = BRAMAH_AUGMENTED_BIAS, .at = "p1", .sigma = 1.0, .logarithmic = 1}};
  const char *const says[2] = {"must be positive", "only a parameter"};
  side s = {0};
  open_side(&s, "");
  wrong[1].at = s.sensor[2].name;
  const double one[3] = {1.0, 1.0, 1.0};
  const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                   .position_sigma = one,
                                   .rate_sigma = one,
                                   .first_order_sigma = one,
                                   .acceleration_noise = one,
                                   .first_order_noise = one,
                                   .n_augmented = 1,
                                   .augmented = &wrong[_i]};
  bramah_filter *filter = NULL;
  ck_assert_int_eq(bramah_filter_new(&s.plant, SENSORS, s.sensor, &o, &diag, &filter), BRAMAH_E_VALUE);
  ck_assert_str_eq(diag.thing, wrong[_i].name);
  ck_assert_ptr_nonnull(strstr(diag.message, says[_i]));
  close_side(&s);
}

/* Prediction and row of the gyro, after two more steps, by what they are said to be of gain and delay. */
static void check_gyro(const side *s, double gain, double delay)
{
  const bramah_plant *plant = &s->plant;
  const size_t n = bramah_filter_get_info(s->filter).n_error, n_plant = bramah_plant_n_error(plant);
  double y[SENSORS] = {0}, H[8], term[8], dx[8], change[2];
  const unsigned char present[SENSORS] = {0, 1};
  unsigned char *snap = malloc(plant->snapshot_size);
  for (int k = 0; k < 2; k++) {
    const double before = bramah_sensor_predict(&s->sensor[1], plant);
    must(bramah_filter_predict(s->filter, &diag), &diag);
    change[k] = bramah_sensor_predict(&s->sensor[1], plant) - before;
  }
  const double now = y[1] = bramah_sensor_predict(&s->sensor[1], plant), rate = change[1] / 1e-3;
  must(bramah_sensor_row(&s->sensor[1], plant, H, term, snap, dx, &diag), &diag);
  must(bramah_filter_correct(s->filter, y, present, &diag), &diag);
  const bramah_filter_last last = bramah_filter_get_last(s->filter);
  const double *row = last.rows + n;
  for (size_t k = 0; k < n_plant; k++) ck_assert_double_eq_tol(row[k], (1.0 + gain) * H[k], 1e-12);
  ck_assert_double_eq_tol(row[n_plant], now, 1e-12);
  ck_assert_double_eq_tol(row[n_plant + 1], -rate, 1e-9 * (1.0 + fabs(rate)));
  const double bend = (change[1] - change[0]) / 1e-6;
  ck_assert_double_ne(bend, 0.0);
  if (n == n_plant + 3) ck_assert_double_eq_tol(row[n_plant + 2], bend, 1e-9 * fabs(bend));
  ck_assert_double_eq_tol(last.innovation[1].innovation, -gain * now + delay * rate, 1e-9);
  free(snap);
}

/* A gyro that shows 4 % too much, 2 ms late. Ignored, the angle is confidently wrong; considered, the bands hold it;
 * estimated, both are found. The square-root form has the same covariance. */
TEST(test_gain_and_delay)
{
  static const struct {
    size_t n;
    bramah_augmented_role role;
    bramah_covariance_form form;
  } cases[] = {{0, BRAMAH_AUGMENTED_ESTIMATED, BRAMAH_COVARIANCE_JOSEPH},
               {2, BRAMAH_AUGMENTED_CONSIDERED, BRAMAH_COVARIANCE_JOSEPH},
               {2, BRAMAH_AUGMENTED_CONSIDERED, BRAMAH_COVARIANCE_SQUARE_ROOT},
               {2, BRAMAH_AUGMENTED_ESTIMATED, BRAMAH_COVARIANCE_JOSEPH},
               {2, BRAMAH_AUGMENTED_AUTO, BRAMAH_COVARIANCE_JOSEPH}};
  outcome out[5];
  for (int c = 0; c < 5; c++) {
    side truth = {0}, estimate = {0};
    open_side(&truth, "");
    open_side(&estimate, "");
    const char *gyro = estimate.sensor[1].name;
    const bramah_augmented own[2] = {
        {.name = "gain", .kind = BRAMAH_AUGMENTED_GAIN, .at = gyro, .sigma = 0.03, .role = cases[c].role},
        {.name = "delay",
         .kind = BRAMAH_AUGMENTED_DELAY,
         .at = gyro,
         .sigma = 2e-3,
         .role = cases[c].role,
         .order = cases[c].role == BRAMAH_AUGMENTED_CONSIDERED ? 2 : 1}};
    make_filter(&estimate, own, cases[c].n, cases[c].form, NULL);
    out[c] = run(&truth, &estimate, (wrong_gyro){0.04, 2});
    printf("gyro +4 %%, 2 ms late: angle outside %.0f %%, NIS %.2f", out[c].outside, out[c].nis);
    for (size_t k = 0; k < cases[c].n; k++)
      printf(", %.4g +- %.2g", out[c].augmented[k].value, out[c].augmented[k].sigma);
    printf("\n");
    if (cases[c].n) check_gyro(&estimate, out[c].augmented[0].value, out[c].augmented[1].value);
    close_side(&truth);
    close_side(&estimate);
  }
  ck_assert_double_gt(out[0].outside, 20.0);
  for (int c = 1; c < 5; c++) ck_assert_double_eq(out[c].outside, 0.0);
  ck_assert_double_eq(out[1].augmented[0].value, 0.0);
  ck_assert_double_eq(out[1].augmented[0].sigma, 0.03);
  ck_assert_double_gt(out[1].final_sigma, out[3].final_sigma);
  ck_assert_double_eq_tol(out[2].final_sigma / out[1].final_sigma, 1.0, 1e-6);
  for (int c = 3; c < 5; c++) {
    ck_assert_double_lt(fabs(out[c].augmented[0].value - 0.04), 4.0 * out[c].augmented[0].sigma);
    ck_assert_double_eq_tol(out[c].augmented[1].value, 2e-3, 1e-4); /* to first order */
  }
}

/* Mean square of the smoothed errors over their standard deviations, of all states of the plant, after the valve has
 * opened: with a pump, and a bias of p1, drawn from what is believed of them. n: of these are estimated. */
static double smoothed_error(unsigned seed, size_t n)
{
  enum { SHORT = 1300, STATES = 5, P1 = 2 };
  static double x[SHORT][STATES];
  const bramah_augmented unknown[2] = {
      {.name = "pump",
       .kind = BRAMAH_AUGMENTED_PARAMETER,
       .at = "pump.pressure",
       .sigma = 4e5,
       .role = BRAMAH_AUGMENTED_AUTO},
      {.name = "bias of p1", .kind = BRAMAH_AUGMENTED_BIAS, .at = "p1", .sigma = 1e5}};
  side truth = {0}, estimate = {0};
  bramah_smoother *smoother;
  double y[SENSORS], z[STATES], sum = 0.0, counted = 0.0;
  unsigned char present[SENSORS];
  memset(present, 1, sizeof present);
  open_side(&truth, "");
  open_side(&estimate, "");
  set(&truth, "pump.pressure", 7.6e6 + 4e5 * test_normal(&seed));
  const double bias = n > 1 ? 1e5 * test_normal(&seed) : 0.0;
  make_filter(&estimate, unknown, n, BRAMAH_COVARIANCE_JOSEPH, NULL);
  if (n) {
    ck_assert_int_eq(bramah_smoother_new(estimate.filter, SHORT, &diag, &smoother), BRAMAH_E_UNSUPPORTED);
    ck_assert_str_eq(diag.thing, "pump");
  }
  bramah_filter_estimate_all(estimate.filter);
  must(bramah_smoother_new(estimate.filter, SHORT, &diag, &smoother), &diag);
  ck_assert_uint_eq(bramah_plant_n_error(&truth.plant), STATES);
  for (int k = 0; k < SHORT; k++) {
    const double u = four_bar_command((int64_t)k * 1000000);
    must(truth.plant.set_inputs(truth.plant.self, &u, &diag), &diag);
    must(bramah_filter_set_inputs(estimate.filter, &u, &diag), &diag);
    must(truth.plant.step(truth.plant.self, &diag), &diag);
    must(bramah_filter_predict(estimate.filter, &diag), &diag);
    must(bramah_smoother_record(smoother, BRAMAH_FILTER_PREDICTED, estimate.filter, &diag), &diag);
    for (int i = 0; i < SENSORS; i++)
      y[i] =
          bramah_sensor_predict(&truth.sensor[i], &truth.plant) + truth.sensor[i].sigma * test_normal(&seed);
    y[P1] += bias;
    must(bramah_filter_correct(estimate.filter, y, present, &diag), &diag);
    must(bramah_smoother_record(smoother, BRAMAH_FILTER_CORRECTED, estimate.filter, &diag), &diag);
    bramah_plant_coordinates(&truth.plant, x[k]);
  }
  must(bramah_smoother_run(smoother, &diag), &diag);
  double at_last[2];
  for (size_t i = 0; i < n; i++) at_last[i] = bramah_filter_get_augmented(estimate.filter, i).value;
  for (int k = 1000; k < SHORT; k += 20) {
    const double *P = bramah_smoother_get_step(smoother, (size_t)k).covariance;
    const size_t width = bramah_filter_get_info(estimate.filter).n_error;
    must(bramah_smoother_show(smoother, (size_t)k, &diag), &diag);
    /* a constant is at all times what it is at the end; outputs, and what sensors show, are made with it */
    for (size_t i = 0; i < n; i++)
      ck_assert_double_eq_tol(bramah_filter_get_augmented(estimate.filter, i).value, at_last[i],
                              1e-6 * unknown[i].sigma);
    bramah_plant_coordinates(&estimate.plant, z);
    for (size_t i = 0; i < STATES; i++, counted += 1.0)
      sum += (z[i] - x[k][i]) * (z[i] - x[k][i]) / P[i * width + i];
  }
  bramah_smoother_free(smoother);
  close_side(&truth);
  close_side(&estimate);
  return sum / counted;
}

/* What is considered must be estimated for the smoother, whose backward pass diverges otherwise. (The truth has none of
 * the process noise: less than one is right.) */
TEST(test_smoothed)
{
  double plain = 0.0, estimated = 0.0, with_bias = 0.0;
  for (unsigned run = 0; run < 8; run++) {
    plain += smoothed_error(50 + run, 0) / 8;
    estimated += smoothed_error(50 + run, 1) / 8;
    if (run < 2) with_bias += smoothed_error(50 + run, 2) / 2;
  }
  printf("smoothed, pump off by 4 bar (1 sigma): squares %.2f, estimated %.2f, and bias of p1 %.2f\n", plain,
         estimated, with_bias);
  ck_assert_double_gt(plain, 3.0);
  ck_assert_double_lt(estimated, 1.3);
  ck_assert_double_gt(estimated, 0.05);
  ck_assert_double_lt(with_bias, 1.3);
  ck_assert_double_gt(with_bias, 0.05);
}

/* Phases that mean nothing are refused by name. */
TEST(test_phases_refused)
{
  static const double s = 0.06, spr[3] = {1e5, 1e5, 1e5}, q = 0.02;
  const bramah_augmented load = {
      .name = "load", .kind = BRAMAH_AUGMENTED_PARAMETER, .at = "crank.load", .sigma = 50.0, .noise = 1.0};
  const bramah_condition high = {BRAMAH_CONDITION_OUTPUT, 0, 1.0, INFINITY},
                         none = {BRAMAH_CONDITION_OUTPUT, 99999, 0, 1},
                         crossed = {BRAMAH_CONDITION_OUTPUT, 0, 1.0, 0.0},
                         silent = {BRAMAH_CONDITION_SAMPLE, SENSORS, 0, 1};
  const bramah_phase_process good = {BRAMAH_PHASE_AUGMENTED, 0, 20.0, 0.0},
                             other = {BRAMAH_PHASE_AUGMENTED, 1, 20.0, 0.0},
                             negative = {BRAMAH_PHASE_AUGMENTED, 0, -1.0, 0.0},
                             late = {BRAMAH_PHASE_AUGMENTED, 0, 1.0, -1.0},
                             turning = {BRAMAH_PHASE_ACCELERATION, 0, 0.5, 0.0},
                             second = {BRAMAH_PHASE_ACCELERATION, 1, 0.5, 0.0},
                             oil = {BRAMAH_PHASE_FIRST_ORDER, 2, -1.0, 0.0},
                             slow = {BRAMAH_PHASE_FIRST_ORDER, 2, 1.0, 1.0},
                             unknown = {(bramah_phase_kind)3, 0, 1.0, 0.0};
  const struct {
    bramah_phase phase;
    bramah_status status;
  } cases[] = {{{"a", 1, 0, &high, NULL, 1, &good, 0.0}, BRAMAH_OK},
               {{"a", 0, 0, NULL, NULL, 1, &good, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &none, NULL, 1, &good, 0.0}, BRAMAH_E_REFERENCE},
               {{"a", 1, 1, &high, &silent, 1, &good, 0.0}, BRAMAH_E_REFERENCE},
               {{"a", 1, 0, &crossed, NULL, 1, &good, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &other, 0.0}, BRAMAH_E_REFERENCE},
               {{"a", 1, 0, &high, NULL, 1, &negative, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &late, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &turning, 0.1}, BRAMAH_OK},
               {{"a", 1, 0, &high, NULL, 1, &turning, -0.1}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &turning, INFINITY}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &second, 0.0}, BRAMAH_E_REFERENCE},
               {{"a", 1, 0, &high, NULL, 1, &oil, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &slow, 0.0}, BRAMAH_E_VALUE},
               {{"a", 1, 0, &high, NULL, 1, &unknown, 0.0}, BRAMAH_E_REFERENCE}};
  side rig = {0};
  open_side(&rig, "");
  const size_t basis = must_find(&rig.plant, "crank.angle");
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    const bramah_filter_options o = {.transition = BRAMAH_TRANSITION_STEP,
                                     .basis = &basis,
                                     .position_sigma = &s,
                                     .rate_sigma = &s,
                                     .first_order_sigma = spr,
                                     .acceleration_noise = &q,
                                     .first_order_noise = spr,
                                     .n_augmented = 1,
                                     .augmented = &load,
                                     .n_phases = 1,
                                     .phases = &cases[c].phase};
    rig.filter = NULL;
    ck_assert_int_eq(bramah_filter_new(&rig.plant, SENSORS, rig.sensor, &o, &diag, &rig.filter),
                     cases[c].status);
    if (cases[c].status) ck_assert_str_eq(diag.thing, "a");
    if (!cases[c].status) ck_assert_ptr_null(bramah_filter_get_phase(rig.filter, 1).name);
    bramah_filter_free(rig.filter);
  }
  rig.filter = NULL;
  close_side(&rig);
}

/* A phase sets the noise of joints and pressures as a program does by hand, for its off_delay after its cause, too; a snapshot taken
 * in it goes on in it. */
TEST(test_phase_of_states)
{
  enum { N = 40, CYCLE = 10, DELAY = 3 };
  static const double usual[4] = {0.02, 1e5, 1e5, 1e5}, in_phase[4] = {0.5, 1e5, 3e6, 1e5};
  const bramah_condition heard = {BRAMAH_CONDITION_SAMPLE, 2, 0.0, 0.0};
  const bramah_phase_process processes[] = {{BRAMAH_PHASE_ACCELERATION, 0, 0.5, 0.0},
                                            {BRAMAH_PHASE_FIRST_ORDER, 1, 3e6, 0.0}};
  const bramah_phase phase = {"heard", 1, 0, &heard, NULL, 2, processes, 1e-3 * DELAY};
  side own = {0}, hand = {0};
  void *snap = NULL;
  double at_end = 0.0;
  open_side(&own, "");
  open_side(&hand, "");
  make_filter(&own, NULL, 0, BRAMAH_COVARIANCE_JOSEPH, &phase);
  make_filter(&hand, NULL, 0, BRAMAH_COVARIANCE_JOSEPH, NULL);
  for (int k = 0; k < N + N / 2; k++) { /* the second half once more, from its third step on */
    if (k == N / 2 + 2) {
      snap = malloc(bramah_filter_snapshot_size(own.filter));
      bramah_filter_save(own.filter, snap);
    }
    if (k == N) must(bramah_filter_restore(own.filter, snap), &diag), k += 2;
    const int j = k < N ? k : k - N / 2, on = j > 0 && (j - 1) % CYCLE <= DELAY;
    const double *q = on ? in_phase : usual;
    const unsigned char present[SENSORS] = {0, 0, j % CYCLE == 0};
    const double y[SENSORS] = {0, 0, 30e5};
    must(bramah_filter_set_noise(hand.filter, q, q + 1, &diag), &diag);
    const double *kept = bramah_filter_get_info(own.filter).first_order_noise;
    ck_assert_double_eq(kept[1], usual[2]);
    must(bramah_filter_predict(own.filter, &diag), &diag);
    must(bramah_filter_correct(own.filter, y, present, &diag), &diag);
    ck_assert_msg((bramah_filter_get_phase(own.filter, 0).is_on != 0) == on, "step %d: on %d", k, on);
    if (k == N - 1) at_end = bramah_filter_covariance(own.filter)[0];
    if (k >= N) continue;
    must(bramah_filter_predict(hand.filter, &diag), &diag);
    must(bramah_filter_correct(hand.filter, y, present, &diag), &diag);
    ck_assert_mem_eq(bramah_filter_covariance(own.filter), bramah_filter_covariance(hand.filter),
                     25 * sizeof(double));
  }
  ck_assert_double_eq(bramah_filter_covariance(own.filter)[0], at_end);
  ck_assert_uint_eq(bramah_filter_get_phase(own.filter, 0).begun, N / CYCLE);
  free(snap);
  close_side(&own);
  close_side(&hand);
}

int main(void) { return run_tests("augmented"); }
