/* SPDX-License-Identifier: MIT */
#include "lib/analysis/balanced.h"
#include "lib/base/diag.h"
#include "lib/linalg/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bramah_status bramah__analysis_memory(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_MEMORY, "analysis", "out of memory");
}

/* Which row is not finite, by name where there is one. */
static bramah_status check_finite(const bramah_linear_system *system, bramah_diag *diag)
{
  for (size_t i = 0; i < system->n; i++)
    for (size_t j = 0; j < system->n; j++)
      if (!isfinite(system->A[i * system->n + j]))
        return bramah__fail(diag, BRAMAH_E_NOT_FINITE, system->x_name ? system->x_name[i] : "A",
                            "the derivative of its rate is not finite");
  return BRAMAH_OK;
}

bramah_status bramah__balanced_make(const bramah_linear_system *system, bramah__balanced *out,
                                    bramah_diag *diag)
{
  const size_t n = system->n;
  *out = (bramah__balanced){.n = n};
  const bramah_status status = check_finite(system, diag);
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
