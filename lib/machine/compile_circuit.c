/* SPDX-License-Identifier: MIT */
/* Hydraulics of a machine into the circuit. */
#include "lib/machine/compile.h"

#include <math.h>
#include <string.h>

static bramah_status build_volumes(bramah__compiler *k)
{
  for (size_t i = 0; i < k->machine->n_volumes; i++) {
    const bramah_volume *volume = &k->machine->volumes[i];
    bramah__volume *out = &k->t.volume[i];
    for (size_t h = 0; h < volume->n_hoses; h++) {
      bramah_status status =
          bramah__positive(k, volume->hoses[h].volume, volume->name, volume->line, "the volume of a hose");
      if (status == BRAMAH_OK)
        status = bramah__positive(k, volume->hoses[h].bulk_modulus, volume->name, volume->line,
                                  "the bulk modulus of a hose");
      if (status != BRAMAH_OK) return status;
      out->hose_volume += volume->hoses[h].volume;
      out->hose_compliance += volume->hoses[h].volume / volume->hoses[h].bulk_modulus;
    }
    k->model->p0[i] = volume->initial == BRAMAH_PRESSURE_GIVEN ? volume->initial_pressure : 0.0;
    if (!isfinite(k->model->p0[i]))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, volume->name, volume->line,
                                  "the initial pressure is not finite");
  }
  for (size_t i = 0; i < k->machine->n_supplies; i++) {
    k->t.supply[i] = k->machine->supplies[i].pressure;
    if (!isfinite(k->t.supply[i]))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, k->machine->supplies[i].name,
                                  k->machine->supplies[i].line, "the pressure of this supply is not finite");
  }
  return BRAMAH_OK;
}

static bramah_status build_ports(bramah__compiler *k, const bramah_valve *in, bramah__valve *out)
{
  bramah_status status =
      bramah__positive(k, in->flow_coefficient, in->name, in->line, "the flow coefficient");
  if (status == BRAMAH_OK) status = bramah__find_node(k, in->name, in->line, in->pump, &out->pump);
  if (status == BRAMAH_OK) status = bramah__find_node(k, in->name, in->line, in->tank, &out->tank);
  if (status == BRAMAH_OK) status = bramah__find_node(k, in->name, in->line, in->a, &out->a);
  if (status == BRAMAH_OK) status = bramah__find_node(k, in->name, in->line, in->b, &out->b);
  return status;
}

static bramah_status build_spool(bramah__compiler *k, const bramah_valve *in, bramah__valve *out)
{
  const bramah_status status = bramah__positive(k, in->limit, in->name, in->line, "the limit");
  if (status != BRAMAH_OK) return status;
  if (!(in->time_constant >= 0.0 && isfinite(in->time_constant)))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "the time constant must not be negative");
  const long input = bramah__find_name(k->model->n_inputs, k->model->input_name, in->input);
  if (input < 0)
    return bramah__no_such(k, in->name, in->line, "input", in->input, k->model->n_inputs,
                           k->model->input_name);
  out->input = (size_t)input;
  out->coefficient = in->flow_coefficient;
  out->time_constant = in->time_constant;
  out->limit = in->limit;
  return BRAMAH_OK;
}

static bramah_status check_dry(const bramah__compiler *k, const bramah_cylinder *in)
{
  const bramah_friction *f = &in->friction;
  if (f->coulomb >= 0.0 && f->static_force >= f->coulomb && f->viscous >= 0.0)
    return bramah__positive(k, f->stribeck_velocity, in->name, in->line, "the Stribeck velocity");
  return bramah__compile_fail(
      k, BRAMAH_E_VALUE, in->name, in->line,
      "friction needs 0 <= coulomb <= static and a viscous coefficient that is not negative");
}

/* What the bristle models need beyond that. */
static bramah_status check_bristles(const bramah__compiler *k, const bramah_cylinder *in)
{
  const bramah_friction *f = &in->friction;
  const struct {
    double value;
    const char *what;
  } checks[] = {{f->coulomb, "the Coulomb force of a bristle model"},
                {f->bristle_stiffness, "the bristle stiffness"},
                {f->stribeck_exponent, "the Stribeck exponent"},
                {f->film_velocity, "the film velocity"},
                {f->film_time_rising, "the rising time of the film"},
                {f->film_time_falling, "the falling time of the film"},
                {f->film_time_dwell, "the dwell time of the film"}};
  const size_t n = f->model == BRAMAH_FRICTION_LUGRE ? 3 : sizeof checks / sizeof checks[0];
  if (!(f->bristle_damping >= 0.0))
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "the bristle damping must not be negative");
  for (size_t i = 0; i < n; i++) {
    const bramah_status status = bramah__positive(k, checks[i].value, in->name, in->line, checks[i].what);
    if (status != BRAMAH_OK) return status;
  }
  return BRAMAH_OK;
}

