/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of a log against the motion of the model alone, driven by the commands of the log: signs, places, units.
 *
 * How far sensor i is from the model is its misfit, the mean square of measured less predicted by what may be:
 *
 *   r_i = mean (y_i - h_i - o_i)^2 / (sigma_i^2 + s_i^2 / 9 + var h_i / 16)
 *
 * with the sensor's noise, the uncertainty s_i of the start, which may be seen as an offset |o_i| <= 3 s_i, and a quarter
 * of the predicted motion, since a model alone drifts. Where it is large, mistakes that people make are tried one by
 * one: a mistake is named only if the log without it goes with the model, r_i < 2, and at least nine times better than
 * with it; a unit only where zeros do not go with the model, since numbers that are divided by much come near zero. */
#define _POSIX_C_SOURCE 200809L /* locale_t */
#include "lib/assess/plausibility.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 16, MOST_DIVIDED = 100 };
static const double bad = 4.0, good = 2.0, better = 9.0;

/* A sensor, and others like it at other places of the machine. */
typedef struct followed {
  size_t slot;
  const bramah_sensor_options *options;
  size_t n_places; /* the first one is where the study has it */
  const char *place[MOST_PLACES];
  bramah_sensor sensor[MOST_PLACES];
  double start_sigma;
  double *h; /* [n_places x n] predicted */
  double misfit;
} followed;

/* What is tried: commands as they are, or changed. */
typedef struct drive {
  const double *positions; /* of the study's joints at the start; NULL: the study's */
  size_t negated;          /* this input; SIZE_MAX: none */
  size_t first, second;    /* these are exchanged; both equal: none */
} drive;

typedef struct motion {
  bramah__look *look;
  bramah_coupled *coupled;
  bramah_plant plant;
  size_t n, n_followed;
  followed *sensor; /* [n_followed] */
  double *memory, *u;
  size_t n_run; /* rows that the last run came to */
} motion;

/* ---- the model alone ---- */

static bramah_status start(const motion *m, const drive *d)
{
  const bramah_session *session = m->look->session;
  const bramah__start_values *s = &session->start;
  bramah_diag ignored;
  if (!d->positions) return bramah_session_start(session, m->coupled, &ignored);
  return bramah_coupled_start(m->coupled, session->study->n_joints, s->joints, d->positions, s->rate,
                              s->pressure, &ignored);
}

static bramah_status drive_by(motion *m, const drive *d, size_t row)
{
  const double *in = &m->look->value[row * m->look->n_slots];
  bramah_diag ignored;
  for (size_t k = 0; k < m->look->n_inputs; k++) {
    const size_t from = k == d->first ? d->second : k == d->second ? d->first : k;
    m->u[k] = k == d->negated ? -in[from] : in[from];
  }
  return m->look->n_inputs ? m->plant.set_inputs(m->plant.self, m->u, &ignored) : BRAMAH_OK;
}

/* Predictions of all sensors at all places, row by row, as far as the model can be stepped. */
static void run(motion *m, const drive *d)
{
  const int64_t step = m->plant.step_ns;
  int64_t time_ns = m->look->time_ns[0];
  size_t left = 3 * (size_t)BRAMAH__MOST_KEPT;
  const uint64_t divided = bramah_coupled_report(m->coupled).divided;
  bramah_diag ignored;
  m->n_run = 0;
  if (start(m, d) || drive_by(m, d, 0)) return;
  for (size_t row = 0; row < m->n; row++) {
    for (; time_ns + step / 2 < m->look->time_ns[row]; time_ns += step)
      if (!left-- || m->plant.step(m->plant.self, &ignored)) return;
    if (bramah_coupled_report(m->coupled).divided > divided + MOST_DIVIDED) return;
    if (drive_by(m, d, row)) return;
    for (size_t i = 0; i < m->n_followed; i++)
      for (size_t p = 0; p < m->sensor[i].n_places; p++)
        m->sensor[i].h[p * m->n + row] = bramah_sensor_predict(&m->sensor[i].sensor[p], &m->plant);
    m->n_run = row + 1;
  }
}

/* ---- misfits ---- */

/* What is tried of a sensor: another place, another scale or sign about the value at the start, another time. */
typedef struct reading {
  size_t place;
  double factor, about; /* y = about + factor (y - about) */
  long lag;             /* rows that the measurement comes later */
} reading;

