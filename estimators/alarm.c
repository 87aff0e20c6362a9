/* SPDX-License-Identifier: MIT */
/* Windows of doubling length, made of blocks: two blocks of a level are a window of it, which is judged whenever the later
 * one is complete, and together they are a block of the next level.
 *
 *   samples   |.....|.....|.....|.....|.....|.....|
 *   level 0   |  before   | now |                     a window each 5 samples
 *   level 1   |  before         |    now    |         each 10 samples
 */
#include "bramah/alarm.h"
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"
#include "lib/math/innovation_tests.h"

#include <math.h>

enum { LEVELS = 12, SHORTEST = 5 /* samples of a block */ };
static const double furthest = 8.0;  /* sigmas that a sample counts at most */
static const double largest = 1e100; /* NIS: sums of such can be reckoned with */

/* A level of a sensor. */
typedef struct bramah__alarm_level {
  bramah__innovation_sums before, now;
  int64_t before_ns, now_ns; /* when they begin */
  uint64_t count;            /* samples in `now`; NIS have several degrees of freedom */
  uint64_t complete;         /* 1: `before` is a block */
} bramah__alarm_level;

/* What is known of an alarm besides what users see. */
typedef struct bramah__alarm_of {
  bramah_alarm_state state;
  uint64_t level; /* of the window that is furthest beyond its limit */
} bramah__alarm_of;

typedef struct bramah__alarm_progress {
  uint64_t has_start;
  int64_t start_ns; /* samples from then on are judged */
  uint64_t recoveries;
} bramah__alarm_progress;

/* Arrays that a snapshot holds, by sensor, all jointly the last one; and what is set once. */
#define ALARM_STATE(X)                                                                                       \
  X(bramah__alarm_level, level, (a->n_sensors + 1) * LEVELS)                                                 \
  X(bramah__alarm_of, of, a->n_sensors + 1)
#define ALARM_CONSTANTS(X)                                                                                   \
  X(double, limit, (a->n_sensors + 1) * LEVELS * BRAMAH_ALARM_KINDS, "standard deviations")                  \
  X(double, period, a->n_sensors + 1, "[s] between samples")

struct bramah_alarm {
  uint64_t mark;
  int own_memory;
  bramah_filter *filter;
  size_t n_sensors;
  bramah_alarm_options options;
  bramah__alarm_progress progress;
  ALARM_STATE(BRAMAH__FIELD_MEMBER)
  ALARM_CONSTANTS(BRAMAH__FIELD_MEMBER)
};

/* ---- making one ---- */

void bramah_alarm_options_default(bramah_alarm_options *options)
{
  *options = (bramah_alarm_options){.false_per_hour = 0.01, .settle_ns = 100000000};
}

static bramah_alarm *layout(const bramah_filter *filter, bramah__arena *arena)
{
  bramah_alarm *object = BRAMAH__TAKE(arena, bramah_alarm, 1), counted = {0};
  bramah_alarm *a = object ? object : &counted, *fields = a;
  a->n_sensors = bramah_filter_get_info(filter).n_sensors;
  ALARM_STATE(BRAMAH__FIELD_TAKE)
  ALARM_CONSTANTS(BRAMAH__FIELD_TAKE)
  return object;
}

size_t bramah_alarm_size(const bramah_filter *filter)
{
  bramah__arena arena = bramah__arena_make(NULL, 0);
  layout(filter, &arena);
  return arena.used;
}

/* Every statistic of every level and sensor has the same share of the false alarms. It is tested once for each block of
 * its level, so by overlapping windows: their union is less than their sum, and the true number less than that stated. */
static void set_limits(bramah_alarm *a)
{
  const bramah_filter_info info = bramah_filter_get_info(a->filter);
  const double step = 1e-9 * (double)info.plant->step_ns;
  const double per_second =
      a->options.false_per_hour / 3600.0 / (double)((a->n_sensors * BRAMAH_ALARM_KINDS + 1) * LEVELS);
  a->period[a->n_sensors] = INFINITY;
  for (size_t i = 0; i < a->n_sensors; i++) {
    a->period[i] = fmax(1e-9 * (double)info.sensor[i].period_ns, step);
    a->period[a->n_sensors] = fmin(a->period[a->n_sensors], a->period[i]);
  }
  for (size_t i = 0; i <= a->n_sensors; i++)
    for (size_t l = 0; l < LEVELS; l++) {
      const double p = fmin(per_second * a->period[i] * ldexp(SHORTEST, (int)l), 0.1);
      double *limit = a->limit + (i * LEVELS + l) * BRAMAH_ALARM_KINDS;
      limit[BRAMAH_ALARM_MEAN] = bramah__normal_beyond(0.5 * p);
      limit[BRAMAH_ALARM_VARIANCE] = limit[BRAMAH_ALARM_CORRELATION] = bramah__normal_beyond(p);
    }
}

