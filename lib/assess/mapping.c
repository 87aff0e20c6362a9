/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which column of a log is which sensor or command: the model is run with columns as its commands, and columns are assigned
 * to the sensors that go with them. What is compared are changes over half a second, since a model alone drifts.
 *
 * A column y and a sensor x of the model, with r the correlation of their changes and a the slope of y over x, gain
 *
 *   -log(1 - r^2) - min(log(|a|/c)^2 / (2 0.2^2), 3) - level - preference + name
 *
 * with c of the unit that fits best. The first term is what knowing x takes from the logarithm of the variance of y. */
#define _GNU_SOURCE /* strcasestr */
#include "lib/assess/mapping.h"
#include "lib/assess/plausibility.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 600, MOST_DIVIDED = 100, MOST_SCALES = 4, MOST_CLOSE = 16 };
static const double least_gain = 0.4, sure_correlation = 0.8, sure_gain = 0.4, sure_ratio = 0.2,
                    unit_spread = 0.2, close_by = 2.0, usual_sign = 0.02;

/* A sensor that the machine may have. */
typedef struct candidate {
  bramah_sensor sensor;
  bramah_sensor_options options;
  bramah_dimension dimension;
  double preference; /* what speaks against it beforehand */
  double *x, *change;
  double square; /* of its changes */
} candidate;

/* How a column goes with a candidate. */
typedef struct match {
  double gain, correlation, ratio, per_unit;
  int sign;
  const char *unit;
} match;

/* What an input is driven by. */
typedef struct driver {
  size_t channel; /* SIZE_MAX: by what the file plans at the start */
  double factor;  /* [unit of the input] 1 of the column, with its sign */
} driver;

/* Two inputs that take each other's columns, or one with the other sign. */
typedef struct exchange {
  size_t input[2];
  driver before[2];
  int signs; /* 1, 2: of the first, of the second input changes */
} exchange;

typedef struct search {
  const bramah_machine_plant *machine;
  bramah__channels log;
  bramah_coupled *coupled;
  bramah_plant plant;
  candidate *candidate;               /* [n] */
  size_t n, n_inputs, n_runs, n_bins; /* n_bins: that the last run came to */
  driver *driver;                     /* [n_inputs] */
  double *memory, *u, *planned, *sum, *gain, *work;
  match *match;               /* [channels x n] */
  size_t *used, *to;          /* to [channels]: candidate; n and more: none */
  exchange close[MOST_CLOSE]; /* [n_close] that go with the log about as well */
  size_t n_close;
  size_t *row; /* [channels] its row in the assignment; SIZE_MAX: it is none of the sensors */
} search;

/* ---- candidates ---- */

static void add_candidate(search *s, bramah_sensor_kind kind, const char *at, const double *axis,
                          double preference)
{
  candidate *c = &s->candidate[s->n];
  bramah_diag ignored;
  double factor;
  if (s->n == MOST_CANDIDATES) return;
  memset(c, 0, sizeof *c);
  bramah_sensor_options_default(&c->options);
  c->options.name = at;
  c->options.kind = kind;
  c->options.at = at;
  c->options.sigma = 1.0;
  if (axis) memcpy(c->options.axis, axis, sizeof c->options.axis);
  if (bramah_sensor_init(&c->options, &s->plant, &ignored, &c->sensor)) return;
  if (bramah_unit_parse(c->sensor.unit, &factor, &c->dimension, &ignored)) return;
  c->preference = preference;
  s->n++;
}

