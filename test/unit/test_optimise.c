/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Optimisers on functions whose minima are known. */
#include "lib/tune/optimise.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

static bramah_diag diag;
static uint64_t calls, most_calls;

static int used_up(void *user)
{
  (void)user;
  return most_calls && calls >= most_calls;
}

/* Rosenbrock's valley, minimum 0 at (1, 1). */
static bramah_status valley(void *user, const double *z, double *cost, bramah_diag *d)
{
  (void)user, (void)d;
  calls++;
  *cost = 100.0 * pow(z[1] - z[0] * z[0], 2) + pow(1.0 - z[0], 2);
  return BRAMAH_OK;
}

/* With the matrix of Gauss and Newton: f = r1^2 + r2^2, r1 = 10 (y - x^2), r2 = 1 - x. */
static bramah_status valley_slope(void *user, const double *z, double *cost, double *g, double *I,
                                  bramah_diag *d)
{
  const double r1 = 10.0 * (z[1] - z[0] * z[0]), r2 = 1.0 - z[0], a = -20.0 * z[0];
  g[0] = 2.0 * (r1 * a - r2);
  g[1] = 2.0 * r1 * 10.0;
  I[0] = 2.0 * (a * a + 1.0);
  I[1] = I[2] = 2.0 * a * 10.0;
  I[3] = 200.0;
  return valley(user, z, cost, d);
}

/* The logarithm of a variance that is really 4, by n = 100 samples: c = n / 2 (z + 4 exp(-z)); undefined
 * beyond 5. */
static bramah_status variance(void *user, const double *z, double *cost, bramah_diag *d)
{
  (void)user, (void)d;
  calls++;
  *cost = z[0] > 5.0 ? (double)NAN : 50.0 * (z[0] + 4.0 * exp(-z[0]));
  return BRAMAH_OK;
}

static bramah_status variance_slope(void *user, const double *z, double *cost, double *g, double *I,
                                    bramah_diag *d)
{
  g[0] = 50.0 * (1.0 - 4.0 * exp(-z[0]));
  I[0] = 50.0;
  return variance(user, z, cost, d);
}

static const double low[2] = {-5, -5}, high[2] = {5, 5};

/* However far off the minimum is promised, no step is longer than 2: far from it the parabola is none. */
static double longest, former;

static bramah_status far(void *user, const double *z, double *cost, bramah_diag *d)
{
  (void)user, (void)d;
  longest = fmax(longest, fabs(z[0] - former));
  *cost = -z[0];
  return BRAMAH_OK;
}

static bramah_status far_slope(void *user, const double *z, double *cost, double *g, double *I,
                               bramah_diag *d)
{
  const bramah_status status = far(user, z, cost, d);
  g[0] = -1.0;
  I[0] = 1e-3;
  former = z[0];
  return status;
}

TEST(no_step_is_too_long)
{
  static const double from = -50.0, to = 50.0;
  const bramah__objective f = {.n = 1, .low = &from, .high = &to, .cost = far, .slope = far_slope};
  double z = former = -30.0;
  bramah__optimum optimum;
  longest = 0.0;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-6, &z, NULL, NULL, &optimum, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(z, 50.0, 1e-9);
  ck_assert_double_eq_tol(longest, 2.0, 1e-9);
}

/* A parabola that ends beyond 1.4, with an information of half its curvature: from -2.5 a step goes to -0.5, the next one to
 * 1.5. */
static int slopes_beyond;

static bramah_status edge(void *user, const double *z, double *cost, bramah_diag *d)
{
  (void)user, (void)d;
  *cost = z[0] > 1.4 ? (double)NAN : (z[0] - 1.0) * (z[0] - 1.0);
  return BRAMAH_OK;
}

static bramah_status edge_slope(void *user, const double *z, double *cost, double *g, double *I,
                                bramah_diag *d)
{
  slopes_beyond += z[0] > 1.4;
  g[0] = z[0] > 1.4 ? (double)NAN : 2.0 * (z[0] - 1.0);
  I[0] = 1.0;
  return edge(user, z, cost, d);
}

/* After a step that kept its promise a small one is tried with its slope at once, which may be undefined there. */
TEST(small_steps_are_tried_with_their_slope)
{
  const bramah__objective f = {.n = 1, .low = low, .high = high, .cost = edge, .slope = edge_slope};
  double z = -2.5, g;
  bramah__optimum out;
  slopes_beyond = 0;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-10, &z, &g, NULL, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_CONVERGED);
  ck_assert_double_eq_tol(z, 1.0, 1e-5);
  ck_assert_double_eq(g, 2.0 * (z - 1.0));
  ck_assert_int_eq(slopes_beyond, 1);
  z = 2.0;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-10, &z, NULL, NULL, &out, &diag), BRAMAH_E_NOT_FINITE);
}

TEST(scoring_finds_the_valley)
{
  const bramah__objective f = {.n = 2, .low = low, .high = high, .cost = valley, .slope = valley_slope};
  double z[2] = {-1.2, 1.0}, g[2], I[4];
  bramah__optimum out;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-12, z, g, I, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_CONVERGED);
  ck_assert_double_eq_tol(z[0], 1.0, 1e-5);
  ck_assert_double_eq_tol(z[1], 1.0, 1e-5);
  ck_assert_double_lt(out.cost, 1e-10);
  ck_assert_double_eq(I[3], 200.0);
  ck_assert_double_lt(fabs(g[0]), 1e-3);
  ck_assert_int_le(out.iterations, 40);
}

