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

/* The next pivot; 0 if there is none. One on the diagonal where there is a choice: there mass and compliance stand, which
 * are positive, and what begins to act later, a contact or a stop, adds to them; elsewhere it may take away. */
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
      size_t cost = (count_row(w, r) - 1) * (count_column(w, k) - 1);
      if (r != k) cost += n * n;
      if (cost > least || (cost == least && size / largest <= best)) continue;
      least = cost, best = size / largest;
      *row = r, *column = k;
    }
  }
  return best > 0.0;
}

/* Take the entry of row p and column q out of all other rows. */
static void eliminate(work *w, size_t p, size_t q)
{
  const size_t n = w->n;
  const bramah__expr per_pivot = w->A[p * n + q] = e_inv(w->A[p * n + q]);
  w->row_done[p] = w->column_done[q] = 1;
  for (size_t r = 0; r < n; r++) {
    if (w->row_done[r] || e_is(w->A[r * n + q], 0.0)) continue;
    const bramah__expr l = w->A[r * n + q] = e_mul(w->A[r * n + q], per_pivot);
    const double ln = w->number ? w->number[r * n + q] / w->number[p * n + q] : 0.0;
    for (size_t k = 0; k < n; k++) {
      if (w->column_done[k] || e_is(w->A[p * n + k], 0.0)) continue;
      w->A[r * n + k] = e_sub(w->A[r * n + k], e_mul(l, w->A[p * n + k]));
      if (w->number) w->number[r * n + k] -= ln * w->number[p * n + k];
    }
  }
}

/* Memory for both; 0 where there is none. */
static int begin(size_t n, const bramah__expr *A, int with_numbers, work *w, bramah__elimination *out)
{
  *out = (bramah__elimination){.n = n,
                               .row = calloc(n + 1, sizeof *out->row),
                               .column = calloc(n + 1, sizeof *out->column),
                               .LU = calloc(n * n + 1, sizeof *out->LU),
                               .pivot = calloc(n + 1, sizeof *out->pivot)};
  *w = (work){n, malloc((n * n + 1) * sizeof *w->A),
              with_numbers ? malloc((n * n + 1) * sizeof *w->number) : NULL, calloc(n + 1, 1),
              calloc(n + 1, 1)};
  const int fine = n <= BRAMAH__MOST_UNKNOWNS && out->row && out->column && out->LU && out->pivot && w->A &&
                   (w->number || !with_numbers) && w->row_done && w->column_done;
  for (size_t i = 0; fine && i < n * n; i++) w->A[i] = A[i];
  return fine;
}

static void end(work *w, int fine, bramah__elimination *out)
{
  const size_t n = w->n;
  for (size_t r = 0; fine && r < n; r++)
    for (size_t k = 0; k < n; k++) out->LU[r * n + k] = w->A[out->row[r] * n + out->column[k]];
  free(w->A);
  free(w->number);
  free(w->row_done);
  free(w->column_done);
}

int bramah__eliminate_graph(size_t n, const bramah__expr *A, const double *typical, const double *scale,
                            bramah__elimination *out)
{
  work w;
  int fine = begin(n, A, 1, &w, out);
  for (size_t i = 0; fine && i < n * n; i++) w.number[i] = typical[i] * scale[i % n];
  for (size_t step = 0; fine && step < n; step++) {
    size_t p = 0, q = 0;
    fine = choose(&w, &p, &q);
    if (!fine) break;
    out->row[step] = p;
    out->column[step] = q;
    out->pivot[step] = w.number[p * n + q] / scale[q];
    eliminate(&w, p, q);
  }
  end(&w, fine, out);
  return fine;
}

