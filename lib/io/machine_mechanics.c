/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mechanics of a machine file: bodies and their points, joints, loops, springs, forces, contacts, wheels and prescribed
 * motions. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_file.h"
#include "lib/math/elementary.h"

#include <string.h>

/* ---- coordinates ---- */

int bramah__coordinate_slides(bramah_joint_type type, size_t i)
{
  return type == BRAMAH_JOINT_PRISMATIC || (type == BRAMAH_JOINT_CYLINDRICAL && i == 0) ||
         (type == BRAMAH_JOINT_PLANAR && i < 2) || (type == BRAMAH_JOINT_FLOATING && i < 3);
}

int bramah__coordinate_kind(const bramah_machine *machine, const char *name)
{
  for (size_t j = 0; j < machine->n_joints; j++) {
    const bramah_joint *joint = &machine->joints[j];
    if (!name || !joint->name) continue; /* could not be read */
    const size_t length = strlen(joint->name), n = bramah_joint_n_coordinates(joint->type);
    for (size_t i = 0; i < n && strncmp(name, joint->name, length) == 0; i++)
      if (strcmp(name + length, bramah_joint_suffix(joint->type, i)) == 0)
        return bramah__coordinate_slides(joint->type, i) ? 2 : 1;
  }
  return 0;
}

/* ---- bodies ---- */

static bramah_status finish_body(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_body *body = object;
  if (strcmp(body->name, "ground") != 0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                          "'ground' is the inertial frame and cannot be a body's name");
}

static const bramah__key point_key =
    BRAMAH__KEY("point", bramah__read_vector, bramah_point, position, .unit = "m", .count = 3);
static const bramah__table point_table = {.size = sizeof(bramah_point), .value = &point_key};

/* ---- shapes ---- */

