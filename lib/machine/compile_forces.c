/* SPDX-License-Identifier: MIT */
/* Springs and constant loads of a machine. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

/* Name and line of an element, which every description begins with. */
typedef struct element {
  const char *name;
  int line;
} element;

/* Every name is given, and once among the n elements of `size` bytes. */
static bramah_status check_named(const bramah__compiler *k, const void *elements, size_t n, size_t size,
                                 const char *kind)
{
  const unsigned char *bytes = elements;
  for (size_t i = 0; i < n; i++) {
    const element *e = (const element *)(const void *)(bytes + i * size);
    if (!e->name || !e->name[0]) return bramah__compile_fail(k, BRAMAH_E_KEY, kind, e->line, "has no name");
    for (size_t l = 0; l < i; l++)
      if (strcmp(((const element *)(const void *)(bytes + l * size))->name, e->name) == 0) {
        bramah__compile_fail(k, BRAMAH_E_KEY, e->name, e->line, "this name is given to more than one ");
        bramah__add_text(k->diag, kind);
        return BRAMAH_E_KEY;
      }
  }
  return BRAMAH_OK;
}

static bramah_status check_all_named(const bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_status status = check_named(k, d->springs, d->n_springs, sizeof *d->springs, "spring");
  if (status == BRAMAH_OK)
    status = check_named(k, d->joint_springs, d->n_joint_springs, sizeof *d->joint_springs, "joint spring");
  return status == BRAMAH_OK ? check_named(k, d->forces, d->n_forces, sizeof *d->forces, "force") : status;
}

static bramah_status not_negative(const bramah__compiler *k, double value, element e, const char *what)
{
  if (value >= 0.0 && isfinite(value)) return BRAMAH_OK;
  bramah__compile_fail(k, BRAMAH_E_VALUE, e.name, e.line, what);
  bramah__add_text(k->diag, " must not be negative");
  return BRAMAH_E_VALUE;
}

static bramah_status check_coefficients(const bramah__compiler *k, double stiffness, double damping,
                                        element e)
{
  const bramah_status status = not_negative(k, stiffness, e, "the stiffness");
  return status == BRAMAH_OK ? not_negative(k, damping, e, "the damping") : status;
}

static bramah_status finite3(const bramah__compiler *k, const double *v, element e, const char *message)
{
  for (int i = 0; i < 3; i++)
    if (!isfinite(v[i])) return bramah__compile_fail(k, BRAMAH_E_VALUE, e.name, e.line, message);
  return BRAMAH_OK;
}

static bramah_status fill_spring(const bramah__compiler *k, const bramah_spring *spring, bramah__spring *out)
{
  const element e = {spring->name, spring->line};
  bramah_status status = check_coefficients(k, spring->stiffness, spring->damping, e);
  if (status == BRAMAH_OK) status = not_negative(k, spring->free_length, e, "the free length");
  out->free_length = spring->free_length;
  out->stiffness = spring->stiffness;
  out->damping = spring->damping;
  memcpy(out->line.point, spring->point, sizeof spring->point);
  for (int end = 0; end < 2 && status == BRAMAH_OK; end++) {
    const char *body = spring->body[end];
    bramah__carry_point(k, &body, out->line.point[end]);
    status = bramah__find_body(k, e.name, e.line, body, &out->line.body[end]);
  }
  return status;
}

static bramah_status fill_joint_spring(const bramah__compiler *k, const bramah_joint_spring *spring,
                                       bramah__joint_spring *out)
{
  const element e = {spring->name, spring->line};
  const bramah_status status = check_coefficients(k, spring->stiffness, spring->damping, e);
  if (status != BRAMAH_OK) return status;
  if (!isfinite(spring->free_position))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, e.name, e.line, "the free position must be a number");
  const long joint = bramah__find_name(k->model->n, k->model->joint_name, spring->joint);
  if (joint < 0)
    return bramah__no_such(k, e.name, e.line, "joint coordinate", spring->joint, k->model->n,
                           k->model->joint_name);
  *out = (bramah__joint_spring){(size_t)joint, spring->free_position, spring->stiffness, spring->damping};
  return BRAMAH_OK;
}

static bramah_status fill_load(const bramah__compiler *k, const bramah_force *force, bramah__load *out)
{
  const element e = {force->name, force->line};
  const char *body = force->body;
  out->turns = force->axes == BRAMAH_AXES_BODY;
  memcpy(out->point, force->point, sizeof out->point);
  memcpy(out->force, force->force, sizeof out->force);
  memcpy(out->torque, force->torque, sizeof out->torque);
  bramah_status status = finite3(k, out->force, e, "the force must be finite");
  if (status == BRAMAH_OK) status = finite3(k, out->torque, e, "the torque must be finite");
  if (status != BRAMAH_OK) return status;
  if (out->turns) {
    bramah__carry_direction(k, body, out->force);
    bramah__carry_direction(k, body, out->torque);
  }
  bramah__carry_point(k, &body, out->point);
  status = bramah__find_body(k, e.name, e.line, body, &out->body);
  if (status == BRAMAH_OK && out->body < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, e.name, e.line, "a force on the ground moves nothing");
  return status;
}

bramah_status bramah__build_forces(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_status status = check_all_named(k);
  for (size_t i = 0; i < d->n_springs && status == BRAMAH_OK; i++)
    status = fill_spring(k, &d->springs[i], &k->t.spring[i]);
  for (size_t i = 0; i < d->n_joint_springs && status == BRAMAH_OK; i++)
    status = fill_joint_spring(k, &d->joint_springs[i], &k->t.joint_spring[i]);
  for (size_t i = 0; i < d->n_forces && status == BRAMAH_OK; i++)
    status = fill_load(k, &d->forces[i], &k->t.load[i]);
  k->model->forces = (bramah__forces){d->n_springs,      d->n_joint_springs, d->n_forces, k->t.spring,
                                      k->t.joint_spring, k->t.load,          NULL};
  return status;
}
