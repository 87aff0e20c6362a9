/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lib/cli/sensors_report.h"
#include "lib/cli/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double band = 1.96; /* half width of 95 % in standard deviations */
static const double gap = 5.0;   /* so many times the usual interval */

/* ---- plots ---- */

static const char predictions[] = "Measurements over predictions";
static const char innovations[] = "Innovations";
static const char gates[] = "Gate ratios";
static const char correlations[] = "Autocorrelation of the innovations";

static bramah_status add_prediction(cli_sensors_report *r, cli_sensor_report *s)
{
  const bramah_report_plot plot = {.section = predictions,
                                   .title = s->name,
                                   .unit = s->unit,
                                   .factor = s->factor,
                                   .names = {[BRAMAH_REPORT_ESTIMATE] = "predicted"}};
  return bramah_report_add(r->report, &plot, &s->prediction);
}

static bramah_status add_innovation(cli_sensors_report *r, cli_sensor_report *s)
{
  char title[256];
  snprintf(title, sizeof title, "%s: innovation", s->name);
  const bramah_report_plot plot = {
      .section = innovations,
      .title = title,
      .unit = s->unit,
      .factor = s->factor,
      .symmetric = 1,
      .names = {[BRAMAH_REPORT_ESTIMATE] = "innovation", [BRAMAH_REPORT_MEASURED] = "held back"}};
  return bramah_report_add(r->report, &plot, &s->innovation);
}

static bramah_status add_ratio(cli_sensors_report *r, cli_sensor_report *s)
{
  char title[256];
  if (!(s->gate > 0.0)) return BRAMAH_OK;
  snprintf(title, sizeof title, "%s: innovation / gate of %.4g σ", s->name, s->gate);
  const bramah_report_plot plot = {
      .section = gates,
      .title = title,
      .unit = "1",
      .factor = 1.0,
      .band = "passes",
      .names = {[BRAMAH_REPORT_ESTIMATE] = "fused", [BRAMAH_REPORT_MEASURED] = "held back"}};
  return bramah_report_add(r->report, &plot, &s->ratio);
}

static bramah_status explain(bramah_report *report)
{
  bramah_status status = bramah_report_explain(
      report, predictions,
      "What each sensor told, over what the filter expected it to tell just before; the "
      "band is that of the innovation, sensor noise included.");
  if (!status)
    status =
        bramah_report_explain(report, innovations,
                              "Measured minus predicted. In a filter that may be believed 95 % lie within "
                              "the band, without a trend.");
  if (!status)
    status = bramah_report_explain(
        report, correlations,
        "Of the innovations over their standard deviations, sample after sample. What is white stays within "
        "the "
        "band but for 5 % of the lags; positive values: the model misses something that lasts.");
  if (!status)
    status = bramah_report_explain(
        report, gates, "Size of the innovation relative to its gate: above 1 a sample is held back.");
  return status;
}

bramah_status cli_sensors_report_init(cli_sensors_report *sensors, bramah_report *report,
                                      const bramah_session *session, bramah_diag *diag)
{
  const bramah_study *study = bramah_session_study(session);
  bramah_status status = BRAMAH_OK;
  *sensors = (cli_sensors_report){.report = report, .n = study->n_sensors};
  sensors->step = 1e-9 * (double)bramah_session_plant(session)->step_ns;
  sensors->sensor = calloc(study->n_sensors + 1, sizeof *sensors->sensor);
  if (!sensors->sensor) return cli_fail(diag, BRAMAH_E_MEMORY, NULL, 0, NULL, "out of memory");
  for (size_t i = 0; i < sensors->n; i++) {
    const cli_readable readable = cli_readable_unit(bramah_session_sensors(session)[i].unit);
    sensors->sensor[i] = (cli_sensor_report){.name = bramah_session_sensors(session)[i].name,
                                             .unit = readable.unit,
                                             .factor = readable.factor,
                                             .gate = study->gate[i]};
  }
  for (size_t i = 0; !status && i < sensors->n; i++) status = add_prediction(sensors, &sensors->sensor[i]);
  for (size_t i = 0; !status && i < sensors->n; i++) status = add_innovation(sensors, &sensors->sensor[i]);
  for (size_t i = 0; !status && i < sensors->n; i++) status = add_ratio(sensors, &sensors->sensor[i]);
  if (!status) status = explain(report);
  return status ? cli_fail(diag, status, NULL, 0, NULL, "the plots of the sensors cannot be made")
                : BRAMAH_OK;
}

void cli_sensors_report_free(cli_sensors_report *sensors) { free(sensors->sensor); }

/* ---- events ---- */

static bramah_status watch_gaps(cli_sensors_report *r, cli_sensor_report *s, double t)
{
  const double since = t - s->last;
  if (!s->samples || since <= 0.0) return BRAMAH_OK;
  if (s->usual > 0.0 && since > gap * s->usual && since > 2.5 * r->step) {
    char text[200];
    snprintf(text, sizeof text, "%s: no sample for %.4g s", s->name, since);
    return bramah_report_event(r->report, t, "gap", text);
  }
  s->usual += (s->usual > 0.0 ? 0.05 : 1.0) * (since - s->usual);
  return BRAMAH_OK;
}

