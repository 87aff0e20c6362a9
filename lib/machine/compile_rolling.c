/* SPDX-License-Identifier: MIT */
/* Rolling wheels and knife edges of a machine. */
#include "lib/machine/compile.h"

#include <math.h>
#include <string.h>

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
  if (!d->name || !d->name[0])
    return bramah__compile_fail(k, BRAMAH_E_KEY, d->radius > 0.0 ? "wheel" : "knife edge", d->line,
                                "has no name");
  *out = (bramah__rolling){.name = d->name, .is_wheel = d->radius > 0.0, .radius = d->radius};
  memcpy(out->point, d->point, sizeof out->point);
  memcpy(axis, d->axis, sizeof axis);
  bramah__carry_direction(k, body, axis);
  bramah__carry_point(k, &body, out->point);
  if (!bramah__normalise(axis, out->axis))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, d->name, d->line, "its axis or normal has no direction");
  const bramah_status status = bramah__find_body(k, d->name, d->line, body, &out->body);
  if (status == BRAMAH_OK && out->body < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, d->name, d->line, "the ground does not roll");
  return status;
}

bramah_status bramah__build_rolling(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_model *model = k->model;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < d->n_wheels && status == BRAMAH_OK; i++) {
    const bramah_wheel *w = &d->wheels[i];
    status = bramah__positive(k, w->radius, w->name, w->line, "the radius");
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
