/* SPDX-License-Identifier: MIT */
/* Gramians in balanced coordinates: over all time from Lyapunov's equation, over a horizon by doubling
 *
 *   W(2t) = W(t) + exp(A t) W(t) exp(A' t)
 *
 * from a short time at which the exponential of [-A Q; 0 A'] gives W (Van Loan, "Computing integrals
 * involving the matrix exponential", IEEE AC-23 (1978)), and Hankel singular values from both. */
#include "lib/linear/balanced.h"
#include "lib/base/diag.h"
#include "lib/math/dense.h"
#include "lib/math/spectral.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A for controllability, A' for observability; Q = B B' or C' C. */
static void pose(const bramah_linear_system *s, const bramah__balanced *z, bramah_gramian_kind kind,
                 double *A, double *Q)
{
  const size_t n = s->n, m = kind == BRAMAH_CONTROLLABILITY ? s->n_u : s->n_y;
  memset(Q, 0, n * n * sizeof *Q);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      A[i * n + j] = kind == BRAMAH_CONTROLLABILITY ? z->A[i * n + j] : z->A[j * n + i];
      for (size_t k = 0; k < m; k++)
        Q[i * n + j] += kind == BRAMAH_CONTROLLABILITY
                            ? s->B[i * m + k] * s->B[j * m + k] / (z->scale[i] * z->scale[j])
                            : s->C[k * n + i] * s->C[k * n + j] * z->scale[i] * z->scale[j];
    }
}

static bramah_status not_stable(bramah_diag *diag)
{
  return bramah__fail(diag, BRAMAH_E_SINGULAR, "Gramian", "the system is not stable: give a horizon");
}

static bramah_status for_ever(const bramah_linear_system *s, size_t n, double *A, double *W, double *work,
                              bramah_diag *diag)
{
  bramah_modes *modes = NULL;
  const bramah_status status = bramah_modes_new(s, diag, &modes);
  if (status != BRAMAH_OK) return status;
  const bramah_stability stability = modes->stability;
  bramah_modes_free(modes);
  if (stability != BRAMAH_STABLE || bramah__lyapunov(n, A, W, work)) return not_stable(diag);
  return BRAMAH_OK;
}

static double largest_of(size_t n, const double *Q)
{
  double largest = 0.0;
  for (size_t i = 0; i < n * n; i++) largest = fmax(largest, fabs(Q[i]));
  return largest > 0.0 ? largest : 1.0;
}

/* W = F' G of exp([-A Q; 0 A'] t) = [. G; 0 F], and E = F' = exp(A t). W is linear in Q, which
 * is scaled so that it does not rule the exponential. */
static void short_time(size_t n, const double *A, const double *Q, double t, double *W, double *E,
                       double *work, int *pivot)
{
  const size_t N = 2 * n;
  const double size = t > 0.0 ? t * largest_of(n, Q) : 1.0;
  double *M = work, *X = M + N * N;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      M[i * N + j] = -A[i * n + j];
      M[i * N + n + j] = Q[i * n + j] / size;
      M[(n + i) * N + j] = 0.0;
      M[(n + i) * N + n + j] = A[j * n + i];
    }
  bramah__exponential(N, M, t, X, X + N * N, pivot);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) E[i * n + j] = X[(n + j) * N + n + i];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      W[i * n + j] = 0.0;
      for (size_t k = 0; k < n; k++) W[i * n + j] += size * E[i * n + k] * X[k * N + n + j];
    }
  bramah__symmetrise(n, W);
}

static bramah_status up_to(size_t n, const double *A, const double *Q, double norm, double horizon, double *W,
                           double *work, int *pivot, bramah_diag *diag)
{
  double *E = work, *T = E + n * n, *Y = T + n * n, *rest = Y + n * n;
  const double times = fmin(norm * horizon, DBL_MAX);
  const int doublings = times > 1.0 ? (int)ceil(log2(times)) : 0;
  short_time(n, A, Q, ldexp(horizon, -doublings), W, E, rest, pivot);
  for (int k = 0; k < doublings; k++) {
    bramah__multiply(n, n, n, E, W, T);
    bramah__multiply_transposed(n, n, n, T, E, Y);
    for (size_t i = 0; i < n * n; i++) W[i] += Y[i];
    bramah__multiply(n, n, n, E, E, T);
    memcpy(E, T, n * n * sizeof *E);
  }
  bramah__symmetrise(n, W);
  if (bramah__all_finite(n * n, W)) return BRAMAH_OK;
  return bramah__fail(diag, BRAMAH_E_NOT_FINITE, "Gramian",
                      "an unstable mode grows beyond all numbers over this horizon: give a shorter one");
}

