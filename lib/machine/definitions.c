/* SPDX-License-Identifier: MIT */
/* Outputs that a machine defines: each as terms of what the plant knows (bramah__definition). */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 6, TERMS_OF_A_FORCE = 27, TERMS_OF_A_NAME = 4 };

typedef struct definer {
  const bramah__compiler *k;
  const bramah_output_definition *from;
  bramah__definition *out;
  bramah__term *next; /* the first term that is free */
} definer;

static const bramah__factor one;

static void add(definer *d, size_t sum, double weight, bramah__factor a, bramah__factor b)
{
  if (weight == 0.0) return;
  *d->next++ = (bramah__term){sum, weight, {a, b}};
  d->out->n_terms++;
}

static bramah_status fail(const definer *d, bramah_status status, const char *message)
{
  return bramah__compile_fail(d->k, status, d->from, message);
}

/* ---- points, heights, poses ---- */

/* "body.point" or "body" as a place without its axis yet; ONE: the inertial origin. */
static bramah_status find_point(const definer *d, const char *name, bramah__factor *out)
{
  const bramah_machine *machine = d->k->source;
  const size_t length = strcspn(name, ".");
  char text[512] = "";
  const char *body = text;
  const bramah_body *of = NULL;
  bramah__append(text, length < sizeof text ? length + 1 : sizeof text, 0, name);
  *out = one;
  if (!name[length] && strcmp(body, "ground") == 0) return BRAMAH_OK;
  for (size_t i = 0; i < machine->n_bodies && !of; i++)
    if (strcmp(machine->bodies[i].name, body) == 0) of = &machine->bodies[i];
  if (!of)
    return bramah__no_such(d->k, d->from, "body", body, d->k->model->n_bodies_named, d->k->model->body_name);
  out->kind = BRAMAH__FACTOR_PLACE;
  if (name[length]) {
    const char **names = d->k->t.point_name;
    for (size_t i = 0; i < of->n_points; i++) names[i] = of->points[i].name;
    const long point = bramah__find_name(of->n_points, names, name + length + 1);
    if (point < 0)
      return bramah__no_such(d->k, d->from, "named point of this body", name + length + 1, of->n_points,
                             names);
    bramah__copy3(of->points[point].position, out->local);
  }
  int index;
  bramah__carry_point(d->k, &body, out->local);
  const bramah_status status = bramah__find_body(d->k, d->from, body, &index);
  out->index = (size_t)index;
  if (status == BRAMAH_OK && index < 0) out->kind = BRAMAH__FACTOR_ONE; /* welded to the ground */
  return status;
}

/* sum += weight x coordinate of a place. */
static void add_place(definer *d, size_t sum, double weight, bramah__factor place, int axis)
{
  place.axis = axis;
  add(d, sum, place.kind == BRAMAH__FACTOR_ONE ? weight * place.local[axis] : weight, place, one);
}

/* Against gravity; z where there is none. */
static void find_up(const definer *d, double *up)
{
  const double *g = d->k->machine->gravity, size = sqrt(bramah__dot3(g, g));
  for (int k = 0; k < 3; k++) up[k] = size > 0.0 ? -g[k] / size : k == 2;
}

static bramah_status define_height(definer *d, size_t column)
{
  double up[3];
  find_up(d, up);
  (void)column;
  for (size_t i = 0; i < d->from->n_of; i++) {
    bramah__factor place;
    const bramah_status status = find_point(d, d->from->of[i], &place);
    if (status != BRAMAH_OK) return status;
    for (int axis = 0; axis < 3; axis++) add_place(d, 0, i ? -up[axis] : up[axis], place, axis);
  }
  return BRAMAH_OK;
}

static bramah_status define_distance(definer *d, size_t column)
{
  (void)column;
  for (size_t i = 0; i < 2; i++) {
    bramah__factor place;
    const bramah_status status = find_point(d, d->from->of[i], &place);
    if (status != BRAMAH_OK) return status;
    for (int axis = 0; axis < 3; axis++) add_place(d, (size_t)axis, i ? -1.0 : 1.0, place, axis);
  }
  return BRAMAH_OK;
}

