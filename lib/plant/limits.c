/* SPDX-License-Identifier: MIT */
/* Whether the state is one that the equations have but no machine: oil under tension, a piston behind the end of its
 * cylinder. */
#include "lib/plant/coupled_internal.h"

#include <math.h>

/* The guard against cavitation holds a pressure within some pascals of the vapour pressure. */
static const double guarded = 1e3; /* [Pa] */
/* An end stop is a stiff spring: as much of the travel it may give way. */
static const double stop_share = 0.01;

/* The output that shows something of this kind. */
static size_t output_of(const bramah_model *model, bramah__output_code code, size_t index)
{
  size_t i = 0;
  while (model->output[i].code != code || model->output[i].index != index) i++;
  return i;
}

void bramah_coupled_limits(bramah_coupled *c, bramah_limit worst[BRAMAH_N_LIMITS])
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  bramah_limit *pressure = &worst[BRAMAH_LIMIT_PRESSURE], *stroke = &worst[BRAMAH_LIMIT_STROKE];
  const double least = fmax(circuit->air.vapour_pressure - guarded, 0.0);
  *pressure = *stroke = (bramah_limit){0};
  if (bramah__refresh(c, NULL) != BRAMAH_OK) return;
  for (size_t i = 0; i < bramah__n_filled(circuit); i++)
    if (least - c->state.p[i] > pressure->beyond)
      *pressure =
          (bramah_limit){output_of(model, BRAMAH__VOLUME_PRESSURE, i), c->state.p[i], least - c->state.p[i]};

  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    const double s = c->now->s[i], piston = bramah__piston_chamber(cylinder, s),
                 rod = bramah__rod_chamber(cylinder, s);
    const double gives = cylinder->stop.stiffness > 0.0 ? stop_share * (piston + rod) : 0.0;
    const double beyond = -fmin(piston, rod) - gives;
    if (beyond > stroke->beyond)
      *stroke = (bramah_limit){output_of(model, BRAMAH__CYLINDER_STROKE, i), s, beyond};
  }
}

void bramah_limit_event_add(bramah_limit_event *event, const bramah_limit *limit, int64_t time_ns)
{
  if (!(limit->beyond > 0.0)) return;
  if (!event->n++) event->first_ns = time_ns;
  if (!(limit->beyond > event->worst.beyond)) return;
  event->worst = *limit;
  event->worst_ns = time_ns;
}
