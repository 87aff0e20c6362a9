/* SPDX-License-Identifier: MIT */
/* The filter on a plant it cannot know, its arithmetic against textbook formulas, and what it refuses. */
#include "bramah/filter.h"
#include "estimators/update.h"
#include "lib/math/dense.h"
#include "sensors/kinds.h"
#include "test/support/four_bar.h"
#include "test/support/pendulum.h"
#include "test/support/replay_run.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

static const bramah_sensor_options encoder = {
    .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02};
static const bramah_sensor_options gyro = {
    .name = "gyro", .kind = BRAMAH_SENSOR_GYRO, .at = "bob", .sigma = 0.05};
static const double position_sigma = 0.3, velocity_sigma = 0.5, acceleration_noise = 0.02;

static bramah_filter *make(bramah_plant *plant, bramah_sensor *sensors)
{
  must(bramah_sensor_init(&encoder, plant, &diag, &sensors[0]), &diag);
  must(bramah_sensor_init(&gyro, plant, &diag, &sensors[1]), &diag);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise};
  bramah_filter *filter;
  must(bramah_filter_new(plant, 2, sensors, &options, &diag, &filter), &diag);
  return filter;
}

TEST(test_finds_the_pendulum)
{
  pendulum truth = {0.8, 0.0, 0.0, 1.0, 0.1}, model = {1.1, 0.3, 0.0, 1.0, 0.1};
  const bramah_plant real = pendulum_plant(&truth, 1000000);
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensors[2];
  bramah_filter *filter = make(&plant, sensors);
  unsigned seed = 99;
  double nis = 0.0, worst_late = 0.0;
  int inside = 0;
  const unsigned char present[2] = {1, 1};
  for (int k = 0; k < 5000; k++) {
    const double y[2] = {truth.angle + 0.02 * test_normal(&seed), truth.rate + 0.05 * test_normal(&seed)};
    must(bramah_filter_correct(filter, y, present, &diag), &diag);
    nis += bramah_filter_get_last(filter).nis;
    inside += fabs(model.angle - truth.angle) < 1.96 * bramah_filter_output_sigma(filter, 0);
    if (k > 1000) worst_late = fmax(worst_late, fabs(model.angle - truth.angle));
    const double torque = k % 1000 < 500 ? 0.5 : -0.5;
    must(bramah_filter_set_inputs(filter, &torque, &diag), &diag);
    must(real.set_inputs(real.self, &torque, &diag), &diag);
    must(bramah_filter_predict(filter, &diag), &diag);
    must(real.step(real.self, &diag), &diag);
  }
  ck_assert_double_lt(worst_late, 0.01);          /* the raw encoder errs by 0.02 */
  ck_assert_int_gt(inside, 4500);                 /* of 5000 */
  ck_assert_double_eq_tol(nis / 5000, 2.0, 0.15); /* two sensors */
  ck_assert_int_eq(bramah_filter_time_ns(filter), INT64_C(5000000000));
  bramah_filter_free(filter);
}

static double log_normal(double y, double S) { return -0.5 * (log(6.283185307179586 * S) + y * y / S); }