static void add_candidates(search *s)
{
  static const double axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
  const bramah_model_info info = bramah_model_get_info(s->machine->model);
  const bramah_machine *machine = s->machine->machine;
  for (size_t i = 0; i < info.n_joints; i++) {
    add_candidate(s, BRAMAH_SENSOR_ENCODER, info.joint_names[i], NULL, 0.0);
    add_candidate(s, BRAMAH_SENSOR_GYRO, info.joint_names[i], NULL, 0.1);
  }
  for (size_t i = 0; i < info.n_volumes; i++)
    add_candidate(s, BRAMAH_SENSOR_PRESSURE, info.volume_names[i], NULL, 0.0);
  for (size_t i = 0; i < machine->n_cylinders; i++) {
    add_candidate(s, BRAMAH_SENSOR_STROKE, machine->cylinders[i].name, NULL, 0.3);
    add_candidate(s, BRAMAH_SENSOR_LOAD_PIN, machine->cylinders[i].name, NULL, 0.3);
  }
  for (size_t i = 0; i < machine->n_bodies; i++)
    for (size_t k = 0; k < 3; k++) {
      add_candidate(s, BRAMAH_SENSOR_GYRO, machine->bodies[i].name, axes[k], 0.05);
      add_candidate(s, BRAMAH_SENSOR_ACCELEROMETER, machine->bodies[i].name, axes[k], 0.3);
    }
}

static void describe_candidate(const candidate *c, char *text, size_t n)
{
  const char *axis = c->options.axis[0] != 0.0   ? " about x"
                     : c->options.axis[1] != 0.0 ? " about y"
                     : c->options.axis[2] != 0.0 ? " about z"
                                                 : "";
  snprintf(text, n, "%s at %.40s%s", bramah_sensor_kind_name(c->options.kind), c->options.at, axis);
}

/* ---- the model with columns as its commands ---- */

static bramah_status drive_to(search *s, double t, size_t *row, int *is_changed)
{
  bramah_diag ignored;
  *is_changed |= *row == 0;
  for (; *row < s->log.n_rows && s->log.t[*row] <= t + 1e-9; (*row)++)
    for (size_t i = 0; i < s->n_inputs; i++) {
      const driver *d = &s->driver[i];
      const double y = d->channel == SIZE_MAX ? (double)NAN : s->log.channel[d->channel].value[*row];
      if (isnan(y) || s->u[i] == d->factor * y) continue;
      s->u[i] = d->factor * y;
      *is_changed = 1;
    }
  if (!*is_changed || !s->n_inputs) return BRAMAH_OK;
  *is_changed = 0;
  return s->plant.set_inputs(s->plant.self, s->u, &ignored);
}

/* Predictions of all candidates in the middle of each bin, as far as the model can be stepped. */
static void run(search *s)
{
  const double step = 1e-9 * (double)s->plant.step_ns;
  const uint64_t divided = bramah_coupled_report(s->coupled).divided;
  bramah_diag ignored;
  size_t row = 0, k = 0;
  int is_changed = 1;
  s->n_runs++;
  s->n_bins = 0;
  memcpy(s->u, s->planned, s->n_inputs * sizeof *s->u);
  if (bramah_coupled_reset(s->coupled, &ignored)) return;
  for (size_t b = 0; b < s->log.bins.n; b++) {
    const double to = ((double)b + 0.5) * s->log.bins.length;
    for (; ((double)k + 0.5) * step < to; k++)
      if (drive_to(s, (double)k * step, &row, &is_changed) || s->plant.step(s->plant.self, &ignored)) return;
    if (bramah_coupled_report(s->coupled).divided > divided + MOST_DIVIDED) return;
    for (size_t i = 0; i < s->n; i++)
      s->candidate[i].x[b] = bramah_sensor_predict(&s->candidate[i].sensor, &s->plant);
    s->n_bins = b + 1;
  }
}

/* ---- how columns and candidates go together ---- */

static void choose_unit(const bramah__channel *y, const candidate *c, double slope, match *m)
{
  double nearest = HUGE_VAL, per_si;
  const char *unit;
  m->sign = slope < 0.0 ? -1 : 1;
  m->unit = y->is_known ? y->unit : NULL;
  m->per_unit = 1.0;
  m->ratio = fabs(slope);
  for (size_t k = 0; !y->is_known && (unit = bramah__unit_at(c->sensor.unit, k, &per_si)) != NULL; k++) {
    const double off = fabs(log(fabs(slope) / per_si));
    if (!(off < nearest)) continue;
    nearest = off;
    m->unit = unit;
    m->per_unit = 1.0 / per_si;
    m->ratio = fabs(slope) / per_si;
  }
}

