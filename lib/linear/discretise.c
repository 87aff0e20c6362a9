/* SPDX-License-Identifier: MIT */
/* Zero-order hold: the exponential of [A B; 0 0] h holds both matrices. */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"

#include <math.h>
#include <stdlib.h>

/* Columns of B are scaled to the size of A: the exponential is linear in them. */
static double size_of_input(const bramah_linear_system *s, const bramah__balanced *z, size_t u)
{
  double largest = 0.0;
  for (size_t i = 0; i < s->n; i++) largest = fmax(largest, fabs(s->B[i * s->n_u + u] / z->scale[i]));
  return largest > 0.0 ? largest / fmax(z->norm, 1.0) : 1.0;
}

static void extend(const bramah_linear_system *s, const bramah__balanced *z, size_t n_u, double *M)
{
  const size_t n = s->n, N = n + n_u;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) M[i * N + j] = z->A[i * n + j];
    for (size_t u = 0; u < n_u; u++)
      M[i * N + n + u] = s->B[i * s->n_u + u] / z->scale[i] / size_of_input(s, z, u);
  }
}

static void take_apart(const bramah_linear_system *s, const bramah__balanced *z, const double *E, double *F,
                       double *G)
{
  const size_t n = s->n, n_u = G ? s->n_u : 0, N = n + n_u;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) F[i * n + j] = E[i * N + j] * z->scale[i] / z->scale[j];
    for (size_t u = 0; u < n_u; u++) G[i * n_u + u] = E[i * N + n + u] * z->scale[i] * size_of_input(s, z, u);
  }
}

bramah_status bramah_discretise(const bramah_linear_system *system, double h, double *F, double *G,
                                bramah_diag *diag)
{
  if (!(h >= 0.0) || !isfinite(h))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "discretise", "the step must be finite and not negative");
  const size_t N = system->n + (G ? system->n_u : 0);
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  if (status == BRAMAH_OK && G) status = bramah__check_inputs(system, diag);
  double *M = calloc(2 * N * N + bramah__exponential_work(N) + 1, sizeof *M);
  int *pivot = calloc(N + 1, sizeof *pivot);
  if (status == BRAMAH_OK && (!M || !pivot)) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) {
    double *E = M + N * N;
    extend(system, &z, N - system->n, M);
    bramah__exponential(N, M, h, E, E + N * N, pivot);
    take_apart(system, &z, E, F, G);
    if (!bramah__all_finite(system->n * system->n, F) ||
        (G && !bramah__all_finite(system->n * system->n_u, G)))
      status = bramah__fail(diag, BRAMAH_E_NOT_FINITE, "discretise",
                            "an unstable mode grows beyond all numbers in this step: take a shorter one");
  }
  free(M);
  free(pivot);
  bramah__balanced_free(&z);
  return status;
}