/* The first samples by the normal density of both together; one beyond its gate by the tail. */
TEST(test_log_likelihood)
{
  const unsigned char both[2] = {1, 1}, one[2] = {1, 0};
  pendulum model = {0.4, 0.1, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensors[2];
  bramah_filter *filter = make(&plant, sensors);
  const double y[2] = {0.65, 0.9};
  must(bramah_filter_predict(filter, &diag), &diag);
  double P[4];
  memcpy(P, bramah_filter_covariance(filter), sizeof P);
  const double d[2] = {y[0] - model.angle, y[1] - model.rate};
  const double S[3] = {P[0] + 0.02 * 0.02, P[1], P[3] + 0.05 * 0.05}, det = S[0] * S[2] - S[1] * S[1];
  const double chi = (d[0] * d[0] * S[2] - 2.0 * d[0] * d[1] * S[1] + d[1] * d[1] * S[0]) / det;
  const double expected = -log(6.283185307179586) - 0.5 * (log(det) + chi);
  must(bramah_filter_correct(filter, y, both, &diag), &diag);
  ck_assert_double_eq_tol(bramah_filter_log_likelihood(filter), expected, 1e-10 * fabs(expected));
  bramah_filter_free(filter);

  /* Within the gate and beyond it, of one and the same predicted measurement. */
  double before = INFINITY;
  for (int k = 1; k <= 6; k++) {
    const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                           .common_gate = 3.0,
                                           .position_sigma = &position_sigma,
                                           .rate_sigma = &velocity_sigma,
                                           .acceleration_noise = &acceleration_noise};
    const double variance = 0.3 * 0.3 + 0.02 * 0.02, sigma = sqrt(variance);
    model.angle = 0.4;
    must(bramah_filter_new(&plant, 2, sensors, &options, &diag, &filter), &diag);
    must(bramah_filter_correct(filter, (double[2]){0.4 + k * sigma, 0.0}, one, &diag), &diag);
    const double density = bramah_filter_log_likelihood(filter), kept = k < 4 ? k : 3.0;
    ck_assert_uint_eq(bramah_filter_get_report(filter).gated, k > 3);
    ck_assert_double_eq_tol(density, log_normal(kept * sigma, variance) - 2.0 * log(k / kept), 1e-10);
    ck_assert_double_lt(density, before); /* what is rejected is never the better for it */
    before = density;
    bramah_filter_free(filter);
  }
}

/* Found wrong, a filter pays what it had predicted, not what its inflated covariance would say. */
TEST(test_log_likelihood_of_a_recovery)
{
  pendulum model = {0.4, 0.0, 0.0, 0.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensors[2];
  bramah_filter_free(make(&plant, sensors));
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .gate = (double[2]){3.0, 0.0},
                                         .patience = 2,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 2, sensors, &options, &diag, &filter), &diag);
  double added[2], before = 0.0;
  for (int k = 0; k < 2; k++) {
    must(bramah_filter_correct(filter, (double[2]){3.0, 0.0}, (const unsigned char[2]){1, 0}, &diag), &diag);
    added[k] = bramah_filter_log_likelihood(filter) - before;
    before += added[k];
  }
  ck_assert_uint_eq(bramah_filter_get_report(filter).recoveries, 1);
  ck_assert_double_eq_tol(added[1], added[0], 1e-12);
  bramah_filter_free(filter);
}

/* Two scalar corrections equal one of two rows: K = P H' S^-1, P = (I - K H) P. */
TEST(test_scalar_fusion_equals_block)
{
  enum { n = 4, m = 2 };
  const double H[m * n] = {1, 0.5, 0, 0, 0, 2, -1, 0.3}, r[m] = {0.2, 0.5}, y[m] = {0.7, -0.4};
  double G[n * n], P[n * n], P0[n * n], dx[n] = {0}, work[3 * n], S[m * m], PHt[n * m], gain[m];
  int pivot[m];
  unsigned seed = 1;
  for (int i = 0; i < n * n; i++) G[i] = test_uniform(&seed);
  bramah__multiply_transposed(n, n, n, G, G, P);
  for (int i = 0; i < n; i++) P[i * n + i] += 0.1;
  memcpy(P0, P, sizeof P0);
  for (int s = 0; s < m; s++)
    ck_assert_int_eq(bramah__fuse_scalar(n, H + s * n, y[s], r[s], NULL, P, dx, work), 0);
  bramah__multiply_transposed(n, n, m, P0, H, PHt);
  bramah__multiply(m, n, m, H, PHt, S);
  for (int s = 0; s < m; s++) S[s * m + s] += r[s];
  ck_assert_uint_eq(bramah__lu_factor(m, S, pivot), 0);
  memcpy(gain, y, sizeof gain);
  bramah__lu_solve(m, S, pivot, gain);
  for (int i = 0; i < n; i++)
    ck_assert_double_eq_tol(dx[i], PHt[i * m] * gain[0] + PHt[i * m + 1] * gain[1], 1e-12);
  for (int i = 0; i < n; i++) {
    double row[m] = {PHt[i * m], PHt[i * m + 1]};
    bramah__lu_solve_transposed(m, S, pivot, row);
    for (int j = 0; j < n; j++)
      ck_assert_double_eq_tol(P[i * n + j], P0[i * n + j] - row[0] * PHt[j * m] - row[1] * PHt[j * m + 1],
                              1e-12);
  }
}

