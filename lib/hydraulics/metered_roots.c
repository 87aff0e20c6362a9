/* SPDX-License-Identifier: MIT */
/* Roots of the quadratic laws of orifices, in forms that do not cancel. */
#include "lib/hydraulics/metered_internal.h"

#include <math.h>

double bramah__signed_square(double x) { return x * fabs(x); }
double bramah__signed_root(double x) { return copysign(sqrt(fabs(x)), x); }

/* Printed, (11) subtracts two nearly equal numbers; its conjugate adds them. */
double bramah__phi_a(double b, double c, double a)
{
  const double r = sqrt(a);
  if (c == 0.0) return 0.0;
  return -2.0 * r * c / (r * b + sqrt(a * b * b + 4.0 * fabs(c)));
}

/* Root of A x^2 + B x + C at which the slope is positive. */
static double rising_root(double A, double B, double C)
{
  const double slope = sqrt(fmax(B * B - 4.0 * A * C, 0.0));
  return B >= 0.0 ? -2.0 * C / (B + slope) : (slope - B) / (2.0 * A);
}

/* For x1 >= 0. The function rises; its sign at 0 and x1 tells the branch. */
static double phi_b_of_positive(double b, double c, double a0, double a1, double x1)
{
  if (a1 * c - x1 * x1 > 0.0) { /* x < 0: counted from 0 */
    return rising_root(-(a0 + a1), a0 * (a1 * b + 2.0 * x1), a0 * (a1 * c - x1 * x1));
  }
  const double at_x1 = x1 * x1 + a0 * (b * x1 + c);
  if (at_x1 <= 0.0) { /* x >= x1: counted from x1, where nothing cancels */
    return x1 + rising_root(a0 + a1, a1 * (a0 * b + 2.0 * x1), a1 * at_x1);
  }
  const double x = rising_root(a1 - a0, a0 * (a1 * b + 2.0 * x1), a0 * (a1 * c - x1 * x1));
  if (x < 0.5 * x1) return x;
  return x1 + rising_root(a1 - a0, a1 * (a0 * b + 2.0 * x1), a1 * at_x1);
}

double bramah__phi_b(double b, double c, double a0, double a1, double x1)
{
  if (a0 == 0.0) return 0.0;
  if (a1 == 0.0) return x1;
  if (x1 < 0.0) return -phi_b_of_positive(b, -c, a0, a1, -x1);
  return phi_b_of_positive(b, c, a0, a1, x1);
}

/* State of the search: f(lo) = f_lo > 0 > f_hi = f(hi). */
typedef struct bracket {
  double lo, f_lo, hi, f_hi;
  double pull;    /* interpolated trials are drawn by pull * width^2 towards the middle */
  double allowed; /* width that bisection with two steps to spare would have left */
} bracket;

static double next_trial(const bracket *b)
{
  const double width = b->hi - b->lo, middle = b->lo + 0.5 * width, slack = b->allowed - 0.5 * width;
  const double straight = (b->f_lo * b->hi - b->f_hi * b->lo) / (b->f_lo - b->f_hi);
  const double to_middle = middle - straight, drawn = b->pull * width * width;
  const double trial = drawn <= fabs(to_middle) ? straight + copysign(drawn, to_middle) : middle;
  return fabs(trial - middle) <= slack ? trial : middle - copysign(slack, to_middle);
}

static void narrow(bracket *b, double x, double y)
{
  if (y > 0.0) {
    b->lo = x;
    b->f_lo = y;
  } else {
    b->hi = x;
    b->f_hi = y;
  }
  b->allowed *= 0.5;
}

double bramah__root_between(bramah__falling f, const void *context, double lo, double hi)
{
  bracket b = {lo, f(context, lo), hi, f(context, hi), 0.2 / (hi - lo), 2.0 * (hi - lo)};
  if (b.f_lo <= 0.0) return lo;
  if (b.f_hi >= 0.0) return hi;
  for (int i = 0; i < 62; ++i) {
    const double x = next_trial(&b);
    if (!(x > b.lo && x < b.hi)) break; /* neighbours in double precision */
    const double y = f(context, x);
    if (y == 0.0) return x;
    narrow(&b, x, y);
  }
  return b.f_lo < -b.f_hi ? b.lo : b.hi;
}
