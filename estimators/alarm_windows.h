/* SPDX-License-Identifier: MIT */
/* Windows of doubling length over the innovations of a sensor, or of all jointly, and what their tests raise: of the alarm of a filter
 * (alarm.c), and of estimators that are written as FMUs, into which this text goes.
 *
 * Windows are made of blocks: two blocks of a level are a window of it, which is judged whenever the later one is complete, and
 * together they are a block of the next level.
 *
 *   samples   |.....|.....|.....|.....|.....|.....|
 *   level 0   |  before   | now |                     a window each 5 samples
 *   level 1   |  before         |    now    |         each 10 samples
 */
#ifndef BRAMAH_ESTIMATORS_ALARM_WINDOWS_H
#define BRAMAH_ESTIMATORS_ALARM_WINDOWS_H

#include "lib/math/innovation_tests.h"

#include <math.h>

enum { BRAMAH__ALARM_LEVELS = 12, BRAMAH__ALARM_SHORTEST = 5 /* samples of a block */ };
enum { BRAMAH__ALARM_TESTS = 3 };                  /* in the order of bramah_alarm_kind */
static const double bramah__alarm_furthest = 8.0;  /* sigmas that a sample counts at most */
static const double bramah__alarm_largest = 1e100; /* NIS: sums of such can be reckoned with */

/* A level of a sensor. */
typedef struct bramah__alarm_level {
  bramah__innovation_sums before, now;
  int64_t before_ns, now_ns; /* when they begin */
  uint64_t count;            /* samples in `now`; NIS have several degrees of freedom */
  uint64_t complete;         /* 1: `before` is a block */
} bramah__alarm_level;

/* An alarm: bramah_alarm_state of bramah/alarm.h, and the level of the window that is furthest beyond its limit. */
typedef struct bramah__alarm_of {
  uint64_t raised, times, kind;
  int64_t since_ns, raised_ns;
  double size, limit, amount;
  uint64_t level;
} bramah__alarm_of;

/* Limits [levels x tests] so that each is exceeded by chance so often a second, with samples each `period` seconds. A test is made once
 * for each block of its level, so by overlapping windows: their union is less than their sum, and the true number less than that stated. */
static inline void bramah__alarm_set_limits(double *limit, double per_second, double period)
{
  for (int l = 0; l < BRAMAH__ALARM_LEVELS; l++) {
    const double p = fmin(per_second * period * ldexp(BRAMAH__ALARM_SHORTEST, l), 0.1);
    double *of = limit + l * BRAMAH__ALARM_TESTS;
    of[0] = bramah__normal_beyond(0.5 * p);
    of[1] = of[2] = bramah__normal_beyond(p);
  }
}

/* A test: raise, go on with or end the alarm. Returns 1 if it is raised. */
static inline int bramah__alarm_apply(bramah__alarm_of *s, const bramah__alarm_level *level, uint64_t l,
                                      uint64_t kind, double limit, const bramah__innovation_result *r,
                                      double unit, int64_t time_ns)
{
  const int beyond = r->made && r->matters && r->size > limit, was = s->raised != 0;
  if (s->raised && !beyond) {
    if (kind == s->kind && l == s->level && !(r->size > 0.5 * limit)) s->raised = 0;
    return 0;
  }
  if (!beyond || (s->raised && !(r->size / limit > s->size / s->limit))) return 0;
  if (!was) {
    s->times++;
    s->since_ns = level->before_ns;
    s->raised_ns = time_ns;
  }
  s->raised = 1;
  s->kind = kind;
  s->size = r->size;
  s->limit = limit;
  s->amount = kind == 0 ? r->value * unit : r->value;
  s->level = l;
  return !was;
}

static inline int bramah__alarm_judge(bramah__alarm_of *of, const bramah__alarm_level *level, uint64_t l,
                                      const double *limit, int is_sensor, double unit, int64_t time_ns)
{
  static const bramah__innovation_test test[BRAMAH__ALARM_TESTS] = {BRAMAH__TEST_MEAN, BRAMAH__TEST_VARIANCE,
                                                                    BRAMAH__TEST_CORRELATION};
  bramah__innovation_sums window = level->before;
  bramah__innovation_result results[BRAMAH__TESTS];
  int raised = 0;
  bramah__innovation_append(&window, &level->now);
  bramah__innovation_judge(&window, is_sensor, 0, 1.0, results);
  for (uint64_t k = 0; k < BRAMAH__ALARM_TESTS; k++)
    raised |= bramah__alarm_apply(of, level, l, k, limit[k], &results[test[k]], unit, time_ns);
  return raised;
}

/* Samples more, of time_ns; unit: sigma of an innovation. Returns 1 if an alarm is raised. */
static inline int bramah__alarm_append(bramah__alarm_of *of, bramah__alarm_level *levels, const double *limit,
                                       int is_sensor, const bramah__innovation_sums *sums, double unit,
                                       int64_t time_ns)
{
  bramah__innovation_sums block = *sums;
  int64_t begin_ns = time_ns;
  uint64_t count = 1;
  int raised = 0;
  const int was = of->raised != 0;
  for (int l = 0; l < BRAMAH__ALARM_LEVELS; l++) {
    bramah__alarm_level *level = &levels[l];
    if (!level->count) level->now_ns = begin_ns;
    bramah__innovation_append(&level->now, &block);
    level->count += count;
    if (level->count < (uint64_t)BRAMAH__ALARM_SHORTEST << l) break;
    if (level->complete)
      raised |= bramah__alarm_judge(of, level, (uint64_t)l, limit + l * BRAMAH__ALARM_TESTS, is_sensor, unit,
                                    time_ns);
    level->before = block = level->now;
    level->before_ns = begin_ns = level->now_ns;
    level->now = (bramah__innovation_sums){0};
    count = level->count;
    level->count = 0;
    level->complete = 1;
  }
  /* An alarm that has ended is not raised again for what longer windows remember. */
  if (was && !of->raised)
    for (int l = 0; l < BRAMAH__ALARM_LEVELS; l++) levels[l] = (bramah__alarm_level){0};
  return raised;
}

#endif
