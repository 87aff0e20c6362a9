/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How sure a value is, and how a sensor does. */
#include "lib/assess/assess_internal.h"
#include "lib/display/display_parts.h"

#include <math.h>

double bramah__beyond(double by, double sigma)
{
  return sigma > 0.0 ? 0.5 * erfc(-by / sigma * sqrt(0.5)) : by > 0.0 ? 1.0 : 0.0;
}

double bramah__gauge_probability(const bramah__bound_gauge *gauge, double value, double sigma)
{
  if (!isfinite(gauge->below) && !isfinite(gauge->above)) return NAN;
  if (isnan(value)) return NAN;
  value = gauge->offset + gauge->scale * value;
  sigma *= fabs(gauge->scale);
  double p = 0.0;
  if (isfinite(gauge->above)) p += bramah__beyond(value - gauge->above, sigma);
  if (isfinite(gauge->below)) p += bramah__beyond(gauge->below - value, sigma);
  return fmin(p, 1.0);
}

/* How a sensor does, by the samples since the frame before. */
bramah_sensor_state bramah__look_at_sensor(const bramah_display *display, bramah__watched_sensor *w, size_t i,
                                           int64_t now)
{
  const bramah_assess *a = display->assess;
  const bramah__innovations *sum = &a->innovations[i];
  if (sum->present < w->present) *w = (bramah__watched_sensor){0}; /* the assessment went back in its log */
  const uint64_t present = sum->present - w->present, gated = sum->gated - w->gated;
  const bramah_alarm_state alarm = bramah_alarm_get(a->alarm, i);
  if (present) {
    if (!w->present) w->first_ns = now;
    w->last_ns = now;
  }
  w->present = sum->present;
  w->gated = sum->gated;
  const int64_t interval = w->present > 1 ? (w->last_ns - w->first_ns) / (int64_t)(w->present - 1) : 0;
  const int64_t patience = !w->present                          ? INT64_C(1000000000)
                           : 10 * interval > INT64_C(200000000) ? 10 * interval
                                                                : INT64_C(200000000);
  const int64_t since = w->present ? w->last_ns : a->totals.first_ns;
  if (bramah_filter_sensor_fault(a->filter, i) || now - since > patience) return BRAMAH_SENSOR_LOST;
  if (present) w->state = 2 * gated > present ? BRAMAH_SENSOR_REJECTED : BRAMAH_SENSOR_USED;
  if (w->state == BRAMAH_SENSOR_REJECTED) return w->state;
  if (!alarm.raised) return BRAMAH_SENSOR_USED;
  return alarm.kind == BRAMAH_ALARM_MEAN ? BRAMAH_SENSOR_BIAS : BRAMAH_SENSOR_DOUBTFUL;
}
