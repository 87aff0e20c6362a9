/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies, joints, loops, springs, loads and prescribed motions of a machine file. */
#define _GNU_SOURCE /* locale_t */
#include "bramah/machine.h"
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <string.h>

/* ---- bodies ---- */

static bramah_status finish_body(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_body *body = object;
  if (strcmp(body->name, "ground") != 0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                          "'ground' is the inertial frame and cannot be a body's name");
}

static bramah_status read_payload_point(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  bramah_body *body = object;
  body->payload_point_given = 1;
  return bramah__read_vector(reader, item, key, object);
}

static const bramah__key body_keys[] = {
    BRAMAH__KEY("mass", bramah__read_quantity, bramah_body, mass, .required = 1, .unit = "kg",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("centre_of_mass", bramah__read_vector, bramah_body, centre_of_mass, .unit = "m", .count = 3),
    BRAMAH__KEY("inertia", bramah__read_vector, bramah_body, inertia, .unit = "kg*m^2", .count = 3,
                .other_count = 6, .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("payload_point", read_payload_point, bramah_body, payload_point, .unit = "m", .count = 3),
    {0}};

const bramah__table bramah__body_table = {
    .keys = body_keys, .size = sizeof(bramah_body), .finish = finish_body};

/* ---- joints ---- */

static const bramah__word joint_types[] = {{"revolute", BRAMAH_JOINT_REVOLUTE},
                                           {"prismatic", BRAMAH_JOINT_PRISMATIC},
                                           {"fixed", BRAMAH_JOINT_FIXED},
                                           {"cylindrical", BRAMAH_JOINT_CYLINDRICAL},
                                           {"universal", BRAMAH_JOINT_UNIVERSAL},
                                           {"planar", BRAMAH_JOINT_PLANAR},
                                           {"spherical", BRAMAH_JOINT_SPHERICAL},
                                           {"floating", BRAMAH_JOINT_FLOATING},
                                           {NULL, 0}};

static int coordinate_slides(bramah_joint_type type, size_t i)
{
  return type == BRAMAH_JOINT_PRISMATIC || (type == BRAMAH_JOINT_CYLINDRICAL && i == 0) ||
         (type == BRAMAH_JOINT_PLANAR && i < 2) || (type == BRAMAH_JOINT_FLOATING && i < 3);
}

/* The unit of the key where the coordinate turns, its other unit where it slides. A compound joint has a list
 * with one value for each coordinate, into double [6] at key->stride. */
static bramah_status read_by_type(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_joint_type type = ((const bramah_joint *)object)->type;
  const size_t n = bramah_joint_n_coordinates(type);
  const int compound = type != BRAMAH_JOINT_REVOLUTE && type != BRAMAH_JOINT_PRISMATIC;
  bramah_status status = BRAMAH_OK;
  if (type == BRAMAH_JOINT_FIXED) return BRAMAH_OK; /* finish_joint refuses it */
  if (compound && (item->node->kind != BRAMAH__NODE_LIST || item->node->n != n))
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "a list with one value for each coordinate of the joint is expected: %zu", n);
  for (size_t i = 0; !status && i < n; i++) {
    const bramah__item one = compound ? bramah__item_at(item, i) : *item;
    bramah__key by_type = *key;
    if (compound) by_type.offset = key->stride + i * sizeof(double);
    if (coordinate_slides(type, i)) by_type.unit = key->other_unit;
    by_type.other_unit = NULL;
    status = bramah__read_quantity(reader, &one, &by_type, object);
  }
  return status;
}

static bramah_status read_initial(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_joint *joint = object;
  joint->initial = BRAMAH_INITIAL_GIVEN;
  return read_by_type(reader, item, key, object);
}

/* R = Rz(yaw) Ry(pitch) Rx(roll): turned about the fixed axes x, y, z in this order. */
static bramah_status read_rotation(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  double *R = ((bramah_joint *)object)->rotation, angle[3];
  bramah__key angles = *key;
  angles.offset = 0;
  const bramah_status status = bramah__read_vector(reader, item, &angles, angle);
  if (status) return status;
  const double cr = cos(angle[0]), sr = sin(angle[0]);
  const double cp = cos(angle[1]), sp = sin(angle[1]);
  const double cy = cos(angle[2]), sy = sin(angle[2]);
  R[0] = cy * cp;
  R[1] = cy * sp * sr - sy * cr;
  R[2] = cy * sp * cr + sy * sr;
  R[3] = sy * cp;
  R[4] = sy * sp * sr + cy * cr;
  R[5] = sy * sp * cr - cy * sr;
  R[6] = -sp;
  R[7] = cp * sr;
  R[8] = cp * cr;
  return BRAMAH_OK;
}

/* A key that some types need and the others must not have. */
static bramah_status check_belongs(bramah__reader *reader, const bramah__item *item, const char *key,
                                   int needed)
{
  bramah__item found;
  const int given = bramah__item_find(item, key, &found);
  if (given == needed) return BRAMAH_OK;
  if (needed) return bramah__fail_missing(reader, item, key);
  return bramah__fail_key(reader, &found, BRAMAH_E_KEY, "'%s' does not belong to this type", key);
}

static bramah_status finish_joint(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_joint_type type = ((const bramah_joint *)object)->type;
  bramah__item guess, initial;
  const int fixed = type == BRAMAH_JOINT_FIXED;
  const int two = type == BRAMAH_JOINT_UNIVERSAL || type == BRAMAH_JOINT_PLANAR;
  const int any_axis = type == BRAMAH_JOINT_SPHERICAL || type == BRAMAH_JOINT_FLOATING;
  bramah_status status = check_belongs(reader, item, "axis", !fixed && !any_axis);
  if (!status) status = check_belongs(reader, item, "second_axis", two);
  /* A welded body has no coordinate that could start anywhere. */
  if (!status && fixed) status = check_belongs(reader, item, "initial", 0);
  if (!status && fixed) status = check_belongs(reader, item, "guess", 0);
  if (!status && fixed) status = check_belongs(reader, item, "rate", 0);
  if (status) return status;
  if (!bramah__item_find(item, "guess", &guess) || !bramah__item_find(item, "initial", &initial))
    return BRAMAH_OK;
  return bramah__fail_key(
      reader, &guess, BRAMAH_E_KEY,
      "'guess' and 'initial' exclude each other: a position is either to be found or given");
}

static const bramah__key joint_keys[] = {
    BRAMAH__KEY("type", bramah__read_word, bramah_joint, type, .required = 1, .words = joint_types),
    BRAMAH__KEY("parent", bramah__read_name, bramah_joint, parent, .required = 1),
    BRAMAH__KEY("child", bramah__read_name, bramah_joint, child, .required = 1),
    BRAMAH__KEY("position", bramah__read_vector, bramah_joint, position, .unit = "m", .count = 3),
    {.name = "rotation", .read = read_rotation, .unit = "rad", .count = 3},
    BRAMAH__KEY("axis", bramah__read_direction, bramah_joint, axis, .required = 0),
    BRAMAH__KEY("second_axis", bramah__read_direction, bramah_joint, second_axis, .required = 0),
    BRAMAH__KEY("initial", read_initial, bramah_joint, initial_position, .unit = "rad", .other_unit = "m",
                .stride = offsetof(bramah_joint, initial_positions)),
    BRAMAH__KEY("guess", read_by_type, bramah_joint, initial_position, .unit = "rad", .other_unit = "m",
                .stride = offsetof(bramah_joint, initial_positions)),
    BRAMAH__KEY("rate", read_by_type, bramah_joint, initial_rate, .unit = "rad/s", .other_unit = "m/s",
                .stride = offsetof(bramah_joint, initial_rates)),
    {0}};

const bramah__table bramah__joint_table = {
    .keys = joint_keys, .size = sizeof(bramah_joint), .finish = finish_joint};

/* ---- loops ---- */

static const bramah__word loop_types[] = {
    {"revolute", BRAMAH_LOOP_REVOLUTE},   {"spherical", BRAMAH_LOOP_SPHERICAL},
    {"prismatic", BRAMAH_LOOP_PRISMATIC}, {"universal", BRAMAH_LOOP_UNIVERSAL},
    {"distance", BRAMAH_LOOP_DISTANCE},   {NULL, 0}};

static bramah_status finish_loop(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_loop *loop = object;
  const bramah_loop_type type = loop->type;
  bramah_status status =
      check_belongs(reader, item, "axes", type != BRAMAH_LOOP_SPHERICAL && type != BRAMAH_LOOP_DISTANCE);
  if (!status) status = check_belongs(reader, item, "normals", type == BRAMAH_LOOP_PRISMATIC);
  return status ? status : check_belongs(reader, item, "distance", type == BRAMAH_LOOP_DISTANCE);
}

static const bramah__key loop_keys[] = {
    BRAMAH__KEY("type", bramah__read_word, bramah_loop, type, .required = 1, .words = loop_types),
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_loop, body, .required = 1, .element = bramah__read_name,
                .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_loop, point, .required = 1, .unit = "m", .count = 3,
                .element = bramah__read_vector, .stride = sizeof(double[3])),
    BRAMAH__KEY("axes", bramah__read_pair, bramah_loop, axis, .element = bramah__read_direction,
                .stride = sizeof(double[3])),
    BRAMAH__KEY("normals", bramah__read_pair, bramah_loop, normal, .element = bramah__read_direction,
                .stride = sizeof(double[3])),
    BRAMAH__KEY("distance", bramah__read_quantity, bramah_loop, distance, .unit = "m",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__loop_table = {
    .keys = loop_keys, .size = sizeof(bramah_loop), .finish = finish_loop};

/* ---- springs and loads ---- */

static const bramah__key spring_keys[] = {
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_spring, body, .required = 1, .element = bramah__read_name,
                .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_spring, point, .required = 1, .unit = "m", .count = 3,
                .element = bramah__read_vector, .stride = sizeof(double[3])),
    BRAMAH__KEY("free_length", bramah__read_quantity, bramah_spring, free_length, .unit = "m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("stiffness", bramah__read_quantity, bramah_spring, stiffness, .unit = "N/m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("damping", bramah__read_quantity, bramah_spring, damping, .unit = "N*s/m",
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

/* A spring without its free length is one without stiffness. */
static bramah_status finish_spring(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__item found;
  (void)object;
  if (!bramah__item_find(item, "stiffness", &found)) {
    if (bramah__item_find(item, "damping", &found)) return BRAMAH_OK;
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'stiffness' or 'damping' is needed");
  }
  if (bramah__item_find(item, "free_length", &found) || bramah__item_find(item, "free_position", &found))
    return BRAMAH_OK;
  return bramah__fail_missing(reader, item,
                              bramah__item_find(item, "joint", &found) ? "free_position" : "free_length");
}

const bramah__table bramah__spring_table = {
    .keys = spring_keys, .size = sizeof(bramah_spring), .finish = finish_spring};

int bramah__coordinate_kind(const bramah_machine *machine, const char *name)
{
  for (size_t j = 0; j < machine->n_joints; j++) {
    const bramah_joint *joint = &machine->joints[j];
    if (!name || !joint->name) continue; /* could not be read */
    const size_t length = strlen(joint->name), n = bramah_joint_n_coordinates(joint->type);
    for (size_t i = 0; i < n && strncmp(name, joint->name, length) == 0; i++)
      if (strcmp(name + length, bramah_joint_suffix(joint->type, i)) == 0)
        return coordinate_slides(joint->type, i) ? 2 : 1;
  }
  return 0;
}

/* The unit of the key where the joint turns, its other unit where it slides; both where nobody knows. */
static bramah__key by_coordinate(const bramah__reader *reader, const bramah__key *key, const char *joint)
{
  const bramah__loaded *draft = reader->draft;
  const int kind = bramah__coordinate_kind(&draft->machine, joint);
  bramah__key by_kind = *key;
  if (kind == 2) by_kind.unit = key->other_unit;
  if (kind) by_kind.other_unit = NULL;
  return by_kind;
}

static bramah_status read_by_coordinate(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  const bramah__key by_kind = by_coordinate(reader, key, ((const bramah_joint_spring *)object)->joint);
  return bramah__read_quantity(reader, item, &by_kind, object);
}

static const bramah__key joint_spring_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_joint_spring, joint, .required = 1),
    BRAMAH__KEY("free_position", read_by_coordinate, bramah_joint_spring, free_position, .unit = "rad",
                .other_unit = "m"),
    BRAMAH__KEY("stiffness", read_by_coordinate, bramah_joint_spring, stiffness, .unit = "N*m/rad",
                .other_unit = "N/m", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("damping", read_by_coordinate, bramah_joint_spring, damping, .unit = "N*m*s/rad",
                .other_unit = "N*s/m", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

const bramah__table bramah__joint_spring_table = {
    .keys = joint_spring_keys, .size = sizeof(bramah_joint_spring), .finish = finish_spring};

static const bramah__word axes_words[] = {
    {"inertial", BRAMAH_AXES_INERTIAL}, {"body", BRAMAH_AXES_BODY}, {NULL, 0}};

static const bramah__key force_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_force, body, .required = 1),
    BRAMAH__KEY("point", bramah__read_vector, bramah_force, point, .unit = "m", .count = 3),
    BRAMAH__KEY("force", bramah__read_vector, bramah_force, force, .unit = "N", .count = 3),
    BRAMAH__KEY("torque", bramah__read_vector, bramah_force, torque, .unit = "N*m", .count = 3),
    BRAMAH__KEY("axes", bramah__read_word, bramah_force, axes, .words = axes_words),
    {0}};

static const bramah__key wheel_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_wheel, body, .required = 1),
    BRAMAH__KEY("centre", bramah__read_vector, bramah_wheel, centre, .unit = "m", .count = 3),
    BRAMAH__KEY("axis", bramah__read_direction, bramah_wheel, axis, .required = 1),
    BRAMAH__KEY("radius", bramah__read_quantity, bramah_wheel, radius, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__wheel_table = {.keys = wheel_keys, .size = sizeof(bramah_wheel)};

static const bramah__key knife_edge_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_knife_edge, body, .required = 1),
    BRAMAH__KEY("point", bramah__read_vector, bramah_knife_edge, point, .unit = "m", .count = 3),
    BRAMAH__KEY("normal", bramah__read_direction, bramah_knife_edge, normal, .required = 1),
    {0}};

const bramah__table bramah__knife_edge_table = {.keys = knife_edge_keys, .size = sizeof(bramah_knife_edge)};

static bramah_status finish_force(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__item found;
  (void)object;
  if (!bramah__item_find(item, "force", &found)) {
    if (bramah__item_find(item, "torque", &found)) return check_belongs(reader, item, "point", 0);
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'force' or 'torque' is needed");
  }
  return check_belongs(reader, item, "point", 1);
}

const bramah__table bramah__force_table = {
    .keys = force_keys, .size = sizeof(bramah_force), .finish = finish_force};

/* ---- prescribed motions ---- */

static const bramah__word motion_types[] = {{"rate", BRAMAH_MOTION_RATE},
                                            {"harmonic", BRAMAH_MOTION_HARMONIC},
                                            {"table", BRAMAH_MOTION_TABLE},
                                            {NULL, 0}};

static bramah_status read_motion_quantity(bramah__reader *reader, const bramah__item *item,
                                          const bramah__key *key, void *object)
{
  const bramah__key by_kind = by_coordinate(reader, key, ((const bramah_motion *)object)->joint);
  return bramah__read_quantity(reader, item, &by_kind, object);
}

static bramah_status read_motion_points(bramah__reader *reader, const bramah__item *list,
                                        const bramah__key *key, void *object)
{
  bramah_motion *motion = object;
  const bramah__curve_key curve = {.pair = "[time, position]",
                                   .example = "[1 s, 30 deg]",
                                   .x_name = "times",
                                   .least = 2,
                                   .x = {.unit = "s"},
                                   .y = by_coordinate(reader, key, motion->joint)};
  return bramah__read_curve(reader, list, &curve, &motion->n_points, &motion->times, &motion->positions);
}

/* Keys of one type: `needed` ones must be there, and none of them with another type. */
static const struct {
  bramah_motion_type type;
  const char *key;
  int needed;
} motion_needs[] = {{BRAMAH_MOTION_RATE, "position", 1},      {BRAMAH_MOTION_RATE, "rate", 0},
                    {BRAMAH_MOTION_HARMONIC, "amplitude", 1}, {BRAMAH_MOTION_HARMONIC, "frequency", 1},
                    {BRAMAH_MOTION_HARMONIC, "mean", 0},      {BRAMAH_MOTION_HARMONIC, "phase", 0},
                    {BRAMAH_MOTION_TABLE, "points", 1}};

static bramah_status finish_motion(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_motion_type type = ((const bramah_motion *)object)->type;
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < sizeof motion_needs / sizeof motion_needs[0]; i++) {
    const int belongs = motion_needs[i].type == type;
    if (!belongs || motion_needs[i].needed)
      status = check_belongs(reader, item, motion_needs[i].key, belongs);
  }
  return status;
}

static const bramah__key motion_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_motion, joint, .required = 1),
    BRAMAH__KEY("type", bramah__read_word, bramah_motion, type, .required = 1, .words = motion_types),
    BRAMAH__KEY("position", read_motion_quantity, bramah_motion, position, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("rate", read_motion_quantity, bramah_motion, rate, .unit = "rad/s", .other_unit = "m/s"),
    BRAMAH__KEY("mean", read_motion_quantity, bramah_motion, mean, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("amplitude", read_motion_quantity, bramah_motion, amplitude, .unit = "rad",
                .other_unit = "m"),
    BRAMAH__KEY("frequency", bramah__read_quantity, bramah_motion, frequency, .unit = "Hz",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("phase", bramah__read_quantity, bramah_motion, phase, .unit = "rad"),
    {.name = "points", .read = read_motion_points, .unit = "rad", .other_unit = "m"},
    {0}};

const bramah__table bramah__motion_table = {
    .keys = motion_keys, .size = sizeof(bramah_motion), .finish = finish_motion};
