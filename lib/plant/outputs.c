/* SPDX-License-Identifier: MIT */
/* What the plant can tell: joint motion, pressures, spools, cylinders, energies, flows; and how each depends
 * on the error state. */
#include "lib/plant/coupled_internal.h"
#include "lib/base/text.h"
#include "lib/math/vector3.h"

#include <math.h>
#include <string.h>

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
/* Vectors in the axes of a body, for gyros, accelerometers and inclinometers: output_bodies.c. */
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
static const kind throttle_kinds[] = {FLOW(BRAMAH__THROTTLE_FLOW, ".flow")};
static const kind leakage_kinds[] = {FLOW(BRAMAH__LEAKAGE_FLOW, ".flow")};
static const kind check_valve_kinds[] = {FLOW(BRAMAH__CHECK_VALVE_FLOW, ".flow")};
static const kind relief_valve_kinds[] = {FLOW(BRAMAH__RELIEF_VALVE_FLOW, ".flow")};
static const kind pump_kinds[] = {FLOW(BRAMAH__PUMP_FLOW, ".flow")};
static const kind port_kinds[] = {FLOW(BRAMAH__VALVE_FLOW_A, ".flow_a"),
                                  FLOW(BRAMAH__VALVE_FLOW_B, ".flow_b")};

/* Orientation of the child of a spherical or floating joint against the joint axes. */
static const kind ball_kinds[] = {
    {BRAMAH__BALL_QW, ".qw", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QX, ".qx", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QY, ".qy", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
    {BRAMAH__BALL_QZ, ".qz", "1", NULL, BRAMAH_OUTPUT_OTHER, 1, 0},
};

/* Metered cylinders and pump lines: output_metered.c. */
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

enum { N_GROUPS = 20 };

static void groups(const bramah_model *model, group *out)
{
  const bramah__circuit *circuit = &model->circuit;
  const size_t linear = circuit->n_cylinders - model->n_rotaries;
  out[0] = (group){model->n, COUNT(joint_kinds), joint_kinds, model->joint_name, 0};
  const size_t filled = circuit->n_volumes - circuit->n_metered;
  out[1] = (group){filled, COUNT(volume_kinds), volume_kinds, model->volume_name, 0};
  out[2] = (group){circuit->n_metered, COUNT(load_kinds), load_kinds, model->volume_name, filled};
  out[3] = (group){circuit->n_valves, COUNT(valve_kinds), valve_kinds, model->valve_name, 0};
  out[4] = (group){linear, COUNT(cylinder_kinds), cylinder_kinds, model->cylinder_name, 0};
  out[5] = (group){model->n_rotaries, COUNT(rotary_kinds), rotary_kinds, model->cylinder_name, linear};
  out[6] = (group){model->n_inputs, COUNT(input_kinds), input_kinds, model->input_name, 0};
  out[7] = (group){model->n_motions, COUNT(motion_kinds), motion_kinds, model->motion_name, 0};
  out[8] = (group){1, COUNT(energy_kinds), energy_kinds, NULL, 0};
  out[9] = (group){model->n, COUNT(body_kinds), body_kinds, model->body_name, 0};
  out[10] = (group){circuit->n_throttles, COUNT(throttle_kinds), throttle_kinds, model->throttle_name, 0};
  out[11] = (group){circuit->n_leakages, COUNT(leakage_kinds), leakage_kinds, model->leakage_name, 0};
  out[12] = (group){circuit->n_check_valves, COUNT(check_valve_kinds), check_valve_kinds,
                    model->check_valve_name, 0};
  out[13] = (group){circuit->n_relief_valves, COUNT(relief_valve_kinds), relief_valve_kinds,
                    model->relief_valve_name, 0};
  out[14] = (group){circuit->n_pumps, COUNT(pump_kinds), pump_kinds, model->pump_name, 0};
  out[15] = (group){circuit->n_valves, COUNT(port_kinds), port_kinds, model->valve_name, 0};
  out[16] = (group){model->n_balls, COUNT(ball_kinds), ball_kinds, model->ball_name, 0};
  out[17] = (group){circuit->n_metering_spools, COUNT(valve_kinds), valve_kinds, model->valve_name,
                    circuit->n_valves};
  out[18] = (group){circuit->n_metered, COUNT(metered_kinds), metered_kinds, model->cylinder_name,
                    linear - circuit->n_metered};
  out[19] = (group){circuit->n_metered_lines, COUNT(line_kinds), line_kinds, model->pump_line_name, 0};
}

size_t bramah__outputs_count(const bramah_model *model)
{
  group g[N_GROUPS];
  groups(model, g);
  size_t count = 0;
  for (size_t i = 0; i < N_GROUPS; i++) count += g[i].n_things * g[i].n_kinds;
  return count;
}

static const char *compose(bramah__arena *arena, const char *name, const char *suffix)
{
  char text[512];
  size_t used = bramah__append(text, sizeof text, 0, name);
  bramah__append(text, sizeof text, used, suffix);
  return bramah__arena_text(arena, text);
}

static bramah__output make_output(const bramah_model *model, bramah__arena *arena, const group *g,
                                  size_t thing, const kind *k)
{
  const size_t joint = g->kinds == motion_kinds ? model->motion[thing].joint : thing;
  const int slides = k->sliding_unit && !model->tree.link[joint].revolute;
  const char *suffix = slides && k->code == BRAMAH__JOINT_POSITION ? ".position" : k->suffix;
  bramah__output out = {.code = k->code, .index = thing};
  out.info.name = compose(arena, g->names ? g->names[thing] : "energy", suffix);
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

/* Coordinate of a spherical joint: its angle, rate or acceleration against the axes of the model. */
static double ball_value(const bramah_coupled *c, bramah__output_code code, size_t joint)
{
  const size_t b = c->model->ball_of[joint] - 1, k = joint - c->model->ball[b].first;
  double motion[3][3];
  bramah__ball_motion(c->model, &c->state, b, motion[0], motion[1], motion[2]);
  return motion[code - BRAMAH__JOINT_POSITION][k];
}

static double quaternion_value(const bramah_coupled *c, const bramah__output *output)
{
  double q[4];
  bramah__ball_quaternion(c->model, &c->state, output->index, q);
  return q[output->code - BRAMAH__BALL_QW];
}

static double joint_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t j = output->index;
  if (c->model->ball_of[j]) return ball_value(c, output->code, j);
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
    return c->state.z[j];
  case BRAMAH__JOINT_RATE:
    return c->state.zd[j];
  default:
    return c->state.zdd[j];
  }
}

