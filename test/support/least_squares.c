/* SPDX-License-Identifier: MIT */
#include "test/support/least_squares.h"

#include <stdlib.h>
#include <string.h>

/* Normal equations M x = b of all states, of which only neighbours are coupled: a band of the lower triangle,
 * row i from column i - BAND to i. Unknowns are scaled to typical sizes. Factors: M = L D L'. */
enum { N = LINEAR_N, BAND = 2 * N - 1, WIDTH = BAND + 1 };

static const long double size[N] = {1e-3L, 1e-3L, 1e-2L, 1e-2L, 1e4L, 1e4L};

struct least_squares {
  int n;
  long double *M, *b, *x;
};

static long double *entry(const least_squares *b, int i, int j) { return &b->M[i * WIDTH + j - i + BAND]; }

least_squares *least_squares_new(int last)
{
  least_squares *b = malloc(sizeof *b);
  b->n = N * (last + 1);
  b->M = calloc((size_t)b->n * WIDTH, sizeof *b->M);
  b->b = calloc((size_t)b->n, sizeof *b->b);
  b->x = calloc((size_t)b->n, sizeof *b->x);
  return b;
}

void least_squares_free(least_squares *b)
{
  free(b->M);
  free(b->b);
  free(b->x);
  free(b);
}

void least_squares_clear(least_squares *b)
{
  memset(b->M, 0, (size_t)b->n * WIDTH * sizeof *b->M);
  memset(b->b, 0, (size_t)b->n * sizeof *b->b);
}

/* Add |rows v - y|^2 weighted with W [m x m], where v are the `width` scaled unknowns from `first` on. */
static void add(least_squares *b, int first, int width, int m, const long double *rows, const long double *y,
                const long double *W)
{
  for (int i = 0; i < width; i++)
    for (int r = 0; r < m; r++)
      for (int s = 0; s < m; s++) {
        const long double left = rows[r * width + i] * W[r * m + s];
        if (left == 0.0L) continue;
        b->b[first + i] += left * y[s];
        for (int j = 0; j <= i; j++) *entry(b, first + i, first + j) += left * rows[s * width + j];
      }
}

/* W = Q^-1, by Gauss and Jordan: Q is positive definite. */
static void invert(const long double *Q, long double *W)
{
  long double A[N * 2 * N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i * 2 * N + j] = Q[i * N + j];
      A[i * 2 * N + N + j] = i == j ? 1.0L : 0.0L;
    }
  for (int k = 0; k < N; k++) {
    const long double pivot = A[k * 2 * N + k];
    for (int j = 0; j < 2 * N; j++) A[k * 2 * N + j] /= pivot;
    for (int i = 0; i < N; i++) {
      const long double factor = i == k ? 0.0L : A[i * 2 * N + k];
      for (int j = 0; j < 2 * N; j++) A[i * 2 * N + j] -= factor * A[k * 2 * N + j];
    }
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) W[i * N + j] = A[i * 2 * N + N + j];
}

void least_squares_prior(least_squares *b, const double *x, const double *sigma)
{
  for (int i = 0; i < N; i++) {
    const long double y = x[i], W = 1.0L / ((long double)sigma[i] * sigma[i]);
    add(b, i, 1, 1, &size[i], &y, &W);
  }
}

void least_squares_motion(least_squares *b, int k, const double *F, const double *g, const double *Q)
{
  long double rows[N * 2 * N] = {0}, y[N], q[N * N], W[N * N];
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) rows[i * 2 * N + j] = -(long double)F[i * N + j] * size[j];
    rows[i * 2 * N + N + i] = size[i];
    y[i] = g[i];
  }
  for (int i = 0; i < N * N; i++) q[i] = Q[i];
  invert(q, W);
  add(b, k * N, 2 * N, N, rows, y, W);
}

void least_squares_measurement(least_squares *b, int k, const double *row, double y, double sigma)
{
  long double scaled[N];
  const long double value = y, W = 1.0L / ((long double)sigma * sigma);
  for (int i = 0; i < N; i++) scaled[i] = row[i] * size[i];
  add(b, k * N, N, 1, scaled, &value, &W);
}

void least_squares_measurement_between(least_squares *b, int k, const double *before, const double *row,
                                       double y, double sigma)
{
  long double scaled[2 * N];
  const long double value = y, W = 1.0L / ((long double)sigma * sigma);
  for (int i = 0; i < N; i++) scaled[i] = before[i] * size[i], scaled[N + i] = row[i] * size[i];
  add(b, (k - 1) * N, 2 * N, 1, scaled, &value, &W);
}

static void factor(least_squares *b)
{
  for (int i = 0; i < b->n; i++)
    for (int j = i > BAND ? i - BAND : 0; j <= i; j++) {
      long double sum = *entry(b, i, j);
      for (int k = i > BAND ? i - BAND : 0; k < j; k++)
        if (j - k <= BAND) sum -= *entry(b, i, k) * *entry(b, j, k) * *entry(b, k, k);
      *entry(b, i, j) = i == j ? sum : sum / *entry(b, j, j);
    }
}

static void solve(const least_squares *b, long double *x)
{
  for (int i = 0; i < b->n; i++)
    for (int k = i > BAND ? i - BAND : 0; k < i; k++) x[i] -= *entry(b, i, k) * x[k];
  for (int i = 0; i < b->n; i++) x[i] /= *entry(b, i, i);
  for (int i = b->n; i-- > 0;)
    for (int k = i > BAND ? i - BAND : 0; k < i; k++) x[k] -= *entry(b, i, k) * x[i];
}

void least_squares_solve(least_squares *b)
{
  factor(b);
  memcpy(b->x, b->b, (size_t)b->n * sizeof *b->x);
  solve(b, b->x);
}

void least_squares_state(const least_squares *b, int k, double *x, double *P)
{
  long double *column = calloc((size_t)b->n, sizeof *column);
  for (int j = 0; j < N; j++) {
    memset(column, 0, (size_t)b->n * sizeof *column);
    column[k * N + j] = 1.0L;
    solve(b, column);
    for (int i = 0; i < N; i++) P[i * N + j] = (double)(column[k * N + i] * size[i] * size[j]);
    x[j] = (double)(b->x[k * N + j] * size[j]);
  }
  free(column);
}
