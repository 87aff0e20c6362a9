/* SPDX-License-Identifier: MIT */
#include "sensors/kinds.h"
#include "lib/base/diag.h"
#include "lib/base/text.h"
#include "lib/plant/plant_table.h"
#include "lib/math/elementary.h"

#include <math.h>
#include <string.h>

static const bramah__sensor_kind *const kinds[] = {&bramah__encoder,
                                                   &bramah__gyro,
                                                   &bramah__pressure,
                                                   &bramah__accelerometer,
                                                   &bramah__inclinometer,
                                                   &bramah__stroke,
                                                   &bramah__pressure_difference,
                                                   &bramah__flow,
                                                   &bramah__load_pin,
                                                   &bramah__any_output};
enum { N_KINDS = sizeof kinds / sizeof kinds[0], NAME_SIZE = 256 };

static const bramah__sensor_kind *find_kind(bramah_sensor_kind kind)
{
  for (size_t i = 0; i < N_KINDS; i++)
    if (kinds[i]->kind == kind) return kinds[i];
  return NULL;
}

const char *bramah_sensor_kind_name(bramah_sensor_kind kind)
{
  const bramah__sensor_kind *k = find_kind(kind);
  return k ? k->name : "?";
}

const char *bramah_sensor_place_key(const bramah_sensor_options *o)
{
  if (o->kind == BRAMAH_SENSOR_PRESSURE) return "volume";
  if (o->kind == BRAMAH_SENSOR_STROKE || o->kind == BRAMAH_SENSOR_LOAD_PIN) return "cylinder";
  const int has_axis = o->axis[0] != 0.0 || o->axis[1] != 0.0 || o->axis[2] != 0.0;
  return has_axis && o->kind != BRAMAH_SENSOR_ENCODER ? "body" : "joint";
}

static long find_output(const bramah_plant *plant, const char *at, const char *suffix)
{
  char name[NAME_SIZE];
  const size_t used = bramah__append(name, sizeof name, 0, at);
  bramah__append(name, sizeof name, used, suffix);
  return bramah_plant_find_output(plant, name);
}

int bramah__sensor_has(const bramah_plant *plant, const char *at, const char *suffix)
{
  return at && find_output(plant, at, suffix) >= 0;
}

bramah_status bramah__sensor_add_term(const bramah_plant *plant, const char *at, const char *suffix,
                                      double weight, bramah_sensor *sensor)
{
  const long output = find_output(plant, at, suffix);
  if (output < 0 || sensor->n_terms == BRAMAH_SENSOR_MAX_TERMS) return BRAMAH_E_REFERENCE;
  sensor->output[sensor->n_terms] = (size_t)output;
  sensor->weight[sensor->n_terms++] = weight;
  return BRAMAH_OK;
}

bramah_status bramah__sensor_add_vector(const bramah_plant *plant, const char *at, const char *stem,
                                        const double w[3], bramah_sensor *sensor)
{
  bramah_status status = BRAMAH_OK;
  for (int k = 0; k < 3 && status == BRAMAH_OK; k++) {
    char suffix[64];
    const char component[2] = {"xyz"[k], 0};
    if (w[k] == 0.0) continue;
    const size_t used = bramah__append(suffix, sizeof suffix, 0, stem);
    bramah__append(suffix, sizeof suffix, used, component);
    status = bramah__sensor_add_term(plant, at, suffix, w[k], sensor);
  }
  return status;
}

bramah_status bramah__sensor_fail(const bramah_sensor_options *options, const char *message,
                                  bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_VALUE, options->name, message);
  return bramah__at(diag, NULL, options->line, 0), BRAMAH_E_VALUE;
}

bramah_status bramah__sensor_unit_vector(const bramah_sensor_options *options, const char *what,
                                         const double axis[3], bramah_diag *diag, double out[3])
{
  const double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
  for (int k = 0; k < 3; k++) out[k] = axis[k] / length;
  if (isfinite(length) && length > 0.0) return BRAMAH_OK;
  bramah__fail(diag, BRAMAH_E_VALUE, options->name, "the ");
  bramah__add_text(diag, what);
  bramah__add_text(diag, isfinite(length) ? " is zero" : " is not finite");
  return bramah__at(diag, NULL, options->line, 0), BRAMAH_E_VALUE;
}

/* The part of an output's name before the suffix; 0 if it ends otherwise. */
static int stem(const char *name, const char *suffix, char *out)
{
  const size_t n = strlen(name), tail = strlen(suffix);
  if (n <= tail || n - tail >= NAME_SIZE || strcmp(name + n - tail, suffix) != 0) return 0;
  memcpy(out, name, n - tail);
  out[n - tail] = '\0';
  return 1;
}

bramah_status bramah__sensor_no_such(const bramah_sensor_options *options, const bramah_plant *plant,
                                     const char *what, const char *suffix, bramah_diag *diag)
{
  return bramah__sensor_no_other(options, options->at, plant, what, suffix, diag);
}