/* Pressures and accelerations have a zero. */
static double level_penalty(const bramah__channel *y, const candidate *c, const match *m, double mean)
{
  const double off = m->sign * m->per_unit * y->mean - mean;
  const double usual = c->options.kind == BRAMAH_SENSOR_PRESSURE        ? fmax(fabs(mean), 5e6)
                       : c->options.kind == BRAMAH_SENSOR_ACCELEROMETER ? 5.0
                                                                        : HUGE_VAL;
  return fmin(4.0 * (off / usual) * (off / usual), 2.0);
}

static void compare(search *s, const bramah__channel *y, double square, candidate *c, match *m)
{
  const size_t n = s->n_bins - s->log.bins.lag;
  double dot = 0.0, mean = 0.0;
  *m = (match){.gain = -1.0};
  if (!(c->square > 0.0) || !(square > 0.0) ||
      (y->is_known && memcmp(&y->dimension, &c->dimension, sizeof y->dimension) != 0))
    return;
  for (size_t b = 0; b < n; b++) dot += c->change[b] * y->change[b];
  const double r = dot / sqrt(c->square * square), slope = dot / c->square;
  if (!(fabs(r) > 0.1)) return;
  for (size_t b = 0; b < s->n_bins; b++) mean += c->x[b] / (double)s->n_bins;
  choose_unit(y, c, slope, m);
  const double off = log(m->ratio) / unit_spread;
  const size_t length = strlen(c->options.at), of_name = strlen(y->name);
  const double named = strcasestr(y->name, c->options.at) ? (double)length / (double)of_name : 0.0;
  m->correlation = r;
  m->gain = -log(1.0 - fmin(r * r, 0.9999)) - fmin(0.5 * off * off, 3.0) - level_penalty(y, c, m, mean) -
            c->preference + named - (m->sign < 0 ? usual_sign : 0.0);
}

/* Gains of the last run and the best assignment; its sum, less where the model did not come to the end. */
static double score(search *s)
{
  const size_t width = s->n + s->log.n, lag = s->log.bins.lag;
  size_t rows = 0;
  double total = 0.0;
  for (size_t k = 0; k < s->log.n; k++) s->row[k] = SIZE_MAX;
  if (s->n_bins <= 2 * lag) return -HUGE_VAL;
  for (size_t i = 0; i < s->n; i++) {
    candidate *c = &s->candidate[i];
    bramah__changes(&s->log.bins, s->n_bins, c->x, s->sum, c->change);
    c->square = 0.0;
    for (size_t b = 0; b + lag < s->n_bins; b++) c->square += c->change[b] * c->change[b];
  }
  for (size_t k = 0; k < s->log.n; k++) {
    const bramah__channel *y = &s->log.channel[k];
    double square = 0.0;
    int is_driver = k == s->log.time || y->n < 20 || y->least == y->most;
    for (size_t i = 0; i < s->n_inputs; i++) is_driver |= s->driver[i].channel == k;
    if (is_driver) continue;
    for (size_t b = 0; b + lag < s->n_bins; b++) square += y->change[b] * y->change[b];
    for (size_t i = 0; i < s->n; i++) {
      match *m = &s->match[k * s->n + i];
      compare(s, y, square, &s->candidate[i], m);
      s->gain[rows * width + i] = m->gain - least_gain;
    }
    for (size_t i = s->n; i < width; i++) s->gain[rows * width + i] = 0.0;
    s->row[k] = rows++;
  }
  bramah__assign(rows, width, s->gain, s->work, s->used, s->to);
  for (size_t k = 0; k < rows; k++) total += s->gain[k * width + s->to[k]];
  return total * (double)s->n_bins / (double)s->log.bins.n;
}