static const reading plain = {.factor = 1.0};

static double misfit(const motion *m, const followed *s, const reading *r)
{
  const double *h = &s->h[r->place * m->n];
  double n = 0.0, errors = 0.0, squares = 0.0, sum = 0.0, sum_of_squares = 0.0;
  for (size_t row = 0; row < m->n_run; row++) {
    const long other = (long)row - r->lag;
    const double y = m->look->value[row * m->look->n_slots + s->slot];
    if (isnan(y) || other < 0 || other >= (long)m->n_run) continue;
    const double predicted = h[other], read = r->about + r->factor * (y - r->about);
    const double period = s->sensor[r->place].period;
    const double e = period > 0.0 ? remainder(read - predicted, period) : read - predicted;
    n += 1.0;
    errors += e;
    squares += e * e;
    sum += predicted - h[0];
    sum_of_squares += (predicted - h[0]) * (predicted - h[0]);
  }
  if (n < 20.0) return NAN;
  const double variance = fmax(sum_of_squares / n - sum * sum / (n * n), 0.0);
  const double sigma = s->options->sigma, of_start = s->start_sigma, mean = errors / n;
  const double offset = fmax(-3.0 * of_start, fmin(mean, 3.0 * of_start));
  const double may_be = sigma * sigma + of_start * of_start / 9.0 + variance / 16.0;
  return (squares / n - 2.0 * offset * mean + offset * offset) / may_be;
}

static double mean_misfit(motion *m, long lag)
{
  double sum = 0.0, n = 0.0;
  reading r = plain;
  r.lag = lag;
  for (size_t i = 0; i < m->n_followed; i++) {
    const double one = misfit(m, &m->sensor[i], &r);
    if (!lag) m->sensor[i].misfit = one;
    if (isnan(one) || m->look->columns[m->sensor[i].slot].is_doubted) continue;
    sum += fmin(one, 1e3);
    n += 1.0;
  }
  return n > 0.0 ? sum / n : 0.0;
}

/* How far the model moves a sensor within the rows of these times. */
static double range_within(const motion *m, const followed *s, int64_t from_ns, int64_t to_ns)
{
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (size_t row = 0; row < m->n_run; row++) {
    if (m->look->time_ns[row] < from_ns || m->look->time_ns[row] > to_ns) continue;
    least = fmin(least, s->h[row]);
    most = fmax(most, s->h[row]);
  }
  return most > least ? most - least : 0.0;
}

/* ---- what is tried of commands and start ---- */

static const char *input_name(const motion *m, size_t k) { return m->look->columns[k].what; }

/* The encoders' first samples as positions [study->n_joints]; returns how many are far from where the study starts. */
static size_t measured_start(const motion *m, double *positions)
{
  const bramah_study *study = m->look->study;
  size_t off = 0;
  memcpy(positions, m->look->session->start.position, study->n_joints * sizeof *positions);
  for (size_t j = 0; j < study->n_joints; j++)
    for (size_t i = 0; i < m->n_followed; i++) {
      const followed *s = &m->sensor[i];
      const bramah_joint_start *of = &study->joints[j];
      size_t row = 0;
      if (s->options->kind != BRAMAH_SENSOR_ENCODER || strcmp(s->options->at, of->joint) != 0) continue;
      if (m->look->columns[s->slot].is_doubted) continue;
      while (row < m->n && isnan(m->look->value[row * m->look->n_slots + s->slot])) row++;
      if (row == m->n) continue;
      const double y = m->look->value[row * m->look->n_slots + s->slot];
      const double here = bramah_session_about(m->look->session)->joint_start[j];
      if (fabs(y - here) < 6.0 * hypot(s->options->sigma, of->position_sigma)) continue;
      for (size_t k = 0; k < study->n_joints; k++)
        if (m->look->session->start.joints[k] == m->look->session->start.joints[j]) positions[k] = y;
      off++;
    }
  return off;
}