bramah_status bramah__sensor_no_other(const bramah_sensor_options *options, const char *at,
                                      const bramah_plant *plant, const char *what, const char *suffix,
                                      bramah_diag *diag)
{
  bramah__fail(diag, BRAMAH_E_REFERENCE, options->name, "there is no ");
  bramah__add_text(diag, what);
  bramah__add_text(diag, " '");
  bramah__add_text(diag, at ? at : "");
  bramah__add_text(diag, "'");
  char best[NAME_SIZE] = "";
  for (size_t i = 0; at && i < plant->n_output; i++) {
    bramah_output_info info;
    char candidate[NAME_SIZE];
    bramah_plant_output_info(plant, i, &info);
    if (!stem(info.name, suffix, candidate)) continue;
    const char *both[2] = {candidate, best};
    if (bramah__nearest(at, best[0] ? 2 : 1, both) == candidate) memcpy(best, candidate, sizeof best);
  }
  if (best[0]) {
    bramah__add_text(diag, "; did you mean '");
    bramah__add_text(diag, best);
    bramah__add_text(diag, "'?");
  }
  return bramah__at(diag, NULL, options->line, 0), BRAMAH_E_REFERENCE;
}

void bramah_sensor_options_default(bramah_sensor_options *options)
{
  *options = (bramah_sensor_options){.name = NULL};
}

/* A sensor on a welded body sits on the body that carries it. */
static bramah_sensor_options on_carrier(const bramah_sensor_options *o, const bramah_plant *plant)
{
  bramah_sensor_options out = *o;
  const int on_body =
      o->kind == BRAMAH_SENSOR_ACCELEROMETER || o->kind == BRAMAH_SENSOR_INCLINOMETER ||
      (o->kind == BRAMAH_SENSOR_GYRO && (o->axis[0] != 0 || o->axis[1] != 0 || o->axis[2] != 0));
  double R[9], r[3];
  const bramah_plant table = bramah__plant_copy(plant);
  const char *carrier = on_body && o->at && table.carrier ? table.carrier(plant->self, o->at, R, r) : NULL;
  if (!carrier) return out;
  out.at = carrier;
  for (int i = 0; i < 3; i++) {
    out.axis[i] = out.about[i] = 0.0;
    out.point[i] = r[i];
    for (int k = 0; k < 3; k++) {
      out.axis[i] += R[3 * i + k] * o->axis[k];
      out.about[i] += R[3 * i + k] * o->about[k];
      out.point[i] += R[3 * i + k] * o->point[k];
    }
  }
  return out;
}

bramah_status bramah_sensor_init(const bramah_sensor_options *o, const bramah_plant *plant, bramah_diag *diag,
                                 bramah_sensor *out)
{
  const bramah__sensor_kind *kind = find_kind(o->kind);
  const int ranged = o->least != 0.0 || o->most != 0.0;
  bramah_status status = bramah__plant_check(plant, diag);
  if (status != BRAMAH_OK) return status;
  if (!(o->sigma > 0.0) || !isfinite(o->sigma))
    return bramah__sensor_fail(o, "the standard deviation must be positive", diag);
  if (o->period_ns < 0) return bramah__sensor_fail(o, "the sampling period must not be negative", diag);
  if (o->delay_ns < 0) return bramah__sensor_fail(o, "the delay must not be negative", diag);
  if (!kind) return bramah__sensor_fail(o, "the kind of this sensor is unknown", diag);
  if (!(o->resolution >= 0.0) || !isfinite(o->resolution))
    return bramah__sensor_fail(o, "the resolution must not be negative", diag);
  if (ranged && !(o->least < o->most && isfinite(o->most - o->least)))
    return bramah__sensor_fail(o, "the range must end above its begin", diag);

  bramah_sensor sensor = {.name = o->name,
                          .unit = kind->unit,
                          .kind = o->kind,
                          .group = kind->group,
                          .sigma = o->sigma,
                          .period_ns = o->period_ns,
                          .delay_ns = o->delay_ns,
                          .resolution = o->resolution,
                          .least = o->least,
                          .most = o->most};
  const bramah_sensor_options placed = on_carrier(o, plant);
  status = kind->bind(&placed, plant, diag, &sensor);
  if (status == BRAMAH_OK) *out = sensor;
  return status;
}

size_t bramah__sensor_first(const bramah_sensor *sensor)
{
  return sensor->shape == BRAMAH_SENSOR_ANGLE ? sensor->n_first : sensor->n_terms;
}

/* One output of the plant, as most are. */
static int is_plain(const bramah_sensor *sensor)
{
  return sensor->shape == BRAMAH_SENSOR_SUM && sensor->n_terms == 1;
}

static void sums(const bramah_sensor *sensor, const bramah_plant *plant, double sum[2])
{
  sum[0] = sum[1] = 0.0;
  for (size_t i = 0; i < sensor->n_terms; i++)
    sum[i >= bramah__sensor_first(sensor)] +=
        sensor->weight[i] * plant->output(plant->self, sensor->output[i]);
}

