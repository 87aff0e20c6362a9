/* SPDX-License-Identifier: MIT */
#include "lib/graph/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An entry may be a pivot from this part of the largest in its row on. */
static const double large_enough = 0.1;

/* While it is being eliminated: rows and columns stay where they are in A. */
typedef struct work {
  size_t n;
  bramah__expr *A;
  double *number;                        /* [n x n] typical, scaled so that entries of a row compare */
  unsigned char *row_done, *column_done; /* [n] */
} work;

static size_t count_row(const work *w, size_t r)
{
  size_t count = 0;
  for (size_t k = 0; k < w->n; k++) count += !w->column_done[k] && !e_is(w->A[r * w->n + k], 0.0);
  return count;
}

static size_t count_column(const work *w, size_t k)
{
  size_t count = 0;
  for (size_t r = 0; r < w->n; r++) count += !w->row_done[r] && !e_is(w->A[r * w->n + k], 0.0);
  return count;
}

/* The next pivot; 0 if there is none. */
static int choose(const work *w, size_t *row, size_t *column)
{
  const size_t n = w->n;
  size_t least = (size_t)-1;
  double best = 0.0;
  for (size_t r = 0; r < n; r++) {
    double largest = 0.0;
    if (w->row_done[r]) continue;
    for (size_t k = 0; k < n; k++)
      if (!w->column_done[k]) largest = fmax(largest, fabs(w->number[r * n + k]));
    for (size_t k = 0; k < n; k++) {
      const double size = fabs(w->number[r * n + k]);
      if (w->column_done[k] || size == 0.0 || !(size >= large_enough * largest)) continue;
      const size_t cost = (count_row(w, r) - 1) * (count_column(w, k) - 1);
      if (cost > least || (cost == least && size / largest <= best)) continue;
      least = cost, best = size / largest;
      *row = r, *column = k;
    }
  }
  return best > 0.0;
}

int bramah__eliminate_graph(size_t n, const bramah__expr *A, const double *typical, const double *scale,
                            bramah__elimination *out)
{
  *out = (bramah__elimination){.n = n,
                               .row = calloc(n + 1, sizeof *out->row),
                               .column = calloc(n + 1, sizeof *out->column),
                               .LU = calloc(n * n + 1, sizeof *out->LU),
                               .pivot = calloc(n + 1, sizeof *out->pivot)};
  work w = {n, malloc((n * n + 1) * sizeof *w.A), malloc((n * n + 1) * sizeof *w.number), calloc(n + 1, 1),
            calloc(n + 1, 1)};
  int fine = n <= BRAMAH__MOST_UNKNOWNS && out->row && out->column && out->LU && out->pivot && w.A &&
             w.number && w.row_done && w.column_done;
  for (size_t i = 0; fine && i < n * n; i++) {
    w.A[i] = A[i];
    w.number[i] = typical[i] * scale[i % n];
  }
  for (size_t step = 0; fine && step < n; step++) {
    size_t p = 0, q = 0;
    fine = choose(&w, &p, &q);
    if (!fine) break;
    out->row[step] = p;
    out->column[step] = q;
    out->pivot[step] = w.number[p * n + q] / scale[q];
    const bramah__expr per_pivot = w.A[p * n + q] = e_inv(w.A[p * n + q]);
    w.row_done[p] = w.column_done[q] = 1;
    for (size_t r = 0; r < n; r++) {
      if (w.row_done[r] || e_is(w.A[r * n + q], 0.0)) continue;
      const bramah__expr l = w.A[r * n + q] = e_mul(w.A[r * n + q], per_pivot);
      const double ln = w.number[r * n + q] / w.number[p * n + q];
      for (size_t k = 0; k < n; k++) {
        if (w.column_done[k]) continue;
        w.A[r * n + k] = e_sub(w.A[r * n + k], e_mul(l, w.A[p * n + k]));
        w.number[r * n + k] -= ln * w.number[p * n + k];
      }
    }
  }
  for (size_t r = 0; fine && r < n; r++)
    for (size_t k = 0; k < n; k++) out->LU[r * n + k] = w.A[out->row[r] * n + out->column[k]];
  free(w.A);
  free(w.number);
  free(w.row_done);
  free(w.column_done);
  return fine;
}

void bramah__elimination_free(bramah__elimination *e)
{
  free(e->row);
  free(e->column);
  free(e->LU);
  free(e->pivot);
  *e = (bramah__elimination){0};
}

void bramah__back_substitute(const bramah__elimination *e, size_t m, const bramah__expr *b, bramah__expr *x)
{
  const size_t n = e->n;
  bramah__expr y[BRAMAH__MOST_UNKNOWNS];
  for (size_t k = 0; k < m; k++) {
    for (size_t r = 0; r < n; r++) {
      y[r] = b[e->row[r] * m + k];
      for (size_t l = 0; l < r; l++) y[r] = e_sub(y[r], e_mul(e->LU[r * n + l], y[l]));
    }
    for (size_t r = n; r-- > 0;) {
      for (size_t l = r + 1; l < n; l++) y[r] = e_sub(y[r], e_mul(e->LU[r * n + l], y[l]));
      y[r] = e_mul(y[r], e->LU[r * n + r]);
    }
    for (size_t r = 0; r < n; r++) x[e->column[r] * m + k] = y[r];
  }
}