/* With gains of zero the three forms have the covariance of Joseph's formula, which holds for any gain. */
TEST(test_held_gain)
{
  enum { n = 4 };
  const double H[n] = {1, 0.5, 0, 2}, r = 0.2, y = 0.7;
  const unsigned char held[n] = {0, 1, 0, 1};
  double G[n * n], P0[n * n], P[n * n], dx[n] = {0}, work[4 * n * n], expected[n * n], A[n * n], K[n], S = r;
  unsigned seed = 3;
  for (int i = 0; i < n * n; i++) G[i] = test_uniform(&seed);
  bramah__multiply_transposed(n, n, n, G, G, P0);
  for (int i = 0; i < n; i++) {
    K[i] = 0.0;
    for (int j = 0; j < n; j++) K[i] += P0[i * n + j] * H[j];
    S += H[i] * K[i];
  }
  for (int i = 0; i < n; i++) {
    K[i] = held[i] ? 0.0 : K[i] / S;
    for (int j = 0; j < n; j++) A[i * n + j] = (i == j) - K[i] * H[j];
  }
  bramah__multiply(n, n, n, A, P0, G);
  bramah__multiply_transposed(n, n, n, G, A, expected);
  for (int i = 0; i < n * n; i++) expected[i] += K[i / n] * r * K[i % n];

  memcpy(P, P0, sizeof P);
  ck_assert_int_eq(bramah__fuse_scalar(n, H, y, r, held, P, dx, work), 0);
  for (int i = 0; i < n * n; i++) ck_assert_double_eq_tol(P[i], expected[i], 1e-12);
  for (int i = 0; i < n; i++) ck_assert_double_eq_tol(dx[i], K[i] * y, 1e-12);

  double nis, block[4 * n * n];
  memcpy(P, P0, sizeof P);
  memset(dx, 0, sizeof dx);
  ck_assert_uint_le(bramah__fuse_block_work(n, 1), 4 * n * n);
  ck_assert_int_eq(bramah__fuse_block(n, 1, H, &y, &r, held, P, dx, &nis, block), 0);
  for (int i = 0; i < n * n; i++) ck_assert_double_eq_tol(P[i], expected[i], 1e-12);
  for (int i = 0; i < n; i++) ck_assert_double_eq_tol(dx[i], K[i] * y, 1e-12);
  ck_assert_double_eq_tol(nis, y * y / S, 1e-12);

  memcpy(P, P0, sizeof P);
  memset(dx, 0, sizeof dx);
  ck_assert_uint_eq(bramah__cholesky_factor(n, P), 0);
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) P[i * n + j] = 0.0;
  ck_assert_int_eq(bramah__fuse_root(n, H, y, r, held, P, dx, work), 0);
  bramah__multiply_transposed(n, n, n, P, P, G);
  for (int i = 0; i < n * n; i++) ck_assert_double_eq_tol(G[i], expected[i], 1e-12);
  for (int i = 0; i < n; i++) ck_assert_double_eq_tol(dx[i], K[i] * y, 1e-12);
}

TEST(test_transition_of_the_paper)
{
  const double A[4] = {-2.0, -0.5, 1e-7, 3e-7}; /* one coordinate, two pressures */
  double F[16];
  const double h = 1e-3;
  bramah__kinematic_transition(1, 2, h, A, F);
  const double expected[16] = {1 - h * h,
                               h - 0.25 * h * h,
                               0.5e-7 * h * h,
                               1.5e-7 * h * h,
                               -2 * h,
                               1 - 0.5 * h,
                               1e-7 * h,
                               3e-7 * h,
                               0,
                               0,
                               1,
                               0,
                               0,
                               0,
                               0,
                               1};
  for (int i = 0; i < 16; i++) ck_assert_double_eq_tol(F[i], expected[i], 1e-15);
}