bramah_status bramah_alarm_init(bramah_filter *filter, const bramah_alarm_options *options, void *mem,
                                size_t size, bramah_diag *diag, bramah_alarm **out)
{
  bramah_alarm_options o;
  bramah__arena arena;
  bramah_alarm_options_default(&o);
  if (options) o = *options;
  if (!(o.false_per_hour > 0.0) || !isfinite(o.false_per_hour) || o.settle_ns < 0 ||
      !bramah__is_time(o.settle_ns))
    return bramah__fail(diag, BRAMAH_E_VALUE, "alarm",
                        "the rate of false alarms must be positive, the time to settle not negative");
  const bramah_status status = bramah__arena_in("alarm", mem, size, bramah_alarm_size(filter), &arena, diag);
  if (status != BRAMAH_OK) return status;
  bramah_alarm *a = layout(filter, &arena);
  a->filter = filter;
  a->options = o;
  a->progress.recoveries = bramah_filter_get_report(filter).recoveries;
  set_limits(a);
  *out = a;
  return BRAMAH_OK;
}

bramah_status bramah_alarm_new(bramah_filter *filter, const bramah_alarm_options *options, bramah_diag *diag,
                               bramah_alarm **out)
{
  const size_t size = bramah_alarm_size(filter);
  void *mem = bramah__aligned_new(size);
  if (!mem) return bramah__fail(diag, BRAMAH_E_MEMORY, "alarm", "out of memory");
  const bramah_status status = bramah_alarm_init(filter, options, mem, size, diag, out);
  if (status == BRAMAH_OK)
    (*out)->own_memory = 1;
  else
    bramah__aligned_free(mem);
  return status;
}

void bramah_alarm_free(bramah_alarm *alarm)
{
  if (alarm && alarm->own_memory) bramah__aligned_free(alarm);
}

/* ---- windows ---- */

/* A test of sensor i: raise, go on with or end its alarm. Returns 1 if it is raised. */
static int apply(bramah_alarm *a, size_t i, size_t l, bramah_alarm_kind kind,
                 const bramah__innovation_result *r, double unit, int64_t time_ns)
{
  bramah__alarm_of *of = &a->of[i];
  bramah_alarm_state *s = &of->state;
  const double limit = a->limit[(i * LEVELS + l) * BRAMAH_ALARM_KINDS + (size_t)kind];
  const int beyond = r->made && r->matters && r->size > limit, was = s->raised;
  if (s->raised && !beyond) {
    if (kind == s->kind && l == of->level && !(r->size > 0.5 * limit)) s->raised = 0;
    return 0;
  }
  if (!beyond || (s->raised && !(r->size / limit > s->size / s->limit))) return 0;
  const bramah__alarm_level *level = &a->level[i * LEVELS + l];
  if (!was) {
    s->times++;
    s->since_ns = level->before_ns;
    s->raised_ns = time_ns;
  }
  s->raised = 1;
  s->kind = kind;
  s->size = r->size;
  s->limit = limit;
  s->amount = kind == BRAMAH_ALARM_MEAN ? r->value * unit : r->value;
  of->level = l;
  return !was;
}

static int judge(bramah_alarm *a, size_t i, size_t l, double unit, int64_t time_ns)
{
  static const bramah__innovation_test test[BRAMAH_ALARM_KINDS] = {
      [BRAMAH_ALARM_MEAN] = BRAMAH__TEST_MEAN,
      [BRAMAH_ALARM_VARIANCE] = BRAMAH__TEST_VARIANCE,
      [BRAMAH_ALARM_CORRELATION] = BRAMAH__TEST_CORRELATION};
  const bramah__alarm_level *level = &a->level[i * LEVELS + l];
  bramah__innovation_sums window = level->before;
  bramah__innovation_result results[BRAMAH__TESTS];
  int raised = 0;
  bramah__innovation_append(&window, &level->now);
  bramah__innovation_judge(&window, i < a->n_sensors, 0, 1.0, results);
  for (int k = 0; k < BRAMAH_ALARM_KINDS; k++)
    raised |= apply(a, i, l, (bramah_alarm_kind)k, &results[test[k]], unit, time_ns);
  return raised;
}

