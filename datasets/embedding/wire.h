/* SPDX-License-Identifier: MIT */
/* What goes between the plant simulator and the controller, and what both leave in shared memory for the
 * supervisor. */
#ifndef EMBEDDING_WIRE_H
#define EMBEDDING_WIRE_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { STEP_NS = 1000000, MAX_SENSORS = 8, MAX_SNAPSHOT = 1 << 16, HISTORY = 4096, MAX_CYCLES = 1 << 20 };

static inline int64_t now_ns(clockid_t clock)
{
  struct timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* From the plant to the controller, at every tick. */
typedef struct measurement {
  int64_t tick;
  double u; /* command the valve followed over the step to this tick [V] */
  unsigned char present[MAX_SENSORS];
  int64_t time_ns[MAX_SENSORS]; /* when each sample was measured: not long ago where the line is slow */
  double y[MAX_SENSORS];
} measurement;

/* And back. */
typedef struct command {
  int64_t tick; /* that it answers */
  double u;     /* [V] */
} command;

/* One of two places for snapshots: while one is being written the other is whole. */
typedef struct snapshot_slot {
  _Atomic int64_t tick; /* -1: none */
  _Alignas(64) unsigned char bytes[MAX_SNAPSHOT];
} snapshot_slot;

/* Shared by the supervisor and the two processes of one loop. Each field has one writer. */
typedef struct shared {
  int64_t start_ns;     /* of tick 0, CLOCK_MONOTONIC */
  atomic_int stop;      /* the controller may end */
  atomic_int real_time; /* processes that run under SCHED_FIFO */
  _Atomic int64_t now;  /* tick of the plant */
  snapshot_slot slot[2];
  double history[HISTORY]; /* command over the step to each of the last ticks, for a controller that comes
                              back */

  /* of the plant */
  int64_t late;       /* commands that were not there when their tick began */
  int64_t late_plant; /* ticks the plant itself began more than half a tick late */
  double square[2];   /* sum of squared tracking errors [rad^2]: all ticks, those without a fault */
  int64_t counted[2]; /* of how many */
  double worst;       /* largest tracking error [rad] */

  /* of the controller */
  int64_t cycles;
  uint32_t work_ns[MAX_CYCLES];    /* CPU time of each: estimate, law, snapshot */
  uint32_t iterations[MAX_CYCLES]; /* Newton iterations in it, of all steps that were made (again) */
  int64_t refused, caught_up, restarts, restored_tick, restart_ns, back_tick;
  uint64_t late_samples, gated;
  /* sum of squared errors of the angle the law was given [rad^2], filled by the plant */
  double estimate_square;
  _Atomic double angle; /* what the law was given [rad] */
  char trouble[256];    /* why a process ended; empty: it did not */
} shared;

#endif
