/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine file: its sections, inputs, outputs and integrator, the names that refer to elements, and the loading. What the
 * sections hold is in machine_mechanics.c and machine_hydraulics.c. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_file.h"
#include "lib/base/diag.h"
#include "lib/io/uncertainty.h"
#include "lib/io/session.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
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

static const bramah__key input_key = {.name = "input", .shape = BRAMAH__SHAPE_CURVE};
static const bramah__table input_table = {
    .size = sizeof(bramah_input), .read = read_input, .value = &input_key};

/* ---- outputs ---- */

static const bramah__word output_kinds[] = {{"height_of", BRAMAH_OUTPUT_OF_HEIGHT},
                                            {"distance", BRAMAH_OUTPUT_OF_DISTANCE},
                                            {"position_of", BRAMAH_OUTPUT_OF_POSITION},
                                            {"pose_of", BRAMAH_OUTPUT_OF_POSE},
                                            {"payload_of", BRAMAH_OUTPUT_OF_PAYLOAD},
                                            {"force_at", BRAMAH_OUTPUT_OF_FORCE},
                                            {"hydraulic_power", BRAMAH_OUTPUT_OF_HYDRAULIC_POWER},
                                            {"energy", BRAMAH_OUTPUT_OF_ENERGY},
                                            {"flow", BRAMAH_OUTPUT_OF_FLOW},
                                            {"fuel_rate", BRAMAH_OUTPUT_OF_FUEL_RATE},
                                            {NULL, 0}};

/* The key says the kind; its value is a name or a list of names. */
static bramah_status read_output(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_output_definition *output = object;
  const bramah__word *word = output_kinds;
  while (strcmp(word->word, key->name) != 0) word++;
  if (output->kind)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "an output is of one kind, and another is given");
  output->kind = (bramah_output_definition_kind)word->value;
  return bramah__read_texts(reader, item, key, bramah__read_text, &output->n_of, &output->of);
}

static bramah_status finish_output(bramah__reader *reader, const bramah__item *item, void *object)
{
  const char *names[sizeof output_kinds / sizeof output_kinds[0]];
  size_t n = 0;
  if (((const bramah_output_definition *)object)->kind) return BRAMAH_OK;
  for (const bramah__word *word = output_kinds; word->word; word++) names[n++] = word->word;
  bramah__fail_key(reader, item, BRAMAH_E_KEY, "this says not what it shows");
  bramah__add_suggestion(reader->diag, "", n, names, "; possible are ");
  return BRAMAH_E_KEY;
}

#define OUTPUT_KEY(key)                                                                                      \
  {                                                                                                          \
    .name = (key), .read = read_output, .shape = BRAMAH__SHAPE_NAMES                                         \
  }
enum { OF_FUEL = 1 << BRAMAH_OUTPUT_OF_FUEL_RATE };

