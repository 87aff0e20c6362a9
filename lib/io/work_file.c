/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A work file: which columns of logs are what, and who worked in which run (bramah/work_cycles.h). */
#define _GNU_SOURCE /* locale_t */
#include "bramah/work_cycles.h"
#include "lib/base/diag.h"
#include "lib/io/schema.h"
#include "lib/io/session.h"

#include <stdlib.h>

static const bramah__key signal_keys[] = {
    BRAMAH__KEY("time", bramah__read_text, bramah_work, time, .required = 0),
    BRAMAH__KEY("payload", bramah__read_text, bramah_work, payload, .required = 0),
    BRAMAH__KEY("swing_rate", bramah__read_text, bramah_work, swing_rate, .required = 0),
    BRAMAH__KEY("arm", bramah__read_text, bramah_work, arm, .given = offsetof(bramah_work, has_arm)),
    BRAMAH__KEY("fuel_rate", bramah__read_text, bramah_work, fuel_rate,
                .given = offsetof(bramah_work, has_fuel_rate)),
    BRAMAH__KEY("power", bramah__read_text, bramah_work, power, .given = offsetof(bramah_work, has_power)),
    {0}};
static const bramah__table work_signal_table = {.keys = signal_keys, .size = sizeof(bramah_work)};

static bramah_status finish_cylinder(bramah__reader *reader, const bramah__item *item, void *object)
{
  bramah_work_cylinder *c = object;
  bramah__item rod, pressure;
  const int has_rod = bramah__item_find(item, "rod", &rod),
            has_pressure = bramah__item_find(item, "rod_pressure", &pressure);
  if (!c->number) c->number = 1;
  if (has_rod != has_pressure) /* neither: a plunger */
    return bramah__fail_missing(reader, item, has_rod ? "rod_pressure" : "rod");
  if (has_rod && !(c->rod < c->bore))
    return bramah__fail_item(reader, &rod, BRAMAH_E_VALUE, "the rod must be thinner than the bore");
  return BRAMAH_OK;
}

static const bramah__key cylinder_keys[] = {
    BRAMAH__KEY("stroke", bramah__read_text, bramah_work_cylinder, stroke, .required = 1),
    BRAMAH__KEY("piston_pressure", bramah__read_text, bramah_work_cylinder, piston_pressure, .required = 1),
    BRAMAH__KEY("rod_pressure", bramah__read_text, bramah_work_cylinder, rod_pressure, .required = 0),
    BRAMAH__KEY("bore", bramah__read_quantity, bramah_work_cylinder, bore, .required = 1, .unit = "m",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("rod", bramah__read_quantity, bramah_work_cylinder, rod, .unit = "m",
                .range = BRAMAH__NOT_NEGATIVE),
    BRAMAH__KEY("stall_pressure", bramah__read_quantity, bramah_work_cylinder, stall_pressure, .unit = "Pa",
                .range = BRAMAH__POSITIVE),
    BRAMAH__KEY("number", bramah__read_integer, bramah_work_cylinder, number, .required = 0),
    {0}};
static const bramah__table work_cylinder_table = {
    .keys = cylinder_keys, .size = sizeof(bramah_work_cylinder), .finish = finish_cylinder};

static const bramah__key run_keys[] = {
    BRAMAH__KEY("log", bramah__read_path, bramah_work_entry, log, .required = 1),
    BRAMAH__KEY("operator", bramah__read_text, bramah_work_entry, person, .required = 0),
    BRAMAH__KEY("attachment", bramah__read_text, bramah_work_entry, attachment, .required = 0),
    BRAMAH__KEY("hits", bramah__read_quantity, bramah_work_entry, hits, .unit = "1",
                .range = BRAMAH__NOT_NEGATIVE, .given = offsetof(bramah_work_entry, has_hits)),
    {0}};
static const bramah__table work_run_table = {.keys = run_keys, .size = sizeof(bramah_work_entry)};

static const bramah__key work_keys[] = {
    BRAMAH__KEY("work", bramah__read_text, bramah_work, name, .required = 1),
    {.name = "signals", .read = bramah__read_child, .table = &work_signal_table},
    BRAMAH__KEY("band", bramah__read_quantity, bramah_work, band, .unit = "m", .range = BRAMAH__POSITIVE),
    BRAMAH__SECTION("cylinders", bramah_work, cylinders, n_cylinders, &work_cylinder_table, .required = 0),
    BRAMAH__SECTION("runs", bramah_work, runs, n_runs, &work_run_table, .required = 0),
    {0}};

const bramah__table bramah__work_table = {.keys = work_keys};

static const bramah_work unsaid = {.time = "t",
                                   .payload = "payload",
                                   .swing_rate = "slew.rate",
                                   .arm = "arm",
                                   .fuel_rate = "fuel_rate",
                                   .power = "hydraulic_power",
                                   .band = 0.1};
const bramah__file_of bramah__work_file = {"work", &bramah__work_table, sizeof(bramah_work),
                                           offsetof(bramah_work, file), &unsaid};

bramah_status bramah_work_load(const char *path, bramah_diag *diag, bramah_work **out)
{
  void *work = NULL;
  const bramah_status status = bramah__read_file_of(path, &bramah__work_file, NULL, NULL, diag, &work);
  if (!status) *out = work;
  return status;
}

void bramah_work_free(bramah_work *work) { bramah__file_free(work); }