static bramah_status check_friction(const bramah__compiler *k, const bramah_cylinder *in)
{
  const bramah_friction *f = &in->friction;
  switch (f->model) {
  case BRAMAH_FRICTION_NONE:
    return BRAMAH_OK;
  case BRAMAH_FRICTION_VISCOUS:
    if (f->viscous >= 0.0) return BRAMAH_OK;
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "the viscous coefficient must not be negative");
  case BRAMAH_FRICTION_BROWN_MCPHEE:
    return check_dry(k, in);
  case BRAMAH_FRICTION_BENGISU_AKAY: {
    const bramah_status status = bramah__positive(k, f->decay, in->name, in->line, "the decay of friction");
    return status == BRAMAH_OK ? check_dry(k, in) : status;
  }
  case BRAMAH_FRICTION_LUGRE:
  case BRAMAH_FRICTION_MODIFIED_LUGRE: {
    const bramah_status status = check_bristles(k, in);
    return status == BRAMAH_OK ? check_dry(k, in) : status;
  }
  }
  return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line, "the friction model is unknown");
}

bramah_status bramah__build_friction(bramah__compiler *k, const bramah_cylinder *in, bramah__friction *out)
{
  const bramah_friction *f = &in->friction;
  *out = (bramah__friction){.kind = (bramah__friction_kind)f->model,
                            .coulomb = f->coulomb,
                            .static_force = f->static_force,
                            .stribeck = f->stribeck_velocity,
                            .viscous = f->viscous,
                            .decay = f->decay,
                            .stiffness = f->bristle_stiffness,
                            .damping = f->bristle_damping,
                            .exponent = f->stribeck_exponent,
                            .film_velocity = f->film_velocity,
                            .film_rising = f->film_time_rising,
                            .film_falling = f->film_time_falling,
                            .film_dwell = f->film_time_dwell};
  return check_friction(k, in);
}

typedef struct positive_value {
  double value;
  const char *what;
} positive_value;

static bramah_status check_values(bramah__compiler *k, const bramah_cylinder *in, size_t n,
                                  const positive_value *checks)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < n && status == BRAMAH_OK; i++)
    status = bramah__positive(k, checks[i].value, in->name, in->line, checks[i].what);
  return status;
}

bramah_status bramah__build_attachment(bramah__compiler *k, const bramah_cylinder *in, bramah__line *line)
{
  bramah_status status = BRAMAH_OK;
  for (int e = 0; e < 2 && status == BRAMAH_OK; e++)
    status = bramah__find_body(k, in->name, in->line, in->body[e], &line->body[e]);
  memcpy(line->point, in->point, sizeof line->point);
  return status;
}

static bramah_status build_turning(bramah__compiler *k, const bramah_cylinder *in, const char *joint,
                                   int endless, bramah__line *line)
{
  const bramah_model *m = k->model;
  const positive_value checks[] = {{in->piston_area, "the displacement"},
                                   {in->bulk_modulus, "the bulk modulus"},
                                   {in->piston_chamber_length, "the angle of chamber a"},
                                   {in->rod_chamber_length, "the angle of chamber b"}};
  const bramah_status status = check_values(k, in, endless ? 1 : sizeof checks / sizeof checks[0], checks);
  if (status != BRAMAH_OK) return status;
  if (!isfinite(in->reference_stroke))
    return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, in->name, in->line,
                                "the reference angle is not finite");
  const long i = bramah__find_name(m->n, m->joint_name, joint);
  if (i < 0) return bramah__no_such(k, in->name, in->line, "joint coordinate", joint, m->n, m->joint_name);
  if (!k->t.link[i].revolute)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, in->name, in->line,
                                "its joint coordinate slides; one that turns is needed");
  line->is_coordinate = 1;
  line->joint = (size_t)i;
  return BRAMAH_OK;
}