static void doubt_start(motion *m, const double *positions)
{
  const bramah_study *study = m->look->study;
  for (size_t j = 0; j < study->n_joints; j++) {
    const bramah_joint_start *of = &study->joints[j];
    const double here = m->look->session->start.position[j], there = positions[j];
    const double factor = of->slides ? 1e3 : 57.29578, ratio = fabs(there / here);
    const char *unit = of->slides ? "mm" : "deg";
    char hint[64] = "";
    if (there == here) continue;
    if (fabs(fabs(log(ratio)) - log(57.29578)) < 0.25)
      snprintf(hint, sizeof hint, " (%.3g times: deg and rad differ by 57.3)", ratio);
    bramah__doubt_value(
        m->look, BRAMAH_DOUBT_START, 0, ratio, BRAMAH__PATH("study.joints.%s.position", of->joint),
        "the log begins with %s at %.4g %s, %.3g sigma from where the filter starts, %.4g %s%s: "
        "write position: %.4g %s",
        of->joint, factor * there, unit, fabs(there - here) / of->position_sigma, factor * here, unit, hint,
        factor * there, unit);
  }
}

/* Start and commands: the first mistake that explains the log is named. Returns 1 if one does. */
static int try_drives(motion *m, double at_first, double *positions)
{
  const drive as_stated = {.negated = SIZE_MAX};
  char text[400];
  if (measured_start(m, positions)) {
    const drive d = {.positions = positions, .negated = SIZE_MAX};
    run(m, &d);
    const double now = mean_misfit(m, 0);
    if (m->n_run == m->n && now < good && now < at_first / better) {
      doubt_start(m, positions);
      return 1;
    }
  }
  for (size_t k = 0; k < m->look->n_inputs; k++)
    for (size_t other = k; other < m->look->n_inputs; other++) {
      const drive d = {.negated = k == other ? k : SIZE_MAX, .first = k, .second = other};
      run(m, &d);
      const double now = mean_misfit(m, 0);
      if (m->n_run < 20 || !(now < good) || !(now < at_first / better)) continue;
      if (k == other)
        snprintf(
            text, sizeof text,
            "the log goes with the model if %s has the other sign (misfit %.2g instead of %.2g): write "
            "'inputs: {%s: {column: %s, sign: -1}}' in the study, or exchange a and b of the valve in the "
            "machine",
            input_name(m, k), now, at_first, input_name(m, k), m->look->columns[k].feed.column);
      else
        snprintf(
            text, sizeof text,
            "the log goes with the model if the commands of %s and %s are exchanged (misfit %.2g instead "
            "of %.2g): write 'inputs: {%s: %s, %s: %s}' in the study, which exchanges the columns",
            input_name(m, k), input_name(m, other), now, at_first, input_name(m, k),
            m->look->columns[other].feed.column, input_name(m, other), m->look->columns[k].feed.column);
      bramah__doubt_column(m->look, k == other ? BRAMAH_DOUBT_SIGN : BRAMAH_DOUBT_PLACE, 0, now / at_first, k,
                           "%s", text);
      return 1;
    }
  run(m, &as_stated);
  mean_misfit(m, 0);
  return 0;
}

/* Cylinders whose volumes are exchanged in the machine: the model of the other machine goes with the log. */
static int try_chambers(motion *m, double at_first)
{
  const bramah_study *study = m->look->study;
  const bramah_machine *machine = m->look->machine->machine;
  const drive as_stated = {.negated = SIZE_MAX};
  bramah_change *changes = calloc(study->n_changes + 2, sizeof *changes);
  int found = 0;
  for (size_t i = 0; changes && !found && i < machine->n_cylinders; i++) {
    const bramah_cylinder *c = &machine->cylinders[i];
    char piston[256], rod[256];
    bramah_machine_plant other = {0};
    bramah_diag ignored;
    snprintf(piston, sizeof piston, "hydraulics.cylinders.%s.piston_volume", c->name);
    snprintf(rod, sizeof rod, "hydraulics.cylinders.%s.rod_volume", c->name);
    if (study->n_changes) memcpy(changes, study->changes, study->n_changes * sizeof *changes);
    changes[study->n_changes] = (bramah_change){.path = piston, .value = c->rod_volume};
    changes[study->n_changes + 1] = (bramah_change){.path = rod, .value = c->piston_volume};
    const motion here = *m;
    double now = NAN;
    if (!bramah_machine_plant_open(&other, study->machine_file, study->n_changes + 2, changes,
                                   m->plant.step_ns, &ignored)) {
      m->coupled = other.coupled;
      m->plant = other.plant;
      run(m, &as_stated);
      now = mean_misfit(m, 0);
    }
    found = m->n_run > 20 && now < good && now < at_first / better;
    m->coupled = here.coupled;
    m->plant = here.plant;
    bramah_machine_plant_close(&other);
    if (found)
      bramah__doubt_value(
          m->look, BRAMAH_DOUBT_PLACE, 0, now / at_first, piston,
          "the log goes with the model if the volumes of cylinder %s are exchanged (misfit %.2g "
          "instead of %.2g): write piston_volume: %s and rod_volume: %s",
          c->name, now, at_first, c->rod_volume, c->piston_volume);
  }
  free(changes);
  return found;
}

