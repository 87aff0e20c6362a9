/* SPDX-License-Identifier: MIT */
/* Joints and bodies of a machine into a tree from the root outwards. */
#include "lib/machine/compile.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

/* Index in machine->bodies; -1: ground; -2: none of that name. */
static int machine_body(const bramah_machine *machine, const char *name)
{
  if (name && strcmp(name, "ground") == 0) return -1;
  for (size_t i = 0; name && i < machine->n_bodies; i++)
    if (strcmp(machine->bodies[i].name, name) == 0) return (int)i;
  return -2;
}

static bramah_status check_tree_names(const bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  for (size_t j = 0; j < d->n_joints; j++) {
    const bramah_joint *joint = &d->joints[j];
    const char *ends[2] = {joint->parent, joint->child};
    for (int e = 0; e < 2; e++)
      if (machine_body(d, ends[e]) == -2)
        return bramah__no_such(k, joint->name, joint->line, "body", ends[e], d->n_bodies,
                               k->model->body_name);
    if (machine_body(d, joint->child) == -1)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, joint->name, joint->line,
                                  "the ground cannot be the child of a joint");
  }
  return BRAMAH_OK;
}

static bramah_status check_each_body_once(const bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  for (size_t b = 0; b < d->n_bodies; b++) {
    size_t parents = 0;
    for (size_t j = 0; j < d->n_joints; j++) parents += machine_body(d, d->joints[j].child) == (int)b;
    if (parents == 0)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, d->bodies[b].name, d->bodies[b].line,
                                  "this body hangs on no joint");
    if (parents > 1)
      return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, d->bodies[b].name, d->bodies[b].line,
                                  "this body is the child of more than one joint; close loops under 'loops'");
  }
  return BRAMAH_OK;
}

/* Order the joints so that parents come first, otherwise as they stand in the machine. */
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
            k, BRAMAH_E_TOPOLOGY, d->joints[j].name, d->joints[j].line,
            "this joint is not connected to the ground; cut the loop and close it under 'loops'");
    }
  }
  return BRAMAH_OK;
}

/* Names of joints and bodies in the order of the tree: pointers are permuted through the machine's. */
static void sort_names(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_model *model = k->model;
  /* The names were copied in file order into consecutive slots; look each up by its text. */
  for (size_t i = 0; i < model->n; i++) {
    const char *joint = d->joints[k->t.joint_order[i]].name, *body = d->bodies[k->t.body_of_joint[i]].name;
    for (size_t l = i; l < model->n; l++)
      if (strcmp(model->joint_name[l], joint) == 0) {
        const char *t = model->joint_name[i];
        model->joint_name[i] = model->joint_name[l], model->joint_name[l] = t;
      }
    for (size_t l = i; l < model->n; l++)
      if (strcmp(model->body_name[l], body) == 0) {
        const char *t = model->body_name[i];
        model->body_name[i] = model->body_name[l], model->body_name[l] = t;
      }
  }
}

int bramah__normalise(const double *v, double *out)
{
  const double length = sqrt(bramah__dot3(v, v));
  if (!(length > 0.0) || !isfinite(length)) return 0;
  for (int i = 0; i < 3; i++) out[i] = v[i] / length;
  return 1;
}

/* Right-handed orthonormal within rounding of typed numbers? */
static int is_rotation(const double *R)
{
  double c[3];
  bramah__cross3(R, R + 3, c);
  for (int i = 0; i < 3; i++) {
    if (fabs(bramah__dot3(R + 3 * i, R + 3 * i) - 1.0) > 1e-6) return 0;
    if (fabs(c[i] - R[6 + i]) > 1e-6) return 0;
  }
  return 1;
}

static const double zero9[9] = {0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

bramah_status bramah__joint_rotation(const bramah__compiler *k, const bramah_joint *joint, double *R)
{
  memcpy(R, joint->rotation, sizeof joint->rotation);
  if (memcmp(R, zero9, sizeof zero9) == 0) memcpy(R, identity, sizeof identity);
  if (is_rotation(R)) return BRAMAH_OK;
  return bramah__compile_fail(k, BRAMAH_E_VALUE, joint->name, joint->line,
                              "the rotation of this joint is not a right-handed rotation matrix");
}

static bramah_status fill_joint(const bramah__compiler *k, const bramah_joint *joint, bramah__link *link)
{
  link->revolute = joint->type == BRAMAH_JOINT_REVOLUTE;
  if (!link->revolute && joint->type != BRAMAH_JOINT_PRISMATIC)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, joint->name, joint->line,
                                "the type of this joint is unknown");
  if (!bramah__normalise(joint->axis, link->axis))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, joint->name, joint->line,
                                "the axis of this joint has no direction");
  memcpy(link->position, joint->position, sizeof link->position);
  const bramah_status status = bramah__joint_rotation(k, joint, link->rotation);
  if (status != BRAMAH_OK) return status;
  link->turned = memcmp(link->rotation, identity, sizeof identity) != 0;
  return BRAMAH_OK;
}

bramah_status bramah__check_body(const bramah__compiler *k, const bramah_body *body)
{
  const double *I = body->inertia;
  if (!(body->mass >= 0.0) || !isfinite(body->mass))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, body->name, body->line, "the mass must not be negative");
  if (!(I[0] >= 0.0 && I[1] >= 0.0 && I[2] >= 0.0))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, body->name, body->line,
                                "moments of inertia must not be negative");
  return BRAMAH_OK;
}

static bramah_status fill_body(const bramah__compiler *k, const bramah_body *body, bramah__link *link)
{
  const double *I = body->inertia;
  const bramah_status status = bramah__check_body(k, body);
  if (status != BRAMAH_OK) return status;
  link->mass = body->mass;
  memcpy(link->centre, body->centre_of_mass, sizeof link->centre);
  const double full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  memcpy(link->inertia, full, sizeof full);
  return BRAMAH_OK;
}

/* The three turning coordinates follow each other in the tree: sort_tree keeps chains together. */
static void fill_ball(bramah__compiler *k, size_t i)
{
  const size_t ball = k->t.ball[k->t.joint_order[i]];
  k->t.link[i].ball = (int)ball;
  if (ball == 0) return;
  k->model->ball[ball - 1].first = i;
  for (size_t l = i; l < i + 3; l++) k->model->ball_of[l] = ball;
}

bramah_status bramah__build_tree(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  if (d->n_joints == 0)
    return bramah__compile_fail(k, BRAMAH_E_TOPOLOGY, "joints", 0, "the machine has no joint");
  bramah_status status = check_tree_names(k);
  if (status == BRAMAH_OK) status = check_each_body_once(k);
  if (status == BRAMAH_OK) status = sort_tree(k);
  if (status != BRAMAH_OK) return status;
  sort_names(k);
  for (size_t i = 0; i < k->model->n; i++) {
    const bramah_joint *joint = &d->joints[k->t.joint_order[i]];
    status = fill_joint(k, joint, &k->t.link[i]);
    if (status == BRAMAH_OK) status = fill_body(k, &d->bodies[k->t.body_of_joint[i]], &k->t.link[i]);
    if (status == BRAMAH_OK)
      status = bramah__find_body(k, joint->name, joint->line, joint->parent, &k->t.link[i].parent);
    if (status != BRAMAH_OK) return status;
    k->model->z0[i] = joint->initial_position;
    k->model->zd0[i] = joint->initial_rate;
    k->t.given[i] = joint->initial == BRAMAH_INITIAL_GIVEN;
    fill_ball(k, i);
  }
  return BRAMAH_OK;
}
