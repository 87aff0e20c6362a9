/* SPDX-License-Identifier: MIT */
#include "estimators/update.h"
#include "lib/base/processors.h"
#include "lib/math/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* out = F X: of a row of F with one or two entries, as those of augmented states have, nothing but these. */
static void multiply_sparse(size_t n, const double *F, const double *X, double *out)
{
  for (size_t i = 0; i < n; i++) {
    const double *row = F + i * n;
    size_t entry[3], found = 0;
    for (size_t k = 0; k < n && found < 3; k++)
      if (row[k] != 0.0) entry[found++] = k;
    if (found == 3) {
      bramah__multiply(1, n, n, row, X, out + i * n);
      continue;
    }
    for (size_t j = 0; j < n; j++) out[i * n + j] = found ? row[entry[0]] * X[entry[0] * n + j] : 0.0;
    for (size_t j = 0; j < n && found == 2; j++) out[i * n + j] += row[entry[1]] * X[entry[1] * n + j];
  }
}

void bramah__propagate(size_t n, const double *F, double *P, double *work)
{
  multiply_sparse(n, F, P, work);
  for (size_t i = 0; i < n; i++) /* (F P F')' = F (F P)' */
    for (size_t j = 0; j < i; j++) {
      const double kept = work[i * n + j];
      work[i * n + j] = work[j * n + i];
      work[j * n + i] = kept;
    }
  multiply_sparse(n, F, work, P);
  bramah__symmetrise(n, P);
}

void bramah__kinematic_transition(size_t nf, size_t np, double h, const double *A, double *F)
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

void bramah__kinematic_parameters(size_t nf, size_t np, size_t n_par, double h, const double *Ap, double *G)
{
  memset(G, 0, (2 * nf + np) * n_par * sizeof *G);
  for (size_t i = 0; i < nf; i++)
    for (size_t j = 0; j < n_par; j++) {
      G[i * n_par + j] = 0.5 * h * h * Ap[i * n_par + j];
      G[(nf + i) * n_par + j] = h * Ap[i * n_par + j];
    }
}

double bramah__variance(size_t n, const double *H, const double *P)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    if (H[i] == 0.0) continue;
    double row = 0.0;
    for (size_t j = 0; j < n; j++)
      if (H[j] != 0.0) row += P[i * n + j] * H[j];
    sum += H[i] * row;
  }
  return sum;
}

#define BRAMAH__LANES 1
#define BRAMAH__KERNEL(name) kernel_##name
#include "estimators/kernel.h"

/* Sizes that the compiler is to know: of plants with few states and nothing augmented. */
#define SMALL_SIZES(X) X(2) X(3) X(4) X(5) X(6) X(7) X(8)

/* From where rows side by side pay (measured with 512 bits, 5 to 12 states of the plant): shorter ones are mostly what is left
 * over of a register. */
enum { WIDE_STATES = 20, WIDE_ENTRIES = 120 };

/* The same sums beyond these sizes, each in its order, but those of a row side by side: the compiler puts neighbours into
 * one register. out [end] += f [count] X, whose rows, of n numbers, are those listed; NULL: the first. */
BRAMAH__INLINE void add_rows(size_t end, size_t n, size_t count, const size_t *column, const double *f,
                             const double *restrict X, double *restrict out)
{
#define ROW(c) (column ? column[c] : (c))
  size_t c = 0;
  for (; c + 4 <= count; c += 4) {
    const size_t k[4] = {ROW(c), ROW(c + 1), ROW(c + 2), ROW(c + 3)};
    const double f0 = f[k[0]], f1 = f[k[1]], f2 = f[k[2]], f3 = f[k[3]];
    const double *x0 = X + k[0] * n, *x1 = X + k[1] * n, *x2 = X + k[2] * n, *x3 = X + k[3] * n;
    for (size_t j = 0; j < end; j++) out[j] = out[j] + f0 * x0[j] + f1 * x1[j] + f2 * x2[j] + f3 * x3[j];
  }
  for (; c < count; c++)
    for (size_t j = 0; j < end; j++) out[j] += f[ROW(c)] * X[ROW(c) * n + j];
#undef ROW
}

