/* SPDX-License-Identifier: MIT */
/* Bodies, loops, motions, forces and rolling contacts of a machine. */
#include "lib/machine/compile.h"
#include "lib/base/text.h"
#include "lib/math/elementary.h"
#include "lib/math/vector3.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

/* Joints and bodies of a machine into a tree from the root outwards. */

/* Index in machine->bodies; -1: ground; -2: none of that name. */
static int machine_body(const bramah_machine *machine, const char *name)
{
  if (name && strcmp(name, "ground") == 0) return -1;
  for (size_t i = 0; name && i < machine->n_bodies; i++)
    if (strcmp(machine->bodies[i].name, name) == 0) return (int)i;
  return -2;
}

/* Order the joints so that parents come first, otherwise in the order of the machine; names of joints and bodies
 * likewise. */
static bramah_status sort_tree(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  size_t placed = 0;
  while (placed < d->n_joints) {
    const size_t before = placed;
    for (size_t j = 0; j < d->n_joints; j++) {
      const int parent = machine_body(d, d->joints[j].parent);
      int done = 0, ready = parent == -1;
      for (size_t i = 0; i < placed; i++) {
        done |= k->t.joint_order[i] == j;
        ready |= k->t.body_of_joint[i] == parent;
      }
      if (done || !ready) continue;
      k->t.joint_order[placed] = j;
      k->t.body_of_joint[placed++] = machine_body(d, d->joints[j].child);
    }
    if (placed != before) continue;
    for (size_t j = 0; j < d->n_joints; j++) {
      int done = 0;
      for (size_t i = 0; i < placed; i++) done |= k->t.joint_order[i] == j;
      if (!done)
        return bramah__compile_fail(
            k, BRAMAH_E_TOPOLOGY, &d->joints[j],
            "this joint is not connected to the ground; cut the loop and close it under 'loops'");
    }
  }

  /* The names were copied in file order into consecutive slots; look each up by its text. */
  for (size_t i = 0; i < k->model->n; i++) {
    const char *wanted[2] = {d->joints[k->t.joint_order[i]].name, d->bodies[k->t.body_of_joint[i]].name};
    const char **names[2] = {k->model->joint_name, k->model->body_name};
    for (int list = 0; list < 2; list++)
      for (size_t l = i; l < k->model->n; l++)
        if (strcmp(names[list][l], wanted[list]) == 0) {
          const char *t = names[list][i];
          names[list][i] = names[list][l], names[list][l] = t;
        }
  }
  return BRAMAH_OK;
}

bramah_status bramah__build_tree(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  if (d->n_joints == 0)
    return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, &(bramah_named){"joints", 0},
                                "the machine has no joint");
  for (size_t j = 0; j < d->n_joints; j++) {
    const bramah_joint *joint = &d->joints[j];
    const char *ends[2] = {joint->parent, joint->child};
    for (int e = 0; e < 2; e++)
      if (machine_body(d, ends[e]) == -2)
        return bramah__no_such(k, joint, "body", ends[e], d->n_bodies, k->model->body_name);
    if (machine_body(d, joint->child) == -1)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, joint, "the ground cannot be the child of a joint");
  }
  /* each body hangs on one joint */
  for (size_t b = 0; b < d->n_bodies; b++) {
    size_t parents = 0;
    for (size_t j = 0; j < d->n_joints; j++) parents += machine_body(d, d->joints[j].child) == (int)b;
    if (parents == 0)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, &d->bodies[b], "this body hangs on no joint");
    if (parents > 1)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, &d->bodies[b],
                                  "this body is the child of more than one joint; close loops under 'loops'");
  }
  bramah_status status = sort_tree(k);
  if (status != BRAMAH_OK) return status;
  for (size_t i = 0; i < k->model->n; i++) {
    const bramah_joint *joint = &d->joints[k->t.joint_order[i]];
    const bramah_body *body = &d->bodies[k->t.body_of_joint[i]];
    bramah__link *link = &k->t.link[i];
    link->revolute = joint->type == BRAMAH_JOINT_REVOLUTE;
    if (!link->revolute && joint->type != BRAMAH_JOINT_PRISMATIC)
      return bramah__refuse(k, joint, "the type of this joint is unknown");
    if (!bramah__normalise(joint->axis, link->axis))
      return bramah__refuse(k, joint, "the axis of this joint has no direction");
    memcpy(link->position, joint->position, sizeof link->position);
    status = bramah__joint_rotation(k, joint, link->rotation);
    if (status == BRAMAH_OK) status = bramah__check_body(k, body);
    if (status == BRAMAH_OK) status = bramah__find_body(k, joint, joint->parent, &link->parent);
    if (status != BRAMAH_OK) return status;
    const double *I = body->inertia, full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
    link->turned =
        memcmp(link->rotation, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, sizeof link->rotation) != 0;
    link->mass = body->mass;
    memcpy(link->centre, body->centre_of_mass, sizeof link->centre);
    memcpy(link->inertia, full, sizeof full);
    k->model->z0[i] = joint->initial_position;
    k->model->zd0[i] = joint->initial_rate;
    k->t.given[i] = joint->initial == BRAMAH_INITIAL_GIVEN;
    /* the three turning coordinates of a ball follow each other in the tree: sort_tree keeps chains together */
    const size_t ball = k->t.ball[k->t.joint_order[i]];
    link->ball = (int)ball;
    if (ball) k->model->ball[ball - 1].first = i;
    for (size_t l = i; ball && l < i + 3; l++) k->model->ball_of[l] = ball;
  }
  return BRAMAH_OK;
}

/* Loops of a machine into constraint equations, and what to say of an equation that does not hold. */

/* Rows of each type of loop, by its number; 0: no such type. */
static const struct {
  bramah__hold hold;
  size_t n_directions;
  const char *direction_fault;
} loop_kinds[] = {
    [BRAMAH_LOOP_REVOLUTE] = {BRAMAH__HOLD_POINT, 2, "its axes do not become parallel"},
    [BRAMAH_LOOP_SPHERICAL] = {BRAMAH__HOLD_POINT, 0, ""},
    [BRAMAH_LOOP_PRISMATIC] = {BRAMAH__HOLD_LINE, 3, "its bodies do not become aligned"},
    [BRAMAH_LOOP_UNIVERSAL] = {BRAMAH__HOLD_POINT, 1, "its axes do not become perpendicular"},
    [BRAMAH_LOOP_DISTANCE] = {BRAMAH__HOLD_DISTANCE, 0, ""},
};

static int known(const bramah_loop *loop)
{
  return loop->type >= BRAMAH_LOOP_REVOLUTE && loop->type <= BRAMAH_LOOP_DISTANCE;
}

size_t bramah__count_loop_rows(const bramah_machine *machine)
{
  size_t rows = 0;
  for (size_t i = 0; i < machine->n_loops; i++)
    if (known(&machine->loops[i])) {
      const bramah_loop_type type = machine->loops[i].type;
      rows += (size_t)loop_kinds[type].hold + loop_kinds[type].n_directions;
    }
  return rows;
}

