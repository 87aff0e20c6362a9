/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Statistics against values worked out by hand, chi-square tables, GSL's distribution and known noise. */
#define _GNU_SOURCE /* srand48 */
#include "lib/assess/statistics.h"
#include "lib/logs/logs.h"
#include "test/support/run.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bramah_diag diag;

/* Samples one after the other, as a filter gives them. */
static bramah_status whiteness(size_t n, const double *x, size_t lags, double *r, bramah_whiteness *out,
                               bramah_diag *d)
{
  bramah__autocorrelation a = {0};
  for (size_t i = 0; i < n; i++) bramah__autocorrelation_add(&a, x[i]);
  return bramah__autocorrelation_test(&a, lags, r, out, d);
}

TEST(rmse_of_known_errors)
{
  bramah__rmse r = {0};
  ck_assert(isnan(bramah__rmse_of(&r).value));
  ck_assert(isnan(bramah__rmse_of(&r).percent));
  ck_assert(isnan(bramah__rmse_of(&r).inside));
  bramah__rmse_add(&r, -10.0, -7.0, 1.0);      /* error 3, outside 1.96 */
  bramah__rmse_add(&r, 2.0, -2.0, 3.0);        /* error -4, inside 5.88 */
  bramah__rmse_add(&r, 1.0, 1.0, (double)NAN); /* no band */
  bramah__rmse_add(&r, 0.0, 0.0, 0.0);         /* on the edge: inside */
  ck_assert_double_eq_tol(bramah__rmse_of(&r).value, 2.5, 1e-15);
  ck_assert_double_eq_tol(bramah__rmse_of(&r).percent, 25.0, 1e-13);
  ck_assert_double_eq_tol(bramah__rmse_of(&r).inside, 2.0 / 3.0, 1e-15);
}

TEST(a_value_known_exactly_is_in_its_band_but_for_rounding)
{
  bramah__rmse r = {0};
  bramah__rmse_add(&r, 4.5e-4, 4.5e-4 * (1.0 + 1e-15), 0.0);
  ck_assert_double_eq(bramah__rmse_of(&r).inside, 1.0);
  bramah__rmse_add(&r, 4.5e-4, 4.5e-4 * (1.0 + 1e-9), 0.0);
  ck_assert_double_eq(bramah__rmse_of(&r).inside, 0.5);
}

TEST(rmse_without_truth_or_with_a_broken_estimate)
{
  bramah__rmse r = {0};
  bramah__rmse_add(&r, 0.0, 1.0, (double)NAN);
  ck_assert_double_eq(bramah__rmse_of(&r).value, 1.0);
  ck_assert(isnan(bramah__rmse_of(&r).percent));
  ck_assert(isnan(bramah__rmse_of(&r).inside));
  bramah__rmse_add(&r, 0.0, (double)NAN, 1.0); /* must not be hidden */
  ck_assert(isnan(bramah__rmse_of(&r).value));
  ck_assert_double_eq(bramah__rmse_of(&r).inside, 0.0);
}

TEST(nis_mean)
{
  bramah__nis nis = {0};
  ck_assert(isnan(bramah__nis_mean(&nis)));
  bramah__nis_add(&nis, 3.0, 2.0);
  bramah__nis_add(&nis, 5.0, 2.0);
  ck_assert_uint_eq(nis.n, 2);
  ck_assert_double_eq(bramah__nis_mean(&nis), 2.0);
}

