/* SPDX-License-Identifier: MIT */
/* From a machine description to the immutable model: memory, names, and the order of the work. Mechanics, circuit,
 * and the tables of outputs and parameters have files of their own; the initial pose and open pressures are found by
 * the plant. At the end, questions to a compiled model. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes and memory ---- */

static void count(const bramah_machine *machine, bramah_model *model)
{
  bramah__circuit *circuit = &model->circuit;
  const bramah__element_counts elements = bramah__count_elements(machine);
  model->n = model->tree.n = model->n_independent = bramah__count_coordinates(machine);
  model->n_loops = machine->n_loops;
  model->m_loops = bramah__count_loop_rows(machine);
  model->n_motions = machine->n_motions;
  model->m = model->m_loops + model->n_motions;
  model->n_balls = bramah__count_balls(machine);
  model->n_inputs = machine->n_inputs;
  model->n_rotaries = bramah__n_turning(machine);
  circuit->n_volumes = model->n_first_order =
      machine->n_volumes + elements.states + machine->n_metered_cylinders;
  circuit->n_supplies = machine->n_supplies;
  circuit->n_elements = elements.n;
  circuit->n_passing = elements.passing;
  circuit->n_lines = elements.lines;
  circuit->n_states = elements.states;
  circuit->first_motor = elements.before_motors;
  circuit->n_motors = machine->n_motors;
  circuit->n_driven = bramah__n_driven(machine);
  circuit->n_valves = machine->n_valves;
  circuit->n_metering_spools = bramah__count_metering_spools(machine);
  circuit->n_cylinders = machine->n_cylinders + machine->n_metered_cylinders + model->n_rotaries;
  circuit->n_metered = machine->n_metered_cylinders;
  circuit->n_metered_lines = machine->n_pump_lines;
  const size_t nc = machine->n_cylinders, nl = nc + machine->n_metered_cylinders;
  for (size_t i = 0; i < circuit->n_cylinders; i++) {
    const bramah_friction_model friction = i < nc   ? machine->cylinders[i].friction.model
                                           : i < nl ? machine->metered_cylinders[i - nc].friction.model
                                                    : bramah__turning(machine, i - nl).friction.model;
    circuit->n_friction_states += bramah__friction_states((bramah__friction_kind)friction);
  }
  for (size_t j = 0; j < machine->n_joints; j++)
    model->forces.n_limits += machine->joints[j].stop.stiffness != 0.0;
  model->n_contacts = machine->n_contacts;
  model->n_friction_states = circuit->n_friction_states;
  for (size_t i = 0; i < machine->n_contacts; i++) {
    const bramah_contact *contact = &machine->contacts[i];
    const size_t points = bramah__count_ground_points(machine, contact);
    model->n_contact_points += points;
    if (contact->on_terrain) model->n_standing += points;
    if (contact->friction.model != BRAMAH_FRICTION_NONE)
      model->n_friction_states += BRAMAH__CONTACT_STATES * points;
  }
  model->n_tools = machine->n_tools;
  const bramah__shape_counts shapes = bramah__count_shapes(machine);
  model->n_shapes = shapes.shapes;
  model->n_meetings = shapes.meetings;
  model->n_held = shapes.points;
  model->n_between = shapes.between;
  model->n_contact_points += shapes.points;
  model->n_friction_states += BRAMAH__CONTACT_STATES * shapes.points;
  model->n_contacts += machine->n_tyres + machine->n_brakes + machine->n_clutches;
  for (size_t i = 0; i < machine->n_tyres; i++) model->n_discs += bramah__n_discs(&machine->tyres[i]);
  for (size_t i = 0; i < machine->n_tyres; i++)
    if (machine->tyres[i].on_terrain) model->n_standing += bramah__n_discs(&machine->tyres[i]);
  model->n_brakes = machine->n_brakes + machine->n_clutches;
  for (size_t i = 0; i < machine->n_brakes; i++)
    model->n_commanded += machine->brakes[i].command.input != NULL;
  model->n_shafts = bramah__n_shafts(machine);
  model->n_commanded += model->n_shafts + circuit->n_driven;
  model->n_contact_points += model->n_discs + model->n_brakes;
  model->n_friction_states += BRAMAH__CONTACT_STATES * model->n_discs + model->n_brakes;
  model->n_bristles = bramah__bristles_layout(machine, NULL, NULL);
  model->n_parameters = bramah__parameters_layout(machine, NULL, NULL);
  for (size_t b = 0; b < machine->n_bodies; b++)
    model->n_welds += (size_t)bramah__is_welded(machine, &machine->bodies[b]);
}

