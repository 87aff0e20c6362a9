/* SPDX-License-Identifier: MIT */
/* Hydraulics of a machine into the circuit. What is checked of an element or device, and which names it refers to,
 * the tables of its keys say (lib/hydraulics); here their values find their places.
 *
 * The expanded machine has, behind its volumes, one for each line and each load-sensing pump (its flow) and each
 * metered cylinder (its load pressure), and behind its valves the spools of metered cylinders and
 * those of regeneration and unloading valves, of drives of pumps that have an input, and of commands of the mechanics. Cylinders of the circuit: cylinders, metered ones, rotary actuators, motors. */
#include "lib/machine/compile.h"
#include "lib/base/diag.h"

#include <math.h>
#include <string.h>

/* ---- spools that are no directional valves: regeneration and unloading valves, drives of pumps, commands ---- */

typedef struct one_way {
  const char *input; /* NULL: it has no spool */
  double time_constant, limit, initial, opening;
  const bramah_named *owner;
  const char *suffix;
  int is_gear;
} one_way;

/* Command i of the mechanics, and whose it is; NULL: there are i in all. */
static const bramah_drive *command_at(const bramah_machine *d, size_t i, one_way *of)
{
  static const bramah_drive none;
  const size_t of_shafts = BRAMAH__SHAFT_COMMANDS * bramah__n_shafts(d);
  if (i < of_shafts) {
    const size_t shaft = i / BRAMAH__SHAFT_COMMANDS, k = i % BRAMAH__SHAFT_COMMANDS;
    const bramah__shaft_thing thing = bramah__shaft_thing_at(d, shaft);
    const bramah_drive *command = bramah__shaft_command(d, shaft, k);
    of->owner = thing.of, of->is_gear = k == 1;
    of->suffix = k ? ".gear" : thing.kind == BRAMAH__ENGINE ? ".throttle" : ".command";
    return command ? command : &none;
  }
  i -= of_shafts;
  if (i < d->n_brakes) {
    of->owner = (const bramah_named *)(const void *)&d->brakes[i], of->suffix = ".command";
    return &d->brakes[i].command;
  }
  return NULL;
}

/* Number i: of the metered cylinders, the pump lines, the pumps, the load-sensing pumps, the commands. */
static one_way one_way_at(const bramah_machine *d, size_t i)
{
  const bramah_metering_valve *valve;
  one_way out = {0};
  if (i < d->n_metered_cylinders) {
    valve = &d->metered_cylinders[i].regeneration;
    out.owner = (const bramah_named *)(const void *)&d->metered_cylinders[i], out.suffix = ".regeneration";
  } else if ((i -= d->n_metered_cylinders) < d->n_pump_lines) {
    valve = &d->pump_lines[i].unloading;
    out.owner = (const bramah_named *)(const void *)&d->pump_lines[i], out.suffix = ".unloading";
  } else if ((i -= d->n_pump_lines) >= d->n_pumps + d->n_load_sensing_pumps) {
    const bramah_drive *given = command_at(d, i - d->n_pumps - d->n_load_sensing_pumps, &out);
    const bramah_drive command = bramah__complete_command(given, out.is_gear);
    out.input = command.input, out.initial = command.initial;
    out.time_constant = command.time_constant, out.limit = command.limit;
    return out;
  } else {
    const size_t k = i, sensing = k - d->n_pumps; /* wraps for pumps */
    const bramah_drive *drive = k < d->n_pumps ? &d->pumps[k].drive : &d->load_sensing_pumps[sensing].drive;
    out.owner = k < d->n_pumps ? (const bramah_named *)(const void *)&d->pumps[k]
                               : (const bramah_named *)(const void *)&d->load_sensing_pumps[sensing];
    out.suffix = ".drive", out.input = drive->input, out.initial = drive->initial;
    out.time_constant = drive->time_constant, out.limit = drive->limit;
    return out;
  }
  if (valve->flow_coefficient == 0.0) return out;
  out.input = valve->input, out.time_constant = valve->time_constant, out.limit = valve->limit;
  out.opening = valve->input ? 0.0 : valve->opening;
  return out;
}

static size_t first_command(const bramah_machine *d)
{
  return d->n_metered_cylinders + d->n_pump_lines + d->n_pumps + d->n_load_sensing_pumps;
}

static size_t count_one_ways(const bramah_machine *d)
{
  one_way of;
  size_t n = 0;
  while (command_at(d, n, &of)) n++;
  return first_command(d) + n;
}

/* Spools of the first n of them. */
static size_t count_spools(const bramah_machine *d, size_t n)
{
  size_t spools = 0;
  for (size_t i = 0; i < n; i++) spools += one_way_at(d, i).input != NULL;
  return spools;
}

