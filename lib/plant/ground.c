/* SPDX-License-Identifier: MIT */
/* Contacts and tyres on a field of heights: each sees the plane that touches the field below it, which is held over a step and
 * taken anew before the next. A step is then as smooth as on planes, and has the same derivatives. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

void bramah__apply_ground(bramah_coupled *c, const bramah__state *state)
{
  const double *plane = state->plane, *tool = state->tool;
  for (size_t i = 0; c->base && i < c->model->n_tools; i++, tool += BRAMAH__TOOL_STATE) {
    bramah__load *load = &c->own.load[c->model->first_tool + i];
    bramah__copy3(tool, load->force);
    bramah__copy3(tool + 3, load->torque);
  }
  for (size_t k = 0; k < c->model->n_standing; k++, plane += 4) {
    bramah__contact *contact = &c->model->contact_point[c->model->standing[k].point];
    bramah__plane_axes(plane, contact->axes);
    for (int i = 0; i < 3; i++) contact->origin[i] = plane[3] * plane[i];
  }
}

size_t bramah__patch_parts(double length, double cell)
{
  const double parts = ceil(2.0 * length / cell - 1e-9);
  return parts < 1.0 ? 1 : parts > BRAMAH__PATCH_SIDE ? BRAMAH__PATCH_SIDE : (size_t)parts;
}

size_t bramah__patch_points(const bramah__standing *standing, double cell, const double *place,
                            const double *ahead, const double *aside, double (*out)[2])
{
  size_t n[2], count = 0;
  for (int i = 0; i < 2; i++) n[i] = bramah__patch_parts(standing->patch[i], cell);
  for (size_t i = 0; i < n[0]; i++)
    for (size_t j = 0; j < n[1]; j++, count++) {
      const double s = standing->patch[0] * (((double)i + 0.5) / (double)n[0] - 0.5),
                   w = standing->patch[1] * (((double)j + 0.5) / (double)n[1] - 0.5);
      out[count][0] = place[0] + s * ahead[0] + w * aside[0];
      out[count][1] = place[1] + s * ahead[1] + w * aside[1];
    }
  return count;
}

/* Mean height and normal below the patch of a contact that touches at q [3], in the frame of the field. */
static void mean_below(const bramah_model *model, const bramah__heights *field,
                       const bramah__standing *standing, const bramah__contact_frame *at, double *q,
                       double *n)
{
  double ahead[3], aside[3], point[BRAMAH__PATCH_POINTS][2], slope[2] = {0.0}, height = 0.0;
  bramah__rotate3(model->field_axes, at->axes, ahead);
  bramah__rotate3(model->field_axes, at->axes + 3, aside);
  const size_t count = bramah__patch_points(standing, field->cell, q, ahead, aside, point);
  for (size_t k = 0; k < count; k++) {
    height += bramah__heights_at(field, point[k][0], point[k][1], n) / (double)count;
    for (int i = 0; i < 2; i++) slope[i] += n[i] / n[2] / (double)count;
  }
  const double scale = 1.0 / sqrt(1.0 + slope[0] * slope[0] + slope[1] * slope[1]);
  q[2] = height;
  n[0] = slope[0] * scale;
  n[1] = slope[1] * scale;
  n[2] = scale;
}

/* Of a contact at a pose: unit normal and distance from the origin along it [4]. Where a disc is lowest depends on the normal,
 * so it is looked for twice. */
static void plane_below(const bramah_model *model, const bramah__heights *field,
                        const bramah__standing *standing, bramah__contact contact, const bramah__pose *pose,
                        double *plane)
{
  const double *E = model->field_axes;
  const int is_disc = bramah__is_disc(&contact), is_round = contact.radius > 0.0;
  bramah__contact_frame at;
  memcpy(contact.axes, E, sizeof contact.axes);
  for (int pass = 0; pass <= is_round; pass++) {
    double q[3], n[3], x[3];
    if (is_disc)
      bramah__disc_place(&contact, pose, &at);
    else
      bramah__pair_place(&contact, pose, at.place);
    bramah__rotate3(E, at.place, q);
    if (is_disc)
      mean_below(model, field, standing, &at, q, n);
    else
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
    plane_below(model, &c->field, &model->standing[k], model->contact_point[model->standing[k].point],
                c->probe->pose, plane + 4 * k);
}

void bramah__stand(bramah_coupled *c, bramah__state *state)
{
  if (c->model->n_meetings) bramah__meet(c, state);
  if (c->model->n_standing) find_planes(c, state, state->plane);
  bramah__apply_ground(c, state);
}