static double mechanical_value(const bramah_coupled *c, const bramah__output *output)
{
  const bramah_model *model = c->model;
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
  case BRAMAH__JOINT_ACCELERATION:
    return joint_value(c, output);
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ:
    return quaternion_value(c, output);
  case BRAMAH__DRIVE_FORCE:
    return c->state.drive[output->index];
  case BRAMAH__DRIVE_WORK:
    return c->state.drive_work[output->index];
  case BRAMAH__ENERGY_KINETIC:
    return bramah__tree_kinetic(&model->tree, c->now->pose, c->now->Z);
  case BRAMAH__ENERGY_POTENTIAL:
    return bramah__tree_potential(&model->tree, c->now->pose) +
           bramah__forces_potential(&model->forces, c->now->pose, c->state.z) - model->potential0;
  default:
    return NAN;
  }
}

static double hydraulic_value(const bramah_coupled *c, const bramah__output *output)
{
  const size_t i = output->index;
  switch (output->code) {
  case BRAMAH__VOLUME_PRESSURE:
    return c->state.p[i];
  case BRAMAH__VALVE_SPOOL:
    return c->state.U[i];
  case BRAMAH__CYLINDER_STROKE:
    return c->now->s[i];
  case BRAMAH__CYLINDER_VELOCITY:
    return c->now->v[i];
  case BRAMAH__CYLINDER_FORCE:
    return c->now->force[i] - c->model->circuit.cylinder[i].load;
  case BRAMAH__CYLINDER_FRICTION:
    return c->now->friction[i];
  case BRAMAH__CYLINDER_WORK:
    return c->state.work[i];
  case BRAMAH__INPUT_COMMAND:
    return c->state.u[i];
  default:
    return NAN;
  }
}

