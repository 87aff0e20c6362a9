/* SPDX-License-Identifier: MIT */
/* Differences of a function of one variable, for tests of analytic derivatives. */
#ifndef BRAMAH_TEST_SUPPORT_DIFFERENCES_H
#define BRAMAH_TEST_SUPPORT_DIFFERENCES_H

/* Central difference of fourth order from the values at x - 2h, x - h, x + h, x + 2h. */
static inline double central_of(const double f[4], double h)
{
  return (8.0 * (f[2] - f[1]) - (f[3] - f[0])) / (12.0 * h);
}

/* The points it needs, by number. */
static inline double central_at(double x, int i, double h) { return x + (i < 2 ? i - 2 : i - 1) * h; }

static inline double central(double (*f)(double), double x, double h)
{
  double values[4];
  for (int i = 0; i < 4; i++) values[i] = f(central_at(x, i, h));
  return central_of(values, h);
}

/* One-sided difference of third order, towards x + h (h may be negative). */
static inline double one_sided(double (*f)(double), double x, double h)
{
  return (-11.0 * f(x) + 18.0 * f(x + h) - 9.0 * f(x + 2.0 * h) + 2.0 * f(x + 3.0 * h)) / (6.0 * h);
}

#endif