/* R = Rz(yaw) Ry(pitch) Rx(roll): turned about the fixed axes x, y, z in this order. */
static bramah_status read_turn(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                               double *R)
{
  double angle[3];
  bramah__key angles = *key;
  angles.offset = 0;
  const bramah_status status = bramah__read_vector(reader, item, &angles, angle);
  if (status) return status;
  double sr, cr, sp, cp, sy, cy;
  bramah__sincos_any(angle[0], &sr, &cr);
  bramah__sincos_any(angle[1], &sp, &cp);
  bramah__sincos_any(angle[2], &sy, &cy);
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

static const bramah__word shape_kinds[] = {{"sphere", BRAMAH_SHAPE_SPHERE},
                                           {"capsule", BRAMAH_SHAPE_CAPSULE},
                                           {"box", BRAMAH_SHAPE_BOX},
                                           {"hull", BRAMAH_SHAPE_HULL},
                                           {NULL, 0}};

enum {
  WITH_CENTRE = 1 << BRAMAH_SHAPE_SPHERE | 1 << BRAMAH_SHAPE_BOX,
  WITH_RADIUS = 1 << BRAMAH_SHAPE_SPHERE | 1 << BRAMAH_SHAPE_CAPSULE
};

static const bramah__key corner_key = {.name = "point", .read = bramah__read_vector, .unit = "m", .count = 3};
static const bramah__table corner_table = {.size = sizeof(double[3]), .value = &corner_key};

static bramah_status read_shape_rotation(bramah__reader *reader, const bramah__item *item,
                                         const bramah__key *key, void *object)
{
  return read_turn(reader, item, key, ((bramah_shape *)object)->rotation);
}

static const bramah__key shape_keys[] = {
    BRAMAH__KEY("kind", bramah__read_word, bramah_shape, kind, .required = 1, .words = shape_kinds),
    BRAMAH__KEY("centre", bramah__read_vector, bramah_shape, centre, .types = WITH_CENTRE, .unit = "m",
                .count = 3),
    BRAMAH__KEY("radius", bramah__read_quantity, bramah_shape, radius, .required = 1, .types = WITH_RADIUS,
                .unit = "m", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("ends", bramah__read_pair, bramah_shape, ends, .required = 1,
                .types = 1 << BRAMAH_SHAPE_CAPSULE, .unit = "m", .count = 3, .element = bramah__read_vector,
                .stride = sizeof(double[3])),
    BRAMAH__KEY("size", bramah__read_vector, bramah_shape, size, .required = 1,
                .types = 1 << BRAMAH_SHAPE_BOX, .unit = "m", .count = 3, .range = BRAMAH__POSITIVE),
    {.name = "rotation",
     .read = read_shape_rotation,
     .types = 1 << BRAMAH_SHAPE_BOX,
     .unit = "rad",
     .count = 3,
     .shape = BRAMAH__SHAPE_VECTOR},
    BRAMAH__KEY("corners", bramah__read_list, bramah_shape, corners, .required = 1,
                .types = 1 << BRAMAH_SHAPE_HULL, .table = &corner_table,
                .count_offset = offsetof(bramah_shape, n_corners)),
    {0}};

const bramah__table bramah__shape_table = {
    .keys = shape_keys, .size = sizeof(bramah_shape), .type = offsetof(bramah_shape, kind)};

static const bramah__key body_keys[] = {
    BRAMAH__KEY("mass", bramah__read_quantity, bramah_body, mass, .required = 1, .unit = "kg",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("centre_of_mass", bramah__read_vector, bramah_body, centre_of_mass, .unit = "m", .count = 3),
    BRAMAH__KEY("inertia", bramah__read_vector, bramah_body, inertia, .unit = "kg*m^2", .count = 3,
                .other_count = 6, .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("payload_point", bramah__read_vector, bramah_body, payload_point, .unit = "m", .count = 3,
                .given = offsetof(bramah_body, payload_point_given)),
    BRAMAH__SECTION("points", bramah_body, points, n_points, &point_table, .required = 0),
    BRAMAH__KEY("shapes", bramah__read_list, bramah_body, shapes, .table = &bramah__shape_table,
                .count_offset = offsetof(bramah_body, n_shapes)),
    {0}};

const bramah__table bramah__body_table = {
    .keys = body_keys, .size = sizeof(bramah_body), .finish = finish_body};

/* ---- points of other elements ---- */

static bramah_status no_such_point(bramah__reader *reader, const bramah__item *item, const bramah_body *body,
                                   const char *name)
{
  bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, "there is no point '%s' of '%s'", name, body->name);
  bramah__suggest_thing(reader->diag, name, body->n_points, body->n_points ? &body->points[0].name : NULL,
                        sizeof body->points[0], "; there are ");
  return BRAMAH_E_REFERENCE;
}

bramah_status bramah__read_point(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  const bramah_machine *machine = &((const bramah__loaded *)reader->draft)->machine;
  const bramah__item *element = item->name ? item->parent : item->parent->parent; /* alone or in a list */
  bramah__item of;
  bramah_status status;
  if (item->node->kind != BRAMAH__NODE_SCALAR) return bramah__read_vector(reader, item, key, object);
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  const int is_pair = bramah__item_find(element, "bodies", &of);
  if (!is_pair && !bramah__item_find(element, "body", &of)) return BRAMAH_OK; /* told already, and so below */
  if (is_pair && (of.node->kind != BRAMAH__NODE_LIST || of.node->n <= item->index)) return BRAMAH_OK;
  const bramah__item name = is_pair ? bramah__item_at(&of, item->index) : of;
  if (name.node->kind != BRAMAH__NODE_SCALAR) return BRAMAH_OK;
  const size_t length = strlen(name.node->text);
  const char *point = strchr(text, '.') ? strchr(text, '.') + 1 : text;
  if (point != text && ((size_t)(point - text) != length + 1 || strncmp(text, name.node->text, length) != 0))
    return bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, "a point of '%s' is needed here, not '%s'",
                             name.node->text, text);
  for (size_t b = 0; b < machine->n_bodies; b++) {
    const bramah_body *body = &machine->bodies[b];
    if (!body->name || strcmp(body->name, name.node->text) != 0) continue;
    for (size_t i = 0; i < body->n_points; i++)
      if (body->points[i].name && strcmp(body->points[i].name, point) == 0) {
        memcpy((unsigned char *)object + key->offset, body->points[i].position,
               sizeof body->points[i].position);
        return BRAMAH_OK;
      }
    return no_such_point(reader, item, body, point);
  }
  return strcmp(name.node->text, "ground") == 0
             ? bramah__fail_item(reader, item, BRAMAH_E_REFERENCE,
                                 "points of the ground have no names: give coordinates")
             : BRAMAH_OK; /* the body is no such one either, which is told later */
}

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

/* The unit of the key where the coordinate turns, its other unit where it slides. A compound joint has a list
 * with one value for each coordinate, into double [6] at key->stride. */
static bramah_status read_by_type(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_joint_type type = ((const bramah_joint *)object)->type;
  const size_t n = bramah_joint_n_coordinates(type);
  const int compound = type != BRAMAH_JOINT_REVOLUTE && type != BRAMAH_JOINT_PRISMATIC;
  bramah_status status = BRAMAH_OK;
  if (compound && (item->node->kind != BRAMAH__NODE_LIST || item->node->n != n))
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "a list with one value for each coordinate of the joint is expected: %zu", n);
  for (size_t i = 0; !status && i < n; i++) {
    const bramah__item one = compound ? bramah__item_at(item, i) : *item;
    bramah__key by_type = *key;
    if (compound) by_type.offset = key->stride + i * sizeof(double);
    if (bramah__coordinate_slides(type, i)) by_type.unit = key->other_unit;
    by_type.other_unit = NULL;
    status = bramah__read_quantity(reader, &one, &by_type, object);
  }
  return status;
}

static bramah_status read_rotation(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  return read_turn(reader, item, key, ((bramah_joint *)object)->rotation);
}

/* A welded body has no coordinate that could start anywhere. */
enum {
  TWO_AXES = 1 << BRAMAH_JOINT_UNIVERSAL | 1 << BRAMAH_JOINT_PLANAR,
  AN_AXIS =
      1 << BRAMAH_JOINT_REVOLUTE | 1 << BRAMAH_JOINT_PRISMATIC | 1 << BRAMAH_JOINT_CYLINDRICAL | TWO_AXES,
  MOVING = AN_AXIS | 1 << BRAMAH_JOINT_SPHERICAL | 1 << BRAMAH_JOINT_FLOATING
};

_Static_assert(BRAMAH_INITIAL_GIVEN == 1, "the key `initial` says that it is given");

/* A pair of positions of a joint with one coordinate. */
static bramah_status read_range(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                void *object)
{
  bramah__key by_type = *key;
  if (((const bramah_joint *)object)->type == BRAMAH_JOINT_PRISMATIC) by_type.unit = key->other_unit;
  by_type.other_unit = NULL;
  return bramah__read_vector(reader, item, &by_type, object);
}

/* Stops: members of the joint, whose type says in what units. */
static const bramah__key limit_keys[] = {
    BRAMAH__KEY("range", read_range, bramah_joint, range, .required = 1, .shape = BRAMAH__SHAPE_VECTOR,
                .unit = "rad", .other_unit = "m", .count = 2,
                .ascends = "the range must ascend: [lower end, upper end]"),
    BRAMAH__KEY("stiffness", read_by_type, bramah_joint, stop.stiffness, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "N*m/rad", .other_unit = "N/m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("damping", read_by_type, bramah_joint, stop.damping, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "N*m*s/rad", .other_unit = "N*s/m",
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table limit_table = {.keys = limit_keys};

static const bramah__key joint_keys[] = {
    BRAMAH__KEY("type", bramah__read_word, bramah_joint, type, .required = 1, .words = joint_types),
    BRAMAH__KEY("parent", bramah__read_name, bramah_joint, parent, .required = 1),
    BRAMAH__KEY("child", bramah__read_name, bramah_joint, child, .required = 1),
    BRAMAH__KEY("position", bramah__read_vector, bramah_joint, position, .unit = "m", .count = 3),
    {.name = "rotation", .read = read_rotation, .unit = "rad", .count = 3, .shape = BRAMAH__SHAPE_VECTOR},
    BRAMAH__KEY("axis", bramah__read_direction, bramah_joint, axis, .required = 1, .types = AN_AXIS),
    BRAMAH__KEY("second_axis", bramah__read_direction, bramah_joint, second_axis, .required = 1,
                .types = TWO_AXES),
    BRAMAH__KEY("initial", read_by_type, bramah_joint, initial_position, .shape = BRAMAH__SHAPE_QUANTITIES,
                .types = MOVING, .unit = "rad", .other_unit = "m",
                .stride = offsetof(bramah_joint, initial_positions),
                .given = offsetof(bramah_joint, initial)),
    /* A position is either to be found or given. */
    BRAMAH__KEY("guess", read_by_type, bramah_joint, initial_position, .shape = BRAMAH__SHAPE_QUANTITIES,
                .types = MOVING, .excludes = "initial", .unit = "rad", .other_unit = "m",
                .stride = offsetof(bramah_joint, initial_positions)),
    BRAMAH__KEY("rate", read_by_type, bramah_joint, initial_rate, .shape = BRAMAH__SHAPE_QUANTITIES,
                .types = MOVING, .unit = "rad/s", .other_unit = "m/s",
                .stride = offsetof(bramah_joint, initial_rates)),
    {.name = "limits",
     .read = bramah__read_child,
     .types = 1 << BRAMAH_JOINT_REVOLUTE | 1 << BRAMAH_JOINT_PRISMATIC,
     .table = &limit_table},
    {0}};

const bramah__table bramah__joint_table = {
    .keys = joint_keys, .size = sizeof(bramah_joint), .type = offsetof(bramah_joint, type)};

/* ---- loops ---- */

static const bramah__word loop_types[] = {
    {"revolute", BRAMAH_LOOP_REVOLUTE},   {"spherical", BRAMAH_LOOP_SPHERICAL},
    {"prismatic", BRAMAH_LOOP_PRISMATIC}, {"universal", BRAMAH_LOOP_UNIVERSAL},
    {"distance", BRAMAH_LOOP_DISTANCE},   {NULL, 0}};

enum {
  WITH_AXES = 1 << BRAMAH_LOOP_REVOLUTE | 1 << BRAMAH_LOOP_PRISMATIC | 1 << BRAMAH_LOOP_UNIVERSAL,
  WITH_NORMALS = 1 << BRAMAH_LOOP_PRISMATIC,
  WITH_DISTANCE = 1 << BRAMAH_LOOP_DISTANCE
};

static const bramah__key loop_keys[] = {
    BRAMAH__KEY("type", bramah__read_word, bramah_loop, type, .required = 1, .words = loop_types),
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_loop, body, .required = 1, .element = bramah__read_name,
                .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_loop, point, .required = 1, .unit = "m", .count = 3,
                .element = bramah__read_point, .stride = sizeof(double[3])),
    BRAMAH__KEY("axes", bramah__read_pair, bramah_loop, axis, .required = 1, .types = WITH_AXES,
                .element = bramah__read_direction, .stride = sizeof(double[3])),
    BRAMAH__KEY("normals", bramah__read_pair, bramah_loop, normal, .required = 1, .types = WITH_NORMALS,
                .element = bramah__read_direction, .stride = sizeof(double[3])),
    BRAMAH__KEY("distance", bramah__read_quantity, bramah_loop, distance, .required = 1,
                .types = WITH_DISTANCE, .unit = "m", .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__loop_table = {
    .keys = loop_keys, .size = sizeof(bramah_loop), .type = offsetof(bramah_loop, type)};

/* ---- springs and loads ---- */

static const bramah__key spring_keys[] = {
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_spring, body, .required = 1, .element = bramah__read_name,
                .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_spring, point, .required = 1, .unit = "m", .count = 3,
                .element = bramah__read_point, .stride = sizeof(double[3])),
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

/* Joint springs and motions have their joint at the same place. */
_Static_assert(offsetof(bramah_joint_spring, joint) == offsetof(bramah_motion, joint),
               "the place of `joint`");

static bramah_status read_by_coordinate(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  const bramah__key by_kind = by_coordinate(reader, key, ((const bramah_motion *)object)->joint);
  return bramah__read_quantity(reader, item, &by_kind, object);
}

static const bramah__key joint_spring_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_joint_spring, joint, .required = 1),
    BRAMAH__KEY("free_position", read_by_coordinate, bramah_joint_spring, free_position,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("stiffness", read_by_coordinate, bramah_joint_spring, stiffness,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "N*m/rad", .other_unit = "N/m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("damping", read_by_coordinate, bramah_joint_spring, damping, .shape = BRAMAH__SHAPE_QUANTITY,
                .unit = "N*m*s/rad", .other_unit = "N*s/m", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

const bramah__table bramah__joint_spring_table = {
    .keys = joint_spring_keys, .size = sizeof(bramah_joint_spring), .finish = finish_spring};

static const bramah__word axes_words[] = {
    {"inertial", BRAMAH_AXES_INERTIAL}, {"body", BRAMAH_AXES_BODY}, {NULL, 0}};

static const bramah__key force_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_force, body, .required = 1),
    BRAMAH__KEY("point", bramah__read_point, bramah_force, point, .unit = "m", .count = 3),
    BRAMAH__KEY("force", bramah__read_vector, bramah_force, force, .unit = "N", .count = 3),
    BRAMAH__KEY("torque", bramah__read_vector, bramah_force, torque, .unit = "N*m", .count = 3),
    BRAMAH__KEY("axes", bramah__read_word, bramah_force, axes, .words = axes_words),
    {0}};

/* ---- points on the ground ---- */

static const bramah__word contact_laws[] = {
    {"hunt-crossley", BRAMAH_CONTACT_HUNT_CROSSLEY}, {"penalty", BRAMAH_CONTACT_PENALTY}, {NULL, 0}};

/* In the unit of the law of Hunt and Crossley, or in the other one of the penalty. */
static bramah_status read_by_law(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah__key by_law = *key;
  if (((const bramah_contact *)object)->law == BRAMAH_CONTACT_PENALTY) by_law.unit = key->other_unit;
  by_law.other_unit = NULL;
  return bramah__read_quantity(reader, item, &by_law, object);
}

static const bramah__key contact_point_key = {
    .name = "point", .read = bramah__read_point, .unit = "m", .count = 3};

static bramah_status read_contact_point(bramah__reader *reader, const bramah__item *item, void *object)
{
  return bramah__read_point(reader, item, &contact_point_key, object);
}

static const bramah__table contact_point_table = {
    .size = sizeof(double[3]), .read = read_contact_point, .value = &contact_point_key};

static const bramah__key ground_keys[] = {
    BRAMAH__KEY("point", bramah__read_vector, bramah_contact, ground, .unit = "m", .count = 3),
    BRAMAH__KEY("normal", bramah__read_direction, bramah_contact, normal, .required = 0),
    {0}};

/* Not a plane: the machine's terrain. */
static const bramah__word grounds[] = {{"terrain", 1}, {NULL, 0}};
static const bramah__key contact_on_terrain =
    BRAMAH__KEY("ground", bramah__read_word, bramah_contact, on_terrain, .words = grounds);
static const bramah__key tyre_on_terrain =
    BRAMAH__KEY("ground", bramah__read_word, bramah_tyre, on_terrain, .words = grounds);

static const bramah__table ground_table = {.keys = ground_keys, .value = &contact_on_terrain};

static const bramah__key tyre_ground_keys[] = {
    BRAMAH__KEY("point", bramah__read_vector, bramah_tyre, ground, .unit = "m", .count = 3),
    BRAMAH__KEY("normal", bramah__read_direction, bramah_tyre, normal, .required = 0),
    {0}};

static const bramah__table tyre_ground_table = {.keys = tyre_ground_keys, .value = &tyre_on_terrain};

#define RUBBING(key, member, unit_, range_, ...)                                                             \
  BRAMAH__KEY(key, bramah__read_quantity, bramah_friction, member, .unit = (unit_), .range = (range_),       \
              __VA_ARGS__)
#define RUBBING_KEYS(needs_coulomb)                                                                          \
  {                                                                                                          \
    RUBBING("coulomb", coulomb, "1", BRAMAH__POSITIVE, .required = (needs_coulomb)),                         \
        RUBBING("static", static_force, "1", BRAMAH__POSITIVE, .required = 0),                               \
        RUBBING("stribeck_velocity", stribeck_velocity, "m/s", BRAMAH__POSITIVE, .required = 0),             \
        RUBBING("stribeck_exponent", stribeck_exponent, "1", BRAMAH__POSITIVE, .required = 0),               \
        RUBBING("viscous", viscous, "s/m", BRAMAH__NOT_NEGATIVE, .required = 0),                             \
        RUBBING("bristle_stiffness", bristle_stiffness, "1/m", BRAMAH__POSITIVE, .required = 0),             \
        RUBBING("bristle_damping", bristle_damping, "s/m", BRAMAH__POSITIVE, .required = 0),                 \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }
static const bramah__key contact_friction_keys[] = RUBBING_KEYS(1);
static const bramah__key tyre_friction_keys[] = RUBBING_KEYS(0);
static const bramah__table tyre_friction_table = {.keys = tyre_friction_keys};

static bramah_status finish_contact_friction(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)reader, (void)item;
  ((bramah_friction *)object)->model = BRAMAH_FRICTION_LUGRE;
  return BRAMAH_OK;
}

static const bramah__table contact_friction_table = {.keys = contact_friction_keys,
                                                     .finish = finish_contact_friction};

static const bramah__key between_key = {.name = "body", .read = bramah__read_name};
static const bramah__table between_table = {.size = sizeof(const char *), .value = &between_key};

static bramah_status finish_contact(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__item found;
  (void)object;
  if (bramah__item_find(item, "body", &found) || bramah__item_find(item, "between", &found)) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_KEY,
                          "'body' (on the ground) or 'between' (of bodies) is needed");
}

static const bramah__key contact_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_contact, body, .required = 0),
    BRAMAH__KEY("between", bramah__read_list, bramah_contact, between, .excludes = "body",
                .table = &between_table, .count_offset = offsetof(bramah_contact, n_between)),
    BRAMAH__KEY("points", bramah__read_list, bramah_contact, points, .excludes = "between",
                .table = &contact_point_table, .count_offset = offsetof(bramah_contact, n_points)),
    {.name = "ground", .read = bramah__read_child, .excludes = "between", .table = &ground_table},
    BRAMAH__KEY("law", bramah__read_word, bramah_contact, law, .words = contact_laws),
    BRAMAH__KEY("stiffness", read_by_law, bramah_contact, stiffness, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "N/m^1.5", .other_unit = "N/m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("damping", read_by_law, bramah_contact, damping, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "s/m", .other_unit = "N*s/m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("friction", bramah__read_child, bramah_contact, friction, .table = &contact_friction_table),
    {0}};

