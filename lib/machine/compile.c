/* SPDX-License-Identifier: MIT */
/* From a machine description to the immutable model: memory and the order of the work. Names, mechanics and
 * circuit have files of their own. The initial pose and open pressures are found by the plant. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <string.h>

static void count(const bramah_machine *machine, bramah_model *model)
{
  model->n = bramah__count_coordinates(machine);
  model->n_loops = machine->n_loops;
  model->m_loops = bramah__count_loop_rows(machine);
  model->n_motions = machine->n_motions;
  model->m = model->m_loops + model->n_motions;
  model->n_balls = bramah__count_balls(machine);
  model->n_dependent = 0;
  model->n_independent = model->n;
  model->n_inputs = machine->n_inputs;
  model->tree.n = model->n;
  model->circuit.n_volumes = machine->n_volumes + machine->n_lines + machine->n_metered_cylinders;
  model->circuit.n_supplies = machine->n_supplies;
  const bramah__element_counts elements = bramah__count_elements(machine);
  model->circuit.n_elements = elements.n;
  model->circuit.n_passing = elements.passing;
  model->circuit.n_lines = elements.lines;
  model->circuit.n_valves = machine->n_valves;
  model->circuit.n_metering_spools = bramah__count_metering_spools(machine);
  model->circuit.n_cylinders =
      machine->n_cylinders + machine->n_metered_cylinders + bramah__n_turning(machine);
  model->circuit.n_metered = machine->n_metered_cylinders;
  model->circuit.n_metered_lines = machine->n_pump_lines;
  model->n_rotaries = bramah__n_turning(machine);
  for (size_t i = 0; i < machine->n_cylinders; i++)
    model->circuit.n_friction_states +=
        bramah__friction_states((bramah__friction_kind)machine->cylinders[i].friction.model);
  for (size_t i = 0; i < model->n_rotaries; i++)
    model->circuit.n_friction_states +=
        bramah__friction_states((bramah__friction_kind)bramah__turning(machine, i).friction.model);
  for (size_t i = 0; i < machine->n_metered_cylinders; i++)
    model->circuit.n_friction_states +=
        bramah__friction_states((bramah__friction_kind)machine->metered_cylinders[i].friction.model);
  model->n_first_order = model->circuit.n_volumes;
  model->n_parameters = bramah__count_parameters(machine);
}

#define TAKE_NAMES(field, things, n)                                                                         \
  do {                                                                                                       \
    model->field = BRAMAH__TAKE(arena, const char *, (n));                                                   \
    for (size_t i_ = 0; i_ < (n); i_++) {                                                                    \
      const char *copy_ =                                                                                    \
          bramah__arena_text(arena, machine->things[i_].name ? machine->things[i_].name : "");               \
      if (model->field) model->field[i_] = copy_;                                                            \
    }                                                                                                        \
  } while (0)

/* Coordinates in the order of the joints. Bodies: those that are not welded, then one behind each coordinate
 * but the last of its joint. */
static void take_tree_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  size_t joint = 0, body = 0;
  const size_t most = machine->n_bodies + model->n;
  model->joint_name = BRAMAH__TAKE(arena, const char *, model->n);
  model->body_name = BRAMAH__TAKE(arena, const char *, most);
  for (size_t b = 0; b < machine->n_bodies; b++) {
    if (bramah__is_welded(machine, &machine->bodies[b])) continue;
    const char *copy = bramah__arena_text(arena, machine->bodies[b].name ? machine->bodies[b].name : "");
    if (model->body_name) model->body_name[body++] = copy;
  }
  for (size_t j = 0; j < machine->n_joints; j++) {
    const size_t n = bramah_joint_n_coordinates(machine->joints[j].type);
    for (size_t i = 0; i < n; i++, joint++) {
      const char *copy =
          bramah__join_text(arena, machine->joints[j].name, bramah_joint_suffix(machine->joints[j].type, i));
      if (model->joint_name) model->joint_name[joint] = copy;
      if (model->body_name && i + 1 < n) model->body_name[body++] = copy;
    }
  }
  model->n_bodies_named = body;
}