TEST(test_bad_measurements_change_nothing)
{
  pendulum model = {1.1, 0.3, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensors[2];
  bramah_filter *filter = make(&plant, sensors);
  unsigned char before[2048], after[2048];
  ck_assert_uint_le(bramah_filter_snapshot_size(filter), sizeof before);
  bramah_filter_save(filter, before);
  const double bad[2] = {1.0, NAN};
  const unsigned char both[2] = {1, 1}, first[2] = {1, 0}, none[2] = {0, 0};
  ck_assert_int_eq(bramah_filter_correct(filter, bad, both, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_str_eq(diag.thing, "gyro");
  bramah_filter_save(filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
  must(bramah_filter_correct(filter, bad, none, &diag), &diag); /* absent values are not looked at */
  bramah_filter_save(filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
  must(bramah_filter_correct(filter, bad, first, &diag), &diag);
  ck_assert_int_eq(bramah_filter_get_last(filter).innovation[1].present, 0);
  ck_assert_int_eq(bramah_filter_get_last(filter).innovation[0].present, 1);
  bramah_filter_restore(filter, before);
  bramah_filter_save(filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
  bramah_filter_free(filter);
}

/* Innovation, its sigma and NIS by hand at the first correction. */
TEST(test_innovation_figures)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensors[2];
  bramah_filter *filter = make(&plant, sensors);
  const double y[2] = {1.1, 0.0};
  const unsigned char first[2] = {1, 0};
  must(bramah_filter_correct(filter, y, first, &diag), &diag);
  const bramah_innovation *in = bramah_filter_get_last(filter).innovation;
  const double S = 0.3 * 0.3 + 0.02 * 0.02;
  size_t dof;
  ck_assert_double_eq_tol(in[0].innovation, 0.1, 1e-12);
  ck_assert_double_eq_tol(in[0].sigma, sqrt(S), 1e-8); /* this plant's rows are finite differences */
  ck_assert_double_eq_tol(in[0].nis, 0.01 / S, 1e-8);
  ck_assert_double_eq_tol(filter_nis(filter, &dof), 0.01 / S, 1e-8);
  ck_assert_uint_eq(dof, 1);
  ck_assert_double_eq_tol(model.angle, 1.0 + 0.09 / S * 0.1, 1e-8);
  bramah_filter_free(filter);
}

/* Samples at the ends of the range are left out, counted, and no rejections; rounding widens the
 * innovation. */
EACH_TEST(test_saturated_samples, 0, 2)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor_options limited = encoder;
  limited.least = -1.5;
  limited.most = 1.5;
  limited.resolution = 0.1;
  const double gate = 3.0;
  bramah_sensor sensor;
  must(bramah_sensor_init(&limited, &plant, &diag, &sensor), &diag);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .fusion = _i ? BRAMAH_FUSION_BLOCK : BRAMAH_FUSION_SEQUENTIAL,
                                         .iterations = _i ? 3 : 1,
                                         .gate = &gate,
                                         .patience = 2};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  const double ends[2] = {1.5, -1.5}, inside = 1.1;
  const unsigned char present = 1;
  const bramah_innovation *in = bramah_filter_get_last(filter).innovation;
  const double before = bramah_filter_covariance(filter)[0];
  for (int k = 0; k < 6; k++) {
    must(bramah_filter_correct(filter, &ends[k % 2], &present, &diag), &diag);
    ck_assert(in->present && in->saturated && !in->accepted);
    ck_assert_double_eq(model.angle, 1.0);
    ck_assert_double_eq(bramah_filter_covariance(filter)[0], before);
  }
  bramah_filter_report report = bramah_filter_get_report(filter);
  ck_assert(report.saturated == 6 && report.gated == 0 && report.sensor_faults == 0 &&
            report.recoveries == 0);
  ck_assert(!bramah_filter_sensor_fault(filter, 0));
  must(bramah_filter_correct(filter, &inside, &present, &diag), &diag);
  ck_assert(in->accepted && !in->saturated && model.angle > 1.09);
  ck_assert_double_eq_tol(in->sigma, sqrt(0.09 + 0.02 * 0.02 + 0.01 / 12), 1e-8);
  unsigned char snap[2048];
  ck_assert_uint_le(bramah_filter_snapshot_size(filter), sizeof snap);
  bramah_filter_save(filter, snap);
  must(bramah_filter_correct(filter, &ends[0], &present, &diag), &diag);
  ck_assert_uint_eq(bramah_filter_get_report(filter).saturated, 7);
  bramah_filter_restore(filter, snap);
  report = bramah_filter_get_report(filter);
  ck_assert(report.saturated == 6 && report.accepted == 1);
  bramah_filter_free(filter);
}

/* ---- augmented states ---- */

/* Covariance of [x, x'] over a step h from P: Phi P Phi' + q int b b' ds with b(s) = Phi(s) [0, 1]', by
 * Simpson's rule; P [xx, xv, vv]. */
static void second_order_step(double T, double q, double h, double P[3])
{
  enum { INTERVALS = 2000 };
  const double s = h / T, e = exp(-s), F[4] = {e * (1 + s), e * h, -e * s / T, e * (1 - s)};
  const double next[3] = {
      F[0] * F[0] * P[0] + 2 * F[0] * F[1] * P[1] + F[1] * F[1] * P[2],
      F[0] * F[2] * P[0] + (F[0] * F[3] + F[1] * F[2]) * P[1] + F[1] * F[3] * P[2],
      F[2] * F[2] * P[0] + 2 * F[2] * F[3] * P[1] + F[3] * F[3] * P[2],
  };
  memcpy(P, next, sizeof next);
  for (int i = 0; i <= INTERVALS; i++) {
    const double t = h * i / INTERVALS, weight = (i == 0 || i == INTERVALS ? 1
                                                  : i % 2                  ? 4
                                                                           : 2) *
                                                 h / INTERVALS / 3;
    const double x = t * exp(-t / T), v = (1 - t / T) * exp(-t / T);
    P[0] += q * weight * x * x, P[1] += q * weight * x * v, P[2] += q * weight * v * v;
  }
}

/* A bias of order 1 and 2 with time constants long and short against the step of 1 ms, and the random walk,
 * through predictions alone: by hand, and where they end. */
EACH_TEST(test_augmented_covariance, 0, 8)
{
  static const double times[] = {10.0, 0.4, 2e-3, 0.0};
  const double T = times[_i / 2], h = 1e-3, sigma = 0.3, noise = 0.7;
  const int order = 1 + _i % 2;
  const double close = h < 1e-3 * T ? 3.0 * h / T : 1e-6; /* of short steps the leading terms are taken */
  if (order == 2 && T == 0.0) return;
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensor;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  const bramah_augmented bias = {.name = "bias",
                                 .kind = BRAMAH_AUGMENTED_BIAS,
                                 .at = "encoder",
                                 .order = order,
                                 .time_constant = T,
                                 .sigma = sigma,
                                 .noise = noise};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .n_augmented = 1,
                                         .augmented = &bias};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  const size_t n = bramah_filter_get_info(filter).n_error;
  const double *P = bramah_filter_covariance(filter);
  double x = sigma * sigma, pair[3] = {x, 0.0, T > 0.0 ? x / (T * T) : 0.0};
  ck_assert_uint_eq(n, 2 + (size_t)order);
  for (int k = 0; k < 3000; k++) {
    must(bramah_filter_predict(filter, &diag), &diag);
    if (order == 1)
      x = T > 0.0 ? exp(-2 * h / T) * (x - noise * noise * T / 2) + noise * noise * T / 2
                  : x + noise * noise * h;
    else if (k < 20)
      second_order_step(T, noise * noise, h, pair);
    if (order == 1) ck_assert_double_eq_tol(P[2 * n + 2], x, 1e-9 * x);
    if (order == 1 || k >= 20) continue;
    ck_assert_double_eq_tol(P[2 * n + 2], pair[0], close * pair[0]);
    ck_assert_double_eq_tol(P[2 * n + 3], pair[1], close * sqrt(pair[0] * pair[2]));
    ck_assert_double_eq_tol(P[3 * n + 3], pair[2], close * pair[2]);
  }
  if (T > 0.0 && T < 1e-2) { /* three seconds are for ever */
    const double ends = order == 1 ? noise * sqrt(T / 2) : noise * sqrt(T * T * T / 4);
    ck_assert_double_eq_tol(bramah_filter_get_augmented(filter, 0).sigma, ends, 1e-9 * ends);
    if (order == 2) ck_assert_double_eq_tol(P[3 * n + 3], noise * noise * T / 4, 1e-9 * noise * noise * T);
    if (order == 2) ck_assert_double_eq_tol(P[2 * n + 3], 0.0, 1e-9 * noise * noise * T * T);
  }
  bramah_filter_free(filter);
}

/* An oscillation of 125 Hz: an eighth of a turn a step of 1 ms, so that its mean is the opposite after four; with a
 * time constant it decays, and its variance ends at noise^2 T / 2. */
EACH_TEST(test_oscillation, 0, 2)
{
  const double T = _i ? 2e-3 : 0.0, h = 1e-3, noise = _i ? 0.7 : 0.0;
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensor;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  const bramah_augmented hum = {.name = "hum",
                                .kind = BRAMAH_AUGMENTED_BIAS,
                                .at = "encoder",
                                .order = 2,
                                .frequency = 125.0,
                                .time_constant = T,
                                .sigma = 0.3,
                                .noise = noise};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .n_augmented = 1,
                                         .augmented = &hum};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  const double y = 1.5;
  const unsigned char present = 1;
  must(bramah_filter_correct(filter, &y, &present, &diag), &diag);
  const double first = bramah_filter_get_augmented(filter, 0).value;
  ck_assert_double_gt(first, 0.1);
  for (int k = 0; k < 4; k++) must(bramah_filter_predict(filter, &diag), &diag);
  const double decay = _i ? exp(-4 * h / T) : 1.0;
  ck_assert_double_eq_tol(bramah_filter_get_augmented(filter, 0).value, -first * decay, 1e-12);
  for (int k = 0; k < 3000; k++) must(bramah_filter_predict(filter, &diag), &diag);
  const double *P = bramah_filter_covariance(filter), ends = noise * noise * T / 2;
  ck_assert_uint_eq(bramah_filter_get_info(filter).n_error, 4);
  if (_i) ck_assert_double_eq_tol(P[2 * 4 + 2], ends, 1e-9 * ends);
  if (_i) ck_assert_double_eq_tol(P[3 * 4 + 3], ends, 1e-9 * ends);
  if (_i) ck_assert_double_eq_tol(P[2 * 4 + 3], 0.0, 1e-9 * ends);
  bramah_filter_free(filter);
}

/* An encoder whose graduation has a ripple of ten of its sigma, 0.8 cycles a sample: an alias. With it among the
 * states the angle is ten times better than the ripple, and innovations are white and of the size expected; the same
 * ripple in a sigma of its size leaves them far too correlated. */
EACH_TEST(test_ripple, 0, 2)
{
  const double period = 0.05, amplitude = 0.02, sigma = 0.002;
  const bramah_augmented ripple = {.name = "ripple",
                                   .kind = BRAMAH_AUGMENTED_BIAS,
                                   .at = "encoder",
                                   .order = 2,
                                   .signal_period = period,
                                   .sigma = 0.02,
                                   .noise = 1e-3};
  pendulum truth = {0.8, 40.0, 0.0, 1.0, 0.1}, model = {0.7, 39.0, 0.0, 1.0, 0.1};
  const bramah_plant real = pendulum_plant(&truth, 1000000);
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor_options option = encoder;
  bramah_sensor sensor;
  option.sigma = _i ? sigma : hypot(sigma, amplitude / sqrt(2.0));
  must(bramah_sensor_init(&option, &plant, &diag, &sensor), &diag);
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .n_augmented = (size_t)_i,
                                         .augmented = &ripple};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  unsigned seed = 5;
  const unsigned char present = 1;
  double error = 0.0, nis = 0.0, product = 0.0, last = 0.0;
  for (int k = 0; k < 3000; k++) {
    const double phase = 6.283185307179586 * truth.angle / period;
    const double y = truth.angle + amplitude * cos(phase + 1.0) + sigma * test_normal(&seed);
    must(bramah_filter_correct(filter, &y, &present, &diag), &diag);
    const bramah_innovation *in = bramah_filter_get_last(filter).innovation;
    const double normalised = in->innovation / in->sigma;
    if (k >= 1000) {
      error += (model.angle - truth.angle) * (model.angle - truth.angle) / 2000;
      nis += in->nis / 2000;
      product += normalised * last / 2000;
    }
    last = normalised;
    must(bramah_filter_predict(filter, &diag), &diag);
    must(real.step(real.self, &diag), &diag);
  }
  if (_i) {
    ck_assert_double_lt(sqrt(error), 0.1 * amplitude);
    ck_assert_double_eq_tol(nis, 1.0, 0.15);
    ck_assert_double_lt(fabs(product / nis), 0.1);
  } else {
    ck_assert_double_gt(fabs(product / nis), 0.2);
  }
  bramah_filter_free(filter);
}

