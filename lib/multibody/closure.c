/* SPDX-License-Identifier: MIT */
#include "lib/multibody/closure.h"
#include "lib/math/vector3.h"
#include "lib/multibody/stiffness.h"

#include <math.h>
#include <string.h>

static const double zero6[6] = {0, 0, 0, 0, 0, 0};

void bramah__loop_normals(const double *axis, double normal[2][3])
{
  /* Start from the coordinate direction that is farthest from the axis. */
  int least = 0;
  for (int k = 1; k < 3; k++)
    if (fabs(axis[k]) < fabs(axis[least])) least = k;
  double seed[3] = {0, 0, 0};
  seed[least] = 1.0;
  bramah__cross3(axis, seed, normal[0]);
  const double length = sqrt(bramah__dot3(normal[0], normal[0]));
  for (int k = 0; k < 3; k++) normal[0][k] /= length;
  bramah__cross3(axis, normal[0], normal[1]);
}

/* Places of the two points, and the offset d from point 0 to point 1. */
static void offset(const bramah__loop *loop, const bramah__pose *pose, double place[2][3], double *d)
{
  for (int e = 0; e < 2; e++) bramah__point(pose, loop->body[e], loop->point[e], place[e]);
  bramah__sub3(place[1], place[0], d);
}

void bramah__closure_residual(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, double *Phi)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    double *rows = Phi + loop->row, u[3], v[3];
    double place[2][3], d[3], e[3];
    offset(loop, pose, place, d);
    if (loop->hold == BRAMAH__HOLD_POINT) {
      bramah__sub3(place[0], place[1], rows);
    } else if (loop->hold == BRAMAH__HOLD_DISTANCE) {
      rows[0] = 0.5 * (bramah__dot3(d, d) / loop->distance - loop->distance);
    } else {
      for (int k = 0; k < 2; k++) {
        bramah__direction(pose, loop->body[0], loop->normal[k], e);
        rows[k] = bramah__dot3(d, e);
      }
    }
    rows += loop->hold;
    for (size_t k = 0; k < loop->n_directions; k++) {
      bramah__direction(pose, loop->body[0], loop->u[k], u);
      bramah__direction(pose, loop->body[1], loop->v[k], v);
      rows[k] = bramah__dot3(u, v);
    }
  }
}

/* Rows r' = sum over the ends of w_k . (motion of the end's point), with w [rows x 3] the weight of the
 * offset. */
static void add_point_columns(const bramah__tree *tree, const bramah__pose *pose, int body,
                              const double *place, double sign, size_t n_rows, double w[3][3], double *rows)
{
  const size_t n = tree->n;
  for (int j = body; j >= 0; j = tree->link[j].parent) {
    double d[3];
    bramah__point_derivative(tree, pose, (size_t)j, place, d);
    for (size_t k = 0; k < n_rows; k++) rows[k * n + (size_t)j] += sign * bramah__dot3(w[k], d);
  }
}

/* The same with the inertial axes for weights. */
static void add_coincidence(const bramah__tree *tree, const bramah__pose *pose, int body, const double *place,
                            double sign, double *rows)
{
  const size_t n = tree->n;
  for (int j = body; j >= 0; j = tree->link[j].parent) {
    double d[3];
    bramah__point_derivative(tree, pose, (size_t)j, place, d);
    for (size_t k = 0; k < 3; k++) rows[k * n + (size_t)j] += sign * d[k];
  }
}

/* A row that changes by sign c . w as body turns with w. */
static void add_turn(const bramah__tree *tree, const bramah__pose *pose, int body, double sign,
                     const double *c, double *row)
{
  for (int j = body; j >= 0; j = tree->link[j].parent)
    if (tree->link[j].revolute) row[j] += sign * bramah__dot3(pose[j].n, c);
}

static void hold_jacobian(const bramah__tree *tree, const bramah__loop *loop, const bramah__pose *pose,
                          double *rows)
{
  double place[2][3], d[3], w[3][3] = {{0}};
  offset(loop, pose, place, d);
  if (loop->hold == BRAMAH__HOLD_POINT) {
    add_coincidence(tree, pose, loop->body[0], place[0], 1.0, rows);
    add_coincidence(tree, pose, loop->body[1], place[1], -1.0, rows);
    return;
  }
  if (loop->hold == BRAMAH__HOLD_DISTANCE)
    bramah__axpy3(1.0 / loop->distance, d, w[0]);
  else
    for (size_t k = 0; k < 2; k++) {
      double turn[3];
      bramah__direction(pose, loop->body[0], loop->normal[k], w[k]);
      bramah__cross3(w[k], d, turn);
      add_turn(tree, pose, loop->body[0], 1.0, turn, rows + k * tree->n);
    }
  for (int e = 0; e < 2; e++)
    add_point_columns(tree, pose, loop->body[e], place[e], e ? 1.0 : -1.0, (size_t)loop->hold, w, rows);
}

void bramah__closure_jacobian(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                              const bramah__pose *pose, double *Phi_z)
{
  const size_t n = tree->n;
  for (size_t i = 0; i < n_loops; i++, loop++) {
    double *rows = Phi_z + loop->row * n, u[3], v[3], c[3];
    memset(rows, 0, bramah__loop_rows(loop) * n * sizeof *rows);
    hold_jacobian(tree, loop, pose, rows);
    rows += (size_t)loop->hold * n;
    for (size_t k = 0; k < loop->n_directions; k++, rows += n) {
      bramah__direction(pose, loop->body[0], loop->u[k], u);
      bramah__direction(pose, loop->body[1], loop->v[k], v);
      bramah__cross3(u, v, c);
      add_turn(tree, pose, loop->body[0], 1.0, c, rows);
      add_turn(tree, pose, loop->body[1], -1.0, c, rows);
    }
  }
}