const bramah__table bramah__contact_table = {
    .keys = contact_keys, .size = sizeof(bramah_contact), .finish = finish_contact};

static const bramah__word tyre_sets[] = {
    {"tractor", BRAMAH_TYRE_TRACTOR}, {"literature", BRAMAH_TYRE_LITERATURE}, {NULL, 0}};

static const bramah__key tyre_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_tyre, body, .required = 1),
    BRAMAH__KEY("centre", bramah__read_point, bramah_tyre, centre, .unit = "m", .count = 3),
    BRAMAH__KEY("axis", bramah__read_direction, bramah_tyre, axis, .required = 0),
    BRAMAH__KEY("radius", bramah__read_quantity, bramah_tyre, radius, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("width", bramah__read_quantity, bramah_tyre, width, .unit = "m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("discs", bramah__read_integer, bramah_tyre, n_discs, .required = 0),
    {.name = "ground", .read = bramah__read_child, .table = &tyre_ground_table},
    BRAMAH__KEY("stiffness", bramah__read_quantity, bramah_tyre, stiffness, .required = 1, .unit = "N/m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("damping", bramah__read_quantity, bramah_tyre, damping, .required = 1, .unit = "N*s/m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("patch_length", bramah__read_quantity, bramah_tyre, patch_length, .unit = "m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("set", bramah__read_word, bramah_tyre, set, .words = tyre_sets),
    BRAMAH__KEY("friction", bramah__read_child, bramah_tyre, friction, .table = &tyre_friction_table),
    {0}};

const bramah__table bramah__tyre_table = {.keys = tyre_keys, .size = sizeof(bramah_tyre)};

static const bramah__key command_keys[] = {
    BRAMAH__KEY("input", bramah__read_name, bramah_drive, input, .required = 1),
    BRAMAH__KEY("limit", bramah__read_quantity, bramah_drive, limit, .unit = "V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("time_constant", bramah__read_quantity, bramah_drive, time_constant, .unit = "s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("initial", bramah__read_quantity, bramah_drive, initial, .unit = "V"),
    {0}};

const bramah__table bramah__command_table = {.keys = command_keys};

#define BRAKE(key, member, unit_, ...)                                                                       \
  BRAMAH__KEY(key, bramah__read_quantity, bramah_brake, member, .unit = (unit_), .range = BRAMAH__POSITIVE,  \
              __VA_ARGS__)
static const bramah__key brake_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_brake, joint, .required = 1),
    BRAKE("torque", torque, "N*m", .required = 1),
    BRAKE("static_torque", static_torque, "N*m", .required = 0),
    BRAKE("stribeck_velocity", stribeck_velocity, "rad/s", .required = 0),
    BRAKE("bristle_stiffness", bristle_stiffness, "1/rad", .required = 0),
    BRAKE("bristle_damping", bristle_damping, "s/rad", .required = 0),
    BRAMAH__KEY("command", bramah__read_child, bramah_brake, command, .table = &bramah__command_table),
    {0}};

const bramah__table bramah__brake_table = {.keys = brake_keys, .size = sizeof(bramah_brake)};

static const bramah__key wheel_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_wheel, body, .required = 1),
    BRAMAH__KEY("centre", bramah__read_point, bramah_wheel, centre, .unit = "m", .count = 3),
    BRAMAH__KEY("axis", bramah__read_direction, bramah_wheel, axis, .required = 1),
    BRAMAH__KEY("radius", bramah__read_quantity, bramah_wheel, radius, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__wheel_table = {.keys = wheel_keys, .size = sizeof(bramah_wheel)};

static const bramah__key knife_edge_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_knife_edge, body, .required = 1),
    BRAMAH__KEY("point", bramah__read_point, bramah_knife_edge, point, .unit = "m", .count = 3),
    BRAMAH__KEY("normal", bramah__read_direction, bramah_knife_edge, normal, .required = 1),
    {0}};