/* Innovations of c = 2 standard deviations, then of none: by hand the running mean is 2 (1 - 0.98^k), beyond 6
 * of its own standard deviations sqrt(0.02 / 1.98) from k = 18 on, and within 3 after 35 more. */
TEST(test_drift_gate)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensor;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  const double gate = 10.0;
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .gate = &gate,
                                         .drift_gate = 6.0,
                                         .patience = 1000};
  bramah_filter *filter;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  for (int k = 1; k <= 60; k++) {
    const double sigma = sqrt(bramah_filter_covariance(filter)[0] + 0.02 * 0.02);
    const double y = model.angle + (k <= 18 ? 2.0 : 0.0) * sigma;
    must(bramah_filter_correct(filter, &y, (const unsigned char[]){1}, &diag), &diag);
    ck_assert_int_eq(bramah_filter_get_last(filter).innovation[0].accepted, k < 18 || k >= 18 + 35);
  }
  ck_assert_uint_eq(bramah_filter_get_report(filter).gated, 35);
  bramah_filter_free(filter);
}

static void refused(const bramah_filter_options *options, bramah_plant *plant, const char *thing)
{
  bramah_sensor sensors[2];
  bramah_filter *filter = NULL;
  must(bramah_sensor_init(&encoder, plant, &diag, &sensors[0]), &diag);
  ck_assert_int_eq(bramah_filter_new(plant, 1, sensors, options, &diag, &filter), BRAMAH_E_VALUE);
  ck_assert_ptr_null(filter);
  ck_assert_str_eq(diag.thing, thing);
}

