/* SPDX-License-Identifier: MIT */
/* A machine in terms of what the tree knows: compound joints become chains of revolute and prismatic ones
 * with massless bodies between them (dissertation 2.4 ff.), and a welded body becomes part of the body it is
 * welded to, with everything that was attached to it. */
#include "lib/machine/compile.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

void bramah_machine_default(bramah_machine *machine)
{
  *machine = (bramah_machine){.transition_pressure = 2e5,
                              .integrator = {.step_ns = 1000000,
                                             .position_tolerance = 1e-7,
                                             .pressure_tolerance = 1e-2,
                                             .tolerance = 1e-2,
                                             .max_iterations = 25,
                                             .penalty_frequency = 100.0,
                                             .penalty_damping = 1.0}};
  bramah_terrain_options_default(&machine->terrain.options);
  machine->terrain.options.sinking = 0.5;
}

/* ---- kinds of joints ---- */

typedef enum direction { ALONG_AXIS, ALONG_SECOND, ACROSS_BOTH, ALONG_X, ALONG_Y, ALONG_Z } direction;

typedef struct coordinate {
  int revolute;
  direction direction;
  const char *suffix;
} coordinate;

enum { MOST_COORDINATES = 6 };

/* By the number of the type; a type that does not exist counts as one coordinate and is refused later. */
static const struct {
  size_t n;
  coordinate coordinate[MOST_COORDINATES];
} chains[] = {
    [0] = {1, {{1, ALONG_AXIS, ""}}},
    [BRAMAH_JOINT_REVOLUTE] = {1, {{1, ALONG_AXIS, ""}}},
    [BRAMAH_JOINT_PRISMATIC] = {1, {{0, ALONG_AXIS, ""}}},
    [BRAMAH_JOINT_FIXED] = {0, {{0, ALONG_AXIS, NULL}}},
    [BRAMAH_JOINT_CYLINDRICAL] = {2, {{0, ALONG_AXIS, "_slide"}, {1, ALONG_AXIS, "_turn"}}},
    [BRAMAH_JOINT_UNIVERSAL] = {2, {{1, ALONG_AXIS, "_first"}, {1, ALONG_SECOND, "_second"}}},
    [BRAMAH_JOINT_PLANAR] = {3, {{0, ALONG_SECOND, "_x"}, {0, ACROSS_BOTH, "_y"}, {1, ALONG_AXIS, "_turn"}}},
    [BRAMAH_JOINT_SPHERICAL] = {3, {{1, ALONG_Z, "_yaw"}, {1, ALONG_Y, "_pitch"}, {1, ALONG_X, "_roll"}}},
    [BRAMAH_JOINT_FLOATING] = {6,
                               {{0, ALONG_X, "_x"},
                                {0, ALONG_Y, "_y"},
                                {0, ALONG_Z, "_z"},
                                {1, ALONG_Z, "_yaw"},
                                {1, ALONG_Y, "_pitch"},
                                {1, ALONG_X, "_roll"}}},
};

static size_t chain_of(bramah_joint_type type)
{
  return (int)type > 0 && (size_t)type < sizeof chains / sizeof chains[0] ? (size_t)type : 0;
}

size_t bramah_joint_n_coordinates(bramah_joint_type type) { return chains[chain_of(type)].n; }

const char *bramah_joint_suffix(bramah_joint_type type, size_t i)
{
  const size_t chain = chain_of(type);
  return i < chains[chain].n ? chains[chain].coordinate[i].suffix : NULL;
}

int bramah__is_ball(const bramah_joint *joint)
{
  return joint->type == BRAMAH_JOINT_SPHERICAL || joint->type == BRAMAH_JOINT_FLOATING;
}

size_t bramah__count_balls(const bramah_machine *machine)
{
  size_t n = 0;
  for (size_t j = 0; j < machine->n_joints; j++) n += (size_t)bramah__is_ball(&machine->joints[j]);
  return n;
}

size_t bramah__count_coordinates(const bramah_machine *machine)
{
  size_t n = 0;
  for (size_t j = 0; j < machine->n_joints; j++) n += bramah_joint_n_coordinates(machine->joints[j].type);
  return n;
}

