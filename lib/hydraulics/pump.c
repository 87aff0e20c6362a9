/* SPDX-License-Identifier: MIT */
#include "lib/hydraulics/element.h"

enum { FLOW, SETTING, BAND };

/* Never negative. dp falls where the pressure that the pump works against rises. */
static bramah__tangent flow(const bramah__element *e, double dp, double transition_pressure)
{
  (void)transition_pressure;
  if (e->value[BAND] <= 0.0) return (bramah__tangent){e->value[FLOW], 0.0};
  const double part = (e->value[SETTING] + dp) / e->value[BAND];
  return (bramah__tangent){e->value[FLOW] * fmin(fmax(part, 0.0), 1.0),
                           part > 0.0 && part < 1.0 ? e->value[FLOW] / e->value[BAND] : 0.0};
}

static bramah__expr flow_graph(const bramah__expr *value, bramah__expr dp, double transition_pressure)
{
  (void)transition_pressure;
  if (e_is_number(value[BAND]) && value[BAND].value <= 0.0) return value[FLOW];
  const bramah__expr part = e_div(e_add(value[SETTING], dp), value[BAND]);
  return e_mul(value[FLOW], e_min(e_max(part, e_number(0.0)), e_number(1.0)));
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

static const bramah_element_key keys[] = {
    BRAMAH__NODE_KEY("from", bramah_pump, from),
    BRAMAH__VOLUME_KEY("into", bramah_pump, into),
    BRAMAH__QUANTITY_KEY("flow", bramah_pump, flow, .required = 1, .unit = "m^3/s", .what = "the flow",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__FACTOR_KEY("displacement", "m^3/rad", "flow", .required = 0),
    BRAMAH__FACTOR_KEY("speed", "rad/s", "flow", .required = 0),
    BRAMAH__QUANTITY_KEY("set_pressure", bramah_pump, set_pressure, .unit = "Pa", .what = "the set pressure",
                         .range = BRAMAH_KEY_POSITIVE),
    BRAMAH__QUANTITY_KEY("band", bramah_pump, band, .unit = "Pa", .what = "the band",
                         .range = BRAMAH_KEY_POSITIVE),
    {0}};

const bramah__element_kind bramah__pump_kind = {
    BRAMAH__DESCRIPTION("pumps", "pump", bramah_pump, pumps, .keys = keys, .check = check), .flow = flow,
    .flow_graph = flow_graph};