static size_t gramian_work(size_t n)
{
  const size_t short_work = 3 * n * n + 8 * n * n + bramah__exponential_work(2 * n),
               long_work = bramah__lyapunov_work(n);
  return short_work > long_work ? short_work : long_work;
}

/* In balanced coordinates. */
static bramah_status balanced_gramian(const bramah_linear_system *s, const bramah__balanced *z,
                                      bramah_gramian_kind kind, double horizon, double *W, bramah_diag *diag)
{
  const size_t n = s->n;
  if (!(horizon >= 0.0))
    return bramah__fail(diag, BRAMAH_E_ARGUMENT, "Gramian", "the horizon must not be negative");
  bramah_status status =
      kind == BRAMAH_CONTROLLABILITY ? bramah__check_inputs(s, diag) : bramah__check_outputs(s, diag);
  if (status != BRAMAH_OK) return status;
  double *A = calloc(2 * n * n + gramian_work(n) + 1, sizeof *A), *Q = A + n * n;
  int *pivot = calloc(2 * n + 1, sizeof *pivot);
  if (!A || !pivot) {
    status = bramah__analysis_memory(diag);
  } else {
    pose(s, z, kind, A, Q);
    if (isinf(horizon)) {
      memcpy(W, Q, n * n * sizeof *W);
      status = for_ever(s, n, A, W, Q + n * n, diag);
    } else {
      status = up_to(n, A, Q, z->norm, horizon, W, Q + n * n, pivot, diag);
    }
  }
  free(A);
  free(pivot);
  return status;
}

bramah_status bramah_gramian(const bramah_linear_system *system, bramah_gramian_kind kind, double horizon,
                             double *W, bramah_diag *diag)
{
  const size_t n = system->n;
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  if (status == BRAMAH_OK) status = balanced_gramian(system, &z, kind, horizon, W, diag);
  for (size_t i = 0; status == BRAMAH_OK && i < n; i++)
    for (size_t j = 0; j < n; j++) {
      const double both = z.scale[i] * z.scale[j];
      W[i * n + j] *= kind == BRAMAH_CONTROLLABILITY ? both : 1.0 / both;
    }
  bramah__balanced_free(&z);
  return status;
}

/* Rows of W become L' with W = L L'; what rounding made negative counts as zero. */
static int square_root(size_t n, double *W, double *w, double *work)
{
  if (bramah__symmetric_eigen(n, W, w, work)) return -1;
  for (size_t k = 0; k < n; k++)
    for (size_t i = 0; i < n; i++) W[k * n + i] *= sqrt(fmax(w[k], 0.0));
  return 0;
}

/* Singular values of Lo' Lc. */
static bramah_status combine(size_t n, double *Wc, double *Wo, double *sigma, bramah_diag *diag)
{
  const size_t eigen = bramah__symmetric_eigen_work(n), svd = bramah__singular_values_work(n, n);
  double *H = calloc(n * n + n + (eigen > svd ? eigen : svd) + 1, sizeof *H), *work = H + n * n;
  if (!H) return bramah__analysis_memory(diag);
  int wrong = square_root(n, Wc, sigma, work);
  if (!wrong) wrong = square_root(n, Wo, sigma, work);
  bramah__multiply_transposed(n, n, n, Wo, Wc, H);
  if (!wrong) wrong = bramah__singular_values(n, n, H, sigma, work);
  free(H);
  if (wrong) return bramah__fail(diag, BRAMAH_E_SINGULAR, "Hankel singular values", "the iteration failed");
  return BRAMAH_OK;
}

bramah_status bramah_hankel(const bramah_linear_system *system, double horizon, double *sigma,
                            bramah_diag *diag)
{
  const size_t n = system->n;
  bramah__balanced z;
  bramah_status status = bramah__balanced_make(system, &z, diag);
  double *Wc = calloc(2 * n * n + 1, sizeof *Wc), *Wo = Wc + n * n;
  if (status == BRAMAH_OK && !Wc) status = bramah__analysis_memory(diag);
  if (status == BRAMAH_OK) status = balanced_gramian(system, &z, BRAMAH_CONTROLLABILITY, horizon, Wc, diag);
  if (status == BRAMAH_OK) status = balanced_gramian(system, &z, BRAMAH_OBSERVABILITY, horizon, Wo, diag);
  if (status == BRAMAH_OK && n) status = combine(n, Wc, Wo, sigma, diag);
  free(Wc);
  bramah__balanced_free(&z);
  return status;
}
