/* SPDX-License-Identifier: MIT */
/* Outputs of the plant for sensors that ride on a body, all in the axes of the body: its angular rate, the
 * products of two components of it, its angular acceleration, the specific force at the origin of its frame
 * (acceleration minus gravity: what an accelerometer there shows) and the direction against gravity. The
 * specific force at any other point r is a fixed sum of them: f + alpha x r + omega x (omega x r). Of the
 * massless bodies inside a spherical joint they say nothing: those lie otherwise after a re-base.
 *
 * Derivatives: a change of the joints displaces the body by the twist pi (tangent.h). A vector x that the
 * motion carries changes in the axes of the body by A' (dx - theta x x), theta the turning part of pi, which
 * leaves
 *
 *   rate theta',   angular acceleration theta'' + theta' x omega,   up: up x theta,
 *   specific force at the origin o: pi''_o + 2 theta' x o' + theta x g,   pi''_o = pi''_linear + theta'' x o.
 *
 * Source: ours, from the variation of dissertation 2.4-2.12. */
#include "lib/plant/residual_derivative.h"
#include "lib/multibody/twist.h"

#include <math.h>
#include <string.h>

/* The two components that each product multiplies. */
static const size_t factors[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};

typedef struct body_motion {
  const double *A, *origin, *rate, *gravity;
  const double *Zd;
  double velocity[3]; /* of the origin */
  double up[3];       /* unit vector against gravity, zero without gravity */
} body_motion;

int bramah__is_of_body(bramah__output_code code)
{
  return (code >= BRAMAH__BODY_RATE_X && code <= BRAMAH__BODY_RATE_Z) ||
         (code >= BRAMAH__BODY_FORCE_X && code <= BRAMAH__BODY_RATE_YZ);
}

int bramah__body_accelerates(bramah__output_code code)
{
  return code >= BRAMAH__BODY_FORCE_X && code <= BRAMAH__BODY_TURN_Z;
}

static void against(const double *gravity, double *up)
{
  const double length = sqrt(bramah__dot3(gravity, gravity));
  for (int k = 0; k < 3; k++) up[k] = length > 0.0 ? -gravity[k] / length : 0.0;
}

/* Accelerations of all bodies at those of the joints. */
static const double *accelerations(const bramah_coupled *c)
{
  bramah__tree_acceleration(&c->model->tree, c->now->pose, c->now->Z, c->state.zd, c->state.zdd,
                            c->derivative.Y);
  return c->derivative.Y;
}

static body_motion motion_of(const bramah_coupled *c, size_t body)
{
  const bramah__pose *pose = &c->now->pose[body];
  const double *Z = c->now->Z + 6 * body;
  body_motion m = {pose->A, pose->r, Z + 3, c->model->tree.gravity, NULL, {0}, {0}};
  bramah__copy3(Z, m.velocity);
  bramah__add_cross3(Z + 3, pose->r, m.velocity);
  against(m.gravity, m.up);
  return m;
}

/* The first code of the vector a component belongs to. */
static bramah__output_code vector_of(bramah__output_code code)
{
  if (code >= BRAMAH__BODY_UP_X) return BRAMAH__BODY_UP_X;
  if (code >= BRAMAH__BODY_TURN_X) return BRAMAH__BODY_TURN_X;
  return code >= BRAMAH__BODY_FORCE_X ? BRAMAH__BODY_FORCE_X : BRAMAH__BODY_RATE_X;
}

static void vector_value(const body_motion *m, bramah__output_code vector, double *out)
{
  double x[3] = {0, 0, 0};
  if (vector == BRAMAH__BODY_RATE_X) bramah__copy3(m->rate, x);
  if (vector == BRAMAH__BODY_TURN_X) bramah__copy3(m->Zd + 3, x);
  if (vector == BRAMAH__BODY_UP_X) bramah__copy3(m->up, x);
  if (vector == BRAMAH__BODY_FORCE_X) {
    bramah__sub3(m->Zd, m->gravity, x);
    bramah__add_cross3(m->Zd + 3, m->origin, x);
    bramah__add_cross3(m->rate, m->velocity, x);
  }
  bramah__unrotate3(m->A, x, out);
}