size_t bramah__spool_of_command(const bramah_machine *d, const bramah_drive *command)
{
  one_way of;
  size_t i = 0;
  while (command_at(d, i, &of) != command) i++;
  return d->n_valves + d->n_metered_cylinders + count_spools(d, first_command(d) + i);
}

size_t bramah__count_metering_spools(const bramah_machine *d)
{
  return d->n_metered_cylinders + count_spools(d, count_one_ways(d));
}

void bramah__circuit_layout(const bramah_machine *d, bramah_model *model, bramah__tables *t,
                            bramah__arena *arena)
{
  const bramah__circuit *circuit = &model->circuit;
  const size_t n_spools = bramah__n_spools(circuit), first = d->n_valves + d->n_metered_cylinders;

  /* names of spools: those of valves and metered cylinders, then with a suffix */
  model->valve_name = BRAMAH__TAKE(arena, const char *, n_spools);
  for (size_t i = 0; i < first; i++) {
    const char *name = i < d->n_valves ? d->valves[i].name : d->metered_cylinders[i - d->n_valves].name;
    const char *copy = bramah__join_text(arena, name, "");
    if (model->valve_name) model->valve_name[i] = copy;
  }
  for (size_t i = 0, spool = first; i < count_one_ways(d); i++) {
    const one_way w = one_way_at(d, i);
    if (!w.input) continue;
    const char *copy = bramah__join_text(arena, w.owner->name, w.suffix);
    if (model->valve_name) model->valve_name[spool++] = copy;
  }

  /* characteristics hold two numbers for each point */
  size_t points = 0;
  for (size_t i = 0; i < first; i++) {
    const bramah_valve *valve =
        i < d->n_valves ? &d->valves[i] : &d->metered_cylinders[i - d->n_valves].spool;
    points += valve->characteristic.n_points;
    for (int w = 0; w < BRAMAH_N_PORTS; w++) points += valve->ports[w].n_points;
  }

  t->volumes = BRAMAH__TAKE(arena, bramah_volume, circuit->n_volumes);
  t->valves = BRAMAH__TAKE(arena, bramah_valve, n_spools);
  t->line = BRAMAH__TAKE(arena, bramah__line, circuit->n_cylinders);
  t->volume = BRAMAH__TAKE(arena, bramah__volume, circuit->n_volumes);
  t->supply = BRAMAH__TAKE(arena, double, d->n_supplies);
  t->valve = BRAMAH__TAKE(arena, bramah__valve, n_spools);
  t->cylinder = BRAMAH__TAKE(arena, bramah__cylinder, circuit->n_cylinders);
  t->element = BRAMAH__TAKE(arena, bramah__element, circuit->n_elements);
  t->drive = count_spools(d, first_command(d)) ? BRAMAH__TAKE(arena, size_t, circuit->n_elements) : NULL;
  t->points = BRAMAH__TAKE(arena, double, 2 * points);
  t->driven = BRAMAH__TAKE(arena, bramah__driven_pump, circuit->n_driven);
  t->metered = BRAMAH__TAKE(arena, bramah__metered, d->n_metered_cylinders);
  t->metered_port = BRAMAH__TAKE(arena, bramah__metered_port, d->n_metered_cylinders);
  t->metered_line = BRAMAH__TAKE(arena, bramah__metered_line, d->n_pump_lines);
}

bramah_status bramah__expand_circuit(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  bramah_volume *volume = k->t.volumes;
  for (size_t i = 0; i < d->n_volumes; i++) *volume++ = d->volumes[i];
  for (size_t i = 0; i < d->n_lines; i++)
    *volume++ = (bramah_volume){
        .name = d->lines[i].name, .line = d->lines[i].line, .initial_pressure = d->lines[i].initial_flow};
  for (size_t i = 0; i < d->n_load_sensing_pumps; i++) {
    const bramah_load_sensing_pump *pump = &d->load_sensing_pumps[i];
    *volume++ =
        (bramah_volume){.name = pump->name, .line = pump->line, .initial_pressure = pump->initial_flow};
  }
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *c = &d->metered_cylinders[i];
    *volume++ = (bramah_volume){
        .name = c->name, .line = c->line, .initial_pressure = c->load_pressure, .initial = c->initial};
  }

  bramah_valve *spool = k->t.valves;
  for (size_t i = 0; i < d->n_valves; i++) *spool++ = d->valves[i];
  for (size_t i = 0; i < d->n_metered_cylinders; i++, spool++) {
    *spool = d->metered_cylinders[i].spool;
    spool->name = d->metered_cylinders[i].name;
    spool->line = d->metered_cylinders[i].line;
  }
  for (size_t i = 0; i < count_one_ways(d); i++) {
    const one_way w = one_way_at(d, i);
    if (!w.input) continue;
    *spool = (bramah_valve){.name = k->model->valve_name[spool - k->t.valves],
                            .line = w.owner->line,
                            .input = w.input,
                            .time_constant = w.time_constant,
                            .initial_spool = w.initial,
                            .limit = w.limit};
    spool++;
  }
  k->expanded.volumes = k->t.volumes;
  k->expanded.n_volumes = k->model->circuit.n_volumes;
  k->expanded.valves = k->t.valves;
  k->expanded.n_valves = bramah__n_spools(&k->model->circuit);
  return BRAMAH_OK;
}

