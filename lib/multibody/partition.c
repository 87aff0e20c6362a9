/* SPDX-License-Identifier: MIT */
#include "lib/multibody/partition.h"

#include <math.h>

typedef struct pivot {
  size_t i, j; /* positions in the orders of rows and columns */
  double size;
} pivot;

static pivot largest(size_t n, const double *A, size_t k, size_t m, const int *row, const int *column,
                     const unsigned char *late, int want_late)
{
  pivot best = {k, k, 0.0};
  for (size_t i = k; i < m; i++)
    for (size_t j = k; j < n; j++) {
      if ((late && late[column[j]]) != want_late) continue;
      const double size = fabs(A[(size_t)row[i] * n + (size_t)column[j]]);
      if (size > best.size) best = (pivot){i, j, size};
    }
  return best;
}

static void swap(int *a, int *b)
{
  const int t = *a;
  *a = *b;
  *b = t;
}

size_t bramah__eliminate(size_t m, size_t n, double *A, double tolerance, const unsigned char *late, int *row,
                         int *column)
{
  for (size_t i = 0; i < m; i++) row[i] = (int)i;
  for (size_t j = 0; j < n; j++) column[j] = (int)j;
  double scale = 0.0;
  for (size_t k = 0; k < m * n; k++) scale = fabs(A[k]) > scale ? fabs(A[k]) : scale;
  size_t rank = 0;
  int want_late = 0;
  while (rank < m && rank < n) {
    const pivot best = largest(n, A, rank, m, row, column, late, want_late);
    if (!(best.size > tolerance * scale)) {
      if (want_late || !late) break;
      want_late = 1;
      continue;
    }
    swap(&row[rank], &row[best.i]);
    swap(&column[rank], &column[best.j]);
    const double *top = A + (size_t)row[rank] * n;
    const double inverse = 1.0 / top[column[rank]];
    for (size_t i = rank + 1; i < m; i++) {
      double *below = A + (size_t)row[i] * n;
      const double factor = below[column[rank]] * inverse;
      if (factor == 0.0) continue;
      for (size_t j = rank; j < n; j++) below[column[j]] -= factor * top[column[j]];
    }
    rank++;
  }
  /* what is left without a pivot, in ascending order */
  for (size_t i = rank + 1; i < n; i++)
    for (size_t j = i; j > rank && column[j] < column[j - 1]; j--) swap(&column[j], &column[j - 1]);
  return rank;
}