/* `count` samples more, from begin_ns on; unit: sigma of an innovation. */
static int append(bramah_alarm *a, size_t i, const bramah__innovation_sums *sums, double unit,
                  int64_t time_ns)
{
  bramah__innovation_sums block = *sums;
  int64_t begin_ns = time_ns;
  uint64_t count = 1;
  int raised = 0;
  const int was = a->of[i].state.raised;
  for (size_t l = 0; l < LEVELS; l++) {
    bramah__alarm_level *level = &a->level[i * LEVELS + l];
    if (!level->count) level->now_ns = begin_ns;
    bramah__innovation_append(&level->now, &block);
    level->count += count;
    if (level->count < (uint64_t)SHORTEST << l) break;
    if (level->complete) raised |= judge(a, i, l, unit, time_ns);
    level->before = block = level->now;
    level->before_ns = begin_ns = level->now_ns;
    level->now = (bramah__innovation_sums){0};
    count = level->count;
    level->count = 0;
    level->complete = 1;
  }
  /* An alarm that has ended is not raised again for what longer windows remember. */
  if (was && !a->of[i].state.raised)
    for (size_t l = 0; l < LEVELS; l++) a->level[i * LEVELS + l] = (bramah__alarm_level){0};
  return raised;
}

/* Times begin with the first sample; after a recovery the filter starts anew. 0: this time is not judged. */
static int is_judged(bramah_alarm *a, int64_t time_ns)
{
  const uint64_t recoveries = bramah_filter_get_report(a->filter).recoveries;
  if (recoveries != a->progress.recoveries || !a->progress.has_start) {
    a->progress.recoveries = recoveries;
    a->progress.has_start = 1;
    a->progress.start_ns = time_ns + a->options.settle_ns;
    for (size_t k = 0; k < (a->n_sensors + 1) * LEVELS; k++) a->level[k] = (bramah__alarm_level){0};
    for (size_t i = 0; i <= a->n_sensors; i++) a->of[i].state.raised = 0;
  }
  return time_ns >= a->progress.start_ns;
}

int bramah_alarm_sample(bramah_alarm *a, size_t i, int64_t time_ns, const bramah_innovation *in)
{
  const double noise = bramah_sensor_variance(&bramah_filter_get_info(a->filter).sensor[i]);
  bramah__innovation_sums one = {0};
  if (!in->present || in->saturated || !is_judged(a, time_ns)) return 0;
  bramah__innovation_add(&one, in->innovation / in->sigma, in->considered,
                         fmax(1.0 - noise / (in->sigma * in->sigma), 0.0), in->accepted, furthest);
  return append(a, i, &one, in->sigma, time_ns);
}

int bramah_alarm_all(bramah_alarm *a, int64_t time_ns, double nis, size_t dof)
{
  const bramah_innovation *last = bramah_filter_get_last(a->filter).innovation;
  if (!dof || !is_judged(a, time_ns)) return 0;
  /* What considered and predicted states have of it: that of its sensors. */
  bramah__innovation_sums one = {.n = dof, .present = dof, .squares = fmin(nis, largest)};
  for (size_t i = 0; i < a->n_sensors; i++) {
    const double s = last[i].considered, noise = bramah_sensor_variance(&a->filter->sensor[i]);
    if (!last[i].present || !last[i].accepted) continue;
    one.shares += s;
    one.crossed += s * (1.0 - s);
    one.state += fmax(1.0 - noise / (last[i].sigma * last[i].sigma), 0.0);
  }
  return append(a, a->n_sensors, &one, 1.0, time_ns);
}

int bramah_alarm_corrected(bramah_alarm *a)
{
  const bramah_filter_last last = bramah_filter_get_last(a->filter);
  const int64_t time_ns = bramah_filter_time_ns(a->filter);
  int raised = 0;
  for (size_t i = 0; i < a->n_sensors; i++) raised |= bramah_alarm_sample(a, i, time_ns, &last.innovation[i]);
  return raised | bramah_alarm_all(a, time_ns, last.nis, last.nis_dof);
}

