/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/likelihood.h"
#include "lib/base/diag.h"
#include "lib/base/processors.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdlib.h>

enum { WIDE = 4 };

bramah_status bramah__likelihood_new(size_t n, const double *step, bramah_diag *diag,
                                     bramah__likelihood **out)
{
  bramah__likelihood *l = calloc(1, sizeof *l);
  const size_t stride = (n + WIDE - 1) / WIDE * WIDE;
  double *block = calloc(n * stride + 2 * n + 2 * stride + 1, sizeof *block);
  if (!l || !block) {
    free(l);
    free(block);
    return bramah__fail(diag, BRAMAH_E_MEMORY, "likelihood", "out of memory");
  }
  *l = (bramah__likelihood){.n = n, .stride = stride, .variance = 1.0, .gradient = block};
  l->information = l->gradient + n;
  l->by_step = l->information + n * stride;
  l->d = l->by_step + n;
  l->s = l->d + stride;
  for (size_t j = 0; j < n; j++) l->by_step[j] = 1.0 / step[j];
  *out = l;
  return BRAMAH_OK;
}

void bramah__likelihood_free(bramah__likelihood *likelihood)
{
  if (likelihood) free(likelihood->gradient);
  free(likelihood);
}

double bramah__likelihood_cost(const bramah__likelihood *l)
{
  return l->cost + 0.5 * bramah__log(l->variance);
}

void bramah__likelihood_information(const bramah__likelihood *l, double *out)
{
  for (size_t j = 0; j < l->n; j++)
    for (size_t k = 0; k < l->n; k++)
      out[j * l->n + k] = l->information[j < k ? j * l->stride + k : k * l->stride + j];
}

/* Sum of slopes: whole vectors of each row, from that with the diagonal on. */
BRAMAH__FOR_PROCESSORS static void add_information(size_t n, size_t stride, const double *restrict d,
                                                   const double *restrict s, double *restrict information)
{
  for (size_t j = 0; j < n; j++) {
    double *restrict row = information + j * stride;
    const double by_s = 0.5 * s[j], by_d = d[j];
    for (size_t first = j / WIDE * WIDE; first < stride; first += WIDE)
      for (size_t k = first; k < first + WIDE; k++) row[k] += by_s * s[k] + by_d * d[k];
  }
}

bramah_status bramah__likelihood_add(bramah__likelihood *likelihood, double rest, double variance,
                                     double gate, const double *near_rest, const double *near_variance,
                                     bramah_diag *diag)
{
  bramah__likelihood *l = likelihood;
  const size_t n = l->n;
  const double by_variance = 1.0 / variance, by_sigma = sqrt(by_variance), e = rest * by_sigma;
  if (!(variance > 0.0))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "innovations", "their covariance is not positive definite");
  const int in_tail = gate > 0.0 && fabs(e) > gate;
  if (!isfinite(in_tail ? e : e * e))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "innovations", "their likelihood is not finite");
  l->cost += in_tail ? 0.5 * gate * gate + 2.0 * bramah__log(fabs(e) / gate) : 0.5 * e * e;
  l->variance *= variance; /* one logarithm for many samples */
  if (!(l->variance > 1e-100 && l->variance < 1e100)) {
    l->cost = bramah__likelihood_cost(l);
    l->variance = 1.0;
  }
  /* Slopes of what is left and of the variance, each by what it is normalised with. In the tail x = log|e| is exponential: the
   * square of the slope by log sigma has the mean that information is, and where the innovation lies tells nothing. */
  double *restrict d = l->d, *restrict s = l->s, *restrict gradient = l->gradient;
  for (size_t j = 0; j < n; j++) {
    d[j] = (near_rest[j] - rest) * by_sigma * l->by_step[j];
    s[j] = (near_variance[j] - variance) * by_variance * l->by_step[j];
    gradient[j] += in_tail ? 2.0 / e * d[j] - 0.5 * s[j] : 0.5 * s[j] * (1.0 - e * e) + e * d[j];
    if (in_tail) d[j] = 0.0, s[j] *= sqrt(0.5);
  }
  if (n) add_information(n, l->stride, d, s, l->information);
  return BRAMAH_OK;
}