double bramah__output_value(void *self, size_t i)
{
  bramah_coupled *c = self;
  if (bramah__refresh(c, NULL) != BRAMAH_OK) return NAN;
  const bramah__output *output = &c->model->output[i];
  if (bramah__is_flow(output->code)) return bramah__output_flow(c, output, NULL);
  if (bramah__is_of_body(output->code)) return bramah__body_value(c, output);
  if (bramah__is_metered(output->code)) return bramah__metered_value(c, output);
  switch (output->code) {
  case BRAMAH__VOLUME_PRESSURE:
  case BRAMAH__VALVE_SPOOL:
  case BRAMAH__CYLINDER_STROKE:
  case BRAMAH__CYLINDER_VELOCITY:
  case BRAMAH__CYLINDER_FORCE:
  case BRAMAH__CYLINDER_FRICTION:
  case BRAMAH__CYLINDER_WORK:
  case BRAMAH__INPUT_COMMAND:
    return hydraulic_value(c, output);
  default:
    return mechanical_value(c, output);
  }
}

/* Turns of a ball by its coordinates, and by its coordinates at constant rates: X and U at the state. */
static void turn_partials(const bramah_coupled *c, size_t ball, double *X, double *U)
{
  const size_t j = c->model->ball[ball].first;
  bramah__turn_matrix(c->state.z + j, X);
  bramah__turn_gradient(c->state.z + j, c->state.zd + j, U);
}

/* An angle of a ball and its rate by the coordinates: X(g) dg = X(z) dz, because both are the same small
 * turn, and X(g) dg' + U(g, g') dg = X(z) dz' + U(z, z') dz. */
static void ball_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], X[9], U[9], Xi[9], Ug[9], G[9], UG[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, NULL);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  double *rest = output->code == BRAMAH__JOINT_POSITION ? a : b;
  memcpy(rest + j, G + 3 * k, 3 * sizeof *G);
  if (rest == a) return;
  bramah__turn_gradient(g, gd, Ug);
  bramah__multiply3(Ug, G, UG);
  for (int i = 0; i < 9; i++) U[i] -= UG[i];
  bramah__multiply3(Xi, U, G);
  memcpy(a + j, G + 3 * k, 3 * sizeof *G);
}

/* M -= A B, all [9] */
static void subtract_product(const double *A, const double *B, double *M)
{
  double AB[9];
  bramah__multiply3(A, B, AB);
  for (int k = 0; k < 9; k++) M[k] -= AB[k];
}

/* How X a'' + U a', the angular acceleration about the axes of the child, follows a and a': P, Q [9]. */
static void turn_acceleration_partials(const double *a, const double *ad, const double *add, double *P,
                                       double *Q)
{
  double U[9];
  bramah__turn_curvature(a, ad, P, Q);
  bramah__turn_gradient(a, add, U);
  for (int k = 0; k < 9; k++) P[k] += U[k];
}

/* The same for the acceleration of an angle g: both sides of X(g) g'' + U(g, g') g' = X(z) z'' + U(z, z') z'
 * change alike, with dg = G dz and dg' = G dz' + V dz from the two equations above. */
static void ball_acceleration_partials(const bramah_coupled *c, const bramah__output *output, double *a,
                                       double *b, double *q)
{
  const size_t ball = c->model->ball_of[output->index] - 1, j = c->model->ball[ball].first,
               k = output->index - j;
  double g[3], gd[3], gdd[3], X[9], U[9], Xi[9], Ug[9], G[9], V[9], P[9], Q[9], Pg[9], Qg[9];
  bramah__ball_motion(c->model, &c->state, ball, g, gd, gdd);
  turn_partials(c, ball, X, U);
  bramah__turn_inverse(g, Xi);
  bramah__multiply3(Xi, X, G);
  bramah__turn_gradient(g, gd, Ug);
  subtract_product(Ug, G, U);
  bramah__multiply3(Xi, U, V);
  turn_acceleration_partials(c->state.z + j, c->state.zd + j, c->state.zdd + j, P, Q);
  turn_acceleration_partials(g, gd, gdd, Pg, Qg);
  subtract_product(Pg, G, P);
  subtract_product(Qg, V, P);
  subtract_product(Qg, G, Q);
  for (size_t l = 0; l < 3; l++)
    for (size_t m = 0; m < 3; m++) {
      a[j + l] += Xi[3 * k + m] * P[3 * m + l];
      b[j + l] += Xi[3 * k + m] * Q[3 * m + l];
    }
  memcpy(q + j, G + 3 * k, 3 * sizeof *G);
}

