/* SPDX-License-Identifier: MIT */
#include "lib/multibody/variation.h"
#include "lib/math/vector3.h"

#include <string.h>

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

static void vary_hold(const bramah__loop *loop, const bramah__pose *pose, const body_motion m[2],
                      double *rows)
{
  const jet from = point_jet(pose, loop->body[0], loop->point[0], &m[0]);
  const jet to = point_jet(pose, loop->body[1], loop->point[1], &m[1]);
  jet d;
  for (int k = 0; k < 3; k++) {
    bramah__sub3(to.x[k], from.x[k], d.x[k]);
    bramah__sub3(to.change[k], from.change[k], d.change[k]);
  }
  if (loop->hold == BRAMAH__HOLD_POINT) {
    for (int k = 0; k < 3; k++) rows[k] = -d.change[2][k];
  } else if (loop->hold == BRAMAH__HOLD_DISTANCE) {
    rows[0] = 0.5 * vary_product(&d, &d) / loop->distance;
  } else {
    for (int k = 0; k < 2; k++) {
      const jet e = direction_jet(pose, loop->body[0], loop->normal[k], &m[0]);
      rows[k] = vary_product(&d, &e);
    }
  }
}

void bramah__vary_closure(size_t n_loops, const bramah__loop *loop, const bramah__pose *pose, const double *Z,
                          const double *Zd, const bramah__variation *variation, const unsigned char *used,
                          double *Phidd)
{
  for (size_t i = 0; i < n_loops; i++, loop++) {
    const body_motion m[2] = {motion_of(loop->body[0], Z, Zd, variation),
                              motion_of(loop->body[1], Z, Zd, variation)};
    double *rows = Phidd + loop->row;
    vary_hold(loop, pose, m, rows);
    rows += loop->hold;
    for (size_t k = 0; k < loop->n_directions; k++) {
      if (used && !used[loop->row + loop->hold + k]) continue;
      const jet u = direction_jet(pose, loop->body[0], loop->u[k], &m[0]);
      const jet v = direction_jet(pose, loop->body[1], loop->v[k], &m[1]);
      rows[k] = vary_product(&u, &v);
    }
  }
}