/* Unit vector across a unit axis, in the direction of v; 0 if v lies along the axis. */
static int across(const double *v, const double *axis, double *out)
{
  double unit[3];
  if (!bramah__normalise(v, unit)) return 0;
  bramah__axpy3(-bramah__dot3(unit, axis), axis, unit);
  return sqrt(bramah__dot3(unit, unit)) > 1e-6 && bramah__normalise(unit, out);
}

/* Axis 0 stays normal to two directions across axis 1. */
static void parallel_directions(const double axis[3], double normal[2][3], bramah__loop *out)
{
  for (int d = 0; d < 2; d++) {
    bramah__copy3(axis, out->u[d]);
    bramah__copy3(normal[d], out->v[d]);
  }
}

static bramah_status fill_directions(const bramah__compiler *k, const bramah_loop *loop, bramah__loop *out)
{
  double axis[2][3], normal[2][3];
  if (out->n_directions == 0) return BRAMAH_OK;
  for (int e = 0; e < 2; e++)
    if (!bramah__normalise(loop->axis[e], axis[e]))
      return bramah__refuse(k, loop, "the axis of this loop has no direction");
  if (loop->type == BRAMAH_LOOP_PRISMATIC) {
    double across_1[2][3];
    if (!across(loop->normal[0], axis[0], out->normal[0]) || !across(loop->normal[1], axis[1], across_1[0]))
      return bramah__refuse(k, loop, "a normal of this loop has no direction across its axis");
    bramah__cross3(axis[0], out->normal[0], out->normal[1]);
    bramah__cross3(axis[1], across_1[0], across_1[1]);
    parallel_directions(axis[0], across_1, out);
    bramah__copy3(out->normal[0], out->u[2]);
    bramah__copy3(across_1[1], out->v[2]);
    return BRAMAH_OK;
  }
  if (loop->type == BRAMAH_LOOP_UNIVERSAL) {
    bramah__copy3(axis[0], out->u[0]);
    bramah__copy3(axis[1], out->v[0]);
    return BRAMAH_OK;
  }
  bramah__loop_normals(axis[1], normal);
  parallel_directions(axis[0], normal, out);
  return BRAMAH_OK;
}

/* ---- planar mechanisms ---- */

static const double aligned = 1e-12;

/* Whether all joints between a body and one that carries it turn about a direction of the body or slide across it: it then
 * stays where it is in the carrier, in whose axes it is put. */
static int stays(const bramah__link *links, int body, int carrier, double *direction)
{
  for (int j = body; j != carrier; j = links[j].parent) {
    const double along = fabs(bramah__dot3(links[j].axis, direction));
    if (fabs(along - (links[j].revolute ? 1.0 : 0.0)) > aligned) return 0;
    double turned[3];
    bramah__rotate3(links[j].rotation, direction, turned);
    bramah__copy3(turned, direction);
  }
  return 1;
}

/* Where all that turns in a loop turns about one direction, a cut revolute joint about it keeps its axes parallel by itself:
 * the rows that say so would be zero for ever. */
static int is_planar(const bramah__link *links, const bramah_loop *loop, const bramah__loop *out)
{
  double axis[2][3], across[3];
  for (int end = 0; end < 2; end++)
    if (!bramah__normalise(loop->axis[end], axis[end]) ||
        !stays(links, out->body[end], out->carrier, axis[end]))
      return 0;
  bramah__cross3(axis[0], axis[1], across);
  return bramah__dot3(across, across) <= aligned;
}

bramah_status bramah__build_loops(bramah__compiler *k)
{
  bramah_model *model = k->model;
  const bramah__tree tree = {.n = model->n, .link = k->t.link};
  size_t row = 0;
  for (size_t i = 0; i < k->machine->n_loops; i++) {
    const bramah_loop *loop = &k->machine->loops[i];
    bramah__loop *out = &k->t.loop[i];
    if (!known(loop)) return bramah__refuse(k, loop, "the type of this loop is unknown");
    out->hold = loop_kinds[loop->type].hold;
    out->n_directions = loop_kinds[loop->type].n_directions;
    out->distance = loop->type == BRAMAH_LOOP_DISTANCE ? loop->distance : 0.0;
    memcpy(out->point, loop->point, sizeof out->point);
    bramah_status status = fill_directions(k, loop, out);
    if (status == BRAMAH_OK && loop->type == BRAMAH_LOOP_DISTANCE)
      status = bramah__positive(k, loop->distance, loop, "the distance");
    for (int end = 0; end < 2 && status == BRAMAH_OK; end++)
      status = bramah__find_body(k, loop, loop->body[end], &out->body[end]);
    if (status != BRAMAH_OK) return status;

    out->carrier = bramah__common_carrier(&tree, out->body[0], out->body[1]);
    if (loop->type == BRAMAH_LOOP_REVOLUTE && is_planar(k->t.link, loop, out)) out->n_directions = 0;
    for (int d = 0; d < 3 && out->hold == BRAMAH__HOLD_POINT; d++) out->normal[d][d] = -1.0;
    out->row = row;
    row += bramah__loop_rows(out);
  }
  model->m_loops = row;
  model->m = row + model->n_motions;
  return BRAMAH_OK;
}

double bramah__loop_gap(const bramah__loop *loop, const double *Phi)
{
  double sum = 0.0;
  for (size_t k = 0; k < (size_t)loop->hold; k++) sum += Phi[loop->row + k] * Phi[loop->row + k];
  return sqrt(sum);
}

size_t bramah__loop_of_row(const bramah_model *model, size_t row)
{
  size_t i = model->n_loops - 1;
  while (i > 0 && row < model->loop[i].row) i--;
  return i;
}

const char *bramah__row_fault(const bramah__loop *loop, size_t row, const char **unit)
{
  const int of_points = row - loop->row < (size_t)loop->hold;
  *unit = of_points ? " m" : " rad";
  if (of_points && loop->hold == BRAMAH__HOLD_POINT) return "its points do not meet";
  if (of_points && loop->hold == BRAMAH__HOLD_LINE) return "its point 1 does not come onto the axis";
  if (of_points) return "its points do not come to their distance";
  for (size_t type = 0; type < sizeof loop_kinds / sizeof loop_kinds[0]; type++)
    if (loop_kinds[type].hold == loop->hold && loop_kinds[type].n_directions == loop->n_directions)
      return loop_kinds[type].direction_fault;
  return "its directions do not fit";
}

/* Prescribed motions of a machine into constraint equations behind those of the loops. */

static const double given_tolerance =
    1e-3; /* rad or m, and per second: how exactly typed values must agree */
static const double pi = 3.14159265358979323846;

/* Doubles of one table: times, positions, slopes, and scratch. */
enum { ARRAYS = 4 };

void bramah__motions_layout(const bramah_machine *machine, bramah__tables *t, bramah__arena *arena)
{
  size_t points = 0;
  for (size_t i = 0; i < machine->n_motions; i++)
    if (machine->motions[i].type == BRAMAH_MOTION_TABLE) points += machine->motions[i].n_points;
  t->motion = BRAMAH__TAKE(arena, bramah__motion, machine->n_motions);
  t->motion_points = BRAMAH__TAKE(arena, double, ARRAYS *points);
}

