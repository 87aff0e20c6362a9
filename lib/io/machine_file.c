/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine file as a whole: its inputs and integrator, and the loading. */
#define _GNU_SOURCE /* locale_t */
#include "bramah/study.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

static bramah_status read_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const bramah__curve_key curve = {.pair = "[time, value]",
                                          .example = "[1 s, 10 V]",
                                          .x_name = "times",
                                          .x = {.unit = "s"},
                                          .y = {.unit = "V"}};
  bramah_input *input = object;
  return bramah__read_curve(reader, item, &curve, &input->n_points, &input->times, &input->values);
}

static const bramah__table input_table = {.size = sizeof(bramah_input), .read = read_input};

/* ---- integrator ---- */

static bramah_status read_step(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               void *object)
{
  bramah_integrator *integrator = object;
  bramah__quantity q;
  bramah_status status = bramah__item_quantity(reader, item, key, NULL, &q);
  if (status) return status;
  if (q.si < 0.5e-9 || q.si > 3600.0)
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "step must lie between 1 ns and 1 h");
  integrator->step_ns = llround(q.si * 1e9);
  return BRAMAH_OK;
}

static const bramah__word formulations[] = {{"partitioning", BRAMAH_FORMULATION_PARTITIONING},
                                            {"augmented-lagrangian", BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN},
                                            {"penalty", BRAMAH_FORMULATION_PENALTY},
                                            {NULL, 0}};

