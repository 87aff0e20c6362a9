/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Likelihood of innovations against hand calculations, its gradient against central differences of its cost,
 * its information against the scatter of gradients over many draws. */
#include "lib/tune/likelihood.h"
#include "lib/logs/logs.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;

/* Innovations y [m] with covariance S, one after the other: what is left of each by those before it. */
static void one_by_one(size_t m, const double *y, const double *S, double *rest, double *variance)
{
  double A[16], b[4];
  memcpy(A, S, m * m * sizeof *A);
  memcpy(b, y, m * sizeof *b);
  for (size_t k = 0; k < m; k++) {
    rest[k] = b[k];
    variance[k] = A[k * m + k];
    for (size_t i = k + 1; i < m; i++) {
      b[i] -= A[i * m + k] / variance[k] * rest[k];
      for (size_t j = k + 1; j < m; j++) A[i * m + j] -= A[i * m + k] * A[k * m + j] / variance[k];
    }
  }
}

/* S = [4 2; 2 3], y = [1 2]: det S = 8, y' S^-1 y = 11 / 8 (as in test_whiteness.c). */
TEST(cost_by_hand)
{
  const double y[2] = {1, 2}, S[4] = {4, 2, 2, 3}, expected = 0.5 * (log(8.0) + 11.0 / 8.0);
  double rest[2], variance[2];
  bramah__likelihood *l;
  one_by_one(2, y, S, rest, variance);
  ck_assert_int_eq(bramah__likelihood_new(0, NULL, &diag, &l), BRAMAH_OK);
  for (size_t k = 0; k < 2; k++)
    ck_assert_int_eq(bramah__likelihood_add(l, rest[k], variance[k], 0.0, NULL, NULL, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(bramah__likelihood_cost(l), expected, 1e-14);
  ck_assert_int_eq(bramah__likelihood_add(l, 3.0, 2.0, 0.0, NULL, NULL, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(bramah__likelihood_cost(l), expected + 0.5 * (log(2.0) + 4.5), 1e-14);
  ck_assert_int_eq(bramah__likelihood_add(l, 1.0, -1.0, 0.0, NULL, NULL, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah__likelihood_add(l, NAN, 1.0, 0.0, NULL, NULL, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_double_eq_tol(bramah__likelihood_cost(l), expected + 0.5 * (log(2.0) + 4.5), 1e-14);
  for (int k = 0; k < 1000; k++) /* variances beyond what a product of them can hold */
    ck_assert_int_eq(bramah__likelihood_add(l, 0.0, k < 500 ? 1e-12 : 1e30, 0.0, NULL, NULL, &diag),
                     BRAMAH_OK);
  ck_assert_double_eq_tol(bramah__likelihood_cost(l), expected + 0.5 * (log(2.0) + 4.5 + 500.0 * log(1e18)),
                          1e-9);
  bramah__likelihood_free(l);
  bramah__likelihood_free(NULL);
}

/* One variance s = exp(2 p) and an innovation y = a - p b: dc/dp = 1 - y^2 / s - y b / s, I = 2 + b^2 / s. */
TEST(scalar_by_hand)
{
  const double p = 0.3, a = 1.7, b = 0.4, h = 1e-6, y = a - p * b, s = exp(2 * p);
  const double near_y = a - (p + h) * b, near_s = exp(2 * (p + h));
  bramah__likelihood *l;
  ck_assert_int_eq(bramah__likelihood_new(1, &h, &diag, &l), BRAMAH_OK);
  ck_assert_int_eq(bramah__likelihood_add(l, y, s, 0.0, &near_y, &near_s, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(l->gradient[0], 1.0 - y * y / s - y * b / s, 1e-5);
  ck_assert_double_eq_tol(l->information[0], 2.0 + b * b / s, 1e-5);
  bramah__likelihood_free(l);
}

enum { M = 3, N = 2 };

/* Innovations and covariance that depend on two parameters crookedly, one after the other. */
static void model(const double *p, double *rest, double *variance)
{
  double y[M], S[M * M];
  const double L[M][M] = {{exp(p[0]), 0, 0}, {0.5 * p[1], 2 + p[0] * p[1], 0}, {0.3, -p[0], exp(-p[1])}};
  for (int i = 0; i < M; i++) {
    y[i] = 1.0 + i - p[0] * i + p[1] * p[1];
    for (int j = 0; j < M; j++) {
      S[i * M + j] = 0.0;
      for (int k = 0; k < M; k++) S[i * M + j] += L[i][k] * L[j][k];
    }
  }
  one_by_one(M, y, S, rest, variance);
}

static double cost_at(double a, double b)
{
  const double p[N] = {a, b};
  double rest[M], variance[M];
  bramah__likelihood *l;
  model(p, rest, variance);
  ck_assert_int_eq(bramah__likelihood_new(0, NULL, &diag, &l), BRAMAH_OK);
  for (int i = 0; i < M; i++)
    ck_assert_int_eq(bramah__likelihood_add(l, rest[i], variance[i], 0.0, NULL, NULL, &diag), BRAMAH_OK);
  const double cost = bramah__likelihood_cost(l);
  bramah__likelihood_free(l);
  return cost;
}

TEST(gradient_against_differences)
{
  const double p[N] = {0.2, -0.4}, h = 1e-5, step[N] = {1e-7, -1e-7};
  double rest[M], variance[M], near_rest[N][M], near_variance[N][M];
  bramah__likelihood *l;
  model(p, rest, variance);
  for (int j = 0; j < N; j++) {
    double q[N] = {p[0], p[1]};
    q[j] += step[j];
    model(q, near_rest[j], near_variance[j]);
  }
  ck_assert_int_eq(bramah__likelihood_new(N, step, &diag, &l), BRAMAH_OK);
  for (int i = 0; i < M; i++) {
    const double y[N] = {near_rest[0][i], near_rest[1][i]}, s[N] = {near_variance[0][i], near_variance[1][i]};
    ck_assert_int_eq(bramah__likelihood_add(l, rest[i], variance[i], 0.0, y, s, &diag), BRAMAH_OK);
  }
  const double *g = l->gradient;
  ck_assert_double_eq_tol(g[0], (cost_at(p[0] + h, p[1]) - cost_at(p[0] - h, p[1])) / (2 * h), 2e-5);
  ck_assert_double_eq_tol(g[1], (cost_at(p[0], p[1] + h) - cost_at(p[0], p[1] - h)) / (2 * h), 2e-5);
  bramah__likelihood_free(l);
}

/* Drawn from what is believed, gradients have mean zero and the information as covariance. */
TEST(information_is_scatter_of_gradients)
{
  enum { DRAWS = 20000 };
  const double step[N] = {1e-6, 1e-6};
  double sum[N] = {0}, squares[N * N] = {0}, information[N * N] = {0};
  bramah_noise *noise;
  ck_assert_int_eq(bramah__noise_new(5, 1, &diag, &noise), BRAMAH_OK);
  for (int d = 0; d < DRAWS; d++) {
    /* Standard deviation exp(p0), mean p1: y = z - p1. */
    const double y = bramah_noise_gaussian(noise, 2.0), s = 4.0;
    const double near_y[N] = {y, y - step[1]}, near_s[N] = {4.0 * exp(2 * step[0]), 4.0};
    bramah__likelihood *l;
    ck_assert_int_eq(bramah__likelihood_new(N, step, &diag, &l), BRAMAH_OK);
    ck_assert_int_eq(bramah__likelihood_add(l, y, s, 0.0, near_y, near_s, &diag), BRAMAH_OK);
    const double *g = l->gradient;
    for (int i = 0; i < N; i++) {
      sum[i] += g[i] / DRAWS;
      for (int j = 0; j < N; j++) squares[i * N + j] += g[i] * g[j] / DRAWS;
    }
    bramah__likelihood_information(l, information);
    bramah__likelihood_free(l);
  }
  bramah_noise_free(noise);
  ck_assert_double_eq_tol(information[0], 2.0, 1e-5);
  ck_assert_double_eq_tol(information[3], 0.25, 1e-6);
  ck_assert_double_eq_tol(information[1], 0.0, 1e-12);
  ck_assert_double_eq_tol(sum[0], 0.0, 4 * sqrt(2.0 / DRAWS));
  ck_assert_double_eq_tol(sum[1], 0.0, 4 * sqrt(0.25 / DRAWS));
  ck_assert_double_eq_tol(squares[0], 2.0, 0.12);
  ck_assert_double_eq_tol(squares[3], 0.25, 0.015);
}

/* At the gate a rejected sample costs what a fused one does; beyond it the cost grows with its logarithm, with the slope that differences
 * have; a sigma that makes everything an outlier does not pay. */
TEST(outliers)
{
  const double sigma = 0.5, gate = 3.0, S = sigma * sigma, h = 1e-7, near_S = S * exp(2.0 * h);
  bramah__likelihood *a, *b;
  for (int beyond = 0; beyond < 2; beyond++) {
    const double y = gate * sigma * (beyond ? 1.0 + 1e-12 : 1.0 - 1e-12);
    ck_assert_int_eq(bramah__likelihood_new(0, NULL, &diag, &a), BRAMAH_OK);
    ck_assert_int_eq(bramah__likelihood_new(1, &h, &diag, &b), BRAMAH_OK);
    ck_assert_int_eq(bramah__likelihood_add(a, y, S, 0.0, NULL, NULL, &diag), BRAMAH_OK);
    ck_assert_int_eq(bramah__likelihood_add(b, y, S, gate, &y, &near_S, &diag), BRAMAH_OK);
    ck_assert_double_eq_tol(bramah__likelihood_cost(b), bramah__likelihood_cost(a), 1e-10);
    if (beyond) {
      ck_assert_double_eq_tol(b->gradient[0], -1.0, 1e-6);
      ck_assert_double_eq_tol(b->information[0], 1.0,
                              1e-6); /* of a sigma's logarithm, by the tail's own slope */
    }
    bramah__likelihood_free(a);
    bramah__likelihood_free(b);
  }
  const double y = 4.0, near_y = y + h * 0.3;
  double cost[2];
  for (int k = 0; k < 2; k++) {
    ck_assert_int_eq(bramah__likelihood_new(0, NULL, &diag, &a), BRAMAH_OK);
    ck_assert_int_eq(
        bramah__likelihood_add(a, k ? y + 0.3e-4 : y, k ? S * exp(2e-4) : S, gate, NULL, NULL, &diag),
        BRAMAH_OK);
    cost[k] = bramah__likelihood_cost(a);
    bramah__likelihood_free(a);
  }
  ck_assert_int_eq(bramah__likelihood_new(1, &h, &diag, &b), BRAMAH_OK);
  ck_assert_int_eq(bramah__likelihood_add(b, y, S, gate, &near_y, &near_S, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(b->gradient[0], (cost[1] - cost[0]) / 1e-4, 1e-4);
  bramah__likelihood_free(b);
  double last = -1e9;
  for (double s = 1.0; s > 1e-6; s *= 0.1) {
    ck_assert_int_eq(bramah__likelihood_new(0, NULL, &diag, &a), BRAMAH_OK);
    ck_assert_int_eq(bramah__likelihood_add(a, 5.0, s * s, gate, NULL, NULL, &diag), BRAMAH_OK);
    ck_assert_double_gt(bramah__likelihood_cost(a), last);
    last = bramah__likelihood_cost(a);
    bramah__likelihood_free(a);
  }
}

int main(void) { return run_tests("likelihood"); }
