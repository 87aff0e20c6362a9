/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hydraulics of a machine file: oil, volumes, orifices, directional valves, cylinders, rotary actuators. The
 * other elements are in machine_elements.c. */
#define _GNU_SOURCE /* locale_t */
#include "lib/base/diag.h"
#include "lib/io/machine_elements.h"
#include "lib/io/machine_file.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define FLOW_UNIT BRAMAH__FLOW_UNIT

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

const bramah__table bramah__oil_table = {.keys = oil_keys, .finish = finish_oil};

static const bramah__key supply_keys[] = {BRAMAH__KEY("pressure", bramah__read_quantity, bramah_supply,
                                                      pressure, .required = 1, .unit = "Pa",
                                                      .range = BRAMAH__NOT_NEGATIVE),
                                          {0}};

const bramah__table bramah__supply_table = {.keys = supply_keys, .size = sizeof(bramah_supply)};

static const bramah__key hose_keys[] = {BRAMAH__KEY("volume", bramah__read_quantity, bramah_hose, volume,
                                                    .required = 1, .unit = "m^3", .range = BRAMAH__POSITIVE),
                                        BRAMAH__KEY("bulk_modulus", bramah__read_quantity, bramah_hose,
                                                    bulk_modulus, .required = 1, .unit = "Pa",
                                                    .range = BRAMAH__POSITIVE),
                                        {0}};

static const bramah__table hose_table = {.keys = hose_keys, .size = sizeof(bramah_hose)};

bramah_status bramah__read_pressure(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
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
  return bramah__read_pressure(reader, item, key, object, &volume->initial);
}

static const bramah__key volume_keys[] = {
    BRAMAH__KEY("pressure", read_initial_pressure, bramah_volume, initial_pressure, .required = 1,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("hoses", bramah__read_list, bramah_volume, hoses, .table = &hose_table,
                .count_offset = offsetof(bramah_volume, n_hoses)),
    {0}};

const bramah__table bramah__volume_table = {.keys = volume_keys, .size = sizeof(bramah_volume)};

/* One of two ways to give a value: 1 for the first, 2 for the second, 0 and the error told otherwise. */
int bramah__either_key(bramah__reader *reader, const bramah__item *item, const char *first,
                       const char *second)
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
                .unit = "s", .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("limit", bramah__read_quantity, bramah_valve, limit, .unit = "V", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("spool", bramah__read_quantity, bramah_valve, initial_spool, .unit = "V"),
    BRAMAH__KEY("input", bramah__read_name, bramah_valve, input, .required = 0),
    BRAMAH__KEY("dead_band", bramah__read_quantity, bramah_valve, dead_band, .unit = "V",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("characteristic", bramah__read_characteristic, bramah_valve, characteristic, .required = 0),
    BRAMAH__KEY("port_characteristics", bramah__read_child, bramah_valve, ports,
                .table = &bramah__ports_table),
    {0}};

const bramah__table bramah__valve_table = {
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

const bramah__table bramah__friction_table = {.keys = friction_keys, .finish = finish_friction};
const bramah__table bramah__rotary_friction_table = {.keys = rotary_friction_keys, .finish = finish_friction};

/* Areas given directly or by diameters. A rod with a piston area is as good as one with a bore. */
bramah_status bramah__piston_and_rod(bramah__reader *reader, const bramah__item *item, double *piston_area,
                                     double *rod_area)
{
  const bramah__key bore_key = {.name = "bore", .unit = "m", .range = BRAMAH__POSITIVE};
  const bramah__key rod_key = {.name = "rod", .unit = "m", .range = BRAMAH__POSITIVE};
  double bore = 0.0, rod = 0.0;
  bramah__item rod_item;
  if (!bramah__either_key(reader, item, "bore", "piston_area")) return BRAMAH_E_KEY;
  int by_rod = bramah__either_key(reader, item, "rod", "rod_area");
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
  return bramah__piston_and_rod(reader, item, &cylinder->piston_area, &cylinder->rod_area);
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
    BRAMAH__KEY("friction", bramah__read_child, bramah_cylinder, friction, .table = &bramah__friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_cylinder, end_stop, .table = &bramah__end_stop_table),
    {0}};

const bramah__table bramah__cylinder_table = {
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
    BRAMAH__KEY("friction", bramah__read_child, bramah_rotary, friction,
                .table = &bramah__rotary_friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_rotary, end_stop,
                .table = &bramah__rotary_end_stop_table),
    {0}};

const bramah__table bramah__rotary_table = {
    .keys = rotary_keys, .size = sizeof(bramah_rotary), .finish = finish_rotary};
