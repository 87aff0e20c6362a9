/* SPDX-License-Identifier: MIT */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { FLOW, SETTING, BAND };

/* Never negative. dp falls where the pressure that the pump works against rises. */
static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  (void)transition_pressure;
  const bramah__expr band = e_of(of, BAND);
  if (e_excludes(band)) return e_of(of, FLOW);
  const bramah__expr part = e_div(e_add(e_of(of, SETTING), seen[BRAMAH__DP]), band);
  return e_mul(e_of(of, FLOW), e_min(e_max(part, e_number(0.0)), e_number(1.0)));
}

static const char *check(const void *element, const char **key)
{
  const bramah_pump *pump = element;
  *key = pump->band > 0.0 && pump->set_pressure == 0.0 ? "set_pressure" : "band";
  if (pump->set_pressure == 0.0 && pump->band == 0.0) return NULL;
  return pump->band > 0.0 && pump->band <= pump->set_pressure
             ? NULL
             : "a compensator needs 0 < band <= set pressure";
}

static const char *check_drive(const void *part, const char **key)
{
  const bramah_drive *drive = part;
  *key = "limit";
  if (drive->input && !(drive->limit > 0.0)) return "the limit must be positive";
  *key = "initial";
  if (drive->input && fabs(drive->initial) > drive->limit) return "it must start within its limit";
  *key = "joint";
  if (drive->input && drive->joint) return "an input turns it or a joint, not both";
  return drive->input || drive->joint || drive->limit == 0.0 ? NULL : "'input' or 'joint' is needed";
}

static const bramah_element_key drive_keys[] = {
    BRAMAH__NAME_KEY("input", BRAMAH_KEY_INPUT, bramah_drive, input, 0),
    BRAMAH__NAME_KEY("joint", BRAMAH_KEY_COORDINATE, bramah_drive, joint, 0),
    BRAMAH__QUANTITY_KEY("ratio", bramah_drive, ratio, .unit = "1", .what = "the ratio of the drive",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("speed", bramah_drive, speed, .unit = "rad/s", .what = "the speed of the drive",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("efficiency", bramah_drive, efficiency, .unit = "1",
                         .what = "the efficiency of the drive", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("limit", bramah_drive, limit, .unit = "V", .what = "the limit",
                         .range = BRAMAH_KEY_POSITIVE, .otherwise = 10.0),
    BRAMAH__QUANTITY_KEY("time_constant", bramah_drive, time_constant, .unit = "s",
                         .what = "the time constant", .range = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__QUANTITY_KEY("initial", bramah_drive, initial, .unit = "V", .what = "the start of the drive",
                         .range = BRAMAH_KEY_ANY),
    {0}};

const bramah_element_kind bramah__drive_part = {.keys = drive_keys, .check = check_drive};

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_pump, from),
    BRAMAH__VOLUME_KEY("into", bramah_pump, into),
    BRAMAH__QUANTITY_KEY("flow", bramah_pump, flow, .required = 1, .unit = "m^3/s", .what = "the flow",
                         .range = BRAMAH_KEY_POSITIVE, .parameter = BRAMAH_KEY_POSITIVE),
    BRAMAH__FACTOR_KEY("displacement", "m^3/rad", "flow", .required = 0),
    BRAMAH__FACTOR_KEY("speed", "rad/s", "flow", .required = 0),
    BRAMAH__QUANTITY_KEY("set_pressure", bramah_pump, set_pressure, .unit = "Pa", .what = "the set pressure",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("band", bramah_pump, band, .unit = "Pa", .what = "the band",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__PART_KEY("drive", bramah_pump, drive, &bramah__drive_part),
    {0}};

const bramah__element_kind bramah__pump_kind = {
    BRAMAH__DESCRIPTION("pumps", "pump", bramah_pump, pumps, .keys = keys, .check = check), .flow = flow};
