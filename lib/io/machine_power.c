/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Engines, clutches and commanded torques of a machine file. */
#define _GNU_SOURCE /* locale_t */
#include "lib/io/machine_file.h"

#include <string.h>

#define QUANTITY(type, key, member, unit_, range_, ...)                                                      \
  BRAMAH__KEY(key, bramah__read_quantity, type, member, .unit = (unit_), .range = (range_), __VA_ARGS__)
#define COMMAND(type, key, member, ...)                                                                      \
  BRAMAH__KEY(key, bramah__read_child, type, member, .table = &bramah__command_table, __VA_ARGS__)

/* ---- engines ---- */

static bramah_status read_full_load(bramah__reader *reader, const bramah__item *list, const bramah__key *key,
                                    void *object)
{
  bramah_engine *engine = object;
  const bramah__curve_key curve = {.pair = "[speed, torque]",
                                   .example = "[150 rad/s, 420 N*m]",
                                   .x_name = "speeds",
                                   .least = 2,
                                   .x = {.unit = key->x_unit},
                                   .y = {.unit = key->unit, .range = BRAMAH__NOT_NEGATIVE}};
  return bramah__read_curve(reader, list, &curve, &engine->n_points, &engine->speeds, &engine->torques);
}

static const bramah__key idle_keys[] = {
    QUANTITY(bramah_engine, "speed", idle_speed, "rad/s", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_engine, "band", idle_band, "rad/s", BRAMAH__POSITIVE, .required = 0),
    {0}};
static const bramah__table idle_table = {.keys = idle_keys};

static const bramah__key fuel_keys[] = {
    QUANTITY(bramah_engine, "consumption", consumption, "kg/J", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_engine, "torque", best_torque, "N*m", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_engine, "speed", best_speed, "rad/s", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_engine, "torque_loss", torque_loss, "1", BRAMAH__NOT_NEGATIVE, .required = 0),
    QUANTITY(bramah_engine, "speed_loss", speed_loss, "1", BRAMAH__NOT_NEGATIVE, .required = 0),
    QUANTITY(bramah_engine, "idle", idle_fuel, "kg/s", BRAMAH__NOT_NEGATIVE, .required = 0),
    {0}};
static const bramah__table fuel_table = {.keys = fuel_keys};

static const bramah__key engine_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_engine, joint, .required = 1),
    {.name = "full_load",
     .read = read_full_load,
     .shape = BRAMAH__SHAPE_CURVE,
     .required = 1,
     .x_unit = "rad/s",
     .unit = "N*m"},
    QUANTITY(bramah_engine, "rounding", rounding, "rad/s", BRAMAH__POSITIVE, .required = 0),
    QUANTITY(bramah_engine, "friction", friction, "N*m", BRAMAH__NOT_NEGATIVE, .required = 0),
    {.name = "idle", .read = bramah__read_child, .table = &idle_table},
    QUANTITY(bramah_engine, "stall", stall, "rad/s", BRAMAH__POSITIVE, .required = 0),
    {.name = "fuel", .read = bramah__read_child, .table = &fuel_table},
    COMMAND(bramah_engine, "throttle", throttle, .required = 0),
    {0}};

const bramah__table bramah__engine_table = {.keys = engine_keys, .size = sizeof(bramah_engine)};

/* ---- clutches ---- */

/* A name, or a list of them. */
static bramah_status read_driven(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_clutch *clutch = object;
  return bramah__read_texts(reader, item, key, bramah__read_name, &clutch->n_driven, &clutch->driven);
}

static bramah_status read_shares(bramah__reader *reader, const bramah__item *item, const bramah__key *key,
                                 void *object)
{
  bramah_clutch *clutch = object;
  const size_t n = item->node->n;
  if (item->node->kind != BRAMAH__NODE_LIST || n != clutch->n_driven)
    return bramah__fail_item(reader, item, BRAMAH_E_SYNTAX,
                             "a list of as many numbers as 'driven' is expected");
  double *shares = bramah__pool_take(reader->keep, n + 1, sizeof *shares);
  if (!shares) return bramah__no_memory(reader);
  for (size_t i = 0; i < n; i++) {
    const bramah__item one = bramah__item_at(item, i);
    bramah__quantity q;
    const bramah_status status = bramah__item_quantity(reader, &one, key, NULL, &q);
    if (status) return status;
    shares[i] = q.si;
  }
  clutch->n_shares = n;
  clutch->shares = shares;
  return BRAMAH_OK;
}

static bramah_status read_gears(bramah__reader *reader, const bramah__item *list, const bramah__key *key,
                                void *object)
{
  bramah_clutch *clutch = object;
  const bramah__curve_key curve = {.pair = "[gear, ratio]",
                                   .example = "[1, 95]",
                                   .x_name = "gears",
                                   .x = {.unit = key->x_unit},
                                   .y = {.unit = key->unit}};
  return bramah__read_curve(reader, list, &curve, &clutch->n_gears, &clutch->gears, &clutch->ratios);
}

static const bramah__key clutch_keys[] = {
    BRAMAH__KEY("driving", bramah__read_name, bramah_clutch, driving, .required = 1),
    {.name = "driven", .read = read_driven, .shape = BRAMAH__SHAPE_NAMES, .required = 1},
    {.name = "shares", .read = read_shares, .shape = BRAMAH__SHAPE_QUANTITIES, .unit = "1"},
    QUANTITY(bramah_clutch, "torque", torque, "N*m", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_clutch, "stiffness", stiffness, "N*m/rad", BRAMAH__POSITIVE, .required = 0),
    QUANTITY(bramah_clutch, "damping", damping, "N*m*s/rad", BRAMAH__POSITIVE, .required = 0),
    QUANTITY(bramah_clutch, "ratio", ratio, "1", BRAMAH__ANY, .excludes = "gears"),
    {.name = "gears", .read = read_gears, .shape = BRAMAH__SHAPE_CURVE, .x_unit = "1", .unit = "1"},
    COMMAND(bramah_clutch, "command", command, .required = 0),
    COMMAND(bramah_clutch, "gear", gear, .required = 0),
    {0}};

const bramah__table bramah__clutch_table = {.keys = clutch_keys, .size = sizeof(bramah_clutch)};

/* ---- torques of joints ---- */

static const bramah__key joint_torque_keys[] = {
    BRAMAH__KEY("joint", bramah__read_name, bramah_joint_torque, joint, .required = 1),
    QUANTITY(bramah_joint_torque, "torque", torque, "N*m", BRAMAH__POSITIVE, .required = 1),
    QUANTITY(bramah_joint_torque, "power", power, "W", BRAMAH__POSITIVE, .required = 0),
    COMMAND(bramah_joint_torque, "command", command, .required = 1),
    {0}};

const bramah__table bramah__joint_torque_table = {.keys = joint_torque_keys,
                                                  .size = sizeof(bramah_joint_torque)};
