/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Section `hydraulics` of a machine file: oil, volumes, valves, cylinders, rotary actuators and metered cylinders
 * by tables of their own, all other elements by the table of the core (bramah_element_kind_at). */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FLOW_UNIT "m^3/s/Pa^0.5" /* of a flow coefficient C in Q = C sqrt(dp) */

/* ---- values given in one of two forms ---- */

/* One of two ways to give a value: 1 for the first, 2 for the second, 0 and the error told otherwise. */
static int either_key(bramah__reader *reader, const bramah__item *item, const char *first, const char *second)
{
  bramah__item one, two;
  int has_first = bramah__item_find(item, first, &one), has_second = bramah__item_find(item, second, &two);
  if (has_first != has_second) return has_first ? 1 : 2;
  if (has_first)
    bramah__fail_key(reader, &two, BRAMAH_E_KEY, "'%s' and '%s' exclude each other", first, second);
  else
    bramah__fail_key(reader, item, BRAMAH_E_KEY, "'%s' or '%s' is needed", first, second);
  return 0;
}

/* A value that a key gives, or the product of its factors: 1 for the value, 2 for the factors, 0 and the error
 * told otherwise. */
static int value_or_factors(bramah__reader *reader, const bramah__item *item, const bramah_element_key *keys,
                            const char *result)
{
  bramah__item found, factor;
  const int has_value = bramah__item_find(item, result, &found);
  const bramah_element_key *missing = NULL;
  size_t n = 0;
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    if (bramah__item_find(item, key->name, &found))
      factor = found, n++;
    else
      missing = key;
  }
  if (has_value != (n > 0)) {
    if (n == 0 || !missing) return has_value ? 1 : 2;
    bramah__fail_missing(reader, item, missing->name);
    return 0;
  }
  bramah__fail_key(reader, has_value ? &factor : item, BRAMAH_E_KEY,
                   has_value ? "'%s' stands for" : "'%s', or", result);
  const char *between = " '";
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    bramah__add_text(reader->diag, between);
    bramah__add_text(reader->diag, key->name);
    between = "' and '";
  }
  bramah__add_text(reader->diag, has_value ? "': they exclude each other" : "', is needed");
  return 0;
}

static bramah__range range_of(const bramah_element_key *key)
{
  return key->range == BRAMAH_KEY_NOT_NEGATIVE ? BRAMAH__NOT_NEGATIVE
         : key->range == BRAMAH_KEY_ANY        ? BRAMAH__ANY
                                               : BRAMAH__POSITIVE;
}

static bramah_status read_product(bramah__reader *reader, const bramah__item *item,
                                  const bramah_element_key *keys, const char *result, int by_density,
                                  double *out)
{
  const bramah__loaded *draft = reader->draft;
  double product = 1.0;
  const int how = value_or_factors(reader, item, keys, result);
  if (how != 2) return how ? BRAMAH_OK : BRAMAH_E_KEY;
  for (const bramah_element_key *key = keys; key->name; key++) {
    if (!key->factor_of || strcmp(key->factor_of, result) != 0) continue;
    const bramah__key factor = {.name = key->name, .unit = key->unit, .range = range_of(key)};
    double value = 0.0;
    const bramah_status status = bramah__find_quantity(reader, item, &factor, &value);
    if (status) return status;
    if (by_density && draft->oil_density <= 0.0) {
      bramah__item given;
      bramah__item_find(item, key->name, &given);
      return bramah__fail_key(reader, &given, BRAMAH_E_KEY,
                              "'%s' needs 'hydraulics.oil.density', which is missing", key->name);
    }
    product *= value;
  }
  *out = by_density ? product * sqrt(2.0 / draft->oil_density) : product;
  return BRAMAH_OK;
}

static bramah_status area_or_coefficient(bramah__reader *reader, const bramah__item *item, double *out)
{
  const bramah_element_kind *orifice = bramah_element_kind_at(0);
  return read_product(reader, item, orifice->keys, "flow_coefficient", 1, out);
}

/* ---- oil, supplies, volumes ---- */

