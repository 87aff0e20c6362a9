/* SPDX-License-Identifier: MIT */
/* G(i w) = c (i w I - A)^-1 b + d, one complex solution for each frequency. */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Complex numbers as pairs, column-major. */
static int solve(const bramah__balanced *z, const double *b, double w, double *M, double *x, int *pivot)
{
  const size_t n = z->n;
  memset(M, 0, 2 * n * n * sizeof *M);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) M[2 * (j * n + i)] = -z->A[i * n + j];
    M[2 * (j * n + j) + 1] = w;
    x[2 * j] = b[j];
    x[2 * j + 1] = 0.0;
  }
  return bramah__complex_solve(n, 1, M, x, pivot);
}

static bramah_status run(const bramah_linear_system *s, const bramah__balanced *z, size_t y, size_t u,
                         size_t n_w, const double *w, double *re, double *im, double *work, int *pivot,
                         bramah_diag *diag)
{
  const size_t n = s->n;
  double *M = work, *x = M + 2 * n * n, *b = x + 2 * n;
  for (size_t i = 0; i < n; i++) b[i] = s->B[i * s->n_u + u] / z->scale[i];
  for (size_t k = 0; k < n_w; k++) {
    if (!isfinite(w[k]))
      return bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response", "frequencies must be finite");
    if (solve(z, b, w[k], M, x, pivot)) {
      bramah__fail(diag, BRAMAH_E_SINGULAR, s->u_name ? s->u_name[u] : "frequency response",
                   "an undamped mode has just this frequency [rad/s]: ");
      bramah__add_number(diag, w[k], 6);
      return BRAMAH_E_SINGULAR;
    }
    re[k] = s->D ? s->D[y * s->n_u + u] : 0.0;
    im[k] = 0.0;
    for (size_t i = 0; i < n; i++) {
      const double c = s->C[y * n + i] * z->scale[i];
      re[k] += c * x[2 * i];
      im[k] += c * x[2 * i + 1];
    }
    if (!isfinite(re[k]) || !isfinite(im[k]))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, s->y_name ? s->y_name[y] : "frequency response",
                          "the response is not finite");
  }
  return BRAMAH_OK;
}

bramah_status bramah_frequency_response(const bramah_linear_system *system, size_t y, size_t u, size_t n_w,
                                        const double *w, double *re, double *im, bramah_diag *diag)
{
  const size_t n = system->n;
  if (y >= system->n_y || u >= system->n_u)
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "frequency response",
                        "there is no input or output of this number");
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  double *work = calloc(2 * n * n + 3 * n + 1, sizeof *work);
  int *pivot = calloc(n + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!work || !pivot)) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) status = run(system, &z, y, u, n_w, w, re, im, work, pivot, diag);
  free(work);
  free(pivot);
  bramah__balanced_free(&z);
  return status;
}