/* Do commands and sensors have clocks of their own? A lag that all sensors have; of all the one that goes best. */
static int try_lags(motion *m, double at_first)
{
  const double row = 1e-9 * (double)m->look->interval_ns;
  const long most = (long)(m->n_run / 3);
  double best = HUGE_VAL;
  long at = 0;
  if (!(row > 0.0) || !m->look->n_inputs) return 0;
  for (long lag = -most; lag <= most; lag += most / 100 + 1) {
    const double now = mean_misfit(m, lag);
    if (lag && now < best) {
      best = now;
      at = lag;
    }
  }
  if (!(best < good) || !(best < at_first / better)) return 0;
  bramah__doubt_column(
      m->look, BRAMAH_DOUBT_TIME, 0, (double)at * row, 0,
      "the log goes with the model if the commands come %.3g s %s (misfit %.2g instead of %.2g): "
      "do commands and sensors have different clocks? Give the file of one of them a time offset "
      "(log.files, time: {offset: %.3g s}), or the sensors their delay",
      fabs((double)at * row), at > 0 ? "later" : "earlier", best, at_first, (double)at * row);
  return 1;
}

/* ---- what is tried of sensors ---- */

/* Two sensors of a kind that go with each other's place. */
static int try_exchange(motion *m, followed *a, followed *b)
{
  bramah__look *look = m->look;
  if (a->options->kind != b->options->kind || a->misfit + b->misfit < bad) return 0;
  reading ra = plain, rb = plain;
  while (ra.place < a->n_places && strcmp(a->place[ra.place], b->options->at) != 0) ra.place++;
  while (rb.place < b->n_places && strcmp(b->place[rb.place], a->options->at) != 0) rb.place++;
  if (ra.place == a->n_places || rb.place == b->n_places || !ra.place) return 0;
  const double now = misfit(m, a, &ra) + misfit(m, b, &rb);
  if (!(now < 2.0 * good) || !(now < (a->misfit + b->misfit) / better)) return 0;
  look->columns[b->slot].is_doubted = 1;
  look->columns[a->slot].is_doubted = 1;
  bramah__doubt_value(
      look, BRAMAH_DOUBT_PLACE, 0, now / (a->misfit + b->misfit),
      BRAMAH__PATH("study.sensors.%s", a->options->name),
      "%s and %s are exchanged: each goes with the model where the other one is; write %s: %s for "
      "%s and %s: %s for %s, or exchange 'column: %s' and 'column: %s'",
      a->options->name, b->options->name, bramah_sensor_place_key(a->options), b->options->at,
      a->options->name, bramah_sensor_place_key(b->options), a->options->at, b->options->name,
      look->columns[b->slot].feed.column, look->columns[a->slot].feed.column);
  return 1;
}