static bramah_status define_position(definer *d, size_t column)
{
  bramah__factor place;
  const bramah_status status = find_point(d, d->from->of[0], &place);
  if (status == BRAMAH_OK) add_place(d, 0, 1.0, place, (int)column);
  return status;
}

/* With R the axes of the body as columns: tan yaw = R_yx / R_xx, tan pitch = -R_zx / |R_xx, R_yx|, tan roll =
 * R_zy / R_zz. */
static bramah_status define_pose(definer *d, size_t column)
{
  static const struct {
    size_t sum;
    double weight;
    int row, column;
  } entries[3][3] = {{{0, 1.0, 1, 0}, {1, 1.0, 0, 0}, {0, 0.0, 0, 0}},
                     {{0, -1.0, 2, 0}, {1, 1.0, 0, 0}, {2, 1.0, 1, 0}},
                     {{0, 1.0, 2, 1}, {1, 1.0, 2, 2}, {0, 0.0, 0, 0}}};
  if (column < 3) return define_position(d, column);
  bramah__factor axis;
  const char *body = d->from->of[0];
  const bramah_status status = find_point(d, body, &axis);
  if (status != BRAMAH_OK) return status;
  if (strchr(body, '.')) return fail(d, BRAMAH_E_REFERENCE, "a pose is that of a body, not of a point");
  for (int i = 0; i < 3; i++) {
    const int row = entries[column - 3][i].row;
    memset(axis.local, 0, sizeof axis.local);
    axis.local[entries[column - 3][i].column] = 1.0;
    bramah__carry_direction(d->k, body, axis.local);
    axis.axis = row;
    double weight = entries[column - 3][i].weight;
    if (axis.kind == BRAMAH__FACTOR_ONE)
      weight *= axis.local[row];
    else
      axis.kind = BRAMAH__FACTOR_DIRECTION;
    add(d, entries[column - 3][i].sum, weight, axis, one);
  }
  return BRAMAH_OK;
}

/* ---- payloads and forces ---- */

static bramah_status define_payload(definer *d, size_t column)
{
  const bramah_model *m = d->k->model;
  (void)column;
  for (size_t i = 0; i < d->from->n_of; i++) {
    char name[512];
    size_t k = 0;
    bramah__append(name, sizeof name, bramah__append(name, sizeof name, 0, d->from->of[i]), ".payload");
    while (k < m->n_parameters && strcmp(m->parameter[k].info.name, name) != 0) k++;
    if (k == m->n_parameters)
      return bramah__no_such(d->k, d->from, "body", d->from->of[i], m->n_bodies_named, m->body_name);
    add(d, 0, 1.0, (bramah__factor){.kind = BRAMAH__FACTOR_PARAMETER, .index = k}, one);
    const bramah_machine *machine = d->k->source;
    for (size_t tool = 0; tool < machine->n_tools; tool++) /* moving soil is a load, too */
      if (machine->tools[tool].body && strcmp(machine->tools[tool].body, d->from->of[i]) == 0)
        add(d, 0, 1.0, (bramah__factor){.kind = BRAMAH__FACTOR_CARRIED, .index = tool}, one);
  }
  return BRAMAH_OK;
}

/* sum += the component of a load along a direction in inertial axes, or, in_axes, in those that it is given in. */
static void add_force(definer *d, size_t sum, size_t load, const double *along, int in_axes)
{
  const bramah_model *m = d->k->model;
  const bramah__load *of = &m->forces.load[load];
  for (size_t i = 0; i < m->n_parameters; i++) {
    const bramah__parameter *p = &m->parameter[i];
    const bramah__factor size = {.kind = BRAMAH__FACTOR_PARAMETER, .index = i};
    if (p->code != BRAMAH__LOAD_FORCE || p->index != load) continue;
    if (in_axes || !of->turns) {
      add(d, sum, bramah__dot3(along, p->point), size, one);
      continue;
    }
    bramah__factor direction = {.kind = BRAMAH__FACTOR_DIRECTION, .index = (size_t)of->body};
    bramah__copy3(p->point, direction.local);
    for (direction.axis = 0; direction.axis < 3; direction.axis++)
      add(d, sum, along[direction.axis], size, direction);
  }
}

