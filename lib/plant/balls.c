/* SPDX-License-Identifier: MIT */
/* Spherical and floating joints through any rotation. Their three angles are singular at a pitch of +-90
 * deg, so they are counted from a base rotation that is part of the state: when the pitch has gone far,
 * the rotation reached becomes the new base and the angles start from zero (dissertation 2.4 ff. leaves
 * the choice of coordinates open; switching between charts is how textbooks avoid the singularity, as
 * good as quaternions and without their constraint). What is seen from outside are the angles of the whole
 * rotation. */
#include "lib/math/vector3.h"
#include "lib/plant/state.h"

#include <math.h>
#include <string.h>

/* [rad] At this pitch det X = cos(pitch) is 0.54: nothing races yet, and a body that spins about one axis is
 * re-based six times a turn. */
static const double far_pitch = 1.0;
static const double near_singular = 0.05; /* cosine of the pitch */

static const double zero3[3] = {0, 0, 0};

static size_t first_of(const bramah_model *model, size_t ball) { return model->ball[ball].first; }

/* Turns u and their rates ud of the joint. */
static void ball_turns(const double *z, const double *zd, const double *zdd, double *u, double *ud)
{
  double X[9], U[9], part[3];
  bramah__turn_matrix(z, X);
  bramah__turn_gradient(z, zd, U);
  bramah__rotate3(X, zd, u);
  bramah__rotate3(X, zdd, ud);
  bramah__rotate3(U, zd, part);
  bramah__axpy3(1.0, part, ud);
}

/* a'' from u' = X a'' + U a' */
static void angle_accelerations(const double *a, const double *ad, const double *ud, double *add)
{
  double U[9], Xi[9], rest[3], part[3];
  bramah__turn_gradient(a, ad, U);
  bramah__rotate3(U, ad, part);
  bramah__sub3(ud, part, rest);
  bramah__turn_inverse(a, Xi);
  bramah__rotate3(Xi, rest, add);
}

void bramah__ball_quaternion(const bramah_model *model, const bramah__state *state, size_t ball, double *q)
{
  double own[4];
  bramah__quaternion_of_angles(state->z + first_of(model, ball), own);
  memcpy(q, state->base + 4 * ball, sizeof own);
  bramah__quaternion_append(q, own);
}

static void copy_coordinates(const double *z, const double *zd, const double *zdd, double *a, double *ad,
                             double *add)
{
  bramah__copy3(z, a);
  if (ad) bramah__copy3(zd, ad);
  if (add) bramah__copy3(zdd, add);
}

void bramah__ball_motion(const bramah_model *model, const bramah__state *state, size_t ball, double *a,
                         double *ad, double *add)
{
  const size_t j = first_of(model, ball);
  const double *z = state->z + j, *zd = state->zd + j, *zdd = state->zdd + j;
  if (bramah__quaternion_is_identity(state->base + 4 * ball)) {
    copy_coordinates(z, zd, zdd, a, ad, add);
    return;
  }
  double q[4], R[9], Xi[9], u[3], ud[3], rate[3];
  bramah__ball_quaternion(model, state, ball, q);
  bramah__quaternion_matrix(q, R);
  bramah__angles_of_matrix(R, a);
  ball_turns(z, zd, zdd, u, ud);
  bramah__turn_inverse(a, Xi);
  bramah__rotate3(Xi, u, rate);
  if (ad) bramah__copy3(rate, ad);
  if (add) angle_accelerations(a, rate, ud, add);
}

int bramah__ball_is_far(const bramah_model *model, const bramah__state *state, size_t ball)
{
  return !model->ball[ball].pinned && fabs(state->z[first_of(model, ball) + 1]) > far_pitch;
}

void bramah__rebase_ball(const bramah_model *model, bramah__state *state, size_t ball, double *X, double *Y)
{
  const size_t j = first_of(model, ball);
  double *z = state->z + j, *zd = state->zd + j, *zdd = state->zdd + j;
  double u[3], ud[3], Xz[9], U[9];
  ball_turns(z, zd, zdd, u, ud);
  bramah__turn_matrix(z, Xz);
  bramah__turn_gradient(z, zd, U);
  if (X) memcpy(X, Xz, sizeof Xz);
  if (Y) {
    /* Y = U(z, z') - U(0, u) X: how u, which at zero angles are the new rates, depends on the old positions
     * apart from what the new positions do. */
    double U0[9], turned[9];
    bramah__turn_gradient(zero3, u, U0);
    bramah__multiply3(U0, Xz, turned);
    for (int k = 0; k < 9; k++) Y[k] = U[k] - turned[k];
  }
  double q[4];
  bramah__ball_quaternion(model, state, ball, q);
  memcpy(state->base + 4 * ball, q, sizeof q);
  bramah__copy3(zero3, z);
  bramah__copy3(u, zd);
  angle_accelerations(z, zd, ud, zdd);
}

void bramah__rebase_far(const bramah_model *model, bramah__state *state)
{
  for (size_t b = 0; b < model->n_balls; b++)
    if (bramah__ball_is_far(model, state, b)) bramah__rebase_ball(model, state, b, NULL, NULL);
}

void bramah__rebase_singular(const bramah_model *model, bramah__state *state)
{
  for (size_t b = 0; b < model->n_balls; b++)
    if (!model->ball[b].pinned && fabs(cos(state->z[first_of(model, b) + 1])) < near_singular)
      bramah__rebase_ball(model, state, b, NULL, NULL);
}

void bramah__unbase_ball(const bramah_model *model, bramah__state *state, size_t ball)
{
  static const double none[4] = {1, 0, 0, 0};
  const size_t j = first_of(model, ball);
  double a[3], ad[3], add[3];
  bramah__ball_motion(model, state, ball, a, ad, add);
  memcpy(state->base + 4 * ball, none, sizeof none);
  copy_coordinates(a, ad, add, state->z + j, state->zd + j, state->zdd + j);
}
