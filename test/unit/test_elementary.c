/* SPDX-License-Identifier: MIT */
/* Elementary functions against those of the C library: random arguments, special ones and limits of their ranges. */
#include "lib/graph/expr.h"
#include "lib/math/elementary.h"
#include "lib/math/elementary_single.h"
#include "test/support/four_bar.h"
#include "test/support/run.h"

/* An error against the C library in units of 2^-53 of `amplitude`, 0: of the reference. */
static double error_of(double value, double reference, double amplitude)
{
  if (value == reference) return 0.0;
  return fabs(value - reference) / (amplitude > 0.0 ? amplitude : fabs(reference)) * 0x1p53;
}

/* Between +-1, small ones as often as large ones. */
static double spread(unsigned *seed, double octaves)
{
  const double u = test_uniform(seed);
  return u * exp2(-octaves * fabs(test_uniform(seed)));
}

static double sine(double x)
{
  double s, c;
  bramah__sincos_any(x, &s, &c);
  return s;
}

static double tangent_of(double x) { return bramah__atan2(x, 1.0); }
static double two_fifths(double x) { return e_power(e_number(x), 0.4).value; }
static double two_fifths_reference(double x) { return pow(x, 0.4); }

static double cbrt_reference(double x) { return (double)cbrtl(x); } /* that of double is not so exact */
static double log_gamma_above(double x) { return bramah__log_gamma(3.0 + x); }
static double lgamma_above(double x) { return lgamma(3.0 + x); }

/* In floats, against the reference at the float. */
#define SINGLE(name, reference)                                                                              \
  static double single_##name(double x) { return (double)name((float)x); }                                   \
  static double reference_##name(double x) { return reference((double)(float)x); }
static float bramah__sinf(float x)
{
  float s, c;
  bramah__sincosf(x, &s, &c);
  return s;
}
static float bramah__cosf(float x)
{
  float s, c;
  bramah__sincosf(x, &s, &c);
  return c;
}
SINGLE(bramah__sinf, sin)
SINGLE(bramah__cosf, cos)
SINGLE(bramah__expf, exp)
SINGLE(bramah__logf, log)
SINGLE(bramah__tanhf, tanh)
SINGLE(bramah__log1pf, log1p)
SINGLE(bramah__erfcf, erfc)

enum { ANY, POSITIVE };

