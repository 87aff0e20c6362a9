/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/multibody/contact_law.h"
#include "lib/hydraulics/cylinder.h"

#include <string.h>

BRAMAH__EQUATION bramah__expr stop_force(const bramah__cylinder *c, bramah__expr s, bramah__expr v)
{
  const bramah__expr l[2] = {bramah__chamber(c, 0, s), bramah__chamber(c, 1, s)};
  return both_stops(&c->stop, l, v);
}

bramah__expr bramah__stop_force(const bramah__cylinder *cylinder, bramah__expr s, bramah__expr v)
{
  return BRAMAH__EITHER(s.graph || v.graph, stop_force(cylinder, s, v));
}

/* ---- keys ---- */

/* By the key of the length of the cushion and the units of force and stroke. */
#define STOP_KEY(key, member, unit_, what_, range_, required_)                                               \
  BRAMAH__QUANTITY_KEY(key, bramah_end_stop, member, .required = (required_), .unit = (unit_),               \
                       .what = (what_), .range = (range_))
#define STOP_KEYS(length_key, force, stroke)                                                                 \
  {                                                                                                          \
    STOP_KEY("stiffness", stiffness, force "/" stroke, "the stiffness of the end stop", BRAMAH_KEY_POSITIVE, \
             1),                                                                                             \
        STOP_KEY("damping", damping, force "*s/" stroke, "the damping of the end stop",                      \
                 BRAMAH_KEY_NOT_NEGATIVE, 1),                                                                \
        STOP_KEY(length_key, cushion_length, stroke, "the length of the cushion", BRAMAH_KEY_POSITIVE, 0),   \
        STOP_KEY("cushion_damping", cushion_damping, force "*s/" stroke, "the damping of the cushion",       \
                 BRAMAH_KEY_POSITIVE, 0),                                                                    \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }

static const char *check_stop(const void *element, const char **key)
{
  const bramah_end_stop *stop = element;
  *key = "stiffness";
  if (stop->damping != 0.0 && stop->stiffness == 0.0)
    return "the stiffness of the end stop must be positive, not 0";
  *key = stop->cushion_damping == 0.0 ? "cushion_damping" : "cushion_length";
  if ((stop->cushion_length == 0.0) == (stop->cushion_damping == 0.0)) return NULL;
  return stop->cushion_damping == 0.0 ? "the damping of the cushion must be positive, not 0"
                                      : "the length of the cushion must be positive, not 0";
}

static const char *check_rotary_stop(const void *element, const char **key)
{
  const char *fault = check_stop(element, key);
  if (strcmp(*key, "cushion_length") == 0) *key = "cushion_angle";
  return fault;
}

static const bramah_element_key stop_keys[] = STOP_KEYS("cushion_length", "N", "m");
static const bramah_element_key rotary_stop_keys[] = STOP_KEYS("cushion_angle", "N*m", "rad");
const bramah_element_kind bramah__end_stop_part = {.keys = stop_keys, .check = check_stop};
const bramah_element_kind bramah__rotary_end_stop_part = {.keys = rotary_stop_keys,
                                                          .check = check_rotary_stop};

#define LENGTH_KEY(key, type_, member, unit_, what_, range_, required_)                                      \
  BRAMAH__QUANTITY_KEY(key, type_, member, .required = (required_), .unit = (unit_), .what = (what_),        \
                       .range = (range_))
#define MODULUS_KEY(type_)                                                                                   \
  BRAMAH__QUANTITY_KEY("bulk_modulus", type_, bulk_modulus, .required = 1, .unit = "Pa",                     \
                       .what = "the bulk modulus", .range = BRAMAH_KEY_POSITIVE)

static const bramah_element_key cylinder_keys[] = {
    BRAMAH__ATTACHMENT_KEYS(bramah_cylinder),
    BRAMAH__VOLUME_KEY("piston_volume", bramah_cylinder, piston_volume),
    BRAMAH__VOLUME_KEY("rod_volume", bramah_cylinder, rod_volume),
    BRAMAH__AREA_KEYS(bramah_cylinder),
    MODULUS_KEY(bramah_cylinder),
    LENGTH_KEY("reference_stroke", bramah_cylinder, reference_stroke, "m", "the reference stroke",
               BRAMAH_KEY_POSITIVE, 1),
    LENGTH_KEY("piston_chamber_length", bramah_cylinder, piston_chamber_length, "m",
               "the piston chamber length", BRAMAH_KEY_POSITIVE, 1),
    LENGTH_KEY("rod_chamber_length", bramah_cylinder, rod_chamber_length, "m", "the rod chamber length",
               BRAMAH_KEY_POSITIVE, 1),
    BRAMAH__PART_KEY("friction", bramah_cylinder, friction, &bramah__friction_part),
    BRAMAH__PART_KEY("end_stop", bramah_cylinder, end_stop, &bramah__end_stop_part),
    {0}};

const bramah_element_kind bramah__cylinder_kind = BRAMAH__DESCRIPTION(
    "cylinders", "cylinder", bramah_cylinder, cylinders, .keys = cylinder_keys, .device = 1);

static const bramah_element_key rotary_keys[] = {
    BRAMAH__NAME_KEY("joint", BRAMAH_KEY_COORDINATE, bramah_rotary, joint, 1),
    BRAMAH__VOLUME_KEY("a_volume", bramah_rotary, a_volume),
    BRAMAH__VOLUME_KEY("b_volume", bramah_rotary, b_volume),
    BRAMAH__QUANTITY_KEY("displacement", bramah_rotary, displacement, .required = 1, .unit = "m^3/rad",
                         .what = "the displacement", .range = BRAMAH_KEY_POSITIVE),
    MODULUS_KEY(bramah_rotary),
    LENGTH_KEY("reference_angle", bramah_rotary, reference_angle, "rad", "the reference angle",
               BRAMAH_KEY_ANY, 0),
    LENGTH_KEY("a_angle", bramah_rotary, a_angle, "rad", "the angle of chamber a", BRAMAH_KEY_POSITIVE, 1),
    LENGTH_KEY("b_angle", bramah_rotary, b_angle, "rad", "the angle of chamber b", BRAMAH_KEY_POSITIVE, 1),
    BRAMAH__PART_KEY("friction", bramah_rotary, friction, &bramah__rotary_friction_part),
    BRAMAH__PART_KEY("end_stop", bramah_rotary, end_stop, &bramah__rotary_end_stop_part),
    {0}};

const bramah_element_kind bramah__rotary_kind = BRAMAH__DESCRIPTION(
    "rotary_actuators", "rotary actuator", bramah_rotary, rotaries, .keys = rotary_keys, .device = 1);