static bramah_status define_force(definer *d, size_t column)
{
  const bramah_machine *machine = d->k->source;
  static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  double up[3], forward[3], left[3];
  size_t load = 0;
  while (load < machine->n_forces && strcmp(machine->forces[load].name, d->from->of[0]) != 0) load++;
  if (load == machine->n_forces)
    return fail(d, BRAMAH_E_REFERENCE, "there is no force of this name in 'forces'");
  find_up(d, up);
  const double *ahead = axes[fabs(up[0]) < 0.9 ? 0 : 1];
  bramah__copy3(ahead, forward);
  bramah__axpy3(-bramah__dot3(up, ahead), up, forward);
  const double size = sqrt(bramah__dot3(forward, forward));
  for (int k = 0; k < 3; k++) forward[k] /= size;
  bramah__cross3(up, forward, left);
  switch (column) {
  case 0: /* its magnitude */
    for (size_t k = 0; k < 3; k++) add_force(d, k, load, axes[k], 1);
    break;
  case 4: /* elevation */
    add_force(d, 0, load, up, 0), add_force(d, 1, load, forward, 0), add_force(d, 2, load, left, 0);
    break;
  case 5: /* azimuth */
    add_force(d, 0, load, left, 0), add_force(d, 1, load, forward, 0);
    break;
  default:
    add_force(d, 0, load, axes[column - 1], 0);
  }
  return BRAMAH_OK;
}

/* ---- flows and powers ---- */

static bramah__factor pressure_of(const bramah_model *m, size_t node)
{
  const size_t np = m->circuit.n_volumes;
  return node < np ? (bramah__factor){.kind = BRAMAH__FACTOR_FIRST_ORDER, .index = node}
                   : (bramah__factor){.kind = BRAMAH__FACTOR_SUPPLY, .index = node - np};
}

/* weight x flow of all elements and supplies that are named, or with_pressure x the pressure against or from which it
 * goes. */
static bramah_status add_flows(definer *d, double weight, int with_pressure)
{
  const bramah_model *m = d->k->model;
  const bramah__circuit *circuit = &m->circuit;
  const size_t first_line = circuit->n_elements - circuit->n_lines;
  for (size_t i = 0; i < d->from->n_of; i++) {
    const char *name = d->from->of[i];
    const long supply = bramah__find_name(circuit->n_supplies, m->supply_name, name);
    const long element = bramah__find_name(circuit->n_elements, m->element_name, name);
    if (supply >= 0 && element < 0) {
      const bramah__factor drawn = {.kind = BRAMAH__FACTOR_DRAWN, .index = (size_t)supply};
      add(d, 0, weight, drawn, with_pressure ? pressure_of(m, circuit->n_volumes + (size_t)supply) : one);
      continue;
    }
    if (element < 0)
      return bramah__no_such(d->k, d->from, "hydraulic element or supply", name, circuit->n_elements,
                             m->element_name);
    const size_t number = (size_t)element;
    const bramah__element *e = &circuit->element[number];
    const int is_line = number >= first_line;
    if ((number >= circuit->n_passing && !is_line) || bramah__element_kinds[e->kind]->flow_output)
      return fail(d, BRAMAH_E_REFERENCE,
                  "an element with one flow is needed: an orifice, a pump, a line, ...");
    const bramah__factor flow = is_line ? pressure_of(m, e->node[BRAMAH__OWN_STATE])
                                        : (bramah__factor){.kind = BRAMAH__FACTOR_FLOW, .index = number};
    add(d, 0, with_pressure ? -weight : weight, flow, with_pressure ? pressure_of(m, e->node[0]) : one);
    if (with_pressure) add(d, 0, weight, flow, pressure_of(m, e->node[1]));
  }
  return BRAMAH_OK;
}

