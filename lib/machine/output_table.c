/* SPDX-License-Identifier: MIT */
/* What the plant of a machine shows and what can be changed in it: outputs, the columns of a simulated log, and parameters,
 * with names and units. Names of parameters exist as soon as there is memory, what they mean when the model is
 * complete. */
#include "lib/machine/compile.h"
#include "lib/base/text.h"
#include "lib/hydraulics/metering.h"

#include <math.h>
#include <string.h>

/* ---- outputs ---- */

typedef struct kind {
  bramah__output_code code;
  const char *suffix;
  const char *unit, *sliding_unit; /* the second where the joint slides */
  bramah_output_kind kind;
  int has_row, hidden;
} kind;

/* Outputs with a row; those without; and those that are no columns of a log. */
#define ROW(code, suffix, unit)                                                                              \
  {                                                                                                          \
    code, suffix, unit, NULL, BRAMAH_OUTPUT_OTHER, 1, 0                                                      \
  }
#define PLAIN(code, suffix, unit)                                                                            \
  {                                                                                                          \
    code, suffix, unit, NULL, BRAMAH_OUTPUT_OTHER, 0, 0                                                      \
  }
#define HIDDEN(code, suffix, unit)                                                                           \
  {                                                                                                          \
    code, suffix, unit, NULL, BRAMAH_OUTPUT_OTHER, 1, 1                                                      \
  }
#define STATE(suffix, unit, kind)                                                                            \
  {                                                                                                          \
    BRAMAH__VOLUME_PRESSURE, suffix, unit, NULL, kind, 1, 0                                                  \
  }
#define OF_JOINT(code, suffix, unit, sliding, kind)                                                          \
  {                                                                                                          \
    code, suffix, unit, sliding, kind, 1, 0                                                                  \
  }
#define OF_ACTUATOR(stroke, velocity, force, unit, rate, force_unit)                                         \
  ROW(BRAMAH__CYLINDER_STROKE, stroke, unit), ROW(BRAMAH__CYLINDER_VELOCITY, velocity, rate),                \
      ROW(BRAMAH__CYLINDER_FORCE, force, force_unit),                                                        \
      PLAIN(BRAMAH__CYLINDER_FRICTION, ".friction", force_unit), PLAIN(BRAMAH__CYLINDER_WORK, ".work", "J")