/* The arc sine of more than one is that of one, and its slope grows no further where the cosine is as small as rounding makes
 * it. */
double bramah__sensor_shown(const bramah_sensor *sensor, const double sum[2], double slope[2])
{
  static const double least_cosine = 1e-7;
  slope[0] = 1.0;
  slope[1] = 0.0;
  if (sensor->shape == BRAMAH_SENSOR_ARCSINE) {
    slope[0] = 1.0 / fmax(least_cosine, sqrt(fmax(0.0, (1.0 - sum[0]) * (1.0 + sum[0]))));
    return bramah__asin(fmax(-1.0, fmin(1.0, sum[0])));
  }
  if (sensor->shape != BRAMAH_SENSOR_ANGLE) return sum[0];
  const double square = fmax(least_cosine * least_cosine, sum[0] * sum[0] + sum[1] * sum[1]);
  slope[0] = sum[1] / square;
  slope[1] = -sum[0] / square;
  return bramah__atan2(sum[0], sum[1]);
}

double bramah_sensor_predict(const bramah_sensor *sensor, const bramah_plant *plant)
{
  double sum[2], slope[2];
  if (is_plain(sensor)) return 0.0 + sensor->weight[0] * plant->output(plant->self, sensor->output[0]);
  sums(sensor, plant, sum);
  return bramah__sensor_shown(sensor, sum, slope);
}

double bramah_sensor_variance(const bramah_sensor *sensor)
{
  return sensor->sigma * sensor->sigma + sensor->resolution * sensor->resolution / 12.0;
}

static int has_range(const bramah_sensor *sensor) { return sensor->least < sensor->most; }

double bramah_sensor_digitize(const bramah_sensor *sensor, double y)
{
  if (sensor->resolution > 0.0) y = sensor->resolution * nearbyint(y / sensor->resolution);
  return has_range(sensor) ? fmax(sensor->least, fmin(sensor->most, y)) : y;
}

double bramah__sensor_end(const bramah_sensor *sensor, int most)
{
  if (!has_range(sensor)) return most ? (double)INFINITY : -(double)INFINITY;
  const double rounding = 1e-9 * fmax(fabs(sensor->least), fabs(sensor->most));
  const double margin = fmax(0.5 * sensor->resolution, rounding);
  return most ? sensor->most - margin : sensor->least + margin;
}

int bramah_sensor_is_saturated(const bramah_sensor *sensor, double y)
{
  return has_range(sensor) && (y <= bramah__sensor_end(sensor, 0) || y >= bramah__sensor_end(sensor, 1));
}

double bramah__sensor_innovation(const bramah_sensor *sensor, double measured, double predicted)
{
  const double y = measured - predicted;
  return sensor->period > 0.0 ? remainder(y, sensor->period) : y;
}

/* Derivatives of the measurement by the two sums. */
static void slopes(const bramah_sensor *sensor, const bramah_plant *plant, double slope[2])
{
  double sum[2] = {0.0, 0.0};
  if (sensor->shape != BRAMAH_SENSOR_SUM) sums(sensor, plant, sum);
  bramah__sensor_shown(sensor, sum, slope);
}

bramah_status bramah_sensor_row(const bramah_sensor *sensor, const bramah_plant *plant, double *H,
                                double *term, void *snap, double *dx, bramah_diag *diag)
{
  const size_t n = bramah_plant_n_error(plant);
  if (is_plain(sensor)) {
    const double weight = sensor->weight[0];
    const bramah_status status = bramah__plant_output_row(plant, sensor->output[0], H, snap, dx, diag);
    for (size_t k = 0; k < n && weight != 1.0; k++) H[k] *= weight;
    return status;
  }
  double slope[2];
  slopes(sensor, plant, slope);
  for (size_t k = 0; k < n; k++) H[k] = 0.0;
  for (size_t i = 0; i < sensor->n_terms; i++) {
    const double weight = slope[i >= bramah__sensor_first(sensor)] * sensor->weight[i];
    if (weight == 0.0) continue;
    const bramah_status status = bramah__plant_output_row(plant, sensor->output[i], term, snap, dx, diag);
    if (status != BRAMAH_OK) return status;
    for (size_t k = 0; k < n; k++) H[k] += weight * term[k];
  }
  return BRAMAH_OK;
}

bramah_status bramah__sensor_slope(const bramah_sensor *sensor, const bramah_plant *plant, size_t parameter,
                                   double *out)
{
  double sum[2], slope[2];
  *out = 0.0;
  if (!plant->output_by_parameters) return BRAMAH_E_UNSUPPORTED;
  sums(sensor, plant, sum);
  bramah__sensor_shown(sensor, sum, slope);
  for (size_t i = 0; i < sensor->n_terms; i++) {
    double by;
    const bramah_status status =
        plant->output_by_parameters(plant->self, sensor->output[i], 1, &parameter, &by);
    if (status != BRAMAH_OK) return status;
    *out += slope[i >= bramah__sensor_first(sensor)] * sensor->weight[i] * by;
  }
  return BRAMAH_OK;
}