int bramah__eliminate_like(const bramah__elimination *other, const bramah__expr *A, bramah__elimination *out)
{
  const size_t n = other->n;
  work w;
  int fine = begin(n, A, 0, &w, out);
  for (size_t step = 0; fine && step < n; step++) {
    const size_t p = out->row[step] = other->row[step], q = out->column[step] = other->column[step];
    out->pivot[step] = other->pivot[step];
    fine = !e_is(w.A[p * n + q], 0.0);
    if (fine) eliminate(&w, p, q);
  }
  end(&w, fine, out);
  for (size_t i = 0; fine && i < n * n; i++) /* where the other one has a number this one has the same */
    fine = !e_is_number(other->LU[i]) || e_is(out->LU[i], other->LU[i].value);
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

/* ---- right sides ---- */

enum { MOST_SIDES = 128 };

/* Some of them while they are solved: y [n x m] in the order of elimination. */
typedef struct sides {
  const bramah__elimination *e;
  size_t m, count;
  bramah__expr *y;
  size_t like[MOST_SIDES]; /* column k is `times` this one, k: there is none */
  double times[MOST_SIDES];
  size_t lone[MOST_SIDES]; /* its last entry on the way down, behind which it is zero, ... */
  size_t tail[MOST_SIDES]; /* ... and the first of the zeros right before that */
} sides;

double bramah__column_ratio(size_t n, size_t m, const bramah__expr *b, size_t k, size_t l)
{
  double ratio = 0.0;
  for (size_t r = 0; r < n; r++) {
    bramah__expr x = b[r * m + k], z = b[r * m + l];
    if (e_is(x, 0.0) && e_is(z, 0.0)) continue;
    if (e_is(x, 0.0) || e_is(z, 0.0) || x.graph != z.graph) return 0.0;
    double s = e_is_number(x) ? x.value : bramah__expr_factor(&x);
    s /= e_is_number(z) ? z.value : bramah__expr_factor(&z);
    if ((x.graph && x.node != z.node) || (ratio != 0.0 && s != ratio)) return 0.0;
    ratio = s;
  }
  return ratio;
}

/* y = L^-1 y from step t on. Stops at the last entry that is not zero, and returns its place; n: goes through. */
static size_t go_down(const bramah__elimination *e, size_t t, int stops, bramah__expr *y)
{
  const size_t n = e->n;
  for (; t < n; t++) {
    if (e_is(y[t], 0.0)) continue;
    size_t next = t + 1;
    while (next < n && e_is(y[next], 0.0)) next++;
    if (stops && next == n) return t;
    for (size_t r = t + 1; r < n; r++)
      if (!e_is(e->LU[r * n + t], 0.0)) y[r] = e_sub(y[r], e_mul(e->LU[r * n + t], y[t]));
  }
  return n;
}

/* y = U^-1 y above step `end`, from where on it is solved. Rows marked are divided by their pivots first, which are then not
 * needed where y is zero. */
static void go_up(const bramah__elimination *e, size_t end, const unsigned char *divided, bramah__expr *y)
{
  const size_t n = e->n;
  for (size_t r = end; r-- > 0;) {
    const bramah__expr per_pivot = e->LU[r * n + r];
    if (divided[r]) y[r] = e_mul(y[r], per_pivot);
    for (size_t l = r + 1; l < n; l++) {
      const bramah__expr u = e->LU[r * n + l];
      if (e_is(u, 0.0) || e_is(y[l], 0.0)) continue;
      y[r] = e_sub(y[r], e_mul(divided[r] ? e_mul(u, per_pivot) : u, y[l]));
    }
    if (!divided[r]) y[r] = e_mul(y[r], per_pivot);
  }
}

static void get_column(const sides *s, size_t k, bramah__expr *y)
{
  for (size_t r = 0; r < s->e->n; r++) y[r] = s->y[r * s->m + k];
}

static void set_column(const sides *s, size_t k, const bramah__expr *y)
{
  for (size_t r = 0; r < s->e->n; r++) s->y[r * s->m + k] = y[r];
}

/* Down with all columns of their own, as far as they have entries. */
static void reduce_sides(sides *s, const bramah__expr *b)
{
  const size_t n = s->e->n, m = s->m;
  bramah__expr y[BRAMAH__MOST_UNKNOWNS];
  for (size_t k = 0; k < s->count; k++) {
    s->like[k] = k;
    for (size_t l = 0; l < k && s->like[k] == k; l++) {
      s->times[k] = s->like[l] == l ? bramah__column_ratio(n, m, b, k, l) : 0.0;
      if (s->times[k] != 0.0) s->like[k] = l;
    }
  }
  for (size_t k = 0; k < s->count; k++) {
    for (size_t r = 0; r < n; r++) y[r] = b[s->e->row[r] * m + k];
    s->lone[k] = s->like[k] == k ? go_down(s->e, 0, 1, y) : n;
    s->tail[k] = s->lone[k];
    while (s->tail[k] > 0 && s->tail[k] < n && e_is(y[s->tail[k] - 1], 0.0)) s->tail[k]--;
    set_column(s, k, y);
  }
}

/* A unit tail is worth its products from so many rows and columns on. */
enum { LONG_TAIL = 3, MANY = 2 };

/* Columns whose rest is one entry, of step q: what it leads to is solved once. */
static void solve_tails(sides *s, size_t q, const unsigned char *divided)
{
  const size_t n = s->e->n;
  bramah__expr unit[BRAMAH__MOST_UNKNOWNS] = {{0}}, y[BRAMAH__MOST_UNKNOWNS];
  static const unsigned char whole[BRAMAH__MOST_UNKNOWNS];
  size_t many = 0;
  for (size_t k = 0; k < s->count; k++) many += s->lone[k] == q && n - s->tail[k] >= LONG_TAIL;
  if (many < MANY) return;
  unit[q] = e_number(1.0);
  go_down(s->e, q, 0, unit);
  go_up(s->e, n, whole, unit);
  for (size_t k = 0; k < s->count; k++) {
    if (s->lone[k] != q || n - s->tail[k] < LONG_TAIL) continue;
    get_column(s, k, y);
    const bramah__expr size = y[q];
    for (size_t r = s->tail[k]; r < n; r++) y[r] = e_mul(size, unit[r]);
    go_up(s->e, s->tail[k], divided, y);
    set_column(s, k, y);
    s->lone[k] = n;
  }
}

/* Which rows have more columns without an entry on the way down than entries of their own? */
static void choose_divided(const sides *s, unsigned char *divided)
{
  const size_t n = s->e->n;
  for (size_t r = 0; r < n; r++) {
    size_t without = 0, entries = 0;
    for (size_t k = 0; k < s->count; k++)
      without += s->like[k] == k && r < s->lone[k] && e_is(s->y[r * s->m + k], 0.0);
    for (size_t l = r + 1; l < n; l++) entries += !e_is(s->e->LU[r * n + l], 0.0);
    divided[r] = without > entries;
  }
}

static void solve_sides(sides *s)
{
  const size_t n = s->e->n;
  unsigned char divided[BRAMAH__MOST_UNKNOWNS];
  bramah__expr y[BRAMAH__MOST_UNKNOWNS];
  choose_divided(s, divided);
  for (size_t q = 0; q < n; q++) solve_tails(s, q, divided);
  for (size_t k = 0; k < s->count; k++) {
    get_column(s, k, y);
    if (s->like[k] == k && s->lone[k] < n) {
      go_down(s->e, s->lone[k], 0, y);
      go_up(s->e, n, divided, y);
    }
    for (size_t r = 0; r < n; r++)
      s->y[s->e->column[r] * s->m + k] =
          s->like[k] == k ? y[r] : e_scale(s->times[k], s->y[s->e->column[r] * s->m + s->like[k]]);
  }
}

void bramah__back_substitute(const bramah__elimination *e, size_t m, const bramah__expr *b, bramah__expr *x)
{
  for (size_t first = 0; first < m; first += MOST_SIDES) {
    sides s = {.e = e, .m = m, .count = m - first < MOST_SIDES ? m - first : MOST_SIDES, .y = x + first};
    reduce_sides(&s, b + first);
    solve_sides(&s);
  }
}
