/* SPDX-License-Identifier: MIT */
#include "lib/multibody/closure.h"

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

int bramah__common_carrier(const bramah__tree *tree, int a, int b)
{
  while (a != b) /* bodies come behind those that carry them */
    if (a > b)
      a = tree->link[a].parent;
    else
      b = tree->link[b].parent;
  return a;
}

/* In whose axes the offset is held: a mechanism on a body that turns keeps the rows that determine it. -1: the ground. */
static int base_of(const bramah__loop *loop)
{
  return loop->hold == BRAMAH__HOLD_LINE ? loop->body[0] : loop->carrier;
}

/* Whether it is held along inertial axes. */
static int is_inertial(const bramah__loop *loop)
{
  return loop->hold == BRAMAH__HOLD_POINT && loop->carrier < 0;
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
    if (is_inertial(loop)) {
      bramah__sub3(place[0], place[1], rows);
    } else if (loop->hold == BRAMAH__HOLD_DISTANCE) {
      rows[0] = 0.5 * (bramah__dot3(d, d) / loop->distance - loop->distance);
    } else {
      for (int k = 0; k < (int)loop->hold; k++) {
        bramah__direction(pose, base_of(loop), loop->normal[k], e);
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

/* A row that changes by sign c . w as body turns with w. */
static void add_turn(const bramah__tree *tree, const bramah__pose *pose, int body, double sign,
                     const double *c, double *row)
{
  for (int j = body; j >= 0; j = tree->link[j].parent)
    if (tree->link[j].revolute) row[j] += sign * bramah__dot3(pose[j].n, c);
}

void bramah__closure_jacobian(const bramah__tree *tree, size_t n_loops, const bramah__loop *loop,
                              const bramah__pose *pose, double *Phi_z)
{
  const size_t n = tree->n;
  for (size_t i = 0; i < n_loops; i++, loop++) {
    const size_t n_hold = (size_t)loop->hold;
    double *rows = Phi_z + loop->row * n, place[2][3], d[3];
    memset(rows, 0, bramah__loop_rows(loop) * n * sizeof *rows);
    offset(loop, pose, place, d);

    /* The weight w of the offset in each row that holds it, and how w turns. */
    double w[3][3] = {{0}};
    if (loop->hold == BRAMAH__HOLD_DISTANCE) bramah__axpy3(1.0 / loop->distance, d, w[0]);
    for (size_t k = 0; loop->hold != BRAMAH__HOLD_DISTANCE && !is_inertial(loop) && k < n_hold; k++) {
      double turn[3];
      bramah__direction(pose, base_of(loop), loop->normal[k], w[k]);
      if (loop->hold == BRAMAH__HOLD_POINT) continue; /* what moves the carrier does not move this */
      bramah__cross3(w[k], d, turn);
      add_turn(tree, pose, loop->body[0], 1.0, turn, rows + k * n);
    }

    /* How the two points move, along w or along the inertial axes. */
    const int coincide = is_inertial(loop), end = loop->hold == BRAMAH__HOLD_POINT ? loop->carrier : -1;
    for (int e = 0; e < 2; e++) {
      const double sign = (e == 0) == coincide ? 1.0 : -1.0;
      for (int j = loop->body[e]; j != end; j = tree->link[j].parent) {
        double move[3];
        bramah__point_derivative(tree, pose, (size_t)j, place[e], move);
        for (size_t k = 0; k < n_hold; k++)
          rows[k * n + (size_t)j] += sign * (coincide ? move[k] : bramah__dot3(w[k], move));
      }
    }

    /* Directions perpendicular to each other. */
    rows += n_hold * n;
    for (size_t k = 0; k < loop->n_directions; k++, rows += n) {
      double u[3], v[3], normal[3];
      bramah__direction(pose, loop->body[0], loop->u[k], u);
      bramah__direction(pose, loop->body[1], loop->v[k], v);
      bramah__cross3(u, v, normal);
      add_turn(tree, pose, loop->body[0], 1.0, normal, rows);
      add_turn(tree, pose, loop->body[1], -1.0, normal, rows);
    }
  }
}

/* Second derivatives by time of the rows that hold the offset. */
static void hold_bias(const bramah__loop *loop, const bramah__pose *pose, const double *Z, const double *Zd,
                      double *gamma)
{
  double place[2][3], d[3], v[2][3], a[2][3] = {{0}}, rate[3], acceleration[3];
  offset(loop, pose, place, d);
  for (int k = 0; k < 2; k++) {
    const int body = loop->body[k];
    bramah__point_velocity(Z, body, place[k], v[k]);
    if (body < 0) continue;
    bramah__copy3(Zd + 6 * body, a[k]);
    bramah__add_cross3(Zd + 6 * body + 3, place[k], a[k]);
    bramah__add_cross3(Z + 6 * body + 3, v[k], a[k]);
  }
  bramah__sub3(v[1], v[0], rate);
  bramah__sub3(a[1], a[0], acceleration);

  if (is_inertial(loop))
    bramah__sub3(a[0], a[1], gamma);
  else if (loop->hold == BRAMAH__HOLD_DISTANCE)
    gamma[0] = (bramah__dot3(rate, rate) + bramah__dot3(d, acceleration)) / loop->distance;
  else
    for (int k = 0; k < (int)loop->hold; k++) {
      /* (d . e)'' with e fixed on a body that moves with Z, Zd: d''.e + 2 d'.e' + d.e''. */
      const int base = base_of(loop);
      const double *w = (base < 0 ? zero6 : Z + 6 * base) + 3, *wd = (base < 0 ? zero6 : Zd + 6 * base) + 3;
      double e[3], e_rate[3], e_acceleration[3];
      bramah__direction(pose, base, loop->normal[k], e);
      bramah__cross3(w, e, e_rate);
      bramah__cross3(wd, e, e_acceleration);
      bramah__add_cross3(w, e_rate, e_acceleration);
      gamma[k] =
          bramah__dot3(acceleration, e) + 2.0 * bramah__dot3(rate, e_rate) + bramah__dot3(d, e_acceleration);
    }
}

void bramah__closure_bias(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, double *gamma)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    double *rows = gamma + loop->row;
    hold_bias(loop, pose, Z, Zd, rows);
    rows += loop->hold;

    /* (u . v)'' with u on body a and v on body b. */
    const int a = loop->body[0], b = loop->body[1];
    const double *wa = (a < 0 ? zero6 : Z + 6 * a) + 3, *wda = (a < 0 ? zero6 : Zd + 6 * a) + 3,
                 *wb = (b < 0 ? zero6 : Z + 6 * b) + 3, *wdb = (b < 0 ? zero6 : Zd + 6 * b) + 3;
    for (size_t k = 0; k < loop->n_directions; k++) {
      double u[3], v[3], w[3], wd[3], u_rate[3], v_rate[3], c[3], c_rate[3];
      bramah__direction(pose, a, loop->u[k], u);
      bramah__direction(pose, b, loop->v[k], v);
      bramah__cross3(u, v, c);
      bramah__sub3(wa, wb, w);
      bramah__sub3(wda, wdb, wd);
      bramah__cross3(wa, u, u_rate);
      bramah__cross3(wb, v, v_rate);
      bramah__cross3(u_rate, v, c_rate);
      bramah__add_cross3(u, v_rate, c_rate);
      rows[k] = bramah__dot3(wd, c) + bramah__dot3(w, c_rate);
    }
  }
}

/* ---- geometric stiffness ---- */

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

/* What the rows that hold the offset add. */
static void add_hold(const bramah__tree *tree, const bramah__loop *loop, const bramah__pose *pose,
                     const double *mu, double *K)
{
  double place[2][3], d[3];
  offset(loop, pose, place, d);
  const bramah__mark end[2] = {{loop->body[0], 0, place[0]}, {loop->body[1], 0, place[1]}};
  if (is_inertial(loop)) {
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
    for (int k = 0; k < (int)loop->hold; k++) {
      double normal[3];
      const bramah__mark line = {base_of(loop), 1, normal};
      bramah__direction(pose, base_of(loop), loop->normal[k], normal);
      bramah__add_curvature(tree, pose, &line, d, mu[k], K);
      for (int e = 0; e < 2; e++) {
        const double s = e ? mu[k] : -mu[k];
        bramah__add_curvature(tree, pose, &end[e], normal, s, K);
        bramah__add_products(tree, pose, &end[e], &line, s, K);
        bramah__add_products(tree, pose, &line, &end[e], s, K);
      }
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
      bramah__add_curvature(tree, pose, &a, v, rows[k], K);
      bramah__add_curvature(tree, pose, &b, u, rows[k], K);
      bramah__add_products(tree, pose, &a, &b, rows[k], K);
      bramah__add_products(tree, pose, &b, &a, rows[k], K);
    }
  }
}

/* ---- variation ---- */

/* A vector with its first and second derivative by time, and how each changes. */
typedef struct jet {
  double x[3][3], change[3][3];
} jet;

/* Motion of one body of a loop. */
typedef struct body_motion {
  const double *Z, *Zd, *pi, *pid, *pidd; /* NULL: the ground */
} body_motion;

static body_motion motion_of(int body, const double *Z, const double *Zd, const bramah__variation *v)
{
  if (body < 0) return (body_motion){NULL, NULL, NULL, NULL, NULL};
  const size_t i = 6 * (size_t)body;
  return (body_motion){Z + i, Zd + i, v->pi + i, v->pid + i, v->pidd + i};
}

/* x'[1], x'[2] of something fixed to the body that turns, and the changes; the translation is added by the
 * caller. */
static void turn(const body_motion *m, jet *out)
{
  bramah__add_cross3(m->Z + 3, out->x[0], out->x[1]);
  bramah__add_cross3(m->Zd + 3, out->x[0], out->x[2]);
  bramah__add_cross3(m->Z + 3, out->x[1], out->x[2]);
  bramah__add_cross3(m->pi + 3, out->x[0], out->change[0]);
  bramah__add_cross3(m->pid + 3, out->x[0], out->change[1]);
  bramah__add_cross3(m->pi + 3, out->x[1], out->change[1]);
  bramah__add_cross3(m->pidd + 3, out->x[0], out->change[2]);
  bramah__add_cross3(m->pid + 3, out->x[1], out->change[2]);
  bramah__add_cross3(m->pid + 3, out->x[1], out->change[2]);
  bramah__add_cross3(m->pi + 3, out->x[2], out->change[2]);
}

static jet direction_jet(const bramah__pose *pose, int body, const double *local, const body_motion *m)
{
  jet out = {{{0}}, {{0}}};
  bramah__direction(pose, body, local, out.x[0]);
  if (m->Z) turn(m, &out);
  return out;
}

static jet point_jet(const bramah__pose *pose, int body, const double *local, const body_motion *m)
{
  jet out = {{{0}}, {{0}}};
  bramah__point(pose, body, local, out.x[0]);
  if (!m->Z) return out;
  bramah__copy3(m->Z, out.x[1]);
  bramah__copy3(m->Zd, out.x[2]);
  bramah__copy3(m->pi, out.change[0]);
  bramah__copy3(m->pid, out.change[1]);
  bramah__copy3(m->pidd, out.change[2]);
  turn(m, &out);
  return out;
}

/* Change of (a . b)''. */
static double vary_product(const jet *a, const jet *b)
{
  double sum = 0.0;
  for (int k = 0; k < 3; k++)
    sum += (k == 1 ? 2.0 : 1.0) *
           (bramah__dot3(a->change[k], b->x[2 - k]) + bramah__dot3(a->x[k], b->change[2 - k]));
  return sum;
}

void bramah__vary_closure(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, const bramah__variation *variation, const unsigned char *used,
                          double *Phidd)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    const body_motion m[2] = {motion_of(loop->body[0], Z, Zd, variation),
                              motion_of(loop->body[1], Z, Zd, variation)};
    double *rows = Phidd + loop->row;

    /* The offset. */
    const jet from = point_jet(pose, loop->body[0], loop->point[0], &m[0]);
    const jet to = point_jet(pose, loop->body[1], loop->point[1], &m[1]);
    jet d;
    for (int k = 0; k < 3; k++) {
      bramah__sub3(to.x[k], from.x[k], d.x[k]);
      bramah__sub3(to.change[k], from.change[k], d.change[k]);
    }
    if (is_inertial(loop))
      for (int k = 0; k < 3; k++) rows[k] = -d.change[2][k];
    else if (loop->hold == BRAMAH__HOLD_DISTANCE)
      rows[0] = 0.5 * vary_product(&d, &d) / loop->distance;
    else
      for (int k = 0; k < (int)loop->hold; k++) {
        const body_motion base = motion_of(base_of(loop), Z, Zd, variation);
        const jet e = direction_jet(pose, base_of(loop), loop->normal[k], &base);
        rows[k] = vary_product(&d, &e);
      }

    /* Directions. */
    rows += loop->hold;
    for (size_t k = 0; k < loop->n_directions; k++) {
      if (used && !used[loop->row + loop->hold + k]) continue;
      const jet u = direction_jet(pose, loop->body[0], loop->u[k], &m[0]);
      const jet v = direction_jet(pose, loop->body[1], loop->v[k], &m[1]);
      rows[k] = vary_product(&u, &v);
    }
  }
}