/* ---- by the tables of keys ---- */

/* Values of the quantities in the order of the keys, nodes likewise, and the joint, supply or pump line. */
enum { MOST_VALUES = 16, MOST_NODES = 4 };
typedef struct taken {
  size_t n_values, n_nodes;
  double value[MOST_VALUES];
  size_t node[MOST_NODES], other;
} taken;

static const char *name_at(const void *object, const bramah_element_key *key)
{
  const char *name;
  memcpy(&name, (const unsigned char *)object + key->offset, sizeof name);
  return name;
}

/* The values of an element, or of the part of one at `object`: what they are when they are not given, refused where
 * they are out of range. */
static bramah_status take_values(const bramah__compiler *k, const bramah_named *in,
                                 const bramah_element_kind *kind, const void *object, taken *out)
{
  const int is_part = object != (const void *)in; /* where 0 means that there is no such part */
  const char *fault, *at;
  unsigned model = 0;
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    const unsigned char *member = (const unsigned char *)object + key->offset;
    if (key->type == BRAMAH_KEY_FRICTION_MODEL) {
      memcpy(&model, member, sizeof model);
      if (model > BRAMAH_FRICTION_VISCOUS) return bramah__refuse(k, in, "the friction model is unknown");
    } else if (key->type == BRAMAH_KEY_PART) {
      const bramah_status status = take_values(k, in, key->part, member, out);
      if (status != BRAMAH_OK) return status;
    }
    if (key->type != BRAMAH_KEY_QUANTITY || key->factor_of) continue;
    if (key->models && !(key->models >> model & 1U)) continue;
    const int required = key->models || (key->required && !is_part);
    double value = 0.0;
    for (size_t i = 0; i == 0 || i < key->copies; i++) {
      memcpy(&value, member + i * sizeof value, sizeof value);
      if (value == 0.0 && !required) {
        value = key->otherwise;
        continue;
      }
      if (!isfinite(value) && key->range == BRAMAH_KEY_ANY) {
        bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, in, key->what);
        bramah__add_text(k->diag, " is not finite");
        return BRAMAH_E_NOT_FINITE;
      }
      const int from_one = key->range == BRAMAH_KEY_FROM_ONE;
      if (key->range == BRAMAH_KEY_POSITIVE) {
        const bramah_status status = bramah__positive(k, value, in, key->what);
        if (status != BRAMAH_OK) return status;
      } else if (key->range != BRAMAH_KEY_ANY && !(value >= (from_one ? 1.0 : 0.0) && isfinite(value))) {
        if (!from_one) return bramah__not_negative(k, value, in, key->what);
        bramah__refuse(k, in, key->what);
        bramah__add_text(k->diag, " must not be below 1");
        return BRAMAH_E_VALUE;
      }
    }
    if (!is_part) out->value[out->n_values++] = value;
  }
  if (kind->check && (fault = kind->check(object, &at)) != NULL) return bramah__refuse(k, in, fault);
  return BRAMAH_OK;
}

/* What a name refers to. */
static bramah_status take_name(const bramah__compiler *k, const bramah_named *in,
                               const bramah_element_key *key, const char *name, taken *out)
{
  const bramah_model *m = k->model;
  const struct {
    size_t n;
    const char *const *names;
    const char *what;
  } lists[] = {[BRAMAH_KEY_VOLUME] = {k->source->n_volumes, m->volume_name, "volume"},
               [BRAMAH_KEY_CYLINDER] = {m->circuit.n_cylinders, m->cylinder_name, "cylinder"},
               [BRAMAH_KEY_COORDINATE] = {m->n, m->joint_name, "joint coordinate"},
               [BRAMAH_KEY_SUPPLY] = {m->circuit.n_supplies, m->supply_name, "supply"},
               [BRAMAH_KEY_PUMP_LINE] = {m->circuit.n_metered_lines, m->pump_line_name, "pump line"}};
  if (key->type == BRAMAH_KEY_NODE) return bramah__find_node(k, in, name, &out->node[out->n_nodes++]);
  const long i = bramah__find_name(lists[key->type].n, lists[key->type].names, name);
  if (i < 0)
    return bramah__no_such(k, in, lists[key->type].what, name, lists[key->type].n, lists[key->type].names);
  if (key->type == BRAMAH_KEY_COORDINATE && !k->t.link[i].revolute)
    return bramah__refuse(k, in, "its joint coordinate slides; one that turns is needed");
  if (key->type == BRAMAH_KEY_VOLUME)
    out->node[out->n_nodes++] = (size_t)i;
  else if (key->type != BRAMAH_KEY_CYLINDER)
    out->other = (size_t)i;
  else if (k->t.cylinder[i].metered)
    return bramah__refuse(k, in, "metered cylinders have no chambers between which it could leak");
  else { /* the two volumes of it */
    out->node[out->n_nodes++] = k->t.cylinder[i].piston;
    out->node[out->n_nodes++] = k->t.cylinder[i].rod;
  }
  return BRAMAH_OK;
}