static const bramah__key integrator_keys[] = {
    {.name = "step", .read = read_step, .unit = "s", .range = BRAMAH__POSITIVE},
    BRAMAH__KEY("position_tolerance", bramah__read_quantity, bramah_integrator, position_tolerance,
                .unit = "1", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("pressure_tolerance", bramah__read_quantity, bramah_integrator, pressure_tolerance,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("max_iterations", bramah__read_integer, bramah_integrator, max_iterations, .required = 0),
    BRAMAH__KEY("formulation", bramah__read_word, bramah_integrator, formulation, .words = formulations),
    BRAMAH__KEY("penalty_factor", bramah__read_quantity, bramah_integrator, penalty_factor, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("penalty_frequency", bramah__read_quantity, bramah_integrator, penalty_frequency,
                .unit = "rad/s", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("penalty_damping", bramah__read_quantity, bramah_integrator, penalty_damping, .unit = "1",
                .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table integrator_table = {.keys = integrator_keys};

/* ---- the whole ---- */

static const bramah__key machine_keys[] = {
    BRAMAH__KEY("machine", bramah__read_text, bramah__loaded, machine.name, .required = 1),
    {.name = "source", .read = bramah__read_nothing},
    BRAMAH__KEY("gravity", bramah__read_vector, bramah__loaded, machine.gravity, .required = 1,
                .unit = "m/s^2", .count = 3),
    BRAMAH__SECTION("bodies", bramah__loaded, machine.bodies, machine.n_bodies, &bramah__body_table,
                    .required = 1),
    BRAMAH__SECTION("joints", bramah__loaded, machine.joints, machine.n_joints, &bramah__joint_table,
                    .required = 1),
    BRAMAH__SECTION("loops", bramah__loaded, machine.loops, machine.n_loops, &bramah__loop_table,
                    .required = 0),
    BRAMAH__SECTION("springs", bramah__loaded, machine.springs, machine.n_springs, &bramah__spring_table,
                    .required = 0),
    BRAMAH__SECTION("joint_springs", bramah__loaded, machine.joint_springs, machine.n_joint_springs,
                    &bramah__joint_spring_table, .required = 0),
    BRAMAH__SECTION("forces", bramah__loaded, machine.forces, machine.n_forces, &bramah__force_table,
                    .required = 0),
    BRAMAH__SECTION("motions", bramah__loaded, machine.motions, machine.n_motions, &bramah__motion_table,
                    .required = 0),
    BRAMAH__SECTION("wheels", bramah__loaded, machine.wheels, machine.n_wheels, &bramah__wheel_table,
                    .required = 0),
    BRAMAH__SECTION("knife_edges", bramah__loaded, machine.knife_edges, machine.n_knife_edges,
                    &bramah__knife_edge_table, .required = 0),
    {.name = "hydraulics", .read = bramah__read_hydraulics},
    BRAMAH__SECTION("inputs", bramah__loaded, machine.inputs, machine.n_inputs, &input_table, .required = 0),
    BRAMAH__KEY("integrator", bramah__read_child, bramah__loaded, machine.integrator,
                .table = &integrator_table),
    {0}};

static const bramah__table machine_table = {.keys = machine_keys};

/* ---- names that refer to elements ---- */

/* What a name may refer to. */
typedef enum target {
  BODY,
  VOLUME,
  VOLUME_OR_SUPPLY,
  VALVE_INPUT,
  CYLINDER,
  COORDINATE,
  SUPPLY,
  PUMP_LINE,
  N_TARGETS
} target;

typedef struct name_list {
  size_t n;
  const char **names;
} name_list;

static const char *const target_texts[N_TARGETS] = {
    "body",     "volume",           "volume or supply", "valve with the input",
    "cylinder", "joint coordinate", "supply",           "pump line"};

/* Keys whose values are names: in each element of a section, a scalar or a list of them. key NULL: the
 * elements' own names. */
static const struct {
  const char *section, *key;
  target target;
} references[] = {
    {"joints", "parent", BODY},
    {"joints", "child", BODY},
    {"loops", "bodies", BODY},
    {"springs", "bodies", BODY},
    {"joint_springs", "joint", COORDINATE},
    {"forces", "body", BODY},
    {"motions", "joint", COORDINATE},
    {"wheels", "body", BODY},
    {"knife_edges", "body", BODY},
    {"inputs", NULL, VALVE_INPUT},
};

/* Names of all coordinates: those of the joints with their suffixes. */
static bramah_status collect_coordinates(bramah__reader *reader, const bramah_machine *machine,
                                         name_list *list)
{
  for (size_t j = 0; j < machine->n_joints; j++) {
    const bramah_joint *joint = &machine->joints[j];
    if (!joint->name) continue;
    for (size_t i = 0; i < bramah_joint_n_coordinates(joint->type); i++) {
      const char *suffix = bramah_joint_suffix(joint->type, i);
      const size_t length = strlen(joint->name), more = strlen(suffix);
      char *name = bramah__pool_take(&reader->scratch, length + more + 1, 1);
      if (!name) return bramah__no_memory(reader);
      memcpy(name, joint->name, length);
      memcpy(name + length, suffix, more);
      list->names[list->n++] = name;
    }
  }
  return BRAMAH_OK;
}

/* Elements that could not be read have no name: they are left out. */
static void add_name(name_list *list, const char *name)
{
  if (name) list->names[list->n++] = name;
}

static bramah_status collect_names(bramah__reader *reader, const bramah_machine *machine,
                                   name_list lists[N_TARGETS])
{
  const size_t n_nodes = machine->n_volumes + machine->n_supplies;
  const size_t n_actuators = machine->n_cylinders + machine->n_metered_cylinders + machine->n_rotaries;
  const size_t n_inputs = machine->n_valves + 2 * machine->n_metered_cylinders + machine->n_pump_lines;
  const size_t most[N_TARGETS] = {
      machine->n_bodies + 1, machine->n_volumes,   n_nodes, n_inputs, n_actuators, 3 * machine->n_joints,
      machine->n_supplies,   machine->n_pump_lines};
  for (int i = 0; i < N_TARGETS; i++) {
    lists[i].n = 0;
    lists[i].names = bramah__pool_take(&reader->scratch, most[i], sizeof *lists[i].names);
    if (!lists[i].names) return bramah__no_memory(reader);
  }
  name_list *bodies = &lists[BODY], *volumes = &lists[VOLUME], *nodes = &lists[VOLUME_OR_SUPPLY];
  bodies->names[bodies->n++] = "ground";
  for (size_t i = 0; i < machine->n_bodies; i++) add_name(bodies, machine->bodies[i].name);
  for (size_t i = 0; i < machine->n_volumes; i++) {
    add_name(volumes, machine->volumes[i].name);
    add_name(nodes, machine->volumes[i].name);
  }
  for (size_t i = 0; i < machine->n_supplies; i++) add_name(nodes, machine->supplies[i].name);
  for (size_t i = 0; i < machine->n_valves; i++) add_name(&lists[VALVE_INPUT], machine->valves[i].input);
  for (size_t i = 0; i < machine->n_cylinders; i++) add_name(&lists[CYLINDER], machine->cylinders[i].name);
  for (size_t i = 0; i < machine->n_metered_cylinders; i++) {
    add_name(&lists[CYLINDER], machine->metered_cylinders[i].name);
    add_name(&lists[VALVE_INPUT], machine->metered_cylinders[i].spool.input);
    add_name(&lists[VALVE_INPUT], machine->metered_cylinders[i].regeneration.input);
  }
  for (size_t i = 0; i < machine->n_rotaries; i++) add_name(&lists[CYLINDER], machine->rotaries[i].name);
  for (size_t i = 0; i < machine->n_pump_lines; i++) {
    add_name(&lists[PUMP_LINE], machine->pump_lines[i].name);
    add_name(&lists[VALVE_INPUT], machine->pump_lines[i].unloading.input);
  }
  for (size_t i = 0; i < machine->n_supplies; i++) add_name(&lists[SUPPLY], machine->supplies[i].name);
  return collect_coordinates(reader, machine, &lists[COORDINATE]);
}

static int contains(const name_list *list, const char *name)
{
  for (size_t i = 0; i < list->n; i++)
    if (strcmp(list->names[i], name) == 0) return 1;
  return 0;
}

static bramah_status check_name(bramah__reader *reader, const bramah__item *item, const char *name,
                                target kind, const name_list *list)
{
  if (contains(list, name)) return BRAMAH_OK;
  static const char missing[] = "there is no %s '%s'";
  if (kind == VALVE_INPUT)
    bramah__fail_key(reader, item, BRAMAH_E_REFERENCE, missing, target_texts[kind], name);
  else
    bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, missing, target_texts[kind], name);
  bramah__add_suggestion(reader->diag, name, list->n, list->names, "; there are ");
  return BRAMAH_E_REFERENCE;
}

/* A scalar or a list of scalars: the tables have seen to that. */
static bramah_status check_value(bramah__reader *reader, const bramah__item *item, target kind,
                                 const name_list *list)
{
  bramah_status status = BRAMAH_OK;
  if (item->node->kind == BRAMAH__NODE_MAPPING) return BRAMAH_OK; /* told already */
  if (item->node->kind == BRAMAH__NODE_SCALAR) return check_name(reader, item, item->node->text, kind, list);
  for (size_t i = 0; !status && i < item->node->n; i++) {
    bramah__item element = bramah__item_at(item, i);
    if (element.node->kind == BRAMAH__NODE_SCALAR)
      status = bramah__go_on(reader, check_name(reader, &element, element.node->text, kind, list));
  }
  return status;
}

/* A name must not be taken twice where two sections share one list: an orifice that says "tank" must not have two
 * to choose from, nor may two outputs have one name. */
static bramah_status check_shared_names(bramah__reader *reader, const bramah__item *root,
                                        const bramah_machine *machine, const name_list *lists)
{
  name_list cylinders = {0, lists[CYLINDER].names}; /* the first of that list */
  for (size_t i = 0; i < machine->n_cylinders; i++) cylinders.n += machine->cylinders[i].name != NULL;
  const name_list lumped = cylinders;
  for (size_t i = 0; i < machine->n_metered_cylinders; i++)
    cylinders.n += machine->metered_cylinders[i].name != NULL;
  const struct {
    const char *group, *section;
    const name_list *taken;
    const char *message;
  } shared[] = {
      {"hydraulics", "supplies", &lists[VOLUME], "a volume has the same name; they share one list"},
      {"hydraulics", "metered_cylinders", &lumped, "a cylinder has the same name; they share one list"},
      {"hydraulics", "rotary_actuators", &cylinders, "a cylinder has the same name; they share one list"},
      {"hydraulics", "rotary_actuators", &lists[COORDINATE],
       "a joint coordinate has the same name; so would their outputs"},
      {NULL, "motions", &lists[CYLINDER],
       "a cylinder or rotary actuator has the same name; so would their outputs"},
  };
  bramah_status status = BRAMAH_OK;
  for (size_t k = 0; !status && k < sizeof shared / sizeof shared[0]; k++) {
    bramah__item from = *root, elements;
    if (shared[k].group && !bramah__item_find(root, shared[k].group, &from)) continue;
    if (!bramah__item_find(&from, shared[k].section, &elements)) continue;
    for (size_t i = 0; !status && elements.node->kind == BRAMAH__NODE_MAPPING && i < elements.node->n; i++) {
      const bramah__item element = bramah__item_at(&elements, i);
      if (!contains(shared[k].taken, element.name)) continue;
      status =
          bramah__go_on(reader, bramah__fail_key(reader, &element, BRAMAH_E_KEY, "%s", shared[k].message));
      break;
    }
  }
  return status;
}

/* Key NULL: the elements' own names. */
static bramah_status check_references(bramah__reader *reader, const bramah__item *root,
                                      const char *group_name, const char *section_name, const char *key,
                                      target kind, const name_list *lists)
{
  bramah__item group = *root, section;
  bramah_status status = BRAMAH_OK;
  if (group_name && !bramah__item_find(root, group_name, &group)) return BRAMAH_OK;
  if (group.node->kind != BRAMAH__NODE_MAPPING) return BRAMAH_OK;
  if (!bramah__item_find(&group, section_name, &section)) return BRAMAH_OK;
  for (size_t i = 0; !status && section.node->kind == BRAMAH__NODE_MAPPING && i < section.node->n; i++) {
    bramah__item element = bramah__item_at(&section, i), value;
    if (!key)
      status = bramah__go_on(reader, check_name(reader, &element, element.name, kind, &lists[kind]));
    else if (bramah__item_find(&element, key, &value))
      status = bramah__go_on(reader, check_value(reader, &value, kind, &lists[kind]));
  }
  return status;
}

static bramah_status check_machine(bramah__reader *reader, const bramah__item *root,
                                   const bramah_machine *machine)
{
  name_list lists[N_TARGETS];
  bramah_status status = collect_names(reader, machine, lists);
  if (!status) status = check_shared_names(reader, root, machine, lists);
  for (size_t i = 0; !status && i < sizeof references / sizeof references[0]; i++)
    status = check_references(reader, root, NULL, references[i].section, references[i].key,
                              references[i].target, lists);
  static const struct {
    bramah_key_type type;
    target target;
  } targets[] = {{BRAMAH_KEY_BODIES, BODY},           {BRAMAH_KEY_NODE, VOLUME_OR_SUPPLY},
                 {BRAMAH_KEY_VOLUME, VOLUME},         {BRAMAH_KEY_CYLINDER, CYLINDER},
                 {BRAMAH_KEY_COORDINATE, COORDINATE}, {BRAMAH_KEY_SUPPLY, SUPPLY},
                 {BRAMAH_KEY_PUMP_LINE, PUMP_LINE}};
  const bramah_element_kind *kind;
  for (size_t i = 0; !status && (kind = bramah_element_kind_at(i)) != NULL; i++)
    for (const bramah_element_key *key = kind->keys; key->name; key++)
      for (size_t t = 0; !status && t < sizeof targets / sizeof targets[0]; t++)
        if (key->type == targets[t].type)
          status = check_references(reader, root, "hydraulics", kind->section, key->name, targets[t].target,
                                    lists);
  return status;
}

/* ---- reading ---- */

static void add_silent(const char *name, int line, size_t *n, bramah_input *inputs)
{
  for (size_t i = 0; name && i < *n; i++)
    if (strcmp(inputs[i].name, name) == 0) return;
  if (name) inputs[(*n)++] = (bramah_input){.name = name, .line = line};
}

/* Inputs that a valve names and nobody commands: entries without points, behind the others. */
static bramah_status add_silent_inputs(bramah__reader *reader, bramah_machine *machine)
{
  bramah_input *inputs = bramah__pool_take(reader->keep,
                                           machine->n_inputs + machine->n_valves +
                                               2 * machine->n_metered_cylinders + machine->n_pump_lines,
                                           sizeof *inputs);
  size_t n = machine->n_inputs;
  if (!inputs) return bramah__no_memory(reader);
  if (n) memcpy(inputs, machine->inputs, n * sizeof *inputs);
  for (size_t i = 0; i < machine->n_valves; i++) {
    const bramah_valve *valve = &machine->valves[i];
    add_silent(valve->input, valve->line, &n, inputs);
  }
  for (size_t i = 0; i < machine->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *cylinder = &machine->metered_cylinders[i];
    add_silent(cylinder->spool.input, cylinder->line, &n, inputs);
    add_silent(cylinder->regeneration.input, cylinder->line, &n, inputs);
  }
  for (size_t i = 0; i < machine->n_pump_lines; i++)
    add_silent(machine->pump_lines[i].unloading.input, machine->pump_lines[i].line, &n, inputs);
  machine->inputs = inputs;
  machine->n_inputs = n;
  return BRAMAH_OK;
}

/* The changes first, then what was set. source NULL: the reader's file. */
static bramah_status read_machine(bramah__reader *reader, const bramah__source *source, size_t n_changes,
                                  const bramah_change *changes, size_t n_settings,
                                  const bramah_study_setting *settings, bramah__loaded *out)
{
  bramah__node *root = source ? source->root : NULL;
  bramah_status status = source ? BRAMAH_OK : bramah__yaml_load(reader, &root);
  if (!status) status = bramah__changes_apply(reader, n_changes, changes, &root);
  if (!status) status = bramah__apply_settings(reader, n_settings, settings, 1, &root);
  if (status) return status;
  bramah__item item = {.node = root};
  bramah_machine_default(&out->machine);
  status = bramah__read_table(reader, &item, &machine_table, out);
  if (!status) status = check_machine(reader, &item, &out->machine);
  if (status) return status;
  if (reader->told) return reader->first;
  status = add_silent_inputs(reader, &out->machine);
  if (status) return status;
  out->machine.file = bramah__pool_text(reader->keep, reader->file, strlen(reader->file));
  return out->machine.file ? BRAMAH_OK : bramah__no_memory(reader);
}

bramah_status bramah__machine_check(const char *path, size_t n_changes, const bramah_change *changes,
                                    bramah_mistake tell, void *user)
{
  bramah_diag diag;
  bramah__reader reader;
  bramah__loaded *machine = calloc(1, sizeof *machine);
  bramah_status status = machine
                             ? bramah__reader_open(&reader, &machine->pool, path, &diag)
                             : bramah__fail(&diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a machine");
  if (machine) {
    reader.draft = machine;
    reader.tell = tell;
    reader.tell_user = user;
    if (!status) status = read_machine(&reader, NULL, n_changes, changes, 0, NULL, machine);
    bramah__reader_close(&reader);
    bramah_machine_free(&machine->machine);
  }
  if (machine && reader.told) return reader.first;
  if (status) tell(user, &diag);
  return status;
}

static bramah_status load_machine(const char *path, const bramah__source *source, size_t n_changes,
                                  const bramah_change *changes, size_t n_settings,
                                  const bramah_study_setting *settings, bramah_diag *diag,
                                  bramah_machine **out)
{
  bramah__loaded *machine = calloc(1, sizeof *machine);
  bramah__reader reader;
  if (!machine) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a machine");
  bramah_status status = bramah__reader_open(&reader, &machine->pool, path, diag);
  reader.draft = machine;
  if (!status) status = read_machine(&reader, source, n_changes, changes, n_settings, settings, machine);
  bramah__reader_close(&reader);
  if (status)
    bramah_machine_free(&machine->machine);
  else
    *out = &machine->machine;
  return status;
}

bramah_status bramah_machine_load(const char *path, size_t n_changes, const bramah_change *changes,
                                  bramah_diag *diag, bramah_machine **out)
{
  return load_machine(path, NULL, n_changes, changes, 0, NULL, diag, out);
}

bramah_status bramah__machine_read(const bramah__source *source, size_t n_changes,
                                   const bramah_change *changes, size_t n_settings,
                                   const bramah_study_setting *settings, bramah_diag *diag,
                                   bramah_machine **out)
{
  return load_machine(source->file, source, n_changes, changes, n_settings, settings, diag, out);
}

void bramah_machine_free(bramah_machine *machine)
{
  bramah__loaded *whole = (bramah__loaded *)machine;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
