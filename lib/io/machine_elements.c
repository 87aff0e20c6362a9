/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_elements.h"

#include <string.h>

/* ---- leakages ---- */

/* From and to, or the cylinder whose piston is passed. */
static bramah_status finish_leakage(bramah__reader *reader, const bramah__item *item, void *object)
{
  const bramah_leakage *leakage = object;
  bramah__item cylinder;
  if (!leakage->cylinder) {
    if (!leakage->from) return bramah__fail_missing(reader, item, "from");
    return leakage->to ? BRAMAH_OK : bramah__fail_missing(reader, item, "to");
  }
  if (!leakage->from && !leakage->to) return BRAMAH_OK;
  bramah__item_find(item, "cylinder", &cylinder);
  return bramah__fail_key(reader, &cylinder, BRAMAH_E_KEY,
                          "'cylinder' stands for 'from' and 'to': the leakage passes its piston");
}

static const bramah__key leakage_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_leakage, from, .required = 0),
    BRAMAH__KEY("to", bramah__read_name, bramah_leakage, to, .required = 0),
    BRAMAH__KEY("cylinder", bramah__read_name, bramah_leakage, cylinder, .required = 0),
    BRAMAH__KEY("conductance", bramah__read_quantity, bramah_leakage, conductance, .required = 1,
                .unit = "m^3/s/Pa", .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__leakage_table = {
    .keys = leakage_keys, .size = sizeof(bramah_leakage), .finish = finish_leakage};

/* ---- check valves and relief valves ---- */

static const bramah__key check_valve_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_check_valve, from, .required = 1),
    BRAMAH__KEY("to", bramah__read_name, bramah_check_valve, to, .required = 1),
    BRAMAH__KEY("flow_coefficient", bramah__read_quantity, bramah_check_valve, flow_coefficient,
                .required = 1, .unit = BRAMAH__FLOW_UNIT, .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("cracking_pressure", bramah__read_quantity, bramah_check_valve, cracking_pressure,
                .unit = "Pa", .range = BRAMAH__NOT_NEGATIVE),
    {0}};

const bramah__table bramah__check_valve_table = {.keys = check_valve_keys,
                                                 .size = sizeof(bramah_check_valve)};