static bramah_status define_power(definer *d, size_t column)
{
  (void)column;
  return add_flows(d, 1.0, 1);
}

static bramah_status define_flow(definer *d, size_t column)
{
  (void)column;
  return add_flows(d, 1.0, 0);
}

static bramah_status define_fuel_rate(definer *d, size_t column)
{
  const double idle = d->from->idle, consumption = d->from->consumption;
  (void)column;
  if (!(idle >= 0.0 && consumption >= 0.0 && isfinite(idle + consumption)))
    return fail(d, BRAMAH_E_VALUE, "idle and consumption must not be negative");
  add(d, 0, idle, one, one);
  return add_flows(d, consumption, 1);
}

/* ---- the kinds ---- */

static const struct {
  size_t least, most; /* names that it is made of; 0: any number */
  size_t n;           /* of its outputs */
  struct {
    const char *suffix, *unit;
    bramah__sums_shape shape;
  } column[MOST_COLUMNS];
  bramah_status (*define)(definer *d, size_t column);
} kinds[] = {
    [BRAMAH_OUTPUT_OF_HEIGHT] = {1, 2, 1, {{"", "m", BRAMAH__SUMS_PLAIN}}, define_height},
    [BRAMAH_OUTPUT_OF_DISTANCE] = {2, 2, 1, {{"", "m", BRAMAH__SUMS_LENGTH}}, define_distance},
    [BRAMAH_OUTPUT_OF_POSITION] = {1,
                                   1,
                                   3,
                                   {{".x", "m", BRAMAH__SUMS_PLAIN},
                                    {".y", "m", BRAMAH__SUMS_PLAIN},
                                    {".z", "m", BRAMAH__SUMS_PLAIN}},
                                   define_position},
    [BRAMAH_OUTPUT_OF_POSE] = {1,
                               1,
                               6,
                               {{".x", "m", BRAMAH__SUMS_PLAIN},
                                {".y", "m", BRAMAH__SUMS_PLAIN},
                                {".z", "m", BRAMAH__SUMS_PLAIN},
                                {".yaw", "rad", BRAMAH__SUMS_ANGLE},
                                {".pitch", "rad", BRAMAH__SUMS_ELEVATION},
                                {".roll", "rad", BRAMAH__SUMS_ANGLE}},
                               define_pose},
    [BRAMAH_OUTPUT_OF_PAYLOAD] = {1, 0, 1, {{"", "kg", BRAMAH__SUMS_PLAIN}}, define_payload},
    [BRAMAH_OUTPUT_OF_FORCE] = {1,
                                1,
                                6,
                                {{"", "N", BRAMAH__SUMS_LENGTH},
                                 {".x", "N", BRAMAH__SUMS_PLAIN},
                                 {".y", "N", BRAMAH__SUMS_PLAIN},
                                 {".z", "N", BRAMAH__SUMS_PLAIN},
                                 {".elevation", "rad", BRAMAH__SUMS_ELEVATION},
                                 {".azimuth", "rad", BRAMAH__SUMS_ANGLE}},
                                define_force},
    [BRAMAH_OUTPUT_OF_HYDRAULIC_POWER] = {1, 0, 1, {{"", "W", BRAMAH__SUMS_PLAIN}}, define_power},
    [BRAMAH_OUTPUT_OF_ENERGY] = {1, 0, 1, {{"", "J", BRAMAH__SUMS_PLAIN}}, define_power},
    [BRAMAH_OUTPUT_OF_FLOW] = {1, 0, 1, {{"", "m^3/s", BRAMAH__SUMS_PLAIN}}, define_flow},
    [BRAMAH_OUTPUT_OF_FUEL_RATE] = {1, 0, 1, {{"", "kg/s", BRAMAH__SUMS_PLAIN}}, define_fuel_rate},
};