/* An element by the table of its keys: values checked, names found. Inputs belong to the spools, bodies and points to
 * the attachments. */
static bramah_status take(const bramah__compiler *k, const void *element, const bramah_element_kind *kind,
                          taken *out)
{
  const bramah_named *in = element;
  const char *cylinder = NULL;
  *out = (taken){.n_values = 0};
  bramah_status status = take_values(k, in, kind, element, out);
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->type == BRAMAH_KEY_CYLINDER) cylinder = name_at(element, key);
  for (const bramah_element_key *key = kind->keys; key->name && status == BRAMAH_OK; key++)
    switch (key->type) {
    case BRAMAH_KEY_NODE:
      if (cylinder && name_at(element, key))
        return bramah__refuse(k, in, "it has either two nodes or a cylinder whose piston it passes");
      if (!name_at(element, key) && !key->required)
        out->node[out->n_nodes++] = BRAMAH__NO_NODE;
      else if (!cylinder)
        status = take_name(k, in, key, name_at(element, key), out);
      break;
    case BRAMAH_KEY_CYLINDER:
      if (cylinder) status = take_name(k, in, key, cylinder, out);
      break;
    case BRAMAH_KEY_VOLUME:
    case BRAMAH_KEY_COORDINATE:
    case BRAMAH_KEY_SUPPLY:
    case BRAMAH_KEY_PUMP_LINE:
      status = take_name(k, in, key, name_at(element, key), out);
      break;
    default:
      break;
    }
  return status;
}

/* ---- volumes and oil ---- */

static bramah_status build_fluid(bramah__compiler *k)
{
  const bramah_air *air = &k->machine->air;
  static const bramah_named oil = {"oil", 0};
  const char *message = NULL;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; i < k->machine->n_volumes; i++) {
    const bramah_volume *volume = &k->machine->volumes[i];
    bramah__volume *out = &k->t.volume[i];
    for (size_t h = 0; h < volume->n_hoses; h++) {
      const bramah_hose *hose = &volume->hoses[h];
      status = bramah__positive(k, hose->volume, volume, "the volume of a hose");
      if (status == BRAMAH_OK)
        status = bramah__positive(k, hose->bulk_modulus, volume, "the bulk modulus of a hose");
      if (status != BRAMAH_OK) return status;
      out->hose_volume += hose->volume;
      out->hose_compliance += hose->volume / hose->bulk_modulus;
    }
    k->model->p0[i] = volume->initial == BRAMAH_PRESSURE_GIVEN ? volume->initial_pressure : 0.0;
    if (!isfinite(k->model->p0[i]))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, volume, "the initial pressure is not finite");
  }
  for (size_t i = 0; i < k->machine->n_supplies; i++) {
    const bramah_supply *supply = &k->machine->supplies[i];
    k->t.supply[i] = supply->pressure;
    if (!isfinite(supply->pressure))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, supply,
                                  "the pressure of this supply is not finite");
  }

  if (!(air->fraction >= 0.0 && isfinite(air->fraction)))
    message = "the air fraction must not be negative";
  else if (air->exponent != 0.0 && !(air->exponent >= 1.0 && isfinite(air->exponent)))
    message = "the exponent of the air must not be below 1";
  else if (!(air->vapour_pressure >= 0.0 && isfinite(air->vapour_pressure)))
    message = "the vapour pressure must not be negative";
  else if (air->vapour_pressure > 0.0 && air->fraction == 0.0)
    message = "a vapour pressure needs an air fraction";
  if (message) return bramah__refuse(k, &oil, message);
  return k->source->n_volumes
             ? bramah__positive(k, k->machine->oil_bulk_modulus, &oil, "the bulk modulus of the oil")
             : BRAMAH_OK;
}

/* ---- valves ---- */

