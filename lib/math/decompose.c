/* SPDX-License-Identifier: MIT */
/* Least squares and symmetric eigenproblems by the rotations of Jacobi, one-sided for least squares (Golub and Van
 * Loan, Matrix Computations, sections 8.5 and 8.6.3): slow for large matrices and right for all. */
#include "lib/math/dense.h"

#include <float.h>
#include <math.h>
#include <string.h>

static double dot(size_t n, const double *a, const double *b)
{
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

typedef struct rotation {
  double c, s, t; /* cosine, sine, tangent */
} rotation;

/* That which makes [aa ab; ab bb] diagonal. */
static rotation rotation_of(double aa, double bb, double ab)
{
  const double zeta = (bb - aa) / (2.0 * ab),
               t = copysign(1.0, zeta) / (fabs(zeta) + sqrt(1.0 + zeta * zeta)), c = 1.0 / sqrt(1.0 + t * t);
  return (rotation){c, c * t, t};
}

/* Of n pairs, `stride` apart. */
static void rotate(size_t n, rotation r, double *a, double *b, size_t stride)
{
  for (size_t i = 0; i < n; i++, a += stride, b += stride) {
    const double x = *a, y = *b;
    *a = r.c * x - r.s * y;
    *b = r.s * x + r.c * y;
  }
}

static void set_unit(size_t n, double *V)
{
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) V[i * n + j] = i == j;
}

enum { MOST_SWEEPS = 60 };

/* Rotate the rows of R [k x n] until they are orthogonal, V [k x k], orthogonal too, along with them: R = V
 * R_before. Rows of which only rounding is left have no direction, and stay. Returns 0, or -1 if a number is not finite or
 * the sweeps are not enough. */
static int orthogonalise(size_t k, size_t n, double *R, double *V)
{
  const double rounding = DBL_EPSILON * (double)n;
  double largest = 0.0;
  int rotated = 1;
  set_unit(k, V);
  for (size_t p = 0; p < k; p++) largest = fmax(largest, dot(n, R + p * n, R + p * n));
  for (int sweep = 0; rotated; sweep++) {
    rotated = 0;
    for (size_t p = 0; p < k; p++)
      for (size_t q = p + 1; q < k; q++) {
        double *a = R + p * n, *b = R + q * n;
        const double aa = dot(n, a, a), bb = dot(n, b, b), ab = dot(n, a, b);
        if (!isfinite(aa + bb) || sweep == MOST_SWEEPS) return -1;
        if (fabs(ab) <= rounding * sqrt(aa) * sqrt(bb) || fmin(aa, bb) <= rounding * rounding * largest)
          continue;
        const rotation r = rotation_of(aa, bb, ab);
        rotate(n, r, a, b, 1);
        rotate(k, r, V + p * k, V + q * k, 1);
        rotated = 1;
      }
  }
  return 0;
}

size_t bramah__least_squares_work(size_t m, size_t n)
{
  const size_t small = m < n ? m : n, large = m < n ? n : m;
  return small * (large + small + 2); /* rows, their rotation, their squares, coefficients */
}

int bramah__least_squares(size_t m, size_t n, double *A, double *b, double rcond, double *work)
{
  if (m == 0 || n == 0) return 0;
  const int tall = m >= n;
  const size_t small = tall ? n : m, large = tall ? m : n;
  double *R = work, *V = R + small * large, *square = V + small * small, *x = square + small, largest = 0.0;
  int rank = 0;
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < n; j++) R[tall ? j * large + i : i * large + j] = A[i * n + j];
  if (orthogonalise(small, large, R, V)) return -1;
  for (size_t i = 0; i < small; i++) {
    square[i] = dot(large, R + i * large, R + i * large);
    largest = fmax(largest, square[i]);
  }
  /* tall: A' = V' R, x = V' R b / square; else A = V' R, x = R' V b / square */
  for (size_t i = 0; i < small; i++) {
    const int counts = square[i] > 0.0 && sqrt(square[i]) > rcond * sqrt(largest);
    rank += counts;
    x[i] = !counts ? 0.0 : (tall ? dot(m, R + i * large, b) : dot(m, V + i * small, b)) / square[i];
  }
  for (size_t j = 0; j < n; j++) {
    b[j] = 0.0;
    for (size_t i = 0; i < small; i++) b[j] += x[i] * (tall ? V[i * small + j] : R[i * large + j]);
  }
  return rank;
}

size_t bramah__symmetric_eigen_work(size_t n) { return n * n; }

int bramah__symmetric_eigen(size_t n, double *A, double *w, double *work)
{
  double *R = work, *V = A;
  int rotated = n > 1;
  memcpy(R, A, n * n * sizeof *A);
  set_unit(n, V);
  for (int sweep = 0; rotated; sweep++) {
    rotated = 0;
    for (size_t p = 0; p < n; p++)
      for (size_t q = p + 1; q < n; q++) {
        const double pp = R[p * n + p], qq = R[q * n + q], pq = R[p * n + q];
        if (!isfinite(pp + qq + pq) || sweep == MOST_SWEEPS) return -1;
        if (fabs(pq) <= DBL_EPSILON * sqrt(fabs(pp)) * sqrt(fabs(qq))) continue;
        const rotation r = rotation_of(pp, qq, pq);
        rotate(n, r, R + p * n, R + q * n, 1);
        rotate(n, r, R + p, R + q, n);
        R[p * n + p] = pp - r.t * pq;
        R[q * n + q] = qq + r.t * pq;
        R[p * n + q] = R[q * n + p] = 0.0;
        rotate(n, r, V + p * n, V + q * n, 1);
        rotated = 1;
      }
  }
  for (size_t i = 0; i < n; i++) w[i] = R[i * n + i];
  for (size_t i = 0; i < n; i++) {
    size_t least = i;
    for (size_t j = i + 1; j < n; j++)
      if (w[j] < w[least]) least = j;
    if (least == i) continue;
    const double t = w[least];
    w[least] = w[i];
    w[i] = t;
    rotate(n, (rotation){.c = 0.0, .s = 1.0}, V + i * n, V + least * n, 1); /* they change places */
  }
  return 0;
}
