/* SPDX-License-Identifier: MIT */
#include "estimators/transition.h"

#include <string.h>

void bramah__transition_paper(size_t nf, size_t np, double h, const double *A, double *F)
{
  const size_t n = 2 * nf + np;
  memset(F, 0, n * n * sizeof *F);
  for (size_t i = 0; i < n; i++) F[i * n + i] = 1.0;
  for (size_t i = 0; i < nf; i++) {
    F[i * n + nf + i] = h;
    for (size_t j = 0; j < n; j++) {
      F[i * n + j] += 0.5 * h * h * A[i * n + j];
      F[(nf + i) * n + j] += h * A[i * n + j];
    }
  }
}

void bramah__transition_paper_parameters(size_t nf, size_t np, size_t n_par, double h, const double *Ap,
                                         double *G)
{
  memset(G, 0, (2 * nf + np) * n_par * sizeof *G);
  for (size_t i = 0; i < nf; i++)
    for (size_t j = 0; j < n_par; j++) {
      G[i * n_par + j] = 0.5 * h * h * Ap[i * n_par + j];
      G[(nf + i) * n_par + j] = h * Ap[i * n_par + j];
    }
}
