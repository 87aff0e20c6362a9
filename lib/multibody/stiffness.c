/* SPDX-License-Identifier: MIT */
#include "lib/multibody/stiffness.h"
#include "lib/math/vector3.h"

/* dx/dz_j */
static void derivative(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *mark, int j,
                       double *out)
{
  if (!mark->is_direction) {
    bramah__point_derivative(tree, pose, (size_t)j, mark->x, out);
    return;
  }
  out[0] = out[1] = out[2] = 0.0;
  if (tree->link[j].revolute) bramah__cross3(pose[j].n, mark->x, out);
}

/* A joint k in front of j turns dx/dz_j as a whole: (n_k x dx/dz_j) . y = n_k . (dx/dz_j x y). */
void bramah__add_curvature(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *mark,
                           const double *y, double s, double *K)
{
  const size_t n = tree->n;
  for (int j = mark->body; j >= 0; j = tree->link[j].parent) {
    double move[3], arm[3];
    derivative(tree, pose, mark, j, move);
    bramah__cross3(move, y, arm);
    for (int k = j; k >= 0; k = tree->link[k].parent) {
      if (!tree->link[k].revolute) continue;
      const double value = s * bramah__dot3(pose[k].n, arm);
      K[(size_t)j * n + (size_t)k] += value;
      if (k != j) K[(size_t)k * n + (size_t)j] += value;
    }
  }
}

void bramah__add_products(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *a,
                          const bramah__mark *b, double s, double *K)
{
  for (int j = a->body; j >= 0; j = tree->link[j].parent) {
    double move[3];
    derivative(tree, pose, a, j, move);
    for (int k = b->body; k >= 0; k = tree->link[k].parent) {
      double other[3];
      derivative(tree, pose, b, k, other);
      K[(size_t)j * tree->n + (size_t)k] += s * bramah__dot3(move, other);
    }
  }
}

/* K += s d^2 (a . b) / dz dz */
static void add_product_curvature(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark *a,
                                  const bramah__mark *b, double s, double *K)
{
  bramah__add_curvature(tree, pose, a, b->x, s, K);
  bramah__add_curvature(tree, pose, b, a->x, s, K);
  bramah__add_products(tree, pose, a, b, s, K);
  bramah__add_products(tree, pose, b, a, s, K);
}

/* (d . d) / 2L with d = x1 - x0 */
static void add_distance(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark end[2],
                         const double *d, double s, double *K)
{
  for (int e = 0; e < 2; e++) {
    bramah__add_curvature(tree, pose, &end[e], d, e ? s : -s, K);
    bramah__add_products(tree, pose, &end[e], &end[e], s, K);
    bramah__add_products(tree, pose, &end[e], &end[1 - e], -s, K);
  }
}

/* d . e with e a direction on body 0 */
static void add_line(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark end[2],
                     const bramah__mark *e, const double *d, double s, double *K)
{
  bramah__add_curvature(tree, pose, e, d, s, K);
  for (int g = 0; g < 2; g++) {
    const double sign = g ? s : -s;
    bramah__add_curvature(tree, pose, &end[g], e->x, sign, K);
    bramah__add_products(tree, pose, &end[g], e, sign, K);
    bramah__add_products(tree, pose, e, &end[g], sign, K);
  }
}

static void add_hold(const bramah__tree *tree, const bramah__loop *loop, const bramah__pose *pose,
                     const double *mu, double *K)
{
  double place[2][3], d[3];
  for (int e = 0; e < 2; e++) bramah__point(pose, loop->body[e], loop->point[e], place[e]);
  bramah__sub3(place[1], place[0], d);
  const bramah__mark end[2] = {{loop->body[0], 0, place[0]}, {loop->body[1], 0, place[1]}};
  if (loop->hold == BRAMAH__HOLD_POINT) {
    bramah__add_curvature(tree, pose, &end[0], mu, 1.0, K);
    bramah__add_curvature(tree, pose, &end[1], mu, -1.0, K);
  } else if (loop->hold == BRAMAH__HOLD_DISTANCE) {
    add_distance(tree, pose, end, d, mu[0] / loop->distance, K);
  } else {
    for (int k = 0; k < 2; k++) {
      double normal[3];
      bramah__direction(pose, loop->body[0], loop->normal[k], normal);
      add_line(tree, pose, end, &(bramah__mark){loop->body[0], 1, normal}, d, mu[k], K);
    }
  }
}

void bramah__closure_add_stiffness(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                                   const bramah__pose *pose, const double *mu, double *K)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    const double *rows = mu + loop->row;
    add_hold(tree, loop, pose, rows, K);
    rows += loop->hold;
    for (size_t k = 0; k < loop->n_directions; k++) {
      if (rows[k] == 0.0) continue;
      double u[3], v[3];
      bramah__direction(pose, loop->body[0], loop->u[k], u);
      bramah__direction(pose, loop->body[1], loop->v[k], v);
      add_product_curvature(tree, pose, &(bramah__mark){loop->body[0], 1, u},
                            &(bramah__mark){loop->body[1], 1, v}, rows[k], K);
    }
  }
}