static bramah_status fill_function(const bramah__compiler *k, const bramah_motion *in, double **next,
                                   bramah__motion *out)
{
  double f[3];
  bramah_status status = BRAMAH_OK;
  if (in->type == BRAMAH_MOTION_TABLE) {
    const size_t n = in->n_points;
    double *time = *next, *value = time + n, *slope = value + n;
    *next += ARRAYS * n;
    if (n < 2) return bramah__refuse(k, in, "the table of a motion needs at least two points");
    for (size_t i = 0; i < n; i++) {
      time[i] = in->times[i];
      value[i] = in->positions[i];
      if (!isfinite(value[i])) return bramah__refuse(k, in, "the positions of a motion must be finite");
      if (!isfinite(time[i]) || (i > 0 && !(time[i] > time[i - 1])))
        return bramah__refuse(k, in, "the times of a motion must ascend");
    }
    bramah__spline_slopes(n, time, value, slope, slope + n);
    *out = (bramah__motion){
        .type = BRAMAH__MOTION_TABLE, .n_points = n, .time = time, .value = value, .slope = slope};
  } else if (in->type == BRAMAH_MOTION_HARMONIC) {
    status = bramah__positive(k, in->frequency, in, "the frequency");
    if (status != BRAMAH_OK) return status;
    *out = (bramah__motion){.type = BRAMAH__MOTION_HARMONIC,
                            .position = in->mean,
                            .amplitude = in->amplitude,
                            .omega = 2.0 * pi * in->frequency,
                            .phase = in->phase};
  } else if (in->type == BRAMAH_MOTION_RATE) {
    *out = (bramah__motion){.type = BRAMAH__MOTION_RATE, .position = in->position, .rate = in->rate};
  } else {
    return bramah__refuse(k, in, "the type of this motion is unknown");
  }
  bramah__motion_at(out, 0.0, f);
  return isfinite(f[0]) && isfinite(f[1]) && isfinite(f[2])
             ? BRAMAH_OK
             : bramah__refuse(k, in, "the numbers of a motion must be finite");
}

static bramah_status contradicts(const bramah__compiler *k, size_t i, const char *message, double value,
                                 const char *unit)
{
  const bramah_motion *in = &k->source->motions[i];
  const bramah_joint *joint = &k->machine->joints[k->t.joint_order[k->t.motion[i].joint]];
  bramah__refuse(k, joint, "the motion '");
  bramah__add_text(k->diag, in->name);
  bramah__add_text(k->diag, message);
  bramah__add_number(k->diag, value, 6);
  bramah__add_text(k->diag, unit);
  return BRAMAH_E_VALUE;
}

bramah_status bramah__build_motions(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_model *m = k->model;
  double *next = k->t.motion_points;
  m->motion = k->t.motion;
  for (size_t i = 0; i < d->n_motions; i++) {
    const bramah_motion *in = &d->motions[i];
    bramah__motion *out = &k->t.motion[i];

    /* its coordinate, which nothing else moves */
    size_t j;
    bramah_status status = bramah__find_coordinate(k, in, in->joint, &j);
    if (status != BRAMAH_OK) return status;
    for (size_t l = 0; l < i; l++)
      if (k->t.motion[l].joint == j) {
        bramah__refuse(k, in, "its joint is already moved by the motion '");
        bramah__add_text(k->diag, d->motions[l].name);
        bramah__add_text(k->diag, "'");
        return BRAMAH_E_VALUE;
      }
    status = fill_function(k, in, &next, out);
    if (status != BRAMAH_OK) return status;
    out->joint = j;
    out->row = m->m_loops + i;

    /* It starts where its motion starts: a guess follows, a given value must agree. */
    const int turns = k->t.link[j].revolute;
    double f[3];
    bramah__motion_at(out, 0.0, f);
    if (k->t.given[j] && !(fabs(m->z0[j] - f[0]) <= given_tolerance))
      return contradicts(k, i, "' starts this joint elsewhere than 'initial' says, at ", f[0],
                         turns ? " rad" : " m");
    if (m->zd0[j] != 0.0 && !(fabs(m->zd0[j] - f[1]) <= given_tolerance))
      return contradicts(k, i, "' starts this joint with another rate than 'rate' says, ", f[1],
                         turns ? " rad/s" : " m/s");
    m->z0[j] = f[0];
    m->zd0[j] = f[1];
    k->t.given[j] = 0;
  }
  return BRAMAH_OK;
}

/* Springs and constant loads of a machine. */

/* Every name is given, and once among the n elements of `size` bytes. */
static bramah_status check_named(const bramah__compiler *k, const void *elements, size_t n, size_t size,
                                 const char *kind)
{
  const unsigned char *bytes = elements;
  for (size_t i = 0; i < n; i++) {
    const bramah_named *e = (const void *)(bytes + i * size);
    int is_known = 0;
    for (size_t l = 0; l < i && e->name; l++)
      is_known |= strcmp(((const bramah_named *)(const void *)(bytes + l * size))->name, e->name) == 0;
    const bramah_status status = bramah__check_named(k, e, kind, is_known);
    if (status != BRAMAH_OK) return status;
  }
  return BRAMAH_OK;
}

static bramah_status check_coefficients(const bramah__compiler *k, double stiffness, double damping,
                                        const void *of)
{
  const bramah_status status = bramah__not_negative(k, stiffness, of, "the stiffness");
  return status == BRAMAH_OK ? bramah__not_negative(k, damping, of, "the damping") : status;
}

static bramah_status finite3(const bramah__compiler *k, const double *v, const void *of, const char *message)
{
  for (int i = 0; i < 3; i++)
    if (!isfinite(v[i])) return bramah__refuse(k, of, message);
  return BRAMAH_OK;
}

static bramah_status fill_load(const bramah__compiler *k, const bramah_force *force, bramah__load *out)
{
  const char *body = force->body;
  out->turns = force->axes == BRAMAH_AXES_BODY;
  memcpy(out->point, force->point, sizeof out->point);
  memcpy(out->force, force->force, sizeof out->force);
  memcpy(out->torque, force->torque, sizeof out->torque);
  bramah_status status = finite3(k, out->force, force, "the force must be finite");
  if (status == BRAMAH_OK) status = finite3(k, out->torque, force, "the torque must be finite");
  if (status != BRAMAH_OK) return status;
  if (out->turns) {
    bramah__carry_direction(k, body, out->force);
    bramah__carry_direction(k, body, out->torque);
  }
  bramah__carry_point(k, &body, out->point);
  status = bramah__find_body(k, force, body, &out->body);
  if (status == BRAMAH_OK && out->body < 0)
    return bramah__refuse(k, force, "a force on the ground moves nothing");
  return status;
}