static const bramah__key relief_valve_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_relief_valve, from, .required = 1),
    BRAMAH__KEY("to", bramah__read_name, bramah_relief_valve, to, .required = 1),
    BRAMAH__KEY("flow_coefficient", bramah__read_quantity, bramah_relief_valve, flow_coefficient,
                .required = 1, .unit = BRAMAH__FLOW_UNIT, .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("set_pressure", bramah__read_quantity, bramah_relief_valve, set_pressure, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("override", bramah__read_quantity, bramah_relief_valve, override, .required = 1, .unit = "Pa",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__relief_valve_table = {.keys = relief_valve_keys,
                                                  .size = sizeof(bramah_relief_valve)};

/* ---- pumps ---- */

/* The flow of a pump given by displacement and speed. */
static bramah_status flow_of_speed(bramah__reader *reader, const bramah__item *item, bramah_pump *pump)
{
  const bramah__key size = {.name = "displacement", .unit = "m^3/rad", .range = BRAMAH__POSITIVE};
  const bramah__key turns = {.name = "speed", .unit = "rad/s", .range = BRAMAH__POSITIVE};
  double displacement = 0.0, speed = 0.0;
  bramah_status status = bramah__find_quantity(reader, item, &size, &displacement);
  if (!status) status = bramah__find_quantity(reader, item, &turns, &speed);
  if (status) return status;
  pump->flow = displacement * speed;
  return pump->flow > 0.0 ? BRAMAH_OK
                          : bramah__fail_missing(reader, item, displacement > 0.0 ? "speed" : "displacement");
}

static bramah_status check_compensator(bramah__reader *reader, const bramah__item *item,
                                       const bramah_pump *pump)
{
  bramah__item band;
  const int has_band = bramah__item_find(item, "band", &band);
  if (pump->set_pressure > 0.0 && !has_band) return bramah__fail_missing(reader, item, "band");
  if (pump->set_pressure == 0.0 && has_band) return bramah__fail_missing(reader, item, "set_pressure");
  if (!has_band || pump->band <= pump->set_pressure) return BRAMAH_OK;
  return bramah__fail_item(reader, &band, BRAMAH_E_VALUE, "band must not exceed the set pressure");
}

static bramah_status finish_pump(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_pump *pump = object;
  bramah__item flow, other;
  const int has_flow = bramah__item_find(item, "flow", &flow);
  const int has_other =
      bramah__item_find(item, "displacement", &other) || bramah__item_find(item, "speed", &other);
  if (has_flow && has_other)
    return bramah__fail_key(reader, &other, BRAMAH_E_KEY,
                            "'flow' stands for 'displacement' and 'speed': they exclude each other");
  if (!has_flow && !has_other)
    return bramah__fail_key(reader, item, BRAMAH_E_KEY, "'flow', or 'displacement' and 'speed', is needed");
  bramah_status status = has_flow ? BRAMAH_OK : flow_of_speed(reader, item, pump);
  return status ? status : check_compensator(reader, item, pump);
}

static const bramah__key pump_keys[] = {
    BRAMAH__KEY("from", bramah__read_name, bramah_pump, from, .required = 1),
    BRAMAH__KEY("into", bramah__read_name, bramah_pump, into, .required = 1),
    BRAMAH__KEY("flow", bramah__read_quantity, bramah_pump, flow, .unit = "m^3/s", .range = BRAMAH__POSITIVE),
    {.name = "displacement", .read = bramah__read_nothing},
    {.name = "speed", .read = bramah__read_nothing},
    BRAMAH__KEY("set_pressure", bramah__read_quantity, bramah_pump, set_pressure, .unit = "Pa",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("band", bramah__read_quantity, bramah_pump, band, .unit = "Pa", .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__pump_table = {
    .keys = pump_keys, .size = sizeof(bramah_pump), .finish = finish_pump};

/* ---- accumulators ---- */

static bramah_status finish_accumulator(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_accumulator *accumulator = object;
  bramah__item exponent;
  if (!bramah__item_find(item, "exponent", &exponent)) accumulator->exponent = 1.4;
  if (accumulator->exponent >= 1.0) return BRAMAH_OK;
  return bramah__fail_item(reader, &exponent, BRAMAH_E_VALUE, "exponent must not be below 1");
}

static const bramah__key accumulator_keys[] = {
    BRAMAH__KEY("volume", bramah__read_name, bramah_accumulator, volume, .required = 1),
    BRAMAH__KEY("gas_volume", bramah__read_quantity, bramah_accumulator, gas_volume, .required = 1,
                .unit = "m^3", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("precharge", bramah__read_quantity, bramah_accumulator, precharge, .required = 1,
                .unit = "Pa", .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("exponent", bramah__read_quantity, bramah_accumulator, exponent, .unit = "1",
                .range = BRAMAH__POSITIVE),
    {0}};

const bramah__table bramah__accumulator_table = {
    .keys = accumulator_keys, .size = sizeof(bramah_accumulator), .finish = finish_accumulator};

/* ---- end stops ---- */

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

const bramah__table bramah__end_stop_table = {.keys = end_stop_keys, .finish = finish_end_stop};
const bramah__table bramah__rotary_end_stop_table = {.keys = rotary_end_stop_keys,
                                                     .finish = finish_rotary_end_stop};

/* ---- characteristics of valves ---- */

static bramah_status read_pair_of_volts(bramah__reader *reader, const bramah__item *pair, bramah__range range,
                                        double *spool, double *opening)
{
  const bramah__key spool_key = {.unit = "V"}, opening_key = {.unit = "V", .range = range};
  bramah__quantity q;
  if (pair->node->kind != BRAMAH__NODE_LIST || pair->node->n != 2)
    return bramah__fail_item(reader, pair, BRAMAH_E_SYNTAX,
                             "a pair [spool, opening] is expected, such as [1 V, 0.5 V]");
  bramah__item item = bramah__item_at(pair, 0);
  bramah_status status = bramah__item_quantity(reader, &item, &spool_key, NULL, &q);
  if (status) return status;
  *spool = q.si;
  item = bramah__item_at(pair, 1);
  status = bramah__item_quantity(reader, &item, &opening_key, NULL, &q);
  if (!status) *opening = q.si;
  return status;
}

bramah_status bramah__read_characteristic(bramah__reader *reader, const bramah__item *list,
                                          const bramah__key *key, void *object)
{
  if (list->node->kind != BRAMAH__NODE_LIST || list->node->n < 2)
    return bramah__fail_item(reader, list, BRAMAH_E_SYNTAX,
                             "a list of at least two pairs [spool, opening] is expected");
  const size_t n = list->node->n;
  double *x = bramah__pool_take(reader->keep, n, sizeof *x),
         *y = bramah__pool_take(reader->keep, n, sizeof *y);
  if (!x || !y) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    bramah__item pair = bramah__item_at(list, i);
    const bramah_status status = read_pair_of_volts(reader, &pair, key->range, &x[i], &y[i]);
    if (status) return status;
    if (i == 0 || x[i] > x[i - 1]) continue;
    bramah__item spool = bramah__item_at(&pair, 0);
    return bramah__fail_item(reader, &spool, BRAMAH_E_VALUE, "spools must ascend");
  }
  const bramah_characteristic out = {n, x, y};
  memcpy((unsigned char *)object + key->offset, &out, sizeof out);
  return BRAMAH_OK;
}

#define PORT(word, port)                                                                                     \
  {                                                                                                          \
    .name = (word), .read = bramah__read_characteristic, .offset = (port) * sizeof(bramah_characteristic),   \
    .range = BRAMAH__NOT_NEGATIVE                                                                            \
  }

static const bramah__key port_keys[] = {PORT("pump_a", BRAMAH_PORT_PUMP_A),
                                        PORT("b_tank", BRAMAH_PORT_B_TANK),
                                        PORT("a_tank", BRAMAH_PORT_A_TANK),
                                        PORT("pump_b", BRAMAH_PORT_PUMP_B),
                                        {0}};

const bramah__table bramah__ports_table = {.keys = port_keys};

bramah_status bramah__check_characteristics(bramah__reader *reader, const bramah__item *item,
                                            const bramah_valve *valve)
{
  bramah__item band, characteristic;
  if (!bramah__item_find(item, "dead_band", &band)) return BRAMAH_OK;
  if (bramah__item_find(item, "characteristic", &characteristic))
    return bramah__fail_key(reader, &band, BRAMAH_E_KEY,
                            "'dead_band' and 'characteristic' exclude each other");
  if (valve->dead_band < valve->limit) return BRAMAH_OK;
  return bramah__fail_item(reader, &band, BRAMAH_E_VALUE, "dead band must be below the limit of the valve");
}
