/* SPDX-License-Identifier: MIT */
/* From a machine description to the immutable model. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"

#include <math.h>
#include <string.h>

/* Names, references and faults of a machine under compilation. */

bramah_status bramah__compile_fail(const bramah__compiler *k, bramah_status status, const char *thing,
                                   int line, const char *message)
{
  bramah__fail(k->diag, status, thing, message);
  bramah__at(k->diag, k->machine->file, line, 0);
  return status;
}

bramah_status bramah__positive(const bramah__compiler *k, double value, const char *thing, int line,
                               const char *what)
{
  if (value > 0.0 && isfinite(value)) return BRAMAH_OK;
  bramah__compile_fail(k, BRAMAH_E_VALUE, thing, line, what);
  bramah__add_text(k->diag, " must be positive, not ");
  bramah__add_number(k->diag, value, 6);
  return BRAMAH_E_VALUE;
}

long bramah__find_name(size_t n, const char *const *names, const char *name)
{
  for (size_t i = 0; name && i < n; i++)
    if (strcmp(names[i], name) == 0) return (long)i;
  return -1;
}

static bramah_status unique(const bramah__compiler *k, size_t n, const char *const *names, const char *kind)
{
  for (size_t i = 0; i < n; i++) {
    if (!names[i][0]) return bramah__compile_fail(k, BRAMAH_E_KEY, kind, 0, "has no name");
    if (bramah__find_name(i, names, names[i]) < 0) continue;
    bramah__compile_fail(k, BRAMAH_E_KEY, names[i], 0, "this name is given to more than one ");
    bramah__add_text(k->diag, kind);
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

/* Their outputs .angle and .rate would have the same names. */
static bramah_status beside_joints(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_rotaries; i++)
    if (bramah__find_name(m->n, m->joint_name, d->rotaries[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->rotaries[i].name, d->rotaries[i].line,
                                  "a joint coordinate has the same name; so would their outputs");
  return BRAMAH_OK;
}

/* Orifices, leakages, check valves, relief valves and pumps share their outputs .flow, and so their names.
 */
enum { N_FLOW_KINDS = 5 };
static const char *const flow_kinds[N_FLOW_KINDS] = {"orifice", "leakage", "check valve", "relief valve",
                                                     "pump"};

static size_t flow_names(const bramah__compiler *k, int kind, const char *const **names)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->machine;
  const struct {
    size_t n;
    const char *const *names;
  } lists[N_FLOW_KINDS] = {{d->n_orifices, m->orifice_name},
                           {d->n_leakages, m->leakage_name},
                           {d->n_check_valves, m->check_valve_name},
                           {d->n_relief_valves, m->relief_valve_name},
                           {d->n_pumps, m->pump_name}};
  *names = lists[kind].names;
  return lists[kind].n;
}

static int flow_line(const bramah_machine *d, int kind, size_t i)
{
  if (kind == 0) return d->orifices[i].line;
  if (kind == 1) return d->leakages[i].line;
  if (kind == 2) return d->check_valves[i].line;
  return kind == 3 ? d->relief_valves[i].line : d->pumps[i].line;
}

/* The name of element i of a kind stands in no kind before it. */
static bramah_status flow_name_is_new(const bramah__compiler *k, int kind, size_t i, const char *name)
{
  const char *const *names;
  for (int other = 0; other < kind; other++) {
    const size_t n = flow_names(k, other, &names);
    if (bramah__find_name(n, names, name) < 0) continue;
    bramah__compile_fail(k, BRAMAH_E_KEY, name, flow_line(k->machine, kind, i), "the ");
    bramah__add_text(k->diag, flow_kinds[other]);
    bramah__add_text(k->diag, " of the same name would have the same outputs");
    return BRAMAH_E_KEY;
  }
  return BRAMAH_OK;
}

static bramah_status check_flow_names(const bramah__compiler *k)
{
  const char *const *names;
  bramah_status status = BRAMAH_OK;
  for (int kind = 0; kind < N_FLOW_KINDS && status == BRAMAH_OK; kind++) {
    const size_t n = flow_names(k, kind, &names);
    status = unique(k, n, names, flow_kinds[kind]);
    for (size_t i = 0; i < n && status == BRAMAH_OK; i++) status = flow_name_is_new(k, kind, i, names[i]);
  }
  return status;
}

/* Nor may a motion and a cylinder both have an output .force or .work of the same name. */
static bramah_status beside_cylinders(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_motions; i++)
    if (bramah__find_name(m->circuit.n_cylinders, m->cylinder_name, d->motions[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->motions[i].name, d->motions[i].line,
                                  "a cylinder or rotary actuator has the same name; so would their outputs");
  return BRAMAH_OK;
}

/* Nor a directional valve and an orifice both a parameter .flow_coefficient of the same name. */
static bramah_status beside_orifices(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  for (size_t i = 0; i < d->n_valves; i++)
    if (bramah__find_name(d->n_orifices, m->orifice_name, d->valves[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->valves[i].name, d->valves[i].line,
                                  "an orifice has the same name; so would their parameters");
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

/* Metered cylinders have outputs .flow as those elements, pump lines .pressure as volumes. */
static bramah_status check_metered_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->source;
  const char *const *names;
  for (size_t i = 0; i < d->n_metered_cylinders; i++)
    for (int kind = 0; kind < N_FLOW_KINDS; kind++) {
      const size_t n = flow_names(k, kind, &names);
      if (bramah__find_name(n, names, d->metered_cylinders[i].name) < 0) continue;
      bramah__compile_fail(k, BRAMAH_E_KEY, d->metered_cylinders[i].name, d->metered_cylinders[i].line,
                           "the ");
      bramah__add_text(k->diag, flow_kinds[kind]);
      bramah__add_text(k->diag, " of the same name would have the same outputs");
      return BRAMAH_E_KEY;
    }
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    if (names_chamber(d->n_volumes, m->volume_name, in->name) ||
        names_chamber(d->n_pump_lines, m->pump_line_name, in->name))
      return bramah__compile_fail(
          k, BRAMAH_E_KEY, in->name, in->line,
          "a volume or pump line is named after one of its chambers; so would be their outputs");
  }
  for (size_t i = 0; i < d->n_pump_lines; i++)
    if (bramah__find_name(d->n_volumes, m->volume_name, d->pump_lines[i].name) >= 0)
      return bramah__compile_fail(k, BRAMAH_E_KEY, d->pump_lines[i].name, d->pump_lines[i].line,
                                  "a volume has the same name; so would their outputs");
  return unique(k, d->n_pump_lines, m->pump_line_name, "pump line");
}

bramah_status bramah__check_names(const bramah__compiler *k)
{
  const bramah_model *m = k->model;
  const bramah_machine *d = k->machine;
  const struct {
    size_t n;
    const char *const *names;
    const char *kind;
  } lists[] = {{d->n_joints, m->joint_name, "joint"},
               {d->n_bodies, m->body_name, "body"},
               {d->n_loops, m->loop_name, "loop"},
               {d->n_volumes, m->volume_name, "volume"},
               {d->n_supplies, m->supply_name, "supply"},
               {d->n_valves, m->valve_name, "valve"},
               {d->n_cylinders, m->cylinder_name, m->n_rotaries ? "cylinder or rotary actuator" : "cylinder"},
               {d->n_inputs, m->input_name, "input"},
               {d->n_motions, m->motion_name, "motion"}};
  for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
    const bramah_status status = unique(k, lists[i].n, lists[i].names, lists[i].kind);
    if (status != BRAMAH_OK) return status;
  }
  bramah_status status = check_flow_names(k);
  if (status == BRAMAH_OK) status = beside_joints(k);
  if (status == BRAMAH_OK) status = beside_orifices(k);
  if (status == BRAMAH_OK) status = check_metered_names(k);
  return status == BRAMAH_OK ? beside_cylinders(k) : status;
}

bramah_status bramah__no_such(const bramah__compiler *k, const char *thing, int line, const char *what,
                              const char *name, size_t n, const char *const *names)
{
  bramah__compile_fail(k, BRAMAH_E_REFERENCE, thing, line, "there is no ");
  bramah__add_text(k->diag, what);
  bramah__add_text(k->diag, " '");
  bramah__add_text(k->diag, name ? name : "");
  const char *near = name ? bramah__nearest(name, n, names) : NULL;
  bramah__add_text(k->diag, near ? "'; did you mean '" : "'");
  if (near) bramah__add_text(k->diag, near), bramah__add_text(k->diag, "'?");
  return BRAMAH_E_REFERENCE;
}

/* Index of a body in the sorted tree, -1 for the ground. */
bramah_status bramah__find_body(const bramah__compiler *k, const char *thing, int line, const char *name,
                                int *out)
{
  *out = -1;
  if (name && strcmp(name, "ground") == 0) return BRAMAH_OK;
  const long i = bramah__find_name(k->model->n, k->model->body_name, name);
  if (i < 0) return bramah__no_such(k, thing, line, "body", name, k->model->n, k->model->body_name);
  *out = (int)i;
  return BRAMAH_OK;
}

bramah_status bramah__find_node(const bramah__compiler *k, const char *thing, int line, const char *name,
                                size_t *out)
{
  const bramah_model *m = k->model;
  long i = bramah__find_name(k->source->n_volumes, m->volume_name, name);
  if (i < 0) {
    i = bramah__find_name(m->circuit.n_supplies, m->supply_name, name);
    if (i < 0)
      return bramah__no_such(k, thing, line, "volume or supply", name, k->source->n_volumes, m->volume_name);
    i += (long)m->circuit.n_volumes;
  }
  *out = (size_t)i;
  return BRAMAH_OK;
}

/* From a machine description to the immutable model: memory and the order of the work. Names, tree and
 * circuit have files of their own. The initial pose and open pressures are found by the plant. */

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
  model->circuit.n_volumes = machine->n_volumes + machine->n_metered_cylinders;
  model->circuit.n_supplies = machine->n_supplies;
  model->circuit.n_orifices = machine->n_orifices;
  model->circuit.n_leakages = machine->n_leakages;
  model->circuit.n_check_valves = machine->n_check_valves;
  model->circuit.n_relief_valves = machine->n_relief_valves;
  model->circuit.n_pumps = machine->n_pumps;
  model->circuit.n_accumulators = machine->n_accumulators;
  model->circuit.n_valves = machine->n_valves;
  model->circuit.n_metering_spools = bramah__count_metering_spools(machine);
  model->circuit.n_cylinders = machine->n_cylinders + machine->n_metered_cylinders + machine->n_rotaries;
  model->circuit.n_metered = machine->n_metered_cylinders;
  model->circuit.n_metered_lines = machine->n_pump_lines;
  model->n_rotaries = machine->n_rotaries;
  for (size_t i = 0; i < machine->n_cylinders; i++)
    model->circuit.n_friction_states +=
        bramah__friction_states((bramah__friction_kind)machine->cylinders[i].friction.model);
  for (size_t i = 0; i < machine->n_rotaries; i++)
    model->circuit.n_friction_states +=
        bramah__friction_states((bramah__friction_kind)machine->rotaries[i].friction.model);
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

static const char *take_coordinate_name(const bramah_joint *joint, size_t i, bramah__arena *arena)
{
  char text[512];
  const size_t used = bramah__append(text, sizeof text, 0, joint->name ? joint->name : "");
  bramah__append(text, sizeof text, used, bramah_joint_suffix(joint->type, i));
  return bramah__arena_text(arena, text);
}

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
      const char *copy = take_coordinate_name(&machine->joints[j], i, arena);
      if (model->joint_name) model->joint_name[joint] = copy;
      if (model->body_name && i + 1 < n) model->body_name[body++] = copy;
    }
  }
  model->n_bodies_named = body;
}