double bramah__body_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t body = output->index;
  body_motion m = motion_of(c, body);
  double x[3];
  if (output->code >= BRAMAH__BODY_RATE_XX && output->code <= BRAMAH__BODY_RATE_YZ) {
    const size_t *pair = factors[output->code - BRAMAH__BODY_RATE_XX];
    vector_value(&m, BRAMAH__BODY_RATE_X, x);
    return x[pair[0]] * x[pair[1]];
  }
  const bramah__output_code vector = vector_of(output->code);
  if (bramah__body_accelerates(vector)) m.Zd = accelerations(c) + 6 * body;
  vector_value(&m, vector, x);
  return x[output->code - vector];
}

/* Change of a vector in the axes of the body for the displacement pi and its derivatives by time. */
static void vector_change(const body_motion *m, bramah__output_code vector, const double *pi,
                          const double *pid, const double *pidd, double *out)
{
  double x[3] = {0, 0, 0};
  if (vector == BRAMAH__BODY_RATE_X) bramah__copy3(pid + 3, x);
  if (vector == BRAMAH__BODY_UP_X) bramah__cross3(m->up, pi + 3, x);
  if (vector == BRAMAH__BODY_TURN_X) {
    bramah__copy3(pidd + 3, x);
    bramah__add_cross3(pid + 3, m->rate, x);
  }
  if (vector == BRAMAH__BODY_FORCE_X) {
    const double twice[3] = {2.0 * pid[3], 2.0 * pid[4], 2.0 * pid[5]};
    bramah__copy3(pidd, x);
    bramah__add_cross3(pidd + 3, m->origin, x);
    bramah__add_cross3(twice, m->velocity, x);
    bramah__add_cross3(pi + 3, m->gravity, x);
  }
  bramah__unrotate3(m->A, x, out);
}

/* b' and b'' of joint j. */
static void axis_motion(const bramah_coupled *c, size_t j, const double *Zd, double *bd, double *bdd)
{
  const double *b = c->now->pose[j].b, *Z = c->now->Z + 6 * j;
  double turn[6] = {0};
  bramah__twist_cross(Z, b, bd);
  bramah__twist_cross(Z, bd, bdd);
  if (Zd) bramah__twist_cross(Zd + 6 * j, b, turn);
  for (int k = 0; k < 6; k++) bdd[k] += turn[k];
}

/* Derivatives of the component sum_k along_k x_k of a vector by positions, rates and accelerations of the
 * joints between body and root, added to a, b and q. */
static void add_partials(const bramah_coupled *c, size_t body, bramah__output_code vector,
                         const double *along, double *a, double *b, double *q)
{
  static const double none[6] = {0};
  body_motion m = motion_of(c, body);
  const double *Zd = bramah__body_accelerates(vector) ? accelerations(c) : NULL;
  if (Zd) m.Zd = Zd + 6 * body;
  for (int j = (int)body; j >= 0; j = c->model->tree.link[j].parent) {
    const double *axis = c->now->pose[j].b;
    double bd[6], bdd[6], twice[6], change[3];
    axis_motion(c, (size_t)j, Zd, bd, bdd);
    for (int k = 0; k < 6; k++) twice[k] = 2.0 * bd[k];
    vector_change(&m, vector, axis, bd, bdd, change);
    a[j] += bramah__dot3(along, change);
    vector_change(&m, vector, none, axis, twice, change);
    b[j] += bramah__dot3(along, change);
    vector_change(&m, vector, none, none, axis, change);
    q[j] += bramah__dot3(along, change);
  }
}

void bramah__body_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                           double *q)
{
  double along[3] = {0, 0, 0};
  const bramah__output_code vector = vector_of(output->code);
  if (output->code >= BRAMAH__BODY_RATE_XX && output->code <= BRAMAH__BODY_RATE_YZ) {
    const size_t *pair = factors[output->code - BRAMAH__BODY_RATE_XX];
    const body_motion m = motion_of(c, output->index);
    double rate[3];
    vector_value(&m, BRAMAH__BODY_RATE_X, rate);
    along[pair[0]] += rate[pair[1]];
    along[pair[1]] += rate[pair[0]];
    add_partials(c, output->index, BRAMAH__BODY_RATE_X, along, a, b, q);
    return;
  }
  along[output->code - vector] = 1.0;
  add_partials(c, output->index, vector, along, a, b, q);
}