/* A cylinder between two points. */
static bramah_status build_linear(bramah__compiler *k, const bramah_cylinder *in, bramah__line *line)
{
  const positive_value checks[] = {{in->piston_area, "the piston area"},
                                   {in->rod_area, "the rod area"},
                                   {in->bulk_modulus, "the bulk modulus"},
                                   {in->piston_chamber_length, "the piston chamber length"},
                                   {in->rod_chamber_length, "the rod chamber length"}};
  const bramah_status status = check_values(k, in, sizeof checks / sizeof checks[0], checks);
  return status == BRAMAH_OK ? bramah__build_attachment(k, in, line) : status;
}

/* Cylinder i, or the rotary actuator that follows the cylinders as one. */
static bramah_status build_cylinder(bramah__compiler *k, size_t i)
{
  const bramah_model *m = k->model;
  const bramah_machine *source = k->source;
  const bramah_cylinder *in = &k->machine->cylinders[i];
  bramah__cylinder *out = &k->t.cylinder[i];
  bramah__line *line = &k->t.line[i];
  const size_t rotary = source->n_cylinders + source->n_metered_cylinders;
  if (i >= source->n_cylinders && i < rotary) return BRAMAH_OK; /* metered: compile_metered.c */
  out->endless = i >= rotary + source->n_rotaries;
  const bramah_status status =
      i < rotary ? build_linear(k, in, line)
                 : build_turning(k, in, bramah__turning(source, i - rotary).joint, out->endless, line);
  if (status != BRAMAH_OK) return status;
  const long piston = bramah__find_name(source->n_volumes, m->volume_name, in->piston_volume);
  const long rod = bramah__find_name(source->n_volumes, m->volume_name, in->rod_volume);
  if (piston < 0)
    return bramah__no_such(k, in->name, in->line, "volume", in->piston_volume, source->n_volumes,
                           m->volume_name);
  if (rod < 0)
    return bramah__no_such(k, in->name, in->line, "volume", in->rod_volume, source->n_volumes,
                           m->volume_name);
  out->piston = (size_t)piston;
  out->rod = (size_t)rod;
  out->piston_area = in->piston_area;
  out->rod_area = in->rod_area;
  out->bulk_modulus = in->bulk_modulus;
  out->reference = in->reference_stroke;
  out->piston_length = out->endless ? INFINITY : in->piston_chamber_length;
  out->rod_length = out->endless ? INFINITY : in->rod_chamber_length;
  out->friction_scale = 1.0;
  return bramah__build_friction(k, in, &out->friction);
}

bramah_status bramah__build_circuit(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_status status = BRAMAH_OK;
  if (k->source->n_volumes)
    status = bramah__positive(k, d->oil_bulk_modulus, "oil", 0, "the bulk modulus of the oil");
  if (status == BRAMAH_OK) status = build_volumes(k);
  for (size_t i = 0; i < d->n_valves && status == BRAMAH_OK; i++) {
    if (i < k->source->n_valves) status = build_ports(k, &d->valves[i], &k->t.valve[i]);
    if (status == BRAMAH_OK) status = build_spool(k, &d->valves[i], &k->t.valve[i]);
    k->model->U0[i] = d->valves[i].initial_spool;
  }
  for (size_t i = 0; i < d->n_cylinders && status == BRAMAH_OK; i++) status = build_cylinder(k, i);
  return status;
}

bramah_status bramah__finish_circuit(bramah__compiler *k)
{
  /* friction states lie behind each other in the order of the cylinders */
  size_t first = 0;
  for (size_t i = 0; i < k->machine->n_cylinders; i++) {
    k->t.cylinder[i].first_state = first;
    first += bramah__friction_states(k->t.cylinder[i].friction.kind);
  }
  /* a volume without hose and chamber would have no compliance at all; flows and load pressures are none */
  for (size_t i = 0; i < k->source->n_volumes; i++) {
    int filled = k->t.volume[i].hose_volume > 0.0;
    for (size_t c = 0; c < k->machine->n_cylinders; c++)
      filled |= !k->t.cylinder[c].endless && (k->t.cylinder[c].piston == i || k->t.cylinder[c].rod == i);
    if (!filled)
      return bramah__compile_fail(k, BRAMAH_E_VALUE, k->machine->volumes[i].name, k->machine->volumes[i].line,
                                  "this volume has neither a hose nor a cylinder chamber");
  }
  return BRAMAH_OK;
}