static void take_ball_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  size_t b = 0;
  model->ball_name = BRAMAH__TAKE(arena, const char *, model->n_balls);
  for (size_t j = 0; j < machine->n_joints; j++) {
    if (!bramah__is_ball(&machine->joints[j])) continue;
    const char *copy = bramah__arena_text(arena, machine->joints[j].name ? machine->joints[j].name : "");
    if (model->ball_name) model->ball_name[b++] = copy;
  }
}

/* Cylinders, metered cylinders, then rotary actuators. */
static void take_actuator_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  const size_t nc = machine->n_cylinders, nm = machine->n_metered_cylinders;
  model->cylinder_name = BRAMAH__TAKE(arena, const char *, model->circuit.n_cylinders);
  for (size_t i = 0; i < model->circuit.n_cylinders; i++) {
    const char *name = i < nc        ? machine->cylinders[i].name
                       : i < nc + nm ? machine->metered_cylinders[i - nc].name
                                     : machine->rotaries[i - nc - nm].name;
    const char *copy = bramah__arena_text(arena, name ? name : "");
    if (model->cylinder_name) model->cylinder_name[i] = copy;
  }
}

/* Volumes, then the load pressures of metered cylinders; valves, then other spools. */
static void take_circuit_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  const size_t nv = machine->n_volumes, n_spools = bramah__n_spools(&model->circuit);
  model->volume_name = BRAMAH__TAKE(arena, const char *, model->circuit.n_volumes);
  for (size_t i = 0; i < model->circuit.n_volumes; i++) {
    const char *name = i < nv ? machine->volumes[i].name : machine->metered_cylinders[i - nv].name;
    const char *copy = bramah__arena_text(arena, name ? name : "");
    if (model->volume_name) model->volume_name[i] = copy;
  }
  model->valve_name = BRAMAH__TAKE(arena, const char *, n_spools);
  for (size_t i = 0; i < n_spools; i++) {
    char text[512];
    const char *suffix, *name = bramah__spool_name(machine, i, &suffix);
    const size_t used = bramah__append(text, sizeof text, 0, name ? name : "");
    bramah__append(text, sizeof text, used, suffix);
    const char *copy = bramah__arena_text(arena, text);
    if (model->valve_name) model->valve_name[i] = copy;
  }
  TAKE_NAMES(pump_line_name, pump_lines, machine->n_pump_lines);
}

