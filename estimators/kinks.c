/* SPDX-License-Identifier: MIT */
/* Prediction across kinks of the plant.
 *
 * A check valve passes nothing until the pressure falls to where it opens, and much below that. Where the estimate stands
 * there, what is believed of the pressure lies on both sides: the true one cannot fall, while a filter linear about its
 * estimate reckons with lower ones, too, and what it measures is more than it predicts, on and on. Statistical
 * linearisation (A. Gelb, Applied Optimal Estimation, 1974, 6.2) takes of a term e max(y, 0) of a rate its mean over the
 * normal y and the slope that fits best, which for a ramp are known. The plant makes its step as ever. Rates come into the
 * end of a step by the trapezoidal rule, so what both terms differ by is, half at the start and half at the end, like a
 * rate from outside, of which the resolvent N says what it does to the step; as the end's goes by the end itself,
 * an equation in one unknown is solved (Sherman and Morrison). What no straight line fits is not counted as noise: it would feed itself. */
#include "estimators/filter_internal.h"

#include <math.h>
#include <string.h>

/* An opening further away than so many standard deviations does not count. */
static const double far = 4.0;

int bramah__kink_reaches(const bramah_kink *kink, const double *P, size_t stride, size_t n, size_t n_dof,
                         double *sigma)
{
  double variance = 0.0;
  for (int a = 0; a < 2; a++)
    for (int b = 0; b < 2; b++)
      if (kink->by[a] != 0.0 && kink->by[b] != 0.0)
        variance += kink->by[a] * kink->by[b] *
                    P[((2 * n_dof + kink->state[a]) * n + 2 * n_dof + kink->state[b]) * stride];
  *sigma = sqrt(variance);
  return variance > 0.0 && fabs(kink->value) < far * *sigma;
}

/* Mean of the ramp max(y, 0) and its best slope. */
static void average(double value, double sigma, double *mean, double *slope)
{
  const bramah__ramp ramp = bramah__ramp_from(fabs(value) / sigma);
  *mean = (value > 0.0 ? value : 0.0) + sigma * ramp.mean;
  *slope = value > 0.0 ? 1.0 - ramp.slope : ramp.slope;
}

void bramah__kinks_start(bramah_filter *f)
{
  f->reaches = 0;
  for (size_t k = 0; k < f->n_kinks; k++) {
    bramah_kink kink;
    double *own = f->work.kink + 3 * k;
    f->plant.kink(f->plant.self, k, &kink);
    own[0] = 0.0;
    double sigma;
    if (!bramah__kink_reaches(&kink, f->P, 1, f->n, f->n_dof, &sigma)) continue;
    average(kink.value, sigma, &own[1], &own[2]);
    own[0] = sigma;
    if (kink.value > 0.0) own[1] -= kink.value, own[2] -= 1.0;
    f->reaches = 1;
  }
}

/* y = c' M of the rows that y goes by, M [n_plant x width]. */
static double across(const bramah_kink *kink, size_t first, const double *M, size_t width, size_t column)
{
  double sum = 0.0;
  for (int a = 0; a < 2; a++)
    if (kink->by[a] != 0.0) sum += kink->by[a] * M[(first + kink->state[a]) * width + column];
  return sum;
}

/* M += g (c' M) by */
static void follow(const bramah_kink *kink, size_t rows, size_t first, const double *g, double by,
                   size_t width, double *M)
{
  for (size_t k = 0; k < width; k++) {
    const double change = by * across(kink, first, M, width, k);
    for (size_t r = 0; r < rows; r++) M[r * width + k] += g[r] * change;
  }
}

/* Standard deviation of y at the end of the step; as before the step where that cannot be. c' F into row [n_plant]. */
static double sigma_at_end(const bramah_filter *f, const bramah_kink *kink, double before, double *row)
{
  const size_t ne = f->n_plant;
  double variance = 0.0;
  for (size_t k = 0; k < ne; k++) row[k] = across(kink, 2 * f->n_dof, f->work.Fe, ne, k);
  for (size_t i = 0; i < ne; i++) {
    double sum = 0.0;
    for (size_t k = 0; k < ne; k++) sum += f->P[i * f->n + k] * row[k];
    variance += row[i] * sum;
  }
  return variance > 0.0 ? sqrt(variance) : before;
}

/* Kink k, of which start [3] is known, into F, N, G and the shift [n_plant] of the mean. */
static void include(bramah_filter *f, size_t k, const double *start, double *shift)
{
  const size_t ne = f->n_plant, first = 2 * f->n_dof, nx = f->n_dof + f->n_first_order;
  const double h = bramah__step_seconds(f), half = 0.5;
  double *g = shift + ne, effect[2], mean, slope;
  bramah_kink kink;
  f->plant.kink(f->plant.self, k, &kink);
  f->plant.kink_effect(f->plant.self, k, effect);

  /* what a unit of the ramp over the whole step does to its end, also to y itself there */
  for (size_t r = 0; r < ne; r++) {
    g[r] = 0.0;
    for (int a = 0; a < 2; a++)
      if (kink.by[a] != 0.0) g[r] += h * effect[a] * f->work.N[r * nx + f->n_dof + kink.state[a]];
  }
  const double own = across(&kink, first, g, 1, 0);

  /* by the start */
  const double shifted = across(&kink, first, shift, 1, 0) + half * own * start[1];
  for (int a = 0; a < 2; a++)
    for (size_t r = 0; r < ne && kink.by[a] != 0.0; r++)
      f->work.Fe[r * ne + first + kink.state[a]] += kink.by[a] * half * start[2] * g[r];

  /* and by the end, about where that has come to */
  average(kink.value + shifted, sigma_at_end(f, &kink, start[0], g + ne), &mean, &slope);
  if (kink.value > 0.0) mean -= kink.value + shifted, slope -= 1.0;
  const double left = 1.0 - half * slope * own, at_end = half * slope / left;
  for (size_t r = 0; r < ne; r++) shift[r] += g[r] * half * (start[1] + mean / left);
  follow(&kink, ne, first, g, at_end, ne, f->work.Fe);
  follow(&kink, ne, first, g, at_end, nx, f->work.N);
  follow(&kink, ne, first, g, at_end, f->n_par, f->work.G);
}

bramah_status bramah__kinks_end(bramah_filter *f, bramah_diag *diag)
{
  double *shift = f->work.kink + 3 * f->n_kinks;
  if (!f->reaches || f->progress.rebased) return BRAMAH_OK; /* F would be of other coordinates */
  memset(shift, 0, f->n_plant * sizeof *shift);
  for (size_t k = 0; k < f->n_kinks; k++)
    if (f->work.kink[3 * k] > 0.0) include(f, k, f->work.kink + 3 * k, shift);
  return f->plant.inject(f->plant.self, shift, diag);
}
