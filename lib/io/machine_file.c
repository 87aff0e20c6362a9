/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "bramah/files.h"
#include "bramah/model.h"
#include "lib/base/diag.h"
#include "lib/io/machine_elements.h"
#include "lib/io/machine_file.h"
#include "lib/io/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FLOW_UNIT BRAMAH__FLOW_UNIT

/* The machine while it is being read; the pool holds everything it points to. */
typedef struct loaded {
  bramah_machine machine; /* first: the caller's pointer is ours */
  bramah__pool pool;
  double oil_density; /* 0 where the file has none */
} loaded;

/* ---- bodies ---- */

static bramah_status finish_body(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_body *body = object;
  if (strcmp(body->name, "ground") != 0) return BRAMAH_OK;
  return bramah__fail_key(reader, item, BRAMAH_E_VALUE,
                          "'ground' is the inertial frame and cannot be a body's name");
}

static const bramah__key body_keys[] = {
    BRAMAH__KEY("mass", bramah__read_quantity, bramah_body, mass, .required = 1, .unit = "kg",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("centre_of_mass", bramah__read_vector, bramah_body, centre_of_mass, .unit = "m", .count = 3),
    BRAMAH__KEY("inertia", bramah__read_vector, bramah_body, inertia, .unit = "kg*m^2", .count = 3,
                .other_count = 6, .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table body_table = {
    .keys = body_keys, .size = sizeof(bramah_body), .finish = finish_body};

/* ---- joints ---- */

static const bramah__word joint_types[] = {
    {"revolute", BRAMAH_JOINT_REVOLUTE},   {"prismatic", BRAMAH_JOINT_PRISMATIC},
    {"fixed", BRAMAH_JOINT_FIXED},         {"cylindrical", BRAMAH_JOINT_CYLINDRICAL},
    {"universal", BRAMAH_JOINT_UNIVERSAL}, {"planar", BRAMAH_JOINT_PLANAR},
    {"spherical", BRAMAH_JOINT_SPHERICAL}, {NULL, 0}};

static int is_compound(bramah_joint_type type)
{
  return type != BRAMAH_JOINT_REVOLUTE && type != BRAMAH_JOINT_PRISMATIC;
}

static int coordinate_slides(bramah_joint_type type, size_t i)
{
  return type == BRAMAH_JOINT_PRISMATIC || (type == BRAMAH_JOINT_CYLINDRICAL && i == 0) ||
         (type == BRAMAH_JOINT_PLANAR && i < 2);
}

/* A list with one quantity for each coordinate of a compound joint, into double [3] at key->offset. */
static bramah_status read_coordinates(bramah__reader *reader, const bramah__item *item,
                                      const bramah__key *key, void *object)
{
  const bramah_joint *joint = object;
  const size_t n = bramah_joint_n_coordinates(joint->type);
  if (item->node->kind != BRAMAH__NODE_LIST || item->node->n != n) {
    bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                      "a list with one value for each coordinate of the joint is "
                      "expected: ");
    bramah__add_number(reader->diag, (double)n, 1);
    return BRAMAH_E_SYNTAX;
  }
  for (size_t i = 0; i < n; i++) {
    bramah__key one = *key;
    const bramah__item element = bramah__item_at(item, i);
    one.offset = key->offset + i * sizeof(double);
    if (coordinate_slides(joint->type, i)) one.unit = key->other_unit;
    one.other_unit = NULL;
    const bramah_status status = bramah__read_quantity(reader, &element, &one, object);
    if (status) return status;
  }
  return BRAMAH_OK;
}

/* The unit of the key for a revolute joint, its other unit for a prismatic one; a list for compound ones,
 * whose member stands key->stride behind. */
static bramah_status read_by_type(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  const bramah_joint *joint = object;
  bramah__key by_type = *key;
  if (joint->type == BRAMAH_JOINT_FIXED) return BRAMAH_OK; /* finish_joint refuses it */
  if (is_compound(joint->type)) {
    by_type.offset = key->stride;
    return read_coordinates(reader, item, &by_type, object);
  }
  if (joint->type == BRAMAH_JOINT_PRISMATIC) by_type.unit = key->other_unit;
  by_type.other_unit = NULL;
  return bramah__read_quantity(reader, item, &by_type, object);
}

static bramah_status read_initial(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                  void *object)
{
  bramah_joint *joint = object;
  joint->initial = BRAMAH_INITIAL_GIVEN;
  return read_by_type(reader, item, key, object);
}

/* R = Rz(yaw) Ry(pitch) Rx(roll): turned about the fixed axes x, y, z in this order. */
static void rotation_matrix(const double angle[3], double *R)
{
  double cr = cos(angle[0]), sr = sin(angle[0]);
  double cp = cos(angle[1]), sp = sin(angle[1]);
  double cy = cos(angle[2]), sy = sin(angle[2]);
  R[0] = cy * cp;
  R[1] = cy * sp * sr - sy * cr;
  R[2] = cy * sp * cr + sy * sr;
  R[3] = sy * cp;
  R[4] = sy * sp * sr + cy * cr;
  R[5] = sy * sp * cr - cy * sr;
  R[6] = -sp;
  R[7] = cp * sr;
  R[8] = cp * cr;
}

static bramah_status read_rotation(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object)
{
  bramah_joint *joint = object;
  double angle[3];
  bramah__key angles = *key;
  angles.offset = 0;
  bramah_status status = bramah__read_vector(reader, item, &angles, angle);
  if (!status) rotation_matrix(angle, joint->rotation);
  return status;
}

/* A key that some types need and the others must not have. */
static bramah_status check_belongs(bramah__reader *reader, const bramah__item *item, const char *key,
                                   int needed)
{
  bramah__item found;
  const int given = bramah__item_find(item, key, &found);
  if (given == needed) return BRAMAH_OK;
  if (needed) return bramah__fail_missing(reader, item, key);
  bramah__fail_key(reader, &found, BRAMAH_E_KEY, "'");
  bramah__add_text(reader->diag, key);
  bramah__add_text(reader->diag, "' does not belong to this type");
  return BRAMAH_E_KEY;
}

/* A welded body has no coordinate that could start anywhere. */
static bramah_status check_fixed(bramah__reader *reader, const bramah__item *item)
{
  static const char *const keys[] = {"initial", "guess", "rate"};
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < sizeof keys / sizeof keys[0]; i++)
    status = check_belongs(reader, item, keys[i], 0);
  return status;
}

static bramah_status finish_joint(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_joint_type type = ((const bramah_joint *)object)->type;
  bramah__item guess, initial;
  const int fixed = type == BRAMAH_JOINT_FIXED;
  const int two = type == BRAMAH_JOINT_UNIVERSAL || type == BRAMAH_JOINT_PLANAR;
  bramah_status status = check_belongs(reader, item, "axis", !fixed && type != BRAMAH_JOINT_SPHERICAL);
  if (!status) status = check_belongs(reader, item, "second_axis", two);
  if (!status && fixed) status = check_fixed(reader, item);
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

static const bramah__table joint_table = {
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

static const bramah__table loop_table = {
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

static const bramah__table spring_table = {
    .keys = spring_keys, .size = sizeof(bramah_spring), .finish = finish_spring};

/* 1: the coordinate of that name turns, 2: it slides, 0: there is none. */
static int coordinate_kind(const bramah_machine *machine, const char *name)
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

/* The unit of the key where the joint turns, its other unit where it slides. */
static bramah_status read_by_coordinate(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  const loaded *draft = reader->draft;
  const int kind = coordinate_kind(&draft->machine, ((const bramah_joint_spring *)object)->joint);
  bramah__key by_kind = *key;
  if (kind == 2) by_kind.unit = key->other_unit;
  if (kind) by_kind.other_unit = NULL;
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

static const bramah__table joint_spring_table = {
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

static const bramah__table force_table = {
    .keys = force_keys, .size = sizeof(bramah_force), .finish = finish_force};

/* ---- oil, supplies, volumes ---- */

static bramah_status finish_oil(bramah__reader *reader, const bramah__item *item, void *object)
{
  loaded *draft = object;
  bramah_air *air = &draft->machine.air;
  bramah__item exponent, pressure;
  if (!bramah__item_find(item, "air_exponent", &exponent)) air->exponent = 1.4;
  if (air->exponent < 1.0)
    return bramah__fail_item(reader, &exponent, BRAMAH_E_VALUE, "exponent must not be below 1");
  if (air->fraction > 0.0 || !bramah__item_find(item, "vapour_pressure", &pressure)) return BRAMAH_OK;
  return bramah__fail_key(reader, &pressure, BRAMAH_E_KEY,
                          "a vapour pressure needs an 'air_fraction': it is the air that forms the cavity");
}

static const bramah__key oil_keys[] = {
    BRAMAH__KEY("bulk_modulus", bramah__read_quantity, loaded, machine.oil_bulk_modulus, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("density", bramah__read_quantity, loaded, oil_density, .unit = "kg/m^3",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("air_fraction", bramah__read_quantity, loaded, machine.air.fraction, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("air_exponent", bramah__read_quantity, loaded, machine.air.exponent, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("vapour_pressure", bramah__read_quantity, loaded, machine.air.vapour_pressure, .unit = "Pa",
                .range = BRAMAH__NOT_NEGATIVE),
    {0}};

static const bramah__table oil_table = {.keys = oil_keys, .finish = finish_oil};

static const bramah__key supply_keys[] = {BRAMAH__KEY("pressure", bramah__read_quantity, bramah_supply,
                                                      pressure, .required = 1, .unit = "Pa",
                                                      .range = BRAMAH__NOT_NEGATIVE),
                                          {0}};

static const bramah__table supply_table = {.keys = supply_keys, .size = sizeof(bramah_supply)};

static const bramah__key hose_keys[] = {BRAMAH__KEY("volume", bramah__read_quantity, bramah_hose, volume,
                                                    .required = 1, .unit = "m^3", .range = BRAMAH__POSITIVE),
                                        BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah_hose,
                                                    bulk_modulus, .required = 1, .unit = "Pa",
                                                    .range = BRAMAH__POSITIVE),
                                        {0}};

static const bramah__table hose_table = {.keys = hose_keys, .size = sizeof(bramah_hose)};

static bramah_status read_initial_pressure(bramah__reader *reader, const bramah__item *item,
                                           const bramah__key *key, void *object)
{
  bramah_volume *volume = object;
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  if (strcmp(text, "equilibrium") == 0) {
    volume->initial = BRAMAH_PRESSURE_EQUILIBRIUM;
    return BRAMAH_OK;
  }
  status = bramah__read_quantity(reader, item, key, object);
  if (status && !bramah__unit_of(text)) bramah__add_text(reader->diag, ", or the word 'equilibrium'");
  return status;
}

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", read_initial_pressure, bramah_volume, initial_pressure, .required = 1,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("hoses", bramah__read_list, bramah_volume, hoses, .table = &hose_table,
                .count_offset = offsetof(bramah_volume, n_hoses)),
    {0}};

static const bramah__table volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume)};

/* ---- throttles ---- */

/* One of two ways to give a value: 1 for the first, 2 for the second, 0 and the error told otherwise. */
static int either_key(bramah__reader *reader, const bramah__item *item, const char *first, const char *second)
{
  bramah__item one, two;
  int has_first = bramah__item_find(item, first, &one), has_second = bramah__item_find(item, second, &two);
  if (has_first != has_second) return has_first ? 1 : 2;
  bramah__fail_key(reader, has_first ? &two : item, BRAMAH_E_KEY, "'");
  bramah__add_text(reader->diag, first);
  bramah__add_text(reader->diag, has_first ? "' and '" : "' or '");
  bramah__add_text(reader->diag, second);
  bramah__add_text(reader->diag, has_first ? "' exclude each other" : "' is needed");
  return 0;
}

/* C = C_d A sqrt(2/rho). Source: spec equations 2. */
static bramah_status throttle_by_area(bramah__reader *reader, const bramah__item *item,
                                      bramah_throttle *throttle)
{
  const bramah__key area = {.name = "area", .unit = "m^2", .range = BRAMAH__POSITIVE};
  const bramah__key discharge = {.name = "discharge_coefficient", .unit = "1", .range = BRAMAH__POSITIVE};
  const loaded *draft = reader->draft;
  double a = 0.0, cd = 0.0;
  bramah__item given;
  bramah_status status = bramah__find_quantity(reader, item, &area, &a);
  if (!status) status = bramah__find_quantity(reader, item, &discharge, &cd);
  if (status) return status;
  if (!bramah__item_find(item, discharge.name, &given))
    return bramah__fail_missing(reader, item, discharge.name);
  bramah__item_find(item, area.name, &given);
  if (draft->oil_density <= 0.0)
    return bramah__fail_key(reader, &given, BRAMAH_E_KEY,
                            "an area needs 'hydraulics.oil.density', which is missing");
  throttle->flow_coefficient = cd * a * sqrt(2.0 / draft->oil_density);
  return BRAMAH_OK;
}

static bramah_status finish_throttle(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__item discharge;
  switch (either_key(reader, item, "area", "flow_coefficient")) {
  case 0:
    return BRAMAH_E_KEY;
  case 1:
    return throttle_by_area(reader, item, object);
  default:
    break;
  }
  if (!bramah__item_find(item, "discharge_coefficient", &discharge)) return BRAMAH_OK;
  return bramah__fail_key(reader, &discharge, BRAMAH_E_KEY, "a discharge coefficient belongs to an 'area'");
}

static const bramah__key throttle_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_throttle, from, .required = 1),
    BRAMAH__KEY("to", bramah__read_name, bramah_throttle, to, .required = 1),
    {.name = "area", .read = bramah__read_nothing},
    {.name = "discharge_coefficient", .read = bramah__read_nothing},
    BRAMAH__KEY("flow_coefficient", bramah__read_quantity, bramah_throttle, flow_coefficient,
                .unit = FLOW_UNIT, .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table throttle_table = {
    .keys = throttle_keys, .size = sizeof(bramah_throttle), .finish = finish_throttle};

/* ---- valves ---- */

static bramah_status finish_valve(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_valve *valve = object;
  bramah__item limit, spool;
  if (!valve->input) valve->input = valve->name;
  if (!bramah__item_find(item, "limit", &limit)) valve->limit = 10.0;
  const bramah_status status = bramah__check_characteristics(reader, item, valve);
  if (status) return status;
  if (fabs(valve->initial_spool) <= valve->limit || !bramah__item_find(item, "spool", &spool))
    return BRAMAH_OK;
  return bramah__fail_item(reader, &spool, BRAMAH_E_VALUE, "spool must lie within the limit of the valve");
}

static const bramah__key valve_keys[] = {
    BRAMAH__KEY("pump", bramah__read_name, bramah_valve, pump, .required = 1),
    BRAMAH__KEY("tank", bramah__read_name, bramah_valve, tank, .required = 1),
    BRAMAH__KEY("a", bramah__read_name, bramah_valve, a, .required = 1),
    BRAMAH__KEY("b", bramah__read_name, bramah_valve, b, .required = 1),
    BRAMAH__KEY("flow_coefficient", bramah__read_quantity, bramah_valve, flow_coefficient, .required = 1,
                .unit = FLOW_UNIT "/V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("time_constant", bramah__read_quantity, bramah_valve, time_constant, .required = 1,
                .unit = "s", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("limit", bramah__read_quantity, bramah_valve, limit, .unit = "V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("spool", bramah__read_quantity, bramah_valve, initial_spool, .unit = "V"),
    BRAMAH__KEY("input", bramah__read_name, bramah_valve, input, .required = 0),
    BRAMAH__KEY("dead_band", bramah__read_quantity, bramah_valve, dead_band, .unit = "V",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("characteristic", bramah__read_characteristic, bramah_valve, characteristic, .required = 0),
    BRAMAH__KEY("port_characteristics", bramah__read_child, bramah_valve, ports,
                .table = &bramah__ports_table),
    {0}};

static const bramah__table valve_table = {
    .keys = valve_keys, .size = sizeof(bramah_valve), .finish = finish_valve};

/* ---- cylinders ---- */

static const bramah__word friction_models[] = {{"none", BRAMAH_FRICTION_NONE},
                                               {"viscous", BRAMAH_FRICTION_VISCOUS},
                                               {"bengisu-akay", BRAMAH_FRICTION_BENGISU_AKAY},
                                               {"brown-mcphee", BRAMAH_FRICTION_BROWN_MCPHEE},
                                               {"lugre", BRAMAH_FRICTION_LUGRE},
                                               {"modified-lugre", BRAMAH_FRICTION_MODIFIED_LUGRE},
                                               {NULL, 0}};

/* Keys each model needs, by its number. Others may stand there, so that one word changes the model. */
static const char *const friction_needs[][12] = {
    [BRAMAH_FRICTION_NONE] = {NULL},
    [BRAMAH_FRICTION_VISCOUS] = {"viscous", NULL},
    [BRAMAH_FRICTION_BROWN_MCPHEE] = {"coulomb", "static", "stribeck_velocity", NULL},
    [BRAMAH_FRICTION_BENGISU_AKAY] = {"coulomb", "static", "stribeck_velocity", "decay", NULL},
    [BRAMAH_FRICTION_LUGRE] = {"coulomb", "static", "stribeck_velocity", "bristle_stiffness",
                               "bristle_damping", "stribeck_exponent", NULL},
    [BRAMAH_FRICTION_MODIFIED_LUGRE] = {"coulomb", "static", "stribeck_velocity", "bristle_stiffness",
                                        "bristle_damping", "stribeck_exponent", "film_velocity",
                                        "film_time_rising", "film_time_falling", "film_time_dwell", NULL}};

static bramah_status finish_friction(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_friction *friction = object;
  bramah__item found;
  for (const char *const *needed = friction_needs[friction->model]; *needed; needed++)
    if (!bramah__item_find(item, *needed, &found)) return bramah__fail_missing(reader, item, *needed);
  if (friction->static_force >= friction->coulomb || !bramah__item_find(item, "static", &found))
    return BRAMAH_OK;
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE,
                           "static friction must not be below coulomb friction");
}

/* Friction by units of force [N] and of way [m], or torque and angle. */
#define FRICTION_KEY(name, member, of_unit, of_range)                                                        \
  BRAMAH__KEY(name, bramah__read_quantity, bramah_friction, member, .unit = (of_unit), .range = (of_range))

#define FRICTION_KEYS(force, way)                                                                            \
  {                                                                                                          \
    BRAMAH__KEY("model", bramah__read_word, bramah_friction, model, .required = 1,                           \
                .words = friction_models),                                                                   \
        FRICTION_KEY("coulomb", coulomb, force, BRAMAH__NOT_NEGATIVE),                                       \
        FRICTION_KEY("static", static_force, force, BRAMAH__NOT_NEGATIVE),                                   \
        FRICTION_KEY("stribeck_velocity", stribeck_velocity, way "/s", BRAMAH__POSITIVE),                    \
        FRICTION_KEY("viscous", viscous, force "*s/" way, BRAMAH__NOT_NEGATIVE),                             \
        FRICTION_KEY("decay", decay, "s/" way, BRAMAH__POSITIVE),                                            \
        FRICTION_KEY("bristle_stiffness", bristle_stiffness, force "/" way, BRAMAH__POSITIVE),               \
        FRICTION_KEY("bristle_damping", bristle_damping, force "*s/" way, BRAMAH__NOT_NEGATIVE),             \
        FRICTION_KEY("stribeck_exponent", stribeck_exponent, "1", BRAMAH__POSITIVE),                         \
        FRICTION_KEY("film_velocity", film_velocity, way "/s", BRAMAH__POSITIVE),                            \
        FRICTION_KEY("film_time_rising", film_time_rising, "s", BRAMAH__POSITIVE),                           \
        FRICTION_KEY("film_time_falling", film_time_falling, "s", BRAMAH__POSITIVE),                         \
        FRICTION_KEY("film_time_dwell", film_time_dwell, "s", BRAMAH__POSITIVE),                             \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }

static const bramah__key friction_keys[] = FRICTION_KEYS("N", "m");
static const bramah__key rotary_friction_keys[] = FRICTION_KEYS("N*m", "rad");

static const bramah__table friction_table = {.keys = friction_keys, .finish = finish_friction};
static const bramah__table rotary_friction_table = {.keys = rotary_friction_keys, .finish = finish_friction};

/* Areas given directly or by diameters. A rod with a piston area is as good as one with a bore. */
static bramah_status finish_cylinder(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__key bore_key = {.name = "bore", .unit = "m", .range = BRAMAH__POSITIVE};
  const bramah__key rod_key = {.name = "rod", .unit = "m", .range = BRAMAH__POSITIVE};
  bramah_cylinder *cylinder = object;
  double bore = 0.0, rod = 0.0;
  bramah__item rod_item;
  if (!either_key(reader, item, "bore", "piston_area")) return BRAMAH_E_KEY;
  int by_rod = either_key(reader, item, "rod", "rod_area");
  if (!by_rod) return BRAMAH_E_KEY;
  bramah_status status = bramah__find_quantity(reader, item, &bore_key, &bore);
  if (!status) status = bramah__find_quantity(reader, item, &rod_key, &rod);
  if (status) return status;
  if (bore > 0.0) cylinder->piston_area = PI / 4.0 * (bore * bore);
  if (by_rod == 2) return BRAMAH_OK;
  cylinder->rod_area =
      bore > 0.0 ? PI / 4.0 * (bore * bore - rod * rod) : cylinder->piston_area - PI / 4.0 * rod * rod;
  if (cylinder->rod_area > 0.0) return BRAMAH_OK;
  bramah__item_find(item, "rod", &rod_item);
  return bramah__fail_item(reader, &rod_item, BRAMAH_E_VALUE, "rod must be thinner than the bore");
}

static const bramah__key cylinder_keys[] = {
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_cylinder, body, .required = 1,
                .element = bramah__read_name, .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_cylinder, point, .required = 1, .unit = "m", .count = 3,
                .element = bramah__read_vector, .stride = sizeof(double[3])),
    BRAMAH__KEY("piston_volume", bramah__read_name, bramah_cylinder, piston_volume, .required = 1),
    BRAMAH__KEY("rod_volume", bramah__read_name, bramah_cylinder, rod_volume, .required = 1),
    {.name = "bore", .read = bramah__read_nothing},
    BRAMAH__KEY("piston_area", bramah__read_quantity, bramah_cylinder, piston_area, .unit = "m^2",
                .range = BRAMAH__POSITIVE),
    {.name = "rod", .read = bramah__read_nothing},
    BRAMAH__KEY("rod_area", bramah__read_quantity, bramah_cylinder, rod_area, .unit = "m^2",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah_cylinder, bulk_modulus, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("reference_stroke", bramah__read_quantity, bramah_cylinder, reference_stroke, .required = 1,
                .unit = "m", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("piston_chamber_length", bramah__read_quantity, bramah_cylinder, piston_chamber_length,
                .required = 1, .unit = "m", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("rod_chamber_length", bramah__read_quantity, bramah_cylinder, rod_chamber_length,
                .required = 1, .unit = "m", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("friction", bramah__read_child, bramah_cylinder, friction, .table = &friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_cylinder, end_stop, .table = &bramah__end_stop_table),
    {0}};

static const bramah__table cylinder_table = {
    .keys = cylinder_keys, .size = sizeof(bramah_cylinder), .finish = finish_cylinder};

/* ---- rotary actuators ---- */

static bramah_status finish_rotary(bramah__reader *reader, const bramah__item *item, void *object)
{
  const loaded *draft = reader->draft;
  const bramah_rotary *rotary = object;
  bramah__item joint;
  if (coordinate_kind(&draft->machine, rotary->joint) != 2 || !bramah__item_find(item, "joint", &joint))
    return BRAMAH_OK;
  return bramah__fail_item(reader, &joint, BRAMAH_E_VALUE,
                           "this coordinate slides; a rotary actuator needs one that turns");
}

static const bramah__key rotary_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_rotary, joint, .required = 1),
    BRAMAH__KEY("a_volume", bramah__read_name, bramah_rotary, a_volume, .required = 1),
    BRAMAH__KEY("b_volume", bramah__read_name, bramah_rotary, b_volume, .required = 1),
    BRAMAH__KEY("displacement", bramah__read_quantity, bramah_rotary, displacement, .required = 1,
                .unit = "m^3/rad", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah_rotary, bulk_modulus, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("reference_angle", bramah__read_quantity, bramah_rotary, reference_angle, .unit = "rad"),
    BRAMAH__KEY("a_angle", bramah__read_quantity, bramah_rotary, a_angle, .required = 1, .unit = "rad",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("b_angle", bramah__read_quantity, bramah_rotary, b_angle, .required = 1, .unit = "rad",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("friction", bramah__read_child, bramah_rotary, friction, .table = &rotary_friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_rotary, end_stop,
                .table = &bramah__rotary_end_stop_table),
    {0}};

static const bramah__table rotary_table = {
    .keys = rotary_keys, .size = sizeof(bramah_rotary), .finish = finish_rotary};

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

/* The oil comes first: throttles need its density. */
static const bramah__key hydraulics_keys[] = {
    {.name = "oil", .read = bramah__read_child, .required = 1, .table = &oil_table},
    BRAMAH__KEY("laminar_pressure", bramah__read_quantity, loaded, machine.laminar_pressure, .unit = "Pa",
                .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("supplies", loaded, machine.supplies, machine.n_supplies, &supply_table, .required = 0),
    BRAMAH__SECTION("volumes", loaded, machine.volumes, machine.n_volumes, &volume_table, .required = 0),
    BRAMAH__SECTION("throttles", loaded, machine.throttles, machine.n_throttles, &throttle_table,
                    .required = 0),
    BRAMAH__SECTION("valves", loaded, machine.valves, machine.n_valves, &valve_table, .required = 0),
    BRAMAH__SECTION("cylinders", loaded, machine.cylinders, machine.n_cylinders, &cylinder_table,
                    .required = 0),
    BRAMAH__SECTION("rotary_actuators", loaded, machine.rotaries, machine.n_rotaries, &rotary_table,
                    .required = 0),
    BRAMAH__SECTION("leakages", loaded, machine.leakages, machine.n_leakages, &bramah__leakage_table,
                    .required = 0),
    BRAMAH__SECTION("check_valves", loaded, machine.check_valves, machine.n_check_valves,
                    &bramah__check_valve_table, .required = 0),
    BRAMAH__SECTION("relief_valves", loaded, machine.relief_valves, machine.n_relief_valves,
                    &bramah__relief_valve_table, .required = 0),
    BRAMAH__SECTION("pumps", loaded, machine.pumps, machine.n_pumps, &bramah__pump_table, .required = 0),
    BRAMAH__SECTION("accumulators", loaded, machine.accumulators, machine.n_accumulators,
                    &bramah__accumulator_table, .required = 0),
    {0}};

static const bramah__table hydraulics_table = {.keys = hydraulics_keys};

static const bramah__key machine_keys[] = {
    BRAMAH__KEY("machine", bramah__read_text, loaded, machine.name, .required = 1),
    {.name = "source", .read = bramah__read_nothing},
    BRAMAH__KEY("gravity", bramah__read_vector, loaded, machine.gravity, .required = 1, .unit = "m/s^2",
                .count = 3),
    BRAMAH__SECTION("bodies", loaded, machine.bodies, machine.n_bodies, &body_table, .required = 1),
    BRAMAH__SECTION("joints", loaded, machine.joints, machine.n_joints, &joint_table, .required = 1),
    BRAMAH__SECTION("loops", loaded, machine.loops, machine.n_loops, &loop_table, .required = 0),
    BRAMAH__SECTION("springs", loaded, machine.springs, machine.n_springs, &spring_table, .required = 0),
    BRAMAH__SECTION("joint_springs", loaded, machine.joint_springs, machine.n_joint_springs,
                    &joint_spring_table, .required = 0),
    BRAMAH__SECTION("forces", loaded, machine.forces, machine.n_forces, &force_table, .required = 0),
    {.name = "hydraulics", .read = bramah__read_child, .table = &hydraulics_table},
    BRAMAH__SECTION("inputs", loaded, machine.inputs, machine.n_inputs, &input_table, .required = 0),
    BRAMAH__KEY("integrator", bramah__read_child, loaded, machine.integrator, .table = &integrator_table),
    {0}};

static const bramah__table machine_table = {.keys = machine_keys};

static int has_input(const bramah_input *inputs, size_t n, const char *name)
{
  for (size_t i = 0; i < n; i++)
    if (strcmp(inputs[i].name, name) == 0) return 1;
  return 0;
}

/* Inputs that a valve names and nobody commands: entries without points, behind the others. */
static bramah_status add_silent_inputs(bramah__reader *reader, bramah_machine *machine)
{
  bramah_input *inputs =
      bramah__pool_take(reader->keep, machine->n_inputs + machine->n_valves, sizeof *inputs);
  size_t n = machine->n_inputs;
  if (!inputs) return bramah__no_memory(reader);
  if (n) memcpy(inputs, machine->inputs, n * sizeof *inputs);
  for (size_t i = 0; i < machine->n_valves; i++) {
    const bramah_valve *valve = &machine->valves[i];
    if (!has_input(inputs, n, valve->input))
      inputs[n++] = (bramah_input){.name = valve->input, .line = valve->line};
  }
  machine->inputs = inputs;
  machine->n_inputs = n;
  return BRAMAH_OK;
}

static void set_defaults(bramah_machine *machine)
{
  machine->laminar_pressure = 2e5;
  machine->integrator = (bramah_integrator){
      .step_ns = 1000000, .position_tolerance = 1e-7, .pressure_tolerance = 1e-2, .max_iterations = 25};
}

static bramah_status read_machine(bramah__reader *reader, size_t n_changes, const bramah_change *changes,
                                  loaded *out)
{
  bramah__node *root;
  bramah_status status = bramah__yaml_load(reader, &root);
  if (!status) status = bramah__changes_apply(reader, n_changes, changes, &root);
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
  loaded *machine = calloc(1, sizeof *machine);
  bramah_status status = machine
                             ? bramah__reader_open(&reader, &machine->pool, path, &diag)
                             : bramah__fail(&diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a machine");
  if (machine) {
    reader.draft = machine;
    reader.tell = tell;
    reader.tell_user = user;
    if (!status) status = read_machine(&reader, n_changes, changes, machine);
    bramah__reader_close(&reader);
    bramah_machine_free(&machine->machine);
  }
  if (status && !(machine && reader.told)) tell(user, &diag);
  return status;
}

bramah_status bramah_machine_load(const char *path, size_t n_changes, const bramah_change *changes,
                                  bramah_diag *diag, bramah_machine **out)
{
  loaded *machine = calloc(1, sizeof *machine);
  bramah__reader reader;
  if (!machine) return bramah__fail(diag, BRAMAH_E_MEMORY, NULL, "not enough memory for a machine");
  bramah_status status = bramah__reader_open(&reader, &machine->pool, path, diag);
  reader.draft = machine;
  if (!status) status = read_machine(&reader, n_changes, changes, machine);
  bramah__reader_close(&reader);
  if (status)
    bramah_machine_free(&machine->machine);
  else
    *out = &machine->machine;
  return status;
}

void bramah_machine_free(bramah_machine *machine)
{
  loaded *whole = (loaded *)machine;
  if (!whole) return;
  bramah__pool_free(&whole->pool);
  free(whole);
}
