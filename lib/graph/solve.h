/* SPDX-License-Identifier: MIT */
/* Linear equations of expressions. Elimination needs an order, and pivots that are not small: both are chosen once, at
 * numbers that are typical, and what runs later only looks whether the pivots are still of that kind. */
#ifndef BRAMAH_LIB_GRAPH_SOLVE_H
#define BRAMAH_LIB_GRAPH_SOLVE_H

#include "lib/graph/expr.h"

/* Most unknowns. */
enum { BRAMAH__MOST_UNKNOWNS = 96 };

/* L U = A of rows and columns in another order; what is always zero is no expression and costs nothing. */
typedef struct bramah__elimination {
  size_t n;
  size_t *row, *column; /* [n] of A, in the order of elimination */
  bramah__expr *LU;     /* [n x n] in that order; the diagonal holds 1 / pivot */
  double *pivot;        /* [n] at the typical numbers */
} bramah__elimination;

/* Factor A [n x n] of expressions, whose typical numbers are `typical` [n x n] and whose unknowns have typical sizes
 * `scale` [n]. Of the entries that are at least a tenth of the largest in their row the one is taken that spoils the
 * fewest zeros (Markowitz), of those on the diagonal as long as there are any. Returns 0 where the typical matrix
 * is singular, n is too large or memory fails; the caller frees. */
int bramah__eliminate_graph(size_t n, const bramah__expr *A, const double *typical, const double *scale,
                            bramah__elimination *out);
void bramah__elimination_free(bramah__elimination *e);

/* The same in the order, and with the entries, that another matrix has: 0 where this one needs more of them. */
int bramah__eliminate_like(const bramah__elimination *other, const bramah__expr *A, bramah__elimination *out);

/* s where column k of b [n x m] is s times column l, a number; 0: it is not. */
double bramah__column_ratio(size_t n, size_t m, const bramah__expr *b, size_t k, size_t l);

/* x [n x m] = A^-1 b [n x m]; x may be b. Columns that are numbers times others are solved once, as is what follows from a single
 * entry that several have; zeros cost nothing. */
void bramah__back_substitute(const bramah__elimination *e, size_t m, const bramah__expr *b, bramah__expr *x);

#endif