/* An array of a machine whose elements begin with name and line. */
typedef struct things {
  const void *array;
  size_t n, size;
} things;
#define THINGS(machine, member)                                                                              \
  {                                                                                                          \
    (machine)->member, (machine)->n_##member, sizeof *(machine)->member                                      \
  }

static const bramah_named *named(const things *of, size_t i)
{
  return (const bramah_named *)(const void *)((const unsigned char *)of->array + i * of->size);
}

/* Copies of the names in the order of the model. Coordinates in the order of the joints; bodies: those that are not
 * welded, then one behind each coordinate but the last of its joint; the first order states of the circuit; cylinders
 * and what turns; elements by kinds. */
static void take_names(const bramah_machine *d, bramah_model *model, bramah__arena *arena)
{
  enum { MOST_LISTS = 4 };
  const struct {
    const char ***names;
    things of[MOST_LISTS];
  } rows[] = {
      {&model->loop_name, {THINGS(d, loops)}},
      {&model->supply_name, {THINGS(d, supplies)}},
      {&model->volume_name,
       {THINGS(d, volumes), THINGS(d, lines), THINGS(d, load_sensing_pumps), THINGS(d, metered_cylinders)}},
      {&model->cylinder_name,
       {THINGS(d, cylinders), THINGS(d, metered_cylinders), THINGS(d, rotaries), THINGS(d, motors)}},
      {&model->pump_line_name, {THINGS(d, pump_lines)}},
      {&model->input_name, {THINGS(d, inputs)}},
      {&model->motion_name, {THINGS(d, motions)}},
      {&model->tool_name, {THINGS(d, tools)}},
      {&model->contact_name,
       {THINGS(d, contacts), THINGS(d, tyres), THINGS(d, brakes), THINGS(d, clutches)}}};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    size_t n = 0;
    for (int l = 0; l < MOST_LISTS; l++) n += rows[r].of[l].n;
    const size_t driven = rows[r].names == &model->cylinder_name ? model->circuit.n_driven : 0;
    n += driven;
    const char **to = BRAMAH__TAKE(arena, const char *, n);
    *rows[r].names = to;
    for (int l = 0; l < MOST_LISTS; l++)
      for (size_t i = 0; i < rows[r].of[l].n; i++) {
        const char *copy = bramah__join_text(arena, named(&rows[r].of[l], i)->name, "");
        if (to) *to++ = copy;
      }
    for (size_t i = 0; i < driven; i++) {
      const bramah_named *pump;
      bramah__driven(d, i, &pump, NULL);
      const char *copy = bramah__join_text(arena, pump->name, "");
      if (to) *to++ = copy;
    }
  }
  model->element_name = BRAMAH__TAKE(arena, const char *, model->circuit.n_elements);
  for (size_t i = 0; i < model->circuit.n_elements; i++) {
    const char *copy = bramah__join_text(arena, bramah__element_of(d, i, NULL)->name, "");
    if (model->element_name) model->element_name[i] = copy;
  }

  size_t joint = 0, body = 0, ball = 0, weld = 0;
  model->joint_name = BRAMAH__TAKE(arena, const char *, model->n);
  model->body_name = BRAMAH__TAKE(arena, const char *, d->n_bodies + model->n);
  model->ball_name = BRAMAH__TAKE(arena, const char *, model->n_balls);
  model->weld = BRAMAH__TAKE(arena, bramah__weld, model->n_welds);
  for (size_t b = 0; b < d->n_bodies; b++) {
    const char *copy = bramah__join_text(arena, d->bodies[b].name, "");
    if (bramah__is_welded(d, &d->bodies[b])) {
      if (model->weld) model->weld[weld++].name = copy;
    } else if (model->body_name)
      model->body_name[body++] = copy;
  }
  for (size_t j = 0; j < d->n_joints; j++) {
    const size_t n = bramah_joint_n_coordinates(d->joints[j].type);
    for (size_t i = 0; i < n; i++, joint++) {
      const char *copy =
          bramah__join_text(arena, d->joints[j].name, bramah_joint_suffix(d->joints[j].type, i));
      if (model->joint_name) model->joint_name[joint] = copy;
      if (model->body_name && i + 1 < n) model->body_name[body++] = copy;
    }
    if (!bramah__is_ball(&d->joints[j])) continue;
    const char *copy = bramah__join_text(arena, d->joints[j].name, "");
    if (model->ball_name) model->ball_name[ball++] = copy;
  }
  model->n_bodies_named = body;
}

