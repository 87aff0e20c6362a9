/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Figures of merit against values worked out by hand and from chi-square tables. */
#include "bramah/statistics.h"
#include "bramah/noise.h"
#include "test/support/run.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

START_TEST(rmse_of_known_errors)
{
  bramah_rmse r = {0};
  ck_assert(isnan(bramah_rmse_value(&r)));
  ck_assert(isnan(bramah_rmse_percent(&r)));
  ck_assert(isnan(bramah_rmse_inside(&r)));
  bramah_rmse_add(&r, -10.0, -7.0, 1.0);      /* error 3, outside 1.96 */
  bramah_rmse_add(&r, 2.0, -2.0, 3.0);        /* error -4, inside 5.88 */
  bramah_rmse_add(&r, 1.0, 1.0, (double)NAN); /* no band */
  bramah_rmse_add(&r, 0.0, 0.0, 0.0);         /* on the edge: inside */
  ck_assert_double_eq_tol(bramah_rmse_value(&r), 2.5, 1e-15);
  ck_assert_double_eq_tol(bramah_rmse_percent(&r), 25.0, 1e-13);
  ck_assert_double_eq_tol(bramah_rmse_inside(&r), 2.0 / 3.0, 1e-15);
}
END_TEST

START_TEST(rmse_without_truth_or_with_a_broken_estimate)
{
  bramah_rmse r = {0};
  bramah_rmse_add(&r, 0.0, 1.0, (double)NAN);
  ck_assert_double_eq(bramah_rmse_value(&r), 1.0);
  ck_assert(isnan(bramah_rmse_percent(&r)));
  ck_assert(isnan(bramah_rmse_inside(&r)));
  bramah_rmse_add(&r, 0.0, (double)NAN, 1.0); /* must not be hidden */
  ck_assert(isnan(bramah_rmse_value(&r)));
  ck_assert_double_eq(bramah_rmse_inside(&r), 0.0);
}
END_TEST

START_TEST(nis_mean)
{
  bramah_nis nis = {0};
  ck_assert(isnan(bramah_nis_mean(&nis)));
  bramah_nis_add(&nis, 3.0, 2.0);
  bramah_nis_add(&nis, 5.0, 2.0);
  ck_assert_uint_eq(nis.n, 2);
  ck_assert_double_eq(bramah_nis_mean(&nis), 2.0);
}
END_TEST