/* Cylinders, metered cylinders, then rotary actuators. */
static void take_actuator_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  const size_t nc = machine->n_cylinders, nm = machine->n_metered_cylinders;
  model->cylinder_name = BRAMAH__TAKE(arena, const char *, model->circuit.n_cylinders);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const char *name = i < nc        ? machine->cylinders[i].name
                       : i < nc + nm ? machine->metered_cylinders[i - nc].name
                                     : bramah__turning(machine, i - nc - nm).name;
    const char *copy = bramah__arena_text(arena, name ? name : "");
    if (model->cylinder_name) model->cylinder_name[i] = copy;
  }
}

/* Volumes, then lines, then the load pressures of metered cylinders; valves, then other spools. */
static void take_circuit_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  const size_t nv = machine->n_volumes, nl = machine->n_lines, n_spools = bramah__n_spools(&model->circuit);
  model->volume_name = BRAMAH__TAKE(arena, const char *, model->circuit.n_volumes);
  for (size_t i = 0; i < model->circuit.n_volumes; i++) {
    const char *name = i < nv        ? machine->volumes[i].name
                       : i < nv + nl ? machine->lines[i - nv].name
                                     : machine->metered_cylinders[i - nv - nl].name;
    const char *copy = bramah__arena_text(arena, name ? name : "");
    if (model->volume_name) model->volume_name[i] = copy;
  }
  model->valve_name = BRAMAH__TAKE(arena, const char *, n_spools);
  for (size_t i = 0; i < n_spools; i++) {
    const char *suffix, *name = bramah__spool_name(machine, i, &suffix),
                        *copy = bramah__join_text(arena, name, suffix);
    if (model->valve_name) model->valve_name[i] = copy;
  }
  TAKE_NAMES(pump_line_name, pump_lines, machine->n_pump_lines);
}

static void take_element_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  const size_t n = model->circuit.n_elements;
  model->element_name = BRAMAH__TAKE(arena, const char *, n);
  for (size_t i = 0; i < n; i++) {
    const bramah_named *element = bramah__element_of(machine, i, NULL);
    const char *copy = bramah__arena_text(arena, element->name ? element->name : "");
    if (model->element_name) model->element_name[i] = copy;
  }
}

