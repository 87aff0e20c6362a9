/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as changes of a snapshot of a filter, a rewind buffer, a replay, adaptive noise or an alarm on the four-bar:
 *   byte 0: which object, and whether the snapshot is sealed anew, all seals within it too;
 *   then for each change 4 bytes, which word, and 8 bytes that are xored with it.
 * A changed snapshot that is not sealed anew is refused and leaves the object as it was. One that is may be taken
 * over: then it can be saved and restored again, and the object works with it. */
#include "bramah/adaptive.h"
#include "bramah/alarm.h"
#include "bramah/replay.h"
#include "lib/base/seal.h"
#include "test/fuzz/four_bar.h"
#include "test/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

enum {
  FILTER,
  REWIND,
  REPLAY,
  REPLAY_WITH_DELAY,
  ADAPTIVE,
  ALARM,
  KINDS,
  SENSORS = 3,
  CHANGE = 12,
  MOST_SEALS = 4
};

typedef struct object {
  bramah_sensor sensor[SENSORS];
  bramah_filter *filter;
  bramah_rewind *rewind;
  bramah_replay *replay;
  bramah_adaptive *adaptive;
  bramah_alarm *alarm;
  int64_t row_ns;
  size_t size;
  unsigned char *start, *good, *changed, *after; /* snapshots: two of ours, and room for two */
} object;

static object objects[KINDS];
static const int64_t ms = 1000000;
static bramah_diag diag;

static bramah_status next_row(void *user, bramah_sample *sample, int *end, bramah_diag *d)
{
  object *o = user;
  (void)end, (void)d;
  o->row_ns += ms * 7 / 10;
  sample->time_ns = o->row_ns;
  sample->inputs[0] = 1e-3 * (double)(o->row_ns / ms % 7);
  sample->has_input[0] = 1;
  for (int i = 0; i < SENSORS; i++) sample->present[i] = 1;
  sample->y[0] = 1.1, sample->y[1] = 0.01, sample->y[2] = 5e6;
  return BRAMAH_OK;
}

static size_t size_of(const object *o)
{
  return o->rewind     ? bramah_rewind_snapshot_size(o->rewind)
         : o->replay   ? bramah_replay_snapshot_size(o->replay)
         : o->adaptive ? bramah_adaptive_snapshot_size(o->adaptive)
         : o->alarm    ? bramah_alarm_snapshot_size(o->alarm)
                       : bramah_filter_snapshot_size(o->filter);
}

static void save(const object *o, void *snap)
{
  if (o->rewind)
    bramah_rewind_save(o->rewind, snap);
  else if (o->replay)
    bramah_replay_save(o->replay, snap);
  else if (o->adaptive)
    bramah_adaptive_save(o->adaptive, snap);
  else if (o->alarm)
    bramah_alarm_save(o->alarm, snap);
  else
    bramah_filter_save(o->filter, snap);
}

static bramah_status restore(object *o, const void *snap)
{
  return o->rewind     ? bramah_rewind_restore(o->rewind, snap)
         : o->replay   ? bramah_replay_restore(o->replay, snap)
         : o->adaptive ? bramah_adaptive_restore(o->adaptive, snap)
         : o->alarm    ? bramah_alarm_restore(o->alarm, snap)
                       : bramah_filter_restore(o->filter, snap);
}

