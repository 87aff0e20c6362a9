/* SPDX-License-Identifier: MIT */
#include "estimators/adaptive_window.h"

#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 200 };

static const double settled = 1e-9; /* of a variance, relative */

static void add(size_t m, const double *record, double weight, double *A, double *b)
{
  for (size_t i = 0; i < m; i++) {
    for (size_t j = 0; j <= i; j++) A[i * m + j] += weight * record[bramah__window_place(i, j)];
    b[i] += weight * record[m * (m + 1) / 2 + i];
  }
}

/* Summed anew each time: running sums would lose their digits when a great record leaves the window. */
void bramah__window_sum(size_t m, const double *ring, size_t size, size_t last, size_t count,
                        double forgetting, double *A, double *b)
{
  double weight = 1.0;
  memset(A, 0, m * m * sizeof *A);
  memset(b, 0, m * sizeof *b);
  for (size_t k = 0; k < count; k++) {
    add(m, ring + (last + size - k) % size * bramah__window_record(m), weight, A, b);
    weight *= forgetting;
  }
  for (size_t i = 0; i < m; i++)
    for (size_t j = 0; j < i; j++) A[j * m + i] = A[i * m + j];
}

/* The best value of variance i while the others stay. */
static double best(size_t m, const double *A, double right, size_t i, const double *x)
{
  for (size_t j = 0; j < m; j++)
    if (j != i) right -= A[i * m + j] * x[j];
  return right / A[i * m + i];
}

void bramah__window_solve(size_t m, double *A, const double *b, const double *theta, const double *least,
                          const double *most, double *x)
{
  for (size_t i = 0; i < m; i++) {
    A[i * m + i] += 0.5 / (theta[i] * theta[i]); /* Fisher information of one sample */
    x[i] = fmin(fmax(theta[i], least[i]), most[i]);
  }
  for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    double moved = 0.0;
    for (size_t i = 0; i < m; i++) {
      const double next = fmin(fmax(best(m, A, b[i] + 0.5 / theta[i], i, x), least[i]), most[i]);
      moved = fmax(moved, fabs(next - x[i]) / theta[i]);
      x[i] = next;
    }
    if (moved < settled) return;
  }
}