/* Hungarian method by shortest augmenting paths (Jonker and Volgenant 1987), of the negated gains. */
void bramah__assign(size_t n, size_t m, const double *gain, double *work, size_t *used, size_t *to)
{
  double *row_price = work, *price = row_price + m + 1, *distance = price + m + 1, *seen = distance + m + 1;
  size_t *from =
      used + m + 1; /* used [2 (m + 1)]: row of a column, counted from 1; column before it on the path */
  for (size_t j = 0; j <= m; j++) {
    row_price[j] = price[j] = 0.0;
    used[j] = 0;
  }
  for (size_t i = 1; i <= n; i++) {
    size_t at = 0;
    used[0] = i;
    for (size_t j = 0; j <= m; j++) {
      distance[j] = HUGE_VAL;
      seen[j] = 0.0;
    }
    do {
      const size_t row = used[at];
      double delta = HUGE_VAL;
      size_t next = 0;
      seen[at] = 1.0;
      for (size_t j = 1; j <= m; j++) {
        if (seen[j] > 0.0) continue;
        const double now = -gain[(row - 1) * m + j - 1] - row_price[row] - price[j];
        if (now < distance[j]) {
          distance[j] = now;
          from[j] = at;
        }
        if (distance[j] < delta) {
          delta = distance[j];
          next = j;
        }
      }
      for (size_t j = 0; j <= m; j++)
        if (seen[j] > 0.0) {
          row_price[used[j]] += delta;
          price[j] -= delta;
        } else
          distance[j] -= delta;
      at = next;
    } while (used[at]);
    for (; at; at = from[at]) used[at] = used[from[at]];
  }
  for (size_t j = 1; j <= m; j++)
    if (used[j]) to[used[j] - 1] = j - 1;
}

/* ---- commands ---- */

static void make_exchange(search *s, const exchange *e)
{
  s->driver[e->input[0]] = e->before[1];
  s->driver[e->input[1]] = e->before[0];
  if (e->signs & 1) s->driver[e->input[0]].factor *= -1.0;
  if (e->signs & 2) s->driver[e->input[1]].factor *= -1.0;
}

static double score_with(search *s, size_t input, driver d)
{
  const driver before = s->driver[input];
  s->driver[input] = d;
  run(s);
  const double total = score(s);
  s->driver[input] = before;
  return total;
}

/* What 1 of a column without a unit may be as a command: V, mV, the whole, percent of it. */
static size_t scales_of(const search *s, const bramah__channel *y, size_t input, double *scale)
{
  const double stated =
      bramah__input_reach_of(s->machine->machine, bramah__input_name(&s->plant, input)).limit;
  const double limit = stated > 0.0 ? stated : 10.0;
  const double most = fmax(fabs(y->least), fabs(y->most)), may_be[] = {1.0, 1e-3, limit, 0.01 * limit};
  size_t n = 0;
  if (y->is_known) return scale[0] = 1.0, 1;
  for (size_t k = 0; k < MOST_SCALES; k++)
    if (most * may_be[k] <= 1.05 * limit && most * may_be[k] >= 0.02 * limit) scale[n++] = may_be[k];
  return n;
}

/* If its unit is known, it is one of the input. */
static int fits_input(const search *s, const bramah__channel *y, size_t input)
{
  bramah_dimension dimension;
  double factor;
  bramah_diag ignored;
  if (!y->is_known) return 1;
  if (bramah_unit_parse(bramah__input_unit(&s->plant, input), &factor, &dimension, &ignored)) return 0;
  return memcmp(&dimension, &y->dimension, sizeof dimension) == 0;
}

static int may_drive(const search *s, size_t channel, size_t input)
{
  const bramah__channel *y = &s->log.channel[channel];
  if (channel == s->log.time || y->n < 2 || y->least == y->most) return 0;
  for (size_t i = 0; i < s->n_inputs; i++)
    if (s->driver[i].channel == channel) return 0;
  if (!fits_input(s, y, input)) return 0;
  return y->held > 0.5 || y->is_known || strcasestr(y->name, bramah__input_name(&s->plant, input)) != NULL;
}

/* If one column alone has the name of an input in its own, only that one is tried for it, and it for no other. */
static size_t named_channel(const search *s, size_t input)
{
  size_t found = SIZE_MAX;
  for (size_t k = 0; k < s->log.n; k++) {
    if (!may_drive(s, k, input) || !strcasestr(s->log.channel[k].name, bramah__input_name(&s->plant, input)))
      continue;
    if (found != SIZE_MAX) return SIZE_MAX;
    found = k;
  }
  return found;
}

