/* SPDX-License-Identifier: MIT */
/* Filters in lanes, for the files that are of them: lockstep.c (which filters, into the lanes and out of them),
 * lockstep_cycle.c (steps and corrections) and lockstep_augmented.c (augmented states in both). */
#ifndef BRAMAH_ESTIMATORS_LOCKSTEP_INTERNAL_H
#define BRAMAH_ESTIMATORS_LOCKSTEP_INTERNAL_H

#include "estimators/lockstep.h"
#include "lib/base/processors.h"
#include "sensors/kinds.h"

#include <math.h>
#include <string.h>

enum { L = BRAMAH__GROUP };
#define EACH_LANE BRAMAH__AS_VECTORS for (size_t l = 0; l < L; l++)
#define EACH_GROUP for (size_t g = 0; g < k->plant.n_groups && g < BRAMAH__MOST_GROUPS; g++)

/* A sample of a group as numbers: bits of its flags. */
enum { PRESENT = 1, ACCEPTED = 2, SATURATED = 4 };

/* What is counted in a call, and sums of the likelihood: places in `count` of the room. */
enum { COUNT_ACCEPTED, COUNT_SATURATED, COUNT_GATED, COUNT_FAULTS, COUNT_LIMITED, COST, PRODUCT, LIKELIHOOD };

/* Where things are in the words of a snapshot: how many there are, those of an array of the filter's state, the plant's. */
static inline size_t bramah__lane_words(const bramah_filter *f)
{
  return bramah__own_size(f) / sizeof(double);
}

static inline double *bramah__lane_array(const bramah_filter *f, double *words, const void *of_state)
{
  const size_t bytes = (size_t)((const unsigned char *)of_state - f->state);
  return words + (sizeof f->progress + bytes) / sizeof(double) * L;
}

static inline double *bramah__lane_plant(const bramah_filter *f, double *words)
{
  return words + (sizeof f->progress + f->state_size) / sizeof(double) * L;
}

#define PROGRESS(words, member) ((words) + offsetof(bramah__progress, member) / sizeof(double) * L)

/* Lane `lane` of so many words side by side. */
static inline void bramah__gather(const double *from, size_t words, size_t lane, void *to)
{
  double *x = to;
  for (size_t i = 0; i < words; i++) memcpy(&x[i], &from[i * L + lane], sizeof *x);
}

/* Angles are compared across their turn: differences of what a sensor shows. */
static inline void bramah__lanes_wrap(const bramah_sensor *sensor, double *y)
{
  EACH_LANE
  {
    if (!(fabs(y[l]) < 0.5 * sensor->period)) y[l] = bramah__sensor_innovation(sensor, y[l], 0.0);
  }
}

/* ---- lockstep_augmented.c: of the groups at once, or of group g ---- */

/* Before a step: what sensors with delays are predicted to show, and steps from beside the estimates. */
void bramah__lanes_start_step(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                              bramah__plant_group **plant);
/* After it, while the registers hold it: how these predictions have changed; and into F, Gamma (cleared) and the room what
 * augmented states have of it. */
void bramah__lanes_end_step(bramah__filter_lockstep *k, bramah__filter_group *const *group);
void bramah__lanes_follow_step(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group);
/* Means over the step into the room, parameters into the candidates of the plants; 1: some of these have changed. */
int bramah__lanes_advance(bramah__filter_lockstep *k, bramah__filter_group *const *group,
                          bramah__plant_group **plant);
/* The same by the correction dx, `moved` in lanes where a parameter changes; 1: in some. */
int bramah__lanes_inject(bramah__filter_lockstep *k, size_t g, bramah__filter_group *group, int64_t *moved);
/* What is considered in the coming correction; its share in the innovation of sensor i with variance S, whose row and P H'
 * are in the room; what is learned of it. */
void bramah__lanes_hold(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group);
void bramah__lanes_share(const bramah__filter_room *room, bramah__filter_group *group, size_t i,
                         const int64_t *present, const double *S);
void bramah__lanes_learn(bramah__filter_room *room, const bramah__filter_group *group);
/* Does output i follow accelerations, whose slopes (bramah__lockstep_slopes) its row then goes by? */
static inline int bramah__lanes_accelerates(const bramah_filter *f, size_t i)
{
  return !bramah__lockstep_reads(f->plant.self, i);
}
/* What sensor i shows by the plant alone, at the states in the registers, which are those of the groups, or with next their
 * candidates: into the rooms, its outputs read. */
void bramah__lanes_predict_sensor(bramah__filter_lockstep *k, bramah__filter_group *const *group, size_t i,
                                  int next);
/* Row and value of sensor i, which have what the plant says, by all that is augmented. */
void bramah__lanes_complete_row(bramah__filter_lockstep *k, size_t g, const bramah__filter_group *group,
                                size_t i);

#endif