/* Does the coordinate stand for itself, as all do but those of a ball that has been re-based? */
static int is_plain(const bramah_coupled *c, size_t joint)
{
  const size_t ball = c->model->ball_of[joint];
  return !ball || bramah__quaternion_is_identity(c->state.base + 4 * (ball - 1));
}

static void quaternion_partials(const bramah_coupled *c, const bramah__output *output, double *a)
{
  const size_t ball = output->index;
  const double *row;
  double q[4], dq[12], X[9], U[9];
  bramah__ball_quaternion(c->model, &c->state, ball, q);
  bramah__quaternion_by_turns(q, dq);
  turn_partials(c, ball, X, U);
  row = dq + 3 * (output->code - BRAMAH__BALL_QW);
  for (size_t k = 0; k < 3; k++)
    for (size_t l = 0; l < 3; l++) a[c->model->ball[ball].first + k] += row[l] * X[3 * l + k];
}

/* The force of a cylinder by the joints. Pressures are added by pressure_part. */
static void force_partials(const bramah_coupled *c, size_t i, double *a, double *b)
{
  const size_t n = c->model->n;
  const double *row = c->now->row + i * n;
  double by_s, by_v;
  bramah__force_slopes(c, i, &by_s, &by_v);
  bramah__line_rate_derivative(&c->model->tree, &c->model->line[i], c->now->pose, c->now->Z, a);
  for (size_t j = 0; j < n; j++) {
    a[j] = by_v * a[j] + by_s * row[j];
    b[j] = by_v * row[j];
  }
}

/* Derivatives of an output by all joint positions a [n], rates b [n] and accelerations q [n]; 0 if it has
 * none. */
static int mechanical_partials(const bramah_coupled *c, const bramah__output *output, double *a, double *b,
                               double *q)
{
  const bramah_model *model = c->model;
  const size_t n = model->n, i = output->index;
  memset(a, 0, n * sizeof *a);
  memset(b, 0, n * sizeof *b);
  memset(q, 0, n * sizeof *q);
  if (bramah__is_of_body(output->code)) {
    bramah__body_partials(c, output, a, b, q);
    return 1;
  }
  switch (output->code) {
  case BRAMAH__JOINT_POSITION:
  case BRAMAH__JOINT_RATE:
    if (!is_plain(c, i))
      ball_partials(c, output, a, b);
    else
      (output->code == BRAMAH__JOINT_POSITION ? a : b)[i] = 1.0;
    return 1;
  case BRAMAH__JOINT_ACCELERATION:
    if (is_plain(c, i))
      q[i] = 1.0;
    else
      ball_acceleration_partials(c, output, a, b, q);
    return 1;
  case BRAMAH__BALL_QW:
  case BRAMAH__BALL_QX:
  case BRAMAH__BALL_QY:
  case BRAMAH__BALL_QZ:
    quaternion_partials(c, output, a);
    return 1;
  case BRAMAH__CYLINDER_STROKE:
    memcpy(a, c->now->row + i * n, n * sizeof *a);
    return 1;
  case BRAMAH__CYLINDER_VELOCITY:
    memcpy(b, c->now->row + i * n, n * sizeof *b);
    bramah__line_rate_derivative(&model->tree, &model->line[i], c->now->pose, c->now->Z, a);
    return 1;
  case BRAMAH__CYLINDER_FORCE:
    force_partials(c, i, a, b);
    return 1;
  default:
    return 0;
  }
}

static int all_zero(size_t n, const double *x)
{
  for (size_t i = 0; i < n; i++)
    if (x[i] != 0.0) return 0;
  return 1;
}

/* What an output has of the pressures directly, row [2 nf + n_volumes]; 1 if that is all. */
static int pressure_part(const bramah_coupled *c, const bramah__output *output, double *row)
{
  double *by_p = row + 2 * c->model->n_independent;
  if (output->code == BRAMAH__CYLINDER_FORCE) {
    const bramah__cylinder *cylinder = &c->model->circuit.cylinder[output->index];
    by_p[cylinder->piston] += cylinder->piston_area;
    by_p[cylinder->rod] -= cylinder->rod_area;
    return 0;
  }
  if (output->code == BRAMAH__VOLUME_PRESSURE) by_p[output->index] = 1.0;
  if (bramah__is_flow(output->code)) bramah__output_flow(c, output, by_p);
  return output->code == BRAMAH__VOLUME_PRESSURE || bramah__is_flow(output->code);
}

