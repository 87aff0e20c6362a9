/* SPDX-License-Identifier: MIT */
#include "lib/linear/rolling.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* Where a wheel touches, or an edge cuts: place p, and the directions u in which velocities count. */
typedef struct contact {
  double centre[3], axis[3]; /* inertial axes */
  double down[3];            /* from the centre to the lowest point, unit length */
  double sine;               /* of the angle between axis and vertical */
  double p[3];
  double u[3][3];
} contact;

static void scale3(double s, double *v)
{
  for (int i = 0; i < 3; i++) v[i] *= s;
}

/* Across the plane, and two directions along it. */
static void plane_axes(const bramah_model *model, double u[3][3])
{
  const double *g = model->tree.gravity, size = sqrt(bramah__dot3(g, g));
  for (int i = 0; i < 3; i++) u[0][i] = size > 0.0 ? -g[i] / size : (i == 2);
  const int least = fabs(u[0][0]) <= fabs(u[0][1]) && fabs(u[0][0]) <= fabs(u[0][2]) ? 0
                    : fabs(u[0][1]) <= fabs(u[0][2])                                 ? 1
                                                                                     : 2;
  double e[3] = {0};
  e[least] = 1.0;
  bramah__cross3(u[0], e, u[1]);
  scale3(1.0 / sqrt(bramah__dot3(u[1], u[1])), u[1]);
  bramah__cross3(u[0], u[1], u[2]);
}

static void find_contact(const bramah_model *model, const bramah__pose *pose, const bramah__rolling *r,
                         contact *c)
{
  bramah__point(pose, r->body, r->point, c->centre);
  bramah__direction(pose, r->body, r->axis, c->axis);
  bramah__copy3(c->centre, c->p);
  if (!r->is_wheel) {
    bramah__copy3(c->axis, c->u[0]);
    return;
  }
  plane_axes(model, c->u);
  bramah__copy3(c->u[0], c->down); /* m = k - (k.a) a */
  bramah__axpy3(-bramah__dot3(c->u[0], c->axis), c->axis, c->down);
  c->sine = sqrt(bramah__dot3(c->down, c->down));
  scale3(-1.0 / fmax(c->sine, 1e-12), c->down);
  bramah__axpy3(r->radius, c->down, c->p);
}

size_t bramah__count_rolling_rows(const bramah_model *model)
{
  size_t rows = 0;
  for (size_t i = 0; i < model->n_rolling; i++) rows += bramah__rolling_rows(&model->rolling[i]);
  return rows;
}

double bramah__rolling_height(const bramah_model *model, const bramah__pose *pose,
                              const bramah__rolling *wheel)
{
  contact c;
  find_contact(model, pose, wheel, &c);
  return bramah__dot3(c.u[0], c.p);
}

void bramah__rolling_jacobian(const bramah_model *model, const bramah__pose *pose, double *B)
{
  const size_t n = model->n;
  memset(B, 0, bramah__count_rolling_rows(model) * n * sizeof *B);
  for (size_t i = 0; i < model->n_rolling; i++) {
    const bramah__rolling *r = &model->rolling[i];
    contact c;
    find_contact(model, pose, r, &c);
    for (int j = r->body; j >= 0; j = model->tree.link[j].parent) {
      double v[3];
      bramah__point_derivative(&model->tree, pose, (size_t)j, c.p, v);
      for (size_t k = 0; k < bramah__rolling_rows(r); k++) B[k * n + (size_t)j] = bramah__dot3(c.u[k], v);
    }
    B += bramah__rolling_rows(r) * n;
  }
}

/* Velocity of the contact point as it wanders over plane and rim: centre and lowest direction. */
static void contact_velocity(const bramah__rolling *r, const contact *c, const double *Z, double *out)
{
  double axis_rate[3], m_rate[3] = {0};
  bramah__point_velocity(Z, r->body, c->centre, out);
  if (!r->is_wheel) return;
  bramah__cross3(Z + 6 * r->body + 3, c->axis, axis_rate);
  bramah__axpy3(-bramah__dot3(c->u[0], axis_rate), c->axis, m_rate);
  bramah__axpy3(-bramah__dot3(c->u[0], c->axis), axis_rate, m_rate);
  bramah__axpy3(-bramah__dot3(c->down, m_rate), c->down, m_rate);
  bramah__axpy3(-r->radius / fmax(c->sine, 1e-12), m_rate, out);
}

void bramah__rolling_acceleration(const bramah_model *model, const bramah__pose *pose, const double *Z,
                                  const double *Zd, double *out)
{
  for (size_t i = 0; i < model->n_rolling; i++) {
    const bramah__rolling *r = &model->rolling[i];
    const double *z = Z + 6 * r->body, *zd = Zd + 6 * r->body;
    contact c;
    double wander[3], a[3], v[3], turn[3];
    find_contact(model, pose, r, &c);
    contact_velocity(r, &c, Z, wander);
    bramah__cross3(zd + 3, c.p, a);
    bramah__axpy3(1.0, zd, a);
    bramah__add_cross3(z + 3, wander, a); /* d(s' + w x p)/dt */
    for (size_t k = 0; k < bramah__rolling_rows(r); k++) *out++ = bramah__dot3(c.u[k], a);
    if (r->is_wheel) continue;
    bramah__point_velocity(Z, r->body, c.p, v); /* the normal turns with the body */
    bramah__cross3(z + 3, c.axis, turn);
    out[-1] += bramah__dot3(turn, v);
  }
}