/* Copy a characteristic to *next and move on. */
static bramah_status build_curve(const bramah__compiler *k, const bramah_valve *valve,
                                 const bramah_characteristic *in, double least, double **next,
                                 bramah__curve *out)
{
  const size_t n = in->n_points;
  double *x = *next, *y = x + n;
  if (n == 0) return BRAMAH_OK;
  if (n < 2) return bramah__refuse(k, valve, "a characteristic needs at least two points");
  for (size_t i = 0; i < n; i++) {
    x[i] = in->spools[i];
    y[i] = in->openings[i];
    if (!isfinite(x[i]) || !isfinite(y[i]) || (i > 0 && !(x[i] > x[i - 1])))
      return bramah__refuse(k, valve, "the spools of a characteristic must ascend");
    if (!(y[i] >= least))
      return bramah__refuse(k, valve, "the opening of a single flow path must not be negative");
  }
  *out = (bramah__curve){n, x, y};
  *next = y + n;
  return BRAMAH_OK;
}

/* All spools: how they move and what they open. Directional valves have their ports, too. */
static bramah_status build_valves(bramah__compiler *k)
{
  const bramah_model *m = k->model;
  double *next = k->t.points;
  for (size_t i = 0; i < k->machine->n_valves; i++) {
    const bramah_valve *in = &k->machine->valves[i];
    bramah__valve *out = &k->t.valve[i];
    taken t;
    bramah_status status = BRAMAH_OK;
    if (i < k->source->n_valves) {
      status = take(k, in, &bramah__valve_kind, &t);
      if (status != BRAMAH_OK) return status;
      *out = (bramah__valve){.pump = t.node[0],
                             .tank = t.node[1],
                             .a = t.node[2],
                             .b = t.node[3],
                             .coefficient = in->flow_coefficient,
                             .compensator = (int)in->compensator,
                             .compensator_pressure = in->compensator_pressure};
    }
    const long input = bramah__find_name(m->n_inputs, m->input_name, in->input);
    if (input < 0) return bramah__no_such(k, in, "input", in->input, m->n_inputs, m->input_name);
    out->input = (size_t)input;
    out->time_constant = in->time_constant;
    out->limit = in->limit;
    out->opening.dead_band = in->dead_band;
    status = build_curve(k, in, &in->characteristic, -INFINITY, &next, &out->opening.common);
    for (int w = 0; w < BRAMAH_N_PORTS && status == BRAMAH_OK; w++)
      status = build_curve(k, in, &in->ports[w], 0.0, &next, &out->opening.path[w]);
    if (status != BRAMAH_OK) return status;
    k->model->U0[i] = in->initial_spool;
  }
  return BRAMAH_OK;
}

/* ---- actuators ---- */

static bramah_status build_attachment(const bramah__compiler *k, const void *in, const char *const *bodies,
                                      const double points[2][3], bramah__line *line)
{
  bramah_status status = BRAMAH_OK;
  memcpy(line->point, points, sizeof line->point);
  for (int e = 0; e < 2 && status == BRAMAH_OK; e++) {
    const char *body = bodies[e];
    bramah__carry_point(k, &body, line->point[e]);
    status = bramah__find_body(k, in, body, &line->body[e]);
  }
  return status;
}

static void fill_seals(const bramah_friction *f, const bramah_end_stop *stop, bramah__cylinder *out)
{
  out->friction_scale = 1.0;
  out->friction = (bramah__friction){.kind = (bramah__friction_kind)f->model,
                                     .coulomb = f->coulomb,
                                     .static_force = f->static_force,
                                     .stribeck = f->stribeck_velocity,
                                     .viscous = f->viscous,
                                     .decay = f->decay,
                                     .stiffness = f->bristle_stiffness,
                                     .damping = f->bristle_damping,
                                     .exponent = f->stribeck_exponent,
                                     .film_velocity = f->film_velocity,
                                     .film_rising = f->film_time_rising,
                                     .film_falling = f->film_time_falling,
                                     .film_dwell = f->film_time_dwell};
  out->stop = (bramah__end_stop){stop->stiffness, stop->damping, stop->cushion_length, stop->cushion_damping};
}

/* The joint that turns pump i, as cylinder number c: its chambers are none, and without areas they do nothing to the volume that
 * stands for theirs. Elements are in the order of the kinds: pumps, then load-sensing pumps behind others. */