/* row += [ a Rz + b D, b Rz, 0 ] */
static void add_motion(bramah_coupled *c, const double *a, const double *b, double *row)
{
  const size_t n = c->model->n, nf = c->model->n_independent;
  const int moving = !all_zero(n, b);
  if (moving) bramah__rate_derivative(c->model, &c->state, c->now);
  for (size_t f = 0; f < nf; f++)
    for (size_t j = 0; j < n; j++) {
      row[f] += a[j] * c->now->Rz[j * nf + f] + (moving ? b[j] * c->now->D[j * nf + f] : 0.0);
      row[nf + f] += b[j] * c->now->Rz[j * nf + f];
    }
}

/* row += q Q, Q all joint accelerations by the error state. */
static void add_acceleration(const bramah_coupled *c, const double *q, double *row)
{
  const size_t ne = 2 * c->model->n_independent + c->model->circuit.n_volumes;
  for (size_t j = 0; j < c->model->n; j++)
    for (size_t k = 0; q[j] != 0.0 && k < ne; k++) row[k] += q[j] * c->Q[j * ne + k];
}

bramah_status bramah__output_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  const bramah__output *output = &c->model->output[i];
  const int accelerates =
      output->code == BRAMAH__JOINT_ACCELERATION || bramah__body_accelerates(output->code);
  memset(row, 0, (2 * c->model->n_independent + c->model->circuit.n_volumes) * sizeof *row);
  if (pressure_part(c, output, row)) return BRAMAH_OK;
  if (accelerates) status = bramah__joint_acceleration_rows(c);
  if (status != BRAMAH_OK) return status;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  double *by_p = row + 2 * c->model->n_independent;
  const int known = mechanical_partials(c, output, a, b, q);
  if (bramah__is_metered(output->code) && output->code != BRAMAH__METERED_VALVES)
    bramah__metered_partials(c, output, by_p, a, b);
  else if (!known)
    return BRAMAH_E_UNSUPPORTED;
  else if (output->code == BRAMAH__CYLINDER_FORCE && c->model->circuit.cylinder[output->index].metered)
    bramah__drag_partials(c, output->index, by_p, a, b);
  add_motion(c, a, b, row);
  if (accelerates) add_acceleration(c, q, row);
  return BRAMAH_OK;
}

/* The angles of spherical and floating joints are no measure of uncertainty: near a pitch of +-90 deg a
 * small turn of the body moves yaw and roll by any amount. Their standard deviations and noise mean small
 * turns of the child about its own axes, z for the yaw, y for the pitch, x for the roll: row = (X Rz) of
 * that turn. */
bramah_status bramah__noise_row(void *self, size_t i, double *row)
{
  bramah_coupled *c = self;
  const bramah_model *model = c->model;
  const bramah__output *output = &model->output[i];
  if (output->code != BRAMAH__JOINT_POSITION || !model->ball_of[output->index]) return BRAMAH_E_UNSUPPORTED;
  const bramah_status status = bramah__refresh(c, NULL);
  if (status != BRAMAH_OK) return status;
  const size_t ball = model->ball_of[output->index] - 1, j = model->ball[ball].first, k = output->index - j,
               nf = model->n_independent;
  double X[9], U[9];
  turn_partials(c, ball, X, U);
  memset(row, 0, (2 * nf + model->circuit.n_volumes) * sizeof *row);
  for (size_t f = 0; f < nf; f++)
    for (size_t l = 0; l < 3; l++) row[f] += X[3 * k + l] * c->now->Rz[(j + l) * nf + f];
  return BRAMAH_OK;
}

void bramah__output_by_acceleration(bramah_coupled *c, size_t i, double *row)
{
  const size_t n = c->model->n, nf = c->model->n_independent;
  double *a = c->probe_state.z, *b = c->probe_state.zd, *q = c->probe_state.zdd;
  memset(row, 0, nf * sizeof *row);
  if (!mechanical_partials(c, &c->model->output[i], a, b, q)) return;
  for (size_t j = 0; j < n; j++)
    for (size_t f = 0; f < nf; f++) row[f] += q[j] * c->now->Rz[j * nf + f];
}
