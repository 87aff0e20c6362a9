/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "bramah/machine.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"
#include "lib/io/schema.h"

#include <string.h>

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
  const char *group, *section, *key;
  target target;
} references[] = {
    {NULL, "joints", "parent", BODY},
    {NULL, "joints", "child", BODY},
    {NULL, "loops", "bodies", BODY},
    {NULL, "springs", "bodies", BODY},
    {NULL, "joint_springs", "joint", COORDINATE},
    {NULL, "forces", "body", BODY},
    {NULL, "motions", "joint", COORDINATE},
    {NULL, "wheels", "body", BODY},
    {NULL, "knife_edges", "body", BODY},
    {"hydraulics", "valves", "pump", VOLUME_OR_SUPPLY},
    {"hydraulics", "valves", "tank", VOLUME_OR_SUPPLY},
    {"hydraulics", "valves", "a", VOLUME_OR_SUPPLY},
    {"hydraulics", "valves", "b", VOLUME_OR_SUPPLY},
    {"hydraulics", "cylinders", "bodies", BODY},
    {"hydraulics", "cylinders", "piston_volume", VOLUME},
    {"hydraulics", "cylinders", "rod_volume", VOLUME},
    {"hydraulics", "rotary_actuators", "joint", COORDINATE},
    {"hydraulics", "rotary_actuators", "a_volume", VOLUME},
    {"hydraulics", "rotary_actuators", "b_volume", VOLUME},
    {"hydraulics", "pump_lines", "tank", SUPPLY},
    {"hydraulics", "metered_cylinders", "bodies", BODY},
    {"hydraulics", "metered_cylinders", "pump_line", PUMP_LINE},
    {NULL, "inputs", NULL, VALVE_INPUT},
};

static bramah_status make_list(bramah__reader *reader, size_t most, name_list *out)
{
  out->n = 0;
  out->names = bramah__pool_take(&reader->scratch, most, sizeof *out->names);
  return out->names ? BRAMAH_OK : bramah__no_memory(reader);
}

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
    bramah_status status = make_list(reader, most[i], &lists[i]);
    if (status) return status;
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
  if (kind == VALVE_INPUT)
    bramah__fail_key(reader, item, BRAMAH_E_REFERENCE, "there is no ");
  else
    bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, "there is no ");
  bramah__add_text(reader->diag, target_texts[kind]);
  bramah__add_text(reader->diag, " '");
  bramah__add_text(reader->diag, name);
  bramah__add_text(reader->diag, "'");
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

static bramah_status check_section(bramah__reader *reader, const bramah__item *section, const char *key,
                                   target kind, const name_list *list)
{
  bramah_status status = BRAMAH_OK;
  if (section->node->kind != BRAMAH__NODE_MAPPING) return BRAMAH_OK;
  for (size_t i = 0; !status && i < section->node->n; i++) {
    bramah__item element = bramah__item_at(section, i), value;
    if (!key)
      status = bramah__go_on(reader, check_name(reader, &element, element.name, kind, list));
    else if (bramah__item_find(&element, key, &value))
      status = bramah__go_on(reader, check_value(reader, &value, kind, list));
  }
  return status;
}

/* No element of that section (of that group, or of the root where it is NULL) may have one of these names. */
static bramah_status check_taken_names(bramah__reader *reader, const bramah__item *root, const char *group,
                                       const char *section, const name_list *taken, const char *message)
{
  bramah__item from = *root, elements;
  if (group && !bramah__item_find(root, group, &from)) return BRAMAH_OK;
  if (!bramah__item_find(&from, section, &elements)) return BRAMAH_OK;
  if (elements.node->kind != BRAMAH__NODE_MAPPING) return BRAMAH_OK;
  for (size_t i = 0; i < elements.node->n; i++) {
    bramah__item element = bramah__item_at(&elements, i);
    if (contains(taken, element.name)) return bramah__fail_key(reader, &element, BRAMAH_E_KEY, message);
  }
  return BRAMAH_OK;
}

/* An orifice that says "tank" must not have two to choose from; nor may two outputs have one name. */
static bramah_status check_shared_names(bramah__reader *reader, const bramah__item *root,
                                        const bramah_machine *machine, const name_list *lists)
{
  name_list cylinders = {0, lists[CYLINDER].names}; /* the first of that list */
  for (size_t i = 0; i < machine->n_cylinders; i++) cylinders.n += machine->cylinders[i].name != NULL;
  const name_list lumped = cylinders;
  for (size_t i = 0; i < machine->n_metered_cylinders; i++)
    cylinders.n += machine->metered_cylinders[i].name != NULL;
  bramah_status status =
      bramah__go_on(reader, check_taken_names(reader, root, "hydraulics", "supplies", &lists[VOLUME],
                                              "a volume has the same name; they share one list"));
  if (!status)
    status = bramah__go_on(reader, check_taken_names(reader, root, "hydraulics", "metered_cylinders", &lumped,
                                                     "a cylinder has the same name; they share one list"));
  if (!status)
    status =
        bramah__go_on(reader, check_taken_names(reader, root, "hydraulics", "rotary_actuators", &cylinders,
                                                "a cylinder has the same name; they share one list"));
  if (!status)
    status = bramah__go_on(
        reader, check_taken_names(reader, root, "hydraulics", "rotary_actuators", &lists[COORDINATE],
                                  "a joint coordinate has the same name; so would their outputs"));
  if (!status)
    status = bramah__go_on(
        reader, check_taken_names(reader, root, NULL, "motions", &lists[CYLINDER],
                                  "a cylinder or rotary actuator has the same name; so would their outputs"));
  return status;
}

static bramah_status check_references(bramah__reader *reader, const bramah__item *root,
                                      const char *group_name, const char *section_name, const char *key,
                                      target kind, const name_list *lists)
{
  bramah__item group = *root, section;
  if (group_name && !bramah__item_find(root, group_name, &group)) return BRAMAH_OK;
  if (group.node->kind != BRAMAH__NODE_MAPPING) return BRAMAH_OK;
  if (!bramah__item_find(&group, section_name, &section)) return BRAMAH_OK;
  return check_section(reader, &section, key, kind, &lists[kind]);
}

bramah_status bramah__machine_check(bramah__reader *reader, const bramah__item *root,
                                    const bramah_machine *machine)
{
  name_list lists[N_TARGETS];
  bramah_status status = collect_names(reader, machine, lists);
  if (!status) status = check_shared_names(reader, root, machine, lists);
  for (size_t i = 0; !status && i < sizeof references / sizeof references[0]; i++)
    status = check_references(reader, root, references[i].group, references[i].section, references[i].key,
                              references[i].target, lists);
  static const target targets[] = {[BRAMAH_KEY_NODE] = VOLUME_OR_SUPPLY,
                                   [BRAMAH_KEY_VOLUME] = VOLUME,
                                   [BRAMAH_KEY_CYLINDER] = CYLINDER,
                                   [BRAMAH_KEY_COORDINATE] = COORDINATE};
  const bramah_element_kind *kind;
  for (size_t i = 0; !status && (kind = bramah_element_kind_at(i)) != NULL; i++)
    for (const bramah_element_key *key = kind->keys; key->name && !status; key++)
      if (key->type != BRAMAH_KEY_QUANTITY)
        status =
            check_references(reader, root, "hydraulics", kind->section, key->name, targets[key->type], lists);
  return status;
}