/* A' of A [m x count]. */
static void turn_round(size_t m, size_t count, const double *A, double *turned)
{
  for (size_t r = 0; r < m; r++)
    for (size_t c = 0; c < count; c++) turned[c * m + r] = A[r * count + c];
}

BRAMAH__FOR_PROCESSORS static void propagate_rows(const bramah__kernel_shape *shape, const double *F,
                                                  const double *Gamma, double *P, double *T)
{
  const size_t n = shape->n, ne = shape->n_plant, nq = shape->nq;
  double *turned = T + ne * n;
  memset(T, 0, ne * n * sizeof *T);
  for (size_t r = 0; r < ne; r++) add_rows(n, n, shape->n_acting, shape->acting, F + r * n, P, T + r * n);
  turn_round(ne, n, F, turned);
  for (size_t r = 0; r < ne; r++) {
    memset(P + r * n, 0, ne * sizeof *P);
    add_rows(r + 1, ne, shape->n_acting, shape->acting, T + r * n, turned, P + r * n);
    for (size_t k = ne; k < n; k++) P[r * n + k] = P[k * n + r] = T[r * n + k];
  }
  turn_round(ne, nq, Gamma, turned);
  for (size_t r = 0; r < ne; r++) {
    memset(T, 0, ne * sizeof *T);
    add_rows(r + 1, ne, ne, NULL, Gamma + r * nq, turned, T);
    add_rows(r + 1, ne, nq - n, NULL, Gamma + r * nq + n, turned + n * ne, T);
    for (size_t s = 0; s <= r; s++) P[r * n + s] = P[s * n + r] = P[r * n + s] + T[s];
  }
  kernel_propagate_blocks(shape, F, Gamma, P);
}

void bramah__kernel_propagate(const bramah__kernel_shape *shape, const double *F, const double *Gamma,
                              double *P, double *T)
{
  const size_t whole = shape->nq == shape->n_plant;
  switch (whole * shape->n) {
#define OF_SIZE(N)                                                                                           \
  case N: {                                                                                                  \
    const bramah__kernel_shape own = {.n = N, .n_plant = N, .nq = N, .n_acting = N};                         \
    kernel_propagate(&own, F, Gamma, P, T);                                                                  \
    return;                                                                                                  \
  }
    SMALL_SIZES(OF_SIZE)
#undef OF_SIZE
  default:
    if (shape->n_plant * shape->n < WIDE_ENTRIES)
      kernel_propagate(shape, F, Gamma, P, T);
    else
      propagate_rows(shape, F, Gamma, P, T);
  }
}

double bramah__kernel_project(int whole, size_t n, size_t count, const size_t *column, const double *H,
                              const double *P, double *PH)
{
  double variance;
  switch (n) {
#define OF_SIZE(N)                                                                                           \
  case N:                                                                                                    \
    kernel_project(0, N, count, column, H, P, PH, &variance);                                                \
    return variance;
    SMALL_SIZES(OF_SIZE)
#undef OF_SIZE
  default:
    kernel_project(whole, n, count, column, H, P, PH, &variance);
    return variance;
  }
}

double bramah__kernel_variance(size_t n, size_t count, const size_t *column, const double *H, const double *P)
{
  double variance = 0.0;
  for (size_t s = 0; s < count; s++) {
    const double *row = P + column[s] * n;
    double shown = 0.0;
    for (size_t c = 0; c < count; c++) shown += row[column[c]] * H[column[c]];
    variance += H[column[s]] * shown;
  }
  return variance;
}

BRAMAH__FOR_PROCESSORS static void fuse_rows(size_t n, size_t end, size_t count, const size_t *column,
                                             const double *H, const double *PH, double S, double r,
                                             double rest, const unsigned char *held, double *P, double *dx,
                                             double *K)
{
  kernel_gain(n, held, PH, &S, &rest, K, dx);
  kernel_reduce(n, end, held, count, column, H, &S, &r, PH, K, K + n, P);
}