static bramah_status finish_oil(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah__loaded *draft = object;
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
    BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah__loaded, machine.oil_bulk_modulus,
                .required = 1, .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("density", bramah__read_quantity, bramah__loaded, oil_density, .unit = "kg/m^3",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("air_fraction", bramah__read_quantity, bramah__loaded, machine.air.fraction, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("air_exponent", bramah__read_quantity, bramah__loaded, machine.air.exponent, .unit = "1",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("vapour_pressure", bramah__read_quantity, bramah__loaded, machine.air.vapour_pressure,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
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

static bramah_status read_pressure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                   void *object, bramah_pressure_initial *initial)
{
  bramah_status status;
  const char *text = bramah__item_text(reader, item, &status);
  if (!text) return status;
  *initial = BRAMAH_PRESSURE_GIVEN;
  if (strcmp(text, "equilibrium") == 0) {
    *initial = BRAMAH_PRESSURE_EQUILIBRIUM;
    return BRAMAH_OK;
  }
  status = bramah__read_quantity(reader, item, key, object);
  if (status && !bramah__unit_of(text)) bramah__add_text(reader->diag, ", or the word 'equilibrium'");
  return status;
}

static bramah_status read_initial_pressure(bramah__reader *reader, const bramah__item *item,
                                           const bramah__key *key, void *object)
{
  bramah_volume *volume = object;
  return read_pressure(reader, item, key, object, &volume->initial);
}

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", read_initial_pressure, bramah_volume, initial_pressure, .required = 1,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("hoses", bramah__read_list, bramah_volume, hoses, .table = &hose_table,
                .count_offset = offsetof(bramah_volume, n_hoses)),
    {0}};

static const bramah__table volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume)};

/* ---- friction and end stops ---- */

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

/* A cushion is given by its extent and its damping. */
static bramah_status check_cushion(bramah__reader *reader, const bramah__item *item, const char *extent)
{
  bramah__item found;
  const int has_extent = bramah__item_find(item, extent, &found);
  const int has_damping = bramah__item_find(item, "cushion_damping", &found);
  if (has_extent == has_damping) return BRAMAH_OK;
  return bramah__fail_missing(reader, item, has_extent ? "cushion_damping" : extent);
}

static bramah_status finish_end_stop(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)object;
  return check_cushion(reader, item, "cushion_length");
}

static bramah_status finish_rotary_end_stop(bramah__reader *reader, const bramah__item *item, void *object)
{
  (void)object;
  return check_cushion(reader, item, "cushion_angle");
}

/* By units of force [N] and of way [m], or torque and angle. */
#define END_STOP_KEYS(extent, force, way)                                                                    \
  {                                                                                                          \
    BRAMAH__KEY("stiffness", bramah__read_quantity, bramah_end_stop, stiffness, .required = 1,               \
                .unit = force "/" way, .range = BRAMAH__POSITIVE),                                           \
        BRAMAH__KEY("damping", bramah__read_quantity, bramah_end_stop, damping, .required = 1,               \
                    .unit = force "*s/" way, .range = BRAMAH__NOT_NEGATIVE),                                 \
        BRAMAH__KEY(extent, bramah__read_quantity, bramah_end_stop, cushion_length, .unit = way,             \
                    .range = BRAMAH__POSITIVE),                                                              \
        BRAMAH__KEY("cushion_damping", bramah__read_quantity, bramah_end_stop, cushion_damping,              \
                    .unit = force "*s/" way, .range = BRAMAH__POSITIVE),                                     \
    {                                                                                                        \
      0                                                                                                      \
    }                                                                                                        \
  }

static const bramah__key end_stop_keys[] = END_STOP_KEYS("cushion_length", "N", "m");
static const bramah__key rotary_end_stop_keys[] = END_STOP_KEYS("cushion_angle", "N*m", "rad");

static const bramah__table end_stop_table = {.keys = end_stop_keys, .finish = finish_end_stop};
static const bramah__table rotary_end_stop_table = {.keys = rotary_end_stop_keys,
                                                    .finish = finish_rotary_end_stop};

/* ---- characteristics of valves ---- */

/* Pairs [spool, opening] of a valve into a bramah_characteristic. */
static bramah_status read_characteristic(bramah__reader *reader, const bramah__item *list,
                                         const bramah__key *key, void *object)
{
  const bramah__curve_key curve = {.pair = "[spool, opening]",
                                   .example = "[1 V, 0.5 V]",
                                   .x_name = "spools",
                                   .least = 2,
                                   .x = {.unit = "V"},
                                   .y = {.unit = "V", .range = key->range}};
  bramah_characteristic out;
  const bramah_status status =
      bramah__read_curve(reader, list, &curve, &out.n_points, &out.spools, &out.openings);
  if (!status) memcpy((unsigned char *)object + key->offset, &out, sizeof out);
  return status;
}