/* Acceleration of a point of a body. */
static void point_acceleration(const double *Z, const double *Zd, int body, const double *place, double *out)
{
  out[0] = out[1] = out[2] = 0.0;
  if (body < 0) return;
  double v[3];
  bramah__point_velocity(Z, body, place, v);
  bramah__copy3(Zd + 6 * body, out);
  bramah__add_cross3(Zd + 6 * body + 3, place, out);
  bramah__add_cross3(Z + 6 * body + 3, v, out);
}

/* (d . e)'' with e fixed on a body that moves with Z, Zd: d''.e + 2 d'.e' + d.e''. */
static double line_bias(const double *Z, const double *Zd, const double *e, const double *d,
                        const double *d_rate, const double *d_acceleration)
{
  double e_rate[3], e_acceleration[3];
  bramah__cross3(Z + 3, e, e_rate);
  bramah__cross3(Zd + 3, e, e_acceleration);
  bramah__add_cross3(Z + 3, e_rate, e_acceleration);
  return bramah__dot3(d_acceleration, e) + 2.0 * bramah__dot3(d_rate, e_rate) +
         bramah__dot3(d, e_acceleration);
}

static void hold_bias(const bramah__loop *loop, const bramah__pose *pose, const double *Z, const double *Zd,
                      double *gamma)
{
  double place[2][3], d[3], v[2][3], a[2][3], rate[3], acceleration[3], e[3];
  offset(loop, pose, place, d);
  for (int k = 0; k < 2; k++) {
    bramah__point_velocity(Z, loop->body[k], place[k], v[k]);
    point_acceleration(Z, Zd, loop->body[k], place[k], a[k]);
  }
  bramah__sub3(v[1], v[0], rate);
  bramah__sub3(a[1], a[0], acceleration);
  const int base = loop->body[0];
  if (loop->hold == BRAMAH__HOLD_POINT)
    bramah__sub3(a[0], a[1], gamma);
  else if (loop->hold == BRAMAH__HOLD_DISTANCE)
    gamma[0] = (bramah__dot3(rate, rate) + bramah__dot3(d, acceleration)) / loop->distance;
  else
    for (int k = 0; k < 2; k++) {
      bramah__direction(pose, base, loop->normal[k], e);
      gamma[k] = line_bias(base < 0 ? zero6 : Z + 6 * base, base < 0 ? zero6 : Zd + 6 * base, e, d, rate,
                           acceleration);
    }
}

/* (u . v)'' with u on body a and v on body b. */
static double direction_bias(const double *Za, const double *Zda, const double *Zb, const double *Zdb,
                             const double *u, const double *v)
{
  double w[3], wd[3], u_rate[3], v_rate[3], c[3], c_rate[3];
  bramah__cross3(u, v, c);
  bramah__sub3(Za + 3, Zb + 3, w);
  bramah__sub3(Zda + 3, Zdb + 3, wd);
  bramah__cross3(Za + 3, u, u_rate);
  bramah__cross3(Zb + 3, v, v_rate);
  bramah__cross3(u_rate, v, c_rate);
  bramah__add_cross3(u, v_rate, c_rate);
  return bramah__dot3(wd, c) + bramah__dot3(w, c_rate);
}

void bramah__closure_bias(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, double *gamma)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    double *rows = gamma + loop->row, u[3], v[3];
    hold_bias(loop, pose, Z, Zd, rows);
    rows += loop->hold;
    const int a = loop->body[0], b = loop->body[1];
    for (size_t k = 0; k < loop->n_directions; k++) {
      bramah__direction(pose, a, loop->u[k], u);
      bramah__direction(pose, b, loop->v[k], v);
      rows[k] = direction_bias(a < 0 ? zero6 : Z + 6 * a, a < 0 ? zero6 : Zd + 6 * a,
                               b < 0 ? zero6 : Z + 6 * b, b < 0 ? zero6 : Zd + 6 * b, u, v);
    }
  }
}

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

/* d . e with e a direction on body 0 */
static void add_line(const bramah__tree *tree, const bramah__pose *pose, const bramah__mark end[2],
                     const bramah__mark *line, const double *d, double s, double *K)
{
  bramah__add_curvature(tree, pose, line, d, s, K);
  for (int e = 0; e < 2; e++) {
    const double sign = e ? s : -s;
    bramah__add_curvature(tree, pose, &end[e], line->x, sign, K);
    bramah__add_products(tree, pose, &end[e], line, sign, K);
    bramah__add_products(tree, pose, line, &end[e], sign, K);
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
    /* (d . d) / 2L with d = x1 - x0 */
    double s = mu[0] / loop->distance;
    for (int e = 0; e < 2; e++) {
      bramah__add_curvature(tree, pose, &end[e], d, e ? s : -s, K);
      bramah__add_products(tree, pose, &end[e], &end[e], s, K);
      bramah__add_products(tree, pose, &end[e], &end[1 - e], -s, K);
    }
  } else {
    for (int k = 0; k < 2; k++) {
      double normal[3];
      const bramah__mark line = {loop->body[0], 1, normal};
      bramah__direction(pose, loop->body[0], loop->normal[k], normal);
      add_line(tree, pose, end, &line, d, mu[k], K);
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
      const bramah__mark a = {loop->body[0], 1, u}, b = {loop->body[1], 1, v};
      add_product_curvature(tree, pose, &a, &b, rows[k], K);
    }
  }
}