size_t bramah__kernel_fuse(size_t n, size_t count, const size_t *column, const double *H, const double *PH,
                           double S, double r, double rest, const unsigned char *held, double *P, double *dx,
                           double *work)
{
  double *K = work, *w = K + n;
  size_t end = n;
  while (held && end > 0 && held[end - 1]) end--;
  switch (held ? 0 : n) {
#define OF_SIZE(N)                                                                                           \
  case N:                                                                                                    \
    kernel_gain(N, NULL, PH, &S, &rest, K, dx);                                                              \
    kernel_reduce(N, N, NULL, count, column, H, &S, &r, PH, K, w, P);                                        \
    return N;
    SMALL_SIZES(OF_SIZE)
#undef OF_SIZE
  default:
    if (n < WIDE_STATES) {
      kernel_gain(n, held, PH, &S, &rest, K, dx);
      kernel_reduce(n, end, held, count, column, H, &S, &r, PH, K, w, P);
    } else {
      fuse_rows(n, end, count, column, H, PH, S, r, rest, held, P, dx, K);
    }
    return end;
  }
}

void bramah__kernel_mirror(size_t n, size_t rows, double *P) { kernel_mirror(n, rows, P); }

int bramah__fuse_scalar(size_t n, const double *H, double y, double r, const unsigned char *held, double *P,
                        double *dx, double *work)
{
  double *PH = work;
  const double S = bramah__kernel_project(1, n, n, NULL, H, P, PH) + r;
  if (!(S > 0.0) || !isfinite(S)) return -1;
  for (size_t i = 0; i < n; i++) y -= H[i] * dx[i];
  bramah__kernel_mirror(n, bramah__kernel_fuse(n, n, NULL, H, PH, S, r, y, held, P, dx, work + n), P);
  return 0;
}

double bramah__root_variance(size_t n, const double *H, const double *S, double *work)
{
  double sum = 0.0;
  bramah__apply_transposed(n, n, S, H, work);
  for (size_t i = 0; i < n; i++) sum += work[i] * work[i];
  return sum;
}

/* A measurement is taken to be so much better than its prediction at most: beyond it what is left of S would
 * be the rounding of what was there. */
static const double best = 1e-12;

int bramah__fuse_root(size_t n, const double *H, double y, double r, const unsigned char *held, double *S,
                      double *dx, double *work)
{
  double *phi = work, *K = work + n; /* S' H'; S phi */
  double alpha = 0.0, expected = 0.0;
  bramah__apply_transposed(n, n, S, H, phi);
  for (size_t i = 0; i < n; i++) {
    alpha += phi[i] * phi[i];
    expected += H[i] * dx[i];
  }
  r = fmax(r, best * best * alpha);
  alpha += r;
  if (!(alpha > 0.0) || !isfinite(alpha)) return -1;
  bramah__apply(n, n, S, phi, K);
  if (held) {
    double *wide = K + n; /* [n x (n + 1)] */
    for (size_t i = 0; i < n; i++) {
      const double gain = held[i] ? 0.0 : K[i] / alpha;
      dx[i] += gain * (y - expected);
      for (size_t j = 0; j < n; j++) wide[i * (n + 1) + j] = S[i * n + j] - gain * phi[j];
      wide[i * (n + 1) + n] = gain * sqrt(r);
    }
    bramah__lower_root(n, n + 1, wide, S);
    return 0;
  }
  const double rest = (y - expected) / alpha, gamma = 1.0 / (alpha + sqrt(r * alpha));
  for (size_t i = 0; i < n; i++) {
    dx[i] += K[i] * rest;
    for (size_t j = 0; j < n; j++) S[i * n + j] -= gamma * K[i] * phi[j];
  }
  return 0;
}

