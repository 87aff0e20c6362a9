/* SPDX-License-Identifier: MIT */
/* Table of the parameters: names as soon as there is memory, meaning when the model is complete. */
#include "lib/machine/compile.h"
#include "lib/base/text.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* Nearest to zero that a parameter may come which must be positive, and a mass that is taken off, as a part
 * of what it was. */
static const double little = 1e-6;

static const struct {
  const char *suffix, *unit, *turning_unit;
} kinds[] = {[BRAMAH__JOINT_LOAD] = {".load", "N", "N*m"},
             [BRAMAH__CYLINDER_LOAD] = {".actuator_load", "N", "N*m"},
             [BRAMAH__PAYLOAD] = {".payload", "kg", NULL},
             [BRAMAH__SUPPLY_PRESSURE] = {".pressure", "Pa", NULL},
             [BRAMAH__FRICTION_SCALE] = {".friction_scale", "1", NULL},
             [BRAMAH__BULK_MODULUS] = {".bulk_modulus", "Pa", NULL},
             [BRAMAH__ELEMENT_VALUE] = {"", NULL, NULL},
             [BRAMAH__VALVE_COEFFICIENT] = {".flow_coefficient", "m^3/s/Pa^0.5/V", NULL},
             [BRAMAH__INPUT_OFFSET] = {".offset", "V", NULL},
             [BRAMAH__GRAVITY_SCALE] = {".scale", "1", NULL},
             [BRAMAH__LINE_FLOW] = {".pump_flow", "m^3/s", NULL},
             [BRAMAH__FLOW_SCALE] = {".flow_scale", "1", NULL}};

/* What is called for each parameter in turn: thing i of its kind in the machine, whose name is `name`
 * and, of a joint coordinate, a suffix. */
typedef struct visitor {
  void (*visit)(struct visitor *visitor, bramah__parameter_code code, size_t i, const char *name,
                const char *suffix);
  bramah_model *model;
  bramah__arena *arena;
  size_t n;     /* visited so far */
  size_t value; /* of an element */
} visitor;

/* The name is the first member of every element of `size` bytes. */
static void visit_each(visitor *v, bramah__parameter_code code, size_t n, const void *elements, size_t size)
{
  for (size_t i = 0; i < n; i++) {
    const char *name;
    memcpy(&name, (const unsigned char *)elements + i * size, sizeof name);
    v->visit(v, code, i, name, "");
  }
}

static void visit_all(visitor *v, const bramah_machine *d)
{
  size_t coordinate = 0;
  for (size_t j = 0; j < d->n_joints; j++) {
    const bramah_joint *joint = &d->joints[j];
    for (size_t i = 0; i < bramah_joint_n_coordinates(joint->type); i++)
      v->visit(v, BRAMAH__JOINT_LOAD, coordinate++, joint->name, bramah_joint_suffix(joint->type, i));
  }
  visit_each(v, BRAMAH__PAYLOAD, d->n_bodies, d->bodies, sizeof *d->bodies);
  const size_t nc = d->n_cylinders, nl = nc + d->n_metered_cylinders;
  for (size_t i = 0; i < nl + bramah__n_turning(d); i++) {
    const bramah_rotary turning = i < nl ? (bramah_rotary){0} : bramah__turning(d, i - nl);
    const char *name = i < nc   ? d->cylinders[i].name
                       : i < nl ? d->metered_cylinders[i - nc].name
                                : turning.name;
    const bramah_friction *friction = i < nc   ? &d->cylinders[i].friction
                                      : i < nl ? &d->metered_cylinders[i - nc].friction
                                               : &turning.friction;
    v->visit(v, BRAMAH__CYLINDER_LOAD, i, name, "");
    if (friction->model != BRAMAH_FRICTION_NONE) v->visit(v, BRAMAH__FRICTION_SCALE, i, name, "");
  }
  visit_each(v, BRAMAH__SUPPLY_PRESSURE, d->n_supplies, d->supplies, sizeof *d->supplies);
  if (d->n_volumes) v->visit(v, BRAMAH__BULK_MODULUS, 0, "oil", "");
  const size_t n = bramah__count_elements(d).n;
  for (size_t i = 0; i < n; i++) {
    const bramah_element_kind *kind;
    const bramah_named *element = bramah__element_of(d, i, &kind);
    const bramah_element_key *key;
    for (v->value = 0; (key = bramah__value_key(kind, v->value)) != NULL; v->value++) {
      char suffix[64];
      bramah__append(suffix, sizeof suffix, bramah__append(suffix, sizeof suffix, 0, "."), key->name);
      if (key->parameter) v->visit(v, BRAMAH__ELEMENT_VALUE, i, element->name, suffix);
    }
  }
  v->value = 0;
  visit_each(v, BRAMAH__VALVE_COEFFICIENT, d->n_valves, d->valves, sizeof *d->valves);
  visit_each(v, BRAMAH__INPUT_OFFSET, d->n_inputs, d->inputs, sizeof *d->inputs);
  v->visit(v, BRAMAH__GRAVITY_SCALE, 0, "gravity", "");
  visit_each(v, BRAMAH__LINE_FLOW, d->n_pump_lines, d->pump_lines, sizeof *d->pump_lines);
  visit_each(v, BRAMAH__FLOW_SCALE, d->n_metered_cylinders, d->metered_cylinders,
             sizeof *d->metered_cylinders);
}