/* ---- bodies and rotations ---- */

bramah_status bramah__check_body(const bramah__compiler *k, const bramah_body *body)
{
  const double *I = body->inertia;
  if (!(body->mass >= 0.0) || !isfinite(body->mass))
    return bramah__refuse(k, body, "the mass must not be negative");
  if (!(I[0] >= 0.0 && I[1] >= 0.0 && I[2] >= 0.0))
    return bramah__refuse(k, body, "moments of inertia must not be negative");
  return BRAMAH_OK;
}

bramah_status bramah__joint_rotation(const bramah__compiler *k, const bramah_joint *joint, double *R)
{
  static const double zero9[9] = {0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  double c[3];
  memcpy(R, joint->rotation, sizeof joint->rotation);
  if (memcmp(R, zero9, sizeof zero9) == 0) memcpy(R, identity, sizeof identity);
  bramah__cross3(R, R + 3, c);
  for (int i = 0; i < 3; i++) /* right-handed and orthonormal within rounding of typed numbers */
    if (fabs(bramah__dot3(R + 3 * i, R + 3 * i) - 1.0) > 1e-6 || fabs(c[i] - R[6 + i]) > 1e-6)
      return bramah__refuse(k, joint, "the rotation of this joint is not a right-handed rotation matrix");
  return BRAMAH_OK;
}

int bramah__normalise(const double *v, double *out)
{
  const double length = sqrt(bramah__dot3(v, v));
  if (!(length > 0.0) || !isfinite(length)) return 0;
  for (int i = 0; i < 3; i++) out[i] = v[i] / length;
  return 1;
}

/* ---- welds ---- */

static int same(const char *a, const char *b) { return a && b && strcmp(a, b) == 0; }

static const bramah_joint *weld_of(const bramah_machine *machine, const char *body)
{
  for (size_t j = 0; j < machine->n_joints; j++)
    if (machine->joints[j].type == BRAMAH_JOINT_FIXED && same(machine->joints[j].child, body))
      return &machine->joints[j];
  return NULL;
}

int bramah__is_welded(const bramah_machine *machine, const bramah_body *body)
{
  return weld_of(machine, body->name) != NULL;
}

static bramah_status check_weld(const bramah__compiler *k, const bramah_joint *weld)
{
  const bramah_machine *d = k->source;
  const bramah_joint *upper = weld;
  size_t parents = 0;
  for (size_t j = 0; j < d->n_joints; j++) parents += (size_t)same(d->joints[j].child, weld->child);
  if (parents > 1)
    return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, &(bramah_named){weld->child, weld->line},
                                "this body is the child of more than one joint; close loops under 'loops'");
  for (size_t depth = 0; upper; depth++, upper = weld_of(d, upper->parent))
    if (depth > d->n_joints)
      return bramah__compile_fail(
          k, BRAMAH_E_TOPOLOGY, weld,
          "this joint is not connected to the ground: the welds go round in a circle");
  size_t bodies = 0;
  for (size_t b = 0; b < d->n_bodies; b++) bodies += (size_t)same(d->bodies[b].name, weld->parent);
  if (!same(weld->parent, "ground") && bodies == 0)
    return bramah__no_such(k, weld, "body", weld->parent, k->model->n_bodies_named, k->model->body_name);
  size_t found = 0;
  for (size_t b = 0; b < d->n_bodies; b++)
    if (same(d->bodies[b].name, weld->child)) {
      const bramah_status status = bramah__check_body(k, &d->bodies[b]);
      if (status != BRAMAH_OK) return status;
      found++;
    }
  if (found > 1) return bramah__check_named(k, &(bramah_named){weld->child, 0}, "body", 1);
  if (found == 0)
    return bramah__no_such(k, weld, "body", weld->child, k->model->n_bodies_named, k->model->body_name);
  double R[9];
  return bramah__joint_rotation(k, weld, R);
}

