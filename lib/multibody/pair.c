/* SPDX-License-Identifier: MIT */
/* Balls and points of one body on a plane that another body carries: forces on both, and derivatives.
 *
 * With r the radius of the ball (0: a point), n the normal and P = centre - r n: joint j moves the material of either body at
 * P by a_j and b_j and turns it by s_j and t_j (0 where it does not move that body). The plane turns with its body, so P
 * moves along the one body by r (s_j - t_j) x n and along the other by a_j - b_j + r (s_j - t_j) x n.
 *
 * Round shapes, and edges that round ones touch, have cores, of which the places A and B are nearest: d = A - B stands across both, n = d/|d|,
 * and P = A - r n. With u and v the directions of the cores, of length 1 or 0 at their ends, A moves along its core by ds u and
 * B by dt v so that d.u = d.v = 0 stays; dn = (1 - n n') dd/|d|. The first axis is p/|p|, p = f - (f.n) n, with f fixed to the base:
 * the axes turn by n x dn + n (df.y - (f.n)(dn.y))/|p|. */
#include "lib/multibody/closure.h"
#include "lib/multibody/contact.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

static const double none[3] = {0.0, 0.0, 0.0};

static int next_below(const bramah__tree *tree, int body, int j)
{
  while (body >= j) body = tree->link[body].parent;
  return body;
}

int bramah__contact_joint(const bramah__tree *tree, const bramah__contact *contact, int j)
{
  if (contact->clutch) {
    int next = -1;
    for (size_t a = 0; a < contact->clutch->n_joints; a++) {
      const int joint = (int)contact->clutch->joint[a];
      if (joint < j && joint > next) next = joint;
    }
    return next;
  }
  if (contact->carrier == 0) return j < (int)tree->n ? tree->link[j].parent : contact->body;
  const int one = next_below(tree, contact->body, j), other = next_below(tree, bramah__base_of(contact), j);
  return one > other ? one : other;
}

void bramah__pair_velocity(const bramah__contact *contact, const double *Z, const double *place, double *v)
{
  double of_base[3];
  bramah__point_velocity(Z, contact->body, place, v);
  if (contact->carrier == 0) return;
  bramah__point_velocity(Z, bramah__base_of(contact), place, of_base);
  bramah__axpy3(-1.0, of_base, v);
}

/* ---- nearest places ---- */

typedef struct cores {
  double a[3], b[3], u[3], v[3], d[3], gap, f[3], rest; /* rest: |p| */
  double cosine, sine2;                                 /* u.v, 1 - (u.v)^2 */
} cores;

static const double least_gap = 1e-12; /* m, below which the line has no direction */

static cores cores_of(const bramah__contact *contact, const bramah__pose *pose)
{
  cores c;
  const int base = bramah__base_of(contact);
  bramah__point(pose, contact->body, contact->point, c.a);
  bramah__point(pose, base, contact->origin, c.b);
  bramah__direction(pose, base, contact->axes, c.f);
  bramah__direction(pose, contact->body, contact->axes + 3, c.u);
  bramah__direction(pose, base, contact->axes + 6, c.v);
  bramah__sub3(c.a, c.b, c.d);
  const double du = bramah__dot3(c.d, c.u), dv = bramah__dot3(c.d, c.v);
  c.cosine = bramah__dot3(c.u, c.v);
  c.sine2 = 1.0 - c.cosine * c.cosine;
  bramah__axpy3((c.cosine * dv - du) / c.sine2, c.u, c.a);
  bramah__axpy3((dv - c.cosine * du) / c.sine2, c.v, c.b);
  bramah__sub3(c.a, c.b, c.d);
  c.gap = fmax(sqrt(bramah__dot3(c.d, c.d)), least_gap);
  return c;
}

static void place_nearest(const bramah__contact *contact, cores *c, bramah__contact_frame *touch)
{
  double *x = touch->own, *y = x + 3, *n = x + 6;
  for (int k = 0; k < 3; k++) n[k] = c->d[k] / c->gap;
  bramah__copy3(c->f, x);
  bramah__axpy3(-bramah__dot3(c->f, n), n, x);
  c->rest = sqrt(bramah__dot3(x, x));
  for (int k = 0; k < 3; k++) x[k] /= c->rest;
  bramah__cross3(n, x, y);
  touch->axes = touch->own;
  touch->height = c->gap - contact->radius - contact->base_radius - contact->ground;
  bramah__copy3(c->a, touch->place);
  bramah__axpy3(-contact->radius, n, touch->place);
}

void bramah__nearest_place(const bramah__contact *contact, const bramah__pose *pose,
                           bramah__contact_frame *touch)
{
  cores c = cores_of(contact, pose);
  place_nearest(contact, &c, touch);
}