static bramah_status build_driven(bramah__compiler *k, size_t i, size_t c)
{
  const bramah_machine *d = k->source;
  const bramah_model *m = k->model;
  const bramah_named *of;
  size_t number, element = 0;
  const bramah_drive *drive = bramah__driven(d, i, &of, &number);
  const int plain = number < d->n_pumps;
  const int kind = plain ? BRAMAH__KIND(pump) : BRAMAH__KIND(load_sensing_pump);
  const size_t among = plain ? number : number - d->n_pumps;
  const double own = plain ? 0.0 : d->load_sensing_pumps[among].speed,
               speed = drive->speed != 0.0 ? drive->speed : own,
               ratio = drive->ratio != 0.0 ? drive->ratio : 1.0,
               efficiency = drive->efficiency != 0.0 ? drive->efficiency : 1.0;
  size_t joint;
  const bramah_status status = bramah__find_turning(
      k, of, drive->joint, "a pump is turned by a joint that turns about one axis", &joint);
  if (status != BRAMAH_OK) return status;
  if (bramah__find_name(m->n, m->joint_name, of->name) >= 0)
    return bramah__compile_fail(k, BRAMAH_E_KEY, of,
                                "a joint coordinate has the same name; so would their outputs");
  if (!(speed > 0.0)) return bramah__refuse(k, of, "its drive needs the speed at which it delivers its flow");
  for (int before = 0; before < kind; before++)
    element += bramah_machine_n_elements(k->machine, &bramah__element_kinds[before]->description);
  const char *into = plain ? d->pumps[among].into : d->load_sensing_pumps[among].into;
  const long volume = bramah__find_name(d->n_volumes, m->volume_name, into);
  k->t.driven[i] = (bramah__driven_pump){.element = element + among,
                                         .cylinder = c,
                                         .part_per_rate = ratio / speed,
                                         .per_power = ratio / (speed * efficiency)};
  k->t.line[c].is_coordinate = 1;
  k->t.line[c].joint = joint;
  k->t.cylinder[c] = (bramah__cylinder){.endless = 1,
                                        .piston = volume < 0 ? 0 : (size_t)volume, /* told with the pump */
                                        .rod = volume < 0 ? 0 : (size_t)volume,
                                        .piston_length = INFINITY,
                                        .rod_length = INFINITY,
                                        .friction_scale = 1.0};
  return BRAMAH_OK;
}

/* Cylinders; then rotary actuators and motors, cylinders with angles for lengths that act along their joints. */
static bramah_status build_cylinders(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  const size_t nl = d->n_cylinders, first = nl + d->n_metered_cylinders;
  bramah_status status;
  taken t;
  for (size_t i = 0; i < nl; i++) {
    const bramah_cylinder *in = &d->cylinders[i];
    status = take(k, in, &bramah__cylinder_kind, &t);
    if (status == BRAMAH_OK) status = build_attachment(k, in, in->body, in->point, &k->t.line[i]);
    if (status != BRAMAH_OK) return status;
    bramah__cylinder *out = &k->t.cylinder[i];
    *out = (bramah__cylinder){.piston = t.node[0],
                              .rod = t.node[1],
                              .piston_area = in->piston_area,
                              .rod_area = in->rod_area,
                              .bulk_modulus = in->bulk_modulus,
                              .reference = in->reference_stroke,
                              .piston_length = in->piston_chamber_length,
                              .rod_length = in->rod_chamber_length};
    fill_seals(&in->friction, &in->end_stop, out);
  }
  for (size_t i = 0; i < bramah__n_turning(d); i++) {
    const bramah_rotary in = bramah__turning(d, i);
    const int endless = i >= d->n_rotaries;
    if (i >= d->n_rotaries + d->n_motors) {
      status = build_driven(k, i - d->n_rotaries - d->n_motors, first + i);
      if (status != BRAMAH_OK) return status;
      continue;
    }
    status = endless ? take(k, &d->motors[i - d->n_rotaries], &bramah__motor_kind.description, &t)
                     : take(k, &d->rotaries[i], &bramah__rotary_kind, &t);
    if (status != BRAMAH_OK) return status;
    k->t.line[first + i].is_coordinate = 1;
    k->t.line[first + i].joint = t.other;
    bramah__cylinder *out = &k->t.cylinder[first + i];
    *out = (bramah__cylinder){.endless = endless,
                              .piston = t.node[0],
                              .rod = t.node[1],
                              .piston_area = in.displacement,
                              .rod_area = in.displacement,
                              .bulk_modulus = in.bulk_modulus,
                              .reference = in.reference_angle,
                              .piston_length = endless ? INFINITY : in.a_angle,
                              .rod_length = endless ? INFINITY : in.b_angle};
    fill_seals(&in.friction, &in.end_stop, out);
  }
  return BRAMAH_OK;
}

/* Spool of one-way valve or drive i, or how far it is open without one. */
static size_t spool_of(const bramah_machine *d, size_t i, double *open)
{
  const one_way w = one_way_at(d, i);
  *open = w.opening;
  return w.input ? d->n_valves + d->n_metered_cylinders + count_spools(d, i) : BRAMAH__NO_SPOOL;
}

/* Metered cylinder i at its place among those sorted by pump lines. The force of the load pressure is that of a
 * cylinder with this piston area and no rod side; without lengths the stroke has no ends. */