/* The column, input, scale and sign that explain most beside those found before. Returns 0 if none explains more. */
static int find_driver(search *s, double *best)
{
  driver found = {.channel = SIZE_MAX};
  size_t of_found = 0;
  for (size_t i = 0; i < s->n_inputs; i++) {
    const size_t named = named_channel(s, i);
    if (s->driver[i].channel != SIZE_MAX) continue;
    for (size_t k = 0; k < s->log.n; k++) {
      double scale[MOST_SCALES];
      if (!may_drive(s, k, i) || (named != SIZE_MAX && named != k)) continue;
      const size_t n = scales_of(s, &s->log.channel[k], i, scale);
      for (size_t j = 0; j < 2 * n; j++) {
        const driver d = {.channel = k, .factor = j % 2 ? -scale[j / 2] : scale[j / 2]};
        const double gained = score_with(s, i, d);
        if (!(gained > *best + 0.5 * (found.channel == SIZE_MAX))) continue;
        found = d;
        of_found = i;
        *best = gained;
      }
    }
  }
  if (found.channel == SIZE_MAX) return 0;
  s->driver[of_found] = found;
  return 1;
}

/* With all of them: the other sign of each, and two exchanged with any signs. Returns 1 if one was better; those that are
 * about as good as the best are remembered. */
static int improve_drivers(search *s, double *best)
{
  s->n_close = 0;
  for (size_t i = 0; i < s->n_inputs; i++)
    for (size_t k = i; k < s->n_inputs; k++)
      for (int signs = 0; signs < (i == k ? 1 : 4); signs++) {
        if (s->driver[i].channel == SIZE_MAX || s->driver[k].channel == SIZE_MAX) continue;
        const exchange e = {
            .input = {i, k}, .before = {s->driver[i], s->driver[k]}, .signs = i == k ? 1 : signs};
        make_exchange(s, &e);
        run(s);
        const double now = score(s);
        if (now > *best + 0.01) return *best = now, 1;
        s->driver[i] = e.before[0];
        s->driver[k] = e.before[1];
        if (*best - now < close_by && s->n_close < MOST_CLOSE) s->close[s->n_close++] = e;
      }
  return 0;
}

/* ---- what was found, as columns ---- */

/* The first one stays. */
BRAMAH__PRINTF(2, 3)
static void doubt(bramah_mapped_column *out, const char *format, ...)
{
  va_list list;
  if (out->doubt[0]) return;
  va_start(list, format);
  vsnprintf(out->doubt, sizeof out->doubt, format, list);
  va_end(list);
}

static int is_same(const search *s, const candidate *a, const candidate *b)
{
  double off = 0.0;
  for (size_t k = 0; k + s->log.bins.lag < s->n_bins; k++) {
    const double d = fabs(a->change[k]) - fabs(b->change[k]);
    off += d * d;
  }
  return strcmp(a->sensor.unit, b->sensor.unit) == 0 && off < 1e-6 * (a->square + b->square);
}

static void find_second(const search *s, size_t channel, size_t best, bramah_mapped_column *out)
{
  const match *of = &s->match[channel * s->n];
  size_t second = SIZE_MAX;
  for (size_t i = 0; i < s->n; i++) {
    if (i == best || !(of[i].gain > 0.0) || is_same(s, &s->candidate[i], &s->candidate[best])) continue;
    if (second == SIZE_MAX || of[i].gain > of[second].gain) second = i;
  }
  if (second == SIZE_MAX) return;
  describe_candidate(&s->candidate[second], out->second, sizeof out->second);
  out->second_correlation = of[second].correlation;
  if (of[best].gain - of[second].gain < sure_gain)
    doubt(out, "goes about as well with %s, by a correlation of %.3f", out->second, of[second].correlation);
}