/* ---- places ---- */

void bramah__pair_place(const bramah__contact *contact, const bramah__pose *pose, double *place)
{
  double n[3];
  if (contact->is_nearest) {
    bramah__contact_frame touch;
    bramah__nearest_place(contact, pose, &touch);
    bramah__copy3(touch.place, place);
    return;
  }
  bramah__direction(pose, bramah__base_of(contact), contact->axes + 6, n);
  bramah__point(pose, contact->body, contact->point, place);
  bramah__axpy3(-contact->radius, n, place);
}

static int moves(const bramah__tree *tree, int j, int body)
{
  while (body > j) body = tree->link[body].parent;
  return body == j;
}

/* How joint j moves the material of `body` at a place, and turns it. */
static void follow(const bramah__tree *tree, const bramah__pose *pose, int j, int body, const double *place,
                   double *move, double *turn)
{
  bramah__copy3(none, move);
  bramah__copy3(none, turn);
  if (!moves(tree, j, body)) return;
  bramah__point_derivative(tree, pose, (size_t)j, place, move);
  if (tree->link[j].revolute) bramah__copy3(pose[j].n, turn);
}

typedef struct motion {
  double a[3], s[3], b[3], t[3];
  double apart[3];    /* a - b */
  double along[2][3]; /* how P moves along the one body and the other */
  double axes[3];     /* how the axes turn */
} motion;

/* How axes and place follow, of a nearest one. */
static void move_nearest(const bramah__contact *contact, const bramah__contact_frame *at, const cores *c,
                         motion *m)
{
  const double *n = at->axes + 6, *y = at->axes + 3;
  double arm[2][3], on[2][3], dd[3], du[3], dv[3], df[3], dn[3], place[3];
  bramah__sub3(c->a, at->place, arm[0]);
  bramah__sub3(c->b, at->place, arm[1]);
  for (int e = 0; e < 2; e++) {
    bramah__copy3(e ? m->b : m->a, on[e]);
    bramah__add_cross3(e ? m->t : m->s, arm[e], on[e]);
  }
  bramah__sub3(on[0], on[1], dd);
  bramah__cross3(m->s, c->u, du);
  bramah__cross3(m->t, c->v, dv);
  bramah__cross3(m->t, c->f, df);
  const double along_u = -bramah__dot3(dd, c->u) - bramah__dot3(c->d, du),
               along_v = -bramah__dot3(dd, c->v) - bramah__dot3(c->d, dv),
               ds = (along_u - c->cosine * along_v) / c->sine2,
               dt = (c->cosine * along_u - along_v) / c->sine2;
  bramah__axpy3(ds, c->u, dd);
  bramah__axpy3(-dt, c->v, dd);
  const double off = bramah__dot3(n, dd);
  for (int k = 0; k < 3; k++) dn[k] = (dd[k] - off * n[k]) / c->gap;
  bramah__cross3(n, dn, m->axes);
  bramah__axpy3((bramah__dot3(df, y) - bramah__dot3(c->f, n) * bramah__dot3(dn, y)) / c->rest, n, m->axes);
  bramah__copy3(on[0], place);
  bramah__axpy3(ds, c->u, place);
  bramah__axpy3(-contact->radius, dn, place);
  bramah__sub3(place, m->a, m->along[0]);
  bramah__sub3(place, m->b, m->along[1]);
}

static motion motion_by(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                        const bramah__contact_frame *at, int j)
{
  motion m;
  double turn[3], arm[3] = {0.0, 0.0, 0.0};
  follow(tree, pose, j, contact->body, at->place, m.a, m.s);
  follow(tree, pose, j, bramah__base_of(contact), at->place, m.b, m.t);
  bramah__sub3(m.a, m.b, m.apart);
  if (contact->is_nearest) {
    bramah__contact_frame here = *at;
    cores c = cores_of(contact, pose);
    place_nearest(contact, &c, &here);
    move_nearest(contact, &here, &c, &m);
    return m;
  }
  bramah__copy3(m.t, m.axes);
  bramah__sub3(m.s, m.t, turn);
  bramah__axpy3(contact->radius, at->axes + 6, arm);
  bramah__cross3(turn, arm, m.along[0]);
  bramah__copy3(m.apart, m.along[1]);
  bramah__axpy3(1.0, m.along[0], m.along[1]);
  return m;
}