/* Place of a body's frame in the body it is welded to in the end: R, r; its name is replaced. */
typedef struct place {
  const char *body;
  double R[9], r[3];
} place;

/* 1 if the body is welded. */
static int find_place(const bramah__compiler *k, const char *body, place *p)
{
  *p = (place){.body = body, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const bramah_joint *weld = weld_of(k->source, body);
  if (!weld) return 0;
  for (; weld; weld = weld_of(k->source, p->body)) {
    double R[9], turned[9], moved[3];
    bramah__joint_rotation(k, weld, R);
    bramah__multiply3(R, p->R, turned);
    bramah__rotate3(R, p->r, moved);
    memcpy(p->R, turned, sizeof turned);
    for (int i = 0; i < 3; i++) p->r[i] = moved[i] + weld->position[i];
    p->body = weld->parent;
  }
  return 1;
}

void bramah__carry_point(const bramah__compiler *k, const char **body, double *point)
{
  place p;
  double moved[3];
  if (!find_place(k, *body, &p)) return;
  bramah__rotate3(p.R, point, moved);
  for (int i = 0; i < 3; i++) point[i] = moved[i] + p.r[i];
  *body = p.body;
}

void bramah__carry_direction(const bramah__compiler *k, const char *body, double *v)
{
  place p;
  double turned[3];
  if (!find_place(k, body, &p)) return;
  bramah__rotate3(p.R, v, turned);
  memcpy(v, turned, sizeof turned);
}

static void full_inertia(const bramah_body *body, double *J)
{
  const double *I = body->inertia;
  const double full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(J, full, sizeof full);
}

/* J += m (d.d - d d'), the inertia of a point at d. */
static void add_point_mass(double m, const double *d, double *J)
{
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) J[3 * i + j] += m * ((i == j ? bramah__dot3(d, d) : 0.0) - d[i] * d[j]);
}

/* One body out of two; the second lies at `p` in the frame of the first. */
static void weld_together(bramah_body *to, const bramah_body *welded, const place *p)
{
  double J[9], own[9], half[9], c[3], centre[3], d[3];
  const double m = to->mass + welded->mass;
  full_inertia(to, J);
  full_inertia(welded, own);
  bramah__multiply3(p->R, own, half);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) J[3 * i + j] += bramah__dot3(half + 3 * i, p->R + 3 * j);
  bramah__rotate3(p->R, welded->centre_of_mass, c);
  bramah__axpy3(1.0, p->r, c);
  for (int i = 0; i < 3; i++)
    centre[i] = m > 0.0 ? (to->mass * to->centre_of_mass[i] + welded->mass * c[i]) / m : 0.0;
  bramah__sub3(to->centre_of_mass, centre, d);
  add_point_mass(to->mass, d, J);
  bramah__sub3(c, centre, d);
  add_point_mass(welded->mass, d, J);
  to->mass = m;
  memcpy(to->centre_of_mass, centre, sizeof centre);
  const double packed[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
  memcpy(to->inertia, packed, sizeof packed);
}

/* ---- chains ---- */

/* Coordinate i of a joint: names [i] are those of its coordinates, and of the bodies behind all but the last.
 */