static void assert_band(double dof, double probability, double low, double high)
{
  double l, h;
  ck_assert_int_eq(bramah_nis_band(dof, probability, &l, &h, NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l * dof, low, 6e-4 * fmax(1.0, low * 1e-3));
  ck_assert_double_eq_tol(h * dof, high, 6e-4 * fmax(1.0, high * 1e-3));
}

START_TEST(bands_from_tables)
{
  assert_band(1, 0.95, 0.00098, 5.0239);
  assert_band(10, 0.95, 3.247, 20.483);
  assert_band(50, 0.95, 32.357, 71.420);
  assert_band(100, 0.99, 67.328, 140.169);
  assert_band(5, 0.90, 1.1455, 11.0705);
}
END_TEST

/* Against GSL's distribution itself, not its inverse, which is less exact and fails now and then. */
START_TEST(bands_agree_with_gsl)
{
  double l, h;
  for (double dof = 1.0; dof <= 1000.0; dof = dof < 20 ? dof + 0.5 : dof * 1.07)
    for (double tail = 0.45; tail > 1e-9; tail *= 0.3) {
      ck_assert_int_eq(bramah_nis_band(dof, 1.0 - 2.0 * tail, &l, &h, NULL), BRAMAH_OK);
      double below = gsl_cdf_chisq_P(l * dof, dof), above = gsl_cdf_chisq_Q(h * dof, dof);
      if (!(fabs(below / tail - 1.0) < 1e-6))
        ck_abort_msg("dof %g: %g below instead of %g", dof, below, tail);
      if (!(fabs(above - tail) < 1e-6 * tail + 2e-12))
        ck_abort_msg("dof %g: %g above instead of %g", dof, above, tail);
    }
}
END_TEST

/* Found by trials: GSL's inverse fails here. */
START_TEST(bands_where_gsl_fails)
{
  double l, h;
  for (double dof = 760.86; dof < 760.88; dof += 1e-4)
    ck_assert_int_eq(bramah_nis_band(dof, 1 - 2 * 0.0105257, &l, &h, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_nis_band(699520, 1 - 2 * 8.74699e-05, &l, &h, NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l * 699520, 695090, 2);
  ck_assert_double_eq_tol(gsl_cdf_chisq_Q(h * 699520, 699520), 8.74699e-05, 1e-8);
}
END_TEST

/* Where the normal approximation takes over the band must neither jump nor lose digits. */
START_TEST(large_degrees_of_freedom)
{
  double l[2], h[2];
  ck_assert_int_eq(bramah_nis_band(1000.0, 0.95, &l[0], &h[0], NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah_nis_band(1000.0 + 1e-9, 0.95, &l[1], &h[1], NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l[0], l[1], 2e-6);
  ck_assert_double_eq_tol(h[0], h[1], 2e-6);
  for (double dof = 1e3; dof < 1e15; dof *= 2.7) {
    ck_assert_int_eq(bramah_nis_band(dof, 0.95, l, h, NULL), BRAMAH_OK);
    if (dof < 2e5) { /* GSL's distribution itself, not its inverse, is good this far */
      ck_assert_double_eq_tol(gsl_cdf_chisq_P(l[0] * dof, dof), 0.025, 1e-5);
      ck_assert_double_eq_tol(gsl_cdf_chisq_Q(h[0] * dof, dof), 0.025, 1e-5);
    }
    ck_assert_double_eq_tol(h[0] - l[0], 2 * 1.959964 * sqrt(2.0 / dof), 1e-3 * sqrt(2.0 / dof));
    ck_assert(l[0] < 1.0 && 1.0 < h[0]);
  }
}
END_TEST

static int handler_calls;
static void count_calls(const char *reason, const char *file, int line, int gsl_errno)
{
  (void)reason, (void)file, (void)line, (void)gsl_errno;
  handler_calls++;
}

/* GSL's handler would abort a program that only wanted a band. */
START_TEST(never_calls_the_handler_of_gsl)
{
  static const double probabilities[] = {1e-300, 1e-12, 0.01,  0.5,      0.6827,   0.9,
                                         0.95,   0.99,  0.999, 0.999999, 1 - 1e-7, 1 - 3e-9};
  double l, h;
  gsl_set_error_handler(count_calls);
  for (size_t p = 0; p < sizeof probabilities / sizeof *probabilities; p++)
    for (double dof = 1.0; dof < 1e300; dof = dof < 1300 ? dof + 0.5 : dof * 1.7) {
      bramah_status status = bramah_nis_band(dof, probabilities[p], &l, &h, NULL);
      if (status || !(l >= 0.0 && l <= h && isfinite(h)))
        ck_abort_msg("dof %g probability %g: %g to %g", dof, probabilities[p], l, h);
    }
  ck_assert_int_eq(handler_calls, 0);
  gsl_set_error_handler(NULL);
}
END_TEST

START_TEST(refuses_what_makes_no_sense)
{
  static const double bad[][2] = {{0, 0.95},        {-1, 0.95},     {0.5, 0.95}, {NAN, 0.95},
                                  {INFINITY, 0.95}, {5, 0},         {5, 1},      {5, -0.1},
                                  {5, 1.5},         {5, 1 - 1e-10}, {5, NAN}};
  double l = 7.0, h = 8.0;
  bramah_diag diag = {0};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_int_eq(bramah_nis_band(bad[i][0], bad[i][1], &l, &h, &diag), BRAMAH_E_VALUE);
    ck_assert(strlen(diag.message) > 0);
  }
  ck_assert_double_eq(l, 7.0);
  ck_assert_double_eq(h, 8.0);
}
END_TEST

/* A consistent filter lies inside the 95 % band in 95 % of the runs. */
START_TEST(bands_hold_what_they_promise)
{
  enum { RUNS = 4000, SAMPLES = 30 };
  double l, h;
  int inside = 0;
  bramah_noise *noise = NULL;
  ck_assert_int_eq(bramah_noise_new(5, 6, NULL, &noise), BRAMAH_OK);
  ck_assert_int_eq(bramah_nis_band(SAMPLES, 0.95, &l, &h, NULL), BRAMAH_OK);
  for (int r = 0; r < RUNS; r++) {
    bramah_nis nis = {0};
    for (int i = 0; i < SAMPLES; i++) {
      double e = bramah_noise_gaussian(noise, 1.0);
      bramah_nis_add(&nis, e * e, 1.0);
    }
    inside += bramah_nis_mean(&nis) > l && bramah_nis_mean(&nis) < h;
  }
  bramah_noise_free(noise);
  ck_assert_double_eq_tol((double)inside / RUNS, 0.95, 4 * sqrt(0.95 * 0.05 / RUNS));
}
END_TEST

int main(void)
{
  Suite *suite = suite_create("statistics");
  TCase *t = one_case(suite, "statistics");
  tcase_add_test(t, rmse_of_known_errors);
  tcase_add_test(t, rmse_without_truth_or_with_a_broken_estimate);
  tcase_add_test(t, nis_mean);
  tcase_add_test(t, bands_from_tables);
  tcase_add_test(t, bands_agree_with_gsl);
  tcase_add_test(t, bands_where_gsl_fails);
  tcase_add_test(t, large_degrees_of_freedom);
  tcase_add_test(t, never_calls_the_handler_of_gsl);
  tcase_add_test(t, refuses_what_makes_no_sense);
  tcase_add_test(t, bands_hold_what_they_promise);
  return run_suite(suite);
}