static bramah_status build_metered(bramah__compiler *k, size_t i, size_t slot)
{
  const bramah_machine *d = k->source;
  const bramah_metered_cylinder *in = &d->metered_cylinders[i];
  const size_t volume = d->n_volumes + k->model->circuit.n_states + i, cylinder = d->n_cylinders + i;
  const int has_ends = in->reference_stroke != 0.0;
  const double *C = in->flow_coefficient;
  bramah__metered_port *port = &k->t.metered_port[slot];
  *port = (bramah__metered_port){.cylinder = cylinder,
                                 .volume = volume,
                                 .spool = d->n_valves + i,
                                 .stiffness = in->stiffness,
                                 .damping = in->damping};
  port->regeneration = spool_of(d, i, &port->regeneration_open);
  k->t.metered[slot] = (bramah__metered){.A_h = in->piston_area,
                                         .A_r = in->rod_area,
                                         .P_hM = in->piston_relief,
                                         .P_rM = in->rod_relief,
                                         .c_ph = C[BRAMAH_PORT_PUMP_A],
                                         .c_tr = C[BRAMAH_PORT_B_TANK],
                                         .c_pr = C[BRAMAH_PORT_PUMP_B],
                                         .c_th = C[BRAMAH_PORT_A_TANK],
                                         .c_a = in->regeneration.flow_coefficient};
  bramah__cylinder *out = &k->t.cylinder[cylinder];
  *out = (bramah__cylinder){.metered = 1,
                            .piston = volume,
                            .rod = volume,
                            .piston_area = in->piston_area,
                            .reference = in->reference_stroke,
                            .piston_length = has_ends ? in->piston_chamber_length : INFINITY,
                            .rod_length = has_ends ? in->rod_chamber_length : INFINITY};
  fill_seals(&in->friction, &in->end_stop, out);
  return build_attachment(k, in, in->body, in->point, &k->t.line[cylinder]);
}

/* Does the curve stay closed on that side of 0, 0 included? */
static int is_closed(const bramah__curve *curve, double side)
{
  if (curve->n == 0) return 1;
  for (size_t i = 0; i < curve->n; i++)
    if (side * curve->x[i] >= 0.0 && curve->y[i] > 0.0) return 0;
  return !(bramah__curve_at(curve, e_number(0.0)).value > 0.0);
}

/* Pump lines with the metered cylinders on each of them. After the spools. */
static bramah_status build_pump_lines(bramah__compiler *k)
{
  const bramah_machine *d = k->source;
  taken t;
  for (size_t i = 0; i < d->n_metered_cylinders; i++) {
    const bramah_metered_cylinder *in = &d->metered_cylinders[i];
    const bramah__opening *opening = &k->t.valve[d->n_valves + i].opening;
    const bramah_status status = take(k, in, &bramah__metered_cylinder_kind, &t);
    if (status != BRAMAH_OK) return status;
    if ((opening->common.n && bramah__curve_at(&opening->common, e_number(0.0)).value != 0.0) ||
        !is_closed(&opening->path[BRAMAH__PUMP_A], -1.0) ||
        !is_closed(&opening->path[BRAMAH__B_TANK], -1.0) || !is_closed(&opening->path[BRAMAH__A_TANK], 1.0) ||
        !is_closed(&opening->path[BRAMAH__PUMP_B], 1.0))
      return bramah__refuse(
          k, in, "flow paths that extend it must be shut for U <= 0, those that retract it for U >= 0");
  }
  for (size_t l = 0, slot = 0; l < d->n_pump_lines; l++) {
    const bramah_pump_line *in = &d->pump_lines[l];
    bramah__metered_line *out = &k->t.metered_line[l];
    bramah_status status = take(k, in, &bramah__pump_line_kind, &t);
    *out = (bramah__metered_line){
        .line = {.Q = in->flow, .P_M = in->set_pressure, .U_b = in->unloading.flow_coefficient},
        .tank = t.other,
        .first = slot};
    out->unloading = spool_of(d, d->n_metered_cylinders + l, &out->unloading_open);
    for (size_t i = 0; i < d->n_metered_cylinders && status == BRAMAH_OK; i++)
      if (strcmp(d->metered_cylinders[i].pump_line, in->name) == 0) status = build_metered(k, i, slot++);
    if (status != BRAMAH_OK) return status;
    out->n = slot - out->first;
    if (out->n > BRAMAH__MAX_ON_LINE)
      return bramah__refuse(k, in, "more than 16 metered cylinders are on this pump line");
  }
  return BRAMAH_OK;
}

/* ---- elements, and what only the whole can say ---- */