TEST(test_bad_options)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  const double zero = 0.0, negative = -1.0;
  const bramah_filter_options good = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                      .position_sigma = &position_sigma,
                                      .rate_sigma = &velocity_sigma,
                                      .acceleration_noise = &acceleration_noise};
  bramah_filter_options bad = good;
  bad.position_sigma = &zero;
  refused(&bad, &plant, "bob.angle");
  bad = good;
  bad.acceleration_noise = &negative;
  refused(&bad, &plant, "bob.rate");
  bad = good;
  bad.transition = (bramah_transition)9;
  refused(&bad, &plant, "transition");
  const size_t rate_output = 1;
  bad = good;
  bad.basis = &rate_output;
  bramah_sensor sensors[1];
  bramah_filter *filter = NULL;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensors[0]), &diag);
  ck_assert_int_lt(bramah_filter_new(&plant, 1, sensors, &bad, &diag, &filter), 0);
}

/* A plant that fails must leave the covariance as it was. */
static bramah_status failing_step(void *self, bramah_diag *d)
{
  ((pendulum *)self)->angle = 77.0; /* half-done work */
  if (d) d->status = BRAMAH_E_NO_CONVERGENCE;
  return BRAMAH_E_NO_CONVERGENCE;
}

TEST(test_failing_plant_changes_nothing)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  plant.step = failing_step;
  bramah_sensor sensors[2];
  bramah_filter *filter = make(&plant, sensors);
  unsigned char before[2048], after[2048];
  bramah_filter_save(filter, before);
  ck_assert_int_eq(bramah_filter_predict(filter, &diag), BRAMAH_E_NO_CONVERGENCE);
  bramah_filter_save(filter, after);
  ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
  bramah_filter_free(filter);
}

