/* SPDX-License-Identifier: MIT */
/* Derivatives of the friction models against differences: of force and rates, and of the force at the end of
 * a trapezoidal step. */
#include "lib/hydraulics/friction.h"
#include "test/support/differences.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

#include <math.h>
#include <string.h>

/* Publication II, Table 2. */
static bramah__friction friction;

static void choose(int kind)
{
  friction = (bramah__friction){.kind = (bramah__friction_kind)kind,
                                .coulomb = 210.0,
                                .static_force = 830.0,
                                .stribeck = 0.0125,
                                .viscous = 330.0,
                                .decay = 50.0,
                                .stiffness = 5.4e7,
                                .damping = 1e5,
                                .exponent = kind == BRAMAH__FRICTION_LUGRE ? 2.0 : 0.5,
                                .film_velocity = 0.7,
                                .film_rising = 0.25,
                                .film_falling = 1.5,
                                .film_dwell = 40.0};
}

static double between(unsigned *seed, double low, double high)
{
  return low + 0.5 * (1.0 + test_uniform(seed)) * (high - low);
}

/* From creeping to beyond the film velocity, both directions; not within reach of a corner at v_s or v_b. */
static double random_velocity(unsigned *seed)
{
  static const double corners[4] = {0.7, 0.0125, 0.99 * 0.0125, 1.01 * 0.0125};
  double speed = pow(10.0, between(seed, -6.0, 0.3));
  for (int i = 0; i < 4; i++)
    if (fabs(speed / corners[i] - 1.0) < 5e-4) speed *= 1.002;
  return copysign(speed, test_uniform(seed));
}

/* Bristles bent up to a little more than they can take, any film up to the thickest but the steady one. */
static void random_states(unsigned *seed, double v, double *x)
{
  const double steady = (1.0 - 210.0 / 830.0) * pow(fmin(fabs(v) / 0.7, 1.0), 2.0 / 3.0);
  x[0] = between(seed, -2e-5, 2e-5);
  x[1] = between(seed, 0.0, 0.75);
  if (fabs(x[1] - steady) < 1e-3) x[1] += 2e-3;
}

/* Force and rates, as one. */
typedef struct answer {
  double force, rate[2];
} answer;

static answer answer_at(double v, const double *x)
{
  answer out = {0};
  out.force = bramah__friction_force(&friction, v, x, out.rate);
  return out;
}

/* Small enough for the Stribeck curve, large enough for a creeping velocity. */
static double velocity_step(double v) { return (fabs(v) < 1e-3 ? 2e-3 : 1e-4) * fabs(v); }

/* Within rounding of terms as large as `scale`. */
static void compare(const char *what, double v, double own, const double *values, double h, double scale)
{
  const double difference = central_of(values, h);
  for (int i = 0; i < 4; i++) scale = fmax(scale, fabs(values[i]));
  ck_assert_msg(fabs(own - difference) <= 1e-8 * fabs(difference) + 4e-15 * scale / h,
                "model %d, %s at v = %.12g: %.12g, difference %.12g", (int)friction.kind, what, v, own,
                difference);
}

/* Argument 0: v; 1 and 2: the states. */
static void compare_argument(double v, const double *x, int argument, double h, double by_force,
                             const double *by_rate)
{
  double force[4], rate[2][4];
  for (int i = 0; i < 4; i++) {
    double moved[3] = {v, x[0], x[1]};
    moved[argument] = central_at(moved[argument], i, h);
    const answer y = answer_at(moved[0], moved + 1);
    force[i] = y.force, rate[0][i] = y.rate[0], rate[1][i] = y.rate[1];
  }
  compare(argument ? "force by a state" : "force by v", v, by_force, force, h, friction.static_force);
  compare(argument ? "bristle rate by a state" : "bristle rate by v", v, by_rate[0], rate[0], h, 0.0);
  compare(argument ? "film rate by a state" : "film rate by v", v, by_rate[1], rate[1], h, 0.0);
}

EACH_TEST(test_force_and_rates, BRAMAH__FRICTION_NONE, BRAMAH__FRICTION_VISCOUS + 1)
{
  unsigned seed = 3;
  choose(_i);
  for (int i = 0; i < 3000; i++) {
    const double v = random_velocity(&seed);
    double x[2];
    bramah__friction_partials d;
    random_states(&seed, v, x);
    bramah__friction_derivatives(&friction, v, x, &d);
    ck_assert_double_eq(bramah__friction_slope(&friction, v, x), d.force_by_v);
    compare_argument(v, x, 0, velocity_step(v), d.force_by_v, d.rate_by_v);
    for (int j = 0; j < 2; j++)
      compare_argument(v, x, 1 + j, j ? 1e-4 : 1e-8, d.force_by_x[j],
                       (double[2]){d.rate_by_x[0][j], d.rate_by_x[1][j]});
  }
}

/* The force at the end of a step that starts with velocity v_k and ends with v. */
static double force_after(double h, double v, double v_k, const double *x_k)
{
  const answer start = answer_at(v_k, x_k);
  double x[2] = {0};
  bramah__friction_step(&friction, h, v, x_k, start.rate, x);
  return answer_at(v, x).force;
}

/* The terms that make up the force after a step may be large beside their sum: sigma_1 slip q. */
static double terms_at(double v)
{
  const double slip = friction.stiffness * fabs(v) / friction.coulomb;
  return friction.static_force * (1.0 + slip * friction.damping / friction.stiffness);
}