/* Stops of joints. */
static bramah_status fill_limits(bramah__compiler *k)
{
  bramah__limit *out = k->t.limit;
  for (size_t j = 0; j < k->source->n_joints; j++) {
    const bramah_joint *joint = &k->source->joints[j];
    const bramah_end_stop *stop = &joint->stop;
    if (stop->stiffness == 0.0) continue;
    if (joint->type != BRAMAH_JOINT_REVOLUTE && joint->type != BRAMAH_JOINT_PRISMATIC)
      return bramah__refuse(k, joint, "only revolute and prismatic joints have stops");
    if (!(joint->range[1] > joint->range[0] && isfinite(joint->range[0]) && isfinite(joint->range[1])))
      return bramah__refuse(k, joint, "the range of a joint must ascend");
    bramah_status status = check_coefficients(k, stop->stiffness, stop->damping, joint);
    if (status == BRAMAH_OK)
      status = bramah__not_negative(k, stop->cushion_length, joint, "the length of the cushion");
    if (status == BRAMAH_OK) status = bramah__not_negative(k, stop->cushion_damping, joint, "its damping");
    if (status != BRAMAH_OK) return status;
    *out++ = (bramah__limit){(size_t)bramah__find_name(k->model->n, k->model->joint_name, joint->name),
                             {joint->range[0], joint->range[1]},
                             {stop->stiffness, stop->damping, stop->cushion_length, stop->cushion_damping}};
  }
  return BRAMAH_OK;
}

bramah_status bramah__build_forces(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  const bramah_model *m = k->model;
  bramah_status status = check_named(k, d->springs, d->n_springs, sizeof *d->springs, "spring");
  if (status == BRAMAH_OK)
    status = check_named(k, d->joint_springs, d->n_joint_springs, sizeof *d->joint_springs, "joint spring");
  if (status == BRAMAH_OK) status = check_named(k, d->forces, d->n_forces, sizeof *d->forces, "force");
  for (size_t i = 0; i < d->n_springs && status == BRAMAH_OK; i++) {
    const bramah_spring *in = &d->springs[i];
    bramah__spring *out = &k->t.spring[i];
    *out =
        (bramah__spring){.free_length = in->free_length, .stiffness = in->stiffness, .damping = in->damping};
    memcpy(out->line.point, in->point, sizeof in->point);
    status = check_coefficients(k, in->stiffness, in->damping, in);
    if (status == BRAMAH_OK) status = bramah__not_negative(k, in->free_length, in, "the free length");
    for (int end = 0; end < 2 && status == BRAMAH_OK; end++) {
      const char *body = in->body[end];
      bramah__carry_point(k, &body, out->line.point[end]);
      status = bramah__find_body(k, in, body, &out->line.body[end]);
    }
  }
  for (size_t i = 0; i < d->n_joint_springs && status == BRAMAH_OK; i++) {
    const bramah_joint_spring *in = &d->joint_springs[i];
    status = check_coefficients(k, in->stiffness, in->damping, in);
    if (status != BRAMAH_OK) return status;
    if (!isfinite(in->free_position)) return bramah__refuse(k, in, "the free position must be a number");
    k->t.joint_spring[i] = (bramah__joint_spring){0, in->free_position, in->stiffness, in->damping};
    status = bramah__find_coordinate(k, in, in->joint, &k->t.joint_spring[i].joint);
  }
  for (size_t i = 0; i < d->n_forces && status == BRAMAH_OK; i++)
    status = fill_load(k, &d->forces[i], &k->t.load[i]);
  if (status == BRAMAH_OK) status = check_named(k, d->tools, d->n_tools, sizeof *d->tools, "tool");
  for (size_t i = 0; i < d->n_tools && status == BRAMAH_OK; i++) {
    const bramah_machine_tool *in = &d->tools[i];
    status = fill_load(k, &(bramah_force){.name = in->name, .line = in->line, .body = in->body},
                       &k->t.load[d->n_forces + i]);
    memset(k->t.load[d->n_forces + i].point, 0,
           sizeof k->t.load->point); /* of a welded body: that of its carrier */
  }
  k->model->first_tool = d->n_forces;
  if (status == BRAMAH_OK) status = fill_limits(k);
  k->model->forces = (bramah__forces){.n_springs = d->n_springs,
                                      .n_joint_springs = d->n_joint_springs,
                                      .n_loads = d->n_forces + d->n_tools,
                                      .n_limits = m->forces.n_limits,
                                      .spring = k->t.spring,
                                      .joint_spring = k->t.joint_spring,
                                      .load = k->t.load,
                                      .limit = k->t.limit};
  return status;
}

/* ---- a field to stand on ---- */

size_t bramah__n_columns_of(const bramah_machine *machine)
{
  static const size_t most = 65536;
  const bramah_terrain_options *o = &machine->terrain.options;
  return o->nx <= most && o->ny <= most && o->nx * o->ny <= (size_t)1 << 28 ? o->nx * o->ny : 0;
}

/* Heights as given, or flat, and the heaps on them. */
static void fill_heights(const bramah_machine_terrain *in, double steepest, double *h)
{
  const bramah_terrain_options *o = &in->options;
  for (size_t c = 0; c < o->nx * o->ny; c++) {
    const double x = o->origin[0] + ((double)(c / o->ny) + 0.5) * o->cell,
                 y = o->origin[1] + ((double)(c % o->ny) + 0.5) * o->cell;
    h[c] = in->heights ? in->heights[c] : in->level;
    for (size_t i = 0; i < in->n_heaps; i++) {
      const bramah_heap *heap = &in->heaps[i];
      const double dx = x - heap->at[0], dy = y - heap->at[1];
      h[c] = fmax(h[c], in->level + heap->height - steepest * sqrt(dx * dx + dy * dy));
    }
  }
}

/* A direction of a tool's body, on what carries it. */
static void carry_arrow(const bramah__compiler *k, const char *body, double *arrow)
{
  const double length = sqrt(bramah__dot3(arrow, arrow));
  bramah__carry_direction(k, body, arrow);
  const double now = sqrt(bramah__dot3(arrow, arrow));
  for (int i = 0; i < 3 && now > 0.0; i++) arrow[i] *= length / now;
}

size_t bramah__n_plates(const bramah_machine_tool *tool)
{
  return tool->tool.n_plates + tool->n_profile + (tool->n_profile > 1 ? 2 : 0);
}

/* Plates of a bucket by its side. */
static void add_profile(const bramah_machine_tool *in, bramah_plate *plate)
{
  const size_t n = in->n_profile;
  double middle[3], half[3];
  for (int i = 0; i < 3; i++) {
    middle[i] = 0.5 * (in->tool.edge[0][i] + in->tool.edge[1][i]);
    half[i] = 0.5 * (in->tool.edge[0][i] - in->tool.edge[1][i]);
  }
  for (size_t k = 0; k < n; k++, plate++) {
    const double *from = k ? in->profile + 3 * (k - 1) : middle, *to = in->profile + 3 * k;
    plate->n_corners = 4;
    for (int c = 0; c < 4; c++) {
      bramah__copy3(c == 0 || c == 3 ? from : to, plate->corner[c]);
      bramah__axpy3(c < 2 ? 1.0 : -1.0, half, plate->corner[c]);
    }
  }
  for (int side = 0; side < 2 && n > 1; side++, plate++) {
    plate->n_corners = n + 1;
    for (size_t c = 0; c <= n; c++) {
      bramah__copy3(c ? in->profile + 3 * (c - 1) : middle, plate->corner[c]);
      bramah__axpy3(side ? -1.0 : 1.0, half, plate->corner[c]);
    }
  }
}

