/* SPDX-License-Identifier: MIT */
#include "lib/multibody/closure.h"
#include "lib/linalg/vector3.h"

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

void bramah__closure_residual(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, double *Phi)
{
  for (size_t i = 0; i < n_loops; i++, loop++, Phi += BRAMAH__LOOP_ROWS) {
    double a[3], b[3], axis[3], t[3];
    bramah__point(pose, loop->body[0], loop->point[0], a);
    bramah__point(pose, loop->body[1], loop->point[1], b);
    bramah__sub3(a, b, Phi);
    bramah__direction(pose, loop->body[0], loop->axis, axis);
    for (int k = 0; k < 2; k++) {
      bramah__direction(pose, loop->body[1], loop->normal[k], t);
      Phi[3 + k] = bramah__dot3(axis, t);
    }
  }
}

/* Columns of one end of a loop; sign +1 for body 0, -1 for body 1. c[k] = axis x normal k. */
static void add_columns(const bramah__tree *tree, const bramah__pose *pose, int body, const double *place,
                        double sign, double c[2][3], double *rows)
{
  const size_t n = tree->n;
  for (int j = body; j >= 0; j = tree->link[j].parent) {
    double d[3];
    bramah__point_derivative(tree, pose, (size_t)j, place, d);
    for (size_t k = 0; k < 3; k++) rows[k * n + (size_t)j] += sign * d[k];
    if (!tree->link[j].revolute) continue;
    for (size_t k = 0; k < 2; k++) rows[(3 + k) * n + (size_t)j] += sign * bramah__dot3(pose[j].n, c[k]);
  }
}

static void axis_products(const bramah__loop *loop, const bramah__pose *pose, double *axis, double t[2][3],
                          double c[2][3])
{
  bramah__direction(pose, loop->body[0], loop->axis, axis);
  for (int k = 0; k < 2; k++) {
    bramah__direction(pose, loop->body[1], loop->normal[k], t[k]);
    bramah__cross3(axis, t[k], c[k]);
  }
}

void bramah__closure_jacobian(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                              const bramah__pose *pose, double *Phi_z)
{
  const size_t n = tree->n;
  memset(Phi_z, 0, n_loops * BRAMAH__LOOP_ROWS * n * sizeof *Phi_z);
  for (size_t i = 0; i < n_loops; i++, loop++, Phi_z += BRAMAH__LOOP_ROWS * n) {
    double place[3], axis[3], t[2][3], c[2][3];
    axis_products(loop, pose, axis, t, c);
    bramah__point(pose, loop->body[0], loop->point[0], place);
    add_columns(tree, pose, loop->body[0], place, 1.0, c, Phi_z);
    bramah__point(pose, loop->body[1], loop->point[1], place);
    add_columns(tree, pose, loop->body[1], place, -1.0, c, Phi_z);
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

static void parallel_bias(const double *Za, const double *Zda, const double *Zb, const double *Zdb,
                          const double *axis, const double *t, const double *c, double *out)
{
  double w[3], wd[3], axis_rate[3], t_rate[3], c_rate[3];
  bramah__sub3(Za + 3, Zb + 3, w);
  bramah__sub3(Zda + 3, Zdb + 3, wd);
  bramah__cross3(Za + 3, axis, axis_rate);
  bramah__cross3(Zb + 3, t, t_rate);
  bramah__cross3(axis_rate, t, c_rate);
  bramah__add_cross3(axis, t_rate, c_rate);
  *out = bramah__dot3(wd, c) + bramah__dot3(w, c_rate);
}

void bramah__closure_bias(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, double *gamma)
{
  for (size_t i = 0; i < n_loops; i++, loop++, gamma += BRAMAH__LOOP_ROWS) {
    double place[3], aa[3], ab[3], axis[3], t[2][3], c[2][3];
    bramah__point(pose, loop->body[0], loop->point[0], place);
    point_acceleration(Z, Zd, loop->body[0], place, aa);
    bramah__point(pose, loop->body[1], loop->point[1], place);
    point_acceleration(Z, Zd, loop->body[1], place, ab);
    bramah__sub3(aa, ab, gamma);
    axis_products(loop, pose, axis, t, c);
    const int a = loop->body[0], b = loop->body[1];
    for (int k = 0; k < 2; k++)
      parallel_bias(a < 0 ? zero6 : Z + 6 * a, a < 0 ? zero6 : Zd + 6 * a, b < 0 ? zero6 : Z + 6 * b,
                    b < 0 ? zero6 : Zd + 6 * b, axis, t[k], c[k], gamma + 3 + k);
  }
}
