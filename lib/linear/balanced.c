/* SPDX-License-Identifier: MIT */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__analysis_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "analysis", "out of memory");
}

int bramah__all_finite(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (!isfinite(x[i])) return 0;
  return 1;
}

/* Which row of a matrix is not finite, by name where there is one. */
static bramah_status check_rows(size_t rows, size_t columns, const double *M, const char *const *names,
                                const char *matrix, const char *message, bramah_diag *diag)
{
  for (size_t i = 0; i < rows && M; i++)
    if (!bramah__all_finite(columns, M + i * columns))
      return bramah__fail(diag, BRAMAH_E_NOT_FINITE, names ? names[i] : matrix, message);
  return BRAMAH_OK;
}

static const char of_rate[] = "the derivative of its rate is not finite";

bramah_status bramah__check_inputs(const bramah_linear_system *s, bramah_diag *diag)
{
  return check_rows(s->n, s->n_u, s->B, s->x_name, "B", of_rate, diag);
}

bramah_status bramah__check_outputs(const bramah_linear_system *s, bramah_diag *diag)
{
  return check_rows(s->n_y, s->n, s->C, s->y_name, "C", "its derivative is not finite", diag);
}

bramah_status bramah__balanced_make(const bramah_linear_system *system, bramah__balanced *out,
                                    bramah_diag *diag)
{
  const size_t n = system->n;
  *out = (bramah__balanced){.n = n};
  const bramah_status status = check_rows(n, n, system->A, system->x_name, "A", of_rate, diag);
  if (status != BRAMAH_OK) return status;
  out->A = malloc((n * n + 1) * sizeof *out->A);
  out->scale = malloc((n + 1) * sizeof *out->scale);
  if (!out->A || !out->scale) return bramah__analysis_memory(diag);
  if (n) memcpy(out->A, system->A, n * n * sizeof *out->A);
  bramah__balance(n, out->A, out->scale);
  double sum = 0.0;
  for (size_t i = 0; i < n * n; i++) sum += out->A[i] * out->A[i];
  out->norm = sqrt(sum);
  return BRAMAH_OK;
}

void bramah__balanced_free(bramah__balanced *balanced)
{
  free(balanced->A);
  free(balanced->scale);
}
