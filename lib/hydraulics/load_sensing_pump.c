/* SPDX-License-Identifier: MIT */
/* Pump whose controller holds its pressure a margin above the highest load that the valves on its volume report. */
#include "lib/graph/equation.h"
#include "lib/hydraulics/element.h"

enum { DISPLACEMENT, SPEED, MARGIN, CUT_OFF, TORQUE_LIMIT, BAND, TIME_CONSTANT };

/* [Pa] Against less pressure no torque limits the flow. */
static const double least_pressure = 1e3;

/* The lag towards what is delivered, which is cut off at both ends, makes the controller a proportional-integral one that
 * does not wind up. */
static bramah__expr flow(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  (void)transition_pressure;
  const bramah__expr speed = e_of(of, SPEED), full = e_mul(e_of(of, DISPLACEMENT), speed);
  const bramah__expr cut_off = e_of(of, CUT_OFF), torque = e_of(of, TORQUE_LIMIT), dp = seen[BRAMAH__DP];
  bramah__expr lacks = e_add(seen[BRAMAH__LOAD], e_of(of, MARGIN)), most = full;
  if (!e_excludes(cut_off)) lacks = e_min(lacks, e_add(cut_off, dp));
  if (!e_excludes(torque))
    most = e_min(e_div(e_mul(torque, speed), e_max(e_neg(dp), e_number(least_pressure))), full);
  const bramah__expr Q = e_add(seen[BRAMAH__STATE], e_mul(full, e_div(lacks, e_of(of, BAND))));
  return e_min(e_max(Q, e_number(0.0)), most);
}

static bramah__expr rate(bramah__quantities of, const bramah__expr *seen, double transition_pressure)
{
  return e_div(e_sub(flow(of, seen, transition_pressure), seen[BRAMAH__STATE]), e_of(of, TIME_CONSTANT));
}

static const char *check(const void *element, const char **key)
{
  const bramah_load_sensing_pump *pump = element;
  *key = "initial_flow";
  return pump->initial_flow >= 0.0 && pump->initial_flow <= pump->displacement * pump->speed
             ? NULL
             : "the flow at the start must lie between 0 and displacement times speed";
}

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_load_sensing_pump, from),
    BRAMAH__VOLUME_KEY("into", bramah_load_sensing_pump, into),
    BRAMAH__QUANTITY_KEY("displacement", bramah_load_sensing_pump, displacement, .required = 1,
                         .unit = "m^3/rad", .what = "the displacement", .range = BRAMAH_KEY_POSITIVE,
                         .parameter = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("speed", bramah_load_sensing_pump, speed, .required = 1, .unit = "rad/s",
                         .what = "the speed", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("margin", bramah_load_sensing_pump, margin, .required = 1, .unit = "Pa",
                         .what = "the margin", .range = BRAMAH_KEY_POSITIVE,
                         .parameter = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("cut_off", bramah_load_sensing_pump, cut_off, .unit = "Pa",
                         .what = "the pressure cut-off", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("torque_limit", bramah_load_sensing_pump, torque_limit, .unit = "N*m",
                         .what = "the torque limit", .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("band", bramah_load_sensing_pump, band, .unit = "Pa", .what = "the band",
                         .range = BRAMAH_KEY_POSITIVE, .otherwise = 1e6),
    BRAMAH__QUANTITY_KEY("time_constant", bramah_load_sensing_pump, time_constant, .unit = "s",
                         .what = "the time constant", .range = BRAMAH_KEY_POSITIVE, .otherwise = 0.1),
    BRAMAH__QUANTITY_KEY("initial_flow", bramah_load_sensing_pump, initial_flow, .unit = "m^3/s",
                         .what = "the initial flow", .range = BRAMAH_KEY_NOT_NEGATIVE),
    BRAMAH__PART_KEY("drive", bramah_load_sensing_pump, drive, &bramah__drive_part),
    {0}};

const bramah__element_kind bramah__load_sensing_pump_kind = {
    BRAMAH__DESCRIPTION("load_sensing_pumps", "load-sensing pump", bramah_load_sensing_pump,
                        load_sensing_pumps, .keys = keys, .check = check),
    .flow = flow, .rate = rate, .sees = 1U << BRAMAH__LOAD | 1U << BRAMAH__STATE};
