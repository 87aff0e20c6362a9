/* SPDX-License-Identifier: MIT */
/* Prescribed motions of a machine into constraint equations behind those of the loops. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

static const double given_tolerance =
    1e-3; /* rad or m, and per second: how exactly typed values must agree */
static const double pi = 3.14159265358979323846;

/* Doubles of one table: times, positions, slopes, and scratch. */
enum { ARRAYS = 4 };

static size_t points_of(const bramah_motion *in)
{
  return in->type == BRAMAH_MOTION_TABLE ? in->n_points : 0;
}

void bramah__motions_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena)
{
  size_t points = 0;
  for (size_t i = 0; i < machine->n_motions; i++) points += points_of(&machine->motions[i]);
  t->motion = BRAMAH__TAKE(arena, bramah__motion, machine->n_motions);
  t->motion_points = BRAMAH__TAKE(arena, double, ARRAYS *points);
}

static bramah_status bad_motion(const bramah__compiler *k, const bramah_motion *in, const char *message)
{
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, message);
}

static bramah_status fill_table(const bramah__compiler *k, const bramah_motion *in, double **next,
                                bramah__motion *out)
{
  const size_t n = in->n_points;
  double *time = *next, *value = time + n, *slope = value + n;
  *next += ARRAYS * n;
  if (n < 2) return bad_motion(k, in, "the table of a motion needs at least two points");
  for (size_t i = 0; i < n; i++) {
    time[i] = in->times[i];
    value[i] = in->positions[i];
    if (!isfinite(value[i])) return bad_motion(k, in, "the positions of a motion must be finite");
    if (!isfinite(time[i]) || (i > 0 && !(time[i] > time[i - 1])))
      return bad_motion(k, in, "the times of a motion must ascend");
  }
  bramah__spline_slopes(n, time, value, slope, slope + n);
  *out = (bramah__motion){
      .type = BRAMAH__MOTION_TABLE, .n_points = n, .time = time, .value = value, .slope = slope};
  return BRAMAH_OK;
}

static bramah_status fill_harmonic(const bramah__compiler *k, const bramah_motion *in, bramah__motion *out)
{
  const bramah_status status = bramah__positive(k, in->frequency, in->name, in->line, "the frequency");
  if (status != BRAMAH_OK) return status;
  *out = (bramah__motion){.type = BRAMAH__MOTION_HARMONIC,
                          .position = in->mean,
                          .amplitude = in->amplitude,
                          .omega = 2.0 * pi * in->frequency,
                          .phase = in->phase};
  return BRAMAH_OK;
}

static bramah_status fill_function(const bramah__compiler *k, const bramah_motion *in, double **next,
                                   bramah__motion *out)
{
  double f[3];
  bramah_status status = BRAMAH_OK;
  if (in->type == BRAMAH_MOTION_TABLE)
    status = fill_table(k, in, next, out);
  else if (in->type == BRAMAH_MOTION_HARMONIC)
    status = fill_harmonic(k, in, out);
  else if (in->type == BRAMAH_MOTION_RATE)
    *out = (bramah__motion){.type = BRAMAH__MOTION_RATE, .position = in->position, .rate = in->rate};
  else
    return bad_motion(k, in, "the type of this motion is unknown");
  if (status != BRAMAH_OK) return status;
  bramah__motion_at(out, 0.0, f);
  return isfinite(f[0]) && isfinite(f[1]) && isfinite(f[2])
             ? BRAMAH_OK
             : bad_motion(k, in, "the figures of a motion must be finite");
}

static bramah_status find_joint(const bramah__compiler *k, size_t i, size_t *out)
{
  const bramah_motion *in = &k->source->motions[i];
  const long joint = bramah__find_name(k->model->n, k->model->joint_name, in->joint);
  if (joint < 0)
    return bramah__no_such(k, in->name, in->line, "joint coordinate", in->joint, k->model->n,
                           k->model->joint_name);
  *out = (size_t)joint;
  for (size_t l = 0; l < i; l++)
    if (k->t.motion[l].joint == *out) {
      bad_motion(k, in, "its joint is already moved by the motion '");
      bramah__add_text(k->diag, k->source->motions[l].name);
      bramah__add_text(k->diag, "'");
      return BRAMAH_E_VALUE;
    }
  return BRAMAH_OK;
}

static bramah_status contradicts(const bramah__compiler *k, size_t i, const char *message, double value,
                                 const char *unit)
{
  const bramah_motion *in = &k->source->motions[i];
  const bramah_joint *joint = &k->machine->joints[k->t.joint_order[k->t.motion[i].joint]];
  bramah__compile_fail(k, BRAMAH_E_VALUE, joint->name, joint->line, "the motion '");
  bramah__add_text(k->diag, in->name);
  bramah__add_text(k->diag, message);
  bramah__add_number(k->diag, value, 6);
  bramah__add_text(k->diag, unit);
  return BRAMAH_E_VALUE;
}

/* A prescribed joint starts where its motion starts: a guess follows, a given value must agree. */
static bramah_status start_joint(bramah__compiler *k, size_t i)
{
  const size_t j = k->t.motion[i].joint;
  const int turns = k->t.link[j].revolute;
  bramah_model *m = k->model;
  double f[3];
  bramah__motion_at(&k->t.motion[i], 0.0, f);
  if (k->t.given[j] && !(fabs(m->z0[j] - f[0]) <= given_tolerance))
    return contradicts(k, i, "' starts this joint elsewhere than 'initial' says, at ", f[0],
                       turns ? " rad" : " m");
  if (m->zd0[j] != 0.0 && !(fabs(m->zd0[j] - f[1]) <= given_tolerance))
    return contradicts(k, i, "' starts this joint with another rate than 'rate' says, ", f[1],
                       turns ? " rad/s" : " m/s");
  m->z0[j] = f[0];
  m->zd0[j] = f[1];
  k->t.given[j] = 0;
  return BRAMAH_OK;
}

bramah_status bramah__build_motions(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_model *m = k->model;
  double *next = k->t.motion_points;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < d->n_motions && status == BRAMAH_OK; i++) {
    bramah__motion *out = &k->t.motion[i];
    size_t joint = 0;
    status = find_joint(k, i, &joint);
    if (status == BRAMAH_OK) status = fill_function(k, &d->motions[i], &next, out);
    out->joint = joint;
    out->row = m->m_loops + i;
    if (status == BRAMAH_OK) status = start_joint(k, i);
  }
  m->motion = k->t.motion;
  return status;
}
