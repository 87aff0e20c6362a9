/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A machine file: bodies, joints, loops, springs, loads, prescribed motions, inputs and integrator, the names that
 * refer to elements, and the loading. The section `hydraulics` is in machine_hydraulics.c. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_file.h"
#include "lib/io/uncertainty.h"
#include "lib/base/diag.h"
#include "lib/io/session.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

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

static const bramah__key body_keys[] = {
    BRAMAH__KEY("mass", bramah__read_quantity, bramah_body, mass, .required = 1, .unit = "kg",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("centre_of_mass", bramah__read_vector, bramah_body, centre_of_mass, .unit = "m", .count = 3),
    BRAMAH__KEY("inertia", bramah__read_vector, bramah_body, inertia, .unit = "kg*m^2", .count = 3,
                .other_count = 6, .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("payload_point", bramah__read_vector, bramah_body, payload_point, .unit = "m", .count = 3,
                .given = offsetof(bramah_body, payload_point_given)),
    BRAMAH__SECTION("points", bramah_body, points, n_points, &point_table, .required = 0),
    {0}};

static const bramah__table body_table = {
    .keys = body_keys, .size = sizeof(bramah_body), .finish = finish_body};

/* ---- points of other elements ---- */

/* Names of the points of a body as a list for a suggestion. */
static bramah_status no_such_point(bramah__reader *reader, const bramah__item *item, const bramah_body *body,
                                   const char *name)
{
  const char **names = bramah__pool_take(&reader->scratch, body->n_points + 1, sizeof *names);
  if (!names) return bramah__no_memory(reader);
  for (size_t i = 0; i < body->n_points; i++) names[i] = body->points[i].name;
  bramah__fail_item(reader, item, BRAMAH_E_REFERENCE, "there is no point '%s' of '%s'", name, body->name);
  bramah__add_suggestion(reader->diag, name, body->n_points, names, "; there are ");
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

/* R = Rz(yaw) Ry(pitch) Rx(roll): turned about the fixed axes x, y, z in this order. */
static bramah_status read_rotation(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  double *R = ((bramah_joint *)object)->rotation, angle[3];
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

static const bramah__table joint_table = {
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

static const bramah__table loop_table = {
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

static const bramah__table spring_table = {
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

static const bramah__table joint_spring_table = {
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

static const bramah__table ground_table = {.keys = ground_keys};

#define RUBBING(key, member, unit_, range_, ...)                                                             \
  BRAMAH__KEY(key, bramah__read_quantity, bramah_friction, member, .unit = (unit_), .range = (range_),       \
              __VA_ARGS__)
static const bramah__key contact_friction_keys[] = {
    RUBBING("coulomb", coulomb, "1", BRAMAH__POSITIVE, .required = 1),
    RUBBING("static", static_force, "1", BRAMAH__POSITIVE, .required = 0),
    RUBBING("stribeck_velocity", stribeck_velocity, "m/s", BRAMAH__POSITIVE, .required = 0),
    RUBBING("stribeck_exponent", stribeck_exponent, "1", BRAMAH__POSITIVE, .required = 0),
    RUBBING("viscous", viscous, "s/m", BRAMAH__NOT_NEGATIVE, .required = 0),
    RUBBING("bristle_stiffness", bristle_stiffness, "1/m", BRAMAH__POSITIVE, .required = 0),
    RUBBING("bristle_damping", bristle_damping, "s/m", BRAMAH__POSITIVE, .required = 0),
    {0}};

static bramah_status finish_contact_friction(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)reader, (void)item;
  ((bramah_friction *)object)->model = BRAMAH_FRICTION_LUGRE;
  return BRAMAH_OK;
}

static const bramah__table contact_friction_table = {.keys = contact_friction_keys,
                                                     .finish = finish_contact_friction};

static const bramah__key contact_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_contact, body, .required = 1),
    BRAMAH__KEY("points", bramah__read_list, bramah_contact, points, .required = 1,
                .table = &contact_point_table, .count_offset = offsetof(bramah_contact, n_points)),
    {.name = "ground", .read = bramah__read_child, .table = &ground_table},
    BRAMAH__KEY("law", bramah__read_word, bramah_contact, law, .words = contact_laws),
    BRAMAH__KEY("stiffness", read_by_law, bramah_contact, stiffness, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "N/m^1.5", .other_unit = "N/m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("damping", read_by_law, bramah_contact, damping, .required = 1,
                .shape = BRAMAH__SHAPE_QUANTITY, .unit = "s/m", .other_unit = "N*s/m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("friction", bramah__read_child, bramah_contact, friction, .table = &contact_friction_table),
    {0}};

static const bramah__table contact_table = {.keys = contact_keys, .size = sizeof(bramah_contact)};

static const bramah__key wheel_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_wheel, body, .required = 1),
    BRAMAH__KEY("centre", bramah__read_point, bramah_wheel, centre, .unit = "m", .count = 3),
    BRAMAH__KEY("axis", bramah__read_direction, bramah_wheel, axis, .required = 1),
    BRAMAH__KEY("radius", bramah__read_quantity, bramah_wheel, radius, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table wheel_table = {.keys = wheel_keys, .size = sizeof(bramah_wheel)};

static const bramah__key knife_edge_keys[] = {
    BRAMAH__KEY("body", bramah__read_name, bramah_knife_edge, body, .required = 1),
    BRAMAH__KEY("point", bramah__read_point, bramah_knife_edge, point, .unit = "m", .count = 3),
    BRAMAH__KEY("normal", bramah__read_direction, bramah_knife_edge, normal, .required = 1),
    {0}};

static const bramah__table knife_edge_table = {.keys = knife_edge_keys, .size = sizeof(bramah_knife_edge)};

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

static const bramah__table force_table = {
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

static const bramah__table motion_table = {
    .keys = motion_keys, .size = sizeof(bramah_motion), .type = offsetof(bramah_motion, type)};

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
  const int is_list = item->node->kind == BRAMAH__NODE_LIST;
  const size_t n = is_list ? item->node->n : 1;
  const char **names = bramah__pool_take(reader->keep, n + 1, sizeof *names);
  if (!names) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah__item one = is_list ? bramah__item_at(item, i) : *item;
    const bramah__key text = {.name = key->name, .offset = i * sizeof *names};
    const bramah_status status = bramah__read_text(reader, &one, &text, names);
    if (status) return status;
  }
  output->n_of = n;
  output->of = names;
  return BRAMAH_OK;
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

static const bramah__key machine_keys[] = {
    BRAMAH__KEY("machine", bramah__read_text, bramah__loaded, machine.name, .required = 1),
    {.name = "source", .read = bramah__read_nothing},
    BRAMAH__KEY("gravity", bramah__read_vector, bramah__loaded, machine.gravity, .required = 1,
                .unit = "m/s^2", .count = 3),
    BRAMAH__SECTION("bodies", bramah__loaded, machine.bodies, machine.n_bodies, &body_table, .required = 1),
    BRAMAH__SECTION("joints", bramah__loaded, machine.joints, machine.n_joints, &joint_table, .required = 1),
    BRAMAH__SECTION("loops", bramah__loaded, machine.loops, machine.n_loops, &loop_table, .required = 0),
    BRAMAH__SECTION("springs", bramah__loaded, machine.springs, machine.n_springs, &spring_table,
                    .required = 0),
    BRAMAH__SECTION("joint_springs", bramah__loaded, machine.joint_springs, machine.n_joint_springs,
                    &joint_spring_table, .required = 0),
    BRAMAH__SECTION("forces", bramah__loaded, machine.forces, machine.n_forces, &force_table, .required = 0),
    BRAMAH__SECTION("contacts", bramah__loaded, machine.contacts, machine.n_contacts, &contact_table,
                    .required = 0),
    BRAMAH__SECTION("motions", bramah__loaded, machine.motions, machine.n_motions, &motion_table,
                    .required = 0),
    BRAMAH__SECTION("wheels", bramah__loaded, machine.wheels, machine.n_wheels, &wheel_table, .required = 0),
    BRAMAH__SECTION("knife_edges", bramah__loaded, machine.knife_edges, machine.n_knife_edges,
                    &knife_edge_table, .required = 0),
    {.name = "hydraulics", .read = bramah__read_hydraulics, .shape = BRAMAH__SHAPE_HYDRAULICS},
    BRAMAH__SECTION("inputs", bramah__loaded, machine.inputs, machine.n_inputs, &input_table, .required = 0),
    BRAMAH__SECTION("outputs", bramah__loaded, machine.outputs, machine.n_outputs, &output_table,
                    .required = 0),
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
    {{"hydraulics", "metered_cylinders", "*", "flow_coefficient"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "metered_cylinders", "*", "area"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
    {{"hydraulics", "metered_cylinders", "*", "discharge_coefficient"}, ".flow_scale", BRAMAH__LEAD_FACTOR},
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