static bramah_status build_elements(bramah__compiler *k)
{
  bramah__element *out = k->t.element;
  for (int kind = 0; kind < BRAMAH__N_ELEMENT_KINDS; kind++) {
    const bramah_element_kind *description = &bramah__element_kinds[kind]->description;
    const size_t n = bramah_machine_n_elements(k->machine, description);
    for (size_t i = 0; i < n; i++, out++) {
      const bramah_named *in = bramah_machine_element(k->machine, description, i);
      taken t;
      const bramah_status status = take(k, in, description, &t);
      if (status != BRAMAH_OK) return status;
      if (t.n_nodes >= 2 && t.node[0] == t.node[1])
        return bramah__refuse(k, in, "both of its ends are the same");
      out->kind = kind;
      memcpy(out->value, t.value, sizeof out->value);
      memcpy(out->node, t.node, sizeof out->node);
      if (k->t.drive) {
        const size_t first = k->source->n_metered_cylinders + k->source->n_pump_lines;
        double open;
        k->t.drive[out - k->t.element] = kind == BRAMAH__KIND(pump) ? spool_of(k->source, first + i, &open)
                                         : kind == BRAMAH__KIND(load_sensing_pump)
                                             ? spool_of(k->source, first + k->source->n_pumps + i, &open)
                                             : BRAMAH__NO_SPOOL;
      }
      if (!bramah__element_kinds[kind]->rate) continue;
      const size_t lines =
          kind == BRAMAH__KIND(line) ? 0 : k->source->n_lines; /* come first among the states */
      out->node[BRAMAH__OWN_STATE] = k->source->n_volumes + lines + i;
    }
  }
  return BRAMAH_OK;
}

/* Friction states lie behind each other in the order of the cylinders. A volume without hose and chamber would have no
 * compliance at all, as an empty chamber has at a stop. */
static bramah_status check_circuit(bramah__compiler *k)
{
  size_t first_state = 0;
  for (size_t c = 0; c < k->model->circuit.n_cylinders; c++) {
    bramah__cylinder *cylinder = &k->t.cylinder[c];
    cylinder->first_state = first_state;
    first_state += bramah__friction_states(cylinder->friction.kind);
  }
  for (size_t i = 0; i < k->source->n_volumes; i++) {
    const bramah_volume *volume = &k->source->volumes[i];
    int filled = k->t.volume[i].hose_volume > 0.0;
    for (size_t c = 0; c < k->model->circuit.n_cylinders; c++)
      filled |= !k->t.cylinder[c].endless && (k->t.cylinder[c].piston == i || k->t.cylinder[c].rod == i);
    if (!filled) return bramah__refuse(k, volume, "this volume has neither a hose nor a cylinder chamber");
  }
  for (size_t i = 0; i < k->source->n_load_sensing_pumps; i++) {
    const bramah_load_sensing_pump *pump = &k->source->load_sensing_pumps[i];
    size_t v = 0;
    while (v < k->source->n_valves && strcmp(k->source->valves[v].pump, pump->into) != 0) v++;
    if (v == k->source->n_valves)
      return bramah__refuse(k, pump,
                            "no valve has the volume of this pump for its pump port: it would sense no load");
  }
  const size_t first_turning = k->source->n_cylinders + k->source->n_metered_cylinders;
  for (size_t c = 0; c < k->model->circuit.n_cylinders; c++) {
    const bramah__cylinder *cylinder = &k->t.cylinder[c];
    if (cylinder->metered || !(cylinder->stop.stiffness > 0.0)) continue;
    if (k->t.volume[cylinder->piston].hose_volume > 0.0 && k->t.volume[cylinder->rod].hose_volume > 0.0)
      continue;
    const int line =
        c < first_turning ? k->source->cylinders[c].line : bramah__turning(k->source, c - first_turning).line;
    return bramah__refuse(k, &(bramah_named){k->model->cylinder_name[c], line},
                          "an end stop needs a hose at both volumes: an empty chamber has no compliance");
  }
  return BRAMAH_OK;
}

bramah_status bramah__build_circuit(bramah__compiler *k)
{
  bramah__circuit *circuit = &k->model->circuit;
  bramah_machine otherwise;
  bramah_machine_default(&otherwise);
  const bramah_machine *d = k->machine;
  bramah_status status = build_fluid(k);
  if (status == BRAMAH_OK) status = build_valves(k);
  if (status == BRAMAH_OK) status = build_cylinders(k);
  if (status == BRAMAH_OK) status = build_pump_lines(k);
  if (status == BRAMAH_OK) status = build_elements(k);
  if (status == BRAMAH_OK) status = check_circuit(k);
  circuit->oil_bulk_modulus = d->oil_bulk_modulus;
  circuit->transition_pressure =
      d->transition_pressure > 0.0 ? d->transition_pressure : otherwise.transition_pressure;
  circuit->air =
      (bramah__air){d->air.fraction, d->air.exponent > 0.0 ? d->air.exponent : 1.4, d->air.vapour_pressure};
  circuit->volume = k->t.volume;
  circuit->supply = k->t.supply;
  circuit->element = k->t.element;
  circuit->drive = k->t.drive;
  circuit->driven = k->t.driven;
  circuit->valve = k->t.valve;
  circuit->cylinder = k->t.cylinder;
  circuit->metered = k->t.metered;
  circuit->metered_port = k->t.metered_port;
  circuit->metered_line = k->t.metered_line;
  k->model->line = k->t.line;
  return status;
}