EACH_TEST(test_step, BRAMAH__FRICTION_NONE, BRAMAH__FRICTION_VISCOUS + 1)
{
  static const double steps[3] = {1e-5, 1e-3, 1e-2};
  unsigned seed = 4;
  choose(_i);
  for (int i = 0; i < 3000; i++) {
    const double v = random_velocity(&seed), v_k = random_velocity(&seed), h = steps[i % 3];
    double x[2], by_v, by_v_k, end[4], start[4];
    random_states(&seed, v_k, x);
    const answer now = answer_at(v_k, x);
    bramah__friction_step_slopes(&friction, h, v, v_k, x, now.rate, &by_v, &by_v_k);
    for (int j = 0; j < 4; j++) {
      end[j] = force_after(h, central_at(v, j, velocity_step(v)), v_k, x);
      start[j] = force_after(h, v, central_at(v_k, j, velocity_step(v_k)), x);
    }
    compare("force after a step by its end", v, by_v, end, velocity_step(v), terms_at(v));
    compare("force after a step by its start", v_k, by_v_k, start, velocity_step(v_k), terms_at(v));
  }
}

/* Held for functions of v alone. */
static double held[2];
static double force_of_v(double v) { return answer_at(v, held).force; }
static double film_of_v(double v) { return answer_at(v, held).rate[1]; }
static double film_of_h(double h) { return answer_at(0.05, (double[2]){held[0], h}).rate[1]; }

static double slope_at(double v) { return bramah__friction_slope(&friction, v, held); }

/* At rest: the smooth models have one slope, the bristles that of what is above. */
EACH_TEST(test_at_rest, BRAMAH__FRICTION_BROWN_MCPHEE, BRAMAH__FRICTION_VISCOUS + 1)
{
  choose(_i);
  held[0] = 2e-6, held[1] = 0.2;
  const double above = one_sided(force_of_v, 0.0, 1e-9), below = one_sided(force_of_v, -0.0, -1e-9);
  const double tolerance = 3e-4 * fabs(above) + 1e-9;
  ck_assert_double_eq_tol(slope_at(0.0), above, tolerance);
  ck_assert_double_eq(slope_at(-0.0), slope_at(0.0));
  const int bristles = bramah__friction_states(friction.kind) > 0;
  ck_assert_int_eq(fabs(above - below) > 10.0 * tolerance, bristles);
}

/* The film's slope by v has no bound at rest, and is taken for level there: nothing turns infinite. */
TEST(test_film_at_rest)
{
  bramah__friction_partials d;
  double by_v, by_v_k;
  choose(BRAMAH__FRICTION_MODIFIED_LUGRE);
  held[0] = 2e-6, held[1] = 0.2;
  bramah__friction_derivatives(&friction, 0.0, held, &d);
  ck_assert_double_eq(d.rate_by_v[1], 0.0);
  ck_assert_double_eq_tol(d.rate_by_x[1][1], -1.0 / 40.0, 1e-15); /* dwells */
  const answer rest = answer_at(0.0, held);
  bramah__friction_step_slopes(&friction, 1e-3, 0.0, 0.0, held, rest.rate, &by_v, &by_v_k);
  ck_assert(isfinite(by_v) && isfinite(by_v_k));
  /* a creep of 1 nm/s gives nearly the same */
  double creep_v, creep_v_k;
  const answer creep = answer_at(1e-9, held);
  bramah__friction_step_slopes(&friction, 1e-3, 1e-9, 0.0, held, creep.rate, &creep_v, &creep_v_k);
  ck_assert_double_eq_tol(creep_v, by_v, 1e-2 * fabs(by_v));
}

/* Corners in v: Bengisu-Akay at v_s takes the decaying branch, a film at v_b is as thick as it gets. */
TEST(test_corners)
{
  choose(BRAMAH__FRICTION_BENGISU_AKAY);
  for (int side = -1; side <= 1; side += 2) {
    const double v = side * friction.stribeck, outside = one_sided(force_of_v, v, side * 1e-7);
    const double inside = one_sided(force_of_v, v, -side * 1e-7);
    ck_assert_double_eq_tol(slope_at(v), outside, 1e-6 * fabs(outside));
    ck_assert_double_gt(fabs(outside - inside), 0.1 * fabs(outside));
  }
  choose(BRAMAH__FRICTION_MODIFIED_LUGRE);
  held[1] = 0.1;
  for (int side = -1; side <= 1; side += 2) {
    bramah__friction_partials d;
    const double v = side * friction.film_velocity;
    bramah__friction_derivatives(&friction, v, held, &d);
    ck_assert_double_eq(d.rate_by_v[1], 0.0);
    ck_assert_double_eq_tol(one_sided(film_of_v, v, side * 1e-4), 0.0, 1e-9);
    ck_assert_double_gt(fabs(one_sided(film_of_v, v, -side * 1e-4)), 1.0);
  }
}

/* A film exactly at its steady value counts as rising. */
TEST(test_steady_film)
{
  bramah__friction_partials d;
  choose(BRAMAH__FRICTION_MODIFIED_LUGRE);
  held[1] = (1.0 - 210.0 / 830.0) * pow(0.05 / 0.7, 2.0 / 3.0);
  bramah__friction_derivatives(&friction, 0.05, held, &d);
  ck_assert_double_eq_tol(d.rate_by_x[1][1], -1.0 / 0.25, 1e-12);
  ck_assert_double_eq_tol(one_sided(film_of_h, held[1], -1e-3), -1.0 / 0.25, 1e-9);
  ck_assert_double_eq_tol(one_sided(film_of_h, held[1], 1e-3), -1.0 / 1.5, 1e-9);
}

int main(void) { return run_tests("friction derivatives"); }
