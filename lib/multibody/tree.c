/* SPDX-License-Identifier: MIT */
#include "lib/multibody/tree.h"
#include "lib/math/vector3.h"
#include "lib/multibody/rotation.h"
#include "lib/math/elementary.h"

#include <math.h>

static const double zero6[6] = {0, 0, 0, 0, 0, 0};

/* Rotation about a unit axis (Rodrigues). */
static void axis_rotation(const double *a, double angle, double *R)
{
  double s, c;
  bramah__sincos_any(angle, &s, &c);
  const double k = 1.0 - c;
  R[0] = c + k * a[0] * a[0];
  R[1] = k * a[0] * a[1] - s * a[2];
  R[2] = k * a[0] * a[2] + s * a[1];
  R[3] = k * a[1] * a[0] + s * a[2];
  R[4] = c + k * a[1] * a[1];
  R[5] = k * a[1] * a[2] - s * a[0];
  R[6] = k * a[2] * a[0] - s * a[1];
  R[7] = k * a[2] * a[1] + s * a[0];
  R[8] = c + k * a[2] * a[2];
}

void bramah__tree_pose(const bramah__tree *tree, const double *base, const double *z, bramah__pose *pose)
{
  static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  for (size_t j = 0; j < tree->n; j++) {
    const bramah__link *link = &tree->link[j];
    const bramah__pose *parent = link->parent < 0 ? NULL : &pose[link->parent];
    bramah__pose *own = &pose[j];
    double A[9], R[9], turned[9], AJ[9];

    /* Joint frame: axes to inertial axes, and origin. */
    const double *Ap = parent ? parent->A : identity;
    if (link->turned)
      bramah__multiply3(Ap, link->rotation, A);
    else
      for (int k = 0; k < 9; k++) A[k] = Ap[k];
    bramah__rotate3(Ap, link->position, own->r);
    if (parent) bramah__axpy3(1.0, parent->r, own->r);

    /* A base rotation turns the joint axes; none leaves their bits alone. */
    const double *q = link->ball && base ? base + 4 * (link->ball - 1) : NULL;
    if (q && !bramah__quaternion_is_identity(q)) {
      bramah__quaternion_matrix(q, R);
      bramah__multiply3(A, R, turned);
      for (int k = 0; k < 9; k++) A[k] = turned[k];
    }

    /* The joint turns or slides. */
    bramah__rotate3(A, link->axis, own->n);
    if (link->revolute) {
      axis_rotation(link->axis, z[j], R);
      bramah__multiply3(A, R, own->A);
      bramah__cross3(own->r, own->n, own->b);
      bramah__copy3(own->n, own->b + 3);
    } else {
      for (int k = 0; k < 9; k++) own->A[k] = A[k];
      bramah__axpy3(z[j], own->n, own->r);
      bramah__copy3(own->n, own->b);
      own->b[3] = own->b[4] = own->b[5] = 0.0;
    }

    /* Centre of mass, and inertia about it. */
    bramah__rotate3(own->A, link->centre, own->g);
    bramah__axpy3(1.0, own->r, own->g);
    for (int k = 0; k < 9; k++) own->J[k] = 0.0;
    if (link->inertia[0] == 0.0 && link->inertia[4] == 0.0 && link->inertia[8] == 0.0) continue;
    bramah__multiply3(own->A, link->inertia, AJ);
    for (int i = 0; i < 3; i++)
      for (int k = 0; k < 3; k++)
        own->J[3 * i + k] =
            AJ[3 * i] * own->A[3 * k] + AJ[3 * i + 1] * own->A[3 * k + 1] + AJ[3 * i + 2] * own->A[3 * k + 2];
  }
}

void bramah__tree_velocity(const bramah__tree *tree, const bramah__pose *pose, const double *zd, double *Z)
{
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    const double *Zp = p < 0 ? zero6 : Z + 6 * p;
    for (int k = 0; k < 6; k++) Z[6 * j + (size_t)k] = Zp[k] + pose[j].b[k] * zd[j];
  }
}

