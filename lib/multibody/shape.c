/* SPDX-License-Identifier: MIT */
/* What a shape is made of. */
#include "lib/multibody/shape.h"
#include "lib/math/vector3.h"

#include <math.h>

/* Corners may be off a face by so much of the size of the shape. */
static const double flat = 1e-9;

/* ---- faces ---- */

static const double *corner(const bramah__shape *s, int i) { return s->corner + 3 * i; }

static int is_in_face(const bramah__shape *s, size_t face, int i)
{
  for (int k = s->first[face]; k < s->first[face + 1]; k++)
    if (s->of_face[k] == i) return 1;
  return 0;
}

/* The unit vector across (j - i) and (k - i); 0 if they are in a line. */
static int across(const bramah__shape *s, int i, int j, int k, double *n)
{
  double u[3], v[3];
  bramah__sub3(corner(s, j), corner(s, i), u);
  bramah__sub3(corner(s, k), corner(s, i), v);
  bramah__cross3(u, v, n);
  const double length = sqrt(bramah__dot3(n, n));
  if (!(length > flat * s->reach * s->reach)) return 0;
  for (int a = 0; a < 3; a++) n[a] /= length;
  return 1;
}

static double height(const bramah__shape *s, const double *n, int from, int i)
{
  double d[3];
  bramah__sub3(corner(s, i), corner(s, from), d);
  return bramah__dot3(n, d);
}

/* The corner that follows i round the face with the normal n: all others lie to its left, those in a line before it. */
static int follower(const bramah__shape *s, const double *n, int i)
{
  int best = -1;
  for (int k = 0; k < (int)s->n_corners; k++) {
    double u[3], v[3], c[3];
    if (k == i || fabs(height(s, n, i, k)) > flat * s->reach) continue;
    if (best < 0) {
      best = k;
      continue;
    }
    bramah__sub3(corner(s, best), corner(s, i), u);
    bramah__sub3(corner(s, k), corner(s, i), v);
    bramah__cross3(u, v, c);
    const double side = bramah__dot3(n, c), small = flat * s->reach * s->reach;
    if (side < -small || (side < small && bramah__dot3(v, v) > bramah__dot3(u, u))) best = k;
  }
  return best;
}

/* The face through three corners, if it is one that is not there yet: the corner at fault, or -1. */
static long add_face(bramah__shape *s, int i, int j, int k)
{
  double n[3];
  int below = 0, above = 0;
  if (!across(s, i, j, k, n)) return -1;
  for (int m = 0; m < (int)s->n_corners; m++) {
    const double h = height(s, n, i, m);
    below |= h < -flat * s->reach;
    above |= h > flat * s->reach;
  }
  if (below && above) return -1;
  for (int a = 0; above && a < 3; a++) n[a] = -n[a];
  for (size_t f = 0; f < s->n_faces; f++)
    if (bramah__dot3(n, s->normal + 3 * f) > 1.0 - 1e-6 &&
        fabs(height(s, n, i, s->of_face[s->first[f]])) <= flat * s->reach)
      return -1;
  if (s->n_faces + 1 >= (size_t)BRAMAH__FACES_OF(s->n_corners)) return i;

  int start = i; /* what is farthest from anywhere is a corner */
  double farthest = -1.0;
  for (int m = 0; m < (int)s->n_corners; m++) {
    double d[3];
    if (fabs(height(s, n, i, m)) > flat * s->reach) continue;
    bramah__sub3(corner(s, m), s->middle, d);
    if (bramah__dot3(d, d) > farthest) farthest = bramah__dot3(d, d), start = m;
  }
  int *first = s->first + s->n_faces, at = first[0], next = start;
  do {
    if (at - first[0] == BRAMAH__MOST_OF_FACE) return next;
    s->of_face[at++] = next;
    next = follower(s, n, next);
  } while (next != start && next >= 0);
  bramah__copy3(n, s->normal + 3 * s->n_faces);
  first[1] = at;
  s->n_faces++;
  return -1;
}

/* ---- edges ---- */

static void add_edge(bramah__shape *s, int i, int j)
{
  double d[3];
  s->edge[2 * s->n_edges] = i;
  s->edge[2 * s->n_edges + 1] = j;
  s->n_edges++;
  bramah__sub3(corner(s, j), corner(s, i), d);
  const double length = sqrt(bramah__dot3(d, d));
  for (int a = 0; a < 3; a++) d[a] /= length;
  for (size_t k = 0; k < s->n_directions; k++)
    if (fabs(bramah__dot3(d, s->direction + 3 * k)) > 1.0 - 1e-12) return;
  bramah__copy3(d, s->direction + 3 * s->n_directions++);
}

long bramah__shape_build(bramah__shape *s)
{
  const int n = (int)s->n_corners;
  s->n_faces = s->n_edges = s->n_directions = 0;
  for (int a = 0; a < 3; a++) {
    s->middle[a] = 0.0;
    for (int i = 0; i < n; i++) s->middle[a] += corner(s, i)[a] / n;
  }
  s->reach = 0.0;
  for (int i = 0; i < n; i++) {
    double d[3];
    bramah__sub3(corner(s, i), s->middle, d);
    s->reach = fmax(s->reach, sqrt(bramah__dot3(d, d)));
  }
  if (s->radius > 0.0) {
    if (n == 2) add_edge(s, 0, 1);
    s->reach += s->radius;
    return -1;
  }
  s->first[0] = 0;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++)
      for (int k = j + 1; k < n; k++) {
        const long fault = add_face(s, i, j, k);
        if (fault >= 0) return fault;
      }
  if (s->n_faces < 4) return -2;
  for (int i = 0; i < n; i++) {
    size_t faces = 0;
    for (size_t f = 0; f < s->n_faces; f++) faces += (size_t)is_in_face(s, f, i);
    if (faces < 3) return i;
  }
  for (size_t f = 0; f < s->n_faces; f++)
    for (int k = s->first[f]; k < s->first[f + 1]; k++) {
      const int i = s->of_face[k], j = s->of_face[k + 1 < s->first[f + 1] ? k + 1 : s->first[f]];
      if (i < j) add_edge(s, i, j); /* the other face has it the other way round */
    }
  return -1;
}

static size_t largest_face(const bramah__shape *s)
{
  int most = 0;
  for (size_t f = 0; f < s->n_faces; f++)
    if (s->first[f + 1] - s->first[f] > most) most = s->first[f + 1] - s->first[f];
  return (size_t)most;
}

size_t bramah__shape_touches(const bramah__shape *a, const bramah__shape *b)
{
  if (a->n_faces && b->n_faces) return largest_face(a) + largest_face(b);
  const size_t corners = a->n_corners < b->n_corners ? a->n_corners : b->n_corners;
  return corners < 2 ? 1 : 2;
}