/* Cut everything the model needs, in a fixed order, except the outputs, whose names need the sorted tree. */
static void layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                   bramah__arena *arena)
{
  const size_t n = model->n;
  model->name = bramah__arena_text(arena, machine->name ? machine->name : "machine");
  take_names(machine, model, arena);
  t->link = BRAMAH__TAKE(arena, bramah__link, n);
  t->loop = BRAMAH__TAKE(arena, bramah__loop, machine->n_loops);
  bramah__circuit_layout(machine, model, t, arena);
  t->body_of_joint = BRAMAH__TAKE(arena, int, n);
  t->joint_order = BRAMAH__TAKE(arena, size_t, n);
  t->given = BRAMAH__TAKE(arena, unsigned char, n);
  model->z0 = BRAMAH__TAKE(arena, double, n);
  model->zd0 = BRAMAH__TAKE(arena, double, n);
  model->p0 = BRAMAH__TAKE(arena, double, model->circuit.n_volumes);
  model->first_order_scale = BRAMAH__TAKE(arena, double, model->n_first_order);
  model->first_order_tolerance = BRAMAH__TAKE(arena, double, model->n_first_order);
  model->U0 = BRAMAH__TAKE(arena, double, bramah__n_spools(&model->circuit));
  model->joint_turns = BRAMAH__TAKE(arena, unsigned char, n);
  model->index0 = BRAMAH__TAKE(arena, int, n);
  model->row0 = BRAMAH__TAKE(arena, int, model->m);
  model->ball = BRAMAH__TAKE(arena, bramah__ball, model->n_balls);
  model->ball_of = BRAMAH__TAKE(arena, size_t, n);
  model->base0 = BRAMAH__TAKE(arena, double, 4 * model->n_balls);
  t->bodies = BRAMAH__TAKE(arena, bramah_body, machine->n_bodies + n);
  t->joints = BRAMAH__TAKE(arena, bramah_joint, n);
  t->loops = BRAMAH__TAKE(arena, bramah_loop, machine->n_loops);
  t->spring = BRAMAH__TAKE(arena, bramah__spring, machine->n_springs);
  t->joint_spring = BRAMAH__TAKE(arena, bramah__joint_spring, machine->n_joint_springs);
  t->load = BRAMAH__TAKE(arena, bramah__load, machine->n_forces + machine->n_tools);
  t->tool = BRAMAH__TAKE(arena, bramah_tool, machine->n_tools);
  size_t n_plates = 0, n_tool_points = 0;
  for (size_t i = 0; i < machine->n_tools; i++) {
    n_plates += bramah__n_plates(&machine->tools[i]);
    n_tool_points += machine->tools[i].tool.n_points;
  }
  t->plate = BRAMAH__TAKE(arena, bramah_plate, n_plates);
  t->tool_point = BRAMAH__TAKE(arena, double, 3 * n_tool_points);
  t->limit = BRAMAH__TAKE(arena, bramah__limit, model->forces.n_limits);
  t->contact_point = BRAMAH__TAKE(arena, bramah__contact, model->n_contact_points);
  const bramah__shape_counts shapes = bramah__count_shapes(machine);
  t->shape = BRAMAH__TAKE(arena, bramah__shape, shapes.shapes);
  t->corner = BRAMAH__TAKE(arena, double, 3 * shapes.corners);
  t->normal = BRAMAH__TAKE(arena, double, 3 * (BRAMAH__FACES_OF(1) + BRAMAH__EDGES_OF(1)) * shapes.corners);
  t->first = BRAMAH__TAKE(arena, int, (BRAMAH__FACES_OF(1) + 1) * shapes.corners);
  t->of_face = BRAMAH__TAKE(arena, int, 2 * BRAMAH__EDGES_OF(1) * shapes.corners);
  t->edge = BRAMAH__TAKE(arena, int, 2 * BRAMAH__EDGES_OF(1) * shapes.corners);
  t->meeting = BRAMAH__TAKE(arena, bramah__meeting, shapes.meetings);
  t->heights = BRAMAH__TAKE(arena, double, bramah__n_columns_of(machine));
  model->standing = BRAMAH__TAKE(arena, bramah__standing, model->n_standing);
  model->first_point = BRAMAH__TAKE(arena, size_t, model->n_contacts + 1);
  bramah__bristles_layout(machine, model, arena);
  model->rolling = BRAMAH__TAKE(arena, bramah__rolling, machine->n_wheels + machine->n_knife_edges);
  t->ball = BRAMAH__TAKE(arena, size_t, n);
  bramah__motions_layout(machine, t, arena);
  bramah__shafts_layout(machine, t, arena);
  bramah__parameters_layout(machine, model, arena);
  bramah__definitions_layout(machine, model, t, arena);
}