/* Functions of one argument, over what range, and within how much. */
static const struct {
  const char *name;
  double (*f)(double), (*reference)(double);
  int sign;
  double largest, octaves, amplitude, error;
} functions[] = {
    {"sin", sine, sin, ANY, 1e6, 40, 1.0, 2.5},
    {"cos", bramah__cos, cos, ANY, 1e6, 40, 1.0, 2.5},
    {"sin, far", sine, sin, ANY, 1e15, 30, 1.0, 2.5},
    {"cos, far", bramah__cos, cos, ANY, 1e300, 960, 1.0, 2.5},
    {"sin, furthest", sine, sin, ANY, DBL_MAX, 2, 1.0, 2.5},
    {"sin, relative", sine, sin, ANY, 0.7, 900, 0.0, 2.5},
    {"exp", bramah__exp, exp, ANY, 708.0, 20, 0.0, 2.5},
    {"expm1", bramah__expm1, expm1, ANY, 100.0, 60, 0.0, 4.0},
    {"log", bramah__log, log, POSITIVE, DBL_MAX, 1000, 0.0, 2.5},
    {"log, small", bramah__log, log, POSITIVE, 1e-290, 110, 0.0, 2.5},
    {"log around one", bramah__log, log, POSITIVE, 2.0, 2, 0.0, 2.5},
    {"log1p", bramah__log1p, log1p, ANY, 0.999, 60, 0.0, 4.0},
    {"tanh", bramah__tanh, tanh, ANY, 25.0, 60, 0.0, 5.5},
    {"power", two_fifths, two_fifths_reference, POSITIVE, 1e4, 30, 0.0, 30.0},
    {"cbrt", bramah__cbrt, cbrt_reference, POSITIVE, 1e300, 1000, 0.0, 3.0},
    {"atan", tangent_of, atan, ANY, 1e4, 60, 0.0, 3.0},
    {"asin", bramah__asin, asin, ANY, 1.0, 30, 0.0, 4.0},
    {"erfc", bramah__erfc, erfc, ANY, 2.0, 20, 0.0, 12.0},
    {"erfc, tail", bramah__erfc, erfc, POSITIVE, 26.0, 3, 0.0, 684.0},
    {"log gamma", bramah__log_gamma, lgamma, POSITIVE, 3.0, 12, 1.0, 150.0},
    {"sin of floats", single_bramah__sinf, reference_bramah__sinf, ANY, 1e3, 30, 1.0, 2.0 * 0x1p29},
    {"cos of floats", single_bramah__cosf, reference_bramah__cosf, ANY, 1e3, 30, 1.0, 2.0 * 0x1p29},
    {"exp of floats", single_bramah__expf, reference_bramah__expf, ANY, 87.0, 20, 0.0, 2.5 * 0x1p29},
    {"log of floats", single_bramah__logf, reference_bramah__logf, POSITIVE, 1e38, 240, 0.0, 2.5 * 0x1p29},
    {"tanh of floats", single_bramah__tanhf, reference_bramah__tanhf, ANY, 25.0, 60, 0.0, 3.0 * 0x1p29},
    {"log(1 + x) of floats", single_bramah__log1pf, reference_bramah__log1pf, POSITIVE, 1e38, 240, 0.0,
     4.0 * 0x1p29},
    {"erfc of floats, below 3", single_bramah__erfcf, reference_bramah__erfcf, ANY, 3.0, 20, 0.0,
     20.0 * 0x1p29},
    {"log gamma, above 3", log_gamma_above, lgamma_above, POSITIVE, 1e6, 30, 0.0, 150.0},
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

EACH_TEST(test_errors, 0, N_FUNCTIONS)
{
  unsigned seed = (unsigned)_i + 1;
  double worst = 0.0, at = 0.0;
  for (int i = 0; i < 100000; i++) {
    double x = functions[_i].largest * spread(&seed, functions[_i].octaves);
    if (functions[_i].sign == POSITIVE) x = fabs(x);
    const double error = error_of(functions[_i].f(x), functions[_i].reference(x), functions[_i].amplitude);
    if (error > worst) worst = error, at = x;
  }
  ck_assert_msg(worst < functions[_i].error, "%s: %g at %.17g", functions[_i].name, worst, at);
}

TEST(test_directions)
{
  static const double special[] = {
      0.0, -0.0, 1.0, -1.0, 1e-310, -1e-310, 1e300, -1e300, (double)INFINITY, -(double)INFINITY};
  enum { N = sizeof special / sizeof *special };
  unsigned seed = 3;
  for (int i = 0; i < N * N; i++) {
    const double y = special[i / N], x = special[i % N], angle = bramah__atan2(y, x);
    ck_assert_msg(error_of(angle, atan2(y, x), 0.0) < 3.0 && !signbit(angle) == !signbit(y), "%g %g", y, x);
  }
  for (int i = 0; i < 100000; i++) {
    const double y = spread(&seed, 30), x = spread(&seed, 30);
    ck_assert_double_lt(error_of(bramah__atan2(y, x), atan2(y, x), 0.0), 3.0);
  }
  ck_assert(isnan(bramah__atan2(NAN, 1.0)) && isnan(bramah__atan2(0.0, NAN)));
}

/* Next to multiples of pi/2, where the reduced argument has the fewest digits; of all doubles 6381956970095103 2^797
 * comes closest to one (J.-M. Muller, Elementary Functions, 2006, 11.3.2). */
TEST(test_reduction)
{
  static const double near[] = {1.5707963267948966,
                                3.141592653589793,
                                6.283185307179586,
                                1e6,
                                1000000.0000000001,
                                314159265.35897931,
                                1e15,
                                0x1p53,
                                1e22};
  const double closest = ldexp(6381956970095103.0, 797);
  ck_assert_double_lt(error_of(bramah__cos(closest), cos(closest), 0.0), 4.0);
  ck_assert_double_eq(sine(-closest), -sine(closest));
  ck_assert_double_eq(bramah__cos(-closest), bramah__cos(closest));
  for (size_t i = 0; i < sizeof near / sizeof *near; i++)
    for (int sign = -1; sign <= 1; sign += 2) {
      const double x = sign * near[i];
      ck_assert_double_lt(error_of(sine(x), sin(x), 1.0), 2.5);
      ck_assert_double_lt(error_of(bramah__cos(x), cos(x), 1.0), 2.5);
    }
}

TEST(test_specials)
{
  double (*const all[])(double) = {sine,         bramah__cos,   bramah__exp,  bramah__expm1,
                                   bramah__log,  bramah__log1p, bramah__tanh, bramah__cbrt,
                                   bramah__asin, bramah__erfc,  tangent_of};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ck_assert_msg(isnan(all[i](NAN)), "%zu", i);
  const double zero[] = {bramah__tanh(-0.0), bramah__asin(-0.0), tangent_of(-0.0)};
  for (size_t i = 0; i < sizeof zero / sizeof *zero; i++) ck_assert(zero[i] == 0.0 && signbit(zero[i]));
  const double infinity = (double)INFINITY;
  ck_assert(isnan(sine(infinity)) && isnan(bramah__cos(-infinity)) &&
            isnan(bramah__asin(1.0000000000000002)));
  ck_assert(bramah__exp(infinity) == infinity && bramah__exp(-infinity) == 0.0 && bramah__exp(0.0) == 1.0);
  ck_assert(bramah__exp(709.5) == infinity && bramah__exp(-708.5) == 0.0 && bramah__expm1(-infinity) == -1.0);
  ck_assert_double_lt(error_of(bramah__exp(709.4), exp(709.4), 0.0), 2.5);
  ck_assert_double_lt(error_of(bramah__exp(-708.3), exp(-708.3), 0.0), 2.5);
  ck_assert(bramah__log(0.0) == -infinity && bramah__log(-0.0) == -infinity && isnan(bramah__log(-1.0)));
  ck_assert(bramah__log(infinity) == infinity && bramah__log(1.0) == 0.0);
  ck_assert_double_lt(error_of(bramah__log(5e-324), log(5e-324), 0.0), 2.5);
  ck_assert(bramah__tanh(infinity) == 1.0 && bramah__tanh(-1e300) == -1.0);
  ck_assert(two_fifths(0.0) < 1e-119 && two_fifths(infinity) == infinity && two_fifths(1.0) == 1.0);
  ck_assert(bramah__cbrt(0.0) == 0.0 && bramah__cbrt(infinity) == infinity);
  ck_assert(bramah__erfc(infinity) == 0.0 && bramah__erfc(-infinity) == 2.0);
}

int main(void) { return run_tests("elementary"); }