#define PORT(word, port)                                                                                     \
  {                                                                                                          \
    .name = (word), .read = read_characteristic, .offset = (port) * sizeof(bramah_characteristic),           \
    .range = BRAMAH__NOT_NEGATIVE                                                                            \
  }

static const bramah__key port_keys[] = {PORT("pump_a", BRAMAH_PORT_PUMP_A),
                                        PORT("b_tank", BRAMAH_PORT_B_TANK),
                                        PORT("a_tank", BRAMAH_PORT_A_TANK),
                                        PORT("pump_b", BRAMAH_PORT_PUMP_B),
                                        {0}};

static const bramah__table ports_table = {.keys = port_keys};

/* What a valve and the spool of a metered cylinder have in common; `name` is the input where none is given. */
static bramah_status finish_spool(bramah__reader *reader, const bramah__item *item, const char *name,
                                  bramah_valve *valve)
{
  bramah__item band, found;
  if (!valve->input) valve->input = name;
  if (!bramah__item_find(item, "limit", &found)) valve->limit = 10.0;
  if (bramah__item_find(item, "dead_band", &band)) {
    if (bramah__item_find(item, "characteristic", &found))
      return bramah__fail_key(reader, &band, BRAMAH_E_KEY,
                              "'dead_band' and 'characteristic' exclude each other");
    if (!(valve->dead_band < valve->limit))
      return bramah__fail_item(reader, &band, BRAMAH_E_VALUE,
                               "dead band must be below the limit of the valve");
  }
  if (fabs(valve->initial_spool) <= valve->limit || !bramah__item_find(item, "spool", &found))
    return BRAMAH_OK;
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "spool must lie within the limit of the valve");
}

/* ---- valves ---- */

static bramah_status finish_valve(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_valve *valve = object;
  return finish_spool(reader, item, valve->name, valve);
}