/* Names of outputs have at most 512 characters (outputs). */
size_t bramah__compile_size(const bramah_machine *machine, bramah_model *counts)
{
  bramah__tables t;
  *counts = (bramah_model){0};
  count(machine, counts);
  bramah__arena arena = bramah__arena_make(NULL, 0);
  bramah__arena_take(&arena, 1, sizeof *counts);
  layout(machine, counts, &t, &arena);
  const size_t outputs = bramah__outputs_count(counts);
  /* rounded so that the whole is a multiple of the alignment, as aligned_alloc asks */
  return arena.used +
         (outputs * (sizeof(bramah__output) + 512) / BRAMAH__ALIGN + outputs + 2) * BRAMAH__ALIGN;
}

/* ---- names that may be given once ---- */

static bramah_status is_twin(const bramah__compiler *k, const bramah_named *of,
                             const bramah_element_kind *other, const char *what)
{
  bramah__compile_fail(k, BRAMAH_E_KEY, of, "the ");
  bramah__add_text(k->diag, other->name);
  bramah__add_text(k->diag, " of the same name would have the same ");
  bramah__add_text(k->diag, what);
  return BRAMAH_E_KEY;
}

/* Elements that pass oil and metered cylinders share their outputs .flow, orifices and directional valves the
 * parameter .flow_coefficient, and so their names. */