/* What shafts show without being asked. */
enum { MOST_SHOWN = 4 };
typedef struct shown {
  const char *suffix, *unit;
  bramah__shaft_view view;
  int is_summed;
} shown;

static size_t shown_by(const bramah__shaft_thing *thing, const shown **out)
{
  static const shown of_all[MOST_SHOWN] = {{".torque", "N*m", BRAMAH__SHAFT_TORQUE, 0},
                                           {".work", "J", BRAMAH__SHAFT_POWER, 1},
                                           {".fuel_rate", "kg/s", BRAMAH__SHAFT_FUEL, 0},
                                           {".fuel", "kg", BRAMAH__SHAFT_FUEL, 1}},
                     of_clutch[] = {{".heat", "J", BRAMAH__SHAFT_POWER, 1}};
  *out = thing->kind == BRAMAH__CLUTCH ? of_clutch : of_all;
  return thing->kind == BRAMAH__CLUTCH ? 1 : thing->takes_fuel ? MOST_SHOWN : 2;
}

static size_t n_columns(const bramah_output_definition *from)
{
  return (size_t)from->kind < sizeof kinds / sizeof kinds[0] ? kinds[from->kind].n : 0;
}

/* A force on a body that moves through soil stands for that soil where there is none: here it says nothing. */
static int stands_for_soil(const bramah_machine *machine, const bramah_output_definition *from)
{
  for (size_t i = 0; from->kind == BRAMAH_OUTPUT_OF_FORCE && from->n_of && i < machine->n_forces; i++)
    for (size_t tool = 0; tool < machine->n_tools; tool++)
      if (from->of[0] && machine->forces[i].name && strcmp(machine->forces[i].name, from->of[0]) == 0 &&
          machine->forces[i].body && machine->tools[tool].body &&
          strcmp(machine->forces[i].body, machine->tools[tool].body) == 0)
        return 1;
  return 0;
}

void bramah__definitions_layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                                bramah__arena *arena)
{
  size_t n = 0, n_terms = 0, n_points = 0, n_sums = 0;
  for (size_t i = 0; i < machine->n_outputs; i++) {
    const bramah_output_definition *from = &machine->outputs[i];
    n += n_columns(from);
    n_terms += n_columns(from) * (TERMS_OF_A_FORCE + 1 + (TERMS_OF_A_NAME + machine->n_tools) * from->n_of);
    n_sums += from->kind == BRAMAH_OUTPUT_OF_ENERGY;
  }
  for (size_t i = 0; i < bramah__n_shafts(machine); i++) {
    const bramah__shaft_thing thing = bramah__shaft_thing_at(machine, i);
    const shown *row;
    const size_t shows = shown_by(&thing, &row);
    n += shows, n_terms += shows;
    for (size_t c = 0; c < shows; c++) n_sums += (size_t)row[c].is_summed;
  }
  for (size_t b = 0; b < machine->n_bodies; b++)
    if (machine->bodies[b].n_points > n_points) n_points = machine->bodies[b].n_points;
  model->n_definitions = n;
  model->n_sums = n_sums;
  model->definition = BRAMAH__TAKE(arena, bramah__definition, n);
  model->term = BRAMAH__TAKE(arena, bramah__term, n_terms);
  t->point_name = BRAMAH__TAKE(arena, const char *, n_points);
  n = 0;
  for (size_t i = 0; i < machine->n_outputs; i++)
    for (size_t c = 0; c < n_columns(&machine->outputs[i]); c++, n++) {
      const bramah_output_definition *from = &machine->outputs[i];
      const char *name = bramah__join_text(arena, from->name, kinds[from->kind].column[c].suffix);
      if (model->definition)
        model->definition[n] = (bramah__definition){.name = name,
                                                    .unit = kinds[from->kind].column[c].unit,
                                                    .thing = i,
                                                    .hidden = stands_for_soil(machine, from),
                                                    .is_summed = from->kind == BRAMAH_OUTPUT_OF_ENERGY,
                                                    .shape = kinds[from->kind].column[c].shape};
    }
  for (size_t i = 0; i < bramah__n_shafts(machine); i++) {
    const bramah__shaft_thing thing = bramah__shaft_thing_at(machine, i);
    const shown *row;
    const size_t shows = shown_by(&thing, &row);
    for (size_t c = 0; c < shows; c++, n++) {
      const char *name = bramah__join_text(arena, thing.of->name, row[c].suffix);
      if (model->definition)
        model->definition[n] = (bramah__definition){.name = name,
                                                    .unit = row[c].unit,
                                                    .thing = machine->n_outputs + i,
                                                    .is_summed = row[c].is_summed};
    }
  }
}