void bramah__tree_acceleration(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                               const double *zd, const double *zdd, double *Zd)
{
  for (size_t j = 0; j < tree->n; j++) {
    const int p = tree->link[j].parent;
    const double *Zp = p < 0 ? zero6 : Z + 6 * p, *Zdp = p < 0 ? zero6 : Zd + 6 * p;
    const double *n = pose[j].n, *r = pose[j].r, rate = zd[j];

    /* d = b' z', the acceleration that the turning of the joint axis adds. */
    double d[6], nd[3]; /* n' = w_parent x n */
    bramah__cross3(Zp + 3, n, nd);
    if (tree->link[j].revolute) {
      double rd[3], lever[3]; /* velocity of the joint origin; (r x n)' */
      bramah__cross3(Zp + 3, r, rd);
      bramah__axpy3(1.0, Zp, rd);
      bramah__cross3(rd, n, lever);
      bramah__add_cross3(r, nd, lever);
      for (int k = 0; k < 3; k++) d[k] = lever[k] * rate, d[3 + k] = nd[k] * rate;
    } else {
      for (int k = 0; k < 3; k++) d[k] = nd[k] * rate, d[3 + k] = 0.0;
    }
    const double a = zdd ? zdd[j] : 0.0;
    for (int k = 0; k < 6; k++) Zd[6 * j + (size_t)k] = Zdp[k] + d[k] + pose[j].b[k] * a;
  }
}

void bramah__tree_force(const bramah__tree *tree, const bramah__pose *pose, const double *Z, const double *Zd,
                        double *W, double *tau)
{
  /* force and moment about the origin that move each body so */
  for (size_t j = 0; j < tree->n; j++) {
    const double *g = pose[j].g, *v = Z + 6 * j, *w = v + 3, *vd = Zd + 6 * j, *wd = vd + 3;
    double *force = W + 6 * j, *moment = force + 3, gd[3], a[3], Jw[3];
    bramah__cross3(w, g, gd);
    bramah__axpy3(1.0, v, gd); /* velocity of the centre of mass */
    bramah__sub3(vd, tree->gravity, a);
    bramah__add_cross3(wd, g, a);
    bramah__add_cross3(w, gd, a);
    for (int k = 0; k < 3; k++) force[k] = tree->link[j].mass * a[k];
    bramah__rotate3(pose[j].J, wd, moment);
    bramah__rotate3(pose[j].J, w, Jw);
    bramah__add_cross3(w, Jw, moment);
    bramah__add_cross3(g, force, moment);
  }

  /* and of each subtree, as its joint feels it */
  for (size_t j = tree->n; j-- > 0;) {
    const double *b = pose[j].b, *w = W + 6 * j;
    tau[j] = bramah__dot3(b, w) + bramah__dot3(b + 3, w + 3);
    const int p = tree->link[j].parent;
    if (p >= 0)
      for (int k = 0; k < 6; k++) W[6 * p + k] += w[k];
  }
}

void bramah__composite_of_body(const bramah__link *link, const bramah__pose *pose, bramah__composite *c)
{
  const double m = link->mass, *g = pose->g;
  c->m = m;
  for (int k = 0; k < 3; k++) c->mg[k] = m * g[k];
  const double gg = bramah__dot3(g, g);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      c->J[3 * i + j] = pose->J[3 * i + j] + m * ((i == j ? gg : 0.0) - g[i] * g[j]);
}

void bramah__composite_add(const bramah__composite *from, bramah__composite *to)
{
  to->m += from->m;
  bramah__axpy3(1.0, from->mg, to->mg);
  for (int k = 0; k < 9; k++) to->J[k] += from->J[k];
}