/* Cut everything the model needs, in a fixed order, except the outputs, whose names need the sorted tree. */
static void layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                   bramah__arena *arena)
{
  const size_t n = model->n, nc = model->circuit.n_cylinders;
  model->name = bramah__arena_text(arena, machine->name ? machine->name : "machine");
  take_tree_names(machine, model, arena);
  size_t b = 0;
  model->ball_name = BRAMAH__TAKE(arena, const char *, model->n_balls);
  for (size_t j = 0; j < machine->n_joints; j++) {
    if (!bramah__is_ball(&machine->joints[j])) continue;
    const char *copy = bramah__arena_text(arena, machine->joints[j].name ? machine->joints[j].name : "");
    if (model->ball_name) model->ball_name[b++] = copy;
  }
  TAKE_NAMES(loop_name, loops, machine->n_loops);
  TAKE_NAMES(supply_name, supplies, machine->n_supplies);
  take_circuit_names(machine, model, arena);
  take_actuator_names(machine, model, arena);
  TAKE_NAMES(input_name, inputs, machine->n_inputs);
  take_element_names(machine, model, arena);
  TAKE_NAMES(motion_name, motions, machine->n_motions);
  t->link = BRAMAH__TAKE(arena, bramah__link, n);
  t->loop = BRAMAH__TAKE(arena, bramah__loop, machine->n_loops);
  t->line = BRAMAH__TAKE(arena, bramah__line, nc);
  t->volume = BRAMAH__TAKE(arena, bramah__volume, model->circuit.n_volumes);
  t->supply = BRAMAH__TAKE(arena, double, machine->n_supplies);
  t->valve = BRAMAH__TAKE(arena, bramah__valve, bramah__n_spools(&model->circuit));
  t->cylinder = BRAMAH__TAKE(arena, bramah__cylinder, nc);
  bramah__elements_layout(machine, t, arena);
  t->body_of_joint = BRAMAH__TAKE(arena, int, n);
  t->joint_order = BRAMAH__TAKE(arena, size_t, n);
  t->given = BRAMAH__TAKE(arena, unsigned char, n);
  model->z0 = BRAMAH__TAKE(arena, double, n);
  model->zd0 = BRAMAH__TAKE(arena, double, n);
  model->p0 = BRAMAH__TAKE(arena, double, model->circuit.n_volumes);
  model->first_order_scale = BRAMAH__TAKE(arena, double, model->n_first_order);
  model->first_order_tolerance = BRAMAH__TAKE(arena, double, model->n_first_order);
  model->U0 = BRAMAH__TAKE(arena, double, bramah__n_spools(&model->circuit));
  model->index0 = BRAMAH__TAKE(arena, int, n);
  model->row0 = BRAMAH__TAKE(arena, int, model->m);
  model->ball = BRAMAH__TAKE(arena, bramah__ball, model->n_balls);
  model->ball_of = BRAMAH__TAKE(arena, size_t, n);
  model->base0 = BRAMAH__TAKE(arena, double, 4 * model->n_balls);
  t->bodies = BRAMAH__TAKE(arena, bramah_body, machine->n_bodies + n);
  t->joints = BRAMAH__TAKE(arena, bramah_joint, n);
  t->loops = BRAMAH__TAKE(arena, bramah_loop, machine->n_loops);
  t->cylinders = BRAMAH__TAKE(arena, bramah_cylinder, nc);
  bramah__metered_layout(machine, model, t, arena);
  t->spring = BRAMAH__TAKE(arena, bramah__spring, machine->n_springs);
  t->joint_spring = BRAMAH__TAKE(arena, bramah__joint_spring, machine->n_joint_springs);
  t->load = BRAMAH__TAKE(arena, bramah__load, machine->n_forces);
  model->rolling = BRAMAH__TAKE(arena, bramah__rolling, machine->n_wheels + machine->n_knife_edges);
  t->ball = BRAMAH__TAKE(arena, size_t, n);
  bramah__motions_layout(machine, t, arena);
  bramah__parameters_layout(machine, model, arena);
  t->work = BRAMAH__TAKE(arena, double, 3 * n);
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

void bramah_machine_default(bramah_machine *machine)
{
  *machine = (bramah_machine){.transition_pressure = 2e5,
                              .integrator = {.step_ns = 1000000,
                                             .position_tolerance = 1e-7,
                                             .pressure_tolerance = 1e-2,
                                             .max_iterations = 25,
                                             .penalty_frequency = 100.0,
                                             .penalty_damping = 1.0}};
}

static bramah_status take_integrator(bramah__compiler *k)
{
  const bramah_integrator *in = &k->machine->integrator;
  bramah_model *m = k->model;
  if (in->penalty_factor < 0 || in->penalty_frequency < 0 || in->penalty_damping < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0, "penalty values must be positive");
  if ((int)in->formulation < 0 || in->formulation > BRAMAH_FORMULATION_PENALTY)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0, "the formulation is unknown");
  if (in->step_ns < 0 || in->position_tolerance < 0 || in->pressure_tolerance < 0 || in->max_iterations < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0,
                                "step, tolerances and iterations must be positive");
  bramah_machine otherwise;
  bramah_machine_default(&otherwise);
  const bramah_integrator *usual = &otherwise.integrator;
  m->step_ns = in->step_ns ? in->step_ns : usual->step_ns;
  m->h = (double)m->step_ns * 1e-9;
  m->position_tolerance = in->position_tolerance > 0 ? in->position_tolerance : usual->position_tolerance;
  for (size_t i = 0; i < m->n_first_order; i++) {
    m->first_order_scale[i] = 1e6;
    m->first_order_tolerance[i] =
        in->pressure_tolerance > 0 ? in->pressure_tolerance : usual->pressure_tolerance;
  }
  for (size_t i = 0; i < k->source->n_lines; i++) { /* flow at 1 m/s */
    const double d = k->source->lines[i].diameter, flow = 0.25 * 3.14159265358979323846 * d * d;
    m->first_order_scale[k->source->n_volumes + i] = flow;
    m->first_order_tolerance[k->source->n_volumes + i] = 1e-8 * flow;
  }
  m->max_iterations = in->max_iterations ? in->max_iterations : usual->max_iterations;
  m->formulation = in->formulation;
  /* The penalty method puts its factor before accelerations, the Lagrangian before positions: beyond 1e7 the
   * former's equations are too ill-conditioned for the pressure tolerance. */
  const double factor = m->formulation == BRAMAH_FORMULATION_PENALTY ? 1e8 : 1e11;
  m->penalty_factor = in->penalty_factor > 0 ? in->penalty_factor : factor;
  m->penalty_frequency = in->penalty_frequency > 0 ? in->penalty_frequency : usual->penalty_frequency;
  m->penalty_damping = in->penalty_damping > 0 ? in->penalty_damping : usual->penalty_damping;
  return BRAMAH_OK;
}