static bramah_status check_element_names(const bramah__compiler *k)
{
  const bramah__circuit *circuit = &k->model->circuit;
  const char *const *names = k->model->element_name;
  const things valves = THINGS(k->source, valves), metered = THINGS(k->source, metered_cylinders);
  const bramah_element_kind *kind, *other;
  for (size_t i = 0; i < circuit->n_elements; i++) {
    const bramah_named *element = bramah__element_of(k->machine, i, &kind);
    if (!names[i][0]) return bramah__check_named(k, element, kind->name, 0);
    const bramah_element_key *key = kind->keys;
    while (key->name && (strcmp(key->name, "flow_coefficient") != 0 || !key->parameter)) key++;
    for (size_t v = 0; key->name && v < valves.n; v++)
      if (strcmp(names[i], named(&valves, v)->name) == 0)
        return is_twin(k, named(&valves, v), kind, "parameters");

    const long twin = bramah__find_name(i, names, names[i]);
    if (twin < 0) continue;
    bramah__element_of(k->machine, (size_t)twin, &other);
    const int flows = i < circuit->n_passing || i >= circuit->n_elements - circuit->n_lines;
    if (other != kind && flows && (size_t)twin < circuit->n_passing)
      return is_twin(k, element, other, "outputs");
    if (other == kind) return bramah__check_named(k, element, kind->name, 1);
  }
  for (size_t i = 0; i < metered.n; i++) {
    const long twin = bramah__find_name(circuit->n_passing, names, named(&metered, i)->name);
    if (twin < 0) continue;
    bramah__element_of(k->machine, (size_t)twin, &other);
    return is_twin(k, named(&metered, i), other, "outputs");
  }
  return BRAMAH_OK;
}

/* Is one of the names the cylinder's with _piston or _rod behind? */
static int names_chamber(size_t n, const char *const *names, const char *cylinder)
{
  const size_t length = strlen(cylinder);
  for (size_t i = 0; i < n; i++)
    if (strncmp(names[i], cylinder, length) == 0 &&
        (strcmp(names[i] + length, "_piston") == 0 || strcmp(names[i] + length, "_rod") == 0))
      return 1;
  return 0;
}

/* Every name is given, and once within its kind; things whose outputs would have the same names have none in
 * common. */
static bramah_status check_names(bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  const bramah__circuit *circuit = &m->circuit;
  const struct {
    size_t n;
    const char *const *names;
    const char *kind;
  } lists[] = {
      {m->n, m->joint_name, "joint"},
      {m->n, m->body_name, "body"},
      {d->n_loops, m->loop_name, "loop"},
      {circuit->n_volumes, m->volume_name, "volume"},
      {d->n_supplies, m->supply_name, "supply"},
      {bramah__n_spools(circuit), m->valve_name, "valve"},
      {circuit->n_cylinders, m->cylinder_name, m->n_rotaries ? "cylinder or rotary actuator" : "cylinder"},
      {d->n_inputs, m->input_name, "input"},
      {d->n_motions, m->motion_name, "motion"},
      {d->n_pump_lines, m->pump_line_name, "pump line"}};
  for (size_t l = 0; l < sizeof lists / sizeof lists[0]; l++)
    for (size_t i = 0; i < lists[l].n; i++) {
      const bramah_named one = {lists[l].names[i], 0};
      const bramah_status status =
          bramah__check_named(k, &one, lists[l].kind, bramah__find_name(i, lists[l].names, one.name) >= 0);
      if (status != BRAMAH_OK) return status;
    }

  const bramah_status status = check_element_names(k);
  if (status != BRAMAH_OK) return status;
  static const char joint[] = "a joint coordinate has the same name; so would their outputs";
  const struct {
    things of;
    size_t n;
    const char *const *names;
    const char *message;
  } apart[] = {{THINGS(d, rotaries), m->n, m->joint_name, joint},
               {THINGS(d, motors), m->n, m->joint_name, joint},
               {THINGS(d, pump_lines), d->n_volumes, m->volume_name,
                "a volume has the same name; so would their outputs"},
               {THINGS(d, motions), circuit->n_cylinders, m->cylinder_name,
                "a cylinder or rotary actuator has the same name; so would their outputs"}};
  for (size_t l = 0; l < sizeof apart / sizeof apart[0]; l++)
    for (size_t i = 0; i < apart[l].of.n; i++) {
      const bramah_named *thing = named(&apart[l].of, i);
      if (bramah__find_name(apart[l].n, apart[l].names, thing->name) >= 0)
        return bramah__compile_fail(k, BRAMAH_E_KEY, thing, apart[l].message);
    }
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    if (names_chamber(d->n_volumes, m->volume_name, in->name) ||
        names_chamber(d->n_pump_lines, m->pump_line_name, in->name))
      return bramah__compile_fail(
          k, BRAMAH_E_KEY, in,
          "a volume or pump line is named after one of its chambers; so would be their outputs");
  }
  return BRAMAH_OK;
}