static const bramah__key valve_keys[] = {
    BRAMAH__KEY("pump", bramah__read_name, bramah_valve, pump, .required = 1),
    BRAMAH__KEY("tank", bramah__read_name, bramah_valve, tank, .required = 1),
    BRAMAH__KEY("a", bramah__read_name, bramah_valve, a, .required = 1),
    BRAMAH__KEY("b", bramah__read_name, bramah_valve, b, .required = 1),
    BRAMAH__KEY("flow_coefficient", bramah__read_quantity, bramah_valve, flow_coefficient, .required = 1,
                .unit = FLOW_UNIT "/V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("time_constant", bramah__read_quantity, bramah_valve, time_constant, .required = 1,
                .unit = "s", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("limit", bramah__read_quantity, bramah_valve, limit, .unit = "V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("spool", bramah__read_quantity, bramah_valve, initial_spool, .unit = "V"),
    BRAMAH__KEY("input", bramah__read_name, bramah_valve, input, .required = 0),
    BRAMAH__KEY("dead_band", bramah__read_quantity, bramah_valve, dead_band, .unit = "V",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("characteristic", read_characteristic, bramah_valve, characteristic, .required = 0),
    BRAMAH__KEY("port_characteristics", bramah__read_child, bramah_valve, ports, .table = &ports_table),
    {0}};

static const bramah__table valve_table = {
    .keys = valve_keys, .size = sizeof(bramah_valve), .finish = finish_valve};

/* ---- cylinders ---- */

/* Areas given directly or by diameters. A rod with a piston area is as good as one with a bore. */
static bramah_status piston_and_rod(bramah__reader *reader, const bramah__item *item, double *piston_area,
                                    double *rod_area)
{
  const bramah__key bore_key = {.name = "bore", .unit = "m", .range = BRAMAH__POSITIVE};
  const bramah__key rod_key = {.name = "rod", .unit = "m", .range = BRAMAH__POSITIVE};
  double bore = 0.0, rod = 0.0;
  bramah__item rod_item;
  if (!either_key(reader, item, "bore", "piston_area")) return BRAMAH_E_KEY;
  int by_rod = either_key(reader, item, "rod", "rod_area");
  if (!by_rod) return BRAMAH_E_KEY;
  bramah_status status = bramah__find_quantity(reader, item, &bore_key, &bore);
  if (!status) status = bramah__find_quantity(reader, item, &rod_key, &rod);
  if (status) return status;
  if (bore > 0.0) *piston_area = PI / 4.0 * (bore * bore);
  if (by_rod == 2) return BRAMAH_OK;
  *rod_area = bore > 0.0 ? PI / 4.0 * (bore * bore - rod * rod) : *piston_area - PI / 4.0 * rod * rod;
  if (*rod_area > 0.0) return BRAMAH_OK;
  bramah__item_find(item, "rod", &rod_item);
  return bramah__fail_item(reader, &rod_item, BRAMAH_E_VALUE, "rod must be thinner than the bore");
}

static bramah_status finish_cylinder(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_cylinder *cylinder = object;
  return piston_and_rod(reader, item, &cylinder->piston_area, &cylinder->rod_area);
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
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_cylinder, end_stop, .table = &end_stop_table),
    {0}};

static const bramah__table cylinder_table = {
    .keys = cylinder_keys, .size = sizeof(bramah_cylinder), .finish = finish_cylinder};

/* ---- rotary actuators ---- */

static bramah_status finish_rotary(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah__loaded *draft = reader->draft;
  const bramah_rotary *rotary = object;
  bramah__item joint;
  if (bramah__coordinate_kind(&draft->machine, rotary->joint) != 2 ||
      !bramah__item_find(item, "joint", &joint))
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
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_rotary, end_stop, .table = &rotary_end_stop_table),
    {0}};

static const bramah__table rotary_table = {
    .keys = rotary_keys, .size = sizeof(bramah_rotary), .finish = finish_rotary};

/* ---- unloading and regeneration valves ---- */

static bramah_status finish_one_way(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_metering_valve *valve = object;
  bramah__item found;
  if (!either_key(reader, item, "opening", "input")) return BRAMAH_E_KEY;
  if (!bramah__item_find(item, "limit", &found)) valve->limit = 10.0;
  if (valve->opening <= 1.0) return area_or_coefficient(reader, item, &valve->flow_coefficient);
  bramah__item_find(item, "opening", &found);
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "opening must not be above 1");
}

#define COEFFICIENT_KEYS(type, member)                                                                       \
  {.name = "area", .read = bramah__read_nothing},                                                            \
      {.name = "discharge_coefficient", .read = bramah__read_nothing},                                       \
      BRAMAH__KEY("flow_coefficient", bramah__read_quantity, type, member, .unit = FLOW_UNIT,                \
                  .range = BRAMAH__POSITIVE)