/* Unit, sign and place of one sensor. */
static void try_sensor(motion *m, followed *s)
{
  bramah__look *look = m->look;
  const bramah__column *c = &look->columns[s->slot];
  const double declared = c->declared > 0.0 ? c->declared : 1.0;
  const char *unit;
  const reading zeros = {0};
  const int is_scale_seen = misfit(m, s, &zeros) > bad;
  double best = fmin(good, s->misfit / better), per_si, ratio = 0.0;
  reading found = plain;
  int is_sign = 0;
  for (size_t k = 0; is_scale_seen && (unit = bramah__unit_at(c->si, k, &per_si)) != NULL; k++) {
    const reading r = {.factor = 1.0 / (per_si * declared)};
    const double now = misfit(m, s, &r);
    if (fabs(log(per_si * declared)) < 0.5 || !(now < best)) continue;
    best = now;
    ratio = per_si * declared;
  }
  for (int k = 0; k < 2; k++) {
    const reading r = {.factor = -1.0, .about = k ? s->h[0] : 0.0};
    const double now = misfit(m, s, &r);
    if (!(now < best)) continue;
    best = now;
    is_sign = 1;
  }
  for (size_t p = 1; p < s->n_places; p++) {
    const reading r = {.place = p, .factor = 1.0};
    const double now = misfit(m, s, &r);
    if (!(now < best)) continue;
    best = now;
    found = r;
  }
  if (found.place)
    bramah__doubt_column(look, BRAMAH_DOUBT_PLACE, 0, best / s->misfit, s->slot,
                         "does not go with the model at %s (misfit %.2g), but at %s (%.2g): write %s: %s",
                         s->options->at, s->misfit, s->place[found.place], best,
                         bramah_sensor_place_key(s->options), s->place[found.place]);
  else if (is_sign)
    bramah__doubt_column(
        look, BRAMAH_DOUBT_SIGN, 0, best / s->misfit, s->slot,
        "moves against the model (misfit %.2g, with the other sign %.2g): write sign: -1 for this "
        "sensor in the study, with the offset that then belongs to it",
        s->misfit, best);
  else if (ratio > 0.0) {
    char why[128];
    snprintf(why, sizeof why, "does not go with the model (misfit %.2g), but scaled (%.2g)", s->misfit, best);
    bramah__doubt_unit(look, s->slot, 1, ratio, why);
  }
}

/* Mistakes of single sensors, if they are all there is: nothing is said of any where another one stays unexplained. */
static int try_sensors(motion *m)
{
  bramah__look *look = m->look;
  const size_t before = look->n_doubts;
  size_t n_bad = 0, left = 0;
  for (size_t i = 0; i < m->n_followed; i++)
    n_bad += !look->columns[m->sensor[i].slot].is_doubted && m->sensor[i].misfit > bad;
  if (2 * n_bad > m->n_followed + 1) return 0; /* too many: it is the machine or its commands */
  for (size_t i = 0; i < m->n_followed; i++)
    for (size_t k = i + 1; k < m->n_followed; k++)
      if (!look->columns[m->sensor[i].slot].is_doubted && !look->columns[m->sensor[k].slot].is_doubted)
        try_exchange(m, &m->sensor[i], &m->sensor[k]);
  for (size_t i = 0; i < m->n_followed; i++) {
    const bramah__column *c = &look->columns[m->sensor[i].slot];
    if (!c->is_doubted && m->sensor[i].misfit > bad) try_sensor(m, &m->sensor[i]);
    left += !c->is_doubted && m->sensor[i].misfit > bad;
  }
  if (!left) return look->n_doubts > before;
  for (; look->n_doubts > before; look->n_doubts--)
    for (size_t i = 0; i < m->n_followed; i++)
      if (strcmp(look->doubts[look->n_doubts - 1].diag.thing, m->sensor[i].options->name) == 0)
        look->columns[m->sensor[i].slot].is_doubted = 0;
  return 0;
}

/* A column that keeps its value to the last digit for a time in which the model moves. */
static void try_stuck(motion *m, const followed *s)
{
  const bramah__column *c = &m->look->columns[s->slot];
  const int64_t length = (int64_t)(c->longest_still - 1) * c->interval_ns;
  const double moved = range_within(m, s, c->longest_from_ns, c->longest_from_ns + length);
  if (c->is_doubted || c->longest_still < 50) return;
  if (moved < 10.0 * s->options->sigma || moved < 5.0 * s->options->resolution) return;
  m->look->columns[s->slot].is_doubted = 1;
  bramah__doubt_at(
      m->look, BRAMAH_DOUBT_STUCK, c->scatter > 0.1 * s->options->sigma, (double)c->longest_still, c->file,
      c->longest_line, c->position, c->what,
      "stands still from here on for %llu samples, constant to the last digit, while the model moves "
      "by %.3g %s: leave the cells of a dead sensor empty, or the sensor out of the study",
      (unsigned long long)c->longest_still, moved, c->si);
}

/* ---- the whole ---- */