static void assert_band(double dof, double probability, double low, double high)
{
  double l, h;
  ck_assert_int_eq(bramah__nis_band(dof, probability, &l, &h, NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l * dof, low, 6e-4 * fmax(1.0, low * 1e-3));
  ck_assert_double_eq_tol(h * dof, high, 6e-4 * fmax(1.0, high * 1e-3));
}

TEST(bands_from_tables)
{
  assert_band(1, 0.95, 0.00098, 5.0239);
  assert_band(10, 0.95, 3.247, 20.483);
  assert_band(50, 0.95, 32.357, 71.420);
  assert_band(100, 0.99, 67.328, 140.169);
  assert_band(5, 0.90, 1.1455, 11.0705);
}

/* Against GSL's distribution itself, not its inverse, which is less exact and fails now and then. */
TEST(bands_agree_with_gsl)
{
  double l, h;
  for (double dof = 1.0; dof <= 1000.0; dof = dof < 20 ? dof + 0.5 : dof * 1.07)
    for (double tail = 0.45; tail > 1e-9; tail *= 0.3) {
      ck_assert_int_eq(bramah__nis_band(dof, 1.0 - 2.0 * tail, &l, &h, NULL), BRAMAH_OK);
      double below = gsl_cdf_chisq_P(l * dof, dof), above = gsl_cdf_chisq_Q(h * dof, dof);
      if (!(fabs(below / tail - 1.0) < 1e-6))
        ck_abort_msg("dof %g: %g below instead of %g", dof, below, tail);
      if (!(fabs(above - tail) < 1e-6 * tail + 2e-12))
        ck_abort_msg("dof %g: %g above instead of %g", dof, above, tail);
    }
}

/* Found by trials: GSL's inverse fails here. */
TEST(bands_where_gsl_fails)
{
  double l, h;
  for (double dof = 760.86; dof < 760.88; dof += 1e-4)
    ck_assert_int_eq(bramah__nis_band(dof, 1 - 2 * 0.0105257, &l, &h, NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah__nis_band(699520, 1 - 2 * 8.74699e-05, &l, &h, NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l * 699520, 695090, 2);
  ck_assert_double_eq_tol(gsl_cdf_chisq_Q(h * 699520, 699520), 8.74699e-05, 1e-8);
}

/* Where the normal approximation takes over the band must neither jump nor lose digits. */
TEST(large_degrees_of_freedom)
{
  double l[2], h[2];
  ck_assert_int_eq(bramah__nis_band(1000.0, 0.95, &l[0], &h[0], NULL), BRAMAH_OK);
  ck_assert_int_eq(bramah__nis_band(1000.0 + 1e-9, 0.95, &l[1], &h[1], NULL), BRAMAH_OK);
  ck_assert_double_eq_tol(l[0], l[1], 2e-6);
  ck_assert_double_eq_tol(h[0], h[1], 2e-6);
  for (double dof = 1e3; dof < 1e15; dof *= 2.7) {
    ck_assert_int_eq(bramah__nis_band(dof, 0.95, l, h, NULL), BRAMAH_OK);
    if (dof < 2e5) { /* GSL's distribution itself, not its inverse, is good this far */
      ck_assert_double_eq_tol(gsl_cdf_chisq_P(l[0] * dof, dof), 0.025, 1e-5);
      ck_assert_double_eq_tol(gsl_cdf_chisq_Q(h[0] * dof, dof), 0.025, 1e-5);
    }
    ck_assert_double_eq_tol(h[0] - l[0], 2 * 1.959964 * sqrt(2.0 / dof), 1e-3 * sqrt(2.0 / dof));
    ck_assert(l[0] < 1.0 && 1.0 < h[0]);
  }
}

static int handler_calls;
static void count_calls(const char *reason, const char *file, int line, int gsl_errno)
{
  (void)reason, (void)file, (void)line, (void)gsl_errno;
  handler_calls++;
}

/* GSL's handler would abort a program that only wanted a band. */
TEST(never_calls_the_handler_of_gsl)
{
  static const double probabilities[] = {1e-300, 1e-12, 0.01,  0.5,      0.6827,   0.9,
                                         0.95,   0.99,  0.999, 0.999999, 1 - 1e-7, 1 - 3e-9};
  double l, h;
  gsl_set_error_handler(count_calls);
  for (size_t p = 0; p < sizeof probabilities / sizeof *probabilities; p++)
    for (double dof = 1.0; dof < 1e300; dof = dof < 1300 ? dof + 0.5 : dof * 1.7) {
      bramah_status status = bramah__nis_band(dof, probabilities[p], &l, &h, NULL);
      if (status || !(l >= 0.0 && l <= h && isfinite(h)))
        ck_abort_msg("dof %g probability %g: %g to %g", dof, probabilities[p], l, h);
    }
  ck_assert_int_eq(handler_calls, 0);
  gsl_set_error_handler(NULL);
}

TEST(refuses_what_makes_no_sense)
{
  static const double bad[][2] = {{0, 0.95},        {-1, 0.95},     {0.5, 0.95}, {NAN, 0.95},
                                  {INFINITY, 0.95}, {5, 0},         {5, 1},      {5, -0.1},
                                  {5, 1.5},         {5, 1 - 1e-10}, {5, NAN}};
  double l = 7.0, h = 8.0;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    ck_assert_int_eq(bramah__nis_band(bad[i][0], bad[i][1], &l, &h, &diag), BRAMAH_E_VALUE);
    ck_assert(strlen(diag.message) > 0);
  }
  ck_assert_double_eq(l, 7.0);
  ck_assert_double_eq(h, 8.0);
}

/* A consistent filter lies inside the 95 % band in 95 % of the runs. */
TEST(bands_hold_what_they_promise)
{
  enum { RUNS = 4000, SAMPLES = 30 };
  double l, h;
  int inside = 0;
  bramah_noise *noise = NULL;
  ck_assert_int_eq(bramah__noise_new(5, 6, NULL, &noise), BRAMAH_OK);
  ck_assert_int_eq(bramah__nis_band(SAMPLES, 0.95, &l, &h, NULL), BRAMAH_OK);
  for (int r = 0; r < RUNS; r++) {
    bramah__nis nis = {0};
    for (int i = 0; i < SAMPLES; i++) {
      double e = bramah_noise_gaussian(noise, 1.0);
      bramah__nis_add(&nis, e * e, 1.0);
    }
    inside += bramah__nis_mean(&nis) > l && bramah__nis_mean(&nis) < h;
  }
  bramah_noise_free(noise);
  ck_assert_double_eq_tol((double)inside / RUNS, 0.95, 4 * sqrt(0.95 * 0.05 / RUNS));
}

/* P = [4 2; 2 3], P^-1 = [3 -2; -2 4] / 8, e = [1 2]: (3 - 8 + 16) / 8. */
TEST(nees_by_hand)
{
  const double P[4] = {4, 2, 2, 3}, e[2] = {1, 2}, scaled[4] = {4e-14, 2e-1, 2e-1, 3e12}, s[2] = {1e-7, 2e6};
  const double bad[4] = {1, 2, 2, 1}, negative[4] = {1, 0, 0, -1}, lost[2] = {1, NAN};
  double work[8], value = 7.0;
  ck_assert_int_eq(bramah__nees(2, e, P, work, &value, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-14);
  ck_assert_int_eq(bramah__nees(2, s, scaled, work, &value, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-13);
  ck_assert_int_eq(bramah__nees(2, e, bad, work, &value, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah__nees(2, e, negative, work, &value, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah__nees(2, lost, P, work, &value, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_double_eq_tol(value, 11.0 / 8.0, 1e-13);
}

/* Errors drawn with covariance P lie in the band, with one twice as large they do not. */
TEST(nees_over_runs)
{
  enum { RUNS = 2000, N = 3 };
  static const double L[N][N] = {{1e-3, 0, 0}, {5e-3, 2e-2, 0}, {1e5, -3e5, 2e5}};
  double P[N * N], work[N * (N + 2)], low, high;
  bramah__nis right = {0}, small = {0};
  bramah_noise *noise;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      P[i * N + j] = 0.0;
      for (int k = 0; k < N; k++) P[i * N + j] += L[i][k] * L[j][k];
    }
  ck_assert_int_eq(bramah__noise_new(3, 4, NULL, &noise), BRAMAH_OK);
  for (int r = 0; r < RUNS; r++) {
    double z[N], e[N], value;
    for (int i = 0; i < N; i++) z[i] = bramah_noise_gaussian(noise, 1.0);
    for (int i = 0; i < N; i++) e[i] = L[i][0] * z[0] + L[i][1] * z[1] + L[i][2] * z[2];
    ck_assert_int_eq(bramah__nees(N, e, P, work, &value, &diag), BRAMAH_OK);
    bramah__nis_add(&right, value, N);
    for (int i = 0; i < N; i++) e[i] *= 1.1;
    ck_assert_int_eq(bramah__nees(N, e, P, work, &value, &diag), BRAMAH_OK);
    bramah__nis_add(&small, value, N);
  }
  bramah_noise_free(noise);
  ck_assert_int_eq(bramah__nis_band(right.dof, 0.99, &low, &high, &diag), BRAMAH_OK);
  ck_assert(bramah__nis_mean(&right) > low && bramah__nis_mean(&right) < high);
  ck_assert_double_gt(bramah__nis_mean(&small), high);
}

TEST(chi_square_tail)
{
  ck_assert_double_eq_tol(bramah__chi_square_above(3.841458820694124, 1), 0.05, 1e-12);
  ck_assert_double_eq_tol(bramah__chi_square_above(2.0, 2), exp(-1.0), 1e-15);
  ck_assert_double_eq_tol(bramah__chi_square_above(18.307038053275146, 10), 0.05, 1e-12);
  for (double dof = 0.5; dof < 3000; dof *= 1.3)
    for (double x = 0.01 * dof; x < 10 * dof + 50; x *= 1.4) {
      const double wanted = gsl_cdf_chisq_Q(x, dof);
      if (!(fabs(bramah__chi_square_above(x, dof) - wanted) < 1e-9 * wanted + 1e-13))
        ck_abort_msg("dof %g x %g: %g instead of %g", dof, x, bramah__chi_square_above(x, dof), wanted);
    }
  ck_assert_double_eq(bramah__chi_square_above(0, 5), 1.0);
  ck_assert_double_eq(bramah__chi_square_above(-3, 5), 1.0);
  ck_assert_double_eq(bramah__chi_square_above(1e9, 20), 0.0);
  ck_assert_double_eq(bramah__chi_square_above(INFINITY, 20), 0.0);
  ck_assert(isnan(bramah__chi_square_above(NAN, 20)));
  ck_assert(isnan(bramah__chi_square_above(1, 0)));
}

/* x = 1 2 4 1: about its mean 2 it is -1 0 2 -1, squares 6; r_1 = -2 / 6, r_2 = -2 / 6 (-1 times 2, 0 times
 * -1). */
TEST(autocorrelation_by_hand)
{
  const double x[4] = {1, 2, 4, 1};
  double r[2];
  bramah_whiteness w;
  ck_assert_int_eq(whiteness(4, x, 2, r, &w, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(r[0], -1.0 / 3.0, 1e-15);
  ck_assert_double_eq_tol(r[1], -1.0 / 3.0, 1e-15);
  ck_assert_double_eq_tol(w.ljung_box, 24.0 * (1.0 / 27.0 + 1.0 / 18.0), 1e-14);
  ck_assert_double_eq_tol(w.p_value, exp(-0.5 * w.ljung_box), 1e-14);
  ck_assert_double_eq_tol(w.band, 0.98, 1e-15);
  ck_assert_uint_eq(w.outside, 0);
  ck_assert_uint_eq(w.n, 4);
  ck_assert_uint_eq(w.lags, 2);
}

/* White noise is refused at 5 % in 5 % of the trials; noise that remembers a tenth of itself nearly
 * always. */
TEST(tells_white_from_coloured)
{
  enum { TRIALS = 1000, SAMPLES = 2000, LAGS = 20 };
  static double white[SAMPLES], coloured[SAMPLES], r[LAGS];
  int refused[2] = {0, 0};
  size_t outside = 0;
  bramah_noise *noise;
  bramah_whiteness w;
  ck_assert_int_eq(bramah__noise_new(9, 1, NULL, &noise), BRAMAH_OK);
  for (int t = 0; t < TRIALS; t++) {
    for (int i = 0; i < SAMPLES; i++) {
      white[i] = bramah_noise_gaussian(noise, 1.0);
      coloured[i] = white[i] + (i ? 0.15 * coloured[i - 1] : 0.0);
    }
    ck_assert_int_eq(whiteness(SAMPLES, white, LAGS, r, &w, &diag), BRAMAH_OK);
    refused[0] += w.p_value < 0.05;
    outside += w.outside;
    ck_assert_int_eq(whiteness(SAMPLES, coloured, LAGS, r, &w, &diag), BRAMAH_OK);
    refused[1] += w.p_value < 0.05;
    ck_assert_double_eq_tol(r[0], 0.15, 0.1);
  }
  bramah_noise_free(noise);
  ck_assert_double_eq_tol((double)refused[0] / TRIALS, 0.05, 4 * sqrt(0.05 * 0.95 / TRIALS));
  ck_assert_double_eq_tol((double)outside / TRIALS / LAGS, 0.05, 0.005);
  ck_assert_int_gt(refused[1], TRIALS * 9 / 10);
}

TEST(whiteness_of_what_makes_no_sense)
{
  const double same[5] = {2, 2, 2, 2, 2}, lost[5] = {1, 2, NAN, 3, 4}, good[5] = {1, 2, 5, 3, 4};
  double r[5];
  bramah_whiteness w;
  ck_assert_int_eq(whiteness(5, good, 0, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(whiteness(5, good, 4, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(whiteness(2, good, 1, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(whiteness(5, same, 2, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(whiteness(5, lost, 2, r, &w, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(whiteness(5, good, 3, r, &w, &diag), BRAMAH_OK);
}

/* The same as of samples that are kept, also when their mean is large. */
TEST(autocorrelation_of_a_stream)
{
  enum { N = 3000, LAGS = BRAMAH__AUTOCORRELATION_LAGS };
  static double x[N];
  bramah__autocorrelation a = {0};
  bramah_whiteness w;
  double r[LAGS], state = 0.0, mean = 0.0, variance = 0.0, ljung_box = 0.0;
  size_t outside = 0;
  srand48(3);
  for (int i = 0; i < N; i++) {
    state = 0.8 * state + drand48() - 0.5;
    x[i] = 1e6 + state;
    bramah__autocorrelation_add(&a, x[i]);
    mean += x[i] / N;
  }
  ck_assert_int_eq(bramah__autocorrelation_test(&a, LAGS, r, &w, &diag), BRAMAH_OK);
  for (int i = 0; i < N; i++) variance += (x[i] - mean) * (x[i] - mean);
  for (int k = 1; k <= LAGS; k++) {
    double wanted = 0.0;
    for (int i = k; i < N; i++) wanted += (x[i] - mean) * (x[i - k] - mean) / variance;
    ck_assert_double_eq_tol(r[k - 1], wanted, 1e-9);
    outside += fabs(wanted) > 1.96 / sqrt(N);
    ljung_box += N * (N + 2.0) * wanted * wanted / (N - k);
  }
  ck_assert_double_eq_tol(r[0], 0.8, 0.05);
  ck_assert_uint_eq(w.n, N);
  ck_assert_uint_eq(w.outside, outside);
  ck_assert_double_eq_tol(w.band, 1.96 / sqrt(N), 1e-15);
  ck_assert_double_eq_tol(w.ljung_box, ljung_box, 1e-6 * ljung_box);
}

TEST(autocorrelation_of_few_samples)
{
  bramah__autocorrelation a = {0}, same = {0};
  bramah_whiteness w;
  double r[BRAMAH__AUTOCORRELATION_LAGS];
  const double x[5] = {1.0, 2.0, 4.0, 3.0, 0.0};
  ck_assert_int_eq(bramah__autocorrelation_test(&a, 1, r, &w, &diag), BRAMAH_E_VALUE);
  for (int i = 0; i < 5; i++) bramah__autocorrelation_add(&a, x[i]);
  ck_assert_int_eq(bramah__autocorrelation_test(&a, 2, r, &w, &diag), BRAMAH_OK);
  /* mean 2, deviations -1 0 2 1 -2: variance 10; lag 1: 0 + 0 + 2 - 2, lag 2: -2 + 0 - 4 */
  ck_assert_double_eq_tol(r[0], 0.0, 1e-15);
  ck_assert_double_eq_tol(r[1], -0.6, 1e-15);
  ck_assert_int_eq(bramah__autocorrelation_test(&a, 4, r, &w, &diag), BRAMAH_E_VALUE);
  ck_assert_int_eq(bramah__autocorrelation_test(&a, BRAMAH__AUTOCORRELATION_LAGS + 1, r, &w, &diag),
                   BRAMAH_E_VALUE);
  for (int i = 0; i < 9; i++) bramah__autocorrelation_add(&same, 7.0);
  ck_assert_int_eq(bramah__autocorrelation_test(&same, 2, r, &w, &diag), BRAMAH_E_VALUE);
  bramah__autocorrelation_add(&same, NAN);
  ck_assert_int_eq(bramah__autocorrelation_test(&same, 2, r, &w, &diag), BRAMAH_E_NOT_FINITE);
}

/* Correlations of 0.5 between all of three: eigenvalues 2, 0.5, 0.5. Units do not matter. */
TEST(conditioning_by_hand)
{
  const double sigma[3] = {1e-4, 3.0, 2e7};
  double P[9], work[9], condition;
  for (int i = 0; i < 9; i++) P[i] = sigma[i / 3] * sigma[i % 3] * (i % 4 ? 0.5 : 1.0);
  ck_assert_int_eq(bramah_conditioning(3, P, work, &condition, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(condition, 4.0, 1e-12);
  const double two[4] = {4.0, 2.0 * 0.999, 2.0 * 0.999, 1.0}; /* correlation 0.999: 1.999 / 0.001 */
  ck_assert_int_eq(bramah_conditioning(2, two, work, &condition, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(condition, 1999.0, 1e-8);
  const double alone[4] = {1e-20, 0.0, 0.0, 1e20};
  ck_assert_int_eq(bramah_conditioning(2, alone, work, &condition, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(condition, 1.0, 1e-14);
  const double singular[4] = {1.0, 1.0, 1.0, 1.0};
  ck_assert_int_eq(bramah_conditioning(2, singular, work, &condition, &diag), BRAMAH_OK);
  ck_assert_double_ge(condition, 1e15);
}

TEST(conditioning_of_bad_covariances)
{
  double work[4], condition = 7.0;
  const double negative[4] = {1.0, 0.0, 0.0, -1.0}, lost[4] = {1.0, NAN, NAN, 1.0},
               wild[4] = {NAN, 0.0, 0.0, 1.0};
  ck_assert_int_eq(bramah_conditioning(2, negative, work, &condition, &diag), BRAMAH_E_NOT_SPD);
  ck_assert_int_eq(bramah_conditioning(2, lost, work, &condition, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_int_eq(bramah_conditioning(2, wild, work, &condition, &diag), BRAMAH_E_NOT_FINITE);
  ck_assert_double_eq(condition, 7.0);
}

/* Against the integral of x^2 phi(x) over the gate by Simpson's rule. */
TEST(gates_leave_less)
{
  enum { N = 2000 };
  ck_assert_double_eq(bramah__nis_left_by_gate(0.0), 1.0);
  ck_assert_double_eq_tol(bramah__nis_left_by_gate(40.0), 1.0, 1e-15);
  for (double g = 0.5; g < 6.0; g += 0.5) {
    double squares = 0.0, share = 0.0;
    for (int i = 0; i <= N; i++) {
      const double x = g * (2.0 * i / N - 1.0), w = (i == 0 || i == N ? 1.0
                                                     : i % 2          ? 4.0
                                                                      : 2.0) *
                                                    exp(-0.5 * x * x);
      share += w;
      squares += w * x * x;
    }
    ck_assert_double_eq_tol(bramah__nis_left_by_gate(g), squares / share, 1e-10);
  }
}

int main(void) { return run_tests("statistics"); }