/* Tools in the frames of the links that they are on. */
static bramah_status carry_tools(bramah__compiler *k)
{
  bramah_plate *plate = k->t.plate;
  double *point = k->t.tool_point;
  for (size_t i = 0; i < k->source->n_tools; i++) {
    const bramah_machine_tool *in = &k->source->tools[i];
    bramah_tool *out = &k->t.tool[i];
    const char *body;
    if (k->t.load[k->model->first_tool + i].body < 0) return bramah__refuse(k, in, "the ground is no tool");
    if (in->n_profile && (!in->tool.has_edge || in->n_profile >= BRAMAH_PLATE_CORNERS))
      return bramah__refuse(k, in, "a profile has at most 7 points, which begin behind an edge");
    *out = in->tool;
    out->plates = plate;
    out->points = point;
    out->n_plates = bramah__n_plates(in);
    add_profile(in, plate + in->tool.n_plates);
    if (in->n_profile && bramah__dot3(out->blade, out->blade) == 0.0)
      for (int c = 0; c < 3; c++)
        out->blade[c] = in->profile[c] - 0.5 * (in->tool.edge[0][c] + in->tool.edge[1][c]);
    for (size_t p = 0; p < out->n_plates; p++, plate++) {
      if (p < in->tool.n_plates) *plate = in->tool.plates[p];
      for (size_t c = 0; c < plate->n_corners && c < BRAMAH_PLATE_CORNERS; c++)
        body = in->body, bramah__carry_point(k, &body, plate->corner[c]);
    }
    for (size_t p = 0; p < in->tool.n_points; p++, point += 3) {
      bramah__copy3(in->tool.points + 3 * p, point);
      body = in->body, bramah__carry_point(k, &body, point);
    }
    for (int end = 0; end < 2 && out->has_edge; end++)
      body = in->body, bramah__carry_point(k, &body, out->edge[end]);
    carry_arrow(k, in->body, out->blade);
  }
  return BRAMAH_OK;
}

/* What a terrain says of its options; tool NULL: of all but its tools. */
static bramah_status check_options(const bramah__compiler *k, const bramah_terrain_options *o,
                                   const bramah_machine_tool *tool)
{
  bramah_terrain_options alone = *o;
  bramah_terrain *none;
  if (!tool) alone.n_tools = 0;
  const bramah_status status = bramah_terrain_init(&alone, NULL, 0, k->diag, &none);
  if (status == BRAMAH_E_ARGUMENT) { /* nothing is wrong but that there is no memory */
    if (k->diag) bramah_diag_clear(k->diag);
    return BRAMAH_OK;
  }
  bramah__at(k->diag, k->source->file, tool ? tool->line : k->source->terrain.line, 0);
  if (!tool || !k->diag) return status;
  bramah__add_text(k->diag, " (tool ");
  bramah__add_text(k->diag, tool->name);
  bramah__add_text(k->diag, ")");
  return status;
}

bramah_status bramah__build_terrain(bramah__compiler *k)
{
  const bramah_machine_terrain *in = &k->source->terrain;
  const bramah_named named = {"terrain", in->line};
  bramah_model *m = k->model;
  bramah_terrain_options *o = &m->terrain;
  double up[3];
  if (in->options.nx == 0) {
    const bramah_machine_tool *tool = k->source->tools;
    if (k->source->n_tools == 0) return BRAMAH_OK;
    return bramah__compile_fail(k, BRAMAH_E_REFERENCE, tool,
                                "the machine has no terrain that this tool could move through");
  }
  *o = in->options;
  const bramah_status carried = carry_tools(k);
  if (carried != BRAMAH_OK) return carried;
  o->tools = k->t.tool;
  o->n_tools = k->source->n_tools;
  o->gravity = sqrt(bramah__dot3(k->machine->gravity, k->machine->gravity));
  if (!(o->gravity > 0.0)) return bramah__refuse(k, &named, "soil lies only where there is gravity");
  bramah_status status = check_options(k, o, NULL);
  for (size_t i = 0; i < k->source->n_tools && status == BRAMAH_OK; i++) {
    bramah_terrain_options alone = *o;
    alone.tools = &k->t.tool[i], alone.n_tools = 1;
    status = check_options(k, &alone, &k->source->tools[i]);
  }
  if (status != BRAMAH_OK) return status;
  if (o->n_tools == 0) o->max_particles = 0; /* nothing would make one */
  if (!isfinite(in->level)) return bramah__refuse(k, &named, "its level must be finite");
  for (size_t i = 0; i < in->n_heaps; i++)
    if (!isfinite(in->heaps[i].at[0]) || !isfinite(in->heaps[i].at[1]) || !(fabs(in->heaps[i].height) < 1e4))
      return bramah__refuse(k, &named, "its heaps must have finite places and heights");
  for (size_t c = 0; in->heights && c < o->nx * o->ny; c++)
    if (!(fabs(in->heights[c]) < 1e6)) return bramah__refuse(k, &named, "its heights must be finite");
  for (int i = 0; i < 3; i++) up[i] = -k->machine->gravity[i] / o->gravity;
  double s, c;
  bramah__sincos(o->soil.repose, &s, &c);
  fill_heights(in, s / c, k->t.heights);
  bramah__plane_axes(up, m->field_axes);
  m->field = (bramah__heights){o->nx, o->ny, o->cell, {o->origin[0], o->origin[1]}, k->t.heights};
  return BRAMAH_OK;
}

/* ---- points on the ground ---- */

/* 0 where the value is not given */
static double otherwise(double value, double usual) { return value != 0.0 ? value : usual; }

static bramah_status fill_rubbing(const bramah__compiler *k, const bramah_contact *in, bramah__contact *out)
{
  static const double weight = 9.81; /* [N/kg] of a body that rests on its contact */
  const bramah_friction *f = &in->friction;
  out->friction = 1.0;
  if (f->model == BRAMAH_FRICTION_NONE) return BRAMAH_OK;
  if (f->model != BRAMAH_FRICTION_LUGRE) return bramah__refuse(k, in, "the friction of a contact is lugre");
  out->n_states = BRAMAH__CONTACT_STATES;
  out->coulomb = f->coulomb;
  out->static_friction = otherwise(f->static_force, f->coulomb);
  out->stribeck = otherwise(f->stribeck_velocity, 0.1);
  out->exponent = otherwise(f->stribeck_exponent, 2.0);
  out->bristles = otherwise(f->bristle_stiffness, 1000.0);
  out->damping = otherwise(f->bristle_damping, 2.0 * sqrt(fmax(out->bristles, 0.0) / weight));
  out->viscous = f->viscous;
  const struct {
    double value;
    const char *what;
  } values[] = {{out->coulomb, "the coulomb friction"},
                {out->stribeck, "the Stribeck velocity"},
                {out->exponent, "the Stribeck exponent"},
                {out->bristles, "the bristle stiffness"},
                {out->damping, "the bristle damping"}};
  bramah_status status = bramah__not_negative(k, out->viscous, in, "the viscous coefficient");
  for (size_t i = 0; i < sizeof values / sizeof *values && status == BRAMAH_OK; i++)
    status = bramah__positive(k, values[i].value, in, values[i].what);
  if (status == BRAMAH_OK && !(out->static_friction >= out->coulomb && isfinite(out->static_friction)))
    return bramah__refuse(k, in, "static friction must not be below coulomb friction");
  return status;
}

