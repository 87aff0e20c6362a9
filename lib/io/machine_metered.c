/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pump lines and metered cylinders of a machine file. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_elements.h"

#include <math.h>

/* ---- unloading and regeneration valves ---- */

static bramah_status finish_one_way(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_metering_valve *valve = object;
  bramah__item found;
  if (!bramah__either_key(reader, item, "opening", "input")) return BRAMAH_E_KEY;
  if (!bramah__item_find(item, "limit", &found)) valve->limit = 10.0;
  if (valve->opening <= 1.0) return bramah__area_or_coefficient(reader, item, &valve->flow_coefficient);
  bramah__item_find(item, "opening", &found);
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "opening must not be above 1");
}

#define COEFFICIENT_KEYS(type, member)                                                                       \
  {.name = "area", .read = bramah__read_nothing},                                                            \
      {.name = "discharge_coefficient", .read = bramah__read_nothing},                                       \
      BRAMAH__KEY("flow_coefficient", bramah__read_quantity, type, member, .unit = BRAMAH__FLOW_UNIT,        \
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

const bramah__table bramah__pump_line_table = {.keys = pump_line_keys, .size = sizeof(bramah_pump_line)};

/* ---- metered cylinders ---- */

static bramah_status read_load_pressure(bramah__reader *reader, const bramah__item *item,
                                        const bramah__key *key, void *object)
{
  bramah_metered_cylinder *cylinder = object;
  return bramah__read_pressure(reader, item, key, object, &cylinder->initial);
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
  const bramah_status status = bramah__area_or_coefficient(reader, item, &all);
  for (int i = 0; i < BRAMAH_N_PORTS; i++) cylinder->flow_coefficient[i] = all;
  return status;
}

static bramah_status check_regeneration(bramah__reader *reader, const bramah__item *item,
                                        const bramah_metered_cylinder *cylinder)
{
  bramah__item regeneration;
  if (!bramah__item_find(item, "regeneration", &regeneration) || cylinder->piston_area >= cylinder->rod_area)
    return BRAMAH_OK;
  return bramah__fail_key(reader, &regeneration, BRAMAH_E_VALUE,
                          "regeneration needs a piston area that is not below the rod area");
}

/* All three lengths or none. */
static bramah_status check_lengths(bramah__reader *reader, const bramah__item *item,
                                   const bramah_metered_cylinder *cylinder)
{
  static const char *const names[] = {"reference_stroke", "piston_chamber_length", "rod_chamber_length"};
  bramah__item found;
  int given = cylinder->end_stop.stiffness > 0.0 || cylinder->end_stop.cushion_length > 0.0;
  for (int i = 0; i < 3; i++) given |= bramah__item_find(item, names[i], &found);
  for (int i = 0; i < 3 && given; i++)
    if (!bramah__item_find(item, names[i], &found)) return bramah__fail_missing(reader, item, names[i]);
  return BRAMAH_OK;
}

static bramah_status finish_metered(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_metered_cylinder *cylinder = object;
  bramah_valve *spool = &cylinder->spool;
  bramah__item found;
  bramah_status status = bramah__piston_and_rod(reader, item, &cylinder->piston_area, &cylinder->rod_area);
  if (!status) status = finish_coefficients(reader, item, cylinder);
  if (!status) status = check_regeneration(reader, item, cylinder);
  if (!status) status = check_lengths(reader, item, cylinder);
  if (status) return status;
  if (!spool->input) spool->input = cylinder->name;
  if (!bramah__item_find(item, "limit", &found)) spool->limit = 10.0;
  if (!bramah__item_find(item, "load_pressure", &found)) cylinder->initial = BRAMAH_PRESSURE_EQUILIBRIUM;
  status = bramah__check_characteristics(reader, item, spool);
  if (status || fabs(spool->initial_spool) <= spool->limit || !bramah__item_find(item, "spool", &found))
    return status;
  return bramah__fail_item(reader, &found, BRAMAH_E_VALUE, "spool must lie within the limit of the valve");
}

#define PORT(word, port)                                                                                     \
  {                                                                                                          \
    .name = (word), .read = bramah__read_quantity, .offset = (port) * sizeof(double), .required = 1,         \
    .unit = BRAMAH__FLOW_UNIT, .range = BRAMAH__POSITIVE                                                     \
  }

static const bramah__key coefficient_keys[] = {PORT("pump_a", BRAMAH_PORT_PUMP_A),
                                               PORT("b_tank", BRAMAH_PORT_B_TANK),
                                               PORT("a_tank", BRAMAH_PORT_A_TANK),
                                               PORT("pump_b", BRAMAH_PORT_PUMP_B),
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
    BRAMAH__KEY("characteristic", bramah__read_characteristic, bramah_metered_cylinder, spool.characteristic,
                .required = 0),
    BRAMAH__KEY("port_characteristics", bramah__read_child, bramah_metered_cylinder, spool.ports,
                .table = &bramah__ports_table),
    METERED_KEY("reference_stroke", reference_stroke, "m", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("piston_chamber_length", piston_chamber_length, "m", BRAMAH__POSITIVE, .required = 0),
    METERED_KEY("rod_chamber_length", rod_chamber_length, "m", BRAMAH__POSITIVE, .required = 0),
    BRAMAH__KEY("friction", bramah__read_child, bramah_metered_cylinder, friction,
                .table = &bramah__friction_table),
    BRAMAH__KEY("end_stop", bramah__read_child, bramah_metered_cylinder, end_stop,
                .table = &bramah__end_stop_table),
    {0}};

const bramah__table bramah__metered_cylinder_table = {
    .keys = metered_keys, .size = sizeof(bramah_metered_cylinder), .finish = finish_metered};