static void count(visitor *v, bramah__parameter_code code, size_t i, const char *name, const char *suffix)
{
  (void)code, (void)i, (void)name, (void)suffix;
  v->n++;
}

size_t bramah__count_parameters(const bramah_machine *machine)
{
  visitor v = {.visit = count};
  visit_all(&v, machine);
  return v.n;
}

/* The number within its kind stays in `index` until the model knows better. */
static void enter(visitor *v, bramah__parameter_code code, size_t i, const char *name, const char *suffix)
{
  char text[512];
  size_t used = bramah__append(text, sizeof text, 0, name ? name : "");
  used = bramah__append(text, sizeof text, used, suffix);
  bramah__append(text, sizeof text, used, kinds[code].suffix);
  const char *copy = bramah__arena_text(v->arena, text);
  if (v->model->parameter)
    v->model->parameter[v->n] =
        (bramah__parameter){.code = code, .index = i, .value = v->value, .info = {.name = copy}};
  v->n++;
}

void bramah__parameters_layout(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  model->parameter = BRAMAH__TAKE(arena, bramah__parameter, model->n_parameters);
  visitor v = {.visit = enter, .model = model, .arena = arena};
  visit_all(&v, machine);
}

/* A payload lies on the link of its body or of the body that carries it. */
static bramah_status place_payload(const bramah__compiler *k, bramah__parameter *p)
{
  const bramah_body *body = &k->source->bodies[p->index];
  const char *carrier = body->name;
  memcpy(p->point, body->payload_point_given ? body->payload_point : body->centre_of_mass, sizeof p->point);
  for (int i = 0; i < 3; i++)
    if (!isfinite(p->point[i]))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, body->name, body->line,
                                  "the payload point is not finite");
  bramah__carry_point(k, &carrier, p->point);
  p->info.least = (little - 1.0) * body->mass;
  p->index = (size_t)bramah__find_name(k->model->n, k->model->body_name, carrier);
  return BRAMAH_OK;
}

static void positive(bramah_parameter_info *info, double nominal)
{
  info->nominal = nominal;
  info->least = little * nominal;
}

static void not_negative(bramah_parameter_info *info, double nominal)
{
  info->nominal = nominal;
  info->least = fmin(0.0, nominal);
}

/* Place among the actuators sorted by lines, of metered cylinder i of the machine. */
static size_t slot_of(const bramah_model *m, size_t i)
{
  const size_t first = m->circuit.n_cylinders - m->n_rotaries - m->circuit.n_metered;
  return bramah__metered_of(&m->circuit, first + i);
}

static bramah_status finish(const bramah__compiler *k, bramah__parameter *p)
{
  const bramah_model *m = k->model;
  bramah_parameter_info *info = &p->info;
  info->least = -INFINITY;
  info->most = INFINITY;
  bramah_status status = BRAMAH_OK;
  switch (p->code) {
  case BRAMAH__JOINT_LOAD: /* the tree has sorted them */
    p->index = (size_t)bramah__find_name(m->n, m->joint_name, k->machine->joints[p->index].name);
    break;
  case BRAMAH__PAYLOAD:
    status = place_payload(k, p);
    break;
  case BRAMAH__SUPPLY_PRESSURE:
    not_negative(info, m->circuit.supply[p->index]);
    break;
  case BRAMAH__FRICTION_SCALE:
    not_negative(info, 1.0);
    break;
  case BRAMAH__BULK_MODULUS:
    positive(info, m->circuit.oil_bulk_modulus);
    break;
  case BRAMAH__ELEMENT_VALUE: {
    const bramah__element *e = &m->circuit.element[p->index];
    const bramah_element_key *key = bramah__value_key(&bramah__element_kinds[e->kind]->description, p->value);
    (key->parameter == BRAMAH_KEY_POSITIVE ? positive : not_negative)(info, e->value[p->value]);
    info->unit = key->unit;
    return BRAMAH_OK;
  }
  case BRAMAH__VALVE_COEFFICIENT:
    positive(info, m->circuit.valve[p->index].coefficient);
    break;
  case BRAMAH__GRAVITY_SCALE:
    info->nominal = 1.0;
    break;
  case BRAMAH__LINE_FLOW:
    positive(info, m->circuit.metered_line[p->index].line.Q);
    break;
  case BRAMAH__FLOW_SCALE:
    p->index = slot_of(m, p->index);
    positive(info, 1.0);
    break;
  case BRAMAH__CYLINDER_LOAD:
  case BRAMAH__INPUT_OFFSET:
    break;
  }
  const int turns = p->code == BRAMAH__CYLINDER_LOAD
                        ? m->line[p->index].is_coordinate
                        : p->code == BRAMAH__JOINT_LOAD && m->tree.link[p->index].revolute;
  info->unit = turns ? kinds[p->code].turning_unit : kinds[p->code].unit;
  return status;
}

bramah_status bramah__build_parameters(bramah__compiler *k)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < k->model->n_parameters && status == BRAMAH_OK; i++)
    status = finish(k, &k->model->parameter[i]);
  return status;
}