bramah_status bramah__compile(const bramah_machine *machine, bramah__arena *arena, bramah_diag *diag,
                              bramah__compiler *k)
{
  *k = (bramah__compiler){.source = machine, .machine = machine, .diag = diag};
  k->model = BRAMAH__TAKE(arena, bramah_model, 1);
  count(machine, k->model);
  if (machine->n_joints != machine->n_bodies)
    return bramah__compile_fail(
        k, BRAMAH_E_TOPOLOGY, "joints", 0,
        "there must be one joint in front of each body: numbers of joints and bodies differ");
  layout(machine, k->model, &k->t, arena);
  bramah_status status = take_integrator(k);
  if (status == BRAMAH_OK) status = bramah__expand(k);
  if (status == BRAMAH_OK) status = bramah__check_names(k);
  if (status == BRAMAH_OK) status = bramah__build_tree(k);
  if (status == BRAMAH_OK) status = bramah__build_loops(k);
  if (status == BRAMAH_OK) status = bramah__build_motions(k);
  if (status == BRAMAH_OK) status = bramah__build_forces(k);
  if (status == BRAMAH_OK) status = bramah__build_rolling(k);
  if (status == BRAMAH_OK) status = bramah__build_circuit(k);
  if (status == BRAMAH_OK) status = bramah__build_metered(k);
  if (status == BRAMAH_OK) status = bramah__finish_circuit(k);
  if (status == BRAMAH_OK) status = bramah__build_elements(k);
  if (status == BRAMAH_OK) status = bramah__check_flow_paths(k);
  if (status != BRAMAH_OK) return status;
  const bramah_machine *d = k->machine;
  bramah_model *m = k->model;
  m->tree.link = k->t.link;
  memcpy(m->tree.gravity, d->gravity, sizeof m->tree.gravity);
  m->loop = k->t.loop;
  m->line = k->t.line;
  m->circuit.oil_bulk_modulus = d->oil_bulk_modulus;
  bramah_machine otherwise;
  bramah_machine_default(&otherwise);
  m->circuit.transition_pressure =
      d->transition_pressure > 0.0 ? d->transition_pressure : otherwise.transition_pressure;
  m->circuit.volume = k->t.volume;
  m->circuit.supply = k->t.supply;
  m->circuit.valve = k->t.valve;
  m->circuit.cylinder = k->t.cylinder;
  bramah__elements_connect(k);
  bramah__metered_connect(k);
  /* Springs, rotary actuators and motions on an angle of a spherical joint need that angle for their
   * coordinate. */
  for (size_t i = 0; i < k->model->forces.n_joint_springs; i++) {
    const size_t b = k->model->ball_of[k->model->forces.joint_spring[i].joint];
    if (b) k->model->ball[b - 1].pinned = 1;
  }
  for (size_t i = 0; i < k->model->circuit.n_cylinders; i++) {
    const size_t b = k->model->line[i].is_coordinate ? k->model->ball_of[k->model->line[i].joint] : 0;
    if (b) k->model->ball[b - 1].pinned = 1;
  }
  for (size_t i = 0; i < k->model->n_motions; i++) {
    const size_t b = k->model->ball_of[k->model->motion[i].joint];
    if (b) k->model->ball[b - 1].pinned = 1;
  }
  status = bramah__build_parameters(k);
  if (status == BRAMAH_OK) bramah__outputs_build(k->model, arena);
  return status;
}
