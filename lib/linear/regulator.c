/* SPDX-License-Identifier: MIT */
/* Riccati's equation A' X + X A - X G X + Q = 0, G = B R^-1 B', from the stable subspace [U; V] of its
 * Hamiltonian matrix
 *
 *   [  A        -rho G ]
 *   [ -Q / rho  -A'    ]      X = rho V U^-1
 *
 * in balanced coordinates, rho such that Q and G weigh alike, and once more scaled by diag(D, D^-1), which
 * keeps the form: Benner, "Symplectic balancing of Hamiltonian matrices", SIAM J. Sci. Comput. 22 (2001). */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct work {
  double *B, *RB, *G, *Q, *R; /* [n x m], [m x n] R^-1 B', [n x n], [n x n], [m x m] */
  double *H, *Z, *rest;
  int *pivot;
} work;

static int take_room(work *w, size_t n, size_t m)
{
  const size_t N = 2 * n;
  w->B = calloc(2 * n * m + 2 * n * n + m * m + 2 * N * N + bramah__stable_subspace_work(N) + N + m + 1,
                sizeof *w->B);
  w->pivot = calloc(N + 1, sizeof *w->pivot);
  if (!w->B || !w->pivot) return 0;
  w->RB = w->B + n * m;
  w->G = w->RB + n * m;
  w->Q = w->G + n * n;
  w->R = w->Q + n * n;
  w->H = w->R + m * m;
  w->Z = w->H + N * N;
  w->rest = w->Z + N * N;
  return 1;
}

static double size_of(size_t n, const double *A)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += A[i] * A[i];
  return sqrt(sum);
}

/* B, R^-1 B', G and Q in balanced coordinates. */
static bramah_status weigh(const bramah_linear_system *s, const bramah__balanced *z, const double *Q,
                           const double *R, work *w, bramah_diag *diag)
{
  const size_t n = s->n, m = s->n_u;
  memcpy(w->R, R, m * m * sizeof *R);
  if (!bramah__all_finite(n * n, Q))
    return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "regulator", "the weight of the states is not finite");
  if (bramah__cholesky_factor(m, w->R))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "regulator",
                        "the weight of the inputs is not positive definite");
  for (size_t i = 0; i < n; i++) {
    for (size_t u = 0; u < m; u++) w->rest[u] = w->B[i * m + u] = s->B[i * m + u] / z->scale[i];
    bramah__cholesky_solve(m, w->R, w->rest);
    for (size_t u = 0; u < m; u++) w->RB[u * n + i] = w->rest[u];
    for (size_t j = 0; j < n; j++) w->Q[i * n + j] = Q[i * n + j] * z->scale[i] * z->scale[j];
  }
  bramah__multiply(n, m, n, w->B, w->RB, w->G);
  return BRAMAH_OK;
}

/* Powers of two that make what grows with d as large as what shrinks. */
static void balance(bramah__balanced *z, work *w, size_t m, double rho)
{
  const size_t n = z->n;
  for (int sweep = 0; sweep < 40; sweep++) {
    int changed = 0;
    for (size_t i = 0; i < n; i++) {
      double grows = 0.0, shrinks = 0.0;
      for (size_t j = 0; j < n; j++) {
        if (j != i) grows += fabs(z->A[j * n + i]), shrinks += fabs(z->A[i * n + j]);
        grows += fabs(w->Q[i * n + j]) / rho;
        shrinks += fabs(w->G[i * n + j]) * rho;
      }
      if (!(grows > 0.0) || !(shrinks > 0.0)) continue;
      const double d = exp2(round(0.5 * log2(shrinks / grows)));
      if (d == 1.0) continue;
      /* States in d times their unit: all that has state i in a row or column. */
      for (size_t j = 0; j < n; j++) {
        z->A[i * n + j] /= d;
        w->G[i * n + j] /= d;
        w->Q[i * n + j] *= d;
      }
      for (size_t j = 0; j < n; j++) {
        z->A[j * n + i] *= d;
        w->G[j * n + i] /= d;
        w->Q[j * n + i] *= d;
      }
      for (size_t u = 0; u < m; u++) w->RB[u * n + i] /= d;
      z->scale[i] *= d;
      changed = 1;
    }
    if (!changed) return;
  }
}

/* X into G. Rows of Z span the subspace: [U' V']. */
static bramah_status solve(bramah__balanced *z, work *w, size_t m, bramah_diag *diag)
{
  const size_t n = z->n, N = 2 * n;
  const double q = size_of(n * n, w->Q), g = size_of(n * n, w->G),
               rho = q > 0.0 && g > 0.0 ? sqrt(q / g) : 1.0;
  size_t stable;
  double gap, smallest;
  balance(z, w, m, rho);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      w->H[i * N + j] = z->A[i * n + j];
      w->H[i * N + n + j] = -rho * w->G[i * n + j];
      w->H[(n + i) * N + j] = -w->Q[i * n + j] / rho;
      w->H[(n + i) * N + n + j] = -z->A[j * n + i];
    }
  const double norm = size_of(N * N, w->H);
  const int failed = bramah__stable_subspace(N, w->H, w->Z, &stable, &gap, w->rest, w->pivot);
  double *U = w->H, *V = w->H + n * n; /* U' X = V': rows of V' are solved for */
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++) {
      U[k * n + i] = w->Z[k * N + i];
      V[i * n + k] = w->Z[k * N + n + i];
    }
  if (failed || stable != n || !(gap > 1e-12 * norm) || bramah__solve_many(n, n, U, V, w->pivot, &smallest) ||
      !(smallest > 1e-14))
    return bramah__fail(diag, BRAMAH_E_SINGULAR, "regulator",
                        "a mode that does not decay is not reached by the inputs, or costs nothing");
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) w->G[i * n + j] = 0.5 * rho * (V[i * n + j] + V[j * n + i]);
  return BRAMAH_OK;
}

bramah_status bramah_lqr(const bramah_linear_system *system, const double *Q, const double *R, double *K,
                         double *P, bramah_diag *diag)
{
  work w = {0};
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  if (status == BRAMAH_OK) status = bramah__check_inputs(system, diag);
  if (status == BRAMAH_OK && !take_room(&w, system->n, system->n_u)) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) status = weigh(system, &z, Q, R, &w, diag);
  if (status == BRAMAH_OK) status = solve(&z, &w, system->n_u, diag);
  if (status == BRAMAH_OK) {
    const size_t n = z.n;
    bramah__multiply(system->n_u, n, n, w.RB, w.G, K);
    for (size_t u = 0; u < system->n_u; u++)
      for (size_t j = 0; j < n; j++) K[u * n + j] /= z.scale[j];
    for (size_t i = 0; i < n && P; i++)
      for (size_t j = 0; j < n; j++) P[i * n + j] = w.G[i * n + j] / (z.scale[i] * z.scale[j]);
  }
  free(w.B);
  free(w.pivot);
  bramah__balanced_free(&z);
  return status;
}
