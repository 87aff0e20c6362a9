/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine file as a whole: its inputs and integrator, and the loading. */
#define _GNU_SOURCE /* locale_t */
#include "bramah/study.h"
#include "lib/base/diag.h"
#include "lib/io/machine_elements.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

static bramah_status read_point(bramah__reader *reader, const bramah__item *pair, double *time, double *value)
{
  const bramah__key time_key = {.unit = "s"}, value_key = {.unit = "V"};
  bramah__quantity q;
  if (pair->node->kind != BRAMAH__NODE_LIST || pair->node->n != 2)
    return bramah__fail_item(reader, pair, BRAMAH_E_SYNTAX,
                             "a pair [time, value] is expected, such as [1 s, 10 V]");
  bramah__item item = bramah__item_at(pair, 0);
  bramah_status status = bramah__item_quantity(reader, &item, &time_key, NULL, &q);
  if (status) return status;
  *time = q.si;
  item = bramah__item_at(pair, 1);
  status = bramah__item_quantity(reader, &item, &value_key, NULL, &q);
  *value = status ? 0.0 : q.si;
  return status;
}

static bramah_status read_points(bramah__reader *reader, const bramah__item *list, double *times,
                                 double *values)
{
  for (size_t i = 0; i < list->node->n; i++) {
    bramah__item pair = bramah__item_at(list, i);
    bramah_status status = read_point(reader, &pair, &times[i], &values[i]);
    if (status) return status;
    if (i == 0 || times[i] > times[i - 1]) continue;
    bramah__item time = bramah__item_at(&pair, 0);
    return bramah__fail_item(reader, &time, BRAMAH_E_VALUE, "times must ascend");
  }
  return BRAMAH_OK;
}

static bramah_status read_input(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_input *input = object;
  if (item->node->kind != BRAMAH__NODE_LIST)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX, "a list of pairs [time, value] is expected");
  double *times = bramah__pool_take(reader->keep, item->node->n, sizeof *times);
  double *values = bramah__pool_take(reader->keep, item->node->n, sizeof *values);
  if (!times || !values) return bramah__no_memory(reader);
  input->n_points = item->node->n;
  input->times = times;
  input->values = values;
  return read_points(reader, item, times, values);
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

/* The oil comes first: orifices need its density. */
static const bramah__key hydraulics_keys[] = {
    {.name = "oil", .read = bramah__read_child, .required = 1, .table = &bramah__oil_table},
    BRAMAH__KEY("transition_pressure", bramah__read_quantity, bramah__loaded, machine.transition_pressure,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("supplies", bramah__loaded, machine.supplies, machine.n_supplies, &bramah__supply_table,
                    .required = 0),
    BRAMAH__SECTION("volumes", bramah__loaded, machine.volumes, machine.n_volumes, &bramah__volume_table,
                    .required = 0),
    BRAMAH__SECTION("valves", bramah__loaded, machine.valves, machine.n_valves, &bramah__valve_table,
                    .required = 0),
    BRAMAH__SECTION("cylinders", bramah__loaded, machine.cylinders, machine.n_cylinders,
                    &bramah__cylinder_table, .required = 0),
    BRAMAH__SECTION("rotary_actuators", bramah__loaded, machine.rotaries, machine.n_rotaries,
                    &bramah__rotary_table, .required = 0),
    BRAMAH__SECTION("pump_lines", bramah__loaded, machine.pump_lines, machine.n_pump_lines,
                    &bramah__pump_line_table, .required = 0),
    BRAMAH__SECTION("metered_cylinders", bramah__loaded, machine.metered_cylinders,
                    machine.n_metered_cylinders, &bramah__metered_cylinder_table, .required = 0),
    {0}};

static bramah_status read_hydraulics(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                     void *object)
{
  (void)key;
  bramah__table table = {0};
  const bramah_status status =
      bramah__with_elements(reader, hydraulics_keys, offsetof(bramah__loaded, machine), &table.keys);
  return status ? status : bramah__read_table(reader, item, &table, object);
}

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
    {.name = "hydraulics", .read = read_hydraulics},
    BRAMAH__SECTION("inputs", bramah__loaded, machine.inputs, machine.n_inputs, &input_table, .required = 0),
    BRAMAH__KEY("integrator", bramah__read_child, bramah__loaded, machine.integrator,
                .table = &integrator_table),
    {0}};

static const bramah__table machine_table = {.keys = machine_keys};

static int has_input(const bramah_input *inputs, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(inputs[i].name, name) == 0) return 1;
  return 0;
}

static void add_silent(const bramah_input *inputs, size_t *n, const char *name, int line, bramah_input *out)
{
  if (name && !has_input(inputs, *n, name)) out[(*n)++] = (bramah_input){.name = name, .line = line};
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
    add_silent(inputs, &n, valve->input, valve->line, inputs);
  }
  for (size_t i = 0; i < machine->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *cylinder = &machine->metered_cylinders[i];
    add_silent(inputs, &n, cylinder->spool.input, cylinder->line, inputs);
    add_silent(inputs, &n, cylinder->regeneration.input, cylinder->line, inputs);
  }
  for (size_t i = 0; i < machine->n_pump_lines; i++)
    add_silent(inputs, &n, machine->pump_lines[i].unloading.input, machine->pump_lines[i].line, inputs);
  machine->inputs = inputs;
  machine->n_inputs = n;
  return BRAMAH_OK;
}

static void set_defaults(bramah_machine *machine)
{
  machine->transition_pressure = 2e5;
  machine->integrator = (bramah_integrator){
      .step_ns = 1000000, .position_tolerance = 1e-7, .pressure_tolerance = 1e-2, .max_iterations = 25};
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
  set_defaults(&out->machine);
  status = bramah__read_table(reader, &item, &machine_table, out);
  if (!status) status = bramah__machine_check(reader, &item, &out->machine);
  if (status) return status;
  if (reader->told) return reader->first;
  status = add_silent_inputs(reader, &out->machine);
  if (status) return status;
  out->machine.file = bramah__pool_text(reader->keep, reader->file, strlen(reader->file));
  return out->machine.file ? BRAMAH_OK : bramah__no_memory(reader);
}

bramah_status bramah_machine_check(const char *path, size_t n_changes, const bramah_change *changes,
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