/* All of a contact but its points. */
static bramah_status fill_contact(const bramah__compiler *k, const bramah_contact *in, bramah__contact *out)
{
  static const double up[3] = {0.0, 0.0, 1.0};
  const double *g = k->machine->gravity, against[3] = {-g[0], -g[1], -g[2]};
  double normal[3];
  const int given = bramah__dot3(in->normal, in->normal) != 0.0;
  if (in->on_terrain && k->model->terrain.nx == 0)
    return bramah__compile_fail(k, BRAMAH_E_REFERENCE, in, "the machine has no terrain to stand on");
  *out = (bramah__contact){.linear = in->law == BRAMAH_CONTACT_PENALTY,
                           .normal = {.stiffness = in->stiffness, .damping = in->damping},
                           .hertz = in->stiffness,
                           .loss = in->damping};
  if (in->law != BRAMAH_CONTACT_HUNT_CROSSLEY && !out->linear)
    return bramah__refuse(k, in, "the law of this contact is unknown");
  if (!bramah__normalise(given ? in->normal : against, normal) && !bramah__normalise(up, normal))
    return BRAMAH_E_VALUE;
  if (given && !bramah__normalise(in->normal, normal))
    return bramah__refuse(k, in, "the normal of the ground has no direction");
  bramah__plane_axes(normal, out->axes);
  bramah__copy3(in->ground, out->origin);
  bramah_status status = finite3(k, in->ground, in, "the point of the ground must be finite");
  if (status == BRAMAH_OK) status = bramah__positive(k, in->stiffness, in, "the stiffness");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->damping, in, "the damping");
  return status == BRAMAH_OK ? fill_rubbing(k, in, out) : status;
}

/* The body that a contact is on in the end; -1: one that is welded to the ground, which feels nothing of the contact. */
static bramah_status contact_body(const bramah__compiler *k, const bramah_contact *in, int *body)
{
  const char *name = in->body;
  double point[3] = {0};
  if (name && strcmp(name, "ground") == 0) return bramah__refuse(k, in, "the ground does not touch itself");
  if (name) bramah__carry_point(k, &name, point);
  return bramah__find_body(k, in, name, body);
}

/* ---- tyres ---- */

size_t bramah__n_discs(const bramah_tyre *tyre)
{
  return tyre->n_discs > 0 ? (size_t)tyre->n_discs : tyre->width > 0.0 ? 3 : 1;
}

/* As a contact that rubs, per disc. */
static bramah_contact as_contact(const bramah_tyre *in)
{
  static const bramah_friction sets[] = {{.bristle_stiffness = 100.0,
                                          .bristle_damping = 0.7,
                                          .viscous = 0.011,
                                          .coulomb = 0.35,
                                          .static_force = 0.5,
                                          .stribeck_velocity = 10.0},
                                         {.bristle_stiffness = 40.0,
                                          .bristle_damping = 4.9487,
                                          .viscous = 0.0018,
                                          .coulomb = 0.5,
                                          .static_force = 0.9,
                                          .stribeck_velocity = 12.5}};
  const bramah_friction *own = &in->friction, *set = &sets[in->set == BRAMAH_TYRE_LITERATURE];
  const double discs = (double)bramah__n_discs(in);
  bramah_contact out = {
      .name = in->name,
      .line = in->line,
      .body = in->body,
      .law = BRAMAH_CONTACT_PENALTY,
      .stiffness = in->stiffness / discs,
      .damping = in->damping / discs,
      .friction = {.model = BRAMAH_FRICTION_LUGRE,
                   .coulomb = otherwise(own->coulomb, set->coulomb),
                   .static_force = otherwise(own->static_force, set->static_force),
                   .stribeck_velocity = otherwise(own->stribeck_velocity, set->stribeck_velocity),
                   .stribeck_exponent = otherwise(own->stribeck_exponent, 0.5),
                   .viscous = otherwise(own->viscous, set->viscous),
                   .bristle_stiffness = otherwise(own->bristle_stiffness, set->bristle_stiffness),
                   .bristle_damping = otherwise(own->bristle_damping, set->bristle_damping)}};
  out.on_terrain = in->on_terrain;
  bramah__copy3(in->ground, out.ground);
  bramah__copy3(in->normal, out.normal);
  return out;
}

/* The axis that is given, or that of the joint in front of the wheel. */
static bramah_status spin_axis(const bramah__compiler *k, const bramah_tyre *in, double *axis)
{
  const bramah_machine *d = k->source;
  bramah__copy3(in->axis, axis);
  for (size_t j = 0; j < d->n_joints && bramah__dot3(in->axis, in->axis) == 0.0; j++) {
    if (strcmp(d->joints[j].child, in->body) != 0) continue;
    if (d->joints[j].type != BRAMAH_JOINT_REVOLUTE)
      return bramah__refuse(k, in, "the joint in front of this wheel is not revolute: say its 'axis'");
    bramah__copy3(d->joints[j].axis, axis);
    break;
  }
  bramah__carry_direction(k, in->body, axis);
  if (bramah__normalise(axis, axis)) return BRAMAH_OK;
  return bramah__refuse(k, in, "the axis of this tyre has no direction");
}

/* All discs of a tyre, the first of which has its bristles at *state. */
static bramah_status fill_tyre(const bramah__compiler *k, const bramah_tyre *in, size_t *state,
                               bramah__contact *out)
{
  const bramah_contact contact = as_contact(in);
  const size_t discs = bramah__n_discs(in);
  const char *body = in->body;
  double centre[3];
  bramah_status status = bramah__positive(k, in->radius, in, "the radius");
  if (status == BRAMAH_OK) status = bramah__not_negative(k, in->width, in, "the width");
  if (status == BRAMAH_OK) status = finite3(k, in->centre, in, "the centre must be finite");
  if (status == BRAMAH_OK)
    status = bramah__positive(k, otherwise(in->patch_length, 1.0), in, "the length of the patch");
  if (status == BRAMAH_OK) status = fill_contact(k, &contact, out);
  if (status == BRAMAH_OK) status = contact_body(k, &contact, &out->body);
  if (status == BRAMAH_OK && out->body < 0) return bramah__refuse(k, in, "this wheel is fixed to the ground");
  if (status == BRAMAH_OK) status = spin_axis(k, in, out->spin);
  if (status != BRAMAH_OK) return status;
  out->radius = in->radius;
  out->rolling = 2.0 / otherwise(in->patch_length, 1.0 / 3.0);
  bramah__copy3(in->centre, centre);
  bramah__carry_point(k, &body, centre);
  const bramah__contact each = *out;
  for (size_t i = 0; i < discs; i++, out++, *state += each.n_states) {
    *out = each;
    bramah__copy3(centre, out->point);
    bramah__axpy3(in->width * (((double)i + 0.5) / (double)discs - 0.5), out->spin, out->point);
    out->first_state = *state;
  }
  return BRAMAH_OK;
}

/* ---- brakes ---- */