void bramah__pair_subtract(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                           const double *place, const double *force, double *tau)
{
  for (int e = 0; e < 2; e++)
    for (int j = e ? bramah__base_of(contact) : contact->body; j >= 0; j = tree->link[j].parent) {
      double move[3];
      bramah__point_derivative(tree, pose, (size_t)j, place, move);
      tau[j] -= (e ? -1.0 : 1.0) * bramah__dot3(move, force);
    }
}

/* Change of the velocity of a body's material at P by joint j at held rates, where P moves along the body. */
static void velocity_change(const bramah__tree *tree, const bramah__pose *pose, const double *Z, int j,
                            int body, const double *place, const double *move, const double *along,
                            double *out)
{
  double v[3];
  bramah__copy3(none, out);
  if (body < 0) return;
  bramah__point_velocity(Z, body, place, v);
  if (moves(tree, j, body)) bramah__velocity_derivative(tree, pose, Z, (size_t)j, place, v, move, out);
  bramah__add_cross3(Z + 6 * body + 3, along, out);
}

void bramah__pair_rows(const bramah__tree *tree, const bramah__contact *contact, const bramah__pose *pose,
                       const double *Z, const bramah__contact_frame *at, double *rows)
{
  const size_t n = tree->n;
  double v[3];
  bramah__pair_velocity(contact, Z, at->place, v);
  for (int j = (int)n; (j = bramah__contact_joint(tree, contact, j)) >= 0;) {
    const motion m = motion_by(tree, contact, pose, at, j);
    double g[3], h[3], change[3], of_base[3], turned[3];
    velocity_change(tree, pose, Z, j, contact->body, at->place, m.a, m.along[0], change);
    velocity_change(tree, pose, Z, j, bramah__base_of(contact), at->place, m.b, m.along[1], of_base);
    bramah__cross3(m.axes, v, turned); /* by which the axes turn away */
    bramah__axpy3(-1.0, of_base, change);
    bramah__axpy3(-1.0, turned, change);
    bramah__rotate3(at->axes, m.apart, g);
    bramah__rotate3(at->axes, change, h);
    for (size_t k = 0; k < 3; k++) {
      rows[k * n + (size_t)j] = g[k];
      rows[(4 + k) * n + (size_t)j] = h[k];
    }
    rows[3 * n + (size_t)j] = rows[7 * n + (size_t)j] = 0.0;
  }
}

void bramah__pair_add_tangent(const bramah__tree *tree, const bramah__contact *contact,
                              const bramah__pose *pose, const double *Z, const bramah__contact_frame *at,
                              const double *force, const bramah__contact_slope *slope, double *rows,
                              double *K, double *C)
{
  const size_t n = tree->n;
  const double *G = rows, *H = rows + 4 * n;
  bramah__add_curvature(tree, pose, &(bramah__mark){contact->body, 0, at->place}, force, -1.0, K);
  bramah__add_curvature(tree, pose, &(bramah__mark){bramah__base_of(contact), 0, at->place}, force, 1.0, K);
  bramah__pair_rows(tree, contact, pose, Z, at, rows);
  for (int k = (int)n; (k = bramah__contact_joint(tree, contact, k)) >= 0;) {
    const motion by = motion_by(tree, contact, pose, at, k);
    double by_z[3], by_zd[3], over[3], turned[3], moment[2][3];
    for (size_t a = 0; a < 3; a++) {
      const double *w = slope->by_velocity + 3 * a, *g = G + k, *h = H + k;
      by_zd[a] = w[0] * g[0] + w[1] * g[n] + w[2] * g[2 * n];
      by_z[a] = slope->by_height[a] * g[2 * n] + w[0] * h[0] + w[1] * h[n] + w[2] * h[2 * n];
    }
    bramah__cross3(by.axes, force, over); /* the force turns with the plane, and acts elsewhere */
    bramah__rotate3(at->axes, over, turned);
    for (size_t a = 0; a < 3; a++) by_z[a] += turned[a];
    for (int e = 0; e < 2; e++) bramah__cross3(by.along[e], force, moment[e]);
    for (int j = (int)n; (j = bramah__contact_joint(tree, contact, j)) >= 0;) {
      const double *g = G + j;
      const size_t jk = (size_t)j * n + (size_t)k;
      K[jk] -= g[0] * by_z[0] + g[n] * by_z[1] + g[2 * n] * by_z[2];
      if (tree->link[j].revolute && moves(tree, j, contact->body))
        K[jk] -= bramah__dot3(pose[j].n, moment[0]);
      if (tree->link[j].revolute && moves(tree, j, bramah__base_of(contact)))
        K[jk] += bramah__dot3(pose[j].n, moment[1]);
      C[jk] -= g[0] * by_zd[0] + g[n] * by_zd[1] + g[2 * n] * by_zd[2];
    }
  }
}