/* x <= 0.5: the minimum on the bound is at y = x^2. */
TEST(scoring_rests_on_a_bound)
{
  const double less[2] = {0.5, 5};
  const bramah__objective f = {.n = 2, .low = low, .high = less, .cost = valley, .slope = valley_slope};
  double z[2] = {-1.2, 1.0};
  bramah__optimum out;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-12, z, NULL, NULL, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_CONVERGED);
  ck_assert_double_eq(z[0], 0.5);
  ck_assert_double_eq_tol(z[1], 0.25, 1e-5);
}

TEST(scoring_comes_from_far_and_heeds_what_is_undefined)
{
  const double bottom = -20.0, top = 20.0;
  const bramah__objective f = {
      .n = 1, .low = &bottom, .high = &top, .cost = variance, .slope = variance_slope};
  const double from[] = {-9.0, 4.9, 1.0};
  for (int i = 0; i < 3; i++) {
    double z = from[i];
    bramah__optimum out;
    ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-10, &z, NULL, NULL, &out, &diag), BRAMAH_OK);
    ck_assert_double_eq_tol(z, log(4.0), 1e-5);
  }
  double z = 6.0;
  bramah__optimum out;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-10, &z, NULL, NULL, &out, &diag), BRAMAH_E_NOT_FINITE);
}

TEST(budgets_end_searches)
{
  const bramah__objective f = {
      .n = 2, .low = low, .high = high, .cost = valley, .slope = valley_slope, .stop = used_up};
  double z[2] = {-1.2, 1.0};
  bramah__optimum out;
  calls = 0;
  most_calls = 5;
  ck_assert_int_eq(bramah__optimise_scoring(&f, 1e-12, z, NULL, NULL, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_STOPPED);
  ck_assert_uint_le(calls, 6);
  calls = 0;
  most_calls = 30;
  ck_assert_int_eq(bramah__optimise_simplex(&f, 0.5, 1e-6, z, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_STOPPED);
  ck_assert_uint_le(calls, 31);
  most_calls = 0;
}

TEST(nothing_to_vary)
{
  const bramah__objective f = {.n = 0, .cost = valley};
  bramah__optimum out;
  double z[1] = {0.0};
  ck_assert_int_eq(bramah__optimise_simplex(&f, 0.5, 1e-6, z, &out, &diag), BRAMAH_E_ARGUMENT);
  ck_assert_str_eq(diag.message, "there is nothing to vary");
  ck_assert_uint_eq(out.costs, 0);
}

TEST(simplex_finds_the_valley_and_a_bound)
{
  const double less[2] = {0.5, 5};
  bramah__objective f = {.n = 2, .low = low, .high = high, .cost = valley};
  double z[2] = {-1.2, 1.0};
  bramah__optimum out;
  ck_assert_int_eq(bramah__optimise_simplex(&f, 0.5, 1e-7, z, &out, &diag), BRAMAH_OK);
  ck_assert_int_eq(out.ending, BRAMAH_ENDING_CONVERGED);
  ck_assert_double_eq_tol(z[0], 1.0, 1e-3);
  ck_assert_double_eq_tol(z[1], 1.0, 1e-3);
  f.high = less;
  z[0] = 0.5;
  z[1] = 4.0;
  ck_assert_int_eq(bramah__optimise_simplex(&f, 0.5, 1e-7, z, &out, &diag), BRAMAH_OK);
  ck_assert_double_eq_tol(z[0], 0.5, 1e-3);
  ck_assert_double_eq_tol(z[1], 0.25, 1e-2);
}

/* Stairs a tenth wide: the end is on the lowest one. */
static bramah_status stairs(void *user, const double *z, double *cost, bramah_diag *d)
{
  (void)user, (void)d;
  calls++;
  *cost = pow(floor(10.0 * z[0]) - 13.0, 2);
  return BRAMAH_OK;
}

TEST(simplex_ends_on_stairs)
{
  const bramah__objective f = {.n = 1, .low = low, .high = high, .cost = stairs};
  double z = -0.5;
  bramah__optimum out;
  calls = 0;
  ck_assert_int_eq(bramah__optimise_simplex(&f, 0.5, 1e-9, &z, &out, &diag), BRAMAH_OK);
  ck_assert_double_eq(out.cost, 0.0);
  ck_assert(z >= 1.3 && z < 1.4);
  ck_assert_uint_lt(calls, 400);
}

/* Every layer of every dimension holds one point. */
TEST(hypercube)
{
  enum { POINTS = 17, DIMENSIONS = 4 };
  double x[POINTS * DIMENSIONS], y[POINTS * DIMENSIONS];
  ck_assert_int_eq(bramah__latin_hypercube(POINTS, DIMENSIONS, 11, x, &diag), BRAMAH_OK);
  for (int k = 0; k < DIMENSIONS; k++) {
    int count[POINTS] = {0};
    for (int i = 0; i < POINTS; i++) {
      const double at = x[i * DIMENSIONS + k];
      ck_assert(at >= 0.0 && at < 1.0);
      count[(int)(at * POINTS)]++;
    }
    for (int i = 0; i < POINTS; i++) ck_assert_int_eq(count[i], 1);
  }
  ck_assert_int_eq(bramah__latin_hypercube(POINTS, DIMENSIONS, 11, y, &diag), BRAMAH_OK);
  ck_assert_int_eq(memcmp(x, y, sizeof x), 0);
  ck_assert_int_eq(bramah__latin_hypercube(POINTS, DIMENSIONS, 12, y, &diag), BRAMAH_OK);
  ck_assert_int_ne(memcmp(x, y, sizeof x), 0);
}

int main(void) { return run_tests("optimise"); }
