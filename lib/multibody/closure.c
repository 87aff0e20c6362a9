/* SPDX-License-Identifier: MIT */
#include "lib/multibody/closure.h"
#include "lib/math/vector3.h"

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

static void hold_residual(const bramah__loop *loop, const bramah__pose *pose, double *Phi)
{
  double place[2][3], d[3], e[3];
  offset(loop, pose, place, d);
  if (loop->hold == BRAMAH__HOLD_POINT) {
    bramah__sub3(place[0], place[1], Phi);
  } else if (loop->hold == BRAMAH__HOLD_DISTANCE) {
    Phi[0] = 0.5 * (bramah__dot3(d, d) / loop->distance - loop->distance);
  } else {
    for (int k = 0; k < 2; k++) {
      bramah__direction(pose, loop->body[0], loop->normal[k], e);
      Phi[k] = bramah__dot3(d, e);
    }
  }
}

void bramah__closure_residual(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, double *Phi)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    double *rows = Phi + loop->row, u[3], v[3];
    hold_residual(loop, pose, rows);
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
