/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/tune/likelihood.h"
#include "lib/base/diag.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__likelihood_new(size_t most, size_t n_parameters, bramah_diag *diag,
                                     bramah__likelihood **out)
{
  const size_t m = most, n = n_parameters;
  bramah__likelihood *l = calloc(1, sizeof *l);
  double *block = calloc(n + n * n + m * m + m + n * m + n * m * m + 1, sizeof *block);
  if (!l || !block) {
    free(l);
    free(block);
    return bramah__fail(diag, BRAMAH_E_MEMORY, "likelihood", "out of memory");
  }
  *l = (bramah__likelihood){.most = m, .n = n, .gradient = block};
  l->information = l->gradient + n;
  l->L = l->information + n * n;
  l->e = l->L + m * m;
  l->d = l->e + m;
  l->M = l->d + n * m;
  *out = l;
  return BRAMAH_OK;
}

void bramah__likelihood_free(bramah__likelihood *likelihood)
{
  if (likelihood) free(likelihood->gradient);
  free(likelihood);
}

int bramah__cholesky(size_t n, const double *A, double *L)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = A[i * n + j];
      for (size_t k = 0; k < j; k++) sum -= L[i * n + k] * L[j * n + k];
      if (i == j && !(sum > 0.0)) return 1;
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  return 0;
}

void bramah__cholesky_forward(size_t n, const double *L, double *x, size_t stride)
{
  for (size_t i = 0; i < n; i++) {
    double sum = x[i * stride];
    for (size_t k = 0; k < i; k++) sum -= L[i * n + k] * x[k * stride];
    x[i * stride] = sum / L[i * n + i];
  }
}

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

/* What a neighbour differs by, seen through L, and its part of the slope. */
static double slope(bramah__likelihood *l, size_t m, size_t j, const double *y, const double *S,
                    const double *near_y, const double *near_S, double step)
{
  double *d = l->d + j * m, *M = l->M + j * m * m, sum = 0.0;
  for (size_t i = 0; i < m; i++) d[i] = (near_y[i] - y[i]) / step;
  for (size_t i = 0; i < m * m; i++) M[i] = (near_S[i] - S[i]) / step;
  bramah__cholesky_forward(m, l->L, d, 1);
  for (size_t c = 0; c < m; c++) bramah__cholesky_forward(m, l->L, M + c, m);
  for (size_t r = 0; r < m; r++) bramah__cholesky_forward(m, l->L, M + r * m, 1);
  for (size_t i = 0; i < m; i++)
    sum += 0.5 * M[i * m + i] - 0.5 * l->e[i] * dot(m, M + i * m, l->e) + l->e[i] * d[i];
  return sum;
}

bramah_status bramah__likelihood_add(bramah__likelihood *likelihood, size_t m, const double *y,
                                     const double *S, const double *near_y, const double *near_S,
                                     const double *step, bramah_diag *diag)
{
  bramah__likelihood *l = likelihood;
  const size_t n = l->n;
  double cost = 0.0;
  if (bramah__cholesky(m, S, l->L))
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "innovations", "their covariance is not positive definite");
  memcpy(l->e, y, m * sizeof *y);
  bramah__cholesky_forward(m, l->L, l->e, 1);
  for (size_t i = 0; i < m; i++) cost += bramah__log(l->L[i * m + i]) + 0.5 * l->e[i] * l->e[i];
  if (!isfinite(cost))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "innovations", "their likelihood is not finite");
  l->cost += cost;
  l->nis = dot(m, l->e, l->e);
  for (size_t j = 0; j < n; j++)
    l->gradient[j] += slope(l, m, j, y, S, near_y + j * m, near_S + j * m * m, step[j]);
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; k <= j; k++) {
      const double sum =
          0.5 * dot(m * m, l->M + j * m * m, l->M + k * m * m) + dot(m, l->d + j * m, l->d + k * m);
      l->information[j * n + k] += sum;
      if (k != j) l->information[k * n + j] += sum;
    }
  return BRAMAH_OK;
}

void bramah__likelihood_add_outlier(bramah__likelihood *likelihood, double y, double sigma, double gate,
                                    const double *near_y, const double *near_sigma, const double *step)
{
  bramah__likelihood *l = likelihood;
  const size_t n = l->n;
  double *d = l->d, *s = l->M;
  l->cost += 2.0 * bramah__log(fabs(y) / gate) - bramah__log(sigma) + 0.5 * gate * gate;
  for (size_t j = 0; j < n; j++) { /* of the logarithms */
    d[j] = (near_y[j] - y) / (y * step[j]);
    s[j] = (near_sigma[j] - sigma) / (sigma * step[j]);
    l->gradient[j] += 2.0 * d[j] - s[j];
  }
  /* In x = log|y| - log sigma the tail is exponential: the slope's own square has the mean that information
   * is. */
  for (size_t j = 0; j < n; j++)
    for (size_t k = 0; k < n; k++) l->information[j * n + k] += s[j] * s[k];
}
