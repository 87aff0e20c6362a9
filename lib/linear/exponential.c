/* SPDX-License-Identifier: MIT */
/* Matrix exponential by scaling and squaring with the Pade approximant of order 13 (Higham 2005, algorithm
 * 2.3, without its lower orders: analysis is in no hurry). */
#include "lib/linear/balanced.h"
#include "lib/math/dense.h"

#include <math.h>
#include <string.h>

static const double theta13 = 5.371920351148152; /* largest 1-norm the approximant is good for */

static const double b[14] = {64764752532480000.0,
                             32382376266240000.0,
                             7771770303897600.0,
                             1187353796428800.0,
                             129060195264000.0,
                             10559470521600.0,
                             670442572800.0,
                             33522128640.0,
                             1323241920.0,
                             40840800.0,
                             960960.0,
                             16380.0,
                             182.0,
                             1.0};

static double norm_1(size_t n, const double *A)
{
  double largest = 0.0;
  for (size_t j = 0; j < n; j++) {
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += fabs(A[i * n + j]);
    largest = fmax(largest, sum);
  }
  return largest;
}

/* Y = c6 A6 + c4 A4 + c2 A2 + c0 I */
static void polynomial(size_t n, const double *const power[3], double c6, double c4, double c2, double c0,
                       double *Y)
{
  for (size_t i = 0; i < n * n; i++) Y[i] = c6 * power[2][i] + c4 * power[1][i] + c2 * power[0][i];
  for (size_t i = 0; i < n; i++) Y[i * n + i] += c0;
}

static void add(size_t n, const double *X, double *Y)
{
  for (size_t i = 0; i < n * n; i++) Y[i] += X[i];
}

/* Columns of E solve (V - U) E = V + U. */
static void solve(size_t n, double *U, double *V, double *E, double *column, int *pivot)
{
  for (size_t i = 0; i < n * n; i++) {
    const double u = U[i], v = V[i];
    U[i] = v - u;
    V[i] = v + u;
  }
  bramah__lu_factor(n, U, pivot);
  for (size_t j = 0; j < n; j++) {
    for (size_t i = 0; i < n; i++) column[i] = V[i * n + j];
    bramah__lu_solve(n, U, pivot, column);
    for (size_t i = 0; i < n; i++) E[i * n + j] = column[i];
  }
}

void bramah__exponential(size_t n, const double *A, double t, double *E, double *work, int *pivot)
{
  double *X = work, *A2 = X + n * n, *A4 = A2 + n * n, *A6 = A4 + n * n, *U = A6 + n * n, *V = U + n * n;
  const double *const power[3] = {A2, A4, A6};
  if (n == 0) return;
  for (size_t i = 0; i < n * n; i++) X[i] = A[i] * t;
  const double norm = norm_1(n, X);
  if (!isfinite(norm)) {
    for (size_t i = 0; i < n * n; i++) E[i] = (double)INFINITY;
    return;
  }
  const int squarings = norm > theta13 ? (int)ceil(log2(norm / theta13)) : 0;
  for (size_t i = 0; i < n * n; i++) X[i] = ldexp(X[i], -squarings);
  bramah__multiply(n, n, n, X, X, A2);
  bramah__multiply(n, n, n, A2, A2, A4);
  bramah__multiply(n, n, n, A2, A4, A6);
  polynomial(n, power, b[13], b[11], b[9], 0.0, U);
  bramah__multiply(n, n, n, A6, U, E);
  polynomial(n, power, b[7], b[5], b[3], b[1], V);
  add(n, E, V);
  bramah__multiply(n, n, n, X, V, U); /* odd part */
  polynomial(n, power, b[12], b[10], b[8], 0.0, V);
  bramah__multiply(n, n, n, A6, V, E);
  polynomial(n, power, b[6], b[4], b[2], b[0], V);
  add(n, E, V); /* even part */
  solve(n, U, V, E, A2, pivot);
  for (int k = 0; k < squarings; k++) {
    bramah__multiply(n, n, n, E, E, X);
    memcpy(E, X, n * n * sizeof *E);
  }
}
