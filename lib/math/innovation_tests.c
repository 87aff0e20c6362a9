/* SPDX-License-Identifier: MIT */
#include "lib/math/innovation_tests.h"
#include "lib/math/elementary.h"

#include <math.h>

static const double common = 4.0;             /* standard deviations of what is considered */
enum { FEWEST = 10, FEWEST_CORRELATED = 50 }; /* samples that are judged */
/* What never matters: sigma of a sensor 5 % too small, a correlation of so much, samples rejected [share], a variance
 * so much too small, an anticorrelation. */
static const double VARIANCE_LEAST = 1.1, CORRELATION_LEAST = 0.05, REJECTED_LEAST = 0.1, SMALL = 0.9,
                    ANTI = -0.1;

/* ---- distributions ---- */

double bramah__normal_beyond(double p)
{
  double low = 0.0, high = 40.0;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high);
    if (0.5 * bramah__erfc(middle * 0.70710678118654752) > p)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* Probability that a chi-square variable with 2 a degrees of freedom exceeds 2 x > 2 a: the continued fraction of
 * the incomplete gamma function (M. Abramowitz, I. Stegun, Handbook of Mathematical Functions, 1964, 6.5.31) by the
 * method of Lentz. */
static double chi_square_above(double a, double x)
{
  double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d;
  for (int i = 1; i <= 1000; i++) {
    const double an = -(double)i * ((double)i - a);
    b += 2.0;
    d = 1.0 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (fabs(d * c - 1.0) < 1e-12) break;
  }
  return bramah__exp(a * bramah__log(x) - x - bramah__log_gamma(a)) * h;
}

/* A chi-square variable with so many degrees of freedom as a standard normal one that is exceeded as seldom: exact where
 * it is large, else, and of very many, by E. B. Wilson, M. M. Hilferty, Proc. Nat. Acad. Sci. 17 (1931). */
static double normal_of(double x, double dof)
{
  const double variance = 2.0 / (9.0 * dof),
               about = (bramah__cbrt(x / dof) - 1.0 + variance) / sqrt(variance);
  if (about < 0.1 || dof > 1000.0) return about;
  const double p = chi_square_above(0.5 * dof, 0.5 * x);
  return p > 1e-290 ? bramah__normal_beyond(p) : about;
}

/* ---- sums ---- */

void bramah__innovation_add(bramah__innovation_sums *s, double x, double considered, double state,
                            int accepted, double most)
{
  s->present++;
  s->rejected += !accepted;
  if (!accepted && most == 0.0) return;
  if (most != 0.0) x = fmin(fmax(x, -most), most);
  s->products += s->n ? x * s->last : 0.0;
  if (!s->n) s->first = x;
  s->last = x;
  s->n++;
  s->sum += x;
  s->squares += x * x;
  s->shares += considered;
  s->roots += sqrt(considered);
  s->crossed += considered * (1.0 - considered);
  s->state += state;
}

void bramah__innovation_append(bramah__innovation_sums *s, const bramah__innovation_sums *next)
{
  s->present += next->present;
  s->rejected += next->rejected;
  if (!next->n) return;
  s->products += next->products + (s->n ? s->last * next->first : 0.0);
  if (!s->n) s->first = next->first;
  s->last = next->last;
  s->n += next->n;
  s->sum += next->sum;
  s->squares += next->squares;
  s->shares += next->shares;
  s->roots += next->roots;
  s->crossed += next->crossed;
  s->state += next->state;
}

/* ---- tests ---- */

void bramah__innovation_judge(const bramah__innovation_sums *s, int is_sensor, int has_gate, double expected,
                              bramah__innovation_result results[BRAMAH__TESTS])
{
  const double n = (double)s->n, white = n - s->shares, state = s->state / n;
  const double present = (double)s->present, rejected = (double)s->rejected, least = REJECTED_LEAST;
  for (int k = 0; k < BRAMAH__TESTS; k++) results[k] = (bramah__innovation_result){0};
  if (has_gate && s->present >= FEWEST)
    results[BRAMAH__TEST_REJECTED] = (bramah__innovation_result){
        1, 100.0 * rejected / present, (rejected - least * present) / sqrt(least * (1.0 - least) * present),
        rejected > least * present};
  if (s->n < FEWEST || white < FEWEST) return;

  const double variance = s->squares / n;
  const double dof = 1.0 / (1.0 / white + 2.0 * common * common * s->crossed / (white * white));
  const double above = fmax(s->squares - common * common * s->shares, 0.0) / white;
  const double below = s->squares / (white * expected), spread = 2.0 / (9.0 * white);
  results[BRAMAH__TEST_VARIANCE] = (bramah__innovation_result){1, variance, normal_of(dof * above, dof),
                                                               variance > fmax(VARIANCE_LEAST, 1.0 + state)};
  results[BRAMAH__TEST_SMALL] = (bramah__innovation_result){
      1, variance, (1.0 - spread - bramah__cbrt(below)) / sqrt(spread), below < SMALL};
  if (!is_sensor) return;

  const double mean = s->sum / n;
  results[BRAMAH__TEST_MEAN] = (bramah__innovation_result){
      1, mean, fabs(s->sum) / sqrt(white + s->roots * s->roots), mean * mean > state};
  if (s->n < FEWEST_CORRELATED) return;
  const double share = common * common * s->shares, shared = share / (white + share);
  const double r = (s->products - (n - 1.0) * mean * mean) / (s->squares - n * mean * mean);
  results[BRAMAH__TEST_CORRELATION] =
      (bramah__innovation_result){1, r, (r + 1.0 / n - shared) * sqrt(n), r > fmax(CORRELATION_LEAST, state)};
  results[BRAMAH__TEST_ANTI] = (bramah__innovation_result){1, r, -(r + 1.0 / n) * sqrt(n), r < ANTI};
}