#define AXES(code, suffix, unit)                                                                             \
  HIDDEN(code##_X, suffix "_x", unit), HIDDEN(code##_Y, suffix "_y", unit),                                  \
      HIDDEN(code##_Z, suffix "_z", unit)

static const kind joint_kinds[] = {
    OF_JOINT(BRAMAH__JOINT_POSITION, ".angle", "rad", "m", BRAMAH_OUTPUT_POSITION),
    OF_JOINT(BRAMAH__JOINT_RATE, ".rate", "rad/s", "m/s", BRAMAH_OUTPUT_RATE),
    OF_JOINT(BRAMAH__JOINT_ACCELERATION, ".acceleration", "rad/s^2", "m/s^2", BRAMAH_OUTPUT_ACCELERATION),
};
static const kind volume_kinds[] = {STATE(".pressure", "Pa", BRAMAH_OUTPUT_FIRST_ORDER)};
static const kind flow_state_kinds[] = {STATE(".flow", "m^3/s", BRAMAH_OUTPUT_OTHER)};
static const kind pump_state_kinds[] = {STATE(".settled_flow", "m^3/s", BRAMAH_OUTPUT_OTHER)};
static const kind load_kinds[] = {STATE(".load_pressure", "Pa", BRAMAH_OUTPUT_FIRST_ORDER)};
static const kind valve_kinds[] = {PLAIN(BRAMAH__VALVE_SPOOL, ".spool", "V")};
static const kind cylinder_kinds[] = {OF_ACTUATOR(".stroke", ".velocity", ".force", "m", "m/s", "N")};
static const kind rotary_kinds[] = {OF_ACTUATOR(".angle", ".rate", ".torque", "rad", "rad/s", "N*m")};
static const kind input_kinds[] = {PLAIN(BRAMAH__INPUT_COMMAND, ".command", "V")};
static const kind energy_kinds[] = {PLAIN(BRAMAH__ENERGY_KINETIC, ".kinetic", "J"),
                                    PLAIN(BRAMAH__ENERGY_POTENTIAL, ".potential", "J")};
static const kind exchange_kinds[] = {
    {BRAMAH__ENERGY_DAMPERS, ".dampers", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 1},
    {BRAMAH__ENERGY_FRICTION, ".friction", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 1},
    {BRAMAH__ENERGY_STOPS, ".stops", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 1},
    {BRAMAH__ENERGY_LOADS, ".loads", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 1},
};
static const kind contact_exchange_kinds[] = {
    {BRAMAH__ENERGY_CONTACTS, ".contacts", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 1}};
/* Points on the ground: sums over all of a contact, along the axes of its plane; the deepest. */
static const kind contact_kinds[] = {
    ROW(BRAMAH__CONTACT_NORMAL, ".normal_force", "N"), ROW(BRAMAH__CONTACT_X, ".friction_x", "N"),
    ROW(BRAMAH__CONTACT_Y, ".friction_y", "N"), ROW(BRAMAH__CONTACT_DEPTH, ".penetration", "m")};
static const kind between_kinds[] = {
    ROW(BRAMAH__CONTACT_NORMAL, ".normal_force", "N"), ROW(BRAMAH__CONTACT_DEPTH, ".penetration", "m"),
    PLAIN(BRAMAH__BETWEEN_X, ".force_x", "N"),         PLAIN(BRAMAH__BETWEEN_Y, ".force_y", "N"),
    PLAIN(BRAMAH__BETWEEN_Z, ".force_z", "N"),         PLAIN(BRAMAH__BETWEEN_POINTS, ".points", "1"),
    PLAIN(BRAMAH__BETWEEN_TOUCHES, ".touches", "1"),   PLAIN(BRAMAH__BETWEEN_LEAVES, ".leaves", "1"),
    PLAIN(BRAMAH__BETWEEN_RESETS, ".resets", "1"),     PLAIN(BRAMAH__BETWEEN_TOUCHED, ".touched_at", "s"),
    PLAIN(BRAMAH__BETWEEN_LEFT, ".left_at", "s")};
static const kind tyre_kinds[] = {
    ROW(BRAMAH__CONTACT_NORMAL, ".normal_force", "N"), ROW(BRAMAH__CONTACT_X, ".longitudinal_force", "N"),
    ROW(BRAMAH__CONTACT_Y, ".lateral_force", "N"), ROW(BRAMAH__CONTACT_DEPTH, ".penetration", "m")};
static const kind brake_kinds[] = {ROW(BRAMAH__CONTACT_X, ".torque", "N*m")};
static const kind tool_kinds[] = {
    PLAIN(BRAMAH__TOOL_CARRIED, ".carried", "kg"), PLAIN(BRAMAH__TOOL_X, ".force_x", "N"),
    PLAIN(BRAMAH__TOOL_Y, ".force_y", "N"), PLAIN(BRAMAH__TOOL_Z, ".force_z", "N"),
    PLAIN(BRAMAH__TOOL_CUTTING, ".cutting_force", "N")};
static const kind motion_kinds[] = {
    {BRAMAH__DRIVE_FORCE, ".force", "N*m", "N", BRAMAH_OUTPUT_OTHER, 0, 0},
    {BRAMAH__DRIVE_WORK, ".work", "J", "J", BRAMAH_OUTPUT_OTHER, 0, 0},
};
/* Vectors in the axes of a body, for gyros, accelerometers and inclinometers. */
static const kind body_kinds[] = {
    AXES(BRAMAH__BODY_RATE, ".body_rate", "rad/s"),
    AXES(BRAMAH__BODY_FORCE, ".specific_force", "m/s^2"),
    AXES(BRAMAH__BODY_TURN, ".angular_acceleration", "rad/s^2"),
    AXES(BRAMAH__BODY_UP, ".up", "1"),
    HIDDEN(BRAMAH__BODY_RATE_XX, ".body_rate_xx", "rad^2/s^2"),
    HIDDEN(BRAMAH__BODY_RATE_YY, ".body_rate_yy", "rad^2/s^2"),
    HIDDEN(BRAMAH__BODY_RATE_ZZ, ".body_rate_zz", "rad^2/s^2"),
    HIDDEN(BRAMAH__BODY_RATE_XY, ".body_rate_xy", "rad^2/s^2"),
    HIDDEN(BRAMAH__BODY_RATE_XZ, ".body_rate_xz", "rad^2/s^2"),
    HIDDEN(BRAMAH__BODY_RATE_YZ, ".body_rate_yz", "rad^2/s^2"),
};
/* Flows, for flow meters; a valve's are those out of it into its ports, a motor's into a, out of b. */
static const kind element_kinds[] = {HIDDEN(BRAMAH__ELEMENT_FLOW, ".flow", "m^3/s")};
static const kind port_kinds[] = {HIDDEN(BRAMAH__VALVE_FLOW_A, ".flow_a", "m^3/s"),
                                  HIDDEN(BRAMAH__VALVE_FLOW_B, ".flow_b", "m^3/s")};
static const kind motor_kinds[] = {HIDDEN(BRAMAH__MOTOR_FLOW_A, ".flow_a", "m^3/s"),
                                   HIDDEN(BRAMAH__MOTOR_FLOW_B, ".flow_b", "m^3/s"),
                                   HIDDEN(BRAMAH__MOTOR_DRAIN, ".drain_flow", "m^3/s")};
/* Orientation of the child of a spherical or floating joint against the joint axes. */
static const kind ball_kinds[] = {ROW(BRAMAH__BALL_QW, ".qw", "1"), ROW(BRAMAH__BALL_QX, ".qx", "1"),
                                  ROW(BRAMAH__BALL_QY, ".qy", "1"), ROW(BRAMAH__BALL_QZ, ".qz", "1")};
/* Metered cylinders and pump lines. */
static const kind metered_kinds[] = {
    ROW(BRAMAH__METERED_VELOCITY, ".metered_velocity", "m/s"),
    ROW(BRAMAH__PISTON_PRESSURE, "_piston.pressure", "Pa"),
    ROW(BRAMAH__ROD_PRESSURE, "_rod.pressure", "Pa"),
    ROW(BRAMAH__METERED_FLOW, ".flow", "m^3/s"),
    ROW(BRAMAH__REGENERATION_FLOW, ".regeneration_flow", "m^3/s"),
    PLAIN(BRAMAH__METERED_VALVES, ".valves", "1"),
};
static const kind line_kinds[] = {ROW(BRAMAH__LINE_PRESSURE, ".pressure", "Pa")};

/* A run of equal things with their kinds, in the order of the columns. */
typedef struct group {
  const kind *kinds;
  size_t n_kinds;
  const char *const *names; /* NULL: "energy" */
  size_t n_things, first;   /* and number of the first */
} group;

enum { N_GROUPS = 26 };

#define KINDS(a) (a), sizeof(a) / sizeof((a)[0])

static void groups(const bramah_model *m, group *out)
{
  const bramah__circuit *c = &m->circuit;
  const size_t filled = bramah__n_filled(c), linear = c->n_cylinders - m->n_rotaries;
  const group rows[N_GROUPS] = {
      {KINDS(joint_kinds), m->joint_name, m->n, 0},
      {KINDS(volume_kinds), m->volume_name, filled, 0},
      {KINDS(flow_state_kinds), m->volume_name, c->n_lines, filled},
      {KINDS(pump_state_kinds), m->volume_name, c->n_states - c->n_lines, filled + c->n_lines},
      {KINDS(load_kinds), m->volume_name, c->n_metered, filled + c->n_states},
      {KINDS(valve_kinds), m->valve_name, c->n_valves, 0},
      {KINDS(cylinder_kinds), m->cylinder_name, linear, 0},
      {KINDS(rotary_kinds), m->cylinder_name, m->n_rotaries, linear},
      {KINDS(input_kinds), m->input_name, m->n_inputs, 0},
      {KINDS(motion_kinds), m->motion_name, m->n_motions, 0},
      {KINDS(energy_kinds), NULL, 1, 0},
      {KINDS(body_kinds), m->body_name, m->n, 0},
      {KINDS(element_kinds), m->element_name, c->n_passing, 0},
      {KINDS(port_kinds), m->valve_name, c->n_valves, 0},
      {KINDS(motor_kinds), m->element_name, c->n_motors, c->first_motor},
      {KINDS(ball_kinds), m->ball_name, m->n_balls, 0},
      {KINDS(valve_kinds), m->valve_name, c->n_metering_spools, c->n_valves},
      {KINDS(metered_kinds), m->cylinder_name, c->n_metered, linear - c->n_metered},
      {KINDS(line_kinds), m->pump_line_name, c->n_metered_lines, 0},
      {KINDS(exchange_kinds), NULL, 1, 0},
      {KINDS(contact_exchange_kinds), NULL, m->n_contacts > 0, 0},
      {KINDS(contact_kinds), m->contact_name, m->n_contacts - m->n_between - m->n_tyres - m->n_brakes, 0},
      {KINDS(between_kinds), m->contact_name, m->n_between,
       m->n_contacts - m->n_between - m->n_tyres - m->n_brakes},
      {KINDS(tyre_kinds), m->contact_name, m->n_tyres, m->n_contacts - m->n_tyres - m->n_brakes},
      {KINDS(brake_kinds), m->contact_name, m->n_brakes, m->n_contacts - m->n_brakes},
      {KINDS(tool_kinds), m->tool_name, m->n_tools, 0}};
  memcpy(out, rows, sizeof rows);
}

size_t bramah__outputs_count(const bramah_model *model)
{
  group g[N_GROUPS];
  groups(model, g);
  size_t count = 0;
  for (size_t i = 0; i < N_GROUPS; i++) count += g[i].n_things * g[i].n_kinds;
  return count + model->n_definitions;
}

void bramah__outputs_build(bramah_model *model, bramah__arena *arena)
{
  group groups_of_model[N_GROUPS];
  groups(model, groups_of_model);
  bramah__output *out = BRAMAH__TAKE(arena, bramah__output, bramah__outputs_count(model));
  model->output = out;
  model->n_outputs = 0;
  for (const group *g = groups_of_model; out && g < groups_of_model + N_GROUPS; g++)
    for (size_t i = 0; i < g->n_things * g->n_kinds; i++) {
      const size_t thing = g->first + i / g->n_kinds;
      const kind *k = &g->kinds[i % g->n_kinds];
      const size_t joint = g->kinds == motion_kinds ? model->motion[thing].joint : thing;
      const int slides = k->sliding_unit && !model->tree.link[joint].revolute;
      const char *suffix = slides && k->code == BRAMAH__JOINT_POSITION ? ".position" : k->suffix;
      if (k->code == BRAMAH__ELEMENT_FLOW) {
        const char *own = bramah__element_kinds[model->circuit.element[thing].kind]->flow_output;
        if (own) suffix = own;
      }
      out[model->n_outputs++] = (bramah__output){
          .code = k->code,
          .index = thing,
          .info = {.name = bramah__join_text(arena, g->names ? g->names[thing] : "energy", suffix),
                   .unit = slides ? k->sliding_unit : k->unit,
                   .kind = k->kind,
                   .has_row = k->has_row,
                   .hidden = k->hidden}};
    }
  for (size_t i = 0; out && i < model->n_definitions; i++) {
    const bramah__definition *of = &model->definition[i];
    out[model->n_outputs++] = (bramah__output){.code = of->is_summed ? BRAMAH__DEFINED_SUM : BRAMAH__DEFINED,
                                               .index = i,
                                               .info = {.name = of->name,
                                                        .unit = of->unit,
                                                        .kind = BRAMAH_OUTPUT_OTHER,
                                                        .has_row = !of->is_summed,
                                                        .hidden = of->hidden}};
  }
}

/* ---- parameters ---- */

/* Nearest to zero that a parameter may come which must be positive, and a mass that is taken off, as a part
 * of what it was. */
static const double little = 1e-6;

static const struct {
  const char *suffix, *unit, *turning_unit;
} parameter_kinds[] = {[BRAMAH__JOINT_LOAD] = {".load", "N", "N*m"},
                       [BRAMAH__CYLINDER_LOAD] = {".actuator_load", "N", "N*m"},
                       [BRAMAH__PAYLOAD] = {".payload", "kg", NULL},
                       [BRAMAH__LOAD_FORCE] = {".", "N", NULL}, /* then its axis */
                       [BRAMAH__SUPPLY_PRESSURE] = {".pressure", "Pa", NULL},
                       [BRAMAH__FRICTION_SCALE] = {".friction_scale", "1", NULL},
                       [BRAMAH__BULK_MODULUS] = {".bulk_modulus", "Pa", NULL},
                       [BRAMAH__ELEMENT_VALUE] = {".", NULL, NULL}, /* then its key */
                       [BRAMAH__VALVE_COEFFICIENT] = {".flow_coefficient", "m^3/s/Pa^0.5/V", NULL},
                       [BRAMAH__INPUT_OFFSET] = {".offset", "V", NULL},
                       [BRAMAH__GRAVITY_SCALE] = {".scale", "1", NULL},
                       [BRAMAH__LINE_FLOW] = {".pump_flow", "m^3/s", NULL},
                       [BRAMAH__FLOW_SCALE] = {".flow_scale", "1", NULL},
                       [BRAMAH__CONTACT_STIFFNESS] = {".stiffness", "N/m", NULL},
                       [BRAMAH__CONTACT_DAMPING] = {".damping", "N*s/m", NULL},
                       [BRAMAH__CONTACT_FRICTION] = {".friction_scale", "1", NULL},
                       [BRAMAH__CONTACT_BRISTLES] = {".", "1/m", "1/rad"}, /* then its key, as of a shaft */
                       [BRAMAH__CONTACT_PATCH] = {".patch_length", "m", NULL},
                       [BRAMAH__SHAFT_PARAMETER] = {".", NULL, NULL},
                       [BRAMAH__CONTACT_GROUND] = {".ground_height", "m", NULL}};

/* Those counted so far; where there is a model they are entered, too. */
typedef struct list {
  bramah_model *model;
  bramah__arena *arena;
  size_t n;
} list;

/* Thing i of its kind in the machine: the number stays in `index` until the model knows better. */
static void add(list *l, bramah__parameter p, const char *name, const char *more)
{
  const size_t number = l->n++;
  char text[512];
  if (!l->model) return;
  const char *parts[] = {name ? name : "", parameter_kinds[p.code].suffix, more};
  const int load = p.code == BRAMAH__JOINT_LOAD; /* the joint's own suffix comes before ours */
  size_t used = bramah__append(text, sizeof text, 0, parts[0]);
  used = bramah__append(text, sizeof text, used, parts[load ? 2 : 1]);
  bramah__append(text, sizeof text, used, parts[load ? 1 : 2]);
  p.info.name = bramah__arena_text(l->arena, text);
  if (l->model->parameter) l->model->parameter[number] = p;
}

/* One for each of n things, whose names are their first members. */
static void add_each(list *l, bramah__parameter_code code, size_t n, const void *things, size_t size)
{
  for (size_t i = 0; i < n; i++) {
    const unsigned char *thing = (const unsigned char *)things + i * size;
    add(l, (bramah__parameter){.code = code, .index = i}, ((const bramah_named *)(const void *)thing)->name,
        "");
  }
}

/* Of contacts, then tyres, brakes and clutches. */
static void add_contacts(list *l, const bramah_machine *d)
{
  for (size_t i = 0; i < d->n_contacts + d->n_tyres; i++) {
    const int is_tyre = i >= d->n_contacts;
    const bramah_tyre *tyre = is_tyre ? &d->tyres[i - d->n_contacts] : NULL;
    const bramah_contact *contact = is_tyre ? NULL : &d->contacts[i];
    const char *name = is_tyre ? tyre->name : contact->name;
    add(l, (bramah__parameter){.code = BRAMAH__CONTACT_STIFFNESS, .index = i}, name, "");
    if (is_tyre || !contact->n_between)
      add(l, (bramah__parameter){.code = BRAMAH__CONTACT_GROUND, .index = i}, name, "");
    if ((is_tyre ? tyre->damping : contact->damping) > 0.0)
      add(l, (bramah__parameter){.code = BRAMAH__CONTACT_DAMPING, .index = i}, name, "");
    if (!is_tyre && !(contact->friction.coulomb > 0.0)) continue;
    add(l, (bramah__parameter){.code = BRAMAH__CONTACT_FRICTION, .index = i}, name, "");
    if (!is_tyre && contact->n_between) continue; /* no derivatives by anything */
    add(l, (bramah__parameter){.code = BRAMAH__CONTACT_BRISTLES, .index = i}, name, "bristle_stiffness");
    if (is_tyre) add(l, (bramah__parameter){.code = BRAMAH__CONTACT_PATCH, .index = i}, name, "");
  }
  for (size_t i = 0; i < d->n_brakes + d->n_clutches; i++) {
    const int is_brake = i < d->n_brakes;
    const char *name = is_brake ? d->brakes[i].name : d->clutches[i - d->n_brakes].name;
    const size_t index = d->n_contacts + d->n_tyres + i;
    add(l, (bramah__parameter){.code = BRAMAH__CONTACT_FRICTION, .index = index}, name, "");
    add(l, (bramah__parameter){.code = BRAMAH__CONTACT_BRISTLES, .index = index}, name,
        is_brake ? "bristle_stiffness" : "stiffness");
  }
}

/* Of engines and commanded torques; of a clutch the contact has them. */
static void add_shafts(list *l, const bramah_machine *d)
{
  static const char *const keys[] = {[BRAMAH__SHAFT_SCALE] = "torque_scale",
                                     [BRAMAH__SHAFT_FRICTION] = "friction",
                                     [BRAMAH__SHAFT_IDLE_SPEED] = "idle_speed"};
  for (size_t i = 0; i < bramah__n_shafts(d); i++) {
    const bramah__shaft_thing thing = bramah__shaft_thing_at(d, i);
    const bramah_engine *engine = thing.kind == BRAMAH__ENGINE ? thing.element : NULL;
    for (size_t k = 0; k < BRAMAH__SHAFT_VALUES && thing.kind != BRAMAH__CLUTCH; k++)
      if (k == BRAMAH__SHAFT_SCALE || (engine && (k == BRAMAH__SHAFT_FRICTION || engine->idle_speed > 0.0)))
        add(l, (bramah__parameter){.code = BRAMAH__SHAFT_PARAMETER, .index = i, .value = k}, thing.of->name,
            keys[k]);
  }
}

size_t bramah__parameters_layout(const bramah_machine *d, bramah_model *model, bramah__arena *arena)
{
  list l = {.model = model, .arena = arena};
  if (model) model->parameter = BRAMAH__TAKE(arena, bramah__parameter, model->n_parameters);
  for (size_t j = 0, coordinate = 0; j < d->n_joints; j++)
    for (size_t i = 0; i < bramah_joint_n_coordinates(d->joints[j].type); i++)
      add(&l, (bramah__parameter){.code = BRAMAH__JOINT_LOAD, .index = coordinate++}, d->joints[j].name,
          bramah_joint_suffix(d->joints[j].type, i));
  add_each(&l, BRAMAH__PAYLOAD, d->n_bodies, d->bodies, sizeof *d->bodies);
  static const char *const axes[3] = {"x", "y", "z"};
  for (size_t i = 0; i < 3 * d->n_forces; i++)
    add(&l, (bramah__parameter){.code = BRAMAH__LOAD_FORCE, .index = i / 3, .value = i % 3},
        d->forces[i / 3].name, axes[i % 3]);

  const size_t nc = d->n_cylinders, nl = nc + d->n_metered_cylinders;
  for (size_t i = 0; i < nl + bramah__n_turning(d); i++) {
    const bramah_rotary turning = i < nl ? (bramah_rotary){0} : bramah__turning(d, i - nl);
    const char *name = i < nc   ? d->cylinders[i].name
                       : i < nl ? d->metered_cylinders[i - nc].name
                                : turning.name;
    const bramah_friction_model friction = i < nc   ? d->cylinders[i].friction.model
                                           : i < nl ? d->metered_cylinders[i - nc].friction.model
                                                    : turning.friction.model;
    add(&l, (bramah__parameter){.code = BRAMAH__CYLINDER_LOAD, .index = i}, name, "");
    if (friction != BRAMAH_FRICTION_NONE)
      add(&l, (bramah__parameter){.code = BRAMAH__FRICTION_SCALE, .index = i}, name, "");
  }
  add_each(&l, BRAMAH__SUPPLY_PRESSURE, d->n_supplies, d->supplies, sizeof *d->supplies);
  if (d->n_volumes) add(&l, (bramah__parameter){.code = BRAMAH__BULK_MODULUS}, "oil", "");

  const size_t n = bramah__count_elements(d).n;
  for (size_t i = 0; i < n; i++) {
    const bramah_element_kind *description;
    const bramah_named *element = bramah__element_of(d, i, &description);
    int absent = 0; /* keys behind an optional node mean nothing without it */
    size_t value = 0;
    for (const bramah_element_key *key = description->keys; key->name; key++) {
      if (key->type == BRAMAH_KEY_NODE && !key->required) {
        const char *node;
        memcpy(&node, (const unsigned char *)element + key->offset, sizeof node);
        absent = node == NULL;
      }
      if (key->type != BRAMAH_KEY_QUANTITY || key->factor_of) continue;
      if (key->parameter && !absent)
        add(&l, (bramah__parameter){.code = BRAMAH__ELEMENT_VALUE, .index = i, .value = value}, element->name,
            strcmp(key->name, "flow") == 0 ? "pump_flow" : key->name); /* flow is an output's name */
      value++;
    }
  }
  add_each(&l, BRAMAH__VALVE_COEFFICIENT, d->n_valves, d->valves, sizeof *d->valves);
  add_each(&l, BRAMAH__INPUT_OFFSET, d->n_inputs, d->inputs, sizeof *d->inputs);
  add(&l, (bramah__parameter){.code = BRAMAH__GRAVITY_SCALE}, "gravity", "");
  add_each(&l, BRAMAH__LINE_FLOW, d->n_pump_lines, d->pump_lines, sizeof *d->pump_lines);
  add_each(&l, BRAMAH__FLOW_SCALE, d->n_metered_cylinders, d->metered_cylinders,
           sizeof *d->metered_cylinders);
  add_contacts(&l, d);
  add_shafts(&l, d);
  return l.n;
}

static void positive(bramah_parameter_info *info, double nominal)
{
  info->nominal = nominal;
  info->least = little * nominal;
}

static void not_negative(bramah_parameter_info *info, double nominal)
{
  info->nominal = nominal;
  info->least = fmin(0.0, nominal);
}

/* On the link of its body or of the body that carries it. */
static bramah_status place_payload(bramah__compiler *k, bramah__parameter *p)
{
  const bramah_body *body = &k->source->bodies[p->index];
  const char *carrier = body->name;
  memcpy(p->point, body->payload_point_given ? body->payload_point : body->centre_of_mass, sizeof p->point);
  for (int axis = 0; axis < 3; axis++)
    if (!isfinite(p->point[axis]))
      return bramah__compile_fail(k, BRAMAH_E_NOT_FINITE, body, "the payload point is not finite");
  bramah__carry_point(k, &carrier, p->point);
  p->info.least = (little - 1.0) * body->mass;
  p->index = (size_t)bramah__find_name(k->model->n, k->model->body_name, carrier);
  return BRAMAH_OK;
}

/* What stands in the machine file. A contact on the ground is no contact of the model: nothing follows its parameters. */
static void fill_contact(bramah__compiler *k, bramah__parameter *p)
{
  const bramah_machine *d = k->source;
  const bramah_model *m = k->model;
  const size_t number = p->index, n_contacts = d->n_contacts, n_points = n_contacts + d->n_tyres;
  const bramah_contact *contact = number < n_contacts ? &d->contacts[number] : NULL;
  const bramah_tyre *tyre = !contact && number < n_points ? &d->tyres[number - n_contacts] : NULL;
  const size_t brake = number - n_points; /* wraps for what is before */
  const char *name = contact               ? contact->name
                     : tyre                ? tyre->name
                     : brake < d->n_brakes ? d->brakes[brake].name
                                           : d->clutches[brake - d->n_brakes].name;
  const long found = bramah__find_name(m->n_contacts, m->contact_name, name);
  const int is_hertz = contact && contact->law == BRAMAH_CONTACT_HUNT_CROSSLEY;
  p->index = found < 0 ? m->n_contacts : (size_t)found;
  switch (p->code) {
  case BRAMAH__CONTACT_STIFFNESS:
    positive(&p->info, contact ? contact->stiffness : tyre->stiffness);
    if (is_hertz) p->info.unit = "N/m^1.5";
    break;
  case BRAMAH__CONTACT_DAMPING:
    positive(&p->info, contact ? contact->damping : tyre->damping);
    if (is_hertz) p->info.unit = "s/m";
    break;
  case BRAMAH__CONTACT_BRISTLES: {
    const bramah__contact *first = found < 0 ? NULL : &m->contact_point[m->first_point[found]];
    positive(&p->info, first ? first->bristles : 1.0);
    if (!contact && !tyre) p->info.unit = parameter_kinds[p->code].turning_unit;
    if (first && first->clutch)
      positive(&p->info, first->bristles * first->pressed), p->info.unit = "N*m/rad";
    break;
  }
  case BRAMAH__CONTACT_PATCH:
    positive(&p->info, found < 0 ? 1.0 : 2.0 / m->contact_point[m->first_point[found]].rolling);
    break;
  case BRAMAH__CONTACT_GROUND:
    break;
  default:
    positive(&p->info, 1.0);
    break;
  }
}

bramah_status bramah__build_parameters(bramah__compiler *k)
{
  const bramah_model *m = k->model;
  for (size_t i = 0; i < m->n_parameters; i++) {
    bramah__parameter *p = &k->model->parameter[i];
    bramah_parameter_info *info = &p->info;
    info->least = -INFINITY;
    info->most = INFINITY;
    info->unit = parameter_kinds[p->code].unit;
    switch (p->code) {
    case BRAMAH__JOINT_LOAD: /* the tree has sorted them */
      p->index = (size_t)bramah__find_name(m->n, m->joint_name, k->machine->joints[p->index].name);
      if (m->tree.link[p->index].revolute) info->unit = parameter_kinds[p->code].turning_unit;
      break;
    case BRAMAH__CYLINDER_LOAD:
      if (m->line[p->index].is_coordinate) info->unit = parameter_kinds[p->code].turning_unit;
      break;
    case BRAMAH__PAYLOAD: {
      const bramah_status status = place_payload(k, p);
      if (status) return status;
      break;
    }
    case BRAMAH__LOAD_FORCE: {
      const bramah_force *force = &k->source->forces[p->index];
      info->nominal = force->force[p->value];
      p->point[p->value] = 1.0;
      if (force->axes == BRAMAH_AXES_BODY) bramah__carry_direction(k, force->body, p->point);
      break;
    }
    case BRAMAH__SUPPLY_PRESSURE:
      not_negative(info, m->circuit.supply[p->index]);
      break;
    case BRAMAH__FRICTION_SCALE:
      not_negative(info, 1.0);
      break;
    case BRAMAH__BULK_MODULUS:
      positive(info, m->circuit.oil_bulk_modulus);
      break;
    case BRAMAH__ELEMENT_VALUE: {
      const bramah__element *e = &m->circuit.element[p->index];
      const bramah_element_key *key =
          bramah__value_key(&bramah__element_kinds[e->kind]->description, p->value);
      (key->parameter == BRAMAH_KEY_POSITIVE ? positive : not_negative)(info, e->value[p->value]);
      info->unit = key->unit;
      break;
    }
    case BRAMAH__VALVE_COEFFICIENT:
      positive(info, m->circuit.valve[p->index].coefficient);
      break;
    case BRAMAH__GRAVITY_SCALE:
      info->nominal = 1.0;
      break;
    case BRAMAH__LINE_FLOW:
      positive(info, m->circuit.metered_line[p->index].line.Q);
      break;
    case BRAMAH__FLOW_SCALE: /* its place among the actuators sorted by lines */
      p->index = bramah__metered_of(&m->circuit, k->source->n_cylinders + p->index);
      positive(info, 1.0);
      break;
    case BRAMAH__CONTACT_STIFFNESS:
    case BRAMAH__CONTACT_DAMPING:
    case BRAMAH__CONTACT_FRICTION:
    case BRAMAH__CONTACT_BRISTLES:
    case BRAMAH__CONTACT_PATCH:
    case BRAMAH__CONTACT_GROUND:
      fill_contact(k, p);
      break;
    case BRAMAH__SHAFT_PARAMETER:
      (p->value == BRAMAH__SHAFT_FRICTION ? not_negative : positive)(info,
                                                                     m->shaft[p->index].value[p->value]);
      info->unit = p->value == BRAMAH__SHAFT_SCALE      ? "1"
                   : p->value == BRAMAH__SHAFT_FRICTION ? "N*m"
                                                        : "rad/s";
      break;
    case BRAMAH__INPUT_OFFSET:
      break;
    }
  }
  return BRAMAH_OK;
}