static void take_names(const bramah_machine *machine, bramah_model *model, bramah__arena *arena)
{
  model->name = bramah__arena_text(arena, machine->name ? machine->name : "machine");
  take_tree_names(machine, model, arena);
  take_ball_names(machine, model, arena);
  TAKE_NAMES(loop_name, loops, machine->n_loops);
  TAKE_NAMES(supply_name, supplies, machine->n_supplies);
  take_circuit_names(machine, model, arena);
  take_actuator_names(machine, model, arena);
  TAKE_NAMES(input_name, inputs, machine->n_inputs);
  TAKE_NAMES(orifice_name, orifices, machine->n_orifices);
  TAKE_NAMES(leakage_name, leakages, machine->n_leakages);
  TAKE_NAMES(check_valve_name, check_valves, machine->n_check_valves);
  TAKE_NAMES(relief_valve_name, relief_valves, machine->n_relief_valves);
  TAKE_NAMES(pump_name, pumps, machine->n_pumps);
  TAKE_NAMES(motion_name, motions, machine->n_motions);
}

/* Cut everything the model needs, in a fixed order, except the outputs, whose names need the sorted tree. */
static void layout(const bramah_machine *machine, bramah_model *model, bramah__tables *t,
                   bramah__arena *arena)
{
  const size_t n = model->n, nc = model->circuit.n_cylinders;
  take_names(machine, model, arena);
  t->link = BRAMAH__TAKE(arena, bramah__link, n);
  t->loop = BRAMAH__TAKE(arena, bramah__loop, machine->n_loops);
  t->line = BRAMAH__TAKE(arena, bramah__line, nc);
  t->volume = BRAMAH__TAKE(arena, bramah__volume, model->circuit.n_volumes);
  t->supply = BRAMAH__TAKE(arena, double, machine->n_supplies);
  t->orifice = BRAMAH__TAKE(arena, bramah__orifice, machine->n_orifices);
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

static bramah_status take_integrator(bramah__compiler *k)
{
  const bramah_integrator *in = &k->machine->integrator;
  bramah_model *m = k->model;
  if (in->penalty_factor < 0 || in->penalty_frequency < 0 || in->penalty_damping < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0, "penalty figures must be positive");
  if ((int)in->formulation < 0 || in->formulation > BRAMAH_FORMULATION_PENALTY)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0, "the formulation is unknown");
  if (in->step_ns < 0 || in->position_tolerance < 0 || in->pressure_tolerance < 0 || in->max_iterations < 0)
    return bramah__compile_fail(k, BRAMAH_E_VALUE, "integrator", 0,
                                "step, tolerances and iterations must be positive");
  m->step_ns = in->step_ns ? in->step_ns : 1000000;
  m->h = (double)m->step_ns * 1e-9;
  m->position_tolerance = in->position_tolerance > 0 ? in->position_tolerance : 1e-7;
  for (size_t i = 0; i < m->n_first_order; i++) {
    m->first_order_scale[i] = 1e6;
    m->first_order_tolerance[i] = in->pressure_tolerance > 0 ? in->pressure_tolerance : 1e-2;
  }
  m->max_iterations = in->max_iterations ? in->max_iterations : 25;
  m->formulation = in->formulation;
  /* The penalty method puts its factor before accelerations, the Lagrangian before positions: beyond 1e7 the
   * former's equations are too ill-conditioned for the pressure tolerance. */
  const double factor = m->formulation == BRAMAH_FORMULATION_PENALTY ? 1e8 : 1e11;
  m->penalty_factor = in->penalty_factor > 0 ? in->penalty_factor : factor;
  m->penalty_frequency = in->penalty_frequency > 0 ? in->penalty_frequency : 100.0;
  m->penalty_damping = in->penalty_damping > 0 ? in->penalty_damping : 1.0;
  return BRAMAH_OK;
}

