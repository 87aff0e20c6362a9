/* SPDX-License-Identifier: MIT */
/* Functions of prescribed motions: values by hand, derivatives against differences, continuity of the
 * spline. */
#include "lib/multibody/motion.h"
#include "test/support/run.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

enum { N = 5 };
static const double time[N] = {0.5, 1.0, 1.2, 2.0, 3.0}, value[N] = {0.1, 0.4, -0.3, 0.8, 0.7};
static double slope[N], work[N];

static bramah__motion table(void)
{
  bramah__spline_slopes(N, time, value, slope, work);
  return (bramah__motion){
      .type = BRAMAH__MOTION_TABLE, .n_points = N, .time = time, .value = value, .slope = slope};
}

/* f' and f'' are the derivatives of f and f'. */
static void check_derivatives(const bramah__motion *motion, double t)
{
  const double eps = 1e-6;
  double f[3], above[3], below[3];
  bramah__motion_at(motion, t, f);
  bramah__motion_at(motion, t + eps, above);
  bramah__motion_at(motion, t - eps, below);
  for (int d = 0; d < 2; d++)
    ck_assert_double_eq_tol(f[d + 1], (above[d] - below[d]) / (2 * eps), 1e-8 * (1.0 + fabs(f[d + 1])));
}

TEST(test_constant_rate)
{
  const bramah__motion m = {.type = BRAMAH__MOTION_RATE, .position = 0.3, .rate = -2.0};
  double f[3];
  bramah__motion_at(&m, 1.5, f);
  ck_assert_double_eq_tol(f[0], -2.7, 1e-15);
  ck_assert_double_eq(f[1], -2.0);
  ck_assert_double_eq(f[2], 0.0);
  check_derivatives(&m, 0.7);
}

TEST(test_harmonic)
{
  const bramah__motion m = {.type = BRAMAH__MOTION_HARMONIC,
                            .position = 0.2,
                            .amplitude = 0.5,
                            .omega = 2 * pi * 3.0,
                            .phase = pi / 6};
  double f[3];
  bramah__motion_at(&m, 0.0, f);
  ck_assert_double_eq_tol(f[0], 0.2 + 0.5 * 0.5, 1e-15);
  ck_assert_double_eq_tol(f[1], 0.5 * 6 * pi * sqrt(0.75), 1e-13);
  ck_assert_double_eq_tol(f[2], -0.25 * 36 * pi * pi, 1e-12);
  bramah__motion_at(&m, 1.0 / 3.0, f); /* a period later */
  ck_assert_double_eq_tol(f[0], 0.45, 1e-14);
  for (int i = 0; i < 10; i++) check_derivatives(&m, 0.037 * i);
}

/* Two points: the cubic y = 3 u^2 - 2 u^3. */
TEST(test_two_points)
{
  static const double t[2] = {1.0, 3.0}, y[2] = {2.0, 6.0};
  double s[2], scratch[2], f[3];
  bramah__spline_slopes(2, t, y, s, scratch);
  const bramah__motion m = {.type = BRAMAH__MOTION_TABLE, .n_points = 2, .time = t, .value = y, .slope = s};
  bramah__motion_at(&m, 1.5, f); /* u = 1/4 */
  ck_assert_double_eq_tol(f[0], 2.0 + 4.0 * (3.0 / 16.0 - 2.0 / 64.0), 1e-15);
  ck_assert_double_eq_tol(f[1], 4.0 * (6.0 / 4.0 - 6.0 / 16.0) / 2.0, 1e-15);
  ck_assert_double_eq_tol(f[2], 4.0 * (6.0 - 12.0 / 4.0) / 4.0, 1e-15);
}

/* Three points by hand: 2 (1/1 + 1/2) s = 3 (1/1 + (-2)/4), so s = 1/2. */
TEST(test_three_points)
{
  static const double t[3] = {0.0, 1.0, 3.0}, y[3] = {0.0, 1.0, -1.0};
  double s[3], scratch[3];
  bramah__spline_slopes(3, t, y, s, scratch);
  ck_assert_double_eq_tol(s[1], 0.5, 1e-15);
  ck_assert(s[0] == 0.0 && s[2] == 0.0);
}

TEST(test_spline)
{
  const bramah__motion m = table();
  const double step = 1e-9;
  double f[3], before[3], behind[3];
  for (size_t i = 0; i < N; i++) {
    bramah__motion_at(&m, time[i], f);
    ck_assert_double_eq_tol(f[0], value[i], 1e-15);
    bramah__motion_at(&m, time[i] - step, before);
    bramah__motion_at(&m, time[i] + step, behind);
    ck_assert_double_eq_tol(before[0], behind[0], 1e-7);
    ck_assert_double_eq_tol(before[1], behind[1], 1e-6);
    if (i > 0 && i + 1 < N) ck_assert_double_eq_tol(before[2], behind[2], 1e-5);
  }
  for (int i = 1; i < 40; i++) check_derivatives(&m, 0.5 + 0.0613 * i);
}

/* Outside the table the position is held; the rate goes to zero at its ends. */
TEST(test_ends)
{
  const bramah__motion m = table();
  const double at[4] = {-10.0, 0.5 - 1e-12, 3.0 + 1e-12, 1e6};
  double f[3];
  for (int i = 0; i < 4; i++) {
    bramah__motion_at(&m, at[i], f);
    ck_assert_double_eq(f[0], value[i < 2 ? 0 : N - 1]);
    ck_assert(f[1] == 0.0 && f[2] == 0.0);
  }
  bramah__motion_at(&m, 0.5, f);
  ck_assert_double_eq(f[1], 0.0);
  bramah__motion_at(&m, 3.0, f);
  ck_assert_double_eq_tol(f[1], 0.0, 1e-15);
}

/* The rows leave those of others alone. */
TEST(test_rows)
{
  const bramah__motion m = {
      .type = BRAMAH__MOTION_HARMONIC, .amplitude = 2.0, .omega = 3.0, .joint = 1, .row = 2};
  double f[3], x[3] = {7, 7, 7}, Phi_z[9] = {7, 7, 7, 7, 7, 7, 7, 7, 7};
  const double z[3] = {0.1, 0.2, 0.3};
  bramah__motion_at(&m, 0.4, f);
  bramah__motion_residual(1, &m, 0.4, z, x);
  ck_assert(x[0] == 7 && x[1] == 7 && x[2] == 0.2 - f[0]);
  bramah__motion_bias(1, &m, 0.4, x);
  ck_assert(x[1] == 7 && x[2] == -f[2]);
  x[2] = 5.0;
  bramah__motion_add_rate(1, &m, 0.4, x);
  ck_assert(x[1] == 7 && x[2] == 5.0 - f[1]);
  bramah__motion_jacobian(3, 1, &m, Phi_z);
  ck_assert(Phi_z[5] == 7 && Phi_z[6] == 0 && Phi_z[7] == 1 && Phi_z[8] == 0);
}

int main(void) { return run_tests("motion"); }