/* Of samples held back in a row the first is told, and when it was over. */
static bramah_status watch_gate(cli_sensors_report *r, cli_sensor_report *s, double t,
                                const bramah_innovation *innovation)
{
  char text[200];
  const uint64_t before = s->held_back;
  const int held_back = !innovation->accepted && !innovation->saturated;
  s->held_back = held_back ? before + 1 : 0;
  if (held_back && !before)
    snprintf(text, sizeof text, "%s: held back, innovation %.4g %s = %.3g σ", s->name,
             innovation->innovation * s->factor, s->unit, innovation->innovation / innovation->sigma);
  else if (innovation->accepted && before > 1)
    snprintf(text, sizeof text, "%s: fused again after %llu samples held back", s->name,
             (unsigned long long)before);
  else
    return BRAMAH_OK;
  return bramah_report_event(r->report, t, "gate", text);
}

static bramah_status watch_range(cli_sensors_report *r, cli_sensor_report *s, double t, int saturated)
{
  char text[200];
  const uint64_t before = s->at_range;
  s->at_range = saturated ? before + 1 : 0;
  if (!saturated || before) return BRAMAH_OK;
  snprintf(text, sizeof text, "%s: at an end of its range", s->name);
  return bramah_report_event(r->report, t, "range", text);
}

/* ---- points ---- */

static bramah_status add_point(bramah_report *report, size_t plot, int fused, double t, double value,
                               double half)
{
  return bramah_report_point(report, plot, fused ? BRAMAH_REPORT_ESTIMATE : BRAMAH_REPORT_MEASURED, t, value,
                             half);
}

static bramah_status draw(cli_sensors_report *r, cli_sensor_report *s, double t, double value,
                          const bramah_innovation *y)
{
  const double half = band * y->sigma;
  bramah_status status =
      bramah_report_point(r->report, s->prediction, BRAMAH_REPORT_ESTIMATE, t, value - y->innovation, half);
  if (!status) status = bramah_report_point(r->report, s->prediction, BRAMAH_REPORT_MEASURED, t, value, NAN);
  if (!status) status = add_point(r->report, s->innovation, y->accepted, t, y->innovation, half);
  if (status || !(s->gate > 0.0) || y->saturated) return status;
  const double ratio = fabs(y->innovation) / (s->gate * y->sigma);
  return bramah_report_band_point(r->report, s->ratio,
                                  y->accepted ? BRAMAH_REPORT_ESTIMATE : BRAMAH_REPORT_MEASURED, t, ratio,
                                  y->accepted ? 0.0 : NAN, y->accepted ? 1.0 : NAN);
}

bramah_status cli_sensors_report_add(cli_sensors_report *sensors, size_t i, double t, double value,
                                     const bramah_innovation *innovation)
{
  cli_sensor_report *s = &sensors->sensor[i];
  if (innovation->accepted && innovation->sigma > 0.0)
    bramah_autocorrelation_add(&s->whiteness, innovation->innovation / innovation->sigma);
  if (s->samples && t < s->last) return BRAMAH_OK;
  bramah_status status = watch_gaps(sensors, s, t);
  if (!status) status = watch_gate(sensors, s, t, innovation);
  if (!status) status = watch_range(sensors, s, t, innovation->saturated);
  s->samples++;
  s->last = t;
  return status ? status : draw(sensors, s, t, value, innovation);
}

/* ---- autocorrelation ---- */

static bramah_status add_correlation(cli_sensors_report *r, const cli_sensor_report *s)
{
  enum { LAGS = BRAMAH_AUTOCORRELATION_LAGS };
  const uint64_t most = s->whiteness.n / 4;
  const size_t lags = most < LAGS ? (size_t)most : LAGS;
  double correlation[LAGS];
  bramah_whiteness white;
  size_t plot;
  char title[256];
  if (lags < 2 || bramah_autocorrelation_test(&s->whiteness, lags, correlation, &white, NULL))
    return BRAMAH_OK;
  snprintf(title, sizeof title, "%s: %zu of %zu lags outside", s->name, white.outside, lags);
  const bramah_report_plot look = {.section = correlations,
                                   .title = title,
                                   .unit = "1",
                                   .factor = 1.0,
                                   .symmetric = 1,
                                   .axis = BRAMAH_REPORT_LAG,
                                   .band = "white, 95 %",
                                   .names = {[BRAMAH_REPORT_ESTIMATE] = "correlation"}};
  bramah_status status = bramah_report_add(r->report, &look, &plot);
  for (size_t k = 1; !status && k <= lags; k++)
    status = bramah_report_point(r->report, plot, BRAMAH_REPORT_ESTIMATE, (double)k, correlation[k - 1],
                                 white.band);
  return status;
}

bramah_status cli_sensors_report_finish(cli_sensors_report *sensors)
{
  bramah_status status = BRAMAH_OK;
  for (size_t i = 0; !status && i < sensors->n; i++) status = add_correlation(sensors, &sensors->sensor[i]);
  return status;
}