static int injections_left; /* until one fails; the rows of this plant are found by injections too */

static bramah_status inject_or_fail(void *self, const double *dx, bramah_diag *d)
{
  pendulum unused;
  if (injections_left-- > 0) return pendulum_plant(&unused, 1).inject(self, dx, d);
  if (d) d->status = BRAMAH_E_NO_CONVERGENCE;
  return BRAMAH_E_NO_CONVERGENCE;
}

/* The correction in which the filter finds itself wrong and opens its covariance fails too, at any place:
 * plain, and iterated, where the iterations begin with the opened one. */
EACH_TEST(test_failing_recovery_changes_nothing, 0, 2)
{
  pendulum model = {1.0, 0.0, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  plant.inject = inject_or_fail;
  bramah_sensor sensor;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  const double gate = 3.0, y = 3.0;
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise,
                                         .gate = &gate,
                                         .patience = 2,
                                         .iterations = 1 + 2 * _i};
  bramah_filter *filter;
  injections_left = 1000;
  must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
  unsigned char before[2048], after[2048];
  must(bramah_filter_predict(filter, &diag), &diag);
  must(bramah_filter_correct(filter, &y, (const unsigned char[]){1}, &diag), &diag);
  ck_assert_uint_eq(bramah_filter_get_report(filter).gated, 1);
  ck_assert_uint_le(bramah_filter_snapshot_size(filter), sizeof before);
  bramah_filter_save(filter, before);
  for (int n = 0;; n++) {
    injections_left = n;
    const bramah_status status = bramah_filter_correct(filter, &y, (const unsigned char[]){1}, &diag);
    if (status == BRAMAH_OK) {
      ck_assert_int_gt(n, 4 + 4 * _i);
      break;
    }
    ck_assert_int_eq(status, BRAMAH_E_NO_CONVERGENCE);
    bramah_filter_save(filter, after);
    ck_assert_mem_eq(before, after, bramah_filter_snapshot_size(filter));
  }
  ck_assert_uint_eq(bramah_filter_get_report(filter).recoveries, 1);
  ck_assert_double_gt(model.angle, 2.0); /* prior 1 +- 0.3 inflated to 0.42, encoder 3 +- 0.02 */
  bramah_filter_free(filter);
}

