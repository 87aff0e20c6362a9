/* SPDX-License-Identifier: MIT */
/* Parameters of a plant: their values are part of its state, and the tables of its own model follow them. */
#include "lib/plant/coupled_internal.h"
#include "lib/math/vector3.h"

#include <string.h>

void bramah__own_layout(const bramah_model *model, bramah__arena *arena, bramah_coupled *c)
{
  bramah__own counted = {0}, *own = c ? &c->own : &counted;
#define TAKE(type, name, place, n) own->name = BRAMAH__TAKE(arena, type, n);
  BRAMAH__OWN_TABLES(TAKE)
  own->joint_load = BRAMAH__TAKE(arena, double, model->n);
  own->theta = BRAMAH__TAKE(arena, double, model->n_parameters);
  if (!c || arena->overflow) return;

  /* The plant's own model refers to them. */
  own->model = *model;
#define COPY(type, name, place, n)                                                                           \
  if (n) memcpy(own->name, model->place, (n) * sizeof(type));                                                \
  own->model.place = own->name;
  BRAMAH__OWN_TABLES(COPY)
  own->model.forces.joint_load = own->joint_load;
  for (size_t i = 0; i < model->n_parameters; i++) own->theta[i] = model->parameter[i].info.nominal;
  c->base = model;
  c->model = &own->model;
}

/* Every payload on the link anew, for welded bodies bring more than one: a point mass each, which moves
 * the centre and adds to the inertia about it (parallel axes). */
static void load_link(bramah_coupled *c, size_t number)
{
  const bramah_model *base = c->base;
  if (number >= base->n) return; /* on the ground */
  bramah__link *link = &c->own.link[number];
  *link = base->tree.link[number];
  for (size_t k = 0; k < base->n_parameters; k++) {
    const bramah__parameter *p = &base->parameter[k];
    const double m = c->own.theta[k], before = link->mass;
    if (p->code != BRAMAH__PAYLOAD || p->index != number || m == 0.0) continue;
    double d[3];
    bramah__sub3(p->point, link->centre, d);
    link->mass = before + m;
    bramah__axpy3(m / link->mass, d, link->centre);
    /* J += m (d.d 1 - d d'): the inertia of a point at d. */
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++)
        link->inertia[3 * i + j] +=
            (before * (m / link->mass)) * ((i == j ? bramah__dot3(d, d) : 0.0) - d[i] * d[j]);
  }
}

/* The force of a load from its components, which turn with a body that is welded on askew. */
static void set_force(bramah_coupled *c, size_t load)
{
  double *force = c->own.load[load].force;
  memset(force, 0, 3 * sizeof *force);
  for (size_t k = 0; k < c->base->n_parameters; k++) {
    const bramah__parameter *p = &c->base->parameter[k];
    if (p->code == BRAMAH__LOAD_FORCE && p->index == load) bramah__axpy3(c->own.theta[k], p->point, force);
  }
}

/* All points or discs of a contact, by what they have at the nominal value. */
static void set_contact(bramah_coupled *c, const bramah__parameter *p, double value)
{
  const bramah_model *base = c->base;
  if (p->index >= base->n_contacts) return; /* on the ground */
  const double factor = value / p->info.nominal;
  for (size_t k = base->first_point[p->index]; k < base->first_point[p->index + 1]; k++) {
    const bramah__contact *was = &base->contact_point[k];
    bramah__contact *now = &c->own.contact_point[k];
    if (p->code == BRAMAH__CONTACT_STIFFNESS) {
      now->normal.stiffness = factor * was->normal.stiffness;
      now->hertz = factor * was->hertz;
    } else if (p->code == BRAMAH__CONTACT_DAMPING) {
      now->normal.damping = factor * was->normal.damping;
      now->loss = factor * was->loss;
    } else if (p->code == BRAMAH__CONTACT_GROUND) {
      now->ground = value;
    } else if (p->code == BRAMAH__CONTACT_BRISTLES) {
      now->bristles = factor * was->bristles;
    } else if (p->code == BRAMAH__CONTACT_PATCH) {
      now->rolling = was->rolling / factor;
    } else { /* so that bristles yield as before */
      now->friction = factor;
    }
  }
}

static void apply(bramah_coupled *c, const bramah__parameter *p, double value)
{
  bramah__own *own = &c->own;
  const size_t i = p->index;
  switch (p->code) {
  case BRAMAH__JOINT_LOAD:
    own->joint_load[i] = value;
    break;
  case BRAMAH__CYLINDER_LOAD:
    own->cylinder[i].load = value;
    break;
  case BRAMAH__PAYLOAD:
    load_link(c, i);
    break;
  case BRAMAH__LOAD_FORCE:
    set_force(c, i);
    break;
  case BRAMAH__SUPPLY_PRESSURE:
    own->supply[i] = value;
    break;
  case BRAMAH__FRICTION_SCALE:
    own->cylinder[i].friction_scale = value;
    break;
  case BRAMAH__BULK_MODULUS:
    own->model.circuit.oil_bulk_modulus = value;
    break;
  case BRAMAH__ELEMENT_VALUE:
    own->element[i].value[p->value] = value;
    break;
  case BRAMAH__VALVE_COEFFICIENT:
    own->valve[i].coefficient = value;
    break;
  case BRAMAH__INPUT_OFFSET:
    for (size_t k = 0; k < bramah__n_spools(&c->base->circuit); k++)
      if (own->valve[k].input == i) own->valve[k].offset = value;
    break;
  case BRAMAH__LINE_FLOW:
    own->metered_line[i].line.Q = value;
    break;
  case BRAMAH__FLOW_SCALE:
    bramah__scale_valves(&c->base->circuit.metered[i], value, &own->metered[i]);
    break;
  case BRAMAH__SHAFT_PARAMETER:
    own->shaft[i].value[p->value] = value;
    break;
  case BRAMAH__CONTACT_STIFFNESS:
  case BRAMAH__CONTACT_BRISTLES:
  case BRAMAH__CONTACT_PATCH:
  case BRAMAH__CONTACT_DAMPING:
  case BRAMAH__CONTACT_FRICTION:
  case BRAMAH__CONTACT_GROUND:
    set_contact(c, p, value);
    break;
  case BRAMAH__GRAVITY_SCALE:
    for (int k = 0; k < 3; k++) own->model.tree.gravity[k] = value * c->base->tree.gravity[k];
    break;
  }
}

void bramah__follow_state(bramah_coupled *c)
{
  bramah__apply_parameters(c, c->state.theta);
  bramah__apply_ground(c, &c->state);
  bramah__apply_meetings(c, c->state.held);
}

void bramah__apply_parameters(bramah_coupled *c, const double *theta)
{
  if (!c->base || memcmp(theta, c->own.theta, c->base->n_parameters * sizeof *theta) == 0) return;
  for (size_t i = 0; i < c->base->n_parameters; i++) {
    if (memcmp(&theta[i], &c->own.theta[i], sizeof *theta) == 0) continue;
    c->own.theta[i] = theta[i];
    apply(c, &c->base->parameter[i], theta[i]);
  }
}