/* Steps as they come; what the state makes of them, errors included, is not judged. */
static void work(object *o, int steps)
{
  const double y[SENSORS] = {1.1, 0.01, 5e6};
  const unsigned char present[SENSORS] = {1, 1, 1};
  for (int k = 0; k < steps; k++) {
    int64_t time_ns;
    int corrected, end;
    if (o->replay) {
      (void)bramah_replay_next(o->replay, &time_ns, &corrected, &end, &diag);
    } else if (o->rewind) {
      const int64_t now = bramah_filter_time_ns(o->filter);
      (void)bramah_rewind_sample(o->rewind, 0, now + ms, y[0], &diag);
      (void)bramah_rewind_sample(o->rewind, 1, now - 2 * ms, y[1], &diag);
      (void)bramah_rewind_advance(o->rewind, &diag);
    } else {
      if (bramah_filter_predict(o->filter, &diag) == BRAMAH_OK && o->adaptive)
        bramah_adaptive_predicted(o->adaptive);
      if (bramah_filter_correct(o->filter, y, present, &diag) != BRAMAH_OK) continue;
      if (o->adaptive) (void)bramah_adaptive_corrected(o->adaptive);
      if (o->alarm) (void)bramah_alarm_corrected(o->alarm);
    }
  }
}

static unsigned char *room(size_t size)
{
  unsigned char *bytes = malloc(size);
  FUZZ_CHECK(bytes, "no memory");
  return bytes;
}

static void make(object *o, int kind)
{
  const bramah_plant *plant = fuzz_four_bar();
  const bramah_sensor_options sensors[SENSORS] = {
      {.name = "encoder", .kind = BRAMAH_SENSOR_ENCODER, .at = "crank", .sigma = 0.02},
      {.name = "gyro",
       .kind = BRAMAH_SENSOR_GYRO,
       .at = "crank",
       .axis = {0, 0, 1},
       .sigma = 1e-3,
       .delay_ns = kind == REPLAY_WITH_DELAY ? 3 * ms : 0},
      {.name = "p1", .kind = BRAMAH_SENSOR_PRESSURE, .at = "v1", .sigma = 5e4}};
  static const double sp = 0.05, sv = 0.1, spr[3] = {1e5, 1e5, 1e5}, q = 0.015, qp[3] = {8e5, 6e5, 6e5},
                      gate[SENSORS] = {6, 6, 6}, least = 1e-3, most = 10.0;
  const bramah_augmented uncertain[] = {
      {.name = "offset", .kind = BRAMAH_AUGMENTED_BIAS, .at = "encoder", .sigma = 0.01},
      {.name = "ripple",
       .kind = BRAMAH_AUGMENTED_BIAS,
       .at = "encoder",
       .order = 2,
       .time_constant = 1.0,
       .frequency = 20.0,
       .sigma = 0.01},
      {.name = "scale",
       .kind = BRAMAH_AUGMENTED_GAIN,
       .at = "gyro",
       .sigma = 0.02,
       .role = BRAMAH_AUGMENTED_CONSIDERED},
      {.name = "oil",
       .kind = BRAMAH_AUGMENTED_PARAMETER,
       .at = "oil.bulk_modulus",
       .sigma = 3e8,
       .logarithmic = 1,
       .role = BRAMAH_AUGMENTED_AUTO}};
  bramah_filter_options options;
  bramah_filter_options_default(&options);
  options.position_sigma = &sp, options.rate_sigma = &sv, options.first_order_sigma = spr;
  options.acceleration_noise = &q, options.first_order_noise = qp;
  options.gate = gate, options.drift_gate = 6.0;
  options.transition = BRAMAH_TRANSITION_STEP;
  options.n_augmented = sizeof uncertain / sizeof uncertain[0], options.augmented = uncertain;
  options.scores = kind == FILTER;
  for (int i = 0; i < SENSORS; i++)
    FUZZ_CHECK(!bramah_sensor_init(&sensors[i], plant, &diag, &o->sensor[i]), "%s", diag.message);
  FUZZ_CHECK(!bramah_filter_new(plant, SENSORS, o->sensor, &options, &diag, &o->filter), "%s", diag.message);

  const bramah_rewind_options window = {4 * ms, 2, 3};
  bramah_adaptive_options adapt;
  bramah_adaptive_options_default(&adapt);
  adapt.window = 12;
  adapt.acceleration_least = &least, adapt.acceleration_most = &most;
  bramah_status status = BRAMAH_OK;
  if (kind == REWIND) status = bramah_rewind_new(o->filter, &window, &diag, &o->rewind);
  if (kind == REPLAY || kind == REPLAY_WITH_DELAY)
    status = bramah_replay_new(o->filter, NULL, next_row, o, &diag, &o->replay);
  if (kind == ADAPTIVE) status = bramah_adaptive_new(o->filter, &adapt, &diag, &o->adaptive);
  if (kind == ALARM) status = bramah_alarm_new(o->filter, NULL, &diag, &o->alarm);
  FUZZ_CHECK(!status, "%s", diag.message);

  o->size = size_of(o);
  o->good = room(o->size), o->changed = room(o->size), o->after = room(o->size);
  o->start = room(bramah_filter_snapshot_size(o->filter));
  bramah_filter_save(o->filter, o->start);
  work(o, 15);
  save(o, o->good);
}

