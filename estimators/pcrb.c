/* SPDX-License-Identifier: MIT */
/* The bound by which sensor sets and filters are judged. */
#include "bramah/observability.h"
#include "estimators/update.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bramah_pcrb {
  size_t n;
  double *P, *before, *work; /* [n x n] */
  double *dx, *fuse_work;    /* [n], [2 n] */
  double numbers[];          /* all of them */
};

/* Variances positive and finite, or P as it was. */
static bramah_status check_bound(bramah_pcrb *b, bramah_diag *diag)
{
  const size_t bad = bramah__bad_variance(b->n, b->P);
  if (bad == b->n) return BRAMAH_OK;
  const int finite = isfinite(b->P[bad * b->n + bad]);
  memcpy(b->P, b->before, b->n * b->n * sizeof(double));
  return bramah__fail(diag, finite ? BRAMAH_E_NOT_SPD : BRAMAH_E_NOT_FINITE, "bound",
                      finite ? "a variance is not positive" : "a variance is not finite");
}

bramah_status bramah_pcrb_new(size_t n, const double *P0, bramah_diag *diag, bramah_pcrb **out)
{
  const size_t numbers = 3 * n * n + 3 * n;
  bramah_pcrb *b = calloc(1, sizeof *b + numbers * sizeof(double));
  if (!b) return bramah__fail(diag, BRAMAH_E_MEMORY, "bound", "out of memory");
  double *all = b->numbers;
  *b = (bramah_pcrb){n, all, all + n * n, all + 2 * n * n, all + 3 * n * n, all + 3 * n * n + n};
  memcpy(b->P, P0, n * n * sizeof *P0);
  const bramah_status status = check_bound(b, diag);
  if (status == BRAMAH_OK)
    *out = b;
  else
    bramah_pcrb_free(b);
  return status;
}

void bramah_pcrb_free(bramah_pcrb *b) { free(b); }

bramah_status bramah_pcrb_step(bramah_pcrb *b, const double *F, const double *Q, bramah_diag *diag)
{
  const size_t n = b->n;
  memcpy(b->before, b->P, n * n * sizeof(double));
  bramah__propagate(n, F, b->P, b->work);
  for (size_t i = 0; Q && i < n * n; i++) b->P[i] += Q[i];
  return check_bound(b, diag);
}

bramah_status bramah_pcrb_measure(bramah_pcrb *b, size_t m, const double *H, const double *sigma,
                                  bramah_diag *diag)
{
  const size_t n = b->n;
  for (size_t i = 0; i < m; i++)
    if (!(sigma[i] > 0.0) || !isfinite(sigma[i]))
      return bramah__fail(diag, BRAMAH_E_VALUE, "bound", "a sensor's standard deviation must be positive");
  memcpy(b->before, b->P, n * n * sizeof(double));
  memset(b->dx, 0, n * sizeof(double));
  for (size_t i = 0; i < m; i++) {
    if (bramah__fuse_scalar(n, H + i * n, 0.0, sigma[i] * sigma[i], b->P, b->dx, b->fuse_work) == 0) continue;
    memcpy(b->P, b->before, n * n * sizeof(double));
    return bramah__fail(diag, BRAMAH_E_NOT_SPD, "bound", "the variance of a prediction is not positive");
  }
  return check_bound(b, diag);
}

const double *bramah_pcrb_covariance(const bramah_pcrb *b) { return b->P; }

double bramah_pcrb_sigma(const bramah_pcrb *b, const double *row)
{
  return sqrt(bramah__variance(b->n, row, b->P));
}
