/* SPDX-License-Identifier: MIT */
/* Contacts and tyres on a field of heights: each sees the plane that touches the field below it, which is held over a step and
 * taken anew before the next. A step is then as smooth as on planes, and has the same derivatives. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"

#include <string.h>

void bramah__apply_planes(bramah_coupled *c, const double *plane)
{
  for (size_t k = 0; k < c->model->n_standing; k++, plane += 4) {
    bramah__contact *contact = &c->model->contact_point[c->model->standing[k].point];
    bramah__plane_axes(plane, contact->axes);
    for (int i = 0; i < 3; i++) contact->origin[i] = plane[3] * plane[i];
  }
}

/* Of a contact at a pose: unit normal and distance from the origin along it [4]. Where a disc is lowest depends on the normal,
 * so it is looked for twice. */
static void plane_below(const bramah_model *model, const bramah__heights *field, bramah__contact contact,
                        const bramah__pose *pose, double *plane)
{
  const double *E = model->field_axes;
  const int is_disc = contact.radius > 0.0;
  bramah__contact_frame at;
  memcpy(contact.axes, E, sizeof contact.axes);
  for (int pass = 0; pass <= is_disc; pass++) {
    double q[3], n[3], x[3];
    if (is_disc)
      bramah__disc_place(&contact, pose, &at);
    else
      bramah__point(pose, contact.body, contact.point, at.place);
    bramah__rotate3(E, at.place, q);
    q[2] = bramah__heights_at(field, q[0], q[1], n);
    bramah__unrotate3(E, n, plane);
    bramah__unrotate3(E, q, x);
    plane[3] = bramah__dot3(plane, x);
    bramah__plane_axes(plane, contact.axes);
  }
}

/* Planes [4 n_standing] of a state. */
static void find_planes(bramah_coupled *c, const bramah__state *state, double *plane)
{
  const bramah_model *model = c->model;
  bramah__tree_pose(&model->tree, state->base, state->z, c->probe->pose);
  for (size_t k = 0; k < model->n_standing; k++)
    plane_below(model, &c->field, model->contact_point[model->standing[k].point], c->probe->pose,
                plane + 4 * k);
}

void bramah__stand(bramah_coupled *c, bramah__state *state)
{
  if (c->model->n_standing == 0) return;
  find_planes(c, state, state->plane);
  bramah__apply_planes(c, state->plane);
}

bramah_status bramah__renew_planes(bramah_coupled *c, bramah_diag *diag)
{
  const size_t size = 4 * c->model->n_standing * sizeof *c->state.plane;
  if (size == 0) return BRAMAH_OK;
  find_planes(c, &c->state, c->next.plane);
  if (memcmp(c->next.plane, c->state.plane, size) == 0) return BRAMAH_OK;
  return bramah__settle_rates(c, diag);
}