/* Definition n, whose terms are there. */
static bramah_status finish(const definer *d, size_t n, const char *name, int line, size_t *sum)
{
  const bramah_model *m = d->k->model;
  if (d->out->is_summed) d->out->sum = (*sum)++;
  for (size_t o = 0; o + m->n_definitions < m->n_outputs + n; o++)
    if (strcmp(m->output[o].info.name, d->out->name) == 0)
      return bramah__compile_fail(d->k, BRAMAH_E_KEY, &(bramah_named){name, line},
                                  "another output of the machine has this name");
  return BRAMAH_OK;
}

bramah_status bramah__build_definitions(bramah__compiler *k)
{
  const bramah_machine *machine = k->source;
  bramah_model *m = k->model;
  definer d = {.k = k, .next = m->term};
  size_t sum = 0, n = 0;
  for (size_t i = 0; i < machine->n_outputs; i++) {
    const bramah_output_definition *from = d.from = &machine->outputs[i];
    if (!from->name || !from->name[0]) return bramah__check_named(k, from, "output", 0);
    const size_t columns = n_columns(from);
    if (!columns) return fail(&d, BRAMAH_E_VALUE, "this kind of output is unknown");
    if (from->n_of < kinds[from->kind].least ||
        (kinds[from->kind].most && from->n_of > kinds[from->kind].most))
      return fail(&d, BRAMAH_E_VALUE,
                  kinds[from->kind].least == 2  ? "two points are needed"
                  : kinds[from->kind].most == 1 ? "it is made of one thing"
                  : kinds[from->kind].most == 2 ? "one point is needed, or two"
                                                : "it is made of nothing");
    for (size_t o = 0; o < from->n_of; o++) {
      if (!from->of[o]) return fail(&d, BRAMAH_E_VALUE, "one of the things that it is made of has no name");
      for (size_t before = 0; before < o; before++)
        if (strcmp(from->of[before], from->of[o]) == 0)
          return fail(&d, BRAMAH_E_VALUE, "it is made of the same thing twice");
    }
    for (size_t c = 0; c < columns; c++, n++) {
      d.out = &m->definition[n];
      d.out->term = d.next;
      bramah_status status = kinds[from->kind].define(&d, c);
      if (status == BRAMAH_OK) status = finish(&d, n, from->name, from->line, &sum);
      if (status != BRAMAH_OK) return status;
    }
  }
  for (size_t i = 0; i < m->n_shafts; i++) {
    const bramah__shaft_thing thing = bramah__shaft_thing_at(machine, i);
    const shown *row;
    const size_t shows = shown_by(&thing, &row);
    for (size_t c = 0; c < shows; c++, n++) {
      d.out = &m->definition[n];
      d.out->term = d.next;
      add(&d, 0, 1.0, (bramah__factor){.kind = BRAMAH__FACTOR_SHAFT, .index = i, .axis = (int)row[c].view},
          one);
      const bramah_status status = finish(&d, n, thing.of->name, thing.of->line, &sum);
      if (status != BRAMAH_OK) return status;
    }
  }
  return BRAMAH_OK;
}
