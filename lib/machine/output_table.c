/* SPDX-License-Identifier: MIT */
/* What the plant of a machine can tell, with names and units: the columns of a simulated log. */
#include "lib/machine/model_internal.h"
#include "lib/base/text.h"

typedef struct kind {
  bramah__output_code code;
  const char *suffix;
  const char *unit, *sliding_unit; /* the second where the joint slides */
  bramah_output_kind kind;
  int has_row, hidden;
} kind;

static const kind joint_kinds[] = {
    {BRAMAH__JOINT_POSITION, ".angle", "rad", "m", BRAMAH_OUTPUT_POSITION, 1, 0},
    {BRAMAH__JOINT_RATE, ".rate", "rad/s", "m/s", BRAMAH_OUTPUT_RATE, 1, 0},
    {BRAMAH__JOINT_ACCELERATION, ".acceleration", "rad/s^2", "m/s^2", BRAMAH_OUTPUT_ACCELERATION, 1, 0},
};
static const kind volume_kinds[] = {
    {BRAMAH__VOLUME_PRESSURE, ".pressure", "Pa", NULL, BRAMAH_OUTPUT_FIRST_ORDER, 1, 0}};
static const kind flow_state_kinds[] = {
    {BRAMAH__VOLUME_PRESSURE, ".flow", "m^3/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0}};
static const kind load_kinds[] = {
    {BRAMAH__VOLUME_PRESSURE, ".load_pressure", "Pa", NULL, BRAMAH_OUTPUT_FIRST_ORDER, 1, 0}};
static const kind valve_kinds[] = {{BRAMAH__VALVE_SPOOL, ".spool", "V", NULL, BRAMAH_OUTPUT_OTHER, 0, 0}};
static const kind cylinder_kinds[] = {
    {BRAMAH__CYLINDER_STROKE, ".stroke", "m", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_VELOCITY, ".velocity", "m/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_FORCE, ".force", "N", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_FRICTION, ".friction", "N", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
    {BRAMAH__CYLINDER_WORK, ".work", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
};
static const kind rotary_kinds[] = {
    {BRAMAH__CYLINDER_STROKE, ".angle", "rad", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_VELOCITY, ".rate", "rad/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_FORCE, ".torque", "N*m", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__CYLINDER_FRICTION, ".friction", "N*m", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
    {BRAMAH__CYLINDER_WORK, ".work", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
};
static const kind input_kinds[] = {{BRAMAH__INPUT_COMMAND, ".command", "V", NULL, BRAMAH_OUTPUT_OTHER, 0, 0}};
static const kind energy_kinds[] = {
    {BRAMAH__ENERGY_KINETIC, ".kinetic", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
    {BRAMAH__ENERGY_POTENTIAL, ".potential", "J", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
};
static const kind motion_kinds[] = {
    {BRAMAH__DRIVE_FORCE, ".force", "N*m", "N", BRAMAH_OUTPUT_OTHER, 0, 0},
    {BRAMAH__DRIVE_WORK, ".work", "J", "J", BRAMAH_OUTPUT_OTHER, 0, 0},
};
/* Vectors in the axes of a body, for gyros, accelerometers and inclinometers: lib/plant/outputs.c. */
#define OF_BODY(code, suffix, unit)                                                                          \
  {                                                                                                          \
    code, suffix, unit, NULL, BRAMAH_OUTPUT_OTHER, 1, 1                                                      \
  }
static const kind body_kinds[] = {
    OF_BODY(BRAMAH__BODY_RATE_X, ".body_rate_x", "rad/s"),
    OF_BODY(BRAMAH__BODY_RATE_Y, ".body_rate_y", "rad/s"),
    OF_BODY(BRAMAH__BODY_RATE_Z, ".body_rate_z", "rad/s"),
    OF_BODY(BRAMAH__BODY_FORCE_X, ".specific_force_x", "m/s^2"),
    OF_BODY(BRAMAH__BODY_FORCE_Y, ".specific_force_y", "m/s^2"),
    OF_BODY(BRAMAH__BODY_FORCE_Z, ".specific_force_z", "m/s^2"),
    OF_BODY(BRAMAH__BODY_TURN_X, ".angular_acceleration_x", "rad/s^2"),
    OF_BODY(BRAMAH__BODY_TURN_Y, ".angular_acceleration_y", "rad/s^2"),
    OF_BODY(BRAMAH__BODY_TURN_Z, ".angular_acceleration_z", "rad/s^2"),
    OF_BODY(BRAMAH__BODY_UP_X, ".up_x", "1"),
    OF_BODY(BRAMAH__BODY_UP_Y, ".up_y", "1"),
    OF_BODY(BRAMAH__BODY_UP_Z, ".up_z", "1"),
    OF_BODY(BRAMAH__BODY_RATE_XX, ".body_rate_xx", "rad^2/s^2"),
    OF_BODY(BRAMAH__BODY_RATE_YY, ".body_rate_yy", "rad^2/s^2"),
    OF_BODY(BRAMAH__BODY_RATE_ZZ, ".body_rate_zz", "rad^2/s^2"),
    OF_BODY(BRAMAH__BODY_RATE_XY, ".body_rate_xy", "rad^2/s^2"),
    OF_BODY(BRAMAH__BODY_RATE_XZ, ".body_rate_xz", "rad^2/s^2"),
    OF_BODY(BRAMAH__BODY_RATE_YZ, ".body_rate_yz", "rad^2/s^2"),
};
/* Flows, for flow meters; a valve's are those out of it into its ports. */
#define FLOW(code, suffix)                                                                                   \
  {                                                                                                          \
    code, suffix, "m^3/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 1                                                   \
  }
static const kind element_kinds[] = {FLOW(BRAMAH__ELEMENT_FLOW, ".flow")};
static const kind port_kinds[] = {FLOW(BRAMAH__VALVE_FLOW_A, ".flow_a"),
                                  FLOW(BRAMAH__VALVE_FLOW_B, ".flow_b")};

/* Orientation of the child of a spherical or floating joint against the joint axes. */
static const kind ball_kinds[] = {
    {BRAMAH__BALL_QW, ".qw", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QX, ".qx", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QY, ".qy", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QZ, ".qz", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
};

/* Metered cylinders and pump lines: lib/plant/outputs.c. */
static const kind metered_kinds[] = {
    {BRAMAH__METERED_VELOCITY, ".metered_velocity", "m/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__PISTON_PRESSURE, "_piston.pressure", "Pa", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__ROD_PRESSURE, "_rod.pressure", "Pa", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__METERED_FLOW, ".flow", "m^3/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__REGENERATION_FLOW, ".regeneration_flow", "m^3/s", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__METERED_VALVES, ".valves", "1", NULL, BRAMAH_OUTPUT_OTHER, 0, 0},
};
static const kind line_kinds[] = {
    {BRAMAH__LINE_PRESSURE, ".pressure", "Pa", NULL, BRAMAH_OUTPUT_OTHER, 1, 0}};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A run of equal things with their kinds, in the order of the columns. */
typedef struct group {
  size_t n_things, n_kinds;
  const kind *kinds;
  const char *const *names; /* NULL: "energy" */
  size_t first;             /* number of the first thing */
} group;

enum { N_GROUPS = 17 };

static void groups(const bramah_model *model, group *out)
{
  const bramah__circuit *circuit = &model->circuit;
  const size_t linear = circuit->n_cylinders - model->n_rotaries;
  out[0] = (group){model->n, COUNT(joint_kinds), joint_kinds, model->joint_name, 0};
  const size_t filled = bramah__n_filled(circuit), loads = filled + circuit->n_lines;
  out[1] = (group){filled, COUNT(volume_kinds), volume_kinds, model->volume_name, 0};
  out[2] = (group){circuit->n_lines, COUNT(flow_state_kinds), flow_state_kinds, model->volume_name, filled};
  out[3] = (group){circuit->n_metered, COUNT(load_kinds), load_kinds, model->volume_name, loads};
  out[4] = (group){circuit->n_valves, COUNT(valve_kinds), valve_kinds, model->valve_name, 0};
  out[5] = (group){linear, COUNT(cylinder_kinds), cylinder_kinds, model->cylinder_name, 0};
  out[6] = (group){model->n_rotaries, COUNT(rotary_kinds), rotary_kinds, model->cylinder_name, linear};
  out[7] = (group){model->n_inputs, COUNT(input_kinds), input_kinds, model->input_name, 0};
  out[8] = (group){model->n_motions, COUNT(motion_kinds), motion_kinds, model->motion_name, 0};
  out[9] = (group){1, COUNT(energy_kinds), energy_kinds, NULL, 0};
  out[10] = (group){model->n, COUNT(body_kinds), body_kinds, model->body_name, 0};
  out[11] = (group){circuit->n_passing, COUNT(element_kinds), element_kinds, model->element_name, 0};
  out[12] = (group){circuit->n_valves, COUNT(port_kinds), port_kinds, model->valve_name, 0};
  out[13] = (group){model->n_balls, COUNT(ball_kinds), ball_kinds, model->ball_name, 0};
  out[14] = (group){circuit->n_metering_spools, COUNT(valve_kinds), valve_kinds, model->valve_name,
                    circuit->n_valves};
  out[15] = (group){circuit->n_metered, COUNT(metered_kinds), metered_kinds, model->cylinder_name,
                    linear - circuit->n_metered};
  out[16] = (group){circuit->n_metered_lines, COUNT(line_kinds), line_kinds, model->pump_line_name, 0};
}

size_t bramah__outputs_count(const bramah_model *model)
{
  group g[N_GROUPS];
  groups(model, g);
  size_t count = 0;
  for (size_t i = 0; i < N_GROUPS; i++) count += g[i].n_things * g[i].n_kinds;
  return count;
}

const char *bramah__join_text(bramah__arena *arena, const char *name, const char *suffix)
{
  char text[512];
  const size_t used = bramah__append(text, sizeof text, 0, name ? name : "");
  bramah__append(text, sizeof text, used, suffix);
  return bramah__arena_text(arena, text);
}

static bramah__output make_output(const bramah_model *model, bramah__arena *arena, const group *g,
                                  size_t thing, const kind *k)
{
  const size_t joint = g->kinds == motion_kinds ? model->motion[thing].joint : thing;
  const int slides = k->sliding_unit && !model->tree.link[joint].revolute;
  const char *suffix = slides && k->code == BRAMAH__JOINT_POSITION ? ".position" : k->suffix;
  if (k->code == BRAMAH__ELEMENT_FLOW) {
    const char *own = bramah__element_kinds[model->circuit.element[thing].kind]->flow_output;
    if (own) suffix = own;
  }
  bramah__output out = {.code = k->code, .index = thing};
  out.info.name = bramah__join_text(arena, g->names ? g->names[thing] : "energy", suffix);
  out.info.unit = slides ? k->sliding_unit : k->unit;
  out.info.kind = k->kind;
  out.info.has_row = k->has_row;
  out.info.hidden = k->hidden;
  return out;
}

void bramah__outputs_build(bramah_model *model, bramah__arena *arena)
{
  group g[N_GROUPS];
  groups(model, g);
  bramah__output *out = BRAMAH__TAKE(arena, bramah__output, bramah__outputs_count(model));
  size_t count = 0;
  for (size_t i = 0; i < N_GROUPS; i++)
    for (size_t thing = 0; thing < g[i].n_things; thing++)
      for (size_t k = 0; k < g[i].n_kinds; k++)
        if (out) out[count++] = make_output(model, arena, &g[i], g[i].first + thing, &g[i].kinds[k]);
  model->output = out;
  model->n_outputs = count;
}