const bramah__table bramah__knife_edge_table = {.keys = knife_edge_keys, .size = sizeof(bramah_knife_edge)};

static bramah_status finish_force(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__item found, point;
  const int force = bramah__item_find(item, "force", &found);
  const int has_point = bramah__item_find(item, "point", &point);
  (void)object;
  if (!force && !bramah__item_find(item, "torque", &found))
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'force' or 'torque' is needed");
  if (force == has_point) return BRAMAH_OK;
  return force ? bramah__fail_missing(reader, item, "point")
               : bramah__fail_key(reader, &point, BRAMAH_E_KEY, "'point' does not belong to this type");
}

const bramah__table bramah__force_table = {
    .keys = force_keys, .size = sizeof(bramah_force), .finish = finish_force};

/* ---- prescribed motions ---- */

static const bramah__word motion_types[] = {{"rate", BRAMAH_MOTION_RATE},
                                            {"harmonic", BRAMAH_MOTION_HARMONIC},
                                            {"table", BRAMAH_MOTION_TABLE},
                                            {NULL, 0}};

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

enum {
  OF_RATE = 1 << BRAMAH_MOTION_RATE,
  OF_HARMONIC = 1 << BRAMAH_MOTION_HARMONIC,
  OF_TABLE = 1 << BRAMAH_MOTION_TABLE
};