/* ---- the whole ---- */

static bramah_status take_integrator(bramah__compiler *k)
{
  static const bramah_named integrator = {"integrator", 0};
  const bramah_integrator *in = &k->machine->integrator;
  bramah_model *m = k->model;
  if (in->penalty_factor < 0 || in->penalty_frequency < 0 || in->penalty_damping < 0)
    return bramah__refuse(k, &integrator, "penalty values must be positive");
  if ((int)in->formulation < 0 || in->formulation > BRAMAH_FORMULATION_PENALTY)
    return bramah__refuse(k, &integrator, "the formulation is unknown");
  if (in->step_ns < 0 || in->position_tolerance < 0 || in->pressure_tolerance < 0 || in->tolerance < 0 ||
      in->max_iterations < 0)
    return bramah__refuse(k, &integrator, "step, tolerances and iterations must be positive");
  bramah_machine otherwise;
  bramah_machine_default(&otherwise);
  const bramah_integrator *usual = &otherwise.integrator;
  m->step_ns = in->step_ns ? in->step_ns : usual->step_ns;
  m->h = (double)m->step_ns * 1e-9;
  m->position_tolerance = in->position_tolerance > 0 ? in->position_tolerance : usual->position_tolerance;
  m->tolerance = in->tolerance > 0 ? in->tolerance : usual->tolerance;
  for (size_t i = 0; i < m->n_first_order; i++) {
    m->first_order_scale[i] = 1e6;
    m->first_order_tolerance[i] =
        in->pressure_tolerance > 0 ? in->pressure_tolerance : usual->pressure_tolerance;
  }
  for (size_t i = 0; i < m->circuit.n_states;
       i++) { /* a line's flow at 1 m/s, a pump's at full displacement */
    const size_t n_lines = k->source->n_lines, at = k->source->n_volumes + i;
    const double d = i < n_lines ? k->source->lines[i].diameter : 0.0;
    const bramah_load_sensing_pump *pump = i < n_lines ? NULL : &k->source->load_sensing_pumps[i - n_lines];
    const double flow = pump ? pump->displacement * pump->speed : 0.25 * 3.14159265358979323846 * d * d;
    m->first_order_scale[at] = flow;
    m->first_order_tolerance[at] = 1e-8 * flow;
  }
  m->max_iterations = in->max_iterations ? in->max_iterations : usual->max_iterations;
  m->formulation = in->formulation;
  /* The penalty method puts its factor before accelerations: the model finds it from the masses. The
   * Lagrangian puts it before positions. */
  const double factor = m->formulation == BRAMAH_FORMULATION_PENALTY ? 0.0 : 1e11;
  m->penalty_factor = in->penalty_factor > 0 ? in->penalty_factor : factor;
  m->penalty_frequency = in->penalty_frequency > 0 ? in->penalty_frequency : usual->penalty_frequency;
  m->penalty_damping = in->penalty_damping > 0 ? in->penalty_damping : usual->penalty_damping;
  return BRAMAH_OK;
}