static void drop_all(void)
{
  for (object *o = objects; o < objects + KINDS; o++) {
    bramah_alarm_free(o->alarm);
    bramah_adaptive_free(o->adaptive);
    bramah_replay_free(o->replay);
    bramah_rewind_free(o->rewind);
    bramah_filter_free(o->filter);
    free(o->good), free(o->changed), free(o->after), free(o->start);
  }
}

/* Of the snapshot and of those within it: each begins with the format and says its size. */
static void seal_all(const object *o, unsigned char *snap)
{
  size_t at[MOST_SEALS], n = 0;
  bramah__seal first, s;
  memcpy(&first, o->good, sizeof first);
  for (size_t k = 0; k + sizeof s <= o->size && n < MOST_SEALS; k += 8) {
    memcpy(&s, o->good + k, sizeof s);
    if (s.format == first.format && s.computer == first.computer && s.size <= o->size - k) at[n++] = k;
  }
  while (n-- > 0) {
    memcpy(&s, o->good + at[n], sizeof s);
    bramah__seal_put(snap + at[n], s.identity, (size_t)s.size);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (!objects[0].filter) {
    for (int kind = 0; kind < KINDS; kind++) {
      if (kind)
        FUZZ_CHECK(!bramah_filter_restore(objects[FILTER].filter, objects[FILTER].start), "the start");
      make(&objects[kind], kind);
    }
    atexit(drop_all);
  }
  if (size < 1) return 0;
  object *o = &objects[data[0] % KINDS];
  const int sealed = data[0] / KINDS % 2;
  FUZZ_CHECK(restore(o, o->good) == BRAMAH_OK, "our own snapshot is refused");
  if (o->adaptive) FUZZ_CHECK(bramah_filter_restore(o->filter, o->start) == BRAMAH_OK, "the start");
  memcpy(o->changed, o->good, o->size);
  for (size_t at = 1; at + CHANGE <= size; at += CHANGE) {
    uint32_t place;
    uint64_t word, change;
    memcpy(&place, data + at, sizeof place);
    memcpy(&change, data + at + sizeof place, sizeof change);
    unsigned char *to = o->changed + place % (o->size / 8) * 8;
    memcpy(&word, to, sizeof word);
    word ^= change;
    memcpy(to, &word, sizeof word);
  }
  const int differs = memcmp(o->changed, o->good, o->size) != 0;
  if (sealed) seal_all(o, o->changed);
  const bramah_status status = restore(o, o->changed);
  if (!sealed) FUZZ_CHECK(!differs == (status == BRAMAH_OK), "status %d of a changed snapshot", (int)status);
  save(o, o->after);
  if (status != BRAMAH_OK || !differs)
    FUZZ_CHECK(!memcmp(o->after, o->good, o->size), "the object is not as it was");
  else
    FUZZ_CHECK(restore(o, o->after) == BRAMAH_OK, "what was taken over is refused the second time");
  if (status == BRAMAH_OK && differs) work(o, 2);
  return 0;
}