static bramah_status fill_brake(const bramah__compiler *k, const bramah_brake *in, size_t state,
                                bramah__contact *out)
{
  const bramah_contact rubs = {
      .name = in->name,
      .line = in->line,
      .friction = {.model = BRAMAH_FRICTION_LUGRE,
                   .coulomb = 1.0,
                   .static_force = otherwise(in->static_torque, in->torque) / in->torque,
                   .stribeck_velocity = in->stribeck_velocity,
                   .bristle_stiffness = in->bristle_stiffness,
                   .bristle_damping = in->bristle_damping}};
  size_t joint;
  bramah_status status = bramah__positive(k, in->torque, in, "the torque");
  if (status == BRAMAH_OK)
    status =
        bramah__find_turning(k, in, in->joint, "a brake needs a joint that turns about one axis", &joint);
  if (status != BRAMAH_OK) return status;
  *out = (bramah__contact){.body = (int)joint,
                           .parent = k->t.link[joint].parent,
                           .pressed = in->torque,
                           .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  status = fill_rubbing(k, &rubs, out);
  out->n_states = 1;
  out->first_state = state;
  if (!in->command.input || status != BRAMAH_OK) return status;
  out->is_commanded = 1;
  out->spool = bramah__spool_of_command(k->source, &in->command);
  return bramah__check_command(k, &in->command, 0, in, &out->limit);
}

/* Its plates, which rub as a brake; number i of the clutches. */
static bramah_status fill_plates(const bramah__compiler *k, size_t i, size_t state, bramah__contact *out)
{
  const bramah_clutch *in = &k->source->clutches[i];
  bramah__shaft *shaft = &k->t.shaft[k->source->n_engines + i];
  const double per_torque = otherwise(in->stiffness / in->torque, 50.0);
  const bramah_contact rubs = {
      .name = in->name,
      .line = in->line,
      .friction = {.model = BRAMAH_FRICTION_LUGRE,
                   .coulomb = 1.0,
                   .bristle_stiffness = per_torque,
                   .bristle_damping = otherwise(in->damping / in->torque, 0.005 * per_torque)}};
  shaft->contact = (size_t)(out - k->t.contact_point);
  *out = (bramah__contact){.body = (int)shaft->joint[0],
                           .parent = shaft->parent[0],
                           .clutch = shaft,
                           .pressed = in->torque,
                           .is_commanded = shaft->is_commanded[0],
                           .spool = shaft->spool[0],
                           .limit = shaft->limit[0],
                           .axes = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const bramah_status status = fill_rubbing(k, &rubs, out);
  out->n_states = 1;
  out->first_state = state;
  return status;
}

/* Contact points from `first` to `end` on the field, each with a part of the patch of a tyre, or none. */
static void stand_on_terrain(bramah__compiler *k, const bramah_tyre *tyre, const bramah__contact *first,
                             const bramah__contact *end)
{
  bramah_model *m = k->model;
  const double discs = (double)(end - first);
  for (; first < end; first++)
    m->standing[m->n_standing++] = (bramah__standing){
        .point = (size_t)(first - k->t.contact_point),
        .patch = {tyre ? fmin(2.0 / first->rolling, first->radius) : 0.0, tyre ? tyre->width / discs : 0.0}};
}

/* ---- bristles that are error states ---- */

const char *bramah__bristle_name(bramah__arena *arena, const char *contact, size_t i, size_t a)
{
  char number[BRAMAH__NUMBER_SIZE], ending[64];
  bramah__format_integer(number, (int64_t)(i + 1));
  const size_t used = bramah__append(ending, sizeof ending, 0, a ? ".bristle_y_" : ".bristle_x_");
  bramah__append(ending, sizeof ending, used, number);
  return bramah__join_text(arena, contact, ending);
}

static int is_estimated(const bramah_machine *d, const char *name)
{
  return name && bramah__find_name(d->n_estimated_bristles, d->estimated_bristles, name) >= 0;
}

size_t bramah__bristles_layout(const bramah_machine *d, bramah_model *model, bramah__arena *arena)
{
  size_t n = 0;
  if (model) model->bristle_name = BRAMAH__TAKE(arena, const char *, model->n_bristles);
  if (model) model->bristle_state = BRAMAH__TAKE(arena, size_t, model->n_bristles);
  for (size_t i = 0; i < d->n_contacts + d->n_tyres + d->n_brakes + d->n_clutches; i++) {
    const size_t t = i - d->n_contacts, b = t - d->n_tyres, c = b - d->n_brakes; /* wrap for what is before */
    const int is_point = i < d->n_contacts, is_brake = i >= d->n_contacts + d->n_tyres;
    const char *name = is_point          ? d->contacts[i].name
                       : !is_brake       ? d->tyres[t].name
                       : b < d->n_brakes ? d->brakes[b].name
                                         : d->clutches[c].name;
    const size_t points = is_point   ? bramah__count_ground_points(d, &d->contacts[i])
                          : is_brake ? 1
                                     : bramah__n_discs(&d->tyres[t]);
    if (!is_estimated(d, name) || (is_point && d->contacts[i].friction.model == BRAMAH_FRICTION_NONE))
      continue;
    for (size_t p = 0; p < points; p++)
      for (size_t a = 0; a < (is_brake ? 1 : BRAMAH__CONTACT_STATES); a++, n++) {
        const char *text = model ? bramah__bristle_name(arena, name, p, a) : NULL;
        if (model && model->bristle_name) model->bristle_name[n] = text;
      }
  }
  return n;
}

/* Points of a contact that rub get their places among the error states; `named` goes on along the names laid out. */
static void take_bristles(bramah__compiler *k, const char *name, bramah__contact *first, bramah__contact *end,
                          size_t *named)
{
  bramah_model *m = k->model;
  for (; first < end && is_estimated(k->source, name); first++) {
    first->n_errors = first->n_states;
    first->first_error = m->n_bristles;
    for (size_t a = 0; a < first->n_states; a++) {
      m->bristle_state[m->n_bristles] = first->first_state + a;
      m->bristle_name[m->n_bristles++] = m->bristle_name[(*named)++];
    }
  }
}

static bramah_status check_estimated(const bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_estimated_bristles; i++) {
    const char *name = d->estimated_bristles[i];
    if (!name || bramah__find_name(d->n_contacts + d->n_tyres + d->n_brakes + d->n_clutches,
                                   k->model->contact_name, name) < 0)
      return bramah__compile_fail(
          k, BRAMAH_E_REFERENCE, &(bramah_named){name ? name : "bristles", 0},
          "there is no contact, tyre, brake or clutch of this name whose bristles could be error states");
    for (size_t c = 0; c < d->n_contacts; c++)
      if (d->contacts[c].n_between && d->contacts[c].name && strcmp(d->contacts[c].name, name) == 0)
        return bramah__compile_fail(
            k, BRAMAH_E_UNSUPPORTED, &d->contacts[c],
            "bristles between bodies go from point to point: they are no error states");
  }
  return BRAMAH_OK;
}

/* Contacts with the ground come first, then those between bodies; and their names likewise. */
static const bramah_contact *nth_contact(const bramah_machine *d, size_t n)
{
  for (int between = 0; between < 2; between++)
    for (size_t i = 0; i < d->n_contacts; i++)
      if ((d->contacts[i].n_between > 0) == between && n-- == 0) return &d->contacts[i];
  return d->contacts;
}

static void place_name(const char **names, size_t n, const char *first)
{
  const long at = bramah__find_name(n, names, first);
  if (at < 0) return;
  const char *name = names[at];
  for (size_t i = (size_t)at; i > 0; i--) names[i] = names[i - 1];
  names[0] = name;
}

static bramah_status fill_on_ground(bramah__compiler *k, const bramah_contact *in, size_t *kept,
                                    bramah__contact **out)
{
  const bramah__contact *first = *out;
  bramah__contact each;
  bramah_status status = fill_contact(k, in, &each);
  if (status == BRAMAH_OK && bramah__count_ground_points(k->source, in) == 0)
    return bramah__refuse(k, in, "this contact has no points, and its body no shapes");
  if (status == BRAMAH_OK) status = contact_body(k, in, &each.body);
  if (status != BRAMAH_OK || each.body < 0) return status;
  if (in->n_points == 0) *out += bramah__fill_ground_points(k, in, &each, *out);
  for (size_t l = 0; l < in->n_points && status == BRAMAH_OK; l++, (*out)++) {
    const char *body = in->body;
    **out = each;
    bramah__copy3(in->points + 3 * l, (*out)->point);
    status = finite3(k, (*out)->point, in, "the points of a contact must be finite");
    bramah__carry_point(k, &body, (*out)->point);
  }
  if (in->on_terrain) stand_on_terrain(k, NULL, first, *out);
  ++*kept;
  return status;
}

static bramah_status fill_between(bramah__compiler *k, const bramah_contact *in, size_t *kept,
                                  bramah__contact **out)
{
  bramah__contact each;
  if (in->body || in->n_points || in->on_terrain || bramah__dot3(in->normal, in->normal) != 0.0)
    return bramah__refuse(k, in, "a contact between bodies has no body, points or ground of its own");
  bramah_status status = fill_contact(k, in, &each);
  if (status == BRAMAH_OK) status = bramah__fill_meetings(k, in, *kept, &each, out);
  ++*kept;
  return status;
}

bramah_status bramah__build_contacts(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_model *m = k->model;
  bramah__contact *out = k->t.contact_point;
  size_t state = m->circuit.n_friction_states, kept = 0, named = 0;
  m->n_standing = m->n_bristles = 0;
  bramah_status status = check_estimated(k);
  if (status == BRAMAH_OK)
    status = check_named(k, d->contacts, d->n_contacts, sizeof *d->contacts, "contact");
  if (status == BRAMAH_OK) status = bramah__build_shapes(k);
  m->n_between = m->n_meetings = m->n_held = 0;
  for (size_t i = 0; i < d->n_contacts && status == BRAMAH_OK; i++) {
    const bramah_contact *in = nth_contact(d, i);
    const size_t before = kept;
    bramah__contact *first = out;
    place_name(m->contact_name + i, d->n_contacts - i, in->name);
    m->contact_name[kept] = m->contact_name[i];
    m->first_point[kept] = (size_t)(out - k->t.contact_point);
    status = in->n_between ? fill_between(k, in, &kept, &out) : fill_on_ground(k, in, &kept, &out);
    for (bramah__contact *each = first; each < out; each++, state += each[-1].n_states)
      each->first_state = state;
    m->n_between += in->n_between && kept > before;
    if (kept == before && is_estimated(d, in->name) && in->friction.model != BRAMAH_FRICTION_NONE)
      named += BRAMAH__CONTACT_STATES * bramah__count_ground_points(d, in); /* welded to the ground */
    take_bristles(k, in->name, first, out, &named);
  }
  const size_t on_points = kept;
  bramah__sort_meetings(k);
  if (status == BRAMAH_OK) status = check_named(k, d->tyres, d->n_tyres, sizeof *d->tyres, "tyre");
  if (status == BRAMAH_OK) status = check_named(k, d->brakes, d->n_brakes, sizeof *d->brakes, "brake");
  for (size_t i = 0; i < d->n_tyres + m->n_brakes && status == BRAMAH_OK; i++) {
    const bramah_tyre *tyre = i < d->n_tyres ? &d->tyres[i] : NULL;
    const size_t brake = i - d->n_tyres; /* wraps for tyres */
    const char *name = m->contact_name[d->n_contacts + i];
    if (tyre && bramah__find_name(on_points, m->contact_name, name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, tyre, "this name is given to a contact, too");
    m->contact_name[kept] = name;
    m->first_point[kept++] = (size_t)(out - k->t.contact_point);
    status = tyre                  ? fill_tyre(k, tyre, &state, out)
             : brake < d->n_brakes ? fill_brake(k, &d->brakes[brake], state++, out)
                                   : fill_plates(k, brake - d->n_brakes, state++, out);
    if (tyre && tyre->on_terrain && status == BRAMAH_OK)
      stand_on_terrain(k, tyre, out, out + bramah__n_discs(tyre));
    bramah__contact *first = out;
    out += tyre ? bramah__n_discs(tyre) : 1;
    if (status == BRAMAH_OK) take_bristles(k, name, first, out, &named);
  }
  m->n_tyres = d->n_tyres;
  m->n_contacts = kept;
  m->n_contact_points = m->first_point[kept] = (size_t)(out - k->t.contact_point);
  m->n_friction_states = state;
  m->contact_point = k->t.contact_point;
  return status;
}

/* Rolling wheels and knife edges of a machine. */

typedef struct description {
  const char *name;
  int line;
  const char *body;
  const double *point, *axis;
  double radius; /* 0: an edge */
} description;

static bramah_status fill(const bramah__compiler *k, const description *d, bramah__rolling *out)
{
  const char *body = d->body;
  double axis[3];
  bramah_status status = bramah__check_named(k, d, d->radius > 0.0 ? "wheel" : "knife edge", 0);
  if (status != BRAMAH_OK) return status;
  *out = (bramah__rolling){.name = d->name, .is_wheel = d->radius > 0.0, .radius = d->radius};
  memcpy(out->point, d->point, sizeof out->point);
  memcpy(axis, d->axis, sizeof axis);
  bramah__carry_direction(k, body, axis);
  bramah__carry_point(k, &body, out->point);
  if (!bramah__normalise(axis, out->axis)) return bramah__refuse(k, d, "its axis or normal has no direction");
  status = bramah__find_body(k, d, body, &out->body);
  if (status == BRAMAH_OK && out->body < 0) return bramah__refuse(k, d, "the ground does not roll");
  return status;
}

bramah_status bramah__build_rolling(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_model *model = k->model;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < d->n_wheels && status == BRAMAH_OK; i++) {
    const bramah_wheel *w = &d->wheels[i];
    status = bramah__positive(k, w->radius, w, "the radius");
    const description one = {w->name, w->line, w->body, w->centre, w->axis, w->radius};
    if (status == BRAMAH_OK) status = fill(k, &one, &model->rolling[model->n_rolling++]);
  }
  for (size_t i = 0; i < d->n_knife_edges && status == BRAMAH_OK; i++) {
    const bramah_knife_edge *e = &d->knife_edges[i];
    const description one = {e->name, e->line, e->body, e->point, e->normal, 0.0};
    status = fill(k, &one, &model->rolling[model->n_rolling++]);
  }
  return status;
}