bramah_status bramah__compile(const bramah_machine *machine, bramah__arena *arena, bramah_diag *diag,
                              bramah__compiler *k)
{
  static bramah_status (*const steps[])(bramah__compiler *) = {
      take_integrator,       bramah__expand,       bramah__expand_circuit, check_names,
      bramah__build_tree,    bramah__build_loops,  bramah__build_motions,  bramah__build_forces,
      bramah__build_terrain, bramah__build_shafts, bramah__build_contacts, bramah__build_rolling,
      bramah__build_circuit};
  *k = (bramah__compiler){.source = machine, .machine = machine, .diag = diag};
  bramah_model *m = k->model = BRAMAH__TAKE(arena, bramah_model, 1);
  count(machine, m);
  if (machine->n_joints != machine->n_bodies)
    return bramah__compile_fail(
        k, BRAMAH_E_TOPOLOGY, &(bramah_named){"joints", 0},
        "there must be one joint in front of each body: numbers of joints and bodies differ");
  layout(machine, m, &k->t, arena);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    const bramah_status status = steps[i](k);
    if (status != BRAMAH_OK) return status;
  }
  m->tree.link = k->t.link;
  for (size_t i = 0; i < m->n; i++) m->joint_turns[i] = m->tree.link[i].revolute != 0;
  memcpy(m->tree.gravity, k->machine->gravity, sizeof m->tree.gravity);
  m->loop = k->t.loop;

  /* Springs, rotary actuators and motions on an angle of a spherical joint need that angle for their coordinate. */
  for (size_t i = 0; i < m->forces.n_joint_springs + m->circuit.n_cylinders + m->n_motions; i++) {
    const size_t springs = m->forces.n_joint_springs, lines = springs + m->circuit.n_cylinders;
    if (i >= springs && i < lines && !m->line[i - springs].is_coordinate) continue;
    const size_t joint = i < springs ? m->forces.joint_spring[i].joint
                         : i < lines ? m->line[i - springs].joint
                                     : m->motion[i - lines].joint;
    if (m->ball_of[joint]) m->ball[m->ball_of[joint] - 1].pinned = 1;
  }
  const bramah_status status = bramah__build_parameters(k);
  if (status != BRAMAH_OK) return status;
  bramah__outputs_build(m, arena);
  return bramah__build_definitions(k);
}

/* ---- questions to a model, and the commands that a machine plans ---- */

bramah_model_info bramah_model_get_info(const bramah_model *m)
{
  return (bramah_model_info){.name = m->name,
                             .step_ns = m->step_ns,
                             .n_joints = m->n,
                             .n_dof = m->n_independent,
                             .n_volumes = m->circuit.n_volumes,
                             .n_inputs = m->n_inputs,
                             .n_cylinders = m->circuit.n_cylinders - m->n_rotaries,
                             .n_rotaries = m->n_rotaries,
                             .joint_names = m->joint_name,
                             .joint_turns = m->joint_turns,
                             .independent_joints = m->index0 + m->n_dependent,
                             .volume_names = m->volume_name,
                             .initial_pressures = m->p0,
                             .input_names = m->input_name,
                             .body_names = m->body_name};
}

struct bramah_schedule {
  size_t n;
  double *u; /* [n] */
  struct planned {
    const bramah_input *input; /* NULL: none is planned */
    size_t next;               /* first point that has not come yet */
  } planned[];                 /* [n] in the model's order */
};

bramah_status bramah_schedule_new(const bramah_machine *machine, const bramah_model *model, bramah_diag *diag,
                                  bramah_schedule **out)
{
  const size_t n = model->n_inputs;
  bramah_schedule *schedule = calloc(1, sizeof *schedule + n * sizeof schedule->planned[0]);
  if (schedule) schedule->u = calloc(n + 1, sizeof *schedule->u);
  if (!schedule || !schedule->u) {
    free(schedule);
    return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "out of memory");
  }
  schedule->n = n;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < machine->n_inputs; k++)
      if (strcmp(machine->inputs[k].name, model->input_name[i]) == 0)
        schedule->planned[i].input = &machine->inputs[k];
  *out = schedule;
  return BRAMAH_OK;
}

void bramah_schedule_free(bramah_schedule *schedule)
{
  if (!schedule) return;
  free(schedule->u);
  free(schedule);
}

const double *bramah_schedule_at(bramah_schedule *schedule, int64_t time_ns)
{
  for (size_t i = 0; i < schedule->n; i++) {
    struct planned *p = &schedule->planned[i];
    /* Whole nanoseconds: a point at 2.5 s is reached in the step that ends there, whatever the rounding of
     * sums. */
    while (p->input && p->next < p->input->n_points && p->input->times[p->next] * 1e9 < (double)time_ns + 0.5)
      schedule->u[i] = p->input->values[p->next++];
  }
  return schedule->u;
}