TEST(test_sensor_binding)
{
  pendulum model = {1.0, 0.5, 0.0, 1.0, 0.1};
  bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor s;
  bramah_sensor_options o = encoder;
  o.at = "bb";
  ck_assert_int_eq(bramah_sensor_init(&o, &plant, &diag, &s), BRAMAH_E_REFERENCE);
  ck_assert_ptr_nonnull(strstr(diag.message, "did you mean 'bob'?"));
  o = encoder;
  o.sigma = 0.0;
  ck_assert_int_eq(bramah_sensor_init(&o, &plant, &diag, &s), BRAMAH_E_VALUE);
  o = gyro;
  o.axis[2] = 1.0; /* a gyro on a body: this plant has no bodies */
  ck_assert_int_eq(bramah_sensor_init(&o, &plant, &diag, &s), BRAMAH_E_REFERENCE);
  must(bramah_sensor_init(&encoder, &plant, &diag, &s), &diag);
  ck_assert_double_eq(bramah_sensor_predict(&s, &plant), 1.0);
  ck_assert_double_eq_tol(bramah__sensor_innovation(&s, 3.1, -3.1), 6.2 - 2 * 3.14159265358979323846, 1e-12);
  ck_assert_str_eq(bramah_sensor_kind_name(BRAMAH_SENSOR_GYRO), "gyro");
}

int main(void) { return run_tests("filter"); }