static double start_sigma_of(const bramah_study *study, bramah_sensor_kind kind)
{
  double most = 0.0;
  for (size_t i = 0; kind == BRAMAH_SENSOR_ENCODER && i < study->n_joints; i++)
    most = fmax(most, study->joints[i].position_sigma);
  for (size_t i = 0; kind == BRAMAH_SENSOR_PRESSURE && i < study->n_volumes; i++)
    if (!study->volumes[i].flow_unit) most = fmax(most, study->volumes[i].sigma);
  return most;
}

/* A sensor at its own place and at all others of its kind. */
static void add_places(const motion *m, followed *s)
{
  const bramah_machine *machine = m->look->machine->machine;
  const bramah_model_info info = bramah_model_get_info(m->look->machine->model);
  const char *key = bramah_sensor_place_key(s->options);
  const int of_joints = strcmp(key, "joint") == 0, of_volumes = strcmp(key, "volume") == 0;
  const int of_bodies = strcmp(key, "body") == 0;
  const size_t n = of_joints    ? machine->n_joints
                   : of_volumes ? info.n_volumes
                   : of_bodies  ? machine->n_bodies
                                : machine->n_cylinders;
  bramah_sensor_options options = *s->options;
  bramah_diag ignored;
  s->n_places = 0;
  for (size_t k = 0; k <= n && s->n_places < MOST_PLACES; k++) {
    const char *at = k == 0       ? s->options->at
                     : of_joints  ? machine->joints[k - 1].name
                     : of_volumes ? info.volume_names[k - 1]
                     : of_bodies  ? machine->bodies[k - 1].name
                                  : machine->cylinders[k - 1].name;
    if (k && strcmp(at, s->options->at) == 0) continue;
    options.at = at;
    s->place[s->n_places] = at;
    if (!bramah_sensor_init(&options, &m->plant, &ignored, &s->sensor[s->n_places])) s->n_places++;
  }
}

static bramah_status follow(motion *m, bramah_diag *diag)
{
  const bramah__look *look = m->look;
  size_t n_places = 0;
  m->sensor = calloc(look->study->n_sensors + 1, sizeof *m->sensor);
  if (!m->sensor) return bramah__fail_memory(diag);
  for (size_t i = 0; i < look->study->n_sensors; i++) {
    followed *s = &m->sensor[m->n_followed];
    s->slot = look->n_inputs + i;
    s->options = &look->study->sensors[i];
    if (!look->columns[s->slot].n || s->options->kind == BRAMAH_SENSOR_OUTPUT) continue;
    s->start_sigma = start_sigma_of(look->study, s->options->kind);
    add_places(m, s);
    n_places += s->n_places;
    m->n_followed += s->n_places > 0;
  }
  m->memory = calloc(n_places * m->n + look->n_inputs + look->study->n_joints + 2, sizeof *m->memory);
  if (!m->memory) return bramah__fail_memory(diag);
  m->u = m->memory + n_places * m->n;
  double *h = m->memory;
  for (size_t i = 0; i < m->n_followed; i++) {
    m->sensor[i].h = h;
    h += m->sensor[i].n_places * m->n;
  }
  return BRAMAH_OK;
}

static void compare(motion *m)
{
  const drive as_stated = {.negated = SIZE_MAX};
  run(m, &as_stated);
  const double at_first = mean_misfit(m, 0);
  double worst = 0.0;
  for (size_t i = 0; i < m->n_followed; i++)
    if (!m->look->columns[m->sensor[i].slot].is_doubted) worst = fmax(worst, m->sensor[i].misfit);
  for (size_t i = 0; i < m->n_followed; i++) try_stuck(m, &m->sensor[i]);
  if (!(worst > bad)) return;
  if (try_sensors(m) || try_drives(m, at_first, m->u + m->look->n_inputs) || try_chambers(m, at_first))
    return;
  run(m, &as_stated);
  mean_misfit(m, 0);
  try_lags(m, at_first);
}

bramah_status bramah__look_at_motion(bramah__look *look, bramah_diag *diag)
{
  motion m = {.look = look, .n = look->n_kept};
  bramah_status status = bramah_machine_plant_another(look->machine, diag, &m.coupled);
  if (!status) m.plant = bramah_coupled_plant(m.coupled);
  if (!status) status = follow(&m, diag);
  if (!status) compare(&m);
  bramah_coupled_free(m.coupled);
  free(m.sensor);
  free(m.memory);
  return status;
}