/* The lag [bins] at which a column goes with its sensor better than at once. */
static size_t lag_of(const search *s, const bramah__channel *y, const candidate *c)
{
  const size_t n = s->n_bins - s->log.bins.lag, most = s->log.bins.lag + 5;
  double best = 0.0, at_once = 0.0;
  size_t found = 0;
  for (size_t lag = 0; lag <= most && lag + 50 < n; lag++) {
    double dot = 0.0, a = 0.0, b = 0.0;
    for (size_t k = lag; k < n; k++) {
      dot += y->change[k] * c->change[k - lag];
      a += y->change[k] * y->change[k];
      b += c->change[k - lag] * c->change[k - lag];
    }
    const double r2 = a > 0.0 && b > 0.0 ? dot * dot / (a * b) : 0.0;
    if (!lag) at_once = r2;
    if (r2 <= best) continue;
    best = r2;
    found = lag;
  }
  return found > 1 && log((1.0 - fmin(at_once, 0.9999)) / (1.0 - fmin(best, 0.9999))) > 1.0 ? found : 0;
}

static void put_sensor(const search *s, size_t channel, size_t at, bramah_mapped_column *out)
{
  const bramah__channel *y = &s->log.channel[channel];
  const candidate *c = &s->candidate[at];
  const match *m = &s->match[channel * s->n + at];
  out->role = BRAMAH_MAPPED_TO_SENSOR;
  out->sensor = c->options;
  out->sensor.name = y->name;
  out->sensor.sigma = fmax(y->scatter * m->per_unit, 0.0);
  out->sensor.period_ns = y->interval_ns;
  out->sensor.delay_ns = llround(1e9 * s->log.bins.length * (double)lag_of(s, y, c));
  out->si = c->sensor.unit;
  out->unit = m->unit;
  out->per_unit = m->per_unit;
  out->sign = m->sign;
  out->correlation = m->correlation;
  out->ratio = m->ratio;
  const double first = m->sign * m->per_unit * y->first,
               spread = fmax(out->sensor.sigma, 1e-3 * fabs(c->x[0]));
  if (c->options.kind == BRAMAH_SENSOR_ENCODER || c->options.kind == BRAMAH_SENSOR_STROKE)
    if (fabs(c->x[0] - first) > 4.0 * spread) out->offset = c->x[0] - first;
  double below;
  out->is_gauge = c->options.kind == BRAMAH_SENSOR_PRESSURE && m->sign > 0 &&
                  bramah__seems_gauge(s->machine->machine, m->per_unit * y->lowest, &below);
  if (fabs(m->correlation) < sure_correlation)
    doubt(out, "goes with the model by a correlation of %.2f only", m->correlation);
  if (fabs(log(m->ratio)) > sure_ratio)
    doubt(out, "moves %.3g times as far as the model does if it is in %s", m->ratio, m->unit);
  find_second(s, channel, at, out);
}

static void put_input(const search *s, size_t channel, size_t input, bramah_mapped_column *out)
{
  const driver *d = &s->driver[input];
  out->role = BRAMAH_MAPPED_TO_INPUT;
  out->input = bramah__input_name(&s->plant, input);
  out->si = bramah__input_unit(&s->plant, input);
  out->per_unit = fabs(d->factor);
  out->sign = d->factor < 0.0 ? -1 : 1;
  out->unit = s->log.channel[channel].is_known ? s->log.channel[channel].unit
              : out->per_unit == 1.0           ? out->si
              : out->per_unit == 1e-3          ? "mV"
                                               : NULL;
}

/* One that stands still may be the command of an input that nothing drives and that the file plans so, if no column
 * before it, in front of `out`, is that. */
static void put_still(const search *s, size_t channel, bramah_mapped_column *out)
{
  const bramah__channel *y = &s->log.channel[channel];
  size_t found = SIZE_MAX, n = 0;
  for (size_t i = 0; i < s->n_inputs; i++) {
    const double planned = fabs(s->planned[i]), here = fabs(y->least);
    const char *input = bramah__input_name(&s->plant, i);
    int is_taken = s->driver[i].channel != SIZE_MAX || !fits_input(s, y, i);
    for (size_t k = 1; k <= channel; k++) is_taken |= (out - k)->input == input;
    if (is_taken) continue;
    const double per_unit = !y->is_known && fabs(1e-3 * here - planned) < 1e-6 * here ? 1e-3 : 1.0;
    if (fabs(per_unit * here - planned) > 1e-6 * planned) continue;
    out->per_unit = per_unit;
    out->sign = y->least * s->planned[i] < 0.0 ? -1 : 1;
    found = i;
    n++;
  }
  doubt(out, "stands still at %.6g%s", y->least,
        n == 1 ? ", as this command does in the machine's file" : "");
  if (n != 1) return;
  out->role = BRAMAH_MAPPED_TO_INPUT;
  out->input = bramah__input_name(&s->plant, found);
  out->si = bramah__input_unit(&s->plant, found);
  out->unit = y->is_known ? y->unit : out->per_unit == 1.0 ? out->si : "mV";
}

