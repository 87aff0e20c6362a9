/* SPDX-License-Identifier: MIT */
/* The alarm of a filter; its windows are those of alarm_windows.h. */
#include "bramah/alarm.h"
#include "estimators/alarm_windows.h"
#include "estimators/filter_internal.h"
#include "lib/base/diag.h"
#include "lib/base/seal.h"

#include <math.h>

enum { LEVELS = BRAMAH__ALARM_LEVELS };
_Static_assert((int)BRAMAH_ALARM_KINDS == (int)BRAMAH__ALARM_TESTS && BRAMAH_ALARM_MEAN == 0 &&
                   BRAMAH_ALARM_VARIANCE == 1,
               "the order of kinds");

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

/* Every statistic of every level and sensor has the same share of the false alarms. */
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
    bramah__alarm_set_limits(a->limit + i * LEVELS * BRAMAH_ALARM_KINDS, per_second, a->period[i]);
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
  BRAMAH__MAKE_IN_OWN("alarm", bramah_alarm_size(filter),
                      bramah_alarm_init(filter, options, mem, size, diag, out));
}

void bramah_alarm_free(bramah_alarm *alarm)
{
  if (alarm && alarm->own_memory) bramah__aligned_free(alarm);
}

/* ---- samples ---- */

static int append(bramah_alarm *a, size_t i, const bramah__innovation_sums *sums, double unit,
                  int64_t time_ns)
{
  return bramah__alarm_append(&a->of[i], a->level + i * LEVELS, a->limit + i * LEVELS * BRAMAH_ALARM_KINDS,
                              i < a->n_sensors, sums, unit, time_ns);
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
    for (size_t i = 0; i <= a->n_sensors; i++) a->of[i].raised = 0;
  }
  return time_ns >= a->progress.start_ns;
}

int bramah_alarm_sample(bramah_alarm *a, size_t i, int64_t time_ns, const bramah_innovation *in)
{
  const double noise = bramah_sensor_variance(&bramah_filter_get_info(a->filter).sensor[i]);
  bramah__innovation_sums one = {0};
  if (!in->present || in->saturated || !is_judged(a, time_ns)) return 0;
  bramah__innovation_add(&one, in->innovation / in->sigma, in->considered,
                         fmax(1.0 - noise / (in->sigma * in->sigma), 0.0), in->accepted,
                         bramah__alarm_furthest);
  return append(a, i, &one, in->sigma, time_ns);
}

int bramah_alarm_all(bramah_alarm *a, int64_t time_ns, double nis, size_t dof)
{
  const bramah_innovation *last = bramah_filter_get_last(a->filter).innovation;
  if (!dof || !is_judged(a, time_ns)) return 0;
  /* What considered and predicted states have of it: that of its sensors. */
  bramah__innovation_sums one = {.n = dof, .present = dof, .squares = fmin(nis, bramah__alarm_largest)};
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
  if (i > alarm->n_sensors) return (bramah_alarm_state){0};
  const bramah__alarm_of *s = &alarm->of[i];
  return (bramah_alarm_state){.raised = s->raised != 0,
                              .times = s->times,
                              .kind = (bramah_alarm_kind)s->kind,
                              .since_ns = s->since_ns,
                              .raised_ns = s->raised_ns,
                              .size = s->size,
                              .limit = s->limit,
                              .amount = s->amount};
}

size_t bramah_alarm_count(const bramah_alarm *alarm)
{
  size_t n = 0;
  for (size_t i = 0; i <= alarm->n_sensors; i++) n += alarm->of[i].raised != 0;
  return n;
}

/* The sum of n samples with the mean m is beyond its limit z with an even chance where sqrt(n) m = z; a window is full of
 * them after n samples and is looked at within half of that. */
double bramah_alarm_delay(const bramah_alarm *alarm, size_t i, double sigmas)
{
  for (size_t l = 0; i < alarm->n_sensors && l < LEVELS; l++) {
    const double n = ldexp(2 * BRAMAH__ALARM_SHORTEST, (int)l);
    const double z = alarm->limit[(i * LEVELS + l) * BRAMAH_ALARM_KINDS + BRAMAH_ALARM_MEAN];
    const double needed =
        n * z /
        (fmin(fabs(sigmas), bramah__alarm_furthest) * sqrt(n)); /* samples of the window beyond the step */
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
    good &= a->level[k].count < (uint64_t)BRAMAH__ALARM_SHORTEST << k % LEVELS;
  for (size_t i = 0; i <= a->n_sensors; i++)
    good &= a->of[i].level < LEVELS && a->of[i].kind < BRAMAH_ALARM_KINDS;
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