/* Momentum of the composite body moving with b. */
void bramah__composite_momentum(const bramah__composite *c, const double *b, double *w)
{
  bramah__cross3(b + 3, c->mg, w);
  bramah__axpy3(c->m, b, w);
  bramah__rotate3(c->J, b + 3, w + 3);
  bramah__add_cross3(c->mg, b, w + 3);
}

void bramah__tree_mass(const bramah__tree *tree, const bramah__pose *pose, bramah__composite *composite,
                       double *M)
{
  const size_t n = tree->n;
  for (size_t j = 0; j < n; j++) bramah__composite_of_body(&tree->link[j], &pose[j], &composite[j]);
  for (size_t k = 0; k < n * n; k++) M[k] = 0.0;
  for (size_t j = n; j-- > 0;) {
    double w[6];
    bramah__composite_momentum(&composite[j], pose[j].b, w);
    for (int i = (int)j; i >= 0; i = tree->link[i].parent) {
      const double *b = pose[i].b;
      M[(size_t)i * n + j] = M[j * n + (size_t)i] = bramah__dot3(b, w) + bramah__dot3(b + 3, w + 3);
    }
    if (tree->link[j].parent >= 0) bramah__composite_add(&composite[j], &composite[tree->link[j].parent]);
  }
}

double bramah__tree_kinetic(const bramah__tree *tree, const bramah__pose *pose, const double *Z)
{
  double energy = 0.0;
  for (size_t j = 0; j < tree->n; j++) {
    double gd[3], Jw[3];
    const double *w = Z + 6 * j + 3;
    bramah__cross3(w, pose[j].g, gd);
    bramah__axpy3(1.0, Z + 6 * j, gd);
    bramah__rotate3(pose[j].J, w, Jw);
    energy += 0.5 * (tree->link[j].mass * bramah__dot3(gd, gd) + bramah__dot3(w, Jw));
  }
  return energy;
}

double bramah__tree_potential(const bramah__tree *tree, const bramah__pose *pose)
{
  double energy = 0.0;
  for (size_t j = 0; j < tree->n; j++) energy -= tree->link[j].mass * bramah__dot3(tree->gravity, pose[j].g);
  return energy;
}

void bramah__point(const bramah__pose *pose, int body, const double *local, double *out)
{
  if (body < 0) {
    bramah__copy3(local, out);
    return;
  }
  bramah__rotate3(pose[body].A, local, out);
  bramah__axpy3(1.0, pose[body].r, out);
}

void bramah__point_velocity(const double *Z, int body, const double *place, double *out)
{
  if (body < 0) {
    out[0] = out[1] = out[2] = 0.0;
    return;
  }
  bramah__cross3(Z + 6 * body + 3, place, out);
  bramah__axpy3(1.0, Z + 6 * body, out);
}

void bramah__direction(const bramah__pose *pose, int body, const double *local, double *out)
{
  if (body < 0)
    bramah__copy3(local, out);
  else
    bramah__rotate3(pose[body].A, local, out);
}

void bramah__point_derivative(const bramah__tree *tree, const bramah__pose *pose, size_t j,
                              const double *place, double *out)
{
  if (!tree->link[j].revolute) {
    bramah__copy3(pose[j].n, out);
    return;
  }
  bramah__cross3(pose[j].b + 3, place, out);
  bramah__axpy3(1.0, pose[j].b, out);
}

void bramah__velocity_derivative(const bramah__tree *tree, const bramah__pose *pose, const double *Z,
                                 size_t j, const double *place, const double *v, const double *move,
                                 double *out)
{
  /* What joint j moves (its own motion included) is felt at the displaced place, what moves behind it turns with it. */
  bramah__cross3(Z + 6 * j + 3, move, out);
  if (tree->link[j].revolute) {
    double carried[3], behind[3];
    bramah__point_velocity(Z, (int)j, place, carried);
    bramah__sub3(v, carried, behind);
    bramah__add_cross3(pose[j].n, behind, out);
  }
}