static const bramah__key output_keys[] = {
    OUTPUT_KEY("height_of"),
    OUTPUT_KEY("distance"),
    OUTPUT_KEY("position_of"),
    OUTPUT_KEY("pose_of"),
    OUTPUT_KEY("payload_of"),
    OUTPUT_KEY("force_at"),
    OUTPUT_KEY("hydraulic_power"),
    OUTPUT_KEY("energy"),
    OUTPUT_KEY("flow"),
    OUTPUT_KEY("fuel_rate"),
    BRAMAH__KEY("idle", bramah__read_quantity, bramah_output_definition, idle, .types = OF_FUEL,
                .required = 1, .unit = "kg/s", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("consumption", bramah__read_quantity, bramah_output_definition, consumption, .types = OF_FUEL,
                .required = 1, .unit = "kg/J", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table output_table = {.keys = output_keys,
                                           .size = sizeof(bramah_output_definition),
                                           .type = offsetof(bramah_output_definition, kind),
                                           .finish = finish_output};

/* ---- integrator ---- */

static const bramah__word formulations[] = {{"partitioning", BRAMAH_FORMULATION_PARTITIONING},
                                            {"augmented-lagrangian", BRAMAH_FORMULATION_AUGMENTED_LAGRANGIAN},
                                            {"penalty", BRAMAH_FORMULATION_PENALTY},
                                            {NULL, 0}};

static const bramah__key integrator_keys[] = {
    BRAMAH__KEY("step", bramah__read_duration, bramah_integrator, step_ns, .unit = "s",
                .range = BRAMAH__POSITIVE, .least = 0.5e-9, .most = 3600.0,
                .bounds = "step must lie between 1 ns and 1 h"),
    BRAMAH__KEY("position_tolerance", bramah__read_quantity, bramah_integrator, position_tolerance,
                .unit = "1", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("pressure_tolerance", bramah__read_quantity, bramah_integrator, pressure_tolerance,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("tolerance", bramah__read_quantity, bramah_integrator, tolerance, .unit = "1",
                .range = BRAMAH__POSITIVE),
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

#define SECTION(key, member, table, is_required)                                                             \
  BRAMAH__SECTION(key, bramah__loaded, machine.member, machine.n_##member, &(table),                         \
                  .required = (is_required))

static const bramah__key machine_keys[] = {
    BRAMAH__KEY("machine", bramah__read_text, bramah__loaded, machine.name, .required = 1),
    {.name = "source", .read = bramah__read_nothing},
    BRAMAH__KEY("gravity", bramah__read_vector, bramah__loaded, machine.gravity, .required = 1,
                .unit = "m/s^2", .count = 3),
    SECTION("bodies", bodies, bramah__body_table, 1),
    SECTION("joints", joints, bramah__joint_table, 1),
    SECTION("loops", loops, bramah__loop_table, 0),
    SECTION("springs", springs, bramah__spring_table, 0),
    SECTION("joint_springs", joint_springs, bramah__joint_spring_table, 0),
    SECTION("forces", forces, bramah__force_table, 0),
    {.name = "terrain",
     .read = bramah__read_terrain,
     .table = &bramah__terrain_table,
     .shape = BRAMAH__SHAPE_CHILD},
    SECTION("tools", tools, bramah__tool_table, 0),
    SECTION("contacts", contacts, bramah__contact_table, 0),
    SECTION("tyres", tyres, bramah__tyre_table, 0),
    SECTION("brakes", brakes, bramah__brake_table, 0),
    SECTION("engines", engines, bramah__engine_table, 0),
    SECTION("clutches", clutches, bramah__clutch_table, 0),
    SECTION("joint_torques", joint_torques, bramah__joint_torque_table, 0),
    SECTION("motions", motions, bramah__motion_table, 0),
    SECTION("wheels", wheels, bramah__wheel_table, 0),
    SECTION("knife_edges", knife_edges, bramah__knife_edge_table, 0),
    {.name = "hydraulics", .read = bramah__read_hydraulics, .shape = BRAMAH__SHAPE_HYDRAULICS},
    SECTION("inputs", inputs, input_table, 0),
    SECTION("outputs", outputs, output_table, 0),
    BRAMAH__KEY("integrator", bramah__read_child, bramah__loaded, machine.integrator,
                .table = &integrator_table),
    {0}};

const bramah__table bramah__machine_table = {.keys = machine_keys};

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
    {"contacts", "body", BODY},
    {"contacts", "between", BODY},
    {"tyres", "body", BODY},
    {"tools", "body", BODY},
    {"brakes", "joint", COORDINATE},
    {"engines", "joint", COORDINATE},
    {"clutches", "driving", COORDINATE},
    {"clutches", "driven", COORDINATE},
    {"joint_torques", "joint", COORDINATE},
    {"motions", "joint", COORDINATE},
    {"wheels", "body", BODY},
    {"knife_edges", "body", BODY},
    {"inputs", NULL, VALVE_INPUT},
};

/* Where names come from: an array of the machine whose elements have one or two of them. */
typedef struct name_source {
  target target;
  size_t array, count, size;
  size_t names[2]; /* members of an element; the second may be 0: it has one */
} name_source;

#define NAMES(target, member, type, ...)                                                                     \
  {                                                                                                          \
    target, offsetof(bramah_machine, member), offsetof(bramah_machine, n_##member), sizeof(type),            \
    {                                                                                                        \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
  }

static const name_source name_sources[] = {
    NAMES(BODY, bodies, bramah_body, offsetof(bramah_body, name)),
    NAMES(VOLUME, volumes, bramah_volume, offsetof(bramah_volume, name)),
    NAMES(VOLUME_OR_SUPPLY, volumes, bramah_volume, offsetof(bramah_volume, name)),
    NAMES(VOLUME_OR_SUPPLY, supplies, bramah_supply, offsetof(bramah_supply, name)),
    NAMES(VALVE_INPUT, valves, bramah_valve, offsetof(bramah_valve, input)),
    NAMES(VALVE_INPUT, metered_cylinders, bramah_metered_cylinder,
          offsetof(bramah_metered_cylinder, spool.input),
          offsetof(bramah_metered_cylinder, regeneration.input)),
    NAMES(VALVE_INPUT, pump_lines, bramah_pump_line, offsetof(bramah_pump_line, unloading.input)),
    NAMES(VALVE_INPUT, pumps, bramah_pump, offsetof(bramah_pump, drive.input)),
    NAMES(VALVE_INPUT, load_sensing_pumps, bramah_load_sensing_pump,
          offsetof(bramah_load_sensing_pump, drive.input)),
    NAMES(VALVE_INPUT, brakes, bramah_brake, offsetof(bramah_brake, command.input)),
    NAMES(VALVE_INPUT, engines, bramah_engine, offsetof(bramah_engine, throttle.input)),
    NAMES(VALVE_INPUT, clutches, bramah_clutch, offsetof(bramah_clutch, command.input),
          offsetof(bramah_clutch, gear.input)),
    NAMES(VALVE_INPUT, joint_torques, bramah_joint_torque, offsetof(bramah_joint_torque, command.input)),
    NAMES(CYLINDER, cylinders, bramah_cylinder, offsetof(bramah_cylinder, name)),
    NAMES(CYLINDER, metered_cylinders, bramah_metered_cylinder, offsetof(bramah_metered_cylinder, name)),
    NAMES(CYLINDER, rotaries, bramah_rotary, offsetof(bramah_rotary, name)),
    NAMES(SUPPLY, supplies, bramah_supply, offsetof(bramah_supply, name)),
    NAMES(PUMP_LINE, pump_lines, bramah_pump_line, offsetof(bramah_pump_line, name)),
};

enum { N_NAME_SOURCES = sizeof name_sources / sizeof name_sources[0] };

static size_t count_names(const bramah_machine *machine, const name_source *from)
{
  size_t n;
  memcpy(&n, (const unsigned char *)machine + from->count, sizeof n);
  return n * (from->names[1] ? 2 : 1);
}

/* Name i of a source, and the line of its element; NULL: the element could not be read, or needs none. */
static const char *name_of(const bramah_machine *machine, const name_source *from, size_t i, int *line)
{
  const unsigned char *element;
  const size_t per_element = from->names[1] ? 2 : 1;
  const char *name;
  memcpy(&element, (const unsigned char *)machine + from->array, sizeof element);
  element += i / per_element * from->size;
  memcpy(&name, element + from->names[i % per_element], sizeof name);
  *line = ((const bramah__named *)(const void *)element)->line;
  return name;
}

static bramah_status collect_names(bramah__reader *reader, const bramah_machine *machine,
                                   name_list lists[N_TARGETS])
{
  size_t most[N_TARGETS] = {[BODY] = 1};
  for (size_t k = 0; k < N_NAME_SOURCES; k++)
    most[name_sources[k].target] += count_names(machine, &name_sources[k]);
  for (size_t j = 0; j < machine->n_joints; j++)
    most[COORDINATE] += bramah_joint_n_coordinates(machine->joints[j].type);
  for (int i = 0; i < N_TARGETS; i++) {
    lists[i] = (name_list){0, bramah__pool_take(&reader->scratch, most[i], sizeof *lists[i].names)};
    if (!lists[i].names) return bramah__no_memory(reader);
  }

  lists[BODY].names[lists[BODY].n++] = "ground";
  for (size_t k = 0; k < N_NAME_SOURCES; k++) {
    name_list *list = &lists[name_sources[k].target];
    for (size_t i = 0; i < count_names(machine, &name_sources[k]); i++) {
      int line;
      const char *name = name_of(machine, &name_sources[k], i, &line);
      if (name) list->names[list->n++] = name;
    }
  }

  /* Coordinates: those of the joints with their suffixes. */
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
      lists[COORDINATE].names[lists[COORDINATE].n++] = name;
    }
  }
  return BRAMAH_OK;
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
    if (!key) status = bramah__go_on(reader, check_name(reader, &element, element.name, kind, &lists[kind]));
    if (!key || !bramah__item_find(&element, key, &value)) continue;

    /* A scalar or a list of scalars; anything else is a mistake already reported. */
    const int list = value.node->kind == BRAMAH__NODE_LIST;
    for (size_t k = 0; !status && k < (list ? value.node->n : 1); k++) {
      const bramah__item one = list ? bramah__item_at(&value, k) : value;
      if (one.node->kind == BRAMAH__NODE_SCALAR)
        status = bramah__go_on(reader, check_name(reader, &one, one.node->text, kind, &lists[kind]));
    }
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

/* Inputs that a valve names and nobody commands: entries without points, behind the others. */
static bramah_status add_silent_inputs(bramah__reader *reader, bramah_machine *machine)
{
  size_t n = machine->n_inputs, most = n;
  for (size_t k = 0; k < N_NAME_SOURCES; k++)
    if (name_sources[k].target == VALVE_INPUT) most += count_names(machine, &name_sources[k]);
  bramah_input *inputs = bramah__pool_take(reader->keep, most, sizeof *inputs);
  if (!inputs) return bramah__no_memory(reader);
  if (n) memcpy(inputs, machine->inputs, n * sizeof *inputs);
  for (size_t k = 0; k < N_NAME_SOURCES; k++) {
    if (name_sources[k].target != VALVE_INPUT) continue;
    for (size_t i = 0; i < count_names(machine, &name_sources[k]); i++) {
      int line;
      const char *name = name_of(machine, &name_sources[k], i, &line);
      size_t known = 0;
      while (name && known < n && strcmp(inputs[known].name, name) != 0) known++;
      if (name && known == n) inputs[n++] = (bramah_input){.name = name, .line = line};
    }
  }
  machine->inputs = inputs;
  machine->n_inputs = n;
  return BRAMAH_OK;
}

/* ---- how well values are known ---- */

enum { DEEPEST = 5 };

/* Keys by their paths, "?" anything and "*" the element; those of the tables of elements come by themselves. */
static const struct {
  const char *path[DEEPEST], *suffix;
  int lead;
} leads[] = {
    {{"bodies", "*", "mass"}, ".payload", BRAMAH__LEAD_SAME},
    {{"hydraulics", "*", "bulk_modulus"}, ".bulk_modulus", BRAMAH__LEAD_SAME}, /* of the oil */
    {{"hydraulics", "supplies", "*", "pressure"}, ".pressure", BRAMAH__LEAD_SAME},
    {{"hydraulics", "pump_lines", "*", "flow"}, ".pump_flow", BRAMAH__LEAD_SAME},
    {{"hydraulics", "pumps", "*", "flow"}, ".pump_flow", BRAMAH__LEAD_SAME},
    {{"hydraulics", "pumps", "*", "displacement"}, ".pump_flow", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "pumps", "*", "speed"}, ".pump_flow", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "metered_cylinders", "*", "flow_coefficient"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "metered_cylinders", "*", "area"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "metered_cylinders", "*", "discharge_coefficient"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
    {{"tyres", "*", "stiffness"}, ".stiffness", BRAMAH__LEAD_SAME},
    {{"tyres", "*", "damping"}, ".damping", BRAMAH__LEAD_SAME},
    {{"contacts", "*", "stiffness"}, ".stiffness", BRAMAH__LEAD_SAME},
    {{"contacts", "*", "damping"}, ".damping", BRAMAH__LEAD_SAME},
    {{"tyres", "*", "patch_length"}, ".patch_length", BRAMAH__LEAD_SAME},
    {{"?", "*", "friction", "bristle_stiffness"}, ".bristle_stiffness", BRAMAH__LEAD_SAME},
    {{"brakes", "*", "bristle_stiffness"}, ".bristle_stiffness", BRAMAH__LEAD_SAME},
    {{"brakes", "*", "torque"}, ".friction_scale", BRAMAH__LEAD_FACTOR},
    {{"clutches", "*", "torque"}, ".friction_scale", BRAMAH__LEAD_FACTOR},
    {{"clutches", "*", "stiffness"}, ".stiffness", BRAMAH__LEAD_SAME},
    {{"engines", "*", "friction"}, ".friction", BRAMAH__LEAD_SAME},
    {{"engines", "*", "idle", "speed"}, ".idle_speed", BRAMAH__LEAD_SAME},
    {{"joint_torques", "*", "torque"}, ".torque_scale", BRAMAH__LEAD_FACTOR},
    {{"?", "*", "friction", "coulomb"}, ".friction_scale", BRAMAH__LEAD_TERM},
    {{"?", "*", "friction", "static"}, ".friction_scale", BRAMAH__LEAD_TERM},
    {{"hydraulics", "?", "*", "friction", "coulomb"}, ".friction_scale", BRAMAH__LEAD_TERM},
    {{"hydraulics", "?", "*", "friction", "static"}, ".friction_scale", BRAMAH__LEAD_TERM},
    {{"hydraulics", "?", "*", "friction", "viscous"}, ".friction_scale", BRAMAH__LEAD_TERM}};

/* The parameter `element` `suffix` of the plant that a value of a machine file leads to, and how; 0: to none. */
static int lead_of(const bramah__item *item, const char **element, const char **suffix)
{
  const char *path[DEEPEST + 1] = {NULL};
  size_t depth = 0;
  for (const bramah__item *up = item; up->parent; up = up->parent) depth++;
  if (depth < 3 || depth > DEEPEST) return 0;
  for (size_t i = depth; i-- > 0; item = item->parent) path[i] = item->name ? item->name : "";
  for (size_t w = 0; w < sizeof leads / sizeof leads[0]; w++) {
    size_t i = 0;
    for (const char *of; i < DEEPEST && (of = leads[w].path[i]) != NULL && path[i]; i++) {
      if (*of == '*') *element = path[i];
      if (*of != '*' && *of != '?' && strcmp(of, path[i]) != 0) break;
    }
    if (i == depth && (i == DEEPEST || !leads[w].path[i])) return *suffix = leads[w].suffix, leads[w].lead;
  }

  /* A key of an element that is a parameter itself, or a factor of one. */
  const bramah_element_kind *kind = NULL;
  for (size_t i = 0; depth == 4 && (kind = bramah_element_kind_at(i)) && strcmp(kind->section, path[1]);) i++;
  if (!kind) return 0;
  *element = path[2];
  const bramah_element_key *key = kind->keys, *result = kind->keys;
  while (key->name && strcmp(key->name, path[3]) != 0) key++;
  if (!key->name) return 0;
  while (result->name && strcmp(result->name, key->factor_of ? key->factor_of : key->name) != 0) result++;
  *suffix = result->name;
  return !result->parameter ? 0 : key->factor_of ? BRAMAH__LEAD_FACTOR : BRAMAH__LEAD_SAME;
}

static bramah_status note_uncertainty(bramah__reader *reader, const bramah__item *item, const char *text,
                                      const bramah__quantity *value)
{
  const char *element = NULL, *suffix = NULL;
  const int lead = lead_of(item, &element, &suffix);
  if (!lead)
    return bramah__fail_item(
        reader, item, BRAMAH_E_VALUE,
        "'± ...' may stand behind masses, the oil's bulk modulus, pressures of supplies, flow "
        "coefficients and their factors, conductances, leakages, viscosities, flows of pump lines, "
        "stiffness, damping, patch and bristles of contacts and tyres, torques and speeds of the power "
        "train, "
        "and the friction's coulomb, static and viscous; a study says more in 'uncertainty'");

  /* A share, or a quantity of the same dimension; a number alone has the unit of the value. */
  double share, sigma;
  if (bramah__uncertainty_share(reader, text, &share)) {
    sigma = share * fabs(value->si);
  } else {
    bramah__quantity q;
    bramah_status status = bramah__quantity_read(reader->c_locale, text, value->unit, &q, reader->diag);
    if (status || !bramah__same_dimension(q.dimension, value->dimension))
      return bramah__fail_item(reader, item, status ? status : BRAMAH_E_UNIT,
                               "'%s' behind '±' is no share ('5 %%'), no 'fixed' and no quantity of the unit "
                               "of the value",
                               text);
    sigma = q.si;
  }
  if (!(sigma >= 0.0 && isfinite(sigma)))
    return bramah__fail_item(reader, item, BRAMAH_E_VALUE, "the uncertainty must not be negative");

  for (const bramah__uncertain *other = ((bramah__loaded *)reader->draft)->uncertain; other;
       other = other->next)
    if (other->node == item->node) return BRAMAH_OK; /* some values are read twice */
  const char *dot = *suffix == '.' ? "" : ".";
  const size_t size = strlen(element) + strlen(suffix) + 2;
  bramah__uncertain *one = bramah__pool_take(reader->keep, 1, sizeof *one);
  char *name = bramah__pool_take(reader->keep, size, 1);
  if (!one || !name) return bramah__no_memory(reader);
  snprintf(name, size, "%s%s%s", element, dot, suffix);
  *one = (bramah__uncertain){
      ((bramah__loaded *)reader->draft)->uncertain, item->node, name, value->si, sigma, lead};
  ((bramah__loaded *)reader->draft)->uncertain = one;
  return BRAMAH_OK;
}

bramah_status bramah__machine_read(const bramah__source *source, const bramah__machine_values *with,
                                   bramah_mistake tell, void *user, bramah_diag *diag, bramah_machine **out)
{
  bramah__loaded *machine = calloc(1, sizeof *machine);
  bramah__reader reader;
  if (!machine) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a machine");
  bramah_status status = bramah__reader_open(&reader, &machine->pool, source->file, diag);
  reader.draft = machine;
  reader.uncertain = note_uncertainty;
  reader.tell = tell;
  reader.tell_user = user;
  bramah__node *root = source->root;
  if (!status) status = bramah__check_kind(&reader, root, "machine", &bramah__machine_table);
  bramah_machine_default(&machine->machine);
  const int is_machine = !status;
  if (!status) status = bramah__changes_apply(&reader, with->n_changes, with->changes, &root);
  /* A change that goes nowhere may be right and the machine wrong ("hydraulic:"): that is said first, at its own place. */
  if (is_machine && status == BRAMAH_E_KEY && with->n_changes) {
    const bramah_diag of_change = *reader.diag;
    const bramah__item as_stated = {.node = source->root};
    const bramah_status alone = bramah__read_table(&reader, &as_stated, &bramah__machine_table, machine);
    if (alone)
      status = alone;
    else if (!reader.mistakes)
      *reader.diag = of_change;
    else
      status = BRAMAH_OK, root = NULL; /* its mistakes were told */
  }
  if (!status && root) status = bramah__apply_settings(&reader, with->n_settings, with->settings, 1, &root);
  const bramah__item item = {.node = root};
  if (!status && root) status = bramah__read_table(&reader, &item, &bramah__machine_table, machine);
  if (!status && root) status = check_machine(&reader, &item, &machine->machine);
  if (!status && !reader.mistakes) status = add_silent_inputs(&reader, &machine->machine);
  machine->machine.file = reader.file;
  status = bramah__reader_close(&reader, status);
  if (status)
    bramah_machine_free(&machine->machine);
  else
    *out = &machine->machine;
  return status;
}

/* tell NULL: the first mistake ends the reading. */
static bramah_status load(const char *path, size_t n_changes, const bramah_change *changes,
                          bramah_mistake tell, void *user, bramah_diag *diag, bramah_machine **out)
{
  const bramah__machine_values with = {.n_changes = n_changes, .changes = changes};
  bramah__source *source;
  bramah_status status = bramah__source_open(path, diag, &source);
  if (status && tell) tell(user, diag);
  if (status) return status;
  status = bramah__machine_read(source, &with, tell, user, diag, out);
  bramah__source_free(source);
  return status;
}

bramah_status bramah_machine_load(const char *path, size_t n_changes, const bramah_change *changes,
                                  bramah_diag *diag, bramah_machine **out)
{
  return load(path, n_changes, changes, NULL, NULL, diag, out);
}

bramah_status bramah__machine_check(const char *path, size_t n_changes, const bramah_change *changes,
                                    bramah_mistake tell, void *user)
{
  bramah_machine *machine = NULL;
  bramah_diag diag;
  const bramah_status status = load(path, n_changes, changes, tell, user, &diag, &machine);
  bramah_machine_free(machine);
  return status;
}

void bramah_machine_free(bramah_machine *machine)
{
  bramah__loaded *whole = (bramah__loaded *)machine;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
