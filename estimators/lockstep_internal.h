/* SPDX-License-Identifier: MIT */
/* Filters in lanes, for the files that are of them: lockstep.c (which filters, into the lanes and out of them) and
 * lockstep_cycle.c (steps and corrections). */
#ifndef BRAMAH_ESTIMATORS_LOCKSTEP_INTERNAL_H
#define BRAMAH_ESTIMATORS_LOCKSTEP_INTERNAL_H

#include "estimators/lockstep.h"

#include <string.h>

enum { L = BRAMAH__GROUP };
#define EACH_LANE for (size_t l = 0; l < L; l++)
#define EACH_GROUP for (size_t g = 0; g < k->plant.n_groups && g < BRAMAH__MOST_GROUPS; g++)

/* A sample of a group as numbers: bits of its flags. */
enum { PRESENT = 1, ACCEPTED = 2, SATURATED = 4 };

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

#endif