/* ---- results ---- */

const char *bramah_alarm_kind_name(bramah_alarm_kind kind)
{
  static const char *const names[BRAMAH_ALARM_KINDS] = {"mean", "variance", "correlation"};
  return (unsigned)kind < BRAMAH_ALARM_KINDS ? names[kind] : "?";
}

bramah_alarm_state bramah_alarm_get(const bramah_alarm *alarm, size_t i)
{
  return i <= alarm->n_sensors ? alarm->of[i].state : (bramah_alarm_state){0};
}

size_t bramah_alarm_count(const bramah_alarm *alarm)
{
  size_t n = 0;
  for (size_t i = 0; i <= alarm->n_sensors; i++) n += (size_t)alarm->of[i].state.raised;
  return n;
}

/* The sum of n samples with the mean m is beyond its limit z with an even chance where sqrt(n) m = z; a window is full of
 * them after n samples and is looked at within half of that. */
double bramah_alarm_delay(const bramah_alarm *alarm, size_t i, double sigmas)
{
  for (size_t l = 0; i < alarm->n_sensors && l < LEVELS; l++) {
    const double n = ldexp(2 * SHORTEST, (int)l);
    const double z = alarm->limit[(i * LEVELS + l) * BRAMAH_ALARM_KINDS + BRAMAH_ALARM_MEAN];
    const double needed =
        n * z / (fmin(fabs(sigmas), furthest) * sqrt(n)); /* samples of the window beyond the step */
    if (needed <= n) return (needed + 0.25 * n) * alarm->period[i];
  }
  return INFINITY;
}

/* ---- snapshots: | seal | progress | arrays of ALARM_STATE | ---- */

static uint64_t identity(const bramah_alarm *a)
{
  uint64_t rate;
  memcpy(&rate, &a->options.false_per_hour, sizeof rate);
  const uint64_t hash = bramah__mix(bramah__mix_text(0, "alarm"), a->filter->identity);
  return bramah__mix(bramah__mix(hash, rate), (uint64_t)a->options.settle_ns);
}

size_t bramah_alarm_snapshot_size(const bramah_alarm *alarm)
{
  const bramah_alarm *a = alarm;
  size_t size = sizeof(bramah__seal) + sizeof a->progress;
  ALARM_STATE(BRAMAH__FIELD_ADD)
  return size;
}

void bramah_alarm_save(const bramah_alarm *alarm, void *snap)
{
  const bramah_alarm *a = alarm, *fields = a;
  unsigned char *out = (unsigned char *)snap + sizeof(bramah__seal);
  out = bramah__put(out, &a->progress, sizeof a->progress);
  ALARM_STATE(BRAMAH__FIELD_PUT)
  bramah__seal_put(snap, identity(a), bramah_alarm_snapshot_size(a));
}

bramah_status bramah_alarm_check_snapshot(const bramah_alarm *alarm, const void *snap, size_t size,
                                          bramah_diag *diag)
{
  bramah_alarm there = *alarm, *a = &there, *fields = a;
  const bramah_status status =
      bramah__seal_check(snap, size, identity(a), bramah_alarm_snapshot_size(a), diag);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&a->progress, in, sizeof a->progress);
  ALARM_STATE(BRAMAH__FIELD_LOOK)
  int good = bramah__is_time(a->progress.start_ns);
  for (size_t k = 0; k < (a->n_sensors + 1) * LEVELS; k++)
    good &= a->level[k].count < (uint64_t)SHORTEST << k % LEVELS;
  for (size_t i = 0; i <= a->n_sensors; i++)
    good &= a->of[i].level < LEVELS && (unsigned)a->of[i].state.kind < BRAMAH_ALARM_KINDS;
  return good ? BRAMAH_OK : bramah__seal_broken(diag);
}

bramah_status bramah_alarm_restore(bramah_alarm *alarm, const void *snap)
{
  bramah_alarm *a = alarm, *fields = a;
  const bramah_status status = bramah_alarm_check_snapshot(a, snap, bramah_alarm_snapshot_size(a), NULL);
  if (status != BRAMAH_OK) return status;
  const unsigned char *in = (const unsigned char *)snap + sizeof(bramah__seal);
  in = bramah__get(&a->progress, in, sizeof a->progress);
  ALARM_STATE(BRAMAH__FIELD_GET)
  return BRAMAH_OK;
}