static void put_column(const search *s, size_t k, bramah_mapped_column *out)
{
  const bramah__channel *y = &s->log.channel[k];
  out->name = y->name;
  out->header_unit = y->unit;
  out->si = "";
  out->per_unit = 1.0;
  out->sign = 1;
  out->correlation = out->ratio = out->second_correlation = NAN;
  if (k == s->log.time) {
    out->role = BRAMAH_MAPPED_TO_TIME;
    out->si = "s";
    out->unit = s->log.time_unit ? s->log.time_unit : y->unit;
    out->per_unit = s->log.time_factor;
    if (s->log.time_unit)
      doubt(out, "has no unit: if it is in %s, a row comes every %.3g s", out->unit, s->log.t[1]);
    return;
  }
  for (size_t i = 0; i < s->n_inputs; i++)
    if (s->driver[i].channel == k) {
      put_input(s, k, i, out);
      return;
    }
  const bramah_dimension *d = &y->dimension;
  if (y->is_known && d->s == 2 && !d->m && !d->kg && !d->volt && !d->rad)
    return; /* another time: no sensor measures one */
  if (y->n < 20)
    doubt(out, "has %llu samples", (unsigned long long)y->n);
  else if (y->least == y->most)
    put_still(s, k, out);
  else if (s->row[k] != SIZE_MAX && s->to[s->row[k]] < s->n)
    put_sensor(s, k, s->to[s->row[k]], out);
  else
    doubt(out, "goes with nothing that the model has, nor does the model move as it commands");
}

typedef struct mapping {
  bramah_mapping out; /* first */
  search s;
  bramah_mapped_column *column; /* [2 x channels], the second half for comparison */
} mapping;

static bramah_status make_room(mapping *m, bramah_diag *diag)
{
  search *s = &m->s;
  const size_t bins = s->log.bins.n, n = s->log.n, width = MOST_CANDIDATES + n;
  s->n_inputs = s->plant.n_input;
  s->candidate = calloc(MOST_CANDIDATES, sizeof *s->candidate);
  s->driver = calloc(s->n_inputs + 1, sizeof *s->driver);
  if (!s->candidate || !s->driver) return bramah__fail_memory(diag);
  add_candidates(s);
  s->memory = calloc(2 * s->n * bins + 2 * (s->n_inputs + 1) + bins + 1 + n * width + 4 * (width + 1),
                     sizeof *s->memory);
  s->match = calloc(n * s->n + 1, sizeof *s->match);
  s->used = calloc(2 * (width + 1) + 2 * (n + 1), sizeof *s->used);
  m->column = calloc(2 * n + 1, sizeof *m->column);
  if (!s->memory || !s->match || !s->used || !m->column) return bramah__fail_memory(diag);
  double *x = s->memory;
  for (size_t i = 0; i < s->n; i++, x += 2 * bins) {
    s->candidate[i].x = x;
    s->candidate[i].change = x + bins;
  }
  s->u = x;
  s->planned = s->u + s->n_inputs + 1;
  s->sum = s->planned + s->n_inputs + 1;
  s->gain = s->sum + bins + 1;
  s->work = s->gain + n * width;
  s->to = s->used + 2 * (width + 1);
  s->row = s->to + n + 1;
  for (size_t i = 0; i < s->n_inputs; i++) s->driver[i].channel = SIZE_MAX;
  return BRAMAH_OK;
}

static bramah_status plan_inputs(search *s, bramah_diag *diag)
{
  bramah_schedule *schedule = NULL;
  const bramah_status status = bramah_schedule_new(s->machine->machine, s->machine->model, diag, &schedule);
  if (!status && s->n_inputs)
    memcpy(s->planned, bramah_schedule_at(schedule, 0), s->n_inputs * sizeof *s->planned);
  bramah_schedule_free(schedule);
  return status;
}