static const bramah__key motion_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_motion, joint, .required = 1),
    BRAMAH__KEY("type", bramah__read_word, bramah_motion, type, .required = 1, .words = motion_types),
    BRAMAH__KEY("position", read_by_coordinate, bramah_motion, position, .shape = BRAMAH__SHAPE_QUANTITY,
                .required = 1, .types = OF_RATE, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("rate", read_by_coordinate, bramah_motion, rate, .shape = BRAMAH__SHAPE_QUANTITY,
                .types = OF_RATE, .unit = "rad/s", .other_unit = "m/s"),
    BRAMAH__KEY("mean", read_by_coordinate, bramah_motion, mean, .shape = BRAMAH__SHAPE_QUANTITY,
                .types = OF_HARMONIC, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("amplitude", read_by_coordinate, bramah_motion, amplitude, .shape = BRAMAH__SHAPE_QUANTITY,
                .required = 1, .types = OF_HARMONIC, .unit = "rad", .other_unit = "m"),
    BRAMAH__KEY("frequency", bramah__read_quantity, bramah_motion, frequency, .required = 1,
                .types = OF_HARMONIC, .unit = "Hz", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("phase", bramah__read_quantity, bramah_motion, phase, .types = OF_HARMONIC, .unit = "rad"),
    {.name = "points",
     .read = read_motion_points,
     .shape = BRAMAH__SHAPE_CURVE,
     .required = 1,
     .types = OF_TABLE,
     .unit = "rad",
     .other_unit = "m"},
    {0}};

const bramah__table bramah__motion_table = {
    .keys = motion_keys, .size = sizeof(bramah_motion), .type = offsetof(bramah_motion, type)};
