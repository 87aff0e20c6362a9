/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Noise: the right distribution, the same numbers for the same seed, independent streams. */
#include "lib/base/text.h"
#include "lib/logs/logs.h"
#include "test/support/run.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>

enum { N = 400000 };
static double sample[N];

static void draw(uint64_t seed, uint64_t stream, double sigma, double *out, int n)
{
  bramah_noise *noise = NULL;
  ck_assert_int_eq(bramah__noise_new(seed, stream, NULL, &noise), BRAMAH_OK);
  for (int i = 0; i < n; i++) out[i] = bramah_noise_gaussian(noise, sigma);
  bramah_noise_free(noise);
}

TEST(moments_are_those_of_a_normal_distribution)
{
  draw(1, 2, 3.0, sample, N);
  double m[5] = {0};
  for (int i = 0; i < N; i++)
    for (int k = 1; k <= 4; k++) m[k] += pow(sample[i] / 3.0, k) / N;
  /* five standard deviations of each moment's estimate */
  ck_assert_double_eq_tol(m[1], 0.0, 5 * sqrt(1.0 / N));
  ck_assert_double_eq_tol(m[2], 1.0, 5 * sqrt(2.0 / N));
  ck_assert_double_eq_tol(m[3], 0.0, 5 * sqrt(15.0 / N));
  ck_assert_double_eq_tol(m[4], 3.0, 5 * sqrt(96.0 / N));
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Kolmogorov–Smirnov: 1.95 / sqrt(n) is exceeded once in a thousand times. */
TEST(distribution_is_normal)
{
  double largest = 0.0;
  draw(99, bramah__fnv(0, "p1", 2), 1.0, sample, N);
  qsort(sample, N, sizeof *sample, ascending);
  for (int i = 0; i < N; i++) largest = fmax(largest, fabs(gsl_cdf_ugaussian_P(sample[i]) - (i + 0.5) / N));
  ck_assert_double_lt(largest, 1.95 / sqrt(N));
}

TEST(numbers_repeat)
{
  double a[100], b[100];
  draw(7, 8, 1.0, a, 100);
  draw(7, 8, 1.0, b, 100);
  ck_assert_mem_eq(a, b, sizeof a);
}

/* The numbers themselves are part of the contract: a study gives the same result next year. */
TEST(numbers_stay_the_same_between_versions)
{
  double a[4];
  draw(1, 2, 1.0, a, 4);
  static const double expected[4] = {-2.4014815246058934, -0.76466757478695069, -0.78651757647183296,
                                     -0.8209906943943478};
  for (int i = 0; i < 4; i++) ck_assert_double_eq_tol(a[i], expected[i], 1e-15);
}

static double correlation(const double *a, const double *b, int n)
{
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i] / n;
  return sum;
}

TEST(streams_are_independent)
{
  enum { SHORT = 50000 };
  static const uint64_t pairs[][2] = {
      {1, 2}, {1, 3}, {2, 2}, {2, 1}, {0, 0}, {UINT64_C(1) << 32, 2}, {1, UINT64_C(2) << 32}};
  enum { STREAMS = sizeof pairs / sizeof *pairs };
  static double x[STREAMS][SHORT];
  for (int i = 0; i < STREAMS; i++) draw(pairs[i][0], pairs[i][1], 1.0, x[i], SHORT);
  for (int i = 0; i < STREAMS; i++)
    for (int j = 0; j < i; j++) {
      double r = correlation(x[i], x[j], SHORT);
      ck_assert_msg(fabs(r) < 5 / sqrt(SHORT), "streams %d and %d: %g", i, j, r);
    }
  ck_assert_double_lt(fabs(correlation(x[0], x[0] + 1, SHORT - 1)), 5 / sqrt(SHORT));
}

TEST(no_two_of_many_streams_are_the_same)
{
  enum { MANY = 2000 }; /* of a study; with 32 bits of seed two of them meet once in two thousand studies */
  for (int i = 0; i < MANY; i++) {
    bramah_noise *noise = NULL;
    bramah__noise_new((uint64_t)i / 100, (uint64_t)i % 100, NULL, &noise);
    sample[i] = bramah_noise_gaussian(noise, 1.0) + 1e-3 * bramah_noise_gaussian(noise, 1.0);
    bramah_noise_free(noise);
  }
  qsort(sample, MANY, sizeof *sample, ascending);
  for (int i = 1; i < MANY; i++)
    if (!(sample[i - 1] < sample[i])) ck_abort_msg("two streams begin with the same numbers");
}

TEST(sigma_scales)
{
  double a[50], b[50];
  draw(3, 3, 1.0, a, 50);
  draw(3, 3, 0.25, b, 50);
  for (int i = 0; i < 50; i++) ck_assert_double_eq(b[i], 0.25 * a[i]);
  draw(3, 3, 0.0, b, 50);
  for (int i = 0; i < 50; i++) ck_assert_double_eq(b[i], 0.0);
  bramah_noise_free(NULL);
}

/* The stream of a name is the one with the number FNV-1a makes of it. */
TEST(streams_have_names)
{
  static const struct {
    const char *name;
    uint64_t stream;
  } names[] = {{"", UINT64_C(0xCBF29CE484222325)},
               {"a", UINT64_C(0xAF63DC4C8601EC8C)},
               {"foobar", UINT64_C(0x85944171F73967E8)}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    bramah_noise *noise = NULL;
    double a[20];
    draw(5, names[i].stream, 1.0, a, 20);
    ck_assert_int_eq(bramah_noise_new(5, names[i].name, NULL, &noise), BRAMAH_OK);
    for (int k = 0; k < 20; k++) ck_assert_double_eq(bramah_noise_gaussian(noise, 1.0), a[k]);
    bramah_noise_free(noise);
  }
}

int main(void) { return run_tests("noise"); }
