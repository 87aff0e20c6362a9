/* SPDX-License-Identifier: GPL-3.0-or-later */
/* NEES, chi-square tails and whiteness against values worked out by hand, GSL's distribution and known
 * noise. */
#include "bramah/noise.h"
#include "bramah/statistics.h"
#include "test/support/run.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <string.h>

static bramah_diag diag;

/* P = [4 2; 2 3], P^-1 = [3 -2; -2 4] / 8, e = [1 2]: (3 - 8 + 16) / 8. */
START_TEST(nees_by_hand)
{
  const double P[4] = {4, 2, 2, 3}, e[2] = {1, 2}, scaled[4] = {4e-14, 2e-1, 2e-1, 3e12}, s[2] = {1e-7, 2e6};
  const double bad[4] = {1, 2, 2, 1}, negative[4] = {1, 0, 0, -1}, lost[2] = {1, NAN};
  double work[8], value = 7.0;
  ck_assert_int_eq(bramah_nees(2, e, P, work, &value, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-14);
  ck_assert_int_eq(bramah_nees(2, s, scaled, work, &value, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-13);
  ck_assert_int_eq(bramah_nees(2, e, bad, work, &value, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah_nees(2, e, negative, work, &value, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah_nees(2, lost, P, work, &value, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-13);
}
END_TEST

/* Errors drawn with covariance P lie in the band, with one twice as large they do not. */
START_TEST(nees_over_runs)
{
  enum { RUNS = 2000, N = 3 };
  static const double L[N][N] = {{1e-3, 0, 0}, {5e-3, 2e-2, 0}, {1e5, -3e5, 2e5}};
  double P[N * N], work[N * (N + 2)], low, high;
  bramah_nis right = {0}, small = {0};
  bramah_noise *noise;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      P[i * N + j] = 0.0;
      for (int k = 0; k < N; k++) P[i * N + j] += L[i][k] * L[j][k];
    }
  ck_assert_int_eq(bramah_noise_new(3, 4, NULL, &noise), BRAMAH_OK);
  for (int r = 0; r < RUNS; r++) {
    double z[N], e[N], value;
    for (int i = 0; i < N; i++) z[i] = bramah_noise_gaussian(noise, 1.0);
    for (int i = 0; i < N; i++) e[i] = L[i][0] * z[0] + L[i][1] * z[1] + L[i][2] * z[2];
    ck_assert_int_eq(bramah_nees(N, e, P, work, &value, &diag), BRAMAH_OK);
    bramah_nis_add(&right, value, N);
    for (int i = 0; i < N; i++) e[i] *= 1.1;
    ck_assert_int_eq(bramah_nees(N, e, P, work, &value, &diag), BRAMAH_OK);
    bramah_nis_add(&small, value, N);
  }
  bramah_noise_free(noise);
  ck_assert_int_eq(bramah_nis_band(right.dof, 0.99, &low, &high, &diag), BRAMAH_OK);
  ck_assert(bramah_nis_mean(&right) > low && bramah_nis_mean(&right) < high);
  ck_assert_double_gt(bramah_nis_mean(&small), high);
}
END_TEST

START_TEST(chi_square_tail)
{
  ck_assert_double_eq_tol(bramah_chi_square_above(3.841458820694124, 1), 0.05, 1e-12);
  ck_assert_double_eq_tol(bramah_chi_square_above(2.0, 2), exp(-1.0), 1e-15);
  ck_assert_double_eq_tol(bramah_chi_square_above(18.307038053275146, 10), 0.05, 1e-12);
  for (double dof = 0.5; dof < 3000; dof *= 1.3)
    for (double x = 0.01 * dof; x < 10 * dof + 50; x *= 1.4) {
      const double wanted = gsl_cdf_chisq_Q(x, dof);
      if (!(fabs(bramah_chi_square_above(x, dof) - wanted) < 1e-9 * wanted + 1e-13))
        ck_abort_msg("dof %g x %g: %g instead of %g", dof, x, bramah_chi_square_above(x, dof), wanted);
    }
  ck_assert_double_eq(bramah_chi_square_above(0, 5), 1.0);
  ck_assert_double_eq(bramah_chi_square_above(-3, 5), 1.0);
  ck_assert_double_eq(bramah_chi_square_above(1e9, 20), 0.0);
  ck_assert_double_eq(bramah_chi_square_above(INFINITY, 20), 0.0);
  ck_assert(isnan(bramah_chi_square_above(NAN, 20)));
  ck_assert(isnan(bramah_chi_square_above(1, 0)));
}
END_TEST

/* x = 1 2 4 1: about its mean 2 it is -1 0 2 -1, squares 6; r_1 = -2 / 6, r_2 = -2 / 6 (-1 times 2, 0 times
 * -1). */
START_TEST(autocorrelation_by_hand)
{
  const double x[4] = {1, 2, 4, 1};
  double r[2];
  bramah_whiteness w;
  ck_assert_int_eq(bramah_whiteness_test(4, x, 2, r, &w, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(r[0], -1.0 / 3.0, 1e-15);
  ck_assert_double_eq_tol(r[1], -1.0 / 3.0, 1e-15);
  ck_assert_double_eq_tol(w.ljung_box, 24.0 * (1.0 / 27.0 + 1.0 / 18.0), 1e-14);
  ck_assert_double_eq_tol(w.p_value, exp(-0.5 * w.ljung_box), 1e-14);
  ck_assert_double_eq_tol(w.band, 0.98, 1e-15);
  ck_assert_uint_eq(w.outside, 0);
  ck_assert_uint_eq(w.n, 4);
  ck_assert_uint_eq(w.lags, 2);
}
END_TEST

/* White noise is refused at 5 % in 5 % of the trials; noise that remembers a tenth of itself nearly
 * always. */
START_TEST(tells_white_from_coloured)
{
  enum { TRIALS = 1000, SAMPLES = 2000, LAGS = 20 };
  static double white[SAMPLES], coloured[SAMPLES], r[LAGS];
  int refused[2] = {0, 0};
  size_t outside = 0;
  bramah_noise *noise;
  bramah_whiteness w;
  ck_assert_int_eq(bramah_noise_new(9, 1, NULL, &noise), BRAMAH_OK);
  for (int t = 0; t < TRIALS; t++) {
    for (int i = 0; i < SAMPLES; i++) {
      white[i] = bramah_noise_gaussian(noise, 1.0);
      coloured[i] = white[i] + (i ? 0.15 * coloured[i - 1] : 0.0);
    }
    ck_assert_int_eq(bramah_whiteness_test(SAMPLES, white, LAGS, r, &w, &diag), BRAMAH_OK);
    refused[0] += w.p_value < 0.05;
    outside += w.outside;
    ck_assert_int_eq(bramah_whiteness_test(SAMPLES, coloured, LAGS, r, &w, &diag), BRAMAH_OK);
    refused[1] += w.p_value < 0.05;
    ck_assert_double_eq_tol(r[0], 0.15, 0.1);
  }
  bramah_noise_free(noise);
  ck_assert_double_eq_tol((double)refused[0] / TRIALS, 0.05, 4 * sqrt(0.05 * 0.95 / TRIALS));
  ck_assert_double_eq_tol((double)outside / TRIALS / LAGS, 0.05, 0.005);
  ck_assert_int_gt(refused[1], TRIALS * 9 / 10);
}
END_TEST

START_TEST(refuses_what_makes_no_sense)
{
  const double same[5] = {2, 2, 2, 2, 2}, lost[5] = {1, 2, NAN, 3, 4}, good[5] = {1, 2, 5, 3, 4};
  double r[5];
  bramah_whiteness w;
  ck_assert_int_eq(bramah_whiteness_test(5, good, 0, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_whiteness_test(5, good, 4, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_whiteness_test(2, good, 1, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_whiteness_test(5, same, 2, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah_whiteness_test(5, lost, 2, r, &w, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_whiteness_test(5, good, 3, r, &w, &diag), BRAMAH_OK);
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("whiteness");
  TCase *t = one_case(suite, "whiteness");
  tcase_add_test(t, nees_by_hand);
  tcase_add_test(t, nees_over_runs);
  tcase_add_test(t, chi_square_tail);
  tcase_add_test(t, autocorrelation_by_hand);
  tcase_add_test(t, tells_white_from_coloured);
  tcase_add_test(t, refuses_what_makes_no_sense);
  return run_suite(suite);
}