static bramah_status expand_coordinate(const bramah__compiler *k, const bramah_joint *joint,
                                       const char *const *names, size_t i, bramah_joint *out)
{
  const size_t chain = chain_of(joint->type), n = chains[chain].n;
  const coordinate *c = &chains[chain].coordinate[i];
  *out = *joint;
  out->name = names[i];
  if (i == 0) {
    place p;
    double R[9];
    if (find_place(k, joint->parent, &p)) {
      const bramah_status status = bramah__joint_rotation(k, joint, R);
      if (status != BRAMAH_OK) return status;
      bramah__multiply3(p.R, R, out->rotation);
      bramah__carry_point(k, &out->parent, out->position);
    }
  } else {
    out->parent = names[i - 1];
    memset(out->position, 0, sizeof out->position);
    memset(out->rotation, 0, sizeof out->rotation);
  }
  if (n == 1) return BRAMAH_OK;
  out->type = c->revolute ? BRAMAH_JOINT_REVOLUTE : BRAMAH_JOINT_PRISMATIC;
  if (i + 1 < n) out->child = names[i];
  out->initial_position = joint->initial_positions[i];
  out->initial_rate = joint->initial_rates[i];

  /* its axis, by the axes of the joint */
  static const double fixed[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double first[3], second[3];
  if (c->direction >= ALONG_X) memcpy(out->axis, fixed[c->direction - ALONG_X], sizeof fixed[0]);
  if (joint->type != BRAMAH_JOINT_UNIVERSAL && joint->type != BRAMAH_JOINT_PLANAR) return BRAMAH_OK;
  if (!bramah__normalise(joint->axis, first) || !bramah__normalise(joint->second_axis, second) ||
      fabs(bramah__dot3(first, second)) > 1e-6)
    return bramah__refuse(k, joint, "the two axes of this joint must be perpendicular");
  if (c->direction == ALONG_SECOND) memcpy(out->axis, second, sizeof second);
  if (c->direction == ACROSS_BOTH) bramah__cross3(first, second, out->axis);
  return BRAMAH_OK;
}

static bramah_status expand_joints(bramah__compiler *k, bramah_body *body)
{
  const bramah_machine *d = k->source;
  size_t next = 0, balls = 0;
  for (size_t j = 0; j < d->n_joints; j++) {
    const bramah_joint *joint = &d->joints[j];
    const size_t n = bramah_joint_n_coordinates(joint->type);
    for (size_t i = 0; i < n; i++, next++) {
      const bramah_status status =
          expand_coordinate(k, joint, k->model->joint_name + next - i, i, &k->t.joints[next]);
      if (status != BRAMAH_OK) return status;
      k->t.ball[next] = bramah__is_ball(joint) && i + 3 == n ? ++balls : 0;
      if (i + 1 < n) *body++ = (bramah_body){.name = k->model->joint_name[next], .line = joint->line};
    }
  }
  return BRAMAH_OK;
}

bramah_status bramah__expand(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  size_t n = 0;
  for (size_t j = 0; j < d->n_joints; j++) {
    if (d->joints[j].type != BRAMAH_JOINT_FIXED) continue;
    const bramah_status status = check_weld(k, &d->joints[j]);
    if (status != BRAMAH_OK) return status;
  }
  for (size_t b = 0; b < d->n_bodies; b++)
    if (!bramah__is_welded(d, &d->bodies[b])) k->t.bodies[n++] = d->bodies[b];
  const bramah_status status = expand_joints(k, k->t.bodies + n);
  if (status != BRAMAH_OK) return status;
  bramah_body *bodies = k->t.bodies;
  bramah__weld *weld = k->model->weld;
  for (size_t b = 0; b < k->source->n_bodies; b++) {
    place p;
    if (!find_place(k, k->source->bodies[b].name, &p)) continue;
    for (size_t i = 0; i < n; i++)
      if (same(bodies[i].name, p.body)) weld_together(&bodies[i], &k->source->bodies[b], &p);
    const long carrier = bramah__find_name(k->model->n, k->model->body_name, p.body);
    weld->carrier = carrier < 0 ? NULL : k->model->body_name[carrier];
    memcpy(weld->R, p.R, sizeof weld->R);
    memcpy(weld++->r, p.r, sizeof p.r);
  }
  for (size_t i = 0; i < d->n_loops; i++) {
    bramah_loop *loop = &k->t.loops[i];
    *loop = d->loops[i];
    for (int e = 0; e < 2; e++) {
      bramah__carry_direction(k, loop->body[e], loop->axis[e]);
      bramah__carry_direction(k, loop->body[e], loop->normal[e]);
      bramah__carry_point(k, &loop->body[e], loop->point[e]);
    }
  }
  k->expanded = *d;
  k->expanded.n_bodies = k->expanded.n_joints = k->model->n;
  k->expanded.bodies = k->t.bodies;
  k->expanded.joints = k->t.joints;
  k->expanded.loops = k->t.loops;
  k->machine = &k->expanded;
  return BRAMAH_OK;
}