static void put_columns(const search *s, bramah_mapped_column *column)
{
  memset(column, 0, s->log.n * sizeof *column);
  for (size_t k = 0; k < s->log.n; k++) put_column(s, k, &column[k]);
}

static int is_alike(const bramah_mapped_column *a, const bramah_mapped_column *b)
{
  if (a->role != b->role || a->sign != b->sign || a->input != b->input) return 0;
  return a->role != BRAMAH_MAPPED_TO_SENSOR ||
         (a->sensor.kind == b->sensor.kind && strcmp(a->sensor.at, b->sensor.at) == 0);
}

/* Other commands with which the model goes with the log about as well: whatever is something else then is doubtful. */
static void doubt_close_ones(mapping *m)
{
  search *s = &m->s;
  bramah_mapped_column *other = m->column + s->log.n;
  for (size_t i = 0; i < s->n_close; i++) {
    const exchange *e = &s->close[i];
    make_exchange(s, e);
    run(s);
    score(s);
    put_columns(s, other);
    for (size_t k = 0; k < s->log.n; k++)
      if (!is_alike(&m->column[k], &other[k]))
        doubt(&m->column[k], "the log goes with the model about as well if %s %s%s",
              bramah__input_name(&s->plant, e->input[0]),
              e->input[0] == e->input[1] ? "has the other sign" : "is exchanged with ",
              e->input[0] == e->input[1] ? "" : bramah__input_name(&s->plant, e->input[1]));
    s->driver[e->input[0]] = e->before[0];
    s->driver[e->input[1]] = e->before[1];
  }
}

static bramah_status find_all(mapping *m, bramah_diag *diag)
{
  search *s = &m->s;
  run(s);
  double best = score(s);
  while (find_driver(s, &best)) continue;
  while (improve_drivers(s, &best) || find_driver(s, &best)) continue;
  run(s);
  if (!isfinite(score(s)))
    return bramah__failf(
        diag, BRAMAH_E_VALUE, NULL, 0, NULL,
        "the model cannot be stepped for a second from its start, whatever columns are its commands: see "
        "what 'bramah simulate' says of the machine");
  put_columns(s, m->column);
  doubt_close_ones(m);
  for (size_t k = 0; k < s->log.n; k++) m->out.n_doubtful += m->column[k].doubt[0] != '\0';
  m->out.n = s->log.n;
  m->out.n_more = s->log.n_more;
  m->out.column = m->column;
  m->out.n_runs = s->n_runs;
  m->out.duration = s->log.t[s->log.n_rows - 1];
  return BRAMAH_OK;
}

bramah_status bramah_mapping_new(const bramah_machine_plant *machine, const char *log, const char *dbc,
                                 bramah_diag *diag, bramah_mapping **out)
{
  *out = NULL;
  if (!machine->model)
    return bramah__failf(diag, BRAMAH_E_UNSUPPORTED, NULL, 0, NULL,
                         "columns are found for machines only, not for an FMU");
  mapping *m = calloc(1, sizeof *m);
  if (!m) return bramah__fail_memory(diag);
  m->s.machine = machine;
  bramah_status status = bramah__channels_read(log, dbc, &m->s.log, diag);
  if (!status) status = bramah_machine_plant_another(machine, diag, &m->s.coupled);
  if (!status) {
    m->s.plant = bramah_coupled_plant(m->s.coupled);
    status = make_room(m, diag);
  }
  if (!status) status = plan_inputs(&m->s, diag);
  if (!status) status = find_all(m, diag);
  if (status) bramah_mapping_free(&m->out);
  if (!status) *out = &m->out;
  return status;
}

void bramah_mapping_free(bramah_mapping *mapping_)
{
  mapping *m = (mapping *)mapping_;
  if (!m) return;
  bramah__channels_free(&m->s.log);
  bramah_coupled_free(m->s.coupled);
  free(m->s.candidate);
  free(m->s.driver);
  free(m->s.memory);
  free(m->s.match);
  free(m->s.used);
  free(m->column);
  free(m);
}
