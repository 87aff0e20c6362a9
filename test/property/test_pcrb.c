/* SPDX-License-Identifier: MIT */
/* The posterior Cramer-Rao bound: by hand, against its information form, and on a pendulum, where filters
 * come near it and none below. */
#include "bramah/filter.h"
#include "bramah/observability.h"
#include "lib/math/dense.h"
#include "test/support/four_bar.h"
#include "test/support/linear_run.h"
#include "test/support/pendulum.h"
#include "test/support/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bramah_diag diag;

/* P = 4; F = 0.5, Q = 1: 2; a sample with variance 2: 1. */
TEST(test_by_hand)
{
  const double F = 0.5, Q = 1.0, H = 1.0, r = sqrt(2.0);
  double P = 4.0, work[5];
  must(bramah_pcrb_step(1, &F, &Q, 0, NULL, NULL, &P, work, &diag), &diag);
  ck_assert_double_eq_tol(P, 2.0, 1e-15);
  must(bramah_pcrb_step(1, NULL, NULL, 1, &H, &r, &P, work, &diag), &diag);
  ck_assert_double_eq_tol(P, 1.0, 1e-15);
  must(bramah_pcrb_step(1, &F, NULL, 0, NULL, NULL, &P, work, &diag), &diag);
  ck_assert_double_eq_tol(P, 0.25, 1e-15);
  const double nan = NAN, zero = 0.0;
  double wrong = -1.0;
  ck_assert_int_eq(bramah_pcrb_step(1, NULL, NULL, 1, &H, &zero, &P, work, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_pcrb_step(1, &F, &wrong, 0, NULL, NULL, &P, work, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah_pcrb_step(1, &F, &wrong, 1, &H, &r, &P, work, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah_pcrb_step(1, &nan, &Q, 0, NULL, NULL, &P, work, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_double_eq_tol(P, 0.25, 1e-15);
  ck_assert_int_eq(bramah_pcrb_step(1, NULL, NULL, 0, NULL, NULL, &wrong, work, &diag), BRAMAH_E_NOT_SPD);
  P = 4.0; /* a step and its sample in one call */
  must(bramah_pcrb_step(1, &F, &Q, 1, &H, &r, &P, work, &diag), &diag);
  ck_assert_double_eq_tol(P, 1.0, 1e-15);
}

enum { N = 4 };

/* A = A^-1 by columns. */
static void invert(double *A)
{
  double LU[N * N], column[N];
  int pivot[N];
  memcpy(LU, A, sizeof LU);
  ck_assert_uint_eq(bramah__lu_factor(N, LU, pivot), 0);
  for (int k = 0; k < N; k++) {
    for (int i = 0; i < N; i++) column[i] = i == k;
    bramah__lu_solve(N, LU, pivot, column);
    for (int i = 0; i < N; i++) A[i * N + k] = column[i];
  }
}

/* One step of the recursion as published. */
static void information_step(double *J, const double *F, const double *Q, const double *H, double r)
{
  double W[N * N], D21[N * N], D12[N * N], D11[N * N], M[N * N], X[N * N];
  memcpy(W, Q, sizeof W);
  invert(W);
  bramah__multiply(N, N, N, W, F, D21);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) D12[i * N + j] = D21[j * N + i];
  bramah__multiply(N, N, N, D12, F, D11);
  for (int i = 0; i < N * N; i++) M[i] = J[i] + D11[i];
  invert(M);
  bramah__multiply(N, N, N, D21, M, X);
  bramah__multiply(N, N, N, X, D12, M);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) J[i * N + j] = W[i * N + j] + H[i] * H[j] / (r * r) - M[i * N + j];
}

TEST(test_information_form)
{
  double bound[N * N] = {0}, work[2 * N * N + 3 * N], J[N * N] = {0}, G[N * N], Q[N * N], F[N * N], H[N],
                   B[N * N];
  unsigned seed = 12;
  for (int i = 0; i < N; i++) J[i * N + i] = 1.0 / (bound[i * N + i] = 1.0 + i);
  for (int k = 0; k < 30; k++) {
    const double r = 0.3;
    for (int i = 0; i < N * N; i++) {
      G[i] = test_uniform(&seed);
      F[i] = 0.6 * test_uniform(&seed) + (i % (N + 1) == 0);
    }
    for (int i = 0; i < N; i++) H[i] = test_uniform(&seed);
    bramah__multiply_transposed(N, N, N, G, G, Q);
    for (int i = 0; i < N; i++) Q[i * N + i] += 0.1;
    information_step(J, F, Q, H, r);
    must(bramah_pcrb_step(N, F, Q, 1, H, &r, bound, work, &diag), &diag);
    memcpy(B, J, sizeof B);
    invert(B);
    for (int i = 0; i < N * N; i++) ck_assert_double_eq_tol(bound[i], B[i], 1e-10 * (1.0 + fabs(B[i])));
  }
}

/* On a linear plant the filter reaches the bound: its covariance does not depend on where it is. */
TEST(test_filter_reaches_it_on_a_linear_plant)
{
  enum { L = LINEAR_N };
  static linear_run run;
  double F[L * L], Q[L * L], rows[LINEAR_SENSORS * L], sigma[LINEAR_SENSORS];
  double bound[L * L], work[2 * L * L + 3 * L];
  bramah_filter *filter;
  linear_run_make(&run, -1);
  must(bramah_filter_new(&run.plant, LINEAR_SENSORS, run.sensor, &run.options, &diag, &filter), &diag);
  memcpy(bound, bramah_filter_covariance(filter), sizeof bound);
  linear_plant_transition(&run.object, F);
  linear_run_noise(&run, Q);
  for (int k = 0; k < 200; k++) {
    size_t m = 0;
    for (int i = 0; i < LINEAR_SENSORS; i++) {
      if (!run.due[k][i]) continue;
      linear_run_row(&run, i, rows + m * L);
      sigma[m++] = run.sensor[i].sigma;
    }
    must(bramah_pcrb_step(L, NULL, NULL, m, rows, sigma, bound, work, &diag), &diag);
    must(bramah_filter_correct(filter, run.y[k], run.due[k], &diag), &diag);
    const double *P = bramah_filter_covariance(filter);
    for (int i = 0; i < L; i++)
      for (int j = 0; j < L; j++)
        ck_assert_double_eq_tol(P[i * L + j], bound[i * L + j],
                                1e-9 * sqrt(bound[i * L + i] * bound[j * L + j]));
    must(bramah_filter_predict(filter, &diag), &diag);
    must(bramah_pcrb_step(L, F, Q, 0, NULL, NULL, bound, work, &diag), &diag);
  }
  bramah_filter_free(filter);
}

/* ---- pendulum ---- */

enum { RUNS = 400, STEPS = 800 };

static const double position_sigma = 0.3, velocity_sigma = 0.5, acceleration_noise = 0.3;

/* Derivative of the pendulum's midpoint step, by central differences. */
static void transition(const bramah_plant *plant, double *F)
{
  pendulum *p = plant->self;
  const pendulum keep = *p;
  for (int k = 0; k < 2; k++) {
    double end[2][2];
    for (int side = 0; side < 2; side++) {
      double dx[2] = {0.0, 0.0};
      dx[k] = side ? 1e-4 : -1e-4;
      *p = keep;
      plant->inject(p, dx, &diag);
      plant->step(p, &diag);
      plant->coordinates(p, end[side]);
    }
    for (int i = 0; i < 2; i++) F[i * 2 + k] = (end[1][i] - end[0][i]) / 2e-4;
  }
  *p = keep;
}

static void noise_of(double h, double *Q)
{
  const double q = acceleration_noise * acceleration_noise;
  Q[0] = q * h * h * h / 3.0;
  Q[1] = Q[2] = q * h * h / 2.0;
  Q[3] = q * h;
}

/* Root mean square error of the filter over many runs, each with a start, noise and samples of its own.
 * The bound is taken along the motion without noise, which the noisy ones stay near. */
TEST(test_pendulum_against_many_runs)
{
  static const bramah_sensor_options encoder = {
      .name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "bob", .sigma = 0.02};
  const bramah_filter_options options = {.transition = BRAMAH_TRANSITION_KINEMATIC,
                                         .position_sigma = &position_sigma,
                                         .rate_sigma = &velocity_sigma,
                                         .acceleration_noise = &acceleration_noise};
  static double squares[STEPS];
  const double H[2] = {1.0, 0.0};
  double bound[4] = {position_sigma * position_sigma, 0.0, 0.0, velocity_sigma * velocity_sigma};
  double Q[4], work[14];
  unsigned seed = 21;
  pendulum model;
  const bramah_plant plant = pendulum_plant(&model, 1000000);
  bramah_sensor sensor;
  must(bramah_sensor_init(&encoder, &plant, &diag, &sensor), &diag);
  noise_of(1e-3, Q);
  for (int r = 0; r < RUNS; r++) {
    pendulum truth = {0.8, 0.0, 0.0, 1.0, 0.1};
    const bramah_plant real = pendulum_plant(&truth, 1000000);
    bramah_filter *filter;
    model = truth;
    model.angle += position_sigma * test_normal(&seed);
    model.rate += velocity_sigma * test_normal(&seed);
    must(bramah_filter_new(&plant, 1, &sensor, &options, &diag, &filter), &diag);
    for (int k = 0; k < STEPS; k++) {
      const double y = truth.angle + 0.02 * test_normal(&seed);
      const unsigned char present = k % 10 == 0;
      must(bramah_filter_correct(filter, &y, &present, &diag), &diag);
      squares[k] += pow(model.angle - truth.angle, 2) / RUNS;
      must(bramah_filter_predict(filter, &diag), &diag);
      must(real.step(real.self, &diag), &diag);
      const double a = test_normal(&seed), c = test_normal(&seed);
      truth.rate += sqrt(Q[3]) * a; /* normal with covariance Q */
      truth.angle += Q[1] / sqrt(Q[3]) * a + sqrt(Q[0] - Q[1] * Q[1] / Q[3]) * c;
    }
    bramah_filter_free(filter);
  }
  pendulum truth = {0.8, 0.0, 0.0, 1.0, 0.1};
  double ratio = 0.0, F[4];
  const double sigma = 0.02;
  const bramah_plant real = pendulum_plant(&truth, 1000000);
  for (int k = 0; k < STEPS; k++) {
    if (k % 10 == 0) must(bramah_pcrb_step(2, NULL, NULL, 1, H, &sigma, bound, work, &diag), &diag);
    ratio += sqrt(squares[k]) / sqrt(bound[0]) / STEPS;
    transition(&real, F);
    must(real.step(real.self, &diag), &diag);
    must(bramah_pcrb_step(2, F, Q, 0, NULL, NULL, bound, work, &diag), &diag);
  }
  printf("pendulum: error of the filter over the bound, mean over time: %.3f\n", ratio);
  ck_assert_double_gt(ratio, 0.95); /* 400 runs know it to some 3 % */
  ck_assert_double_lt(ratio, 1.1);
}

int main(void) { return run_tests("Cramer-Rao bound"); }
