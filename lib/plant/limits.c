/* SPDX-License-Identifier: MIT */
/* Whether the state is one that the equations have but no machine: oil under tension, a piston behind the end of its
 * cylinder, an open loop, a pose that constraints do not determine; or that a step was too coarse for. */
#include "lib/plant/coupled_internal.h"

#include <math.h>

/* The guard against cavitation holds a pressure within some pascals of the vapour pressure. */
static const double guarded = 1e3; /* [Pa] */
/* An end stop is a stiff spring: as much of the travel it may give way. */
static const double stop_share = 0.01;
static const double gapes = 1e-5;        /* of the size of the machine, [m or rad] */
static const double undetermined = 1e-5; /* bramah__least_pivot: rates to 1e-16 / 1e-10 or worse */

/* The output that shows something of this kind. */
static size_t output_of(const bramah_model *model, bramah__output_code code, size_t index)
{
  size_t i = 0;
  while (model->output[i].code != code || model->output[i].index != index) i++;
  return i;
}

/* Number of the loop, or behind the loops the motion, that is missed by most. */
static size_t worst_constraint(const bramah_model *model, const bramah__eval *eval)
{
  size_t worst = 0, largest = 0;
  for (size_t k = 1; k < model->m; k++)
    if (!(fabs(eval->Phi[k]) <= fabs(eval->Phi[largest]))) largest = k;
  if (largest < model->m_loops) return bramah__loop_of_row(model, largest);
  while (model->motion[worst].row != largest) worst++;
  return model->n_loops + worst;
}

void bramah_coupled_limits(bramah_coupled *c, bramah_limit worst[BRAMAH_N_LIMITS])
{
  const bramah_model *model = c->model;
  const bramah__circuit *circuit = &model->circuit;
  bramah_limit *pressure = &worst[BRAMAH_LIMIT_PRESSURE], *stroke = &worst[BRAMAH_LIMIT_STROKE];
  const double least = fmax(circuit->air.vapour_pressure - guarded, 0.0);
  for (int k = 0; k < BRAMAH_N_LIMITS; k++) worst[k] = (bramah_limit){0};
  if (bramah__refresh(c, NULL) != BRAMAH_OK) return;
  for (size_t i = 0; i < bramah__n_filled(circuit); i++)
    if (least - c->state.p[i] > pressure->beyond)
      *pressure =
          (bramah_limit){output_of(model, BRAMAH__VOLUME_PRESSURE, i), c->state.p[i], least - c->state.p[i]};
  for (size_t i = 0; circuit->n_metered && i < model->n_outputs; i++) {
    const bramah__output_code code = model->output[i].code;
    if (code != BRAMAH__PISTON_PRESSURE && code != BRAMAH__ROD_PRESSURE) continue;
    const double p = bramah__output_value(c, i);
    if (least - p > pressure->beyond) *pressure = (bramah_limit){i, p, least - p};
  }

  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah__cylinder *cylinder = &circuit->cylinder[i];
    const double s = c->now->s[i], piston = bramah__chamber(cylinder, 0, e_number(s)).value,
                 rod = bramah__chamber(cylinder, 1, e_number(s)).value;
    const double gives = cylinder->stop.stiffness > 0.0 ? stop_share * (piston + rod) : 0.0;
    const double beyond = -fmin(piston, rod) - gives;
    if (beyond > stroke->beyond)
      *stroke = (bramah_limit){output_of(model, BRAMAH__CYLINDER_STROKE, i), s, beyond};
  }

  /* The step that led here. */
  const bramah__step_error *e = &c->error;
  if (e->end_ns == *c->state.time_ns && e->largest > model->tolerance)
    worst[BRAMAH_LIMIT_STEP] = (bramah_limit){output_of(model, BRAMAH__JOINT_POSITION, e->worst), e->largest,
                                              e->largest - model->tolerance};

  if (model->m == 0) return;
  const double gap = bramah_coupled_constraint_violation(c),
               size = fmax(1.0, 1e13 * model->closure_tolerance);
  const size_t at = worst_constraint(model, c->now);
  if (!(gap <= gapes * size) && c->injection != BRAMAH_INJECTION_LINEARISED)
    worst[BRAMAH_LIMIT_LOOP] = (bramah_limit){at, gap, isfinite(gap) ? gap - gapes * size : (double)INFINITY};
  const double pivot = bramah__least_pivot(model, c->now);
  if (!c->now->bridged && !(pivot >= undetermined))
    worst[BRAMAH_LIMIT_POSE] = (bramah_limit){at, pivot, undetermined - pivot};
}

void bramah_coupled_limit_info(const bramah_coupled *c, bramah_limit_kind kind, const bramah_limit *limit,
                               bramah_output_info *info)
{
  const bramah_model *model = c->model;
  *info = (bramah_output_info){.name = "", .unit = kind == BRAMAH_LIMIT_LOOP ? "m" : "1"};
  if (kind != BRAMAH_LIMIT_LOOP && kind != BRAMAH_LIMIT_POSE)
    *info = model->output[limit->output].info;
  else if (model->m)
    info->name = limit->output < model->n_loops ? model->loop_name[limit->output]
                                                : model->motion_name[limit->output - model->n_loops];
}

void bramah_limit_event_add(bramah_limit_event *event, const bramah_limit *limit, int64_t time_ns)
{
  if (!(limit->beyond > 0.0)) return;
  if (!event->n++) event->first_ns = time_ns;
  if (!(limit->beyond > event->worst.beyond)) return;
  event->worst = *limit;
  event->worst_ns = time_ns;
}