size_t bramah__fuse_block_work(size_t n, size_t m) { return 2 * n * m + m * m + 2 * m + 2 * n * n; }

int bramah__fuse_block(size_t n, size_t m, const double *H, const double *y, const double *r,
                       const unsigned char *held, double *P, double *dx, double *nis, double *work)
{
  double *PH = work, *K = PH + n * m, *S = K + n * m, *rest = S + m * m, *solved = rest + m, *A = solved + m,
         *B = A + n * n;
  bramah__multiply(m, n, n, H, P, PH);
  bramah__multiply_transposed(m, n, m, PH, H, S);
  for (size_t k = 0; k < m; k++) {
    S[k * m + k] += r[k];
    rest[k] = y[k];
    for (size_t i = 0; i < n; i++) rest[k] -= H[k * n + i] * dx[i];
    solved[k] = rest[k];
  }
  if (bramah__cholesky_factor(m, S)) return -1;
  bramah__cholesky_solve(m, S, solved);
  *nis = 0.0;
  for (size_t k = 0; k < m; k++) {
    *nis += rest[k] * solved[k];
    for (size_t i = 0; i < n; i++)
      if (!held || !held[i]) dx[i] += PH[k * n + i] * solved[k];
  }

  /* the Kalman gain K [n x m] = P H' S^-1 by the factor of S; PH [m x n] = H P */
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k < m; k++) solved[k] = PH[k * n + i];
    bramah__cholesky_solve(m, S, solved);
    for (size_t k = 0; k < m; k++) K[i * m + k] = held && held[i] ? 0.0 : solved[k];
  }

  /* P = (I - K H) P (I - K H)' + K r K' */
  bramah__multiply(n, m, n, K, H, A);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) A[i * n + j] = (i == j ? 1.0 : 0.0) - A[i * n + j];
  bramah__multiply(n, n, n, A, P, B);
  bramah__multiply_transposed(n, n, n, B, A, P);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++)
      for (size_t k = 0; k < m; k++) P[i * n + j] += K[i * m + k] * r[k] * K[j * m + k];
  bramah__symmetrise(n, P);
  return 0;
}

void bramah__add_outer(size_t n, size_t q, const double *Gamma, double *P)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) {
      double sum = 0.0;
      for (size_t k = 0; k < q; k++) sum += Gamma[i * q + k] * Gamma[j * q + k];
      P[i * n + j] += sum;
      if (i != j) P[j * n + i] += sum;
    }
}

void bramah__lower_root(size_t n, size_t m, double *W, double *S)
{
  /* Reflect rows i ... of W so that row i vanishes behind its diagonal: H = I - 2 v v' / v'v with v = row -
   * alpha e_i. */
  for (size_t i = 0; i < n; i++) {
    double *row = W + i * m, norm = 0.0;
    for (size_t k = i; k < m; k++) norm += row[k] * row[k];
    norm = sqrt(norm);
    if (!(norm > 0.0)) continue;
    const double alpha = row[i] > 0.0 ? -norm : norm, pivot = row[i] - alpha;
    const double beta = -1.0 / (alpha * pivot); /* 2 / v'v */
    for (size_t r = i + 1; r < n; r++) {
      double *other = W + r * m, dot = other[i] * pivot;
      for (size_t k = i + 1; k < m; k++) dot += other[k] * row[k];
      dot *= beta;
      other[i] -= dot * pivot;
      for (size_t k = i + 1; k < m; k++) other[k] -= dot * row[k];
    }
    row[i] = alpha;
  }
  for (size_t j = 0; j < n; j++) {
    const double sign = W[j * m + j] < 0.0 ? -1.0 : 1.0;
    for (size_t i = 0; i < n; i++) S[i * n + j] = i < j ? 0.0 : sign * W[i * m + j];
  }
}

size_t bramah__bad_variance(size_t n, const double *P)
{
  for (size_t i = 0; i < n; i++)
    if (!(P[i * n + i] > 0.0 && P[i * n + i] <= DBL_MAX)) return i;
  return n;
}