static const bramah__key one_way_keys[] = {
    COEFFICIENT_KEYS(bramah_metering_valve, flow_coefficient),
    BRAMAH__KEY("opening", bramah__read_quantity, bramah_metering_valve, opening, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("input", bramah__read_name, bramah_metering_valve, input, .required = 0),
    BRAMAH__KEY("time_constant", bramah__read_quantity, bramah_metering_valve, time_constant, .unit = "s",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("limit", bramah__read_quantity, bramah_metering_valve, limit, .unit = "V",
                .range = BRAMAH__POSITIVE),
    {0}};

static const bramah__table one_way_table = {.keys = one_way_keys, .finish = finish_one_way};

/* ---- pump lines ---- */

static const bramah__key pump_line_keys[] = {
    BRAMAH__KEY("tank", bramah__read_name, bramah_pump_line, tank, .required = 1),
    BRAMAH__KEY("flow", bramah__read_quantity, bramah_pump_line, flow, .required = 1, .unit = "m^3/s",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("set_pressure", bramah__read_quantity, bramah_pump_line, set_pressure, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("unloading", bramah__read_child, bramah_pump_line, unloading, .table = &one_way_table),
    {0}};

static const bramah__table pump_line_table = {.keys = pump_line_keys, .size = sizeof(bramah_pump_line)};

/* ---- metered cylinders ---- */

static bramah_status read_load_pressure(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  bramah_metered_cylinder *cylinder = object;
  return read_pressure(reader, item, key, object, &cylinder->initial);
}

/* One coefficient for all four valves, or one for each. */
static bramah_status finish_coefficients(bramah__reader *reader, const bramah__item *item,
                                         bramah_metered_cylinder *cylinder)
{
  bramah__item each, found;
  double all = cylinder->flow_coefficient[0];
  if (bramah__item_find(item, "flow_coefficients", &each)) {
    if (bramah__item_find(item, "flow_coefficient", &found) || bramah__item_find(item, "area", &found))
      return bramah__fail_key(reader, &found, BRAMAH_E_KEY,
                              "'flow_coefficients' gives each valve its own: they exclude each other");
    return BRAMAH_OK;
  }
  const bramah_status status = area_or_coefficient(reader, item, &all);
  for (int i = 0; i < BRAMAH_N_PORTS; i++) cylinder->flow_coefficient[i] = all;
  return status;
}

static bramah_status finish_metered(bramah__reader *reader, const bramah__item *item, void *object)
{
  static const char *const lengths[] = {"reference_stroke", "piston_chamber_length", "rod_chamber_length"};
  bramah_metered_cylinder *cylinder = object;
  bramah__item found;
  bramah_status status = piston_and_rod(reader, item, &cylinder->piston_area, &cylinder->rod_area);
  if (!status) status = finish_coefficients(reader, item, cylinder);
  if (status) return status;
  if (bramah__item_find(item, "regeneration", &found) && cylinder->piston_area < cylinder->rod_area)
    return bramah__fail_key(reader, &found, BRAMAH_E_VALUE,
                            "regeneration needs a piston area that is not below the rod area");
  /* All three lengths or none. */
  int given = cylinder->end_stop.stiffness > 0.0 || cylinder->end_stop.cushion_length > 0.0;
  for (int i = 0; i < 3; i++) given |= bramah__item_find(item, lengths[i], &found);
  for (int i = 0; i < 3 && given; i++)
    if (!bramah__item_find(item, lengths[i], &found)) return bramah__fail_missing(reader, item, lengths[i]);
  if (!bramah__item_find(item, "load_pressure", &found)) cylinder->initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  return finish_spool(reader, item, cylinder->name, &cylinder->spool);
}

#define COEFFICIENT(word, port)                                                                              \
  {                                                                                                          \
    .name = (word), .read = bramah__read_quantity, .offset = (port) * sizeof(double), .required = 1,         \
    .unit = FLOW_UNIT, .range = BRAMAH__POSITIVE                                                             \
  }

static const bramah__key coefficient_keys[] = {COEFFICIENT("pump_a", BRAMAH_PORT_PUMP_A),
                                               COEFFICIENT("b_tank", BRAMAH_PORT_B_TANK),
                                               COEFFICIENT("a_tank", BRAMAH_PORT_A_TANK),
                                               COEFFICIENT("pump_b", BRAMAH_PORT_PUMP_B),
                                               {0}};

static const bramah__table coefficients_table = {.keys = coefficient_keys};

#define METERED_KEY(name, member, of_unit, of_range, ...)                                                    \
  BRAMAH__KEY(name, bramah__read_quantity, bramah_metered_cylinder, member, .unit = (of_unit),               \
              .range = (of_range), __VA_ARGS__)

static const bramah__key metered_keys[] = {
    BRAMAH__KEY("bodies", bramah__read_pair, bramah_metered_cylinder, body, .required = 1,
                .element = bramah__read_name, .stride = sizeof(const char *)),
    BRAMAH__KEY("points", bramah__read_pair, bramah_metered_cylinder, point, .required = 1, .unit = "m",
                .count = 3, .element = bramah__read_vector, .stride = sizeof(double[3])),
    BRAMAH__KEY("pump_line", bramah__read_name, bramah_metered_cylinder, pump_line, .required = 1),
    {.name = "bore", .read = bramah__read_nothing},
    METERED_KEY("piston_area", piston_area, "m^2", BRAMAH__POSITIVE, .required = 0),
    {.name = "rod", .read = bramah__read_nothing},
    METERED_KEY("rod_area", rod_area, "m^2", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("piston_relief", piston_relief, "Pa", BRAMAH__POSITIVE, .required = 1),
    METERED_KEY("rod_relief", rod_relief, "Pa", BRAMAH__POSITIVE, .required = 1),
    COEFFICIENT_KEYS(bramah_metered_cylinder, flow_coefficient),
    BRAMAH__KEY("flow_coefficients", bramah__read_child, bramah_metered_cylinder, flow_coefficient,
                .table = &coefficients_table),
    BRAMAH__KEY("regeneration", bramah__read_child, bramah_metered_cylinder, regeneration,
                .table = &one_way_table),
    METERED_KEY("stiffness", stiffness, "N/m", BRAMAH__POSITIVE, .required = 1),
    METERED_KEY("damping", damping, "N*s/m", BRAMAH__POSITIVE, .required = 1),
    {.name = "load_pressure",
     .read = read_load_pressure,
     .offset = offsetof(bramah_metered_cylinder, load_pressure),
     .unit = "Pa"},
    METERED_KEY("time_constant", spool.time_constant, "s", BRAMAH__NOT_NEGATIVE, .required = 0),
    METERED_KEY("limit", spool.limit, "V", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("spool", spool.initial_spool, "V", BRAMAH__ANY, .required = 0),
    BRAMAH__KEY("input", bramah__read_name, bramah_metered_cylinder, spool.input, .required = 0),
    METERED_KEY("dead_band", spool.dead_band, "V", BRAMAH__NOT_NEGATIVE, .required = 0),
    BRAMAH__KEY("characteristic", read_characteristic, bramah_metered_cylinder, spool.characteristic,
                .required = 0),
    BRAMAH__KEY("port_characteristics", bramah__read_child, bramah_metered_cylinder, spool.ports,
                .table = &ports_table),
    METERED_KEY("reference_stroke", reference_stroke, "m", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("piston_chamber_length", piston_chamber_length, "m", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("rod_chamber_length", rod_chamber_length, "m", BRAMAH__POSITIVE, .required = 0),
    BRAMAH__KEY("friction", bramah__read_child, bramah_metered_cylinder, friction, .table = &friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_metered_cylinder, end_stop, .table = &end_stop_table),
    {0}};

static const bramah__table metered_cylinder_table = {
    .keys = metered_keys, .size = sizeof(bramah_metered_cylinder), .finish = finish_metered};

/* ---- elements of the core's table ---- */

/* The names that an element may refer to, and what is not given. */
static bramah_status check_ports(bramah__reader *reader, const bramah__item *item,
                                 const bramah_element_kind *kind)
{
  bramah__item found, cylinder;
  int past_piston = 0;
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->type == BRAMAH_KEY_CYLINDER) past_piston = bramah__item_find(item, key->name, &cylinder);
  for (const bramah_element_key *key = kind->keys; key->name; key++) {
    if (key->type != BRAMAH_KEY_NODE) continue;
    const int given = bramah__item_find(item, key->name, &found);
    if (given && past_piston)
      return bramah__fail_key(reader, &cylinder, BRAMAH_E_KEY,
                              "'%s' stands for 'from' and 'to': its piston is passed", cylinder.name);
    if (!given && !past_piston) return bramah__fail_missing(reader, item, key->name);
  }
  return BRAMAH_OK;
}

static int has_factors(const bramah_element_kind *kind, const char *result)
{
  for (const bramah_element_key *key = kind->keys; key->name; key++)
    if (key->factor_of && strcmp(key->factor_of, result) == 0) return 1;
  return 0;
}

/* Fill what is not given, and check what one key cannot decide alone. */
static bramah_status finish_element(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_element_kind *kind = NULL;
  bramah__item found;
  for (size_t i = 0; (kind = bramah_element_kind_at(i)) != NULL && strcmp(kind->section, item->parent->name);)
    i++;
  bramah_status status = check_ports(reader, item, kind);
  for (const bramah_element_key *key = kind->keys; key->name && !status; key++) {
    if (key->type != BRAMAH_KEY_QUANTITY || key->factor_of) continue;
    double *value = (double *)(void *)((unsigned char *)object + key->offset);
    if (has_factors(kind, key->name))
      status = read_product(reader, item, kind->keys, key->name, kind->factors_by_density, value);
    else if (!bramah__item_find(item, key->name, &found))
      *value = key->otherwise;
    else if (key->range == BRAMAH_KEY_FROM_ONE && !(*value >= 1.0))
      return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "%s must not be below 1", key->name);
  }
  const char *fault, *at;
  if (status || !kind->check || (fault = kind->check(object, &at)) == NULL) return status;
  if (!bramah__item_find(item, at, &found)) return bramah__fail_missing(reader, item, at);
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "%s", fault);
}

/* The keys of a kind as the readers know them, in scratch memory. Errors: E_MEMORY. */
static bramah_status make_table(bramah__reader *reader, const bramah_element_kind *kind, bramah__table *out)
{
  size_t n = 0;
  while (kind->keys[n].name) n++;
  bramah__key *keys = bramah__pool_take(&reader->scratch, n + 1, sizeof *keys);
  if (!keys) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah_element_key *key = &kind->keys[i];
    const int together = key->type == BRAMAH_KEY_NODE || has_factors(kind, key->name);
    keys[i] = (bramah__key){.name = key->name,
                            .read = key->factor_of                     ? bramah__read_nothing
                                    : key->type == BRAMAH_KEY_QUANTITY ? bramah__read_quantity
                                    : key->type == BRAMAH_KEY_FRICTION ? bramah__read_child
                                                                       : bramah__read_name,
                            .table = key->type == BRAMAH_KEY_FRICTION ? &rotary_friction_table : NULL,
                            .offset = key->offset,
                            .required = key->required && !together,
                            .unit = key->unit,
                            .range = range_of(key)};
  }
  *out = (bramah__table){.keys = keys, .size = kind->size, .finish = finish_element};
  return BRAMAH_OK;
}

/* ---- the section ---- */

/* The oil comes first: orifices need its density. */
static const bramah__key hydraulics_keys[] = {
    {.name = "oil", .read = bramah__read_child, .required = 1, .table = &oil_table},
    BRAMAH__KEY("transition_pressure", bramah__read_quantity, bramah__loaded, machine.transition_pressure,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("supplies", bramah__loaded, machine.supplies, machine.n_supplies, &supply_table,
                    .required = 0),
    BRAMAH__SECTION("volumes", bramah__loaded, machine.volumes, machine.n_volumes, &volume_table,
                    .required = 0),
    BRAMAH__SECTION("valves", bramah__loaded, machine.valves, machine.n_valves, &valve_table, .required = 0),
    BRAMAH__SECTION("cylinders", bramah__loaded, machine.cylinders, machine.n_cylinders, &cylinder_table,
                    .required = 0),
    BRAMAH__SECTION("rotary_actuators", bramah__loaded, machine.rotaries, machine.n_rotaries, &rotary_table,
                    .required = 0),
    BRAMAH__SECTION("pump_lines", bramah__loaded, machine.pump_lines, machine.n_pump_lines, &pump_line_table,
                    .required = 0),
    BRAMAH__SECTION("metered_cylinders", bramah__loaded, machine.metered_cylinders,
                    machine.n_metered_cylinders, &metered_cylinder_table, .required = 0),
    {0}};

/* The keys above and a section for each kind of element after them. */
bramah_status bramah__read_hydraulics(bramah__reader *reader, const bramah__item *item,
                                      const bramah__key *key, void *object)
{
  const size_t n = sizeof hydraulics_keys / sizeof hydraulics_keys[0] - 1;
  size_t n_kinds = 0;
  (void)key;
  while (bramah_element_kind_at(n_kinds)) n_kinds++;
  bramah__key *keys = bramah__pool_take(&reader->scratch, n + n_kinds + 1, sizeof *keys);
  bramah__table *tables = bramah__pool_take(&reader->scratch, n_kinds, sizeof *tables);
  if (!keys || !tables) return bramah__no_memory(reader);
  memcpy(keys, hydraulics_keys, n * sizeof *keys);
  for (size_t i = 0; i < n_kinds; i++) {
    const bramah_element_kind *kind = bramah_element_kind_at(i);
    const bramah_status status = make_table(reader, kind, &tables[i]);
    if (status) return status;
    keys[n + i] = (bramah__key){.name = kind->section,
                                .read = bramah__read_section,
                                .offset = offsetof(bramah__loaded, machine) + kind->array,
                                .count_offset = offsetof(bramah__loaded, machine) + kind->count,
                                .table = &tables[i]};
  }
  return bramah__read_table(reader, item, &(const bramah__table){.keys = keys}, object);
}