static void connect(bramah__compiler *k)
{
  const bramah_machine *d = k->machine;
  bramah_model *m = k->model;
  m->tree.link = k->t.link;
  memcpy(m->tree.gravity, d->gravity, sizeof m->tree.gravity);
  m->loop = k->t.loop;
  m->line = k->t.line;
  m->circuit.oil_bulk_modulus = d->oil_bulk_modulus;
  m->circuit.transition_pressure = d->transition_pressure > 0.0 ? d->transition_pressure : 2e5;
  m->circuit.volume = k->t.volume;
  m->circuit.supply = k->t.supply;
  m->circuit.orifice = k->t.orifice;
  m->circuit.valve = k->t.valve;
  m->circuit.cylinder = k->t.cylinder;
  bramah__elements_connect(k);
  bramah__metered_connect(k);
}

/* Springs, rotary actuators and motions on an angle of a spherical joint need that angle for their
 * coordinate. */
static void pin_balls(bramah_model *m)
{
  for (size_t i = 0; i < m->forces.n_joint_springs; i++) {
    const size_t b = m->ball_of[m->forces.joint_spring[i].joint];
    if (b) m->ball[b - 1].pinned = 1;
  }
  for (size_t i = 0; i < m->circuit.n_cylinders; i++) {
    const size_t b = m->line[i].is_coordinate ? m->ball_of[m->line[i].joint] : 0;
    if (b) m->ball[b - 1].pinned = 1;
  }
  for (size_t i = 0; i < m->n_motions; i++) {
    const size_t b = m->ball_of[m->motion[i].joint];
    if (b) m->ball[b - 1].pinned = 1;
  }
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
  if (status == BRAMAH_OK) status = bramah__build_elements(k);
  if (status == BRAMAH_OK) status = bramah__check_ways(k);
  if (status != BRAMAH_OK) return status;
  connect(k);
  pin_balls(k->model);
  status = bramah__build_parameters(k);
  if (status == BRAMAH_OK) bramah__outputs_build(k->model, arena);
  return status;
}
